//! The transcoder: `Transcoder`, `Translation`, `TranscodedStream`.
use super::argument::Count;
use super::dialect::{Spoken, dialect_argument};
use super::guard::{guard, guard_detached};
use super::parser::options;
use super::report::{Issue, tuple_of};
use super::text::{Input, bytes_of, no_text};
use super::turn::Turn;
use crate::wire::{self, BackendApi, ClientApi, Mode, WireError};
use crate::{Error, ErrorCode};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBool, PyBytes, PyTuple};
use std::sync::{Mutex, PoisonError};

mod classes {
    use pyo3::import_exception;
    import_exception!(toolglot.errors, WireError);
}

/// The error in the client's API, as an exception that holds its answer.
fn refused(error: WireError, client: ClientApi) -> PyErr {
    let body = error.body(client);
    classes::WireError::new_err((error.message, error.param, error.code.as_str(), error.status, body))
}

/// The word among `all` that `text` is.
fn word<T: Copy>(option: &str, all: &[T], name: impl Fn(T) -> &'static str, text: &str) -> PyResult<T> {
    all.iter().copied().find(|word| name(*word) == text).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|word| name(*word)).collect();
        let message = format!("{option} is one of {}, not {text:?}", words.join(", "));
        Error::at(ErrorCode::BadOption, option, message).into()
    })
}

#[doc = stub!("Transcoder")]
#[pyclass(frozen, module = "toolglot", name = "Transcoder")]
pub(super) struct Transcoder(wire::Transcoder);

#[pymethods]
impl Transcoder {
    #[new]
    #[pyo3(signature = (client="chat", backend="chat", *, mode="native", dialect=None, starts_in=None, policy=None,
                        validate=true, show_errors=false, replay_reasoning=true, max_tokens=None, max_frame=None),
           text_signature = "(client='chat', backend='chat', *, mode='native', dialect='auto', starts_in='content', policy=None, validate=True, show_errors=False, replay_reasoning=True, max_tokens=8192, max_frame=67108864)")]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        client: &str,
        backend: &str,
        mode: &str,
        dialect: Option<&Bound<'_, PyAny>>,
        starts_in: Option<&str>,
        policy: Option<&Bound<'_, PyAny>>,
        validate: bool,
        show_errors: bool,
        replay_reasoning: bool,
        max_tokens: Option<Count>,
        max_frame: Option<Count>,
    ) -> PyResult<Self> {
        let default = wire::Options::default();
        let off = dialect.is_some_and(|dialect| dialect.cast::<PyBool>().is_ok_and(|truth| !truth.is_true()));
        let dialect = match dialect {
            Some(_) if off => None,
            None => default.dialect.clone(),
            Some(dialect) => {
                let ready = dialect_argument(Some(dialect))?;
                Some(match dialect.extract::<Spoken>()? {
                    Spoken::Named(name) => wire::Spoken::Named(name, ready),
                    Spoken::Own(own) => wire::Spoken::Own(own),
                })
            }
        };
        let options = wire::Options {
            mode: word("mode", Mode::ALL, Mode::as_str, mode)?,
            dialect,
            engine: options(starts_in, policy)?,
            validate,
            show_errors,
            replay_reasoning,
            max_tokens: match max_tokens {
                Some(count) => count.get("max_tokens")? as u64,
                None => default.max_tokens,
            },
            max_frame: max_frame.map_or(Ok(default.max_frame), |count| count.get("max_frame"))?,
        };
        let client = word("client", ClientApi::ALL, ClientApi::as_str, client)?;
        let backend = word("backend", BackendApi::ALL, BackendApi::as_str, backend)?;
        Ok(Self(wire::Transcoder::new(client, backend, options)))
    }

    #[doc = stub!("Transcoder.client")]
    #[getter]
    fn client(&self) -> &'static str {
        self.0.client().as_str()
    }

    #[doc = stub!("Transcoder.backend")]
    #[getter]
    fn backend(&self) -> &'static str {
        self.0.backend().as_str()
    }

    #[doc = stub!("Transcoder.request")]
    fn request(&self, py: Python<'_>, body: &Bound<'_, PyAny>) -> PyResult<Translation> {
        let bytes = bytes_argument(body)?;
        let translated = guard_detached(py, bytes.len(), || self.0.request(&bytes))?;
        let translation = translated.map_err(|error| refused(error, self.0.client()))?;
        Ok(Translation(translation))
    }

    fn __repr__(&self) -> String {
        format!("<toolglot.Transcoder {} to {}>", self.0.client().as_str(), self.0.backend().as_str())
    }
}

/// Bytes, or the UTF-8 of a text.
fn bytes_argument<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<std::borrow::Cow<'a, [u8]>> {
    if let Ok(text) = value.cast::<pyo3::types::PyString>() {
        return Ok(match super::text::utf8(text)?.0 {
            std::borrow::Cow::Borrowed(text) => std::borrow::Cow::Borrowed(text.as_bytes()),
            std::borrow::Cow::Owned(text) => std::borrow::Cow::Owned(text.into_bytes()),
        });
    }
    bytes_of(value).ok_or_else(|| no_text("body", value))
}

#[doc = stub!("Translation")]
#[pyclass(frozen, module = "toolglot", name = "Translation")]
pub(super) struct Translation(wire::Translation);

#[pymethods]
impl Translation {
    #[doc = stub!("Translation.path")]
    #[getter]
    fn path(&self) -> &str {
        &self.0.request().path
    }

    #[doc = stub!("Translation.body")]
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.request().body)
    }

    #[doc = stub!("Translation.losses")]
    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple_of(py, &self.0.request().losses, Issue)
    }

    #[doc = stub!("Translation.is_stream")]
    #[getter]
    fn is_stream(&self) -> bool {
        self.0.is_stream()
    }

    #[doc = stub!("Translation.model")]
    #[getter]
    fn model(&self) -> &str {
        self.0.model()
    }

    #[doc = stub!("Translation.input_tokens_estimate")]
    #[getter]
    fn input_tokens_estimate(&self) -> u64 {
        self.0.input_tokens_estimate()
    }

    #[doc = stub!("Translation.answer")]
    #[pyo3(signature = (body, status=200))]
    fn answer(&self, py: Python<'_>, body: &Bound<'_, PyAny>, status: u16) -> PyResult<Answered> {
        let bytes = bytes_argument(body)?;
        let answered = guard_detached(py, bytes.len(), || self.0.answer(status, &bytes))?;
        self.answered(py, answered)
    }

    #[doc = stub!("Translation.unreachable")]
    fn unreachable(&self, py: Python<'_>) -> PyResult<Answered> {
        self.answered(py, self.0.unreachable())
    }

    #[doc = stub!("Translation.stream")]
    fn stream(&self) -> PyResult<TranscodedStream> {
        let stream = guard(|| self.0.stream())?;
        Ok(TranscodedStream(Mutex::new(State { stream, turn: None }), self.0.clone()))
    }

    fn __repr__(&self) -> String {
        format!("<toolglot.Translation to {}>", self.path())
    }
}

impl Translation {
    fn answered(&self, py: Python<'_>, answered: wire::Answered) -> PyResult<Answered> {
        let turn = answered.turn.map(|turn| Turn::from_core(py, turn, &Input::None, self.0.tools())).transpose()?;
        Ok(Answered {
            status: answered.status,
            body: PyBytes::new(py, &answered.body).unbind(),
            turn: turn.map(Bound::unbind),
            issues: tuple_of(py, &answered.issues, Issue)?.unbind(),
            error: answered.error.as_ref().map(|error| error.code.as_str()),
            detail: answered.error.map(|error| error.detail),
        })
    }
}

#[doc = stub!("Answered")]
#[pyclass(frozen, module = "toolglot", name = "Answered", get_all)]
pub(super) struct Answered {
    #[doc = stub!("Answered.status")]
    status: u16,
    #[doc = stub!("Answered.body")]
    body: Py<PyBytes>,
    #[doc = stub!("Answered.turn")]
    turn: Option<Py<Turn>>,
    #[doc = stub!("Answered.issues")]
    issues: Py<PyTuple>,
    #[doc = stub!("Answered.error")]
    error: Option<&'static str>,
    #[doc = stub!("Answered.detail")]
    detail: Option<String>,
}

struct State {
    stream: wire::Stream,
    turn: Option<Py<Turn>>,
}

#[doc = stub!("TranscodedStream")]
#[pyclass(frozen, module = "toolglot", name = "TranscodedStream")]
pub(super) struct TranscodedStream(Mutex<State>, wire::Translation);

impl TranscodedStream {
    /// What the stream writes when `work` is done.
    fn run<'py>(
        &self,
        py: Python<'py>,
        bytes: usize,
        work: impl FnOnce(&mut wire::Stream, &mut Vec<u8>) + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let stream = &mut state.stream;
        let mut out = Vec::new();
        guard_detached(py, bytes, || work(stream, &mut out))?;
        Ok(PyBytes::new(py, &out))
    }
}

#[pymethods]
impl TranscodedStream {
    #[doc = stub!("TranscodedStream.feed")]
    fn feed<'py>(&self, py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = bytes_argument(chunk)?;
        self.run(py, bytes.len(), |stream, out| stream.feed(&bytes, out))
    }

    #[doc = stub!("TranscodedStream.finish")]
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.run(py, 0, |stream, out| stream.finish(out))
    }

    #[doc = stub!("TranscodedStream.abort")]
    fn abort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.run(py, 0, |stream, out| stream.abort(out))
    }

    #[doc = stub!("TranscodedStream.keep_alive")]
    fn keep_alive<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.run(py, 0, |stream, out| stream.keep_alive(out))
    }

    #[doc = stub!("TranscodedStream.is_over")]
    #[getter]
    fn is_over(&self, py: Python<'_>) -> bool {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner).stream.is_over()
    }

    #[doc = stub!("TranscodedStream.turn")]
    #[getter]
    fn turn(&self, py: Python<'_>) -> PyResult<Option<Py<Turn>>> {
        let mut state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if state.turn.is_none()
            && let Some(turn) = state.stream.turn().cloned()
        {
            state.turn = Some(Turn::from_core(py, turn, &Input::None, self.1.tools())?.unbind());
        }
        Ok(state.turn.as_ref().map(|turn| turn.clone_ref(py)))
    }

    #[doc = stub!("TranscodedStream.error")]
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<&'static str> {
        let state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        state.stream.error().map(|error| error.code.as_str())
    }

    #[doc = stub!("TranscodedStream.detail")]
    #[getter]
    fn detail(&self, py: Python<'_>) -> Option<String> {
        let state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        state.stream.error().map(|error| error.detail.clone())
    }
}
