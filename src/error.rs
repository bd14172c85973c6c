//! The one error of the library: what the caller got wrong. Model output never is one: see [`crate::turn::Issue`].
use std::fmt;

/// What went wrong, as a stable code. [`ErrorCode::as_str`] is part of the public API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// No dialect, parser name or model id of that spelling is known.
    UnknownDialect,
    /// A user's own dialect does not make sense (a marker missing, a template that cannot be read).
    BadDialect,
    /// An entry of `tools=` cannot be read as a tool.
    BadTool,
    /// A tool's schema has a part that means nothing (a reference to nowhere); the tool is offered all the same.
    BadSchema,
    /// No provider of that name.
    UnknownProvider,
    /// A provider's response that holds no answer (an error body, HTML, nothing at all).
    ProviderError,
    /// An option's value is not one of those it may have.
    BadOption,
    /// Text that is no JSON and cannot be repaired into any.
    BadJson,
    /// A message or history that cannot be read.
    BadMessage,
}

impl ErrorCode {
    /// The fixed spelling of the code, as Python callers see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownDialect => "unknown_dialect",
            Self::BadDialect => "bad_dialect",
            Self::BadTool => "bad_tool",
            Self::BadSchema => "bad_schema",
            Self::UnknownProvider => "unknown_provider",
            Self::ProviderError => "provider_error",
            Self::BadOption => "bad_option",
            Self::BadJson => "bad_json",
            Self::BadMessage => "bad_message",
        }
    }
}

/// An error with its code, a sentence for people, and the place in the input (a JSON pointer, an index, a name).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub code: ErrorCode,
    pub message: String,
    /// Where: a JSON pointer, an index or a name; empty when there is no such place.
    pub place: String,
}

impl Error {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: String::new() }
    }

    pub fn at(code: ErrorCode, place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: place.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.place, self.message) }
    }
}

impl std::error::Error for Error {}
