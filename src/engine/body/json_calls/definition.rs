//! Definitions of tools: what only they say of a parameter, and what only calls do. An object that does not end near says neither.
use super::super::keys::is_type_name;
use crate::dialect::opener;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::json::{ScanResult, Scanner};
use crate::schema::{Expected, Tool};
use serde_json::{Map, Value};

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
