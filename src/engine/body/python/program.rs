//! What a program has round its calls and that says nothing: the variable that takes what a call gives, and a line that prints it.
use super::{PRINT, Python};
use crate::char_class;
use crate::engine::look::seen;
use crate::engine::{Look, Reader};
use std::ops::Range;

/// A name of a variable is no longer, with what else stands in its line.
const NEAR: usize = 128;

/// The name of a variable at `at`, if what follows it is not too far to be looked at.
fn variable(cx: &Reader<'_>, at: usize) -> Look<Range<usize>> {
    let near = cx.near(at, NEAR);
    let length = char_class::IDENTIFIER.length(near);
    match near.first() {
        _ if length == near.len() && cx.may_go_on(near.len(), NEAR) => Look::More,
        Some(first) if length < NEAR && !first.is_ascii_digit() && length > 0 => Look::Is(at..at + length),
        _ => Look::No,
    }
}

impl Python {
    /// A variable takes what the call gives.
    pub(crate) const fn keeps_result(&self) -> bool {
        self.kept.is_some()
    }

    /// Where the call of an offered tool stands behind a variable at `at` that takes what it gives: `x = f(...)`.
    pub(crate) fn assigned(cx: &Reader<'_>, at: usize) -> Look<usize> {
        let sign = cx.skip_blanks(seen!(variable(cx, at)).end);
        let next = cx.skip_blanks(sign + 1);
        let near = next - at < NEAR;
        match cx.bytes().get(sign) {
            None if near && !cx.eof => Look::More,
            Some(b'=') if near => match cx.bytes().get(next) {
                None if !cx.eof => Look::More,
                None | Some(b'=') => Look::No,
                Some(_) => Self::plausible(cx, next).then(|()| {
                    if cx.tools.is_some() && Self::may_be_meant(cx, next) { Look::Is(next) } else { Look::No }
                }),
            },
            _ => Look::No,
        }
    }

    /// Where the line at `at` ends that only prints a variable: `print(x)`.
    pub(crate) fn prints_variable(cx: &Reader<'_>, at: usize) -> Look<usize> {
        let near = cx.near(at, NEAR);
        let Some(line) = memchr::memchr(b'\n', near) else {
            let begins = near.starts_with(PRINT.as_bytes()) || PRINT.as_bytes().starts_with(near);
            return if begins && cx.may_go_on(near.len(), NEAR) {
                Look::More
            } else {
                Self::printed_variable(cx, at, near.len())
            };
        };
        Self::printed_variable(cx, at, line)
    }

    fn printed_variable(cx: &Reader<'_>, at: usize, length: usize) -> Look<usize> {
        let line = cx.slice(at, at + length);
        let inside =
            line.strip_prefix(PRINT).and_then(|rest| rest.trim_ascii_end().strip_prefix('(')?.strip_suffix(')'));
        let named = |name: &str| !name.is_empty() && char_class::IDENTIFIER.length(name.as_bytes()) == name.len();
        let all = inside.is_some_and(|inside| inside.split(',').map(str::trim_ascii).all(named));
        if all { Look::Is(at + length) } else { Look::No }
    }

    /// The text ends in what begins at `at` and may become the name of an offered tool: there the model was stopped, in its
    /// next call.
    pub(crate) fn cut_name(cx: &Reader<'_>, at: usize) -> bool {
        let rest = cx.slice(at, cx.text.len().min(at + NEAR));
        let name = rest.strip_prefix(PRINT).and_then(|rest| rest.strip_prefix('(')).unwrap_or(rest);
        let begins = !name.is_empty() && name.chars().all(|c| char_class::NAME.has(c));
        cx.eof && rest.len() < NEAR && begins && (PRINT.starts_with(name) || cx.tools.is_some_and(|t| t.leads_to(name)))
    }
}
