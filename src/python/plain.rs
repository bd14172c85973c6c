//! Tools given as dicts that providers take as they are: noted when they come, built when they are handed out, and read
//! only once somebody asks for more.
use super::convert::{from_py, json_to_py};
use super::snapshot::{Snapshot, is_leaf, is_number};
use super::source::value_of;
use crate::schema::convert::{SaysStrict, Shape, Target};
use crate::schema::plain::{Facts, Field, MAX_DEPTH, Odd, Seen, Want, at_root, field, type_bit, want};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString};
use serde_json::{Value, json};
use std::collections::HashSet;

/// A list of plain tools, as it was when given.
#[derive(Debug)]
pub(super) struct PlainDicts {
    tools: Vec<Item>,
    items: Snapshot,
    /// What stands between them and is not plain.
    odd: Odd,
    odd_items: Vec<Value>,
    facts: Facts,
    /// The list was the `tools` of a dict.
    wrapped: bool,
}

#[derive(Debug)]
enum Item {
    Plain(PlainDict),
    /// The so-manieth of the odd ones.
    Odd(usize),
}

#[derive(Debug)]
struct PlainDict {
    name: Py<PyString>,
    description: Option<Py<PyString>>,
    /// Where the whole item is, and the schema in it.
    item: usize,
    schema: usize,
}

impl PlainDicts {
    /// Reads a list of dicts, or a dict with a list of `tools`. `None` if more than a few of them are not plain.
    pub(super) fn read(tools: &Bound<'_, PyAny>) -> Option<Self> {
        let (list, wrapped) = match tools.cast_exact::<PyDict>() {
            Ok(dict) => (list_in(dict)?, true),
            Err(_) => (tools.cast_exact::<PyList>().ok()?.clone(), false),
        };
        let mut reader = Reader::default();
        let mut odd = Vec::new();
        let tools: Vec<Item> = list.iter().map(|item| reader.item(item, &mut odd)).collect();
        if tools.is_empty() || !Odd::few(odd.len(), tools.len()) {
            return None;
        }
        let Reader { items, facts, .. } = reader;
        // Only now: reading these may run code of Python's.
        let value = |item| if wrapped { from_py(item) } else { value_of(item) };
        let odd_items = odd.iter().map(|item| value(item).ok()).collect::<Option<Vec<Value>>>()?;
        let py = list.py();
        let mut names = HashSet::with_capacity(tools.len());
        let different = tools.iter().all(|item| match item {
            Item::Plain(tool) => tool.name.bind(py).to_str().is_ok_and(|name| names.insert(name)),
            Item::Odd(_) => true,
        });
        let odd = different.then(|| Odd::read(odd_items.iter().cloned(), &names)).flatten()?;
        drop(names);
        Some(Self { tools, items, odd, odd_items, facts, wrapped })
    }

    pub(super) fn len(&self) -> usize {
        self.tools.len() - self.odd_items.len() + self.odd.len()
    }

    /// Whether something was wrong with one of the tools.
    pub(super) fn has_problems(&self) -> bool {
        self.odd.has_problems()
    }

    /// The tools as they were given.
    pub(super) fn items(&self, py: Python<'_>) -> PyResult<Vec<Value>> {
        let item = |item: &Item| match item {
            Item::Plain(tool) => from_py(&self.items.build(py, tool.item)?),
            Item::Odd(i) => Ok(self.odd_items.get(*i).cloned().unwrap_or_default()),
        };
        let items = self.tools.iter().map(item).collect::<PyResult<Vec<_>>>()?;
        Ok(if self.wrapped { vec![json!({"tools": items})] } else { items })
    }

    /// The declarations for a target that takes them as they are; `None` for any other.
    pub(super) fn serve<'py>(&self, py: Python<'py>, target: &Target) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(shape) = target.shape().filter(|shape| shape.group.is_none()) else { return Ok(None) };
        if !target.takes_plain(self.facts) {
            return Ok(None);
        }
        let odd = self.odd.written(target);
        let keys = ShapeKeys::of(py, shape);
        let list = PyList::empty(py);
        for item in &self.tools {
            match item {
                Item::Plain(tool) => list.append(self.declaration(py, tool, shape, &keys)?)?,
                Item::Odd(i) => {
                    let written = odd.get(*i).map(Vec::as_slice).unwrap_or_default();
                    let written = json_to_py(py, &format!("[{}]", String::from_utf8_lossy(written)))?;
                    written.cast_into::<PyList>()?.iter().try_for_each(|tool| list.append(tool))?;
                }
            }
        }
        Ok(Some(list))
    }

    /// A tool in the wrapper of `shape`.
    fn declaration<'py>(
        &self,
        py: Python<'py>,
        tool: &PlainDict,
        shape: Shape,
        keys: &ShapeKeys<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let declaration = PyDict::new(py);
        if shape.typed {
            declaration.set_item(intern!(py, "type"), intern!(py, "function"))?;
        }
        let Some(inside) = &keys.inside else {
            self.fields(&declaration, tool, shape, keys)?;
            return Ok(declaration);
        };
        let fields = PyDict::new(py);
        self.fields(&fields, tool, shape, keys)?;
        declaration.set_item(inside, fields)?;
        Ok(declaration)
    }

    /// Name, description and schema.
    fn fields<'py>(
        &self,
        into: &Bound<'py, PyDict>,
        tool: &PlainDict,
        shape: Shape,
        keys: &ShapeKeys<'py>,
    ) -> PyResult<()> {
        let py = into.py();
        into.set_item(intern!(py, "name"), &tool.name)?;
        if let Some(description) = &tool.description {
            into.set_item(intern!(py, "description"), description)?;
        }
        let schema = self.items.build(py, tool.schema)?;
        match &keys.schema_in {
            Some(key) => {
                let holder = PyDict::new(py);
                holder.set_item(key, schema)?;
                into.set_item(&keys.schema, holder)?;
            }
            None => into.set_item(&keys.schema, schema)?,
        }
        if shape.strict == SaysStrict::Always {
            into.set_item(intern!(py, "strict"), false)?;
        }
        Ok(())
    }
}

/// The keys of a shape, made once a list.
struct ShapeKeys<'py> {
    inside: Option<Bound<'py, PyString>>,
    schema: Bound<'py, PyString>,
    schema_in: Option<Bound<'py, PyString>>,
}

impl<'py> ShapeKeys<'py> {
    fn of(py: Python<'py>, shape: Shape) -> Self {
        let key = |key: &str| PyString::intern(py, key);
        Self { inside: shape.inside.map(key), schema: key(shape.schema), schema_in: shape.schema_in.map(key) }
    }
}

/// The list of `tools` in an object as MCP's `tools/list` answers it, if nothing else in it can mean tools.
fn list_in<'py>(dict: &Bound<'py, PyDict>) -> Option<Bound<'py, PyList>> {
    let mut tools = None;
    for (key, value) in dict {
        match key.cast_exact::<PyString>().ok()?.to_str().ok()? {
            "tools" => tools = Some(value.cast_into_exact::<PyList>().ok()?),
            other => match field(other.as_bytes())? {
                Field::Mcp | Field::Other => drop(Snapshot::of(&value)?),
                _ => return None,
            },
        }
    }
    tools
}

/// Notes tools; every method gives `None` for what is not plain. Nothing here runs code of Python's, so no dict changes
/// while it is read.
#[derive(Default)]
struct Reader {
    items: Snapshot,
    facts: Facts,
    /// Keywords by the address of the key: a parser makes one object of a key that occurs often.
    known: [Option<(usize, Want)>; KNOWN],
}

const KNOWN: usize = 32;

impl Reader {
    /// One item of the list; it is put to the `odd` ones if it is not plain.
    fn item<'py>(&mut self, item: Bound<'py, PyAny>, odd: &mut Vec<Bound<'py, PyAny>>) -> Item {
        let (start, facts) = (self.items.end(), self.facts);
        if let Some(tool) = self.tool(&item) {
            return Item::Plain(tool);
        }
        // The keys that are known are no longer kept.
        *self = Self { items: std::mem::take(&mut self.items).up_to(start), facts, ..Self::default() };
        odd.push(item);
        Item::Odd(odd.len() - 1)
    }

    /// One declaration, perhaps in OpenAI's wrapper.
    fn tool(&mut self, item: &Bound<'_, PyAny>) -> Option<PlainDict> {
        let dict = item.cast_exact::<PyDict>().ok()?;
        let start = self.items.end();
        if dict.get_item(intern!(item.py(), "function")).ok()?.is_none() {
            return self.declaration(dict, start);
        }
        let mut tool = None;
        self.items.push_dict(dict.len());
        for (key, value) in dict {
            let wrapper = field(key.cast_exact::<PyString>().ok()?.to_str().ok()?.as_bytes())?;
            self.items.push_leaf(key);
            match wrapper {
                Field::Function => tool = Some(self.declaration(value.cast_exact::<PyDict>().ok()?, start)?),
                Field::Other | Field::Mcp => self.items.push(&value, 0)?,
                _ => return None,
            }
        }
        tool
    }

    fn declaration(&mut self, dict: &Bound<'_, PyDict>, item: usize) -> Option<PlainDict> {
        let (mut name, mut description, mut schema) = (None, None, None);
        self.items.push_dict(dict.len());
        for (key, value) in dict {
            let wanted = field(key.cast_exact::<PyString>().ok()?.to_str().ok()?.as_bytes())?;
            self.items.push_leaf(key);
            match wanted {
                Field::Name => {
                    let text = value.cast_exact::<PyString>().ok()?;
                    name = Target::is_safe_name(text.to_str().ok()?).then(|| text.clone().unbind());
                }
                Field::Description => {
                    let text = value.cast_exact::<PyString>().ok()?;
                    let bytes = text.to_str().ok()?.len();
                    self.facts.description(bytes);
                    description = (bytes > 0).then(|| text.clone().unbind());
                }
                Field::Schema if schema.is_none() => {
                    schema = Some(self.items.end());
                    self.schema(value.cast_exact::<PyDict>().ok()?, 0)?;
                    continue;
                }
                Field::Schema | Field::Function => return None,
                Field::Mcp | Field::Other => {
                    self.items.push(&value, 0)?;
                    continue;
                }
            }
            self.items.push_leaf(value);
        }
        Some(PlainDict { name: name?, description, item, schema: schema? })
    }

    fn schema(&mut self, dict: &Bound<'_, PyDict>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.items.push_dict(dict.len());
        let mut seen = Seen::default();
        for (key, value) in dict {
            let wanted = self.want(&key, depth == 0)?;
            seen.note(wanted);
            // Kept before the value is looked at: the address of a known key must stay its own.
            self.items.push_leaf(key);
            let leaf = match wanted {
                Want::Type => match value.cast_exact::<PyString>() {
                    Ok(name) => {
                        seen.types = type_bit(name.to_str().ok()?.as_bytes())?;
                        true
                    }
                    Err(_) => {
                        seen.types = types(value.cast_exact::<PyList>().ok()?)?;
                        false
                    }
                },
                Want::Text => value.cast_exact::<PyString>().ok()?.to_str().is_ok().then_some(true)?,
                Want::Flag => value.is_exact_instance_of::<PyBool>().then_some(true)?,
                Want::Number => is_number(&value).then_some(true)?,
                Want::Size => value.cast_exact::<PyInt>().ok()?.extract::<u64>().is_ok().then_some(true)?,
                Want::Anything => is_leaf(&value),
                Want::Properties => {
                    self.properties(value.cast_exact::<PyDict>().ok()?, depth)?;
                    continue;
                }
                Want::Schema => {
                    self.schema(value.cast_exact::<PyDict>().ok()?, depth + 1)?;
                    continue;
                }
                Want::SchemaOrFlag => match value.cast_exact::<PyDict>() {
                    Ok(dict) => {
                        self.schema(dict, depth + 1)?;
                        continue;
                    }
                    Err(_) => value.is_exact_instance_of::<PyBool>().then_some(true)?,
                },
                Want::Branches => {
                    let branches = value.cast_exact::<PyList>().ok()?;
                    self.items.push_list(branches.len());
                    for branch in branches {
                        self.schema(branch.cast_exact::<PyDict>().ok()?, depth + 1)?;
                    }
                    if branches.is_empty() {
                        return None;
                    }
                    continue;
                }
                Want::Names => {
                    self.names(value.cast_exact::<PyList>().ok()?)?;
                    continue;
                }
                Want::Literals => value.is_exact_instance_of::<PyList>().then_some(false)?,
            };
            if leaf {
                self.items.push_leaf(value);
            } else {
                self.items.push(&value, 0)?;
            }
        }
        seen.complete(depth == 0).then_some(())
    }

    fn want(&mut self, key: &Bound<'_, PyAny>, root: bool) -> Option<Want> {
        let address = key.as_ptr() as usize;
        let place = self.known.get_mut((address >> 4) % KNOWN)?;
        if let (Some((known, wanted)), false) = (&place, root)
            && *known == address
        {
            return Some(*wanted);
        }
        let word = key.cast_exact::<PyString>().ok()?.to_str().ok()?;
        let wanted = want(word.as_bytes())?;
        *place = Some((address, wanted));
        (!root || at_root(wanted, word.as_bytes())).then_some(wanted)
    }

    fn properties(&mut self, dict: &Bound<'_, PyDict>, depth: usize) -> Option<()> {
        self.items.push_dict(dict.len());
        for (name, value) in dict {
            self.facts.property(name.cast_exact::<PyString>().ok()?.to_str().ok()?.as_bytes());
            self.items.push_leaf(name);
            self.schema(value.cast_exact::<PyDict>().ok()?, depth + 1)?;
        }
        Some(())
    }

    /// Different strings.
    fn names(&mut self, list: &Bound<'_, PyList>) -> Option<()> {
        let mut known: Vec<Bound<'_, PyString>> = Vec::with_capacity(list.len());
        self.items.push_list(list.len());
        for name in list {
            let name = name.cast_into_exact::<PyString>().ok()?;
            let text = name.to_str().ok()?;
            if known.len() > 64 || known.iter().any(|k| k.to_str().is_ok_and(|k| k == text)) {
                return None;
            }
            self.items.push_leaf(name.clone().into_any());
            known.push(name);
        }
        Some(())
    }
}

fn types(list: &Bound<'_, PyList>) -> Option<u8> {
    let mut types = 0;
    for name in list {
        let bit = type_bit(name.cast_exact::<PyString>().ok()?.to_str().ok()?.as_bytes())?;
        if types & bit != 0 {
            return None;
        }
        types |= bit;
    }
    (types != 0).then_some(types)
}
