//! Messages for Python. boto3 encodes what it sends, so where its API has bytes it must get them, and not their base64 text.
use super::convert::to_py;
use crate::provider::Provider;
use data_encoding::BASE64_NOPAD;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use serde_json::Value;

/// A message of `provider`.
pub(super) fn message_to_py<'py>(py: Python<'py>, message: &Value, provider: Provider) -> PyResult<Bound<'py, PyAny>> {
    let message = to_py(py, message)?;
    decode_all(&message, provider)?;
    Ok(message)
}

/// Messages of `provider`.
pub(super) fn messages_to_py<'py>(
    py: Python<'py>,
    messages: &[Value],
    provider: Provider,
) -> PyResult<Bound<'py, PyAny>> {
    let messages = messages.iter().map(|message| message_to_py(py, message, provider)).collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, messages)?.into_any())
}

/// The system prompt of `provider`: a text, or blocks as those of a message.
pub(super) fn system_to_py<'py>(py: Python<'py>, system: &Value, provider: Provider) -> PyResult<Bound<'py, PyAny>> {
    let message = PyDict::new(py);
    let system = to_py(py, system)?;
    message.set_item("content", &system)?;
    decode_all(&message, provider)?;
    Ok(system)
}

fn decode_all(message: &Bound<'_, PyAny>, provider: Provider) -> PyResult<()> {
    provider.blobs().iter().filter_map(|pointer| pointer.strip_prefix('/')).try_for_each(|path| decode(message, path))
}

/// Puts bytes where `path` leads in `holder`; a text that is no base64 stays.
fn decode(holder: &Bound<'_, PyAny>, path: &str) -> PyResult<()> {
    let (key, rest) = path.split_once('/').map_or((path, None), |(key, rest)| (key, Some(rest)));
    if let (Ok(list), Some(rest)) = (holder.cast::<PyList>(), rest) {
        return list.iter().try_for_each(|item| decode(&item, rest));
    }
    let Ok(dict) = holder.cast::<PyDict>() else { return Ok(()) };
    let Some(value) = dict.get_item(key)? else { return Ok(()) };
    if let Some(rest) = rest {
        return decode(&value, rest);
    }
    let Ok(text) = value.cast::<PyString>() else { return Ok(()) };
    match bytes_in(text.to_str()?) {
        Some(bytes) => dict.set_item(key, PyBytes::new(holder.py(), &bytes)),
        None => Ok(()),
    }
}

/// The bytes of base64 text, which may be broken into lines or lack its padding.
fn bytes_in(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches(|sign: char| sign == '=' || sign.is_ascii_whitespace());
    let text: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64_NOPAD.decode(&text).ok()
}
