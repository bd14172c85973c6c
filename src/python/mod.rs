//! The Python module `toolglot._core`: the only place with pyo3 types.
use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        Ok(())
    }
}
