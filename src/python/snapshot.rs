//! Notes of Python structures: what is handed out later must not be what a caller has in hand and may change.
use super::convert::MAX_DEPTH;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// Dicts and lists of JSON's values as they were when read, one after the other.
///
/// They are kept flat: a dict costs nothing until it is built.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    steps: Vec<Step>,
}

/// What is built, in the order of building.
#[derive(Debug)]
enum Step {
    /// A string, number, boolean or None, which nobody can change; or the key of the next value.
    Leaf(Py<PyAny>),
    /// A dict of so many members: a key and a value each.
    Dict(usize),
    /// A list of so many items.
    List(usize),
}

impl Snapshot {
    /// The snapshot of one dict or list, see [`Snapshot::push`].
    pub(super) fn of(value: &Bound<'_, PyAny>) -> Option<Self> {
        let mut snapshot = Self::default();
        snapshot.push(value, 0).map(|()| snapshot)
    }

    /// Where the next value will be.
    pub(super) fn end(&self) -> usize {
        self.steps.len()
    }

    /// The snapshot without what was put in from `end` on.
    pub(super) fn up_to(mut self, end: usize) -> Self {
        self.steps.truncate(end);
        self
    }

    pub(super) fn push_dict(&mut self, members: usize) {
        self.steps.push(Step::Dict(members));
    }

    pub(super) fn push_list(&mut self, items: usize) {
        self.steps.push(Step::List(items));
    }

    /// A key, or a value that [`is_leaf`].
    pub(super) fn push_leaf(&mut self, leaf: Bound<'_, PyAny>) {
        self.steps.push(Step::Leaf(leaf.unbind()));
    }

    /// A value of exactly JSON's types; it is read, not kept. `None` for anything else, and for what JSON cannot say.
    pub(super) fn push(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> Option<()> {
        if is_leaf(value) {
            self.push_leaf(value.clone());
            return Some(());
        }
        if depth > MAX_DEPTH {
            return None;
        }
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.push_dict(dict.len());
            for (key, value) in dict {
                key.cast_exact::<PyString>().ok()?.to_str().ok()?;
                self.push_leaf(key);
                self.push(&value, depth + 1)?;
            }
            return Some(());
        }
        let list = value.cast_exact::<PyList>().ok()?;
        self.push_list(list.len());
        list.iter().try_for_each(|item| self.push(&item, depth + 1))
    }

    /// The value that stands at `at`: nothing in it that anyone can change is shared with another copy.
    pub(super) fn build<'py>(&self, py: Python<'py>, mut at: usize) -> PyResult<Bound<'py, PyAny>> {
        self.step(py, &mut at)
    }

    fn step<'py>(&self, py: Python<'py>, at: &mut usize) -> PyResult<Bound<'py, PyAny>> {
        let step = self.steps.get(*at);
        *at += 1;
        match step {
            Some(Step::Dict(members)) => {
                let dict = PyDict::new(py);
                for _ in 0..*members {
                    let key = self.leaf(py, *at);
                    *at += 1;
                    match (key, self.leaf(py, *at)) {
                        (Some(key), Some(value)) => {
                            *at += 1;
                            dict.set_item(key, value)?;
                        }
                        (Some(key), None) => dict.set_item(key, self.step(py, at)?)?,
                        // Every member was given its key.
                        (None, _) => {}
                    }
                }
                Ok(dict.into_any())
            }
            Some(Step::List(items)) => {
                let list = PyList::empty(py);
                for _ in 0..*items {
                    match self.leaf(py, *at) {
                        Some(leaf) => {
                            *at += 1;
                            list.append(leaf)?;
                        }
                        None => list.append(self.step(py, at)?)?,
                    }
                }
                Ok(list.into_any())
            }
            Some(Step::Leaf(leaf)) => Ok(leaf.bind(py).clone()),
            None => Ok(py.None().into_bound(py)),
        }
    }

    fn leaf<'t, 'py>(&'t self, py: Python<'py>, at: usize) -> Option<&'t Bound<'py, PyAny>> {
        match self.steps.get(at) {
            Some(Step::Leaf(leaf)) => Some(leaf.bind(py)),
            _ => None,
        }
    }
}

/// A value of exactly one of JSON's plain types that JSON can say.
pub(super) fn is_leaf(value: &Bound<'_, PyAny>) -> bool {
    if let Ok(text) = value.cast_exact::<PyString>() {
        return text.to_str().is_ok();
    }
    value.is_none() || value.is_exact_instance_of::<PyBool>() || is_number(value)
}

pub(super) fn is_number(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyInt>() || value.cast_exact::<PyFloat>().is_ok_and(|float| float.value().is_finite())
}
