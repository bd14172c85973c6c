//! `toolglot.explain`: what was seen in a text, and why what looked like a call is none.
use super::argument::{Count, word};
use super::dialect::dialect_argument;
use super::guard::guard_detached;
use super::parser::{options, surrogate_issue};
use super::report::{hash, repr_of};
use super::source::tools_argument;
use super::text::{CharacterCount, Input, Text, bytes_of, no_text};
use super::turn::Turn;
use crate::engine;
use crate::explain::{self as core, Line, Reason, SpanKind};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

#[doc = stub!("explain")]
#[pyfunction]
#[pyo3(signature = (text, tools=None, *, dialect=None, starts_in=None, policy=None),
       text_signature = "(text, tools=None, *, dialect='auto', starts_in='content', policy=None)")]
pub(super) fn explain<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    tools: Option<&Bound<'py, PyAny>>,
    dialect: Option<&Bound<'py, PyAny>>,
    starts_in: Option<&str>,
    policy: Option<&Bound<'py, PyAny>>,
) -> PyResult<Explanation> {
    let tools = tools_argument(tools)?;
    let dialects = dialect_argument(dialect)?;
    let options = options(starts_in, policy)?;
    let (text, issue) = if let Ok(text) = text.cast::<PyString>() {
        (text.clone(), None)
    } else if let Some(bytes) = bytes_of(text) {
        let (text, replaced) = crate::utf8::decode(&bytes);
        (PyString::new(py, &text), replaced.map(engine::replaced))
    } else {
        return Err(no_text("text", text));
    };
    let (input, surrogate) = Input::new(&text)?;
    let all = input.as_str(py);
    let explanation = guard_detached(py, all.len(), || core::explain(all, &dialects, tools.as_deref(), &options))?;
    let (mut turn, hint) = (explanation.turn, explanation.hint);
    turn.issues.extend(issue.or(surrogate.map(surrogate_issue)));
    let mut end = 0;
    let spans = explanation.spans.into_iter().map(|span| {
        let written = all.get(span.range.clone()).unwrap_or_default();
        let start = end;
        end += written.chars().count();
        let text = span.decoded.unwrap_or_else(|| written.to_owned());
        let core::Span { kind, dialect, call, reason, detail, .. } = span;
        Span { start, end, kind, text, dialect, call, reason, detail }.into_bound_py_any(py)
    });
    let spans = PyTuple::new(py, spans.collect::<PyResult<Vec<_>>>()?)?.unbind();
    let text = input.to_py(py, &Text::Span(0..all.len())).unbind();
    CharacterCount::default().convert_turn(all, &mut turn);
    let turn = Turn::from_core(py, turn, &input, tools.as_ref())?.unbind();
    Ok(Explanation { text, spans, turn, hint })
}

#[doc = stub!("Span")]
#[pyclass(frozen, eq, hash, skip_from_py_object, module = "toolglot", name = "Span")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Span {
    start: usize,
    end: usize,
    kind: SpanKind,
    text: String,
    dialect: Option<String>,
    call: Option<usize>,
    reason: Option<Reason>,
    detail: String,
}

#[pymethods]
impl Span {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("kind", "text")
    }

    #[new]
    #[pyo3(signature = (start, end, kind, text, dialect=None, call=None, reason=None, detail=""))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        start: Count,
        end: Count,
        kind: &str,
        text: String,
        dialect: Option<String>,
        call: Option<Count>,
        reason: Option<&str>,
        detail: &str,
    ) -> PyResult<Self> {
        let kind = word("kind", SpanKind::ALL, SpanKind::as_str, kind)?;
        let reason = reason.map(|reason| word("reason", Reason::ALL, Reason::as_str, reason)).transpose()?;
        let (start, end, call) = (start.get("start")?, end.get("end")?, Count::given(call, "call")?);
        Ok(Self { start, end, kind, text, dialect, call, reason, detail: detail.to_owned() })
    }

    #[doc = stub!("Span.start")]
    #[getter]
    fn start(&self) -> usize {
        self.start
    }

    #[doc = stub!("Span.end")]
    #[getter]
    fn end(&self) -> usize {
        self.end
    }

    #[doc = stub!("Span.kind")]
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind.as_str()
    }

    #[doc = stub!("Span.text")]
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    #[doc = stub!("Span.dialect")]
    #[getter]
    fn dialect(&self) -> Option<&str> {
        self.dialect.as_deref()
    }

    #[doc = stub!("Span.call")]
    #[getter]
    fn call(&self) -> Option<usize> {
        self.call
    }

    #[doc = stub!("Span.reason")]
    #[getter]
    fn reason(&self) -> Option<&'static str> {
        self.reason.map(Reason::as_str)
    }

    #[doc = stub!("Span.detail")]
    #[getter]
    fn detail(&self) -> &str {
        &self.detail
    }

    #[doc = stub!("Span.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("start", self.start)?;
        dict.set_item("end", self.end)?;
        dict.set_item("kind", self.kind())?;
        dict.set_item("text", self.text())?;
        dict.set_item("dialect", self.dialect())?;
        dict.set_item("call", self.call)?;
        dict.set_item("reason", self.reason())?;
        dict.set_item("detail", self.detail())?;
        Ok(dict)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), self.to_dict(py)?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        repr_of("Span", &self.to_dict(py)?)
    }
}

#[doc = stub!("Explanation")]
#[pyclass(frozen, module = "toolglot", name = "Explanation")]
#[derive(Debug)]
pub(super) struct Explanation {
    text: Py<PyString>,
    spans: Py<PyTuple>,
    turn: Py<Turn>,
    hint: String,
}

#[pymethods]
impl Explanation {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("turn", "spans")
    }

    #[new]
    #[pyo3(signature = (text, spans, turn, hint=""))]
    fn new(
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        spans: Vec<Bound<'_, Span>>,
        turn: &Bound<'_, Turn>,
        hint: &str,
    ) -> PyResult<Self> {
        let spans = PyTuple::new(py, spans)?.unbind();
        Ok(Self { text: text.clone().unbind(), spans, turn: turn.clone().unbind(), hint: hint.to_owned() })
    }

    #[doc = stub!("Explanation.text")]
    #[getter]
    fn text(&self) -> &Py<PyString> {
        &self.text
    }

    #[doc = stub!("Explanation.spans")]
    #[getter]
    fn spans(&self) -> &Py<PyTuple> {
        &self.spans
    }

    #[doc = stub!("Explanation.turn")]
    #[getter]
    fn turn(&self) -> &Py<Turn> {
        &self.turn
    }

    #[doc = stub!("Explanation.hint")]
    #[getter]
    fn hint(&self) -> &str {
        &self.hint
    }

    #[doc = stub!("Explanation.kept")]
    #[getter]
    fn kept<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let spans = self.spans.bind(py).iter();
        let kept = spans.filter(|span| span.cast::<Span>().is_ok_and(|span| span.get().reason.is_some()));
        PyTuple::new(py, kept.collect::<Vec<_>>())
    }

    #[doc = stub!("Explanation.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = self.fields(py)?;
        let spans = self.spans.bind(py).iter();
        let spans = spans.map(|span| span.call_method0("to_dict")).collect::<PyResult<Vec<_>>>()?;
        dict.set_item("spans", spans)?;
        dict.set_item("turn", self.turn.bind(py).call_method0("to_dict")?)?;
        Ok(dict)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<bool> {
        self.fields(py)?.eq(other.get().fields(py)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(hash((self.text.to_str(py)?, self.hint.as_str(), self.spans.bind(py).len())))
    }

    /// The report for people.
    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let spans = self.spans.bind(py).iter().map(|span| Ok(span.cast_into::<Span>()?));
        let spans = spans.collect::<PyResult<Vec<_>>>()?;
        let lines: Vec<Line<'_>> = (spans.iter())
            .map(|span| {
                let Span { start, end, kind, text, call, reason, detail, .. } = span.get();
                Line { start: *start, end: *end, kind: *kind, text, call: *call, reason: *reason, detail }
            })
            .collect();
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.turn.get().with_core(py, |turn| core::report(&mut text, &lines, turn, &self.hint))?;
        Ok(text)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = String::from("<toolglot.Explanation ");
        let _ = self.turn.get().with_core(py, |turn| core::headline(&mut text, turn))?;
        let (spans, kept) = (self.spans.bind(py).len(), self.kept(py)?.len());
        text.push_str(&format!("; {spans} spans, {kept} kept as text>"));
        Ok(text)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), self.fields(py)?))
    }
}

impl Explanation {
    /// What the constructor takes.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("text", &self.text)?;
        dict.set_item("spans", &self.spans)?;
        dict.set_item("turn", &self.turn)?;
        dict.set_item("hint", self.hint())?;
        Ok(dict)
    }
}
