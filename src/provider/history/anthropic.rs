//! Anthropic's messages: results first in one user message, thinking first in the assistant's.
use super::blocks::{self, Blocks};
use super::model::{Answer, Call, Message, Part, Role, push_behind, text_with};
use super::{Notes, Written, chat::left_out, media, provider_id, words::spelt_out};
use crate::provider::{Provider, arguments};
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
                let input = arguments::of_value(block, "input").cloned().unwrap_or_else(|| json!({}));
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
                    custom: false,
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
    let system = blocks::write::<Anthropic>(messages, written, notes);
    if !system.is_empty() {
        written.system = Some(json!(system.join("\n\n")));
    }
}

struct Anthropic;

impl Blocks for Anthropic {
    const PROVIDER: Provider = Provider::Anthropic;
    const SIGNER: &str = "Anthropic";

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn tool_use(id: String, name: &str, input: Value) -> Value {
        json!({"type": "tool_use", "id": id, "name": name, "input": input})
    }

    fn lone_text(text: &str) -> Value {
        json!(text)
    }

    fn result(answer: &Answer, origin: usize, notes: &mut Notes) -> Value {
        let mut out = Map::new();
        out.insert("type".into(), json!("tool_result"));
        out.insert("tool_use_id".into(), json!(provider_id(&answer.id, Provider::Anthropic)));
        let plain = answer.parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Json(_)));
        if answer.is_error || plain {
            // An error's content is text only, and not empty.
            let mut text = text_with(&spelt_out(&answer.parts), |media| Some(left_out(media, origin, notes)));
            if text.trim().is_empty() && answer.is_error {
                text = "error".to_owned();
            }
            if !text.trim().is_empty() {
                out.insert("content".into(), json!(text));
            }
        } else {
            out.insert("content".into(), Value::Array(blocks::parts::<Self>(&answer.parts, origin, notes)));
        }
        if answer.is_error {
            out.insert("is_error".into(), json!(true));
        }
        Value::Object(out)
    }
}
