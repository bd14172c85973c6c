//! The tags of elements.
use super::Within;
use crate::engine::body::shown::begins;
use crate::engine::head::LONGEST_NAME;
use crate::engine::{Look, Reader, misspelt};
use std::ops::Range;

/// A tag: its name, and where it ends.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) start: usize,
    name: Range<usize>,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

/// What a tag opens or closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Opening,
    Closing,
    /// It opens a call, not an element.
    Call,
}

/// What all tags begin with that have the `prefix`.
pub(super) fn tags_begin(prefix: &str) -> &str {
    if prefix.is_empty() { "<" } else { prefix }
}

impl Tag {
    /// The tag at `at`, behind the `prefix` that all have.
    pub(super) fn at(cx: &Reader<'_>, prefix: &str, at: usize) -> Look<Self> {
        let start = match if prefix.is_empty() { Look::Is(at) } else { cx.literal(at, prefix) } {
            Look::Is(start) => start,
            Look::More => return Look::More,
            Look::No => return Look::No,
        };
        let rest = cx.bytes().get(start..).unwrap_or_default();
        match rest.first() {
            Some(b'<') => {}
            Some(_) => return Look::No,
            None => return cx.ran_out(0, 1),
        }
        let kind = if rest.get(1) == Some(&b'/') { Kind::Closing } else { Kind::Opening };
        let from = if kind == Kind::Closing { 2 } else { 1 };
        let near = cx.near(start + from, LONGEST_NAME);
        match near.iter().position(|byte| matches!(byte, b'>' | b'<' | b'\n' | b'"')) {
            Some(length) if near.get(length) == Some(&b'>') => {
                let (inside, end) = (start + from, start + from + length);
                let name = cx.slice(inside, end);
                let blank = name.len() - name.trim_start().len();
                let name = inside + blank..inside + blank + name.trim().len();
                if name.is_empty() { Look::No } else { Look::Is(Self { start: at, name, end: end + 1, kind }) }
            }
            Some(_) => Look::No,
            None => cx.ran_out(near.len(), LONGEST_NAME),
        }
    }

    /// The tag at `at`, behind the prefix that all have, that opens a call.
    pub(super) fn of_call(cx: &Reader<'_>, within: &Within<'_>, at: usize) -> Look<Self> {
        if within.prefix.is_empty() {
            return Look::No;
        }
        begins(cx, within.row, at).then(|end| {
            let start = at + within.prefix.len() + 1;
            let name = misspelt::name(cx.slice(start, end));
            let tag = Self { start: at, name: start..start + name.len(), end, kind: Kind::Call };
            if name.is_empty() { Look::No } else { Look::Is(tag) }
        })
    }

    /// The name in it.
    pub(super) fn name<'t>(&self, cx: &Reader<'t>) -> &'t str {
        cx.part(&self.name)
    }
}
