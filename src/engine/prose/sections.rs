//! Sections: groups of calls with a marker round them.
use crate::char_class;
use crate::dialect::{CallTemplate, Marker, Row, SectionId};
use crate::engine::context::quotation;
use crate::engine::head::{self, Head};
use crate::engine::look::{seen, taken, told};
use crate::engine::{Doubt, Engine, Look, Mode, Reader, Taken};

/// Words that stand in a section before its first call have no more bytes.
const MOST_WORDS: usize = 256;

/// What stands from `from` to the call at `at` are words, or signs like those of a list, and neither quotes nor shows it. A fence that
/// opens right before it shows it only if it holds something else as well.
fn says(cx: &Reader<'_>, from: usize, at: usize) -> bool {
    let words = cx.slice(from, at);
    let quotes = |line: &str| line.trim_start().starts_with('>');
    if words.lines().any(quotes) {
        return false;
    }
    if words.contains(['`', '~']) {
        return opens_fence(words);
    }
    words.contains(char::is_alphanumeric) || !words.trim().is_empty() && !quotation::opens(cx, at)
}

/// The `words` end in a line that opens a fence, and no other code stands in them.
fn opens_fence(words: &str) -> bool {
    let Some((above, label)) = words.trim_end_matches([' ', '\t']).strip_suffix('\n').map(|words| {
        let (above, line) = words.rsplit_once('\n').unwrap_or(("", words));
        let line = line.trim();
        (above, line.strip_prefix("```").or_else(|| line.strip_prefix("~~~")))
    }) else {
        return false;
    };
    let named = |label: &str| label.bytes().all(|byte| char_class::NAME.has_byte(byte));
    !above.contains(['`', '~']) && label.is_some_and(|label| named(label.trim_start_matches(['`', '~'])))
}

impl Engine {
    /// The literal that a section's marker begins with, of `length`, stands so at `at`.
    pub(super) fn section_opens(&mut self, cx: &Reader<'_>, at: usize, length: usize, section: SectionId) -> Taken {
        let (Some(row), Some(marker)) = (cx.dialects.row(section.row), cx.dialects.section(section)) else {
            return Taken::No;
        };
        let mut opener = Head::default();
        seen!(head::behind_marker(cx, at, length, &marker.open, &mut opener).0);
        let end = opener.end;
        // A line break that was written as its escape parts the two as well.
        let inside = seen!(cx.behind_space(at, cx.skip_markup_space(end)));
        if cx.ends_in_space(inside) {
            return Taken::More;
        }
        let calls = || row.calls_before(cx.bytes().get(inside..).unwrap_or_default());
        let mut head = Head::default();
        for (i, call) in calls() {
            if told!(head::fill(cx, inside, &call.head, &mut head)).is_some() {
                taken!(self.begin(cx, at, section.row.call(i), &mut head, Some(section)));
            }
        }
        // A call's marker stands there, though what follows it cannot be read: the section is one all the same.
        let opener = |(_, call): (usize, &CallTemplate)| {
            cx.opens(inside, &call.head).then(|end| match Self::behind(cx, end) {
                [] if !cx.eof => Look::More,
                behind => Look::when(call.first.may_be(behind)),
            })
        };
        // The text ends in the call's head: then nothing was called, and the section's marker is text as well.
        let unfinished = cx.unfinished();
        if cx.eof && calls().any(|(_, call)| head::head(&unfinished, inside, &call.head) == Look::More) {
            return Taken::No;
        }
        if told!(Look::any_of(calls().map(opener))).is_some()
            && !self.closed_to_calls(row)
            && self.given.mode == Mode::Content
            && self.inline.is_none()
        {
            self.remove(cx, at, end);
            self.given.opener = Some(at..end);
            self.leftover.opener_given = None;
            self.section = Some(section);
            return Taken::Done;
        }
        Taken::No
    }

    /// The message is to somebody who is no tool, in a dialect whose calls are messages to tools.
    fn closed_to_calls(&self, row: &Row) -> bool {
        let framed = row.dialect.channels.as_ref().is_some_and(|c| c.calls_to_recipients);
        framed && self.channel.is_some_and(|c| !c.calls)
    }

    /// A section opens at `at` by one of the literals that stand there, though words stand in it before its first call: they are
    /// text, and its marker is none.
    pub(super) fn opens_before_words(&mut self, cx: &Reader<'_>, at: usize, ends: &[(usize, u32)]) -> Taken {
        let prose = self.given.mode == Mode::Content && self.inline.is_none() && self.fence.is_none();
        if !prose || self.section.is_some() {
            return Taken::No;
        }
        let mut begins_line = None;
        let lists = ends.iter().rev().flat_map(|(_, list)| cx.dialects.markers.list(*list));
        for marker in lists {
            let Marker::Section(section) = *marker else { continue };
            let (Some(row), Some(marker)) = (cx.dialects.row(section.row), cx.dialects.section(section)) else {
                continue;
            };
            // Among words, a tag may be spoken of.
            if self.closed_to_calls(row) || !marker.special && !*begins_line.get_or_insert_with(|| cx.at_line_start(at))
            {
                continue;
            }
            let end = match told!(head::head(cx, at, &marker.open)) {
                Some(opener) => opener.end,
                None => continue,
            };
            if told!(self.call_behind_words(cx, end, section)).is_some() {
                self.remove(cx, at, end);
                // A fence may turn out to be code: then the section is text as well.
                let fenced = matches!(cx.bytes().get(cx.skip_space(end)), Some(b'`' | b'~'));
                self.given.opener = fenced.then_some(at..end);
                self.leftover.opener_given = None;
                self.section = Some(section);
                return Taken::Done;
            }
        }
        Taken::No
    }

    /// The first thing near `from` that belongs to the section's row is a call.
    fn call_behind_words(&mut self, cx: &Reader<'_>, from: usize, section: SectionId) -> Look<()> {
        let Some(row) = cx.dialects.row(section.row) else { return Look::No };
        let near = cx.bytes().get(..from + MOST_WORDS).unwrap_or(cx.bytes());
        let mut at = from;
        loop {
            at = cx.dialects.markers.next_stop(near, at);
            if at >= near.len() {
                return if at == cx.text.len() && !cx.eof { Look::More } else { Look::No };
            }
            let mut begins = Look::No;
            let mut head = Head::default();
            for (i, template) in row.calls_before(cx.bytes().get(at..).unwrap_or_default()) {
                let look = match cx.opens(at, &template.head) {
                    Look::Is(_) => head::fill(cx, at, &template.head, &mut head),
                    look => look.unit(),
                };
                let call = section.row.call(i);
                let look = look.then(|()| self.may_begin(cx, at, call, &mut head, Some(section)).unit());
                match look {
                    Look::Is(()) => return Look::when(says(cx, from, at)),
                    Look::More => begins = Look::More,
                    Look::No => {}
                }
            }
            let ends = row.section_opens().chain(row.section_closes());
            let ends = Look::any_of(ends.map(|marker| cx.opens(at, marker).unit()));
            match ends.then(|()| Look::No).any(begins) {
                Look::No if ends == Look::No => at += 1,
                look => return look,
            }
        }
    }

    /// The literal of `length` that begins what closes the section stands at `at`.
    pub(super) fn section_ends(&mut self, cx: &Reader<'_>, at: usize, length: usize, section: SectionId) -> Taken {
        let row = section.row;
        // Of what closes both, the reasoning is what stands round the section: a draft does not end it.
        let closes = |(_, close): &(String, String)| close == cx.slice(at, at + length);
        let inside = self.given.mode == Mode::Reasoning || self.holds(Doubt::Reasoning);
        if inside && cx.dialects.reasoning.iter().any(closes) {
            return Taken::No;
        }
        let open = self.in_section_of(row) || self.call_ended(cx, at, row);
        let Some(marker) = cx.dialects.section(section) else { return Taken::No };
        let mut head = Head::default();
        match head::behind_marker(cx, at, length, &marker.close, &mut head).0 {
            // Words are what any text may say that does not stand right behind a call.
            Look::Is(()) if cx.rest(at).starts_with(char::is_alphanumeric) && !self.call_ended(cx, at, row) => {
                Taken::No
            }
            Look::Is(()) if !open => self.closes_nothing(cx, at, head.end, row),
            // No call stood in it, and what opened it is text.
            Look::Is(()) if self.given.opener.is_some() || self.leftover.opener_given == Some(self.out.calls.len()) => {
                self.section = None;
                Taken::No
            }
            Look::Is(()) => {
                self.remove(cx, at, head.end);
                self.section = None;
                Taken::Done
            }
            Look::No => Taken::No,
            Look::More => Taken::More,
        }
    }

    /// Text stands where the first call of a section should, so the marker that opened the section is text as well. The place
    /// where that marker begins.
    pub(super) fn opener_is_text(&mut self, cx: &Reader<'_>) -> usize {
        let Some(opener) = self.given.opener.take() else { return self.given.from };
        if let Some(space) = self.given.space.take() {
            self.out.text(self.given.mode, cx.text, space);
        }
        self.leftover.opener_given = Some(self.out.calls.len());
        self.leftover.unread = true;
        opener.start
    }
}
