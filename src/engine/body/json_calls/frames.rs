//! The lists and objects that are open round what is being read.
use crate::dialect::Key;
use crate::engine::Reader;
use crate::engine::body::keys::decode;
use crate::json::unescaped;
use crate::schema::Tool;
use std::borrow::Cow;
use std::ops::Range;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Object,
    /// The object under `"function"`: what it holds is its parent's.
    Nested,
}

/// What an envelope's list of calls is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Envelope {
    Calls,
    /// It is empty, null or not there, and a key says that it is an envelope all the same: its content is all of the answer.
    NoCalls,
}

/// A member of an object that is none of the known ones.
#[derive(Debug)]
pub(super) struct Other {
    /// Without its quotes.
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

impl Other {
    /// The key as it is written.
    pub(super) fn raw_key<'t>(&self, cx: &Reader<'t>) -> &'t str {
        cx.part(&self.key)
    }

    /// The key, its escapes undone.
    pub(super) fn key<'t>(&self, cx: &Reader<'t>) -> Cow<'t, str> {
        unescaped(self.raw_key(cx))
    }

    /// The value as it is written.
    pub(super) fn value<'t>(&self, cx: &Reader<'t>) -> &'t str {
        cx.part(&self.value)
    }

    /// It says what came of the call of `tool`, or that it is not made, and is none of its arguments. In an `item` of an answer
    /// less does: what is completed there is its text.
    fn is_outcome(&self, cx: &Reader<'_>, tool: Option<&Tool>, item: bool) -> bool {
        let (key, value) = (self.raw_key(cx), self.value(cx));
        let outcome = Key::is_outcome(key) && !matches!(value, "null" | "\"\"" | "{}" | "[]");
        let over = || Key::says_over(key, value) || !item && Key::says_completed(key, value);
        (outcome || over()) && !tool.is_some_and(|tool| tool.declares(key))
    }
}

/// One of the members beside a call of `tool` says what came of it.
pub(super) fn tell_outcome(cx: &Reader<'_>, others: &[Other], tool: Option<&Tool>) -> bool {
    let item = others.iter().any(|other| matches!(other.raw_key(cx), "type" | "call_id"));
    others.iter().any(|other| other.is_outcome(cx, tool, item))
}

/// An open list or object.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) start: usize,
    /// The strings, as they are written.
    pub(super) name: Option<Range<usize>>,
    pub(super) method: Option<Range<usize>>,
    pub(super) id: Option<Range<usize>>,
    pub(super) arguments: Option<Range<usize>>,
    /// The call that has begun for it.
    pub(super) index: Option<usize>,
    pub(super) others: Vec<Other>,
    /// An envelope's content.
    pub(super) content: Option<Range<usize>>,
    /// Where the last list or object in it ended.
    pub(super) inner_end: usize,
    pub(super) envelope: Option<Envelope>,
    /// It says two things where a call has one.
    pub(super) ambiguous: bool,
    /// A word that other objects have as well is the key of its call, or of its list of calls.
    pub(super) wrapped: bool,
}

impl Frame {
    #[inline]
    pub(super) fn new(kind: Kind, start: usize) -> Self {
        Self {
            kind,
            start,
            name: None,
            method: None,
            id: None,
            arguments: None,
            index: None,
            others: Vec::new(),
            content: None,
            inner_end: start,
            envelope: None,
            ambiguous: false,
            wrapped: false,
        }
    }

    /// It is a call, or may become one.
    pub(super) fn is_call(&self) -> bool {
        self.kind == Kind::Object && self.envelope.is_none()
    }

    /// What the member under `key` is, which means `named`, and whose value begins with the byte `first`. A second one of the same
    /// meaning is one of the flat arguments.
    pub(super) fn member(&mut self, cx: &Reader<'_>, key: &str, named: Key, first: u8) -> Key {
        if key == Key::PARAMS && self.name.is_none() {
            let named = |method: &Range<usize>| cx.offered(&decode(cx.part(method)));
            self.name = self.method.take().filter(named);
        }
        match (named, first) {
            (Key::Name | Key::Function, b'"') if self.name.is_none() => Key::Name,
            (Key::Arguments, _) if self.arguments.is_none() => Key::Arguments,
            (what @ (Key::Method | Key::Id | Key::Content), b'"') => what,
            _ => Key::Other,
        }
    }
}

/// The open lists and objects. Mostly it is one object: the innermost is no part of the list.
#[derive(Debug, Default)]
pub(super) struct Frames {
    outer: Vec<Frame>,
    last: Option<Frame>,
}

impl Frames {
    /// The innermost one.
    pub(super) fn last(&self) -> Option<&Frame> {
        self.last.as_ref()
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut Frame> {
        self.last.as_mut()
    }

    /// What the last one stands in.
    pub(super) fn parent(&self) -> Option<&Frame> {
        self.outer.last()
    }

    /// The call that the last one stands in, if its arguments are whole.
    pub(super) fn outer_call(&mut self) -> Option<&mut Frame> {
        self.outer.iter_mut().rev().find(|frame| frame.name.is_some() && frame.arguments.is_some())
    }

    #[inline]
    pub(super) fn push(&mut self, frame: Frame) {
        if self.last.is_some() {
            self.outer.extend(self.last.take());
        }
        self.last = Some(frame);
    }

    /// Closes the innermost one.
    pub(super) fn leave(&mut self) {
        if self.outer.is_empty() {
            self.last = None;
        } else {
            self.last = self.outer.pop();
        }
    }

    pub(super) fn pop(&mut self) -> Option<Frame> {
        std::mem::replace(&mut self.last, self.outer.pop())
    }

    pub(super) fn len(&self) -> usize {
        self.outer.len() + usize::from(self.last.is_some())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// A list is open.
    pub(super) fn in_list(&self) -> bool {
        self.iter().any(|frame| frame.kind == Kind::List)
    }

    /// From the outermost to the last.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        self.outer.iter().chain(&self.last)
    }

    /// The outermost call, which is all that is left open when its text cannot be read.
    pub(super) fn call(&self) -> Option<&Frame> {
        self.iter().find(|frame| frame.is_call())
    }

    /// The call that has begun for the outermost call, or in it.
    pub(super) fn begun(&self) -> Option<usize> {
        let call = self.iter().position(Frame::is_call).unwrap_or_default();
        self.iter().skip(call).filter_map(|frame| frame.index).last()
    }

    /// Closes the outermost call and all in it.
    pub(super) fn leave_call(&mut self) {
        let depth = self.iter().position(Frame::is_call);
        while depth.is_some_and(|depth| self.len() > depth) {
            self.leave();
        }
    }
}
