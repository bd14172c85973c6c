//! A turn as a JSON value, with all that is recorded of it.
use super::{ArgumentError, Issue, Repair, ToolCall, Turn, Usage};
use serde_json::{Map, Value, json};

impl Turn<'_> {
    /// The whole turn as a JSON object, under the names that Python's `Turn.to_dict` has.
    ///
    /// ```
    /// use toolglot::dialect::Dialects;
    /// use toolglot::engine::{Options, extract};
    ///
    /// let text = r#"<tool_call>{"name": "ping", "arguments": {}}</tool_call>"#;
    /// let turn = extract(text, &Dialects::auto(), None, &Options::default());
    /// assert_eq!(turn.to_value()["tool_calls"][0]["name"], "ping");
    /// ```
    pub fn to_value(&self) -> Value {
        json!({
            "content": self.content,
            "reasoning": (!self.reasoning.is_empty()).then_some(&self.reasoning),
            "reasoning_end": self.reasoning_end,
            "tool_calls": self.tool_calls.iter().map(call).collect::<Value>(),
            "stop_reason": self.stop_reason.as_str(),
            "usage": self.usage.as_ref().map(usage),
            "source": self.source.as_str(),
            "dialect": self.dialect,
            "issues": self.issues.iter().map(issue).collect::<Value>(),
            "provider_state": self.provider_state,
            "needs_more_work": self.needs_more_work(),
        })
    }
}

fn call(call: &ToolCall<'_>) -> Value {
    let arguments = match call.arguments.to_value() {
        value if call.status.readable() || value.is_object() => value,
        // What could not be read, and is no object.
        _ => Value::Object(Map::new()),
    };
    json!({
        "id": call.id,
        "name": call.name,
        "arguments": arguments,
        "status": call.status.as_str(),
        "repairs": call.repairs.iter().map(repair).collect::<Value>(),
        "errors": call.errors.iter().map(error).collect::<Value>(),
        "raw": call.raw,
        "evidence": call.evidence.map(super::Evidence::as_str),
        "start": call.span.as_ref().map(|span| span.start),
        "end": call.span.as_ref().map(|span| span.end),
    })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_tokens": usage.cached_tokens,
    })
}

fn issue(issue: &Issue) -> Value {
    json!({"code": issue.code.as_str(), "message": issue.message, "offset": issue.offset, "place": issue.place})
}

fn repair(repair: &Repair) -> Value {
    json!({
        "code": repair.code.as_str(), "message": repair.message, "offset": repair.offset, "pointer": repair.pointer,
    })
}

fn error(error: &ArgumentError) -> Value {
    json!({"pointer": error.pointer, "keyword": error.keyword, "message": error.message})
}
