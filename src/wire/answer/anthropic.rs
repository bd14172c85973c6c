//! A message of Anthropic's.
use super::super::write::{anthropic_reason, anthropic_usage, new_id};
use super::{Reply, ReplyCall, has_usage};
use crate::provider::{Node, Provider, provider_id};
use serde_json::{Map, Value, json};

/// The client's body. `own`: the backend's, where it is of the same API; blocks that are neither text nor calls stay.
pub(super) fn write(replies: &[Reply<'_>], own: Option<&Node<'_>>) -> Value {
    let Some(reply) = replies.first() else { return json!({}) };
    let turn = reply.turn;
    let mut body = match own.map(Node::to_value) {
        Some(Value::Object(body)) => body,
        _ => Map::from_iter([
            ("id".to_owned(), json!(new_id("msg_"))),
            ("type".to_owned(), json!("message")),
            ("role".to_owned(), json!("assistant")),
            ("model".to_owned(), json!(reply.asked.model)),
        ]),
    };
    let mut content = match body.get_mut("content").map(Value::take) {
        Some(Value::Array(blocks)) => blocks,
        _ => Vec::new(),
    };
    let kind = |block: &Value| block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let thought = content.iter().any(|block| kind(block) == "thinking");
    let calls: Vec<Value> = content.iter().filter(|block| kind(block) == "tool_use").cloned().collect();
    content.retain(|block| !matches!(&*kind(block), "text" | "tool_use"));
    if !turn.reasoning.is_empty() && !thought {
        content.insert(0, json!({"type": "thinking", "thinking": turn.reasoning, "signature": ""}));
    }
    if !turn.content.is_empty() {
        content.push(json!({"type": "text", "text": turn.content}));
    }
    content.extend(reply.calls.iter().map(|call| block(call, &calls)));
    body.insert("content".into(), Value::Array(content));
    body.insert("stop_reason".into(), json!(anthropic_reason(reply.reason)));
    body.entry("stop_sequence").or_insert(Value::Null);
    if !has_usage(own) {
        body.insert("usage".into(), anthropic_usage(reply.cost));
    }
    Value::Object(body)
}

fn block(call: &ReplyCall<'_>, known: &[Value]) -> Value {
    let name = call.kind.map_or(call.name, |kind| &kind.name);
    let id = provider_id(&call.id, Provider::Anthropic);
    let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
    let mut block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let own = known.iter().filter_map(Value::as_object).find(|own| own.get("id") == block.get("id"));
    if let (Some(own), Value::Object(block)) = (own, &mut block) {
        for (key, value) in own {
            block.entry(key.as_str()).or_insert_with(|| value.clone());
        }
    }
    block
}
