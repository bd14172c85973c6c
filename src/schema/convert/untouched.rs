//! Telling quickly that a schema needs no rewriting at all, which is true of most.
use super::profile::{Literals, Profile, Strict, Types};
use crate::schema::plain::{MAX_DEPTH, Seen, Want, at_root, type_bit, want};
use serde_json::{Map, Value};

/// Whether writing `schema` by `profile` would change nothing. `false` means only "perhaps".
pub(super) fn fits(schema: &Value, profile: &Profile) -> bool {
    let Value::Object(map) = schema else { return false };
    profile.strict == Strict::No
        && profile.types == Types::Lists
        && !profile.capitals
        && !profile.ordering
        && object(map, profile, 0)
}

/// Whether cleaning `schema` ([`crate::schema::clean`]) would change nothing. `false` means only "perhaps".
pub(in crate::schema) fn is_clean(schema: &Value) -> bool {
    // A root is cleaned like any other schema.
    matches!(schema, Value::Object(map) if object(map, &Profile::OPEN, 1))
}

fn object(map: &Map<String, Value>, profile: &Profile, depth: usize) -> bool {
    let mut seen = Seen::default();
    depth <= MAX_DEPTH
        && map.iter().all(|(key, value)| keyword(key, value, profile, depth, &mut seen))
        && seen.complete(depth == 0)
        && (seen.types != 0 || (profile.anything && (profile.literals == Literals::Any || !map.contains_key("enum"))))
}

fn keyword(key: &str, value: &Value, profile: &Profile, depth: usize, seen: &mut Seen) -> bool {
    let Some(wanted) = want(key.as_bytes()) else { return false };
    // A word beside the schema's own (`examples`) is shown like any other where every keyword is.
    if !profile.takes(key) || (depth == 0 && !at_root(wanted, key.as_bytes())) {
        return false;
    }
    seen.note(wanted);
    let schema = |value: &Value| matches!(value, Value::Object(map) if object(map, profile, depth + 1));
    match (wanted, value) {
        (Want::Type, Value::String(name)) => {
            seen.types = type_bit(name.as_bytes()).unwrap_or_default();
            seen.types != 0
        }
        (Want::Type, Value::Array(names)) => {
            let bits = || names.iter().map(|name| name.as_str().and_then(|name| type_bit(name.as_bytes())));
            seen.types = bits().flatten().fold(0, |types, bit| types | bit);
            bits().all(|bit| bit.is_some()) && seen.types.count_ones() as usize == names.len() && !names.is_empty()
        }
        (Want::Properties, Value::Object(properties)) => {
            properties.iter().all(|(name, value)| profile.properties.takes(name) && schema(value))
        }
        (Want::Names, Value::Array(names)) => {
            let different = |i: usize, name: &Value| name.is_string() && !names.iter().take(i).any(|n| n == name);
            profile.undescribed
                && names.len() <= 64
                && names.iter().enumerate().all(|(i, name)| different(i, name))
                && (profile.keywords.is_none() || !names.is_empty())
        }
        (Want::Schema, value) => schema(value),
        (Want::SchemaOrFlag, value) => value.is_boolean() || schema(value),
        (Want::Literals, Value::Array(literals)) => {
            profile.literals == Literals::Any || (!literals.is_empty() && literals.iter().all(Value::is_string))
        }
        (Want::Branches, Value::Array(branches)) => {
            let taken = if key == "oneOf" { profile.one_of } else { true };
            taken && profile.beside_any_of && !branches.is_empty() && branches.iter().all(schema)
        }
        (Want::Text, Value::String(text)) => match key {
            "format" => profile.formats.is_none_or(|known| known.contains(&text.as_str())),
            "pattern" => profile.look_around,
            _ => true,
        },
        (Want::Number, Value::Number(n)) => key != "multipleOf" || n.as_f64().is_some_and(|n| n > 0.0),
        (Want::Flag, Value::Bool(_)) => true,
        (Want::Size, Value::Number(n)) => n.is_u64() && profile.min_items.is_none(),
        (Want::Anything, _) => key != "const" || profile.constants,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::clean::clean_for_reading;
    use crate::schema::convert::{anthropic, gemini, llama_cpp, mistral, ollama, openai, write};
    use proptest::prelude::*;
    use serde_json::json;

    fn leaf() -> impl Strategy<Value = Value> {
        prop::sample::select(vec![
            json!({}),
            json!({"type": "string", "minLength": 1, "format": "date", "pattern": "^a"}),
            json!({"type": ["integer", "null"], "default": null, "minimum": 0}),
            json!({"type": ["array", "null"]}),
            json!({"type": ["string", "array"]}),
            json!({"type": "array"}),
            json!({"type": ["string", "string"]}),
            json!({"enum": ["a", 1, null]}),
            json!({"enum": ["a", "b"], "description": "d"}),
            json!({"const": 1}),
            json!({"$ref": "#"}),
            json!({"nullable": true, "type": "string"}),
            json!({"type": "float"}),
            json!({"type": "integer", "multipleOf": 0}),
            json!({"type": "object", "properties": {}}),
            json!({"type": "array", "items": {}, "minItems": 3, "uniqueItems": true}),
        ])
    }

    fn schema() -> impl Strategy<Value = Value> {
        leaf().prop_recursive(3, 12, 3, |part| {
            let parts = prop::collection::vec(part.clone(), 1..3);
            prop_oneof![
                (prop::sample::select(vec!["anyOf", "oneOf", "allOf"]), parts).prop_map(|(key, parts)| json!({key: parts})),
                part.clone().prop_map(|items| json!({"type": "array", "items": items})),
                (prop::sample::select(vec!["a", "b c", "d.e"]), part.clone(), part).prop_map(|(name, part, rest)| {
                    json!({"type": "object", "properties": {name: part}, "required": [name], "additionalProperties": rest})
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_fits_would_be_written_as_it_is(part in schema(), beside in schema()) {
            let root = json!({"type": "object", "properties": {"p": part, "q": beside}, "required": ["p"]});
            if is_clean(&root) {
                prop_assert_eq!(clean_for_reading(&root), (root.clone(), vec![]));
            }
            for profile in [&openai::LOOSE, &anthropic::LOOSE, &mistral::PROFILE, &ollama::PROFILE, &llama_cpp::PROFILE,
                            &gemini::JSON_SCHEMA] {
                if fits(&root, profile) {
                    let written = write(&root, profile, false);
                    prop_assert_eq!(&written.schema, &root);
                    prop_assert_eq!(&written.changes, &vec![]);
                }
            }
        }
    }
}
