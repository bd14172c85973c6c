//! What a reader knows nothing of: fields of a message and of its calls, parts of an unknown type. It goes into
//! [`crate::Turn::provider_state`] as it came, and from there back into the message.
use super::arguments;
use super::node::Node;
use serde_json::{Map, Value, json};

/// The names under which a state of the chat APIs keeps it.
pub(super) const FIELDS: &str = "fields";
pub(super) const CALLS: &str = "calls";
pub(super) const PARTS: &str = "content_parts";

/// The members of `node` that say something, without those that are `known`: its reader has read them.
pub(super) fn beyond(node: &Node<'_>, known: &[&str]) -> Map<String, Value> {
    let silent = |value: &Node<'_>| match value {
        Node::Null => true,
        Node::Array(items) => items.is_empty(),
        _ => false,
    };
    let more = node.members().iter().filter(|(key, value)| !known.contains(&key.as_ref()) && !silent(value));
    more.map(|(key, value)| (key.to_string(), value.to_value())).collect()
}

/// Adds what a further chunk of a stream says: pieces of texts and lists are joined, of all else the last counts.
pub(super) fn join(known: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (known.get_mut(&key), value) {
            (Some(Value::String(text)), Value::String(piece)) if !matches!(key.as_str(), "id" | "type" | "role") => {
                text.push_str(&piece);
            }
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
            (Some(Value::Object(members)), Value::Object(more)) => join(members, more),
            (Some(place), value) => *place = value,
            (None, value) => {
                known.insert(key, value);
            }
        }
    }
}

/// Puts `more` into an object that was written, beside what it holds.
pub(super) fn put(into: &mut Value, more: Option<&Value>) {
    if let (Value::Object(into), Some(Value::Object(more))) = (into, more) {
        for (key, value) in more {
            match into.get_mut(key) {
                Some(place @ Value::Object(_)) => put(place, Some(value)),
                Some(_) => {}
                None => {
                    into.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

/// What was unknown of one message of the chat APIs.
#[derive(Debug, Default)]
pub(super) struct Extra {
    fields: Map<String, Value>,
    parts: Vec<Value>,
}

impl Extra {
    /// Takes the unknown fields of a message, or of a delta.
    pub(super) fn message(&mut self, message: &Node<'_>, known: &[&str]) {
        // In nearly every message all are known.
        if message.members().iter().any(|(key, _)| !known.contains(&key.as_ref())) {
            join(&mut self.fields, beyond(message, known));
        }
    }

    /// Takes a part of an unknown type.
    pub(super) fn part(&mut self, part: &Node<'_>) {
        self.parts.push(part.to_value());
    }

    /// Adds an item to a list among the fields.
    pub(super) fn push(&mut self, field: &str, item: &Node<'_>) {
        match self.fields.entry(field).or_insert_with(|| json!([])) {
            Value::Array(items) => items.push(item.to_value()),
            other => *other = json!([item.to_value()]),
        }
    }

    /// The state of it; `calls` has the unknown fields of the calls by their number.
    pub(super) fn into_state(self, calls: Map<String, Value>, state: &mut Map<String, Value>) {
        let members =
            [(FIELDS, Value::Object(self.fields)), (CALLS, Value::Object(calls)), (PARTS, Value::Array(self.parts))];
        for (key, value) in members {
            if value.as_object().is_some_and(|members| !members.is_empty()) || value.get(0).is_some() {
                state.insert(key.into(), value);
            }
        }
    }
}

/// The unknown fields of a call, and of the function in it.
pub(super) fn of_call(call: &Node<'_>) -> Option<Value> {
    const CALL: [&str; 6] = ["id", "type", "index", "function", "custom", "name"];
    const FUNCTION: [&str; 2] = ["name", "index"];
    let inner = ["function", "custom"].into_iter().find_map(|key| Some((key, call.get(key)?)));
    let known = |node: &Node<'_>, known: &[&str]| {
        node.members().iter().all(|(key, _)| known.contains(&key.as_ref()) || arguments::is_key(key))
    };
    if known(call, &CALL) && inner.is_none_or(|(_, function)| known(function, &FUNCTION)) {
        return None;
    }
    let mut fields = beyond(call, if inner.is_some() { &CALL } else { &["id", "type", "index", "name"] });
    fields.retain(|key, _| !arguments::is_key(key));
    if let Some((key, function)) = inner {
        let mut more = beyond(function, &FUNCTION);
        more.retain(|key, _| !arguments::is_key(key));
        if !more.is_empty() {
            fields.insert(key.into(), Value::Object(more));
        }
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}
