//! `repair_json` and `parse_partial_json`: the repairer for any text, as Python objects.
use super::convert::json_to_py;
use super::guard::guard_detached;
use super::objects::build_strict;
use super::report::{Repair, tuple_of};
use super::text::text_of;
use crate::json::{self, Ending, PartialOptions, RepairOptions, Repaired};
use crate::{Error, ErrorCode};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Reads JSON as models write it: what strict parsing refuses is mended.
///
/// Arguments:
///     text: JSON, or text that holds some: in a fence, in prose, in Python's or JavaScript's spelling, cut off.
///     report: Return a ``RepairedJson`` with the text, the repairs and how it ended, instead of the value alone.
///     search: Look for JSON in prose and fences. If False, it must stand at the start, and what follows is ignored.
///     join: Read several values in a row (JSON Lines, ``{...}{...}``) as a list of them. If False, the first counts.
///     max_depth: How deep values may be nested, 128 at most.
///
/// Returns:
///     The value, in Python's own types; or the report on it.
///
/// Raises:
///     BadJsonError: There is no JSON in the text, or it is nested too deep.
///     BadOptionError: ``max_depth`` is out of range.
///
/// >>> import toolglot
/// >>> toolglot.repair_json("{'city': 'Bern', days: 03,}")
/// {'city': 'Bern', 'days': 3}
#[pyfunction]
#[pyo3(signature = (text, *, report = false, search = true, join = true, max_depth = 128))]
pub(super) fn repair_json<'py>(
    text: &Bound<'py, PyAny>,
    report: bool,
    search: bool,
    join: bool,
    max_depth: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let options = RepairOptions { max_depth: depth(max_depth)?, join_values: join, search };
    let text = text_of(text)?;
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
    let Repaired { json, repairs, unlisted, consumed, ending, .. } = repaired;
    let report = RepairedJson { value: value.unbind(), json: json.into_owned(), repairs, unlisted, consumed, ending };
    Ok(Bound::new(py, report)?.into_any())
}

/// Reads JSON that may be cut off anywhere, and keeps what no further text can change.
///
/// Arguments:
///     text: The text so far.
///     keep_strings: Keep a string value that the text ends in as far as it goes. If False, it is dropped with its key.
///     max_depth: How deep values may be nested, 128 at most.
///
/// Returns:
///     The value so far; None where nothing is certain. A number or literal that the text ends in is left out, since
///     it may go on, and so is a key without a value.
///
/// Raises:
///     BadJsonError: There is no JSON in the text, or it is nested too deep.
///     BadOptionError: ``max_depth`` is out of range.
///
/// >>> import toolglot
/// >>> toolglot.parse_partial_json('{"path": "src/a.py", "line": 12')
/// {'path': 'src/a.py'}
#[pyfunction]
#[pyo3(signature = (text, *, keep_strings = true, max_depth = 128))]
pub(super) fn parse_partial_json<'py>(
    text: &Bound<'py, PyAny>,
    keep_strings: bool,
    max_depth: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let options = PartialOptions { keep_strings, max_depth: depth(max_depth)? };
    let text = text_of(text)?;
    let partial = guard_detached(py, text.len(), || json::parse_partial(&text, &options))??;
    json_to_py(py, &partial.json)
}

/// Values are built by recursion: their depth is limited whatever the caller asks for.
fn depth(max_depth: usize) -> PyResult<usize> {
    if (1..=128).contains(&max_depth) {
        return Ok(max_depth);
    }
    Err(Error::at(ErrorCode::BadOption, "max_depth", format!("{max_depth} is not between 1 and 128")).into())
}

/// What `repair_json` made of a text, and how.
#[pyclass(frozen, module = "toolglot")]
#[derive(Debug)]
pub(super) struct RepairedJson {
    value: Py<PyAny>,
    json: String,
    repairs: Vec<crate::turn::Repair>,
    unlisted: usize,
    consumed: usize,
    ending: Ending,
}

#[pymethods]
impl RepairedJson {
    /// The value, in Python's own types.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.value.clone_ref(py)
    }

    /// The JSON text: what was valid in the input is in it byte for byte.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    /// What was changed, in the order of reading; empty exactly if the input was valid.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple_of(py, &self.repairs, Repair)
    }

    /// How many more repairs there were than are listed: only texts with over a thousand have any.
    #[getter]
    fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// Where the value ended in the input, in bytes of UTF-8.
    #[getter]
    fn consumed(&self) -> usize {
        self.consumed
    }

    /// "closed" (the value ended in the text), "unclosed" (only closing brackets were missing) or "cut".
    #[getter]
    fn ending(&self) -> &'static str {
        self.ending.as_str()
    }

    /// The report as a dict.
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

    fn __repr__(&self) -> String {
        let repairs = self.repairs.len() + self.unlisted;
        format!("RepairedJson({}, {repairs} repairs, {})", self.json, self.ending())
    }
}
