//! The values between Gemma's brackets.
use super::unopened::is_cut_in_marks;
use crate::char_class;
use crate::dialect::special;
use crate::engine::body::elements::find;
use crate::engine::body::shown::opens;
use crate::engine::body::values::KeyIndex;
use crate::engine::body::{literal, placeholder};
use crate::engine::head::LONGEST_NAME;
use crate::engine::reader::floor;
use crate::json::{self, closes_at, push_string};
use crate::schema::{Expected, lists, read_text};
use crate::turn::{ArgumentValue, Repair, RepairCode};
use serde_json::Value as Schema;
use std::ops::Range;

const UNOPENED: &str = "the marker that opens a string is missing";
/// What stands for a comma in Chinese and Japanese text.
const WIDE_COMMAS: [char; 3] = ['，', '；', '、'];
pub(super) const NO_COMMA: &str = "a missing comma was put in";
pub(super) const EXTRA_COMMA: &str = "a comma too many was left out";

/// A value as it was written: in markers, a list or an object, bare, or missing.
pub(super) enum Read {
    Text(String),
    Json(String),
    Word(String),
    Nothing,
}

/// How much of a text was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    #[default]
    Whole,
    /// Something in it is no member.
    Part,
    /// Something in it is nested too deep.
    TooDeep,
}

/// Reads values from the text between the brackets.
pub(super) struct Values<'t> {
    text: &'t str,
    at: usize,
    max_depth: usize,
    /// The text ends inside the values.
    cut: bool,
    pub(super) fit: Fit,
    /// What was mended, by its place in `text`.
    pub(super) repairs: Vec<Repair>,
    /// Where the next marker of a string stands.
    next_quote: Option<usize>,
    /// The marker round strings.
    quote: &'t str,
    /// The strings that show calls, and hold that marker as well.
    pub(super) shown: Vec<Range<usize>>,
    /// A comma stood before the last key.
    pub(super) parted: bool,
    /// The tool's schema, for references.
    root: Option<&'t Schema>,
}

impl<'t> Values<'t> {
    /// Reads `text`, whose strings stand between two of `quote`; `root` is the schema of all of it.
    pub(super) fn new(text: &'t str, quote: &'t str, root: Option<&'t Schema>) -> Self {
        Self {
            text,
            at: 0,
            max_depth: 0,
            cut: false,
            fit: Fit::Whole,
            repairs: Vec::new(),
            next_quote: None,
            quote,
            shown: Vec::new(),
            parted: false,
            root,
        }
    }

    /// With lists and objects nested so deep, in a text that may be `cut`.
    pub(super) fn nested(mut self, max_depth: usize, cut: bool) -> Self {
        (self.max_depth, self.cut) = (max_depth, cut);
        self
    }

    fn fits(&mut self, fit: Fit) {
        self.fit = self.fit.max(fit);
    }

    /// The key that is all of the text.
    pub(super) fn only_key(mut self) -> Option<String> {
        self.key(None).filter(|_| self.rest().trim().is_empty())
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn mend(&mut self, at: usize, code: RepairCode, what: &'static str) {
        self.repairs.push(Repair::at(code, at, what));
    }

    /// The comma is missing before the key that was read. What is `known` to be none is no key, but a remark.
    pub(super) fn add_comma(&mut self, known: bool) {
        self.mend(self.at, RepairCode::Comma, NO_COMMA);
        if !known {
            self.fits(Fit::Part);
        }
    }

    /// Passes over white space, and over the comma that may stand there.
    fn space(&mut self) {
        let rest = self.rest();
        let comma = |c: char| c == ',' || WIDE_COMMAS.contains(&c);
        let space = rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || comma(c)).len();
        let passed = rest.get(..space).unwrap_or_default();
        if passed.matches(comma).count() > 1 {
            self.mend(self.at, RepairCode::Comma, EXTRA_COMMA);
        } else if passed.contains(WIDE_COMMAS) {
            self.mend(self.at, RepairCode::Comma, "a comma of another script parts members");
        }
        self.at += space;
    }

    /// `word` is a value. None at all is an empty one.
    fn word(&mut self, word: String) -> Read {
        if let Some(text) = self.in_crooked(&word) {
            self.mend(self.at, RepairCode::Marker, "the markers round a string are misspelt");
            return Read::Text(text.to_owned());
        }
        if let Some(read) = self.in_marks(&word) {
            return read;
        }
        // A marker of a string that broke off, or is misspelt, is no text.
        let begun = word.get(..3).is_some_and(|start| self.quote.starts_with(start));
        let bars = special(self.quote) && (word.starts_with("<|") || word.ends_with("|>"));
        if begun || bars || self.is_no_text(&word) {
            self.fits(Fit::Part);
        }
        if word.is_empty() {
            self.mend(self.at, RepairCode::Literal, "a missing value became an empty string");
        }
        Read::Word(word)
    }

    /// What stands in `word` between two markers of a string whose quote is escaped, or is another one: `<|\"|>Paris<|\"|>`.
    fn in_crooked<'w>(&self, word: &'w str) -> Option<&'w str> {
        let is_marker = |tag: &str| tag.replace('\\', "").replace('\'', "\"") == self.quote;
        let (open, rest) = word.split_at_checked(word.find('>')? + 1).filter(|(open, _)| is_marker(open))?;
        let (text, close) = rest.split_at_checked(rest.rfind('<')?)?;
        (close == open && !text.contains("<|")).then_some(text)
    }

    /// `word` is a string in marks that are none here, or in Python's with letters before them (`r"a"`): the text in them, as JSON.
    /// With others inside them they are as likely the text's: `“Hello,” she said. “Bye.”`.
    fn in_marks(&mut self, word: &str) -> Option<Read> {
        let marks = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let prefixed = word.len() - marks.len();
        let other = prefixed == 0 && marks.starts_with(['`', '“', '”', '„', '‘', '«']);
        if !(other || (1..=2).contains(&prefixed) && marks.starts_with(['"', '\''])) {
            return None;
        }
        let mut inner = marks.chars();
        let inside = match (inner.next()?, inner.next_back()) {
            ('“' | '”' | '„', _) => &['“', '”', '„'][..],
            ('‘', _) => &['‘', '’'][..],
            ('«', _) => &['«', '»'][..],
            (mark, _) => &[mark][..],
        };
        if inner.as_str().contains(inside) {
            return None;
        }
        let read = literal::read(word, self.at);
        let text = serde_json::from_str(&read.json).ok().filter(|_| !read.mended(RepairCode::SourceText))?;
        if read.guessed {
            self.fits(Fit::Part);
        }
        if read.repairs.is_empty() {
            self.mend(self.at, RepairCode::Quotes, "quotes stood for the markers round a string");
        }
        self.repairs.extend(read.repairs);
        Some(Read::Text(text))
    }

    /// The bare `word` at the cursor stands for a value, or is what a program computes it by, or what was said next, in a line of its
    /// own, as the value did not come: it is no text that lacks its markers.
    fn is_no_text(&self, word: &str) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        let below = before.get(before.trim_end().len()..).is_some_and(|white| white.contains('\n'));
        below && word.contains(' ')
            || json::is_expression(word)
            || placeholder::stands(self.text, self.at, |word| self.root.is_some_and(|root| lists(root, word)))
    }

    fn quoted(&mut self) -> Option<String> {
        let quote = self.quote;
        if quote.is_empty() || !self.rest().starts_with(quote) {
            return None;
        }
        let mut from = self.at + quote.len();
        let rest = self.text.get(from..)?;
        let shown = self.shown.binary_search_by_key(&from, |string| string.start).ok();
        let shown = shown.and_then(|i| self.shown.get(i)).map(|string| string.len().min(rest.len()));
        let mut length = shown.or_else(|| rest.find(quote)).unwrap_or(rest.len());
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
        // The marker that should have closed it lost its first sign: the next string's was taken for it.
        let text = self.text.get(from..from + length).unwrap_or_default();
        if shown.is_none() && quote.get(1..).is_some_and(|sign| text.contains(sign)) {
            self.fits(Fit::Part);
        }
        if let Some(rest) = behind(end).strip_prefix(quote)
            && over(rest.trim_start())
        {
            twice = Some(end);
            end = self.text.len() - rest.len();
        }
        if let Some(at) = twice {
            self.mend(at, RepairCode::Marker, "a marker round a string stood twice");
        }
        self.at = end;
        self.text.get(from..from + length).map(str::to_owned)
    }

    /// Reads a key of an object of `schema`, and the colon behind it.
    pub(super) fn key(&mut self, schema: Option<&'t Schema>) -> Option<String> {
        let before = self.at;
        self.space();
        let start = self.at;
        let passed = self.text.get(before..start).unwrap_or_default();
        self.parted = passed.contains(|c| c == ',' || WIDE_COMMAS.contains(&c));
        let key = self.quoted().or_else(|| {
            let (key, length) = self.key_in_quotes().or_else(|| {
                let length = self.rest().find([':', '=', '}', ')', ']', ','])?;
                let length = self.longer_key(length, schema);
                let key = self.rest().get(..length)?.trim().trim_matches(['"', '\'']);
                (!key.contains(['{', '(', '[', '<', ';', '\n'])).then_some((key, length))
            })?;
            let key = key.to_owned();
            self.at += length;
            Some(key)
        });
        self.space();
        let key = key.filter(|key| !key.is_empty() && self.rest().starts_with([':', '=']));
        // What is no key is not passed over.
        self.at = if key.is_some() { self.at + 1 } else { start };
        key
    }

    /// The key at the cursor that stands in quotes of JSON's or Python's, and how long it is with them.
    fn key_in_quotes(&self) -> Option<(&'t str, usize)> {
        let rest = self.rest();
        let near = rest.get(..floor(rest, LONGEST_NAME)).unwrap_or(rest);
        let quote = near.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let (key, behind) = near.get(1..)?.split_once(quote)?;
        let is = behind.trim_start().starts_with([':', '=']) && !key.contains(['\\', '\n']);
        is.then_some((key, key.len() + 2))
    }

    /// How long the bare key at the cursor is that goes on behind a colon at `length`. That is not meant as the key's end where a
    /// value in markers or brackets stands behind another one, or where only the longer key is one of the `schema`.
    fn longer_key(&self, length: usize, schema: Option<&'t Schema>) -> usize {
        let rest = self.rest();
        let near = rest.get(..floor(rest, LONGEST_NAME)).unwrap_or(rest);
        let properties = find(schema, self.root, 0, &|s| s.get("properties")).and_then(Schema::as_object);
        let declares = |end: usize| {
            let key = near.get(..end).unwrap_or_default().trim();
            properties.is_some_and(|properties| properties.contains_key(key))
        };
        if near.as_bytes().get(length) != Some(&b':') || declares(length) {
            return length;
        }
        let stops = [':', '=', '}', ')', ']', ',', '{', '[', '(', '<', ';', '"', '\'', ' ', '\n'];
        let mut end = length;
        while let Some(more) = near.get(end + 1..).and_then(|behind| behind.find(stops)) {
            end += 1 + more;
            if near.as_bytes().get(end) != Some(&b':') {
                break;
            }
            let value = near.get(end + 1..).unwrap_or_default();
            let marked = value.starts_with(['{', '[']) || !self.quote.is_empty() && value.starts_with(self.quote);
            let named = properties.is_some_and(|properties| !properties.is_empty());
            if declares(end) || marked && !named {
                return end;
            }
        }
        length
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
                    let text = self.unopened_text(text);
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
        let word = self.word(text);
        self.at = self.text.len();
        word
    }

    /// The `text` at the cursor is that of a string whose opening marker was left out. It has none that is just misspelt.
    fn unopened_text(&mut self, text: &str) -> String {
        self.mend(self.at, RepairCode::Marker, UNOPENED);
        let length = text.find('>').map_or(0, |end| end + 1);
        let tag = text.get(..length.min(3 * self.quote.len())).unwrap_or_default();
        // Doubled bars, wide ones and none are as good as the right ones, and so are capitals.
        let bare = |tag: &str| tag.replace(['|', '｜'], "").to_ascii_lowercase();
        let open = self.quote.strip_suffix('>').is_some_and(|open| text.starts_with(open));
        if open || strsim::osa_distance(&bare(tag), &bare(self.quote)) <= 1 {
            self.fits(Fit::Part);
        }
        text.to_owned()
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
            let key = text.trim_start().trim_start_matches(|c| char_class::NAME.has(c));
            key.len() < text.trim_start().len() && key.trim_start().starts_with([':', '='])
        };
        if text.split(',').skip(1).any(member) {
            return None;
        }
        let text = self.unopened_text(text.trim());
        self.at += length + self.quote.len();
        Some(text)
    }

    /// The value at the cursor, which may be one of a list.
    pub(super) fn value(&mut self, depth: usize, schema: Option<&'t Schema>, listed: bool) -> Read {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        if let Some(text) = self.quoted() {
            return Read::Text(text);
        }
        match self.rest().bytes().next() {
            None if self.cut => Read::Nothing,
            None => self.word(String::new()),
            Some(b'{' | b'[') if depth >= self.max_depth => {
                self.fits(Fit::TooDeep);
                self.at = self.text.len();
                Read::Nothing
            }
            Some(b'{') => Read::Json(self.object(depth + 1, schema)),
            Some(b'[') => Read::Json(self.list(depth + 1, schema)),
            Some(quote @ (b'"' | b'\'')) => self.in_quotes(quote),
            Some(_) if depth == 0 => self.bare(schema),
            Some(_) => self.bare_within(schema, listed),
        }
    }

    /// The object at the cursor, as JSON.
    fn object(&mut self, depth: usize, schema: Option<&'t Schema>) -> String {
        self.at += 1;
        let mut members: Vec<(String, String)> = Vec::new();
        let mut keys = KeyIndex::default();
        loop {
            let start = self.at;
            let Some(key) = self.key(schema) else { break };
            if !(self.parted || members.is_empty()) {
                self.mend(start, RepairCode::Comma, NO_COMMA);
            }
            let of = find(schema, self.root, 0, &|s| s.get("properties").and_then(|p| p.get(&key)))
                .or_else(|| find(schema, self.root, 0, &|s| s.get("additionalProperties")));
            let value = self.value(depth, of, false);
            if matches!(value, Read::Nothing) {
                break;
            }
            let json = self.json(value, of);
            let name = |i: usize| members.get(i).map(|(key, _)| key.as_bytes());
            let same = keys.position(&key, members.len(), name);
            match same.and_then(|i| members.get_mut(i)) {
                Some(member) => {
                    member.1 = json;
                    self.mend(start, RepairCode::DuplicateKey, "a key stood twice: the last value counts");
                }
                None => members.push((key, json)),
            }
        }
        self.close('}');
        let mut json = String::from("{");
        for (i, (key, value)) in members.iter().enumerate() {
            json.push_str(if i > 0 { ", " } else { "" });
            push_string(&mut json, key);
            json.push_str(": ");
            json.push_str(value);
        }
        json.push('}');
        json
    }

    /// The list at the cursor, as JSON.
    fn list(&mut self, depth: usize, schema: Option<&'t Schema>) -> String {
        self.at += 1;
        if self.rest().trim_start().starts_with(',') {
            self.mend(self.at, RepairCode::Comma, EXTRA_COMMA);
        }
        let of = find(schema, self.root, 0, &|s| s.get("items"));
        let mut json = String::from("[");
        loop {
            self.space();
            if self.rest().is_empty() || self.rest().starts_with([']', '}', ')']) {
                break;
            }
            let before = self.at;
            let value = self.value(depth, of, true);
            if self.at == before || matches!(value, Read::Nothing) {
                break;
            }
            if json.len() > 1 {
                json.push_str(", ");
            }
            json.push_str(&self.json(value, of));
            self.between_items();
        }
        self.close(']');
        json.push(']');
        json
    }

    /// A string in `quote`s of JSON's or Python's.
    fn in_quotes(&mut self, quote: u8) -> Read {
        let rest = self.rest();
        let end = closes_at(rest.as_bytes().get(1..).unwrap_or_default(), quote);
        let length = end.map_or(rest.len(), |inside| inside + 2);
        let read = literal::read(&rest[..length], self.at);
        if end.is_none() && !self.cut {
            self.fits(Fit::Part);
        }
        self.repairs.extend(read.repairs);
        self.at += length;
        match serde_json::from_str::<String>(&read.json) {
            Ok(text) => Read::Text(text),
            Err(_) => Read::Json(read.json.into_owned()),
        }
    }

    /// Bare text in a list or an object, up to what follows it there.
    fn bare_within(&mut self, schema: Option<&'t Schema>, listed: bool) -> Read {
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
        let word = rest[..length].trim();
        // The opening marker of a string is sometimes left out.
        let word = match word.split_once(self.quote).filter(|_| !self.quote.is_empty()) {
            Some((text, behind)) if behind.trim().is_empty() => {
                // As it is closed like a string it is one, whatever it looks like.
                let text = self.unopened_text(text);
                self.at += length;
                return Read::Text(text);
            }
            Some((text, _)) => {
                self.fits(Fit::Part);
                text.to_owned()
            }
            None => {
                // What it opens nothing in it closes, or it is the last in a list that nothing closes: a member of something else.
                let unclosed = listed && rest.get(length..).is_some_and(|behind| behind.starts_with('}'));
                let quoted = is_cut_in_marks(word, rest.get(length..).unwrap_or_default());
                if word.contains(['{', '[', '(']) || quoted || (unclosed && word.contains(':')) {
                    self.fits(Fit::Part);
                }
                word.to_owned()
            }
        };
        let word = self.word(word);
        self.at += length;
        word
    }

    /// Behind an item of a list the next one stands behind a comma, which strings may lack, or the list closes.
    fn between_items(&mut self) {
        let rest = self.rest().trim_start();
        let next = rest.is_empty() || rest.starts_with([',', ']', '}', ')']);
        if !next && !self.quote.is_empty() && rest.starts_with(self.quote) {
            self.mend(self.at, RepairCode::Comma, NO_COMMA);
        } else if !next {
            self.fits(Fit::Part);
        }
    }

    /// An object or list closes at the cursor with `bracket`. What stands there instead is none of its members.
    fn close(&mut self, bracket: char) {
        self.space();
        if self.rest().starts_with(['}', ']', ')']) {
            if !self.rest().starts_with(bracket) {
                self.mend(self.at, RepairCode::Bracket, "a closing bracket of the wrong kind was replaced");
            }
            self.at += 1;
        } else if !self.rest().is_empty() {
            self.fits(Fit::Part);
        }
    }

    /// What was read, as JSON.
    fn json(&self, read: Read, schema: Option<&Schema>) -> String {
        let string = |text: &str| {
            let mut json = String::new();
            push_string(&mut json, text);
            json
        };
        match read {
            Read::Text(text) => string(&text),
            Read::Json(text) => text,
            Read::Word(word) => {
                // Strings have quotes here: where there are tools and their schema is silent, a bare word is JSON.
                let expected = match self.root {
                    Some(root) => schema.map_or(Expected::ANY, |s| Expected::of(s, root)).json_first(),
                    None => Expected::ANY,
                };
                match bare_word(&word, expected) {
                    ArgumentValue::Text(text) => string(&text),
                    ArgumentValue::Json(text) => text.into_owned(),
                }
            }
            Read::Nothing => "null".into(),
        }
    }
}

/// A word without quotes: a JSON or Python literal where it reads as one and the schema does not want a string.
pub(super) fn bare_word(word: &str, expected: Expected) -> ArgumentValue<'_> {
    if word == "null" {
        // Strings have markers here, and this is none.
        return ArgumentValue::Json(word.into());
    }
    if expected.is_string() {
        return ArgumentValue::Text(word.into());
    }
    match read_text(word, expected) {
        ArgumentValue::Text(_) if expected.is_any() && matches!(word, "True" | "False") => {
            ArgumentValue::Json(literal::read(word, 0).json)
        }
        // A number where something else is wanted, and no string, is none either.
        ArgumentValue::Text(_) if !expected.is_any() && !expected.allows(Expected::STRING) && is_number(word) => {
            ArgumentValue::Json(word.into())
        }
        value => value,
    }
}

fn is_number(word: &str) -> bool {
    word.ends_with(|c: char| c.is_ascii_digit()) && word.parse::<serde_json::Number>().is_ok()
}
