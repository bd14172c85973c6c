//! Parameters written as markup: `<parameter=city>Paris</parameter>`. There is no escaping, so a value ends at its own
//! closing marker where the structure goes on behind it. String values stream as they are written.
use super::Progress;
use super::elements::nested;
use super::lenient::is_prose;
use super::values::{
    CDATA, KeyIndex, Undecided, decode_entities, in_cdata, is_string_type, joined_cdata, listed, may_be_cdata,
    may_be_json, opens_cdata_twice, piece_of, typed, unwrapped,
};
use crate::bytes::find;
use crate::char_class;
use crate::dialect::{CallTemplate, Element, Parameter, Row, Slot, Trim, must_close};
use crate::engine::found::{Found, Piece, Value};
use crate::engine::head::{self, Head};
use crate::engine::look::{seen, told};
use crate::engine::measure::Rounds;
use crate::engine::output::Output;
use crate::engine::tail::closes;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader, misspelt};
use crate::json::{find_special, push_escaped, push_string};
use crate::schema::{Expected, Tool, WRAPPERS};
use crate::turn::{ArgumentValue, CallStatus, Repair, RepairCode};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

mod before;
mod beyond;
mod end;
mod inner;
mod lost;
mod open;
mod same;
mod shown;
mod value;
mod without;

use lost::{lost_named, lost_value};
use open::{OpenValue, Opening, Streams};

/// The parameters of one call, as far as they were read.
#[derive(Debug)]
pub(crate) struct Parameters {
    head: Head,
    at: usize,
    index: Option<usize>,
    members: Vec<(Piece, Value)>,
    /// Which of the tool's first parameters are among them, a bit each.
    given: u64,
    keys: KeyIndex,
    value: Option<OpenValue>,
    /// What closes the call, where that is not as its template says.
    closer: Option<Arc<[Element]>>,
    ahead: Ahead,
    /// Something was given out, so the opening brace is.
    opened: bool,
    /// A parameter stands there that cannot be read.
    broken: bool,
    /// A value ended before the marker of another parameter, which nothing closed it for.
    unclosed: bool,
    /// A value that holds an opening tag of its own name, which nothing closes, ended before another parameter.
    unsure: bool,
    /// A value holds what may be a parameter whose opening marker was lost, if the tool has one that is not there.
    stray: bool,
    /// Where text between the parameters began, whose end has not come.
    junk: Option<usize>,
    /// A key stands there without a value, and no other parameter behind it.
    lone: bool,
    /// A null is there, with its type beside it.
    null: bool,
    repairs: Vec<Repair>,
}

/// What stands at a place, as the end of a value has shown.
type Ahead = Option<(usize, Next)>;

/// What the parameters of a call are read by.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// Which call it is.
    index: usize,
    row: &'a Row,
    /// What closes the call.
    tail: &'a [Element],
    /// The tool that is called, if it was offered.
    called: Option<&'a Tool>,
}

/// The head of a parameter.
#[derive(Debug, PartialEq, Eq)]
struct Begun {
    /// By which of the dialect's templates.
    template: usize,
    key: Option<Range<usize>>,
    kind: Option<Range<usize>>,
    end: usize,
    /// One of its literals stood there twice.
    twice: bool,
    /// A quote of an attribute is missing or stands twice.
    misquoted: bool,
    /// What ends its tag is missing.
    unclosed: bool,
    /// Attributes that no template has.
    stray: Option<Range<usize>>,
}

impl Begun {
    /// By the parameter template of this number, with such a `head`.
    fn by(template: usize, head: Head) -> Self {
        let Head { key, kind, end, twice, misquoted, unclosed, stray, .. } = head;
        Self { template, key, kind, end, twice, misquoted, unclosed, stray }
    }
}

/// The parameter that a call begins with, as one of these templates has it.
#[derive(Debug)]
pub(crate) struct FirstSeen {
    at: usize,
    /// Where the dialect's parameter templates lie.
    templates: usize,
    begun: Begun,
}

/// What of a parameter stands at a place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MayBegin {
    at: usize,
    /// Where the dialect's parameter templates lie.
    templates: usize,
    /// What stands before a value.
    whole: bool,
    /// Only the marker that it begins with: one that breaks off still shows what this is.
    broken: bool,
    /// The text ends before it is clear.
    more: bool,
}

/// What follows a place.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Parameter(Begun),
    Close,
    End,
    Junk,
    More,
}

impl Parameters {
    /// The parameters that begin at `at`, behind `head`.
    pub(super) fn new(at: usize, head: Head) -> Self {
        // A key that the head holds is the one of the first parameter, whose own marker is missing.
        let key = head.key.clone();
        // White space behind what opens its value is the value's.
        let at = if key.is_some() { head.end } else { at };
        let repairs =
            key.iter().map(|key| Repair::at(RepairCode::Marker, key.start, "a parameter's opening marker is missing"));
        let repairs = repairs.collect();
        let first = |key| {
            let key = Some(key);
            Next::Parameter(Begun::by(0, Head { key, end: at, ..Head::default() }))
        };
        let ahead = key.map(|key| (at, first(key)));
        Self {
            head,
            at,
            index: None,
            members: Vec::new(),
            given: 0,
            keys: KeyIndex::default(),
            value: None,
            closer: None,
            ahead,
            opened: false,
            broken: false,
            unclosed: false,
            unsure: false,
            stray: false,
            junk: None,
            lone: false,
            null: false,
            repairs,
        }
    }

    /// A parameter of `row` stands at `at`, or what closes a call by `template` that has none, and the `head` is no mere text.
    pub(super) fn plausible(
        cx: &Reader<'_>,
        row: &Row,
        template: &CallTemplate,
        head: &Head,
        at: usize,
        in_section: bool,
    ) -> Look<()> {
        // A name that nothing delimits needs more than its looks.
        let vouched =
            || template.delimits_name() || in_section || head.name.as_ref().is_some_and(|n| cx.vouches(n.clone()));
        if at >= cx.text.len() && cx.eof {
            return Look::when(vouched());
        }
        let begins = Self::may_begin(cx, row, at);
        if begins.whole {
            return Look::Is(());
        }
        if begins.broken && vouched() {
            return Self::no_other_stands(cx, row, template, at);
        }
        // Without parameters a call may lack its own closing marker.
        let ends = match closes(cx, &template.tail, at) {
            Look::Is(()) => Look::Is(()),
            look => look.any(Self::ends_without(cx, row, head, at, in_section)),
        };
        match ends {
            Look::Is(()) if vouched() => Look::Is(()),
            Look::More => Look::More,
            _ if begins.more => Look::More,
            _ => Look::No,
        }
    }

    /// No marker that another template has behind the same head stands at `at`, where one of a parameter breaks off.
    #[cold]
    fn no_other_stands(cx: &Reader<'_>, row: &Row, template: &CallTemplate, at: usize) -> Look<()> {
        let behind = row.calls.iter().filter_map(|other| other.head.strip_prefix(&*template.head));
        let markers = behind.filter_map(|rest| rest.iter().find(|element| **element != Element::Space));
        let looks = markers.filter_map(Element::literal).map(|text| cx.literal(at, text).unit());
        match Look::any_of(looks) {
            Look::No => Look::Is(()),
            Look::Is(()) => Look::No,
            Look::More => Look::More,
        }
    }

    /// What of a parameter of `row` stands at `at`. Several templates ask for it, each behind its own head and behind the next one.
    fn may_begin(cx: &Reader<'_>, row: &Row, at: usize) -> MayBegin {
        let templates = row.parameters.as_ptr().addr();
        let [last, before] = cx.memo.parameters.get();
        let same = |known: &MayBegin| (known.at, known.templates) == (at, templates);
        if let Some(known) = [last, before].into_iter().flatten().find(same) {
            return known;
        }
        let mut begins = MayBegin { at, templates, ..MayBegin::default() };
        for (template, parameter) in row.parameters.iter().enumerate() {
            let mut found = Head::default();
            match head::fill(cx, at, &parameter.head, &mut found) {
                Look::Is(()) => {
                    // Mostly it need not be read once more.
                    if !begins.more && parameter.is_told_by_head() {
                        let begun = Begun::by(template, found);
                        cx.memo.first_parameter.set(Some(FirstSeen { at, templates, begun }));
                    }
                    begins.whole = true;
                    break;
                }
                Look::More => begins.more = true,
                Look::No => begins.broken |= cx.literal(at, &parameter.opener) == Look::Is(at + parameter.opener.len()),
            }
        }
        cx.memo.parameters.set([Some(begins), last]);
        begins
    }

    /// What closes the call, where the closing marker holds its name.
    fn named_closer(&self, cx: &Reader<'_>, tail: &[Element]) -> Option<Arc<[Element]>> {
        let name = self.head.name.as_ref()?;
        let at = tail.iter().position(|element| *element == Element::Slot(Slot::Name))?;
        let (before, behind) = (tail.get(..at)?, tail.get(at + 1..)?);
        let ((Element::Literal(open), before), (Element::Literal(end), behind)) =
            (before.split_last()?, behind.split_first()?)
        else {
            return None;
        };
        let named = Element::Literal(format!("{open}{}{end}", cx.part(name)).into());
        Some(before.iter().cloned().chain([named]).chain(behind.iter().cloned()).collect())
    }

    /// A parameter begins at `at`, and `head` says how. Where only its own name makes it one, that is a name, and one of
    /// `declared`.
    #[inline]
    fn begins(cx: &Reader<'_>, parameter: &Parameter, at: usize, declared: Option<&Tool>, head: &mut Head) -> Look<()> {
        let look = match head::fill(cx, at, &parameter.head, head) {
            // Without a marker of its own before it, the value does not begin with one.
            Look::Is(()) if parameter.opens_in_space() => match cx.bytes().get(head.end) {
                Some(b'<') => Look::No,
                None if !cx.eof => Look::More,
                _ => Look::Is(()),
            },
            look => look,
        };
        let (Look::Is(()), true) = (look, parameter.behind_key.is_some()) else { return look };
        let key = head.key.clone().map_or("", |k| &cx.text[k]);
        let name = key.bytes().all(|byte| char_class::NAME.has_byte(byte)) && !key.is_empty();
        let known = declared.is_none_or(|tool| tool.declares(key));
        if name && known { look } else { Look::No }
    }

    /// What follows at `at`, in a call that `tail` closes.
    fn next(cx: &Reader<'_>, row: &Row, tail: &[Element], at: usize, declared: Option<&Tool>) -> Next {
        let at = cx.skip_markup_space(at);
        if at >= cx.text.len() || (!cx.eof && cx.bytes().get(at..) == Some(b"\\")) {
            return if cx.eof { Next::End } else { Next::More };
        }
        let mut head = Head::default();
        let may_begin = row.first_parameter.may_be(cx.bytes().get(at..).unwrap_or_default());
        for (template, parameter) in row.parameters.iter().enumerate().filter(|_| may_begin) {
            match Self::begins(cx, parameter, at, declared, &mut head) {
                Look::Is(()) => return Next::Parameter(Begun::by(template, head)),
                // A template further down may fit already, but this one would fit better; and what may yet be a parameter is
                // none before that is clear.
                Look::More => return Next::More,
                Look::No => {}
            }
        }
        match Self::ends(cx, row, tail, at) {
            Look::Is(()) => Next::Close,
            Look::More => Next::More,
            Look::No => Next::Junk,
        }
    }

    /// What closes the call, its section, or begins the next call stands at `at`.
    fn ends(cx: &Reader<'_>, row: &Row, tail: &[Element], at: usize) -> Look<()> {
        let mut result = closes(cx, tail, at);
        if row.by_name() || result == Look::Is(()) {
            return result;
        }
        for elements in row.heads().chain(row.section_closes()) {
            match cx.opens(at, elements) {
                Look::Is(_) => return Look::Is(()),
                Look::More if result == Look::No => result = Look::More,
                _ => {}
            }
        }
        if result == Look::No { Self::ends_misspelt(cx, row, tail, at) } else { result }
    }

    /// What closes the call stands at `at`, misspelt, and behind it its section closes, another call begins, or the text
    /// is over.
    #[cold]
    fn ends_misspelt(cx: &Reader<'_>, row: &Row, tail: &[Element], at: usize) -> Look<()> {
        let Some(closer) = tail.iter().find_map(Element::literal) else { return Look::No };
        let tag = seen!(misspelt::closing(cx, row, at, closer, |_| false));
        let next = seen!(misspelt::behind(cx, tag.end));
        if next >= cx.text.len() {
            return Look::when(tag.whole);
        }
        let first = |elements: &[Element]| cx.opens(next, elements).unit();
        let sections = row.section_opens().chain(row.section_closes()).map(first);
        let looks = row.heads().map(first).chain(sections);
        Look::any_of(looks)
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let begins = self.index.is_none();
        let index = writer.begin_once(cx, out, &self.head, &mut self.index);
        let (Some(index), Some(row)) = (index, writer.origin.row(cx)) else {
            return Progress::Fail { at: self.at };
        };
        let tail = writer.origin.tail(cx);
        if begins {
            self.closer = self.named_closer(cx, tail);
            self.see_first(cx, row);
        }
        let named = self.closer.clone();
        let tail = named.as_deref().unwrap_or(tail);
        let around = Around { index, row, tail, called: cx.called(out, index) };
        let mut rounds = Rounds::new(cx.text.len());
        while rounds.another() {
            if self.value.is_some() {
                match self.read_value(cx, out, writer, around) {
                    Look::Is(()) => continue,
                    Look::More => {
                        let since = self.value.as_ref().map_or(self.at, |value| value.searched);
                        return Progress::Unclear { since };
                    }
                    Look::No => {
                        return self.finish(cx, out, writer, around, cx.text.len(), CallStatus::Incomplete);
                    }
                }
            }
            match self.what_follows(cx, around) {
                Next::More => return Progress::Unclear { since: self.at },
                Next::End => {
                    // The template may have nothing that closes a call, so that the end of the text does.
                    let closed = !must_close(tail);
                    let whole = closed && around.called.is_some() && !self.members.is_empty();
                    let status = if whole { CallStatus::Ok } else { CallStatus::Incomplete };
                    return self.finish(cx, out, writer, around, cx.text.len(), status);
                }
                Next::Close => {
                    let at = cx.skip_markup_space(self.at);
                    return self.finish(cx, out, writer, around, at, CallStatus::Ok);
                }
                Next::Parameter(begun) => {
                    self.open_value(cx, around, begun);
                    self.hold_wrapper(cx, out, writer, around);
                }
                // Where the last parameter is closed and the call is not, lines of words are text.
                Next::Junk => {
                    if told!(self.prose(cx, row).map_or_else(|| self.junk(cx, around), |_| Look::No), Progress::More)
                        .is_none()
                    {
                        let end = self.prose(cx, row).unwrap_or(cx.text.len());
                        return self.finish(cx, out, writer, around, end, CallStatus::Incomplete);
                    }
                }
            }
        }
        Progress::Fail { at: self.at }
    }

    /// The first parameter may have been seen already.
    fn see_first(&mut self, cx: &Reader<'_>, row: &Row) {
        let seen = cx.memo.first_parameter.take();
        let here = |seen: &FirstSeen| (seen.at, seen.templates) == (self.at, row.parameters.as_ptr().addr());
        if let Some(seen) = seen.filter(|seen| self.ahead.is_none() && here(seen)) {
            self.ahead = Some((self.at, Next::Parameter(seen.begun)));
        }
    }

    /// What stands where the last parameter, or the head, ended. Mostly the end of a value has shown it already.
    fn what_follows(&mut self, cx: &Reader<'_>, around: Around<'_>) -> Next {
        match self.ahead.take() {
            _ if self.junk.is_some() => Next::Junk,
            Some((at, next)) if at == self.at => next,
            _ => self.or_another(cx, around.row, Self::next(cx, around.row, around.tail, self.at, None)),
        }
    }

    /// A parameter has begun, and if its head holds a key, a value that stands behind that.
    fn open_value(&mut self, cx: &Reader<'_>, around: Around<'_>, begun: Begun) {
        let Around { row, called, .. } = around;
        let Begun { template, key, kind, end, twice, misquoted, unclosed, stray } = begun;
        if twice {
            let what = "a marker of a parameter stood twice";
            self.repairs.push(Repair::at(RepairCode::Marker, self.at, what));
        }
        if misquoted {
            self.repairs.push(Repair::at(RepairCode::Quotes, self.at, head::MISQUOTED));
        }
        if unclosed {
            self.repairs.push(Repair::at(RepairCode::Marker, self.at, head::UNCLOSED));
        }
        self.broken |= stray.is_some_and(|stray| lost::has_value(cx, &stray));
        (self.at, self.lone) = (end, false);
        let Some(key) = key else { return };
        // Mostly it is one of the tool's, and then it is that.
        let likely = self.members.len();
        let position = |key: &[u8]| called.and_then(|tool| tool.position(key, likely));
        let declared = position(cx.bytes().get(key.clone()).unwrap_or_default());
        let key = if declared.is_some() { key } else { self.read_key(cx, called, key) };
        let parameter = row.parameters.get(template);
        // A marker that its line ends, or another sign, may have lost more of its key than that.
        let cut = |p: &Parameter| matches!(p.head.last(), Some(Element::Literal(text)) if text.ends_with(['\n', '=']));
        // And where a quote is missing, letters may be, or where its tag does not end, some of the value's may stand in it.
        let cut = |p: &Parameter| misquoted || unclosed || cut(p);
        self.broken |= declared.is_none() && called.is_some() && parameter.is_some_and(cut);
        let named = |p: &Parameter| Some(format!("{}{}{}", p.closer, cx.part(&key), p.behind_key.as_ref()?).into());
        let closer = parameter.and_then(named);
        let key_at = key.start;
        let key = if declared.is_some() { Piece::Span(key) } else { key_piece(cx, key) };
        let declared = declared.or_else(|| position(key.as_bytes(cx.text)));
        let known = |tool: &Tool| declared.and_then(|at| tool.parameters.get(at)).map(|(_, expected)| *expected);
        let other = |tool: &Tool| tool.expected_of_other(key.as_str(cx.text));
        let expected = called.map(|tool| known(tool).unwrap_or_else(|| other(tool)));
        let streams = Self::streams(cx, row, expected, kind.as_ref());
        let opening = Opening { template, key, declared, key_at, kind, end };
        let marked = !parameter.is_some_and(|p| p.tags);
        // There is none. Where that is plain, the new one is made in its place.
        self.value = None;
        self.value = Some(OpenValue::new(opening, expected, closer, streams, marked));
    }

    /// The first parameter has begun: where it may hold all arguments, they are told once they are whole.
    fn hold_wrapper(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, around: Around<'_>) {
        let Some(value) = self.value.as_ref().filter(|_| self.members.is_empty()) else { return };
        let undeclared = value.opening.declared.is_none() && out.streaming();
        if undeclared && around.called.is_some() && WRAPPERS.contains(&value.key(cx)) {
            writer.hold_arguments(out, around.index);
        }
    }

    /// The key as it is meant: without quotes of its own, where the tool has a parameter of that name, or none are known. What
    /// is no name, nor one of the tool's parameters, is the text of something else.
    fn read_key(&mut self, cx: &Reader<'_>, called: Option<&Tool>, key: Range<usize>) -> Range<usize> {
        let text = cx.part(&key);
        let in_name = |c: char| char_class::NAME.has(c) || matches!(c, '/' | '$' | '@' | '[' | ']');
        if text.chars().all(in_name) || text.contains('&') {
            return key;
        }
        let known = called.filter(|tool| !tool.parameters.is_empty());
        let inner = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
        if inner.is_some_and(|key| known.map_or_else(|| key.chars().all(in_name), |tool| tool.declares(key))) {
            self.repairs.push(Repair::at(
                RepairCode::Quotes,
                key.start,
                "quotes round a parameter's name were left out",
            ));
            return key.start + 1..key.end - 1;
        }
        if known.is_none() {
            return key;
        }
        self.broken = true;
        key
    }

    /// Where lines of prose begin behind the last parameter, up to the end of the text: they are no part of the call that nothing
    /// closes.
    fn prose(&self, cx: &Reader<'_>, row: &Row) -> Option<usize> {
        let from = self.junk.unwrap_or_else(|| cx.skip_space(self.at));
        let prose = cx.eof && row.by_name() && cx.at_line_start(from) && is_prose(cx.rest(from));
        prose.then_some(from)
    }

    /// Text between the parameters: it is in the call's raw text, and in the record. `No`: the text is over with it.
    #[cold]
    fn junk(&mut self, cx: &Reader<'_>, around: Around<'_>) -> Look<()> {
        let Around { row, called, .. } = around;
        let (from, searched) = match self.junk.take() {
            Some(from) => (from, self.at),
            None => {
                let from = cx.skip_space(self.at);
                (from, from + 1)
            }
        };
        let byte = row.parameters.first().and_then(|p| p.opener.bytes().next());
        let rest = cx.bytes().get(searched..).unwrap_or_default();
        let skip = memchr::memchr(byte.unwrap_or(b'<'), rest).map(|i| searched + i);
        if skip.is_none() && !cx.eof {
            self.junk = Some(from);
            self.at = cx.text.len();
            return Look::More;
        }
        let end = skip.unwrap_or(cx.text.len());
        let before = self.repairs.iter().any(|r| r.code == RepairCode::Surroundings);
        let junk = cx.slice(from, end);
        let given = |key: &str| value::holds_key(cx, &self.members, key);
        self.broken |= lost_value(row, junk, before) || lost_named(called, junk, given);
        self.see_lone_key(cx, row, called, junk);
        if !before {
            let what = "text between the parameters was left out";
            self.repairs.push(Repair::at(RepairCode::Surroundings, from, what));
        }
        self.at = end;
        Look::when(skip.is_some())
    }

    /// What is known of a value before it is read.
    fn streams(cx: &Reader<'_>, row: &Row, expected: Option<Expected>, kind: Option<&Range<usize>>) -> Streams {
        match kind.map(|k| &cx.text[k.clone()]) {
            Some(kind) if is_string_type(kind) => Streams::Yes,
            Some(_) => Streams::No,
            None if expected.is_some_and(Expected::is_string) => Streams::Yes,
            None if expected.is_some_and(|expected| expected != Expected::ANY) => Streams::No,
            None if row.dialect.json_first => Streams::NoJson,
            None => Streams::Yes,
        }
    }

    fn finish(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        around: Around<'_>,
        end: usize,
        status: CallStatus,
    ) -> Progress {
        let Around { index, row, called, .. } = around;
        if status.readable() {
            writer.piece(out, index, if self.opened { "}" } else { "{}" });
        }
        if let (Some(tool), true) = (called, self.stray) {
            self.broken |= tool.parameters.iter().any(|(name, _)| !value::holds_key(cx, &self.members, name));
        }
        // Where only its key tells a parameter, one that stands twice beside text that is left out was part of a value, and so was
        // either where the end of one is doubtful.
        let noted = |code: RepairCode| self.repairs.iter().any(|repair| repair.code == code);
        let (twice, junk) = (noted(RepairCode::DuplicateKey), noted(RepairCode::Surroundings));
        self.broken |= self.lone || twice && junk && row.by_name() || self.unsure && (twice || junk);
        let members = std::mem::take(&mut self.members);
        let members = match unwrapped(cx, out, index, &members) {
            Some(inner) => {
                self.repairs.push(Repair::new(RepairCode::Misplaced, "one parameter held all arguments"));
                inner
            }
            None => members,
        };
        let status = if self.broken && status.readable() { CallStatus::Malformed } else { status };
        let found = Found::Members(members);
        let found = if self.null && status == CallStatus::Ok { found.literals(cx.text) } else { found };
        let pending = writer.over(index, found, writer.start..end);
        pending.status = status;
        pending.repairs = std::mem::take(&mut self.repairs);
        Progress::Done { end }
    }
}

/// A parameter's name; in an attribute it may hold entities.
fn key_piece(cx: &Reader<'_>, range: Range<usize>) -> Piece {
    match decode_entities(cx.part(&range)) {
        Cow::Borrowed(_) => Piece::Span(range),
        Cow::Owned(key) => Piece::Made(key),
    }
}
