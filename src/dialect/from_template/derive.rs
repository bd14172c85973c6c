//! What a template writes round names, arguments, calls and reasoning, found by rendering answers that differ in one
//! thing and comparing.
use super::cut::{parting, shared_end, shared_start, tags};
use super::ends::{closed, closes_only, without_beginning, without_end};
use super::probe::{Answer, Prober};
use super::spell::{self, template};
use crate::dialect::{Bare, Dialect, Trim};
use serde_json::{Value, json};
use std::ops::Range;

pub(super) const FIRST: &str = "zqfirst_tool";
pub(super) const SECOND: &str = "zqsecond_tool";
pub(super) const KEY: &str = "zqkey_one";
pub(super) const KEY_2: &str = "zqkey_two";
pub(super) const VALUE: &str = "zqvalue_one";
pub(super) const VALUE_2: &str = "zqvalue_two";
pub(super) const CONTENT: &str = "Zqcontent";
pub(super) const REASON: &str = "Zqreason";
const NUMBER: &str = "7341";

/// How the inside of a call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Json,
    Arguments,
    Gemma,
    Python,
    Elements,
    Parameters,
}

impl Body {
    fn hole(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Arguments => "arguments",
            Self::Gemma => "gemma",
            Self::Python => "python",
            Self::Elements => "elements",
            Self::Parameters => "parameters",
        }
    }
}

/// A call in a text: its marks in order (name, id, body), each with the character that stands for it.
#[derive(Debug, Clone)]
struct Span {
    marks: Vec<(Range<usize>, char)>,
    body: Body,
}

impl Span {
    fn start(&self) -> usize {
        self.marks.first().map_or(0, |m| m.0.start)
    }

    fn end(&self) -> usize {
        self.marks.last().map_or(0, |m| m.0.end)
    }
}

fn find(text: &str, needle: &str, from: usize) -> Option<Range<usize>> {
    let at = from + text.get(from..)?.find(needle)?;
    Some(at..at + needle.len())
}

/// The first JSON object or list, at or after `from` and before `before`, that holds `needle`.
fn json_around(text: &str, from: usize, needle: &Range<usize>) -> Option<Range<usize>> {
    let starts = text.get(from..needle.start)?.match_indices(['{', '[']).map(|(i, _)| from + i);
    for start in starts {
        let mut stream = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<serde::de::IgnoredAny>();
        if let Some(Ok(_)) = stream.next() {
            let end = start + stream.byte_offset();
            if end >= needle.end {
                return Some(start..end);
            }
        }
    }
    None
}

/// Where the arguments `{"KEY": "VALUE"}` of the call to `name` stand, and how they are written; `apart`: what JSON holds both is
/// their marker.
fn body(
    text: &str,
    from: usize,
    name: &Range<usize>,
    (key, value): (&str, &str),
    apart: bool,
) -> Option<(Range<usize>, Body)> {
    let key = find(text, key, name.end).or_else(|| find(text, key, from))?;
    let value = find(text, value, key.end)?;
    if apart {
        return Some((json_around(text, name.end, &value)?, Body::Arguments));
    }
    if let Some(all) = json_around(text, from, &value) {
        let holds_name = all.start < name.start && name.end < all.end;
        return Some((all, if holds_name { Body::Json } else { Body::Arguments }));
    }
    let before_key = text.get(..key.start)?;
    let after_key = text.get(key.end..value.start)?;
    let after_value = text.get(value.end..)?;
    if before_key.ends_with('{') && after_key.starts_with(':') && key.start > name.end {
        let delimiter = after_key.get(1..)?.trim();
        let closes = after_value.strip_prefix(delimiter)?.starts_with('}');
        if closes && !delimiter.is_empty() {
            return Some((key.start - 1..value.end + delimiter.len() + 1, Body::Gemma));
        }
    }
    if text.get(name.end..)?.starts_with('(') && after_key.starts_with('=') {
        let close = value.end + after_value.find(')')? + 1;
        return Some((name.start..close, Body::Python));
    }
    let close = format!("</{}>", text.get(key.clone())?);
    if before_key.ends_with('<')
        && after_key.starts_with('>')
        && let Some(at) = after_value.find(&close)
    {
        return Some((key.start - 1..value.end + at + close.len(), Body::Elements));
    }
    Some((key.start..value.end, Body::Parameters))
}

/// What stands before each tag of a body of elements, where it is more than white space.
fn tag_prefix(text: &str, span: &Range<usize>) -> String {
    let inside = text.get(span.clone()).unwrap_or("");
    let end = inside.rfind("</").unwrap_or(0);
    let start = inside.find(VALUE).map_or(end, |at| at + VALUE.len());
    inside.get(start..end).unwrap_or("").trim().to_owned()
}

/// A dialect being derived. `Err` is what was not understood; `seen` what was.
pub(super) struct Derivation<'p, 's> {
    prober: &'p Prober<'s>,
    /// What begins and what ends an answer of plain content.
    beginning: String,
    ending: String,
    /// What stands between tags named after a parameter is its value as a text or JSON, and holds no elements.
    flat: bool,
    /// The object that holds the name and the arguments is written round them as a marker is: its keys are the template's own.
    apart: bool,
    pub(super) seen: Vec<String>,
}

impl<'p, 's> Derivation<'p, 's> {
    pub(super) fn new(prober: &'p Prober<'s>) -> Self {
        let plain = prober.answer(&Answer::default().content(CONTENT)).unwrap_or_default();
        let (beginning, ending) = plain.text.split_once(CONTENT).unwrap_or_default();
        Self {
            prober,
            beginning: beginning.to_owned(),
            ending: ending.to_owned(),
            flat: false,
            apart: false,
            seen: Vec::new(),
        }
    }

    /// The same, for a template whose calls are objects with keys that those of no other have: what stands round the name and the
    /// arguments is a marker then. Nothing if its calls are no such objects.
    pub(super) fn with_own_keys(prober: &'p Prober<'s>) -> Option<Self> {
        let derivation = Self { apart: true, ..Self::new(prober) };
        let one = derivation.calls(Answer::calls([(FIRST, json!({KEY: VALUE}))])).ok()?;
        let (call, body) = body(&one, 0, &find(&one, FIRST, 0)?, (KEY, VALUE), false)?;
        (body == Body::Json && one.get(call)?.starts_with('{')).then_some(derivation)
    }

    /// The same, for a template that writes values between tags named after their parameters, but no elements in these.
    /// Nothing if it does write some, or has no such tags.
    pub(super) fn with_flat_tags(prober: &'p Prober<'s>) -> Option<Self> {
        let mut derivation = Self::new(prober);
        let nested = derivation.calls(Answer::calls([(FIRST, json!({KEY: {KEY_2: 7341}}))])).ok()?;
        derivation.flat = nested.contains(&format!("<{KEY}>"))
            && nested.contains(&format!("</{KEY}>"))
            && nested.contains(&format!("\"{KEY_2}\""));
        derivation.flat.then_some(derivation)
    }

    /// What a model writes for `answer`: the prompt and the text.
    pub(super) fn text(&self, answer: &Answer) -> Result<(String, String), String> {
        let rendered = self.prober.answer(answer)?;
        let mut text = without_end(&rendered.text, &self.ending, self.prober.eos);
        // A marker before every answer belongs to the prompt. (An empty block of reasoning does not.)
        let beginning = self.beginning.trim();
        let block = beginning.contains("</") || beginning.contains("close");
        if !block || closes_only(beginning) {
            text = without_beginning(text, beginning).map_or(text, str::trim_start);
        }
        let text = text.to_owned();
        Ok((rendered.prompt, text))
    }

    fn calls(&self, answer: Answer) -> Result<String, String> {
        let (_, text) = self.text(&answer)?;
        if !self.flat {
            return Ok(text);
        }
        // The closing tags say again which parameter it is: they are all alike.
        Ok([KEY, KEY_2]
            .iter()
            .fold(text, |text, key| text.replace(&format!("</{key}>"), &format!("</{}>", spell::KEY))))
    }

    /// The call to `name` in `text`, at or after `from`.
    fn span(&self, text: &str, from: usize, i: usize, name: &str, key: &str, value: &str) -> Result<Span, String> {
        let id = find(text, &self.prober.spelling.id(i, name), from);
        let at = find(text, name, from).ok_or("the name of the tool is not in the rendered call")?;
        let Some((mut range, body)) = body(text, from, &at, (key, value), self.apart) else {
            return Err("the arguments are not in the rendered call".into());
        };
        let mut marks = Vec::new();
        match body {
            Body::Json => marks.extend(id.filter(|id| id.end <= range.start).map(|id| (id, spell::ID))),
            Body::Python => {
                let before = text.get(from..range.start).unwrap_or("");
                let open = before.trim_end().ends_with('[') && !before.trim_end().ends_with("][");
                if open {
                    range.start = from + before.trim_end().len() - 1;
                    let after = text.get(range.end..).unwrap_or("");
                    if after.trim_start().starts_with(']') {
                        range.end += after.len() - after.trim_start().len() + 1;
                    }
                }
            }
            _ => {
                match id {
                    // The name is part of the id, and no more of it is written.
                    Some(id) if id.start <= at.start && at.end <= id.end => marks.push((id, spell::ID)),
                    Some(id) => marks.extend([(at, spell::NAME), (id, spell::ID)]),
                    None => marks.push((at, spell::NAME)),
                }
                if body == Body::Elements {
                    let prefix = tag_prefix(text, &range);
                    if text.get(..range.start).is_some_and(|t| t.ends_with(&prefix)) {
                        range.start -= prefix.len();
                    }
                }
            }
        }
        marks.push((range, spell::BODY));
        marks.sort_by_key(|m| m.0.start);
        if marks.last().is_some_and(|m| m.1 != spell::BODY) {
            return Err("the name stands behind the arguments".into());
        }
        Ok(Span { marks, body })
    }

    /// A dialect whose tags are named after the tools and their parameters, if this is one.
    fn by_name(&mut self) -> Option<Dialect> {
        let (_, one) = self.text(&Answer::calls([(FIRST, json!({KEY: VALUE}))])).ok()?;
        let tag = |text: &str, name: &str| -> Option<String> {
            let inside = text.trim().strip_prefix(&format!("<{name}>"))?.strip_suffix(&format!("</{name}>"))?;
            Some(inside.to_owned())
        };
        let value = tag(&tag(&one, FIRST)?, KEY)?;
        let trim = match value.split_once(VALUE)? {
            ("", "") => Trim::None,
            ("\n", "\n") => Trim::Newline,
            (" ", " ") => Trim::Blank,
            _ => return None,
        };
        self.seen.push(format!("one call is written {one:?}, its tags named after the tool and its parameters"));
        let (calls, parameters) = ("<{name}> {parameters} </{name}>", "<{key}>{value}</{key}>");
        let (calls, parameters) = (vec![calls.to_owned()], vec![parameters.to_owned()]);
        let mut dialect = Dialect {
            calls,
            parameters,
            trim,
            bare: vec![Bare::Elements],
            json_first: true,
            entities: self.escapes(),
            ..Dialect::default()
        };
        self.add_tokens("", &mut dialect);
        Some(dialect)
    }

    /// Values are written with entities for the signs of markup.
    fn escapes(&self) -> bool {
        let written = self.calls(Answer::calls([(FIRST, json!({KEY: "<zq&"}))]));
        written.is_ok_and(|text| text.contains("&lt;zq&amp;"))
    }

    /// What stands round an answer, or ends a turn with calls, is no content.
    fn add_tokens(&self, turn_end: &str, dialect: &mut Dialect) {
        for text in [turn_end, &self.beginning, &self.ending] {
            let marks = tags(text).into_iter().filter_map(|mark| text.get(mark)).filter(|mark| *mark != super::NO_EOS);
            for mark in marks {
                if !dialect.tokens.iter().any(|token| token == mark) {
                    dialect.tokens.push(mark.to_owned());
                }
            }
        }
    }

    /// The dialect, without reasoning.
    pub(super) fn derive(&mut self) -> Result<Dialect, String> {
        if let Some(dialect) = self.by_name() {
            return Ok(dialect);
        }
        let one = self.calls(Answer::calls([(FIRST, json!({KEY: VALUE}))]))?;
        let first = self.span(&one, 0, 0, FIRST, KEY, VALUE)?;
        self.seen.push(format!("one call is written {one:?}, its inside as {{{}}}", first.body.hole()));
        let mut dialect = Dialect::default();
        let mut tail = one.get(first.end()..).unwrap_or("").to_owned();
        let mut inner = (String::new(), String::new());
        if first.body == Body::Parameters {
            (inner.0, inner.1) = self.parameters(&first, &mut dialect)?;
            let (_, closer) = &inner;
            // What follows the last value: the end of the parameter, then that of the call.
            tail = closer.clone();
        }
        if first.body == Body::Elements {
            dialect.tag_prefix = first.marks.last().map(|m| tag_prefix(&one, &m.0)).unwrap_or_default();
        }
        let mut head = one.get(..first.start()).unwrap_or("").to_owned();
        let mut section = (String::new(), String::new());
        let two = self.calls(Answer::calls([(FIRST, json!({KEY: VALUE})), (SECOND, json!({KEY_2: VALUE_2}))]));
        let mut between = Vec::new();
        match two {
            Ok(two) if two.contains(FIRST) && two.contains(SECOND) => {
                self.seen.push(format!("two calls are written {two:?}"));
                between = self.two(&two, &first, &mut head, &mut tail, &mut section)?;
            }
            _ => self.seen.push("only one call can be written".into()),
        }
        let opened = if section.0.trim().is_empty() { &head } else { &section.0 };
        let closing = if section.1.trim().is_empty() { &mut tail } else { &mut section.1 };
        let turn_end = closing.split_off(closed(opened, closing));
        let mut call = head.clone();
        let mut at = first.start();
        for (i, (range, hole)) in first.marks.iter().enumerate() {
            match between.get(i) {
                Some(literal) => call.push_str(literal),
                None => call.push_str(one.get(at..range.start).unwrap_or("")),
            }
            if *hole == spell::BODY && first.body == Body::Parameters {
                // The literal before the first key ends in what begins a parameter, which is the parameter's own.
                let cut = call.len().saturating_sub(inner.0.len());
                call.truncate(cut);
            }
            call.push(*hole);
            at = range.end;
        }
        call.push_str(&tail);
        let mut call = template(&call, first.body.hole());
        if self.apart {
            // JSON has white space there, or none.
            call = call.replace(":{ }", ": ").replace(",{ }", ", ");
        }
        if call.starts_with('{') && !call.starts_with("{{") && section.0.trim().is_empty() {
            match first.body {
                Body::Json => dialect.bare.push(Bare::Json),
                Body::Python => dialect.bare.push(Bare::Python),
                _ => return Err("no marker stands before a call".into()),
            }
            let rest = call.trim_start_matches(|c| c != '}').trim_start_matches('}').trim();
            if !rest.is_empty() {
                dialect.tokens.push(rest.to_owned());
            }
        } else {
            dialect.calls.push(call);
        }
        let (open, close) = (template(&section.0, ""), template(&section.1, ""));
        match (open.is_empty(), close.is_empty()) {
            (false, false) => dialect.sections.push((open, close)),
            (false, true) => dialect.tokens.push(section.0.trim().to_owned()),
            (true, false) => dialect.tokens.push(section.1.trim().to_owned()),
            (true, true) => {}
        }
        self.add_tokens(&turn_end, &mut dialect);
        Ok(dialect)
    }

    /// Markers of calls and of the section round them, from two calls. The literals between the marks of a call.
    fn two(
        &self,
        two: &str,
        first: &Span,
        head: &mut String,
        tail: &mut String,
        section: &mut (String, String),
    ) -> Result<Vec<String>, String> {
        let a = self.span(two, 0, 0, FIRST, KEY, VALUE)?;
        if a.body != first.body {
            return Err("two calls are written in another way than one".into());
        }
        let last = find(two, VALUE_2, 0).ok_or("the second call has lost its argument")?;
        if a.end() >= last.end {
            // One body holds both.
            *head = two.get(..a.start()).unwrap_or("").to_owned();
            *tail = two.get(a.end()..).unwrap_or("").to_owned();
            return Ok(Vec::new());
        }
        let b = self.span(two, a.end(), 1, SECOND, KEY_2, VALUE_2)?;
        if matches!(a.body, Body::Json | Body::Python) {
            let mid = two.get(a.end()..b.start()).unwrap_or("");
            if mid.trim().is_empty() || (a.body == Body::Python && mid.trim() == ",") {
                let mut end = b.end();
                if a.body == Body::Python && two.get(a.start()..).is_some_and(|t| t.starts_with('[')) {
                    end += two.get(end..).and_then(|t| t.find(']')).map_or(0, |at| at + 1);
                }
                *head = two.get(..a.start()).unwrap_or("").to_owned();
                *tail = two.get(end..).unwrap_or("").to_owned();
                return Ok(Vec::new());
            }
        }
        let (before, mid, after) = (0..a.start(), a.end()..b.start(), b.end()..two.len());
        // The second call's value may be followed by what ends its parameter; the same stands in both.
        let open = shared_end((two, before.clone()), (two, mid.clone()));
        let close = shared_start((two, mid.clone()), (two, after.clone()));
        let close = close.min(mid.len().saturating_sub(open));
        let separator = two.get(mid.start + close..mid.end - open).unwrap_or("");
        if !separator.trim().is_empty() {
            return Err(format!("what stands between two calls is not understood: {separator:?}"));
        }
        section.0 = two.get(..before.end - open).unwrap_or("").to_owned();
        section.1 = two.get(after.start + close..).unwrap_or("").to_owned();
        *head = two.get(before.end - open..before.end).unwrap_or("").to_owned();
        let closing = two.get(after.start..after.start + close).unwrap_or("");
        if a.body == Body::Parameters {
            // `tail` is the end of a call without that of its last parameter; what the section ends in goes.
            let rest = section.1.clone();
            *tail = tail.strip_suffix(rest.as_str()).unwrap_or(tail).to_owned();
        } else {
            *tail = closing.to_owned();
        }
        let literals = |span: &Span| -> Vec<String> {
            let mut at = span.start();
            let mut all = Vec::new();
            for (range, _) in &span.marks {
                all.push(two.get(at..range.start).unwrap_or("").to_owned());
                at = range.end;
            }
            all
        };
        let mut between = Vec::new();
        for (x, y) in literals(&a).iter().zip(literals(&b)) {
            between.push(if *x == y {
                x.clone()
            } else {
                numbered(x, &y).ok_or("two calls differ in their markers")?
            });
        }
        Ok(between)
    }

    /// How a parameter is written. Returns what begins one and what ends the call after the last one.
    fn parameters(&mut self, span: &Span, dialect: &mut Dialect) -> Result<(String, String), String> {
        let two = self.calls(Answer::calls([(FIRST, json!({KEY: VALUE, KEY_2: VALUE_2}))]))?;
        let head_end = span.marks.iter().rev().nth(1).map_or(0, |m| m.0.end);
        let lost = || "the second argument is not in the rendered call".to_owned();
        let key = find(&two, KEY, head_end).ok_or_else(lost)?;
        let value = find(&two, VALUE, key.end).ok_or_else(lost)?;
        let key_2 = find(&two, KEY_2, value.end).ok_or_else(lost)?;
        let value_2 = find(&two, VALUE_2, key_2.end).ok_or_else(lost)?;
        let (before, mid, after) = (head_end..key.start, value.end..key_2.start, value_2.end..two.len());
        let open = shared_end((&two, before.clone()), (&two, mid.clone()));
        let close = shared_start((&two, mid.clone()), (&two, after.clone()));
        // What ends a parameter may end as the call's head does: where both could have it, it is no part of what begins the next one.
        let apart = mid.len() - open;
        let apart = parting(two.get(mid.clone()).unwrap_or(""), apart..=close.max(apart));
        let (open, close) = (mid.len() - apart, close.min(apart));
        let separator = two.get(mid.start + close..mid.end - open).unwrap_or("");
        if !separator.trim().is_empty() {
            return Err(format!("what stands between two parameters is not understood: {separator:?}"));
        }
        let opener = two.get(before.end - open..before.end).unwrap_or("").to_owned();
        let closer = two.get(after.start..after.start + close).unwrap_or("");
        if opener.trim().is_empty() || closer.trim().is_empty() {
            return Err("no marker stands round a parameter's value".into());
        }
        let between = two.get(key.end..value.start).unwrap_or("");
        let number = self.calls(Answer::calls([(FIRST, json!({KEY: 7341}))])).unwrap_or_default();
        let key_of_number = find(&number, KEY, head_end.min(number.len()));
        let of_number = key_of_number
            .clone()
            .and_then(|key| number.get(key.end..find(&number, NUMBER, key.end)?.start).map(str::to_owned));
        // A value's type may be written before the key.
        let head = two.get(before.start..before.end - open).unwrap_or("");
        let opens_number = key_of_number.and_then(|key| number.get(head_end..key.start)?.strip_prefix(head));
        let opens = match opens_number {
            Some(other) if other != opener => typed(&opener, other).unwrap_or_else(|| opener.clone()),
            _ => opener.clone(),
        };
        if of_number.as_deref().is_some_and(|other| between.strip_suffix('"') == Some(other)) && closer.starts_with('"')
        {
            return Err(
                "every value is written as JSON, a text in its quotes, and parameters hold texts as they are".into()
            );
        }
        let mut between = match of_number {
            Some(other) if other != between => {
                typed(between, &other).ok_or("how a value's type is written is not understood")?
            }
            _ => between.to_owned(),
        };
        let (start, end) = (between.trim_end().len(), closer.len() - closer.trim_start().len());
        let (left, right) = (between.get(start..).unwrap_or("").to_owned(), closer.get(..end).unwrap_or(""));
        dialect.trim = match (left.as_str(), right) {
            ("", "") => Trim::None,
            ("" | "\n", "" | "\n") => Trim::Newline,
            (" ", " ") => Trim::Blank,
            _ => Trim::Space,
        };
        between.truncate(start);
        dialect.entities = self.escapes();
        let parameter = format!("{opens}{}{between}{}{}", spell::KEY, spell::VALUE, closer.trim_start());
        let parameter_template = template(&parameter, "");
        // Between the two tags a model may break the line.
        let apart = parameter_template
            .split_once("{value}")
            .map(|(before, behind)| format!("{}{{value}}{behind}", before.replace("><", "> <")));
        dialect.parameters.push(apart.unwrap_or(parameter_template));
        dialect.json_first = !parameter.contains(spell::TYPE);
        self.seen.push(format!("a parameter is written {:?}", dialect.parameters));
        Ok((opener, two.get(after.start + close..).unwrap_or("").to_owned()))
    }

    /// Finds what stands round reasoning.
    pub(super) fn reasoning(&mut self, dialect: &mut Dialect, source: &str) {
        let answer = Answer::default().content(CONTENT).reasoning(REASON);
        let with_calls = Answer::calls([(FIRST, json!({KEY: VALUE}))]).reasoning(REASON);
        for answer in [answer, with_calls] {
            let Ok(rendered) = self.prober.answer(&answer) else { continue };
            let full = format!("{}{}", rendered.prompt, rendered.text);
            let Some(at) = full.rfind(REASON) else { continue };
            let rest = full.get(at + REASON.len()..).unwrap_or("");
            let until = rest.find(CONTENT).or_else(|| rest.find(FIRST)).unwrap_or(rest.len());
            let rest = rest.get(..until).unwrap_or("").trim_start();
            let before = full.get(..at).unwrap_or("").trim_end();
            let marks = tags(before);
            // A marker that ends in a word (`<|channel>thought`) counts with it.
            let open = marks.last().filter(|t| before.len() - t.end < 40).and_then(|t| before.get(t.start..));
            let closing = tags(rest);
            let close = closing.first().and_then(|t| rest.get(..t.end)).map(str::trim);
            let Some((open, close)) = open.zip(close) else { continue };
            let open = open.rsplit('\n').next().unwrap_or(open);
            if !open.is_empty() && !close.is_empty() && open != close {
                self.seen.push(format!("reasoning stands between {open:?} and {close:?}"));
                dialect.reasoning.push((open.to_owned(), close.to_owned()));
                // Reasoning is never a token; what stands between it and the content is one.
                dialect.tokens.retain(|t| t != open && t != close);
                let rest = rest.get(close.len()..).unwrap_or("").trim();
                if !answer.content.is_empty() && rest.starts_with('<') {
                    let starts: Vec<usize> = tags(rest).iter().map(|t| t.start).chain([rest.len()]).collect();
                    let pieces = starts.windows(2).filter_map(|w| rest.get(*w.first()?..*w.last()?));
                    dialect.tokens.extend(pieces.map(|t| t.trim().to_owned()));
                }
                return;
            }
        }
        for (open, close) in [("<think>", "</think>"), ("[THINK]", "[/THINK]")] {
            if source.contains(close) {
                dialect.tokens.retain(|t| t != open && t != close);
                dialect.reasoning.push((open.to_owned(), close.to_owned()));
                return;
            }
        }
    }
}

/// `a` and `b` differ in numbers only: the text with holes for them.
fn numbered(a: &str, b: &str) -> Option<String> {
    let pieces = |text: &str| -> (Vec<String>, usize) {
        let parts: Vec<String> = text.split(|c: char| c.is_ascii_digit()).map(str::to_owned).collect();
        let count = parts.len();
        (parts, count)
    };
    let ((x, n), (y, m)) = (pieces(a), pieces(b));
    (x == y && n == m && n > 1).then(|| x.join(&spell::IGNORED.to_string()))
}

/// The literals before a string and before a number differ in the type's name: the text with a hole for it.
fn typed(string: &str, number: &str) -> Option<String> {
    let start = string.bytes().zip(number.bytes()).take_while(|(a, b)| a == b).count();
    let start = string.get(..start)?.rfind('"')? + 1;
    let end = start + string.get(start..)?.find('"')?;
    let other = start + number.get(start..)?.find('"')?;
    (string.get(end..)? == number.get(other..)?)
        .then(|| format!("{}{}{}", string.get(..start).unwrap_or(""), spell::TYPE, string.get(end..).unwrap_or("")))
}

/// The tools that the derivation calls.
pub(super) fn tools() -> Value {
    let parameters = json!({"type": "object", "properties": {
        KEY: {"type": "string", "description": "One"}, KEY_2: {"type": "string", "description": "Two"}},
        "required": []});
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "description": "Does things", "parameters": parameters}});
    json!([tool(FIRST), tool(SECOND)])
}
