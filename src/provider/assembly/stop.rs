//! Why the answer ended: decided by what is there, not by the provider's word alone.
use super::Assembly;
use crate::turn::{CallStatus, Issue, IssueCode, Source, StopReason, ToolCall};

/// Why a provider says that the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::provider) struct Finish {
    /// As the provider spells it.
    pub(in crate::provider) raw: String,
    /// What that means; `None` for a value nobody knows.
    pub(in crate::provider) reason: Option<StopReason>,
}

impl Assembly {
    pub(super) fn stop(&mut self, calls: &[ToolCall<'static>], source: Source) -> StopReason {
        let raw = self.finish.take();
        let said = raw.as_ref().and_then(|finish| finish.reason);
        let found = if calls.is_empty() { StopReason::Stop } else { StopReason::ToolCalls };
        if self.error.is_some() && source != Source::FailedGeneration {
            return StopReason::Error;
        }
        if self.refused {
            return StopReason::Refusal;
        }
        let reason = match said {
            Some(
                reason @ (StopReason::Length | StopReason::ContentFilter | StopReason::Refusal | StopReason::Pause),
            ) => reason,
            Some(StopReason::Error) if calls.is_empty() => StopReason::Error,
            _ if self.paused && calls.is_empty() => StopReason::Pause,
            _ if calls.last().is_some_and(|call| call.status == CallStatus::Incomplete) => StopReason::Length,
            _ => found,
        };
        let raw = raw.map(|finish| finish.raw).unwrap_or_default();
        // Who has no word for calls, or does not know that the text holds some, can only say that the answer is complete.
        let unaware = !self.names_calls || source != Source::Native;
        let contradicts = match said {
            Some(StopReason::Stop) if reason == StopReason::ToolCalls && unaware => false,
            Some(said) => said != reason,
            None => !raw.is_empty() || !self.done,
        };
        if contradicts && source != Source::FailedGeneration {
            let message = if raw.is_empty() {
                format!("the answer ends without a stop reason; it is taken for `{}`", reason.as_str())
            } else {
                format!("the provider says `{raw}`; what is there means `{}`", reason.as_str())
            };
            self.issue(Issue::of(IssueCode::StopReason, "", message));
        }
        reason
    }
}
