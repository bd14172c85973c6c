//! What was looked through already, so that no step looks through it again.
use super::body::parameters::{FirstSeen, MayBegin};
use super::prose::unclear::Awaited;
use crate::json::Pairs;
use crate::turn::TextHash;
use std::cell::Cell;
use std::ops::Range;

/// What was looked through, so that it need not be again: searches that several places ask for would cost the text's length
/// each. Mostly that is a stretch of text in which something does not stand ([`Without`]).
#[derive(Default)]
pub(crate) struct Memo {
    /// Nothing but white space.
    pub(super) blank: Cell<Without>,
    /// None of this closing marker. It stands where the stretch ends, if that is not the end of the text.
    pub(super) closer: Cell<(Sought, Without)>,
    /// No line that begins with this fence, likewise.
    pub(super) fence: Cell<(Sought, Without)>,
    /// No line whose next one begins with the marker of a call. Such a line ends where the stretch does, if the text does not.
    pub(super) unmarked: Cell<Without>,
    /// No colon behind a key of a call.
    pub(super) unkeyed: Cell<Without>,
    /// No closing brace.
    pub(super) unclosed: Cell<Without>,
    /// The last run of blanks that was looked through for the beginning of its line.
    pub(super) margin: Cell<Margin>,
    /// How far the text is known to begin with nothing but blanks.
    pub(super) leading: Cell<usize>,
    /// The hash of so much of the text.
    pub(super) hashed: Cell<(usize, TextHash)>,
    /// None of the bytes that no name holds.
    pub(super) nameless: Cell<Without>,
    /// Nothing but bytes of a name that nothing delimits, and of one before its parenthesis.
    pub(super) bare_name: Cell<Without>,
    pub(super) called_name: Cell<Without>,
    /// Which brackets close which, as far as repair asked.
    pub(super) pairs: Cell<Pairs>,
    /// The parameter that a call was seen to begin with, when it was asked whether what stands there can be its body.
    pub(super) first_parameter: Cell<Option<FirstSeen>>,
    /// What of a parameter stands at the last two places where that was asked.
    pub(super) parameters: Cell<[Option<MayBegin>; 2]>,
    /// What literals are to go on with in which the text ends.
    pub(super) awaited: Cell<Awaited>,
    /// The name that was looked up last, and the tool that it means: templates ask for the same one after the other.
    pub(super) named: Cell<(Sought, Option<usize>)>,
}

/// What of a [`Memo`] still holds when more text has come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    blank: Without,
    unkeyed: Without,
    unclosed: Without,
    margin: Margin,
    leading: usize,
    hashed: (usize, TextHash),
}

/// Blanks, none of them a line break, and whether a line begins before them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Margin {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) line: bool,
}

impl Default for Margin {
    /// Nothing is known.
    fn default() -> Self {
        Self { start: 1, end: 0, line: false }
    }
}

/// A stretch of the text in which nothing of one kind stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Without {
    since: usize,
    until: usize,
}

impl Default for Without {
    /// Nothing is known.
    fn default() -> Self {
        Self { since: 1, until: 0 }
    }
}

impl Without {
    /// Up to where nothing stands at or after `at`, if that is known.
    pub(super) fn known(self, at: usize) -> Option<usize> {
        (self.since..=self.until).contains(&at).then_some(self.until)
    }

    /// What is known when nothing stands between `at` and `until` either: the one stretch of both, or where they do not meet,
    /// the new one.
    pub(super) fn and(self, at: usize, until: usize) -> Self {
        match self.known(at) {
            Some(known) => Self { until: known.max(until), ..self },
            None => Self { since: at, until },
        }
    }

    /// The first place at or after `from` where it does stand, as `search` finds it in the rest of the text.
    pub(crate) fn find(
        &mut self,
        text: &[u8],
        from: usize,
        search: impl FnOnce(&[u8]) -> Option<usize>,
    ) -> Option<usize> {
        let found = self.known(from).unwrap_or_else(|| {
            let rest = text.get(from..).unwrap_or_default();
            search(rest).map_or(text.len(), |at| from + at)
        });
        *self = self.and(from, found);
        (found < text.len()).then_some(found)
    }

    /// The last place between `from` and `to` where it does stand, as `search` finds the last in a part of the text.
    pub(crate) fn find_last(
        &mut self,
        text: &[u8],
        from: usize,
        to: usize,
        search: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<usize> {
        self.find_last_in(from, to, |part| Some(part.start + search(text.get(part)?)?))
    }

    /// As [`Self::find_last`], where more of the text says whether it stands there than the part, but nothing behind it.
    pub(crate) fn find_last_in(
        &mut self,
        from: usize,
        to: usize,
        search: impl Fn(Range<usize>) -> Option<usize>,
    ) -> Option<usize> {
        let last = |from: usize, to: usize| if from < to { search(from..to) } else { None };
        let known = *self;
        let meets = known.since <= known.until && known.since <= to && from <= known.until;
        let (since, until) = if meets { (known.since.max(from), known.until.min(to)) } else { (to, to) };
        let found = last(until, to).or_else(|| last(from, since));
        match found {
            Some(found) if found >= until => *self = Self { since: found + 1, until: to },
            _ => {
                let since = found.map_or(from, |found| found + 1);
                let (since, until) = if meets { (known.since.min(since), known.until.max(to)) } else { (since, to) };
                *self = Self { since, until };
            }
        }
        found
    }
}

/// Which text was looked for: the one that stands at this address and is so long.
pub(super) type Sought = (usize, usize);

impl From<Known> for Memo {
    fn from(Known { blank, unkeyed, unclosed, margin, leading, hashed }: Known) -> Self {
        let (blank, unkeyed, unclosed) = (Cell::new(blank), Cell::new(unkeyed), Cell::new(unclosed));
        let (margin, leading, hashed) = (Cell::new(margin), Cell::new(leading), Cell::new(hashed));
        Self { blank, unkeyed, unclosed, margin, leading, hashed, ..Self::default() }
    }
}

impl Memo {
    /// Returns a memo for a prefix of the text, with what is known of keys and braces: it holds there as well.
    pub(super) fn of_part(&self) -> Self {
        Self { unkeyed: self.unkeyed.clone(), unclosed: self.unclosed.clone(), ..Self::default() }
    }

    /// Takes over what was found out about keys and braces in a prefix of the text.
    pub(super) fn learn(&self, part: &Self) {
        self.unkeyed.set(part.unkeyed.get());
        self.unclosed.set(part.unclosed.get());
    }

    /// What of it still holds when more text has come.
    pub(super) fn known(&self) -> Known {
        Known {
            blank: self.blank.get(),
            unkeyed: self.unkeyed.get(),
            unclosed: self.unclosed.get(),
            margin: self.margin.get(),
            leading: self.leading.get(),
            hashed: self.hashed.get(),
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/memo.rs"]
mod tests;
