//! Which result of a history is which call's, wherever it stands.
use super::model::{Message, Part, Role};
use std::collections::{HashMap, VecDeque};

/// Where a call or a result stands: the message, and the part of it.
pub(super) type Place = (usize, usize);

/// The place of the result of each call that has one.
///
/// A call's result stands behind it. Where several calls have one id, results are those of the latest message with such,
/// in their order; what is more than those are came late, for calls before that have none. A result that stands before
/// all calls of its id is the next one's if that has no other, and if the model has not ended its answer in between:
/// then it is what is left of a beginning that was cut off, and ids may well come again.
pub(super) fn pairs(messages: &[Message]) -> HashMap<Place, Place> {
    let mut ids: HashMap<&str, Id> = HashMap::new();
    let mut pairs = HashMap::new();
    // How many answers without calls the model has given.
    let mut answers = 0;
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::Assistant && message.calls().next().is_none() {
            answers += 1;
        }
        for (number, part) in message.parts.iter().enumerate() {
            let place = (at, number);
            match part {
                Part::Call(call) if message.role == Role::Assistant => {
                    ids.entry(&call.id).or_default().call(place, answers, !call.id.is_empty(), &mut pairs);
                }
                Part::Answer(answer) if message.role == Role::Tool => {
                    ids.entry(&answer.id).or_default().result(place, answers);
                }
                _ => {}
            }
        }
    }
    ids.into_values().for_each(|mut id| id.settle(&mut pairs));
    pairs
}

/// The calls and results of one id.
#[derive(Default)]
struct Id {
    /// Calls of messages before the latest that have no result so far.
    open: VecDeque<Place>,
    /// The calls of the latest message.
    calls: Vec<Place>,
    /// The results since then; before the first call, those since the model's last answer without calls.
    results: Vec<Place>,
    /// How many such answers there were before them.
    answers: usize,
    /// The results before the first call that may be its own.
    early: Vec<Place>,
}

impl Id {
    fn result(&mut self, place: Place, answers: usize) {
        if self.calls.is_empty() && answers != std::mem::replace(&mut self.answers, answers) {
            self.results.clear();
        }
        self.results.push(place);
    }

    /// `told`: the history tells the id, so that a result before the call can be told to be its own.
    fn call(&mut self, place: Place, answers: usize, told: bool, pairs: &mut HashMap<Place, Place>) {
        match self.calls.last() {
            None => {
                self.early = std::mem::take(&mut self.results);
                self.early.retain(|_| told && self.answers == answers);
            }
            Some((message, _)) if *message != place.0 => self.settle(pairs),
            Some(_) => {}
        }
        self.calls.push(place);
    }

    /// Pairs the calls of the latest message.
    fn settle(&mut self, pairs: &mut HashMap<Place, Place>) {
        let late = self.results.len().saturating_sub(self.calls.len()).min(self.open.len());
        let missing = self.calls.len().saturating_sub(self.results.len());
        let mut results = self.results.drain(..);
        pairs.extend(self.open.drain(..late).zip(results.by_ref()));
        let mut results = self.early.drain(..).take(missing).chain(results);
        for call in self.calls.drain(..) {
            match results.next() {
                Some(result) => drop(pairs.insert(call, result)),
                None => self.open.push_back(call),
            }
        }
    }
}
