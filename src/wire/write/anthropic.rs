//! Events of Anthropic's Messages: blocks one after another, one open at a time.
use super::super::error::WireError;
use super::super::estimate::Cost;
use super::super::json::push_number;
use super::super::{ClientApi, json as wire_json};
use super::{End, Ended, Started, Writer, anthropic_reason, new_id};
use crate::json::{push_escaped, push_string};
use crate::provider::{Node, Provider, provider_id};
use serde_json::{Value, json};

/// The usage as Anthropic has it.
pub(crate) fn usage(cost: Cost) -> Value {
    let cached = cost.usage.cached_tokens.unwrap_or_default();
    let mut usage = json!({
        "input_tokens": cost.input().saturating_sub(cached), "output_tokens": cost.output(),
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached,
    });
    if cost.estimated {
        usage["estimated"] = json!(true);
    }
    usage
}

/// What block is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Text,
    Thinking,
    Call,
    /// A block of the backend's that goes on as it came, by its number there.
    Passed(u64),
}

/// Writes a message.
#[derive(Debug)]
pub(crate) struct Anthropic {
    model: String,
    /// The estimate that stands in the first event; the last one has what the backend counts.
    input_tokens: u64,
    begun: bool,
    /// The number of the next block.
    next: u64,
    open: Option<Open>,
    /// A text delta of the open block, up to its text.
    delta: String,
    /// What the backend's last event says of the answer beside its reason and its usage.
    last: Option<Node<'static>>,
}

impl Anthropic {
    pub(crate) fn new(model: &str, input_tokens: u64) -> Self {
        Self {
            model: model.to_owned(),
            input_tokens,
            begun: false,
            next: 0,
            open: None,
            delta: String::new(),
            last: None,
        }
    }

    /// The backend has begun the message itself.
    pub(crate) fn begun(&mut self) {
        self.begun = true;
    }

    /// The backend's last event.
    pub(crate) fn ends_as(&mut self, event: Node<'static>) {
        self.last = Some(event);
    }

    /// The number of the text block that is open.
    pub(crate) fn open_text(&self) -> Option<u64> {
        (self.open == Some(Open::Text)).then(|| self.next.saturating_sub(1))
    }

    /// Begins a block of the backend's that is passed on as it is; `at` is its number there.
    pub(crate) fn pass_block(&mut self, at: u64, event: &Node<'_>, out: &mut String) {
        self.begin(out);
        self.close(out);
        self.open = Some(Open::Passed(at));
        let index = self.next;
        self.next += 1;
        numbered(event, index, out);
    }

    /// Passes on what belongs to such a block; `false` if no block of that number is open.
    pub(crate) fn pass_event(&mut self, at: u64, event: &Node<'_>, ends: bool, out: &mut String) -> bool {
        if self.open != Some(Open::Passed(at)) {
            return false;
        }
        numbered(event, self.next.saturating_sub(1), out);
        if ends {
            self.open = None;
        }
        true
    }

    fn begin(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let usage = json!({"input_tokens": self.input_tokens, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0});
        let message = json!({
            "id": new_id("msg_"), "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        });
        event("message_start", &json!({"type": "message_start", "message": message}), out);
    }

    /// Has a block of this kind open.
    fn ready(&mut self, kind: Open, block: &str, delta: (&str, &str), out: &mut String) {
        self.begin(out);
        if self.open == Some(kind) {
            return;
        }
        self.close(out);
        self.start(kind, block, delta, out);
    }

    fn start(&mut self, kind: Open, block: &str, (name, key): (&str, &str), out: &mut String) {
        out.push_str("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":");
        push_number(out, self.next);
        out.push_str(",\"content_block\":");
        out.push_str(block);
        out.push_str("}\n\n");
        self.delta.clear();
        self.delta.push_str("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":");
        push_number(&mut self.delta, self.next);
        self.delta.push_str(",\"delta\":{\"type\":");
        push_string(&mut self.delta, name);
        self.delta.push(',');
        push_string(&mut self.delta, key);
        self.delta.push_str(":\"");
        self.open = Some(kind);
        self.next += 1;
    }

    fn piece(&self, text: &str, out: &mut String) {
        out.push_str(&self.delta);
        push_escaped(out, text);
        out.push_str("\"}}\n\n");
    }

    fn close(&mut self, out: &mut String) {
        if self.open.take().is_some() {
            out.push_str("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":");
            push_number(out, self.next.saturating_sub(1));
            out.push_str("}\n\n");
        }
    }
}

/// Writes an event of the backend's under the number that its block has here.
fn numbered(node: &Node<'_>, index: u64, out: &mut String) {
    let name = node.text("type").unwrap_or_default();
    out.push_str("event: ");
    out.push_str(name);
    out.push_str("\ndata: ");
    out.push_str(&wire_json::replaced(node, &[("index", &index.to_string())]));
    out.push_str("\n\n");
}

fn event(name: &str, value: &Value, out: &mut String) {
    out.push_str("event: ");
    out.push_str(name);
    out.push_str("\ndata: ");
    out.push_str(&value.to_string());
    out.push_str("\n\n");
}

impl Writer for Anthropic {
    fn text(&mut self, text: &str, out: &mut String) {
        self.ready(Open::Text, r#"{"type":"text","text":""}"#, ("text_delta", "text"), out);
        self.piece(text, out);
    }

    fn reasoning(&mut self, text: &str, out: &mut String) {
        let block = r#"{"type":"thinking","thinking":"","signature":""}"#;
        self.ready(Open::Thinking, block, ("thinking_delta", "thinking"), out);
        self.piece(text, out);
    }

    fn call_started(&mut self, _: usize, call: Started<'_>, out: &mut String) {
        self.begin(out);
        self.close(out);
        let name = call.kind.map_or(call.name, |kind| &kind.name);
        let mut block =
            json!({"type": "tool_use", "id": provider_id(call.id, Provider::Anthropic), "name": name, "input": {}});
        if let (Some(extra), Value::Object(block)) = (call.extra, &mut block) {
            block.extend(extra.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        self.start(Open::Call, &block.to_string(), ("input_json_delta", "partial_json"), out);
    }

    fn arguments(&mut self, _: usize, piece: &str, out: &mut String) {
        self.piece(piece, out);
    }

    fn call_ended(&mut self, _: usize, _: Ended<'_>, out: &mut String) {
        self.close(out);
    }

    fn finish(&mut self, end: End<'_>, out: &mut String) {
        self.begin(out);
        self.close(out);
        let reason = end.said.unwrap_or_else(|| anthropic_reason(end.reason));
        let last = self.last.take();
        let delta = last.as_ref().and_then(|last| last.get("delta"));
        let mut delta = delta.map_or_else(|| json!({"stop_sequence": null}), Node::to_value);
        delta["stop_reason"] = json!(reason);
        let usage = match last.as_ref().and_then(|last| last.get("usage")) {
            Some(usage) => usage.to_json(),
            None => usage(end.cost).to_string(),
        };
        let empty = Node::Object(vec![("type".into(), Node::String("message_delta".into()))]);
        let written =
            wire_json::replaced(last.as_ref().unwrap_or(&empty), &[("delta", &delta.to_string()), ("usage", &usage)]);
        out.push_str("event: message_delta\ndata: ");
        out.push_str(&written);
        out.push_str("\n\n");
        event("message_stop", &json!({"type": "message_stop"}), out);
    }

    fn fail(&mut self, error: &WireError, out: &mut String) {
        event("error", &error.to_value(ClientApi::Anthropic), out);
    }

    fn keep_alive(&mut self, _: &str, out: &mut String) {
        // No event may come before the message; a comment may.
        if self.begun {
            event("ping", &json!({"type": "ping"}), out);
        } else {
            out.push_str(": ping\n\n");
        }
    }
}
