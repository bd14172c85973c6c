//! Values that begin in the middle of a line: what stands in them, in a line of its own, is a part of them and no call.
use super::before::LINE_BEFORE;
use super::fragment::names_part;
use crate::dialect::Key;
use crate::engine::prose::words::coded::is_assigned;
use crate::engine::prose::words::example::open_bracket;
use crate::engine::reader::floor;
use crate::engine::{Engine, Reader};
use crate::json::Balance;

/// So many brackets round a place are looked at.
const MOST: usize = 8;

impl Engine {
    /// What stands at `at` is an item or a member of a value that begins in the middle of a line, or above: its key is none that calls
    /// have, another item of its list is none, or it is given to a name.
    pub(super) fn in_value(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let begun = self.text_begins();
        let from = floor(cx.text, at.saturating_sub(LINE_BEFORE)).max(begun);
        let before = cx.slice(from, at).trim_ascii_end();
        if !is_due(before) {
            return false;
        }
        let last = self.around.value.filter(|last| (begun..=at).contains(last));
        let goes_on = last.is_some_and(|last| !leaves(cx.slice(last, at)));
        let is = goes_on || encloses(cx, before);
        // What was left is left for good, and need not be followed again.
        self.around.value = is.then_some(at);
        is
    }
}

/// An item or the value of a member is to follow the `text`.
fn is_due(text: &str) -> bool {
    text.ends_with([',', '[']) || key_before(text).is_some()
}

/// The key of a member in which the `text` ends, and what stands before it.
fn key_before(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_suffix(':')?.trim_ascii_end();
    let quote = text.chars().next_back().filter(|quote| matches!(quote, '"' | '\''))?;
    let (before, key) = text.strip_suffix(quote)?.rsplit_once(quote)?;
    let before = before.trim_ascii_end();
    (!key.is_empty() && !key.contains('\n') && before.ends_with(['{', ','])).then_some((before, key))
}

/// More brackets close in `text` than it opens, at one place of it.
fn leaves(text: &str) -> bool {
    let mut balance = Balance::default();
    text.bytes().any(|byte| {
        balance.read(byte);
        balance.closes_more()
    })
}

/// What is to follow the `text` is a part of a value: a member, an item beside data, or of what is given to a name.
fn encloses(cx: &Reader<'_>, text: &str) -> bool {
    let mut text = text;
    for _ in 0..MOST {
        let member = key_before(text);
        text = member.map_or(text, |(before, _)| before);
        let Some(open) = open_bracket(text.strip_suffix(',').unwrap_or(text).as_bytes()) else { return false };
        let (before, inside) = text.split_at_checked(open).unwrap_or_default();
        let part = match inside.as_bytes().split_first() {
            Some((b'{', _)) => member.is_some_and(|(_, key)| names_part(key)),
            Some((b'[', items)) => !begins_line(before) && is_data(cx, items),
            _ => false,
        };
        text = before.trim_ascii_end();
        if part || is_assigned(text) {
            return true;
        }
    }
    false
}

/// Nothing stands in the last line of `text`.
fn begins_line(text: &str) -> bool {
    text.rsplit('\n').next().is_none_or(|line| line.trim_ascii().is_empty())
}

/// The first of the `items` is an object whose first key no call has.
fn is_data(cx: &Reader<'_>, items: &[u8]) -> bool {
    let object = items.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let key =
        object.and_then(|object| object.strip_prefix(b"\"")).and_then(|key| key.split(|byte| *byte == b'"').next());
    let key = key.and_then(|key| std::str::from_utf8(key).ok()).unwrap_or_default();
    let called = Key::of(key) != Key::Other || Key::is_of_agent(key) || Key::is_about(key) || cx.offered(key);
    !key.is_empty() && (key == "role" || !called && names_part(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_words() {
        assert_eq!(key_before("Sent {\"a\" :").map(|(_, key)| key), Some("a"));
        for text in ["It said \"so\":", "so:", "{\"a\"", "{a:"] {
            assert_eq!(key_before(text), None, "{text}");
        }
    }
}
