//! A child that Python forks makes call ids of its own.
use crate::turn::forked;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};

/// From now on [`forked`] is called in every child, where the system forks at all: `os.fork`, `multiprocessing`, and servers in C that
/// tell Python of it.
pub(super) fn watch(py: Python<'_>) -> PyResult<()> {
    let Some(register) = py.import(intern!(py, "os"))?.getattr_opt(intern!(py, "register_at_fork"))? else {
        return Ok(());
    };
    let options = PyDict::new(py);
    options.set_item(intern!(py, "after_in_child"), PyCFunction::new_closure(py, None, None, |_, _| forked())?)?;
    register.call((), Some(&options)).map(drop)
}
