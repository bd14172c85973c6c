//! A conversation in words of its own: what every provider's messages are read into and written from.
use crate::provider::Provider;
use serde_json::{Map, Value};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    System,
    User,
    Assistant,
    /// Results of tools.
    Tool,
}

/// Where a medium's bytes are.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    Base64(String),
    Url(String),
    /// A reference that only its provider can follow.
    Foreign(Value),
}

/// What kind of medium it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    Image,
    Audio,
    Video,
    Document,
}

impl MediaKind {
    /// The kind of a MIME type.
    pub fn of(mime: &str) -> Self {
        match mime.split('/').next() {
            Some("image") => Self::Image,
            Some("audio") => Self::Audio,
            Some("video") => Self::Video,
            _ => Self::Document,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::Document => "document",
        }
    }
}

/// An image, a sound, a video or a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Media {
    pub kind: MediaKind,
    pub mime: String,
    pub source: Source,
    pub name: Option<String>,
}

/// A call in a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub id: String,
    pub name: String,
    /// The arguments as JSON text, or a free-text tool's input.
    pub arguments: String,
    /// The history holds the arguments as an object.
    pub object: bool,
    pub custom: bool,
}

/// A tool's result in a history.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    pub id: String,
    /// The tool's name, where the history tells it.
    pub name: String,
    pub parts: Vec<Part>,
    pub is_error: bool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Text(String),
    /// A JSON value, for providers that take one as a tool's result.
    Json(Value),
    Media(Media),
    Call(Call),
    Answer(Answer),
    /// Something that only its provider understands, as that spells it.
    Opaque(Provider, Value),
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    pub parts: Vec<Part>,
    /// The reasoning as text.
    pub reasoning: String,
    /// What must go back to a provider untouched, by provider: as in [`crate::Turn::provider_state`].
    pub state: Map<String, Value>,
    /// The index of the message that this was read from.
    pub origin: usize,
}

impl Message {
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { role, parts, reasoning: String::new(), state: Map::new(), origin: 0 }
    }

    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Part::Text(text.into())])
    }

    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.parts.iter().filter_map(|part| match part {
            Part::Answer(answer) => Some(answer),
            _ => None,
        })
    }

    /// All text, joined.
    pub fn all_text(&self) -> String {
        text_of(&self.parts)
    }
}

/// Adds a message of a provider whose users hand in results: these come first, as a message of tools.
pub(super) fn push_behind(out: &mut Vec<Message>, answers: Vec<Part>, message: Message) {
    if !answers.is_empty() {
        out.push(Message { origin: message.origin, ..Message::new(Role::Tool, answers) });
        if message.parts.is_empty() {
            return;
        }
    }
    out.push(message);
}

/// The text among `parts`, joined; JSON values as text.
pub fn text_of(parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        let text = match part {
            Part::Text(text) => std::borrow::Cow::Borrowed(text.as_str()),
            Part::Json(value) => std::borrow::Cow::Owned(value.to_string()),
            _ => continue,
        };
        if !out.is_empty() && !text.is_empty() && matches!(part, Part::Json(_)) {
            out.push('\n');
        }
        out.push_str(&text);
    }
    out
}
