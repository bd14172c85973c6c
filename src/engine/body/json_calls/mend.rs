//! Calls in JSON that strict reading refuses, or that the text cuts off.
use super::object::{tell_left_out, whole_envelope};
use super::*;
use crate::char_class;
use crate::engine::body::literal;
use crate::engine::body::strings::begins_call_in;
use crate::engine::look::told;
use crate::json::{Ending, Repaired};

/// A value that is no JSON so early is read once more, as text.
const NEAR: usize = 64;

impl JsonCalls {
    /// What stands at `at` is not JSON: the rest of the call object is left to repair.
    #[cold]
    pub(super) fn broken(&mut self, cx: &Reader<'_>, at: usize) -> Flow {
        if cx.made {
            return Flow::Stop(Progress::Fail { at });
        }
        // With a list of no calls beside its name and its arguments, it is a call itself.
        let own = |frame: &&mut Frame| {
            frame.envelope == Some(Envelope::NoCalls) && frame.name.is_some() && frame.arguments.is_some()
        };
        self.frames.last_mut().filter(own).into_iter().for_each(|frame| frame.envelope = None);
        // The outermost object that is still open is the call; the list round it goes on after it.
        let object = self.frames.call().or_else(|| self.frames.last().filter(|frame| frame.envelope.is_some()));
        // What is no object is read from where it began, too.
        let element = if self.expect == Expect::Element { self.scanner_start() } else { at };
        let start = object.map_or(element, |frame| frame.start);
        self.at = at;
        let broke = match self.expect {
            Expect::Member { .. } | Expect::Element => Broke::InValue,
            Expect::Next => Broke::BehindValue,
            _ => Broke::Elsewhere,
        };
        self.expect = Expect::Broken { start, error: at, broke };
        Flow::On
    }

    /// In a list of calls neither a comma nor its end stands at `at`: another call may, else the list is over.
    #[cold]
    pub(super) fn unclosed_list(&mut self, cx: &Reader<'_>, writer: &mut Writer, at: usize, byte: u8) -> Flow {
        let odd = match byte {
            b'}' => Some((RepairCode::Bracket, "a closing bracket too many was left out", Expect::Next)),
            b';' => Some((RepairCode::Comma, "a semicolon stood for a comma", Expect::Value { close: true })),
            _ => None,
        };
        if let Some((code, what, expect)) = odd {
            writer.mend(code, at, what);
            return self.go(at + 1, expect);
        }
        let next = match cx.behind_space(at, at + 1) {
            Look::Is(inside) => cx.bytes().get(inside).copied(),
            Look::More if matches!(byte, b'{' | b'[') => return Flow::Stop(Progress::More),
            _ => None,
        };
        let another = match byte {
            b'{' => next.is_some_and(char_class::begins_key),
            b'[' => next == Some(b'{') && self.frames.len() < self.max_depth,
            _ => false,
        };
        let what = if another { "a comma between two calls is missing" } else { "the list is not closed" };
        let code = if another { RepairCode::Comma } else { RepairCode::Bracket };
        writer.mend(code, at, what);
        if another {
            return self.go(at, Expect::Value { close: false });
        }
        Flow::Stop(self.leave(cx, writer, self.at))
    }

    /// The object at `start` is no JSON at `error`: it is left to repair if there is evidence that it is a call.
    #[cold]
    pub(super) fn is_worth_repair(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        (start, error): (usize, usize),
        broke: Broke,
    ) -> Flow {
        // The end of the turn stands where the brace of a call without markers should.
        let whole = self.frames.call().and_then(|frame| self.whole_arguments(frame)).filter(|_| writer.is_unmarked());
        if let Some((index, arguments)) = whole.filter(|_| broke == Broke::BehindValue)
            && cx.slice(arguments.end, error).trim_ascii().is_empty()
            && cx.called(out, index).is_some()
        {
            match cx.skip_tokens(error) {
                Look::More => return Flow::Stop(Progress::More),
                Look::Is(next) if next > error && next >= cx.text.len() && !cx.eof => {
                    return Flow::Stop(Progress::More);
                }
                Look::Is(next) if next > error && next >= cx.text.len() => {
                    return Flow::Stop(self.lacks_brace(cx, out, writer, (start, error), (index, arguments)));
                }
                _ => {}
            }
        }
        if writer.begun > 0 && !writer.vouched() {
            // What is no JSON may hold anything: no name further on vouches for what is before it.
            return Flow::Stop(Progress::Fail { at: error });
        }
        let alone = writer.origin.is_bare() && writer.begun == 0;
        let doubtful = (alone && !self.is_answer(cx, out, writer, error, broke)) || self.before.is_some();
        if doubtful && self.frames.iter().all(|frame| frame.index.is_none()) {
            // Nothing closes it but itself: prose that begins with a brace would never be over.
            if told!(call_key_in(cx, start), Flow::Stop(Progress::More)).is_none() {
                match if self.before.is_some() { message_at(cx, start) } else { Look::No } {
                    Look::Is(()) => self.recorded(cx, out, writer),
                    Look::More => return Flow::Stop(Progress::More),
                    Look::No => {}
                }
                // What stands there may be a marker that was taken for the beginning of a list.
                let value = self.scanner_start();
                let near = broke == Broke::InValue && error.checked_sub(value).is_some_and(|read| read <= NEAR);
                let fail = Progress::Fail { at: if near { value } else { error } };
                return Flow::Stop(match self.before {
                    // Calls in the value that is read are behind that place.
                    Some((_, begun)) if begun != writer.begun => self.unread(cx, writer, start, error),
                    Some((end, _)) => self.leave(cx, writer, end),
                    None => fail,
                });
            }
        }
        self.expect = Expect::Lenient { start, error, searched: error };
        Flow::On
    }

    /// The object at `start` is no JSON at `error`: repair reads it, as far as what stands round it lets it.
    // Not in `step`: its frame would be larger for every chunk.
    #[cold]
    pub(super) fn lenient(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        start: usize,
        error: usize,
        searched: usize,
    ) -> Flow {
        let bare = writer.origin.is_bare() && writer.fence.is_none();
        let mut searched = searched;
        let window = lenient::Window::new(cx, out, start);
        let near = window.reader(cx);
        let bound = match writer.fence {
            Some(fence) => lenient::fence(&near, fence, &mut searched).map(Bound::sure),
            // What is no JSON may be prose: it does not take in the calls behind it.
            None if bare => lenient::next_marker(&near, &mut searched).map(Bound::sure),
            None => self.bound(&near, writer, start),
        };
        let Look::Is(bound) = bound else {
            self.expect = Expect::Lenient { start, error, searched };
            return Flow::Stop(Progress::More);
        };
        let bound = window.bound(bound);
        let limit = bound.at;
        let over = limit < cx.text.len();
        let closed = over && !bare;
        let strings = self.strings.as_mut().filter(|strings| strings.start == start);
        let repaired = strings.map_or_else(|| lenient::repair(cx, start, limit), |strings| strings.repair(cx, limit));
        let mended = match repaired {
            Ok(mended) => mended,
            Err(reached) => {
                let reached = error.max(reached);
                let strings = self.strings.as_ref().filter(|strings| strings.start == start);
                out.ahead.add(strings.map_or(0, |strings| strings.ahead(reached)), limit);
                return self.too_deep(cx, out, writer, (start, error), reached, limit);
            }
        };
        let sibling = if mended.guessed { self.before_sibling(cx, start, start + mended.consumed) } else { None };
        let mended = sibling.unwrap_or(mended);
        let strings = self.strings.as_ref().filter(|strings| strings.start == start);
        let closed_at = strings.and_then(|strings| strings.closed()).filter(|_| !over);
        let mended = lenient::escaped_alone(cx, start, closed_at, &mended).unwrap_or(mended);
        let behind = strings.map_or(0, |strings| strings.ahead(start + mended.consumed));
        out.ahead.add(mended.ahead + behind, limit);
        if closed && mended.ending == Ending::Cut && writer.fence.take().is_some() {
            // Inside a string it may be a part of it: only the end of the text decides.
            self.expect = Expect::Lenient { start, error, searched: error };
            return Flow::On;
        }
        if let Some(envelope) = self.open_envelope() {
            if !mended.complete()
                && let Some(flow) = self.words_behind_calls(cx, out, writer, (error, limit))
            {
                return flow;
            }
            let text = cx.slice(start, limit);
            let prose = if mended.complete() { None } else { lenient::prose_behind(&mended, text) };
            let before = prose.map(|prose| text.get(..prose).unwrap_or_default().trim_ascii_end().len());
            let mended = match before.map(|before| lenient::repair(cx, start, start + before)) {
                Some(Ok(before)) => before,
                _ => mended,
            };
            let end = start + before.unwrap_or(mended.consumed);
            let place = (cx.slice(start, end), start, error.min(self.scanner_start()));
            self.mended_envelope(out, writer, envelope, place, &mended);
            self.frames.pop();
            return self.closed(cx, writer, end);
        }
        if closed || mended.complete() {
            let doubts = bound.doubts(cx) || self.swallows_call(cx, writer, start, &mended);
            let mended = Repaired { guessed: mended.guessed || doubts, ..mended };
            let mend = Mend { limit, closed, begun: writer.begun };
            return self.read_mended(cx, out, writer, (start, error), mended, mend);
        }
        // The text ended inside the value: what there is of it is certain as far as it goes.
        let limit = lenient::prose_behind(&mended, cx.slice(start, limit)).map_or(limit, |prose| start + prose);
        let start = self.arguments_of_call().map_or(start, |arguments| arguments.start);
        let begun = self.frames.iter().rev().find_map(|f| f.index);
        let progress = match self.incomplete(cx, writer, start, limit, begun) {
            None if !over => self.incomplete_made(cx, out, writer, start),
            progress => progress,
        };
        Flow::Stop(progress.unwrap_or_else(|| self.unread(cx, writer, start, limit)))
    }

    /// A string that nothing closes in the object at `start`, which is `mended`, holds the marker of another call of its row, with the
    /// quotes of that as they are: the object was cut off before it.
    fn swallows_call(&self, cx: &Reader<'_>, writer: &Writer, start: usize, mended: &Repaired<'_>) -> bool {
        let unclosed = mended.repairs.iter().any(|repair| repair.code == RepairCode::UnclosedString);
        unclosed && begins_call_in(cx, start..start + mended.consumed, writer.origin)
    }

    /// Repair took the object at `start` for one that ends at `end`, which is a guess. In a list, by its brackets, it ends before another
    /// call that stands before that place: what repair makes of it alone is as much of a guess, and leaves that call.
    fn before_sibling<'t>(&self, cx: &Reader<'t>, start: usize, end: usize) -> Option<Repaired<'t>> {
        let strings = self.strings.as_ref().filter(|strings| strings.start == start && self.frames.in_list())?;
        let closed = strings.closed().filter(|closed| *closed < end)?;
        let comma = cx.skip_space(closed);
        let next = cx.skip_space(comma + 1);
        let memo = Memo::default();
        let readable = &cx.up_to_with(end, &memo);
        let another = cx.bytes().get(comma) == Some(&b',') && cx.bytes().get(next) == Some(&b'{');
        if !another || call_key_in(readable, next) != Look::Is(()) {
            return None;
        }
        let mended = lenient::repair(cx, start, closed).ok()?;
        Some(Repaired { guessed: true, ..mended })
    }

    /// The object at `start`, which is no JSON at `error`, is nested too deep to be read further than it was `reached`.
    fn too_deep(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        (start, error): (usize, usize),
        reached: usize,
        limit: usize,
    ) -> Flow {
        if let Some(envelope) = self.open_envelope().filter(|_| writer.vouched()) {
            return self.envelope_breaks_off(cx, out, writer, envelope, (start, reached, limit));
        }
        let begun = self.frames.iter().rev().find_map(|f| f.index);
        let among = writer.begun > 0 && self.before.is_none();
        if begun.is_none() && !among {
            // What it holds on the way down is no call either, and is not read once more.
            return Flow::Stop(Progress::Fail { at: reached.max(limit.min(reached + 1)) });
        }
        // An object that begins here and gives nothing at all is nested too deep, cut off or not.
        let end = lenient::too_deep_end(cx, start, limit);
        // By its brackets it is over sooner: the rest is read again.
        out.ahead.add(end.map_or(0, |end| reached.saturating_sub(end)), limit);
        if let Some(index) = begun {
            let raw = if self.frames.len() > 1 { start } else { writer.start }..end.unwrap_or(limit);
            writer.over(index, Found::none(), raw).status = CallStatus::Malformed;
            out.trace.note(error..error, Noted::Kept(Reason::TooDeep, Piece::Made(String::new())));
        } else if let Some(end) = end {
            writer.pass(Piece::Span(start..end));
        }
        let Some(end) = end else {
            let done = Progress::Done { end: limit };
            return Flow::Stop(if begun.is_some() { done } else { self.unread(cx, writer, start, limit) });
        };
        self.frames.leave_call();
        self.go_behind(end)
    }

    /// The envelope at `start`, whose calls are over, cannot be read as a whole: it is nested too deep. What stands in it behind the
    /// members that were read is text.
    fn envelope_breaks_off(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        envelope: Envelope,
        (start, reached, limit): (usize, usize, usize),
    ) -> Flow {
        let end = lenient::too_deep_end(cx, start, limit).unwrap_or(limit).max(reached.min(limit));
        let Some(frame) = self.frames.pop() else { return self.closed(cx, writer, end) };
        whole_envelope(cx, out, writer, &frame, envelope);
        let members = frame.others.iter().map(|member| member.value.end);
        let read = members.chain(frame.content.map(|content| content.end)).chain([frame.inner_end]);
        let text = cx.slice(read.max().unwrap_or(start), end);
        let rest = text.trim_start_matches(|c: char| c == ',' || c.is_ascii_whitespace());
        writer.pass(Piece::Span(end - rest.len()..end));
        self.closed(cx, writer, end)
    }

    /// The object at `start`, no JSON at `error`, is read as what repair made of it.
    fn read_mended(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        (start, error): (usize, usize),
        mut mended: Repaired<'_>,
        mend: Mend,
    ) -> Flow {
        // The list of a call's object holds what cannot be read: that call itself is whole.
        if self.frames.outer_call().is_some_and(|outer| outer.envelope.is_some()) {
            self.outer_call_is_over(cx, out, writer);
        }
        let begun = self.frames.begun();
        let told = self.told(cx);
        self.frames.leave_call();
        let alone = self.frames.is_empty();
        if !alone {
            lenient::leave_list(&mut mended, cx.slice(start, mend.limit));
        }
        let end = start + mended.consumed;
        let goes_on = begun.is_none() && self.mended.is_some_and(|mended| mended.begun == writer.begun);
        // Of the text only what may be read: how much more there is depends on how it was fed.
        let memo = Memo::default();
        let readable = &cx.up_to_with(mend.limit, &memo);
        if goes_on && call_key_in(readable, start) == Look::No {
            // It is no call, and what stands right behind a mended one is perhaps a part of that.
            writer.tear();
        }
        // The call before it is over; its places are in this text, not in the repaired one.
        writer.flush(cx, out);
        let before = writer.begun;
        if let Some(call) = begun.and_then(|index| out.calls.get_mut(index)) {
            call.name = Piece::Made(call.name.get(cx.text).into_owned());
        }
        writer.continue_mended(begun);
        let mut inner = Self::new(0, self.max_depth);
        inner.among = !alone;
        inner.single_quoted = cx.slice(start + 1, mend.limit).trim_ascii_start().starts_with('\'');
        self.repairs.extend(mended.repairs);
        (inner.repairs, inner.guessed) = (std::mem::take(&mut self.repairs), mended.guessed);
        let (passed, answered) = (writer.passed(), writer.answered);
        inner.read_made(cx, out, writer, &mended.json);
        let answers = writer.answered && !answered;
        if answers {
            tell_left_out(out, (cx.slice(start, end), start), start, &mended.json);
        }
        if writer.begun == before {
            if begun.is_none() && before > 0 && message_at(readable, start) == Look::Is(()) {
                self.recorded(cx, out, writer);
            }
            // What stands in it is text as it was written, not as it was mended.
            writer.forget(passed);
        }
        if let Some(index) = writer.unmute() {
            writer.send_rest(cx, out, index, told);
        }
        let continued = writer.is_continued();
        match begun {
            // The repaired object is no call any more, but one has begun.
            Some(index) if !continued => {
                writer.over(index, Found::none(), writer.start..end).status = CallStatus::Malformed;
            }
            Some(_) => {}
            None if writer.begun != before => {}
            None if answers && !alone => {}
            None if !alone => self.pass(writer, Piece::Span(start..end)),
            None if !writer.vouched() && before == 0 => {
                return Flow::Stop(Progress::Fail { at: end.max(error).min(cx.text.len()) });
            }
            None => {
                if let Some((end, _)) = self.before.filter(|(_, begun)| *begun == writer.begun) {
                    return Flow::Stop(self.leave(cx, writer, end));
                }
            }
        }
        if let Some(pending) = &mut writer.pending {
            pending.raw = start..end;
            // An object that is not closed, behind which another stands, was to hold that.
            if pending.arguments.say_nothing() && object_follows(cx.slice(start, end), cx.slice(end, mend.limit)) {
                writer.tear();
            }
        }
        if begun.is_some() || writer.begun > before {
            self.mended = Some(Mend { begun: writer.begun, ..mend });
        }
        self.go_behind(end)
    }

    /// Reads `json`, which repair made of a part of the input.
    fn read_made(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, json: &str) {
        self.step(&cx.of_made(json, &Memo::default()), out, writer);
    }

    /// The object that breaks off as JSON at `error` is all there is in the answer or in a fence so far, and began as one:
    /// text of any length may stand in it before its calls.
    fn is_answer(&self, cx: &Reader<'_>, out: &Output, writer: &Writer, error: usize, broke: Broke) -> bool {
        let text =
            cx.bytes().get(self.scanner_start()..error).filter(|_| broke != Broke::Elsewhere).unwrap_or_default();
        let (markers, mut at) = (&cx.dialects.markers, 0);
        let mut marked = || loop {
            at = markers.next_stop(text, at);
            match markers.at(text, at) {
                _ if at >= text.len() => return false,
                MarkersAt::Some { .. } => return true,
                _ => at += 1,
            }
        };
        let alone = self.before.is_none() && (writer.fence.is_some() || out.says_nothing());
        alone && text.first() == Some(&b'"') && !marked()
    }

    /// The envelope, if what is read stands beside the calls in it.
    fn open_envelope(&self) -> Option<Envelope> {
        self.frames.last().filter(|_| self.frames.call().is_none())?.envelope
    }

    /// How far repair may read the object at `start`, that markers close.
    fn bound(&mut self, cx: &Reader<'_>, writer: &Writer, start: usize) -> Look<Bound> {
        let strings = match &mut self.strings {
            Some(strings) if strings.start == start => strings,
            strings => strings.insert(Box::new(Strings::new(start))),
        };
        strings.bound(cx, writer).or(|| Look::Is(Bound::sure(cx.text.len())))
    }

    /// Beside the arguments of an object that repair made stands what is a part of them: a string ended too early.
    pub(super) fn is_torn(&self, cx: &Reader<'_>) -> bool {
        let Some(frame) = self.frames.last().filter(|_| cx.made) else { return false };
        let tool = self.name(cx).and_then(|name| cx.tool(&name));
        let declared = |key: &str| tool.is_some_and(|tool| tool.declares(key));
        frame.others.iter().any(|member| {
            let key = member.key(cx);
            let word = key.bytes().all(|byte| char_class::MEMBER_KEY.has_ascii(byte));
            !word || declared(&key)
        })
    }

    /// The call that was open ends at `end`.
    fn go_behind(&mut self, end: usize) -> Flow {
        self.go(end, if self.frames.is_empty() { Expect::Between } else { Expect::Next })
    }

    /// The arguments of the call that is open, as far as they were read.
    fn arguments_of_call(&self) -> Option<Range<usize>> {
        let frame = self.frames.iter().rev().find(|f| f.index.is_some())?;
        Some(frame.arguments.clone().unwrap_or(self.scanner_start()..self.sent))
    }

    /// What has been sent of the arguments of the call that is open.
    pub(super) fn told<'t>(&self, cx: &Reader<'t>) -> &'t str {
        let Some(range) = self.arguments_of_call() else { return "" };
        let text = Some(cx.part(&range)).filter(|text| text.starts_with('{')).unwrap_or_default();
        // The brace of an empty object waits for what stands beside it.
        text.strip_suffix('}').filter(|_| is_empty_object(text)).unwrap_or(text)
    }

    /// The text ends inside the body.
    pub(super) fn cut_off(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Option<Progress> {
        let end = cx.text.len();
        if cx.made {
            return Some(Progress::Done { end });
        }
        if self.expect == Expect::Between {
            return Some(self.leave(cx, writer, self.run_end(writer)));
        }
        if let Expect::Words(words) = self.expect {
            return Some(self.words_are_over(cx, writer, words, end));
        }
        if let Expect::Broken { .. } | Expect::Lenient { .. } = self.expect {
            return Some(Progress::Fail { at: end });
        }
        // A closing marker stands at the very end, taken for the inside of a string or of an object left open.
        let start = self.frames.call().map(|frame| frame.start);
        if let Some(start) = start
            && let Look::Is(bound) = Strings::new(start).bound(cx, writer)
        {
            self.expect = Expect::Lenient { start, error: bound.at.min(self.at), searched: bound.at };
            return None;
        }
        if let Some(start) = self.frames.last().map(|frame| frame.start).filter(|_| self.open_envelope().is_some()) {
            return match self.lenient(cx, out, writer, start, self.at, self.at) {
                Flow::On => None,
                Flow::Stop(progress) => Some(progress),
            };
        }
        // Calls in it are whole, only the brackets round them are missing.
        let Some(frame) = self.frames.iter().rfind(|frame| frame.is_call()) else {
            if self.expect == Expect::Element {
                self.pass(writer, Piece::Span(self.scanner_start()..end));
            }
            writer.mend(RepairCode::Bracket, end, "the list is not closed");
            return Some(if writer.begun > 0 { Progress::Done { end } } else { Progress::Fail { at: end } });
        };
        if self.expect == Expect::Next
            && let Some((index, arguments)) = self.whole_arguments(frame)
        {
            if cx.called(out, index).is_some() {
                return Some(self.lacks_brace(cx, out, writer, (frame.start, end), (index, arguments)));
            }
            if !writer.is_unmarked() {
                return self.incomplete(cx, writer, arguments.start, arguments.end, Some(index));
            }
        }
        let index = self.frames.iter().rev().find_map(|f| f.index);
        let named = self.frames.iter().rev().find_map(|f| f.name.clone());
        let named = named.map(|name| decode(cx.part(&name)));
        // Where nothing says that a call is meant, those before it and its name do.
        let meant = |name: &str| !writer.is_unmarked() || writer.vouched() && cx.offered(name);
        if index.is_none()
            && let Some(name) = named.filter(|name| meant(name))
            && let Some(index) = writer.begin(cx, out, &name, None)
        {
            writer.cut_off(index, Found::none(), writer.start..end);
            return Some(Progress::Done { end });
        }
        if index.is_none()
            && !writer.is_unmarked()
            && let Some(progress) = self.incomplete_by_key(cx, out, writer)
        {
            return Some(progress);
        }
        let value = self.scanner_start();
        let incomplete = self.incomplete(cx, writer, value, end, index);
        Some(incomplete.unwrap_or_else(|| self.unread(cx, writer, start.unwrap_or(value), end)))
    }

    /// The call that the `frame` is, if it has begun and its arguments are whole.
    fn whole_arguments(&self, frame: &Frame) -> Option<(usize, Range<usize>)> {
        let nested = self.frames.iter().rev().take_while(|frame| !frame.is_call()).last();
        let arguments = nested.and_then(|f| f.arguments.clone()).or_else(|| frame.arguments.clone());
        nested.and_then(|f| f.index).or(frame.index).zip(arguments)
    }

    /// The call of an offered tool whose object begins at `start` has whole arguments, and nothing but that object's brace is missing at
    /// `end`.
    fn lacks_brace(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        (start, end): (usize, usize),
        (index, arguments): (usize, Range<usize>),
    ) -> Progress {
        self.repairs.push(Repair::at(RepairCode::Bracket, end, "a closing brace is missing"));
        self.over(cx, out, writer, index, arguments, start..end);
        Progress::Done { end }
    }

    /// What begins at `start` is no call, as far as it was read, which is `at`. Behind calls that are whole it is text.
    fn unread(&self, cx: &Reader<'_>, writer: &mut Writer, start: usize, at: usize) -> Progress {
        match self.before {
            Some((end, begun)) if begun == writer.begun => self.leave(cx, writer, end),
            _ if writer.vouched() => {
                let mut start = start;
                let last = writer.pending.as_ref().map(|pending| pending.raw.end);
                if let Some(end) = last.filter(|end| (start + 1..=at).contains(end)) {
                    // The object of the last call is not over.
                    writer.tear();
                    start = start.max(end);
                }
                writer.mend(RepairCode::Bracket, start, "the list is not closed");
                if start < at {
                    self.pass(writer, Piece::Span(start..at));
                }
                Progress::Done { end: at }
            }
            _ => Progress::Fail { at },
        }
    }

    /// A begun call is cut off; what is certain of its arguments stays.
    pub(super) fn incomplete(
        &mut self,
        cx: &Reader<'_>,
        writer: &mut Writer,
        start: usize,
        end: usize,
        index: Option<usize>,
    ) -> Option<Progress> {
        let index = index?;
        // Whole arguments, and another member that breaks off behind them.
        let whole = self.frames.iter().rev().find(|f| f.index == Some(index)).and_then(|f| f.arguments.clone());
        let here = whole.is_some() || matches!(self.expect, Expect::Member { what: Key::Arguments, .. });
        let in_arguments = here || cx.bytes().get(start) == Some(&b'{') && self.arguments_of_call().is_some();
        let arguments = whole.unwrap_or(start..end);
        let found = if in_arguments { lenient::certain(cx.part(&arguments)) } else { "{}".into() };
        writer.cut_off(index, Found::Json(Piece::Made(found)), writer.start..end);
        Some(Progress::Done { end })
    }

    /// The object at `start` is no strict JSON and cut off, and no call has begun: what is certain of it may be one.
    pub(super) fn incomplete_made(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        start: usize,
    ) -> Option<Progress> {
        let end = cx.text.len();
        let certain = literal::certain(cx.slice(start, end)).filter(|json| json.starts_with('{'))?;
        writer.flush(cx, out);
        let before = writer.begun;
        let mut inner = Self::new(0, self.max_depth);
        // Content alone, if that is what it holds, is not whole: then it stays text, as it was written.
        let (mark, answered) = (out.mark(), writer.answered);
        // What closes the last one was made: more may have followed.
        writer.mute_last(out.calls.len());
        let passed = writer.passed();
        inner.read_made(cx, out, writer, &certain);
        let last = writer.unmute();
        if writer.begun == before {
            out.go_back(mark, Reason::CutOff, start..end);
            writer.answered = answered;
            writer.forget(passed);
            return None;
        }
        if writer.pending.is_none() {
            // The policy takes no more calls: where the one that was cut off begins is not known in the text.
            self.pass(writer, Piece::Span(start..end));
            return Some(Progress::Done { end });
        }
        if let Some(pending) = writer.pending.as_ref().filter(|p| Some(p.index) == last && out.streaming()) {
            let whole = pending.arguments.clone().into_arguments(cx.text).to_json().into_owned();
            let open = whole.trim_end_matches(['}', ']']);
            if whole.starts_with('{') {
                writer.piece(out, pending.index, open.strip_suffix('"').unwrap_or(open));
            }
        }
        let pending = writer.pending.as_mut()?;
        pending.raw = start..end;
        pending.status = CallStatus::Incomplete;
        Some(Progress::Done { end })
    }

    /// `{"get_weather": {"city": "Par`: the key is the name, and the text ends in the arguments.
    pub(super) fn incomplete_by_key(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
    ) -> Option<Progress> {
        let named_by_key = writer.origin.row(cx).is_some_and(|r| r.dialect.name_as_key);
        let frame = self.frames.last().filter(|f| f.name.is_none() && f.arguments.is_none())?;
        let key = match &self.expect {
            Expect::Member { key, what: Key::Other } => key,
            // The arguments are whole, and what closes the object is missing.
            Expect::Next => &frame.others.last()?.key,
            _ => return None,
        };
        let name = unescaped(cx.part(key)).into_owned();
        let (start, value, end) = (frame.start, self.scanner_start(), cx.text.len());
        if cx.bytes().get(value) != Some(&b'{') || !(named_by_key || cx.offered(&name)) {
            return None;
        }
        let index = writer.begin(cx, out, &name, None)?;
        let found = lenient::certain(cx.slice(value, end));
        writer.cut_off(index, Found::Json(Piece::Made(found)), start..end);
        Some(Progress::Done { end })
    }
}

/// The `object` is not closed, and another stands `behind` it.
fn object_follows(object: &str, behind: &str) -> bool {
    let behind = behind.trim_ascii_start();
    let next = behind.strip_prefix(',').map_or(behind, str::trim_ascii_start);
    next.starts_with('{') && !object.ends_with('}')
}
