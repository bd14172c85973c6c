//! Prints one table: what repairing takes here, and how many times as long in other crates. `cargo run --release`.
//!
//! "right" is judged by the value that was meant; a cut text must give a prefix of it. Times are the best of many runs,
//! interleaved, to a `serde_json::Value`, since the others give nothing else; the column "text" is the JSON text alone.
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

/// What to repair, and what was meant.
struct Workload {
    name: &'static str,
    text: String,
    meant: Value,
    cut: bool,
}

const WORDS: [&str; 16] = [
    "buffer", "offset", "the", "parse", "token", "of", "value", "index", "limit", "a", "client", "request", "cache", "node",
    "to", "line",
];

/// A generator whose numbers are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn words(&mut self, n: usize) -> String {
        (0..n).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }
}

fn event(random: &mut Random, i: usize) -> Value {
    json!({
        "title": random.words(4), "start": format!("2026-03-{:02}T{:02}:00:00Z", 1 + i % 28, i % 24),
        "duration_minutes": 15 * (1 + random.below(8)),
        "attendees": [format!("{}@example.com", random.words(1)), format!("{}@example.org", random.words(1))],
        "options": {"color": random.words(1), "reminders": [5, 30]}, "notify": i % 2 == 0,
    })
}

fn source_file(random: &mut Random, size: usize) -> String {
    let mut out = String::new();
    while out.len() < size {
        let name = random.words(1);
        out.push_str(&format!("def {name}(self, {}):\n    \"\"\"{}.\"\"\"\n", random.words(1), random.words(6)));
        out.push_str(&format!("    if self.{name}[\"{}\"] > {}:\n", random.words(1), random.below(100)));
        out.push_str(&format!("        return '{}\\n'\n\n", random.words(5)));
    }
    out.truncate(size);
    out
}

/// JSON with a space after commas and colons, as Python writes it.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(k, v)| format!("{}: {}", json!(k), spaced(v))).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

fn workloads() -> Vec<Workload> {
    let mut random = Random(20260301);
    let small = event(&mut random, 1);
    let file = json!({"path": "a.py", "content": source_file(&mut random, 20_000)});
    let rows: Value = (0..100).map(|i| event(&mut random, i)).collect();
    let nested: Value = (0..100).map(|i| json!({"id": i, "tags": ["x", "y"], "v": {"k": [1, 2, {"z": null}]}})).collect();
    let (small_text, file_text, rows_text) = (spaced(&small), spaced(&file), spaced(&rows));
    let trailing = spaced(&nested).replace(']', ",]").replace('}', ",}");
    let cut = |text: &str| text.get(..text.len() * 7 / 10).unwrap_or_default().to_owned();
    let bare = |text: &str| {
        let parts: Vec<&str> = text.split("\": ").collect();
        let unquote = |part: &str| part.rfind('"').map(|i| format!("{}{}", &part[..i], &part[i + 1..]));
        let last = parts.len() - 1;
        let parts = parts.iter().enumerate();
        parts.map(|(i, p)| if i == last { (*p).to_owned() } else { unquote(p).unwrap_or_default() }).collect::<Vec<_>>().join(": ")
    };
    let row = |name, text: String, meant: &Value, cut| Workload { name, text, meant: meant.clone(), cut };
    let python = json!({"title": "x", "none": null, "yes": true, "list": [1, 2]});
    vec![
        row("250 B, valid", small_text.clone(), &small, false),
        row("20 KB string, valid", file_text.clone(), &file, false),
        row("100 rows, valid", rows_text.clone(), &rows, false),
        row("250 B, cut", cut(&small_text), &small, true),
        row("20 KB string, cut", cut(&file_text), &file, true),
        row("100 rows, cut", cut(&rows_text), &rows, true),
        row("trailing commas", trailing, &nested, false),
        row("single quotes", rows_text.replace('"', "'"), &rows, false),
        row("Python literals", spaced(&python).replace("true", "True").replace("null", "None"), &python, false),
        row("unquoted keys", bare(&rows_text), &rows, false),
        row("fence in prose", format!("Here is the JSON:\n```json\n{small_text}\n```\nDone."), &small, false),
        row("raw newlines", "{\"a\": \"one\ntwo\n\tthree\"}".into(), &json!({"a": "one\ntwo\n\tthree"}), false),
        row("missing commas", rows_text.replace(", ", " "), &rows, false),
    ]
}

/// What a cut of `full` may be read as: its last value may be cut or missing.
fn is_prefix(part: &Value, full: &Value) -> bool {
    match (part, full) {
        (Value::Object(part), Value::Object(full)) => {
            let last = part.len();
            part.iter().zip(full).enumerate().all(|(i, ((pk, p), (fk, f)))| pk == fk && (p == f || i + 1 == last && is_prefix(p, f)))
                && last <= full.len()
        }
        (Value::Array(part), Value::Array(full)) => {
            let last = part.len();
            part.iter().zip(full).enumerate().all(|(i, (p, f))| p == f || i + 1 == last && is_prefix(p, f)) && last <= full.len()
        }
        (Value::String(part), Value::String(full)) => full.starts_with(part.as_str()),
        (part, full) => part == full || part.is_null() || part == "",
    }
}

type Peer = (&'static str, fn(&str) -> Option<Value>);

const PEERS: [Peer; 4] = [
    ("toolglot", |text| {
        let repaired = toolglot::json::repair(text, &Default::default()).ok()?;
        serde_json::from_str(&repaired.json).ok()
    }),
    ("llm_json", |text| llm_json::loads(text, &Default::default()).ok()),
    ("jsonrepair", |text| jsonrepair::loads(text, &Default::default()).ok()),
    ("serde_json", |text| serde_json::from_str(text).ok()),
];

fn seconds<R>(times: usize, mut work: impl FnMut() -> R) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        black_box(work());
    }
    start.elapsed().as_secs_f64() / times as f64
}

fn main() {
    let names: Vec<String> = PEERS.iter().skip(1).map(|(name, _)| format!("{name:>12}")).collect();
    println!("{:<22}{:>9}{:>10}{:>9}{}", "", "bytes", "text us", "us", names.concat());
    for Workload { name, text, meant, cut } in workloads() {
        let mut best = [f64::MAX; PEERS.len()];
        let mut alone = f64::MAX;
        for _ in 0..15 {
            let times = (100_000 / text.len()).max(3);
            let options = Default::default();
            alone = alone.min(seconds(times, || toolglot::json::repair(black_box(&text), &options).is_ok()));
            for ((_, read), best) in PEERS.iter().zip(&mut best) {
                *best = best.min(seconds(times, || read(black_box(&text))));
            }
        }
        let right: Vec<bool> = PEERS
            .iter()
            .map(|(_, read)| read(&text).is_some_and(|value| if cut { is_prefix(&value, &meant) } else { value == meant }))
            .collect();
        let mut cells = String::new();
        for i in 1..PEERS.len() {
            let cell = if right[i] { format!("{:.1}x", best[i] / best[0]) } else { "wrong".into() };
            cells.push_str(&format!("{cell:>12}"));
        }
        let own = if right[0] { format!("{:.1}", best[0] * 1e6) } else { "WRONG".into() };
        println!("{name:<22}{:>9}{:>10.2}{own:>9}{cells}", text.len(), alone * 1e6);
    }
}
