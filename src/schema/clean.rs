//! Schemas as people write them, made into JSON Schema 2020-12 that means the same: what arguments are judged by.
//!
//! Everything stays where it is, so that `$ref`s keep their targets. What no draft knows (a type `float`, a
//! `required: true`) gets its meaning or goes; a broken part never makes a whole tool unusable.
use super::pointer;
use serde_json::{Map, Value, json};

/// In-place steps followed when looking for references that lead back to themselves.
const BUDGET: u32 = 2000;

/// `root` as valid JSON Schema 2020-12 with local references only.
pub(super) fn clean(root: &Value) -> Value {
    Cleaner { root, id: root.get("$id").and_then(Value::as_str) }.schema(root)
}

struct Cleaner<'r> {
    root: &'r Value,
    /// The document's own address: references may spell it out.
    id: Option<&'r str>,
}

impl Cleaner<'_> {
    fn schema(&self, schema: &Value) -> Value {
        let Value::Object(map) = schema else {
            return if schema.is_boolean() { schema.clone() } else { Value::Bool(true) };
        };
        let mut out = Map::with_capacity(map.len());
        for (key, value) in map {
            if let Some(value) = self.keyword(key, value, map, &mut out) {
                out.insert(key.clone(), value);
            }
        }
        if map.get("nullable") == Some(&Value::Bool(true)) {
            allow_null(&mut out);
        }
        Value::Object(out)
    }

    /// The keyword's clean value; `None` if it goes (or has put others into `out`).
    fn keyword(
        &self,
        key: &str,
        value: &Value,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Option<Value> {
        match (key, value) {
            ("type", value) => clean_type(value),
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => Some(Value::Object(schemas.iter().map(|(k, v)| (k.clone(), self.schema(v))).collect())),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) if !schemas.is_empty() => {
                Some(schemas.iter().map(|s| self.schema(s)).collect())
            }
            // Drafts up to 2019-09 spell tuples as a list of items.
            ("items", Value::Array(schemas)) => {
                if !schemas.is_empty() {
                    out.insert("prefixItems".to_owned(), schemas.iter().map(|s| self.schema(s)).collect());
                }
                map.get("additionalItems").map(|rest| self.schema(rest))
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Value::Object(_) | Value::Bool(_),
            ) => Some(self.schema(value)),
            ("$ref", Value::String(reference)) => self.reference(reference).map(Value::String),
            ("required", Value::Array(names)) if names.iter().all(Value::is_string) => {
                let mut unique: Vec<Value> = Vec::with_capacity(names.len());
                for name in names {
                    if !unique.contains(name) {
                        unique.push(name.clone());
                    }
                }
                Some(Value::Array(unique))
            }
            ("enum", Value::Array(_)) | ("const", _) => Some(value.clone()),
            ("multipleOf", Value::Number(n)) => n.as_f64().filter(|n| *n > 0.0).map(|_| value.clone()),
            ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => {
                // Draft 4: `exclusiveMinimum: true` beside `minimum`.
                let exclusive = match key {
                    "minimum" => "exclusiveMinimum",
                    "maximum" => "exclusiveMaximum",
                    _ => return Some(value.clone()),
                };
                if map.get(exclusive) == Some(&Value::Bool(true)) {
                    out.insert(exclusive.to_owned(), value.clone());
                    return None;
                }
                Some(value.clone())
            }
            (
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
                | "maxContains",
                Value::Number(n),
            ) => n.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0).map(|_| value.clone()),
            ("pattern", Value::String(_)) | ("uniqueItems", Value::Bool(_)) => Some(value.clone()),
            ("format" | "title" | "description" | "$comment", Value::String(_)) => Some(value.clone()),
            ("dependentRequired", Value::Object(map)) => {
                let lists = map.iter().filter(|(_, v)| is_names(v)).map(|(k, v)| (k.clone(), v.clone()));
                Some(Value::Object(lists.collect()))
            }
            ("dependencies", Value::Object(map)) => {
                let (names, schemas): (Vec<_>, Vec<_>) = map.iter().partition(|(_, v)| v.is_array());
                let names = names.into_iter().filter(|(_, v)| is_names(v)).map(|(k, v)| (k.clone(), v.clone()));
                out.insert("dependentRequired".to_owned(), Value::Object(names.collect()));
                let schemas = schemas.into_iter().map(|(k, v)| (k.clone(), self.schema(v)));
                out.insert("dependentSchemas".to_owned(), Value::Object(schemas.collect()));
                None
            }
            // Addresses, foreign words and values of the wrong kind do not judge.
            _ => None,
        }
    }

    /// A reference inside the document that reaches a schema; any value is right where one does not.
    fn reference(&self, reference: &str) -> Option<String> {
        let local = match self.id {
            Some(id) if !reference.starts_with('#') => reference.strip_prefix(id).filter(|r| r.starts_with('#'))?,
            _ => reference,
        };
        let target = pointer::resolve(self.root, local)?;
        let mut open = Vec::new();
        let mut budget = BUDGET;
        (!loops(target, self.root, &mut open, &mut budget)).then(|| pointer::plain(self.root, local))?
    }
}

/// Whether judging `schema` would come back to a schema that is being judged without looking deeper into the value.
fn loops<'v>(schema: &'v Value, root: &'v Value, open: &mut Vec<&'v Value>, budget: &mut u32) -> bool {
    if open.iter().any(|o| std::ptr::eq(*o, schema)) || *budget == 0 {
        return true;
    }
    *budget -= 1;
    let Value::Object(map) = schema else { return false };
    open.push(schema);
    let mut found = false;
    for (key, value) in map {
        found |= match (key.as_str(), value) {
            ("$ref", Value::String(reference)) => {
                pointer::resolve(root, reference).is_some_and(|target| loops(target, root, open, budget))
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                branches.iter().any(|b| loops(b, root, open, budget))
            }
            ("not" | "if" | "then" | "else", branch) => loops(branch, root, open, budget),
            ("dependentSchemas" | "dependencies", Value::Object(branches)) => {
                branches.values().any(|b| loops(b, root, open, budget))
            }
            _ => false,
        };
        if found {
            break;
        }
    }
    open.pop();
    found
}

/// The seven types of JSON Schema, with the names that Python and SQL people use read as what they mean.
fn clean_type(value: &Value) -> Option<Value> {
    match value {
        Value::String(name) => type_name(name).map(|name| json!(name)),
        Value::Array(names) => {
            let mut known: Vec<&str> = Vec::new();
            for name in names {
                // One unknown name among the types: the type says nothing.
                let name = type_name(name.as_str()?)?;
                if !known.contains(&name) {
                    known.push(name);
                }
            }
            (!known.is_empty()).then(|| json!(known))
        }
        _ => None,
    }
}

pub(super) fn type_name(name: &str) -> Option<&'static str> {
    use super::Expected;
    let exact = ["string", "integer", "number", "boolean", "null", "object", "array"];
    if let Some(name) = exact.iter().find(|e| **e == name) {
        return Some(name);
    }
    let types = Expected::of_name(name)?;
    let names = [
        (Expected::STRING, "string"),
        (Expected::INTEGER, "integer"),
        (Expected::NUMBER, "number"),
        (Expected::BOOLEAN, "boolean"),
        (Expected::NULL, "null"),
        (Expected::OBJECT, "object"),
        (Expected::ARRAY, "array"),
    ];
    names.iter().find(|(t, _)| *t == types).map(|(_, name)| *name)
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}

/// OpenAPI's `nullable: true`.
fn allow_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(literals)) = schema.get_mut("enum") {
        if !literals.contains(&Value::Null) {
            literals.push(Value::Null);
        }
    }
    match schema.get_mut("type") {
        Some(Value::Array(names)) => {
            if !names.iter().any(|n| n == "null") {
                names.push(json!("null"));
            }
        }
        Some(name) => *name = json!([name.clone(), "null"]),
        None => {
            for key in ["anyOf", "oneOf"] {
                if let Some(Value::Array(branches)) = schema.get_mut(key) {
                    branches.push(json!({"type": "null"}));
                    return;
                }
            }
            if let Some(reference) = schema.remove("$ref") {
                schema.insert("anyOf".to_owned(), json!([{"$ref": reference}, {"type": "null"}]));
            }
        }
    }
}
