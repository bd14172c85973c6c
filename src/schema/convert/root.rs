//! Making the root of a schema what every provider wants: one object with properties.
use super::loss::LossKind;
use super::walk::Walk;
use serde_json::{Map, Value, json};

impl Walk<'_> {
    /// The root as an object schema without references and, unless the target takes them, without unions.
    pub(super) fn root_object(&mut self, clean: &Value) -> Map<String, Value> {
        let mut map = match clean {
            Value::Object(map) => map.clone(),
            _ => Map::new(),
        };
        for _ in 0..16 {
            if map.contains_key("$ref") {
                map = self.followed(map);
                continue;
            }
            match map.get("allOf").cloned() {
                Some(Value::Array(parts)) if !self.profile.root_unions => {
                    map.shift_remove("allOf");
                    self.lose("allOf", LossKind::Rewritten, "the parts were made into one schema");
                    for part in parts {
                        if let Value::Object(part) = part {
                            let part = self.followed(part);
                            map = self.merged("allOf", map, part);
                        }
                    }
                }
                _ => break,
            }
        }
        if !self.profile.root_unions {
            for key in ["anyOf", "oneOf"] {
                if let Some(Value::Array(branches)) = map.shift_remove(key) {
                    self.lose(
                        key,
                        LossKind::Rewritten,
                        "a union is not taken at the root; its branches became one object",
                    );
                    map = self.one_object(key, map, branches);
                }
            }
            for key in ["not", "enum", "const"] {
                if map.shift_remove(key).is_some() {
                    self.lose(key, LossKind::Dropped, "not taken at the root");
                }
            }
        }
        match map.get("type") {
            Some(Value::String(name)) if name == "object" => {}
            None => drop(map.insert("type".to_owned(), json!("object"))),
            Some(Value::Array(names)) if names.iter().any(|name| name == "object") => {
                map.insert("type".to_owned(), json!("object"));
            }
            Some(_) => {
                self.lose("type", LossKind::Rewritten, "arguments are an object everywhere");
                map.insert("type".to_owned(), json!("object"));
            }
        }
        if !map.contains_key("properties") {
            map.insert("properties".to_owned(), Value::Object(Map::new()));
        }
        // `type` leads, as everybody writes it.
        let mut ordered = Map::with_capacity(map.len());
        if let Some(kind) = map.shift_remove("type") {
            ordered.insert("type".to_owned(), kind);
        }
        ordered.extend(map);
        ordered
    }

    /// An object that takes what any branch takes: all properties, and as required only what every branch demands.
    fn one_object(&mut self, key: &str, base: Map<String, Value>, branches: Vec<Value>) -> Map<String, Value> {
        let mut properties: Map<String, Value> = Map::new();
        let mut required: Option<Vec<Value>> = None;
        for branch in branches {
            let Value::Object(branch) = branch else { continue };
            let branch = self.followed(branch);
            let branch = match branch.get("allOf") {
                Some(Value::Array(parts)) => {
                    let mut whole = branch.clone();
                    whole.shift_remove("allOf");
                    for part in parts.clone() {
                        if let Value::Object(part) = part {
                            let part = self.followed(part);
                            whole = self.merged(key, whole, part);
                        }
                    }
                    whole
                }
                _ => branch,
            };
            if let Some(Value::Object(own)) = branch.get("properties") {
                for (name, schema) in own {
                    match properties.get_mut(name) {
                        None => drop(properties.insert(name.clone(), schema.clone())),
                        Some(known) if known == schema => {}
                        Some(known) => add_branch(known, schema.clone()),
                    }
                }
            }
            let own = match branch.get("required") {
                Some(Value::Array(names)) => names.clone(),
                _ => Vec::new(),
            };
            required = Some(match required {
                None => own,
                Some(names) => names.into_iter().filter(|name| own.contains(name)).collect(),
            });
        }
        let mut union = Map::new();
        if !properties.is_empty() {
            // What the base says of a property holds in every branch; the branches only add.
            if let Some(Value::Object(known)) = base.get("properties") {
                for name in known.keys() {
                    if properties.get(name).is_some_and(|schema| schema.as_object().is_some_and(Map::is_empty)) {
                        properties.shift_remove(name);
                    }
                }
            }
            union.insert("properties".to_owned(), Value::Object(properties));
        }
        if let Some(required) = required.filter(|names| !names.is_empty()) {
            union.insert("required".to_owned(), Value::Array(required));
        }
        self.merged(key, base, union)
    }
}

/// One more schema that a property may follow.
fn add_branch(known: &mut Value, schema: Value) {
    if let Value::Object(map) = known {
        // Two constants are a list of two.
        let literal =
            |v: &Value| v.get("const").cloned().map(|c| vec![c]).or_else(|| v.get("enum")?.as_array().cloned());
        if let (Some(mut ours), Some(theirs)) = (literal(&Value::Object(map.clone())), literal(&schema)) {
            ours.extend(theirs);
            let mut unique: Vec<Value> = Vec::new();
            for value in ours {
                if !unique.contains(&value) {
                    unique.push(value);
                }
            }
            map.shift_remove("const");
            map.insert("enum".to_owned(), Value::Array(unique));
            return;
        }
        if let (1, Some(Value::Array(branches))) = (map.len(), map.get_mut("anyOf")) {
            if !branches.contains(&schema) {
                branches.push(schema);
            }
            return;
        }
    }
    let first = std::mem::take(known);
    *known = json!({"anyOf": [first, schema]});
}
