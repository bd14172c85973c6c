//! Errors as each API words them, with their status.
use super::ClientApi;
use crate::turn::codes;
use serde_json::{Map, Value, json};
use std::fmt;

codes! {
    /// What went wrong, as a stable code: in the body's `code`, for Anthropic in `details.error_code`.
    WireCode {
        /// The body is no JSON object, or a field of it has a value that it may not have.
        InvalidValue => "invalid_value",
        /// A tool's declaration cannot be read.
        InvalidToolSchema => "invalid_tool_schema",
        /// A result answers no call of the history.
        InvalidToolCallId => "invalid_tool_call_id",
        /// Calls without results, or results out of place.
        InvalidMessageOrder => "invalid_message_order",
        /// A thread of Anthropic's: the messages before these are not here. The SDK understands it, and sends all of them.
        ThreadUnsupported => "thread_unsupported_request",
        /// A response of before, or a conversation: what was said there is not here.
        PreviousResponseUnsupported => "previous_response_not_supported",
        /// The backend reported an error.
        BackendError => "backend_error",
        /// The backend cannot be reached, or sent nothing.
        BackendUnreachable => "backend_unreachable",
        /// The backend's answer ended in the middle.
        BackendDisconnected => "backend_disconnected",
        /// What the backend sent is no answer.
        BackendBadAnswer => "backend_bad_answer",
        /// The backend's stream cannot be read.
        BackendBadStream => "backend_bad_stream",
    }
}

impl WireCode {
    /// The client's request is wrong, not the backend's answer.
    pub const fn is_clients(self) -> bool {
        !matches!(
            self,
            Self::BackendError
                | Self::BackendUnreachable
                | Self::BackendDisconnected
                | Self::BackendBadAnswer
                | Self::BackendBadStream
        )
    }
}

/// The error that a client gets instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireError {
    /// What went wrong.
    pub code: WireCode,
    /// The HTTP status.
    pub status: u16,
    /// For people.
    pub message: String,
    /// Where in the request, as OpenAI writes it (`messages[0]`); empty if nowhere in particular.
    pub param: String,
    /// What the backend said of it: for a log. A client gets it in `message`, where [`super::Options::show_errors`] says so.
    pub detail: String,
}

impl WireError {
    pub(super) fn refused(code: WireCode, param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, status: 400, message: message.into(), param: param.into(), detail: String::new() }
    }

    pub(super) fn backend(code: WireCode) -> Self {
        let message = match code {
            WireCode::BackendError => "The backend reported an error.",
            WireCode::BackendUnreachable => "The backend does not answer.",
            WireCode::BackendDisconnected => "The backend's answer broke off.",
            WireCode::BackendBadStream => "The backend's stream cannot be read.",
            _ => "The backend's answer cannot be read.",
        };
        Self { code, status: 502, message: message.to_owned(), param: String::new(), detail: String::new() }
    }

    /// The HTTP body in the client's API.
    pub fn body(&self, api: ClientApi) -> Vec<u8> {
        self.to_value(api).to_string().into_bytes()
    }

    /// The error as a JSON value in the client's API.
    pub fn to_value(&self, api: ClientApi) -> Value {
        match api {
            ClientApi::Chat | ClientApi::Responses => json!({"error": self.openai()}),
            ClientApi::Anthropic => {
                let mut error = Map::new();
                error.insert("type".into(), json!(self.anthropic_type()));
                let place = if self.param.is_empty() { String::new() } else { format!("{}: ", self.param) };
                error.insert("message".into(), json!(format!("{place}{}", self.message)));
                let mut details = json!({"error_code": self.code.as_str()});
                if self.code == WireCode::ThreadUnsupported {
                    details["unsupported"] = json!(["thread"]);
                }
                error.insert("details".into(), details);
                json!({"type": "error", "error": error})
            }
        }
    }

    /// What stands in `error` for OpenAI's clients.
    pub(super) fn openai(&self) -> Value {
        let param = if self.param.is_empty() { Value::Null } else { json!(self.param) };
        json!({"message": self.message, "type": self.openai_type(), "param": param, "code": self.code.as_str()})
    }

    fn openai_type(&self) -> &'static str {
        match self.status {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..=499 => "invalid_request_error",
            _ => "server_error",
        }
    }

    fn anthropic_type(&self) -> &'static str {
        match self.status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            503 | 529 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.param.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.param, self.message) }
    }
}

impl std::error::Error for WireError {}
