//! Gemini's `parameters`: the OpenAPI subset, read into JSON Schema.
use serde_json::{Map, Value, json};

/// Whether the schema is in the subset's own spelling: types in capitals, as Gemini's API and SDKs write them.
pub(super) fn is_openapi(schema: &Map<String, Value>) -> bool {
    let capitals =
        |v: &Value| v.as_str().is_some_and(|t| t.len() > 3 && t.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'));
    schema.get("type").is_some_and(capitals)
}

/// The same schema in JSON Schema's words: small types, `nullable` as a type, no `propertyOrdering`, no `format: enum`.
pub(super) fn to_json_schema(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("type", Value::String(name)) => {
                let name = name.to_ascii_lowercase();
                if name != "type_unspecified" {
                    out.insert(key.clone(), Value::String(name));
                }
            }
            ("properties", Value::Object(properties)) => {
                let properties = properties.iter().map(|(k, v)| (k.clone(), to_json_schema(v))).collect();
                out.insert(key.clone(), Value::Object(properties));
            }
            ("items" | "additionalProperties", value) => drop(out.insert(key.clone(), to_json_schema(value))),
            ("anyOf" | "any_of", Value::Array(branches)) => {
                out.insert("anyOf".to_owned(), branches.iter().map(to_json_schema).collect());
            }
            ("format", Value::String(format)) if format == "enum" => {}
            ("nullable" | "propertyOrdering" | "property_ordering", _) => {}
            // The API writes 64-bit numbers as strings.
            (
                "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties",
                Value::String(text),
            ) => {
                let number = text.parse::<u64>().map_or_else(|_| value.clone(), |n| json!(n));
                out.insert(key.clone(), number);
            }
            (_, Value::Null) => {}
            _ => drop(out.insert(key.clone(), value.clone())),
        }
    }
    if map.get("nullable") == Some(&Value::Bool(true)) {
        match out.get_mut("type") {
            Some(kind) => *kind = json!([kind.clone(), "null"]),
            None => {
                if let Some(Value::Array(branches)) = out.get_mut("anyOf") {
                    branches.push(json!({"type": "null"}));
                }
            }
        }
        if let Some(Value::Array(literals)) = out.get_mut("enum") {
            literals.push(Value::Null);
        }
    }
    Value::Object(out)
}
