//! Where strict reading fails: how far repair may read, and what it makes of it.
use super::placeholder;
use crate::dialect::{Element, Marker, MarkersAt};
use crate::engine::reader::floor;
use crate::engine::{Look, Reader};
use crate::json::{self, LiteralOptions, Pairs, PartialOptions, RepairOptions, Repaired};
use crate::turn::{Repair, RepairCode};

/// So much of the line behind a value is looked at.
const LINE: usize = 4096;

/// How far repair may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) at: usize,
    /// What stands there may be a part of the value.
    pub(super) doubtful: bool,
}

impl Bound {
    pub(super) const fn sure(at: usize) -> Self {
        Self { at, doubtful: false }
    }
}

/// `mended`, the beginning of `text`, stands in a list: a bracket after it that closes a list is that one's, and none too many.
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
        mended.repairs.truncate(index);
        if mended.exchanged.contains(&at) {
            // What it stood for was not there.
            mended.repairs.push(Repair::at(RepairCode::Bracket, at, "a missing closing bracket was added"));
        }
        mended.consumed = at;
    }
}

/// The first marker of what closes a call.
pub(super) fn closer(tail: &[Element]) -> Option<&str> {
    tail.iter().find_map(|e| match e {
        Element::Literal(text) | Element::Optional(text) => Some(&**text),
        _ => None,
    })
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
        let calls = |list: u32| {
            let markers = cx.dialects.markers.list(list);
            markers.iter().any(|marker| matches!(marker, Marker::Call { .. } | Marker::Section { .. }))
        };
        *from = line;
        match cx.dialects.markers.at(bytes, begin) {
            // A fence may stand in any text.
            _ if bytes.get(begin) == Some(&b'`') => *from = begin,
            MarkersAt::Some { ends, count, .. } if ends.iter().take(count).any(|(_, list)| calls(*list)) => {
                return Look::Is(line);
            }
            _ if begin >= bytes.len() && !cx.eof => return Look::More,
            MarkersAt::Partial | MarkersAt::Some { more: true, .. } if !cx.eof => return Look::More,
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
        mended.guessed |= placeholder::mended(text, &mended.repairs);
    }
    mended.map_err(place)
}

/// Repair of the value at `start`, up to `limit`, ends in a string that nothing closes.
pub(super) fn ends_in_string(cx: &Reader<'_>, start: usize, limit: usize) -> bool {
    repair(cx, start, limit).is_ok_and(|mended| mended.unended)
}

/// What stands behind a mended value is a part of it: it ended too early. Up to the marker that closes the call nothing but
/// signs and plain words are the text's; else what begins right behind the value goes on with it, and so does a line that
/// closes more brackets than it opens.
pub(super) fn goes_on(rest: &str, closed: bool) -> bool {
    if closed {
        return rest.contains(char::is_alphanumeric) && rest.contains(['"', '}', ']']);
    }
    let (mut braces, mut brackets) = (0, 0);
    let line = rest.bytes().take(LINE).take_while(|byte| *byte != b'\n');
    rest.trim_ascii_start().starts_with(['"', ',', ';', ':', '}', ']'])
        || line.into_iter().any(|byte| {
            match byte {
                b'{' => braces += 1,
                b'}' => braces -= 1,
                b'[' => brackets += 1,
                b']' => brackets -= 1,
                _ => {}
            }
            braces < 0 || brackets < 0
        })
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

pub(super) fn repair_text(text: &str, max_depth: usize) -> Option<Repaired<'_>> {
    mend(text, max_depth, &mut Pairs::default()).ok()
}

fn mend<'t>(text: &'t str, max_depth: usize, pairs: &mut Pairs) -> Result<Repaired<'t>, crate::Error> {
    json::repair_knowing(text, &RepairOptions { max_depth, join_values: false, search: false }, pairs)
}

/// What is certain of arguments that were cut off, as valid JSON.
pub(super) fn certain(text: &str) -> String {
    match json::parse_partial(text, &PartialOptions::default()) {
        Ok(partial) if partial.json.starts_with('{') => partial.json.into_owned(),
        _ => "{}".into(),
    }
}

/// What is certain of a list, an object or a string that was cut off, in Python's spelling or JSON's. `None` for what
/// may still become anything: a number, a word.
pub(super) fn certain_literal(text: &str) -> Option<String> {
    let text = text.trim_start();
    let quote = match text.as_bytes().first()? {
        b'{' | b'[' => {
            let partial = json::parse_partial(text, &PartialOptions::default()).ok()?;
            return partial.json.starts_with(['{', '[']).then(|| partial.json.into_owned());
        }
        b'"' => "\"",
        b'\'' => "'",
        _ => return None,
    };
    let quote = if text.starts_with(&quote.repeat(3)) { &quote.repeat(3) } else { quote };
    let half_escaped = |text: &str| (text.len() - text.trim_end_matches('\\').len()) % 2 == 1;
    let inner = text.get(quote.len()..)?;
    // A comma behind it, and a name behind that, are the next argument's, or the string's if more follows.
    let ended = inner.trim_end();
    let unnamed = ended.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').trim_end();
    let ended = unnamed.strip_suffix(',').map(str::trim_end).filter(|text| text.ends_with(quote)).unwrap_or(ended);
    let inner = match ended.strip_suffix(quote) {
        // Its closing quote is there, unless more follows and it was one inside.
        Some(closed) if !half_escaped(closed) => closed,
        // Half an escape says nothing yet.
        _ if half_escaped(inner) => inner.get(..inner.len() - 1)?,
        _ => inner,
    };
    let read = literal(&format!("{quote}{inner}{quote}"), 0);
    read.json.starts_with('"').then_some(read.json)
}

/// What was read of a literal.
#[derive(Debug)]
pub(super) struct Literal {
    pub(super) json: String,
    pub(super) repairs: Vec<Repair>,
    /// What a value in it was meant to be is a guess.
    pub(super) guessed: bool,
}

/// A Python or JSON literal as JSON text. What is no literal is kept as its source text, in a string.
pub(super) fn literal(text: &str, offset: usize) -> Literal {
    if text.trim().is_empty() {
        let repairs = vec![Repair::at(RepairCode::Literal, offset, "a missing value became null")];
        return Literal { json: "null".into(), repairs, guessed: false };
    }
    settled(text, whole_literal(text).unwrap_or_else(|| source_text(text)), offset)
}

/// As [`literal`], for one string: the search for its end has found that quotes which stand in it are a part of it.
pub(super) fn string(text: &str, offset: usize) -> Literal {
    let Some(read) = quotes_escaped(text).and_then(|escaped| whole_literal(&escaped)) else {
        return literal(text, offset);
    };
    let mut read = settled(text, read, offset);
    // The places are those of the text with its quotes escaped.
    read.repairs.iter_mut().filter(|r| r.code != RepairCode::Quotes).for_each(|r| r.offset = Some(offset));
    read
}

fn whole_literal(text: &str) -> Option<Literal> {
    let options = LiteralOptions { source_text: true, ..LiteralOptions::default() };
    let read = json::literal(text, 0, &options)?;
    // Of words, the last quote may close one of theirs.
    let bare = !text.starts_with(['"', '\'', '[', '{', '(']);
    let quoted = bare && read.repairs.iter().any(|repair| repair.code == RepairCode::SourceText) && pairs_quotes(text);
    let whole = text.get(read.end..)?.trim().is_empty() && !quoted;
    whole.then(|| Literal { json: read.json.into_owned(), repairs: read.repairs, guessed: read.guessed })
}

/// A quote stands in `text`, and another one ends it.
fn pairs_quotes(text: &str) -> bool {
    let last = text.chars().next_back().filter(|quote| matches!(quote, '"' | '\''));
    last.is_some_and(|quote| text.matches(quote).count() % 2 == 0)
}

fn source_text(text: &str) -> Literal {
    let mut json = String::new();
    json::push_string(&mut json, text);
    let repairs = vec![Repair::at(RepairCode::SourceText, 0, "a value that is no literal was kept as its text")];
    Literal { json, repairs, guessed: false }
}

/// What was read of `text`, which stands at `offset`, with the repairs that are some in Python as well.
fn settled(text: &str, mut read: Literal, offset: usize) -> Literal {
    let joined = read.repairs.iter().any(|repair| repair.code == RepairCode::Joined);
    // Python's spelling is what this dialect is: no repair.
    read.repairs.retain(|repair| !spelt_so_in_python(text, repair));
    if !joined && let Some(at) = inner_quote(text) {
        read.repairs.push(Repair::at(RepairCode::Quotes, at, "quotes inside the string are escaped now"));
    }
    for repair in &mut read.repairs {
        repair.offset = repair.offset.map(|at| at + offset);
    }
    read
}

/// What was mended in `text` is no slip in Python.
fn spelt_so_in_python(text: &str, repair: &Repair) -> bool {
    let (before, rest) = repair.offset.and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""));
    let tripled = |text: &str| text.starts_with("\"\"\"") || text.starts_with("'''");
    match repair.code {
        RepairCode::Escape | RepairCode::Joined => true,
        RepairCode::Quotes => {
            let string = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let prefixed = (1..=2).contains(&(rest.len() - string.len())) && string.starts_with('"');
            prefixed || string.starts_with('\'') || tripled(string) || tripled(text)
        }
        RepairCode::ControlCharacter => tripled(text),
        RepairCode::Literal => ["True", "False", "None", "(", "{"].iter().any(|word| rest.starts_with(word)),
        RepairCode::Comma => {
            let last = rest.strip_prefix(',').is_some_and(|rest| rest.trim_start().starts_with([')', ']', '}']));
            last && !before.trim_end().ends_with([',', '(', '[', '{'])
        }
        _ => false,
    }
}

/// Where a string that is all of `text` holds its own quote without a backslash.
fn inner_quote(text: &str) -> Option<usize> {
    let (quote, body) = quoted(text)?;
    own_quotes(body, quote).next().map(|at| at + 1)
}

/// The quote round `text`, and what stands in it.
fn quoted(text: &str) -> Option<(u8, &str)> {
    let quote = text.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let tripled = text.len() >= 6 && text.bytes().take(3).all(|byte| byte == quote);
    let body = text.get(1..text.len().checked_sub(1)?)?;
    (!tripled && text.bytes().last() == Some(quote)).then_some((quote, body))
}

/// Where `quote` stands in `body` without a backslash.
fn own_quotes(body: &str, quote: u8) -> impl Iterator<Item = usize> {
    let mut escaped = false;
    body.bytes().enumerate().filter_map(move |(at, byte)| {
        let own = byte == quote && !escaped;
        escaped = byte == b'\\' && !escaped;
        own.then_some(at)
    })
}

/// A string that is all of `text`, as the search for its end has found, with the quotes in it escaped.
fn quotes_escaped(text: &str) -> Option<String> {
    let (quote, body) = quoted(text)?;
    let escape = if quote == b'"' { "\\\"" } else { "\\x27" };
    let mut out = String::from(char::from(quote));
    let mut from = 0;
    for at in own_quotes(body, quote) {
        out.push_str(body.get(from..at)?);
        out.push_str(escape);
        from = at + 1;
    }
    out.push_str(body.get(from..)?);
    out.push(char::from(quote));
    (from > 0).then_some(out)
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
    let mended = repair_text(text, 128)?;
    let whole =
        mended.complete() && !mended.guessed && text.get(mended.consumed..).is_some_and(|rest| rest.trim().is_empty());
    (whole && mended.json.starts_with(['{', '['])).then(|| mended.json.into_owned())
}

/// The text can be a complete literal: quoted, bracketed, a number or a word of JSON or Python.
pub(super) fn looks_literal(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'"' | b'\'' | b'[' | b'{' | b'(') => true,
        Some(b'-' | b'+' | b'.' | b'0'..=b'9') => {
            text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'_'))
        }
        Some(_) => matches!(text, "True" | "False" | "None" | "true" | "false" | "null"),
        None => false,
    }
}

/// How much of the text up to `to` strict reading and repair will agree on: a quote at its end may turn out to stand
/// inside the string; a comma to be one too many, or to stand behind a string that lacks its closing quote.
pub(super) fn certain_end(cx: &Reader<'_>, from: usize, to: usize) -> usize {
    let text = cx.slice(from, to);
    let without = |text: &str, sign: u8| text.len() - usize::from(text.as_bytes().last() == Some(&sign));
    let mut end = text.len();
    for sign in [b'"', b',', b'"'] {
        let text = text.get(..end).unwrap_or_default();
        // Longer white space says that what stands before it is the end of a value.
        let spaces = text.bytes().rev().take(64).take_while(u8::is_ascii_whitespace).count();
        let text = text.get(..text.len() - spaces).unwrap_or_default();
        end = without(text, sign);
    }
    from + end
}
