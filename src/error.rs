//! The one error of the library: what the caller got wrong. Model output never is one: see [`crate::turn::Issue`].
use crate::turn::codes;
use std::fmt;

codes! {
    /// What went wrong, as a stable code. [`ErrorCode::as_str`] is part of the public API.
    ErrorCode {
        /// No dialect, parser name or model id of that spelling is known.
        UnknownDialect => "unknown_dialect",
        /// A user's own dialect does not make sense (a marker missing, a template that cannot be read).
        BadDialect => "bad_dialect",
        /// An entry of `tools=` cannot be read as a tool.
        BadTool => "bad_tool",
        /// A tool's schema has a part that means nothing (a reference to nowhere, a keyword with a value that it does not
        /// take); the tool is offered all the same.
        BadSchema => "bad_schema",
        /// No provider of that name.
        UnknownProvider => "unknown_provider",
        /// A provider's response that holds no answer (an error body, HTML, nothing at all).
        ProviderError => "provider_error",
        /// An option's value is not one of those it may have.
        BadOption => "bad_option",
        /// Text that is no JSON and cannot be repaired into any.
        BadJson => "bad_json",
        /// A message or history that cannot be read.
        BadMessage => "bad_message",
    }
}

/// An error with its code, a sentence for people, and the place in the input (a JSON pointer, an index, a name).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Which mistake it is.
    pub code: ErrorCode,
    /// What is wrong, for people.
    pub message: String,
    /// Where: a JSON pointer, an index or a name; empty when there is no such place.
    pub place: String,
}

impl Error {
    /// An error about no place in particular.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: String::new() }
    }

    /// An error about `place`: a JSON pointer, a template, the name of an option.
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
