//! Text that runs away: after its calls a model without a stop writes on as if it were the other side, or the file that
//! quoted the answer. What looks like a call there is not its own.
use super::Taken;
use crate::engine::{Engine, Look, Reader};
use crate::turn::{Issue, IssueCode};

/// What begins the other side's turn, in plain text.
const TURNS: [&str; 7] = ["### Instruction", "### Response", "### User", "### Human", "### Input", "User:", "Human:"];

/// Quotes that close, or open, a text inside a program.
const QUOTES: [&str; 2] = ["\"\"\"", "'''"];

/// How far the text behind the calls has been looked through, and whether it runs away.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Runaway {
    looked: usize,
    found: bool,
    turn: Turn,
}

/// Whose turn the text is, as far as markers tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    Own,
    /// The text began with the prompt, so turns follow each other in it.
    Transcript,
    /// The model wrote on as the other side, and an issue says so if calls stood there.
    Invented { told: bool },
}

/// Nothing stands in `before` but what begins a prompt: `<s>`, `<|begin_of_text|>`, `[gMASK]<sop>`.
fn begins_prompt(before: &str) -> bool {
    let mut rest = before.trim();
    while let Some((_, behind)) = match rest.as_bytes() {
        _ if before.len() > 128 => None,
        [b'<', ..] => rest.split_once('>'),
        [b'[', ..] => rest.split_once(']'),
        _ => None,
    } {
        rest = behind;
    }
    rest.is_empty()
}

impl Engine {
    /// A marker of `length` at `at` begins the other side's turn: it begins a line, ends one, or stands behind another
    /// marker. Elsewhere it is spoken of.
    pub(super) fn turn_marker(&mut self, cx: &Reader<'_>, at: usize, length: usize) -> Taken {
        let quoted = self.inline.is_some() || self.fence.is_some() || self.hold.is_some();
        if quoted || self.runaway.turn != Turn::Own {
            return Look::No;
        }
        let behind_tag = cx.slice(0, at).ends_with('>') || self.given.removed && self.fresh_at(cx, at);
        if behind_tag || cx.at_line_start(at) || cx.slice(at, at + length).ends_with('\n') {
            self.runaway.turn =
                if begins_prompt(cx.slice(0, at)) { Turn::Transcript } else { Turn::Invented { told: false } };
        }
        Look::No
    }

    /// What stands at `at` stands in the other side's turn, which the model invented: no call.
    pub(super) fn in_invented_turn(&mut self, at: usize) -> bool {
        let Turn::Invented { told } = self.runaway.turn else { return false };
        if !told {
            let message = "the model went on with the other side's turn: calls behind that are text";
            self.out.issue(Issue::at(IssueCode::InventedTurn, at, message));
            self.runaway.turn = Turn::Invented { told: true };
        }
        true
    }

    /// The text between the last calls and `at` says that what stands at `at` is no call of this answer. Only calls
    /// without markers are in doubt: markers are not written by accident.
    pub(super) fn runs_away(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        if self.in_invented_turn(at) {
            return true;
        }
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
