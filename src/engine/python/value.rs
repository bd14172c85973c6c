//! Where a value of a Python call ends.
use super::super::{Look, Reader, head, lenient};
use super::name_at;

/// A value that is being read: where it may end is decided by quotes and brackets.
#[derive(Debug, Default)]
pub(super) struct ValueScan {
    pub(super) start: usize,
    pub(super) at: usize,
    pub(super) brackets: usize,
    /// The open quote and whether it is tripled.
    pub(super) quote: Option<(u8, bool)>,
}

impl ValueScan {
    /// Where the value ends: before the comma or the parenthesis that follows it.
    pub(super) fn end(&mut self, cx: &Reader<'_>, keyed: bool) -> Look<usize> {
        let bytes = cx.bytes();
        loop {
            let Some(byte) = bytes.get(self.at).copied() else { return Look::More };
            if let Some((quote, triple)) = self.quote {
                match self.in_string(cx, quote, triple, keyed) {
                    Look::Is(()) => continue,
                    _ => return Look::More,
                }
            }
            match byte {
                b'"' | b'\'' => {
                    let before = cx.slice(self.start, self.at);
                    let inside_word = before.ends_with(|c: char| c.is_alphanumeric()) && before.len() > 2;
                    if inside_word {
                        self.at += 1;
                        continue;
                    }
                    let rest = bytes.get(self.at..).unwrap_or_default();
                    if rest.len() < 3 && rest.iter().all(|b| *b == byte) && !cx.eof {
                        return Look::More;
                    }
                    let triple = rest.starts_with(&[byte; 3]);
                    self.quote = Some((byte, triple));
                    self.at += if triple { 3 } else { 1 };
                }
                b'(' | b'[' | b'{' => {
                    self.brackets += 1;
                    self.at += 1;
                }
                b')' | b']' | b'}' => {
                    if self.brackets == 0 {
                        return Look::Is(self.at);
                    }
                    self.brackets -= 1;
                    self.at += 1;
                }
                b',' if self.brackets == 0 => {
                    // The comma of bare words (`location=Palo Alto, CA`) belongs to the value unless a name follows.
                    let text = cx.slice(self.start, self.at).trim();
                    if !keyed || lenient::looks_literal(text) {
                        return Look::Is(self.at);
                    }
                    match next_is_argument(cx, self.at + 1) {
                        Look::Is(()) => return Look::Is(self.at),
                        Look::No => self.at += 1,
                        Look::More => return Look::More,
                    }
                }
                // The fence round the call is closed, and the call is not.
                b'`' if self.brackets == 0 => match fence_closes(cx, self.at) {
                    Look::Is(()) => return Look::Is(self.at),
                    Look::More => return Look::More,
                    Look::No => self.at += 1,
                },
                _ => self.at += 1,
            }
        }
    }

    fn in_string(&mut self, cx: &Reader<'_>, quote: u8, triple: bool, keyed: bool) -> Look<()> {
        let bytes = cx.bytes();
        let rest = bytes.get(self.at..).unwrap_or_default();
        let Some(hit) = memchr::memchr2(quote, b'\\', rest) else {
            self.at = bytes.len();
            return Look::More;
        };
        self.at += hit;
        if bytes.get(self.at) == Some(&b'\\') {
            if self.at + 1 >= bytes.len() {
                return Look::More;
            }
            self.at += 2;
            while !cx.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            return Look::Is(());
        }
        if triple {
            let rest = bytes.get(self.at..).unwrap_or_default();
            if rest.len() < 3 && !cx.eof {
                return Look::More;
            }
            if rest.starts_with(&[quote; 3]) {
                self.quote = None;
                self.at += 3;
            } else {
                self.at += 1;
            }
            return Look::Is(());
        }
        // A quote closes only where the structure goes on; else it is an apostrophe.
        let next = cx.skip_space(self.at + 1);
        let closes = match bytes.get(next) {
            None if !cx.eof => return Look::More,
            None => true,
            Some(b')' | b']' | b'}' | b':' | b'+' | b'\'' | b'"' | b'[' | b'.' | b'%' | b'*' | b';') => true,
            Some(b'`') => match fence_closes(cx, next) {
                Look::More => return Look::More,
                look => look == Look::Is(()),
            },
            Some(b',') if self.brackets > 0 || !keyed => true,
            Some(b',') => match next_is_argument(cx, next + 1) {
                Look::More => return Look::More,
                Look::Is(()) => true,
                Look::No => false,
            },
            Some(_) => false,
        };
        if closes {
            self.quote = None;
        }
        self.at += 1;
        Look::Is(())
    }
}

/// A line that closes a fence begins at `at`.
fn fence_closes(cx: &Reader<'_>, at: usize) -> Look<()> {
    if cx.at_line_start(at) { head::literal(cx, at, "```").map(|_| ()) } else { Look::No }
}

/// After a comma: another named argument, the end of the call, or (for a trailing comma) nothing.
fn next_is_argument(cx: &Reader<'_>, at: usize) -> Look<()> {
    let start = cx.skip_space(at);
    let name = name_at(cx, start);
    let equals = cx.skip_space(name.end);
    match cx.bytes().get(equals) {
        None if !cx.eof && equals - at < 4096 => Look::More,
        Some(b'=') if !name.is_empty() => Look::Is(()),
        // Another call: the parenthesis of this one is missing.
        Some(b'(') if cx.offered(cx.slice(name.start, name.end)) => Look::Is(()),
        Some(b')') if name.is_empty() => Look::Is(()),
        Some(b'*') if name.is_empty() => Look::Is(()),
        _ => Look::No,
    }
}
