//! The arguments of a call that are read one by one. Each leaves as soon as it is certain, a string while it is written.
use super::values::{KeyIndex, listed};
use crate::engine::Reader;
use crate::engine::found::{Found, Piece, Value};
use crate::engine::output::Output;
use crate::engine::writer::Writer;
use crate::json::push_string;
use crate::turn::ArgumentValue;

impl From<ArgumentValue<'_>> for Value {
    fn from(value: ArgumentValue<'_>) -> Self {
        match value {
            ArgumentValue::Text(text) => Self::Text(Piece::Made(text.into_owned())),
            ArgumentValue::Json(json) => Self::Json(Piece::Made(json.into_owned())),
        }
    }
}

/// The members of one call, and what has left of them.
#[derive(Debug, Default)]
pub(super) struct Members {
    list: Vec<(Piece, Value)>,
    keys: KeyIndex,
    /// Something was given out, so the opening brace was.
    opened: bool,
    /// What was given out of the string that is the value being read, as JSON.
    told: String,
}

impl Members {
    /// The members that are over.
    pub(super) fn list(&self) -> &[(Piece, Value)] {
        &self.list
    }

    /// Something of the value that is being read was given out.
    pub(super) fn is_told(&self) -> bool {
        !self.told.is_empty()
    }

    fn open(&mut self, out: &mut Output, writer: &Writer, index: usize, key: &str) {
        open(out, writer, index, key, &mut self.opened);
    }

    /// Gives out more of the string that is the value of `key`: `escaped`, as JSON has it.
    pub(super) fn grow(&mut self, out: &mut Output, writer: &Writer, index: usize, key: &str, escaped: &str) {
        let mut text = String::with_capacity(escaped.len() + 1);
        if self.told.is_empty() {
            self.open(out, writer, index, key);
            text.push('"');
        }
        text.push_str(escaped);
        self.told.push_str(&text);
        writer.piece(out, index, text);
    }

    /// The value of `key` is over: gives out what has not left of it, where the call has an `index`, and keeps it.
    /// Whether the key stood there before; then its last value counts.
    #[must_use]
    pub(super) fn add(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &Writer,
        index: Option<usize>,
        key: Piece,
        value: Value,
    ) -> bool {
        if let Some(index) = index.filter(|_| out.streaming()) {
            let json = match &value {
                Value::Text(piece) => {
                    let text = piece.as_str(cx.text);
                    let mut json = String::with_capacity(text.len() + 2);
                    push_string(&mut json, text);
                    json
                }
                Value::Json(piece) => piece.as_str(cx.text).to_owned(),
            };
            if self.told.is_empty() {
                self.open(out, writer, index, key.as_str(cx.text));
                writer.piece(out, index, json);
            } else {
                // Where it came otherwise the call is not as it was written, and what counts comes at its end.
                writer.piece(out, index, json.strip_prefix(&self.told).unwrap_or("\""));
                self.told.clear();
            }
        }
        self.keep(cx, key, value)
    }

    /// The objects in the list `value` become items of the one that the value of `key` is, if that stood there before.
    #[must_use]
    pub(super) fn extend(&mut self, cx: &Reader<'_>, key: &str, value: &Value) -> bool {
        let list = &self.list;
        let name = |i: usize| list.get(i).map(|(key, _)| key.as_bytes(cx.text));
        let same = self.keys.position(key, list.len(), name);
        let first = same.and_then(|i| self.list.get_mut(i)).map(|(_, first)| first);
        let (Some(Value::Json(Piece::Made(items))), Value::Json(more)) = (first, value) else { return false };
        let more = more.as_str(cx.text);
        if !items.starts_with("[{") || !items.ends_with("}]") || items == more {
            return false;
        }
        items.pop();
        items.push_str(", ");
        items.push_str(more.get(1..).unwrap_or_default());
        true
    }

    /// `value` becomes an item of the list that the value of `key` is, or becomes, if it stood there before and both can be items.
    #[must_use]
    pub(super) fn join(&mut self, cx: &Reader<'_>, key: &str, value: &Value) -> bool {
        let list = &self.list;
        let name = |i: usize| list.get(i).map(|(key, _)| key.as_bytes(cx.text));
        let same = self.keys.position(key, list.len(), name);
        same.and_then(|i| self.list.get_mut(i)).is_some_and(|(_, first)| listed(first, value, cx.text))
    }

    /// `item`, as JSON, goes on with the last value, which becomes a list if it is none yet.
    pub(super) fn go_on(&mut self, cx: &Reader<'_>, item: &str) {
        let Some((_, value)) = self.list.last_mut() else { return };
        if !matches!(value, Value::Json(Piece::Made(list)) if list.starts_with('[')) {
            let first = match value {
                Value::Text(piece) | Value::Json(piece) => piece.as_str(cx.text),
            };
            *value = Value::Json(Piece::Made(format!("[{first}]")));
        }
        // What is there already is not copied for each value that follows.
        if let Value::Json(Piece::Made(list)) = value {
            list.pop();
            list.push_str(", ");
            list.push_str(item);
            list.push(']');
        }
    }

    /// As [`Self::add`], of a value that has left already.
    #[must_use]
    pub(super) fn keep(&mut self, cx: &Reader<'_>, key: Piece, value: Value) -> bool {
        let list = &self.list;
        let name = |i: usize| list.get(i).map(|(key, _)| key.as_bytes(cx.text));
        let same = self.keys.position(key.as_str(cx.text), list.len(), name);
        match same.and_then(|i| self.list.get_mut(i)) {
            Some(member) => {
                member.1 = value;
                true
            }
            None => {
                self.list.push((key, value));
                false
            }
        }
    }

    /// Keeps what there is of a value that is cut off.
    pub(super) fn keep_cut(&mut self, key: Piece, value: Value) {
        self.list.push((key, value));
    }

    /// The arguments are over: gives out what closes them.
    pub(super) fn close(&self, out: &mut Output, writer: &Writer, index: usize) {
        writer.piece(out, index, if self.opened { "}" } else { "{}" });
    }

    /// One of the values is null.
    pub(super) fn holds_null(&self, cx: &Reader<'_>) -> bool {
        self.list.iter().any(|(_, value)| matches!(value, Value::Json(piece) if piece.as_str(cx.text) == "null"))
    }

    /// As [`Self::take`], where all values were written as literals: a null among them is one, as in JSON, and no bare word.
    pub(super) fn take_literals(&mut self, cx: &Reader<'_>) -> Found {
        let holds_null = |value: &Value| match value {
            Value::Text(_) => false,
            Value::Json(piece) => !piece.as_str(cx.text).starts_with('"') && piece.as_str(cx.text).contains("null"),
        };
        if self.list.iter().any(|(_, value)| holds_null(value)) { self.take().literals(cx.text) } else { self.take() }
    }

    /// Moves the members out, as the arguments they are.
    pub(super) fn take(&mut self) -> Found {
        let list = std::mem::take(&mut self.list);
        *self = Self::default();
        Found::Members(list)
    }
}

/// Gives out the key of a member, behind what `opened` says stands before it.
pub(super) fn open(out: &mut Output, writer: &Writer, index: usize, key: &str, opened: &mut bool) {
    if !out.streaming() {
        return;
    }
    // What stands round the key has six bytes.
    let mut text = String::with_capacity(key.len() + 6);
    text.push_str(if *opened { ", " } else { "{" });
    *opened = true;
    push_string(&mut text, key);
    text.push_str(": ");
    writer.piece(out, index, text);
}
