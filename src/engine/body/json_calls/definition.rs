//! Definitions of tools: what only they say of a parameter, and what only calls do. An object that does not end near says neither.
use super::super::keys::{decode, is_type_name};
use super::frames::{Frame, Other};
use crate::char_class::letters;
use crate::dialect::{Key, opener};
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::json::{ScanResult, Scanner};
use crate::schema::{Expected, Tool};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// So much of an object is waited for.
const NEAR: usize = 512;

/// More objects in one another are none that tells anything.
const DEPTH: usize = 16;

/// In such markers prompts list the tools that there are.
const LISTS: &str = "<tools>";

/// The object at `at`, if all of it stands near.
fn object_at(cx: &Reader<'_>, at: usize) -> Look<Map<String, Value>> {
    let near = cx.near(at, NEAR);
    let open = cx.may_go_on(near.len(), NEAR);
    match Scanner::new(0, DEPTH).scan(near, !open) {
        ScanResult::Complete { end } => {
            let object = near.get(..end).and_then(|text| serde_json::from_slice(text).ok());
            object.map_or(Look::No, Look::Is)
        }
        ScanResult::Incomplete if open => Look::More,
        _ => Look::No,
    }
}

/// A parameter of the `tool` has a value in the object at `at` that no definition has: a number or a truth value, or a list or an
/// object with one where the parameter is such.
pub(super) fn holds_values(cx: &Reader<'_>, at: usize, tool: &Tool) -> Look<()> {
    object_at(cx, at).then(|object| {
        let expected = |name: &String| tool.parameters.iter().find(|(known, _)| known == name).map(|(_, known)| *known);
        let mut known = object.iter().filter_map(|(name, value)| Some((expected(name)?, value)));
        Look::when(!object.values().any(is_schema) && known.any(|(expected, value)| is_value(expected, value)))
    })
}

/// The object at `at`, between markers and behind a description, says of each parameter its type alone; in a list of tools it may say
/// anything but values.
pub(super) fn names_types(cx: &Reader<'_>, writer: &Writer, at: usize, tool: Option<&Tool>) -> Look<()> {
    let listed = writer.origin.template(cx).is_some_and(|call| opener(&call.head) == Some(LISTS));
    let types = object_at(cx, at).then(|object| {
        let named = |value: &Value| value.as_str().is_some_and(is_type_name) || is_schema(value);
        Look::when(!object.is_empty() && object.values().all(named))
    });
    match tool.filter(|_| listed && types == Look::No) {
        Some(tool) => match holds_values(cx, at, tool) {
            Look::Is(()) => Look::No,
            Look::More => Look::More,
            Look::No => Look::Is(()),
        },
        None => types,
    }
}

/// What a definition has beside the name and description of a tool, or of a parameter.
const TITLE: &str = "title";
const TYPE: &str = "type";
const MORE: [&str; 5] = ["required", "annotations", "icons", "version", "_meta"];

/// Nothing but what a definition says of the `tool` stands beside its name in the object that `frame` is: a title that is the name
/// in other letters, a description that is no argument of it, a type. A text of its own under the same keys
/// may be an argument.
pub(super) fn describes(cx: &Reader<'_>, frame: &Frame, tool: Option<&Tool>, members: &[Other]) -> bool {
    let (Some(tool), Some(name)) = (tool, &frame.name) else { return false };
    // What is called stands under other keys as well, a definition's name only under this one.
    let before = cx.slice(frame.start, name.start).trim_end();
    let keyed = before
        .strip_suffix(':')
        .is_some_and(|before| before.trim_end().trim_end_matches(['"', '\'']).ends_with("name"));
    let members = members.iter().map(|member| (member.key(cx), decode(member.value(cx))));
    keyed && says_what(tool, members)
}

/// As [`describes`], where the `object` stands under the name of the `tool`.
pub(super) fn is_described(tool: &Tool, object: &str) -> bool {
    let object: Map<String, Value> = serde_json::from_str(object).unwrap_or_default();
    let members = object.iter().map(|(key, value)| {
        let text = value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
        (Cow::Borrowed(key.as_str()), text)
    });
    says_what(tool, members)
}

/// These members, keys and values, are of a definition of the `tool`, and one says so.
fn says_what<'m>(tool: &Tool, members: impl Iterator<Item = (Cow<'m, str>, Cow<'m, str>)>) -> bool {
    let mut sure = false;
    for (key, value) in members {
        match &*key {
            TITLE => sure |= spells(&tool.name, &value),
            Key::DESCRIPTION => sure |= !tool.declares(&key),
            TYPE if is_type_name(&value) || value == "function" => sure |= !tool.declares(&key),
            key if MORE.contains(&key) => {}
            _ => return false,
        }
    }
    sure
}

/// `title` is the `name` in other letters: `Create issue`.
fn spells(name: &str, title: &str) -> bool {
    title.len() <= 2 * name.len() && letters(name).eq(letters(title))
}

fn is_value(expected: Expected, value: &Value) -> bool {
    let holds = |value: &Value| matches!(value, Value::Number(_) | Value::Bool(_));
    match value {
        Value::Array(items) => expected.allows(Expected::ARRAY) && items.iter().any(holds),
        Value::Object(members) => expected.allows(Expected::OBJECT) && members.values().any(holds),
        value => holds(value),
    }
}

/// The `value` is a schema.
fn is_schema(value: &Value) -> bool {
    value.as_object().is_some_and(|members| members.contains_key("type") || members.contains_key("description"))
}
