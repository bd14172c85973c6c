//! What stands between the parts of a value and says nothing: white space, comments, ellipses.
use super::grammar::{Kind, Repairer, State};
use super::lookahead::{self, skip_white};
use crate::turn::RepairCode;

impl Repairer<'_> {
    /// Leaves white space, comments and ellipses behind, which are dropped.
    #[inline]
    pub(super) fn space(&mut self, at: usize) -> usize {
        match lookahead::plain(self.bytes, at) {
            Some(next) => next,
            None => self.odd_space(at),
        }
    }

    fn odd_space(&mut self, mut at: usize) -> usize {
        loop {
            at = skip_white(self.bytes, at);
            match self.bytes.get(at) {
                Some(b'/' | b'#' | b'.' | 0xe2) if lookahead::comment(self.bytes, at) && !self.is_colour(at) => {
                    let end = lookahead::comment_end(self.bytes, at);
                    self.out.record(RepairCode::Comment, at, "a comment or ellipsis was left out");
                    self.out.replace(at, end, "");
                    at = end;
                }
                Some(b'\\') => match lookahead::escaped_white(self.bytes, at) {
                    Some(end) => {
                        self.out.record(RepairCode::Escape, at, "an escape for white space was left out");
                        self.out.replace(at, end, "");
                        at = end;
                    }
                    None => return at,
                },
                Some(0x80..) => match lookahead::odd_space(self.out.text, at) {
                    Some(length) => {
                        self.out.replace(at, at + length, " ");
                        at += length;
                    }
                    None => return at,
                },
                _ => return at,
            }
        }
    }

    /// The place after white space, comments and ellipses.
    #[inline]
    pub(super) fn peek(&self, at: usize) -> usize {
        match lookahead::plain(self.bytes, at) {
            Some(next) => next,
            None => self.odd_peek(at),
        }
    }

    fn odd_peek(&self, mut at: usize) -> usize {
        loop {
            at = skip_white(self.bytes, at);
            match self.bytes.get(at) {
                Some(b'/' | b'#' | b'.' | 0xe2) if lookahead::comment(self.bytes, at) && !self.is_colour(at) => {
                    at = lookahead::comment_end(self.bytes, at);
                }
                Some(b'\\') => match lookahead::escaped_white(self.bytes, at) {
                    Some(end) => at = end,
                    None => return at,
                },
                Some(0x80..) => match lookahead::odd_space(self.out.text, at) {
                    Some(length) => at += length,
                    None => return at,
                },
                _ => return at,
            }
        }
    }

    /// `#fff` where a value must come is a colour and no comment.
    fn is_colour(&self, at: usize) -> bool {
        let value_due = match self.state {
            State::Value => true,
            State::Item => self.top() != Some(Kind::Object),
            _ => false,
        };
        value_due && self.bytes.get(at) == Some(&b'#') && {
            let end = lookahead::word_end(self.bytes, at + 1, 9);
            matches!(end - at, 4 | 5 | 7 | 9)
                && self.bytes.get(at + 1..end).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
        }
    }
}
