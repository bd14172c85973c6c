//! Tools as text: the system prompt for models without native tool calls.
//!
//! The words are data (`prompts/prompts.json`), by dialect; the form of a call is the dialect's own example in the
//! catalogue. What the data leaves out for a dialect is taken from its `default`.
use super::ToolSet;
use super::spoken::{InDialect, PLAIN, WrittenForm};
use crate::dialect::Dialects;
use crate::error::Error;
use once_cell::sync::Lazy;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// How tools are listed.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Listing {
    /// `{"name", "description", "parameters"}`, one a line.
    Functions,
    /// OpenAI's declarations, one a line.
    #[serde(rename = "openai")]
    OpenAi,
    /// The same, each in a `<tool>` element.
    #[serde(rename = "openai_tagged")]
    OpenAiTagged,
    /// OpenAI's declarations as one JSON array.
    Array,
    /// Elements: `<function>`, `<name>`, `<parameters>`, ...
    Xml,
}

#[derive(Debug, Default, Deserialize)]
struct Prompt {
    tools: Option<Listing>,
    text: Option<String>,
    /// The form of a call, where the catalogue's example shows more than that.
    call: Option<String>,
    /// How several calls are written, where each stands on its own, and where they share markers: with `{calls}`, the
    /// form of two.
    apart: Option<String>,
    together: Option<String>,
    /// How the results of two calls come back.
    results: Option<String>,
}

static PROMPTS: Lazy<HashMap<String, Prompt>> =
    Lazy::new(|| serde_json::from_str(include_str!("prompts/prompts.json")).unwrap_or_default());

/// What a form has in place of a call's own.
pub(super) const NAME: &str = "TOOL_NAME";
pub(super) const KEY: &str = "PARAMETER";
pub(super) const VALUE: &str = "VALUE";

impl ToolSet {
    /// The text that tells a model without native tool calls which tools there are and how to call them, in the form
    /// that `dialect` reads back. Empty if there are no tools.
    ///
    /// # Errors
    /// [`crate::ErrorCode::UnknownDialect`]; [`crate::ErrorCode::BadDialect`] if a dialect of the caller's own does not
    /// show how a call is written.
    pub fn to_prompt<'d>(&self, dialect: impl Into<InDialect<'d>>) -> Result<String, Error> {
        let dialect = dialect.into();
        let form = WrittenForm::of(dialect)?;
        if self.tools().is_empty() {
            return Ok(String::new());
        }
        let name = match dialect {
            InDialect::Named(name) => Dialects::named(name)?.name().map_or(PLAIN.to_owned(), str::to_owned),
            InDialect::Own(_) => String::new(),
        };
        let (own, default) = (PROMPTS.get(&name), PROMPTS.get("default"));
        let part = |of: fn(&Prompt) -> Option<&str>| own.and_then(of).or_else(|| default.and_then(of));
        let text = part(|p| p.text.as_deref()).unwrap_or("{tools}\n\n{call}");
        let listing = own.and_then(|p| p.tools).or_else(|| default.and_then(|p| p.tools)).unwrap_or(Listing::Functions);
        let call = form.call();
        let several =
            part(if form.apart() { |p| p.apart.as_deref() } else { |p| p.together.as_deref() }).unwrap_or_default();
        let several = several.replace("{calls}", &form.calls());
        // One pass: a schema may hold the words in braces too.
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            if let Some(after) = after.strip_prefix("tools}") {
                out.push_str(&self.listed(listing));
                rest = after;
            } else if let Some(after) = after.strip_prefix("call}") {
                out.push_str(&call);
                rest = after;
            } else if let Some(after) = after.strip_prefix("several}") {
                out.push_str(&several);
                rest = after;
            } else {
                out.push('{');
                rest = after;
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    fn listed(&self, listing: Listing) -> String {
        let functions = self.tools().iter().map(|tool| {
            let schema = match &tool.schema {
                Value::Object(_) => tool.schema.clone(),
                _ => json!({"type": "object", "properties": {}}),
            };
            let mut function = json!({"name": tool.name});
            if let Value::Object(map) = &mut function {
                if !tool.description.is_empty() {
                    map.insert("description".to_owned(), json!(tool.description));
                }
                map.insert("parameters".to_owned(), schema);
            }
            function
        });
        let openai = |function: Value| json!({"type": "function", "function": function});
        let lines = |values: &mut dyn Iterator<Item = Value>| {
            values.map(|value| value.to_string()).collect::<Vec<_>>().join("\n")
        };
        match listing {
            Listing::Functions => lines(&mut functions.into_iter()),
            Listing::OpenAi => lines(&mut functions.map(openai)),
            Listing::OpenAiTagged => {
                functions.map(|f| format!("<tool>{}</tool>", openai(f))).collect::<Vec<_>>().join("\n")
            }
            Listing::Array => Value::Array(functions.map(openai).collect()).to_string(),
            Listing::Xml => functions.map(|f| element(&f)).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// The call alone, for a dialect whose example shows more than that.
pub(super) fn own_form(name: &str) -> Option<&'static str> {
    PROMPTS.get(name)?.call.as_deref()
}

/// How the results of one answer's calls are written: what stands before the first, between two, and behind the last.
pub(crate) struct ResultsForm {
    pub(crate) start: &'static str,
    pub(crate) between: &'static str,
    pub(crate) end: &'static str,
    /// Each is an object of the tool's name and what it returned.
    pub(crate) named: bool,
}

/// The form of results for `dialect`: its template's own, where it has one without tokens that only a server may write,
/// else that of the `default`.
pub(crate) fn results_form(dialect: InDialect<'_>) -> ResultsForm {
    let known = match dialect {
        InDialect::Named(name) => Dialects::named(name).ok(),
        InDialect::Own(_) => None,
    };
    let of = |name: &str| PROMPTS.get(name)?.results.as_deref();
    let form = known.as_ref().and_then(|known| of(known.name()?)).or_else(|| of("default")).unwrap_or("RESULT\nRESULT");
    let named = form.contains("NAMED_RESULT");
    let mut parts = form.split(if named { "NAMED_RESULT" } else { "RESULT" });
    let mut part = || parts.next().unwrap_or_default();
    ResultsForm { start: part(), between: part(), end: part(), named }
}

/// A function as elements, as Qwen3-Coder's template lists it.
fn element(function: &Value) -> String {
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let mut out = format!("<function>\n<name>{}</name>\n", text(function.get("name")));
    if let Some(description) = function.get("description") {
        out.push_str(&format!("<description>{}</description>\n", text(Some(description))));
    }
    out.push_str("<parameters>\n");
    let parameters = function.get("parameters");
    if let Some(Value::Object(properties)) = parameters.and_then(|p| p.get("properties")) {
        for (name, schema) in properties {
            out.push_str(&format!("<parameter>\n<name>{name}</name>\n"));
            if let Value::Object(schema) = schema {
                for (key, value) in schema {
                    out.push_str(&format!("<{key}>{}</{key}>\n", text(Some(value))));
                }
            }
            out.push_str("</parameter>\n");
        }
    }
    for (key, value) in parameters.and_then(Value::as_object).into_iter().flatten() {
        if !matches!(key.as_str(), "type" | "properties") {
            out.push_str(&format!("<{key}>{}</{key}>\n", text(Some(value))));
        }
    }
    out.push_str("</parameters>\n</function>");
    out
}
