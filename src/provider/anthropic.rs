//! Anthropic's Messages.
//!
//! A message is a list of blocks; a stream sends each block as start, deltas and stop. A complete message is read as
//! such a stream with one delta a block. Blocks mostly come one after another; who gathers them from elsewhere may send
//! the pieces of several by turns, each with its index.
//! Facts: the `anthropic` SDK's models.
use super::arguments;
use super::assembly::{Assembly, Finish};
use super::calls::Slot;
use super::extra::{FIELDS, beyond, join};
use super::node::Node;
use super::wire::{Payload, Wire, Wording, one_choice};
use crate::turn::{Issue, IssueCode, StopReason, Usage};
use serde_json::{Map, Value, json};

/// A block, as it must go back.
#[derive(Debug)]
enum Block {
    Text(Map<String, Value>),
    /// The call in this slot; with the fields of the block beside id, name and input.
    Call(usize, Map<String, Value>),
    /// Thinking, what the server ran itself, everything unknown: back as it came. And pieces of input that such a block is
    /// made of.
    Opaque(Map<String, Value>, String),
}

pub(super) const WORDING: Wording = Wording {
    wire: || Box::<Messages>::default(),
    choices: one_choice,
    answers: |body| {
        let known = |kind: &str| kind.starts_with("message") || kind.starts_with("content_block") || kind == "ping";
        body.text("type").is_some_and(known) || body.get("content").is_some()
    },
    names_calls: true,
    answers_with_errors: false,
    splits: false,
    blobs: &[],
};

/// What is kept between the events of a stream.
#[derive(Debug, Default)]
pub(super) struct Messages {
    blocks: Vec<(u64, Block)>,
    model: Option<Value>,
    /// What is unknown of the message beside its blocks: a `container`, say, which the next request has to name.
    fields: Map<String, Value>,
}

/// What is read of a message, or tells of the answer and not of what comes next.
const MESSAGE: [&str; 9] =
    ["id", "type", "role", "content", "model", "stop_reason", "stop_sequence", "stop_details", "usage"];

impl Messages {
    /// Reads a complete message.
    fn response(&mut self, body: &Node<'_>, out: &mut Assembly) {
        match body.get("content") {
            Some(Node::String(text)) => out.text(text),
            Some(Node::Array(blocks)) => {
                for (index, block) in blocks.iter().enumerate() {
                    self.start(index as u64, block, out);
                    self.stop(Some(index as u64), out);
                }
            }
            Some(other) => out.odd("/content", other, "a list of blocks"),
            None => out.issue(Issue::of(IssueCode::ProviderField, "/content", "the message has no content")),
        }
        self.head(body, out);
        self.tail(body, out);
        out.done = true;
    }

    /// Reads one event.
    fn event(&mut self, name: &str, event: &Node<'_>, out: &mut Assembly) {
        let kind = event.text("type").unwrap_or(name);
        let next = self.blocks.len() as u64;
        let index = event.count("index");
        // Without an index it is of the last block.
        let of = index.or_else(|| self.blocks.last().map(|(last, _)| *last));
        match kind {
            "message_start" => {
                if let Some(message) = event.get("message") {
                    self.head(message, out);
                    for (index, block) in message.list("content").iter().enumerate() {
                        self.start(index as u64, block, out);
                    }
                }
            }
            "content_block_start" => match event.get("content_block") {
                Some(block) => self.start(index.unwrap_or(next), block, out),
                None => out.odd("/content_block", event, "an event with a block"),
            },
            "content_block_delta" => match event.get("delta") {
                Some(delta) => self.delta(of.unwrap_or(next), delta, out),
                None => out.odd("/delta", event, "an event with a delta"),
            },
            "content_block_stop" => self.stop(of, out),
            "message_delta" => {
                if let Some(delta) = event.get("delta") {
                    self.tail(delta, out);
                    self.fields.extend(beyond(delta, &MESSAGE));
                }
                self.fields.extend(beyond(event, &["type", "delta", "usage"]));
                usage(event, out);
                if out.finish.is_some() {
                    self.end(out);
                }
            }
            "message_stop" => {
                out.done = true;
                self.end(out);
            }
            "ping" => {}
            // A whole message in a stream.
            "message" => self.response(event, out),
            other => out.issue(Issue::of(IssueCode::UnknownEvent, "/type", format!("event `{other}` was left out"))),
        }
    }

    fn head(&mut self, message: &Node<'_>, out: &mut Assembly) {
        out.objects = true;
        if let Some(model) = message.text("model") {
            self.model = Some(json!(model));
        }
        self.fields.extend(beyond(message, &MESSAGE));
        usage(message, out);
    }

    fn tail(&mut self, message: &Node<'_>, out: &mut Assembly) {
        let Some(raw) = message.text("stop_reason").filter(|raw| !raw.is_empty()) else { return };
        out.finish = Some(Finish { raw: raw.to_owned(), reason: reason(raw) });
    }

    fn end(&mut self, out: &mut Assembly) {
        self.stop(None, out);
        out.end_calls();
    }

    fn start(&mut self, index: u64, block: &Node<'_>, out: &mut Assembly) {
        // Only the last call may be cut off: one before it whose arguments are whole is over.
        if let Some((_, Block::Call(at, _))) = self.blocks.last()
            && out.calls.slots.get(*at).is_some_and(Slot::complete)
        {
            out.call_end(*at);
        }
        let fields = |without: &[&str]| -> Map<String, Value> {
            let members = block.members().iter().filter(|(key, _)| !without.contains(&key.as_ref()));
            members.map(|(key, value)| (key.to_string(), value.to_value())).collect()
        };
        let block = match block.text("type") {
            Some("text") => {
                out.text(block.text("text").unwrap_or_default());
                Block::Text(fields(&[]))
            }
            Some("tool_use") => {
                let (id, name) = (block.text("id").unwrap_or_default(), block.text("name").unwrap_or_default());
                let Some(at) = out.call_start(Some(index), id, name) else { return };
                match arguments::find(block, "input") {
                    Some(Node::Object(members)) if members.is_empty() => {}
                    Some(Node::String(text)) => out.arguments(at, text),
                    Some(input) => {
                        out.calls.set_whole(at, input);
                    }
                    None => {}
                }
                Block::Call(at, fields(&["type", "id", "name", "input", "args", "arguments", "parameters"]))
            }
            Some("thinking") => {
                out.reasoning_break();
                out.reasoning(block.text("thinking").unwrap_or_default());
                Block::Opaque(fields(&[]), String::new())
            }
            Some(_) => Block::Opaque(fields(&[]), String::new()),
            None => return out.odd("/content", block, "a block with a type"),
        };
        self.blocks.push((index, block));
    }

    /// The block at `index`: mostly it is the last one.
    fn of(&mut self, index: u64) -> Option<&mut Block> {
        self.blocks.iter_mut().rfind(|(known, _)| *known == index).map(|(_, block)| block)
    }

    fn delta(&mut self, index: u64, delta: &Node<'_>, out: &mut Assembly) {
        if self.of(index).is_none() {
            // The start is missing: what the delta is says what the block is.
            let made = match delta.text("type") {
                Some("text_delta") => Node::Object(vec![("type".into(), Node::String("text".into()))]),
                Some("thinking_delta") => Node::Object(vec![("type".into(), Node::String("thinking".into()))]),
                _ => {
                    let message = "a delta for a block that was not started; it was left out";
                    return out.issue(Issue::of(IssueCode::ProviderField, "/index", message));
                }
            };
            self.start(index, &made, out);
        }
        let Some(block) = self.of(index) else { return };
        let text = |key: &str| delta.text(key).unwrap_or_default();
        let (fields, read) = match (delta.text("type"), block) {
            (Some("text_delta"), Block::Text(fields)) => {
                out.text(text("text"));
                push(fields, "text", text("text"));
                (fields, "text")
            }
            (Some("thinking_delta"), Block::Opaque(fields, _)) => {
                out.reasoning(text("thinking"));
                push(fields, "thinking", text("thinking"));
                (fields, "thinking")
            }
            (Some("signature_delta"), Block::Opaque(fields, _)) => {
                fields.insert("signature".into(), json!(text("signature")));
                (fields, "signature")
            }
            (Some("input_json_delta"), Block::Call(at, fields)) => {
                // What stood at its start comes once more, in pieces.
                if let Some(slot) = out.calls.slots.get_mut(*at).filter(|slot| slot.whole && slot.sent == 0) {
                    slot.whole = false;
                    out.calls.set(*at, "");
                }
                out.arguments(*at, text("partial_json"));
                (fields, "partial_json")
            }
            (Some("input_json_delta"), Block::Opaque(fields, input)) => {
                input.push_str(text("partial_json"));
                (fields, "partial_json")
            }
            (Some("citations_delta"), Block::Text(fields)) => {
                if let Some(citation) = delta.get("citation") {
                    match fields.entry("citations").or_insert_with(|| json!([])) {
                        Value::Array(citations) => citations.push(citation.to_value()),
                        other => *other = json!([citation.to_value()]),
                    }
                }
                (fields, "citation")
            }
            (kind, _) => {
                let message = format!("delta `{}` does not belong to its block; it was left out", kind.unwrap_or(""));
                return out.issue(Issue::of(IssueCode::UnknownEvent, "/delta/type", message));
            }
        };
        // What the delta says besides belongs to its block.
        if delta.members().len() > 2 {
            join(fields, beyond(delta, &["type", read]));
        }
    }

    /// The block at `index` is over; without one, all are.
    fn stop(&mut self, index: Option<u64>, out: &mut Assembly) {
        match index {
            Some(index) => self.of(index).into_iter().for_each(|block| block.stop(out)),
            None => self.blocks.iter_mut().for_each(|(_, block)| block.stop(out)),
        }
    }
}

impl Block {
    /// Nothing follows for it.
    fn stop(&mut self, out: &mut Assembly) {
        match self {
            Self::Call(at, _) => {
                if out.calls.slots.get(*at).is_some_and(|slot| slot.text.trim().is_empty()) {
                    out.calls.set(*at, "{}");
                }
            }
            Self::Opaque(fields, input) if !input.is_empty() => {
                let input = std::mem::take(input);
                let value = serde_json::from_str(&input).unwrap_or(Value::String(input));
                fields.insert("input".into(), value);
            }
            Self::Opaque(..) | Self::Text(_) => {}
        }
    }
}

impl Wire for Messages {
    fn read(&mut self, payload: &Payload<'_, '_>, _: &Node<'_>, out: &mut Assembly) {
        if payload.whole { self.response(payload.body, out) } else { self.event(payload.event, payload.body, out) }
    }

    /// The blocks in their order, calls as `{"$call": index}`; nothing if the turn itself says it all.
    fn state(&mut self, out: &mut Assembly) {
        let mut texts = 0;
        let mut call_seen = false;
        let plain = self.blocks.iter().all(|(_, block)| match block {
            Block::Text(fields) => {
                texts += 1;
                texts == 1 && !call_seen && fields.keys().all(|key| key == "type" || key == "text")
            }
            Block::Call(_, fields) => {
                call_seen = true;
                fields.is_empty()
            }
            Block::Opaque(..) => false,
        });
        if plain && self.fields.is_empty() {
            return;
        }
        let blocks: Vec<Value> = (self.blocks.drain(..))
            .filter_map(|(_, block)| match block {
                Block::Text(fields) if fields.get("text").and_then(Value::as_str) == Some("") => None,
                Block::Text(fields) | Block::Opaque(fields, _) => Some(Value::Object(fields)),
                Block::Call(at, mut fields) => {
                    fields.insert("$call".into(), json!(out.index_of(at)?));
                    Some(Value::Object(fields))
                }
            })
            .collect();
        let mut state = Map::new();
        state.insert("content".into(), Value::Array(blocks));
        if let Some(model) = self.model.take() {
            state.insert("model".into(), model);
        }
        if !self.fields.is_empty() {
            state.insert(FIELDS.into(), Value::Object(std::mem::take(&mut self.fields)));
        }
        out.state.insert("anthropic".into(), Value::Object(state));
    }
}

fn push(fields: &mut Map<String, Value>, key: &str, text: &str) {
    match fields.entry(key).or_insert_with(|| json!("")) {
        Value::String(known) => known.push_str(text),
        other => *other = json!(text),
    }
}

fn usage(holder: &Node<'_>, out: &mut Assembly) {
    let Some(usage) = holder.get("usage").filter(|usage| usage.is_object()) else { return };
    let cached = usage.count("cache_read_input_tokens");
    out.usage(Usage {
        // What was read from or written to the cache was input too.
        input_tokens: usage.count("input_tokens").map(|tokens| {
            let made = usage.count("cache_creation_input_tokens").unwrap_or_default();
            tokens.saturating_add(cached.unwrap_or_default()).saturating_add(made)
        }),
        output_tokens: usage.count("output_tokens"),
        total_tokens: None,
        reasoning_tokens: None,
        cached_tokens: cached,
    });
}

fn reason(raw: &str) -> Option<StopReason> {
    Some(match raw {
        "end_turn" | "stop_sequence" => StopReason::Stop,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Refusal,
        "pause_turn" => StopReason::Pause,
        _ => return None,
    })
}
