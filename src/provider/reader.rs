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
    /// What came of it in a stream, until it is known whether it is the other half of the first one.
    kept: Vec<Node<'static>>,
}

impl Choice {
    /// The answer ended so that tools are called.
    fn ends_in_calls(&self) -> bool {
        self.out.finish.as_ref().is_some_and(|finish| finish.reason == Some(StopReason::ToolCalls))
    }

    fn calls(&self) -> bool {
        !self.out.calls.slots.is_empty()
    }
}

/// Reads one answer, complete or in chunks.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) provider: Provider,
    wording: &'static Wording,
    reading: Reading,
    listen: bool,
    pub(super) choices: Vec<Choice>,
    /// The numbers of choices that are part of number 0.
    joined: Vec<u64>,
    /// The choice whose events were handed out.
    first: Option<u64>,
    /// So many chunks came while that was open.
    waited: usize,
    /// An error, and nothing before it.
    report: Option<Report>,
    /// Some payload came.
    seen: bool,
    /// Some payload was (part of) an answer of this provider.
    answered: bool,
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
            joined: Vec::new(),
            first: None,
            waited: 0,
            report: None,
            seen: false,
            answered: false,
            issues: Vec::new(),
        }
    }

    /// The choice number `index`, begun if it is new.
    fn choice(&mut self, index: u64) -> Option<&mut Choice> {
        let at = match self.choices.iter().position(|choice| choice.index == index) {
            Some(at) => at,
            None if self.choices.len() >= MAX_CHOICES => return None,
            None => {
                let (wire, out) =
                    ((self.wording.wire)(), Assembly::new(&self.reading, self.listen, self.wording.names_calls));
                let at = self.choices.iter().position(|choice| choice.index > index).unwrap_or(self.choices.len());
                self.choices.insert(at, Choice { index, wire, out, kept: Vec::new() });
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
        let keeps = self.wording.splits && !payload.whole;
        (self.wording.choices)(payload, &mut |index, part| {
            let index = if self.joined.contains(&index) { 0 } else { index };
            if !part.is_object() {
                let message = format!("choice {index} is {}; it was left out", part.kind());
                self.issues.push(Issue::of(IssueCode::ProviderField, "/choices", message));
            } else if let Some(choice) = self.choice(index) {
                choice.wire.read(payload, part, &mut choice.out);
                if keeps && index > 0 {
                    choice.kept.push(part.clone().into_owned());
                }
            }
        });
        if keeps {
            self.join_halves(false);
        }
        self.settle_first(false);
        if let Some(choice) = self.choices.first_mut() {
            choice.wire.rest(payload, &mut choice.out);
            // It may have come before the first choice.
            if let Some(report) = &self.report {
                choice.out.fail(report);
            }
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
        let answers = (self.wording.answers)(body);
        self.answered |= answers;
        let told = answers && (self.wording.answers_with_errors || body.get("error").is_none());
        let Some(report) = (!told).then(|| errors::report(body)).flatten() else { return Some(body) };
        if report.failed_generation.is_some() {
            // What it quotes is an answer.
            self.choice(0);
        }
        if let Some(choice) = self.choices.first_mut() {
            choice.out.fail(&report);
        }
        self.report.get_or_insert(report);
        // OpenRouter's error chunk carries the choices' last words.
        answers.then_some(body)
    }

    /// Joins a choice with number 0 where both end to call tools and one of them calls none: it has the text of the answer,
    /// the other one its calls. `over`: nothing follows, so that the one with the calls need not have ended.
    fn join_halves(&mut self, over: bool) {
        let Some((first, others)) = self.choices.split_first_mut() else { return };
        if first.index != 0 {
            return;
        }
        let half = |other: &Choice| {
            let (half, caller) = if first.calls() { (other, &*first) } else { (&*first, other) };
            let ended = caller.ends_in_calls() || over && caller.out.finish.is_none();
            !half.calls() && half.ends_in_calls() && caller.calls() && ended
        };
        let Some(at) = others.iter().position(|other| !other.kept.is_empty() && half(other)) else { return };
        let none = Node::Object(Vec::new());
        for part in others.get_mut(at).map(|other| std::mem::take(&mut other.kept)).unwrap_or_default() {
            let payload = Payload { event: "", body: &none, whole: false };
            first.wire.read(&payload, &part, &mut first.out);
        }
        self.joined.push(self.choices.remove(at + 1).index);
    }

    /// The error that the provider reported, unless it quotes what the model wrote.
    pub(super) fn failure(&self) -> Option<&str> {
        let first = self.choices.first().map(|choice| &choice.out);
        if first.is_some_and(|out| out.failed_generation.is_some()) {
            return None;
        }
        let told = first.and_then(|out| out.error.as_deref());
        told.or_else(|| self.report.as_ref().map(|report| report.message.as_str()))
    }

    /// The provider said that nothing follows (`[DONE]`).
    pub(super) fn done(&mut self) {
        self.join_halves(true);
        for choice in &mut self.choices {
            choice.out.done = true;
            choice.out.end_calls();
        }
    }

    /// The events so far of the first choice; those of others are dropped. Choices begin in any order, so for number 0 it is
    /// certain that it is the first, for any other when nothing follows (`over`) or none has come before it for a while.
    pub(super) fn take_events(&mut self, over: bool, into: &mut Vec<Event>) {
        if over {
            self.settle_first(true);
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

    /// Says which choice is the first one: with each payload, however many of them come at once.
    fn settle_first(&mut self, over: bool) {
        let Some(lowest) = self.choices.first().map(|choice| choice.index) else { return };
        self.waited += 1;
        if self.first.is_none() && (lowest == 0 || over || self.waited > PATIENCE) {
            self.first = Some(lowest);
        }
    }

    /// As [`super::StreamNormalizer::in_text`].
    pub(super) fn in_text(&self, index: usize) -> bool {
        let first = self.choices.iter().find(|choice| Some(choice.index) == self.first);
        first.is_some_and(|choice| choice.out.in_text(index))
    }

    /// What was held back of the text that was read again without calls.
    pub(super) fn reread_tail(&self) -> &str {
        let first = self.choices.iter().find(|choice| Some(choice.index) == self.first);
        first.map_or("", |choice| choice.out.reread_tail())
    }

    /// The turns, in the order of their choices.
    pub(super) fn finish(&mut self) -> Result<Vec<Turn<'static>>, Error> {
        self.join_halves(true);
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
            let failed = turn.stop_reason == StopReason::Error && self.report.is_some();
            if empty && count == 1 && (failed || !self.answered) {
                return Err(errors::no_answer(Some(provider), self.report.as_ref()));
            }
            choice.wire.state(&mut choice.out);
            let state = std::mem::take(&mut choice.out.state);
            turn.provider_state = (!state.is_empty()).then_some(serde_json::Value::Object(state));
            turns.push(turn);
        }
        Ok(turns)
    }
}
