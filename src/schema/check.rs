//! A quick proof that JSON text is what a schema allows, without building values.
//!
//! Reads the text once and knows the keywords that tools use. "Not proven" means only that: the full validator then
//! decides. So every doubt here (an escape in a key, a pattern, a keyword that is not known) is a "not proven".
use super::pointer;
use crate::json::{Kind, Member, find_special};
use crate::turn::ArgumentValue;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The types of JSON as bits.
const STRING: u8 = 1;
const INTEGER: u8 = 2;
const FRACTION: u8 = 4;
const BOOLEAN: u8 = 8;
const NULL: u8 = 16;
const OBJECT: u8 = 32;
const ARRAY: u8 = 64;
const EVERY: u8 = 127;

/// Schemas compiled for one tool; more make the rest "not proven".
const MAX_NODES: usize = 4096;

/// Strings up to this long are read byte by byte.
const SHORT: usize = 24;

/// A schema compiled for proofs.
#[derive(Debug)]
pub(super) struct Check {
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

    fn is_any_string(&self) -> bool {
        self.is_plain(STRING) && self.words.is_none() && self.min_length == 0 && self.max_length.is_none()
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
    fn place(&mut self, node: &Node, key: &[u8]) -> Place {
        let named = |i: &usize| node.properties.get(*i).is_some_and(|p| p.name.as_bytes() == key);
        let place = Some(self.hint).filter(named).or_else(|| (0..node.properties.len()).find(named));
        let Some((i, property)) = place.and_then(|i| Some((i, node.properties.get(i)?))) else {
            return Place::Rest(node.rest);
        };
        self.hint = i + 1;
        if property.required {
            // A key that comes twice is counted once.
            let Some(bit) = u32::try_from(i).ok().and_then(|i| 1_u64.checked_shl(i)) else { return Place::Unknown };
            self.found += u32::from(self.seen & bit == 0);
            self.seen |= bit;
        }
        Place::Property(property.node)
    }
}

impl Check {
    /// Compiles a clean schema ([`super::clean::clean`]).
    pub(super) fn new(root: &Value) -> Self {
        let mut compiler = Compiler { root, nodes: Vec::new(), seen: HashMap::new() };
        compiler.compile(root);
        Self { nodes: compiler.nodes }
    }

    /// Whether `json`, which is valid JSON, is proven to be what the schema allows.
    pub(super) fn proves(&self, json: &str) -> bool {
        let mut reader = Reader::new(self, json);
        reader.value(0) && {
            reader.space();
            reader.at == json.len()
        }
    }

    /// The same for an object of which the scanner has noted the members: strings are not read once more.
    pub(super) fn proves_scanned(&self, text: &str, members: &[Member]) -> bool {
        let Some(root) = self.nodes.first().filter(|root| root.is_plain(OBJECT)) else { return false };
        let mut keys = Keys::default();
        members.iter().all(|member| {
            let Some(key) = text.get(member.key.clone()).filter(|key| !key.contains('\\')) else { return false };
            let node = match keys.place(root, key.as_bytes()) {
                Place::Property(node) => node,
                Place::Rest(Rest::Anything) => return true,
                Place::Rest(Rest::Schema(node)) => node,
                Place::Rest(Rest::Nothing) | Place::Unknown => return false,
            };
            let any_string = member.kind == Kind::String && self.nodes.get(node).is_some_and(Node::is_any_string);
            any_string || {
                let value = member.value().and_then(|value| text.get(value));
                value.is_some_and(|value| Reader::new(self, value).value(node))
            }
        }) && keys.found == root.required
    }

    /// The same for arguments that are not one JSON text: members by name.
    pub(super) fn proves_members<'m>(&self, members: impl Iterator<Item = (&'m str, Written<'m>)>) -> bool {
        let Some(root) = self.nodes.first().filter(|root| root.is_plain(OBJECT)) else { return false };
        let mut found = 0;
        for (name, value) in members {
            let node = match root.properties.iter().find(|p| p.name == name) {
                Some(property) => {
                    found += u32::from(property.required);
                    property.node
                }
                None => match root.rest {
                    Rest::Anything => continue,
                    Rest::Nothing => return false,
                    Rest::Schema(node) => node,
                },
            };
            let fits = match value {
                Written::Text(text) => self.string(node, text),
                Written::Json(json) => Reader::new(self, json).value(node),
            };
            if !fits {
                return false;
            }
        }
        found == root.required
    }

    /// Whether a string, unescaped, is proven to fit.
    fn string(&self, node: usize, text: &str) -> bool {
        let Some(node) = self.nodes.get(node) else { return false };
        node.types & STRING != 0
            && node.opaque & STRING == 0
            && node.words.as_ref().is_none_or(|words| words.iter().any(|word| word == text))
            && length_fits(node, text.len(), text.is_ascii())
            && (node.any.is_empty() || node.any.iter().any(|n| self.string(*n, text)))
            && node.all.iter().all(|n| self.string(*n, text))
    }
}

/// A member's value as the dialect wrote it.
pub(crate) enum Written<'m> {
    Text(&'m str),
    Json(&'m str),
}

impl<'m> From<&'m ArgumentValue<'_>> for Written<'m> {
    fn from(value: &'m ArgumentValue<'_>) -> Self {
        match value {
            ArgumentValue::Text(text) => Self::Text(text),
            ArgumentValue::Json(json) => Self::Json(json),
        }
    }
}

/// The length in characters is between a quarter of the bytes and all of them.
fn length_fits(node: &Node, bytes: usize, exact: bool) -> bool {
    let least = if exact { bytes } else { bytes.div_ceil(4) };
    least >= node.min_length && node.max_length.is_none_or(|max| bytes <= max)
}

struct Compiler<'s> {
    root: &'s Value,
    nodes: Vec<Node>,
    seen: HashMap<*const Value, usize>,
}

impl<'s> Compiler<'s> {
    fn compile(&mut self, schema: &'s Value) -> usize {
        let schema = self.target(schema);
        if let Some(index) = self.seen.get(&std::ptr::from_ref(schema)) {
            return *index;
        }
        let index = self.nodes.len();
        self.seen.insert(schema, index);
        self.nodes.push(Node::default());
        let node = match schema {
            Value::Bool(true) => Node { types: EVERY, ..Node::default() },
            Value::Object(map) if index < MAX_NODES => self.object(map),
            // `false`, and whatever is beyond the limit: nothing is proven.
            _ => Node::default(),
        };
        if let Some(place) = self.nodes.get_mut(index) {
            *place = node;
        }
        index
    }

    /// What a schema that is only a reference stands for.
    fn target(&self, schema: &'s Value) -> &'s Value {
        let mut at = schema;
        for _ in 0..100 {
            let Value::Object(map) = at else { return at };
            let only =
                map.keys().all(|k| matches!(k.as_str(), "$ref" | "title" | "description" | "$defs" | "definitions"));
            match map.get("$ref").and_then(Value::as_str).and_then(|r| pointer::resolve(self.root, r)) {
                Some(target) if only => at = target,
                _ => return at,
            }
        }
        at
    }

    fn object(&mut self, map: &'s Map<String, Value>) -> Node {
        let mut node = Node { types: map.get("type").map_or(EVERY, types_of), ..Node::default() };
        let mut required: Vec<&str> = Vec::new();
        const COMPOSED: [&str; 8] =
            ["anyOf", "allOf", "$ref", "title", "description", "$comment", "$defs", "definitions"];
        node.composed = map.keys().all(|key| COMPOSED.contains(&key.as_str()));
        for (key, value) in map {
            match (key.as_str(), value) {
                ("type" | "title" | "description" | "$comment" | "format" | "$defs" | "definitions", _) => {}
                ("properties", Value::Object(properties)) => {
                    for (name, schema) in properties {
                        let index = self.compile(schema);
                        node.properties.push(Property { name: name.clone(), node: index, required: false });
                    }
                }
                ("required", Value::Array(names)) => required = names.iter().filter_map(Value::as_str).collect(),
                ("additionalProperties", Value::Bool(true)) => {}
                ("additionalProperties", Value::Bool(false)) => node.rest = Rest::Nothing,
                ("additionalProperties", schema) => node.rest = Rest::Schema(self.compile(schema)),
                ("items", schema) => node.items = Some(self.compile(schema)),
                ("minItems", n) => node.min_items = size(n).unwrap_or(usize::MAX),
                ("maxItems", n) => node.max_items = size(n),
                ("minLength", n) => node.min_length = size(n).unwrap_or(usize::MAX),
                ("maxLength", n) => node.max_length = size(n),
                ("minimum", n) => narrow(&mut node.range, n.as_f64(), None),
                ("maximum", n) => narrow(&mut node.range, None, n.as_f64()),
                ("enum", Value::Array(literals)) => literal(&mut node, literals),
                ("const", value) => literal(&mut node, std::slice::from_ref(value)),
                ("anyOf", Value::Array(branches)) if node.any.is_empty() => {
                    node.any = branches.iter().map(|b| self.compile(b)).collect();
                }
                ("allOf", Value::Array(branches)) => {
                    for branch in branches {
                        let index = self.compile(branch);
                        node.all.push(index);
                    }
                }
                ("$ref", Value::String(reference)) => match pointer::resolve(self.root, reference) {
                    Some(target) => {
                        let index = self.compile(target);
                        node.all.push(index);
                    }
                    None => node.opaque = EVERY,
                },
                ("pattern", _) => node.opaque |= STRING,
                ("multipleOf" | "exclusiveMinimum" | "exclusiveMaximum", _) => node.opaque |= INTEGER | FRACTION,
                (
                    "prefixItems" | "contains" | "uniqueItems" | "minContains" | "maxContains" | "unevaluatedItems",
                    _,
                ) => {
                    node.opaque |= ARRAY;
                }
                (
                    "patternProperties"
                    | "propertyNames"
                    | "minProperties"
                    | "maxProperties"
                    | "dependentRequired"
                    | "dependentSchemas"
                    | "unevaluatedProperties",
                    _,
                ) => node.opaque |= OBJECT,
                _ => node.opaque = EVERY,
            }
        }
        for name in required {
            match node.properties.iter_mut().find(|p| p.name == name) {
                Some(property) => {
                    property.required = true;
                    node.required += 1;
                }
                // Required, but not described.
                None => node.opaque |= OBJECT,
            }
        }
        node
    }
}

fn types_of(types: &Value) -> u8 {
    match types {
        Value::String(name) => match name.as_str() {
            "string" => STRING,
            "integer" => INTEGER,
            "number" => INTEGER | FRACTION,
            "boolean" => BOOLEAN,
            "null" => NULL,
            "object" => OBJECT,
            "array" => ARRAY,
            _ => 0,
        },
        Value::Array(names) => names.iter().map(types_of).fold(0, |a, b| a | b),
        _ => 0,
    }
}

/// Literals: strings are listed; null and booleans are types of their own; of all others nothing is proven.
fn literal(node: &mut Node, literals: &[Value]) {
    let mut types = 0;
    let mut words = Vec::new();
    for value in literals {
        match value {
            Value::String(word) => {
                types |= STRING;
                words.push(word.clone());
            }
            Value::Null => types |= NULL,
            _ => {}
        }
    }
    node.types &= types;
    match &mut node.words {
        Some(known) => known.retain(|word| words.contains(word)),
        None => node.words = Some(words),
    }
}

fn size(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

fn narrow(range: &mut Option<(f64, f64)>, least: Option<f64>, most: Option<f64>) {
    let (low, high) = range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    *range = Some((least.unwrap_or(low), most.unwrap_or(high)));
}

/// Reads valid JSON against a node. Every method leaves `at` behind what it read, or returns `false`.
struct Reader<'c, 't> {
    check: &'c Check,
    text: &'t [u8],
    at: usize,
    /// Bytes that may still be read a second time, for a second branch.
    again: usize,
}

impl<'c, 't> Reader<'c, 't> {
    fn new(check: &'c Check, text: &'t str) -> Self {
        Self { check, text: text.as_bytes(), at: 0, again: text.len().saturating_mul(8).saturating_add(1024) }
    }

    /// Goes back to `start`, as long as that stays cheap.
    fn back(&mut self, start: usize) -> bool {
        let length = self.at.saturating_sub(start).max(1);
        self.at = start;
        match self.again.checked_sub(length) {
            Some(left) => {
                self.again = left;
                true
            }
            None => false,
        }
    }

    fn space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, index: usize) -> bool {
        let Some(node) = self.check.nodes.get(index) else { return false };
        self.space();
        let start = self.at;
        let Some(byte) = self.text.get(start).copied() else { return false };
        let alone = node.all.is_empty() && node.any.is_empty();
        if alone || !node.composed {
            let fits = match byte {
                b'"' => self.string(node),
                b'{' => takes(node, OBJECT) && self.object(node),
                b'[' => takes(node, ARRAY) && self.array(node),
                b't' => takes(node, BOOLEAN) && self.word(4),
                b'f' => takes(node, BOOLEAN) && self.word(5),
                b'n' => takes(node, NULL) && self.word(4),
                _ => self.number(node),
            };
            if !fits || alone {
                return fits;
            }
        }
        for also in &node.all {
            if !self.back(start) || !self.value(*also) {
                return false;
            }
        }
        node.any.is_empty() || node.any.iter().any(|branch| self.back(start) && self.value(*branch))
    }

    fn word(&mut self, length: usize) -> bool {
        self.at += length;
        true
    }

    /// The string at `at`: its raw inside, and whether it holds an escape.
    fn raw_string(&mut self) -> Option<(&[u8], bool)> {
        let start = self.at + 1;
        let mut at = start;
        // Keys and words end soon: looking byte by byte is faster there.
        for byte in self.text.get(start..)?.iter().take(SHORT) {
            match byte {
                b'"' => {
                    self.at = at + 1;
                    return Some((self.text.get(start..at)?, false));
                }
                b'\\' => break,
                _ => at += 1,
            }
        }
        let mut escaped = false;
        loop {
            let found = find_special(self.text, at);
            match self.text.get(found)? {
                b'"' => {
                    self.at = found + 1;
                    return Some((self.text.get(start..found)?, escaped));
                }
                b'\\' => {
                    escaped = true;
                    at = found + 2;
                }
                _ => at = found + 1,
            }
        }
    }

    fn string(&mut self, node: &Node) -> bool {
        if !takes(node, STRING) {
            return false;
        }
        let Some((raw, escaped)) = self.raw_string() else { return false };
        if let Some(words) = &node.words {
            return !escaped && words.iter().any(|word| word.as_bytes() == raw) && node.min_length == 0;
        }
        if node.min_length == 0 && node.max_length.is_none() {
            return true;
        }
        !escaped && length_fits(node, raw.len(), node.min_length > 0 && raw.is_ascii())
    }

    fn number(&mut self, node: &Node) -> bool {
        let start = self.at;
        let mut whole = true;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'0'..=b'9' | b'-' => {}
                b'.' | b'e' | b'E' | b'+' => whole = false,
                _ => break,
            }
            self.at += 1;
        }
        // `3.0` is an integer too, but that is for the validator to say.
        if !takes(node, if whole { INTEGER } else { FRACTION }) || (!whole && node.types & FRACTION == 0) {
            return false;
        }
        if node.words.is_some() {
            return false;
        }
        let Some((low, high)) = node.range else { return true };
        let text = self.text.get(start..self.at).and_then(|raw| std::str::from_utf8(raw).ok());
        text.filter(|t| t.len() <= 15).and_then(|t| t.parse::<f64>().ok()).is_some_and(|n| low <= n && n <= high)
    }

    fn object(&mut self, node: &Node) -> bool {
        self.at += 1;
        let mut keys = Keys::default();
        loop {
            self.space();
            match self.text.get(self.at) {
                Some(b'}') => {
                    self.at += 1;
                    return keys.found == node.required;
                }
                Some(b',') => self.at += 1,
                Some(b'"') => {
                    let Some((key, false)) = self.raw_string() else { return false };
                    let place = keys.place(node, key);
                    self.space();
                    // The colon.
                    self.at += 1;
                    let fits = match place {
                        Place::Property(node) | Place::Rest(Rest::Schema(node)) => self.value(node),
                        Place::Rest(Rest::Anything) => self.skip(),
                        Place::Rest(Rest::Nothing) | Place::Unknown => false,
                    };
                    if !fits {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }

    fn array(&mut self, node: &Node) -> bool {
        self.at += 1;
        let mut count = 0;
        loop {
            self.space();
            match self.text.get(self.at) {
                Some(b']') => {
                    self.at += 1;
                    return count >= node.min_items && node.max_items.is_none_or(|max| count <= max);
                }
                Some(b',') => self.at += 1,
                Some(_) => {
                    count += 1;
                    let fits = match node.items {
                        Some(items) => self.value(items),
                        None => self.skip(),
                    };
                    if !fits {
                        return false;
                    }
                }
                None => return false,
            }
        }
    }

    /// Passes over any value.
    fn skip(&mut self) -> bool {
        let mut depth = 0_usize;
        loop {
            self.space();
            match self.text.get(self.at) {
                Some(b'"') => {
                    if self.raw_string().is_none() {
                        return false;
                    }
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                Some(b',' | b':') => self.at += 1,
                Some(_) => {
                    while !matches!(
                        self.text.get(self.at),
                        None | Some(b',' | b']' | b'}' | b' ' | b'\n' | b'\t' | b'\r')
                    ) {
                        self.at += 1;
                    }
                }
                None => return false,
            }
            if depth == 0 {
                return true;
            }
        }
    }
}

fn takes(node: &Node, kind: u8) -> bool {
    node.types & kind != 0 && node.opaque & kind == 0
}
