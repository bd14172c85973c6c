//! Text that runs away: after its calls a model without a stop writes on as if it were the other side, or the file that
//! quoted the answer. What looks like a call there is not its own.
use crate::engine::reader::blank;
use crate::engine::{Engine, Look, Reader, Taken, head};
use crate::turn::{Issue, IssueCode};

/// What begins the other side's turn in plain text, at the beginning of a line. Source: 71 outputs published with BFCL that go on so.
const TURNS: [&str; 7] = ["### Instruction", "### Response", "### User", "### Human", "### Input", "User:", "Human:"];

/// Quotes that close, or open, a text inside a program.
const QUOTES: [&str; 2] = ["\"\"\"", "'''"];

/// How far the text behind the calls has been looked through, and whether it runs away.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Runaway {
    looked: usize,
    /// A program's quotes stand there: what has no markers is none of the answer.
    quotes: bool,
    turn: Whose,
}

/// Whose turn the text is, as far as markers tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Whose {
    #[default]
    Own,
    /// The text began with the prompt, so turns follow each other in it.
    Transcript,
    /// The model wrote on as the other side, and an issue says so if calls stood there.
    Invented { side: Side, told: bool },
}

/// Whom the model spoke for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    User,
    /// What it does next rests on what its tool never said.
    Tool,
}

/// What begins a prompt is no longer.
const LONGEST_PROMPT: usize = 128;

/// Nothing stands in `before` but what begins a prompt: `<s>`, `<|begin_of_text|>`, `[gMASK]<sop>`.
fn begins_prompt(before: &str) -> bool {
    let mut rest = before.trim_matches(blank);
    while let Some((_, behind)) = match rest.as_bytes() {
        _ if before.len() > LONGEST_PROMPT => None,
        [b'<', ..] => rest.split_once('>'),
        [b'[', ..] => rest
            .split_once(']')
            .filter(|(token, _)| token.bytes().skip(1).all(|b| b.is_ascii_alphanumeric() || b == b'_')),
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
        if quoted || self.runaway.turn != Whose::Own {
            return Taken::No;
        }
        let behind_tag = cx.slice(0, at).ends_with(['>', ']']) || self.given.removed && self.fresh_at(cx, at);
        if behind_tag || cx.at_line_start(at) || cx.slice(at, at + length).ends_with('\n') {
            if self.out.calls.is_empty() && begins_prompt(cx.slice(0, at)) {
                self.runaway.turn = Whose::Transcript;
                return Taken::No;
            }
            // With nothing behind it, it is where the model was to stop.
            match cx.behind_space(at, at + length) {
                Look::Is(next) if next >= cx.text.len() => {
                    self.remove(cx, at, next);
                    return Taken::Done;
                }
                Look::More => return Taken::More,
                _ => self.runaway.turn = Whose::Invented { side: Side::User, told: false },
            }
        }
        Taken::No
    }

    /// What stands at `at` stands in the other side's turn, which the model invented: no call.
    pub(in crate::engine) fn in_invented_turn(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        if self.runaway.turn == Whose::Own {
            if self.observed(cx, at) {
                self.result_invented();
            } else if self.follows_turn(cx, at) {
                self.runaway.turn = Whose::Invented { side: Side::User, told: false };
            }
        }
        let Whose::Invented { side, told } = self.runaway.turn else { return false };
        if !told {
            let (code, message) = match side {
                Side::User => (
                    IssueCode::InventedTurn,
                    "the model went on with the other side's turn: calls behind that are text",
                ),
                Side::Tool => {
                    (IssueCode::InventedResult, "the model wrote a tool's result itself: calls behind that are text")
                }
            };
            self.out.issue(Issue::at(code, at, message));
            self.runaway.turn = Whose::Invented { side, told: true };
        }
        true
    }

    /// The model wrote a tool's result itself: what it calls behind that rests on it.
    pub(super) fn result_invented(&mut self) {
        if self.runaway.turn == Whose::Own {
            self.runaway.turn = Whose::Invented { side: Side::Tool, told: false };
        }
    }

    /// Between the last call and `at` stands a result in the words of that call's dialect: `Observation: 21`.
    fn observed(&self, cx: &Reader<'_>, at: usize) -> bool {
        let Some(last) = self.out.calls.last() else { return false };
        let words = last.origin.row(cx).map_or(&[][..], |row| &*row.dialect.observations);
        let from = cx.skip_space(last.raw.end);
        let says = |look| matches!(look, Look::Is(end) if !cx.slice(end, at).trim_ascii_start().is_empty());
        words.iter().any(|word| says(head::label(cx, from, word)))
    }

    /// A line between the last call and `at` begins with the other side's turn in plain words.
    fn follows_turn(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let Some(last) = self.out.calls.last() else { return false };
        if last.raw.end > self.runaway.looked {
            self.runaway.looked = last.raw.end;
        }
        if at <= self.runaway.looked {
            return false;
        }
        // What stands at `at` begins no turn, so a line that reaches it need not be looked at again.
        let text = cx.slice(self.runaway.looked, at);
        self.runaway.looked = at;
        let begins = |line: &str, marks: &[&str]| marks.iter().any(|mark| line.starts_with(mark));
        for line in memchr::memchr_iter(b'\n', text.as_bytes()).filter_map(|i| text.get(i + 1..)) {
            let line = line.trim_start_matches([' ', '\t']);
            self.runaway.quotes |= begins(line, &QUOTES);
            if begins(line, &TURNS) {
                return true;
            }
        }
        false
    }

    /// As [`Self::in_invented_turn`], of what has no markers: behind calls like that, a program's quotes end the answer as well.
    pub(in crate::engine) fn runs_away(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        self.in_invented_turn(cx, at)
            || self.runaway.quotes && self.out.calls.last().is_some_and(|call| call.origin.is_bare())
    }
}
