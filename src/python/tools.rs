//! `toolglot.ToolSet`: the tools offered in one turn.
use super::convert::{from_py, type_name};
use crate::schema;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::sync::Arc;

/// The tools offered in one turn.
#[pyclass(frozen, module = "toolglot", name = "ToolSet")]
#[derive(Debug)]
pub(super) struct ToolSet(pub(super) Arc<schema::ToolSet>);

#[pymethods]
impl ToolSet {
    #[new]
    fn new(tools: &Bound<'_, PyAny>) -> PyResult<Self> {
        read(tools).map(Self)
    }

    fn __len__(&self) -> usize {
        self.0.tools().len()
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.0.tools().iter().map(|tool| tool.name.as_str()).collect();
        format!("ToolSet({})", names.join(", "))
    }
}

fn read(tools: &Bound<'_, PyAny>) -> PyResult<Arc<schema::ToolSet>> {
    // A str or dict can be iterated too, but its letters or keys are no tools.
    if tools.is_instance_of::<PyString>() || tools.is_instance_of::<PyBytes>() || tools.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err(format!("tools is a list of tools, not a {}", type_name(tools))));
    }
    let items = tools.try_iter()?.map(|item| from_py(&item?)).collect::<PyResult<Vec<_>>>()?;
    Ok(Arc::new(schema::ToolSet::from_values(&items)?))
}

/// What `tools=` means: None, a ToolSet, or tools as a ToolSet takes them.
pub(super) fn tools_argument(tools: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<schema::ToolSet>>> {
    match tools {
        None => Ok(None),
        Some(tools) => match tools.cast::<ToolSet>() {
            Ok(set) => Ok(Some(Arc::clone(&set.get().0))),
            Err(_) => read(tools).map(Some),
        },
    }
}
