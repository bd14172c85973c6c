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
    if !path.is_empty() && !path.starts_with('/') {
        return anchor(root, &percent_decode(path)?, 0);
    }
    match percent_decode(path)? {
        Cow::Borrowed(path) => follow(root, path),
        // Whoever did not encode what they wrote may have a `%` in a name.
        Cow::Owned(decoded) => follow(root, &decoded).or_else(|| follow(root, path)),
    }
}

/// The place in `root` that a local reference points to, as a JSON pointer without any encoding; anchors are looked for.
pub(crate) fn place(root: &Value, reference: &str) -> Option<String> {
    let path = reference.strip_prefix('#')?;
    if !path.is_empty() && !path.starts_with('/') {
        let target = anchor(root, &percent_decode(path)?, 0)?;
        let mut at = String::new();
        return find(root, target, &mut at, 0).then_some(at);
    }
    let decoded = percent_decode(path)?;
    let place = if follow(root, &decoded).is_some() { decoded } else { Cow::Borrowed(path) };
    Some(place.into_owned())
}

fn follow<'v>(root: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/').skip(1).try_fold(root, |at, token| match at {
        Value::Object(map) => map.get(unescaped(token).as_ref()),
        Value::Array(items) => items.get(token.parse::<usize>().ok()?),
        _ => None,
    })
}

/// A JSON pointer as the fragment of a URI: what URIs do not have is percent-encoded.
pub(crate) fn in_uri(pointer: &str) -> String {
    let mut out = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// One step of a JSON pointer as the key that it means.
pub(crate) fn unescaped(token: &str) -> Cow<'_, str> {
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

/// Extends `at` to the place of `target`, which is part of `value`.
fn find(value: &Value, target: &Value, at: &mut String, depth: u32) -> bool {
    if std::ptr::eq(value, target) {
        return true;
    }
    let Value::Object(map) = value else { return false };
    let length = at.len();
    depth <= 8
        && map.iter().any(|(key, inner)| {
            push(at, key);
            let found = find(inner, target, at, depth + 1);
            if !found {
                at.truncate(length);
            }
            found
        })
}
