//! Several schemas that must all hold, as one.
use serde_json::{Map, Value, json};

/// `a` and `b` in one schema. What cannot be said in one is named in `lost`, and `a`'s half stays.
pub(super) fn merge(mut a: Map<String, Value>, b: Map<String, Value>, lost: &mut Vec<String>) -> Map<String, Value> {
    for (key, theirs) in b {
        let Some(ours) = a.get(&key).cloned() else {
            a.insert(key, theirs);
            continue;
        };
        if ours == theirs {
            continue;
        }
        let merged = match (key.as_str(), ours, theirs) {
            ("type", ours, theirs) => intersect_types(&ours, &theirs),
            (
                "properties" | "patternProperties" | "$defs" | "definitions",
                Value::Object(mut ours),
                Value::Object(theirs),
            ) => {
                for (name, schema) in theirs {
                    let both = match ours.shift_remove(&name) {
                        Some(first) => merge_values(first, schema, lost),
                        None => schema,
                    };
                    ours.insert(name, both);
                }
                Some(Value::Object(ours))
            }
            ("items" | "additionalProperties" | "propertyNames", ours, theirs) => {
                Some(merge_values(ours, theirs, lost))
            }
            ("required", Value::Array(mut ours), Value::Array(theirs)) => {
                for name in theirs {
                    if !ours.contains(&name) {
                        ours.push(name);
                    }
                }
                Some(Value::Array(ours))
            }
            ("enum", Value::Array(ours), Value::Array(theirs)) => {
                let both: Vec<Value> = ours.into_iter().filter(|v| theirs.contains(v)).collect();
                (!both.is_empty()).then_some(Value::Array(both))
            }
            ("allOf", Value::Array(mut ours), Value::Array(theirs)) => {
                ours.extend(theirs);
                Some(Value::Array(ours))
            }
            // A second union goes beside the first as one more part.
            ("anyOf" | "oneOf", ours, theirs) => {
                push_part(&mut a, json!({key.as_str(): theirs}));
                Some(ours)
            }
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", ours, theirs) => {
                Some(if ours.as_f64() >= theirs.as_f64() { ours } else { theirs })
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", ours, theirs) => {
                Some(if ours.as_f64() <= theirs.as_f64() { ours } else { theirs })
            }
            // Words for people: the outer ones count.
            ("title" | "description" | "$comment" | "default" | "examples", ours, _) => Some(ours),
            (_, ours, _) => {
                lost.push(key.clone());
                Some(ours)
            }
        };
        match merged {
            Some(value) => drop(a.insert(key, value)),
            None => lost.push(key),
        }
    }
    a
}

fn merge_values(a: Value, b: Value, lost: &mut Vec<String>) -> Value {
    match (a, b) {
        (Value::Bool(true), other) | (other, Value::Bool(true)) => other,
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        (Value::Object(a), Value::Object(b)) if a.contains_key("$ref") != b.contains_key("$ref") => {
            // The part with the reference stays a part: its target is merged when it is followed.
            let (mut rest, reference) = if a.contains_key("$ref") { (b, a) } else { (a, b) };
            push_part(&mut rest, Value::Object(reference));
            Value::Object(rest)
        }
        (Value::Object(a), Value::Object(b)) => Value::Object(merge(a, b, lost)),
        (a, _) => a,
    }
}

fn push_part(map: &mut Map<String, Value>, part: Value) {
    match map.get_mut("allOf") {
        Some(Value::Array(parts)) => parts.push(part),
        _ => drop(map.insert("allOf".to_owned(), Value::Array(vec![part]))),
    }
}

fn intersect_types(a: &Value, b: &Value) -> Option<Value> {
    let list = |v: &Value| -> Vec<String> {
        match v {
            Value::String(name) => vec![name.clone()],
            Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let (a, b) = (list(a), list(b));
    let mut both: Vec<String> = Vec::new();
    for name in &a {
        if b.contains(name) || (name == "integer" && b.iter().any(|n| n == "number")) {
            both.push(name.clone());
        } else if name == "number" && b.iter().any(|n| n == "integer") {
            both.push("integer".to_owned());
        }
    }
    match both.as_slice() {
        [] => None,
        [one] => Some(json!(one)),
        _ => Some(json!(both)),
    }
}
