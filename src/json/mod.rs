//! JSON as models write it: the strict incremental scanner, the repairer, and reading what was cut off.
mod balance;
mod block;
mod depth;
mod partial;
mod quoting;
mod repair;
mod scan;
mod string;

/// The words that stand for values, and those of Python, which models write for them.
pub(crate) const WORDS: [&str; 6] = ["true", "false", "null", "True", "False", "None"];

pub(crate) use balance::Balance;
pub(crate) use block::find_special;
pub(crate) use depth::deeper_than;
pub(crate) use partial::parse_cut;
pub use partial::{Partial, PartialOptions, parse_partial};
pub(crate) use quoting::{Part, Quoting, closes_at};
#[cfg(feature = "python")]
pub(crate) use repair::mend;
pub use repair::{Ending, Literal, LiteralOptions, RepairOptions, Repaired, literal, repair};
pub(crate) use repair::{MISSING, Pairs, goes_on, is_expression, means_more_in_python, pairs_are_text, repair_knowing};
pub use scan::{Kind, Member, ScanError, ScanResult, Scanner};
pub use string::push_string;
pub(crate) use string::{keys_once, push_escaped, read_string, unescaped};

/// What is said of a key that stands twice.
pub(crate) const TWICE: &str = "of a key twice the last value counts";

/// As [`keys_once`], of an object whose members nobody has noted.
pub(crate) fn with_keys_once(object: &str) -> Option<String> {
    let mut scanner = Scanner::new(0, 512);
    scanner.scan(object.as_bytes(), true);
    keys_once(object, scanner.members(), object).map(|(_, once)| once)
}
