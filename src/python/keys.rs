//! Names of tools and of members as Python strings. The same few are written in call after call, so the string that was
//! made for one is kept for the next, with its hash.
use crate::bytes::same;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::{Mutex, MutexGuard};

/// Keys remembered, each at a place that its text decides.
const PLACES: usize = 256;
/// Longer ones are data rather than names.
const LONGEST: usize = 48;

type Known = [Option<(Box<str>, Py<PyString>)>; PLACES];

static KNOWN: Mutex<Known> = Mutex::new([const { None }; PLACES]);

/// The keys met so far, for as long as one value is built.
pub(super) struct Keys<'py> {
    py: Python<'py>,
    /// None while somebody else has them: a finaliser that ran in between, or another thread without a GIL.
    known: Option<MutexGuard<'static, Known>>,
}

impl<'py> Keys<'py> {
    pub(super) fn open(py: Python<'py>) -> Self {
        Self { py, known: KNOWN.try_lock().ok() }
    }

    pub(super) fn get(&mut self, key: &str) -> Bound<'py, PyString> {
        self.with(key, Bound::clone)
    }

    /// What `look` makes of the string of `key`. It is lent, since most are used once and stay here.
    #[inline]
    pub(super) fn with<T>(&mut self, key: &str, look: impl FnOnce(&Bound<'py, PyString>) -> T) -> T {
        let known = self.known.as_mut().filter(|_| key.len() <= LONGEST);
        let Some(place) = known.and_then(|known| known.get_mut(place(key))) else {
            return look(&PyString::new(self.py, key));
        };
        match place {
            Some((text, string)) if same(text.as_bytes(), key.as_bytes()) => look(string.bind(self.py)),
            place => {
                let string = PyString::intern(self.py, key);
                *place = Some((key.into(), string.clone().unbind()));
                look(&string)
            }
        }
    }
}

/// Four of its bytes and its length tell most keys apart.
fn place(key: &str) -> usize {
    let at = |i: usize| key.as_bytes().get(i).copied().unwrap_or_default();
    let (length, last) = (key.len(), key.len().wrapping_sub(1));
    let mixed = u32::from_le_bytes([at(0), at(1), at(length / 2), at(last)]) ^ (length as u32).rotate_right(12);
    (mixed.wrapping_mul(0x9e37_79b9) >> 24) as usize
}
