//! Cuts the documentation out of the stub of the Python module, so that `help()` says what the stub says.
#![allow(clippy::print_stdout, reason = "it is how cargo is told")]
use std::path::PathBuf;
use std::{env, fs, io};

const STUB: &str = "python/toolglot/_core.pyi";

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else { return Ok(()) };
    if env::var_os("CARGO_FEATURE_PYTHON").is_none() {
        return Ok(());
    }
    println!("cargo:rerun-if-changed={STUB}");
    for (name, text) in docs(&fs::read_to_string(STUB)?) {
        fs::write(out.join(format!("{name}.txt")), text)?;
    }
    Ok(())
}

/// The docstrings, by `name` of a function or class, or `Class.name` of a method.
fn docs<'a>(stub: &'a str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let (mut class, mut name) = ("", String::new());
    let mut lines = stub.lines();
    while let Some(line) = lines.next() {
        let (indent, code) = (line.len() - line.trim_start().len(), line.trim_start());
        let code = code.strip_prefix("async ").unwrap_or(code);
        let own = |rest: &'a str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if let Some(rest) = code.strip_prefix("class ") {
            class = own(rest);
            name = class.to_owned();
        } else if let Some(rest) = code.strip_prefix("def ") {
            name = if indent == 0 { own(rest).to_owned() } else { format!("{class}.{}", own(rest)) };
        } else if let Some(text) = code.strip_prefix("\"\"\"") {
            let mut doc = String::new();
            let mut text = text;
            while !text.ends_with("\"\"\"") {
                doc.push_str(text);
                doc.push('\n');
                let Some(next) = lines.next() else { break };
                text = next.get(indent.min(next.len())..).unwrap_or_default();
            }
            doc.push_str(text.trim_end_matches("\"\"\""));
            let doc = doc.trim_end().replace("\\\\", "\\");
            if !found.iter().any(|(known, _)| *known == name) {
                found.push((name.clone(), doc));
            }
        }
    }
    found
}
