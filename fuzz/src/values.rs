//! JSON values mutated, and made smaller.
use super::source::Source;
use serde_json::{Map, Value, json};

/// How many values there are in `value`, itself counted.
pub fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// The value number `number` of those in `value`, each before what is in it.
pub fn at_mut<'v>(value: &'v mut Value, number: &mut usize) -> Option<&'v mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| at_mut(item, number)),
        Value::Object(members) => members.values_mut().find_map(|member| at_mut(member, number)),
        _ => None,
    }
}

/// Changes one place of `value`; `others` are values that pieces are taken from.
pub fn mutate(source: &mut Source<'_>, value: &mut Value, others: &[Value]) {
    let total = count(value);
    let mut number = source.below(total);
    let Some(place) = at_mut(value, &mut number) else { return };
    match place {
        Value::Array(items) if !items.is_empty() && source.percent(70) => {
            let (at, other) = (source.below(items.len()), source.below(items.len()));
            match source.below(5) {
                0 => drop(items.remove(at)),
                1 => items.swap(at, other),
                2 => items.insert(other, items[at].clone()),
                3 => items.insert(at, piece(source, others)),
                _ => items.push(odd(source)),
            }
        }
        Value::Object(members) if !members.is_empty() && source.percent(70) => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let key = source.pick(&keys).clone();
            match source.below(5) {
                0 => drop(members.shift_remove(&key)),
                1 => drop(members.insert(key, odd(source))),
                2 => {
                    let moved = members.shift_remove(&key).unwrap_or_default();
                    members.insert(source.pick(&keys).clone(), moved);
                }
                3 => drop(members.insert(key, piece(source, others))),
                _ => drop(members.insert(String::from("x_note"), odd(source))),
            }
        }
        Value::String(text) if source.percent(50) => *text = text_of(source, text),
        place if source.percent(50) => *place = odd(source),
        place => *place = piece(source, others),
    }
}

fn text_of(source: &mut Source<'_>, text: &str) -> String {
    match source.below(6) {
        0 => String::new(),
        1 => String::from(" \n"),
        2 => text.chars().chain(text.chars()).take(400).collect(),
        3 => text[..source.place(text)].to_owned(),
        4 => format!("{text}{}", source.pick(&[".", "\u{0}", "é", "}", "\"", ":0"])),
        _ => source
            .pick(&["call_1", "f", "a.b", "user", "assistant", "model", "tool", "text", "{}", "{\"a\":1}"])
            .to_string(),
    }
}

/// A part of one of `others`.
fn piece(source: &mut Source<'_>, others: &[Value]) -> Value {
    if others.is_empty() {
        return odd(source);
    }
    let mut other = source.pick(others).clone();
    let mut number = source.below(count(&other));
    at_mut(&mut other, &mut number).map(Value::take).unwrap_or_default()
}

/// What stands in no document.
pub fn odd(source: &mut Source<'_>) -> Value {
    match source.below(14) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(0),
        3 => json!(-1),
        4 => json!(u64::MAX),
        5 => json!(1.5),
        6 => json!(""),
        7 => json!(" \n"),
        8 => json!("x"),
        9 => json!([]),
        10 => json!({}),
        11 => json!([null, "x", []]),
        12 => {
            let mut deep = json!({});
            for _ in 0..source.below(140) {
                deep = if source.percent(50) { json!([deep]) } else { json!({"a": deep}) };
            }
            deep
        }
        _ => Value::Object(Map::from_iter([(String::new(), json!("y"))])),
    }
}

/// `value` with one value in it left out, or with what is in that one in its place; large ones first.
pub fn smaller(value: &Value) -> Vec<Value> {
    let mut smaller = Vec::new();
    for number in 0..count(value) {
        let mut shorter = value.clone();
        let Some(place) = at_mut(&mut shorter, &mut { number }) else { continue };
        let alone = |place: &Value| {
            matches!(place, Value::Array(items) if items.is_empty())
                || matches!(place, Value::Object(members) if members.is_empty())
        };
        if alone(place) {
            continue;
        }
        match place.take() {
            Value::Array(items) => {
                for at in 0..items.len() {
                    let mut items = items.clone();
                    items.remove(at);
                    let mut shorter = value.clone();
                    *at_mut(&mut shorter, &mut { number }).expect("the same place") = Value::Array(items);
                    smaller.push(shorter);
                }
            }
            Value::Object(members) => {
                for key in members.keys() {
                    let mut members = members.clone();
                    members.shift_remove(key);
                    let mut shorter = value.clone();
                    *at_mut(&mut shorter, &mut { number }).expect("the same place") = Value::Object(members);
                    smaller.push(shorter);
                }
            }
            Value::String(text) if text.len() > 1 => {
                let mut shorter = value.clone();
                *at_mut(&mut shorter, &mut { number }).expect("the same place") = json!("x");
                smaller.push(shorter);
            }
            _ => {}
        }
    }
    smaller.sort_by_key(count);
    smaller
}
