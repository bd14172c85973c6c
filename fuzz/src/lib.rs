//! What the fuzz targets generate and check, apart from who drives them: libFuzzer (`fuzz_targets/`), the `soak` binary, or a test
//! of the main crate (`tests/fuzz_cases.rs`).
pub mod command;
pub mod data;
pub mod engine;
pub mod history;
#[path = "../../tests/options/mod.rs"]
mod options;
pub mod providers;
pub mod reduce;
pub mod repair;
pub mod soak;
pub mod source;
#[path = "../../tests/stream/mod.rs"]
pub mod stream;
pub mod tools;
pub mod values;

use source::Source;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is wrong: which promise is broken, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The promise in one word or two: failures of one kind are reduced together.
    pub kind: String,
    pub message: String,
}

impl Failure {
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into() }
    }
}

/// A fuzz target.
pub trait Target: Sync {
    type Input;

    fn name(&self) -> &'static str;

    /// Makes an input out of the decisions of `source`: the same decisions give the same input.
    fn generate(&self, source: &mut Source<'_>) -> Self::Input;

    /// Checks every promise on the input. Returns how many executions of the code under test that took. May panic.
    fn check(&self, input: &Self::Input) -> Result<u64, Failure>;

    /// Inputs that are a little smaller than this one, the boldest cuts first.
    fn smaller(&self, input: &Self::Input) -> Vec<Self::Input>;

    /// The input as one line, from which a case can be made (JSON).
    fn show(&self, input: &Self::Input) -> String;
}

/// [`Target::check`], with a panic as a failure.
pub fn checked<T: Target>(target: &T, input: &T::Input) -> Result<u64, Failure> {
    catch_unwind(AssertUnwindSafe(|| target.check(input))).unwrap_or_else(|payload| {
        let what = (payload.downcast_ref::<&str>().copied())
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Err(Failure::new("panic", what))
    })
}

/// One execution for libFuzzer.
///
/// # Panics
/// If a promise is broken.
pub fn fuzz<T: Target>(target: &T, data: &[u8]) {
    let input = target.generate(&mut Source::from_bytes(data));
    if let Err(failure) = target.check(&input) {
        panic!("{}: {}\n{}", failure.kind, failure.message, target.show(&input));
    }
}
