//! Bedrock's Converse: blocks like Anthropic's, in dicts of one key. The binary framing of its streams is botocore's.
//!
//! Facts: botocore's model of `bedrock-runtime`. Text blocks have no start event.
use super::arguments;
use super::assembly::{Assembly, Finish};
use super::calls::{Said, Slot};
use super::extra::{FIELDS, beyond, join};
use super::node::Node;
use super::wire::{Payload, Wire, Wording, one_choice};
use crate::turn::{Issue, IssueCode, StopReason, Usage};
use serde_json::{Map, Value, json};

#[derive(Debug)]
enum Block {
    Text(String, Map<String, Value>),
    /// `reasoningText`: text and signature.
    Reasoning {
        text: String,
        signature: String,
        more: Map<String, Value>,
    },
    /// The call in this slot, with what is unknown of its block.
    Call(usize, Map<String, Value>),
    Opaque(Value),
}

pub(super) const WORDING: Wording = Wording {
    wire: || Box::<Converse>::default(),
    choices: one_choice,
    answers: |body| {
        body.get("output").is_some_and(|output| output.says("message"))
            || body.members().iter().any(|(key, _)| key == "stopReason" || EVENTS.contains(&key.as_ref()))
    },
    names_calls: true,
    answers_with_errors: false,
    splits: false,
    blobs: BLOBS,
};

const BLOBS: &[&str] = &[
    "/content/*/image/source/bytes",
    "/content/*/document/source/bytes",
    "/content/*/video/source/bytes",
    "/content/*/audio/source/bytes",
    "/content/*/guardContent/image/source/bytes",
    "/content/*/reasoningContent/redactedContent",
    "/content/*/toolResult/content/*/image/source/bytes",
    "/content/*/toolResult/content/*/document/source/bytes",
    "/content/*/toolResult/content/*/video/source/bytes",
];

/// The events of a stream: dicts of one key.
pub(super) const EVENTS: [&str; 6] =
    ["messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"];

/// What is kept between the events of a stream.
#[derive(Debug, Default)]
pub(super) struct Converse {
    blocks: Vec<(u64, Block)>,
    /// What is unknown of the message beside its blocks.
    fields: Map<String, Value>,
}

impl Converse {
    fn response(&mut self, body: &Node<'_>, out: &mut Assembly) {
        match body.at(&["output", "message", "content"]) {
            Some(Node::Array(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    self.block(index as u64, block, out);
                }
            }
            Some(other) => out.odd("/output/message/content", other, "a list of blocks"),
            None => out.issue(Issue::of(IssueCode::ProviderField, "/output/message", "the response has no message")),
        }
        if let Some(message) = body.at(&["output", "message"]) {
            self.fields = beyond(message, &["role", "content"]);
        }
        self.tail(body, out);
        usage(body, out);
        out.done = true;
    }

    fn event(&mut self, event: &Node<'_>, out: &mut Assembly) {
        let Some((kind, body)) = event.members().first() else { return };
        let next = self.blocks.len() as u64;
        let index = body.count("contentBlockIndex");
        // Without an index it is of the last block.
        let of = index.or_else(|| self.blocks.last().map(|(last, _)| *last)).unwrap_or(next);
        match kind.as_ref() {
            "messageStart" => out.objects = true,
            "contentBlockStart" => {
                if let Some(start) = body.get("start") {
                    self.block(index.unwrap_or(next), start, out);
                }
            }
            "contentBlockDelta" => match body.get("delta") {
                Some(delta) => self.delta(of, delta, out),
                None => out.odd("/contentBlockDelta", body, "a delta"),
            },
            "contentBlockStop" => {}
            "messageStop" => {
                self.tail(body, out);
                out.done = true;
                out.end_calls();
            }
            "metadata" => usage(body, out),
            // A complete response among the events.
            "output" | "ResponseMetadata" | "stopReason" => self.response(event, out),
            other => out.issue(Issue::of(IssueCode::UnknownEvent, "", format!("event `{other}` was left out"))),
        }
    }

    fn tail(&mut self, body: &Node<'_>, out: &mut Assembly) {
        out.objects = true;
        let Some(raw) = body.text("stopReason").filter(|raw| !raw.is_empty()) else { return };
        if raw.starts_with("malformed") {
            let message = format!("the model's call could not be read (`{raw}`)");
            out.issue(Issue::of(IssueCode::MalformedCall, "/stopReason", message));
            if let Some(slot) = out.calls.slots.last_mut() {
                slot.said = Said::Unread;
            }
        }
        out.finish = Some(Finish { raw: raw.to_owned(), reason: reason(raw) });
    }

    fn block(&mut self, index: u64, block: &Node<'_>, out: &mut Assembly) {
        self.end_last(out);
        let Some((kind, body)) = block.members().iter().find(|(_, value)| !matches!(value, Node::Null)) else { return };
        let block = match (kind.as_ref(), body) {
            ("text", Node::String(text)) => {
                out.text(text);
                Block::Text(text.to_string(), beyond(block, &["text"]))
            }
            ("toolUse", call) if call.text("type") == Some("server_tool_use") => Block::Opaque(block.to_value()),
            ("toolUse", call) => {
                let (id, name) = (call.text("toolUseId").unwrap_or_default(), call.text("name").unwrap_or_default());
                let Some(at) = out.call_start(Some(index), id, name) else { return };
                match arguments::find(call, "input") {
                    None => {}
                    Some(Node::String(text)) => out.arguments(at, text),
                    Some(input) => out.calls.set_whole(at, input),
                }
                Block::Call(
                    at,
                    around(
                        block,
                        "toolUse",
                        beyond(call, &["toolUseId", "name", "input", "args", "arguments", "parameters"]),
                    ),
                )
            }
            ("reasoningContent", content) => match content.get("reasoningText") {
                Some(text) => {
                    out.reasoning_break();
                    out.reasoning(text.text("text").unwrap_or_default());
                    Block::Reasoning {
                        text: text.text("text").unwrap_or_default().to_owned(),
                        signature: text.text("signature").unwrap_or_default().to_owned(),
                        more: {
                            let inner = beyond(text, &["text", "signature"]);
                            around(block, "reasoningContent", around(content, "reasoningText", inner))
                        },
                    }
                }
                None => Block::Opaque(block.to_value()),
            },
            ("citationsContent", content) => {
                // Text, with its sources.
                content.list("content").iter().filter_map(|part| part.text("text")).for_each(|text| out.text(text));
                Block::Opaque(block.to_value())
            }
            _ => Block::Opaque(block.to_value()),
        };
        self.blocks.push((index, block));
    }

    /// The block at `index`.
    fn of(&mut self, index: u64) -> Option<&mut Block> {
        self.blocks.iter_mut().rfind(|(known, _)| *known == index).map(|(_, block)| block)
    }

    /// Only the last call may be cut off: one before it whose arguments are whole is over.
    fn end_last(&self, out: &mut Assembly) {
        if let Some((_, Block::Call(at, _))) = self.blocks.last()
            && out.calls.slots.get(*at).is_some_and(Slot::complete)
        {
            out.call_end(*at);
        }
    }

    fn delta(&mut self, index: u64, delta: &Node<'_>, out: &mut Assembly) {
        let fresh = self.of(index).is_none();
        if let Some(text) = delta.text("text") {
            if fresh {
                self.end_last(out);
                self.blocks.push((index, Block::Text(String::new(), Map::new())));
            }
            out.text(text);
            if let Some(Block::Text(known, more)) = self.of(index) {
                known.push_str(text);
                join(more, beyond(delta, &["text"]));
            }
        } else if let Some(call) = delta.get("toolUse") {
            match self.of(index) {
                Some(Block::Call(at, more)) => {
                    out.arguments(*at, call.text("input").unwrap_or_default());
                    join(more, around(delta, "toolUse", beyond(call, &["input"])));
                }
                _ => {
                    let message = "a piece of a call that was not started; it was left out";
                    out.issue(Issue::of(IssueCode::ProviderField, "/contentBlockDelta", message));
                }
            }
        } else if let Some(content) = delta.get("reasoningContent") {
            if content.get("redactedContent").is_some() {
                self.blocks.push((index, Block::Opaque(delta.to_value())));
                return;
            }
            if fresh {
                out.reasoning_break();
                let (text, signature, more) = (String::new(), String::new(), Map::new());
                self.blocks.push((index, Block::Reasoning { text, signature, more }));
            }
            let text = content.text("text").unwrap_or_default();
            out.reasoning(text);
            if let Some(Block::Reasoning { text: known, signature, more }) = self.of(index) {
                known.push_str(text);
                signature.push_str(content.text("signature").unwrap_or_default());
                // In a block, they stand in the text of the reasoning.
                let inner = around(&Node::Null, "reasoningText", beyond(content, &["text", "signature"]));
                join(more, around(delta, "reasoningContent", inner));
            }
        } else {
            let kind = delta.members().first().map_or("", |(key, _)| key.as_ref());
            out.issue(Issue::of(IssueCode::UnknownEvent, "/contentBlockDelta", format!("delta `{kind}` was left out")));
        }
    }
}

impl Wire for Converse {
    fn read(&mut self, payload: &Payload<'_, '_>, _: &Node<'_>, out: &mut Assembly) {
        if payload.whole { self.response(payload.body, out) } else { self.event(payload.body, out) }
    }

    /// The blocks in their order, calls as `{"$call": index}`; nothing if the turn itself says it all.
    fn state(&mut self, out: &mut Assembly) {
        let shape: Vec<bool> = (self.blocks.iter())
            .filter_map(|(_, block)| match block {
                Block::Text(text, _) if text.is_empty() => None,
                Block::Text(..) => Some(true),
                Block::Call(..) => Some(false),
                _ => Some(true),
            })
            .collect();
        let opaque = self.blocks.iter().any(|(_, block)| match block {
            Block::Opaque(_) | Block::Reasoning { .. } => true,
            Block::Text(_, more) | Block::Call(_, more) => !more.is_empty(),
        });
        let plain = !opaque && self.fields.is_empty() && shape.iter().skip(1).all(|text| !text);
        if plain {
            return;
        }
        let blocks: Vec<Value> = (self.blocks.drain(..))
            .filter_map(|(_, block)| match block {
                Block::Text(text, more) if text.is_empty() && more.is_empty() => None,
                Block::Text(text, more) => Some(with(json!({"text": text}), more)),
                Block::Reasoning { text, signature, more } => {
                    let mut inner = Map::new();
                    inner.insert("text".into(), json!(text));
                    if !signature.is_empty() {
                        inner.insert("signature".into(), json!(signature));
                    }
                    Some(with(json!({"reasoningContent": {"reasoningText": inner}}), more))
                }
                Block::Call(at, more) => Some(with(json!({"$call": out.index_of(at)?}), more)),
                Block::Opaque(value) => Some(value),
            })
            .collect();
        let mut state = Map::new();
        state.insert("content".into(), Value::Array(blocks));
        if !self.fields.is_empty() {
            state.insert(FIELDS.into(), Value::Object(std::mem::take(&mut self.fields)));
        }
        out.state.insert("bedrock".into(), Value::Object(state));
    }
}

/// What is unknown of `node` and, as `inner`, of its member called `key`.
fn around(node: &Node<'_>, key: &str, inner: Map<String, Value>) -> Map<String, Value> {
    let mut more = beyond(node, &[key]);
    if !inner.is_empty() {
        more.insert(key.to_owned(), Value::Object(inner));
    }
    more
}

fn with(mut block: Value, more: Map<String, Value>) -> Value {
    super::extra::put(&mut block, Some(&Value::Object(more)));
    block
}

fn usage(holder: &Node<'_>, out: &mut Assembly) {
    let Some(usage) = holder.get("usage").filter(|usage| usage.is_object()) else { return };
    out.usage(Usage {
        input_tokens: usage.count("inputTokens"),
        output_tokens: usage.count("outputTokens"),
        total_tokens: usage.count("totalTokens"),
        reasoning_tokens: None,
        cached_tokens: usage.count("cacheReadInputTokens"),
    });
}

fn reason(raw: &str) -> Option<StopReason> {
    Some(match raw {
        "end_turn" | "stop_sequence" => StopReason::Stop,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "guardrail_intervened" | "content_filtered" => StopReason::ContentFilter,
        "malformed_model_output" | "malformed_tool_use" => StopReason::Error,
        _ => return None,
    })
}
