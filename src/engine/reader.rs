//! The text as every step of the engine sees it, and what was found out about it already.
use super::options::Policy;
use super::output::{Output, Piece};
use crate::dialect::Dialects;
use crate::schema::{Tool, ToolSet};
use std::cell::Cell;

/// What every step of the engine sees: all text so far, and what it is read by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'t> {
    pub(crate) text: &'t str,
    /// The text is not the input, but was made of a part of it by repair.
    pub(crate) made: bool,
    /// No more text will come.
    pub(crate) eof: bool,
    pub(crate) dialects: &'t Dialects,
    pub(crate) tools: Option<&'t ToolSet>,
    pub(crate) policy: &'t Policy,
    pub(crate) memo: &'t Memo,
}

/// What was looked through, so that it need not be again.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// From where to where there is white space.
    pub(super) blank: Cell<(usize, usize)>,
    /// A closing marker (its address), from where it was looked for, and where it was found, or the end of the text.
    pub(super) closer: Cell<(usize, usize, usize)>,
    /// From where to where no colon stands behind a key of a call.
    pub(super) unkeyed: Cell<(usize, usize)>,
    /// From where to where there is no closing brace.
    pub(super) unclosed: Cell<(usize, usize)>,
}

/// What of a [`Memo`] still holds when more text has come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    blank: (usize, usize),
    unkeyed: (usize, usize),
    unclosed: (usize, usize),
}

impl From<Known> for Memo {
    fn from(Known { blank, unkeyed, unclosed }: Known) -> Self {
        let (blank, unkeyed, unclosed) = (Cell::new(blank), Cell::new(unkeyed), Cell::new(unclosed));
        Self { blank, unkeyed, unclosed, ..Self::default() }
    }
}

impl Memo {
    pub(super) fn known(&self) -> Known {
        Known { blank: self.blank.get(), unkeyed: self.unkeyed.get(), unclosed: self.unclosed.get() }
    }
}

impl<'t> Reader<'t> {
    pub(crate) fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// The text from `at` on; empty if that is no place in it.
    pub(crate) fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or("")
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or("")
    }

    /// `part` as a piece: a range of the input if it points into it.
    pub(crate) fn piece(&self, part: &str) -> Piece {
        let start = part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        match start.checked_add(part.len()) {
            Some(end) if end <= self.text.len() && !self.made => Piece::Span(start..end),
            _ => Piece::Made(part.to_owned()),
        }
    }

    /// As [`Self::skip_space`], but a line break that the model wrote as `\\n` is white space as well.
    pub(crate) fn skip_markup_space(&self, at: usize) -> usize {
        let mut at = self.skip_space(at);
        while self.bytes().get(at..).is_some_and(|rest| rest.starts_with(b"\\n")) {
            at = self.skip_space(at + 2);
        }
        at
    }

    /// Where `closer` stands first at or after `from`, if it does.
    pub(crate) fn find_closer(&self, closer: &str, from: usize) -> Option<usize> {
        let address = closer.as_ptr() as usize;
        let (known, since, at) = self.memo.closer.get();
        let found = if known == address && (since..=at).contains(&from) {
            at
        } else {
            let rest = self.bytes().get(from..).unwrap_or_default();
            memchr::memmem::find(rest, closer.as_bytes()).map_or(self.text.len(), |i| from + i)
        };
        self.memo.closer.set((address, from, found));
        (found < self.text.len()).then_some(found)
    }

    /// The first line at or after `from` that begins with `fence`, if there is one.
    pub(crate) fn find_fence(&self, fence: &'static str, from: usize) -> Option<usize> {
        let address = fence.as_ptr() as usize;
        let (known, since, at) = self.memo.closer.get();
        let found = if known == address && (since..=at).contains(&from) {
            at
        } else {
            let rest = self.bytes().get(from..).unwrap_or_default();
            let mut places = memchr::memmem::find_iter(rest, fence.as_bytes()).map(|i| from + i);
            places.find(|at| self.at_line_start(*at)).unwrap_or(self.text.len())
        };
        self.memo.closer.set((address, from, found));
        (found < self.text.len()).then_some(found)
    }

    /// The first place at or after `at` without white space.
    #[inline]
    pub(crate) fn skip_space(&self, at: usize) -> usize {
        match self.bytes().get(at) {
            Some(byte) if *byte > b' ' => at,
            _ => self.skip_some_space(at),
        }
    }

    fn skip_some_space(&self, at: usize) -> usize {
        // Mostly it is a byte or two.
        for next in at..at + 8 {
            if !self.bytes().get(next).is_some_and(u8::is_ascii_whitespace) {
                return next;
            }
        }
        self.skip_long_space(at)
    }

    #[cold]
    fn skip_long_space(&self, at: usize) -> usize {
        let (start, end) = self.memo.blank.get();
        let from = if (start..end).contains(&at) { end } else { at };
        let rest = self.bytes().get(from..).unwrap_or_default();
        let next = from + rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
        if next - at > 64 {
            self.memo.blank.set((if from > at { start } else { at }, next));
        }
        next
    }

    /// Only what is blank stands between the last line break (or the start of the text) and `at`.
    pub(crate) fn at_line_start(&self, at: usize) -> bool {
        let before = self.bytes().get(..at).unwrap_or_default();
        match before.iter().rev().find(|b| !matches!(b, b' ' | b'\t' | b'\r')) {
            None | Some(b'\n') => true,
            // Mostly a letter.
            Some(byte) if byte.is_ascii_graphic() => false,
            _ => self.slice(0, at).chars().rev().find(|c| *c == '\n' || !blank(*c)).is_none_or(|c| c == '\n'),
        }
    }

    /// Only what is blank stands before `at`.
    pub(crate) fn first_in_text(&self, at: usize) -> bool {
        self.slice(0, at).chars().all(blank)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&'t Tool> {
        let tools = self.tools?;
        let (position, _) = tools.find(name)?;
        tools.tools().get(position)
    }

    /// The tool at a position that was found before.
    pub(crate) fn tool_at(&self, position: Option<u32>) -> Option<&'t Tool> {
        self.tools?.tools().get(usize::try_from(position?).ok()?)
    }

    /// The tool that the call at `index` means.
    pub(crate) fn called(&self, out: &Output, index: usize) -> Option<&'t Tool> {
        self.tool_at(out.calls.get(index)?.tool)
    }

    /// The name at `place` means an offered tool, or there is nothing to tell.
    pub(crate) fn vouches(&self, place: std::ops::Range<usize>) -> bool {
        self.tools.is_none() || self.offered(self.slice(place.start, place.end))
    }

    /// Tools were offered and `name` means one of them.
    pub(crate) fn offered(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }
}

/// White space, or a character that has no width: the byte order mark, and those that join words or part them.
fn blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}
