//! A string whose marks are escaped, where the text round it is not: `"cmd": \"ls\"`.
use super::lookahead::skip_white;
use super::machine::Repairer;
use super::quoted::Place;
use crate::json::scan::{ScanResult, Scanner};
use crate::turn::RepairCode;

impl Repairer<'_> {
    /// The string at `at`, if it has such marks, and what follows a value stands behind it; answers where it ends.
    pub(super) fn read_escaped(&mut self, at: usize, place: Place) -> Option<usize> {
        let body = at + 2;
        if self.growing && self.bytes.get(at..) == Some(b"\\") {
            return Some(self.end_of_text(at));
        }
        if !matches!(place, Place::Member { .. } | Place::Item { .. }) || !self.is_escaped_mark(at) {
            return None;
        }
        let rest = self.bytes.get(body..)?;
        let mark = memchr::memchr(b'"', rest).map_or(self.bytes.len(), |mark| body + mark);
        let (end, after) = (mark - 1, mark + 1);
        if self.growing && skip_white(self.bytes, after) >= self.bytes.len() {
            return Some(self.end_of_text(at));
        }
        let text = self.out.text.get(body..end)?;
        let next = skip_white(self.bytes, after);
        let over = match self.bytes.get(next) {
            Some(b'}' | b']') => true,
            Some(b',') => self.comma_ends(next + 1, place) || self.is_escaped_mark(skip_white(self.bytes, next + 1)),
            _ => false,
        };
        // A pair of backslashes is one where the key was escaped as well, and is not known what else.
        let pairs = text.contains("\\\\");
        if self.bytes.get(end) != Some(&b'\\') || text.ends_with('\\') || !over || pairs && !self.has_escaped_key(at) {
            return None;
        }
        let string = format!("\"{}\"", text.replace("\\\\", "\\"));
        if Scanner::new(0, 1).scan(string.as_bytes(), true) != (ScanResult::Complete { end: string.len() }) {
            return None;
        }
        self.out.record(RepairCode::Quotes, at, "the string's quotes were escaped");
        self.out.replace_with(at, after, |out| out.push_str(&string));
        self.value_read();
        Some(after)
    }

    fn is_escaped_mark(&self, at: usize) -> bool {
        self.bytes.get(at..at + 2) == Some(b"\\\"")
    }

    /// The marks of the key of the value at `at` are escaped.
    fn has_escaped_key(&self, at: usize) -> bool {
        let before = self.bytes.get(..at).unwrap_or_default().trim_ascii_end();
        before.strip_suffix(b":").is_some_and(|key| key.trim_ascii_end().ends_with(b"\\\""))
    }
}
