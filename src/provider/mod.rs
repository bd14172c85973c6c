//! Every API's wire format: response to [`Turn`], stream to events, turns and results back to messages.
//!
//! One file a provider. Each turns a complete response and the chunks of a stream into the same pieces, which
//! `assembly` puts together; so a stream's turn is that of the complete response because it is made by the same code.
//!
//! ```
//! use toolglot::provider::{Provider, Reading, normalize};
//!
//! let body = br#"{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[
//!     {"id":"call_1","type":"function","function":{"name":"ping","arguments":""}}]},"finish_reason":"stop"}]}"#;
//! let turn = normalize(body, None, &Reading::default()).unwrap();
//! assert_eq!(turn.tool_calls[0].name, "ping");
//! assert_eq!(turn.stop_reason.as_str(), "tool_calls");
//! ```
mod anthropic;
mod arguments;
mod assembly;
mod bedrock;
mod calls;
mod cohere;
mod detect;
mod errors;
mod event_stream;
mod extra;
mod framing;
mod gemini;
mod halves;
mod harden;
mod helpers;
mod history;
mod mistral;
mod node;
mod ollama;
mod openai_chat;
mod openai_responses;
mod parse;
mod reader;
mod results;
mod routes;
mod settle;
mod spoken;
mod stream;
mod text;
mod wire;

pub use detect::detect;
pub(crate) use framing::{Frame, Splitter};
pub use harden::harden;
#[cfg(feature = "python")]
pub(crate) use helpers::{Helper, helper};
pub use history::{
    Answer, Call, Media, MediaKind, Message, Part, Reasoned, Role, Source as MediaSource, Written, assistant_message,
    check_history, convert_messages, convert_reasoned, detect_history, provider_id, read_history, reasoned_message,
    repair_history, text_message, text_of, turn_message, write_history,
};
pub use node::Node;
pub(crate) use node::mend_surrogates;
#[cfg(feature = "python")]
pub(crate) use node::{CARRIED, is_unread};
pub use results::{
    Called, ResultOptions, ToolResult, bytes_result, call_of, format_tool_result, format_tool_results, text_results,
};
pub use routes::writes_entities;
pub(crate) use spoken::with_calls_as;
pub use spoken::{convert_to_text, history_as_text};
pub use stream::StreamNormalizer;

use crate::dialect::Dialects;
use crate::engine::Options;
use crate::error::Error;
use crate::schema::{
    ToolSet,
    convert::{Format, Target},
};
use crate::turn::{Arguments, Turn};
use reader::Reader;
use std::borrow::Cow;
use std::sync::Arc;

/// An API's wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// Chat Completions, and everything that speaks it: Groq, OpenRouter, vLLM, SGLang, llama.cpp, LM Studio, LiteLLM,
    /// DeepSeek, Azure, xAI. What they do differently is tolerated wherever it comes from.
    OpenAi,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`, on the Developer API and on Vertex.
    Gemini,
    /// Mistral's chat: Chat Completions with parts of its own.
    Mistral,
    /// Cohere's v2 chat.
    Cohere,
    /// Ollama's own `/api/chat`.
    Ollama,
    /// Bedrock's Converse.
    Bedrock,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 8] = [
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Mistral,
        Self::Cohere,
        Self::Ollama,
        Self::Bedrock,
    ];

    /// The name in the API of this library.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mistral => "mistral",
            Self::Cohere => "cohere",
            Self::Ollama => "ollama",
            Self::Bedrock => "bedrock",
        }
    }

    /// The provider of that name, or the wire format that a vendor or server of that name speaks.
    ///
    /// # Errors
    /// [`crate::ErrorCode::UnknownProvider`]
    pub fn from_name(name: &str) -> Result<Self, Error> {
        let format = Format::named(name).map(|format| match format {
            Format::LlamaCpp | Format::OpenRouter | Format::Moonshot => Format::OpenAi,
            own => own,
        });
        let found = Self::ALL.into_iter().find(|provider| Some(provider.format()) == format);
        // Tools of MCP are a format; there is no model behind it that answers.
        found.ok_or_else(|| Format::unknown(name, |format| format != Format::Mcp))
    }

    /// Where a message holds bytes: JSON pointers, with `*` for each item of a list. The blocks of a system prompt hold them where
    /// those of a message do. In JSON, and so in this library, base64 text stands there; AWS's SDKs want the bytes.
    ///
    /// ```
    /// use toolglot::provider::Provider;
    /// assert!(Provider::Bedrock.blobs().contains(&"/content/*/image/source/bytes"));
    /// assert!(Provider::Anthropic.blobs().is_empty());
    /// ```
    pub fn blobs(self) -> &'static [&'static str] {
        wire::Wording::of(self).blobs
    }

    /// The name of a tool as this provider was told it, and so as it must stand in the messages that go back: `name` is
    /// the tool's own among `tools`. Of one that is not offered, a spelling that the provider takes.
    ///
    /// ```
    /// # use serde_json::json;
    /// use toolglot::{provider::Provider, schema::ToolSet};
    /// let tools = ToolSet::from_values(&[json!({"name": "files.read"})])?;
    /// assert_eq!(Provider::Anthropic.told(Some(&tools), "files.read"), "files_read");
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn told<'n>(self, tools: Option<&'n ToolSet>, name: &'n str) -> Cow<'n, str> {
        self.target().told(tools, name)
    }

    /// As [`Self::told`], of the arguments of a call of the tool `name`: `None` if no member of theirs was told under another
    /// name.
    pub fn told_arguments(self, tools: &ToolSet, name: &str, arguments: &Arguments<'_>) -> Option<String> {
        self.target().told_arguments(tools, name, arguments)
    }

    fn target(self) -> Target {
        Target::new(self.format())
    }

    /// The format of its tools.
    const fn format(self) -> Format {
        match self {
            Self::OpenAi => Format::OpenAi,
            Self::OpenAiResponses => Format::OpenAiResponses,
            Self::Anthropic => Format::Anthropic,
            Self::Gemini => Format::Gemini,
            Self::Mistral => Format::Mistral,
            Self::Cohere => Format::Cohere,
            Self::Ollama => Format::Ollama,
            Self::Bedrock => Format::Bedrock,
        }
    }
}

/// How answers are read, apart from the provider.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The tools that were offered.
    pub tools: Option<Arc<ToolSet>>,
    /// Policies and limits.
    pub options: Options,
    /// How text is read for calls that the server left in it: every dialect by default, none if `None`.
    ///
    /// Calls in text count only if there are no native ones, so they end only when the answer does.
    /// With one dialect named, the caller knows that the model calls in text: its calls count at once and always.
    pub dialects: Option<Arc<Dialects>>,
    /// The arguments of native calls have their characters as entities, which are decoded once: see [`writes_entities`].
    pub entities: bool,
}

impl Reading {
    fn waits(&self) -> bool {
        self.dialects.as_ref().is_some_and(|dialects| dialects.name().is_none())
    }
}

impl Default for Reading {
    fn default() -> Self {
        Self { tools: None, options: Options::default(), dialects: Some(Dialects::auto()), entities: false }
    }
}

/// Reads a complete response from its bytes: the first (usually only) choice.
///
/// `provider` `None` detects the wire format by its shape.
///
/// # Errors
/// [`crate::ErrorCode::ProviderError`] if there is no answer in it at all: an error body without a call in it, HTML, nothing.
pub fn normalize(bytes: &[u8], provider: Option<Provider>, reading: &Reading) -> Result<Turn<'static>, Error> {
    first(normalize_choices(bytes, provider, reading)?)
}

/// As [`normalize`], from a parsed response.
///
/// # Errors
/// As [`normalize`].
pub fn normalize_node(body: &Node<'_>, provider: Option<Provider>, reading: &Reading) -> Result<Turn<'static>, Error> {
    first(choices_of(body, provider, reading)?)
}

/// As [`normalize`], but every choice of the response (`n > 1`).
///
/// # Errors
/// As [`normalize`].
pub fn normalize_choices(
    bytes: &[u8],
    provider: Option<Provider>,
    reading: &Reading,
) -> Result<Vec<Turn<'static>>, Error> {
    choices_of(&errors::response(bytes, provider)?, provider, reading)
}

/// As [`normalize_choices`], from a parsed response.
///
/// # Errors
/// As [`normalize`].
pub fn normalize_choices_node(
    body: &Node<'_>,
    provider: Option<Provider>,
    reading: &Reading,
) -> Result<Vec<Turn<'static>>, Error> {
    choices_of(body, provider, reading)
}

/// The turn of the first choice: a reader has one, or an error.
fn first(turns: Vec<Turn<'static>>) -> Result<Turn<'static>, Error> {
    turns.into_iter().next().ok_or_else(|| errors::no_answer(None, None))
}

fn choices_of(body: &Node<'_>, provider: Option<Provider>, reading: &Reading) -> Result<Vec<Turn<'static>>, Error> {
    errors::no_response(body, provider)?;
    let provider = provider.or_else(|| detect(body)).unwrap_or(Provider::OpenAi);
    let mut reader = Reader::new(provider, reading, false);
    reader.response(body);
    reader.finish()
}
