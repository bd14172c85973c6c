//! Gemma's value syntax: `{city:<|"|>Paris<|"|>,days:3,tags:[<|"|>a<|"|>],opts:{k:1}}`. Strings stand between markers that
//! the dialect names, without escapes; everything else is bare.
use super::call::Progress;
use super::elements::find;
use super::head::{Head, LONGEST_NAME};
use super::keys::floor;
use super::lenient;
use super::members::Members;
use super::output::{Found, Output, Piece, Value};
use super::tail::closes;
use super::writer::Writer;
use super::{Look, Reader, head};
use crate::dialect::Element;
use crate::json::{push_escaped, push_string};
use crate::schema::{Expected, Tool, read_text};
use crate::turn::{ArgumentValue, CallStatus, Repair, RepairCode};
use serde_json::Value as Schema;
use std::ops::Range;

#[derive(Debug)]
pub(super) struct Gemma {
    head: Head,
    start: usize,
    at: usize,
    depth: usize,
    index: Option<usize>,
    /// Where the member that is being read begins.
    member: usize,
    /// A string is open.
    string: Option<OpenString>,
    members: Members,
    /// Something in them is nested too deep.
    deep: bool,
    /// Something stands among them that is no member.
    unread: bool,
    repairs: Vec<Repair>,
}

/// A string whose end has not come.
#[derive(Debug)]
struct OpenString {
    /// The member that it is the value of, where it is one.
    key: Option<String>,
    /// How far it has been given out.
    sent: usize,
}

impl Gemma {
    pub(super) fn new(at: usize, head: Head) -> Self {
        Self {
            head,
            start: at,
            at,
            depth: 0,
            index: None,
            member: at + 1,
            string: None,
            members: Members::default(),
            deep: false,
            unread: false,
            repairs: Vec::new(),
        }
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
        let quote = quote(cx, writer);
        let status = loop {
            match self.next(cx, quote, writer.origin.tail(cx), cx.called(out, index)) {
                Next::Member => {
                    self.read(cx, out, writer, index, self.at, false);
                    self.at += 1;
                    self.member = self.at;
                }
                Next::End { closed } => {
                    self.read(cx, out, writer, index, self.at, false);
                    if closed {
                        self.at += 1;
                    } else {
                        let what = "the closing bracket is missing";
                        self.repairs.push(Repair::at(RepairCode::Bracket, self.at, what));
                    }
                    break if self.deep || self.unread { CallStatus::Malformed } else { CallStatus::Ok };
                }
                Next::More if !cx.eof => {
                    self.tell(cx, out, writer, index);
                    return Progress::More;
                }
                Next::More => {
                    self.at = cx.text.len();
                    // What may be the beginning of a marker round a string is none of it.
                    let cut = (1..quote.len()).rev().find(|n| quote.get(..*n).is_some_and(|q| cx.text.ends_with(q)));
                    self.read(cx, out, writer, index, self.at - cut.unwrap_or(0), true);
                    break CallStatus::Incomplete;
                }
            }
        };
        if status.readable() {
            self.members.close(out, writer, index);
        }
        let members = self.members.take();
        let found = if self.deep { Found::none() } else { members };
        let pending = writer.over(index, found, writer.start..self.at);
        pending.status = status;
        pending.repairs = std::mem::take(&mut self.repairs);
        Progress::Done { end: self.at }
    }

    /// Looks for the next place where a member is over: the comma before another one, or behind the outermost bracket.
    fn next(&mut self, cx: &Reader<'_>, quote: &str, tail: &[Element], tool: Option<&Tool>) -> Next {
        let bytes = cx.bytes();
        loop {
            if self.string.is_some() {
                let rest = bytes.get(self.at..).unwrap_or_default();
                match memchr::memmem::find(rest, quote.as_bytes()) {
                    Some(i) => {
                        self.at += i + quote.len();
                        self.string = None;
                    }
                    None => {
                        let next = floor(cx.text, bytes.len().saturating_sub(quote.len() - 1));
                        self.at = next.max(self.at);
                        return Next::More;
                    }
                }
                continue;
            }
            match bytes.get(self.at) {
                None => return Next::More,
                Some(b'{' | b'(' | b'[') => self.depth += 1,
                Some(b'}' | b')' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Next::End { closed: true };
                    }
                }
                Some(b',') if self.depth == 1 => match key_at(cx, self.at + 1, quote) {
                    Look::Is(key) => match self.before_comma(cx, quote) {
                        Before::Over => return Next::Member,
                        Before::Bare if may_be_parameter(tool, cx.slice(key.start, key.end)) => return Next::Member,
                        Before::Bare | Before::Quoted => {}
                    },
                    Look::More => return Next::More,
                    Look::No => {}
                },
                Some(b'<') => {
                    match head::literal(cx, self.at, quote) {
                        Look::Is(end) if !quote.is_empty() => {
                            self.string = self.opened(cx, quote, end);
                            self.at = end;
                            continue;
                        }
                        Look::More => return Next::More,
                        _ => {}
                    }
                    // The call's own end without a closing bracket.
                    match closes(cx, tail, self.at) {
                        Look::Is(()) => return Next::End { closed: false },
                        Look::More => return Next::More,
                        Look::No => {}
                    }
                }
                Some(_) => {}
            }
            self.at += 1;
        }
    }

    /// What the member that is being read is, up to the comma that was reached.
    fn before_comma(&self, cx: &Reader<'_>, quote: &str) -> Before {
        let text = cx.slice(self.member, self.at).trim_end();
        // What a value is shows at its beginning; one that is longer is no number and no word of JSON's.
        let near = text.get(..floor(text, LONGEST_NAME)).unwrap_or(text);
        let value = near.split_once([':', '=']).map_or("", |(_, value)| value.trim_start());
        if !quote.is_empty() && text.ends_with(quote) {
            return Before::Over;
        }
        if let Some(mark) = value.chars().next().filter(|mark| matches!(mark, '"' | '\'')) {
            let closed = text.ends_with(mark) && (value.len() > 1 || near.len() < text.len());
            return if closed { Before::Over } else { Before::Quoted };
        }
        let literal = near.len() == text.len() && lenient::looks_literal(value);
        if literal || text.ends_with(['}', ']']) { Before::Over } else { Before::Bare }
    }

    /// The string that the marker here opens, which ends at `end`, if it opens one.
    fn opened(&self, cx: &Reader<'_>, quote: &str, end: usize) -> Option<OpenString> {
        let before = cx.slice(self.member.min(self.at), self.at);
        if !opens(cx.slice(self.start, self.at)) {
            return None;
        }
        let key = (self.depth == 1).then(|| Values::new(before, quote, None).only_key()).flatten();
        Some(OpenString { key, sent: end })
    }

    /// Gives out what is certain of the string that a member is.
    fn tell(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, index: usize) {
        let Some(OpenString { key: Some(key), sent }) = &mut self.string else { return };
        let text = cx.slice(*sent, self.at);
        if text.is_empty() || !out.streaming() || self.deep || self.unread {
            return;
        }
        *sent = self.at;
        let mut json = String::new();
        push_escaped(&mut json, text);
        self.members.grow(out, writer, index, key, &json);
    }

    /// Reads the member that ends at `end` (`cut`: the text does, inside it).
    fn read(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, index: usize, end: usize, cut: bool) {
        if self.deep || self.unread {
            return;
        }
        let quote = quote(cx, writer);
        let tool = cx.called(out, index);
        let root = tool.map(|t| &t.schema);
        let mut values = Values::new(cx.slice(self.member.min(end), end), quote, root);
        (values.max_depth, values.cut) = (cx.policy.max_depth, cut);
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
            let told = Some(index).filter(|_| !cut && !values.deep);
            if self.members.add(cx, out, writer, told, Piece::Made(key), value) {
                let what = "an argument stood twice: the last value counts";
                self.repairs.push(Repair::at(RepairCode::DuplicateKey, self.member, what));
            }
        }
        self.deep = values.deep;
        let rest = values.rest().trim_matches(|c: char| c.is_whitespace() || ",})]".contains(c));
        self.unread = !cut && (values.unread || !rest.is_empty());
        let slip = values.slip.map(|(at, what)| Repair::at(RepairCode::Marker, self.member + at, what));
        self.repairs.extend(slip);
    }
}

/// The marker round strings.
fn quote<'t>(cx: &Reader<'t>, writer: &Writer) -> &'t str {
    writer.origin.row(cx).map_or("", |row| row.dialect.quote.as_str())
}

/// What stands before a comma behind which a key follows.
enum Before {
    /// A value that is over.
    Over,
    /// Bare text, which may go on with the comma.
    Bare,
    /// A string in quotes that has not closed.
    Quoted,
}

/// What stands where a member may be over.
enum Next {
    /// A comma, and behind it another member.
    Member,
    /// The call is over: with its bracket, if that is `closed`.
    End {
        closed: bool,
    },
    More,
}

/// The tool has a parameter of this name, or nobody knows which it has.
fn may_be_parameter(tool: Option<&Tool>, key: &str) -> bool {
    let declared = |tool: &Tool| tool.parameters.is_empty() || tool.parameters.iter().any(|(name, _)| name == key);
    key.is_empty() || tool.is_none_or(declared)
}

/// A key and its colon stand at `at`, or a string that may be one: then nothing is said of its name.
fn key_at(cx: &Reader<'_>, at: usize, quote: &str) -> Look<Range<usize>> {
    let start = cx.skip_space(at);
    if !quote.is_empty() {
        match head::literal(cx, start, quote) {
            Look::No => {}
            look => return look.map(|end| end..end),
        }
    }
    let letter = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$' | b'"' | b'\'') || **byte >= 0x80
    };
    let rest = cx.bytes().get(start..).unwrap_or_default();
    let length = rest.iter().take(LONGEST_NAME).take_while(letter).count();
    match cx.behind_space(start, start + length) {
        Look::Is(colon) if length > 0 && matches!(cx.bytes().get(colon), Some(b':' | b'=')) => {
            Look::Is(start..start + length)
        }
        Look::More => Look::More,
        _ => Look::No,
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
    /// Something in it is no member.
    unread: bool,
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
    fn new(text: &'t str, quote: &'t str, root: Option<&'t Schema>) -> Self {
        let (at, max_depth) = (0, 0);
        Self { text, at, max_depth, cut: false, deep: false, unread: false, slip: None, next_quote: None, quote, root }
    }

    /// The key that is all of the text.
    fn only_key(mut self) -> Option<String> {
        self.key().filter(|_| self.rest().trim().is_empty())
    }

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
        let start = self.at;
        let key = self.quoted().or_else(|| {
            let length = self.rest().find([':', '=', '}', ')', ']', ','])?;
            let key = self.rest().get(..length)?.trim().trim_matches(['"', '\'']);
            let key = (!key.contains(['{', '(', '[', '<', ';', '\n'])).then(|| key.to_owned())?;
            self.at += length;
            Some(key)
        });
        self.space();
        let key = key.filter(|key| !key.is_empty() && self.rest().starts_with([':', '=']));
        // What is no key is not passed over.
        self.at = if key.is_some() { self.at + 1 } else { start };
        key
    }

    /// The bare text that is the value at the cursor and all that follows it; `Nothing` if it cannot be.
    fn bare(&mut self, schema: Option<&'t Schema>) -> Read {
        let text = self.text.get(self.at..).unwrap_or_default().trim();
        let over = text.ends_with(',');
        let text = text.trim_end_matches(|c: char| c == ',' || c.is_whitespace());
        let marker = if self.quote.is_empty() { None } else { text.find(self.quote) };
        if let Some(marker) = marker {
            // The marker that opens a string is sometimes left out.
            let (before, behind) = (text.get(..marker), text.get(marker + self.quote.len()..));
            return match (before.map(str::trim_end), behind) {
                (Some(text), Some("")) if !opens(text) => {
                    self.slip.get_or_insert((self.at, "the marker that opens a string is missing"));
                    let text = text.to_owned();
                    self.at = self.text.len();
                    Read::Text(text)
                }
                _ => Read::Nothing,
            };
        }
        // What is there of a string is certain, of anything else it is not.
        let string = || self.root.zip(schema).is_some_and(|(root, s)| Expected::of(s, root).is_string());
        if self.cut && !over && !string() {
            return Read::Nothing;
        }
        let text = text.to_owned();
        self.at = self.text.len();
        Read::Word(text)
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
            Some(_) if depth == 0 => self.bare(schema),
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

    /// An object or list closes at the cursor. What stands there instead is none of its members.
    fn close(&mut self) {
        self.space();
        if self.rest().starts_with(['}', ']', ')']) {
            self.at += 1;
        } else {
            self.unread |= !self.rest().is_empty();
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
