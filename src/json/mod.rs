//! JSON as models write it: the strict incremental scanner, the repairer, and reading what was cut off.
mod string;

pub use string::push_string;
