//! What an exception of a provider's SDK holds of the answer: OpenAI's and its kin keep the error in `body`, httpx and requests
//! the response, botocore a dict of it, google-genai `details`.
use super::text::bytes_of;
use crate::{Error, ErrorCode};
use pyo3::exceptions::PyBaseException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The body that `error` carries; `None` if this is no exception.
///
/// # Errors
/// [`ErrorCode::ProviderError`], in the words of an exception that carries none.
pub(super) fn body<'py>(error: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !error.is_instance_of::<PyBaseException>() {
        return Ok(None);
    }
    let py = error.py();
    let response = member(error, intern!(py, "response"));
    let text = response.as_ref().and_then(|response| member(response, intern!(py, "text")));
    let content = response.as_ref().and_then(|response| member(response, intern!(py, "content")));
    let held = [member(error, intern!(py, "body")), response, text, content, member(error, intern!(py, "details"))];
    match held.into_iter().flatten().find(says) {
        Some(body) => Ok(Some(body)),
        None => {
            let said = error.str().map(|said| said.to_string()).unwrap_or_default();
            let name = error.get_type().name()?;
            let message = format!("this is an exception, and no answer: {name}: {said}");
            Err(Error::new(ErrorCode::ProviderError, message).into())
        }
    }
}

/// An attribute; `None` also where asking for it raises, as for the text of a response that was streamed.
fn member<'py>(value: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> Option<Bound<'py, PyAny>> {
    value.getattr(name).ok()
}

/// A dict, or text with something in it.
fn says(value: &Bound<'_, PyAny>) -> bool {
    let text = value.is_instance_of::<PyString>() || bytes_of(value).is_some();
    (value.is_instance_of::<PyDict>() || text) && value.len().is_ok_and(|length| length > 0)
}
