//! Values of a call that is written as a string, whose own strings have their quotes escaped for that: `["f(a=\"x\")"]`.
use super::{Python, Quoted};
use crate::engine::body::literal;
use crate::engine::look::seen;
use crate::engine::{Look, Reader};

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
        let Quoted::Open(quote) = self.quoted else { return Look::No };
        let start = self.scan.start;
        seen!(begins(cx, start, quote));
        self.escapes.at = self.escapes.at.max(start);
        self.escapes.end(cx, quote).map(|end| (end, without_escapes(cx.slice(start, end), quote)))
    }

    /// The string round the call ends in `text`, one of its values.
    pub(super) fn holds_end(&self, text: &str) -> bool {
        matches!(self.quoted, Quoted::Open(quote) if self.escapes.seen && text.contains(char::from(quote)))
    }
}

/// The value at `at` is, or holds, strings in an escaped `quote`.
fn begins(cx: &Reader<'_>, at: usize, quote: u8) -> Look<()> {
    let near = cx.near(at, NEAR);
    let opens = near.iter().take_while(|byte| matches!(byte, b'[' | b'{' | b'(') || byte.is_ascii_whitespace()).count();
    match near.get(opens..) {
        Some([b'\\', second, ..]) => Look::when(*second == quote),
        Some([] | [b'\\']) if near.len() < NEAR && !cx.eof => Look::More,
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

/// `text`, as it stands in a string in `quote`s, without the escapes of that.
fn without_escapes(text: &str, quote: u8) -> String {
    let quote = char::from(quote);
    let whole = format!("{quote}{text}{quote}");
    let read = literal::read(&whole, 0);
    serde_json::from_str(&read.json).unwrap_or_default()
}
