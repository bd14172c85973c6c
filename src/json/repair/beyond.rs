//! A look beyond the place where a bracket is wrong or missing, for what closes next: its kind says which bracket it is.
use super::lookahead::{Quote, skip_white};
use super::machine::Repairer;
use crate::json::block::find_special_or;

/// So far is looked once all that was looked at is twice the text.
const NEAR: usize = 256;

impl Repairer<'_> {
    /// The first closing bracket behind `at` that nothing opens there, brackets in strings left aside. `None` if the text ends
    /// first, or it is too far.
    pub(super) fn next_closing(&self, at: usize) -> Option<usize> {
        let length = self.bytes.len();
        let limit = if self.beyond.get() > 2 * length { length.min(at + NEAR) } else { length };
        let bytes = self.bytes.get(..limit).unwrap_or(self.bytes);
        let (mut i, mut depth) = (at, 0_usize);
        let found = loop {
            match bytes.get(i) {
                None => break None,
                Some(b'{' | b'[' | b'(') => depth += 1,
                Some(b'}' | b']' | b')') => match depth.checked_sub(1) {
                    Some(round) => depth = round,
                    None => break Some(i),
                },
                Some(b'"') => i = string_end(bytes, i + 1, Quote::Double),
                Some(b'\'') if self.python => i = string_end(bytes, i + 1, Quote::Single),
                Some(_) => {}
            }
            i += 1;
        };
        self.beyond.set(self.beyond.get() + i - at);
        found
    }
}

/// Where the string whose text begins at `body` ends.
fn string_end(bytes: &[u8], body: usize, quote: Quote) -> usize {
    let mut at = body;
    loop {
        at = find_special_or(bytes, at, quote.lead());
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'\\') => at += 2,
            Some(byte) if *byte == quote.lead() => return at,
            Some(_) => at += 1,
        }
    }
}

/// A string stands at `at` behind another one, on a line of its own: it has an end, behind which another one follows, or what may
/// follow a value. Nothing speaks against it if the text is `growing`, and is over before that is clear.
pub(super) fn is_next_string(bytes: &[u8], at: usize, growing: bool) -> bool {
    let Some((quote @ (Quote::Double | Quote::Single), length)) = Quote::at(bytes, at) else { return false };
    let end = string_end(bytes, at + length, quote);
    let next = skip_white(bytes, end + 1);
    match bytes.get(next) {
        None => growing,
        Some(b',' | b')' | b']' | b'}') => true,
        Some(_) => Quote::at(bytes, next).is_some(),
    }
}
