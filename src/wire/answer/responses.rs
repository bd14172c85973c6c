//! A response of OpenAI's.
use super::super::write::{
    Started, call_item, message_item, new_id, reasoning_item, responses_usage, skeleton, status,
};
use super::{Reply, has_usage};
use crate::provider::Node;
use serde_json::{Value, json};

/// The client's body. `own`: the backend's, where it is of the same API; items that are neither messages nor calls stay.
pub(super) fn write(replies: &[Reply<'_>], own: Option<&Node<'_>>) -> Value {
    let Some(reply) = replies.first() else { return json!({}) };
    let turn = reply.turn;
    let mut body = match own.map(Node::to_value) {
        Some(Value::Object(body)) => body,
        _ => skeleton(&reply.asked.model),
    };
    let mut output = match body.get_mut("output").map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let kind = |item: &Value| item.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let calls: Vec<Value> = output.iter().filter(|item| kind(item).ends_with("_call")).cloned().collect();
    output.retain(|item| !matches!(&*kind(item), "message" | "function_call" | "custom_tool_call"));
    if !turn.reasoning.is_empty() && !output.iter().any(|item| kind(item) == "reasoning") {
        output.push(reasoning_item(&new_id("rs_"), &turn.reasoning));
    }
    let (word, details) = status(reply.reason);
    if !turn.content.is_empty() {
        output.push(message_item(&new_id("msg_"), &turn.content, word));
    }
    for call in &reply.calls {
        let known = calls.iter().filter_map(Value::as_object);
        let known = known.into_iter().find(|own| own.get("call_id").and_then(Value::as_str) == Some(&call.id));
        let id = known.and_then(|own| own.get("id")).and_then(Value::as_str);
        let custom = call.kind.is_some_and(|kind| kind.custom);
        let id = id.map_or_else(|| new_id(if custom { "ctc_" } else { "fc_" }), str::to_owned);
        let started = Started { id: &call.id, name: call.name, kind: call.kind, extra: known, item: None };
        output.push(call_item(&id, started, &call.arguments, "completed"));
    }
    body.insert("output".into(), Value::Array(output));
    body.insert("status".into(), json!(word));
    body.insert("incomplete_details".into(), details);
    if !has_usage(own) {
        body.insert("usage".into(), responses_usage(reply.cost));
    }
    Value::Object(body)
}
