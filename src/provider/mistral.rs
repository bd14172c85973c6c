//! Mistral: Chat Completions whose `content` may be a list of chunks, with the thinking among them.
use super::openai_chat::Chat;

/// Mistral's reading: that of Chat Completions, its state under its own name.
pub(super) fn chat() -> Chat {
    Chat::new("mistral")
}
