//! One tool.
use super::Expected;
use serde_json::{Map, Value};

/// A tool: name, description, JSON Schema of its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments object.
    pub schema: Value,
    /// The parameters in the schema's order, with the types their values may have.
    pub parameters: Vec<(String, Expected)>,
}

impl Tool {
    pub fn new(name: String, description: String, schema: Value) -> Self {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let parameters = properties.iter().map(|(k, v)| (k.clone(), Expected::of(v, &schema))).collect();
        Self { name, description, schema, parameters }
    }

    /// What the schema expects of the parameter `name`; anything if it does not say.
    pub fn expected(&self, name: &str) -> Expected {
        self.parameters.iter().find(|(n, _)| n == name).map_or(Expected::ANY, |(_, e)| *e)
    }
}
