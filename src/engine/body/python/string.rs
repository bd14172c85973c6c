//! Where a string in a value of a Python call ends, in which quotes of its own kind may stand without a backslash.
use super::ahead::{
    behind_wide_comma, brackets_end, fence_closes, is_wide_comma, looks_structured, next_is_argument, next_item,
    prefixed_string, unescaped_argument,
};
use super::space::behind_comment;
use super::stray;
use super::value::Argument;
use crate::engine::body::shown::ShownCalls;
use crate::engine::{Look, Reader};

/// What is quoted in a string and begins with a sign is no longer.
const LONGEST_QUOTED: usize = 256;

/// A string whose end has not come.
#[derive(Debug)]
pub(super) struct OpenString {
    pub(super) quote: u8,
    triple: bool,
    /// Where its first quote stands.
    pub(super) start: usize,
    /// Braces in it are holes.
    format: bool,
    pub(super) calls: ShownCalls,
    inner: Option<Inner>,
    /// A quote in it had a comma behind it, as if it were its last.
    ended: bool,
    /// Where the last escape in it begins.
    pub(super) escape: Option<usize>,
    /// What stands in it looks as if it had ended before: an argument, or a structure that lacks its comma.
    pub(super) torn: bool,
    kept: Kept,
}

/// The quotes of its own kind that stand in a string as a part of its text.
#[derive(Debug, Default)]
struct Kept {
    /// How many nothing escapes.
    bare: usize,
    /// Those among them that are no apostrophes do not come in pairs.
    odd: bool,
    /// The last one that opened something was counted for that.
    opened: bool,
    /// Nor do those that have a backslash.
    odd_escaped: bool,
    /// The last bare one stands behind a digit.
    inches: bool,
}

impl Kept {
    /// One of them opens what nothing closes, so it may have been the string's end, or what ended the string none. The only one
    /// may mean inches.
    fn leaves_one_open(&self) -> bool {
        let sure = self.bare == 1 && self.inches && !self.odd_escaped;
        self.bare > 0 && self.odd != self.odd_escaped && !sure
    }
}

/// A quote of the string's own kind that stands in it without a backslash, while its counterpart has not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inner {
    /// It may be an apostrophe, which has none.
    Apostrophe,
    /// It stands where a string ends, though nothing that could follow the value does.
    Closing,
    /// It stands where a string begins, as in code that was not escaped.
    Opening,
    /// As that, and one that may close the string stands before it: `"x" if y else "z"`.
    Reopening,
}

impl Inner {
    /// The next quote closes this one, unless the call surely goes on behind it.
    fn is_open(self) -> bool {
        matches!(self, Self::Opening | Self::Reopening)
    }
}

/// What a quote or an escape in a string is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// A part of its text.
    Text,
    EndsString,
    /// Its end, and that of the value: only the comma behind it is missing.
    EndsValue,
}

impl OpenString {
    /// The string that the quote at `at` opens, in a value that begins at `value`. `No`: it is one in a word.
    pub(super) fn at(cx: &Reader<'_>, value: usize, at: usize) -> Look<Self> {
        let Some(prefix) = prefix(cx.slice(value, at)) else { return Look::No };
        let rest = cx.bytes().get(at..).unwrap_or_default();
        let Some(quote) = rest.first().copied() else { return Look::No };
        if rest.len() < 3 && rest.iter().all(|byte| *byte == quote) && !cx.eof {
            return Look::More;
        }
        Look::Is(Self {
            quote,
            triple: rest.starts_with(&[quote; 3]),
            start: at,
            format: prefix.contains(['f', 'F']),
            calls: ShownCalls::new(at + 1),
            inner: None,
            ended: false,
            escape: None,
            torn: false,
            kept: Kept::default(),
        })
    }

    /// Where its text begins.
    pub(super) fn text(&self) -> usize {
        self.start + if self.triple { 3 } else { 1 }
    }

    /// Up to its `end`, what it is has holes: `f"{city}"`.
    pub(super) fn has_holes(&self, cx: &Reader<'_>, end: usize) -> bool {
        self.format && cx.slice(self.start, end).contains('{')
    }

    /// Reads on from `at`, behind the next quote of its kind. `nested`: it stands in brackets.
    pub(super) fn read(
        &mut self,
        cx: &Reader<'_>,
        at: &mut usize,
        argument: Argument<'_>,
        nested: bool,
    ) -> Look<Means> {
        let rest = loop {
            let rest = cx.bytes().get(*at..).unwrap_or_default();
            let Some(hit) = memchr::memchr2(self.quote, b'\\', rest) else {
                *at = cx.text.len();
                return Look::More;
            };
            *at += hit;
            let rest = rest.get(hit..).unwrap_or_default();
            if rest.first() != Some(&b'\\') {
                break rest;
            }
            match self.escape(cx, *at, argument) {
                Look::Is(end) => *at = end,
                _ => return Look::More,
            }
        };
        if self.triple {
            if cx.may_go_on(rest.len(), 3) {
                return Look::More;
            }
            let ends = rest.starts_with(&[self.quote; 3]);
            *at += if ends { 3 } else { 1 };
            return Look::Is(if ends { Means::EndsString } else { Means::Text });
        }
        let look = match argument.row.map_or(Look::Is(()), |row| self.calls.closes(cx, row, *at..*at + 1)) {
            Look::Is(()) => self.quote(cx, *at, argument, nested),
            // It is one of a call that is shown.
            Look::No => Look::Is(Means::Text),
            Look::More => Look::More,
        };
        *at += usize::from(look != Look::More);
        look
    }

    /// A backslash stands at `at`: where what it escapes ends.
    fn escape(&mut self, cx: &Reader<'_>, at: usize, argument: Argument<'_>) -> Look<usize> {
        let Some(escaped) = cx.bytes().get(at + 1).copied() else { return Look::More };
        let mut end = at + 2;
        if escaped == b'"' || escaped == b'\'' {
            if escaped == self.quote && !self.triple && argument.keyed {
                match unescaped_argument(cx, end, self.quote, argument.called) {
                    Look::More => return Look::More,
                    look => self.torn |= look == Look::Is(()),
                }
            }
            self.kept.odd_escaped ^= escaped == b'"' && self.quote == b'"';
        }
        // Two of them may be one character.
        let first = self.escape.filter(|_| escaped == b'u').map(|escape| last_half(cx, escape));
        self.escape = first.filter(|first| first + 6 == at && is_half(cx, *first)).or(Some(at));
        while !cx.text.is_char_boundary(end) {
            end += 1;
        }
        Look::Is(end)
    }

    /// A quote of its kind stands at `at`. It closes the string only where the structure goes on; else it is an apostrophe, or
    /// one of two round a word.
    fn quote(&mut self, cx: &Reader<'_>, at: usize, argument: Argument<'_>, nested: bool) -> Look<Means> {
        let mut next = cx.skip_space(at + 1);
        if cx.bytes().get(next) == Some(&b'#') {
            match behind_comment(cx, next) {
                Look::Is(behind) => next = behind,
                Look::More => return Look::More,
                Look::No => {}
            }
        }
        let ends = match self.inner {
            Some(inner) if inner.is_open() => ends_in_quotes(cx, next, argument.called),
            _ => self.ends(cx, at, next, argument, nested),
        };
        match ends {
            Look::Is(_) => {
                self.torn |= self.inner == Some(Inner::Reopening)
                    || !nested && self.kept.leaves_one_open()
                    || self.kept.bare > 0 && stray::call_within(cx, self.start + 1, at);
            }
            Look::No => return self.keep(cx, (at, next), argument.called, nested),
            Look::More => {}
        }
        ends
    }

    /// The quote at `at` closes the string, by what stands at `next`, behind it.
    fn ends(&mut self, cx: &Reader<'_>, at: usize, next: usize, argument: Argument<'_>, nested: bool) -> Look<Means> {
        let ends = Look::Is(Means::EndsString);
        match cx.bytes().get(next) {
            None if !cx.eof => Look::More,
            None => ends,
            // Two of them: the one inside, and the string's own.
            Some(byte) if *byte == self.quote && next == at + 1 => Look::No,
            // A string right behind the one that is open in it goes on with none: `-F',' '{print}'`.
            Some(b'\'' | b'"') if self.inner == Some(Inner::Closing) => Look::No,
            Some(b':' | b'+' | b'[' | b'.' | b'%' | b'*' | b';') if next == at + 1 => {
                match self.quotes_sign(cx, at, argument.called, nested) {
                    Look::Is(()) => Look::No,
                    look => look.or(|| Look::Is(())).map(|()| Means::EndsString),
                }
            }
            Some(b')' | b']' | b'}' | b':' | b'+' | b'\'' | b'"' | b'[' | b'.' | b'%' | b'*' | b';') => ends,
            Some(b'`') => fence_closes(cx, next).then(|()| ends),
            Some(b',') if nested || !argument.keyed => ends,
            Some(b',') => next_is_argument(cx, next + 1).then(|()| ends),
            Some(_) if !nested && is_wide_comma(cx, next) => {
                behind_wide_comma(cx, next, argument.called).map(|_| Means::EndsValue)
            }
            Some(_) if self.inner.is_some() || opens_behind(cx, at) => Look::No,
            Some(_) => {
                // Another string goes on with this one.
                let joined = if next > at + 1 { prefixed_string(cx, next) } else { Look::No };
                match joined {
                    Look::No if nested => Look::No,
                    Look::No => self.ends_before_item(cx, at, next, argument.called),
                    look => look.then(|()| ends),
                }
            }
        }
    }

    /// The quote at `at` closes the string, and only the comma before what stands at `next` is missing.
    fn ends_before_item(&mut self, cx: &Reader<'_>, at: usize, next: usize, called: &str) -> Look<Means> {
        match next_item(cx, next, called) {
            Look::No if cx.tools.is_some() && next > at + 1 => {
                let look = looks_structured(cx, next);
                self.torn |= look == Look::Is(());
                look.then(|()| Look::No)
            }
            look => look.map(|_| Means::EndsValue),
        }
    }

    /// The quote at `at`, with something else than white space at `next` behind it, is a part of the text.
    fn keep(&mut self, cx: &Reader<'_>, (at, next): (usize, usize), called: &str, nested: bool) -> Look<Means> {
        let opens = self.opens(cx, at) || self.quotes_sign(cx, at, called, nested) == Look::Is(());
        let closes = !opens && self.inner.is_some_and(Inner::is_open);
        self.torn |= stray::opens_value(cx, self.start + 1, at, called, self.ended);
        if !opens && !closes {
            match stray::argument_behind_quote(cx, at + 1, called) {
                Look::More => return Look::More,
                look => self.torn |= look == Look::Is(()),
            }
            self.ended |= cx.bytes().get(next) == Some(&b',');
        }
        self.kept.bare += 1;
        // Of two that belong together, neither is an apostrophe.
        let counts = if closes { self.kept.opened } else { !(self.quote == b'\'' && is_apostrophe(cx, at)) };
        self.kept.odd ^= counts;
        self.kept.opened = opens && counts;
        self.kept.inches = cx.slice(0, at).ends_with(|c: char| c.is_ascii_digit());
        let parts = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
        self.inner = match self.inner {
            Some(Inner::Closing | Inner::Reopening) if opens => Some(Inner::Reopening),
            _ if opens => Some(Inner::Opening),
            Some(_) => None,
            None if cx.bytes().get(at + 1).is_some_and(parts) => Some(Inner::Closing),
            None => Some(Inner::Apostrophe),
        };
        Look::Is(Means::Text)
    }

    /// The quote at `at` has a sign behind it with which an expression goes on, but that is text: the next quote stands where none
    /// begins a string, so that it closes what this one opens: `-name '*.py'`, `-d'.'`.
    fn quotes_sign(&self, cx: &Reader<'_>, at: usize, called: &str, nested: bool) -> Look<()> {
        let sign = |byte: &u8| matches!(byte, b':' | b'+' | b'[' | b'.' | b'%' | b'*' | b';');
        // What begins the value of an argument is none of the text.
        if !cx.bytes().get(at + 1).is_some_and(sign) || stray::opens_value(cx, self.start + 1, at, called, self.ended) {
            return Look::No;
        }
        let near = cx.near(at + 1, LONGEST_QUOTED);
        match near.iter().position(|byte| *byte == self.quote || *byte == b'\n') {
            Some(end) if near.get(end) == Some(&self.quote) => {
                Look::when(!may_open(cx.slice(at + 1, at + 1 + end), nested))
            }
            Some(_) => Look::No,
            None => cx.ran_out(near.len(), LONGEST_QUOTED),
        }
    }

    /// The quote at `at` looks as if it opened something: by what stands before it, and by what follows.
    fn opens(&self, cx: &Reader<'_>, at: usize) -> bool {
        let closes = |byte: &u8| byte.is_ascii_whitespace() || b")]},:;.!?'\"".contains(byte);
        (at == self.start + 1 || opens_behind(cx, at)) && cx.bytes().get(at + 1).is_some_and(|byte| !closes(byte))
    }
}

/// While another quote is open in it, a string ends only before what is surely the call's own: `next` is where that stands.
fn ends_in_quotes(cx: &Reader<'_>, next: usize, called: &str) -> Look<Means> {
    let ends = match cx.bytes().get(next) {
        None if !cx.eof => Look::More,
        None => Look::Is(()),
        Some(b')' | b']' | b'}') => brackets_end(cx, next, called),
        Some(b',') => next_item(cx, cx.skip_space(next + 1), called).unit(),
        Some(_) => Look::No,
    };
    ends.map(|()| Means::EndsString)
}

/// The escape at `at` is the first half of a character.
fn is_half(cx: &Reader<'_>, at: usize) -> bool {
    let text = cx.bytes().get(at..).unwrap_or_default();
    matches!(text, [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', ..])
}

/// The last of the first halves of characters that stand one behind the other from `escape` on: only it may have a second one.
pub(super) fn last_half(cx: &Reader<'_>, mut escape: usize) -> usize {
    while is_half(cx, escape) && is_half(cx, escape + 6) {
        escape += 6;
    }
    escape
}

/// The single quote at `at` stands in a word (`it's`), behind a plural (`the dogs' bowl`) or before a year (`the '90s`).
fn is_apostrophe(cx: &Reader<'_>, at: usize) -> bool {
    let (before, behind) = (cx.slice(0, at), cx.rest(at + 1));
    let in_word = before.ends_with(char::is_alphanumeric) && behind.starts_with(char::is_alphanumeric);
    let year = before.ends_with(' ') && behind.starts_with(|c: char| c.is_ascii_digit());
    in_word || year || before.ends_with('s') && behind.starts_with(' ')
}

/// What stands before the quote at `at` may stand before a string.
fn opens_behind(cx: &Reader<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|i| cx.bytes().get(i));
    before.is_some_and(|b| b.is_ascii_whitespace() || matches!(b, b'=' | b'(' | b'[' | b'{' | b':' | b'<' | b','))
}

/// Behind `before` a string may begin: an operator, a bracket or a comma stands there, or a blank.
fn may_open(before: &str, nested: bool) -> bool {
    let letters = |c: char| matches!(c.to_ascii_lowercase(), 'r' | 'b' | 'u' | 'f');
    let operator = |c: char| c.is_ascii_whitespace() || "+*%-/=([{,<>|&^@".contains(c) || nested && c == ':';
    before.ends_with(operator) || before.trim_end_matches(letters).ends_with(operator)
}

/// The prefix of a string that begins behind `before` (`r`, `f`, mostly none). `None`: a quote there is one in a word.
fn prefix(before: &str) -> Option<&str> {
    let letters = before.chars().rev().take(3).take_while(|c| c.is_alphanumeric()).map(char::len_utf8).sum::<usize>();
    let prefix = before.get(before.len() - letters..)?;
    let known = prefix.len() < 3 && prefix.bytes().all(|byte| b"rbufRBUF".contains(&byte));
    // A value may begin with any, as it always could.
    (known || before.len() <= 2).then_some(prefix)
}
