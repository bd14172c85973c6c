//! What stands between the parts of a value and says nothing: white space, comments, ellipses.
use super::lookahead::{self, is_word, skip_json_white, skip_white};
use super::machine::{Kind, Repairer, State};
use crate::json::Balance;
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
            at = skip_json_white(self.bytes, at);
            match self.bytes.get(at) {
                Some(b'/' | b'#' | b'.' | 0xe2) if lookahead::comment(self.bytes, at) && !self.is_colour(at) => {
                    let end = self.leave_comment(at);
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
                Some(0x80..) => match lookahead::odd_space(self.bytes, at) {
                    Some(length) => {
                        let message = "white space that JSON does not know became a space";
                        self.out.record(RepairCode::ControlCharacter, at, message);
                        self.out.replace(at, at + length, " ");
                        at += length;
                    }
                    None => return at,
                },
                _ => return at,
            }
        }
    }

    /// A comment or ellipsis at `at` is left out, or what looks like one. Answers where it ends.
    pub(super) fn leave_comment(&mut self, at: usize) -> usize {
        let end = lookahead::comment_end(self.bytes, at);
        // What an ellipsis stands for is not known.
        let ellipsis = matches!(self.bytes.get(at), Some(b'.' | 0xe2));
        self.guess_if(ellipsis || self.is_stray_sign(at, end));
        self.out.record(RepairCode::Comment, at, "a comment or ellipsis was left out");
        end
    }

    /// What is read as a comment from `at` to `end` is perhaps a sign too many and what stands behind it: nothing parts
    /// the two, a string ends in it, or it is the rest of the text and holds more than words.
    fn is_stray_sign(&self, at: usize, end: usize) -> bool {
        let comment = self.bytes.get(at..end).unwrap_or_default();
        if let Some(block) = comment.strip_prefix(b"/*") {
            return !block.ends_with(b"*/");
        }
        let signs = comment.iter().take_while(|byte| matches!(byte, b'/' | b'#')).count();
        let (_, text) = comment.split_at(signs);
        let Some(first) = text.first().filter(|_| signs > 0) else { return false };
        let structure = |byte: &u8| matches!(byte, b'"' | b':' | b'{' | b'[' | b'}' | b']');
        // What goes on right behind a string is more likely a part of it than a remark.
        if self.bytes.get(..at).and_then(<[u8]>::last).is_some_and(|byte| matches!(byte, b'"' | b'\'')) {
            return true;
        }
        let glued = !first.is_ascii_whitespace();
        let behind_word = self.bytes.get(..at).and_then(<[u8]>::last).is_some_and(|byte| is_word(*byte));
        if glued && (structure(first) || *first == b',' || behind_word || self.state == State::Value) {
            return true;
        }
        let number = text.trim_ascii().first().is_some_and(u8::is_ascii_digit);
        let rest = self.bytes.get(end..).unwrap_or_default();
        if !matches!(rest.first(), Some(b'\n' | b'\r')) {
            return glued || number || self.state == State::Value || text.iter().any(structure);
        }
        // The value was in it, or a bracket.
        let valueless = self.state == State::Value
            && matches!(rest.get(skip_white(rest, 0)), None | Some(b',' | b'}' | b']' | b')'));
        if valueless || !Balance::of(text).is_even() {
            return true;
        }
        let closing = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'}' | b']' | b')');
        let over = rest.iter().take_while(closing).count() == rest.len();
        let missing = || rest.iter().filter(|byte| !byte.is_ascii_whitespace()).count() < self.frames.len();
        glued && number || memchr::memchr_iter(b'"', text).count() % 2 == 1 || over && missing()
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
            at = skip_json_white(self.bytes, at);
            match self.bytes.get(at) {
                Some(b'/' | b'#' | b'.' | 0xe2) if lookahead::comment(self.bytes, at) && !self.is_colour(at) => {
                    at = lookahead::comment_end(self.bytes, at);
                }
                Some(b'\\') => match lookahead::escaped_white(self.bytes, at) {
                    Some(end) => at = end,
                    None => return at,
                },
                Some(0x80..) => match lookahead::odd_space(self.bytes, at) {
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
