//! Events that the SDKs' own stream helpers put between those of the wire: `client.chat.completions.stream()` of `openai`
//! and `client.messages.stream()` of `anthropic`. (`client.responses.stream()` only adds fields to the events of the wire.)
//!
//! Facts: `openai/lib/streaming/chat/_events.py` and `_types.py` and
//! `_beta_types.py` in `anthropic/lib/streaming`.
use super::{Node, Provider};

/// What such an event is to a reader of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Helper {
    /// It holds the chunk of the wire in this member.
    Carries(&'static str),
    /// It says again what events of the wire say.
    Repeats,
}

/// By the event's `type`. No chunk of Chat Completions has one, and Anthropic's API names no event so.
const EVENTS: [(&str, Provider, Helper); 17] = [
    ("chunk", Provider::OpenAi, Helper::Carries("chunk")),
    ("content.delta", Provider::OpenAi, Helper::Repeats),
    ("content.done", Provider::OpenAi, Helper::Repeats),
    ("refusal.delta", Provider::OpenAi, Helper::Repeats),
    ("refusal.done", Provider::OpenAi, Helper::Repeats),
    ("tool_calls.function.arguments.delta", Provider::OpenAi, Helper::Repeats),
    ("tool_calls.function.arguments.done", Provider::OpenAi, Helper::Repeats),
    ("logprobs.content.delta", Provider::OpenAi, Helper::Repeats),
    ("logprobs.content.done", Provider::OpenAi, Helper::Repeats),
    ("logprobs.refusal.delta", Provider::OpenAi, Helper::Repeats),
    ("logprobs.refusal.done", Provider::OpenAi, Helper::Repeats),
    ("text", Provider::Anthropic, Helper::Repeats),
    ("input_json", Provider::Anthropic, Helper::Repeats),
    ("thinking", Provider::Anthropic, Helper::Repeats),
    ("signature", Provider::Anthropic, Helper::Repeats),
    ("citation", Provider::Anthropic, Helper::Repeats),
    ("compaction", Provider::Anthropic, Helper::Repeats),
];

/// What an event of this `type` is in a stream of `provider`, or in one whose provider is not known yet; `None`: it is no
/// helper's.
pub(crate) fn helper(kind: &str, provider: Option<Provider>) -> Option<Helper> {
    let (_, of, helper) = EVENTS.iter().find(|(name, ..)| *name == kind)?;
    match (helper, provider) {
        (_, Some(provider)) if provider != *of => None,
        // The helper's first event carries a chunk or is one, which shows the provider.
        (Helper::Repeats, None) => None,
        _ => Some(*helper),
    }
}

/// The chunk of the wire in what a helper or an SDK handed out; `None` if it holds none that was not there before.
pub(super) fn chunk_of<'n, 'a>(event: &'n Node<'a>, provider: Option<Provider>) -> Option<&'n Node<'a>> {
    match event.text("type").and_then(|kind| helper(kind, provider)) {
        Some(Helper::Carries(member)) => event.get(member).or(Some(event)),
        Some(Helper::Repeats) => None,
        None => Some(event),
    }
}
