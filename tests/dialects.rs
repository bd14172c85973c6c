//! The cases of every dialect, as data: `tests/data/dialects/*.jsonl`, one case a line (tests/test_dialects.py has the
//! same files and says what a case is). Each is read whole, cut in two everywhere, byte by byte and cut at random;
//! whatever the pieces, turn and events must say the same.
mod options;
mod stream;

use options::options;
use serde_json::{Value, json};
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fs, thread};
use stream::snapshot;
use toolglot::dialect::Dialects;
use toolglot::engine::{Options, extract};
use toolglot::schema::ToolSet;
use toolglot::turn::Turn;

/// Cases that are known to fail; they carry their dialect, a reason, and what fails.
const KNOWN_ISSUES: &str = "known_issues";

struct Case {
    label: String,
    text: String,
    /// How the case is read: told its dialect, and in auto.
    dialects: Vec<(String, Arc<Dialects>)>,
    tools: Option<Arc<ToolSet>>,
    options: Options,
    expect: Value,
    /// What is known to fail: `complete` or `stream`.
    fails: Option<String>,
}

impl Case {
    fn new(file: &str, case: &Value) -> Self {
        let about = case["about"].as_str().expect("about");
        let label = format!("{file}: {about}");
        let told = case["dialect"].as_str().unwrap_or(file).to_owned();
        let mut dialects = vec![told];
        if case["auto"] != false && dialects[0] != "auto" {
            dialects.push("auto".into());
        }
        let named = |name: String| {
            let found = if name == "auto" { Dialects::auto() } else { Dialects::named(&name).expect(&label) };
            (name, found)
        };
        let tools = case["tools"].as_array().map(|items| Arc::new(ToolSet::from_values(items).expect(&label)));
        Self {
            text: case["text"].as_str().expect("text").to_owned(),
            dialects: dialects.into_iter().map(named).collect(),
            tools,
            options: options(case),
            expect: case["expect"].clone(),
            fails: (file == KNOWN_ISSUES).then(|| case["fails"].as_str().expect("fails").to_owned()),
            label,
        }
    }

    fn whole(&self, dialects: &Dialects) -> Turn<'_> {
        extract(&self.text, dialects, self.tools.as_deref(), &self.options)
    }

    /// What is not as expected, if anything is not.
    fn differs(&self, turn: &Turn<'_>) -> Option<String> {
        let expect = &self.expect;
        let calls: Vec<Value> = (turn.tool_calls.iter())
            .map(|c| {
                // As in Python, where those that cannot be read are a dict all the same.
                let arguments = Some(c.arguments.to_value()).filter(|value| value.is_object() || c.status.readable());
                let arguments = arguments.unwrap_or_else(|| json!({}));
                json!({"name": c.name, "arguments": arguments, "status": c.status.as_str()})
            })
            .collect();
        let mut wanted = expect["calls"].as_array().cloned().unwrap_or_default();
        for call in &mut wanted {
            call.as_object_mut().expect("a call").entry("status").or_insert_with(|| "ok".into());
        }
        let issues: Vec<&str> = turn.issues.iter().map(|issue| issue.code.as_str()).collect();
        let got = json!({
            "content": turn.content,
            "reasoning": turn.reasoning,
            "calls": calls,
            "issues": if expect["issues"].is_null() { Value::Null } else { json!(issues) },
        });
        let wanted = json!({
            "content": expect["content"].as_str().unwrap_or_default(),
            "reasoning": expect["reasoning"].as_str().unwrap_or_default(),
            "calls": wanted,
            "issues": expect["issues"],
        });
        (got != wanted)
            .then(|| format!("{}\n  text:   {:?}\n  wanted: {wanted}\n  got:    {got}", self.label, self.text))
    }
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/dialects");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        for line in fs::read_to_string(&path).expect("a readable file").lines() {
            cases.push(Case::new(&file, &serde_json::from_str(line).expect("a case")));
        }
    }
    cases
}

/// Reads the case in pieces; tells how turn or events differ from the complete turn, if they do.
fn same(
    case: &Case,
    dialects: &Arc<Dialects>,
    whole: &Turn<'static>,
    pieces: &[&[u8]],
    as_text: bool,
) -> Result<(), String> {
    let setting = (dialects, case.tools.as_ref(), &case.options);
    stream::same(setting, whole, pieces.iter().copied(), as_text).map_err(|error| {
        let shown: Vec<_> = pieces.iter().map(|p| String::from_utf8_lossy(p)).collect();
        format!("{}: {error}\n  pieces:   {shown:?}", case.label)
    })
}

/// Runs a check on every case, told and in auto, on all cores; shows the first failure of each.
#[track_caller]
fn for_each(check: impl Fn(&Case, &Arc<Dialects>, &Turn<'static>) -> Result<(), String> + Sync) {
    let cases = cases();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let run = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if case.fails.as_deref() == Some("stream") {
                continue;
            }
            for (name, dialects) in &case.dialects {
                let whole = snapshot(case.whole(dialects));
                if let Err(error) = check(case, dialects, &whole) {
                    failures.lock().expect("no other panic").push(format!("[{name}] {error}"));
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(run);
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_dialect_has_cases() {
    let cases = cases();
    assert!(cases.len() > 600, "{} cases", cases.len());
    for (name, _) in cases.iter().flat_map(|case| &case.dialects) {
        assert!(name == "auto" || Dialects::named(name).is_ok(), "{name}");
    }
}

#[test]
fn complete() {
    let mut failures = Vec::new();
    for case in cases() {
        let mut wrong = case
            .dialects
            .iter()
            .filter_map(|(name, dialects)| case.differs(&case.whole(dialects)).map(|w| format!("[{name}] {w}")));
        if case.fails.as_deref() == Some("complete") {
            if wrong.next().is_none() {
                failures.push(format!("{}: passes, and is no known issue any more", case.label));
            }
        } else {
            failures.extend(wrong);
        }
    }
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn cut_in_two_everywhere() {
    for_each(|case, dialects, whole| {
        let bytes = case.text.as_bytes();
        for at in 0..=bytes.len() {
            same(case, dialects, whole, &[&bytes[..at], &bytes[at..]], false)?;
        }
        Ok(())
    });
}

#[test]
fn byte_by_byte() {
    for_each(|case, dialects, whole| {
        let pieces: Vec<&[u8]> = case.text.as_bytes().chunks(1).collect();
        same(case, dialects, whole, &pieces, false)
    });
}

#[test]
fn letter_by_letter() {
    for_each(|case, dialects, whole| {
        let pieces: Vec<&[u8]> =
            case.text.char_indices().map(|(i, c)| &case.text.as_bytes()[i..i + c.len_utf8()]).collect();
        same(case, dialects, whole, &pieces, true)
    });
}

#[test]
fn cut_at_random() {
    for_each(|case, dialects, whole| {
        let bytes = case.text.as_bytes();
        let mut below = generator(bytes);
        for _ in 0..20 {
            let mut places: Vec<usize> = (0..below(12)).map(|_| below(bytes.len())).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            same(case, dialects, whole, &pieces, false)?;
            // Between characters for text.
            places.retain(|place| case.text.is_char_boundary(*place));
            let pieces: Vec<&[u8]> = places.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            same(case, dialects, whole, &pieces, true)?;
        }
        Ok(())
    });
}

/// A small generator of our own, of numbers up to a limit: the same cuts of a text in every run.
fn generator(text: &[u8]) -> impl FnMut(usize) -> usize {
    let mut seed = text.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |seed, byte| seed.rotate_left(7) ^ u64::from(*byte));
    // It stays zero for ever.
    seed = seed.max(1);
    move |limit| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % (limit as u64 + 1)) as usize
    }
}
