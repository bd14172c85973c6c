//! Keeps the messages of a mended history that needed no mending exactly as they came.
//!
//! A provider's messages are read in units: one message, or several that are read as one (the results of a turn in Chat
//! Completions, the items of one answer in Responses). A unit that means the same after mending, and whose spelling is in
//! order, is put out as it came. All others are written anew; of their messages, those that nothing is wrong with get
//! their unknown fields back.
use super::model::Message;
use super::patch::{Same, adds_members, apply, diff, kind};
use super::repair::WRITTEN_ANEW;
use super::{Traced, Written};
use crate::turn::{Issue, IssueCode};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A history before and after it was mended.
pub(super) struct Mended<'m> {
    /// The messages as they came.
    pub(super) raw: &'m [Value],
    /// What was read of them.
    pub(super) read: &'m [Message],
    /// What became of it.
    pub(super) mended: &'m [Message],
    /// The indices of messages whose spelling the provider refuses.
    pub(super) wrong: &'m HashSet<usize>,
    /// The indices of a call's message and of its result's where the two pair by something else than the id that writing
    /// gives them: either both come out as they came, or none.
    pub(super) coupled: &'m [(usize, usize)],
    /// Whether a text that differs counts as the same (an id in the grammar of the provider).
    pub(super) same: Same<'m>,
}

/// Messages that are read together, and what is read of them.
struct Unit {
    raw: Range<usize>,
    read: Range<usize>,
}

/// A stretch of the mended history that is put out as one.
struct Stretch {
    mended: Range<usize>,
    /// The units that it is, if they are put out as they came.
    kept: Option<Range<usize>>,
}

/// After so many rounds all coupled messages are written anew: each round looks at the whole history.
const ROUNDS: usize = 8;

impl Mended<'_> {
    /// Puts what is in order as it came into what was written of the mended history (`new`); `old` was written of what was
    /// read. `issues` gets one for every message that is written anew, unless it has one that says why.
    pub(super) fn keep(&self, new: Traced, old: &Traced, issues: &mut Vec<Issue>) -> Written {
        let units = self.units();
        let stretches = self.stretches(&units, &new);
        let kept: HashSet<usize> = stretches.iter().filter_map(|stretch| stretch.kept.clone()).flatten().collect();
        let mut written = new.written;
        // With each message that is written anew, the unit it belongs to.
        let mut out: Vec<(Option<usize>, Value)> = Vec::new();
        let mut pieces = new.from.into_iter().zip(std::mem::take(&mut written.messages)).peekable();
        for stretch in stretches {
            let own = std::iter::from_fn(|| pieces.next_if(|(message, _)| *message < stretch.mended.end));
            let own: Vec<(usize, Value)> = own.collect();
            match stretch.kept {
                Some(kept) => {
                    let units = units.get(kept).unwrap_or_default();
                    let raw = units.iter().flat_map(|unit| self.raw.get(unit.raw.clone()).unwrap_or_default());
                    out.extend(raw.map(|message| (None, message.clone())));
                }
                None => {
                    let unit = |at: usize| Some(unit_of(&units, self.mended.get(at)?.origin));
                    out.extend(own.into_iter().map(|(message, piece)| (unit(message), piece)));
                }
            }
        }
        // What writing says of messages that came out as they were is not so.
        issues.extend(
            std::mem::take(&mut written.issues)
                .into_iter()
                .filter(|issue| index_of(issue).is_none_or(|index| !kept.contains(&unit_of(&units, index)))),
        );
        let mut of_unit: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, (unit, _)) in out.iter().enumerate() {
            if let Some(unit) = unit {
                of_unit.entry(*unit).or_default().push(at);
            }
        }
        let mut told: HashSet<usize> = issues.iter().filter_map(index_of).map(|index| unit_of(&units, index)).collect();
        for (number, unit) in units.iter().enumerate().filter(|(number, _)| !kept.contains(number)) {
            let own = of_unit.remove(&number).unwrap_or_default();
            self.give_back(unit, old, &own, &mut out, issues);
            let raw = self.raw.get(unit.raw.clone()).unwrap_or_default();
            let same = own.iter().filter_map(|at| out.get(*at)).map(|(_, message)| message).eq(raw);
            if !same && told.insert(number) {
                issues.push(Issue::of(IssueCode::Converted, format!("/{}", unit.raw.start), WRITTEN_ANEW));
            }
        }
        written.messages = out.into_iter().map(|(_, message)| message).collect();
        written
    }

    fn units(&self) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        for (at, message) in self.read.iter().enumerate() {
            match units.last_mut() {
                Some(last) if last.raw.start == message.origin => last.read.end = at + 1,
                last => {
                    if let Some(last) = last {
                        last.raw.end = message.origin;
                    }
                    units.push(Unit { raw: message.origin..self.raw.len(), read: at..at + 1 });
                }
            }
        }
        units
    }

    /// The stretches of the mended history, those that are coupled alike.
    fn stretches(&self, units: &[Unit], new: &Traced) -> Vec<Stretch> {
        let mut anew: HashSet<usize> = self.wrong.iter().map(|index| unit_of(units, *index)).collect();
        let coupled = |(call, result): &(usize, usize)| (unit_of(units, *call), unit_of(units, *result));
        let coupled: Vec<(usize, usize)> = self.coupled.iter().map(coupled).collect();
        for round in 0.. {
            let stretches = self.cut(units, &anew, new);
            let kept: HashSet<usize> = stretches.iter().filter_map(|stretch| stretch.kept.clone()).flatten().collect();
            let mut halves = coupled.iter().filter(|(a, b)| kept.contains(a) != kept.contains(b)).peekable();
            if halves.peek().is_none() {
                return stretches;
            }
            if round < ROUNDS {
                anew.extend(halves.flat_map(|(a, b)| [*a, *b]));
            } else {
                anew.extend(coupled.iter().flat_map(|(a, b)| [*a, *b]));
            }
        }
        Vec::new()
    }

    /// Cuts the mended history into stretches; units in `anew` are written anew.
    fn cut(&self, units: &[Unit], anew: &HashSet<usize>, new: &Traced) -> Vec<Stretch> {
        let mut stretches = Vec::new();
        let mut at = 0;
        while let Some(first) = self.mended.get(at) {
            let begin = unit_of(units, first.origin);
            let (mut end, mut kept) = (at, Some(begin..begin));
            // What a later message says may have been written into an earlier one.
            while end == at || new.joined.contains(&end) {
                let Some(message) = self.mended.get(end) else { break };
                let number = unit_of(units, message.origin);
                let whole = units.get(number).and_then(|unit| {
                    let read = self.read.get(unit.read.clone())?;
                    let mended = self.mended.get(end..end + read.len())?;
                    (read == mended).then_some(read.len())
                });
                end += whole.unwrap_or(1);
                let fits = whole.is_some() && !anew.contains(&number);
                kept = kept.filter(|kept| fits && kept.end == number).map(|kept| kept.start..number + 1);
            }
            stretches.push(Stretch { mended: at..end, kept });
            at = end;
        }
        stretches
    }

    /// Gives messages of `unit`, written anew at the places `own` of `out`, the fields and spellings that they had beyond what was written of
    /// them before they were mended: all but those that something was wrong with.
    fn give_back(
        &self,
        unit: &Unit,
        old: &Traced,
        own: &[usize],
        out: &mut [(Option<usize>, Value)],
        issues: &mut Vec<Issue>,
    ) {
        let before = |at: usize| old.from.partition_point(|message| *message < at);
        let joined = &old.joined;
        let old = old.written.messages.get(before(unit.read.start)..before(unit.read.end)).unwrap_or_default();
        let raw = self.raw.get(unit.raw.clone()).unwrap_or_default();
        // Where one is written as two, or into the one before, none tells which is which.
        if old.len() != raw.len() || joined.contains(&unit.read.start) {
            return;
        }
        let mut free = own.to_vec();
        for ((old, raw), index) in old.iter().zip(raw).zip(unit.raw.clone()) {
            // Another shape than it came in: the members that say so are no unknown fields.
            if self.coupled.iter().any(|(call, result)| index == *call || index == *result) {
                continue;
            }
            let Some(patch) = diff(old, raw, self.same).filter(|_| unit.raw.len() == 1 || kind(old) == kind(raw))
            else {
                continue;
            };
            // What is wrong with one that is read with others may be told of the first of them.
            if self.wrong.contains(&index) || self.wrong.contains(&unit.raw.start) {
                if adds_members(&patch) {
                    let message = "fields of this message that nobody here knows were left out when it was mended";
                    issues.push(Issue::of(IssueCode::Converted, format!("/{index}"), message));
                }
                continue;
            }
            let same = free.iter().position(|at| out.get(*at).is_some_and(|(_, piece)| piece == old));
            if let Some((_, piece)) = same.and_then(|same| out.get_mut(free.swap_remove(same))) {
                *piece = apply(piece.take(), &patch);
            }
        }
    }
}

/// The unit of the message `index`.
fn unit_of(units: &[Unit], index: usize) -> usize {
    units.partition_point(|unit| unit.raw.start <= index).saturating_sub(1)
}

/// The index of the message that `issue` is about.
fn index_of(issue: &Issue) -> Option<usize> {
    issue.place.trim_start_matches('/').split('/').next()?.parse().ok()
}
