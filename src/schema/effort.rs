//! How much it takes to judge a value: what says each error of each branch of a union takes as long as there are ways through
//! the schema, which for a recursive one are as many as a power of the value's depth.
use super::pointer;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Visits of a schema to a value that any value may take, and how many more each value in it.
const VISITS: usize = 5_000;
const VISITS_A_VALUE: usize = 8;
/// Nesting of values and of the schemas that describe one value, together.
const DEPTH: usize = 1000;

/// The keywords with a list of schemas, and with one, that describe the very value that their schema does.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SINGLE: [&str; 4] = ["not", "if", "then", "else"];

/// Whether all errors of `value` under `schema`, a part of `root`, are found in a time that its size bounds.
pub(super) fn is_bounded(root: &Value, schema: &Value, value: &Value) -> bool {
    let left = VISITS + VISITS_A_VALUE * values(value);
    Visits { root, left }.take(schema, value, 0)
}

/// The values in `value`, itself counted.
fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(values).sum::<usize>() + 1,
        Value::Object(members) => members.values().map(values).sum::<usize>() + 1,
        _ => 1,
    }
}

/// How deep `value` is nested.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(depth).max().unwrap_or(0) + 1,
        Value::Object(members) => members.values().map(depth).max().unwrap_or(0) + 1,
        _ => 1,
    }
}

struct Visits<'s> {
    root: &'s Value,
    left: usize,
}

impl<'s> Visits<'s> {
    /// Takes what a visit of `schema` to `value` and to all in it costs from what is left; `false` if there is not so much.
    fn take(&mut self, schema: &'s Value, value: &Value, depth: usize) -> bool {
        let Value::Object(map) = schema else { return true };
        if self.left == 0 || depth > DEPTH {
            return false;
        }
        self.left -= 1;
        in_place(map, self.root).all(|part| self.take(part, value, depth + 1))
            && match value {
                Value::Object(members) => members.iter().all(|(key, member)| {
                    let listed = map.get("properties").and_then(|properties| properties.get(key));
                    let patterns = map.get("patternProperties").and_then(Value::as_object);
                    let others = ["additionalProperties", "unevaluatedProperties"].map(|key| map.get(key));
                    let parts = listed.into_iter().chain(patterns.into_iter().flat_map(Map::values));
                    parts.chain(others.into_iter().flatten()).all(|part| self.take(part, member, depth + 1))
                }),
                Value::Array(items) => items.iter().enumerate().all(|(i, item)| {
                    let first = map.get("prefixItems").and_then(|first| first.get(i));
                    let others = ["items", "contains", "unevaluatedItems"].map(|key| map.get(key));
                    first.into_iter().chain(others.into_iter().flatten()).all(|part| self.take(part, item, depth + 1))
                }),
                _ => true,
            }
    }
}

/// The schemas that describe the value which the one of the keywords `map` does.
pub(super) fn in_place<'s>(map: &'s Map<String, Value>, root: &'s Value) -> impl Iterator<Item = &'s Value> {
    let target = map.get("$ref").and_then(Value::as_str).and_then(|r| pointer::resolve(root, r));
    let lists = LISTS.iter().filter_map(|key| map.get(*key)?.as_array()).flatten();
    let single = SINGLE.iter().filter_map(|key| map.get(*key));
    let dependent = ["dependentSchemas", "dependencies"].iter().filter_map(|key| map.get(*key)?.as_object());
    let dependent = dependent.flat_map(Map::values);
    target.into_iter().chain(lists).chain(single).chain(dependent)
}

/// How deep the schemas that describe one value are nested, wherever that is deepest.
pub(super) fn height(root: &Value) -> usize {
    let mut heights = Heights { root, known: HashMap::new() };
    heights.all(root)
}

/// Whether `value` and schemas of this height together are so deep that judging would take too much of the stack.
pub(super) fn is_too_deep(height: usize, value: &Value) -> bool {
    // No value that was read is deeper than this.
    height * 300 > DEPTH && height.saturating_mul(depth(value)) > DEPTH
}

struct Heights<'s> {
    root: &'s Value,
    known: HashMap<*const Value, usize>,
}

impl<'s> Heights<'s> {
    /// The greatest height of the schemas in `value`.
    fn all(&mut self, value: &'s Value) -> usize {
        match value {
            Value::Object(map) => {
                let inside = map.values().map(|part| self.all(part)).max().unwrap_or(0);
                inside.max(self.of(value, 0))
            }
            Value::Array(items) => items.iter().map(|item| self.all(item)).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn of(&mut self, schema: &'s Value, depth: usize) -> usize {
        let Value::Object(map) = schema else { return 1 };
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        if depth > DEPTH {
            return DEPTH;
        }
        let below = in_place(map, self.root).map(|part| self.of(part, depth + 1)).max().unwrap_or(0);
        self.known.insert(schema, below + 1);
        below + 1
    }
}
