//! Anthropic's Messages API.
use super::budget::StrictLimits;
use super::profile::{Profile, PropertyNames, Strict, Types};

/// Valid JSON Schema 2020-12 with an object root; keywords are shown to the model.
pub(super) const LOOSE: Profile = Profile { properties: PropertyNames::Dotted, items: false, ..Profile::OPEN };

/// What the SDK's `transform_schema` keeps; type lists become unions, since its helper raises on them.
pub(super) const STRICT: Profile = Profile {
    keywords: Some(&[
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "anyOf",
        "enum",
        "const",
        "description",
        "title",
        "format",
        "minItems",
    ]),
    ref_siblings: false,
    recursion: false,
    one_of: false,
    all_of: false,
    beside_any_of: false,
    types: Types::Single,
    anything: false,
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
    min_items: Some(1),
    look_around: false,
    properties: PropertyNames::Dotted,
    strict: Strict::Closed,
    ..Profile::OPEN
};

/// For all tools of a request together.
pub(super) const LIMITS: StrictLimits = StrictLimits {
    tools: 20,
    properties: usize::MAX,
    depth: usize::MAX,
    literals: usize::MAX,
    characters: usize::MAX,
    optional: 24,
    unions: 16,
};
