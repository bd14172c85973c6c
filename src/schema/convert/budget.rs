//! Limits over all tools of a request: those of strict modes, and the size that a grammar may be made of.
use super::Converted;
use super::declare::Declarations;
use super::loss::{Loss, LossKind};
use crate::schema::ToolSet;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// What a strict mode takes in one request. Counted down tool by tool: what no longer fits is sent without strict.
#[derive(Debug, Clone, Copy)]
pub(super) struct StrictLimits {
    pub tools: usize,
    pub properties: usize,
    pub depth: usize,
    pub literals: usize,
    /// Over all names of properties and definitions, and all literals.
    pub characters: usize,
    /// Properties that are not required.
    pub optional: usize,
    /// Parameters with a union type.
    pub unions: usize,
}

/// What one schema uses up.
#[derive(Default)]
struct Use {
    properties: usize,
    depth: usize,
    literals: usize,
    characters: usize,
    optional: usize,
    unions: usize,
}

impl StrictLimits {
    /// Takes what `schema` needs; the reason if it no longer fits.
    pub(super) fn take(&mut self, schema: &Value) -> Option<String> {
        let mut used = Use::default();
        count(schema, 0, &mut used);
        let wanted = [
            (1, self.tools, "tools"),
            (used.properties, self.properties, "properties"),
            (used.depth, self.depth, "levels of nesting"),
            (used.literals, self.literals, "enum values"),
            (used.characters, self.characters, "characters of names and literals"),
            (used.optional, self.optional, "optional parameters"),
            (used.unions, self.unions, "parameters with several types"),
        ];
        if let Some((_, _, what)) = wanted.iter().find(|(needs, left, _)| needs > left) {
            return Some(format!("beyond the limit of strict mode on {what}"));
        }
        self.tools -= 1;
        self.properties -= used.properties;
        self.literals -= used.literals;
        self.characters -= used.characters;
        self.optional -= used.optional;
        self.unions -= used.unions;
        None
    }
}

fn count(schema: &Value, depth: usize, used: &mut Use) {
    let Value::Object(map) = schema else { return };
    if let Some(Value::Array(literals)) = map.get("enum") {
        used.literals += literals.len();
        used.characters += literals.iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
    }
    if map.contains_key("anyOf") || map.get("type").is_some_and(Value::is_array) {
        used.unions += 1;
    }
    let required = map.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
    if let Some(Value::Object(properties)) = map.get("properties") {
        used.depth = used.depth.max(depth + 1);
        for (name, schema) in properties {
            used.properties += 1;
            used.characters += name.len();
            used.optional += usize::from(!required.contains(name.as_str()));
            count(schema, depth + 1, used);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(schema) = map.get(key) {
            count(schema, depth, used);
        }
    }
    if let Some(Value::Array(branches)) = map.get("anyOf") {
        branches.iter().for_each(|branch| count(branch, depth, used));
    }
    if let Some(Value::Object(definitions)) = map.get("$defs") {
        for (name, schema) in definitions {
            used.characters += name.len();
            count(schema, depth, used);
        }
    }
}

/// Makes the declarations fit into `budget` bytes, plainest first: words inside schemas go, then long lists of literals,
/// then the deepest levels. Tools never go.
pub(super) fn shrink(set: &ToolSet, converted: &mut Converted, budget: usize) {
    type Step = fn(&mut Value) -> bool;
    let steps: [(Step, &str); 6] = [
        (|schema| without_words(schema, false), "descriptions inside the schema were left out"),
        (short_lists, "long lists of allowed values were left out"),
        (|schema| shallow(schema, 4), "what is nested deeper than 4 levels may be anything"),
        (|schema| shallow(schema, 3), "what is nested deeper than 3 levels may be anything"),
        (|schema| shallow(schema, 2), "what is nested deeper than 2 levels may be anything"),
        (|schema| shallow(schema, 1), "what is nested deeper than 1 level may be anything"),
    ];
    for (step, what) in steps {
        if size(set, converted) <= budget {
            return;
        }
        for declared in &mut converted.declared {
            let Some(tool) = set.tools().get(declared.tool) else { continue };
            let schema = declared.parameters.get_or_insert_with(|| tool.schema.clone());
            if step(schema) {
                converted.losses.push(Loss {
                    tool: tool.name.clone(),
                    pointer: String::new(),
                    kind: LossKind::Dropped,
                    message: format!("{what}, to keep all schemas within {budget} bytes"),
                });
            }
        }
    }
}

fn size(set: &ToolSet, converted: &Converted) -> usize {
    serde_json::to_string(&Declarations::new(set, converted)).map_or(0, |text| text.len())
}

/// Applies `change` to every schema inside `schema`.
fn inside(schema: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    let Value::Object(map) = schema else { return };
    for key in ["items", "additionalProperties", "not"] {
        if let Some(part) = map.get_mut(key) {
            change(part);
        }
    }
    for key in ["anyOf", "prefixItems"] {
        if let Some(Value::Array(parts)) = map.get_mut(key) {
            parts.iter_mut().for_each(&mut *change);
        }
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(change);
    }
}

fn without_words(schema: &mut Value, nested: bool) -> bool {
    let mut changed = false;
    if let Value::Object(map) = schema {
        changed |= map.shift_remove("title").is_some();
        if nested {
            changed |= map.shift_remove("description").is_some();
        }
    }
    inside(schema, &mut |part| changed |= without_words(part, true));
    changed
}

fn short_lists(schema: &mut Value) -> bool {
    let mut changed = false;
    if let Value::Object(map) = schema
        && map.get("enum").and_then(Value::as_array).is_some_and(|literals| literals.len() > 32)
    {
        map.shift_remove("enum");
        changed = true;
    }
    inside(schema, &mut |part| changed |= short_lists(part));
    changed
}

fn shallow(schema: &mut Value, levels: usize) -> bool {
    let mut changed = false;
    if levels == 0 {
        if let Value::Object(map) = schema {
            let kind = map.get("type").cloned();
            let mut plain = Map::new();
            match kind {
                Some(kind) if kind == "object" || kind == "array" => {
                    let _ = plain.insert("type".to_owned(), kind.clone());
                    if kind == "array" {
                        plain.insert("items".to_owned(), json!({}));
                    }
                    if *map != plain {
                        *map = plain;
                        return true;
                    }
                }
                None if map.contains_key("anyOf") => {
                    map.clear();
                    return true;
                }
                _ => {}
            }
            return false;
        }
        return false;
    }
    inside(schema, &mut |part| changed |= shallow(part, levels - 1));
    changed
}
