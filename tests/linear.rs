//! Time grows with the text, whatever the text is: `tests/data/hostile.jsonl`, one text a line, made of `before`, many times
//! `unit` (with `{n}` a number, and `{long}` as much of `long` as a marker may have) and `after`. The engine's bench prints
//! what each costs.
use serde_json::Value;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolglot::dialect::Dialects;
use toolglot::engine::{Options, StreamParser, extract};
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
            "path": {"type": "string"}, "content": {"type": "string"}}}},
    ]);
    Arc::new(ToolSet::from_values(tools.as_array().expect("a list")).expect("tools"))
}

fn time(run: impl Fn()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Both ways take about as long, so what else the machine does falls on both; the shortest of several runs counts.
#[track_caller]
fn assert_linear(bytes: usize, run: impl Fn(&str)) {
    let mut wrong = Vec::new();
    for hostile in texts() {
        let (short, long) = (hostile.text(bytes), hostile.text(bytes * LONGER));
        let (mut many, mut one) = (Duration::MAX, Duration::MAX);
        let mut ratio = f64::MAX;
        for _ in 0..10 {
            many = many.min(time(|| (0..LONGER).for_each(|_| run(&short))));
            one = one.min(time(|| run(&long)));
            ratio = one.as_secs_f64() / many.max(Duration::from_micros(200)).as_secs_f64();
            if ratio < MAY_TAKE {
                break;
            }
        }
        if ratio >= MAY_TAKE {
            wrong.push(format!(
                "{}: {many:?} for {LONGER} of {} bytes, {one:?} for {}",
                hostile.about,
                short.len(),
                long.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "not linear:\n{}", wrong.join("\n"));
}

#[test]
fn whole() {
    let (dialects, tools, options) = (Dialects::auto(), tools(), Options::default());
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
