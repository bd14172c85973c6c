//! What two rendered texts have in common, cut only where no marker is cut through.
use once_cell::sync::Lazy;
use regex::Regex;
use std::ops::Range;

static TAG: Lazy<Option<Regex>> =
    Lazy::new(|| Regex::new(r"<[^<>\s][^<>]*>|\[/?[A-Z][A-Z_]*\]|\[\|[^\s\[\]|]+\|\]").ok());

/// The markers of a text: `<...>`, `[NAME]` and `[|name|]`.
pub(super) fn tags(text: &str) -> Vec<Range<usize>> {
    TAG.as_ref().map(|tag| tag.find_iter(text).map(|m| m.range()).collect()).unwrap_or_default()
}

/// No marker is cut through at `at`.
fn between(tags: &[Range<usize>], at: usize) -> bool {
    !tags.iter().any(|tag| tag.start < at && at < tag.end)
}

/// How long a beginning two texts share.
pub(super) fn prefix(a: &str, b: &str) -> usize {
    let mut at = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let (in_a, in_b) = (tags(a), tags(b));
    while at > 0 && !(b.is_char_boundary(at) && between(&in_a, at) && between(&in_b, at)) {
        at -= 1;
    }
    at
}

/// Where in `text` the parts `a` and `b` stop being equal, seen from their starts: the length of what they share.
pub(super) fn shared_start(text: (&str, Range<usize>), other: (&str, Range<usize>)) -> usize {
    let ((text, a), (other, b)) = (text, other);
    let (x, y) = (text.get(a.clone()).unwrap_or(""), other.get(b.clone()).unwrap_or(""));
    let mut at = x.bytes().zip(y.bytes()).take_while(|(x, y)| x == y).count();
    let (in_a, in_b) = (tags(text), tags(other));
    while at > 0 && !(x.is_char_boundary(at) && between(&in_a, a.start + at) && between(&in_b, b.start + at)) {
        at -= 1;
    }
    at
}

/// As [`shared_start`], from the ends.
pub(super) fn shared_end(text: (&str, Range<usize>), other: (&str, Range<usize>)) -> usize {
    let ((text, a), (other, b)) = (text, other);
    let (x, y) = (text.get(a.clone()).unwrap_or(""), other.get(b.clone()).unwrap_or(""));
    let mut n = x.bytes().rev().zip(y.bytes().rev()).take_while(|(x, y)| x == y).count();
    let (in_a, in_b) = (tags(text), tags(other));
    while n > 0 && !(x.is_char_boundary(x.len() - n) && between(&in_a, a.end - n) && between(&in_b, b.end - n)) {
        n -= 1;
    }
    n
}

/// Signs that open something, and what closes it.
const BRACKETS: [(char, char); 9] =
    [('<', '>'), ('[', ']'), ('{', '}'), ('(', ')'), ('«', '»'), ('‹', '›'), ('⟨', '⟩'), ('【', '】'), ('「', '」')];

/// How good a place `at` is to part `text` into two markers: best where white space stands, or a bracket that opens behind one
/// that closes, then in the middle of signs of one kind (`@@@@`).
fn parts(text: &str, at: usize) -> u8 {
    let Some((before, behind)) = text.split_at_checked(at) else { return 0 };
    let (Some(last), Some(first)) = (before.chars().next_back(), behind.chars().next()) else { return 0 };
    let brackets = BRACKETS.iter().any(|b| b.1 == last) && BRACKETS.iter().any(|b| b.0 == first);
    if last.is_whitespace() || first.is_whitespace() || brackets {
        return 2;
    }
    let run = |signs: &mut dyn Iterator<Item = char>| signs.take_while(|sign| *sign == last).count();
    let middle = !last.is_alphanumeric() && run(&mut before.chars().rev()) == run(&mut behind.chars());
    u8::from(middle)
}

/// The best of these `places` in `text` to part what ends something from what begins the next: the first of them, unless that is in
/// the middle of a marker. No part is empty.
pub(super) fn parting(text: &str, places: std::ops::RangeInclusive<usize>) -> usize {
    let first = *places.start();
    let marks = tags(text);
    let whole = |at: &usize| {
        let parts = text.split_at_checked(*at);
        parts.is_some_and(|(left, right)| !left.trim().is_empty() && !right.trim().is_empty()) && between(&marks, *at)
    };
    let better = |best: (usize, u8), at: usize| {
        let rank = parts(text, at);
        if rank > best.1 { (at, rank) } else { best }
    };
    places.filter(whole).fold((first, parts(text, first)), better).0
}
