//! The caller's choices where reasonable people differ, each with a safe default.
use crate::error::{Error, ErrorCode};
use crate::schema::Names;
use crate::turn::Ids;

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

/// Where calls without markers, envelope or fence count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BareCalls {
    /// Where a line begins, or behind markup that was taken out.
    #[default]
    Line,
    /// Only where such calls are the whole answer.
    Alone,
    /// Nowhere.
    Off,
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
    pub bare: BareCalls,
    pub reasoning: ReasoningCalls,
    pub unknown_tools: UnknownTools,
    /// Which spellings of a name mean an offered tool.
    pub names: Names,
    /// Where the ids of calls come from that have none in the text.
    pub ids: Ids,
    /// Calls beyond this many stay text.
    pub max_calls: usize,
    /// Arguments nested deeper than this are malformed. At most [`Self::MAX_DEPTH`].
    pub max_depth: usize,
    /// Arguments longer than this are malformed.
    pub max_arguments_bytes: usize,
    /// A marker's header (name, attributes, keys) longer than this is text.
    pub max_markup_bytes: usize,
}

impl Policy {
    /// JSON readers stop at this depth, and grammars of nested tags call themselves as deep as this allows.
    pub const MAX_DEPTH: usize = 128;
    /// No text is longer, so a limit of so many bytes is none, and a place and a limit can be added.
    pub const MAX_BYTES: usize = isize::MAX as usize;

    /// What the limits may be at most, by name.
    fn limits(&mut self) -> [(&'static str, &mut usize, usize); 4] {
        [
            ("max_calls", &mut self.max_calls, Self::MAX_BYTES),
            ("max_depth", &mut self.max_depth, Self::MAX_DEPTH),
            ("max_arguments_bytes", &mut self.max_arguments_bytes, Self::MAX_BYTES),
            ("max_markup_bytes", &mut self.max_markup_bytes, Self::MAX_BYTES),
        ]
    }

    /// Whether the limits are within what there is. Reading clamps what is not.
    ///
    /// # Errors
    /// [`ErrorCode::BadOption`], with the name of the limit as its place.
    pub fn check(&self) -> Result<(), Error> {
        for (name, value, most) in self.clone().limits() {
            if *value > most {
                return Err(Error::at(ErrorCode::BadOption, name, format!("{value} is more than {most}")));
            }
        }
        Ok(())
    }

    /// The policy as everything reads by it: no limit is more than there is.
    pub(crate) fn clamped(&self) -> Self {
        let mut policy = self.clone();
        for (_, value, most) in policy.limits() {
            *value = (*value).min(most);
        }
        policy
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            fences: Fences::default(),
            bare: BareCalls::default(),
            reasoning: ReasoningCalls::default(),
            unknown_tools: UnknownTools::default(),
            names: Names::default(),
            ids: Ids::default(),
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

#[cfg(test)]
#[path = "../../tests/units/options.rs"]
mod tests;
