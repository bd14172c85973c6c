//! Reading, writing and comparing JSON strings.
use super::block::{BLOCK, find_special, quote_or_backslash};
use super::scan::{Kind, Member, Stop, scan_unicode};
use crate::bytes::find_near;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// Appends the text of a JSON string to `out`, its escapes undone. `from` is the place behind the opening quote.
///
/// Returns the place of the closing quote, or the end of `json` if none comes. `None` for an escape that JSON does not
/// know; raw control characters pass.
pub(crate) fn read_string(json: &[u8], from: usize, out: &mut Vec<u8>) -> Option<usize> {
    let mut at = from;
    loop {
        // Whole blocks are copied before it is known how much of them counts: a copy of a fixed length is one store.
        while let Some(block) = json.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
            out.extend_from_slice(block);
            let Some(hit) = quote_or_backslash(block) else {
                at += BLOCK;
                continue;
            };
            out.truncate(out.len() - BLOCK + hit);
            at += hit;
            break;
        }
        match json.get(at) {
            None | Some(b'"') => return Some(at.min(json.len())),
            Some(b'\\') => at = read_escape(json, at, out)?,
            // The last bytes of the text, less than a block.
            Some(byte) => {
                out.push(*byte);
                at += 1;
            }
        }
    }
}

/// Appends what the escape at `at` stands for, and returns the place behind it.
#[inline(always)]
fn read_escape(json: &[u8], at: usize, out: &mut Vec<u8>) -> Option<usize> {
    let byte = match json.get(at + 1)? {
        byte @ (b'"' | b'\\' | b'/') => *byte,
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 0x08,
        b'f' => 0x0c,
        b'u' => {
            let Stop::End(end) = scan_unicode(json, at) else { return None };
            let escape = std::str::from_utf8(json.get(at..end)?).ok()?;
            let units = escape.split("\\u").skip(1).filter_map(|unit| u16::from_str_radix(unit, 16).ok());
            for unit in char::decode_utf16(units) {
                out.extend_from_slice(unit.ok()?.encode_utf8(&mut [0; 4]).as_bytes());
            }
            return Some(end);
        }
        _ => return None,
    };
    out.push(byte);
    Some(at + 2)
}

/// The body of a JSON string, without its quotes, with its escapes undone; as it stands if it is not valid.
pub(crate) fn unescaped(body: &str) -> Cow<'_, str> {
    if find_near(b'\\', body.as_bytes()).is_none() {
        return Cow::Borrowed(body);
    }
    let mut text = Vec::with_capacity(body.len());
    match read_string(body.as_bytes(), 0, &mut text) {
        Some(end) if end == body.len() => String::from_utf8(text).map_or(Cow::Borrowed(body), Cow::Owned),
        _ => Cow::Borrowed(body),
    }
}

/// Appends `text` as a JSON string, quotes included. Only what JSON demands is escaped.
pub fn push_string(out: &mut String, text: &str) {
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

/// Appends `text` escaped for the inside of a JSON string.
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(text.len() + text.len() / 16);
    let mut from = 0;
    loop {
        let at = find_special(bytes, from);
        let Some(&byte) = bytes.get(at) else { break };
        out.push_str(text.get(from..at).unwrap_or_default());
        push_escape(out, byte);
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
}

/// Appends the escape of a byte that cannot stand raw in a JSON string.
pub(super) fn push_escape(out: &mut String, byte: u8) {
    // An arm each, so that every append is of a length the compiler knows.
    match byte {
        b'\n' => out.push_str("\\n"),
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        b'\t' => out.push_str("\\t"),
        b'\r' => out.push_str("\\r"),
        0x08 => out.push_str("\\b"),
        0x0c => out.push_str("\\f"),
        other => {
            out.push_str("\\u00");
            out.push(hex_digit(other >> 4));
            out.push(hex_digit(other & 15));
        }
    }
}

fn hex_digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).unwrap_or('0')
}

/// The byte offset of the first key that an earlier member has too.
pub(super) fn first_duplicate(text: &str, members: &[Member]) -> Option<usize> {
    /// Below this, comparing each with each is cheaper than a hash set.
    const FEW: usize = 12;
    let raw = |member: &Member| text.as_bytes().get(member.key.clone()).unwrap_or_default();
    if members.len() <= FEW && !members.iter().any(|member| raw(member).contains(&b'\\')) {
        let same = |one: &Member, other: &Member| one.key.len() == other.key.len() && raw(one) == raw(other);
        let earlier = |i: usize, m: &Member| members.iter().take(i).any(|other| same(other, m));
        return members.iter().enumerate().find(|(i, member)| earlier(*i, member)).map(|(_, m)| m.key.start);
    }
    let key = |member: &Member| unescaped(text.get(member.key.clone()).unwrap_or_default());
    let mut seen = HashSet::with_capacity(members.len());
    members.iter().find(|member| !seen.insert(key(member))).map(|member| member.key.start)
}

/// An object that has a key twice, or has one in it that does, with each key once: the last value counts. With it, where in
/// `text` the first key stands that an earlier one of its own is as well. Its `members` are those of `text`, of which it is a part.
pub(crate) fn keys_once(text: &str, members: &[Member], object: &str) -> Option<(Option<usize>, String)> {
    let at = if members.len() < 2 { None } else { first_duplicate(text, members) };
    let nested = |member: &Member| {
        // Most arguments have no object in them, and what looks like one in a string is none.
        let value = member.value().filter(|_| matches!(member.kind, Kind::Object | Kind::Array));
        value.and_then(|value| text.get(value)).is_some_and(has_duplicate)
    };
    let holds = || if members.is_empty() { has_duplicate(object) } else { members.iter().any(nested) };
    if at.is_none() && !holds() {
        return None;
    }
    let object: Map<String, Value> = serde_json::from_str(object).ok()?;
    Some((at, Value::Object(object).to_string()))
}

/// Whether the valid `json`, a list or an object, is or holds an object that has a key twice. Linear but for the sorting of keys.
fn has_duplicate(json: &str) -> bool {
    let bytes = json.as_bytes();
    if memchr::memchr(b'{', bytes).is_none() {
        return false;
    }
    // The keys of all objects that are open, and where those of each begin.
    let (mut keys, mut open): (Vec<Cow<'_, str>>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(next) = memchr::memchr3(b'"', b'{', b'}', bytes.get(at..).unwrap_or_default()) {
        let from = at + next;
        at = from + 1;
        match bytes.get(from) {
            Some(b'{') => open.push(keys.len()),
            Some(b'}') => {
                let first = open.pop().unwrap_or_default();
                let own = keys.get_mut(first..).unwrap_or_default();
                own.sort_unstable();
                if own.windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
                    return true;
                }
                keys.truncate(first);
            }
            _ => {
                let Some(end) = string_end(bytes, at) else { return false };
                let behind = bytes.get(end + 1..).unwrap_or_default().trim_ascii_start();
                if behind.first() == Some(&b':') {
                    keys.push(unescaped(json.get(at..end).unwrap_or_default()));
                }
                at = end + 1;
            }
        }
    }
    false
}

/// Where the quote stands that closes the valid string whose body begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_as_serde_reads_them() {
        let units = [
            "a",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\\b",
            "\\f",
            "\\r",
            "\\t",
            "\\u00e9",
            "\\uD83D\\uDE00",
            "ß",
            "🦀",
            "plain text",
        ];
        for (i, first) in units.iter().enumerate() {
            for length in 0..40 {
                let body = first.to_string() + &"x".repeat(length) + units[(i + length) % units.len()] + first;
                let json = format!("\"{body}\" and more");
                let expected: String = serde_json::from_str(&format!("\"{body}\"")).unwrap_or_default();
                let mut out = b"kept".to_vec();
                assert_eq!(read_string(json.as_bytes(), 1, &mut out), Some(body.len() + 1), "{json}");
                assert_eq!(String::from_utf8(out).as_deref(), Ok(format!("kept{expected}").as_str()));
                assert_eq!(unescaped(&body), expected);
            }
        }
        for bad in ["\\x", "\\", "\\u12", "\\ud800", "\\udc00", "\\ud800\\n"] {
            assert_eq!(read_string(bad.as_bytes(), 0, &mut Vec::new()), None, "{bad}");
            assert_eq!(unescaped(bad), bad);
        }
    }

    #[test]
    fn every_character_below_0x80_is_escaped_as_json_wants_it() {
        let text: String = (0..0x80).map(char::from).chain("äß\u{2028}🦀".chars()).collect();
        let mut out = String::new();
        push_string(&mut out, &text);
        assert_eq!(serde_json::from_str::<String>(&out).ok(), Some(text.clone()));
        assert_eq!(out, serde_json::to_string(&text).unwrap_or_default());
    }
}
