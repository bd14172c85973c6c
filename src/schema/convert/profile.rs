//! What a target's schemas may hold, as data: one [`Profile`] a target, read by the one walker.
use crate::schema::names;
use crate::schema::plain::Facts;
use serde_json::{Map, Value};

/// The columns of a target's schema dialect.
#[derive(Debug, PartialEq)]
pub(super) struct Profile {
    /// Keywords that are taken. `None`: every keyword is at least shown to the model.
    pub keywords: Option<&'static [&'static str]>,
    pub refs: Refs,
    /// A `$ref` may have other keywords beside it.
    pub ref_siblings: bool,
    /// Schemas that contain themselves are taken.
    pub recursion: bool,
    /// `oneOf` is taken as such; else it becomes `anyOf`.
    pub one_of: bool,
    /// `allOf` is taken; else its parts become one schema.
    pub all_of: bool,
    /// Keywords beside `anyOf` are taken; else they move into its branches.
    pub beside_any_of: bool,
    pub types: Types,
    /// Type names in capitals.
    pub capitals: bool,
    pub literals: Literals,
    /// `const` is taken; else it becomes an `enum` of one.
    pub constants: bool,
    /// `true` and `{}` are taken as schemas of anything.
    pub anything: bool,
    /// Every array says what its items are.
    pub items: bool,
    /// Values of `format` that are taken. `None`: all.
    pub formats: Option<&'static [&'static str]>,
    /// The largest `minItems` that is taken.
    pub min_items: Option<u64>,
    /// Patterns with look-around or back-references are taken.
    pub look_around: bool,
    /// Property names.
    pub properties: PropertyNames,
    /// Whether objects are closed, and how optional properties are said.
    pub strict: Strict,
    /// The order of properties is said in `propertyOrdering`.
    pub ordering: bool,
    /// The root may be a union (`anyOf`, `oneOf`, `allOf`, `enum`, `not`).
    pub root_unions: bool,
    /// `required` may name what `properties` does not describe.
    pub undescribed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refs {
    /// `$ref` to `$defs` is taken.
    Keep,
    /// Every reference is replaced by its target.
    Inline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Types {
    /// `["string", "null"]` is taken.
    Lists,
    /// One type, and `nullable: true`.
    Nullable,
    /// One type; several become `anyOf`.
    Single,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Literals {
    /// Any values, mixed.
    Any,
    /// Values of one type; several types become `anyOf`.
    OneType,
    /// Non-empty strings; numbers are spelt as strings (and turned back on the way back).
    Strings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schema) enum PropertyNames {
    Any,
    /// `[A-Za-z0-9_.-]{1,64}`
    Dotted,
    /// `[A-Za-z_][A-Za-z0-9_]{0,63}`
    Identifiers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strict {
    No,
    /// Closed objects, every property required, optional ones nullable.
    AllRequired,
    /// Closed objects, properties may be optional.
    Closed,
}

impl Profile {
    /// The profile of a target that takes JSON Schema as it is.
    pub(super) const OPEN: Self = Self {
        keywords: None,
        refs: Refs::Keep,
        ref_siblings: true,
        recursion: true,
        one_of: true,
        all_of: true,
        beside_any_of: true,
        types: Types::Lists,
        capitals: false,
        literals: Literals::Any,
        constants: true,
        anything: true,
        items: true,
        formats: None,
        min_items: None,
        look_around: true,
        properties: PropertyNames::Any,
        strict: Strict::No,
        ordering: false,
        root_unions: false,
        undescribed: true,
    };

    /// Whether plain schemas ([`crate::schema::plain`]) are shown as they are.
    pub(super) fn shows_plain(&self, facts: Facts) -> bool {
        let names = self.properties == PropertyNames::Any
            || (self.properties == PropertyNames::Dotted && !facts.odd_properties);
        names && Self { properties: PropertyNames::Any, items: true, root_unions: false, ..*self } == Self::OPEN
    }

    pub(super) fn takes(&self, keyword: &str) -> bool {
        self.keywords.is_none_or(|known| known.contains(&keyword))
    }

    pub(super) fn takes_format(&self, format: &str) -> bool {
        self.takes("format") && self.formats.is_none_or(|known| known.contains(&format))
    }
}

impl PropertyNames {
    pub(in crate::schema) fn takes(self, name: impl AsRef<[u8]>) -> bool {
        let name = name.as_ref();
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let sized = matches!(name.len(), 1..=64);
        match self {
            Self::Any => true,
            Self::Dotted => sized && name.iter().all(|b| word(b) || matches!(b, b'.' | b'-')),
            Self::Identifiers => sized && name.iter().all(word) && !name.first().is_some_and(u8::is_ascii_digit),
        }
    }

    /// The names of `properties` as they are told.
    pub(in crate::schema) fn spelt(self, properties: &Map<String, Value>) -> Vec<String> {
        if properties.keys().all(|name| self.takes(name)) {
            return properties.keys().cloned().collect();
        }
        let safe = names::safe_properties(properties);
        let keep = |(name, safe): (&String, String)| if self.takes(name) { name.clone() } else { safe };
        properties.keys().zip(safe).map(keep).collect()
    }
}
