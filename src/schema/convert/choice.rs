//! Which calls a model may or must make, as the members of a request that say so: a row of data for each API, and one for each
//! server that differs from the API that it speaks.
//!
//! Facts: the SDKs' models of requests (`ChatCompletionToolChoiceOptionParam`, `ToolChoiceParam`, `FunctionCallingConfig`,
//! botocore's `ToolChoice`), and reports on servers.
use super::members::{fill, put};
use super::target::{self, Format, Target};
use crate::error::{Error, ErrorCode};
use crate::schema::tool::FREEFORM;
use crate::schema::{Resolution, Tool, ToolSet};
use serde_json::{Map, Value, json};

/// What the model may or must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice<'n> {
    /// It calls tools, or answers.
    Auto,
    /// It calls at least one.
    Required,
    /// It calls none.
    None,
    /// It calls this one.
    Tool(&'n str),
}

impl<'n> Choice<'n> {
    /// `auto`, `required`, `none`, or else the name of a tool.
    pub fn named(name: &'n str) -> Self {
        match name {
            "auto" => Self::Auto,
            "required" => Self::Required,
            "none" => Self::None,
            tool => Self::Tool(tool),
        }
    }
}

/// A choice, with what goes along with it.
#[derive(Debug, Clone, Copy)]
pub struct ToolChoice<'n> {
    /// What the model may or must do.
    pub choice: Choice<'n>,
    /// The tools that it may call, of all that are offered.
    pub allowed: Option<&'n [&'n str]>,
    /// Whether it may make several calls at once; `None` leaves that to the API.
    pub parallel: Option<bool>,
}

/// How one meaning is said. Texts are JSON, in which `"$name"` stands for a tool's name and `"$type"` for its type.
#[derive(Debug, Clone, Copy)]
enum Way {
    Said(&'static str),
    /// It is meant where nothing is said.
    Omitted,
    /// By offering no tools.
    NoTools,
    /// By offering this tool alone, with this beside.
    Alone(&'static str),
    /// There is no way; the text says what to do.
    Never(&'static str),
}

/// How it is said that only some of the offered tools may be called.
#[derive(Debug, Clone, Copy)]
enum Allowed {
    /// In the choice; `tool` is one entry of the list that stands for `"$tools"`.
    Listed { auto: &'static str, required: &'static str, tool: &'static str },
    /// By offering only these.
    Offered,
}

#[derive(Debug, Clone, Copy)]
enum Parallel {
    /// In a member of the request.
    Beside(&'static str),
    /// In a member of the choice that forbids it.
    Forbidden(&'static str),
    /// The API leaves it to the model.
    Never,
}

#[derive(Debug)]
struct Row {
    /// Where the choice stands in the request.
    place: &'static [&'static str],
    /// Where the tools stand.
    tools: &'static [&'static str],
    auto: Way,
    none: Way,
    required: Way,
    named: Way,
    allowed: Allowed,
    parallel: Parallel,
}

/// Chat Completions, as every server that speaks it reads it.
const CHAT: Row = Row {
    place: &["tool_choice"],
    tools: &["tools"],
    auto: Way::Said(r#""auto""#),
    none: Way::Said(r#""none""#),
    required: Way::Said(r#""required""#),
    named: Way::Said(r#"{"type":"function","function":{"name":"$name"}}"#),
    allowed: Allowed::Offered,
    parallel: Parallel::Beside("parallel_tool_calls"),
};

/// `allowed_tools` is OpenAI's alone: Groq and OpenRouter have it not in their schemas, xAI ignores it.
const OPENAI: Row = Row {
    allowed: Allowed::Listed {
        auto: r#"{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":"$tools"}}"#,
        required: r#"{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":"$tools"}}"#,
        tool: r#"{"type":"function","function":{"name":"$name"}}"#,
    },
    ..CHAT
};

const RESPONSES: Row = Row {
    named: Way::Said(r#"{"type":"$type","name":"$name"}"#),
    allowed: Allowed::Listed {
        auto: r#"{"type":"allowed_tools","mode":"auto","tools":"$tools"}"#,
        required: r#"{"type":"allowed_tools","mode":"required","tools":"$tools"}"#,
        tool: r#"{"type":"$type","name":"$name"}"#,
    },
    ..CHAT
};

const ANTHROPIC: Row = Row {
    auto: Way::Said(r#"{"type":"auto"}"#),
    none: Way::Said(r#"{"type":"none"}"#),
    required: Way::Said(r#"{"type":"any"}"#),
    named: Way::Said(r#"{"type":"tool","name":"$name"}"#),
    parallel: Parallel::Forbidden("disable_parallel_tool_use"),
    ..CHAT
};

/// `VALIDATED` leaves the choice free, as `AUTO`, and takes a list, which `AUTO` does not.
const GEMINI: Row = Row {
    place: &["toolConfig", "functionCallingConfig"],
    auto: Way::Said(r#"{"mode":"AUTO"}"#),
    none: Way::Said(r#"{"mode":"NONE"}"#),
    required: Way::Said(r#"{"mode":"ANY"}"#),
    named: Way::Said(r#"{"mode":"ANY","allowedFunctionNames":["$name"]}"#),
    allowed: Allowed::Listed {
        auto: r#"{"mode":"VALIDATED","allowedFunctionNames":"$tools"}"#,
        required: r#"{"mode":"ANY","allowedFunctionNames":"$tools"}"#,
        tool: r#""$name""#,
    },
    parallel: Parallel::Never,
    ..CHAT
};

/// `any` is the word that every version of its API takes.
const MISTRAL: Row = Row { required: Way::Said(r#""any""#), ..CHAT };

const COHERE: Row = Row {
    auto: Way::Omitted,
    none: Way::Said(r#""NONE""#),
    required: Way::Said(r#""REQUIRED""#),
    named: Way::Alone(r#""REQUIRED""#),
    parallel: Parallel::Never,
    ..CHAT
};

const UNFORCED: &str = "Ollama forces no call";

const OLLAMA: Row = Row {
    auto: Way::Omitted,
    none: Way::NoTools,
    required: Way::Never(UNFORCED),
    named: Way::Never(UNFORCED),
    parallel: Parallel::Never,
    ..CHAT
};

const BEDROCK: Row = Row {
    place: &["toolConfig", "toolChoice"],
    tools: &["toolConfig", "tools"],
    auto: Way::Said(r#"{"auto":{}}"#),
    none: Way::Never("Converse has no such choice: leave `toolConfig` out, unless the history holds calls"),
    required: Way::Said(r#"{"any":{}}"#),
    named: Way::Said(r#"{"tool":{"name":"$name"}}"#),
    parallel: Parallel::Never,
    ..CHAT
};

/// llama.cpp and LM Studio take words alone ("Supported string values: none, auto, required").
const WORDS: Row = Row { named: Way::Alone(r#""required""#), ..CHAT };

fn row(provider: &str, format: Format) -> Option<&'static Row> {
    Some(match format {
        Format::OpenAi => match target::plain(provider).as_str() {
            "openai" | "openai_chat" | "azure" | "azure_openai" => &OPENAI,
            _ => &CHAT,
        },
        Format::OpenRouter | Format::Moonshot => &CHAT,
        Format::OpenAiResponses => &RESPONSES,
        Format::Anthropic => &ANTHROPIC,
        Format::Gemini => &GEMINI,
        Format::Mistral => &MISTRAL,
        Format::Cohere => &COHERE,
        Format::Ollama => &OLLAMA,
        Format::Bedrock => &BEDROCK,
        Format::LlamaCpp => &WORDS,
        Format::Mcp => return None,
    })
}

fn bad(place: &str, message: impl Into<String>) -> Error {
    Error::at(ErrorCode::BadOption, place, message)
}

impl ToolSet {
    /// The members of a request to `provider` that say which calls the model may or must make. `target` is its target. Where
    /// that can be said only by the tools that are offered, they are among the members.
    ///
    /// # Errors
    /// [`ErrorCode::BadOption`] where the provider has no way to say it, or a name means no tool of the set.
    ///
    /// ```
    /// # use serde_json::json;
    /// use toolglot::schema::{ToolSet, convert::{Choice, Target, ToolChoice}};
    /// let tools = ToolSet::from_values(&[json!({"name": "files.read"})])?;
    /// let choice = ToolChoice { choice: Choice::Tool("files.read"), allowed: None, parallel: Some(false) };
    /// let members = tools.tool_choice("anthropic", &Target::named("anthropic")?, &choice)?;
    /// let said = json!({"type": "tool", "name": "files_read", "disable_parallel_tool_use": true});
    /// assert_eq!(members, json!({"tool_choice": said}));
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn tool_choice(&self, provider: &str, target: &Target, choice: &ToolChoice<'_>) -> Result<Value, Error> {
        let row = row(provider, target.format).ok_or_else(|| Format::unknown(provider, |f| f != Format::Mcp))?;
        let mut request = Map::new();
        let mut offered: Option<Vec<usize>> = None;
        let mut said = match (choice.choice, choice.allowed) {
            (Choice::Auto | Choice::Required, Some(names)) => {
                let tools = names.iter().map(|name| self.chosen("allowed", name)).collect::<Result<Vec<_>, _>>()?;
                if tools.is_empty() {
                    return Err(bad("allowed", "no tool is named: to allow none, the choice is \"none\""));
                }
                let required = choice.choice == Choice::Required;
                match row.allowed {
                    Allowed::Listed { auto, required: must, tool } => {
                        let list = tools.iter().map(|at| fill(tool, &self.named(target, *at)));
                        let list = Value::Array(list.collect());
                        Some(fill(if required { must } else { auto }, &[("$tools", list)]))
                    }
                    Allowed::Offered => {
                        offered = Some(tools);
                        say(if required { row.required } else { row.auto }, "choice")?
                    }
                }
            }
            (_, Some(_)) => return Err(bad("allowed", "it goes with the choices \"auto\" and \"required\"")),
            (Choice::Tool(name), None) => {
                let at = self.chosen("choice", name)?;
                if matches!(row.named, Way::Alone(_)) {
                    offered = Some(vec![at]);
                }
                let template = say(row.named, "choice")?;
                template.map(|template| super::members::filled(&template, &self.named(target, at)))
            }
            (Choice::Auto, None) => say(row.auto, "choice")?,
            (Choice::Required, None) => say(row.required, "choice")?,
            (Choice::None, None) => {
                if matches!(row.none, Way::NoTools) {
                    offered = Some(Vec::new());
                }
                say(row.none, "choice")?
            }
        };
        match (row.parallel, choice.parallel) {
            (_, None) => {}
            (Parallel::Beside(_), _) if choice.choice == Choice::None => {}
            (Parallel::Beside(key), Some(parallel)) => {
                request.insert(key.to_owned(), json!(parallel));
            }
            (Parallel::Forbidden(_), _) if choice.choice == Choice::None => {}
            (Parallel::Forbidden(key), Some(parallel)) => {
                if let Some(Value::Object(said)) = &mut said {
                    said.insert(key.to_owned(), json!(!parallel));
                }
            }
            (Parallel::Never, Some(true)) => {}
            (Parallel::Never, Some(false)) => {
                return Err(bad("parallel", format!("{provider} has no way to ask for one call at most")));
            }
        }
        // What stands in the same member as the tools must not take their place.
        let beside_tools = row.place.len() > 1 && row.place.first() == row.tools.first() && said.is_some();
        if offered.is_some() || beside_tools {
            let converted = self.to(target);
            let declarations = match &offered {
                Some(only) => self.declarations(&converted).of(only).to_value(),
                None => self.declarations(&converted).to_value(),
            };
            put(&mut request, row.tools, declarations);
        }
        if let Some(said) = said {
            put(&mut request, row.place, said);
        }
        Ok(Value::Object(request))
    }

    /// What stands for a tool in the texts of a row.
    fn named(&self, target: &Target, tool: usize) -> [(&'static str, Value); 2] {
        let freeform = self.tools().get(tool).is_some_and(Tool::is_freeform);
        let kind = if freeform { FREEFORM } else { "function" };
        [("$name", json!(target.spelling(self, tool))), ("$type", json!(kind))]
    }

    /// The members of a request to `provider` that declare the tools and say which of them may or must be called. A choice that is
    /// `auto` is not said: it is meant where nothing is.
    ///
    /// # Errors
    /// As [`ToolSet::tool_choice`].
    ///
    /// ```
    /// # use serde_json::json;
    /// use toolglot::schema::{ToolSet, convert::{Choice, Target, ToolChoice}};
    /// let tools = ToolSet::from_values(&[json!({"name": "now"})])?;
    /// let choice = ToolChoice { choice: Choice::Required, allowed: None, parallel: None };
    /// let members = tools.offer("bedrock", &Target::named("bedrock")?, &choice)?;
    /// assert_eq!(members["toolConfig"]["toolChoice"], json!({"any": {}}));
    /// assert_eq!(members["toolConfig"]["tools"][0]["toolSpec"]["name"], "now");
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn offer(&self, provider: &str, target: &Target, choice: &ToolChoice<'_>) -> Result<Value, Error> {
        let row = row(provider, target.format).ok_or_else(|| Format::unknown(provider, |f| f != Format::Mcp))?;
        let silent = choice.choice == Choice::Auto && choice.allowed.is_none() && choice.parallel.is_none();
        let said = if silent { Value::Object(Map::new()) } else { self.tool_choice(provider, target, choice)? };
        let Value::Object(mut request) = said else { return Ok(said) };
        let inner = row.tools.iter().try_fold(None, |at: Option<&Value>, key| match at {
            None => request.get(*key).map(Some),
            Some(value) => value.get(*key).map(Some),
        });
        if inner.is_none() {
            put(&mut request, row.tools, self.declarations(&self.to(target)).to_value());
        }
        Ok(Value::Object(request))
    }

    /// The position of the tool that `name` means.
    fn chosen(&self, place: &str, name: &str) -> Result<usize, Error> {
        match self.resolve(name) {
            Resolution::Exact(tool) | Resolution::Resolved(tool) => self.position(&tool.name),
            Resolution::Unknown => None,
        }
        .ok_or_else(|| {
            bad(place, format!("{name:?} is no tool of this set, and none of \"auto\", \"required\", \"none\""))
        })
    }
}

/// The value of the choice; `None` where nothing is said.
fn say(way: Way, place: &str) -> Result<Option<Value>, Error> {
    match way {
        Way::Said(json) | Way::Alone(json) => Ok(Some(fill(json, &[]))),
        Way::Omitted | Way::NoTools => Ok(None),
        Way::Never(why) => Err(bad(place, why)),
    }
}
