//! Gemini's contents: calls and results are parts; results pair by order and name.
use super::model::{Answer, Call, Message, Part, Role, push_behind, text_with};
use super::{Notes, Written, chat::left_out, fill, ids, keep_aside, media, object_of};
use crate::provider::{Provider, arguments, extra};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

fn either<'v>(value: &'v Value, camel: &str, snake: &str) -> Option<&'v Value> {
    value.get(camel).or_else(|| value.get(snake)).filter(|value| !value.is_null())
}

pub(super) fn read(message: &Value, index: usize, out: &mut Vec<Message>) {
    let role = if message.get("role").and_then(Value::as_str) == Some("model") { Role::Assistant } else { Role::User };
    let (mut answers, mut parts, mut template) = (Vec::new(), Vec::new(), Vec::new());
    let (mut reasoning, mut opaque, mut calls) = (String::new(), false, 0);
    for part in message.get("parts").and_then(Value::as_array).into_iter().flatten() {
        let signature = either(part, "thoughtSignature", "thought_signature").cloned();
        opaque |= signature.is_some();
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(call) = either(part, "functionCall", "function_call") {
            let args =
                arguments::of_value(call, "args").filter(|args| !args.is_null()).cloned().unwrap_or_else(|| json!({}));
            let id = text(call, "id");
            let mut fields = Map::new();
            fields.insert("$call".into(), json!(calls));
            if id.is_empty() {
                fields.insert("$id".into(), json!(false));
            }
            if let Some(signature) = signature {
                fields.insert("thoughtSignature".into(), signature);
            }
            template.push(Value::Object(fields));
            parts.push(Part::Call(Call {
                id: if id.is_empty() { format!("call_{index}_{calls}") } else { id },
                name: text(call, "name"),
                arguments: args.to_string(),
                object: args.is_object(),
                custom: false,
            }));
            calls += 1;
            // A call of Gemini's own is told from one that needs a stand-in for its signature.
            opaque = true;
        } else if let Some(result) = either(part, "functionResponse", "function_response") {
            answers.push(Part::Answer(answer(result)));
        } else if let Some(value) = part.get("text").and_then(Value::as_str) {
            template.push(part.clone());
            if part.get("thought") == Some(&Value::Bool(true)) {
                reasoning.push_str(value);
                opaque = true;
            } else {
                opaque |= !parts.is_empty() && role == Role::Assistant;
                parts.push(Part::Text(value.to_owned()));
            }
        } else if role == Role::Assistant {
            opaque = true;
            template.push(part.clone());
        } else {
            parts.push(media::read(part).map_or_else(|| Part::Opaque(Provider::Gemini, part.clone()), Part::Media));
        }
    }
    let mut message = Message::new(role, parts);
    message.reasoning = reasoning;
    message.origin = index;
    if role == Role::Assistant && opaque {
        message.state.insert("gemini".into(), json!({"parts": template}));
    }
    push_behind(out, answers, message);
}

/// Appends what the model says in a second content to the first one.
pub(super) fn join(first: &mut Message, second: Message) {
    let calls = first.calls().count();
    if !(first.state.is_empty() && second.state.is_empty()) {
        let mut parts = template(first);
        parts.extend(template(&second).into_iter().map(|mut part| {
            let number = part.get("$call").and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
            if let (Some(number), Some(slot)) = (number, part.get_mut("$call")) {
                *slot = json!(number + calls);
            }
            part
        }));
        let state = first.state.entry("gemini").or_insert_with(|| json!({}));
        if let Value::Object(state) = state {
            state.insert("parts".into(), Value::Array(parts));
        }
    }
    first.reasoning.push_str(&second.reasoning);
    first.parts.extend(second.parts);
}

/// The parts of a model's content as its state keeps them: each call by its number.
fn template(message: &Message) -> Vec<Value> {
    let known = message.state.get("gemini").and_then(|state| state.get("parts")).and_then(Value::as_array);
    if let Some(parts) = known {
        return parts.clone();
    }
    let mut calls = 0..;
    let parts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(json!({"text": text})),
        Part::Call(_) => Some(json!({"$call": calls.next()})),
        _ => None,
    });
    parts.collect()
}

fn answer(result: &Value) -> Answer {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut parts = Vec::new();
    let response = result.get("response").cloned().unwrap_or_default();
    let single = response.as_object().filter(|object| object.len() == 1);
    let error = single.and_then(|object| object.get("error"));
    let output = single.and_then(|object| object.get("output").or_else(|| object.get("result")));
    match error.or(output).unwrap_or(&response) {
        Value::String(text) => parts.push(Part::Text(text.clone())),
        Value::Null => {}
        value => parts.push(Part::Json(value.clone())),
    }
    for part in result.get("parts").and_then(Value::as_array).into_iter().flatten() {
        parts.push(media::read(part).map_or_else(|| Part::Opaque(Provider::Gemini, part.clone()), Part::Media));
    }
    Answer { id: text("id"), name: text("name"), parts, is_error: error.is_some(), custom: false }
}

pub(super) fn write(messages: &[Message], written: &mut Written, notes: &mut Notes) {
    let mut system = Vec::new();
    // Ids that the history's Gemini calls do not have must not be in their results either.
    let mut without: HashSet<String> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => system.push(json!({"text": message.all_text()})),
            Role::Assistant => {
                let parts = assistant(message, &mut without, notes);
                if parts.is_empty() {
                    notes.note(message.origin, "an assistant message without any content was left out");
                    continue;
                }
                keep_aside(written, message, Provider::Gemini);
                let mut written_message = json!({"role": "model", "parts": parts});
                let state = message.state.get("gemini");
                extra::put(&mut written_message, state.and_then(|state| state.get(extra::FIELDS)));
                written.messages.push(written_message);
            }
            Role::User => {
                let parts: Vec<Value> =
                    message.parts.iter().filter_map(|part| user(part, message.origin, notes)).collect();
                // What stood beside results of Gemini's own stands beside them again.
                let before = at.checked_sub(1).and_then(|before| messages.get(before));
                let joins = before.is_some_and(|it| it.role == Role::Tool && it.origin == message.origin);
                let last = written.messages.last_mut().filter(|_| joins).and_then(|last| last.get_mut("parts"));
                match last {
                    _ if parts.is_empty() => {}
                    Some(Value::Array(known)) => {
                        known.extend(parts);
                        notes.joined.insert(at);
                    }
                    _ => written.messages.push(json!({"role": "user", "parts": parts})),
                }
            }
            Role::Tool => {
                let answers =
                    message.answers().map(|answer| result(answer, &without, message.origin, notes)).collect::<Vec<_>>();
                let more = message.parts.iter().filter(|part| !matches!(part, Part::Answer(_)));
                let more: Vec<Value> = more.filter_map(|part| user(part, message.origin, notes)).collect();
                written.messages.push(json!({"role": "user", "parts": answers}));
                if !more.is_empty() {
                    written.messages.push(json!({"role": "user", "parts": more}));
                }
            }
        }
        notes.wrote(at, written);
    }
    if !system.is_empty() {
        written.system = Some(json!({"parts": system}));
    }
}

/// The stand-in that Gemini documents for a call it has not made itself.
pub(super) const FOREIGN: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

fn assistant(message: &Message, without: &mut HashSet<String>, notes: &mut Notes) -> Vec<Value> {
    let template = message.state.get("gemini").and_then(|state| state.get("parts")).and_then(Value::as_array);
    let mut function_call = |call: &Call, fields: &Map<String, Value>| {
        let mut inner = Map::new();
        if fields.get("$id") == Some(&Value::Bool(false)) || ids::is_made_up(&call.id) {
            without.insert(call.id.clone());
        } else {
            inner.insert("id".into(), json!(call.id));
        }
        inner.insert("name".into(), json!(call.name));
        inner.insert("args".into(), object_of(call, message.origin, notes));
        let mut part = Map::new();
        part.insert("functionCall".into(), Value::Object(inner));
        let mut part = Value::Object(part);
        extra::put(&mut part, Some(&Value::Object(super::other_fields(fields).collect())));
        part
    };
    if let Some(template) = template {
        return fill(template, message, function_call);
    }
    let mut fields = Map::new();
    let (mut out, mut signed) = (Vec::new(), false);
    for part in &message.parts {
        match part {
            Part::Text(text) if !text.is_empty() => out.push(json!({"text": text})),
            Part::Call(call) if !call.name.is_empty() => {
                fields.clear();
                // Only the first call of a turn is signed; without a signature of its own Gemini 3 wants the stand-in.
                if !std::mem::replace(&mut signed, true) {
                    fields.insert("thoughtSignature".into(), json!(FOREIGN));
                }
                out.push(function_call(call, &fields));
            }
            _ => {}
        }
    }
    if !message.reasoning.is_empty() {
        notes.note(message.origin, "the reasoning is left out: Gemini takes none that is not its own");
    }
    out
}

fn user(part: &Part, origin: usize, notes: &mut Notes) -> Option<Value> {
    Some(match part {
        Part::Text(text) => json!({"text": text}),
        Part::Json(value) => json!({"text": value.to_string()}),
        Part::Media(media) => match media.gemini_part() {
            Some(part) => part,
            None => json!({"text": left_out(media, origin, notes)}),
        },
        Part::Opaque(_, value) => value.clone(),
        Part::Call(_) | Part::Answer(_) => return None,
    })
}

fn result(answer: &Answer, without: &HashSet<String>, origin: usize, notes: &mut Notes) -> Value {
    let sent = |part: &Part| matches!(part, Part::Media(media) if media.gemini_part().is_some());
    let value = match answer.parts.iter().filter(|part| !sent(part)).collect::<Vec<_>>().as_slice() {
        [Part::Json(value)] => value.clone(),
        _ => json!(text_with(&answer.parts, |media| {
            media.gemini_part().is_none().then(|| left_out(media, origin, notes))
        })),
    };
    let key = if answer.is_error { "error" } else { "output" };
    let mut inner = Map::new();
    if !answer.id.is_empty() && !without.contains(&answer.id) && !ids::is_made_up(&answer.id) {
        inner.insert("id".into(), json!(answer.id));
    }
    inner.insert("name".into(), json!(answer.name));
    inner.insert("response".into(), json!({key: value}));
    let media: Vec<Value> = (answer.parts.iter())
        .filter_map(|part| match part {
            Part::Media(media) => media.gemini_part(),
            _ => None,
        })
        .collect();
    if !media.is_empty() {
        inner.insert("parts".into(), Value::Array(media));
    }
    json!({"functionResponse": inner})
}
