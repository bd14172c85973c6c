//! What was found, as ranges of the input where it stands there: text, the values of parameters, arguments.
use crate::turn::{ArgumentValue, Arguments};
use std::borrow::Cow;
use std::ops::Range;

/// Text that is a range of the input, or was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Span(Range<usize>),
    Made(String),
}

impl Piece {
    /// The text of it, where `text` is the input.
    pub(crate) fn get<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self {
            Self::Span(range) => Cow::Borrowed(text.get(range.clone()).unwrap_or("")),
            Self::Made(made) => Cow::Owned(made.clone()),
        }
    }

    /// How many bytes it has.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Span(range) => range.len(),
            Self::Made(made) => made.len(),
        }
    }

    /// As [`Self::get`], without a copy.
    #[inline]
    pub(crate) fn as_str<'t>(&'t self, text: &'t str) -> &'t str {
        match self {
            Self::Span(range) => text.get(range.clone()).unwrap_or(""),
            Self::Made(made) => made,
        }
    }

    /// As [`Self::as_str`], for a comparison: where it begins and ends is not looked at.
    #[inline]
    pub(crate) fn as_bytes<'t>(&'t self, text: &'t str) -> &'t [u8] {
        match self {
            Self::Span(range) => text.as_bytes().get(range.clone()).unwrap_or_default(),
            Self::Made(made) => made.as_bytes(),
        }
    }

    pub(super) fn into_text(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Span(range) => Cow::Borrowed(text.get(range).unwrap_or("")),
            Self::Made(made) => Cow::Owned(made),
        }
    }
}

/// A parameter's value as found.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(Piece),
    Json(Piece),
}

/// Arguments as found.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    Json(Piece),
    Members(Vec<(Piece, Value)>),
}

impl Found {
    /// No arguments.
    pub(crate) const fn none() -> Self {
        Self::Members(Vec::new())
    }

    /// There are none, or an empty object.
    pub(crate) fn say_nothing(&self) -> bool {
        match self {
            Self::Json(piece) => piece.len() <= "{}".len(),
            Self::Members(members) => members.is_empty(),
        }
    }

    /// They are an object, not a value of another kind that stood in their place.
    pub(crate) fn is_object(&self) -> bool {
        match self {
            Self::Json(Piece::Made(json)) => json.starts_with('{'),
            Self::Json(Piece::Span(_)) | Self::Members(_) => true,
        }
    }

    /// How many bytes the arguments take.
    pub(crate) fn len(&self) -> usize {
        let value = |value: &Value| match value {
            Value::Text(piece) | Value::Json(piece) => piece.len(),
        };
        match self {
            Self::Json(piece) => piece.len(),
            Self::Members(members) => members.iter().map(|(key, v)| key.len() + value(v)).sum(),
        }
    }

    /// The same as one JSON object, whose values were all written as literals.
    pub(crate) fn literals(self, text: &str) -> Self {
        Self::Json(Piece::Made(self.into_arguments(text).to_json().into_owned()))
    }

    /// They are nested more than `limit` deep.
    pub(crate) fn deeper_than(&self, text: &str, limit: usize) -> bool {
        let member = |value: &Value| match value {
            Value::Text(_) => false,
            // Mostly it is so short that it need not be cut out to see it.
            Value::Json(piece) if piece.len() / 2 < limit => false,
            Value::Json(piece) => crate::json::deeper_than(piece.as_str(text), limit.saturating_sub(1)),
        };
        match self {
            Self::Json(piece) => crate::json::deeper_than(piece.as_str(text), limit),
            Self::Members(members) => members.iter().any(|(_, value)| member(value)),
        }
    }

    /// As [`Self::into_arguments`], to look at.
    #[cfg(feature = "python")]
    pub(crate) fn lend<'t>(&'t self, text: &'t str) -> Arguments<'t> {
        let lent = |piece: &'t Piece| Cow::Borrowed(piece.as_str(text));
        let value = |value: &'t Value| match value {
            Value::Text(piece) => ArgumentValue::Text(lent(piece)),
            Value::Json(piece) => ArgumentValue::Json(lent(piece)),
        };
        match self {
            Self::Json(piece) => Arguments::Json(lent(piece)),
            Self::Members(members) => {
                Arguments::Members(members.iter().map(|(key, of)| (lent(key), value(of))).collect())
            }
        }
    }

    /// As a turn has them, cut out of the `text` where they stand in it.
    pub(crate) fn into_arguments(self, text: &str) -> Arguments<'_> {
        match self {
            Self::Json(piece) => Arguments::Json(piece.into_text(text)),
            // Of one size, so that the list is not copied.
            Self::Members(members) => Arguments::Members(
                (members.into_iter())
                    .map(|(key, value)| {
                        let value = match value {
                            Value::Text(piece) => ArgumentValue::Text(piece.into_text(text)),
                            Value::Json(piece) => ArgumentValue::Json(piece.into_text(text)),
                        };
                        (key.into_text(text), value)
                    })
                    .collect(),
            ),
        }
    }
}

impl From<Arguments<'_>> for Found {
    fn from(arguments: Arguments<'_>) -> Self {
        match arguments {
            Arguments::Json(json) => Self::Json(Piece::Made(json.into_owned())),
            Arguments::Members(members) => Self::Members(
                (members.into_iter())
                    .map(|(key, value)| {
                        let value = match value {
                            ArgumentValue::Text(text) => Value::Text(Piece::Made(text.into_owned())),
                            ArgumentValue::Json(json) => Value::Json(Piece::Made(json.into_owned())),
                        };
                        (Piece::Made(key.into_owned()), value)
                    })
                    .collect(),
            ),
        }
    }
}
