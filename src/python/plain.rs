//! Tools given as dicts that providers take as they are: copied when they come and when they are handed out, and read
//! only once somebody asks for more.
use super::template::{Place, Template, is_leaf, is_number};
use crate::schema::convert::{Format, Target};
use crate::schema::plain::{Facts, Field, MAX_DEPTH, Seen, Want, at_root, field, type_bit, want};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString};
use std::collections::HashSet;

/// A list of plain tools, as it was when given.
#[derive(Debug)]
pub(super) struct PlainDicts {
    tools: Vec<PlainDict>,
    facts: Facts,
}

#[derive(Debug)]
struct PlainDict {
    item: Template,
    name: Py<PyString>,
    description: Option<Py<PyString>>,
    /// The keys that lead to the schema in the item.
    path: (Option<&'static str>, String),
}

impl PlainDicts {
    /// Reads a list of dicts. `None` if anything in it is not plain.
    pub(super) fn read(tools: &Bound<'_, PyAny>) -> Option<Self> {
        let list = tools.cast_exact::<PyList>().ok()?;
        let mut facts = Facts::default();
        let tools: Option<Vec<PlainDict>> = list.iter().map(|item| tool(&item, &mut facts)).collect();
        let tools = tools.filter(|tools| !tools.is_empty())?;
        let py = list.py();
        let names: HashSet<&str> = tools.iter().filter_map(|tool| tool.name.bind(py).to_str().ok()).collect();
        (names.len() == tools.len()).then_some(Self { tools, facts })
    }

    pub(super) fn len(&self) -> usize {
        self.tools.len()
    }

    /// The tools as they were given.
    pub(super) fn items<'py>(&self, py: Python<'py>) -> impl Iterator<Item = PyResult<Bound<'py, PyAny>>> {
        self.tools.iter().map(move |tool| tool.item.copy(py))
    }

    /// The declarations for a target that takes them as they are; `None` for any other.
    pub(super) fn serve<'py>(&self, py: Python<'py>, target: &Target) -> PyResult<Option<Bound<'py, PyList>>> {
        let wrap = match target.format {
            Format::OpenAi | Format::Mistral | Format::Cohere | Format::OpenRouter => chat,
            Format::OpenAiResponses => responses,
            Format::Anthropic => anthropic,
            _ => return Ok(None),
        };
        if !target.takes_plain(self.facts) {
            return Ok(None);
        }
        let list = PyList::empty(py);
        for tool in &self.tools {
            list.append(wrap(py, tool)?)?;
        }
        Ok(Some(list))
    }
}

fn chat<'py>(py: Python<'py>, tool: &PlainDict) -> PyResult<Bound<'py, PyDict>> {
    let function = tool.declaration(py, PyDict::new(py), intern!(py, "parameters"))?;
    let declaration = PyDict::new(py);
    declaration.set_item(intern!(py, "type"), intern!(py, "function"))?;
    declaration.set_item(intern!(py, "function"), function)?;
    Ok(declaration)
}

fn responses<'py>(py: Python<'py>, tool: &PlainDict) -> PyResult<Bound<'py, PyDict>> {
    let declaration = PyDict::new(py);
    declaration.set_item(intern!(py, "type"), intern!(py, "function"))?;
    let declaration = tool.declaration(py, declaration, intern!(py, "parameters"))?;
    declaration.set_item(intern!(py, "strict"), false)?;
    Ok(declaration)
}

fn anthropic<'py>(py: Python<'py>, tool: &PlainDict) -> PyResult<Bound<'py, PyDict>> {
    tool.declaration(py, PyDict::new(py), intern!(py, "input_schema"))
}

impl PlainDict {
    /// `into` with name, description and schema.
    fn declaration<'py>(
        &self,
        py: Python<'py>,
        into: Bound<'py, PyDict>,
        key: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyDict>> {
        into.set_item(intern!(py, "name"), &self.name)?;
        if let Some(description) = &self.description {
            into.set_item(intern!(py, "description"), description)?;
        }
        let (outer, inner) = &self.path;
        let body = outer.map_or(Some(&self.item), |outer| self.item.part(py, outer));
        if let Some(schema) = body.and_then(|body| body.part(py, inner)) {
            into.set_item(key, schema.copy(py)?)?;
        }
        Ok(into)
    }
}

/// One declaration, perhaps in OpenAI's wrapper.
fn tool(item: &Bound<'_, PyAny>, facts: &mut Facts) -> Option<PlainDict> {
    let dict = item.cast_exact::<PyDict>().ok()?;
    let Some(function) = dict.get_item(intern!(item.py(), "function")).ok()? else {
        return declaration(dict, facts);
    };
    let mut tool = declaration(function.cast_exact::<PyDict>().ok()?, facts)?;
    let shell = dict.copy().ok()?;
    let mut inner = Vec::new();
    for (key, value) in &shell {
        let key = key.cast_into_exact::<PyString>().ok()?;
        match (key.to_str().ok()?, field(key.to_str().ok()?)?) {
            (_, Field::Function) => {}
            (_, Field::Other | Field::Mcp) if is_leaf(&value) => {}
            _ => return None,
        }
    }
    inner.push((Place::Key(intern!(item.py(), "function").clone().unbind()), tool.item));
    tool.item = Template::of_dict(&shell, inner);
    tool.path.0 = Some("function");
    Some(tool)
}

fn declaration(dict: &Bound<'_, PyDict>, facts: &mut Facts) -> Option<PlainDict> {
    let shell = dict.copy().ok()?;
    let (mut name, mut description, mut schema_key) = (None, None, None);
    let mut inner = Vec::new();
    for (key, value) in &shell {
        let key = key.cast_into_exact::<PyString>().ok()?;
        let word = key.to_str().ok()?;
        match field(word)? {
            Field::Name => {
                let text = value.cast_into_exact::<PyString>().ok()?;
                if !Target::is_safe_name(text.to_str().ok()?) {
                    return None;
                }
                name = Some(text.unbind());
            }
            Field::Description => {
                let text = value.cast_into_exact::<PyString>().ok()?;
                let bytes = text.to_str().ok()?.len();
                facts.description(bytes);
                description = (bytes > 0).then(|| text.unbind());
            }
            Field::Schema if schema_key.is_none() => {
                let template = schema(value.cast_exact::<PyDict>().ok()?, 0, facts)?;
                schema_key = Some(word.to_owned());
                inner.push((Place::Key(key.unbind()), template));
            }
            Field::Schema | Field::Function => return None,
            Field::Mcp | Field::Other if is_leaf(&value) => {}
            Field::Mcp | Field::Other => inner.push((Place::Key(key.unbind()), Template::of(&value, 0)?)),
        }
    }
    let item = Template::of_dict(&shell, inner);
    Some(PlainDict { item, name: name?, description, path: (None, schema_key?) })
}

fn schema(dict: &Bound<'_, PyDict>, depth: usize, facts: &mut Facts) -> Option<Template> {
    if depth > MAX_DEPTH {
        return None;
    }
    let shell = dict.copy().ok()?;
    let mut inner = Vec::new();
    let mut seen = Seen::default();
    for (key, value) in &shell {
        let key = key.cast_into_exact::<PyString>().ok()?;
        let word = key.to_str().ok()?;
        let wanted = want(word)?;
        if depth == 0 && !at_root(wanted, word) {
            return None;
        }
        seen.note(wanted);
        let part = match wanted {
            Want::Type => {
                seen.types = types(&value)?;
                value
                    .cast_exact::<PyList>()
                    .ok()
                    .map(|_| Template::of(&value, 0))
                    .map_or(Some(None), |t| t.map(Some))?
            }
            Want::Text => {
                value.cast_exact::<PyString>().ok()?.to_str().ok()?;
                None
            }
            Want::Properties => Some(properties(value.cast_exact::<PyDict>().ok()?, depth, facts)?),
            Want::Schema => Some(schema(value.cast_exact::<PyDict>().ok()?, depth + 1, facts)?),
            Want::SchemaOrFlag => match value.cast_exact::<PyDict>() {
                Ok(dict) => Some(schema(dict, depth + 1, facts)?),
                Err(_) => value.is_exact_instance_of::<PyBool>().then_some(None)?,
            },
            Want::Branches => Some(branches(value.cast_exact::<PyList>().ok()?, depth, facts)?),
            Want::Names => {
                names(value.cast_exact::<PyList>().ok()?)?;
                Some(Template::of(&value, 0)?)
            }
            Want::Literals => {
                value.cast_exact::<PyList>().ok()?;
                Some(Template::of(&value, 0)?)
            }
            Want::Flag => value.is_exact_instance_of::<PyBool>().then_some(None)?,
            Want::Number => is_number(&value).then_some(None)?,
            Want::Size => value.cast_exact::<PyInt>().ok()?.extract::<u64>().is_ok().then_some(None)?,
            Want::Anything if is_leaf(&value) => None,
            Want::Anything => Some(Template::of(&value, 0)?),
        };
        if let Some(part) = part {
            inner.push((Place::Key(key.unbind()), part));
        }
    }
    seen.complete(depth == 0).then(|| Template::of_dict(&shell, inner))
}

fn properties(dict: &Bound<'_, PyDict>, depth: usize, facts: &mut Facts) -> Option<Template> {
    let shell = dict.copy().ok()?;
    let mut inner = Vec::with_capacity(shell.len());
    for (name, value) in &shell {
        let name = name.cast_into_exact::<PyString>().ok()?;
        facts.property(name.to_str().ok()?);
        let template = schema(value.cast_exact::<PyDict>().ok()?, depth + 1, facts)?;
        inner.push((Place::Key(name.unbind()), template));
    }
    Some(Template::of_dict(&shell, inner))
}

fn branches(list: &Bound<'_, PyList>, depth: usize, facts: &mut Facts) -> Option<Template> {
    let shell = list.get_slice(0, list.len());
    let branches: Option<Vec<_>> = (shell.iter().enumerate())
        .map(|(i, branch)| Some((Place::Index(i), schema(branch.cast_exact::<PyDict>().ok()?, depth + 1, facts)?)))
        .collect();
    branches.filter(|branches| !branches.is_empty()).map(|inner| Template::of_list(&shell, inner))
}

/// Different strings.
fn names(list: &Bound<'_, PyList>) -> Option<()> {
    let mut known: Vec<Bound<'_, PyString>> = Vec::new();
    for name in list {
        let name = name.cast_into_exact::<PyString>().ok()?;
        let text = name.to_str().ok()?;
        if known.len() > 64 || known.iter().any(|k| k.to_str().is_ok_and(|k| k == text)) {
            return None;
        }
        known.push(name);
    }
    Some(())
}

fn types(value: &Bound<'_, PyAny>) -> Option<u8> {
    if let Ok(name) = value.cast_exact::<PyString>() {
        return type_bit(name.to_str().ok()?);
    }
    let mut types = 0;
    for name in value.cast_exact::<PyList>().ok()? {
        let bit = type_bit(name.cast_exact::<PyString>().ok()?.to_str().ok()?)?;
        if types & bit != 0 {
            return None;
        }
        types |= bit;
    }
    (types != 0).then_some(types)
}
