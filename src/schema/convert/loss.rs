//! The record of what a conversion changed.
use crate::turn::words;

words! {
    /// What became of a part of a schema.
    LossKind {
        /// Left out: the target does not know it.
        Dropped => "dropped",
        /// Left out, and not for models: what MCP tells the host of a tool (`title`, `outputSchema`, `annotations`).
        Metadata => "metadata",
        /// Said in other words that may allow more or less.
        Rewritten => "rewritten",
        /// Moved into the description.
        Described => "described",
        /// The tool's strict mode is off, since its schema cannot be said strictly.
        NotStrict => "not_strict",
        /// A name the target refuses was respelt.
        Renamed => "renamed",
    }
}

/// One thing that a provider is told less exactly than the tool's own schema says it, or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Loss {
    /// The tool's real name.
    pub tool: String,
    /// Where in the tool's own schema, as a JSON pointer; empty for the tool itself.
    pub pointer: String,
    /// What was done to it.
    pub kind: LossKind,
    /// What was changed and why.
    pub message: String,
}

/// What was changed of the tool at hand: a [`Loss`] that does not name it yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Change {
    pub pointer: String,
    pub kind: LossKind,
    pub message: String,
}

impl Change {
    /// A change of the tool itself.
    pub(super) fn of_tool(kind: LossKind, message: String) -> Self {
        Self { pointer: String::new(), kind, message }
    }

    pub(super) fn loss_of(self, tool: &str) -> Loss {
        Loss { tool: tool.to_owned(), pointer: self.pointer, kind: self.kind, message: self.message }
    }
}
