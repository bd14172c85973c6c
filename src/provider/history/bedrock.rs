//! Bedrock's messages: Anthropic's order in dicts of one key.
use super::model::{Answer, Call, Message, Part, Role, push_behind, text_of};
use super::{Notes, Written, chat::left_out, fill, keep_aside, media, object_of, other_fields, provider_id};
use crate::provider::{Provider, extra};
use serde_json::{Map, Value, json};

pub(super) fn read(message: &Value, index: usize, out: &mut Vec<Message>) {
    let role =
        if message.get("role").and_then(Value::as_str) == Some("assistant") { Role::Assistant } else { Role::User };
    let (mut answers, mut parts, mut template) = (Vec::new(), Vec::new(), Vec::new());
    let (mut reasoning, mut opaque, mut calls) = (String::new(), false, 0);
    for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
        let string = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(text) = block.get("text").and_then(Value::as_str) {
            opaque |= !parts.is_empty();
            parts.push(Part::Text(text.to_owned()));
            template.push(block.clone());
        } else if let Some(call) = block.get("toolUse").filter(|call| call.get("type").is_none()) {
            let input = call.get("input").cloned().unwrap_or_else(|| json!({}));
            parts.push(Part::Call(Call {
                id: string(call, "toolUseId"),
                name: string(call, "name"),
                arguments: input.to_string(),
                object: input.is_object(),
                custom: false,
            }));
            template.push(json!({"$call": calls}));
            calls += 1;
        } else if let Some(result) = block.get("toolResult") {
            let inner = result.get("content").and_then(Value::as_array).into_iter().flatten().map(part).collect();
            answers.push(Part::Answer(Answer {
                id: string(result, "toolUseId"),
                name: String::new(),
                parts: inner,
                is_error: result.get("status").and_then(Value::as_str) == Some("error"),
            }));
        } else if role == Role::Assistant {
            if let Some(text) = block.pointer("/reasoningContent/reasoningText/text").and_then(Value::as_str) {
                reasoning.push_str(text);
            }
            opaque = true;
            template.push(block.clone());
        } else {
            parts.push(part(block));
        }
    }
    let mut message = Message::new(role, parts);
    message.reasoning = reasoning;
    message.origin = index;
    if role == Role::Assistant && opaque {
        message.state.insert("bedrock".into(), json!({"content": template}));
    }
    push_behind(out, answers, message);
}

fn part(block: &Value) -> Part {
    if let Some(text) = block.get("text").and_then(Value::as_str) {
        return Part::Text(text.to_owned());
    }
    if let Some(json) = block.get("json") {
        return Part::Json(json.clone());
    }
    match media::read(block) {
        Some(media) => Part::Media(media),
        None => Part::Opaque(Provider::Bedrock, block.clone()),
    }
}

pub(super) fn write(messages: &[Message], written: &mut Written, notes: &mut Notes) {
    let mut system = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => system.push(json!({"text": message.all_text()})),
            Role::Assistant => {
                keep_aside(written, message, Provider::Bedrock);
                let content = assistant(message, notes);
                if content.is_empty() {
                    notes.note(message.origin, "an assistant message without any content was left out");
                    continue;
                }
                let mut written_message = json!({"role": "assistant", "content": content});
                let state = message.state.get("bedrock");
                extra::put(&mut written_message, state.and_then(|state| state.get(extra::FIELDS)));
                written.messages.push(written_message);
            }
            Role::User | Role::Tool => {
                let blocks: Vec<Value> =
                    message.parts.iter().filter_map(|part| block(part, message.origin, notes)).collect();
                if blocks.is_empty() {
                    notes.note(message.origin, "a message without any content was left out");
                    continue;
                }
                let joins = at > 0 && messages.get(at - 1).is_some_and(|before| before.role == Role::Tool);
                let last = written.messages.last_mut().filter(|_| joins).and_then(|last| last.get_mut("content"));
                match last {
                    Some(Value::Array(known)) => known.extend(blocks),
                    _ => written.messages.push(json!({"role": "user", "content": blocks})),
                }
            }
        }
    }
    if !system.is_empty() {
        written.system = Some(Value::Array(system));
    }
}

fn assistant(message: &Message, notes: &mut Notes) -> Vec<Value> {
    let mut tool_use = |call: &Call, fields: &Map<String, Value>| {
        let input = object_of(call, message.origin, notes);
        let id = provider_id(&call.id, Provider::Bedrock);
        let mut block = json!({"toolUse": {"toolUseId": id, "name": call.name, "input": input}});
        extra::put(&mut block, Some(&Value::Object(other_fields(fields).collect())));
        block
    };
    let template = message.state.get("bedrock").and_then(|state| state.get("content")).and_then(Value::as_array);
    if let Some(template) = template {
        return fill(template, message, tool_use);
    }
    let none = Map::new();
    let content = (message.parts.iter())
        .filter_map(|part| match part {
            Part::Text(text) if text.is_empty() => None,
            Part::Text(text) => Some(json!({"text": text})),
            Part::Call(call) if call.name.is_empty() => None,
            Part::Call(call) => Some(tool_use(call, &none)),
            _ => None,
        })
        .collect();
    if !message.reasoning.is_empty() {
        notes.note(message.origin, "the reasoning is left out: Bedrock takes none that its model has not signed");
    }
    content
}

fn block(part: &Part, origin: usize, notes: &mut Notes) -> Option<Value> {
    Some(match part {
        Part::Text(text) if text.is_empty() => return None,
        Part::Text(text) => json!({"text": text}),
        Part::Json(value @ Value::Object(_)) => json!({"json": value}),
        Part::Json(value) => json!({"text": value.to_string()}),
        Part::Media(media) => match media.to_user_part(Provider::Bedrock) {
            Some(block) => block,
            None => json!({"text": left_out(media, origin, notes)}),
        },
        Part::Answer(answer) => result(answer, origin, notes),
        Part::Opaque(_, value) => value.clone(),
        Part::Call(_) => return None,
    })
}

fn result(answer: &Answer, origin: usize, notes: &mut Notes) -> Value {
    let mut content: Vec<Value> = match answer.is_error {
        true => vec![json!({"text": text_of(&answer.parts)})],
        // A JSON value stands among text only as text.
        false if answer.parts.len() > 1 => {
            let parts = answer.parts.iter().map(|part| match part {
                Part::Json(value) => Part::Text(value.to_string()),
                part => part.clone(),
            });
            parts.filter_map(|part| block(&part, origin, notes)).collect()
        }
        false => answer.parts.iter().filter_map(|part| block(part, origin, notes)).collect(),
    };
    if content.is_empty() || content.first() == Some(&json!({"text": ""})) {
        content = vec![json!({"text": if answer.is_error { "error" } else { "(no output)" }})];
    }
    let status = if answer.is_error { "error" } else { "success" };
    json!({"toolResult": {"toolUseId": provider_id(&answer.id, Provider::Bedrock), "content": content, "status": status}})
}
