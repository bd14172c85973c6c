//! Python objects straight from JSON text, by jiter's reader: in one pass, with a limit of depth of our own.
//!
//! jiter's own way into Python takes a fixed limit, so a caller who wants another would have to read the text twice. And
//! the objects of a list mostly have the same keys in the same order, which a row of the last ones finds without hashing.
use jiter::{Jiter, Peek};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};

/// So many keys are remembered.
const MAX_KEYS: usize = 32;

/// The value of a JSON text that is nested no deeper than `max_depth`; `None` for anything else, and for what jiter
/// refuses beyond that: numbers of more than 4,300 digits.
pub(super) fn objects<'py>(py: Python<'py>, json: &str, max_depth: usize) -> Option<Bound<'py, PyAny>> {
    let reader = Jiter::new(json.as_bytes());
    let mut builder = Builder { py, reader, depth: max_depth, items: Vec::new(), keys: Keys::default() };
    let first = builder.reader.peek().ok()?;
    let value = builder.value(first)?;
    builder.reader.finish().ok()?;
    Some(value)
}

struct Builder<'j, 'py> {
    py: Python<'py>,
    reader: Jiter<'j>,
    /// How much deeper the value may be nested.
    depth: usize,
    /// The items so far of all lists that are open.
    items: Vec<Bound<'py, PyAny>>,
    keys: Keys<'py>,
}

impl<'py> Builder<'_, 'py> {
    fn value(&mut self, first: Peek) -> Option<Bound<'py, PyAny>> {
        match first {
            Peek::String => Some(PyString::new(self.py, self.reader.known_str().ok()?).into_any()),
            Peek::Object => self.nested(Self::dict),
            Peek::Array => self.nested(Self::list),
            Peek::Null => {
                self.reader.known_null().ok()?;
                Some(self.py.None().into_bound(self.py))
            }
            Peek::True | Peek::False => {
                let truth = self.reader.known_bool(first).ok()?;
                Some(PyBool::new(self.py, truth).to_owned().into_any())
            }
            number => self.reader.known_number(number).ok()?.into_pyobject(self.py).ok(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Option<Bound<'py, PyAny>>) -> Option<Bound<'py, PyAny>> {
        self.depth = self.depth.checked_sub(1)?;
        let value = read(self)?;
        self.depth += 1;
        Some(value)
    }

    fn list(&mut self) -> Option<Bound<'py, PyAny>> {
        let before = self.items.len();
        let mut next = self.reader.known_array().ok()?;
        while let Some(first) = next {
            let item = self.value(first)?;
            self.items.push(item);
            next = self.reader.array_step().ok()?;
        }
        Some(PyList::new(self.py, self.items.drain(before..)).ok()?.into_any())
    }

    fn dict(&mut self) -> Option<Bound<'py, PyAny>> {
        let dict = PyDict::new(self.py);
        let mut next = self.reader.known_object().ok()?;
        while let Some(written) = next {
            let key = self.keys.get(self.py, written);
            let first = self.reader.peek().ok()?;
            let value = self.value(first)?;
            dict.set_item(key, value).ok()?;
            next = self.reader.next_key().ok()?;
        }
        Some(dict.into_any())
    }
}

/// Keys that were met, in the order of their first meeting.
#[derive(Default)]
struct Keys<'py> {
    known: Vec<(Box<str>, Bound<'py, PyString>)>,
    /// The one that comes next, if this object is like the last one.
    expected: usize,
}

impl<'py> Keys<'py> {
    fn get(&mut self, py: Python<'py>, written: &str) -> Bound<'py, PyString> {
        let is = |known: &&(Box<str>, Bound<'py, PyString>)| &*known.0 == written;
        if let Some((_, key)) = self.known.get(self.expected).filter(is) {
            self.expected += 1;
            return key.clone();
        }
        if let Some(found) = self.known.iter().position(|known| is(&known)) {
            self.expected = found + 1;
            return self.known.get(found).map_or_else(|| PyString::new(py, written), |(_, key)| key.clone());
        }
        let key = PyString::new(py, written);
        if self.known.len() < MAX_KEYS {
            self.known.push((written.into(), key.clone()));
            self.expected = self.known.len();
        }
        key
    }
}
