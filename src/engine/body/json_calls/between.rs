//! What parts calls beside commas: comments in a list, as white space does, and signs between markers.
use super::*;
use crate::engine::look::seen;

/// A comment is no longer.
const LONGEST: usize = 1024;

/// So many of them stand in a row.
const MOST: usize = 8;

impl JsonCalls {
    /// Something else than JSON begins at `at` in a list, where `expect` does: a comment that is left out. `None`: it is none.
    #[cold]
    pub(super) fn comment(&mut self, cx: &Reader<'_>, writer: &mut Writer, at: usize, expect: Expect) -> Option<Flow> {
        let list = self.frames.last().is_some_and(|frame| frame.kind == Kind::List);
        let end = match comments_end(cx, at) {
            Look::Is(end) if list && !cx.made => end,
            Look::More if list && !cx.made => return Some(Flow::Stop(Progress::Unclear { since: at })),
            _ => return None,
        };
        let repair = Repair::at(RepairCode::Comment, at, "a comment among the calls was left out");
        match &mut writer.pending {
            Some(pending) => pending.repairs.push(repair),
            None => self.repairs.push(repair),
        }
        Some(self.go(end, expect))
    }
}

/// Where the comments end that begin at `at`, and behind which the list goes on: else that is open, and they are what follows it.
fn comments_end(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let mut end = at;
    for _ in 0..MOST {
        end = seen!(comment_end(cx, end).then(|end| cx.behind_space(at, end)));
        match cx.bytes().get(end) {
            Some(b',' | b']' | b'{' | b'[') => return Look::Is(end),
            Some(b'/' | b'#') => {}
            _ => return Look::No,
        }
    }
    Look::No
}

/// Where the comment ends that begins at `at`.
fn comment_end(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let near = cx.near(at, LONGEST);
    let end = match near {
        [b'#', ..] | [b'/', b'/', ..] => memchr::memchr(b'\n', near),
        [b'/', b'*', rest @ ..] => memchr::memmem::find(rest, b"*/").map(|length| length + "/**/".len()),
        [b'/'] => None,
        _ => return Look::No,
    };
    match end {
        Some(length) => Look::Is(at + length),
        None if near.len() < LONGEST && !cx.eof => Look::More,
        None => Look::No,
    }
}

/// How many signs stand at `at` that are neither words, quotes nor brackets, if they may part two calls.
pub(super) fn separators(cx: &Reader<'_>, at: usize) -> Option<usize> {
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let part = |b: &u8| matches!(b, b'{' | b'}' | b'[' | b']' | b'(' | b')' | b'"' | b'\'' | b'`' | b'\\' | b'_');
    let sign = |b: &u8| b.is_ascii_punctuation() && !part(b);
    let length = rest.iter().take(9).take_while(|b| sign(b)).count();
    (1..9).contains(&length).then_some(length)
}
