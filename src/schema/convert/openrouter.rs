//! OpenRouter: OpenAI's shape; what a schema may hold depends on who answers behind it.
use super::profile::{Literals, Profile, PropertyNames, Refs};
use super::{anthropic, mistral, openai};

/// Gemini through OpenRouter: the same schema that the direct API takes makes worse arguments here, so references are
/// written out and only the plain keywords are kept.
const GEMINI: Profile = Profile {
    keywords: Some(&[
        "type",
        "description",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "required",
    ]),
    refs: Refs::Inline,
    ref_siblings: false,
    recursion: false,
    one_of: false,
    all_of: false,
    beside_any_of: false,
    literals: Literals::OneType,
    constants: false,
    formats: Some(&[]),
    properties: PropertyNames::Identifiers,
    ..Profile::OPEN
};

/// Open models behind all kinds of servers: nothing but what templates show.
const OPEN_MODELS: Profile = Profile { refs: Refs::Inline, recursion: false, ref_siblings: false, ..Profile::OPEN };

/// Who made the model decides: the part of the id before the slash.
fn maker(model: Option<&str>) -> &str {
    model.and_then(|model| model.trim_start_matches('~').split_once('/')).map_or("", |(maker, _)| maker)
}

pub(super) fn profile(model: Option<&str>) -> &'static Profile {
    match maker(model) {
        "google" => &GEMINI,
        "anthropic" => &anthropic::LOOSE,
        "mistralai" => &mistral::PROFILE,
        "openai" | "x-ai" | "" => &openai::LOOSE,
        _ => &OPEN_MODELS,
    }
}

pub(super) fn strict_profile(model: Option<&str>) -> Option<&'static Profile> {
    match maker(model) {
        "anthropic" => Some(&anthropic::STRICT),
        "google" => None,
        _ => Some(&openai::STRICT),
    }
}
