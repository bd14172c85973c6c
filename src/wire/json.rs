//! Small pieces of JSON written by hand: chunks of a stream are many, and all alike.
use crate::json::push_string;
use crate::provider::Node;
use std::fmt::Write;

/// Appends `"key":` and the text as a string.
pub(super) fn push_member(out: &mut String, key: &str, text: &str) {
    push_string(out, key);
    out.push(':');
    push_string(out, text);
}

/// Appends a whole number.
pub(super) fn push_number(out: &mut String, number: impl std::fmt::Display) {
    let _ = write!(out, "{number}");
}

/// The JSON text of an object with some of its members replaced, in their places; those that it does not have are added.
pub(super) fn replaced(node: &Node<'_>, members: &[(&str, &str)]) -> String {
    let mut out = String::from("{");
    for (key, value) in node.members() {
        if out.len() > 1 {
            out.push(',');
        }
        push_string(&mut out, key);
        out.push(':');
        match members.iter().find(|(name, _)| name == key) {
            Some((_, json)) => out.push_str(json),
            None => value.write_json(&mut out),
        }
    }
    for (key, json) in members.iter().filter(|(name, _)| !node.members().iter().any(|(key, _)| key == name)) {
        if out.len() > 1 {
            out.push(',');
        }
        push_string(&mut out, key);
        out.push(':');
        out.push_str(json);
    }
    out.push('}');
    out
}
