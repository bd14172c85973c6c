//! A tool's result that the model writes itself behind its call: it goes into an issue whole.
use crate::dialect::Body;
use crate::engine::body::first_key;
use crate::engine::context::quotation;
use crate::engine::look::seen;
use crate::engine::origin::Origin;
use crate::engine::reader::floor;
use crate::engine::trace::Noted;
use crate::engine::{Engine, Look, Mode, Reader, State, Step, Taken, head};
use crate::json::{ScanResult, Scanner};
use crate::turn::{Issue, IssueCode};

/// The first key of an object that says nothing but what a tool gave back.
const KEYS: [&str; 8] = [
    "result",
    "output",
    "observation",
    "tool_result",
    "tool_output",
    "tool_response",
    "function_result",
    "function_response",
];

/// A longer object is not waited for.
const LONGEST_OBJECT: usize = 4096;

impl Engine {
    /// The object at `at`, in a line of its own right below a call without markers, is what that gives, as the model would have it.
    pub(super) fn result_object(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let behind = self.given.removed && self.fresh_at(cx, at) && cx.slice(self.given.from, at).contains('\n');
        let json = self.out.calls.last().is_some_and(|call| call.origin == Origin::Bare(Body::Json));
        if !behind || !json || self.hold.is_some() || self.fence.is_some() || self.inline.is_some() {
            return Taken::No;
        }
        let key = seen!(first_key(cx, at));
        let key = cx.part(&key);
        if !KEYS.contains(&key) || cx.offered(key) {
            return Taken::No;
        }
        let near = cx.near(at, LONGEST_OBJECT);
        match Scanner::new(0, cx.policy.max_depth).scan(near, !cx.may_go_on(near.len(), LONGEST_OBJECT)) {
            ScanResult::Complete { end } => {
                // What goes on in its line is a sentence that begins with it; a token ends what the model says.
                let behind = near.get(end..).unwrap_or_default();
                let white = behind.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
                match behind.get(white..).unwrap_or_default() {
                    [b'\n', ..] | [b'<', b'|', ..] => {}
                    [] | [b'<'] if cx.may_go_on(near.len(), LONGEST_OBJECT) => return Taken::More,
                    [] if at + near.len() == cx.text.len() => {}
                    _ => return Taken::No,
                }
                let end = at + end;
                let message = format!("the model wrote a tool's result itself: {}", cx.slice(at, end));
                self.out.issue(Issue::at(IssueCode::InventedResult, at, message));
                self.out.trace.note(at..end, Noted::Result);
                self.result_invented();
                self.remove(cx, at, end);
                Taken::Done
            }
            ScanResult::Incomplete if cx.may_go_on(near.len(), LONGEST_OBJECT) => Taken::More,
            ScanResult::Incomplete | ScanResult::Error { .. } => Taken::No,
        }
    }

    /// What opens a tool's result stands from `at` to `end`: behind a call the model invents that.
    pub(super) fn result_opens(&mut self, cx: &Reader<'_>, at: usize, end: usize, result: u16) -> Taken {
        if self.inline.is_some() || self.fence.is_some() {
            return Taken::No;
        }
        if self.out.calls.is_empty() {
            // Elements are known as such.
            if let Some((_, close)) = cx.dialects.results.get(usize::from(result)).filter(|(_, c)| !c.starts_with("</"))
            {
                self.around.elements.open(close, end);
            }
            return Taken::No;
        }
        // A tag in the middle of a sentence that goes on behind it is spoken of.
        let token = cx.slice(at, end).contains(['|', '｜', '[', ']']);
        let behind = self.behind_removed(cx, at);
        if !token && !behind && !cx.at_line_start(at) && quotation::follows_word(cx, at) {
            let mut next = cx.rest(end).chars();
            match (next.next(), next.next()) {
                (None, _) | (Some(' '), None) if !cx.eof => return Taken::More,
                (Some(' '), Some(letter)) if letter.is_alphabetic() => return Taken::No,
                _ => {}
            }
        }
        self.remove(cx, at, end);
        self.state = State::Invented { result: Some(result), at, searched: end };
        Taken::Done
    }

    /// Right behind a call stands a result in the words of its dialect, as the model would have it: `Observation: 21`. With nothing
    /// behind the word, the model was stopped there.
    pub(super) fn observation(&mut self, cx: &Reader<'_>) -> Taken {
        let Some(row) = self.out.calls.last().and_then(|call| call.origin.row(cx)) else { return Taken::No };
        let at = cx.skip_space(self.given.from);
        // A stream comes here again with more text: what was passed as text stays text.
        if row.dialect.observations.is_empty() || self.at > at || !self.behind_removed(cx, at) {
            return Taken::No;
        }
        self.leave_paragraph(cx, at);
        let shown = self.inline.is_some() || self.fence.is_some() || self.hold.is_some();
        if shown || self.given.mode != Mode::Content {
            return Taken::No;
        }
        let looks = row.dialect.observations.iter().map(|word| head::label(cx, at, word));
        let end = seen!(Look::first_of(looks));
        if cx.skip_space(end) >= cx.text.len() {
            return if cx.eof { Taken::No } else { Taken::More };
        }
        self.remove(cx, at, end);
        self.state = State::Invented { result: None, at, searched: end };
        Taken::Done
    }

    /// Reads the result that began at `at` to its end, or to the end of the text.
    /// Without markers it has no end: what the model goes on with rests on it.
    pub(crate) fn invented(&mut self, cx: &Reader<'_>, result: Option<u16>, at: usize, searched: usize) -> Step {
        let (open, close) = match result {
            Some(result) => match cx.dialects.results.get(usize::from(result)) {
                Some((open, close)) => (open.as_str(), close.as_str()),
                None => return Step::Go,
            },
            None => ("", ""),
        };
        let rest = cx.bytes().get(searched..).unwrap_or_default();
        let found = if close.is_empty() { None } else { memchr::memmem::find(rest, close.as_bytes()) };
        let (inside, end) = match found {
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
