//! A call that is being read: its body, what closes it, and what it is worth in the end.
use super::arguments::{Arguments, ends_line, nothing};
use super::elements::Elements;
use super::gemma::Gemma;
use super::head::Head;
use super::json_calls::JsonCalls;
use super::line::Line;
use super::output::{Found, Output};
use super::parameters::Parameters;
use super::python::Python;
use super::sentence;
use super::tail::{Tail, closes, cut_off};
use super::trace::Reason;
use super::writer::{Company, Origin, Writer};
use super::{Before, Doubt, Engine, Look, Reader, State, Step, UnknownTools};
use crate::dialect::{Body, Call as Template, Element, Row};
use crate::turn::{CallStatus, Issue, IssueCode, Repair, RepairCode};

/// What a body says after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    /// As `More`: what stands at `since` is not clear yet.
    Unclear {
        since: usize,
    },
    /// The body is over.
    Done {
        end: usize,
    },
    /// This is no body; `at` is as far as it was read.
    Fail {
        at: usize,
    },
}

#[derive(Debug)]
enum BodyState {
    Json(JsonCalls),
    Arguments(Arguments),
    Parameters(Box<Parameters>),
    Python(Python),
    Gemma(Gemma),
    Elements(Elements),
    Line(Line),
    /// There is none: the head closed itself.
    None(Head),
    /// The body is over: what closes the call is being read.
    Tail(Tail),
}

#[derive(Debug)]
pub(super) struct CallState {
    origin: Origin,
    start: usize,
    /// Where its body begins.
    inside: usize,
    body: BodyState,
    writer: Writer,
    /// What to restore if it is no call.
    before: Before,
    /// What is wrong with its head.
    slips: Vec<Repair>,
}

impl CallState {
    /// What follows the head can be the template's body.
    pub(super) fn plausible(
        cx: &Reader<'_>,
        row: &Row,
        template: &Template,
        head: &Head,
        in_section: bool,
    ) -> Look<()> {
        if head.closed {
            return Look::Is(());
        }
        if let Some(name) = &head.name {
            let name = &cx.text[name.clone()];
            if cx.policy.unknown_tools == UnknownTools::Text && cx.tools.is_some() && !cx.offered(name) {
                return Look::No;
            }
        }
        let at = cx.skip_markup_space(head.end);
        if at - head.end > cx.policy.max_markup_bytes {
            return Look::No;
        }
        let Some(byte) = cx.bytes().get(at).copied() else {
            if cx.eof && head.name.as_ref().is_some_and(|name| cx.offered(&cx.text[name.clone()])) {
                // Cut off behind the name of an offered tool.
                return Look::Is(());
            }
            return if cx.eof { Look::No } else { Look::More };
        };
        if byte == b'\\' && at + 1 == cx.text.len() && !cx.eof {
            // Of a line break, as some models write it.
            return Look::More;
        }
        let parameters = if template.body == Body::Parameters { &*row.parameters } else { &[] };
        if cx.eof
            && cut_off(cx.rest(at), &template.tail, parameters)
            && head.name.as_ref().is_some_and(|name| cx.offered(&cx.text[name.clone()]))
        {
            return Look::Is(());
        }
        let is = |yes: bool| if yes { Look::Is(()) } else { Look::No };
        match template.body {
            Body::Json => match byte {
                // Another marker is no key.
                b'{' => match after(cx, at) {
                    Look::More => Look::More,
                    next => is(next != Look::Is(b'<')),
                },
                b'[' => match after(cx, at) {
                    Look::Is(next) => is(matches!(next, b'{' | b'[' | b']' | b'"')),
                    Look::No => Look::No,
                    Look::More => Look::More,
                },
                _ => Look::No,
            },
            Body::Arguments => match byte {
                b'{' => is(true),
                // Arguments in a string; any other quote is the text's.
                b'"' => match after(cx, at) {
                    Look::Is(next) => is(matches!(next, b'{' | b'"' | b'\\')),
                    other => other.map(|_| ()),
                },
                // A name that nothing delimits needs more than its looks.
                _ if !template.delimits_name() && !head.name.as_ref().is_some_and(|n| cx.vouches(n.clone())) => {
                    Look::No
                }
                b'n' | b'N' if template.tail.iter().any(|e| matches!(e, Element::Literal(_))) => {
                    nothing(cx, at).then(|end| closes(cx, &template.tail, cx.skip_space(end)))
                }
                // Where nothing closes the call, only an offered name tells the word from text.
                b'n' | b'N' if head.name.as_ref().is_some_and(|name| cx.offered(&cx.text[name.clone()])) => {
                    nothing(cx, at).then(|end| ends_line(cx, end))
                }
                b'`' => match labelled_fence(cx, at) {
                    Look::No => closes(cx, &template.tail, at),
                    Look::Is(()) => Look::No,
                    Look::More => Look::More,
                },
                _ => closes(cx, &template.tail, at),
            },
            Body::Parameters if !template.inside.may_be(cx.bytes().get(at..).unwrap_or_default()) => Look::No,
            Body::Parameters => Parameters::plausible(cx, row, template, head, at, in_section),
            Body::Python => Python::plausible(cx, at),
            Body::Gemma => is(matches!(byte, b'{' | b'(')),
            Body::Elements => Elements::plausible(cx, row, head, at),
            Body::Text => is(Line::plausible(cx, head, at)),
        }
    }

    /// Which body without markers can begin at `at`.
    pub(super) fn bare_body(cx: &Reader<'_>, at: usize) -> Look<Body> {
        match cx.bytes().get(at) {
            Some(b'{') => match after(cx, at) {
                Look::Is(b'"' | b'\'') => Look::Is(Body::Json),
                Look::Is(next) if next.is_ascii_alphabetic() => {
                    bare_key(cx, cx.skip_space(at + 1)).map(|()| Body::Json)
                }
                Look::Is(_) => Look::No,
                other => other.map(|_| Body::Json),
            },
            Some(b'[') => match after(cx, at) {
                Look::Is(b'{') => Look::Is(Body::Json),
                Look::Is(next)
                    if cx.dialects.bare_python
                        && (matches!(next, b'_' | b'"' | b'\'')
                            // No name begins with what has no width: so tools' results are told from calls.
                            || cx.rest(cx.skip_space(at + 1)).starts_with(char::is_alphabetic)) =>
                {
                    Python::plausible(cx, at).map(|()| Body::Python)
                }
                Look::Is(_) => Look::No,
                other => other.map(|_| Body::Json),
            },
            _ => Look::No,
        }
    }

    /// `doubtful`: nothing but an offered name vouches for it.
    pub(super) fn new(
        cx: &Reader<'_>,
        origin: Origin,
        body: Body,
        start: usize,
        head: Head,
        doubtful: bool,
        before: Before,
    ) -> Self {
        let at = cx.skip_markup_space(head.end);
        let slips = slips(&head, start);
        let mut writer = Writer::new(origin, start, doubtful);
        if origin == Origin::BARE && body == Body::Python && cx.bytes().get(at) == Some(&b'[') {
            writer.company = Company::List;
        }
        let body = match body {
            _ if head.closed => BodyState::None(head),
            Body::Json => BodyState::Json(JsonCalls::new(at, cx.policy.max_depth)),
            Body::Arguments => BodyState::Arguments(Arguments::new(at, head, cx.policy.max_depth)),
            Body::Parameters => BodyState::Parameters(Box::new(Parameters::new(at, head))),
            Body::Python => BodyState::Python(Python::new(at)),
            Body::Gemma => BodyState::Gemma(Gemma::new(at, head)),
            Body::Elements => BodyState::Elements(Elements::new(at, head)),
            Body::Text => BodyState::Line(Line::new(at, head)),
        };
        Self { origin, start, inside: at, body, writer, before, slips }
    }

    /// The call stands in this section of its row.
    pub(super) fn in_section(&mut self, section: Option<u16>) {
        self.writer.section = section;
    }

    /// The call stands in a fence that `fence` closes.
    pub(super) fn in_fence(&mut self, fence: Option<&'static str>) {
        self.writer.fence = fence;
    }
}

impl<T> Look<T> {
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> Look<U> {
        match self {
            Self::Is(value) => Look::Is(f(value)),
            Self::No => Look::No,
            Self::More => Look::More,
        }
    }

    pub(super) fn then<U>(self, f: impl FnOnce(T) -> Look<U>) -> Look<U> {
        match self {
            Self::Is(value) => f(value),
            Self::No => Look::No,
            Self::More => Look::More,
        }
    }

    /// What two looks for one of two things say together.
    pub(super) fn any(self, other: Self) -> Self {
        match (self, other) {
            (Self::Is(value), _) | (_, Self::Is(value)) => Self::Is(value),
            (Self::More, _) | (_, Self::More) => Self::More,
            _ => Self::No,
        }
    }

    /// This, or where it is `No` what `other` says.
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if matches!(self, Self::No) { other() } else { self }
    }
}

/// What was wrong with the head of the call that begins at `start`.
fn slips(head: &Head, start: usize) -> Vec<Repair> {
    let slip = |is: bool, code, what| is.then(|| Repair::at(code, start, what));
    let twice = slip(head.twice, RepairCode::Marker, "an opening marker stood twice");
    let unopened = slip(head.unopened, RepairCode::Marker, "the opening marker is missing");
    let quoted = slip(head.quoted, RepairCode::Quotes, "quotes round the name were left out");
    [twice, unopened, quoted].into_iter().flatten().collect()
}

/// The call of a head that closed itself: it has no arguments.
fn no_body(cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, head: &Head) -> Progress {
    let name = head.name(cx).unwrap_or_default();
    let Some(index) = writer.begin(cx, out, &name, head.id(cx)) else { return Progress::Fail { at: head.end } };
    writer.piece(out, index, "{}");
    writer.over(index, Found::none(), writer.start..head.end);
    Progress::Done { end: head.end }
}

/// The first byte after `at` that is no white space.
fn after(cx: &Reader<'_>, at: usize) -> Look<u8> {
    let next = cx.skip_space(at + 1);
    match cx.bytes().get(next) {
        Some(byte) if next - at <= cx.policy.max_markup_bytes => Look::Is(*byte),
        None if !cx.eof => Look::More,
        _ => Look::No,
    }
}

/// A fence with a label stands at `at`: it opens one, and closes none.
fn labelled_fence(cx: &Reader<'_>, at: usize) -> Look<()> {
    let ticks = cx.rest(at).bytes().take_while(|byte| *byte == b'`').count();
    match cx.bytes().get(at + ticks) {
        Some(byte) if byte.is_ascii_alphanumeric() => Look::Is(()),
        None if !cx.eof => Look::More,
        _ => Look::No,
    }
}

/// A key without quotes stands at `at`, and a colon or an equals sign behind it.
fn bare_key(cx: &Reader<'_>, at: usize) -> Look<()> {
    let key = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'\\' | b'"' | b'\'');
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let length = rest.iter().take(128).take_while(|b| key(b)).count();
    match cx.behind_space(at, at + length) {
        Look::Is(colon) if matches!(cx.bytes().get(colon), Some(b':' | b'=')) => Look::Is(()),
        Look::More => Look::More,
        _ => Look::No,
    }
}

impl Engine {
    pub(super) fn call(&mut self, cx: &Reader<'_>, mut call: Box<CallState>) -> Step {
        let CallState { body, writer, inside, start, .. } = &mut *call;
        let out = &mut self.out;
        let progress = match body {
            BodyState::Json(json) => json.step(cx, out, writer),
            BodyState::Arguments(arguments) => arguments.step(cx, out, writer),
            BodyState::Parameters(parameters) => parameters.step(cx, out, writer),
            BodyState::Python(python) => python.step(cx, out, writer),
            BodyState::Gemma(gemma) => gemma.step(cx, out, writer),
            BodyState::Elements(elements) => elements.step(cx, out, writer),
            BodyState::Line(line) => line.step(cx, out, writer),
            BodyState::None(head) => no_body(cx, out, writer, head),
            BodyState::Tail(_) => return self.tail(cx, call),
        };
        let waits = matches!(progress, Progress::More | Progress::Unclear { .. });
        // Two calls are no part of a sentence.
        if writer.vouched() && (writer.begun > 1 || waits && sentence::is_too_long(cx, *start)) {
            self.keep(Doubt::Bare);
        }
        match progress {
            Progress::More | Progress::Unclear { .. } if cx.eof => {
                // A body that asks for more at the end would never be over: it is cut off as it stands.
                self.abandon(cx, call, cx.text.len())
            }
            Progress::More => {
                self.state = State::Call(call);
                Step::More
            }
            Progress::Unclear { since } => {
                self.wait(cx, since);
                self.state = State::Call(call);
                Step::More
            }
            Progress::Done { end } => {
                if !writer.vouched() {
                    return self.abandon(cx, call, end);
                }
                self.at = end;
                if writer.origin != Origin::BARE {
                    self.body = *inside..end;
                }
                let closed = matches!(body, BodyState::None(_));
                *body = BodyState::Tail(if closed { Tail::over(end) } else { Tail::new(end) });
                self.state = State::Call(call);
                Step::Go
            }
            Progress::Fail { at } => self.abandon(cx, call, at),
        }
    }

    /// It was no call: its text is text again, as far as it was read.
    fn abandon(&mut self, cx: &Reader<'_>, mut call: Box<CallState>, at: usize) -> Step {
        let at = at.max(call.start).min(cx.text.len());
        if call.writer.begun == 0 {
            let cut = cx.eof && at == cx.text.len();
            let row = Some(call.origin.row).filter(|_| call.origin != Origin::BARE);
            self.out.trace.kept(call.start..at, row, if cut { Reason::CutOff } else { Reason::NotReadable });
        }
        if call.writer.vouched() {
            // Something of it has left already: what was begun stays, as what it is.
            call.writer.break_off(at);
            call.writer.flush(cx, &mut self.out);
            call.writer.give_passed(cx, &mut self.out);
            self.keep(Doubt::Sentence);
            self.keep(Doubt::Bare);
            self.from = at;
            self.at = at;
            return Step::Go;
        }
        if let Some(fence) = self.fence.filter(|_| self.holds(Doubt::Fence)) {
            return self.fence_is_code(cx, fence, at);
        }
        if self.hold.as_ref().is_some_and(|hold| hold.doubt != Doubt::Fence) {
            let reasoning = self.holds(Doubt::Reasoning);
            if let Some(hold) = self.hold.as_mut().filter(|hold| hold.doubt == Doubt::Bare) {
                hold.doubt = Doubt::Names;
            }
            self.go_back(at);
            if reasoning {
                self.reasoning_seen = true;
            }
        } else {
            self.restore(call.before);
            self.at = at;
        }
        if self.section.is_some_and(|(row, _)| row == call.origin.row) && self.out.calls.is_empty() {
            self.section = None;
        }
        if call.origin != Origin::BARE {
            self.unread = true;
            self.out.issue(Issue::at(
                IssueCode::StrayMarker,
                call.start,
                "what these markers hold is no readable call",
            ));
        }
        if self.at == self.from && self.at < cx.text.len() && self.at == call.start {
            self.at += cx.rest(self.at).chars().next().map_or(0, char::len_utf8);
        }
        Step::Go
    }

    /// Reads what closes the call, and lets it count for what it is worth.
    fn tail(&mut self, cx: &Reader<'_>, mut call: Box<CallState>) -> Step {
        let CallState { body: BodyState::Tail(tail), origin, writer, .. } = &mut *call else { return Step::Go };
        if tail.read(cx, *origin, writer) == Look::More {
            self.state = State::Call(call);
            return Step::More;
        }
        let Tail { at, missing, .. } = *tail;
        let speaks = self.hold.as_ref().and_then(|hold| match hold.doubt {
            Doubt::Sentence => Some(sentence::goes_on(cx, at, at + cx.policy.max_markup_bytes)),
            Doubt::Bare => {
                let call = (call.start..at, call.writer.pending.as_ref());
                let look = sentence::speaks_of(cx, call.0.start, at, call.1);
                Some(look.or(|| sentence::names(cx, call.0, call.1, hold.before.fresh)))
            }
            _ => None,
        });
        if let Some(speaks) = speaks {
            match speaks {
                Look::More => {
                    self.state = State::Call(call);
                    return Step::More;
                }
                Look::Is(()) => {
                    call.writer.flush(cx, &mut self.out);
                    self.go_back(at);
                    return Step::Go;
                }
                Look::No => {
                    self.keep(Doubt::Sentence);
                    self.keep(Doubt::Bare);
                }
            }
        }
        // One that has begun and was never over is told as well.
        call.writer.break_off(at);
        let called = call.writer.pending.as_ref().is_some_and(|call| cx.called(&self.out, call.index).is_some());
        // Without an offered name nothing vouches for a call that does not close, unless the text ends there.
        let vouched = !missing
            || called
            || match cx.behind_space(at, at) {
                Look::Is(next) => next >= cx.text.len(),
                Look::No => false,
                Look::More => {
                    self.state = State::Call(call);
                    return Step::More;
                }
            };
        let start = call.start;
        let bare = call.origin == Origin::BARE;
        self.unclosed = Some(call.origin.row).filter(|_| missing);
        let one = call.writer.is_one();
        if let Some(pending) = &mut call.writer.pending {
            if !vouched && pending.status.readable() {
                pending.status = CallStatus::Incomplete;
            } else if missing && vouched {
                pending.repairs.push(Repair::at(RepairCode::Marker, at, "a closing marker is missing"));
            }
            pending.repairs.append(&mut call.slips);
            if one && !bare {
                pending.raw = start..at;
            }
        }
        call.writer.flush(cx, &mut self.out);
        if let Some(fence) = self.fence.filter(|_| self.holds(Doubt::Fence) && call.writer.has_passed()) {
            return self.fence_is_code(cx, fence, at);
        }
        call.writer.give_passed(cx, &mut self.out);
        self.spare = Some(call);
        self.from = at;
        self.at = at;
        self.fresh = true;
        self.removed = true;
        Step::Go
    }
}
