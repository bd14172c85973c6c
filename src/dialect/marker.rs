//! The meaning of a marker.
/// What a literal marker begins or ends. Numbers are indexes into the set's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    /// Call template `call` of `row`.
    Call {
        row: u16,
        call: u16,
    },
    /// Opening of section `section` of `row`.
    Section {
        row: u16,
        section: u16,
    },
    /// Closing of section `section` of `row`.
    SectionEnd {
        row: u16,
        section: u16,
    },
    /// Element `element` of what closes calls by template `call` of `row`.
    CallEnd {
        row: u16,
        call: u16,
        element: u16,
    },
    /// What stands behind the name in calls by template `call` of `row`.
    Inner {
        row: u16,
        call: u16,
    },
    ReasoningOpen(u16),
    ReasoningClose(u16),
    /// A special token that is no content.
    Token {
        row: u16,
    },
    /// The other side's turn begins.
    Turn,
    /// A marker inside the text, with holes: template `inline` of `row`.
    Inline {
        row: u16,
        inline: u16,
    },
    /// Opening of the tool's result `result`.
    Result(u16),
    /// The header of a message.
    Header {
        row: u16,
    },
    /// What stands before a recipient in a header whose opening marker is missing.
    Recipient {
        row: u16,
    },
    /// The end of a message.
    MessageEnd {
        row: u16,
    },
}

impl Marker {
    /// Calls, or sections of them, begin with it.
    pub(crate) const fn opens_calls(self) -> bool {
        matches!(self, Self::Call { .. } | Self::Section { .. })
    }

    pub(crate) const fn is_token(self) -> bool {
        matches!(self, Self::Token { .. })
    }

    pub(crate) const fn closes_reasoning(self) -> bool {
        matches!(self, Self::ReasoningClose(_))
    }
}
