//! The steps of a streamed turn.
use super::{Issue, ToolCall};

/// One step of a streamed [`super::Turn`]. Added up, the events of a stream are the turn that `finish` returns.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A piece of the content.
    Text(String),
    /// A piece of the reasoning.
    Reasoning(String),
    /// A call is certain: its name is known and its arguments follow.
    CallStarted {
        /// The call's number in the stream; all its events have it.
        index: usize,
        /// The id that its result is paired by.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// A piece of the arguments' JSON text. The pieces of a call with status `ok` join to its arguments' JSON.
    /// Repair mends as it goes: mostly the pieces of other calls are the beginning of theirs.
    Arguments {
        /// The number of its call.
        index: usize,
        /// The piece.
        text: String,
    },
    /// The call is over; `call` holds its final status and arguments.
    CallEnded {
        /// The number of the call.
        index: usize,
        /// The call as it is in the turn.
        call: Box<ToolCall<'static>>,
    },
    /// All content so far was reasoning: its closing tag came without an opening one.
    Reclassified,
    /// Something odd was observed.
    Issue(Issue),
}

impl Event {
    /// The kind as Python callers see it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Reasoning(_) => "reasoning",
            Self::CallStarted { .. } => "call_started",
            Self::Arguments { .. } => "arguments",
            Self::CallEnded { .. } => "call_ended",
            Self::Reclassified => "reclassified",
            Self::Issue(_) => "issue",
        }
    }
}
