//! The tools of a client's request: what it declares, and which of them the model may call.
use super::super::error::{WireCode, WireError};
use super::super::{ClientApi, quirks};
use super::Losses;
use crate::provider::Node;
use crate::schema::{Builder, ToolSet};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How the client knows a tool that is offered under another name or in another form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Kind {
    /// Its name there.
    pub(crate) name: String,
    /// The namespace that it is in.
    pub(crate) namespace: Option<String>,
    /// It takes free text.
    pub(crate) custom: bool,
}

/// The tools that were declared.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) set: Option<Arc<ToolSet>>,
    /// By the name in `set`; only those that the client knows otherwise.
    pub(crate) kinds: HashMap<String, Kind>,
    /// Every name in the request's own spelling.
    pub(crate) names: HashSet<String>,
}

/// One tool on its way into the set.
struct Item {
    name: String,
    value: Value,
    place: String,
    kind: Option<Kind>,
}

/// Reads the declarations of `body`. `only`: the names that may be called, if not all. `joins`: names are joined with those of
/// their namespaces, since the backend knows none.
pub(crate) fn read(
    body: &Node<'_>,
    api: ClientApi,
    only: Option<&[String]>,
    joins: bool,
    validate: bool,
    losses: &mut Losses,
) -> Result<Declared, WireError> {
    let mut items = Vec::new();
    let mut reader = Reader { api, joins, validate, items: &mut items, losses };
    match api {
        ClientApi::Chat => {
            reader.list(body, "tools")?;
            for (index, function) in list(body, "functions")?.iter().enumerate() {
                reader.function(function, format!("functions[{index}]"), None)?;
            }
        }
        ClientApi::Anthropic => reader.list(body, "tools")?,
        ClientApi::Responses => {
            reader.list(body, "tools")?;
            for item in body.list("input").iter().filter(|item| item.text("type") == Some("additional_tools")) {
                reader.list(item, "tools")?;
            }
        }
    }
    let mut declared = Declared::default();
    let mut builder = Builder::default();
    let mut any = false;
    for item in items {
        if !declared.names.insert(item.name.clone()) {
            if validate {
                let message = format!("the name {:?} is used twice", item.name);
                return Err(WireError::refused(WireCode::InvalidToolSchema, item.place, message));
            }
            continue;
        }
        // A tool of a namespace is named without it.
        let named = |only: &[String]| {
            only.contains(&item.name) || item.kind.as_ref().is_some_and(|kind| only.contains(&kind.name))
        };
        let may_be_called = only.is_none_or(named);
        if let Some(kind) = item.kind {
            declared.kinds.insert(item.name.clone(), kind);
        }
        if may_be_called {
            builder.item(None, Ok(item.value));
            any = true;
        }
    }
    if any {
        let refused = |error: crate::Error| WireError::refused(WireCode::InvalidToolSchema, "tools", error.to_string());
        declared.set = Some(Arc::new(builder.finish().map_err(refused)?));
    }
    Ok(declared)
}

/// The list at `key`; an error if something else is there.
fn list<'n, 'a>(body: &'n Node<'a>, key: &str) -> Result<&'n [Node<'a>], WireError> {
    match body.get(key) {
        None => Ok(&[]),
        Some(Node::Array(items)) => Ok(items),
        Some(_) => Err(WireError::refused(WireCode::InvalidToolSchema, key, format!("{key} must be a list"))),
    }
}

struct Reader<'r> {
    api: ClientApi,
    joins: bool,
    validate: bool,
    items: &'r mut Vec<Item>,
    losses: &'r mut Losses,
}

impl Reader<'_> {
    fn list(&mut self, body: &Node<'_>, key: &str) -> Result<(), WireError> {
        for (index, tool) in list(body, key)?.iter().enumerate() {
            self.tool(tool, format!("{key}[{index}]"), None)?;
        }
        Ok(())
    }

    fn tool(&mut self, tool: &Node<'_>, place: String, namespace: Option<&str>) -> Result<(), WireError> {
        let bad = |message: &str| Err(WireError::refused(WireCode::InvalidToolSchema, place.clone(), message));
        if !tool.is_object() {
            return bad("a tool is an object");
        }
        let kind = tool.text("type");
        match (self.api, kind) {
            (ClientApi::Chat, None | Some("function")) => match tool.get("function") {
                Some(function) if function.is_object() => self.function(function, place, None),
                _ => bad(r#"a tool is {"type": "function", "function": {...}}"#),
            },
            (ClientApi::Chat, Some("custom")) => match tool.get("custom") {
                Some(custom) if custom.is_object() => self.custom(custom, place, None),
                _ => bad(r#"a custom tool is {"type": "custom", "custom": {...}}"#),
            },
            (ClientApi::Responses, Some("namespace")) => {
                let name = tool.text("name").unwrap_or_default().to_owned();
                for (index, inner) in list(tool, "tools")?.iter().enumerate() {
                    self.tool(inner, format!("{place}.tools[{index}]"), Some(&name))?;
                }
                Ok(())
            }
            (ClientApi::Responses, Some("custom")) => self.custom(tool, place, namespace),
            (ClientApi::Responses, Some("function")) => self.function(tool, place, namespace),
            (ClientApi::Anthropic, None | Some("custom")) => self.function(tool, place, None),
            (_, Some(hosted)) if quirks::is_hosted_tool(hosted) => {
                self.losses.lose(place, format!("`{hosted}` runs at its provider; it is not offered"));
                Ok(())
            }
            (ClientApi::Chat, Some(_)) => bad(r#"a tool is {"type": "function", "function": {...}}"#),
            (ClientApi::Responses, None) => bad("a tool needs a type"),
            (_, Some(unknown)) => {
                self.losses.lose(place, format!("tools of the type `{unknown}` are not known here; it is not offered"));
                Ok(())
            }
        }
    }

    /// A tool whose arguments a schema describes.
    fn function(&mut self, tool: &Node<'_>, place: String, namespace: Option<&str>) -> Result<(), WireError> {
        let name = self.name(tool, &place)?;
        if self.validate {
            let key = if self.api == ClientApi::Anthropic { "input_schema" } else { "parameters" };
            if let Some(problem) = schema_problem(tool.get(key), &name) {
                return Err(WireError::refused(WireCode::InvalidToolSchema, place, problem));
            }
        }
        let (name, kind) = self.kind(name, namespace, false);
        let mut value = tool.to_value();
        if let (Value::Object(members), true) = (&mut value, namespace.is_some()) {
            members.insert("name".to_owned(), json!(name));
        }
        self.items.push(Item { name, value, place, kind });
        Ok(())
    }

    /// A tool of free text: one of a string, for who knows no others.
    fn custom(&mut self, tool: &Node<'_>, place: String, namespace: Option<&str>) -> Result<(), WireError> {
        let name = self.name(tool, &place)?;
        let (name, kind) = self.kind(name, namespace, true);
        let format = tool.get("format").map(Node::to_value);
        let value = json!({"type": "custom", "name": name, "description": tool.text("description"), "format": format});
        self.items.push(Item { name, value, place, kind });
        Ok(())
    }

    /// The name under which a tool is offered, and how the client knows it if that is otherwise.
    fn kind(&self, name: String, namespace: Option<&str>, custom: bool) -> (String, Option<Kind>) {
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let offered = match namespace {
            Some(namespace) if self.joins => joined(namespace, &name),
            _ => name.clone(),
        };
        let kind =
            (custom || namespace.is_some()).then(|| Kind { name, namespace: namespace.map(str::to_owned), custom });
        (offered, kind)
    }

    fn name(&self, tool: &Node<'_>, place: &str) -> Result<String, WireError> {
        let most = if self.api == ClientApi::Anthropic { 128 } else { 64 };
        let name = tool.text("name").unwrap_or_default();
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        // What is said of a name does not hold it: it may be as long as it likes, and have line breaks.
        if name.is_empty() || (self.validate && (name.len() > most || !name.chars().all(allowed))) {
            let message = format!("a tool's name has 1 to {most} letters, digits, underscores and dashes");
            return Err(WireError::refused(WireCode::InvalidToolSchema, place, message));
        }
        Ok(name.to_owned())
    }
}

/// The name of a tool of a namespace, for who knows none: as Codex' users see it elsewhere, and at most 64 characters.
pub(crate) fn joined(namespace: &str, name: &str) -> String {
    let whole = format!("{namespace}__{name}");
    if whole.len() <= 64 { whole } else { crate::provider::provider_id(&whole, crate::provider::Provider::OpenAi) }
}

/// What is wrong with a schema of arguments: keywords whose values are of a kind that no reader of schemas takes.
fn schema_problem(schema: Option<&Node<'_>>, name: &str) -> Option<String> {
    let schema = schema?;
    if !schema.is_object() {
        return Some(format!("the parameters of {name:?} must be a JSON Schema object"));
    }
    if !schema.members().is_empty() && schema.get("type").is_some_and(|kind| kind.str() != Some("object")) {
        return Some(format!("the parameters of {name:?} must have the type object"));
    }
    wrong_keyword(schema, 0)
        .map(|(keyword, wanted)| format!("`{keyword}` in the parameters of {name:?} must be {wanted}"))
}

/// The first keyword in a schema whose value is of a wrong kind, and what it must be.
fn wrong_keyword(schema: &Node<'_>, depth: usize) -> Option<(&'static str, &'static str)> {
    if depth > 64 {
        return None;
    }
    let kinds = |node: &Node<'_>| match node {
        Node::String(_) => true,
        Node::Array(items) => items.iter().all(|item| item.str().is_some()),
        _ => false,
    };
    for (key, value) in schema.members() {
        let wrong = match (&**key, value) {
            (_, Node::Null) => None,
            ("properties", Node::Object(members)) => {
                return members
                    .iter()
                    .find_map(|(_, inner)| wrong_keyword(inner, depth + 1))
                    .or_else(|| rest(schema, depth));
            }
            ("properties", _) => Some(("properties", "an object of schemas")),
            ("type", value) if !kinds(value) => Some(("type", "the name of a type, or a list of them")),
            ("enum", value) if !matches!(value, Node::Array(_)) => Some(("enum", "a list of values")),
            ("anyOf", value) if !matches!(value, Node::Array(_)) => Some(("anyOf", "a list of schemas")),
            ("oneOf", value) if !matches!(value, Node::Array(_)) => Some(("oneOf", "a list of schemas")),
            ("allOf", value) if !matches!(value, Node::Array(_)) => Some(("allOf", "a list of schemas")),
            ("items", Node::Number(_)) => Some(("items", "a schema")),
            ("items", inner @ Node::Object(_)) => wrong_keyword(inner, depth + 1),
            _ => None,
        };
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

/// As [`wrong_keyword`], of a schema whose properties were looked at.
fn rest(schema: &Node<'_>, depth: usize) -> Option<(&'static str, &'static str)> {
    let members = schema.members().iter().filter(|(key, _)| key != "properties").cloned().collect();
    wrong_keyword(&Node::Object(members), depth)
}
