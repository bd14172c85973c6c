//! Chunks of Chat Completions.
use super::super::error::WireError;
use super::super::estimate::Cost;
use super::super::json::{push_member, push_number};
use super::{End, Ended, Started, Writer, chat_reason, new_id, now};
use crate::json::{push_escaped, push_string};
use crate::schema::input_of;
use crate::turn::StopReason;
use serde_json::{Value, json};

/// What stands at the top of each chunk.
#[derive(Debug, Clone)]
pub(crate) struct Envelope {
    pub(crate) id: String,
    pub(crate) created: u64,
    pub(crate) model: String,
}

impl Envelope {
    /// That of a new answer.
    pub(crate) fn new(model: &str) -> Self {
        Self { id: new_id("chatcmpl-"), created: now(), model: model.to_owned() }
    }

    /// What every chunk begins with.
    pub(crate) fn begin(&self) -> String {
        let mut out = String::from("data: {");
        push_member(&mut out, "id", &self.id);
        out.push_str(r#","object":"chat.completion.chunk","created":"#);
        push_number(&mut out, self.created);
        out.push(',');
        push_member(&mut out, "model", &self.model);
        out
    }
}

/// The usage as Chat has it.
pub(crate) fn usage(cost: Cost) -> Value {
    let mut usage =
        json!({"prompt_tokens": cost.input(), "completion_tokens": cost.output(), "total_tokens": cost.total()});
    if let Some(tokens) = cost.usage.cached_tokens {
        usage["prompt_tokens_details"] = json!({ "cached_tokens": tokens });
    }
    if let Some(tokens) = cost.usage.reasoning_tokens {
        usage["completion_tokens_details"] = json!({ "reasoning_tokens": tokens });
    }
    if cost.estimated {
        usage["estimated"] = json!(true);
    }
    usage
}

/// Writes one choice.
#[derive(Debug)]
pub(crate) struct Chat {
    /// A chunk up to its delta.
    begin: String,
    /// The first chunk, with the role, was written.
    begun: bool,
    /// The client knows one `function_call` and no `tool_calls`.
    functions: bool,
    /// Which calls take free text, by their number.
    custom: Vec<bool>,
    /// The field for reasoning.
    reasoning: &'static str,
}

impl Chat {
    pub(crate) fn new(envelope: &Envelope, index: u64, functions: bool) -> Self {
        let mut begin = envelope.begin();
        begin.push_str(r#","choices":[{"index":"#);
        push_number(&mut begin, index);
        begin.push_str(r#","delta":"#);
        Self { begin, begun: false, functions, custom: Vec::new(), reasoning: "reasoning_content" }
    }

    /// The backend has begun the answer itself.
    pub(crate) fn begun(&mut self) {
        self.begun = true;
    }

    pub(crate) fn is_begun(&self) -> bool {
        self.begun
    }

    /// The backend's own field for reasoning.
    pub(crate) fn reasons_in(&mut self, field: &'static str) {
        self.reasoning = field;
    }

    fn open(&mut self, out: &mut String) {
        if !std::mem::replace(&mut self.begun, true) {
            self.delta(r#"{"role":"assistant","content":""}"#, out);
        }
    }

    fn delta(&self, delta: &str, out: &mut String) {
        out.push_str(&self.begin);
        out.push_str(delta);
        out.push_str(END);
    }

    fn text_delta(&self, field: &str, text: &str, out: &mut String) {
        out.push_str(&self.begin);
        out.push_str("{\"");
        out.push_str(field);
        out.push_str("\":");
        push_string(out, text);
        out.push('}');
        out.push_str(END);
    }
}

/// What ends a chunk that is not the last.
const END: &str = ",\"finish_reason\":null}]}\n\n";

impl Writer for Chat {
    fn text(&mut self, text: &str, out: &mut String) {
        self.open(out);
        self.text_delta("content", text, out);
    }

    fn reasoning(&mut self, text: &str, out: &mut String) {
        self.open(out);
        self.text_delta(self.reasoning, text, out);
    }

    fn call_started(&mut self, at: usize, call: Started<'_>, out: &mut String) {
        self.open(out);
        let custom = call.kind.is_some_and(|kind| kind.custom);
        self.custom.resize(self.custom.len().max(at + 1), false);
        if let Some(place) = self.custom.get_mut(at) {
            *place = custom;
        }
        let name = call.kind.map_or(call.name, |kind| &kind.name);
        if self.functions {
            if at == 0 {
                self.delta(&json!({"function_call": {"name": name, "arguments": ""}}).to_string(), out);
            }
            return;
        }
        let mut entry = if custom {
            json!({"index": at, "id": call.id, "type": "custom", "custom": {"name": name, "input": ""}})
        } else {
            json!({"index": at, "id": call.id, "type": "function", "function": {"name": name, "arguments": ""}})
        };
        if let (Some(extra), Value::Object(entry)) = (call.extra, &mut entry) {
            entry.extend(extra.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        self.delta(&json!({"tool_calls": [entry]}).to_string(), out);
    }

    fn arguments(&mut self, at: usize, piece: &str, out: &mut String) {
        if self.custom.get(at) == Some(&true) || (self.functions && at > 0) {
            return;
        }
        out.push_str(&self.begin);
        if self.functions {
            out.push_str(r#"{"function_call":{"arguments":""#);
            push_escaped(out, piece);
            out.push_str(r#""}}"#);
        } else {
            out.push_str(r#"{"tool_calls":[{"index":"#);
            push_number(out, at);
            out.push_str(r#","function":{"arguments":""#);
            push_escaped(out, piece);
            out.push_str(r#""}}]}"#);
        }
        out.push_str(END);
    }

    fn call_ended(&mut self, at: usize, call: Ended<'_>, out: &mut String) {
        // The text of such a call is a string of JSON until it is whole.
        if self.custom.get(at) == Some(&true)
            && let Some(input) = input_of(call.arguments)
        {
            self.delta(&json!({"tool_calls": [{"index": at, "custom": {"input": input}}]}).to_string(), out);
        }
    }

    fn finish(&mut self, end: End<'_>, out: &mut String) {
        self.open(out);
        out.push_str(&self.begin);
        out.push_str(r#"{},"finish_reason":"#);
        let reason = match end.reason {
            StopReason::ToolCalls if self.functions => "function_call",
            reason => end.said.unwrap_or_else(|| chat_reason(reason)),
        };
        push_string(out, reason);
        out.push_str("}]}\n\n");
    }

    fn fail(&mut self, error: &WireError, out: &mut String) {
        out.push_str("data: ");
        out.push_str(&json!({ "error": error.openai() }).to_string());
        out.push_str("\n\n");
    }

    fn interleaves(&self) -> bool {
        true
    }
}
