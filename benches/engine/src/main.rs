//! How long the engine takes, told the dialect and in `auto`: medians, in one table. A second one holds what each hostile
//! text of `tests/data/hostile.jsonl` costs a byte, beside plain text.
//!
//! `cargo run --release --manifest-path benches/engine/Cargo.toml [workload fragment]`; `hostile [row fragment]` for the second
//! table, of which plain text is always told.
use std::hint::black_box;
use std::time::Instant;
use toolglot::dialect::Dialects;
use toolglot::engine::{Options, StreamParser, extract};
use toolglot::schema::ToolSet;

/// The median time of one run, in nanoseconds.
fn median(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    run();
    let once = start.elapsed().as_nanos().max(1) as u64;
    let batch = (2_000_000 / once).clamp(1, 10_000);
    let mut samples: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            (0..batch).for_each(|_| run());
            start.elapsed().as_nanos() as f64 / batch as f64
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn code(bytes: usize) -> String {
    let line = "    print(f\"value: {x!r}\")  # a comment, with 'quotes' and a back\\slash\n";
    line.repeat(bytes / line.len() + 1)
}

fn prose(bytes: usize) -> String {
    let text = "The quick brown fox reads `code`, then a [link](https://example.org) and 3 < 4. It was fine.\n";
    text.repeat(bytes / text.len() + 1)
}

fn json(value: &str) -> String {
    serde_json::to_string(value).expect("a string")
}

fn hermes(args: &str) -> String {
    format!("<tool_call>\n{{\"name\": \"write_file\", \"arguments\": {args}}}\n</tool_call>\n")
}

fn coder(path: &str, content: &str) -> String {
    format!("<tool_call>\n<function=write_file>\n<parameter=path>\n{path}\n</parameter>\n<parameter=content>\n{content}\n</parameter>\n</function>\n</tool_call>\n")
}

/// `tests/data/hostile.jsonl`, each text of about `bytes`.
fn hostile(bytes: usize) -> Vec<(String, String)> {
    let rows = include_str!("../../../tests/data/hostile.jsonl").lines();
    rows.map(|line| {
        let row: serde_json::Value = serde_json::from_str(line).expect("a row");
        let of = |key: &str| row[key].as_str().expect("text");
        let long = row["long"].as_str().map_or_else(String::new, |long| long.repeat(4200 / long.len()));
        let unit = of("unit").replace("{long}", &long);
        let units = (0..bytes / unit.len()).map(|n| unit.replace("{n}", &n.to_string()));
        (of("about").to_owned(), format!("{}{}{}", of("before"), units.collect::<String>(), of("after")))
    })
    .collect()
}

/// Nanoseconds a byte of each hostile text, whole and in chunks of 4 bytes, with how much that is beside a text of a
/// quarter (1 is linear), and beside plain text in such chunks, which is the first. Others only if what they are holds `only`.
fn print_hostile(set: &std::sync::Arc<Dialects>, tools: &std::sync::Arc<ToolSet>, options: &Options, only: &str) {
    let whole = |text: &str| median(|| drop(black_box(extract(black_box(text), set, Some(tools), options)))) / text.len() as f64;
    let stream = |text: &str| {
        let mut events = Vec::new();
        let ns = median(|| {
            let mut parser = StreamParser::new(set.clone(), Some(tools.clone()), options.clone());
            for chunk in text.as_bytes().chunks(4) {
                parser.feed_bytes(chunk, &mut events);
                events.clear();
            }
            black_box(parser.finish(&mut events));
        });
        ns / text.len() as f64
    };
    println!("{:48} {:>10} {:>8} {:>10} {:>8} {:>8}", "160 KB of", "ns a byte", "growth", "streamed", "growth", "x plain");
    let mut plain = None;
    for ((about, text), (_, quarter)) in hostile(160_000).into_iter().zip(hostile(40_000)) {
        if plain.is_some() && !about.contains(only) {
            continue;
        }
        let (long, streamed) = (whole(&text), stream(&text));
        println!(
            "{about:48} {long:10.1} {:8.2} {streamed:10.1} {:8.2} {:8.2}",
            long / whole(&quarter),
            streamed / stream(&quarter),
            streamed / *plain.get_or_insert(streamed)
        );
    }
}

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    let tools = serde_json::json!([{"name": "write_file", "inputSchema": {"type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "integer"},
            "lines": {"type": "array", "items": {"type": "string"}}}}}]);
    let tools = std::sync::Arc::new(ToolSet::from_values(tools.as_array().expect("a list")).expect("tools"));
    let small = "{\"path\": \"src/main.rs\", \"content\": \"fn main() {}\", \"mode\": 3}";
    let big = format!("{{\"path\": \"a.py\", \"content\": {}}}", json(&code(200_000)));
    let rows = [
        ("150 B + 1 call, json", "hermes", format!("{}{}", prose(90), hermes(small))),
        ("150 B + 1 call, xml", "qwen3_coder", format!("{}{}", prose(90), coder("a.py", "fn main() {}"))),
        ("2 KB + 2 calls, json", "hermes", format!("{}{}{}", prose(2000), hermes(small), hermes(small))),
        ("200 KB argument, json", "hermes", hermes(&big)),
        ("200 KB argument, xml", "qwen3_coder", coder("a.py", &code(200_000))),
        ("200 KB of prose", "hermes", prose(200_000)),
        ("64 calls, json", "hermes", hermes(small).repeat(64)),
        ("64 calls, xml", "qwen3_coder", coder("a.py", "fn main() {}").repeat(64)),
    ];
    let options = Options::default();
    let auto = Dialects::auto();
    if only == "hostile" {
        return print_hostile(&auto, &tools, &options, &std::env::args().nth(2).unwrap_or_default());
    }
    println!("{:24} {:>12} {:>12} {:>16} {:>8}", "workload", "told us", "auto us", "ns a 4-B chunk", "calls");
    for (name, dialect, text) in rows.iter().filter(|(name, ..)| name.contains(&only)) {
        let told = Dialects::named(dialect).expect("a dialect");
        let calls = extract(text, &told, Some(&tools), &options).tool_calls.len();
        let us = |set: &Dialects| median(|| drop(black_box(extract(black_box(text), set, Some(&tools), &options)))) / 1000.0;
        let (told_us, auto_us) = (us(&told), us(&auto));
        let chunks: Vec<&str> = text.as_bytes().chunks(4).map(|c| std::str::from_utf8(c).expect("ASCII")).collect();
        let mut events = Vec::new();
        let stream = median(|| {
            let mut parser = StreamParser::new(told.clone(), Some(tools.clone()), options.clone());
            for chunk in &chunks {
                parser.feed(chunk, &mut events);
                events.clear();
            }
            black_box(parser.finish(&mut events));
        });
        println!("{name:24} {told_us:12.2} {auto_us:12.2} {:16.1} {calls:8}", stream / chunks.len() as f64);
    }
}
