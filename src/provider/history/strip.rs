//! Takes out of a history what no provider takes: parts that are none, calls without a name, texts of nothing but white
//! space where the provider refuses those.
use super::model::{Message, Part, Role};
use crate::provider::Provider;
use crate::turn::IssueCode;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashSet;

/// Whether the provider refuses a text that has nothing but white space in it ("must contain non-whitespace text").
pub(super) const fn refuses_blank(provider: Provider) -> bool {
    matches!(provider, Provider::Anthropic | Provider::Bedrock)
}

/// Whether a block is a text of nothing but white space, or says that it is one and has none.
pub(super) fn is_blank_text(block: &Value) -> bool {
    match block.get("text") {
        Some(Value::String(text)) => text.trim().is_empty(),
        _ => block.get("type").and_then(Value::as_str) == Some("text"),
    }
}

/// Whether nothing of the message would be left once it is written for `provider`. Ollama's messages have no parts.
pub(super) fn is_empty(message: &Message, provider: Provider) -> bool {
    let says_nothing = |part: &Part| match part {
        Part::Text(text) => text.trim().is_empty(),
        Part::Opaque(..) => provider == Provider::Ollama,
        _ => false,
    };
    message.state.is_empty() && message.parts.iter().all(says_nothing)
}

/// Whether a list of parts may have a text for a part: servers of Chat Completions take it.
const fn takes_bare_text(provider: Provider) -> bool {
    matches!(provider, Provider::OpenAi | Provider::Mistral | Provider::Cohere | Provider::Ollama)
}

/// The lists of parts of a message; those in the results among its parts as well.
const LISTS: [&str; 3] = ["content", "parts", "output"];

/// Where the lists of a result's parts stand in a part.
const INNER: [&str; 4] = ["/content", "/toolResult/content", "/functionResponse/parts", "/function_response/parts"];

fn is_part(part: &Value, provider: Provider) -> bool {
    let holds = |key: &&str| part.get(*key).is_some_and(|held| !held.is_object());
    part.is_object() && !(provider == Provider::Gemini && HOLDERS.iter().any(holds))
        || takes_bare_text(provider) && part.is_string()
}

/// Members of Gemini's parts that hold an object: with anything else in them, the part is none.
const HOLDERS: [&str; 4] = ["functionCall", "function_call", "functionResponse", "function_response"];

/// Whether a list of `message` has a part that is neither an object nor, where that is allowed, a text.
pub(super) fn has_odd_part(message: &Value, provider: Provider) -> bool {
    let odd = |list: &Value| list.as_array().is_some_and(|list| list.iter().any(|part| !is_part(part, provider)));
    LISTS.iter().filter_map(|key| message.get(*key)).any(|list| {
        odd(list)
            || list.as_array().into_iter().flatten().any(|part| INNER.iter().filter_map(|at| part.pointer(at)).any(odd))
    })
}

/// The messages without parts that are none: a text becomes a part with it, anything else is left out.
pub(super) fn odd_parts<'m>(
    messages: &'m [Value],
    provider: Provider,
    note: &mut impl FnMut(IssueCode, usize, String),
) -> Cow<'m, [Value]> {
    let mut out = Cow::Borrowed(messages);
    for (index, message) in messages.iter().enumerate() {
        if !has_odd_part(message, provider) {
            continue;
        }
        note(IssueCode::EmptyContent, index, "what is no part of a message was left out".to_owned());
        let message = out.to_mut().get_mut(index).and_then(Value::as_object_mut);
        for (key, value) in message.into_iter().flatten().filter(|(key, _)| LISTS.contains(&key.as_str())) {
            let Value::Array(list) = value else { continue };
            clean_list(list, key, provider);
            for part in list {
                for at in INNER {
                    if let Some(Value::Array(list)) = part.pointer_mut(at) {
                        clean_list(list, key, provider);
                    }
                }
            }
        }
    }
    out
}

/// `key`: of the list of the message, which the spelling of a text follows from.
fn clean_list(list: &mut Vec<Value>, key: &str, provider: Provider) {
    list.retain_mut(|part| {
        if let (Value::String(text), false) = (&part, takes_bare_text(provider)) {
            *part = match provider {
                Provider::Gemini | Provider::Bedrock => json!({"text": text}),
                Provider::OpenAiResponses if key == "content" || key == "output" => {
                    json!({"type": "input_text", "text": text})
                }
                _ => json!({"type": "text", "text": text}),
            };
        }
        is_part(part, provider)
    });
}

/// The parts of the provider's own record of the message, with a `$call` for each call.
fn template(message: &mut Message, provider: Provider) -> Option<&mut Vec<Value>> {
    let state = message.state.get_mut(provider.as_str())?;
    ["parts", "content", "output"].into_iter().find(|key| state.get(*key).is_some_and(Value::is_array)).and_then(
        |key| match state.get_mut(key) {
            Some(Value::Array(list)) => Some(list),
            _ => None,
        },
    )
}

/// Takes calls that the model did not make or that have no name out of the messages and, where they are refused, blank
/// texts. Returns the indices of the messages that are affected.
pub(super) fn unsayable(
    messages: &mut [Message],
    provider: Provider,
    note: &mut impl FnMut(IssueCode, usize, String),
) -> HashSet<usize> {
    let mut wrong = HashSet::new();
    for message in messages {
        let foreign = message.role != Role::Assistant;
        let nameless: Vec<bool> = message.calls().map(|call| foreign || call.name.is_empty()).collect();
        for _ in nameless.iter().filter(|nameless| **nameless) {
            let (code, what) = match foreign {
                true => (IssueCode::BadRole, "a call in a message that is not the model's was left out"),
                false => (IssueCode::BadName, "a call without a name was left out"),
            };
            note(code, message.origin, what.to_owned());
        }
        let blank = |text: &str| refuses_blank(provider) && text.trim().is_empty();
        let parts = message.parts.len();
        let says_nothing = |part: &Part| match part {
            Part::Text(text) => blank(text),
            Part::Opaque(_, block) => refuses_blank(provider) && is_blank_text(block),
            _ => false,
        };
        message.parts.retain(|part| !says_nothing(part));
        for part in &mut message.parts {
            if let Part::Answer(answer) = part {
                answer.parts.retain(|part| !says_nothing(part));
            }
        }
        let blank_block = |block: &Value| refuses_blank(provider) && is_blank_text(block);
        // A block that says it is a text and has none is in the provider's own record alone.
        let recorded = template(message, provider).is_some_and(|template| template.iter().any(blank_block));
        let blanks = message.parts.len() < parts || recorded;
        if !blanks && !nameless.contains(&true) {
            continue;
        }
        wrong.insert(message.origin);
        message.parts.retain(|part| !matches!(part, Part::Call(call) if foreign || call.name.is_empty()));
        // An empty message is left out as a whole.
        if blanks && !(message.parts.is_empty() && message.state.is_empty()) {
            note(IssueCode::EmptyContent, message.origin, "a text of nothing but white space was left out".to_owned());
        }
        let Some(template) = template(message, provider) else { continue };
        template.retain_mut(|part| {
            let Some(number) = part.get("$call").and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()) else {
                return !blank_block(part);
            };
            let before = nameless.get(..number).unwrap_or_default().iter().filter(|nameless| **nameless).count();
            if let Some(slot) = part.get_mut("$call") {
                *slot = json!(number - before);
            }
            nameless.get(number) == Some(&false)
        });
        if template.is_empty() {
            message.state.shift_remove(provider.as_str());
        }
    }
    wrong
}
