//! The test data of the main crate, from which inputs are spliced.
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder `tests/data`, whichever crate this is compiled in.
pub fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = here.join("tests/data");
    if own.is_dir() { own } else { here.join("../tests/data") }
}

/// The cases of all `*.jsonl` files in a folder below `tests/data`, each with the name of its file; in an order that only their
/// names decide.
///
/// # Panics
/// If a file cannot be read.
pub fn cases(below: &str) -> Vec<(String, Value)> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder().join(below))
        .expect("a folder of cases")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a readable file");
        cases.extend(text.lines().map(|line| (file.clone(), serde_json::from_str(line).expect("a case"))));
    }
    cases
}

/// The lines of a file of `tests/data` as JSON.
///
/// # Panics
/// If it cannot be read.
pub fn lines(file: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder().join(file)).expect("a readable file");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}
