//! What a tool gave back, written out by a model that made no call before: a page that it read may hold calls, and they are that
//! page's. It must be closed: what opens it may only be spoken of.
use crate::char_class;
use crate::engine::reader::floor;
use crate::engine::{Look, Reader};

/// So far behind a call what closes the result is looked for: a stream waits for that.
const FAR: usize = 4096;

/// The result that was opened last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Echoed(Option<Open>);

#[derive(Debug, Clone)]
struct Open {
    opener: String,
    closer: String,
    /// So many are open, one in the other, where the text has been read.
    depth: usize,
    read: usize,
    /// Where all of them are closed, once that is known.
    ends: Option<usize>,
}

impl Echoed {
    /// What opens a result stands up to `end`.
    pub(in crate::engine) fn opens(&mut self, cx: &Reader<'_>, opener: &str, closer: &str, end: usize) {
        let before = cx.up_to(end);
        let open = self.0.as_mut().is_some_and(|open| open.holds(&before, end) == Look::Is(()) || open.ends.is_none());
        if !open {
            self.0 = Some(Open::new(opener, closer, end));
        }
    }

    /// What stands at `at` stands in a result.
    pub(in crate::engine) fn holds(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        self.0.as_mut().map_or(Look::No, |open| open.holds(cx, at))
    }

    /// Where it is closed, as far as that is known.
    pub(in crate::engine) fn ends(&self) -> Option<usize> {
        self.0.as_ref()?.ends
    }

    /// As [`Self::holds`], where the element of this `name` is open at `at`, since `behind` at the latest.
    pub(in crate::engine) fn holds_in(&mut self, cx: &Reader<'_>, name: &str, behind: usize, at: usize) -> Look<()> {
        let is_it =
            |open: &&mut Open| open.opener.strip_prefix('<') == Some(name) && open.ends.is_none_or(|end| behind < end);
        if let Some(open) = self.0.as_mut().filter(is_it) {
            return open.holds(cx, at);
        }
        let open = self.0.insert(Open::new(&format!("<{name}"), &format!("</{name}"), behind));
        open.holds(cx, at)
    }
}

impl Open {
    fn new(opener: &str, closer: &str, end: usize) -> Self {
        Self { opener: opener.to_owned(), closer: closer.to_owned(), depth: 1, read: end, ends: None }
    }

    fn holds(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        let longest = self.opener.len().max(self.closer.len()) + 1;
        // What stands at the end of what came may go on.
        let until = if cx.eof { cx.text.len() } else { floor(cx.text, cx.text.len().saturating_sub(longest)) };
        let far = at + FAR;
        let until = until.min(far);
        let begins = |text: &str| text.bytes().next().unwrap_or_default();
        let (first, other) = (begins(&self.opener), begins(&self.closer));
        while self.ends.is_none() && self.read < until {
            let text = cx.bytes().get(self.read..until).unwrap_or_default();
            let Some(place) = memchr::memchr2(first, other, text).map(|i| self.read + i) else {
                self.read = until;
                break;
            };
            self.read = place + 1;
            if stands(cx, place, &self.closer) {
                self.depth -= 1;
                self.ends = (self.depth == 0).then_some(place);
            } else if stands(cx, place, &self.opener) {
                self.depth += 1;
            }
        }
        match self.ends {
            Some(end) => Look::when(end > at),
            None if cx.eof || self.read >= far => Look::No,
            None => Look::More,
        }
    }
}

/// This `marker` stands at `at`; one that ends in a word's letters, as a whole word.
fn stands(cx: &Reader<'_>, at: usize, marker: &str) -> bool {
    let text = cx.bytes().get(at..at + marker.len());
    let goes_on = |byte: &u8| char_class::IDENTIFIER.has_ascii(*byte);
    let word = marker.as_bytes().last().is_some_and(goes_on);
    text.is_some_and(|text| text.eq_ignore_ascii_case(marker.as_bytes()))
        && !(word && cx.bytes().get(at + marker.len()).is_some_and(goes_on))
}
