//! What to tell the model about a call that was not run.
use super::{Tool, ToolSet};
use crate::turn::{CallStatus, ToolCall};
use std::fmt::Write;

/// A schema longer than this is not repeated to the model.
const MAX_SCHEMA: usize = 4000;
/// Tools listed when a name means none of them.
const MAX_NAMES: usize = 30;

impl ToolSet {
    /// What to send back to the model for a call that must not run: what was wrong, the schema that was expected, the
    /// names that it may have meant. `None` for a call that may run.
    pub fn error_message(&self, call: &ToolCall<'_>) -> Option<String> {
        error_message(call, Some(self))
    }
}

/// The same, where the tools may not be at hand.
pub(crate) fn error_message(call: &ToolCall<'_>, tools: Option<&ToolSet>) -> Option<String> {
    let name = &call.name;
    let tool = tools.and_then(|tools| tools.get(name));
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = match call.status {
        CallStatus::Ok | CallStatus::Repaired => return None,
        CallStatus::Invalid => {
            let _ = write!(text, "The call of {name:?} was not run: its arguments do not fit the tool's schema.");
            for error in &call.errors {
                let place = if error.pointer.is_empty() { "the arguments" } else { &error.pointer };
                let _ = write!(text, "\n- {place}: {}", error.message);
            }
            expected(&mut text, tool)
        }
        CallStatus::Malformed => {
            let _ = write!(
                text,
                "The call of {name:?} was not run: its arguments could not be read. They must be one JSON object."
            );
            expected(&mut text, tool)
        }
        CallStatus::Incomplete => write!(
            text,
            "The call of {name:?} was not run: it was cut off before its end. Send the whole call again, with shorter \
             arguments if it was cut for its length."
        ),
        CallStatus::UnknownTool => {
            let _ = write!(text, "There is no tool called {name:?}, so nothing was run.");
            match tools {
                None => Ok(()),
                Some(tools) => {
                    let near: Vec<String> = tools.nearest(name).iter().map(|near| format!("{near:?}")).collect();
                    if !near.is_empty() {
                        let _ = write!(text, " Did you mean {}?", near.join(" or "));
                    }
                    let all: Vec<&str> = tools.tools().iter().map(|tool| tool.name.as_str()).take(MAX_NAMES).collect();
                    let more = if tools.tools().len() > MAX_NAMES { ", …" } else { "" };
                    write!(text, "\nThe tools are: {}{more}", all.join(", "))
                }
            }
        }
    };
    Some(text)
}

fn expected(text: &mut String, tool: Option<&Tool>) -> std::fmt::Result {
    let Some(tool) = tool else { return Ok(()) };
    let schema = tool.schema.to_string();
    if schema.len() <= MAX_SCHEMA {
        return write!(text, "\nThe arguments of {:?} must match this JSON Schema: {schema}", tool.name);
    }
    let names: Vec<&str> = tool.parameters.iter().map(|(name, _)| name.as_str()).collect();
    write!(text, "\nThe parameters of {:?} are: {}", tool.name, names.join(", "))
}
