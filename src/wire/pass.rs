//! Client and backend speak the same API: chunks without a call pass on as they came, and unknown members stay.
use super::ClientApi;
use super::sequence::Hint;
use super::stream::{AnyWriter, Lane, Stream};
use super::write::Envelope;
use crate::provider::Node;
use crate::turn::{Event, StopReason};
use serde_json::{Map, Value};

/// The fields in which Chat servers send reasoning.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// What is kept of a stream that passes.
#[derive(Debug, Default)]
pub(super) struct Passing {
    /// Chat's: the chunk that says the usage and nothing else.
    pub(super) usage_chunk: Option<String>,
    /// Chat's: the usage where it came with a choice.
    pub(super) usage: Option<String>,
    /// The blocks or items that are read here: text and calls. All others pass.
    read: Vec<u64>,
}

/// A backend's word for the end means this, in the API that it speaks.
pub(super) fn means(api: ClientApi, said: &str, reason: StopReason) -> bool {
    match api {
        ClientApi::Chat => super::write::chat_reason(reason) == said,
        ClientApi::Anthropic => match said {
            "stop_sequence" => reason == StopReason::Stop,
            "model_context_window_exceeded" => reason == StopReason::Length,
            _ => super::write::anthropic_reason(reason) == said,
        },
        ClientApi::Responses => false,
    }
}

/// A frame of SSE as it came; without its name where that is the API's way.
fn raw_frame(name: Option<&str>, data: &str, out: &mut String) {
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        out.push_str("event: ");
        out.push_str(name);
        out.push('\n');
    }
    out.push_str("data: ");
    // A payload over several lines goes on in one, for clients that read line by line: between values, a line feed is as good
    // as a space, and in a string it is not valid JSON.
    let mut lines = data.split('\n');
    out.push_str(lines.next().unwrap_or_default());
    for line in lines {
        out.push(' ');
        out.push_str(line);
    }
    out.push_str("\n\n");
}

/// A member without content.
fn is_silent(value: &Node<'_>) -> bool {
    match value {
        Node::Null => true,
        Node::String(text) => text.is_empty(),
        Node::Array(items) => items.is_empty(),
        _ => false,
    }
}

impl Stream {
    /// Takes a payload of the client's own API. `data`: its text.
    pub(super) fn pass(&mut self, event: &str, data: Option<&str>, node: &Node<'_>) {
        match self.asked.client {
            ClientApi::Chat => self.pass_chat(data, node),
            ClientApi::Anthropic => self.pass_anthropic(event, data, node),
            ClientApi::Responses => self.pass_responses(data, node),
        }
    }

    fn pass_chat(&mut self, data: Option<&str>, node: &Node<'_>) {
        let usage = node.get("usage").filter(|usage| usage.is_object());
        let choices = match node.get("choices") {
            Some(Node::Array(choices)) if !choices.is_empty() => choices.as_slice(),
            _ => {
                if let Some(first) = self.lanes.first_mut() {
                    first.read("", node);
                    first.write(&mut self.out);
                }
                let failed = self.has_failed();
                match (usage, &mut self.passing, data) {
                    (Some(_), Some(passing), Some(data)) => {
                        let mut chunk = String::new();
                        raw_frame(None, data, &mut chunk);
                        passing.usage_chunk = Some(chunk);
                    }
                    // An error that quotes an answer is that answer, and no word of the error is for the client.
                    (None, _, Some(data)) if !failed && node.is_object() && node.get("error").is_none() => {
                        raw_frame(None, data, &mut self.out);
                    }
                    _ => {}
                }
                return;
            }
        };
        if let (Some(usage), Some(passing)) = (usage, &mut self.passing) {
            passing.usage = Some(usage.to_json());
        }
        if !self.lanes.first().is_some_and(Lane::is_known) {
            let text = |key: &str| node.text(key).map(str::to_owned);
            self.envelope = Envelope {
                id: text("id").unwrap_or_else(|| self.envelope.id.clone()),
                created: node.count("created").unwrap_or(self.envelope.created),
                model: text("model").unwrap_or_else(|| self.envelope.model.clone()),
            };
            if let Some(lane) = self.lanes.first_mut() {
                lane.writer = AnyWriter::Chat(super::write::Chat::new(&self.envelope, 0, self.asked.functions));
            }
        }
        if let [choice] = choices
            && choice.count("index").unwrap_or_default() == 0
        {
            let functions = self.asked.functions;
            if let Some(lane) = self.lanes.first_mut() {
                lane.pass_choice(choice, node, data.filter(|_| !functions), &mut self.out);
            }
            return;
        }
        if self.asked.choices <= 1 {
            // Some servers send the text in one choice and the calls in another: the reader joins them.
            if let Some(lane) = self.lanes.first_mut() {
                lane.read("", node);
                lane.write(&mut self.out);
            }
            return;
        }
        for choice in choices {
            let Some(at) = self.lane(choice.count("index").unwrap_or_default()) else { continue };
            let Some(lane) = self.lanes.get_mut(at) else { continue };
            // Each is read as the only one, and its chunk is one of its own.
            let members = choice.members().iter().filter(|(key, _)| key != "index").cloned().collect();
            let mut alone: Vec<_> = node.members().iter().filter(|(key, _)| key != "choices").cloned().collect();
            alone.push(("choices".into(), Node::Array(vec![Node::Object(members)])));
            let alone = Node::Object(alone);
            let said = super::json::replaced(node, &[("choices", &format!("[{}]", choice.to_json()))]);
            lane.pass_choice(choice, &alone, Some(&said), &mut self.out);
        }
    }

    fn pass_anthropic(&mut self, event: &str, data: Option<&str>, node: &Node<'_>) {
        let Some(lane) = self.lanes.first_mut() else { return };
        let Some(passing) = &mut self.passing else { return };
        let kind = node.text("type").unwrap_or(event);
        let index = node.count("index").unwrap_or_default();
        lane.read(event, node);
        let AnyWriter::Anthropic(writer) = &mut lane.writer else { return };
        match kind {
            "message_start" | "ping" => {
                if kind == "message_start" {
                    writer.begun();
                }
                if let Some(data) = data {
                    raw_frame(Some(kind), data, &mut self.out);
                }
            }
            "content_block_start" => {
                let block = node.get("content_block");
                match block.and_then(|block| block.text("type")) {
                    Some("text") => passing.read.push(index),
                    Some("tool_use") => {
                        passing.read.push(index);
                        let extra = block.map(|block| beyond(block, &["type", "id", "name", "input"]));
                        lane.sequence.hint(Hint { extra, item: None });
                    }
                    _ => {
                        // It passes with all that it holds; what was read of it is not written twice.
                        lane.events.retain(|event| !matches!(event, Event::Reasoning(_)));
                        lane.write(&mut self.out);
                        if let AnyWriter::Anthropic(writer) = &mut lane.writer {
                            writer.pass_block(index, node, &mut self.out);
                        }
                        return;
                    }
                }
                lane.write(&mut self.out);
            }
            "content_block_delta" | "content_block_stop" if !passing.read.contains(&index) => {
                lane.events.retain(|event| !matches!(event, Event::Reasoning(_)));
                let ends = kind == "content_block_stop";
                if writer.pass_event(index, node, ends, &mut self.out) {
                    lane.events.clear();
                } else {
                    lane.write(&mut self.out);
                }
            }
            "content_block_delta" => {
                let delta = node.get("delta");
                let plain = node.members().len() == 3 && delta.is_some_and(|delta| delta.members().len() == 2);
                let text = delta.and_then(|delta| delta.text("text"));
                if let ([Event::Text(read)], Some(text), Some(data), true) = (lane.events.as_slice(), text, data, plain)
                    && read == text
                    && writer.open_text() == Some(index)
                    && lane.sequence.is_idle()
                {
                    raw_frame(Some(kind), data, &mut self.out);
                    return lane.events.clear();
                }
                lane.write(&mut self.out);
            }
            "message_delta" => {
                if let Some(said) = node.at(&["delta", "stop_reason"]).and_then(Node::str) {
                    lane.end = Some((said.to_owned(), None));
                }
                writer.ends_as(node.clone().into_owned());
                lane.write(&mut self.out);
            }
            _ => lane.write(&mut self.out),
        }
    }

    fn pass_responses(&mut self, data: Option<&str>, node: &Node<'_>) {
        let Some(lane) = self.lanes.first_mut() else { return };
        let Some(passing) = &mut self.passing else { return };
        let kind = node.text("type").unwrap_or_default();
        let index = node.count("output_index").unwrap_or_default();
        let before = lane.events.len();
        lane.read("", node);
        let AnyWriter::Responses(writer) = &mut lane.writer else { return };
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                // All of it: a reader steps over what it has no use for.
                let whole = data.and_then(|data| Node::parse(data.as_bytes()).ok());
                if let Some(response) = whole.as_ref().unwrap_or(node).get("response") {
                    writer.begun(response);
                }
                match data.filter(|_| node.count("sequence_number") == Some(writer.sequence())) {
                    Some(data) => {
                        raw_frame(Some(kind), data, &mut self.out);
                        writer.passed("");
                    }
                    None => writer.pass(node, None, &mut self.out),
                }
            }
            "response.output_item.added" => {
                let item = node.get("item");
                match item.and_then(|item| item.text("type")) {
                    Some("message") => {
                        passing.read.push(index);
                        if let Some(id) = item.and_then(|item| item.text("id")) {
                            writer.next_message(id);
                        }
                    }
                    Some("function_call" | "custom_tool_call") => {
                        passing.read.push(index);
                        let known = ["type", "id", "call_id", "name", "arguments", "input", "status"];
                        let extra = item.map(|item| beyond(item, &known));
                        let id = item.and_then(|item| item.text("id")).map(str::to_owned);
                        lane.sequence.hint(Hint { extra, item: id });
                    }
                    _ => {
                        lane.events.truncate(before);
                        lane.write(&mut self.out);
                        if let AnyWriter::Responses(writer) = &mut lane.writer {
                            writer.pass_item(index, node, &mut self.out);
                        }
                        return;
                    }
                }
                lane.write(&mut self.out);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let whole = data.and_then(|data| Node::parse(data.as_bytes()).ok());
                writer.ends_as(whole.unwrap_or_else(|| node.clone()).into_owned());
                lane.write(&mut self.out);
            }
            "response.output_text.delta" => {
                let here = writer.open_message() == node.text("item_id").map(|id| (id, index))
                    && node.count("sequence_number") == Some(writer.sequence())
                    && node.count("content_index").unwrap_or_default() == 0;
                if let ([Event::Text(read)], Some(text), Some(data), true) =
                    (lane.events.as_slice(), node.text("delta"), data, here)
                    && read == text
                    && lane.sequence.is_idle()
                {
                    raw_frame(Some(kind), data, &mut self.out);
                    writer.passed(text);
                    return lane.events.clear();
                }
                lane.write(&mut self.out);
            }
            _ if node.get("output_index").is_some() && !passing.read.contains(&index) => {
                let done = node.get("item").filter(|_| kind == "response.output_item.done");
                if writer.pass_event(index, node, done, &mut self.out) {
                    lane.events.truncate(before);
                }
                lane.write(&mut self.out);
            }
            _ => lane.write(&mut self.out),
        }
    }
}

/// The members of `node` that say something and are not `known`.
fn beyond(node: &Node<'_>, known: &[&str]) -> Map<String, Value> {
    let more = node.members().iter().filter(|(key, value)| !known.contains(&&**key) && !is_silent(value));
    more.map(|(key, value)| (key.to_string(), value.to_value())).collect()
}

impl Lane {
    /// The answer has begun.
    fn is_known(&self) -> bool {
        matches!(&self.writer, AnyWriter::Chat(writer) if writer.is_begun())
    }

    /// Takes a chunk's choice of Chat. `raw`: the chunk, if it may be passed on as it is.
    fn pass_choice(&mut self, choice: &Node<'_>, chunk: &Node<'_>, raw: Option<&str>, out: &mut String) {
        self.read("", chunk);
        let delta = choice.get("delta");
        let members = delta.map(Node::members).unwrap_or_default();
        let AnyWriter::Chat(writer) = &mut self.writer else { return };
        let field = members.iter().find(|(key, value)| REASONING.contains(&&**key) && value.str().is_some());
        if let Some(field) = field.and_then(|(key, _)| REASONING.iter().find(|name| *name == key)) {
            writer.reasons_in(field);
        }
        for call in delta.map(|delta| delta.list("tool_calls")).unwrap_or_default() {
            let names = call.at(&["function", "name"]).or_else(|| call.at(&["custom", "name"])).and_then(Node::str);
            if names.is_some_and(|name| !name.is_empty()) {
                let extra = Some(beyond(call, &["index", "id", "type", "function", "custom"]));
                self.sequence.hint(Hint { extra, item: None });
            }
        }
        let finish = choice.text("finish_reason").filter(|reason| !reason.is_empty());
        // All that says something in the delta, but who speaks.
        let mut said = members.iter().filter(|(key, value)| key != "role" && !is_silent(value));
        let (only, more) = (said.next(), said.next().is_some());
        let same = match (only, self.events.as_slice()) {
            // The whole message at the end was sent in pieces before.
            _ if choice.get("message").is_some() => false,
            (None, []) => delta.is_some(),
            (Some((key, Node::String(text))), [Event::Text(read)]) if !more => key == "content" && read == text,
            (Some((key, Node::String(text))), [Event::Reasoning(read)]) if !more => {
                REASONING.contains(&&**key) && read == text
            }
            _ => false,
        };
        if let Some(reason) = finish {
            let frame = raw.filter(|_| only.is_none() && same).map(|raw| {
                let mut frame = String::new();
                raw_frame(None, raw, &mut frame);
                frame
            });
            self.end = Some((reason.to_owned(), frame));
            return self.write(out);
        }
        match raw {
            Some(raw) if same && (self.sequence.is_idle() || only.is_none()) => {
                if let AnyWriter::Chat(writer) = &mut self.writer {
                    writer.begun();
                }
                raw_frame(None, raw, out);
                self.events.clear();
            }
            _ => self.write(out),
        }
    }
}
