//! The exchange: says what to send next, reads what comes back, and chooses what follows.
//!
//! Today it speaks OpenAI's Chat Completions. [`Options::tool_choice`] and [`Options::response_schema`] are given as that API
//! wants them.
use super::capability::{Capabilities, Capability, Outcome, Route};
use super::config::ModelConfig;
use super::mode::Mode;
use super::request::{Ask, correction};
use super::verdict::{Verdict, of_error, of_turn};
use crate::dialect::Dialects;
use crate::provider::{Provider, Reading, StreamNormalizer, normalize};
use crate::schema::ToolSet;
use crate::turn::{Event, Source, Turn, Usage};
use crate::{Error, ErrorCode, engine};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What the caller chooses.
#[derive(Debug, Clone)]
pub struct Options {
    /// Modes, retries and instructions.
    pub config: ModelConfig,
    /// Whether the answer must have a call.
    pub required: bool,
    /// What says so to the API.
    pub tool_choice: Option<Value>,
    /// The schema of an answer `{"toolCalls": [...], "content": "..."}`; without one, there is no mode `json_schema`.
    pub response_schema: Option<Value>,
    /// Other members of the request: `temperature`, `max_tokens`.
    pub extra: Map<String, Value>,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Policies and limits of what is read.
    pub reading: engine::Options,
    /// How many seconds all of it may take.
    pub seconds: f64,
    /// How many tokens all answers together may take.
    pub tokens: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            config: ModelConfig::default(),
            required: false,
            tool_choice: None,
            response_schema: None,
            extra: Map::new(),
            stream: false,
            reading: engine::Options::default(),
            seconds: 600.0,
            tokens: u64::MAX,
        }
    }
}

/// A request to send below the base URL. The key is the driver's.
#[derive(Debug, Clone, PartialEq)]
pub struct Send {
    /// The path below the base URL.
    pub path: &'static str,
    /// Headers, without those of authentication.
    pub headers: Vec<(&'static str, &'static str)>,
    /// The body.
    pub body: Value,
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
    /// Its status; 0 where no answer came.
    pub status: u16,
    /// Seconds from sending to the end of the answer.
    pub seconds: f64,
    /// What it cost, if the server says so.
    pub usage: Option<Usage>,
    /// What the answer was worth.
    pub verdict: Verdict,
}

/// What came out.
#[derive(Debug)]
pub struct Finished {
    /// The answer: the best there was, which need not be usable. `None` where there was none at all.
    pub turn: Option<Turn<'static>>,
    /// Why there is none.
    pub error: Option<Error>,
    /// Every request, in order.
    pub attempts: Vec<Attempt>,
    /// What the requests showed of the route, for a [`Store`](super::capability::Store).
    pub learned: Vec<(Capability, Outcome)>,
}

/// A turn is told what was wrong with it so often.
const CORRECTIONS: usize = 2;
/// The first pause before asking a server again that failed; each further one is twice as long.
const PAUSE: f64 = 0.5;
/// A server that wants longer is not waited for.
const LONGEST_PAUSE: f64 = 60.0;

/// An answer that is being read.
struct Reader {
    mode: Mode,
    started: f64,
    status: u16,
    retry_after: Option<f64>,
    body: Vec<u8>,
    stream: Option<StreamNormalizer>,
}

/// One request to a route and all that is tried until a turn is there. Times are seconds of any clock that does not go back.
pub struct Exchange {
    messages: Vec<Value>,
    tools: Arc<ToolSet>,
    options: Options,
    capabilities: Capabilities,
    modes: Vec<Mode>,
    attempts: Vec<Attempt>,
    learned: Vec<(Capability, Outcome)>,
    began: Option<f64>,
    reader: Option<Reader>,
    /// The time before which nothing is sent.
    pause: Option<f64>,
    pauses: usize,
    corrections: usize,
    /// An answer with nothing in it was asked for once more.
    again: bool,
    /// Events have reached the caller: what they said cannot be taken back.
    given: bool,
    done: bool,
    best: Option<Turn<'static>>,
    error: Option<Error>,
}

impl Exchange {
    /// An exchange of `messages`, in the form of Chat Completions.
    pub fn new(messages: Vec<Value>, tools: Arc<ToolSet>, options: Options, capabilities: Capabilities) -> Self {
        let mut modes = options.config.modes(&capabilities);
        if options.response_schema.is_none() {
            modes.retain(|mode| *mode != Mode::JsonSchema);
        }
        if modes.is_empty() {
            modes.push(Mode::Text);
        }
        modes.reverse();
        Self {
            messages,
            tools,
            options,
            capabilities,
            modes,
            attempts: Vec::new(),
            learned: Vec::new(),
            began: None,
            reader: None,
            pause: None,
            pauses: 0,
            corrections: 0,
            again: false,
            given: false,
            done: false,
            best: None,
            error: None,
        }
    }

    /// Returns what to do at `now`.
    pub fn next(&mut self, now: f64) -> Next {
        let began = *self.began.get_or_insert(now);
        if self.done {
            return Next::Done;
        }
        if let Some(until) = self.pause.filter(|until| *until > now) {
            return Next::Wait(until - now);
        }
        self.pause = None;
        let spent = now - began >= self.options.seconds;
        let Some(mode) = self.modes.last().copied().filter(|_| !spent) else { return self.stop() };
        let body = match self.body(mode) {
            Ok(body) => body,
            Err(error) => {
                self.error = Some(error);
                return self.stop();
            }
        };
        let reading = self.reading(mode);
        let stream = self.options.stream.then(|| StreamNormalizer::new(Some(Provider::OpenAi), &reading));
        self.reader = Some(Reader { mode, started: now, status: 0, retry_after: None, body: Vec::new(), stream });
        Next::Send(Send { path: "/chat/completions", headers: vec![("Content-Type", "application/json")], body })
    }

    /// Takes the status and the headers of the answer.
    pub fn answer(&mut self, status: u16, headers: &[(&str, &str)]) {
        let Some(reader) = &mut self.reader else { return };
        reader.status = status;
        let after = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("retry-after"));
        reader.retry_after = after.and_then(|(_, value)| value.trim().parse().ok()).filter(|seconds| *seconds >= 0.0);
        if !(200..300).contains(&status) {
            reader.stream = None;
        }
    }

    /// Takes bytes of the answer, and returns the events in them. In the JSON modes there are none before the end.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let Some(reader) = &mut self.reader else { return events };
        match &mut reader.stream {
            Some(stream) => stream.feed_bytes(bytes, &mut events),
            None => reader.body.extend_from_slice(bytes),
        }
        self.shown(events)
    }

    /// Takes the end of the answer, and returns the events that come with it.
    pub fn end(&mut self, now: f64) -> Vec<Event> {
        let Some(reader) = self.reader.take() else { return Vec::new() };
        let mut events = Vec::new();
        let read = match reader.stream {
            Some(stream) => stream.finish(&mut events),
            None => normalize(&reader.body, Some(Provider::OpenAi), &self.reading(reader.mode)),
        };
        let body = String::from_utf8_lossy(&reader.body);
        let (verdict, denied, turn) = match read {
            Ok(turn) => {
                let turn = if is_json(reader.mode) { out_of_envelope(turn) } else { turn };
                (of_turn(&turn, self.options.required), None, Some(turn))
            }
            Err(error) => {
                let (verdict, denied) = of_error(reader.status, &body, reader.mode);
                self.error = Some(error);
                (verdict, denied, None)
            }
        };
        let usage = turn.as_ref().and_then(|turn| turn.usage);
        self.attempts.push(Attempt {
            route: self.capabilities.route.clone(),
            mode: reader.mode,
            status: reader.status,
            seconds: now - reader.started,
            usage,
            verdict,
        });
        self.learn(reader.mode, verdict, denied, turn.as_ref());
        // Events of an answer that is not the last would be taken back: they are shown only of one that stays.
        let events = if verdict == Verdict::Usable || self.given { self.shown(events) } else { Vec::new() };
        self.follow(verdict, denied, turn, reader.retry_after, now);
        events
    }

    /// Takes that no answer came, or that it broke off.
    pub fn fail(&mut self, why: &str, now: f64) {
        let Some(reader) = self.reader.take() else { return };
        self.error = Some(Error::new(ErrorCode::ProviderError, why));
        self.attempts.push(Attempt {
            route: self.capabilities.route.clone(),
            mode: reader.mode,
            status: reader.status,
            seconds: now - reader.started,
            usage: None,
            verdict: Verdict::Broken,
        });
        self.follow(Verdict::Broken, None, None, None, now);
    }

    /// Returns what came out.
    pub fn finish(self) -> Finished {
        let error = self.error.filter(|_| self.best.is_none());
        Finished { turn: self.best, error, attempts: self.attempts, learned: self.learned }
    }

    fn stop(&mut self) -> Next {
        self.done = true;
        Next::Done
    }

    fn body(&self, mode: Mode) -> Result<Value, Error> {
        Ask {
            model: self.capabilities.route.model(),
            messages: &self.messages,
            tools: &self.tools,
            config: &self.options.config,
            dialect: self.dialect(),
            tool_choice: self.options.tool_choice.as_ref(),
            response_schema: self.options.response_schema.as_ref(),
            extra: &self.options.extra,
            stream: self.options.stream,
        }
        .body(mode)
    }

    /// The dialect that text mode is written in.
    fn dialect(&self) -> &str {
        self.options.config.dialect.as_deref().or(self.capabilities.dialect.value).unwrap_or("auto")
    }

    fn reading(&self, mode: Mode) -> Reading {
        let named = if mode == Mode::Text { Dialects::named(self.dialect()).ok() } else { None };
        Reading {
            tools: Some(self.tools.clone()),
            options: self.options.reading.clone(),
            dialects: Some(named.unwrap_or_else(Dialects::auto)),
        }
    }

    fn shown(&mut self, events: Vec<Event>) -> Vec<Event> {
        let mode = self.reader.as_ref().map(|reader| reader.mode).or_else(|| self.attempts.last().map(|a| a.mode));
        if mode.is_some_and(is_json) {
            return Vec::new();
        }
        self.given |= !events.is_empty();
        events
    }

    fn learn(&mut self, mode: Mode, verdict: Verdict, denied: Option<Capability>, turn: Option<&Turn<'_>>) {
        let mut learn = |capability, outcome| self.learned.push((capability, outcome));
        if let Some(capability) = denied {
            learn(capability, Outcome::Failure);
        }
        let Some(turn) = turn else { return };
        match mode {
            Mode::Native if turn.source == Source::Native => learn(Capability::NativeTools, Outcome::Success),
            Mode::Native if turn.source == Source::Text => learn(Capability::TextCalls, Outcome::Success),
            Mode::Native if verdict == Verdict::NoCall => {
                learn(Capability::NativeTools, Outcome::Ignored);
                learn(Capability::ToolChoice, Outcome::Ignored);
            }
            Mode::JsonSchema | Mode::JsonObject => {
                let kept = !turn.tool_calls.is_empty() || turn.source != Source::None;
                if let Some(capability) = mode.needs().filter(|_| kept) {
                    learn(capability, Outcome::Success);
                }
            }
            _ => {}
        }
    }

    fn follow(
        &mut self,
        verdict: Verdict,
        denied: Option<Capability>,
        turn: Option<Turn<'static>>,
        retry_after: Option<f64>,
        now: f64,
    ) {
        let over = self.given
            || self.attempts.len() > self.options.config.max_retries
            || self.attempts.iter().filter_map(|a| a.usage?.total_tokens).sum::<u64>() >= self.options.tokens;
        let correct = verdict == Verdict::BadCalls && self.corrections < CORRECTIONS && !over;
        if correct && let Some(turn) = &turn {
            self.corrections += 1;
            self.messages.extend(correction(turn, &self.tools));
        }
        if let Some(turn) = turn {
            let better = self.best.as_ref().is_none_or(|best| !best.needs_more_work() || turn.needs_more_work());
            if better {
                self.best = Some(turn);
            }
        }
        if over || matches!(verdict, Verdict::Usable | Verdict::Incomplete | Verdict::Denied | Verdict::BadRequest) {
            self.done = true;
            return;
        }
        match verdict {
            _ if correct => {}
            // What was denied beside the tools is left out, and the mode stays.
            Verdict::Refused if denied == Some(Capability::ToolChoice) && self.options.tool_choice.is_some() => {
                self.options.tool_choice = None;
            }
            Verdict::Refused if denied == Some(Capability::ParallelCalls) => {
                if self.options.extra.shift_remove("parallel_tool_calls").is_none() {
                    self.next_mode();
                }
            }
            Verdict::Empty | Verdict::NoAnswer if !self.again => self.again = true,
            Verdict::RateLimited | Verdict::Unavailable | Verdict::Broken => {
                let pause = retry_after.unwrap_or(PAUSE * f64::from(1_u32 << self.pauses.min(10)));
                self.pauses += 1;
                if pause > LONGEST_PAUSE {
                    self.done = true;
                }
                self.pause = Some(now + pause);
            }
            _ => self.next_mode(),
        }
    }

    fn next_mode(&mut self) {
        self.again = false;
        self.modes.pop();
        if self.modes.is_empty() {
            self.done = true;
        }
    }
}

const fn is_json(mode: Mode) -> bool {
    matches!(mode, Mode::JsonSchema | Mode::JsonObject)
}

/// Of an envelope without calls, the content is the answer.
fn out_of_envelope(mut turn: Turn<'static>) -> Turn<'static> {
    if !turn.tool_calls.is_empty() {
        return turn;
    }
    let envelope: Option<Value> = serde_json::from_str(&turn.content).ok();
    if let Some(said) = envelope.as_ref().and_then(|value| value.get("content")?.as_str()) {
        turn.content = said.to_owned().into();
    }
    turn
}
