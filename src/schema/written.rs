//! Calls as text, as models of a dialect write them: for histories that a model without native tools reads.
//!
//! The form is the one that the prompt shows the model, with names and arguments in place of its capital words; so
//! every dialect of the catalogue has one, and what the model is told and what it sees are the same.
use super::prompt;
use crate::dialect::{Body, Dialects, Element, Row};
use crate::error::Error;
use crate::json::push_string;
use serde_json::{Map, Value};

const NAME: &str = "TOOL_NAME";
const KEY: &str = "PARAMETER";
const VALUE: &str = "VALUE";

/// Writes calls, each a name and its arguments' JSON text, as models of `dialect` do (a dialect's name, a parser's name
/// or a model id; `auto` is the plain JSON form). Arguments that are no object are written as they are.
///
/// ```
/// let text = toolglot::schema::write_calls([("ls", r#"{"path": "/"}"#)], "mistral")?;
/// assert_eq!(text, r#"[TOOL_CALLS]ls[ARGS]{"path": "/"}"#);
/// # Ok::<(), toolglot::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorCode::UnknownDialect`].
pub fn write_calls<'c>(calls: impl IntoIterator<Item = (&'c str, &'c str)>, dialect: &str) -> Result<String, Error> {
    let known = Dialects::named(dialect)?;
    let row = if known.name().is_some() { known.rows.first() } else { None };
    let form = prompt::written_form(known.name().unwrap_or(prompt::PLAIN));
    let (head, one, tail) = listed(&form);
    let calls: Vec<String> = calls.into_iter().map(|(name, arguments)| written(one, row, name, arguments)).collect();
    Ok(if head.is_empty() {
        calls.join("\n")
    } else if calls.is_empty() {
        String::new()
    } else {
        format!("{head}{}{tail}", calls.join(", "))
    })
}

/// What stands before the list of calls, one call, and what follows the list; a form that is no list is all call.
fn listed(form: &str) -> (&str, &str, &str) {
    for (open, close) in [("[{", "}]"), ("[TOOL_NAME(", ")]")] {
        let parts = form
            .find(open)
            .zip(form.rfind(close))
            .and_then(|(start, end)| Some((form.get(..=start)?, form.get(start + 1..=end)?, form.get(end + 1..)?)));
        if let Some(parts) = parts {
            return parts;
        }
    }
    ("", form, "")
}

fn written(form: &str, row: Option<&Row>, name: &str, arguments: &str) -> String {
    for object in [r#"{"PARAMETER": "VALUE"}"#, "{'PARAMETER': 'VALUE'}"] {
        if let Some((head, tail)) = form.split_once(object) {
            return format!("{}{arguments}{tail}", named(head, name));
        }
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => filled(form, row, name, &object),
        _ => None,
    }
    .unwrap_or_else(|| format!("{} {arguments}", name))
}

/// `head` with the tool's name: as a JSON string where it stands in a JSON object, else as it is.
fn named(head: &str, name: &str) -> String {
    let mut quoted = String::new();
    push_string(&mut quoted, name);
    head.replace(&format!("\"{NAME}\""), &quoted).replace(NAME, name)
}

/// A form whose body is not JSON. `None` if it is none that is known.
fn filled(form: &str, row: Option<&Row>, name: &str, arguments: &Map<String, Value>) -> Option<String> {
    let (before, rest) = form.split_once(KEY)?;
    let (between, after) = rest.split_once(VALUE)?;
    let mut out = String::new();
    if before.ends_with('(') {
        // `TOOL_NAME(PARAMETER="VALUE")`
        out.push_str(&named(before, name));
        python_arguments(&mut out, arguments);
        out.push_str(after.get(1..)?);
    } else if before.ends_with('{') {
        // `call:TOOL_NAME{PARAMETER:<|"|>VALUE<|"|>}`
        let quote = between.strip_prefix(':')?;
        out.push_str(&named(before.strip_suffix('{')?, name));
        gemma(&mut out, &Value::Object(arguments.clone()), quote);
        out.push_str(after.strip_prefix(quote)?.strip_prefix('}')?);
    } else if row?.calls.first()?.body == Body::Elements {
        let (_, tail) = after.split_once("</PARAMETER>")?;
        let prefix = row?.dialect.tag_prefix.as_str();
        out.push_str(&named(before.strip_suffix('<')?.strip_suffix(prefix)?, name));
        for (key, value) in arguments {
            element(&mut out, prefix, key, value);
        }
        out.push_str(&named(tail, name));
    } else {
        let template = row?.parameters.iter().find(|p| before.contains(&*p.opener) && after.contains(&*p.closer))?;
        let (head, opening) = before.split_at(before.rfind(&*template.opener)?);
        let mut end = after.find(&*template.closer)? + template.closer.len();
        let literals = template.after.iter().filter_map(|element| match element {
            Element::Literal(text) => Some(text),
            _ => None,
        });
        for text in template.behind_key.iter().chain(literals) {
            end += after.get(end..)?.find(&**text)? + text.len();
        }
        let (closing, tail) = after.split_at(end);
        // Line breaks between parameters are as behind the one of the form.
        let (space, tail) = tail.split_at(tail.len() - tail.trim_ascii_start().len());
        out.push_str(&named(head, name));
        for (key, value) in arguments {
            let (text, kind) = match value {
                Value::String(text) => (text.clone(), "string"),
                other => (other.to_string(), kind(other)),
            };
            let string = if kind == "string" { "true" } else { "false" };
            let between = between.replace("string=\"true\"", &format!("string=\"{string}\""));
            let between = between.replace("type=\"string\"", &format!("type=\"{kind}\""));
            let closing = closing.replace(KEY, key);
            out.push_str(&format!("{opening}{key}{between}{text}{closing}{space}"));
        }
        out.push_str(&named(tail, name));
    }
    Some(out)
}

/// The JSON type's name.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn python_arguments(out: &mut String, arguments: &Map<String, Value>) {
    let plain = |key: &str| {
        !key.starts_with(|c: char| c.is_ascii_digit()) && key.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    if !arguments.keys().all(|key| !key.is_empty() && plain(key)) {
        out.push_str("**");
        return python(out, &Value::Object(arguments.clone()));
    }
    for (i, (key, value)) in arguments.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        out.push_str(key);
        out.push('=');
        python(out, value);
    }
}

/// A value as Python's literal. Depth is bounded where the JSON was read.
fn python(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => push_string(out, text),
        Value::Array(items) => joined(out, "[]", items.iter(), python),
        Value::Object(object) => joined(out, "{}", object.iter(), |out, (key, value)| {
            push_string(out, key);
            out.push_str(": ");
            python(out, value);
        }),
    }
}

/// A value as Gemma writes it: strings between `quote`s, keys bare.
fn gemma(out: &mut String, value: &Value, quote: &str) {
    match value {
        Value::String(text) => out.push_str(&format!("{quote}{text}{quote}")),
        Value::Array(items) => joined(out, "[]", items.iter(), |out, item| gemma(out, item, quote)),
        Value::Object(object) => joined(out, "{}", object.iter(), |out, (key, value)| {
            out.push_str(key);
            out.push(':');
            gemma(out, value, quote);
        }),
        other => out.push_str(&other.to_string()),
    }
}

/// `brackets` round `items`, with commas between.
fn joined<T>(out: &mut String, brackets: &str, items: impl Iterator<Item = T>, write: impl Fn(&mut String, T)) {
    let (open, close) = brackets.split_at(1);
    out.push_str(open);
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write(out, item);
    }
    out.push_str(close);
}

/// `<key>value</key>`, with children for objects and lists.
fn element(out: &mut String, prefix: &str, key: &str, value: &Value) {
    out.push_str(&format!("{prefix}<{key}>"));
    match value {
        Value::String(text) => out.push_str(text),
        Value::Object(object) => object.iter().for_each(|(key, value)| element(out, prefix, key, value)),
        Value::Array(items) => items.iter().for_each(|item| element(out, prefix, "item", item)),
        other => out.push_str(&other.to_string()),
    }
    out.push_str(&format!("{prefix}</{key}>"));
}
