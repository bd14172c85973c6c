//! Whom tools are converted for, and the caller's choices there.
use super::budget::StrictLimits;
use super::profile::{Profile, PropertyNames};
use super::{anthropic, bedrock, cohere, gemini, llama_cpp, mistral, moonshot, ollama, openai, openrouter};
use crate::error::{Error, ErrorCode};
use crate::schema::names;
use crate::schema::plain::Facts;
use crate::schema::told::told_names;
use crate::schema::{Tool, ToolSet};
use crate::turn::Arguments;
use serde_json::Value;
use std::borrow::Cow;

/// A shape that tools are declared in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Chat Completions, and servers that speak it.
    OpenAi,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `functionDeclarations`.
    Gemini,
    /// Mistral's chat.
    Mistral,
    /// Cohere's v2 chat.
    Cohere,
    /// Ollama's own API.
    Ollama,
    /// Bedrock's Converse.
    Bedrock,
    /// MCP's `tools/list`.
    Mcp,
    /// llama.cpp's server, and LM Studio.
    LlamaCpp,
    /// OpenRouter, where the model behind it decides.
    OpenRouter,
    /// Moonshot's Chat Completions, which takes fewer schemas.
    Moonshot,
}

/// Which of Gemini's two schema fields is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GeminiSchema {
    /// `parametersJsonSchema`: JSON Schema, most of it.
    #[default]
    JsonSchema,
    /// `parameters`: the OpenAPI subset.
    Parameters,
}

/// Names that mean a format: its own first, and those of vendors and servers that speak it.
const NAMES: &[(&str, Format)] = &[
    ("openai", Format::OpenAi),
    ("openai_chat", Format::OpenAi),
    ("chat", Format::OpenAi),
    ("openai_compatible", Format::OpenAi),
    ("azure", Format::OpenAi),
    ("azure_openai", Format::OpenAi),
    ("groq", Format::OpenAi),
    ("vllm", Format::OpenAi),
    ("sglang", Format::OpenAi),
    ("litellm", Format::OpenAi),
    ("deepseek", Format::OpenAi),
    ("xai", Format::OpenAi),
    ("venice", Format::OpenAi),
    ("together", Format::OpenAi),
    ("fireworks", Format::OpenAi),
    ("cerebras", Format::OpenAi),
    ("zai", Format::OpenAi),
    ("huggingface", Format::OpenAi),
    ("tgi", Format::OpenAi),
    ("localai", Format::OpenAi),
    ("openai_responses", Format::OpenAiResponses),
    ("responses", Format::OpenAiResponses),
    ("anthropic", Format::Anthropic),
    ("claude", Format::Anthropic),
    ("gemini", Format::Gemini),
    ("google", Format::Gemini),
    ("vertex", Format::Gemini),
    ("vertexai", Format::Gemini),
    ("google_genai", Format::Gemini),
    ("mistral", Format::Mistral),
    ("mistralai", Format::Mistral),
    ("cohere", Format::Cohere),
    ("ollama", Format::Ollama),
    ("bedrock", Format::Bedrock),
    ("aws", Format::Bedrock),
    ("converse", Format::Bedrock),
    ("mcp", Format::Mcp),
    ("llama_cpp", Format::LlamaCpp),
    ("llamacpp", Format::LlamaCpp),
    ("lmstudio", Format::LlamaCpp),
    ("lm_studio", Format::LlamaCpp),
    ("moonshot", Format::Moonshot),
    ("moonshotai", Format::Moonshot),
    ("kimi", Format::Moonshot),
    ("openrouter", Format::OpenRouter),
];

/// A name as the table spells it.
pub(super) fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['-', '.', ' '], "_")
}

impl Format {
    /// The format of that name. The one table of such names: [`crate::provider::Provider`] has none of its own.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let plain = plain(name);
        NAMES.iter().find(|(known, _)| *known == plain).map(|(_, format)| *format)
    }

    /// The error for a name that means none of the formats that are `taken`.
    pub(crate) fn unknown(name: &str, taken: impl Fn(Self) -> bool) -> Error {
        let known: Vec<&str> = NAMES.iter().filter(|(_, format)| taken(*format)).map(|(name, _)| *name).collect();
        let written = plain(name);
        let near = known.iter().map(|known| (strsim::osa_distance(&written, known), *known)).min();
        let meant = near.filter(|(distance, near)| *distance * 3 <= near.len()).map(|(_, near)| near);
        let message = match meant {
            _ if written == "text" => {
                "a model without native tools is told of them in its prompt: `to_prompt`".to_owned()
            }
            Some(near) => {
                format!("no provider is called {name:?}: did you mean {near:?}? there are {}", known.join(", "))
            }
            None => format!("no provider is called {name:?}; there are {}", known.join(", ")),
        };
        Error::at(ErrorCode::UnknownProvider, name, message)
    }

    /// Its own name.
    #[cfg(feature = "python")]
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// Every name there is.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }
}

/// Fields of a declaration that Anthropic's API alone has ("Tool use" in its documentation). Other APIs have words for theirs that
/// anybody may use (Gemini's `response`): those are not taken for one.
const ANTHROPICS: &[&str] =
    &["cache_control", "input_examples", "defer_loading", "allowed_callers", "eager_input_streaming"];

/// A field that [`Target::carries`] for some target.
pub(in crate::schema) fn is_carried(field: &[u8]) -> bool {
    ANTHROPICS.iter().any(|known| known.as_bytes() == field)
}

/// Whom tools are converted for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// The shape of the declarations.
    pub format: Format,
    /// Strict mode, where the format has one and the tool's schema can be said in it.
    pub strict: bool,
    /// Where Gemini finds the schema.
    pub gemini_schema: GeminiSchema,
    /// Move what the target cannot carry into descriptions.
    pub describe: bool,
    /// The model behind a gateway (`anthropic/claude-…`): the schema it takes depends on it.
    pub model: Option<String>,
    /// The most bytes that all schemas together may have, for servers that build a grammar of them.
    pub budget: Option<usize>,
}

impl Target {
    /// The target of that format, with the default choices.
    pub const fn new(format: Format) -> Self {
        Self {
            format,
            strict: false,
            gemini_schema: GeminiSchema::JsonSchema,
            describe: false,
            model: None,
            budget: None,
        }
    }

    /// The target of that name, with the default choices.
    ///
    /// # Errors
    /// If no provider is called so.
    pub fn named(name: &str) -> Result<Self, Error> {
        Format::named(name).map(Self::new).ok_or_else(|| Format::unknown(name, |_| true))
    }

    pub(super) fn profile(&self) -> &'static Profile {
        match self.format {
            Format::OpenAi | Format::OpenAiResponses => &openai::LOOSE,
            Format::Anthropic => &anthropic::LOOSE,
            Format::Gemini => match self.gemini_schema {
                GeminiSchema::JsonSchema => &gemini::JSON_SCHEMA,
                GeminiSchema::Parameters => &gemini::PARAMETERS,
            },
            Format::Mistral => &mistral::PROFILE,
            Format::Cohere => &cohere::PROFILE,
            Format::Ollama => &ollama::PROFILE,
            Format::Bedrock => &bedrock::PROFILE,
            Format::Mcp => &Profile { root_unions: true, items: false, ..Profile::OPEN },
            Format::LlamaCpp => &llama_cpp::PROFILE,
            Format::OpenRouter => openrouter::profile(self.model.as_deref()),
            Format::Moonshot => &moonshot::PROFILE,
        }
    }

    pub(super) fn strict_profile(&self) -> Option<&'static Profile> {
        match self.format {
            Format::OpenAi | Format::OpenAiResponses => Some(&openai::STRICT),
            Format::Anthropic => Some(&anthropic::STRICT),
            Format::OpenRouter => openrouter::strict_profile(self.model.as_deref()),
            _ => None,
        }
    }

    /// The declaration's field of that name is one of this target's own, and goes back as it was.
    pub(crate) fn carries(&self, field: &str) -> bool {
        self.format == Format::Anthropic && ANTHROPICS.contains(&field)
    }

    pub(super) fn strict_limits(&self) -> StrictLimits {
        match self.format {
            Format::Anthropic => anthropic::LIMITS,
            _ => openai::LIMITS,
        }
    }

    /// The tool's name as this target takes it.
    pub(in crate::schema) fn spelling<'t>(&self, set: &'t ToolSet, tool: usize) -> &'t str {
        let own = set.tools().get(tool).map_or("", |t| t.name.as_str());
        if self.takes_name(own) { own } else { set.safe_name(tool).unwrap_or(own) }
    }

    /// The name that this target was told for the tool `name`; of one that is none of `tools`, one that it takes.
    pub(crate) fn told<'n>(&self, tools: Option<&'n ToolSet>, name: &'n str) -> Cow<'n, str> {
        match tools.and_then(|tools| Some((tools, tools.position(name)?))) {
            Some((tools, position)) => Cow::Borrowed(self.spelling(tools, position)),
            None if self.takes_name(name) => Cow::Borrowed(name),
            None => Cow::Owned({
                let others = tools.map_or(&[][..], ToolSet::tools).iter().map(|tool| tool.name.as_str());
                names::safe_name(name, others)
            }),
        }
    }

    /// The arguments of the tool `name` under the names that this target was told of its members; `None` where they are those
    /// that they have.
    pub(crate) fn told_arguments(&self, tools: &ToolSet, name: &str, arguments: &Arguments<'_>) -> Option<String> {
        let (names, tool) = (self.profile().properties, tools.get(name)?);
        if names == PropertyNames::Any || !tool.judge.respelt(&tool.schema) {
            return None;
        }
        let mut value = serde_json::from_str(&arguments.to_json()).ok()?;
        told_names(tool.judge.schema(&tool.schema), &mut value, names).then(|| value.to_string())
    }

    /// The schema of `tool` under the names that this target was told of its members; `None` where they are those that they have.
    pub(in crate::schema) fn told_schema(&self, tool: &Tool) -> Option<Value> {
        let names = self.profile().properties;
        let other = names != PropertyNames::Any && tool.judge.respelt(&tool.schema);
        other.then(|| super::respelt(&tool.schema, names))
    }

    fn takes_name(&self, name: &str) -> bool {
        let word = |extra: &[u8], most: usize| {
            !name.is_empty()
                && name.len() <= most
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || extra.contains(&b))
        };
        match self.format {
            Format::Mcp => true,
            // Some models behind it demand a letter first and no dash; the safe spelling may keep the dash.
            Format::Gemini | Format::Bedrock | Format::Moonshot => names::is_safe(name),
            Format::OpenAiResponses => word(b"_-", 128),
            _ => word(b"_-", 64),
        }
    }

    /// Whether every target takes the name.
    #[cfg(feature = "python")]
    pub(crate) fn is_safe_name(name: &str) -> bool {
        names::is_safe(name)
    }

    /// Whether tools that are plain ([`crate::schema::plain`]) are only wrapped for this target.
    pub(crate) fn takes_plain(&self, facts: Facts) -> bool {
        !self.strict
            && self.budget().is_none()
            && !(facts.long && self.longest_description().is_some())
            && self.profile().shows_plain(facts)
    }

    /// Characters that a tool's description may have.
    pub(super) fn longest_description(&self) -> Option<usize> {
        matches!(self.format, Format::OpenAi | Format::OpenAiResponses).then_some(openai::MAX_DESCRIPTION)
    }

    pub(super) fn budget(&self) -> Option<usize> {
        match self.format {
            Format::LlamaCpp => Some(self.budget.unwrap_or(llama_cpp::BUDGET)),
            _ => self.budget,
        }
    }
}
