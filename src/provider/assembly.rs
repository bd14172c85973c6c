//! One answer put together from a provider's pieces: the same for a complete response and for a stream.
use super::calls::{CallPiece, Calls};
use super::node::Node;
use super::text::{self, TextReader};
use super::{Reading, settle};
use crate::engine::ReasoningCalls;
use crate::schema::{Resolution, ToolSet};
use crate::turn::{CallStatus, Event, Issue, IssueCode, Source, StopReason, ToolCall, Turn, Usage, new_call_id};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Why a provider says that the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finish {
    /// As the provider spells it.
    pub(super) raw: String,
    /// What that means; `None` for a value nobody knows.
    pub(super) reason: Option<StopReason>,
}

/// One answer (one choice of a response) in the making.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) reading: Reading,
    /// Events are wanted: this is a stream.
    listen: bool,
    pub(super) events: Vec<Event>,
    reader: Option<TextReader>,
    /// The text as the provider sent it, kept while it may have to be read again without calls.
    raw_text: String,
    /// Events of calls in the text, and all after them, until it is certain that no native call comes.
    held: Option<Vec<Event>>,
    /// Calls in the text are not read: native ones came.
    plain: bool,
    content: String,
    reasoning: String,
    /// Reasoning that came in a field of its own.
    fielded: String,
    pub(super) calls: Calls,
    /// The first slot that was not announced yet.
    next: usize,
    announced: usize,
    /// The index of each call that the engine found in the text.
    text_calls: Vec<usize>,
    used_ids: Vec<String>,
    settled: Vec<Option<ToolCall<'static>>>,
    finals: Vec<Option<usize>>,
    pub(super) finish: Option<Finish>,
    /// The provider said that nothing follows.
    pub(super) done: bool,
    /// A call that is the last thing of an answer cut by length is incomplete, whatever it looks like: the provider
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
    pub(super) fn new(reading: &Reading, listen: bool) -> Self {
        let policy = &reading.options.policy;
        Self {
            calls: Calls::new(policy.max_calls, policy.max_depth, policy.max_arguments_bytes),
            reading: reading.clone(),
            listen,
            events: Vec::new(),
            reader: None,
            raw_text: String::new(),
            held: None,
            plain: false,
            content: String::new(),
            reasoning: String::new(),
            fielded: String::new(),
            next: 0,
            announced: 0,
            text_calls: Vec::new(),
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

    /// A piece of the content.
    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.last_is_call = false;
        if self.reading.dialects.is_none() {
            self.content.push_str(text);
            return self.event(|| Event::Text(text.to_owned()));
        }
        if !self.plain {
            self.raw_text.push_str(text);
        }
        let mut events = Vec::new();
        let reader = self.reader.get_or_insert_with(|| TextReader::new(&self.reading, !self.plain));
        reader.feed(text, &mut events);
        self.take(events);
    }

    /// Takes the engine's events: text is passed on, calls are held until it is certain that they count.
    fn take(&mut self, events: Vec<Event>) {
        for event in events {
            // Read without calls, the engine reports each as beyond its limit; that is no news.
            if self.plain && matches!(event, Event::Issue(_)) {
                continue;
            }
            if self.held.is_none() && matches!(event, Event::CallStarted { .. }) {
                // Who names a dialect says that the model calls in text: those calls count at once, beside native ones.
                if self.reading.hold() {
                    if self.native() {
                        return self.reread();
                    }
                    self.held = Some(Vec::new());
                }
            }
            match &mut self.held {
                Some(held) => held.push(event),
                None => self.pass(event),
            }
        }
    }

    fn pass(&mut self, mut event: Event) {
        // The engine counts its own calls; here they stand among the provider's.
        match &mut event {
            Event::CallStarted { index, .. } => {
                self.text_calls.push(self.announced);
                *index = self.announced;
                self.announced += 1;
            }
            Event::Arguments { index, .. } | Event::CallEnded { index, .. } => {
                *index = self.text_calls.get(*index).copied().unwrap_or(*index);
            }
            _ => {}
        }
        match &event {
            Event::Text(text) => self.content.push_str(text),
            Event::Reasoning(text) => self.reasoning.push_str(text),
            Event::Reclassified => {
                let content = std::mem::take(&mut self.content);
                self.reasoning.push_str(&content);
            }
            Event::CallEnded { call, index } => {
                if self.settled.len() <= *index {
                    self.settled.resize(index + 1, None);
                }
                if let Some(place) = self.settled.get_mut(*index) {
                    *place = Some((**call).clone());
                }
            }
            Event::Issue(issue) => self.issues.push(issue.clone()),
            Event::CallStarted { .. } | Event::Arguments { .. } => {}
        }
        if self.listen {
            self.events.push(event);
        }
    }

    /// Native calls came, so those in the text are text: what was held back is read again without calls.
    fn reread(&mut self) {
        self.plain = true;
        self.held = None;
        let raw = std::mem::take(&mut self.raw_text);
        let mut events = Vec::new();
        let mut reader = TextReader::new(&self.reading, false);
        reader.feed(&raw, &mut events);
        self.reader = Some(reader);
        let (mut content, mut reasoning) = (String::new(), String::new());
        for event in events {
            match event {
                Event::Text(piece) => content.push_str(&piece),
                Event::Reasoning(piece) => reasoning.push_str(&piece),
                Event::Reclassified => reasoning.push_str(&std::mem::take(&mut content)),
                _ => {}
            }
        }
        // What was passed on before the first call is the same in both readings.
        let engine_reasoning = self.reasoning.len().saturating_sub(self.fielded.len());
        let rest = |text: &str, known: usize| text.get(known..).filter(|rest| !rest.is_empty()).map(str::to_owned);
        let (content, reasoning) = (rest(&content, self.content.len()), rest(&reasoning, engine_reasoning));
        if let Some(text) = content {
            self.pass(Event::Text(text));
        }
        if let Some(text) = reasoning {
            self.pass(Event::Reasoning(text));
        }
    }

    /// A piece of reasoning from a field of its own.
    pub(super) fn reasoning(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.last_is_call = false;
        self.fielded.push_str(text);
        self.reasoning.push_str(text);
        self.event(|| Event::Reasoning(text.to_owned()));
    }

    /// There is a gap between two pieces of reasoning.
    pub(super) fn reasoning_break(&mut self) {
        if !self.fielded.is_empty() && !self.fielded.ends_with("\n\n") {
            self.reasoning("\n\n");
        }
    }

    /// All of the content once more: what is new of it.
    pub(super) fn text_snapshot(&mut self, text: &str) {
        let known =
            if self.reading.dialects.is_some() && !self.plain { self.raw_text.as_str() } else { self.content.as_str() };
        if let Some(rest) = text.strip_prefix(known) {
            let rest = rest.to_owned();
            self.text(&rest);
        }
    }

    fn native(&self) -> bool {
        !self.calls.slots.is_empty()
    }

    fn came(&mut self) {
        self.last_is_call = true;
        if self.held.is_some() {
            self.reread();
        }
    }

    /// A piece of a native call, keyed as well as the provider knows how. Returns its slot.
    pub(super) fn call(&mut self, piece: CallPiece<'_>) -> Option<usize> {
        let tools = self.reading.tools.clone();
        let at = self.calls.piece(piece, |first, second| joined(tools.as_deref()?, first, second))?;
        self.came();
        self.pump(Some(at));
        Some(at)
    }

    /// A native call that is announced as a new one; its pieces come by [`Assembly::arguments`].
    pub(super) fn call_start(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = self.calls.start(index, id, name)?;
        self.came();
        Some(at)
    }

    pub(super) fn arguments(&mut self, at: usize, piece: &str) {
        self.last_is_call = true;
        self.calls.append(at, piece);
        self.pump(Some(at));
    }

    /// Nothing follows for the call at `at`.
    pub(super) fn call_end(&mut self, at: usize) {
        if let Some(slot) = self.calls.slots.get_mut(at) {
            slot.ended = true;
        }
        self.pump(Some(at));
    }

    /// Announces and sends what is certain.
    fn pump(&mut self, touched: Option<usize>) {
        if !self.listen {
            return;
        }
        while let Some(slot) = self.calls.slots.get(self.next) {
            let ready = !slot.name.is_empty()
                && !slot.id.is_empty()
                && slot.twin.is_none()
                && !slot.custom
                && !slot.ambiguous()
                && slot.text.trim_start().starts_with('{')
                && !settle::is_parallel(&slot.name, self.reading.tools.as_deref());
            if ready {
                self.announce(self.next);
            } else if slot.ended {
                self.end(self.next, false);
            } else {
                break;
            }
            self.next += 1;
        }
        if let Some(at) = touched {
            self.send(at);
            let Some(slot) = self.calls.slots.get(at) else { return };
            if slot.ended && slot.started.is_some() {
                self.end(at, false);
            }
        }
    }

    /// Gives the call its event index and its final id.
    fn announce(&mut self, at: usize) -> Option<usize> {
        let slot = self.calls.slots.get_mut(at)?;
        if let Some(index) = slot.started {
            return Some(index);
        }
        if slot.id.is_empty() {
            slot.id = new_call_id();
        } else if self.used_ids.contains(&slot.id) {
            let id = new_call_id();
            self.issues.push(Issue::of(
                IssueCode::ProviderField,
                format!("/tool_calls/{}", self.announced),
                format!("two calls have the id `{}`; this one became `{id}`", slot.id),
            ));
            slot.id = id;
        }
        self.used_ids.push(slot.id.clone());
        let index = self.announced;
        self.announced += 1;
        slot.started = Some(index);
        if self.listen {
            let name = settle::name(&slot.name, self.reading.tools.as_deref()).name;
            self.events.push(Event::CallStarted { index, id: slot.id.clone(), name });
        }
        self.send(at);
        Some(index)
    }

    fn send(&mut self, at: usize) {
        let Some(slot) = self.calls.slots.get_mut(at) else { return };
        let Some(index) = slot.started else { return };
        if !self.listen || slot.custom || slot.ambiguous() || !slot.text.trim_start().starts_with('{') {
            return;
        }
        let until = slot.scanner.position();
        if let Some(text) = slot.text.get(slot.sent..until).filter(|text| !text.is_empty()) {
            self.events.push(Event::Arguments { index, text: text.to_owned() });
            slot.sent = until;
        }
    }

    /// Nothing follows for this call: settles it, once.
    fn end(&mut self, at: usize, cut: bool) {
        if self.finals.len() <= at {
            self.finals.resize(at + 1, None);
        }
        if self.finals.get(at).copied().flatten().is_some() {
            return;
        }
        let Some(slot) = self.calls.slots.get_mut(at) else { return };
        slot.close();
        if let Some(twin) = slot.twin.take() {
            let same = |other: &super::calls::Slot, slot: &super::calls::Slot| {
                other.name == slot.name && other.text.trim() == slot.text.trim()
            };
            let (slot, twin_slot) = (self.calls.slots.get(at), self.calls.slots.get(twin));
            if let (Some(slot), Some(other)) = (slot, twin_slot) {
                if same(other, slot) {
                    self.finals[at] = self.finals.get(twin).copied().flatten();
                    self.issues.push(Issue::of(
                        IssueCode::ProviderField,
                        format!("/tool_calls/{at}"),
                        format!("the call `{}` came twice with the same id; it is kept once", slot.id),
                    ));
                    return;
                }
            }
        }
        let Some(slot) = self.calls.slots.get(at) else { return };
        if slot.name.is_empty() && slot.id.is_empty() && slot.text.trim().is_empty() {
            return;
        }
        let parallel = settle::is_parallel(&slot.name, self.reading.tools.as_deref());
        let mut call = settle::call(slot, cut, self.reading.tools.as_deref(), &self.reading.options.policy);
        if parallel && call.status.readable() {
            if let Some(calls) = settle::expand(&call) {
                return self.expand(at, &call, calls);
            }
        }
        let announced_before = slot.started.is_some();
        let Some(index) = self.announce(at) else { return };
        let Some(slot) = self.calls.slots.get(at) else { return };
        call.id = Cow::Owned(slot.id.clone());
        if self.listen {
            let json = call.arguments.to_json();
            let rest = if announced_before || slot.sent > 0 {
                if call.status == CallStatus::Ok { slot.text.get(slot.sent..).unwrap_or_default() } else { "" }
            } else {
                &json
            };
            if !rest.is_empty() && call.status.readable() {
                let text = rest.to_owned();
                self.events.push(Event::Arguments { index, text });
            }
        }
        self.finals[at] = Some(index);
        self.settle(index, call);
    }

    fn expand(&mut self, at: usize, wrapper: &ToolCall<'static>, calls: Vec<(String, String)>) {
        let first = self.announced;
        for (i, (name, arguments)) in calls.into_iter().enumerate() {
            let id = if i == 0 { wrapper.id.to_string() } else { format!("{}_{}", wrapper.id, i + 1) };
            let mut inner = Calls::new(1, self.reading.options.policy.max_depth, usize::MAX);
            let Some(slot_at) = inner.start(None, &id, &name) else { continue };
            inner.append(slot_at, &arguments);
            let Some(slot) = inner.slots.get_mut(slot_at) else { continue };
            slot.close();
            let call = settle::call(slot, false, self.reading.tools.as_deref(), &self.reading.options.policy);
            let index = self.announced;
            self.announced += 1;
            self.used_ids.push(id);
            self.event(|| Event::CallStarted { index, id: call.id.to_string(), name: call.name.to_string() });
            let json = call.arguments.to_json().into_owned();
            self.event(|| Event::Arguments { index, text: json });
            self.settle(index, call);
        }
        self.finals[at] = Some(first);
    }

    fn settle(&mut self, index: usize, call: ToolCall<'static>) {
        if self.settled.len() <= index {
            self.settled.resize(index + 1, None);
        }
        let issue = call_issue(index, &call);
        self.event(|| Event::CallEnded { index, call: Box::new(call.clone()) });
        if let Some(issue) = issue {
            self.issue(issue);
        }
        if let Some(place) = self.settled.get_mut(index) {
            *place = Some(call);
        }
    }

    pub(super) fn issue(&mut self, issue: Issue) {
        self.event(|| Event::Issue(issue.clone()));
        self.issues.push(issue);
    }

    /// The index in the turn's calls of the call that the provider sent as its `at`th.
    pub(super) fn index_of(&self, at: usize) -> Option<usize> {
        self.finals.get(at).copied().flatten()
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
    pub(super) fn fail(&mut self, place: &str, message: String, failed_generation: Option<&str>) {
        if let Some(text) = failed_generation.filter(|text| !text.trim().is_empty()) {
            self.failed_generation = Some(text.to_owned());
        }
        if self.error.is_none() {
            self.issue(Issue::of(IssueCode::ProviderError, place, message.clone()));
            self.error = Some(message);
        }
    }

    /// The field at `place` is not what it should be.
    pub(super) fn odd(&mut self, place: impl Into<String>, node: &Node<'_>, expected: &str) {
        let message = format!("{} where {expected} should be; it was left out", node.kind());
        self.issue(Issue::of(IssueCode::ProviderField, place, message));
    }

    /// All native calls are over; `cut` if the answer is.
    pub(super) fn end_calls(&mut self) {
        let reason = self.finish.as_ref().and_then(|finish| finish.reason);
        let length = reason == Some(StopReason::Length);
        let broken = self.error.is_some() || length || (self.finish.is_none() && !self.done);
        let count = self.calls.slots.len();
        for at in 0..count {
            let last = at + 1 == count;
            let empty = self.calls.slots.get(at).is_some_and(|slot| slot.text.trim().is_empty() && !slot.ended);
            let cut = last && ((empty && broken) || (self.objects && length && self.last_is_call));
            self.end(at, cut);
            self.next = self.next.max(at + 1);
        }
    }

    /// The whole turn. The events of what was still open are in [`Assembly::events`].
    pub(super) fn turn(&mut self) -> Turn<'static> {
        self.end_calls();
        if self.calls.overflow {
            self.issue(Issue::of(IssueCode::LimitReached, "", "more calls than the limit; the rest were left out"));
        }
        let mut dialect = None;
        let mut source = if self.native() && !self.settled.is_empty() { Source::Native } else { Source::None };
        if let Some(reader) = self.reader.take() {
            let mut events = Vec::new();
            let turn = reader.finish(&mut events);
            self.take(events);
            dialect = turn.dialect;
            for event in self.held.take().unwrap_or_default() {
                self.pass(event);
            }
        }
        let found = |calls: &[Option<ToolCall<'static>>]| calls.iter().any(Option::is_some);
        if source == Source::None && found(&self.settled) {
            source = Source::Text;
        }
        if source == Source::None {
            dialect = self.rescue(&mut source).or(dialect);
        }
        let calls: Vec<_> = self.settled.drain(..).flatten().collect();
        let stop_reason = self.stop(&calls, source);
        Turn {
            content: Cow::Owned(std::mem::take(&mut self.content)),
            reasoning: Cow::Owned(std::mem::take(&mut self.reasoning)),
            tool_calls: calls,
            stop_reason,
            usage: self.usage.take(),
            source,
            dialect,
            issues: std::mem::take(&mut self.issues),
            provider_state: None,
        }
    }

    /// Without any call so far: one in reasoning that came instead of an answer, or in what an error body quotes.
    fn rescue(&mut self, source: &mut Source) -> Option<Cow<'static, str>> {
        self.reading.dialects.as_ref()?;
        let unanswered = self.content.trim().is_empty();
        let readable = match self.reading.options.policy.reasoning {
            ReasoningCalls::Run => true,
            ReasoningCalls::IfUnclosed => unanswered,
            ReasoningCalls::Ignore => false,
        };
        let quoted = self.failed_generation.take();
        let (text, from) = match quoted {
            Some(text) => (text, Source::FailedGeneration),
            None if readable && !self.fielded.trim().is_empty() => (self.fielded.clone(), Source::Reasoning),
            None => return None,
        };
        let mut events = Vec::new();
        let turn = match from {
            Source::FailedGeneration => text::read_quoted(&text, &self.reading, &mut events),
            _ => text::read(&text, &self.reading, &mut events),
        };
        if turn.tool_calls.is_empty() {
            if from == Source::FailedGeneration && unanswered {
                self.pass(Event::Text(text));
            }
            return None;
        }
        *source = from;
        for event in events {
            let keep = match &event {
                Event::Text(_) | Event::Reasoning(_) | Event::Reclassified => from == Source::FailedGeneration,
                _ => true,
            };
            if keep {
                self.pass(event);
            }
        }
        turn.dialect
    }

    fn stop(&mut self, calls: &[ToolCall<'static>], source: Source) -> StopReason {
        let raw = self.finish.take();
        let said = raw.as_ref().and_then(|finish| finish.reason);
        let found = if calls.is_empty() { StopReason::Stop } else { StopReason::ToolCalls };
        if self.error.is_some() && source != Source::FailedGeneration {
            return StopReason::Error;
        }
        if self.refused {
            return StopReason::Refusal;
        }
        let reason = match said {
            Some(
                reason @ (StopReason::Length | StopReason::ContentFilter | StopReason::Refusal | StopReason::Pause),
            ) => reason,
            Some(StopReason::Error) if calls.is_empty() => StopReason::Error,
            _ if self.paused && calls.is_empty() => StopReason::Pause,
            _ if calls.last().is_some_and(|call| call.status == CallStatus::Incomplete) => StopReason::Length,
            _ => found,
        };
        let raw = raw.map(|finish| finish.raw).unwrap_or_default();
        let contradicts = match said {
            Some(said) => said != reason,
            None => !raw.is_empty() || !self.done,
        };
        if contradicts && source != Source::FailedGeneration {
            let message = if raw.is_empty() {
                format!("the answer ends without a stop reason; it is taken for `{}`", reason.as_str())
            } else {
                format!("the provider says `{raw}`; what is there means `{}`", reason.as_str())
            };
            self.issue(Issue::of(IssueCode::StopReason, "", message));
        }
        reason
    }
}

/// Without an offered tool of either name there is nothing to go by.
fn joined(tools: &ToolSet, first: &str, second: &str) -> Option<bool> {
    let offered = |name: &str| matches!(tools.resolve(name), Resolution::Exact(_));
    let whole = format!("{first}{second}");
    if offered(&whole) {
        Some(true)
    } else if offered(first) || offered(second) {
        Some(false)
    } else {
        None
    }
}

fn call_issue(index: usize, call: &ToolCall<'_>) -> Option<Issue> {
    let place = format!("/tool_calls/{index}");
    let name = &call.name;
    let (code, message) = match call.status {
        CallStatus::Ok | CallStatus::Repaired => return None,
        CallStatus::Invalid => {
            (IssueCode::InvalidArguments, format!("the arguments of `{name}` do not fit its schema"))
        }
        CallStatus::Malformed => (IssueCode::MalformedCall, format!("the arguments of `{name}` are no JSON")),
        CallStatus::Incomplete => (IssueCode::IncompleteCall, format!("the call of `{name}` is cut off")),
        CallStatus::UnknownTool => (IssueCode::UnknownTool, format!("no tool `{name}` is offered")),
    };
    Some(Issue::of(code, place, message))
}
