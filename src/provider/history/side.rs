//! What a conversation would lose on the way to another provider and back: kept beside the messages where it can be,
//! reported where it cannot.
//!
//! Nothing here knows the providers' shapes. What was written is read again, and what does not come back as it was is
//! found by comparison; so no loss goes unnoticed, whoever causes it.
use super::model::{Answer, Call, Message, Part, Role, text_of};
use super::rest::hash;
use super::{Written, marks, read_history, read_with_places};
use crate::error::Error;
use crate::provider::Provider;
use crate::turn::{Issue, IssueCode};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, VecDeque};

/// The ids of a message's calls, where the provider has others or none.
const IDS: &str = "$ids";
/// What a message's results were, by their number in it: errors, where the provider has no other mark than the text's
/// beginning (which was `added`); JSON, where it takes text only.
const RESULTS: &str = "$results";
/// Reasoning that the provider takes none of.
const REASONING: &str = "$reasoning";

/// The mark of the message that this stands beside: it belongs to no other.
const OF: &str = "$of";

/// How errors are told where nothing but text tells them.
pub(super) const ERROR_PREFIX: &str = "Error: ";

/// Completes what was written of `messages`: what else they say goes into [`Written::side`].
///
/// # Errors
/// None in practice: as [`read_history`], of messages written just now.
pub(super) fn complete(messages: &[Message], provider: Provider, written: &mut Written) -> Result<(), Error> {
    let system = written.system.as_ref();
    let (back, places) = read_with_places(&written.messages, system, provider, Some(&written.side))?;
    keep_ids(messages, &back, written);
    keep_results(messages, &back, &places, written);
    keep_reasoning(messages, &back, written);
    Ok(())
}

/// A mark of what a message says.
pub(super) fn mark<'p>(parts: impl Iterator<Item = &'p Part>) -> String {
    let (mut text, mut said) = (String::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(part) => text.push_str(part),
            Part::Call(call) => said.push(json!([call.id, call.name, arguments(call)])),
            Part::Answer(answer) => said.push(json!([answer.id, text_of(&answer.parts)])),
            _ => {}
        }
    }
    said.push(Value::String(text));
    format!("{:016x}", hash(&Value::Array(said)))
}

/// The arguments, however they are spelt.
fn arguments(call: &Call) -> Value {
    match serde_json::from_str(&call.arguments) {
        Ok(arguments) if !call.custom => arguments,
        _ => json!(call.arguments),
    }
}

/// Marks what stands beside messages with what these say.
pub(super) fn stamp(written: &mut Written, provider: Provider) {
    let marks = marks(&written.messages, provider);
    for (key, kept) in &mut written.side {
        let mark = key.parse().ok().and_then(|at: usize| marks.get(at));
        if let (Some(mark), Value::Object(kept)) = (mark, kept) {
            kept.insert(OF.into(), json!(mark));
        }
    }
}

/// `side` with each entry at the place that its message has now; of those whose message is no longer there as it was,
/// an issue tells.
pub(super) fn place(
    side: &Map<String, Value>,
    messages: &[Value],
    provider: Provider,
    issues: &mut Vec<Issue>,
) -> Map<String, Value> {
    let stamped = |kept: &Value| kept.get(OF).is_some();
    if !side.values().any(stamped) || !messages.iter().all(Value::is_object) {
        return side.clone();
    }
    let marks = marks(messages, provider);
    let (mut placed, mut moved) = (Map::new(), Vec::new());
    for (key, kept) in side {
        match (key.parse::<usize>(), kept.get(OF).and_then(Value::as_str)) {
            (Ok(at), Some(of)) if marks.get(at).is_none_or(|mark| mark != of) => moved.push((at, of, kept)),
            _ => {
                placed.insert(key.clone(), kept.clone());
            }
        }
    }
    let mut free: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, mark) in marks.iter().enumerate().filter(|(at, _)| !placed.contains_key(&at.to_string())) {
        free.entry(mark).or_default().push(at);
    }
    // From the end: what a long conversation loses is its beginning.
    moved.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    let mut before = marks.len();
    for (at, of, kept) in moved {
        let places = free.get_mut(of);
        let place = places.and_then(|places| {
            while places.last().is_some_and(|place| *place >= before) {
                places.pop();
            }
            places.pop()
        });
        match place {
            Some(place) => {
                before = place;
                placed.insert(place.to_string(), kept.clone());
            }
            None => {
                let message = "what stood beside this message is not given back: it is not what it was";
                issues.push(Issue::of(IssueCode::Converted, format!("/{at}"), message));
            }
        }
    }
    placed
}

fn beside(written: &mut Written, index: usize) -> Option<&mut Map<String, Value>> {
    written.side.entry(index.to_string()).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
}

/// The messages of one kind, there and back, if there are as many of them.
fn paired<'m>(
    messages: &'m [Message],
    back: &'m [Message],
    of: impl Fn(&Message) -> bool + Copy + 'm,
) -> impl Iterator<Item = (&'m Message, &'m Message)> {
    let count = |messages: &[Message]| messages.iter().filter(|message| of(message)).count();
    let limit = if count(messages) == count(back) { usize::MAX } else { 0 };
    messages.iter().filter(move |m| of(m)).zip(back.iter().filter(move |m| of(m))).take(limit)
}

fn keep_ids(messages: &[Message], back: &[Message], written: &mut Written) {
    for (before, after) in paired(messages, back, |message| message.calls().next().is_some()) {
        let ids = |message: &Message| message.calls().map(|call| json!(call.id)).collect::<Vec<_>>();
        let (old, new) = (ids(before), ids(after));
        if old != new
            && old.len() == new.len()
            && let Some(kept) = beside(written, after.origin)
        {
            kept.insert(IDS.into(), Value::Array(old));
        }
    }
}

fn keep_results(messages: &[Message], back: &[Message], places: &[usize], written: &mut Written) {
    let results = |messages: &[Message]| messages.iter().flat_map(Message::answers).cloned().collect::<Vec<_>>();
    let (old, new) = (results(messages), results(back));
    if old.len() != new.len() || new.len() != places.len() {
        return;
    }
    let mut ordinal = 0;
    for (number, ((old, new), place)) in old.iter().zip(&new).zip(places).enumerate() {
        ordinal = if number > 0 && places.get(number - 1) == Some(place) { ordinal + 1 } else { 0 };
        let (was, is) = (text_of(&old.parts), text_of(&new.parts));
        let added = is.strip_prefix(ERROR_PREFIX) == Some(was.as_str());
        let json = matches!(old.parts.as_slice(), [Part::Json(_)]) && !matches!(new.parts.as_slice(), [Part::Json(_)]);
        if old.is_error == new.is_error && !added && !json {
            continue;
        }
        let kept = beside(written, *place).map(|kept| kept.entry(RESULTS).or_insert_with(|| json!({})));
        if let Some(Value::Object(kept)) = kept {
            kept.insert(ordinal.to_string(), json!({"is_error": old.is_error, "added": added, "json": json}));
        }
    }
}

/// Of what is kept beside messages, what their results were.
pub(super) fn of_results(side: &Map<String, Value>) -> Map<String, Value> {
    let results = |kept: &Value| Some(json!({ RESULTS: kept.get(RESULTS)? }));
    side.iter().filter_map(|(index, kept)| Some((index.clone(), results(kept)?))).collect()
}

/// The ids of the calls of each message that has some, by its index.
pub(super) fn ids_of(messages: &[Message]) -> Vec<(usize, Vec<String>)> {
    let ids = |message: &Message| message.calls().map(|call| call.id.clone()).collect::<Vec<_>>();
    messages.iter().map(|message| (message.origin, ids(message))).filter(|(_, ids)| !ids.is_empty()).collect()
}

/// Takes what stood beside messages to the places that these have in `written`, which was made of `mended`. `ids`: those
/// that the calls had before.
///
/// # Errors
/// As [`complete`].
pub(super) fn carry(
    side: &Map<String, Value>,
    ids: &[(usize, Vec<String>)],
    mended: &[Message],
    provider: Provider,
    written: &mut Written,
) -> Result<(), Error> {
    let (back, places) = read_with_places(&written.messages, written.system.as_ref(), provider, None)?;
    keep_results(mended, &back, &places, written);
    let mut left: Vec<&String> = side.keys().filter(|index| index.parse::<usize>().is_ok()).collect();
    for (before, after) in paired(mended, &back, |message| message.role == Role::Assistant) {
        let index = before.origin.to_string();
        left.retain(|left| **left != index);
        let Some(kept) = side.get(&index).and_then(Value::as_object) else { continue };
        let mut kept: Map<String, Value> = kept.iter().filter(|(key, _)| moves(key)).map(owned).collect();
        let had = ids.iter().find(|(origin, _)| *origin == before.origin).map(|(_, ids)| ids);
        if let (Some(Value::Array(own)), Some(had)) = (kept.get_mut(IDS), had) {
            // A call that got another id must not get back the one that was not its alone.
            for ((own, had), call) in own.iter_mut().zip(had).zip(before.calls()) {
                if *had != call.id {
                    *own = json!(call.id);
                }
            }
        }
        if !kept.is_empty()
            && let Some(beside) = beside(written, after.origin)
        {
            beside.append(&mut kept);
        }
    }
    let lost = left.into_iter().filter(|index| {
        let kept = side.get(*index).and_then(Value::as_object);
        kept.is_some_and(|kept| kept.keys().any(|key| moves(key)))
    });
    for index in lost {
        let message = "what stood beside this message was left out with it";
        written.issues.push(Issue::of(IssueCode::Converted, format!("/{index}"), message));
    }
    // What only another provider's messages say is found again by their marks.
    written.side.extend(side.iter().filter(|(key, _)| key.parse::<usize>().is_err()).map(owned));
    Ok(())
}

/// What stands beside a model's message, and goes with it.
fn moves(key: &str) -> bool {
    key != RESULTS && key != OF
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

fn keep_reasoning(messages: &[Message], back: &[Message], written: &mut Written) {
    for (before, after) in paired(messages, back, |message| message.role == Role::Assistant) {
        if !before.reasoning.is_empty()
            && after.reasoning != before.reasoning
            && let Some(kept) = beside(written, after.origin)
        {
            kept.insert(REASONING.into(), json!(before.reasoning));
        }
    }
}

/// Gives `new`, which was read from the message that `kept` stands beside, what it lost.
pub(super) fn restore(new: &mut [Message], kept: &Map<String, Value>) {
    if let Some(message) = new.iter_mut().find(|message| message.role == Role::Assistant) {
        for (key, value) in kept.iter().filter(|(key, _)| !key.starts_with('$')) {
            // It says more than what the messages themselves carry of it.
            message.state.insert(key.clone(), value.clone());
        }
        if let Some(reasoning) = kept.get(REASONING).and_then(Value::as_str).filter(|_| message.reasoning.is_empty()) {
            reasoning.clone_into(&mut message.reasoning);
        }
    }
}

/// Gives the result number `ordinal` of a message what it lost.
pub(super) fn restore_result(answer: &mut Answer, ordinal: usize, kept: &Map<String, Value>) {
    let Some(mark) = kept.get(RESULTS).and_then(|results| results.get(ordinal.to_string())) else { return };
    let is = |key: &str| mark.get(key) == Some(&Value::Bool(true));
    answer.is_error = is("is_error");
    if let Some(Part::Text(text)) = answer.parts.first_mut()
        && let (true, Some(rest)) = (is("added"), text.strip_prefix(ERROR_PREFIX))
    {
        *text = rest.to_owned();
    }
    if let (true, [Part::Text(text)]) = (is("json"), answer.parts.as_slice())
        && let Ok(value) = serde_json::from_str(text)
    {
        answer.parts = vec![Part::Json(value)];
    }
}

/// Gives calls the ids they had, and results those of their calls.
pub(super) fn restore_ids(messages: &mut [Message], side: &Map<String, Value>) {
    // What calls were called, by what they are called now, in their order.
    let mut renamed: HashMap<String, VecDeque<String>> = HashMap::new();
    for message in messages {
        let kept = (message.role == Role::Assistant).then(|| side.get(&message.origin.to_string())?.get(IDS));
        let mut ids = kept.flatten().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for part in &mut message.parts {
            match part {
                Part::Call(call) => {
                    if let Some(id) = ids.next() {
                        let new = std::mem::replace(&mut call.id, id.to_owned());
                        renamed.entry(new).or_default().push_back(id.to_owned());
                    }
                }
                Part::Answer(answer) => {
                    let known = renamed.get_mut(&answer.id).filter(|_| !answer.id.is_empty());
                    if let Some(id) = known.and_then(VecDeque::pop_front) {
                        answer.id = id;
                    }
                }
                _ => {}
            }
        }
    }
}

/// One thing that a conversation says, in a form to be compared.
type Fact = (usize, &'static str, Value);

fn facts(messages: &[Message], origins: &[usize]) -> Vec<Fact> {
    let mut out = Vec::new();
    let mut origins = origins.iter();
    for message in messages {
        let mut add = |origin: usize, what, value| out.push((origin, what, value));
        let media = |parts: &[Part]| -> Vec<Value> {
            let media = parts.iter().filter_map(|part| match part {
                Part::Json(value) => Some(json!({"json": value})),
                Part::Media(media) => Some(json!([media.kind.as_str(), media.mime, media.data_url(), media.name])),
                Part::Opaque(_, value) => Some(value.clone()),
                _ => None,
            });
            media.collect()
        };
        let text = message.all_text();
        if !text.is_empty() {
            add(message.origin, "text", json!([format!("{:?}", message.role), text]));
        }
        if !message.reasoning.is_empty() {
            add(message.origin, "reasoning", json!(message.reasoning));
        }
        for medium in media(&message.parts) {
            add(message.origin, "medium", medium);
        }
        for part in &message.parts {
            match part {
                Part::Call(call) => {
                    add(message.origin, "call", json!([call.name, arguments(call), call.custom]));
                    add(message.origin, "id of a call", json!(call.id));
                }
                Part::Answer(answer) => {
                    let origin = *origins.next().unwrap_or(&message.origin);
                    add(origin, "result", json!([answer.id, text_of(&answer.parts), media(&answer.parts)]));
                    add(origin, "error mark of a result", json!([answer.id, answer.is_error]));
                }
                _ => {}
            }
        }
        for (provider, state) in &message.state {
            add(message.origin, "opaque state", json!([provider, state]));
        }
    }
    out
}

/// Says what is neither in the written messages nor beside them, once a message and kind. `origins` has the index of the
/// message that each result came from.
///
/// # Errors
/// As [`complete`].
pub(super) fn report(
    messages: &[Message],
    origins: &[usize],
    provider: Provider,
    written: &mut Written,
) -> Result<(), Error> {
    let back = read_history(&written.messages, written.system.as_ref(), provider, Some(&written.side))?;
    let mut found: HashMap<(&str, u64), Vec<Value>> = HashMap::new();
    for (_, what, value) in facts(&back, &[]) {
        found.entry((what, hash(&value))).or_default().push(value);
    }
    let own = provider.as_str();
    let mut last = None;
    for (origin, what, value) in facts(messages, origins) {
        // The provider's own state is in its messages.
        if what == "opaque state" && value.get(0).and_then(Value::as_str) == Some(own) {
            continue;
        }
        let same = found.get_mut(&(what, hash(&value)));
        let at = same.as_ref().and_then(|same| same.iter().position(|known| *known == value));
        if let (Some(same), Some(at)) = (same, at) {
            same.swap_remove(at);
        } else if last != Some((origin, what)) {
            last = Some((origin, what));
            let message = format!("the {what} cannot be told to `{own}` as it is");
            written.issues.push(Issue::of(IssueCode::Converted, format!("/{origin}"), message));
        }
    }
    Ok(())
}
