//! Where the keys of call objects stand, and the JSON strings round names.
use crate::char_class;
use crate::dialect::Key;
use crate::engine::look::{found, seen};
use crate::engine::reader::{blank, floor};
use crate::engine::{Look, Reader};
use crate::json::{find_special, unescaped};
use std::borrow::Cow;
use std::ops::Range;

/// What stands round a key or a name.
const QUOTES: [char; 8] = ['"', '\'', '\\', '`', '“', '”', '‘', '’'];

/// How far into an object that is no JSON a key of a call has to stand, so that more of it is read.
const EVIDENCE: usize = 256;

/// No name of a type is as long.
const LONGEST_TYPE: usize = 16;

/// No key that is looked for without its object is longer.
const LONGEST_KEY: usize = 64;

/// The string at `at` is a key, with a colon behind it, that `is` one of those looked for.
pub(super) fn key_at(cx: &Reader<'_>, at: usize, is: impl FnOnce(&str) -> bool) -> Look<()> {
    let near = cx.near(at + 1, LONGEST_KEY);
    let Some(length) = memchr::memchr(b'"', near) else {
        return cx.ran_out(near.len(), LONGEST_KEY);
    };
    if !is(cx.slice(at + 1, at + 1 + length)) {
        return Look::No;
    }
    match cx.behind_space(at, at + length + 2) {
        Look::Is(colon) if cx.bytes().get(colon) == Some(&b':') => Look::Is(()),
        Look::More => Look::More,
        _ => Look::No,
    }
}

/// The first key of the object at `start`, if a colon stands behind it.
pub(crate) fn first_key(cx: &Reader<'_>, start: usize) -> Look<Range<usize>> {
    cx.behind_space(start, start + 1).then(|at| {
        if cx.bytes().get(at) != Some(&b'"') {
            return Look::No;
        }
        let mut length = 0;
        key_at(cx, at, |key| {
            length = key.len();
            true
        })
        .map(|()| at + 1..at + 1 + length)
    })
}

/// In the object at `start`, near its beginning and not in an object inside it, stands a key of a call, or an offered name
/// in the place of a key.
pub(super) fn call_key_in(cx: &Reader<'_>, start: usize) -> Look<()> {
    let near = cx.near(start, EVIDENCE);
    if near.first().is_some_and(|first| *first != b'{') {
        return Look::No;
    }
    let ran_out = cx.ran_out(near.len(), EVIDENCE);
    let first = first_colon(cx, start, start + near.len());
    if ran_out == Look::No && first.is_none() {
        return Look::No;
    }
    if first.is_none() && !any_brace(cx, start, start + near.len()) {
        return Look::More;
    }
    let mut depth = 0_usize;
    // Before the first such colon only braces count.
    let (before, behind) = near.split_at(first.map_or(near.len(), |first| first - start));
    let signs = memchr::memchr3_iter(b'{', b'}', b':', behind).map(|i| before.len() + i);
    for i in memchr::memchr2_iter(b'{', b'}', before).chain(signs) {
        match near.get(i) {
            Some(b'{') => depth += 1,
            Some(b'}') if depth <= 1 => return Look::No,
            Some(b'}') => depth -= 1,
            _ if depth == 1 => found!(call_key_before(cx, start, start + i)),
            _ => {}
        }
    }
    ran_out
}

/// Whether a closing brace stands between `start` and `end`. Each byte is looked at once, as with [`first_colon`].
fn any_brace(cx: &Reader<'_>, start: usize, end: usize) -> bool {
    let known = cx.memo.unclosed.get();
    let from = known.known(start).unwrap_or(start);
    let found = cx.bytes().get(from..end).is_some_and(|text| text.contains(&b'}'));
    if !found {
        cx.memo.unclosed.set(known.and(start, end));
    }
    found
}

/// The object at `start` breaks off as JSON before its first value, and nothing says that it is a call: where it does.
pub(crate) fn no_call(cx: &Reader<'_>, start: usize) -> Look<usize> {
    let mut key = cx.skip_space(start + 1);
    let mut start = start;
    if cx.bytes().get(key) == Some(&b'{') {
        // Its brace stands twice.
        (start, key) = (key, cx.skip_space(key + 1));
    }
    let error = match cx.bytes().get(key) {
        None | Some(b'}') => return Look::No,
        Some(b'"') => {
            let Look::Is(end) = string_end(cx, key) else { return Look::No };
            let colon = cx.skip_space(end);
            if cx.bytes().get(colon).is_none_or(|byte| *byte == b':') {
                return Look::No;
            }
            colon
        }
        Some(_) => key,
    };
    match call_key_in(cx, start) {
        Look::No => Look::Is(error),
        Look::Is(()) => Look::No,
        Look::More => Look::More,
    }
}

/// The first colon between `start` and `end` that may stand behind a key of a call. Objects may begin at every byte, but each
/// colon that does not is looked at once.
fn first_colon(cx: &Reader<'_>, start: usize, end: usize) -> Option<usize> {
    let known = cx.memo.unkeyed.get();
    let from = known.known(start).unwrap_or(start);
    let text = cx.bytes().get(from..end).unwrap_or_default();
    let mut colons = memchr::memchr_iter(b':', text).map(|i| from + i);
    let found = colons.find(|colon| call_key_before(cx, start, *colon) != Look::No);
    cx.memo.unkeyed.set(known.and(start, found.unwrap_or(end)));
    found
}

/// What stands between a brace or a comma behind `start` and the colon at `colon` is a key of a call, or an offered name,
/// and what follows can be its value.
fn call_key_before(cx: &Reader<'_>, start: usize, colon: usize) -> Look<()> {
    let quotes = |c: char| QUOTES.contains(&c);
    let before = cx.slice(start, colon).trim_end().trim_end_matches(quotes);
    let begin = before.trim_end_matches(|c| char_class::NAME.has(c)).len();
    let (before, key) = before.split_at_checked(begin).unwrap_or_default();
    let separated = || before.trim_end_matches(quotes).trim_end().ends_with(['{', ',']);
    let what = Key::of(key);
    let called =
        || !matches!(what, Key::Other | Key::Content | Key::Id | Key::Method | Key::NeedsMoreWork) || cx.offered(key);
    if separated() && called() { value_of_call(cx, colon + 1, what) } else { Look::No }
}

/// The value at `at` can be that of a call's key: the name of an offered tool, an object, a list of calls.
fn value_of_call(cx: &Reader<'_>, at: usize, key: Key) -> Look<()> {
    // Signs and white space in any number say nothing.
    let near = cx.ahead(at, EVIDENCE);
    let signs = |c: char| QUOTES.contains(&c) || blank(c);
    let start = at + near.len() - near.trim_start_matches(signs).len();
    let inner = cx.rest(start);
    if start - at == near.len() {
        return if cx.eof || !inner.is_empty() { Look::No } else { Look::More };
    }
    let first = inner.bytes().next().unwrap_or_default();
    let is = |yes: bool| Look::when(yes);
    match (key, first) {
        (Key::Calls, _) => is(matches!(first, b'[' | b'{')),
        (Key::Name | Key::Function, _) if first != b'{' => {
            let bounded = inner.get(..floor(inner, 128)).unwrap_or_default();
            let ends = |c: char| QUOTES.contains(&c) || matches!(c, ',' | '}' | '\n');
            match bounded.find(ends) {
                Some(length) => is(cx.tools.is_none() || cx.offered(bounded.get(..length).unwrap_or_default().trim())),
                None if bounded.len() == inner.len() && !cx.eof => Look::More,
                None => is(cx.tools.is_none() || cx.offered(bounded.trim())),
            }
        }
        (Key::Name, _) => Look::No,
        _ => is(first == b'{'),
    }
}

/// Where the string that begins at `at` ends, if it is no longer than markup may be.
pub(super) fn string_end(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let mut from = at + 1;
    loop {
        let hit = find_special(cx.bytes(), from);
        if hit - at > cx.policy.max_markup_bytes {
            return Look::No;
        }
        match cx.bytes().get(hit) {
            Some(b'"') => return Look::Is(hit + 1),
            Some(b'\\') => from = hit + 2,
            // A control character.
            Some(_) => return Look::No,
            None => return Look::More,
        }
    }
}

/// What stands in the place of arguments is a JSON Schema: a tool is being described, not called.
pub(super) fn schema_like(cx: &Reader<'_>, at: usize, name: Option<&str>) -> Look<()> {
    let start = cx.skip_space(at + 1);
    let rest = cx.rest(start);
    let key = "\"type\"";
    if rest.len() < key.len() && key.starts_with(rest) {
        return if cx.eof { Look::No } else { Look::More };
    }
    if !rest.starts_with(key) {
        return Look::No;
    }
    let declared = name.and_then(|n| cx.tool(n)).is_some_and(|t| t.parameters.iter().any(|(n, _)| n == "type"));
    match name {
        _ if declared => Look::No,
        Some(_) => Look::Is(()),
        // Which parameters there are shows behind it.
        None => is_type(cx, start + key.len()),
    }
}

/// What JSON's values are called in a schema, and Python's in a declaration.
pub(super) const TYPE_NAMES: [&str; 11] =
    ["string", "number", "integer", "boolean", "object", "array", "str", "int", "float", "bool", "dict"];

/// Two more, which as bare words are other things as well: a value, and an order.
const OTHER_TYPES: [&str; 2] = ["null", "list"];

/// Behind the key that ends at `at` stands the name of a type, or a list that may hold some.
fn is_type(cx: &Reader<'_>, at: usize) -> Look<()> {
    let colon = seen!(cx.behind_space(at, at));
    let value = seen!(cx.behind_space(at, colon + 1));
    match cx.bytes().get(value) {
        Some(b'[') => Look::Is(()),
        Some(b'"') => type_at(cx, value),
        _ => Look::No,
    }
}

/// The string at `at` is the name of a type.
fn type_at(cx: &Reader<'_>, at: usize) -> Look<()> {
    let near = cx.near(at + 1, LONGEST_TYPE);
    let Some(length) = memchr::memchr(b'"', near) else {
        return cx.ran_out(near.len(), LONGEST_TYPE);
    };
    Look::when(is_type_name(cx.slice(at + 1, at + 1 + length)))
}

/// `word` is the name of a type.
pub(super) fn is_type_name(word: &str) -> bool {
    TYPE_NAMES.iter().chain(&OTHER_TYPES).any(|known| known.eq_ignore_ascii_case(word))
}

/// The object at `at` is the JSON Schema of an object, by its first two members, its type and what that holds, which are no
/// parameters of the tool called `name`.
pub(super) fn defines_object(cx: &Reader<'_>, at: usize, name: Option<&str>) -> Look<()> {
    let tool = name.and_then(|name| cx.tool(name));
    if name.is_none() || tool.is_some_and(|tool| tool.declares("type") || tool.declares("properties")) {
        return Look::No;
    }
    let words = ["\"type\"", ":", "\"object\"", ",", "\"properties\"", ":", "{"];
    let word = |look: Look<usize>, word| look.then(|at| cx.behind_space(at, at)).then(|at| cx.literal(at, word));
    words.into_iter().fold(Look::Is(at + 1), word).unit()
}

/// A JSON string as text; what is no string is given back as it is.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    match text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        Some(inner) => unescaped(inner),
        None => Cow::Borrowed(text),
    }
}
