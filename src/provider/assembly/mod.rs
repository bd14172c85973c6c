//! One answer put together from a provider's pieces: the same for a complete response and for a stream.
mod native;
mod stop;
mod text;

pub(super) use stop::Finish;

use super::Reading;
use super::calls::Calls;
use super::errors::Report;
use super::node::Node;
use super::text::TextReader;
use crate::turn::{Event, Issue, IssueCode, Source, StopReason, ToolCall, Turn, Usage};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use text::TextCalls;

/// One answer (one choice of a response) in the making.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) reading: Reading,
    /// Events are wanted: this is a stream.
    listen: bool,
    /// The provider's stop reasons have a word for calls.
    names_calls: bool,
    pub(super) events: Vec<Event>,
    reader: Option<TextReader>,
    /// The text as the provider sent it, kept while it may have to be read again without calls, or to go back as it was.
    raw_text: String,
    /// What of the text that was read again is still held back.
    reread_tail: String,
    text_calls: TextCalls,
    /// The event index of each call that the engine found in the text.
    text_indices: Vec<usize>,
    /// So many calls of the text were announced and then taken for text; they come before all native ones.
    withdrawn: usize,
    content: String,
    reasoning: String,
    /// Reasoning that came in a field of its own.
    fielded: String,
    pub(super) calls: Calls,
    /// The first slot that was not announced yet.
    next: usize,
    announced: usize,
    used_ids: Vec<String>,
    settled: Vec<Option<ToolCall<'static>>>,
    finals: Vec<Option<usize>>,
    pub(super) finish: Option<Finish>,
    /// The provider said that nothing follows.
    pub(super) done: bool,
    /// A call that is the last thing of an answer cut by length or a filter is incomplete, whatever it looks like: the provider
    /// sends arguments as objects, which look whole always.
    pub(super) objects: bool,
    /// The answer's last part so far is a call.
    pub(super) last_is_call: bool,
    pub(super) usage: Option<Usage>,
    pub(super) refused: bool,
    pub(super) paused: bool,
    pub(super) error: Option<String>,
    /// What the model wrote, as quoted by an error body.
    pub(super) failed_generation: Option<String>,
    pub(super) issues: Vec<Issue>,
    pub(super) state: Map<String, Value>,
}

impl Assembly {
    pub(super) fn new(reading: &Reading, listen: bool, names_calls: bool) -> Self {
        let policy = &reading.options.policy;
        Self {
            calls: Calls::new(policy.max_calls, policy.max_depth, policy.max_arguments_bytes),
            reading: reading.clone(),
            listen,
            names_calls,
            events: Vec::new(),
            reader: None,
            raw_text: String::new(),
            reread_tail: String::new(),
            text_calls: TextCalls::None,
            text_indices: Vec::new(),
            withdrawn: 0,
            content: String::new(),
            reasoning: String::new(),
            fielded: String::new(),
            next: 0,
            announced: 0,
            used_ids: Vec::new(),
            settled: Vec::new(),
            finals: Vec::new(),
            finish: None,
            done: false,
            objects: false,
            last_is_call: false,
            usage: None,
            refused: false,
            paused: false,
            error: None,
            failed_generation: None,
            issues: Vec::new(),
            state: Map::new(),
        }
    }

    fn event(&mut self, event: impl FnOnce() -> Event) {
        if self.listen {
            self.events.push(event());
        }
    }

    pub(super) fn issue(&mut self, issue: Issue) {
        self.event(|| Event::Issue(issue.clone()));
        self.issues.push(issue);
    }

    /// The call that the events have under `index` stands in the text.
    pub(super) fn in_text(&self, index: usize) -> bool {
        self.text_indices.contains(&index)
    }

    /// What was held back of the text that was read again without calls, when that was done.
    pub(super) fn reread_tail(&self) -> &str {
        &self.reread_tail
    }

    /// So many calls were announced.
    pub(super) fn announced(&self) -> usize {
        self.announced
    }

    /// The index in the turn's calls of the call that the provider sent as its `at`th.
    pub(super) fn index_of(&self, at: usize) -> Option<usize> {
        self.finals.get(at).copied().flatten().map(|index| index.saturating_sub(self.withdrawn))
    }

    pub(super) fn usage(&mut self, usage: Usage) {
        let known = self.usage.get_or_insert_default();
        let newer = |old: &mut Option<u64>, new: Option<u64>| *old = new.or(*old);
        newer(&mut known.input_tokens, usage.input_tokens);
        newer(&mut known.output_tokens, usage.output_tokens);
        newer(&mut known.total_tokens, usage.total_tokens);
        newer(&mut known.reasoning_tokens, usage.reasoning_tokens);
        newer(&mut known.cached_tokens, usage.cached_tokens);
    }

    /// The provider reports an error after the answer began.
    pub(super) fn fail(&mut self, report: &Report) {
        if let Some(text) = report.failed_generation.as_ref().filter(|text| !text.trim().is_empty()) {
            self.failed_generation = Some(text.clone());
        }
        if self.error.is_none() {
            self.issue(Issue::of(IssueCode::ProviderError, report.place, report.message.clone()));
            self.error = Some(report.message.clone());
        }
    }

    /// The field at `place` is not what it should be.
    pub(super) fn odd(&mut self, place: impl Into<String>, node: &Node<'_>, expected: &str) {
        let message = format!("{} where {expected} should be; it was left out", node.kind());
        self.issue(Issue::of(IssueCode::ProviderField, place, message));
    }

    /// What is unknown of the call at `at` goes back with it.
    pub(super) fn call_extra(&mut self, at: Option<usize>, call: &Node<'_>) {
        if let (Some(Value::Object(more)), Some(slot)) =
            (super::extra::of_call(call), at.and_then(|at| self.calls.slots.get_mut(at)))
        {
            super::extra::join(slot.extra.get_or_insert_default(), more);
        }
    }

    /// The unknown fields of the calls, by the index in the turn.
    pub(super) fn call_extras(&mut self) -> Map<String, Value> {
        let extras: Vec<_> = self.calls.slots.iter_mut().map(|slot| slot.extra.take()).collect();
        let extras = extras.into_iter().enumerate();
        extras.filter_map(|(at, extra)| Some((self.index_of(at)?.to_string(), Value::Object(extra?)))).collect()
    }

    /// Reports what a part of a known type says that nobody reads.
    pub(super) fn beyond(&mut self, place: &str, part: &Node<'_>, known: &[&str]) {
        for (key, _) in super::extra::beyond(part, known) {
            let message = format!("the field `{key}` is not known here; it was left out");
            self.issue(Issue::of(IssueCode::ProviderField, place, message));
        }
    }

    /// The whole turn. The events of what was still open are in [`Assembly::events`].
    pub(super) fn turn(&mut self) -> Turn<'static> {
        self.end_calls();
        let mut dialect = None;
        let mut text_is_cut = false;
        let mut source = if self.native() && !self.settled.is_empty() { Source::Native } else { Source::None };
        if let Some(reader) = self.reader.take() {
            let mut events = Vec::new();
            let turn = reader.finish(&mut events);
            self.take(events);
            dialect = turn.dialect;
            text_is_cut = turn.stop_reason == StopReason::Length;
            self.count_text_calls();
        }
        let found = |calls: &[Option<ToolCall<'static>>]| calls.iter().any(Option::is_some);
        if source == Source::None && found(&self.settled) {
            source = Source::Text;
        }
        if source == Source::None {
            dialect = self.rescue(&mut source).or(dialect);
        }
        if self.calls.overflow {
            self.issue(Issue::of(IssueCode::LimitReached, "", "more calls than the limit; the rest were left out"));
        }
        let calls: Vec<_> = self.settled.drain(..).flatten().collect();
        if source == Source::Text {
            // A model without native tools is to see what it wrote, markup and all.
            self.state.insert("text".into(), json!({ "content": std::mem::take(&mut self.raw_text) }));
        }
        let stop_reason = match self.stop(&calls, source) {
            // The beginning of a call was left out of the text, whatever the provider says of its end.
            StopReason::Stop if text_is_cut => StopReason::Length,
            stop_reason => stop_reason,
        };
        Turn {
            content: Cow::Owned(std::mem::take(&mut self.content)),
            reasoning: Cow::Owned(std::mem::take(&mut self.reasoning)),
            reasoning_end: None,
            tool_calls: calls,
            stop_reason,
            usage: self.usage.take(),
            source,
            dialect,
            issues: std::mem::take(&mut self.issues),
            provider_state: None,
        }
    }
}
