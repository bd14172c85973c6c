//! Items of OpenAI's Responses: calls and results stand beside messages and pair by `call_id`.
use super::model::{Answer, Call, Message, Part, Role, text_of};
use super::side::ERROR_PREFIX;
use super::{Notes, Written, chat::left_out, fill, keep_aside, media, other_fields, provider_id, text_of_arguments};
use crate::provider::{Provider, arguments};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

pub(super) fn read(item: &Value, index: usize, out: &mut Vec<Message>) {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match item.get("type").and_then(Value::as_str) {
        Some("function_call" | "custom_tool_call") => {
            let custom = item.get("type").and_then(Value::as_str) == Some("custom_tool_call");
            let call = Call {
                id: text("call_id"),
                name: text("name"),
                arguments: match arguments::of_value(item, "arguments").filter(|_| !custom) {
                    Some(arguments) => arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned),
                    None => text("input"),
                },
                object: false,
                custom,
            };
            let mut fields = item.as_object().cloned().unwrap_or_default();
            for key in ["call_id", "name", "arguments", "input", "args", "parameters"] {
                fields.shift_remove(key);
            }
            let Some(message) = answer_of_model(out, index) else { return };
            fields.insert("$call".into(), json!(next_call(message)));
            message.parts.push(Part::Call(call));
            keep(message, Value::Object(fields));
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            let mut parts = Vec::new();
            match item.get("output") {
                Some(Value::String(text)) => parts.push(Part::Text(text.clone())),
                Some(Value::Array(list)) => parts.extend(list.iter().map(part)),
                _ => {}
            }
            let failed = matches!(parts.first(), Some(Part::Text(text)) if text.starts_with(ERROR_PREFIX));
            let custom = item.get("type").and_then(Value::as_str) == Some("custom_tool_call_output");
            let (id, name) = (text("call_id"), text("name"));
            let answer = Part::Answer(Answer { id, name, parts, is_error: failed, custom });
            match out.last_mut() {
                Some(last) if last.role == Role::Tool => last.parts.push(answer),
                _ => {
                    let mut message = Message::new(Role::Tool, vec![answer]);
                    message.origin = index;
                    out.push(message);
                }
            }
        }
        Some("message") | None => {
            let role = match item.get("role").and_then(Value::as_str) {
                Some("assistant") => Role::Assistant,
                Some("system" | "developer") => Role::System,
                _ => Role::User,
            };
            let parts: Vec<Part> = match item.get("content") {
                Some(Value::String(text)) => vec![Part::Text(text.clone())],
                Some(Value::Array(list)) => list.iter().map(part).collect(),
                _ => Vec::new(),
            };
            if role == Role::Assistant {
                let Some(message) = answer_of_model(out, index) else { return };
                message.parts.extend(parts);
                keep(message, item.clone());
                return;
            }
            let mut message = Message::new(role, parts);
            message.origin = index;
            out.push(message);
        }
        Some("reasoning") => {
            let Some(message) = answer_of_model(out, index) else { return };
            for part in item.get("summary").and_then(Value::as_array).into_iter().flatten() {
                message.reasoning.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
            }
            keep(message, item.clone());
        }
        Some(_) => {
            let Some(message) = answer_of_model(out, index) else { return };
            keep(message, item.clone());
        }
    }
}

/// The model's message that this item belongs to: items of one answer follow each other.
fn answer_of_model(out: &mut Vec<Message>, index: usize) -> Option<&mut Message> {
    if out.last().is_none_or(|last| last.role != Role::Assistant) {
        let mut message = Message::new(Role::Assistant, Vec::new());
        message.origin = index;
        out.push(message);
    }
    out.last_mut()
}

/// The number of the message's next call: each call left an item with its own.
fn next_call(message: &Message) -> u64 {
    let items = message.state.get("openai_responses").and_then(|state| state.get("output")).and_then(Value::as_array);
    let last = items.into_iter().flatten().rev().find_map(|item| item.get("$call").and_then(Value::as_u64));
    last.map_or(0, |last| last + 1)
}

fn keep(message: &mut Message, item: Value) {
    let state = message.state.entry("openai_responses").or_insert_with(|| json!({"output": []}));
    if let Some(Value::Array(items)) = state.get_mut("output") {
        items.push(item);
    }
}

fn part(value: &Value) -> Part {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match value.get("type").and_then(Value::as_str) {
        Some("input_text" | "output_text" | "text") => Part::Text(text("text")),
        Some("refusal") => Part::Text(text("refusal")),
        _ => media::read(value).map_or_else(|| Part::Opaque(Provider::OpenAiResponses, value.clone()), Part::Media),
    }
}

pub(super) fn write(messages: &[Message], written: &mut Written, notes: &mut Notes) {
    let mut custom: HashMap<&str, bool> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => written.messages.push(json!({"role": "system", "content": message.all_text()})),
            Role::User => {
                let content = content(&message.parts, message.origin, notes);
                written.messages.push(json!({"role": "user", "content": content}));
            }
            Role::Assistant => {
                keep_aside(written, message, Provider::OpenAiResponses);
                custom.extend(message.calls().map(|call| (call.id.as_str(), call.custom)));
                written.messages.extend(assistant(message, notes));
            }
            Role::Tool => {
                let (answers, more): (Vec<&Part>, Vec<&Part>) =
                    message.parts.iter().partition(|part| matches!(part, Part::Answer(_)));
                for part in answers {
                    if let Part::Answer(answer) = part {
                        let custom = custom.get(answer.id.as_str()).copied().unwrap_or(answer.custom);
                        written.messages.push(result(answer, custom, message.origin, notes));
                    }
                }
                if !more.is_empty() {
                    let more: Vec<Part> = more.into_iter().cloned().collect();
                    written.messages.push(json!({"role": "user", "content": content(&more, message.origin, notes)}));
                }
            }
        }
        notes.wrote(at, written);
    }
}

fn content(parts: &[Part], origin: usize, notes: &mut Notes) -> Value {
    if let [Part::Text(text)] = parts {
        return json!(text);
    }
    let list = parts.iter().map(|part| match part {
        Part::Text(text) => json!({"type": "input_text", "text": text}),
        Part::Json(value) => json!({"type": "input_text", "text": value.to_string()}),
        Part::Media(media) => match media.to_user_part(Provider::OpenAiResponses) {
            Some(part) => part,
            None => json!({"type": "input_text", "text": left_out(media, origin, notes)}),
        },
        Part::Opaque(_, value) => value.clone(),
        Part::Call(_) | Part::Answer(_) => json!({"type": "input_text", "text": ""}),
    });
    Value::Array(list.collect())
}

fn assistant(message: &Message, notes: &mut Notes) -> Vec<Value> {
    let mut function_call = |call: &Call, fields: &Map<String, Value>| {
        let id = provider_id(&call.id, Provider::OpenAiResponses);
        let mut item = Map::new();
        item.extend(other_fields(fields));
        let (kind, key) = if call.custom { ("custom_tool_call", "input") } else { ("function_call", "arguments") };
        item.insert("type".into(), json!(kind));
        item.insert("call_id".into(), json!(id));
        let namespace = fields.get("namespace").and_then(Value::as_str).unwrap_or_default();
        let inner = call.name.strip_prefix(namespace).and_then(|name| name.strip_prefix([':', '_']));
        item.insert("name".into(), json!(inner.filter(|_| !namespace.is_empty()).unwrap_or(&call.name)));
        let value = if call.custom { call.arguments.clone() } else { text_of_arguments(call, message.origin, notes) };
        item.insert(key.into(), json!(value));
        Value::Object(item)
    };
    let template =
        message.state.get("openai_responses").and_then(|state| state.get("output")).and_then(Value::as_array);
    if let Some(template) = template {
        let mut items = fill(template, message, function_call);
        for item in items.iter_mut().filter(|item| has_bad_id(item)) {
            if let Some(item) = item.as_object_mut() {
                item.shift_remove("id");
            }
        }
        return items;
    }
    let mut items = Vec::new();
    let text = message.all_text();
    if !text.is_empty() {
        items.push(json!({"role": "assistant", "content": text}));
    }
    let none = Map::new();
    items.extend(message.calls().filter(|call| !call.name.is_empty()).map(|call| function_call(call, &none)));
    if !message.reasoning.is_empty() {
        notes.note(message.origin, "the reasoning is left out: Responses takes only reasoning items of its own");
    }
    items
}

/// What the ids of items begin with that the API checks.
const PREFIXES: [(&str, &str); 2] = [("function_call", "fc"), ("message", "msg")];

/// Whether the API refuses the item for its own id: an item may be without one, but those of servers that only speak like
/// the API (Copilot's are hundreds of characters) are refused. What an `item_reference` names is no id of its own.
pub(super) fn has_bad_id(item: &Value) -> bool {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let (kind, Some(id)) = (text("type"), text("id")) else { return false };
    let begins = |(own, prefix): &(&str, &str)| kind != Some(*own) || id.starts_with(prefix);
    kind != Some("item_reference") && (id.is_empty() || id.len() > 64 || !PREFIXES.iter().all(begins))
}

fn result(answer: &Answer, custom: bool, origin: usize, notes: &mut Notes) -> Value {
    let kind = if custom { "custom_tool_call_output" } else { "function_call_output" };
    let text = text_of(&answer.parts);
    let prefix = if answer.is_error && !text.starts_with("Error") { ERROR_PREFIX } else { "" };
    let output = if answer.parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Json(_))) {
        json!(format!("{prefix}{text}"))
    } else {
        let mut parts = answer.parts.clone();
        match parts.first_mut() {
            Some(Part::Text(text)) => text.insert_str(0, prefix),
            _ if prefix.is_empty() => {}
            _ => parts.insert(0, Part::Text(prefix.trim_end().to_owned())),
        }
        content(&parts, origin, notes)
    };
    json!({"type": kind, "call_id": provider_id(&answer.id, Provider::OpenAiResponses), "output": output})
}
