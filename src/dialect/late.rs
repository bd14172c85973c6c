//! Markers that begin with a small letter or a space (`functools[`, `function call<`). Their first byte is everywhere in
//! prose, so they are found by a rarer byte further on, and the text that may be their beginning waits for it. Capitals
//! are rare enough to be found by (`Action:`).
use super::Marker;
use crate::char_class;

/// One such marker.
#[derive(Debug, Clone)]
pub(crate) struct LateMarker {
    pub(crate) text: String,
    pub(crate) marker: Marker,
    /// Where in the marker the byte stands that it is found by; its length, if that is a bracket behind it.
    pub(crate) anchor: usize,
}

/// All of them, with what a look at two bytes needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Late {
    markers: Vec<LateMarker>,
    /// For each byte, whether a marker begins with it.
    firsts: Vec<bool>,
    /// The longest part of a marker before its anchor.
    longest: usize,
    /// For each byte, what may be an anchor behind it: one bit a byte.
    pairs: Vec<[u64; 4]>,
    /// Where that byte is a space, which is before many a bracket: what stands before the space.
    spaced: Vec<u8>,
    /// For each byte, the markers that it may be the anchor of.
    anchored: Vec<Vec<usize>>,
}

fn common(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b' '
}

impl Late {
    /// Takes the late markers out of `entries`.
    pub(crate) fn split(entries: Vec<(String, Marker)>) -> (Self, Vec<(String, Marker)>) {
        let (late, rest): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|(text, _)| text.bytes().next().is_some_and(common));
        let markers = late.into_iter().map(|(text, marker)| {
            let anchor = text.bytes().position(|b| !common(b)).unwrap_or(text.len());
            LateMarker { text, marker, anchor }
        });
        let markers: Vec<_> = markers.collect();
        let longest = markers.iter().map(|late| late.anchor).max().unwrap_or_default();
        let begins = |byte: u8| markers.iter().any(|late| late.text.as_bytes().first() == Some(&byte));
        let firsts = (0..=u8::MAX).map(begins).collect();
        let (pairs, spaced, anchored) = (Vec::new(), Vec::new(), vec![Vec::new(); 256]);
        let mut late = Self { markers, firsts, longest, pairs, spaced, anchored };
        if !late.markers.is_empty() {
            late.pairs = vec![[0; 4]; 256];
        }
        for (number, marker) in late.markers.iter().enumerate() {
            let text = marker.text.as_bytes();
            let anchors = text.get(marker.anchor).map_or(b"{[".as_slice(), std::slice::from_ref);
            anchors.iter().for_each(|byte| late.anchored[usize::from(*byte)].push(number));
            let before = marker.anchor.checked_sub(1).and_then(|i| text.get(i));
            let Some(row) = before.and_then(|before| late.pairs.get_mut(usize::from(*before))) else { continue };
            anchors.iter().for_each(|byte| row[usize::from(byte >> 6)] |= 1 << (byte & 63));
            if before == Some(&b' ') {
                late.spaced.extend(marker.anchor.checked_sub(2).and_then(|i| text.get(i)));
            }
        }
        (late, rest)
    }

    /// A marker begins with this byte.
    pub(crate) fn begins_with(&self, byte: u8) -> bool {
        self.firsts.get(usize::from(byte)).is_some_and(|first| *first)
    }

    /// The bytes by which they are found.
    pub(crate) fn anchors(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for marker in &self.markers {
            match marker.text.as_bytes().get(marker.anchor) {
                Some(byte) => bytes.push(*byte),
                None => bytes.extend_from_slice(b"{["),
            }
        }
        bytes
    }

    /// A marker has the byte at `at` for its anchor and what is right before it there.
    pub(crate) fn may_end_in(&self, text: &[u8], at: usize) -> bool {
        let Some([before, byte]) = at.checked_sub(1).and_then(|from| text.get(from..=at)) else { return false };
        let row = self.pairs.get(usize::from(*before));
        row.is_some_and(|row| row[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1)
            && (*before != b' ' || text.get(..at - 1).and_then(<[u8]>::last).is_some_and(|b| self.spaced.contains(b)))
    }

    /// The markers whose anchor may stand at `at`, with the place where each would begin; none begins before `from`
    /// or inside a word.
    pub(crate) fn at<'m>(
        &'m self,
        text: &'m str,
        from: usize,
        at: usize,
    ) -> impl Iterator<Item = (usize, &'m LateMarker)> {
        let bytes = text.as_bytes();
        let anchored = bytes.get(at).and_then(|byte| self.anchored.get(usize::from(*byte)));
        anchored.into_iter().flatten().filter_map(move |number| {
            let late = self.markers.get(*number)?;
            let start = at.checked_sub(late.anchor).filter(|s| *s >= from)?;
            let want = late.text.as_bytes();
            let matches = bytes.get(start..at) == want.get(..late.anchor) && !(is_word(want) && in_word(bytes, start));
            matches.then_some((start, late))
        })
    }

    /// The markers that may begin at `at`.
    pub(crate) fn from<'m>(&'m self, text: &'m str, at: usize) -> impl Iterator<Item = (usize, &'m LateMarker)> {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let begins = move |late: &&LateMarker| {
            let want = late.text.as_bytes();
            rest.starts_with(want) || want.starts_with(rest)
        };
        self.markers.iter().filter(begins).map(move |late| (at, late))
    }

    /// How much of `text`, which begins at `from`, is certain to hold no beginning of a late marker.
    #[inline]
    pub(crate) fn certain(&self, text: &str, from: usize, to: usize) -> usize {
        let longest = self.longest.min(to.saturating_sub(from));
        let tail = text.as_bytes().get(to - longest..to).unwrap_or_default();
        let begins = |i: usize| {
            let rest = tail.get(i..).unwrap_or_default();
            self.markers.iter().any(|late| {
                let want = late.text.as_bytes();
                rest.len() <= late.anchor
                    && want.starts_with(rest)
                    && !(is_word(want) && in_word(text.as_bytes(), to - rest.len()))
            })
        };
        let start = tail.iter().enumerate().find(|(i, byte)| self.begins_with(**byte) && begins(*i)).map(|(i, _)| i);
        start.map_or(to, |i| to - longest + i)
    }
}

fn is_word(marker: &[u8]) -> bool {
    marker.first().is_some_and(u8::is_ascii_alphanumeric)
}

/// A word goes on at `start`: a marker that is one does not begin there.
pub(super) fn in_word(text: &[u8], start: usize) -> bool {
    text.get(..start).is_some_and(|before| match before.last() {
        Some(last) if last.is_ascii() => char_class::IDENTIFIER.has_ascii(*last),
        Some(_) => {
            let tail = before.get(before.len().saturating_sub(4)..).unwrap_or_default();
            let chunk = tail.utf8_chunks().last();
            chunk.and_then(|chunk| chunk.valid().chars().next_back()).is_some_and(|c| char_class::IDENTIFIER.has(c))
        }
        None => false,
    })
}
