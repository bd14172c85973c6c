//! Markers in the text: what each begins or ends where it stands.
use super::named::is_tools_tag;
use super::tried::Standing;
use super::unclear::Stage;
use crate::dialect::{CallId, LateMarker, Marker, Passed, RowId, SectionId};
use crate::engine::context;
use crate::engine::head::{self, Head};
use crate::engine::look::{seen, taken, told, unless};
use crate::engine::trace::Reason;
use crate::engine::{Doubt, Engine, Look, Mode, Reader, Taken};
use crate::turn::{Issue, IssueCode};

/// The markers that stand at a place, and how far they were tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkersHere {
    ends: [(usize, u32); 4],
    count: usize,
    /// They are quoted, once that is known.
    quoted: Option<bool>,
    /// So many of the literals are none of theirs, from the longest on, and these meanings of the next one.
    none: usize,
    passed: Passed,
}

impl Engine {
    /// A literal marker at `at`, if there is one and it is what it seems.
    pub(in crate::engine) fn marker(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        use crate::dialect::MarkersAt as At;
        let word = cx.bytes().get(at).is_some_and(u8::is_ascii_alphanumeric);
        let known = match self.unclear.stage(cx, at) {
            Some(Stage::Markers(found)) => Some(*found),
            Some(Stage::Unmarked) => return Taken::No,
            Some(Stage::Anything) | None => None,
        };
        let mut found = match known {
            Some(found) => found,
            None => match cx.dialects.markers.at(cx.bytes(), at) {
                At::Some { ends, count, more } if cx.eof || !more => {
                    MarkersHere { ends, count, quoted: None, none: 0, passed: Passed::default() }
                }
                At::Nothing => return Taken::No,
                At::Partial(_) if cx.eof => {
                    return self
                        .opens_nothing(cx, at, &[])
                        .or(|| self.cut_closer(cx, at))
                        .or(|| self.cut_marker(cx, at));
                }
                At::Partial(rest) => {
                    cx.awaits(rest);
                    return Taken::More;
                }
                At::Some { .. } => return Taken::More,
            },
        };
        let taken = match found.quoted {
            _ if word => self.try_words(cx, at, &mut found),
            Some(_) => self.try_markers(cx, at, &mut found),
            None => self.first_try(cx, at, &mut found),
        };
        if taken == Taken::More {
            self.unclear.set(at, Stage::Markers(found));
        }
        taken
    }

    /// The words `found` at `at`.
    fn try_words(&mut self, cx: &Reader<'_>, at: usize, found: &mut MarkersHere) -> Taken {
        let MarkersHere { ends, count, none, passed, .. } = *found;
        for (i, (length, list)) in ends[..count].iter().rev().enumerate().skip(none) {
            let behind = Self::behind(cx, at + length);
            let passed = if i == none { passed } else { Passed::default() };
            let mut meanings = cx.dialects.markers.list_before(*list, behind, passed);
            while let Some(marker) = meanings.next() {
                if !self.may_go_on(cx, marker, behind) {
                    continue;
                }
                match self.take_word(cx, at, *length, marker) {
                    Taken::No => self.tried.pass(&mut meanings),
                    taken => {
                        (found.none, found.passed) = (i, meanings.passed());
                        return taken;
                    }
                }
            }
        }
        Taken::No
    }

    /// What is `found` at `at` is looked at for the first time.
    fn first_try(&mut self, cx: &Reader<'_>, at: usize, found: &mut MarkersHere) -> Taken {
        self.out.trace.forget();
        let known = &cx.dialects.markers;
        let ends = &found.ends[..found.count];
        if ends.iter().any(|(_, list)| known.opens_calls(*list)) && self.in_invented_turn(cx, at) {
            // What opens calls in one dialect may be a mere token of others.
            let token = |(length, list): &(usize, u32)| {
                let markers = known.list(*list).iter();
                markers.copied().find(|m| m.is_token()).map(|token| (*length, token))
            };
            if let Some((length, token)) = ends.iter().rev().find_map(token) {
                return self.take(cx, at, length, token, Standing::Once);
            }
            self.out.trace.kept(at..at + ends[found.count - 1].0, None, Reason::Runaway);
            self.leftover.unread = true;
            return Taken::No;
        }
        if let Some((length, list)) = ends.last().copied()
            && known.list(list).iter().any(|marker| marker.opens_calls())
            && told!(Self::empty_list(cx, at + length)).is_some()
        {
            let ends = found.ends;
            taken!(self.holds_nothing(cx, at, &ends[..found.count]));
        }
        if let Some((length, list)) = ends.last().copied() {
            taken!(self.marker_behind_name(cx, at, length, known.list(list)));
        }
        let prose = self.fence.is_none() && self.section.is_none();
        let may_be_quoted = |(_, list): &(usize, u32)| known.list(*list).iter().any(|m| context::may_be_quoted(*m));
        let quoted = if prose && ends.iter().any(may_be_quoted) {
            told!(self.around.quote_marker(cx, self.since(), at)).is_some()
        } else {
            false
        };
        found.quoted = Some(quoted);
        self.try_markers(cx, at, found)
    }

    /// What is `found` at `at`, and is not known to be none of it.
    fn try_markers(&mut self, cx: &Reader<'_>, at: usize, found: &mut MarkersHere) -> Taken {
        let known = &cx.dialects.markers;
        let MarkersHere { ends, count, quoted, none, passed } = *found;
        let (ends, quoted) = (&ends[..count], quoted.unwrap_or_default());
        for (i, (length, list)) in ends.iter().rev().enumerate().skip(none) {
            let reasoning = self.given.mode == Mode::Reasoning;
            let behind = Self::behind(cx, at + *length);
            let is_section = |marker: &Marker| matches!(marker, Marker::Section(_));
            let mut tag = None;
            let mut meanings = known.list_before(*list, behind, if i == none { passed } else { Passed::default() });
            while let Some(marker) = meanings.next() {
                // Where it stands decides.
                let other =
                    known.is_ambiguous(*list) && if reasoning { marker.is_token() } else { marker.closes_reasoning() };
                if other || quoted && context::may_be_quoted(marker) || !self.may_go_on(cx, marker, behind) {
                    continue;
                }
                if is_section(&marker) {
                    match *tag.get_or_insert_with(|| is_tools_tag(cx, at, *length, known.list(*list))) {
                        Look::No => {}
                        Look::Is(()) => return Taken::No,
                        Look::More => {
                            (found.none, found.passed) = (i, meanings.passed());
                            return Taken::More;
                        }
                    }
                }
                match self.take(cx, at, *length, marker, Standing::Once) {
                    Taken::No => self.tried.pass(&mut meanings),
                    Taken::Done => {
                        self.note_markup(at, at + *length, marker);
                        return Taken::Done;
                    }
                    Taken::More => {
                        (found.none, found.passed) = (i, meanings.passed());
                        return Taken::More;
                    }
                }
            }
            // Whatever stands behind it, which a stream does not know yet, this is the tool's.
            if known.list(*list).iter().any(is_section) {
                unless!(tag.unwrap_or_else(|| is_tools_tag(cx, at, *length, known.list(*list))));
            }
        }
        // Only whether it opens nothing may still be unclear.
        if none < count {
            (found.none, found.passed) = (count, Passed::default());
        }
        if cx.eof && self.cut_closer(cx, at) == Taken::Done {
            return Taken::Done;
        }
        self.opens_nothing(cx, at, ends)
            .or(|| if quoted { Taken::No } else { self.holds_nothing(cx, at, ends) })
            .or(|| if quoted { Taken::No } else { self.cut_opener(cx, at, ends) })
            .or(|| self.unread_opener(cx, at, found))
    }

    /// None of the markers `found` at `at` is what it seems: what opens calls is text.
    fn unread_opener(&mut self, cx: &Reader<'_>, at: usize, found: &mut MarkersHere) -> Taken {
        let quoted = found.quoted.unwrap_or_default();
        let Some((length, list)) = found.ends[..found.count].last().copied() else { return Taken::No };
        let longest = cx.dialects.markers.list(list);
        let calls = longest.iter().any(|marker| marker.opens_calls());
        if quoted && longest.iter().any(|marker| matches!(marker, Marker::Header(_))) {
            self.around.quoted_header = Some(at + length);
        }
        if calls && !quoted {
            taken!(self.opens_before_words(cx, at, &found.ends[..found.count]));
        }
        if calls && self.inline.is_none() {
            let row = longest.iter().find_map(|m| match m {
                Marker::Call(CallId { row, .. }) | Marker::Section(SectionId { row, .. }) => Some(*row),
                _ => None,
            });
            let reason = if quoted { Reason::Quoted } else { Reason::NotReadable };
            self.out.trace.kept(at..at + length, row, reason);
        }
        if calls && self.inline.is_none() && self.fence.is_none() {
            self.leftover.unread = true;
            if !quoted {
                self.out.issue_once(Issue::at(IssueCode::StrayMarker, at, "no readable call follows this marker"));
            }
        }
        Taken::No
    }

    /// What stands behind a literal that ends at `end`, and behind white space.
    pub(super) fn behind<'t>(cx: &Reader<'t>, end: usize) -> &'t [u8] {
        cx.bytes().get(cx.skip_markup_space(end)..).unwrap_or_default()
    }

    /// What stands `behind` a literal lets it be this marker: a cheap look that spares most templates the thorough one.
    pub(super) fn may_go_on(&self, cx: &Reader<'_>, marker: Marker, behind: &[u8]) -> bool {
        let spoken_by_another = |twin: bool, row: RowId| twin && !self.in_section_of(row);
        match marker {
            Marker::Call(call) => cx
                .dialects
                .call(call)
                .is_some_and(|template| !spoken_by_another(template.twin, call.row) && template.first.may_be(behind)),
            Marker::Section(section) => cx.dialects.row(section.row).is_some_and(|row| {
                !spoken_by_another(row.twin, section.row)
                    && row.first_in(section).is_none_or(|first| first.may_be(behind))
            }),
            _ => true,
        }
    }

    /// A marker that is found by a byte further on.
    pub(super) fn late_marker(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let late = cx.dialects.markers.late();
        if !late.may_end_in(cx.bytes(), at) {
            return Taken::No;
        }
        self.take_late(cx, late.at(cx.text, self.given.from, at))
    }

    /// As [`Self::late_marker`], for one that begins at `at`.
    pub(in crate::engine) fn late_marker_from(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        self.take_late(cx, cx.dialects.markers.late().from(cx.text, at))
    }

    fn take_late<'m>(&mut self, cx: &Reader<'_>, late: impl Iterator<Item = (usize, &'m LateMarker)>) -> Taken {
        // What was given up before the byte that such a marker is found by would be begun again.
        let given_up = self.tried.given_up;
        for (start, late) in late.filter(|(start, _)| Some(*start) != given_up) {
            if let Some(end) = told!(cx.literal(start, &late.text))
                && self.may_go_on(cx, late.marker, Self::behind(cx, end))
            {
                taken!(self.take_word(cx, start, end - start, late.marker));
            }
        }
        Taken::No
    }

    /// A marker that is a word: it says less than signs do, so what follows it without being a call is no issue.
    fn take_word(&mut self, cx: &Reader<'_>, start: usize, length: usize, marker: Marker) -> Taken {
        let taken = self.take(cx, start, length, marker, Standing::Word);
        if taken == Taken::Done {
            self.note_markup(start, start + length, marker);
        }
        taken
    }

    /// What stands at `at` is the `marker`, of `length`.
    pub(in crate::engine) fn take(
        &mut self,
        cx: &Reader<'_>,
        at: usize,
        length: usize,
        marker: Marker,
        standing: Standing,
    ) -> Taken {
        self.tried.failed = None;
        match marker {
            Marker::Header(row) => self.header(cx, at, at + length, row),
            Marker::Recipient(row) => self.bare_header(cx, at, at + length, row),
            Marker::MessageEnd(row) => self.message_ends(cx, at, at + length, row),
            Marker::Token(row) => self.token(cx, at, at + length, row),
            Marker::Turn => self.turn_marker(cx, at, length),
            Marker::Inline { row, inline } => self.inline_marker(cx, at, row, inline),
            Marker::CallEnd { call, element } => self.call_end(cx, at, call, element),
            Marker::Result(result) => self.result_opens(cx, at, at + length, result),
            Marker::ReasoningOpen(_) => self.reasoning_opens(cx, at, length),
            Marker::ReasoningClose(_) => self.reasoning_closes(cx, at, length),
            Marker::SectionEnd(section) => self.section_ends(cx, at, length, section),
            Marker::Section(section) => self.section_opens(cx, at, length, section),
            Marker::Inner(call) => self.inner_marker(cx, at, call),
            Marker::Call(call) => self.call_marker(cx, at, length, call, standing),
        }
    }

    /// A token of the row stands from `at` to `end`. `</s>` is HTML as well, and any token may be shown as code: it begins a turn only
    /// where the text begins, and ends one where that ends.
    fn token(&mut self, cx: &Reader<'_>, at: usize, end: usize, row: RowId) -> Taken {
        let token = cx.slice(at, end);
        let answers = cx.dialects.row(row).is_some_and(|row| row.dialect.answers.iter().any(|answer| answer == token));
        if answers && (self.given.mode == Mode::Reasoning || self.holds(Doubt::Reasoning)) {
            self.speaks = Some(row);
            return self.reasoning_closes(cx, at, end - at);
        }
        let sure = token.contains(['|', '｜']) || cx.first_in_text(at);
        if self.inline.is_some() || !sure {
            match cx.behind_space(at, end) {
                Look::Is(after) if after >= cx.text.len() => {}
                Look::More => return Taken::More,
                _ => return Taken::No,
            }
        }
        self.leave_inline(at);
        self.remove(cx, at, end);
        self.speaks = Some(row);
        Taken::Done
    }

    /// The literal of `length` that begins the head of this call stands at `at`.
    fn call_marker(&mut self, cx: &Reader<'_>, at: usize, length: usize, call: CallId, standing: Standing) -> Taken {
        let Some(template) = cx.dialects.call(call) else { return Taken::No };
        // A word has yet to be asked whether somebody else speaks there.
        if standing != Standing::Word && self.is_full_for_good(cx) {
            return Taken::No;
        }
        let mut head = Head::default();
        self.tried.go_to(cx, at, standing);
        let unoffered = self.tried.unoffered;
        if unoffered.is_some() && template.named == unoffered && self.needs_offer(cx, call.row, template) {
            return Taken::No;
        }
        let look = self.tried.head(cx, at, length, template, &mut head);
        if look != Look::More && self.is_unoffered(cx, call.row, template, &head) {
            self.tried.unoffered = template.named;
            return Taken::No;
        }
        look.take(|()| match standing {
            Standing::Word => self.begin_word(cx, at, call, &mut head),
            Standing::Once => self.begin(cx, at, call, &mut head, None),
        })
    }

    /// The `head` is one that a word at `at` begins. What shows it is looked for where there is something to show.
    fn begin_word(&mut self, cx: &Reader<'_>, at: usize, call: CallId, head: &mut Head) -> Taken {
        let vouching = seen!(self.may_begin(cx, at, call, head, None));
        if told!(self.is_shown(cx, at)).is_some() {
            self.pass(cx, at, Reason::Quoted);
            return Taken::No;
        }
        self.begin_template(cx, at, call, head, None, vouching)
    }

    /// A marker inside the text that is none of it. It counts where its dialect was named, or has shown itself: by a token, or by a
    /// call right before it.
    fn inline_marker(&mut self, cx: &Reader<'_>, at: usize, row: RowId, inline: u16) -> Taken {
        let shown = || !cx.dialects.auto || self.speaks == Some(row) || self.call_ended(cx, at, row);
        if self.inline.is_some() || self.fence.is_some() || !shown() {
            return Taken::No;
        }
        let template = cx.dialects.row(row).and_then(|r| r.inline.get(usize::from(inline)));
        let head = seen!(head::head(cx, at, template.map_or(&[][..], Vec::as_slice)));
        self.cut_out(cx, at, head.end);
        Taken::Done
    }
}
