//! Strings of a program that are all in their line: what they show is no call, with markers or without.
use super::before::WHOLE_LINE;
use crate::engine::{Look, Reader};
use crate::json::{Part, Quoting};

/// What stands before a string, in its line.
const BEFORE: [u8; 8] = *b"=([{,:+<";

/// What stands behind one, in its line.
const BEHIND: [u8; 7] = *b"}]),;.+";

/// Letters right before a string say how it is read. Others are a word, and what stands behind them is an apostrophe.
const PREFIXES: [&str; 10] = ["", "r", "b", "u", "f", "rb", "br", "fr", "rf", "l"];

const LONGEST_PREFIX: usize = 2;

/// The string that is open in a line, as far as that was read.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::engine) struct ProgramStrings {
    begins: usize,
    read: usize,
    string: Quoting,
    /// Where the quote stands that opened it last.
    opened: usize,
    /// Where the string that was opened there ends, if it is one.
    known: Option<(usize, Option<usize>)>,
    sought: Sought,
}

/// How far the end of a string was looked for.
#[derive(Debug, Clone, Copy, Default)]
struct Sought {
    since: usize,
    read: usize,
    string: Quoting,
}

impl ProgramStrings {
    /// A string was opened behind the sign at `from`, and is open where the line was read up to last.
    pub(in crate::engine) fn is_open_behind(&self, from: usize) -> bool {
        self.string.is_open() && self.opened > from
    }

    /// A string is open before `at` in the line that `begins` there, and what closes it in that line is followed as strings are. An
    /// apostrophe opens none, and neither does what only a word stands before: that may be a quotation.
    pub(in crate::engine) fn holds(&mut self, cx: &Reader<'_>, begins: usize, at: usize) -> Look<()> {
        if self.begins != begins || self.read > at {
            *self = Self { begins, read: begins, ..Self::default() };
        }
        let line = cx.bytes().get(self.read..at).unwrap_or_default();
        for (i, byte) in (self.read..).zip(line.iter().copied()) {
            if self.string.read(byte, |escaped| !escaped && opens(cx, begins, i)) == Part::Opens {
                self.opened = i;
            }
        }
        self.read = at;
        let (Some(quote), opened) = (self.string.quote(), self.opened) else { return Look::No };
        if let Some((_, end)) = self.known.filter(|(known, _)| *known == opened) {
            return Look::when(end.is_some_and(|end| end > at));
        }
        let closes = self.sought.closes(cx, quote, at);
        self.known = match closes {
            Look::Is(end) => Some((opened, Some(end))),
            Look::No => Some((opened, None)),
            Look::More => None,
        };
        closes.unit()
    }
}

/// The quote at `at`, in the line that `begins` there, may open a string.
pub(in crate::engine) fn opens(cx: &Reader<'_>, begins: usize, at: usize) -> bool {
    let before = cx.bytes().get(begins..at).unwrap_or_default();
    let letters = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).take(LONGEST_PREFIX + 1).count();
    let Some((before, prefix)) = before.split_at_checked(before.len() - letters) else { return false };
    PREFIXES.iter().any(|known| prefix.eq_ignore_ascii_case(known.as_bytes()))
        && before.trim_ascii_end().last().is_none_or(|sign| BEFORE.contains(sign))
}

impl Sought {
    /// Where the `quote` that was opened before `at` is closed in the same line, as strings of a program are.
    fn closes(&mut self, cx: &Reader<'_>, quote: u8, at: usize) -> Look<usize> {
        if self.since != at || self.read < at {
            *self = Self { since: at, read: at, string: Quoting::behind(quote) };
        }
        let near = cx.near(at, WHOLE_LINE);
        for byte in near.iter().skip(self.read - at).copied() {
            if byte == b'\n' {
                return Look::No;
            }
            // What closes it is read again where what stands behind that is not clear yet.
            let mut string = self.string;
            if string.read(byte, |_| false) == Part::Closes {
                let end = self.read + 1;
                let blanks = cx.near(end, WHOLE_LINE).iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                return match cx.bytes().get(end + blanks) {
                    None if !cx.eof => Look::More,
                    None | Some(b'\n' | b'\r') => Look::Is(end),
                    Some(sign) if BEHIND.contains(sign) => Look::Is(end),
                    Some(_) => Look::No,
                };
            }
            self.string = string;
            self.read += 1;
        }
        cx.ran_out(near.len(), WHOLE_LINE)
    }
}
