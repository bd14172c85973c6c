//! What to tell the model about a call that was not run.
use super::convert::Target;
use super::judge::Judge;
use super::{Tool, ToolSet};
use crate::turn::{ArgumentError, Arguments, CallStatus, ToolCall};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// A schema longer than this is not repeated to the model.
const MAX_SCHEMA: usize = 4000;
/// Tools listed when a name means none of them.
const MAX_NAMES: usize = 30;

impl ToolSet {
    /// What to send back to the model for a call that must not run: what was wrong, the schema that was expected, the
    /// names that it may have meant. `None` for a call that may run. Where the call came from a provider, `target` has tools and
    /// members called as that was told them.
    pub fn error_message(&self, call: &ToolCall<'_>, target: Option<&Target>) -> Option<String> {
        error_message(call, Some(self), target)
    }
}

/// The same, where the tools may not be at hand.
pub(crate) fn error_message(call: &ToolCall<'_>, tools: Option<&ToolSet>, target: Option<&Target>) -> Option<String> {
    let words = Words { tools, target };
    let tool = tools.and_then(|tools| tools.get(&call.name));
    let name = words.of_tool(&call.name);
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = match call.status {
        CallStatus::Ok | CallStatus::Repaired => return None,
        CallStatus::Invalid => {
            let _ = write!(text, "The call of {name:?} was not run: its arguments do not fit the tool's schema.");
            let schema = tool.and_then(|tool| words.schema(tool));
            for error in words.errors(call, schema.as_ref()).iter() {
                let place = if error.pointer.is_empty() { "the arguments" } else { &error.pointer };
                let _ = write!(text, "\n- {place}: {}", error.message);
            }
            words.expected(&mut text, tool)
        }
        CallStatus::Malformed => {
            let _ = write!(
                text,
                "The call of {name:?} was not run: its arguments could not be read. They must be one JSON object."
            );
            words.expected(&mut text, tool)
        }
        CallStatus::Incomplete => write!(
            text,
            "The call of {name:?} was not run: it was cut off before its end. Send the whole call again, with shorter \
             arguments if it was cut for its length."
        ),
        CallStatus::UnknownTool => {
            let _ = write!(text, "There is no tool called {:?}, so nothing was run.", call.name);
            match tools {
                None => Ok(()),
                Some(tools) => {
                    let near = tools.nearest(&call.name);
                    let near: Vec<String> = near.iter().map(|near| format!("{:?}", words.of_tool(near))).collect();
                    if !near.is_empty() {
                        let _ = write!(text, " Did you mean {}?", near.join(" or "));
                    }
                    let all = tools.tools().iter().map(|tool| words.of_tool(&tool.name)).take(MAX_NAMES);
                    let all = all.collect::<Vec<_>>().join(", ");
                    let more = if tools.tools().len() > MAX_NAMES { ", …" } else { "" };
                    write!(text, "\nThe tools are: {all}{more}")
                }
            }
        }
    };
    Some(text)
}

/// The names that the model was told.
#[derive(Clone, Copy)]
struct Words<'t> {
    tools: Option<&'t ToolSet>,
    target: Option<&'t Target>,
}

impl<'t> Words<'t> {
    /// The tool `name`, which is one of those offered; any other stays as the model wrote it.
    fn of_tool<'n>(self, name: &'n str) -> Cow<'n, str>
    where
        't: 'n,
    {
        match (self.tools, self.target) {
            (Some(tools), Some(target)) if tools.get(name).is_some() => target.told(Some(tools), name),
            _ => Cow::Borrowed(name),
        }
    }

    /// The tool's schema, where its members were told under other names.
    fn schema(self, tool: &Tool) -> Option<Value> {
        self.target.and_then(|target| target.told_schema(tool))
    }

    /// What is wrong with the arguments of `call`, of a tool with members that were told as `schema` has them.
    fn errors<'c>(self, call: &'c ToolCall<'_>, schema: Option<&Value>) -> Cow<'c, [ArgumentError]> {
        let told = || {
            let (tools, target, schema) = (self.tools?, self.target?, schema?);
            let arguments = target.told_arguments(tools, &call.name, &call.arguments);
            let arguments = arguments.map_or_else(|| call.arguments.to_json(), Cow::Owned);
            let errors = Judge::default().errors(schema, &serde_json::from_str(&arguments).ok()?);
            let same = errors.len() == call.errors.len()
                && errors.iter().zip(&call.errors).all(|(told, own)| told.keyword == own.keyword);
            same.then_some(errors)
        };
        told().map_or(Cow::Borrowed(&call.errors), Cow::Owned)
    }

    fn expected(self, text: &mut String, tool: Option<&Tool>) -> std::fmt::Result {
        let Some(tool) = tool else { return Ok(()) };
        let (name, told) = (self.of_tool(&tool.name), self.schema(tool));
        let schema = told.as_ref().unwrap_or(&tool.schema).to_string();
        if schema.len() <= MAX_SCHEMA {
            return write!(text, "\nThe arguments of {name:?} must match this JSON Schema: {schema}");
        }
        write!(text, "\nThe parameters of {name:?} are: {}", self.parameters(tool).join(", "))
    }

    fn parameters(self, tool: &Tool) -> Vec<String> {
        let names = || tool.parameters.iter().map(|(name, _)| name.clone());
        let told = || {
            let members: serde_json::Map<_, _> = names().map(|name| (name, Value::Null)).collect();
            let members = Arguments::Json(Value::Object(members).to_string().into());
            let told = self.target?.told_arguments(self.tools?, &tool.name, &members)?;
            let told: serde_json::Map<String, Value> = serde_json::from_str(&told).ok()?;
            Some(told.into_iter().map(|(name, _)| name).collect())
        };
        told().unwrap_or_else(|| names().collect())
    }
}
