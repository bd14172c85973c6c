//! The set of tools offered in one turn.
use super::Tool;
use crate::error::{Error, ErrorCode};
use serde_json::Value;
use std::collections::HashMap;

/// What a name written by a model means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Resolution<'t> {
    /// An offered tool, spelt as offered.
    Exact(&'t Tool),
    /// The one offered tool that the spelling can mean.
    Resolved(&'t Tool),
    /// No tool, or more than one.
    Unknown,
}

/// The tools offered in one turn.
#[derive(Debug, Clone, Default)]
pub struct ToolSet {
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
}

impl ToolSet {
    /// Reads tools in OpenAI, Anthropic or MCP shape.
    pub fn from_values(items: &[Value]) -> Result<Self, Error> {
        let mut set = Self::default();
        for (i, item) in items.iter().enumerate() {
            let body = item.get("function").unwrap_or(item);
            let Some(name) = body.get("name").and_then(Value::as_str) else {
                return Err(Error::at(ErrorCode::BadTool, format!("/{i}"), "a tool needs a name"));
            };
            let schema = ["parameters", "inputSchema", "input_schema"].iter().find_map(|k| body.get(*k));
            let description = body.get("description").and_then(Value::as_str).unwrap_or_default();
            set.push(Tool::new(name.to_owned(), description.to_owned(), schema.cloned().unwrap_or(Value::Null)));
        }
        Ok(set)
    }

    fn push(&mut self, tool: Tool) {
        self.by_name.insert(tool.name.clone(), self.tools.len());
        self.tools.push(tool);
    }

    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).map(|i| &self.tools[*i])
    }

    /// What `written` means: an offered name, another spelling of exactly one, or nothing.
    pub fn resolve(&self, written: &str) -> Resolution<'_> {
        match self.get(written) {
            Some(tool) => Resolution::Exact(tool),
            None => Resolution::Unknown,
        }
    }
}
