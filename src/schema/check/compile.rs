//! A schema compiled for proofs.
use super::{
    ARRAY, BOOLEAN, Check, EVERY, FRACTION, INTEGER, NULL, Node, OBJECT, Property, Rest, STRING, plain_number,
};
use crate::schema::pointer;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Schemas compiled for one tool; more make the rest "not proven".
const MAX_NODES: usize = 4096;

const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

impl Check {
    /// Compiles a clean schema ([`crate::schema::clean::clean`]).
    pub(in crate::schema) fn new(root: &Value) -> Self {
        let mut compiler = Compiler { root, nodes: Vec::new(), seen: HashMap::new() };
        compiler.compile(root);
        Self { nodes: compiler.nodes }
    }
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
            Value::Bool(true) => Node { types: EVERY, free: STRING | BOOLEAN | NULL, ..Node::default() },
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
                ("properties", Value::Object(properties)) => self.properties(&mut node, properties),
                ("required", Value::Array(names)) => required = names.iter().filter_map(Value::as_str).collect(),
                ("additionalProperties", Value::Bool(true)) => {}
                ("additionalProperties", Value::Bool(false)) => node.rest = Rest::Nothing,
                ("additionalProperties", schema) => node.rest = Rest::Schema(self.compile(schema)),
                ("items", schema) => node.items = Some(self.compile(schema)),
                ("minItems", n) => node.min_items = size(n).unwrap_or(usize::MAX),
                ("maxItems", n) => node.max_items = size(n),
                ("minLength", n) => node.min_length = size(n).unwrap_or(usize::MAX),
                ("maxLength", n) => node.max_length = size(n),
                ("minimum" | "maximum", Value::Number(n)) => match plain_number(n.as_str()) {
                    Some(least) if key == "minimum" => node.range.get_or_insert(ALL).0 = least,
                    Some(most) => node.range.get_or_insert(ALL).1 = most,
                    None => node.opaque |= INTEGER | FRACTION,
                },
                ("enum", Value::Array(literals)) => literal(&mut node, literals),
                ("const", value) => literal(&mut node, std::slice::from_ref(value)),
                ("anyOf", Value::Array(branches)) if node.any.is_empty() => {
                    node.any = branches.iter().map(|b| self.compile(b)).collect();
                }
                ("allOf", Value::Array(branches)) => node.all.extend(branches.iter().map(|b| self.compile(b))),
                ("$ref", Value::String(reference)) => match pointer::resolve(self.root, reference) {
                    Some(target) => node.all.push(self.compile(target)),
                    None => node.opaque = EVERY,
                },
                _ => node.opaque |= unproven_by(key),
            }
        }
        require(&mut node, &required);
        node.free = node.free();
        node
    }

    fn properties(&mut self, node: &mut Node, properties: &'s Map<String, Value>) {
        for (name, schema) in properties {
            let index = self.compile(schema);
            if name.contains('\\') {
                // In JSON its backslash is written otherwise, so that its bytes cannot be compared.
                node.opaque |= OBJECT;
            }
            node.properties.push(Property { name: name.clone(), node: index, required: false });
        }
    }
}

/// Of what types nothing is proven where a schema has this keyword.
fn unproven_by(key: &str) -> u8 {
    match key {
        "pattern" => STRING,
        "multipleOf" | "exclusiveMinimum" | "exclusiveMaximum" => INTEGER | FRACTION,
        "prefixItems" | "contains" | "uniqueItems" | "minContains" | "maxContains" | "unevaluatedItems" => ARRAY,
        "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedProperties" => OBJECT,
        _ => EVERY,
    }
}

fn require(node: &mut Node, names: &[&str]) {
    for name in names {
        match node.properties.iter_mut().find(|p| p.name == *name) {
            Some(property) => {
                property.required = true;
                node.required += 1;
            }
            // Required, but not described.
            None => node.opaque |= OBJECT,
        }
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

/// A count, which may be written as `2.0`.
fn size(value: &Value) -> Option<usize> {
    // A float beyond what a count can be becomes the largest.
    value.as_u64().and_then(|n| usize::try_from(n).ok()).or_else(|| value.as_f64().map(|n| n as usize))
}
