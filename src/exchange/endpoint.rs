//! Where a model is asked: the API, the URL, and what is known and decided of it.
use super::api::{self, Api, Streaming};
use super::capability::{Capabilities, Capability, Support};
use super::config::ModelConfig;
use super::mode::Mode;
use crate::Error;
use crate::provider::{Provider, writes_entities};
use crate::schema::convert::{Format, Target};

/// A model of a server: one of those that an [`Exchange`](super::Exchange) asks.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(super) api: &'static Api,
    /// The name under which choices of tools are looked up.
    pub(super) server: String,
    /// Without a `/` at its end, with the version of the API.
    base: String,
    /// The query of the base URL (`?api-version=...`).
    query: String,
    pub(super) capabilities: Capabilities,
    pub(super) config: ModelConfig,
}

impl Endpoint {
    /// The endpoint of the route that `capabilities` are of. `base_url` is its base URL as the requests are to have it; without one,
    /// it is that of the provider's own API. `provider` names an API; `None` infers it from the base URL, and is Chat Completions if that
    /// names none.
    ///
    /// # Errors
    /// [`crate::ErrorCode::UnknownProvider`]
    pub fn new(
        provider: Option<&str>,
        base_url: Option<&str>,
        capabilities: Capabilities,
        config: ModelConfig,
    ) -> Result<Self, Error> {
        let (url, query) = split(base_url.unwrap_or_default());
        let path = url.split_once("://").map_or(url, |(_, rest)| rest).split_once('/').map_or("", |(_, path)| path);
        let known = capabilities.provider.map_or("", super::capability::Provider::name);
        let api = match provider {
            Some(name) => match Provider::from_name(name)? {
                Provider::OpenAi => api::of_chat(plain(name)),
                own => api::of_provider(own),
            },
            None => api::at(known, path).map_or_else(|| api::of_chat(known), api::of_provider),
        };
        let server = match provider {
            Some(name) => name.to_owned(),
            None if api.provider != Provider::OpenAi => api.provider.as_str().to_owned(),
            None if Format::names().any(|name| name == known) => known.to_owned(),
            // An unknown server reads `tool_choice`, but none of the fields that only OpenAI has.
            None => "openai_compatible".to_owned(),
        };
        let url = if url.is_empty() { api.base } else { url };
        let mut base = url.trim_end_matches('/');
        for path in [api.path, "/chat/completions", "/responses", "/messages"] {
            base = base.strip_suffix(path).unwrap_or(base).trim_end_matches('/');
        }
        let mut base = base.to_owned();
        if !base.contains("://") {
            base.insert_str(0, "http://");
        }
        let numbered = |segment: &str| {
            segment.strip_prefix('v').is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
        };
        if !base.split('/').skip(3).any(numbered) {
            base.push_str(api.version);
        }
        Ok(Self { api, server, base, query: query.to_owned(), capabilities, config })
    }

    /// Returns whether the route writes the characters of arguments as entities.
    pub(super) fn writes_entities(&self) -> bool {
        let known = self.capabilities.provider.map_or("", super::capability::Provider::name);
        [known, &self.server].into_iter().any(writes_entities)
    }

    /// The wire format that it is asked in.
    pub fn provider(&self) -> Provider {
        self.api.provider
    }

    /// The base URL of its requests, with the version of the API.
    pub fn base_url(&self) -> &str {
        &self.base
    }

    /// What is known of it.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    pub(super) fn model(&self) -> &str {
        self.capabilities.route.model()
    }

    pub(super) fn target(&self) -> Target {
        let mut target = Target::new(self.api.format);
        if self.api.format == Format::OpenRouter {
            target.model = Some(self.model().to_owned());
        }
        target
    }

    pub(super) fn url(&self, stream: bool) -> String {
        let path = match self.api.streaming {
            Streaming::Path(path) if stream => path,
            _ => self.api.path,
        };
        let path = path.replace("{model}", &escaped(self.model(), self.api.provider));
        let query = match (self.query.is_empty(), path.contains('?')) {
            (true, _) => String::new(),
            (false, true) => format!("&{}", self.query),
            (false, false) => format!("?{}", self.query),
        };
        format!("{}{path}{query}", self.base)
    }

    /// The modes to try, best first.
    pub(super) fn modes(&self) -> Vec<Mode> {
        let mut modes = self.config.modes(&self.capabilities);
        // Not every API has a mode for any JSON object.
        if self.api.json_object.is_empty() {
            modes.retain(|mode| *mode != Mode::JsonObject);
        }
        if modes.is_empty() {
            modes.push(Mode::Text);
        }
        modes
    }

    pub(super) fn keeps_to_schemas(&self) -> bool {
        self.capabilities.get(Capability::JsonSchema).value == Support::Yes
    }

    /// The dialect that text mode is written in.
    pub(super) fn dialect(&self) -> &str {
        self.config.dialect.as_deref().or(self.capabilities.dialect.value).unwrap_or("auto")
    }
}

/// The row's name of a server.
fn plain(name: &str) -> &str {
    match name {
        "azure_openai" => "azure",
        "lmstudio" => "lm_studio",
        "llamacpp" | "llama.cpp" => "llama_cpp",
        // Chat Completions as any server speaks them.
        "openai_chat" | "chat" | "openai_compatible" => "",
        other => other,
    }
}

fn split(url: &str) -> (&str, &str) {
    let url = url.trim().split('#').next().unwrap_or_default();
    url.split_once('?').unwrap_or((url, ""))
}

/// A model's id as a part of a path: Gemini's may hold one (`tunedModels/x`), those of Bedrock are escaped (ARNs).
fn escaped(model: &str, provider: Provider) -> String {
    let kept = |byte: u8| {
        byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || (byte == b'/' && provider == Provider::Gemini)
    };
    let model = if provider == Provider::Gemini { model.strip_prefix("models/").unwrap_or(model) } else { model };
    let mut out = String::new();
    for byte in model.bytes() {
        if kept(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
