//! The record of what was odd ([`Issue`]) and of what was changed ([`Repair`]).
use super::codes;
use std::borrow::Cow;

codes! {
    /// What was changed between what the model wrote and what the caller gets.
    RepairCode {
        /// Single, smart or missing quotes round a string or key became double quotes.
        Quotes => "quotes",
        /// A Python or JS literal (`True`, `None`, `undefined`, `NaN`) became JSON.
        Literal => "literal",
        /// A comma was added or removed.
        Comma => "comma",
        /// A colon was added or replaced (`=`, `=>`).
        Colon => "colon",
        /// A raw control character in a string was escaped; between values, white space that JSON does not know became a space.
        ControlCharacter => "control_character",
        /// An escape that JSON does not know was mended (`\d`, `C:\p`, a lone surrogate).
        Escape => "escape",
        /// A bracket or brace too few or too many, or of the wrong kind.
        Bracket => "bracket",
        /// A string's missing end was found.
        UnclosedString => "unclosed_string",
        /// A comment was removed.
        Comment => "comment",
        /// Text round the JSON value (a fence, a label, a second value) was left out.
        Surroundings => "surroundings",
        /// A number JSON does not know (`07`, `+1`, `1.`, `0x1F`, `1_000`) was mended.
        Number => "number",
        /// Adjacent values were joined (`"a" + "b"`, `{...}{...}`).
        Joined => "joined",
        /// Arguments that were JSON inside a string were decoded.
        DoubleEncoded => "double_encoded",
        /// Arguments were taken from beside the wrapper that should hold them.
        Misplaced => "misplaced",
        /// The name the model wrote was resolved to an offered tool's.
        Name => "name",
        /// A value changed type, or the spelling of one that an `enum` lists, because the schema demands it.
        Coerced => "coerced",
        /// A marker of the dialect was missing or misspelt.
        Marker => "marker",
        /// A duplicate key: the last value counts.
        DuplicateKey => "duplicate_key",
        /// Positional arguments got the names of the schema's parameters.
        Positional => "positional",
        /// A value that is no literal was kept as its source text.
        SourceText => "source_text",
        /// Markdown escapes (`\_`) were removed.
        MarkdownEscape => "markdown_escape",
        /// An optional parameter that strict mode sent as null was dropped.
        NullDropped => "null_dropped",
    }
}

codes! {
    /// What was observed in an answer.
    IssueCode {
        /// A call names no offered tool.
        UnknownTool => "unknown_tool",
        /// A call's arguments cannot be read.
        MalformedCall => "malformed_call",
        /// A call is cut off.
        IncompleteCall => "incomplete_call",
        /// A call's arguments are not what its schema allows.
        InvalidArguments => "invalid_arguments",
        /// The dialect was asked for by the id of a model of which nothing is known: the text decided.
        UnknownModel => "unknown_model",
        /// Markers without a readable call were left in the text.
        StrayMarker => "stray_marker",
        /// Text stood where only calls should; it is in the content.
        TextInSection => "text_in_section",
        /// Beside the calls, in their envelope or in the object of one, stands what is neither content nor an argument, or a message
        /// is for nobody here; it is in the issue.
        EnvelopeMember => "envelope_member",
        /// A call drafted in closed reasoning was not taken.
        DraftInReasoning => "draft_in_reasoning",
        /// A call with markers, or a fence of calls, that is shown, spoken of, or stands beside native calls was not taken.
        QuotedCall => "quoted_call",
        /// The model wrote a tool's result itself; it was dropped.
        InventedResult => "invented_result",
        /// The model went on with the other side's turn; calls behind that were not taken.
        InventedTurn => "invented_turn",
        /// The model wrote a call's body once more behind it; it was left out.
        RepeatedCall => "repeated_call",
        /// A limit of the policy was reached; what is beyond it stays text.
        LimitReached => "limit_reached",
        /// Reading got nowhere at this place, which is a bug in toolglot; the rest of the text is content.
        NoProgress => "no_progress",
        /// Reasoning was closed that was never opened; the text before it became reasoning.
        Reclassified => "reclassified",
        /// The bytes fed were no UTF-8; U+FFFD stands for them.
        InvalidUtf8 => "invalid_utf8",
        /// A field of a provider's response was missing, of the wrong type or contradicts another.
        ProviderField => "provider_field",
        /// A provider's event of an unknown type was skipped.
        UnknownEvent => "unknown_event",
        /// The provider reported an error.
        ProviderError => "provider_error",
        /// The stop reason a provider gave is not what its response shows.
        StopReason => "stop_reason",
        /// A message was changed, or lost something, on its way to another provider's shape.
        Converted => "converted",
        /// A call in a history has no result.
        MissingResult => "missing_result",
        /// A result in a history answers no call.
        OrphanResult => "orphan_result",
        /// A result in a history does not stand right after its call.
        MisplacedResult => "misplaced_result",
        /// Two calls of a history have the same id.
        DuplicateId => "duplicate_id",
        /// A call's id is not in the provider's grammar.
        BadId => "bad_id",
        /// A tool's name in a history is not in the provider's grammar.
        BadName => "bad_name",
        /// Messages stand in an order that the provider refuses.
        BadOrder => "bad_order",
        /// A message's role is none that the provider has.
        BadRole => "bad_role",
        /// A message or a part of it is empty where the provider refuses that.
        EmptyContent => "empty_content",
        /// A call's arguments or a result's content in a history are text where an object belongs, an object where text belongs, or
        /// no JSON.
        ArgumentType => "argument_type",
    }
}

/// One recorded change between what the model wrote and what the caller gets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Repair {
    /// What kind of change it is.
    pub code: RepairCode,
    /// Byte offset in the text that was mended (the arguments as written), where there is such a place.
    pub offset: Option<usize>,
    /// JSON pointer into the arguments, for changes to a value.
    pub pointer: Option<String>,
    /// What was done, for people.
    pub message: Cow<'static, str>,
}

impl Repair {
    /// A change at no place in particular.
    pub fn new(code: RepairCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, offset: None, pointer: None, message: message.into() }
    }

    /// A change at `offset`, in bytes of what the model wrote.
    pub fn at(code: RepairCode, offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, offset: Some(offset), pointer: None, message: message.into() }
    }

    /// A change of the argument at `pointer`, a JSON pointer.
    pub fn of(code: RepairCode, pointer: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, offset: None, pointer: Some(pointer.into()), message: message.into() }
    }
}

/// Repairs of which more is asked than their code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slip {
    /// A key had no quotes.
    BareKey,
    /// A string stood in quotes that are none of JSON's.
    OtherQuotes,
    /// Quotes in a string had no backslash.
    InnerQuotes,
    /// No comma stood where the next item or member begins.
    NoComma,
}

impl Slip {
    const fn told(self) -> (RepairCode, &'static str) {
        match self {
            Self::BareKey => (RepairCode::Quotes, "an unquoted key is in quotes now"),
            Self::OtherQuotes => (RepairCode::Quotes, "the string is in double quotes now"),
            Self::InnerQuotes => (RepairCode::Quotes, "quotes inside the string needed a backslash"),
            Self::NoComma => (RepairCode::Comma, "a missing comma was added"),
        }
    }
}

impl Repair {
    pub(crate) fn of_slip(slip: Slip, offset: usize) -> Self {
        let (code, message) = slip.told();
        Self::at(code, offset, message)
    }

    pub(crate) fn is(&self, slip: Slip) -> bool {
        let (code, message) = slip.told();
        self.code == code && self.message == message
    }
}

/// One recorded observation: what was odd, and where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Issue {
    /// What kind of observation it is.
    pub code: IssueCode,
    /// Byte offset in the model's text, or a JSON pointer into the provider's response in `place`.
    pub offset: Option<usize>,
    /// A JSON pointer into the payload or the messages; empty if there is none.
    pub place: String,
    /// What was seen, for people.
    pub message: Cow<'static, str>,
}

const MORE_WORK: &str = "there are no calls, and the envelope says that more work is needed";

impl Issue {
    /// An observation at `offset`, in bytes of the text.
    pub fn at(code: IssueCode, offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, offset: Some(offset), place: String::new(), message: message.into() }
    }

    /// The envelope at `offset` has no calls, and says that more work is needed.
    pub(crate) fn more_work(offset: usize) -> Self {
        Self::at(IssueCode::EnvelopeMember, offset, MORE_WORK)
    }

    /// It is [`Issue::more_work`].
    pub(crate) fn says_more_work(&self) -> bool {
        self.code == IssueCode::EnvelopeMember && self.message == MORE_WORK
    }

    /// An observation at `place`, a JSON pointer.
    pub fn of(code: IssueCode, place: impl Into<String>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, offset: None, place: place.into(), message: message.into() }
    }
}
