//! Tools and calls in the text of messages, for models that do not get them natively.
use crate::Error;
use crate::provider::{Message, Part, Provider, ResultOptions, Role, ToolResult, read_history, text_results};
use crate::schema::{ToolSet, write_calls};
use serde_json::{Value, json};

/// What an answer is in the JSON modes.
pub(super) const ENVELOPE: &str = "\
Answer with one JSON object: {\"toolCalls\": [{\"name\": \"TOOL\", \"arguments\": {}}], \"content\": \"TEXT\", \"needsMoreWork\": false}. \
In toolCalls stand the calls whose results you need, in content what you say to the user; either may be empty. needsMoreWork says \
whether you go on after this.";

/// What an answer is where the arguments of one call are asked for.
pub(super) const ARGUMENTS: &str = "Answer with one JSON object: the arguments of the call, nothing else.";

/// Returns the list of tools, one a line.
pub(super) fn tools(tools: &ToolSet) -> String {
    let mut out = String::from("You have these tools, one a line:");
    for tool in tools.tools() {
        let line = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
        out.push_str(&format!("\n{line}"));
    }
    out
}

/// Returns the messages with their calls written as `dialect` does, and the results in a user's message.
///
/// # Errors
/// As [`write_calls`].
pub(super) fn in_dialect(messages: &[Message], dialect: &str) -> Result<Vec<Message>, Error> {
    let write = |text: &str, calls: &[(String, String)]| {
        let calls = write_calls(calls.iter().map(|(name, arguments)| (&**name, &**arguments)), dialect)?;
        Ok(if text.is_empty() { calls } else { format!("{text}\n{calls}") })
    };
    as_text(messages, dialect, write)
}

/// Returns the messages with the model's answers as the envelopes that are asked for in the JSON modes.
pub(super) fn in_envelopes(messages: &[Message]) -> Vec<Message> {
    let write = |text: &str, calls: &[(String, String)]| {
        let call = |(name, arguments): &(String, String)| {
            let arguments: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            json!({ "name": name, "arguments": arguments })
        };
        let calls: Vec<_> = calls.iter().map(call).collect();
        Ok(json!({ "toolCalls": calls, "content": text, "needsMoreWork": true }).to_string())
    };
    as_text(messages, "auto", write).unwrap_or_else(|_| messages.to_vec())
}

/// `write` says what becomes of an answer's text and its calls, each a name and arguments.
fn as_text(
    messages: &[Message],
    dialect: &str,
    write: impl Fn(&str, &[(String, String)]) -> Result<String, Error>,
) -> Result<Vec<Message>, Error> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    let mut results: Vec<ToolResult> = Vec::new();
    for message in messages {
        // The results of one answer become one text, also if each has a message of its own.
        if message.role != Role::Tool {
            out.extend(results_message(std::mem::take(&mut results), dialect));
        }
        let mut message = message.clone();
        let (mut calls, mut rest) = (Vec::new(), Vec::new());
        for part in std::mem::take(&mut message.parts) {
            match part {
                Part::Call(call) => calls.push((call.name, call.arguments)),
                Part::Answer(answer) => {
                    let (id, name, parts, is_error) = (answer.id, answer.name, answer.parts, answer.is_error);
                    results.push(ToolResult { id, name, parts, is_error });
                }
                part => rest.push(part),
            }
        }
        message.parts = rest;
        if !calls.is_empty() {
            let text = write(&message.all_text(), &calls)?;
            message.parts.retain(|part| matches!(part, Part::Media(_)));
            message.parts.insert(0, Part::Text(text));
            // What a provider kept of the answer holds its calls.
            message.state.clear();
        }
        if message.role == Role::Tool && message.parts.is_empty() {
            continue;
        }
        if message.role == Role::Tool {
            message.role = Role::User;
        }
        out.push(message);
    }
    out.extend(results_message(results, dialect));
    Ok(out)
}

fn results_message(results: Vec<ToolResult>, dialect: &str) -> Vec<Message> {
    if results.is_empty() {
        return Vec::new();
    }
    let options = ResultOptions { harden: true, ..ResultOptions::default() };
    let message = text_results(results, dialect, &options);
    // A message that was just written can be read.
    read_history(&[message], None, Provider::OpenAi, None).unwrap_or_default()
}
