//! Text that is nearly JSON: repair, literals and partial reading give valid JSON or nothing, and never panic; what is valid stays as it
//! is, and only that has no repairs.
use super::data::{cases, lines};
use super::reduce::shorter;
use super::{Failure, Source, Target};
use serde_json::{Value, json};
use std::sync::OnceLock;
use toolglot::json::{
    LiteralOptions, PartialOptions, RepairOptions, ScanResult, Scanner, literal, parse_partial, repair,
};

/// The repairer as a fuzz target.
#[derive(Debug)]
pub struct Repair;

const LONGEST: usize = 600;

fn shelf() -> &'static (Vec<String>, Vec<String>) {
    static SHELF: OnceLock<(Vec<String>, Vec<String>)> = OnceLock::new();
    SHELF.get_or_init(|| {
        let text = |case: &Value| case["text"].as_str().or(case.as_str()).map(str::to_owned);
        let found = cases("fuzz").into_iter().filter(|(file, _)| file == "repair").map(|(_, case)| case);
        let texts = lines("json/repair.jsonl").into_iter().chain(found);
        let texts = texts.filter_map(|case| text(&case)).filter(|text| text.len() <= LONGEST).collect();
        (texts, lines("json/hostile.jsonl").iter().filter_map(text).collect())
    })
}

impl Target for Repair {
    type Input = String;

    fn name(&self) -> &'static str {
        "repair"
    }

    fn generate(&self, source: &mut Source<'_>) -> String {
        let (texts, signs) = shelf();
        let mut text = source.pick(texts).clone();
        for _ in 0..source.below(6) {
            let at = source.place(&text);
            match source.below(6) {
                0 => text.truncate(at),
                1 => text.insert_str(at, source.pick::<String>(signs)),
                2 => {
                    let other = source.pick(texts);
                    let from = source.place(other);
                    text.insert_str(at, &other[from..]);
                }
                3 => {
                    let end = source.place(&text);
                    text.replace_range(at.min(end)..at.max(end), "");
                }
                4 => text.push_str(source.pick::<String>(texts)),
                _ => {
                    let depth = source.below(140);
                    text.insert_str(at, &source.pick(&["[", "{\"a\":", "(", "{", "'"]).repeat(depth));
                }
            }
        }
        let mut end = text.len().min(LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    }

    fn check(&self, text: &String) -> Result<u64, Failure> {
        let fail = |kind: &str, message: String| Err(Failure::new(kind, message));
        let valid = |json: &str| matches!(Scanner::new(0, 600).scan(json.as_bytes(), true), ScanResult::Complete { end } if json[end..].trim_ascii().is_empty());
        let is_valid = |text: &str| matches!(Scanner::new(0, 128).scan(text.as_bytes(), true), ScanResult::Complete { end } if text[end..].bytes().all(|byte| b" \n\r\t".contains(&byte)));
        let whole = is_valid(text);
        for (join_values, search) in [(true, true), (true, false), (false, true), (false, false)] {
            let options = RepairOptions { join_values, search, ..RepairOptions::default() };
            let Ok(repaired) = repair(text, &options) else {
                if whole {
                    return fail("valid refused", format!("{options:?}"));
                }
                continue;
            };
            if !valid(&repaired.json) {
                return fail("invalid", format!("{:?}", repaired.json));
            }
            if !text.is_char_boundary(repaired.consumed) {
                return fail("inside a character", format!("{repaired:?}"));
            }
            if whole && repaired.json != *text {
                return fail("valid changed", format!("{:?}", repaired.json));
            }
            if whole != (repaired.repairs.is_empty() && repaired.unlisted == 0) {
                return fail("repairs of valid text", format!("{options:?}: {repaired:?}"));
            }
        }
        for source_text in [true, false] {
            if let Some(read) = literal(text, 0, &LiteralOptions { source_text, ..LiteralOptions::default() })
                && !(valid(&read.json) && text.is_char_boundary(read.end))
            {
                return fail("invalid literal", format!("{read:?}"));
            }
        }
        for keep_strings in [true, false] {
            let options = PartialOptions { keep_strings, ..PartialOptions::default() };
            if let Ok(partial) = parse_partial(text, &options)
                && !valid(&partial.json)
            {
                return fail("invalid partial", format!("{:?}", partial.json));
            }
        }
        Ok(8)
    }

    fn smaller(&self, text: &String) -> Vec<String> {
        shorter(text)
    }

    fn show(&self, text: &String) -> String {
        json!({"source": "fuzz", "text": text}).to_string()
    }
}
