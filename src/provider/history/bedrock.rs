//! Bedrock's messages: Anthropic's order in dicts of one key.
use super::blocks::{self, Blocks};
use super::model::{Answer, Call, MediaKind, Message, Part, Role, push_behind, text_with};
use super::{Notes, Written, chat::left_out, media, provider_id, words::spelt_out};
use crate::provider::{Provider, arguments, extra};
use serde_json::{Value, json};

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
            let input = arguments::of_value(call, "input").cloned().unwrap_or_else(|| json!({}));
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
                custom: false,
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
    let system = blocks::write::<Bedrock>(messages, written, notes);
    if !system.is_empty() {
        written.system = Some(system.iter().map(|text| Bedrock::text(text)).collect());
    }
}

struct Bedrock;

impl Blocks for Bedrock {
    const PROVIDER: Provider = Provider::Bedrock;
    const SIGNER: &str = "Bedrock's model";

    fn text(text: &str) -> Value {
        json!({"text": text})
    }

    fn data(value: &Value) -> Value {
        if value.is_object() { json!({"json": value}) } else { Self::text(&value.to_string()) }
    }

    fn tool_use(id: String, name: &str, input: Value) -> Value {
        json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
    }

    fn result(answer: &Answer, origin: usize, notes: &mut Notes) -> Value {
        let id = provider_id(&answer.id, Provider::Bedrock);
        let mut content = match (answer.is_error, answer.parts.as_slice()) {
            (true, parts) => {
                let text = text_with(&spelt_out(parts), |media| Some(left_out(media, origin, notes)));
                if text.trim().is_empty() { Vec::new() } else { vec![Self::text(&text)] }
            }
            (false, parts) => {
                let alone = parts.len() == 1;
                let parts = parts.iter().map(|part| match part {
                    // A JSON value stands among text only as text.
                    Part::Json(value) if !alone => Part::Text(value.to_string()),
                    // A user's message may have sounds, a result may not.
                    Part::Media(media) if media.kind == MediaKind::Audio => Part::Text(left_out(media, origin, notes)),
                    part => part.clone(),
                });
                let parts: Vec<Part> = parts.collect();
                blocks::parts::<Self>(&parts, origin, notes)
            }
        };
        if content.is_empty() {
            content = vec![Self::text(if answer.is_error { "error" } else { "(no output)" })];
        }
        let status = if answer.is_error { "error" } else { "success" };
        json!({"toolResult": {"toolUseId": id, "content": content, "status": status}})
    }

    fn complete(message: &mut Value, state: Option<&Value>) {
        extra::put(message, state.and_then(|state| state.get(extra::FIELDS)));
    }
}
