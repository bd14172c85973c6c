//! The providers' room: `normalize`, `StreamNormalizer`, and messages back.
use super::blobs::{message_to_py, messages_to_py, system_to_py};
use super::call::ToolCall;
use super::convert::{a_type, from_payload, from_result, is_its_own, to_py, type_name};
use super::dialect::{Spoken, dialect_argument};
use super::event::Event;
use super::guard::{guard, guard_detached};
use super::messages::{messages_argument, side_argument, system_argument};
use super::parser::{event_list, options};
use super::policy::Count;
use super::report::Issue;
use super::source::tools_argument;
use super::text::{Input, Whole, bytes_of, utf8, whole};
use super::turn::Turn;
use crate::provider::{self, Node, Provider, Reading, ResultOptions, ToolResult};
use crate::schema;
use crate::turn;
use crate::{Error, ErrorCode};
use pyo3::exceptions::{PyBaseException, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

fn provider_argument(name: &str) -> PyResult<Option<Provider>> {
    if name == "auto" { Ok(None) } else { Ok(Some(Provider::from_name(name)?)) }
}

/// What the options mean. `dialect=None` is said by the default "auto" here, so `False` says that text is not to be read
/// for calls.
fn reading(Given { tools, dialect, starts_in, policy }: Given<'_, '_>) -> PyResult<Reading> {
    let off = dialect.is_some_and(|dialect| dialect.cast::<PyBool>().is_ok_and(|truth| !truth.is_true()));
    Ok(Reading {
        tools: tools_argument(tools)?,
        options: options(starts_in, policy)?,
        dialects: if off { None } else { Some(dialect_argument(dialect)?) },
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
    from_payload(value).map(Payload::Node)
}

#[doc = stub!("normalize")]
#[pyfunction]
#[pyo3(signature = (response, *, tools=None, provider="auto", dialect=None, starts_in=None, policy=None),
       text_signature = "(response, *, tools=None, provider='auto', dialect='auto', starts_in='content', policy=None)")]
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
    let provider = provider_argument(provider)?;
    let reading = reading(given)?;
    let read = match payload(response)? {
        Payload::Text(bytes) => guard_detached(py, bytes.len(), || of_bytes(&bytes, provider, &reading))?,
        Payload::Node(node) => guard_detached(py, node.weight(), || of_node(&node, provider, &reading))?,
    };
    Ok((read?, reading.tools))
}

#[doc = stub!("normalize_choices")]
#[pyfunction]
#[pyo3(signature = (response, *, tools=None, provider="auto", dialect=None, starts_in=None, policy=None),
       text_signature = "(response, *, tools=None, provider='auto', dialect='auto', starts_in='content', policy=None)")]
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
    #[pyo3(signature = (provider="auto", *, tools=None, dialect=None, starts_in=None, policy=None),
           text_signature = "(provider='auto', *, tools=None, dialect='auto', starts_in='content', policy=None)")]
    fn new(
        provider: &str,
        tools: Option<&Bound<'_, PyAny>>,
        dialect: Option<&Bound<'_, PyAny>>,
        starts_in: Option<&str>,
        policy: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let provider = provider_argument(provider)?;
        let reading = reading(Given { tools, dialect, starts_in, policy })?;
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
            let node: Node<'static> = from_payload(chunk)?;
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

impl State {
    /// Has the stream take a chunk of so many `bytes`.
    fn run(
        &mut self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut provider::StreamNormalizer, &mut Vec<turn::Event>) + Send,
    ) -> PyResult<()> {
        let Stage::Open(stream) = &mut self.stage else {
            return Err(Error::new(ErrorCode::BadOption, "feed() after the stream was finished").into());
        };
        self.bytes = self.bytes.saturating_add(bytes);
        let events = &mut self.events;
        let worked = guard_detached(py, bytes, || work(stream, events));
        if worked.is_err() {
            self.stage = Stage::Broken;
        }
        worked
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
                Err(super::error::InternalError::new_err("this stream stopped at a bug in toolglot"))
            }
        }
    }

    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tools = self.tools.as_ref();
        event_list(py, self.events.drain(..).map(|event| Event::from_core(py, event, tools)))
    }
}

/// A call's id and name, from a ToolCall, any provider's dict or object, or the id alone. The name is spelt as `target`
/// was told it.
fn call_argument(
    call: &Bound<'_, PyAny>,
    target: &Target,
    tools: Option<&schema::ToolSet>,
) -> PyResult<(String, String)> {
    if let Ok(call) = call.cast::<ToolCall>() {
        let (id, name) = (call.get().known_id(call.py())?.to_str(call.py())?, call.get().name.to_str(call.py())?);
        return Ok((id.to_owned(), target.told(tools.or_else(|| call.get().tools()), name.to_owned())));
    }
    let (id, name) = provider::call_of(&from_payload::<Value>(call)?)?;
    // An id alone has no name.
    let name = if name.is_empty() { name } else { target.told(tools, name) };
    Ok((id, name))
}

/// What has not run yet is no result: nobody awaited it, or asked for what it yields. Its type says so, as an object may answer to
/// any name (a dict with `__getattr__ = dict.get`).
fn is_pending(result: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (py, kind) = (result.py(), result.get_type());
    let has = |name| Ok::<_, PyErr>(kind.getattr_opt(name)?.is_some());
    Ok(has(intern!(py, "__await__"))? || has(intern!(py, "__anext__"))? || has(intern!(py, "gi_frame"))?)
}

/// A tool's result: JSON, bytes, an exception, or anything else by its `str`.
fn result_argument(call: (String, String), result: &Bound<'_, PyAny>, is_error: bool) -> PyResult<ToolResult> {
    let (id, name) = call;
    if is_pending(result)? {
        let message = format!("{} is no result yet: await it, or make a list of it", a_type(result));
        return Err(PyTypeError::new_err(message));
    }
    if let Ok(error) = result.cast::<PyBaseException>() {
        let text = match error.str().and_then(|text| Ok(whole(&text)?.into_owned())) {
            Err(own) if is_its_own(&own, result.py()) => String::new(),
            text => text?,
        };
        let text = if text.is_empty() { type_name(result) } else { format!("{}: {text}", type_name(result)) };
        return Ok(ToolResult::new(&id, &name, &Value::String(text), true));
    }
    if let Some(bytes) = bytes_of(result) {
        return Ok(ToolResult::new(&id, &name, &provider::bytes_result(&bytes), is_error));
    }
    Ok(ToolResult::new(&id, &name, &from_result(result)?, is_error))
}

/// Where results go: a provider, or text of a dialect.
enum Target {
    Provider(Provider),
    Text(Spoken),
}

impl Target {
    /// A tool's name as it stands in a message. In text mode the model was told the real ones.
    fn told(&self, tools: Option<&schema::ToolSet>, name: String) -> String {
        match self {
            Self::Provider(provider) => provider.told(tools, &name).into_owned(),
            Self::Text(_) => name,
        }
    }
}

fn target(provider: &str, dialect: Option<Spoken>) -> PyResult<Target> {
    if provider == "text" {
        return Ok(Target::Text(dialect.map_or_else(|| Ok(Spoken::auto()), Spoken::known)?));
    }
    if dialect.is_some() {
        let message = "dialect= is for provider=\"text\"";
        return Err(Error::at(ErrorCode::BadOption, "dialect", message).into());
    }
    let found = Provider::from_name(provider).map_err(|mut error| {
        error.message.push_str(", and text for a model without native tools");
        error
    })?;
    Ok(Target::Provider(found))
}

fn result_options(target: &Target, max_chars: Option<Count>, harden: Option<bool>) -> PyResult<ResultOptions> {
    let max_chars = max_chars.map(|count| count.get("max_chars")).transpose()?;
    Ok(ResultOptions { max_chars, harden: harden.unwrap_or(matches!(target, Target::Text(_))) })
}

#[doc = stub!("format_tool_result")]
#[pyfunction]
#[pyo3(signature = (call, result, *, is_error=false, provider="openai", dialect=None, max_chars=Some(Count::of(100_000)), harden=None, tools=None),
       text_signature = "(call, result, *, is_error=False, provider='openai', dialect=None, max_chars=100000, harden=None, tools=None)")]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(super) fn format_tool_result<'py>(
    py: Python<'py>,
    call: &Bound<'py, PyAny>,
    result: &Bound<'py, PyAny>,
    is_error: bool,
    provider: &str,
    dialect: Option<Spoken>,
    max_chars: Option<Count>,
    harden: Option<bool>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let target = target(provider, dialect)?;
    let options = result_options(&target, max_chars, harden)?;
    let tools = tools_argument(tools)?;
    let result = result_argument(call_argument(call, &target, tools.as_deref())?, result, is_error)?;
    match target {
        Target::Provider(provider) => {
            message_to_py(py, &guard(|| provider::format_tool_result(result, provider, &options))??, provider)
        }
        Target::Text(dialect) => to_py(py, &guard(|| provider::text_results(vec![result], dialect.get(), &options))?),
    }
}

#[doc = stub!("format_tool_results")]
#[pyfunction]
#[pyo3(signature = (results, *, provider="openai", dialect=None, max_chars=Some(Count::of(100_000)), harden=None, tools=None),
       text_signature = "(results, *, provider='openai', dialect=None, max_chars=100000, harden=None, tools=None)")]
pub(super) fn format_tool_results<'py>(
    py: Python<'py>,
    results: &Bound<'py, PyAny>,
    provider: &str,
    dialect: Option<Spoken>,
    max_chars: Option<Count>,
    harden: Option<bool>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let target = target(provider, dialect)?;
    let options = result_options(&target, max_chars, harden)?;
    let tools = tools_argument(tools)?;
    let mut read = Vec::new();
    let wrong = |_| PyTypeError::new_err(format!("results is a list of results, not {}", a_type(results)));
    for (index, entry) in results.try_iter().map_err(wrong)?.enumerate() {
        let entry = entry?;
        let wrong = || {
            let message = "a result is (call, result), (call, result, is_error) or a dict of these";
            PyErr::from(Error::at(ErrorCode::BadMessage, format!("/{index}"), message))
        };
        let (call, result, is_error) = if let Ok(dict) = entry.cast::<PyDict>() {
            let call = dict.get_item("call")?.ok_or_else(wrong)?;
            let result = dict.get_item("result")?.ok_or_else(wrong)?;
            let is_error = dict.get_item("is_error")?.map(|error| error.is_truthy()).transpose()?;
            (call, result, is_error.unwrap_or(false))
        } else if let Ok((call, result)) = entry.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
            (call, result, false)
        } else {
            entry.extract().map_err(|_| wrong())?
        };
        read.push(result_argument(call_argument(&call, &target, tools.as_deref())?, &result, is_error)?);
    }
    match target {
        Target::Provider(provider) => {
            messages_to_py(py, &guard(|| provider::format_tool_results(read, provider, &options))??, provider)
        }
        Target::Text(_) if read.is_empty() => Ok(PyList::empty(py).into_any()),
        Target::Text(dialect) => {
            let message = guard(|| provider::text_results(read, dialect.get(), &options))?;
            to_py(py, &Value::Array(vec![message]))
        }
    }
}

#[doc = stub!("assistant_message")]
#[pyfunction]
#[pyo3(signature = (turn, *, provider="openai", dialect=None, tools=None))]
pub(super) fn assistant_message<'py>(
    py: Python<'py>,
    turn: &Bound<'py, Turn>,
    provider: &str,
    dialect: Option<Spoken>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match target(provider, dialect)? {
        Target::Provider(provider) => turn.get().message(py, provider, tools_argument(tools)?.as_deref()),
        Target::Text(dialect) => {
            to_py(py, &turn.get().with_core(py, |turn| provider::text_message(turn, dialect.get()))??)
        }
    }
}

/// About so many bytes of JSON are in `values`.
fn weight(values: &[Value]) -> usize {
    let of = |value: &Value| match value {
        Value::String(text) => text.len(),
        Value::Array(items) => weight(items),
        Value::Object(members) => {
            members.iter().map(|(key, value)| key.len() + weight(std::slice::from_ref(value))).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    values.iter().map(|value| 8 + of(value)).sum()
}

fn issues(py: Python<'_>, issues: Vec<turn::Issue>) -> PyResult<Vec<Bound<'_, Issue>>> {
    issues.into_iter().map(|issue| Bound::new(py, Issue(issue))).collect()
}

type Converted<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<Bound<'py, Issue>>);

fn converted(py: Python<'_>, written: provider::Written, provider: Provider) -> PyResult<Converted<'_>> {
    Ok((
        messages_to_py(py, &written.messages, provider)?,
        system_to_py(py, &written.system.unwrap_or_default(), provider)?,
        to_py(py, &Value::Object(written.side))?,
        issues(py, written.issues)?,
    ))
}

/// Messages in another provider's shape: messages, system prompt, what has no place there, issues.
#[pyfunction]
#[pyo3(name = "_convert_messages", signature = (messages, to, source, system, side))]
pub(super) fn convert_messages<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    to: &str,
    source: &str,
    system: Option<&Bound<'py, PyAny>>,
    side: Option<&Bound<'py, PyAny>>,
) -> PyResult<Converted<'py>> {
    let (to, from) = (Provider::from_name(to)?, provider_argument(source)?);
    let messages = messages_argument(messages)?;
    let system = system_argument(system)?;
    let side = side_argument(side)?;
    let convert = || provider::convert_messages(&messages, system.as_ref(), from, to, side.as_ref());
    let written = guard_detached(py, weight(&messages), convert)??;
    converted(py, written, to)
}

/// Every violation of what the provider wants of a history.
#[pyfunction]
#[pyo3(name = "_check_history", signature = (messages, provider))]
pub(super) fn check_history<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    provider: &str,
) -> PyResult<Vec<Bound<'py, Issue>>> {
    let provider = provider_argument(provider)?;
    let messages = messages_argument(messages)?;
    issues(py, guard_detached(py, weight(&messages), || provider::check_history(&messages, provider))??)
}

/// A history with what can be mended mended; and the provider whose shape it has.
#[pyfunction]
#[pyo3(name = "_repair_history", signature = (messages, provider, system, side, tools))]
pub(super) fn repair_history<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    provider: &str,
    system: Option<&Bound<'py, PyAny>>,
    side: Option<&Bound<'py, PyAny>>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Converted<'py>, &'static str)> {
    let tools = tools_argument(tools)?;
    let provider = provider_argument(provider)?;
    let messages = messages_argument(messages)?;
    let provider = provider.unwrap_or_else(|| provider::detect_history(&messages));
    let (system, side) = (system_argument(system)?, side_argument(side)?);
    let mend = || provider::repair_history(&messages, system.as_ref(), Some(provider), side.as_ref(), tools.as_deref());
    let written = guard_detached(py, weight(&messages), mend)??;
    Ok((converted(py, written, provider)?, provider.as_str()))
}

#[doc = stub!("provider_id")]
#[pyfunction]
#[pyo3(signature = (id, provider))]
pub(super) fn provider_id(id: Whole, provider: &str) -> PyResult<String> {
    let provider = Provider::from_name(provider)?;
    guard(|| provider::provider_id(&id.0, provider))
}

#[doc = stub!("harden")]
#[pyfunction]
pub(super) fn harden(py: Python<'_>, text: Whole) -> PyResult<String> {
    let Whole(text) = text;
    guard_detached(py, text.len(), || provider::harden(&text))
}
