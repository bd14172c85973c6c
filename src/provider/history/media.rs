//! Media in each provider's spelling.
use super::model::{Media, MediaKind, Source};
use crate::provider::Provider;
use serde_json::{Value, json};

impl Media {
    /// A medium of base64 text. The alphabet for URLs, which google-genai's objects have, becomes the one that all take.
    pub fn base64(mime: &str, data: &str) -> Self {
        let data = if data.contains(['-', '_']) { data.replace('-', "+").replace('_', "/") } else { data.to_owned() };
        Self {
            kind: MediaKind::of(mime),
            mime: mime.to_owned(),
            source: Source::Base64(data),
            name: None,
            detail: None,
        }
    }

    /// A medium at an address, which may be a `data:` URL.
    pub fn url(url: &str, kind: MediaKind) -> Self {
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
        match data {
            Some((mime, data)) => Self::base64(mime, data),
            None => Self { kind, mime: String::new(), source: Source::Url(url.to_owned()), name: None, detail: None },
        }
    }

    /// The address, or the bytes as a `data:` URL.
    pub fn data_url(&self) -> Option<String> {
        match &self.source {
            Source::Base64(data) => Some(format!("data:{};base64,{data}", self.mime)),
            Source::Url(url) => Some(url.clone()),
            Source::Foreign(_) => None,
        }
    }

    /// What it is, for people and models.
    pub fn describe(&self) -> String {
        let what = if self.mime.is_empty() { self.kind.as_str() } else { &self.mime };
        match &self.name {
            Some(name) => format!("{what} `{name}`"),
            None => what.to_owned(),
        }
    }

    /// This as a part of a user's message, or `None` if `provider` takes no such medium there.
    pub fn to_user_part(&self, provider: Provider) -> Option<Value> {
        match provider {
            Provider::OpenAi | Provider::Mistral | Provider::Cohere => self.chat_part(provider),
            Provider::OpenAiResponses => self.responses_part(),
            Provider::Anthropic => self.anthropic_block(),
            Provider::Gemini => self.gemini_part(),
            Provider::Bedrock => self.bedrock_block(),
            // Ollama takes images beside the content.
            Provider::Ollama => None,
        }
    }

    fn chat_part(&self, provider: Provider) -> Option<Value> {
        match (self.kind, &self.source) {
            (MediaKind::Image, _) => {
                let mut image = json!({"url": self.data_url()?});
                // Responses has a word more.
                let detail = self.detail.as_deref().filter(|detail| matches!(*detail, "low" | "high"));
                if let (Some(detail), Value::Object(image)) = (detail, &mut image) {
                    image.insert("detail".into(), json!(detail));
                }
                Some(json!({"type": "image_url", "image_url": image}))
            }
            (MediaKind::Audio, Source::Base64(data)) if provider == Provider::OpenAi => {
                let format = if self.mime.contains("mp3") || self.mime.contains("mpeg") { "mp3" } else { "wav" };
                Some(json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}))
            }
            (MediaKind::Document, Source::Base64(_)) if provider == Provider::OpenAi => {
                let name = self.name.as_deref().unwrap_or("document");
                Some(json!({"type": "file", "file": {"file_data": self.data_url()?, "filename": name}}))
            }
            (MediaKind::Document, _) if provider == Provider::Mistral => {
                Some(json!({"type": "document_url", "document_url": self.data_url()?}))
            }
            _ => None,
        }
    }

    fn responses_part(&self) -> Option<Value> {
        match self.kind {
            MediaKind::Image => {
                let detail = self.detail.as_deref().unwrap_or("auto");
                Some(json!({"type": "input_image", "image_url": self.data_url()?, "detail": detail}))
            }
            MediaKind::Document => match &self.source {
                Source::Url(url) => Some(json!({"type": "input_file", "file_url": url})),
                _ => {
                    let name = self.name.as_deref().unwrap_or("document");
                    Some(json!({"type": "input_file", "filename": name, "file_data": self.data_url()?}))
                }
            },
            _ => None,
        }
    }

    fn anthropic_block(&self) -> Option<Value> {
        let source = match &self.source {
            Source::Base64(data) => json!({"type": "base64", "media_type": self.mime, "data": data}),
            Source::Url(url) => json!({"type": "url", "url": url}),
            Source::Foreign(source) => source.clone(),
        };
        let takes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
        match self.kind {
            MediaKind::Image if self.mime.is_empty() || takes.contains(&self.mime.as_str()) => {
                Some(json!({"type": "image", "source": source}))
            }
            MediaKind::Document => {
                let source = match self.plain_text() {
                    Some(text) => json!({"type": "text", "media_type": "text/plain", "data": text}),
                    None if self.mime == "application/pdf" || self.mime.is_empty() => source,
                    None => return None,
                };
                let mut block = json!({"type": "document", "source": source});
                if let (Some(name), Value::Object(block)) = (&self.name, &mut block) {
                    block.insert("title".into(), json!(name));
                }
                Some(block)
            }
            _ => None,
        }
    }

    /// What a document says that is nothing but text.
    pub(super) fn plain_text(&self) -> Option<String> {
        let Source::Base64(data) = &self.source else { return None };
        let bytes = self.mime.starts_with("text/").then(|| data_encoding::BASE64.decode(data.as_bytes()).ok())??;
        String::from_utf8(bytes).ok()
    }

    pub(super) fn gemini_part(&self) -> Option<Value> {
        match &self.source {
            Source::Base64(data) => Some(json!({"inlineData": {"mimeType": self.mime, "data": data}})),
            Source::Url(url) => {
                let mime = if self.mime.is_empty() { "image/jpeg" } else { &self.mime };
                Some(json!({"fileData": {"fileUri": url, "mimeType": mime}}))
            }
            Source::Foreign(_) => None,
        }
    }

    fn bedrock_block(&self) -> Option<Value> {
        let Source::Base64(data) = &self.source else { return None };
        let (block, format, _) = BEDROCK.iter().find(|(_, _, mime)| *mime == self.mime)?;
        let mut inner = json!({"format": format, "source": {"bytes": data}});
        if *block == "document"
            && let Value::Object(inner) = &mut inner
        {
            inner.insert("name".into(), json!(bedrock_name(self.name.as_deref().unwrap_or("document"))));
        }
        Some(json!({ *block: inner }))
    }
}

/// The media that Bedrock takes: its block, the word for the format, and its MIME type. The first row counts both ways.
const BEDROCK: &[(&str, &str, &str)] = &[
    ("image", "png", "image/png"),
    ("image", "jpeg", "image/jpeg"),
    ("image", "jpeg", "image/jpg"),
    ("image", "gif", "image/gif"),
    ("image", "webp", "image/webp"),
    ("document", "pdf", "application/pdf"),
    ("document", "csv", "text/csv"),
    ("document", "doc", "application/msword"),
    ("document", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("document", "xls", "application/vnd.ms-excel"),
    ("document", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("document", "html", "text/html"),
    ("document", "txt", "text/plain"),
    ("document", "md", "text/markdown"),
    ("video", "mp4", "video/mp4"),
    ("video", "mov", "video/quicktime"),
    ("video", "mkv", "video/x-matroska"),
    ("video", "webm", "video/webm"),
    ("video", "flv", "video/x-flv"),
    ("video", "mpeg", "video/mpeg"),
    ("video", "mpg", "video/mpeg"),
    ("video", "wmv", "video/x-ms-wmv"),
    ("video", "three_gp", "video/3gpp"),
    ("audio", "mp3", "audio/mpeg"),
    ("audio", "mp3", "audio/mp3"),
    ("audio", "wav", "audio/wav"),
    ("audio", "wav", "audio/x-wav"),
    ("audio", "aac", "audio/aac"),
    ("audio", "flac", "audio/flac"),
    ("audio", "ogg", "audio/ogg"),
    ("audio", "opus", "audio/opus"),
    ("audio", "m4a", "audio/mp4"),
    ("audio", "webm", "audio/webm"),
];

/// Bedrock's names of documents are of letters, digits, hyphens, brackets and single blanks.
fn bedrock_name(name: &str) -> String {
    let words = name.split_whitespace().map(|word| {
        word.chars()
            .map(|sign| if sign.is_ascii_alphanumeric() || "()[]".contains(sign) { sign } else { '-' })
            .collect()
    });
    words.collect::<Vec<String>>().join(" ")
}

/// The medium in a part of any provider's spelling.
pub(super) fn read(part: &Value) -> Option<Media> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(image) = part.get("image_url") {
        let url = image.as_str().map(str::to_owned).or_else(|| text(image, "url"))?;
        let mut media = Media::url(&url, MediaKind::Image);
        media.detail = text(image, "detail").or_else(|| text(part, "detail")).filter(|detail| detail != "auto");
        return Some(media);
    }
    if let Some(document) = part.get("document_url").and_then(Value::as_str) {
        return Some(Media::url(document, MediaKind::Document));
    }
    if let Some(audio) = part.get("input_audio") {
        let mime = if audio.get("format").and_then(Value::as_str) == Some("mp3") { "audio/mpeg" } else { "audio/wav" };
        return Some(Media::base64(mime, &text(audio, "data")?));
    }
    if let Some(url) = text(part, "file_url") {
        return Some(Media::url(&url, MediaKind::Document));
    }
    let file = part.get("file").unwrap_or(part);
    if let Some(data) = text(file, "file_data") {
        let mut media = Media::url(&data, MediaKind::Document);
        media.name = text(file, "filename").filter(|name| name != "document");
        return Some(media);
    }
    if let Some(data) = part.get("inlineData").or_else(|| part.get("inline_data")) {
        let mime = text(data, "mimeType").or_else(|| text(data, "mime_type"))?;
        return Some(Media::base64(&mime, &text(data, "data")?));
    }
    if let Some(data) = part.get("fileData").or_else(|| part.get("file_data")) {
        let mime = text(data, "mimeType").or_else(|| text(data, "mime_type")).unwrap_or_default();
        let uri = text(data, "fileUri").or_else(|| text(data, "file_uri"))?;
        let kind = if mime.is_empty() { MediaKind::Image } else { MediaKind::of(&mime) };
        return Some(Media { kind, mime, source: Source::Url(uri), name: None, detail: None });
    }
    // Anthropic's blocks. Those of text are no media.
    let of_text = |source: &Value| matches!(source.get("type").and_then(Value::as_str), Some("text" | "content"));
    let source = part.get("source").filter(|source| source.is_object() && !of_text(source));
    if let Some(source) = source.filter(|_| part.get("type").is_some()) {
        let kind = if part.get("type").and_then(Value::as_str) == Some("image") {
            MediaKind::Image
        } else {
            MediaKind::Document
        };
        let mut media = match source.get("type").and_then(Value::as_str) {
            Some("base64") => Media::base64(&text(source, "media_type")?, &text(source, "data")?),
            Some("url") => Media::url(&text(source, "url")?, kind),
            _ => {
                let source = Source::Foreign(source.clone());
                Media { kind, mime: String::new(), source, name: None, detail: None }
            }
        };
        media.kind = kind;
        media.name = text(part, "title");
        return Some(media);
    }
    // Bedrock's blocks.
    for key in ["image", "document", "video", "audio"] {
        let Some(block) = part.get(key).filter(|block| block.get("format").is_some()) else { continue };
        let format = text(block, "format")?;
        let (_, _, mime) = BEDROCK.iter().find(|(block, word, _)| *block == key && *word == format)?;
        let data = block.pointer("/source/bytes").and_then(Value::as_str)?;
        let mut media = Media::base64(mime, data);
        media.name = text(block, "name").filter(|name| name != "document");
        return Some(media);
    }
    None
}
