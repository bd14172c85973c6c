//! Text on its way to Python, copied as late and as little as possible.
use super::convert::type_name;
use crate::turn::{Event, ToolCall, Turn};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PySequence, PyString};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A piece of text in a result: a range of the input where it stands there, else a text of its own.
///
/// Results keep the input `str` alive and cut pieces out of it when they are asked for. So reading 200 KB of prose
/// copies nothing, and `raw` costs nothing unless somebody looks at it.
pub(super) use crate::engine::Piece as Text;

/// Keeps `text`, as a range of `input` if it points into it.
pub(super) fn kept(text: Cow<'_, str>, input: &str) -> Text {
    match text {
        Cow::Borrowed("") => Text::Span(0..0),
        Cow::Borrowed(piece) => {
            let start = (piece.as_ptr().addr()).wrapping_sub(input.as_ptr().addr());
            match start.checked_add(piece.len()) {
                Some(end) if end <= input.len() => Text::Span(start..end),
                _ => Text::Made(piece.to_owned()),
            }
        }
        Cow::Owned(text) => Text::Made(text),
    }
}

/// Where a piece stands in the text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// In no text, or in one that nobody kept.
    Unknown,
    /// At these bytes of the input, whose characters are counted when somebody asks.
    Bytes(Range<usize>),
    Characters(Range<usize>),
}

impl Place {
    /// The place of what stands at these `characters`.
    pub(super) fn of(characters: Option<Range<usize>>) -> Self {
        characters.map_or(Self::Unknown, Self::Characters)
    }
}

/// Converts byte offsets of a text to offsets in characters. Ascending offsets cost one pass over the text together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CharacterCount {
    bytes: usize,
    characters: usize,
}

impl CharacterCount {
    /// The number of characters before the byte offset `at` of `text`.
    pub(super) fn before(&mut self, text: &str, at: usize) -> usize {
        if at < self.bytes {
            *self = Self::default();
        }
        self.characters += text.get(self.bytes..at).unwrap_or_default().chars().count();
        self.bytes = at;
        self.characters
    }

    /// Gives the span of `call`, in bytes of `text`, in characters.
    pub(super) fn convert_call(&mut self, text: &str, call: &mut ToolCall<'_>) {
        if let Some(span) = &mut call.span {
            *span = self.before(text, span.start)..self.before(text, span.end);
        }
    }

    /// As [`Self::convert_call`], for every place in `turn`.
    pub(super) fn convert_turn(&mut self, text: &str, turn: &mut Turn<'_>) {
        turn.tool_calls.iter_mut().for_each(|call| self.convert_call(text, call));
        turn.reasoning_end = turn.reasoning_end.map(|end| self.before(text, end));
    }

    /// As [`Self::convert_call`], for the call of `event`, if it has one.
    pub(super) fn convert_event(&mut self, text: &str, event: &mut Event) {
        if let Event::CallEnded { call, .. } = event {
            self.convert_call(text, call);
        }
    }
}

/// The `str` that a result was read from; nothing for results that own all their text.
#[derive(Debug)]
pub(super) enum Input {
    None,
    /// Its UTF-8 is Python's: kept in the object, or the object itself where all is ASCII.
    Str(Py<PyString>),
    Encoded(Arc<Encoded>),
}

/// A long `str` and its UTF-8.
#[derive(Debug)]
pub(super) struct Encoded {
    object: Py<PyString>,
    utf8: String,
}

/// From how many characters on a text is encoded in slices: below, that saves less than it takes to ask.
const LONG: usize = 8 * 1024;
/// The characters of one slice.
const SLICE: usize = 4 * 1024;

impl Input {
    /// The input, and the byte offset of its first lone surrogate, where there is one: U+FFFD takes the place of each.
    pub(super) fn new(text: &Bound<'_, PyString>) -> PyResult<(Self, Option<usize>)> {
        if let Some(utf8) = in_slices(text)? {
            return Ok((Self::Encoded(Arc::new(Encoded { object: text.clone().unbind(), utf8 })), None));
        }
        Ok(match utf8(text)? {
            (_, None) => (Self::Str(text.clone().unbind()), None),
            (replaced, surrogate) => (Self::Str(PyString::new(text.py(), &replaced).unbind()), surrogate),
        })
    }

    pub(super) fn clone_ref(&self, py: Python<'_>) -> Self {
        match self {
            Self::None => Self::None,
            Self::Str(text) => Self::Str(text.clone_ref(py)),
            Self::Encoded(text) => Self::Encoded(Arc::clone(text)),
        }
    }

    fn object(&self) -> Option<&Py<PyString>> {
        match self {
            Self::None => None,
            Self::Str(text) => Some(text),
            Self::Encoded(text) => Some(&text.object),
        }
    }

    /// The input as text. It was UTF-8 when it came in and `str` never changes, so there is no error to report.
    pub(super) fn as_str<'a>(&'a self, py: Python<'_>) -> &'a str {
        match self {
            Self::None => "",
            Self::Str(text) => text.to_str(py).unwrap_or_default(),
            Self::Encoded(text) => &text.utf8,
        }
    }

    /// The characters at which `place` begins and ends.
    pub(super) fn characters(&self, py: Python<'_>, place: &Place) -> Option<Range<usize>> {
        match place {
            Place::Unknown => None,
            Place::Bytes(bytes) => {
                let (text, mut count) = (self.as_str(py), CharacterCount::default());
                Some(count.before(text, bytes.start)..count.before(text, bytes.end))
            }
            Place::Characters(characters) => Some(characters.clone()),
        }
    }

    /// `text` as a `str`; the input object itself where the text is all of it.
    pub(super) fn to_py<'py>(&self, py: Python<'py>, text: &Text) -> Bound<'py, PyString> {
        self.cut(py, self.as_str(py), text)
    }

    /// As [`Self::to_py`], where the input is known to be `all`.
    pub(super) fn cut<'py>(&self, py: Python<'py>, all: &str, text: &Text) -> Bound<'py, PyString> {
        match (self.object(), text) {
            (Some(input), Text::Span(range)) if *range == (0..all.len()) => input.bind(py).clone(),
            _ => PyString::new(py, text.as_str(all)),
        }
    }
}

/// The UTF-8 of a long text with a character that is not ASCII; `None` for any other text, and where a lone surrogate
/// stands in it.
///
/// Python encodes such a text character by character, and one marker or one curly quote is enough for that. A slice of
/// it that is all ASCII is ASCII by itself, and copied. A subclass may have slices of its own.
fn in_slices(text: &Bound<'_, PyString>) -> PyResult<Option<String>> {
    let py = text.py();
    let chars = text.len()?;
    if chars < LONG
        || !text.is_exact_instance_of::<PyString>()
        || text.call_method0(intern!(py, "isascii"))?.is_truthy()?
    {
        return Ok(None);
    }
    let slices = text.cast::<PySequence>()?;
    // Room for some characters that take more than a byte.
    let mut utf8 = String::with_capacity(chars + chars / 8);
    for start in (0..chars).step_by(SLICE) {
        let slice = slices.get_slice(start, start + SLICE)?;
        match slice.cast::<PyString>()?.to_str() {
            Ok(slice) => utf8.push_str(slice),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(utf8))
}

pub(super) fn no_text(what: &str, value: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("{what} is str or bytes, not {}", type_name(value)))
}

/// What a `bytes` or `bytearray` holds; `None` for anything else.
pub(super) fn bytes_of<'a>(value: &'a Bound<'_, PyAny>) -> Option<Cow<'a, [u8]>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Some(Cow::Borrowed(bytes.as_bytes()));
    }
    value.cast::<PyByteArray>().ok().map(|bytes| Cow::Owned(bytes.to_vec()))
}

/// The text of a `str` or of bytes, with U+FFFD for what is none, and where the first of these stands.
pub(super) fn text_of<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<(Cow<'a, str>, Option<usize>)> {
    if let Ok(text) = value.cast::<PyString>() {
        return utf8(text);
    }
    let bytes = bytes_of(value).ok_or_else(|| no_text("text", value))?;
    if let Cow::Borrowed(bytes) = bytes
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Ok((Cow::Borrowed(text), None));
    }
    let (text, replaced) = crate::utf8::decode(&bytes);
    Ok((Cow::Owned(text), replaced))
}

/// The text of a `str` that is a value and no piece of a stream: halves of a character that stand side by side are joined,
/// as in JSON text, and U+FFFD takes the place of one that stands alone.
pub(super) fn whole<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let encoded: Vec<u8> = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?.extract()?;
    let units = encoded.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit));
    Ok(Cow::Owned(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()))
}

/// An argument that is text of a model or a tool, as [`whole`] reads it.
pub(super) struct Whole(pub(super) String);

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(whole(value.cast::<PyString>()?.as_any().cast()?)?.into_owned()))
    }
}

/// The text of a `str`. Python allows lone surrogates in it, which no UTF-8 has: U+FFFD takes the place of each, and
/// the second value is the byte offset of the first.
pub(super) fn utf8<'a>(text: &'a Bound<'_, PyString>) -> PyResult<(Cow<'a, str>, Option<usize>)> {
    if let Ok(text) = text.to_str() {
        return Ok((Cow::Borrowed(text), None));
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    let mut bytes: Vec<u8> = encoded.extract()?;
    let mut first = None;
    let mut at = 0;
    // A surrogate is encoded as ED A0..BF xx, three bytes like U+FFFD (EF BF BD), and ED is never a later byte.
    while let Some(i) = bytes.get(at..).and_then(|rest| memchr::memchr(0xed, rest)) {
        at += i;
        if let Some(code @ [_, 0xa0..=0xbf, _]) = bytes.get_mut(at..at + 3) {
            code.copy_from_slice("\u{fffd}".as_bytes());
            first.get_or_insert(at);
        }
        at += 3;
    }
    Ok((Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()), first))
}
