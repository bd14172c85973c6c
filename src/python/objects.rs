//! Python objects straight from JSON text, in one pass: the text is mostly known to be valid, and most of it is strings.
use super::convert::number_to_py;
use super::keys::Keys;
use crate::json::{find_special, read_string};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString};
use std::ops::Range;

/// Arrays and objects are built by recursion.
const MAX_DEPTH: usize = 200;

/// Builds the value that `json` is, of whose keys `keys` makes strings. `None` if it is not valid JSON, or nested too deep. Raw
/// control characters in strings pass.
pub(super) fn build<'py>(py: Python<'py>, json: &str, keys: &mut Keys<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    build_with(py, json, keys, MAX_DEPTH, false)
}

/// As [`build`], for text of which nothing is known: `None` for whatever the strict scanner would refuse with this limit
/// of depth.
pub(super) fn build_strict<'py>(py: Python<'py>, json: &str, max_depth: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
    build_with(py, json, &mut Keys::open(py), max_depth.min(MAX_DEPTH), true)
}

fn build_with<'py>(
    py: Python<'py>,
    json: &str,
    keys: &mut Keys<'py>,
    max_depth: usize,
    strict: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut builder = Builder { py, json, max_depth, strict, at: 0, text: Vec::new(), keys, failed: None };
    let value = builder.value(0);
    builder.space();
    match builder.failed {
        Some(error) => Err(error),
        None => Ok(value.filter(|_| builder.at == json.len())),
    }
}

struct Builder<'j, 'py> {
    py: Python<'py>,
    json: &'j str,
    max_depth: usize,
    /// Control characters in strings are refused.
    strict: bool,
    at: usize,
    /// The string being read, where it holds escapes; kept for the next one.
    text: Vec<u8>,
    keys: &'j mut Keys<'py>,
    /// What Python raised, if it did. Kept here so that what is handed from value to value is one pointer.
    failed: Option<PyErr>,
}

impl<'j, 'py> Builder<'j, 'py> {
    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        // Mostly there is none.
        while let Some(byte @ ..=b' ') = self.peek() {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                break;
            }
            self.at += 1;
        }
    }

    /// The next byte that is no white space is `byte`: passes it.
    fn passes(&mut self, byte: u8) -> bool {
        self.space();
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn value(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        self.space();
        match self.peek()? {
            b'"' => self.string().map(Bound::into_any),
            b'{' if depth < self.max_depth => self.object(depth),
            b'[' if depth < self.max_depth => self.array(depth),
            b't' => self.word("true").then(|| PyBool::new(self.py, true).to_owned().into_any()),
            b'f' => self.word("false").then(|| PyBool::new(self.py, false).to_owned().into_any()),
            b'n' => self.word("null").then(|| self.py.None().into_bound(self.py)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    #[inline]
    fn word(&mut self, word: &str) -> bool {
        let is = self.json.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        self.at += word.len();
        is
    }

    fn number(&mut self) -> Option<Bound<'py, PyAny>> {
        let rest = self.json.get(self.at..)?;
        let end = rest.bytes().position(|b| !matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let written = rest.get(..end.unwrap_or(rest.len()))?;
        self.at += written.len();
        number_to_py(self.py, written).unwrap_or_else(|error| {
            self.failed = Some(error);
            None
        })
    }

    /// Where the body of the string at `at` is if it holds no escape. Else `at` stands behind its opening quote.
    #[inline(always)]
    fn plain(&mut self) -> Option<Range<usize>> {
        let start = self.at + 1;
        self.at = start;
        let quote = find_special(self.json.as_bytes(), start);
        (self.json.as_bytes().get(quote) == Some(&b'"')).then(|| {
            self.at = quote + 1;
            start..quote
        })
    }

    fn string(&mut self) -> Option<Bound<'py, PyString>> {
        match self.plain() {
            // Between quotes a character ends, so this is text.
            Some(body) => PyString::from_bytes(self.py, self.json.as_bytes().get(body)?).ok(),
            None => self.escaped(),
        }
    }

    /// The string behind the opening quote before `at`.
    fn escaped(&mut self) -> Option<Bound<'py, PyString>> {
        self.text.clear();
        let quote = read_string(self.json.as_bytes(), self.at, &mut self.text)?;
        // Without a branch in it, so that the compiler looks at many bytes at once.
        let controls = |raw: &[u8]| raw.iter().fold(false, |any, byte| any | (*byte < 0x20));
        if self.strict && self.json.as_bytes().get(self.at..quote).is_none_or(controls) {
            return None;
        }
        self.at = quote + 1;
        PyString::from_bytes(self.py, &self.text).ok()
    }

    fn object(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        self.at += 1;
        let dict = PyDict::new(self.py);
        if self.passes(b'}') {
            return Some(dict.into_any());
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return None;
            }
            let key = match self.plain() {
                Some(key) => Ok(self.json.get(key)?),
                None => Err(self.escaped()?),
            };
            if !self.passes(b':') {
                return None;
            }
            let value = self.value(depth + 1)?;
            let set = match key {
                Ok(key) => self.keys.with(key, |key| dict.set_item(key, value)),
                Err(key) => dict.set_item(key, value),
            };
            set.ok()?;
            if !self.passes(b',') {
                return self.passes(b'}').then_some(dict.into_any());
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Bound<'py, PyAny>> {
        self.at += 1;
        let list = PyList::empty(self.py);
        if self.passes(b']') {
            return Some(list.into_any());
        }
        loop {
            let item = self.value(depth + 1)?;
            list.append(item).ok()?;
            if !self.passes(b',') {
                return self.passes(b']').then_some(list.into_any());
            }
        }
    }
}
