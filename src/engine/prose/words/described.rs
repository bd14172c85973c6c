//! A call that only describes its tool: all of its arguments are names of types.
use super::sentence::LONGEST_CALL;
use crate::engine::Reader;
use crate::engine::found::{Found, Value};
use crate::schema::{Expected, Tool};

/// What JSON's values are called in a schema, and Python's in a declaration: who describes a tool uses one of the two.
const TYPES: [&[(&str, Expected)]; 2] = [
    &[
        ("string", Expected::STRING),
        ("number", Expected::NUMBER),
        ("integer", Expected::INTEGER),
        ("boolean", Expected::BOOLEAN),
        ("object", Expected::OBJECT),
        ("array", Expected::ARRAY),
    ],
    &[
        ("str", Expected::STRING),
        ("int", Expected::INTEGER),
        ("float", Expected::NUMBER),
        ("bool", Expected::BOOLEAN),
        ("dict", Expected::OBJECT),
    ],
];

/// Last words of keys of what no type is called like. Anything else may be a word that is looked for, or what is converted to.
const PLACES: [&str; 13] = [
    "path",
    "filepath",
    "filename",
    "file",
    "url",
    "command",
    "city",
    "location",
    "date",
    "directory",
    "email",
    "id",
    "sql",
];

/// All of the `arguments` are names of types, of those that their parameters have if the `tool` tells. Several do where it tells the types
/// of all, or one of them is so where it can be nothing else.
pub(in crate::engine) fn describes(cx: &Reader<'_>, tool: Option<&Tool>, arguments: &Found) -> bool {
    let members = |members: &[(&str, &str)]| {
        let spelt = |types: &[(&str, Expected)]| members.iter().all(|(key, value)| is_type(types, tool, key, value));
        let declared = || tool.is_some_and(|tool| members.iter().all(|(key, _)| !tool.expected(key).is_any()));
        let place = || members.iter().any(|(key, _)| is_place(key));
        TYPES.iter().any(|types| spelt(types)) && (place() || members.len() > 1 && declared())
    };
    match arguments {
        Found::Json(piece) if piece.len() <= LONGEST_CALL => {
            let object = serde_json::from_str::<serde_json::Map<_, _>>(piece.as_str(cx.text)).unwrap_or_default();
            let found = object.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()));
            members(&found.collect::<Vec<_>>())
        }
        Found::Members(found) => {
            let found = found.iter().map(|(key, value)| {
                let (Value::Text(value) | Value::Json(value)) = value;
                (key.as_str(cx.text), value.as_str(cx.text).trim_matches(['"', '\'']))
            });
            members(&found.collect::<Vec<_>>())
        }
        Found::Json(_) => false,
    }
}

/// The `value` is one of these names of `types`, and may be that of the parameter `key`: where another type is declared, or the values
/// are listed, it is a value like any other.
fn is_type(types: &[(&str, Expected)], tool: Option<&Tool>, key: &str, value: &str) -> bool {
    let Some((_, named)) = types.iter().find(|(name, _)| *name == value) else { return false };
    tool.is_none_or(|tool| {
        let declared = tool.expected(key);
        let listed = tool.part(key).is_some_and(|schema| schema.get("enum").is_some() || schema.get("const").is_some());
        (declared.is_any() || declared.allows(*named)) && !listed
    })
}

/// The last word of the `key` says that no type is meant.
fn is_place(key: &str) -> bool {
    let begins = key.rfind(|c: char| matches!(c, '_' | '-') || c.is_uppercase()).unwrap_or(0);
    let word = key.get(begins..).unwrap_or_default().trim_start_matches(['_', '-']).to_ascii_lowercase();
    PLACES.contains(&word.as_str())
}
