//! What stands ahead in a Python call, told by a bounded look: whether the call goes on there.
use super::space;
use crate::char_class;
use crate::engine::body::shown::FENCE;
use crate::engine::head::LONGEST_NAME;
use crate::engine::look::seen;
use crate::engine::{Look, Reader};
use std::ops::Range;

/// Names that something is to be told by are no longer.
const NAME: usize = 128;
/// Behind so many bytes nothing is waited for.
const FAR: usize = 4096;

/// More brackets that close, with the white space between them, are no slip.
pub(super) const MOST_BRACKETS: usize = 64;
/// The comma of Chinese and Japanese text, which parts arguments and calls where one of them follows.
pub(super) const WIDE_COMMA: &str = "，";

/// What begins where a comma is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Argument,
    Call,
}

/// The identifier at `at`, dots and hyphens and Markdown's backslashes included, or the beginning of one that is too long to
/// be a name.
pub(super) fn name_at(cx: &Reader<'_>, at: usize) -> Range<usize> {
    let longest = cx.text.len().min(at + LONGEST_NAME + 1);
    at..cx.name_end(&cx.memo.called_name, at, longest, &char_class::NAME_IN_PROSE)
}

/// What stands at `at`, behind a value, if only the comma is missing before it: a parameter of the tool that is `called`
/// with its equals sign, or an offered tool with the beginning of its arguments.
pub(super) fn next_item(cx: &Reader<'_>, at: usize, called: &str) -> Look<Item> {
    let name = name_at(cx, at);
    match cx.bytes().get(at) {
        None if !cx.eof => return Look::More,
        Some(byte) if (byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'\\')) && name.len() <= NAME => {}
        _ => return Look::No,
    }
    let next = cx.skip_space(name.end);
    let more = cx.may_go_on(next - at, FAR);
    let declared = |tool: &str, key: &str| cx.tools.is_none() || cx.tool(tool).is_some_and(|tool| tool.declares(key));
    let text = cx.part(&name);
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
                (_, None) if more && equals - next < FAR => Look::More,
                (_, Some(b'=')) if !key.is_empty() && declared(text, cx.part(&key)) => Look::Is(Item::Call),
                _ => Look::No,
            }
        }
        _ => Look::No,
    }
}

/// A string with a prefix stands at `at`: `f"x"`. One without is seen by its quote.
pub(super) fn prefixed_string(cx: &Reader<'_>, at: usize) -> Look<()> {
    let near = cx.near(at, 3);
    let prefix = near.iter().take(2).take_while(|byte| b"rbufRBUF".contains(byte)).count();
    match near.get(prefix) {
        _ if prefix == 0 => Look::No,
        None if !cx.eof => Look::More,
        quote => Look::when(matches!(quote, Some(b'"' | b'\''))),
    }
}

/// A comma of another script stands at `at`.
pub(super) fn is_wide_comma(cx: &Reader<'_>, at: usize) -> bool {
    cx.bytes().get(at..).is_some_and(|rest| rest.starts_with(WIDE_COMMA.as_bytes()))
}

/// As [`next_item`], behind such a comma at `at`, if one stands there.
pub(super) fn behind_wide_comma(cx: &Reader<'_>, at: usize, called: &str) -> Look<Item> {
    if is_wide_comma(cx, at) { next_item(cx, cx.skip_space(at + WIDE_COMMA.len()), called) } else { Look::No }
}

/// Behind the comma before `at` stand another named argument, the end of the call, or (for a trailing comma) nothing.
pub(super) fn next_is_argument(cx: &Reader<'_>, at: usize) -> Look<()> {
    let mut start = seen!(space::skip(cx, at));
    if cx.bytes().get(start) == Some(&b',') {
        // One comma too many is a slip.
        start = cx.skip_space(start + 1);
    }
    let name = name_at(cx, start);
    let equals = cx.skip_space(name.end);
    match cx.bytes().get(equals) {
        None if cx.may_go_on(equals - at, FAR) => Look::More,
        Some(b'=') if !name.is_empty() => Look::Is(()),
        // Another call: the parenthesis of this one is missing.
        Some(b'(') if cx.offered(cx.part(&name)) => Look::Is(()),
        Some(b')' | b'*') if name.is_empty() => Look::Is(()),
        _ => is_ellipsis(cx, start),
    }
}

/// An ellipsis stands at `at` in place of arguments: `f(a=1, ...)`.
fn is_ellipsis(cx: &Reader<'_>, at: usize) -> Look<()> {
    let dots = cx.literal(at, "...").or(|| cx.literal(at, "…"));
    dots.then(|end| match cx.bytes().get(end) {
        None if !cx.eof => Look::More,
        Some(b')' | b',') => Look::Is(()),
        _ => Look::No,
    })
}

/// A comma and another argument of the tool that is `called` stand at `at`, its string in a `quote` without a backslash: the
/// quote before it, which has one, was meant to end its string.
pub(super) fn unescaped_argument(cx: &Reader<'_>, at: usize, quote: u8, called: &str) -> Look<()> {
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
pub(super) fn brackets_end(cx: &Reader<'_>, at: usize, called: &str) -> Look<()> {
    let near = cx.near(at, MOST_BRACKETS);
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
        Some(_) => {
            cx.marker_at(end).or(|| if brackets.contains('\n') && cx.tools.is_some() { item(end) } else { Look::No })
        }
    }
}

/// `name="` or `name(name="` stands at `at`: no words, whatever they name.
pub(super) fn looks_structured(cx: &Reader<'_>, at: usize) -> Look<()> {
    let mut key = name_at(cx, at);
    let sign = |at: usize| match cx.bytes().get(at) {
        None if !cx.eof => Look::More,
        None => Look::No,
        Some(byte) => Look::Is(*byte),
    };
    if key.is_empty() || key.len() > NAME {
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
pub(super) fn fence_closes(cx: &Reader<'_>, at: usize) -> Look<()> {
    if cx.at_line_start(at) { cx.literal(at, FENCE).unit() } else { Look::No }
}
