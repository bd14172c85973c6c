//! Text outside calls. It flows on up to the next place where something else may begin, and that is looked at.
pub(super) mod bare;
pub(super) mod begin;
pub(super) mod channels;
pub(super) mod flow;
pub(super) mod given;
pub(super) mod invented;
pub(super) mod leftover;
pub(super) mod markers;
pub(super) mod named;
pub(super) mod opening;
pub(super) mod plain;
pub(super) mod reasoning;
pub(super) mod runaway;
pub(super) mod sections;
pub(super) mod tried;
pub(super) mod unclear;

use super::{Doubt, Engine, Look, Mode, Reader, ReasoningCalls, State, Step, Taken};
use crate::engine::context::quotation;
use crate::engine::look::{taken, told};
use crate::engine::measure::ROUND;
use unclear::Stage;

/// What a look at a place takes, as the bytes of plain text that are read in that time.
const LOOK: usize = 64;

/// As [`LOOK`], where somebody wants to know why what stands there is no call: it is read to its end.
const NOTED_LOOK: usize = 4096;

impl Engine {
    pub(super) fn prose(&mut self, cx: &Reader<'_>) -> Step {
        if self.fence.is_some() {
            return self.fence_prose(cx);
        }
        if self.holds(Doubt::Quotes) {
            return self.behind_quoted_call(cx);
        }
        if self.holds(Doubt::Alone) {
            return self.behind_lone_calls(cx);
        }
        if self.holds(Doubt::Draft) {
            return self.behind_draft(cx);
        }
        if let Some(step) = self.observe(cx) {
            return step;
        }
        let bytes = cx.bytes();
        // Where it is unclear what begins, the text before is given out and nothing else begins there.
        let waited = self.unclear.stage(cx, self.at).is_some();
        let mut unclear = waited && cx.dialects.markers.is_stop(bytes, self.at);
        if self.at == 0 && !unclear && (cx.dialects.begins_bare || self.given.mode == Mode::Reasoning) {
            // A header without special tokens has its object near; the others wait for a marker.
            for look in [
                Self::opening_label,
                Self::opening_channel,
                Self::opening_header,
                Self::opening_marker,
                Self::opening_word,
                Self::opening_name,
                Self::opening_pair,
            ] {
                match look(self, cx) {
                    Taken::Done => return Step::Go,
                    Taken::More if !cx.eof => return Step::More,
                    Taken::No | Taken::More => {}
                }
            }
        }
        // What is no stop any more need not be asked again.
        let mut next = (waited && !unclear).then(|| cx.dialects.markers.next_stop(bytes, self.at + 1));
        loop {
            let stop = if unclear { self.at } else { self.next_stop(cx, &mut next) };
            self.at = stop;
            if stop >= bytes.len() {
                if cx.eof {
                    self.end(cx);
                } else {
                    self.give_text(cx, stop, false);
                }
                return Step::More;
            }
            self.leave_paragraph(cx, stop);
            match self.look(cx, stop) {
                // Inline code was entered or left: prose goes on.
                Taken::Done
                    if matches!(self.state, State::Prose)
                        && self.fence.is_none()
                        && !self.holds(Doubt::Draft)
                        && self.measure.falls(self.at, bytes.len()) =>
                {
                    unclear = false;
                    if self.work.stops(ROUND) {
                        return Step::Go;
                    }
                    if let Some(step) = self.observe(cx) {
                        return step;
                    }
                }
                Taken::Done => return Step::Go,
                Taken::More => {
                    // White space behind a marker waits, however often it is asked for.
                    let waits = self.given.from >= stop || self.fresh_at(cx, stop);
                    if !(unclear && waits) {
                        self.give_text(cx, stop, false);
                    }
                    if self.unclear.stage(cx, stop).is_none() {
                        self.unclear.set(stop, Stage::Anything);
                    }
                    self.awaited = cx.memo.awaited.get();
                    self.until = self.awaited.until();
                    return Step::More;
                }
                Taken::No => {
                    unclear = false;
                    // Whatever stands here is text; at least one byte of it has been looked at.
                    self.at = cx.next_char(stop);
                    let look = if self.out.trace.is_on() { NOTED_LOOK } else { LOOK };
                    if self.work.stops(look) {
                        return Step::Go;
                    }
                }
            }
        }
    }

    /// As [`Self::observation`], what is done next if one stands there.
    #[inline(always)]
    fn observe(&mut self, cx: &Reader<'_>) -> Option<Step> {
        // Mostly text was given out there.
        if !self.given.removed || !self.given.fresh || self.out.calls.is_empty() {
            return None;
        }
        match self.observation(cx) {
            Taken::Done => Some(Step::Go),
            Taken::More if !cx.eof => Some(Step::More),
            Taken::No | Taken::More => None,
        }
    }

    /// The next place where something may begin; `known` is the one where that may be something else than a header without special
    /// tokens, which may stand before it.
    fn next_stop(&mut self, cx: &Reader<'_>, known: &mut Option<usize>) -> usize {
        let stop = match known.filter(|stop| *stop >= self.at) {
            Some(stop) => stop,
            None => *known.insert(cx.dialects.markers.next_stop(cx.bytes(), self.at)),
        };
        let stop = self.plain_stop(cx, stop);
        self.recipient_stop(cx, stop)
    }

    /// Behind a call that stands right behind a quotation mark, which did not close there: only more of them, or what closes their
    /// section, leave that open.
    #[cold]
    fn behind_quoted_call(&mut self, cx: &Reader<'_>) -> Step {
        let opened = self.hold.as_ref().map_or(self.at, |hold| hold.at);
        if told!(quotation::closes(cx, opened, self.at), Step::More).is_some() {
            self.go_back(self.at);
            return Step::Go;
        }
        // In a string, a line break is written as its escape.
        let next = cx.skip_markup_space(self.at);
        let taken = match cx.behind_space(self.at, next) {
            Look::Is(next) if cx.ends_in_space(next) => Taken::More,
            Look::Is(next) if next < cx.text.len() => self.look(cx, next),
            Look::More => Taken::More,
            Look::Is(_) | Look::No => Taken::No,
        };
        match taken {
            // What closes a call that lacks it may stand behind code.
            Taken::Done if matches!(self.state, State::Prose | State::Call(_)) || self.leftover.unclosed.is_some() => {}
            Taken::More if !cx.eof => return Step::More,
            _ => self.keep_words(),
        }
        Step::Go
    }

    /// Behind calls without markers, which the policy takes only as the whole answer: nothing but more calls may follow, and nothing but
    /// reasoning may stand before them.
    #[cold]
    fn behind_lone_calls(&mut self, cx: &Reader<'_>) -> Step {
        let next = match cx.skip_tokens(self.at) {
            Look::Is(next) => next,
            Look::More | Look::No => return Step::More,
        };
        let said = self.hold.as_ref().is_some_and(|hold| hold.mark.says_something());
        let taken = match next {
            _ if said => Taken::No,
            _ if next >= cx.text.len() && cx.eof => {
                self.keep(Doubt::Alone);
                return Step::Go;
            }
            _ if next >= cx.text.len() => Taken::More,
            _ => self.look(cx, next),
        };
        match taken {
            Taken::Done if matches!(self.state, State::Call(_)) => {}
            Taken::More if !cx.eof => return Step::More,
            _ => {
                self.go_back(self.at);
            }
        }
        Step::Go
    }

    /// Behind reasoning with calls in it, which was closed: they were drafts if an answer follows. Source: users of Trinity in
    /// SGLang, whose agents stopped at an answer of nothing.
    #[cold]
    fn behind_draft(&mut self, cx: &Reader<'_>) -> Step {
        match cx.skip_tokens(self.at) {
            Look::Is(next) if next >= cx.text.len() && cx.eof => self.keep(Doubt::Draft),
            Look::Is(next) if next < cx.text.len() => {
                let closer = self.hold.as_ref().map_or(self.at, |hold| hold.closer);
                self.go_back(closer);
            }
            _ if !cx.eof => return Step::More,
            _ => self.keep(Doubt::Draft),
        }
        Step::Go
    }

    /// The text ends outside any call.
    pub(super) fn end(&mut self, cx: &Reader<'_>) {
        self.leave_paragraph(cx, self.at);
        self.leave_stop(cx);
        self.leave_inline(self.at);
        [Doubt::Reasoning, Doubt::Draft, Doubt::Quotes].into_iter().for_each(|doubt| self.keep(doubt));
        if self.given.fresh && self.given.removed && cx.rest(self.given.from).trim_ascii_start().is_empty() {
            self.given.from = self.at;
        }
        self.give_text(cx, self.at, true);
        self.tell_dropped(cx, self.at);
    }

    /// Here a call without markers is only a draft: this is reasoning, and the policy does not run what stands in it.
    pub(super) fn drafts(&self, cx: &Reader<'_>) -> bool {
        self.given.mode == Mode::Reasoning && cx.policy.reasoning != ReasoningCalls::Run
    }

    /// Looks at a place where something may begin: what of the following does is begun, in this order of precedence.
    pub(super) fn look(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let header = if self.plain.is_some() { self.plain_look(cx, at) } else { Taken::No };
        let byte = cx.bytes().get(at).copied().unwrap_or_default();
        header.or(|| match byte {
            b'`' => self.ticks(cx, at),
            b'~' => self.tildes(cx, at),
            _ => self.look_for_markup(cx, at, byte),
        })
    }

    fn look_for_markup(&mut self, cx: &Reader<'_>, at: usize, byte: u8) -> Taken {
        if !matches!(self.unclear.stage(cx, at), Some(Stage::Unmarked)) {
            let header = if byte == b't' { self.recipient(cx, at) } else { Taken::No };
            taken!(header.or(|| self.marker(cx, at)).or(|| self.late_marker(cx, at)));
        }
        let taken = match byte {
            b'(' => self.bare_call(cx, at),
            b'<' => self.leftover_tag(cx, at).or(|| self.bare_element(cx, at)),
            b'{' => self
                .result_object(cx, at)
                .or(|| self.named_object(cx, at))
                .or(|| self.line_header(cx, at))
                .or(|| self.bare(cx, at)),
            b'[' => self.bare(cx, at),
            _ => Taken::No,
        };
        if taken == Taken::More {
            self.unclear.set(at, Stage::Unmarked);
        }
        taken
    }
}
