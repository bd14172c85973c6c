//! The one place where this room meets the engine: reading text that may hold calls.
use super::{Node, Reading};
use crate::engine::StreamParser;
use crate::json::{ScanResult, Scanner};
use crate::schema::{Resolution, ToolSet};
use crate::turn::{Event, Turn};

/// Reads an answer's text as it comes.
#[derive(Debug)]
pub(super) struct TextReader(StreamParser);

impl TextReader {
    /// `calls` false: reasoning is told apart, and every call stays text.
    pub(super) fn new(reading: &Reading, calls: bool) -> Self {
        let mut options = reading.options.clone();
        if !calls {
            options.policy.max_calls = 0;
        }
        let dialects = reading.dialects.clone().unwrap_or_else(crate::dialect::Dialects::auto);
        Self(StreamParser::new(dialects, reading.tools.clone(), options))
    }

    pub(super) fn feed(&mut self, text: &str, events: &mut Vec<Event>) {
        let known = events.len();
        self.0.feed(text, events);
        forget_places(events.iter_mut().skip(known));
    }

    pub(super) fn finish(mut self, events: &mut Vec<Event>) -> Turn<'static> {
        let known = events.len();
        let mut turn = self.0.finish(events);
        forget_places(events.iter_mut().skip(known));
        turn.tool_calls.iter_mut().for_each(|call| call.span = None);
        turn.reasoning_end = None;
        turn
    }
}

/// Removes the places of calls: an answer is put together of several texts, and a place in one of them says nothing.
fn forget_places<'e>(events: impl Iterator<Item = &'e mut Event>) {
    for event in events {
        if let Event::CallEnded { call, .. } = event {
            call.span = None;
        }
    }
}

/// What an error body quotes of the model's answer, where no dialect knows it for calls: their markers are often lost on
/// the way, or they stand in an envelope of the server's.
pub(super) struct Quoted<'t> {
    pub(super) before: &'t str,
    /// Name and arguments.
    pub(super) calls: Vec<(String, String)>,
    pub(super) behind: &'t str,
}

impl<'t> Quoted<'t> {
    pub(super) fn read(text: &'t str, reading: &Reading) -> Option<Self> {
        Self::named(text, reading).or_else(|| Self::enveloped(text))
    }

    /// `name{...}</function>`, with or without what opens it, once or one after another.
    fn named(text: &'t str, reading: &Reading) -> Option<Self> {
        let mut calls = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (head, _) = rest.split_once('{')?;
            let name = head.trim().trim_start_matches("<function").trim_matches(['=', '>', '(', ' ']);
            let word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.:/".contains(c));
            let names = reading.options.policy.names;
            let means_none = |tools: &ToolSet| tools.resolve_by(name, names) == Resolution::Unknown;
            let offered = !reading.tools.as_deref().is_some_and(means_none);
            if !word || !offered {
                return None;
            }
            let body = rest.get(head.len()..)?;
            let end = match Scanner::new(0, reading.options.policy.max_depth).scan(body.as_bytes(), true) {
                ScanResult::Complete { end } => end,
                ScanResult::Incomplete => body.len(),
                ScanResult::Error { .. } => body.find(CLOSING).unwrap_or(body.len()),
            };
            calls.push((name.to_owned(), body.get(..end)?.to_owned()));
            let behind = body.get(end..)?.trim_start();
            rest = behind.strip_prefix(CLOSING).unwrap_or(behind).trim_start();
        }
        (!calls.is_empty()).then_some(Self { before: "", calls, behind: "" })
    }

    /// JSON that is a call, a list of calls or `{"tool_calls": [...]}`, perhaps in a tag or a fence, with the name and the
    /// arguments in the call or in its `function`.
    fn enveloped(text: &'t str) -> Option<Self> {
        let (start, end) = (text.find(['{', '['])?, text.rfind(['}', ']'])? + 1);
        let node = Node::parse(text.get(start..end)?.as_bytes()).ok()?;
        let entries = match &node {
            Node::Array(items) => items.as_slice(),
            object if object.get("tool_calls").is_some() => object.list("tool_calls"),
            object => std::slice::from_ref(object),
        };
        let mut calls = Vec::new();
        for call in entries {
            let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
            let name = function.text("name")?;
            let keys = ["arguments", "parameters"];
            let arguments = match function.either(keys).or_else(|| call.either(keys))? {
                Node::String(text) => text.to_string(),
                value => value.to_json(),
            };
            calls.push((name.to_owned(), arguments));
        }
        let (before, behind) = (text.get(..start)?, text.get(end..)?);
        (!calls.is_empty()).then_some(Self { before: without_opening(before), calls, behind: without_closing(behind) })
    }
}

/// What closes a call of Llama's, also where its opening marker is lost.
const CLOSING: &str = "</function>";

/// The text without the tag or the fence at its end.
fn without_opening(text: &str) -> &str {
    let line = text.trim_end().rfind('\n').map_or(0, |end| end + 1);
    match text.get(line..).map(str::trim) {
        Some(last) if last.starts_with("```") => text.get(..line).unwrap_or_default(),
        Some(last) if last.ends_with('>') => text.get(..text.rfind('<').unwrap_or(text.len())).unwrap_or_default(),
        _ => text,
    }
}

/// The text without the tag or the fence at its beginning.
fn without_closing(text: &str) -> &str {
    let rest = text.trim_start();
    if let Some(behind) = rest.strip_prefix("```") {
        return behind;
    }
    match rest.strip_prefix("</").and_then(|rest| rest.split_once('>')) {
        Some((tag, behind)) if !tag.contains('\n') => behind,
        _ => text,
    }
}

/// Reads a whole text: reasoning that may be a call, or what an error body quotes.
pub(super) fn read(text: &str, reading: &Reading, events: &mut Vec<Event>) -> Turn<'static> {
    let mut reader = TextReader::new(reading, true);
    reader.feed(text, events);
    reader.finish(events)
}
