//! Members of a request made of templates: JSON text in which a string stands for a value.
use serde_json::{Map, Value};

/// What a text of JSON in a row is, with each string of `values` replaced by its value.
pub(super) fn fill(json: &str, values: &[(&str, Value)]) -> Value {
    let template: Value = serde_json::from_str(json).unwrap_or_default();
    filled(&template, values)
}

/// As [`fill`], of a value.
pub(super) fn filled(template: &Value, values: &[(&str, Value)]) -> Value {
    match template {
        Value::String(text) => {
            values.iter().find(|(name, _)| name == text).map_or_else(|| template.clone(), |(_, value)| value.clone())
        }
        Value::Array(items) => items.iter().map(|item| filled(item, values)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, member)| (key.clone(), filled(member, values))).collect())
        }
        other => other.clone(),
    }
}

/// Puts `value` at the end of a path of members.
pub(super) fn put(request: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [last] => drop(request.insert((*last).to_owned(), value)),
        [first, rest @ ..] => {
            let inner = request.entry(*first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}
