//! Mistral: Chat Completions whose `content` may be a list of chunks, with the thinking among them.
use super::openai_chat::{self, Chat};
use super::wire::Wording;

/// That of Chat Completions, its state under its own name.
pub(super) const WORDING: Wording = Wording { wire: || Box::new(Chat::new("mistral")), ..openai_chat::WORDING };
