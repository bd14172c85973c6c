//! Calls that a string shows: their strings have the same markers as it has itself, and close none but their own.
use super::values::opens;
use crate::dialect::Row;
use crate::engine::body::shown::begins;
use crate::engine::tail::closes;
use crate::engine::{Look, Reader};
use std::ops::Range;

/// What stands in a string, as far as it was looked at.
#[derive(Debug)]
pub(super) struct Shown {
    /// Up to here.
    at: usize,
    /// The calls that are open there, and the strings in them, by turns: with an odd number, a call is the innermost.
    open: usize,
    /// A call has been shown.
    any: bool,
}

impl Shown {
    /// In the string whose text begins at `start`.
    pub(super) const fn new(start: usize) -> Self {
        Self { at: start, open: 0, any: false }
    }

    pub(super) const fn any(&self) -> bool {
        self.any
    }

    /// The next marker of a string stands at `marker`, and closes this one.
    pub(super) fn closes(&mut self, cx: &Reader<'_>, row: &Row, marker: Range<usize>) -> Look<()> {
        let before = self.at..marker.start;
        while let Some(i) = memchr::memchr(b'<', cx.slice(self.at, marker.start).as_bytes()) {
            let hit = self.at + i;
            self.at = hit + 1;
            if self.open % 2 == 1 {
                let closed = row.calls.iter().any(|call| closes(cx, &call.tail, hit) == Look::Is(()));
                self.open -= usize::from(closed);
            } else if let Look::Is(end) = begins(cx, row, hit)
                && matches!(cx.bytes().get(end), Some(b'{' | b'('))
            {
                self.open += 1;
                self.any = true;
            }
        }
        // One that opens a string has text behind it.
        let over = match cx.bytes().get(marker.end) {
            None if self.open > 0 && !cx.eof => return Look::More,
            byte => matches!(byte, Some(b'}' | b',' | b']' | b')')),
        };
        self.at = marker.end;
        match self.open {
            0 => return Look::Is(()),
            open if open % 2 == 0 => self.open -= 1,
            _ if opens(cx.slice(before.start, before.end)) && !over => self.open += 1,
            // What was open in it broke off.
            _ => return Look::Is(()),
        }
        Look::No
    }
}
