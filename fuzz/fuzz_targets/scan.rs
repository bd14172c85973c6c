//! The scanner judges every text as serde_json does, and the same however the text is cut.
#![no_main]
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolglot::json::{ScanResult, Scanner};

fuzz_target!(|input: (u8, &str)| {
    let (step, text) = (usize::from(input.0).max(1), input.1);
    // serde_json stops at 128 levels.
    let mut whole = Scanner::new(0, 127);
    let result = whole.scan(text.as_bytes(), true);
    let complete =
        matches!(result, ScanResult::Complete { end } if text[end..].bytes().all(|b| b" \n\r\t".contains(&b)));
    assert_eq!(complete, serde_json::from_str::<Value>(text).is_ok());
    let mut cut = Scanner::new(0, 127);
    for end in (0..text.len()).step_by(step) {
        cut.scan(&text.as_bytes()[..end], false);
    }
    assert_eq!(cut.scan(text.as_bytes(), true), result);
    assert_eq!(cut.members(), whole.members());
});
