//! The schema of an answer that is JSON, for APIs that make a model keep to one: the envelope `{toolCalls, content,
//! needsMoreWork}` with the calls that a set allows, or the arguments of one tool.
//!
//! Facts: the SDKs' models of requests (`ResponseFormatJSONSchema`, Anthropic's `output_config`, Gemini's `responseJsonSchema`,
//! botocore's `OutputConfig`, Cohere's `JsonObjectResponseFormatV2`, Ollama's `format`).
use super::members::{fill, put};
use super::profile::{Profile, Strict};
use super::target::{Format, Target};
use super::{anthropic, bedrock, cohere, gemini, llama_cpp, moonshot, openai, openrouter, write};
use crate::error::{Error, ErrorCode};
use crate::schema::{Resolution, Tool, ToolSet};
use serde_json::{Map, Value, json};

struct Row {
    place: &'static [&'static str],
    /// The member: in it `"$schema"` stands for the schema, `"$text"` for its JSON text, `"$name"` for a name, `"$strict"` for
    /// whether the schema is one of the API's strict mode.
    member: &'static str,
    /// What the schema must be for the API to keep to it.
    strict: Option<&'static Profile>,
    /// What it is where the strict form cannot say it; the API refuses it then if there is none.
    loose: Option<&'static Profile>,
}

const CHAT: &str = r#"{"type":"json_schema","json_schema":{"name":"$name","strict":"$strict","schema":"$schema"}}"#;

/// Mistral's SDK closes every object of a schema that it sends (`rec_strict_json_schema`).
const CLOSED: Profile = Profile { strict: Strict::Closed, ..Profile::OPEN };

fn row(target: &Target) -> Option<Row> {
    let chat = |strict, loose| Row { place: &["response_format"], member: CHAT, strict, loose: Some(loose) };
    Some(match target.format {
        Format::OpenAi => chat(Some(&openai::STRICT), &openai::LOOSE),
        Format::OpenRouter => {
            let model = target.model.as_deref();
            chat(openrouter::strict_profile(model), openrouter::profile(model))
        }
        Format::Moonshot => chat(None, &moonshot::PROFILE),
        Format::Mistral => chat(Some(&CLOSED), &Profile::OPEN),
        Format::LlamaCpp => chat(Some(&llama_cpp::PROFILE), &llama_cpp::PROFILE),
        Format::OpenAiResponses => Row {
            place: &["text", "format"],
            member: r#"{"type":"json_schema","name":"$name","strict":"$strict","schema":"$schema"}"#,
            ..chat(Some(&openai::STRICT), &openai::LOOSE)
        },
        Format::Anthropic => Row {
            place: &["output_config", "format"],
            member: r#"{"type":"json_schema","schema":"$schema"}"#,
            strict: Some(&anthropic::STRICT),
            loose: None,
        },
        Format::Gemini => Row {
            place: &["generationConfig"],
            member: r#"{"responseMimeType":"application/json","responseJsonSchema":"$schema"}"#,
            ..chat(None, &gemini::JSON_SCHEMA)
        },
        Format::Cohere => {
            Row { member: r#"{"type":"json_object","json_schema":"$schema"}"#, ..chat(None, &cohere::PROFILE) }
        }
        // The schema becomes a grammar of llama.cpp's, and is not cut down as those of tools are.
        Format::Ollama => Row { place: &["format"], member: r#""$schema""#, ..chat(None, &llama_cpp::PROFILE) },
        Format::Bedrock => Row {
            place: &["outputConfig", "textFormat"],
            member: r#"{"type":"json_schema","structure":{"jsonSchema":{"name":"$name","schema":"$text"}}}"#,
            ..chat(Some(&anthropic::STRICT), &bedrock::PROFILE)
        },
        Format::Mcp => return None,
    })
}

impl ToolSet {
    /// The members of a request to `target` that make the model answer in JSON: with the envelope, whose calls are those that
    /// this set allows (`extract` reads it), or, if `tool` is given, with the arguments of that tool ([`ToolSet::check`] reads
    /// them).
    ///
    /// # Errors
    /// [`ErrorCode::BadOption`] if there are no tools, `tool` is none of them, or the API keeps to no schema of that kind.
    ///
    /// ```
    /// # use serde_json::json;
    /// use toolglot::schema::{ToolSet, convert::Target};
    /// let tools = ToolSet::from_values(&[json!({"name": "now", "inputSchema": {"type": "object", "properties": {}}})])?;
    /// let request = tools.response_schema(&Target::named("ollama")?, None)?;
    /// assert_eq!(request["format"]["required"], json!(["toolCalls", "content", "needsMoreWork"]));
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn response_schema(&self, target: &Target, tool: Option<&str>) -> Result<Value, Error> {
        let bad = |place: &str, message: String| Error::at(ErrorCode::BadOption, place, message);
        let row = row(target).ok_or_else(|| bad("provider", "MCP asks no model".to_owned()))?;
        let tools: Vec<&Tool> = match tool {
            None => self.tools().iter().collect(),
            Some(name) => match self.resolve(name) {
                Resolution::Exact(tool) | Resolution::Resolved(tool) => vec![tool],
                Resolution::Unknown => return Err(bad("tool", format!("{name:?} is no tool of this set"))),
            },
        };
        if tools.is_empty() {
            return Err(bad("tools", "there are no tools to call".to_owned()));
        }
        let made = |profile: &Profile| {
            let written: Vec<_> = tools.iter().map(|tool| write(&tool.schema, profile, target.describe)).collect();
            let reason = written.iter().zip(&tools).find_map(|(one, tool)| Some((tool, one.not_strict.clone()?)));
            let schemas: Vec<Value> = written.into_iter().map(|one| one.schema).collect();
            (schemas, reason)
        };
        let strict = row.strict.map(made);
        let (schemas, strict) = match (strict, row.loose) {
            (Some((schemas, None)), _) => (schemas, true),
            (_, Some(loose)) => (made(loose).0, false),
            (Some((_, Some((tool, reason)))), None) => {
                return Err(bad("tools", format!("the schema of {:?} cannot be kept to: {reason}", tool.name)));
            }
            (None, None) => return Err(bad("provider", "it keeps to no schema".to_owned())),
        };
        let (name, schema) = match (tool, schemas.as_slice()) {
            (Some(_), [schema]) => (tools.first().map_or("", |tool| target_name(self, target, tool)), schema.clone()),
            _ => ("tool_calls", envelope(&tools, schemas)),
        };
        let values = [
            ("$text", json!(schema.to_string())),
            ("$schema", schema),
            ("$name", json!(name)),
            ("$strict", json!(strict)),
        ];
        let mut request = Map::new();
        put(&mut request, row.place, fill(row.member, &values));
        Ok(Value::Object(request))
    }
}

fn target_name<'t>(set: &'t ToolSet, target: &Target, tool: &Tool) -> &'t str {
    set.position(&tool.name).map_or("", |position| target.spelling(set, position))
}

/// The envelope's schema. Definitions of all tools stand in one place, each under its tool's number.
fn envelope(tools: &[&Tool], schemas: Vec<Value>) -> Value {
    let mut definitions = Map::new();
    let mut calls = Vec::new();
    for (number, (tool, mut schema)) in tools.iter().zip(schemas).enumerate() {
        let prefix = format!("#/$defs/t{number}");
        let whole = moved(&mut schema, &prefix);
        if let Some(Value::Object(own)) = schema.as_object_mut().and_then(|schema| schema.shift_remove("$defs")) {
            definitions.extend(own.into_iter().map(|(name, part)| (format!("t{number}_{name}"), part)));
        }
        if whole {
            definitions.insert(format!("t{number}"), std::mem::replace(&mut schema, json!({"$ref": prefix})));
        }
        calls.push(json!({
            "type": "object",
            "properties": {"name": {"type": "string", "enum": [tool.name]}, "arguments": schema},
            "required": ["name", "arguments"],
            "additionalProperties": false,
        }));
    }
    let call = if let [call] = calls.as_mut_slice() { call.take() } else { json!({"anyOf": calls}) };
    let mut schema = json!({
        "type": "object",
        "properties": {
            "toolCalls": {"type": "array", "items": call, "description": "The tools to call now; empty if there is none."},
            "content": {"type": "string", "description": "What to tell the user."},
            "needsMoreWork": {"type": "boolean", "description": "Whether more is to be done after this."},
        },
        "required": ["toolCalls", "content", "needsMoreWork"],
        "additionalProperties": false,
    });
    if let (Value::Object(schema), false) = (&mut schema, definitions.is_empty()) {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    schema
}

/// Moves references of a tool's schema to where it stands in the envelope. Whether one of them leads to the schema itself, or
/// into it beside its definitions.
fn moved(schema: &mut Value, prefix: &str) -> bool {
    match schema {
        Value::Array(items) => items.iter_mut().fold(false, |any, item| moved(item, prefix) | any),
        Value::Object(members) => {
            let mut whole = false;
            for (key, member) in members {
                match member {
                    Value::String(reference) if key == "$ref" && reference.starts_with('#') => {
                        if let Some(name) = reference.strip_prefix("#/$defs/") {
                            *reference = format!("{prefix}_{name}");
                        } else {
                            whole = true;
                            *reference = format!("{prefix}{}", reference.trim_start_matches('#'));
                        }
                    }
                    // What only shows a value is none of the schema's references.
                    _ if matches!(key.as_str(), "enum" | "const" | "default" | "examples") => {}
                    member => whole |= moved(member, prefix),
                }
            }
            whole
        }
        _ => false,
    }
}
