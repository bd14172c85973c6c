//! Settling a call: are its arguments what the tool's schema allows, and if not, can they be made so?
use super::Tool;
use super::check::Written;
use super::coerce::Coercer;
use crate::json::Member;
use crate::turn::{ArgumentValue, Arguments, CallStatus, ToolCall};
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
    let Ok(written) = serde_json::from_str::<Value>(&call.arguments.to_json()) else { return false };
    let from_text = matches!(call.arguments, Arguments::Members(_));
    let mut coercer = Coercer::new(tool.judge.schema(&tool.schema), from_text);
    let mut settled = written.clone();
    if tool.judge.respelt(&tool.schema) {
        coercer.names(&mut settled);
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
