//! Settling a call: are its arguments what the tool's schema allows, and if not, can they be made so?
use super::check::Written;
use super::coerce::{Coercer, decoded_object};
use super::pointer;
use super::told::real_names;
use super::{Expected, Tool};
use crate::json::Member;
use crate::turn::{ArgumentError, ArgumentValue, Arguments, CallStatus, Repair, RepairCode, Slip, ToolCall};
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
    if let Some(error) = misplaced(tool, call) {
        call.status = CallStatus::Invalid;
        call.errors = vec![error];
        return false;
    }
    let fits = match &call.arguments {
        Arguments::Json(json) => tool.judge.proves(&tool.schema, json),
        Arguments::Members(members) => {
            let written = members.iter().map(|(key, value)| (key.as_bytes(), Written::from(value)));
            tool.judge.proves_members(&tool.schema, written)
        }
    };
    // A schema that says nothing takes a list as well, but no tool does.
    let object = match &call.arguments {
        Arguments::Json(json) => json.trim_start().starts_with('{'),
        Arguments::Members(_) => true,
    };
    if fits && object && !tool.judge.respelt(&tool.schema) {
        return false;
    }
    settle_slowly(tool, call)
}

/// What had to be mended in the arguments may have put a parameter into another one.
fn misplaced(tool: &Tool, call: &ToolCall<'_>) -> Option<ArgumentError> {
    let mended = |code| call.repairs.iter().any(|repair| repair.code == code);
    let (quotes, brackets) = (mended(RepairCode::Quotes), mended(RepairCode::Bracket));
    let (commas, strings) = (mended(RepairCode::Comma), mended(RepairCode::UnclosedString));
    if !(quotes || brackets || commas || strings) {
        return None;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(&call.arguments.to_json()) else { return None };
    let requoted = |repair: &Repair| repair.code != RepairCode::Quotes || repair.is(Slip::OtherQuotes);
    let ends_guessed = strings || !call.repairs.iter().all(requoted);
    // A key without quotes is one, wherever it stands.
    let bare = |repair: &Repair| repair.code != RepairCode::Quotes || repair.is(Slip::BareKey);
    let quoted = quotes && !call.repairs.iter().all(bare);
    let kinds = [quoted, brackets, commas, strings, mended(RepairCode::Colon)].into_iter().filter(|kind| *kind).count();
    let guessed = (commas || strings) && kinds > 1;
    if let Some(key) = members.keys().find(|key| (guessed || is_text(key)) && is_unknown(tool, key)) {
        let mut pointer = String::new();
        pointer::push(&mut pointer, key);
        let message = format!("what was mended made a parameter of {key:?}, which seems to be a part of another one");
        return Some(ArgumentError { pointer, keyword: "properties".to_owned(), message });
    }
    members.iter().find_map(|(key, value)| {
        let missing = tool.parameters.iter().map(|(name, _)| name.as_str()).filter(|name| !members.contains_key(*name));
        let (name, what) = match value {
            // What stood whole in quotes of another kind holds what it holds.
            Value::String(text) if quotes && (ends_guessed || text.contains('\'')) => {
                (swallowed(text, missing)?, "the quotes were mended")
            }
            Value::Object(inner) if brackets => (enclosed(tool, key, inner, missing)?, "the brackets were mended"),
            _ => return None,
        };
        let mut pointer = String::new();
        pointer::push(&mut pointer, key);
        let message = format!("{what}, and {name:?} seems to be a parameter of its own");
        Some(ArgumentError { pointer, keyword: "properties".to_owned(), message })
    })
}

/// The tool has parameters, and nothing in its schema says what this one may be.
fn is_unknown(tool: &Tool, key: &str) -> bool {
    let open = |keyword: &str| tool.schema.get(keyword).is_some_and(|schema| *schema != Value::Bool(false));
    !tool.parameters.is_empty() && !tool.declares(key) && !open("additionalProperties") && !open("patternProperties")
}

/// No parameter is named so: the `key` has white space at its ends, or signs of structure in it.
fn is_text(key: &str) -> bool {
    key.trim() != key || key.contains(['"', '\'', '`', '\n', '{', '}', '[', ']', '(', ')', ',', ';', '='])
}

/// The `text` of a string holds what looks like a parameter that is `missing`: `Oslo" unit="C`.
fn swallowed<'n>(text: &str, mut missing: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    missing.find(|name| assigns(text, name))
}

/// The object under `key` has a member that its schema does not know, and that is a `missing` parameter of the tool.
fn enclosed<'n>(
    tool: &Tool,
    key: &str,
    object: &serde_json::Map<String, Value>,
    mut missing: impl Iterator<Item = &'n str>,
) -> Option<&'n str> {
    let known = tool.schema.get("properties")?.get(key)?.get("properties")?.as_object()?;
    missing.find(|name| object.contains_key(*name) && !known.contains_key(*name))
}

/// `name` stands in `text` behind another word, and `=` or `:` behind it, or in quotes behind a comma.
fn assigns(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let parted = before.trim_end_matches(['"', '\'']).ends_with([' ', ',', '\n']);
        let behind = text.get(at + name.len()..).unwrap_or_default();
        // A key in its quotes, of which only the colon is missing.
        let quoted = before.strip_suffix('"').is_some_and(|text| text.trim_end().ends_with(','));
        parted && behind.trim_start_matches(['"', '\'', ' ']).starts_with(['=', ':'])
            || quoted && behind.starts_with('"')
    })
}

/// Whether the object in `text` that has these `members` is proven to be what [`settle`] would leave as it is.
pub(crate) fn is_settled(tool: &Tool, text: &str, members: &[Member]) -> bool {
    tool.judge.proves_scanned(&tool.schema, text, members) && !tool.judge.respelt(&tool.schema)
}

/// The same for arguments that the dialect wrote member by member.
pub(crate) fn are_settled<'m>(tool: &Tool, members: impl Iterator<Item = (&'m [u8], Written<'m>)>) -> bool {
    tool.judge.proves_members(&tool.schema, members) && !tool.judge.respelt(&tool.schema)
}

/// What bare `text` for the parameter `key`, of which a type is `expected`, means, which was `read` as JSON: the text itself, where that fits the schema and what
/// was read does not, coerced or not.
#[inline]
pub(crate) fn fitting<'t>(
    tool: &Tool,
    (key, expected): (&str, Expected),
    read: ArgumentValue<'t>,
    text: &'t str,
) -> ArgumentValue<'t> {
    // Mostly it may be no string.
    if expected.allows(Expected::STRING) { text_if_fitting(tool, key, read, text) } else { read }
}

fn text_if_fitting<'t>(tool: &Tool, key: &str, read: ArgumentValue<'t>, text: &'t str) -> ArgumentValue<'t> {
    let ArgumentValue::Json(json) = &read else { return read };
    if tool.judge.proves_member(&tool.schema, key, json) || refuses(tool, key, read.clone()) != Some(true) {
        return read;
    }
    let text = ArgumentValue::Text(Cow::Borrowed(text));
    if refuses(tool, key, text.clone()) == Some(false) { text } else { read }
}

/// The members before a parameter that are asked which branch of a union they belong to, and the bytes that what tells one may have.
const TELLING: usize = 32;
const TELLING_BYTES: usize = 256;

/// What is expected of the parameter `key` in the one branch of a union that the members `before` it belong to.
pub(crate) fn expected_beside<'m>(
    tool: &Tool,
    key: &str,
    before: impl Iterator<Item = (&'m str, ArgumentValue<'m>)>,
) -> Option<Expected> {
    let value = |value: ArgumentValue<'_>| match value {
        ArgumentValue::Text(text) => Some(Value::String(text.get(..).filter(is_short)?.to_owned())),
        ArgumentValue::Json(json) => serde_json::from_str(json.get(..).filter(is_short)?).ok(),
    };
    let members = before.take(TELLING).filter_map(|(key, of)| Some((key.to_owned(), value(of)?))).collect();
    let schema = tool.judge.schema(&tool.schema);
    let coercer = Coercer::new(schema, tool.judge.patterns(&tool.schema), "", true, &[]);
    coercer.expected_in_branch(&members, key)
}

fn is_short(text: &&str) -> bool {
    text.len() <= TELLING_BYTES
}

/// Whether the schema refuses this value for the parameter `key`, whatever else is missing; `None` if it cannot be judged.
fn refuses(tool: &Tool, key: &str, value: ArgumentValue<'_>) -> Option<bool> {
    let members = Arguments::Members(vec![(Cow::Owned(key.to_owned()), value)]);
    let mut call = ToolCall::new("", tool.name.as_str(), members);
    settle(tool, &mut call);
    let mut place = String::new();
    pointer::push(&mut place, key);
    let there = |error: &ArgumentError| {
        error.pointer.strip_prefix(&place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    (call.status != CallStatus::Malformed).then(|| call.errors.iter().any(there))
}

#[cold]
fn settle_slowly(tool: &Tool, call: &mut ToolCall<'_>) -> bool {
    let text = call.arguments.to_json().into_owned();
    let Ok(written) = serde_json::from_str::<Value>(&text) else {
        // As deep as judges go, or with half a character in it: what nobody judged does not run.
        call.status = CallStatus::Malformed;
        call.arguments = Arguments::default();
        return true;
    };
    let from_text = matches!(call.arguments, Arguments::Members(_));
    let schema = tool.judge.schema(&tool.schema);
    let mut coercer = Coercer::new(schema, tool.judge.patterns(&tool.schema), &text, from_text, &call.repairs);
    let mut settled = written.clone();
    // Members that were written one by one have been told one by one.
    let whole = !from_text;
    if let Some(inner) = held(tool, &settled).filter(|_| whole && !tool.judge.is_valid(&tool.schema, &settled)) {
        settled = inner;
        coercer.repairs.push(Repair::new(RepairCode::Misplaced, "one member held all arguments"));
    }
    if let Some(object) = listed(tool, &settled) {
        settled = object;
        let what = "the arguments were the list that is the tool's only parameter";
        coercer.repairs.push(Repair::new(RepairCode::Positional, what));
        (call.status, call.errors) = (CallStatus::Ok, Vec::new());
    }
    if tool.judge.respelt(&tool.schema) {
        coercer.repairs.append(&mut real_names(schema, &mut settled));
    }
    if !settled.is_object() || !tool.judge.is_valid(&tool.schema, &settled) {
        coercer.root(&mut settled);
    } else if coercer.repairs.is_empty() {
        return false;
    }
    let changed = !coercer.repairs.is_empty();
    let mut errors = tool.judge.errors(&tool.schema, &settled);
    if errors.is_empty() && !settled.is_object() {
        errors.push(ArgumentError::no_object());
    }
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

/// The arguments of which `list` is the only one, where it stands in their place: a list that is not empty, and that the tool's only
/// parameter is. Source: langchain#36550.
pub(crate) fn listed(tool: &Tool, list: &Value) -> Option<Value> {
    let [(key, expected)] = tool.parameters.as_slice() else { return None };
    let items = list.as_array().filter(|items| !items.is_empty())?;
    let array = expected.allows(Expected::ARRAY) && !expected.allows(Expected::STRING);
    let object = Value::Object([(key.clone(), Value::Array(items.clone()))].into_iter().collect());
    (array && tool.judge.is_valid(&tool.schema, &object)).then_some(object)
}

/// What models call a member that holds all arguments, after the schema they were shown.
pub(crate) const WRAPPERS: [&str; 4] = ["arguments", "input", "properties", "parameters"];

impl Tool {
    /// A first member of this name may hold all arguments of the tool, or stand beside one that does: see [`held`].
    pub(crate) fn may_wrap(&self, key: &str) -> bool {
        (key == "name" || WRAPPERS.contains(&key)) && !self.declares(key)
    }
}

/// The object that holds the tool's parameters in place of `arguments`, which have none of them: their only member, or beside
/// the tool's own name, where the whole call was written once more.
fn held(tool: &Tool, arguments: &Value) -> Option<Value> {
    let outer = arguments.as_object()?;
    let (_, inner) = outer.iter().find(|(key, _)| WRAPPERS.contains(&key.as_str()))?;
    let again = || outer.len() == 2 && outer.get("name").and_then(Value::as_str) == Some(tool.name.as_str());
    if outer.len() != 1 && !again() || outer.keys().any(|key| tool.declares(key)) {
        return None;
    }
    let inner = decoded_object(inner).unwrap_or_else(|| inner.clone());
    let object = inner.as_object()?;
    let fits = object.keys().all(|key| tool.declares(key)) && object.is_empty() == tool.parameters.is_empty();
    fits.then_some(inner)
}

/// Makes `4.0` the integer that it is wherever the schema takes integers and no other numbers: for arguments that fit, and
/// in which a point is the wire's and not the model's.
pub(crate) fn settle_floats(tool: &Tool, call: &mut ToolCall<'_>) {
    let Arguments::Json(text) = &call.arguments else { return };
    if !spells_floats(text) || tool.judge.proves(&tool.schema, text) {
        return;
    }
    let Ok(mut settled) = serde_json::from_str::<Value>(text) else { return };
    let schema = tool.judge.schema(&tool.schema);
    let mut coercer = Coercer::new(schema, tool.judge.patterns(&tool.schema), text, false, &call.repairs);
    coercer.whole_numbers(schema, &mut settled, 0);
    if coercer.repairs.is_empty() || !tool.judge.is_valid(&tool.schema, &settled) {
        return;
    }
    let mut repairs = coercer.repairs;
    call.arguments = Arguments::Json(Cow::Owned(settled.to_string()));
    call.repairs.append(&mut repairs);
    call.status = CallStatus::Repaired;
}

/// Whether there may be a number with a point or an exponent: a digit and, behind it, one of both.
fn spells_floats(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| matches!(pair, [b'0'..=b'9', b'.' | b'e' | b'E']))
}

/// The text that was written for `value`, where it is JSON that says the same.
fn spelt(written: &ArgumentValue<'_>, value: &Value) -> Option<String> {
    let ArgumentValue::Text(text) = written else { return None };
    let same = serde_json::from_str::<Value>(text).is_ok_and(|read| read == *value);
    same.then(|| text.trim().to_owned())
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
            other => ArgumentValue::Json(Cow::Owned(spelt(old, &other).unwrap_or_else(|| other.to_string()))),
        };
        Some((Cow::Owned(key.clone().into_owned()), new))
    });
    Arguments::Members(kept.collect())
}
