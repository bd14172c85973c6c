//! Calls written as JSON: objects that hold name and arguments, lists and envelopes of them.
use super::arguments::whole_arguments;
use super::keys::{call_key_in, decode, key_at, string_end};
use super::lenient::{self, Bound};
use super::python::Python;
use super::strings::Strings;
use super::{Progress, after};
use crate::char_class;
use crate::dialect::{Key, MarkersAt};
use crate::engine::found::{Found, Piece};
use crate::engine::measure::Rounds;
use crate::engine::output::Output;
use crate::engine::reader::floor;
use crate::engine::trace::{Noted, Reason};
use crate::engine::writer::{Record, Writer};
use crate::engine::{Look, Memo, Reader};
use crate::json::{Member, ScanError, ScanResult, Scanner, unescaped};
use crate::turn::{CallStatus, Repair, RepairCode};
use std::borrow::Cow;
use std::ops::Range;

mod between;
mod call;
mod definition;
mod frames;
mod mend;
mod object;
mod record;
mod unkeyed;
mod words;

use frames::{Envelope, Frame, Frames, Kind, Other};
use record::message_at;
use words::Words;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Expect {
    /// A value at the top, or in a list; `close` if the list may end here.
    Value {
        close: bool,
    },
    Key {
        close: bool,
    },
    /// A member's value is being scanned: what it is, and its key.
    Member {
        key: Range<usize>,
        what: Key,
    },
    /// An element that is no object is being skipped.
    Element,
    /// An element that is no JSON, but words, is being skipped.
    Words(Words),
    /// A comma or the end of the list or object.
    Next,
    /// A value at the top is over: another may follow.
    Between,
    /// What stands at `error` is no JSON, and nobody knows yet whether the object at `start` is a call.
    Broken {
        start: usize,
        error: usize,
        broke: Broke,
    },
    /// Strict reading failed at `error`: the closer or the end decides how far the repair may read.
    Lenient {
        start: usize,
        error: usize,
        searched: usize,
    },
}

/// Where an object broke off as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broke {
    InValue,
    BehindValue,
    Elsewhere,
}

/// An object that repair has read.
#[derive(Debug, Clone, Copy)]
struct Mend {
    /// How far it might have.
    limit: usize,
    /// What closes the call stands there.
    closed: bool,
    /// How many calls had begun with it.
    begun: usize,
}

/// The calls of one body, as far as they were read.
#[derive(Debug)]
pub(crate) struct JsonCalls {
    frames: Frames,
    expect: Expect,
    at: usize,
    scanner: Scanner,
    /// The arguments that were scanned last, and the members of that object.
    scanned: (Range<usize>, Vec<Member>),
    /// How far a begun call's arguments have been given out.
    sent: usize,
    max_depth: usize,
    /// Repairs of the value that was mended last, for the call that it becomes a part of.
    repairs: Vec<Repair>,
    /// Repair made a value that could have been meant otherwise: it is a guess.
    guessed: bool,
    /// Where the values before the one at the top ended, and how many calls had begun by then.
    before: Option<(usize, usize)>,
    /// The text was made by repair, of an object whose keys stand in single quotes.
    single_quoted: bool,
    /// The text was made by repair, of an object that stands in a list or an envelope.
    among: bool,
    /// The last object that was mended.
    mended: Option<Mend>,
    /// The search for the end of an object that is left to repair, as far as it got.
    strings: Option<Box<Strings>>,
    /// A brace too many stood before the object at the top, and one more may stand behind it.
    doubled: bool,
}

impl JsonCalls {
    /// A call, a list of them or an envelope may begin at `at`, with this `byte`.
    pub(super) fn plausible(cx: &Reader<'_>, at: usize, byte: u8) -> Look<()> {
        match byte {
            b'{' | b'[' => {}
            b'"' => return unopened_key(cx, at),
            _ => return Look::No,
        }
        match (byte, after(cx, at)) {
            (_, Look::More) => Look::More,
            // Another marker is no key.
            (b'{', next) if next != Look::Is(b'<') => Look::Is(()),
            // A string that begins as a call of Python's is no element of JSON's calls.
            (b'[', Look::Is(b'"')) => match Python::plausible(cx, at) {
                Look::Is(()) => Look::No,
                Look::No => Look::Is(()),
                Look::More => Look::More,
            },
            (b'[', Look::Is(b'{' | b'[' | b']')) => Look::Is(()),
            _ => Look::No,
        }
    }

    #[inline]
    pub(super) fn new(at: usize, max_depth: usize) -> Self {
        Self {
            frames: Frames::default(),
            expect: Expect::Value { close: false },
            at,
            scanner: Scanner::new(at, max_depth),
            scanned: (at..at, Vec::new()),
            sent: at,
            max_depth,
            repairs: Vec::new(),
            guessed: false,
            before: None,
            single_quoted: false,
            among: false,
            mended: None,
            strings: None,
            doubled: false,
        }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let progress = self.read(cx, out, writer);
        match progress {
            Progress::Done { .. } => self.envelope_is_left(cx, out, writer),
            // The object of the last call is not over.
            Progress::Fail { .. } => {
                let last = writer.pending.as_ref().map(|pending| pending.index);
                if last.is_some() && self.frames.iter().any(|frame| frame.index == last) {
                    writer.tear();
                }
            }
            Progress::More | Progress::Unclear { .. } => {}
        }
        progress
    }

    fn read(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let mut rounds = Rounds::new(cx.text.len());
        while rounds.another() {
            let in_list = || self.frames.last().is_some_and(|frame| frame.kind == Kind::List);
            let at = match self.expect {
                Expect::Member { .. } | Expect::Element | Expect::Words(_) => self.at,
                Expect::Broken { .. } | Expect::Lenient { .. } => self.at,
                // Between calls any blank is markup; inside one that is not JSON's, which is repaired.
                Expect::Value { .. } | Expect::Next if in_list() => cx.skip_blanks(self.at),
                _ => cx.skip_space(self.at),
            };
            let Some(byte) = cx.bytes().get(at).copied() else {
                if !cx.eof {
                    return Progress::More;
                }
                if let Some(progress) = self.cut_off(cx, out, writer) {
                    return progress;
                }
                continue;
            };
            let go_on = match self.expect {
                Expect::Value { close } => self.value(cx, out, writer, at, byte, close),
                Expect::Key { close } => self.key(cx, out, writer, at, byte, close),
                Expect::Member { ref key, what } => self.member(cx, out, writer, key.clone(), what),
                Expect::Element => self.element(cx, writer),
                Expect::Words(words) => self.words(cx, writer, words),
                Expect::Next => self.next(cx, out, writer, at, byte),
                Expect::Between => self.between(cx, writer, at, byte),
                Expect::Broken { start, error, broke } => self.is_worth_repair(cx, out, writer, (start, error), broke),
                Expect::Lenient { start, error, searched } => self.lenient(cx, out, writer, start, error, searched),
            };
            match go_on {
                Flow::On => {}
                Flow::Stop(progress) => {
                    if progress == Progress::More && cx.eof {
                        if let Some(progress) = self.cut_off(cx, out, writer) {
                            return progress;
                        }
                        continue;
                    }
                    return progress;
                }
            }
        }
        Progress::Fail { at: self.at }
    }

    fn value(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        at: usize,
        byte: u8,
        close: bool,
    ) -> Flow {
        match byte {
            b'{' | b'[' if writer.record == Record::Certain => self.skip_element(at),
            b'{' => {
                self.frames.push(Frame::new(Kind::Object, at));
                self.go(at + 1, Expect::Key { close: true })
            }
            b'[' if self.frames.len() < self.max_depth => {
                self.frames.push(Frame::new(Kind::List, at));
                // Without markers, all is given back if no name in it is offered.
                writer.in_plain_list();
                self.go(at + 1, Expect::Value { close: true })
            }
            b']' if close => self.close(cx, out, writer, at),
            b']' if self.frames.last().is_some_and(|frame| frame.kind == Kind::List) => {
                comma_too_many(writer, at);
                self.close(cx, out, writer, at)
            }
            // The brace before a key is missing: repair adds it.
            b'"' if self.frames.is_empty() && !cx.made && self.before.is_none() => self.broken(cx, at),
            _ if self.frames.is_empty() => Flow::Stop(Progress::Fail { at }),
            b'/' | b'#' => match self.comment(cx, writer, at, Expect::Value { close }) {
                Some(flow) => flow,
                None => self.skip_element(at),
            },
            _ => self.skip_element(at),
        }
    }

    fn skip_element(&mut self, at: usize) -> Flow {
        self.scanner.restart(at);
        self.go(at, Expect::Element)
    }

    fn go(&mut self, at: usize, expect: Expect) -> Flow {
        self.at = at;
        self.expect = expect;
        Flow::On
    }

    fn key(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        at: usize,
        byte: u8,
        close: bool,
    ) -> Flow {
        if byte == b'}' && (close || self.frames.last().is_some_and(|frame| frame.envelope.is_some())) {
            if !close {
                comma_too_many(writer, at);
            }
            return self.close(cx, out, writer, at);
        }
        if byte == b'{'
            && let Some(flow) = if close { self.doubled(cx, at) } else { self.unkeyed(cx, out, writer, at) }
        {
            return flow;
        }
        if byte != b'"' {
            let over = if close { None } else { self.envelope_is_over(cx, out, writer, at) };
            return over.unwrap_or_else(|| self.broken(cx, at));
        }
        let end = match string_end(cx, at) {
            Look::Is(end) => end,
            Look::More => return Flow::Stop(Progress::More),
            Look::No => return self.broken(cx, at),
        };
        let colon = cx.skip_space(end);
        let value = cx.skip_space(colon + 1);
        match cx.bytes().get(colon) {
            None => return Flow::Stop(Progress::More),
            Some(b':') => {}
            Some(_) => return self.broken(cx, colon),
        }
        let Some(first) = cx.bytes().get(value).copied() else { return Flow::Stop(Progress::More) };
        let key = at + 1..end - 1;
        let text = cx.part(&key);
        let named = match self.names_tool(cx, writer, text, value) {
            Look::Is(()) => Key::Other,
            Look::More => return Flow::Stop(Progress::More),
            Look::No if first == b'{' && self.is_request(cx, text) => Key::Function,
            Look::No => match self.wraps_call(cx, writer, text, (value, first)) {
                Look::Is(wrapped) => {
                    let own = !Key::is_of_provider(text);
                    self.frames.last_mut().into_iter().for_each(|frame| frame.wrapped = own);
                    wrapped
                }
                Look::More => return Flow::Stop(Progress::More),
                Look::No => Key::of(text),
            },
        };
        let explicit = named == Key::Calls && self.frames.len() == 1 && Key::is_envelope(text);
        if let Some(flow) = self.enter(cx, writer, named, explicit, (value, first)) {
            return flow;
        }
        let Some(frame) = self.frames.last_mut() else { return self.broken(cx, at) };
        let what = frame.member(cx, text, named, first);
        let may_define = match writer.is_unmarked() {
            true => what == Key::Arguments,
            false => first == b'{' && Key::may_be_schema(text),
        };
        match if may_define { self.definition(cx, writer, at, value) } else { Look::No } {
            Look::Is(at) if writer.is_unmarked() || writer.begun == 0 => {
                out.trace.refuse(Reason::Definition, &self.name(cx).unwrap_or_default());
                return Flow::Stop(Progress::Fail { at });
            }
            // Among calls it cannot be one of them.
            Look::Is(_) => self.frames.last_mut().into_iter().for_each(|frame| frame.ambiguous = true),
            Look::More => return Flow::Stop(Progress::More),
            Look::No => {}
        }
        self.scanner.restart(value);
        self.sent = value;
        if what == Key::Arguments {
            self.scanner.reuse(&mut out.members);
        }
        if what == Key::Arguments
            && first == b'{'
            && let Flow::Stop(progress) = self.begin(cx, out, writer)
        {
            return Flow::Stop(progress);
        }
        self.go(value, Expect::Member { key, what })
    }

    /// What the key says holds calls or a part of one stands at `value`, and its `first` byte says the same: it is read as that.
    /// `None`: it is a mere member. `explicit`: whatever it holds, the key makes an envelope of the object.
    #[inline]
    fn enter(
        &mut self,
        cx: &Reader<'_>,
        writer: &mut Writer,
        what: Key,
        explicit: bool,
        (value, first): (usize, u8),
    ) -> Option<Flow> {
        let top = self.frames.len() == 1;
        let frame = self.frames.last_mut()?;
        match (what, first) {
            (Key::Function, b'{') => {
                self.frames.push(Frame::new(Kind::Nested, value));
                return Some(self.go(value + 1, Expect::Key { close: true }));
            }
            (Key::Calls, b'[') => {
                let Some(inside) = cx.bytes().get(cx.skip_space(value + 1)) else {
                    return Some(Flow::Stop(Progress::More));
                };
                let empty = explicit && *inside == b']';
                frame.envelope = Some(if empty { Envelope::NoCalls } else { Envelope::Calls });
                self.may_be_message(writer);
                if explicit {
                    writer.in_envelope();
                } else {
                    writer.in_list();
                }
                self.frames.push(Frame::new(Kind::List, value));
                return Some(self.go(value + 1, Expect::Value { close: true }));
            }
            (Key::Calls, b'{') if explicit => {
                // One call, without the list round it.
                frame.envelope = Some(Envelope::Calls);
                writer.in_envelope();
                return Some(self.go(value, Expect::Value { close: false }));
            }
            (Key::Calls, b'n') if explicit => frame.envelope = frame.envelope.or(Some(Envelope::NoCalls)),
            (Key::NeedsMoreWork, b't' | b'f') if top => frame.envelope = frame.envelope.or(Some(Envelope::NoCalls)),
            _ => {}
        }
        None
    }

    fn member(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, key: Range<usize>, what: Key) -> Flow {
        let result = self.scanner.scan(cx.bytes(), cx.eof);
        let index = self.frames.last().and_then(|f| f.index);
        let streams = what == Key::Arguments && cx.bytes().get(self.scanner_start()) == Some(&b'{');
        let reached = match result {
            ScanResult::Complete { end } => end,
            ScanResult::Incomplete => self.scanner.certain(cx.bytes()),
            ScanResult::Error { at, kind } => {
                if kind == ScanError::TooDeep {
                    out.trace.refuse(Reason::TooDeep, "");
                }
                return self.broken(cx, at);
            }
        };
        if streams && let Some(index) = index {
            let reached = floor(cx.text, reached);
            let certain = if matches!(result, ScanResult::Incomplete) {
                lenient::certain_end(cx, self.sent, reached)
            } else {
                reached
            };
            // An empty object closes once what stands beside it is known.
            let empty = matches!(result, ScanResult::Complete { .. })
                && is_empty_object(cx.slice(self.scanner_start(), certain));
            let certain = certain - usize::from(empty);
            self.sent = writer.tell(cx, out, index, (self.scanner_start(), self.sent, certain));
        }
        let ScanResult::Complete { end } = result else { return Flow::Stop(Progress::More) };
        let value = self.scanner_start()..end;
        let Some(frame) = self.frames.last_mut() else { return self.broken(cx, end) };
        match what {
            Key::Name => {
                if !cx.made {
                    out.trace.note(value.start + 1..value.end - 1, Noted::Name);
                }
                frame.name = Some(value);
                let waiting = frame.arguments.clone();
                if let Some(arguments) = waiting.filter(|a| cx.bytes().get(a.start) == Some(&b'{')) {
                    if let Flow::Stop(progress) = self.begin(cx, out, writer) {
                        return Flow::Stop(progress);
                    }
                    if let Some(index) = self.frames.last().and_then(|f| f.index) {
                        self.tell_whole(cx, out, writer, index, &arguments);
                    }
                }
            }
            Key::Method => {
                frame.method = Some(value.clone());
                frame.others.push(Other { key, value });
            }
            Key::Id => frame.id = Some(value),
            Key::Arguments => {
                frame.arguments = Some(value.clone());
                if key.is_empty() {
                    self.doubt_unkeyed(cx, &value);
                }
                self.scanned = (value, self.scanner.take_members());
            }
            Key::Content => {
                frame.content = Some(value.clone());
                frame.others.push(Other { key, value });
            }
            _ => {
                frame.others.push(Other { key, value });
                if self.frames.len() <= 2 {
                    self.may_record(cx, writer);
                }
            }
        }
        self.go(end, Expect::Next)
    }

    fn scanner_start(&self) -> usize {
        self.scanner.start().unwrap_or(self.at)
    }

    fn element(&mut self, cx: &Reader<'_>, writer: &mut Writer) -> Flow {
        match self.scanner.scan(cx.bytes(), cx.eof) {
            ScanResult::Complete { end } => {
                self.pass(writer, self.piece(cx, self.scanner_start()..end));
                self.go(end, Expect::Next)
            }
            ScanResult::Incomplete => Flow::Stop(Progress::More),
            ScanResult::Error { .. } if self.are_words(cx, writer, self.scanner_start()) => {
                self.begin_words(cx, writer, self.scanner_start())
            }
            ScanResult::Error { at, .. } => self.broken(cx, at),
        }
    }

    fn next(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, at: usize, byte: u8) -> Flow {
        let Some(frame) = self.frames.last() else { return self.go(at, Expect::Between) };
        let list = frame.kind == Kind::List;
        match byte {
            b',' if list => self.go(at + 1, Expect::Value { close: false }),
            b',' => self.go(at + 1, Expect::Key { close: false }),
            b']' if list => self.close(cx, out, writer, at),
            b'}' if !list => self.close(cx, out, writer, at),
            b'/' | b'#' if list => match self.comment(cx, writer, at, Expect::Next) {
                Some(flow) => flow,
                None if writer.begun > 0 && !cx.made => self.unclosed_list(cx, writer, at, byte),
                None => self.broken(cx, at),
            },
            _ if list && writer.begun > 0 && !cx.made => self.unclosed_list(cx, writer, at, byte),
            b'{' => self.unkeyed(cx, out, writer, at).unwrap_or_else(|| self.broken(cx, at)),
            _ => self.envelope_is_over(cx, out, writer, at).unwrap_or_else(|| self.broken(cx, at)),
        }
    }

    /// The calls are over at `end`: one that was mended last is no call to run if what stands behind it goes on with it.
    fn leave(&self, cx: &Reader<'_>, writer: &mut Writer, end: usize) -> Progress {
        let mended = self.mended.filter(|mended| mended.begun == writer.begun);
        if mended.is_some_and(|Mend { limit, closed, .. }| lenient::ended_early(cx.slice(end, limit), closed)) {
            writer.tear();
        }
        writer.take_back(end);
        Progress::Done { end }
    }

    /// What stands among the calls is none. Right behind a mended one it is perhaps a part of that.
    fn pass(&self, writer: &mut Writer, piece: Piece) {
        if self.mended.is_some_and(|mended| mended.begun == writer.begun) {
            writer.tear();
        }
        writer.pass(piece);
    }

    /// The last frame closes at `at`.
    fn close(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, at: usize) -> Flow {
        let Some((kind, start)) = self.frames.last().map(|frame| (frame.kind, frame.start)) else {
            return self.broken(cx, at);
        };
        let end = at + 1;
        if kind == Kind::Object {
            let begun = writer.begun;
            if !self.records(cx, out, writer)
                && let Flow::Stop(progress) = self.object(cx, out, writer, start..end)
            {
                return Flow::Stop(progress);
            }
            let none = self.frames.last().is_some_and(|frame| frame.index.is_none() && frame.envelope.is_none());
            let none = none && writer.begun == begun;
            if none && self.frames.len() > 1 {
                self.pass(writer, self.piece(cx, start..end));
            } else if none && self.stands_among(cx, writer) {
                self.pass_among(cx, out, writer, start..end);
                self.frames.leave();
                return self.go(end, Expect::Between);
            }
        }
        if kind != Kind::Nested {
            self.frames.leave();
            self.frames.last_mut().into_iter().for_each(|parent| parent.inner_end = end);
        } else if let Some(frame) = self.frames.pop()
            && let Some(parent) = self.frames.last_mut()
        {
            parent.take_in(cx, &frame);
            parent.others.extend(frame.others);
        }
        self.closed(cx, writer, end)
    }

    /// What was read as the last frame ended at `end`.
    fn closed(&mut self, cx: &Reader<'_>, writer: &mut Writer, end: usize) -> Flow {
        if !self.frames.is_empty() {
            return self.go(end, Expect::Next);
        }
        match self.before {
            // No call was in this value: it is text, and the body was over before it.
            Some((end, begun)) if begun == writer.begun => Flow::Stop(self.leave(cx, writer, end)),
            None if writer.is_unmarked() && !writer.vouched() => Flow::Stop(Progress::Done { end }),
            _ => self.go(end, Expect::Between),
        }
    }
}

/// The string at `at` is the key of a call whose opening brace is missing: `"name": "get_weather", ...}`.
fn unopened_key(cx: &Reader<'_>, at: usize) -> Look<()> {
    key_at(cx, at, |key| matches!(Key::of(key), Key::Name | Key::Arguments))
}

/// The object holds no members.
fn is_empty_object(text: &str) -> bool {
    text.starts_with('{') && text.bytes().all(|byte| matches!(byte, b'{' | b'}') || byte.is_ascii_whitespace())
}

/// A list or an envelope closes at `at`, right behind a comma.
#[cold]
fn comma_too_many(writer: &mut Writer, at: usize) {
    writer.mend(RepairCode::Comma, at, "a comma too many was left out");
}

enum Flow {
    On,
    Stop(Progress),
}
