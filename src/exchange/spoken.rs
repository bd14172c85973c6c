//! Tools and calls in the text of messages, for models that do not get them natively.
use crate::provider::{Message, with_calls_as};
use crate::schema::ToolSet;
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
    with_calls_as(messages, "auto".into(), write).unwrap_or_else(|_| messages.to_vec())
}
