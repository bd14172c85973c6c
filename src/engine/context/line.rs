//! What the beginning of a line says of a call in it: block quotes and tables show what they hold.
//!
//! Source: Markdown. Of 18,675 outputs published with BFCL no marker of a call stands in either.
use crate::engine::reader::blank;
use crate::engine::{Reader, Without};

/// Longer lines are not looked through for their beginning.
const LONGEST: usize = 1024;

/// Where lines do not begin, as far as that was looked through.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineBefore {
    line_break: Without,
}

impl LineBefore {
    /// The byte offset at which the line of `at` begins; `None` if that is too far away.
    pub(super) fn begins(&mut self, cx: &Reader<'_>, at: usize) -> Option<usize> {
        // Mostly a call begins one.
        if at.checked_sub(1).and_then(|i| cx.bytes().get(i)) == Some(&b'\n') {
            return Some(at);
        }
        let from = at.saturating_sub(LONGEST);
        let found = self.line_break.find_last(cx.bytes(), from, at, |text| memchr::memrchr(b'\n', text));
        found.map(|i| i + 1).or_else(|| (from == 0).then_some(0))
    }

    /// The text before `at` in its line, if no markup was taken out of that: the run of text that `at` stands in begins at `since`.
    pub(super) fn before<'t>(&mut self, cx: &Reader<'t>, since: usize, at: usize) -> Option<&'t str> {
        let begins = self.begins(cx, at).filter(|begins| *begins >= since)?;
        Some(cx.slice(begins, at))
    }
}

/// A line with this text `before` a call is one of a block quote, or the call stands in a cell of a table.
pub(super) fn is_quoted(before: &str) -> bool {
    let line = before.trim_start_matches(blank);
    line.starts_with('>') || in_cell(line)
}

/// The first cell begins with a bar and a blank, the others with a second bar. A bar alone may be left of a special token.
fn in_cell(line: &str) -> bool {
    let Some(cells) = line.strip_prefix('|') else { return false };
    // The bars of tokens are none of the row's.
    let cells = cells.split("<|").next().unwrap_or(cells);
    !cells.contains("|>") && (cells.starts_with(' ') || cells.contains('|'))
}

#[cfg(test)]
#[path = "../../../tests/units/line.rs"]
mod tests;
