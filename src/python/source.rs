//! Where the tools of a `toolglot.ToolSet` come from. What is plain is kept as it came, and read into the core's
//! [`schema::ToolSet`] only once something is asked that needs it.
use super::convert::{a_type, from_py, refused};
use super::guard::guard;
use super::plain::PlainDicts;
use super::tools::{Tool, ToolSet};
use crate::schema::convert::Target;
use crate::schema::plain::PlainTools;
use crate::schema::{self, Builder};
use crate::{Error, ErrorCode};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyType};
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;

/// Tools that are not read yet.
#[derive(Debug)]
pub(super) enum Source {
    /// Everything is in the core.
    Core,
    Dicts(PlainDicts),
    Json(JsonText, PlainTools),
}

/// JSON as it was given: neither bytes nor a string of Python ever changes.
#[derive(Debug)]
pub(super) enum JsonText {
    Bytes(Py<PyBytes>),
    Text(Py<PyString>),
}

impl JsonText {
    pub(super) fn of(json: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(match json.cast::<PyBytes>() {
            Ok(bytes) => Self::Bytes(bytes.clone().unbind()),
            Err(_) => Self::Text(json.cast::<PyString>()?.clone().unbind()),
        })
    }

    pub(super) fn bytes<'py>(&'py self, py: Python<'py>) -> PyResult<&'py [u8]> {
        Ok(match self {
            Self::Bytes(bytes) => bytes.as_bytes(py),
            Self::Text(text) => text.to_str(py)?.as_bytes(),
        })
    }
}

impl Source {
    /// The tools of a JSON text, if all are plain.
    pub(super) fn plain_json(py: Python<'_>, json: JsonText) -> PyResult<Option<Self>> {
        let plain = std::str::from_utf8(json.bytes(py)?).ok().and_then(PlainTools::read);
        Ok(plain.map(|plain| Self::Json(json, plain)))
    }

    /// How many tools there are, if that is known without reading them.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Core => None,
            Self::Dicts(dicts) => Some(dicts.len()),
            Self::Json(_, plain) => Some(plain.len()),
        }
    }

    /// Reads what is kept.
    pub(super) fn read(&self, py: Python<'_>) -> PyResult<Arc<schema::ToolSet>> {
        match self {
            Self::Core => Ok(Arc::default()),
            Self::Dicts(dicts) => {
                let mut builder = Builder::default();
                dicts.items(py)?.into_iter().for_each(|item| builder.item(None, Ok(item)));
                Ok(Arc::new(guard(|| builder.finish())??))
            }
            Self::Json(json, _) => read_json(json.bytes(py)?),
        }
    }

    /// The declarations as dicts, where they only have to be wrapped.
    pub(super) fn to_list<'py>(&self, py: Python<'py>, target: &Target) -> PyResult<Option<Bound<'py, PyList>>> {
        match self {
            Self::Dicts(dicts) => dicts.serve(py, target),
            _ => Ok(None),
        }
    }

    /// The declarations as JSON text, where they only have to be wrapped.
    pub(super) fn to_json<'py>(&self, py: Python<'py>, target: &Target) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Self::Json(json, plain) = self else { return Ok(None) };
        let text = json.bytes(py)?;
        let Some(written) = plain.declarations(text, target) else { return Ok(None) };
        // Into the object itself: a megabyte is not written twice.
        let json = PyBytes::new_with(py, written.pieces().map(<[u8]>::len).sum(), |mut rest| {
            for piece in written.pieces() {
                rest.write_all(piece)?;
            }
            Ok(())
        })?;
        Ok(Some(json))
    }
}

/// Tools from JSON text: a list of them, or an object that holds one.
pub(super) fn read_json(json: &[u8]) -> PyResult<Arc<schema::ToolSet>> {
    let text = std::str::from_utf8(json).map_err(|e| Error::new(ErrorCode::BadJson, e.to_string()))?;
    Ok(Arc::new(guard(|| schema::ToolSet::from_json(text))??))
}

/// Python functions by the names of their tools.
pub(super) type Functions = Py<PyDict>;

/// What `ToolSet(...)` was given, item by item.
#[derive(Default)]
struct Items {
    builder: Builder,
    /// Items that can be called, each with the server and the name that its tool has there.
    functions: Vec<(Option<String>, String, Py<PyAny>)>,
}

impl Items {
    fn finish(self, py: Python<'_>) -> PyResult<(Arc<schema::ToolSet>, Option<Functions>)> {
        let Self { builder, functions } = self;
        let set = guard(|| builder.finish())??;
        if functions.is_empty() {
            return Ok((Arc::new(set), None));
        }
        let by_name = PyDict::new(py);
        for (server, name, function) in functions {
            let same = |tool: &&schema::Tool| tool.source.server == server && tool.original_name() == name;
            // Of two tools with one name the first is offered, and so its function runs.
            if let Some(tool) = set.tools().iter().find(same)
                && !by_name.contains(&tool.name)?
            {
                by_name.set_item(&tool.name, function)?;
            }
        }
        Ok((Arc::new(set), Some(by_name.unbind())))
    }
}

/// Reads what `ToolSet(...)` takes: a list of tools, a dict of lists by server, or one object that holds tools.
pub(super) fn read(tools: &Bound<'_, PyAny>) -> PyResult<Arc<schema::ToolSet>> {
    if let Ok(set) = tools.cast::<ToolSet>() {
        return Ok(Arc::clone(set.get().core(tools.py())?));
    }
    Ok(read_runnable(tools)?.0)
}

/// As [`read`], with the functions among the tools.
pub(super) fn read_runnable(tools: &Bound<'_, PyAny>) -> PyResult<(Arc<schema::ToolSet>, Option<Functions>)> {
    let py = tools.py();
    if let Ok(set) = tools.cast::<ToolSet>() {
        return Ok((Arc::clone(set.get().core(py)?), set.get().functions(py)));
    }
    if tools.is_instance_of::<PyString>() || tools.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err(format!("tools is a list of tools, not {}", a_type(tools))));
    }
    let mut read = Items::default();
    match tools.cast::<PyDict>() {
        Ok(dict) if by_server(dict) => {
            for (server, items) in dict {
                let server = server.extract::<String>()?;
                read_items(&items, Some(&server), &mut read)?;
            }
        }
        Ok(dict) => match listed(dict) {
            // One tool in it that cannot be written as JSON does not spoil its siblings.
            Some(items) if value_of(dict).is_err() => read_items(&items, None, &mut read)?,
            _ => read_item(dict, None, &mut read)?,
        },
        // An SDK's object that holds a list of tools.
        Err(_) if tools.hasattr("model_dump")? => read_item(tools, None, &mut read)?,
        Err(_) => read_items(tools, None, &mut read)?,
    }
    read.finish(py)
}

/// Under which an object holds a list of tools.
const LISTS: [&str; 3] = ["tools", "functionDeclarations", "function_declarations"];

/// A dict of lists by server, not a tool and not an object with a list of tools.
fn by_server(dict: &Bound<'_, PyDict>) -> bool {
    let tool = ["name", "function", "toolSpec"];
    !tool.iter().chain(&LISTS).any(|key| dict.contains(key).unwrap_or(false))
}

/// The list of tools that an object holds.
fn listed<'py>(dict: &Bound<'py, PyDict>) -> Option<Bound<'py, PyAny>> {
    let items = LISTS.iter().find_map(|key| dict.get_item(key).ok().flatten())?;
    items.is_instance_of::<PyList>().then_some(items)
}

fn read_items(items: &Bound<'_, PyAny>, server: Option<&str>, read: &mut Items) -> PyResult<()> {
    if items.is_instance_of::<PyDict>() || items.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!("tools is a list of tools, not {}", a_type(items))));
    }
    let iterator = items.try_iter().map_err(|_| {
        if let Some(message) = session(items) {
            return PyTypeError::new_err(message);
        }
        let what = server.map_or_else(|| "tools".to_owned(), |server| format!("tools[{server:?}]"));
        PyTypeError::new_err(format!("{what} is a list of tools, not {}", a_type(items)))
    })?;
    for item in iterator {
        read_item(&item?, server, read)?;
    }
    Ok(())
}

/// What to say of an MCP session, whose tools are asked for over its connection; `None` if this is none.
fn session(item: &Bound<'_, PyAny>) -> Option<String> {
    let name = if item.hasattr("list_tools").unwrap_or(false) { a_type(item) } else { return None };
    Some(format!("{name} is a session and no tool: `await toolglot.mcp.list_tools(session)` makes a ToolSet of it"))
}

/// One tool. What cannot be written as JSON is a problem of this tool alone.
fn read_item(item: &Bound<'_, PyAny>, server: Option<&str>, read: &mut Items) -> PyResult<()> {
    match value_of(item) {
        Ok(value) => {
            if let Some((own_server, name, function)) = function_of(item, &value)? {
                read.functions.push((own_server.or_else(|| server.map(str::to_owned)), name, function));
            }
            read.builder.item(server, Ok(value));
        }
        Err(error) if error.is_instance_of::<PyException>(item.py()) => {
            let message = error.value(item.py()).to_string();
            read.builder.item(server, Err(Error::new(ErrorCode::BadTool, message)));
        }
        // KeyboardInterrupt and its like.
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The server, the name there and the function of an item that can be run.
type Function = (Option<String>, String, Py<PyAny>);

/// What of an item can be run; `value` is its declaration.
fn function_of(item: &Bound<'_, PyAny>, value: &Value) -> PyResult<Option<Function>> {
    let py = item.py();
    if let Ok(tool) = item.cast::<Tool>() {
        let (tool, function) = (tool.get().tool()?, tool.get().function(py)?);
        return Ok(
            function.map(|function| (tool.source.server.clone(), tool.original_name().to_owned(), function.unbind()))
        );
    }
    if item.is_instance_of::<PyDict>() {
        return Ok(None);
    }
    let runs = py.import("toolglot.functions")?.call_method1(intern!(py, "is_function"), (item,))?.is_truthy()?;
    let name = value.get("name").and_then(Value::as_str);
    Ok(name.filter(|_| runs).map(|name| (None, name.to_owned(), item.clone().unbind())))
}

/// One tool, in whatever shape, as a value.
pub(super) fn value_of(item: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(tool) = item.cast::<Tool>() {
        return Ok(tool.get().tool()?.to_value());
    }
    if item.is_instance_of::<PyDict>() {
        return from_py(item);
    }
    let described = item.py().import("toolglot.functions")?.call_method1(intern!(item.py(), "describe"), (item,))?;
    if !described.is_none() {
        return from_py(&described);
    }
    from_py(item).map_err(|error| {
        refused(item, error, || {
            if let Some(message) = session(item) {
                return message;
            }
            let is_class = item.is_instance_of::<PyType>();
            let name = if is_class { item.getattr("__name__").map(|name| name.to_string()).ok() } else { None };
            let what = name.map_or_else(|| a_type(item), |name| format!("the class {name}"));
            format!("{what} is no tool: a tool is a declaration (a dict or an SDK's object), a typed function or a pydantic model")
        })
    })
}

/// What `tools=` means: None, a ToolSet, or tools as a ToolSet takes them.
pub(super) fn tools_argument(tools: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<schema::ToolSet>>> {
    tools.map(read).transpose()
}
