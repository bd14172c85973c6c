//! The only argument as bare text, on its line, in a fence or up to a closing marker: `Action Input: Oslo`, for tools that
//! take one.
use super::Progress;
use super::arguments::only_argument;
use super::shown::FENCE;
use crate::dialect::{Element, Row};
use crate::engine::head::{self, Head};
use crate::engine::look::{told, unless};
use crate::engine::output::Output;
use crate::engine::reader::{begun, floor};
use crate::engine::trace::Reason;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::schema::{Expected, Tool};
use crate::turn::{CallStatus, Issue, IssueCode, Repair, RepairCode};
use std::ops::Range;

/// White space is looked through so far for what follows a closing marker, or a word in whose beginning the model was stopped.
const LONGEST_GAP: usize = 256;

/// The text, whose end is looked for.
#[derive(Debug)]
pub(crate) struct Line {
    head: Head,
    start: usize,
    searched: usize,
}

/// Where the text stands, and where what holds it ends.
struct Extent {
    text: Range<usize>,
    end: usize,
    cut: bool,
}

impl Line {
    /// The text that begins at `at`, behind `head`.
    pub(super) fn new(at: usize, head: Head) -> Self {
        Self { head, start: at, searched: at }
    }

    /// Text at `at` can be the tool's only argument.
    pub(super) fn plausible(cx: &Reader<'_>, row: &Row, head: &Head, at: usize) -> Look<()> {
        // Nothing stands in its line, nor in the next one: another paragraph is no input.
        let before = cx.bytes().get(..at).unwrap_or_default().iter().rev().take(LONGEST_GAP);
        let gap = before.take_while(|byte| byte.is_ascii_whitespace());
        if gap.filter(|byte| **byte == b'\n').nth(1).is_some() {
            return Look::No;
        }
        let (rest, objects) = (cx.rest(at), ["{", "[", "\"{", "'{"]);
        if objects.iter().any(|open| rest.trim_start_matches('`').starts_with(open)) {
            return Look::No;
        }
        unless!(text_ends(cx, row, at));
        unless!(no_input(cx, rest));
        let tool = head.tool(cx);
        match tool.is_some_and(|tool| tool.only_parameter().is_some()) {
            false => Look::No,
            true if !cx.eof && objects.iter().any(|open| open.starts_with(rest)) => Look::More,
            true => Look::Is(()),
        }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let name = self.head.name(cx).unwrap_or_default();
        // The markers are plain words: they count where a line begins, or right behind a call or a tag (`</think>`).
        let begins = cx.at_line_start(writer.start)
            || cx.follows_tag(writer.start)
            || out.calls.last().is_some_and(|call| call.raw.end == writer.start);
        let closer = writer.origin.tail(cx).iter().find_map(Element::literal);
        let extent = match (begins, closer) {
            (false, _) => Look::No,
            (true, Some(closer)) => self.closed(cx, closer),
            (true, None) => self.extent(cx, writer),
        };
        let extent = match extent {
            Look::Is(extent) => extent,
            Look::More => return Progress::More,
            Look::No => {
                out.trace.refuse(Reason::NotReadable, &name);
                return Progress::Fail { at: self.start };
            }
        };
        let text = cx.part(&extent.text);
        // Lines may be an argument each, where nothing but the markers says how far one goes.
        let one = |tool: &&Tool| {
            (closer.is_none() || !text.contains('\n') || tool.takes_one_text()) && !fits_several(tool, text)
        };
        let Some(found) = cx.tool(&name).filter(one).and_then(|tool| only_argument(tool, text)) else {
            let what = "the input says more than one argument, or names one, and is no object";
            out.issue(Issue::at(IssueCode::StrayMarker, writer.start, what));
            return Progress::Fail { at: self.start };
        };
        let Some(index) = writer.begin(cx, out, &name, self.head.id(cx)) else {
            return Progress::Fail { at: self.start };
        };
        if !extent.cut {
            writer.piece(out, index, found.clone().into_arguments(cx.text).to_json());
        }
        let pending = writer.over(index, found, writer.start..extent.end);
        if extent.cut {
            pending.status = CallStatus::Incomplete;
        } else {
            let what = "bare text became the tool's only argument";
            pending.repairs.push(Repair::at(RepairCode::Positional, extent.text.start, what));
        }
        Progress::Done { end: extent.end }
    }

    /// The text goes to the end of its line, and behind that a paragraph or the text ends, or what ends such a text begins
    /// a line. Where the next line goes on, it is not clear how much of it is meant.
    fn extent(&mut self, cx: &Reader<'_>, writer: &Writer) -> Look<Extent> {
        if let Some(inside) = told!(cx.literal(self.start, FENCE)) {
            return self.fenced(cx, inside);
        }
        let rest = cx.bytes().get(self.searched..).unwrap_or_default();
        let line = match memchr::memchr(b'\n', rest) {
            Some(length) => self.searched + length,
            None if cx.eof => cx.text.len(),
            None => {
                self.searched = cx.text.len();
                return if self.too_long(cx, self.searched) { Look::No } else { Look::More };
            }
        };
        if self.too_long(cx, line) {
            return Look::No;
        }
        // The model stops in the line.
        let stopped = cx.without_tokens(self.start..line);
        if stopped.end < line {
            let text = unquoted(cx, stopped.clone());
            return if text.is_empty() { Look::No } else { Look::Is(Extent { text, end: stopped.end, cut: false }) };
        }
        let next = cx.skip_space(line);
        if next >= cx.text.len() && !cx.eof {
            // The line is not looked at before it is clear what follows it: white space may come in many chunks.
            return Look::More;
        }
        let text = unquoted(cx, self.start..line);
        if text.is_empty() {
            return Look::No;
        }
        if next >= cx.text.len() {
            let cut = is_open(cx.part(&text));
            return Look::Is(Extent { text, end: line, cut });
        }
        let over = Look::Is(Extent { text, end: line, cut: false });
        if memchr::memchr_iter(b'\n', cx.bytes().get(line..next).unwrap_or_default()).nth(1).is_some() {
            return over;
        }
        let ends = writer.origin.row(cx).map_or(Look::No, |row| text_ends(cx, row, next));
        ends.then(|()| over)
    }

    /// The text goes to the marker that closes the call: on a line of its own, or with nothing behind it in its line but
    /// another tag.
    fn closed(&mut self, cx: &Reader<'_>, closer: &str) -> Look<Extent> {
        let trimmed = |end: usize| {
            let text = cx.slice(self.start, end);
            self.start..self.start + text.trim_end().len()
        };
        while let Some(hit) = memchr::memmem::find(cx.rest(self.searched).as_bytes(), closer.as_bytes()) {
            let at = self.searched + hit;
            if self.too_long(cx, at) {
                return Look::No;
            }
            let behind = cx.bytes().get(at + closer.len()..).unwrap_or_default().iter().take(LONGEST_GAP);
            let open = cx.may_go_on(behind.len(), LONGEST_GAP);
            match behind.copied().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
                None if open && !cx.at_line_start(at) => {
                    self.searched = at;
                    return Look::More;
                }
                Some(byte) if !matches!(byte, b'\n' | b'<') && !cx.at_line_start(at) => {
                    self.searched = at + closer.len()
                }
                _ => return Look::Is(Extent { text: trimmed(at), end: at, cut: false }),
            }
        }
        if self.too_long(cx, self.certain(cx, closer)) {
            return Look::No;
        }
        if cx.eof {
            return Look::Is(Extent { text: trimmed(cx.text.len()), end: cx.text.len(), cut: true });
        }
        let kept = cx.text.len().saturating_sub(closer.len() - 1).max(self.searched);
        self.searched = floor(cx.text, kept);
        Look::More
    }

    fn fenced(&mut self, cx: &Reader<'_>, inside: usize) -> Look<Extent> {
        let bytes = cx.bytes();
        let from = self.searched.max(inside);
        let mut fences = memchr::memmem::find_iter(bytes.get(from..).unwrap_or_default(), FENCE.as_bytes());
        // Inside a line it is the text's, unless all stands in one.
        let one_line = |at: usize| memchr::memchr(b'\n', bytes.get(inside..at).unwrap_or_default()).is_none();
        let found = fences.find_map(|i| Some(from + i).filter(|at| cx.at_line_start(*at) || one_line(*at)));
        if found.is_none() && self.too_long(cx, self.certain(cx, FENCE)) {
            return Look::No;
        }
        if found.is_none() && !cx.eof {
            self.searched = floor(cx.text, cx.text.len().saturating_sub(FENCE.len() - 1).max(from));
            return Look::More;
        }
        let info = memchr::memchr(b'\n', bytes.get(inside..).unwrap_or_default()).map(|i| inside + i + 1);
        match (found, info) {
            (Some(close), _) if self.too_long(cx, close) => Look::No,
            (Some(close), Some(begin)) if begin <= close => {
                let end = close + FENCE.len();
                let text = cx.slice(begin, close);
                Look::Is(Extent { text: begin..begin + text.trim_end().len(), end, cut: false })
            }
            // All in one line there is no label.
            (Some(close), _) => Look::Is(Extent { text: inside..close, end: close + FENCE.len(), cut: false }),
            (None, Some(begin)) if cx.eof => {
                Look::Is(Extent { text: begin..cx.text.len(), end: cx.text.len(), cut: true })
            }
            (None, _) => Look::No,
        }
    }

    /// How far the text goes for certain: what closes it may have begun.
    fn certain(&self, cx: &Reader<'_>, closer: &str) -> usize {
        let begun = if cx.eof { 0 } else { begun(cx.rest(self.start), closer) };
        cx.text.len() - begun
    }

    fn too_long(&self, cx: &Reader<'_>, end: usize) -> bool {
        end - self.start > cx.policy.max_arguments_bytes
    }
}

/// What ends such a text in this row stands at `at`, where its line begins, or the text ends in the beginning of it: there the
/// model was stopped. So it was at a special token.
pub(super) fn text_ends(cx: &Reader<'_>, row: &Row, at: usize) -> Look<()> {
    if row.dialect.text_ends.is_empty() {
        return Look::No;
    }
    let rest = Some(cx.rest(at)).filter(|rest| rest.len() <= LONGEST_GAP).map_or("", str::trim_ascii_end);
    let looks = row.dialect.text_ends.iter().map(|stop| match head::label(cx, at, stop) {
        // One byte alone is no evidence. White space may be all that comes behind it.
        Look::No if rest.len() > 1 && stop.starts_with(rest) => {
            if cx.eof {
                Look::Is(())
            } else {
                Look::More
            }
        }
        look => look.unit(),
    });
    Look::any_of(looks).or(|| cx.special_token(at).unit())
}

/// What commas part in `text` fits the first parameters of the tool in their order, those behind the first being numbers and the like:
/// `Paris, 3`. Then it says as many arguments as one.
fn fits_several(tool: &Tool, text: &str) -> bool {
    let mut parts = text.split(',').map(str::trim_ascii).skip(1);
    let mut others = tool.ordered().iter().skip(1).map(|(_, expected)| *expected);
    let fits = |part: &str, expected: Expected| match part {
        "true" | "false" | "True" | "False" => expected.allows(Expected::BOOLEAN),
        _ => part.parse::<f64>().is_ok_and(f64::is_finite) && expected.allows(Expected::NUMBER),
    };
    let first = tool.ordered().first().is_some_and(|(name, _)| Some(&**name) == tool.only_parameter());
    first && text.contains(',') && parts.all(|part| others.next().is_some_and(|expected| fits(part, expected)))
}

/// `text` stands in quotes or backticks that nothing in it closes.
fn is_open(text: &str) -> bool {
    ['"', '`'].into_iter().any(|quote| text.strip_prefix(quote).is_some_and(|rest| !rest.contains(quote)))
}

/// The line that `rest` begins with says in a literal that there is no argument: it is none itself.
fn no_input(cx: &Reader<'_>, rest: &str) -> Look<()> {
    let near = rest.get(..floor(rest, LONGEST_GAP)).unwrap_or(rest);
    let (line, open) =
        near.split_once('\n').map_or((near, near.len() == rest.len() && !cx.eof), |(line, _)| (line, false));
    let word = line.trim_ascii_end();
    match ["None", "null"].into_iter().find(|none| none.starts_with(word)) {
        Some(_) if open && !word.is_empty() => Look::More,
        Some(none) if none == word => Look::Is(()),
        _ => Look::No,
    }
}

/// The text without white space and one pair of quotes round it.
fn unquoted(cx: &Reader<'_>, range: Range<usize>) -> Range<usize> {
    let text = cx.part(&range);
    let start = range.start + (text.len() - text.trim_start().len());
    let text = text.trim();
    let inner = ['"', '\'', '`'].into_iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    });
    match inner {
        Some(inner) => start + 1..start + 1 + inner.len(),
        None => start..start + text.len(),
    }
}
