//! What a collected call is worth: its name among the offered tools, its arguments as JSON, its status.
use super::Reading;
use super::calls::{Numbers, Said, Slot};
use crate::dialect::without_namespace;
use crate::engine::{Policy, decode_entities};
use crate::json::{self, Ending, Kind, RepairOptions, ScanResult, Scanner};
use crate::schema::{Names, Resolution, ToolSet};
use crate::turn::{ArgumentError, Arguments, CallStatus, Repair, RepairCode, ToolCall};
use serde_json::Value;
use std::borrow::Cow;

/// Names under which some OpenAI models wrap several calls in one.
const PARALLEL: [&str; 2] = ["multi_tool_use.parallel", "multi_tool_use_parallel"];

/// The wrapper that holds several calls.
pub(super) fn is_parallel(name: &str, tools: Option<&ToolSet>) -> bool {
    PARALLEL.contains(&name.trim()) && tools.is_none_or(|tools| tools.get(name).is_none())
}

/// A name among the offered tools.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) repair: Option<Repair>,
    /// Tools were given, and the name is none of them.
    pub(super) unknown: bool,
}

/// What the `written` name of a native call means.
pub(super) fn name(written: &str, tools: Option<&ToolSet>, names: Names) -> Named {
    let renamed =
        |name: &str| (name != written).then(|| Repair::new(RepairCode::Name, format!("`{written}` became `{name}`")));
    // A native name may drag along markers of the model's template (`search<|channel|>commentary`).
    let clean = written.split("<|").next().unwrap_or(written).trim();
    let clean = if clean.is_empty() { written.trim() } else { clean };
    let bare = without_namespace(clean, ['.', ':']).filter(|bare| !bare.is_empty());
    let Some(tools) = tools else {
        let name = bare.unwrap_or(clean);
        return Named { repair: renamed(name), name: name.to_owned(), unknown: false };
    };
    for candidate in [Some(written), Some(clean), bare].into_iter().flatten() {
        match tools.resolve_by(candidate, names) {
            // The model wrote what it was told.
            Resolution::Resolved(tool) if candidate == written && tools.is_told_as(tool, written) => {
                return Named { repair: None, name: tool.name.clone(), unknown: false };
            }
            Resolution::Exact(tool) | Resolution::Resolved(tool) => {
                return Named { repair: renamed(&tool.name), name: tool.name.clone(), unknown: false };
            }
            Resolution::Unknown => {}
        }
    }
    Named { name: written.to_owned(), repair: None, unknown: true }
}

/// The call in `slot`, with the id that it came with. `cut`: the answer ended before the provider was done with it.
pub(super) fn call(slot: &Slot, cut: bool, reading: &Reading) -> ToolCall<'static> {
    let (tools, policy) = (reading.tools.as_deref(), &reading.options.policy);
    let cut = cut || slot.said == Said::Cut;
    let named = name(&slot.name, tools, policy.names);
    let mut call = ToolCall::new(slot.id.clone(), named.name, Arguments::default());
    call.freeform = slot.custom;
    if slot.too_long || slot.text.len() > policy.max_arguments_bytes {
        call.status = CallStatus::Malformed;
        call.raw = Cow::Owned(slot.text.clone());
        return call;
    }
    if slot.custom {
        let mut text = String::from("{\"input\":");
        crate::json::push_string(&mut text, &slot.text);
        text.push('}');
        call.arguments = Arguments::Json(Cow::Owned(text));
        call.status = if cut { CallStatus::Incomplete } else { CallStatus::Ok };
    } else {
        read_arguments(&mut call, slot, cut, policy);
        if reading.entities && call.status.readable() {
            decode(&mut call);
        }
    }
    let rewritten = (slot.rewritten && call.status.runnable())
        .then(|| Repair::new(RepairCode::Joined, "the provider sent other arguments after the first ones"));
    for repair in [rewritten, named.repair].into_iter().flatten() {
        call.repairs.insert(0, repair);
        if call.status == CallStatus::Ok {
            call.status = CallStatus::Repaired;
        }
    }
    if slot.said == Said::Unread && call.status.readable() {
        call.status = CallStatus::Malformed;
        call.raw = Cow::Owned(slot.text.clone());
    }
    if named.unknown && policy.unknown_tools != crate::engine::UnknownTools::Allow && call.status.readable() {
        call.status = CallStatus::UnknownTool;
    }
    if call.status == CallStatus::Invalid
        && let Some(tool) = tools.and_then(|tools| tools.get(&call.name))
        && crate::schema::listed(tool, &call.arguments.to_value()).is_some()
    {
        // Judged with the tool at hand, it is no list out of place.
        (call.status, call.errors, call.raw) = (CallStatus::Ok, Vec::new(), Cow::Borrowed(""));
    }
    if !slot.custom && call.status.runnable() {
        settle(&mut call, slot, tools, policy);
    }
    call
}

/// Decodes the entities in the strings of the arguments, once.
fn decode(call: &mut ToolCall<'static>) {
    fn strings(value: &mut Value) -> bool {
        match value {
            Value::String(text) => match decode_entities(text) {
                Cow::Owned(decoded) if decoded != *text => {
                    *text = decoded;
                    true
                }
                _ => false,
            },
            Value::Array(items) => items.iter_mut().filter_map(|item| strings(item).then_some(())).count() > 0,
            Value::Object(members) => {
                members.iter_mut().filter_map(|(_, value)| strings(value).then_some(())).count() > 0
            }
            _ => false,
        }
    }
    let mut value = call.arguments.to_value();
    if strings(&mut value) {
        call.arguments = Arguments::Json(Cow::Owned(value.to_string()));
        call.repairs.push(Repair::new(RepairCode::Escape, "entities were decoded, as this route writes them"));
        if call.status == CallStatus::Ok {
            call.status = CallStatus::Repaired;
        }
    }
}

/// Types, defaults and validity of the arguments against the tool's schema.
fn settle(call: &mut ToolCall<'static>, slot: &Slot, tools: Option<&ToolSet>, policy: &Policy) {
    let Some(tool) = tools.and_then(|tools| tools.get(&call.name)) else { return };
    let changed = crate::schema::settle(tool, call);
    if slot.numbers == Numbers::Floats && call.status.runnable() {
        crate::schema::settle_floats(tool, call);
    }
    // Text that became what it spells may be deeper than what was read.
    let unread = call.status == CallStatus::Malformed;
    if changed && (unread || json::deeper_than(&call.arguments.to_json(), policy.max_depth)) {
        call.status = CallStatus::Malformed;
        call.raw = Cow::Owned(slot.text.clone());
        call.arguments = Arguments::default();
        call.errors.clear();
    }
}

fn read_arguments(call: &mut ToolCall<'static>, slot: &Slot, cut: bool, policy: &Policy) {
    let text = slot.text.as_str();
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "null" {
        if cut {
            call.status = CallStatus::Incomplete;
        }
        return;
    }
    match slot.scan {
        ScanResult::Complete { end } if text.get(end..).is_some_and(|rest| rest.trim().is_empty()) => {
            match Kind::of(trimmed.as_bytes().first().copied().unwrap_or_default()) {
                Some(Kind::Object) => {
                    call.arguments = Arguments::Json(Cow::Owned(text.to_owned()));
                    if cut {
                        call.status = CallStatus::Incomplete;
                    } else if let Some((at, once)) = json::keys_once(text, slot.scanner.members(), text) {
                        call.repairs.push(Repair { offset: at, ..Repair::new(RepairCode::DuplicateKey, json::TWICE) });
                        call.arguments = Arguments::Json(Cow::Owned(once));
                        call.status = CallStatus::Repaired;
                    }
                }
                Some(Kind::String) => double_encoded(call, trimmed, cut, policy),
                _ => not_an_object(call, trimmed),
            }
        }
        // The end of the text lies inside the value: whatever repair could make of it was never said.
        ScanResult::Incomplete => {
            call.status = CallStatus::Incomplete;
            call.arguments = partial(text);
            call.raw = Cow::Owned(text.to_owned());
        }
        _ => mend(call, text, cut, policy),
    }
}

/// Arguments that are JSON text inside a JSON string.
fn double_encoded(call: &mut ToolCall<'static>, text: &str, cut: bool, policy: &Policy) {
    let Ok(inner) = serde_json::from_str::<String>(text) else { return not_an_object(call, text) };
    let trimmed = inner.trim();
    if trimmed.is_empty() || trimmed == "null" {
        if cut {
            call.status = CallStatus::Incomplete;
        }
        return;
    }
    let mut scanner = Scanner::new(0, policy.max_depth);
    match scanner.scan(inner.as_bytes(), true) {
        ScanResult::Complete { end }
            if trimmed.starts_with('{') && inner.get(end..).unwrap_or("").trim().is_empty() =>
        {
            call.arguments = Arguments::Json(Cow::Owned(trimmed.to_owned()));
            call.repairs.push(Repair::new(RepairCode::DoubleEncoded, "the arguments were JSON inside a string"));
            call.status = if cut { CallStatus::Incomplete } else { CallStatus::Repaired };
        }
        ScanResult::Incomplete if trimmed.starts_with('{') => {
            call.status = CallStatus::Incomplete;
            call.arguments = partial(&inner);
            call.raw = Cow::Owned(text.to_owned());
        }
        _ => not_an_object(call, text),
    }
}

/// The objects that `text` is if it is two or more of them, with nothing but white space between; the first one with what
/// white space is before it, as it may have been sent on.
pub(super) fn objects_in_a_row(text: &str, max_depth: usize) -> Option<Vec<String>> {
    let mut objects = Vec::new();
    let mut rest = text;
    while rest.trim_start().starts_with('{') {
        let ScanResult::Complete { end } = Scanner::new(0, max_depth).scan(rest.as_bytes(), true) else { return None };
        objects.push(rest.get(..end)?.to_owned());
        rest = rest.get(end..)?.trim_start();
    }
    (rest.is_empty() && objects.len() > 1).then_some(objects)
}

/// A list or a scalar where an object belongs: readable, but no tool takes it.
fn not_an_object(call: &mut ToolCall<'static>, text: &str) {
    call.status = CallStatus::Invalid;
    call.arguments = Arguments::Json(Cow::Owned(text.to_owned()));
    call.raw = Cow::Owned(text.to_owned());
    call.errors.push(ArgumentError::no_object());
}

/// Arguments that are no JSON: repair, or nothing.
fn mend(call: &mut ToolCall<'static>, text: &str, cut: bool, policy: &Policy) {
    call.status = CallStatus::Malformed;
    call.raw = Cow::Owned(text.to_owned());
    let options = RepairOptions { max_depth: policy.max_depth, join_values: false, search: true };
    let Ok(repaired) = json::repair(text, &options) else { return };
    // A second object behind the first is another call's: which of them is meant, nobody knows.
    let rest = text.get(repaired.consumed..).unwrap_or_default().trim_start();
    if !repaired.json.starts_with('{') || rest.starts_with('{') {
        return;
    }
    if cut || repaired.ending != Ending::Closed {
        call.status = CallStatus::Incomplete;
        call.arguments = partial(text);
        return;
    }
    let torn = repaired.guessed || json::goes_on(rest);
    call.status = if torn { CallStatus::Malformed } else { CallStatus::Repaired };
    let once = json::with_keys_once(&repaired.json);
    call.repairs.extend(repaired.repairs);
    call.repairs.extend(once.is_some().then(|| Repair::new(RepairCode::DuplicateKey, json::TWICE)));
    call.arguments = Arguments::Json(Cow::Owned(once.unwrap_or_else(|| repaired.json.into_owned())));
    if !rest.is_empty() {
        let at = repaired.consumed;
        call.repairs.push(Repair::at(RepairCode::Surroundings, at, "text behind the arguments was left out"));
    }
}

/// What is certain of arguments that were cut off.
fn partial(text: &str) -> Arguments<'static> {
    match json::parse_cut(text) {
        Ok(partial) if partial.json.starts_with('{') => Arguments::Json(Cow::Owned(partial.json.into_owned())),
        _ => Arguments::default(),
    }
}

/// The calls in the arguments of a [`PARALLEL`] wrapper, or `None` if it holds none.
pub(super) fn expand(wrapper: &ToolCall<'static>) -> Option<Vec<(String, String)>> {
    let Value::Object(body) = wrapper.arguments.to_value() else { return None };
    let uses = body.get("tool_uses").or_else(|| body.get("tool_calls"))?.as_array()?;
    let calls: Vec<_> = (uses.iter())
        .filter_map(|entry| {
            let name = entry.get("recipient_name").or_else(|| entry.get("name"))?.as_str()?;
            let arguments = match entry.get("parameters").or_else(|| entry.get("arguments")) {
                None | Some(Value::Null) => "{}".to_owned(),
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            };
            Some((name.to_owned(), arguments))
        })
        .collect();
    (!calls.is_empty() && calls.len() == uses.len()).then_some(calls)
}
