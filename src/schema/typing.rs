//! Values written as bare text (XML parameters and their like) get the type that the schema expects.
use crate::turn::ArgumentValue;
use serde_json::Value;
use std::borrow::Cow;

/// The JSON types a value may have, as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected(u8);

impl Expected {
    /// The schema says nothing.
    pub const ANY: Self = Self(0);
    pub const STRING: Self = Self(1);

    /// What `schema` expects; `root` is where its `$ref`s point.
    pub fn of(schema: &Value, _root: &Value) -> Self {
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Self::STRING,
            Some(_) => Self(2),
            None => Self::ANY,
        }
    }

    /// A value can only be a string, so its text streams as it is written.
    pub fn is_string(self) -> bool {
        self == Self::STRING
    }
}

/// The value that bare text means where the schema expects `expected`.
pub fn read_text(text: &str, expected: Expected) -> ArgumentValue<'_> {
    if !expected.is_string() && expected != Expected::ANY && serde_json::from_str::<Value>(text.trim()).is_ok() {
        return ArgumentValue::Json(Cow::Borrowed(text.trim()));
    }
    ArgumentValue::Text(Cow::Borrowed(text))
}
