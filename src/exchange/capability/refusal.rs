//! Which error bodies say that a route lacks a capability, and not that the request was wrong otherwise.
use super::Capability;
use once_cell::sync::Lazy;
use serde::Deserialize;
use serde_json::Value;

const TEXT: &str = include_str!("refusals.json");

// A test reads the file strictly, so the default is never taken in a released build.
static REFUSALS: Lazy<Vec<Refusal>> = Lazy::new(|| serde_json::from_str(TEXT).unwrap_or_default());

/// A row: words that an error's text contains (all of them), and the field of the request that the error is about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    words: Vec<String>,
    about: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the file, and for the test"))]
    source: String,
}

/// What refuses a request for what is in it: 401, 403, 429 and the like say nothing of capabilities. llama-server answers 500.
const STATUS: [u16; 5] = [400, 404, 422, 500, 501];

/// Codes of OpenAI's errors about a field that a model does not have. `param` names the field then.
const UNSUPPORTED: [&str; 2] = ["unsupported_parameter", "unsupported_value"];

/// Returns the capability that an error body denies, given the capability by which the answer's format was asked for
/// ([`Capability::JsonSchema`] or [`Capability::JsonObject`]), if it was.
///
/// ```
/// use toolglot::exchange::capability::{Capability, refused};
///
/// let body = r#"{"error": {"message": "registry.ollama.ai/library/gemma3:4b does not support tools"}}"#;
/// assert_eq!(refused(400, body, None), Some(Capability::NativeTools));
/// assert_eq!(refused(429, body, None), None);
/// ```
pub fn refused(status: u16, body: &str, format: Option<Capability>) -> Option<Capability> {
    if !STATUS.contains(&status) {
        return None;
    }
    let field = |name: &str| match name {
        "tools" => Some(Capability::NativeTools),
        "tool_choice" => Some(Capability::ToolChoice),
        "parallel_tool_calls" => Some(Capability::ParallelCalls),
        "response_format" => format,
        _ => None,
    };
    let error: Option<Value> = serde_json::from_str(body).ok();
    let part = |name: &str| error.as_ref()?.get("error")?.get(name)?.as_str();
    if let (Some(code), Some(param)) = (part("code"), part("param"))
        && UNSUPPORTED.contains(&code)
    {
        return field(param);
    }
    let text = body.to_lowercase();
    let meant = |row: &&Refusal| row.words.iter().all(|word| text.contains(&**word));
    REFUSALS.iter().find(meant).and_then(|row| field(&row.about))
}

#[cfg(test)]
mod tests {
    use super::{Refusal, TEXT};

    #[test]
    fn every_row_is_read_and_has_a_source() {
        let rows: Vec<Refusal> = serde_json::from_str(TEXT).expect("refusals.json cannot be read");
        for row in rows {
            assert!(row.source.len() > 5 && !row.words.is_empty(), "{:?}", row.words);
            assert!(row.words.iter().all(|word| *word == word.to_lowercase()), "{:?}", row.words);
        }
    }
}
