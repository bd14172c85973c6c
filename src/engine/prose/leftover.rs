//! Markers that are left over: what opens or closes nothing, closing tags that no dialect has, and what the end of the text cut off.
use crate::char_class;
use crate::dialect::{Body, CallId, CallTemplate, Element, Marker, RowId, opener};
use crate::engine::context::quotation;
use crate::engine::look::{seen, told};
use crate::engine::origin::Origin;
use crate::engine::tail::cut_off;
use crate::engine::trace::Noted;
use crate::engine::{Doubt, Engine, Given, Look, Mode, Reader, Taken, head, misspelt};
use crate::json::{ScanResult, Scanner};
use crate::turn::{Issue, IssueCode};

/// Fewer bytes of a marker are no evidence.
const SHORTEST: usize = 4;

/// More is no word.
const LONGEST: usize = 64;

/// Markers that were met without those that belong to them.
#[derive(Debug, Default)]
pub(crate) struct Leftover {
    /// A section's opening marker was given out as text, and so many calls had been found by then.
    pub(in crate::engine) opener_given: Option<usize>,
    /// Where the marker that opens reasoning stood last in a place where it opens nothing: the text only names it.
    pub(in crate::engine) named_opener: Option<usize>,
    /// An opening marker was left in the text because no readable call followed it.
    pub(in crate::engine) unread: bool,
    /// Opening markers that were left in the text, counted when a closing one needs to know.
    pub(in crate::engine) opened: Vec<Opened>,
    /// By what the last call was read, if its closing marker is missing: it may come yet.
    pub(in crate::engine) unclosed: Option<Origin>,
}

impl Engine {
    /// Says that this was left out of the text, and what it was: it may be misspelt, or have a name of its own.
    fn left_out(&mut self, cx: &Reader<'_>, range: std::ops::Range<usize>, what: &str) {
        let message = format!("{what} was left out: {}", cx.part(&range).trim());
        self.out.issue(Issue::at(IssueCode::StrayMarker, range.start, message));
    }

    /// What stands from `at` to the end of the text is cut off, and left out of it.
    fn leave_cut(&mut self, cx: &Reader<'_>, at: usize, what: &str) {
        let end = cx.text.len();
        self.out.cut = true;
        self.left_out(cx, at..end, what);
        self.out.trace.note(at..end, Noted::Dropped);
        self.cut_out(cx, at, end);
    }

    /// Nothing but white space stands between a call and `at`.
    fn behind_call(&self, cx: &Reader<'_>, at: usize) -> bool {
        let near = self.behind_removed(cx, at);
        let plain =
            self.given.mode == Mode::Content && self.inline.is_none() && self.fence.is_none() && self.hold.is_none();
        near && plain && !self.out.calls.is_empty()
    }

    /// Nothing stands behind a call but the beginning of a word before which the model is stopped: where that begins.
    pub(super) fn stops(&self, cx: &Reader<'_>) -> Option<usize> {
        let at = cx.skip_space(self.given.from);
        let rest = cx.bytes().get(at..).unwrap_or_default();
        let held = self.hold.as_ref().is_some_and(|hold| hold.doubt != Doubt::InlineCode);
        let plain = self.given.mode == Mode::Content && self.fence.is_none() && !held;
        if rest.is_empty() || rest.len() > LONGEST || !plain || !self.behind_removed(cx, at) {
            return None;
        }
        let row = self.out.calls.last().and_then(|call| call.origin.row(cx))?;
        let end = at + rest.trim_ascii_end().len();
        let unfinished = cx.up_to(end).unfinished();
        let begins = |stop: &String| match head::label(&unfinished, at, stop) {
            Look::Is(behind) => behind == end,
            look => look == Look::More,
        };
        row.dialect.stops.iter().chain(&row.dialect.observations).any(begins).then_some(at)
    }

    /// The text is over: such a word is none of it.
    pub(super) fn leave_stop(&mut self, cx: &Reader<'_>) {
        // Inline code may end behind it, so that it waits in that as well.
        let plain = self.inline.is_none() && self.hold.is_none();
        let stops = self.stops(cx).filter(|at| plain && cx.text.len() - at >= SHORTEST);
        let Some(at) = stops else { return };
        self.left_out(cx, at..cx.text.len(), "a word before which the model was stopped");
        self.remove(cx, at, cx.text.len());
    }

    /// Right behind a call without markers stands a fence's line, `at` up to `end`, and nothing behind it: what would open the
    /// fence is missing.
    pub(in crate::engine) fn leftover_fence(&mut self, cx: &Reader<'_>, at: usize, end: usize) -> Taken {
        let bare = self.out.calls.last().is_some_and(|call| call.origin.is_bare());
        if !bare || !self.behind_call(cx, at) {
            return Taken::No;
        }
        match cx.behind_space(at, end) {
            Look::Is(next) if next >= cx.text.len() => {
                self.left_out(cx, at..end, "a fence that closes nothing");
                self.remove(cx, at, next);
                Taken::Done
            }
            Look::More => Taken::More,
            _ => Taken::No,
        }
    }

    /// Right behind a call stands an opening marker, whose markers `ends` lists, and its closing one at once, or the end of the
    /// text: also of a marker that is cut off.
    pub(super) fn opens_nothing(&mut self, cx: &Reader<'_>, at: usize, ends: &[(usize, u32)]) -> Taken {
        if !self.behind_call(cx, at) {
            return Taken::No;
        }
        let over = match ends.last() {
            None if cx.rest(at).len() >= SHORTEST => Look::Is(cx.text.len()),
            None => Look::No,
            Some((length, list)) => {
                let markers = cx.dialects.markers.list(*list);
                Look::first_of(markers.iter().map(|marker| Self::closed_at_once(cx, *marker, at + length)))
            }
        };
        over.take(|end| {
            self.left_out(cx, at..end, "an opening marker that opens nothing");
            self.remove(cx, at, end);
            Taken::Done
        })
    }

    /// An opening marker, of those that `ends` lists, and its closing one at once, or with an empty list between them: a call of
    /// nothing. Among the words of a line, tags are spoken of. Sources: tests of vLLM, SGLang and Dynamo.
    pub(super) fn holds_nothing(&mut self, cx: &Reader<'_>, at: usize, ends: &[(usize, u32)]) -> Taken {
        let plain = self.given.mode == Mode::Content && self.inline.is_none() && self.fence.is_none();
        if !plain || self.hold.is_some() {
            return Taken::No;
        }
        let Some((length, list)) = ends.last() else { return Taken::No };
        let next = cx.skip_space(behind_tag_end(cx, at + length));
        if cx.bytes().get(next).is_some_and(|byte| *byte != b'[' && !cx.dialects.closes[usize::from(*byte)]) {
            return Taken::No;
        }
        let markers = cx.dialects.markers.list(*list).iter();
        let end = seen!(Look::first_of(markers.map(|marker| Self::closed_empty(cx, *marker, at + length))));
        let token = cx.slice(at, end).contains(['|', '｜']);
        if !token {
            if !self.begins_line(cx, at) {
                return Taken::No;
            }
            match cx.rest(end).trim_start_matches([' ', '\t', '\r']) {
                "" if !cx.eof => return Taken::More,
                rest if rest.is_empty() || rest.starts_with(['\n', '<']) => {}
                _ => return Taken::No,
            }
        }
        self.left_out(cx, at..end, "a call of nothing");
        self.out.trace.note(at..end, Noted::Dropped);
        self.remove(cx, at, end);
        Taken::Done
    }

    /// An empty list stands behind the marker that ends at `end`: what would be read as a call of nothing.
    pub(super) fn empty_list(cx: &Reader<'_>, end: usize) -> Look<()> {
        let inside = seen!(cx.behind_space(end, end));
        cx.literal(inside, "[").then(|at| cx.behind_space(at, at)).then(|at| cx.literal(at, "]")).unit()
    }

    /// The call that begins at `start` is cut off by the end of the text before it has a name: nothing was called, and the markup is
    /// no content. `before`: what to restore then.
    pub(in crate::engine) fn cut_call(
        &mut self,
        cx: &Reader<'_>,
        (start, inside): (usize, usize),
        origin: Origin,
        before: &Given,
    ) -> bool {
        let plain = before.mode == Mode::Content && self.inline.is_none() && self.fence.is_none();
        let template = origin.template(cx);
        let unread = |template: &CallTemplate| !template.labelled && is_cut_body(cx, template.body, inside);
        if !plain || !self.may_be_cut(cx, start) || !template.is_some_and(unread) {
            return false;
        }
        if quotation::follows_word(cx, start) && !cx.at_line_start(start) {
            return false;
        }
        self.given = before.clone();
        self.leave_cut(cx, start, "a call that is cut off before its name");
        true
    }

    /// What begins a call at `at` may be cut off by the end of the text: a stream would still wait there for the rest of it, as no
    /// more is read than a marker may have, and another call is taken.
    fn may_be_cut(&self, cx: &Reader<'_>, at: usize) -> bool {
        let waits = cx.text.len() - at <= cx.policy.max_markup_bytes && !self.out.is_full(cx);
        cx.eof && waits && self.hold.is_none()
    }

    /// As [`Self::closed_at_once`]; an empty list may stand there as well, and what closes the calls may be missing behind it.
    fn closed_empty(cx: &Reader<'_>, marker: Marker, from: usize) -> Look<usize> {
        let (closes, call) = match marker {
            Marker::Call(call) => match cx.dialects.call(call) {
                Some(call) => (&call.tail, Some(call)),
                None => return Look::No,
            },
            Marker::Section(section) => match cx.dialects.section(section) {
                Some(section) if section.open.len() == 1 => (&section.close, None),
                _ => return Look::No,
            },
            _ => return Look::No,
        };
        let from = behind_tag_end(cx, from);
        let next = seen!(cx.behind_space(from, from));
        let is_list = |call: &&CallTemplate| {
            let elements = call.head.iter().filter(|element| **element != Element::Space);
            matches!(call.body, Body::Json | Body::Python) && elements.count() == 1
        };
        let empty = |at: usize| cx.literal(at, "[").then(|at| cx.behind_space(at, at)).then(|at| cx.literal(at, "]"));
        let list = call.filter(|_| cx.bytes().get(next) == Some(&b'[')).filter(is_list);
        let listed = if list.is_some() { told!(empty(next)) } else { None };
        let next = match listed {
            Some(end) => seen!(cx.behind_space(end, end)),
            None => next,
        };
        let looks = closes.iter().filter_map(Element::text).filter(|text| text.len() > SHORTEST);
        match Look::first_of(looks.map(|text| cx.literal(next, text))) {
            Look::No => {
                let must_close =
                    |call: &CallTemplate| call.tail.iter().any(|element| matches!(element, Element::Literal(_)));
                Look::when(listed.is_some() && !list.is_some_and(must_close)).map(|()| listed.unwrap_or(next))
            }
            look => look,
        }
    }

    /// The text ends in what opens calls at `at`, of the markers that `ends` lists, or in the beginning of a call behind it, before
    /// its name is whole: nothing was called, and the markup is no content.
    pub(super) fn cut_opener(&mut self, cx: &Reader<'_>, at: usize, ends: &[(usize, u32)]) -> Taken {
        let plain = self.given.mode == Mode::Content && self.inline.is_none() && self.fence.is_none();
        if !plain || !self.may_be_cut(cx, at) || cx.rest(at).trim_ascii_end().len() < SHORTEST {
            return Taken::No;
        }
        // Among the words of a line, what ends it is spoken of.
        if quotation::follows_word(cx, at) && !self.begins_line(cx, at) {
            return Taken::No;
        }
        let unfinished = cx.unfinished();
        let cut = |(length, list): &(usize, u32)| {
            let behind = Self::behind(cx, at + length);
            let mut markers = cx.dialects.markers.list(*list).iter().copied();
            // What cannot go on so is text to a stream already.
            markers.any(|marker| self.may_go_on(cx, marker, behind) && is_cut(cx, &unfinished, marker, at, at + length))
        };
        if !ends.iter().any(cut) {
            return Taken::No;
        }
        self.leave_cut(cx, at, "a call that is cut off before its name");
        Taken::Done
    }

    /// As [`Self::cut_opener`], where the text ends in the opening marker itself.
    pub(super) fn cut_marker(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let rest = cx.rest(at);
        let opens = |element: &[Element]| opener(element).is_some_and(|text| text.starts_with(rest));
        let plain = self.given.mode == Mode::Content && self.inline.is_none() && self.fence.is_none();
        let long = rest.len() > SHORTEST && rest.bytes().any(|byte| byte.is_ascii_alphanumeric());
        if !plain || !self.may_be_cut(cx, at) || !long {
            return Taken::No;
        }
        if quotation::follows_word(cx, at) && !self.begins_line(cx, at) {
            return Taken::No;
        }
        let mut rows = cx.dialects.rows.iter();
        if !rows.any(|row| row.section_opens().any(opens) || row.heads().any(opens)) {
            return Taken::No;
        }
        self.leave_cut(cx, at, "an opening marker that is cut off");
        Taken::Done
    }

    /// The marker opens calls, and behind `from` stands what closes them, or nothing: where that ends.
    fn closed_at_once(cx: &Reader<'_>, marker: Marker, from: usize) -> Look<usize> {
        let closes = match marker {
            Marker::Call(call) => cx.dialects.call(call).map(|call| &call.tail),
            Marker::Section(section) => cx.dialects.section(section).map(|section| &section.close),
            _ => None,
        };
        let (Some(elements), next) = (closes, cx.skip_space(from)) else { return Look::No };
        if next >= cx.text.len() {
            return cx.over(next);
        }
        let looks = elements.iter().filter_map(Element::text).filter(|text| text.len() > SHORTEST);
        Look::first_of(looks.map(|text| cx.literal(next, text)))
    }

    /// Right behind a call stands a closing tag that is like one of its dialect's, and closes nothing.
    pub(super) fn leftover_tag(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if !self.behind_call(cx, at) {
            return Taken::No;
        }
        let Some(call) = self.out.calls.last() else { return Taken::No };
        let Some(row) = call.origin.row(cx) else { return Taken::No };
        let closers = row.calls.iter().flat_map(|call| &call.tail);
        let closers = closers.chain(row.section_closes().flatten());
        let closers = closers.filter_map(Element::literal);
        // A tag with the tool's name stands at the call's end.
        let raw = if row.by_name() { cx.part(&call.raw) } else { "" };
        let named = raw.rfind("</").and_then(|closer| raw.get(closer..));
        let again = named.map_or(Look::No, |closer| cx.literal(at, closer));
        if let Look::Is(end) = again {
            self.leave_closer(cx, at, end);
            return Taken::Done;
        }
        let mut result = if again == Look::More { Taken::More } else { Taken::No };
        for closer in closers.chain(named) {
            match misspelt::closing(cx, row, at, closer, |_| false) {
                // Without its slash it may begin anything, unless the text is over.
                Look::Is(tag) if tag.whole && !tag.slashed && cx.skip_space(tag.end) >= cx.text.len() && !cx.eof => {
                    result = Taken::More;
                }
                Look::Is(tag) if tag.whole && (tag.slashed || cx.skip_space(tag.end) >= cx.text.len()) => {
                    self.leave_closer(cx, at, tag.end);
                    return Taken::Done;
                }
                Look::More => result = Taken::More,
                _ => {}
            }
        }
        result
    }

    fn leave_closer(&mut self, cx: &Reader<'_>, at: usize, end: usize) {
        self.left_out(cx, at..end, "a closing tag that closes nothing");
        self.remove(cx, at, end);
    }

    /// What closes calls by this template begins at `at`, with this element of its tail.
    pub(super) fn call_end(&mut self, cx: &Reader<'_>, at: usize, call: CallId, element: u16) -> Taken {
        let tail = cx.dialects.call(call).and_then(|t| t.tail.get(usize::from(element)..)).unwrap_or_default();
        // A checkpoint's suffix belongs to the marker.
        let suffixed = matches!(tail.get(1..3), Some([Element::Slot(_), Element::Literal(_)]));
        let marker = tail.get(..if suffixed { 3 } else { 1 }).unwrap_or_default();
        head::head(cx, at, marker).take(|found| self.closes_nothing(cx, at, found.end, call.row))
    }

    /// A closing marker that closes nothing. Right behind a call of its dialect it is one too many, further on it closes a
    /// call that lacked it, and at the end of a line it is left over; elsewhere, and behind an opening marker that is text, it is
    /// text.
    pub(super) fn closes_nothing(&mut self, cx: &Reader<'_>, at: usize, end: usize, row: RowId) -> Taken {
        if self.inline.is_some() || self.drafts(cx) {
            return Taken::No;
        }
        // The special token of a marker that was found to be text is none of its own, whosever it is.
        if cx.dialects.tag_prefixes.iter().any(|prefix| cx.slice(0, at).ends_with(prefix)) {
            return Taken::No;
        }
        if !self.call_ended(cx, at, row)
            && self.leftover.unclosed.and_then(Origin::row_id) != Some(row)
            && !self.closer_missing(cx, at)
        {
            // In a section of another row it may be what closes that.
            let in_other = self.section.is_some_and(|section| section.row != row);
            // Text that waits to be given out makes text of the marker before it.
            let unread = self.leftover.unread || self.given.opener.is_some() && !self.fresh_at(cx, at);
            if self.fence.is_some() || unread || in_other {
                return Taken::No;
            }
            let rest = cx.rest(end).trim_start_matches([' ', '\t', '\r']);
            let near = cx.text.len() - rest.len() - end <= cx.policy.max_markup_bytes;
            // Mostly its line goes on behind it.
            if !near || !rest.is_empty() && !rest.starts_with('\n') {
                return Taken::No;
            }
            // What ends a turn as well closes no call where none was.
            if cx.dialects.auto && cx.special_token(at) == Look::Is(end) {
                return Taken::No;
            }
            if rest.is_empty() && !cx.eof {
                return Taken::More;
            }
            if self.closes_text(cx, at, end) {
                return Taken::No;
            }
        }
        self.left_out(cx, at..end, "a closing marker that closes nothing");
        self.leftover.unclosed = None;
        self.cut_out(cx, at, end);
        Taken::Done
    }

    /// The text ends in the first bytes of what closes the section, right behind a call in it.
    pub(super) fn cut_closer(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let section = self.section.filter(|section| self.call_ended(cx, at, section.row));
        let Some(marker) = section.and_then(|section| cx.dialects.section(section)) else { return Taken::No };
        // One byte alone is no evidence.
        if cx.rest(at).trim_ascii().len() < 2 || !cut_off(cx.rest(at), &marker.close, &[]) {
            return Taken::No;
        }
        self.left_out(cx, at..cx.text.len(), "a closing marker that is cut off");
        self.cut_out(cx, at, cx.text.len());
        Taken::Done
    }

    /// Takes what stands at `at` out of the text, which goes on as if nothing had stood there.
    pub(super) fn cut_out(&mut self, cx: &Reader<'_>, at: usize, end: usize) {
        if self.fresh_at(cx, at) {
            self.remove(cx, at, end);
        } else {
            self.give(cx, at, false);
            if self.given.mode == Mode::Reasoning {
                // The reasoning goes on behind it: what is blank there is its own.
                self.out.text(Mode::Reasoning, cx.text, self.given.from..at);
            }
            self.given.from = end;
            self.at = end;
        }
    }

    /// The text before `at` is a call of this row: it came without its section's opening marker.
    pub(super) fn call_ended(&self, cx: &Reader<'_>, at: usize, row: RowId) -> bool {
        let Some(last) = self.out.calls.last().map(|call| call.origin) else { return false };
        let near = self.behind_removed(cx, at);
        near && (last.row_id() == Some(row) || last.template(cx).is_some_and(|call| writes_alike(cx, row, call)))
    }

    /// The text before `at` is a call that no marker closed, as it had none or lacked its own.
    fn closer_missing(&self, cx: &Reader<'_>, at: usize) -> bool {
        let bare = || self.out.calls.last().is_some_and(|call| call.origin.is_bare());
        let behind = self.behind_removed(cx, at);
        behind && self.fence.is_none() && (self.leftover.unclosed.is_some() || bare())
    }

    /// The closing marker between `at` and `end` closes an opening one of the same name that stands before it as text.
    pub(super) fn closes_text(&mut self, cx: &Reader<'_>, at: usize, end: usize) -> bool {
        let closer = cx.slice(at, end);
        let Some((sign, name)) = closer.split_once('/').filter(|(sign, _)| (1..=2).contains(&sign.len())) else {
            return false;
        };
        let name = name.trim_end_matches(['|', '>', ']']);
        let called = self.out.calls.last().map_or(0, |call| call.raw.end);
        let known = match self.leftover.opened.iter().position(|known| known.closer == closer) {
            Some(known) => known,
            None if self.leftover.opened.len() >= MOST_OPENED => return false,
            None => {
                self.leftover.opened.push(Opened { closer: closer.to_owned(), looked: 0, depth: 0, closes: false });
                self.leftover.opened.len() - 1
            }
        };
        let Some(known) = self.leftover.opened.get_mut(known) else { return false };
        // It is asked for each template that is closed like this.
        if known.looked == end {
            return known.closes;
        }
        if known.looked < called {
            (known.looked, known.depth) = (called, 0);
        }
        let text = cx.slice(known.looked, at);
        for (place, _) in text.match_indices(sign) {
            let rest = text.get(place..).unwrap_or_default();
            let opened = rest.get(sign.len()..).and_then(|rest| rest.strip_prefix(name));
            if rest.starts_with(closer) {
                known.depth = known.depth.saturating_sub(1);
            } else if opened.is_some_and(|rest| !rest.starts_with(|c| char_class::IDENTIFIER.has(c))) {
                known.depth += 1;
            }
        }
        known.closes = known.depth > 0;
        known.depth = known.depth.saturating_sub(1);
        known.looked = end;
        known.closes
    }
}

/// Returns where the tag ends whose `>` is at `at` because its name is missing, or `at`: `<function=></function>`.
fn behind_tag_end(cx: &Reader<'_>, at: usize) -> usize {
    at + usize::from(cx.bytes().get(at) == Some(&b'>'))
}

/// The text ends at `from`, where a body begins, or in the beginning of one, before what is called is known.
fn is_cut_body(cx: &Reader<'_>, body: Body, from: usize) -> bool {
    let rest = cx.rest(from).trim_ascii();
    match body {
        _ if rest.is_empty() => true,
        Body::Json => {
            // What a list begins with must be able to call.
            let first = rest.strip_prefix('[').map_or(rest, str::trim_ascii_start);
            (first.is_empty() || first.starts_with('{'))
                && Scanner::new(0, cx.policy.max_depth).scan(rest.as_bytes(), false) == ScanResult::Incomplete
        }
        Body::Python => {
            // Behind a name that is over no call begins but its parenthesis.
            let names = cx.rest(from).trim_ascii_start().trim_start_matches('[');
            names.bytes().all(|byte| char_class::QUALIFIED_NAME.has_byte(byte)) && !names.starts_with('.')
        }
        _ => false,
    }
}

/// The text ends behind the `marker` that stands from `at` to `end`, before a call behind it has its name.
fn is_cut(cx: &Reader<'_>, unfinished: &Reader<'_>, marker: Marker, at: usize, end: usize) -> bool {
    let cut = |call: &CallTemplate, from: usize| match head::head(unfinished, from, &call.head) {
        Look::More => {
            let behind = opener(&call.head).map_or(0, str::len);
            let rest = cx.rest(from).get(behind..).unwrap_or_default().trim_ascii();
            // Dots stand for a call that is spoken of, and what has the end of a tag is another one.
            let begins = rest.chars().next().is_none_or(|c| c.is_ascii() && !matches!(c, '"' | '\''));
            begins && !rest.contains(['<', '>', '{', '}', '(', ')']) && !rest.ends_with(['.', ',', ';', '!', '?'])
        }
        Look::Is(head) => head.name.is_none() && is_cut_body(cx, call.body, head.end),
        Look::No => false,
    };
    match marker {
        Marker::Call(call) => cx.dialects.call(call).is_some_and(|call| cut(call, at)),
        Marker::Section(section) => {
            let inside = cx.skip_space(end);
            let row = cx.dialects.row(section.row);
            inside >= cx.text.len() || row.is_some_and(|row| row.calls.iter().any(|call| cut(call, inside)))
        }
        _ => false,
    }
}

/// Calls of this row are written as the one that `call` is the template of, which may have been read by another row.
#[cold]
fn writes_alike(cx: &Reader<'_>, row: RowId, call: &CallTemplate) -> bool {
    cx.dialects.row(row).is_some_and(|row| row.calls.iter().any(|own| own.head == call.head && own.tail == call.tail))
}

/// So many closing markers are told from each other: with a suffix of their own, a text may have any number.
const MOST_OPENED: usize = 16;

/// How many opening markers of one name stand open as text, as far as that has been looked through.
#[derive(Debug)]
pub(crate) struct Opened {
    closer: String,
    looked: usize,
    depth: usize,
    /// The last of its kind closed such a marker.
    closes: bool,
}
