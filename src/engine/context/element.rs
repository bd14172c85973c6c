//! Elements of HTML and of prompts that show what they hold: `<example>`, `<code>`, `<file>`, what a tool gave back.
//!
//! Only one that is closed behind the call shows it: its opening tag may be spoken of, or be left open by a model. Sources: prompts of
//! agents, which hold examples and files in such tags, and models that repeat them; what the catalogue's dialects write round results.
use super::WORDS;
use crate::char_class::IDENTIFIER;
use crate::engine::{Look, Reader};
use once_cell::sync::Lazy;

/// The closing tag is searched this far past a call: a stream holds the call back meanwhile.
const FAR: usize = 4096;

/// An opening tag, with its attributes, is no longer.
const LONGEST_TAG: usize = 256;

/// The names of these elements, indexed by length.
static NAMES: Lazy<Vec<Vec<&str>>> = Lazy::new(|| {
    let of_length =
        |length| WORDS.elements.iter().map(String::as_str).filter(move |name| name.len() == length).collect();
    let longest = WORDS.elements.iter().map(String::len).max().unwrap_or(0);
    (0..=longest).map(of_length).collect()
});

/// How far the text was read for such elements, and the one that is open.
#[derive(Debug, Clone, Default)]
pub(in crate::engine) struct Elements {
    read: usize,
    open: Option<Open>,
}

/// Where an open element's inside begins, what closes it, how far that was searched, and where it stands.
#[derive(Debug, Clone)]
struct Open {
    inside: usize,
    closer: String,
    searched: usize,
    closes: Option<usize>,
}

impl Elements {
    /// The call at `at` stands in an element that is closed behind it. The last call that was taken ended at `called`: what was open
    /// there shows nothing.
    pub(super) fn show(&mut self, cx: &Reader<'_>, called: usize, at: usize) -> Look<()> {
        if called > self.read {
            self.leave(called);
        }
        self.read_to(cx, at);
        // A stream asks once more what opened it.
        let Some(open) = self.open.as_mut().filter(|open| open.inside <= at) else { return Look::No };
        if open.closes.is_none() {
            open.search(cx, at);
        }
        match open.closes {
            Some(closes) => Look::when(closes >= at),
            None => cx.ran_out(cx.text.len().saturating_sub(at), FAR),
        }
    }

    /// A tool's result that `closer` closes was opened by markers that end at `end`, by a model that had called nothing.
    pub(in crate::engine) fn open(&mut self, closer: &str, end: usize) {
        self.read = self.read.max(end);
        self.open = Some(Open { inside: end, closer: closer.to_owned(), searched: end, closes: None });
    }

    /// What is open at `at` shows nothing behind it: the reasoning ended there, or a call.
    pub(in crate::engine) fn leave(&mut self, at: usize) {
        *self = Self { read: at, open: None };
    }

    /// The tags before `at` were read as something else: those of a fence are code.
    pub(super) fn skip(&mut self, at: usize) {
        self.read = self.read.max(at);
    }

    fn read_to(&mut self, cx: &Reader<'_>, at: usize) {
        let bytes = cx.bytes().get(..at).unwrap_or_default();
        while let Some(tag) = memchr::memchr(b'<', bytes.get(self.read..).unwrap_or_default()).map(|i| self.read + i) {
            self.read = tag + 1;
            if self.open.as_ref().is_some_and(|open| open.stands_at(cx, tag)) {
                self.open = None;
            } else if self.open.is_none()
                && let Some((name, end)) = opening_tag(cx, tag, at)
            {
                self.open = Some(Open { inside: end, closer: format!("</{name}"), searched: end, closes: None });
            }
        }
        self.read = self.read.max(at);
    }
}

impl Open {
    /// Searches what closes it at or after `at`. What the text ends in may go on, so that is searched once more.
    fn search(&mut self, cx: &Reader<'_>, at: usize) {
        let until = cx.text.len().min(at + FAR);
        let from = self.searched.max(at);
        let text = cx.bytes().get(from..until).unwrap_or_default();
        // Of one at the end of what is searched nobody knows whether it is whole.
        let known = |place: &usize| place + self.closer.len() < until || cx.eof && until == cx.text.len();
        let first = self.closer.bytes().next().unwrap_or_default();
        let mut places = memchr::memchr_iter(first, text).map(|i| from + i).filter(known);
        self.closes = places.find(|place| self.stands_at(cx, *place));
        self.searched = until.saturating_sub(self.closer.len()).max(from);
    }

    /// What closes it stands at `at`, as a whole word.
    fn stands_at(&self, cx: &Reader<'_>, at: usize) -> bool {
        let end = at + self.closer.len();
        let text = cx.bytes().get(at..end);
        let word = |byte: &u8| IDENTIFIER.has_ascii(*byte);
        let goes_on = self.closer.as_bytes().last().is_some_and(word) && cx.bytes().get(end).is_some_and(word);
        text.is_some_and(|text| text.eq_ignore_ascii_case(self.closer.as_bytes())) && !goes_on
    }
}

/// The name of the element whose opening tag stands at `at` and ends before `limit`, and where that ends. A tag in backticks is spoken
/// of, and one that is named after an offered tool is a call.
fn opening_tag<'t>(cx: &Reader<'t>, at: usize, limit: usize) -> Option<(&'t str, usize)> {
    let near = cx.near(at + 1, LONGEST_TAG);
    let name = cx.slice(at + 1, at + 1 + near.iter().take_while(|byte| IDENTIFIER.has_ascii(**byte)).count());
    let known = NAMES.get(name.len())?.iter().any(|known| known.eq_ignore_ascii_case(name));
    if !known || cx.offered(name) {
        return None;
    }
    let close = memchr::memchr2(b'>', b'\n', near).filter(|i| near.get(*i) == Some(&b'>'))?;
    let (end, own) = (at + close + 2, near.get(..close).is_some_and(|tag| tag.ends_with(b"/")));
    let spoken = at.checked_sub(1).and_then(|i| cx.bytes().get(i)) == Some(&b'`');
    (end <= limit && !own && !spoken).then_some((name, end))
}
