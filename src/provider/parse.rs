//! Payloads parsed in one pass: strings and numbers stay where they are, what no reader looks at is stepped over.
use super::node::{CARRIED, Node, is_unread};
use crate::json::{ScanResult, Scanner, find_special, read_string};
use std::borrow::Cow;
use std::collections::HashMap;

/// Values are read by recursion; serde_json stops there too. What a payload holds deeper than that is kept as text: it is one
/// call's arguments, and the rest of the answer is not to be lost for it.
const MAX_DEPTH: usize = 127;
/// Objects with more members are searched for keys that come twice by hashes.
const FEW: usize = 24;

/// The value that `text` is; `None` if it is not valid JSON, nested too deep, or holds half a surrogate pair. `payload`:
/// what [`is_unread`] is judged, but left out, at the top and in the response that an event carries, and what is nested too
/// deep is [`Node::Deep`].
pub(super) fn parse(text: &str, payload: bool) -> Option<Node<'_>> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, keeps_deep: payload };
    let node = parser.value(0, payload)?;
    parser.space();
    (parser.at == text.len()).then_some(node)
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    keeps_deep: bool,
}

impl<'a> Parser<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// The next byte that is no white space is `byte`: passes it.
    #[inline]
    fn passes(&mut self, byte: u8) -> bool {
        self.space();
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn value(&mut self, depth: usize, payload: bool) -> Option<Node<'a>> {
        self.space();
        match self.peek()? {
            b'"' => self.string().map(Node::String),
            b'{' if depth < MAX_DEPTH => self.object(depth, payload),
            b'[' if depth < MAX_DEPTH => self.array(depth),
            b'{' | b'[' if self.keeps_deep => {
                let from = self.at;
                self.skip()?;
                self.text.get(from..self.at).map(|text| Node::Deep(Cow::Borrowed(text)))
            }
            b't' => self.word("true", Node::Bool(true)),
            b'f' => self.word("false", Node::Bool(false)),
            b'n' => self.word("null", Node::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn word(&mut self, word: &str, node: Node<'a>) -> Option<Node<'a>> {
        let is = self.bytes.get(self.at..)?.starts_with(word.as_bytes());
        self.at += word.len();
        is.then_some(node)
    }

    fn digits(&mut self) -> bool {
        let from = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        self.at > from
    }

    fn number(&mut self) -> Option<Node<'a>> {
        let from = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        // Nothing stands behind a leading zero.
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else if !self.digits() {
            return None;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !self.digits() {
                return None;
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            if !self.digits() {
                return None;
            }
        }
        self.text.get(from..self.at).map(|written| Node::Number(Cow::Borrowed(written)))
    }

    /// The string at `at`.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let from = self.at + 1;
        let end = find_special(self.bytes, from);
        match self.bytes.get(end)? {
            b'"' => {
                self.at = end + 1;
                self.text.get(from..end).map(Cow::Borrowed)
            }
            b'\\' => {
                let mut read = Vec::with_capacity((end - from) + 64);
                read.extend_from_slice(self.bytes.get(from..end)?);
                let quote = read_string(self.bytes, end, &mut read)?;
                // Control characters may not stand there as they are.
                let controls = self.bytes.get(end..quote)?.iter().fold(false, |any, byte| any | (*byte < 0x20));
                if controls || quote >= self.bytes.len() {
                    return None;
                }
                self.at = quote + 1;
                String::from_utf8(read).ok().map(Cow::Owned)
            }
            _ => None,
        }
    }

    fn array(&mut self, depth: usize) -> Option<Node<'a>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.passes(b']') {
            return Some(Node::Array(items));
        }
        loop {
            items.push(self.value(depth + 1, false)?);
            if !self.passes(b',') {
                return self.passes(b']').then_some(Node::Array(items));
            }
        }
    }

    fn object(&mut self, depth: usize, payload: bool) -> Option<Node<'a>> {
        self.at += 1;
        if self.passes(b'}') {
            return Some(Node::Object(Vec::new()));
        }
        let mut members: Vec<(Cow<'a, str>, Node<'a>)> = Vec::with_capacity(8);
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return None;
            }
            let key = self.string()?;
            if !self.passes(b':') {
                return None;
            }
            if payload && is_unread(&key) {
                self.skip()?;
            } else {
                let value = self.value(depth + 1, payload && key == CARRIED)?;
                members.push((key, value));
            }
            if !self.passes(b',') {
                self.passes(b'}').then_some(())?;
                return Some(Node::Object(last_of_each(members)));
            }
        }
    }

    /// Steps over a value, however deep it is: the scanner does not call itself.
    fn skip(&mut self) -> Option<()> {
        let mut scanner = Scanner::new(self.at, usize::MAX);
        let ScanResult::Complete { end } = scanner.scan(self.bytes, false) else { return None };
        self.at = end;
        Some(())
    }
}

/// Of a key that comes twice the last counts, at the place of the first.
fn last_of_each<'a>(members: Vec<(Cow<'a, str>, Node<'a>)>) -> Vec<(Cow<'a, str>, Node<'a>)> {
    let twice = if members.len() <= FEW {
        members.iter().enumerate().any(|(i, (key, _))| members.iter().take(i).any(|(k, _)| k == key))
    } else {
        true
    };
    if !twice {
        return members;
    }
    let mut places: HashMap<Cow<'a, str>, usize> = HashMap::with_capacity(members.len());
    let mut out: Vec<(Cow<'a, str>, Node<'a>)> = Vec::with_capacity(members.len());
    for (key, value) in members {
        match places.get(&key).and_then(|at| out.get_mut(*at)) {
            Some(member) => member.1 = value,
            None => {
                places.insert(key.clone(), out.len());
                out.push((key, value));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// What serde_json takes is what this takes, and it is the same.
    fn check(text: &str) {
        let (ours, theirs) = (parse(text, false), serde_json::from_str::<Value>(text));
        match (&ours, &theirs) {
            (Some(node), Ok(value)) => assert_eq!(&node.to_value(), value, "{text}"),
            (None, Err(_)) => {}
            _ => panic!("{text}: {ours:?} {theirs:?}"),
        }
    }

    #[test]
    fn what_is_valid_is_decided_as_everywhere() {
        for text in [
            "",
            " ",
            "01",
            "-0",
            "-",
            "1.",
            "1.5e",
            "1e+5",
            "[1,]",
            "[,]",
            "{}",
            "{,}",
            r#"{"a":1,}"#,
            r#"{"a" : [ 1 , "b\n\u00e9\ud83d\ude00" ] , "a":2}"#,
            "\"\t\"",
            "\"\\x\"",
            "\"abc",
            "\"a\\",
            "\"\\n\n\"",
            r#""\ud83d""#,
            "nul",
            "truex",
            "[true,false,null]x",
            "{\"a\"}",
            "{1:2}",
            "1 2",
        ] {
            check(text);
        }
        check(&"[".repeat(200));
        check(&format!("{}1{}", "[".repeat(127), "]".repeat(127)));
        check(&format!("{}1{}", "[".repeat(128), "]".repeat(128)));
        let many: Vec<String> = (0..100).map(|i| format!("\"{}\":{i}", i % 40)).collect();
        check(&format!("{{{}}}", many.join(",")));
    }

    #[test]
    fn what_is_too_deep_is_kept_as_text() {
        let deep = |levels: usize| format!("{{\"a\":{}1{}}}", "[".repeat(levels), "]".repeat(levels));
        for levels in [1, 126, 127, 128, 5_000, 200_000] {
            let text = deep(levels);
            let node = parse(&text, true).unwrap();
            assert_eq!(node.to_json(), text);
            assert_eq!(node.is_deep(), levels > 126, "{levels}");
            assert!(parse(&text[..text.len() - 2], true).is_none());
        }
        assert!(parse(&format!("{{\"tools\":{},\"a\":1}}", deep(5_000)), true).is_some());
    }

    proptest! {
        #[test]
        fn any_text_is_judged_alike(text in "[\\[\\]{}\",:0-9eE.+\\-\\\\ntu\\PC ]{0,24}") {
            check(&text);
        }
    }
}
