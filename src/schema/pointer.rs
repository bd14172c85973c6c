//! JSON pointers: building them, and following `$ref`s inside one document.
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Appends `/token`, escaped as RFC 6901 wants.
pub(crate) fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    if token.contains(['~', '/']) {
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(token);
    }
}

/// The schema that a local `$ref` (`#`, `#/$defs/X`, percent-encoded or not) points to; `None` for remote references,
/// anchors and places that are not there. Nothing is ever fetched.
pub(crate) fn resolve<'v>(root: &'v Value, reference: &str) -> Option<&'v Value> {
    let path = reference.strip_prefix('#')?;
    let path = percent_decode(path)?;
    let mut at = root;
    let mut tokens = path.split('/');
    if !tokens.next()?.is_empty() {
        return anchor(root, &path, 0);
    }
    for token in tokens {
        let token = unescaped(token);
        at = match at {
            Value::Object(map) => map.get(token.as_ref())?,
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}

fn unescaped(token: &str) -> Cow<'_, str> {
    if token.contains('~') { Cow::Owned(token.replace("~1", "/").replace("~0", "~")) } else { Cow::Borrowed(token) }
}

/// The text of the value at `pointer` in the document `json`, as it is written.
pub(crate) fn text<'t>(json: &'t str, pointer: &str) -> Option<&'t str> {
    pointer.split('/').skip(1).try_fold(json.trim(), |at, token| {
        let value: &RawValue = if at.starts_with('{') {
            let mut members: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(at).ok()?;
            members.remove(&unescaped(token))?
        } else {
            let items: Vec<&RawValue> = serde_json::from_str(at).ok()?;
            items.get(token.parse::<usize>().ok()?)?
        };
        Some(value.get())
    })
}

/// The definition that calls itself `$anchor: name`.
fn anchor<'v>(at: &'v Value, name: &str, depth: u32) -> Option<&'v Value> {
    if depth > 8 {
        return None;
    }
    let map = at.as_object()?;
    if map.get("$anchor").and_then(Value::as_str) == Some(name) {
        return Some(at);
    }
    map.values().find_map(|value| anchor(value, name, depth + 1))
}

fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        let code = match (byte, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        match code {
            Some(code) => {
                bytes.push(code);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

/// `reference` as a JSON pointer fragment where it is one; anchors become the pointer of their schema.
pub(crate) fn plain(root: &Value, reference: &str) -> Option<String> {
    let path = reference.strip_prefix('#')?;
    if path.is_empty() || path.starts_with('/') {
        return Some(reference.to_owned());
    }
    let target = resolve(root, reference)?;
    let mut at = String::from("#");
    find(root, target, &mut at, 0).then_some(at)
}

/// Extends `at` to the place of `target`, which is part of `value`.
fn find(value: &Value, target: &Value, at: &mut String, depth: u32) -> bool {
    if std::ptr::eq(value, target) {
        return true;
    }
    let Value::Object(map) = value else { return false };
    let length = at.len();
    depth <= 8
        && map.iter().any(|(key, inner)| {
            push(at, &key.replace('%', "%25"));
            let found = find(inner, target, at, depth + 1);
            if !found {
                at.truncate(length);
            }
            found
        })
}
