//! Which wire format a payload is in.
use super::{Node, Provider, bedrock, errors};

/// Whether this is a complete response by its shape, and no chunk of a stream. Gemini's chunks have the shape of its responses.
pub(super) fn is_complete(node: &Node<'_>) -> bool {
    let message = |node: &Node<'_>| node.get("message").is_some_and(Node::is_object);
    let chat = node.list("choices").iter().any(message);
    let ended = node.get("finish_reason").is_some() || node.is_true("done");
    let typed = node.text("type") == Some("message") || node.text("object") == Some("response");
    chat || typed || message(node) && ended || node.at(&["output", "message"]).is_some()
}

/// The wire format of a response, of a stream's chunk or of an error body; `None` if its shape says nothing.
pub fn detect(node: &Node<'_>) -> Option<Provider> {
    if let [first, ..] = node.items() {
        return detect(first);
    }
    if let Some(kind) = node.text("type") {
        if kind.starts_with("response.") {
            return Some(Provider::OpenAiResponses);
        }
        match kind {
            "message"
            | "message_start"
            | "message_delta"
            | "message_stop"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "ping" => return Some(Provider::Anthropic),
            "error" if node.get("error").is_some() => return Some(Provider::Anthropic),
            "error" if node.get("sequence_number").is_some() => return Some(Provider::OpenAiResponses),
            "message-start" | "content-start" | "content-delta" | "content-end" | "tool-plan-delta"
            | "tool-call-start" | "tool-call-delta" | "tool-call-end" | "citation-start" | "citation-end"
            | "message-end" => return Some(Provider::Cohere),
            _ => {}
        }
    }
    let has = |key: &str| node.members().iter().any(|(k, _)| k == key);
    if has("choices") {
        // Only Mistral puts its thinking into a list of chunks.
        let chunks = node.list("choices").iter().any(|choice| {
            let message = choice.either(["message", "delta"]);
            let thinking = |part: &Node<'_>| part.text("type") == Some("thinking");
            message.is_some_and(|message| message.list("content").iter().any(thinking))
        });
        return Some(if chunks { Provider::Mistral } else { Provider::OpenAi });
    }
    if ["candidates", "promptFeedback", "usageMetadata", "prompt_feedback", "usage_metadata"].iter().any(|k| has(k)) {
        return Some(Provider::Gemini);
    }
    if node.at(&["output", "message"]).is_some() || has("stopReason") {
        return Some(Provider::Bedrock);
    }
    let bedrock = |key: &str| bedrock::EVENTS.contains(&key) || errors::is_exception(key);
    if node.members().iter().any(|(key, _)| bedrock(key)) && !has("id") {
        return Some(Provider::Bedrock);
    }
    if matches!(node.get("output"), Some(Node::Array(_))) || node.text("object") == Some("response") {
        return Some(Provider::OpenAiResponses);
    }
    if node.get("message").is_some_and(Node::is_object) {
        let plan = node.at(&["message", "tool_plan"]).is_some();
        return Some(match node.text("finish_reason") {
            // One of the choices of Chat Completions alone; Cohere's reasons are in capitals.
            Some(reason) if !plan && reason.bytes().any(|byte| byte.is_ascii_lowercase()) => Provider::OpenAi,
            _ if plan || has("finish_reason") => Provider::Cohere,
            _ => Provider::Ollama,
        });
    }
    if node.text("role") == Some("assistant") && has("stop_reason") {
        return Some(Provider::Anthropic);
    }
    if has("done") && has("model") {
        return Some(Provider::Ollama);
    }
    // The OpenAI SDK's `message` alone, or a chunk's `data` (Mistral's SDK).
    if has("tool_calls") || node.text("role") == Some("assistant") {
        return Some(Provider::OpenAi);
    }
    node.get("data").filter(|data| data.is_object()).and_then(detect)
}
