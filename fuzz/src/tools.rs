//! Any JSON as tools: reading and converting them ends, what is written for a provider is no larger than its limit allows, and the
//! names that a provider is told lead back to the tools.
use super::data::{cases, folder};
use super::values::{mutate, smaller};
use super::{Failure, Source, Target};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::OnceLock;
use toolglot::json::{ScanResult, Scanner};
use toolglot::schema::convert::{Format, Target as Told};
use toolglot::schema::{Resolution, ToolSet};

/// Tools as a fuzz target.
#[derive(Debug)]
pub struct Tools;

const FORMATS: [Format; 11] = [
    Format::OpenAi,
    Format::OpenAiResponses,
    Format::Anthropic,
    Format::Gemini,
    Format::Mistral,
    Format::Cohere,
    Format::Ollama,
    Format::Bedrock,
    Format::Mcp,
    Format::LlamaCpp,
    Format::OpenRouter,
];

/// What is written for one tool where each of its schemas is written out in full, and is as long as all of the input.
const MOST_SCHEMAS: usize = 20_000;

/// Tools, and arguments for each of them.
#[derive(Debug, Clone)]
pub struct Input {
    items: Vec<Value>,
    arguments: Value,
}

impl Input {
    /// The input that a line of `tests/data/fuzz` describes.
    ///
    /// # Panics
    /// If the line is no case.
    pub fn from_case(case: &Value) -> Self {
        Self { items: case["items"].as_array().expect("items").clone(), arguments: case["arguments"].clone() }
    }
}

fn shelf() -> &'static (Vec<Value>, Vec<Value>) {
    static SHELF: OnceLock<(Vec<Value>, Vec<Value>)> = OnceLock::new();
    SHELF.get_or_init(|| {
        let text = std::fs::read_to_string(folder().join("schema/tricky.json")).expect("schemas");
        let tricky: Value = serde_json::from_str(&text).expect("JSON");
        let schemas: Vec<Value> = tricky.as_object().expect("an object").values().cloned().collect();
        let mut items: Vec<Value> = Vec::new();
        let mut seen = HashSet::new();
        for (_, case) in cases("dialects").into_iter().chain(cases("fuzz")) {
            for item in case["tools"].as_array().or(case["items"].as_array()).into_iter().flatten() {
                if seen.insert(item.to_string()) {
                    items.push(item.clone());
                }
            }
        }
        items.extend(
            schemas.iter().enumerate().map(|(at, schema)| json!({"name": format!("tool_{at}"), "inputSchema": schema})),
        );
        (items, schemas)
    })
}

impl Target for Tools {
    type Input = Input;

    fn name(&self) -> &'static str {
        "tools"
    }

    fn generate(&self, source: &mut Source<'_>) -> Input {
        let (items, schemas) = shelf();
        let count = 1 + source.below(4);
        let mut tools = Value::Array((0..count).map(|_| source.pick(items).clone()).collect());
        for _ in 0..source.below(6) {
            let others = if source.percent(70) { schemas } else { items };
            mutate(source, &mut tools, others);
        }
        let mut arguments = json!({"city": "Paris", "path": "a", "n": 3, "list": [1, "2"], "o": {"x": null}});
        for _ in 0..source.below(3) {
            mutate(source, &mut arguments, schemas);
        }
        let Value::Array(items) = tools else { return Input { items: vec![tools], arguments } };
        Input { items, arguments }
    }

    fn check(&self, input: &Input) -> Result<u64, Failure> {
        let Ok(set) = ToolSet::from_values(&input.items) else { return Ok(1) };
        let fail = |kind: &str, message: String| Err(Failure::new(kind, message));
        set.problems();
        let size = Value::Array(input.items.clone()).to_string().len();
        let mut told = Vec::new();
        for format in FORMATS {
            told.extend([false, true].map(|strict| Told { strict, ..Told::new(format) }));
        }
        let executions = told.len() as u64;
        for target in told {
            let converted = set.to(&target);
            let Ok(text) = serde_json::to_string(&set.declarations(&converted)) else {
                return fail("not written", format!("{target:?}"));
            };
            if text.len() > size * 50 + MOST_SCHEMAS * 100 {
                return fail("too large", format!("{} of {size} bytes for {target:?}", text.len()));
            }
            if !matches!(Scanner::new(0, 2000).scan(text.as_bytes(), true), ScanResult::Complete { .. }) {
                return fail("no JSON", format!("{target:?}: {text}"));
            }
            let names = set.names(&target);
            let spelt: HashSet<&str> = names.iter().map(|(spelt, _)| *spelt).collect();
            if spelt.len() < names.len() {
                return fail("names alike", format!("{target:?}: {names:?}"));
            }
            for (spelt, real) in names {
                match set.resolve(spelt) {
                    Resolution::Exact(tool) | Resolution::Resolved(tool) if tool.name == real => {}
                    other => {
                        return fail("name leads elsewhere", format!("{target:?}: {spelt:?} of {real:?} is {other:?}"));
                    }
                }
            }
        }
        let arguments = input.arguments.to_string();
        for tool in set.tools() {
            set.check(&tool.name, &arguments, None);
        }
        Ok(executions)
    }

    fn smaller(&self, input: &Input) -> Vec<Input> {
        let mut out = Vec::new();
        for value in smaller(&Value::Array(input.items.clone())) {
            if let Value::Array(items) = value {
                out.push(Input { items, ..input.clone() });
            }
        }
        out.extend(smaller(&input.arguments).into_iter().map(|arguments| Input { arguments, ..input.clone() }));
        out
    }

    fn show(&self, input: &Input) -> String {
        json!({"source": "fuzz", "items": input.items, "arguments": input.arguments}).to_string()
    }
}
