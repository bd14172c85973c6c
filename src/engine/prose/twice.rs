//! Opening markers that stand twice where one was meant: the second is left out, with a repair.
use super::tried::Standing;
use crate::dialect::{CallTemplate, Element, Passed, opener};
use crate::engine::head::{APART, Head};
use crate::engine::look::{seen, unless};
use crate::engine::{Engine, Look, Reader, Taken, misspelt};

/// A shorter marker that stands twice need not be a slip.
const SHORTEST_TWICE: usize = 4;

impl Engine {
    /// What stands behind the opening marker at `at`, of `length`, is a part of the same marker: what it opens is asked once that is
    /// clear, and not with every chunk.
    pub(super) fn may_be_doubled(cx: &Reader<'_>, at: usize, length: usize) -> bool {
        let next = || cx.skip_markup_space(at + length);
        let begun = |next| next < cx.text.len() && cx.literal(next, cx.slice(at, at + length)) == Look::More;
        !cx.eof && length >= SHORTEST_TWICE && begun(next())
    }

    /// The opening marker at `at`, of `length`, stands there twice, and a call follows the second: by one of its meanings in the
    /// `list` that were not `passed`.
    pub(super) fn doubled_opener(
        &mut self,
        cx: &Reader<'_>,
        at: usize,
        (length, list): (usize, u32),
        passed: &mut Passed,
    ) -> Taken {
        let text = cx.slice(at, at + length);
        if text.len() < SHORTEST_TWICE {
            return Taken::No;
        }
        let end = seen!(misspelt::behind(cx, at + length).then(|next| cx.literal(next, text)));
        unless!(cx.literal(cx.skip_markup_space(end), text));
        let behind = Self::behind(cx, end);
        let mut meanings = cx.dialects.markers.list_before(list, behind, *passed);
        while let Some(marker) = meanings.next() {
            if !marker.opens_calls() || !self.may_go_on(cx, marker, behind) {
                continue;
            }
            let taken = self.take(cx, at, end - at, marker, Standing::Twice);
            if taken == Taken::Done {
                self.note_markup(at, end, marker);
            }
            if taken != Taken::No {
                *passed = meanings.passed();
                return taken;
            }
            self.tried.pass(&mut meanings);
        }
        Taken::No
    }
}

/// The `head` that begins at `at`, or its last tag, stands there once more: where that ends.
pub(super) fn opened_twice(cx: &Reader<'_>, template: &CallTemplate, at: usize, head: &Head) -> Look<usize> {
    let next = cx.skip_space(head.end);
    let byte = match cx.bytes().get(next) {
        Some(byte @ (b'<' | b'[' | b']' | b'`')) if next - head.end <= APART && !head.closed => *byte,
        _ => return Look::No,
    };
    let written = cx.slice(at, head.end).trim_ascii_end();
    // The last place where `text` stands in it, if that can stand behind it too.
    let last = |text: &str| {
        let first = text.bytes().next().filter(|first| *first == byte)?;
        let stands = |i: &usize| written.get(*i..).is_some_and(|rest| rest.starts_with(text));
        memchr::memrchr_iter(first, written.as_bytes()).find(stands)
    };
    let whole = opener(&template.head).and_then(last);
    let tag = if matches!(byte, b'<' | b'[') { memchr::memrchr2(b'<', b'[', written.as_bytes()) } else { None };
    let mut result = Look::No;
    // Mostly the last tag is the whole of it.
    for start in [whole, tag.filter(|_| tag != whole), last("```")].into_iter().flatten() {
        let tag = written.get(start..).filter(|tag| tag.len() >= SHORTEST_TWICE || *tag == "```").unwrap_or_default();
        match cx.literal(next, tag) {
            Look::Is(_) if tag.is_empty() => {}
            Look::No => {}
            Look::Is(end) => {
                // The label of a fence may stand at the second alone.
                let label = template.head.iter().find_map(|element| match element {
                    Element::Optional(label) if tag == "```" => Some(&**label),
                    _ => None,
                });
                return match label.map_or(Look::No, |label| cx.literal(end, label)) {
                    Look::No => Look::Is(end),
                    look => look,
                };
            }
            Look::More => result = Look::More,
        }
    }
    result
}
