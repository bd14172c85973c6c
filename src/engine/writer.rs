//! The calls of one template on their way into the output, and what each is worth in the end.
use super::body::first_key;
use super::found::{Found, Piece, Value};
use super::head::{self, Head};
use super::origin::Origin;
use super::output::{Call, Output};
use super::reader::is_broken_up;
use super::trace::{Noted, Reason};
use super::{BareCalls, Look, Memo, Mode, Reader, UnknownTools};
use crate::bytes::same;
use crate::dialect::{Element, SectionId, must_close};
use crate::json::{self, Member};
use crate::schema::{Names, Tool, Written};
use crate::turn::{
    ArgumentError, CallStatus, Event, Evidence, Issue, IssueCode, Repair, RepairCode, TextHash, ToolCall,
};
use crate::turn::{derived_call_id, new_call_id};
use std::ops::Range;

/// A call whose arguments are over and whose end is not yet certain.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) index: usize,
    pub(super) arguments: Found,
    /// The members of arguments that are an object in the input, as the scanner noted them; else none.
    pub(super) members: Vec<Member>,
    pub(super) status: CallStatus,
    pub(super) repairs: Vec<Repair>,
    pub(super) raw: Range<usize>,
}

/// What vouches for it that calls are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vouching {
    /// Their markers.
    Markers,
    /// There are no markers: the name of the first one must be that of an offered tool.
    Name,
    /// There are no markers, but it is a list: the name of any of them is enough.
    AnyName,
    /// The envelope round them, which says that they are calls.
    Envelope,
}

/// Whether a list is the record of a conversation, whose calls were made long ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    No,
    /// Its elements look like messages, and none says yet that it is one.
    Possible,
    Certain,
    /// What a call gave stood behind it: those that follow rest on that.
    Behind,
}

impl Record {
    /// Nothing says that none of the calls is one to run.
    pub(super) const fn is_none(self) -> bool {
        matches!(self, Self::No | Self::Behind)
    }
}

/// The call whose pieces are not sent while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Muted {
    None,
    /// This one: its repaired text is read, and its pieces have been sent as far as the text is valid.
    Mended(usize),
    /// The last one of several, of which this is the last so far: it is cut off, and what closes it was made up. The pieces of
    /// those before it are sent as they stand.
    Last(usize),
    /// This one: its first member may hold all of its arguments, which shows once they are whole.
    Wrapped(usize),
}

impl Muted {
    const fn is(self, index: usize) -> bool {
        matches!(self, Self::Mended(muted) | Self::Last(muted) | Self::Wrapped(muted) if muted == index)
    }
}

/// Writes the calls of one template into the output.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) origin: Origin,
    /// Where the template began.
    pub(super) start: usize,
    vouching: Vouching,
    /// The hash of the text before it, if ids are derived from that.
    before: Option<TextHash>,
    /// What was read is an envelope that holds an answer in its content and no calls.
    pub(super) answered: bool,
    /// Calls have begun, and none of their names is offered.
    unvouched: bool,
    /// The call that has begun and is not over. There is none while one is pending.
    open: Option<usize>,
    /// The last call read, whose end is not certain.
    pub(super) pending: Option<Pending>,
    /// A call that was begun before its text was repaired: the next one that is read is this one.
    adopt: Option<usize>,
    muted: Muted,
    /// What was read is a list that is, or may be, a record.
    pub(super) record: Record,
    /// The id in the head, which is that of the first call.
    pub(super) id: Option<Box<str>>,
    /// How many calls have begun.
    pub(super) begun: usize,
    /// The section that it stands in.
    pub(super) section: Option<SectionId>,
    /// What closes the fence that it stands in, where nothing else closes it.
    pub(super) fence: Option<&'static str>,
    /// It stands in a fence whose whole body has to be calls.
    fenced: bool,
    /// The opening marker of its template is missing.
    unopened: bool,
    /// What stands among the calls and is none: it becomes text behind them.
    passed: Vec<Piece>,
}

impl Writer {
    /// For calls of `origin` that begin at `start`, behind the text that has the hash `before`.
    #[inline]
    pub(super) fn new(origin: Origin, start: usize, vouching: Vouching, before: Option<TextHash>) -> Self {
        Self {
            origin,
            start,
            vouching,
            before,
            answered: false,
            unvouched: false,
            open: None,
            pending: None,
            adopt: None,
            muted: Muted::None,
            record: Record::No,
            id: None,
            begun: 0,
            section: None,
            fence: None,
            fenced: false,
            unopened: false,
            passed: Vec::new(),
        }
    }

    /// No marker vouches for the calls.
    pub(super) fn is_unmarked(&self) -> bool {
        self.vouching != Vouching::Markers
    }

    /// The calls stand in a fence that a line which begins with `closer` ends, or in one of a single line.
    pub(super) fn in_fence(&mut self, closer: Option<&'static str>) {
        (self.fence, self.fenced) = (closer, true);
    }

    /// The opening marker is missing: only the name and what follows it speak for the call.
    pub(super) fn lacks_opener(&mut self) {
        self.unopened = true;
    }

    /// Why what is read here counts as calls.
    pub(super) fn evidence(&self) -> Evidence {
        match self.vouching {
            _ if !self.origin.is_bare() && !self.unopened => Evidence::Marker,
            Vouching::Envelope => Evidence::Envelope,
            _ if self.fenced => Evidence::Fence,
            Vouching::Markers | Vouching::Name | Vouching::AnyName => Evidence::Bare,
        }
    }

    /// Calls without markers stand in a list.
    pub(super) fn in_list(&mut self) {
        if self.origin.is_bare() {
            self.vouching = Vouching::AnyName;
        }
    }

    /// As [`Self::in_list`], where what the list stands in does not tell more.
    pub(super) fn in_plain_list(&mut self) {
        if self.vouching == Vouching::Name {
            self.in_list();
        }
    }

    /// Calls without markers stand in an envelope that says so.
    pub(super) fn in_envelope(&mut self) {
        if self.origin.is_bare() {
            self.vouching = Vouching::Envelope;
        }
    }

    /// What closes the call, or where nothing does, its section.
    pub(super) fn closing<'t>(&self, cx: &Reader<'t>) -> &'t [Element] {
        let tail = self.origin.tail(cx);
        let section = self.section.filter(|_| !must_close(tail));
        let section = section.and_then(|section| cx.dialects.section(section));
        section.map_or(tail, |section| &section.close)
    }

    /// Where the section of a call that ends at `at` is closed, if it is right behind that; else `at`.
    pub(super) fn behind_section(&self, cx: &Reader<'_>, at: usize) -> Look<usize> {
        let section = self.section.and_then(|section| cx.dialects.section(section));
        let close = section.map_or(&[][..], |section| &*section.close);
        if close.is_empty() {
            Look::Is(at)
        } else {
            head::head(cx, cx.skip_space(at), close).map(|close| close.end).or(|| Look::Is(at))
        }
    }

    /// `piece` stands among calls and is none: it becomes text, once they are over.
    pub(super) fn pass(&mut self, piece: Piece) {
        self.passed.push(piece);
    }

    /// The body ended at `end`, so what was passed over behind that was no part of it.
    pub(super) fn take_back(&mut self, end: usize) {
        self.passed.retain(|piece| !matches!(piece, Piece::Span(range) if range.start >= end));
    }

    /// How much was passed over.
    pub(super) fn passed(&self) -> usize {
        self.passed.len()
    }

    /// Only the first `passed` pieces become text: the others were read from mended text, which is not the caller's.
    pub(super) fn forget(&mut self, passed: usize) {
        self.passed.truncate(passed);
    }

    /// All that was read is the one call.
    pub(super) fn is_one(&self) -> bool {
        self.begun == 1 && self.passed.is_empty()
    }

    /// Gives out what was passed over.
    pub(super) fn give_passed(&mut self, cx: &Reader<'_>, out: &mut Output) {
        let Some(first) = self.passed.first() else { return };
        let at = if let Piece::Span(range) = first { range.start } else { self.start };
        if !out.takes_no_more(cx, at) {
            out.issue(Issue::at(IssueCode::TextInSection, at, "what stands among these calls is none: it stays text"));
        }
        for piece in self.passed.drain(..) {
            match piece {
                Piece::Span(range) => out.text(Mode::Content, cx.text, range),
                Piece::Made(made) => out.made_content(made),
            }
        }
    }

    /// A call begins: its name is certain. `None` if nothing vouches for it.
    pub(super) fn begin(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        written: &str,
        id: Option<&str>,
    ) -> Option<usize> {
        if let Some(index) = self.adopt.take() {
            return Some(index);
        }
        if written.is_empty() {
            // Nothing begins: the last call may yet go on.
            out.trace.refuse(if out.is_full(cx) { Reason::LimitReached } else { Reason::NoName }, written);
            return None;
        }
        self.break_off(self.start);
        self.flush(cx, out);
        if out.takes_no_more(cx, self.start) {
            out.trace.refuse(Reason::LimitReached, written);
            return None;
        }
        // What was hardened calls nothing, whoever repeats it, also as JSON escapes it.
        if is_broken_up(written) {
            out.trace.refuse(Reason::NameNotOffered, written);
            return None;
        }
        let evidence = self.evidence();
        if evidence == Evidence::Bare && cx.policy.bare == BareCalls::Off {
            out.trace.refuse(Reason::BarePolicy, written);
            return None;
        }
        // The namespace that a dialect declares is no part of a name.
        let own = cx.dialects.without_own_namespace(written, ['.']).filter(|_| cx.policy.names == Names::Resolve);
        let found = cx.tools.and_then(|tools| {
            let spelt = || own.and_then(|name| tools.find(name, cx.policy.names)).map(|(tool, _)| (tool, false));
            tools.find(written, cx.policy.names).or_else(spelt)
        });
        let offered = found.is_some() || cx.tools.is_none();
        let first = self.begun == 0 || self.unvouched;
        let refused = first && self.vouching == Vouching::Name || cx.policy.unknown_tools == UnknownTools::Text;
        if !offered && refused {
            out.trace.refuse(Reason::NameNotOffered, written);
            return None;
        }
        self.unvouched = first && self.vouching == Vouching::AnyName && !offered;
        let tool = found.and_then(|(tool, _)| u32::try_from(tool).ok());
        // Without tools nobody else knows that the namespace is no part of the name.
        let bare = if cx.tools.is_none() { cx.dialects.without_own_namespace(written, ['.']) } else { None };
        let name = match cx.tool_at(tool) {
            Some(tool) if !same(tool.name.as_bytes(), written.as_bytes()) => Piece::Made(tool.name.clone()),
            _ => cx.piece(bare.unwrap_or(written)),
        };
        let mut repairs = Vec::new();
        if bare.is_some() || matches!(found, Some((_, false))) {
            repairs.push(Repair::new(RepairCode::Name, format!("the model wrote {written:?}")));
        }
        let index = out.calls.len();
        let made = || match self.before {
            Some(before) => derived_call_id(before, index, written),
            None if out.streaming() => new_call_id(),
            None => String::new(),
        };
        let own = id.filter(|id| !id.is_empty()).map(str::to_owned);
        let own = own.or_else(|| self.id.take().map(String::from));
        let id = own.unwrap_or_else(made);
        out.event(|| Event::CallStarted { index, id: id.clone(), name: name.get(cx.text).into_owned() });
        out.calls.push(Call {
            id,
            name,
            tool,
            arguments: Found::none(),
            status: CallStatus::Incomplete,
            evidence,
            repairs,
            errors: Vec::new(),
            raw: self.start..self.start,
            origin: self.origin,
        });
        self.begun += 1;
        self.open = Some(index);
        Some(index)
    }

    /// The call of this `head` begins, if it has not: then it has an `index` already. `None` if nothing vouches for it.
    pub(super) fn begin_once(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        head: &Head,
        index: &mut Option<usize>,
    ) -> Option<usize> {
        if index.is_none() {
            let name = head.name(cx).unwrap_or_default();
            *index = self.begin(cx, out, &name, head.id(cx));
        }
        *index
    }

    /// What was read is what it seems: calls of which one is vouched for, or an envelope with an answer.
    pub(super) fn vouched(&self) -> bool {
        self.answered || self.begun > 0 && !self.unvouched && self.record != Record::Certain
    }

    /// The call has begun and is not over.
    pub(super) fn is_open(&self, index: usize) -> bool {
        self.open == Some(index)
    }

    /// Where text begins behind what was read, which goes up to `at`: if no call is open there, behind the last one, or behind what was
    /// passed over.
    pub(super) fn text_behind(&self, cx: &Reader<'_>, out: &Output, at: usize) -> usize {
        let called = match &self.pending {
            _ if self.open.is_some() => return at,
            Some(pending) => pending.raw.end,
            None => out.calls.last().map_or(at, |call| call.raw.end),
        };
        let passed = self.passed.iter().filter_map(|piece| match piece {
            Piece::Span(range) => Some(range.end),
            Piece::Made(_) => None,
        });
        let from = passed.max().map_or(called, |passed| passed.max(called)).max(self.start);
        let rest = cx.slice(from, at);
        let signs = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | ';' | '[' | ']');
        from.max(at - rest.trim_start_matches(signs).len())
    }

    /// A call that has begun and is not over never will be: what follows, at `end`, is none of it.
    pub(super) fn break_off(&mut self, end: usize) {
        if let Some(index) = self.open.take() {
            self.cut_off(index, Found::none(), self.start..end.max(self.start));
        }
    }

    /// The last call read is only a part of what was written.
    pub(super) fn tear(&mut self) {
        if self.pending.as_ref().is_some_and(|pending| pending.status.readable()) {
            self.refuse();
        }
    }

    /// The last call read is none to run, however it was read.
    pub(super) fn refuse(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.status = CallStatus::Malformed;
        }
    }

    /// The last call read was mended at `at`.
    pub(super) fn mend(&mut self, code: RepairCode, at: usize, what: &'static str) {
        if let Some(pending) = &mut self.pending {
            pending.repairs.push(Repair::at(code, at, what));
        }
    }

    /// A piece of a begun call's arguments.
    pub(super) fn piece(&self, out: &mut Output, index: usize, text: impl AsRef<str> + Into<String>) {
        if !text.as_ref().is_empty() && !self.muted.is(index) {
            out.event(|| Event::Arguments { index, text: text.into() });
        }
    }

    /// As [`Self::piece`], for one that stands in the input.
    pub(super) fn span(&self, out: &mut Output, index: usize, range: Range<usize>) {
        if !self.muted.is(index) {
            out.arguments(index, range);
        }
    }

    /// From here on the repaired text of a call is read, which continues the one that has `begun`, if one has.
    pub(super) fn continue_mended(&mut self, begun: Option<usize>) {
        self.adopt = begun;
        self.muted = begun.map_or(Muted::None, Muted::Mended);
    }

    /// Whether the call that had begun was continued.
    pub(super) fn is_continued(&mut self) -> bool {
        self.adopt.take().is_none()
    }

    /// From here on calls are read of which the last is cut off: the one at `index`, if no other begins behind it.
    pub(super) fn mute_last(&mut self, index: usize) {
        self.muted = Muted::Last(index);
    }

    /// Tells of the arguments of the call at `index`, an object that begins at `start`, what was read from `sent` on, up to
    /// `reached`; how far they are told then. Behind the brace that is once their first key is known, and not where that may hold
    /// all of them.
    pub(super) fn tell(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        index: usize,
        (start, sent, reached): (usize, usize, usize),
    ) -> usize {
        if !out.streaming() || reached <= sent {
            return sent;
        }
        let inside = start + 1;
        let first = if sent > inside || self.muted != Muted::None { Look::No } else { first_key(cx, start) };
        let may_wrap = |key: &Range<usize>| cx.called(out, index).is_some_and(|tool| tool.may_wrap(cx.part(key)));
        let wraps = matches!(&first, Look::Is(key) if may_wrap(key));
        let held = wraps || first == Look::More || self.muted == Muted::Wrapped(index);
        let end = if held { reached.min(inside) } else { reached };
        if cx.made {
            self.piece(out, index, cx.slice(sent, end));
        } else {
            self.span(out, index, sent..end);
        }
        if wraps {
            self.muted = Muted::Wrapped(index);
        }
        end.max(sent)
    }

    /// The first member of the call at `index` may hold all of its arguments: they are told once the call is settled, but for their
    /// brace.
    #[cold]
    pub(super) fn hold_arguments(&mut self, out: &mut Output, index: usize) {
        if self.muted == Muted::None {
            self.piece(out, index, "{");
            self.muted = Muted::Wrapped(index);
        }
    }

    /// The pieces of calls are sent again. The call whose pieces were not.
    pub(super) fn unmute(&mut self) -> Option<usize> {
        match std::mem::replace(&mut self.muted, Muted::None) {
            Muted::None => None,
            Muted::Mended(index) | Muted::Last(index) | Muted::Wrapped(index) => Some(index),
        }
    }

    /// The call at `index` is pending, and was repaired: tells what is missing of its arguments, if what was `told` of them still
    /// holds.
    pub(super) fn send_rest(&mut self, cx: &Reader<'_>, out: &mut Output, index: usize, told: &str) {
        let Some(pending) = self.pending.as_ref().filter(|p| p.index == index && out.streaming()) else { return };
        let whole = pending.arguments.clone().into_arguments(cx.text).to_json().into_owned();
        if whole.starts_with(told) {
            self.tell(&cx.of_made(&whole, &Memo::default()), out, index, (0, told.len(), whole.len()));
        }
    }

    /// The arguments of a call are over; what closes it may still follow.
    pub(super) fn over(&mut self, index: usize, arguments: Found, raw: Range<usize>) -> &mut Pending {
        self.open = None;
        let (members, repairs) = (Vec::new(), Vec::new());
        self.pending.insert(Pending { index, arguments, members, status: CallStatus::Ok, repairs, raw })
    }

    /// As [`Self::over`], where the text ends in them: these are certain.
    pub(super) fn cut_off(&mut self, index: usize, arguments: Found, raw: Range<usize>) {
        self.over(index, arguments, raw).status = CallStatus::Incomplete;
    }

    /// None of the calls that were read is one to run. That they ended has not been told yet.
    pub(super) fn refuse_all(&mut self, cx: &Reader<'_>, out: &mut Output) {
        self.flush(cx, out);
        out.refuse_since(out.calls.len().saturating_sub(self.begun), cx.text);
    }

    /// Where what was read for the `pending` call begins: behind the calls before it, and behind what was passed over.
    fn behind_others(&self, cx: &Reader<'_>, out: &Output, pending: &Pending) -> usize {
        let first = (pending.index + 1).saturating_sub(self.begun);
        let called = out.calls.get(first..pending.index).and_then(<[Call]>::last).map(|call| call.raw.end);
        let passed = self.passed.iter().rev().find_map(|piece| match piece {
            Piece::Span(range) => Some(range.end),
            Piece::Made(_) => None,
        });
        let Some(before) = called.max(passed).filter(|before| *before < pending.raw.end) else { return self.start };
        let text = cx.slice(before, pending.raw.end);
        let signs = |c: char| c.is_ascii_whitespace() || matches!(c, ',' | ';');
        before.max(self.start) + (text.len() - text.trim_start_matches(signs).len())
    }

    /// The last call read is certain now.
    pub(super) fn flush(&mut self, cx: &Reader<'_>, out: &mut Output) {
        let Some(mut pending) = self.pending.take() else { return };
        if pending.raw.start == self.start {
            pending.raw.start = self.behind_others(cx, out, &pending);
        }
        if matches!(self.record, Record::Behind | Record::Certain) && pending.status.readable() {
            pending.status = CallStatus::Malformed;
        }
        let too_long = pending.status.readable() && pending.arguments.len() > cx.policy.max_arguments_bytes;
        if too_long {
            pending.arguments = Found::none();
            pending.status = CallStatus::Malformed;
        }
        out.trace.arguments(&pending.arguments);
        if self.muted == Muted::Last(pending.index) {
            self.muted = Muted::Last(pending.index + 1);
            if out.streaming() {
                let whole = pending.arguments.clone().into_arguments(cx.text).to_json().into_owned();
                self.piece(out, pending.index, whole);
            }
        }
        let Some(call) = out.calls.get_mut(pending.index) else { return };
        call.arguments = pending.arguments;
        call.raw = pending.raw;
        call.repairs.append(&mut pending.repairs);
        if pending.status.readable() {
            keep_last(cx, call, &mut pending.members);
        }
        // What was scanned with its members is not. Nothing that is may be judged: judges go down as deep as a value does.
        let scanned = !pending.members.is_empty() && call.repairs.is_empty();
        let deep = |call: &Call| call.arguments.deeper_than(cx.text, cx.policy.max_depth);
        let deep_as_read = !scanned && deep(call);
        if deep_as_read && pending.status.readable() {
            pending.status = CallStatus::Malformed;
        }
        let settled = settle(cx, call, pending.status, &pending.members);
        if self.muted == Muted::Wrapped(pending.index) {
            self.muted = Muted::None;
            let arguments = call.arguments.clone().into_arguments(cx.text);
            let rest = arguments.to_json().strip_prefix('{').map(str::to_owned);
            self.piece(out, pending.index, rest.unwrap_or_default());
        }
        let Some(call) = out.calls.get_mut(pending.index) else { return };
        // What the schema made of text in it may be, too.
        let too_deep = deep_as_read || settled && deep(call);
        if too_deep {
            call.refuse();
            let at = call.raw.start;
            out.trace.note(at..at, Noted::Kept(Reason::TooDeep, Piece::Made(String::new())));
        }
        pending.members.clear();
        out.members = pending.members;
        let issue = match call.status {
            CallStatus::Ok | CallStatus::Repaired => None,
            CallStatus::Invalid => Some((IssueCode::InvalidArguments, "the arguments are not what the schema allows")),
            CallStatus::Malformed if too_long => {
                Some((IssueCode::MalformedCall, "the arguments are longer than max_arguments_bytes"))
            }
            CallStatus::Malformed if too_deep => {
                Some((IssueCode::MalformedCall, "the arguments are nested deeper than max_depth"))
            }
            CallStatus::Malformed if self.record == Record::Behind => {
                Some((IssueCode::MalformedCall, "it was made before, as what it gave stands behind it"))
            }
            CallStatus::Malformed => Some((IssueCode::MalformedCall, "the arguments cannot be read")),
            CallStatus::Incomplete => Some((IssueCode::IncompleteCall, "the call is cut off")),
            CallStatus::UnknownTool => Some((IssueCode::UnknownTool, "the name means none of the offered tools")),
        };
        if let Some((code, what)) = issue {
            let message = format!("{}: {what}", call.name.as_str(cx.text));
            let at = call.raw.start;
            out.issue(Issue::at(code, at, message));
        }
        out.ended(pending.index, cx.text);
    }
}

/// Of a key that stands twice the last value counts. Arguments that were mended have their members in no list.
fn keep_last(cx: &Reader<'_>, call: &mut Call, members: &mut Vec<Member>) {
    let Found::Json(piece) = &call.arguments else { return };
    let mended = !call.repairs.is_empty() && members.is_empty();
    let once = match mended {
        true => json::with_keys_once(&piece.get(cx.text)).map(|once| (None, once)),
        false => json::keys_once(cx.text, members, &piece.get(cx.text)),
    };
    let Some((at, once)) = once else { return };
    let offset = if let (Some(at), Piece::Span(range)) = (at, piece) { at.checked_sub(range.start) } else { None };
    call.repairs.push(Repair { offset, ..Repair::new(RepairCode::DuplicateKey, json::TWICE) });
    call.arguments = Found::Json(Piece::Made(once));
    members.clear();
}

/// Nothing has to be built to see that the schema allows the arguments.
fn is_settled(cx: &Reader<'_>, tool: &Tool, arguments: &Found, scanned: &[Member]) -> bool {
    match arguments {
        Found::Json(_) => !scanned.is_empty() && crate::schema::is_settled(tool, cx.text, scanned),
        Found::Members(members) => crate::schema::are_settled(
            tool,
            members.iter().map(|(key, value)| {
                let value = match value {
                    Value::Text(piece) => Written::Text(piece.as_bytes(cx.text)),
                    Value::Json(piece) => Written::Json(piece.as_bytes(cx.text)),
                };
                (key.as_bytes(cx.text), value)
            }),
        ),
    }
}

/// Decides what a call is worth, from how it was read and what the offered tools say. Whether the arguments changed.
fn settle(cx: &Reader<'_>, call: &mut Call, status: CallStatus, members: &[Member]) -> bool {
    call.status = status;
    if !status.readable() {
        return false;
    }
    let mut changed = false;
    match cx.tool_at(call.tool) {
        Some(tool) if is_settled(cx, tool, &call.arguments, members) => {}
        Some(tool) => {
            let mut settled = ToolCall::new("", "", call.arguments.clone().into_arguments(cx.text));
            settled.status = status;
            settled.repairs = std::mem::take(&mut call.repairs);
            changed = crate::schema::settle(tool, &mut settled);
            if changed {
                call.arguments = settled.arguments.into();
            }
            call.repairs = settled.repairs;
            call.errors = settled.errors;
            call.status = settled.status;
        }
        None if cx.tools.is_some() && cx.policy.unknown_tools != UnknownTools::Allow => {
            call.status = CallStatus::UnknownTool;
            return false;
        }
        None => {}
    }
    match call.status {
        CallStatus::Ok if !call.repairs.is_empty() => call.status = CallStatus::Repaired,
        // The schema may have nothing against it, but no tool takes it.
        CallStatus::Invalid if call.errors.is_empty() => call.errors.push(ArgumentError::no_object()),
        _ => {}
    }
    changed
}
