//! Where strict reading fails: how far repair may read, and what it makes of it.
use super::{placeholder, remark};
use crate::dialect::{Element, MarkersAt, special};
use crate::engine::output::Output;
use crate::engine::reader::floor;
use crate::engine::{Look, Memo, Policy, Reader, misspelt};
use crate::json::{self, Balance, Ending, Pairs, RepairOptions, Repaired, ScanResult, Scanner};
use crate::schema::{Tool, ToolSet};
use crate::turn::{Repair, RepairCode};

/// So many bytes of the line behind a value are looked at.
pub(super) const LINE_BEHIND: usize = 4096;

/// How far repair may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) at: usize,
    pub(super) ends: Ends,
}

/// Whether what stands at a bound ends the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Surely,
    /// A marker that begins the next call, in a string that is open. If a closing bracket stands before it, the value is over and
    /// only lacks a quote. Otherwise the value was cut off, or the marker is part of the string.
    IfClosed,
    /// It may be a part of the value.
    Perhaps,
}

impl Bound {
    /// Repair may read up to `at`, and what stands there is no part of the value.
    pub(super) const fn sure(at: usize) -> Self {
        Self { at, ends: Ends::Surely }
    }

    /// What stands there does not surely end the value.
    pub(super) fn doubts(self, cx: &Reader<'_>) -> bool {
        match self.ends {
            Ends::Surely => false,
            Ends::IfClosed => !cx.slice(0, self.at).trim_ascii_end().ends_with(['}', ']']),
            Ends::Perhaps => true,
        }
    }
}

/// So many bytes of a value that is no JSON are read for its end, once too much was read in vain behind such values.
const NEAR: usize = 1024;

/// How far the text is read for the end of a value that is no JSON: to its end, or for [`NEAR`] bytes.
pub(super) struct Window {
    near: Option<(usize, Memo)>,
}

impl Window {
    /// For the value at `start`.
    pub(super) fn new(cx: &Reader<'_>, out: &Output, start: usize) -> Self {
        let near = Some(start.saturating_add(NEAR)).filter(|near| out.ahead.is_too_much() && *near < cx.text.len());
        Self { near: near.map(|near| (floor(cx.text, near), Memo::default())) }
    }

    /// The text up to the end of the window.
    pub(super) fn reader<'t>(&'t self, cx: &Reader<'t>) -> Reader<'t> {
        match &self.near {
            Some((near, memo)) => cx.up_to_with(*near, memo),
            None => *cx,
        }
    }

    /// `bound`, found in the window, as one of the whole text: where only the window ends, the value need not.
    pub(super) fn bound(&self, bound: Bound) -> Bound {
        let is_end = self.near.as_ref().is_some_and(|(near, _)| *near == bound.at);
        let ends = if is_end { Ends::Perhaps } else { bound.ends };
        Bound { ends, ..bound }
    }
}

/// `mended`, which was read from the beginning of `text`, stands in a list. A closing bracket behind it closes that list, and is not
/// one too many.
pub(super) fn leave_list(mended: &mut Repaired<'_>, text: &str) {
    let bytes = text.as_bytes();
    let after_value = |from: usize, to: usize| {
        let rest = bytes.get(from..to).unwrap_or_default();
        rest.iter().all(|b| b.is_ascii_whitespace() || matches!(b, b'}' | b']'))
    };
    let (mut found, mut next) = (None, usize::MAX);
    for (index, repair) in mended.repairs.iter().enumerate().rev() {
        match repair.offset {
            Some(at) if repair.code == RepairCode::Bracket && at < next && after_value(at, mended.consumed) => {
                if bytes.get(at) == Some(&b']') {
                    found = Some((index, at));
                }
                next = at;
            }
            _ => break,
        }
    }
    if let Some((index, at)) = found {
        // What it stood for was not there, or what closes the value was added behind it.
        let known = mended.added.partition_point(|added| *added < index);
        let missing = mended.exchanged.contains(&at) || known < mended.added.len();
        mended.added.truncate(known);
        mended.repairs.truncate(index);
        if missing {
            mended.added.push(index);
            mended.repairs.push(Repair::at(RepairCode::Bracket, at, json::MISSING));
        }
        mended.consumed = at;
    }
}

/// The first marker of what closes a call. A mere sign that may stand before it is none: strings have it as well.
pub(super) fn closer(tail: &[Element]) -> Option<&str> {
    tail.iter().enumerate().find_map(|(i, element)| match element {
        Element::Optional(text) if text.len() == 1 && i + 1 < tail.len() => None,
        _ => element.text(),
    })
}

/// Where what closes a call begins, whose first marker stands at `at`: before the sign that may stand there.
pub(super) fn with_sign(cx: &Reader<'_>, tail: &[Element], at: usize) -> usize {
    let sign = |element: &Element| match element {
        Element::Optional(text) if text.len() == 1 => cx.slice(0, at).ends_with(&**text),
        _ => false,
    };
    let signs = tail.split_last().is_some_and(|(_, before)| before.iter().any(sign));
    at - usize::from(signs)
}

/// The first line at or after `from` that closes the fence, or the end of the text. The search goes on at `from`, next time.
pub(super) fn fence(cx: &Reader<'_>, fence: &'static str, from: &mut usize) -> Look<usize> {
    let found = cx.find_fence(fence, *from);
    if found.is_none() && !cx.eof {
        // It may begin at the end.
        *from = floor(cx.text, cx.text.len().saturating_sub(fence.len()).max(*from)).max(*from);
        return Look::More;
    }
    Look::Is(found.unwrap_or(cx.text.len()))
}

/// The end of the line at or after `from` behind which one begins with the marker of a call, or the end of the text. The
/// search goes on at `from`, next time.
pub(super) fn next_marker(cx: &Reader<'_>, from: &mut usize) -> Look<usize> {
    // One object behind the other asks.
    let known = cx.memo.unmarked.get();
    if let Some(at) = known.known(*from) {
        return Look::Is(at);
    }
    let since = *from;
    let limit = line_before_marker(cx, from);
    if let Look::Is(at) = limit {
        cx.memo.unmarked.set(known.and(since, at));
    }
    limit
}

fn line_before_marker(cx: &Reader<'_>, from: &mut usize) -> Look<usize> {
    let bytes = cx.bytes();
    while let Some(line) = memchr::memchr(b'\n', bytes.get(*from..).unwrap_or_default()).map(|i| *from + i) {
        let begin = cx.skip_space(line);
        let calls = |list: u32| cx.dialects.markers.opens_calls(list);
        *from = line;
        match cx.dialects.markers.at(bytes, begin) {
            // A fence may stand in any text.
            _ if bytes.get(begin) == Some(&b'`') => *from = begin,
            MarkersAt::Some { ends, count, .. } if ends.iter().take(count).any(|(_, list)| calls(*list)) => {
                return Look::Is(line);
            }
            _ if begin >= bytes.len() && !cx.eof => return Look::More,
            MarkersAt::Partial(_) | MarkersAt::Some { more: true, .. } if !cx.eof => return Look::More,
            _ => *from = begin.max(line + 1),
        }
    }
    if cx.eof {
        return Look::Is(bytes.len());
    }
    *from = bytes.len();
    Look::More
}

/// Repairs the value that begins at `start`, reading no further than `limit`. `Err`: how far it was read, if it is nested
/// too deep, or `start`.
pub(super) fn repair<'t>(cx: &Reader<'t>, start: usize, limit: usize) -> Result<Repaired<'t>, usize> {
    let place = |error: crate::Error| start + error.place.parse().unwrap_or(0);
    let mut pairs = cx.memo.pairs.take().based(start);
    let text = cx.slice(start, limit);
    let mut mended = mend(text, cx.policy.max_depth, &mut pairs);
    cx.memo.pairs.set(pairs);
    if let Ok(mended) = &mut mended {
        mended.guessed = doubts(text, mended, cx.tools.map_or(&[], ToolSet::tools))
            || remark::fills_value(cx, text, mended)
            || stutters(text, &mended.repairs)
            || opens_behind_break(text, &mended.repairs)
            || breaks_off(cx, text.get(..mended.consumed).unwrap_or(text), &mended.repairs);
        if limit < cx.text.len() && mended.ending == Ending::Cut && !mended.unended {
            note_last_comma(text, mended);
        }
    }
    mended.map_err(place)
}

/// The comma at the end of `text`, which is `mended`, was removed: something else than the rest of the value stands behind it.
fn note_last_comma(text: &str, mended: &mut Repaired<'_>) {
    let Some(before) = text.trim_ascii_end().strip_suffix(',') else { return };
    let behind = |repair: &Repair| repair.offset.is_some_and(|at| at >= before.len());
    let index = mended.repairs.iter().position(behind).unwrap_or(mended.repairs.len());
    let comma = Repair::at(RepairCode::Comma, before.len(), "a comma too many was removed");
    mended.repairs.insert(index, comma);
    mended.added.iter_mut().filter(|added| **added >= index).for_each(|added| *added += 1);
}

/// What `text`, as it is `mended`, was meant to be is a guess, or a word in it stands for a value and is none, for one of the `tools`.
pub(super) fn doubts(text: &str, mended: &Repaired<'_>, tools: &[Tool]) -> bool {
    mended.guessed || placeholder::mended(text, &mended.repairs, |word| tools.iter().any(|tool| tool.lists(word)))
}

/// What is `mended`, which begins at `start`, has its quotes escaped, so that repair took all up to the end of the text for the inside
/// of a string. By its brackets, it is `closed` before that: it alone.
pub(super) fn escaped_alone<'t>(
    cx: &Reader<'t>,
    start: usize,
    closed: Option<usize>,
    mended: &Repaired<'_>,
) -> Option<Repaired<'t>> {
    let closed = closed.filter(|closed| *closed < start + mended.consumed)?;
    let escaped = |repairs: &[Repair]| repairs.iter().any(|repair| repair.code == RepairCode::DoubleEncoded);
    let alone = escaped(&mended.repairs).then(|| repair(cx, start, closed))?.ok()?;
    (escaped(&alone.repairs) && alone.complete() && start + alone.consumed == closed).then_some(alone)
}

/// A value in `text` begins as the object that it is a member of: `{"path": "{"path": "a"}}`. That was begun twice, and the value
/// is no text.
fn stutters(text: &str, repairs: &[Repair]) -> bool {
    let key = |before: &str| -> Option<String> {
        let before = before.trim_ascii_end().strip_suffix('{')?.trim_ascii_end().strip_suffix('"')?.trim_ascii_end();
        let before = before.strip_suffix(':')?.trim_ascii_end().strip_suffix('"')?;
        Some(format!("\"{}\"", before.rsplit('"').next()?))
    };
    let quotes = repairs.iter().filter(|repair| repair.code == RepairCode::Quotes);
    let mut places = quotes.filter_map(|repair| text.split_at_checked(repair.offset?));
    places.any(|(before, behind)| key(before).is_some_and(|key| behind.starts_with(&key)))
}

/// A value of `text` begins with a line break that is written out, and then a string that nothing closes: its mark is likelier the
/// last one of the value, which lacks its first.
fn opens_behind_break(text: &str, repairs: &[Repair]) -> bool {
    let unclosed = repairs.iter().filter(|repair| repair.code == RepairCode::UnclosedString);
    let mut places = unclosed.filter_map(|repair| text.get(..repair.offset?));
    places.any(|before| {
        let value = before.trim_end_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '\\' | 'n' | 'r' | 't'));
        value.ends_with(':') && before.get(value.len()..).is_some_and(|white| white.contains('\\'))
    })
}

/// The last string of `text`, whose end was missing, ends in a token with which a model ends what it says or thinks: it was cut
/// off there.
fn breaks_off(cx: &Reader<'_>, text: &str, repairs: &[Repair]) -> bool {
    let Some(open) = repairs.iter().rev().find(|repair| repair.code == RepairCode::UnclosedString) else {
        return false;
    };
    let string = open.offset.and_then(|at| text.get(at..)).unwrap_or_default();
    let string = string.trim_end_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '}' | ']' | ',' | '"'));
    let token = string.rfind('<').and_then(|at| string.get(at..)).unwrap_or_default();
    let reasoning = || cx.dialects.reasoning_ends.iter().any(|end| end.needle() == token.as_bytes());
    token.ends_with('>') && token.len() <= misspelt::LONGEST_TAG && (special(token) || reasoning())
}

/// Where lines of words begin behind the value that is `mended`, which only lacks its closing brackets: they go to the end of
/// `text`, and no part of it is in them.
pub(super) fn prose_behind(mended: &Repaired<'_>, text: &str) -> Option<usize> {
    let [.., words, closed] = mended.repairs.as_slice() else { return prose_behind_line(text) };
    let left_out = words.code == RepairCode::Surroundings && closed.offset == Some(text.len());
    let left_out = words.offset.filter(|_| left_out && mended.ending == Ending::Unclosed);
    let Some(at) = left_out else { return prose_behind_line(text) };
    let line = text.get(..at)?.trim_end_matches([' ', '\t']).ends_with('\n');
    line.then_some(at)
}

/// As [`prose_behind`], where repair took the words for members or for a part of the last string: the value is JSON up to the end of
/// a line, and no member stands in the next one.
fn prose_behind_line(text: &str) -> Option<usize> {
    let ScanResult::Error { at, .. } = Scanner::new(0, usize::MAX).scan(text.as_bytes(), true) else { return None };
    let (value, words) = text.split_at_checked(at)?;
    let last = value.trim_ascii_end();
    let over = last.trim_end_matches(',').ends_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '}' | ']'));
    let line = value.get(last.len()..)?.contains('\n') && over;
    (line && is_prose(words)).then_some(at)
}

/// What stands in a line of its own behind a call that is not closed, up to the end of the text, is prose: words, no member, and
/// nothing that could be a program or calls, which would run as text.
pub(super) fn is_prose(words: &str) -> bool {
    let word = words.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let says = word.len() < words.len() && !word.trim_ascii_start().starts_with([':', '=']);
    says && !words.contains(['{', '[', '(', '<'])
}

/// A mended value ended too early: what stands `behind` it is a part of it. Up to the marker that closes the call (`closed`),
/// that is whatever is more than signs and plain words. Where no marker bounds it, it is what begins right behind the value, or
/// a line that closes more brackets than it opens.
pub(super) fn ended_early(behind: &str, closed: bool) -> bool {
    if closed {
        return json::goes_on(behind);
    }
    // A sign that parts statements or items, or a bracket too many, is nothing of a value's if that is all.
    if is_quoted_line(behind) || matches!(behind.trim_ascii(), ";" | "," | "]") {
        return false;
    }
    let mut balance = Balance::default();
    let near = behind.as_bytes().get(..LINE_BEHIND).unwrap_or(behind.as_bytes());
    let line = near.get(..memchr::memchr(b'\n', near).unwrap_or(near.len())).unwrap_or_default();
    let mut brackets = line.iter().copied().filter(|byte| matches!(byte, b'{' | b'}' | b'[' | b']'));
    behind.trim_ascii_start().starts_with(['"', ',', ';', ':', '}', ']'])
        || brackets.any(|byte| {
            balance.read(byte);
            balance.closes_more()
        })
}

/// On a line of its own `behind` a value stands something in quotes, and words behind it: text that begins with a quote, and no tail
/// of the value. As such, its quotes come in pairs, and nothing near it closes a bracket that was not opened there.
fn is_quoted_line(behind: &str) -> bool {
    let text = behind.trim_ascii_start();
    if !behind.get(..behind.len() - text.len()).is_some_and(|blank| blank.contains('\n')) {
        return false;
    }
    let near = text.get(..floor(text, LINE_BEHIND)).unwrap_or_default();
    let line = near.lines().next().unwrap_or_default();
    let Some((said, words)) = line.strip_prefix('"').and_then(|line| line.split_once('"')) else { return false };
    let says = |text: &str| text.starts_with(char::is_alphanumeric);
    let paired = line.bytes().filter(|byte| *byte == b'"').count() % 2 == 0 && !line.contains('\\');
    // The value's own brackets may stand in a later line.
    let mut balance = Balance::default();
    let closes = near.bytes().any(|byte| {
        balance.read(byte);
        balance.closes_more()
    });
    says(said) && words.starts_with(' ') && says(words.trim_ascii_start()) && paired && !closes
}

/// Where the value at `start` ends that is nested too deep to be read: its brackets are counted.
pub(super) fn too_deep_end(cx: &Reader<'_>, start: usize, limit: usize) -> Option<usize> {
    let bytes = cx.bytes().get(..limit)?;
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return Some(at),
            b'}' | b']' => depth -= 1,
            b'"' => loop {
                at = json::find_special(bytes, at) + 1;
                match bytes.get(at - 1)? {
                    b'"' => break,
                    b'\\' => at += 1,
                    _ => {}
                }
            },
            _ => {}
        }
    }
    None
}

/// `text` as repair reads it, which stands for itself. `None`: it is nested too deep.
pub(super) fn repair_text(text: &str, max_depth: usize) -> Option<Repaired<'_>> {
    mend(text, max_depth, &mut Pairs::default()).ok()
}

fn mend<'t>(text: &'t str, max_depth: usize, pairs: &mut Pairs) -> Result<Repaired<'t>, crate::Error> {
    json::repair_knowing(text, &RepairOptions { max_depth, join_values: false, search: false }, pairs)
}

/// What is certain of arguments that were cut off, as valid JSON.
pub(super) fn certain(text: &str) -> String {
    match json::parse_cut(text) {
        Ok(partial) if partial.json.starts_with('{') => partial.json.into_owned(),
        _ => "{}".into(),
    }
}

/// An object or list that is not quite JSON, as JSON.
pub(super) fn container(text: &str) -> Option<String> {
    // Quotes escaped as if the value stood in a string: it once did.
    if text.contains("\\\"")
        && let Ok(inner) = serde_json::from_str::<String>(&format!("\"{text}\""))
        && serde_json::from_str::<serde::de::IgnoredAny>(&inner).is_ok()
    {
        return Some(inner);
    }
    let mended = repair_text(text, Policy::MAX_DEPTH)?;
    let whole =
        mended.complete() && !mended.guessed && text.get(mended.consumed..).is_some_and(|rest| rest.trim().is_empty());
    (whole && mended.json.starts_with(['{', '['])).then(|| mended.json.into_owned())
}

/// How much of the text up to `to` strict reading and repair will agree on: a quote at its end may turn out to stand
/// inside the string; a comma to be one too many, or to stand behind a string that lacks its closing quote.
pub(super) fn certain_end(cx: &Reader<'_>, from: usize, to: usize) -> usize {
    let mut certain = cx.bytes().get(from..to).unwrap_or_default();
    // A mark of another kind may stand for the string's own.
    for signs in [&b"\""[..], b",", b"\"'`"] {
        // Longer white space says that what stands before it is the end of a value.
        let (far, near) = certain.split_at(certain.len().saturating_sub(64));
        certain = certain.get(..far.len() + near.trim_ascii_end().len()).unwrap_or_default();
        if let Some((last, before)) = certain.split_last()
            && signs.contains(last)
        {
            certain = before;
        }
    }
    from + certain.len()
}
