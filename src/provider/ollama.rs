//! Ollama's own `/api/chat`: a message with arguments as objects; a stream is lines of the same shape, calls whole.
//!
//! Facts: Ollama's `api/types.go`. Ids are new and often absent; `done_reason` never speaks of calls.
use super::arguments;
use super::assembly::{Assembly, Finish};
use super::calls::{CallPiece, Extent, Piece};
use super::extra::Extra;
use super::node::Node;
use super::wire::{Payload, Wire, Wording, one_choice};
use crate::turn::{StopReason, Usage};
use serde_json::{Map, Value};

pub(super) const WORDING: Wording = Wording {
    wire: || Box::<Ollama>::default(),
    choices: one_choice,
    answers: |body| body.says("message") || body.text("response").is_some() || body.get("done").is_some(),
    names_calls: false,
    answers_with_errors: false,
    splits: false,
    blobs: &[],
};

/// What is kept between lines.
#[derive(Debug, Default)]
pub(super) struct Ollama {
    /// What is unknown here, and must go back.
    extra: Extra,
}

impl Ollama {
    /// Reads a response or a line of a stream.
    fn chunk(&mut self, body: &Node<'_>, extent: Extent, out: &mut Assembly) {
        match body.get("message") {
            Some(message) if message.is_object() => self.message(message, extent, out),
            Some(other) => out.odd("/message", other, "a message"),
            // `/api/generate` answers with text alone; the last line of a stream may have no message.
            None => out.text(body.text("response").unwrap_or_default()),
        }
        if body.is_true("done") {
            out.done = true;
            if let Some(raw) = body.text("done_reason").filter(|raw| !raw.is_empty()) {
                out.finish = Some(Finish { raw: raw.to_owned(), reason: reason(raw) });
            }
            out.end_calls();
        }
        let (input, output) = (body.count("prompt_eval_count"), body.count("eval_count"));
        if input.is_some() || output.is_some() {
            out.usage(Usage { input_tokens: input, output_tokens: output, ..Usage::default() });
        }
    }

    fn message(&mut self, message: &Node<'_>, extent: Extent, out: &mut Assembly) {
        out.reasoning(message.text("thinking").unwrap_or_default());
        match message.get("content") {
            Some(Node::String(text)) => out.text(text),
            Some(other) => out.odd("/message/content", other, "text"),
            None => {}
        }
        for call in message.list("tool_calls") {
            let function = call.get("function").unwrap_or(call);
            let arguments = Piece::of(arguments::find(function, "arguments"));
            // Calls come whole, so each is a new one, whatever its index says (many servers send 0 always); only the
            // same id again, in a stream, would be the same call.
            let (id, name) = (call.text("id"), function.text("name"));
            let at =
                out.whole_or_piece(CallPiece { id, index: None, name, arguments, custom: false, extent }, function);
            out.call_extra(at, call);
            if let Some(at) = at {
                out.call_end(at);
            }
        }
        self.extra.message(message, &["role", "content", "thinking", "tool_calls"]);
    }
}

impl Wire for Ollama {
    fn read(&mut self, payload: &Payload<'_, '_>, _: &Node<'_>, out: &mut Assembly) {
        let extent = if payload.whole { Extent::Entry } else { Extent::Whole };
        self.chunk(payload.body, extent, out);
    }

    fn state(&mut self, out: &mut Assembly) {
        let mut state = Map::new();
        let calls = out.call_extras();
        std::mem::take(&mut self.extra).into_state(calls, &mut state);
        if !state.is_empty() {
            out.state.insert("ollama".into(), Value::Object(state));
        }
    }
}

fn reason(raw: &str) -> Option<StopReason> {
    Some(match raw {
        "stop" | "load" | "unload" => StopReason::Stop,
        "length" => StopReason::Length,
        _ => return None,
    })
}
