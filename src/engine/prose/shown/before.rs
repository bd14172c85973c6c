//! What stands right before a place in its line, as far as that was read already.
use super::document::PAGE;
use super::interrupted::Interrupted;
use super::program_string::ProgramStrings;
use crate::engine::reader::floor;
use crate::engine::{Look, Reader, Without};
use crate::json::Quoting;

/// Longer lines are not looked through for what they begin with.
pub(in crate::engine) const LINE_BEFORE: usize = 1024;

/// A marker and the white space behind it are no longer.
pub(in crate::engine) const NEAR_MARKER: usize = 64;

/// So much of a line is looked at for quotes.
pub(in crate::engine) const WHOLE_LINE: usize = 4096;

/// What stands nowhere right before the places that were looked at: labels and markers may stand close together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Before {
    line_break: Without,
    object: Without,
    page: Without,
    label: Without,
    /// Nothing but lines that are calls as Python writes them, and no statements of a program.
    pub(super) calls: Without,
    quotes: Quotes,
    pub(in crate::engine) strings: ProgramStrings,
    pub(in crate::engine) interrupted: Interrupted,
    /// Where the line, or what is left of it, begins in which code was seen last.
    pub(in crate::engine) coded: Option<usize>,
}

/// Whether a quote is open in a line, as far as that was read.
#[derive(Debug, Clone, Copy, Default)]
struct Quotes {
    begins: usize,
    read: usize,
    string: Quoting,
}

impl Before {
    /// What stands before `at` in its line, if that is not too long.
    pub(in crate::engine) fn line<'t>(&mut self, cx: &Reader<'t>, at: usize) -> Option<&'t [u8]> {
        // Mostly a marker begins one.
        if cx.bytes().get(..at).is_some_and(|before| before.last() == Some(&b'\n')) {
            return Some(&[]);
        }
        let from = at.saturating_sub(LINE_BEFORE);
        let found = self.line_break.find_last(cx.bytes(), from, at, |text| memchr::memrchr(b'\n', text));
        let begins = found.map(|i| i + 1).or_else(|| (at <= LINE_BEFORE).then_some(0))?;
        cx.bytes().get(begins..at)
    }

    /// Where the line of `at` begins, if it is not too long to tell.
    pub(super) fn line_begins(&mut self, cx: &Reader<'_>, at: usize) -> Option<usize> {
        let near = floor(cx.text, at.saturating_sub(WHOLE_LINE));
        let found = self.line_break.find_last(cx.bytes(), near, at, |text| memchr::memrchr(b'\n', text));
        found.map(|i| i + 1).or_else(|| (near == 0).then_some(0))
    }

    /// What stands at `at` stands in a string of a program, which is all in its line. What the call holds that ended at `called` opens
    /// none.
    pub(super) fn literal(&mut self, cx: &Reader<'_>, called: usize, at: usize) -> Look<()> {
        // Mostly a line begins there.
        match cx.bytes().get(..at).and_then(<[u8]>::last) {
            None | Some(b'\n') => Look::No,
            Some(_) if called >= at => Look::No,
            Some(_) => {
                let begins = self.line_begins(cx, at);
                begins.map_or(Look::No, |begins| self.strings.holds(cx, begins.max(called), at))
            }
        }
    }

    /// A quote is open before `at` in its line, if that is not too long to tell.
    pub(super) fn quote_open(&mut self, cx: &Reader<'_>, at: usize) -> Option<bool> {
        let begins = self.line_begins(cx, at)?;
        if self.quotes.begins != begins || self.quotes.read > at {
            self.quotes = Quotes { begins, read: begins, ..Quotes::default() };
        }
        let Quotes { read, string, .. } = &mut self.quotes;
        for byte in cx.bytes().get(*read..at)? {
            string.read(*byte, |escaped| *byte == b'"' && !escaped);
        }
        *read = at;
        Some(string.is_open())
    }

    /// The tag of a page stands in `from..at`, before another one at `at`.
    pub(super) fn page(&mut self, cx: &Reader<'_>, from: usize, at: usize) -> bool {
        let page = |tag: &usize| {
            let name = cx.bytes().get(tag + 1..=tag + PAGE.len());
            name.is_some_and(|name| name.eq_ignore_ascii_case(PAGE.as_bytes()))
        };
        let found = self.page.find_last_in(from, at, |part| {
            let text = cx.bytes().get(part.clone())?;
            memchr::memrchr_iter(b'<', text).map(|i| part.start + i).find(page)
        });
        found.is_some()
    }

    /// The colon in which the last line of `from..end` ends that ends in one. At `end` stands a line break.
    pub(in crate::engine) fn label(&mut self, cx: &Reader<'_>, from: usize, end: usize) -> Option<usize> {
        let (ascii, wide) = (b':', "：");
        let last = wide.as_bytes().last().copied().unwrap_or(ascii);
        let colon = |i: usize| {
            let behind = cx.bytes().get(i + 1..)?.iter().find(|byte| **byte == b'\n' || !byte.is_ascii_whitespace());
            let colon = if cx.bytes().get(i) == Some(&ascii) { i } else { (i + 1).checked_sub(wide.len())? };
            let stands = colon == i || cx.slice(colon, i + 1) == wide;
            (stands && behind == Some(&b'\n')).then_some(colon)
        };
        let found = self.label.find_last_in(from, end, |part| {
            let text = cx.bytes().get(part.clone())?;
            memchr::memrchr2_iter(ascii, last, text).map(|i| part.start + i).find(|i| colon(*i).is_some())
        });
        found.and_then(colon)
    }

    /// The last object in `from..at` that begins its line with a key: where its brace stands.
    pub(super) fn object(&mut self, cx: &Reader<'_>, from: usize, at: usize) -> Option<usize> {
        let brace = |quote: usize| {
            let near = floor(cx.text, quote.saturating_sub(NEAR_MARKER));
            let before = cx.slice(near, quote).trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
            let brace = near + before.strip_suffix('{')?.len();
            cx.at_line_start(brace).then_some(brace)
        };
        let found = self.object.find_last_in(from, at, |part| {
            let text = cx.bytes().get(part.clone())?;
            memchr::memrchr_iter(b'"', text).map(|i| part.start + i).find(|quote| brace(*quote).is_some())
        });
        found.and_then(brace).filter(|brace| *brace >= from)
    }
}
