//! Reading tools in whatever shape they come: the shape is detected per item.
use super::{Tool, ToolSource, openapi, pointer};
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
    pub(super) fn read(&mut self, item: &Value, server: Option<&str>, place: &str) {
        if let Err(error) = self.item(item, server, place) {
            self.problems.push(error);
        }
    }

    fn item(&mut self, item: &Value, server: Option<&str>, place: &str) -> Result<(), Error> {
        let bad = |message: String| Error::at(ErrorCode::BadTool, place, message);
        let Value::Object(map) = item else {
            return Err(bad(format!("a tool is an object, not {}", kind(item))));
        };
        if deeper_than(item, MAX_DEPTH) {
            return Err(bad(format!("{}the declaration is nested deeper than {MAX_DEPTH} levels", name_of(map))));
        }
        // Lists of tools inside an item: Gemini's declarations, Bedrock's toolConfig, MCP's tools/list result.
        for key in ["functionDeclarations", "function_declarations", "tools"] {
            if let Some(Value::Array(items)) = map.get(key) {
                for (i, inner) in items.iter().enumerate() {
                    self.read(inner, server, &format!("{place}/{key}/{i}"));
                }
                return Ok(());
            }
        }
        if let Some(Value::Object(spec)) = map.get("toolSpec") {
            return self.declaration(spec, map, server, &format!("{place}/toolSpec"));
        }
        if let Some(definition) = map.get("definition") {
            return self.registered(map, definition, server, place);
        }
        if let Some(Value::Object(function)) = map.get("function") {
            return self.declaration(function, map, server, &format!("{place}/function"));
        }
        self.declaration(map, map, server, place)
    }

    /// The registry shape `{name, server, enabled, definition}`.
    fn registered(
        &mut self,
        entry: &Map<String, Value>,
        definition: &Value,
        server: Option<&str>,
        place: &str,
    ) -> Result<(), Error> {
        if entry.get("enabled") == Some(&Value::Bool(false)) {
            return Ok(());
        }
        let server = entry.get("server").and_then(Value::as_str).filter(|s| !s.is_empty()).or(server);
        let place = format!("{place}/definition");
        let Value::Object(definition) = definition else {
            return Err(Error::at(
                ErrorCode::BadTool,
                place,
                format!("a definition is an object, not {}", kind(definition)),
            ));
        };
        let function = definition.get("function").and_then(Value::as_object);
        let mut body = function.unwrap_or(definition).clone();
        if let Some(name) = entry.get("name") {
            body.insert("name".to_owned(), name.clone());
        }
        self.declaration(&body, entry, server, &place)
    }

    /// One declaration with its name; `outer` is the item it stands in.
    fn declaration(
        &mut self,
        body: &Map<String, Value>,
        outer: &Map<String, Value>,
        server: Option<&str>,
        place: &str,
    ) -> Result<(), Error> {
        let bad = |place: String, message: String| Err(Error::at(ErrorCode::BadTool, place, message));
        let name = match body.get("name") {
            Some(Value::String(name)) if !name.trim().is_empty() => name,
            Some(Value::String(_)) => return bad(format!("{place}/name"), "the tool's name is empty".to_owned()),
            Some(other) => {
                return bad(format!("{place}/name"), format!("a tool's name is a string, not {}", kind(other)));
            }
            None => return bad(place.to_owned(), "a tool needs a name".to_owned()),
        };
        if outer.get("enabled") == Some(&Value::Bool(false)) {
            return Ok(());
        }
        let found = SCHEMA_KEYS.iter().find_map(|key| body.get(*key).filter(|v| !v.is_null()).map(|v| (*key, v)));
        if found.is_none() && !body.contains_key("parameter_definitions") {
            if let Some(kind) = runs_elsewhere(outer) {
                return bad(
                    place.to_owned(),
                    format!("{name:?} is of type {kind:?}, which takes no JSON arguments from the model"),
                );
            }
        }
        let schema = match found {
            None => match body.get("parameter_definitions") {
                Some(Value::Object(definitions)) => cohere_v1(definitions),
                _ => json!({"type": "object", "properties": {}}),
            },
            Some((key, schema)) => {
                let mut place = format!("{place}/{key}");
                // Bedrock wraps: {"json": schema}.
                let schema = match schema.get("json").filter(|_| key == "inputSchema" && schema.get("type").is_none()) {
                    Some(inner) => {
                        place.push_str("/json");
                        inner
                    }
                    None => schema,
                };
                match schema {
                    Value::Object(map) if key == "parameters" && openapi::is_openapi(map) => {
                        openapi::to_json_schema(schema)
                    }
                    Value::Object(_) => schema.clone(),
                    Value::Bool(true) => json!({"type": "object"}),
                    Value::Null => json!({"type": "object", "properties": {}}),
                    Value::String(text) => match serde_json::from_str(text) {
                        Ok(parsed @ Value::Object(_)) => parsed,
                        _ => return bad(place, format!("the schema of {name:?} is text, but no JSON object")),
                    },
                    other => return bad(place, format!("the schema of {name:?} is an object, not {}", kind(other))),
                }
            }
        };
        let description = body.get("description").and_then(Value::as_str).unwrap_or_default();
        let mut tool = Tool::new(name.clone(), description.to_owned(), schema);
        tool.source = source(body, outer, server);
        self.tools.push(tool);
        Ok(())
    }
}

fn source(body: &Map<String, Value>, outer: &Map<String, Value>, server: Option<&str>) -> ToolSource {
    let mut fields = Map::new();
    for (name, snake) in MCP_FIELDS {
        if let Some(value) = body.get(*name).or_else(|| body.get(*snake)).filter(|v| !v.is_null()) {
            fields.insert((*name).to_owned(), value.clone());
        }
    }
    ToolSource {
        server: (body.get("server").and_then(Value::as_str)).filter(|s| !s.is_empty()).or(server).map(str::to_owned),
        original: None,
        strict: body.get("strict").or_else(|| outer.get("strict")).and_then(Value::as_bool),
        fields,
    }
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

/// What is wrong with the references of `schema`: each with its place and a sentence. Such a reference means "anything".
pub(super) fn bad_references(schema: &Value, place: &str, problems: &mut Vec<Error>) {
    visit(schema, schema, &mut place.to_owned(), problems);
}

fn visit(at: &Value, root: &Value, place: &mut String, problems: &mut Vec<Error>) {
    let length = place.len();
    match at {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                let message = match pointer::resolve(root, reference) {
                    _ if !reference.starts_with('#') => Some("is not in this schema; nothing is fetched"),
                    None => Some("points to nothing"),
                    Some(target) if only_refers_to_itself(target, root) => Some("leads back to itself"),
                    Some(_) => None,
                };
                if let Some(message) = message {
                    let text = format!("the reference {reference:?} {message}; any value is taken here");
                    problems.push(Error::at(ErrorCode::BadSchema, format!("{place}/$ref"), text));
                }
            }
            for (key, value) in map {
                if !matches!(key.as_str(), "enum" | "const" | "default" | "examples" | "example") {
                    pointer::push(place, key);
                    visit(value, root, place, problems);
                    place.truncate(length);
                }
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                pointer::push(place, &i.to_string());
                visit(value, root, place, problems);
                place.truncate(length);
            }
        }
        _ => {}
    }
}

/// A chain of `$ref`s that comes back without ever reaching a schema.
fn only_refers_to_itself(start: &Value, root: &Value) -> bool {
    let mut at = start;
    for _ in 0..1000 {
        let Some(next) = at.get("$ref").and_then(Value::as_str).and_then(|r| pointer::resolve(root, r)) else {
            return false;
        };
        at = next;
    }
    true
}
