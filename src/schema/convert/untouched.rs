//! Telling quickly that a schema needs no rewriting at all, which is true of most.
use super::profile::{Literals, Profile, Strict, Types};
use serde_json::{Map, Value};

/// Whether writing `schema` by `profile` would change nothing. `false` means only "perhaps".
pub(super) fn fits(schema: &Value, profile: &Profile) -> bool {
    let Value::Object(map) = schema else { return false };
    let plain_root = map.get("type").is_some_and(|kind| kind == "object")
        && map.get("properties").is_some_and(Value::is_object)
        && !["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"].iter().any(|key| map.contains_key(*key));
    plain_root
        && profile.strict == Strict::No
        && profile.types == Types::Lists
        && !profile.capitals
        && !profile.ordering
        && object(map, profile, 0)
}

fn object(map: &Map<String, Value>, profile: &Profile, depth: usize) -> bool {
    depth < 40 && map.iter().all(|(key, value)| keyword(key, value, profile, depth)) && complete(map, profile)
}

/// Arrays that say their items, and a type where one is wanted.
fn complete(map: &Map<String, Value>, profile: &Profile) -> bool {
    let array = map.get("type").is_some_and(|kind| kind == "array");
    (!array || !profile.items || map.contains_key("items")) && (profile.anything || map.contains_key("type"))
}

fn keyword(key: &str, value: &Value, profile: &Profile, depth: usize) -> bool {
    // A word beside the schema's own (`x-…`, `examples`) is shown like any other where every keyword is.
    if !profile.takes(key) {
        return false;
    }
    match (key, value) {
        ("type", Value::String(name)) => is_type(name),
        ("properties", Value::Object(properties)) => properties.iter().all(|(name, schema)| {
            profile.properties.takes(name) && matches!(schema, Value::Object(map) if object(map, profile, depth + 1))
        }),
        ("required", Value::Array(names)) => {
            names.iter().all(Value::is_string) && (profile.keywords.is_none() || !names.is_empty())
        }
        ("description" | "title" | "$comment" | "$schema", Value::String(_)) => true,
        ("items", Value::Object(map)) => object(map, profile, depth + 1),
        ("additionalProperties", Value::Bool(_)) => true,
        ("additionalProperties", Value::Object(map)) => object(map, profile, depth + 1),
        ("enum", Value::Array(literals)) => {
            profile.literals == Literals::Any || (!literals.is_empty() && literals.iter().all(Value::is_string))
        }
        ("const", _) => profile.constants,
        ("format", Value::String(format)) => profile.formats.is_none_or(|known| known.contains(&format.as_str())),
        ("anyOf", Value::Array(branches)) if profile.beside_any_of => {
            !branches.is_empty()
                && branches.iter().all(|b| matches!(b, Value::Object(map) if object(map, profile, depth + 1)))
        }
        ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf", Value::Number(_)) => true,
        ("minLength" | "maxLength" | "minItems" | "maxItems", Value::Number(n)) => {
            n.is_u64() && profile.min_items.is_none()
        }
        ("pattern", Value::String(_)) => profile.look_around,
        ("uniqueItems", Value::Bool(_)) => true,
        ("default" | "examples" | "example" | "deprecated" | "readOnly" | "writeOnly" | "$id", _) => true,
        _ => false,
    }
}

fn is_type(name: &str) -> bool {
    matches!(name, "string" | "integer" | "number" | "boolean" | "object" | "array" | "null")
}
