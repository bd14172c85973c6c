//! What stands between the parts of a Python call and says nothing: white space and comments.
use crate::engine::look::told;
use crate::engine::reader::invisible;
use crate::engine::{Look, Reader};

/// A longer line is no comment, and behind more comments nothing is waited for.
const LONGEST: usize = 1024;

/// Where the comment at `at` ends, if one stands there: with its line. What no line break ends is none.
pub(super) fn comment(cx: &Reader<'_>, at: usize) -> Look<usize> {
    if cx.bytes().get(at) != Some(&b'#') {
        return Look::No;
    }
    let near = cx.near(at, LONGEST);
    match memchr::memchr(b'\n', near) {
        Some(line) => Look::Is(at + line + 1),
        None => cx.ran_out(near.len(), LONGEST),
    }
}

/// Where the blanks at `at` end that Python does not know: no-break spaces and their like.
pub(super) fn odd_blanks(cx: &Reader<'_>, at: usize) -> usize {
    let rest = cx.rest(at);
    at + rest.len() - rest.trim_start_matches(invisible).len()
}

/// Where white space and comments that begin at `at` end.
pub(super) fn skip(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let start = cx.skip_space(at);
    let mut at = start;
    while at - start < LONGEST {
        let Some(end) = told!(comment(cx, at)) else { break };
        at = cx.skip_space(end);
    }
    // Behind a comment another one may stand.
    let open = at > start && at >= cx.text.len() && cx.may_go_on(at - start, LONGEST);
    if open { Look::More } else { Look::Is(at) }
}

/// Where what follows a value stands, if a comment stands between them: a comma or a closing bracket.
pub(super) fn behind_comment(cx: &Reader<'_>, at: usize) -> Look<usize> {
    skip(cx, at).then(|next| match cx.bytes().get(next) {
        None if cx.may_go_on(next - at, LONGEST) => Look::More,
        Some(b',' | b')' | b']' | b'}') if next > at => Look::Is(next),
        _ => Look::No,
    })
}
