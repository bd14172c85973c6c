//! Messages to models: tools' results, assistants' messages, prompts in them, and whole histories.
use super::argument::Count;
use super::blobs::{message_to_py, messages_to_py, system_to_py};
use super::call::ToolCall;
use super::convert::{a_type, from_payload, from_result, is_described, is_its_own, to_py, type_name};
use super::dialect::Spoken;
use super::guard::{guard, guard_detached};
use super::provider::provider_argument;
use super::report::Issue;
use super::source::tools_argument;
use super::text::{Whole, bytes_of, whole};
use super::turn::Turn;
use crate::provider::{self, Called, Provider, ResultOptions, ToolResult};
use crate::schema;
use crate::turn;
use crate::{Error, ErrorCode};
use pyo3::exceptions::{PyBaseException, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyString};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The call that a result answers, from a ToolCall, any provider's dict or object, or the id alone. The name is spelt as it was
/// told there.
fn call_argument(call: &Bound<'_, PyAny>, to: &Destination, tools: Option<&schema::ToolSet>) -> PyResult<Called> {
    if let Ok(call) = call.cast::<ToolCall>() {
        let (py, call) = (call.py(), call.get());
        let (id, name) = (call.known_id(py)?.to_str(py)?, call.name.to_str(py)?);
        let told = to.told(tools.or_else(|| call.tools()), name.to_owned());
        return Ok(Called { freeform: call.is_freeform(py, tools)?, ..Called::new(id, &told) });
    }
    let call = provider::call_of(&from_payload::<Value>(call)?)?;
    let freeform = call.freeform || tools.is_some_and(|tools| tools.takes_text(&call.name));
    // An id alone has no name.
    let name = if call.name.is_empty() { call.name } else { to.told(tools, call.name) };
    Ok(Called { name, freeform, ..call })
}

/// What has not run yet is no result: nobody awaited it, or asked for what it yields. Its type says so, as an object may answer to
/// any name (a dict with `__getattr__ = dict.get`).
fn is_pending(result: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (py, kind) = (result.py(), result.get_type());
    let has = |name| Ok::<_, PyErr>(kind.getattr_opt(name)?.is_some());
    Ok(has(intern!(py, "__await__"))? || has(intern!(py, "__anext__"))? || has(intern!(py, "gi_frame"))?)
}

/// A tool's result: JSON, bytes, an exception, or anything else by its `str`.
fn result_argument(call: Called, result: &Bound<'_, PyAny>, is_error: bool) -> PyResult<ToolResult> {
    let read = |value: &Value, is_error| ToolResult {
        freeform: call.freeform,
        ..ToolResult::new(&call.id, &call.name, value, is_error)
    };
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
        return Ok(read(&Value::String(text), true));
    }
    if let Some(bytes) = bytes_of(result) {
        return Ok(read(&provider::bytes_result(&bytes), is_error));
    }
    Ok(read(&from_result(result)?, is_error))
}

/// Where messages go: a provider, or text of a dialect.
enum Destination {
    Provider(Provider),
    Text(Spoken),
}

impl Destination {
    /// A tool's name as it stands in a message. In text mode the model was told the real ones.
    fn told(&self, tools: Option<&schema::ToolSet>, name: String) -> String {
        match self {
            Self::Provider(provider) => provider.told(tools, &name).into_owned(),
            Self::Text(_) => name,
        }
    }
}

fn destination(provider: &str, dialect: Option<Spoken>) -> PyResult<Destination> {
    if provider == "text" {
        return Ok(Destination::Text(dialect.map_or_else(|| Ok(Spoken::auto()), Spoken::known)?));
    }
    if dialect.is_some() {
        let message = "dialect= is for provider=\"text\"";
        return Err(Error::at(ErrorCode::BadOption, "dialect", message).into());
    }
    let found = Provider::from_name(provider).map_err(|mut error| {
        error.message.push_str(", and text for a model without native tools");
        error
    })?;
    Ok(Destination::Provider(found))
}

fn result_options(
    to: &Destination,
    max_chars: Option<Count>,
    harden: Option<bool>,
    tools: Option<Arc<schema::ToolSet>>,
) -> PyResult<ResultOptions> {
    let max_chars = max_chars.map(|count| count.get("max_chars")).transpose()?;
    Ok(ResultOptions { max_chars, harden: harden.unwrap_or(matches!(to, Destination::Text(_))), tools })
}

/// What the call that a result is for says of how that is written: a call that was read from text is one of a model whose text is
/// read for calls, and the tools are those it was read with.
fn by_call(options: &mut ResultOptions, call: &Bound<'_, PyAny>, harden: Option<bool>) {
    let py = call.py();
    let Ok(call) = call.cast::<ToolCall>().map(Bound::get) else { return };
    options.harden |= harden.is_none() && call.is_of_text(py);
    if options.tools.is_none() {
        options.tools = call.offer().cloned();
    }
}

#[doc = stub!("format_tool_result")]
#[pyfunction]
#[pyo3(signature = (call, result, is_error=false, provider="openai", *, dialect=None, max_chars=Some(Count::of(100_000)), harden=None, tools=None),
       text_signature = "(call, result, is_error=False, provider='openai', *, dialect=None, max_chars=100000, harden=None, tools=None)")]
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
    let to = destination(provider, dialect)?;
    let tools = tools_argument(tools)?;
    let mut options = result_options(&to, max_chars, harden, tools.clone())?;
    by_call(&mut options, call, harden);
    let result = result_argument(call_argument(call, &to, tools.as_deref())?, result, is_error)?;
    match to {
        Destination::Provider(provider) => {
            message_to_py(py, &guard(|| provider::format_tool_result(result, provider, &options))??, provider)
        }
        Destination::Text(dialect) => {
            to_py(py, &guard(|| provider::text_results(vec![result], dialect.get(), &options))?)
        }
    }
}

#[doc = stub!("format_tool_results")]
#[pyfunction]
#[pyo3(signature = (results, provider="openai", *, dialect=None, max_chars=Some(Count::of(100_000)), harden=None, tools=None),
       text_signature = "(results, provider='openai', *, dialect=None, max_chars=100000, harden=None, tools=None)")]
pub(super) fn format_tool_results<'py>(
    py: Python<'py>,
    results: &Bound<'py, PyAny>,
    provider: &str,
    dialect: Option<Spoken>,
    max_chars: Option<Count>,
    harden: Option<bool>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let to = destination(provider, dialect)?;
    let tools = tools_argument(tools)?;
    let mut options = result_options(&to, max_chars, harden, tools.clone())?;
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
        by_call(&mut options, &call, harden);
        read.push(result_argument(call_argument(&call, &to, tools.as_deref())?, &result, is_error)?);
    }
    match to {
        Destination::Provider(provider) => {
            messages_to_py(py, &guard(|| provider::format_tool_results(read, provider, &options))??, provider)
        }
        Destination::Text(_) if read.is_empty() => Ok(PyList::empty(py).into_any()),
        Destination::Text(dialect) => {
            let message = guard(|| provider::text_results(read, dialect.get(), &options))?;
            to_py(py, &Value::Array(vec![message]))
        }
    }
}

#[doc = stub!("assistant_message")]
#[pyfunction]
#[pyo3(signature = (turn, provider="openai", *, dialect=None, tools=None))]
pub(super) fn assistant_message<'py>(
    py: Python<'py>,
    turn: &Bound<'py, Turn>,
    provider: &str,
    dialect: Option<Spoken>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match destination(provider, dialect)? {
        Destination::Provider(to) => {
            let reasoned = provider::Reasoned::of(provider);
            turn.get().message_for(py, to, reasoned, tools_argument(tools)?.as_deref())
        }
        Destination::Text(dialect) => {
            to_py(py, &turn.get().with_core(py, |turn| provider::text_message(turn, dialect.get()))??)
        }
    }
}

fn each_message<'py>(messages: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    let wrong = || PyTypeError::new_err(format!("messages is a list of messages, not {}", a_type(messages)));
    if messages.is_instance_of::<PyString>() || messages.is_instance_of::<PyDict>() {
        return Err(wrong());
    }
    messages.try_iter().map_err(|_| wrong())
}

pub(super) fn messages_argument(messages: &Bound<'_, PyAny>) -> PyResult<Vec<Value>> {
    let messages = each_message(messages)?.enumerate();
    messages.map(|(index, message)| message.and_then(|message| from_message(&message, index))).collect()
}

/// A message; its media may be bytes, its texts not: base64 text would be sent for words.
fn from_message(message: &Bound<'_, PyAny>, index: usize) -> PyResult<Value> {
    if let Ok(dict) = message.cast::<PyDict>() {
        for key in ["content", "parts"] {
            let Some(content) = dict.get_item(key)? else { continue };
            let parts = content.cast::<PyList>().into_iter().flat_map(|list| list.iter());
            let texts = parts.filter_map(|part| part.cast::<PyDict>().ok()?.get_item("text").ok().flatten());
            if let Some(bytes) = std::iter::once(content.clone()).chain(texts).find(|text| bytes_of(text).is_some()) {
                let what = format!("text is a str, not {}: decode it", a_type(&bytes));
                return Err(Error::at(ErrorCode::BadMessage, format!("/{index}/{key}"), what).into());
            }
        }
    }
    from_payload(message)
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

pub(super) fn side_argument(side: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Map<String, Value>>> {
    match side.map(|side| Ok::<_, PyErr>((from_payload(side)?, side))).transpose()? {
        None | Some((Value::Null, _)) => Ok(None),
        Some((Value::Object(side), _)) => Ok(Some(side)),
        Some((_, side)) => Err(PyTypeError::new_err(format!("side is a dict, not {}", a_type(side)))),
    }
}

/// A text, a block, or a list of these.
fn is_system(system: &Value) -> bool {
    match system {
        Value::Bool(_) | Value::Number(_) => false,
        Value::Array(items) => items.iter().all(|item| item.is_string() || item.is_object()),
        Value::Null | Value::String(_) | Value::Object(_) => true,
    }
}

pub(super) fn system_argument(system: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Value>> {
    match system.map(|system| Ok::<_, PyErr>((from_payload(system)?, system))).transpose()? {
        Some((read, system)) if bytes_of(system).is_some() || !is_system(&read) => {
            let message = format!("system is a text, a block or a list of blocks, not {}", a_type(system));
            Err(PyTypeError::new_err(message))
        }
        read => Ok(read.map(|(system, _)| system)),
    }
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
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
#[pyo3(name = "_convert_messages", signature = (messages, to, source, system, side, tools, dialect))]
pub(super) fn convert_messages<'py>(
    py: Python<'py>,
    messages: &Bound<'py, PyAny>,
    to: &str,
    source: &str,
    system: Option<&Bound<'py, PyAny>>,
    side: Option<&Bound<'py, PyAny>>,
    tools: Option<&Bound<'py, PyAny>>,
    dialect: Option<Spoken>,
) -> PyResult<Converted<'py>> {
    let (tools, reasoned) = (tools_argument(tools)?, provider::Reasoned::of(to));
    let (to, from) = (destination(to, dialect)?, provider_argument(source)?);
    let messages = messages_argument(messages)?;
    let system = system_argument(system)?;
    let side = side_argument(side)?;
    let (system, side, tools) = (system.as_ref(), side.as_ref(), tools.as_deref());
    match to {
        Destination::Provider(to) => {
            let convert = || provider::convert_reasoned(&messages, system, from, to, reasoned, side, tools);
            converted(py, guard_detached(py, weight(&messages), convert)??, to)
        }
        Destination::Text(dialect) => {
            let written = guard(|| provider::convert_to_text(&messages, system, from, side, dialect.get()))??;
            converted(py, written, Provider::OpenAi)
        }
    }
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

/// The messages with `prompt` in the system message: at its end if there is one, else as a new first message. The
/// caller's list and messages stay as they are.
pub(super) fn inject<'py>(py: Python<'py>, messages: &Bound<'py, PyAny>, prompt: &str) -> PyResult<Bound<'py, PyList>> {
    let out = PyList::empty(py);
    for (index, message) in each_message(messages)?.enumerate() {
        let message = message?;
        if !is_described(&message)? {
            let what = format!("a message is a dict or an SDK's object, not {}", a_type(&message));
            return Err(Error::at(ErrorCode::BadMessage, format!("/{index}"), what).into());
        }
        out.append(message)?;
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
                    let text = whole(text)?;
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

#[doc = stub!("provider_id")]
#[pyfunction]
#[pyo3(signature = (id, provider))]
pub(super) fn provider_id(id: Whole, provider: &str) -> PyResult<String> {
    let provider = Provider::from_name(provider)?;
    guard(|| provider::provider_id(&id.0, provider))
}

#[doc = stub!("harden")]
#[pyfunction]
#[pyo3(signature = (text, *, tools=None))]
pub(super) fn harden(py: Python<'_>, text: Whole, tools: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let Whole(text) = text;
    let tools = tools_argument(tools)?;
    guard_detached(py, text.len(), || provider::harden(&text, tools.as_deref()))
}
