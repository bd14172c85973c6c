//! The one walker that rewrites a schema by a [`Profile`], noting each loss with its place.
use super::keywords::{concerns, is_a, kind_of};
use super::loss::{Change, LossKind};
use super::merge::merge;
use super::profile::{Literals, Profile, Refs, Strict, Types};
use crate::schema::pointer;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// How often a schema is written out inside itself before the recursion is cut.
const LEVELS: usize = 2;
/// Schemas written for one tool; inlining can multiply them.
const MAX_SCHEMAS: usize = 10_000;
/// Nesting of the written schema.
const MAX_DEPTH: usize = 60;

/// One schema being rewritten.
pub(super) struct Walk<'s> {
    pub(super) profile: &'s Profile,
    /// The clean schema: what references point into.
    root: &'s Value,
    /// Move what the target cannot carry into descriptions.
    pub(super) describe: bool,
    /// The place in the tool's own schema, as a JSON pointer.
    pub(super) place: String,
    pub(super) changes: Vec<Change>,
    /// The same: each is said once.
    noted: HashSet<Change>,
    /// References being written out.
    open: Vec<String>,
    /// References kept, with the name of each in `$defs`.
    kept: Vec<(String, String)>,
    /// The places in `kept`, by the reference; and the names that are used.
    kept_at: HashMap<String, usize>,
    used: HashSet<String>,
    inline: bool,
    schemas: usize,
    pub(super) depth: usize,
    /// Why the schema cannot be said strictly.
    pub(super) not_strict: Option<String>,
}

impl<'s> Walk<'s> {
    pub(super) fn new(profile: &'s Profile, root: &'s Value, describe: bool) -> Self {
        Self {
            profile,
            root,
            describe,
            place: String::new(),
            changes: Vec::new(),
            noted: HashSet::new(),
            open: Vec::new(),
            kept: Vec::new(),
            kept_at: HashMap::new(),
            used: HashSet::new(),
            inline: profile.refs == Refs::Inline || (!profile.recursion && is_recursive(root)),
            schemas: 0,
            depth: 0,
            not_strict: None,
        }
    }

    /// The whole schema: a root object, then the definitions that it still refers to.
    pub(super) fn document(&mut self, root: Map<String, Value>) -> Value {
        let mut out = self.object(root);
        let mut definitions = Map::new();
        let mut done = 0;
        while let Some((reference, name)) = self.kept.get(done).cloned() {
            done += 1;
            if let Some(target) = pointer::resolve(self.root, &reference) {
                let place = std::mem::replace(&mut self.place, reference.trim_start_matches('#').to_owned());
                definitions.insert(name, self.schema(target));
                self.place = place;
            }
        }
        if let (Value::Object(out), false) = (&mut out, definitions.is_empty()) {
            out.insert("$defs".to_owned(), Value::Object(definitions));
        }
        out
    }

    pub(super) fn lose(&mut self, keyword: &str, kind: LossKind, message: impl Into<String>) {
        let mut pointer = self.place.clone();
        if !keyword.is_empty() {
            pointer::push(&mut pointer, keyword);
        }
        let change = Change { pointer, kind, message: message.into() };
        if self.noted.insert(change.clone()) {
            self.changes.push(change);
        }
    }

    /// `schema` inside the current one, under `keys`.
    pub(super) fn part(&mut self, keys: &[&str], schema: &Value) -> Value {
        let length = self.place.len();
        for key in keys {
            pointer::push(&mut self.place, key);
        }
        self.depth += 1;
        let out = self.schema(schema);
        self.depth -= 1;
        self.place.truncate(length);
        out
    }

    fn schema(&mut self, schema: &Value) -> Value {
        match schema {
            Value::Object(map) => self.object(map.clone()),
            Value::Bool(false) => {
                self.lose("", LossKind::Rewritten, "`false`, which refuses every value, became anything");
                self.anything(Map::new())
            }
            _ => self.anything(Map::new()),
        }
    }

    fn object(&mut self, map: Map<String, Value>) -> Value {
        self.schemas += 1;
        if self.schemas > MAX_SCHEMAS || self.depth > MAX_DEPTH {
            self.lose("", LossKind::Rewritten, "the schema is too large or too deep to be written out further");
            return self.cut(&map);
        }
        let map = match self.united(map) {
            Ok(map) => map,
            Err(done) => return done,
        };
        let mut map = self.unions(map);
        self.type_literals(&mut map);
        if let Some(split) = self.split_types(&map).or_else(|| self.split_literals(&map)) {
            return self.object(split);
        }
        self.keywords(map)
    }

    /// What stands for a schema that cannot be written out further.
    fn cut(&mut self, map: &Map<String, Value>) -> Value {
        if self.profile.strict != Strict::No {
            self.not_strict.get_or_insert_with(|| "the schema contains itself or is too deep".to_owned());
        }
        let mut out = Map::new();
        out.insert("type".to_owned(), self.type_value("object"));
        if let Some(description) = map.get("description") {
            out.insert("description".to_owned(), description.clone());
        }
        Value::Object(out)
    }

    /// The schema with its reference followed and its `allOf` in one, where the target wants that. `Err`: it is written
    /// already.
    fn united(&mut self, mut map: Map<String, Value>) -> Result<Map<String, Value>, Value> {
        for _ in 0..100 {
            let reference = map.get("$ref").and_then(Value::as_str).map(str::to_owned);
            if let Some(reference) = reference {
                let alone = map.keys().all(|key| matches!(key.as_str(), "$ref" | "$defs" | "definitions"));
                let cyclic = self.open.contains(&reference);
                if !self.inline && (alone || self.profile.ref_siblings || cyclic) {
                    return Err(self.kept_reference(&reference, map));
                }
                let Some(Value::Object(target)) = pointer::resolve(self.root, &reference).cloned() else {
                    map.shift_remove("$ref");
                    continue;
                };
                map.shift_remove("$ref");
                if self.open.iter().filter(|open| **open == reference).count() >= LEVELS {
                    self.lose("$ref", LossKind::Rewritten, format!("{reference} contains itself; cut here"));
                    return Err(self.cut(&merge(map, target, &mut Vec::new())));
                }
                let map = self.merged("$ref", map, target);
                self.open.push(reference);
                let out = self.object(map);
                self.open.pop();
                return Err(out);
            }
            let Some(Value::Array(parts)) = map.get("allOf") else { return Ok(map) };
            if self.profile.all_of && parts.len() > 1 {
                return Ok(map);
            }
            let parts = parts.clone();
            map.shift_remove("allOf");
            if parts.len() > 1 {
                self.lose("allOf", LossKind::Rewritten, "the parts were made into one schema");
            }
            for part in parts {
                let Value::Object(part) = part else { continue };
                // A reference beside others is followed by what is merged around it.
                let part = if map.contains_key("$ref") || (part.contains_key("$ref") && !map.is_empty()) {
                    self.followed(part)
                } else {
                    part
                };
                map = self.merged("allOf", map, part);
            }
        }
        Ok(map)
    }

    /// A schema with its own chain of references replaced by what they lead to.
    pub(super) fn followed(&mut self, mut map: Map<String, Value>) -> Map<String, Value> {
        for _ in 0..100 {
            let Some(reference) = map.get("$ref").and_then(Value::as_str).map(str::to_owned) else { break };
            map.shift_remove("$ref");
            match pointer::resolve(self.root, &reference) {
                Some(Value::Object(target)) if self.open.iter().filter(|o| **o == reference).count() < LEVELS => {
                    map = self.merged("$ref", map, target.clone());
                }
                _ => break,
            }
        }
        map
    }

    pub(super) fn merged(&mut self, keyword: &str, a: Map<String, Value>, b: Map<String, Value>) -> Map<String, Value> {
        let mut lost = Vec::new();
        let out = merge(a, b, &mut lost);
        for key in lost {
            self.lose(keyword, LossKind::Rewritten, format!("`{key}` is said twice in ways that do not go together"));
        }
        out
    }

    /// A reference that stays one.
    fn kept_reference(&mut self, reference: &str, mut map: Map<String, Value>) -> Value {
        let target = if reference == "#" {
            "#".to_owned()
        } else {
            let known = self.kept_at.get(reference).and_then(|at| self.kept.get(*at));
            let name = match known {
                Some((_, name)) => name.clone(),
                None => {
                    let last = reference.rsplit('/').next().unwrap_or_default();
                    let last: String =
                        last.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
                    let mut name = if last.is_empty() { "def".to_owned() } else { last };
                    while !self.used.insert(name.clone()) {
                        name.push('_');
                    }
                    self.kept_at.insert(reference.to_owned(), self.kept.len());
                    self.kept.push((reference.to_owned(), name.clone()));
                    name
                }
            };
            format!("#/$defs/{name}")
        };
        map.shift_remove("$defs");
        map.shift_remove("definitions");
        map.shift_remove("$ref");
        let mut out = Map::new();
        out.insert("$ref".to_owned(), Value::String(target));
        if self.profile.ref_siblings {
            if let Value::Object(rest) = self.keywords_beside(map) {
                out.extend(rest);
            }
        } else {
            for key in map.keys() {
                self.lose(key, LossKind::Dropped, "nothing may stand beside `$ref`");
            }
        }
        Value::Object(out)
    }

    /// `oneOf` as `anyOf`, and what stands beside a union inside its branches, where the target wants that.
    fn unions(&mut self, mut map: Map<String, Value>) -> Map<String, Value> {
        if !self.profile.one_of
            && let Some(branches) = map.shift_remove("oneOf")
        {
            self.lose("oneOf", LossKind::Rewritten, "became `anyOf`, which takes values of several branches too");
            map = self.merged("oneOf", map, Map::from_iter([("anyOf".to_owned(), branches)]));
        }
        if self.profile.beside_any_of || self.depth == 0 {
            return map;
        }
        let Some(Value::Array(branches)) = map.get("anyOf").cloned() else { return map };
        // Words alone stay beside a union, unless the target refuses even a description.
        let words = |key: &String| match key.as_str() {
            "anyOf" | "$defs" | "definitions" | "default" | "examples" | "example" | "discriminator" => true,
            "deprecated" | "readOnly" | "writeOnly" | "$comment" => true,
            "description" | "title" => self.profile.types != Types::Nullable,
            key => key.starts_with("x-"),
        };
        if map.keys().all(words) {
            return map;
        }
        for key in ["default", "examples", "example", "discriminator"] {
            if map.shift_remove(key).is_some() && !self.profile.takes(key) {
                self.lose(key, LossKind::Dropped, "the target does not take this keyword");
            }
        }
        map.shift_remove("anyOf");
        let description = map.get("description").cloned();
        let branches = branches.into_iter().map(|branch| match branch {
            Value::Object(branch) => {
                let branch = self.followed(branch);
                let mut own = branch.get("description").cloned();
                let mut both = self.merged("anyOf", branch, map.clone());
                if let Some(words) = own.take().or_else(|| description.clone()) {
                    both.insert("description".to_owned(), words);
                }
                Value::Object(both)
            }
            _ => Value::Object(map.clone()),
        });
        let branches: Vec<Value> = branches.collect();
        Map::from_iter([("anyOf".to_owned(), Value::Array(branches))])
    }

    /// A schema of several types as a union of schemas of one type each.
    fn split_types(&mut self, map: &Map<String, Value>) -> Option<Map<String, Value>> {
        if self.profile.types == Types::Lists {
            return None;
        }
        let Some(Value::Array(names)) = map.get("type") else { return None };
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        let named: Vec<&str> = names.iter().copied().filter(|name| *name != "null").collect();
        let null = named.len() < names.len();
        let nullable = self.profile.types == Types::Nullable;
        if nullable && named.len() <= 1 {
            // `null` is said by `nullable` when the keywords are written.
            return None;
        }
        if let (false, [one], false) = (nullable, named.as_slice(), null) {
            let mut map = map.clone();
            map.insert("type".to_owned(), json!(one));
            return Some(map);
        }
        let mut out = Map::new();
        let mut branches = Vec::new();
        for name in if nullable { named.clone() } else { names.clone() } {
            let mut branch: Map<String, Value> = (map.iter())
                .filter(|(key, _)| concerns(key, name) && !matches!(key.as_str(), "description" | "title"))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            branch.insert("type".to_owned(), json!(name));
            if let Some(Value::Array(literals)) = branch.get("enum") {
                let own: Vec<Value> = literals.iter().filter(|v| is_a(v, name)).cloned().collect();
                if own.is_empty() {
                    continue;
                }
                branch.insert("enum".to_owned(), Value::Array(own));
            }
            branches.push(Value::Object(branch));
        }
        if nullable && null {
            branches.push(json!({"type": "null"}));
        }
        for key in ["title", "description"] {
            if let Some(words) = map.get(key) {
                out.insert(key.to_owned(), words.clone());
            }
        }
        out.insert("anyOf".to_owned(), Value::Array(branches));
        Some(out)
    }

    /// Gives literals of several types the list of those, where a schema without a type says nothing.
    fn type_literals(&self, map: &mut Map<String, Value>) {
        let said = ["type", "anyOf", "properties", "additionalProperties", "items", "prefixItems"];
        if self.profile.anything || said.iter().any(|key| map.contains_key(*key)) {
            return;
        }
        let Some(Value::Array(literals)) = map.get("enum") else { return };
        let mut kinds: Vec<&str> = Vec::new();
        for kind in literals.iter().map(kind_of) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        match kinds.as_slice() {
            [] => return,
            [one] => map.insert("type".to_owned(), json!(one)),
            _ => map.insert("type".to_owned(), json!(kinds)),
        };
    }

    /// Literals of several types as a union, where the target wants one type in a list.
    fn split_literals(&mut self, map: &Map<String, Value>) -> Option<Map<String, Value>> {
        if self.profile.literals == Literals::Any || map.contains_key("anyOf") {
            return None;
        }
        let Some(Value::Array(literals)) = map.get("enum") else { return None };
        let literals: Vec<&Value> = match map.get("type") {
            None => literals.iter().collect(),
            // What is of none of the types could never be given.
            Some(Value::Array(types)) if self.profile.types == Types::Lists => {
                let possible = |v: &&Value| types.iter().filter_map(Value::as_str).any(|kind| is_a(v, kind));
                literals.iter().filter(possible).collect()
            }
            Some(_) => return None,
        };
        let mut kinds: Vec<&str> = Vec::new();
        for literal in &literals {
            let kind = kind_of(literal);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds.is_empty() {
            return None;
        }
        let mut out = map.clone();
        out.insert("enum".to_owned(), json!(literals));
        out.insert("type".to_owned(), if let [one] = kinds.as_slice() { json!(one) } else { json!(kinds) });
        if kinds.len() < 2 || self.profile.types != Types::Lists {
            return Some(out);
        }
        // Lists of types are taken, but not mixed literals.
        out.shift_remove("enum");
        out.shift_remove("type");
        let branches: Vec<Value> = (kinds.iter())
            .map(|kind| match *kind {
                "null" => json!({"type": "null"}),
                kind => {
                    let own: Vec<&Value> = literals.iter().copied().filter(|v| kind_of(v) == kind).collect();
                    json!({"type": kind, "enum": own})
                }
            })
            .collect();
        out.insert("anyOf".to_owned(), Value::Array(branches));
        Some(out)
    }

    /// Keywords beside a reference that stays.
    fn keywords_beside(&mut self, map: Map<String, Value>) -> Value {
        let mut out = Map::new();
        for (key, value) in map {
            if self.profile.takes(&key) {
                out.insert(key, value);
            }
        }
        Value::Object(out)
    }

    /// Any value at all.
    pub(super) fn anything(&mut self, mut out: Map<String, Value>) -> Value {
        if self.profile.anything {
            return Value::Object(out);
        }
        self.lose("", LossKind::Rewritten, "a schema of any value became one of text, numbers and booleans");
        let mut kinds = vec!["string", "number", "boolean"];
        if self.profile.types != Types::Nullable {
            kinds.push("null");
        }
        let branches: Vec<Value> = kinds.into_iter().map(|kind| json!({"type": self.type_value(kind)})).collect();
        out.insert("anyOf".to_owned(), Value::Array(branches));
        Value::Object(out)
    }

    pub(super) fn type_value(&self, name: &str) -> Value {
        Value::String(if self.profile.capitals { name.to_ascii_uppercase() } else { name.to_owned() })
    }
}

/// Whether any reference leads into a schema that it stands in.
fn is_recursive(root: &Value) -> bool {
    let mut references = Vec::new();
    collect(root, &mut references);
    references.sort_unstable();
    references.dedup();
    references.iter().any(|start| {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut queue = vec![*start];
        while let Some(reference) = queue.pop() {
            let Some(target) = pointer::resolve(root, reference) else { continue };
            let mut inner = Vec::new();
            collect(target, &mut inner);
            for next in inner {
                if next == *start || next == "#" {
                    return true;
                }
                if seen.insert(next) {
                    queue.push(next);
                }
            }
        }
        *start == "#"
    })
}

fn collect<'v>(value: &'v Value, references: &mut Vec<&'v str>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                references.push(reference);
            }
            map.values().for_each(|value| collect(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}
