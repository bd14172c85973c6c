//! A call that only describes its tool: all of its arguments are names of types.
use super::sentence::LONGEST;
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

/// Last words of keys whose value may be called as a type is: what is looked for, or tells one kind from another.
const LABELS: [&str; 24] = [
    "query",
    "q",
    "pattern",
    "text",
    "keyword",
    "term",
    "search",
    "word",
    "topic",
    "prompt",
    "type",
    "kind",
    "label",
    "tag",
    "category",
    "format",
    "class",
    "symbol",
    "identifier",
    "module",
    "package",
    "library",
    "concept",
    "name",
];

/// All of the `arguments` are names of types, of those that their parameters have if the `tool` tells, and a single one is none that may
/// be called so.
pub(in crate::engine) fn describes(cx: &Reader<'_>, tool: Option<&Tool>, arguments: &Found) -> bool {
    let members = |members: &[(&str, &str)]| {
        let spelt = |types: &[(&str, Expected)]| members.iter().all(|(key, value)| is_type(types, tool, key, value));
        TYPES.iter().any(|types| spelt(types))
            && match members {
                [] => false,
                [(key, _)] => !is_label(key),
                _ => true,
            }
    };
    match arguments {
        Found::Json(piece) if piece.len() <= LONGEST => {
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

/// The last word of the `key` says that its value may be any word. What a kind or a class is called is one as well.
fn is_label(key: &str) -> bool {
    let word = |key: &str| {
        let begins = key.rfind(|c: char| matches!(c, '_' | '-') || c.is_uppercase());
        let (rest, word) = key.split_at_checked(begins.unwrap_or(0)).unwrap_or_default();
        let word = word.trim_start_matches(['_', '-']).to_ascii_lowercase();
        (rest.len(), word.strip_suffix('s').filter(|word| LABELS.contains(word)).map_or(word.clone(), str::to_owned))
    };
    match word(key) {
        (rest, last) if last == "name" && rest > 0 => {
            key.get(..rest).is_some_and(|rest| LABELS.contains(&word(rest).1.as_str()))
        }
        (_, last) => LABELS.contains(&last.as_str()),
    }
}
