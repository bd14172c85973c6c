//! Puts the events of one answer into an order that a client's stream can have.
//!
//! Backends may send the pieces of several calls by turns, the same call as text and natively, and a call's end long after
//! its last piece. A client gets one block after another, each call once, and no word that a call is over that was cut off.
use super::Mode;
use super::arguments::Arguments;
use super::request::{Asked, Choice};
use super::write::{Ended, Started, Writer};
use crate::schema::Tool;
use crate::turn::{Event, IssueCode, StopReason, ToolCall, Turn, new_call_id};
use serde_json::{Map, Value};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// What a backend of the same API says of a native call that no event holds.
#[derive(Debug, Default)]
pub(super) struct Hint {
    /// Fields that are not known here.
    pub(super) extra: Option<Map<String, Value>>,
    /// The id of the item.
    pub(super) item: Option<String>,
}

/// What the client has of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    /// Its start; more may follow.
    Open,
    /// Its start and its end. `whole`: its arguments were not cut off.
    Ended { whole: bool },
    /// Nothing, as the request does not allow the call.
    Withheld,
}

#[derive(Debug)]
struct Call {
    /// Its number in the events.
    index: usize,
    /// Its number for the client.
    at: usize,
    name: String,
    arguments: Arguments,
    in_text: bool,
    delivery: Delivery,
}

impl Call {
    /// How it ends where no more of it is certain than what the client has.
    fn as_sent(&self) -> Ended<'_> {
        Ended { arguments: self.arguments.sent(), whole: self.arguments.is_complete() }
    }
}

/// The events of one answer on their way to a writer.
#[derive(Debug)]
pub(super) struct Sequence {
    asked: Arc<Asked>,
    /// Ids given out so far.
    ids: HashSet<String>,
    calls: Vec<Call>,
    /// The call whose block is open.
    open: Option<usize>,
    /// What came while a call was open that more may come for.
    waiting: VecDeque<Event>,
    /// Native calls that came behind calls in the text: which of them are the same is known when they are whole.
    held: Vec<Event>,
    /// Calls in the text were written, and then native ones came.
    overtaken: bool,
    hints: VecDeque<Hint>,
    /// Text that the client has, and that the reader will give once more.
    repeated: String,
    written: usize,
    withheld: usize,
}

impl Sequence {
    pub(super) fn new(asked: Arc<Asked>) -> Self {
        Self {
            asked,
            ids: HashSet::new(),
            calls: Vec::new(),
            open: None,
            waiting: VecDeque::new(),
            held: Vec::new(),
            overtaken: false,
            hints: VecDeque::new(),
            repeated: String::new(),
            written: 0,
            withheld: 0,
        }
    }

    /// The next native call that begins is written with this.
    pub(super) fn hint(&mut self, hint: Hint) {
        self.hints.push_back(hint);
    }

    /// How many calls were written.
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// How many calls were left out, as the request does not allow them.
    pub(super) fn withheld(&self) -> usize {
        self.withheld
    }

    /// Nothing is open and nothing waits: a piece of text may be passed on as it came.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_none() && self.waiting.is_empty()
    }

    /// Takes the events of one chunk. `in_text`: whether the call of that number stands in the text. `tail`: what is held back
    /// of text that is read again.
    pub(super) fn take(
        &mut self,
        events: &mut Vec<Event>,
        in_text: impl Fn(usize) -> bool,
        tail: &str,
        writer: &mut dyn Writer,
        out: &mut String,
    ) {
        let mut reread = false;
        for mut event in events.drain(..) {
            match &mut event {
                // The text is read once more without its calls, which were written already: it is not written again.
                Event::Issue(issue) if issue.code == IssueCode::QuotedCall && self.has_written_text_calls() => {
                    (reread, self.overtaken) = (true, true);
                    tail.clone_into(&mut self.repeated);
                }
                Event::Text(_) | Event::Reasoning(_) if reread => continue,
                Event::Text(text) if !self.repeated.is_empty() => {
                    self.drop_repeated(text);
                    if text.is_empty() {
                        continue;
                    }
                }
                Event::CallStarted { index, .. } if !in_text(*index) && self.has_written_text_calls() => {
                    self.held.push(event);
                    reread = false;
                    continue;
                }
                Event::Arguments { index, .. } | Event::CallEnded { index, .. } if self.holds(*index) => {
                    self.held.push(event);
                    continue;
                }
                _ => {}
            }
            let text = matches!(&event, Event::CallStarted { index, .. } if in_text(*index));
            self.next(event, text, writer, out);
        }
    }

    /// Takes from the beginning of a text what the client has of it.
    fn drop_repeated(&mut self, text: &mut String) {
        let same = self.repeated.bytes().zip(text.bytes()).take_while(|(known, new)| known == new).count();
        if same == text.len() {
            self.repeated.drain(..same);
            text.clear();
        } else {
            if same == self.repeated.len() {
                text.drain(..same);
            }
            self.repeated.clear();
        }
    }

    fn has_written_text_calls(&self) -> bool {
        self.calls.iter().any(|call| call.in_text && call.delivery != Delivery::Withheld)
    }

    fn holds(&self, number: usize) -> bool {
        self.held.iter().any(|event| matches!(event, Event::CallStarted { index, .. } if *index == number))
    }

    /// Writes an event, or has it wait.
    fn next(&mut self, event: Event, in_text: bool, writer: &mut dyn Writer, out: &mut String) {
        if !writer.interleaves()
            && let Some(open) = self.open.and_then(|open| self.calls.get(open))
        {
            let of = match &event {
                Event::Arguments { index, .. } | Event::CallEnded { index, .. } => Some(*index),
                Event::Issue(_) | Event::Reclassified => return,
                _ => None,
            };
            if of != Some(open.index) && (!open.arguments.is_complete() || !self.waiting.is_empty()) {
                return self.waiting.push_back(event);
            }
        }
        self.write(event, in_text, writer, out);
        let open = self.open.and_then(|open| self.calls.get(open));
        if open.is_none_or(|open| open.arguments.is_complete()) && !self.waiting.is_empty() {
            for event in std::mem::take(&mut self.waiting) {
                // Calls in the text come one after another; those that wait are native.
                self.next(event, false, writer, out);
            }
        }
    }

    fn write(&mut self, event: Event, in_text: bool, writer: &mut dyn Writer, out: &mut String) {
        match event {
            Event::Text(text) => {
                self.close(writer, out);
                writer.text(&text, out);
            }
            Event::Reasoning(text) => {
                self.close(writer, out);
                writer.reasoning(&text, out);
            }
            Event::CallStarted { index, id, name } => self.start(index, &id, name, in_text, writer, out),
            Event::Arguments { index, text } => {
                if let Some(call) =
                    self.calls.iter_mut().rfind(|call| call.index == index && call.delivery == Delivery::Open)
                {
                    let piece = call.arguments.push(self.asked.tool(&call.name), &text);
                    if !piece.is_empty() {
                        writer.arguments(call.at, piece, out);
                    }
                }
            }
            Event::CallEnded { index, call } => self.end(index, &call, writer, out),
            Event::Reclassified | Event::Issue(_) => {}
        }
    }

    fn start(
        &mut self,
        index: usize,
        id: &str,
        name: String,
        in_text: bool,
        writer: &mut dyn Writer,
        out: &mut String,
    ) {
        self.close(writer, out);
        let hint = if in_text { Hint::default() } else { self.hints.pop_front().unwrap_or_default() };
        let withheld = self.asked.withholds(&name, self.written);
        let call = Call {
            index,
            at: self.written,
            arguments: Arguments::new(self.asked.tool(&name)),
            name,
            in_text,
            delivery: if withheld { Delivery::Withheld } else { Delivery::Open },
        };
        self.calls.push(call);
        let Some(call) = self.calls.last().filter(|_| !withheld) else {
            self.withheld += 1;
            return;
        };
        self.written += 1;
        let id = self.asked.fresh_id(id, &mut self.ids);
        let kind = self.asked.kinds.get(&call.name);
        let started =
            Started { id: &id, name: &call.name, kind, extra: hint.extra.as_ref(), item: hint.item.as_deref() };
        writer.call_started(call.at, started, out);
        self.open = Some(self.calls.len() - 1);
    }

    /// Ends the open call before its own end has come, as something else begins: right where its arguments are whole.
    fn close(&mut self, writer: &mut dyn Writer, out: &mut String) {
        if writer.interleaves() {
            return;
        }
        let Some(call) = self.open.take().and_then(|open| self.calls.get_mut(open)) else { return };
        call.delivery = Delivery::Ended { whole: call.arguments.is_complete() };
        writer.call_ended(call.at, call.as_sent(), out);
    }

    fn end(&mut self, index: usize, ended: &ToolCall<'_>, writer: &mut dyn Writer, out: &mut String) {
        let Some(place) = self.calls.iter().rposition(|call| call.index == index && call.delivery == Delivery::Open)
        else {
            return;
        };
        let Some(call) = self.calls.get_mut(place) else { return };
        let mut whole = ended.status.readable();
        if whole {
            match call.arguments.finish(&self.asked.client.call_arguments(ended.arguments.to_json())) {
                Some("") => {}
                Some(rest) => writer.arguments(call.at, rest, out),
                // What was sent cannot be taken back: it may be JSON all the same.
                None => whole = call.arguments.is_complete(),
            }
        }
        call.delivery = Delivery::Ended { whole };
        writer.call_ended(call.at, Ended { arguments: call.arguments.sent(), whole }, out);
        if self.open == Some(place) {
            self.open = None;
        }
    }

    /// The answer is over: writes what waited and what was held, and ends every call.
    pub(super) fn finish(&mut self, writer: &mut dyn Writer, out: &mut String) {
        if self.overtaken {
            // Those of the text that native ones have overtaken get no end of their own.
            self.end_open(writer, out);
        }
        let known: Vec<(String, Option<Value>)> = self
            .calls
            .iter()
            .map(|call| (call.name.clone(), serde_json::from_str(call.arguments.sent()).ok()))
            .collect();
        let held = std::mem::take(&mut self.held);
        let same = |call: &ToolCall<'_>| known.contains(&(call.name.to_string(), Some(call.arguments.to_value())));
        let double: Vec<usize> = (held.iter())
            .filter_map(|event| match event {
                Event::CallEnded { index, call } if same(call) => Some(*index),
                _ => None,
            })
            .collect();
        for event in held {
            match &event {
                Event::CallStarted { index, .. } | Event::Arguments { index, .. } | Event::CallEnded { index, .. }
                    if double.contains(index) => {}
                _ => self.next(event, false, writer, out),
            }
        }
        self.end_open(writer, out);
        for event in std::mem::take(&mut self.waiting) {
            self.write(event, false, writer, out);
        }
        self.end_open(writer, out);
    }

    /// Ends the calls that nothing more is said of: whole if their arguments are.
    fn end_open(&mut self, writer: &mut dyn Writer, out: &mut String) {
        self.open = None;
        for call in self.calls.iter_mut().filter(|call| call.delivery == Delivery::Open) {
            call.delivery = Delivery::Ended { whole: call.arguments.is_complete() };
            writer.call_ended(call.at, call.as_sent(), out);
        }
    }

    /// Every call that was written is whole, and there is at least one.
    pub(super) fn has_whole_calls(&self) -> bool {
        self.written > 0 && !self.is_cut()
    }

    fn is_cut(&self) -> bool {
        self.calls.iter().any(|call| matches!(call.delivery, Delivery::Open | Delivery::Ended { whole: false }))
    }

    /// Why the answer ended, by what was written of it.
    pub(super) fn reason(&self, turn: &Turn<'_>) -> StopReason {
        reason(turn, self.written, self.is_cut())
    }
}

/// Why an answer ended of which `written` calls reach the client; `cut`: one of them is not whole.
pub(super) fn reason(turn: &Turn<'_>, written: usize, cut: bool) -> StopReason {
    match turn.stop_reason {
        _ if cut => StopReason::Length,
        said @ (StopReason::Length | StopReason::ContentFilter) => said,
        _ if written > 0 => StopReason::ToolCalls,
        StopReason::ToolCalls => StopReason::Stop,
        said => said,
    }
}

impl Asked {
    /// The tool that is offered under this name.
    fn tool(&self, name: &str) -> Option<&Tool> {
        self.reading.tools.as_ref()?.get(name)
    }

    /// The id that a call has for the client: in its API's form, and another one where a call of the history or of this answer
    /// has it. Models that write their ids themselves repeat them.
    pub(super) fn fresh_id(&self, id: &str, given: &mut HashSet<String>) -> String {
        let own = self.client.call_id(id);
        let known = own.is_empty() || self.used.contains(&own) || !given.insert(own.clone());
        if known { new_call_id() } else { own }
    }

    /// A call of the tool `name` is not passed on, where so many were: another tool was named, or one call an answer was asked
    /// for. A backend that takes tools itself is left to see to that.
    pub(super) fn withholds(&self, name: &str, written: usize) -> bool {
        if self.options.mode != Mode::Text {
            return false;
        }
        let other = matches!(self.wanted.choice, Choice::Only { .. })
            && self.reading.tools.as_ref().is_none_or(|tools| tools.get(name).is_none());
        other || (!self.wanted.parallel && written > 0)
    }
}
