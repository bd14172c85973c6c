//! The caller's choices where reasonable people differ, each with a safe default.

/// Where the model's text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartsIn {
    #[default]
    Content,
    /// The prompt has already opened the reasoning block.
    Reasoning,
}

/// When a Markdown fence holds calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fences {
    /// Its whole body is calls, to offered tools or in an explicit `tool_calls` envelope.
    #[default]
    Calls,
    /// Moreover, only white space follows it.
    Last,
    /// Never.
    Ignore,
}

/// What becomes of calls inside reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReasoningCalls {
    /// They are calls only if the reasoning never closes; drafts in closed reasoning stay reasoning.
    #[default]
    IfUnclosed,
    /// They stay reasoning.
    Ignore,
    /// They are calls.
    Run,
}

/// What becomes of a call that names no offered tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownTools {
    /// It is a call with status `unknown_tool`, so that the model can be told.
    #[default]
    Flag,
    /// It stays text.
    Text,
    /// It is a call like any other.
    Allow,
}

/// The caller's policies and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub fences: Fences,
    pub reasoning: ReasoningCalls,
    pub unknown_tools: UnknownTools,
    /// Calls beyond this many stay text.
    pub max_calls: usize,
    /// Arguments nested deeper than this are malformed.
    pub max_depth: usize,
    /// Arguments longer than this are malformed.
    pub max_arguments_bytes: usize,
    /// A marker's header (name, attributes, keys) longer than this is text.
    pub max_markup_bytes: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            fences: Fences::default(),
            reasoning: ReasoningCalls::default(),
            unknown_tools: UnknownTools::default(),
            max_calls: 128,
            max_depth: 128,
            max_arguments_bytes: 16 << 20,
            max_markup_bytes: 4 << 10,
        }
    }
}

/// How a text is read, apart from the tools and the dialect.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    pub starts_in: StartsIn,
    pub policy: Policy,
}
