//! Calls of the dialect itself that a value shows: a file about them, a test, a prompt. Their strings have the same quotes as
//! one that holds them, and close none but their own. And what quotes a place in a value.
use super::python::Python;
use crate::dialect::{Body, CallTemplate, Row};
use crate::engine::reader::floor;
use crate::engine::tail::closes;
use crate::engine::{Look, Reader, head};
use std::ops::Range;

/// So many bytes of a value are looked through for quotes, or a fence, that are open at a place in it.
pub(super) const QUOTATION: usize = 4096;

/// What begins and ends a block of code.
pub(super) const FENCE: &str = "```";

/// What quotes a place in a value: the quotes that are open in its line, or a fence round it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quotation {
    quotes: [Option<u8>; 3],
    fence: bool,
}

impl Quotation {
    /// What is open where the `text` of a value ends.
    pub(super) fn at_end(text: &str) -> Self {
        let near = text.get(floor(text, text.len().saturating_sub(QUOTATION))..).unwrap_or_default();
        let line = memchr::memrchr(b'\n', near.as_bytes()).map_or(0, |at| at + 1);
        let line = near.as_bytes().get(line..).unwrap_or_default();
        let fence = memchr::memmem::find(near.as_bytes(), FENCE.as_bytes()).is_some();
        let fence = fence && near.lines().filter(|line| line.trim_start().starts_with(FENCE)).count() % 2 == 1;
        Self { quotes: [b'"', b'\'', b'`'].map(|quote| Some(quote).filter(|quote| is_open(line, *quote))), fence }
    }

    /// Something is.
    pub(super) fn is_open(self) -> bool {
        self.fence || self.quotes != [None; 3]
    }

    /// A fence is.
    pub(super) const fn is_fence(self) -> bool {
        self.fence
    }

    /// Only the quotes of it.
    pub(super) const fn without_fence(self) -> Self {
        Self { fence: false, ..self }
    }

    /// It closes right behind what ends at `at`.
    pub(super) fn closes(self, cx: &Reader<'_>, at: usize) -> Look<()> {
        let near = cx.near(at, FENCE.len() + 1);
        // It may be escaped there as well as before it.
        let byte = near.iter().find(|byte| **byte != b'\\');
        if self.quotes.into_iter().flatten().any(|quote| byte == Some(&quote)) {
            return Look::Is(());
        }
        let fence = if self.fence { cx.behind_space(at, at).then(|at| cx.literal(at, FENCE)) } else { Look::No };
        match byte {
            None if near.len() <= FENCE.len() && !cx.eof => Look::More,
            _ => fence.unit(),
        }
    }
}

/// What stands before a quote that opens, if no white space does.
const BEFORE_QUOTE: [u8; 15] = *b"([{<>=,:;|&+\"'`";

/// A `quote` is open where the `line` ends, in one of two ways to read that. All of them open and close by turns, but for escaped ones
/// and apostrophes in words; or only those open that no word stands before, as others are a sign of inches or end a word, and none closes
/// that has a blank before it alone. Which of them is meant tells what stands behind the line.
fn is_open(line: &[u8], quote: u8) -> bool {
    let letter = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let (mut by_turns, mut fitting) = (false, false);
    for at in memchr::memchr_iter(quote, line) {
        let before = line.get(..at).unwrap_or_default();
        let (last, next) = (before.last().copied(), line.get(at + 1).copied());
        if last == Some(b'\\') {
            continue;
        }
        let in_word = quote == b'\'' && letter(last) && letter(next);
        by_turns ^= !in_word;
        fitting = if fitting {
            in_word || last.is_some_and(blank) && next.is_none_or(|next| letter(Some(next)) || next.is_ascii_digit())
        } else {
            last.is_none_or(|last| blank(last) || BEFORE_QUOTE.contains(&last)) || begins_string(before)
        };
    }
    by_turns || fitting
}

/// The `text` ends in a word of the letters that Python's strings have before them, C's or SQL's.
fn begins_string(text: &[u8]) -> bool {
    let word = text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let prefix = text.get(text.len() - word..).unwrap_or_default();
    let letter = |byte: &u8| matches!(byte.to_ascii_lowercase(), b'f' | b'r' | b'b' | b'u' | b'e' | b'n' | b'l' | b'x');
    (1..=2).contains(&word) && prefix.iter().all(letter)
}

/// A call of `row` begins at `at`, by a head that holds its name: where that ends.
pub(super) fn begins(cx: &Reader<'_>, row: &Row, at: usize) -> Look<usize> {
    if row.by_name() {
        return Look::No;
    }
    let begins = |call: &CallTemplate| match head::head(cx, at, &call.head) {
        Look::Is(head) if head.name.is_some() => Look::Is(head.end),
        Look::More => Look::More,
        _ => Look::No,
    };
    // A template further down may fit already where this one would fit better.
    let calls = row.calls_before(cx.bytes().get(at..).unwrap_or_default());
    Look::first_of(calls.filter(|(_, call)| !call.as_parameter).map(|(_, call)| begins(call)))
}

/// As [`begins`], with the beginning of its arguments.
fn calls(cx: &Reader<'_>, row: &Row, at: usize) -> bool {
    let calls = |(_, call): (usize, &CallTemplate)| match head::head(cx, at, &call.head) {
        Look::Is(head) if call.body == Body::Python => Python::plausible(cx, head.end) == Look::Is(()),
        Look::Is(head) => head.name.is_some() && matches!(cx.bytes().get(head.end), Some(b'{' | b'(')),
        _ => false,
    };
    row.calls_before(cx.bytes().get(at..).unwrap_or_default()).any(calls)
}

/// What stands behind `before` begins a string: behind a value's text it ends one that nothing opened.
pub(super) fn opens(before: &str) -> bool {
    before.trim_end().ends_with([':', '=', ',', '[', '{', '('])
}

/// The calls that stand in a string, as far as it was looked at.
#[derive(Debug)]
pub(super) struct ShownCalls {
    /// Up to here.
    at: usize,
    /// How many calls are open there, and strings in them: by turns, as a call opens a string, and a string shows a call.
    depth: usize,
    /// A call has been shown.
    any: bool,
}

/// What is open innermost in a string.
enum Innermost {
    Nothing,
    Call,
    /// A string of a call.
    String,
}

impl ShownCalls {
    /// In the string whose text begins at `start`.
    pub(super) const fn new(start: usize) -> Self {
        Self { at: start, depth: 0, any: false }
    }

    /// It shows a call, whole or not.
    pub(super) const fn any(&self) -> bool {
        self.any
    }

    /// It shows calls, and all of them whole.
    pub(super) const fn whole(&self) -> bool {
        self.any && self.depth == 0
    }

    const fn innermost(&self) -> Innermost {
        match self.depth {
            0 => Innermost::Nothing,
            depth if depth % 2 == 1 => Innermost::Call,
            _ => Innermost::String,
        }
    }

    /// The next of the string's own quotes stands at `quote`: it closes none that a call in it has opened.
    pub(super) fn closes(&mut self, cx: &Reader<'_>, row: &Row, quote: Range<usize>) -> Look<()> {
        let before = self.at..quote.start;
        // What stands before it decides, however much has come.
        let inside = &cx.up_to(quote.start);
        while let Some(i) = memchr::memchr(b'<', cx.slice(self.at, quote.start).as_bytes()) {
            let hit = self.at + i;
            self.at = hit + 1;
            if let Innermost::Call = self.innermost() {
                let closed = row.calls.iter().any(|call| closes(inside, &call.tail, hit) == Look::Is(()));
                self.depth -= usize::from(closed);
            } else if calls(inside, row, hit) {
                self.depth += 1;
                self.any = true;
            }
        }
        // One that opens a string has text behind it.
        let over = match cx.bytes().get(quote.end) {
            None if self.depth > 0 && !cx.eof => return Look::More,
            byte => matches!(byte, Some(b'}' | b',' | b']' | b')')),
        };
        self.at = quote.end;
        match self.innermost() {
            Innermost::Nothing => return Look::Is(()),
            Innermost::String => self.depth -= 1,
            Innermost::Call if opens(cx.part(&before)) && !over => self.depth += 1,
            // What was open in it broke off.
            Innermost::Call => return Look::Is(()),
        }
        Look::No
    }
}
