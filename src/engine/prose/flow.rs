//! Text that leaves as soon as it is certain that nothing begins in it, and its last word, which waits where it may yet be the
//! name of a call without markers.
use super::named::{printed, without_number};
use crate::char_class::NAME_IN_PROSE;
use crate::dialect::Dialects;
use crate::engine::head::{APART, LONGEST_NAME, without_escapes};
use crate::engine::reader::begins_line;
use crate::engine::{Doubt, Engine, Mode, Reader, State, Whole};

/// No longer name of a call without markers is waited for.
const LONGEST_AWAITED: usize = 128;

/// A chunk is a few letters, mostly.
const SHORT: usize = 16;

/// Text that has left without another look.
pub(crate) enum Flown {
    /// It is the whole chunk, and all there is to tell.
    Alone(Whole),
    /// It is among what is to be told.
    Among,
}

impl Engine {
    /// The text that came is a few letters in the middle of a line in which nothing can begin: it leaves without another
    /// look. What comes out is what [`Self::prose`] would give out, in less than half the instructions. What came last is the text
    /// from `chunk` on.
    #[inline]
    pub(crate) fn flows(&mut self, text: &str, chunk: usize, dialects: &Dialects) -> Option<Flown> {
        let came = text.as_bytes().get(self.at..).unwrap_or_default();
        let expected = self.given.fresh || self.given.opener.is_some() || self.inline.is_some() || self.fence.is_some();
        let headed = self.plain.is_some() || self.channel.is_some();
        // White space at the end of reasoning waits, and so does what may be the end of a quotation.
        let waits = self.given.mode == Mode::Reasoning && came.last().is_none_or(u8::is_ascii_whitespace);
        if !matches!(self.state, State::Prose)
            || self.given.from != self.at
            || came.len() > SHORT
            || expected
            || headed
            || waits
            || self.holds(Doubt::Quotes)
            || self.holds(Doubt::Alone)
            || self.holds(Doubt::Draft)
            || !dialects.markers.none_in(came)
            || begins_line(text, self.at) != Some(false)
        {
            return None;
        }
        let range = self.at..text.len();
        (self.at, self.given.from) = (text.len(), text.len());
        if self.hold.is_none() && range.start == chunk {
            return Some(self.out.text_alone(self.given.mode, text, range).map_or(Flown::Among, Flown::Alone));
        }
        self.out.text(self.given.mode, text, range);
        Some(Flown::Among)
    }

    /// A line begins at `at`, or the text does behind a marker that was taken out.
    #[inline]
    pub(in crate::engine) fn begins_line(&self, cx: &Reader<'_>, at: usize) -> bool {
        cx.at_line_start(at) || self.behind_removed(cx, at)
    }

    /// Gives out the text up to `to`; what may be the beginning of a late marker waits, unless it is the `last` text.
    pub(in crate::engine) fn give_text(&mut self, cx: &Reader<'_>, to: usize, last: bool) {
        let mut to = to;
        self.leave_paragraph(cx, to);
        if !last {
            to = cx.dialects.markers.late().certain(cx.text, self.given.from, to);
            // What else waits stands at the beginning of a line, or behind what was taken out.
            if self.may_begin_line(cx, self.given.from, to) {
                to = self.before_name(cx, self.given.from, to);
                to = if self.given.fresh { self.stops(cx).unwrap_or(to).min(to) } else { to };
                to = self.header_line(cx, self.given.from, to).map_or(to, |(_, line)| line);
            }
        }
        self.give(cx, to, last);
    }

    /// A line may begin in the text between two places. Mostly that is a few letters in the middle of one.
    #[inline]
    fn may_begin_line(&self, cx: &Reader<'_>, from: usize, to: usize) -> bool {
        let bytes = cx.bytes().get(from..to).unwrap_or_default();
        bytes.len() > SHORT || bytes.contains(&b'\n') || self.begins_line(cx, from)
    }

    /// Where text ends that cannot be the beginning of a bare call's name.
    fn before_name(&self, cx: &Reader<'_>, from: usize, to: usize) -> usize {
        // A run of blanks that is waited for is not looked through with every chunk.
        if cx.skip_space(from) >= to {
            return to;
        }
        let bytes = cx.bytes().get(from..to).unwrap_or_default();
        // Or else it ends in a word there, or behind one.
        let spaces = bytes.iter().rev().take(APART + 1).take_while(|byte| byte.is_ascii_whitespace()).count();
        let word = bytes
            .iter()
            .rev()
            .skip(spaces)
            .take(LONGEST_NAME)
            .take_while(|byte| NAME_IN_PROSE.has_byte(**byte))
            .count();
        let start = to - spaces - word;
        let before = start.checked_sub(1).and_then(|i| cx.bytes().get(i));
        let inside =
            before.is_some_and(|byte| byte.is_ascii_graphic() && *byte != b'(') && !self.begins_line(cx, start);
        let ascii = cx.bytes().get(start).is_none_or(u8::is_ascii);
        if spaces > APART || (inside && ascii) { to } else { self.before_line_name(cx, from, to) }
    }

    /// As [`Self::before_name`], where a line may begin with the text's last word.
    #[cold]
    fn before_line_name(&self, cx: &Reader<'_>, from: usize, to: usize) -> usize {
        let Some(tools) = cx.tools.filter(|_| !self.drafts(cx)) else { return to };
        // Behind a whole name, what a call goes on with may stand after white space.
        let end = from + cx.slice(from, to).trim_ascii_end().len();
        let length = name_before(cx.slice(from, end));
        let start = end - length;
        if let Some(start) = printed(cx, from, start, end).filter(|_| cx.dialects.bare_python.is_some() && end == to) {
            return start;
        }
        if length == 0 || length > LONGEST_AWAITED || !self.begins_line(cx, start) {
            return to;
        }
        let written = without_escapes(without_number(cx.slice(start, end)));
        let open = if end < to { cx.offered(&written) } else { tools.leads_to(&written) };
        if open { start } else { to }
    }
}

/// How many bytes at the end of `text` can be a tool's name.
pub(super) fn name_before(text: &str) -> usize {
    let length = text.bytes().rev().take(LONGEST_NAME).take_while(|byte| NAME_IN_PROSE.has_byte(*byte)).count();
    // A character cut in two would be no boundary.
    let length = (0..=length).rev().find(|n| text.is_char_boundary(text.len() - n)).unwrap_or(0);
    // Other signs than ASCII's do not begin a name.
    let name = text.get(text.len() - length..).unwrap_or_default();
    name.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric()).len()
}
