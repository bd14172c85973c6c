//! A dialect from a checkpoint's `response_template`: the description of its answers that Transformers
//! (`chat_parsing`, in `tokenizer_config.json`) reads them by.
use super::response_transform::Parts;
use super::{Dialect, Trim};
use crate::error::{Error, ErrorCode};
use serde_json::Value;

fn bad(place: &str, what: impl Into<String>) -> Error {
    Error::at(ErrorCode::BadDialect, place, what)
}

/// A string, or a list of them.
fn strings(field: &Value, key: &str, place: &str) -> Result<Vec<String>, Error> {
    match field.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Array(items)) => (items.iter())
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| bad(place, format!("{key:?} is no text"))))
            .collect(),
        Some(_) => Err(bad(place, format!("{key:?} is neither a text nor a list of texts"))),
    }
}

/// Literal text as a template.
fn literal(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars() {
        match c {
            '{' => out.push_str("{{"),
            ' ' => out.push_str("{ }"),
            c if c.is_whitespace() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Another key than these would be ignored, and is perhaps one of them with a slip in it.
fn check_keys(object: &Value, known: &[&str], place: &str) -> Result<(), Error> {
    let Some(members) = object.as_object() else { return Err(bad(place, "this must be an object")) };
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(bad(place, format!("the key {key:?} has no counterpart; known are {}", known.join(", ")))),
        None => Ok(()),
    }
}

const TEMPLATE_KEYS: [&str; 5] = ["version", "defaults", "fields", "start_anchor", "start_anchor_pattern"];
const FIELD_KEYS: [&str; 11] = [
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "join",
    "optional",
    "transform",
    "transform_each",
];
const ARGUMENT_KEYS: [&str; 7] =
    ["unquoted_keys", "string_delims", "allow_non_json", "tag_pattern", "value_parser", "merge_duplicates", "strip"];

/// A parameter's template that has no white space beside its value, and whose white space is none of the value: the marks of a
/// value are literal text.
fn parameter(regex: &str, place: &str) -> Result<(String, Option<Trim>), Error> {
    let template = pattern(regex, &Parts::default(), place)?;
    let tight = template.replace(" {value}", "{value}").replace("{value} ", "{value}");
    let any = |blank: &str| blank.trim_end_matches(['*', '+', '?']).ends_with("\\s");
    let group = regex.find("(?P<value>").or_else(|| regex.find("(?<value>"));
    let (before, behind) = regex.split_at(group.unwrap_or(0));
    let behind = behind.find(")\\s").is_some();
    let trim = if any(before) || behind { Trim::Space } else { Trim::Newline };
    Ok(if tight == template { (template, None) } else { (tight, Some(trim)) })
}

/// A regular expression of literals, named groups and white space as a template. Other parts have no template.
fn pattern(regex: &str, parts: &Parts<'_>, place: &str) -> Result<String, Error> {
    let unknown = |rest: &str| bad(place, format!("the pattern {regex:?} has no template from {rest:?} on"));
    let mut out = String::new();
    let mut rest = regex;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or("");
        let named = rest.strip_prefix("(?P<").or_else(|| rest.strip_prefix("(?<"));
        if let Some((group, body)) = named.and_then(|r| r.split_once('>')) {
            let hole = parts.hole(group).unwrap_or(match group {
                "name" | "function" | "tool" | "tool_name" | "function_name" if parts.name.is_some() => "_",
                "id" | "call_id" | "tool_call_id" if parts.id.is_some() => "_",
                "name" | "function" | "tool" | "tool_name" | "function_name" => "name",
                "key" | "param" | "parameter" | "arg" => "key",
                "value" | "content" => "value",
                "id" | "call_id" | "tool_call_id" => "id",
                "type" => "type",
                _ => "_",
            });
            let mut depth = 1_usize;
            let mut end = None;
            let mut escaped = false;
            for (at, c) in body.char_indices() {
                match c {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    end = Some(at + 1);
                    break;
                }
            }
            rest = end.and_then(|end| body.get(end..)).ok_or_else(|| unknown(rest))?;
            out.push_str(&format!("{{{hole}}}"));
            continue;
        }
        let escaped = if c == '\\' { after.chars().next() } else { None };
        let (text, next) = match (c, escaped) {
            ('\\', Some('s' | 'n')) => (" ".to_owned(), after.get(1..).unwrap_or("")),
            ('\\', Some(e)) if !e.is_alphanumeric() => (literal_char(e), after.get(e.len_utf8()..).unwrap_or("")),
            ('\\', _) | ('(' | ')' | '[' | '.' | '*' | '+' | '?' | '^' | '$', _) => return Err(unknown(rest)),
            // A bar between markers' brackets is literal in what people write (`<|call|>`), though regex means "or".
            ('|', _) => return Err(unknown(rest)),
            (c, _) => (literal_char(c), after),
        };
        let quantified = next.chars().next().filter(|c| matches!(c, '*' | '+' | '?'));
        rest = match quantified {
            Some(_) => next.get(1..).unwrap_or("").trim_start_matches('?'),
            None => next,
        };
        match (quantified, text.as_str()) {
            (None, _) | (_, " ") => out.push_str(&text),
            (Some('?'), _) => out.push_str(&format!("{{?{text}}}")),
            _ => return Err(unknown(regex)),
        }
    }
    Ok(out.trim().to_owned())
}

fn literal_char(c: char) -> String {
    match c {
        '{' => "{{".into(),
        ' ' => "{ }".into(),
        c if c.is_whitespace() => " ".into(),
        c => c.into(),
    }
}

/// What opens or closes a field, as templates.
fn boundary(field: &Value, side: &str, parts: &Parts<'_>, place: &str) -> Result<Vec<String>, Error> {
    let mut all: Vec<String> = strings(field, side, place)?.iter().map(|t| literal(t)).collect();
    for regex in strings(field, &format!("{side}_pattern"), place)? {
        all.push(pattern(&regex, parts, place)?);
    }
    Ok(all)
}

impl Dialect {
    /// The dialect that a `response_template` describes. `template` is that object, or a `tokenizer_config.json` with it.
    ///
    /// # Errors
    /// [`ErrorCode::BadDialect`], with the field, where something has no counterpart: a boundary that is more than
    /// literals, named groups and white space, a content kind without markers (`kv-lines`), a missing `tool_calls`.
    ///
    /// ```
    /// use toolglot::dialect::Dialect;
    /// let template = serde_json::json!({"fields": {
    ///     "thinking": {"open": "<think>", "close": "</think>"},
    ///     "tool_calls": {"open": "<tool_call>", "close": "</tool_call>", "repeats": true, "content": "json"}}});
    /// let dialect = Dialect::from_response_template(&template, "mine")?;
    /// assert_eq!(dialect.calls, ["<tool_call> {json} </tool_call>"]);
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn from_response_template(template: &Value, name: &str) -> Result<Self, Error> {
        let template = template.get("response_template").unwrap_or(template);
        let Some(fields) = template.get("fields").and_then(Value::as_object) else {
            let old = template.get("response_schema").is_some() || template.get("x-regex").is_some();
            return Err(bad(
                "/fields",
                if old {
                    "this is a response_schema, whose regular expressions have no template: use the chat template"
                } else {
                    "a response_template has an object \"fields\""
                },
            ));
        };
        check_keys(template, &TEMPLATE_KEYS, "/")?;
        if template.get("version").is_some_and(|version| version.as_u64() != Some(1)) {
            return Err(bad("/version", "only version 1 is known"));
        }
        let mut dialect = Self {
            name: name.to_owned().into(),
            about: "Read from a checkpoint's response_template".into(),
            ..Self::default()
        };
        for (key, field) in fields {
            let place = format!("/fields/{key}");
            if key != "role" {
                check_keys(field, &FIELD_KEYS, &place)?;
            }
            let whole = matches!(field.get("transform").map(Value::as_str), None | Some(Some("{content}")));
            if key != "role" && key != "tool_calls" && !whole {
                return Err(bad(&place, "a transform of what is no call has no counterpart"));
            }
            match key.as_str() {
                "thinking" | "reasoning" | "reasoning_content" => {
                    let (open, close) = (strings(field, "open", &place)?, strings(field, "close", &place)?);
                    if open.is_empty() || close.is_empty() {
                        return Err(bad(&place, "reasoning needs \"open\" and \"close\" as texts"));
                    }
                    for open in &open {
                        let pair = |close: &String| (open.trim().to_owned(), close.trim().to_owned());
                        dialect.reasoning.extend(close.iter().map(pair));
                    }
                }
                "content" => {
                    for side in ["open", "close"] {
                        let tokens = strings(field, side, &place)?;
                        dialect.tokens.extend(tokens.iter().map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()));
                    }
                }
                "tool_calls" => dialect.tool_calls(field, &place)?,
                "role" => {}
                _ => return Err(bad(&place, "a field that has no counterpart here")),
            }
        }
        if dialect.calls.is_empty() {
            return Err(bad("/fields", "no field \"tool_calls\": this model writes no calls"));
        }
        super::Dialects::of(dialect.clone()).map_err(|error| {
            let (made, why) = (&error.place, &error.message);
            bad(
                "/fields/tool_calls",
                format!("what it says is {made:?} as a template of ours, and that cannot be read: {why}"),
            )
        })?;
        Ok(dialect)
    }

    fn tool_calls(&mut self, field: &Value, place: &str) -> Result<(), Error> {
        let parts = Parts::of(field).map_err(|why| bad(place, why))?;
        let (opens, closes) = (boundary(field, "open", &parts, place)?, boundary(field, "close", &parts, place)?);
        if opens.is_empty() {
            return Err(bad(place, "a call needs \"open\" or \"open_pattern\""));
        }
        let empty = Value::Null;
        let arguments = field.get("content_args").unwrap_or(&empty);
        if !arguments.is_null() {
            check_keys(arguments, &ARGUMENT_KEYS, &format!("{place}/content_args"))?;
        }
        let kind = field.get("content").and_then(Value::as_str).unwrap_or("text");
        let unquoted = arguments.get("unquoted_keys").and_then(Value::as_bool) == Some(true);
        let named = opens.iter().all(|open| open.contains("{name}"));
        let body = match kind {
            "json" if named && unquoted && arguments.get("string_delims").is_some() => {
                let quote = arguments.pointer("/string_delims/0/0").and_then(Value::as_str);
                self.quote = quote.ok_or_else(|| bad(place, "string_delims holds no pair of texts"))?.to_owned();
                "gemma"
            }
            "json" if named => "arguments",
            "json" => "json",
            "xml-inline" if named => {
                let tag = arguments.get("tag_pattern").and_then(Value::as_str);
                let tag = tag.ok_or_else(|| bad(place, "xml-inline needs content_args.tag_pattern"))?;
                let (template, trim) = parameter(tag, place)?;
                self.parameters.push(template);
                self.trim = match arguments.get("strip").and_then(Value::as_bool) {
                    Some(true) => Trim::Space,
                    _ => trim.unwrap_or(Trim::Newline),
                };
                let parser = arguments.get("value_parser").filter(|parser| !parser.is_null());
                self.json_first = parser.is_some_and(|parser| parser.get("name").unwrap_or(parser) != "text");
                "parameters"
            }
            "xml-inline" => return Err(bad(place, "xml-inline needs the tool's name in the opener")),
            other => {
                return Err(bad(place, format!("content of the kind {other:?} holds no arguments that can be read")));
            }
        };
        parts.check(kind != "json" || named).map_err(|why| bad(place, why))?;
        for open in &opens {
            match closes.as_slice() {
                [] => self.calls.push(format!("{open} {{{body}}}")),
                closes => self.calls.extend(closes.iter().map(|close| format!("{open} {{{body}}} {close}"))),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialects;
    use crate::engine::{Options, extract};
    use serde_json::json;

    fn read(template: &Value, text: &str) -> (String, String, Vec<(String, Value)>) {
        let dialect = Dialect::from_response_template(template, "t").unwrap();
        let turn = extract(text, &Dialects::of(dialect).unwrap(), None, &Options::default());
        let calls = turn.tool_calls.iter().map(|c| (c.name.to_string(), c.arguments.to_value())).collect();
        (turn.content.trim().to_owned(), turn.reasoning.trim().to_owned(), calls)
    }

    #[test]
    fn json_in_tags() {
        let template = json!({"fields": {"thinking": {"open": "<think>", "close": "</think>"}, "content": {"content": "text"},
            "tool_calls": {"open": "<tool_call>\n", "close": "\n</tool_call>", "repeats": true, "content": "json"}}});
        let text = "<think>r</think>Hi\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call>";
        assert_eq!(read(&template, text), ("Hi".into(), "r".into(), vec![("f".into(), json!({"a": 1}))]));
    }

    #[test]
    fn parameters_in_tags() {
        let template = json!({"fields": {"tool_calls": {
            "open_pattern": r"<tool_call>\s*<function=(?P<name>[^>]+)>\s*", "close_pattern": r"</function>\s*</tool_call>",
            "content": "xml-inline",
            "content_args": {"tag_pattern": r"<parameter=(?P<key>[^>]+)>(?P<value>.*?)</parameter>", "strip": true}}}});
        let text = "<tool_call>\n<function=f>\n<parameter=a>\nx y\n</parameter>\n</function>\n</tool_call>";
        assert_eq!(read(&template, text).2, [("f".into(), json!({"a": "x y"}))]);
    }

    #[test]
    fn white_space_round_a_value_is_none_of_it() {
        for (blank, trim) in [(r"\n", Trim::Newline), (r"\n?", Trim::Newline), (r"\s*", Trim::Space)] {
            let tag = format!(r"<parameter=(?P<key>\w+)>{blank}(?P<value>.*?){blank}</parameter>");
            let template = json!({"fields": {"tool_calls": {"open_pattern": r"<function=(?P<name>\w+)>", "close": "</function>",
                "content": "xml-inline", "content_args": {"tag_pattern": tag}}}});
            let text = "<function=f>\n<parameter=a>\nx y\n</parameter>\n<parameter=b>\nz\n</parameter>\n</function>";
            assert_eq!(read(&template, text).2, [("f".into(), json!({"a": "x y", "b": "z"}))], "{blank}");
            assert_eq!(Dialect::from_response_template(&template, "t").unwrap().trim, trim);
        }
    }

    /// The parts of a call are named by its transform: groups may be called anything.
    #[test]
    fn a_transform_names_the_parts() {
        let template = |open: &str, transform: Value| {
            json!({"version": 1, "start_anchor": "<a>", "fields": {"tool_calls": {
                "open_pattern": open, "close": "</c>", "content": "json", "repeats": true, "transform": transform}}})
        };
        let function = json!({"type": "function", "function": {"name": "{fn}", "arguments": "{content}"}});
        let read_named = read(&template("<c (?P<fn>\\w+)>", function), "<c f>{\"a\": 1}</c>");
        assert_eq!(read_named.2, [("f".into(), json!({"a": 1}))]);
        for transform in [
            json!("{content}"),
            json!({"type": "function", "function": "{content}"}),
            json!({"name": "{content.name}", "arguments": "{content.args}"}),
        ] {
            let read = read(&template("<c>", transform), "<c>{\"name\": \"f\", \"args\": {\"a\": 1}}</c>");
            assert_eq!(read.2, [("f".into(), json!({"a": 1}))]);
        }
        for (open, transform) in [
            ("<c (?P<name>\\w+)>", json!({"name": "{name}", "arguments": {"q": "{content}"}})),
            ("<c (?P<name>\\w+)>", json!({"name": "{name}", "arguments": "{content.args}"})),
            ("<c>", json!({"name": "{content.who}", "arguments": "{content.args}"})),
            ("<c>", json!({"name": "search", "arguments": "{content}"})),
        ] {
            assert!(Dialect::from_response_template(&template(open, transform.clone()), "t").is_err(), "{transform}");
        }
    }

    #[test]
    fn harmony_and_gemma() {
        let harmony = json!({"fields": {
            "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
            "content": {"open": "<|channel|>final<|message|>", "close": "<|return|>"},
            "tool_calls": {"open_pattern": r"<\|start\|>assistant to=functions\.(?P<name>\w+)<\|channel\|>commentary json<\|message\|>",
                "close": "<|call|>", "content": "json"}}});
        let text = "<|channel|>analysis<|message|>r<|end|><|start|>assistant to=functions.f<|channel|>commentary json<|message|>{\"a\": 1}<|call|>";
        assert_eq!(read(&harmony, text), (String::new(), "r".into(), vec![("f".into(), json!({"a": 1}))]));
        let gemma = json!({"fields": {"tool_calls": {"open_pattern": r"<\|tool_call>call:(?P<name>\w+)", "close": "<tool_call|>",
            "content": "json", "content_args": {"unquoted_keys": true, "string_delims": [["<|\"|>", "<|\"|>"]]}}}});
        assert_eq!(
            read(&gemma, "<|tool_call>call:f{a:<|\"|>x<|\"|>}<tool_call|>").2,
            [("f".into(), json!({"a": "x"}))]
        );
    }

    #[test]
    fn what_has_no_counterpart_is_named() {
        let rows = [
            (json!({}), "/fields"),
            (json!({"fields": {"content": {}}}), "/fields"),
            (json!({"fields": {"tool_calls": {"content": "json"}}}), "/fields/tool_calls"),
            (
                json!({"fields": {"tool_calls": {"open": "<c>", "clsoe": "</c>", "content": "json"}}}),
                "/fields/tool_calls",
            ),
            (json!({"fields": {"tool_calls": {"open": "<c>", "content": "json"}}, "anchor": "<a>"}), "/"),
            (
                json!({"fields": {"tool_calls": {"open": "<c>", "content": "json", "content_args": {"unquoted": true}}}}),
                "/fields/tool_calls/content_args",
            ),
            (json!({"fields": {"tool_calls": {"open": "<c>", "content": "kv-lines"}}}), "/fields/tool_calls"),
            (json!({"fields": {"tool_calls": {"open_pattern": "(a|b)", "content": "json"}}}), "/fields/tool_calls"),
        ];
        for (template, place) in rows {
            assert_eq!(Dialect::from_response_template(&template, "t").unwrap_err().place, place, "{template}");
        }
    }
}
