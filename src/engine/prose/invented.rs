//! A tool's result that the model writes itself behind its call: it goes into an issue whole. And what looks like a call where a
//! line says that a result is told: it is shown.
use super::runaway::is_one_of;
use super::words::mentioned::in_first_person;
use super::words::sentence;
use crate::dialect::Body;
use crate::engine::body::first_key;
use crate::engine::look::seen;
use crate::engine::origin::Origin;
use crate::engine::reader::{blank, floor};
use crate::engine::trace::Noted;
use crate::engine::{Engine, Reader, State, Step, Taken};
use crate::json::{ScanResult, Scanner};
use crate::turn::{Issue, IssueCode};

/// What a line says that is nothing but the label of a tool's result, in prompts and in what models write for them.
pub(super) const RESULTS: [&str; 14] = [
    "observation",
    "observations",
    "tool output",
    "tool outputs",
    "tool result",
    "tool results",
    "tool response",
    "tool responses",
    "tool call result",
    "function output",
    "function result",
    "function results",
    "function response",
    "function call result",
];

/// The one that heads notes as well, of what whoever writes found: no loop writes it behind a call.
const NOTES: &str = "observations";

/// So much of a paragraph is looked at for such a label.
const NEAR: usize = 512;

/// What says so behind a call only: prompts with examples label the answer itself like this.
const BEHIND_CALL: [&str; 4] = ["output", "outputs", "result", "results"];

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

/// A longer line is more than such a label.
const LONGEST_LABEL: usize = 64;

/// The text that begins at `from`, right behind a call and what closes its fence, labels a tool's result, and some of that stands before
/// `at`. Whoever says what they do tells none.
pub(super) fn labels_invented(cx: &Reader<'_>, from: usize, at: usize) -> bool {
    let closed = cx.ahead(from, LONGEST_LABEL).trim_start_matches(['`', '~']);
    // Mostly another call stands there, or a sentence.
    let sign = |c: char| c.is_whitespace() || matches!(c, '*' | '_' | '#');
    let label = closed.trim_start_matches(sign);
    let length = label.find(|c: char| !c.is_ascii_alphanumeric() && c != ' ').unwrap_or(label.len());
    let (label, behind) = label.split_at_checked(length).unwrap_or_default();
    let colon = behind.trim_start_matches(['*', '_']).starts_with(':');
    let heading = closed.trim_start().starts_with('#') && behind.starts_with('\n');
    let words = label.trim_end_matches(|c: char| c == ' ' || c.is_ascii_digit());
    if !(colon || heading) || !is_one_of(words, &RESULTS) || is_one_of(words, &[NOTES]) {
        return false;
    }
    let near = cx.ahead(from, NEAR);
    let result = near.split_once(label).map_or(0, |(before, _)| from + before.len() + label.len());
    let told = floor(cx.text, at.min(result + NEAR));
    let told = cx.slice(result, told).trim_matches(|c: char| sign(c) || c == ':');
    !told.is_empty() && !in_first_person(told.lines().next().unwrap_or_default())
}

impl Engine {
    /// What stands at `at` without a marker is a tool's result that is told, or goes one on in the same paragraph: it stands behind a
    /// label of one, with nothing else in its line.
    pub(super) fn is_told_result(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let called = self.out.calls.last().map_or(0, |call| call.raw.end);
        if self.around.examples.tells_on(cx, called, at) {
            return true;
        }
        let is = self.labels_result(cx, at) || self.is_behind_result(cx, at);
        if is {
            self.around.examples.tells(at);
        }
        is
    }

    /// What stands at `at` goes on a result that is told behind its label, in the paragraph of that: whoever says what they do next tells
    /// no more of it.
    fn is_behind_result(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let from = floor(cx.text, at.saturating_sub(NEAR)).max(self.text_begins());
        let Some(above) = cx.slice(from, at).trim_end_matches([' ', '\t']).strip_suffix('\n') else { return false };
        let Some(colon) = self.around.before.label(cx, from, from + above.len()) else { return false };
        let (label, below) = above.split_at_checked(colon - from).unwrap_or_default();
        let label = label.rsplit('\n').next().unwrap_or_default().trim_ascii_start();
        let mut lines = below.split('\n').skip(1).map(str::trim_ascii);
        // Behind a whole object the text goes on with something else.
        let label = label.trim_matches(['*', '_', '#', ' ']);
        is_one_of(label, &RESULTS)
            && !is_one_of(label, &[NOTES])
            && lines.all(|line| !(line.is_empty() || line.ends_with(['}', ']']) || in_first_person(line)))
    }

    /// The line above `at`, or what stands before it in its line, is nothing but the label of a result.
    fn labels_result(&self, cx: &Reader<'_>, at: usize) -> bool {
        let begun = self.text_begins();
        let near = floor(cx.text, at.saturating_sub(LONGEST_LABEL)).max(begun);
        let before = cx.slice(near, at).trim_end_matches(blank);
        let line = before.rfind('\n').map(|i| i + 1).or_else(|| (near == begun).then_some(0));
        let Some(line) = line.and_then(|line| before.get(line..)) else { return false };
        let sign = |c: char| blank(c) || matches!(c, '*' | '_' | '#');
        let words = line.trim_matches(sign);
        // Without a colon it is a heading, or a word of prose.
        let label = match words.strip_suffix([':', '：']) {
            Some(label) => label.trim_end_matches(sign),
            None if words.len() < line.trim_matches(blank).len() => words,
            None => return false,
        };
        is_one_of(label, &RESULTS) || !self.out.calls.is_empty() && is_one_of(label, &BEHIND_CALL)
    }

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
            if let Some((open, close)) =
                cx.dialects.results.get(usize::from(result)).filter(|(_, c)| !c.starts_with("</"))
            {
                self.around.shown_in.result.opens(cx, open, close, end);
            }
            return Taken::No;
        }
        // A tag in the middle of a sentence that goes on behind it is spoken of.
        let token = cx.slice(at, end).contains(['|', '｜', '[', ']']);
        let behind = self.behind_removed(cx, at);
        if !token && !behind && !cx.at_line_start(at) && sentence::goes_up_to(cx, at) {
            let mut next = cx.rest(end).chars();
            match (next.next(), next.next()) {
                (None, _) | (Some(' '), None) if !cx.eof => return Taken::More,
                (Some(' '), Some(letter)) if letter.is_alphabetic() => return Taken::No,
                _ => {}
            }
        }
        self.remove(cx, at, end);
        self.state = State::Invented { result, at, searched: end };
        Taken::Done
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
