//! Work grows with the text, whatever the text is: `tests/data/hostile.jsonl`, one text a line, made of `before`, many times
//! `unit` (with `{n}` a number, and `{long}` as much of `long` as a marker may have) and `after`. The engine's bench prints
//! what each costs.
//!
//! What is measured is no time but how often each piece of code runs, and what is allocated: the same on every machine,
//! whatever else it does. `nox` (`-s tests`, or `-s linear` for this alone) builds the code so that it counts; without that there
//! is nothing here.
#![cfg(counted)]
#![allow(unsafe_code, reason = "the compiler's counters and the allocator are there")]
use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use toolglot::dialect::Dialects;
use toolglot::engine::{Options, StreamParser, extract};
use toolglot::json::{LiteralOptions, RepairOptions, literal, repair};
use toolglot::provider::{Provider, check_history, convert_messages, repair_history};
use toolglot::schema::ToolSet;

/// How much longer the longer text is. Were work to grow with the square, it would take so many times what as many
/// shorter texts take together.
const LONGER: usize = 12;
/// How many times that it may take. What is looked at again is bounded, but the shorter text may end before that.
const MAY_TAKE: f64 = 3.2;

unsafe extern "C" {
    // LLVM's runtime for `-Cprofile-generate`: a counter for each edge between the blocks of the code.
    safe fn __llvm_profile_begin_counters() -> *const u64;
    safe fn __llvm_profile_end_counters() -> *const u64;
    safe fn __llvm_profile_reset_counters();
}

/// What copies much runs little code; but mostly it allocates.
struct Allocator;

static ALLOCATED: AtomicU64 = AtomicU64::new(0);

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as u64, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }
}

/// The counters are those of the whole process: one test at a time.
static COUNTERS: Mutex<()> = Mutex::new(());

fn work(run: impl Fn()) -> f64 {
    const BYTES_A_STEP: u64 = 16;
    __llvm_profile_reset_counters();
    ALLOCATED.store(0, Ordering::Relaxed);
    run();
    let allocated = ALLOCATED.load(Ordering::Relaxed);
    let (begin, end) = (__llvm_profile_begin_counters(), __llvm_profile_end_counters());
    // Both are the ends of one array, which is never moved; nothing else counts meanwhile.
    let counters = unsafe { slice::from_raw_parts(begin, end.offset_from_unsigned(begin)) };
    (counters.iter().sum::<u64>() + allocated / BYTES_A_STEP) as f64
}

/// A bit more than `max_markup_bytes`.
const LONG: usize = 4200;

struct Hostile {
    about: String,
    before: String,
    unit: String,
    after: String,
}

impl Hostile {
    fn text(&self, bytes: usize) -> String {
        let units = (0..(bytes / self.unit.len()).max(1)).map(|n| self.unit.replace("{n}", &n.to_string()));
        format!("{}{}{}", self.before, units.collect::<String>(), self.after)
    }
}

fn texts() -> Vec<Hostile> {
    let lines = include_str!("data/hostile.jsonl").lines();
    lines
        .map(|line| {
            let row: Value = serde_json::from_str(line).expect("a row");
            let text = |key: &str| row[key].as_str().expect(key).to_owned();
            let long = row["long"].as_str().map_or_else(String::new, |long| long.repeat(LONG / long.len()));
            Hostile {
                about: text("about"),
                before: text("before"),
                unit: text("unit").replace("{long}", &long),
                after: text("after"),
            }
        })
        .collect()
}

fn tools() -> Arc<ToolSet> {
    let tools = serde_json::json!([
        {"name": "get_weather", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}},
        {"name": "write_file", "inputSchema": {"type": "object", "properties": {
            "path": {"type": "string"}, "content": {"type": "string"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "lines": {"type": "array", "items": {"type": "string"}}}}},
    ]);
    Arc::new(ToolSet::from_values(tools.as_array().expect("a list")).expect("tools"))
}

/// How many times the work for as many short ones the long one takes, if that is too much.
fn not_linear(short: impl Fn(), long: impl Fn()) -> Option<String> {
    // What is made once is made here.
    short();
    let (short, long) = (work(short), work(long));
    let ratio = long / (short * LONGER as f64);
    (ratio > MAY_TAKE).then(|| format!("{ratio:.1} times the work of {LONGER} short ones ({short} each)"))
}

#[track_caller]
fn assert_linear(run: impl Fn(&str)) {
    const BYTES: usize = 16 << 10;
    let _alone = COUNTERS.lock();
    let mut wrong = Vec::new();
    for hostile in texts() {
        let (short, long) = (hostile.text(BYTES), hostile.text(BYTES * LONGER));
        if let Some(ratio) = not_linear(|| run(&short), || run(&long)) {
            wrong.push(format!("{}: {ratio}", hostile.about));
        }
    }
    assert!(wrong.is_empty(), "not linear:\n{}", wrong.join("\n"));
}

#[test]
fn whole() {
    let (dialects, tools, options) = (Dialects::auto(), tools(), Options::default());
    assert_linear(|text| drop(black_box(extract(text, &dialects, Some(&tools), &options))));
}

/// What nothing but the limit of calls bounds shows here.
#[test]
fn many_calls() {
    let (dialects, tools, mut options) = (Dialects::auto(), tools(), Options::default());
    options.policy.max_calls = usize::MAX;
    assert_linear(|text| drop(black_box(extract(text, &dialects, Some(&tools), &options))));
}

/// Told a dialect, objects are looked at in the middle of lines as well.
#[test]
fn told() {
    let (dialects, tools, options) = (Dialects::named("hermes").expect("a dialect"), tools(), Options::default());
    assert_linear(|text| drop(black_box(extract(text, &dialects, Some(&tools), &options))));
}

#[test]
fn in_chunks() {
    let (tools, options) = (tools(), Options::default());
    assert_linear(|text| {
        let mut parser = StreamParser::new(Dialects::auto(), Some(tools.clone()), options.clone());
        let mut events = Vec::new();
        for chunk in text.as_bytes().chunks(16) {
            parser.feed_bytes(chunk, &mut events);
            events.clear();
        }
        black_box(parser.finish(&mut events));
    });
}

/// `tests/data/json/hostile.jsonl`: a string a line, which stands again and again where a value was to be mended.
#[test]
fn values() {
    const BYTES: usize = 1 << 10;
    let _alone = COUNTERS.lock();
    let source = LiteralOptions { source_text: true, ..LiteralOptions::default() };
    let run = |text: &str| {
        black_box(repair(text, &RepairOptions::default())).ok();
        black_box(literal(text, 0, &source));
    };
    let mut wrong = Vec::new();
    for line in include_str!("data/json/hostile.jsonl").lines() {
        let unit: String = serde_json::from_str(line).expect("a string");
        for head in ["[", "{\"a\": \"", "{'a': '", "{\"a\": "] {
            let text = |bytes: usize| format!("{head}{}", unit.repeat(bytes / unit.len()));
            let (short, long) = (text(BYTES), text(BYTES * LONGER));
            if let Some(ratio) = not_linear(|| run(&short), || run(&long)) {
                wrong.push(format!("{head}{line}: {ratio}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not linear:\n{}", wrong.join("\n"));
}

/// Conversations of about `count` calls, by what is odd about them.
fn histories(count: usize) -> Vec<(&'static str, Vec<Value>)> {
    let call = |id: String| json!({"id": id, "type": "function", "function": {"name": "get_time", "arguments": "{}"}});
    let assistant = |calls: Vec<Value>| json!({"role": "assistant", "content": null, "tool_calls": calls});
    let result = |id: String| json!({"role": "tool", "tool_call_id": id, "content": "12:00"});
    let user = || json!({"role": "user", "content": "What time is it?"});
    let id = |n: usize| format!("call_{n}");
    let turns = |call_id: &dyn Fn(usize) -> String, result_id: &dyn Fn(usize) -> String| {
        let turn = |n| [user(), assistant(vec![call(call_id(n))]), result(result_id(n))];
        (0..count).flat_map(turn).collect::<Vec<_>>()
    };
    let parallel = |ids: &dyn Fn(usize) -> String| {
        let mut messages = vec![user(), assistant((0..count).map(|n| call(ids(n))).collect())];
        messages.extend((0..count).map(|n| result(ids(n))));
        messages
    };
    let never = (0..count).flat_map(|n| [user(), assistant(vec![call(id(n))])]).collect();
    let orphans = (0..count).flat_map(|n| [user(), result(id(n))]).collect();
    let items = |n: usize| json!({"type": "function_call", "call_id": id(n), "name": "get_time", "arguments": "{}"});
    let outputs = |n: usize| json!({"type": "function_call_output", "call_id": id(n), "output": "12:00"});
    vec![
        ("each call answered", turns(&id, &id)),
        ("all calls in one message", parallel(&id)),
        ("no call answered", never),
        ("results without calls", orphans),
        ("results in the wrong order", turns(&id, &|n| id(count - 1 - n))),
        ("one id for all calls", turns(&|_| id(0), &|_| id(0))),
        ("one id for all calls of a message", parallel(&|_| id(0))),
        ("calls and results without ids", turns(&|_| String::new(), &|_| String::new())),
        ("items of Responses", (0..count).map(items).chain((0..count).map(outputs)).collect()),
    ]
}

#[test]
fn conversations() {
    const CALLS: usize = 50;
    type Run = (&'static str, fn(&[Value]));
    let runs: [Run; 3] = [
        ("check", |messages| drop(black_box(check_history(messages, None)))),
        ("repair", |messages| drop(black_box(repair_history(messages, None, None, None, None)))),
        ("there and back, without the first messages", |messages| {
            let there = convert_messages(messages, None, None, Provider::Anthropic, None).expect("messages");
            let rest = there.messages.get(there.messages.len() / 2..).unwrap_or_default();
            let from = Some(Provider::Anthropic);
            drop(black_box(convert_messages(rest, None, from, Provider::OpenAi, Some(&there.side))));
        }),
    ];
    let _alone = COUNTERS.lock();
    let mut wrong = Vec::new();
    for ((about, short), (_, long)) in histories(CALLS).iter().zip(histories(CALLS * LONGER)) {
        for (name, run) in runs {
            if let Some(ratio) = not_linear(|| run(short), || run(&long)) {
                wrong.push(format!("{name}, {about}: {ratio}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not linear:\n{}", wrong.join("\n"));
}
