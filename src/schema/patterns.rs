//! The patterns under which schemas describe members (`patternProperties`): compiled once a tool, when first needed.
use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The patterns of one schema.
#[derive(Debug, Default)]
pub(super) struct Patterns(HashMap<String, Validator>);

impl Patterns {
    /// All that stand anywhere in `schema`.
    pub(super) fn of(schema: &Value) -> Self {
        let mut patterns = Self::default();
        patterns.collect(schema, 0);
        patterns
    }

    /// Whether `pattern` is found in `key`, read by the engine that judges: two engines could disagree. One that it does not
    /// read judges nothing either.
    pub(super) fn matches(&self, pattern: &str, key: &str) -> bool {
        self.0.get(pattern).is_some_and(|engine| engine.is_valid(&Value::String(key.to_owned())))
    }

    fn collect(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Object(map) if depth <= super::input::MAX_DEPTH => {
                for (key, value) in map {
                    if let ("patternProperties", Value::Object(schemas)) = (key.as_str(), value) {
                        schemas.keys().for_each(|pattern| self.compile(pattern));
                    }
                    self.collect(value, depth + 1);
                }
            }
            Value::Array(items) if depth <= super::input::MAX_DEPTH => {
                items.iter().for_each(|item| self.collect(item, depth + 1));
            }
            _ => {}
        }
    }

    fn compile(&mut self, pattern: &str) {
        if !self.0.contains_key(pattern) {
            let engine = jsonschema::options().with_draft(Draft::Draft202012);
            if let Ok(engine) = engine.build(&json!({"pattern": pattern})) {
                self.0.insert(pattern.to_owned(), engine);
            }
        }
    }
}
