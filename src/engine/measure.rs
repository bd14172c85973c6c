//! The measure that every round of the scanner lowers, so that no text is read forever, whatever a rule gets wrong.

use crate::interrupt::Work;

/// What a round takes, as the bytes of plain text that are read in that time.
pub(super) const ROUND: usize = 256;

/// The scanner may stay at a place for so many rounds: several readings are tried there, each of which may be given up.
const MOST_STAYS: u8 = 64;

/// It may go back to where it was, or before that, so often until it reads what it has not read yet.
const MOST_RETURNS: u8 = 64;

/// So many rounds may go by for each byte, and some more. What was given up is read again, though not as often.
const ROUNDS_A_BYTE: usize = 16;
const FIRST_ROUNDS: usize = 256;

/// What is left to do, as numbers of which one falls with each round while those before it in this list stay: the bytes that were
/// never read; the returns that are left; the bytes behind the last return; the bytes behind the place; the stays that are left.
#[derive(Debug)]
pub(super) struct Measure {
    /// No byte from here on was read.
    furthest: usize,
    returns: u8,
    /// Where the scanner went back to last since then.
    restart: usize,
    at: usize,
    stays: u8,
    /// All rounds so far in text that was read before. They have a bound of their own, which is linear.
    rounds: usize,
}

impl Default for Measure {
    fn default() -> Self {
        Self { furthest: 0, returns: MOST_RETURNS, restart: 0, at: 0, stays: MOST_STAYS, rounds: 0 }
    }
}

impl Measure {
    /// A round ended `at` a place, in a text of `length` bytes so far: whether it lowered the measure. If it did not, another round at
    /// the same place does not either.
    #[inline]
    pub(super) fn falls(&mut self, at: usize, length: usize) -> bool {
        let before = std::mem::replace(&mut self.at, at);
        if at <= self.furthest {
            return self.falls_behind(before, length);
        }
        // There are no more of these than bytes.
        (self.furthest, self.restart) = (at, 0);
        (self.returns, self.stays) = (MOST_RETURNS, MOST_STAYS);
        true
    }

    /// As [`Self::falls`], for a round that began at `before` and read no byte for the first time.
    fn falls_behind(&mut self, before: usize, length: usize) -> bool {
        self.rounds += 1;
        if self.at == before {
            self.stays = self.stays.saturating_sub(1);
        } else {
            self.stays = MOST_STAYS;
            if self.at < before {
                if self.at <= self.restart {
                    self.returns = self.returns.saturating_sub(1);
                }
                self.restart = self.at;
            }
        }
        self.stays > 0 && self.returns > 0 && self.rounds <= most_rounds(length)
    }
}

/// The rounds of one step of a body. Its places are no measure, since what is left to repair is read from its start.
#[derive(Debug)]
pub(super) struct Rounds {
    left: usize,
    work: Work,
}

impl Rounds {
    /// For the step of a body in a text of `length` bytes.
    #[inline]
    pub(super) fn new(length: usize) -> Self {
        Self { left: most_rounds(length), work: Work::default() }
    }

    /// Whether there is another one: none if the work is interrupted.
    #[inline]
    pub(super) fn another(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        debug_assert!(self.left > 0, "the body is read on and on");
        self.left > 0 && !self.work.stops(ROUND)
    }
}

const fn most_rounds(length: usize) -> usize {
    FIRST_ROUNDS.saturating_add(ROUNDS_A_BYTE.saturating_mul(length))
}

#[cfg(test)]
#[path = "../../tests/units/measure.rs"]
mod tests;
