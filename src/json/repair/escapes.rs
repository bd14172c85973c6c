//! What a string's body is in JSON: its quotes, escapes and line breaks.
use super::backslashes::Backslashes;
use super::lookahead::{self, Quote};
use super::machine::Repairer;
use super::quoted::{LOOK, Quoted};
use crate::json::block::find_special_or;
use crate::json::scan::{Stop, scan_unicode};
use crate::turn::{RepairCode, Slip};

impl Repairer<'_> {
    /// Writes the string as JSON: what is valid stays, byte for byte. With `open` unset it goes on with the string before it,
    /// with `close` unset its end is left open for one that goes on with it.
    pub(super) fn write_string(&mut self, string: &Quoted, open: bool, close: bool) {
        if open && (string.quote != Quote::Double || string.body != string.open + 1) {
            self.out.record_slip(Slip::OtherQuotes, string.open);
            self.out.replace(string.open, string.body, "\"");
        } else if !open {
            self.out.replace(string.body, string.body, "");
        }
        if self.argument && !self.frames.is_empty() && string.inner && string.quote == Quote::Single {
            self.out.record_slip(Slip::InnerQuotes, string.open);
        }
        self.python |= string.quote == Quote::Single;
        if string.doubtful {
            self.write_body(string);
        }
        if !close {
            self.out.copy_to(string.end);
            return;
        }
        if string.unclosed {
            let message = if string.cut { "the text ends inside this string" } else { "the string's end was missing" };
            self.out.record(RepairCode::UnclosedString, string.open, message);
        }
        if string.after != string.end + 1 || self.bytes.get(string.end) != Some(&b'"') {
            self.out.replace(string.end, string.after, "\"");
        }
    }

    fn write_body(&mut self, string: &Quoted) {
        let text = self.bytes.get(..string.end).unwrap_or(self.bytes);
        let mut recorded = Recorded::default();
        let backslashes = self.backslashes(text, string);
        let mut at = string.body;
        loop {
            let from = at;
            at = find_special_or(text, at, b'"');
            match text.get(at) {
                None => return,
                _ if self.is_interrupted(LOOK + at - from) => return,
                Some(b'"') => {
                    if string.quote == Quote::Double && is_first(&mut recorded.quotes) {
                        self.out.record(RepairCode::Quotes, at, "quotes inside the string are escaped now");
                    }
                    self.out.replace(at, at + 1, "\\\"");
                    at += 1;
                }
                Some(b'\\')
                    if backslashes == Backslashes::Unclear && matches!(text.get(at + 1), Some(b'n' | b'r' | b't')) =>
                {
                    self.out.replace(at, string.end, "");
                    return;
                }
                Some(b'\\') => at = self.write_escape(text, at, string, backslashes, &mut recorded),
                Some(&byte) => {
                    if is_first(&mut recorded.controls) {
                        let message = "line breaks or control characters in the string are escaped now";
                        self.out.record(RepairCode::ControlCharacter, at, message);
                    }
                    self.out.replace_with(at, at + 1, |out| crate::json::string::push_escape(out, byte));
                    at += 1;
                }
            }
        }
    }

    /// Python's escapes, which JavaScript mostly has as well, count in the string.
    pub(super) fn has_python_escapes(&self, string: &Quoted) -> bool {
        self.python || string.quote != Quote::Double
    }

    /// Mends the escape at `at`, if it has to be; answers where to go on.
    fn write_escape(
        &mut self,
        text: &[u8],
        at: usize,
        string: &Quoted,
        backslashes: Backslashes,
        recorded: &mut Recorded,
    ) -> usize {
        let python = self.has_python_escapes(string);
        // What is an escape in Python, and is none here, is told beside what is none anywhere.
        let kept = python && text.get(at + 1).is_some_and(|byte| means_more_in_python(*byte));
        let recorded = if kept { &mut recorded.kept } else { &mut recorded.escapes };
        let mut edit = |from: usize, to: usize, with: &str, message: &'static str| {
            if is_first(recorded) {
                self.out.record(RepairCode::Escape, at, message);
            }
            self.out.replace(from, to, with);
        };
        if string.raw {
            self.out.replace(at, at + 1, "\\\\");
            return at + 1;
        }
        match text.get(at + 1) {
            None if string.cut => {
                edit(at, at + 1, "", "the escape is cut off");
                at + 1
            }
            Some(b'\\') if backslashes == Backslashes::Share && at == string.body => {
                edit(at, at + 2, "\\\\\\\\", "the backslashes are escaped now");
                at + 2
            }
            Some(byte) if backslashes.are_text(*byte, python) && !is_apostrophe(text, at) => {
                edit(at, at + 1, "\\\\", "the backslash is escaped now");
                at + 2
            }
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at + 2,
            Some(b'\'') => {
                edit(at, at + 1, "", "an apostrophe needs no backslash");
                at + 2
            }
            Some(b'u') => match scan_unicode(text, at) {
                Stop::End(end) => end,
                Stop::More(_) if string.cut => {
                    edit(at, text.len(), "", "the escape is cut off");
                    text.len()
                }
                _ if lookahead::hex(text, at + 2, 4).is_some() => {
                    edit(at, at + 6, "\\ufffd", "half of a surrogate pair is no character");
                    at + 6
                }
                _ => {
                    edit(at, at + 1, "\\\\", "the backslash is escaped now");
                    at + 1
                }
            },
            Some(b'_' | b'*') if string.key => {
                self.out.record(RepairCode::MarkdownEscape, at, "a Markdown escape was removed from the key");
                self.out.replace(at, at + 1, "");
                at + 2
            }
            Some(_) if python && string.cut && is_half(text, at) => {
                edit(at, text.len(), "", "the escape is cut off");
                text.len()
            }
            Some(&byte) if python => match other_escape(text, at, byte) {
                Some((end, unit)) => {
                    self.out.replace_with(at, end, |out| push_character(out, unit));
                    end
                }
                None => {
                    edit(at, at + 1, "\\\\", "the backslash is escaped now");
                    at + 1
                }
            },
            _ => {
                edit(at, at + 1, "\\\\", "the backslash is escaped now");
                at + 1
            }
        }
    }
}

/// `\x4`, `\U0001F6` and `\03` at `at`: Python's escapes, cut off.
pub(super) fn is_half(text: &[u8], at: usize) -> bool {
    let escape = text.get(at + 1..).unwrap_or_default();
    let Some((first, digits)) = escape.split_first() else { return true };
    let length = match first {
        b'x' => 2,
        b'U' => 8,
        b'0' => return escape.len() < 3 && octal(text, at + 1) == escape.len(),
        _ => return false,
    };
    digits.len() < length && digits.iter().all(u8::is_ascii_hexdigit)
}

/// The escape at `at` is one of Python's that JSON lacks, and meant as one: nobody writes a bell before a letter (`\alpha`), nor a
/// character by its number in a path (`C:\2024`).
pub(super) fn is_python(text: &[u8], at: usize, path: bool) -> bool {
    let Some(&first) = text.get(at + 1) else { return false };
    let meant = match first {
        b'a' | b'v' => !text.get(at + 2).is_some_and(u8::is_ascii_alphabetic),
        b'0'..=b'7' => !path,
        b'N' => return text.get(at + 2) == Some(&b'{'),
        _ => true,
    };
    meant && other_escape(text, at, first).is_some()
}

/// `\x27` at `at`: so are quotes written that the search for the string's end has found to be a part of it.
fn is_apostrophe(text: &[u8], at: usize) -> bool {
    text.get(at..at + 4) == Some(b"\\x27")
}

/// Python reads a character, or an error, where a backslash stands before `byte`, not the backslash itself.
pub(crate) const fn means_more_in_python(byte: u8) -> bool {
    matches!(byte, b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'x' | b'u' | b'U' | b'N' | b'0'..=b'7')
}

/// How many octal digits stand at `at`, up to three.
fn octal(text: &[u8], at: usize) -> usize {
    let digits = text.get(at..).unwrap_or_default().iter().take(3);
    digits.take_while(|byte| matches!(byte, b'0'..=b'7')).count()
}

/// What was recorded of a string: each kind of mending is, once.
#[derive(Default)]
struct Recorded {
    quotes: bool,
    controls: bool,
    escapes: bool,
    /// Escapes that are some in Python.
    kept: bool,
}

fn is_first(recorded: &mut bool) -> bool {
    !std::mem::replace(recorded, true)
}

/// An escape of Python or JavaScript that JSON lacks: where it ends, and its character (`None`: nothing).
fn other_escape(text: &[u8], at: usize, byte: u8) -> Option<(usize, Option<u32>)> {
    match byte {
        b'x' => Some((at + 4, Some(lookahead::hex(text, at + 2, 2)?))),
        b'U' => Some((at + 10, Some(lookahead::hex(text, at + 2, 8)?))),
        b'0' if !text.get(at + 2).is_some_and(u8::is_ascii_digit) => Some((at + 2, Some(0))),
        // Others are groups of regular expressions, or names in paths.
        b'0' if octal(text, at + 1) == 3 => {
            let digits = text.get(at + 1..at + 4)?;
            let code = digits.iter().fold(0, |code, digit| code * 8 + u32::from(digit - b'0'));
            Some((at + 4, Some(code)))
        }
        b'a' => Some((at + 2, Some(7))),
        b'v' => Some((at + 2, Some(11))),
        b'`' => Some((at + 2, Some(u32::from(b'`')))),
        b'\n' => Some((at + 2, None)),
        _ => None,
    }
}

fn push_character(out: &mut String, code: Option<u32>) {
    let Some(code) = code else { return };
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    crate::json::string::push_escaped(out, character.encode_utf8(&mut [0; 4]));
}
