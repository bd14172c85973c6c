//! The body of a request of OpenAI's Chat Completions in each mode.
use super::config::ModelConfig;
use super::mode::Mode;
use crate::Error;
use crate::provider::{Provider, ResultOptions, ToolResult, text_results};
use crate::schema::convert::{Format, Target};
use crate::schema::{ToolSet, write_calls};
use serde_json::{Map, Value, json};

/// What is asked in all modes.
pub(super) struct Ask<'a> {
    pub(super) model: &'a str,
    pub(super) messages: &'a [Value],
    pub(super) tools: &'a ToolSet,
    pub(super) config: &'a ModelConfig,
    /// How calls are written in text mode.
    pub(super) dialect: &'a str,
    pub(super) tool_choice: Option<&'a Value>,
    pub(super) response_schema: Option<&'a Value>,
    pub(super) extra: &'a Map<String, Value>,
    pub(super) stream: bool,
}

impl Ask<'_> {
    /// Returns the body in a mode.
    ///
    /// # Errors
    /// As [`ToolSet::to_prompt`]: the dialect cannot be written.
    pub(super) fn body(&self, mode: Mode) -> Result<Value, Error> {
        let mut body = self.extra.clone();
        body.insert("model".into(), self.model.into());
        if self.stream {
            body.insert("stream".into(), true.into());
        }
        let offers = !self.tools.tools().is_empty();
        let mut prompt = self.config.instructions(mode);
        let mut messages = self.messages.to_vec();
        match mode {
            Mode::Native if offers => {
                let target = Target::new(Format::OpenAi);
                let tools = self.tools.declarations(&self.tools.to(&target)).to_value();
                body.insert("tools".into(), tools);
                if let Some(choice) = self.tool_choice {
                    body.insert("tool_choice".into(), choice.clone());
                }
            }
            _ if !offers => prompt.clear(),
            Mode::Native => {}
            Mode::Text => {
                put(&mut prompt, &self.tools.to_prompt(self.dialect)?);
                messages = as_text(&messages, self.dialect)?;
            }
            Mode::JsonSchema | Mode::JsonObject => {
                put(&mut prompt, &envelope_prompt(self.tools));
                messages = as_text(&messages, ENVELOPE)?;
                let format = match (mode, self.response_schema) {
                    (Mode::JsonSchema, Some(schema)) => json!({
                        "type": "json_schema",
                        "json_schema": { "name": "tool_calls", "strict": true, "schema": schema },
                    }),
                    _ => json!({ "type": "json_object" }),
                };
                body.insert("response_format".into(), format);
            }
        }
        if !prompt.is_empty() {
            in_system(&mut messages, &prompt);
        }
        body.insert("messages".into(), Value::Array(messages));
        Ok(Value::Object(body))
    }
}

/// The dialect of calls in the history where answers are envelopes.
const ENVELOPE: &str = "auto";

fn put(prompt: &mut String, text: &str) {
    if !prompt.is_empty() {
        prompt.insert_str(0, "\n\n");
    }
    prompt.insert_str(0, text);
}

/// The tools, and the object that an answer is in the JSON modes.
fn envelope_prompt(tools: &ToolSet) -> String {
    let mut out = String::from("You have these tools, one a line:\n");
    for tool in tools.tools() {
        let line = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
        out.push_str(&format!("{line}\n"));
    }
    out.push_str(
        "\nAnswer with one JSON object: {\"toolCalls\": [{\"name\": \"TOOL\", \"arguments\": {}}], \"content\": \"TEXT\"}. \
         In toolCalls stand the calls that you need the results of, in content what you say to the user; either may be empty.",
    );
    out
}

/// Puts text behind the first system message, or before all others.
fn in_system(messages: &mut Vec<Value>, prompt: &str) {
    let role = |message: &Value| message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(first) = messages.first_mut()
        && matches!(role(first).as_str(), "system" | "developer")
    {
        match first.get_mut("content") {
            Some(Value::String(text)) => {
                text.push_str("\n\n");
                text.push_str(prompt);
                return;
            }
            Some(Value::Array(parts)) => {
                parts.push(json!({ "type": "text", "text": prompt }));
                return;
            }
            _ => {}
        }
    }
    messages.insert(0, json!({ "role": "system", "content": prompt }));
}

/// Returns a history without tool calls: the calls as text of the assistant's, their results as a user's message.
fn as_text(messages: &[Value], dialect: &str) -> Result<Vec<Value>, Error> {
    let mut out = Vec::new();
    let mut names: Map<String, Value> = Map::new();
    let mut results: Vec<ToolResult> = Vec::new();
    let flush = |results: &mut Vec<ToolResult>, out: &mut Vec<Value>| {
        if !results.is_empty() {
            let options = ResultOptions { harden: true, ..ResultOptions::default() };
            out.push(text_results(std::mem::take(results), dialect, &options));
        }
    };
    for message in messages {
        let text = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("role") == "tool" {
            let id = text("tool_call_id");
            let name = names.get(id).and_then(Value::as_str).unwrap_or_default();
            results.push(ToolResult::new(id, name, message.get("content").unwrap_or(&Value::Null), false));
            continue;
        }
        flush(&mut results, &mut out);
        let Some(calls) = message.get("tool_calls").and_then(Value::as_array).filter(|calls| !calls.is_empty()) else {
            out.push(message.clone());
            continue;
        };
        let mut written = Vec::new();
        for call in calls {
            let part = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            names.insert(part("/id").to_owned(), part("/function/name").into());
            written.push((part("/function/name"), part("/function/arguments")));
        }
        let calls = write_calls(written, dialect)?;
        let said = text("content");
        let content = if said.is_empty() { calls } else { format!("{said}\n{calls}") };
        out.push(json!({ "role": "assistant", "content": content }));
    }
    flush(&mut results, &mut out);
    Ok(out)
}

/// The messages that tell a model what was wrong with the calls of its answer: a result for each that can go back, and words
/// for those that cannot.
pub(super) fn correction(turn: &crate::turn::Turn<'_>, tools: &ToolSet) -> Vec<Value> {
    let mut out = vec![crate::provider::assistant_message(turn, Provider::OpenAi)];
    let mut rest = Vec::new();
    for call in &turn.tool_calls {
        let said = tools.error_message(call, None);
        let why = said.unwrap_or_else(|| "not run: another call of this answer is wrong. Call again.".to_owned());
        if call.status.readable() {
            out.push(json!({ "role": "tool", "tool_call_id": call.id, "content": why }));
        } else {
            rest.push(why);
        }
    }
    if !rest.is_empty() {
        out.push(json!({ "role": "user", "content": rest.join("\n") }));
    }
    // A message of which nothing can go back says nothing.
    out.retain(|message| message.get("content").is_some_and(|c| !c.is_null()) || message.get("tool_calls").is_some());
    out
}
