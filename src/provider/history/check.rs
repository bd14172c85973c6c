//! What a provider would refuse in a history, before it is sent.
use super::model::{Message, Part, Role};
use super::pairs::{Place, pairs};
use super::{detect_history, ids, is_object, read_history, responses, roles, strip};
use crate::error::Error;
use crate::provider::Provider;
use crate::turn::{Issue, IssueCode};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Every violation of what `provider` (detected if `None`) wants of a history, each with the index of its message in
/// `place` (`/3` is the fourth message).
///
/// # Errors
/// [`crate::ErrorCode::BadMessage`] with the index of a message that is none.
pub fn check_history(messages: &[Value], provider: Option<Provider>) -> Result<Vec<Issue>, Error> {
    let provider = provider.unwrap_or_else(|| detect_history(messages));
    let read = read_history(messages, None, provider, None)?;
    let mut found = check(&read, provider);
    raw_checks(messages, provider, &mut found);
    odd_parts(messages, provider, &mut found);
    found.sort_by_key(|issue| index_of(&issue.place));
    Ok(found)
}

pub(super) fn index_of(place: &str) -> usize {
    place.trim_start_matches('/').split('/').next().and_then(|index| index.parse().ok()).unwrap_or(0)
}

fn push(found: &mut Vec<Issue>, code: IssueCode, index: usize, message: String) {
    found.push(Issue::of(code, format!("/{index}"), message));
}

/// The rules that hold for messages whatever their spelling.
pub(super) fn check(messages: &[Message], provider: Provider) -> Vec<Issue> {
    let mut found = Vec::new();
    pairing(messages, provider, &mut found);
    for message in messages {
        let index = message.origin;
        for call in message.calls() {
            if provider != Provider::Gemini && !ids::valid(&call.id, provider) {
                let message = format!("`{}` is no id for this provider: it takes {}", call.id, ids::grammar(provider));
                push(&mut found, IssueCode::BadId, index, message);
            }
            if !valid_name(&call.name, provider) {
                let (limit, signs) = names(provider);
                let signs = signs.chars().map(|sign| format!("`{sign}`")).collect::<Vec<_>>().join(" ");
                let message = format!(
                    "`{}` is no tool's name for this provider: it takes at most {limit} letters, digits and {signs}",
                    call.name
                );
                push(&mut found, IssueCode::BadName, index, message);
            }
            let object = is_object(&call.arguments);
            if !object && !call.custom {
                let message = format!("the arguments of `{}` are no JSON object", call.name);
                push(&mut found, IssueCode::ArgumentType, index, message);
            }
        }
        for answer in message.answers().filter(|answer| !answer.name.is_empty()) {
            if !valid_name(&answer.name, provider) {
                let message =
                    format!("`{}`, of which this is a result, is no tool's name for this provider", answer.name);
                push(&mut found, IssueCode::BadName, index, message);
            }
        }
        if message.role != Role::Tool && strip::is_empty(message, provider) {
            push(&mut found, IssueCode::EmptyContent, index, "the message is empty".to_owned());
        }
    }
    order(messages, provider, &mut found);
    found
}

/// How long a tool's name may be, and which signs it may have beside letters and digits.
const fn names(provider: Provider) -> (usize, &'static str) {
    let limit = match provider {
        Provider::OpenAiResponses | Provider::Anthropic => 128,
        _ => 64,
    };
    (limit, if matches!(provider, Provider::Gemini) { "_-.:" } else { "_-" })
}

pub(super) fn valid_name(name: &str, provider: Provider) -> bool {
    let (limit, signs) = names(provider);
    provider == Provider::Ollama && !name.is_empty()
        || (1..=limit).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || signs.contains(c))
}

fn pairing(messages: &[Message], provider: Provider, found: &mut Vec<Issue>) {
    // Responses pairs anywhere later in the input; all others right after the calls.
    let anywhere = provider == Provider::OpenAiResponses;
    let result_of = pairs(messages);
    let call_of: HashMap<Place, Place> = result_of.iter().map(|(call, result)| (*result, *call)).collect();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut called: HashSet<&str> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let mut turn: HashSet<&str> = HashSet::new();
        for (number, part) in message.parts.iter().enumerate() {
            match part {
                Part::Call(call) => {
                    called.insert(&call.id);
                    let twice = !turn.insert(&call.id);
                    // Ids that come again in a later turn are common and refused by Mistral alone.
                    if twice || provider == Provider::Mistral && seen.contains(call.id.as_str()) {
                        let where_ = if twice { "of this message" } else { "of an earlier message" };
                        let text = format!("the id `{}` is also that of another call {where_}", call.id);
                        push(found, IssueCode::DuplicateId, message.origin, text);
                    }
                    let (code, what) = match result_of.get(&(at, number)) {
                        Some((result, _)) if *result == at + 1 || anywhere && *result > at => continue,
                        Some(_) => (IssueCode::MisplacedResult, "stands not right after it"),
                        None => (IssueCode::MissingResult, "is missing"),
                    };
                    push(found, code, message.origin, format!("the result of `{}` (`{}`) {what}", call.name, call.id));
                }
                Part::Answer(answer) if message.role == Role::Tool => {
                    let text = match call_of.get(&(at, number)) {
                        Some((call, _)) if *call < at => continue,
                        None if called.contains(answer.id.as_str()) => format!("a second result for `{}`", answer.id),
                        _ => format!("the result for `{}` answers no call before it", answer.id),
                    };
                    push(found, IssueCode::OrphanResult, message.origin, text);
                }
                _ => {}
            }
        }
        seen.extend(turn);
    }
}

fn order(messages: &[Message], provider: Provider, found: &mut Vec<Issue>) {
    let spoken: Vec<&Message> = messages.iter().filter(|message| message.role != Role::System).collect();
    if let (Some(first), Provider::Anthropic | Provider::Bedrock | Provider::Gemini | Provider::Mistral) =
        (spoken.first(), provider)
        && first.role == Role::Assistant
    {
        let message = "the conversation begins with the assistant; this provider wants a user's message first";
        push(found, IssueCode::BadOrder, first.origin, message.to_owned());
    }
    if provider == Provider::Gemini {
        for pair in spoken.windows(2) {
            if let [before, message] = pair
                && message.calls().next().is_some()
                && before.role == Role::Assistant
            {
                let text = "calls must come right after a user's message or results";
                push(found, IssueCode::BadOrder, message.origin, text.to_owned());
            }
        }
    }
}

/// The rules about the spelling itself, which reading is lenient about.
pub(super) fn raw_checks(messages: &[Value], provider: Provider, found: &mut Vec<Issue>) {
    // The items that are calls, whose results say of which kind they are; and of which kind each call is.
    let items = ["function_call", "custom_tool_call"];
    let mut kinds: HashMap<&str, &str> = HashMap::new();
    for (index, message) in messages.iter().enumerate() {
        let mut note = |code, text: &str| push(found, code, index, text.to_owned());
        if let Some(text) = roles::refused(message, provider) {
            note(IssueCode::BadRole, &text);
        }
        chat_calls(message, provider, &mut note);
        chat_result(message, provider, &mut note);
        if matches!(provider, Provider::Anthropic | Provider::Bedrock) {
            blocks(message, provider, &mut note);
        }
        let kind = message.get("type").and_then(Value::as_str);
        if provider == Provider::OpenAiResponses && responses::has_bad_id(message) {
            note(IssueCode::BadId, "the item's own `id` is not one of the API's; it may be left out");
        }
        let call = kind.and_then(|kind| kind.strip_suffix("_output")).filter(|call| items.contains(call));
        if let (Provider::OpenAiResponses, Some(call)) = (provider, call) {
            let id = message.get("call_id").and_then(Value::as_str).unwrap_or_default();
            match kinds.get(id) {
                _ if id.is_empty() => note(IssueCode::BadId, "a result names no call"),
                Some(own) if *own != call => {
                    note(IssueCode::OrphanResult, &format!("`{id}` is a `{own}`, and its result a `{call}_output`"));
                }
                _ => {}
            }
        } else if let Some(call) = kind.filter(|kind| items.contains(kind)) {
            kinds.insert(message.get("call_id").and_then(Value::as_str).unwrap_or_default(), call);
        }
        for part in message.get("parts").and_then(Value::as_array).into_iter().flatten() {
            let response = part.get("functionResponse").or_else(|| part.get("function_response"));
            let Some(response) = response else { continue };
            if !response.get("response").is_some_and(Value::is_object) {
                note(IssueCode::ArgumentType, "`response` is no object");
            }
            if !filled(response, "name") {
                note(IssueCode::BadName, "a result names no tool");
            }
        }
    }
}

/// Parts of a message that are none.
fn odd_parts(messages: &[Value], provider: Provider, found: &mut Vec<Issue>) {
    for (index, _) in messages.iter().enumerate().filter(|(_, message)| strip::has_odd_part(message, provider)) {
        let message = "a part of the message is neither an object nor text";
        push(found, IssueCode::EmptyContent, index, message.to_owned());
    }
}

/// Whether there is a text under `key`, and something in it.
fn filled(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

/// The providers whose calls and results pair by ids that stand in messages of chat's shape.
fn pairs_by_id(provider: Provider) -> bool {
    matches!(provider, Provider::OpenAi | Provider::Mistral | Provider::Cohere)
}

fn chat_calls(message: &Value, provider: Provider, note: &mut impl FnMut(IssueCode, &str)) {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    if calls.is_some_and(Vec::is_empty) && matches!(provider, Provider::OpenAi | Provider::Mistral) {
        note(IssueCode::EmptyContent, "`tool_calls` is an empty list");
    }
    for call in calls.into_iter().flatten() {
        if pairs_by_id(provider) && !filled(call, "id") {
            note(IssueCode::BadId, "a call has no id");
        }
        match call.pointer("/function/arguments") {
            Some(Value::String(_)) if provider == Provider::Ollama => {
                note(IssueCode::ArgumentType, "the arguments are text; this provider wants an object");
            }
            Some(Value::Object(_)) if !matches!(provider, Provider::Ollama | Provider::Mistral) => {
                note(IssueCode::ArgumentType, "the arguments are an object; this provider wants JSON text");
            }
            _ => {}
        }
    }
}

fn chat_result(message: &Value, provider: Provider, note: &mut impl FnMut(IssueCode, &str)) {
    if !pairs_by_id(provider) || message.get("role").and_then(Value::as_str) != Some("tool") {
        return;
    }
    if !filled(message, "tool_call_id") {
        note(IssueCode::BadId, "a result names no call");
    }
    match message.get("content") {
        Some(Value::String(_) | Value::Array(_)) => {}
        None | Some(Value::Null) => note(IssueCode::EmptyContent, "a result has no content"),
        Some(_) => note(IssueCode::ArgumentType, "a result's content is neither text nor a list of parts"),
    }
}

fn blocks(message: &Value, provider: Provider, note: &mut impl FnMut(IssueCode, &str)) {
    let mut results_over = false;
    for block in message.get("content").and_then(Value::as_array).into_iter().flatten() {
        let kind = block.get("type").and_then(Value::as_str);
        blank_text(block, note);
        // A block in the other's spelling is nothing that this provider knows.
        let wrapped = |key: &str| block.get(key).filter(|_| provider == Provider::Bedrock);
        let result = if kind == Some("tool_result") { Some(block) } else { wrapped("toolResult") };
        if result.is_some() && results_over {
            note(IssueCode::BadOrder, "a result stands behind other content of its message");
        }
        results_over |= result.is_none();
        let call = if kind == Some("tool_use") { Some(block) } else { wrapped("toolUse") };
        let input = call.and_then(|call| call.get("input"));
        if input.is_some_and(|input| !input.is_object()) {
            note(IssueCode::ArgumentType, "`input` is no object");
        }
        let Some(result) = result else { continue };
        if !(filled(result, "tool_use_id") || filled(result, "toolUseId")) {
            note(IssueCode::BadId, "a result names no call");
        }
        result.get("content").and_then(Value::as_array).into_iter().flatten().for_each(|part| blank_text(part, note));
        let failed = block.get("is_error") == Some(&Value::Bool(true));
        let nothing = match block.get("content") {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(list)) => list.is_empty(),
            Some(_) => false,
        };
        if failed && nothing {
            note(IssueCode::EmptyContent, "an error result is empty");
        }
    }
}

fn blank_text(part: &Value, note: &mut impl FnMut(IssueCode, &str)) {
    if strip::is_blank_text(part) {
        note(IssueCode::EmptyContent, "a text is nothing but white space");
    }
}
