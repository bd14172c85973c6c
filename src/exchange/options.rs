//! What the caller of an exchange chooses.
use crate::engine;
use crate::schema::convert::{Choice, ToolChoice};
use serde_json::{Map, Value};

/// Which calls the answer may or must have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Wanted {
    /// Calls or text.
    #[default]
    Auto,
    /// At least one call.
    Required,
    /// No call.
    None,
    /// A call of this tool.
    Tool(String),
}

impl Wanted {
    /// `auto`, `required`, `none`, or else the name of a tool.
    pub fn named(name: &str) -> Self {
        match Choice::named(name) {
            Choice::Auto => Self::Auto,
            Choice::Required => Self::Required,
            Choice::None => Self::None,
            Choice::Tool(name) => Self::Tool(name.to_owned()),
        }
    }

    /// Whether an answer without a call is not what was asked for.
    pub(super) const fn needs_call(&self) -> bool {
        matches!(self, Self::Required | Self::Tool(_))
    }
}

/// What the caller chooses.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which calls the answer may or must have.
    pub tool_choice: Wanted,
    /// Whether an answer may have several calls; `None` leaves that to the API.
    pub parallel: Option<bool>,
    /// How many tokens an answer may have; `None` leaves that to the API.
    pub max_tokens: Option<u64>,
    /// The temperature; `None` leaves that to the API.
    pub temperature: Option<f64>,
    /// Other members of the request, as the API spells them.
    pub extra: Map<String, Value>,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Policies and limits of what is read.
    pub reading: engine::Options,
    /// How many requests there may be in all. `None`: one and the configured retries for each endpoint.
    pub requests: Option<usize>,
    /// How many seconds all of it may take.
    pub seconds: f64,
    /// How many tokens all answers together may take before nothing more is asked.
    pub tokens: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tool_choice: Wanted::Auto,
            parallel: None,
            max_tokens: None,
            temperature: None,
            extra: Map::new(),
            stream: false,
            reading: engine::Options::default(),
            requests: None,
            seconds: 600.0,
            tokens: u64::MAX,
        }
    }
}

impl Options {
    pub(super) fn choice(&self) -> ToolChoice<'_> {
        let choice = match &self.tool_choice {
            Wanted::Auto => Choice::Auto,
            Wanted::Required => Choice::Required,
            Wanted::None => Choice::None,
            Wanted::Tool(name) => Choice::Tool(name),
        };
        ToolChoice { choice, allowed: None, parallel: self.parallel }
    }
}
