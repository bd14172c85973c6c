//! Whatever the text: repair, literals and partial reading give valid JSON or nothing, and never panic.
#![no_main]
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolglot::json::{LiteralOptions, PartialOptions, RepairOptions, literal, parse_partial, repair};

fuzz_target!(|text: &str| {
    let valid = |json: &str| serde_json::from_str::<Value>(json).is_ok();
    for join_values in [true, false] {
        let options = RepairOptions { join_values, ..RepairOptions::default() };
        if let Ok(repaired) = repair(text, &options) {
            assert!(valid(&repaired.json), "{:?}", repaired.json);
            assert!(text.is_char_boundary(repaired.consumed));
        }
    }
    for source_text in [true, false] {
        if let Some(read) = literal(text, 0, &LiteralOptions { source_text, ..LiteralOptions::default() }) {
            assert!(valid(&read.json), "literal {:?}", read.json);
            assert!(text.is_char_boundary(read.end));
        }
    }
    for keep_strings in [true, false] {
        if let Ok(partial) = parse_partial(text, &PartialOptions { keep_strings, ..PartialOptions::default() }) {
            assert!(valid(&partial.json), "partial {:?}", partial.json);
        }
    }
});
