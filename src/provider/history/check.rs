//! What a provider would refuse in a history, before it is sent.
use super::model::{Message, Part, Role};
use super::{detect_history, ids, read_history};
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
    found.sort_by_key(|issue| index_of(&issue.place));
    Ok(found)
}

fn index_of(place: &str) -> usize {
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
                push(
                    &mut found,
                    IssueCode::BadId,
                    index,
                    format!("the id `{}` is not in the provider's grammar", call.id),
                );
            }
            if !valid_name(&call.name, provider) {
                push(
                    &mut found,
                    IssueCode::BadName,
                    index,
                    format!("the name `{}` is not in the provider's grammar", call.name),
                );
            }
            let object = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
            if !object && !call.custom {
                let message = format!("the arguments of `{}` are no JSON object", call.name);
                push(&mut found, IssueCode::ArgumentType, index, message);
            }
        }
        if message.role != Role::Tool && empty(message) {
            push(&mut found, IssueCode::EmptyContent, index, "the message is empty".to_owned());
        }
    }
    order(messages, provider, &mut found);
    found
}

fn empty(message: &Message) -> bool {
    message.state.is_empty()
        && message.parts.iter().all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()))
}

pub(super) fn valid_name(name: &str, provider: Provider) -> bool {
    let limit = match provider {
        Provider::OpenAiResponses | Provider::Anthropic => 128,
        _ => 64,
    };
    let more = if provider == Provider::Gemini { "_-.:" } else { "_-" };
    provider == Provider::Ollama
        || (1..=limit).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

fn pairing(messages: &[Message], provider: Provider, found: &mut Vec<Issue>) {
    // Responses pairs anywhere later in the input; all others right after the calls.
    let anywhere = provider == Provider::OpenAiResponses;
    let mut first_call: HashMap<&str, usize> = HashMap::new();
    let mut last_answer: HashMap<&str, usize> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        for call in message.calls() {
            first_call.entry(&call.id).or_insert(at);
        }
        last_answer.extend(message.answers().map(|answer| (answer.id.as_str(), at)));
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::Assistant {
            let next = messages.get(at + 1).filter(|next| next.role == Role::Tool);
            let answered: HashSet<&str> = next.into_iter().flat_map(Message::answers).map(|a| a.id.as_str()).collect();
            let mut turn: HashSet<&str> = HashSet::new();
            for call in message.calls() {
                let id = call.id.as_str();
                let twice = !turn.insert(id);
                if twice || seen.contains(id) {
                    let where_ = if twice { "of this message" } else { "of an earlier message" };
                    let text = format!("the id `{}` is also that of another call {where_}", call.id);
                    // Ids that come again in a later turn are common and refused by Mistral alone.
                    if twice || provider == Provider::Mistral {
                        push(found, IssueCode::DuplicateId, message.origin, text);
                    }
                }
                let later = last_answer.get(id).is_some_and(|answer| *answer > at);
                if !(answered.contains(id) || anywhere && later) {
                    let (code, what) = if later {
                        (IssueCode::MisplacedResult, "stands not right after it")
                    } else {
                        (IssueCode::MissingResult, "is missing")
                    };
                    push(found, code, message.origin, format!("the result of `{}` (`{}`) {what}", call.name, call.id));
                }
            }
            seen.extend(turn);
        }
        if message.role == Role::Tool {
            let mut used: HashSet<&str> = HashSet::new();
            for answer in message.answers() {
                let twice = !used.insert(&answer.id);
                if first_call.get(answer.id.as_str()).is_none_or(|call| *call >= at) {
                    let text = format!("the result for `{}` answers no call before it", answer.id);
                    push(found, IssueCode::OrphanResult, message.origin, text);
                } else if twice {
                    let text = format!("a second result for `{}`", answer.id);
                    push(found, IssueCode::OrphanResult, message.origin, text);
                }
            }
        }
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
fn raw_checks(messages: &[Value], provider: Provider, found: &mut Vec<Issue>) {
    let object_form = matches!(provider, Provider::Ollama);
    for (index, message) in messages.iter().enumerate() {
        let calls = message.get("tool_calls").and_then(Value::as_array);
        if calls.is_some_and(Vec::is_empty) && matches!(provider, Provider::OpenAi | Provider::Mistral) {
            push(found, IssueCode::EmptyContent, index, "`tool_calls` is an empty list".to_owned());
        }
        for call in calls.into_iter().flatten() {
            let Some(arguments) = call.pointer("/function/arguments") else { continue };
            let wrong = if object_form {
                arguments.is_string()
            } else {
                arguments.is_object() && provider != Provider::Mistral
            };
            if wrong {
                let (is, should) = if object_form { ("text", "an object") } else { ("an object", "JSON text") };
                push(
                    found,
                    IssueCode::ArgumentType,
                    index,
                    format!("the arguments are {is}; this provider wants {should}"),
                );
            }
        }
        let blocks = message.get("content").and_then(Value::as_array);
        if matches!(provider, Provider::Anthropic | Provider::Bedrock) {
            let mut results_over = false;
            for block in blocks.into_iter().flatten() {
                let kind = block.get("type").and_then(Value::as_str);
                if block.get("text").and_then(Value::as_str).is_some_and(str::is_empty) {
                    push(found, IssueCode::EmptyContent, index, "a text block is empty".to_owned());
                }
                let result = kind == Some("tool_result") || block.get("toolResult").is_some();
                if result && results_over {
                    push(
                        found,
                        IssueCode::BadOrder,
                        index,
                        "a result stands behind other content of its message".to_owned(),
                    );
                }
                results_over |= !result;
                let input = block.get("input").or_else(|| block.pointer("/toolUse/input"));
                let call = kind == Some("tool_use") || block.get("toolUse").is_some();
                if call && input.is_some_and(|input| !input.is_object()) {
                    push(found, IssueCode::ArgumentType, index, "`input` is no object".to_owned());
                }
                let failed = block.get("is_error") == Some(&Value::Bool(true));
                let nothing = match block.get("content") {
                    None | Some(Value::Null) => true,
                    Some(Value::String(text)) => text.is_empty(),
                    Some(Value::Array(list)) => list.is_empty(),
                    Some(_) => false,
                };
                if result && failed && nothing {
                    push(found, IssueCode::EmptyContent, index, "an error result is empty".to_owned());
                }
            }
        }
        for part in message.get("parts").and_then(Value::as_array).into_iter().flatten() {
            let response = part.get("functionResponse").or_else(|| part.get("function_response"));
            if response.is_some_and(|response| !response.get("response").is_some_and(Value::is_object)) {
                push(found, IssueCode::ArgumentType, index, "`response` is no object".to_owned());
            }
        }
    }
}
