//! Anthropic's messages: results first in one user message, thinking first in the assistant's.
use super::model::{Answer, Call, Message, Part, Role, push_behind, text_of};
use super::{Notes, Written, chat::left_out, fill, keep_aside, media, object_of, other_fields, provider_id};
use crate::provider::Provider;
use serde_json::{Map, Value, json};

pub(super) fn read(message: &Value, index: usize, out: &mut Vec<Message>) {
    let role = match message.get("role").and_then(Value::as_str) {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::User,
    };
    let whole;
    let blocks = match message.get("content") {
        Some(Value::Array(blocks)) => blocks,
        Some(Value::String(text)) => {
            whole = vec![json!({"type": "text", "text": text})];
            &whole
        }
        _ => &Vec::new(),
    };
    let (mut answers, mut parts, mut template) = (Vec::new(), Vec::new(), Vec::new());
    let (mut reasoning, mut opaque, mut calls) = (String::new(), false, 0);
    for block in blocks {
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match block.get("type").and_then(Value::as_str) {
            Some("text") => {
                // A second text block, or a text after a call, has a place that only the template keeps.
                opaque |= !parts.is_empty() || block.as_object().is_some_and(|block| block.len() > 2);
                parts.push(Part::Text(text("text")));
                template.push(block.clone());
            }
            Some("tool_use") => {
                let input = block.get("input").cloned().unwrap_or_else(|| json!({}));
                parts.push(Part::Call(Call {
                    id: text("id"),
                    name: text("name"),
                    arguments: input.to_string(),
                    object: input.is_object(),
                    custom: false,
                }));
                let mut fields: Map<String, Value> = block.as_object().cloned().unwrap_or_default();
                for key in ["type", "id", "name", "input"] {
                    fields.shift_remove(key);
                }
                opaque |= !fields.is_empty();
                fields.insert("$call".into(), json!(calls));
                calls += 1;
                template.push(Value::Object(fields));
            }
            Some("tool_result") => {
                let mut inner = Vec::new();
                match block.get("content") {
                    Some(Value::String(text)) => inner.push(Part::Text(text.clone())),
                    Some(Value::Array(list)) => inner.extend(list.iter().map(part)),
                    _ => {}
                }
                answers.push(Part::Answer(Answer {
                    id: text("tool_use_id"),
                    name: String::new(),
                    parts: inner,
                    is_error: block.get("is_error") == Some(&Value::Bool(true)),
                }));
            }
            Some("thinking" | "redacted_thinking") => {
                reasoning.push_str(&text("thinking"));
                opaque = true;
                template.push(block.clone());
            }
            _ if role == Role::Assistant => {
                opaque = true;
                template.push(block.clone());
            }
            _ => parts.push(part(block)),
        }
    }
    let mut message = Message::new(role, parts);
    message.reasoning = reasoning;
    message.origin = index;
    if role == Role::Assistant && opaque {
        message.state.insert("anthropic".into(), json!({"content": template}));
    }
    push_behind(out, answers, message);
}

fn part(block: &Value) -> Part {
    if block.get("type").and_then(Value::as_str) == Some("text") {
        return Part::Text(block.get("text").and_then(Value::as_str).unwrap_or_default().to_owned());
    }
    match media::read(block) {
        Some(media) => Part::Media(media),
        None => Part::Opaque(Provider::Anthropic, block.clone()),
    }
}

pub(super) fn write(messages: &[Message], written: &mut Written, notes: &mut Notes) {
    let mut system = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => system.push(message.all_text()),
            Role::Assistant => {
                keep_aside(written, message, Provider::Anthropic);
                let blocks = assistant(message, notes);
                if blocks.is_empty() {
                    notes.note(message.origin, "an assistant message without any content was left out");
                    continue;
                }
                written.messages.push(json!({"role": "assistant", "content": blocks}));
            }
            Role::User | Role::Tool => {
                let blocks: Vec<Value> =
                    message.parts.iter().filter_map(|part| block(part, message.origin, notes)).collect();
                if blocks.is_empty() {
                    notes.note(message.origin, "a message without any content was left out");
                    continue;
                }
                // What the user says after results goes behind them, into the same message.
                let joins = at > 0 && messages.get(at - 1).is_some_and(|before| before.role == Role::Tool);
                let last = written.messages.last_mut().filter(|_| joins).and_then(|last| last.get_mut("content"));
                match (last, message.parts.as_slice()) {
                    (Some(Value::Array(known)), _) => known.extend(blocks),
                    (_, [Part::Text(text)]) => written.messages.push(json!({"role": "user", "content": text})),
                    _ => written.messages.push(json!({"role": "user", "content": blocks})),
                }
            }
        }
    }
    if !system.is_empty() {
        written.system = Some(json!(system.join("\n\n")));
    }
}

fn assistant(message: &Message, notes: &mut Notes) -> Vec<Value> {
    let mut tool_use = |call: &Call, fields: &Map<String, Value>| {
        let input = object_of(call, message.origin, notes);
        let id = provider_id(&call.id, Provider::Anthropic);
        let mut block = json!({"type": "tool_use", "id": id, "name": call.name, "input": input});
        if let Value::Object(block) = &mut block {
            block.extend(other_fields(fields));
        }
        block
    };
    let template = message.state.get("anthropic").and_then(|state| state.get("content")).and_then(Value::as_array);
    if let Some(template) = template {
        return fill(template, message, tool_use);
    }
    let none = Map::new();
    let blocks = (message.parts.iter())
        .filter_map(|part| match part {
            Part::Text(text) if text.is_empty() => None,
            Part::Text(text) => Some(json!({"type": "text", "text": text})),
            Part::Call(call) if call.name.is_empty() => None,
            Part::Call(call) => Some(tool_use(call, &none)),
            _ => None,
        })
        .collect();
    if !message.reasoning.is_empty() {
        notes.note(message.origin, "the reasoning is left out: Anthropic takes none that it has not signed");
    }
    blocks
}

fn block(part: &Part, origin: usize, notes: &mut Notes) -> Option<Value> {
    Some(match part {
        Part::Text(text) if text.is_empty() => return None,
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Json(value) => json!({"type": "text", "text": value.to_string()}),
        Part::Media(media) => match media.to_user_part(Provider::Anthropic) {
            Some(block) => block,
            None => json!({"type": "text", "text": left_out(media, origin, notes)}),
        },
        Part::Answer(answer) => result(answer, origin, notes),
        Part::Opaque(_, value) => value.clone(),
        Part::Call(_) => return None,
    })
}

fn result(answer: &Answer, origin: usize, notes: &mut Notes) -> Value {
    let mut out = Map::new();
    out.insert("type".into(), json!("tool_result"));
    out.insert("tool_use_id".into(), json!(provider_id(&answer.id, Provider::Anthropic)));
    let plain = answer.parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Json(_)));
    if answer.is_error || plain {
        // An error's content is text only, and not empty.
        let mut text = text_of(&answer.parts);
        if text.is_empty() && answer.is_error {
            text = "error".to_owned();
        }
        if !text.is_empty() {
            out.insert("content".into(), json!(text));
        }
    } else {
        let blocks: Vec<Value> = answer.parts.iter().filter_map(|part| block(part, origin, notes)).collect();
        out.insert("content".into(), Value::Array(blocks));
    }
    if answer.is_error {
        out.insert("is_error".into(), json!(true));
    }
    Value::Object(out)
}
