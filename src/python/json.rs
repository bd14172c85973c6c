//! `repair_json` and `parse_partial_json`: the repairer for any text, as Python objects.
use super::argument::{Count, word};
use super::convert::json_to_py;
use super::guard::guard_detached;
use super::objects::build_strict;
use super::report::{Repair, hash, tuple_of};
use super::text::text_of;
use crate::json::{self, Ending, PartialOptions, RepairOptions, Repaired};
use crate::turn::{self, RepairCode};
use crate::{Error, ErrorCode};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

#[doc = stub!("repair_json")]
#[pyfunction]
#[pyo3(signature = (text, *, report = false, search = true, join = true, max_depth = Count::of(128)),
       text_signature = "(text, *, report=False, search=True, join=True, max_depth=128)")]
pub(super) fn repair_json<'py>(
    text: &Bound<'py, PyAny>,
    report: bool,
    search: bool,
    join: bool,
    max_depth: Count,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let max_depth = depth(max_depth)?;
    let options = RepairOptions { max_depth, join_values: join, search };
    let (text, replaced) = text_of(text)?;
    if !report {
        // Mostly the text is valid, and goes straight into objects. What is not has been read once already.
        if let Some(value) = build_strict(py, &text, max_depth)? {
            return Ok(value);
        }
        let repaired = guard_detached(py, text.len(), || json::mend(&text, &options))??;
        return json_to_py(py, &repaired.json);
    }
    let repaired = guard_detached(py, text.len(), || json::repair(&text, &options))??;
    let value = json_to_py(py, &repaired.json)?;
    let Repaired { json, mut repairs, unlisted, consumed, ending, .. } = repaired;
    if let Some(at) = replaced.filter(|at| *at < consumed) {
        repairs.insert(0, turn::Repair::at(RepairCode::Escape, at, "what is no UTF-8 became U+FFFD"));
    }
    let report = RepairedJson { value: value.unbind(), json: json.into_owned(), repairs, unlisted, consumed, ending };
    Ok(Bound::new(py, report)?.into_any())
}

#[doc = stub!("parse_partial_json")]
#[pyfunction]
#[pyo3(signature = (text, *, keep_strings = true, max_depth = Count::of(128)),
       text_signature = "(text, *, keep_strings=True, max_depth=128)")]
pub(super) fn parse_partial_json<'py>(
    text: &Bound<'py, PyAny>,
    keep_strings: bool,
    max_depth: Count,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let options = PartialOptions { keep_strings, max_depth: depth(max_depth)? };
    let (text, _) = text_of(text)?;
    let partial = guard_detached(py, text.len(), || json::parse_partial(&text, &options))??;
    json_to_py(py, &partial.json)
}

/// Values are built by recursion: their depth is limited whatever the caller asks for.
fn depth(max_depth: Count) -> PyResult<usize> {
    let max_depth = max_depth.get("max_depth")?;
    if (1..=128).contains(&max_depth) {
        return Ok(max_depth);
    }
    Err(Error::at(ErrorCode::BadOption, "max_depth", format!("{max_depth} is not between 1 and 128")).into())
}

#[doc = stub!("RepairedJson")]
#[pyclass(frozen, module = "toolglot")]
#[derive(Debug)]
pub(super) struct RepairedJson {
    value: Py<PyAny>,
    json: String,
    repairs: Vec<turn::Repair>,
    unlisted: usize,
    consumed: usize,
    ending: Ending,
}

#[pymethods]
impl RepairedJson {
    #[doc = stub!("RepairedJson.value")]
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.value.clone_ref(py)
    }

    #[doc = stub!("RepairedJson.json")]
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    #[doc = stub!("RepairedJson.repairs")]
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple_of(py, &self.repairs, Repair)
    }

    #[doc = stub!("RepairedJson.unlisted")]
    #[getter]
    fn unlisted(&self) -> usize {
        self.unlisted
    }

    #[doc = stub!("RepairedJson.consumed")]
    #[getter]
    fn consumed(&self) -> usize {
        self.consumed
    }

    #[doc = stub!("RepairedJson.ending")]
    #[getter]
    fn ending(&self) -> &'static str {
        self.ending.as_str()
    }

    #[doc = stub!("RepairedJson.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let repairs =
            self.repairs.iter().map(|repair| Repair(repair.clone()).to_dict(py)).collect::<PyResult<Vec<_>>>()?;
        dict.set_item("value", &self.value)?;
        dict.set_item("json", &self.json)?;
        dict.set_item("repairs", repairs)?;
        dict.set_item("unlisted", self.unlisted)?;
        dict.set_item("consumed", self.consumed)?;
        dict.set_item("ending", self.ending())?;
        Ok(dict)
    }

    #[new]
    #[pyo3(signature = (json, *, repairs=Vec::new(), unlisted=Count::of(0), consumed=Count::of(0), ending="closed"),
           text_signature = "(json, *, repairs=..., unlisted=0, consumed=0, ending='closed')")]
    fn new(
        py: Python<'_>,
        json: String,
        repairs: Vec<PyRef<'_, Repair>>,
        unlisted: Count,
        consumed: Count,
        ending: &str,
    ) -> PyResult<Self> {
        let (unlisted, consumed) = (unlisted.get("unlisted")?, consumed.get("consumed")?);
        let value = json_to_py(py, &json)?.unbind();
        let ending = word("ending", Ending::ALL, Ending::as_str, ending)?;
        let repairs = repairs.iter().map(|repair| repair.0.clone()).collect();
        Ok(Self { value, json, repairs, unlisted, consumed, ending })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Bound<'py, PyString>,), Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("repairs", self.repairs(py)?)?;
        options.set_item("unlisted", self.unlisted)?;
        options.set_item("consumed", self.consumed)?;
        options.set_item("ending", self.ending())?;
        Ok(((PyString::new(py, &self.json),), options))
    }

    fn __eq__(&self, other: &Bound<'_, Self>) -> bool {
        let other = other.get();
        (&self.json, &self.repairs, self.unlisted, self.consumed, self.ending)
            == (&other.json, &other.repairs, other.unlisted, other.consumed, other.ending)
    }

    fn __hash__(&self) -> u64 {
        hash((&self.json, self.consumed))
    }

    fn __repr__(&self) -> String {
        let repairs = self.repairs.len() + self.unlisted;
        format!("RepairedJson({}, {repairs} repairs, {})", self.json, self.ending())
    }
}
