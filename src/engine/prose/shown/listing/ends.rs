//! Where listings end: a comment of HTML's, and those that nothing ends.
use super::{LINE, Listing};
use crate::engine::Reader;
use crate::engine::reader::floor;
use std::ops::Range;

/// What begins a comment of HTML's, and what ends it.
pub(super) const COMMENT: &str = "<!--";
pub(super) const COMMENT_ENDS: &str = "-->";

/// What might end a comment of HTML's at `end` is an arrow, or spoken of: it stands between words in a line in which none begins.
pub(super) fn is_arrow(cx: &Reader<'_>, end: usize) -> bool {
    let near = |byte: Option<&u8>| byte.is_some_and(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'<'));
    let next = cx.bytes().get(end);
    let goes_on = near(next) || next == Some(&b' ') && near(cx.bytes().get(end + 1));
    goes_on && {
        let before = cx.line_before(end - COMMENT_ENDS.len(), LINE);
        !before.trim_ascii().is_empty() && !before.contains(COMMENT)
    }
}

/// Where the `listing` ends in `from..to`. Many may begin before one place, and none end: what was looked through for one is known.
pub(super) fn unclosed_end(
    unclosed: &mut Vec<(Listing, Range<usize>)>,
    cx: &Reader<'_>,
    listing: &Listing,
    from: usize,
    to: usize,
) -> Option<usize> {
    if !matches!(listing, Listing::Until { .. } | Listing::Edit | Listing::Block(_)) {
        return listing.end(cx, from, to);
    }
    let known = unclosed.iter().position(|(known, _)| known == listing).map(|i| unclosed.swap_remove(i).1);
    let known = known.filter(|known| known.contains(&from));
    // What ends it may have begun where was looked last.
    let since = known
        .as_ref()
        .map_or(from, |known| floor(cx.text, known.end.saturating_sub(listing.closer())).max(from).min(to));
    let end = listing.end(cx, since, to);
    if end.is_none() {
        unclosed.push((listing.clone(), known.map_or(from, |known| known.start)..to));
    }
    end
}
