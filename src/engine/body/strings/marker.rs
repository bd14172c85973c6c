//! The markers in a value that is no JSON: what they open, and whether the value's text shows them.
use crate::dialect::{CallId, Marker, MarkersAt, RowId, SectionId};
use crate::engine::body::BodyState;
use crate::engine::head::{self, bare_name};
use crate::engine::origin::Origin;
use crate::engine::{Look, Reader};
use std::ops::Range;

/// The first quote of a call stands so near behind its marker.
const NEAR: usize = 256;

/// A marker in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkerInValue {
    pub(super) length: usize,
    pub(super) opens: Opens,
    /// It is the marker of a call of the same row, and of nothing else.
    of_call: bool,
}

/// Which calls a marker opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    Nothing,
    /// Those of the row of the call that is being read.
    Own,
    Other,
}

impl MarkerInValue {
    /// One of this length that closes a call.
    pub(super) const fn closing(length: usize) -> Self {
        Self { length, opens: Opens::Nothing, of_call: false }
    }

    /// It opens a call of the same row.
    pub(super) fn if_own(self) -> Look<Self> {
        if self.opens == Opens::Own { Look::Is(self) } else { Look::No }
    }

    /// As it is in a string that `quote` closes: it opens no call there if the first quote behind it, at `at`, is escaped, as it is in
    /// what the string shows.
    pub(super) fn in_string(self, cx: &Reader<'_>, at: usize, quote: u8) -> Look<Self> {
        if self.opens == Opens::Nothing || quote != b'"' {
            return Look::Is(self);
        }
        let near = cx.near(at + self.length, NEAR);
        match memchr::memchr(b'"', near) {
            Some(first) => {
                let escaped = first.checked_sub(1).is_some_and(|before| near.get(before) == Some(&b'\\'));
                Look::Is(Self { opens: if escaped { Opens::Nothing } else { self.opens }, ..self })
            }
            None if cx.may_go_on(near.len(), NEAR) => Look::More,
            None => Look::Is(self),
        }
    }

    /// The beginning of a call stands behind it, at `at` outside strings, or the text ends before that shows.
    pub(super) fn if_call(self, cx: &Reader<'_>, at: usize, origin: Origin) -> Look<Self> {
        let Some(row) = origin.row(cx).filter(|_| self.of_call) else { return Look::Is(self) };
        let begins = row
            .marked_calls()
            .map(|call| head::head(cx, at, &call.head).then(|head| BodyState::plausible(cx, row, call, &head, true)));
        let begins = Look::first_of(begins).or(|| {
            let rest = cx.rest(cx.skip_space(at + self.length));
            Look::when(cx.eof && bare_name(rest).len() == rest.len())
        });
        begins.map(|()| self)
    }
}

/// The closing marker behind the text at `shown`, in a string, closes a call that begins in that text.
pub(super) fn closes_shown(cx: &Reader<'_>, shown: Range<usize>, closer: Option<&str>, origin: Origin) -> bool {
    let Some(closer) = closer else { return false };
    let (mut open, mut at, mut behind) = (0_usize, shown.start, shown.start);
    loop {
        at = cx.dialects.markers.next_stop(cx.bytes(), at);
        if at >= shown.end {
            return open > 0;
        }
        if cx.rest(at).starts_with(closer) {
            open = open.saturating_sub(1);
            at += closer.len();
            continue;
        }
        match marker(cx, at, origin) {
            Look::Is(found) => {
                // A section and the call in it open together.
                let adjacent = behind > shown.start && cx.skip_space(behind) >= at;
                if found.opens == Opens::Own {
                    open += usize::from(!adjacent);
                    behind = at + found.length;
                }
                at += found.length.max(1);
            }
            _ => at += 1,
        }
    }
}

/// A marker of this origin's row stands in `range`, with an object behind it, or the first of a list, whose first quote nothing escapes.
pub(in crate::engine::body) fn begins_call_in(cx: &Reader<'_>, range: Range<usize>, origin: Origin) -> bool {
    let mut at = range.start;
    loop {
        at = cx.dialects.markers.next_stop(cx.bytes(), at);
        if at >= range.end {
            return false;
        }
        let Look::Is(found) = marker(cx, at, origin) else {
            at += 1;
            continue;
        };
        at += found.length.max(1);
        let behind = cx.near(at, NEAR).trim_ascii_start();
        let object = behind.strip_prefix(b"[").unwrap_or(behind).trim_ascii_start().strip_prefix(b"{");
        if found.opens == Opens::Own && object.is_some_and(|object| object.trim_ascii_start().starts_with(b"\"")) {
            return true;
        }
    }
}

pub(super) fn marker(cx: &Reader<'_>, at: usize, origin: Origin) -> Look<MarkerInValue> {
    // A fence may stand in any text.
    if cx.bytes().get(at) == Some(&b'`') {
        return Look::No;
    }
    match cx.dialects.markers.at(cx.bytes(), at) {
        MarkersAt::Nothing => Look::No,
        MarkersAt::Partial(_) if cx.eof => Look::No,
        MarkersAt::Partial(_) => Look::More,
        MarkersAt::Some { more: true, .. } if !cx.eof => Look::More,
        MarkersAt::Some { ends, count, .. } => {
            let found = ends.iter().take(count);
            let length = found.clone().map(|(length, _)| *length).max().unwrap_or(1);
            let markers = found.flat_map(|(_, list)| cx.dialects.markers.list(*list));
            let (mut opens, mut of_call) = (Opens::Nothing, true);
            for marker in markers {
                of_call &= matches!(marker, Marker::Call(_));
                match marker {
                    Marker::Call(CallId { row: of, .. }) | Marker::Section(SectionId { row: of, .. })
                        if Some(*of) == origin.row_id() =>
                    {
                        opens = Opens::Own;
                    }
                    marker if marker.opens_calls() && opens == Opens::Nothing => opens = Opens::Other,
                    Marker::Header(of) => return header(cx, at, length, *of, origin),
                    _ => {}
                }
            }
            Look::Is(MarkerInValue { length, opens, of_call })
        }
    }
}

/// A message's header begins with `length` bytes: the role behind them is a part of it.
fn header(cx: &Reader<'_>, at: usize, length: usize, of: RowId, origin: Origin) -> Look<MarkerInValue> {
    let opens = if Some(of) == origin.row_id() { Opens::Own } else { Opens::Other };
    let channels = cx.dialects.row(of).and_then(|row| row.dialect.channels.as_ref());
    let role = channels.map_or(Look::No, |channels| cx.literal(at + length, &channels.role));
    role.or(|| Look::Is(at + length)).map(|end| MarkerInValue { length: end - at, opens, of_call: false })
}
