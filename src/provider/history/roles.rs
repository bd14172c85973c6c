//! Who may speak in a provider's messages. Reading takes whoever is none of these for the user.
use crate::provider::Provider;
use serde_json::Value;

/// The roles that the provider's API takes.
const fn taken(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::OpenAi => &["system", "developer", "user", "assistant", "tool", "function"],
        Provider::Mistral | Provider::Cohere => &["system", "user", "assistant", "tool"],
        // Granite's templates have one of their own, which the server hands on.
        Provider::Ollama => &["system", "user", "assistant", "tool", "control"],
        Provider::OpenAiResponses => &["system", "developer", "user", "assistant"],
        Provider::Anthropic | Provider::Bedrock => &["user", "assistant"],
        Provider::Gemini => &["user", "model", "function", "tool"],
    }
}

/// Others that reading knows: they are somebody's role.
const fn understood(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::OpenAi | Provider::Mistral | Provider::Cohere | Provider::Ollama => {
            &["developer", "model", "function"]
        }
        Provider::Anthropic => &["system"],
        Provider::OpenAiResponses | Provider::Bedrock | Provider::Gemini => &[],
    }
}

/// What is wrong with the role of `message`, if the provider's API does not take it.
pub(super) fn refused(message: &Value, provider: Provider) -> Option<String> {
    unknown(message, provider, |role| taken(provider).contains(&role))
}

/// The same, of a role that reading does not know either: the message was taken for the user's.
pub(super) fn not_understood(message: &Value, provider: Provider) -> Option<String> {
    unknown(message, provider, |role| taken(provider).contains(&role) || understood(provider).contains(&role))
}

fn unknown(message: &Value, provider: Provider, known: impl Fn(&str) -> bool) -> Option<String> {
    // An item of Responses of another type has none.
    let item = provider == Provider::OpenAiResponses
        && message.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "message");
    let name = provider.as_str();
    match message.get("role") {
        _ if item => None,
        Some(Value::String(role)) if known(role) => None,
        Some(Value::String(role)) => Some(format!("{role:?} is no role of `{name}`")),
        // Gemini's API means the user then.
        None | Some(Value::Null) if provider == Provider::Gemini => None,
        None | Some(Value::Null) => Some("the message has no role".to_owned()),
        Some(_) => Some("the message's role is no text".to_owned()),
    }
}
