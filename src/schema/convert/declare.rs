//! Writing declarations: the wrapper that each format puts round name, description and schema.
use super::target::{Format, GeminiSchema};
use super::{Converted, openai};
use crate::schema::{Tool, ToolSet};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;

/// One tool as the target wants it; what is the tool's own is not repeated.
#[derive(Debug)]
pub(super) struct Declared {
    pub tool: usize,
    /// Its name there, where that is not the tool's own.
    pub name: Option<String>,
    /// Its schema there, where that is not the tool's own.
    pub parameters: Option<Value>,
    /// The tool takes no arguments.
    pub empty: bool,
    pub strict: bool,
}

/// The declarations of a set in the target's shape, ready to be serialized to JSON, values or Python objects.
///
/// A list, as the provider's `tools` takes it.
#[derive(Debug, Clone, Copy)]
pub struct Declarations<'c> {
    set: &'c ToolSet,
    converted: &'c Converted,
}

impl<'c> Declarations<'c> {
    pub(in crate::schema) fn new(set: &'c ToolSet, converted: &'c Converted) -> Self {
        Self { set, converted }
    }

    /// The declarations as a JSON value.
    pub fn to_value(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The declaration of each tool as JSON text.
    pub(in crate::schema) fn each_json(self) -> Vec<Vec<u8>> {
        self.each().map(|declaration| serde_json::to_vec(&declaration).unwrap_or_default()).collect()
    }

    /// Each declaration with its tool, for writers that take them one by one.
    fn each(self) -> impl Iterator<Item = Declaration<'c>> {
        self.converted.declared.iter().filter_map(move |declared| {
            let tool = self.set.tools().get(declared.tool)?;
            Some(Declaration { tool, declared, converted: self.converted })
        })
    }
}

impl Serialize for Declarations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.converted.target.format == Format::Gemini {
            let any = !self.converted.declared.is_empty();
            let mut list = serializer.serialize_seq(Some(usize::from(any)))?;
            if any {
                list.serialize_element(&OneTool(*self))?;
            }
            return list.end();
        }
        serializer.collect_seq(self.each())
    }
}

/// Gemini's one tool of all functions.
struct OneTool<'c>(Declarations<'c>);

impl Serialize for OneTool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("functionDeclarations", &Functions(self.0))?;
        map.end()
    }
}

struct Functions<'c>(Declarations<'c>);

impl Serialize for Functions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.each())
    }
}

#[derive(Clone, Copy)]
struct Declaration<'c> {
    tool: &'c Tool,
    declared: &'c Declared,
    converted: &'c Converted,
}

impl Declaration<'_> {
    fn name(&self) -> &str {
        self.declared.name.as_deref().unwrap_or(&self.tool.name)
    }

    fn schema(&self) -> &Value {
        self.declared.parameters.as_ref().unwrap_or(&self.tool.schema)
    }

    /// The description, as long as the target takes it; nothing if it is empty.
    fn description(&self) -> Option<&str> {
        let text = self.tool.description.as_str();
        let text = match self.converted.target.longest_description() {
            Some(most) if text.len() > openai::MAX_DESCRIPTION => {
                text.char_indices().nth(most).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
            }
            _ => text,
        };
        (!text.is_empty()).then_some(text)
    }

    fn strict(&self) -> Option<bool> {
        let asked = self.converted.target.strict;
        match self.converted.target.format {
            // Left out, the server tries strict by itself.
            Format::OpenAiResponses => Some(self.declared.strict),
            Format::OpenAi | Format::Anthropic | Format::OpenRouter if asked => Some(self.declared.strict),
            _ => None,
        }
    }

    /// The fields between the wrapper's braces.
    fn fields<M: SerializeMap>(&self, map: &mut M, schema_key: &'static str) -> Result<(), M::Error> {
        map.serialize_entry("name", self.name())?;
        if let Some(description) = self.description() {
            map.serialize_entry("description", description)?;
        }
        let omitted = self.declared.empty && self.converted.target.format == Format::Gemini;
        if !omitted {
            map.serialize_entry(schema_key, self.schema())?;
        }
        if let Some(strict) = self.strict() {
            map.serialize_entry("strict", &strict)?;
        }
        Ok(())
    }
}

impl Serialize for Declaration<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self.converted.target.format {
            Format::OpenAi
            | Format::Mistral
            | Format::Cohere
            | Format::Ollama
            | Format::LlamaCpp
            | Format::OpenRouter => {
                map.serialize_entry("type", "function")?;
                map.serialize_entry("function", &Function(*self))?;
            }
            Format::OpenAiResponses => {
                map.serialize_entry("type", "function")?;
                self.fields(&mut map, "parameters")?;
            }
            Format::Anthropic => self.fields(&mut map, "input_schema")?,
            Format::Gemini => self.fields(
                &mut map,
                match self.converted.target.gemini_schema {
                    GeminiSchema::JsonSchema => "parametersJsonSchema",
                    GeminiSchema::Parameters => "parameters",
                },
            )?,
            Format::Bedrock => map.serialize_entry("toolSpec", &Spec(*self))?,
            Format::Mcp => {
                let fields = &self.tool.source.fields;
                map.serialize_entry("name", self.name())?;
                for key in ["title"] {
                    if let Some(value) = fields.get(key) {
                        map.serialize_entry(key, value)?;
                    }
                }
                if let Some(description) = self.description() {
                    map.serialize_entry("description", description)?;
                }
                map.serialize_entry("inputSchema", self.schema())?;
                for (key, value) in fields.iter().filter(|(key, _)| *key != "title") {
                    map.serialize_entry(key, value)?;
                }
            }
        }
        map.end()
    }
}

struct Function<'c>(Declaration<'c>);

impl Serialize for Function<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.fields(&mut map, "parameters")?;
        map.end()
    }
}

/// Bedrock's `toolSpec`.
struct Spec<'c>(Declaration<'c>);

impl Serialize for Spec<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Json<'v>(&'v Value);
        impl Serialize for Json<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("json", self.0)?;
                map.end()
            }
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.0.name())?;
        if let Some(description) = self.0.description() {
            map.serialize_entry("description", description)?;
        }
        map.serialize_entry("inputSchema", &Json(self.0.schema()))?;
        map.end()
    }
}
