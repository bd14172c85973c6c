//! The settings of a request in every API's spelling: a table, and the few that differ in more than their names.
use super::super::{BackendApi, ClientApi};
use super::{Losses, Options};
use crate::provider::Node;
use serde_json::{Map, Value, json};

/// One setting. Of several spellings the first that is there is read, and the first is written; `""`: the API has no such setting.
struct Row {
    chat: &'static [&'static str],
    responses: &'static str,
    anthropic: &'static str,
    /// In `generationConfig`.
    gemini: &'static str,
}

/// Facts: `openai` 3.54, `anthropic` 2.12 and `google-genai` 3.4; what local servers take beside OpenAI's fields, by the
/// documents of vLLM and llama.cpp.
const ROWS: [Row; 8] = [
    Row {
        // pi sends `max_completion_tokens`; every server knows `max_tokens`.
        chat: &["max_tokens", "max_completion_tokens"],
        responses: "max_output_tokens",
        anthropic: "max_tokens",
        gemini: "maxOutputTokens",
    },
    Row { chat: &["temperature"], responses: "temperature", anthropic: "temperature", gemini: "temperature" },
    Row { chat: &["top_p"], responses: "top_p", anthropic: "top_p", gemini: "topP" },
    Row { chat: &["top_k"], responses: "", anthropic: "top_k", gemini: "topK" },
    Row { chat: &["stop"], responses: "", anthropic: "stop_sequences", gemini: "stopSequences" },
    Row { chat: &["seed"], responses: "", anthropic: "", gemini: "seed" },
    Row { chat: &["presence_penalty"], responses: "", anthropic: "", gemini: "presencePenalty" },
    Row { chat: &["frequency_penalty"], responses: "", anthropic: "", gemini: "frequencyPenalty" },
];

/// Fields that are read elsewhere, or whose absence changes nothing in an answer.
const READ: [&str; 28] = [
    "model",
    "messages",
    "input",
    "system",
    "instructions",
    "tools",
    "functions",
    "tool_choice",
    "function_call",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "metadata",
    "store",
    "include",
    "prompt_cache_key",
    "client_metadata",
    "user",
    "safety_identifier",
    "context_management",
    "cache_control",
    "service_tier",
    "n",
    "reasoning",
    "reasoning_effort",
    "thinking",
    "output_config",
    "text",
];

/// Writes what `asked` sets into `body`, and says what the backend has no place for.
pub(crate) fn write(
    asked: &Node<'_>,
    from: ClientApi,
    to: BackendApi,
    options: &Options,
    body: &mut Map<String, Value>,
    losses: &mut Losses,
) {
    let mut config = Map::new();
    let mut known: Vec<&str> = Vec::new();
    for row in &ROWS {
        let spellings = match from {
            ClientApi::Chat => row.chat.to_vec(),
            ClientApi::Responses => vec![row.responses],
            ClientApi::Anthropic => vec![row.anthropic],
        };
        known.extend(&spellings);
        let Some((said, value)) = spellings.iter().find_map(|key| Some((*key, asked.get(key)?))) else { continue };
        let mut value = value.to_value();
        let (into, key) = match to {
            BackendApi::Chat => (&mut *body, *row.chat.first().unwrap_or(&"")),
            BackendApi::Responses => (&mut *body, row.responses),
            BackendApi::Anthropic => (&mut *body, row.anthropic),
            BackendApi::Gemini => (&mut config, row.gemini),
        };
        if key.is_empty() {
            losses.lose(said, format!("`{said}` has no place in this API; it was left out"));
            continue;
        }
        if matches!(row.anthropic, "stop_sequences") && value.is_string() && to != BackendApi::Chat {
            value = json!([value]);
        }
        if row.anthropic == "temperature"
            && to == BackendApi::Anthropic
            && value.as_f64().is_some_and(|heat| heat > 1.0)
        {
            losses.lose(said, "the temperature is 1 at most; it became that");
            value = json!(1);
        }
        into.insert(key.to_owned(), value);
    }
    if to == BackendApi::Anthropic {
        body.entry("max_tokens").or_insert_with(|| json!(options.max_tokens));
    }
    format(asked, from, to, body, &mut config);
    effort(asked, from, to, body, losses);
    if !config.is_empty() {
        body.insert("generationConfig".into(), Value::Object(config));
    }
    known.extend(["response_format", "thread", "previous_response_id", "conversation", "background"]);
    for (key, value) in asked.members() {
        if !known.contains(&&**key) && !READ.contains(&&**key) && !matches!(value, Node::Null) {
            losses.lose(&**key, format!("`{key}` is not known to both APIs; it was left out"));
        }
    }
}

/// A schema that the answer's text must fit.
fn format(
    asked: &Node<'_>,
    from: ClientApi,
    to: BackendApi,
    body: &mut Map<String, Value>,
    config: &mut Map<String, Value>,
) {
    let said = match from {
        ClientApi::Chat => asked.get("response_format"),
        ClientApi::Responses => asked.at(&["text", "format"]),
        ClientApi::Anthropic => asked.at(&["output_config", "format"]),
    };
    let Some(said) = said else { return };
    let inner = said.get("json_schema").unwrap_or(said);
    let (schema, name) = (inner.get("schema").map(Node::to_value), inner.text("name").unwrap_or("answer").to_owned());
    let strict = inner.is_true("strict");
    match (to, schema) {
        (BackendApi::Chat, Some(schema)) => {
            let schema = json!({"name": name, "schema": schema, "strict": strict});
            body.insert("response_format".into(), json!({"type": "json_schema", "json_schema": schema}));
        }
        (BackendApi::Responses, Some(schema)) => {
            let format = json!({"type": "json_schema", "name": name, "schema": schema, "strict": strict});
            body.insert("text".into(), json!({ "format": format }));
        }
        (BackendApi::Anthropic, Some(schema)) => {
            body.insert("output_config".into(), json!({"format": {"type": "json_schema", "schema": schema}}));
        }
        (BackendApi::Gemini, schema) => {
            if said.text("type").is_some_and(|kind| kind.starts_with("json")) {
                config.insert("responseMimeType".into(), json!("application/json"));
            }
            if let Some(schema) = schema {
                config.insert("responseJsonSchema".into(), schema);
            }
        }
        (to, None) if said.text("type") == Some("json_object") => match to {
            BackendApi::Chat => drop(body.insert("response_format".into(), json!({"type": "json_object"}))),
            BackendApi::Responses => drop(body.insert("text".into(), json!({"format": {"type": "json_object"}}))),
            _ => {}
        },
        (_, None) => {}
    }
}

/// How much the model is to think.
fn effort(asked: &Node<'_>, from: ClientApi, to: BackendApi, body: &mut Map<String, Value>, losses: &mut Losses) {
    let said = match from {
        ClientApi::Chat => asked.text("reasoning_effort"),
        ClientApi::Responses => asked.at(&["reasoning", "effort"]).and_then(Node::str),
        // Claude Code says it in every request, and of every model: servers that know other words refuse it.
        ClientApi::Anthropic => None,
    };
    let Some(effort) = said else { return };
    match to {
        BackendApi::Chat => drop(body.insert("reasoning_effort".into(), json!(effort))),
        BackendApi::Responses => drop(body.insert("reasoning".into(), json!({ "effort": effort }))),
        BackendApi::Anthropic | BackendApi::Gemini => {
            losses.lose("reasoning_effort", "how much to think is said otherwise in this API; it was left out");
        }
    }
}
