//! OpenAI (Chat Completions and Responses), and the servers that follow it.
use super::budget::StrictLimits;
use super::profile::{Profile, Strict};

/// Longer descriptions are refused.
pub(super) const MAX_DESCRIPTION: usize = 1024;

/// Without strict mode: every keyword is shown to the model. A root that is no plain object is refused, and an array
/// without items.
pub(super) const LOOSE: Profile = Profile::OPEN;

/// Strict mode: what the structured-outputs guide lists, and what the SDKs' own helpers keep.
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
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ]),
    ref_siblings: false,
    one_of: false,
    all_of: false,
    beside_any_of: false,
    anything: false,
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    look_around: false,
    strict: Strict::AllRequired,
    ..Profile::OPEN
};

/// For all tools of a request together.
pub(super) const LIMITS: StrictLimits = StrictLimits {
    tools: usize::MAX,
    properties: 5000,
    depth: 10,
    literals: 1000,
    characters: 120_000,
    optional: usize::MAX,
    unions: usize::MAX,
};
