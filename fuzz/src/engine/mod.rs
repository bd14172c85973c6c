//! The engine: whatever the text, the dialect and the policy, it ends and does not panic; a stream says the same as the whole text, in
//! its turn and in its events; and no word of the text is lost or doubled.
mod generate;
mod planted;

use super::options::options;
use super::reduce::shorter;
use super::stream::{same, snapshot};
use super::{Failure, Source, Target};
use serde_json::{Value, json};
use std::sync::Arc;
use toolglot::dialect::Dialects;
use toolglot::engine::{Fences, Options, Policy, ReasoningCalls, StartsIn, UnknownTools, extract};
use toolglot::explain::explain;
use toolglot::schema::ToolSet;

/// The engine as a fuzz target.
#[derive(Debug)]
pub struct Engine;

/// Tools as they are declared, and as they are used.
#[derive(Debug)]
pub struct Tools {
    declared: Vec<Value>,
    set: Arc<ToolSet>,
}

/// How a text is cut into chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cuts {
    /// At these bytes; fed as text if that is asked for, and no character is cut.
    At { places: Vec<usize>, as_text: bool },
    /// Behind each character, each byte, and into two at each byte: what a stored case is read by.
    Everywhere,
}

/// A text, and how it is read.
#[derive(Debug, Clone)]
pub struct Input {
    dialect: String,
    dialects: Arc<Dialects>,
    tools: Option<Arc<Tools>>,
    options: Options,
    text: String,
    /// Words that occur once in the text.
    planted: Vec<String>,
    cuts: Cuts,
}

impl Input {
    /// The input that a line of `tests/data/fuzz` describes, read in every way it can be cut.
    ///
    /// # Panics
    /// If the line is no case.
    pub fn from_case(case: &Value) -> Self {
        let dialect = case["dialect"].as_str().unwrap_or("auto").to_owned();
        let declared = case["tools"].as_array().cloned();
        let tools = declared.map(|declared| {
            let set = Arc::new(ToolSet::from_values(&declared).expect("tools"));
            Arc::new(Tools { declared, set })
        });
        let words = case["planted"].as_array().into_iter().flatten();
        Self {
            dialects: named(&dialect),
            dialect,
            tools,
            options: options(case),
            text: case["text"].as_str().expect("text").to_owned(),
            planted: words.map(|word| word.as_str().expect("a word").to_owned()).collect(),
            cuts: Cuts::Everywhere,
        }
    }

    fn with_text(&self, text: String) -> Self {
        let length = text.len();
        let mut smaller = Self { text, ..self.clone() };
        smaller.planted.retain(|word| smaller.text.contains(word.as_str()));
        if let Cuts::At { places, as_text } = &mut smaller.cuts {
            places.retain(|at| *at <= length && (!*as_text || smaller.text.is_char_boundary(*at)));
        }
        smaller
    }
}

fn named(dialect: &str) -> Arc<Dialects> {
    if dialect == "auto" { Dialects::auto() } else { Dialects::named(dialect).expect("a dialect") }
}

impl Target for Engine {
    type Input = Input;

    fn name(&self) -> &'static str {
        "engine"
    }

    fn generate(&self, source: &mut Source<'_>) -> Input {
        generate::input(source)
    }

    fn check(&self, input: &Input) -> Result<u64, Failure> {
        let Input { dialects, options, text, .. } = input;
        let tools = input.tools.as_ref().map(|tools| &tools.set);
        let whole = snapshot(extract(text, dialects, tools.map(|set| &**set), options));
        planted::check(text, &input.planted, &whole)?;
        let bytes = text.as_bytes();
        let setting = (dialects, tools, options);
        let stream = |pieces: &mut dyn Iterator<Item = &[u8]>, as_text: bool, how: &str| {
            same(setting, &whole, pieces, as_text).map_err(|message| {
                let kind = if message.starts_with("the turns differ") { "turns differ" } else { "events differ" };
                Failure::new(kind, format!("{how}: {message}"))
            })
        };
        let letters = text.char_indices().map(|(at, letter)| &bytes[at..at + letter.len_utf8()]);
        stream(&mut letters.clone(), true, "by character")?;
        match &input.cuts {
            Cuts::At { places, as_text } => {
                let ends = places.iter().copied().chain([bytes.len()]);
                let mut start = 0;
                let mut pieces = ends.map(|end| &bytes[std::mem::replace(&mut start, end)..end]);
                stream(&mut pieces, *as_text, "in pieces")?;
                Ok(3)
            }
            Cuts::Everywhere => {
                stream(&mut bytes.chunks(1), false, "by byte")?;
                for at in 0..=bytes.len() {
                    for as_text in [true, false] {
                        let mut pieces = [&bytes[..at], &bytes[at..]].into_iter();
                        stream(&mut pieces, as_text, &format!("cut at {at}"))?;
                    }
                }
                let explained = snapshot(explain(text, dialects, tools.map(|set| &**set), options).turn);
                if explained != whole {
                    let message = format!("explained: {explained:?}\n  complete: {whole:?}");
                    return Err(Failure::new("explain differs", message));
                }
                Ok(4 + 2 * bytes.len() as u64)
            }
        }
    }

    fn smaller(&self, input: &Input) -> Vec<Input> {
        let mut smaller = Vec::new();
        if input.options != Options::default() {
            smaller.push(Input { options: Options::default(), ..input.clone() });
            let Options { starts_in, policy } = &input.options;
            let with = |change: &dyn Fn(&mut Policy)| {
                let mut policy = policy.clone();
                change(&mut policy);
                Input { options: Options { starts_in: *starts_in, policy }, ..input.clone() }
            };
            let default = Policy::default();
            let candidates = [
                Input { options: Options { starts_in: StartsIn::Content, policy: policy.clone() }, ..input.clone() },
                with(&|policy| policy.fences = default.fences),
                with(&|policy| policy.reasoning = default.reasoning),
                with(&|policy| policy.unknown_tools = default.unknown_tools),
                with(&|policy| policy.max_calls = default.max_calls),
                with(&|policy| policy.max_depth = default.max_depth),
                with(&|policy| policy.max_arguments_bytes = default.max_arguments_bytes),
                with(&|policy| policy.max_markup_bytes = default.max_markup_bytes),
            ];
            smaller.extend(candidates.into_iter().filter(|candidate| candidate.options != input.options));
        }
        if input.tools.is_some() {
            smaller.push(Input { tools: None, ..input.clone() });
        }
        for word in &input.planted {
            let planted = input.planted.iter().filter(|other| *other != word).cloned().collect();
            smaller.push(Input { planted, ..input.clone() });
        }
        if let Cuts::At { places, as_text } = &input.cuts {
            let half = places.len().div_ceil(2);
            let kept = [places.get(half..), places.get(..half)].into_iter().flatten().map(<[usize]>::to_vec);
            let few = if places.len() > 40 { 0 } else { places.len() };
            let without = (0..few).map(|left_out| [&places[..left_out], &places[left_out + 1..]].concat());
            let fewer = kept.chain(without).filter(|fewer| fewer.len() < places.len());
            smaller.extend(fewer.map(|places| Input { cuts: Cuts::At { places, as_text: *as_text }, ..input.clone() }));
        }
        smaller.extend(shorter(&input.text).into_iter().map(|text| input.with_text(text)));
        smaller
    }

    fn show(&self, input: &Input) -> String {
        let mut case = json!({"source": "fuzz", "dialect": input.dialect, "text": input.text});
        if let Some(tools) = &input.tools {
            case["tools"] = tools.declared.clone().into();
        }
        if input.options.starts_in == StartsIn::Reasoning {
            case["starts_in"] = "reasoning".into();
        }
        let policy = policy(&input.options.policy);
        if policy != json!({}) {
            case["policy"] = policy;
        }
        if !input.planted.is_empty() {
            case["planted"] = json!(input.planted);
        }
        if let Cuts::At { places, as_text } = &input.cuts {
            case["cuts"] = json!(places);
            case["as_text"] = json!(as_text);
        }
        case.to_string()
    }
}

/// What of a policy is not the default, as `options` reads it.
fn policy(policy: &Policy) -> Value {
    let (mut written, default) = (json!({}), Policy::default());
    match policy.fences {
        Fences::Calls => {}
        Fences::Last => written["fences"] = "last".into(),
        Fences::Ignore => written["fences"] = "ignore".into(),
    }
    match policy.reasoning {
        ReasoningCalls::IfUnclosed => {}
        ReasoningCalls::Ignore => written["reasoning"] = "ignore".into(),
        ReasoningCalls::Run => written["reasoning"] = "run".into(),
    }
    match policy.unknown_tools {
        UnknownTools::Flag => {}
        UnknownTools::Text => written["unknown_tools"] = "text".into(),
        UnknownTools::Allow => written["unknown_tools"] = "allow".into(),
    }
    for (name, value, usual) in [
        ("max_calls", policy.max_calls, default.max_calls),
        ("max_depth", policy.max_depth, default.max_depth),
        ("max_arguments_bytes", policy.max_arguments_bytes, default.max_arguments_bytes),
        ("max_markup_bytes", policy.max_markup_bytes, default.max_markup_bytes),
    ] {
        if value != usual {
            written[name] = value.into();
        }
    }
    written
}
