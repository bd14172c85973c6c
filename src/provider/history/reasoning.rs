//! Reasoning on its way between providers that want it back. Chat Completions itself takes none; some routes that speak it do.
use super::model::{Message, Part, Role};
use serde_json::{Map, Value, json};

/// How a route of Chat Completions takes back the reasoning of another provider's model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reasoned {
    /// Not at all.
    #[default]
    Never,
    /// As text in `reasoning_content`, which it may demand.
    Content,
    /// As `reasoning_details`, signatures and all.
    Details,
}

/// Sources: cc-switch-cli#170 (DeepSeek answers 400 without it in its thinking mode), pi#7994 (Moonshot), OpenRouter's "Preserving
/// reasoning blocks".
const ROUTES: [(&str, Reasoned); 5] = [
    ("deepseek", Reasoned::Content),
    ("moonshot", Reasoned::Content),
    ("moonshotai", Reasoned::Content),
    ("kimi", Reasoned::Content),
    ("openrouter", Reasoned::Details),
];

/// What OpenRouter calls the reasoning of Claude.
const CLAUDE: &str = "anthropic-claude-v1";

impl Reasoned {
    /// How the route called `name` takes it.
    pub fn of(name: &str) -> Self {
        let known = ROUTES.iter().find(|(route, _)| name.trim().eq_ignore_ascii_case(route));
        known.map_or(Self::Never, |(_, reasoned)| *reasoned)
    }

    /// Puts reasoning into the state that is written for Chat Completions, where the message has none of its own.
    pub(super) fn carry(self, messages: &mut [Message]) {
        for message in messages.iter_mut().filter(|message| message.role == Role::Assistant) {
            if self == Self::Never || message.state.contains_key("openai") {
                continue;
            }
            let mut state = Map::new();
            match self {
                Self::Content if !message.reasoning.is_empty() => {
                    state.insert("reasoning_content".into(), json!(message.reasoning));
                }
                Self::Details => {
                    let details = details(message);
                    if !message.reasoning.is_empty() && !details.is_empty() {
                        state.insert("reasoning".into(), json!(message.reasoning));
                    }
                    if !details.is_empty() {
                        state.insert("reasoning_details".into(), Value::Array(details));
                    }
                }
                _ => {}
            }
            if !state.is_empty() {
                message.state.insert("openai".into(), Value::Object(state));
            }
        }
    }
}

/// Anthropic's thinking in the words of OpenRouter.
fn details(message: &Message) -> Vec<Value> {
    let blocks = message.state.get("anthropic").and_then(|state| state.get("content")).and_then(Value::as_array);
    let detail = |block: &Value| match block.get("type").and_then(Value::as_str)? {
        "thinking" => Some(json!({
            "type": "reasoning.text",
            "text": block.get("thinking")?,
            "signature": block.get("signature")?,
            "format": CLAUDE,
        })),
        "redacted_thinking" => {
            Some(json!({"type": "reasoning.encrypted", "data": block.get("data")?, "format": CLAUDE}))
        }
        _ => None,
    };
    let details = blocks.into_iter().flatten().filter_map(detail).enumerate().map(|(index, mut detail)| {
        if let Some(detail) = detail.as_object_mut() {
            detail.insert("index".into(), json!(index));
        }
        detail
    });
    details.collect()
}

/// The text of OpenRouter's `reasoning_details`.
pub(super) fn text_of_details(message: &Value) -> String {
    let details = message.get("reasoning_details").and_then(Value::as_array).into_iter().flatten();
    details.filter_map(|detail| detail.get("text").or_else(|| detail.get("summary"))?.as_str()).collect()
}

/// The parts of a model's message as Anthropic's own record of them, with the signed thinking that OpenRouter gave with it; `None` if it
/// gave none.
pub(super) fn claude_blocks(message: &Value, parts: &[Part]) -> Option<Vec<Value>> {
    let details = message.get("reasoning_details")?.as_array()?;
    let claude =
        |detail: &&Value| detail.get("format").and_then(Value::as_str).is_some_and(|f| f.starts_with("anthropic"));
    let block = |detail: &Value| match detail.get("type").and_then(Value::as_str)? {
        "reasoning.text" => {
            let signature = detail.get("signature").filter(|signature| signature.is_string())?;
            Some(json!({"type": "thinking", "thinking": detail.get("text")?, "signature": signature}))
        }
        "reasoning.encrypted" => Some(json!({"type": "redacted_thinking", "data": detail.get("data")?})),
        _ => None,
    };
    let mut blocks: Vec<Value> = details.iter().filter(claude).filter_map(block).collect();
    if blocks.is_empty() {
        return None;
    }
    let mut calls = 0..;
    blocks.extend(parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Call(_) => Some(json!({"$call": calls.next()})),
        _ => None,
    }));
    Some(blocks)
}
