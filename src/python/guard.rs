//! The last line of defence: a panic in the core is a bug, and reaches the caller as an ordinary exception.
use super::error::InternalError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Texts longer than this are read with the interpreter released, so that other threads run meanwhile. Below it the
/// work takes less time than handing the interpreter over.
const DETACH_BYTES: usize = 32 << 10;

/// Runs `work`; a panic in it becomes `toolglot.InternalError` (an `Exception`, unlike pyo3's `PanicException`).
pub(super) fn guard<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let what = (payload.downcast_ref::<&str>().copied())
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        InternalError::new_err(format!("a bug in toolglot, please report it: {what}"))
    })
}

/// Runs `work` on `bytes` bytes of input, which needs nothing of Python: long work releases the interpreter. A panic in it takes
/// that back.
pub(super) fn detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes > DETACH_BYTES { py.detach(work) } else { work() }
}

/// [`guard`] for such work.
pub(super) fn guard_detached<T: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    guard(|| detached(py, bytes, work))
}

#[doc = stub!("_panic")]
#[pyfunction]
#[pyo3(name = "_panic")]
pub(super) fn panic_on_purpose(message: String) -> PyResult<()> {
    guard(|| std::panic::panic_any(message))
}
