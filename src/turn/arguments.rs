//! The arguments of a call, kept as the model wrote them until somebody asks for another form.
use serde_json::Value;
use std::borrow::Cow;

/// One argument written outside JSON (an XML parameter): bare text for a string, JSON text for all else.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentValue<'a> {
    /// A string, unescaped.
    Text(Cow<'a, str>),
    /// Any value, as valid JSON text.
    Json(Cow<'a, str>),
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments<'a> {
    /// Valid JSON text, byte for byte as the model wrote it where that was valid. Usually an object.
    Json(Cow<'a, str>),
    /// Named arguments of a dialect whose values are not JSON; keys are unique.
    Members(Vec<(Cow<'a, str>, ArgumentValue<'a>)>),
}

impl Default for Arguments<'_> {
    fn default() -> Self {
        Self::Json(Cow::Borrowed("{}"))
    }
}

impl<'a> Arguments<'a> {
    /// The arguments as JSON text: borrowed where they are JSON already.
    pub fn to_json(&self) -> Cow<'_, str> {
        match self {
            Self::Json(text) => Cow::Borrowed(text),
            Self::Members(members) => {
                let size = members.iter().map(|(k, v)| k.len() + v.text().len() + 8).sum::<usize>();
                let mut out = String::with_capacity(size + size / 16 + 2);
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    crate::json::push_string(&mut out, key);
                    out.push_str(": ");
                    match value {
                        ArgumentValue::Text(text) => crate::json::push_string(&mut out, text),
                        ArgumentValue::Json(text) => out.push_str(text),
                    }
                }
                out.push('}');
                Cow::Owned(out)
            }
        }
    }

    /// The arguments as a JSON value; `null` only if the text is no JSON, which no constructor here lets happen.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.to_json()).unwrap_or(Value::Null)
    }

    /// The same without what it borrows.
    pub fn into_owned(self) -> Arguments<'static> {
        match self {
            Self::Json(text) => Arguments::Json(Cow::Owned(text.into_owned())),
            Self::Members(members) => Arguments::Members(
                members.into_iter().map(|(k, v)| (Cow::Owned(k.into_owned()), v.into_owned())).collect(),
            ),
        }
    }
}

impl ArgumentValue<'_> {
    /// The text as kept: unescaped for a string, JSON for all else.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Json(text) => text,
        }
    }

    /// The same without what it borrows.
    pub fn into_owned(self) -> ArgumentValue<'static> {
        match self {
            Self::Text(text) => ArgumentValue::Text(Cow::Owned(text.into_owned())),
            Self::Json(text) => ArgumentValue::Json(Cow::Owned(text.into_owned())),
        }
    }
}
