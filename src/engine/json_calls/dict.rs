//! Where an object in Python's quotes ends, so that a closing marker in one of its strings is told from the real one.
use super::super::{Look, Reader};

/// An object that is being looked through to its end, wherever that is. It is read as Python reads it and no other way: what
/// Python would refuse may end anywhere. A marker outside its strings is such a thing.
#[derive(Debug)]
pub(super) struct Dict {
    pub(super) start: usize,
    at: usize,
    brackets: usize,
    quote: Option<u8>,
    end: Option<Look<usize>>,
}

impl Dict {
    /// For an object at `start`; `None` if its first key stands in no single quotes.
    pub(super) fn at(cx: &Reader<'_>, start: usize) -> Option<Self> {
        let single = cx.bytes().get(cx.skip_space(start + 1)) == Some(&b'\'');
        single.then_some(Self { start, at: start, brackets: 0, quote: None, end: None })
    }

    /// Where it ends; `No` if it is none that Python reads.
    pub(super) fn end(&mut self, cx: &Reader<'_>) -> Look<usize> {
        if self.end.is_none() {
            let look = self.read(cx);
            self.end = Some(look).filter(|look| *look != Look::More);
            return look;
        }
        self.end.unwrap_or(Look::No)
    }

    fn read(&mut self, cx: &Reader<'_>) -> Look<usize> {
        let more = || if cx.eof { Look::No } else { Look::More };
        loop {
            let rest = cx.bytes().get(self.at..).unwrap_or_default();
            let Some(quote) = self.quote else {
                let Some(length) =
                    rest.iter().position(|b| matches!(b, b'"' | b'\'' | b'{' | b'[' | b'}' | b']' | b'<'))
                else {
                    self.at = cx.text.len();
                    return more();
                };
                self.at += length + 1;
                match rest.get(length) {
                    Some(b'<') => return Look::No,
                    Some(b'{' | b'[') => self.brackets += 1,
                    Some(b'}' | b']') => self.brackets = self.brackets.saturating_sub(1),
                    quote => self.quote = quote.copied(),
                }
                if self.brackets == 0 {
                    return Look::Is(self.at);
                }
                continue;
            };
            let Some(length) = rest.iter().position(|b| *b == quote || matches!(b, b'\\' | b'\n')) else {
                self.at = cx.text.len();
                return more();
            };
            let here = self.at + length;
            match rest.get(length) {
                Some(b'\\') if length + 1 < rest.len() => self.at = here + 2,
                Some(b'\\') => {
                    self.at = here;
                    return more();
                }
                Some(b'\n') => return Look::No,
                // Behind a string the structure goes on.
                _ => match cx.bytes().get(cx.skip_space(here + 1)) {
                    Some(b',' | b':' | b'}' | b']') => {
                        self.quote = None;
                        self.at = here + 1;
                    }
                    None => {
                        self.at = here;
                        return more();
                    }
                    Some(_) => return Look::No,
                },
            }
        }
    }
}
