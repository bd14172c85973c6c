//! The wrapper that each format puts round name, description and schema, as data: every writer of declarations reads it.
//!
//! There are three, for what they write into: values of a set that was read and converted (`declare.rs`), the bytes of
//! plain tools in JSON text, and Python's dicts of plain tools.
use super::target::{Format, GeminiSchema, Target};

/// How a format wraps a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// `"type": "function"` stands first.
    pub(crate) typed: bool,
    /// The key of the object that holds name, description and schema; they stand in the declaration itself if there is
    /// none.
    pub(crate) inside: Option<&'static str>,
    /// The key of the schema.
    pub(crate) schema: &'static str,
    /// The key of an object of its own that the schema stands in.
    pub(crate) schema_in: Option<&'static str>,
    /// There is no schema where a tool takes no arguments.
    pub(crate) omits_empty: bool,
    /// When the declaration says whether it is strict.
    pub(crate) strict: SaysStrict,
    /// All declarations stand in one object, under this key.
    pub(crate) group: Option<&'static str>,
}

/// When a declaration says whether it is strict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SaysStrict {
    Never,
    Asked,
    /// Left out, the server tries strict by itself.
    Always,
}

const CHAT: Shape = Shape {
    typed: true,
    inside: Some("function"),
    schema: "parameters",
    schema_in: None,
    omits_empty: false,
    strict: SaysStrict::Never,
    group: None,
};

impl Target {
    /// The wrapper of this target; `None` for MCP, whose declarations say more than name, description and schema.
    pub(crate) fn shape(&self) -> Option<Shape> {
        Some(match self.format {
            Format::OpenAi | Format::OpenRouter | Format::Moonshot => Shape { strict: SaysStrict::Asked, ..CHAT },
            Format::Mistral | Format::Cohere | Format::Ollama | Format::LlamaCpp => CHAT,
            Format::OpenAiResponses => Shape { inside: None, strict: SaysStrict::Always, ..CHAT },
            Format::Anthropic => {
                Shape { typed: false, inside: None, schema: "input_schema", strict: SaysStrict::Asked, ..CHAT }
            }
            Format::Gemini => Shape {
                typed: false,
                inside: None,
                schema: match self.gemini_schema {
                    GeminiSchema::JsonSchema => "parametersJsonSchema",
                    GeminiSchema::Parameters => "parameters",
                },
                omits_empty: true,
                group: Some("functionDeclarations"),
                ..CHAT
            },
            Format::Bedrock => {
                Shape { typed: false, inside: Some("toolSpec"), schema: "inputSchema", schema_in: Some("json"), ..CHAT }
            }
            Format::Mcp => return None,
        })
    }
}

impl Shape {
    /// What stands before the name, before the schema and behind it, in JSON text of a declaration that is not strict.
    pub(crate) fn around(self) -> [String; 3] {
        let (mut before, mut between, mut behind) = (String::from("{"), String::new(), String::new());
        if self.typed {
            before.push_str(r#""type":"function","#);
        }
        if let Some(key) = self.inside {
            before.push_str(&format!("\"{key}\":{{"));
        }
        before.push_str("\"name\":");
        between.push_str(&format!(",\"{}\":", self.schema));
        if let Some(key) = self.schema_in {
            between.push_str(&format!("{{\"{key}\":"));
            behind.push('}');
        }
        if self.strict == SaysStrict::Always {
            behind.push_str(",\"strict\":false");
        }
        behind.push_str(if self.inside.is_some() { "}}" } else { "}" });
        [before, between, behind]
    }
}
