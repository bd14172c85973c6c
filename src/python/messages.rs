//! What a caller gives of a conversation: its messages, and what stands beside them.
use super::convert::{a_type, from_payload};
use super::text::bytes_of;
use crate::{Error, ErrorCode};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::{Map, Value};

pub(super) fn messages_argument(messages: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    if messages.is_instance_of::<PyString>() || messages.is_instance_of::<PyDict>() {
        let message = format!("messages is a list of messages, not {}", a_type(messages));
        return Err(PyTypeError::new_err(message));
    }
    let wrong = |_| PyTypeError::new_err(format!("messages is a list of messages, not {}", a_type(messages)));
    let messages = messages.try_iter().map_err(wrong)?.enumerate();
    messages.map(|(index, message)| message.and_then(|message| from_message(&message, index))).collect()
}

/// A message; its media may be bytes, its texts not: base64 text would be sent for words.
fn from_message(message: &Bound<'_, PyAny>, index: usize) -> PyResult<Value> {
    if let Ok(dict) = message.cast::<PyDict>() {
        for key in ["content", "parts"] {
            let Some(content) = dict.get_item(key)? else { continue };
            let parts = content.cast::<PyList>().into_iter().flat_map(|list| list.iter());
            let texts = parts.filter_map(|part| part.cast::<PyDict>().ok()?.get_item("text").ok().flatten());
            if let Some(bytes) = std::iter::once(content.clone()).chain(texts).find(|text| bytes_of(text).is_some()) {
                let what = format!("text is a str, not {}: decode it", a_type(&bytes));
                return Err(Error::at(ErrorCode::BadMessage, format!("/{index}/{key}"), what).into());
            }
        }
    }
    from_payload(message)
}

pub(super) fn side_argument(side: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Map<String, Value>>> {
    match side.map(|side| Ok::<_, PyErr>((from_payload(side)?, side))).transpose()? {
        None | Some((Value::Null, _)) => Ok(None),
        Some((Value::Object(side), _)) => Ok(Some(side)),
        Some((_, side)) => Err(PyTypeError::new_err(format!("side is a dict, not {}", a_type(side)))),
    }
}

/// A text, a block, or a list of these.
fn is_system(system: &Value) -> bool {
    match system {
        Value::Bool(_) | Value::Number(_) => false,
        Value::Array(items) => items.iter().all(|item| item.is_string() || item.is_object()),
        Value::Null | Value::String(_) | Value::Object(_) => true,
    }
}

pub(super) fn system_argument(system: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Value>> {
    match system.map(|system| Ok::<_, PyErr>((from_payload(system)?, system))).transpose()? {
        Some((read, system)) if bytes_of(system).is_some() || !is_system(&read) => {
            let message = format!("system is a text, a block or a list of blocks, not {}", a_type(system));
            Err(PyTypeError::new_err(message))
        }
        read => Ok(read.map(|(system, _)| system)),
    }
}
