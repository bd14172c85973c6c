//! A tool's result, of whatever kind, as the messages that each provider wants.
//!
//! Results come as text, JSON, bytes, or MCP's `CallToolResult` (specification 2025-11-25 and 2026-07-28). Media go into
//! the result where the provider takes them there, else into a user's message behind all results of the turn.
use super::harden::harden;
use super::history::{Answer, Media, MediaKind, Message, Part, Role, Source, text_with, write_history};
use super::{Node, Provider};
use crate::error::{Error, ErrorCode};
use crate::schema::{InDialect, ToolSet};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How results are written.
#[derive(Debug, Clone)]
pub struct ResultOptions {
    /// Text longer than this many characters is cut in the middle, with a mark that says so; `None` never.
    pub max_chars: Option<usize>,
    /// Results are hardened ([`harden`]), so that a tool's output can forge neither a turn nor a call. On for text mode, where
    /// the result stands in the prompt as it is, and wherever calls are read from the model's text: what it repeats of a result
    /// that is not hardened, in its own markers, is a call. Off for providers' own results, which their servers keep apart.
    /// Turn it on for self-hosted servers whose tokenizer reads special tokens everywhere.
    pub harden: bool,
    /// The tools that the reader of the model's answers has: of what spells a call without markers, only their names are broken.
    /// `None`: any name may be a tool's.
    pub tools: Option<Arc<ToolSet>>,
}

impl Default for ResultOptions {
    fn default() -> Self {
        Self { max_chars: Some(100_000), harden: false, tools: None }
    }
}

/// A tool's result on its way to a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The id of the call it answers.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// What the tool returned.
    pub parts: Vec<Part>,
    /// The tool failed.
    pub is_error: bool,
    /// It is that of a call of free text ([`ToolCall::freeform`](crate::turn::ToolCall::freeform)), which Responses tells apart.
    pub freeform: bool,
}

impl ToolResult {
    /// Reads `result`: text, any JSON value, MCP's `CallToolResult`, or a list of MCP's content blocks.
    pub fn new(id: &str, name: &str, result: &Value, is_error: bool) -> Self {
        let (id, name) = (id.to_owned(), name.to_owned());
        let mut out = Self { id, name, parts: Vec::new(), is_error, freeform: false };
        match result {
            Value::Null => {}
            Value::String(text) => out.parts.push(Part::Text(text.clone())),
            Value::Array(items) if !items.is_empty() && items.iter().all(is_block) => out.blocks(items),
            Value::Object(object) => {
                let content = object.get("content").and_then(Value::as_array);
                let structured = object.get("structuredContent").or_else(|| object.get("structured_content"));
                let structured = structured.filter(|value| !value.is_null());
                let error = object.get("isError").or_else(|| object.get("is_error"));
                match content {
                    Some(items) if items.iter().all(is_block) && (!items.is_empty() || error.is_some()) => {
                        out.is_error |= error == Some(&Value::Bool(true));
                        out.blocks(items);
                        out.structured(structured);
                    }
                    _ if content.is_none() && structured.is_some() => out.structured(structured),
                    _ if is_block(result) && object.contains_key("type") => out.blocks(std::slice::from_ref(result)),
                    _ => out.parts.push(Part::Json(result.clone())),
                }
            }
            value => out.parts.push(Part::Json(value.clone())),
        }
        out
    }

    /// The structured content says in JSON what text blocks say in words: it stands for them if they are that JSON.
    fn structured(&mut self, structured: Option<&Value>) {
        let Some(structured) = structured else { return };
        let same = |part: &Part| match part {
            Part::Text(text) => serde_json::from_str::<Value>(text).is_ok_and(|value| value == *structured),
            _ => false,
        };
        if let Some(part) = self.parts.iter_mut().find(|part| same(part)) {
            *part = Part::Json(structured.clone());
        } else if !self.parts.iter().any(|part| matches!(part, Part::Text(_))) {
            self.parts.insert(0, Part::Json(structured.clone()));
        }
    }

    fn blocks(&mut self, blocks: &[Value]) {
        for block in blocks {
            let text = |key: &str| block.get(key).and_then(Value::as_str);
            let mime = text("mimeType").or_else(|| text("mime_type"));
            match text("type") {
                Some("text") => {
                    self.parts.push(Part::Text(text("text").unwrap_or_default().to_owned()));
                }
                Some(kind @ ("image" | "audio")) => {
                    let mime = mime.unwrap_or(if kind == "image" { "image/png" } else { "audio/wav" });
                    self.parts.push(Part::Media(Media::base64(mime, text("data").unwrap_or_default())));
                }
                Some("resource_link") => {
                    let said = |key: &str| text(key).filter(|text| !text.is_empty());
                    let uri = said("uri").unwrap_or_default();
                    let label = said("title").or_else(|| said("name")).unwrap_or(uri);
                    let name = said("name").filter(|name| *name != label);
                    let more: Vec<&str> = name.into_iter().chain(mime).collect();
                    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
                    let description = said("description").map(|text| format!(": {text}")).unwrap_or_default();
                    self.parts.push(Part::Text(format!("[{label}]({uri}){more}{description}")));
                }
                Some("resource") => self.resource(block.get("resource").unwrap_or(&Value::Null)),
                _ => self.parts.push(Part::Json(block.clone())),
            }
        }
    }

    fn resource(&mut self, resource: &Value) {
        let text = |key: &str| resource.get(key).and_then(Value::as_str);
        let uri = text("uri").unwrap_or_default();
        let mime = text("mimeType").or_else(|| text("mime_type")).unwrap_or("application/octet-stream");
        if let Some(body) = text("text") {
            return self.parts.push(Part::Text(format!("{uri}:\n{body}")));
        }
        let Some(blob) = text("blob") else { return };
        let shown = mime == "application/pdf" || MediaKind::of(mime) != MediaKind::Document;
        if shown {
            let mut media = Media::base64(mime, blob);
            media.name = uri.rsplit('/').next().filter(|name| !name.is_empty()).map(str::to_owned);
            self.parts.push(Part::Media(media));
        } else {
            let text = format!("[{uri}: {mime}, {} bytes, not shown]", blob.len() / 4 * 3);
            self.parts.push(Part::Text(text));
        }
    }

    fn limited(mut self, options: &ResultOptions) -> Self {
        for part in &mut self.parts {
            if let (Part::Json(value), Some(max)) = (&*part, options.max_chars) {
                let text = value.to_string();
                if text.chars().count() > max {
                    *part = Part::Text(text);
                }
            }
            if let (Part::Text(text), Some(max)) = (&mut *part, options.max_chars) {
                cap(text, max);
            }
            // What is cut begins a line in the middle of a word.
            if options.harden {
                let tools = options.tools.as_deref();
                match part {
                    Part::Text(text) => *text = harden(text, tools),
                    Part::Json(value) => {
                        // A model repeats what a string says, not how JSON escapes it.
                        harden_strings(value, tools);
                        let text = value.to_string();
                        let safe = harden(&text, tools);
                        if safe != text {
                            *part = Part::Text(safe);
                        }
                    }
                    _ => {}
                }
            }
        }
        self
    }
}

/// Hardens every string in `value` that is no key.
fn harden_strings(value: &mut Value, tools: Option<&ToolSet>) {
    match value {
        Value::String(text) => *text = harden(text, tools),
        Value::Array(items) => items.iter_mut().for_each(|item| harden_strings(item, tools)),
        Value::Object(members) => members.values_mut().for_each(|member| harden_strings(member, tools)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts the middle out of a text of more than `max` characters, and says so in its place.
fn cap(text: &mut String, max: usize) {
    if text.len() <= max {
        return;
    }
    let count = text.chars().count();
    if count <= max {
        return;
    }
    let head = max / 4 * 3;
    let tail = max - head;
    let at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (end, start) = (at(head), at(count - tail));
    let mark = format!("\n[... {} of {count} characters left out ...]\n", count - max);
    *text = format!("{}{mark}{}", text.get(..end).unwrap_or_default(), text.get(start..).unwrap_or_default());
}

fn is_block(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some_and(|v| !v.is_null());
    match value.get("type").and_then(Value::as_str) {
        Some("text") => has("text"),
        Some("image" | "audio") => has("data"),
        Some("resource_link") => has("uri"),
        Some("resource") => value.get("resource").is_some_and(Value::is_object),
        _ => false,
    }
}

/// Bytes as a result: an image, a sound or a PDF by their first bytes, text if they are UTF-8, else their size.
pub fn bytes_result(bytes: &[u8]) -> Value {
    let mime = match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => "audio/wav",
        [b'I', b'D', b'3', ..] => "audio/mpeg",
        [b'%', b'P', b'D', b'F', ..] => "application/pdf",
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => return json!(text),
            Err(_) => return json!(format!("[{} bytes that are no text]", bytes.len())),
        },
    };
    let data = data_encoding::BASE64.encode(bytes);
    match mime.split('/').next() {
        Some("image") => json!([{"type": "image", "data": data, "mimeType": mime}]),
        Some("audio") => json!([{"type": "audio", "data": data, "mimeType": mime}]),
        _ => json!([{"type": "resource", "resource": {"uri": "result.pdf", "mimeType": mime, "blob": data}}]),
    }
}

/// The call that a result answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Called {
    /// Its id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// It is one of free text ([`ToolCall::freeform`](crate::turn::ToolCall::freeform)).
    pub freeform: bool,
}

impl Called {
    /// The call of that id and name, of a function.
    pub fn new(id: &str, name: &str) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), freeform: false }
    }
}

/// The call that stands there in any provider's shape; a text is an id.
///
/// # Errors
/// [`ErrorCode::BadMessage`] if there is neither.
pub fn call_of(call: &Value) -> Result<Called, Error> {
    if let Some(id) = call.as_str().filter(|id| !id.is_empty()) {
        return Ok(Called::new(id, ""));
    }
    let node = Node::from(call);
    let inner = node.get("functionCall").or_else(|| node.get("function_call")).or_else(|| node.get("toolUse"));
    let node = inner.unwrap_or(&node);
    let ids = ["call_id", "id", "toolUseId", "tool_use_id", "tool_call_id"];
    let id = ids.iter().find_map(|key| node.text(key)).unwrap_or_default();
    let custom = node.get("custom").filter(|custom| custom.is_object());
    let freeform = custom.is_some() || node.text("type") == Some("custom_tool_call");
    let function = node.get("function").or(custom).unwrap_or(node);
    let name = function.text("name").unwrap_or_default();
    if id.is_empty() && name.is_empty() {
        return Err(Error::new(ErrorCode::BadMessage, "a call with an id or a name, or its id, is needed"));
    }
    Ok(Called { freeform, ..Called::new(id, name) })
}

/// The results of one turn as the messages `provider` wants: one user message for Anthropic and Bedrock, one content of
/// parts for Gemini, an item or a message each for all others; media that do not fit in follow as a user's message.
///
/// # Errors
/// [`ErrorCode::BadMessage`] for Gemini and Ollama if a result has no tool's name, by which they pair.
pub fn format_tool_results(
    results: Vec<ToolResult>,
    provider: Provider,
    options: &ResultOptions,
) -> Result<Vec<Value>, Error> {
    if results.is_empty() {
        return Ok(Vec::new());
    }
    let mut parts = Vec::new();
    for (index, result) in results.into_iter().enumerate() {
        if result.name.is_empty() && matches!(provider, Provider::Gemini | Provider::Ollama) {
            let message = format!("{} pairs results by the tool's name: pass the call, not its id", provider.as_str());
            return Err(Error::at(ErrorCode::BadMessage, format!("/{index}"), message));
        }
        let ToolResult { id, name, parts: said, is_error, freeform } = result.limited(options);
        let answer = Answer { id, name, parts: said, is_error, custom: freeform };
        parts.push(Part::Answer(answer));
    }
    Ok(write_history(&[Message::new(Role::Tool, parts)], provider).messages)
}

/// One result as one message. Where its media would need a message of their own, words stand for them; use
/// [`format_tool_results`] to get both messages.
///
/// # Errors
/// As [`format_tool_results`].
pub fn format_tool_result(mut result: ToolResult, provider: Provider, options: &ResultOptions) -> Result<Value, Error> {
    let apart = matches!(provider, Provider::OpenAi | Provider::Mistral | Provider::Cohere | Provider::Ollama);
    if apart {
        for part in &mut result.parts {
            if let Part::Media(media) = part {
                let size = match &media.source {
                    Source::Base64(data) => format!(", {} bytes", data.len() / 4 * 3),
                    _ => String::new(),
                };
                *part = Part::Text(format!("[{}{size}: not shown]", media.describe()));
            }
        }
    }
    let mut messages = format_tool_results(vec![result], provider, options)?;
    if messages.is_empty() {
        return Err(Error::new(ErrorCode::BadMessage, "there is no result"));
    }
    Ok(messages.swap_remove(0))
}

/// Results as text for a model without native tools, in the order given, hardened unless `options` was made otherwise on
/// purpose.
///
/// The spelling is the dialect's own where its template has one (`<tool_response>` and its relatives), else
/// `<tool_result>`.
pub fn text_results<'d>(results: Vec<ToolResult>, dialect: impl Into<InDialect<'d>>, options: &ResultOptions) -> Value {
    let dialect = dialect.into();
    let form = crate::schema::results_form(dialect);
    let mut out = String::new();
    for result in results {
        let result = result.limited(options);
        let mut body = text_with(&result.parts, |media| Some(format!("[{}: not shown]", media.describe())));
        if result.is_error && !body.starts_with("Error") {
            body.insert_str(0, "Error: ");
        }
        out.push_str(if out.is_empty() { form.start } else { form.between });
        if form.named && !result.name.is_empty() {
            let name = if options.harden { harden(&result.name, None) } else { result.name };
            let mut object = Map::new();
            object.insert("name".into(), json!(name));
            object.insert("content".into(), json!(body));
            out.push_str(&Value::Object(object).to_string());
        } else {
            out.push_str(&body);
        }
    }
    if !out.is_empty() {
        out.push_str(form.end);
    }
    json!({"role": "user", "content": out})
}
