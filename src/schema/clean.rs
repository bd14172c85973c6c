//! Schemas as people write them, made into JSON Schema 2020-12 that means the same: what arguments are judged by.
//!
//! Everything stays where it is, so that `$ref`s keep their targets. What no draft knows (a type `float`, a
//! `required: true`) gets its meaning or goes; a broken part never makes a whole tool unusable.
use super::pointer;
use super::references::{Definitions, Loops, holds_schemas};
use serde_json::{Map, Value, json};

/// `root` as valid JSON Schema 2020-12 with local references only, without what does not judge.
pub(super) fn clean(root: &Value) -> Value {
    let mut cleaner = Cleaner::new(root, false);
    cleaner.document()
}

/// The same with everything that is only for people or programs kept (`default`, `examples`, `x-…`), and what had to go.
pub(super) fn clean_for_reading(root: &Value) -> (Value, Vec<Note>) {
    let mut cleaner = Cleaner::new(root, true);
    let schema = cleaner.document();
    (schema, cleaner.notes)
}

/// A part that is not in the clean schema, or not as it was written.
#[derive(Debug, PartialEq)]
pub(super) struct Note {
    /// Where it is, as a JSON pointer.
    pub place: String,
    pub reason: String,
    pub part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Says what JSON Schema says in another way.
    Respelt,
    /// Refers to what is not there, or cannot be followed.
    Reference,
    /// Means nothing.
    Meaningless,
}

struct Cleaner<'r> {
    root: &'r Value,
    /// The document's own address: references may spell it out.
    id: Option<&'r str>,
    /// Keep what does not judge.
    keep: bool,
    place: String,
    notes: Vec<Note>,
    definitions: Definitions<'r>,
    loops: Loops<'r>,
}

impl<'r> Cleaner<'r> {
    fn new(root: &'r Value, keep: bool) -> Self {
        let id = root.get("$id").and_then(Value::as_str);
        Self {
            root,
            id,
            keep,
            place: String::new(),
            notes: Vec::new(),
            definitions: Definitions::of(root),
            loops: Loops::of(root),
        }
    }

    /// The whole document, and behind its definitions the schemas that it refers to and that stand where nothing is looked for.
    fn document(&mut self) -> Value {
        let mut clean = self.schema(self.root);
        while let Some((place, name, target)) = self.definitions.next() {
            self.place = place;
            let target = self.schema(target);
            if let Value::Object(map) = &mut clean
                && let Value::Object(definitions) = map.entry("$defs").or_insert_with(|| json!({}))
            {
                definitions.insert(name, target);
            }
        }
        clean
    }

    fn note(&mut self, key: &str, part: Part, reason: impl Into<String>) {
        let mut place = self.place.clone();
        pointer::push(&mut place, key);
        self.notes.push(Note { place, reason: reason.into(), part });
    }

    /// The part of a schema under `keys`, cleaned.
    fn part(&mut self, keys: &[&str], schema: &Value) -> Value {
        let length = self.place.len();
        for key in keys {
            pointer::push(&mut self.place, key);
        }
        let clean = self.schema(schema);
        self.place.truncate(length);
        clean
    }

    fn parts(&mut self, key: &str, schemas: &[Value]) -> Value {
        schemas.iter().enumerate().map(|(i, schema)| self.part(&[key, &i.to_string()], schema)).collect()
    }

    fn named_parts<'v>(
        &mut self,
        key: &str,
        schemas: impl IntoIterator<Item = (&'v String, &'v Value)>,
    ) -> Map<String, Value> {
        schemas.into_iter().map(|(name, schema)| (name.clone(), self.part(&[key, name], schema))).collect()
    }

    fn schema(&mut self, schema: &Value) -> Value {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(flag) => return Value::Bool(*flag),
            // Who writes null has nothing to say.
            Value::Null => return Value::Bool(true),
            _ => {
                let reason = "no schema, so any value is taken".to_owned();
                self.notes.push(Note { place: self.place.clone(), reason, part: Part::Meaningless });
                return Value::Bool(true);
            }
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
        &mut self,
        key: &str,
        value: &Value,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
    ) -> Option<Value> {
        match (key, value) {
            ("type", value) => self.type_(value),
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => Some(Value::Object(self.named_parts(key, schemas))),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) if !schemas.is_empty() => {
                Some(self.parts(key, schemas))
            }
            ("items", Value::Array(schemas)) => self.tuple(schemas, map.get("additionalItems"), out),
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
            ) => Some(self.part(&[key], value)),
            ("$ref", Value::String(reference)) => {
                let local = self.reference(reference);
                if local.is_none() {
                    self.note(
                        key,
                        Part::Reference,
                        format!("the reference {reference:?} leads to no schema in this document"),
                    );
                }
                local.map(Value::String)
            }
            ("required", Value::Array(names)) if names.iter().all(Value::is_string) => {
                Some(Value::Array(unique(names)))
            }
            ("enum", Value::Array(_)) | ("const", _) => Some(value.clone()),
            ("multipleOf", Value::Number(n)) if n.as_f64().is_some_and(|n| n > 0.0) => Some(value.clone()),
            ("minimum" | "maximum", Value::Number(_)) => {
                // Draft 4: `exclusiveMinimum: true` beside `minimum`.
                let exclusive = if key == "minimum" { "exclusiveMinimum" } else { "exclusiveMaximum" };
                if map.get(exclusive) == Some(&Value::Bool(true)) {
                    out.insert(exclusive.to_owned(), value.clone());
                    return None;
                }
                Some(value.clone())
            }
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => Some(value.clone()),
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => None,
            (
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
                | "maxContains",
                Value::Number(n),
            ) if n.as_f64().is_some_and(|n| n >= 0.0 && n.fract() == 0.0) => Some(value.clone()),
            ("pattern", Value::String(_)) | ("uniqueItems", Value::Bool(_)) => Some(value.clone()),
            ("format" | "title" | "description" | "$comment", Value::String(_)) => Some(value.clone()),
            ("dependentRequired", Value::Object(map)) => Some(Value::Object(lists_of_names(map))),
            ("dependencies", Value::Object(map)) => {
                self.dependencies(map, out);
                None
            }
            ("nullable" | "additionalItems", _) => None,
            ("$dynamicRef" | "$recursiveRef", _) => {
                self.note(key, Part::Reference, "a reference that depends on where it is used");
                None
            }
            _ if holds_schemas(key) || KEYWORDS.contains(&key) => {
                self.note(key, Part::Meaningless, "a value that the keyword does not take");
                None
            }
            // Addresses and foreign words do not judge.
            _ => self.keep.then(|| value.clone()),
        }
    }

    fn type_(&mut self, value: &Value) -> Option<Value> {
        let clean = clean_type(value);
        match &clean {
            None => self.note("type", Part::Meaningless, "a type that JSON Schema does not know"),
            Some(clean) if clean != value => {
                self.note("type", Part::Respelt, "the type's name was read as JSON Schema's")
            }
            Some(_) => {}
        }
        clean
    }

    /// The list of `items` with which drafts up to 2019-09 spell tuples; `rest` is what may follow its places.
    fn tuple(&mut self, items: &[Value], rest: Option<&Value>, out: &mut Map<String, Value>) -> Option<Value> {
        if !items.is_empty() {
            let parts = self.parts("items", items);
            out.insert("prefixItems".to_owned(), parts);
        }
        rest.map(|rest| self.part(&["additionalItems"], rest))
    }

    /// `dependencies` up to draft 7, as the two keywords that it became.
    fn dependencies(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let schemas = map.iter().filter(|(_, v)| !v.is_array());
        let schemas = self.named_parts("dependencies", schemas);
        for (name, part) in [("dependentRequired", lists_of_names(map)), ("dependentSchemas", schemas)] {
            if !part.is_empty() {
                out.insert(name.to_owned(), Value::Object(part));
            }
        }
    }

    /// A reference inside the document that reaches a schema; any value is right where one does not.
    fn reference(&mut self, reference: &str) -> Option<String> {
        let local = match self.id {
            Some(id) if !reference.starts_with('#') => reference.strip_prefix(id).filter(|r| r.starts_with('#'))?,
            _ => reference,
        };
        let target = pointer::resolve(self.root, local)?;
        if self.loops.blocked(target).is_some() {
            return None;
        }
        let place = pointer::place(self.root, local)?;
        Some(self.definitions.reference(place, target))
    }
}

/// The keywords with a meaning here, beside those that hold schemas: one that comes with a value of the wrong kind goes.
const KEYWORDS: &[&str] = &[
    "$ref",
    "required",
    "enum",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
    "pattern",
    "uniqueItems",
    "format",
    "title",
    "description",
    "$comment",
    "dependentRequired",
    "dependencies",
];

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

/// Those of its members that are lists of names.
fn lists_of_names(map: &Map<String, Value>) -> Map<String, Value> {
    map.iter().filter(|(_, list)| is_names(list)).map(|(name, list)| (name.clone(), list.clone())).collect()
}

fn unique(names: &[Value]) -> Vec<Value> {
    let mut unique: Vec<Value> = Vec::with_capacity(names.len());
    for name in names {
        if !unique.contains(name) {
            unique.push(name.clone());
        }
    }
    unique
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}

/// OpenAPI's `nullable: true`.
fn allow_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(literals)) = schema.get_mut("enum")
        && !literals.contains(&Value::Null)
    {
        literals.push(Value::Null);
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
