//! What fuzzing found, as data: `tests/data/fuzz/*.jsonl`, one input a line, each read in every way it can be cut; and a short run of the
//! fuzz target itself. `fuzz/` runs it for long.
#[allow(
    dead_code,
    unreachable_pub,
    clippy::print_stdout,
    reason = "it is a crate of its own, of which the test runs a part"
)]
#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use fuzz::engine::{Engine, Input};
use fuzz::history::History;
use fuzz::providers::Providers;
use fuzz::repair::Repair;
use fuzz::source::Source;
use fuzz::tools::Tools;
use fuzz::{Target, checked, data, history, providers, tools};
use serde_json::Value;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The failures of these inputs. One that does not end is one as well.
fn failures<T: Target>(target: &'static T, inputs: impl IntoIterator<Item = (String, T::Input)>) -> Vec<String>
where
    T::Input: Send + 'static,
{
    let mut failures = Vec::new();
    for (label, input) in inputs {
        let (done, wait) = channel();
        let shown = target.show(&input);
        thread::spawn(move || done.send(checked(target, &input)));
        match wait.recv_timeout(Duration::from_secs(60)) {
            Ok(Ok(_)) => {}
            Ok(Err(failure)) => failures.push(format!("{label}: {}: {}\n  {shown}", failure.kind, failure.message)),
            Err(RecvTimeoutError::Timeout) => failures.push(format!("{label}: does not end\n  {shown}")),
            Err(RecvTimeoutError::Disconnected) => failures.push(format!("{label}: no answer\n  {shown}")),
        }
    }
    failures
}

#[test]
fn what_was_found_stays_mended() {
    let cases = data::cases("fuzz").into_iter().filter(|(file, _)| file == "engine");
    let inputs: Vec<_> =
        cases.map(|(_, case)| (case["about"].as_str().expect("about").to_owned(), Input::from_case(&case))).collect();
    assert!(!inputs.is_empty());
    let failures = failures(&Engine, inputs);
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn spliced_texts_keep_the_promises() {
    let inputs = (0..1500).map(|seed| (format!("seed {seed}"), Engine.generate(&mut Source::from_seed(seed))));
    let failures = failures(&Engine, inputs);
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
}

/// The stored inputs of a target, and those of the first seeds, keep its promises.
#[track_caller]
fn keeps_its_promises<T: Target>(target: &'static T, seeds: u64, from_case: fn(&Value) -> T::Input)
where
    T::Input: Send + 'static,
{
    let cases = data::cases("fuzz").into_iter().filter(|(file, _)| file == target.name());
    let stored = cases.map(|(_, case)| (case["about"].as_str().expect("about").to_owned(), from_case(&case)));
    let fresh = (0..seeds).map(|seed| (format!("seed {seed}"), target.generate(&mut Source::from_seed(seed))));
    let failures = failures(target, stored.chain(fresh));
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn mutated_histories_are_mended() {
    keeps_its_promises(&History, 1500, history::Input::from_case);
}

#[test]
fn mutated_streams_are_read_alike_however_they_are_cut() {
    keeps_its_promises(&Providers, 300, providers::Input::from_case);
}

#[test]
fn mutated_json_is_repaired() {
    keeps_its_promises(&Repair, 1500, |case| case["text"].as_str().expect("text").to_owned());
}

#[test]
fn mutated_tools_are_converted() {
    keeps_its_promises(&Tools, 150, tools::Input::from_case);
}

/// The `soak` binary of `fuzz/`, from what `cargo test` has built: `nox -s soak` says in `SOAK` what it is to do.
#[test]
#[ignore = "runs for as long as it is told"]
fn soak() {
    let arguments = std::env::var("SOAK").expect("the arguments of `soak`");
    assert_eq!(fuzz::command::run(arguments.split_whitespace().map(str::to_owned)), Ok(0));
}
