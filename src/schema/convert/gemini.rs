//! Gemini: `parametersJsonSchema` (JSON Schema, most of it) and `parameters` (the OpenAPI subset).
use super::profile::{Literals, Profile, PropertyNames, Refs, Types};

/// The keywords documented for `parametersJsonSchema`.
pub(super) const JSON_SCHEMA: Profile = Profile {
    keywords: Some(&[
        "type",
        "description",
        "title",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "properties",
        "additionalProperties",
        "required",
        "propertyOrdering",
    ]),
    ref_siblings: false,
    recursion: false,
    one_of: false,
    all_of: false,
    literals: Literals::OneType,
    constants: false,
    formats: Some(&[]),
    properties: PropertyNames::Identifiers,
    ..Profile::OPEN
};

/// The keywords that the `Schema` message knows and the Developer API takes.
pub(super) const PARAMETERS: Profile = Profile {
    keywords: Some(&[
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "propertyOrdering",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "minimum",
        "maximum",
        "anyOf",
    ]),
    refs: Refs::Inline,
    ref_siblings: false,
    recursion: false,
    one_of: false,
    all_of: false,
    beside_any_of: false,
    types: Types::Nullable,
    capitals: true,
    literals: Literals::Strings,
    constants: false,
    anything: false,
    formats: Some(&["enum", "date-time", "int32", "int64", "float", "double"]),
    look_around: false,
    properties: PropertyNames::Identifiers,
    ordering: true,
    ..Profile::OPEN
};
