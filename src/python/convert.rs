//! The one place where values cross between Python and Rust.
//!
//! - Into Rust: [`from_py`], for dicts and lists and for the objects of SDKs.
//! - Into Python: [`json_to_py`] from JSON text, straight into objects; [`to_py`] from a value.
use super::objects::build;
use crate::{Error, ErrorCode};
use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Map, Number, Value};
use std::cell::Cell;

/// Values nested deeper than this are refused: the stack is finite, and no API takes such a thing.
pub(super) const MAX_DEPTH: usize = 127;

/// Reads a Python value: dicts, lists, tuples, strings, numbers, booleans, None, and objects that know how to become
/// one of these (`model_dump` of pydantic, `to_dict`, dataclasses, mappings, enums).
///
/// # Errors
/// `TypeError` for what JSON cannot say, `ValueError` for NaN and infinity, `RecursionError` for a value nested too deep
/// or holding itself, and whatever the object's own methods raise.
pub(super) fn from_py(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    from_py_at(value, 0)
}

/// As [`from_py`], for what an SDK hands out: bytes in it (botocore, google-genai) become base64 text, as in JSON.
///
/// # Errors
/// As [`from_py`].
pub(super) fn from_payload(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let was = BYTES.replace(true);
    let read = from_py_at(value, 0);
    BYTES.set(was);
    read
}

thread_local! {
    /// Bytes are read as base64 text.
    static BYTES: Cell<bool> = const { Cell::new(false) };
}

fn from_py_at(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if depth > MAX_DEPTH {
        return Err(PyRecursionError::new_err(format!(
            "a value is nested more than {MAX_DEPTH} deep, or holds itself"
        )));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_str()?.to_owned()));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        return object(dict.items().iter(), dict.len(), depth);
    }
    if let Ok(list) = value.cast::<PyList>() {
        return list.iter().map(|item| from_py_at(&item, depth + 1)).collect();
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if let Ok(int) = value.cast::<PyInt>() {
        return integer(int);
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        let number = Number::from_f64(float.value());
        return number.map(Value::Number).ok_or_else(|| PyValueError::new_err("JSON has no NaN and no infinity"));
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return tuple.iter().map(|item| from_py_at(&item, depth + 1)).collect();
    }
    if BYTES.get() {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Value::String(data_encoding::BASE64.encode(bytes.as_bytes())));
        }
    }
    from_object(value, depth)
}

fn integer(int: &Bound<'_, PyInt>) -> PyResult<Value> {
    if let Ok(small) = int.extract::<i64>() {
        return Ok(Value::from(small));
    }
    // int.__str__ and not str(): an IntEnum or a subclass may print as something else.
    let digits = int.py().get_type::<PyInt>().call_method1(intern!(int.py(), "__repr__"), (int,))?;
    let number = digits.cast::<PyString>()?.to_str()?.parse::<Number>();
    number.map(Value::Number).map_err(|e| PyValueError::new_err(e.to_string()))
}

fn object<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, size: usize, depth: usize) -> PyResult<Value> {
    let mut map = Map::with_capacity(size);
    for item in items {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let Ok(key) = key.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("a key is a {}, not a str", type_name(&key))));
        };
        map.insert(key.to_str()?.to_owned(), from_py_at(&value, depth + 1)?);
    }
    Ok(Value::Object(map))
}

/// Objects that say themselves what they hold.
fn from_object(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let py = value.py();
    // A class has the methods too, but nothing to call them on.
    if !value.is_instance_of::<pyo3::types::PyType>() {
        if let Some(dump) = value.getattr_opt(intern!(py, "model_dump"))? {
            // By alias and without None: the form that goes over the wire.
            let wire = PyDict::new(py);
            wire.set_item("mode", "json")?;
            wire.set_item("by_alias", true)?;
            wire.set_item("exclude_none", true)?;
            let dumped = match dump.call((), Some(&wire)) {
                Err(e) if e.is_instance_of::<PyTypeError>(py) => dump.call0()?,
                other => other?,
            };
            return from_py_at(&dumped, depth + 1);
        }
        if let Some(to_dict) = value.getattr_opt(intern!(py, "to_dict"))? {
            return from_py_at(&to_dict.call0()?, depth + 1);
        }
        if let Some(fields) = value.getattr_opt(intern!(py, "__dataclass_fields__"))? {
            let mut map = Map::new();
            for name in fields.cast::<PyDict>()?.keys() {
                let name = name.cast_into::<PyString>()?;
                map.insert(name.to_str()?.to_owned(), from_py_at(&value.getattr(&name)?, depth + 1)?);
            }
            return Ok(Value::Object(map));
        }
        if let Ok(mapping) = value.cast::<PyMapping>() {
            return object(mapping.items()?.iter(), mapping.len()?, depth);
        }
        if value.is_instance(&py.import("enum")?.getattr("Enum")?)? {
            return from_py_at(&value.getattr(intern!(py, "value"))?, depth + 1);
        }
    }
    Err(PyTypeError::new_err(format!("a {} cannot be written as JSON", type_name(value))))
}

/// The name of a value's type, for messages.
pub(super) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// Python objects from a value.
pub(super) fn to_py<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(truth) => Ok(PyBool::new(py, *truth).to_owned().into_any()),
        Value::Number(number) => {
            number_to_py(py, number.as_str())?.ok_or_else(|| PyValueError::new_err(number.to_string()))
        }
        Value::String(text) => Ok(PyString::new(py, text).into_any()),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_py(py, item)?)?;
            }
            Ok(list.into_any())
        }
        Value::Object(map) => {
            let dict = PyDict::new(py);
            for (key, item) in map {
                dict.set_item(key, to_py(py, item)?)?;
            }
            Ok(dict.into_any())
        }
    }
}

/// Python objects straight from JSON text; integers of any size are exact.
///
/// # Errors
/// `toolglot.BadJsonError` if the text is no JSON.
pub(super) fn json_to_py<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    build(py, json)?.ok_or_else(|| {
        let wrong = serde_json::from_str::<Value>(json).err();
        Error::new(ErrorCode::BadJson, wrong.map_or_else(|| "nested too deep".to_owned(), |e| e.to_string())).into()
    })
}

/// A JSON number as Python's own: int and float, and `Decimal` for an integer of more digits than Python reads as an
/// int. `None` if it is no number.
pub(super) fn number_to_py<'py>(py: Python<'py>, number: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let whole = digits.bytes().all(|b| b.is_ascii_digit());
    if digits.is_empty() || (whole && digits.len() > 1 && digits.starts_with('0')) {
        return Ok(None);
    }
    if !whole {
        let valid = number.parse::<Number>().is_ok();
        return Ok(number.parse().ok().filter(|_| valid).map(|float| PyFloat::new(py, float).into_any()));
    }
    if let Ok(int) = number.parse::<i64>() {
        return Ok(Some(int.into_pyobject(py)?.into_any()));
    }
    let int = py.get_type::<PyInt>().call1((number,));
    int.or_else(|_| py.import("decimal")?.getattr("Decimal")?.call1((number,))).map(Some)
}
