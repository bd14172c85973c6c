//! Arguments alone, as JSON behind a head that holds the name; and what a whole value in their place means.
use super::keys::{decode, key_at};
use super::lenient::{self, Bound};
use super::line::text_ends;
use super::shown::FENCE;
use super::strings::Strings;
use super::{Progress, after, cut_in_head};
use crate::char_class;
use crate::dialect::{CallTemplate, Channels, Element, Row, must_close};
use crate::engine::found::{Found, Piece, Value};
use crate::engine::head::Head;
use crate::engine::look::{seen, told};
use crate::engine::output::Output;
use crate::engine::reader::floor;
use crate::engine::tail::{closes, cut_off};
use crate::engine::writer::Writer;
use crate::engine::{Look, Policy, Reader};
use crate::json::{ScanResult, Scanner};
use crate::schema::{Tool, fitting, read_text};
use crate::turn::{CallStatus, Repair, RepairCode};
use std::slice;

/// The string at `at` is the name of a parameter, with a colon behind it: the brace before it is missing.
fn unopened(cx: &Reader<'_>, head: &Head, at: usize) -> Look<()> {
    let Some(tool) = head.tool(cx) else { return Look::No };
    key_at(cx, at, |key| tool.declares(key))
}

/// Arguments alone, after a head that holds the name.
#[derive(Debug)]
pub(crate) struct Arguments {
    head: Head,
    start: usize,
    scanner: Scanner,
    sent: usize,
    index: Option<usize>,
    /// Strict reading failed: where the arguments end is being looked for.
    lenient: Option<Box<Strings>>,
    /// Where what says that JSON follows stood before it.
    preface: Option<usize>,
    /// The message is no JSON: how far its end has been looked for.
    searched: Option<usize>,
    /// A brace too many stood before the object.
    doubled: Option<usize>,
}

impl Arguments {
    /// Arguments, or what closes a call without any, may begin at `at`, with this `byte`.
    pub(super) fn plausible(
        cx: &Reader<'_>,
        row: &Row,
        template: &CallTemplate,
        head: &Head,
        at: usize,
        byte: u8,
    ) -> Look<()> {
        let vouched = || match head.name.clone() {
            Some(name) => cx.vouches(name),
            // The name stands in an id.
            None => head.name(cx).is_some_and(|name| cx.tools.is_none() || cx.offered(&name)),
        };
        match byte {
            b'{' => Look::Is(()),
            // Arguments in a string, or their first key without the brace; any other quote is the text's.
            b'"' => match after(cx, at) {
                Look::Is(b'{' | b'"' | b'\\') => Look::Is(()),
                Look::More => Look::More,
                _ => unopened(cx, head, at),
            },
            // A name that nothing delimits needs more than its looks.
            _ if !template.delimits_name() && !vouched() => Look::No,
            b'n' | b'N' if must_close(&template.tail) => {
                nothing(cx, at).then(|end| closes(cx, &template.tail, cx.skip_space(end)))
            }
            // Where nothing closes the call, only an offered name tells the word from text.
            b'n' | b'N' if head.names_offered(cx) => nothing(cx, at).then(|end| ends_line(cx, end)),
            b'`' if prefaced(cx, byte, at) != Look::No => prefaced(cx, byte, at).unit(),
            b'`' if empty_fence(cx, &template.tail, at) != Look::No => empty_fence(cx, &template.tail, at),
            // Three of them open a fence, and where the text ends, two may be the beginning of one.
            b'`' if cx.rest(at).starts_with("``") || cx.eof && cx.rest(at) == "`" => Look::No,
            b'`' => match labelled_fence(cx, at) {
                Look::No => closes(cx, &template.tail, at),
                Look::Is(()) => Look::No,
                Look::More => Look::More,
            },
            _ => closes(cx, &template.tail, at).or(|| text_ends(cx, row, at)),
        }
    }

    /// The arguments that begin at `at`, behind `head`.
    pub(super) fn new(at: usize, head: Head, max_depth: usize) -> Self {
        Self {
            head,
            start: at,
            scanner: Scanner::new(at, max_depth),
            sent: at,
            index: None,
            lenient: None,
            preface: None,
            searched: None,
            doubled: None,
        }
    }

    /// The object broke off at `at` since a second brace opens it there.
    fn is_doubled(&self, cx: &Reader<'_>, at: usize) -> bool {
        cx.bytes().get(at) == Some(&b'{') && self.doubled.is_none() && cx.slice(self.start, at).trim_end() == "{"
    }

    fn brace_too_many(&self) -> Option<Repair> {
        self.doubled.map(|at| Repair::at(RepairCode::Bracket, at, "a brace too many was left out"))
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let Some(index) = writer.begin_once(cx, out, &self.head, &mut self.index) else {
            return Progress::Fail { at: self.start };
        };
        if self.lenient.is_some() {
            return self.mend(cx, out, writer, index);
        }
        if self.sent == self.start {
            let start = cx.skip_markup_space(self.start);
            // Half a line break that is written out is looked at once more.
            if cx.ends_in_space(start) {
                return Progress::More;
            }
            self.start = start;
            if self.sent < self.start {
                self.sent = self.start;
                self.scanner = Scanner::new(self.start, cx.policy.max_depth);
            }
        }
        let first = cx.bytes().get(self.start).copied();
        if let Some(object) = told!(first.map_or(Look::No, |byte| prefaced(cx, byte, self.start)), Progress::More) {
            self.preface = Some(self.start);
            (self.start, self.sent) = (object, object);
            return self.mend(cx, out, writer, index);
        }
        if first.is_none_or(|b| !matches!(b, b'{' | b'[' | b'"')) {
            return self.without(cx, out, writer, index);
        }
        if told!(
            first.filter(|byte| *byte == b'"').map_or(Look::No, |_| unopened(cx, &self.head, self.start)),
            Progress::More
        )
        .is_some()
        {
            return self.mend(cx, out, writer, index);
        }
        self.scanner.reuse(&mut out.members);
        let result = self.scanner.scan(cx.bytes(), cx.eof);
        let reached = match result {
            ScanResult::Complete { end } => end,
            ScanResult::Incomplete => floor(cx.text, self.scanner.certain(cx.bytes())),
            ScanResult::Error { at, .. } if self.is_doubled(cx, at) => {
                // From here on the second brace is the object's.
                (self.doubled, self.start, self.sent) = (Some(self.start), at, at);
                self.scanner = Scanner::new(at, cx.policy.max_depth);
                return self.step(cx, out, writer);
            }
            ScanResult::Error { .. } => return self.mend(cx, out, writer, index),
        };
        let open = result == ScanResult::Incomplete;
        let certain = if open { lenient::certain_end(cx, self.sent, reached) } else { reached };
        if first == Some(b'{') {
            self.sent = writer.tell(cx, out, index, (self.start, self.sent, certain));
        }
        match result {
            ScanResult::Complete { end } => {
                let text = cx.slice(self.start, end);
                let tool = cx.called(out, index);
                let (found, status, repairs) = whole_arguments(tool, text, || Piece::Span(self.start..end));
                let mut closed = end;
                if self.doubled.is_some() {
                    match cx.behind_space(end, end) {
                        Look::More => return Progress::More,
                        Look::Is(at) if cx.bytes().get(at) == Some(&b'}') => closed = at + 1,
                        _ => {}
                    }
                }
                let end = closed;
                let pending = writer.over(index, found, writer.start..end);
                pending.repairs.extend(self.brace_too_many());
                pending.members = self.scanner.take_members();
                pending.status = status;
                pending.repairs.extend(repairs);
                Progress::Done { end }
            }
            _ if !cx.eof => Progress::More,
            _ => {
                if Strings::new(self.start).bound(cx, writer) != Look::No {
                    return self.mend(cx, out, writer, index);
                }
                let found = lenient::certain(cx.slice(self.start, cx.text.len()));
                let raw = writer.start..cx.text.len();
                writer.cut_off(index, Found::Json(Piece::Made(found)), raw);
                Progress::Done { end: cx.text.len() }
            }
        }
    }

    /// No arguments stand where they should.
    fn without(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, index: usize) -> Progress {
        let rest = cx.rest(self.start);
        let origin = writer.origin;
        let in_head = || matches!((origin.row(cx), origin.template(cx)), (Some(row), Some(call)) if cut_in_head(cx, row, call, self.start));
        if rest.is_empty() || cx.eof && (cut_off(rest, origin.tail(cx), &[]) || is_cut_fence(rest) || in_head()) {
            // The text ends there, in what closes the call or in the beginning of a fence or another marker. Where nothing closes it, what takes no arguments lacks none.
            let open = writer.origin.row(cx).is_some_and(|row| !row.dialect.text_ends.is_empty());
            let whole = open && cx.called(out, index).is_some_and(|tool| tool.parameters.is_empty());
            if whole {
                writer.piece(out, index, "{}");
            }
            let pending = writer.over(index, Found::none(), writer.start..cx.text.len());
            if !whole {
                pending.status = CallStatus::Incomplete;
            }
            return Progress::Done { end: cx.text.len() };
        }
        let null = match nothing(cx, self.start) {
            Look::Is(end) => Some(end),
            Look::More => return Progress::More,
            Look::No => None,
        };
        let over = told!(is_over(cx, writer, null.unwrap_or(self.start)), Progress::More).is_some();
        if !over && let Some(channels) = writer.origin.row(cx).and_then(|row| row.dialect.channels.as_ref()) {
            return self.message(cx, out, writer, index, channels);
        }
        let null = null.filter(|_| over);
        let end = null.unwrap_or(self.start);
        if over {
            writer.piece(out, index, "{}");
        }
        let pending = writer.over(index, Found::none(), writer.start..end);
        pending.repairs.extend(null.map(|_| null_arguments()));
        if !over {
            // Nor does what closes the call stand there.
            pending.status = CallStatus::Malformed;
        }
        Progress::Done { end }
    }

    /// A message to a tool that is no JSON: all of it is the only argument of a tool that takes one, if its header says that it
    /// is written in something else (`code`). What names no format may be prose that went to the wrong place.
    fn message(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        index: usize,
        channels: &Channels,
    ) -> Progress {
        let from = self.searched.unwrap_or(self.start).max(self.start);
        let rest = cx.bytes().get(from..).unwrap_or_default();
        let ends =
            channels.closes.iter().filter_map(|c| memchr::memmem::find(rest, c.as_bytes()).map(|i| (from + i, c)));
        let Some((end, closer)) = ends.min_by_key(|(at, _)| *at) else {
            if !cx.eof {
                let longest = channels.closes.iter().map(String::len).max().unwrap_or_default();
                self.searched = Some(cx.text.len().saturating_sub(longest).max(from));
                return Progress::More;
            }
            writer.cut_off(index, Found::none(), writer.start..cx.text.len());
            return Progress::Done { end: cx.text.len() };
        };
        // A closer that the text itself holds would leave half of it.
        let next = cx.skip_space(end + closer.len());
        let looks = channels.opens.iter().chain(&channels.closes).map(|text| cx.literal(next, text));
        let goes_on = told!(Look::any_of(looks), Progress::More).is_some();
        let text = cx.slice(self.start, end).trim_end();
        let holds = channels.opens.iter().any(|open| memchr::memmem::find(text.as_bytes(), open.as_bytes()).is_some());
        let header = self.head.name.as_ref().map_or("", |name| cx.slice(name.end, self.start));
        let formatted = channels.formats.iter().any(|format| format != LABEL && header.contains(format.as_str()));
        let whole = !holds && (goes_on || next >= cx.text.len()) && formatted && !header.contains(LABEL);
        let found = cx.called(out, index).filter(|_| whole).and_then(|tool| only_argument(tool, text));
        if let Some(found) = &found {
            writer.piece(out, index, found.clone().into_arguments(cx.text).to_json());
        }
        let known = found.is_some();
        let pending = writer.over(index, found.unwrap_or_else(Found::none), writer.start..end);
        if known {
            let what = "bare text became the tool's only argument";
            pending.repairs.push(Repair::at(RepairCode::Positional, self.start, what));
        } else {
            pending.status = CallStatus::Malformed;
        }
        Progress::Done { end }
    }

    /// Where the fence ends that the arguments stood in, which ended at `end`.
    fn behind_fence(&self, cx: &Reader<'_>, end: usize) -> usize {
        let opened = self.preface.is_some_and(|at| cx.rest(at).starts_with(FENCE));
        match cx.literal(cx.skip_space(end), FENCE) {
            Look::Is(behind) if opened => behind,
            _ => end,
        }
    }

    /// The arguments are no JSON: repair reads them up to what closes the call.
    fn mend(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, index: usize) -> Progress {
        let strings = self.lenient.get_or_insert_with(|| Box::new(Strings::new(self.start)));
        let window = lenient::Window::new(cx, out, self.start);
        let near = window.reader(cx);
        let bound = match strings.bound(&near, writer) {
            Look::Is(bound) => window.bound(bound),
            Look::More => return Progress::More,
            Look::No => window.bound(Bound::sure(near.text.len())),
        };
        let limit = bound.at;
        let closed = limit < cx.text.len();
        let mended = strings.repair(cx, limit).ok();
        let closed_at = strings.closed().filter(|_| !closed);
        let alone = mended.as_ref().and_then(|mended| lenient::escaped_alone(cx, self.start, closed_at, mended));
        let mended = alone.or(mended);
        if let Some(mended) = &mended {
            out.ahead.add(mended.ahead + strings.ahead(self.start + mended.consumed), limit);
        }
        match mended {
            Some(mended) if mended.complete() || closed => {
                // Signs before the closing marker are what the mistake left; words are text.
                let end = self.start + mended.consumed;
                let signs = closed && !cx.slice(end, limit).contains(char::is_alphanumeric);
                let end = if signs { limit } else { self.behind_fence(cx, end) };
                let sure = mended.json.starts_with('{') && !mended.guessed && !bound.doubts(cx);
                let sure = sure && !lenient::ended_early(cx.slice(end, limit), closed);
                let pending = writer.over(index, Found::Json(Piece::Made(mended.json.into_owned())), writer.start..end);
                pending.repairs = mended.repairs;
                let what = "what stood round the arguments was left out";
                let preface = self.preface.map(|at| Repair::at(RepairCode::Surroundings, at, what));
                pending.repairs.extend(preface);
                pending.repairs.extend(self.brace_too_many());
                if !sure {
                    pending.status = CallStatus::Malformed;
                }
                writer.send_rest(cx, out, index, cx.slice(self.start, self.sent));
                Progress::Done { end }
            }
            Some(mended) => {
                let prose = lenient::prose_behind(&mended, cx.slice(self.start, limit));
                let limit = prose.map_or(limit, |prose| self.start + prose);
                let found = lenient::certain(cx.slice(self.start, limit));
                let raw = writer.start..limit;
                writer.cut_off(index, Found::Json(Piece::Made(found)), raw);
                Progress::Done { end: limit }
            }
            None => {
                let end = lenient::too_deep_end(cx, self.start, limit);
                let status = if closed || end.is_some() { CallStatus::Malformed } else { CallStatus::Incomplete };
                let end = end.unwrap_or(limit);
                writer.over(index, Found::none(), writer.start..end).status = status;
                Progress::Done { end }
            }
        }
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

/// What closes the fence of the arguments stands at `at`, with what closes the call behind it: there are none.
fn empty_fence(cx: &Reader<'_>, tail: &[Element], at: usize) -> Look<()> {
    let mut closers = tail.iter().filter_map(Element::text);
    let (Some(fence), Some(closer)) = (closers.next().filter(|text| *text == FENCE), closers.next()) else {
        return Look::No;
    };
    let behind = cx.literal(at, fence).then(|at| cx.behind_space(at, at));
    behind.then(|at| cx.literal(at, closer)).unit()
}

/// A word for no arguments stands at `at`, of JSON or Python: where it ends.
fn nothing(cx: &Reader<'_>, at: usize) -> Look<usize> {
    match cx.literal(at, "null") {
        Look::No => cx.literal(at, "None"),
        look => look,
    }
}

/// Nothing stands behind `at` in its line, or another marker does.
fn ends_line(cx: &Reader<'_>, at: usize) -> Look<()> {
    let rest = cx.rest(at).trim_start_matches([' ', '\t']);
    match rest.as_bytes().first() {
        _ if cx.text.len() - rest.len() - at > cx.policy.max_markup_bytes => Look::No,
        None if !cx.eof => Look::More,
        None | Some(b'\n' | b'\r' | b'<' | b'[') => Look::Is(()),
        Some(_) => Look::No,
    }
}

/// What says that JSON follows.
const LABEL: &str = "json";

/// The beginning of a fence that says so.
const LABELLED: &str = "```json";

/// The text ends in `rest`, the first bytes of a fence that arguments may stand in, or of its label.
pub(super) fn is_cut_fence(rest: &str) -> bool {
    !rest.is_empty() && rest.len() < LABELLED.len() && (LABELLED.starts_with(rest) || LABEL.starts_with(rest))
}

/// An object stands behind what only says that it is one: the beginning of a fence, or its label alone. Where it begins.
fn prefaced(cx: &Reader<'_>, first: u8, at: usize) -> Look<usize> {
    if !matches!(first, b'`' | b'j') {
        return Look::No;
    }
    let fence = if first == b'`' { cx.literal(at, FENCE) } else { Look::Is(at) };
    let label = seen!(fence);
    let object = match cx.literal(label, LABEL) {
        Look::Is(end) => end,
        Look::No if label > at => label,
        other => return other,
    };
    match cx.behind_space(at, object) {
        Look::Is(object) if cx.bytes().get(object) == Some(&b'{') => Look::Is(object),
        Look::More => Look::More,
        _ => Look::No,
    }
}

/// The call is over at `at`: what closes it stands there, or its message ends, or nothing says that more should.
fn is_over(cx: &Reader<'_>, writer: &Writer, at: usize) -> Look<()> {
    let next = cx.skip_space(at);
    if next >= cx.text.len() {
        return cx.over(());
    }
    let tail = writer.origin.tail(cx);
    let look = closes(cx, tail, next);
    if look != Look::No || must_close(tail) {
        return look;
    }
    let Some(channels) = writer.origin.row(cx).and_then(|row| row.dialect.channels.as_ref()) else {
        return Look::Is(());
    };
    let ends =
        channels.closes.iter().chain(&channels.opens).chain(Some(&channels.role).filter(|role| !role.is_empty()));
    Look::any_of(ends.map(|text| cx.literal(next, text).unit()))
}

/// The arguments of a call whose text is bare, for tools that take one. `None`: the text names a parameter, so it was meant
/// as more than one value.
pub(super) fn only_argument(tool: &Tool, text: &str) -> Option<Found> {
    let key = tool.only_parameter()?;
    if tool.parameters.iter().any(|(name, _)| names(text, name)) {
        return None;
    }
    let expected = tool.expected(key);
    let value = Value::from(fitting(tool, (key, expected), read_text(text, expected), text));
    Some(Found::Members(vec![(Piece::Made(key.to_owned()), value)]))
}

/// The parameter stands in `text` with a value behind it: `path: a.txt`, `"path": "a.txt"`, `path="a.txt"`.
pub(in crate::engine) fn names(text: &str, parameter: &str) -> bool {
    let mut places = memchr::memmem::find_iter(text.as_bytes(), parameter.as_bytes()).filter(|_| !parameter.is_empty());
    places.any(|at| {
        let (before, behind) =
            (text.get(..at).unwrap_or_default(), text.get(at + parameter.len()..).unwrap_or_default());
        let value = behind.trim_start_matches(['"', '\'', '\\', ' ']).strip_prefix([':', '=']);
        !before.ends_with(|c| char_class::IDENTIFIER.has(c)) && value.is_some_and(|value| !value.starts_with('='))
    })
}

fn null_arguments() -> Repair {
    Repair::new(RepairCode::Literal, "null arguments became {}")
}

/// `text`, which stood in a fence, without the label of that.
fn without_label(text: &str) -> &str {
    let object = text.strip_prefix(LABEL).map(str::trim_start);
    object.filter(|object| object.starts_with('{')).unwrap_or(text)
}

/// What a whole value in the place of arguments means: an object as it is, one inside a string decoded, other text as the
/// only argument of the `tool`, nothing as `{}`.
pub(super) fn whole_arguments(
    tool: Option<&Tool>,
    text: &str,
    piece: impl FnOnce() -> Piece,
) -> (Found, CallStatus, Vec<Repair>) {
    match text.as_bytes().first() {
        Some(b'"') => encoded_arguments(tool, text, piece),
        Some(b'n') => (Found::none(), CallStatus::Ok, vec![null_arguments()]),
        Some(b'{') => (Found::Json(piece()), CallStatus::Ok, Vec::new()),
        Some(b'[') if text.get(1..).is_some_and(|rest| rest.trim_ascii() == "]") => (
            Found::none(),
            CallStatus::Ok,
            vec![Repair::new(RepairCode::Literal, "an empty list of arguments became {}")],
        ),
        _ => (Found::Json(piece()), CallStatus::Invalid, Vec::new()),
    }
}

/// As [`whole_arguments`], for a string.
fn encoded_arguments(
    tool: Option<&Tool>,
    text: &str,
    piece: impl FnOnce() -> Piece,
) -> (Found, CallStatus, Vec<Repair>) {
    let inner = decode(text);
    let trimmed = without_label(inner.trim());
    let repaired = |what| Repair::new(RepairCode::DoubleEncoded, what);
    if matches!(trimmed, "" | "null" | "None") {
        return (Found::none(), CallStatus::Ok, vec![repaired("empty arguments in a string became {}")]);
    }
    let mut scanner = Scanner::new(0, Policy::MAX_DEPTH);
    if trimmed.starts_with('{')
        && matches!(scanner.scan(trimmed.as_bytes(), true), ScanResult::Complete { end } if end == trimmed.len())
    {
        let found = Found::Json(Piece::Made(trimmed.to_owned()));
        return (found, CallStatus::Ok, vec![repaired("the arguments were JSON inside a string")]);
    }
    if trimmed.starts_with('{')
        && let Some(mended) = lenient::repair_text(trimmed, Policy::MAX_DEPTH)
        && mended.complete()
    {
        // Signs behind it are what the mistake left; anything else was meant as well, and nobody knows how.
        let behind = trimmed.get(mended.consumed..).unwrap_or_default();
        let more = behind.contains(|c: char| c.is_alphanumeric() || matches!(c, '{' | '[' | '"' | '\''));
        let status = if more || lenient::doubts(trimmed, &mended, tool.map_or(&[], slice::from_ref)) {
            CallStatus::Malformed
        } else {
            CallStatus::Ok
        };
        let mut repairs = vec![repaired("the arguments were broken JSON inside a string")];
        // Places in the string would mean nothing to the caller.
        repairs.extend(mended.repairs.into_iter().map(|repair| Repair { offset: None, ..repair }));
        return (Found::Json(Piece::Made(mended.json.into_owned())), status, repairs);
    }
    // What begins as an object or a list was meant as one, and is cut off.
    let bare = tool.filter(|_| !trimmed.starts_with(['{', '[']));
    match bare.and_then(|tool| only_argument(tool, &inner)) {
        Some(found) => {
            let what = "text in the place of the arguments became the tool's only argument";
            (found, CallStatus::Ok, vec![Repair::new(RepairCode::Positional, what)])
        }
        // A text is no object, and no schema could make it one.
        None => (Found::Json(piece()), CallStatus::Malformed, Vec::new()),
    }
}
