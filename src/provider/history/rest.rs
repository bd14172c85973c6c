//! What only one provider's messages say: fields and blocks that no other provider knows, and spellings that mean the
//! same. It travels beside the messages, and is back when they are.
//!
//! Nothing here knows a field by its name, nor does a reader keep account of what it read. What was written for the target
//! is read again and written back for the provider it came from, and compared with what that provider's messages were:
//! the difference is what is kept, message by message. So whatever the readers leave unread and the writers cannot say is
//! in it, of every provider, also what is not yet invented.
use super::patch::{Step, apply, diff, steps};
use super::{Written, ids, provider_id, read_history, write_history};
use crate::error::Error;
use crate::provider::Provider;
use crate::turn::{Issue, IssueCode};
use serde_json::{Map, Number, Value, json};
use std::collections::{HashMap, VecDeque};

/// Where it is kept in [`Written::side`]: by provider.
const REST: &str = "$rest";
/// The messages of one provider that differ, each with its number among those that are written back.
const MESSAGES: &str = "messages";
const SYSTEM: &str = "system";
const AT: &str = "at";
/// The mark of the message that was written back: what is kept belongs to no other.
const OF: &str = "of";
const PATCH: &str = "patch";
const DROP: &str = "drop";
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// The providers whose messages something is kept of.
pub(super) fn providers(side: Option<&Map<String, Value>>) -> Vec<Provider> {
    let rest = side.and_then(|side| side.get(REST)).and_then(Value::as_object);
    rest.into_iter().flatten().filter_map(|(name, _)| Provider::from_name(name).ok()).collect()
}

/// An id that the provider's grammar does not allow does not come back: the one that stands for it does.
pub(super) fn same_id(provider: Provider) -> impl Fn(&str, &str) -> bool {
    move |written, was| !ids::valid(was, provider) && provider_id(was, provider) == written
}

/// Keeps in [`Written::side`] what `messages` of `provider` say beyond what comes back from `written` for `target`.
///
/// # Errors
/// None in practice: those of reading messages written just now.
pub(super) fn keep(
    messages: &[Value],
    system: Option<&Value>,
    provider: Provider,
    target: Provider,
    written: &mut Written,
) -> Result<(), Error> {
    // As they come back from Python, whose numbers have one spelling.
    let there: Vec<Value> = written.messages.iter().map(plain).collect();
    let back = read_history(&there, written.system.as_ref(), target, Some(&written.side))?;
    let again = write_history(&back, provider);
    let kept = difference(&again, messages, system, provider);
    // Kept also where nothing differs: on its way to a third provider something may.
    if let Value::Object(rest) = written.side.entry(REST).or_insert_with(|| json!({})) {
        rest.insert(provider.as_str().into(), Value::Object(kept));
    }
    Ok(())
}

fn difference(again: &Written, messages: &[Value], system: Option<&Value>, provider: Provider) -> Map<String, Value> {
    let same = same_id(provider);
    let mut kept = Map::new();
    let (old, new) = (again.system.clone().unwrap_or_default(), system.cloned().unwrap_or_default());
    if let Some(patch) = diff(&old, &new, &same) {
        kept.insert(SYSTEM.into(), json!({ OF: mark(&old), PATCH: patch }));
    }
    let mut entries: Vec<Map<String, Value>> = Vec::new();
    let mut note = |at: usize, key: &str, value: Value| {
        if entries.last().and_then(|entry| entry.get(AT)) != Some(&json!(at)) {
            let of = again.messages.get(at).map_or(Value::Null, |message| json!(mark(message)));
            entries.push([(AT.to_owned(), json!(at)), (OF.to_owned(), of)].into_iter().collect());
        }
        if let Some(entry) = entries.last_mut() {
            entry.insert(key.to_owned(), value);
        }
    };
    let (mut at, mut added) = (0, None);
    for step in steps(&again.messages, messages, &same) {
        if let (Some(added), false) = (&mut added, matches!(step, Step::Add(_))) {
            note(at, BEFORE, Value::Array(std::mem::take(added)));
        }
        added = None;
        match step {
            Step::Keep(count) => at += count,
            Step::Change(patch) => {
                note(at, PATCH, patch);
                at += 1;
            }
            Step::Remove => {
                note(at, DROP, Value::Bool(true));
                at += 1;
            }
            Step::Add(messages) => added = Some(messages),
        }
    }
    if let Some(added) = added {
        note(at.saturating_sub(1), AFTER, Value::Array(added));
    }
    if !entries.is_empty() {
        kept.insert(MESSAGES.into(), Value::Array(entries.into_iter().map(Value::Object).collect()));
    }
    kept
}

/// What a conversation has in a provider's own words, when nothing but its ids has to change.
pub(super) fn restate(written: &mut Written, messages: &[Value], system: Option<&Value>, provider: Provider) {
    let same = same_id(provider);
    let restated = |canonical: Value, own: &Value| match diff(&canonical, own, &same) {
        Some(patch) => apply(canonical, &patch),
        None => canonical,
    };
    let own = Value::Array(messages.to_vec());
    if let Value::Array(messages) = restated(Value::Array(std::mem::take(&mut written.messages)), &own) {
        written.messages = messages;
    }
    written.system = system.cloned();
}

/// Gives `written` for `provider` what `side` keeps of that provider's messages; an issue tells of what belongs to a
/// message that is no longer there as it was.
pub(super) fn give_back(written: &mut Written, side: Option<&Map<String, Value>>, provider: Provider) {
    let Some(kept) = side.and_then(|side| side.get(REST)?.get(provider.as_str())) else { return };
    if let Some(system) = kept.get(SYSTEM) {
        let canonical = written.system.take().unwrap_or_default();
        let changed = system.get(OF) != Some(&json!(mark(&canonical)));
        match system.get(PATCH).filter(|_| !changed) {
            Some(patch) => written.system = Some(apply(canonical, patch)).filter(|system| !system.is_null()),
            None => {
                written.system = Some(canonical).filter(|system| !system.is_null());
                lost(written, "/system", provider);
            }
        }
    }
    let Some(Value::Array(entries)) = kept.get(MESSAGES) else { return };
    let marks: Vec<String> = written.messages.iter().map(mark).collect();
    let mut found: Vec<Option<&Value>> = vec![None; marks.len()];
    let mut ahead: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (place, mark) in marks.iter().enumerate() {
        ahead.entry(mark).or_default().push_back(place);
    }
    let (mut next, mut first) = (0, None);
    for entry in entries {
        let at = entry.get(AT).and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
        let of = entry.get(OF).and_then(Value::as_str);
        if of.is_none() && marks.is_empty() {
            first = entry.get(AFTER).or_else(|| entry.get(BEFORE)).and_then(Value::as_array);
            continue;
        }
        let own = Some(at).filter(|at| *at >= next && marks.get(*at).map(String::as_str) == of);
        let other = || {
            let places = ahead.get_mut(of?)?;
            while places.front().is_some_and(|place| *place < next) {
                places.pop_front();
            }
            places.front().copied()
        };
        let Some(place) = own.or_else(other) else {
            lost(written, &format!("/{at}"), provider);
            continue;
        };
        if let Some(slot) = found.get_mut(place) {
            *slot = Some(entry);
        }
        next = place + 1;
    }
    let list = |entry: Option<&Value>, key: &str| -> Vec<Value> {
        entry.and_then(|entry| entry.get(key)).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut places = Vec::with_capacity(marks.len());
    let mut out: Vec<Value> = first.cloned().unwrap_or_default();
    for (message, entry) in std::mem::take(&mut written.messages).into_iter().zip(found) {
        out.extend(list(entry, BEFORE));
        places.push(out.len());
        if entry.and_then(|entry| entry.get(DROP)).is_none() {
            out.push(match entry.and_then(|entry| entry.get(PATCH)) {
                Some(patch) => apply(message, patch),
                None => message,
            });
        }
        out.extend(list(entry, AFTER));
    }
    written.messages = out;
    // What stands beside a message goes where it went.
    for (key, value) in std::mem::take(&mut written.side) {
        let place = key.parse().ok().and_then(|at: usize| places.get(at));
        written.side.insert(place.map_or(key, usize::to_string), value);
    }
}

fn lost(written: &mut Written, place: &str, provider: Provider) {
    let message =
        format!("what only `{}` knew of this message is not given back: it is not what it was", provider.as_str());
    written.issues.push(Issue::of(IssueCode::Converted, place, message));
}

/// A number that a value has and another has not, whatever the order of members.
fn mark(value: &Value) -> String {
    format!("{:016x}", hash(value))
}

/// Of two values that are equal it is the same, whatever the order of members.
pub(super) fn hash(value: &Value) -> u64 {
    match value {
        Value::Null => 1,
        Value::Bool(truth) => 2 + u64::from(*truth),
        Value::Number(number) => match number.as_f64() {
            Some(float) => float.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            None => ids::hash(&number.to_string()),
        },
        Value::String(text) => ids::hash(text),
        Value::Array(items) => {
            items.iter().fold(5, |sum: u64, item| (sum ^ hash(item)).wrapping_mul(0x0100_0000_01b3).rotate_left(7))
        }
        Value::Object(members) => members.iter().fold(6, |sum: u64, (key, value)| {
            sum.wrapping_add((ids::hash(key) ^ hash(value).rotate_left(31)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        }),
    }
}

/// `value` with each number spelt as Python spells it.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.as_i64().is_none() && number.as_u64().is_none() => {
            let float = number.to_string().contains(['.', 'e', 'E']).then(|| number.as_f64()).flatten();
            Value::Number(float.and_then(Number::from_f64).unwrap_or_else(|| number.clone()))
        }
        Value::Number(number) => number.as_i64().map_or_else(|| value.clone(), Value::from),
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}
