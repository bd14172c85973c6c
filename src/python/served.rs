//! What a `toolglot.ToolSet` handed out before, and hands out again.
use crate::schema::convert::Target;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::sync::{Mutex, PoisonError};

/// The declarations for each target, made once.
#[derive(Debug, Default)]
pub(super) struct Served {
    lists: Mutex<Vec<(Target, Py<PyList>)>>,
    texts: Mutex<Vec<(Target, Py<PyBytes>)>>,
}

impl Served {
    /// As JSON text, which nobody can change.
    pub(super) fn text<'py>(
        &self,
        py: Python<'py>,
        target: &Target,
        make: impl FnOnce() -> PyResult<Bound<'py, PyBytes>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        once(&self.texts, py, target, make)
    }

    /// As a list that is the caller's own, see [`own`].
    pub(super) fn list<'py>(
        &self,
        py: Python<'py>,
        target: &Target,
        make: impl FnOnce() -> PyResult<Bound<'py, PyList>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let list = once(&self.lists, py, target, make)?;
        let copies = list.iter().map(|item| own(&item)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, copies)
    }
}

fn once<'py, T>(
    made: &Mutex<Vec<(Target, Py<T>)>>,
    py: Python<'py>,
    target: &Target,
    make: impl FnOnce() -> PyResult<Bound<'py, T>>,
) -> PyResult<Bound<'py, T>> {
    let made = || made.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, known)) = made().iter().find(|(known, _)| known == target) {
        return Ok(known.bind(py).clone());
    }
    // Not under the lock: a thread that waits for it keeps the interpreter from the one that makes.
    let new = make()?;
    made().push((target.clone(), new.clone().unbind()));
    Ok(new)
}

/// A copy down to the dicts that have a `name`, which are declarations: what is in those is shared.
fn own<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(list) = value.cast::<PyList>() {
        let copies = list.iter().map(|item| own(&item)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyList::new(py, copies)?.into_any());
    }
    let Ok(dict) = value.cast::<PyDict>() else { return Ok(value.clone()) };
    let copy = dict.copy()?;
    if !dict.contains(intern!(py, "name"))? {
        for (key, value) in dict {
            if value.is_instance_of::<PyDict>() || value.is_instance_of::<PyList>() {
                copy.set_item(key, own(&value)?)?;
            }
        }
    }
    Ok(copy.into_any())
}
