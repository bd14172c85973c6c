//! Calls that count only as the whole answer: `ping()` and `{"name": "ping"}`, for which nothing but their name speaks, and any without
//! markers where the policy `bare` is `alone`.
//!
//! Source: prose about functions names them with empty parentheses, at the beginning of lines too.
use crate::dialect::MarkersAt;
use crate::engine::writer::Pending;
use crate::engine::{Look, Reader};
use serde_json::{Map, Value};
use std::ops::Range;

/// The `call` at `place` has no arguments and no markers, and other text than calls and markers stands beside it. `first`: nothing
/// stands before it.
pub(in crate::engine) fn is_only_named(
    cx: &Reader<'_>,
    place: Range<usize>,
    call: Option<&Pending>,
    first: bool,
) -> Look<()> {
    let written = cx.part(&place);
    let python = written.ends_with([')', ',', ';']) && !written.starts_with(['{', '[', '(', '<']);
    let object = || serde_json::from_str::<Map<String, Value>>(written).is_ok_and(|members| is_name(&members));
    let readable = call.filter(|call| call.status.readable());
    if !readable.is_some_and(|call| call.arguments.say_nothing())
        || !(cx.dialects.auto && python || written.starts_with('{') && object())
    {
        return Look::No;
    }
    let next = match cx.behind_space(place.end, place.end) {
        Look::Is(next) if first => next,
        Look::More if first => return Look::More,
        _ => return Look::Is(()),
    };
    match cx.dialects.markers.at(cx.bytes(), next) {
        MarkersAt::Partial(_) if !cx.eof => Look::More,
        MarkersAt::Some { .. } => Look::No,
        _ => Look::when(next < cx.text.len()),
    }
}

/// These members of an object are a name and no more.
fn is_name(members: &Map<String, Value>) -> bool {
    members.len() == 1 && members.values().all(Value::is_string)
}
