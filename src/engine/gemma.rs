//! Gemma's value syntax: `{city:<|"|>Paris<|"|>,days:3,tags:[<|"|>a<|"|>],opts:{k:1}}`. Strings stand between `<|"|>`
//! without escapes; everything else is bare.
use super::call::{Progress, Writer};
use super::head::{Head, header_name};
use super::lenient;
use super::output::{Found, Output, Piece, Value};
use super::{Look, Reader, head};
use crate::json::push_string;
use crate::schema::{Expected, read_text};
use crate::turn::{ArgumentValue, CallStatus};

/// The marker round strings, per checkpoint family.
const QUOTES: [&str; 2] = ["<|\"|>", "<escape>"];

#[derive(Debug)]
pub(super) struct Gemma {
    head: Head,
    start: usize,
    at: usize,
    depth: usize,
    /// The string marker that is open.
    quote: Option<&'static str>,
    index: Option<usize>,
}

impl Gemma {
    pub(super) fn new(at: usize, head: Head) -> Self {
        Self { head, start: at, at, depth: 0, quote: None, index: None }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let index = match self.index {
            Some(index) => index,
            None => {
                let (name, id) = header_name(cx, &self.head);
                let Some(index) = writer.begin(cx, out, &name, id) else { return Progress::Fail { at: self.start } };
                self.index = Some(index);
                index
            }
        };
        match self.extent(cx) {
            Look::Is(end) => {
                let members = self.read(cx, out, index, end);
                if out.streaming() {
                    let text = Found::Members(members.clone()).arguments(cx.text).to_json().into_owned();
                    writer.piece(out, index, &text);
                }
                writer.over(index, Found::Members(members), writer.start..end);
                Progress::Done { end }
            }
            Look::More if !cx.eof => Progress::More,
            _ => {
                let end = cx.text.len();
                let members = self.read(cx, out, index, end);
                writer.over(index, Found::Members(members), writer.start..end).status = CallStatus::Incomplete;
                Progress::Done { end }
            }
        }
    }

    /// Where the outermost bracket closes.
    fn extent(&mut self, cx: &Reader<'_>) -> Look<usize> {
        let bytes = cx.bytes();
        loop {
            if let Some(quote) = self.quote {
                let rest = bytes.get(self.at..).unwrap_or_default();
                match memchr::memmem::find(rest, quote.as_bytes()) {
                    Some(i) => {
                        self.at += i + quote.len();
                        self.quote = None;
                    }
                    None => {
                        let mut next = bytes.len().saturating_sub(quote.len() - 1).max(self.at);
                        while !cx.text.is_char_boundary(next) {
                            next -= 1;
                        }
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
                    let mut opened = false;
                    for quote in QUOTES {
                        match head::literal(cx, self.at, quote) {
                            Look::Is(end) => {
                                self.quote = Some(quote);
                                self.at = end;
                                opened = true;
                                break;
                            }
                            Look::More => return Look::More,
                            Look::No => {}
                        }
                    }
                    if opened {
                        continue;
                    }
                    // The call's own end without a closing bracket.
                    if cx.rest(self.at).starts_with("<tool_call|>") {
                        return Look::Is(self.at);
                    }
                }
                Some(_) => {}
            }
            self.at += 1;
        }
    }

    fn read(&self, cx: &Reader<'_>, out: &Output, index: usize, end: usize) -> Vec<(Piece, Value)> {
        let name = out.calls.get(index).map_or("", |c| c.name.as_str());
        let tool = cx.tool(name);
        let mut values = Values { text: cx.slice(self.start, end), at: 0, max_depth: cx.policy.max_depth };
        values.at = 1.min(values.text.len());
        let mut members: Vec<(Piece, Value)> = Vec::new();
        while let Some(key) = values.key() {
            let value = match values.value(0) {
                Read::Text(text) => Value::Text(Piece::Made(text)),
                Read::Json(json) => Value::Json(Piece::Made(json)),
                Read::Word(word) => {
                    let expected = tool.map_or(Expected::ANY, |t| t.expected(&key));
                    match bare_word(&word, expected) {
                        ArgumentValue::Text(t) => Value::Text(Piece::Made(t.into_owned())),
                        ArgumentValue::Json(t) => Value::Json(Piece::Made(t.into_owned())),
                    }
                }
                Read::Nothing => break,
            };
            match members.iter_mut().find(|(k, _)| k.get(cx.text) == key) {
                Some(member) => member.1 = value,
                None => members.push((Piece::Made(key), value)),
            }
        }
        members
    }
}

/// A word without quotes: a JSON or Python literal where it reads as one and the schema does not want a string.
fn bare_word(word: &str, expected: Expected) -> ArgumentValue<'_> {
    if expected.is_string() {
        return ArgumentValue::Text(word.into());
    }
    match read_text(word, expected) {
        ArgumentValue::Text(_) if expected == Expected::ANY && matches!(word, "true" | "false" | "True" | "False") => {
            ArgumentValue::Json(lenient::literal(word, 0).0.into())
        }
        value => value,
    }
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
}

impl Values<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',').len();
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = QUOTES.into_iter().find(|q| self.rest().starts_with(q))?;
        let from = self.at + quote.len();
        let rest = self.text.get(from..)?;
        let length = rest.find(quote).unwrap_or(rest.len());
        self.at = (from + length + quote.len()).min(self.text.len());
        rest.get(..length).map(str::to_owned)
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

    fn value(&mut self, depth: usize) -> Read {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        if let Some(text) = self.quoted() {
            return Read::Text(text);
        }
        match self.rest().bytes().next() {
            None => Read::Nothing,
            Some(b'{' | b'[') if depth >= self.max_depth => Read::Nothing,
            Some(b'{') => {
                self.at += 1;
                let mut json = String::from("{");
                while let Some(key) = self.key() {
                    if json.len() > 1 {
                        json.push_str(", ");
                    }
                    push_string(&mut json, &key);
                    json.push_str(": ");
                    let value = self.value(depth + 1);
                    push_read(&mut json, value);
                }
                self.close();
                json.push('}');
                Read::Json(json)
            }
            Some(b'[') => {
                self.at += 1;
                let mut json = String::from("[");
                loop {
                    self.space();
                    if self.rest().is_empty() || self.rest().starts_with([']', '}', ')']) {
                        break;
                    }
                    let before = self.at;
                    let value = self.value(depth + 1);
                    if self.at == before {
                        break;
                    }
                    if json.len() > 1 {
                        json.push_str(", ");
                    }
                    push_read(&mut json, value);
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
                let rest = self.rest();
                let length = rest.find([',', '}', ']', ')']).unwrap_or(rest.len());
                let mut word = rest[..length].trim();
                // The opening marker of a string is sometimes left out.
                if let Some((before, _)) = word.split_once(QUOTES[0]) {
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
}

fn push_read(json: &mut String, read: Read) {
    match read {
        Read::Text(text) => push_string(json, &text),
        Read::Json(text) => json.push_str(&text),
        Read::Word(word) => match bare_word(&word, Expected::ANY) {
            ArgumentValue::Text(text) => push_string(json, &text),
            ArgumentValue::Json(text) => json.push_str(&text),
        },
        Read::Nothing => json.push_str("null"),
    }
}
