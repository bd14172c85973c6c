//! Fences: one holds calls if its whole body is calls, and else code.
use super::inline_code::Inline;
use crate::char_class::IDENTIFIER;
use crate::dialect::{Body, Marker, MarkersAt};
use crate::engine::body::BodyState;
use crate::engine::body::python::Python;
use crate::engine::call::MOST_READ_AGAIN;
use crate::engine::look::{seen, taken, told};
use crate::engine::output::Call;
use crate::engine::prose::channels::MessageKind;
use crate::engine::prose::tried::Standing;
use crate::engine::reader::floor;
use crate::engine::trace::{Markup, Noted, Reason};
use crate::engine::{Doubt, Engine, Fences, Look, Memo, Mode, Reader, State, Step, Taken};
use crate::schema::ToolSet;
use crate::turn::{CallStatus, Issue, IssueCode, RepairCode};
use std::ops::Range;

/// A fence whose body is being read as calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    ticks: usize,
    /// Of what it is made: backticks or tildes.
    tick: u8,
    /// How many calls there were before it.
    pub(in crate::engine) calls: usize,
    /// Its label is that of the dialect that was named: as good as a marker.
    labelled: bool,
    /// Its label says that calls in Python stand in it, and so may comments.
    commented: bool,
    /// A variable takes what the only call in it gives.
    pub(crate) keeps: bool,
    place: Place,
}

/// Where a fence stands, and so what it is if it holds something else than calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In lines of its own: it is code up to the one that closes it.
    Lines,
    /// In one line, up to this place.
    Line { until: usize },
    /// Behind a sentence in the line where it begins, at this place: it is inline code.
    Behind(usize),
}

impl Fence {
    /// Calls of Python's may stand in it without a marker.
    fn may_hold_python(&self, cx: &Reader<'_>) -> bool {
        cx.dialects.bare_python.is_some() && (cx.tools.is_some() || self.labelled)
    }

    /// What begins the line that closes it.
    pub(in crate::engine) fn closer(self) -> Option<&'static str> {
        (!matches!(self.place, Place::Line { .. })).then_some(if self.tick == b'~' { "~~~" } else { "```" })
    }
}

/// A run longer than any fence is not worth waiting for: what follows is another one.
const LONGEST_RUN: usize = 256;

/// The line that opens a fence is no longer.
const LONGEST_LINE: usize = 512;

/// The label of one that begins behind a sentence is no longer, with the white space behind it.
const LONGEST_LABEL: usize = 64;

/// How many of `byte` stand at `at`.
pub(in crate::engine) fn run(cx: &Reader<'_>, at: usize, byte: u8) -> Look<usize> {
    let near = cx.near(at, LONGEST_RUN);
    match near.iter().position(|b| *b != byte) {
        Some(length) => Look::Is(length),
        None if cx.may_go_on(near.len(), LONGEST_RUN) => Look::More,
        None => Look::Is(near.len()),
    }
}

/// The rest of a line that begins as a fence does is a sentence or markup, and no info string.
fn is_text(info: &str) -> bool {
    let info = info.trim();
    let words = info.split_ascii_whitespace().count();
    let attributes = info.contains(['=', '{']);
    !attributes && (words > 2 || info.contains('<') || words > 1 && info.ends_with(['.', '!', '?', ':']))
}

/// A sentence ends before `at`, in its line.
pub(in crate::engine) fn behind_sentence(cx: &Reader<'_>, at: usize) -> bool {
    let near = cx.before(at, LONGEST_RUN);
    near.trim_end_matches([' ', '\t', '*', '_']).ends_with(['.', '!', '?', ':', '…', '。', '！', '？', '：'])
}

/// Where the body of a fence begins whose run of backticks ends at `at`: behind a line with nothing but a label.
fn behind_label(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let near = cx.near(at, LONGEST_LABEL);
    let label =
        near.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+')).count();
    let blank = near.iter().skip(label).take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    match near.get(label + blank) {
        Some(b'\n') => Look::Is(at + label + blank + 1),
        None if cx.may_go_on(near.len(), LONGEST_LABEL) => Look::More,
        _ => Look::No,
    }
}

/// In code, what ends at `at` and might close it has a label behind it, so that it opens a fence that the code shows. A word
/// that begins a sentence is none.
fn opens_inner(cx: &Reader<'_>, at: usize) -> Look<()> {
    match cx.bytes().get(at) {
        Some(first) if first.is_ascii_lowercase() => behind_label(cx, at).unit(),
        Some(first) if first.is_ascii_uppercase() => behind_label(cx, at).then(|end| {
            let lower = cx.bytes().get(at..end).is_some_and(|label| label.iter().any(u8::is_ascii_lowercase));
            if lower { Look::No } else { Look::Is(()) }
        }),
        _ => Look::No,
    }
}

/// Where the body begins and where the fence ends, if the line from `at` to `end` is a fence round calls, its label included.
#[cold]
fn one_line(cx: &Reader<'_>, at: usize, ticks: usize, end: usize) -> Option<(usize, usize)> {
    let line = cx.part(&cx.without_tokens(at + ticks..end)).trim_ascii_end();
    let marks = cx.slice(at, at + ticks);
    let inside = line.strip_suffix(marks).filter(|inside| !inside.contains('`'))?;
    let label = inside.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let label = if matches!(inside.as_bytes().get(label), Some(b' ' | b'{' | b'[')) { label } else { 0 };
    let body = cx.skip_space(at + ticks + label);
    let whole = cx.whole();
    let begins = BodyState::bare(&whole, body) != Look::No || Python::plausible(&whole, body) == Look::Is(());
    begins.then_some((body, at + ticks + line.len()))
}

/// Nothing but its escapes is in doubt in the `call`, which must not run for that: no program, so those beside it are calls.
fn is_doubtful_escape(call: &Call) -> bool {
    let escapes = || call.repairs.iter().all(|repair| repair.code == RepairCode::Escape);
    call.status == CallStatus::Malformed && !call.repairs.is_empty() && escapes()
}

/// Where calls begin in the line from `at` to `end` that opens a fence, right behind its label.
fn calls_behind_label(cx: &Reader<'_>, at: usize, end: usize) -> Option<usize> {
    // Of the line only, however much of the text there is.
    let memo = Memo::default();
    let line = &cx.up_to_with(end, &memo);
    let label = cx.slice(at, end).bytes().take_while(|byte| IDENTIFIER.has_ascii(*byte)).count();
    let part = if cx.slice(at + label, end).starts_with([' ', '{', '[']) { label } else { 0 };
    let body = line.skip_space(at + part);
    let (rest, inside) = (line.rest(body), line.rest(line.skip_space(body + 1)));
    let begins = match rest.as_bytes().first()? {
        b'{' => inside.is_empty() || inside.starts_with(['"', '\'']),
        b'[' => inside.is_empty() || BodyState::bare(line, body) != Look::No,
        _ => {
            let named = |tools: &ToolSet| {
                rest.split_once('(').is_some_and(|(name, _)| tools.find(name, cx.policy.names).is_some())
            };
            cx.dialects.bare_python.is_some() && cx.tools.is_some_and(named)
        }
    };
    begins.then_some(body)
}

impl Engine {
    /// Tildes in prose: three or more at the start of a line open a fence.
    pub(in crate::engine) fn tildes(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if !self.begins_line(cx, at) {
            return Taken::No;
        }
        match run(cx, at, b'~') {
            Look::Is(length) if length >= 3 => self.fence_opens(cx, at, length, b'~'),
            Look::More => Taken::More,
            _ => Taken::No,
        }
    }

    /// A fence of so many `ticks` opens at `at`, unless it is inline code.
    pub(in crate::engine) fn fence_opens(&mut self, cx: &Reader<'_>, at: usize, ticks: usize, tick: u8) -> Taken {
        taken!(self.leftover_fence(cx, at, at + ticks));
        let near = cx.near(at, LONGEST_LINE);
        let line = memchr::memchr(b'\n', near);
        if line.is_none() && cx.may_go_on(near.len(), LONGEST_LINE) {
            return Taken::More;
        }
        let end = floor(cx.text, at + line.unwrap_or(near.len()));
        let ticked = tick == b'`' && cx.slice(at + ticks, end).contains('`');
        let whole = line.is_some() || near.len() < LONGEST_LINE;
        if let Some((body, until)) = (ticked && whole).then(|| one_line(cx, at, ticks, end)).flatten() {
            return self.line_opens(cx, at, ticks, body, until);
        }
        if ticked && line.is_some() {
            // An info string holds no backtick: this is inline code.
            self.inline = Some(Inline::new(ticks, at));
            self.at = at + ticks;
            return Taken::Done;
        }
        let Some(line) = line else {
            self.at = at + ticks;
            return Taken::Done;
        };
        let below = at + line + 1;
        self.leave_inline(at);
        let opener = cx.slice(at, at + line).trim_ascii_end();
        if let Some(result) = cx.dialects.results.iter().position(|(open, _)| open == opener)
            && let Some(result) = u16::try_from(result).ok().filter(|_| !self.out.calls.is_empty())
        {
            self.remove(cx, at, below);
            self.state = State::Invented { result: Some(result), at, searched: at + opener.len() };
            return Taken::Done;
        }
        if let Some(reason) = told!(self.holds_no_calls(cx, at)) {
            return self.code_begins(below, ticks, tick, reason);
        }
        let behind = calls_behind_label(cx, at + ticks, end);
        let body = behind.unwrap_or(below);
        // A sentence in the place of the label is no markup: it is content, should the fence be calls.
        let text = behind.is_none() && is_text(cx.slice(at + ticks, end));
        let markup = if text { at + ticks } else { body };
        let label = cx.slice(at + ticks, body.min(at + line)).trim();
        let (labelled, commented) = (cx.dialects.labels_fence(label), cx.dialects.calls_in_fence(label));
        let fence = Fence { ticks, tick, calls: 0, labelled, commented, keeps: false, place: Place::Lines };
        self.fence_begins(cx, at..markup, body, fence)
    }

    /// Why the fence at `at` holds no calls, whatever stands in it.
    fn holds_no_calls(&mut self, cx: &Reader<'_>, at: usize) -> Look<Reason> {
        match () {
            () if cx.policy.fences == Fences::Ignore => Look::Is(Reason::FencePolicy),
            () if self.runs_away(cx, at) => Look::Is(Reason::Runaway),
            () if self.hold.is_some() || self.given.mode == Mode::Reasoning => Look::Is(Reason::FenceOfCode),
            () => self.around.show_fence(cx, self.since(), at).map(|()| Reason::Quoted),
        }
    }

    /// What stands in the fence from `body` on is code, for this `reason`.
    fn code_begins(&mut self, body: usize, ticks: usize, tick: u8, reason: Reason) -> Taken {
        self.out.trace.note(body..body, Noted::Passed(reason));
        self.at = body;
        self.state = State::Code { ticks, tick, inner: 0 };
        Taken::Done
    }

    /// What stands in the `fence` from `body` on may be calls: its `markup` is no content then.
    fn fence_begins(&mut self, cx: &Reader<'_>, markup: Range<usize>, body: usize, fence: Fence) -> Taken {
        self.out.trace.note(markup.start..body, Noted::Marker(Markup::Fence));
        let before = self.remove(cx, markup.start, markup.end);
        self.at = body;
        // Only an envelope inside this fence speaks for it.
        self.out.enveloped = false;
        self.hold(Doubt::Fence, markup.start, before);
        self.fence = Some(Fence { calls: self.out.calls.len(), ..fence });
        Taken::Done
    }

    /// A fence at `at`, with so many `ticks`, behind a sentence: all of it may be calls as well.
    #[cold]
    pub(in crate::engine) fn opens_behind(&mut self, cx: &Reader<'_>, at: usize, ticks: usize) -> Taken {
        let body = seen!(behind_label(cx, at + ticks));
        if self.runs_away(cx, at)
            || self.hold.is_some()
            || self.given.mode == Mode::Reasoning
            || self.reread > MOST_READ_AGAIN * at
        {
            return Taken::No;
        }
        if let Some(reason) = told!(self.holds_no_calls(cx, at)) {
            return self.code_begins(body, ticks, b'`', reason);
        }
        let label = cx.slice(at + ticks, body).trim();
        let (labelled, commented) = (cx.dialects.labels_fence(label), cx.dialects.calls_in_fence(label));
        let fence = Fence { ticks, tick: b'`', calls: 0, labelled, commented, keeps: false, place: Place::Behind(at) };
        self.fence_begins(cx, at..body, body, fence)
    }

    /// A fence at `at` that is all of its line: its `body` looks like calls, and it ends at `until`.
    #[cold]
    fn line_opens(&mut self, cx: &Reader<'_>, at: usize, ticks: usize, body: usize, until: usize) -> Taken {
        self.leave_inline(at);
        let never = cx.policy.fences == Fences::Ignore
            || self.runs_away(cx, at)
            || self.hold.is_some()
            || self.given.mode == Mode::Reasoning
            || self.around.show_fence(cx, self.since(), at) == Look::Is(());
        if never {
            self.out.trace.note(at + ticks..until - ticks, Noted::Passed(Reason::InlineCode));
            self.at = until;
            return Taken::Done;
        }
        let place = Place::Line { until };
        let fence = Fence { ticks, tick: b'`', calls: 0, labelled: false, commented: false, keeps: false, place };
        self.fence_begins(cx, at..body, body, fence)
    }

    /// A fence's body, as long as it is calls.
    pub(in crate::engine) fn fence_prose(&mut self, cx: &Reader<'_>) -> Step {
        let Some(fence) = self.fence else { return Step::Go };
        let at = cx.skip_space(self.at);
        let after_comma = |at: usize| match cx.bytes().get(at) {
            Some(b',' | b';') => cx.skip_space(at + 1),
            _ => at,
        };
        let at = if self.out.calls.len() > fence.calls { after_comma(at) } else { at };
        let at = match if fence.commented { Python::behind_comments(cx, at) } else { Look::Is(at) } {
            Look::Is(next) => {
                if next > at {
                    self.give(cx, next, false);
                }
                next
            }
            _ => return Step::More,
        };
        if at >= cx.text.len() {
            if !cx.eof {
                return Step::More;
            }
            // A fence that nothing closes: what it held was all of it.
            self.at = at;
            return self.fence_closes(cx, fence, at);
        }
        if cx.bytes().get(at) == Some(&fence.tick) {
            match run(cx, at, fence.tick) {
                Look::Is(length) if length >= fence.ticks => {
                    // Before any call, one with a label closes nothing: it opens another fence.
                    let first = self.out.calls.len() == fence.calls && !matches!(fence.place, Place::Line { .. });
                    return match if first { opens_inner(cx, at + length) } else { Look::No } {
                        Look::No => self.fence_closes(cx, fence, at + length),
                        Look::Is(()) => self.fence_is_code(cx, fence, at),
                        Look::More => Step::More,
                    };
                }
                Look::More => return Step::More,
                _ => return self.fence_is_code(cx, fence, at),
            }
        }
        // Another fence inside this one is shown, not meant.
        if matches!(cx.bytes().get(at), Some(b'`' | b'~')) {
            return self.fence_is_code(cx, fence, at);
        }
        self.at = at;
        let called = self.out.calls.len() > fence.calls;
        let printing = if called && fence.commented { self.printing_line(cx, at) } else { Taken::No };
        if printing == Taken::No && fence.keeps {
            // What goes on may use it: that is a program.
            return self.fence_is_code(cx, fence, at);
        }
        let taken = printing.or(|| self.marker(cx, at)).or(|| self.late_marker_from(cx, at));
        match taken.or(|| self.bare_in_fence(cx, at, fence)) {
            Taken::Done => Step::Go,
            Taken::More => Step::More,
            Taken::No => self.fence_ends_in(cx, fence, at, at),
        }
    }

    /// What stands at `start` in the fence, up to `at`, is no call: the fence is code, unless the text ends in half a name there.
    pub(crate) fn fence_ends_in(&mut self, cx: &Reader<'_>, fence: Fence, start: usize, at: usize) -> Step {
        // Where no call of Python's may stand, a stream waits for none.
        if self.out.calls.len() == fence.calls || !fence.may_hold_python(cx) || !Python::cut_name(cx, start) {
            return self.fence_is_code(cx, fence, at);
        }
        let what = "a call is cut off in its name, which stays text";
        self.out.issue(Issue::at(IssueCode::IncompleteCall, start, what));
        self.fence_closes(cx, fence, start)
    }

    /// Behind calls, a line at `at` that only prints what one of them gave says nothing.
    fn printing_line(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        Python::prints_variable(cx, at).take(|end| {
            let what = format!("a line that only prints what a call gave was left out: {:?}", cx.slice(at, end));
            self.out.issue(Issue::at(IssueCode::EnvelopeMember, at, what));
            self.remove(cx, at, end);
            Taken::Done
        })
    }

    fn bare_in_fence(&mut self, cx: &Reader<'_>, at: usize, fence: Fence) -> Taken {
        if cx.bytes().get(at) == Some(&b'<') {
            return self.bare_element(cx, at);
        }
        if let Some(body) = told!(BodyState::bare(cx, at)) {
            return self.begin_bare(cx, at, body);
        }
        let may_call = fence.may_hold_python(cx);
        let first = fence.commented && self.out.calls.len() == fence.calls;
        let assigned = || if first { Python::assigned(cx, at).unit() } else { Look::No };
        match Python::plausible(cx, at).or(assigned) {
            Look::Is(()) if may_call => self.begin_bare(cx, at, Body::Python),
            Look::More if may_call => Taken::More,
            _ => Taken::No,
        }
    }

    /// The fence holds something else than calls: it is code to its end.
    pub(crate) fn fence_is_code(&mut self, cx: &Reader<'_>, fence: Fence, at: usize) -> Step {
        self.fence = None;
        self.out.trace.note(at..at, Noted::Passed(Reason::FenceOfCode));
        let full = self.out.is_full(cx);
        let unread = fence.commented && self.out.calls.len() == fence.calls;
        self.go_back(match fence.place {
            Place::Lines => at,
            Place::Line { until } => until,
            Place::Behind(start) => start + fence.ticks,
        });
        if full {
            self.out.full(at);
        } else if unread {
            self.out.issue(Issue::at(
                IssueCode::StrayMarker,
                at,
                "what this fence for calls holds is no readable call",
            ));
        }
        match fence.place {
            Place::Lines => self.state = State::Code { ticks: fence.ticks, tick: fence.tick, inner: 0 },
            Place::Line { .. } => {}
            Place::Behind(start) => {
                self.reread += at.saturating_sub(start);
                self.inline = Some(Inline::new(fence.ticks, start));
            }
        }
        Step::Go
    }

    pub(in crate::engine) fn fence_closes(&mut self, cx: &Reader<'_>, fence: Fence, end: usize) -> Step {
        let calls = self.out.calls.get(fence.calls..).unwrap_or_default();
        // A dialect whose own form is a fence vouches for it as a marker would.
        let own = cx.dialects.fenced && cx.tools.is_none();
        let vouched = own || self.out.enveloped;
        // Cut off in a call, the fence was calls as far as it goes.
        let cut = end == cx.text.len() && cx.eof && calls.last().is_some_and(|c| c.status == CallStatus::Incomplete);
        let whole = calls.get(..calls.len() - usize::from(cut)).unwrap_or_default();
        // An envelope without calls may be all of an answer.
        let good = (!calls.is_empty() || self.out.enveloped)
            && whole.iter().all(|c| c.status.readable() || is_doubtful_escape(c))
            && (whole.is_empty() || whole.iter().any(|c| c.status.readable()))
            && calls.iter().all(|c| vouched || c.tool.is_some());
        if good && cx.policy.fences == Fences::Last {
            let rest = match cx.skip_tokens(end) {
                Look::Is(rest) => rest,
                Look::More | Look::No => return Step::More,
            };
            if rest < cx.text.len() {
                self.why_code(fence, Reason::FencePolicy);
                self.fence = None;
                self.go_back(end);
                return Step::Go;
            }
            if !cx.eof {
                return Step::More;
            }
        }
        self.fence = None;
        if good {
            self.around.elements.skip(end);
            self.keep(Doubt::Fence);
            self.out.trace.note(cx.skip_space(self.at)..end, Noted::Marker(Markup::Fence));
            self.goes_on_behind(end);
        } else {
            self.why_code(fence, Reason::NameNotOffered);
            self.go_back(end);
        }
        Step::Go
    }

    /// Notes why the calls in a fence that is closed now are none.
    fn why_code(&mut self, fence: Fence, reason: Reason) {
        if !self.out.trace.is_on() {
            return;
        }
        for call in self.out.calls.get(fence.calls..).unwrap_or_default() {
            let reason = match reason {
                Reason::NameNotOffered if !call.status.readable() => Reason::NotReadable,
                Reason::NameNotOffered if call.tool.is_some() => continue,
                reason => reason,
            };
            self.out.trace.note(call.raw.clone(), Noted::Kept(reason, call.name.clone()));
        }
    }

    /// Code in a fence: text up to the line that closes it. Reasoning that closes inside an open fence is closed all the same,
    /// and so is a message, but for the answer.
    ///
    /// A line with a label opens a fence in it, which is closed before it is, so many of them as are open `inner` ones.
    pub(crate) fn code(&mut self, cx: &Reader<'_>, ticks: usize, tick: u8, mut inner: u32) -> Step {
        let bytes = cx.bytes();
        loop {
            let hit = if self.given.mode == Mode::Reasoning || self.channel.is_some_and(|c| !c.is(MessageKind::Answer))
            {
                cx.dialects.markers.next_stop(bytes, self.at)
            } else {
                let rest = bytes.get(self.at..).unwrap_or_default();
                memchr::memchr(tick, rest).map_or(bytes.len(), |i| self.at + i)
            };
            self.at = hit;
            let Some(byte) = bytes.get(hit).copied() else { break };
            if byte != tick {
                match self.closer_in_code(cx, hit) {
                    Taken::Done => return Step::Go,
                    Taken::More => break,
                    Taken::No => self.at = cx.next_char(hit),
                }
                continue;
            }
            match run(cx, hit, tick) {
                Look::More => break,
                Look::Is(length) => {
                    let marks = length >= ticks && cx.at_line_start(hit);
                    match if marks { opens_inner(cx, hit + length) } else { Look::No } {
                        Look::More => break,
                        Look::Is(()) => {
                            inner = inner.saturating_add(1);
                            self.at = hit + length;
                            continue;
                        }
                        Look::No => self.at = hit + length,
                    }
                    if marks && inner > 0 {
                        inner -= 1;
                    } else if marks {
                        self.around.elements.skip(self.at);
                        self.out.trace.note(hit..self.at, Noted::CodeEnds);
                        return Step::Go;
                    }
                }
                Look::No => self.at = hit + 1,
            }
        }
        self.give_text(cx, self.at, cx.eof);
        if cx.eof {
            self.at = bytes.len();
            self.end(cx);
        }
        self.state = State::Code { ticks, tick, inner };
        Step::More
    }

    /// What closes the reasoning or the message stands at `at`, in code: it was no code, or nobody closed it.
    fn closer_in_code(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let is_closer = |marker: &Marker| match marker {
            Marker::ReasoningClose(_) => self.given.mode == Mode::Reasoning,
            Marker::MessageEnd(row) => self.channel.is_some_and(|c| c.row == *row && !c.is(MessageKind::Answer)),
            _ => false,
        };
        let closes = |list: u32| cx.dialects.markers.list(list).iter().copied().find(is_closer);
        match cx.dialects.markers.at(cx.bytes(), at) {
            MarkersAt::Partial(_) | MarkersAt::Some { more: true, .. } if !cx.eof => Taken::More,
            MarkersAt::Some { ends, count, .. } => {
                let found = ends.get(..count).unwrap_or_default().iter().rev();
                let Some((length, marker)) = found.copied().find_map(|(length, list)| Some((length, closes(list)?)))
                else {
                    return Taken::No;
                };
                let taken = self.take(cx, at, length, marker, Standing::Once);
                if taken == Taken::Done {
                    self.note_markup(at, at + length, marker);
                }
                taken
            }
            MarkersAt::Nothing | MarkersAt::Partial(_) => Taken::No,
        }
    }
}
