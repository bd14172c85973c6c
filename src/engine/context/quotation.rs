//! Quotation marks round a call, and strings that hold one.
//!
//! Sources: P6 of the design for marks of any script; a JSON string that holds a call has its quotes escaped (RFC 8259).
use crate::engine::look::seen;
use crate::engine::{Look, Reader};
use crate::json::Quoting;

/// Quotation marks, as they open and close.
const PAIRS: [(char, char); 12] = [
    ('"', '"'),
    ('\'', '\''),
    ('“', '”'),
    ('‘', '’'),
    ('«', '»'),
    ('»', '«'),
    ('„', '“'),
    ('‚', '‘'),
    ('‹', '›'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
];

/// Blanks between French quotation marks and the text in them.
const NARROW: [char; 3] = ['\u{a0}', '\u{202f}', '\u{2009}'];

/// A quotation mark before a call.
struct Mark {
    close: char,
    /// It begins its line: the call may be all of that.
    first: bool,
}

/// The quotation mark right before `at`.
fn mark_before(cx: &Reader<'_>, at: usize) -> Option<Mark> {
    // Mostly a line ends there, or a word.
    let mut before = cx.bytes().get(..at)?.iter().rev();
    let last = *before.next()?;
    let spaced = last == b' ' && before.next().is_some_and(|byte| !byte.is_ascii());
    if last.is_ascii() && !matches!(last, b'"' | b'\'') && !spaced {
        return None;
    }
    // A plain blank stands between typographic ones as well.
    let text = cx.slice(0, at - usize::from(spaced)).trim_end_matches(NARROW);
    let before = text.chars().next_back()?;
    let (open, close) = PAIRS.into_iter().find(|(open, _)| *open == before)?;
    Some(Mark { close, first: cx.at_line_start(text.len() - open.len_utf8()) })
}

/// A quotation mark stands right before `at`.
pub(in crate::engine) fn opens(cx: &Reader<'_>, at: usize) -> bool {
    mark_before(cx, at).is_some()
}

/// The quotation mark before `start` closes at `end`. Marks that are all of a line quote nothing: the model quotes its own answer.
pub(in crate::engine) fn closes(cx: &Reader<'_>, start: usize, end: usize) -> Look<()> {
    let Some(mark) = mark_before(cx, start) else { return Look::No };
    let mut rest = cx.rest(end).chars();
    // A tokenizer may have set its marker off with a blank.
    let next = match rest.find(|c| !NARROW.contains(c)) {
        Some(' ') => rest.next(),
        next => next,
    };
    match next {
        None if !cx.eof => return Look::More,
        Some(next) if next == mark.close => {}
        _ => return Look::No,
    }
    if !mark.first {
        return Look::Is(());
    }
    // The sentence goes on with a word.
    match (rest.next(), rest.next()) {
        (Some(' '), Some(next)) if next.is_alphanumeric() => Look::Is(()),
        (None, _) | (Some(' '), None) if !cx.eof => Look::More,
        _ => Look::No,
    }
}

/// A word stands before `at` in its line, with a blank between: a sentence goes up to there.
pub(in crate::engine) fn follows_word(cx: &Reader<'_>, at: usize) -> bool {
    let before = cx.slice(0, at);
    let words = before.trim_end_matches([' ', '\t']);
    words.len() < before.len() && words.ends_with(char::is_alphanumeric)
}

/// An object, or a list of objects, begins at `inside` whose quotes are escaped.
pub(super) fn is_escaped_object(cx: &Reader<'_>, inside: usize) -> Look<()> {
    let byte = |at: usize| cx.bytes().get(at).copied();
    let mut object = cx.skip_markup_space(inside);
    if byte(object) == Some(b'[') {
        object = seen!(cx.behind_space(object, object + 1));
    }
    if byte(object) != Some(b'{') {
        return Look::No;
    }
    let first = seen!(cx.behind_space(object, object + 1));
    Look::when(byte(first) == Some(b'\\'))
}

/// Whether a quote is open in a line, as far as that was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OpenQuote {
    begins: usize,
    read: usize,
    string: Quoting,
}

impl OpenQuote {
    /// A quote is open before `at` in the line that begins at `begins`.
    pub(super) fn is_open(&mut self, cx: &Reader<'_>, begins: usize, at: usize) -> bool {
        if self.begins != begins || self.read > at {
            *self = Self { begins, read: begins, ..Self::default() };
        }
        for byte in cx.bytes().get(self.read..at).unwrap_or_default() {
            self.string.read(*byte, |escaped| *byte == b'"' && !escaped);
        }
        self.read = at;
        self.string.is_open()
    }
}
