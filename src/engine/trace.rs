//! What the engine noticed on its way, for [`crate::explain`]. Switched off it is one null pointer: nothing is noted,
//! and nothing is made for a note.
use super::found::{Found, Piece, Value};
use super::head::Head;
use super::{Engine, Reader};
use crate::dialect::{Marker, RowId};
use crate::json::{ScanResult, Scanner};
pub(super) use crate::turn::Reason;
use std::ops::Range;

/// One thing that was noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) range: Range<usize>,
    pub(crate) row: Option<RowId>,
    pub(crate) noted: Noted,
}

/// What was noticed at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Noted {
    /// Markup that was taken out of the text; the range is its beginning.
    Marker(Markup),
    /// A call's name, as written.
    Name,
    /// A piece of a call's arguments.
    Arguments,
    /// The `content` of an envelope, as a JSON string.
    Content,
    /// A tool's result that the model wrote itself.
    Result,
    /// A message for nobody here, or a call that is cut off before its name.
    Dropped,
    /// It was read as a call and turned out to be none. The name, if there is one.
    Kept(Reason, Piece),
    /// It was not read, whatever it holds. An empty range is the beginning of code that ends at [`Self::CodeEnds`].
    Passed(Reason),
    /// The end of code whose beginning was passed over.
    CodeEnds,
}

/// What a piece of markup is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Markup {
    ReasoningOpens,
    ReasoningCloses,
    SectionOpens,
    SectionCloses,
    Fence,
    Token,
    Header,
    MessageEnds,
}

/// Notes are taken only up to here: a text of markers has no use for a million of them.
const MAX_NOTES: usize = 10_000;

#[derive(Debug, Clone, Default)]
struct Notes {
    notes: Vec<Note>,
    /// Why the call that is being looked at is none, as far as is known.
    refusal: Option<(Reason, String)>,
}

/// The notes, if any are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace(Option<Box<Notes>>);

impl Trace {
    /// Notes are wanted.
    pub(crate) fn on() -> Self {
        Self(Some(Box::default()))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn into_notes(self) -> Vec<Note> {
        self.0.map(|notes| notes.notes).unwrap_or_default()
    }

    /// Takes a note, if notes are wanted.
    pub(crate) fn note(&mut self, range: Range<usize>, noted: Noted) {
        self.of(range, None, noted);
    }

    fn of(&mut self, range: Range<usize>, row: Option<RowId>, noted: Noted) {
        if let Some(notes) = self.0.as_deref_mut().filter(|n| n.notes.len() < MAX_NOTES) {
            notes.notes.push(Note { range, row, noted });
        }
    }

    /// The call that is being looked at is none; [`Self::kept`] says where that was.
    pub(crate) fn refuse(&mut self, reason: Reason, name: &str) {
        let Some(notes) = self.0.as_deref_mut() else { return };
        if notes.refusal.as_ref().is_none_or(|(known, _)| *known <= reason) {
            notes.refusal = Some((reason, name.to_owned()));
        }
    }

    /// A new place is being looked at.
    pub(crate) fn forget(&mut self) {
        if let Some(notes) = self.0.as_deref_mut() {
            notes.refusal = None;
        }
    }

    /// What was read from `range` is text after all, for the reason given last, or for `otherwise`.
    pub(crate) fn kept(&mut self, range: Range<usize>, row: Option<RowId>, otherwise: Reason) {
        let Some(notes) = self.0.as_deref_mut() else { return };
        let (reason, name) = notes.refusal.take().unwrap_or((otherwise, String::new()));
        self.of(range, row, Noted::Kept(reason, Piece::Made(name)));
    }

    /// `name(arguments)` stands at `range`.
    pub(crate) fn python_call(&mut self, text: &str, range: Range<usize>) {
        let written = text.get(range.clone()).filter(|_| self.is_on()).unwrap_or_default();
        if let Some(open) = written.find('(') {
            let end = range.start + written.strip_suffix(')').unwrap_or(written).len();
            self.note(range.start..range.start + open, Noted::Name);
            self.note(range.start + open + 1..end, Noted::Arguments);
        }
    }

    /// Where the arguments of a call stand in the text, before anything is changed in them.
    pub(crate) fn arguments(&mut self, found: &Found) {
        if self.is_on() {
            let mut piece = |piece: &Piece| {
                if let Piece::Span(range) = piece {
                    self.note(range.clone(), Noted::Arguments);
                }
            };
            match found {
                Found::Json(json) => piece(json),
                Found::Members(members) => members.iter().for_each(|(_, value)| match value {
                    Value::Text(value) | Value::Json(value) => piece(value),
                }),
            }
        }
    }
}

impl Engine {
    /// Notes what kind of markup was taken out.
    pub(super) fn note_markup(&mut self, at: usize, end: usize, marker: Marker) {
        let markup = match marker {
            Marker::ReasoningOpen(_) => Markup::ReasoningOpens,
            Marker::ReasoningClose(_) => Markup::ReasoningCloses,
            Marker::Section(_) => Markup::SectionOpens,
            Marker::SectionEnd(_) | Marker::CallEnd { .. } => Markup::SectionCloses,
            Marker::Token(_) | Marker::Inline { .. } => Markup::Token,
            Marker::Header(_)
            | Marker::Recipient(_)
            | Marker::MessageEnd(_)
            | Marker::Result(_)
            | Marker::Turn
            | Marker::Call(_)
            | Marker::Inner(_) => return,
        };
        self.out.trace.note(at..end, Noted::Marker(markup));
    }

    /// Notes where the name in a call's head stands.
    pub(super) fn note_name(&mut self, cx: &Reader<'_>, head: &Head) {
        if let Some(name) = &head.name {
            self.out.trace.note(name.clone(), Noted::Name);
        } else if self.out.trace.is_on()
            && let (Some(id), Some(name)) = (&head.id, head.name(cx))
            && let Some(at) = cx.part(id).find(&*name)
        {
            // `functions.NAME:3`
            self.out.trace.note(id.start + at..id.start + at + name.len(), Noted::Name);
        }
    }

    /// Notes that what stands at `at`, to the end of the value or line, was not read, whatever it is.
    pub(super) fn pass(&mut self, cx: &Reader<'_>, at: usize, reason: Reason) {
        if self.out.trace.is_on() {
            let end = value_end(cx, at);
            self.out.trace.note(at..end, Noted::Passed(reason));
        }
    }
}

/// Where the JSON value at `at` ends, or else the line. Looks only so far.
fn value_end(cx: &Reader<'_>, at: usize) -> usize {
    let bounded = cx.bytes().get(..cx.text.len().min(at + (16 << 10))).unwrap_or_default();
    if let Some(b'{' | b'[') = bounded.get(at)
        && let ScanResult::Complete { end } = Scanner::new(at, cx.policy.max_depth).scan(bounded, true)
    {
        return end;
    }
    let line = memchr::memchr(b'\n', bounded.get(at..).unwrap_or_default());
    super::reader::floor(cx.text, line.map_or(bounded.len(), |length| at + length))
}
