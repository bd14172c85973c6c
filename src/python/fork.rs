//! Gives forked children call ids of their own.
use crate::turn::forked;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};

/// Calls [`forked`] in every child that is forked from now on: by `os.fork`, `multiprocessing`, or C that calls
/// `PyOS_AfterFork_Child`. Does nothing on systems without fork.
pub(super) fn watch(py: Python<'_>) -> PyResult<()> {
    let Some(register) = py.import(intern!(py, "os"))?.getattr_opt(intern!(py, "register_at_fork"))? else {
        return Ok(());
    };
    let options = PyDict::new(py);
    options.set_item(
        intern!(py, "after_in_child"),
        PyCFunction::new_closure(py, Some(c"forked"), None, |_, _| forked())?,
    )?;
    register.call((), Some(&options)).map(drop)
}
