//! What fuzzing found, as data: `tests/data/fuzz/*.jsonl`, one input a line, each read in every way it can be cut; and a short run of the
//! fuzz target itself. `fuzz/` runs it for long.
#[allow(dead_code, unreachable_pub, reason = "it is a crate of its own, of which the test runs a part")]
#[path = "../fuzz/src/lib.rs"]
mod fuzz;

use fuzz::engine::{Engine, Input};
use fuzz::source::Source;
use fuzz::{Target, checked, data};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The failures of these inputs. One that does not end is one as well.
fn failures(inputs: impl IntoIterator<Item = (String, Input)>) -> Vec<String> {
    let mut failures = Vec::new();
    for (label, input) in inputs {
        let (done, wait) = channel();
        let shown = Engine.show(&input);
        thread::spawn(move || done.send(checked(&Engine, &input)));
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
    let failures = failures(inputs);
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn spliced_texts_keep_the_promises() {
    let inputs = (0..1500).map(|seed| (format!("seed {seed}"), Engine.generate(&mut Source::from_seed(seed))));
    let failures = failures(inputs);
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
}
