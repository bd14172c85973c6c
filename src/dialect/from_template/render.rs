//! Chat templates as `transformers` runs them: its Jinja options, its functions, Python's spelling of values.
use crate::char_class;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior};
use minijinja_contrib::pycompat::unknown_method_callback;
use once_cell::sync::Lazy;
use regex::Regex;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Instructions that one rendering may take. The longest real templates take some ten thousand.
const FUEL: u64 = 500_000;
/// Bytes that one rendering may write, and that a value in it may have.
const MAX_OUTPUT: usize = 1 << 20;
/// The longest source. Real ones have up to 60 KB.
const MAX_SOURCE: usize = 1 << 19;
/// How deep macros may call each other; chat templates use this for nested schemas.
const MAX_RECURSION: usize = 100;
const MAX_DEPTH: usize = 64;

/// A chat template, compiled.
pub(super) struct Renderer<'s> {
    environment: Environment<'s>,
    written: Arc<AtomicUsize>,
}

fn failed(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, what)
}

/// An empty list that is given a name.
static LISTS: Lazy<Option<Regex>> = Lazy::new(|| Regex::new(r"= ?\[\]").ok());

/// A tag that gives a value a name, changed so that the value must stay small: without it a template of one line could
/// double a text until memory ends. Lists that the template itself makes can grow, as Python's can.
fn bounded(tag: &str) -> Option<String> {
    let lists =
        |text: &str| LISTS.as_ref().map_or(text.into(), |lists| lists.replace_all(text, "=_list()")).into_owned();
    if let Some(set) = tag.strip_prefix("set ") {
        let (target, value) = set.split_once('=')?;
        if target.contains(['|', '(', '"', '\'']) {
            return None;
        }
        return Some(lists(&format!("set {target}={value}")).replacen('=', "= _small(", 1) + ")");
    }
    let (_, parameters) = tag.strip_prefix("macro ")?.split_once('(')?;
    let names = parameters.trim_end_matches(')').split(',').filter_map(|p| p.split('=').next()).map(str::trim);
    let names: Vec<&str> =
        names.filter(|n| !n.is_empty() && n.chars().all(|c| char_class::IDENTIFIER.has(c))).collect();
    Some(format!("{tag} %}}{{%- set _ = _small([{}]) -%}}", names.join(", ")))
}

/// Refuses texts that are too long.
fn small(value: Value) -> Result<Value, Error> {
    let long = |v: &Value| v.as_str().is_some_and(|text| text.len() > MAX_OUTPUT);
    let within = value.kind() == ValueKind::Seq && value.try_iter()?.take(64).any(|v| long(&v));
    if long(&value) || within { Err(failed("a text grows too long")) } else { Ok(value) }
}

/// Tags that mean something to training only, and sets whose value must stay small.
fn prepared(source: &str) -> Result<String, String> {
    if source.len() > MAX_SOURCE {
        return Err(format!("the template has {} bytes, more than {MAX_SOURCE}", source.len()));
    }
    let mut out = String::with_capacity(source.len() + source.len() / 8);
    let mut rest = source;
    while let Some(at) = rest.find("{%") {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let Some((inside, after)) = tag.get(2..).and_then(|t| t.split_once("%}")) else {
            rest = tag;
            break;
        };
        let dash = |there: bool| if there { "-" } else { "" };
        let (left, right) = (inside.starts_with('-'), inside.ends_with('-') && inside.len() > 1);
        let body = inside.trim_matches(|c: char| c == '-' || c == '+' || c.is_whitespace());
        let new = match body {
            "generation" => Some("if true".to_owned()),
            "endgeneration" => Some("endif".to_owned()),
            _ => bounded(body),
        };
        match new {
            // What is added behind a macro's head must not break its line.
            Some(new) => {
                let (new, extra) = new.split_once("%}").unwrap_or((&new, ""));
                let _ = write!(out, "{{%{} {new} {}%}}{extra}", dash(left), dash(right));
            }
            None => out.push_str(tag.get(..inside.len() + 4).unwrap_or(tag)),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

impl<'s> Renderer<'s> {
    /// Compiles a template.
    ///
    /// # Errors
    /// Says what Jinja does not understand, and where.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let source = prepared(source)?;
        let written = Arc::new(AtomicUsize::new(0));
        let mut environment = Environment::new();
        environment.set_syntax(
            SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(|e| explained(&e))?,
        );
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(MAX_RECURSION);
        environment.set_undefined_behavior(UndefinedBehavior::Chainable);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        let count = Arc::clone(&written);
        environment.set_formatter(move |out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value| {
            let text = spelt(value);
            if count.fetch_add(text.len(), Ordering::Relaxed) + text.len() > MAX_OUTPUT {
                return Err(failed("the template writes too much"));
            }
            out.write_str(&text).map_err(|_| failed("cannot write"))
        });
        environment.set_unknown_method_callback(method);
        environment.add_filter("tojson", to_json);
        environment.add_filter("string", |value: &Value| spelt(value).into_owned());
        environment.add_filter("safe", |value: Value| value);
        environment.add_filter("e", escaped);
        environment.add_filter("escape", escaped);
        environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
            Err(failed(format!("the template refuses this conversation: {message}")))
        });
        environment.add_function("_small", small);
        environment.add_function("_list", || Value::from_object(List::default()));
        // Always the same day: what is derived must not depend on the clock.
        environment.add_function("strftime_now", |_: String| "2025-01-01");
        environment.add_template_owned("template", source).map_err(|e| explained(&e))?;
        Ok(Self { environment, written })
    }

    /// Renders a conversation.
    ///
    /// # Errors
    /// Says what the template refuses or what it fails at.
    pub(super) fn render(&self, variables: &serde_json::Value) -> Result<String, String> {
        self.written.store(0, Ordering::Relaxed);
        let template = self.environment.get_template("template").map_err(|e| explained(&e))?;
        template.render(value(variables)).map_err(|e| explained(&e))
    }
}

/// JSON as Jinja sees it. (By way of `Serialize`, numbers kept as text would become objects.)
fn value(json: &serde_json::Value) -> Value {
    use serde_json::Value as Json;
    match json {
        Json::Null => Value::from(()),
        Json::Bool(b) => Value::from(*b),
        Json::Number(n) => match (n.as_i64(), n.as_f64()) {
            (Some(n), _) => Value::from(n),
            (None, Some(n)) => Value::from(n),
            _ => Value::from(n.to_string()),
        },
        Json::String(s) => Value::from(s.as_str()),
        Json::Array(items) => items.iter().map(value).collect(),
        Json::Object(members) => Value::from_pairs(members.iter().map(|(k, v)| (k.as_str(), value(v)))),
    }
}

fn explained(error: &Error) -> String {
    let line = error.line().map(|l| format!(" (line {l})")).unwrap_or_default();
    format!("{error}{line}").lines().next().unwrap_or_default().to_owned()
}

/// Methods of Python's strings, dicts and lists. Those that can make a long string out of short ones are bounded.
fn method(state: &mut State<'_, '_>, value: &Value, name: &str, arguments: &[Value]) -> Result<Value, Error> {
    let long = |v: &Value| v.as_str().map_or(0, str::len);
    let most = arguments.iter().map(long).max().unwrap_or(0).max(1);
    if long(value).saturating_mul(most) > 64 * MAX_OUTPUT {
        return Err(failed("a string grows too long"));
    }
    unknown_method_callback(state, value, name, arguments)
}

/// A list with Python's `append`, which Jinja's own lists lack here.
#[derive(Debug, Default)]
struct List(Mutex<Vec<Value>>);

/// The longest list that a template may build.
const MAX_ITEMS: usize = 10_000;

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        items.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.lock().unwrap_or_else(PoisonError::into_inner).len())
    }

    fn call_method(self: &Arc<Self>, _: &mut State<'_, '_>, name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let mut items = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (name, arguments) {
            ("append", [item]) if items.len() < MAX_ITEMS => {
                // A list within itself could never be written out.
                if item.downcast_object_ref::<Self>().is_some() {
                    return Err(failed("a list is put into a list"));
                }
                items.push(item.clone());
                Ok(Value::from(()))
            }
            ("append", [_]) => Err(failed("a list grows too long")),
            ("pop", []) => Ok(items.pop().unwrap_or_default()),
            ("pop", [at]) => match at.as_usize() {
                Some(at) if at < items.len() => Ok(items.remove(at)),
                _ => Err(failed("pop from no place of the list")),
            },
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        }
    }
}

/// `str(value)` as Python has it.
fn spelt(value: &Value) -> std::borrow::Cow<'_, str> {
    match value.kind() {
        ValueKind::String => value.as_str().unwrap_or_default().into(),
        ValueKind::Undefined => "".into(),
        _ => {
            let mut out = String::new();
            repr(value, &mut out, 0);
            out.into()
        }
    }
}

/// `repr(value)` as Python has it.
fn repr(value: &Value, out: &mut String, depth: usize) {
    if depth > MAX_DEPTH || out.len() > MAX_OUTPUT {
        return;
    }
    match value.kind() {
        ValueKind::None => out.push_str("None"),
        ValueKind::Bool => out.push_str(if value.is_true() { "True" } else { "False" }),
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            out.push(quote);
            for c in text.chars() {
                match c {
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    '\\' => out.push_str("\\\\"),
                    c if c == quote => {
                        out.push('\\');
                        out.push(c);
                    }
                    c => out.push(c),
                }
            }
            out.push(quote);
        }
        ValueKind::Seq | ValueKind::Iterable => {
            out.push('[');
            for (i, item) in value.try_iter().into_iter().flatten().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                repr(&item, out, depth + 1);
            }
            out.push(']');
        }
        ValueKind::Map => {
            out.push('{');
            for (i, key) in value.try_iter().into_iter().flatten().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                repr(&key, out, depth + 1);
                out.push_str(": ");
                repr(&value.get_item(&key).unwrap_or_default(), out, depth + 1);
            }
            out.push('}');
        }
        _ => {
            let _ = write!(out, "{value}");
        }
    }
}

/// A text for HTML as Jinja writes it in Python.
fn escaped(value: &Value) -> String {
    let signs = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('\'', "&#39;"), ('"', "&#34;")];
    signs.iter().fold(spelt(value).into_owned(), |text, (sign, name)| text.replace(*sign, name))
}

/// How `tojson` writes.
struct Json {
    ascii: bool,
    indent: Option<usize>,
    comma: String,
    colon: String,
    sort: bool,
}

/// `tojson` as `transformers` has it: Python's separators, no escaping for HTML.
fn to_json(value: &Value, indent: Option<Value>, options: Kwargs) -> Result<String, Error> {
    let indent = match options.get::<Option<Value>>("indent")?.or(indent) {
        Some(v) if !v.is_none() && !v.is_undefined() => Some(v.as_usize().unwrap_or(0).min(16)),
        _ => None,
    };
    let separators = options.get::<Option<Vec<String>>>("separators")?;
    let [comma, colon] = match separators.as_deref() {
        Some([comma, colon]) => [comma.clone(), colon.clone()],
        _ => [if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned()],
    };
    let ascii = options.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false);
    let sort = options.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    let json = Json { ascii, indent, comma, colon, sort };
    let mut out = String::new();
    json.write(value, &mut out, 0)?;
    Ok(out)
}

impl Json {
    fn line(&self, out: &mut String, depth: usize) {
        if let Some(width) = self.indent {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', width * depth));
        }
    }

    fn string(&self, text: &str, out: &mut String) {
        let mut quoted = String::new();
        crate::json::push_string(&mut quoted, text);
        if !self.ascii {
            out.push_str(&quoted);
            return;
        }
        let mut units = [0; 2];
        for c in quoted.chars() {
            if c.is_ascii() {
                out.push(c);
            } else {
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }

    fn write(&self, value: &Value, out: &mut String, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH || out.len() > MAX_OUTPUT {
            return Err(failed("tojson: too deep or too long"));
        }
        match value.kind() {
            ValueKind::None | ValueKind::Undefined => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::String => self.string(value.as_str().unwrap_or_default(), out),
            ValueKind::Seq | ValueKind::Iterable => {
                let items: Vec<Value> = value.try_iter()?.collect();
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { &self.comma } else { "" });
                    self.line(out, depth + 1);
                    self.write(item, out, depth + 1)?;
                }
                if !items.is_empty() {
                    self.line(out, depth);
                }
                out.push(']');
            }
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort {
                    keys.sort();
                }
                out.push('{');
                for (i, key) in keys.iter().enumerate() {
                    out.push_str(if i > 0 { &self.comma } else { "" });
                    self.line(out, depth + 1);
                    self.string(&spelt(key), out);
                    out.push_str(&self.colon);
                    self.write(&value.get_item(key).unwrap_or_default(), out, depth + 1)?;
                }
                if !keys.is_empty() {
                    self.line(out, depth);
                }
                out.push('}');
            }
            _ => {
                let _ = write!(out, "{value}");
            }
        }
        Ok(())
    }
}
