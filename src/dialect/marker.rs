//! The meaning of a marker.
use super::id::{CallId, RowId, SectionId};

/// What a literal marker begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    /// A call by this template.
    Call(CallId),
    /// Opening of this section.
    Section(SectionId),
    /// Closing of this section.
    SectionEnd(SectionId),
    /// Element `element` of what closes calls by the template `call`.
    CallEnd {
        call: CallId,
        element: u16,
    },
    /// What stands behind the name in calls by this template.
    Inner(CallId),
    /// What opens reasoning, by its number in the set's list of pairs.
    ReasoningOpen(u16),
    ReasoningClose(u16),
    /// A special token of this row that is no content.
    Token(RowId),
    /// The other side's turn begins.
    Turn,
    /// A marker inside the text, with holes: template `inline` of `row`.
    Inline {
        row: RowId,
        inline: u16,
    },
    /// Opening of a tool's result, by its number in the set's list of pairs.
    Result(u16),
    /// The header of a message.
    Header(RowId),
    /// What stands before a recipient in a header whose opening marker is missing.
    Recipient(RowId),
    /// The end of a message.
    MessageEnd(RowId),
}

impl Marker {
    /// Calls, or sections of them, begin with it.
    pub(crate) const fn opens_calls(self) -> bool {
        matches!(self, Self::Call(_) | Self::Section(_))
    }

    pub(crate) const fn is_token(self) -> bool {
        matches!(self, Self::Token(_))
    }

    pub(crate) const fn closes_reasoning(self) -> bool {
        matches!(self, Self::ReasoningClose(_))
    }
}
