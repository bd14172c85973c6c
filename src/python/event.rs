//! `toolglot.Event`: one step of a streamed turn.
use super::argument::Count;
use super::call::ToolCall;
use super::report::{Issue, hash, repr_of};
use super::text::Whole;
use crate::engine::{self, Fresh};
use crate::schema;
use crate::{Error, ErrorCode, turn};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;

#[doc = stub!("Event")]
// No free list: pyo3 guards it with a lock, and an event costs 60 ns more with it than without.
#[pyclass(frozen, module = "toolglot", name = "Event")]
#[derive(Debug)]
pub(super) struct Event(Step);

/// As [`turn::Event`], in Python objects.
#[derive(Debug)]
enum Step {
    Text(Py<PyString>),
    Reasoning(Py<PyString>),
    CallStarted { index: usize, id: Py<PyString>, name: Py<PyString> },
    Arguments { index: usize, text: Py<PyString> },
    CallEnded { index: usize, call: Py<ToolCall> },
    Reclassified,
    Issue(Box<turn::Issue>),
}

impl Event {
    /// The event of a chunk that is all of it.
    pub(super) fn of_chunk(whole: engine::Whole, chunk: &Bound<'_, PyString>) -> Self {
        let text = chunk.clone().unbind();
        Self(match whole {
            engine::Whole::Text => Step::Text(text),
            engine::Whole::Reasoning => Step::Reasoning(text),
            engine::Whole::Arguments(index) => Step::Arguments { index, text },
        })
    }

    /// The event for Python. `tools` are those that were offered.
    pub(super) fn from_fresh(py: Python<'_>, event: Fresh<'_>, tools: Option<&Arc<schema::ToolSet>>) -> PyResult<Self> {
        let string = |text: &str| PyString::new(py, text).unbind();
        Ok(Self(match event {
            Fresh::Text(text) => Step::Text(string(text)),
            Fresh::Reasoning(text) => Step::Reasoning(string(text)),
            Fresh::Arguments(index, text) => Step::Arguments { index, text: string(text) },
            Fresh::Event(event) => return Self::from_core(py, *event, tools),
        }))
    }

    /// As [`Self::from_fresh`], for an event that holds its text.
    pub(super) fn from_core(
        py: Python<'_>,
        event: turn::Event,
        tools: Option<&Arc<schema::ToolSet>>,
    ) -> PyResult<Self> {
        let string = |text: &str| PyString::new(py, text).unbind();
        Ok(Self(match event {
            turn::Event::Text(text) => Step::Text(string(&text)),
            turn::Event::Reasoning(text) => Step::Reasoning(string(&text)),
            turn::Event::Arguments { index, text } => Step::Arguments { index, text: string(&text) },
            turn::Event::CallStarted { index, id, name } => {
                Step::CallStarted { index, id: string(&id), name: string(&name) }
            }
            turn::Event::CallEnded { index, call } => {
                let call = ToolCall::from_core(py, *call, tools);
                Step::CallEnded { index, call: Py::new(py, call)? }
            }
            turn::Event::Reclassified => Step::Reclassified,
            turn::Event::Issue(issue) => Step::Issue(Box::new(issue)),
        }))
    }
}

#[pymethods]
impl Event {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("kind", "text")
    }

    #[new]
    #[pyo3(signature = (kind, *, text=None, index=None, id=None, name=None, call=None, issue=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        kind: &str,
        text: Option<Whole>,
        index: Option<Count>,
        id: Option<Py<PyString>>,
        name: Option<Py<PyString>>,
        call: Option<Py<ToolCall>>,
        issue: Option<&Bound<'_, Issue>>,
    ) -> PyResult<Self> {
        let index = Count::given(index, "index")?;
        let text = text.map(|text| PyString::new(py, &text.0).unbind());
        let step = match (kind, text, index, id, name, call, issue) {
            ("text", Some(text), None, None, None, None, None) => Step::Text(text),
            ("reasoning", Some(text), None, None, None, None, None) => Step::Reasoning(text),
            ("arguments", Some(text), Some(index), None, None, None, None) => Step::Arguments { index, text },
            ("call_started", None, Some(index), Some(id), Some(name), None, None) => {
                Step::CallStarted { index, id, name }
            }
            ("call_ended", None, Some(index), None, None, Some(call), None) => Step::CallEnded { index, call },
            ("reclassified", None, None, None, None, None, None) => Step::Reclassified,
            ("issue", None, None, None, None, None, Some(issue)) => Step::Issue(Box::new(issue.get().0.clone())),
            _ => {
                let message = format!("{kind:?} is no kind of event with just these attributes");
                return Err(Error::at(ErrorCode::BadOption, "kind", message).into());
            }
        };
        Ok(Self(step))
    }

    #[doc = stub!("Event.kind")]
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.0 {
            Step::Text(_) => intern!(py, "text"),
            Step::Reasoning(_) => intern!(py, "reasoning"),
            Step::CallStarted { .. } => intern!(py, "call_started"),
            Step::Arguments { .. } => intern!(py, "arguments"),
            Step::CallEnded { .. } => intern!(py, "call_ended"),
            Step::Reclassified => intern!(py, "reclassified"),
            Step::Issue(_) => intern!(py, "issue"),
        }
    }

    #[doc = stub!("Event.text")]
    #[getter]
    fn text(&self) -> Option<&Py<PyString>> {
        match &self.0 {
            Step::Text(text) | Step::Reasoning(text) | Step::Arguments { text, .. } => Some(text),
            _ => None,
        }
    }

    #[doc = stub!("Event.index")]
    #[getter]
    fn index(&self) -> Option<usize> {
        match self.0 {
            Step::CallStarted { index, .. } | Step::Arguments { index, .. } | Step::CallEnded { index, .. } => {
                Some(index)
            }
            _ => None,
        }
    }

    #[doc = stub!("Event.id")]
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<Option<&Py<PyString>>> {
        Ok(match &self.0 {
            Step::CallStarted { id, .. } => Some(id),
            Step::CallEnded { call, .. } => Some(call.get().known_id(py)?),
            _ => None,
        })
    }

    #[doc = stub!("Event.name")]
    #[getter]
    fn name(&self, py: Python<'_>) -> Option<Py<PyString>> {
        match &self.0 {
            Step::CallStarted { name, .. } => Some(name.clone_ref(py)),
            Step::CallEnded { call, .. } => Some(call.get().name.clone_ref(py)),
            _ => None,
        }
    }

    #[doc = stub!("Event.call")]
    #[getter]
    fn call(&self) -> Option<&Py<ToolCall>> {
        if let Step::CallEnded { call, .. } = &self.0 { Some(call) } else { None }
    }

    #[doc = stub!("Event.issue")]
    #[getter]
    fn issue(&self) -> Option<Issue> {
        if let Step::Issue(issue) = &self.0 { Some(Issue((**issue).clone())) } else { None }
    }

    #[doc = stub!("Event.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = self.fields(py)?;
        if let Step::CallEnded { call, .. } = &self.0 {
            dict.set_item("call", call.get().to_dict(py)?)?;
        }
        if let Step::Issue(issue) = &self.0 {
            dict.set_item("issue", Issue((**issue).clone()).to_dict(py)?)?;
        }
        Ok(dict)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<bool> {
        self.fields(py)?.eq(other.get().fields(py)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let text = self.text().map(|text| text.to_str(py)).transpose()?;
        Ok(hash((self.kind(py).to_str()?, self.index(), text)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        repr_of("Event", &self.fields(py)?)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Bound<'py, PyAny>,), Bound<'py, PyDict>)> {
        let fields = self.fields(py)?;
        fields.del_item("kind")?;
        Ok(((self.kind(py).clone().into_any(),), fields))
    }
}

impl Event {
    /// What the constructor takes.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("kind", self.kind(py))?;
        match &self.0 {
            Step::Text(text) | Step::Reasoning(text) => dict.set_item("text", text)?,
            Step::Arguments { index, text } => {
                dict.set_item("index", index)?;
                dict.set_item("text", text)?;
            }
            Step::CallStarted { index, id, name } => {
                dict.set_item("index", index)?;
                dict.set_item("id", id)?;
                dict.set_item("name", name)?;
            }
            Step::CallEnded { index, call } => {
                dict.set_item("index", index)?;
                dict.set_item("call", call)?;
            }
            Step::Reclassified => {}
            Step::Issue(issue) => dict.set_item("issue", Issue((**issue).clone()))?,
        }
        Ok(dict)
    }
}
