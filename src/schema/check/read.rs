//! Reading JSON text against a compiled schema.
use super::{
    ARRAY, BOOLEAN, Check, FRACTION, INTEGER, Keys, NULL, Node, OBJECT, Place, Rest, STRING, length_fits, plain_number,
    takes,
};
use crate::json::find_special;

/// How deep values and the schemas that describe one value may be nested, together: more is not proven.
const DEPTH: usize = 512;

/// Reads valid JSON against a node. Every method leaves `at` behind what it read, or returns `false`.
pub(super) struct Reader<'c, 't> {
    check: &'c Check,
    text: &'t [u8],
    pub(super) at: usize,
    /// Bytes that may still be read a second time, for a second branch.
    again: usize,
    /// Values and branches that are open.
    depth: usize,
}

impl<'c, 't> Reader<'c, 't> {
    pub(super) fn new(check: &'c Check, text: &'t [u8]) -> Self {
        Self { check, text, at: 0, again: text.len().saturating_mul(8).saturating_add(1024), depth: 0 }
    }

    /// Goes back to `start`, as long as that stays cheap.
    fn back(&mut self, start: usize) -> bool {
        let length = self.at.saturating_sub(start).max(1);
        self.at = start;
        match self.again.checked_sub(length) {
            Some(left) => {
                self.again = left;
                true
            }
            None => false,
        }
    }

    pub(super) fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn value(&mut self, index: usize) -> bool {
        self.depth += 1;
        let fits = self.depth <= DEPTH && self.node(index);
        self.depth -= 1;
        fits
    }

    fn node(&mut self, index: usize) -> bool {
        let Some(node) = self.check.nodes.get(index) else { return false };
        self.space();
        let start = self.at;
        let Some(byte) = self.text.get(start).copied() else { return false };
        let alone = node.all.is_empty() && node.any.is_empty();
        if alone || !node.composed {
            let fits = match byte {
                b'"' => self.string(node),
                b'{' => takes(node, OBJECT) && self.object(node),
                b'[' => takes(node, ARRAY) && self.array(node),
                b't' => takes(node, BOOLEAN) && self.word(4),
                b'f' => takes(node, BOOLEAN) && self.word(5),
                b'n' => takes(node, NULL) && self.word(4),
                _ => self.number(node),
            };
            if !fits || alone {
                return fits;
            }
        }
        for also in &node.all {
            if !self.back(start) || !self.value(*also) {
                return false;
            }
        }
        node.any.is_empty() || node.any.iter().any(|branch| self.back(start) && self.value(*branch))
    }

    fn word(&mut self, length: usize) -> bool {
        self.at += length;
        true
    }

    /// The string at `at`: its raw inside, and whether it holds an escape.
    fn raw_string(&mut self) -> Option<(&[u8], bool)> {
        let start = self.at + 1;
        let mut at = start;
        let mut escaped = false;
        loop {
            let found = find_special(self.text, at);
            match self.text.get(found)? {
                b'"' => {
                    self.at = found + 1;
                    return Some((self.text.get(start..found)?, escaped));
                }
                b'\\' => {
                    escaped = true;
                    at = found + 2;
                }
                _ => at = found + 1,
            }
        }
    }

    fn string(&mut self, node: &Node) -> bool {
        if !takes(node, STRING) {
            return false;
        }
        let Some((raw, escaped)) = self.raw_string() else { return false };
        let listed =
            node.words.as_ref().is_none_or(|words| !escaped && words.iter().any(|word| word.as_bytes() == raw));
        if node.min_length == 0 && node.max_length.is_none() {
            return listed;
        }
        listed && !escaped && length_fits(node, raw.len(), node.min_length > 0 && raw.is_ascii())
    }

    fn number(&mut self, node: &Node) -> bool {
        let start = self.at;
        let mut whole = true;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'0'..=b'9' | b'-' => {}
                b'.' | b'e' | b'E' | b'+' => whole = false,
                _ => break,
            }
            self.at += 1;
        }
        // `3.0` is an integer too, but that is for the validator to say.
        if !takes(node, if whole { INTEGER } else { FRACTION }) || (!whole && node.types & FRACTION == 0) {
            return false;
        }
        if node.words.is_some() {
            return false;
        }
        let Some((low, high)) = node.range else { return true };
        let text = self.text.get(start..self.at).and_then(|raw| std::str::from_utf8(raw).ok());
        text.and_then(plain_number).is_some_and(|n| low <= n && n <= high)
    }

    fn object(&mut self, node: &Node) -> bool {
        self.at += 1;
        let mut keys = Keys::default();
        loop {
            self.space();
            match self.text.get(self.at) {
                Some(b'}') => {
                    self.at += 1;
                    return keys.found == node.required;
                }
                Some(b',') => self.at += 1,
                Some(b'"') => {
                    let Some((key, false)) = self.raw_string() else { return false };
                    let place = keys.place(node, key);
                    self.space();
                    // The colon.
                    self.at += 1;
                    let fits = match place {
                        Place::Property(node) | Place::Rest(Rest::Schema(node)) => self.value(node),
                        Place::Rest(Rest::Anything) => self.skip(),
                        Place::Rest(Rest::Nothing) | Place::Unknown => false,
                    };
                    if !fits {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }

    fn array(&mut self, node: &Node) -> bool {
        self.at += 1;
        let mut count = 0;
        loop {
            self.space();
            match self.text.get(self.at) {
                Some(b']') => {
                    self.at += 1;
                    return count >= node.min_items && node.max_items.is_none_or(|max| count <= max);
                }
                Some(b',') => self.at += 1,
                Some(_) => {
                    count += 1;
                    let fits = match node.items {
                        Some(items) => self.value(items),
                        None => self.skip(),
                    };
                    if !fits {
                        return false;
                    }
                }
                None => return false,
            }
        }
    }

    /// Passes over any value.
    fn skip(&mut self) -> bool {
        let mut depth = 0_usize;
        loop {
            self.space();
            match self.text.get(self.at) {
                Some(b'"') => {
                    if self.raw_string().is_none() {
                        return false;
                    }
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                Some(b',' | b':') => self.at += 1,
                Some(_) => {
                    while !matches!(
                        self.text.get(self.at),
                        None | Some(b',' | b']' | b'}' | b' ' | b'\n' | b'\t' | b'\r')
                    ) {
                        self.at += 1;
                    }
                }
                None => return false,
            }
            if depth == 0 {
                return true;
            }
        }
    }
}
