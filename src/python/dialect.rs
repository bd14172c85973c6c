//! `toolglot.Dialect` and the catalogue.
use super::convert::{a_type, from_py, refused, to_py};
use super::guard::guard;
use super::report::{hash, repr_of};
use super::text::utf8;
use crate::dialect::{self, Dialects, catalogue};
use crate::schema::InDialect;
use crate::{Error, ErrorCode};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

#[doc = stub!("Dialect")]
#[pyclass(frozen, module = "toolglot", name = "Dialect")]
pub(super) struct Dialect {
    row: Arc<dialect::Dialect>,
    ready: Arc<Dialects>,
}

#[pymethods]
impl Dialect {
    #[new]
    #[pyo3(signature = (**fields))]
    fn new(py: Python<'_>, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let fields = from_py(fields.unwrap_or(&PyDict::new(py)))?;
        let row = dialect::Dialect::deserialize(&fields).map_err(|error| misfit(&fields, &error))?;
        if row.calls.is_empty() && row.bare.is_empty() && row.channels.is_none() {
            let message = "a dialect needs `calls`, a list of templates such as \"<call> {json} </call>\"";
            return Err(Error::at(ErrorCode::BadDialect, "calls", message).into());
        }
        let ready = guard(|| Dialects::of(row.clone()))??;
        Ok(Self { row: Arc::new(row), ready })
    }

    #[doc = stub!("Dialect.from_chat_template")]
    #[classmethod]
    #[pyo3(signature = (template, *, name="template", bos_token="", eos_token=""))]
    fn from_chat_template(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        template: &str,
        name: &str,
        bos_token: &str,
        eos_token: &str,
    ) -> PyResult<Self> {
        let options = dialect::TemplateOptions { name, bos_token, eos_token };
        let row = guard(|| py.detach(|| dialect::Dialect::from_chat_template(template, &options)))??;
        let ready = guard(|| Dialects::of(row.clone()))??;
        Ok(Self { row: Arc::new(row), ready })
    }

    #[doc = stub!("Dialect.from_response_template")]
    #[classmethod]
    #[pyo3(signature = (template, *, name="template"))]
    fn from_response_template(_class: &Bound<'_, PyType>, template: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let template = match template.cast::<PyString>() {
            Ok(text) => serde_json::from_str(&utf8(text)?.0)
                .map_err(|e| Error::new(ErrorCode::BadDialect, format!("the response template is no JSON: {e}")))?,
            Err(_) => from_py(template).map_err(|error| {
                let why = || format!("a response template is a dict or its JSON as a str, not {}", a_type(template));
                refused(template, error, why)
            })?,
        };
        let row = guard(|| dialect::Dialect::from_response_template(&template, name))??;
        let ready = guard(|| Dialects::of(row.clone()))??;
        Ok(Self { row: Arc::new(row), ready })
    }

    #[doc = stub!("Dialect.name")]
    #[getter]
    fn name(&self) -> &str {
        &self.row.name
    }

    #[doc = stub!("Dialect.about")]
    #[getter]
    fn about(&self) -> &str {
        &self.row.about
    }

    #[doc = stub!("Dialect.source")]
    #[getter]
    fn source(&self) -> &str {
        &self.row.source
    }

    #[doc = stub!("Dialect.parsers")]
    #[getter]
    fn parsers(&self) -> Vec<&str> {
        self.row.parsers.iter().map(String::as_str).collect()
    }

    #[doc = stub!("Dialect.example")]
    #[getter]
    fn example(&self) -> &str {
        &self.row.example
    }

    #[doc = stub!("Dialect.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = serde_json::to_value(&*self.row).map_err(|e| Error::new(ErrorCode::BadDialect, e.to_string()))?;
        Ok(to_py(py, &row)?.cast_into()?)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), self.to_dict(py)?))
    }

    fn __eq__(&self, other: &Bound<'_, Self>) -> bool {
        self.row == other.get().row
    }

    fn __hash__(&self) -> u64 {
        hash((&self.row.name, &self.row.example))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let fields = PyDict::new(py);
        fields.set_item("name", &self.row.name)?;
        fields.set_item("about", &self.row.about)?;
        repr_of("Dialect", &fields)
    }
}

/// The error of the first of `fields` that is none which a dialect has, or is not what it has there. Their types are called as
/// in Python.
fn misfit(fields: &Value, whole: &serde_json::Error) -> Error {
    let words = |error: &serde_json::Error| {
        let said = error.to_string().replace("a sequence", "a list").replace("a map", "a dict");
        said.replace("a tuple of size 2", "a pair, as in [[opening, closing]]")
    };
    let alone = |(key, value): (&String, &Value)| {
        let error = dialect::Dialect::deserialize(&json!({ key: value })).err()?;
        Some(Error::at(ErrorCode::BadDialect, key, words(&error)))
    };
    let misfit = fields.as_object().into_iter().flatten().find_map(alone);
    misfit.unwrap_or_else(|| Error::new(ErrorCode::BadDialect, words(whole)))
}

#[doc = stub!("dialects")]
#[pyfunction]
#[pyo3(signature = (name=None))]
pub(super) fn dialects(name: Option<&Bound<'_, PyString>>) -> PyResult<Vec<Dialect>> {
    let meant = name.map(named).transpose()?;
    let meant = meant.as_deref().and_then(Dialects::name);
    let rows = catalogue().iter().filter(|row| meant.is_none_or(|name| row.name == name));
    let ready = |row: &Arc<dialect::Dialect>| {
        Ok(Dialect { row: Arc::clone(row), ready: guard(|| Dialects::named(&row.name))?? })
    };
    rows.map(ready).collect()
}

/// The dialect that was named last. A program names the same one again and again, mostly by the very same string.
static LAST: Mutex<Option<(Py<PyString>, Arc<Dialects>)>> = Mutex::new(None);

fn named(name: &Bound<'_, PyString>) -> PyResult<Arc<Dialects>> {
    // Another thread may be at it: then it is looked up.
    let last = LAST.try_lock().ok();
    if let Some((known, dialects)) = last.as_deref().and_then(Option::as_ref)
        && known.is(name)
    {
        return Ok(Arc::clone(dialects));
    }
    drop(last);
    let written = utf8(name)?.0;
    let dialects = guard(|| Dialects::named(&written))??;
    if let Ok(mut last) = LAST.try_lock() {
        *last = Some((name.clone().unbind(), Arc::clone(&dialects)));
    }
    Ok(dialects)
}

/// The dialect that text is written in: a name, or a Dialect.
pub(super) enum Spoken {
    Named(String),
    Own(Arc<Dialects>),
}

impl Spoken {
    pub(super) fn auto() -> Self {
        Self::Named("auto".to_owned())
    }

    /// # Errors
    /// No dialect, parser or model has this name.
    pub(super) fn known(self) -> PyResult<Self> {
        if let Self::Named(name) = &self {
            guard(|| Dialects::named(name))??;
        }
        Ok(self)
    }

    pub(super) fn get(&self) -> InDialect<'_> {
        match self {
            Self::Named(name) => InDialect::Named(name),
            Self::Own(dialects) => InDialect::Own(dialects),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Spoken {
    type Error = PyErr;

    fn extract(dialect: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = dialect.cast::<PyString>() {
            return Ok(Self::Named(utf8(&name)?.0.into_owned()));
        }
        let dialects = dialect_argument(Some(&dialect))?;
        let row = dialect.cast::<Dialect>().ok().map(|dialect| Arc::clone(&dialect.get().row));
        // One of the catalogue's has more than itself: a prompt of its own, say.
        let known = row.filter(|row| catalogue().contains(row));
        Ok(known.map_or(Self::Own(dialects), |row| Self::Named(row.name.to_string())))
    }
}

/// What `dialect=` means: "auto" (also None), a name, or a Dialect.
pub(super) fn dialect_argument(dialect: Option<&Bound<'_, PyAny>>) -> PyResult<Arc<Dialects>> {
    let Some(dialect) = dialect else { return Ok(Dialects::auto()) };
    if let Ok(name) = dialect.cast::<PyString>() {
        return named(name);
    }
    match dialect.cast::<Dialect>() {
        Ok(dialect) => Ok(Arc::clone(&dialect.get().ready)),
        Err(_) => {
            let message = format!("dialect is a name or a toolglot.Dialect, not {}", a_type(dialect));
            Err(PyTypeError::new_err(message))
        }
    }
}
