//! What an answer is worth: whether it ends the exchange, and what it shows of the route if not.
use super::capability::{Capability, refused};
use super::mode::Mode;
use super::options::Wanted;
use crate::turn::{CallStatus, Turn, words};

words! {
    /// Why a request was sent.
    Why {
        /// It is the first.
        First => "first",
        /// What the one before said beside the tools was refused, and is left out.
        Refused => "refused",
        /// The server failed, or there was nothing in the answer.
        Again => "again",
        /// The arguments of one call are asked for anew, under its tool's schema.
        Arguments => "arguments",
        /// The model is told what was wrong with its calls.
        Correction => "correction",
        /// The mode before led to nothing.
        NextMode => "next_mode",
        /// The endpoint before led to nothing.
        NextModel => "next_model",
    }
}

words! {
    /// What an answer is worth.
    Verdict {
        /// It can be used as it is.
        Usable => "usable",
        /// A call in it is not what its tool takes, names no tool or cannot be read: the model can be told.
        BadCalls => "bad_calls",
        /// It was cut off inside a call. The same would be cut off again.
        Incomplete => "incomplete",
        /// A required call is missing.
        NoCall => "no_call",
        /// There is nothing in it.
        Empty => "empty",
        /// It is none: HTML, another shape.
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
