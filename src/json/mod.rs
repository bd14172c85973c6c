//! JSON as models write it: the strict incremental scanner, the repairer, and reading what was cut off.
mod block;
mod scan;
mod string;

pub use scan::{Kind, Member, ScanError, ScanResult, Scanner};
pub(crate) use string::push_escaped;
pub use string::push_string;
