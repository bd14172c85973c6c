//! `tool_choice` in every API's words.
use super::super::error::{WireCode, WireError};
use super::super::{BackendApi, ClientApi};
use super::Losses;
use crate::provider::Node;
use serde_json::{Map, Value, json};

/// Which tools the model may or must call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Choice {
    /// Any, or none.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one, whichever.
    Required,
    /// Only these.
    Only { names: Vec<String>, required: bool },
}

impl Choice {
    /// A call must come.
    pub(crate) fn is_required(&self) -> bool {
        matches!(self, Self::Required | Self::Only { required: true, .. })
    }

    /// The tools that may be called, if not all.
    pub(crate) fn only(&self) -> Option<&[String]> {
        match self {
            Self::Only { names, .. } => Some(names),
            _ => None,
        }
    }

    fn named(name: Option<&str>) -> Option<Self> {
        Some(Self::Only { names: vec![name?.to_owned()], required: true })
    }
}

/// What a request says of tools, apart from their declarations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) choice: Choice,
    /// Several calls may come in one answer.
    pub(crate) parallel: bool,
    /// Where the request says it.
    pub(crate) param: &'static str,
}

/// Reads what `body` says.
pub(crate) fn read(body: &Node<'_>, api: ClientApi, losses: &mut Losses) -> Result<Wanted, WireError> {
    let (said, param) = match body.get("tool_choice") {
        None if api == ClientApi::Chat && body.get("functions").is_some() => {
            (body.get("function_call"), "function_call")
        }
        said => (said, "tool_choice"),
    };
    let parallel = match api {
        ClientApi::Anthropic => !said.is_some_and(|said| said.is_true("disable_parallel_tool_use")),
        _ => !matches!(body.get("parallel_tool_calls"), Some(Node::Bool(false))),
    };
    let Some(said) = said else { return Ok(Wanted { choice: Choice::Auto, parallel, param }) };
    let refused = |message: &str| WireError::refused(WireCode::InvalidValue, param, format!("{param} {message}"));
    let choice = match api {
        ClientApi::Anthropic => match said.text("type") {
            Some("auto") => Some(Choice::Auto),
            Some("none") => Some(Choice::None),
            Some("any") => Some(Choice::Required),
            Some("tool") => Choice::named(said.text("name")),
            _ => None,
        },
        _ => match said {
            Node::String(word) => match &**word {
                "none" => Some(Choice::None),
                "auto" => Some(Choice::Auto),
                "required" => Some(Choice::Required),
                _ => None,
            },
            Node::Object(_) => object(said, api, param, losses)?,
            _ => None,
        },
    };
    let message = match api {
        ClientApi::Anthropic => "must have the type auto, any, none or tool",
        _ => "must be none, auto, required, a function or allowed_tools",
    };
    Ok(Wanted { choice: choice.ok_or_else(|| refused(message))?, parallel, param })
}

/// OpenAI's objects: a function, a custom tool, a list of allowed tools.
fn object(said: &Node<'_>, api: ClientApi, param: &str, losses: &mut Losses) -> Result<Option<Choice>, WireError> {
    let name = |tool: &Node<'_>| -> Option<String> {
        let inner = tool.get("function").or_else(|| tool.get("custom")).unwrap_or(tool);
        inner.text("name").map(str::to_owned)
    };
    match said.text("type") {
        Some("allowed_tools") => {
            let list = said.get("allowed_tools").unwrap_or(said);
            let required = match list.text("mode") {
                Some("auto") => false,
                Some("required") => true,
                _ => {
                    let message = r#"allowed_tools is {"mode": "auto" or "required", "tools": [...]}"#;
                    return Err(WireError::refused(WireCode::InvalidValue, param, message));
                }
            };
            let tools: Vec<_> = list.list("tools").iter().filter(|tool| tool.text("type") != Some("mcp")).collect();
            let names: Option<Vec<String>> = tools.iter().map(|tool| name(tool)).collect();
            match names.filter(|names| !names.is_empty()) {
                Some(names) => Ok(Some(Choice::Only { names, required })),
                None => {
                    let message = format!("{param} names none of the tools");
                    Err(WireError::refused(WireCode::InvalidValue, param, message))
                }
            }
        }
        Some(hosted) if api == ClientApi::Responses && !matches!(hosted, "function" | "custom") => {
            losses.lose("tool_choice", format!("`{hosted}` runs at its provider; any tool may be called"));
            Ok(Some(Choice::Auto))
        }
        // `{"name"}` is what `function_call` says.
        _ => Ok(Choice::named(name(said).as_deref())),
    }
}

/// Puts into `body` what the backend is to know of the choice. `spelled`: the name of a tool as the backend knows it.
pub(crate) fn write(wanted: &Wanted, api: BackendApi, spelled: impl Fn(&str) -> String, body: &mut Map<String, Value>) {
    let single = |names: &[String]| match names {
        [name] => Some(spelled(name)),
        _ => None,
    };
    let word = |auto: &str, required: &str| match &wanted.choice {
        Choice::Only { required: true, .. } | Choice::Required => required.to_owned(),
        Choice::None => "none".to_owned(),
        _ => auto.to_owned(),
    };
    let named = match &wanted.choice {
        Choice::Only { names, required: true } => single(names),
        _ => None,
    };
    match api {
        BackendApi::Chat | BackendApi::Responses => {
            let value = match named {
                Some(name) if api == BackendApi::Chat => json!({"type": "function", "function": {"name": name}}),
                Some(name) => json!({"type": "function", "name": name}),
                None => json!(word("auto", "required")),
            };
            if wanted.choice != Choice::Auto {
                body.insert("tool_choice".into(), value);
            }
            if !wanted.parallel {
                body.insert("parallel_tool_calls".into(), json!(false));
            }
        }
        BackendApi::Anthropic => {
            let mut value = match named {
                Some(name) => json!({"type": "tool", "name": name}),
                None => json!({"type": word("auto", "any")}),
            };
            if !wanted.parallel && wanted.choice != Choice::None {
                value["disable_parallel_tool_use"] = json!(true);
            }
            if wanted.choice != Choice::Auto || !wanted.parallel {
                body.insert("tool_choice".into(), value);
            }
        }
        BackendApi::Gemini => {
            let mode = word("AUTO", "ANY").to_uppercase();
            let mut config = json!({"mode": mode});
            if let (Some(names), "ANY") = (wanted.choice.only(), &*mode) {
                config["allowedFunctionNames"] = json!(names.iter().map(|name| spelled(name)).collect::<Vec<_>>());
            }
            if wanted.choice != Choice::Auto {
                body.insert("toolConfig".into(), json!({"functionCallingConfig": config}));
            }
        }
    }
}
