//! The exchange: says what to send next, and reads what comes back. What follows from an answer is in `follow`.
use super::capability::{Capability, Outcome, Route};
use super::endpoint::Endpoint;
use super::mode::Mode;
use super::options::{Options, Wanted};
use super::request::{Ask, no_mode};
use super::retry_after;
use super::verdict::{Verdict, Why, of_error, of_turn};
use crate::dialect::Dialects;
use crate::provider::{Message, Reading, StreamNormalizer, normalize};
use crate::schema::ToolSet;
use crate::turn::{CallStatus, Event, Issue, IssueCode, Turn, Usage};
use crate::{Error, ErrorCode};
use serde_json::Value;
use std::sync::Arc;

/// A request to send. The key is the driver's.
#[derive(Debug, Clone, PartialEq)]
pub struct Send {
    /// Where it goes: a POST.
    pub url: String,
    /// Headers, without those of the key.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The header of the key, and what stands before the key in it.
    pub key: (&'static str, &'static str),
    /// The body.
    pub body: Value,
    /// Which of the endpoints it goes to.
    pub endpoint: usize,
    /// How the tools are offered in it.
    pub mode: Mode,
    /// How many seconds are left for it.
    pub seconds: f64,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Send this; then [`Exchange::answer`], [`Exchange::feed`] and [`Exchange::end`], or [`Exchange::fail`].
    Send(Send),
    /// Ask again after so many seconds.
    Wait(f64),
    /// It is over: [`Exchange::finish`].
    Done,
}

/// One request and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Where it was sent.
    pub route: Route,
    /// How the tools were offered.
    pub mode: Mode,
    /// Why it was sent.
    pub why: Why,
    /// Its status; 0 where no answer came.
    pub status: u16,
    /// Seconds from sending to the end of the answer.
    pub seconds: f64,
    /// What it cost, if the server says so.
    pub usage: Option<Usage>,
    /// What the answer was worth.
    pub verdict: Verdict,
    /// What the server or the network said where there is no turn.
    pub message: Option<String>,
}

/// What came out.
#[derive(Debug)]
pub struct Finished {
    /// The answer: the best there was, which need not be usable. `None` where there was none at all.
    pub turn: Option<Turn<'static>>,
    /// Why there is none, or what broke it off after events of it had been returned.
    pub error: Option<Error>,
    /// The events of the turn, where the answer was to be streamed and none of them has been returned.
    pub events: Vec<Event>,
    /// Every request, in order.
    pub attempts: Vec<Attempt>,
    /// What the requests showed of the routes, for a [`Store`](super::capability::Store).
    pub learned: Vec<(Route, Capability, Outcome)>,
}

/// No answer that can be read is longer than this; more is not kept.
const LONGEST_BODY: usize = 64 << 20;
/// So much of what a server says of an error is kept of an attempt.
const LONGEST_MESSAGE: usize = 500;

/// An answer that is being read.
struct Reader {
    mode: Mode,
    why: Why,
    started: f64,
    status: u16,
    retry_after: Option<f64>,
    body: Vec<u8>,
    stream: Option<StreamNormalizer>,
}

/// A turn of which the arguments of one call are asked for anew.
pub(super) struct Regenerated {
    pub(super) turn: Turn<'static>,
    /// The number of the call.
    pub(super) call: usize,
}

/// One request to a model and all that is tried until a turn is there. Times are seconds of any clock that does not go back.
pub struct Exchange {
    pub(super) messages: Vec<Message>,
    pub(super) tools: Arc<ToolSet>,
    pub(super) options: Options,
    pub(super) endpoints: Vec<Endpoint>,
    /// The endpoint that is asked.
    pub(super) at: usize,
    /// The modes that are left of it, the best last.
    pub(super) modes: Vec<Mode>,
    pub(super) attempts: Vec<Attempt>,
    /// How many of them were for endpoints before this one.
    pub(super) before: usize,
    learned: Vec<(Route, Capability, Outcome)>,
    began: Option<f64>,
    reader: Option<Reader>,
    /// The time before which nothing is sent.
    pub(super) pause: Option<f64>,
    pub(super) pauses: usize,
    pub(super) corrections: usize,
    /// The reason of the next request.
    pub(super) why: Why,
    /// An answer with nothing in it was asked for once more.
    pub(super) again: bool,
    pub(super) says_choice: bool,
    pub(super) says_parallel: bool,
    /// The turn whose arguments are asked for next.
    pub(super) regenerate: Option<Regenerated>,
    /// That was done once already.
    pub(super) regenerated: bool,
    /// Events have reached the caller: what they said cannot be taken back.
    pub(super) given: bool,
    /// An answer of which events have reached the caller broke off.
    broken: bool,
    pub(super) done: bool,
    pub(super) best: Option<Turn<'static>>,
    pub(super) error: Option<Error>,
}

impl Exchange {
    /// An exchange of `messages` with the first of the endpoints, and with the next where that leads to nothing.
    pub fn new(messages: Vec<Message>, tools: Arc<ToolSet>, options: Options, endpoints: Vec<Endpoint>) -> Self {
        let mut exchange = Self {
            messages,
            tools,
            options,
            endpoints,
            at: 0,
            modes: Vec::new(),
            attempts: Vec::new(),
            before: 0,
            learned: Vec::new(),
            began: None,
            reader: None,
            pause: None,
            pauses: 0,
            corrections: 0,
            why: Why::First,
            again: false,
            says_choice: true,
            says_parallel: true,
            regenerate: None,
            regenerated: false,
            given: false,
            broken: false,
            done: false,
            best: None,
            error: None,
        };
        exchange.open();
        exchange
    }

    /// Takes up the modes of the endpoint that is asked.
    pub(super) fn open(&mut self) {
        self.modes = self.endpoints.get(self.at).map(Endpoint::modes).unwrap_or_default();
        if self.tools.tools().is_empty() || self.options.tool_choice == Wanted::None {
            // Without tools there is nothing to offer in one way or another.
            self.modes.truncate(1);
        }
        self.modes.reverse();
    }

    /// Returns what to do at `now`.
    pub fn next(&mut self, now: f64) -> Next {
        let began = *self.began.get_or_insert(now);
        if self.done || self.reader.is_some() {
            return Next::Done;
        }
        let left = self.options.seconds - (now - began);
        if left <= 0.0 {
            self.done = true;
            self.error.get_or_insert_with(|| Error::new(ErrorCode::ProviderError, "the time for the answer is over"));
            return Next::Done;
        }
        if let Some(until) = self.pause.filter(|until| *until > now) {
            return Next::Wait((until - now).min(left));
        }
        self.pause = None;
        while !self.done {
            let mode = if self.regenerate.is_some() { Some(Mode::JsonSchema) } else { self.modes.last().copied() };
            let Some(mode) = mode else {
                self.next_endpoint();
                continue;
            };
            match self.body(mode) {
                Ok(body) => return self.send(mode, body, now, left),
                // The tools cannot be offered like that. If they cannot be offered at all, that is the error.
                Err(error) => match self.regenerate.take() {
                    Some(asked) => self.mend(asked.turn),
                    None => {
                        self.error = Some(error);
                        self.next_mode();
                    }
                },
            }
        }
        Next::Done
    }

    fn send(&mut self, mode: Mode, body: Value, now: f64, left: f64) -> Next {
        let Some(endpoint) = self.endpoints.get(self.at) else { return Next::Done };
        let api = endpoint.api;
        let stream = self.streams(mode);
        let reading = self.reading(mode);
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(api.headers);
        self.reader = Some(Reader {
            mode,
            why: self.why,
            started: now,
            status: 0,
            retry_after: None,
            body: Vec::new(),
            stream: stream.then(|| StreamNormalizer::new(Some(api.provider), &reading)),
        });
        Next::Send(Send {
            url: endpoint.url(stream),
            headers,
            key: api.key,
            body,
            endpoint: self.at,
            mode,
            seconds: left,
        })
    }

    /// Takes the status and the headers of the answer.
    pub fn answer(&mut self, status: u16, headers: &[(&str, &str)]) {
        let Some(reader) = &mut self.reader else { return };
        reader.status = status;
        reader.retry_after = retry_after::seconds(headers);
        if !(200..300).contains(&status) {
            reader.stream = None;
        }
    }

    /// Takes bytes of the answer, and returns the events in them. In the JSON modes there are none before the end.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let Some(reader) = &mut self.reader else { return events };
        // What a stream does not read is kept, to say what there was instead of an answer.
        if reader.body.len() < LONGEST_BODY && (reader.stream.is_none() || reader.body.len() < LONGEST_MESSAGE) {
            reader.body.extend_from_slice(bytes);
        }
        if let Some(stream) = &mut reader.stream {
            stream.feed_bytes(bytes, &mut events);
        }
        if is_json(reader.mode) {
            events.clear();
        }
        self.given |= !events.is_empty();
        events
    }

    /// Takes the end of the answer, and returns the events that come with it if there were some before. Those of an answer that has
    /// shown none are in [`Finished::events`], for another answer may yet take its place.
    pub fn end(&mut self, now: f64) -> Vec<Event> {
        let Some(mut reader) = self.reader.take() else { return Vec::new() };
        let Some(endpoint) = self.endpoints.get(self.at) else { return Vec::new() };
        let provider = endpoint.provider();
        let mut events = Vec::new();
        let read = match reader.stream.take() {
            Some(stream) => stream.finish(&mut events),
            None => normalize(&reader.body, Some(provider), &self.reading(reader.mode)),
        };
        let body = String::from_utf8_lossy(&reader.body).into_owned();
        let (verdict, denied, turn) = match read {
            Ok(turn) => {
                let turn = if is_json(reader.mode) { out_of_envelope(turn) } else { turn };
                (of_turn(&turn, &self.options.tool_choice), None, Some(turn))
            }
            Err(error) => {
                let (verdict, denied) = of_error(reader.status, &body, reader.mode);
                self.error = Some(error);
                (verdict, denied, None)
            }
        };
        let usage = turn.as_ref().and_then(|turn| turn.usage);
        let message = turn.is_none().then(|| body.chars().take(LONGEST_MESSAGE).collect());
        let (turn, verdict) = match self.regenerate.take() {
            Some(asked) => self.regenerated(asked, turn),
            None => (turn, verdict),
        };
        self.note(&reader, now, usage, verdict, message);
        self.learn(reader.mode, verdict, denied, turn.as_ref());
        self.follow(verdict, denied, turn, reader.retry_after, now);
        if !self.given || is_json(reader.mode) {
            events.clear();
        }
        events
    }

    /// Takes that no answer came, or that it broke off. What was read of one that was shown already is the turn then, beside the error.
    pub fn fail(&mut self, why: &str, now: f64) {
        let Some(mut reader) = self.reader.take() else { return };
        if let Some(stream) = reader.stream.take().filter(|_| self.given) {
            self.broken = true;
            self.best = stream.finish(&mut Vec::new()).ok();
        }
        self.error = Some(Error::new(ErrorCode::ProviderError, why));
        self.note(&reader, now, None, Verdict::Broken, Some(why.to_owned()));
        let kept = self.regenerate.take();
        if let Some(asked) = kept {
            // The turn itself is there: the model is told what is wrong with it instead.
            let verdict = of_turn(&asked.turn, &self.options.tool_choice);
            self.follow(verdict, None, Some(asked.turn), None, now);
            return;
        }
        self.follow(Verdict::Broken, None, None, None, now);
    }

    /// The requests so far, in order.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Returns what came out.
    pub fn finish(self) -> Finished {
        let error = self.error.filter(|_| self.broken || self.best.is_none());
        let shown = self.options.stream && !self.given;
        let events = self.best.as_ref().filter(|_| shown).map(events_of).unwrap_or_default();
        Finished { turn: self.best, error, events, attempts: self.attempts, learned: self.learned }
    }

    fn note(&mut self, reader: &Reader, now: f64, usage: Option<Usage>, verdict: Verdict, message: Option<String>) {
        let Some(endpoint) = self.endpoints.get(self.at) else { return };
        self.attempts.push(Attempt {
            route: endpoint.capabilities.route.clone(),
            mode: reader.mode,
            why: reader.why,
            status: reader.status,
            seconds: now - reader.started,
            usage,
            verdict,
            message,
        });
    }

    /// The turn with the arguments that were asked for anew, where they are right; else as it was.
    fn regenerated(&self, asked: Regenerated, answer: Option<Turn<'static>>) -> (Option<Turn<'static>>, Verdict) {
        let mut turn = asked.turn;
        if let (Some(answer), Some(call)) = (answer, turn.tool_calls.get_mut(asked.call)) {
            let made = self.tools.check(&call.name, answer.content.trim(), Some(call.id.to_string()));
            if made.runnable() {
                call.arguments = made.arguments;
                call.status = CallStatus::Repaired;
                call.errors = made.errors;
                call.repairs.extend(made.repairs);
            }
        }
        let verdict = of_turn(&turn, &self.options.tool_choice);
        (Some(turn), verdict)
    }

    fn streams(&self, mode: Mode) -> bool {
        // Of an answer in JSON nothing can be shown before it is whole.
        self.options.stream && self.regenerate.is_none() && !is_json(mode)
    }

    fn body(&self, mode: Mode) -> Result<Value, Error> {
        let endpoint = self.endpoints.get(self.at).ok_or_else(|| no_mode(mode))?;
        let told;
        let mut only = None;
        let messages = match &self.regenerate {
            Some(asked) => {
                only = asked.turn.tool_calls.get(asked.call).map(|call| &*call.name);
                told = [self.messages.as_slice(), &super::follow::correction(&asked.turn, &self.tools, None)].concat();
                &told
            }
            None => &self.messages,
        };
        Ask {
            endpoint,
            messages,
            tools: &self.tools,
            options: &self.options,
            says_choice: self.says_choice,
            says_parallel: self.says_parallel,
            only,
            stream: self.streams(mode),
        }
        .body(mode)
    }

    fn reading(&self, mode: Mode) -> Reading {
        let options = self.options.reading.clone();
        if self.regenerate.is_some() {
            return Reading { tools: None, options, dialects: None, entities: false };
        }
        let endpoint = self.endpoints.get(self.at);
        let dialect = endpoint.map_or("auto", Endpoint::dialect);
        let named = if mode == Mode::Text { Dialects::named(dialect).ok() } else { None };
        Reading {
            tools: Some(self.tools.clone()),
            options,
            dialects: Some(named.unwrap_or_else(Dialects::auto)),
            entities: endpoint.is_some_and(Endpoint::writes_entities),
        }
    }

    pub(super) fn learned(&mut self, capability: Capability, outcome: Outcome) {
        if let Some(endpoint) = self.endpoints.get(self.at) {
            self.learned.push((endpoint.capabilities.route.clone(), capability, outcome));
        }
    }
}

pub(super) const fn is_json(mode: Mode) -> bool {
    matches!(mode, Mode::JsonSchema | Mode::JsonObject)
}

/// Of an envelope without calls, the content is the answer. What is left of one that was cut off behind its calls is no text for
/// the user: it goes into an issue.
fn out_of_envelope(mut turn: Turn<'static>) -> Turn<'static> {
    if !turn.tool_calls.is_empty() {
        if turn.content.trim_start().starts_with(['{', '[', ',', ']', '}', '"']) {
            let rest = std::mem::take(&mut turn.content);
            let message = format!("the envelope was cut off behind its calls: {rest}");
            turn.issues.push(Issue::of(IssueCode::EnvelopeMember, "", message));
        }
        return turn;
    }
    let envelope: Option<Value> = serde_json::from_str(&turn.content).ok();
    if let Some(said) = envelope.as_ref().and_then(|value| value.get("content")?.as_str()) {
        turn.content = said.to_owned().into();
    }
    turn
}

/// The events that add up to a turn that came whole.
fn events_of(turn: &Turn<'static>) -> Vec<Event> {
    let mut events = Vec::new();
    if !turn.reasoning.is_empty() {
        events.push(Event::Reasoning(turn.reasoning.to_string()));
    }
    if !turn.content.is_empty() {
        events.push(Event::Text(turn.content.to_string()));
    }
    for (index, call) in turn.tool_calls.iter().enumerate() {
        events.push(Event::CallStarted { index, id: call.id.to_string(), name: call.name.to_string() });
        events.push(Event::Arguments { index, text: call.arguments.to_json().into_owned() });
        events.push(Event::CallEnded { index, call: Box::new(call.clone()) });
    }
    events.extend(turn.issues.iter().cloned().map(Event::Issue));
    events
}
