//! Tokens where no backend counts them: an estimate, marked as one wherever it is written.
use crate::turn::{Turn, Usage};

/// Bytes a token has on average, in English prose and in JSON alike, for the tokenizers of current models.
const BYTES: usize = 4;

/// About so many tokens a text of so many bytes has.
pub(super) fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES) as u64
}

/// What an answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) usage: Usage,
    /// The backend did not say it.
    pub(super) estimated: bool,
}

impl Cost {
    /// What the backend says, or else an estimate by the bytes of the request and of the answer.
    pub(super) fn of(turn: &Turn<'_>, input: u64) -> Self {
        if let Some(usage) = turn.usage.filter(|usage| usage.output_tokens.is_some() || usage.input_tokens.is_some()) {
            return Self { usage, estimated: false };
        }
        let calls: usize = turn.tool_calls.iter().map(|call| call.name.len() + call.arguments.to_json().len()).sum();
        let output = tokens(turn.content.len() + turn.reasoning.len() + calls);
        let usage = Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            total_tokens: Some(input + output),
            reasoning_tokens: None,
            cached_tokens: None,
        };
        Self { usage, estimated: true }
    }

    pub(super) fn input(&self) -> u64 {
        self.usage.input_tokens.unwrap_or_default()
    }

    pub(super) fn output(&self) -> u64 {
        self.usage.output_tokens.unwrap_or_default()
    }

    pub(super) fn total(&self) -> u64 {
        self.usage.total_tokens.unwrap_or_else(|| self.input() + self.output())
    }
}
