//! A call that somebody writes about: the sentence, or the expression, goes on right behind it, in the same line.
use super::clause;
use super::coded::{is_logged, is_said, is_trace};
use super::described;
use super::instructed;
use super::lexicon::GOES_ON;
use crate::char_class;
use crate::dialect::MarkersAt;
use crate::engine::found::{Found, Piece};
use crate::engine::look::{seen, unless};
use crate::engine::prose::shown::program::goes_on_below;
use crate::engine::reader::floor;
use crate::engine::writer::Pending;
use crate::engine::{Look, Reader};
use crate::schema::Tool;
use std::ops::Range;

/// A longer call without markers is no part of a sentence, and the sentence goes on within so many bytes of its beginning.
pub(in crate::engine) const LONGEST_CALL: usize = 256;

/// What follows a call says within so many bytes whether it goes on with another call.
const BEHIND: usize = 512;

/// How far a sentence reaches that speaks of the call without markers at `start`: one that is not over there need not wait for its end.
pub(crate) fn longest(start: usize) -> usize {
    start + LONGEST_CALL + BEHIND
}

/// A sentence speaks of the `call` without markers at `place`. Not of one that had to be mended, or cannot be read: how far that
/// reaches is a guess.
pub(crate) fn speaks_of(cx: &Reader<'_>, place: Range<usize>, call: Option<&Pending>, tool: Option<&Tool>) -> Look<()> {
    let Range { start, end: at } = place;
    if call.is_some_and(|call| call.status.readable() && described::describes(cx, tool, &call.arguments)) {
        return Look::Is(());
    }
    let guess = |call: &Pending| !call.status.readable() || matches!(call.arguments, Found::Json(Piece::Made(_)));
    if call.is_none_or(guess) {
        return Look::No;
    }
    unless!(left_header(cx, at));
    // Behind an object "and" is no operator: what follows is the next thing that is done.
    let object = cx.slice(start, at).ends_with('}');
    match if object { joins(cx, at + usize::from(cx.rest(at).starts_with(' '))) } else { Look::No } {
        Look::No => {}
        look => return look.then(|()| Look::No),
    }
    let goes_on = goes_on(cx, at, start + LONGEST_CALL);
    let told = || is_reported(cx, start, at).or(|| instructed::tells_of(cx, start, at)).or(|| is_in_log(cx, start, at));
    goes_on.or(|| wraps(cx, start, at)).or(told).or(|| goes_on_below(cx, start, at))
}

/// What is left of the header of another message, without its tokens.
const LEFT_HEADERS: [&str; 4] = ["user", "assistant", "ipython", "tool"];

/// Such a header stands at `at`, right behind a call.
fn left_header(cx: &Reader<'_>, at: usize) -> Look<()> {
    let ends_line = |end: usize| match cx.literal(end, "\n").or(|| cx.literal(end, "\r\n")) {
        Look::No if end >= cx.text.len() => Look::Is(()),
        look => look.unit(),
    };
    let looks = LEFT_HEADERS.iter().map(|header| cx.literal(at, header).then(ends_line));
    Look::any_of(looks)
}

/// Nothing but its name speaks for the `call` at `place`, and other text stands beside it: `ping()`. As the whole answer, or where
/// only calls and markers stand before it and behind it, it is called.
pub(crate) fn names(cx: &Reader<'_>, place: Range<usize>, call: Option<&Pending>, first: bool) -> Look<()> {
    let written = cx.part(&place);
    let python = written.ends_with([')', ',', ';']) && !written.starts_with(['{', '[', '(', '<']);
    let bare = call.is_some_and(|call| call.status.readable() && call.arguments.is_empty());
    if !(cx.dialects.auto && python && bare) {
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
        _ if next >= cx.text.len() => Look::No,
        _ => Look::Is(()),
    }
}

/// A sentence or an expression goes on at `at`, behind a call, and before `limit`: in a small letter or with an operator.
pub(crate) fn goes_on(cx: &Reader<'_>, at: usize, limit: usize) -> Look<()> {
    let is = |yes: bool| Look::when(yes);
    let skip = |at: usize| {
        let near = cx.slice(at, floor(cx.text, limit).max(at));
        at + near.len() - near.trim_start_matches([' ', '\t']).len()
    };
    // The character at a place, or what is known without it.
    let char_at = |at: usize| match cx.rest(at).chars().next() {
        Some(next) if at < limit => Look::Is(next),
        None if cx.may_go_on(at, limit) => Look::More,
        _ => Look::No,
    };
    let small = |at: usize| char_at(at).then(|next| is(goes_on_with(next)));
    let word = |at: usize| char_at(at).then(|next| is(next.is_alphabetic()));
    let next = skip(at);
    let attached = next == at;
    let sign = seen!(char_at(next));
    let behind = next + sign.len_utf8();
    match sign {
        _ if goes_on_with(sign) => Look::Is(()),
        // An attribute, an element, the call of what it gave, or the target of a link.
        '.' if attached => match char_at(behind) {
            // Or the sentence ends with it.
            Look::Is(' ') if behind < limit => char_at(skip(behind)).then(|next| is(next.is_uppercase())),
            next => next.then(|next| is(next.is_lowercase() || next == '_')),
        },
        // That of a list is: models take the first of the results that they ask for.
        '[' if attached && !cx.slice(0, at).ends_with(']') => {
            char_at(behind).then(|next| is(next.is_ascii_digit() || matches!(next, '"' | '\'' | '-' | ':')))
        }
        '(' if attached => char_at(behind).then(|next| is(!next.is_whitespace())),
        // A definition of it, not a call.
        '{' if !attached => char_at(behind).then(|next| is(matches!(next, '\n' | '\r'))),
        // What it does, or gives, is said.
        ':' if attached => match char_at(behind) {
            Look::Is(' ' | '\t') => char_at(skip(behind)).then(|next| is(next.is_alphanumeric())),
            Look::Is('\n' | '\r') => Look::Is(()),
            other => other.then(|_| Look::No),
        },
        ',' | '，' | '、' => small(skip(behind)),
        '–' | '—' => word(skip(behind)),
        '=' | '→' | '⇒' | '➜' | '➡' => Look::Is(()),
        // It is asked for, not called.
        '?' | '？' if attached => Look::Is(()),
        '!' => char_at(behind).then(|next| is(next == '=')),
        '-' => match char_at(behind) {
            Look::Is('>') => Look::Is(()),
            Look::Is(' ') if !attached => word(skip(behind)),
            other => other.then(|_| Look::No),
        },
        '<' | '>' if !attached => char_at(behind).then(|next| is(matches!(next, '=' | ' '))),
        '+' | '/' | '%' if attached => char_at(behind).then(|next| is(next.is_alphanumeric() || next == '_')),
        '+' | '*' | '/' | '%' | '|' | '&' if !attached => {
            char_at(behind).then(|next| is(next == ' ' || next == sign && next != '/'))
        }
        _ => Look::No,
    }
}

/// Signs that tell what came of a call.
const TELLS: [char; 6] = ['✅', '❌', '✓', '✔', '✗', '✘'];

/// The call at `start`, which ends at `at`, is an item of a list that tells what came of each, or says something of it in
/// parentheses: such a line stands above its own, or what announces one.
fn is_reported(cx: &Reader<'_>, start: usize, at: usize) -> Look<()> {
    let above = cx.before(start, BEHIND).strip_suffix('\n').map(str::trim_end);
    let line = above.unwrap_or_default().rsplit('\n').next().unwrap_or_default();
    let noted = line.contains(") (") && line.ends_with(')');
    if !(line.ends_with([':', '：']) || line.contains(TELLS) || noted) {
        return Look::No;
    }
    let next = seen!(cx.behind_space(at, at));
    let mut chars = cx.rest(next).chars();
    match (chars.next(), chars.next()) {
        _ if cx.slice(at, next).contains('\n') => Look::No,
        (Some(sign), _) if TELLS.contains(&sign) => Look::Is(()),
        (Some('('), Some(letter)) => Look::when(goes_on_with(letter)),
        (Some('('), None) if !cx.eof => Look::More,
        _ => Look::No,
    }
}

/// What begins the line of a log is no longer.
const STAMP: usize = 24;

/// The call at `start`, which ends at `at`, stands between two lines of a log. One alone may be a remark, and models label their steps
/// with other levels and with times.
fn is_in_log(cx: &Reader<'_>, start: usize, at: usize) -> Look<()> {
    let above = cx.before(start, BEHIND).strip_suffix('\n').and_then(|above| above.rsplit('\n').next());
    if !above.is_some_and(|above| is_trace(above) && !is_said(above)) {
        return Look::No;
    }
    let next = seen!(cx.behind_space(at, at));
    if !cx.slice(at, next).contains('\n') {
        return Look::No;
    }
    if cx.text.len() < next + STAMP && !cx.eof { Look::More } else { Look::when(is_logged(cx.ahead(next, STAMP))) }
}

/// So much white space stands round a call that a sentence goes on behind.
const GAP: usize = 32;

/// The sentence above the line of the call at `start`, which ends at `at`, goes on in the line below it, or with such a word in a
/// paragraph below it.
fn wraps(cx: &Reader<'_>, start: usize, at: usize) -> Look<()> {
    let near = cx.before(start, GAP);
    let above = near.trim_ascii_end();
    let far = near.get(above.len()..).unwrap_or_default();
    let lines = |space: &str| memchr::memchr_iter(b'\n', space.as_bytes()).count();
    // A label (`tool_code`) is no sentence, but it may stand in one.
    let (before, line) = above.rsplit_once('\n').unwrap_or(("", above));
    let before = before.trim_ascii_end();
    let apart = before.is_empty() || before.ends_with(['.', '!', '?', ':']);
    if apart && line.contains('_') && line.bytes().all(|byte| char_class::IDENTIFIER.has_byte(byte)) {
        return Look::No;
    }
    if at > start + LONGEST_CALL || !far.ends_with('\n') || !above.ends_with(char::is_alphanumeric) {
        return Look::No;
    }
    let below = cx.near(at, GAP);
    let space = below.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let next = at + space;
    let Some(first) = cx.rest(next).chars().next().filter(|_| space < GAP) else {
        return if space == GAP || cx.eof { Look::No } else { Look::More };
    };
    let gap = cx.slice(at, next);
    if lines(gap) == 0 || !first.is_lowercase() {
        return Look::No;
    }
    let object = cx.slice(start, at).ends_with('}');
    let next_line = lines(gap) == 1 && lines(far) == 1;
    if next_line && !object {
        return Look::Is(());
    }
    // Behind an object "and" begins the next step.
    match if object { joins(cx, next) } else { Look::No } {
        Look::No => {}
        look => return look.then(|()| Look::No),
    }
    let near = cx.ahead(next, GAP);
    let word = near.len() - near.trim_start_matches(char::is_alphabetic).len();
    if next + word == cx.text.len() && !cx.eof {
        return Look::More;
    }
    let word = cx.slice(next, next + word);
    let end = start - far.len();
    // Whoever says what they do next goes on with themselves: "I'll check it", and then "will report".
    let goes_on = GOES_ON.contains(&word) && !(word == "will" && clause::says_step(cx, end));
    Look::when(goes_on || clause::speaks(cx, end, word))
}

/// A sentence goes on with this letter: a small one, or one of a script that knows no others.
fn goes_on_with(letter: char) -> bool {
    letter.is_alphabetic() && !letter.is_uppercase()
}

/// Quotation marks, as they open and close.
static QUOTES: [(char, char); 12] = [
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

/// A quotation mark before a call.
struct QuotationMark {
    close: char,
    /// It begins its line: the call may be all of that.
    first: bool,
}

/// What stands between French quotation marks and the text in them.
const NARROW: [char; 3] = ['\u{a0}', '\u{202f}', '\u{2009}'];

/// The quotation mark right before `at`.
fn mark_before(cx: &Reader<'_>, at: usize) -> Option<QuotationMark> {
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
    let (open, close) = QUOTES.iter().copied().find(|(open, _)| *open == before)?;
    Some(QuotationMark { close, first: cx.at_line_start(text.len() - open.len_utf8()) })
}

/// A quotation mark stands right before `at`.
pub(crate) fn opens_quote(cx: &Reader<'_>, at: usize) -> bool {
    mark_before(cx, at).is_some()
}

/// A sentence goes on up to `at`: a word stands before it in its line, and nothing that ends one.
pub(crate) fn goes_up_to(cx: &Reader<'_>, at: usize) -> bool {
    let before = cx.slice(0, at);
    let words = before.trim_end_matches([' ', '\t']);
    words.len() < before.len() && words.ends_with(char::is_alphanumeric)
}

/// The quotation mark before `start` closes at `end`, and text stands beside the two in their line: what stands between them is
/// quoted.
pub(crate) fn quote_closes(cx: &Reader<'_>, start: usize, end: usize) -> Look<()> {
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

/// The word "and" stands at `at`.
fn joins(cx: &Reader<'_>, at: usize) -> Look<()> {
    let word = cx.bytes().get(at..).unwrap_or_default();
    let known = word.get(..4).unwrap_or(word);
    match known {
        b"and " | b"and\n" => Look::Is(()),
        b"and" if cx.eof => Look::Is(()),
        known if cx.may_go_on(known.len(), 4) && b"and".starts_with(known) => Look::More,
        _ => Look::No,
    }
}
