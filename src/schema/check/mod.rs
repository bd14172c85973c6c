//! A quick proof that JSON text is what a schema allows, without building values.
//!
//! Reads the text once and knows the keywords that tools use. "Not proven" means only that: the full validator then
//! decides. So every doubt here (an escape in a key, a pattern, a keyword that is not known) is a "not proven".
mod compile;
mod read;
#[cfg(test)]
mod tests;

use crate::bytes::same;
use crate::json::{Kind, Member};
use crate::turn::ArgumentValue;
use read::Reader;

/// The types of JSON as bits.
const STRING: u8 = 1;
const INTEGER: u8 = 2;
const FRACTION: u8 = 4;
const BOOLEAN: u8 = 8;
const NULL: u8 = 16;
const OBJECT: u8 = 32;
const ARRAY: u8 = 64;
const EVERY: u8 = 127;

/// A schema compiled for proofs.
#[derive(Debug)]
pub(in crate::schema) struct Check {
    nodes: Vec<Node>,
}

/// One schema: indexes point into [`Check::nodes`].
#[derive(Debug, Default)]
struct Node {
    types: u8,
    /// Types whose values other keywords constrain in ways not known here.
    opaque: u8,
    /// The strings allowed, where `enum` or `const` lists them.
    words: Option<Vec<String>>,
    properties: Vec<Property>,
    required: u32,
    rest: Rest,
    items: Option<usize>,
    min_items: usize,
    max_items: Option<usize>,
    min_length: usize,
    max_length: Option<usize>,
    range: Option<(f64, f64)>,
    /// `anyOf`: one of these must fit as well.
    any: Vec<usize>,
    /// `allOf` and `$ref`: all of these must fit as well.
    all: Vec<usize>,
    /// Nothing but `any` and `all` constrains.
    composed: bool,
    /// Types of which every value fits.
    free: u8,
}

#[derive(Debug)]
struct Property {
    name: String,
    node: usize,
    required: bool,
}

/// What is allowed of properties that are not listed.
#[derive(Debug, Default, Clone, Copy)]
enum Rest {
    #[default]
    Anything,
    Nothing,
    Schema(usize),
}

impl Node {
    /// It takes values of this type, and what it asks of them is in its own fields.
    fn is_plain(&self, kind: u8) -> bool {
        takes(self, kind) && self.any.is_empty() && self.all.is_empty()
    }

    /// The types of which every value fits, whatever it holds.
    fn free(&self) -> u8 {
        let plain = |types: u8, also: bool| if also && self.is_plain(types) { types } else { 0 };
        // Where words are listed, strings have to be among them, and literals of other types are not known here.
        let unlisted = self.words.is_none();
        let any_length = self.min_length == 0 && self.max_length.is_none();
        plain(STRING, unlisted && any_length) | plain(BOOLEAN, true) | plain(NULL, true)
    }
}

/// What an object's node says about a key.
enum Place {
    Property(usize),
    Rest(Rest),
    /// More properties than are counted here.
    Unknown,
}

/// The keys of one object as they are read.
#[derive(Default)]
struct Keys {
    /// The required properties seen, a bit each.
    seen: u64,
    found: u32,
    /// Models keep the schema's order, so the next property is the likely one.
    hint: usize,
}

impl Keys {
    #[inline]
    fn place(&mut self, node: &Node, key: &[u8]) -> Place {
        let likely = node.properties.get(self.hint).filter(|property| same(property.name.as_bytes(), key));
        let Some(property) = likely.or_else(|| self.search(node, key)) else { return Place::Rest(node.rest) };
        let at = self.hint;
        self.hint += 1;
        if property.required {
            // A key that comes twice is counted once.
            let Some(bit) = u32::try_from(at).ok().and_then(|at| 1_u64.checked_shl(at)) else { return Place::Unknown };
            self.found += u32::from(self.seen & bit == 0);
            self.seen |= bit;
        }
        Place::Property(property.node)
    }

    /// The property of this name, which the hint is of from now on.
    #[inline(never)]
    fn search<'n>(&mut self, node: &'n Node, key: &[u8]) -> Option<&'n Property> {
        let found = node.properties.iter().position(|property| same(property.name.as_bytes(), key))?;
        self.hint = found;
        node.properties.get(found)
    }
}

impl Check {
    /// Whether `json`, which is valid JSON, is proven to be what the schema allows.
    pub(in crate::schema) fn proves(&self, json: &str) -> bool {
        let mut reader = Reader::new(self, json.as_bytes());
        reader.value(0) && {
            reader.space();
            reader.at == json.len()
        }
    }

    /// The same for an object of which the scanner has noted the members: strings are not read once more.
    pub(in crate::schema) fn proves_scanned(&self, text: &str, members: &[Member]) -> bool {
        let Some(root) = self.nodes.first().filter(|root| root.is_plain(OBJECT)) else { return false };
        let mut keys = Keys::default();
        members.iter().all(|member| {
            let Some(key) = text.as_bytes().get(member.key.clone()) else { return false };
            // No property's name holds a backslash; a key that is none of them may be one of them in escapes.
            let plain = || memchr::memchr(b'\\', key).is_none();
            let node = match keys.place(root, key) {
                Place::Property(node) => node,
                Place::Rest(_) if !plain() => return false,
                Place::Rest(Rest::Schema(node)) => node,
                Place::Rest(Rest::Anything) => return true,
                Place::Rest(Rest::Nothing) | Place::Unknown => return false,
            };
            let kind = match member.kind {
                Kind::String => STRING,
                Kind::Bool => BOOLEAN,
                Kind::Null => NULL,
                Kind::Number | Kind::Object | Kind::Array => 0,
            };
            self.nodes.get(node).is_some_and(|node| node.free & kind != 0) || {
                let value = member.value().and_then(|value| text.as_bytes().get(value));
                value.is_some_and(|value| Reader::new(self, value).value(node))
            }
        }) && keys.found == root.required
    }

    /// The same for arguments that are not one JSON text: members by name.
    pub(in crate::schema) fn proves_members<'m>(&self, members: impl Iterator<Item = (&'m [u8], Written<'m>)>) -> bool {
        let Some(root) = self.nodes.first().filter(|root| root.is_plain(OBJECT)) else { return false };
        let mut keys = Keys::default();
        for (name, value) in members {
            let node = match keys.place(root, name) {
                Place::Property(node) | Place::Rest(Rest::Schema(node)) => node,
                Place::Rest(Rest::Anything) => continue,
                Place::Rest(Rest::Nothing) | Place::Unknown => return false,
            };
            let free = self.nodes.get(node).map_or(0, |node| node.free);
            let fits = match value {
                Written::Text(text) => free & STRING != 0 || self.string(node, text),
                Written::Json(json) => match json.first() {
                    Some(b'"') if free & STRING != 0 => true,
                    Some(b't' | b'f') if free & BOOLEAN != 0 => true,
                    _ => Reader::new(self, json).value(node),
                },
            };
            if !fits {
                return false;
            }
        }
        keys.found == root.required
    }

    /// Whether the value `json` is proven to fit as the member `key` of an object.
    pub(in crate::schema) fn proves_member(&self, key: &str, json: &str) -> bool {
        let Some(root) = self.nodes.first().filter(|root| root.is_plain(OBJECT)) else { return false };
        match Keys::default().place(root, key.as_bytes()) {
            Place::Property(node) | Place::Rest(Rest::Schema(node)) => Reader::new(self, json.as_bytes()).value(node),
            Place::Rest(rest) => matches!(rest, Rest::Anything),
            Place::Unknown => false,
        }
    }

    /// Whether a string, unescaped, is proven to fit.
    fn string(&self, node: usize, text: &[u8]) -> bool {
        let Some(node) = self.nodes.get(node) else { return false };
        node.types & STRING != 0
            && node.opaque & STRING == 0
            && node.words.as_ref().is_none_or(|words| words.iter().any(|word| word.as_bytes() == text))
            && length_fits(node, text.len(), text.is_ascii())
            && (node.any.is_empty() || node.any.iter().any(|n| self.string(*n, text)))
            && node.all.iter().all(|n| self.string(*n, text))
    }
}

/// A member's value as the dialect wrote it.
pub(crate) enum Written<'m> {
    Text(&'m [u8]),
    Json(&'m [u8]),
}

impl<'m> From<&'m ArgumentValue<'_>> for Written<'m> {
    fn from(value: &'m ArgumentValue<'_>) -> Self {
        match value {
            ArgumentValue::Text(text) => Self::Text(text.as_bytes()),
            ArgumentValue::Json(json) => Self::Json(json.as_bytes()),
        }
    }
}

/// The length in characters is between a quarter of the bytes and all of them.
fn length_fits(node: &Node, bytes: usize, exact: bool) -> bool {
    let least = if exact { bytes } else { bytes.div_ceil(4) };
    least >= node.min_length && node.max_length.is_none_or(|max| bytes <= max)
}

fn takes(node: &Node, kind: u8) -> bool {
    node.types & kind != 0 && node.opaque & kind == 0
}

/// A number that compares as a float like its decimal does: of few digits, and without an exponent.
fn plain_number(text: &str) -> Option<f64> {
    let plain = text.len() <= 15 && !text.contains(['e', 'E']);
    plain.then(|| text.parse().ok()).flatten()
}
