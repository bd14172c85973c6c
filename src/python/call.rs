//! `toolglot.ToolCall`: one call that the model made.
use super::argument::{Count, word};
use super::convert::{from_py, json_to_py, json_with};
use super::guard::guard;
use super::keys::Keys;
use super::made::Made;
use super::report::{ArgumentError, Repair, hash, repr_of, tuple_of};
use super::source::tools_argument;
use super::text::{Input, Place, Text, Whole, whole};
use super::tools::{ToolSet, told_target};
use crate::engine::{self, Found, Value};
use crate::provider::Provider;
use crate::schema::{self, convert::Format, convert::Target};
use crate::turn::{self, CallStatus, Evidence};
use crate::{Error, ErrorCode};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

#[doc = stub!("ToolCall")]
#[pyclass(frozen, module = "toolglot", name = "ToolCall")]
pub(super) struct ToolCall {
    /// Made up when it is first asked for, if the call came without one.
    id: Made<PyString>,
    // Python reads it as a member of the object, without a call.
    #[doc = stub!("ToolCall.name")]
    #[pyo3(get)]
    pub(super) name: Py<PyString>,
    written: Found,
    status: CallStatus,
    // Most calls have none, and small objects are made faster.
    faults: Option<Box<Faults>>,
    raw: Text,
    /// It came as a call of free text.
    freeform: bool,
    evidence: Option<Evidence>,
    place: Place,
    input: Input,
    /// The tools that were offered: for messages to the model, and for the names that a provider was told.
    tools: Option<Arc<schema::ToolSet>>,
    /// The same, where a pickle gave them to the call after it was made.
    unpickled: OnceLock<Arc<schema::ToolSet>>,
    // Both forms of the arguments are made when they are first asked for.
    arguments: Made<PyAny>,
    arguments_json: Made<PyString>,
}

/// What was mended, and what the schema refuses.
#[derive(Debug, PartialEq)]
struct Faults {
    repairs: Vec<turn::Repair>,
    errors: Vec<turn::ArgumentError>,
}

impl ToolCall {
    /// The call for Python; `tools` are those that were offered. Its span is in characters.
    pub(super) fn from_core(py: Python<'_>, call: turn::ToolCall<'_>, tools: Option<&Arc<schema::ToolSet>>) -> Self {
        let faults = Faults::of(call.repairs, call.errors);
        let (name, raw) = (Keys::open(py).get(&call.name), Text::Made(call.raw.into_owned()));
        let found = (raw, call.evidence, Place::of(call.span));
        let from = (Input::None, tools);
        let of = Self::of(Self::id_of(py, &call.id), name, call.arguments.into(), call.status, faults, found, from);
        Self { freeform: call.freeform, ..of }
    }

    /// The call as it was found in the `input`, which is the text `all`; `names` makes its name.
    pub(super) fn found<'py>(
        py: Python<'py>,
        call: engine::Call,
        (input, all): (&Input, &str),
        tools: Option<&Arc<schema::ToolSet>>,
        names: &mut Keys<'py>,
    ) -> Self {
        let faults = Faults::of(call.repairs, call.errors);
        let name = names.get(call.name.as_str(all));
        let found = (Text::Span(call.raw.clone()), Some(call.evidence), Place::Bytes(call.raw));
        let from = (input.clone_ref(py), tools);
        Self::of(Self::id_of(py, &call.id), name, call.arguments, call.status, faults, found, from)
    }

    fn id_of(py: Python<'_>, id: &str) -> Made<PyString> {
        if id.is_empty() { Made::new() } else { Made::of(PyString::new(py, id)) }
    }

    #[inline]
    fn of(
        id: Made<PyString>,
        name: Bound<'_, PyString>,
        written: Found,
        status: CallStatus,
        faults: Option<Box<Faults>>,
        (raw, evidence, place): (Text, Option<Evidence>, Place),
        (input, tools): (Input, Option<&Arc<schema::ToolSet>>),
    ) -> Self {
        Self {
            id,
            name: name.unbind(),
            written,
            status,
            faults,
            raw,
            freeform: false,
            evidence,
            place,
            input,
            tools: tools.cloned(),
            unpickled: OnceLock::new(),
            arguments: Made::new(),
            arguments_json: Made::new(),
        }
    }

    /// The id, which the call has from now on.
    pub(super) fn known_id(&self, py: Python<'_>) -> PyResult<&Py<PyString>> {
        self.id.kept(|| Ok(PyString::new(py, &turn::new_call_id())))
    }

    /// The tools that were offered when the call was made.
    pub(super) fn tools(&self) -> Option<&schema::ToolSet> {
        self.offer().map(|tools| &**tools)
    }

    /// The call was read from text: what the model wrote is known.
    pub(super) fn is_of_text(&self, py: Python<'_>) -> bool {
        !self.raw.as_str(self.input.as_str(py)).is_empty()
    }

    /// As [`Self::tools`], to hand on.
    pub(super) fn offer(&self) -> Option<&Arc<schema::ToolSet>> {
        self.tools.as_ref().or_else(|| self.unpickled.get())
    }

    fn repairs(&self) -> &[turn::Repair] {
        self.faults.as_deref().map_or(&[], |faults| &faults.repairs)
    }

    fn errors(&self) -> &[turn::ArgumentError] {
        self.faults.as_deref().map_or(&[], |faults| &faults.errors)
    }

    /// The call as the core knows it, but for its span, which is in characters.
    pub(super) fn to_core<'a>(&'a self, py: Python<'_>) -> PyResult<turn::ToolCall<'a>> {
        Ok(turn::ToolCall {
            id: Cow::Borrowed(self.known_id(py)?.to_str(py)?),
            name: Cow::Borrowed(self.name.to_str(py)?),
            arguments: self.core_arguments(py),
            status: self.status,
            repairs: self.repairs().to_vec(),
            errors: self.errors().to_vec(),
            raw: Cow::Borrowed(self.raw.as_str(self.input.as_str(py))),
            freeform: self.freeform,
            evidence: self.evidence,
            span: self.input.characters(py, &self.place),
        })
    }

    /// As [`Self::to_core`], under the names that `provider` was told of the tool and of the members of its arguments: by `tools`, else by those that were offered when the
    /// call was read.
    pub(super) fn told<'a>(
        &'a self,
        py: Python<'_>,
        provider: Provider,
        tools: Option<&schema::ToolSet>,
    ) -> PyResult<turn::ToolCall<'a>> {
        let call = self.to_core(py)?;
        let tools = tools.or_else(|| self.tools());
        let told = tools.and_then(|tools| provider.told_arguments(tools, &call.name, &call.arguments));
        let name = provider.told(tools, &call.name).into_owned().into();
        let arguments = told.map_or(call.arguments, |json| turn::Arguments::Json(json.into()));
        let freeform = self.is_freeform(py, tools)?;
        Ok(turn::ToolCall { name, arguments, freeform, ..call })
    }

    /// It is a call of free text: it came as one, or the tool takes free text, by `tools`, else by those that were offered.
    pub(super) fn is_freeform(&self, py: Python<'_>, tools: Option<&schema::ToolSet>) -> PyResult<bool> {
        let name = self.name.to_str(py)?;
        Ok(self.freeform || tools.or_else(|| self.tools()).is_some_and(|tools| tools.takes_text(name)))
    }

    /// Whom a message about the call is for: the `provider`, else whoever made the call. A model that was told of its tools natively
    /// knows them by the names that an API takes, one in text mode by their own.
    pub(super) fn target(&self, provider: Option<&str>) -> Result<Option<Target>, Error> {
        let native = self.evidence.is_none().then(|| Target::new(Format::OpenAi));
        if provider.is_none() { Ok(native) } else { told_target(provider) }
    }

    fn core_arguments(&self, py: Python<'_>) -> turn::Arguments<'_> {
        self.written.lend(self.input.as_str(py))
    }

    fn json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.arguments_json.get_or_try(py, || {
            Ok(match &self.written {
                Found::Json(json) => self.input.to_py(py, json),
                Found::Members(_) => PyString::new(py, &self.core_arguments(py).to_json()),
            })
        })
    }

    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.arguments.get_or_try(py, || {
            let all = self.input.as_str(py);
            match &self.written {
                Found::Json(json) => {
                    let value = json_to_py(py, json.as_str(all))?;
                    // What could not be read and is no object is for `arguments_json`.
                    let object = self.status.readable() || value.is_instance_of::<PyDict>();
                    Ok(if object { value } else { PyDict::new(py).into_any() })
                }
                Found::Members(members) => {
                    let dict = PyDict::new(py);
                    let mut keys = Keys::open(py);
                    for (key, value) in members {
                        let value = match value {
                            Value::Text(value) => self.input.cut(py, all, value).into_any(),
                            Value::Json(value) => json_with(py, value.as_str(all), &mut keys)?,
                        };
                        keys.with(key.as_str(all), |key| dict.set_item(key, value))?;
                    }
                    Ok(dict.into_any())
                }
            }
        })
    }

    /// What the constructor takes.
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("id", self.known_id(py)?)?;
        dict.set_item("name", &self.name)?;
        dict.set_item("arguments", self.json(py)?)?;
        dict.set_item("status", self.status(py))?;
        dict.set_item("repairs", self.repair_objects(py)?)?;
        dict.set_item("errors", self.error_objects(py)?)?;
        dict.set_item("raw", self.raw(py))?;
        if self.freeform {
            dict.set_item("freeform", true)?;
        }
        dict.set_item("evidence", self.evidence())?;
        dict.set_item("start", self.start(py))?;
        dict.set_item("end", self.end(py))?;
        Ok(dict)
    }
}

impl Faults {
    fn of(repairs: Vec<turn::Repair>, errors: Vec<turn::ArgumentError>) -> Option<Box<Self>> {
        (!repairs.is_empty() || !errors.is_empty()).then(|| Box::new(Self { repairs, errors }))
    }
}

/// The error of text that is no JSON, which says that it was given for the arguments.
fn no_arguments(py: Python<'_>, error: PyErr) -> PyErr {
    let message = error.value(py).to_string();
    Error::at(ErrorCode::BadJson, "arguments", format!("the text is no JSON: {message}")).into()
}

#[pymethods]
impl ToolCall {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("name", "arguments")
    }

    #[new]
    #[pyo3(signature = (name, arguments, *, id=None, status="ok", repairs=Vec::new(), errors=Vec::new(), raw=Whole(String::new()),
                        freeform=false, evidence=None, start=None, end=None),
           text_signature = "(name, arguments, *, id=None, status='ok', repairs=..., errors=..., raw=..., freeform=False, evidence=None, start=None, end=None)")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        py: Python<'_>,
        name: Whole,
        arguments: &Bound<'_, PyAny>,
        id: Option<Whole>,
        status: &str,
        repairs: Vec<PyRef<'_, Repair>>,
        errors: Vec<PyRef<'_, ArgumentError>>,
        raw: Whole,
        freeform: bool,
        evidence: Option<&str>,
        start: Option<Count>,
        end: Option<Count>,
    ) -> PyResult<Self> {
        let json = match arguments.cast::<PyString>() {
            Ok(json) => {
                let json = whole(json)?.into_owned();
                json_to_py(py, &json).map_err(|error| no_arguments(py, error))?;
                json
            }
            Err(_) => from_py(arguments)?.to_string(),
        };
        let mut status = word("status", CallStatus::ALL, CallStatus::as_str, status)?;
        let mut errors: Vec<_> = errors.iter().map(|error| error.0.clone()).collect();
        if status.runnable() && !json.trim_start().starts_with('{') {
            // No tool takes it, so it must not run.
            status = CallStatus::Invalid;
            errors.push(turn::ArgumentError::no_object());
        }
        let call = turn::ToolCall {
            id: id.map_or_else(turn::new_call_id, |id| id.0).into(),
            name: name.0.into(),
            arguments: turn::Arguments::Json(json.into()),
            status,
            repairs: repairs.iter().map(|repair| repair.0.clone()).collect(),
            errors,
            raw: raw.0.into(),
            freeform,
            evidence: evidence.map(|name| word("evidence", Evidence::ALL, Evidence::as_str, name)).transpose()?,
            span: Count::given(start, "start")?.zip(Count::given(end, "end")?).map(|(start, end)| start..end),
        };
        Ok(Self::from_core(py, call, None))
    }

    #[doc = stub!("ToolCall.id")]
    #[getter]
    fn id(&self, py: Python<'_>) -> PyResult<&Py<PyString>> {
        self.known_id(py)
    }

    #[doc = stub!("ToolCall.tool_id")]
    #[getter]
    fn tool_id(&self, py: Python<'_>) -> PyResult<&Py<PyString>> {
        self.known_id(py)
    }

    #[doc = stub!("ToolCall.tool_name")]
    #[getter]
    fn tool_name(&self) -> &Py<PyString> {
        &self.name
    }

    #[doc = stub!("ToolCall.arguments")]
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.object(py)
    }

    #[doc = stub!("ToolCall.arguments_json")]
    #[getter]
    fn arguments_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        self.json(py)
    }

    #[doc = stub!("ToolCall.status")]
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> &Bound<'py, PyString> {
        match self.status {
            CallStatus::Ok => intern!(py, "ok"),
            CallStatus::Repaired => intern!(py, "repaired"),
            CallStatus::Invalid => intern!(py, "invalid"),
            CallStatus::Malformed => intern!(py, "malformed"),
            CallStatus::Incomplete => intern!(py, "incomplete"),
            CallStatus::UnknownTool => intern!(py, "unknown_tool"),
        }
    }

    #[doc = stub!("ToolCall.runnable")]
    #[getter]
    fn runnable(&self) -> bool {
        self.status.runnable()
    }

    #[doc = stub!("ToolCall.repairs")]
    #[getter(repairs)]
    fn repair_objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple_of(py, self.repairs(), Repair)
    }

    #[doc = stub!("ToolCall.errors")]
    #[getter(errors)]
    fn error_objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple_of(py, self.errors(), ArgumentError)
    }

    #[doc = stub!("ToolCall.raw")]
    #[getter]
    fn raw<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.input.to_py(py, &self.raw)
    }

    #[doc = stub!("ToolCall.freeform")]
    #[getter]
    fn freeform(&self, py: Python<'_>) -> PyResult<bool> {
        self.is_freeform(py, None)
    }

    #[doc = stub!("ToolCall.evidence")]
    #[getter]
    fn evidence(&self) -> Option<&'static str> {
        self.evidence.map(Evidence::as_str)
    }

    #[doc = stub!("ToolCall.start")]
    #[getter]
    fn start(&self, py: Python<'_>) -> Option<usize> {
        self.input.characters(py, &self.place).map(|place| place.start)
    }

    #[doc = stub!("ToolCall.end")]
    #[getter]
    fn end(&self, py: Python<'_>) -> Option<usize> {
        self.input.characters(py, &self.place).map(|place| place.end)
    }

    #[doc = stub!("ToolCall._with_id")]
    fn _with_id(&self, py: Python<'_>, id: String) -> PyResult<Self> {
        let call = turn::ToolCall { id: id.into(), ..self.to_core(py)? };
        Ok(Self::from_core(py, call, self.offer()))
    }

    #[doc = stub!("ToolCall._with_errors")]
    fn _with_errors(&self, py: Python<'_>, errors: Vec<PyRef<'_, ArgumentError>>) -> PyResult<Self> {
        let errors = errors.iter().map(|error| error.0.clone()).collect();
        let call = turn::ToolCall { status: CallStatus::Invalid, errors, ..self.to_core(py)? };
        Ok(Self::from_core(py, call, self.offer()))
    }

    #[doc = stub!("ToolCall.into")]
    fn into<'py>(slf: &Bound<'py, Self>, model: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("toolglot._values")?.call_method1(intern!(slf.py(), "into"), (slf, model))
    }

    #[doc = stub!("ToolCall.error_message")]
    #[pyo3(signature = (tools=None, provider=None))]
    fn error_message(
        &self,
        py: Python<'_>,
        tools: Option<&Bound<'_, PyAny>>,
        provider: Option<&str>,
    ) -> PyResult<Option<String>> {
        let given = tools_argument(tools)?;
        let target = self.target(provider)?;
        let call = self.to_core(py)?;
        guard(|| schema::error_message(&call, given.as_deref().or_else(|| self.tools()), target.as_ref()))
    }

    #[doc = stub!("ToolCall.to_dict")]
    pub(super) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = self.fields(py)?;
        dict.set_item("arguments", self.object(py)?)?;
        let dicts = |records: Bound<'py, PyTuple>| {
            records.iter().map(|record| record.call_method0(intern!(py, "to_dict"))).collect::<PyResult<Vec<_>>>()
        };
        dict.set_item("repairs", dicts(self.repair_objects(py)?)?)?;
        dict.set_item("errors", dicts(self.error_objects(py)?)?)?;
        Ok(dict)
    }

    #[doc = stub!("ToolCall.to_openai")]
    fn to_openai<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        super::convert::to_py(py, &self.told(py, Provider::OpenAi, None)?.to_openai())
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<bool> {
        let other = other.get();
        Ok(self.status == other.status && self.faults == other.faults && self.fields(py)?.eq(other.fields(py)?)?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(hash((self.known_id(py)?.to_str(py)?, self.name.to_str(py)?, self.status)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let fields = self.fields(py)?;
        fields.set_item("arguments", self.object(py)?)?;
        fields.del_item("raw")?;
        repr_of("ToolCall", &fields)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), self.fields(py)?))
    }

    /// The tools that were offered: what the constructor does not take.
    fn __getstate__(&self) -> Option<ToolSet> {
        self.offer().map(|tools| ToolSet::of(Arc::clone(tools)))
    }

    fn __setstate__(&self, py: Python<'_>, state: Option<PyRef<'_, ToolSet>>) -> PyResult<()> {
        if let Some(tools) = state {
            let _ = self.unpickled.set(Arc::clone(tools.core(py)?));
        }
        Ok(())
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self._with_id(py, self.known_id(py)?.to_str(py)?.to_owned())
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__copy__(py)
    }
}
