//! Python calls: `[f(a=1), g()]`, with or without the list, as models write them rather than as Python reads them.
use super::Progress;
use super::literal;
use super::members::Members;
use crate::dialect::must_close;
use crate::engine::found::{Piece, Value};
use crate::engine::head::{APART, LONGEST_NAME, without_escapes};
use crate::engine::look::{seen, told};
use crate::engine::measure::Rounds;
use crate::engine::output::{Call, Output};
use crate::engine::tail::closes;
use crate::engine::trace::Reason;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::turn::{CallStatus, Repair, RepairCode};
use std::borrow::Cow;
use std::ops::Range;

mod after;
mod ahead;
mod argument;
mod escaped;
mod expression;
mod program;
mod space;
mod stray;
mod string;
mod value;
use ahead::name_at;
use escaped::EscapedScan;
use value::ValueScan;

/// What shows the result of a call in Python.
pub(crate) const PRINT: &str = "print";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A call, a list, or the end of the list.
    Call,
    /// An argument or the closing parenthesis.
    Argument,
    /// The value of an argument.
    Value,
    /// A comma or the closing parenthesis.
    AfterArgument,
    /// A separator, another call, or the end.
    AfterCall,
}

/// The quote round a call that is written as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    /// It has to come again, right behind the call.
    Open(u8),
    /// What stands behind the call has been looked at.
    Over(u8),
}

/// What has become of the call that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// It may be none yet.
    No,
    Call(usize),
    /// It is none, though those beside it are: it is read, and stays text.
    Passed,
}

impl Begun {
    const fn index(self) -> Option<usize> {
        match self {
            Self::Call(index) => Some(index),
            Self::No | Self::Passed => None,
        }
    }
}

/// A call written as a pair: `('f', {'a': 1})`, `['f', {'a': 1}]`.
struct Pair {
    name: Range<usize>,
    arguments: usize,
}

impl Pair {
    /// The pair at `at`: an offered name in quotes, and an object that is empty or begins with a parameter of that tool.
    fn at(cx: &Reader<'_>, at: usize) -> Look<Self> {
        let byte = |at: usize| cx.bytes().get(at).copied();
        let unfinished = |at: usize| if byte(at).is_none() && !cx.eof { Look::More } else { Look::No };
        if !matches!(byte(at), Some(b'(' | b'[')) || cx.tools.is_none() {
            return Look::No;
        }
        let quote = cx.skip_space(at + 1);
        let Some(mark @ (b'"' | b'\'')) = byte(quote) else { return unfinished(quote) };
        let name = name_at(cx, quote + 1);
        if name.len() > LONGEST_NAME || byte(name.end) != Some(mark) {
            return unfinished(name.end);
        }
        let comma = cx.skip_space(name.end + 1);
        if byte(comma) != Some(b',') || !cx.offered(cx.part(&name)) {
            return unfinished(comma);
        }
        let arguments = cx.skip_space(comma + 1);
        if byte(arguments) != Some(b'{') {
            return unfinished(arguments);
        }
        let first = cx.skip_space(arguments + 1);
        let key = match byte(first) {
            Some(b'}') => return Look::Is(Self { name, arguments }),
            Some(b'"' | b'\'') => name_at(cx, first + 1),
            _ => return unfinished(first),
        };
        if byte(key.end).is_none() {
            return unfinished(key.end);
        }
        let declared = cx.tool(cx.part(&name)).is_some_and(|tool| tool.declares(cx.part(&key)));
        if declared { Look::Is(Self { name, arguments }) } else { Look::No }
    }
}

/// The calls of one body, as far as they were read.
#[derive(Debug)]
pub(crate) struct Python {
    at: usize,
    expect: Expect,
    /// A list is open.
    list: bool,
    /// Another one is open in it.
    inner: bool,
    /// Where the first call stands, if a variable takes what it gives: a call behind it may use that, and so is a program's.
    kept: Option<usize>,
    /// Another call was read before.
    calls: bool,
    /// The call stands in braces, which say nothing.
    braced: bool,
    /// The call stands in `print(...)`, which only shows its result.
    printed: bool,
    quoted: Quoted,
    /// A name was escaped for Markdown, so the strings behind it are as well.
    escaped: bool,
    /// The bracket that closes the call: a list's own, where it is written as `['f', {'a': 1}]`.
    closes: u8,
    name: Piece,
    name_start: usize,
    begun: Begun,
    /// What one of its values was meant to be is not clear: it is not to be run.
    unreadable: bool,
    /// One of its arguments has no value: the null in its place was not written.
    valueless: bool,
    /// One of its arguments has its name from its place.
    placed: bool,
    /// The last argument had its name before it.
    behind_named: bool,
    members: Members,
    repairs: Vec<Repair>,
    /// The name of the argument that is being read; none for a positional one.
    key: Option<Piece>,
    scan: ValueScan,
    escapes: EscapedScan,
}

impl Python {
    /// A call may begin at `at`: a list bracket if there is one, a quote if there is one, a name, a parenthesis.
    pub(crate) fn plausible(cx: &Reader<'_>, at: usize) -> Look<()> {
        let bytes = cx.bytes();
        let mut at = at;
        match Pair::at(cx, at) {
            Look::No => {}
            pair => return pair.unit(),
        }
        if bytes.get(at) == Some(&b'[') {
            at = seen!(space::skip(cx, at + 1));
            match bytes.get(at) {
                Some(b'(') => return Pair::at(cx, at).unit(),
                Some(b'[') => match Pair::at(cx, at) {
                    Look::No => at = seen!(space::skip(cx, at + 1)),
                    pair => return pair.unit(),
                },
                _ => {}
            }
            if let Some(quote @ (b'"' | b'\'')) = bytes.get(at) {
                return Self::named_at(cx, at + 1, Some(*quote));
            }
        }
        Self::named_at(cx, at, None)
    }

    /// A name stands at `at`, behind a `quote` if there is one, and the parenthesis behind it.
    fn named_at(cx: &Reader<'_>, at: usize, quote: Option<u8>) -> Look<()> {
        let bytes = cx.bytes();
        let name = name_at(cx, at);
        if name.len() > LONGEST_NAME {
            return Look::No;
        }
        match bytes.get(name.end) {
            None if !cx.eof => Look::More,
            Some(b'(') if name.start < name.end && !bytes[name.start].is_ascii_digit() => Look::Is(()),
            _ => Self::behind_quoted(cx, &name, quote).or(|| Self::parenthesis(cx, &name)).unit(),
        }
    }

    /// Where the parenthesis stands behind the name of an offered tool that has quotes of its own: `'f'(a=1)`.
    fn behind_quoted(cx: &Reader<'_>, name: &Range<usize>, quote: Option<u8>) -> Look<usize> {
        if quote.is_none() || cx.bytes().get(name.end).copied() != quote {
            return Look::No;
        }
        match cx.bytes().get(name.end + 1) {
            None if !cx.eof => Look::More,
            Some(b'(') if cx.offered(cx.part(name)) => Look::Is(name.end + 1),
            _ => Look::No,
        }
    }

    /// In a list, a call of an offered tool stands at `at` in braces, and perhaps in quotes: `[{f(a=1)}]`, `[{'f(a=1)'}]`.
    pub(super) fn braced(cx: &Reader<'_>, at: usize) -> Look<()> {
        if cx.bytes().get(at) != Some(&b'{') || cx.tools.is_none() {
            return Look::No;
        }
        let inside = seen!(cx.behind_space(at, at + 1));
        let quoted = matches!(cx.bytes().get(inside), Some(b'"' | b'\''));
        let name = name_at(cx, inside + usize::from(quoted));
        match cx.bytes().get(name.end) {
            None if !cx.eof && name.len() <= LONGEST_NAME => Look::More,
            Some(b'(') => Look::when(cx.offered(&without_escapes(cx.part(&name)))),
            _ => Look::No,
        }
    }

    /// As [`Self::plausible`], where a marker stands before `at`, and perhaps comments.
    pub(super) fn plausible_behind_marker(cx: &Reader<'_>, at: usize) -> Look<()> {
        Self::behind_comments(cx, at).then(|at| Self::plausible(cx, at))
    }

    /// Where white space and comments that begin at `at` end.
    pub(crate) fn behind_comments(cx: &Reader<'_>, at: usize) -> Look<usize> {
        space::skip(cx, at)
    }

    /// Where the parenthesis stands behind a name: right there, or behind white space if the name is an offered one.
    fn parenthesis(cx: &Reader<'_>, name: &Range<usize>) -> Look<usize> {
        if name.is_empty() {
            return Look::No;
        }
        let at = cx.skip_space(name.end);
        let stands = match cx.bytes().get(at) {
            _ if at - name.end > APART => Look::No,
            None if !cx.eof => Look::More,
            Some(b'(') => Look::Is(at),
            _ => Look::No,
        };
        // The name is looked up last: mostly something else stands there.
        if stands == Look::No || at == name.end || cx.offered(cx.part(name)) { stands } else { Look::No }
    }

    /// The calls that begin at `at`.
    pub(super) fn new(at: usize) -> Self {
        Self {
            at,
            expect: Expect::Call,
            list: false,
            inner: false,
            kept: None,
            calls: false,
            braced: false,
            printed: false,
            quoted: Quoted::No,
            escaped: false,
            closes: b')',
            name: Piece::Made(String::new()),
            name_start: at,
            begun: Begun::No,
            unreadable: false,
            valueless: false,
            placed: false,
            behind_named: false,
            members: Members::default(),
            repairs: Vec::new(),
            key: None,
            scan: ValueScan::default(),
            escapes: EscapedScan::default(),
        }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let mut rounds = Rounds::new(cx.text.len());
        while rounds.another() {
            let at = match self.next_part(cx, writer) {
                Look::Is(at) => at,
                _ => return Progress::More,
            };
            let byte = cx.bytes().get(at).copied();
            if byte.is_none() && !cx.eof {
                return Progress::More;
            }
            let progress = match self.expect {
                Expect::Call => self.call(cx, at, byte),
                Expect::Argument => self.argument(cx, out, writer, at, byte),
                Expect::Value => self.value(cx, out, writer),
                Expect::AfterArgument => self.after_argument(cx, out, writer, at, byte),
                Expect::AfterCall => self.after_call(cx, writer, at, byte),
            };
            match progress {
                None => {}
                Some(Progress::More) if cx.eof => return self.cut_off(cx, out, writer),
                Some(progress) => {
                    if matches!(progress, Progress::Fail { .. }) {
                        out.trace.refuse(Reason::NotReadable, self.name.as_str(cx.text));
                    }
                    return progress;
                }
            }
        }
        Progress::Fail { at: self.at }
    }

    /// Where the next part stands, behind white space and, in a call, a list or markers, behind comments.
    fn next_part(&mut self, cx: &Reader<'_>, writer: &Writer) -> Look<usize> {
        let inside = match self.expect {
            Expect::Value => return Look::Is(self.at),
            Expect::Argument | Expect::AfterArgument => true,
            Expect::Call if !writer.origin.is_bare() => true,
            Expect::AfterCall if !self.list && !writer.origin.is_bare() => {
                told!(Self::calls_go_on(cx, writer, self.at)).is_some()
            }
            Expect::Call | Expect::AfterCall => self.list,
        };
        loop {
            let at = cx.skip_space(self.at);
            match if inside { space::comment(cx, at) } else { Look::No } {
                Look::No => return Look::Is(at),
                Look::More => return Look::More,
                Look::Is(end) => {
                    if self.repairs.last().is_none_or(|last| last.code != RepairCode::Comment) {
                        self.repairs.push(Repair::at(RepairCode::Comment, at, "a comment was left out"));
                    }
                    self.at = end;
                }
            }
        }
    }

    /// Comments stand at `at`, behind a call, and behind them another one, or what closes these.
    fn calls_go_on(cx: &Reader<'_>, writer: &Writer, at: usize) -> Look<()> {
        let (start, tail) = (cx.skip_space(at), writer.origin.tail(cx));
        // Where nothing need close the calls, a comment may be a heading of the text behind them.
        let closed = must_close(tail);
        if cx.bytes().get(start) != Some(&b'#') || !closed {
            return Look::No;
        }
        space::skip(cx, start).then(|next| closes(cx, tail, next).or(|| Self::plausible(cx, next)))
    }

    fn call(&mut self, cx: &Reader<'_>, at: usize, byte: Option<u8>) -> Option<Progress> {
        self.closes = b')';
        if let Some(Pair { name, arguments }) = told!(Pair::at(cx, at), Some(Progress::More)) {
            self.quoted = Quoted::No;
            self.closes = if byte == Some(b'[') { b']' } else { b')' };
            self.begin_reading(at, cx.piece(cx.part(&name)), arguments);
            return None;
        }
        match byte {
            None => return Some(Progress::More),
            Some(b'[') if !self.list => {
                self.list = true;
                self.at = at + 1;
                return None;
            }
            Some(b'[') if !self.inner => {
                self.repairs.push(Repair::at(
                    RepairCode::Bracket,
                    at,
                    "the calls of a list within the list were taken",
                ));
                self.inner = true;
                self.at = at + 1;
                return None;
            }
            Some(b']') if self.inner => {
                self.inner = false;
                self.at = at + 1;
                self.expect = Expect::AfterCall;
                return None;
            }
            Some(b']') if self.list => {
                self.list = false;
                self.at = at + 1;
                self.expect = Expect::AfterCall;
                return None;
            }
            Some(b'{') if self.list && !self.braced => {
                if told!(Self::braced(cx, at), Some(Progress::More)).is_some() {
                    self.repairs.push(Repair::at(RepairCode::Bracket, at, "braces round a call were left out"));
                    (self.braced, self.at) = (true, at + 1);
                    return None;
                }
            }
            Some(_) => {}
        }
        if self.kept.is_some_and(|kept| kept != at) {
            return Some(Progress::Fail { at });
        }
        // Behind a marker, or in a fence that says so, a variable may take what the call gives.
        match if self.list || self.printed || self.calls { Look::No } else { Self::assigned(cx, at) } {
            Look::Is(next) => {
                self.kept = Some(next);
                let what = "the variable before the call was left out";
                self.repairs.push(Repair::at(RepairCode::Surroundings, at, what));
                self.at = next;
                return None;
            }
            Look::More => return Some(Progress::More),
            Look::No => {}
        }
        // A call written as a string: its quote closes behind it.
        let quoted = byte.filter(|b| matches!(b, b'"' | b'\'') && self.list);
        self.quoted = quoted.map_or(Quoted::No, Quoted::Open);
        let at = if quoted.is_some() { at + 1 } else { at };
        let name = name_at(cx, at);
        let open = match cx.bytes().get(name.end) {
            None => return Some(Progress::More),
            Some(_) => match self.opened(cx, &name, quoted) {
                Look::Is(open) => open,
                Look::More => return Some(Progress::More),
                Look::No => return Some(Progress::Fail { at }),
            },
        };
        if !self.printed && cx.part(&name) == PRINT && !cx.offered(PRINT) {
            let inside = cx.skip_space(open + 1);
            match Self::plausible(cx, inside) {
                Look::Is(()) if Self::may_be_meant(cx, inside) => {
                    self.printed = true;
                    self.at = inside;
                    return None;
                }
                Look::More => return Some(Progress::More),
                _ => {}
            }
        }
        let start = name.start;
        let (text, escaped) = self.read_name(cx, name);
        // A tool as an object whose method is called.
        let tool =
            text.strip_suffix(".call").filter(|tool| !cx.offered(&text) && (cx.tools.is_none() || cx.offered(tool)));
        let name = match tool {
            Some(tool) => cx.piece(tool),
            None => cx.piece_of(text),
        };
        self.begin_reading(start, name, open + 1);
        self.escaped |= escaped;
        None
    }

    /// Where the parenthesis stands behind the name of a call, which a quote stands before if it is `quoted`.
    fn opened(&mut self, cx: &Reader<'_>, name: &Range<usize>, quoted: Option<u8>) -> Look<usize> {
        let open = Self::behind_quoted(cx, name, quoted);
        if matches!(open, Look::No) {
            return Self::parenthesis(cx, name);
        }
        if let Look::Is(_) = open {
            self.quoted = Quoted::No;
            self.repairs.push(Repair::at(RepairCode::Quotes, name.start - 1, "quotes round the name were left out"));
        }
        open
    }

    /// The call to `name`, which begins at `start`, has its arguments at `at`.
    fn begin_reading(&mut self, start: usize, name: Piece, at: usize) {
        self.name_start = start;
        self.name = name;
        self.begun = Begun::No;
        self.unreadable = false;
        self.valueless = false;
        (self.placed, self.behind_named) = (false, false);
        self.members = Members::default();
        self.escapes = EscapedScan::default();
        self.at = at;
        self.expect = Expect::Argument;
    }

    /// The name at `name`, and whether Markdown's backslashes, which are taken out of it, stand in it.
    fn read_name<'t>(&mut self, cx: &Reader<'t>, name: Range<usize>) -> (Cow<'t, str>, bool) {
        let text = without_escapes(cx.part(&name));
        let escaped = matches!(text, Cow::Owned(_));
        if escaped {
            self.repairs.push(Repair::at(RepairCode::MarkdownEscape, name.start, "Markdown escapes were removed"));
        }
        (text, escaped)
    }

    /// Begins the call, now that its first argument (or that it has none) is certain.
    fn begin(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> bool {
        if self.begun == Begun::No {
            if self.is_code(cx, out, writer) {
                return false;
            }
            self.begun = match writer.begin(cx, out, self.name.as_str(cx.text), None) {
                Some(index) => Begun::Call(index),
                // One name too many does not void its siblings.
                None if writer.begun > 0 => Begun::Passed,
                None => Begun::No,
            };
        }
        self.begun != Begun::No
    }

    /// No argument's name vouches for the call, which stands below other text, as far in as code does, or names an argument that the
    /// tool does not have.
    fn is_code(&self, cx: &Reader<'_>, out: &Output, writer: &Writer) -> bool {
        let unframed = cx.dialects.auto && writer.origin.is_bare() && writer.fence.is_none() && !self.list;
        if !unframed || writer.begun > 0 {
            return false;
        }
        let strange = |key: &Piece| {
            let tool = cx.tool(self.name.as_str(cx.text));
            tool.is_some_and(|tool| !tool.parameters.is_empty() && !tool.declares(key.as_str(cx.text)))
        };
        let start = self.name_start;
        let goes_on = |call: &Call| cx.slice(call.raw.end, start).trim_ascii().is_empty();
        let code = self.key.as_ref().map_or_else(|| is_indented(cx, start), strange);
        code && !cx.first_in_text(start) && !out.calls.last().is_some_and(goes_on)
    }

    /// If it has not begun, the call stays text.
    fn pass(&mut self) {
        if self.begun == Begun::No {
            self.begun = Begun::Passed;
        }
    }

    fn end_call(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, end: usize) -> Option<Progress> {
        if !self.begin(cx, out, writer) {
            return Some(Progress::Fail { at: end });
        }
        match std::mem::replace(&mut self.begun, Begun::No) {
            Begun::Call(index) => {
                self.members.close(out, writer, index);
                let found = if self.valueless { self.members.take() } else { self.members.take_literals(cx) };
                out.trace.python_call(cx.text, self.name_start..end);
                let pending = writer.over(index, found, self.name_start..end);
                pending.repairs = std::mem::take(&mut self.repairs);
                if self.unreadable {
                    pending.status = CallStatus::Malformed;
                }
            }
            Begun::No | Begun::Passed => {
                writer.pass(Piece::Span(self.name_start..end));
                self.repairs.clear();
            }
        }
        self.at = end;
        self.calls = true;
        self.expect = Expect::AfterCall;
        None
    }

    /// The call, or list of calls, that begins at `at` is of an offered tool, or there is nothing to tell.
    fn may_be_meant(cx: &Reader<'_>, at: usize) -> bool {
        let start = if cx.bytes().get(at) == Some(&b'[') { cx.skip_space(at + 1) } else { at };
        let name = name_at(cx, start);
        cx.tools.is_none() || cx.offered(&without_escapes(cx.part(&name)))
    }

    fn cut_off(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let end = cx.text.len();
        let named = !matches!(self.expect, Expect::Call | Expect::AfterCall);
        // Behind its name and the parenthesis, what else has begun or a marker vouches for it.
        if named && cx.offered(self.name.as_str(cx.text)) && (writer.begun > 0 || !writer.origin.is_bare()) {
            self.begin(cx, out, writer);
        }
        match self.begun.index() {
            Some(index) => {
                if let (Expect::Value, Some(key)) = (self.expect, self.key.take())
                    && let Some(json) = literal::certain(cx.slice(self.scan.start, end))
                {
                    self.members.keep_cut(key, Value::Json(Piece::Made(json)));
                }
                let found = self.members.take();
                let pending = writer.over(index, found, self.name_start..end);
                pending.status = CallStatus::Incomplete;
                pending.repairs = std::mem::take(&mut self.repairs);
                Progress::Done { end }
            }
            None if writer.begun > 0 => {
                if named {
                    writer.pass(Piece::Span(self.name_start..end));
                    self.at = end;
                }
                Progress::Done { end: self.at }
            }
            None => Progress::Fail { at: end },
        }
    }
}

/// `at` stands as far in its line as Markdown's code does.
fn is_indented(cx: &Reader<'_>, at: usize) -> bool {
    let near = cx.bytes().get(at.saturating_sub(4)..at).unwrap_or_default();
    near.ends_with(b"\t") || near == b"    "
}
