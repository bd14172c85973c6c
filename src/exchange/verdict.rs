//! The verdict on an answer: whether it ends the exchange, and what it shows about the route if not.
use super::capability::{Capability, refused};
use super::mode::Mode;
use super::options::Wanted;
use crate::turn::{CallStatus, Turn, words};

words! {
    /// Why a request was sent.
    Why {
        /// It is the first.
        First => "first",
        /// An option of the request before was refused, and is left out.
        Refused => "refused",
        /// The server failed, or there was nothing in the answer.
        Again => "again",
        /// The arguments of one call are regenerated under its tool's schema.
        Arguments => "arguments",
        /// It is a correction: the model sees what was wrong with its calls.
        Correction => "correction",
        /// The mode before gave no usable answer.
        NextMode => "next_mode",
        /// The endpoint before gave no usable answer.
        NextModel => "next_model",
    }
}

words! {
    /// The verdict on an answer.
    Verdict {
        /// It can be used as it is.
        Usable => "usable",
        /// A call in it does not fit its tool's schema, names no tool or cannot be read.
        BadCalls => "bad_calls",
        /// It was cut off inside a call. The same would be cut off again.
        Incomplete => "incomplete",
        /// A required call is missing.
        NoCall => "no_call",
        /// There is nothing in it.
        Empty => "empty",
        /// It is no answer of the API: HTML, another shape.
        NoAnswer => "no_answer",
        /// The server denies a capability.
        Refused => "refused",
        /// Too many requests.
        RateLimited => "rate_limited",
        /// The server failed, or is overloaded.
        Unavailable => "unavailable",
        /// The connection broke, or took too long.
        Broken => "broken",
        /// The key is missing, wrong, or not enough.
        Denied => "denied",
        /// The request is wrong, whatever the mode.
        BadRequest => "bad_request",
    }
}

/// Returns what the status of an answer without a turn in it says, and the capability that its body denies.
pub(super) fn of_error(status: u16, body: &str, mode: Mode) -> (Verdict, Option<Capability>) {
    let format = mode.needs().filter(|_| matches!(mode, Mode::JsonSchema | Mode::JsonObject));
    if let Some(capability) = refused(status, body, format) {
        return (Verdict::Refused, Some(capability));
    }
    let verdict = match status {
        200..=299 => Verdict::NoAnswer,
        401..=403 => Verdict::Denied,
        429 => Verdict::RateLimited,
        408 | 425 | 500..=599 => Verdict::Unavailable,
        _ => Verdict::BadRequest,
    };
    (verdict, None)
}

/// Returns what a turn is worth where such calls were `wanted`.
pub(super) fn of_turn(turn: &Turn<'_>, wanted: &Wanted) -> Verdict {
    let has = |status: CallStatus| turn.tool_calls.iter().any(|call| call.status == status);
    if has(CallStatus::Incomplete) {
        return Verdict::Incomplete;
    }
    if has(CallStatus::Invalid) || has(CallStatus::Malformed) || has(CallStatus::UnknownTool) {
        return Verdict::BadCalls;
    }
    if let Wanted::Tool(name) = wanted
        && !turn.tool_calls.iter().any(|call| call.name == **name)
    {
        return Verdict::NoCall;
    }
    if !turn.tool_calls.is_empty() {
        return Verdict::Usable;
    }
    if turn.content.trim().is_empty() {
        return Verdict::Empty;
    }
    if wanted.needs_call() { Verdict::NoCall } else { Verdict::Usable }
}
