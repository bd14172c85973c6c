//! Bodies that are no answer: error objects of every provider, HTML, nothing.
use super::detect::is_complete;
use super::{Node, Provider};
use crate::error::{Error, ErrorCode};

/// What an error body says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    /// Where in the body the error stands, as a JSON pointer.
    pub(super) place: &'static str,
    /// The provider's message with its code.
    pub(super) message: String,
    /// What the model wrote, where the body quotes it (Groq).
    pub(super) failed_generation: Option<String>,
}

impl Report {
    pub(super) fn new(place: &'static str, message: impl Into<String>) -> Self {
        Self { place, message: message.into(), failed_generation: None }
    }
}

/// Parses a response's bytes.
pub(super) fn parse(bytes: &[u8], provider: Option<Provider>) -> Result<Node<'_>, Error> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    if text.is_empty() {
        return Err(error(provider, "", "the response is empty"));
    }
    Node::payload(text).map_err(|reason| {
        let shown: String = String::from_utf8_lossy(text.get(..200).unwrap_or(text)).into_owned();
        let what = if is_page(&shown) { "HTML or XML" } else { "no JSON" };
        let place = format!("byte {}", offset(text, reason.line(), reason.column()));
        let other = if is_page(&shown) { "" } else { "; what a model wrote is read by `extract`" };
        error(provider, &place, &format!("the response is {what} ({reason}){other}; it begins `{shown}`"))
    })
}

/// The text is a document of markup, as gateways answer with, and not the markup of a call.
fn is_page(text: &str) -> bool {
    let text = text.trim_start();
    ["<!", "<?", "<html", "<HTML", "<head", "<body", "<Error", "<error"].iter().any(|begin| text.starts_with(begin))
}

/// Parses a complete response's bytes.
pub(super) fn response(bytes: &[u8], provider: Option<Provider>) -> Result<Node<'_>, Error> {
    let stream = |text: &[u8]| ["data:", "event:", "id:", ":"].iter().any(|field| text.starts_with(field.as_bytes()));
    parse(bytes, provider).map_err(|reason| match bytes.trim_ascii_start() {
        text if stream(text) => {
            error(provider, "", "this is a stream of events, and no response: `StreamNormalizer` reads it")
        }
        _ => reason,
    })
}

/// # Errors
/// `body` is what somebody made of responses, and none itself.
pub(super) fn no_response(body: &Node<'_>, provider: Option<Provider>) -> Result<(), Error> {
    let items = body.items();
    if items.len() > 1 && items.iter().all(is_complete) {
        return Err(error(
            provider,
            "",
            &format!("this is a list of {} responses; one is read at a time", items.len()),
        ));
    }
    let turn = ["needs_more_work", "stop_reason", "tool_calls", "provider_state"];
    let has = |key: &&str| body.members().iter().any(|(k, _)| k == key);
    if turn.iter().all(has) {
        let message = "this is what a Turn's `to_dict` says, and no response: keep the response, or pickle the Turn";
        return Err(error(provider, "", message));
    }
    Ok(())
}

/// An error of `provider`, if it is known, with the place in the payload.
pub(super) fn error(provider: Option<Provider>, place: &str, reason: &str) -> Error {
    let name = provider.map_or(String::new(), |provider| format!("{}: ", provider.as_str()));
    Error::at(ErrorCode::ProviderError, place, format!("{name}{reason}"))
}

fn offset(text: &[u8], line: usize, column: usize) -> usize {
    let before: usize = text.split(|b| *b == b'\n').take(line.saturating_sub(1)).map(|l| l.len() + 1).sum();
    before + column.saturating_sub(1)
}

/// The error in `body`, if it holds one: every provider's spelling.
pub(super) fn report(body: &Node<'_>) -> Option<Report> {
    // Gemini sometimes wraps its error into a list.
    if let [first, ..] = body.items() {
        return report(first);
    }
    if let Some(error) = body.get("error") {
        return Some(match error {
            Node::String(text) if !text.is_empty() => Report::new("/error", text.as_ref()),
            Node::Object(_) => described(error, "/error"),
            _ => return None,
        });
    }
    let is_error = body.text("object") == Some("error") || body.text("type") == Some("error");
    // The SDKs of OpenAI and others take the wrapper off what they raise.
    if is_error || body.get("failed_generation").is_some() {
        return Some(described(body, ""));
    }
    // An exception in a stream of Bedrock's, and the response that botocore's error carries.
    if let Some((name, exception)) = body.members().iter().find(|(key, value)| is_exception(key) && value.is_object()) {
        let report = described(exception, "");
        return Some(Report { message: format!("{name}: {}", report.message), ..report });
    }
    if let Some(error) = body.get("Error").filter(|error| error.is_object()) {
        return Some(described(error, "/Error"));
    }
    if let Some(detail) = body.get("detail") {
        // Mistral's and FastAPI's validation errors.
        let message = match detail {
            Node::String(text) => text.to_string(),
            _ => {
                let first = detail.items().first().unwrap_or(detail);
                let place: Vec<String> = (first.list("loc").iter())
                    .map(|part| part.str().map_or_else(|| part.to_json(), str::to_owned))
                    .collect();
                format!("{}: {}", place.join("."), first.text("msg").unwrap_or("invalid request"))
            }
        };
        return Some(Report::new("/detail", message));
    }
    // Bedrock and Cohere: nothing but a message, which is text (a chat message is an object).
    let message = body.either(["message", "Message"]).and_then(Node::str)?;
    Some(Report::new("/message", message))
}

/// The key of an event of Bedrock's that is an error.
pub(super) fn is_exception(key: &str) -> bool {
    key.ends_with("Exception")
}

/// The error object at `place`.
pub(super) fn described(error: &Node<'_>, place: &'static str) -> Report {
    let text = |key: &str| error.text(key).filter(|text| !text.is_empty());
    let message = ["message", "Message", "originalMessage", "msg"].iter().find_map(|key| text(key));
    let mut message = message.unwrap_or("the provider gives no message").to_owned();
    if let Some(raw) = error.at(&["metadata", "raw"]).and_then(Node::str) {
        message = format!("{message}: {raw}");
    }
    let code = match error.either(["code", "Code"]) {
        Some(Node::String(code)) => Some(code.to_string()),
        Some(Node::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    let labels: Vec<&str> = [text("type"), text("status"), code.as_deref()]
        .into_iter()
        .flatten()
        .filter(|label| *label != "error")
        .collect();
    if !labels.is_empty() {
        message = format!("{message} ({})", labels.join(", "));
    }
    Report { place, message, failed_generation: text("failed_generation").map(str::to_owned) }
}

/// The error that a response without any answer is.
pub(super) fn no_answer(provider: Option<Provider>, report: Option<&Report>) -> Error {
    match report {
        Some(report) => error(provider, report.place, &report.message),
        None => error(provider, "", "the response holds no answer"),
    }
}
