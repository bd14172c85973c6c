//! Chunks of a streamed answer in, events out, a turn at the end.
use super::framing::{Frame, Splitter};
use super::halves::Halves;
use super::helpers::chunk_of;
use super::node::mend_surrogates;
use super::reader::Reader;
use super::{Node, Provider, Reading, detect, errors, first};
use crate::error::Error;
use crate::turn::{Event, Issue, IssueCode, Turn};

/// Reads a provider's stream: parsed chunks, or the bytes of its SSE or NDJSON, cut anywhere.
///
/// ```
/// use toolglot::provider::{Provider, Reading, StreamNormalizer};
///
/// let mut stream = StreamNormalizer::new(Some(Provider::OpenAi), &Reading::default());
/// let mut events = Vec::new();
/// stream.feed_bytes(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"conte", &mut events);
/// stream.feed_bytes(b"nt\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", &mut events);
/// let turn = stream.finish(&mut events).unwrap();
/// assert_eq!(turn.content, "Hi");
/// ```
#[derive(Debug)]
pub struct StreamNormalizer {
    reading: Reading,
    /// There is none before the wire format is known.
    reader: Option<Reader>,
    splitter: Splitter,
    halves: Halves,
    /// Payloads that said nothing of their provider, until one does.
    waiting: Vec<(String, Node<'static>)>,
    issues: Vec<Issue>,
}

const TOO_LONG: &str = "a frame of the stream was too long to be read; nothing behind it was";

const HALF: &str = "half a character came without its other half: U+FFFD stands for it";

/// So many payloads may come before the first that shows the wire format.
const MAX_WAITING: usize = 64;

impl StreamNormalizer {
    /// A reader of one answer. `provider` `None` detects the wire format by the first chunk that shows it.
    pub fn new(provider: Option<Provider>, reading: &Reading) -> Self {
        Self {
            reading: reading.clone(),
            reader: provider.map(|provider| Reader::new(provider, reading, true)),
            splitter: Splitter::default(),
            halves: Halves::default(),
            waiting: Vec::new(),
            issues: Vec::new(),
        }
    }

    /// The wire format, once it is known.
    pub fn provider(&self) -> Option<Provider> {
        self.reader.as_ref().map(|reader| reader.provider)
    }

    /// The call that the events have under `index` was found in the text, where the model itself may have written its id.
    pub fn in_text(&self, index: usize) -> bool {
        self.reader.as_ref().is_some_and(|reader| reader.in_text(index))
    }

    /// Takes bytes as they come from the connection.
    pub fn feed_bytes(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.feed(bytes, &mut |frame| self.frame(frame));
        self.splitter = splitter;
        self.drain(events);
    }

    /// Takes one parsed chunk.
    pub fn feed_node(&mut self, chunk: &Node<'_>, events: &mut Vec<Event>) {
        self.node("", chunk);
        self.drain(events);
    }

    /// Takes one chunk as JSON text, without any framing.
    pub fn feed_json(&mut self, chunk: &[u8], events: &mut Vec<Event>) {
        self.frame(Frame::Data { event: "", data: chunk });
        self.drain(events);
    }

    /// Parses a payload of a frame that was cut out elsewhere; `None`, and an issue, if it is no JSON.
    pub(crate) fn parse_frame<'d>(&mut self, data: &'d [u8]) -> Option<Node<'d>> {
        match self.payload(data) {
            Ok(node) => Some(node),
            Err(error) => {
                self.not_json(data, &error);
                None
            }
        }
    }

    /// Takes a parsed payload and the name of its SSE event.
    pub(crate) fn feed_frame(&mut self, event: &str, node: &Node<'_>, events: &mut Vec<Event>) {
        self.node(event, node);
        self.drain(events);
    }

    /// The provider said that nothing follows.
    pub(crate) fn feed_done(&mut self, events: &mut Vec<Event>) {
        self.frame(Frame::Done);
        self.drain(events);
    }

    /// The provider named a reason why the answer ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.reader
            .as_ref()
            .is_some_and(|reader| reader.choices.first().is_some_and(|choice| choice.out.finish.is_some()))
    }

    /// So many calls were announced so far.
    pub(crate) fn announced(&self) -> usize {
        self.reader.as_ref().and_then(|reader| reader.choices.first()).map_or(0, |choice| choice.out.announced())
    }

    /// The error that the provider reported, unless it quotes an answer that can be read.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.reader.as_ref().and_then(Reader::failure)
    }

    /// What was held back of the text that was read again without its calls, when that was done: it is told later.
    pub(crate) fn reread_tail(&self) -> &str {
        self.reader.as_ref().map_or("", Reader::reread_tail)
    }

    fn drain(&mut self, events: &mut Vec<Event>) {
        if let Some(reader) = &mut self.reader {
            reader.take_events(false, events);
        }
    }

    fn frame(&mut self, frame: Frame<'_>) {
        match frame {
            Frame::Done => {
                if let Some(reader) = &mut self.reader {
                    reader.done();
                }
            }
            Frame::Comment(_) => {}
            Frame::Data { event, data } => match self.payload(data) {
                Ok(node) => self.node(event, &node),
                Err(error) => self.not_json(data, &error),
            },
        }
    }

    fn not_json(&mut self, data: &[u8], error: &serde_json::Error) {
        let shown: String = String::from_utf8_lossy(data.get(..100).unwrap_or(data)).into_owned();
        let message = format!("a chunk that is no JSON was left out ({error}): {shown}");
        self.note(Issue::of(IssueCode::ProviderField, "", message));
    }

    /// Parses a chunk; of a character that was cut in two, its halves are joined.
    fn payload<'d>(&mut self, data: &'d [u8]) -> Result<Node<'d>, serde_json::Error> {
        let Ok(text) = std::str::from_utf8(data) else {
            // The chunk says more than the one character that is broken.
            let node = Node::payload(String::from_utf8_lossy(data).as_bytes())?.into_owned();
            self.note(Issue::of(IssueCode::InvalidUtf8, "", "bytes of a chunk that are no UTF-8 were replaced"));
            return Ok(node);
        };
        if let Some(node) = super::parse::parse(text, true) {
            return Ok(node);
        }
        if mend_surrogates(text).is_none() {
            return Node::payload(data);
        }
        let joined = self.halves.join(text);
        if joined.lost {
            self.note(Issue::of(IssueCode::InvalidUtf8, "", HALF));
        }
        Ok(Node::payload(joined.text.as_bytes())?.into_owned())
    }

    fn note(&mut self, issue: Issue) {
        match &mut self.reader {
            Some(reader) => match reader.choices.first_mut() {
                Some(choice) => choice.out.issue(issue),
                None => reader.issues.push(issue),
            },
            None => self.issues.push(issue),
        }
    }

    fn node(&mut self, event: &str, node: &Node<'_>) {
        // Some servers send a list of chunks in one event.
        if let Node::Array(items) = node {
            return items.iter().for_each(|item| self.node(event, item));
        }
        let Some(node) = chunk_of(node, self.provider()) else { return };
        if self.reader.is_none() {
            let Some(provider) = detect(node) else {
                if self.waiting.len() < MAX_WAITING {
                    self.waiting.push((event.to_owned(), node.clone().into_owned()));
                }
                return;
            };
            self.reader = Some(self.begun(provider));
        }
        if let Some(reader) = &mut self.reader {
            reader.chunk(event, node);
        }
    }

    /// A reader for `provider`, with what came before it was known.
    fn begun(&mut self, provider: Provider) -> Reader {
        let mut reader = Reader::new(provider, &self.reading, true);
        reader.issues.append(&mut self.issues);
        for (event, node) in self.waiting.drain(..) {
            reader.chunk(&event, &node);
        }
        reader
    }

    /// The end of the stream: the turn of the first choice. Events of what was still open are appended.
    ///
    /// # Errors
    /// [`crate::ErrorCode::ProviderError`] if there was no answer at all: nothing, HTML, an error and nothing else.
    pub fn finish(self, events: &mut Vec<Event>) -> Result<Turn<'static>, Error> {
        first(self.finish_choices(events)?)
    }

    /// As [`StreamNormalizer::finish`], with the turns of all choices (`n > 1`).
    ///
    /// # Errors
    /// As [`StreamNormalizer::finish`].
    pub fn finish_choices(mut self, events: &mut Vec<Event>) -> Result<Vec<Turn<'static>>, Error> {
        let mut splitter = std::mem::take(&mut self.splitter);
        let rest = splitter.finish(&mut |frame| self.frame(frame));
        if splitter.overflowed() {
            self.note(Issue::of(IssueCode::LimitReached, "", TOO_LONG));
        }
        if self.halves.is_open() {
            self.note(Issue::of(IssueCode::InvalidUtf8, "", HALF));
        }
        if !rest.is_empty() {
            if self.reader.as_ref().is_none_or(|reader| reader.choices.is_empty()) {
                // No stream at all: an error page, or an error body in place of a stream.
                let body = errors::parse(&rest, self.provider())?;
                self.node("", &body);
            } else {
                let shown: String = String::from_utf8_lossy(rest.get(..100).unwrap_or(&rest)).into_owned();
                let message = format!("the stream ends inside a chunk: {shown}");
                self.note(Issue::of(IssueCode::ProviderField, "", message));
            }
        }
        let mut reader = match self.reader.take() {
            Some(reader) => reader,
            None if splitter.overflowed() => return Err(errors::error(None, "", TOO_LONG)),
            None if self.waiting.is_empty() => return Err(errors::no_answer(None, None)),
            None => self.begun(Provider::OpenAi),
        };
        let turns = reader.finish();
        reader.take_events(true, events);
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::CallStatus;

    fn chunk(delta: &str) -> String {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
    }

    fn call(kind: &str, key: &str, first: &str) -> String {
        format!(
            "{{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"type\":\"{kind}\",\"{kind}\":{{\"name\":\"write\",\"{key}\":\"{first}\"}}}}]}}"
        )
    }

    /// A call's arguments are not put together across a frame that was too long to be read.
    #[test]
    fn a_call_with_a_hole_is_incomplete() {
        for (kind, key, pieces) in
            [("function", "arguments", ["{\\\"text\\\":\\\"a", "b", "c\\\"}"]), ("custom", "input", ["a", "b", "c"])]
        {
            let long = pieces[1].repeat(400);
            let deltas = [pieces[0], &long, pieces[2]];
            let bytes: String = deltas.iter().map(|piece| chunk(&call(kind, key, piece))).collect();
            let end =
                "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
            for size in [1, 7, 64, 10_000] {
                let mut stream = StreamNormalizer::new(Some(Provider::OpenAi), &Reading::default());
                stream.splitter = Splitter::new(300);
                let mut events = Vec::new();
                for piece in format!("{bytes}{end}").as_bytes().chunks(size) {
                    stream.feed_bytes(piece, &mut events);
                }
                let turn = stream.finish(&mut events).expect("a turn");
                assert_eq!(turn.tool_calls.len(), 1, "{kind}, in pieces of {size}");
                assert_eq!(turn.tool_calls[0].status, CallStatus::Incomplete, "{kind}, in pieces of {size}: {turn:?}");
                assert!(turn.issues.iter().any(|issue| issue.code == IssueCode::LimitReached), "{turn:?}");
            }
        }
    }

    #[test]
    fn a_stream_of_one_frame_that_is_too_long_is_an_error() {
        let mut stream = StreamNormalizer::new(None, &Reading::default());
        stream.splitter = Splitter::new(8);
        let mut events = Vec::new();
        stream.feed_bytes(chunk("{}").as_bytes(), &mut events);
        assert!(stream.finish(&mut events).expect_err("no answer").message.contains("too long"));
    }
}
