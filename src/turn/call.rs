//! One call that the model made.
use super::{Arguments, Repair, words};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ops::Range;

words! {
    /// What a call is worth. Only `Ok` and `Repaired` may be executed.
    CallStatus {
        /// As the model wrote it.
        Ok => "ok",
        /// Mended; every change is in [`ToolCall::repairs`].
        Repaired => "repaired",
        /// Readable, but not what the tool's schema allows: see [`ToolCall::errors`].
        Invalid => "invalid",
        /// A call by name whose arguments cannot be read even with repair; `raw` is kept.
        Malformed => "malformed",
        /// Cut off: the arguments hold what is certain.
        Incomplete => "incomplete",
        /// The name means none of the offered tools.
        UnknownTool => "unknown_tool",
    }
}

words! {
    /// Why something in a text counts as a call. A native call of a provider's needs no evidence and has none.
    Evidence {
        /// It is written in the markers of a dialect.
        Marker => "marker",
        /// No markers, but an object that says by its key that it holds calls: `{"tool_calls": [...]}`.
        Envelope => "envelope",
        /// Neither, but it stands in a Markdown fence whose whole body is calls.
        Fence => "fence",
        /// Nothing but its own form: an offered name, and a declared key or a place that only a call has.
        Bare => "bare",
    }
}

impl CallStatus {
    /// May be executed.
    pub const fn runnable(self) -> bool {
        matches!(self, Self::Ok | Self::Repaired)
    }

    /// The arguments are whole, readable JSON (whether or not the tool would take them).
    pub const fn readable(self) -> bool {
        !matches!(self, Self::Malformed | Self::Incomplete)
    }
}

/// One way in which arguments are not what the tool's schema allows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArgumentError {
    /// Where in the arguments, as a JSON pointer (`""` is the whole object).
    pub pointer: String,
    /// The schema keyword that refused (`type`, `required`, `enum`, ...).
    pub keyword: String,
    /// What is wrong, for people and models.
    pub message: String,
}

impl ArgumentError {
    /// A list or a scalar stands where the arguments object belongs.
    pub(crate) fn no_object() -> Self {
        let message = "the arguments are no JSON object".to_owned();
        Self { pointer: String::new(), keyword: "type".to_owned(), message }
    }
}

/// One call that the model made.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall<'a> {
    /// The id in the text or from the provider, else a generated one ([`super::new_call_id`]).
    pub id: Cow<'a, str>,
    /// The offered tool's real name where it could be resolved, else what the model wrote.
    pub name: Cow<'a, str>,
    /// What the tool is called with.
    pub arguments: Arguments<'a>,
    /// Whether it can be run, or why not.
    pub status: CallStatus,
    /// What was changed between what the model wrote and this.
    pub repairs: Vec<Repair>,
    /// Why the status is [`CallStatus::Invalid`].
    pub errors: Vec<ArgumentError>,
    /// The text of the call as the model wrote it, markers included; empty for a provider's native call.
    pub raw: Cow<'a, str>,
    /// The provider sent it as a call of a free-text tool (OpenAI's `custom`): `input` in the arguments is the whole text.
    pub freeform: bool,
    /// Why it counts as a call; `None` for a provider's native call.
    pub evidence: Option<Evidence>,
    /// The byte range of [`Self::raw`] in the text that was read; `None` in a provider's answer, which has no one text.
    pub span: Option<Range<usize>>,
}

impl<'a> ToolCall<'a> {
    /// A call as a provider sends it, before names and arguments were checked.
    pub fn new(id: impl Into<Cow<'a, str>>, name: impl Into<Cow<'a, str>>, arguments: Arguments<'a>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments,
            status: CallStatus::Ok,
            repairs: Vec::new(),
            errors: Vec::new(),
            raw: Cow::Borrowed(""),
            freeform: false,
            evidence: None,
            span: None,
        }
    }

    /// May be executed: the status is ok or repaired.
    pub fn runnable(&self) -> bool {
        self.status.runnable()
    }

    /// The call as an entry of OpenAI's `tool_calls`. For arguments that were cut off or cannot be read stands `{}`: what was
    /// written is no JSON that an API would accept back.
    pub fn to_openai(&self) -> Value {
        let arguments = if self.status.readable() { self.arguments.to_json() } else { Cow::Borrowed("{}") };
        json!({"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}})
    }

    /// The same without what it borrows.
    pub fn into_owned(self) -> ToolCall<'static> {
        ToolCall {
            id: Cow::Owned(self.id.into_owned()),
            name: Cow::Owned(self.name.into_owned()),
            arguments: self.arguments.into_owned(),
            status: self.status,
            repairs: self.repairs,
            errors: self.errors,
            raw: Cow::Owned(self.raw.into_owned()),
            freeform: self.freeform,
            evidence: self.evidence,
            span: self.span,
        }
    }
}
