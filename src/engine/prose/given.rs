//! How far the text outside calls was given out, and what happens to the white space round what is taken out of it.
use super::channels::MessageKind;
use crate::engine::trace::Noted;
use crate::engine::{Engine, Reader, ReasoningCalls};
use std::ops::Range;

/// What text outside calls is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Content,
    Reasoning,
}

/// How far the text outside calls was given out as content or reasoning, and what that text is next to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// The text before this place was given out, or taken out as markup.
    pub(in crate::engine) from: usize,
    /// Where the run of text began that was given out last: at the start, or behind a marker.
    pub(in crate::engine) text_from: usize,
    /// Nothing but white space was given out since the start or the last marker.
    pub(in crate::engine) fresh: bool,
    /// A marker has been removed somewhere.
    pub(in crate::engine) removed: bool,
    /// White space between two markers, kept for text that may follow.
    pub(in crate::engine) space: Option<Range<usize>>,
    /// The marker that opened a section in which nothing stands yet. If text follows and no call, the marker is text as well.
    pub(in crate::engine) opener: Option<Range<usize>>,
    /// The last header that began a message said whose it is.
    pub(in crate::engine) headed: bool,
    /// And so did the one before it: the text of the message does not go on a line of that one's.
    pub(in crate::engine) parted: bool,
    pub(in crate::engine) mode: Mode,
}

impl Engine {
    /// Nothing but white space stands between what was given out or taken out last and `at`.
    pub(in crate::engine) fn fresh_at(&self, cx: &Reader<'_>, at: usize) -> bool {
        // Not by a look at the text between them: a long run of blanks would be looked at with every chunk.
        self.given.fresh && cx.skip_space(self.given.from) >= at
    }

    /// As [`Self::fresh_at`], and a marker or a call was taken out there.
    pub(super) fn behind_removed(&self, cx: &Reader<'_>, at: usize) -> bool {
        self.given.removed && self.fresh_at(cx, at)
    }

    /// Gives out the text up to `to`, where a marker stands or nothing is in doubt. White space after a marker waits
    /// until it is clear whether text follows; in reasoning, so does white space before a marker.
    pub(in crate::engine) fn give(&mut self, cx: &Reader<'_>, mut to: usize, last: bool) {
        let Some(text) = cx.text.get(self.given.from..to) else { return };
        if self.channel.is_some_and(|c| c.is(MessageKind::Dropped)) {
            if self.given.fresh && !text.trim_ascii_start().is_empty() {
                (self.given.fresh, self.given.text_from) = (false, self.given.from);
            }
            self.out.trace.note(self.given.from..to, Noted::Dropped);
            self.given.from = to;
            return;
        }
        let mut from = self.given.from;
        let blank = |text: &str| text.trim_ascii_start().is_empty();
        if self.given.opener.is_some() && !blank(text) {
            from = self.opener_is_text(cx);
        } else if self.given.fresh && !text.is_empty() {
            let start = cx.skip_space(self.given.from).min(to) - self.given.from;
            if start == text.len() && !last {
                return;
            }
            let parted = self.given.mode == Mode::Reasoning && self.given.space.is_some();
            if self.given.removed && self.out.space_is_idle(self.given.mode) && !parted {
                from += start;
            } else if start == 0
                && (self.given.mode == Mode::Content || parted)
                && let Some(space) = self.given.space.take()
            {
                // Text goes on right behind a marker: the white space before the marker parts it from the text above.
                self.out.text(self.given.mode, cx.text, space);
            }
            self.given.space = None;
        }
        if self.given.mode == Mode::Reasoning {
            // A run that is waited for is not looked through with every chunk.
            let blank = cx.skip_space(from) >= to;
            to = if blank { from } else { from + cx.slice(from, to).trim_ascii_end().len() };
            if to == from && !last {
                return;
            }
        }
        if to > from {
            if self.given.fresh {
                self.given.text_from = self.given.from;
            }
            self.given.fresh = false;
            if std::mem::take(&mut self.given.parted) && !cx.slice(from, to).starts_with(char::is_whitespace) {
                self.out.line_break(self.given.mode, from);
            }
            self.out.text(self.given.mode, cx.text, from..to);
        }
        self.given.from = to;
    }

    /// A call stands behind the white space of `space`: it ends the reasoning, unless calls in reasoning are like others.
    pub(in crate::engine) fn call_stands(&mut self, cx: &Reader<'_>, space: Range<usize>) {
        if cx.policy.reasoning != ReasoningCalls::Run {
            if std::mem::take(&mut self.given.mode) == Mode::Reasoning {
                self.out.reasoning_end = Some(space.end);
            }
        } else if self.given.mode == Mode::Reasoning && self.out.has_reasoning() {
            // The reasoning goes on behind the call, and this white space parts the two halves.
            let known = self.given.space.take().filter(|_| space.is_empty());
            self.given.space = known.or(Some(space));
        }
    }

    /// Gives out the text before a marker at `at`, and goes on after it at `end`. What comes back says what to restore
    /// should the marker turn out to be text.
    pub(in crate::engine) fn remove(&mut self, cx: &Reader<'_>, at: usize, end: usize) -> Given {
        let Given { removed, mode, .. } = self.given;
        let fresh = self.fresh_at(cx, at);
        if !fresh {
            self.give(cx, at, false);
        }
        let before = Given { removed, mode, ..self.given.clone() };
        if fresh
            && at > self.given.from
            && self.given.mode == Mode::Content
            && self.section.is_none()
            && !self.out.space_is_idle(self.given.mode)
        {
            // Inside a section, white space is the markup's.
            self.given.space = Some(self.given.from..at);
        }
        self.goes_on_behind(end);
        self.given.opener = None;
        before
    }

    /// What ends at `end` was taken out of the text, which goes on behind that.
    pub(in crate::engine) fn goes_on_behind(&mut self, end: usize) {
        self.given.from = end;
        self.at = end;
        self.given.fresh = true;
        self.given.removed = true;
    }
}
