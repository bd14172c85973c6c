//! Cohere's v2 chat: like Chat Completions, but the text before calls is `tool_plan`, and events have types.
//!
//! Facts: the `cohere` SDK's models. `tool_calls` is a list in a response and one object in an event.
use super::arguments;
use super::assembly::{Assembly, Finish};
use super::calls::Piece;
use super::errors::Report;
use super::extra::Extra;
use super::node::Node;
use super::wire::{Payload, Wire, Wording, one_choice};
use crate::turn::{Issue, IssueCode, StopReason, Usage};
use serde_json::{Map, Value, json};

pub(super) const WORDING: Wording = Wording {
    wire: || Box::<Cohere>::default(),
    choices: one_choice,
    answers: |body| {
        let event = |kind: &str| ["message-", "content-", "tool-", "citation-"].iter().any(|of| kind.starts_with(of));
        let whole = body.says("message") || body.get("message").is_some() && body.get("finish_reason").is_some();
        whole || body.text("role").is_some() || body.text("type").is_some_and(event)
    },
    names_calls: true,
    answers_with_errors: false,
    splits: false,
    blobs: &[],
};

/// What is kept between the events of a stream.
#[derive(Debug, Default)]
pub(super) struct Cohere {
    thinking: String,
    /// The text that came as `tool_plan`.
    plan: bool,
    /// What is unknown here, and must go back.
    extra: Extra,
}

impl Cohere {
    fn response(&mut self, body: &Node<'_>, out: &mut Assembly) {
        // A collected stream's event, or the message alone.
        if body.text("type").is_some() && body.get("message").is_none() {
            return self.event(body, out);
        }
        let message = body.get("message").unwrap_or(body);
        self.content(message, out);
        for (index, call) in message.list("tool_calls").iter().enumerate() {
            self.start(index as u64, call, out);
            self.end(index as u64, out);
        }
        self.tail(body, out);
        out.done = true;
    }

    fn event(&mut self, event: &Node<'_>, out: &mut Assembly) {
        let index = event.count("index").unwrap_or_default();
        let message = event.at(&["delta", "message"]);
        match event.text("type") {
            Some("message-start" | "content-start" | "content-delta" | "tool-plan-delta") => {
                if let Some(message) = message {
                    self.content(message, out);
                }
            }
            Some("tool-call-start") => {
                for call in message.map(|m| m.list("tool_calls")).unwrap_or_default() {
                    self.start(index, call, out);
                }
            }
            Some("tool-call-delta") => {
                for call in message.map(|m| m.list("tool_calls")).unwrap_or_default() {
                    match (out.calls.find(index), call.at(&["function", "arguments"]).and_then(Node::str)) {
                        (Some(at), Some(piece)) => out.arguments(at, piece),
                        (None, _) => out.odd("/index", event, "a delta of a call that was started"),
                        (_, None) => {}
                    }
                }
            }
            Some("tool-call-end") => self.end(index, out),
            Some("message-end") => {
                if let Some(delta) = event.get("delta") {
                    self.tail(delta, out);
                }
                out.done = true;
                out.end_calls();
            }
            Some("citation-start") => {
                if let Some(citation) = message.and_then(|message| message.get("citations")) {
                    self.extra.push("citations", citation);
                }
            }
            Some("content-end" | "citation-end" | "debug") => {}
            // A complete response among the events: the server does not stream.
            None if event.get("message").is_some() => self.response(event, out),
            other => {
                let message = format!("event `{}` was left out", other.unwrap_or(""));
                out.issue(Issue::of(IssueCode::UnknownEvent, "/type", message));
            }
        }
    }

    fn content(&mut self, message: &Node<'_>, out: &mut Assembly) {
        if let Some(plan) = message.text("tool_plan").filter(|plan| !plan.is_empty()) {
            self.plan = true;
            out.text(plan);
        }
        match message.get("content") {
            Some(Node::String(text)) => out.text(text),
            Some(Node::Array(_) | Node::Object(_)) => {
                for part in message.list("content") {
                    if !matches!(part.text("type"), Some("text" | "thinking") | None) {
                        self.extra.part(part);
                        continue;
                    }
                    if let Some(thinking) = part.text("thinking") {
                        self.thinking.push_str(thinking);
                        out.reasoning(thinking);
                    }
                    if let Some(text) = part.text("text") {
                        out.text(text);
                    }
                    out.beyond("/message/content", part, &["type", "text", "thinking"]);
                }
            }
            Some(other) => out.odd("/message/content", other, "text"),
            None => {}
        }
        self.extra.message(message, &["role", "content", "tool_plan", "tool_calls"]);
    }

    fn start(&mut self, index: u64, call: &Node<'_>, out: &mut Assembly) {
        let function = call.get("function").unwrap_or(call);
        let name = function.text("name").unwrap_or_default();
        let Some(at) = out.call_start(Some(index), call.text("id").unwrap_or_default(), name) else { return };
        match Piece::of(arguments::find(function, "arguments")) {
            Piece::Absent => {}
            Piece::Text(text) => out.arguments(at, text),
            Piece::Whole(node) => out.calls.set_whole(at, node),
        }
        out.call_extra(Some(at), call);
    }

    fn end(&mut self, index: u64, out: &mut Assembly) {
        // Of arguments that never began, only the end of the answer says whether there are none.
        let begun = |at: &usize| out.calls.slots.get(*at).is_some_and(|slot| !slot.text.trim().is_empty());
        if let Some(at) = out.calls.find(index).filter(begun) {
            out.call_end(at);
        }
    }

    fn tail(&mut self, holder: &Node<'_>, out: &mut Assembly) {
        if let Some(raw) = holder.text("finish_reason").filter(|raw| !raw.is_empty()) {
            out.finish = Some(Finish { raw: raw.to_owned(), reason: reason(raw) });
            if reason(raw) == Some(StopReason::Error) {
                let message = holder.text("error").map_or_else(|| format!("finish reason {raw}"), str::to_owned);
                out.fail(&Report::new("/finish_reason", message));
            }
        }
        let Some(usage) = holder.get("usage") else { return };
        let tokens = usage.get("tokens").or_else(|| usage.get("billed_units")).unwrap_or(usage);
        out.usage(Usage {
            input_tokens: tokens.count("input_tokens"),
            output_tokens: tokens.count("output_tokens"),
            cached_tokens: usage.count("cached_tokens"),
            ..Usage::default()
        });
    }
}

impl Wire for Cohere {
    fn read(&mut self, payload: &Payload<'_, '_>, _: &Node<'_>, out: &mut Assembly) {
        if payload.whole { self.response(payload.body, out) } else { self.event(payload.body, out) }
    }

    fn state(&mut self, out: &mut Assembly) {
        let mut state = Map::new();
        if !self.thinking.is_empty() {
            state.insert("thinking".into(), json!(self.thinking));
        }
        if self.plan && out.calls.slots.is_empty() {
            state.insert("tool_plan".into(), json!(true));
        }
        let calls = out.call_extras();
        std::mem::take(&mut self.extra).into_state(calls, &mut state);
        if !state.is_empty() {
            out.state.insert("cohere".into(), Value::Object(state));
        }
    }
}

fn reason(raw: &str) -> Option<StopReason> {
    Some(match raw {
        "COMPLETE" | "STOP_SEQUENCE" => StopReason::Stop,
        "TOOL_CALL" => StopReason::ToolCalls,
        "MAX_TOKENS" => StopReason::Length,
        "ERROR" | "TIMEOUT" | "ERROR_TOXIC" | "ERROR_LIMIT" => StopReason::Error,
        _ => return None,
    })
}
