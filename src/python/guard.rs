//! What ends work in the core before it is done: a panic, which is a bug and reaches the caller as an ordinary exception, and the
//! exception of a signal's handler (`KeyboardInterrupt`).
use super::error::InternalError;
use crate::interrupt;
use pyo3::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Texts longer than this are read with the interpreter released, so that other threads run meanwhile. Below it the
/// work takes less time than handing the interpreter over.
const DETACH_BYTES: usize = 32 << 10;

thread_local! {
    /// What the handler of a signal raised while the core worked in this thread.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Lets the handlers of the signals run that have come, which Python does in its main thread alone. Whether one raised an exception: then
/// the work in this thread is to stop, and [`guard`] gives the exception to the caller.
pub(super) fn signals_stop() -> bool {
    let raised = Python::attach(|py| py.check_signals().err());
    let stops = raised.is_some();
    RAISED.set(raised);
    stops
}

/// Runs `work`. A panic in it becomes `toolglot.InternalError` (an `Exception`, unlike pyo3's `PanicException`), and what a signal's
/// handler raised takes the place of a result that is not whole.
pub(super) fn guard<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    if let Some(raised) = RAISED.take() {
        interrupt::stopped();
        return Err(raised);
    }
    done.map_err(|payload| {
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
