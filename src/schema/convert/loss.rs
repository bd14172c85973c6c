//! The record of what a conversion changed.

/// What became of a part of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossKind {
    /// Left out: the target does not know it.
    Dropped,
    /// Said in other words that may allow more or less.
    Rewritten,
    /// Moved into the description.
    Described,
    /// The tool's strict mode is off, since its schema cannot be said strictly.
    NotStrict,
    /// A name the target refuses was respelt.
    Renamed,
}

impl LossKind {
    /// Every kind.
    pub const ALL: &[Self] = &[Self::Dropped, Self::Rewritten, Self::Described, Self::NotStrict, Self::Renamed];

    /// The fixed spelling of the kind, part of the public API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Rewritten => "rewritten",
            Self::Described => "described",
            Self::NotStrict => "not_strict",
            Self::Renamed => "renamed",
        }
    }
}

/// One thing that a provider is told less exactly than the tool's own schema says it, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
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
