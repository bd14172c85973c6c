//! Objects that are made when they are first asked for.
use pyo3::prelude::*;
use std::sync::OnceLock;

/// One such object: the same at every later look.
///
/// pyo3's own lock hands the interpreter to other threads before it makes the object, which costs more than most of
/// these do. Here two threads may both make it, and the first that is ready stays.
#[derive(Debug)]
pub(super) struct Made<T>(OnceLock<Py<T>>);

impl<T> Made<T> {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// This one, which is there already.
    pub(super) fn of(made: Bound<'_, T>) -> Self {
        Self(OnceLock::from(made.unbind()))
    }

    pub(super) fn get_or_try<'py>(
        &self,
        py: Python<'py>,
        make: impl FnOnce() -> PyResult<Bound<'py, T>>,
    ) -> PyResult<Bound<'py, T>> {
        self.kept(make).map(|known| known.bind(py).clone())
    }

    /// As [`Self::get_or_try`], for a look at it.
    pub(super) fn kept<'py>(&self, make: impl FnOnce() -> PyResult<Bound<'py, T>>) -> PyResult<&Py<T>> {
        if let Some(known) = self.0.get() {
            return Ok(known);
        }
        let made = make()?.unbind();
        Ok(self.0.get_or_init(|| made))
    }
}
