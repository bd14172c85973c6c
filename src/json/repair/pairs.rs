//! Which bracket closes which in text without quotes, of whatever kinds they are.
use std::collections::VecDeque;

/// Where brackets close, and a memory of those that do not: one repair after another may come by the same ones.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// Where the text that is being read begins in the one that places are counted in.
    base: usize,
    /// What is known is known of the brackets that open at this place or behind it.
    since: usize,
    /// And of where they close before this one.
    until: usize,
    /// Those of them that do not close there.
    open: VecDeque<usize>,
}

impl Pairs {
    /// What is known, to read the part of the same text that begins at `base`.
    pub(crate) fn based(self, base: usize) -> Self {
        Self { base, ..self }
    }

    /// The bracket that closes the one at `open`, if there is one in `bytes` up to `last`.
    pub(super) fn closing(&mut self, bytes: &[u8], open: usize, last: usize) -> Option<usize> {
        let bytes = bytes.get(..=last).unwrap_or(bytes);
        let place = self.base + open;
        if (self.since..self.until).contains(&place) {
            while self.open.front().is_some_and(|first| *first < place) {
                self.open.pop_front();
            }
            self.since = place;
            if self.open.front() != Some(&place) {
                return closing(bytes, open);
            }
        } else {
            self.open.clear();
            self.open.push_back(place);
            (self.since, self.until) = (place, place + 1);
        }
        let from = self.until.saturating_sub(self.base);
        for (at, byte) in bytes.iter().enumerate().skip(from) {
            match byte {
                b'(' | b'[' | b'{' => self.open.push_back(self.base + at),
                b')' | b']' | b'}' => {
                    self.open.pop_back();
                    if self.open.is_empty() {
                        self.until = self.base + at + 1;
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        self.until = self.until.max(self.base + bytes.len());
        None
    }
}

/// The bracket that closes the one at `open`.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let closes = |byte: &u8| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    };
    Some(open + bytes.get(open..)?.iter().position(closes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is remembered changes nothing, wherever the parts begin and end that are asked about.
        #[test]
        fn memory_changes_nothing(
            text in "[(){}x]{0,60}",
            asked in prop::collection::vec((0_usize..60, 0_usize..60, 1_usize..30, 0_usize..60), 1..20),
        ) {
            let mut pairs = Pairs::default();
            for (base, open, length, end) in asked {
                let part = text.get(base..end.max(base).min(text.len())).unwrap_or_default().as_bytes();
                if !part.get(open).is_some_and(|byte| matches!(byte, b'(' | b'{')) {
                    continue;
                }
                let last = open + length;
                pairs = pairs.based(base);
                let expected = closing(part.get(..=last).unwrap_or(part), open);
                prop_assert_eq!(pairs.closing(part, open, last), expected);
            }
        }
    }

    #[test]
    fn what_does_not_close_is_read_once() {
        let text = "({x".repeat(100);
        let mut pairs = Pairs::default();
        for open in (0..text.len()).step_by(3) {
            assert_eq!(pairs.closing(text.as_bytes(), open, open + 30), None);
            // Only what no window reached before is read: what is open in it was remembered, not looked for.
            assert_eq!((pairs.since, pairs.until), (open, text.len().min(open + 31)));
            assert_eq!(pairs.open.front(), Some(&open));
        }
    }
}
