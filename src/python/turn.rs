//! `toolglot.Turn`: what a model answered.
use super::argument::{Count, word};
use super::blobs::message_to_py;
use super::call::ToolCall;
use super::convert::{a_type, from_py, to_py, type_name};
use super::guard::guard;
use super::keys::Keys;
use super::made::Made;
use super::report::{Issue, Usage, hash, opaque, repr_of, tuple_of};
use super::text::{Input, Place, Text, Whole, kept};
use crate::Error;
use crate::engine;
use crate::provider::{Provider, Reasoned};
use crate::schema;
use crate::turn::{self, Source, StopReason};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

#[doc = stub!("Turn")]
#[pyclass(frozen, module = "toolglot", name = "Turn")]
pub(super) struct Turn {
    input: Input,
    content: Text,
    content_object: Made<PyString>,
    reasoning: Text,
    /// From the beginning of the text to where its reasoning ended.
    reasoned: Place,
    // Python reads it as a member of the object, without a call.
    #[doc = stub!("Turn.tool_calls")]
    #[pyo3(get)]
    tool_calls: Py<PyTuple>,
    /// A runnable call is waiting for its result.
    needs_more_work: bool,
    stop_reason: StopReason,
    // Text says neither what it cost nor what has to go back, and small objects are made faster.
    usage: Option<Box<turn::Usage>>,
    source: Source,
    dialect: Option<Cow<'static, str>>,
    issues: Vec<turn::Issue>,
    provider_state: Option<Box<serde_json::Value>>,
    /// The requests that it took, where an exchange made it.
    attempts: OnceLock<Py<PyTuple>>,
}

impl Turn {
    /// Keeps which requests it took.
    pub(super) fn attempted(&self, attempts: Bound<'_, PyTuple>) {
        // A turn is made by one exchange.
        drop(self.attempts.set(attempts.unbind()));
    }

    /// The turn for Python, whose places are in characters; `input` is the text that its pieces may point into, `tools` are
    /// those that were offered.
    pub(super) fn from_core<'py>(
        py: Python<'py>,
        mut turn: turn::Turn<'_>,
        input: &Input,
        tools: Option<&Arc<schema::ToolSet>>,
    ) -> PyResult<Bound<'py, Self>> {
        let needs_more_work = turn.needs_more_work();
        let calls = std::mem::take(&mut turn.tool_calls).into_iter();
        let calls = PyTuple::new(py, calls.map(|call| ToolCall::from_core(py, call, tools)))?;
        let texts = texts(&mut turn, input.as_str(py));
        let reasoned = Place::of(turn.reasoning_end.map(|end| 0..end));
        Bound::new(py, Self::of(&mut turn, texts, reasoned, input.clone_ref(py), calls, needs_more_work))
    }

    /// As [`Self::from_core`], of what was found in the `input`.
    pub(super) fn found<'py>(
        py: Python<'py>,
        (mut turn, calls): (turn::Turn<'_>, Vec<engine::Call>),
        input: &Input,
        tools: Option<&Arc<schema::ToolSet>>,
    ) -> PyResult<Bound<'py, Self>> {
        let needs_more_work = calls.iter().any(|call| call.status.runnable());
        let all = input.as_str(py);
        let mut names = Keys::open(py);
        let calls = calls.into_iter().map(|call| ToolCall::found(py, call, (input, all), tools, &mut names));
        let calls = PyTuple::new(py, calls)?;
        let texts = texts(&mut turn, all);
        let reasoned = turn.reasoning_end.map_or(Place::Unknown, |end| Place::Bytes(0..end));
        Bound::new(py, Self::of(&mut turn, texts, reasoned, input.clone_ref(py), calls, needs_more_work))
    }

    /// The turn whose content, reasoning and calls are these, whatever it says itself.
    #[inline]
    fn of(
        turn: &mut turn::Turn<'_>,
        (content, reasoning): (Text, Text),
        reasoned: Place,
        input: Input,
        tool_calls: Bound<'_, PyTuple>,
        needs_more_work: bool,
    ) -> Self {
        Self {
            content,
            content_object: Made::new(),
            reasoning,
            reasoned,
            tool_calls: tool_calls.unbind(),
            needs_more_work,
            stop_reason: turn.stop_reason,
            usage: turn.usage.map(Box::new),
            source: turn.source,
            dialect: turn.dialect.take(),
            issues: std::mem::take(&mut turn.issues),
            provider_state: turn.provider_state.take().map(Box::new),
            attempts: OnceLock::new(),
            input,
        }
    }

    /// Runs `work` on the turn as the core knows it.
    pub(super) fn with_core<T>(&self, py: Python<'_>, work: impl FnOnce(&turn::Turn<'_>) -> T) -> PyResult<T> {
        self.with_calls(py, |call| call.to_core(py), work)
    }

    /// As [`Self::with_core`], the calls as `to_core` gives them.
    fn with_calls<T>(
        &self,
        py: Python<'_>,
        to_core: impl for<'c> Fn(&'c ToolCall) -> PyResult<turn::ToolCall<'c>>,
        work: impl FnOnce(&turn::Turn<'_>) -> T,
    ) -> PyResult<T> {
        let calls = self.tool_calls.bind(py);
        let calls = calls.iter().map(|call| Ok(call.cast_into::<ToolCall>()?)).collect::<PyResult<Vec<_>>>()?;
        let all = self.input.as_str(py);
        let turn = turn::Turn {
            content: Cow::Borrowed(self.content.as_str(all)),
            reasoning: Cow::Borrowed(self.reasoning.as_str(all)),
            reasoning_end: self.reasoning_end(py),
            tool_calls: calls.iter().map(|call| to_core(call.get())).collect::<PyResult<_>>()?,
            stop_reason: self.stop_reason,
            usage: self.usage.as_deref().copied(),
            source: self.source,
            dialect: self.dialect.clone(),
            issues: self.issues.clone(),
            provider_state: self.provider_state.as_deref().cloned(),
        };
        guard(|| work(&turn))
    }

    /// As [`Self::with_core`], with the tools' names as `provider` was told them: by `tools`, else by those that were
    /// offered when the turn was read.
    fn with_told<T>(
        &self,
        py: Python<'_>,
        provider: Provider,
        tools: Option<&schema::ToolSet>,
        work: impl FnOnce(&turn::Turn<'_>) -> T,
    ) -> PyResult<T> {
        self.with_calls(py, |call| call.told(py, provider, tools), work)
    }

    /// The turn as the assistant's message of `provider`.
    pub(super) fn message<'py>(
        &self,
        py: Python<'py>,
        provider: Provider,
        tools: Option<&schema::ToolSet>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.message_for(py, provider, Reasoned::Never, tools)
    }

    /// As [`Self::message`], for a route that takes reasoning back.
    pub(super) fn message_for<'py>(
        &self,
        py: Python<'py>,
        provider: Provider,
        reasoned: Reasoned,
        tools: Option<&schema::ToolSet>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let write = |turn: &turn::Turn<'_>| crate::provider::reasoned_message(turn, provider, reasoned);
        message_to_py(py, &self.with_told(py, provider, tools, write)?, provider)
    }

    /// What the constructor takes.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("content", self.content(py)?)?;
        dict.set_item("reasoning", self.reasoning(py))?;
        dict.set_item("reasoning_end", self.reasoning_end(py))?;
        dict.set_item("tool_calls", &self.tool_calls)?;
        dict.set_item("stop_reason", self.stop_reason())?;
        dict.set_item("usage", self.usage())?;
        dict.set_item("source", self.source())?;
        dict.set_item("dialect", self.dialect())?;
        dict.set_item("issues", self.issues(py)?)?;
        dict.set_item("provider_state", self.provider_state(py)?)?;
        Ok(dict)
    }
}

/// The content and the reasoning of `turn`, as ranges of the `input` where they are in it.
fn texts(turn: &mut turn::Turn<'_>, input: &str) -> (Text, Text) {
    let text = |of: &mut Cow<'_, str>| kept(std::mem::take(of), input);
    (text(&mut turn.content), text(&mut turn.reasoning))
}

/// Where calls are found, by its name.
fn found_in(source: &str) -> Result<Source, Error> {
    word("source", Source::ALL, |known| known.as_str().unwrap_or_default(), source)
}

/// The calls that a turn is made of.
struct Calls<'py>(Vec<Bound<'py, ToolCall>>);

impl<'py> FromPyObject<'_, 'py> for Calls<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let expected = |found: &Bound<'_, PyAny>| {
            PyTypeError::new_err(format!("a list of ToolCall is needed, not {}", a_type(found)))
        };
        if value.is_instance_of::<PyString>() {
            return Err(expected(&value));
        }
        let items = value.try_iter().map_err(|_| expected(&value))?;
        let call = |item: PyResult<Bound<'py, PyAny>>| {
            item?.cast_into::<ToolCall>().map_err(|error| {
                PyTypeError::new_err(format!(
                    "a list of ToolCall is needed, not one of {}",
                    type_name(&error.into_inner())
                ))
            })
        };
        items.map(call).collect::<PyResult<_>>().map(Self)
    }
}

#[pymethods]
impl Turn {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("content", "tool_calls")
    }

    #[new]
    #[pyo3(signature = (content=Whole(String::new()), tool_calls=Calls(Vec::new()), *, reasoning=None, reasoning_end=None, stop_reason=None,
                        usage=None, source=None, dialect=None, issues=Vec::new(), provider_state=None),
           text_signature = "(content=..., tool_calls=..., *, reasoning=None, reasoning_end=None, stop_reason=None, usage=None, source=None, dialect=None, issues=..., provider_state=None)")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        content: Whole,
        tool_calls: Calls<'_>,
        reasoning: Option<Whole>,
        reasoning_end: Option<Count>,
        stop_reason: Option<&str>,
        usage: Option<PyRef<'_, Usage>>,
        source: Option<&str>,
        dialect: Option<String>,
        issues: Vec<PyRef<'_, Issue>>,
        provider_state: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let Calls(tool_calls) = tool_calls;
        let default = if tool_calls.is_empty() { "stop" } else { "tool_calls" };
        let stop_reason = stop_reason.unwrap_or(default);
        let mut turn = turn::Turn {
            content: content.0.into(),
            reasoning: reasoning.map(|reasoning| reasoning.0).unwrap_or_default().into(),
            reasoning_end: Count::given(reasoning_end, "reasoning_end")?,
            tool_calls: tool_calls.iter().map(|call| call.get().to_core(py)).collect::<PyResult<_>>()?,
            stop_reason: word("stop_reason", StopReason::ALL, StopReason::as_str, stop_reason)?,
            usage: usage.map(|usage| usage.0),
            source: source.map(found_in).transpose()?.unwrap_or_default(),
            dialect: dialect.map(Cow::Owned),
            issues: issues.iter().map(|issue| issue.0.clone()).collect(),
            provider_state: provider_state.map(from_py).transpose()?,
        };
        // The calls are frozen, so they are kept as they came.
        let needs_more_work = turn.needs_more_work();
        let texts = texts(&mut turn, "");
        let reasoned = Place::of(turn.reasoning_end.map(|end| 0..end));
        Ok(Self::of(&mut turn, texts, reasoned, Input::None, PyTuple::new(py, &tool_calls)?, needs_more_work))
    }

    #[doc = stub!("Turn.content")]
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.content_object.get_or_try(py, || Ok(self.input.to_py(py, &self.content)))
    }

    #[doc = stub!("Turn.reasoning")]
    #[getter]
    fn reasoning<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyString>> {
        let reasoning = self.input.to_py(py, &self.reasoning);
        (!self.reasoning.as_str(self.input.as_str(py)).is_empty()).then_some(reasoning)
    }

    #[doc = stub!("Turn.reasoning_end")]
    #[getter]
    fn reasoning_end(&self, py: Python<'_>) -> Option<usize> {
        self.input.characters(py, &self.reasoned).map(|reasoned| reasoned.end)
    }

    #[doc = stub!("Turn.needs_more_work")]
    #[getter]
    fn needs_more_work(&self) -> bool {
        self.needs_more_work
    }

    #[doc = stub!("Turn.stop_reason")]
    #[getter]
    fn stop_reason(&self) -> &'static str {
        self.stop_reason.as_str()
    }

    #[doc = stub!("Turn.usage")]
    #[getter]
    fn usage(&self) -> Option<Usage> {
        self.usage.as_deref().copied().map(Usage)
    }

    #[doc = stub!("Turn.source")]
    #[getter]
    fn source(&self) -> Option<&'static str> {
        self.source.as_str()
    }

    #[doc = stub!("Turn.dialect")]
    #[getter]
    fn dialect(&self) -> Option<&str> {
        self.dialect.as_deref()
    }

    #[doc = stub!("Turn.issues")]
    #[getter]
    fn issues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple_of(py, &self.issues, Issue)
    }

    #[doc = stub!("Turn.provider_state")]
    #[getter]
    fn provider_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        opaque(py, self.provider_state.as_deref())
    }

    #[doc = stub!("Turn.attempts")]
    #[getter]
    fn attempts<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        self.attempts.get().map_or_else(|| PyTuple::empty(py), |attempts| attempts.bind(py).clone())
    }

    #[doc = stub!("Turn.to_openai")]
    fn to_openai<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_py(py, &self.with_told(py, Provider::OpenAi, None, |turn| turn.to_openai())?)
    }

    #[doc = stub!("Turn.to_message")]
    #[pyo3(signature = (provider="openai"))]
    fn to_message<'py>(&self, py: Python<'py>, provider: &str) -> PyResult<Bound<'py, PyAny>> {
        self.message(py, Provider::from_name(provider)?, None)
    }

    #[doc = stub!("Turn.to_anthropic")]
    fn to_anthropic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_message(py, "anthropic")
    }

    #[doc = stub!("Turn.to_gemini")]
    fn to_gemini<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_message(py, "gemini")
    }

    #[doc = stub!("Turn.to_envelope")]
    fn to_envelope<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_py(py, &self.with_core(py, |turn| turn.to_envelope())?)
    }

    #[doc = stub!("Turn.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = self.fields(py)?;
        let dicts = |records: &Bound<'py, PyTuple>| {
            records.iter().map(|record| record.call_method0("to_dict")).collect::<PyResult<Vec<_>>>()
        };
        dict.set_item("tool_calls", dicts(self.tool_calls.bind(py))?)?;
        dict.set_item("usage", self.usage().map(|usage| usage.to_dict(py)).transpose()?)?;
        dict.set_item("issues", dicts(&self.issues(py)?)?)?;
        dict.set_item("needs_more_work", self.needs_more_work)?;
        Ok(dict)
    }

    #[doc = stub!("Turn.to_json")]
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with_core(py, |turn| turn.to_value().to_string())
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<bool> {
        self.fields(py)?.eq(other.get().fields(py)?)
    }

    fn __hash__(&self, py: Python<'_>) -> u64 {
        hash((self.content.as_str(self.input.as_str(py)), self.stop_reason(), self.tool_calls.bind(py).len()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        repr_of("Turn", &self.fields(py)?)
    }

    /// In short, for people.
    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.with_core(py, |turn| turn.to_string())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), self.fields(py)?))
    }
}
