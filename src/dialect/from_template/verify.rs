//! Reading back what a template has rendered: the proof that a dialect was understood.
use super::derive::Derivation;
use super::probe::Answer;
use crate::dialect::{Dialect, Dialects};
use crate::engine::{Options, StartsIn, StreamParser, extract};
use crate::schema::ToolSet;
use crate::turn::Turn;
use serde_json::{Value, json};
use std::sync::Arc;

/// The tools of the probes.
pub(super) fn tools() -> Value {
    let tool = |name: &str, properties: Value| {
        let parameters = json!({"type": "object", "properties": properties, "required": []});
        json!({"type": "function", "function": {"name": name, "description": "Does it.", "parameters": parameters}})
    };
    let typed = |t: &str| json!({"type": t, "description": "It."});
    json!([
        tool(
            "get_weather",
            json!({
                "city": typed("string"), "days": typed("integer"), "ratio": typed("number"), "ok": typed("boolean"),
                "opts": {"type": "object", "description": "It.", "properties": {"a": typed("integer"), "b": typed("string")}},
                "tags": {"type": "array", "description": "It.", "items": {"type": "string"}},
            })
        ),
        tool("list_files", json!({"path": typed("string"), "glob": typed("string")})),
        tool("ping", json!({})),
    ])
}

/// What is rendered and read back, by name.
pub(super) fn probes() -> Vec<(&'static str, Answer)> {
    let weather = |arguments: Value| ("get_weather", arguments);
    let files = || ("list_files", json!({"path": "/tmp/a b", "glob": "*.rs"}));
    vec![
        ("one call", Answer::calls([weather(json!({"city": "Paris"}))])),
        ("two arguments", Answer::calls([files()])),
        ("no arguments", Answer::calls([("ping", json!({}))])),
        ("a text with quotes", Answer::calls([weather(json!({"city": "Zürich \"x\", a {b} [c] <d>"}))])),
        ("a text of two lines", Answer::calls([weather(json!({"city": "first line\n  second: line"}))])),
        ("a number", Answer::calls([weather(json!({"days": 3, "ratio": 0.5}))])),
        ("a boolean", Answer::calls([weather(json!({"ok": true}))])),
        ("a text like a number", Answer::calls([weather(json!({"city": "42"}))])),
        ("an object", Answer::calls([weather(json!({"opts": {"a": 1, "b": "x"}, "city": "Oslo"}))])),
        ("a list", Answer::calls([weather(json!({"tags": ["x", "y z"], "days": 2}))])),
        ("two calls", Answer::calls([weather(json!({"city": "Rome"})), files()])),
        ("three calls", Answer::calls([files(), weather(json!({"days": 1})), ("ping", json!({}))])),
        ("content before a call", Answer::calls([weather(json!({"city": "Rome"}))]).content("Let me look.")),
        ("content before two calls", Answer::calls([files(), weather(json!({"days": 7}))]).content("Let me look.")),
        ("reasoning before a call", Answer::calls([weather(json!({"city": "Bern"}))]).reasoning("They want Bern.")),
        ("content alone", Answer::default().content("It is 3 o'clock.")),
        ("reasoning before content", Answer::default().content("It rains.").reasoning("They want rain.")),
    ]
}

/// The name of a probe that was rendered as two turns.
pub(super) const TWO_TURNS: &str = "content and calls in two turns";

/// A probe that was rendered.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) name: &'static str,
    pub(super) answer: Answer,
    pub(super) prompt: String,
    pub(super) text: String,
}

/// Renders the probes. One that the template refuses, or whose parts it does not write, is left out.
pub(super) fn samples(derivation: &Derivation<'_, '_>, probes: Vec<(&'static str, Answer)>) -> Vec<Sample> {
    let render = |(name, answer): (&'static str, Answer)| {
        let (prompt, text) = derivation.text(&answer).ok()?;
        let named = answer.calls.iter().all(|call| text.contains(call.name));
        let written = answer.reasoning.is_empty() || text.contains(answer.reasoning);
        let said = answer.content.is_empty() || text.contains(answer.content);
        // A template that writes content and calls as two turns does not show how a model writes both in one; some write both turns.
        let marks = super::cut::tags(&prompt);
        let mut header = marks.iter().rev().take(3).filter_map(|t| prompt.get(t.clone()));
        let again = header.any(|tag| !tag.contains("think") && text.contains(tag)) && !answer.calls.is_empty();
        let again = again && !answer.content.is_empty();
        let name = if again { TWO_TURNS } else { name };
        (named && written && said).then_some(Sample { name, answer, prompt, text })
    };
    probes.into_iter().filter_map(render).collect()
}

/// The prompt leaves reasoning open.
fn starts_in(dialect: &Dialect, prompt: &str) -> StartsIn {
    let open = dialect.reasoning.iter().any(|(open, close)| {
        prompt
            .rfind(open.as_str())
            .is_some_and(|at| !prompt.get(at + open.len()..).unwrap_or("").contains(close.as_str()))
    });
    if open { StartsIn::Reasoning } else { StartsIn::Content }
}

/// What a dialect reads wrong: the sample, and in what way.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) why: String,
}

/// Reads samples back by a dialect.
pub(super) fn verify(
    dialect: &Dialect,
    ready: &Arc<Dialects>,
    tools: &Arc<ToolSet>,
    samples: &[Sample],
) -> Vec<Failure> {
    let mut failures = Vec::new();
    for sample in samples {
        let options = Options { starts_in: starts_in(dialect, &sample.prompt), ..Options::default() };
        let turn = extract(&sample.text, ready, Some(tools), &options);
        // What a template writes where reasoning stands is reasoning, also where it was given as content.
        let thought = starts_in(dialect, &sample.prompt) == StartsIn::Reasoning || dialect.channels.is_some();
        let differs = |turn: &Turn<'_>| match differs(turn, &sample.answer) {
            Some(_) if thought && sample.answer.reasoning.is_empty() => {
                let mut turn = turn.clone();
                std::mem::swap(&mut turn.content, &mut turn.reasoning);
                differs(&turn, &sample.answer)
            }
            other => other,
        };
        let mut why = differs(&turn);
        if why.is_none() {
            let mut parser = StreamParser::new(Arc::clone(ready), Some(Arc::clone(tools)), options);
            let (mut events, mut bytes) = (Vec::new(), [0; 4]);
            for c in sample.text.chars() {
                parser.feed(c.encode_utf8(&mut bytes), &mut events);
            }
            why = differs(&parser.finish(&mut events)).map(|why| format!("streamed: {why}"));
        }
        if let Some(why) = why {
            failures.push(Failure { name: sample.name, text: sample.text.clone(), why });
        }
    }
    failures
}

fn differs(turn: &Turn<'_>, answer: &Answer) -> Option<String> {
    if turn.tool_calls.len() != answer.calls.len() {
        return Some(format!("{} calls were read, {} were written", turn.tool_calls.len(), answer.calls.len()));
    }
    for (read, written) in turn.tool_calls.iter().zip(&answer.calls) {
        if read.name != written.name {
            return Some(format!("{:?} was read as {:?}", written.name, read.name));
        }
        let arguments = read.arguments.to_value();
        if !same(&arguments, &written.arguments) {
            return Some(format!("the arguments {} were read as {arguments}", written.arguments));
        }
        if !read.runnable() {
            return Some(format!("the call to {:?} was read as {}", written.name, read.status.as_str()));
        }
    }
    if turn.content.trim() != answer.content {
        return Some(format!("the content {:?} was read as {:?}", answer.content, turn.content));
    }
    if turn.reasoning.trim() != answer.reasoning {
        return Some(format!("the reasoning {:?} was read as {:?}", answer.reasoning, turn.reasoning));
    }
    None
}

/// Equal but for the order of members and the spelling of numbers.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        (a, b) => a == b,
    }
}

/// Values that are hard to carry, for measuring.
#[cfg(test)]
pub(super) fn hard_probes() -> Vec<(&'static str, Answer)> {
    let city = |value: &str| Answer::calls([("get_weather", json!({"city": value}))]);
    vec![
        ("false", Answer::calls([("get_weather", json!({"ok": false}))])),
        ("empty text", city("")),
        ("spaces", city("  two  ")),
        ("python", city("None")),
        ("backslashes", city("C:\\p\\new \\d+")),
        ("json in text", city("{\"name\": \"ping\", \"arguments\": {}}")),
        ("marker in text", city("a </tool_call> b <think> c")),
        ("code", city("def f(x):\n\treturn [x, {'a': 1}]\n")),
        ("apostrophe", city("it's")),
        ("emoji", city("🙂 é ｜ 中")),
        ("nested", Answer::calls([("get_weather", json!({"opts": {"a": 1, "b": "x \"y\" z"}, "tags": []}))])),
        (
            "many",
            Answer::calls([(
                "get_weather",
                json!({"city": "x", "days": -1, "ratio": 1.25, "ok": true, "tags": ["a"]}),
            )]),
        ),
        ("same tool twice", Answer::calls([("ping", json!({})), ("ping", json!({}))])),
        ("lines of content", Answer::calls([("ping", json!({}))]).content("One.\n\n- two\n- three")),
        ("long reasoning", Answer::calls([("ping", json!({}))]).reasoning("One.\n\nTwo: {\"a\": [1]}.")),
    ]
}
