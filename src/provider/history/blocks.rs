//! Writes messages for the APIs whose content is a list of blocks, calls and results among them: Anthropic and Bedrock.
//! Results come first in one user message, and what the user says goes behind them.
use super::model::{Answer, Call, Message, Part, Role};
use super::{Notes, Written, chat::left_out, fill, keep_aside, object_of, other_fields, provider_id};
use crate::provider::{Provider, extra};
use serde_json::{Map, Value, json};

/// How one of these APIs spells blocks. Both refuse a text of nothing but white space: none is written.
pub(super) trait Blocks {
    const PROVIDER: Provider;
    /// Who signs reasoning, so that it may come back.
    const SIGNER: &str;

    fn text(text: &str) -> Value;

    /// A JSON value, in a result.
    fn data(value: &Value) -> Value {
        Self::text(&value.to_string())
    }

    fn tool_use(id: String, name: &str, input: Value) -> Value;

    fn result(answer: &Answer, origin: usize, notes: &mut Notes) -> Value;

    /// The content of a user's message that is nothing but a text.
    fn lone_text(text: &str) -> Value {
        json!([Self::text(text)])
    }

    /// Puts what is known of an assistant's message beside its blocks into it.
    fn complete(_message: &mut Value, _state: Option<&Value>) {}
}

/// Writes all messages but the system's; its texts are returned.
pub(super) fn write<B: Blocks>(messages: &[Message], written: &mut Written, notes: &mut Notes) -> Vec<String> {
    let mut system = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => system.push(message.all_text()),
            Role::Assistant => {
                let content = assistant::<B>(message, notes);
                if content.is_empty() {
                    notes.note(message.origin, "an assistant message without any content was left out");
                    continue;
                }
                keep_aside(written, message, B::PROVIDER);
                let mut own = json!({"role": "assistant", "content": content});
                B::complete(&mut own, message.state.get(B::PROVIDER.as_str()));
                written.messages.push(own);
            }
            Role::User | Role::Tool => {
                let blocks = parts::<B>(&message.parts, message.origin, notes);
                if blocks.is_empty() {
                    notes.note(message.origin, "a message without any content was left out");
                    continue;
                }
                let joins = at > 0 && messages.get(at - 1).is_some_and(|before| before.role == Role::Tool);
                let last = written.messages.last_mut().filter(|_| joins).and_then(|last| last.get_mut("content"));
                let content = match (last, message.parts.as_slice()) {
                    (Some(Value::Array(known)), _) => {
                        known.extend(blocks);
                        notes.joined.insert(at);
                        continue;
                    }
                    (_, [Part::Text(text)]) => B::lone_text(text),
                    _ => Value::Array(blocks),
                };
                written.messages.push(json!({"role": "user", "content": content}));
            }
        }
        notes.wrote(at, written);
    }
    system
}

fn assistant<B: Blocks>(message: &Message, notes: &mut Notes) -> Vec<Value> {
    let mut tool_use = |call: &Call, fields: &Map<String, Value>| {
        let input = object_of(call, message.origin, notes);
        let mut block = B::tool_use(provider_id(&call.id, B::PROVIDER), &call.name, input);
        extra::put(&mut block, Some(&Value::Object(other_fields(fields).collect())));
        block
    };
    let state = message.state.get(B::PROVIDER.as_str());
    if let Some(template) = state.and_then(|state| state.get("content")).and_then(Value::as_array) {
        let mut blocks = fill(template, message, tool_use);
        blocks.retain(|block| !block.get("text").and_then(Value::as_str).is_some_and(|text| text.trim().is_empty()));
        return blocks;
    }
    let none = Map::new();
    let blocks = (message.parts.iter())
        .filter_map(|part| match part {
            Part::Text(text) if text.trim().is_empty() => None,
            Part::Text(text) => Some(B::text(text)),
            Part::Call(call) if call.name.is_empty() => None,
            Part::Call(call) => Some(tool_use(call, &none)),
            _ => None,
        })
        .collect();
    if !message.reasoning.is_empty() {
        notes.note(message.origin, format!("the reasoning is left out: {} has not signed it", B::SIGNER));
    }
    blocks
}

/// What a user's message or a result holds.
pub(super) fn parts<B: Blocks>(parts: &[Part], origin: usize, notes: &mut Notes) -> Vec<Value> {
    let block = |part: &Part| {
        Some(match part {
            Part::Text(text) if text.trim().is_empty() => return None,
            Part::Text(text) => B::text(text),
            Part::Json(value) => B::data(value),
            Part::Media(media) => match media.to_user_part(B::PROVIDER) {
                Some(block) => block,
                None => B::text(&left_out(media, origin, notes)),
            },
            Part::Answer(answer) => B::result(answer, origin, notes),
            Part::Opaque(_, value) => value.clone(),
            Part::Call(_) => return None,
        })
    };
    parts.iter().filter_map(block).collect()
}
