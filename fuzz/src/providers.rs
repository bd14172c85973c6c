//! Answers and streams of every provider, mutated: reading them does not panic, and a stream says the same however its bytes are cut.
use super::data::cases;
use super::values::{mutate, smaller};
use super::{Failure, Source, Target};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use toolglot::provider::{
    Node, Provider, Reading, StreamNormalizer, assistant_message, normalize_choices, normalize_node,
};
use toolglot::schema::ToolSet;
use toolglot::turn::{Event, Turn};

/// The readers of providers' answers as a fuzz target.
#[derive(Debug)]
pub struct Providers;

/// How the chunks of a stream are framed.
#[derive(Debug, Clone, Copy)]
enum Framing {
    Events,
    /// With carriage returns, comments and ids.
    Windows,
    Lines,
    Array,
}

const FRAMINGS: [Framing; 4] = [Framing::Events, Framing::Windows, Framing::Lines, Framing::Array];

/// An answer, or the chunks of one.
#[derive(Debug, Clone)]
pub struct Input {
    provider: Option<Provider>,
    input: Value,
    framing: Framing,
    tools: bool,
    /// Where the bytes are cut.
    cuts: Vec<usize>,
    /// Bytes that stand in the stream where they do not belong.
    noise: Option<(usize, &'static str)>,
}

impl Input {
    /// The input that a line of `tests/data/fuzz` describes.
    ///
    /// # Panics
    /// If the line is no case.
    pub fn from_case(case: &Value) -> Self {
        let framing = case["framing"].as_u64().unwrap_or(0) as usize;
        let noise = case["noise"][1].as_str().and_then(|text| NOISE.iter().find(|noise| **noise == text));
        Self {
            provider: case["provider"].as_str().map(|name| Provider::from_name(name).expect("a provider")),
            input: case["input"].clone(),
            framing: FRAMINGS[framing],
            tools: case["tools"] == true,
            cuts: case["cuts"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_u64)
                .map(|at| at as usize)
                .collect(),
            noise: noise.map(|noise| (case["noise"][0].as_u64().unwrap_or(0) as usize, *noise)),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let chunks = self.input.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut out = String::new();
        match self.framing {
            Framing::Events | Framing::Windows => {
                let windows = matches!(self.framing, Framing::Windows);
                let end = if windows { "\r\n" } else { "\n" };
                for (at, chunk) in chunks.iter().enumerate() {
                    if let Some(kind) = chunk["type"].as_str().filter(|kind| !kind.contains(['\n', '\r'])) {
                        out.push_str(&format!("event: {kind}{end}"));
                    }
                    if windows {
                        out.push_str(&format!("id: {at}{end}: keep-alive{end}"));
                    }
                    out.push_str(&format!("data: {chunk}{end}{end}"));
                }
                out.push_str(&format!("data: [DONE]{end}{end}"));
            }
            Framing::Lines => out.extend(chunks.iter().map(|chunk| format!("{chunk}\n"))),
            Framing::Array => out.push_str(&self.input.to_string()),
        }
        let mut out = out.into_bytes();
        if let Some((at, noise)) = self.noise {
            let at = at.min(out.len());
            out.splice(at..at, noise.bytes());
        }
        out
    }
}

const NOISE: &[&str] = &[
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "\r\n\r\n",
    ":",
    ": x\n",
    "data:",
    "data: ",
    "data: {}\n\n",
    "event: error\n",
    "[",
    "{",
    "}",
    "\"",
    "é",
    "\u{feff}",
    " ",
    "data: [DONE]\n\n",
    "[DONE]",
    "{\"error\":{\"message\":\"x\"}}\n",
    "\u{0}",
];

type Shelf = Vec<(Option<Provider>, Value)>;

fn shelf() -> &'static (Shelf, Shelf) {
    static SHELF: OnceLock<(Shelf, Shelf)> = OnceLock::new();
    SHELF.get_or_init(|| {
        let (mut answers, mut streams) = (Vec::new(), Vec::new());
        for (file, case) in
            cases("providers").into_iter().chain(cases("fuzz").into_iter().filter(|(file, _)| file == "providers"))
        {
            let name = case["provider"].as_str().or((file == "openai_chat").then_some("openai")).unwrap_or(&file);
            let provider = Provider::from_name(name).ok();
            let list = if case["input"].is_array() { &mut streams } else { &mut answers };
            if case["input"].is_array() || case["input"].is_object() {
                list.push((provider, case["input"].clone()));
            }
        }
        (answers, streams)
    })
}

fn tools() -> Arc<ToolSet> {
    static TOOLS: OnceLock<Arc<ToolSet>> = OnceLock::new();
    let make = || {
        let tool = |name: &str, key: &str| json!({"name": name, "inputSchema": {"type": "object", "properties": {key: {"type": "string"}}}});
        let tools =
            [tool("get_weather", "city"), tool("get_time", "timezone"), tool("ping", "x"), tool("run_py", "input")];
        Arc::new(ToolSet::from_values(&tools).expect("tools"))
    };
    TOOLS.get_or_init(make).clone()
}

impl Target for Providers {
    type Input = Input;

    fn name(&self) -> &'static str {
        "providers"
    }

    fn generate(&self, source: &mut Source<'_>) -> Input {
        let (answers, streams) = shelf();
        let shelf = if source.percent(30) { answers } else { streams };
        let (provider, mut input) = source.pick(shelf).clone();
        let others: Vec<Value> = (0..3).map(|_| source.pick(shelf).1.clone()).collect();
        for _ in 0..source.below(6) {
            mutate(source, &mut input, &others);
        }
        let provider = match source.below(10) {
            0 => None,
            1 => Some(*source.pick(&Provider::ALL)),
            _ => provider,
        };
        let framing = *source.pick(&FRAMINGS);
        let noise = source.percent(20).then(|| (source.below(4000), *source.pick(NOISE)));
        let mut cuts: Vec<usize> = (0..source.below(12)).map(|_| source.below(6000)).collect();
        cuts.sort_unstable();
        Input { provider, input, framing, tools: source.percent(70), cuts, noise }
    }

    fn check(&self, input: &Input) -> Result<u64, Failure> {
        let reading = Reading { tools: input.tools.then(tools), ..Reading::default() };
        if !input.input.is_array() {
            let node = Node::from(&input.input);
            let turn = normalize_node(&node, input.provider, &reading);
            if let Ok(turn) = &turn {
                for provider in Provider::ALL {
                    assistant_message(turn, provider);
                }
            }
            let text = input.input.to_string();
            let choices = normalize_choices(text.as_bytes(), input.provider, &reading);
            if let (Ok(turn), Err(error)) = (turn, choices) {
                return Err(Failure::new("one is refused", format!("{turn:?}: {error}")));
            }
            return Ok(3);
        }
        let bytes = input.bytes();
        let whole = read(&[&bytes], input.provider, &reading);
        let mut executions = 1;
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in input.cuts.iter().map(|cut| (*cut).min(bytes.len())).chain([bytes.len()]) {
            pieces.push(&bytes[from..cut.max(from)]);
            from = cut.max(from);
        }
        for (how, pieces) in [("bytes", single), ("pieces", pieces)] {
            let cut = read(&pieces, input.provider, &reading);
            executions += 1;
            if cut != whole {
                return Err(Failure::new("streams differ", format!("by {how}\n  cut:   {cut}\n  whole: {whole}")));
            }
        }
        Ok(executions)
    }

    fn smaller(&self, input: &Input) -> Vec<Input> {
        let mut out: Vec<Input> =
            smaller(&input.input).into_iter().map(|value| Input { input: value, ..input.clone() }).collect();
        for at in 0..input.cuts.len() {
            let mut cuts = input.cuts.clone();
            cuts.remove(at);
            out.push(Input { cuts, ..input.clone() });
        }
        if input.noise.is_some() {
            out.insert(0, Input { noise: None, ..input.clone() });
        }
        out
    }

    fn show(&self, input: &Input) -> String {
        json!({
            "source": "fuzz", "provider": input.provider.map(Provider::as_str), "input": input.input, "framing": input.framing as u8,
            "tools": input.tools, "cuts": input.cuts, "noise": input.noise,
        })
        .to_string()
    }
}

/// The turn and the events of a stream, texts that follow each other joined; ids that were made up are all the same.
fn read(pieces: &[&[u8]], provider: Option<Provider>, reading: &Reading) -> String {
    let mut stream = StreamNormalizer::new(provider, reading);
    let mut events = Vec::new();
    pieces.iter().for_each(|piece| stream.feed_bytes(piece, &mut events));
    let turn: Result<Turn<'_>, _> = stream.finish(&mut events);
    let mut joined: Vec<Event> = Vec::new();
    for event in events {
        match (joined.last_mut(), &event) {
            (Some(Event::Text(known)), Event::Text(text)) => known.push_str(text),
            (Some(Event::Reasoning(known)), Event::Reasoning(text)) => known.push_str(text),
            (Some(Event::Arguments { index: known_index, text: known }), Event::Arguments { index, text })
                if known_index == index =>
            {
                known.push_str(text);
            }
            _ => joined.push(event),
        }
    }
    without_ids(&format!("{turn:?}\n{joined:?}"))
}

fn without_ids(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\"call_") {
        let (before, id) = rest.split_at(at + 6);
        out.push_str(before);
        let length = id.bytes().take_while(u8::is_ascii_alphanumeric).count();
        rest = if length == 20 && id[20..].starts_with(['"', '_']) { &id[20..] } else { id };
    }
    out.push_str(rest);
    out
}
