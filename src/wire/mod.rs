//! One API's bytes into another's: requests, whole answers, streams and errors, with the calls in text made native on the way.
//!
//! No I/O happens here: a server, a client's transport and an application's router drive the same machine.
//! [`Transcoder::request`] reads what a client sends and gives what its backend takes. The [`Translation`] that comes
//! with it turns the backend's answer into the client's: whole with [`Translation::answer`], streamed with
//! [`Translation::stream`].
//!
//! ```
//! use toolglot::wire::{BackendApi, ClientApi, Mode, Options, Transcoder};
//!
//! // An Anthropic client, in front of a server that knows Chat Completions and no tools.
//! let options = Options { mode: Mode::Text, ..Options::default() };
//! let transcoder = Transcoder::new(ClientApi::Anthropic, BackendApi::Chat, options);
//! let request = br#"{"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "What is here?"}],
//!     "tools": [{"name": "ls", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}]}"#;
//! let translation = transcoder.request(request).unwrap();
//! assert_eq!(translation.request().path, "/chat/completions");
//!
//! let answer = br#"{"choices": [{"message": {"content": "{\"name\": \"ls\", \"arguments\": {\"path\": \"/\"}}"}, "finish_reason": "stop"}]}"#;
//! let answer = translation.answer(200, answer);
//! let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
//! assert_eq!(body["content"][0]["input"]["path"], "/");
//! assert_eq!(body["stop_reason"], "tool_use");
//! ```
mod answer;
mod arguments;
mod error;
mod estimate;
mod json;
mod pass;
mod quirks;
mod request;
mod sequence;
mod stream;
mod write;

pub use answer::Answered;
pub use error::{WireCode, WireError};
pub use request::{BackendRequest, Translation};
pub use stream::Stream;

use crate::dialect::Dialects;
use crate::engine;
use crate::error::Error;
use crate::provider::{Provider, provider_id};
use crate::schema::InDialect;
use crate::turn::words;
use std::borrow::Cow;
use std::sync::Arc;

words! {
    /// The API that a client speaks.
    ClientApi {
        /// OpenAI's Chat Completions.
        Chat => "chat",
        /// OpenAI's Responses.
        Responses => "responses",
        /// Anthropic's Messages.
        Anthropic => "anthropic",
    }
}

words! {
    /// The API that a backend speaks.
    BackendApi {
        /// Chat Completions: vLLM, llama.cpp, Ollama, LM Studio and all who are compatible.
        Chat => "chat",
        /// OpenAI's Responses.
        Responses => "responses",
        /// Anthropic's Messages.
        Anthropic => "anthropic",
        /// Gemini's `generateContent`.
        Gemini => "gemini",
    }
}

words! {
    /// How the model is offered tools.
    #[derive(Default)]
    Mode {
        /// As the backend's API takes them. Calls that leak as text are read all the same.
        #[default]
        Native => "native",
        /// In the system prompt, for a model or a server without tools; calls and results of the history are text too.
        Text => "text",
    }
}

impl ClientApi {
    /// The wire format.
    pub const fn provider(self) -> Provider {
        match self {
            Self::Chat => Provider::OpenAi,
            Self::Responses => Provider::OpenAiResponses,
            Self::Anthropic => Provider::Anthropic,
        }
    }

    /// The same API on the backend's side.
    pub const fn as_backend(self) -> BackendApi {
        match self {
            Self::Chat => BackendApi::Chat,
            Self::Responses => BackendApi::Responses,
            Self::Anthropic => BackendApi::Anthropic,
        }
    }

    /// A call's id as this API takes it.
    fn call_id(self, id: &str) -> String {
        match self {
            Self::Chat => id.to_owned(),
            Self::Responses | Self::Anthropic => provider_id(id, self.provider()),
        }
    }

    /// A call's arguments as this API takes them: Anthropic's are always an object.
    fn call_arguments(self, json: Cow<'_, str>) -> Cow<'_, str> {
        if self != Self::Anthropic || json.trim_start().starts_with('{') {
            return json;
        }
        Cow::Owned(format!("{{\"value\":{json}}}"))
    }

    /// The API of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|api| api.as_str() == name)
    }
}

impl BackendApi {
    /// The wire format.
    pub const fn provider(self) -> Provider {
        match self {
            Self::Chat => Provider::OpenAi,
            Self::Responses => Provider::OpenAiResponses,
            Self::Anthropic => Provider::Anthropic,
            Self::Gemini => Provider::Gemini,
        }
    }

    /// The API of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|api| api.as_str() == name)
    }
}

/// The dialect that a model calls in: for the prompt of [`Mode::Text`], and for reading its text.
#[derive(Debug, Clone)]
pub enum Spoken {
    /// What a name means: a dialect's, a parser's or a model's. `auto` reads every dialect and writes plain JSON.
    Named(String, Arc<Dialects>),
    /// The caller's own.
    Own(Arc<Dialects>),
}

impl Spoken {
    /// What `name` means.
    ///
    /// # Errors
    /// [`crate::ErrorCode::UnknownDialect`]
    pub fn named(name: &str) -> Result<Self, Error> {
        Ok(Self::Named(name.to_owned(), Dialects::named(name)?))
    }

    fn dialects(&self) -> &Arc<Dialects> {
        match self {
            Self::Named(_, dialects) | Self::Own(dialects) => dialects,
        }
    }

    fn in_dialect(&self) -> InDialect<'_> {
        match self {
            Self::Named(name, _) => InDialect::Named(name),
            Self::Own(dialects) => InDialect::Own(dialects),
        }
    }
}

/// How requests and answers are turned, apart from the two APIs.
#[derive(Debug, Clone)]
pub struct Options {
    /// How the model is offered tools.
    pub mode: Mode,
    /// How the model calls in text; `None`: its text is not read for calls.
    pub dialect: Option<Spoken>,
    /// Policies, limits, and where the model's text begins.
    pub engine: engine::Options,
    /// Requests that no backend could answer are refused before they are sent.
    pub validate: bool,
    /// Pass on the text of a backend's own errors (status 500 and above, and in streams). The text of those about the request
    /// (status 400 to 499) always reaches the client.
    pub show_errors: bool,
    /// Reasoning of earlier answers goes back to Chat backends as `reasoning_content`, which models that think between calls
    /// need; the others ignore it.
    pub replay_reasoning: bool,
    /// The most tokens of an answer, for backends that require a limit (Anthropic) where the client sets none.
    pub max_tokens: u64,
    /// The most bytes of one frame of a stream; at a longer one the stream is given up.
    pub max_frame: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Native,
            dialect: Some(Spoken::Named("auto".to_owned(), Dialects::auto())),
            engine: engine::Options::default(),
            validate: true,
            show_errors: false,
            replay_reasoning: true,
            max_tokens: 8192,
            max_frame: 64 << 20,
        }
    }
}

/// Turns the requests of one API into those of another, and the answers back.
#[derive(Debug, Clone)]
pub struct Transcoder {
    client: ClientApi,
    backend: BackendApi,
    options: Arc<Options>,
}

impl Transcoder {
    /// A transcoder between a client's API and a backend's.
    pub fn new(client: ClientApi, backend: BackendApi, options: Options) -> Self {
        Self { client, backend, options: Arc::new(options) }
    }

    /// Reads a client's request: what the backend is to be sent, and what turns its answer back.
    ///
    /// # Errors
    /// [`WireError`], which says itself in the client's API: the body is no JSON object, or no backend could answer it.
    pub fn request(&self, body: &[u8]) -> Result<Translation, WireError> {
        request::translate(self, body)
    }

    /// The client's API.
    pub fn client(&self) -> ClientApi {
        self.client
    }

    /// The backend's API.
    pub fn backend(&self) -> BackendApi {
        self.backend
    }

    /// Client and backend speak the same API.
    fn is_same(&self) -> bool {
        self.client.as_backend() == self.backend
    }
}
