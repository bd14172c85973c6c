//! An element whose closing tag has not come.
use super::tag::{Kind, Tag};
use super::{Node, Within};
use crate::dialect::opener;
use crate::engine::body::shown::Quotation;
use crate::engine::body::values::Undecided;
use crate::engine::look::seen;
use crate::engine::{Look, Reader};
use crate::schema::Expected;
use smallvec::SmallVec;
use std::ops::Range;

/// So far behind what closes the call the element's own closing tag is looked for: mostly it was forgotten.
const NEAR: usize = 512;

/// And so far where that stands in quotes.
const FAR: usize = 4096;

/// An element of the top level whose end has not come.
#[derive(Debug)]
pub(super) struct OpenElement {
    /// The tags that are open, its own first.
    pub(super) tags: SmallVec<[Tag; 4]>,
    /// It shows a call: the innermost element whose text that is, counted from 1. What is open inside is text.
    shows: Option<usize>,
    /// What such elements hold.
    pub(super) texts: Vec<Range<usize>>,
    /// How far tags have been looked for.
    pub(super) searched: usize,
    /// How far its text has been given out.
    pub(super) sent: usize,
    pub(super) undecided: Undecided,
    /// It can only be a string.
    pub(super) streams: bool,
    /// Tags that are none of the call's stand in its text.
    tagged: bool,
    /// Where what was certain of its text ended, once it turned out to be more than a string.
    certain: usize,
}

impl OpenElement {
    /// The element that `tag` opens.
    pub(super) fn new(cx: &Reader<'_>, within: &Within<'_>, tag: Tag) -> Self {
        let expected = within.tool.map_or(Expected::ANY, |tool| tool.expected(tag.name(cx)));
        let end = tag.end;
        Self {
            tags: SmallVec::from_iter([tag]),
            shows: None,
            texts: Vec::new(),
            searched: end,
            sent: end,
            undecided: Undecided::default(),
            streams: expected.is_string() || expected.is_any(),
            tagged: false,
            certain: end,
        }
    }

    /// How far its text is certain, if it can only be a string.
    pub(super) fn certain(&self) -> usize {
        // A tag that may open a child.
        let child = self.tags.get(1).filter(|_| self.shows != Some(1));
        if self.streams { child.map_or(self.searched, |child| child.start) } else { self.certain }
    }

    /// It, with as much of its text as is certain, should nothing close it.
    pub(super) fn cut(&self, cx: &Reader<'_>) -> Option<(String, Node<'static>)> {
        let own = self.tags.first()?;
        let text = cx.slice(own.end, self.certain());
        (!text.is_empty()).then(|| (own.name(cx).to_owned(), Node::Text(text.to_owned())))
    }

    /// Nothing but white space stands in it, as far as that was looked at.
    pub(super) fn is_empty(&self, cx: &Reader<'_>) -> bool {
        let own = self.tags.first().map_or(self.searched, |tag| tag.end);
        cx.skip_space(own) >= self.searched
    }

    /// It shows calls, whole ones or one that is open.
    pub(super) fn shows_calls(&self) -> bool {
        self.shows.is_some() || !self.texts.is_empty()
    }

    /// `tag` closes the call, and nothing but text stands in the element: it shows that, if its own closing tag is yet to come,
    /// which nothing else opened, and the structure goes on behind it. Where that stands.
    #[cold]
    pub(super) fn goes_on(&self, cx: &Reader<'_>, within: &Within<'_>, tag: &Tag) -> Look<usize> {
        self.goes_on_near(cx, within, tag, NEAR)
    }

    /// `tag`, which is its own closing one, and what closes the call behind it stand between quotes that the element has opened: it shows
    /// them. Where its own stands, if that comes.
    pub(super) fn quoted_end(&self, cx: &Reader<'_>, within: &Within<'_>, tag: &Tag) -> Look<Option<usize>> {
        let own = match self.tags.as_slice() {
            [own] if own.name(cx) == tag.name(cx) && !within.prefix.is_empty() => own,
            _ => return Look::No,
        };
        let quotation = Quotation::at_end(cx.slice(own.end, tag.start));
        if !quotation.is_open() {
            return Look::No;
        }
        let close = seen!(Tag::at(cx, within.prefix, cx.skip_space(tag.end)));
        seen!(cx.literal(close.start, within.closer));
        let next = cx.skip_space(close.end);
        let sections = within.row.section_closes().map(|close| cx.opens(next, close));
        let end = seen!(Look::first_of(sections).or(|| Look::Is(close.end)));
        seen!(quotation.closes(cx, end));
        self.goes_on_near(cx, within, &close, FAR).map(Some).or(|| Look::Is(None))
    }

    fn goes_on_near(&self, cx: &Reader<'_>, within: &Within<'_>, tag: &Tag, far: usize) -> Look<usize> {
        let [own] = self.tags.as_slice() else { return Look::No };
        let call = cx.literal(tag.start, within.closer) != Look::No;
        if within.prefix.is_empty() || !call || self.shows_calls() || !self.streams {
            return Look::No;
        }
        let (mut at, mut open, mut text, mut in_call) = (tag.end, 0_usize, false, false);
        let end = cx.text.len().min(tag.end.saturating_add(far));
        while let Some(i) = memchr::memmem::find(cx.bytes().get(at..end).unwrap_or_default(), within.prefix.as_bytes())
        {
            let hit = at + i;
            text |= !cx.slice(at, hit).trim_ascii().is_empty();
            let next = seen!(Tag::at(cx, within.prefix, hit).or(|| Tag::of_call(cx, within, hit)));
            at = next.end;
            match next.kind {
                Kind::Closing if next.name(cx) != own.name(cx) => {
                    if cx.literal(hit, within.closer) != Look::No {
                        // Another element lost its closing tag.
                        if open > 0 {
                            return Look::No;
                        }
                        in_call = false;
                    }
                }
                Kind::Closing if open > 0 => open -= 1,
                // Where only what closes the call stands before it, the two are in the wrong order.
                // It is that of the call that stands there.
                Kind::Closing if in_call => return Look::No,
                Kind::Closing if text => {
                    let next = cx.skip_space(at);
                    let follows = cx.literal(next, within.closer);
                    return follows.or(|| Tag::at(cx, within.prefix, next).map(|tag| tag.end)).map(|_| hit);
                }
                Kind::Closing => return Look::No,
                Kind::Opening if next.name(cx) == own.name(cx) => open += 1,
                Kind::Opening => {}
                Kind::Call => in_call = true,
            }
        }
        if end == cx.text.len() && !cx.eof { Look::More } else { Look::No }
    }

    /// What stands at `hit`, maybe a `tag`, is text of it, as it is a string and nothing marks tags: neither its own tag, nor what
    /// closes the call, nor what opens another parameter.
    pub(super) fn takes(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize, tag: Option<&Tag>) -> bool {
        let ([own], Some(tool)) = (self.tags.as_slice(), within.tool) else { return false };
        if !within.prefix.is_empty() || !tool.expected(own.name(cx)).is_string() {
            return false;
        }
        if let Some(tag) = tag {
            let (name, opens) = (tag.name(cx), tag.kind != Kind::Closing);
            if name == own.name(cx) {
                if self.tagged && !opens {
                    self.passes(hit);
                }
                return false;
            }
            if cx.literal(hit, within.closer) != Look::No || opens && tool.declares(name) {
                return false;
            }
        }
        self.tagged = true;
        self.searched = tag.map_or(hit + 1, |tag| tag.end);
        true
    }

    /// All up to `at`, where its closing tag stands, is its text.
    pub(super) fn passes(&mut self, at: usize) {
        let start = self.tags.first().map_or(at, |own| own.end);
        match self.texts.last_mut().filter(|text| text.start == start) {
            Some(text) => text.end = at,
            None => self.texts.push(start..at),
        }
        self.searched = at;
    }

    /// `tag` opens an element in it, or a call that it shows.
    pub(super) fn opens(&mut self, cx: &Reader<'_>, within: &Within<'_>, tag: Tag) {
        let section =
            |tag: &Tag| within.row.section_opens().any(|open| opener(open) == Some(cx.slice(tag.start, tag.end)));
        let outer = self.tags.len();
        let certain = self.certain().min(tag.start);
        match self.shows {
            Some(_) => {}
            None if tag.kind == Kind::Call => {
                // The section that it stands in is a part of what is shown.
                let inside = self.tags.last().is_some_and(section) && outer > 1;
                self.shows = Some(outer - usize::from(inside));
                self.streams &= self.shows == Some(1);
            }
            // Text before a child is kept with the children.
            None => self.streams &= outer == 1 && section(&tag),
        }
        self.certain = certain;
        self.tags.push(tag);
    }

    /// `tag` closes the last one that is open. Else it does not fit.
    pub(super) fn closes(&mut self, cx: &Reader<'_>, tag: &Tag) -> bool {
        let certain = self.certain().min(tag.start);
        let Some(open) = self.tags.pop() else { return false };
        if open.name(cx) != tag.name(cx) {
            self.tags.push(open);
            return false;
        }
        let outer = self.tags.len();
        if self.shows == Some(outer + 1) {
            self.texts.push(open.end..tag.start);
            self.shows = None;
        }
        self.streams &= outer == 0 || self.shows.is_some();
        self.certain = certain;
        true
    }
}
