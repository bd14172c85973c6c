//! Closing markers that close nothing, or that the end of the text cut off.
use crate::dialect::{CallId, CallTemplate, Element, RowId};
use crate::engine::origin::Origin;
use crate::engine::tail::cut_off;
use crate::engine::{Engine, Look, Reader, Taken, head};
use crate::turn::{Issue, IssueCode};

impl Engine {
    /// What closes calls by this template begins at `at`, with this element of its tail.
    pub(super) fn call_end(&mut self, cx: &Reader<'_>, at: usize, call: CallId, element: u16) -> Taken {
        let tail = cx.dialects.call(call).and_then(|t| t.tail.get(usize::from(element)..)).unwrap_or_default();
        // A checkpoint's suffix belongs to the marker.
        let suffixed = matches!(tail.get(1..3), Some([Element::Slot(_), Element::Literal(_)]));
        let marker = tail.get(..if suffixed { 3 } else { 1 }).unwrap_or_default();
        head::head(cx, at, marker).take(|found| self.closes_nothing(cx, at, found.end, call.row))
    }

    /// A closing marker that closes nothing. Right behind a call of its dialect it is one too many, further on it closes a
    /// call that lacked it, and at the end of a line it is left over where the dialect was named; elsewhere, and behind an
    /// opening marker that is text, it is text.
    pub(super) fn closes_nothing(&mut self, cx: &Reader<'_>, at: usize, end: usize, row: RowId) -> Taken {
        if self.inline.is_some() || self.drafts(cx) {
            return Taken::No;
        }
        // The special token of a marker that was found to be text is none of its own.
        let prefix = cx.dialects.row(row).map_or("", |row| row.dialect.tag_prefix.as_str());
        if !prefix.is_empty() && cx.slice(0, at).ends_with(prefix) {
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
            if cx.dialects.auto || self.fence.is_some() || unread || in_other {
                return Taken::No;
            }
            let rest = cx.rest(end).trim_start_matches([' ', '\t', '\r']);
            let near = cx.text.len() - rest.len() - end <= cx.policy.max_markup_bytes;
            let over = rest.is_empty() && cx.eof || rest.starts_with('\n');
            if !near || !over {
                return if near && rest.is_empty() { Taken::More } else { Taken::No };
            }
            if self.closes_text(cx, at, end) {
                return Taken::No;
            }
        }
        self.out.issue(Issue::at(IssueCode::StrayMarker, at, "a closing marker that closes nothing was left out"));
        self.leftover.unclosed = None;
        self.cut_out(cx, at, end);
        Taken::Done
    }

    /// The text ends in the first bytes of what closes the section, right behind a call in it.
    pub(super) fn cut_closer(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let section = self.section.filter(|section| self.call_ended(cx, at, section.row));
        let Some((_, close)) = section.and_then(|section| cx.dialects.section(section)) else { return Taken::No };
        // One byte alone is no evidence.
        if cx.rest(at).trim_ascii().len() < 2 || !cut_off(cx.rest(at), close, &[]) {
            return Taken::No;
        }
        self.out.issue(Issue::at(IssueCode::StrayMarker, at, "a closing marker that is cut off was left out"));
        self.cut_out(cx, at, cx.text.len());
        Taken::Done
    }

    /// Takes what stands at `at` out of the text, which goes on as if nothing had stood there.
    pub(super) fn cut_out(&mut self, cx: &Reader<'_>, at: usize, end: usize) {
        if self.fresh_at(cx, at) {
            self.remove(cx, at, end);
        } else {
            self.give(cx, at, false);
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
}

/// Calls of this row are written as the one that `call` is the template of, which may have been read by another row.
#[cold]
fn writes_alike(cx: &Reader<'_>, row: RowId, call: &CallTemplate) -> bool {
    cx.dialects.row(row).is_some_and(|row| row.calls.iter().any(|own| own.head == call.head && own.tail == call.tail))
}
