//! The machine that reads values leniently: what it has found so far, the brackets that are open, and what must come next.
use super::Ending;
use super::output::{Mark, Output};
use super::pairs::Pairs;
use super::quoted::Place;
use crate::error::{Error, ErrorCode};
use crate::interrupt::Work;
use crate::json::Balance;
use std::cell::Cell;

/// What a bracket opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    /// A Python set: an array in braces.
    Set,
    /// Parentheses: those of a tuple, or round a single value.
    Paren,
    /// A function that means its one argument.
    Wrapper,
    /// The outer of two braces that stand for one: `{{...}}`.
    Doubled,
}

/// An open bracket.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    /// The state of the output before the bracket, to go back to.
    pub(super) mark: Mark,
    pub(super) open: usize,
    /// Where in the output the opening bracket goes, if it is not written yet: of parentheses it is not known at once.
    pub(super) place: usize,
    pub(super) items: usize,
    pub(super) comma: bool,
    pub(super) bare_keys: bool,
    /// Where the last object in it that was closed had opened.
    pub(super) object: Option<usize>,
    /// The state of the output before the current member and its comma, to go back to.
    pub(super) member: Option<Mark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// A value must come.
    Value,
    /// After an opening bracket, or after a comma: an item, a key, or the closing bracket.
    Item,
    Colon,
    After,
    Done,
}

/// How the machine came to its end.
pub(super) struct End {
    pub(super) at: usize,
    pub(super) ending: Ending,
}

pub(super) struct Repairer<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) out: Output<'a>,
    pub(super) frames: Vec<Frame>,
    max_depth: usize,
    stops: &'a [u8],
    /// The value is read in parentheses of the caller's (an argument), not as a text of its own.
    pub(super) argument: bool,
    pub(super) source_text: bool,
    /// How many brackets of each kind are open here, the caller's included.
    pub(super) open: Balance,
    pub(super) pairs: Pairs,
    /// A string held a brace that nothing closes.
    pub(super) loose_brace: Cell<bool>,
    /// Some value could have been meant otherwise: the result is a guess.
    pub(super) guessed: Cell<bool>,
    /// A bracket was read as closing something further out, or nearer, than its place says. If later one is too many, that was
    /// wrong.
    pub(super) moved: Cell<bool>,
    /// A bracket in the middle was left out as one too many. If later one is missing, it was only in the wrong place.
    pub(super) dropped: Cell<bool>,
    /// The end of the text closed a string.
    pub(super) unended: Cell<bool>,
    /// How many bytes were looked through for the ends of strings, behind what turned out to be the ends. They have a bound.
    pub(super) ahead: Cell<usize>,
    /// How many bytes were looked through for the bracket that closes next.
    pub(super) beyond: Cell<usize>,
    /// Up to here pairing the brackets in words was tried in vain, and is not tried again.
    pub(super) unpaired_until: usize,
    pub(super) state: State,
    pub(super) ending: Ending,
    /// Escapes that only Python and JavaScript know count in double quotes as well.
    pub(super) python: bool,
    /// A value was read.
    pub(super) found: bool,
    /// Set if the text may go on: what the end of the text leaves unclear is dropped.
    pub(super) partial: Option<KeepStrings>,
    /// More text will come, and must not change what is given out now.
    pub(super) growing: bool,
    /// What stands here so far is valid JSON.
    pub(super) valid: bool,
    /// What the whole value will be is not clear yet.
    pub(super) undecided: bool,
    /// What was read, so that it can be interrupted: then nobody wants what it would give.
    pub(super) work: Cell<Work>,
}

/// Whether a string that the text ends in is kept.
pub(super) type KeepStrings = bool;

impl<'a> Repairer<'a> {
    pub(super) fn new(text: &'a str, start: usize, max_depth: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            out: Output::new(text, start),
            frames: Vec::new(),
            max_depth,
            stops: b"",
            argument: false,
            source_text: true,
            open: Balance::default(),
            pairs: Pairs::default(),
            loose_brace: Cell::new(false),
            guessed: Cell::new(false),
            moved: Cell::new(false),
            dropped: Cell::new(false),
            unended: Cell::new(false),
            ahead: Cell::new(0),
            beyond: Cell::new(0),
            unpaired_until: 0,
            state: State::Value,
            ending: Ending::Closed,
            python: false,
            found: false,
            partial: None,
            growing: false,
            valid: false,
            undecided: false,
            work: Cell::default(),
        }
    }

    /// The value is a Python argument, after which the bytes `stops` may come.
    pub(super) fn as_argument(&mut self, stops: &'a [u8], source_text: bool) {
        self.stops = stops;
        self.argument = true;
        self.python = true;
        self.source_text = source_text;
        let open = |closing: u8| isize::from(stops.contains(&closing));
        self.open = Balance { braces: open(b'}'), brackets: open(b']'), parens: open(b')') };
    }

    /// The caller's bracket or separator `byte` may follow the value.
    pub(super) fn stops(&self, byte: u8) -> bool {
        self.stops.contains(&byte)
    }

    /// What is read is all of a Python argument: the caller has found where that ends, and knows more of its quotes.
    pub(super) fn is_whole_argument(&self) -> bool {
        self.argument && self.frames.is_empty()
    }

    /// The result is a guess, if this is so.
    pub(super) fn guess_if(&self, doubtful: bool) {
        self.guessed.set(self.guessed.get() || doubtful);
    }

    /// So many bytes more were read. Whether that is to stop.
    pub(super) fn is_interrupted(&self, read: usize) -> bool {
        let mut work = self.work.get();
        let stops = work.stops(read);
        self.work.set(work);
        stops
    }

    fn too_deep(&self, at: usize) -> Error {
        Error::at(ErrorCode::BadJson, at.to_string(), format!("nested deeper than {}", self.max_depth))
    }

    /// Where the next value stands.
    pub(super) fn place(&self) -> Place {
        match self.frames.last() {
            Some(Frame { kind: Kind::Object, bare_keys, .. }) => Place::Member { bare_keys: *bare_keys },
            Some(Frame { kind: Kind::Array | Kind::Set | Kind::Doubled, items, .. }) => {
                Place::Item { first: *items == 0 }
            }
            Some(Frame { kind: Kind::Paren | Kind::Wrapper, .. }) => Place::Argument,
            None if self.argument => Place::Argument,
            None => Place::Top,
        }
    }

    pub(super) fn top(&self) -> Option<Kind> {
        self.frames.last().map(|frame| frame.kind)
    }

    pub(super) fn push(&mut self, kind: Kind, at: usize) -> Result<(), Error> {
        if self.frames.len() >= self.max_depth {
            return Err(self.too_deep(at));
        }
        match kind {
            Kind::Object | Kind::Set | Kind::Doubled => self.open.braces += 1,
            Kind::Array => self.open.brackets += 1,
            Kind::Paren | Kind::Wrapper => self.open.parens += 1,
        }
        let mark = self.out.mark(at);
        self.frames.push(Frame {
            kind,
            mark,
            open: at,
            place: 0,
            items: 0,
            comma: false,
            bare_keys: false,
            object: None,
            member: None,
        });
        self.state = State::Item;
        Ok(())
    }

    pub(super) fn pop(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        match frame.kind {
            Kind::Object | Kind::Set | Kind::Doubled => self.open.braces -= 1,
            Kind::Array => self.open.brackets -= 1,
            Kind::Paren | Kind::Wrapper => self.open.parens -= 1,
        }
        if let (Kind::Object, Some(parent)) = (frame.kind, self.frames.last_mut()) {
            parent.object = Some(frame.open);
        }
        self.value_read();
    }

    /// A value is over.
    pub(super) fn value_read(&mut self) {
        self.state = State::After;
        self.found = true;
        if let Some(frame) = self.frames.last_mut() {
            frame.items += 1;
        }
    }
}

impl Kind {
    /// The bracket `byte` closes what this kind opened.
    pub(super) const fn closed_by(self, byte: u8) -> bool {
        match self {
            Self::Object | Self::Set | Self::Doubled => byte == b'}',
            Self::Array => byte == b']',
            Self::Paren | Self::Wrapper => byte == b')',
        }
    }
}
