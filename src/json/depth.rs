//! How deep a value is nested.
use super::scan::{ScanError, ScanResult, Scanner};

/// The JSON in `text` is nested more than `limit` deep. Short text is not looked at: each level takes two brackets.
pub(crate) fn deeper_than(text: &str, limit: usize) -> bool {
    let text = text.trim_ascii_start();
    text.starts_with(['{', '['])
        && text.len() / 2 > limit
        && matches!(
            Scanner::new(0, limit).scan(text.as_bytes(), true),
            ScanResult::Error { kind: ScanError::TooDeep, .. }
        )
}
