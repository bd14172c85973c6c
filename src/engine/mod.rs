//! The one incremental scanner that reads text by the catalogue. Complete parsing is one feed and one finish.
mod options;

pub use options::{Fences, Options, Policy, ReasoningCalls, StartsIn, UnknownTools};
