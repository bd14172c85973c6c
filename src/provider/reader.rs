//! The reader of one answer: a provider's own reading over the shared assembly of each choice.
use super::assembly::Assembly;
use super::errors::{self, Report};
use super::wire::{Payload, Wire, Wording};
use super::{Node, Provider, Reading};
use crate::error::Error;
use crate::turn::{Event, Issue, IssueCode, StopReason, Turn};

/// One choice of an answer.
#[derive(Debug)]
pub(super) struct Choice {
    /// The number the provider gives it.
    pub(super) index: u64,
    wire: Box<dyn Wire>,
    pub(super) out: Assembly,
}

/// Reads one answer, complete or in chunks.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) provider: Provider,
    wording: &'static Wording,
    reading: Reading,
    listen: bool,
    pub(super) choices: Vec<Choice>,
    /// The choice whose events were handed out.
    first: Option<u64>,
    /// So many chunks came while that was open.
    waited: usize,
    /// An error, and nothing before it.
    report: Option<Report>,
    /// Payloads that say nothing by themselves (a usage chunk) came.
    seen: bool,
    pub(super) issues: Vec<Issue>,
}

/// So many chunks another choice may stay behind one that is not number 0.
const PATIENCE: usize = 8;

/// More choices than anybody asks for: what is beyond is not read.
const MAX_CHOICES: usize = 128;

impl Reader {
    pub(super) fn new(provider: Provider, reading: &Reading, listen: bool) -> Self {
        let mut reading = reading.clone();
        reading.options.policy = reading.options.policy.clamped();
        Self {
            provider,
            wording: Wording::of(provider),
            reading,
            listen,
            choices: Vec::new(),
            first: None,
            waited: 0,
            report: None,
            seen: false,
            issues: Vec::new(),
        }
    }

    /// The choice number `index`, begun if it is new.
    fn choice(&mut self, index: u64) -> Option<&mut Choice> {
        let at = match self.choices.iter().position(|choice| choice.index == index) {
            Some(at) => at,
            None if self.choices.len() >= MAX_CHOICES => return None,
            None => {
                let (wire, out) = ((self.wording.wire)(), Assembly::new(&self.reading, self.listen));
                let at = self.choices.iter().position(|choice| choice.index > index).unwrap_or(self.choices.len());
                self.choices.insert(at, Choice { index, wire, out });
                at
            }
        };
        self.choices.get_mut(at)
    }

    /// Reads a complete response.
    pub(super) fn response(&mut self, body: &Node<'_>) {
        // A list of payloads is a stream that somebody collected (Gemini without `alt=sse`).
        if let Node::Array(items) = body {
            for item in items {
                self.chunk("", item);
            }
            return;
        }
        let Some(body) = self.unwrapped(body) else { return };
        self.read(&Payload { event: "", body, whole: true });
    }

    /// Reads one chunk of a stream; `event` is its SSE event's name.
    pub(super) fn chunk(&mut self, event: &str, chunk: &Node<'_>) {
        let Some(chunk) = self.unwrapped(chunk) else { return };
        self.read(&Payload { event, body: chunk, whole: false });
    }

    fn read(&mut self, payload: &Payload<'_, '_>) {
        (self.wording.choices)(payload, &mut |index, part| {
            if !part.is_object() {
                let message = format!("choice {index} is {}; it was left out", part.kind());
                self.issues.push(Issue::of(IssueCode::ProviderField, "/choices", message));
            } else if let Some(choice) = self.choice(index) {
                choice.wire.read(payload, part, &mut choice.out);
            }
        });
        if let Some(choice) = self.choices.first_mut() {
            choice.wire.rest(payload, &mut choice.out);
        }
    }

    /// The payload itself; `None` if it is an error, which is noted.
    fn unwrapped<'n, 'a>(&mut self, body: &'n Node<'a>) -> Option<&'n Node<'a>> {
        // Mistral's SDK hands out its chunks in an event's `data`.
        let body = match body.get("data") {
            Some(data) if data.is_object() && body.get("choices").is_none() => data,
            _ => body,
        };
        if !body.is_object() {
            let message = format!("the payload is {}, not an object", body.kind());
            self.issues.push(Issue::of(IssueCode::ProviderField, "", message));
            return None;
        }
        self.seen = true;
        let report = match body.get("error") {
            // Responses and Cohere events say so in a field of an answer.
            Some(Node::Object(_) | Node::String(_)) | None if !(self.wording.answers)(body) => errors::report(body),
            _ => None,
        };
        let Some(report) = report else { return Some(body) };
        match self.choices.first_mut() {
            Some(choice) => {
                choice.out.fail(report.place, report.message.clone(), report.failed_generation.as_deref());
            }
            None if report.failed_generation.is_some() => {
                if let Some(choice) = self.choice(0) {
                    let message = report.message.clone();
                    choice.out.fail(report.place, message, report.failed_generation.as_deref());
                }
            }
            None => {}
        }
        self.report.get_or_insert(report);
        // OpenRouter's error chunk carries the choices' last words.
        body.get("choices").is_some().then_some(body)
    }

    /// The provider said that nothing follows (`[DONE]`).
    pub(super) fn done(&mut self) {
        for choice in &mut self.choices {
            choice.out.done = true;
            choice.out.end_calls();
        }
    }

    /// The events so far of the first choice; those of others are dropped. Choices begin in any order, so for number 0 it is
    /// certain that it is the first, for any other when nothing follows (`over`) or none has come before it for a while.
    pub(super) fn take_events(&mut self, over: bool, into: &mut Vec<Event>) {
        let Some(lowest) = self.choices.first().map(|choice| choice.index) else { return };
        self.waited += 1;
        if self.first.is_none() && (lowest == 0 || over || self.waited > PATIENCE) {
            self.first = Some(lowest);
        }
        let Some(first) = self.first else { return };
        for choice in &mut self.choices {
            if choice.index == first {
                into.append(&mut choice.out.events);
            } else {
                choice.out.events.clear();
            }
        }
    }

    /// As [`super::StreamNormalizer::in_text`].
    pub(super) fn in_text(&self, index: usize) -> bool {
        let first = self.choices.iter().find(|choice| Some(choice.index) == self.first);
        first.is_some_and(|choice| choice.out.in_text(index))
    }

    /// The turns, in the order of their choices.
    pub(super) fn finish(&mut self) -> Result<Vec<Turn<'static>>, Error> {
        if self.choices.is_empty() {
            if self.report.is_some() || !self.seen {
                return Err(errors::no_answer(Some(self.provider), self.report.as_ref()));
            }
            return Err(errors::error(Some(self.provider), "", "the response holds no choice"));
        }
        // Events and turn are those of one choice, should another one have come late.
        if let Some(at) = self.first.and_then(|first| self.choices.iter().position(|choice| choice.index == first)) {
            self.choices.get_mut(..=at).unwrap_or_default().rotate_right(1);
        }
        let provider = self.provider;
        let count = self.choices.len();
        let mut turns = Vec::with_capacity(count);
        for (i, choice) in self.choices.iter_mut().enumerate() {
            for issue in self.issues.drain(..) {
                choice.out.issue(issue);
            }
            if i == 0 && count > 1 {
                let message = format!("{count} choices; this is the first");
                choice.out.issue(Issue::of(IssueCode::ProviderField, "/choices", message));
            }
            let mut turn = choice.out.turn();
            let empty = turn.content.is_empty() && turn.reasoning.is_empty() && turn.tool_calls.is_empty();
            if let (true, StopReason::Error, Some(report), 1) = (empty, turn.stop_reason, &self.report, count) {
                return Err(errors::no_answer(Some(provider), Some(report)));
            }
            choice.wire.state(&mut choice.out);
            let state = std::mem::take(&mut choice.out.state);
            turn.provider_state = (!state.is_empty()).then_some(serde_json::Value::Object(state));
            turns.push(turn);
        }
        Ok(turns)
    }
}
