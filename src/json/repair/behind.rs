//! What stands behind a value and is no structure: an expression that the value is a part of, or words.
use super::Ending;
use super::lookahead::{self, KEY_LIMIT, is_word, punctuation, skip_white, word_end};
use super::machine::{Kind, Repairer};
use super::output::Mark;
use super::quoted::Quoted;
use crate::json::quoting::{Part, Quoting};
use crate::json::string::push_string;
use crate::turn::RepairCode;

/// The mark at `at` stands where one does that opens a string.
pub(super) fn opens_string(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).and_then(<[u8]>::last);
    before.is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'[' | b'{' | b'=' | b',' | b':'))
}

/// An expression goes on behind the mark from `at` to `after` of a string: `+ name`, `% (...)`, `.format(`, `[0]`.
pub(super) fn expression(bytes: &[u8], at: usize, after: usize) -> bool {
    let next = skip_white(bytes, after);
    let operand = |at: usize| {
        let next = skip_white(bytes, at);
        bytes.get(next) == Some(&b'(') || starts_name(bytes, next)
    };
    if opens_string(bytes, at) {
        return false;
    }
    match bytes.get(next) {
        Some(b'+') => operand(next + 1),
        Some(b'%') if next > after => operand(next + 1),
        Some(b'.') => {
            let end = word_end(bytes, next + 1, KEY_LIMIT);
            starts_name(bytes, next + 1) && bytes.get(end) == Some(&b'(')
        }
        Some(b'[') => is_slice(bytes, next + 1),
        _ => false,
    }
}

/// `0]`, `-1]` or `1:5]` stands at `at`.
fn is_slice(bytes: &[u8], at: usize) -> bool {
    let part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b':');
    let length = bytes.get(at..).map_or(0, |rest| rest.iter().take(24).take_while(|byte| part(byte)).count());
    // `0-9` is a class of characters.
    let class = |two: &[u8]| matches!(two, [b'0'..=b'9', b'-']);
    let inside = bytes.get(at..at + length).unwrap_or_default();
    !inside.is_empty() && !inside.windows(2).any(class) && bytes.get(at + length) == Some(&b']')
}

/// `text`, which no quotes stand round, is the call of a function, the element of something, or a string is joined to it: what that
/// gives is known to nobody here. Other words may be a text that lacks its quotes.
pub(crate) fn is_expression(text: &str) -> bool {
    let text = ["await ", "new "].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    joins_string(text) || is_reached(text.as_bytes())
}

/// Source text, a string in it, and a sign that joins the two: `base + "/x"`.
fn joins_string(text: &str) -> bool {
    let before = |(at, _): (usize, char)| text.get(..at).unwrap_or_default().trim_end();
    let mut marks = text.char_indices().filter(|(_, c)| matches!(c, '"' | '\'')).map(before).step_by(2);
    marks.any(|before| before.ends_with('+') && before.len() > 1 && !before.ends_with("++"))
}

/// All of `text` is `name(...)` or `name[...]`, and what is called or taken of that in turn.
fn is_reached(text: &[u8]) -> bool {
    let named = |byte: &u8| is_word(*byte) || *byte == b'.' || *byte >= 0x80;
    let name = text.iter().take_while(|byte| named(byte)).count();
    let begins = text.first().is_some_and(|byte| !byte.is_ascii_digit() && *byte != b'.');
    if !(begins && matches!(text.get(name), Some(b'(' | b'['))) {
        return false;
    }
    let (mut depth, mut string, mut attribute) = (0_usize, Quoting::default(), false);
    for byte in text.iter().skip(name) {
        if string.read(*byte, |_| depth > 0) != Part::Outside {
            continue;
        }
        match byte {
            b'(' | b'[' | b'{' => (depth, attribute) = (depth + 1, false),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 => attribute = true,
            byte if depth == 0 && !(attribute && named(byte)) => return false,
            _ => {}
        }
    }
    depth == 0 && !string.is_open()
}

fn starts_name(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// It says something: a word or a number, or an operator.
fn says_something(junk: &str) -> bool {
    junk.contains(|c: char| c.is_alphanumeric() || matches!(c, '+' | '%'))
}

/// Between the last quote of `text` and the key behind it stand a comma and signs that never stand there: the quote closed a
/// value, and a sign too many hides that. What stands in an object of the text that is `open` may be code.
pub(super) fn stray_sign(text: &[u8], open: bool) -> bool {
    let sign = |byte: &u8| (byte.is_ascii_punctuation() || byte.is_ascii_whitespace()) && !matches!(byte, b'"' | b'\'');
    let signs = text.iter().rev().take(KEY_LIMIT).take_while(|byte| sign(byte)).count();
    let Some((kept, signs)) = text.split_at_checked(text.len() - signs) else { return false };
    let Some(comma) = memchr::memchr(b',', signs).filter(|_| kept.ends_with(b"\"") || kept.ends_with(b"'")) else {
        return false;
    };
    let (before, behind) = signs.split_at(comma);
    let closing = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'}' | b']' | b')');
    let opened = |byte: &u8| matches!(byte, b'{' | b'[');
    let begins = matches!(behind.get(1..).unwrap_or_default().trim_ascii(), b"" | b"{" | b"[{");
    before.first().is_some_and(opened) || !(open || begins && before.iter().all(closing))
}

impl Repairer<'_> {
    /// Where something begins behind the string that ended at `end`, if it is neither structure nor another member.
    fn stray(&self, end: usize, at: usize) -> Option<usize> {
        let top = self.top()?;
        let next = self.peek(at);
        let (byte, _) = punctuation(self.bytes, next)?;
        let structure = match byte {
            b',' | b';' | b'}' | b']' | b')' => true,
            b':' => top != Kind::Object,
            b'`' => lookahead::fence(self.bytes, next),
            b'{' => true,
            _ if expression(self.bytes, end, at) => false,
            _ => self.stops(byte) || self.starts_member(next),
        };
        (!structure).then_some(next)
    }

    /// The string that began at `open`, which was written behind `before`, is only the beginning of its value: all of
    /// that is kept as its source text. Answers where it ends.
    pub(super) fn kept_with_what_follows(&mut self, before: Mark, open: usize, string: &Quoted) -> Option<usize> {
        let next = self.stray(string.end, string.after)?;
        let place = self.place();
        let (_, end) = self.text_end(next, place, true).or_else(|| self.text_end(next, place, false))?;
        if !says_something(self.out.text.get(next..end)?) {
            return None;
        }
        if end >= self.bytes.len() {
            if self.partial.is_some() {
                // The strings that were joined to one are written.
                self.out.drop_from(before, open);
                return Some(self.end_of_text(open));
            }
            self.ending = Ending::Cut;
        }
        let text = self.out.text.get(open..end).unwrap_or_default().trim_end();
        let end = open + text.len();
        self.out.drop_from(before, open);
        self.out.record(RepairCode::SourceText, open, "what is no literal is kept as its source text");
        self.out.replace_with(open, end, |out| push_string(out, text));
        self.guess_if(true);
        self.value_read();
        Some(end)
    }

    /// Leaves out what can be nothing, up to a separator or bracket.
    pub(super) fn skip_junk(&mut self, at: usize) -> usize {
        let rest = self.bytes.get(at + 1..).unwrap_or_default();
        let stop = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b')' | b'\n' | b'"' | b'{' | b'[');
        let end = rest.iter().position(stop).map_or(self.bytes.len(), |i| at + 1 + i);
        self.out.record(RepairCode::Surroundings, at, "text between the values was left out");
        self.out.replace(at, end, "");
        let opens = matches!(self.bytes.get(at), Some(b'{' | b'['));
        self.guess_if(opens || self.out.text.get(at..end).is_some_and(says_something));
        end
    }
}
