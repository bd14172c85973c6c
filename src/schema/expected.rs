//! Which JSON types a schema lets a value have: worked out once per parameter, asked for every value.
use super::pointer;
use serde_json::Value;

/// Schemas looked at for one parameter before the answer is "anything": bounds `$ref` chains and their products.
const BUDGET: u32 = 4096;
/// Nesting of combinators and references that is followed.
const DEPTH: u32 = 100;

/// The JSON types that a value may have, as a set that is copied freely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expected(u16);

impl Expected {
    /// The schema says nothing: bare text is a string, except `null`.
    pub const ANY: Self = Self(0);
    /// A string.
    pub const STRING: Self = Self(1);
    /// A whole number, however it is spelt (`3`, `3.0`, `3e2`).
    pub const INTEGER: Self = Self(1 << 1);
    /// A number that is not whole.
    pub const FRACTION: Self = Self(1 << 2);
    /// Any number.
    pub const NUMBER: Self = Self(Self::INTEGER.0 | Self::FRACTION.0);
    /// `true` or `false`.
    pub const BOOLEAN: Self = Self(1 << 3);
    /// `null`.
    pub const NULL: Self = Self(1 << 4);
    /// An object.
    pub const OBJECT: Self = Self(1 << 5);
    /// A list.
    pub const ARRAY: Self = Self(1 << 6);
    const TYPES: Self = Self(0x7f);
    /// A list of types names `string` before its scalars, so bare text that could be either is a string.
    const STRING_FIRST: Self = Self(1 << 7);
    /// The type's name is none of JSON Schema's: only what is plainly an object or array is one.
    const FOREIGN: Self = Self(1 << 8);
    /// The dialect writes all but strings as JSON, so bare text that reads as JSON is JSON.
    const JSON_FIRST: Self = Self(1 << 9);
    /// Whether it is a string depends on the rest of the call, so bare text stays as it is until that is known. Only where strings are
    /// told from all else are the types any help.
    const VARIES: Self = Self(1 << 10);

    /// What `schema` expects; `root` is where its `$ref`s point.
    pub fn of(schema: &Value, root: &Value) -> Self {
        let mut walk = Walk { root, budget: BUDGET, open: Vec::new() };
        match walk.types(schema, 0) {
            // A foreign name says nothing about types, yet `dict`-like names occur: see `read_text`.
            None if schema.get("type").is_some_and(|t| t.is_string()) => Self::FOREIGN,
            None => Self::ANY,
            Some(types) => types.with(walk.string_first(schema)),
        }
    }

    /// For dialects that write strings raw and all else as JSON: text that reads as an allowed JSON value is that value,
    /// and where the schema says nothing every JSON value is allowed.
    pub const fn json_first(self) -> Self {
        Self((self.0 | Self::JSON_FIRST.0) & !Self::VARIES.0)
    }

    /// The types that count.
    const fn types(self) -> u16 {
        if self.0 & Self::VARIES.0 != 0 { 0 } else { self.0 & Self::TYPES.0 }
    }

    /// A value can only be a string, so its text streams as it is written.
    pub const fn is_string(self) -> bool {
        self.types() == Self::STRING.0
    }

    /// The schema says nothing about the type.
    pub const fn is_any(self) -> bool {
        self.types() == 0
    }

    /// A value may have one of the types of `other`, by the schema's word.
    pub const fn allows(self, other: Self) -> bool {
        self.types() & other.0 != 0
    }

    /// What one branch of a union expects, or `other`, where another one does. What may be a string in one and something else in
    /// the other varies; null beside it does not count.
    pub(super) const fn or(self, other: Self) -> Self {
        let either = self.with(other);
        let types = Self::TYPES.0 & !Self::NULL.0;
        let (own, others) = (self.0 & types, other.0 & types);
        match () {
            () if self.0 & Self::TYPES.0 == 0 || other.0 & Self::TYPES.0 == 0 => Self::ANY,
            () if own == others || either.0 & Self::STRING.0 == 0 => either,
            () => either.with(Self::VARIES),
        }
    }

    /// Whether it is a string depends on the rest of the call.
    pub(crate) const fn varies(self) -> bool {
        self.0 & Self::VARIES.0 != 0
    }

    /// The bare word null is one: it may be null, or has no place for a string, be that as it varies.
    pub(super) const fn reads_null(self) -> bool {
        self.0 & Self::NULL.0 != 0 || self.0 & Self::STRING.0 == 0
    }

    pub(super) const fn prefers_json(self) -> bool {
        self.0 & Self::JSON_FIRST.0 != 0
    }

    pub(super) const fn prefers_string(self) -> bool {
        self.0 & Self::STRING_FIRST.0 != 0 && !self.prefers_json()
    }

    pub(super) const fn is_foreign(self) -> bool {
        self.0 & Self::FOREIGN.0 != 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    const fn complement(self) -> Self {
        Self(!self.0 & Self::TYPES.0)
    }

    /// The type of a literal (`const`, a member of `enum`).
    fn of_literal(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(_) => Self::NUMBER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The types that `name` stands for: JSON Schema's seven, Gemini's capitals, and what Python and SQL people write.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        // The words of the standard, which nearly all are, need no second look.
        match name {
            "string" => return Some(Self::STRING),
            "integer" => return Some(Self::INTEGER),
            "number" => return Some(Self::NUMBER),
            "boolean" => return Some(Self::BOOLEAN),
            "object" => return Some(Self::OBJECT),
            "array" => return Some(Self::ARRAY),
            "null" => return Some(Self::NULL),
            _ => {}
        }
        let name = name.trim().to_ascii_lowercase();
        let starts = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
        Some(match name.as_str() {
            "string" | "str" | "text" | "varchar" | "char" | "enum" => Self::STRING,
            "long" | "short" => Self::INTEGER,
            "object" | "dict" => Self::OBJECT,
            "array" | "arr" | "list" | "sequence" | "tuple" => Self::ARRAY,
            "null" | "none" => Self::NULL,
            _ if starts(&["int", "uint", "unsigned"]) => Self::INTEGER,
            _ if starts(&["num", "float", "double"]) => Self::NUMBER,
            _ if starts(&["bool"]) => Self::BOOLEAN,
            _ if starts(&["dict[", "list["]) => {
                if name.starts_with('d') {
                    Self::OBJECT
                } else {
                    Self::ARRAY
                }
            }
            _ => return None,
        })
    }
}

/// One computation of [`Expected::of`].
struct Walk<'s> {
    root: &'s Value,
    budget: u32,
    /// The references being followed: one that comes back says nothing new.
    open: Vec<&'s str>,
}

impl<'s> Walk<'s> {
    /// The types that `schema` allows; `None` if it does not say.
    fn types(&mut self, schema: &'s Value, depth: u32) -> Option<Expected> {
        if self.budget == 0 || depth > DEPTH {
            return None;
        }
        self.budget -= 1;
        let map = schema.as_object()?;
        let mut allowed = map.get("type").and_then(named_types);
        // OpenAPI's word goes for the type and for what is listed.
        let nullable = map.get("nullable") == Some(&Value::Bool(true));
        if let (Some(types), true) = (allowed, nullable) {
            allowed = Some(types.with(Expected::NULL));
        }
        let mut narrow = |types: Option<Expected>| {
            allowed = match (allowed, types) {
                (Some(a), Some(b)) => Some(a.and(b)),
                (a, b) => a.or(b),
            };
        };
        for (key, value) in map {
            match (key.as_str(), value) {
                ("const", literal) => narrow(Some(Expected::of_literal(literal))),
                ("enum", Value::Array(literals)) => {
                    let null = if nullable { Expected::NULL } else { Expected::ANY };
                    narrow(literals.iter().map(Expected::of_literal).reduce(Expected::with).map(|t| t.with(null)));
                }
                ("$ref", Value::String(reference)) => narrow(self.reference(reference, depth)),
                ("anyOf" | "oneOf", Value::Array(branches)) => narrow(self.union(branches, depth)),
                ("allOf", Value::Array(branches)) => {
                    for branch in branches {
                        narrow(self.types(branch, depth + 1));
                    }
                }
                ("if", _) => {
                    let branches = (map.get("then"), map.get("else"));
                    if let (Some(yes), Some(no)) = branches {
                        narrow(self.types(yes, depth + 1).zip(self.types(no, depth + 1)).map(|(a, b)| a.with(b)));
                    }
                }
                ("not", refused) => narrow(self.exact(refused, depth).map(Expected::complement)),
                _ => {}
            }
        }
        // Without a type the shape is the only hint: whoever lists properties means an object.
        allowed.filter(|types| *types != Expected::ANY).or_else(|| {
            if map.contains_key("properties") {
                Some(Expected::OBJECT)
            } else if map.contains_key("items") {
                Some(Expected::ARRAY)
            } else {
                None
            }
        })
    }

    fn union(&mut self, branches: &'s [Value], depth: u32) -> Option<Expected> {
        let mut sum: Option<Expected> = None;
        let mut silent = false;
        for branch in branches {
            match self.types(branch, depth + 1) {
                Some(types) => sum = Some(sum.map_or(types, |s| s.with(types))),
                None => silent |= !matches!(branch, Value::Bool(false)) && !has_foreign_type(branch),
            }
        }
        sum.map(|types| if silent { Expected::TYPES } else { types })
    }

    fn reference(&mut self, reference: &'s str, depth: u32) -> Option<Expected> {
        if self.open.contains(&reference) {
            return None;
        }
        let target = pointer::resolve(self.root, reference)?;
        self.open.push(reference);
        let types = self.types(target, depth + 1);
        self.open.pop();
        types
    }

    /// The types of a schema that is nothing but a set of types, so that `not` of it is the other types.
    fn exact(&mut self, schema: &'s Value, depth: u32) -> Option<Expected> {
        if self.budget == 0 || depth > DEPTH {
            return None;
        }
        self.budget -= 1;
        let map = schema.as_object()?;
        let mut keys = map.iter().filter(|(k, _)| !matches!(k.as_str(), "description" | "title" | "$comment"));
        let (Some((key, value)), None) = (keys.next(), keys.next()) else { return None };
        match (key.as_str(), value) {
            ("type", names) => named_types(names),
            ("$ref", Value::String(reference)) if !self.open.contains(&reference.as_str()) => {
                let target = pointer::resolve(self.root, reference)?;
                self.open.push(reference);
                let types = self.exact(target, depth + 1);
                self.open.pop();
                types
            }
            ("anyOf" | "oneOf", Value::Array(branches)) => {
                let mut sum = Expected::ANY;
                for branch in branches {
                    let types = self.exact(branch, depth + 1)?;
                    // oneOf refuses what two branches take: no plain set of types.
                    if key == "oneOf" && sum.and(types) != Expected::ANY {
                        return None;
                    }
                    sum = sum.with(types);
                }
                Some(sum)
            }
            _ => None,
        }
    }

    /// Whether the schema's own list of types puts `string` before a scalar.
    fn string_first(&mut self, schema: &'s Value) -> Expected {
        let Some(Value::Array(names)) = schema.get("type") else { return Expected::ANY };
        let mut names = names.iter().filter_map(Value::as_str).filter_map(Expected::of_name);
        match names.next() {
            Some(first) if first == Expected::STRING => Expected::STRING_FIRST,
            _ => Expected::ANY,
        }
    }
}

fn named_types(names: &Value) -> Option<Expected> {
    match names {
        Value::String(name) => Expected::of_name(name),
        Value::Array(names) => {
            let known = names.iter().filter_map(Value::as_str).filter_map(Expected::of_name);
            known.reduce(Expected::with)
        }
        _ => None,
    }
}

fn has_foreign_type(schema: &Value) -> bool {
    matches!(schema.get("type"), Some(Value::String(name)) if Expected::of_name(name).is_none())
}
