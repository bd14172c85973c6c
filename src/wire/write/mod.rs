//! The events of an answer as the bytes of a client's stream: one writer an API.
mod anthropic;
mod chat;
mod responses;

pub(super) use anthropic::{Anthropic, usage as anthropic_usage};
pub(super) use chat::{Chat, Envelope, usage as chat_usage};
pub(super) use responses::{
    Responses, call_item, message_item, reasoning_item, skeleton, status, usage as responses_usage,
};

use super::error::WireError;
use super::estimate::Cost;
use super::request::Kind;
use crate::turn::{StopReason, new_call_id};
use serde_json::{Map, Value};
use std::fmt::Debug;

/// A call that begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Started<'s> {
    pub(super) id: &'s str,
    /// The name that the tool was offered under.
    pub(super) name: &'s str,
    /// How the client knows it, where that is otherwise.
    pub(super) kind: Option<&'s Kind>,
    /// What the backend says of the call that is not known here.
    pub(super) extra: Option<&'s Map<String, Value>>,
    /// The id of the item that it is, where the backend sends one.
    pub(super) item: Option<&'s str>,
}

/// A call that is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended<'s> {
    /// The JSON of its arguments, as far as the client has it.
    pub(super) arguments: &'s str,
    /// It was not cut off.
    pub(super) whole: bool,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'s> {
    pub(super) reason: StopReason,
    /// The backend's own word, where client and backend speak the same API and mean the same.
    pub(super) said: Option<&'s str>,
    pub(super) cost: Cost,
}

/// Writes the stream of one answer.
pub(super) trait Writer: Debug + Send + Sync {
    /// A piece of the answer's text; never empty.
    fn text(&mut self, text: &str, out: &mut String);

    /// A piece of the reasoning; never empty.
    fn reasoning(&mut self, text: &str, out: &mut String);

    /// The call number `at`, counted from 0, begins.
    fn call_started(&mut self, at: usize, call: Started<'_>, out: &mut String);

    /// A piece of its arguments; never empty.
    fn arguments(&mut self, at: usize, piece: &str, out: &mut String);

    /// Nothing follows for it.
    fn call_ended(&mut self, at: usize, call: Ended<'_>, out: &mut String);

    /// The answer is over.
    fn finish(&mut self, end: End<'_>, out: &mut String);

    /// The answer broke off: no word that it is finished, and the error in the API's form.
    fn fail(&mut self, error: &WireError, out: &mut String);

    /// Something that says no more than that the connection lives.
    fn keep_alive(&mut self, comment: &str, out: &mut String) {
        comment_line(comment, out);
    }

    /// Pieces of several calls may come by turns.
    fn interleaves(&self) -> bool {
        false
    }
}

/// A comment of the stream, on one line.
pub(super) fn comment_line(comment: &str, out: &mut String) {
    out.push(':');
    out.extend(comment.chars().map(|c| if c.is_control() { ' ' } else { c }));
    out.push_str("\n\n");
}

/// A new id with the prefix of its kind.
pub(super) fn new_id(prefix: &str) -> String {
    let id = new_call_id();
    format!("{prefix}{}", id.strip_prefix("call_").unwrap_or(&id))
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map(|since| since.as_secs()).unwrap_or_default()
}

/// Chat's word for why an answer ended.
pub(super) fn chat_reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::ToolCalls => "tool_calls",
        StopReason::Length => "length",
        StopReason::ContentFilter => "content_filter",
        StopReason::Stop | StopReason::Refusal | StopReason::Pause | StopReason::Error => "stop",
    }
}

/// Anthropic's word for it.
pub(super) fn anthropic_reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::ToolCalls => "tool_use",
        StopReason::Length => "max_tokens",
        StopReason::ContentFilter | StopReason::Refusal => "refusal",
        StopReason::Pause => "pause_turn",
        StopReason::Stop | StopReason::Error => "end_turn",
    }
}
