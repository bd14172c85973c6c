//! What opens and closes reasoning.
use crate::engine::look::{taken, told};
use crate::engine::{Doubt, Engine, Look, Mode, Reader, Taken};
use crate::turn::{Issue, IssueCode};

impl Engine {
    /// The prompt opened the reasoning, and the answer begins with the label that stands in the longer of two opening markers,
    /// on a line of its own: `thought`.
    pub(super) fn opening_label(&mut self, cx: &Reader<'_>) -> Taken {
        if self.given.mode != Mode::Reasoning {
            return Taken::No;
        }
        let pairs = &cx.dialects.reasoning;
        for (long, _) in pairs {
            for label in pairs.iter().filter_map(|(short, _)| long.strip_prefix(short.as_str())) {
                let end = match cx.literal(0, label) {
                    Look::Is(end) if !label.is_empty() => end,
                    Look::More => return Taken::More,
                    _ => continue,
                };
                if let Some(end) = told!(cx.literal(end, "\n")) {
                    self.remove(cx, 0, end);
                    return Taken::Done;
                }
            }
        }
        Taken::No
    }

    pub(super) fn reasoning_opens(&mut self, cx: &Reader<'_>, at: usize, length: usize) -> Taken {
        let blank = self.fresh_at(cx, at);
        if self.inline.is_some() || self.hold.is_some() {
            return Taken::No;
        }
        // In the middle of a line a tag is one only if it ends that, and a token where thoughts are glued to it: who writes about
        // it goes on behind a blank or a sign. What has bars is a token anywhere, if its dialect is the one that was named.
        let (marker, bars) = (cx.slice(at, at + length), ['|', '｜', '◁']);
        let token = marker.starts_with('[') || marker.contains(bars);
        let glued = |next: &u8| token && (next.is_ascii_alphanumeric() || *next >= 0x80);
        let sure = !cx.dialects.auto && marker.contains(bars);
        match cx.bytes().get(at + length) {
            _ if blank || sure || cx.at_line_start(at) => {}
            Some(b'\n') => {}
            Some(next) if glued(next) => {}
            None if !cx.eof => return Taken::More,
            _ => {
                self.leftover.named_opener = Some(at).filter(|_| self.given.mode == Mode::Content);
                return Taken::No;
            }
        }
        if self.given.mode == Mode::Content && marker.starts_with('<') {
            // It may be a tag named after a tool, with a parameter of that in it.
            taken!(self.bare_element(cx, at));
        }
        if self.given.mode == Mode::Content {
            self.remove(cx, at, at + length);
            self.given.mode = Mode::Reasoning;
        } else if blank {
            // The prompt had opened it already.
            self.remove(cx, at, at + length);
        } else {
            return Taken::No;
        }
        self.reasoning_seen = true;
        self.section = None;
        Taken::Done
    }

    pub(super) fn reasoning_closes(&mut self, cx: &Reader<'_>, at: usize, length: usize) -> Taken {
        // Behind a draft, the text is read as content for now.
        if self.given.mode == Mode::Reasoning || self.holds(Doubt::Reasoning) {
            // In backticks that hold nothing else it is spoken of.
            if self.inline.is_some() && cx.slice(0, at).ends_with('`') {
                match cx.bytes().get(at + length) {
                    Some(b'`') => return Taken::No,
                    None if !cx.eof => return Taken::More,
                    _ => {}
                }
            }
            self.draft_ends(cx, at);
            self.remove(cx, at, at + length);
            self.around.elements.leave(at + length);
            self.given.mode = Mode::Content;
            self.out.reasoning_end = Some(at + length);
            self.inline = None;
            self.given.space = None;
            return Taken::Done;
        }
        if self.inline.is_some() || self.hold.is_some() {
            return Taken::No;
        }
        // Both are spoken of.
        if self.leftover.named_opener.take().is_some_and(|opener| !cx.slice(opener, at).contains('\n')) {
            return Taken::No;
        }
        self.remove(cx, at, at + length);
        if !self.reasoning_seen && self.out.calls.is_empty() {
            self.out.reclassify(at);
            self.out.reasoning_end = Some(at + length);
            self.around.elements.leave(at + length);
            self.reasoning_seen = true;
        } else {
            self.out.issue(Issue::at(IssueCode::StrayMarker, at, "reasoning was closed that was not open"));
        }
        Taken::Done
    }
}
