//! Where a value of a Python call ends.
use super::space::{self, behind_comment};
use super::torn;
use crate::dialect::{MarkersAt, Row};
use crate::engine::body::lenient;
use crate::engine::body::shown::Shown;
use crate::engine::head::LONGEST_NAME;
use crate::engine::prose::flow::in_name;
use crate::engine::{Look, Reader, head};
use crate::json::push_escaped;
use std::ops::Range;

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

/// A value that is being read: where it may end is decided by quotes and brackets.
#[derive(Debug, Default)]
pub(super) struct ValueScan {
    pub(super) start: usize,
    pub(super) at: usize,
    pub(super) brackets: usize,
    /// The open quote and whether it is tripled.
    pub(super) quote: Option<(u8, bool)>,
    /// How many strings have begun, and where the last of them did.
    strings: usize,
    opened: usize,
    pub(super) shown: Shown,
    /// The string that is open is one with holes, if braces stand in it.
    format: bool,
    /// One of the strings had holes.
    pub(super) holes: bool,
    inner: Option<Inner>,
    /// A quote in it had a comma behind it, as if it were its last.
    ended: bool,
    /// Where the last escape in a string begins.
    escape: Option<usize>,
    /// How far the value has been given out.
    sent: usize,
    /// The string was closed where only a comma is missing, so the value is over.
    over: bool,
    /// What looks like a structure without its comma stands in a string, and names nothing that is offered.
    pub(super) torn: bool,
}

/// So many bytes an escape may have, or two that are one character.
const LONGEST_ESCAPE: usize = 12;

/// What begins where a comma is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Argument,
    Call,
}

impl ValueScan {
    /// The value of an argument of the tool that is `called` begins at `start`.
    pub(super) fn at(start: usize) -> Self {
        Self { start, at: start, sent: start, ..Self::default() }
    }

    /// What is new of the string that the value is so far, escaped as JSON has it: up to where the search for its end has
    /// come, but for an escape that may go on.
    pub(super) fn certain(&mut self, cx: &Reader<'_>) -> Option<String> {
        let (quote, triple) = self.quote.filter(|_| self.strings == 1 && self.opened == self.start)?;
        let from = self.sent.max(self.opened + if triple { 3 } else { 1 });
        let to = self.escape.filter(|escape| self.at < escape + LONGEST_ESCAPE).unwrap_or(self.at);
        let text = cx.slice(from, to);
        if text.is_empty() {
            return None;
        }
        self.sent = to;
        let mut json = String::new();
        if memchr::memchr(b'\\', text.as_bytes()).is_none() {
            push_escaped(&mut json, text);
        } else {
            let quote = char::from(quote);
            let read = lenient::string(&format!("{quote}{text}{quote}"), from);
            json.push_str(read.json.strip_prefix('"')?.strip_suffix('"')?);
        }
        Some(json)
    }

    /// The value, now that its end was found, is one string and no more.
    pub(super) fn is_string(&self, text: &str) -> bool {
        self.strings == 1 && text.starts_with(['"', '\''])
    }

    /// Where the value ends: before the comma or the parenthesis that follows it, or where only the comma is missing.
    pub(super) fn end(&mut self, cx: &Reader<'_>, row: Option<&Row>, keyed: bool, called: &str) -> Look<usize> {
        let bytes = cx.bytes();
        loop {
            let Some(byte) = bytes.get(self.at).copied() else { return Look::More };
            if let Some((quote, triple)) = self.quote {
                match self.in_string(cx, row, (quote, triple), keyed, called) {
                    Look::Is(()) if self.over => return Look::Is(self.at),
                    Look::Is(()) => continue,
                    _ => return Look::More,
                }
            }
            match byte {
                b'"' | b'\'' => {
                    let Some(prefix) = string_prefix(cx.slice(self.start, self.at)) else {
                        self.at += 1;
                        continue;
                    };
                    let rest = bytes.get(self.at..).unwrap_or_default();
                    if rest.len() < 3 && rest.iter().all(|b| *b == byte) && !cx.eof {
                        return Look::More;
                    }
                    let triple = rest.starts_with(&[byte; 3]);
                    self.quote = Some((byte, triple));
                    self.strings += 1;
                    self.opened = self.at;
                    (self.inner, self.ended) = (None, false);
                    self.shown = Shown::new(self.at + 1);
                    self.format = prefix.contains(['f', 'F']);
                    self.at += if triple { 3 } else { 1 };
                }
                b'(' | b'[' | b'{' => {
                    self.brackets += 1;
                    self.at += 1;
                }
                b')' | b']' | b'}' => {
                    if self.brackets == 0 {
                        return Look::Is(self.at);
                    }
                    self.brackets -= 1;
                    self.at += 1;
                }
                b',' if self.brackets == 0 => {
                    // The comma of bare words (`location=Palo Alto, CA`) belongs to the value unless a name follows.
                    let text = cx.slice(self.start, self.at).trim();
                    if !keyed || lenient::looks_literal(text) {
                        return Look::Is(self.at);
                    }
                    match next_is_argument(cx, self.at + 1) {
                        Look::Is(()) => return Look::Is(self.at),
                        Look::No => self.at += 1,
                        Look::More => return Look::More,
                    }
                }
                b' ' | b'\t' | b'\n' | b'\r' if self.brackets == 0 => {
                    let next = cx.skip_space(self.at);
                    if cx.bytes().get(next) == Some(&b'#') && lenient::looks_literal(cx.slice(self.start, self.at)) {
                        match behind_comment(cx, next) {
                            Look::Is(_) => return Look::Is(self.at),
                            Look::More => return Look::More,
                            Look::No => {}
                        }
                    }
                    // Bare words are a value as well, if what stands behind them is known.
                    let known = || cx.tools.is_some() || lenient::looks_literal(cx.slice(self.start, self.at));
                    match next_item(cx, next, called) {
                        Look::Is(_) if known() => return Look::Is(self.at),
                        Look::More => return Look::More,
                        _ => self.at = next,
                    }
                }
                // A comment in a list or an object: quotes in it open nothing. `#fff` and `#tag` may be values.
                b'#' if self.brackets > 0 => {
                    let blank = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_whitespace);
                    let comment = match bytes.get(self.at + 1) {
                        None if !cx.eof => Look::More,
                        _ if !(blank(self.at - 1) && blank(self.at + 1)) => Look::No,
                        _ => space::comment(cx, self.at),
                    };
                    match comment {
                        Look::Is(end) => self.at = end,
                        Look::More => return Look::More,
                        Look::No => self.at += 1,
                    }
                }
                // The fence round the call is closed, and the call is not.
                b'`' if self.brackets == 0 => match fence_closes(cx, self.at) {
                    Look::Is(()) => return Look::Is(self.at),
                    Look::More => return Look::More,
                    Look::No => self.at += 1,
                },
                _ => self.at += 1,
            }
        }
    }

    fn in_string(
        &mut self,
        cx: &Reader<'_>,
        row: Option<&Row>,
        (quote, triple): (u8, bool),
        keyed: bool,
        called: &str,
    ) -> Look<()> {
        let bytes = cx.bytes();
        let rest = bytes.get(self.at..).unwrap_or_default();
        let Some(hit) = memchr::memchr2(quote, b'\\', rest) else {
            self.at = bytes.len();
            return Look::More;
        };
        self.at += hit;
        if bytes.get(self.at) == Some(&b'\\') {
            if self.at + 1 >= bytes.len() {
                return Look::More;
            }
            if bytes.get(self.at + 1) == Some(&quote) && !triple && keyed {
                match unescaped_argument(cx, self.at + 2, quote, called) {
                    Look::More => return Look::More,
                    look => self.torn |= look == Look::Is(()),
                }
            }
            // Two of them may be one character.
            let half = |escape: usize| matches!(cx.rest(escape).as_bytes(), [b'\\', b'u', b'd' | b'D', ..]);
            let pair = |escape: usize| escape + 6 == self.at && half(escape);
            if !self.escape.is_some_and(pair) {
                self.escape = Some(self.at);
            }
            self.at += 2;
            while !cx.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            return Look::Is(());
        }
        if triple {
            let rest = bytes.get(self.at..).unwrap_or_default();
            if rest.len() < 3 && !cx.eof {
                return Look::More;
            }
            if rest.starts_with(&[quote; 3]) {
                self.close(cx);
                self.at += 3;
            } else {
                self.at += 1;
            }
            return Look::Is(());
        }
        if let Some(row) = row {
            match self.shown.closes(cx, row, self.at..self.at + 1) {
                Look::Is(()) => {}
                Look::No => {
                    self.at += 1;
                    return Look::Is(());
                }
                Look::More => return Look::More,
            }
        }
        // A quote closes only where the structure goes on; else it is an apostrophe.
        let mut next = cx.skip_space(self.at + 1);
        if bytes.get(next) == Some(&b'#') {
            match behind_comment(cx, next) {
                Look::Is(behind) => next = behind,
                Look::More => return Look::More,
                Look::No => {}
            }
        }
        let doubted = matches!(self.inner, Some(Inner::Opening | Inner::Reopening));
        let closes = match bytes.get(next) {
            None if !cx.eof => return Look::More,
            None => true,
            Some(b')' | b']' | b'}') if doubted => match brackets_end(cx, next, called) {
                Look::More => return Look::More,
                look => look == Look::Is(()),
            },
            Some(b',') if doubted => match next_item(cx, cx.skip_space(next + 1), called) {
                Look::More => return Look::More,
                look => look != Look::No,
            },
            Some(_) if doubted => false,
            // Two of them: the one inside, and the string's own.
            Some(byte) if *byte == quote && next == self.at + 1 => false,
            Some(b')' | b']' | b'}' | b':' | b'+' | b'\'' | b'"' | b'[' | b'.' | b'%' | b'*' | b';') => true,
            Some(b'`') => match fence_closes(cx, next) {
                Look::More => return Look::More,
                look => look == Look::Is(()),
            },
            Some(b',') if self.brackets > 0 || !keyed => true,
            Some(b',') => match next_is_argument(cx, next + 1) {
                Look::More => return Look::More,
                Look::Is(()) => true,
                Look::No => false,
            },
            Some(_) if self.inner.is_some() || self.brackets > 0 || self.behind_opening(cx) => false,
            Some(_) => match next_item(cx, next, called) {
                Look::More => return Look::More,
                Look::Is(_) => {
                    self.over = true;
                    true
                }
                Look::No if cx.tools.is_none() || next == self.at + 1 => false,
                Look::No => match looks_structured(cx, next) {
                    Look::More => return Look::More,
                    look => {
                        self.torn |= look == Look::Is(());
                        false
                    }
                },
            },
        };
        if closes {
            self.torn |= self.inner == Some(Inner::Reopening);
            self.close(cx);
        } else {
            let behind = bytes.get(self.at + 1);
            let opens = self.opens(cx);
            self.torn |= torn::opens_value(cx, self.opened + 1, self.at, called, self.ended);
            if !opens && !doubted {
                match torn::argument_behind(cx, self.at + 1, called) {
                    Look::More => return Look::More,
                    look => self.torn |= look == Look::Is(()),
                }
            }
            self.ended |= !opens && !doubted && bytes.get(next) == Some(&b',');
            self.inner = match self.inner {
                Some(Inner::Closing | Inner::Reopening) if opens => Some(Inner::Reopening),
                _ if opens => Some(Inner::Opening),
                Some(_) => None,
                None if behind.is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b',') => Some(Inner::Closing),
                None => Some(Inner::Apostrophe),
            };
        }
        self.at += 1;
        Look::Is(())
    }

    /// The string ends at the quote at hand.
    fn close(&mut self, cx: &Reader<'_>) {
        self.quote = None;
        self.holes |= self.format && cx.slice(self.opened, self.at).contains('{');
    }

    /// The quote at hand looks as if it opened something: by what stands before it, and by what follows.
    fn opens(&self, cx: &Reader<'_>) -> bool {
        let closes = |byte: &u8| byte.is_ascii_whitespace() || b")]},:;.!?'\"".contains(byte);
        let body = self.opened + 1 == self.at;
        (body || self.behind_opening(cx)) && cx.bytes().get(self.at + 1).is_some_and(|byte| !closes(byte))
    }

    /// What stands before the quote at hand may stand before a string.
    fn behind_opening(&self, cx: &Reader<'_>) -> bool {
        let before = self.at.checked_sub(1).and_then(|i| cx.bytes().get(i));
        before.is_some_and(|b| b.is_ascii_whitespace() || matches!(b, b'=' | b'(' | b'[' | b'{' | b':' | b'<' | b','))
    }
}

/// The prefix of a string that begins behind `before` (`r`, `f`, mostly none). `None`: a quote there is one in a word.
fn string_prefix(before: &str) -> Option<&str> {
    let letters = before.chars().rev().take(3).take_while(|c| c.is_alphanumeric()).map(char::len_utf8).sum::<usize>();
    let prefix = before.get(before.len() - letters..)?;
    let known = prefix.len() < 3 && prefix.bytes().all(|byte| b"rbufRBUF".contains(&byte));
    // A value may begin with any, as it always could.
    (known || before.len() <= 2).then_some(prefix)
}

/// The identifier at `at`, dots and hyphens and Markdown's backslashes included, or the beginning of one that is too long to
/// be a name.
pub(super) fn name_at(cx: &Reader<'_>, at: usize) -> Range<usize> {
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let length = rest.iter().take(LONGEST_NAME + 1).take_while(|byte| in_name(**byte)).count();
    at..at + length
}

/// What stands at `at`, behind a value, if only the comma is missing before it: a parameter of the tool that is `called`
/// with its equals sign, or an offered tool with the beginning of its arguments.
pub(super) fn next_item(cx: &Reader<'_>, at: usize, called: &str) -> Look<Item> {
    let name = name_at(cx, at);
    match cx.bytes().get(at) {
        None if !cx.eof => return Look::More,
        Some(byte) if (byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'\\')) && name.len() <= 128 => {}
        _ => return Look::No,
    }
    let next = cx.skip_space(name.end);
    let more = !cx.eof && next - at < 4096;
    let declared = |tool: &str, key: &str| cx.tools.is_none() || cx.tool(tool).is_some_and(|tool| tool.declares(key));
    let text = cx.slice(name.start, name.end);
    match cx.bytes().get(next) {
        None if more => Look::More,
        Some(b'=') if declared(called, text) => match cx.bytes().get(next + 1) {
            None if more => Look::More,
            None | Some(b'=') => Look::No,
            Some(_) => Look::Is(Item::Argument),
        },
        Some(b'(') if cx.tools.is_none() || cx.offered(text) => {
            let inside = cx.skip_space(next + 1);
            let key = name_at(cx, inside);
            let equals = cx.skip_space(key.end);
            match (cx.bytes().get(inside), cx.bytes().get(equals)) {
                (Some(b')'), _) => Look::Is(Item::Call),
                (Some(b'"' | b'\''), _) if cx.tools.is_some() => Look::Is(Item::Call),
                (_, None) if more && equals - next < 4096 => Look::More,
                (_, Some(b'=')) if !key.is_empty() && declared(text, cx.slice(key.start, key.end)) => {
                    Look::Is(Item::Call)
                }
                _ => Look::No,
            }
        }
        _ => Look::No,
    }
}

/// A comma and another argument of the tool that is `called` stand at `at`, its string in a quote without a backslash: the
/// quote before it, which has one, was meant to end its string.
fn unescaped_argument(cx: &Reader<'_>, at: usize, quote: u8, called: &str) -> Look<()> {
    let comma = cx.skip_space(at);
    match cx.bytes().get(comma) {
        None if !cx.eof => return Look::More,
        Some(b',') => {}
        _ => return Look::No,
    }
    let start = cx.skip_space(comma + 1);
    match next_item(cx, start, called) {
        Look::Is(Item::Argument) => {}
        Look::More => return Look::More,
        _ => return Look::No,
    }
    let value = cx.skip_space(cx.skip_space(name_at(cx, start).end) + 1);
    match cx.bytes().get(value) {
        None if !cx.eof => Look::More,
        Some(byte) if *byte == quote => Look::Is(()),
        _ => Look::No,
    }
}

/// The bracket at `at` closes something of the call's own: behind it, and behind what else closes there, another argument
/// follows, another call, a marker, or nothing.
fn brackets_end(cx: &Reader<'_>, at: usize, called: &str) -> Look<()> {
    let near = cx.bytes().get(at..).unwrap_or_default();
    let near = near.get(..64).unwrap_or(near);
    let closing = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b')' | b']' | b'}');
    let brackets = cx.slice(at, at + near.iter().position(|byte| !closing(byte)).unwrap_or(near.len()));
    let item = |at: usize| match next_item(cx, cx.skip_space(at), called) {
        Look::Is(Item::Call) => Look::Is(()),
        Look::Is(Item::Argument) if !brackets.contains(')') => Look::Is(()),
        Look::More => Look::More,
        _ => Look::No,
    };
    let end = at + brackets.len();
    match cx.bytes().get(end) {
        None if cx.eof => Look::Is(()),
        None => Look::More,
        Some(b',' | b';') => item(end + 1),
        Some(b'`') => fence_closes(cx, end),
        Some(_) => match cx.dialects.markers.at(cx.bytes(), end) {
            MarkersAt::Some { .. } => Look::Is(()),
            MarkersAt::Partial if !cx.eof => Look::More,
            _ if brackets.contains('\n') && cx.tools.is_some() => item(end),
            _ => Look::No,
        },
    }
}

/// `name="` or `name(name="` stands at `at`: no words, whatever they name.
fn looks_structured(cx: &Reader<'_>, at: usize) -> Look<()> {
    let mut key = name_at(cx, at);
    let sign = |at: usize| match cx.bytes().get(at) {
        None if !cx.eof => Look::More,
        None => Look::No,
        Some(byte) => Look::Is(*byte),
    };
    if key.is_empty() || key.len() > 128 {
        return Look::No;
    }
    if sign(key.end) == Look::Is(b'(') {
        key = name_at(cx, key.end + 1);
    }
    match sign(key.end) {
        Look::Is(b'=') if !key.is_empty() => match sign(key.end + 1) {
            Look::Is(b'"' | b'\'') => Look::Is(()),
            Look::More => Look::More,
            _ => Look::No,
        },
        Look::More => Look::More,
        _ => Look::No,
    }
}

/// A line that closes a fence begins at `at`.
fn fence_closes(cx: &Reader<'_>, at: usize) -> Look<()> {
    if cx.at_line_start(at) { head::literal(cx, at, "```").map(|_| ()) } else { Look::No }
}

/// After a comma: another named argument, the end of the call, or (for a trailing comma) nothing.
fn next_is_argument(cx: &Reader<'_>, at: usize) -> Look<()> {
    let mut start = match space::skip(cx, at) {
        Look::Is(start) => start,
        other => return other.map(|_| ()),
    };
    if cx.bytes().get(start) == Some(&b',') {
        // One comma too many is a slip.
        start = cx.skip_space(start + 1);
    }
    let name = name_at(cx, start);
    let equals = cx.skip_space(name.end);
    match cx.bytes().get(equals) {
        None if !cx.eof && equals - at < 4096 => Look::More,
        Some(b'=') if !name.is_empty() => Look::Is(()),
        // Another call: the parenthesis of this one is missing.
        Some(b'(') if cx.offered(cx.slice(name.start, name.end)) => Look::Is(()),
        Some(b')') if name.is_empty() => Look::Is(()),
        Some(b'*') if name.is_empty() => Look::Is(()),
        _ => Look::No,
    }
}
