//! Writing the keywords of one schema by a [`super::profile::Profile`].
use super::loss::LossKind;
use super::profile::{Literals, Strict, Types};
use super::walk::Walk;
use crate::schema::pointer;
use serde_json::{Map, Number, Value, json};
use std::collections::{HashMap, HashSet};

impl Walk<'_> {
    /// Writes the keywords of a schema that stands by itself.
    pub(super) fn keywords(&mut self, mut map: Map<String, Value>) -> Value {
        self.infer_type(&mut map);
        let mut notes: Vec<String> = Vec::new();
        let mut out = Map::new();
        let nullable = self.profile.types == Types::Nullable && takes_null(&map);
        let kind = single_type(&map).map(str::to_owned);
        for (key, value) in &map {
            let written = self.keyword(key, value, &map, kind.as_deref(), &mut out, &mut notes);
            if let Some(value) = written {
                out.insert(key.clone(), value);
            }
        }
        if nullable && !out.contains_key("nullable") && kind.as_deref() != Some("null") {
            out.insert("nullable".to_owned(), Value::Bool(true));
        }
        let says_nothing = !out.keys().any(|key| {
            matches!(
                key.as_str(),
                "type" | "enum" | "const" | "anyOf" | "oneOf" | "allOf" | "$ref" | "properties" | "not"
            )
        });
        if says_nothing
            && !self.profile.anything
            && let Value::Object(mut any) = self.anything(Map::new())
        {
            // Where nothing may stand beside `anyOf`, the words go into its branches.
            if self.profile.types == Types::Nullable {
                if let Some(Value::Array(branches)) = any.get_mut("anyOf") {
                    for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
                        branch.extend(out.clone());
                    }
                }
                out.clear();
            }
            out.extend(any);
        }
        self.complete_array(&map, &mut out);
        self.complete_object(&map, &mut out);
        if !notes.is_empty() {
            let words = out.get("description").and_then(Value::as_str).unwrap_or_default();
            let joined = if words.is_empty() { notes.join("; ") } else { format!("{words} ({})", notes.join("; ")) };
            out.insert("description".to_owned(), Value::String(joined));
        }
        Value::Object(out)
    }

    /// Gives a schema without a type the one that its other keywords are about, where the target wants one.
    fn infer_type(&self, map: &mut Map<String, Value>) {
        if map.contains_key("type") || map.contains_key("anyOf") || (self.profile.anything && self.depth > 0) {
            return;
        }
        let kind = match () {
            () if map.contains_key("properties") || map.contains_key("additionalProperties") => "object",
            () if map.contains_key("items") || map.contains_key("prefixItems") => "array",
            () => match map.get("const") {
                Some(literal) => kind_of(literal),
                None => match map.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
                    Some([first, rest @ ..]) if rest.iter().all(|v| kind_of(v) == kind_of(first)) => kind_of(first),
                    _ => return,
                },
            },
        };
        map.insert("type".to_owned(), json!(kind));
    }

    fn keyword(
        &mut self,
        key: &str,
        value: &Value,
        map: &Map<String, Value>,
        kind: Option<&str>,
        out: &mut Map<String, Value>,
        notes: &mut Vec<String>,
    ) -> Option<Value> {
        let profile = self.profile;
        match (key, value) {
            ("$defs" | "definitions", _) => None,
            ("type", Value::String(name)) => Some(self.type_value(name)),
            ("type", Value::Array(names)) if profile.types == Types::Nullable => {
                let named = names.iter().filter_map(Value::as_str).find(|name| *name != "null");
                Some(self.type_value(named.unwrap_or("null")))
            }
            ("properties", Value::Object(properties)) => Some(Value::Object(self.properties(properties))),
            ("required", Value::Array(names)) => self.required(names, map),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(branches)) if profile.takes(key) => {
                self.branches(key, branches, out)
            }
            ("prefixItems", Value::Array(branches)) => self.places(branches, map, out),
            ("items", Value::Bool(false)) if map.contains_key("prefixItems") && profile.keywords.is_none() => {
                Some(value.clone())
            }
            ("items", Value::Bool(false)) => {
                self.lose(key, LossKind::Dropped, "a list of fixed length cannot be said");
                None
            }
            ("items", _) if map.contains_key("prefixItems") && !profile.takes("prefixItems") => None,
            ("items", schema) => Some(self.part(&[key], schema)),
            ("additionalProperties", schema) => self.additional(schema, map),
            ("enum", Value::Array(literals)) => self.literals(key, literals, kind, map),
            ("const", literal) if !profile.constants => {
                self.literals(key, std::slice::from_ref(literal), kind, map).and_then(|v| {
                    out.insert("enum".to_owned(), v);
                    None
                })
            }
            ("format", Value::String(format)) if !profile.takes_format(format) => self.drop(key, value, notes),
            ("minItems", n) if profile.takes(key) => Some(self.fewest(n, notes)),
            ("pattern", Value::String(pattern)) if !profile.look_around && looks_around(pattern) => {
                self.drop(key, value, notes)
            }
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Number(bound)) if !profile.takes(key) => {
                let (inclusive, step) = if key == "exclusiveMinimum" { ("minimum", 1) } else { ("maximum", -1) };
                if !profile.takes(inclusive) || map.contains_key(inclusive) {
                    return self.drop(key, value, notes);
                }
                let bound = self.inclusive(key, bound, step, kind);
                out.insert(inclusive.to_owned(), bound);
                None
            }
            (
                "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                schema,
            ) if profile.takes(key) => Some(match schema {
                Value::Bool(flag) => Value::Bool(*flag),
                schema => self.part(&[key], schema),
            }),
            ("patternProperties" | "dependentSchemas", Value::Object(schemas)) if profile.takes(key) => {
                Some(Value::Object(schemas.iter().map(|(k, v)| (k.clone(), self.part(&[key, k], v))).collect()))
            }
            ("patternProperties", _) if profile.strict != Strict::No && !map.contains_key("properties") => {
                self.not_strict.get_or_insert_with(|| format!("{}: an object with free keys", self.place));
                self.drop(key, value, notes)
            }
            _ if profile.takes(key) => Some(value.clone()),
            _ => self.drop(key, value, notes),
        }
    }

    /// The bound that is taken, for the exclusive one under `key`: the next integer is `step` from it, a number has none.
    fn inclusive(&mut self, key: &str, bound: &Number, step: i64, kind: Option<&str>) -> Value {
        let next = bound.as_i64().and_then(|n| n.checked_add(step)).filter(|_| kind == Some("integer"));
        if next.is_none() {
            self.lose(key, LossKind::Rewritten, "the bound itself is taken too");
        }
        next.map_or_else(|| Value::Number(bound.clone()), |next| json!(next))
    }

    /// A schema for each place of a list, where the target takes one for all of them.
    fn places(&mut self, branches: &[Value], map: &Map<String, Value>, out: &mut Map<String, Value>) -> Option<Value> {
        let key = "prefixItems";
        self.lose(key, LossKind::Rewritten, "a list with a schema for each place became one of any of these");
        if !out.contains_key("items") {
            let mut schemas: Vec<Value> = Vec::new();
            for (i, branch) in branches.iter().enumerate() {
                let schema = self.part(&[key, &i.to_string()], branch);
                if !schemas.contains(&schema) {
                    schemas.push(schema);
                }
            }
            let items = if schemas.len() == 1 { schemas.swap_remove(0) } else { json!({"anyOf": schemas}) };
            out.insert("items".to_owned(), items);
        }
        let fixed = map.get("items") == Some(&Value::Bool(false));
        if fixed && self.profile.takes("maxItems") && !map.contains_key("maxItems") {
            out.insert("maxItems".to_owned(), json!(branches.len()));
        }
        None
    }

    /// How many items a list has at least, as far as the target lets one demand.
    fn fewest(&mut self, n: &Value, notes: &mut Vec<String>) -> Value {
        let Some(most) = self.profile.min_items.filter(|most| n.as_u64().is_some_and(|n| n > *most)) else {
            return n.clone();
        };
        self.lose("minItems", LossKind::Rewritten, format!("at most {most} can be demanded"));
        if self.describe {
            notes.push(format!("minItems: {n}"));
        }
        json!(most)
    }

    /// Leaves a keyword out.
    fn drop(&mut self, key: &str, value: &Value, notes: &mut Vec<String>) -> Option<Value> {
        let for_people =
            matches!(key, "title" | "$schema" | "$id" | "$comment" | "deprecated" | "readOnly" | "writeOnly")
                || key.starts_with("x-");
        if self.describe && !for_people {
            let text = value.to_string();
            let short: String = text.chars().take(200).collect();
            notes.push(format!("{key}: {short}"));
            self.lose(
                key,
                LossKind::Described,
                "the target does not take this keyword; it was moved into the description",
            );
        } else {
            self.lose(key, LossKind::Dropped, "the target does not take this keyword");
        }
        None
    }

    fn properties(&mut self, properties: &Map<String, Value>) -> Map<String, Value> {
        let spelt = self.profile.properties.spelt(properties);
        let mut out = Map::new();
        for ((name, schema), spelt) in properties.iter().zip(spelt) {
            if *schema == Value::Bool(false) && (self.profile.keywords.is_some() || !self.profile.anything) {
                let length = self.place.len();
                pointer::push(&mut self.place, "properties");
                self.lose(name, LossKind::Dropped, "no value is allowed here, so the property was left out");
                self.place.truncate(length);
                continue;
            }
            if spelt != *name {
                let length = self.place.len();
                pointer::push(&mut self.place, "properties");
                self.lose(name, LossKind::Renamed, format!("the target refuses this name; it is told {spelt:?}"));
                self.place.truncate(length);
            }
            let written = match schema {
                // Not every target reads a schema that is a plain `true` or `false`.
                Value::Bool(allowed) if self.profile.keywords.is_none() && self.profile.anything => {
                    if *allowed {
                        json!({})
                    } else {
                        json!({"not": {}})
                    }
                }
                schema => self.part(&["properties", name], schema),
            };
            out.insert(spelt, written);
        }
        out
    }

    fn required(&mut self, names: &[Value], map: &Map<String, Value>) -> Option<Value> {
        if !self.profile.takes("required") {
            return None;
        }
        let Some(Value::Object(properties)) = map.get("properties") else {
            return if self.profile.keywords.is_none() && self.profile.undescribed {
                Some(Value::Array(names.to_vec()))
            } else {
                None
            };
        };
        let spelt = self.profile.properties.spelt(properties);
        let spelt: HashMap<&str, &str> =
            properties.keys().map(String::as_str).zip(spelt.iter().map(String::as_str)).collect();
        let mut known = Vec::new();
        for name in names.iter().filter_map(Value::as_str) {
            match spelt.get(name) {
                Some(spelt) => {
                    if properties.get(name) != Some(&Value::Bool(false)) {
                        known.push(json!(spelt));
                    }
                }
                None if self.profile.keywords.is_none() && self.profile.undescribed => known.push(json!(name)),
                None => self.lose("required", LossKind::Dropped, format!("{name:?} is required but not described")),
            }
        }
        if known.is_empty() && self.profile.strict == Strict::No && !names.is_empty() {
            return None;
        }
        Some(Value::Array(known))
    }

    fn branches(&mut self, key: &str, branches: &[Value], out: &mut Map<String, Value>) -> Option<Value> {
        let nullable = self.profile.types == Types::Nullable && key == "anyOf";
        let mut written = Vec::new();
        for (i, branch) in branches.iter().enumerate() {
            if nullable && branch.get("type").and_then(Value::as_str) == Some("null") {
                out.insert("nullable".to_owned(), Value::Bool(true));
                continue;
            }
            if *branch == Value::Bool(false) && key == "anyOf" {
                continue;
            }
            written.push(self.part(&[key, &i.to_string()], branch));
        }
        // One branch and null: the branch itself, nullable.
        if let (true, [Value::Object(one)]) = (nullable, written.as_slice()) {
            for (name, value) in one {
                out.entry(name.clone()).or_insert_with(|| value.clone());
            }
            return out.shift_remove("anyOf");
        }
        // Nothing may stand beside `anyOf` there, so the first branch is the one that takes null.
        if nullable
            && out.contains_key("nullable")
            && let Some(Value::Object(first)) = written.first_mut()
        {
            out.shift_remove("nullable");
            first.insert("nullable".to_owned(), Value::Bool(true));
        }
        (!written.is_empty()).then_some(Value::Array(written))
    }

    fn additional(&mut self, schema: &Value, map: &Map<String, Value>) -> Option<Value> {
        let free = map.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
        match (self.profile.strict, schema) {
            (Strict::No, Value::Bool(_)) if self.profile.takes("additionalProperties") => Some(schema.clone()),
            (Strict::No, schema) if self.profile.takes("additionalProperties") => {
                Some(self.part(&["additionalProperties"], schema))
            }
            (Strict::No, Value::Bool(true)) => None,
            (Strict::No, _) => {
                self.lose("additionalProperties", LossKind::Dropped, "the target does not take this keyword");
                None
            }
            (_, Value::Bool(false)) => None,
            _ => {
                if free {
                    self.not_strict.get_or_insert_with(|| format!("{}: an object with free keys", self.place));
                }
                self.lose("additionalProperties", LossKind::Rewritten, "strict mode closes every object");
                None
            }
        }
    }

    /// The list of allowed literals, spelt as the target takes them.
    fn literals(
        &mut self,
        key: &str,
        literals: &[Value],
        kind: Option<&str>,
        map: &Map<String, Value>,
    ) -> Option<Value> {
        match self.profile.literals {
            Literals::Any => Some(Value::Array(literals.to_vec())),
            Literals::OneType => {
                // What is not of the schema's type could never be given.
                let possible = |v: &Value| match kind {
                    Some("integer" | "number") => v.is_number(),
                    Some(kind) => is_a(v, kind),
                    None => true,
                };
                let wanted = |v: &Value| if v.is_null() { takes_null(map) } else { possible(v) };
                let own: Vec<Value> = literals.iter().filter(|v| wanted(v)).cloned().collect();
                if own.is_empty() {
                    self.lose(key, LossKind::Dropped, "what is listed here cannot be listed for the target");
                    return None;
                }
                Some(Value::Array(own))
            }
            Literals::Strings => match kind {
                Some("boolean" | "null") => {
                    if literals.len() < 2 && kind == Some("boolean") {
                        self.lose(key, LossKind::Dropped, "only strings can be listed");
                    }
                    None
                }
                Some("object" | "array") => {
                    self.lose(key, LossKind::Dropped, "only strings can be listed");
                    None
                }
                _ => {
                    let mut words = Vec::new();
                    for literal in literals {
                        match literal {
                            Value::String(word) if word.is_empty() => {
                                self.lose(key, LossKind::Dropped, "the empty string cannot be listed");
                            }
                            Value::String(word) => words.push(json!(word)),
                            Value::Null => {}
                            other => {
                                self.lose(
                                    key,
                                    LossKind::Rewritten,
                                    "only strings can be listed; numbers are turned back",
                                );
                                words.push(json!(other.to_string()));
                            }
                        }
                    }
                    (!words.is_empty()).then_some(Value::Array(words))
                }
            },
        }
    }

    /// Arrays say what their items are, where the target wants that; number literals spelt as strings are strings.
    fn complete_array(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        if self.profile.literals == Literals::Strings && out.contains_key("enum") {
            out.insert("type".to_owned(), self.type_value("string"));
            if self.profile.formats.is_some_and(|known| known.contains(&"enum")) {
                out.insert("format".to_owned(), json!("enum"));
            }
        }
        let silent = !out.contains_key("items") && !out.contains_key("prefixItems");
        if silent && self.profile.items && names_type(map, "array") {
            let length = self.place.len();
            pointer::push(&mut self.place, "items");
            let items = self.anything(Map::new());
            self.place.truncate(length);
            out.insert("items".to_owned(), items);
        }
    }

    /// Objects are closed and say which properties they demand, where the target wants that.
    fn complete_object(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        if !names_type(map, "object") {
            return;
        }
        let described = matches!(out.get("properties"), Some(Value::Object(p)) if !p.is_empty());
        if self.profile.strict != Strict::No {
            // An object that may hold anything cannot be closed without losing all of it.
            if !described && self.depth > 0 && map.get("additionalProperties") != Some(&Value::Bool(false)) {
                self.not_strict.get_or_insert_with(|| format!("{}: an object with free keys", self.place));
            }
            out.entry("properties").or_insert_with(|| Value::Object(Map::new()));
            out.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        if self.profile.strict == Strict::AllRequired {
            self.require_all(out);
        }
        if self.profile.types == Types::Nullable && !described {
            out.shift_remove("properties");
            out.shift_remove("required");
        }
        if self.profile.ordering
            && let Some(Value::Object(properties)) = out.get("properties")
            && properties.len() > 1
        {
            let order: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
            out.insert("propertyOrdering".to_owned(), Value::Array(order));
        }
    }

    fn require_all(&mut self, out: &mut Map<String, Value>) {
        let required: Vec<Value> = match out.get("required") {
            Some(Value::Array(names)) => names.clone(),
            _ => Vec::new(),
        };
        let required: HashSet<&str> = required.iter().filter_map(Value::as_str).collect();
        let Some(Value::Object(properties)) = out.get_mut("properties") else { return };
        let mut optional = Vec::new();
        for (name, schema) in properties.iter_mut() {
            if !required.contains(name.as_str()) {
                make_nullable(schema);
                optional.push(name.clone());
            }
        }
        let all: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
        out.insert("required".to_owned(), Value::Array(all));
        for name in optional {
            let length = self.place.len();
            pointer::push(&mut self.place, "properties");
            let message =
                "strict mode demands every property: leaving it out is said with null, which is dropped again";
            self.lose(&name, LossKind::Rewritten, message);
            self.place.truncate(length);
        }
    }
}

/// A schema that takes null as well.
fn make_nullable(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::Array(literals)) = map.get_mut("enum")
        && !literals.contains(&Value::Null)
    {
        literals.push(Value::Null);
    }
    if let Some(literal) = map.get("const").cloned() {
        map.shift_remove("const");
        let literals = if literal.is_null() { json!([null]) } else { json!([literal, null]) };
        map.insert("enum".to_owned(), literals);
    }
    match map.get_mut("type") {
        Some(Value::String(name)) if name == "null" => {}
        Some(Value::String(name)) => {
            let both = json!([name.clone(), "null"]);
            map.insert("type".to_owned(), both);
        }
        Some(Value::Array(names)) => {
            if !names.iter().any(|name| name == "null") {
                names.push(json!("null"));
            }
        }
        _ => {
            if let Some(Value::Array(branches)) = map.get_mut("anyOf") {
                if !branches.iter().any(|branch| branch.get("type").is_some_and(|t| t == "null")) {
                    branches.push(json!({"type": "null"}));
                }
            } else if let Some(reference) = map.shift_remove("$ref") {
                map.insert("anyOf".to_owned(), json!([{"$ref": reference}, {"type": "null"}]));
            }
        }
    }
}

/// The type of a schema that has one type beside null.
fn single_type(map: &Map<String, Value>) -> Option<&str> {
    match map.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => {
            let mut named = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            let first = named.next().unwrap_or("null");
            named.next().is_none().then_some(first)
        }
        _ => None,
    }
}

/// Whether a value may be of the type `kind` by the word of `type`, alone or among others.
fn names_type(map: &Map<String, Value>, kind: &str) -> bool {
    match map.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        Some(name) => name == kind,
        None => false,
    }
}

fn takes_null(map: &Map<String, Value>) -> bool {
    match map.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        Some(Value::String(name)) => name == "null",
        _ => map.get("enum").and_then(Value::as_array).is_some_and(|literals| literals.contains(&Value::Null)),
    }
}

pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_i64() || n.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

pub(super) fn is_a(value: &Value, kind: &str) -> bool {
    kind_of(value) == kind || (kind == "number" && value.is_number())
}

/// Whether a keyword says something about values of the type `kind`.
pub(super) fn concerns(key: &str, kind: &str) -> bool {
    match key {
        "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding" | "contentMediaType" => kind == "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            matches!(kind, "integer" | "number")
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" | "minContains"
        | "maxContains" | "unevaluatedItems" => kind == "array",
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => kind == "object",
        _ => true,
    }
}

/// Look-around, or a reference back to a group.
fn looks_around(pattern: &str) -> bool {
    let group = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|mark| pattern.contains(mark));
    let back = pattern.as_bytes().windows(2).any(|pair| matches!(pair, [b'\\', b'1'..=b'9' | b'k']));
    group || back
}
