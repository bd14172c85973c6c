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

    /// As a list that is the caller's own. The declarations in it are shared.
    pub(super) fn list<'py>(
        &self,
        py: Python<'py>,
        target: &Target,
        make: impl FnOnce() -> PyResult<Bound<'py, PyList>>,
    ) -> PyResult<Bound<'py, PyList>> {
        own(&once(&self.lists, py, target, make)?)
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

/// A copy down to the declarations: of the list, and of the group that Gemini has them in.
fn own<'py>(list: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
    let all = |list: &Bound<'py, PyList>| list.get_slice(0, list.len());
    let key = intern!(list.py(), "functionDeclarations");
    let copy = all(list);
    if let Some(Ok(group)) = list.iter().next().map(|item| item.cast_into::<PyDict>())
        && let Some(Ok(declarations)) = group.get_item(key)?.map(|inner| inner.cast_into::<PyList>())
    {
        let group = group.copy()?;
        group.set_item(key, all(&declarations))?;
        copy.set_item(0, group)?;
    }
    Ok(copy)
}
