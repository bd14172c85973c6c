//! One tool.
use super::Expected;
use super::judge::Judge;
use crate::bytes::same;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// A tool: name, description, JSON Schema of its arguments, and where it came from.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The name calls are reported under: the tool's own, or `server:tool` where two servers offer the same.
    pub name: String,
    /// What it does, for the model; may be empty.
    pub description: String,
    /// JSON Schema of the arguments object.
    pub schema: Value,
    /// The parameters in the schema's order, with the types their values may have: those of the schemas that it is combined of
    /// among them.
    pub parameters: Vec<(String, Expected)>,
    /// Where it came from, and what else was said of it there.
    pub source: ToolSource,
    /// The names that the schema requires.
    required: Vec<String>,
    /// So many of the parameters, from the first, have an order that the schema gives.
    ordered: usize,
    /// What is expected of parameters that the schema describes together and not by name.
    others: Others,
    /// Made from the schema when first needed.
    pub(super) judge: Arc<Judge>,
}

/// The type of a tool of OpenAI's that takes free text.
pub(super) const FREEFORM: &str = "custom";

/// The member of the arguments that holds the text of such a tool, where there are only functions.
pub(crate) const INPUT: &str = "input";

/// The text that such a tool is called with by a function's `arguments`.
pub(crate) fn input_of(arguments: &str) -> Option<String> {
    match serde_json::from_str::<Value>(arguments).ok()?.get_mut(INPUT)? {
        Value::String(text) => Some(std::mem::take(text)),
        value => Some(value.to_string()),
    }
}

/// What a tool's declaration said beside name, description and schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolSource {
    /// The MCP server (or other source) that offers the tool.
    pub server: Option<String>,
    /// The tool's name at that server, where it is not [`Tool::name`].
    pub original: Option<String>,
    /// The declaration asked for strict mode, or refused it.
    pub strict: Option<bool>,
    /// The tool takes free text (OpenAI's `custom`): the `format` of that, as Responses says it, or null. Its schema is that of
    /// an object whose `input` is the text.
    pub freeform: Option<Value>,
    /// MCP's `title`, `outputSchema`, `annotations`, `icons`, `execution` and `_meta`, under these names.
    pub fields: Map<String, Value>,
    /// What else stood in the declaration: fields of one provider (`cache_control`), or of nobody here.
    pub extra: Map<String, Value>,
}

/// Tools are alike if their declarations are.
impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.description, &self.schema, &self.source)
            == (&other.name, &other.description, &other.schema, &other.source)
    }
}

impl Tool {
    /// A tool of no server.
    pub fn new(name: String, description: String, schema: Value) -> Self {
        let Declared { parameters, required, ordered, others } = Declared::of(&schema);
        let (source, judge) = (ToolSource::default(), Arc::default());
        Self { name, description, schema, parameters, required, ordered, others, source, judge }
    }

    /// What the schema expects of the parameter `name`, if it declares one.
    pub fn parameter(&self, name: &str) -> Option<Expected> {
        self.parameters.iter().find(|(n, _)| n == name).map(|(_, expected)| *expected)
    }

    /// Which of the parameters is called `name`. Models keep the schema's order, so it mostly is the one at `likely`.
    pub(crate) fn position(&self, name: &[u8], likely: usize) -> Option<usize> {
        let named = |at: &usize| self.parameters.get(*at).is_some_and(|(n, _)| same(n.as_bytes(), name));
        Some(likely).filter(named).or_else(|| (0..self.parameters.len()).find(named))
    }

    /// The parameters whose order the schema gives, which a value without a name may stand for: those of one list of properties, and
    /// not of several that are combined.
    pub(crate) fn ordered(&self) -> &[(String, Expected)] {
        self.parameters.get(..self.ordered).unwrap_or_default()
    }

    /// The parameter that bare text is the value of: the only one, or the only one that is required.
    pub fn only_parameter(&self) -> Option<&str> {
        match self.parameters.as_slice() {
            [(name, _)] => Some(name),
            _ => match self.required.as_slice() {
                [name] => Some(name),
                _ => None,
            },
        }
    }

    /// No parameter but the [`only`](Self::only_parameter) one may be text.
    pub(crate) fn takes_one_text(&self) -> bool {
        let only = self.only_parameter();
        let other = |(name, expected): &(String, Expected)| Some(&**name) != only && expected.allows(Expected::STRING);
        only.is_some() && !self.parameters.iter().any(other)
    }

    /// The schema has a parameter `name`.
    pub fn declares(&self, name: &str) -> bool {
        self.parameter(name).is_some()
    }

    /// The schema says that the parameter `name` must be there.
    pub(crate) fn requires(&self, name: &str) -> bool {
        self.required.iter().any(|key| key == name)
    }

    /// What the schema expects of the parameter `name`; anything if it does not say.
    pub fn expected(&self, name: &str) -> Expected {
        self.parameter(name).unwrap_or_else(|| self.expected_of_other(name))
    }

    /// The same for a parameter that is not declared by its name.
    pub(crate) fn expected_of_other(&self, name: &str) -> Expected {
        match self.others {
            Others::Any => Expected::ANY,
            Others::Alike(expected) => expected,
            Others::ByPattern => self.part(name).map_or(Expected::ANY, |part| Expected::of(part, &self.schema)),
        }
    }

    /// The schema of the parameter `name`: by its name, by a pattern, or as one of the others. None where the branches of a union
    /// have several.
    pub(crate) fn part(&self, name: &str) -> Option<&Value> {
        let parts = combined(&self.schema);
        let mut named = parts.iter().filter_map(|part| part.get("properties")?.get(name));
        let listed = named.next();
        if listed.is_some_and(|first| named.any(|other| other != first)) {
            return all_of(&self.schema).iter().find_map(|part| part.get("properties")?.get(name));
        }
        listed.or_else(|| {
            let patterns = parts.iter().filter_map(|part| part.get("patternProperties")?.as_object()).flatten();
            let mut matching = patterns.filter(|(pattern, _)| self.judge.patterns(&self.schema).matches(pattern, name));
            match (matching.next(), matching.next()) {
                (Some((_, part)), None) => Some(part),
                // Each of them says something of it, in its own way.
                (Some(_), Some(_)) => None,
                (None, _) => {
                    parts.iter().find_map(|part| part.get("additionalProperties").filter(|part| part.is_object()))
                }
            }
        })
    }

    /// `word` is one of the values that the schema lists, for whichever parameter.
    pub(crate) fn lists(&self, word: &str) -> bool {
        lists(&self.schema, word)
    }

    /// The tool takes free text, which whoever knows no such tools gives as the `input` of an object.
    pub fn is_freeform(&self) -> bool {
        self.source.freeform.is_some()
    }

    /// The tool as one JSON object that [`super::ToolSet::from_values`] reads back whole.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("name".to_owned(), Value::String(self.original_name().to_owned()));
        if !self.description.is_empty() {
            map.insert("description".to_owned(), Value::String(self.description.clone()));
        }
        map.insert("inputSchema".to_owned(), self.schema.clone());
        map.extend(self.source.fields.clone());
        map.extend(self.source.extra.clone());
        if let Some(strict) = self.source.strict {
            map.insert("strict".to_owned(), Value::Bool(strict));
        }
        if let Some(server) = &self.source.server {
            map.insert("server".to_owned(), Value::String(server.clone()));
        }
        if let Some(format) = &self.source.freeform {
            map.insert("type".to_owned(), Value::String(FREEFORM.to_owned()));
            if !format.is_null() {
                map.insert("format".to_owned(), format.clone());
            }
            map.shift_remove("inputSchema");
        }
        Value::Object(map)
    }

    /// The name at the tool's own server.
    pub fn original_name(&self) -> &str {
        self.source.original.as_deref().unwrap_or(&self.name)
    }
}

/// `word` is one of the values that `schema` lists, at whichever place.
pub(crate) fn lists(schema: &Value, word: &str) -> bool {
    match schema {
        Value::Object(map) => map.iter().any(|(key, part)| match (key.as_str(), part) {
            ("enum", Value::Array(values)) => values.iter().any(|value| value == word),
            ("const", value @ Value::String(_)) => value == word,
            (_, part) => lists(part, word),
        }),
        Value::Array(parts) => parts.iter().any(|part| lists(part, word)),
        _ => false,
    }
}

/// What is expected of parameters that no schema names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    Any,
    /// `additionalProperties` says it of all.
    Alike(Expected),
    /// Their names say more (`patternProperties`).
    ByPattern,
}

/// The parameters of a tool, as its schema and those that it is combined of declare them.
struct Declared {
    parameters: Vec<(String, Expected)>,
    required: Vec<String>,
    ordered: usize,
    others: Others,
}

impl Declared {
    fn of<'s>(root: &'s Value) -> Self {
        let (certain, parts) = (all_of(root), combined(root));
        let mut parameters: Vec<(String, Expected)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let several = parts.len() > 1;
        let mut declare = |part: &'s Value, merged: &dyn Fn(usize, Expected, Expected) -> Expected| {
            for (name, schema) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let expected = Expected::of(schema, root);
                let place = places.get(name.as_str()).copied();
                match place.and_then(|at| Some((at, parameters.get_mut(at)?))) {
                    Some((at, (_, known))) => *known = merged(at, *known, expected),
                    None => {
                        if several {
                            places.insert(name, parameters.len());
                        }
                        parameters.push((name.clone(), expected));
                    }
                }
            }
            parameters.len()
        };
        let narrower = |_, known: Expected, more| if known.is_any() { more } else { known };
        let firm = certain.iter().map(|part| declare(part, &narrower)).last().unwrap_or(0);
        // The branches of a union are not told apart here: a value may be what any of them says. What holds for every call says
        // more.
        let wider = |at: usize, known: Expected, more: Expected| if at < firm { known } else { known.or(more) };
        for part in parts.iter().filter(|part| !certain.iter().any(|known| std::ptr::eq(*known, **part))) {
            declare(part, &wider);
        }
        let by_pattern = parts.iter().any(|part| part.get("patternProperties").is_some_and(Value::is_object));
        let alike = || parts.iter().find_map(|part| part.get("additionalProperties").filter(|part| part.is_object()));
        let others = match by_pattern {
            true => Others::ByPattern,
            false => alike().map_or(Others::Any, |part| Others::Alike(Expected::of(part, root))),
        };
        let mut required: Vec<String> = Vec::new();
        for name in certain.iter().filter_map(|part| part.get("required")?.as_array()).flatten() {
            if let Some(name) = name.as_str().filter(|name| !required.iter().any(|known| known == name)) {
                required.push(name.to_owned());
            }
        }
        let lists = || certain.iter().filter_map(|part| part.get("properties")?.as_object());
        let own = root.get("properties").and_then(Value::as_object);
        let ordered = own.or_else(|| lists().next().filter(|_| lists().count() == 1)).map_or(0, Map::len);
        Self { parameters, required, ordered, others }
    }
}

/// Schemas that a tool's may be combined of: more are not looked at.
const PARTS: usize = 64;

/// The root, what it refers to, and the branches of its combinators, each once: what describes the arguments object.
fn combined(root: &Value) -> Vec<&Value> {
    in_place(root, &["allOf", "anyOf", "oneOf"])
}

/// Those of them that hold for every call.
fn all_of(root: &Value) -> Vec<&Value> {
    in_place(root, &["allOf"])
}

fn in_place<'s>(root: &'s Value, combinators: &[&str]) -> Vec<&'s Value> {
    let mut parts = vec![root];
    let mut at = 0;
    while let Some(part) = parts.get(at).copied() {
        at += 1;
        let target = part.get("$ref").and_then(Value::as_str).and_then(|r| super::pointer::resolve(root, r));
        let branches = combinators.iter().filter_map(|key| part.get(*key)?.as_array()).flatten();
        for part in target.into_iter().chain(branches) {
            if parts.len() < PARTS && part.is_object() && !parts.iter().any(|known| std::ptr::eq(*known, part)) {
                parts.push(part);
            }
        }
    }
    parts
}
