//! Tool calling that works the same with every model and every provider.
//!
//! Data flows one way: model text goes through [`engine`], a provider's JSON through [`provider`]; both end in a
//! [`turn::Turn`], whose calls [`schema`] names, types and validates. [`wire`] turns the requests, answers and streams of one
//! API into those of another. Nothing in this crate does I/O, and nothing
//! outside `python` knows of Python.
#![forbid(unsafe_code)]

mod bytes;
mod char_class;
pub mod dialect;
pub mod engine;
pub mod error;
pub mod exchange;
pub mod explain;
mod interrupt;
pub mod json;
pub mod provider;
pub mod schema;
pub mod turn;
mod utf8;
pub mod wire;

#[cfg(feature = "python")]
mod python;

pub use error::{Error, ErrorCode};
pub use turn::{
    Arguments, CallStatus, Event, Issue, IssueCode, Repair, RepairCode, Source, StopReason, ToolCall, Turn, Usage,
};
