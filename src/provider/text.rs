//! The one place where this room meets the engine: reading text that may hold calls.
use super::{Node, Reading};
use crate::engine::StreamParser;
use crate::schema::Resolution;
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
        self.0.feed(text, events);
    }

    pub(super) fn finish(mut self, events: &mut Vec<Event>) -> Turn<'static> {
        self.0.finish(events)
    }
}

/// Reads what an error body quotes of the model's answer.
///
/// That is text of any dialect, but often with markers lost on the way: `name{...}</function>`, or the calls as JSON in
/// one of several envelopes. Those are spelt anew in a dialect's way, so that the engine judges them like all others.
pub(super) fn read_quoted(text: &str, reading: &Reading, events: &mut Vec<Event>) -> Turn<'static> {
    let spelt = named_body(text, reading).or_else(|| enveloped(text));
    read(spelt.as_deref().unwrap_or(text), reading, events)
}

fn spell(name: &str, arguments: &str) -> String {
    let mut out = String::from("<tool_call>\n{\"name\": ");
    crate::json::push_string(&mut out, name);
    out.push_str(", \"arguments\": ");
    out.push_str(arguments);
    out.push_str("}\n</tool_call>\n");
    out
}

/// `name{...}</function>`, with or without what opens it.
fn named_body(text: &str, reading: &Reading) -> Option<String> {
    let (head, _) = text.split_once('{')?;
    let body = text.get(head.len()..)?.trim_end();
    let name = head.trim().trim_start_matches("<function").trim_matches(['=', '>', '(', ' ']);
    let word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.:/".contains(c));
    let offered = reading.tools.as_ref().is_none_or(|tools| tools.resolve(name) != Resolution::Unknown);
    (word && offered).then(|| spell(name, body.strip_suffix("</function>").unwrap_or(body)))
}

/// JSON that is a call, a list of calls or `{"tool_calls": [...]}`, perhaps in a tag, with the name and the arguments
/// in the call or in its `function`.
fn enveloped(text: &str) -> Option<String> {
    let (start, end) = (text.find(['{', '['])?, text.rfind(['}', ']'])? + 1);
    let node = Node::parse(text.get(start..end)?.as_bytes()).ok()?;
    let calls = match &node {
        Node::Array(items) => items.as_slice(),
        object if object.get("tool_calls").is_some() => object.list("tool_calls"),
        object => std::slice::from_ref(object),
    };
    let mut out = String::new();
    for call in calls {
        let function = call.get("function").filter(|function| function.is_object()).unwrap_or(call);
        let name = function.text("name")?;
        let keys = ["arguments", "parameters"];
        let arguments = match function.either(keys).or_else(|| call.either(keys))? {
            Node::String(text) => text.to_string(),
            value => value.to_json(),
        };
        out.push_str(&spell(name, &arguments));
    }
    (!out.is_empty()).then_some(out)
}

/// Reads a whole text: reasoning that may be a call, or what an error body quotes.
pub(super) fn read(text: &str, reading: &Reading, events: &mut Vec<Event>) -> Turn<'static> {
    let mut reader = TextReader::new(reading, true);
    reader.feed(text, events);
    reader.finish(events)
}
