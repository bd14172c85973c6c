//! What a parameter's text means: typed by what is written beside it or by the schema, entities decoded, arguments that
//! one parameter wraps taken out of it.
use super::lenient;
use crate::bytes::{find, find_near};
use crate::engine::Reader;
use crate::engine::found::{Piece, Value};
use crate::engine::output::Output;
use crate::json::push_string;
use crate::schema::{Expected, WRAPPERS, read_text};
use crate::turn::ArgumentValue;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// A parameter's text as a value: by the type written beside it, else by the schema.
pub(super) fn typed<'v>(
    text: &'v str,
    kind: Option<&str>,
    expected: Option<Expected>,
    json_first: bool,
) -> ArgumentValue<'v> {
    let expected = expected.unwrap_or(Expected::ANY);
    match kind {
        Some(kind) if is_string_type(kind) => ArgumentValue::Text(Cow::Borrowed(text)),
        // What is written beside it says that it is JSON, so its quotes are JSON's.
        Some(kind) if is_no_word(kind, text.trim()) && serde_json::from_str::<IgnoredAny>(text).is_ok() => {
            ArgumentValue::Json(Cow::Borrowed(text.trim()))
        }
        Some(_) => read_text(text, expected.json_first()),
        None if json_first => read_text(text, expected.json_first()),
        None => read_text(text, expected),
    }
}

/// The `text` of a value of this `kind` is JSON whatever the schema wants: a string in quotes, and what the kind names. Mere "no string"
/// names nothing: the model's own servers make a string of it where the tool wants one.
fn is_no_word(kind: &str, text: &str) -> bool {
    match kind {
        "object" => text.starts_with(['"', '{']),
        "array" => text.starts_with(['"', '[']),
        "null" => text == "null",
        _ => text.starts_with('"'),
    }
}

/// The type written beside a value says that it is a string: by name, or as an attribute `string="true"`.
pub(super) fn is_string_type(kind: &str) -> bool {
    matches!(kind, "true" | "string" | "str")
}

/// The text so far, which begins with no white space, may become `null` or `None`: no string where the schema says nothing.
fn may_be_null(text: &str) -> bool {
    let letters = text.bytes().take("null".len()).take_while(u8::is_ascii_alphabetic).count();
    let (text, rest) = text.split_at_checked(letters).unwrap_or_default();
    let begins = |word: &str| word.get(..text.len()).is_some_and(|w| w.eq_ignore_ascii_case(text));
    (begins("null") || begins("none")) && rest.trim_start().is_empty()
}

/// A text that may yet become other than a string, as far as it was looked at: not once more with every chunk.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Undecided {
    /// White space stands before this place.
    blank: usize,
    /// `null` or `None` and white space stand before this one.
    null: usize,
}

impl Undecided {
    /// The text from `start` to `end` without the white space at its beginning.
    pub(super) fn text<'t>(&mut self, cx: &Reader<'t>, start: usize, end: usize) -> &'t str {
        let text = cx.slice(self.blank.clamp(start, end), end).trim_start();
        self.blank = end - text.len();
        text
    }

    /// As [`may_be_null`] of that text.
    pub(super) fn may_be_null(&mut self, cx: &Reader<'_>, start: usize, end: usize) -> bool {
        let text = self.text(cx, start, end);
        let known = self.null > self.blank && cx.slice(self.null.min(end), end).trim_start().is_empty();
        let may = known || may_be_null(text);
        // What follows a word that is over is white space, or the text is another.
        if may && text.ends_with(char::is_whitespace) {
            self.null = end;
        }
        may
    }
}

/// What marks text as such in XML, before and behind it.
pub(super) const CDATA: [&str; 2] = ["<![CDATA[", "]]>"];

/// Where in `text` the text of the one CDATA section stands that it is.
pub(super) fn in_cdata(text: &str) -> Option<Range<usize>> {
    let [opener, closer] = CDATA;
    let inside = text.trim_start().strip_prefix(opener)?.trim_end().strip_suffix(closer)?;
    let start = text.len() - text.trim_start().len() + opener.len();
    joined_cdata(inside).is_some().then_some(start..start + inside.len())
}

/// What stands behind the opening of a CDATA section with which `text` begins.
fn behind_cdata(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(CDATA[0])
}

/// What opens a CDATA section stands twice before the text: the second one is a part of it, or was written by mistake.
pub(super) fn opens_cdata_twice(text: &str) -> bool {
    behind_cdata(text).and_then(behind_cdata).is_some()
}

/// The text of CDATA sections of which one follows the other, as XML writes `]]>` in one. Nothing if something else follows.
pub(super) fn joined_cdata(inside: &str) -> Option<Cow<'_, str>> {
    let [opener, closer] = CDATA;
    // Mostly there is one, which is known many times faster.
    if find(inside.as_bytes(), closer.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    let mut sections = inside.split(closer);
    let mut text = Cow::Borrowed(sections.next().unwrap_or_default());
    for section in sections {
        text.to_mut().push_str(section.strip_prefix(opener)?);
    }
    Some(text)
}

/// The text so far may become a CDATA section.
pub(super) fn may_be_cdata(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(CDATA[0]) || CDATA[0].starts_with(text)
}

/// Makes one list of both values of a parameter that stood twice, where the schema wants one: `first` becomes it, if they
/// can be its items.
pub(super) fn listed(first: &mut Value, second: &Value, text: &str) -> bool {
    let Value::Text(second) = second else { return false };
    match first {
        Value::Text(one) if one.as_str(text) != second.as_str(text) => {
            let mut items = String::from("[");
            push_string(&mut items, one.as_str(text));
            items.push(']');
            *first = Value::Json(Piece::Made(items));
        }
        // A list that was made so.
        Value::Json(Piece::Made(list)) if list.starts_with("[\"") && list.ends_with(']') => {}
        _ => return false,
    }
    // What is there already is not copied for each value that follows.
    let Value::Json(Piece::Made(items)) = first else { return false };
    items.pop();
    items.push_str(", ");
    push_string(items, second.as_str(text));
    items.push(']');
    true
}

/// The text so far may become JSON, where a dialect has anything but strings as JSON and the schema says nothing.
pub(super) fn may_be_json(text: &str) -> bool {
    let text = text.trim_start();
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let begins = |of: &str| match of.get(..word.len()) {
        Some(begun) if begun.eq_ignore_ascii_case(word) => word.len() == of.len() || word.len() == text.len(),
        _ => false,
    };
    match text.bytes().next() {
        None | Some(b'{' | b'[' | b'(' | b'0'..=b'9' | b'-' | b'+' | b'.') => true,
        Some(_) => !word.is_empty() && ["null", "none", "true", "false"].into_iter().any(begins),
    }
}

/// Which member has which key, so that one that stands twice is found however many there are.
#[derive(Debug, Default)]
pub(super) struct KeyIndex(Option<HashMap<Box<[u8]>, usize>>);

impl KeyIndex {
    /// Up to so many members are looked through one by one.
    const FEW: usize = 16;

    /// The member of `key`, of `count` members that have the keys `name`. If there is none, the caller adds it behind them.
    pub(super) fn position<'k>(
        &mut self,
        key: &str,
        count: usize,
        name: impl Fn(usize) -> Option<&'k [u8]>,
    ) -> Option<usize> {
        if count <= Self::FEW {
            return (0..count).find(|i| name(*i).is_some_and(|n| n == key.as_bytes()));
        }
        let index = self.0.get_or_insert_default();
        for i in index.len()..count {
            if let Some(name) = name(i) {
                index.insert(name.into(), i);
            }
        }
        match index.entry(key.as_bytes().into()) {
            Entry::Occupied(member) => Some(*member.get()),
            Entry::Vacant(member) => {
                member.insert(count);
                None
            }
        }
    }
}

/// The part of the input that `made` is, or `made` itself.
#[inline]
pub(super) fn piece_of(range: &Range<usize>, text: &str, made: &str) -> Piece {
    // Mostly it was cut out of the text, and then its place says where.
    let start = made.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    if start.checked_add(made.len()).is_some_and(|end| end <= text.len()) {
        return Piece::Span(range.start + start..range.start + start + made.len());
    }
    let trimmed = text.trim();
    if made == trimmed {
        let start = range.start + (text.len() - text.trim_start().len());
        return Piece::Span(start..start + trimmed.len());
    }
    Piece::Made(made.to_owned())
}

/// What a single parameter holds that is called so and that the tool does not declare: all of them.
pub(super) fn unwrapped(
    cx: &Reader<'_>,
    out: &Output,
    index: usize,
    members: &[(Piece, Value)],
) -> Option<Vec<(Piece, Value)>> {
    let [(key, value)] = members else { return None };
    let key = key.as_str(cx.text);
    if !WRAPPERS.contains(&key) {
        return None;
    }
    let tool = cx.called(out, index)?;
    if tool.parameters.is_empty() || tool.declares(key) {
        return None;
    }
    let (Value::Text(piece) | Value::Json(piece)) = value;
    let text = piece.get(cx.text);
    let json = lenient::container(text.trim()).unwrap_or_default();
    let Ok(serde_json::Value::Object(inner)) = serde_json::from_str(&json) else { return None };
    if !inner.keys().all(|k| tool.declares(k)) {
        return None;
    }
    Some(inner.into_iter().map(|(k, v)| (Piece::Made(k), Value::Json(Piece::Made(v.to_string())))).collect())
}

/// `&lt;`, `&gt;`, `&amp;`, `&quot;`, `&apos;` and numeric references as characters.
pub(crate) fn decode_entities(text: &str) -> Cow<'_, str> {
    let Some(first) = find_near(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|b| b == b';');
        let decoded = end.and_then(|end| {
            let c = match &rest[1..end] {
                "lt" => '<',
                "gt" => '>',
                "amp" => '&',
                "quot" => '"',
                "apos" => '\'',
                name => {
                    let digits = name.strip_prefix('#')?;
                    let code = match digits.strip_prefix(['x', 'X']) {
                        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                        None => digits.parse().ok()?,
                    };
                    char::from_u32(code)?
                }
            };
            Some((c, end + 1))
        });
        let (c, length) = decoded.unwrap_or(('&', 1));
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}
