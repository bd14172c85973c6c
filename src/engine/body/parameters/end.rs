//! Where the value of one parameter ends.
use super::open::{Closer, Openings};
use super::value::Within;
use super::*;
use crate::bytes::{find, find_near};
use crate::engine::body::lenient::is_prose;
use crate::engine::look::{found, seen};

/// So far behind the end of a text in a section its own closing marker is looked for.
const FAR: usize = 2048;

/// Where a value ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) end: usize,
    /// Where what follows its closing marker begins.
    pub(super) next: usize,
    pub(super) closing: Closing,
}

/// What closed a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// Its closing marker.
    Own,
    /// That, and behind it stands a parameter that cannot be read.
    BeforeLost,
    /// That, and behind it another call begins.
    BeforeCall,
    /// That, twice.
    Twice,
    /// A tag like it.
    Misspelt,
    /// Nothing: what follows the value begins there.
    Missing,
}

impl Closing {
    /// What is wrong with it.
    pub(super) const fn slip(self) -> Option<&'static str> {
        match self {
            Self::Own | Self::BeforeLost | Self::BeforeCall => None,
            Self::Twice => Some("a parameter's closing marker stood twice"),
            Self::Misspelt => Some("a parameter's closing marker is misspelt"),
            Self::Missing => Some("a parameter's closing marker is missing"),
        }
    }
}

impl Ended {
    /// It ended at `end`, and its closing marker at `next`.
    const fn closed(end: usize, next: usize, closing: Closing) -> Self {
        Self { end, next, closing }
    }

    /// Its closing marker is `own`, and behind that another call begins.
    pub(super) const fn before_call(own: Closer) -> Self {
        Self::closed(own.at, own.end, Closing::BeforeCall)
    }

    /// It ended at `end`, where what follows begins.
    pub(super) const fn unclosed(end: usize) -> Self {
        Self::closed(end, end, Closing::Missing)
    }
}

impl OpenValue {
    /// A tag like its closing marker stands at `hit`, the structure goes on right behind it, and the value holds no such
    /// tag that it could close.
    #[cold]
    fn misspelt_end(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize, ahead: &mut Ahead) -> Look<Ended> {
        if self.tagged {
            return Look::No;
        }
        let Within { row, parameter, tail, called, .. } = within;
        let key = self.key(cx);
        let closes = |element: &Element, name: &str| {
            let tag = element.literal().and_then(|text| text.strip_prefix("</"));
            tag.is_some_and(|tag| tag.trim_end_matches('>') == name)
        };
        let slip = |name: &str| self.closes_by_key() && misspelt::is_slip(name, key);
        let also = |name: &str| name == key || slip(name) || parameter.head.iter().any(|element| closes(element, name));
        let closer = self.closer(parameter);
        let tag = seen!(misspelt::closing(cx, row, hit, closer, also));
        let at = seen!(misspelt::behind(cx, tag.end));
        let ended = Ended::closed(hit, tag.end, Closing::Misspelt);
        // Where only its name makes a parameter, the tool has one of that name.
        let declared = called.filter(|_| self.closes_by_key());
        let mut begins = None;
        match Parameters::next(cx, row, tail, tag.end, declared) {
            Next::More => return Look::More,
            Next::Junk => return Look::No,
            Next::Parameter(begun) => {
                if !self.goes_before(cx, within, begun.key.as_ref(), at) {
                    return Look::No;
                }
                begins = Some((tag.end, Next::Parameter(begun)));
            }
            Next::Close => {
                let last = match whole_tail(cx, row, tail, at) {
                    Look::Is(false) => ends_text(cx, tail, at),
                    Look::Is(true) | Look::No => Look::Is(()),
                    Look::More => Look::More,
                };
                match last {
                    Look::More => return Look::More,
                    Look::Is(()) => {}
                    Look::No => {
                        self.ends.misspelt = Some(Closer { at: hit, end: tag.end });
                        return Look::No;
                    }
                }
            }
            // Cut off.
            Next::End => {}
        }
        if !tag.name.is_empty() && self.holds_tag(cx, hit, &format!("<{}", tag.name)) {
            return Look::No;
        }
        *ahead = begins;
        if tag.name.is_empty() {
            return Look::Is(ended);
        }
        // Its own stands right before it, with nothing of the value between the two.
        let own = self.ends.doubtful.filter(|_| self.closes_by_key() || self.openings == Openings::None);
        Look::Is(match own.filter(|own| cx.slice(own.end, hit).trim_ascii().is_empty()) {
            Some(own) => Ended { end: own.at, closing: Closing::Twice, ..ended },
            None => ended,
        })
    }

    /// What ends its text before its closing tag (`]]></param>`) stands at `hit`, without that tag, and the structure goes
    /// on behind it.
    #[cold]
    fn section_ends(&self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<Ended> {
        let Within { row, parameter, tail, .. } = *within;
        let Some(end) = parameter.closes_section().map(|mark| cx.literal(hit, mark)) else { return Look::No };
        let end = seen!(end);
        match Parameters::next(cx, row, tail, end, None) {
            Next::More => Look::More,
            Next::Junk => self.text_behind_section(cx, within, end),
            Next::End => Look::No,
            _ => Look::Is(Ended::closed(hit, end, Closing::Missing)),
        }
    }

    /// Text stands behind what ends such a text, at `end`, and behind that the closing tag and the structure round it: a value of
    /// which nobody can say what it is, unless its own closing marker comes before another section.
    #[cold]
    fn text_behind_section(&self, cx: &Reader<'_>, within: &Within<'_>, end: usize) -> Look<Ended> {
        let Within { row, parameter, tail, .. } = *within;
        let near = cx.near(end, FAR);
        let own = find(near, parameter.closer.as_bytes());
        let section = find(near, CDATA[0].as_bytes());
        if own.is_some_and(|own| section.is_none_or(|section| own < section)) {
            return Look::No;
        }
        if section.is_none() && cx.may_go_on(near.len(), FAR) {
            return Look::More;
        }
        let before = section.and_then(|section| near.get(..section)).unwrap_or(near);
        let Some(tag) = find(before, parameter.closing_tag().as_bytes()).map(|tag| end + tag) else { return Look::No };
        let behind = tag + parameter.closing_tag().len();
        match Parameters::next(cx, row, tail, behind, None) {
            Next::More => Look::More,
            Next::Junk | Next::End => Look::No,
            _ => Look::Is(Ended::closed(tag, behind, Closing::BeforeLost)),
        }
    }

    /// Its closing marker, which ends at `end`, stands there once more, the structure goes on behind that, and the value
    /// holds no opening one.
    #[cold]
    fn doubled_end(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize, end: usize) -> Look<Ended> {
        let Within { row, parameter, tail, called, .. } = within;
        if self.tagged || self.same.is_open() {
            return Look::No;
        }
        let closer = self.closer(parameter);
        let declared = called.filter(|_| self.closes_by_key());
        let marker = misspelt::behind(cx, end).then(|at| cx.literal(at, closer));
        let again = seen!(marker.then(|end| parameter.behind_closer(cx, end)));
        match Parameters::next(cx, row, tail, again, declared) {
            Next::More => return Look::More,
            Next::Junk => return Look::No,
            _ => {}
        }
        let named = self.closer.as_ref().map(|_| format!("<{}>", self.key(cx)));
        let opener = named.as_deref().unwrap_or(&parameter.opener);
        if self.holds_tag(cx, hit, opener) { Look::No } else { Look::Is(Ended::closed(hit, again, Closing::Twice)) }
    }

    /// Its closing marker, `own`, stands there: it is one only if the structure goes on behind it.
    fn closes(&mut self, cx: &Reader<'_>, within: &Within<'_>, own: Closer, ahead: &mut Ahead) -> Look<Ended> {
        let Within { row, tail, called, .. } = *within;
        let declared = called.filter(|_| self.closes_by_key());
        // Mostly it goes on there: what was seen stays where it is kept.
        let (_, next) = ahead.insert((own.end, Parameters::next(cx, row, tail, own.end, declared)));
        // In mere text nothing stands that it could close instead.
        let inner = if self.marked { self.closes_inner(cx, within, next, own) } else { Look::No };
        let (more, junk) = (matches!(next, Next::More), matches!(next, Next::Junk));
        let last = matches!(next, Next::Close);
        if inner == Look::No && !more && !junk {
            let quoted = if last { self.is_quoted_end(cx, within, own) } else { Look::No };
            if quoted == Look::No {
                return Look::Is(Ended::closed(own.at, own.end, Closing::Own));
            }
            *ahead = None;
            return quoted.then(|()| Look::No);
        }
        *ahead = None;
        match inner {
            Look::Is(Some(ended)) => Look::Is(ended),
            Look::Is(None) => Look::No,
            Look::More => Look::More,
            Look::No if more => Look::More,
            Look::No => self.closes_before_text(cx, within, own),
        }
    }

    /// What looks like its closing marker, `own`, with `next` behind it, closes something that the value holds; with that the value
    /// may have ended before.
    fn closes_inner(&mut self, cx: &Reader<'_>, within: &Within<'_>, next: &Next, own: Closer) -> Look<Option<Ended>> {
        let shown = match self.closes_shown(cx, within, next, own.end) {
            Look::No => self.ends_own(cx, within, next, own.end),
            look => look,
        };
        if shown != Look::No {
            return shown.map(|()| None);
        }
        let before = self.ends_before_same(next);
        if before.is_some() || self.closes_same(next, own) { Look::Is(before) } else { Look::No }
    }

    /// Its closing marker, `own`, has something behind it that does not follow a parameter.
    #[cold]
    fn closes_before_text(&mut self, cx: &Reader<'_>, within: &Within<'_>, own: Closer) -> Look<Ended> {
        let Within { row, tail, called, .. } = *within;
        let Closer { at: hit, end } = own;
        if self.is_cut_behind(cx, within, end) {
            return Look::Is(Ended::closed(hit, end, Closing::Own));
        }
        // Its last sign stands there twice.
        if cx.bytes().get(end) == Some(&b'>') {
            let declared = called.filter(|_| self.closes_by_key());
            return match Parameters::next(cx, row, tail, end + 1, declared) {
                Next::More => Look::More,
                Next::Junk => Look::No,
                _ => Look::Is(Ended::closed(hit, end + 1, Closing::Misspelt)),
            };
        }
        found!(self.doubled_end(cx, within, hit, end));
        match self.lost_parameter(cx, within, hit, end) {
            Look::Is(lost) => {
                let closing = if lost { Closing::BeforeLost } else { Closing::Own };
                return Look::Is(Ended::closed(hit, end, closing));
            }
            Look::More => return Look::More,
            Look::No => {}
        }
        let stray = self.stray_closer(cx, within, end);
        if stray == Look::More || self.see_call(cx, within, own) == Look::More {
            return Look::More;
        }
        self.stray |= stray == Look::Is(());
        self.ends.doubtful = Some(own);
        Look::No
    }

    /// The text is cut off in the next parameter's marker, which begins at `end`.
    #[cold]
    fn is_cut_behind(&self, cx: &Reader<'_>, within: &Within<'_>, end: usize) -> bool {
        let Within { row, parameter, tail, .. } = *within;
        let unfinished = Reader { eof: false, ..*cx };
        cx.eof
            && self.closer.is_none()
            && cx.rest(cx.skip_space(end)).starts_with(&*parameter.opener)
            && Parameters::next(&unfinished, row, tail, end, None) == Next::More
    }

    /// Something else than its closing marker begins at `hit`: the next parameter, or what closes the call.
    #[inline(never)]
    fn other_ends(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<Ended> {
        let parameter = within.parameter;
        let opens = if self.closes_by_key() {
            self.see_tag(cx, within, hit)
        } else {
            cx.literal(hit, &parameter.opener).unit()
        };
        if opens == Look::Is(()) {
            self.holds(Openings::Shown);
        }
        match opens {
            Look::More => Look::More,
            Look::No => match self.shows_call(cx, within, hit) {
                Look::Is(()) => Look::No,
                Look::More => Look::More,
                Look::No => self.call_ends(cx, within, hit),
            },
            Look::Is(()) => match head::head(cx, hit, &parameter.head) {
                Look::Is(next) if self.follows(cx, within, next.key.as_ref(), hit) => {
                    self.ends_before_parameter(cx, within, next.key.as_ref(), hit)
                }
                Look::Is(shown) => match self.shows_parameter(cx, hit, shown.end) {
                    Look::More => Look::More,
                    _ => Look::No,
                },
                Look::More => Look::More,
                Look::No => Look::No,
            },
        }
    }

    /// What closes the call stands at `hit`, perhaps. Inside a value it is text, unless its whole end and a new call stand
    /// there.
    fn call_ends(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<Ended> {
        match self.ends_shown(cx, within, hit) {
            Look::Is(()) => return Look::No,
            Look::More => return Look::More,
            Look::No => {}
        }
        match whole_tail(cx, within.row, within.tail, hit) {
            Look::Is(true) => return self.ends_unless_beyond(cx, within, hit, hit),
            Look::Is(false) => {}
            Look::No => return Look::No,
            Look::More => return Look::More,
        }
        if self.closes_by_key() {
            // Parameters that the tool does not have may stand between the two.
            if let Some(Closer { at, end }) = self.ends.doubtful {
                let begins = cx.bytes().get(cx.skip_space(end)) == Some(&b'<');
                if begins && cx.slice(end, hit).trim_ascii_end().ends_with('>') {
                    return Look::Is(Ended::closed(at, end, Closing::Own));
                }
            }
            // Behind the first one it is long.
            if self.ends.call.is_none() {
                match self.ends_before_call(cx, within, hit) {
                    Look::Is(end) => return self.ends_unless_beyond(cx, within, end, hit),
                    Look::More => return Look::More,
                    Look::No => {}
                }
            }
        }
        self.ends.call.get_or_insert(hit);
        Look::No
    }

    /// Where the value ends, and what stands `ahead` if that was looked at. `No`: the text is over, and the value is not.
    pub(super) fn find_end(&mut self, cx: &Reader<'_>, within: &Within<'_>, ahead: &mut Ahead) -> Look<Ended> {
        let parameter = within.parameter;
        let bytes = cx.bytes();
        let own = self.closer.clone();
        let closer = own.as_deref().unwrap_or(&parameter.closer);
        let Some(first) = closer.as_bytes().first().copied() else { return Look::No };
        loop {
            let rest = bytes.get(self.searched..).unwrap_or_default();
            let Some(hit) = find_near(first, rest).map(|i| self.searched + i) else {
                self.searched = bytes.len();
                break;
            };
            self.searched = hit;
            if let Some(ended) = self.ends_far_before(hit) {
                return Look::Is(ended);
            }
            let ended = match cx.literal(hit, closer) {
                Look::More => return Look::More,
                Look::No => self.other_ends(cx, within, hit),
                Look::Is(end) => match parameter.behind_closer(cx, end) {
                    Look::Is(end) => self.closes(cx, within, Closer { at: hit, end }, ahead),
                    Look::More => return Look::More,
                    Look::No => Look::No,
                },
            };
            if matches!(ended, Look::Is(_)) {
                return ended;
            }
            self.marked = true;
            if self.searched > hit {
                // It is part of what the value shows.
                continue;
            }
            let ended = if ended == Look::No { self.misspelt_end(cx, within, hit, ahead) } else { ended };
            let ended = if ended == Look::No { self.section_ends(cx, within, hit) } else { ended };
            if ended != Look::No {
                return ended;
            }
            match self.opens_same(cx, parameter, hit) {
                Look::Is(()) => self.same.open(),
                Look::More => return Look::More,
                Look::No => {}
            }
            if self.ends.doubtful.is_some_and(|own| own.at == hit) {
                self.shown.close();
                self.same.close();
            }
            self.searched = hit + 1;
        }
        if cx.eof { self.never_ended(cx, within) } else { Look::More }
    }

    /// The text is over, and what closes the value has not come: where it may have ended all the same.
    #[cold]
    fn never_ended(&self, cx: &Reader<'_>, within: &Within<'_>) -> Look<Ended> {
        let Within { row, parameter, tail, called, .. } = *within;
        if let Some(own) = self.ends.before_call {
            return Look::Is(Ended::before_call(own));
        }
        match (self.ends.call, self.ends.doubtful) {
            (Some(at), _) if called.is_some() => Look::Is(match self.ends.misspelt {
                Some(tag) if cx.skip_space(tag.end) == at => Ended::closed(tag.at, tag.end, Closing::Misspelt),
                _ => Ended::unclosed(self.ends.parameter.filter(|next| *next < at).unwrap_or(at)),
            }),
            (None, Some(Closer { at, end })) => {
                let declared = called.filter(|_| self.closes_by_key());
                let cut = cut_marker(cx, row, tail, end) || cut_key(cx, parameter, declared, end);
                if cut || self.closes_by_key() && prose_behind(cx, end).is_some() {
                    Look::Is(Ended::closed(at, end, Closing::Own))
                } else {
                    Look::No
                }
            }
            _ => Look::No,
        }
    }
}

impl Parameter {
    /// White space alone stands before the value, behind the key.
    pub(super) fn opens_in_space(&self) -> bool {
        matches!(self.head.last(), Some(Element::Space))
    }

    /// Where its head stands, it begins, whatever the tool declares.
    pub(super) fn is_told_by_head(&self) -> bool {
        self.behind_key.is_none() && !self.opens_in_space()
    }

    /// What ends the text of a CDATA section, where all values are such.
    pub(super) fn closes_section(&self) -> Option<&'static str> {
        let [_, closer] = CDATA;
        self.closer.starts_with(closer).then_some(closer)
    }

    /// Its closing marker, less what ends such a section before it.
    pub(super) fn closing_tag(&self) -> &str {
        self.closes_section().and_then(|mark| self.closer.strip_prefix(mark)).unwrap_or(&self.closer)
    }

    /// Where the closing marker ends that begins with what ends at `end`.
    pub(super) fn behind_closer(&self, cx: &Reader<'_>, end: usize) -> Look<usize> {
        match self.after.as_slice() {
            [] => Look::Is(end),
            after => head::head(cx, end, after).map(|head| head.end),
        }
    }
}

/// Where the lines of prose begin behind the parameter that ended at `end`, if all of the text there is that.
pub(super) fn prose_behind(cx: &Reader<'_>, end: usize) -> Option<usize> {
    let at = cx.skip_space(end);
    (cx.slice(end, at).contains('\n') && is_prose(cx.rest(at))).then_some(at)
}

/// The text ends in the first bytes of what closes the call or of another parameter.
fn cut_marker(cx: &Reader<'_>, row: &Row, tail: &[Element], at: usize) -> bool {
    let rest = cx.rest(cx.skip_markup_space(at));
    let closers = tail.iter().filter_map(Element::literal);
    closers.chain(row.parameters.iter().map(|p| &*p.opener)).any(|text| text.starts_with(rest))
}

/// The text ends in a marker that holds a parameter's key, and in the first letters of that.
fn cut_key(cx: &Reader<'_>, parameter: &Parameter, declared: Option<&Tool>, at: usize) -> bool {
    let key = cx.rest(cx.skip_space(at)).strip_prefix(&*parameter.opener).filter(|_| parameter.behind_key.is_some());
    key.is_some_and(|key| declared.is_some_and(|tool| tool.parameters.iter().any(|(name, _)| name.starts_with(key))))
}

/// The text ends behind the tail, which stands at `at`.
fn ends_text(cx: &Reader<'_>, tail: &[Element], at: usize) -> Look<()> {
    let literals = tail.iter().filter_map(Element::text);
    let end = literals.fold(at, |at, text| match cx.literal(cx.skip_space(at), text) {
        Look::Is(end) => end,
        _ => at,
    });
    match misspelt::behind(cx, end) {
        Look::Is(next) if next < cx.text.len() => Look::No,
        look => look.unit(),
    }
}

/// `Some(true)`: the whole tail stands at `at` and another call or the section's end behind it; `Some(false)`: its
/// first marker does.
pub(super) fn whole_tail(cx: &Reader<'_>, row: &Row, tail: &[Element], at: usize) -> Look<bool> {
    let mut here = at;
    let mut seen = 0;
    for element in tail {
        match element {
            Element::Space => here = cx.skip_space(here),
            Element::Literal(text) | Element::Optional(text) => match cx.literal(here, text) {
                Look::Is(end) => {
                    here = end;
                    seen += 1;
                }
                Look::More => return Look::More,
                Look::No if seen == 0 && matches!(element, Element::Literal(_)) => return Look::No,
                Look::No => {}
            },
            _ => {}
        }
    }
    if seen == 0 {
        return Look::No;
    }
    if row.by_name() {
        return Look::Is(false);
    }
    let next = cx.skip_space(here);
    if next >= cx.text.len() {
        return cx.over(false);
    }
    let first = |elements: &[Element]| cx.opens(next, elements);
    let mut more = false;
    for look in row.marked_calls().map(|c| first(&c.head)).chain(row.section_closes().map(first)) {
        match look {
            Look::Is(_) => return Look::Is(true),
            Look::More => more = true,
            Look::No => {}
        }
    }
    if more { Look::More } else { Look::Is(false) }
}
