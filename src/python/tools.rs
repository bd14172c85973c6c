//! `toolglot.ToolSet`, `toolglot.Tool` and `toolglot.Loss`: the tools offered in one turn.
use super::call::ToolCall;
use super::convert::{from_py, json_to_py, to_py, type_name};
use super::guard::guard;
use super::report::{hash, repr_of};
use super::text::Input;
use crate::schema::convert::{self, Converted, Format, GeminiSchema, Target};
use crate::schema::{self, Builder, Resolution};
use crate::{Error, ErrorCode};
use pyo3::exceptions::{PyException, PyKeyError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// The tools offered in one turn.
#[pyclass(frozen, module = "toolglot", name = "ToolSet")]
#[derive(Debug)]
pub(super) struct ToolSet {
    pub(super) set: Arc<schema::ToolSet>,
    /// What was handed out before, so that serving it again costs nothing.
    served: Mutex<Vec<(Arc<Converted>, Py<PyList>)>>,
}

/// The target called `provider` with the keyword arguments of the caller.
fn target(provider: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Target> {
    let mut target = Target::named(provider)?;
    for (key, value) in options.into_iter().flatten() {
        match key.extract::<String>()?.as_str() {
            "strict" => target.strict = value.extract()?,
            "describe" => target.describe = value.extract()?,
            "model" => target.model = value.extract()?,
            "budget" => target.budget = value.extract()?,
            "schema" => target.gemini_schema = gemini_schema(&value.extract::<String>()?)?,
            other => {
                let message =
                    format!("no option is called {other:?}; there are strict, describe, model, budget, schema");
                return Err(PyTypeError::new_err(message));
            }
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
    fn of(set: Arc<schema::ToolSet>) -> Self {
        Self { set, served: Mutex::default() }
    }

    fn serve<'py>(&self, py: Python<'py>, target: &Target) -> PyResult<Bound<'py, PyList>> {
        let converted = guard(|| self.set.to(target))?;
        let known = {
            let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
            served.iter().find(|(c, _)| Arc::ptr_eq(c, &converted)).map(|(_, list)| list.clone_ref(py))
        };
        let list = match known {
            Some(list) => list.into_bound(py),
            None => {
                let list = self.written(py, &converted)?;
                let entry = (converted, list.clone().unbind());
                self.served.lock().unwrap_or_else(PoisonError::into_inner).push(entry);
                list
            }
        };
        // A list of one's own, so that a provider's own tools can be added to it.
        Ok(list.get_slice(0, list.len()))
    }

    /// The declarations as Python objects, by way of JSON text, which is built faster than any walk over values.
    fn written<'py>(&self, py: Python<'py>, converted: &Converted) -> PyResult<Bound<'py, PyList>> {
        let json = guard(|| serde_json::to_string(&self.set.declarations(converted)))?;
        let json = json.map_err(|e| Error::new(ErrorCode::BadTool, e.to_string()))?;
        Ok(json_to_py(py, &json)?.cast_into::<PyList>()?)
    }

    fn tool(&self, position: usize) -> Option<Tool> {
        (position < self.set.tools().len()).then(|| Tool { set: Arc::clone(&self.set), position })
    }
}

#[pymethods]
impl ToolSet {
    #[new]
    #[pyo3(signature = (tools=None, *, on_problem="keep"))]
    fn new(tools: Option<&Bound<'_, PyAny>>, on_problem: &str) -> PyResult<Self> {
        let set = tools.map_or_else(|| Ok(Arc::default()), read)?;
        match (on_problem, set.problems().first()) {
            ("raise", Some(problem)) => Err(problem.clone().into()),
            ("keep" | "raise", _) => Ok(Self::of(set)),
            (other, _) => {
                let message = format!("{other:?} is neither \"keep\" nor \"raise\"");
                Err(Error::at(ErrorCode::BadOption, "on_problem", message).into())
            }
        }
    }

    /// Tools from JSON text: a list of them, or an object that holds one.
    #[staticmethod]
    fn from_json(json: &Bound<'_, PyAny>) -> PyResult<Self> {
        let value: serde_json::Result<Value> = match json.cast::<PyBytes>() {
            Ok(bytes) => serde_json::from_slice(bytes.as_bytes()),
            Err(_) => serde_json::from_str(json.cast::<PyString>()?.to_str()?),
        };
        let value = value.map_err(|e| Error::new(ErrorCode::BadJson, e.to_string()))?;
        let items = match value {
            Value::Array(items) => items,
            one => vec![one],
        };
        let mut builder = Builder::default();
        items.into_iter().for_each(|item| builder.item(None, Ok(item)));
        Ok(Self::of(Arc::new(guard(|| builder.finish())??)))
    }

    #[pyo3(signature = (*, strict=false, describe=false))]
    fn to_openai<'py>(&self, py: Python<'py>, strict: bool, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { strict, describe, ..Target::new(Format::OpenAi) })
    }

    #[pyo3(signature = (*, strict=false, describe=false))]
    fn to_openai_responses<'py>(&self, py: Python<'py>, strict: bool, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { strict, describe, ..Target::new(Format::OpenAiResponses) })
    }

    #[pyo3(signature = (*, strict=false, describe=false))]
    fn to_anthropic<'py>(&self, py: Python<'py>, strict: bool, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { strict, describe, ..Target::new(Format::Anthropic) })
    }

    #[pyo3(signature = (*, schema="json_schema", describe=false))]
    fn to_gemini<'py>(&self, py: Python<'py>, schema: &str, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { gemini_schema: gemini_schema(schema)?, describe, ..Target::new(Format::Gemini) })
    }

    #[pyo3(signature = (*, describe=false))]
    fn to_mistral<'py>(&self, py: Python<'py>, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { describe, ..Target::new(Format::Mistral) })
    }

    #[pyo3(signature = (*, describe=false))]
    fn to_cohere<'py>(&self, py: Python<'py>, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { describe, ..Target::new(Format::Cohere) })
    }

    #[pyo3(signature = (*, describe=false))]
    fn to_ollama<'py>(&self, py: Python<'py>, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { describe, ..Target::new(Format::Ollama) })
    }

    #[pyo3(signature = (*, describe=false))]
    fn to_bedrock<'py>(&self, py: Python<'py>, describe: bool) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target { describe, ..Target::new(Format::Bedrock) })
    }

    fn to_mcp<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &Target::new(Format::Mcp))
    }

    #[pyo3(signature = (provider, **options))]
    fn to<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.serve(py, &target(provider, options)?)
    }

    /// The same as JSON text.
    #[pyo3(signature = (provider, **options))]
    fn to_json<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let target = target(provider, options)?;
        let json = guard(|| serde_json::to_vec(&self.set.declarations(&self.set.to(&target))))?;
        let json = json.map_err(|e| Error::new(ErrorCode::BadTool, e.to_string()))?;
        Ok(PyBytes::new(py, &json))
    }

    #[pyo3(signature = (provider, **options))]
    fn losses<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let target = target(provider, options)?;
        let converted = guard(|| self.set.to(&target))?;
        super::report::tuple_of(py, &converted.losses, Loss)
    }

    #[pyo3(signature = (provider, **options))]
    fn names<'py>(
        &self,
        py: Python<'py>,
        provider: &str,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let names = PyDict::new(py);
        for (spelling, name) in self.set.names(&target(provider, options)?) {
            names.set_item(spelling, name)?;
        }
        Ok(names)
    }

    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let errors = self.set.problems().iter().map(|problem| PyErr::from(problem.clone()).into_value(py));
        PyTuple::new(py, errors)
    }

    fn resolve<'s>(&'s self, name: &str) -> Option<&'s str> {
        match self.set.resolve(name) {
            Resolution::Exact(tool) | Resolution::Resolved(tool) => Some(&tool.name),
            Resolution::Unknown => None,
        }
    }

    fn nearest(&self, name: &str) -> Vec<&str> {
        self.set.nearest(name)
    }

    /// A call of `name` with these arguments, settled as a model's would be.
    #[pyo3(signature = (name, arguments, *, id=None))]
    fn check(
        &self,
        py: Python<'_>,
        name: &str,
        arguments: &Bound<'_, PyAny>,
        id: Option<String>,
    ) -> PyResult<ToolCall> {
        let json = match arguments.cast::<PyString>() {
            Ok(json) => json.to_str()?.to_owned(),
            Err(_) => from_py(arguments)?.to_string(),
        };
        let call = guard(|| self.set.check(name, &json, id))?;
        Ok(ToolCall::from_core(py, call, &Input::NONE))
    }

    fn error_message(&self, py: Python<'_>, call: &Bound<'_, ToolCall>) -> PyResult<Option<String>> {
        let call = call.get().to_core(py)?;
        guard(|| self.set.error_message(&call))
    }

    #[pyo3(signature = (dialect="auto"))]
    fn to_prompt(&self, dialect: &str) -> PyResult<String> {
        Ok(guard(|| self.set.to_prompt(dialect))??)
    }

    #[pyo3(signature = (messages, dialect="auto"))]
    fn inject<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        dialect: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        inject(py, messages, &self.to_prompt(dialect)?)
    }

    fn __len__(&self) -> usize {
        self.set.tools().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let tools = (0..self.set.tools().len()).filter_map(|i| self.tool(i));
        PyTuple::new(py, tools.map(|tool| Bound::new(py, tool)).collect::<PyResult<Vec<_>>>()?)?.try_iter()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(match name.cast::<PyString>() {
            Ok(name) => self.set.get(name.to_str()?).is_some(),
            Err(_) => false,
        })
    }

    fn __getitem__(&self, name: &str) -> PyResult<Tool> {
        let position = self.set.tools().iter().position(|tool| tool.name == name);
        position.and_then(|i| self.tool(i)).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn __eq__(&self, other: &Bound<'_, Self>) -> bool {
        self.set.tools() == other.get().set.tools()
    }

    fn __hash__(&self) -> u64 {
        hash(self.set.tools().iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>())
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.set.tools().iter().map(|tool| tool.name.as_str()).collect();
        format!("ToolSet({})", names.join(", "))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyList>,))> {
        let items = self.set.tools().iter().map(|tool| to_py(py, &tool.to_value()));
        let items = PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?;
        Ok((py.get_type::<Self>().into_any(), (items,)))
    }
}

/// One offered tool.
#[pyclass(frozen, module = "toolglot", name = "Tool")]
#[derive(Debug)]
pub(super) struct Tool {
    set: Arc<schema::ToolSet>,
    position: usize,
}

impl Tool {
    fn tool(&self) -> PyResult<&schema::Tool> {
        // Made only for positions that there are.
        self.set.tools().get(self.position).ok_or_else(|| PyKeyError::new_err(self.position))
    }

    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.tool()?.source.fields.get(name).map(|value| to_py(py, value)).transpose()
    }
}

#[pymethods]
impl Tool {
    #[getter]
    fn name(&self) -> PyResult<&str> {
        Ok(&self.tool()?.name)
    }

    #[getter]
    fn description(&self) -> PyResult<&str> {
        Ok(&self.tool()?.description)
    }

    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_py(py, &self.tool()?.schema)
    }

    #[getter]
    fn server(&self) -> PyResult<Option<&str>> {
        Ok(self.tool()?.source.server.as_deref())
    }

    #[getter]
    fn original_name(&self) -> PyResult<&str> {
        Ok(self.tool()?.original_name())
    }

    #[getter]
    fn title<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, "title")
    }

    #[getter]
    fn annotations<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, "annotations")
    }

    #[getter]
    fn output_schema<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, "outputSchema")
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_py(py, &self.tool()?.to_value())
    }

    fn __eq__(&self, other: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(self.tool()? == other.get().tool()?)
    }

    fn __hash__(&self) -> PyResult<u64> {
        Ok(hash(&self.tool()?.name))
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("Tool({:?})", self.tool()?.name))
    }
}

/// One thing that a provider is told less exactly than the tool's schema says it, or not at all.
#[pyclass(frozen, module = "toolglot", name = "Loss")]
#[derive(Debug)]
pub(super) struct Loss(convert::Loss);

#[pymethods]
impl Loss {
    #[getter]
    fn tool(&self) -> &str {
        &self.0.tool
    }

    #[getter]
    fn pointer(&self) -> &str {
        &self.0.pointer
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.as_str()
    }

    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("tool", self.tool())?;
        dict.set_item("pointer", self.pointer())?;
        dict.set_item("kind", self.kind())?;
        dict.set_item("message", self.message())?;
        Ok(dict)
    }

    fn __eq__(&self, other: &Bound<'_, Self>) -> bool {
        self.0 == other.get().0
    }

    fn __hash__(&self) -> u64 {
        hash((&self.0.tool, &self.0.pointer, self.0.kind, &self.0.message))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        repr_of("Loss", &self.to_dict(py)?)
    }
}

/// Reads what `ToolSet(...)` takes: a list of tools, a dict of lists by server, or one object that holds tools.
fn read(tools: &Bound<'_, PyAny>) -> PyResult<Arc<schema::ToolSet>> {
    if let Ok(set) = tools.cast::<ToolSet>() {
        return Ok(Arc::clone(&set.get().set));
    }
    if tools.is_instance_of::<PyString>() || tools.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err(format!("tools is a list of tools, not a {}", type_name(tools))));
    }
    let mut builder = Builder::default();
    match tools.cast::<PyDict>() {
        Ok(dict) if by_server(dict) => {
            for (server, items) in dict {
                let server = server.extract::<String>()?;
                read_items(&items, Some(&server), &mut builder)?;
            }
        }
        Ok(dict) => read_item(dict, None, &mut builder)?,
        // An SDK's object that holds a list of tools.
        Err(_) if tools.hasattr("model_dump")? => read_item(tools, None, &mut builder)?,
        Err(_) => read_items(tools, None, &mut builder)?,
    }
    Ok(Arc::new(guard(|| builder.finish())??))
}

/// A dict of lists by server, not a tool and not an object with a list of tools.
fn by_server(dict: &Bound<'_, PyDict>) -> bool {
    const OWN: [&str; 6] = ["name", "function", "toolSpec", "tools", "functionDeclarations", "function_declarations"];
    !OWN.iter().any(|key| dict.contains(key).unwrap_or(false))
}

fn read_items(items: &Bound<'_, PyAny>, server: Option<&str>, builder: &mut Builder) -> PyResult<()> {
    if items.is_instance_of::<PyDict>() || items.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!("tools is a list of tools, not a {}", type_name(items))));
    }
    for item in items.try_iter()? {
        read_item(&item?, server, builder)?;
    }
    Ok(())
}

/// One tool. What cannot be written as JSON is a problem of this tool alone.
fn read_item(item: &Bound<'_, PyAny>, server: Option<&str>, builder: &mut Builder) -> PyResult<()> {
    if let Ok(tool) = item.cast::<Tool>() {
        builder.item(server, Ok(tool.get().tool()?.to_value()));
        return Ok(());
    }
    match value_of(item) {
        Ok(value) => builder.item(server, Ok(value)),
        Err(error) if error.is_instance_of::<PyException>(item.py()) => {
            let message = error.value(item.py()).to_string();
            builder.item(server, Err(Error::new(ErrorCode::BadTool, message)));
        }
        // KeyboardInterrupt and its like.
        Err(error) => return Err(error),
    }
    Ok(())
}

fn value_of(item: &Bound<'_, PyAny>) -> PyResult<Value> {
    if item.is_instance_of::<PyDict>() {
        return from_py(item);
    }
    let described = item.py().import("toolglot.functions")?.call_method1(intern!(item.py(), "describe"), (item,))?;
    from_py(if described.is_none() { item } else { &described })
}

/// What `tools=` means: None, a ToolSet, or tools as a ToolSet takes them.
pub(super) fn tools_argument(tools: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<schema::ToolSet>>> {
    tools.map(read).transpose()
}

/// The messages with `prompt` in the system message: at its end if there is one, else as a new first message. The
/// caller's list and messages stay as they are.
fn inject<'py>(py: Python<'py>, messages: &Bound<'py, PyAny>, prompt: &str) -> PyResult<Bound<'py, PyList>> {
    let out = PyList::empty(py);
    for message in messages.try_iter()? {
        out.append(message?)?;
    }
    if prompt.is_empty() {
        return Ok(out);
    }
    for (i, message) in out.iter().enumerate() {
        let Ok(message) = message.cast::<PyDict>() else { continue };
        let role = message.get_item("role")?.and_then(|role| role.extract::<String>().ok());
        if !matches!(role.as_deref(), Some("system" | "developer")) {
            continue;
        }
        let message = message.copy()?;
        match message.get_item("content")?.filter(|content| !content.is_none()) {
            None => message.set_item("content", prompt)?,
            Some(content) => match content.cast::<PyString>() {
                Ok(text) => {
                    let text = text.to_str()?;
                    // Injected before: once is enough.
                    if text.contains(prompt) {
                        return Ok(out);
                    }
                    let joined = if text.trim().is_empty() { prompt.to_owned() } else { format!("{text}\n\n{prompt}") };
                    message.set_item("content", joined)?;
                }
                Err(_) => {
                    let parts = PyList::empty(py);
                    for part in content.try_iter()? {
                        parts.append(part?)?;
                    }
                    let part = PyDict::new(py);
                    part.set_item("type", "text")?;
                    part.set_item("text", prompt)?;
                    parts.append(part)?;
                    message.set_item("content", parts)?;
                }
            },
        }
        out.set_item(i, message)?;
        return Ok(out);
    }
    let message = PyDict::new(py);
    message.set_item("role", "system")?;
    message.set_item("content", prompt)?;
    out.insert(0, message)?;
    Ok(out)
}
