//! What is written: the input, copied as it stands but for recorded edits.
use crate::turn::{Repair, RepairCode, Slip};
use std::borrow::Cow;

/// Repairs beyond this many are counted, not listed: a hostile text could need one a byte.
const MAX_LISTED: usize = 1024;

/// What is recorded of closing brackets that are added.
pub(crate) const MISSING: &str = "a missing closing bracket was added";
/// What is recorded of a key without a value, or of half of one, that the text ends in.
pub(super) const UNFINISHED: &str = "an unfinished member was dropped";

/// A place to go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    written: usize,
    copied: usize,
    pub(super) at: usize,
}

impl Mark {
    /// The mark after `by` bytes were inserted before it.
    pub(super) fn shifted(self, by: usize) -> Self {
        Self { written: self.written + by, ..self }
    }
}

/// The output under construction. Input is copied lazily, in the longest pieces, up to the next edit.
pub(super) struct Output<'a> {
    pub(super) text: &'a str,
    start: usize,
    written: String,
    /// Input before this is written or dropped.
    copied: usize,
    repairs: Vec<Repair>,
    unlisted: usize,
    /// Closing brackets that stood for one of another kind.
    exchanged: Vec<usize>,
    /// Which repairs add closing brackets.
    added: Vec<usize>,
}

/// What was written, and what was recorded of it.
pub(super) struct Written<'a> {
    pub(super) json: Cow<'a, str>,
    pub(super) repairs: Vec<Repair>,
    pub(super) unlisted: usize,
    pub(super) exchanged: Vec<usize>,
    pub(super) added: Vec<usize>,
}

impl<'a> Output<'a> {
    pub(super) fn new(text: &'a str, start: usize) -> Self {
        Self {
            text,
            start,
            written: String::new(),
            copied: start,
            repairs: Vec::new(),
            unlisted: 0,
            exchanged: Vec::new(),
            added: Vec::new(),
        }
    }

    pub(super) fn record(&mut self, code: RepairCode, at: usize, message: &'static str) {
        self.list(Repair::at(code, at, message));
    }

    /// Records what [`Repair::is`] is asked for.
    pub(super) fn record_slip(&mut self, slip: Slip, at: usize) {
        self.list(Repair::of_slip(slip, at));
    }

    fn list(&mut self, repair: Repair) {
        if self.repairs.len() < MAX_LISTED {
            self.repairs.push(repair);
        } else {
            self.unlisted += 1;
        }
    }

    /// Records that closing brackets are missing at `at`.
    pub(super) fn record_added(&mut self, at: usize) {
        if self.repairs.len() < MAX_LISTED {
            self.added.push(self.repairs.len());
        }
        self.record(RepairCode::Bracket, at, MISSING);
    }

    /// Records that the closing bracket at `at` stood for one of another kind.
    pub(super) fn record_exchanged(&mut self, at: usize) {
        self.record(RepairCode::Bracket, at, "a bracket of the wrong kind was exchanged");
        if self.exchanged.len() < MAX_LISTED {
            self.exchanged.push(at);
        }
    }

    fn piece(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Copies the input up to `to`.
    pub(super) fn copy_to(&mut self, to: usize) {
        if to > self.copied {
            if self.written.capacity() == 0 {
                // All of it at once if it is short; much may stand behind a value.
                self.written.reserve((self.text.len() - self.start + 16).min(4 << 10));
            }
            self.written.push_str(self.piece(self.copied, to));
            self.copied = to;
        }
    }

    /// Writes `with` in place of the input from `from` to `to`; what lies before `from` is copied.
    pub(super) fn replace(&mut self, from: usize, to: usize, with: &str) {
        self.copy_to(from);
        self.written.push_str(with);
        self.copied = self.copied.max(to);
    }

    /// Where to write text made elsewhere; what lies before `from` is copied, and the input up to `to` dropped.
    pub(super) fn replace_with(&mut self, from: usize, to: usize, write: impl FnOnce(&mut String)) {
        self.copy_to(from);
        write(&mut self.written);
        self.copied = self.copied.max(to);
    }

    /// The place `at` in the input, to which nothing has been written yet.
    pub(super) fn mark(&self, at: usize) -> Mark {
        Mark { written: self.written.len(), copied: self.copied, at }
    }

    /// Drops everything that was read from the mark to `to`.
    pub(super) fn drop_from(&mut self, mark: Mark, to: usize) {
        self.written.truncate(mark.written);
        self.copied = mark.copied;
        self.copy_to(mark.at);
        self.copied = self.copied.max(to);
    }

    /// Takes back what was written behind the mark, to read it once more from there; answers where that is.
    pub(super) fn go_back(&mut self, mark: Mark) -> usize {
        self.drop_from(mark, mark.at);
        mark.at
    }

    /// Writes `with` at a place that was passed long ago: all before `at` is copied now so that the place is fixed.
    pub(super) fn fix_place(&mut self, at: usize) -> usize {
        self.copy_to(at);
        self.written.len()
    }

    /// Inserts at a place that [`Self::fix_place`] gave.
    pub(super) fn insert(&mut self, place: usize, with: char) {
        if self.written.is_char_boundary(place) {
            self.written.insert(place, with);
        }
    }

    /// The output, ended at `end` of the input.
    pub(super) fn finish(mut self, end: usize) -> Written<'a> {
        let json = if self.written.is_empty() && self.copied == self.start {
            Cow::Borrowed(self.piece(self.start, end))
        } else {
            self.copy_to(end);
            Cow::Owned(self.written)
        };
        let Self { repairs, unlisted, exchanged, added, .. } = self;
        Written { json, repairs, unlisted, exchanged, added }
    }
}
