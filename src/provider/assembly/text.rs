//! The answer's text: content, reasoning, and the calls that a server left in it.
//!
//! Native calls come first: beside them, a call in the text is text. So a call in the text counts only when the answer
//! is over. It is announced, and its arguments flow, as soon as the engine is certain of them; what waits is its end
//! (nothing may run before it counts) and the text behind it (which stands behind the call's own text if the call turns
//! out to be none).
use super::super::Reading;
use super::super::calls::{CallPiece, Extent, Piece};
use super::super::text::{self, TextReader};
use super::Assembly;
use crate::dialect::Dialects;
use crate::engine::{ReasoningCalls, StartsIn};
use crate::turn::{Event, Issue, IssueCode, Source};
use std::borrow::Cow;

/// What calls in the text are worth.
#[derive(Debug, Default)]
pub(super) enum TextCalls {
    /// None was found so far.
    #[default]
    None,
    /// Some were announced; the events behind the first one wait here, all but announcements and arguments.
    Announced(Vec<Event>),
    /// They count: the answer is over, or the caller named the dialect that the model calls in.
    Count,
    /// Native calls came: they are text. `noted`: an issue says so.
    Text { noted: bool },
}

impl Assembly {
    /// A piece of the content.
    pub(in crate::provider) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.last_is_call = false;
        if self.reading.dialects.is_none() {
            self.content.push_str(text);
            return self.event(|| Event::Text(text.to_owned()));
        }
        let calls = !matches!(self.text_calls, TextCalls::Text { .. });
        if calls {
            self.raw_text.push_str(text);
        }
        let mut events = Vec::new();
        let reader = self.reader.get_or_insert_with(|| TextReader::new(&self.reading, calls));
        reader.feed(text, &mut events);
        self.take(events);
    }

    /// Takes the engine's events.
    pub(super) fn take(&mut self, events: Vec<Event>) {
        for event in events {
            let started = matches!(event, Event::CallStarted { .. });
            match &mut self.text_calls {
                // Read without calls, the engine reports each as beyond its limit.
                TextCalls::Text { .. } => match event {
                    Event::Issue(issue) if issue.code == IssueCode::LimitReached => self.note_text(),
                    Event::Issue(_) => {}
                    event => self.pass(event),
                },
                TextCalls::None if started && self.reading.waits() => {
                    if self.native() {
                        return self.reread();
                    }
                    self.text_calls = TextCalls::Announced(Vec::new());
                    self.pass(event);
                }
                TextCalls::Announced(waiting) if !started && !matches!(event, Event::Arguments { .. }) => {
                    waiting.push(event);
                }
                _ => self.pass(event),
            }
        }
    }

    /// The answer is over, and no native call came: the calls in the text count.
    pub(super) fn count_text_calls(&mut self) {
        if let TextCalls::Announced(waiting) = &mut self.text_calls {
            let waiting = std::mem::take(waiting);
            self.text_calls = TextCalls::Count;
            for event in waiting {
                self.pass(event);
            }
        }
    }

    /// Says once that what looks like a call in the text is none.
    fn note_text(&mut self) {
        if let TextCalls::Text { noted: noted @ false } = &mut self.text_calls {
            *noted = true;
            self.issue(Issue::of(
                IssueCode::QuotedCall,
                "",
                "a call in the text is text, since there are native calls",
            ));
        }
    }

    pub(super) fn pass(&mut self, mut event: Event) {
        // The engine counts its own calls; here they stand among the provider's.
        match &mut event {
            Event::CallStarted { index, .. } => {
                self.text_indices.push(self.announced);
                *index = self.announced;
                self.announced += 1;
            }
            Event::Arguments { index, .. } | Event::CallEnded { index, .. } => {
                *index = self.text_indices.get(*index).copied().unwrap_or(*index);
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

    /// Native calls came, so those in the text are text: it is read again without calls. Those that were announced
    /// never end, and leave no trace in the turn.
    pub(super) fn reread(&mut self) {
        self.text_calls = TextCalls::Text { noted: false };
        self.withdrawn = self.text_indices.len();
        self.note_text();
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
        // The end of the text may still become a marker, and is not out yet.
        self.reread_tail = raw.strip_prefix(&content).unwrap_or_default().to_owned();
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
    pub(in crate::provider) fn reasoning(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.last_is_call = false;
        if self.reader.is_none() {
            // Who tells reasoning apart has closed it, whatever the prompt opened.
            self.reading.options.starts_in = StartsIn::Content;
        }
        self.fielded.push_str(text);
        self.reasoning.push_str(text);
        self.event(|| Event::Reasoning(text.to_owned()));
    }

    /// There is a gap between two pieces of reasoning.
    pub(in crate::provider) fn reasoning_break(&mut self) {
        if !self.fielded.is_empty() && !self.fielded.ends_with("\n\n") {
            self.reasoning("\n\n");
        }
    }

    /// All of the content once more: what is new of it.
    pub(in crate::provider) fn text_snapshot(&mut self, text: &str) {
        let known = match self.text_calls {
            _ if self.reading.dialects.is_none() => self.content.as_str(),
            TextCalls::Text { .. } => self.content.as_str(),
            _ => self.raw_text.as_str(),
        };
        if let Some(rest) = text.strip_prefix(known) {
            let rest = rest.to_owned();
            self.text(&rest);
        }
    }

    /// Without any call so far: one in reasoning that came instead of an answer, or in what an error body quotes.
    pub(super) fn rescue(&mut self, source: &mut Source) -> Option<Cow<'static, str>> {
        self.reading.dialects.as_ref()?;
        let unanswered = self.content.trim().is_empty();
        let readable = match self.reading.options.policy.reasoning {
            ReasoningCalls::Run => true,
            ReasoningCalls::IfUnclosed => unanswered,
            ReasoningCalls::Ignore => false,
        };
        if let Some(text) = self.failed_generation.take() {
            return self.rescue_quoted(text, unanswered, source);
        }
        if !readable || self.fielded.trim().is_empty() {
            return None;
        }
        let mut events = Vec::new();
        let turn = text::read(&self.fielded, &self.reading, &mut events);
        if turn.tool_calls.is_empty() {
            return None;
        }
        *source = Source::Reasoning;
        self.text_indices.clear();
        for event in events {
            // The reasoning is known already.
            if !matches!(event, Event::Text(_) | Event::Reasoning(_) | Event::Reclassified) {
                self.pass(event);
            }
        }
        turn.dialect
    }

    /// Reads what an error body quotes of the model's answer: by the reading's own dialects or by all of them, since what
    /// the server quotes need not be what the caller named; else as calls without their markers.
    fn rescue_quoted(&mut self, text: String, unanswered: bool, source: &mut Source) -> Option<Cow<'static, str>> {
        let all = Reading { dialects: Some(Dialects::auto()), ..self.reading.clone() };
        let readings = [&self.reading, &all].map(|reading| {
            let mut events = Vec::new();
            (text::read(&text, reading, &mut events), events)
        });
        let known = readings.into_iter().filter(|(turn, _)| !turn.tool_calls.is_empty());
        // Where markers are left as text, it was not read as it was written.
        let best = known.min_by_key(|(turn, _)| turn.content.trim().len());
        let quoted = text::Quoted::read(&text, &self.reading).filter(|quoted| {
            let left = quoted.before.trim().len() + quoted.behind.trim().len();
            best.as_ref().is_none_or(|(turn, _)| left < turn.content.trim().len())
        });
        let Some(quoted) = quoted else {
            let Some((turn, events)) = best else {
                if unanswered {
                    self.pass(Event::Text(text));
                }
                return None;
            };
            *source = Source::FailedGeneration;
            self.text_indices.clear();
            events.into_iter().for_each(|event| self.pass(event));
            return turn.dialect;
        };
        *source = Source::FailedGeneration;
        let prose = |text: &str| (!text.trim().is_empty()).then(|| Event::Text(text.to_owned()));
        if let Some(event) = prose(quoted.before) {
            self.pass(event);
        }
        for (number, (name, arguments)) in quoted.calls.iter().enumerate() {
            let at = self.call(CallPiece {
                id: None,
                index: u64::try_from(number).ok(),
                name: Some(name),
                arguments: Piece::Text(arguments),
                custom: false,
                extent: Extent::Entry,
            });
            if let Some(at) = at {
                self.call_end(at);
            }
        }
        self.end_calls();
        if let Some(event) = prose(quoted.behind) {
            self.pass(event);
        }
        None
    }
}
