//! llama.cpp (and LM Studio on top of it): schemas become a grammar, and one that cannot spoils every tool.
use super::profile::{Profile, Refs};

/// Bytes of all schemas together; some 100 KB is where grammars stop working.
pub(super) const BUDGET: usize = 64 << 10;

/// What the grammar converter reads reliably: no patterns (look-around fails, others are read only in part), no bounds on
/// lengths (each allowed character is a rule), references written out (templates show no `$defs`).
pub(super) const PROFILE: Profile = Profile {
    keywords: Some(&[
        "type",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "prefixItems",
        "enum",
        "const",
        "anyOf",
        "description",
        "title",
        "format",
        "minimum",
        "maximum",
    ]),
    refs: Refs::Inline,
    ref_siblings: false,
    recursion: false,
    one_of: false,
    all_of: false,
    beside_any_of: false,
    formats: Some(&["date", "time", "date-time", "uuid"]),
    look_around: false,
    ..Profile::OPEN
};
