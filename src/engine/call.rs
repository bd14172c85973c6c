//! A call that is being read: its body, what closes it, and whether it is one.
use super::body::{BodyState, Progress, first_key, names};
use super::context::{alone, expression, quotation};
use super::found::{Found, Piece};
use super::head::{self, Head};
use super::origin::Origin;
use super::output::{Call, Output};
use super::reader::floor;
use super::tail::{Tail, string_goes_on};
use super::trace::Reason;
use super::writer::{Pending, Vouching, Writer};
use super::{BareCalls, Doubt, Engine, Given, Look, Reader, State, Step};
use crate::dialect::{Body, Key, SectionId};
use crate::engine::look::seen;
use crate::turn::{CallStatus, Evidence, Issue, IssueCode, Repair, RepairCode};
use memchr::memmem::Finder;
use std::ops::Range;

/// How much of a text may be read again, as often as the text is long.
pub(super) const MOST_READ_AGAIN: usize = 4;

/// A body that is written once more is looked for if it is no longer.
pub(super) const LONGEST_ECHO: usize = 4096;

/// The calls of one template, from their head to what closes them.
#[derive(Debug)]
pub(super) struct CallState {
    origin: Origin,
    start: usize,
    /// Where its body begins.
    inside: usize,
    body: BodyState,
    /// Its body is over: what closes it.
    tail: Option<Tail>,
    writer: Writer,
    /// What to restore if it is no call.
    before: Given,
    /// What is wrong with its head.
    slips: Vec<Repair>,
    /// Attributes of its head that its template does not have.
    stray: Option<Range<usize>>,
    /// What has come of it is longer than an expression that holds it.
    is_long: bool,
}

impl CallState {
    /// A call of `origin` that begins at `start` with this `head`. `before`: what to restore if it is none.
    #[inline]
    pub(super) fn new(
        cx: &Reader<'_>,
        origin: Origin,
        body: Body,
        start: usize,
        head: &Head,
        vouching: Vouching,
        before: Given,
    ) -> Self {
        let at = cx.skip_markup_space(head.end);
        let mut call = Self {
            origin,
            start,
            inside: at,
            body: BodyState::new(cx, body, at, head),
            tail: None,
            writer: Writer::new(origin, start, vouching, cx.hash_before(start)),
            before,
            slips: head.slips(start),
            stray: head.stray.clone(),
            is_long: false,
        };
        if head.unopened {
            call.writer.lacks_opener();
        }
        if body == Body::Python && cx.bytes().get(at) == Some(&b'[') {
            call.writer.in_list();
        }
        if matches!(body, Body::Json | Body::Python) {
            call.writer.id = head.id(cx).map(Into::into);
        }
        call
    }

    /// It is not read on: what of it has begun stays, cut off at `at`. Returns where text begins behind it.
    #[cold]
    pub(super) fn give_up(&mut self, cx: &Reader<'_>, out: &mut Output, at: usize) -> usize {
        if self.writer.begun == 0 {
            return self.before.from;
        }
        let at = at.max(self.start);
        self.writer.break_off(at);
        self.writer.flush(cx, out);
        self.writer.give_passed(cx, out);
        at
    }

    /// The call stands in this section.
    pub(super) fn in_section(&mut self, section: Option<SectionId>) {
        self.writer.section = section;
    }

    /// The call stands in a fence that a line which begins with `closer` ends, or in one of a single line.
    pub(super) fn in_fence(&mut self, closer: Option<&'static str>) {
        self.writer.in_fence(closer);
    }

    /// It ends at `at`: what is wrong with its head or its end counts for what was read. `slip`: what is missing there.
    fn settle(&mut self, cx: &Reader<'_>, out: &Output, at: usize, vouched: bool, slip: Option<Repair>) {
        let whole = self.writer.is_one() && !self.origin.is_bare();
        let lost = self.stray.clone().is_some_and(|stray| arguments_in(cx, out, &self.writer, stray));
        let Some(pending) = &mut self.writer.pending else { return };
        if !vouched && pending.status.readable() {
            pending.status = CallStatus::Incomplete;
        } else if vouched {
            pending.repairs.extend(slip);
        }
        if lost && pending.status.readable() {
            pending.status = CallStatus::Malformed;
        }
        pending.repairs.append(&mut self.slips);
        if whole {
            pending.raw = self.start..at;
        }
    }
}

impl Engine {
    /// Reads the body of `call` on, or what closes it.
    pub(super) fn call(&mut self, cx: &Reader<'_>, mut call: Box<CallState>) -> Step {
        if call.tail.is_some() {
            return self.tail(cx, call);
        }
        let limit = call.start + expression::LONGEST_CALL;
        let mut progress = Progress::More;
        if self.holds(Doubt::Bare) && !call.is_long && cx.text.len() > limit {
            call.is_long = true;
            // Whether it waits there must not depend on how much came at once.
            let memo = cx.memo.of_part();
            let near = cx.up_to_with(cx.next_char(limit), &memo).unfinished();
            progress = call.body.step(&near, &mut self.out, &mut call.writer);
            cx.memo.learn(&memo);
            self.keep_if_sure(&near, &call, progress);
        }
        if progress.waits() {
            progress = call.body.step(cx, &mut self.out, &mut call.writer);
            self.keep_if_sure(cx, &call, progress);
        }
        let CallState { body, writer, inside, .. } = &mut *call;
        match progress {
            Progress::More | Progress::Unclear { .. } if cx.eof => {
                // A body that asks for more at the end would never be over: it is cut off as it stands.
                self.abandon(cx, call, cx.text.len())
            }
            Progress::More => self.resume(cx, call),
            Progress::Unclear { since } => {
                self.wait(cx, since);
                self.resume(cx, call)
            }
            Progress::Done { end } => {
                if !writer.vouched() {
                    return self.abandon(cx, call, end);
                }
                self.at = end;
                if !writer.origin.is_bare() {
                    // A stream may have seen no more than half of the white space before it.
                    self.body = cx.skip_markup_space(*inside).min(end)..end;
                }
                let closed = matches!(body, BodyState::None(_));
                call.tail = Some(if closed { Tail::over(end) } else { Tail::new(end) });
                self.state = State::Call(call);
                Step::Go
            }
            Progress::Fail { at } => self.abandon(cx, call, at),
        }
    }

    /// The `call` has no marker: nothing doubts it any more once it is certain that no expression goes on with it.
    fn keep_if_sure(&mut self, cx: &Reader<'_>, call: &CallState, progress: Progress) {
        let kept = cx.policy.bare != BareCalls::Alone && call.writer.vouched() && call.writer.record.is_none();
        // Two calls are no part of a sentence, and neither is a long one.
        let long = || progress.waits() && cx.text.len() > call.start + expression::LONGEST_CALL;
        if self.holds(Doubt::Bare) && kept && (call.writer.begun > 1 || long()) {
            self.keep(Doubt::Bare);
        }
    }

    /// `call` ends at `at`, and what it is worth is settled. Whether it was none: then its text is text again, up to what closes in it
    /// the reasoning or the code round it.
    fn ends_in_doubt(&mut self, cx: &Reader<'_>, call: &mut CallState, at: usize) -> bool {
        call.writer.flush(cx, &mut self.out);
        if let (Some(fence), BodyState::Python(python)) = (&mut self.fence, &call.body) {
            // What a variable takes may be used behind it.
            fence.keeps |= python.keeps_result();
        }
        let closer = self.closer_in_draft(cx, call.start..at).or_else(|| self.ticks_in_call(cx, call.start..at));
        if let Some(closer) = closer {
            self.go_back(closer);
        }
        closer.is_some()
    }

    /// It was no call: its text is text again, as far as it was read.
    fn abandon(&mut self, cx: &Reader<'_>, mut call: Box<CallState>, at: usize) -> Step {
        // It may have been given up inside a character.
        let at = floor(cx.text, at.max(call.start));
        if call.writer.begun == 0 {
            let cut = cx.eof && at == cx.text.len();
            self.out.trace.kept(
                call.start..at,
                call.origin.row_id(),
                if cut { Reason::CutOff } else { Reason::NotReadable },
            );
        }
        if cx.eof
            && at == cx.text.len()
            && call.writer.begun == 0
            && self.cut_call(cx, (call.start, call.inside), call.origin, &call.before)
        {
            return Step::Go;
        }
        let told = call.writer.begun > 0 && self.hold.is_none();
        if call.writer.vouched() || told {
            // Something of it has left already: what was begun stays, as what it is, and text goes on behind it.
            let from = floor(cx.text, call.writer.text_behind(cx, &self.out, at));
            let at = at.max(from);
            call.writer.break_off(at);
            if self.ends_in_doubt(cx, &mut call, at) {
                return Step::Go;
            }
            call.writer.give_passed(cx, &mut self.out);
            self.keep_words();
            self.given.from = from;
            self.at = at;
            return Step::Go;
        }
        if let Some(fence) = self.fence.filter(|_| self.holds(Doubt::Fence)) {
            return self.fence_ends_in(cx, fence, call.start, at);
        }
        if self.hold.as_ref().is_some_and(|hold| {
            hold.doubt == Doubt::Quotes && self.out.calls.len().saturating_sub(call.writer.begun) > hold.mark.calls()
        }) {
            // Those before it are calls, and no quotation mark closes behind them.
            self.keep_all_but_last(Doubt::Quotes, call.start..at);
        }
        if self.hold.as_ref().is_some_and(|hold| hold.doubt != Doubt::Fence) {
            let reasoning = self.holds(Doubt::Reasoning);
            let nameless = call.writer.begun == 0 || call.writer.record.is_none();
            if let Some(hold) = self.hold.as_mut().filter(|hold| nameless && hold.doubt == Doubt::Bare) {
                hold.doubt = Doubt::Names;
            }
            let closer = self.closer_in_draft(cx, call.start..at);
            self.go_back(closer.unwrap_or(at));
            if reasoning {
                self.reasoning_seen = true;
            }
        } else {
            self.given = call.before;
            self.at = at;
        }
        let leaves_section =
            call.origin.row_id().is_some_and(|row| self.in_section_of(row)) && self.out.calls.is_empty();
        if leaves_section {
            self.section = None;
        }
        // A label is a word, which says less than signs do.
        let labelled = call.origin.template(cx).is_some_and(|template| template.labelled);
        if !call.origin.is_bare() && !labelled {
            self.leftover.unread = true;
            self.out.issue(Issue::at(
                IssueCode::StrayMarker,
                call.start,
                "what these markers hold is no readable call",
            ));
        }
        self.tried.given_up = Some(call.start);
        // Outside the section the same place may be read otherwise; else it would be given up again.
        let again = leaves_section && self.at > self.given.from;
        if self.at == call.start && self.at < cx.text.len() && !again {
            self.at = cx.next_char(self.at);
        }
        Step::Go
    }

    /// Reads what closes the call, and lets it count for what it is worth.
    // Not in `call`: its frame would be larger for every chunk.
    #[inline(never)]
    fn tail(&mut self, cx: &Reader<'_>, mut call: Box<CallState>) -> Step {
        let CallState { tail: Some(tail), origin, writer, .. } = &mut *call else { return Step::Go };
        if tail.read(cx, *origin, writer) == Look::More {
            return self.resume(cx, call);
        }
        let Tail { at, missing, .. } = *tail;
        let more = self.arguments_behind(cx, &call, at).or(|| self.goes_on_otherwise(cx, &call, at, missing));
        match more.or(|| self.cuts_string(cx, &call, at)) {
            Look::More => return self.resume(cx, call),
            Look::Is(()) => call.writer.refuse(),
            Look::No => {}
        }
        match self.is_spoken_of(cx, &call, at) {
            Look::More => return self.resume(cx, call),
            Look::Is(end) => {
                call.writer.flush(cx, &mut self.out);
                self.go_back(end);
                return Step::Go;
            }
            // Another call may follow between the same quotation marks.
            Look::No if self.holds(Doubt::Quotes) => {}
            // The whole answer is to be calls.
            Look::No if self.must_be_alone(cx, &call) => {}
            Look::No => self.keep_words(),
        }
        // One that has begun and was never over is told as well.
        call.writer.break_off(at);
        let closed = if missing { self.ends_unclosed(cx, &call, at) } else { Look::Is(()) };
        if closed == Look::More {
            return self.resume(cx, call);
        }
        self.leftover.unclosed = missing.then_some(call.origin);
        let slip = missing.then(|| Repair::at(RepairCode::Marker, at, "a closing marker is missing"));
        call.settle(cx, &self.out, at, closed == Look::Is(()), slip);
        if self.ends_in_doubt(cx, &mut call, at) {
            return Step::Go;
        }
        if let Some(fence) = self.fence.filter(|_| self.holds(Doubt::Fence) && call.writer.passed() > 0) {
            return self.fence_is_code(cx, fence, at);
        }
        call.writer.give_passed(cx, &mut self.out);
        self.spare = Some(call);
        self.goes_on_behind(at);
        Step::Go
    }

    /// The `call`, or those in it, was begun in reasoning and given up in it: not all of it is as it should be, and what closes
    /// the reasoning stands in it, at this place. A string that holds it in a sound call is one.
    fn closer_in_draft(&mut self, cx: &Reader<'_>, call: Range<usize>) -> Option<usize> {
        let drafts = self.hold.as_ref().filter(|hold| hold.doubt == Doubt::Reasoning)?.mark.calls();
        let written = self.out.calls.get(drafts..).unwrap_or_default().iter().rev();
        let mut written = written.take_while(|written| written.raw.start >= call.start).peekable();
        if written.peek().is_some() && written.all(is_sound) {
            return None;
        }
        let text = cx.part(&call).as_bytes();
        let first = |closer: &Finder<'_>| closer.find(text).map(|i| call.start + i);
        let closer = cx.dialects.reasoning_ends.iter().filter_map(first).min()?;
        self.read_again(closer, call.end).then_some(closer)
    }

    /// Charges the bytes from `closer` to `end`, which were read as part of a call and belong to none. Returns whether they may be
    /// read again: a text full of such calls would be read once for each of them.
    fn read_again(&mut self, closer: usize, end: usize) -> bool {
        self.reread += end - closer;
        self.out.ahead.add(end - closer, end);
        self.reread <= MOST_READ_AGAIN * end
    }

    /// The `call`, or those in it, was begun in what may be inline code, the last of it cannot be read, and backticks that close that
    /// code stand in it, at this place.
    fn ticks_in_call(&mut self, cx: &Reader<'_>, call: Range<usize>) -> Option<usize> {
        let inline = self.inline.filter(|_| self.holds(Doubt::InlineCode))?;
        let read = self.out.calls.last().filter(|last| last.raw.start >= call.start && last.status.readable());
        let closer = if read.is_some() { None } else { inline.closer(cx, call.clone()) }?;
        self.read_again(closer, call.end).then_some(closer)
    }

    /// The call is read on when more text has come, and no literal that the text ends in merely goes on.
    fn resume(&mut self, cx: &Reader<'_>, call: Box<CallState>) -> Step {
        self.state = State::Call(call);
        // Mostly it ends in none.
        if cx.memo.awaited.get().until() > cx.text.len() {
            self.await_literal(cx);
        }
        Step::More
    }

    #[cold]
    fn await_literal(&mut self, cx: &Reader<'_>) {
        if self.until == 0 {
            self.awaited = cx.memo.awaited.get();
            self.until = self.awaited.until();
        }
    }

    /// The policy takes the `call` only as the whole answer: it is held until that is clear.
    fn must_be_alone(&mut self, cx: &Reader<'_>, call: &CallState) -> bool {
        let must = cx.policy.bare == BareCalls::Alone && call.writer.evidence() == Evidence::Bare;
        if let Some(hold) = self.hold.as_mut().filter(|hold| must && hold.doubt == Doubt::Bare) {
            hold.doubt = Doubt::Alone;
        }
        self.holds(Doubt::Alone)
    }

    /// What stands round the call that ends at `at` speaks of it, where that is the doubt: it is none, and text up to a place.
    fn is_spoken_of(&self, cx: &Reader<'_>, call: &CallState, at: usize) -> Look<usize> {
        let Some(hold) = &self.hold else { return Look::No };
        let speaks = match hold.doubt {
            Doubt::Quotes => {
                return call.writer.behind_section(cx, at).then(|closed| {
                    // It may be the last of several between them.
                    let closes = quotation::closes(cx, hold.at, closed);
                    closes.map(|()| closed)
                });
            }
            Doubt::Sentence => expression::goes_on(cx, at, at + cx.policy.max_markup_bytes),
            // Two calls are no part of a sentence.
            Doubt::Bare if call.writer.begun > 1 => Look::No,
            Doubt::Bare => {
                let (place, pending) = (call.start..at, call.writer.pending.as_ref());
                // How far one reaches that had to be mended is a guess.
                let certain =
                    |call: &Pending| call.status.readable() && !matches!(call.arguments, Found::Json(Piece::Made(_)));
                let goes_on = if pending.is_some_and(certain) {
                    expression::goes_on(cx, at, place.start + expression::LONGEST_CALL)
                } else {
                    Look::No
                };
                goes_on.or(|| alone::is_only_named(cx, place, pending, hold.before.fresh))
            }
            Doubt::Reasoning | Doubt::Draft | Doubt::Fence | Doubt::InlineCode | Doubt::Names | Doubt::Alone => {
                Look::No
            }
        };
        speaks.map(|()| at)
    }

    /// In its section stands right behind the call, which ends at `at` and has no arguments, an object that begins with a parameter
    /// of its tool, or one of these in its own markers: they were put outside. Outside a section, every call without arguments would
    /// have to wait for what follows it.
    fn arguments_behind(&self, cx: &Reader<'_>, call: &CallState, at: usize) -> Look<()> {
        let pending = call.writer.pending.as_ref().filter(|_| call.writer.section.is_some());
        let empty = pending.filter(|pending| pending.status.readable() && pending.arguments.say_nothing());
        let called = empty.and_then(|pending| cx.called(&self.out, pending.index));
        let Some(tool) = called.filter(|tool| !tool.parameters.is_empty()) else { return Look::No };
        let key = cx.behind_space(at, at).then(|at| match cx.bytes().get(at) {
            Some(b'{') => first_key(cx, at),
            Some(b'<') => parameter(cx, call.origin, at),
            _ => Look::No,
        });
        key.then(|key| Look::when(tool.declares(cx.part(&key))))
    }

    /// Behind the call, which has arguments alone and ends at `at`, stands a parameter of its tool: where what closes the call is
    /// `missing`, in the markers of its dialect or in an object of its own, and where no marker was read, in an object in the same
    /// line. Which of the two was meant, or both, nobody knows.
    fn goes_on_otherwise(&self, cx: &Reader<'_>, call: &CallState, at: usize, missing: bool) -> Look<()> {
        let arguments = call.origin.template(cx).is_some_and(|template| template.body == Body::Arguments);
        if !arguments || !(missing || at == self.body.end) {
            return Look::No;
        }
        let pending = call.writer.pending.as_ref().filter(|pending| pending.status.readable());
        let Some(tool) = pending.and_then(|pending| cx.called(&self.out, pending.index)) else { return Look::No };
        let next = match missing {
            true => seen!(cx.behind_space(at, at)),
            false => at + usize::from(cx.rest(at).starts_with(' ')),
        };
        let body = cx.part(&self.body);
        let key = match cx.bytes().get(next) {
            // All of them once more is an echo. Longer ones are not waited for.
            Some(b'{') => match if body.len() <= LONGEST_ECHO { cx.literal(next, body) } else { Look::No } {
                Look::No => first_key(cx, next),
                look => return look.then(|_| Look::No),
            },
            Some(b'<') if missing => parameter(cx, call.origin, next),
            None if !cx.eof => return Look::More,
            _ => return Look::No,
        };
        key.then(|key| Look::when(tool.declares(cx.part(&key))))
    }

    /// The call, which ends at `at` without a marker, ends in a string that was over too early.
    fn cuts_string(&self, cx: &Reader<'_>, call: &CallState, at: usize) -> Look<()> {
        let quoted = match call.origin {
            Origin::Bare(_) => true,
            Origin::Template(_) => {
                let body = call.origin.template(cx).map(|template| template.body);
                at == self.body.end && matches!(body, Some(Body::Json | Body::Arguments | Body::Python))
            }
        };
        let readable = call.writer.pending.as_ref().is_some_and(|pending| pending.status.readable());
        if quoted && readable { string_goes_on(cx, at) } else { Look::No }
    }

    /// The call ends at `at` though a marker is missing there: it is of an offered tool, what closes its section follows, or the text
    /// ends as well. Else nothing vouches for it.
    fn ends_unclosed(&self, cx: &Reader<'_>, call: &CallState, at: usize) -> Look<()> {
        if call.writer.pending.as_ref().is_some_and(|call| cx.called(&self.out, call.index).is_some()) {
            return Look::Is(());
        }
        match cx.behind_space(at, at) {
            Look::Is(next) if next < cx.text.len() => {
                // Of special tokens a model that knows them leaves none out.
                let section = self.section.and_then(|section| cx.dialects.section(section));
                let section = section.filter(|section| !section.special);
                section.map_or(Look::No, |section| cx.opens(next, &section.close).unit())
            }
            look => look.unit(),
        }
    }
}

/// The key of a parameter that stands at `at` in the markers of this origin's row.
#[cold]
fn parameter(cx: &Reader<'_>, origin: Origin, at: usize) -> Look<Range<usize>> {
    let parameters = origin.row(cx).map_or(&[][..], |row| row.parameters.as_slice());
    let looks = parameters.iter().map(|parameter| match head::head(cx, at, &parameter.head) {
        Look::Is(head) => head.key.map_or(Look::No, Look::Is),
        Look::No => Look::No,
        Look::More => Look::More,
    });
    Look::first_of(looks)
}

/// Whatever stands in a string of the `call` does so: it was read as it is written, or the little that was mended says nothing of where
/// its strings end. What the schema says of it counts only where text has quotes.
fn is_sound(call: &Call) -> bool {
    let sound = |repair: &Repair| {
        matches!(
            repair.code,
            RepairCode::Coerced
                | RepairCode::Comma
                | RepairCode::DoubleEncoded
                | RepairCode::Literal
                | RepairCode::Name
                | RepairCode::NullDropped
                | RepairCode::Number
        )
    };
    let quoted = matches!(call.arguments, Found::Json(_));
    match call.status {
        CallStatus::Ok => true,
        // Empty arguments have no strings.
        CallStatus::Repaired => call.arguments.say_nothing() || call.repairs.iter().all(sound),
        CallStatus::Invalid | CallStatus::UnknownTool => quoted && call.repairs.iter().all(sound),
        CallStatus::Malformed | CallStatus::Incomplete => false,
    }
}

/// Arguments stand among the attributes at `stray`, which the template of the call that was read does not have. Without any others,
/// whatever says nothing of the call itself is meant as one.
fn arguments_in(cx: &Reader<'_>, out: &Output, writer: &Writer, stray: Range<usize>) -> bool {
    let Some(pending) = &writer.pending else { return false };
    let Some(tool) = cx.called(out, pending.index) else { return false };
    let text = cx.part(&stray);
    let mut known =
        tool.parameters.iter().map(|(name, _)| name.as_str()).chain(Key::Arguments.spellings().iter().copied());
    let first = text.split('=').next().unwrap_or_default().trim_ascii();
    let empty = pending.arguments.say_nothing() && !tool.parameters.is_empty();
    known.any(|key| names(text, key)) || (empty && !Key::is_about(first))
}
