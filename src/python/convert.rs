//! The one place where values cross between Python and Rust.
//!
//! - Into Rust: [`from_py`], for dicts and lists and for the objects of SDKs.
//! - Into Python: [`json_to_py`] from JSON text, straight into objects; [`to_py`] from a value.
use super::keys::Keys;
use super::objects::build;
use super::text::{bytes_of, whole};
use crate::provider::{CARRIED, Node, is_unread};
use crate::{Error, ErrorCode};
use pyo3::exceptions::{PyException, PyRecursionError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCFunction, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::cell::Cell;

/// Values nested deeper than this are refused: the stack is finite, and no API takes such a thing.
pub(super) const MAX_DEPTH: usize = 127;

/// What an answer holds deeper than [`MAX_DEPTH`] is kept as text, which is written so deep: more than any call's arguments may be.
const DEEPEST: usize = 255;
/// An answer that is deeper than that at more places holds itself, and would be written for ever.
const MAX_CUTS: usize = 16;

/// Reads a Python value: dicts, lists, tuples, strings, numbers, booleans, None, and objects that know how to become
/// one of these (`model_dump` of pydantic, `to_dict`, dataclasses, mappings, enums).
///
/// # Errors
/// `TypeError` for what JSON cannot say, `BadJsonError` for NaN, infinity, and a value nested too deep or holding itself, and
/// whatever the object's own methods raise.
pub(super) fn from_py(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    read_as(Form::Json, value)
}

/// What JSON is read into.
pub(super) trait Json: Sized {
    fn null() -> Self;
    fn bool(truth: bool) -> Self;
    fn number(number: Number) -> Self;
    fn integer(integer: i64) -> Self {
        Self::number(Number::from(integer))
    }
    fn string(text: String) -> Self;
    fn array(items: Vec<Self>) -> Self;
    fn object(members: Vec<(String, Self)>) -> Self;
    /// The member of a payload, or of the object in it under [`CARRIED`], is needed.
    fn wants(_key: &str) -> bool {
        true
    }
    /// What is deeper than [`MAX_DEPTH`].
    fn deep(_value: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<Self> {
        Err(too_deep(place.form))
    }
}

impl Json for Value {
    fn null() -> Self {
        Self::Null
    }
    fn bool(truth: bool) -> Self {
        Self::Bool(truth)
    }
    fn number(number: Number) -> Self {
        Self::Number(number)
    }
    fn string(text: String) -> Self {
        Self::String(text)
    }
    fn array(items: Vec<Self>) -> Self {
        Self::Array(items)
    }
    fn object(members: Vec<(String, Self)>) -> Self {
        Self::Object(members.into_iter().collect())
    }
}

/// A payload is read once and dropped: a plain list of members does, without a map's hashes.
impl Json for Node<'static> {
    fn null() -> Self {
        Self::Null
    }
    fn bool(truth: bool) -> Self {
        Self::Bool(truth)
    }
    fn number(number: Number) -> Self {
        Self::Number(Cow::Owned(number.as_str().to_owned()))
    }
    fn integer(integer: i64) -> Self {
        Self::Number(Cow::Owned(integer.to_string()))
    }
    fn string(text: String) -> Self {
        Self::String(Cow::Owned(text))
    }
    fn array(items: Vec<Self>) -> Self {
        Self::Array(items)
    }
    fn object(members: Vec<(String, Self)>) -> Self {
        Self::Object(members.into_iter().map(|(key, value)| (Cow::Owned(key), value)).collect())
    }
    fn wants(key: &str) -> bool {
        !is_unread(key)
    }
    fn deep(value: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<Self> {
        if place.depth > DEEPEST {
            let cuts = place.cuts.replace(place.cuts.get() + 1);
            let answer = place.form == Form::Payload;
            return if answer && cuts < MAX_CUTS { Ok(Self::Deep("…".into())) } else { Err(too_deep(place.form)) };
        }
        let read: Self = read_value(value, place)?;
        Ok(if place.depth == MAX_DEPTH + 1 { Self::Deep(read.to_json().into()) } else { read })
    }
}

fn too_deep(form: Form) -> PyErr {
    let message = format!("a value is nested more than {MAX_DEPTH} deep, or holds itself");
    match form {
        // Told apart from what the value's own code raises.
        Form::Result => PyRecursionError::new_err(message),
        Form::Json | Form::Payload => Error::new(ErrorCode::BadJson, message).into(),
    }
}

/// As [`from_py`], for what an SDK hands out: bytes in it (botocore, google-genai) become base64 text, as in JSON.
///
/// # Errors
/// As [`from_py`].
pub(super) fn from_payload<J: Json>(value: &Bound<'_, PyAny>) -> PyResult<J> {
    read_as(Form::Payload, value)
}

/// The arguments of a call as JSON text, however deep: whoever reads it says what is too deep.
///
/// # Errors
/// As [`from_py`].
pub(super) fn arguments_of(value: &Bound<'_, PyAny>) -> PyResult<String> {
    // No member of theirs is one that no reader looks at.
    Ok(read_at::<Node<'static>>(Form::Json, value, false)?.to_json())
}

/// Whether the value says what it holds, as the dicts of messages and the objects of SDKs do.
pub(super) fn is_described(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    if value.is_instance_of::<pyo3::types::PyType>() {
        return Ok(false);
    }
    let has = |name| Ok::<_, PyErr>(value.getattr_opt(name)?.is_some());
    Ok(value.is_instance_of::<PyDict>()
        || has(intern!(py, "model_dump"))?
        || has(intern!(py, "to_dict"))?
        || has(intern!(py, "__dataclass_fields__"))?
        || value.cast::<PyMapping>().is_ok())
}

/// As [`from_payload`], for what a tool returned: nothing in it is refused because JSON has no form for it, since the tool
/// has run. Sets are lists, dates are written as ISO 8601 has them, keys become text, all else is its `str`, and so is the
/// whole, if nothing can write it as JSON, being nested too deep. What raises when it is asked is named by its type.
///
/// # Errors
/// What is no fault of the value: an interrupt, the end of the process.
pub(super) fn from_result(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = value.py();
    let too_deep = |error: &PyErr| error.is_instance_of::<PyRecursionError>(py);
    match read_as(Form::Result, value) {
        Err(error) if too_deep(&error) => match written(value).or_else(|_| said(value)) {
            Err(error) if too_deep(&error) => {
                Ok(Value::String(format!("[{} that is nested too deep to be shown]", a_type(value))))
            }
            said => said,
        },
        read => read,
    }
}

/// The JSON text of a value that is deeper than it can be read, by Python's own writer, which knows one that holds itself.
fn written(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = value.py();
    let options = PyDict::new(py);
    options.set_item("ensure_ascii", false)?;
    let told = |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        // Not as a whole result: of one without end there would be no end of it.
        to_py(args.py(), &read_as(Form::Result, &args.get_item(0)?)?).map(Bound::unbind)
    };
    options.set_item("default", PyCFunction::new_closure(py, None, None, told)?)?;
    let text = py.import("json")?.call_method("dumps", (value,), Some(&options))?;
    Ok(Value::String(whole(text.cast::<PyString>()?)?.into_owned()))
}

fn read_as<J: Json>(form: Form, value: &Bound<'_, PyAny>) -> PyResult<J> {
    read_at(form, value, true)
}

fn read_at<J: Json>(form: Form, value: &Bound<'_, PyAny>, payload: bool) -> PyResult<J> {
    let cuts = Cell::new(0);
    from_py_at(value, Place { depth: 0, payload, form, cuts: &cuts })
}

/// What kind of value is read, and so what may stand in it beside JSON.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Json,
    /// With bytes, which become base64 text.
    Payload,
    /// With bytes, and with anything else.
    Result,
}

/// Where a value stands, and in what.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    depth: usize,
    /// It is the payload, or the one in it.
    payload: bool,
    form: Form,
    /// So much of the whole was too deep to be kept.
    cuts: &'a Cell<usize>,
}

impl Place<'_> {
    fn below(self) -> Self {
        Self { depth: self.depth + 1, payload: false, ..self }
    }

    /// The same value in another form.
    fn dumped(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

fn from_py_at<J: Json>(value: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<J> {
    if place.depth > MAX_DEPTH { J::deep(value, place) } else { read_value(value, place) }
}

fn read_value<J: Json>(value: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<J> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(J::string(whole(text)?.into_owned()));
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        // All members at once: reading one of them may run code that changes the dict.
        let entries: Vec<_> = dict.iter().collect();
        let size = entries.len();
        return members(entries.into_iter(), size, place);
    }
    if value.is_none() {
        return Ok(J::null());
    }
    if let Ok(list) = value.cast::<PyList>() {
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            items.push(from_py_at(&item, place.below())?);
        }
        return Ok(J::array(items));
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(J::bool(truth.is_true()));
    }
    if let Ok(int) = value.cast::<PyInt>() {
        return integer(int);
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        let number = Number::from_f64(float.value());
        match (number.is_none(), place.form) {
            (true, Form::Result) => return said(value),
            // A server wrote it, or an SDK made it of what one wrote; it says that there is no number.
            (true, Form::Payload) => return Ok(J::null()),
            _ => {}
        }
        let what = "JSON has no NaN and no infinity";
        return number.map(J::number).ok_or_else(|| Error::new(ErrorCode::BadJson, what).into());
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        return tuple.iter().map(|item| from_py_at(&item, place.below())).collect::<PyResult<_>>().map(J::array);
    }
    if place.form != Form::Json
        && let Some(bytes) = bytes_of(value)
    {
        return Ok(J::string(data_encoding::BASE64.encode(&bytes)));
    }
    match from_object(value, place) {
        Err(error) if place.form == Form::Result && is_its_own(&error, value.py()) => said(value),
        read => read,
    }
}

fn integer<J: Json>(int: &Bound<'_, PyInt>) -> PyResult<J> {
    if let Ok(small) = int.extract::<i64>() {
        return Ok(J::integer(small));
    }
    // int.__str__ and not str(): an IntEnum or a subclass may print as something else.
    let digits = match int.py().get_type::<PyInt>().call_method1(intern!(int.py(), "__repr__"), (int,)) {
        // Of more digits than Python writes of an int.
        Err(error) if error.is_instance_of::<PyValueError>(int.py()) => {
            decimal(int.py())?.call1((int,))?.str()?.into_any()
        }
        digits => digits?,
    };
    let number = digits.cast::<PyString>()?.to_str()?.parse::<Number>();
    number.map(J::number).map_err(|e| PyValueError::new_err(e.to_string()))
}

fn members<'py, J: Json>(
    members: impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    size: usize,
    place: Place<'_>,
) -> PyResult<J> {
    let mut out = Vec::with_capacity(size);
    for (key, value) in members {
        let key = match key.cast::<PyString>() {
            Ok(text) => whole(text)?,
            Err(_) if place.form == Form::Result => match from_py_at(&key, place.below())? {
                Value::String(text) => Cow::Owned(text),
                other => Cow::Owned(other.to_string()),
            },
            Err(_) => return Err(PyTypeError::new_err(format!("a key is {}, not a str", a_type(&key)))),
        };
        if !place.payload || J::wants(&key) {
            let below = Place { payload: place.payload && key == CARRIED, ..place.below() };
            out.push((key.into_owned(), from_py_at(&value, below)?));
        }
    }
    Ok(J::object(out))
}

/// Objects that say themselves what they hold.
fn from_object<J: Json>(value: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<J> {
    let py = value.py();
    // A class has the methods too, but nothing to call them on.
    if !value.is_instance_of::<pyo3::types::PyType>() {
        if let Some(dump) = value.getattr_opt(intern!(py, "model_dump"))? {
            let lenient = place.form == Form::Result;
            // By alias and without None: the form that goes over the wire. A None that a tool returned says something.
            let wire = PyDict::new(py);
            wire.set_item("mode", "json")?;
            wire.set_item("by_alias", true)?;
            wire.set_item("exclude_none", !lenient)?;
            let dumped = match dump.call((), Some(&wire)) {
                Err(e) if lenient || e.is_instance_of::<PyTypeError>(py) => dump.call0(),
                other => other,
            };
            return match dumped {
                Err(_) if lenient => said(value),
                dumped => from_py_at(&dumped?, place.dumped()),
            };
        }
        if let Some(to_dict) = value.getattr_opt(intern!(py, "to_dict"))? {
            return match to_dict.call0() {
                Err(_) if place.form == Form::Result => said(value),
                dict => from_py_at(&dict?, place.dumped()),
            };
        }
        if let Some(fields) = value.getattr_opt(intern!(py, "__dataclass_fields__"))? {
            let names = fields.cast::<PyDict>()?.keys();
            let values = names.iter().map(|name| value.getattr(name.cast::<PyString>()?));
            let values = values.collect::<PyResult<Vec<_>>>()?;
            return members(names.iter().zip(values), names.len(), place);
        }
        if let Ok(mapping) = value.cast::<PyMapping>() {
            return members(mapping.keys()?.iter().zip(mapping.values()?.iter()), mapping.len()?, place);
        }
        if value.is_instance(&py.import("enum")?.getattr("Enum")?)? {
            return from_py_at(&value.getattr(intern!(py, "value"))?, place.dumped());
        }
        if place.form != Form::Result
            && value.is_instance(&decimal(py)?)?
            && let Ok(number) = value.str()?.to_str()?.parse::<Number>()
        {
            // What `number_to_py` made of a number.
            return Ok(J::number(number));
        }
    }
    if place.form == Form::Result {
        return of_no_json(value, place);
    }
    Err(PyTypeError::new_err(no_json(value)))
}

fn no_json(value: &Bound<'_, PyAny>) -> String {
    format!("{} cannot be written as JSON", a_type(value))
}

/// The error of a `value` that the caller gave: `why`, if it is that one, and nothing in it, which cannot be written as JSON.
pub(super) fn refused(value: &Bound<'_, PyAny>, error: PyErr, why: impl FnOnce() -> String) -> PyErr {
    let own = error.value(value.py()).to_string() == no_json(value);
    if own { PyTypeError::new_err(why()) } else { error }
}

/// Python's own values that JSON has no form for.
fn of_no_json<J: Json>(value: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<J> {
    let py = value.py();
    if value.is_instance(&py.import("collections.abc")?.getattr("Set")?)? {
        // In order, where there is one: sets of text have another in every process.
        let builtins = py.import("builtins")?;
        let items = match builtins.call_method1("sorted", (value,)) {
            Err(e) if e.is_instance_of::<PyTypeError>(py) => builtins.call_method1("list", (value,))?,
            sorted => sorted?,
        };
        return from_py_at(&items, place.dumped());
    }
    match value.getattr_opt(intern!(py, "isoformat"))? {
        Some(isoformat) if !value.is_instance_of::<pyo3::types::PyType>() => from_py_at(&isoformat.call0()?, place),
        _ => said(value),
    }
}

/// What `str` says of what a tool returned; its type, where that raises.
fn said<J: Json>(value: &Bound<'_, PyAny>) -> PyResult<J> {
    match value.str().and_then(|text| Ok(whole(&text)?.into_owned())) {
        Err(error) if is_its_own(&error, value.py()) => Ok(J::string(format!("<{}>", type_name(value)))),
        text => text.map(J::string),
    }
}

/// Whether a value's own code raised this: not the limit of depth, which is the whole's, nor an interrupt.
pub(super) fn is_its_own(error: &PyErr, py: Python<'_>) -> bool {
    error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PyRecursionError>(py)
}

/// The name of a value's type, for messages.
pub(super) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// The same with its article.
pub(super) fn a_type(value: &Bound<'_, PyAny>) -> String {
    let name = type_name(value);
    let vowel = name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// The value given for the option `name`, which is `wanted`.
pub(super) fn option<'py, T: FromPyObjectOwned<'py>>(
    value: &Bound<'py, PyAny>,
    name: &str,
    wanted: &str,
) -> PyResult<T> {
    value.extract().map_err(|_| PyTypeError::new_err(format!("{name} is {wanted}, not {}", a_type(value))))
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
    json_with(py, json, &mut Keys::open(py))
}

/// As [`json_to_py`], for one of several texts: `keys` is open for all of them.
pub(super) fn json_with<'py>(py: Python<'py>, json: &str, keys: &mut Keys<'py>) -> PyResult<Bound<'py, PyAny>> {
    build(py, json, keys)?.ok_or_else(|| {
        let wrong = serde_json::from_str::<Value>(json).err();
        Error::new(ErrorCode::BadJson, wrong.map_or_else(|| "nested too deep".to_owned(), |e| e.to_string())).into()
    })
}

/// A JSON number as Python's own: int and float, and `Decimal` for an integer of more digits than Python reads as an
/// int, and for what is beyond a float. `None` if it is no number.
pub(super) fn number_to_py<'py>(py: Python<'py>, number: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let digits = number.strip_prefix('-').unwrap_or(number).as_bytes();
    if matches!(digits, [] | [b'0', b'0'..=b'9', ..]) {
        return Ok(None);
    }
    if let Ok(int) = number.parse::<i64>() {
        return Ok(Some(int.into_pyobject(py)?.into_any()));
    }
    if !digits.iter().all(u8::is_ascii_digit) {
        if number.parse::<Number>().is_err() {
            return Ok(None);
        }
        return match number.parse::<f64>() {
            Ok(float) if float.is_finite() => Ok(Some(PyFloat::new(py, float).into_any())),
            // Of an exponent that no computer could write out, Python makes nothing better than infinity.
            Ok(float) => Ok(Some(decimal(py)?.call1((number,)).unwrap_or_else(|_| PyFloat::new(py, float).into_any()))),
            Err(_) => Ok(None),
        };
    }
    let int = py.get_type::<PyInt>().call1((number,));
    int.or_else(|_| decimal(py)?.call1((number,))).map(Some)
}

fn decimal(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("decimal")?.getattr("Decimal")
}
