//! Characters that a server cut between UTF-16's two units: one chunk ends in the first escape, the next begins with the second.
use super::node::{mend_surrogates, unit};

/// The first half of a character, in which a string of an earlier chunk ended.
#[derive(Debug, Default)]
pub(super) struct Halves {
    first: Option<String>,
}

/// A chunk whose halves of characters are where they belong.
pub(super) struct Joined {
    pub(super) text: String,
    /// Half a character is missing, and U+FFFD stands for it.
    pub(super) lost: bool,
}

impl Halves {
    /// The chunk `text`, a JSON text that holds half a character: with the first half from before it, and without the one
    /// that it ends in, which waits for the next.
    pub(super) fn join(&mut self, text: &str) -> Joined {
        let mut text = text.to_owned();
        let mut lost = false;
        if let Some(first) = self.first.take() {
            let escapes = escapes(&text);
            // A quotation mark that is escaped itself opens no string.
            let opens = |at: usize| {
                text.get(..at).is_some_and(|before| before.ends_with('"'))
                    && escapes.binary_search(&at.wrapping_sub(2)).is_err()
            };
            let second = |at: &&usize| matches!(unit(&text, **at), Some(0xdc00..=0xdfff)) && opens(**at);
            match escapes.iter().find(second).copied() {
                Some(at) => text.insert_str(at, &first),
                None => lost = true,
            }
        }
        let ends = |at: &usize| {
            matches!(unit(&text, *at), Some(0xd800..=0xdbff)) && text.as_bytes().get(at + 6) == Some(&b'"')
        };
        if let Some(at) = escapes(&text).into_iter().find(ends) {
            self.first = text.get(at..at + 6).map(str::to_owned);
            text.replace_range(at..at + 6, "");
        }
        lost |= mend_surrogates(&text).is_some();
        Joined { text, lost }
    }

    /// The stream ended, and a character's second half never came.
    pub(super) fn is_open(&self) -> bool {
        self.first.is_some()
    }
}

/// Where the escapes of the JSON text stand: what follows a backslash that is escaped is none.
fn escapes(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text.as_bytes().get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        found.push(at + next);
        at += next + 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_of_a_character_meet() {
        let mut halves = Halves::default();
        let first = halves.join(r#"{"text":"a\ud83d"}"#);
        assert_eq!((first.text.as_str(), first.lost), (r#"{"text":"a"}"#, false));
        let second = halves.join(r#"{"id":"x","text":"\ude00 b\ud83d"}"#);
        assert_eq!((second.text.as_str(), second.lost), (r#"{"id":"x","text":"\ud83d\ude00 b"}"#, false));
        assert!(halves.is_open());
        let third = halves.join(r#"{"text":"c\ude00"}"#);
        assert!(third.lost && !halves.is_open());
    }
    #[test]
    fn a_backslash_that_is_text_begins_no_half() {
        let mut halves = Halves::default();
        let first = halves.join(r#"{"a":"C:\\ud83d","b":"x\ud83d"}"#);
        assert_eq!((first.text.as_str(), first.lost), (r#"{"a":"C:\\ud83d","b":"x"}"#, false));
        let second = halves.join(r#"{"a":"\"\ude00","b":"\ude00"}"#);
        assert_eq!(second.text, r#"{"a":"\"\ude00","b":"\ud83d\ude00"}"#);
        assert!(second.lost);
    }
}
