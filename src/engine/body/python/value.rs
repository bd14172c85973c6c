//! Where a value of a Python call ends.
use super::ahead::{behind_wide_comma, fence_closes, is_wide_comma, next_is_argument, next_item};
use super::space::{self, behind_comment};
use super::string::{Means, OpenString, last_half};
use crate::bytes::trimmed;
use crate::dialect::Row;
use crate::engine::body::literal;
use crate::engine::{Look, Reader};
use crate::json::push_escaped;

/// What a value is read for.
#[derive(Clone, Copy)]
pub(super) struct Argument<'c> {
    /// The row of the dialect that the call is of.
    pub(super) row: Option<&'c Row>,
    /// Its name stands before the value.
    pub(super) keyed: bool,
    /// The tool that is called.
    pub(super) called: &'c str,
    /// The quote of the string that the call stands in: behind a backslash it is a sign like any other.
    pub(super) round: Option<u8>,
}

/// A value that is being read: where it may end is decided by quotes and brackets.
#[derive(Debug, Default)]
pub(super) struct ValueScan {
    pub(super) start: usize,
    at: usize,
    brackets: usize,
    /// The string that is open, and how many have begun.
    string: Option<OpenString>,
    strings: usize,
    /// How far the value has been given out.
    sent: usize,
    /// The last string shows calls, and all of them whole.
    pub(super) shows_calls: bool,
    /// One of the strings has holes.
    pub(super) holes: bool,
    /// What stands in one of the strings looks as if it had ended before.
    pub(super) torn: bool,
}

/// So many bytes an escape may have, or two that are one character.
const LONGEST_ESCAPE: usize = 12;

impl ValueScan {
    /// The value begins at `start`.
    pub(super) fn at(start: usize) -> Self {
        Self { start, at: start, sent: start, ..Self::default() }
    }

    /// What is new of the string that the value is so far, escaped as JSON has it: up to where the search for its end has
    /// come, but for an escape that may go on.
    pub(super) fn certain(&mut self, cx: &Reader<'_>) -> Option<String> {
        let string = self.string.as_ref().filter(|string| self.strings == 1 && string.start == self.start)?;
        let from = self.sent.max(string.text());
        let escape = string.escape.map(|escape| last_half(cx, escape));
        let to = escape.filter(|escape| self.at < escape + LONGEST_ESCAPE).unwrap_or(self.at);
        let text = cx.slice(from, to);
        if text.is_empty() {
            return None;
        }
        self.sent = to;
        let mut json = String::new();
        if memchr::memchr(b'\\', text.as_bytes()).is_none() {
            push_escaped(&mut json, text);
        } else {
            // A path begins where the string does, not where this piece does.
            let before = if from > string.text() { "_" } else { "" };
            let quote = char::from(string.quote);
            let whole = format!("{quote}{before}{text}{quote}");
            let read = literal::read_string(&whole, from);
            json.push_str(read.json.strip_prefix('"')?.strip_prefix(before)?.strip_suffix('"')?);
        }
        Some(json)
    }

    /// An escape stands in the string that is open.
    pub(super) fn has_escape(&self) -> bool {
        self.string.as_ref().is_some_and(|string| string.escape.is_some())
    }

    /// No string stands in it.
    pub(super) const fn is_bare(&self) -> bool {
        self.strings == 0
    }

    /// The value, now that its end was found, is one string and no more.
    pub(super) fn is_string(&self, text: &str) -> bool {
        self.strings == 1 && text.starts_with(['"', '\''])
    }

    /// Several strings stand in it.
    pub(super) fn is_several(&self) -> bool {
        self.strings > 1
    }

    /// Where the value ends: before the comma or the parenthesis that follows it, or where only the comma is missing.
    pub(super) fn end(&mut self, cx: &Reader<'_>, argument: Argument<'_>) -> Look<usize> {
        loop {
            if let Some(string) = &mut self.string {
                let means = match string.read(cx, &mut self.at, argument, self.brackets > 0) {
                    Look::Is(means) => means,
                    _ => return Look::More,
                };
                if means != Means::Text {
                    self.close(cx);
                }
                if means == Means::EndsValue {
                    return Look::Is(self.at);
                }
                continue;
            }
            let Some(byte) = cx.bytes().get(self.at).copied() else { return Look::More };
            // Whether the value ends here, and where it goes on if it does not.
            let (ends, next) = match byte {
                b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => (Look::No, word_end(cx, self.at)),
                b'\\' if argument.round.is_some() => match cx.bytes().get(self.at + 1).copied() {
                    None => return Look::More,
                    next => (Look::No, self.at + 1 + usize::from(next == argument.round)),
                },
                b'"' | b'\'' => match OpenString::at(cx, self.start, self.at) {
                    Look::Is(string) => {
                        let text = string.text();
                        self.string = Some(string);
                        self.strings += 1;
                        (Look::No, text)
                    }
                    Look::More => return Look::More,
                    Look::No => (Look::No, self.at + 1),
                },
                b'(' | b'[' | b'{' => {
                    self.brackets += 1;
                    (Look::No, self.at + 1)
                }
                b')' | b']' | b'}' if self.brackets == 0 => return Look::Is(self.at),
                b')' | b']' | b'}' => {
                    self.brackets -= 1;
                    (Look::No, self.at + 1)
                }
                b'#' if self.brackets > 0 => match comment_within(cx, self.at) {
                    Look::Is(end) => (Look::No, end),
                    Look::More => return Look::More,
                    Look::No => (Look::No, self.at + 1),
                },
                _ if self.brackets > 0 => (Look::No, self.at + 1),
                b',' => (self.ends_at_comma(cx, argument), self.at + 1),
                b' ' | b'\t' | b'\n' | b'\r' => {
                    let next = cx.skip_space(self.at);
                    (self.ends_before(cx, next, argument.called), next)
                }
                _ if is_wide_comma(cx, self.at) => (self.ends_at_wide_comma(cx, argument.called), self.at + 1),
                // The fence round the call is closed, and the call is not.
                b'`' => (fence_closes(cx, self.at), self.at + 1),
                _ => (Look::No, self.at + 1),
            };
            match ends {
                Look::Is(()) => return Look::Is(self.at),
                Look::More => return Look::More,
                Look::No => self.at = next,
            }
        }
    }

    /// The string that was open is over.
    fn close(&mut self, cx: &Reader<'_>) {
        let Some(string) = self.string.take() else { return };
        self.shows_calls = string.calls.whole();
        self.holes |= string.has_holes(cx, self.at);
        self.torn |= string.torn;
    }

    /// The comma of bare words (`location=Palo Alto, CA`) belongs to the value unless a name follows.
    fn ends_at_comma(&self, cx: &Reader<'_>, argument: Argument<'_>) -> Look<()> {
        if !argument.keyed || literal::looks_like_one(trimmed(cx.slice(self.start, self.at))) {
            return Look::Is(());
        }
        next_is_argument(cx, self.at + 1)
    }

    /// The comma of another script parts arguments where one follows, or the next call.
    fn ends_at_wide_comma(&self, cx: &Reader<'_>, called: &str) -> Look<()> {
        let whole = || literal::looks_like_one(trimmed(cx.slice(self.start, self.at)));
        match behind_wide_comma(cx, self.at, called) {
            Look::Is(_) if cx.tools.is_some() || whole() => Look::Is(()),
            Look::More => Look::More,
            _ => Look::No,
        }
    }

    /// The value is over before the white space here: a comment stands at `next`, behind that, or an argument or a call that
    /// lacks its comma.
    fn ends_before(&self, cx: &Reader<'_>, next: usize, called: &str) -> Look<()> {
        let whole = || literal::looks_like_one(cx.slice(self.start, self.at));
        if cx.bytes().get(next) == Some(&b'#') && whole() {
            match behind_comment(cx, next) {
                Look::No => {}
                look => return look.unit(),
            }
        }
        // Bare words are a value as well, if what stands behind them is known.
        match next_item(cx, next, called) {
            Look::Is(_) if cx.tools.is_some() || whole() => Look::Is(()),
            Look::More => Look::More,
            _ => Look::No,
        }
    }
}

/// Where the letters and digits at `at` end.
fn word_end(cx: &Reader<'_>, at: usize) -> usize {
    at + cx.bytes().get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// Where the comment at `at`, in a list or an object, ends: quotes in it open nothing. `#fff` and `#tag` may be values.
fn comment_within(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let blank = |at: usize| cx.bytes().get(at).is_some_and(u8::is_ascii_whitespace);
    match cx.bytes().get(at + 1) {
        None if !cx.eof => Look::More,
        _ if !(blank(at - 1) && blank(at + 1)) => Look::No,
        _ => space::comment(cx, at),
    }
}
