//! Ollama: its server keeps a few keywords of a schema and drops the rest without a word.
use super::profile::{Profile, Refs};

pub(super) const PROFILE: Profile = Profile {
    keywords: Some(&["type", "properties", "required", "items", "description", "enum", "anyOf"]),
    refs: Refs::Inline,
    ref_siblings: false,
    recursion: false,
    one_of: false,
    all_of: false,
    constants: false,
    items: false,
    formats: Some(&[]),
    ..Profile::OPEN
};
