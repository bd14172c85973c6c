//! What a value holds that looks like the structure round it: tags of parameters, whole calls, its own opening marker.
use super::open::Openings;
use super::value::Within;
use super::*;
use crate::char_class;
use crate::dialect::{opener, special};
use crate::engine::body::shown::Quotation;
use crate::engine::look::seen;

impl OpenValue {
    /// The parameter whose key is `next`, at `at`, follows this one, though nothing closed it: a parameter of the tool
    /// that is not there yet, or no value holds such a marker.
    pub(super) fn goes_before(
        &self,
        cx: &Reader<'_>,
        within: &Within<'_>,
        next: Option<&Range<usize>>,
        at: usize,
    ) -> bool {
        let Within { row, called, .. } = within;
        let key = next.map_or("", |key| &cx.text[key.clone()]);
        let declared = || called.is_some_and(|tool| tool.declares(key));
        let token = row.dialect.special_markers && special(&within.parameter.opener);
        // One that the tool does not have is shown in quotes.
        let known = || called.is_some_and(|tool| !tool.parameters.is_empty());
        let shown = || known() && !declared() && Quotation::at_end(cx.slice(self.start, at)).is_open();
        token && !shown() || (cx.tools.is_none() && cx.at_line_start(at)) || (declared() && self.lacks(cx, within, key))
    }

    /// Where its closing marker holds its key, a tag at `hit` may be its own opening one, or that of another parameter
    /// of the tool, which follows it if its closing one never comes.
    pub(super) fn see_tag(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<()> {
        let key = seen!(tag(cx, within.parameter, hit));
        if cx.part(&key) == self.key(cx) {
            self.holds(Openings::Loose);
        } else if self.ends.parameter.is_none() && self.goes_before(cx, within, Some(&key), hit) {
            self.ends.parameter = Some(hit);
        }
        Look::No
    }

    /// What closes the call stands at `hit`, an offered tool is called behind it, and the value is not long: its closing
    /// marker is missing. Where the value ends.
    #[cold]
    pub(super) fn ends_before_call(&self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<usize> {
        let end = self.ends.parameter.unwrap_or(hit);
        if self.is_long(cx, end) {
            return Look::No;
        }
        let literals = within.tail.iter().filter_map(Element::literal);
        let mut at = hit;
        for text in literals {
            at = seen!(cx.literal(cx.skip_space(at), text));
        }
        let next = seen!(misspelt::behind(cx, at));
        match tag(cx, within.parameter, next) {
            Look::Is(name) if cx.offered(cx.part(&name)) => Look::Is(end),
            Look::Is(_) => Look::No,
            other => other.map(|_| end),
        }
    }

    /// Up to `end` it is more than a word or a line: what it holds may be its own.
    pub(super) fn is_long(&self, cx: &Reader<'_>, end: usize) -> bool {
        cx.slice(self.start, end).trim_ascii().contains(['\n', '<'])
    }

    /// A call begins in it. Its first closing marker may have closed a parameter of that, or where its own is `missing`,
    /// what follows may be one: so it may be cut off.
    #[cold]
    pub(super) fn holds_call(&self, cx: &Reader<'_>, row: &Row, end: usize, missing: bool) -> bool {
        let text = cx.slice(self.start, end).as_bytes();
        let Some(template) = row.parameters.get(self.opening.template) else { return false };
        let (parameter, call) = if self.closes_by_key() {
            let tags = || memchr::memmem::find_iter(text, template.opener.as_bytes()).map(|at| self.start + at);
            let named = |at: usize| tag(&cx.whole(), template, at);
            let own = |at: &usize| matches!(named(*at), Look::Is(key) if cx.text[key.clone()] == *self.key(cx));
            let offered = |at: &usize| matches!(named(*at), Look::Is(name) if cx.vouches(name.clone()));
            (tags().filter(own).last(), tags().find(offered))
        } else {
            let first = |elements| opener(elements).and_then(|first| memchr::memmem::find(text, first.as_bytes()));
            let call = row.marked_calls().filter_map(|call| first(&call.head)).min();
            let parameters = row.parameters.iter().filter_map(|p| memchr::memmem::rfind(text, p.opener.as_bytes()));
            (parameters.max().map(|at| self.start + at), call.map(|at| self.start + at))
        };
        let parameter = if missing { Some(end) } else { parameter };
        call.zip(parameter).is_some_and(|(call, parameter)| call < parameter)
    }

    /// Nothing of its own opens the value, and what opens others stands in it.
    pub(super) fn holds_opening(&self, cx: &Reader<'_>, row: &Row, parameter: &Parameter, end: usize) -> bool {
        if !parameter.opens_in_space() {
            return false;
        }
        let text = cx.slice(self.start, end);
        let opens = |element: &Element| match element {
            Element::Literal(tag) if tag.len() > 2 && tag.starts_with('<') => {
                // It may lack its first sign.
                text.trim_ascii_start().starts_with(&tag[1..])
                    || memchr::memmem::find(text.as_bytes(), tag.as_bytes()).is_some()
            }
            _ => false,
        };
        row.parameters.iter().any(|other| other.head.iter().skip(1).any(opens))
    }

    /// What stands between a key and its value stands in it, and no key is opened before that: a parameter whose own marker was lost.
    pub(super) fn holds_unopened(&self, cx: &Reader<'_>, parameter: &Parameter, end: usize) -> bool {
        let key = parameter.head.iter().position(|element| *element == Element::Slot(Slot::Key));
        let behind = key.and_then(|key| parameter.head.get(key + 1..)).unwrap_or_default();
        // One marker alone may be spoken of.
        let [Element::Literal(closer), .., Element::Literal(_)] = behind else { return false };
        let text = cx.slice(self.start, end);
        let Some(at) = find(text.as_bytes(), closer.as_bytes()) else { return false };
        let opened =
            text.get(..at).is_some_and(|before| find(before.as_bytes(), parameter.opener.as_bytes()).is_some());
        !opened && matches!(head::head(cx, self.start + at, behind), Look::Is(head) if head.end <= end)
    }

    /// How its opening marker is written, from where it begins and from its last tag on.
    fn openers<'t>(&self, cx: &Reader<'t>, row: &Row) -> [&'t str; 2] {
        let before = cx.slice(0, self.opening.end);
        let from = |at: Option<usize>| at.and_then(|at| before.get(at..)).unwrap_or_default();
        let opener = row.parameters.get(self.opening.template).map_or("<", |parameter| &*parameter.opener);
        [from(memchr::memmem::rfind(before.as_bytes(), opener.as_bytes())), from(before.rfind('<'))]
    }

    /// `text` begins as an opening marker does.
    fn opens(&self, row: &Row, text: &str) -> bool {
        let opener = row.parameters.get(self.opening.template).and_then(|parameter| parameter.opener.bytes().next());
        text.bytes().next().is_some_and(|byte| byte == b'<' || Some(byte) == opener)
    }

    /// `text`, with which it begins, is its opening marker once more, as far as it goes.
    pub(super) fn may_open_twice(&self, cx: &Reader<'_>, row: &Row, text: &str) -> bool {
        let text = text.trim_ascii_start();
        let tag = |opener: &str| opener.len() >= 4 && (text.starts_with(opener) || opener.starts_with(text));
        self.opens(row, text) && self.openers(cx, row).into_iter().any(tag)
    }

    /// Its opening marker stands there once more, in `text`, and no other marker of its own: where what it holds begins.
    pub(super) fn opened_twice(&self, cx: &Reader<'_>, row: &Row, text: &str) -> Option<usize> {
        let rest = text.trim_ascii_start();
        let end = self.start + text.len();
        if !self.opens(row, rest) || self.is_sent() || self.ends.doubtful.is_some_and(|own| own.at != end) {
            return None;
        }
        let openers = self.openers(cx, row);
        let opener = openers.into_iter().find(|opener| opener.len() >= 4 && rest.starts_with(opener))?;
        let inside = rest.get(opener.len()..)?;
        let once = memchr::memmem::find(inside.as_bytes(), opener.as_bytes()).is_none();
        once.then_some(text.len() - inside.len())
    }
}

/// The name in an opening tag as `parameter` has it, if one stands at `at`.
pub(super) fn tag(cx: &Reader<'_>, parameter: &Parameter, at: usize) -> Look<Range<usize>> {
    let (Some(Element::Literal(last)), opener) = (parameter.head.last(), &*parameter.opener) else { return Look::No };
    let start = seen!(cx.literal(at, opener));
    let end = start + char_class::NAME.length(cx.near(start, 128));
    if end == start && end < cx.text.len() {
        return Look::No;
    }
    cx.literal(end, last).map(|_| start..end)
}
