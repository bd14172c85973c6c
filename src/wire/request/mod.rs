//! A client's request: read, judged, and written as the backend takes it.
mod choice;
mod history;
mod params;
mod tools;
mod validate;

pub(super) use choice::{Choice, Wanted};
pub(super) use tools::Kind;

use super::error::{WireCode, WireError};
use super::{BackendApi, ClientApi, Mode, Options, Transcoder, estimate, json, quirks};
use crate::provider::{Node, Provider, Reading};
use crate::schema::convert::{Format, Target};
use crate::turn::{Issue, IssueCode};
use history::Conversion;
use serde_json::{Map, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a backend is to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendRequest {
    /// Where, behind the backend's base URL (`/chat/completions`).
    pub path: String,
    /// The JSON.
    pub body: Vec<u8>,
    /// What of the client's request is not in the backend's, with its place in the request.
    pub losses: Vec<Issue>,
}

/// What was left out of a request.
#[derive(Debug, Default)]
pub(super) struct Losses {
    issues: Vec<Issue>,
}

impl Losses {
    fn lose(&mut self, place: impl Into<String>, message: impl Into<String>) {
        self.issues.push(Issue::of(IssueCode::Converted, place.into(), message.into()));
    }
}

/// What the answer's way back has to know of the request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) client: ClientApi,
    pub(super) backend: BackendApi,
    pub(super) options: Arc<Options>,
    pub(super) model: String,
    pub(super) stream: bool,
    /// A chunk with the usage ends the stream (Chat).
    pub(super) wants_usage: bool,
    /// So many choices (Chat's `n`).
    pub(super) choices: u64,
    /// It asks with `functions`, as before there were tools: it reads one `function_call`.
    pub(super) functions: bool,
    pub(super) wanted: Wanted,
    pub(super) kinds: HashMap<String, Kind>,
    pub(super) reading: Reading,
    /// Ids of the history's calls.
    pub(super) used: HashSet<String>,
    /// About so many tokens the request has.
    pub(super) input_tokens: u64,
}

/// A request on its way to the backend, and what turns the answer back.
#[derive(Debug, Clone)]
pub struct Translation {
    pub(super) asked: Arc<Asked>,
    request: Arc<BackendRequest>,
}

impl Translation {
    /// What the backend is to be sent.
    pub fn request(&self) -> &BackendRequest {
        &self.request
    }

    /// The client wants its answer as a stream.
    pub fn is_stream(&self) -> bool {
        self.asked.stream
    }

    /// The tools that the model may call.
    #[cfg(feature = "python")]
    pub(crate) fn tools(&self) -> Option<&Arc<crate::schema::ToolSet>> {
        self.asked.reading.tools.as_ref()
    }

    /// The model's name in the request.
    pub fn model(&self) -> &str {
        &self.asked.model
    }

    /// About so many tokens the request has, by its size.
    pub fn input_tokens_estimate(&self) -> u64 {
        self.asked.input_tokens
    }
}

/// The request's JSON: an object, or an error for the client.
fn parse(body: &[u8]) -> Result<Node<'_>, WireError> {
    let text = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    match Node::parse(text) {
        Ok(node @ Node::Object(_)) => Ok(node),
        Ok(_) => Err(WireError::refused(WireCode::InvalidValue, "", "the request is no JSON object")),
        Err(_) => Err(WireError::refused(WireCode::InvalidValue, "", "the request is no JSON")),
    }
}

pub(super) fn translate(transcoder: &Transcoder, bytes: &[u8]) -> Result<Translation, WireError> {
    let body = parse(bytes)?;
    let (client, backend) = (transcoder.client, transcoder.backend);
    let options = &transcoder.options;
    let mut losses = Losses::default();
    let passes = transcoder.is_same() && options.mode == Mode::Native;
    if !passes {
        refuse_state(&body, client)?;
    }
    let wanted = choice::read(&body, client, &mut losses)?;
    let only = wanted.choice.only().filter(|_| !passes);
    let joins = backend != BackendApi::Responses;
    let declared = tools::read(&body, client, only, joins, options.validate, &mut losses)?;
    if options.validate {
        validate::choice(&wanted, &declared)?;
        validate::messages(&body, client)?;
    }
    let offered = declared.set.clone().filter(|_| wanted.choice != Choice::None);
    let dialects = offered.as_ref().and(options.dialect.as_ref()).map(|spoken| spoken.dialects().clone());
    let stream = body.is_true("stream");
    let asked = Asked {
        client,
        backend,
        options: options.clone(),
        model: body.text("model").unwrap_or_default().to_owned(),
        stream,
        wants_usage: client != ClientApi::Chat
            || body.at(&["stream_options", "include_usage"]) == Some(&Node::Bool(true)),
        choices: body.count("n").unwrap_or(1),
        functions: client == ClientApi::Chat && !body.list("functions").is_empty() && body.list("tools").is_empty(),
        wanted,
        kinds: declared.kinds.clone(),
        reading: Reading { tools: offered, options: options.engine.clone(), dialects, entities: false },
        used: used_ids(&body, client),
        input_tokens: estimate::tokens(bytes.len()),
    };
    let written = if passes {
        pass(&body, client).map_or_else(|| bytes.to_vec(), String::into_bytes)
    } else {
        let tools = asked.reading.tools.as_ref();
        let conversion = Conversion { client, backend, options, tools, wanted: &asked.wanted };
        let (messages, raw) = history::read(&body, client, &declared, &mut losses)?;
        let written = conversion.write(messages, &raw, &mut losses)?;
        write(&body, &asked, written, &mut losses).into_bytes()
    };
    let path = match backend {
        BackendApi::Chat => "/chat/completions".to_owned(),
        BackendApi::Responses => "/responses".to_owned(),
        BackendApi::Anthropic => "/messages".to_owned(),
        BackendApi::Gemini if stream => format!("/models/{}:streamGenerateContent?alt=sse", path_part(&asked.model)),
        BackendApi::Gemini => format!("/models/{}:generateContent", path_part(&asked.model)),
    };
    let request = BackendRequest { path, body: written, losses: losses.issues };
    Ok(Translation { asked: Arc::new(asked), request: Arc::new(request) })
}

/// A name as a part of a path: what would end the part is spelt out.
fn path_part(name: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'@');
    if name.bytes().all(plain) {
        return Cow::Borrowed(name);
    }
    let escaped = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    Cow::Owned(name.bytes().map(escaped).collect())
}

/// Refuses what was said before and is not here: to go on without it would lose half a conversation without a word.
fn refuse_state(body: &Node<'_>, client: ClientApi) -> Result<(), WireError> {
    if client == ClientApi::Anthropic && body.get("thread").is_some() {
        let message = "threads are not kept here: send all messages";
        return Err(WireError::refused(WireCode::ThreadUnsupported, "", message));
    }
    if client == ClientApi::Responses {
        let kept = ["previous_response_id", "conversation", "prompt"].into_iter().find(|key| body.get(key).is_some());
        if let Some(key) = kept {
            let message = "responses are not kept here: send all items of the conversation as `input`";
            return Err(WireError::refused(WireCode::PreviousResponseUnsupported, key, message));
        }
        if body.is_true("background") {
            let message = "responses are not kept here, and so none can be asked for later";
            return Err(WireError::refused(WireCode::InvalidValue, "background", message));
        }
    }
    Ok(())
}

/// The request for a backend of the same API, if anything of it changes.
fn pass(body: &Node<'_>, client: ClientApi) -> Option<String> {
    if client != ClientApi::Anthropic {
        return None;
    }
    let system = body.get("system").filter(|system| !system.items().is_empty())?;
    let volatile = |block: &Node<'_>| block.text("text").is_some_and(quirks::is_volatile);
    if !system.items().iter().any(volatile) {
        return None;
    }
    let kept = system.items().iter().filter(|block| !volatile(block)).cloned().collect();
    Some(json::replaced(body, &[("system", &Node::Array(kept).to_json())]))
}

/// The ids of the calls in the history.
fn used_ids(body: &Node<'_>, client: ClientApi) -> HashSet<String> {
    let own = |id: Option<&str>| id.map(str::to_owned);
    match client {
        ClientApi::Chat => {
            let calls = body.list("messages").iter().flat_map(|message| message.list("tool_calls"));
            calls.filter_map(|call| own(call.text("id"))).collect()
        }
        ClientApi::Anthropic => {
            let blocks = body.list("messages").iter().flat_map(|message| message.list("content"));
            blocks.filter(|block| block.text("type") == Some("tool_use")).filter_map(|b| own(b.text("id"))).collect()
        }
        ClientApi::Responses => body.list("input").iter().filter_map(|item| own(item.text("call_id"))).collect(),
    }
}

/// The backend's body. What changes from turn to turn stands last, so that the bytes of one turn begin those of the next.
fn write(body: &Node<'_>, asked: &Asked, written: history::Written, losses: &mut Losses) -> String {
    let mut out = Map::new();
    let (client, backend, options) = (asked.client, asked.backend, &*asked.options);
    if client.as_backend() == backend {
        // In text mode the rest of the request stays as it is.
        let tools = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"];
        let messages = ["messages", "input", "system", "instructions"];
        let rest = body.members().iter().filter(|(key, _)| !tools.contains(&&**key) && !messages.contains(&&**key));
        out.extend(rest.map(|(key, value)| (key.to_string(), value.to_value())));
    } else {
        if backend != BackendApi::Gemini {
            out.insert("model".into(), json!(asked.model));
        }
        if asked.stream && backend != BackendApi::Gemini {
            out.insert("stream".into(), json!(true));
        }
        if asked.stream && backend == BackendApi::Chat {
            out.insert("stream_options".into(), json!({"include_usage": true}));
        }
        if backend == BackendApi::Responses {
            out.insert("store".into(), json!(false));
        }
        params::write(body, client, backend, options, &mut out, losses);
    }
    let mut tools = None;
    if let Some(set) = asked.reading.tools.as_deref().filter(|_| options.mode == Mode::Native) {
        let target = Target::new(format_of(backend.provider()));
        let converted = set.to(&target);
        losses.issues.extend(converted.losses.iter().map(|loss| {
            Issue::of(IssueCode::Converted, format!("tools/{}{}", loss.tool, loss.pointer), loss.message.clone())
        }));
        tools = serde_json::to_string(&set.declarations(&converted)).ok();
        let spelled = |name: &str| {
            let offered = asked.kinds.iter().find(|(_, kind)| kind.name == name).map_or(name, |(offered, _)| offered);
            backend.provider().told(Some(set), offered).into_owned()
        };
        choice::write(&asked.wanted, backend, spelled, &mut out);
    }
    let (system_key, messages_key) = match backend {
        BackendApi::Chat => ("", "messages"),
        BackendApi::Responses => ("instructions", "input"),
        BackendApi::Anthropic => ("system", "messages"),
        BackendApi::Gemini => ("systemInstruction", "contents"),
    };
    let mut text = String::from("{");
    let mut member = |key: &str, value: &str| {
        if text.len() > 1 {
            text.push(',');
        }
        crate::json::push_string(&mut text, key);
        text.push(':');
        text.push_str(value);
    };
    for (key, value) in &out {
        member(key, &value.to_string());
    }
    if let Some(tools) = tools {
        member("tools", &tools);
    }
    if let (Some(system), false) = (written.system, system_key.is_empty()) {
        member(system_key, &system.to_string());
    }
    member(messages_key, &serde_json::to_string(&written.messages).unwrap_or_default());
    text.push('}');
    text
}

/// The format of a provider's tools.
const fn format_of(provider: Provider) -> Format {
    match provider {
        Provider::OpenAiResponses => Format::OpenAiResponses,
        Provider::Anthropic => Format::Anthropic,
        Provider::Gemini => Format::Gemini,
        _ => Format::OpenAi,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_is_one_part_of_a_path() {
        assert_eq!(path_part("gemini-2.5-flash"), "gemini-2.5-flash");
        assert_eq!(path_part("a/../b?c"), "a%2F..%2Fb%3Fc");
    }
}
