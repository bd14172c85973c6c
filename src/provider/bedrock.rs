//! Bedrock's Converse: blocks like Anthropic's, in dicts of one key. The binary framing of its streams is botocore's.
//!
//! Facts: botocore's model of `bedrock-runtime`. Text blocks have no start event.
use super::assembly::{Assembly, Finish};
use super::node::Node;
use crate::turn::{Issue, IssueCode, StopReason, Usage};
use serde_json::{Map, Value, json};

#[derive(Debug)]
enum Block {
    Text(String),
    /// `reasoningText`: text and signature.
    Reasoning {
        text: String,
        signature: String,
    },
    Call(usize),
    Opaque(Value),
}

/// What is kept between the events of a stream.
#[derive(Debug, Default)]
pub(super) struct Converse {
    blocks: Vec<(u64, Block)>,
}

impl Converse {
    pub(super) fn response(&mut self, body: &Node<'_>, out: &mut Assembly) {
        match body.at(&["output", "message", "content"]) {
            Some(Node::Array(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    self.block(index as u64, block, out);
                }
            }
            Some(other) => out.odd("/output/message/content", other, "a list of blocks"),
            None => out.issue(Issue::of(IssueCode::ProviderField, "/output/message", "the response has no message")),
        }
        self.tail(body, out);
        usage(body, out);
        out.done = true;
    }

    pub(super) fn event(&mut self, event: &Node<'_>, out: &mut Assembly) {
        let Some((kind, body)) = event.members().first() else { return };
        let index = body.count("contentBlockIndex").unwrap_or(self.blocks.len() as u64);
        match kind.as_ref() {
            "messageStart" => out.objects = true,
            "contentBlockStart" => {
                if let Some(start) = body.get("start") {
                    self.block(index, start, out);
                }
            }
            "contentBlockDelta" => match body.get("delta") {
                Some(delta) => self.delta(index, delta, out),
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
            exception if exception.ends_with("Exception") => {
                let message = body.either(["message", "originalMessage"]).and_then(Node::str).unwrap_or(exception);
                out.fail("", format!("{exception}: {message}"), None);
            }
            other => out.issue(Issue::of(IssueCode::UnknownEvent, "", format!("event `{other}` was left out"))),
        }
    }

    fn tail(&mut self, body: &Node<'_>, out: &mut Assembly) {
        out.objects = true;
        let Some(raw) = body.text("stopReason").filter(|raw| !raw.is_empty()) else { return };
        if raw.starts_with("malformed") {
            let message = format!("the model's call could not be read (`{raw}`)");
            out.issue(Issue::of(IssueCode::MalformedCall, "/stopReason", message));
        }
        out.finish = Some(Finish { raw: raw.to_owned(), reason: reason(raw) });
    }

    fn block(&mut self, index: u64, block: &Node<'_>, out: &mut Assembly) {
        if let Some((_, Block::Call(at))) = self.blocks.last() {
            out.call_end(*at);
        }
        let Some((kind, body)) = block.members().iter().find(|(_, value)| !matches!(value, Node::Null)) else { return };
        let block = match (kind.as_ref(), body) {
            ("text", Node::String(text)) => {
                out.text(text);
                Block::Text(text.to_string())
            }
            ("toolUse", call) if call.text("type") == Some("server_tool_use") => Block::Opaque(block.to_value()),
            ("toolUse", call) => {
                let (id, name) = (call.text("toolUseId").unwrap_or_default(), call.text("name").unwrap_or_default());
                let Some(at) = out.call_start(Some(index), id, name) else { return };
                match call.get("input") {
                    None => {}
                    Some(Node::String(text)) => out.arguments(at, text),
                    Some(input) => out.calls.set_whole(at, input),
                }
                Block::Call(at)
            }
            ("reasoningContent", content) => match content.get("reasoningText") {
                Some(text) => {
                    out.reasoning_break();
                    out.reasoning(text.text("text").unwrap_or_default());
                    Block::Reasoning {
                        text: text.text("text").unwrap_or_default().to_owned(),
                        signature: text.text("signature").unwrap_or_default().to_owned(),
                    }
                }
                None => Block::Opaque(block.to_value()),
            },
            _ => Block::Opaque(block.to_value()),
        };
        self.blocks.push((index, block));
    }

    fn delta(&mut self, index: u64, delta: &Node<'_>, out: &mut Assembly) {
        let fresh = self.blocks.last().is_none_or(|(last, _)| *last != index);
        if let Some(text) = delta.text("text") {
            if fresh {
                if let Some((_, Block::Call(at))) = self.blocks.last() {
                    out.call_end(*at);
                }
                self.blocks.push((index, Block::Text(String::new())));
            }
            out.text(text);
            if let Some((_, Block::Text(known))) = self.blocks.last_mut() {
                known.push_str(text);
            }
        } else if let Some(call) = delta.get("toolUse") {
            match self.blocks.last() {
                Some((last, Block::Call(at))) if *last == index => {
                    out.arguments(*at, call.text("input").unwrap_or_default());
                }
                _ => {
                    let message = "a piece of a call that was not started; it was left out";
                    out.issue(Issue::of(IssueCode::ProviderField, "/contentBlockDelta", message));
                }
            }
        } else if let Some(content) = delta.get("reasoningContent") {
            if let Some(redacted) = content.get("redactedContent") {
                let block = json!({"reasoningContent": {"redactedContent": redacted.to_value()}});
                self.blocks.push((index, Block::Opaque(block)));
                return;
            }
            if fresh {
                out.reasoning_break();
                self.blocks.push((index, Block::Reasoning { text: String::new(), signature: String::new() }));
            }
            let text = content.text("text").unwrap_or_default();
            out.reasoning(text);
            if let Some((_, Block::Reasoning { text: known, signature })) = self.blocks.last_mut() {
                known.push_str(text);
                signature.push_str(content.text("signature").unwrap_or_default());
            }
        } else {
            let kind = delta.members().first().map_or("", |(key, _)| key.as_ref());
            out.issue(Issue::of(IssueCode::UnknownEvent, "/contentBlockDelta", format!("delta `{kind}` was left out")));
        }
    }

    /// The blocks in their order, calls as `{"$call": index}`; nothing if the turn itself says it all.
    pub(super) fn state(&mut self, out: &mut Assembly) {
        let shape: Vec<bool> = (self.blocks.iter())
            .filter_map(|(_, block)| match block {
                Block::Text(text) if text.is_empty() => None,
                Block::Text(_) => Some(true),
                Block::Call(_) => Some(false),
                _ => Some(true),
            })
            .collect();
        let opaque = self.blocks.iter().any(|(_, b)| matches!(b, Block::Opaque(_) | Block::Reasoning { .. }));
        let plain = !opaque && shape.iter().skip(1).all(|text| !text);
        if plain {
            return;
        }
        let blocks: Vec<Value> = (self.blocks.drain(..))
            .filter_map(|(_, block)| match block {
                Block::Text(text) if text.is_empty() => None,
                Block::Text(text) => Some(json!({"text": text})),
                Block::Reasoning { text, signature } => {
                    let mut inner = Map::new();
                    inner.insert("text".into(), json!(text));
                    if !signature.is_empty() {
                        inner.insert("signature".into(), json!(signature));
                    }
                    Some(json!({"reasoningContent": {"reasoningText": inner}}))
                }
                Block::Call(at) => Some(json!({"$call": out.index_of(at)?})),
                Block::Opaque(value) => Some(value),
            })
            .collect();
        out.state.insert("bedrock".into(), json!({"content": blocks}));
    }
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
