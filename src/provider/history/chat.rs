//! Messages of Chat Completions and its relatives: OpenAI, Mistral, Cohere, Ollama.
use super::model::{Answer, Call, Media, MediaKind, Message, Part, Role, text_of, text_with};
use super::reasoning::{claude_blocks, text_of_details};
use super::side::ERROR_PREFIX;
use super::{Notes, Written, gemini, keep_aside, media, object_of, provider_id, text_of_arguments};
use crate::provider::{Provider, arguments, extra};
use serde_json::{Map, Value, json};

/// Fields of an assistant message that are state of its provider.
const STATE: [&str; 5] = ["reasoning_content", "reasoning", "reasoning_details", "refusal", "audio"];

pub(super) fn read(message: &Value, index: usize, provider: Provider, out: &mut Vec<Message>) {
    let role = match message.get("role").and_then(Value::as_str) {
        Some("system" | "developer") => Role::System,
        Some("assistant" | "model") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => Role::User,
    };
    let mut parts = Vec::new();
    let mut reasoning = String::new();
    let mut state = Map::new();
    match message.get("content") {
        Some(Value::String(text)) if !text.is_empty() => parts.push(Part::Text(text.clone())),
        Some(Value::Array(list)) => {
            list.iter().for_each(|part| read_part(part, provider, &mut parts, &mut reasoning, &mut state))
        }
        // A tool's result, as the tool gave it.
        Some(value @ (Value::Object(_) | Value::Number(_) | Value::Bool(_))) if role == Role::Tool => {
            parts.push(Part::Json(value.clone()));
        }
        _ => {}
    }
    for image in message.get("images").and_then(Value::as_array).into_iter().flatten() {
        if let Some(data) = image.as_str() {
            parts.push(Part::Media(Media::base64(sniff(data), data)));
        }
    }
    if role == Role::Tool {
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = if message.get("tool_name").is_some() { text("tool_name") } else { text("name") };
        let failed = matches!(parts.first(), Some(Part::Text(text)) if text.starts_with(ERROR_PREFIX));
        let answer = Answer { id: text("tool_call_id"), name, parts, is_error: failed, custom: false };
        let mut tool = Message::new(Role::Tool, vec![Part::Answer(answer)]);
        tool.origin = index;
        // Results of one turn are one message.
        match out.last_mut() {
            Some(last) if last.role == Role::Tool => last.parts.append(&mut tool.parts),
            _ => out.push(tool),
        }
        return;
    }
    if role == Role::Assistant {
        if let Some(plan) = message.get("tool_plan").and_then(Value::as_str).filter(|plan| !plan.is_empty()) {
            parts.insert(0, Part::Text(plan.to_owned()));
        }
        read_calls(message, index, provider, &mut parts);
        for key in STATE {
            if let Some(value) = message.get(key).filter(|value| !value.is_null()) {
                state.insert(key.to_owned(), value.clone());
            }
        }
        for key in ["reasoning_content", "reasoning", "thinking"] {
            if let Some(text) = message.get(key).and_then(Value::as_str).filter(|_| reasoning.is_empty()) {
                text.clone_into(&mut reasoning);
            }
        }
        if reasoning.is_empty() {
            reasoning = text_of_details(message);
        }
        if let Some(refusal) = message.get("refusal").and_then(Value::as_str).filter(|text| !text.is_empty())
            && !parts.iter().any(|part| matches!(part, Part::Text(_)))
        {
            parts.insert(0, Part::Text(refusal.to_owned()));
        }
    }
    let raw = message;
    let mut message = Message::new(role, parts);
    message.reasoning = reasoning;
    message.origin = index;
    if !state.is_empty() {
        message.state.insert(provider.as_str().to_owned(), Value::Object(state));
    }
    if let Some(parts) = signed_parts(raw, &message.parts) {
        message.state.insert("gemini".to_owned(), json!({ "parts": parts }));
    }
    if let Some(blocks) = claude_blocks(raw, &message.parts).filter(|_| role == Role::Assistant) {
        message.state.insert("anthropic".to_owned(), json!({ "content": blocks }));
    }
    out.push(message);
}

fn read_part(
    part: &Value,
    provider: Provider,
    parts: &mut Vec<Part>,
    reasoning: &mut String,
    state: &mut Map<String, Value>,
) {
    let text = |key: &str| part.get(key).and_then(Value::as_str);
    match text("type") {
        Some("text" | "input_text" | "output_text") => {
            parts.push(Part::Text(text("text").unwrap_or_default().to_owned()))
        }
        Some("refusal") => parts.push(Part::Text(text("refusal").unwrap_or_default().to_owned())),
        Some("thinking") => {
            match part.get("thinking") {
                Some(Value::String(text)) => reasoning.push_str(text),
                Some(Value::Array(list)) => {
                    list.iter().filter_map(|p| p.get("text")?.as_str()).for_each(|text| reasoning.push_str(text));
                }
                _ => {}
            }
            match state.entry("thinking").or_insert_with(|| json!([])) {
                Value::Array(chunks) => chunks.push(part.clone()),
                other => *other = json!([part]),
            }
        }
        Some("document") if part.pointer("/document/data").is_some() => {
            let data = part.pointer("/document/data").cloned().unwrap_or_default();
            parts.push(Part::Json(data));
        }
        _ => match (part, media::read(part)) {
            (Value::String(text), _) => parts.push(Part::Text(text.clone())),
            (_, Some(found)) => parts.push(Part::Media(found)),
            _ => parts.push(Part::Opaque(provider, part.clone())),
        },
    }
}

/// Where Google's own API in this shape has the signature of a call.
const SIGNATURE: &str = "/extra_content/google/thought_signature";

/// The parts of a model's message as Gemini's own record of them, with the signatures that Google's API in this shape gave
/// its calls; `None` if it gave none.
fn signed_parts(message: &Value, parts: &[Part]) -> Option<Vec<Value>> {
    let calls = message.get("tool_calls")?.as_array()?;
    signed_by(parts, calls.len(), |call| calls.get(call)?.pointer(SIGNATURE))
}

/// As [`signed_parts`], of an answer: `fields` are what its `count` calls had beside their own, by number.
pub(super) fn signed_calls(fields: &Value, parts: &[Part], count: usize) -> Option<Vec<Value>> {
    signed_by(parts, count, |call| fields.get(call.to_string())?.pointer(SIGNATURE))
}

fn signed_by<'v>(parts: &[Part], count: usize, signature: impl Fn(usize) -> Option<&'v Value>) -> Option<Vec<Value>> {
    let signature = |call: usize| signature(call).filter(|signature| signature.is_string());
    (0..count).find_map(signature)?;
    let mut number = 0..;
    let parts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(json!({"text": text})),
        Part::Call(_) => {
            let number = number.next()?;
            let mut part = Map::new();
            part.insert("$call".into(), json!(number));
            part.extend(signature(number).map(|signature| ("thoughtSignature".to_owned(), signature.clone())));
            Some(Value::Object(part))
        }
        _ => None,
    });
    Some(parts.collect())
}

fn read_calls(message: &Value, index: usize, provider: Provider, parts: &mut Vec<Part>) {
    let legacy = message.get("function_call").filter(|call| call.is_object());
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    for (number, call) in calls.chain(legacy).enumerate() {
        let custom = call.get("custom").filter(|custom| custom.is_object());
        let function = custom.or_else(|| call.get("function")).unwrap_or(call);
        let arguments = match custom {
            Some(custom) => custom.get("input"),
            None => arguments::of_value(function, "arguments"),
        };
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let id = match call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
            Some(id) => id.to_owned(),
            None => format!("call_{index}_{number}"),
        };
        parts.push(Part::Call(Call {
            id,
            name: name.to_owned(),
            arguments: match arguments {
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => "{}".to_owned(),
                Some(value) => value.to_string(),
            },
            object: match arguments {
                Some(Value::Object(_)) => true,
                // No arguments are an empty object there, as its server reads them.
                None | Some(Value::Null) => provider == Provider::Ollama,
                Some(_) => false,
            },
            custom: custom.is_some(),
        }));
    }
}

pub(super) fn write(messages: &[Message], provider: Provider, written: &mut Written, notes: &mut Notes) {
    // Media of results follow the results of a turn, as a user's message.
    let mut after: Vec<Part> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match message.role {
            Role::System => written.messages.push(json!({"role": "system", "content": message.all_text()})),
            Role::User => written.messages.push(user(&message.parts, provider, message.origin, notes)),
            Role::Assistant => {
                keep_aside(written, message, provider);
                written.messages.push(assistant(message, provider, notes));
            }
            Role::Tool => {
                for part in &message.parts {
                    match part {
                        Part::Answer(answer) => result(answer, provider, written, &mut after),
                        other => after.push(other.clone()),
                    }
                }
            }
        }
        if messages.get(index + 1).is_none_or(|next| next.role != Role::Tool) {
            follow(&mut after, provider, written, message.origin, notes);
        }
        notes.wrote(index, written);
    }
}

fn follow(after: &mut Vec<Part>, provider: Provider, written: &mut Written, origin: usize, notes: &mut Notes) {
    if !after.is_empty() {
        written.messages.push(user(after, provider, origin, notes));
        after.clear();
    }
}

fn user(parts: &[Part], provider: Provider, origin: usize, notes: &mut Notes) -> Value {
    let plain = parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Json(_)));
    if plain && parts.len() <= 1 {
        return json!({"role": "user", "content": text_of(parts)});
    }
    if provider == Provider::Ollama {
        let mut images = Vec::new();
        let text = text_with(parts, |media| match media {
            Media { kind: MediaKind::Image, source: super::Source::Base64(data), .. } => {
                images.push(json!(data));
                None
            }
            media => Some(left_out(media, origin, notes)),
        });
        let mut message = json!({"role": "user", "content": text});
        if let (false, Value::Object(message)) = (images.is_empty(), &mut message) {
            message.insert("images".into(), Value::Array(images));
        }
        return message;
    }
    let list: Vec<Value> = (parts.iter())
        .map(|part| match part {
            Part::Text(text) => text_part(text),
            Part::Json(value) => text_part(&value.to_string()),
            Part::Media(media) => match media.to_user_part(provider) {
                Some(part) => part,
                None => text_part(&left_out(media, origin, notes)),
            },
            Part::Opaque(_, value) => value.clone(),
            Part::Call(_) | Part::Answer(_) => text_part(""),
        })
        .collect();
    json!({"role": "user", "content": list})
}

/// The words that stand for a medium that cannot be sent: its own, where it has nothing else.
pub(super) fn left_out(media: &Media, origin: usize, notes: &mut Notes) -> String {
    if let Some(text) = media.to_text() {
        notes.note(origin, format!("{} cannot be sent to this provider; its text is told", media.describe()));
        return text;
    }
    notes.note(origin, format!("{} cannot be sent to this provider; words stand for it", media.describe()));
    format!("[{}: not shown]", media.describe())
}

fn assistant(message: &Message, provider: Provider, notes: &mut Notes) -> Value {
    let state = message.state.get(provider.as_str()).and_then(Value::as_object);
    let kept = |key: &str| state.and_then(|state| state.get(key));
    let calls = calls(message, provider, notes);
    let text = message.all_text();
    let mut out = Map::new();
    out.insert("role".into(), json!("assistant"));
    match provider {
        Provider::Cohere if !calls.is_empty() => {
            if !text.is_empty() {
                out.insert("tool_plan".into(), json!(text));
            }
        }
        Provider::OpenAi if text.is_empty() && !calls.is_empty() => drop(out.insert("content".into(), Value::Null)),
        _ => drop(out.insert("content".into(), json!(text))),
    }
    let reasoning = Some(message.reasoning.as_str()).filter(|reasoning| !reasoning.is_empty());
    match (provider, reasoning) {
        (Provider::Ollama, Some(reasoning)) => drop(out.insert("thinking".into(), json!(reasoning))),
        (Provider::Mistral, _) => {
            if let Some(Value::Array(chunks)) = kept("thinking") {
                let said = (!text.is_empty()).then_some(&*text);
                out.insert("content".into(), Value::Array(chunks.iter().cloned().chain(said.map(text_part)).collect()));
            }
        }
        (Provider::Cohere, Some(reasoning)) if state.is_some() => {
            let thought = json!({"type": "thinking", "thinking": reasoning});
            let said = (!text.is_empty() && calls.is_empty()).then_some(&*text);
            out.insert("content".into(), Value::Array([thought].into_iter().chain(said.map(text_part)).collect()));
        }
        (Provider::Ollama | Provider::Cohere, _) => {}
        _ => {
            let state = STATE.into_iter().filter_map(|key| Some((key.to_owned(), kept(key)?.clone())));
            out.extend(state);
            if out.get("refusal").and_then(Value::as_str).is_some_and(|refusal| refusal == text) {
                out.insert("content".into(), Value::Null);
            }
        }
    }
    if reasoning.is_some() && provider != Provider::Ollama && state.is_none() {
        notes.note(message.origin, "the reasoning is left out: this provider takes none back that is not its own");
    }
    if !calls.is_empty() {
        out.insert("tool_calls".into(), Value::Array(calls));
    }
    let own = message.parts.iter().filter_map(|part| match part {
        Part::Opaque(_, value) if provider != Provider::Ollama => Some(value.clone()),
        Part::Json(value) if provider != Provider::Ollama => Some(text_part(&value.to_string())),
        _ => None,
    });
    let own: Vec<Value> = own.collect();
    if !own.is_empty() {
        let mut list = match out.get_mut("content").map(Value::take) {
            Some(Value::Array(list)) => list,
            Some(Value::String(text)) if !text.is_empty() => vec![text_part(&text)],
            _ => Vec::new(),
        };
        list.extend(own);
        out.insert("content".into(), Value::Array(list));
    }
    if let Some(Value::Array(parts)) = kept(extra::PARTS) {
        let mut list = match out.get_mut("content").map(Value::take) {
            Some(Value::Array(list)) => list,
            Some(Value::String(text)) if !text.is_empty() => vec![text_part(&text)],
            _ => Vec::new(),
        };
        list.extend(parts.iter().cloned());
        out.insert("content".into(), Value::Array(list));
    }
    let mut out = Value::Object(out);
    extra::put(&mut out, kept(extra::FIELDS));
    out
}

fn text_part(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The message's calls as the provider takes them.
fn calls(message: &Message, provider: Provider, notes: &mut Notes) -> Vec<Value> {
    let state = message.state.get(provider.as_str()).and_then(|state| state.get(extra::CALLS));
    let mut calls = Vec::new();
    for (number, call) in message.calls().enumerate() {
        if call.name.is_empty() {
            notes.note(message.origin, "a call that was cut off or unreadable was left out");
            continue;
        }
        let id = provider_id(&call.id, provider);
        let mut entry = match provider {
            Provider::Ollama => {
                let arguments = object_of(call, message.origin, notes);
                json!({"id": id, "function": {"index": calls.len(), "name": call.name, "arguments": arguments}})
            }
            _ if call.custom && provider == Provider::OpenAi => {
                json!({"id": id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}})
            }
            _ => {
                let arguments = text_of_arguments(call, message.origin, notes);
                json!({"id": id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
            }
        };
        extra::put(&mut entry, state.and_then(|calls| calls.get(number.to_string())));
        if let (Provider::OpenAi, Some(signature)) = (provider, signature_of(message, number))
            && let Some(entry) = entry.as_object_mut()
        {
            let content = json!({"google": {"thought_signature": signature}});
            entry.entry("extra_content").or_insert(content);
        }
        calls.push(entry);
    }
    calls
}

/// The signature that Gemini gave the call number `number`; none if it is the stand-in for one.
fn signature_of(message: &Message, number: usize) -> Option<&Value> {
    let parts = message.state.get("gemini")?.get("parts")?.as_array()?;
    let part = parts.iter().find(|part| part.get("$call").and_then(Value::as_u64) == Some(number as u64))?;
    part.get("thoughtSignature").filter(|signature| signature.as_str().is_some_and(|text| text != gemini::FOREIGN))
}

fn result(answer: &Answer, provider: Provider, written: &mut Written, after: &mut Vec<Part>) {
    let media: Vec<&Media> = (answer.parts.iter())
        .filter_map(|part| match part {
            Part::Media(media) => Some(media),
            _ => None,
        })
        .collect();
    let mut text = text_of(&answer.parts);
    if answer.is_error && !text.starts_with("Error") {
        text = format!("{ERROR_PREFIX}{text}");
    }
    if !media.is_empty() {
        let what: Vec<String> = media.iter().map(|media| media.describe()).collect();
        let pointer = format!("[{} in the next message]", what.join(", "));
        text = if text.is_empty() { pointer } else { format!("{text}\n{pointer}") };
        let name = if answer.name.is_empty() { "the tool" } else { &answer.name };
        after.push(Part::Text(format!("Returned by {name}:")));
        after.extend(media.into_iter().cloned().map(Part::Media));
    }
    let id = provider_id(&answer.id, provider);
    let message = match provider {
        Provider::Ollama => json!({"role": "tool", "tool_name": answer.name, "tool_call_id": id, "content": text}),
        Provider::Mistral if !answer.name.is_empty() => {
            json!({"role": "tool", "tool_call_id": id, "name": answer.name, "content": text})
        }
        Provider::Cohere => match answer.parts.as_slice() {
            [Part::Json(data @ Value::Object(_))] if !answer.is_error => {
                json!({"role": "tool", "tool_call_id": id, "content": [{"type": "document", "document": {"data": data}}]})
            }
            _ => json!({"role": "tool", "tool_call_id": id, "content": text}),
        },
        _ => json!({"role": "tool", "tool_call_id": id, "content": text}),
    };
    written.messages.push(message);
}

/// The MIME type of base64 image data, by its first bytes.
fn sniff(data: &str) -> &'static str {
    match data.as_bytes() {
        [b'/', b'9', b'j', ..] => "image/jpeg",
        [b'R', b'0', b'l', b'G', ..] => "image/gif",
        [b'U', b'k', b'l', b'G', ..] => "image/webp",
        _ => "image/png",
    }
}
