//! What has been found so far: pieces of content and reasoning, calls, issues, and the events that tell of them.
use super::found::{Found, Piece};
use super::origin::Origin;
use super::trace::{Noted, Reason, Trace};
use super::{Mode, Note, Reader};
use crate::dialect::Dialects;
use crate::json::Member;
use crate::turn::{CallStatus, Event, Evidence, Issue, IssueCode, Repair, Source, StopReason, ToolCall, Turn};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;

/// What is to be told: an event, or the range of the input that one is of. Most are ranges, and these cost nothing until
/// somebody wants their text; an event stands elsewhere, so that what is told of is small.
#[derive(Debug, Clone)]
enum Told {
    Text(Mode, Range<usize>),
    Arguments(usize, Range<usize>),
    Event(Box<Event>),
}

/// An event that may lie in the text that was fed.
#[derive(Debug)]
pub(crate) enum Fresh<'t> {
    Text(&'t str),
    Reasoning(&'t str),
    Arguments(usize, &'t str),
    Event(Box<Event>),
}

/// What a chunk is all of: nothing else is to be told, and whoever fed it has its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    Text,
    Reasoning,
    Arguments(usize),
}

impl Whole {
    /// The event of such a chunk.
    pub(crate) fn event(self, text: String) -> Event {
        match self {
            Self::Text => Event::Text(text),
            Self::Reasoning => Event::Reasoning(text),
            Self::Arguments(index) => Event::Arguments { index, text },
        }
    }
}

impl From<Fresh<'_>> for Event {
    #[inline]
    fn from(fresh: Fresh<'_>) -> Self {
        match fresh {
            Fresh::Text(text) => Self::Text(text.to_owned()),
            Fresh::Reasoning(text) => Self::Reasoning(text.to_owned()),
            Fresh::Arguments(index, text) => Self::Arguments { index, text: text.to_owned() },
            Fresh::Event(event) => *event,
        }
    }
}

/// A call as found.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Empty where there is none yet: events have one.
    pub(crate) id: String,
    pub(crate) name: Piece,
    /// The position of the offered tool that the name means.
    pub(crate) tool: Option<u32>,
    pub(crate) arguments: Found,
    pub(crate) status: CallStatus,
    pub(crate) evidence: Evidence,
    pub(crate) repairs: Vec<Repair>,
    pub(crate) errors: Vec<crate::turn::ArgumentError>,
    pub(crate) raw: Range<usize>,
    /// What it was read by.
    pub(crate) origin: Origin,
}

impl Call {
    /// Its arguments cannot be given to anybody.
    pub(super) fn refuse(&mut self) {
        self.arguments = Found::none();
        self.errors.clear();
        if self.status != CallStatus::Incomplete {
            self.status = CallStatus::Malformed;
        }
    }

    pub(super) fn into_tool_call<'t>(self, text: &'t str) -> ToolCall<'t> {
        ToolCall {
            id: Cow::Owned(self.id),
            name: self.name.into_text(text),
            arguments: self.arguments.into_arguments(text),
            status: self.status,
            repairs: self.repairs,
            errors: self.errors,
            raw: Cow::Borrowed(text.get(self.raw.clone()).unwrap_or("")),
            freeform: false,
            evidence: Some(self.evidence),
            span: Some(self.raw),
        }
    }
}

/// No more issues are told of a text. Nobody reads as many, and each marker of a text may have one.
const MOST_ISSUES: usize = 1000;

/// How much there was at some point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    content: usize,
    reasoning: usize,
    calls: usize,
    issues: usize,
    told: usize,
    content_ends_in_space: bool,
    reasoning_end: Option<usize>,
}

impl Mark {
    /// How many calls had been found.
    pub(crate) const fn calls(self) -> usize {
        self.calls
    }

    /// There was content.
    pub(crate) const fn says_something(self) -> bool {
        self.content > 0
    }

    /// All that is to be told before the `earlier` mark is told.
    pub(super) fn tells_before(&mut self, earlier: Self) {
        self.told = self.told.saturating_sub(earlier.told);
    }
}

/// How much of the text was read behind values that are no JSON, for their ends, and turned out not to belong to them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ahead {
    read: usize,
    /// No further than this.
    furthest: usize,
}

impl Ahead {
    /// So often all the text may be read in vain. More than that no model's slips take.
    const MOST: usize = 4;

    /// So many bytes more were read, up to `limit`.
    pub(crate) fn add(&mut self, read: usize, limit: usize) {
        self.read += read;
        self.furthest = self.furthest.max(limit);
    }

    pub(crate) const fn is_too_much(self) -> bool {
        self.read > Self::MOST * self.furthest
    }
}

/// What was found so far: text, calls and issues, and what is to be told of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    streaming: bool,
    content: SmallVec<[Piece; 1]>,
    reasoning: SmallVec<[Piece; 1]>,
    pub(crate) calls: Vec<Call>,
    issues: Vec<Issue>,
    told: Vec<Told>,
    /// Pieces before these belong to a mark: later text must not grow them.
    sealed: (usize, usize),
    /// The content so far ends in white space.
    content_ends_in_space: bool,
    /// Where the reasoning ended last.
    pub(crate) reasoning_end: Option<usize>,
    /// The text ends in a call that has no name yet.
    pub(crate) cut: bool,
    /// An explicit envelope of calls has been read, which needs no offered names.
    pub(crate) enveloped: bool,
    pub(crate) ahead: Ahead,
    /// Which issue says that there are too many calls.
    full: Option<usize>,
    /// The memory of the last call's members.
    pub(crate) members: Vec<Member>,
    /// What was noticed, where somebody wants to know.
    pub(crate) trace: Trace,
}

impl Output {
    /// From here on, events are kept for those who read a stream.
    pub(crate) fn stream(&mut self) {
        self.streaming = true;
    }

    /// Somebody wants the events.
    pub(crate) fn streaming(&self) -> bool {
        self.streaming
    }

    /// Tells an event, which is made only where somebody wants it.
    pub(crate) fn event(&mut self, event: impl FnOnce() -> Event) {
        if self.streaming {
            self.told.push(Told::Event(Box::new(event())));
        }
    }

    /// A piece of a call's arguments that stands in the input.
    pub(crate) fn arguments(&mut self, index: usize, range: Range<usize>) {
        if !self.streaming || range.is_empty() {
            return;
        }
        match self.told.last_mut() {
            Some(Told::Arguments(same, told)) if *same == index && told.end == range.start => told.end = range.end,
            _ => self.told.push(Told::Arguments(index, range)),
        }
    }

    /// There are as many calls as there may be.
    pub(crate) fn is_full(&self, cx: &Reader<'_>) -> bool {
        self.calls.len() >= cx.policy.max_calls
    }

    /// As [`Self::is_full`], where a call was to begin at `at`, which is said then.
    pub(crate) fn takes_no_more(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        if self.is_full(cx) {
            self.full(at);
        }
        self.is_full(cx)
    }

    /// An issue says that there are as many calls as there may be.
    pub(crate) fn says_full(&self) -> bool {
        self.full.and_then(|i| self.issues.get(i)).is_some_and(|i| i.code == IssueCode::LimitReached)
    }

    /// There are as many calls as there may be: said once.
    pub(crate) fn full(&mut self, at: usize) {
        if !self.says_full() {
            self.full = Some(self.issues.len());
            self.issue(Issue::at(IssueCode::LimitReached, at, "more calls than max_calls: the rest stays text"));
        }
    }

    /// Records an issue, and tells it. Beyond [`MOST_ISSUES`] only that there are more is recorded.
    pub(crate) fn issue(&mut self, issue: Issue) {
        let issue = match self.issues.len() {
            0..MOST_ISSUES => issue,
            MOST_ISSUES => {
                Issue { message: "there are more issues than are told".into(), code: IssueCode::LimitReached, ..issue }
            }
            _ => return,
        };
        self.event(|| Event::Issue(issue.clone()));
        self.issues.push(issue);
    }

    /// As [`Self::issue`], at a place that may be looked at again.
    pub(crate) fn issue_once(&mut self, issue: Issue) {
        let known = |last: &Issue| last.code == issue.code && last.offset == issue.offset;
        if !self.issues.last().is_some_and(known) {
            self.issue(issue);
        }
    }

    /// Gives out the text of a range in the mode it stands in.
    pub(crate) fn text(&mut self, mode: Mode, text: &str, range: Range<usize>) {
        if self.keep_text(mode, text, range.clone()) && self.streaming {
            self.told.push(Told::Text(mode, range));
        }
    }

    /// As [`Self::text`]. If nothing else is to be told, what it is comes back, and counts as told.
    pub(crate) fn text_alone(&mut self, mode: Mode, text: &str, range: Range<usize>) -> Option<Whole> {
        if !self.told.is_empty() {
            self.text(mode, text, range);
            return None;
        }
        self.keep_text(mode, text, range).then_some(match mode {
            Mode::Content => Whole::Text,
            Mode::Reasoning => Whole::Reasoning,
        })
    }

    /// The text of a range is content or reasoning, if there is any.
    #[inline]
    fn keep_text(&mut self, mode: Mode, text: &str, range: Range<usize>) -> bool {
        let Some(last) = text.as_bytes().get(range.clone()).and_then(<[u8]>::last) else { return false };
        let (pieces, sealed) = match mode {
            Mode::Content => {
                self.content_ends_in_space = last.is_ascii_whitespace();
                (&mut self.content, self.sealed.0)
            }
            Mode::Reasoning => (&mut self.reasoning, self.sealed.1),
        };
        let open = pieces.len() > sealed;
        match pieces.last_mut() {
            Some(Piece::Span(last)) if open && last.end == range.start => last.end = range.end,
            _ => pieces.push(Piece::Span(range)),
        }
        true
    }

    /// Gives out content that stands nowhere in the text as such (the decoded `content` of an envelope).
    pub(crate) fn made_content(&mut self, made: String) {
        if made.is_empty() {
            return;
        }
        self.content_ends_in_space = made.as_bytes().last().is_some_and(u8::is_ascii_whitespace);
        self.event(|| Event::Text(made.clone()));
        self.content.push(Piece::Made(made));
    }

    /// The text that is given out next, from `at` on, begins another message: what goes before it in its `mode` ends its line.
    pub(crate) fn line_break(&mut self, mode: Mode, at: usize) {
        let (idle, pieces) = match mode {
            Mode::Content => (self.space_is_idle(mode), &mut self.content),
            // White space at the end of reasoning has not been given out.
            Mode::Reasoning => (self.reasoning.is_empty(), &mut self.reasoning),
        };
        if idle {
            return;
        }
        pieces.push(Piece::Made("\n".into()));
        if mode == Mode::Content {
            self.trace.note(at..at, Noted::Content);
        }
        self.event(|| match mode {
            Mode::Content => Event::Text("\n".into()),
            Mode::Reasoning => Event::Reasoning("\n".into()),
        });
    }

    /// The content so far is empty or ends in white space, so that more of it adds nothing.
    pub(crate) fn space_is_idle(&self, mode: Mode) -> bool {
        match mode {
            Mode::Content => self.content.is_empty() || self.content_ends_in_space,
            Mode::Reasoning => true,
        }
    }

    pub(crate) fn has_reasoning(&self) -> bool {
        !self.reasoning.is_empty()
    }

    /// There is no content and no call so far.
    pub(crate) fn says_nothing(&self) -> bool {
        self.content.is_empty() && self.calls.is_empty()
    }

    /// All content so far was reasoning.
    pub(crate) fn reclassify(&mut self, at: usize) {
        if !self.content.is_empty() {
            self.reasoning.append(&mut self.content);
            self.event(|| Event::Reclassified);
            self.content_ends_in_space = false;
            self.issue(Issue::at(
                IssueCode::Reclassified,
                at,
                "reasoning was closed that was never opened: the text before it became reasoning",
            ));
        }
    }

    /// What became content since the `mark` is reasoning, in lines of its own. None of it has been told yet.
    pub(crate) fn think_since(&mut self, mark: Mark) {
        let moved: Vec<Piece> = self.content.drain(mark.content.min(self.content.len())..).collect();
        self.content_ends_in_space = mark.content_ends_in_space;
        if moved.is_empty() {
            return;
        }
        let told = self.told.split_off(mark.told.min(self.told.len()));
        if let Some(Piece::Span(span)) = moved.first() {
            self.line_break(Mode::Reasoning, span.start);
        }
        self.reasoning.extend(moved);
        self.told.extend(told.into_iter().map(|told| match told {
            Told::Text(_, range) => Told::Text(Mode::Reasoning, range),
            Told::Event(event) => Told::Event(match *event {
                Event::Text(text) => Box::new(Event::Reasoning(text)),
                other => Box::new(other),
            }),
            other => other,
        }));
    }

    /// How much there is now. No text that follows grows a piece that is there already.
    pub(crate) fn mark(&mut self) -> Mark {
        self.sealed = (self.content.len(), self.reasoning.len());
        Mark {
            content: self.content.len(),
            reasoning: self.reasoning.len(),
            calls: self.calls.len(),
            issues: self.issues.len(),
            told: self.told.len(),
            content_ends_in_space: self.content_ends_in_space,
            reasoning_end: self.reasoning_end,
        }
    }

    /// Forgets everything since `mark`, for `reason`: what was read from `held`. Returns how many calls that were.
    pub(crate) fn go_back(&mut self, mark: Mark, reason: Reason, held: Range<usize>) -> usize {
        if self.trace.is_on() {
            for call in self.calls.get(mark.calls..).unwrap_or_default() {
                // One that was not over has no text of its own yet.
                let raw = if call.raw.is_empty() { held.clone() } else { call.raw.clone() };
                self.trace.note(raw, Noted::Kept(reason, call.name.clone()));
            }
        }
        let calls = self.calls.len() - mark.calls.min(self.calls.len());
        self.content.truncate(mark.content);
        self.reasoning.truncate(mark.reasoning);
        self.calls.truncate(mark.calls);
        self.issues.truncate(mark.issues);
        self.told.truncate(mark.told);
        self.content_ends_in_space = mark.content_ends_in_space;
        self.reasoning_end = mark.reasoning_end;
        calls
    }

    /// If nothing is to be told but the text of `range`, as a whole, what that is. It counts as told then.
    #[inline]
    pub(crate) fn only(&mut self, range: &Range<usize>) -> Option<Whole> {
        let whole = match self.told.as_slice() {
            [Told::Text(Mode::Content, text)] if text == range => Whole::Text,
            [Told::Text(Mode::Reasoning, text)] if text == range => Whole::Reasoning,
            [Told::Arguments(index, text)] if text == range => Whole::Arguments(*index),
            _ => return None,
        };
        self.told.clear();
        Some(whole)
    }

    /// Moves out what is to be told before `mark`, or all of it.
    pub(crate) fn release<'t>(
        &'t mut self,
        mark: Option<&mut Mark>,
        text: &'t str,
    ) -> impl ExactSizeIterator<Item = Fresh<'t>> {
        let certain = mark.map_or(self.told.len(), |mark| std::mem::take(&mut mark.told).min(self.told.len()));
        self.told.drain(..certain).map(|told| match told {
            Told::Text(Mode::Content, range) => Fresh::Text(text.get(range).unwrap_or_default()),
            Told::Text(Mode::Reasoning, range) => Fresh::Reasoning(text.get(range).unwrap_or_default()),
            Told::Arguments(index, range) => Fresh::Arguments(index, text.get(range).unwrap_or_default()),
            Told::Event(event) => Fresh::Event(event),
        })
    }

    /// The pieces of content and reasoning, and what was noticed.
    pub(crate) fn into_parts(self) -> (Vec<Piece>, Vec<Piece>, Vec<Note>) {
        (self.content.into_vec(), self.reasoning.into_vec(), self.trace.into_notes())
    }

    /// A call ended: tells of it.
    pub(crate) fn ended(&mut self, index: usize, text: &str) {
        if self.streaming
            && let Some(call) = self.calls.get(index)
        {
            let call = Box::new(call.clone().into_tool_call(text).into_owned());
            self.told.push(Told::Event(Box::new(Event::CallEnded { index, call })));
        }
    }

    /// None of the calls from `first` on is one to run, and nothing was told of their ends yet.
    pub(crate) fn refuse_since(&mut self, first: usize, text: &str) {
        for told in &mut self.told {
            if let Told::Event(event) = told
                && let Event::CallEnded { index, call } = &mut **event
                && *index >= first
                && call.status.readable()
            {
                call.status = CallStatus::Malformed;
            }
        }
        for index in first..self.calls.len() {
            let Some(call) = self.calls.get_mut(index).filter(|call| call.status.readable()) else { continue };
            call.status = CallStatus::Malformed;
            let message = format!("{}: the call stands in the record of a conversation", call.name.as_str(text));
            let at = call.raw.start;
            self.issue(Issue::at(IssueCode::MalformedCall, at, message));
        }
    }

    fn join<'t>(pieces: &[Piece], text: &'t str) -> Cow<'t, str> {
        match pieces {
            [] => Cow::Borrowed(""),
            [one] => one.get(text),
            many => Cow::Owned(many.iter().map(|p| p.get(text)).collect()),
        }
    }

    /// The turn that all of it is, of the `text` that was read.
    pub(crate) fn into_turn<'t>(self, text: &'t str, dialects: &Dialects) -> Turn<'t> {
        let (turn, calls) = self.into_calls(text, dialects);
        Turn { tool_calls: calls.into_iter().map(|call| call.into_tool_call(text)).collect(), ..turn }
    }

    /// As [`Self::into_turn`], with the calls as they were found instead of the turn's own.
    pub(crate) fn into_calls<'t>(self, text: &'t str, dialects: &Dialects) -> (Turn<'t>, Vec<Call>) {
        let dialect = self.calls.iter().find_map(|call| call.origin.dialect(dialects));
        let turn = Turn {
            content: Self::join(&self.content, text),
            reasoning: Self::join(&self.reasoning, text),
            reasoning_end: self.reasoning_end,
            stop_reason: match self.calls.last().map(|call| call.status) {
                _ if self.cut => StopReason::Length,
                Some(CallStatus::Incomplete) => StopReason::Length,
                // Also those that must not run: the model waits to be told what was wrong.
                Some(_) => StopReason::ToolCalls,
                None => StopReason::Stop,
            },
            usage: None,
            source: if self.calls.is_empty() { Source::None } else { Source::Text },
            tool_calls: Vec::new(),
            dialect: dialect.map(|dialect| dialect.name.clone()),
            issues: self.issues,
            provider_state: None,
        };
        (turn, self.calls)
    }
}
