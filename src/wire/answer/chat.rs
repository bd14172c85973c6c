//! A chat completion.
use super::super::write::{Envelope, chat_reason, chat_usage};
use super::{Reply, ReplyCall, has_usage};
use crate::provider::Node;
use crate::schema::input_of;
use crate::turn::StopReason;
use serde_json::{Map, Value, json};

/// The fields in which servers send reasoning.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// The client's body. `own`: the backend's, where it is of the same API; what it says beside stays.
pub(super) fn write(replies: &[Reply<'_>], own: Option<&Node<'_>>) -> Value {
    let Some(first) = replies.first() else { return json!({}) };
    let mut body = match own.map(Node::to_value) {
        Some(Value::Object(body)) => body,
        _ => {
            let envelope = Envelope::new(&first.asked.model);
            let mut body = Map::new();
            body.insert("id".into(), json!(envelope.id));
            body.insert("object".into(), json!("chat.completion"));
            body.insert("created".into(), json!(envelope.created));
            body.insert("model".into(), json!(envelope.model));
            body
        }
    };
    let mut said: Vec<Value> = match body.get_mut("choices").map(Value::take) {
        Some(Value::Array(choices)) => choices.into_iter().filter(Value::is_object).collect(),
        _ => Vec::new(),
    };
    // Turns come in the order of their choices' numbers.
    said.sort_by_key(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or_default());
    let mut said = said.into_iter();
    let choices = replies.iter().enumerate().map(|(index, reply)| {
        let mut choice = said.next().unwrap_or_else(|| json!({"index": index, "logprobs": null}));
        let message = choice.get_mut("message").map(Value::take);
        choice["message"] = Value::Object(message_of(reply, message));
        let reason = match reply.reason {
            StopReason::ToolCalls if reply.asked.functions => "function_call",
            reason => chat_reason(reason),
        };
        choice["finish_reason"] = json!(reason);
        choice
    });
    let choices: Vec<Value> = choices.collect();
    body.insert("choices".into(), Value::Array(choices));
    if !has_usage(own) {
        body.insert("usage".into(), chat_usage(first.cost));
    }
    Value::Object(body)
}

fn message_of(reply: &Reply<'_>, said: Option<Value>) -> Map<String, Value> {
    let mut message = match said {
        Some(Value::Object(message)) => message,
        _ => Map::from_iter([("role".to_owned(), json!("assistant"))]),
    };
    let turn = reply.turn;
    let silent = turn.content.is_empty() && !reply.calls.is_empty();
    message.insert("content".into(), if silent { Value::Null } else { json!(turn.content) });
    let known = message.shift_remove("tool_calls");
    message.shift_remove("function_call");
    if !turn.reasoning.is_empty() && !message.contains_key("reasoning_details") {
        let field = REASONING.into_iter().find(|field| message.get(*field).is_some_and(Value::is_string));
        message.insert(field.unwrap_or("reasoning_content").into(), json!(turn.reasoning));
    }
    if reply.asked.functions {
        if let Some(call) = reply.calls.first() {
            message.insert("function_call".into(), json!({"name": call.name, "arguments": call.arguments}));
        }
        return message;
    }
    if !reply.calls.is_empty() {
        let entry = |call: &ReplyCall<'_>| {
            let mut entry = entry(call);
            // What the backend says of the call beside (a signature, say) goes back with it.
            let own = known.as_ref().and_then(Value::as_array).into_iter().flatten();
            let own =
                own.filter_map(Value::as_object).find(|own| own.get("id").and_then(Value::as_str) == Some(&call.id));
            for (key, value) in own.into_iter().flatten() {
                entry.entry(key.as_str()).or_insert_with(|| value.clone());
            }
            Value::Object(entry)
        };
        message.insert("tool_calls".into(), Value::Array(reply.calls.iter().map(entry).collect()));
    }
    message
}

fn entry(call: &ReplyCall<'_>) -> Map<String, Value> {
    let name = call.kind.map_or(call.name, |kind| &kind.name);
    let custom = call.kind.is_some_and(|kind| kind.custom);
    let mut entry = Map::from_iter([("id".to_owned(), json!(call.id))]);
    if custom {
        let input = input_of(&call.arguments).unwrap_or_default();
        entry.insert("type".into(), json!("custom"));
        entry.insert("custom".into(), json!({"name": name, "input": input}));
    } else {
        entry.insert("type".into(), json!("function"));
        entry.insert("function".into(), json!({"name": name, "arguments": call.arguments}));
    }
    entry
}
