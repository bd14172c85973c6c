//! Events of OpenAI's Responses: items one after another, each added, written in pieces and written whole at its end.
use super::super::error::WireError;
use super::super::estimate::Cost;
use super::super::json::{push_member, push_number};
use super::super::{WireCode, json as wire_json};
use super::{End, Ended, Started, Writer, new_id, now};
use crate::json::push_string;
use crate::provider::{Node, Provider, provider_id};
use crate::schema::input_of;
use crate::turn::StopReason;
use serde_json::{Map, Value, json};

/// The usage as Responses has it.
pub(crate) fn usage(cost: Cost) -> Value {
    let mut usage = json!({
        "input_tokens": cost.input(),
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": cost.usage.cached_tokens.unwrap_or_default()},
        "output_tokens": cost.output(),
        "output_tokens_details": {"reasoning_tokens": cost.usage.reasoning_tokens.unwrap_or_default()},
        "total_tokens": cost.total(),
    });
    if cost.estimated {
        usage["estimated"] = json!(true);
    }
    usage
}

/// A response without its items.
pub(crate) fn skeleton(model: &str) -> Map<String, Value> {
    let response = json!({
        "id": new_id("resp_"), "object": "response", "created_at": now(), "status": "in_progress", "error": null,
        "incomplete_details": null, "instructions": null, "metadata": {}, "model": model, "output": [],
        "parallel_tool_calls": true, "temperature": null, "tool_choice": "auto", "tools": [], "top_p": null, "usage": null,
    });
    match response {
        Value::Object(response) => response,
        _ => Map::new(),
    }
}

/// The status of a response, and why it is incomplete.
pub(crate) fn status(reason: StopReason) -> (&'static str, Value) {
    match reason {
        StopReason::Length => ("incomplete", json!({"reason": "max_output_tokens"})),
        StopReason::ContentFilter => ("incomplete", json!({"reason": "content_filter"})),
        _ => ("completed", Value::Null),
    }
}

/// The item of a message.
pub(crate) fn message_item(id: &str, text: &str, status: &str) -> Value {
    json!({"id": id, "type": "message", "status": status, "role": "assistant",
        "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": text}]})
}

/// The item of reasoning.
pub(crate) fn reasoning_item(id: &str, text: &str) -> Value {
    json!({"id": id, "type": "reasoning", "summary": [{"type": "summary_text", "text": text}]})
}

/// The item of a call.
pub(crate) fn call_item(item: &str, call: Started<'_>, arguments: &str, status: &str) -> Value {
    let name = call.kind.map_or(call.name, |kind| &kind.name);
    let id = provider_id(call.id, Provider::OpenAiResponses);
    let mut value = if call.kind.is_some_and(|kind| kind.custom) {
        let input = input_of(arguments).unwrap_or_default();
        json!({"id": item, "type": "custom_tool_call", "status": status, "call_id": id, "name": name, "input": input})
    } else {
        json!({"id": item, "type": "function_call", "status": status, "arguments": arguments, "call_id": id, "name": name})
    };
    if let Some(namespace) = call.kind.and_then(|kind| kind.namespace.as_deref()) {
        value["namespace"] = json!(namespace);
    }
    if let (Some(extra), Value::Object(value)) = (call.extra, &mut value) {
        for (key, more) in extra {
            value.entry(key.as_str()).or_insert_with(|| more.clone());
        }
    }
    value
}

/// The item that is open.
#[derive(Debug)]
enum Open {
    Message { id: String, text: String },
    Reasoning { id: String, text: String },
    Call { item: Value, custom: bool },
    Passed(u64),
}

/// Writes a response.
#[derive(Debug)]
pub(crate) struct Responses {
    response: Map<String, Value>,
    begun: bool,
    sequence: u64,
    /// The items that are over.
    output: Vec<Value>,
    open: Option<Open>,
    /// A delta of the open item, up to its number in the stream and from there to its text.
    delta: (String, String),
    /// The id of the next message, where the backend sends one.
    message_id: Option<String>,
    /// The backend's last event, whole: it says more of the response than is known here.
    last: Option<Node<'static>>,
}

impl Responses {
    pub(crate) fn new(model: &str) -> Self {
        Self {
            response: skeleton(model),
            begun: false,
            sequence: 0,
            output: Vec::new(),
            open: None,
            delta: (String::new(), String::new()),
            message_id: None,
            last: None,
        }
    }

    /// The backend has begun the response itself, with events of which the last has the number `sequence`.
    pub(crate) fn begun(&mut self, response: &Node<'_>) {
        if let Value::Object(response) = response.to_value() {
            self.response = response;
        }
        self.begun = true;
    }

    /// An event of the backend's, under the number that it has here.
    pub(crate) fn pass(&mut self, event: &Node<'_>, output_index: Option<u64>, out: &mut String) {
        let sequence = self.sequence.to_string();
        self.sequence += 1;
        let index = output_index.unwrap_or_default().to_string();
        let mut members = vec![("sequence_number", sequence.as_str())];
        if output_index.is_some() {
            members.push(("output_index", &index));
        }
        named(event.text("type").unwrap_or_default(), &wire_json::replaced(event, &members), out);
    }

    /// Begins an item of the backend's that is passed on as it is.
    pub(crate) fn pass_item(&mut self, at: u64, event: &Node<'_>, out: &mut String) {
        self.begin(out);
        self.close(out);
        self.open = Some(Open::Passed(at));
        self.pass(event, Some(self.output.len() as u64), out);
    }

    /// Passes on what belongs to such an item; `done`: the whole item, which is over.
    pub(crate) fn pass_event(&mut self, at: u64, event: &Node<'_>, done: Option<&Node<'_>>, out: &mut String) -> bool {
        if !matches!(self.open, Some(Open::Passed(open)) if open == at) {
            return false;
        }
        self.pass(event, Some(self.output.len() as u64), out);
        if let Some(item) = done {
            self.output.push(item.to_value());
            self.open = None;
        }
        true
    }

    /// The number of the next event.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// An event was passed on as it is.
    pub(crate) fn passed(&mut self, text: &str) {
        self.sequence += 1;
        if let Some(Open::Message { text: known, .. }) = &mut self.open {
            known.push_str(text);
        }
    }

    /// The message that is open: its id and its place.
    pub(crate) fn open_message(&self) -> Option<(&str, u64)> {
        match &self.open {
            Some(Open::Message { id, .. }) => Some((id, self.output.len() as u64)),
            _ => None,
        }
    }

    /// The id of the next message.
    pub(crate) fn next_message(&mut self, id: &str) {
        self.message_id = Some(id.to_owned());
    }

    /// The backend's last event.
    pub(crate) fn ends_as(&mut self, event: Node<'static>) {
        self.last = Some(event);
    }

    fn begin(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        for kind in ["response.created", "response.in_progress"] {
            let response = Value::Object(self.response.clone());
            self.event(kind, &[("response", &response)], out);
        }
    }

    fn event(&mut self, kind: &str, members: &[(&str, &Value)], out: &mut String) {
        let mut event = Map::new();
        event.insert("type".into(), json!(kind));
        event.insert("sequence_number".into(), json!(self.sequence));
        event.extend(members.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())));
        self.sequence += 1;
        named(kind, &Value::Object(event).to_string(), out);
    }

    /// Prepares the deltas of the open item.
    fn deltas(&mut self, kind: &str, id: &str, more: &str) {
        let (before, behind) = (&mut self.delta.0, &mut self.delta.1);
        before.clear();
        behind.clear();
        before.push_str("event: ");
        before.push_str(kind);
        before.push_str("\ndata: {");
        push_member(before, "type", kind);
        before.push_str(",\"sequence_number\":");
        behind.push(',');
        push_member(behind, "item_id", id);
        behind.push_str(",\"output_index\":");
        push_number(behind, self.output.len());
        behind.push_str(more);
        behind.push_str(",\"delta\":");
    }

    fn piece(&mut self, text: &str, end: &str, out: &mut String) {
        out.push_str(&self.delta.0);
        push_number(out, self.sequence);
        self.sequence += 1;
        out.push_str(&self.delta.1);
        push_string(out, text);
        out.push_str(end);
    }

    fn close(&mut self, out: &mut String) {
        self.close_as("completed", out);
    }

    /// Ends the open item.
    fn close_as(&mut self, status: &str, out: &mut String) {
        let Some(open) = self.open.take() else { return };
        let at = json!(self.output.len());
        let item = match open {
            Open::Message { id, text } => {
                let item = message_item(&id, &text, status);
                let part = item.pointer("/content/0").cloned().unwrap_or_default();
                let id = json!(id);
                let common = [("item_id", &id), ("output_index", &at), ("content_index", &json!(0))];
                let with = |key, value| [common[0], common[1], common[2], (key, value)];
                let none = json!([]);
                let (text, mut done) = (json!(text), common.to_vec());
                done.extend([("text", &text), ("logprobs", &none)]);
                self.event("response.output_text.done", &done, out);
                self.event("response.content_part.done", &with("part", &part), out);
                item
            }
            Open::Reasoning { id, text } => {
                let item = reasoning_item(&id, &text);
                let part = item.pointer("/summary/0").cloned().unwrap_or_default();
                let (id, zero, text) = (json!(id), json!(0), json!(text));
                let common = [("item_id", &id), ("output_index", &at), ("summary_index", &zero)];
                let with = |key, value| [common[0], common[1], common[2], (key, value)];
                self.event("response.reasoning_summary_text.done", &with("text", &text), out);
                self.event("response.reasoning_summary_part.done", &with("part", &part), out);
                item
            }
            // The call's own end has written all of it.
            Open::Call { item, .. } => item,
            // It never ended.
            Open::Passed(_) => return,
        };
        self.event("response.output_item.done", &[("output_index", &at), ("item", &item)], out);
        self.output.push(item);
    }

    /// The response as it is at its end.
    fn whole(&mut self, status: &str, details: Value, usage: Value, error: Value) -> Value {
        let mut response = std::mem::take(&mut self.response);
        if let Some(Value::Object(last)) = self.last.as_ref().and_then(|last| last.get("response")).map(Node::to_value)
        {
            response.extend(last);
        }
        response.insert("status".into(), json!(status));
        response.insert("error".into(), error);
        response.insert("incomplete_details".into(), details);
        response.insert("output".into(), Value::Array(std::mem::take(&mut self.output)));
        if !usage.is_null() {
            response.insert("usage".into(), usage);
        }
        Value::Object(response)
    }
}

/// An event with its name.
fn named(name: &str, json: &str, out: &mut String) {
    out.push_str("event: ");
    out.push_str(name);
    out.push_str("\ndata: ");
    out.push_str(json);
    out.push_str("\n\n");
}

impl Writer for Responses {
    fn text(&mut self, text: &str, out: &mut String) {
        self.begin(out);
        if !matches!(self.open, Some(Open::Message { .. })) {
            self.close(out);
            let id = self.message_id.take().unwrap_or_else(|| new_id("msg_"));
            let at = json!(self.output.len());
            let item =
                json!({"id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": []});
            self.event("response.output_item.added", &[("output_index", &at), ("item", &item)], out);
            let part = json!({"type": "output_text", "annotations": [], "logprobs": [], "text": ""});
            let members =
                [("item_id", &json!(id)), ("output_index", &at), ("content_index", &json!(0)), ("part", &part)];
            self.event("response.content_part.added", &members, out);
            self.deltas("response.output_text.delta", &id, ",\"content_index\":0");
            self.open = Some(Open::Message { id, text: String::new() });
        }
        if let Some(Open::Message { text: known, .. }) = &mut self.open {
            known.push_str(text);
        }
        self.piece(text, ",\"logprobs\":[]}\n\n", out);
    }

    fn reasoning(&mut self, text: &str, out: &mut String) {
        self.begin(out);
        if !matches!(self.open, Some(Open::Reasoning { .. })) {
            self.close(out);
            let id = new_id("rs_");
            let at = json!(self.output.len());
            let item = json!({"id": id, "type": "reasoning", "summary": []});
            self.event("response.output_item.added", &[("output_index", &at), ("item", &item)], out);
            let part = json!({"type": "summary_text", "text": ""});
            let members =
                [("item_id", &json!(id)), ("output_index", &at), ("summary_index", &json!(0)), ("part", &part)];
            self.event("response.reasoning_summary_part.added", &members, out);
            self.deltas("response.reasoning_summary_text.delta", &id, ",\"summary_index\":0");
            self.open = Some(Open::Reasoning { id, text: String::new() });
        }
        if let Some(Open::Reasoning { text: known, .. }) = &mut self.open {
            known.push_str(text);
        }
        self.piece(text, "}\n\n", out);
    }

    fn call_started(&mut self, _: usize, call: Started<'_>, out: &mut String) {
        self.begin(out);
        self.close(out);
        let custom = call.kind.is_some_and(|kind| kind.custom);
        let id = call.item.map_or_else(|| new_id(if custom { "ctc_" } else { "fc_" }), str::to_owned);
        let item = call_item(&id, call, "", "in_progress");
        let at = json!(self.output.len());
        self.event("response.output_item.added", &[("output_index", &at), ("item", &item)], out);
        self.deltas("response.function_call_arguments.delta", &id, "");
        self.open = Some(Open::Call { item, custom });
    }

    fn arguments(&mut self, _: usize, piece: &str, out: &mut String) {
        if matches!(self.open, Some(Open::Call { custom: false, .. })) {
            self.piece(piece, "}\n\n", out);
        }
    }

    fn call_ended(&mut self, _: usize, call: Ended<'_>, out: &mut String) {
        let status = if call.whole { "completed" } else { "incomplete" };
        let Some(Open::Call { item, custom }) = &mut self.open else { return };
        let (id, at) = (item.get("id").cloned().unwrap_or_default(), json!(self.output.len()));
        item["status"] = json!(status);
        let (key, value) = if *custom {
            ("input", json!(input_of(call.arguments).unwrap_or_default()))
        } else {
            ("arguments", json!(call.arguments))
        };
        item[key] = value.clone();
        let common = [("item_id", &id), ("output_index", &at)];
        if *custom {
            let delta = [common[0], common[1], ("delta", &value)];
            self.event("response.custom_tool_call_input.delta", &delta, out);
            let done = [common[0], common[1], ("input", &value)];
            self.event("response.custom_tool_call_input.done", &done, out);
        } else if call.whole {
            let name = item.get("name").cloned().unwrap_or_default();
            let done = [common[0], common[1], ("name", &name), ("arguments", &value)];
            self.event("response.function_call_arguments.done", &done, out);
        }
        self.close_as(status, out);
    }

    fn finish(&mut self, end: End<'_>, out: &mut String) {
        self.begin(out);
        let (word, details) = status(end.reason);
        self.close_as(if word == "completed" { "completed" } else { "incomplete" }, out);
        let known = self.last.as_ref().and_then(|last| last.at(&["response", "usage"]));
        let usage = known.map_or_else(|| usage(end.cost), Node::to_value);
        let response = self.whole(word, details, usage, Value::Null);
        let kind = if word == "completed" { "response.completed" } else { "response.incomplete" };
        self.event(kind, &[("response", &response)], out);
    }

    fn fail(&mut self, error: &WireError, out: &mut String) {
        self.begin(out);
        // The API's own words are few; the code is in the message's place in `error`.
        let code = if error.code == WireCode::BackendError { "server_error" } else { error.code.as_str() };
        let error = json!({"code": code, "message": error.message});
        let response = self.whole("failed", Value::Null, Value::Null, error);
        self.event("response.failed", &[("response", &response)], out);
    }
}
