//! Values of a call that is written as a string, whose own strings have their quotes escaped for that: `["f(a=\"x\")"]`, and
//! those of one that was taken out of such a string.
use super::{Python, Quoted};
use crate::engine::body::literal;
use crate::engine::look::seen;
use crate::engine::{Look, Reader};
use crate::json::pairs_are_text;

/// So many brackets and blanks may stand before the first string of a value that is told by it.
const NEAR: usize = 16;

/// How far such a value was read.
#[derive(Debug, Default)]
pub(super) struct EscapedScan {
    at: usize,
    brackets: usize,
    /// The quote round the string that is open.
    string: Option<u8>,
    /// A value before was one: then a quote that nothing escapes ends the string round the call.
    seen: bool,
}

impl Python {
    /// Where the value ends that is being read, and its text without the escapes of the string round the call. `No`: its strings
    /// are not escaped.
    pub(super) fn escaped_value(&mut self, cx: &Reader<'_>) -> Look<(usize, String)> {
        let start = self.scan.start;
        let quote = seen!(begins(cx, start, self.quote_round()));
        self.escapes.at = self.escapes.at.max(start);
        self.escapes.end(cx, quote).map(|end| (end, without_escapes(cx.slice(start, end), quote)))
    }

    /// The quote of the string that the call stands in.
    pub(super) fn quote_round(&self) -> Option<u8> {
        match self.quoted {
            Quoted::Open(quote) => Some(quote),
            Quoted::No | Quoted::Over(_) => None,
        }
    }

    /// The string round the call ends in `text`, one of its values.
    pub(super) fn holds_end(&self, text: &str) -> bool {
        self.escapes.seen && self.quote_round().is_some_and(|quote| text.contains(char::from(quote)))
    }

    /// The value that ends at `end`, without the escapes of the string round the call, if its strings have escapes of their own
    /// behind those (`\\n`, `\\'`) and say something without a doubt.
    pub(super) fn twice_escaped(&self, cx: &Reader<'_>, end: usize) -> Option<String> {
        let quote = self.quote_round()?;
        let start = self.scan.start;
        let value = cx.slice(start, end);
        memchr::memmem::find(value.as_bytes(), b"\\\\")?;
        if may_be_path(value) || pairs_are_text(value.as_bytes()) {
            return None;
        }
        let cut = cx.up_to(end + 1);
        let mut scan = EscapedScan { at: start, ..EscapedScan::default() };
        if scan.end(&cut, quote) != Look::Is(end) {
            return None;
        }
        let text = without_escapes(value, quote);
        if text.contains("\\/") {
            // Python has no such escape: it was escaped once, for the string round the call.
            return None;
        }
        let read = literal::read(text.trim_ascii(), start);
        // A bell or a backspace was meant by nobody: it is a regular expression that was escaped once.
        let sound = read.repairs.is_empty() && !read.guessed && !holds_control(&read.json);
        sound.then_some(text)
    }
}

/// The value at `at` is, or holds, strings in an escaped quote: that `round` the call, if it stands in one, or any.
fn begins(cx: &Reader<'_>, at: usize, round: Option<u8>) -> Look<u8> {
    let near = cx.near(at, NEAR);
    let opens = near.iter().take_while(|byte| matches!(byte, b'[' | b'{' | b'(') || byte.is_ascii_whitespace()).count();
    match near.get(opens..) {
        Some([b'\\', quote @ (b'"' | b'\''), ..]) if round.is_none_or(|round| round == *quote) => Look::Is(*quote),
        Some([b'\\', _, ..]) => Look::No,
        Some([] | [b'\\']) if cx.may_go_on(near.len(), NEAR) => Look::More,
        _ => Look::No,
    }
}

impl EscapedScan {
    /// For the next value of the same call.
    pub(super) fn next(&self) -> Self {
        Self { seen: self.seen || self.at > 0, ..Self::default() }
    }

    /// Reads on to the comma or the bracket behind the value, or to the `quote` that ends the string round the call.
    fn end(&mut self, cx: &Reader<'_>, quote: u8) -> Look<usize> {
        loop {
            let rest = cx.bytes().get(self.at..).unwrap_or_default();
            let length = match (rest, self.string) {
                ([b'\\', second, ..], None) if *second == quote => {
                    self.string = Some(quote);
                    2
                }
                ([b'\\', second, ..], Some(open)) if *second == quote && open == quote => {
                    self.string = None;
                    2
                }
                // A backslash in a string of the call, and what it escapes there.
                ([b'\\', b'\\', b'\\', _, ..], Some(_)) => 4,
                ([b'\\', b'\\', third, ..], Some(_)) if *third != b'\\' => 3,
                ([] | [b'\\'], _) | ([b'\\', b'\\'] | [b'\\', b'\\', b'\\'], Some(_)) => return Look::More,
                ([b'\\', ..], _) => 2,
                ([byte, ..], _) if *byte == quote => return Look::Is(self.at),
                ([byte, ..], Some(open)) => {
                    if *byte == open {
                        self.string = None;
                    }
                    1
                }
                ([byte @ (b'"' | b'\''), ..], None) => {
                    self.string = Some(*byte);
                    1
                }
                ([b')' | b']' | b'}' | b',', ..], None) if self.brackets == 0 => return Look::Is(self.at),
                ([b'(' | b'[' | b'{', ..], None) => {
                    self.brackets += 1;
                    1
                }
                ([b')' | b']' | b'}', ..], None) => {
                    self.brackets -= 1;
                    1
                }
                _ => 1,
            };
            self.at += length;
        }
    }
}

/// `text` may be a path whose backslashes were escaped once: behind a drive, or several in a word. Nothing else is meant by them.
fn may_be_path(text: &str) -> bool {
    let byte = |at: usize| text.as_bytes().get(at).copied();
    let before = |at: usize| at.checked_sub(1).and_then(byte);
    let once = |at: &usize| before(*at) != Some(b'\\') && byte(at + 2) != Some(b'\\');
    let mut pairs = memchr::memmem::find_iter(text.as_bytes(), b"\\\\").filter(once);
    let drive = pairs.clone().any(|at| before(at) == Some(b':'));
    drive
        || !text.contains(' ')
            && pairs.nth(1).and_then(|at| byte(at + 2)).is_some_and(|byte| byte.is_ascii_alphanumeric())
}

/// A control character other than a line break or a tab stands in a string of `json`.
fn holds_control(json: &str) -> bool {
    let mut escaped = false;
    json.bytes().enumerate().any(|(at, byte)| {
        let control = escaped
            && (matches!(byte, b'b' | b'f')
                || json.get(at..).is_some_and(|rest| rest.starts_with("u00") && !rest.starts_with("u00a")));
        escaped = byte == b'\\' && !escaped;
        control
    })
}

/// `text`, as it stands in a string in `quote`s, without the escapes of that.
fn without_escapes(text: &str, quote: u8) -> String {
    let quote = char::from(quote);
    let whole = format!("{quote}{text}{quote}");
    let read = literal::read(&whole, 0);
    serde_json::from_str(&read.json).unwrap_or_default()
}
