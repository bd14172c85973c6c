//! Reading tools in whatever shape they come: the shape is detected per item.
use super::convert::is_carried;
use super::plain::{Field, field};
use super::tool::{FREEFORM, INPUT};
use super::{Tool, ToolSource, openapi};
use crate::error::{Error, ErrorCode};
use serde_json::{Map, Value, json};

/// Nesting allowed in a declaration. JSON text cannot be deeper for the parsers used here either.
pub(super) const MAX_DEPTH: usize = 120;

/// The keys a schema of arguments goes by, and whether it is Gemini's OpenAPI subset rather than JSON Schema.
const SCHEMA_KEYS: &[&str] = &[
    "inputSchema",            // MCP, Bedrock (inside `json`)
    "input_schema",           // Anthropic, the Python `mcp` SDK
    "parametersJsonSchema",   // Gemini
    "parameters_json_schema", // Gemini's Python SDK
    "parameters",             // OpenAI and all who follow it; Gemini's own subset
];

/// Keys under which a schema is written by mistake. It is not read there: no API would, and to guess one call's meaning
/// from it is to judge by what the provider was never told.
const MISNAMED: &[&str] = &[
    "schema",
    "args",
    "arguments",
    "args_schema",
    "params",
    "properties",
    "input",
    "inputs",
    "parameter",
    "json_schema",
];

/// Keywords of JSON Schema whose value may be a schema itself, or hold some by name.
const MAPS: &[&str] = &[
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "items",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "$defs",
    "definitions",
    "dependentSchemas",
    "unevaluatedProperties",
];

/// MCP's fields beside name, description and inputSchema, with the Python SDK's spelling of each.
const MCP_FIELDS: &[(&str, &str)] = &[
    ("title", "title"),
    ("outputSchema", "output_schema"),
    ("annotations", "annotations"),
    ("icons", "icons"),
    ("execution", "execution"),
    ("_meta", "meta"),
];

/// Reads items into tools; what cannot be read becomes an error with its place, and its siblings are read all the same.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) tools: Vec<Tool>,
    pub(super) problems: Vec<Error>,
}

impl Reader {
    pub(super) fn read(&mut self, item: Value, server: Option<&str>, place: &str) {
        if let Err(error) = self.item(item, server, place) {
            self.problems.push(error);
        }
    }

    fn item(&mut self, item: Value, server: Option<&str>, place: &str) -> Result<(), Error> {
        let bad = |message: String| Error::at(ErrorCode::BadTool, place, message);
        if deeper_than(&item, MAX_DEPTH) {
            let name = item.as_object().map(name_of).unwrap_or_default();
            return Err(bad(format!("{name}the declaration is nested deeper than {MAX_DEPTH} levels")));
        }
        let mut map = match item {
            Value::Object(map) => map,
            other => return Err(bad(format!("a tool is an object, not {}", kind(&other)))),
        };
        // A namespace of Responses is to its tools what a server is.
        let namespace = (map.get("type").and_then(Value::as_str) == Some("namespace"))
            .then(|| map.get_mut("name").map(std::mem::take))
            .flatten();
        let server = namespace.as_ref().and_then(Value::as_str).filter(|name| !name.is_empty()).or(server);
        // Lists of tools inside an item: Gemini's declarations, Bedrock's toolConfig, MCP's tools/list result, Responses'
        // namespaces and `additional_tools`.
        for key in ["functionDeclarations", "function_declarations", "tools"] {
            if let Some(Value::Array(items)) = map.get_mut(key) {
                for (i, inner) in std::mem::take(items).into_iter().enumerate() {
                    self.read(inner, server, &format!("{place}/{key}/{i}"));
                }
                return Ok(());
            }
        }
        for key in ["toolSpec", "function", FREEFORM] {
            if let Some(Value::Object(body)) = map.get_mut(key) {
                let body = std::mem::take(body);
                return self.declaration(body, Some(&map), server, &format!("{place}/{key}"));
            }
        }
        if let Some(definition) = map.shift_remove("definition") {
            return self.registered(&map, definition, server, place);
        }
        self.declaration(map, None, server, place)
    }

    /// The registry shape `{name, server, enabled, definition}`.
    fn registered(
        &mut self,
        entry: &Map<String, Value>,
        definition: Value,
        server: Option<&str>,
        place: &str,
    ) -> Result<(), Error> {
        let server = entry.get("server").and_then(Value::as_str).filter(|s| !s.is_empty()).or(server);
        let place = format!("{place}/definition");
        let mut body = match definition {
            Value::Object(definition) => definition,
            _ if is_disabled(entry) => return Ok(()),
            other => {
                let message = format!("a definition is an object, not {}", kind(&other));
                return Err(Error::at(ErrorCode::BadTool, place, message));
            }
        };
        if let Some(Value::Object(function)) = body.get_mut("function") {
            body = std::mem::take(function);
        }
        if let Some(name) = entry.get("name") {
            body.insert("name".to_owned(), name.clone());
        }
        self.declaration(body, Some(entry), server, &place)
    }

    /// One declaration with its name; `outer` is the item that it stands in, if it is not the item itself.
    fn declaration(
        &mut self,
        mut body: Map<String, Value>,
        outer: Option<&Map<String, Value>>,
        server: Option<&str>,
        place: &str,
    ) -> Result<(), Error> {
        let bad = |place: String, message: String| Err(Error::at(ErrorCode::BadTool, place, message));
        let name = match body.get_mut("name") {
            Some(Value::String(name)) if !name.trim().is_empty() => std::mem::take(name),
            Some(Value::String(_)) => return bad(format!("{place}/name"), "the tool's name is empty".to_owned()),
            Some(other) => {
                let message = format!("a tool's name is a string, not {}", kind(other));
                return bad(format!("{place}/name"), message);
            }
            None => return bad(place.to_owned(), "a tool needs a name".to_owned()),
        };
        if is_disabled(outer.unwrap_or(&body)) {
            return Ok(());
        }
        let mut freeform = None;
        let found = SCHEMA_KEYS.iter().copied().find(|key| body.get(*key).is_some_and(|schema| !schema.is_null()));
        let schema = match found {
            Some(key) => {
                let schema = body.get_mut(key).map(std::mem::take).unwrap_or_default();
                read_schema(key, schema, &name, &format!("{place}/{key}"))?
            }
            None => match body.get("parameter_definitions") {
                Some(Value::Object(definitions)) => cohere_v1(definitions),
                _ => {
                    let kind = runs_elsewhere(outer.unwrap_or(&body));
                    if let Some(kind) = kind.filter(|kind| *kind != FREEFORM) {
                        let message =
                            format!("{name:?} is of type {kind:?}, which takes no JSON arguments from the model");
                        return bad(place.to_owned(), message);
                    }
                    if let Some((key, _)) =
                        body.iter().find(|(key, value)| MISNAMED.contains(&key.as_str()) && value.is_object())
                    {
                        let message = format!(
                            "{name:?} has no schema: {key:?} is no key for one, \"parameters\" or \"inputSchema\" is"
                        );
                        self.problems.push(Error::at(ErrorCode::BadSchema, format!("{place}/{key}"), message));
                    }
                    freeform = kind.is_some().then(|| format_of(&mut body));
                    match &freeform {
                        Some(format) => free_text(format),
                        None => json!({"type": "object", "properties": {}}),
                    }
                }
            },
        };
        if let Some(message) = bare_properties(&schema, &name) {
            let key = found.unwrap_or("parameter_definitions");
            self.problems.push(Error::at(ErrorCode::BadSchema, format!("{place}/{key}"), message));
        }
        let description = match body.get_mut("description") {
            Some(Value::String(text)) => std::mem::take(text),
            _ => String::new(),
        };
        let mut tool = Tool::new(name, description, schema);
        tool.source = ToolSource { freeform, ..source(&mut body, outer, server) };
        self.tools.push(tool);
        Ok(())
    }
}

/// What is wrong with a schema that is a map of parameters without `properties` round it: it allows anything.
pub(super) fn bare_properties(schema: &Value, name: &str) -> Option<String> {
    let map = schema.as_object().filter(|map| !map.is_empty())?;
    let parameter = |value: &Value| {
        let words = ["type", "description", "enum", "anyOf", "items", "properties", "$ref"];
        value.as_object().is_some_and(|value| words.iter().any(|word| value.contains_key(*word)))
    };
    let said = map.iter().all(|(key, value)| parameter(value) && !MAPS.contains(&key.as_str()));
    let first = map.keys().next()?;
    said.then(|| format!("{name:?} declares no parameters: {first:?} and its like belong in \"properties\""))
}

fn is_disabled(entry: &Map<String, Value>) -> bool {
    entry.get("enabled") == Some(&Value::Bool(false))
}

/// The schema under `key` as JSON Schema.
fn read_schema(key: &str, schema: Value, name: &str, place: &str) -> Result<Value, Error> {
    let bad = |message: String| Err(Error::at(ErrorCode::BadTool, place, message));
    match schema {
        // Bedrock wraps: {"json": schema}.
        Value::Object(mut map) if key == "inputSchema" && map.contains_key("json") && !map.contains_key("type") => {
            let inner = map.get_mut("json").map(std::mem::take).unwrap_or_default();
            read_schema("json", inner, name, &format!("{place}/json"))
        }
        Value::Object(map) if key == "parameters" && openapi::is_openapi(&map) => {
            Ok(openapi::to_json_schema(&Value::Object(map)))
        }
        schema @ Value::Object(_) => Ok(schema),
        Value::Bool(true) => Ok(json!({"type": "object"})),
        Value::Null => Ok(json!({"type": "object", "properties": {}})),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(parsed @ Value::Object(_)) => Ok(parsed),
            _ => bad(format!("the schema of {name:?} is text, but no JSON object")),
        },
        other => bad(format!("the schema of {name:?} is an object, not {}", kind(&other))),
    }
}

fn source(body: &mut Map<String, Value>, outer: Option<&Map<String, Value>>, server: Option<&str>) -> ToolSource {
    let mut fields = Map::new();
    for (name, snake) in MCP_FIELDS {
        let key = if body.contains_key(*name) { name } else { snake };
        if let Some(value) = body.get_mut(*key).map(std::mem::take).filter(|value| !value.is_null()) {
            fields.insert((*name).to_owned(), value);
        }
    }
    let strict = body.get("strict").or_else(|| outer?.get("strict")).and_then(Value::as_bool);
    let server = body.get("server").and_then(Value::as_str).filter(|s| !s.is_empty()).or(server).map(str::to_owned);
    // A registry's entry has a name of its own, and what it says besides is the registry's.
    let outer = outer.filter(|outer| !outer.contains_key("name"));
    let others = outer.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone()));
    let extra = std::mem::take(body).into_iter().chain(others).filter(|(key, value)| {
        let other = field(key.as_bytes()) == Some(Field::Other) || is_carried(key.as_bytes());
        other && key != "type" && key != FREEFORM && !value.is_null() && !MISNAMED.contains(&key.as_str())
    });
    ToolSource { server, original: None, strict, freeform: None, fields, extra: extra.collect() }
}

/// The format of a free-text tool as Responses writes it; Chat Completions has the grammar in an object of its own.
fn format_of(body: &mut Map<String, Value>) -> Value {
    let mut format = body.shift_remove("format").unwrap_or_default();
    if let Some(Value::Object(grammar)) = format.get_mut("grammar").map(std::mem::take)
        && let Some(format) = format.as_object_mut()
    {
        format.shift_remove("grammar");
        format.extend(grammar);
    }
    format
}

/// What a free-text tool of that `format` is to whoever knows none of them: a function with one string. Its calls are read as
/// that, too.
fn free_text(format: &Value) -> Value {
    let mut text = "The whole input, as plain text.".to_owned();
    if let Some(definition) = format.get("definition").and_then(Value::as_str) {
        let syntax = format.get("syntax").and_then(Value::as_str).unwrap_or("lark");
        text = format!("{text} It must match this {syntax} grammar:\n{definition}");
    }
    let input = json!({"type": "string", "description": text});
    json!({"type": "object", "properties": {INPUT: input}, "required": [INPUT], "additionalProperties": false})
}

/// The type of a tool that the provider runs itself or whose input is free text.
fn runs_elsewhere(outer: &Map<String, Value>) -> Option<&str> {
    outer.get("type").and_then(Value::as_str).filter(|kind| !matches!(*kind, "function" | "object" | "tool"))
}

/// Cohere's first API: `{"parameter_definitions": {name: {description, type, required}}}`, types in Python's words.
fn cohere_v1(definitions: &Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, definition) in definitions {
        let mut property = Map::new();
        match definition.get("type").and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
            Some("str") => drop(property.insert("type".into(), json!("string"))),
            Some("int") => drop(property.insert("type".into(), json!("integer"))),
            Some("float") => drop(property.insert("type".into(), json!("number"))),
            Some("bool") => drop(property.insert("type".into(), json!("boolean"))),
            Some(kind) if kind.starts_with("list") => drop(property.insert("type".into(), json!("array"))),
            Some(kind) if kind.starts_with("dict") => drop(property.insert("type".into(), json!("object"))),
            _ => {}
        }
        if let Some(description) = definition.get("description") {
            property.insert("description".into(), description.clone());
        }
        if definition.get("required") == Some(&Value::Bool(true)) {
            required.push(Value::String(name.clone()));
        }
        properties.insert(name.clone(), Value::Object(property));
    }
    json!({"type": "object", "properties": properties, "required": required})
}

fn name_of(map: &Map<String, Value>) -> String {
    let inner = map.get("function").and_then(|f| f.get("name"));
    match map.get("name").or(inner).and_then(Value::as_str) {
        Some(name) => format!("{name:?}: "),
        None => String::new(),
    }
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Whether `value` is nested deeper than `limit`; never recurses further than that.
pub(super) fn deeper_than(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit == 0 || items.iter().any(|item| deeper_than(item, limit - 1)),
        Value::Object(map) => limit == 0 || map.values().any(|item| deeper_than(item, limit - 1)),
        _ => false,
    }
}
