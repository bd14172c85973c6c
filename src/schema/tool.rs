//! One tool.
use super::Expected;
use super::judge::Judge;
use crate::bytes::same;
use serde_json::{Map, Value};
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
    /// The parameters in the schema's order, with the types their values may have.
    pub parameters: Vec<(String, Expected)>,
    /// Where it came from, and what else was said of it there.
    pub source: ToolSource,
    /// Made from the schema when first needed.
    pub(super) judge: Arc<Judge>,
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
        let parameters = match object_schema(&schema).and_then(|s| s.get("properties")).and_then(Value::as_object) {
            Some(properties) => properties.iter().map(|(k, v)| (k.clone(), Expected::of(v, &schema))).collect(),
            None => Vec::new(),
        };
        Self { name, description, schema, parameters, source: ToolSource::default(), judge: Arc::default() }
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

    /// The parameter that bare text is the value of: the only one, or the only one that is required.
    pub fn only_parameter(&self) -> Option<&str> {
        match self.parameters.as_slice() {
            [(name, _)] => Some(name),
            _ => match self.schema.get("required")?.as_array()?.as_slice() {
                [name] => name.as_str(),
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
        let required = self.schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|key| key == name))
    }

    /// What the schema expects of the parameter `name`; anything if it does not say.
    pub fn expected(&self, name: &str) -> Expected {
        self.parameter(name).unwrap_or(Expected::ANY)
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
        Value::Object(map)
    }

    /// The name at the tool's own server.
    pub fn original_name(&self) -> &str {
        self.source.original.as_deref().unwrap_or(&self.name)
    }
}

/// The schema that lists the properties: the root, or what a chain of root `$ref`s points to.
fn object_schema(root: &Value) -> Option<&Value> {
    let mut at = root;
    for _ in 0..16 {
        if at.get("properties").is_some() {
            return Some(at);
        }
        at = super::pointer::resolve(root, at.get("$ref")?.as_str()?)?;
    }
    None
}
