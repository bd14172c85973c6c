//! The keys that a native call's arguments stand under: its API's own, and those of the others, under which frameworks and
//! gateways write them (LangChain's `tool_calls` have `args`, Anthropic's blocks `input`).
use super::node::Node;
use serde_json::Value;

const KEYS: [&str; 4] = ["arguments", "parameters", "args", "input"];

/// Members of a function that are no arguments, whatever they hold: what a call is of, and what a gateway adds.
const OTHERS: [&str; 4] = ["name", "id", "extra_content", "provider_specific_fields"];

/// The arguments of `call`, whose API calls them `own`: that member, unless it says nothing and another one does.
pub(super) fn find<'n>(call: &'n Node<'n>, own: &str) -> Option<&'n Node<'n>> {
    let said = |key: &str| call.get(key).filter(|node| !matches!(node, Node::String(text) if text.trim().is_empty()));
    said(own).or_else(|| KEYS.into_iter().find_map(said)).or_else(|| call.get(own))
}

/// As [`find`], in a message of a history.
pub(super) fn of_value<'v>(call: &'v Value, own: &str) -> Option<&'v Value> {
    let said = |key: &str| {
        call.get(key).filter(|value| !value.is_null() && !value.as_str().is_some_and(|text| text.trim().is_empty()))
    };
    said(own).or_else(|| KEYS.into_iter().find_map(said)).or_else(|| call.get(own))
}

/// An object in `function` under a key that nobody knows, where no arguments stand: perhaps it holds them, and the call must
/// not run without.
pub(super) fn misplaced<'n>(function: &'n Node<'n>) -> Option<&'n Node<'n>> {
    let known = |key: &str| KEYS.contains(&key) || OTHERS.contains(&key);
    let mut members = function.members().iter();
    members.find(|(key, value)| value.is_object() && !known(key)).map(|(_, value)| value)
}

/// Whether a call's arguments may stand under `key`.
pub(super) fn is_key(key: &str) -> bool {
    KEYS.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(call: &Value, own: &str) -> Option<String> {
        let node = Node::from(call);
        let in_history = of_value(call, own).map(Value::to_string);
        let in_answer = find(&node, own).map(Node::to_json);
        assert_eq!(in_answer, in_history);
        in_answer
    }

    #[test]
    fn the_own_key_counts_unless_it_says_nothing() {
        assert_eq!(found(&json!({"arguments": {"a": 1}, "args": {}}), "arguments").unwrap(), r#"{"a":1}"#);
        assert_eq!(found(&json!({"arguments": "", "args": {"a": 1}}), "arguments").unwrap(), r#"{"a":1}"#);
        assert_eq!(found(&json!({"input": {}, "arguments": {"a": 1}}), "input").unwrap(), "{}");
        assert_eq!(found(&json!({"args": null, "input": {"a": 1}}), "args").unwrap(), r#"{"a":1}"#);
        assert_eq!(found(&json!({"arguments": ""}), "arguments").unwrap(), r#""""#);
        assert_eq!(found(&json!({"name": "a"}), "arguments"), None);
    }

    #[test]
    fn an_object_under_any_other_key_may_be_the_arguments() {
        let call = json!({"name": "f", "kwargs": {"a": 1}});
        assert_eq!(misplaced(&Node::from(&call)).map(Node::to_json).unwrap(), r#"{"a":1}"#);
        for call in [json!({"name": "f"}), json!({"name": "f", "extra_content": {}}), json!({"name": "f", "args": {}})]
        {
            assert!(misplaced(&Node::from(&call)).is_none(), "{call}");
        }
    }
}
