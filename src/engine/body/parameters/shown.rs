//! Calls and parameters that a value shows whole: a file about them, a test, a prompt. What closes these closes neither the
//! value nor the call round it.
use super::beyond::Reach;
use super::end::whole_tail;
use super::open::Openings;
use super::value::Within;
use super::*;
use crate::dialect::{catalogue, special};
use crate::engine::body::shown::begins;
use crate::engine::look::{seen, told};

/// How many calls and parameters a value shows (a file about them, a test) whose ends it has not shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    calls: usize,
    parameters: usize,
    /// It has shown a whole parameter.
    pub(super) whole: bool,
    /// It has shown a whole call of the tool that it is an argument of, where closing tags hold names.
    own: bool,
}

impl Shown {
    /// A closing marker stands there behind which the structure does not go on: it closes what is shown, if anything.
    pub(super) fn close(&mut self) {
        self.parameters = self.parameters.saturating_sub(1);
    }

    /// It has shown whole calls of its own tool, and each that it shows is whole.
    pub(super) const fn own_are_whole(&self) -> bool {
        self.own && self.calls == 0
    }

    /// What is shown is over.
    pub(super) fn closed() -> Self {
        Self { whole: true, ..Self::default() }
    }

    /// It shows a parameter that is not closed.
    pub(super) const fn is_open(&self) -> bool {
        self.parameters > 0
    }
}

impl OpenValue {
    /// The parameter whose key is `next`, at `at`, follows this one, and is none of a call that it shows.
    pub(super) fn follows(&self, cx: &Reader<'_>, within: &Within<'_>, next: Option<&Range<usize>>, at: usize) -> bool {
        self.shown.calls == 0 && self.goes_before(cx, within, next, at)
    }

    /// A call begins at `hit`, on a line of its own or behind a tag: the value shows one.
    pub(super) fn shows_call(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<()> {
        let look = if self.closes_by_key() { opens_own(cx, within, hit) } else { begins(cx, within.row, hit) };
        let look = look.then(|end| stands_alone(cx, hit, end));
        if look == Look::Is(()) {
            self.shown.calls += 1;
            self.searched = hit + 1;
        }
        look
    }

    /// A parameter of something else begins at `hit`, whose head ends at `end`.
    pub(super) fn shows_parameter(&mut self, cx: &Reader<'_>, hit: usize, end: usize) -> Look<()> {
        let look = if self.shown.calls > 0 { Look::Is(()) } else { stands_alone(cx, hit, end) };
        if look == Look::Is(()) {
            self.shown.parameters += 1;
            self.searched = hit + 1;
        }
        if look == Look::No {
            self.holds(Openings::Loose);
        }
        look
    }

    /// Its closing marker, which ends at `end` and has `next` behind it, closes a parameter that it shows.
    pub(super) fn closes_shown(&mut self, cx: &Reader<'_>, within: &Within<'_>, next: &Next, end: usize) -> Look<()> {
        if self.shown.parameters == 0 {
            return Look::No;
        }
        let closes = match next {
            Next::Parameter(begun) => {
                if !self.follows(cx, within, begun.key.as_ref(), cx.skip_markup_space(end)) {
                    Look::Is(())
                } else {
                    return self.is_shown_beyond(cx, within, end, Reach::Call);
                }
            }
            Next::Close => match self.goes_on(cx, within, cx.skip_markup_space(end)) {
                Look::No => return self.is_shown_beyond(cx, within, end, Reach::Calls),
                look => look,
            },
            Next::Junk | Next::End => Look::No,
            Next::More => Look::More,
        };
        if closes == Look::Is(()) {
            self.shown.parameters -= 1;
            self.shown.whole = true;
            self.searched = end;
        }
        closes
    }

    /// Where closing tags hold names, its own, which ends at `end`, has `next` behind it: it closes the parameter, and that the call,
    /// that the value shows, if the text goes on as that of a value behind them.
    pub(super) fn ends_own(&mut self, cx: &Reader<'_>, within: &Within<'_>, next: &Next, end: usize) -> Look<()> {
        if self.shown.calls == 0 || !self.closes_by_key() || *next != Next::Close {
            return Look::No;
        }
        let closer = cx.skip_markup_space(end);
        let ends = self.goes_on(cx, within, closer);
        if ends == Look::Is(()) {
            self.shown.calls -= 1;
            self.shown.own = true;
            self.same.close();
            self.searched = closer + 1;
        }
        ends
    }

    /// What closes a call stands at `hit`, and it closes one that the value shows.
    pub(super) fn ends_shown(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<()> {
        if self.shown.calls == 0 {
            return Look::No;
        }
        let ends = match whole_tail(cx, within.row, within.tail, hit) {
            Look::Is(_) => self.goes_on(cx, within, hit),
            look => look.unit(),
        };
        if ends == Look::Is(()) {
            self.shown.calls -= 1;
            self.shown.own |= self.closes_by_key();
            self.searched = hit + 1;
        }
        ends
    }

    /// Where what closes a call at `at`, and its section, ends.
    pub(super) fn behind_call(&self, cx: &Reader<'_>, within: &Within<'_>, at: usize) -> Look<usize> {
        let mut end = at;
        let closers = std::iter::once(within.tail).chain(within.row.section_closes());
        for closer in closers {
            if let Some(closer) = told!(head::head(cx, cx.skip_space(end), closer)) {
                end = closer.end;
                continue;
            }
            // Some of it may be missing.
            for text in closer.iter().filter_map(Element::text) {
                if let Some(behind) = told!(cx.literal(cx.skip_space(end), text)) {
                    end = behind;
                }
            }
        }
        Look::Is(end)
    }

    /// Behind what closes a call, at `at`, the text goes on as that of a value does: neither it nor the model's turn is over,
    /// and no other call begins unless the value shows calls.
    fn goes_on(&self, cx: &Reader<'_>, within: &Within<'_>, at: usize) -> Look<()> {
        let Within { row, parameter, tail, .. } = within;
        let end = seen!(self.behind_call(cx, within, at));
        let next = cx.skip_space(end);
        if next >= cx.text.len() {
            return if cx.eof { Look::No } else { Look::More };
        }
        let first = |elements: &[Element]| match elements.iter().find(|element| !matches!(element, Element::Space)) {
            Some(Element::Literal(text)) => cx.literal(next, text).unit(),
            _ => Look::No,
        };
        let begins = Look::any_of(row.heads().chain(row.section_opens()).map(first));
        let closer = self.closer(parameter);
        match begins.any(cx.literal(next, closer).unit()).any(first(tail)) {
            Look::Is(()) if self.shown.calls == 0 && begins == Look::Is(()) => Look::No,
            Look::No => ends_turn(cx, next),
            look => look,
        }
    }
}

/// The tag that opens a call of the same tool stands at `at`, where closing tags hold names, and a parameter of that behind it: where
/// the tag ends.
pub(super) fn opens_own(cx: &Reader<'_>, within: &Within<'_>, at: usize) -> Look<usize> {
    let Within { row, tail, called, .. } = *within;
    let name = tail.iter().find_map(|element| element.literal()?.strip_prefix("</"));
    // Most tags begin with another letter.
    let first = name.and_then(|name| name.bytes().next());
    match (name, cx.bytes().get(at + 1).copied()) {
        (Some(name), Some(byte)) if first == Some(byte) => {
            cx.literal(at + 1, name).then(|end| match Parameters::next(cx, row, tail, end, called) {
                Next::Parameter(_) => Look::Is(end),
                Next::More => Look::More,
                _ => Look::No,
            })
        }
        (Some(_), None) if !cx.eof => Look::More,
        _ => Look::No,
    }
}

/// What stands from `at` to `end` begins a line, follows a tag, or begins a string that goes on behind it: it is no mere
/// mention.
fn stands_alone(cx: &Reader<'_>, at: usize, end: usize) -> Look<()> {
    let alone = match cx.bytes().get(..at).and_then(<[u8]>::last) {
        Some(quote @ (b'"' | b'\'' | b'`')) => match cx.bytes().get(end) {
            None if !cx.eof => return Look::More,
            behind => behind != Some(quote),
        },
        _ => cx.at_line_start(at) || cx.follows_tag(at),
    };
    Look::when(alone)
}

/// `No` if a special token stands at `at`, of whatever dialect, which ends what a model says, else `Is`.
fn ends_turn(cx: &Reader<'_>, at: usize) -> Look<()> {
    let near = cx.near(at, misspelt::LONGEST_TAG);
    if near.first() != Some(&b'<') {
        return Look::Is(());
    }
    match memchr::memchr2(b'>', b'\n', near) {
        Some(end) => {
            let token = cx.slice(at, at + end + 1);
            let known = || catalogue().iter().any(|row| row.tokens.iter().any(|known| known == token));
            if special(token) || known() { Look::No } else { Look::Is(()) }
        }
        None if cx.may_go_on(near.len(), misspelt::LONGEST_TAG) => Look::More,
        None => Look::Is(()),
    }
}
