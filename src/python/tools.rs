//! `toolglot.ToolSet` and `toolglot.Tool`: the tools offered in one turn.
use super::argument::Count;
use super::call::ToolCall;
use super::convert::{arguments_of, json_to_py, option, to_py};
use super::dialect::Spoken;
use super::guard::guard;
use super::messages::inject;
use super::plain::PlainDicts;
use super::report::{Loss, hash, tuple_of};
use super::served::Served;
use super::source::{self, Functions, JsonText, Source};
use super::text::{Whole, whole};
use crate::schema::convert::{Choice, Format, GeminiSchema, Target, ToolChoice};
use crate::schema::{self, Resolution};
use crate::{Error, ErrorCode};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple};
use std::sync::{Arc, OnceLock};

#[doc = stub!("ToolSet")]
#[pyclass(frozen, module = "toolglot", name = "ToolSet")]
#[derive(Debug)]
pub(super) struct ToolSet {
    core: OnceLock<Arc<schema::ToolSet>>,
    source: Source,
    served: Served,
    functions: Option<Functions>,
}

/// The name under which models without native tools stand beside the providers.
pub(super) const TEXT: &str = "text";

/// Whose spelling of names a message has: `None` for the tools' own names, which a model in text mode is told as well.
pub(super) fn told_target(provider: Option<&str>) -> Result<Option<Target>, Error> {
    provider.filter(|provider| *provider != TEXT).map(Target::named).transpose()
}

/// The target called `provider` with the keyword arguments of the caller.
fn target(provider: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Target> {
    if provider == TEXT {
        let message =
            "a model in text mode gets no declarations: `to_prompt` and `inject` write the tools into its prompt";
        return Err(Error::at(ErrorCode::UnknownProvider, provider, message).into());
    }
    let mut target = Target::named(provider)?;
    for (key, value) in options.into_iter().flatten() {
        match key.extract::<String>()?.as_str() {
            "strict" => target.strict = option(&value, "strict", "a bool")?,
            "describe" => target.describe = option(&value, "describe", "a bool")?,
            "model" => target.model = option(&value, "model", "a str or None")?,
            "budget" => target.budget = Count::given(option(&value, "budget", "a whole number or None")?, "budget")?,
            "schema" => target.gemini_schema = gemini_schema(&option::<String>(&value, "schema", "a str")?)?,
            other => {
                let message =
                    format!("no option is called {other:?}; there are strict, describe, model, budget, schema");
                return Err(PyTypeError::new_err(message));
            }
        }
    }
    let given = |name: &str| options.is_some_and(|options| options.get_item(name).is_ok_and(|value| value.is_some()));
    let told = [("schema", given("schema"), Format::Gemini), ("model", target.model.is_some(), Format::OpenRouter)];
    for (name, given, whose) in told {
        if given && target.format != whose {
            let message = format!("{name}= is for {}: for {provider:?} it says nothing", whose.name());
            return Err(Error::at(ErrorCode::BadOption, name, message).into());
        }
    }
    Ok(target)
}

fn gemini_schema(name: &str) -> Result<GeminiSchema, Error> {
    match name {
        "json_schema" => Ok(GeminiSchema::JsonSchema),
        "parameters" => Ok(GeminiSchema::Parameters),
        other => {
            let message = format!("{other:?} is neither \"json_schema\" nor \"parameters\"");
            Err(Error::at(ErrorCode::BadOption, "schema", message))
        }
    }
}

impl ToolSet {
    pub(super) fn of(set: Arc<schema::ToolSet>) -> Self {
        Self::with(set, None)
    }

    fn with(set: Arc<schema::ToolSet>, functions: Option<Functions>) -> Self {
        Self { core: set.into(), source: Source::Core, served: Served::default(), functions }
    }

    fn plain(source: Source) -> Self {
        Self { core: OnceLock::new(), source, served: Served::default(), functions: None }
    }

    /// The functions among the tools, by the tools' names.
    pub(super) fn functions(&self, py: Python<'_>) -> Option<Functions> {
        self.functions.as_ref().map(|functions| functions.clone_ref(py))
    }

    /// The tools as the core knows them, read when first asked for.
    pub(super) fn core(&self, py: Python<'_>) -> PyResult<&Arc<schema::ToolSet>> {
        if let Some(set) = self.core.get() {
            return Ok(set);
        }
        // Not read inside `get_or_init`: a thread that waits there keeps the interpreter from the one that reads.
        let set = self.source.read(py)?;
        Ok(self.core.get_or_init(|| set))
    }

    fn serve<'py>(&self, py: Python<'py>, target: &Target) -> PyResult<Bound<'py, PyList>> {
        self.served.list(py, target, || {
            if let Some(list) = self.source.to_list(py, target)? {
                return Ok(list);
            }
            // By way of JSON text, which becomes objects faster than any walk over values.
            let json = self.written(py, target)?;
            Ok(json_to_py(py, &String::from_utf8_lossy(json.as_bytes()))?.cast_into::<PyList>()?)
        })
    }

    /// The declarations as JSON text.
    fn written<'py>(&self, py: Python<'py>, target: &Target) -> PyResult<Bound<'py, PyBytes>> {
        if let Some(json) = self.source.to_json(py, target)? {
            return Ok(json);
        }
        let set = self.core(py)?;
        let json = guard(|| serde_json::to_vec(&set.declarations(&set.to(target))))?;
        let json = json.map_err(|e| Error::new(ErrorCode::BadTool, e.to_string()))?;
        Ok(PyBytes::new(py, &json))
    }

    fn tool(&self, py: Python<'_>, set: &Arc<schema::ToolSet>, position: usize) -> Option<Tool> {
        let known = position < set.tools().len();
        known.then(|| Tool { set: Arc::clone(set), position, functions: self.functions(py) })
    }
}

#[pymethods]
impl ToolSet {
    #[new]
    #[pyo3(signature = (tools=None, *, on_problem="keep"))]
    fn new(tools: Option<&Bound<'_, PyAny>>, on_problem: &str) -> PyResult<Self> {
        let Some(tools) = tools else { return Ok(Self::of(Arc::default())) };
        let raise = match on_problem {
            "keep" => false,
            "raise" => true,
            other => {
                let message = format!("{other:?} is neither \"keep\" nor \"raise\"");
                return Err(Error::at(ErrorCode::BadOption, "on_problem", message).into());
            }
        };
        if let Some(plain) = PlainDicts::read(tools).filter(|plain| !(raise && plain.has_problems())) {
            return Ok(Self::plain(Source::Dicts(plain)));
        }
        let (set, functions) = source::read_runnable(tools)?;
        match set.problems().first() {
            Some(problem) if raise => Err(problem.clone().into()),
            _ => Ok(Self::with(set, functions)),
        }
    }

    #[doc = stub!("ToolSet.from_json")]
    #[staticmethod]
    fn from_json(json: &Bound<'_, PyAny>) -> PyResult<Self> {
        match Source::plain_json(json.py(), JsonText::of(json)?)? {
            Some(plain) => Ok(Self::plain(plain)),
            None => Ok(Self::of(source::read_json(JsonText::of(json)?.bytes(json.py())?)?)),
        }
    }

    #[doc = stub!("ToolSet.to_openai")]
    #[pyo3(signature = (*, strict=false, describe=false))]
    fn to_openai<'py>(&self, py: Python<'py>, strict: bool, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { strict, describe, ..Target::new(Format::OpenAi) })
    }

    #[doc = stub!("ToolSet.to_openai_responses")]
    #[pyo3(signature = (*, strict=false, describe=false))]
    fn to_openai_responses<'py>(&self, py: Python<'py>, strict: bool, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { strict, describe, ..Target::new(Format::OpenAiResponses) })
    }

    #[doc = stub!("ToolSet.to_anthropic")]
    #[pyo3(signature = (*, strict=false, describe=false))]
    fn to_anthropic<'py>(&self, py: Python<'py>, strict: bool, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { strict, describe, ..Target::new(Format::Anthropic) })
    }

    #[doc = stub!("ToolSet.to_gemini")]
    #[pyo3(signature = (*, schema="json_schema", describe=false))]
    fn to_gemini<'py>(&self, py: Python<'py>, schema: &str, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { gemini_schema: gemini_schema(schema)?, describe, ..Target::new(Format::Gemini) })
    }

    #[doc = stub!("ToolSet.to_mistral")]
    #[pyo3(signature = (*, describe=false))]
    fn to_mistral<'py>(&self, py: Python<'py>, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { describe, ..Target::new(Format::Mistral) })
    }

    #[doc = stub!("ToolSet.to_cohere")]
    #[pyo3(signature = (*, describe=false))]
    fn to_cohere<'py>(&self, py: Python<'py>, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { describe, ..Target::new(Format::Cohere) })
    }

    #[doc = stub!("ToolSet.to_ollama")]
    #[pyo3(signature = (*, describe=false))]
    fn to_ollama<'py>(&self, py: Python<'py>, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { describe, ..Target::new(Format::Ollama) })
    }

    #[doc = stub!("ToolSet.to_bedrock")]
    #[pyo3(signature = (*, describe=false))]
    fn to_bedrock<'py>(&self, py: Python<'py>, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { describe, ..Target::new(Format::Bedrock) })
    }

    #[doc = stub!("ToolSet.to_mcp")]
    fn to_mcp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target::new(Format::Mcp))
    }

    #[doc = stub!("ToolSet.to")]
    #[pyo3(signature = (provider, **options))]
    fn to<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &target(provider, options)?)
    }

    #[doc = stub!("ToolSet.to_json")]
    #[pyo3(signature = (provider, **options))]
    fn to_json<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let target = target(provider, options)?;
        self.served.text(py, &target, || self.written(py, &target))
    }

    #[doc = stub!("ToolSet.losses")]
    #[pyo3(signature = (provider, **options))]
    fn losses<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let target = target(provider, options)?;
        let set = self.core(py)?;
        let converted = guard(|| set.to(&target))?;
        tuple_of(py, &converted.losses, Loss)
    }

    #[doc = stub!("ToolSet.names")]
    #[pyo3(signature = (provider, **options))]
    fn names<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let names = PyDict::new(py);
        if provider == TEXT {
            for tool in self.core(py)?.tools() {
                names.set_item(&tool.name, &tool.name)?;
            }
            return Ok(names);
        }
        for (spelling, name) in self.core(py)?.names(&target(provider, options)?) {
            names.set_item(spelling, name)?;
        }
        Ok(names)
    }

    #[doc = stub!("ToolSet.tool_choice")]
    #[pyo3(signature = (choice="auto", provider="openai", *, allowed=None, parallel=None, **options))]
    fn tool_choice<'py>(
        &self,
        py: Python<'py>,
        choice: &str,
        provider: &str,
        allowed: Option<Vec<String>>,
        parallel: Option<bool>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let target = target(provider, options)?;
        let set = self.core(py)?;
        let allowed: Option<Vec<&str>> = allowed.as_ref().map(|names| names.iter().map(String::as_str).collect());
        let choice = ToolChoice { choice: Choice::named(choice), allowed: allowed.as_deref(), parallel };
        to_py(py, &guard(|| set.tool_choice(provider, &target, &choice))??)
    }

    #[doc = stub!("ToolSet.response_schema")]
    #[pyo3(signature = (tool=None, provider="openai", **options))]
    fn response_schema<'py>(
        &self,
        py: Python<'py>,
        tool: Option<&str>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let target = target(provider, options)?;
        let set = self.core(py)?;
        to_py(py, &guard(|| set.response_schema(&target, tool))??)
    }

    #[doc = stub!("ToolSet.problems")]
    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let errors = self.core(py)?.problems().iter().map(|problem| PyErr::from(problem.clone()).into_value(py));
        PyTuple::new(py, errors)
    }

    #[doc = stub!("ToolSet.resolve")]
    fn resolve<'s>(&'s self, py: Python<'_>, name: Whole) -> PyResult<Option<&'s str>> {
        Ok(match self.core(py)?.resolve(&name.0) {
            Resolution::Exact(tool) | Resolution::Resolved(tool) => Some(&tool.name),
            Resolution::Unknown => None,
        })
    }

    #[doc = stub!("ToolSet.nearest")]
    fn nearest<'s>(&'s self, py: Python<'_>, name: Whole) -> PyResult<Vec<&'s str>> {
        Ok(self.core(py)?.nearest(&name.0))
    }

    #[doc = stub!("ToolSet.check")]
    #[pyo3(signature = (name, arguments, *, id=None))]
    fn check(
        &self,
        py: Python<'_>,
        name: Whole,
        arguments: &Bound<'_, PyAny>,
        id: Option<Whole>,
    ) -> PyResult<ToolCall> {
        let json = match arguments.cast::<PyString>() {
            Ok(json) => whole(json)?.into_owned(),
            Err(_) => arguments_of(arguments)?,
        };
        let set = self.core(py)?;
        let call = guard(|| set.check(&name.0, &json, id.map(|id| id.0)))?;
        Ok(ToolCall::from_core(py, call, Some(set)))
    }

    #[doc = stub!("ToolSet.error_message")]
    #[pyo3(signature = (call, provider=None))]
    fn error_message(
        &self,
        py: Python<'_>,
        call: &Bound<'_, ToolCall>,
        provider: Option<&str>,
    ) -> PyResult<Option<String>> {
        let target = call.get().target(provider)?;
        let call = call.get().to_core(py)?;
        let set = self.core(py)?;
        guard(|| set.error_message(&call, target.as_ref()))
    }

    #[doc = stub!("ToolSet.run")]
    #[pyo3(signature = (call, *, context=None))]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        call: &Bound<'py, PyAny>,
        context: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("toolglot._executed")?.call_method1(intern!(slf.py(), "run"), (slf, call, context))
    }

    #[doc = stub!("ToolSet.run_sync")]
    #[pyo3(signature = (call, *, context=None))]
    fn run_sync<'py>(
        slf: &Bound<'py, Self>,
        call: &Bound<'py, PyAny>,
        context: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("toolglot._executed")?.call_method1(intern!(slf.py(), "run_sync"), (slf, call, context))
    }

    #[doc = stub!("ToolSet.to_prompt")]
    #[pyo3(signature = (dialect=Spoken::auto()), text_signature = "($self, dialect='auto')")]
    fn to_prompt(&self, py: Python<'_>, dialect: Spoken) -> PyResult<String> {
        let set = self.core(py)?;
        Ok(guard(|| set.to_prompt(dialect.get()))??)
    }

    #[doc = stub!("ToolSet.inject")]
    #[pyo3(signature = (messages, dialect=Spoken::auto()), text_signature = "($self, messages, dialect='auto')")]
    fn inject<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        dialect: Spoken,
    ) -> PyResult<Bound<'py, PyList>> {
        inject(py, messages, &self.to_prompt(py, dialect)?)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match self.source.len() {
            Some(length) => Ok(length),
            None => Ok(self.core(py)?.tools().len()),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let set = self.core(py)?;
        let tools = (0..set.tools().len()).filter_map(|i| self.tool(py, set, i));
        PyTuple::new(py, tools.map(|tool| Bound::new(py, tool)).collect::<PyResult<Vec<_>>>()?)?.try_iter()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let set = self.core(name.py())?;
        Ok(match name.cast::<PyString>() {
            // Half a character is in no name.
            Ok(name) => name.to_str().is_ok_and(|name| set.get(name).is_some()),
            Err(_) => false,
        })
    }

    fn __getitem__(&self, py: Python<'_>, name: Bound<'_, PyString>) -> PyResult<Tool> {
        let set = self.core(py)?;
        let position = name.to_str().ok().and_then(|name| set.tools().iter().position(|tool| tool.name == name));
        position.and_then(|i| self.tool(py, set, i)).ok_or_else(|| PyKeyError::new_err(name.unbind()))
    }

    fn __eq__(&self, other: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(self.core(other.py())?.tools() == other.get().core(other.py())?.tools())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(hash(self.core(py)?.tools().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let names: Vec<_> = self.core(py)?.tools().iter().map(|tool| tool.name.as_str()).collect();
        Ok(format!("ToolSet({})", names.join(", ")))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyList>,))> {
        let items = self.core(py)?.tools().iter().map(|tool| to_py(py, &tool.to_value()));
        let items = PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?;
        Ok((py.get_type::<Self>().into_any(), (items,)))
    }

    /// Nothing in a set changes.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    // A method among the tools may belong to what holds the set. The dict can be cleared, which breaks such a ring.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.functions)
    }
}

/// What makes a tool again: `operator.getitem`, the set and the name.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, ToolSet>, String));

#[doc = stub!("Tool")]
#[pyclass(frozen, module = "toolglot", name = "Tool")]
#[derive(Debug)]
pub(super) struct Tool {
    set: Arc<schema::ToolSet>,
    position: usize,
    functions: Option<Functions>,
}

impl Tool {
    pub(super) fn tool(&self) -> PyResult<&schema::Tool> {
        // Made only for positions that there are.
        self.set.tools().get(self.position).ok_or_else(|| PyKeyError::new_err(self.position))
    }

    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.tool()?.source.fields.get(name).map(|value| to_py(py, value)).transpose()
    }
}

#[pymethods]
impl Tool {
    #[doc = stub!("Tool.name")]
    #[getter]
    fn name(&self) -> PyResult<&str> {
        Ok(&self.tool()?.name)
    }

    #[doc = stub!("Tool.description")]
    #[getter]
    fn description(&self) -> PyResult<&str> {
        Ok(&self.tool()?.description)
    }

    #[doc = stub!("Tool.schema")]
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_py(py, &self.tool()?.schema)
    }

    #[doc = stub!("Tool.server")]
    #[getter]
    fn server(&self) -> PyResult<Option<&str>> {
        Ok(self.tool()?.source.server.as_deref())
    }

    #[doc = stub!("Tool.original_name")]
    #[getter]
    fn original_name(&self) -> PyResult<&str> {
        Ok(self.tool()?.original_name())
    }

    #[doc = stub!("Tool.title")]
    #[getter]
    fn title<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, "title")
    }

    #[doc = stub!("Tool.annotations")]
    #[getter]
    fn annotations<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, "annotations")
    }

    #[doc = stub!("Tool.output_schema")]
    #[getter]
    fn output_schema<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, "outputSchema")
    }

    #[doc = stub!("Tool.function")]
    #[getter]
    pub(super) fn function<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.functions {
            Some(functions) => functions.bind(py).get_item(&self.tool()?.name),
            None => Ok(None),
        }
    }

    #[doc = stub!("Tool.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_py(py, &self.tool()?.to_value())
    }

    fn __eq__(&self, other: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(self.tool()? == other.get().tool()?)
    }

    fn __hash__(&self) -> PyResult<u64> {
        Ok(hash(&self.tool()?.name))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let tool = self.tool()?;
        // Alone, a tool that another server has too would lose its server's name before its own.
        let set = if tool.source.original.is_some() {
            ToolSet::of(Arc::clone(&self.set))
        } else {
            ToolSet::of(Arc::new(schema::ToolSet::from_values(&[tool.to_value()])?))
        };
        Ok((py.import("operator")?.getattr("getitem")?, (Bound::new(py, set)?, tool.name.clone())))
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("Tool({:?})", self.tool()?.name))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.functions)
    }
}
