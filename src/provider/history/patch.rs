//! The difference between two JSON values, as a JSON value of its own.
//!
//! Fields and items that were added or taken away are told from such that changed, so that a difference is small and what
//! is the same on both sides is not in it. It is exact: applied to the first value it makes the second.
use serde_json::{Map, Value, json};

/// Whether a text that differs counts as the same (an id in the grammar of a provider).
pub(super) type Same<'a> = &'a dyn Fn(&str, &str) -> bool;

/// A value in place of another.
const REPLACED: &str = "=";
/// Members or items that are added.
const ADDED: &str = "+";
/// Members or items that are left out.
const REMOVED: &str = "-";
/// Members or items that change.
const CHANGED: &str = "~";
/// What happens to an array's items, one step after another; a number says how many stay as they are.
const STEPS: &str = "[]";

/// So far ahead an item is looked for; farther on it counts as another one.
const AHEAD: usize = 64;

/// What makes `to` of `from`; `None` if nothing has to.
pub(super) fn diff(from: &Value, to: &Value, same: Same<'_>) -> Option<Value> {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => objects(from, to, same),
        (Value::Array(from), Value::Array(to)) => {
            let steps = steps(from, to, same);
            let changes = steps.iter().any(|step| !matches!(step, Step::Keep(_)));
            changes.then(|| json!({ STEPS: steps.into_iter().map(Step::into_value).collect::<Vec<_>>() }))
        }
        (Value::String(from), Value::String(to)) if from == to || same(from, to) => None,
        _ if from == to => None,
        _ => Some(json!({ REPLACED: to })),
    }
}

/// Whether the patch adds members to objects. Items that it adds to arrays do not count, nor an `id`: one that is refused has an
/// issue of its own.
pub(super) fn adds_members(patch: &Value) -> bool {
    let changes = |value: &Value| value.as_object().is_some_and(|members| members.values().any(adds_members));
    if let Some(steps) = patch.get(STEPS).and_then(Value::as_array) {
        return steps.iter().filter_map(|step| step.get(CHANGED)).any(adds_members);
    }
    let added = patch.get(ADDED).and_then(Value::as_object);
    added.is_some_and(|members| members.keys().any(|key| key != "id")) || patch.get(CHANGED).is_some_and(changes)
}

fn objects(from: &Map<String, Value>, to: &Map<String, Value>, same: Same<'_>) -> Option<Value> {
    let (mut added, mut changed) = (Map::new(), Map::new());
    for (key, value) in to {
        match from.get(key) {
            None => {
                added.insert(key.clone(), value.clone());
            }
            Some(old) => {
                if let Some(patch) = diff(old, value, same) {
                    changed.insert(key.clone(), patch);
                }
            }
        }
    }
    let removed: Vec<Value> = from.keys().filter(|key| !to.contains_key(*key)).map(|key| json!(key)).collect();
    let mut out = Map::new();
    let parts = [(ADDED, Value::Object(added)), (REMOVED, Value::Array(removed)), (CHANGED, Value::Object(changed))];
    for (key, value) in parts {
        if value.as_object().is_some_and(|members| !members.is_empty()) || value.get(0).is_some() {
            out.insert(key.into(), value);
        }
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

/// What happens to the items of an array.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// So many stay as they are.
    Keep(usize),
    /// The next one changes.
    Change(Value),
    /// The next one is left out.
    Remove,
    /// These are added.
    Add(Vec<Value>),
}

impl Step {
    fn into_value(self) -> Value {
        match self {
            Self::Keep(count) => json!(count),
            Self::Change(patch) => json!({ CHANGED: patch }),
            Self::Remove => json!({ REMOVED: 1 }),
            Self::Add(items) => json!({ ADDED: items }),
        }
    }
}

/// The steps that make `to` of `from`: items that are alike are held for the same one.
pub(super) fn steps(from: &[Value], to: &[Value], same: Same<'_>) -> Vec<Step> {
    let mut out: Vec<Step> = Vec::new();
    let mut at = 0;
    for (done, old) in from.iter().enumerate() {
        // As many as are left of both: each for each. Otherwise the next one that is alike.
        let rest = to.get(at..).unwrap_or_default();
        let found = match rest.len() == from.len() - done {
            true if rest.first().is_some_and(|new| kind(old) == kind(new)) => Some(0),
            _ => rest.iter().take(AHEAD).position(|new| alike(old, new)),
        };
        let Some(skipped) = found else {
            out.push(Step::Remove);
            continue;
        };
        if skipped > 0 {
            out.push(Step::Add(rest.iter().take(skipped).cloned().collect()));
        }
        match rest.get(skipped).and_then(|new| diff(old, new, same)) {
            Some(patch) => out.push(Step::Change(patch)),
            None => match out.last_mut() {
                Some(Step::Keep(count)) => *count += 1,
                _ => out.push(Step::Keep(1)),
            },
        }
        at += skipped + 1;
    }
    let rest = to.get(at..).unwrap_or_default();
    if !rest.is_empty() {
        out.push(Step::Add(rest.to_vec()));
    }
    out
}

/// What an object is, as far as any API says so: its role or type, or the name of its only member.
pub(super) fn kind(value: &Value) -> &str {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let only = || value.as_object().filter(|members| members.len() == 1)?.keys().next().map(String::as_str);
    text("role").or_else(|| text("type")).or_else(only).unwrap_or_default()
}

/// The same, or the same with other fields beside.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a_members), Value::Object(b_members)) => {
            let shared = a_members.iter().filter(|(key, _)| b_members.contains_key(*key)).count();
            let equal = a_members.iter().filter(|(key, value)| b_members.get(*key) == Some(value)).count();
            // At least one thing beside the role or type is the same.
            shared > 0 && equal * 2 >= shared && (equal > 1 || kind(a) == kind(b) && equal == shared)
        }
        _ => a == b,
    }
}

/// What `patch` makes of `value`; a patch that does not fit does what fits.
pub(super) fn apply(value: Value, patch: &Value) -> Value {
    if let Some(new) = patch.get(REPLACED) {
        return new.clone();
    }
    match (value, patch.get(STEPS)) {
        (Value::Array(items), Some(Value::Array(steps))) => Value::Array(walk(items, steps)),
        (Value::Object(mut members), None) => {
            for key in patch.get(REMOVED).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
                members.shift_remove(key);
            }
            for (key, patch) in patch.get(CHANGED).and_then(Value::as_object).into_iter().flatten() {
                if let Some(member) = members.get_mut(key) {
                    *member = apply(member.take(), patch);
                }
            }
            for (key, value) in patch.get(ADDED).and_then(Value::as_object).into_iter().flatten() {
                members.entry(key.clone()).or_insert_with(|| value.clone());
            }
            Value::Object(members)
        }
        (value, _) => value,
    }
}

fn walk(items: Vec<Value>, steps: &[Value]) -> Vec<Value> {
    let mut out = Vec::with_capacity(items.len());
    let mut items = items.into_iter();
    for step in steps {
        if let Some(count) = step.as_u64() {
            out.extend(items.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)));
        } else if let Some(patch) = step.get(CHANGED) {
            out.extend(items.next().map(|item| apply(item, patch)));
        } else if step.get(REMOVED).is_some() {
            items.next();
        } else if let Some(Value::Array(added)) = step.get(ADDED) {
            out.extend(added.iter().cloned());
        }
    }
    out.extend(items);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(Value::Null), (0..3i64).prop_map(Value::from), "[ab]{0,2}".prop_map(Value::from)];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("(role|type|a|b|\\+|=|~|\\[\\])", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_difference_makes_the_second_of_the_first((a, b) in (values(), values())) {
            let patch = diff(&a, &b, &|_, _| false);
            prop_assert_eq!(patch.is_none(), a == b);
            prop_assert_eq!(patch.map_or(a.clone(), |patch| apply(a, &patch)), b);
        }

        #[test]
        fn any_patch_does_no_harm((a, patch) in (values(), values())) {
            apply(a, &patch);
        }
    }

    #[test]
    fn a_difference_is_small() {
        let item = |text: &str| json!({"type": "text", "text": text});
        let from = json!({"role": "user", "content": [item("a"), item("b")]});
        let mut marked = item("b");
        marked["cache_control"] = json!({"type": "ephemeral"});
        let to = json!({"role": "user", "content": [{"cachePoint": 1}, item("a"), marked]});
        let patch = diff(&from, &to, &|_, _| false);
        let steps = json!([
            {"+": [{"cachePoint": 1}]}, 1, {"~": {"+": {"cache_control": {"type": "ephemeral"}}}}
        ]);
        assert_eq!(patch, Some(json!({"~": {"content": {"[]": steps}}})));
    }
}
