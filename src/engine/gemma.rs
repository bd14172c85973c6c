//! Gemma's value syntax: `{city:<|"|>Paris<|"|>,days:3,tags:[<|"|>a<|"|>],opts:{k:1}}`. Strings stand between markers that
//! the dialect names, without escapes; everything else is bare.
use super::call::Progress;
use super::elements::find;
use super::head::Head;
use super::keys::floor;
use super::lenient;
use super::output::{Found, Output, Piece, Value};
use super::tail::closes;
use super::values::Keys;
use super::writer::Writer;
use super::{Look, Reader, head};
use crate::dialect::Element;
use crate::json::push_string;
use crate::schema::{Expected, read_text};
use crate::turn::{ArgumentValue, CallStatus, Repair, RepairCode};
use serde_json::Value as Schema;

#[derive(Debug)]
pub(super) struct Gemma {
    head: Head,
    start: usize,
    at: usize,
    depth: usize,
    /// A string is open.
    quoted: bool,
    index: Option<usize>,
}

impl Gemma {
    pub(super) fn new(at: usize, head: Head) -> Self {
        Self { head, start: at, at, depth: 0, quoted: false, index: None }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let index = match self.index {
            Some(index) => index,
            None => {
                let name = self.head.name(cx).unwrap_or_default();
                let Some(index) = writer.begin(cx, out, &name, self.head.id(cx)) else {
                    return Progress::Fail { at: self.start };
                };
                self.index = Some(index);
                index
            }
        };
        let quote = writer.origin.row(cx).map_or("", |r| r.dialect.quote.as_str());
        match self.extent(cx, quote, writer.origin.tail(cx)) {
            Look::Is(end) => {
                let Members { members, deep, slip, unread } = self.read(cx, out, index, end, quote, false);
                if out.streaming() && !deep && !unread {
                    let text = Found::Members(members.clone()).into_arguments(cx.text).to_json().into_owned();
                    writer.piece(out, index, &text);
                }
                let raw = writer.start..end;
                if deep {
                    writer.over(index, Found::none(), raw).status = CallStatus::Malformed;
                } else {
                    let pending = writer.over(index, Found::Members(members), raw);
                    pending.repairs.extend(slip.map(|(at, what)| Repair::at(RepairCode::Marker, at, what)));
                    if unread {
                        pending.status = CallStatus::Malformed;
                    }
                }
                Progress::Done { end }
            }
            Look::More if !cx.eof => Progress::More,
            _ => {
                let end = cx.text.len();
                // What may be the beginning of a marker round a string is none of it.
                let cut = (1..quote.len()).rev().find(|n| quote.get(..*n).is_some_and(|q| cx.text.ends_with(q)));
                let Members { members, .. } = self.read(cx, out, index, end - cut.unwrap_or(0), quote, true);
                writer.over(index, Found::Members(members), writer.start..end).status = CallStatus::Incomplete;
                Progress::Done { end }
            }
        }
    }

    /// Where the outermost bracket closes.
    fn extent(&mut self, cx: &Reader<'_>, quote: &str, tail: &[Element]) -> Look<usize> {
        let bytes = cx.bytes();
        loop {
            if self.quoted {
                let rest = bytes.get(self.at..).unwrap_or_default();
                match memchr::memmem::find(rest, quote.as_bytes()) {
                    Some(i) => {
                        self.at += i + quote.len();
                        self.quoted = false;
                    }
                    None => {
                        let next = floor(cx.text, bytes.len().saturating_sub(quote.len() - 1));
                        self.at = next.max(self.at);
                        return Look::More;
                    }
                }
                continue;
            }
            match bytes.get(self.at) {
                None => return Look::More,
                Some(b'{' | b'(' | b'[') => self.depth += 1,
                Some(b'}' | b')' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Look::Is(self.at + 1);
                    }
                }
                Some(b'<') => {
                    match head::literal(cx, self.at, quote) {
                        Look::Is(end) if !quote.is_empty() => {
                            self.quoted = opens(cx.slice(self.start, self.at));
                            self.at = end;
                            continue;
                        }
                        Look::More => return Look::More,
                        _ => {}
                    }
                    // The call's own end without a closing bracket.
                    match closes(cx, tail, self.at) {
                        Look::Is(()) => return Look::Is(self.at),
                        Look::More => return Look::More,
                        Look::No => {}
                    }
                }
                Some(_) => {}
            }
            self.at += 1;
        }
    }

    /// The arguments (`cut`: the text ends in them).
    fn read(&self, cx: &Reader<'_>, out: &Output, index: usize, end: usize, quote: &str, cut: bool) -> Members {
        let tool = cx.called(out, index);
        let root = tool.map(|t| &t.schema);
        let text = cx.slice(self.start, end);
        let mut values = Values {
            text,
            at: 0,
            max_depth: cx.policy.max_depth,
            cut,
            deep: false,
            slip: None,
            next_quote: None,
            quote,
            root,
        };
        values.at = 1.min(values.text.len());
        let mut members: Vec<(Piece, Value)> = Vec::new();
        let mut keys = Keys::default();
        while let Some(key) = values.key() {
            let schema = root.and_then(|r| r.get("properties")).and_then(|p| p.get(&key));
            let value = match values.value(0, schema, false) {
                Read::Text(text) => Value::Text(Piece::Made(text)),
                Read::Json(json) => Value::Json(Piece::Made(json)),
                Read::Word(word) => {
                    let expected = tool.map_or(Expected::ANY, |t| t.expected(&key).json_first());
                    match bare_word(&word, expected) {
                        ArgumentValue::Text(t) => Value::Text(Piece::Made(t.into_owned())),
                        ArgumentValue::Json(t) => Value::Json(Piece::Made(t.into_owned())),
                    }
                }
                Read::Nothing => break,
            };
            let name = |i: usize| members.get(i).map(|(k, _)| k.get(cx.text));
            let same = keys.position(&key, members.len(), name);
            match same.and_then(|i| members.get_mut(i)) {
                Some(member) => member.1 = value,
                None => members.push((Piece::Made(key), value)),
            }
        }
        let unread = !cut && !values.rest().trim_matches(|c: char| c.is_whitespace() || ",})]".contains(c)).is_empty();
        let slip = values.slip.map(|(at, what)| (self.start + at, what));
        Members { members, deep: values.deep, slip, unread }
    }
}

/// What stands behind `before` begins a string: behind a value's text it ends one that nothing opened.
fn opens(before: &str) -> bool {
    before.trim_end().ends_with([':', '=', ',', '[', '{', '('])
}

/// A word without quotes: a JSON or Python literal where it reads as one and the schema does not want a string.
fn bare_word(word: &str, expected: Expected) -> ArgumentValue<'_> {
    if expected.is_string() {
        return ArgumentValue::Text(word.into());
    }
    match read_text(word, expected) {
        ArgumentValue::Text(_) if expected.is_any() && matches!(word, "True" | "False") => {
            ArgumentValue::Json(lenient::literal(word, 0).0.into())
        }
        value => value,
    }
}

/// The arguments, and what was odd about them.
struct Members {
    members: Vec<(Piece, Value)>,
    /// Something in them is nested too deep.
    deep: bool,
    /// Where a marker round a string is wrong, and what is.
    slip: Option<(usize, &'static str)>,
    /// Something stands in them that is no member.
    unread: bool,
}

enum Read {
    Text(String),
    Json(String),
    Word(String),
    Nothing,
}

/// Reads values from the text between the brackets.
struct Values<'t> {
    text: &'t str,
    at: usize,
    max_depth: usize,
    /// The text ends inside the values.
    cut: bool,
    /// Something was nested deeper.
    deep: bool,
    /// Where a marker round a string is wrong, and what is.
    slip: Option<(usize, &'static str)>,
    /// Where the next marker of a string stands.
    next_quote: Option<usize>,
    /// The marker round strings.
    quote: &'t str,
    /// The tool's schema, for references.
    root: Option<&'t Schema>,
}

impl<'t> Values<'t> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',').len();
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.quote;
        if quote.is_empty() || !self.rest().starts_with(quote) {
            return None;
        }
        let mut from = self.at + quote.len();
        let rest = self.text.get(from..)?;
        let mut length = rest.find(quote).unwrap_or(rest.len());
        let behind = |at: usize| self.text.get(at..).unwrap_or_default().trim_start();
        let over = |rest: &str| rest.is_empty() || rest.starts_with([',', '}', ']', ')', ':', '=']);
        let mut end = (from + length + quote.len()).min(self.text.len());
        let mut twice = None;
        // Behind an empty string comes another member: else it is the opening marker once more.
        if rest.get(..length).is_some_and(|text| text.trim().is_empty())
            && !over(behind(end))
            && let Some(inside) = self.text.get(end..).and_then(|text| text.find(quote))
            && over(behind(end + inside + quote.len()))
        {
            twice = Some(end - quote.len());
            (from, length, end) = (end, inside, end + inside + quote.len());
        }
        if let Some(rest) = behind(end).strip_prefix(quote)
            && over(rest.trim_start())
        {
            twice = Some(end);
            end = self.text.len() - rest.len();
        }
        if let Some(at) = twice {
            self.slip.get_or_insert((at, "a marker round a string stood twice"));
        }
        self.at = end;
        self.text.get(from..from + length).map(str::to_owned)
    }

    fn key(&mut self) -> Option<String> {
        self.space();
        let key = match self.quoted() {
            Some(key) => key,
            None => {
                let rest = self.rest();
                let length = rest.find([':', '=', '}', ')', ']', ','])?;
                let key = rest.get(..length)?.trim().trim_matches(['"', '\'']).to_owned();
                self.at += length;
                key
            }
        };
        self.space();
        if !self.rest().starts_with([':', '=']) || key.is_empty() {
            return None;
        }
        self.at += 1;
        Some(key)
    }

    /// The string at the cursor whose opening marker was left out, up to its closing one: no other member stands between.
    fn unopened(&mut self) -> Option<String> {
        if self.quote.is_empty() {
            return None;
        }
        // Each byte is searched once.
        if self.next_quote.is_none_or(|next| next < self.at) {
            let next = self.rest().find(self.quote).map(|length| self.at + length);
            self.next_quote = Some(next.unwrap_or(usize::MAX));
        }
        let length = self.next_quote?.checked_sub(self.at)?;
        let rest = self.rest();
        let text = rest.get(..length).filter(|text| !opens(text))?;
        let member = |text: &str| {
            let key =
                text.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
            key.len() < text.trim_start().len() && key.trim_start().starts_with([':', '='])
        };
        if text.split(',').skip(1).any(member) {
            return None;
        }
        let text = text.trim().to_owned();
        self.slip.get_or_insert((self.at, "the marker that opens a string is missing"));
        self.at += length + self.quote.len();
        Some(text)
    }

    /// The value at the cursor, which may be one of a list.
    fn value(&mut self, depth: usize, schema: Option<&'t Schema>, listed: bool) -> Read {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        if let Some(text) = self.quoted() {
            return Read::Text(text);
        }
        match self.rest().bytes().next() {
            None => Read::Nothing,
            Some(b'{' | b'[') if depth >= self.max_depth => {
                self.deep = true;
                self.at = self.text.len();
                Read::Nothing
            }
            Some(b'{') => {
                self.at += 1;
                let mut json = String::from("{");
                while let Some(key) = self.key() {
                    let of = find(schema, self.root, 0, &|s| s.get("properties").and_then(|p| p.get(&key)))
                        .or_else(|| find(schema, self.root, 0, &|s| s.get("additionalProperties")));
                    let value = self.value(depth + 1, of, false);
                    if matches!(value, Read::Nothing) {
                        break;
                    }
                    if json.len() > 1 {
                        json.push_str(", ");
                    }
                    push_string(&mut json, &key);
                    json.push_str(": ");
                    self.push(&mut json, value, of);
                }
                self.close();
                json.push('}');
                Read::Json(json)
            }
            Some(b'[') => {
                self.at += 1;
                let of = find(schema, self.root, 0, &|s| s.get("items"));
                let mut json = String::from("[");
                loop {
                    self.space();
                    if self.rest().is_empty() || self.rest().starts_with([']', '}', ')']) {
                        break;
                    }
                    let before = self.at;
                    let value = self.value(depth + 1, of, true);
                    if self.at == before || matches!(value, Read::Nothing) {
                        break;
                    }
                    if json.len() > 1 {
                        json.push_str(", ");
                    }
                    self.push(&mut json, value, of);
                }
                self.close();
                json.push(']');
                Read::Json(json)
            }
            Some(quote @ (b'"' | b'\'')) => {
                let rest = self.rest();
                let end = rest.bytes().enumerate().skip(1).scan(false, |escaped, (i, b)| {
                    let end = b == quote && !*escaped;
                    *escaped = b == b'\\' && !*escaped;
                    Some(end.then_some(i))
                });
                let length = end.flatten().next().map_or(rest.len(), |i| i + 1);
                let (json, _): (String, _) = lenient::literal(&rest[..length], 0);
                self.at += length;
                match serde_json::from_str::<String>(&json) {
                    Ok(text) => Read::Text(text),
                    Err(_) => Read::Json(json),
                }
            }
            Some(_) => {
                if let Some(text) = if listed { None } else { self.unopened() } {
                    return Read::Text(text);
                }
                let rest = self.rest();
                let end = rest.find([',', '}', ']', ')']);
                // What is there of a string is certain, of anything else it is not.
                let string = || self.root.zip(schema).is_some_and(|(root, s)| Expected::of(s, root).is_string());
                if self.cut && end.is_none() && !string() {
                    return Read::Nothing;
                }
                let length = end.unwrap_or(rest.len());
                let mut word = rest[..length].trim();
                // The opening marker of a string is sometimes left out.
                if let Some((before, _)) = word.split_once(self.quote).filter(|_| !self.quote.is_empty()) {
                    word = before;
                }
                let word = word.to_owned();
                self.at += length;
                Read::Word(word)
            }
        }
    }

    fn close(&mut self) {
        self.space();
        if self.rest().starts_with(['}', ']', ')']) {
            self.at += 1;
        }
    }

    fn push(&self, json: &mut String, read: Read, schema: Option<&Schema>) {
        match read {
            Read::Text(text) => push_string(json, &text),
            Read::Json(text) => json.push_str(&text),
            Read::Word(word) => {
                // Strings have quotes here: where there are tools and their schema is silent, a bare word is JSON.
                let expected = match self.root {
                    Some(root) => schema.map_or(Expected::ANY, |s| Expected::of(s, root)).json_first(),
                    None => Expected::ANY,
                };
                match bare_word(&word, expected) {
                    ArgumentValue::Text(text) => push_string(json, &text),
                    ArgumentValue::Json(text) => json.push_str(&text),
                }
            }
            Read::Nothing => json.push_str("null"),
        }
    }
}
