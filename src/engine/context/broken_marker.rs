//! Markers that somebody broke up so that nobody reads them as such: what follows one is no call either.
//!
//! Source: [`crate::provider::harden`], which does so with a zero-width space, and templates that write `<` as an entity in what a tool
//! gave back. A model that repeats such text calls nothing.
use crate::engine::Reader;
use crate::engine::reader::BREAK;

/// A marker and the white space after it are no longer.
const LONGEST: usize = 64;

/// A broken marker ends right before `at`.
pub(super) fn ends_before(cx: &Reader<'_>, at: usize) -> bool {
    let near = cx.before(at, LONGEST).trim_end();
    let escaped = near.ends_with("&gt;");
    let broken = near.ends_with(['>', ']', '｜']) && near.contains(BREAK);
    // Mostly it is neither.
    if !escaped && !broken {
        return false;
    }
    let word = near.rsplit(char::is_whitespace).next().unwrap_or_default();
    escaped && word.starts_with("&lt;") && cx.at_line_start(at)
        || broken && word.starts_with(['<', '[', ']', '>', '｜']) && word.contains(BREAK)
}
