//! The parser of a text that arrives in pieces.
use super::memo::{Known, Memo};
use super::options::Options;
use super::output::{Fresh, Whole};
use super::prose::flow::Flown;
use super::{Engine, Reader};
use crate::dialect::Dialects;
use crate::schema::ToolSet;
use crate::turn::{Event, Issue, IssueCode, Turn};
use crate::utf8;
use std::sync::Arc;

/// What is said of bytes that are no UTF-8, the first of which stood at `at`.
pub(crate) fn replaced(at: usize) -> Issue {
    Issue::at(IssueCode::InvalidUtf8, at, "bytes that are no UTF-8 became U+FFFD")
}

/// Reads a text as it arrives.
///
/// ```
/// use toolglot::{dialect::Dialects, engine::{Options, StreamParser}, Event};
/// let mut parser = StreamParser::new(Dialects::named("hermes")?, None, Options::default());
/// let mut events = Vec::new();
/// for chunk in ["Hi <tool", "_call>{\"name\": \"f\", \"arguments\": {\"a\"", ": 1}}</tool_call>"] {
///     parser.feed(chunk, &mut events);
/// }
/// let turn = parser.finish(&mut events);
/// assert_eq!(turn.tool_calls.len(), 1);
/// assert_eq!(events[0], Event::Text("Hi ".into()));
/// # Ok::<(), toolglot::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamParser {
    text: String,
    bytes: utf8::Decoder,
    /// Where the first byte stood that is no UTF-8.
    replaced: Option<usize>,
    engine: Engine,
    dialects: Arc<Dialects>,
    tools: Option<Arc<ToolSet>>,
    options: Options,
    finished: bool,
    known: Known,
}

impl StreamParser {
    /// A parser of one text, which is empty so far.
    pub fn new(dialects: Arc<Dialects>, tools: Option<Arc<ToolSet>>, mut options: Options) -> Self {
        options.policy = options.policy.clamped();
        let mut engine = Engine::new(&options);
        engine.out.stream();
        engine.say_assumed(&dialects);
        Self {
            text: String::new(),
            bytes: utf8::Decoder::default(),
            replaced: None,
            engine,
            dialects,
            tools,
            options,
            finished: false,
            known: Known::default(),
        }
    }

    fn advance(&mut self, eof: bool) {
        let tools = self.tools.as_deref();
        let policy = &self.options.policy;
        let memo = Memo::from(self.known);
        let (text, dialects) = (&*self.text, &*self.dialects);
        self.engine.advance(&Reader { text, made: false, eof, dialects, tools, policy, memo: &memo });
        self.known = memo.known();
    }

    /// Reads on; what became certain is appended to `events`. After [`Self::finish`] nothing is read any more.
    pub fn feed(&mut self, chunk: &str, events: &mut Vec<Event>) {
        match self.read(chunk) {
            Some(whole) => events.push(whole.event(chunk.to_owned())),
            None => events.extend(self.fresh().map(Event::from)),
        }
    }

    /// [`Self::feed`] without its events: [`Self::fresh`] has them. Mostly there is one and the chunk is all of it, so that
    /// nobody has to cut it out of the text: then it is told by what this returns.
    pub(crate) fn read(&mut self, chunk: &str) -> Option<Whole> {
        if self.finished {
            return None;
        }
        self.flush_bytes();
        let at = self.text.len();
        self.text.push_str(chunk);
        match self.engine.flows(&self.text, at, &self.dialects) {
            Some(Flown::Alone(whole)) => return Some(whole),
            Some(Flown::Among) => return None,
            None => self.advance(false),
        }
        if self.engine.hold.is_some() { None } else { self.engine.out.only(&(at..self.text.len())) }
    }

    /// The events that are certain and were not given out yet.
    pub(crate) fn fresh(&mut self) -> impl ExactSizeIterator<Item = Fresh<'_>> {
        self.engine.release(&self.text)
    }

    /// As [`Self::fresh`], with all text so far.
    #[cfg(feature = "python")]
    pub(crate) fn text_and_fresh(&mut self) -> (&str, impl ExactSizeIterator<Item = Fresh<'_>>) {
        (&self.text, self.engine.release(&self.text))
    }

    /// A character that was begun in bytes will not be finished.
    fn flush_bytes(&mut self) {
        let replaced = self.bytes.flush(&mut self.text);
        self.tell_replaced(replaced);
    }

    /// Bytes that are no UTF-8 were replaced, the first at this place. That is told once a text, however it is cut.
    fn tell_replaced(&mut self, at: Option<usize>) {
        if let (Some(at), None) = (at, self.replaced) {
            self.replaced = Some(at);
            self.engine.out.issue(replaced(at));
        }
    }

    /// As [`Self::feed`], for bytes of UTF-8 cut anywhere: an unfinished character waits for its rest.
    /// What is no UTF-8 becomes U+FFFD, with an issue.
    pub fn feed_bytes(&mut self, chunk: &[u8], events: &mut Vec<Event>) {
        self.read_bytes(chunk);
        events.extend(self.fresh().map(Event::from));
    }

    /// [`Self::feed_bytes`] without its events.
    pub(crate) fn read_bytes(&mut self, chunk: &[u8]) {
        if self.finished {
            return;
        }
        let replaced = self.bytes.push(chunk, &mut self.text);
        self.tell_replaced(replaced);
        self.advance(false);
    }

    /// The end of the text. Its last events are appended to `events`. A second call gives the same turn, without events.
    pub fn finish(&mut self, events: &mut Vec<Event>) -> Turn<'static> {
        if !self.finished {
            self.flush_bytes();
            self.advance(true);
            events.extend(self.fresh().map(Event::from));
            self.finished = true;
        }
        self.engine.out.clone().into_turn(&self.text, &self.dialects).into_owned()
    }

    /// All text fed so far.
    pub fn text(&self) -> &str {
        &self.text
    }
}
