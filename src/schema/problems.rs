//! What is wrong with the schema of a tool that is offered all the same: looked for when somebody asks.
use super::clean::{Part, clean_for_reading};
use super::convert::is_clean;
use super::input::{bare_properties, kind};
use super::references::{Blocked, Loops};
use super::{Tool, pointer};
use crate::error::{Error, ErrorCode};
use serde_json::Value;

/// A value longer than this is not quoted.
const MAX_QUOTED: usize = 60;

/// Adds the parts of the tool's schema that mean nothing to `problems`.
pub(super) fn of_schema(tool: &Tool, problems: &mut Vec<Error>) {
    if is_clean(&tool.schema) {
        return;
    }
    bad_references(&tool.schema, &tool.name, problems);
    // Parameters without `properties` round them are a problem already, and what they are called makes them no keywords.
    if bare_properties(&tool.schema, &tool.name).is_some() {
        return;
    }
    let (_, notes) = clean_for_reading(&tool.schema);
    for note in notes.iter().filter(|note| note.part == Part::Meaningless) {
        let Some(value) = tool.schema.pointer(&note.place) else { continue };
        let key = note.place.rsplit('/').next().unwrap_or_default();
        // "Not given", and "any type" of draft 3: nothing that was meant is lost.
        if value.is_null() || (key == "type" && value == "any") {
            continue;
        }
        let written = value.to_string();
        let shown = if written.len() <= MAX_QUOTED { written } else { kind(value).to_owned() };
        let message = format!("{key:?} is {shown} here: {}", note.reason);
        problems.push(Error::at(ErrorCode::BadSchema, format!("/{}{}", tool.name, note.place), message));
    }
}

/// What is wrong with the references of `schema`: each with its place and a sentence. Such a reference means "anything".
fn bad_references(schema: &Value, name: &str, problems: &mut Vec<Error>) {
    if refers(schema) {
        visit(schema, &mut Loops::of(schema), &mut format!("/{name}"), problems);
    }
}

/// Whether there is any reference at all: most schemas have none.
fn refers(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key("$ref") || map.values().any(refers),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

fn visit<'v>(at: &'v Value, loops: &mut Loops<'v>, place: &mut String, problems: &mut Vec<Error>) {
    let length = place.len();
    match at {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                let message = match pointer::resolve(loops.root(), reference) {
                    _ if !reference.starts_with('#') => Some("is not in this schema; nothing is fetched"),
                    None => Some("points to nothing"),
                    Some(target) => loops.blocked(target).map(|blocked| match blocked {
                        Blocked::LeadsBack => "leads back to itself",
                        Blocked::TooMany => "leads to more schemas for one value than can be judged",
                    }),
                };
                if let Some(message) = message {
                    let text = format!("the reference {reference:?} {message}; any value is taken here");
                    problems.push(Error::at(ErrorCode::BadSchema, format!("{place}/$ref"), text));
                }
            }
            for (key, value) in map {
                if !matches!(key.as_str(), "enum" | "const" | "default" | "examples" | "example") {
                    pointer::push(place, key);
                    visit(value, loops, place, problems);
                    place.truncate(length);
                }
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                pointer::push(place, &i.to_string());
                visit(value, loops, place, problems);
                place.truncate(length);
            }
        }
        _ => {}
    }
}
