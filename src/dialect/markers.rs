//! All literal markers of a set of dialects in one trie, and the search for the next place where one may begin.
use super::late::Late;
use std::collections::HashMap;

/// What a literal marker begins or ends. Numbers are indexes into the set's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    /// Call template `call` of `row`.
    Call {
        row: u16,
        call: u16,
    },
    /// Opening of section `section` of `row`.
    Section {
        row: u16,
        section: u16,
    },
    /// Closing of section `section` of `row`.
    SectionEnd {
        row: u16,
        section: u16,
    },
    ReasoningOpen(u16),
    ReasoningClose(u16),
    /// A special token that is no content.
    Token,
    /// Opening of the tool's result `result`.
    Result(u16),
    /// The header of a message.
    Header {
        row: u16,
    },
    /// The end of a message.
    MessageEnd {
        row: u16,
    },
}

/// What stands at a place of the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MarkersAt {
    /// No marker begins here.
    Nothing,
    /// The text ends inside what may be a marker.
    Partial,
    /// Markers end here, as (length, index into the lists); the longest last. `more` says that the text ends before
    /// it is clear that no longer one stands here.
    Some { ends: [(usize, u32); 4], count: usize, more: bool },
}

#[derive(Debug, Clone, Default)]
struct Node {
    next: Vec<(u8, u32)>,
    list: Option<u32>,
}

/// Literal markers and what each means.
#[derive(Debug, Clone)]
pub(crate) struct Markers {
    nodes: Vec<Node>,
    lists: Vec<Vec<Marker>>,
    /// First bytes of markers and of what else the engine stops at.
    stops: [bool; 256],
    needles: Vec<u8>,
    /// For each first byte, the bytes that may follow it.
    seconds: Vec<(u8, Box<[bool; 256]>)>,
    /// Any tag may begin a call.
    tags: bool,
    late: Late,
}

impl Markers {
    pub(crate) fn new(entries: Vec<(String, Marker)>, also: &[u8]) -> Self {
        let (late, entries) = Late::split(entries);
        let mut markers = Self {
            nodes: vec![Node::default()],
            lists: Vec::new(),
            stops: [false; 256],
            needles: Vec::new(),
            seconds: Vec::new(),
            tags: also.contains(&b'<'),
            late,
        };
        let mut by_text: HashMap<String, u32> = HashMap::new();
        for (text, marker) in entries {
            if text.is_empty() {
                continue;
            }
            if let Some(list) = by_text.get(&text) {
                let list = &mut markers.lists[*list as usize];
                if !list.contains(&marker) {
                    list.push(marker);
                }
                continue;
            }
            let list = markers.lists.len() as u32;
            markers.lists.push(vec![marker]);
            let mut node = 0usize;
            for byte in text.bytes() {
                node = match markers.nodes[node].next.iter().find(|(b, _)| *b == byte) {
                    Some((_, to)) => *to as usize,
                    None => {
                        let to = markers.nodes.len();
                        markers.nodes.push(Node::default());
                        markers.nodes[node].next.push((byte, to as u32));
                        to
                    }
                };
            }
            markers.nodes[node].list = Some(list);
            by_text.insert(text, list);
        }
        for (byte, node) in markers.nodes[0].next.clone() {
            let node = &markers.nodes[node as usize];
            // A marker of a single byte may be followed by anything.
            let mut follows = Box::new([node.list.is_some(); 256]);
            node.next.iter().for_each(|(next, _)| follows[usize::from(*next)] = true);
            markers.seconds.push((byte, follows));
        }
        let first = markers.nodes[0].next.iter().map(|(b, _)| *b).chain(also.iter().copied());
        for byte in first.chain(markers.late.anchors()).collect::<Vec<_>>() {
            if !markers.stops[usize::from(byte)] {
                markers.stops[usize::from(byte)] = true;
                markers.needles.push(byte);
            }
        }
        markers
    }

    /// The next place at or after `from` where a marker may begin, or the end of the text.
    pub(crate) fn next_stop(&self, text: &[u8], from: usize) -> usize {
        let mut at = from;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let found = match *self.needles {
                [] => None,
                [a] => memchr::memchr(a, rest),
                [a, b] => memchr::memchr2(a, b, rest),
                [a, b, c] => memchr::memchr3(a, b, c, rest),
                _ => return self.next_stop_blocks(text, at),
            };
            match found {
                None => return text.len(),
                Some(hit) if self.may_begin(text, at + hit) => return at + hit,
                Some(hit) => at += hit + 1,
            }
        }
    }

    fn next_stop_blocks(&self, text: &[u8], from: usize) -> usize {
        const BLOCK: usize = 64;
        let mut at = from;
        let mut blocks = text.get(from..).unwrap_or_default().chunks_exact(BLOCK);
        for block in &mut blocks {
            // Comparing whole blocks against one needle after another is what the compiler turns into SIMD.
            let mut hit = 0u8;
            for needle in &self.needles {
                let mut any = 0u8;
                for byte in block {
                    any |= u8::from(byte == needle);
                }
                hit |= any;
            }
            if hit != 0 {
                for (i, byte) in block.iter().enumerate() {
                    if self.stops[usize::from(*byte)] && self.may_begin(text, at + i) {
                        return at + i;
                    }
                }
            }
            at += BLOCK;
        }
        for (i, byte) in blocks.remainder().iter().enumerate() {
            if self.stops[usize::from(*byte)] && self.may_begin(text, at + i) {
                return at + i;
            }
        }
        text.len()
    }

    /// The bytes round `at` let something begin there: a cheap look that spares the thorough one.
    fn may_begin(&self, text: &[u8], at: usize) -> bool {
        let Some(byte) = text.get(at).copied() else { return true };
        let Some(next) = text.get(at + 1).copied() else { return true };
        let before = at.checked_sub(1).and_then(|i| text.get(i)).copied();
        let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'\'' | b'"') || b >= 0x80;
        let marker = || {
            let begins = self.seconds.iter().find(|(b, _)| *b == byte);
            begins.is_some_and(|(_, next_bytes)| next_bytes[usize::from(next)])
        };
        match byte {
            b'`' => true,
            b'~' => next == b'~',
            b'{' | b'[' => {
                word(next) || next.is_ascii_whitespace() || matches!(next, b'{' | b'[' | b']' | b'}') || marker()
            }
            b'(' if before.is_some_and(word) => true,
            b'<' if self.tags && (next.is_ascii_alphabetic() || next == b'_') => true,
            _ => marker() || before.is_some_and(|b| self.late.may_end_in(b, byte)),
        }
    }

    /// The markers that begin at `at`.
    pub(crate) fn at(&self, text: &[u8], at: usize) -> MarkersAt {
        let mut node = &self.nodes[0];
        let mut ends = [(0, 0); 4];
        let mut count = 0;
        let mut here = at;
        loop {
            if let Some(list) = node.list {
                if count == ends.len() {
                    ends.rotate_left(1);
                    count -= 1;
                }
                ends[count] = (here - at, list);
                count += 1;
            }
            if node.next.is_empty() {
                break;
            }
            let Some(byte) = text.get(here) else {
                return if count == 0 { MarkersAt::Partial } else { MarkersAt::Some { ends, count, more: true } };
            };
            match node.next.iter().find(|(b, _)| b == byte) {
                Some((_, to)) => node = &self.nodes[*to as usize],
                None => break,
            }
            here += 1;
        }
        if count == 0 { MarkersAt::Nothing } else { MarkersAt::Some { ends, count, more: false } }
    }

    /// Markers that begin with a letter, found by a rarer byte of theirs.
    pub(crate) fn late(&self) -> &Late {
        &self.late
    }

    pub(crate) fn list(&self, list: u32) -> &[Marker] {
        self.lists.get(list as usize).map_or(&[], Vec::as_slice)
    }
}
