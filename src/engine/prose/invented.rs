//! A tool's result that the model writes itself behind its call: it goes into an issue whole.
use super::{Taken, sentence};
use crate::engine::reader::floor;
use crate::engine::trace::Noted;
use crate::engine::{Engine, Look, Reader, State, Step};
use crate::turn::{Issue, IssueCode};

impl Engine {
    /// What opens a tool's result stands from `at` to `end`: behind a call the model invents that.
    pub(super) fn result_opens(&mut self, cx: &Reader<'_>, at: usize, end: usize, result: u16) -> Taken {
        if self.out.calls.is_empty() || self.inline.is_some() || self.fence.is_some() {
            return Look::No;
        }
        // A tag in the middle of a sentence that goes on behind it is spoken of.
        let token = cx.slice(at, end).contains(['|', '｜', '[', ']']);
        let behind = self.given.removed && self.fresh_at(cx, at);
        if !token && !behind && !cx.at_line_start(at) && sentence::goes_up_to(cx, at) {
            let mut next = cx.rest(end).chars();
            match (next.next(), next.next()) {
                (None, _) | (Some(' '), None) if !cx.eof => return Look::More,
                (Some(' '), Some(letter)) if letter.is_alphabetic() => return Look::No,
                _ => {}
            }
        }
        self.remove(cx, at, end);
        self.state = State::Invented { result, at, searched: end };
        Look::Is(())
    }

    /// Reads the result that began at `at` to its end, or to the end of the text.
    pub(crate) fn invented(&mut self, cx: &Reader<'_>, result: u16, at: usize, searched: usize) -> Step {
        let Some((open, close)) = cx.dialects.results.get(usize::from(result)) else { return Step::Go };
        let rest = cx.bytes().get(searched..).unwrap_or_default();
        let (inside, end) = match memchr::memmem::find(rest, close.as_bytes()) {
            Some(i) => (searched + i, searched + i + close.len()),
            None if cx.eof => (cx.text.len(), cx.text.len()),
            None => {
                let searched = floor(cx.text, cx.text.len().saturating_sub(close.len())).max(searched);
                self.state = State::Invented { result, at, searched };
                return Step::More;
            }
        };
        // With nothing in it, it is where the model was to stop.
        if !cx.slice(at + open.len(), inside).trim_ascii().is_empty() {
            let message = format!("the model wrote a tool's result itself: {}", cx.slice(at, end));
            self.out.issue(Issue::at(IssueCode::InventedResult, at, message));
            self.result_invented();
        }
        self.out.trace.note(at..end, Noted::Result);
        self.given.from = end;
        self.at = end;
        Step::Go
    }
}
