//! What clients send that a backend must not get as it is: rows of data, each with its source (`quirks.json`).
use once_cell::sync::Lazy;
use serde::Deserialize;
use serde_json::Value;

/// The rows of `quirks.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Quirks {
    /// A block of the system prompt that begins so changes with every request, means nothing to the model, and would stand
    /// before all that a backend has cached.
    pub(super) volatile_system: Vec<Row<String>>,
    /// What an item of `input` is that is no message and no call, and that no other API has a place for.
    pub(super) dropped_items: Vec<Row<String>>,
    /// Declarations of tools that run at their provider.
    pub(super) hosted_tools: Vec<Row<String>>,
    /// In what a system message behind the model's first answer stands, for APIs that have system prompts at the beginning only.
    pub(super) later_system: Row<(String, String)>,
}

/// One row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row<T> {
    pub(super) what: T,
    /// Where the fact is from; a test wants it of every row.
    #[cfg_attr(not(test), expect(dead_code, reason = "for people who read the data, and the test"))]
    pub(super) source: String,
}

static QUIRKS: Lazy<Option<Quirks>> = Lazy::new(|| serde_json::from_str(include_str!("quirks.json")).ok());

fn quirks() -> Option<&'static Quirks> {
    QUIRKS.as_ref()
}

fn says(rows: impl Fn(&Quirks) -> &Vec<Row<String>>, test: impl Fn(&str) -> bool) -> bool {
    quirks().is_some_and(|quirks| rows(quirks).iter().any(|row| test(&row.what)))
}

/// A text of the system prompt that changes with every request and means nothing to the model.
pub(super) fn is_volatile(text: &str) -> bool {
    says(|quirks| &quirks.volatile_system, |start| text.starts_with(start))
}

/// An item that only OpenAI's server knows what to do with.
pub(super) fn is_dropped_item(kind: &str) -> bool {
    says(|quirks| &quirks.dropped_items, |known| kind == known)
}

/// A declaration of this type is of a tool that runs at its provider.
pub(super) fn is_hosted_tool(kind: &str) -> bool {
    says(|quirks| &quirks.hosted_tools, |start| kind.starts_with(start))
}

/// A system message of the middle of a conversation, as a user's.
pub(super) fn later_system(text: &str) -> String {
    match quirks().map(|quirks| &quirks.later_system.what) {
        Some((open, close)) => format!("{open}{text}{close}"),
        None => text.to_owned(),
    }
}

/// The system prompt of an Anthropic request without its volatile blocks; `None` if it has none.
pub(super) fn without_volatile(system: &Value) -> Option<Value> {
    let is = |value: &Value| value.get("text").or(Some(value)).and_then(Value::as_str).is_some_and(is_volatile);
    match system {
        Value::Array(blocks) if blocks.iter().any(is) => {
            Some(Value::Array(blocks.iter().filter(|block| !is(block)).cloned().collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_source() {
        let quirks: Quirks = serde_json::from_str(include_str!("quirks.json")).unwrap();
        let rows = [&quirks.volatile_system, &quirks.dropped_items, &quirks.hosted_tools];
        assert!(rows.into_iter().flatten().all(|row| row.source.len() > 10));
        assert!(quirks.later_system.source.len() > 10);
    }
}
