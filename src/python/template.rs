//! Copies of Python structures, made cheaply and often: what is handed out again and again must not be what a caller
//! has in hand and may change.
use super::convert::MAX_DEPTH;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// A dict or list of JSON's values as it was when read; never handed out itself.
#[derive(Debug)]
pub(super) struct Template {
    shell: Shell,
    /// What in the shell is a dict or list itself: it is copied too.
    inner: Vec<(Place, Template)>,
}

/// One level: strings, numbers and their like are shared, what can be changed is replaced in every copy.
#[derive(Debug)]
enum Shell {
    Dict(Py<PyDict>),
    List(Py<PyList>),
}

#[derive(Debug)]
pub(super) enum Place {
    Key(Py<PyString>),
    Index(usize),
}

impl Template {
    /// A template of a dict, and of what in it `inner` says has to be copied as well.
    pub(super) fn of_dict(shell: &Bound<'_, PyDict>, inner: Vec<(Place, Self)>) -> Self {
        Self { shell: Shell::Dict(shell.clone().unbind()), inner }
    }

    pub(super) fn of_list(shell: &Bound<'_, PyList>, inner: Vec<(Place, Self)>) -> Self {
        Self { shell: Shell::List(shell.clone().unbind()), inner }
    }

    /// The template of a dict or list of exactly JSON's types; the value is read, not kept. `None` for anything else, and
    /// for what JSON cannot say.
    pub(super) fn of(value: &Bound<'_, PyAny>, depth: usize) -> Option<Self> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut inner = Vec::new();
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            let shell = dict.copy().ok()?;
            for (key, value) in &shell {
                let key = key.cast_into_exact::<PyString>().ok()?;
                key.to_str().ok()?;
                if !is_leaf(&value) {
                    inner.push((Place::Key(key.unbind()), Self::of(&value, depth + 1)?));
                }
            }
            return Some(Self::of_dict(&shell, inner));
        }
        let shell = value.cast_exact::<PyList>().ok()?;
        let shell = shell.get_slice(0, shell.len());
        for (i, value) in shell.iter().enumerate() {
            if !is_leaf(&value) {
                inner.push((Place::Index(i), Self::of(&value, depth + 1)?));
            }
        }
        Some(Self::of_list(&shell, inner))
    }

    /// A structure like the one that was read, with nothing in it that another copy shares and anyone can change.
    pub(super) fn copy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.shell {
            Shell::Dict(shell) => {
                let dict = shell.bind(py).copy()?;
                for (place, template) in &self.inner {
                    if let Place::Key(key) = place {
                        dict.set_item(key, template.copy(py)?)?;
                    }
                }
                Ok(dict.into_any())
            }
            Shell::List(shell) => {
                let shell = shell.bind(py);
                let list = shell.get_slice(0, shell.len());
                for (place, template) in &self.inner {
                    if let Place::Index(at) = place {
                        list.set_item(*at, template.copy(py)?)?;
                    }
                }
                Ok(list.into_any())
            }
        }
    }

    /// The part under a key.
    pub(super) fn part(&self, py: Python<'_>, name: &str) -> Option<&Self> {
        self.inner.iter().find_map(|(place, template)| match place {
            Place::Key(key) if key.bind(py).to_str().is_ok_and(|key| key == name) => Some(template),
            _ => None,
        })
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
