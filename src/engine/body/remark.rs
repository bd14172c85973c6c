//! What a model says in the middle of a value that it has given up, where repair takes that for a part of the value.
use super::lenient::LINE_BEHIND;
use crate::dialect::MarkersAt;
use crate::engine::Reader;
use crate::engine::reader::floor;
use crate::json::{Ending, Repaired};
use crate::turn::{Repair, RepairCode};

/// Bare words became a value though nothing closes the object, and they stand in a line of their own or a marker stands in them; or their
/// key lacks its colon as well. The value is missing, and what the model said next stands in its place.
pub(super) fn fills_value(cx: &Reader<'_>, text: &str, mended: &Repaired<'_>) -> bool {
    let unclosed = !mended.added.is_empty() || mended.ending != Ending::Closed;
    if !(unclosed || mended.repairs.iter().any(|repair| repair.code == RepairCode::Colon)) {
        return false;
    }
    let mut colon = None;
    mended.repairs.iter().any(|repair| {
        if repair.code == RepairCode::Colon {
            colon = repair.offset;
        }
        words(text, repair).is_some_and(|(key, below, line)| {
            let lacks_colon = colon == Some(key.len());
            let says = below || opens_calls(cx, line);
            (unclosed && key.ends_with(':') && says) || (lacks_colon && (unclosed || below))
        })
    })
}

/// The bare words that the `repair` put in quotes, as a value: the text before them without white space, whether they begin a line, and
/// what stands in it.
fn words<'t>(text: &'t str, repair: &Repair) -> Option<(&'t str, bool, &'t str)> {
    let at = repair.offset.filter(|_| matches!(repair.code, RepairCode::Quotes | RepairCode::SourceText))?;
    let (before, words) = text.split_at_checked(at).filter(|(_, words)| words.starts_with(char::is_alphanumeric))?;
    let key = before.trim_ascii_end();
    let line = words.get(..floor(words, LINE_BEHIND))?.lines().next()?;
    Some((key, before.get(key.len()..)?.contains('\n'), line))
}

/// A marker that opens calls stands in the `line`.
fn opens_calls(cx: &Reader<'_>, line: &str) -> bool {
    let mut at = 0;
    while at < line.len() {
        at = cx.dialects.markers.next_stop(line.as_bytes(), at);
        if let MarkersAt::Some { ends, count, .. } = cx.dialects.markers.at(line.as_bytes(), at)
            && ends.iter().take(count).any(|(_, list)| cx.dialects.markers.opens_calls(*list))
            && !line.get(at..).is_some_and(|rest| rest.starts_with('`'))
        {
            return true;
        }
        at += 1;
    }
    false
}
