//! What servers say about their models: a reader for each server, chosen by the shape of the answer.
use super::{Capability, Provider, Support};
use crate::turn::words;
use crate::{Error, ErrorCode};
use serde_json::{Map, Value, json};

words! {
    /// Servers that say what their models can do.
    Server {
        /// llama-server: `GET /props`, `GET /v1/models`.
        LlamaCpp => "llama_cpp",
        /// Ollama: `POST /api/show`.
        Ollama => "ollama",
        /// LM Studio: `GET /api/v1/models`, `GET /api/v0/models`.
        LmStudio => "lm_studio",
        /// OpenRouter: `GET /models`, `GET /models/AUTHOR/SLUG/endpoints`.
        OpenRouter => "openrouter",
        /// vLLM: `GET /v1/models`.
        Vllm => "vllm",
        /// SGLang: `GET /v1/models`.
        Sglang => "sglang",
    }
}

impl Server {
    /// The server in the spelling of the rows.
    pub(super) const fn provider(self) -> Provider {
        Provider::named(self.as_str())
    }
}

/// What a server says about a model. Capabilities that it does not mention are unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    /// The server.
    pub server: Server,
    supports: [Option<Support>; Capability::ALL.len()],
    /// The context that the model runs with, or else the largest that it can.
    pub context_size: Option<u64>,
}

impl ServerInfo {
    fn by(server: Server) -> Self {
        Self { server, supports: [None; Capability::ALL.len()], context_size: None }
    }

    fn say(&mut self, capability: Capability, value: Support) {
        self.supports[capability as usize] = Some(value);
    }

    /// Returns what the server says about a capability.
    pub fn get(&self, capability: Capability) -> Option<Support> {
        self.supports[capability as usize]
    }

    /// Merges another answer of the same server, whose values win.
    pub(super) fn with(self, later: Self) -> Self {
        if self.server != later.server {
            return later;
        }
        let mut all = self;
        for (value, new) in all.supports.iter_mut().zip(later.supports) {
            *value = new.or(*value);
        }
        all.context_size = later.context_size.or(all.context_size);
        all
    }

    pub(super) fn to_value(&self) -> Value {
        let said = Capability::ALL.iter().filter_map(|c| Some((c.as_str().to_owned(), json!(self.get(*c)?.as_str()))));
        json!({
            "server": self.server.as_str(),
            "supports": said.collect::<Map<_, _>>(),
            "context_size": self.context_size,
        })
    }

    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let server = value.get("server")?.as_str()?;
        let mut info = Self::by(Server::ALL.iter().copied().find(|known| known.as_str() == server)?);
        for (name, value) in value.get("supports")?.as_object()? {
            if let Some(capability) = Capability::from_word(name) {
                info.say(capability, Support::from_word(value.as_str()?)?);
            }
        }
        info.context_size = value.get("context_size").and_then(Value::as_u64);
        Some(info)
    }

    /// Reads a server's answer about a model. Lists of models are searched for `model`; where a list has one model only, it is
    /// that one, whatever it is called: local servers answer to any name.
    ///
    /// # Errors
    /// [`ErrorCode::ProviderError`] if no known server writes such an answer, or the model is not in it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolglot::exchange::capability::{Capability, Support, ServerInfo};
    ///
    /// let info = ServerInfo::read(&json!({"capabilities": ["completion"], "model_info": {}}), "gemma3").unwrap();
    /// assert_eq!(info.get(Capability::NativeTools), Some(Support::No));
    /// ```
    pub fn read(answer: &Value, model: &str) -> Result<Self, Error> {
        let listed = || Error::new(ErrorCode::ProviderError, format!("the server does not list the model {model:?}"));
        if answer.get("default_generation_settings").is_some() && answer.get("total_slots").is_some() {
            return Ok(llama_props(answer));
        }
        if answer.get("model_info").is_some() || (answer.get("modelfile").is_some() && answer.get("details").is_some())
        {
            return Ok(ollama(answer));
        }
        let data = answer.get("data");
        if let Some(endpoints) = data.and_then(|data| data.get("endpoints")).and_then(Value::as_array) {
            return openrouter(endpoints).ok_or_else(listed);
        }
        for one in [Some(answer), data].into_iter().flatten() {
            if one.get("supported_parameters").is_some() {
                return openrouter(std::slice::from_ref(one)).ok_or_else(listed);
            }
            if one.get("loaded_context_length").is_some() || one.get("max_context_length").is_some() {
                return Ok(lm_studio(one));
            }
        }
        if let Some(models) = answer.get("models").and_then(Value::as_array)
            && models.iter().any(|one| one.get("key").is_some())
        {
            return entry(models, model).map(lm_studio).ok_or_else(listed);
        }
        let unknown = || Error::new(ErrorCode::ProviderError, "no known server describes its models so");
        let models = data.and_then(Value::as_array).ok_or_else(unknown)?;
        let one = entry(models, model).ok_or_else(listed)?;
        match one.get("owned_by").and_then(Value::as_str) {
            _ if one.get("supported_parameters").is_some() => openrouter(std::slice::from_ref(one)).ok_or_else(listed),
            Some("llamacpp") => Ok(llama_model(answer, one)),
            Some("vllm") => Ok(with_context(Server::Vllm, one.get("max_model_len"))),
            Some("sglang") => Ok(with_context(Server::Sglang, one.get("max_model_len"))),
            // Ollama's list in OpenAI's shape has the owner "library" and no capabilities.
            Some("library") => Ok(Self::by(Server::Ollama)),
            _ if one.get("max_context_length").is_some() => Ok(lm_studio(one)),
            _ => Err(unknown()),
        }
    }
}

/// Returns the entry of `model` in a list; the only entry if there is one.
fn entry<'a>(models: &'a [Value], model: &str) -> Option<&'a Value> {
    let names = |one: &Value| {
        let own = ["id", "key", "name", "model"].iter().filter_map(|field| one.get(*field)?.as_str());
        let others = ["canonical_slug"].iter().filter_map(|field| one.get(*field)?.as_str());
        let aliases = one.get("aliases").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        own.chain(others).chain(aliases).any(|name| name.eq_ignore_ascii_case(model))
    };
    let chat = |one: &&Value| !matches!(one.get("type").and_then(Value::as_str), Some("embedding" | "embeddings"));
    let mut chats = models.iter().filter(chat);
    models.iter().find(|one| names(one)).or_else(|| chats.next().filter(|_| chats.next().is_none()))
}

fn yes_or(no: Support, value: &Value) -> Option<Support> {
    value.as_bool().map(|yes| if yes { Support::Yes } else { no })
}

/// A server without tools in its template answers 200 and drops them, and `tool_choice` with them: tried with
/// SmolLM2 in llama-server of 2026-10.
fn llama_props(props: &Value) -> ServerInfo {
    let mut info = ServerInfo::by(Server::LlamaCpp);
    let caps = props.get("chat_template_caps");
    let cap = |name: &str| caps.and_then(|caps| caps.get(name));
    if let Some(tools) = cap("supports_tools").and_then(|value| yes_or(Support::Ignored, value)) {
        info.say(Capability::NativeTools, tools);
        info.say(Capability::ToolChoice, tools);
        if tools == Support::Ignored {
            info.say(Capability::ParallelCalls, Support::Ignored);
        } else if let Some(parallel) = cap("supports_parallel_tool_calls").and_then(|v| yes_or(Support::No, v)) {
            info.say(Capability::ParallelCalls, parallel);
        }
    }
    info.context_size = props.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64);
    info
}

fn llama_model(answer: &Value, one: &Value) -> ServerInfo {
    let mut info = ServerInfo::by(Server::LlamaCpp);
    let size = |name: &str| one.get("meta").and_then(|meta| meta.get(name)).and_then(Value::as_u64);
    info.context_size = size("n_ctx").or_else(|| size("n_ctx_train"));
    // Newer servers list the same models in Ollama's shape, where tools are mentioned if there are any.
    let list = answer.get("models").and_then(Value::as_array).into_iter().flatten();
    let mut described = list.filter_map(|model| model.get("capabilities")?.as_array());
    if described.next().is_some_and(|words| words.iter().any(|word| word == "tools")) {
        info.say(Capability::NativeTools, Support::Yes);
    }
    info
}

/// A model without `tools` in its capabilities is refused with 400, "does not support tools" (ollama/ollama#6027).
fn ollama(show: &Value) -> ServerInfo {
    let mut info = ServerInfo::by(Server::Ollama);
    if let Some(words) = show.get("capabilities").and_then(Value::as_array) {
        let has = |word: &str| if words.iter().any(|known| known == word) { Support::Yes } else { Support::No };
        info.say(Capability::NativeTools, has("tools"));
        info.say(Capability::Reasoning, has("thinking"));
    }
    // The size that it runs with is a parameter; what the model has was the size of its training.
    let parameters = show.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let model = show.get("model_info").and_then(Value::as_object);
    let trained = model.into_iter().flatten().find(|(key, _)| key.ends_with(".context_length"));
    info.context_size = set.or_else(|| trained?.1.as_u64());
    info
}

/// `trained_for_tool_use: false` is no "no": LM Studio gives such models a prompt of its own (its guide to tool use).
fn lm_studio(one: &Value) -> ServerInfo {
    let mut info = ServerInfo::by(Server::LmStudio);
    match one.get("capabilities") {
        Some(Value::Object(words)) => {
            if words.get("trained_for_tool_use") == Some(&Value::Bool(true)) {
                info.say(Capability::NativeTools, Support::Yes);
            }
            if words.get("reasoning").is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false))) {
                info.say(Capability::Reasoning, Support::Yes);
            }
        }
        Some(Value::Array(words)) if words.iter().any(|word| word == "tool_use") => {
            info.say(Capability::NativeTools, Support::Yes);
        }
        _ => {}
    }
    let instances = one.get("loaded_instances").and_then(Value::as_array).into_iter().flatten();
    let loaded = instances.filter_map(|instance| instance.pointer("/config/context_length")?.as_u64()).min();
    let size = |name: &str| one.get(name).and_then(Value::as_u64);
    info.context_size = loaded.or_else(|| size("loaded_context_length")).or_else(|| size("max_context_length"));
    info
}

/// OpenRouter sends tools only to endpoints that take them, and answers 404 if there are none; what else an endpoint does not
/// take it ignores (its guide to parameters).
fn openrouter(endpoints: &[Value]) -> Option<ServerInfo> {
    let mut info = ServerInfo::by(Server::OpenRouter);
    let takes = |name: &str, endpoint: &Value| {
        let all = endpoint.get("supported_parameters").and_then(Value::as_array);
        all.is_some_and(|all| all.iter().any(|parameter| parameter == name))
    };
    endpoints.iter().find(|endpoint| endpoint.get("supported_parameters").is_some_and(Value::is_array))?;
    for (name, capability, otherwise) in [
        ("tools", Capability::NativeTools, Support::No),
        ("tool_choice", Capability::ToolChoice, Support::Ignored),
        ("structured_outputs", Capability::JsonSchema, Support::Ignored),
        ("response_format", Capability::JsonObject, Support::Ignored),
        ("reasoning", Capability::Reasoning, Support::No),
    ] {
        let value = if endpoints.iter().any(|endpoint| takes(name, endpoint)) { Support::Yes } else { otherwise };
        info.say(capability, value);
    }
    if endpoints.iter().any(|endpoint| takes("parallel_tool_calls", endpoint)) {
        info.say(Capability::ParallelCalls, Support::Yes);
    }
    info.context_size = endpoints.iter().filter_map(|endpoint| endpoint.get("context_length")?.as_u64()).min();
    Some(info)
}

fn with_context(server: Server, size: Option<&Value>) -> ServerInfo {
    ServerInfo { context_size: size.and_then(Value::as_u64), ..ServerInfo::by(server) }
}
