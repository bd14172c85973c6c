//! Time grows with the text, whatever the text is: `tests/data/hostile.jsonl`, one text a line, made of `before`, many times
//! `unit` (with `{n}` a number, and `{long}` as much of `long` as a marker may have) and `after`. The engine's bench prints
//! what each costs.
use serde_json::{Value, json};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolglot::dialect::Dialects;
use toolglot::engine::{Options, StreamParser, extract};
use toolglot::provider::{Provider, check_history, convert_messages, repair_history};
use toolglot::schema::ToolSet;

/// How much longer the longer text is. Were time to grow with the square, it would take so many times what as many
/// shorter texts take together.
const LONGER: usize = 24;
/// How many times that it may take: far from `LONGER`, far from the noise.
const MAY_TAKE: f64 = 11.0;

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

fn time(run: impl Fn()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Both ways take about as long, so what else the machine does falls on both; the shortest of several runs counts.
fn not_linear(may_take: f64, short: impl Fn(), long: impl Fn()) -> Option<String> {
    let (mut many, mut one) = (Duration::MAX, Duration::MAX);
    for _ in 0..10 {
        many = many.min(time(|| (0..LONGER).for_each(|_| short())));
        one = one.min(time(&long));
        let ratio = one.as_secs_f64() / many.max(Duration::from_micros(200)).as_secs_f64();
        if ratio < may_take {
            return None;
        }
    }
    Some(format!("{many:?} for {LONGER} short ones, {one:?} for one so many times as long"))
}

#[track_caller]
fn assert_linear(bytes: usize, run: impl Fn(&str)) {
    let mut wrong = Vec::new();
    for hostile in texts() {
        let (short, long) = (hostile.text(bytes), hostile.text(bytes * LONGER));
        if let Some(times) = not_linear(MAY_TAKE, || run(&short), || run(&long)) {
            wrong.push(format!("{}: {times}", hostile.about));
        }
    }
    assert!(wrong.is_empty(), "not linear:\n{}", wrong.join("\n"));
}

#[test]
fn whole() {
    let (dialects, tools, options) = (Dialects::auto(), tools(), Options::default());
    assert_linear(4 << 10, |text| drop(black_box(extract(text, &dialects, Some(&tools), &options))));
}

/// What nothing but the limit of calls bounds shows here.
#[test]
fn many_calls() {
    let (dialects, tools, mut options) = (Dialects::auto(), tools(), Options::default());
    options.policy.max_calls = usize::MAX;
    assert_linear(4 << 10, |text| drop(black_box(extract(text, &dialects, Some(&tools), &options))));
}

/// Told a dialect, objects are looked at in the middle of lines as well.
#[test]
fn told() {
    let (dialects, tools, options) = (Dialects::named("hermes").expect("a dialect"), tools(), Options::default());
    assert_linear(4 << 10, |text| drop(black_box(extract(text, &dialects, Some(&tools), &options))));
}

#[test]
fn in_chunks() {
    let (tools, options) = (tools(), Options::default());
    assert_linear(4 << 10, |text| {
        let mut parser = StreamParser::new(Dialects::auto(), Some(tools.clone()), options.clone());
        let mut events = Vec::new();
        for chunk in text.as_bytes().chunks(16) {
            parser.feed_bytes(chunk, &mut events);
            events.clear();
        }
        black_box(parser.finish(&mut events));
    });
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
    let mut wrong = Vec::new();
    // All but a square's work is in both, and it takes less: so the long one may take less here.
    for ((about, short), (_, long)) in histories(CALLS).iter().zip(histories(CALLS * LONGER)) {
        for (name, run) in runs {
            if let Some(times) = not_linear(3.0, || run(short), || run(&long)) {
                wrong.push(format!("{name}, {about}: {times}"));
            }
        }
    }
    assert!(wrong.is_empty(), "not linear:\n{}", wrong.join("\n"));
}
