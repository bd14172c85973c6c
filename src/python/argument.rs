//! What arguments of Python mean that several functions take: counts, and words of a closed list.
use super::convert::a_type;
use crate::{Error, ErrorCode};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;

/// The one of `all` that is spelt `text`, given for the option `name`.
pub(super) fn word<W: Copy>(name: &str, all: &[W], spelling: fn(W) -> &'static str, text: &str) -> Result<W, Error> {
    all.iter().copied().find(|word| spelling(*word) == text).ok_or_else(|| {
        let words: Vec<_> = all.iter().map(|word| format!("{:?}", spelling(*word))).collect();
        Error::at(ErrorCode::BadOption, name, format!("{text:?} is none of {}", words.join(", ")))
    })
}

/// A count as Python has it: an integer that is none is out of range, like any other value that an option may not have.
#[derive(Clone, Copy)]
pub(super) struct Count(Option<usize>);

impl Count {
    pub(super) const fn of(count: usize) -> Self {
        Self(Some(count))
    }

    /// The count, given for the option `name`.
    pub(super) fn get(self, name: &str) -> Result<usize, Error> {
        let error = || Error::at(ErrorCode::BadOption, name, "the number is negative or too large");
        self.0.ok_or_else(error)
    }

    /// The count given for `name`, if one was given.
    pub(super) fn given(count: Option<Self>, name: &str) -> Result<Option<usize>, Error> {
        count.map(|count| count.get(name)).transpose()
    }
}

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract() {
            Ok(count) => Ok(Self(Some(count))),
            Err(error) if PyErr::is_instance_of::<PyOverflowError>(&error, value.py()) => Ok(Self(None)),
            Err(_) => Err(PyTypeError::new_err(format!("a whole number is needed, not {}", a_type(&value)))),
        }
    }
}
