//! Keys whose quotes are not as they should be: one is missing, doubled, escaped or of another kind.
use super::lookahead::{self, KEY_LIMIT, Quote, skip_white, word_end};
use super::machine::{Repairer, State};
use crate::json::block::find_special_or;
use crate::json::string::push_string;
use crate::turn::RepairCode;

/// A word with a colon behind it, and the marks round the word.
#[derive(Debug, Clone, Copy)]
struct Crooked {
    before: Marks,
    word: usize,
    end: usize,
    behind: Marks,
    /// After the marks behind the word.
    after: usize,
    colon: usize,
}

/// The marks on one side of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marks {
    None,
    One(Quote),
    /// Two of them, or one with a backslash.
    Odd,
}

impl Crooked {
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let (before, word) = marks(bytes, at);
        let end = word_end(bytes, word, KEY_LIMIT);
        // A curly mark could be a letter of the word.
        let curly = end.checked_sub(3).filter(|at| *at > word && Quote::at(bytes, *at).is_some());
        let end = curly.unwrap_or(end);
        let (behind, after) = marks(bytes, end);
        let colon = skip_white(bytes, after);
        let named = end > word && !bytes.get(word).is_some_and(u8::is_ascii_digit);
        (named && lookahead::is_colon(bytes, colon)).then_some(Self { before, word, end, behind, after, colon })
    }

    /// A value that needs no guessing stands behind the colon.
    fn has_value(&self, bytes: &[u8]) -> bool {
        let length = lookahead::punctuation(bytes, self.colon).map_or(1, |(_, length)| length);
        surely_value(bytes, skip_white(bytes, self.colon + length))
    }
}

/// The marks at `at`, and the place after them.
fn marks(bytes: &[u8], at: usize) -> (Marks, usize) {
    let one = |at: usize| {
        let mark = at + usize::from(bytes.get(at) == Some(&b'\\'));
        Quote::at(bytes, mark).map(|(quote, length)| (quote, mark > at, mark + length))
    };
    match one(at) {
        None => (Marks::None, at),
        Some((quote, escaped, after)) => match one(after) {
            Some((_, _, after)) => (Marks::Odd, after),
            None if escaped => (Marks::Odd, after),
            None => (Marks::One(quote), after),
        },
    }
}

/// A string, a bracket, or a number or literal that is all of its value stands at `at`.
pub(super) fn surely_value(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        None => false,
        Some(b'{' | b'[') => true,
        Some(_) if Quote::at(bytes, at).is_some() => true,
        Some(first) => {
            let from = at + usize::from(*first == b'-');
            let end = word_end(bytes, from, KEY_LIMIT);
            let number = bytes.get(from).is_some_and(u8::is_ascii_digit);
            let over = matches!(bytes.get(skip_white(bytes, end)), None | Some(b',' | b'}' | b']'));
            (number || lookahead::literal(bytes, at)) && (over || bytes.get(end) == Some(&b'\n'))
        }
    }
}

/// A key, its colon and a value that needs no guessing stand at `at`, where an item of an array should: the key is quoted
/// as it should be, or not at all.
pub(super) fn member_for_item(bytes: &[u8], at: usize) -> bool {
    let colon = match closed(bytes, at) {
        Some(Closed::Colon(colon)) => Some(colon),
        Some(_) => None,
        None => Crooked::at(bytes, at).filter(|key| key.before == Marks::None).map(|key| key.colon),
    };
    colon.is_some_and(|colon| bytes.get(colon) == Some(&b':') && surely_value(bytes, skip_white(bytes, colon + 1)))
}

/// How surely a key with its colon stands somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Likely {
    No,
    /// A word and a colon: prose has that as well.
    Word,
    /// Several words, or a number, a colon and a value that needs no guessing.
    Words,
    /// And a value that needs no guessing.
    Bare,
    /// It has one of its marks at least.
    Marked,
}

/// Several words, or a number, with a colon and a value that needs no guessing stand at `at`, perhaps with one of a key's marks.
fn is_spoken(bytes: &[u8], at: usize) -> bool {
    let (before, words) = marks(bytes, at);
    let end = lookahead::words_end(bytes, words);
    let (behind, colon) = marks(bytes, end);
    let one = before == Marks::None || behind == Marks::None;
    let value = skip_white(bytes, colon + 1);
    // A time in a text is no key.
    let valued = match bytes.get(value) {
        Some(b'0'..=b'9' | b'-') => !bytes.get(words).is_some_and(u8::is_ascii_digit) && surely_value(bytes, value),
        _ => surely_value(bytes, value),
    };
    one && end > words && bytes.get(colon) == Some(&b':') && valued
}

/// How likely it is that a key of this kind stands behind the white space at `at`.
pub(super) fn likely(bytes: &[u8], at: usize) -> Likely {
    let white = skip_white(bytes, at);
    let at = lookahead::escaped_white(bytes, white).unwrap_or(white);
    let Some(key) = Crooked::at(bytes, at) else {
        return match () {
            () if at > white && lookahead::quoted_key(bytes, at) => Likely::Marked,
            () if is_spoken(bytes, at) => Likely::Words,
            () => Likely::No,
        };
    };
    match (key.before, key.behind) {
        (_, Marks::One(_) | Marks::Odd) => Likely::Marked,
        (Marks::None, Marks::None) if key.has_value(bytes) => Likely::Bare,
        (Marks::None, Marks::None) if bytes.get(key.colon) != Some(&b'=') => Likely::Word,
        (Marks::One(_) | Marks::Odd, Marks::None) if key.has_value(bytes) => Likely::Marked,
        _ => Likely::No,
    }
}

/// What stands behind the mark that closes the string at `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closed {
    /// Where a colon stands.
    Colon(usize),
    Otherwise,
    /// The end of the text came first.
    End,
    /// It is further than keys are long.
    Far,
}

fn closed(bytes: &[u8], at: usize) -> Option<Closed> {
    let (quote, length) = Quote::at(bytes, at)?;
    let window = bytes.get(..bytes.len().min(at + length + KEY_LIMIT)).unwrap_or(bytes);
    let mut end = at + length;
    loop {
        end = find_special_or(window, end, quote.lead());
        match (window.get(end), Quote::at(window, end)) {
            (None, _) if window.len() < bytes.len() => return Some(Closed::Far),
            (None, _) => return Some(Closed::End),
            (Some(b'\\'), _) => end += 2,
            (_, Some((closing, length))) if quote.closed_by(closing) => {
                let colon = skip_white(bytes, end + length);
                return Some(match bytes.get(colon) {
                    None => Closed::End,
                    Some(_) if lookahead::is_colon(bytes, colon) => Closed::Colon(colon),
                    Some(_) => Closed::Otherwise,
                });
            }
            _ => end += 1,
        }
    }
}

/// A key with both its quotes and its colon stands at `at`, as far as can be seen.
pub(super) fn is_whole_key(bytes: &[u8], at: usize) -> bool {
    matches!(closed(bytes, at), Some(Closed::Colon(_) | Closed::Far))
}

impl Repairer<'_> {
    /// The key at `at`, if its marks are such that it can be read neither as a string nor as a bare word.
    pub(super) fn read_crooked_key(&mut self, at: usize) -> Option<usize> {
        let key = Crooked::at(self.bytes, at)?;
        let crooked = match (key.before, key.behind) {
            (Marks::Odd, _) | (_, Marks::Odd) => true,
            (Marks::One(open), Marks::One(close)) => !open.closed_by(close),
            (Marks::None, _) | (_, Marks::None) => false,
        };
        let straight = match closed(self.bytes, at) {
            Some(Closed::Colon(_)) => true,
            Some(Closed::Far) => !key.has_value(self.bytes),
            Some(Closed::End) => self.partial.is_some(),
            Some(Closed::Otherwise) | None => false,
        };
        if !crooked || straight {
            return None;
        }
        self.out.record(RepairCode::Quotes, at, "the key is in double quotes now");
        let text = self.out.text.get(key.word..key.end).unwrap_or_default();
        self.out.replace_with(at, key.after, |out| push_string(out, text));
        self.state = State::Colon;
        Some(key.after)
    }
}
