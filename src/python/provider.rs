//! Reading providers' answers: `normalize` and `StreamNormalizer`.
use super::convert::{a_type, from_payload};
use super::dialect::dialect_argument;
use super::error::InternalError;
use super::event::Event;
use super::guard::{guard, guard_detached};
use super::parser::{event_list, options};
use super::raised;
use super::source::tools_argument;
use super::text::{Input, bytes_of, utf8};
use super::turn::Turn;
use crate::provider::{self, Helper, Node, Provider, Reading};
use crate::schema;
use crate::turn;
use crate::{Error, ErrorCode};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// What `provider=` means: "auto", or a name.
pub(super) fn provider_argument(name: &str) -> PyResult<Option<Provider>> {
    if name == "auto" { Ok(None) } else { Ok(Some(Provider::from_name(name)?)) }
}

/// What the options mean. `dialect=None` is said by the default "auto" here, so `False` says that text is not to be read
/// for calls.
fn reading(provider: &str, Given { tools, dialect, starts_in, policy }: Given<'_, '_>) -> PyResult<Reading> {
    let off = dialect.is_some_and(|dialect| dialect.cast::<PyBool>().is_ok_and(|truth| !truth.is_true()));
    Ok(Reading {
        tools: tools_argument(tools)?,
        options: options(starts_in, policy)?,
        dialects: if off { None } else { Some(dialect_argument(dialect)?) },
        entities: provider::writes_entities(provider),
    })
}

/// A payload: JSON text where it lies, or a value of Python's.
enum Payload<'a> {
    Text(Cow<'a, [u8]>),
    Node(Node<'static>),
}

fn payload<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Payload<'a>> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Payload::Text(match utf8(text)?.0 {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }));
    }
    if let Some(bytes) = bytes_of(value) {
        return Ok(Payload::Text(bytes));
    }
    from_payload(value).map(Payload::Node).map_err(|error| no_response(value, error))
}

/// The error of an object that is no SDK's response, such as the message of a framework.
fn no_response(value: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if value.is_instance_of::<PyDict>() || !error.is_instance_of::<PyTypeError>(value.py()) {
        return error;
    }
    let (what, why) = (a_type(value), error.value(value.py()));
    PyTypeError::new_err(format!(
        "{what} is no provider's response ({why}): give what the API answered, as a dict, JSON text or the SDK's object, or the \
         model's text to `extract`"
    ))
}

#[doc = stub!("normalize")]
#[pyfunction]
#[pyo3(signature = (response, tools=None, *, provider="auto", dialect=None, starts_in=None, policy=None),
       text_signature = "(response, tools=None, *, provider='auto', dialect='auto', starts_in='content', policy=None)")]
pub(super) fn normalize<'py>(
    py: Python<'py>,
    response: &Bound<'py, PyAny>,
    tools: Option<&Bound<'_, PyAny>>,
    provider: &str,
    dialect: Option<&Bound<'_, PyAny>>,
    starts_in: Option<&str>,
    policy: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, Turn>> {
    if let Ok(turn) = response.cast::<Turn>() {
        return Ok(turn.clone());
    }
    let given = Given { tools, dialect, starts_in, policy };
    let (turn, tools) = read(py, response, provider, given, provider::normalize, provider::normalize_node)?;
    Turn::from_core(py, turn, &Input::None, tools.as_ref())
}

/// The arguments of Python that say how an answer is read.
struct Given<'a, 'py> {
    tools: Option<&'a Bound<'py, PyAny>>,
    dialect: Option<&'a Bound<'py, PyAny>>,
    starts_in: Option<&'a str>,
    policy: Option<&'a Bound<'py, PyAny>>,
}

/// What `of_bytes` or `of_node` makes of a response, and the tools that were offered.
fn read<T: Send>(
    py: Python<'_>,
    response: &Bound<'_, PyAny>,
    provider: &str,
    given: Given<'_, '_>,
    of_bytes: impl FnOnce(&[u8], Option<Provider>, &Reading) -> Result<T, Error> + Send,
    of_node: impl FnOnce(&Node<'_>, Option<Provider>, &Reading) -> Result<T, Error> + Send,
) -> PyResult<(T, Option<Arc<schema::ToolSet>>)> {
    let reading = reading(provider, given)?;
    let provider = provider_argument(provider)?;
    let body = raised::body(response)?;
    let read = match payload(body.as_ref().unwrap_or(response))? {
        Payload::Text(bytes) => guard_detached(py, bytes.len(), || of_bytes(&bytes, provider, &reading))?,
        Payload::Node(node) => guard_detached(py, node.weight(), || of_node(&node, provider, &reading))?,
    };
    Ok((read?, reading.tools))
}

#[doc = stub!("normalize_choices")]
#[pyfunction]
#[pyo3(signature = (response, tools=None, *, provider="auto", dialect=None, starts_in=None, policy=None),
       text_signature = "(response, tools=None, *, provider='auto', dialect='auto', starts_in='content', policy=None)")]
pub(super) fn normalize_choices<'py>(
    py: Python<'py>,
    response: &Bound<'py, PyAny>,
    tools: Option<&Bound<'_, PyAny>>,
    provider: &str,
    dialect: Option<&Bound<'_, PyAny>>,
    starts_in: Option<&str>,
    policy: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Bound<'py, Turn>>> {
    if let Ok(turn) = response.cast::<Turn>() {
        return Ok(vec![turn.clone()]);
    }
    let given = Given { tools, dialect, starts_in, policy };
    let (turns, tools) =
        read(py, response, provider, given, provider::normalize_choices, provider::normalize_choices_node)?;
    let tools = tools.as_ref();
    turns.into_iter().map(|turn| Turn::from_core(py, turn, &Input::None, tools)).collect()
}

#[doc = stub!("StreamNormalizer")]
#[pyclass(frozen, module = "toolglot", name = "StreamNormalizer")]
pub(super) struct StreamNormalizer(Mutex<State>);

struct State {
    stage: Stage,
    events: Vec<turn::Event>,
    /// So many bytes were fed.
    bytes: usize,
    tools: Option<Arc<schema::ToolSet>>,
    /// The wire format, once the stream that showed it is over.
    provider: Option<Provider>,
}

enum Stage {
    Open(Box<provider::StreamNormalizer>),
    Closed(Result<Vec<turn::Turn<'static>>, Error>),
    Finished(Py<PyTuple>),
    Broken,
}

#[pymethods]
impl StreamNormalizer {
    #[new]
    #[pyo3(signature = (provider="auto", tools=None, *, dialect=None, starts_in=None, policy=None),
           text_signature = "(provider='auto', tools=None, *, dialect='auto', starts_in='content', policy=None)")]
    fn new(
        provider: &str,
        tools: Option<&Bound<'_, PyAny>>,
        dialect: Option<&Bound<'_, PyAny>>,
        starts_in: Option<&str>,
        policy: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let reading = reading(provider, Given { tools, dialect, starts_in, policy })?;
        let provider = provider_argument(provider)?;
        let stream = guard(|| provider::StreamNormalizer::new(provider, &reading))?;
        let stage = Stage::Open(Box::new(stream));
        let state = State { stage, events: Vec::new(), bytes: 0, tools: reading.tools, provider: None };
        Ok(Self(Mutex::new(state)))
    }

    #[doc = stub!("StreamNormalizer.feed")]
    fn feed<'py>(&self, py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        // Only when the chunk was read: an object's own code runs there, which may use this stream.
        let state = || self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let feed_bytes = |bytes: &[u8]| {
            let mut state = state();
            state.run(py, bytes.len(), |stream, events| stream.feed_bytes(bytes, events))?;
            state.take(py)
        };
        if let Ok(text) = chunk.cast::<PyString>() {
            feed_bytes(utf8(text)?.0.as_bytes())
        } else if let Some(bytes) = bytes_of(chunk) {
            feed_bytes(&bytes)
        } else {
            let provider = if let Stage::Open(stream) = &state().stage { stream.provider() } else { None };
            let Some(chunk) = chunk_of(chunk, provider)? else { return event_list(py, std::iter::empty()) };
            let node: Node<'static> = from_payload(&chunk)?;
            let mut state = state();
            state.run(py, node.weight(), |stream, events| stream.feed_node(&node, events))?;
            state.take(py)
        }
    }

    #[doc = stub!("StreamNormalizer.close")]
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        state.close(py)?;
        state.take(py)
    }

    #[doc = stub!("StreamNormalizer.finish")]
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.choices(py)?.get_item(0)
    }

    #[doc = stub!("StreamNormalizer.choices")]
    fn choices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        state.close(py)?;
        state.turns(py)
    }

    #[doc = stub!("StreamNormalizer.provider")]
    #[getter]
    fn provider(&self, py: Python<'_>) -> Option<&'static str> {
        let state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let known = if let Stage::Open(stream) = &state.stage { stream.provider() } else { state.provider };
        known.map(Provider::as_str)
    }

    #[doc = stub!("StreamNormalizer._in_text")]
    fn _in_text(&self, py: Python<'_>, index: usize) -> bool {
        let state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        matches!(&state.stage, Stage::Open(stream) if stream.in_text(index))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let stage = match state.stage {
            Stage::Open(_) => "open",
            Stage::Closed(_) | Stage::Finished(_) => "finished",
            Stage::Broken => "broken",
        };
        format!("<toolglot.StreamNormalizer {stage}>")
    }
}

/// The chunk of the wire in what the stream helper of an SDK handed out. The core looks as well; but to write out an event
/// of a helper takes time that grows with the answer, since it holds all that came so far.
fn chunk_of<'py>(event: &Bound<'py, PyAny>, provider: Option<Provider>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = event.py();
    if event.is_instance_of::<PyDict>() {
        return Ok(Some(event.clone()));
    }
    let kind = event.getattr_opt(intern!(py, "type"))?;
    let kind = kind.as_ref().and_then(|kind| kind.cast::<PyString>().ok());
    match kind.and_then(|kind| provider::helper(kind.to_str().ok()?, provider)) {
        Some(Helper::Carries(member)) => Ok(Some(event.getattr_opt(member)?.unwrap_or_else(|| event.clone()))),
        Some(Helper::Repeats) => Ok(None),
        None => Ok(Some(event.clone())),
    }
}

impl State {
    /// Has the stream take a chunk of so many `bytes`.
    fn run(
        &mut self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut provider::StreamNormalizer, &mut Vec<turn::Event>) + Send,
    ) -> PyResult<()> {
        let Stage::Open(stream) = &mut self.stage else {
            return Err(self.not_open());
        };
        self.bytes = self.bytes.saturating_add(bytes);
        let events = &mut self.events;
        let worked = guard_detached(py, bytes, || work(stream, events));
        if worked.is_err() {
            self.stage = Stage::Broken;
        }
        worked
    }

    fn not_open(&self) -> PyErr {
        match self.stage {
            Stage::Broken => InternalError::new_err("this stream stopped at a bug in toolglot; make a new one"),
            _ => {
                let message = "feed() after the stream was finished: the next answer needs a new StreamNormalizer";
                Error::new(ErrorCode::BadOption, message).into()
            }
        }
    }

    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        let Stage::Open(_) = &self.stage else { return Ok(()) };
        let Stage::Open(stream) = std::mem::replace(&mut self.stage, Stage::Broken) else { return Ok(()) };
        let events = &mut self.events;
        self.provider = stream.provider();
        self.stage = Stage::Closed(guard_detached(py, self.bytes, || stream.finish_choices(events))?);
        Ok(())
    }

    fn turns<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match std::mem::replace(&mut self.stage, Stage::Broken) {
            Stage::Closed(Ok(turns)) => {
                let tools = self.tools.as_ref();
                let turns = turns.into_iter().map(|turn| Turn::from_core(py, turn, &Input::None, tools));
                let turns = PyTuple::new(py, turns.collect::<PyResult<Vec<_>>>()?)?;
                self.stage = Stage::Finished(turns.clone().unbind());
                Ok(turns)
            }
            Stage::Closed(Err(error)) => {
                self.stage = Stage::Closed(Err(error.clone()));
                Err(error.into())
            }
            Stage::Finished(turns) => {
                let bound = turns.bind(py).clone();
                self.stage = Stage::Finished(turns);
                Ok(bound)
            }
            stage @ (Stage::Open(_) | Stage::Broken) => {
                self.stage = stage;
                Err(self.not_open())
            }
        }
    }

    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tools = self.tools.as_ref();
        event_list(py, self.events.drain(..).map(|event| Event::from_core(py, event, tools)))
    }
}
