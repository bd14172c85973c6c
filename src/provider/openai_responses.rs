//! OpenAI's Responses: a list of items; a stream adds each item, sends its deltas, and says it whole once more.
//!
//! Facts: the `openai` SDK's models. Items are keyed by `output_index`; results pair by `call_id`. What a stream's
//! `done` events say whole is used where deltas were missed, so that no event alone is needed.
use super::arguments;
use super::assembly::{Assembly, Finish};
use super::calls::Said;
use super::errors;
use super::node::Node;
use super::wire::{Payload, Wire, Wording, one_choice};
use crate::turn::{Issue, IssueCode, StopReason, Usage};
use serde_json::{Map, Value, json};

#[derive(Debug)]
enum Item {
    /// The item as it must go back, and how much of its text was read.
    Message {
        item: Value,
        read: String,
    },
    Reasoning {
        item: Value,
        read: String,
    },
    Call {
        at: usize,
        fields: Map<String, Value>,
        done: bool,
    },
    Opaque(Value),
}

/// The item says no more than its text.
fn is_plain(item: &Value) -> bool {
    let only = |value: &Value, known: &[&str]| {
        value.as_object().is_some_and(|members| members.keys().all(|key| known.contains(&key.as_str())))
    };
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    only(item, &["type", "role", "content"]) && parts.into_iter().all(|part| only(part, &["type", "text"]))
}

pub(super) const WORDING: Wording = Wording {
    wire: || Box::<Responses>::default(),
    choices: one_choice,
    answers: |body| {
        matches!(body.get("output"), Some(Node::Array(_)))
            || body.text("type").is_some_and(|kind| kind.starts_with("response."))
            || body.text("object") == Some("response")
    },
    names_calls: true,
    answers_with_errors: true,
    splits: false,
    blobs: &[],
};

/// Items that OpenAI's own tools leave to the caller: it waits for what comes of them.
const WAITING: [&str; 5] =
    ["computer_call", "local_shell_call", "shell_call", "apply_patch_call", "mcp_approval_request"];

/// What is kept between the events of a stream.
#[derive(Debug, Default)]
pub(super) struct Responses {
    items: Vec<(u64, Item)>,
}

impl Responses {
    fn response(&mut self, body: &Node<'_>, out: &mut Assembly) {
        // A response may be given as the event that carries it.
        let body = body.get("response").filter(|response| response.is_object()).unwrap_or(body);
        if let Some(Node::Array(items)) = body.get("output") {
            for (index, item) in items.iter().enumerate() {
                self.item(index as u64, item, true, out);
            }
        } else if body.get("type").is_some() && body.get("status").is_none() {
            return self.event("", body, out);
        } else {
            out.issue(Issue::of(IssueCode::ProviderField, "/output", "the response has no output"));
        }
        self.tail(body, out);
        out.done = true;
    }

    fn event(&mut self, name: &str, event: &Node<'_>, out: &mut Assembly) {
        let kind = event.text("type").unwrap_or(name);
        let index = event.count("output_index").or_else(|| self.by_id(event.text("item_id")?));
        let index = index.unwrap_or(self.items.len().saturating_sub(1) as u64);
        let text = |key: &str| event.text(key).unwrap_or_default();
        match kind.strip_prefix("response.").unwrap_or(kind) {
            "output_item.added" => {
                if let Some(item) = event.get("item") {
                    self.item(index, item, false, out);
                }
            }
            "output_item.done" => {
                if let Some(item) = event.get("item") {
                    self.item(index, item, true, out);
                }
            }
            "output_text.delta" | "refusal.delta" => {
                let delta = text("delta");
                out.refused |= kind.ends_with("refusal.delta");
                out.text(delta);
                if let Some(Item::Message { read, .. }) = self.find_or(index, "message") {
                    read.push_str(delta);
                }
            }
            "reasoning_summary_text.delta" | "reasoning_text.delta" => {
                let delta = text("delta");
                out.reasoning(delta);
                if let Some(Item::Reasoning { read, .. }) = self.find_or(index, "reasoning") {
                    read.push_str(delta);
                }
            }
            "reasoning_summary_part.added" => {
                if event.count("summary_index").is_some_and(|index| index > 0) {
                    self.gap(index, out);
                }
            }
            "function_call_arguments.delta" | "custom_tool_call_input.delta" => match self.find(index) {
                Some(Item::Call { at, .. }) => {
                    let at = *at;
                    out.arguments(at, text("delta"));
                }
                _ => out.odd("/output_index", event, "a delta of a call that was added"),
            },
            "function_call_arguments.done" => {
                if let Some(Item::Call { at, .. }) = self.find(index) {
                    let at = *at;
                    self.rest(at, text("arguments"), out);
                }
            }
            "completed" | "incomplete" | "failed" | "cancelled" | "done" => self.over(event.get("response"), out),
            "error" => {
                out.fail(&errors::described(event.get("error").unwrap_or(event), ""));
            }
            // A complete response among the events: the server does not stream.
            "" if event.get("output").is_some() => self.response(event, out),
            other if says_nothing(other) => {}
            other => out.issue(Issue::of(IssueCode::UnknownEvent, "/type", format!("event `{other}` was left out"))),
        }
    }

    /// The response is over, and stands there whole.
    fn over(&mut self, response: Option<&Node<'_>>, out: &mut Assembly) {
        if let Some(response) = response {
            // Items that no event told of.
            for (index, item) in response.list("output").iter().enumerate() {
                self.item(index as u64, item, true, out);
            }
            self.tail(response, out);
        }
        out.done = true;
        out.end_calls();
    }

    fn by_id(&self, id: &str) -> Option<u64> {
        self.items.iter().find_map(|(index, item)| match item {
            Item::Message { item, .. } | Item::Reasoning { item, .. } | Item::Opaque(item) => {
                (item.get("id").and_then(Value::as_str) == Some(id)).then_some(*index)
            }
            Item::Call { fields, .. } => (fields.get("id").and_then(Value::as_str) == Some(id)).then_some(*index),
        })
    }

    fn find(&mut self, index: u64) -> Option<&mut Item> {
        self.items.iter_mut().find(|(known, _)| *known == index).map(|(_, item)| item)
    }

    /// The item at `index`, made up if its `added` event is missing.
    fn find_or(&mut self, index: u64, kind: &str) -> Option<&mut Item> {
        if !self.items.iter().any(|(known, _)| *known == index) {
            let item = json!({"type": kind});
            let item = match kind {
                "reasoning" => Item::Reasoning { item, read: String::new() },
                _ => Item::Message { item, read: String::new() },
            };
            self.items.push((index, item));
        }
        self.find(index)
    }

    fn gap(&mut self, index: u64, out: &mut Assembly) {
        if let Some(Item::Reasoning { read, .. }) = self.find(index) {
            read.push_str("\n\n");
            out.reasoning("\n\n");
        }
    }

    /// What of a call's whole arguments did not come as deltas.
    fn rest(&mut self, at: usize, whole: &str, out: &mut Assembly) {
        let Some(known) = out.calls.slots.get(at).map(|slot| slot.text.clone()) else { return };
        match whole.strip_prefix(known.as_str()) {
            Some("") => {}
            Some(rest) => out.arguments(at, rest),
            None if whole.is_empty() => {}
            None => out.calls.set(at, whole),
        }
    }

    /// An item, when it is added (`done` false) or over.
    fn item(&mut self, index: u64, node: &Node<'_>, done: bool, out: &mut Assembly) {
        let kind = node.text("type").unwrap_or_default();
        match kind {
            "message" => {
                let mut whole = String::new();
                for part in node.list("content") {
                    whole.push_str(part.text("text").or_else(|| part.text("refusal")).unwrap_or_default());
                    out.refused |= part.text("type") == Some("refusal");
                }
                let Some(Item::Message { item, read }) = self.find_or(index, "message") else { return };
                *item = node.to_value();
                if let Some(rest) = whole.strip_prefix(read.as_str()) {
                    out.text(rest);
                    *read = whole;
                }
            }
            "reasoning" => {
                let mut whole = String::new();
                for part in node.list("summary").iter().chain(node.list("content")) {
                    if !whole.is_empty() {
                        whole.push_str("\n\n");
                    }
                    whole.push_str(part.text("text").unwrap_or_default());
                }
                let new = self.find(index).is_none();
                let Some(Item::Reasoning { item, read }) = self.find_or(index, "reasoning") else { return };
                *item = node.to_value();
                if new {
                    out.reasoning_break();
                }
                if let Some(rest) = whole.strip_prefix(read.as_str()) {
                    out.reasoning(rest);
                    *read = whole;
                }
            }
            "function_call" | "custom_tool_call" => self.call(index, node, kind == "custom_tool_call", done, out),
            "" => out.odd("/output", node, "an item with a type"),
            // What the caller has to do, and no tool of a name.
            kind if done && (WAITING.contains(&kind) || is_clients_search(kind, node)) => {
                // The event that ends the response lists its items once more.
                let known = matches!(self.find(index), Some(Item::Opaque(item)) if *item == node.to_value());
                if !(known && out.paused) {
                    let message =
                        format!("`{kind}` waits for an output or an approval: it is no call of a tool by name");
                    out.issue(Issue::of(IssueCode::ProviderField, format!("/output/{index}"), message));
                }
                out.paused = true;
                self.opaque(index, node);
            }
            _ => self.opaque(index, node),
        }
    }

    /// An item that goes back as it came.
    fn opaque(&mut self, index: u64, node: &Node<'_>) {
        match self.find(index) {
            Some(Item::Opaque(item)) => *item = node.to_value(),
            Some(_) => {}
            None => self.items.push((index, Item::Opaque(node.to_value()))),
        }
    }

    fn call(&mut self, index: u64, node: &Node<'_>, custom: bool, done: bool, out: &mut Assembly) {
        let whole = if custom { node.get("input") } else { arguments::find(node, "arguments") };
        if self.find(index).is_none() {
            let (id, name) = (node.text("call_id").or_else(|| node.text("id")), node.text("name").unwrap_or_default());
            // Of several tools of one name the namespace tells which.
            let qualified = node.text("namespace").map(|namespace| format!("{namespace}:{name}"));
            let tools = out.reading.tools.as_deref();
            let known = qualified.filter(|name| tools.is_some_and(|tools| tools.get(name).is_some()));
            let name = known.as_deref().unwrap_or(name);
            let Some(at) = out.call_start(Some(index), id.unwrap_or_default(), name) else {
                return;
            };
            if let Some(slot) = out.calls.slots.get_mut(at) {
                slot.custom = custom;
            }
            self.items.push((index, Item::Call { at, fields: Map::new(), done: false }));
        }
        let Some(Item::Call { at, fields, done: over }) = self.find(index) else { return };
        let at = *at;
        if *over {
            return;
        }
        *over = done;
        for (key, value) in node.members() {
            if !matches!(key.as_ref(), "call_id" | "name" | "arguments" | "input" | "args" | "parameters") {
                fields.insert(key.to_string(), value.to_value());
            }
        }
        match whole {
            Some(Node::String(text)) if custom => {
                if let Some(slot) = out.calls.slots.get_mut(at)
                    && text.starts_with(slot.text.as_str())
                {
                    slot.text = text.to_string();
                }
            }
            Some(Node::String(text)) => self.rest(at, text, out),
            Some(value) => out.calls.set_whole(at, value),
            None => {}
        }
        if done {
            // Only a completed item is over; an incomplete one is cut off.
            if node.text("status") != Some("incomplete") {
                out.call_end(at);
            } else if let Some(slot) = out.calls.slots.get_mut(at) {
                slot.said = Said::Cut;
            }
        }
    }

    fn tail(&mut self, response: &Node<'_>, out: &mut Assembly) {
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            out.usage(Usage {
                input_tokens: usage.count("input_tokens"),
                output_tokens: usage.count("output_tokens"),
                total_tokens: usage.count("total_tokens"),
                reasoning_tokens: usage.at(&["output_tokens_details", "reasoning_tokens"]).and_then(Node::u64),
                cached_tokens: usage.at(&["input_tokens_details", "cached_tokens"]).and_then(Node::u64),
            });
        }
        if let Some(error) = response.get("error").filter(|error| error.is_object()) {
            out.fail(&errors::described(error, "/error"));
        }
        let Some(status) = response.text("status").filter(|status| !status.is_empty()) else { return };
        let why = response.at(&["incomplete_details", "reason"]).and_then(Node::str);
        let (raw, reason) = match (status, why) {
            ("completed", _) => (status, Some(StopReason::Stop)),
            ("incomplete", Some("content_filter")) => ("incomplete: content_filter", Some(StopReason::ContentFilter)),
            ("incomplete", _) => ("incomplete", Some(StopReason::Length)),
            ("in_progress" | "queued", _) => (status, Some(StopReason::Pause)),
            ("failed" | "cancelled", _) => (status, Some(StopReason::Error)),
            _ => (status, None),
        };
        // A completed response that calls has no reason of its own for it.
        let reason = match reason {
            Some(StopReason::Stop) if !out.calls.slots.is_empty() => Some(StopReason::ToolCalls),
            reason => reason,
        };
        out.finish = Some(Finish { raw: raw.to_owned(), reason });
    }
}

/// The search for tools is done by the provider, unless the item says that the client is to do it.
fn is_clients_search(kind: &str, item: &Node<'_>) -> bool {
    kind == "tool_search_call" && item.text("execution") == Some("client")
}

impl Wire for Responses {
    fn read(&mut self, payload: &Payload<'_, '_>, _: &Node<'_>, out: &mut Assembly) {
        if payload.whole { self.response(payload.body, out) } else { self.event(payload.event, payload.body, out) }
    }

    /// The items in their order, calls as `{"$call": index}`.
    fn state(&mut self, out: &mut Assembly) {
        self.items.sort_by_key(|(index, _)| *index);
        let opaque = self.items.iter().any(|(_, item)| match item {
            Item::Message { item, .. } => !is_plain(item),
            Item::Call { .. } => false,
            Item::Reasoning { .. } | Item::Opaque(_) => true,
        });
        let calls = self.items.iter().any(|(_, item)| matches!(item, Item::Call { .. }));
        if !opaque && !calls {
            return;
        }
        let items: Vec<Value> = (self.items.drain(..))
            .filter_map(|(_, item)| match item {
                Item::Message { item, .. } | Item::Reasoning { item, .. } | Item::Opaque(item) => Some(item),
                Item::Call { at, mut fields, .. } => {
                    fields.insert("$call".into(), json!(out.index_of(at)?));
                    Some(Value::Object(fields))
                }
            })
            .collect();
        let state = [("output".to_owned(), Value::Array(items))].into_iter().collect();
        out.state.insert("openai_responses".into(), Value::Object(state));
    }
}

/// An event that is about what others bring, or about tools that run at OpenAI.
fn says_nothing(event: &str) -> bool {
    const PARTS: [&str; 6] = ["_call.", "_call_", "mcp_", "audio.", "image_generation", "code_interpreter"];
    let known = matches!(
        event,
        "created"
            | "in_progress"
            | "queued"
            | "content_part.added"
            | "content_part.done"
            | "output_text.done"
            | "refusal.done"
            | "reasoning_summary_text.done"
            | "reasoning_summary_part.done"
            | "reasoning_text.done"
            | "custom_tool_call_input.done"
            | "output_text.annotation.added"
            | "keepalive"
    );
    known || PARTS.iter().any(|part| event.contains(part))
}
