//! A conversation in words of its own: what every provider's messages are read into and written from.
use crate::provider::Provider;
use crate::schema::{INPUT, ToolSet, input_of};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The system prompt, or the developer's.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// Results of tools.
    Tool,
}

/// Where a medium's bytes are.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// The bytes themselves, in base64.
    Base64(String),
    /// Where they can be fetched.
    Url(String),
    /// A reference that only its provider can follow.
    Foreign(Value),
}

/// What kind of medium it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A sound.
    Audio,
    /// A film.
    Video,
    /// A file of any other kind.
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

    /// The word for it.
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
    /// What it is.
    pub kind: MediaKind,
    /// Its MIME type.
    pub mime: String,
    /// Where its bytes are.
    pub source: Source,
    /// The file's name, if it has one.
    pub name: Option<String>,
    /// How closely a picture is to be looked at, in the word of OpenAI's APIs, where it says another than `auto`.
    pub detail: Option<String>,
}

/// A call in a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What its result is paired by.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, or a free-text tool's input.
    pub arguments: String,
    /// The history holds the arguments as an object.
    pub object: bool,
    /// It calls a free-text tool: the arguments are its input.
    pub custom: bool,
}

/// A tool's result in a history.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The id of the call that it answers; empty if the history tells none.
    pub id: String,
    /// The tool's name, where the history tells it.
    pub name: String,
    /// What the tool returned.
    pub parts: Vec<Part>,
    /// The tool failed.
    pub is_error: bool,
    /// It answers a call of a free-text tool; where the call is in the history, that decides.
    pub custom: bool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A JSON value, for providers that take one as a tool's result.
    Json(Value),
    /// An image, a sound, a video or a document.
    Media(Media),
    /// A call that the model made.
    Call(Call),
    /// The result of a call.
    Answer(Answer),
    /// Something that only its provider understands, as that spells it.
    Opaque(Provider, Value),
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in its order.
    pub parts: Vec<Part>,
    /// The reasoning as text.
    pub reasoning: String,
    /// What must go back to a provider untouched, by provider: as in [`crate::Turn::provider_state`].
    pub state: Map<String, Value>,
    /// The index of the message that this was read from.
    pub origin: usize,
}

impl Message {
    /// A message without reasoning and state.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { role, parts, reasoning: String::new(), state: Map::new(), origin: 0 }
    }

    /// A message of text alone.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Part::Text(text.into())])
    }

    /// Writes calls of free-text tools as calls of functions with one string.
    pub(crate) fn own_input(&mut self) {
        for part in &mut self.parts {
            if let Part::Call(call) = part
                && std::mem::take(&mut call.custom)
            {
                call.arguments = json!({ INPUT: call.arguments }).to_string();
            }
        }
    }

    /// Writes calls of those of `tools` that take free text as calls of such.
    pub(super) fn free_input(&mut self, tools: &ToolSet) {
        for part in &mut self.parts {
            if let Part::Call(call) = part
                && !call.custom
                && tools.takes_text(&call.name)
                && let Some(input) = input_of(&call.arguments)
            {
                (call.arguments, call.custom) = (input, true);
            }
        }
    }

    /// The calls among the parts, in their order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The results among the parts, in their order.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.parts.iter().filter_map(|part| match part {
            Part::Answer(answer) => Some(answer),
            _ => None,
        })
    }

    /// All text. A model's is joined as it came: providers cut it in the middle of a sentence.
    pub fn all_text(&self) -> String {
        if self.role == Role::Assistant {
            let texts = self.parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            });
            return texts.collect();
        }
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

/// The text among `parts`, JSON values as text; each begins a line of its own, whatever stood between them.
pub fn text_of(parts: &[Part]) -> String {
    text_with(parts, |_| None)
}

/// As [`text_of`], with `words` in the places of media.
pub(in crate::provider) fn text_with(parts: &[Part], mut words: impl FnMut(&Media) -> Option<String>) -> String {
    let mut out = String::new();
    for part in parts {
        let text = match part {
            Part::Text(text) => Cow::Borrowed(text.as_str()),
            Part::Json(value) => Cow::Owned(value.to_string()),
            Part::Media(media) => Cow::Owned(words(media).unwrap_or_default()),
            _ => continue,
        };
        if !(out.is_empty() || text.is_empty() || out.ends_with('\n') || text.starts_with('\n')) {
            out.push('\n');
        }
        out.push_str(&text);
    }
    out
}
