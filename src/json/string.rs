//! Writing and comparing JSON strings.
use super::block::find_special;
use super::scan::Member;
use std::borrow::Cow;
use std::collections::HashSet;

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
    let key = |member: &Member| text.get(member.key.clone()).unwrap_or_default();
    if members.len() <= FEW && members.iter().all(|member| !key(member).contains('\\')) {
        let earlier = |i: usize, m: &Member| members.iter().take(i).any(|other| key(other) == key(m));
        return members.iter().enumerate().find(|(i, member)| earlier(*i, member)).map(|(_, m)| m.key.start);
    }
    let mut seen = HashSet::with_capacity(members.len());
    members.iter().find(|member| !seen.insert(unescaped(key(member)))).map(|member| member.key.start)
}

/// The body of a JSON string with its escapes undone; as it stands if it is not valid.
fn unescaped(body: &str) -> Cow<'_, str> {
    if !body.contains('\\') {
        return Cow::Borrowed(body);
    }
    serde_json::from_str(&format!("\"{body}\"")).map_or(Cow::Borrowed(body), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_below_0x80_is_escaped_as_json_wants_it() {
        let text: String = (0..0x80).map(char::from).chain("äß\u{2028}🦀".chars()).collect();
        let mut out = String::new();
        push_string(&mut out, &text);
        assert_eq!(serde_json::from_str::<String>(&out).ok(), Some(text.clone()));
        assert_eq!(out, serde_json::to_string(&text).unwrap_or_default());
    }
}
