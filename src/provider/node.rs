//! A payload's JSON, borrowed: what every reader of this room reads.
//!
//! A stream's chunk is parsed (`parse.rs`), read once and dropped. [`Node`] keeps its strings where they are and its members in a
//! plain list, which makes that several times cheaper than a [`Value`], and keeps numbers as they are written.
use crate::json::RepairOptions;
use crate::turn::{Repair, RepairCode};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// One JSON value of a payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it is written.
    Number(Cow<'a, str>),
    /// A string, its escapes undone.
    String(Cow<'a, str>),
    /// A list.
    Array(Vec<Node<'a>>),
    /// The members in their order.
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
    /// A list or an object nested deeper than values are read, as JSON text.
    Deep(Cow<'a, str>),
}

/// What serde_json's `arbitrary_precision` calls the one member of the object it presents a number as.
const NUMBER: &str = "$serde_json::private::Number";

/// Members of a payload that no reader looks at, and that may be most of it: Responses repeats every tool that was
/// offered, Ollama the tokens of the context.
const UNREAD: [&str; 6] = ["tools", "instructions", "tool_choice", "prompt", "context", "prompt_logprobs"];

/// What is left out of a payload, at its top and that of the response which an event carries.
pub(crate) fn is_unread(key: &str) -> bool {
    UNREAD.contains(&key)
}

/// The member of an event that is a payload too.
pub(crate) const CARRIED: &str = "response";

impl<'a> Node<'a> {
    /// Parses `bytes` as a payload: what no reader looks at is judged, but left out.
    pub(super) fn payload(bytes: &'a [u8]) -> Result<Self, serde_json::Error> {
        // Judged once as a whole, the strings need not be judged one by one.
        let fast = std::str::from_utf8(bytes).ok().and_then(|text| super::parse::parse(text, true));
        if let Some(node) = fast {
            return Ok(node);
        }
        // As [`Self::parse`] has it, where that does not give a deep value up.
        let mended = std::str::from_utf8(bytes).ok().and_then(mend_surrogates);
        match mended.as_deref().and_then(|mended| super::parse::parse(mended, true)) {
            Some(node) => Ok(node.into_owned()),
            None => Self::parse(bytes),
        }
    }

    /// Parses `bytes`; a lone surrogate escape, which no string can hold, is read as U+FFFD, and what Python and others write
    /// for a number that is none (`NaN`, `-Infinity`) as null.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, serde_json::Error> {
        let Ok(text) = std::str::from_utf8(bytes) else { return serde_json::from_slice(bytes) };
        if let Some(node) = super::parse::parse(text, false) {
            return Ok(node);
        }
        // Its errors say what is wrong.
        match serde_json::from_str(text) {
            Ok(node) => Ok(node),
            Err(error) => {
                let mended = mend_surrogates(text).or_else(|| without_infinities(text)).ok_or(error)?;
                let value: Value = serde_json::from_str(&mended)?;
                Ok(Node::from(&value).into_owned())
            }
        }
    }

    /// The member `key`, if this is an object that has it with a value other than null.
    #[inline]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(k, _)| k == key).map(|(_, v)| v).filter(|v| !matches!(v, Self::Null))
            }
            _ => None,
        }
    }

    /// The first of `keys` that [`Node::get`] finds: for fields that are spelt in camelCase and in snake_case.
    #[inline]
    pub fn either(&self, keys: [&str; 2]) -> Option<&Self> {
        self.get(keys[0]).or_else(|| self.get(keys[1]))
    }

    /// About so many bytes of JSON it is.
    #[cfg(feature = "python")]
    pub(crate) fn weight(&self) -> usize {
        8 + match self {
            Self::Null | Self::Bool(_) => 0,
            Self::Number(text) | Self::String(text) | Self::Deep(text) => text.len(),
            Self::Array(items) => items.iter().map(Self::weight).sum(),
            Self::Object(members) => members.iter().map(|(key, value)| key.len() + value.weight()).sum(),
        }
    }

    /// The member at the end of `path`.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The string that this is; `None` for any other value.
    pub fn str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The string at `key`.
    #[inline]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.str()
    }

    /// The member `key` is an object in which anything is said.
    pub(super) fn says(&self, key: &str) -> bool {
        self.get(key).is_some_and(|node| node.members().iter().any(|(_, value)| !matches!(value, Self::Null)))
    }

    /// The items of an array; none for any other value.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// The items of the array at `key`; a lone object counts as an array of one.
    pub fn list(&self, key: &str) -> &[Self] {
        match self.get(key) {
            Some(Self::Array(items)) => items,
            Some(object @ Self::Object(_)) => std::slice::from_ref(object),
            _ => &[],
        }
    }

    /// The members of an object; none for any other value.
    pub fn members(&self) -> &[(Cow<'a, str>, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The number that this is, if it is a count: whole and not negative.
    pub fn u64(&self) -> Option<u64> {
        match self {
            Self::Number(text) => text.parse().ok().or_else(|| {
                // `3.0` is an integer to JSON, and some servers count in floats.
                let float: f64 = text.parse().ok()?;
                (float.fract() == 0.0 && (0.0..9e15).contains(&float)).then_some(float as u64)
            }),
            _ => None,
        }
    }

    /// The count at `key`.
    pub fn count(&self, key: &str) -> Option<u64> {
        self.get(key)?.u64()
    }

    /// The member `key` is `true`.
    pub fn is_true(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Self::Bool(true)))
    }

    /// This is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// What kind of value this is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
            Self::Deep(_) => "a value nested too deep",
        }
    }

    /// It is nested deeper than values are read, or something in it is.
    pub(super) fn is_deep(&self) -> bool {
        match self {
            Self::Deep(_) => true,
            Self::Array(items) => items.iter().any(Self::is_deep),
            Self::Object(members) => members.iter().any(|(_, value)| value.is_deep()),
            _ => false,
        }
    }

    /// The same as a value; a number that cannot be one is null, and so is what is nested too deep.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Null | Self::Deep(_) => Value::Null,
            Self::Bool(b) => Value::Bool(*b),
            Self::Number(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            Self::String(text) => Value::String(text.to_string()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Object(members) => {
                Value::Object(members.iter().map(|(k, v)| (k.to_string(), v.to_value())).collect::<Map<_, _>>())
            }
        }
    }

    /// Appends this as JSON text without white space.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(text) | Self::Deep(text) => out.push_str(text),
            Self::String(text) => crate::json::push_string(out, text),
            Self::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    crate::json::push_string(out, key);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }

    /// This as JSON text without white space.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// The same without what it borrows.
    pub fn into_owned(self) -> Node<'static> {
        match self {
            Self::Null => Node::Null,
            Self::Bool(b) => Node::Bool(b),
            Self::Number(text) => Node::Number(Cow::Owned(text.into_owned())),
            Self::String(text) => Node::String(Cow::Owned(text.into_owned())),
            Self::Deep(text) => Node::Deep(Cow::Owned(text.into_owned())),
            Self::Array(items) => Node::Array(items.into_iter().map(Node::into_owned).collect()),
            Self::Object(members) => {
                Node::Object(members.into_iter().map(|(k, v)| (Cow::Owned(k.into_owned()), v.into_owned())).collect())
            }
        }
    }
}

impl<'a> From<&'a Value> for Node<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(b) => Self::Bool(*b),
            Value::Number(number) => Self::Number(Cow::Borrowed(number.as_str())),
            Value::String(text) => Self::String(Cow::Borrowed(text)),
            Value::Array(items) => Self::Array(items.iter().map(Node::from).collect()),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(k, v)| (Cow::Borrowed(k.as_str()), Node::from(v))).collect())
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Node<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

/// An object's key: borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Self::Value, E> {
        Ok(Node::Bool(b))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Node::Number(Cow::Owned(number.to_string())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Node::Number(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Node::Number(Cow::Owned(number.to_string())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Node::String(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Node::String(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Node::String(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(Cow<'de, str>, Node<'de>)> = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            if members.is_empty() && key == NUMBER {
                return match map.next_value::<Node<'de>>()? {
                    Node::String(text) => Ok(Node::Number(text)),
                    _ => Err(A::Error::custom("a number that is no text")),
                };
            }
            let value = map.next_value()?;
            // Of a key that comes twice the last counts, as everywhere.
            match members.iter_mut().find(|(k, _)| *k == key) {
                Some(member) => member.1 = value,
                None => members.push((key, value)),
            }
        }
        Ok(Node::Object(members))
    }
}

/// The unit of UTF-16 that the escape at `at` of `text` stands for.
pub(super) fn unit(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

/// `text` with each lone surrogate escape replaced by that of U+FFFD; `None` if there is none.
pub(crate) fn mend_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let unit = |at: usize| unit(text, at);
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    while let Some(next) = memchr::memchr(b'\\', bytes.get(at..)?) {
        at += next;
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                out.push_str(text.get(from..at)?);
                out.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
        if at >= bytes.len() {
            break;
        }
    }
    if from == 0 {
        return None;
    }
    out.push_str(text.get(from..)?);
    Some(out)
}

/// `text` with null for each number that is none (`NaN`, `-Infinity`); `None` if anything else in it is no JSON.
fn without_infinities(text: &str) -> Option<String> {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return None;
    }
    let mended =
        crate::json::repair(text, &RepairOptions { search: false, join_values: false, ..Default::default() }).ok()?;
    let number = |repair: &Repair| matches!(repair.code, RepairCode::Literal | RepairCode::Number);
    let only = mended.repairs.iter().all(number);
    let whole = mended.complete() && text.get(mended.consumed..)?.trim().is_empty();
    (only && whole).then(|| mended.json.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_order_survive() {
        let text = r#"{"b":1.50,"a":[123456789012345678901234567890,-0,1e+400,null,true],"c":"é\n"}"#;
        let node = Node::parse(text.as_bytes()).unwrap();
        assert_eq!(node.to_json(), text);
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(Node::from(&value), node);
        assert_eq!(node.to_value(), value);
    }

    #[test]
    fn what_no_reader_looks_at_is_left_out_at_the_top_only() {
        let text = br#"{"a":{"tools":1},"tools":[{"x":"y"}],"response":{"tools":[],"b":2}}"#;
        assert_eq!(Node::payload(text).unwrap().to_json(), r#"{"a":{"tools":1},"response":{"b":2}}"#);
        assert!(Node::payload(br#"{"tools":[}"#).is_err());
    }

    #[test]
    fn a_lone_surrogate_is_replaced() {
        let node = Node::parse(br#"{"a":"x\ud83d","b":"\ud83d\ude00\\ud83d"}"#).unwrap();
        assert_eq!(node.text("a"), Some("x\u{fffd}"));
        assert_eq!(node.text("b"), Some("\u{1f600}\\ud83d"));
        assert!(Node::parse(br#"{"a":"#).is_err());
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = "[".repeat(100_000);
        assert!(Node::parse(deep.as_bytes()).is_err());
    }
}
