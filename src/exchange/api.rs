//! How each API is asked: the path of a request, and the members for messages, limits and formats. A row of data for each.
//!
//! Facts: the API references of the vendors, and the requests of their SDKs (openai, anthropic, google-genai, mistralai, cohere, ollama,
//! boto3). Tools, choices and schemas of answers have their places in [`crate::schema::convert`].
use crate::provider::Provider;
use crate::schema::convert::Format;

/// How a streamed answer is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streaming {
    /// By members of the request (JSON text); `whole` are those of a request that is not streamed.
    Members { stream: &'static str, whole: &'static str },
    /// By another path.
    Path(&'static str),
}

/// A row: how an API is asked.
#[derive(Debug)]
pub(super) struct Api {
    pub(super) provider: Provider,
    pub(super) format: Format,
    /// The base URL of the API's vendor.
    pub(super) base: &'static str,
    /// The prefix of the path if the base URL has no version of the API.
    pub(super) version: &'static str,
    /// The path below the base URL; `{model}` is replaced by the model's id.
    pub(super) path: &'static str,
    pub(super) streaming: Streaming,
    /// Headers beside those of JSON and of the key.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The header of the key, and the prefix of its value.
    pub(super) key: (&'static str, &'static str),
    /// Whether the model's id is a member of the request, and not in the path.
    pub(super) names_model: bool,
    pub(super) messages: &'static str,
    /// The member of the system prompt, for APIs that have it outside the messages.
    pub(super) system: &'static str,
    pub(super) max_tokens: &'static [&'static str],
    /// The default of `max_tokens`, for APIs that require it.
    pub(super) default_max_tokens: Option<u64>,
    pub(super) temperature: &'static [&'static str],
    /// Members that ask for any JSON object, JSON text; empty where the API has no such mode.
    pub(super) json_object: &'static str,
}

const CHAT: Api = Api {
    provider: Provider::OpenAi,
    format: Format::OpenAi,
    base: "https://api.openai.com/v1",
    version: "",
    path: "/chat/completions",
    streaming: Streaming::Members { stream: r#"{"stream":true,"stream_options":{"include_usage":true}}"#, whole: "{}" },
    headers: &[],
    key: ("Authorization", "Bearer "),
    names_model: true,
    messages: "messages",
    system: "system",
    max_tokens: &["max_tokens"],
    default_max_tokens: None,
    temperature: &["temperature"],
    json_object: r#"{"response_format":{"type":"json_object"}}"#,
};

/// OpenAI's own models that reason refuse `max_tokens`.
const OPENAI: Api = Api { max_tokens: &["max_completion_tokens"], ..CHAT };

const RESPONSES: Api = Api {
    provider: Provider::OpenAiResponses,
    format: Format::OpenAiResponses,
    path: "/responses",
    streaming: Streaming::Members { stream: r#"{"stream":true}"#, whole: "{}" },
    messages: "input",
    system: "instructions",
    max_tokens: &["max_output_tokens"],
    json_object: r#"{"text":{"format":{"type":"json_object"}}}"#,
    ..CHAT
};

const ANTHROPIC: Api = Api {
    provider: Provider::Anthropic,
    format: Format::Anthropic,
    base: "https://api.anthropic.com",
    version: "/v1",
    path: "/messages",
    streaming: Streaming::Members { stream: r#"{"stream":true}"#, whole: "{}" },
    headers: &[("anthropic-version", "2023-06-01")],
    key: ("x-api-key", ""),
    default_max_tokens: Some(4096),
    json_object: "",
    ..CHAT
};

const GEMINI: Api = Api {
    provider: Provider::Gemini,
    format: Format::Gemini,
    base: "https://generativelanguage.googleapis.com",
    version: "/v1beta",
    path: "/models/{model}:generateContent",
    streaming: Streaming::Path("/models/{model}:streamGenerateContent?alt=sse"),
    key: ("x-goog-api-key", ""),
    names_model: false,
    messages: "contents",
    system: "systemInstruction",
    max_tokens: &["generationConfig", "maxOutputTokens"],
    temperature: &["generationConfig", "temperature"],
    json_object: r#"{"generationConfig":{"responseMimeType":"application/json"}}"#,
    ..CHAT
};

/// Mistral's API refuses members that it does not know, `stream_options` among them.
const MISTRAL: Api = Api {
    provider: Provider::Mistral,
    format: Format::Mistral,
    base: "https://api.mistral.ai",
    version: "/v1",
    streaming: Streaming::Members { stream: r#"{"stream":true}"#, whole: "{}" },
    ..CHAT
};

const COHERE: Api = Api {
    provider: Provider::Cohere,
    format: Format::Cohere,
    base: "https://api.cohere.com",
    version: "/v2",
    path: "/chat",
    streaming: Streaming::Members { stream: r#"{"stream":true}"#, whole: r#"{"stream":false}"# },
    ..CHAT
};

/// Ollama streams by default.
const OLLAMA: Api = Api {
    provider: Provider::Ollama,
    format: Format::Ollama,
    base: "http://localhost:11434",
    version: "",
    path: "/api/chat",
    streaming: Streaming::Members { stream: r#"{"stream":true}"#, whole: r#"{"stream":false}"# },
    max_tokens: &["options", "num_predict"],
    temperature: &["options", "temperature"],
    json_object: r#"{"format":"json"}"#,
    ..CHAT
};

const BEDROCK: Api = Api {
    provider: Provider::Bedrock,
    format: Format::Bedrock,
    base: "https://bedrock-runtime.us-east-1.amazonaws.com",
    path: "/model/{model}/converse",
    streaming: Streaming::Path("/model/{model}/converse-stream"),
    names_model: false,
    max_tokens: &["inferenceConfig", "maxTokens"],
    temperature: &["inferenceConfig", "temperature"],
    json_object: "",
    ..CHAT
};

/// Servers of Chat Completions that take other schemas than OpenAI, or have another base URL.
const SERVERS: [(&str, Api); 13] = [
    ("openai", OPENAI),
    ("azure", OPENAI),
    ("openrouter", Api { format: Format::OpenRouter, base: "https://openrouter.ai/api/v1", ..CHAT }),
    ("moonshot", Api { format: Format::Moonshot, base: "https://api.moonshot.ai/v1", ..CHAT }),
    ("groq", Api { base: "https://api.groq.com/openai/v1", ..CHAT }),
    ("deepseek", Api { base: "https://api.deepseek.com", ..CHAT }),
    ("xai", Api { base: "https://api.x.ai/v1", ..CHAT }),
    ("together", Api { base: "https://api.together.xyz/v1", ..CHAT }),
    ("fireworks", Api { base: "https://api.fireworks.ai/inference/v1", ..CHAT }),
    ("cerebras", Api { base: "https://api.cerebras.ai/v1", ..CHAT }),
    ("llama_cpp", Api { format: Format::LlamaCpp, base: "http://localhost:8080/v1", ..CHAT }),
    ("lm_studio", Api { format: Format::LlamaCpp, base: "http://localhost:1234/v1", ..CHAT }),
    ("vllm", Api { base: "http://localhost:8000/v1", ..CHAT }),
];

static ALL: [(&str, Api); 8] = [
    ("openai", CHAT),
    ("openai_responses", RESPONSES),
    ("anthropic", ANTHROPIC),
    ("gemini", GEMINI),
    ("mistral", MISTRAL),
    ("cohere", COHERE),
    ("ollama", OLLAMA),
    ("bedrock", BEDROCK),
];

static CHATS: [(&str, Api); 13] = SERVERS;

/// The row of a wire format.
pub(super) fn of_provider(provider: Provider) -> &'static Api {
    ALL.iter().find(|(_, api)| api.provider == provider).map_or(&ALL[0].1, |(_, api)| api)
}

/// The row of a server that speaks Chat Completions; that of any such server where it has none of its own.
pub(super) fn of_chat(server: &str) -> &'static Api {
    CHATS.iter().find(|(name, _)| *name == server).map_or(&ALL[0].1, |(_, api)| api)
}

/// The provider whose own API is meant by a base URL of the server `name` with this path. Several have that of Chat Completions as
/// well, on a path of its own.
pub(super) fn at(name: &str, path: &str) -> Option<Provider> {
    let has = |part: &str| path.split('/').any(|segment| segment == part);
    if has("messages") || has("anthropic") {
        return Some(Provider::Anthropic);
    }
    if has("responses") {
        return Some(Provider::OpenAiResponses);
    }
    if has("openai") || has("compatibility") || has("completions") {
        return None;
    }
    match name {
        "anthropic" => Some(Provider::Anthropic),
        "google" | "vertex" => Some(Provider::Gemini),
        "mistral" => Some(Provider::Mistral),
        "cohere" => Some(Provider::Cohere),
        "bedrock" => Some(Provider::Bedrock),
        "ollama" if !has("v1") => Some(Provider::Ollama),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, CHATS, Streaming, at};
    use crate::provider::Provider;
    use serde_json::Value;

    #[test]
    fn rows_are_json() {
        for (name, api) in ALL.iter().chain(&CHATS) {
            let mut texts = vec![api.json_object];
            if let Streaming::Members { stream, whole } = api.streaming {
                texts.extend([stream, whole]);
            }
            for text in texts.into_iter().filter(|text| !text.is_empty()) {
                assert!(serde_json::from_str::<Value>(text).unwrap().is_object(), "{name}");
            }
        }
    }

    #[test]
    fn a_path_tells_which_api_of_a_server_is_meant() {
        for (name, path, provider) in [
            ("google", "/v1beta", Some(Provider::Gemini)),
            ("google", "/v1beta/openai", None),
            ("cohere", "/compatibility/v1", None),
            ("cohere", "/v2", Some(Provider::Cohere)),
            ("ollama", "/v1", None),
            ("ollama", "", Some(Provider::Ollama)),
            ("deepseek", "/anthropic", Some(Provider::Anthropic)),
            ("openai", "/v1", None),
            ("openai", "/v1/responses", Some(Provider::OpenAiResponses)),
        ] {
            assert_eq!(at(name, path), provider, "{name} {path}");
        }
    }
}
