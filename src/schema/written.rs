//! Calls as text, as models of a dialect write them: for histories that a model without native tools reads.
//!
//! The form is the one that the prompt shows the model, with names and arguments in place of its capital words; so
//! every dialect of the catalogue has one, and what the model is told and what it sees are the same. Calls of one answer
//! stand as the dialect's `parallel` shows two: in one section, in one list, or each on its own. Where some of its models have
//! another form, their names lead to that (`forms`).
use super::prompt::{KEY, NAME, VALUE};
use super::spoken::{InDialect, WrittenForm};
use crate::char_class;
use crate::dialect::{Body, Dialects, Element, Row};
use crate::error::Error;
use crate::json::push_string;
use serde_json::{Map, Value};

/// Writes calls, each a name and its arguments' JSON text, as models of `dialect` do. Arguments that are no object are
/// written as they are.
///
/// ```
/// let text = toolglot::schema::write_calls([("ls", r#"{"path": "/"}"#)], "mistral")?;
/// assert_eq!(text, r#"[TOOL_CALLS]ls[ARGS]{"path": "/"}"#);
/// # Ok::<(), toolglot::Error>(())
/// ```
///
/// # Errors
/// As [`ToolSet::to_prompt`](super::ToolSet::to_prompt).
pub fn write_calls<'c, 'd>(
    calls: impl IntoIterator<Item = (&'c str, &'c str)>,
    dialect: impl Into<InDialect<'d>>,
) -> Result<String, Error> {
    let dialect = dialect.into();
    let found;
    let known = match dialect {
        InDialect::Named(name) => {
            found = Dialects::named(name)?;
            &*found
        }
        InDialect::Own(dialects) => dialects,
    };
    let row = if known.name().is_some() { known.rows.first() } else { None };
    let text = WrittenForm::of(dialect)?.calls();
    let (form, markers) = (Form::of(&text), numbered(row));
    let calls: Vec<_> =
        calls.into_iter().map(|(name, arguments)| (name, arguments, Said::read(&text, arguments))).collect();
    let readable = |number: usize| calls.get(number).is_some_and(|(_, _, said)| said.is_some());
    let mut out = String::new();
    for (number, (name, arguments, said)) in calls.iter().enumerate() {
        let follows = said.is_some() && number.checked_sub(1).is_some_and(readable);
        if !(follows || out.is_empty()) {
            out.push('\n');
        }
        let by = i64::try_from(number).unwrap_or(i64::MAX);
        // The second call of the form is the last one here.
        let part =
            if readable(number + 1) { counted(form.next, by, &markers) } else { counted(form.last, by - 1, &markers) };
        let call = said.as_ref().and_then(|said| filled(&part, row, name, said));
        match call {
            Some(call) if follows => out.push_str(&call),
            Some(call) => out.extend([counted(form.start, by, &markers), call]),
            None => out.extend([*name, " ", *arguments]),
        }
    }
    Ok(out)
}

/// The form of two calls, cut before each tool's name.
struct Form<'t> {
    /// What stands before the first name.
    start: &'t str,
    /// The first call from its name on, and what stands before the second name.
    next: &'t str,
    /// The second call from its name on, and what closes the group.
    last: &'t str,
}

impl<'t> Form<'t> {
    fn of(text: &'t str) -> Self {
        // A call may say its name more than once.
        let places: Vec<usize> = text.match_indices(NAME).map(|(at, _)| at).collect();
        let place = |number: usize| {
            let at = places.get(number).copied().unwrap_or(text.len());
            // Its quotation mark is replaced with it.
            if text.get(..at).is_some_and(|before| before.ends_with('"')) { at - 1 } else { at }
        };
        let (first, second) = (place(0), place(places.len() / 2));
        let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
        Self { start: part(0, first), next: part(first, second), last: part(second, text.len()) }
    }
}

/// Markers of the dialect with digits in them, which count nothing: `[unused11]`.
fn numbered(row: Option<&Row>) -> Vec<&str> {
    let elements = row.into_iter().flat_map(|row| row.calls.iter().flat_map(|call| call.head.iter().chain(&call.tail)));
    let literals = elements.filter_map(|element| match element {
        Element::Literal(text) | Element::Optional(text) => Some(&**text),
        _ => None,
    });
    literals.filter(|text| text.contains(|c: char| c.is_ascii_digit())).collect()
}

/// A part of a form with `by` added to its numbers, which keep their width, but for those in `markers`.
fn counted(part: &str, by: i64, markers: &[&str]) -> String {
    let mut out = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = |marker: &&str| rest.find(*marker).map(|at| (at, at + marker.len()));
        if let Some((_, end)) = markers.iter().filter_map(end).find(|(at, end)| (*at..*end).contains(&start)) {
            let (marked, after) = rest.split_at(end);
            out.push_str(marked);
            rest = after;
            continue;
        }
        let (before, from) = rest.split_at(start);
        let (digits, after) = from.split_at(from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len()));
        let number = digits.parse::<i64>().unwrap_or_default().saturating_add(by);
        out.push_str(before);
        out.push_str(&format!("{number:0width$}", width = digits.len()));
        rest = after;
    }
    out + rest
}

/// A call's arguments as a form takes them.
enum Said<'a> {
    /// JSON text, as it is.
    Json(&'a str),
    Object(Map<String, Value>),
}

const JSON: &str = r#"{"PARAMETER": "VALUE"}"#;
const DICT: &str = "{'PARAMETER': 'VALUE'}";

impl<'a> Said<'a> {
    /// `None` where the form takes an object only and `arguments` are none.
    fn read(form: &str, arguments: &'a str) -> Option<Self> {
        if form.contains(JSON) {
            return Some(Self::Json(arguments));
        }
        match serde_json::from_str(arguments) {
            Ok(Value::Object(object)) => Some(Self::Object(object)),
            _ => form.contains(DICT).then_some(Self::Json(arguments)),
        }
    }
}

/// A part of a form filled in; `None` if the part is none that is known.
fn filled(part: &str, row: Option<&Row>, name: &str, said: &Said<'_>) -> Option<String> {
    let whole = part.split_once(JSON).or_else(|| part.split_once(DICT));
    match (whole, said) {
        (Some((head, tail)), Said::Json(arguments)) => Some(named(head, name) + arguments + &named(tail, name)),
        (Some((head, tail)), Said::Object(object)) => {
            let mut out = named(head, name);
            python(&mut out, &Value::Object(object.clone()), '\'');
            Some(out + &named(tail, name))
        }
        (None, Said::Object(object)) => with_parameters(part, row, name, object),
        (None, Said::Json(_)) => None,
    }
}

/// `head` with the tool's name: as a JSON string where it stands in a JSON object, else as it is.
fn named(head: &str, name: &str) -> String {
    let mut quoted = String::new();
    push_string(&mut quoted, name);
    head.replace(&format!("\"{NAME}\""), &quoted).replace(NAME, name)
}

/// The form, of which `after` stands behind a value, shows elements named after parameters: `VALUE</PARAMETER>`. A row may read
/// parameters before them that it never writes.
fn shows_elements(row: &Row, after: &str) -> bool {
    let named = |row: &Row| !row.dialect.tag_prefix.is_empty() && after.contains("</PARAMETER>");
    let mut bodies = row.calls.iter().map(|call| call.body == Body::Elements);
    bodies.next() == Some(true) || (named(row) && bodies.any(|elements| elements))
}

/// A part of a form whose body is not JSON, filled in. `None` if it is none that is known.
fn with_parameters(form: &str, row: Option<&Row>, name: &str, arguments: &Map<String, Value>) -> Option<String> {
    let (before, rest) = form.split_once(KEY)?;
    let (between, after) = rest.split_once(VALUE)?;
    let mut out = String::new();
    if before.ends_with('(') {
        // `TOOL_NAME(PARAMETER="VALUE")`
        let quote = between.chars().next_back()?;
        out.push_str(&named(before, name));
        python_arguments(&mut out, arguments, quote);
        out.push_str(after.get(1..)?);
    } else if before.ends_with('{') {
        // `call:TOOL_NAME{PARAMETER:<|"|>VALUE<|"|>}`
        let quote = between.strip_prefix(':')?;
        out.push_str(&named(before.strip_suffix('{')?, name));
        gemma(&mut out, &Value::Object(arguments.clone()), quote);
        out.push_str(after.strip_prefix(quote)?.strip_prefix('}')?);
    } else if shows_elements(row?, after) {
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

fn python_arguments(out: &mut String, arguments: &Map<String, Value>, quote: char) {
    let plain = |key: &str| {
        !key.starts_with(|c: char| c.is_ascii_digit()) && key.chars().all(|c| char_class::IDENTIFIER.has(c))
    };
    if !arguments.keys().all(|key| !key.is_empty() && plain(key)) {
        out.push_str("**");
        return python(out, &Value::Object(arguments.clone()), quote);
    }
    for (i, (key, value)) in arguments.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        out.push_str(key);
        out.push('=');
        python(out, value, quote);
    }
}

/// A value as Python's literal, its strings between `quote`s. Depth is bounded where the JSON was read.
fn python(out: &mut String, value: &Value, quote: char) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => python_string(out, text, quote),
        Value::Array(items) => joined(out, "[]", items.iter(), |out, item| python(out, item, quote)),
        Value::Object(object) => joined(out, "{}", object.iter(), |out, (key, value)| {
            python_string(out, key, quote);
            out.push_str(": ");
            python(out, value, quote);
        }),
    }
}

/// A string as JSON writes it, which Python reads as well; between apostrophes these are escaped, and the other marks are
/// not.
fn python_string(out: &mut String, text: &str, quote: char) {
    let start = out.len();
    push_string(out, text);
    if quote == '\'' {
        let json = out.split_off(start);
        let inner = json.get(1..json.len() - 1).unwrap_or_default();
        out.push(quote);
        out.push_str(&inner.replace("\\\"", "\"").replace('\'', "\\'"));
        out.push(quote);
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
