//! Text that runs away: after its calls a model without a stop writes on as if it were the other side, or the file that
//! quoted the answer. What looks like a call there is not its own.
use crate::engine::{Engine, Reader};

/// What begins the other side's turn, in plain text.
const TURNS: [&str; 5] = ["### Instruction", "### Response", "### User", "### Human", "### Input"];

/// Quotes that close, or open, a text inside a program.
const QUOTES: [&str; 2] = ["\"\"\"", "'''"];

/// How far the text behind the calls has been looked through, and whether it runs away.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Runaway {
    looked: usize,
    found: bool,
}

impl Engine {
    /// The text between the last calls and `at` says that what stands at `at` is no call of this answer. Only calls
    /// without markers are in doubt: markers are not written by accident.
    pub(super) fn runs_away(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let Some(last) = self.out.calls.last().filter(|call| call.origin.is_bare()) else { return false };
        if last.raw.end > self.runaway.looked {
            self.runaway.looked = last.raw.end;
        }
        if self.runaway.found || at <= self.runaway.looked {
            return self.runaway.found;
        }
        // What stands at `at` is no mark, so a line that reaches it need not be looked at again.
        let text = cx.slice(self.runaway.looked, at);
        let marks = |line: &str| TURNS.iter().chain(&QUOTES).any(|mark| line.starts_with(mark));
        let mut lines = memchr::memchr_iter(b'\n', text.as_bytes()).filter_map(|i| text.get(i + 1..));
        self.runaway.found = lines.any(|line| marks(line.trim_start_matches([' ', '\t'])));
        self.runaway.looked = at;
        self.runaway.found
    }
}
