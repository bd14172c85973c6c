//! The words of the library as types: what a model answered ([`Turn`]), the calls it made ([`ToolCall`]), the steps
//! of a streamed answer ([`Event`]), and the record of everything odd or mended ([`Issue`], [`Repair`]).
mod arguments;
mod call;
mod event;
mod id;
mod reason;
mod report;
mod value;
mod words;

pub use arguments::{ArgumentValue, Arguments};
pub use call::{ArgumentError, CallStatus, Evidence, ToolCall};
pub use event::Event;
pub use id::{Ids, forked, new_call_id};
pub(crate) use id::{TextHash, derived_call_id, new_call_ids};
pub use reason::Reason;
pub(crate) use report::Slip;
pub use report::{Issue, IssueCode, Repair, RepairCode};
pub(crate) use words::{codes, words};

use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;

words! {
    /// Why the model stopped, decided by what is there and not by a provider's reason field alone.
    #[derive(Default)]
    StopReason {
        /// The answer is complete.
        #[default]
        Stop => "stop",
        /// Calls wait for their results.
        ToolCalls => "tool_calls",
        /// The answer was cut off.
        Length => "length",
        /// A filter stopped it.
        ContentFilter => "content_filter",
        /// The model refused.
        Refusal => "refusal",
        /// The provider wants to be asked to go on.
        Pause => "pause",
        /// The provider reported an error.
        Error => "error",
    }
}

/// Where the calls of a turn were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// There are no calls.
    #[default]
    None,
    /// In the text of the answer, by the engine.
    Text,
    /// In the provider's own tool-call fields.
    Native,
    /// In text the provider sent as reasoning.
    Reasoning,
    /// In an error body that quotes what the model wrote (Groq's `failed_generation`).
    FailedGeneration,
}

impl Source {
    /// Every place that calls are found in.
    pub const ALL: &'static [Self] = &[Self::Text, Self::Native, Self::Reasoning, Self::FailedGeneration];

    /// The fixed spelling, part of the public API; `None` if there are no calls.
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Text => Some("text"),
            Self::Native => Some("native"),
            Self::Reasoning => Some("reasoning"),
            Self::FailedGeneration => Some("failed_generation"),
        }
    }
}

/// Tokens spent, where the provider says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: Option<u64>,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: Option<u64>,
    /// Both, as the provider counts them.
    pub total_tokens: Option<u64>,
    /// Tokens of the reasoning.
    pub reasoning_tokens: Option<u64>,
    /// Tokens of the prompt that the provider had in its cache.
    pub cached_tokens: Option<u64>,
}

/// What a model answered: the one result type, whether it came as text or as a provider's response.
///
/// Text borrowed from the input stays borrowed; [`Turn::into_owned`] cuts it loose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Turn<'a> {
    /// The text for the user, without calls and reasoning; empty when there is none.
    pub content: Cow<'a, str>,
    /// The reasoning, without its tags; empty when there is none.
    pub reasoning: Cow<'a, str>,
    /// The byte offset in the text at which the reasoning ended: behind what closed it, or where the call begins that ended
    /// it. Of several, that of the last. `None` if there was none or it never ended, and in a provider's answer.
    pub reasoning_end: Option<usize>,
    /// The calls, in the order in which the model made them.
    pub tool_calls: Vec<ToolCall<'a>>,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// What it cost, if the provider says so.
    pub usage: Option<Usage>,
    /// Where the calls were found.
    pub source: Source,
    /// The dialect of the first call found in text, or of the markers that were seen.
    pub dialect: Option<Cow<'static, str>>,
    /// What was odd, in the order in which it was noticed.
    pub issues: Vec<Issue>,
    /// Opaque state that must go back to the provider untouched (signatures, encrypted reasoning), by provider. Under
    /// `text`, what the model wrote where a provider's answer had its calls in the text.
    pub provider_state: Option<Value>,
}

/// In short, for people: the content, and a line for each call with what was mended and how often, and each odd thing.
impl fmt::Display for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = Vec::new();
        if !self.reasoning.is_empty() {
            lines.push(format!("[reasoning: {} characters]", self.reasoning.chars().count()));
        }
        if !self.content.is_empty() {
            lines.push(self.content.to_string());
        }
        for call in &self.tool_calls {
            let mut counts: Vec<(&str, usize)> = Vec::new();
            for code in call.repairs.iter().map(|repair| repair.code.as_str()) {
                match counts.iter_mut().find(|(known, _)| *known == code) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((code, 1)),
                }
            }
            let repairs = counts.iter().map(|(code, count)| match count {
                1 => (*code).to_owned(),
                count => format!("{code} x{count}"),
            });
            let repairs = repairs.collect::<Vec<_>>().join(", ");
            let colon = if repairs.is_empty() { "" } else { ": " };
            lines.push(format!(
                "-> {}({}) [{}{colon}{repairs}]",
                call.name,
                call.arguments.to_json(),
                call.status.as_str()
            ));
        }
        lines.extend(self.issues.iter().map(|issue| format!("! {}: {}", issue.code.as_str(), issue.message)));
        f.write_str(&lines.join("\n"))
    }
}

impl Turn<'_> {
    /// A runnable call is waiting for its result.
    pub fn needs_more_work(&self) -> bool {
        self.tool_calls.iter().any(ToolCall::runnable)
    }

    /// The same without what it borrows.
    pub fn into_owned(self) -> Turn<'static> {
        Turn {
            content: Cow::Owned(self.content.into_owned()),
            reasoning: Cow::Owned(self.reasoning.into_owned()),
            reasoning_end: self.reasoning_end,
            tool_calls: self.tool_calls.into_iter().map(ToolCall::into_owned).collect(),
            stop_reason: self.stop_reason,
            usage: self.usage,
            source: self.source,
            dialect: self.dialect,
            issues: self.issues,
            provider_state: self.provider_state,
        }
    }

    /// The turn as an assistant message of OpenAI's Chat Completions.
    ///
    /// All calls are in it, since each is answered, if only by what was wrong. The arguments of a malformed or incomplete one
    /// are `{}`: no API would accept what was written.
    pub fn to_openai(&self) -> Value {
        let calls: Vec<Value> = self.tool_calls.iter().map(ToolCall::to_openai).collect();
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        let content = if self.content.is_empty() && !calls.is_empty() { Value::Null } else { json!(self.content) };
        message.insert("content".into(), content);
        if !calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        Value::Object(message)
    }

    /// The envelope that prompt-driven agents use: `{"toolCalls": [{"name", "arguments"}], "content", "needsMoreWork"}`.
    ///
    /// Only runnable calls are in it: the reader of an envelope executes what it lists. Where the model wrote an envelope
    /// without calls, `needsMoreWork` is what it said there.
    pub fn to_envelope(&self) -> Value {
        let calls: Vec<Value> = (self.tool_calls.iter().filter(|c| c.runnable()))
            .map(|c| json!({"name": c.name, "arguments": c.arguments.to_value()}))
            .collect();
        let more =
            self.needs_more_work() || self.tool_calls.is_empty() && self.issues.iter().any(Issue::says_more_work);
        json!({"toolCalls": calls, "content": self.content, "needsMoreWork": more})
    }
}
