//! What shows that a string of a Python call ended somewhere else than it seems: an argument of the call stands in it, at a
//! quote that nothing escapes, or behind the call. Such a call is malformed, since one argument's text would run as another's.
use super::ahead::name_at;
use crate::char_class::{self, IDENTIFIER};
use crate::engine::reader::floor;
use crate::engine::{Look, Reader};
use std::ops::Range;

/// So far an argument's name is looked for from a quote.
const NEAR: usize = 160;
/// Signs that a slip leaves among the parts of an argument.
const SIGNS: [char; 16] = ['"', '\'', ',', ';', '=', ':', '(', ')', '[', ']', '{', '}', '，', '、', '；', '：'];

fn is_argument(cx: &Reader<'_>, called: &str, name: &str) -> bool {
    !name.is_empty() && (cx.tools.is_none() || cx.tool(called).is_some_and(|tool| tool.declares(name)))
}

/// The name behind the signs that stand near `at`.
fn name_near(cx: &Reader<'_>, at: usize, sign: impl Fn(char) -> bool) -> Range<usize> {
    let near = cx.ahead(at, NEAR);
    name_at(cx, at + near.len() - near.trim_start_matches(sign).len())
}

/// An argument of `called` stands at `at`, perhaps behind signs that are not its own: `, days=`, `"), days =`.
pub(super) fn argument_at(cx: &Reader<'_>, at: usize, called: &str) -> Look<()> {
    let name = name_near(cx, at, |c| matches!(c, ' ' | '\t' | ',' | ')' | ']' | '}' | '"' | '\''));
    let equals = cx.skip_space(name.end);
    let (sign, behind) = (cx.bytes().get(equals), cx.bytes().get(equals + 1));
    match (sign, behind) {
        _ if equals - at > 4 * NEAR => Look::No,
        (None, _) | (Some(b'='), None) if !cx.eof => Look::More,
        (Some(b'='), behind) if behind != Some(&b'=') => {
            if is_argument(cx, called, cx.part(&name)) {
                Look::Is(())
            } else {
                Look::No
            }
        }
        _ => Look::No,
    }
}

/// An argument of `called` stands in the source text from `start` to `end`, behind one of its quotes or before one.
pub(super) fn argument_within(cx: &Reader<'_>, start: usize, end: usize, called: &str) -> bool {
    let cx = &cx.up_to(end);
    let text = cx.slice(start, end).bytes().zip(start..);
    let mut quotes = text.filter(|(byte, _)| matches!(byte, b'"' | b'\'')).map(|(_, at)| at);
    quotes.any(|at| {
        argument_behind_quote(cx, at + 1, called) == Look::Is(()) || opens_value(cx, start, at, called, false)
    })
}

/// A call of an offered tool stands in the text from `start` to `end`, behind what closes the one before: `), ping(`.
pub(super) fn call_within(cx: &Reader<'_>, start: usize, end: usize) -> bool {
    let follows = |at: usize| {
        let behind = cx.ahead(at + 1, NEAR.min(end - at) - 1);
        let next = behind.trim_start().strip_prefix([',', ';', '，']).unwrap_or_default().trim_start();
        let name = next.len() - next.trim_start_matches(|c| char_class::NAME.has(c)).len();
        let (name, rest) = next.split_at(name);
        rest.starts_with('(') && !name.is_empty() && cx.offered(name)
    };
    cx.tools.is_some() && memchr::memchr_iter(b')', cx.slice(start, end).as_bytes()).any(|at| follows(start + at))
}

/// In `json`, a list or an object that was mended, a quote which nothing escaped stands in a string next to a comma, signs aside:
/// there another item may have been meant.
pub(super) fn item_within(json: &str) -> bool {
    let sign = |c: char| c == ' ' || (c != ',' && c != '\\' && SIGNS.contains(&c));
    let parts = |at: usize| Some((json.get(at.saturating_sub(NEAR)..at), json.get(at + 2..)?));
    let mut quotes = memchr::memmem::find_iter(json.as_bytes(), "\\\"").filter_map(parts);
    quotes.any(|(before, behind)| {
        let near = behind.trim_start_matches(sign).starts_with(',');
        near || before.is_some_and(|before| before.trim_end_matches(sign).ends_with(','))
    })
}

/// Behind the quote that ends before `at` an argument of `called` stands: a sign, its name, and its equals sign or the quote of
/// its value, with signs among them that should not be there: `, days=`, `, "days": "`, `)days"="`.
pub(super) fn argument_behind_quote(cx: &Reader<'_>, at: usize, called: &str) -> Look<()> {
    let name = name_near(cx, at, |c| c.is_ascii_whitespace() || SIGNS.contains(&c));
    let near = floor(cx.text, at + NEAR);
    let behind = cx.slice(name.end, near);
    let rest = behind.trim_start_matches(|c: char| c == ' ' || SIGNS.contains(&c));
    if rest.is_empty() && cx.may_go_on(near - at, NEAR) {
        return Look::More;
    }
    let behind = behind.get(..behind.len() - rest.len()).unwrap_or_default();
    let colon = behind.trim_start().starts_with([':', '：']) && behind.contains(['"', '\'']);
    let assigns = colon || behind.contains('=') && !behind.contains("==") || behind.starts_with(['"', '\'', '[', '{']);
    let named = cx.slice(at, name.start).contains(SIGNS) && is_argument(cx, called, cx.part(&name));
    Look::when(named && assigns)
}

/// The quote at `at`, in a string whose text begins at `start`, begins the value of an argument of `called`: its name and its
/// equals sign stand before it, and before them a comma or nothing. In a string that has `ended` any name does. Or it begins
/// one of a call of another offered tool.
pub(super) fn opens_value(cx: &Reader<'_>, start: usize, at: usize, called: &str, ended: bool) -> bool {
    let blank_or = |signs: &'static [char]| move |c: char| c.is_ascii_whitespace() || signs.contains(&c);
    let mut from = at.saturating_sub(NEAR).max(start);
    while !cx.text.is_char_boundary(from) {
        from += 1;
    }
    let before = cx.slice(from, at).trim_end_matches(blank_or(&['(', '[', '{']));
    let Some(before) = before.strip_suffix('=').filter(|before| !before.ends_with(['=', '!', '<', '>'])) else {
        return false;
    };
    let before = before.trim_end_matches(blank_or(&['"', '\'', ')', ']', '}', ',']));
    let rest = before.trim_end_matches(|c: char| IDENTIFIER.has(c));
    let name = before.get(rest.len()..).unwrap_or_default();
    if let Some(tool) = rest.strip_suffix('(') {
        let outer = tool.trim_end_matches(|c| char_class::NAME.has(c));
        if cx.offered(tool.get(outer.len()..).unwrap_or_default()) {
            return true;
        }
    }
    let rest = rest.trim_end_matches(blank_or(&['"', '\'', '(', '[', '{']));
    let first = rest.is_empty() && from == start;
    (ended && !name.is_empty()) || ((first || rest.ends_with([',', ';'])) && is_argument(cx, called, name))
}
