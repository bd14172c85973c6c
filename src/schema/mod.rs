//! The tools offered in a turn: their names, their schemas, and what the model's names and values mean in them.
mod check;
mod clean;
mod coerce;
pub mod convert;
mod effort;
mod expected;
mod explain;
mod input;
mod judge;
mod names;
mod openapi;
mod patterns;
pub(crate) mod plain;
mod pointer;
mod problems;
mod prompt;
mod settle;
mod spoken;
mod targets;
mod text;
mod told;
mod tool;
mod toolset;
mod written;

pub(crate) use check::Written;
pub use expected::Expected;
#[cfg(feature = "python")]
pub(crate) use explain::error_message;
pub(crate) use names::{begins, safe_spellings};
pub(crate) use prompt::results_form;
pub use settle::settle;
pub(crate) use settle::{WRAPPERS, are_settled, is_settled, settle_floats};
pub use spoken::InDialect;
pub use text::read_text;
pub use tool::{Tool, ToolSource};
pub use toolset::{Builder, Resolution, ToolSet};
pub use written::write_calls;
