//! Text in blocks that only their provider knows: it can be told to every other.
use super::media;
use super::model::{Media, Part};
use serde_json::Value;

/// What a block says in parts that every provider takes: a document of text or search results, as Anthropic and Bedrock
/// have them. `None` if there is no text in it that could be told.
pub(super) fn words(block: &Value) -> Option<Vec<Part>> {
    let bedrock = ["document", "searchResult"].iter().find_map(|key| block.get(key).filter(|inner| inner.is_object()));
    let inner = bedrock.unwrap_or(block);
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let source = inner.get("source")?;
    let said = match source {
        // Where search results were found; the text is beside it.
        Value::String(_) => content(inner.get("content")?),
        _ => match text(source, "data").filter(|_| text(source, "type").as_deref() == Some("text")) {
            Some(data) => vec![Part::Text(data)],
            None => match text(source, "text") {
                Some(text) => vec![Part::Text(text)],
                None => content(source.get("content")?),
            },
        },
    };
    if said.is_empty() {
        return None;
    }
    let name = text(inner, "title").or_else(|| text(inner, "name"));
    let title = match (name, source.as_str()) {
        (Some(name), Some(place)) => format!("{name} ({place})"),
        (name, place) => name.or_else(|| place.map(str::to_owned)).unwrap_or_default(),
    };
    let context = text(inner, "context").map(Part::Text);
    Some(under(&title, context.into_iter().chain(said).collect()))
}

/// Text, or blocks of text and media.
fn content(content: &Value) -> Vec<Part> {
    match content {
        Value::String(text) => vec![Part::Text(text.clone())],
        Value::Array(blocks) => {
            let part = |block: &Value| match block.get("text").and_then(Value::as_str) {
                Some(text) => Some(Part::Text(text.to_owned())),
                None => media::read(block).map(Part::Media),
            };
            blocks.iter().filter_map(part).collect()
        }
        _ => Vec::new(),
    }
}

/// The parts with a title before them.
fn under(title: &str, mut parts: Vec<Part>) -> Vec<Part> {
    match parts.first_mut() {
        _ if title.is_empty() => {}
        Some(Part::Text(text)) => text.insert_str(0, &format!("{title}:\n")),
        _ => parts.insert(0, Part::Text(format!("{title}:"))),
    }
    parts
}

/// The parts with the text of opaque ones in their place, where there may be nothing but text.
pub(super) fn spelt_out(parts: &[Part]) -> Vec<Part> {
    let spelt = |part: &Part| match part {
        Part::Opaque(_, block) => words(block).unwrap_or_else(|| vec![part.clone()]),
        part => vec![part.clone()],
    };
    parts.iter().flat_map(spelt).collect()
}

impl Media {
    /// The text of a document that is one, under its name.
    pub(super) fn to_text(&self) -> Option<String> {
        let text = self.plain_text()?;
        Some(match &self.name {
            Some(name) => format!("{name}:\n{text}"),
            None => text,
        })
    }
}
