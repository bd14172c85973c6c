//! What the templates that one marker opens have in common: found out when they are compiled, so that the engine asks for what
//! stands in the text once for all of them.
use super::row::{First, Row};
use super::template::Element;
use std::ops::Range;

/// For each template of each row, and each element of its head: the number of what the head begins with, up to that and what
/// is looked at behind it to tell where a hole ends. Heads that have such a number in common fail there alike.
pub(super) fn beginnings(rows: &[Row]) -> Vec<Vec<Box<[u16]>>> {
    let mut known: Vec<(Option<u16>, &[Element])> = Vec::new();
    let mut number = |before: Option<u16>, part| {
        let same = |(b, p): &(Option<u16>, &[Element])| *b == before && *p == part;
        let number = known.iter().position(same).unwrap_or_else(|| {
            known.push((before, part));
            known.len() - 1
        });
        number as u16
    };
    let mut rows_numbers = Vec::new();
    for row in rows {
        let mut calls = Vec::new();
        for call in &row.calls {
            let mut before = None;
            let numbers = call.head.iter().enumerate().map(|(i, element)| {
                let mut behind = call.head.iter().skip(i + 1);
                let looked = match element {
                    Element::Slot(_) | Element::Attributes(_) => {
                        behind.position(|element| *element != Element::Space).map_or(usize::MAX, |behind| behind + 1)
                    }
                    _ => 0,
                };
                let end = call.head.len().min((i + 1).saturating_add(looked));
                let number = number(before, call.head.get(i..end).unwrap_or_default());
                before = Some(number);
                number
            });
            calls.push(numbers.collect());
        }
        rows_numbers.push(calls);
    }
    rows_numbers
}

/// Which of a marker's meanings what stands behind it rules out.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    /// How many meanings there are.
    count: usize,
    by: Option<Box<Table>>,
    /// For each of the meanings that are told apart, and each element of its head: a bit for each meaning whose head begins alike
    /// up to there.
    alike: Vec<Box<[u64]>>,
}

/// By the first byte, and where that is `<`, by the second: a bit for each meaning that this lets it have.
#[derive(Debug, Clone)]
struct Table {
    first: [u64; 256],
    tag: [u64; 256],
}

impl Choice {
    /// With fewer meanings each is asked.
    const FEW: usize = 3;

    /// What stands behind a marker tells so many apart. No literal of the catalogue has as many; what a dialect of the caller's
    /// has more is asked.
    const MOST: usize = u64::BITS as usize;

    /// Of meanings that what stands behind them tells: `None` is for one with anything behind it. What their heads begin with has
    /// the numbers of `beginnings`.
    pub(super) fn of(meanings: &[Option<&First>], beginnings: &[&[u16]]) -> Self {
        let alike = |(element, number): (usize, &u16)| {
            let heads = beginnings.iter().take(Self::MOST).enumerate();
            heads.fold(0, |bits, (i, head)| bits | u64::from(head.get(element) == Some(number)) << i)
        };
        let alike =
            beginnings.iter().take(Self::MOST).map(|head| head.iter().enumerate().map(alike).collect()).collect();
        let bits = |text: &[u8]| {
            let may_be = |first: &Option<&First>| first.is_none_or(|first| first.may_be(text));
            let told = meanings.iter().take(Self::MOST).enumerate();
            told.fold(0, |bits, (i, first)| bits | u64::from(may_be(first)) << i)
        };
        let by = (meanings.iter().flatten().count() > Self::FEW).then(|| {
            Box::new(Table {
                first: std::array::from_fn(|byte| bits(&[byte as u8])),
                tag: std::array::from_fn(|byte| bits(&[b'<', byte as u8])),
            })
        });
        Self { count: meanings.len(), by, alike }
    }

    /// The meanings whose heads begin as that of this `meaning` does, up to this `element`.
    pub(super) fn alike(&self, meaning: usize, element: usize) -> u64 {
        self.alike.get(meaning).and_then(|head| head.get(element)).copied().unwrap_or_default()
    }

    /// The numbers of those from `from` on that may stand before `behind`, which may be cut off.
    pub(super) fn before(&self, behind: &[u8], from: usize) -> Numbers {
        let mut told = match (&self.by, behind) {
            (Some(by), [b'<', next, ..]) => by.tag[usize::from(*next)],
            (Some(by), [byte, ..]) => by.first[usize::from(*byte)],
            _ => u64::MAX,
        };
        if self.count < Self::MOST {
            told &= (1 << self.count) - 1;
        }
        told &= u64::MAX.checked_shl(from as u32).unwrap_or_default();
        Numbers { told, untold: Self::MOST.max(from)..self.count }
    }
}

/// Numbers of meanings: those that are told apart by a bit each, and then the others.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    told: u64,
    untold: Range<usize>,
}

impl Numbers {
    /// Those of the bits `gone` are none any more.
    #[inline]
    pub(super) fn pass(&mut self, gone: u64) {
        self.told &= !gone;
    }
}

impl Iterator for Numbers {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.told == 0 {
            return self.untold.next();
        }
        let number = self.told.trailing_zeros() as usize;
        self.told &= self.told - 1;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::Choice;
    use crate::dialect::{Dialects, Marker, Passed};

    #[test]
    fn only_what_the_text_behind_a_marker_rules_out_is_passed_over() {
        let dialects = Dialects::auto();
        let first = |marker: Marker| match marker {
            Marker::Call(call) => Some(&dialects.call(call)?.first),
            Marker::Section(section) => dialects.row(section.row)?.first_in(section),
            _ => None,
        };
        for list in 0..dialects.markers.lists() {
            for behind in (0..=u8::MAX).flat_map(|byte| [vec![byte], vec![b'<', byte]]).chain([Vec::new()]) {
                let all = dialects.markers.list(list).iter().copied();
                let may: Vec<_> = all.filter(|marker| first(*marker).is_none_or(|f| f.may_be(&behind))).collect();
                let mut meanings = dialects.markers.list_before(list, &behind, Passed::default());
                let kept: Vec<_> = std::iter::from_fn(|| meanings.next()).collect();
                assert!(may.iter().all(|marker| kept.contains(marker)), "{behind:?} behind {kept:?}, not {may:?}");
                assert!(kept.is_sorted_by_key(|marker| dialects.markers.list(list).iter().position(|m| m == marker)));
            }
        }
    }

    #[test]
    fn a_dialect_may_have_more_meanings_of_a_marker_than_are_told_apart() {
        let numbers: Vec<_> = Choice::of(&[None; 70], &[]).before(b"{", 0).collect();
        assert_eq!(numbers, (0..70).collect::<Vec<_>>());
        assert_eq!(Choice::of(&[], &[]).before(b"{", 0).count(), 0);
        assert_eq!(Choice::of(&[None; 64], &[]).before(b"", 0).count(), 64);
        for from in [0, 1, 63, 64, 65, 70, 71] {
            let numbers: Vec<_> = Choice::of(&[None; 70], &[]).before(b"{", from).collect();
            assert_eq!(numbers, (from..70).collect::<Vec<_>>());
        }
    }

    #[test]
    fn heads_that_begin_alike_share_numbers_as_far_as_they_do() {
        let dialects = Dialects::auto();
        let calls: Vec<_> = dialects.rows.iter().flat_map(|row| &row.calls).collect();
        for (one, other) in calls.iter().flat_map(|one| calls.iter().map(move |other| (one, other))) {
            assert_eq!(one.beginnings.len(), one.head.len());
            let alike = one.head.iter().zip(&other.head).take_while(|(a, b)| a == b).count();
            let shared = one.beginnings.iter().zip(&other.beginnings).take_while(|(a, b)| a == b).count();
            assert!(shared <= alike, "{:?} and {:?}", one.head, other.head);
            assert_eq!(one.beginnings.last() == other.beginnings.last(), one.head == other.head);
        }
    }
}
