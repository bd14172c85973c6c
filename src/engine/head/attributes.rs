//! The attributes of a tag.
use super::Head;
use crate::bytes::{begins, find};
use crate::char_class;
use crate::dialect::Slot;
use crate::engine::look::told;
use crate::engine::reader::{begun, floor};
use crate::engine::{Look, Reader};
use std::ops::Range;

/// The value of an attribute.
#[derive(Debug)]
struct Value {
    /// Where it stands, without its quotes.
    inside: Range<usize>,
    /// Where what is behind it begins.
    end: usize,
    /// One of its quotes is missing or stands twice.
    misquoted: bool,
}

/// Attributes up to `until`: `name="f" string='true' index=1`. None ends behind `limit`. Where `until` is missing, they end behind
/// the last one that `list` has.
#[inline(never)]
pub(super) fn attributes(
    cx: &Reader<'_>,
    head: &mut Head,
    list: &[(Box<str>, Slot)],
    until: &str,
    limit: usize,
) -> Look<()> {
    let mut known = None;
    match closed(cx, head, list, until, limit, &mut known) {
        Look::No => known.map_or(Look::No, |end| unclosed(cx, head, end, until, limit)),
        look => look,
    }
}

/// A plain name in quotes is the value of the first attribute that `list` has, nothing stands before that, and `until` right
/// behind it.
#[inline]
pub(super) fn plain(
    cx: &Reader<'_>,
    at: usize,
    list: &[(Box<str>, Slot)],
    until: &str,
    limit: usize,
) -> Option<(Slot, Range<usize>)> {
    let (name, slot) = list.first().filter(|(_, slot)| matches!(slot, Slot::Name | Slot::Key))?;
    let at = cx.skip_space(at);
    let equals = at + name.len();
    let start = equals + 2;
    let bytes = cx.bytes().get(..limit).unwrap_or(cx.bytes());
    if !begins(bytes.get(at..)?, name.as_bytes()) || !begins(bytes.get(equals..)?, b"=\"") {
        return None;
    }
    let end = start + bytes.get(start..)?.iter().position(|byte| !char_class::NAME.has_ascii(*byte))?;
    let closes = bytes.get(end) == Some(&b'"') && begins(cx.bytes().get(end + 1..)?, until.as_bytes());
    (closes && end > start).then_some((*slot, start..end))
}

/// Attributes that end at `end`, behind which another tag begins before `until` stands there. A longer one than a sign may stand
/// there misspelt.
#[cold]
fn unclosed(cx: &Reader<'_>, head: &mut Head, end: usize, until: &str, limit: usize) -> Look<()> {
    let near = floor(cx.text, limit.saturating_add(until.len()));
    let behind = cx.bytes().get(end..near).unwrap_or_default();
    let [sign] = until.as_bytes() else { return Look::No };
    match memchr::memchr2(b'<', *sign, behind) {
        Some(next) if behind.get(next) == Some(&b'<') => {
            // What seemed to be an attribute behind it is text.
            head.stray.take_if(|stray| stray.start >= end);
            (head.end, head.unclosed) = (end, true);
            Look::Is(())
        }
        None if !cx.eof && near == cx.text.len() => Look::More,
        _ => Look::No,
    }
}

/// As [`attributes`], with `until` behind them. The last one that `list` has ends at `known`, once the name or key is filled.
fn closed(
    cx: &Reader<'_>,
    head: &mut Head,
    list: &[(Box<str>, Slot)],
    until: &str,
    limit: usize,
    known: &mut Option<usize>,
) -> Look<()> {
    // What shows the end of one may stand behind it.
    let near = floor(cx.text, limit.saturating_add(until.len()));
    let bytes = cx.bytes().get(..near).unwrap_or_default();
    let ended = cx.eof && near == cx.text.len();
    let more = |at: usize| if cx.eof || at > limit || near < cx.text.len() { Look::No } else { Look::More };
    let mut at = head.end;
    let mut filled = false;
    loop {
        at = cx.skip_space(at);
        if told!(cx.literal(at, until)).is_some() {
            break;
        }
        if bytes.get(at) == Some(&b'/') {
            match cx.literal(at + 1, until) {
                Look::Is(_) => {
                    head.closed = true;
                    at += 1;
                    break;
                }
                Look::More => return Look::More,
                Look::No => return Look::No,
            }
        }
        let start = at;
        at += char_class::ATTRIBUTE.length(bytes.get(at..).unwrap_or_default());
        let key = cx.slice(start, at);
        if at >= bytes.len() {
            return more(at);
        }
        if key.is_empty() {
            return Look::No;
        }
        at = cx.skip_space(at);
        if at >= bytes.len() {
            return more(at);
        }
        if bytes.get(at) != Some(&b'=') {
            return Look::No;
        }
        at = cx.skip_space(at + 1);
        let value = match value(cx.slice(0, near), at, until, ended) {
            Look::Is(value) => value,
            Look::More => return more(at),
            Look::No => return Look::No,
        };
        at = value.end;
        head.misquoted |= value.misquoted;
        if at > limit {
            return Look::No;
        }
        if let Some((_, slot)) = list.iter().find(|(name, _)| **name == *key) {
            if matches!(slot, Slot::Name | Slot::Key) {
                filled = !value.inside.is_empty();
            }
            head.set(*slot, value.inside);
            *known = filled.then_some(at);
        } else {
            head.stray.get_or_insert(start..at).end = at;
        }
    }
    let needed = list.iter().any(|(_, slot)| matches!(slot, Slot::Name | Slot::Key));
    if needed && !filled {
        return Look::No;
    }
    head.end = at;
    Look::Is(())
}

/// The value of an attribute that begins at `at`, in quotes or without, up to white space or `until`. `More`: it does not
/// end in `text`, which may have `ended`.
fn value(text: &str, at: usize, until: &str, ended: bool) -> Look<Value> {
    let rest = text.get(at..).unwrap_or_default();
    match rest.as_bytes() {
        [] => Look::More,
        [quote @ (b'"' | b'\''), ..] => quoted(text, at, *quote, until, ended),
        [0xe2, ..] => curly(rest, at, until).unwrap_or_else(|| bare(rest, at, until)),
        _ => bare(rest, at, until),
    }
}

/// Quotes as text editors make them of plain ones.
const CURLY: [char; 4] = ['“', '”', '‘', '’'];

/// A value in curly quotes, which `rest` begins with.
#[cold]
fn curly(rest: &str, at: usize, until: &str) -> Option<Look<Value>> {
    let inner = rest.strip_prefix(CURLY)?;
    let start = at + rest.len() - inner.len();
    // No tag ends, or begins, before the quote that closes it.
    let Some(length) = inner.find(|c| CURLY.contains(&c) || matches!(c, '<' | '\n')) else {
        return find(inner.as_bytes(), until.as_bytes()).is_none().then_some(Look::More);
    };
    let (value, behind) = inner.split_at_checked(length)?;
    let end = at + rest.len() - behind.strip_prefix(CURLY)?.len();
    let inside = start..start + length;
    find(value.as_bytes(), until.as_bytes()).is_none().then_some(Look::Is(Value { inside, end, misquoted: true }))
}

/// A value without quotes, which `rest` begins with. One may stand at its end.
fn bare(rest: &str, at: usize, until: &str) -> Look<Value> {
    let space = rest.find(|c: char| c.is_ascii_whitespace());
    let word = rest.get(..space.unwrap_or(rest.len())).unwrap_or_default();
    let end = find(word.as_bytes(), until.as_bytes());
    // Its last bytes may be a part of `until`. Without quotes no tag begins before that.
    let cut = if end.or(space).is_none() { begun(word, until) } else { 0 };
    if word.get(..end.unwrap_or(word.len() - cut)).is_some_and(|value| value.contains('<')) {
        return Look::No;
    }
    let Some(length) = end.or(space) else { return Look::More };
    let written = word.get(..length).unwrap_or_default();
    let inside = written.trim_end_matches(['"', '\'']).len();
    Look::Is(Value { inside: at..at + inside, end: at + length, misquoted: inside < length })
}

/// A value behind the `quote` at `at`, which is to stand behind it as well.
#[inline]
fn quoted(text: &str, at: usize, quote: u8, until: &str, ended: bool) -> Look<Value> {
    let (bytes, start) = (text.as_bytes(), at + 1);
    let closing = memchr::memchr(quote, bytes.get(start..).unwrap_or_default()).map(|length| start + length);
    // Mostly what is behind it can only stand there: white space, or the end of the tag, which the value has none of.
    if let (Some(closing), Some(first)) = (closing, until.as_bytes().first()) {
        let goes_on = |byte: &u8| byte == first || *byte == b'/' || byte.is_ascii_whitespace();
        let value = bytes.get(start..closing).unwrap_or_default();
        if bytes.get(closing + 1).is_some_and(goes_on) && !value.is_empty() && !value.contains(first) {
            return Look::Is(Value { inside: start..closing, end: closing + 1, misquoted: false });
        }
    }
    odd(text, at, quote, until, ended, closing)
}

/// As [`quoted`]: perhaps the quote behind the value, which is to stand at `closing`, is another's, or both stand twice.
#[cold]
fn odd(text: &str, at: usize, quote: u8, until: &str, ended: bool, closing: Option<usize>) -> Look<Value> {
    let (bytes, start) = (text.as_bytes(), at + 1);
    let is_quote = |at: usize| bytes.get(at) == Some(&quote);
    let over = |end: usize| match bytes.get(end) {
        None => Look::More,
        Some(byte) if byte.is_ascii_whitespace() || *byte == b'/' => Look::Is(()),
        Some(_) => {
            let rest = text.get(end..).unwrap_or_default();
            let begins = rest.starts_with(until) || (rest.len() < until.len() && until.starts_with(rest));
            Look::when(begins)
        }
    };
    // The tag may end before the next quote, which is another's then.
    let upto = closing.unwrap_or(text.len());
    if let Some(length) = find(bytes.get(start..upto).unwrap_or_default(), until.as_bytes()) {
        let value = text.get(start..start + length).unwrap_or_default();
        let behind = text.get(start + length..upto).unwrap_or_default();
        let named = !value.trim().is_empty() && !value.contains(['<', '\n']);
        let another = behind.contains(['<', '\n']) || closing.is_some_and(|closing| over(closing + 1) == Look::No);
        if named && (another || (closing.is_none() && ended)) {
            let inside = value.trim_end_matches(['"', '\'']).len();
            return Look::Is(Value { inside: start..start + inside, end: start + length, misquoted: true });
        }
    }
    let Some(closing) = closing else { return Look::More };
    let end = closing + 1;
    match over(end) {
        Look::More if !ended => return Look::More,
        Look::No if closing == start && !is_quote(end) => {
            // Two before it.
            let inner = quoted(text, closing, quote, until, ended);
            return inner.map(|value| Value { misquoted: true, ..value });
        }
        Look::No if is_quote(end) => return Look::Is(Value { inside: start..closing, end: end + 1, misquoted: true }),
        _ => {}
    }
    Look::Is(Value { inside: start..closing, end, misquoted: false })
}
