//! OpenAI's Chat Completions, and everything that speaks it more or less.
//!
//! Facts: the `openai` SDK's models, and reports on compatible servers. No server is recognised by name: whatever one
//! of them does is tolerated from all.
use super::arguments;
use super::assembly::{Assembly, Finish};
use super::calls::{CallPiece, Extent, Piece};
use super::errors::Report;
use super::extra::Extra;
use super::node::Node;
use super::wire::{Payload, Take, Wire, Wording};
use crate::turn::{StopReason, Usage};
use serde_json::{Map, Value, json};

/// Fields of a message that hold reasoning as text, in the order of preference.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// Fields of a message that are read here; `channel` says no more than the field that a delta is in.
const MESSAGE: [&str; 10] = [
    "role",
    "content",
    "tool_calls",
    "refusal",
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
    "function_call",
    "channel",
];

pub(super) const WORDING: Wording = Wording {
    wire: || Box::new(Chat::new("openai")),
    choices,
    answers: |body| body.list("choices").iter().any(answers) || is_message(body) || is_choice(body),
    names_calls: true,
    answers_with_errors: false,
    splits: true,
    blobs: &[],
};

/// The choice says anything, if only that it is over.
fn answers(choice: &Node<'_>) -> bool {
    let message = |key: &str| choice.get(key).is_some_and(|message| !message.is_object() || choice.says(key));
    message("message") || message("delta") || choice.get("text").is_some() || choice.get("finish_reason").is_some()
}

/// Only the message, without its response.
fn is_message(body: &Node<'_>) -> bool {
    body.get("tool_calls").is_some() || body.text("role").is_some()
}

/// Only one of the choices, without its response.
fn is_choice(body: &Node<'_>) -> bool {
    body.get("message").is_some_and(Node::is_object)
}

/// What is kept between the chunks of one choice.
#[derive(Debug)]
pub(super) struct Chat {
    /// The name that the state goes under.
    name: &'static str,
    /// The field that the reasoning came in.
    field: Option<&'static str>,
    reasoning: String,
    /// OpenRouter's `reasoning_details`, fragments joined.
    details: Vec<Map<String, Value>>,
    /// Mistral's thinking chunks, fragments joined.
    thinking: Vec<Value>,
    refusal: String,
    streamed: bool,
    /// What is unknown here, and must go back.
    extra: Extra,
}

impl Chat {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            field: None,
            reasoning: String::new(),
            details: Vec::new(),
            thinking: Vec::new(),
            refusal: String::new(),
            streamed: false,
            extra: Extra::default(),
        }
    }

    /// A message or a delta, which have the same fields.
    fn message(&mut self, message: &Node<'_>, whole: bool, extent: Extent, out: &mut Assembly) {
        self.reasoning(message, out);
        // A whole message after deltas (some servers' last chunk) says everything once more.
        let again = whole && self.streamed;
        match message.get("content") {
            Some(Node::String(text)) if again => out.text_snapshot(text),
            Some(Node::String(text)) => out.text(text),
            Some(Node::Array(parts)) => parts.iter().for_each(|part| self.part(part, out)),
            Some(part @ Node::Object(_)) => self.part(part, out),
            Some(other) => out.odd("/message/content", other, "text"),
            None => {}
        }
        if let Some(refusal) = message.text("refusal").filter(|text| !text.is_empty()) {
            self.refusal.push_str(refusal);
            out.refused = true;
            out.text(refusal);
        }
        for call in message.list("tool_calls") {
            self.call(call, extent, out);
        }
        let mirrors = |call: &Node<'_>| {
            let fields =
                |call: &Node<'_>| (call.get("name").map(Node::to_json), call.get("arguments").map(Node::to_json));
            let same =
                |other: &Node<'_>| other.get("function").is_some_and(|function| fields(function) == fields(call));
            message.list("tool_calls").iter().any(same)
        };
        if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
            // Some servers say the same call in both forms.
            if !mirrors(call) {
                // The legacy form: one call, no id. Its pieces have no index either, so they follow each other.
                let arguments = Piece::of(arguments::find(call, "arguments"));
                let (index, name) = (Some(0), call.text("name"));
                out.call(CallPiece { id: None, index, name, arguments, custom: false, extent });
            }
            out.beyond("/message/function_call", call, &["name", "arguments", "parameters", "args", "input"]);
        }
        self.extra.message(message, &MESSAGE);
        self.streamed = true;
    }

    fn reasoning(&mut self, message: &Node<'_>, out: &mut Assembly) {
        let found = REASONING.iter().find_map(|key| Some((*key, message.text(key).filter(|t| !t.is_empty())?)));
        if let Some((key, text)) = found
            && (self.field.is_none() || self.field == Some(key))
        {
            self.field = Some(key);
            self.reasoning.push_str(text);
            out.reasoning(text);
        }
        for detail in message.list("reasoning_details") {
            let text = detail.text("text").or_else(|| detail.text("summary")).unwrap_or_default();
            if found.is_none() && self.field.is_none() {
                out.reasoning(text);
            }
            self.detail(detail);
        }
    }

    /// Joins a fragment of OpenRouter's `reasoning_details` to the one of its index and type.
    fn detail(&mut self, detail: &Node<'_>) {
        let Value::Object(new) = detail.to_value() else { return };
        let same = |old: &Map<String, Value>| {
            old.get("index") == new.get("index")
                && old.get("type") == new.get("type")
                && new.get("index").is_some_and(|index| !index.is_null())
                && !matches!((old.get("id"), new.get("id")), (Some(Value::String(a)), Some(Value::String(b))) if a != b)
        };
        let Some(old) = self.details.iter_mut().find(|old| same(old)) else { return self.details.push(new) };
        for (key, value) in new {
            match (old.get_mut(&key), value) {
                (Some(Value::String(known)), Value::String(more))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    known.push_str(&more);
                }
                (Some(known), value) if !value.is_null() => *known = value,
                (None, value) => {
                    old.insert(key, value);
                }
                _ => {}
            }
        }
    }

    /// One part of a content that is a list.
    fn part(&mut self, part: &Node<'_>, out: &mut Assembly) {
        match part {
            Node::String(text) => return out.text(text),
            Node::Object(_) => {}
            other => return out.odd("/message/content", other, "a part"),
        }
        match part.text("type") {
            Some("text" | "output_text") | None => {
                match part.text("text") {
                    Some(text) => out.text(text),
                    None => out.odd("/message/content", part, "a text part"),
                }
                out.beyond("/message/content", part, &["type", "text"]);
            }
            Some("thinking") => {
                match part.get("thinking") {
                    Some(Node::String(text)) => out.reasoning(text),
                    Some(Node::Array(parts)) => {
                        parts.iter().filter_map(|p| p.text("text")).for_each(|text| out.reasoning(text));
                    }
                    _ => {}
                }
                join_thinking(&mut self.thinking, part);
            }
            Some("refusal") => {
                out.refused = true;
                out.text(part.text("refusal").unwrap_or_default());
                out.beyond("/message/content", part, &["type", "refusal"]);
            }
            Some(_) => {
                // References, images, audio: nothing to read, but something to give back.
                self.extra.part(part);
            }
        }
    }

    fn call(&mut self, call: &Node<'_>, extent: Extent, out: &mut Assembly) {
        if !call.is_object() {
            return out.odd("/message/tool_calls", call, "a call");
        }
        let id = match call.get("id") {
            Some(Node::Number(number)) => Some(number.as_ref()),
            id => id.and_then(Node::str),
        };
        let index = call.count("index");
        if let Some(custom) = call.get("custom").filter(|custom| custom.is_object()) {
            let arguments = Piece::of(custom.get("input"));
            let at = out.call(CallPiece { id, index, name: custom.text("name"), arguments, custom: true, extent });
            return out.call_extra(at, call);
        }
        // A few servers leave `function` out and put its fields beside the id.
        let function = call.get("function").unwrap_or(call);
        let arguments = Piece::of(arguments::find(function, "arguments"));
        let name = function.text("name");
        if name.is_none() && id.is_none() && matches!(arguments, Piece::Absent) {
            return out.beyond("/message/tool_calls", call, &["id", "index", "type", "function"]);
        }
        let at = out.whole_or_piece(CallPiece { id, index, name, arguments, custom: false, extent }, function);
        out.call_extra(at, call);
    }
}

impl Wire for Chat {
    fn read(&mut self, payload: &Payload<'_, '_>, choice: &Node<'_>, out: &mut Assembly) {
        let extent = if payload.whole { Extent::Entry } else { Extent::Part };
        if std::ptr::eq(choice, payload.body) && !is_choice(choice) {
            self.message(choice, payload.whole, extent, out);
            out.done = true;
            return;
        }
        match (choice.get("delta"), choice.get("message")) {
            (Some(delta), None) if delta.is_object() => self.message(delta, false, extent, out),
            (_, Some(message)) if message.is_object() => {
                // A whole message with nothing before it is a complete response in place of a stream.
                let extent = if self.streamed { extent } else { Extent::Entry };
                self.message(message, true, extent, out);
            }
            (None, None) => {
                // The old text completions.
                if let Some(text) = choice.text("text") {
                    out.text(text);
                }
            }
            (delta, message) => {
                if let Some(odd) = delta.or(message) {
                    out.odd("/choices/message", odd, "a message");
                }
            }
        }
        if let Some(raw) = choice.text("finish_reason").filter(|raw| !raw.is_empty()) {
            out.finish = Some(Finish { raw: raw.to_owned(), reason: reason(raw) });
            if raw == "error" && out.error.is_none() {
                let message = payload.body.at(&["error", "message"]).and_then(Node::str);
                out.fail(&Report::new("/choices", message.unwrap_or("the answer broke off")));
            }
        }
        out.done |= payload.whole;
    }

    /// The usage of n choices is one number: it goes to the first.
    fn rest(&mut self, payload: &Payload<'_, '_>, out: &mut Assembly) {
        let body = payload.body;
        let usage = body.get("usage").or_else(|| body.at(&["x_groq", "usage"])).filter(|usage| usage.is_object());
        if let Some(usage) = usage {
            out.usage(usage_of(usage));
        }
    }

    fn state(&mut self, out: &mut Assembly) {
        let mut state = Map::new();
        if !self.details.is_empty() {
            let details = self.details.drain(..).map(Value::Object).collect();
            state.insert("reasoning_details".into(), Value::Array(details));
        }
        if let Some(field) = self.field.take() {
            state.insert(field.into(), json!(std::mem::take(&mut self.reasoning)));
        }
        if !self.thinking.is_empty() {
            state.insert("thinking".into(), Value::Array(std::mem::take(&mut self.thinking)));
        }
        if !self.refusal.is_empty() {
            state.insert("refusal".into(), json!(self.refusal));
        }
        let mut custom = Vec::new();
        for (at, slot) in out.calls.slots.iter().enumerate() {
            let Some(index) = out.index_of(at) else { continue };
            if slot.custom {
                custom.push(json!(index));
            }
        }
        let calls = out.call_extras();
        std::mem::take(&mut self.extra).into_state(calls, &mut state);
        if !custom.is_empty() {
            state.insert("custom_calls".into(), Value::Array(custom));
        }
        if !state.is_empty() {
            out.state.insert(self.name.into(), Value::Object(state));
        }
    }
}

/// Joins a thinking chunk to the last one, unless that is closed.
fn join_thinking(chunks: &mut Vec<Value>, part: &Node<'_>) {
    let new = part.to_value();
    if let (Some(Value::Object(last)), Some(new)) = (chunks.last_mut(), new.as_object()) {
        let closed = last.get("closed") == Some(&Value::Bool(true)) || last.contains_key("signature");
        if !closed
            && let (Some(Value::Array(texts)), Some(Value::Array(more))) =
                (last.get_mut("thinking"), new.get("thinking"))
        {
            for item in more {
                match (texts.last_mut().and_then(|t| t.get_mut("text")), item.get("text").and_then(Value::as_str)) {
                    (Some(Value::String(text)), Some(more)) => text.push_str(more),
                    _ => texts.push(item.clone()),
                }
            }
            for (key, value) in new.iter().filter(|(key, _)| *key != "thinking") {
                last.insert(key.clone(), value.clone());
            }
            return;
        }
    }
    chunks.push(new);
}

/// Hands out the choices of a response or a chunk.
fn choices(payload: &Payload<'_, '_>, take: &mut Take<'_>) {
    let body = payload.body;
    if body.get("choices").is_none() && (is_message(body) || is_choice(body)) {
        return take(0, body);
    }
    let listed = body.list("choices");
    let Some((half, calls)) = payload.whole.then(|| halves(listed)).flatten() else {
        return payload.each(listed, take);
    };
    // Both are read under the number of the one that comes first.
    let mut joint = None;
    payload.each(listed, &mut |rank, choice| {
        let is_one = std::ptr::eq(choice, half) || std::ptr::eq(choice, calls);
        take(if is_one { *joint.get_or_insert(rank) } else { rank }, choice);
    });
}

/// Two choices that are one answer: one ends to call tools and calls none, as Copilot's API has the text apart; the other
/// one calls.
fn halves<'n, 'a>(choices: &'n [Node<'a>]) -> Option<(&'n Node<'a>, &'n Node<'a>)> {
    let calls = |choice: &&Node<'_>| {
        let message = choice.get("message");
        message.is_some_and(|m| !m.list("tool_calls").is_empty() || m.get("function_call").is_some_and(Node::is_object))
    };
    let ends = |choice: &&Node<'_>| choice.text("finish_reason").and_then(reason) == Some(StopReason::ToolCalls);
    let half = choices.iter().find(|choice| ends(choice) && !calls(choice))?;
    Some((half, choices.iter().find(|choice| ends(choice) && calls(choice))?))
}

fn usage_of(usage: &Node<'_>) -> Usage {
    Usage {
        input_tokens: usage.count("prompt_tokens"),
        output_tokens: usage.count("completion_tokens"),
        total_tokens: usage.count("total_tokens"),
        reasoning_tokens: usage.at(&["completion_tokens_details", "reasoning_tokens"]).and_then(Node::u64),
        cached_tokens: usage.at(&["prompt_tokens_details", "cached_tokens"]).and_then(Node::u64),
    }
}

/// What a finish reason means; compatible servers also pass on those of their upstream.
fn reason(raw: &str) -> Option<StopReason> {
    Some(match raw.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "eos" | "eos_token" | "stop_sequence" | "complete" | "completed" => StopReason::Stop,
        "tool_calls" | "function_call" | "tool_use" | "tool_call" => StopReason::ToolCalls,
        "length" | "model_length" | "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "content_filter" | "safety" | "recitation" => StopReason::ContentFilter,
        "refusal" => StopReason::Refusal,
        "pause_turn" => StopReason::Pause,
        "error" => StopReason::Error,
        _ => return None,
    })
}
