//! A backend's stream on its way to the client: bytes in, bytes out.
use super::error::{WireCode, WireError};
use super::estimate::Cost;
use super::pass::Passing;
use super::request::Asked;
use super::sequence::Sequence;
use super::write::{self, Anthropic, Chat, End, Envelope, Responses, Writer};
use super::{BackendApi, ClientApi, Translation};
use crate::provider::{Frame, Node, Splitter, StreamNormalizer, mend_surrogates};
use crate::turn::{Event, Source, StopReason, Turn};
use std::sync::Arc;

/// The writer of the client's API.
#[derive(Debug)]
pub(super) enum AnyWriter {
    Chat(Chat),
    Responses(Responses),
    Anthropic(Anthropic),
}

impl AnyWriter {
    pub(super) fn writer(&mut self) -> &mut dyn Writer {
        match self {
            Self::Chat(writer) => writer,
            Self::Responses(writer) => writer,
            Self::Anthropic(writer) => writer,
        }
    }
}

/// One choice of the answer. Only Chat has more than one.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) index: u64,
    /// `None` once it is finished.
    pub(super) normalizer: Option<StreamNormalizer>,
    pub(super) sequence: Sequence,
    pub(super) writer: AnyWriter,
    /// The events of the chunk at hand.
    pub(super) events: Vec<Event>,
    /// What the backend says of its end, and the chunk that says it if that may be passed on as it is.
    pub(super) end: Option<(String, Option<String>)>,
}

impl Lane {
    fn new(asked: &Arc<Asked>, index: u64, writer: AnyWriter) -> Self {
        let normalizer = StreamNormalizer::new(Some(asked.backend.provider()), &asked.reading);
        Self {
            index,
            normalizer: Some(normalizer),
            sequence: Sequence::new(asked.clone()),
            writer,
            events: Vec::new(),
            end: None,
        }
    }

    /// Reads a payload; its events are in `events`.
    pub(super) fn read(&mut self, event: &str, node: &Node<'_>) {
        if let Some(normalizer) = &mut self.normalizer {
            normalizer.feed_frame(event, node, &mut self.events);
        }
    }

    /// Writes the events at hand.
    pub(super) fn write(&mut self, out: &mut String) {
        let Self { normalizer, sequence, writer, events, .. } = self;
        let in_text = |index| normalizer.as_ref().is_some_and(|normalizer| normalizer.in_text(index));
        let tail = normalizer.as_ref().map_or("", StreamNormalizer::reread_tail);
        sequence.take(events, in_text, tail, writer.writer(), out);
    }
}

/// A backend's stream on its way to the client.
///
/// Text leaves with the chunk that brought it, arguments as they are written; what waits is only what may still become a
/// marker. What goes wrong is an error in the client's API, and nothing that says that the answer is finished:
/// see `docs/wire.md`.
///
/// ```
/// # use toolglot::wire::{BackendApi, ClientApi, Options, Transcoder};
/// let transcoder = Transcoder::new(ClientApi::Anthropic, BackendApi::Chat, Options::default());
/// let request = br#"{"model": "m", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "?"}]}"#;
/// let mut stream = transcoder.request(request).unwrap().stream();
/// let mut out = Vec::new();
/// stream.feed(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n", &mut out);
/// stream.finish(&mut out);
/// let text = String::from_utf8(out).unwrap();
/// assert!(text.contains(r#""delta":{"type":"text_delta","text":"Hi"}"#));
/// assert!(text.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
/// ```
#[derive(Debug)]
pub struct Stream {
    pub(super) asked: Arc<Asked>,
    splitter: Splitter,
    pub(super) lanes: Vec<Lane>,
    pub(super) out: String,
    /// Chat's: what stands at the top of each chunk.
    pub(super) envelope: Envelope,
    /// The backend speaks the client's API: what passes on how.
    pub(super) passing: Option<Passing>,
    /// A payload came.
    pub(super) begun: bool,
    /// What came is no stream: bytes without a payload, a comment or `[DONE]`.
    strange: bool,
    /// A comment or `[DONE]` came.
    framed: bool,
    over: bool,
    turn: Option<Turn<'static>>,
    error: Option<WireError>,
}

impl Translation {
    /// What turns the backend's stream into the client's.
    pub fn stream(&self) -> Stream {
        let asked = self.asked.clone();
        let envelope = Envelope::new(&asked.model);
        let writer = match asked.client {
            ClientApi::Chat => AnyWriter::Chat(Chat::new(&envelope, 0, asked.functions)),
            ClientApi::Responses => AnyWriter::Responses(Responses::new(&asked.model)),
            ClientApi::Anthropic => AnyWriter::Anthropic(Anthropic::new(&asked.model, asked.input_tokens)),
        };
        let passing = (asked.client.as_backend() == asked.backend).then(Passing::default);
        Stream {
            splitter: Splitter::new(asked.options.max_frame),
            lanes: vec![Lane::new(&asked, 0, writer)],
            asked,
            out: String::new(),
            envelope,
            passing,
            begun: false,
            strange: false,
            framed: false,
            over: false,
            turn: None,
            error: None,
        }
    }
}

impl Stream {
    /// Takes bytes as they come from the backend, and appends those for the client.
    pub fn feed(&mut self, bytes: &[u8], into: &mut Vec<u8>) {
        if !self.over {
            let mut splitter = std::mem::take(&mut self.splitter);
            splitter.feed(bytes, &mut |frame| self.frame(frame));
            if splitter.overflowed() && !self.over {
                self.fail(WireError::backend(WireCode::BackendBadStream), None);
            }
            self.splitter = splitter;
            self.strange = !self.framed && (self.strange || !bytes.is_empty());
        }
        into.extend_from_slice(self.out.as_bytes());
        self.out.clear();
    }

    /// The backend's stream has ended: appends what was held back and the end of the client's.
    pub fn finish(&mut self, into: &mut Vec<u8>) {
        if !self.over {
            let mut splitter = std::mem::take(&mut self.splitter);
            let rest = splitter.finish(&mut |frame| self.frame(frame));
            if !rest.is_empty() && !self.begun && !self.over {
                // A body that is no stream: a whole answer, or what a proxy between says.
                self.data("", rest.trim_ascii());
            }
            self.end();
        }
        into.extend_from_slice(self.out.as_bytes());
        self.out.clear();
    }

    /// The backend's connection broke off: as [`Stream::finish`], but the answer is not whole, whatever came of it.
    pub fn abort(&mut self, into: &mut Vec<u8>) {
        if !self.over {
            self.fail(WireError::backend(WireCode::BackendDisconnected), None);
        }
        into.extend_from_slice(self.out.as_bytes());
        self.out.clear();
    }

    /// Nothing has come for a while: appends what keeps the client's connection alive, a comment or Anthropic's `ping`.
    pub fn keep_alive(&mut self, into: &mut Vec<u8>) {
        if let Some(lane) = self.lanes.first_mut().filter(|_| !self.over) {
            lane.writer.writer().keep_alive(" ping", &mut self.out);
        }
        into.extend_from_slice(self.out.as_bytes());
        self.out.clear();
    }

    /// The client's stream is over: nothing that is fed changes it any more.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The answer, once it is over; `None` if there was none.
    pub fn turn(&self) -> Option<&Turn<'static>> {
        self.turn.as_ref()
    }

    /// Why the stream ended with an error, if it did.
    pub fn error(&self) -> Option<&WireError> {
        self.error.as_ref()
    }

    fn frame(&mut self, frame: Frame<'_>) {
        if self.over {
            return;
        }
        match frame {
            Frame::Comment(comment) => {
                self.framed = true;
                let comment = String::from_utf8_lossy(comment);
                if let Some(lane) = self.lanes.first_mut() {
                    lane.writer.writer().keep_alive(&comment, &mut self.out);
                }
            }
            Frame::Done => {
                self.framed = true;
                self.strange = false;
                for lane in &mut self.lanes {
                    if let Some(normalizer) = &mut lane.normalizer {
                        normalizer.feed_done(&mut lane.events);
                    }
                    lane.write(&mut self.out);
                }
                self.end();
            }
            Frame::Data { event, data } => self.data(event, data),
        }
    }

    fn data(&mut self, event: &str, data: &[u8]) {
        let Some(first) = self.lanes.first_mut() else { return };
        let Some(node) = first.normalizer.as_mut().and_then(|normalizer| normalizer.parse_frame(data)) else { return };
        if let Node::Array(items) = &node {
            items.iter().for_each(|item| self.payload(event, None, item));
        } else {
            // Half a character is joined with its other half, or replaced: such a chunk does not go on as it came.
            let raw = std::str::from_utf8(data).ok().filter(|text| mend_surrogates(text).is_none());
            self.payload(event, raw, &node);
        }
    }

    fn payload(&mut self, event: &str, data: Option<&str>, node: &Node<'_>) {
        self.begun = true;
        if self.passing.is_some() {
            self.pass(event, data, node);
        } else if let Some(first) = self.lanes.first_mut() {
            first.read(event, node);
            first.write(&mut self.out);
        }
        let failure = self.lanes.first().and_then(|lane| lane.normalizer.as_ref()).and_then(StreamNormalizer::failure);
        if let Some(message) = failure.map(str::to_owned) {
            self.fail(WireError::backend(WireCode::BackendError), Some(message));
        } else if is_last(self.asked.backend, node) {
            self.end();
        }
    }

    /// The backend has reported an error.
    pub(super) fn has_failed(&self) -> bool {
        let reader = self.lanes.first().and_then(|lane| lane.normalizer.as_ref());
        reader.is_some_and(|reader| reader.failure().is_some())
    }

    /// The lane of a choice, begun if it is new.
    pub(super) fn lane(&mut self, index: u64) -> Option<usize> {
        /// More choices than anybody asks for.
        const MOST: usize = 128;
        if let Some(at) = self.lanes.iter().position(|lane| lane.index == index) {
            return Some(at);
        }
        if self.lanes.len() >= MOST {
            return None;
        }
        let writer = AnyWriter::Chat(Chat::new(&self.envelope, index, self.asked.functions));
        self.lanes.push(Lane::new(&self.asked, index, writer));
        Some(self.lanes.len() - 1)
    }

    /// The backend has said all.
    fn end(&mut self) {
        if self.over {
            return;
        }
        let mut ends = Vec::new();
        for lane in &mut self.lanes {
            let Some(normalizer) = lane.normalizer.take() else { continue };
            let ended = normalizer.has_ended();
            let mut events = Vec::new();
            // Which calls stand in the text has to be asked before the reader is gone.
            let known: Vec<usize> = (0..normalizer.announced()).filter(|index| normalizer.in_text(*index)).collect();
            let announced = normalizer.announced();
            let turn = normalizer.finish(&mut events);
            let native = turn.as_ref().is_ok_and(|turn| turn.source == Source::Native);
            let in_text = |index: usize| known.contains(&index) || (index >= announced && !native);
            lane.sequence.take(&mut events, in_text, "", lane.writer.writer(), &mut self.out);
            ends.push((turn, ended));
        }
        let mut turns = Vec::new();
        let several = self.lanes.len() > 1;
        for (number, (turn, ended)) in ends.into_iter().enumerate() {
            let Some(lane) = self.lanes.get_mut(number) else { continue };
            // A choice that never came, where others did.
            if turn.is_err() && several && number == 0 {
                continue;
            }
            let turn = match turn {
                Ok(turn) => turn,
                Err(error) => {
                    let code = if self.begun || !self.strange {
                        WireCode::BackendDisconnected
                    } else {
                        WireCode::BackendBadAnswer
                    };
                    return self.fail(WireError::backend(code), Some(error.to_string()));
                }
            };
            lane.sequence.finish(lane.writer.writer(), &mut self.out);
            if turn.stop_reason == StopReason::Error {
                return self.fail(WireError::backend(WireCode::BackendError), None);
            }
            let rescued = turn.source == Source::FailedGeneration;
            // An answer that nobody said the end of is whole only if its calls are.
            if !ended && !rescued && !lane.sequence.has_whole_calls() {
                return self.fail(WireError::backend(WireCode::BackendDisconnected), None);
            }
            turns.push((number, turn));
        }
        self.over = true;
        for (number, turn) in &turns {
            self.close(*number, turn);
        }
        if self.asked.client == ClientApi::Chat {
            self.end_chat(turns.first().map(|(_, turn)| turn));
        }
        self.turn = turns.into_iter().next().map(|(_, turn)| turn);
    }

    /// Writes the end of one choice.
    fn close(&mut self, number: usize, turn: &Turn<'static>) {
        let Some(lane) = self.lanes.get_mut(number) else { return };
        if self.asked.wanted.choice.is_required() && lane.sequence.written() == 0 {
            write::comment_line(" toolglot: a call was required, and none came", &mut self.out);
        }
        if lane.sequence.withheld() > 0 {
            write::comment_line(" toolglot: a call that the request does not allow was left out", &mut self.out);
        }
        let reason = lane.sequence.reason(turn);
        let said = lane.end.take();
        let same = said.as_ref().filter(|(said, _)| super::pass::means(self.asked.client, said, reason));
        if let Some((_, Some(raw))) = same {
            self.out.push_str(raw);
            return;
        }
        let said = same.map(|(said, _)| said.as_str());
        let end = End { reason, said, cost: Cost::of(turn, self.asked.input_tokens) };
        lane.writer.writer().finish(end, &mut self.out);
    }

    /// Chat's last chunks.
    fn end_chat(&mut self, turn: Option<&Turn<'static>>) {
        if let (true, Some(turn)) = (self.asked.wants_usage, turn) {
            match self.passing.as_mut().and_then(|passing| passing.usage_chunk.take()) {
                Some(chunk) => self.out.push_str(&chunk),
                None => {
                    let own = self.passing.as_mut().and_then(|passing| passing.usage.take());
                    let cost = Cost::of(turn, self.asked.input_tokens);
                    let usage = own.unwrap_or_else(|| write::chat_usage(cost).to_string());
                    self.out.push_str(&self.envelope.begin());
                    self.out.push_str(",\"choices\":[],\"usage\":");
                    self.out.push_str(&usage);
                    self.out.push_str("}\n\n");
                }
            }
        }
        self.out.push_str("data: [DONE]\n\n");
    }

    /// The stream ends with an error: text that was held back, and no word that anything is finished.
    fn fail(&mut self, mut error: WireError, detail: Option<String>) {
        self.over = true;
        for lane in &mut self.lanes {
            let Some(normalizer) = lane.normalizer.take() else { continue };
            let mut events = Vec::new();
            // Its error is the one that is written below.
            drop(normalizer.finish(&mut events));
            events.retain(|event| matches!(event, Event::Text(_) | Event::Reasoning(_)));
            if lane.sequence.is_idle() {
                lane.sequence.take(&mut events, |_| false, "", lane.writer.writer(), &mut self.out);
            }
        }
        error.detail = detail.unwrap_or_default();
        if self.asked.options.show_errors && !error.detail.is_empty() {
            error.message.clone_from(&error.detail);
        }
        if let Some(lane) = self.lanes.first_mut() {
            lane.writer.writer().fail(&error, &mut self.out);
        }
        self.error = Some(error);
    }
}

/// Nothing follows this event.
fn is_last(api: BackendApi, node: &Node<'_>) -> bool {
    match api {
        BackendApi::Chat | BackendApi::Gemini => false,
        BackendApi::Anthropic => node.text("type") == Some("message_stop"),
        BackendApi::Responses => matches!(node.text("type"), Some("response.completed" | "response.incomplete")),
    }
}
