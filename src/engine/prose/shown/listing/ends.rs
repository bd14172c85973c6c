//! Listings that nothing ends.
use super::Listing;
use crate::engine::Reader;
use crate::engine::reader::floor;
use std::ops::Range;

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
