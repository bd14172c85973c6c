//! Settling a call: are its arguments what the tool's schema allows, and if not, can they be made so?
use super::Tool;
use super::check::Written;
use super::coerce::Coercer;
use super::pointer;
use super::told::real_names;
use crate::json::Member;
use crate::turn::{ArgumentError, ArgumentValue, Arguments, CallStatus, RepairCode, ToolCall};
use serde_json::Value;
use std::borrow::Cow;

/// Judges the arguments of `call`, which names `tool`, and coerces what the schema demands and the values allow.
///
/// Arguments that fit are not touched, and nothing is built to find that out. Else values of the wrong type are coerced
/// (each with a repair), and what is still refused is listed in [`ToolCall::errors`] under the status `invalid`. Calls
/// that are not readable are left alone. Returns whether the arguments changed.
pub fn settle(tool: &Tool, call: &mut ToolCall<'_>) -> bool {
    if !call.status.readable() {
        return false;
    }
    if let Some(error) = swallowed(tool, call) {
        call.status = CallStatus::Invalid;
        call.errors = vec![error];
        return false;
    }
    let fits = match &call.arguments {
        Arguments::Json(json) => tool.judge.proves(&tool.schema, json),
        Arguments::Members(members) => {
            let written = members.iter().map(|(key, value)| (key.as_ref(), Written::from(value)));
            tool.judge.proves_members(&tool.schema, written)
        }
    };
    if fits && !tool.judge.respelt(&tool.schema) {
        return false;
    }
    settle_slowly(tool, call)
}

/// A string whose quotes had to be mended holds what looks like a parameter that was not given: `"Oslo" unit="C"`. It may have
/// been swallowed.
fn swallowed(tool: &Tool, call: &ToolCall<'_>) -> Option<ArgumentError> {
    if !call.repairs.iter().any(|repair| repair.code == RepairCode::Quotes) {
        return None;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(&call.arguments.to_json()) else { return None };
    let missing = || tool.parameters.iter().map(|(name, _)| name.as_str()).filter(|name| !members.contains_key(*name));
    members.iter().find_map(|(key, value)| {
        let text = value.as_str()?;
        let name = missing().find(|name| assigns(text, name))?;
        let mut pointer = String::new();
        pointer::push(&mut pointer, key);
        let message = format!("the quotes were mended, and {name:?} seems to be a parameter of its own");
        Some(ArgumentError { pointer, keyword: "properties".to_owned(), message })
    })
}

/// `name` stands in `text` behind another word, and `=` or `:` behind it.
fn assigns(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let parted = before.trim_end_matches(['"', '\'']).ends_with([' ', ',', '\n']);
        let behind = text.get(at + name.len()..).unwrap_or_default();
        parted && behind.trim_start_matches(['"', '\'', ' ']).starts_with(['=', ':'])
    })
}

/// Whether the object in `text` that has these `members` is proven to be what [`settle`] would leave as it is.
pub(crate) fn is_settled(tool: &Tool, text: &str, members: &[Member]) -> bool {
    tool.judge.proves_scanned(&tool.schema, text, members) && !tool.judge.respelt(&tool.schema)
}

/// The same for arguments that the dialect wrote member by member.
pub(crate) fn are_settled<'m>(tool: &Tool, members: impl Iterator<Item = (&'m str, Written<'m>)>) -> bool {
    tool.judge.proves_members(&tool.schema, members) && !tool.judge.respelt(&tool.schema)
}

#[cold]
fn settle_slowly(tool: &Tool, call: &mut ToolCall<'_>) -> bool {
    let text = call.arguments.to_json().into_owned();
    let Ok(written) = serde_json::from_str::<Value>(&text) else { return false };
    let from_text = matches!(call.arguments, Arguments::Members(_));
    let mut coercer = Coercer::new(tool.judge.schema(&tool.schema), &text, from_text, &call.repairs);
    let mut settled = written.clone();
    if tool.judge.respelt(&tool.schema) {
        coercer.repairs = real_names(tool.judge.schema(&tool.schema), &mut settled);
    }
    if !tool.judge.is_valid(&tool.schema, &settled) {
        coercer.root(&mut settled);
    } else if coercer.repairs.is_empty() {
        return false;
    }
    let changed = !coercer.repairs.is_empty();
    let errors = tool.judge.errors(&tool.schema, &settled);
    if !coercer.repairs.is_empty() {
        call.arguments = rewritten(&call.arguments, &written, settled);
        call.repairs.append(&mut coercer.repairs);
        if call.status == CallStatus::Ok {
            call.status = CallStatus::Repaired;
        }
    }
    if !errors.is_empty() {
        call.status = CallStatus::Invalid;
        call.errors = errors;
    }
    changed
}

/// The arguments with the changed values in place; members whose value did not change keep their own text.
fn rewritten<'a>(before: &Arguments<'_>, written: &Value, settled: Value) -> Arguments<'a> {
    let (Arguments::Members(members), Value::Object(mut settled), Value::Object(written)) =
        (before, settled.clone(), written)
    else {
        return Arguments::Json(Cow::Owned(settled.to_string()));
    };
    if !settled.keys().eq(written.keys()) {
        return Arguments::Json(Cow::Owned(Value::Object(settled).to_string()));
    }
    let kept = members.iter().filter_map(|(key, old)| {
        let value = settled.shift_remove(key.as_ref())?;
        let same = written.get(key.as_ref()) == Some(&value);
        let new = match value {
            _ if same => old.clone().into_owned(),
            Value::String(text) => ArgumentValue::Text(Cow::Owned(text)),
            other => ArgumentValue::Json(Cow::Owned(other.to_string())),
        };
        Some((Cow::Owned(key.clone().into_owned()), new))
    });
    Arguments::Members(kept.collect())
}
