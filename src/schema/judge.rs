//! What arguments are judged by: a quick proof first, the full validator only where that proves nothing.
use super::check::{Check, Written};
use super::clean::clean;
use super::input::deeper_than;
use super::patterns::Patterns;
use super::{effort, pointer};
use crate::json::Member;
use crate::turn::ArgumentError;
use jsonschema::{Draft, Validator};
use serde_json::{Map, Number, Value, json};
use std::borrow::Cow;
use std::sync::OnceLock;

/// Errors listed for one call; a schema can refuse a long list at every item.
const MAX_ERRORS: usize = 20;
/// Characters of a message; messages quote the value.
const MAX_MESSAGE: usize = 300;

/// One tool's judge. Its parts are made when first needed.
#[derive(Debug, Default)]
pub(super) struct Judge {
    clean: OnceLock<Value>,
    check: OnceLock<Check>,
    validator: OnceLock<Option<Validator>>,
    respelt: OnceLock<bool>,
    patterns: OnceLock<Patterns>,
    height: OnceLock<usize>,
}

impl Judge {
    /// The schema as valid JSON Schema 2020-12.
    pub(super) fn schema(&self, original: &Value) -> &Value {
        self.clean.get_or_init(|| if original.is_null() { Value::Bool(true) } else { clean(original) })
    }

    /// Whether some provider is told other names for properties (`$filter` as `_filter`), so that those may come back.
    pub(super) fn respelt(&self, original: &Value) -> bool {
        *self.respelt.get_or_init(|| has_odd_names(original, 0))
    }

    /// What tells which members the schema describes by a pattern.
    pub(super) fn patterns(&self, original: &Value) -> &Patterns {
        self.patterns.get_or_init(|| Patterns::of(self.schema(original)))
    }

    fn check(&self, original: &Value) -> &Check {
        self.check.get_or_init(|| Check::new(self.schema(original)))
    }

    /// Whether `json` is proven to fit, without building a value.
    pub(super) fn proves(&self, original: &Value, json: &str) -> bool {
        self.check(original).proves(json)
    }

    /// As [`Self::proves`], for an object in `text` of which the scanner has noted the members.
    pub(super) fn proves_scanned(&self, original: &Value, text: &str, members: &[Member]) -> bool {
        self.check(original).proves_scanned(text, members)
    }

    /// Whether the value `json` is proven to fit as the member `key`.
    pub(super) fn proves_member(&self, original: &Value, key: &str, json: &str) -> bool {
        self.check(original).proves_member(key, json)
    }

    /// The same for members that the dialect wrote one by one.
    pub(super) fn proves_members<'m>(
        &self,
        original: &Value,
        members: impl Iterator<Item = (&'m [u8], Written<'m>)>,
    ) -> bool {
        self.check(original).proves_members(members)
    }

    /// All that the schema refuses in `arguments`, each with its place.
    pub(super) fn errors(&self, original: &Value, arguments: &Value) -> Vec<ArgumentError> {
        let Some(validator) = self.validator(original) else { return Vec::new() };
        if self.is_too_deep(original, arguments) {
            return vec![error_at(
                "",
                "$ref",
                "the arguments and their schema are nested too deep to be judged".to_owned(),
            )];
        }
        let arguments = &*with_least_floats(arguments);
        if validator.is_valid(arguments) {
            return Vec::new();
        }
        let schema = self.schema(original);
        if effort::is_bounded(schema, schema, arguments) {
            return listed(validator, arguments);
        }
        errors_of_members(schema, arguments)
    }

    pub(super) fn is_valid(&self, original: &Value, arguments: &Value) -> bool {
        self.validator(original).is_none_or(|validator| {
            !self.is_too_deep(original, arguments) && validator.is_valid(&with_least_floats(arguments))
        })
    }

    fn is_too_deep(&self, original: &Value, arguments: &Value) -> bool {
        let height = self.height.get_or_init(|| effort::height(self.schema(original)));
        effort::is_too_deep(*height, arguments)
    }

    /// `None` only for a schema that cannot be compiled even in parts: it judges nothing.
    fn validator(&self, original: &Value) -> Option<&Validator> {
        let made = self.validator.get_or_init(|| compile(self.schema(original).clone()));
        made.as_ref()
    }
}

/// `value` with the float next to zero in place of each number that lies between the two: the validator takes those for zero,
/// so that `-1e-400` would not be below a minimum of 0.
fn with_least_floats(value: &Value) -> Cow<'_, Value> {
    if !any_vanishes(value) {
        return Cow::Borrowed(value);
    }
    let mut value = value.clone();
    replace_vanishing(&mut value);
    Cow::Owned(value)
}

fn any_vanishes(value: &Value) -> bool {
    match value {
        Value::Number(number) => vanishes(number),
        Value::Array(items) => items.iter().any(any_vanishes),
        Value::Object(map) => map.values().any(any_vanishes),
        _ => false,
    }
}

fn replace_vanishing(value: &mut Value) {
    match value {
        Value::Number(number) if vanishes(number) => {
            const LEAST: f64 = f64::from_bits(1);
            let least = if number.as_str().starts_with('-') { -LEAST } else { LEAST };
            *value = least.into();
        }
        Value::Array(items) => items.iter_mut().for_each(replace_vanishing),
        Value::Object(map) => map.values_mut().for_each(replace_vanishing),
        _ => {}
    }
}

/// Whether this is zero as a float, and is not zero.
fn vanishes(number: &Number) -> bool {
    let written = number.as_str();
    let digits = written.split(['e', 'E']).next().unwrap_or_default();
    // Only an exponent, or hundreds of zeros, make a number so small.
    (digits.len() < written.len() || written.len() > 300)
        && number.as_f64() == Some(0.0)
        && digits.bytes().any(|digit| matches!(digit, b'1'..=b'9'))
}

/// The errors that `validator` finds.
fn listed(validator: &Validator, arguments: &Value) -> Vec<ArgumentError> {
    let mut errors: Vec<ArgumentError> = Vec::new();
    for error in validator.iter_errors(arguments).take(MAX_ERRORS) {
        let message = shorten(error.to_string());
        let error = error_at(&error.instance_path().to_string(), error.kind().keyword(), message);
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    errors
}

fn error_at(pointer: &str, keyword: &str, message: String) -> ArgumentError {
    ArgumentError { pointer: pointer.to_owned(), keyword: keyword.to_owned(), message }
}

/// The errors of arguments in which there are too many ways through the schema to go them all: one for each member where there
/// are, and those of everything else.
#[cold]
fn errors_of_members(schema: &Value, arguments: &Value) -> Vec<ArgumentError> {
    let mut light = schema.clone();
    let mut errors = Vec::new();
    let listed_members = schema.get("properties").and_then(Value::as_object).zip(arguments.as_object());
    for (name, part) in listed_members.into_iter().flat_map(|(properties, _)| properties) {
        let Some(value) = arguments.get(name).filter(|value| !effort::is_bounded(schema, part, value)) else {
            continue;
        };
        if let Some(part) = light.get_mut("properties").and_then(|properties| properties.get_mut(name)) {
            *part = Value::Bool(true);
        }
        let mut place = String::new();
        pointer::push(&mut place, "properties");
        pointer::push(&mut place, name);
        let refuses = |validator: Validator| !validator.is_valid(value);
        if errors.len() < MAX_ERRORS && compile(alone(schema, &place)).is_some_and(refuses) {
            let mut place = String::new();
            pointer::push(&mut place, name);
            let message = format!("{value} is not valid under any of the schemas that may describe it");
            errors.push(error_at(&place, union_in(schema, part), shorten(message)));
        }
    }
    if effort::is_bounded(&light, &light, arguments)
        && let Some(validator) = compile(light)
    {
        errors.append(&mut listed(&validator, arguments));
        errors.truncate(MAX_ERRORS);
    }
    if errors.is_empty() {
        let message = "the arguments are not valid under any of the schemas that may describe them".to_owned();
        errors.push(error_at("", union_in(schema, schema), message));
    }
    errors
}

/// The part of a clean schema at `place` as a schema of its own, in which references mean what they did.
fn alone(root: &Value, place: &str) -> Value {
    const ID: &str = "toolglot:root";
    let mut document = Map::new();
    document.insert("$id".to_owned(), ID.into());
    document.extend(root.as_object().cloned().unwrap_or_default());
    json!({"$ref": format!("{ID}#{}", pointer::in_uri(place)), "$defs": {"root": document}})
}

/// The keyword by which a schema, or what it refers to, has several that may describe a value.
fn union_in<'s>(root: &'s Value, schema: &'s Value) -> &'static str {
    let mut at = schema;
    for _ in 0..16 {
        if let Some(keyword) = ["anyOf", "oneOf", "allOf", "not", "if"].into_iter().find(|key| at.get(key).is_some()) {
            return keyword;
        }
        match at.get("$ref").and_then(Value::as_str).and_then(|reference| pointer::resolve(root, reference)) {
            Some(target) => at = target,
            None => break,
        }
    }
    ["items", "properties"].into_iter().find(|key| at.get(key).is_some()).unwrap_or("$ref")
}

/// Compiles a clean schema. What the compiler still refuses (a pattern no engine reads) goes, and the rest judges.
fn compile(mut schema: Value) -> Option<Validator> {
    if deeper_than(&schema, super::input::MAX_DEPTH + 2) {
        return None;
    }
    for _ in 0..32 {
        let error = match jsonschema::options().with_draft(Draft::Draft202012).build(&schema) {
            Ok(validator) => return Some(validator),
            Err(error) => error,
        };
        // The refused schema is the instance of its meta-schema; a refused pattern is named by its own place.
        let places = [error.instance_path().to_string(), error.schema_path().to_string()];
        // What refers to a place that the compiler does not find takes anything; the rest still judges.
        if !places.iter().any(|place| remove(&mut schema, place)) && !unrefer(&mut schema) {
            return None;
        }
    }
    None
}

/// Takes every reference out of `schema`; whether there was one.
fn unrefer(schema: &mut Value) -> bool {
    let mut any = false;
    match schema {
        Value::Object(map) => {
            any = map.get("$ref").is_some_and(Value::is_string) && map.shift_remove("$ref").is_some();
            map.values_mut().for_each(|part| any |= unrefer(part));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| any |= unrefer(item)),
        _ => {}
    }
    any
}

/// Takes the keyword at `pointer` out of `schema`.
fn remove(schema: &mut Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    let key = key.replace("~1", "/").replace("~0", "~");
    match schema.pointer_mut(parent) {
        Some(Value::Object(map)) => map.shift_remove(&key).is_some(),
        // One entry of a list (`required`, `enum`, `type`): the list goes.
        Some(Value::Array(_)) => remove(schema, parent),
        _ => false,
    }
}

/// A property somewhere whose name is no identifier.
fn has_odd_names(schema: &Value, depth: usize) -> bool {
    match schema {
        Value::Object(map) if depth <= super::input::MAX_DEPTH => map.iter().any(|(key, value)| {
            let odd = match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    properties.keys().any(|name| !super::names::is_safe_property(name))
                }
                _ => false,
            };
            odd || has_odd_names(value, depth + 1)
        }),
        Value::Array(items) => items.iter().any(|item| has_odd_names(item, depth + 1)),
        _ => false,
    }
}

fn shorten(message: String) -> String {
    if message.chars().count() <= MAX_MESSAGE {
        return message;
    }
    // The end of a message says what was wanted; its beginning quotes the value.
    let head: String = message.chars().take(MAX_MESSAGE / 3).collect();
    let skip = message.chars().count() - MAX_MESSAGE * 2 / 3;
    let tail: String = message.chars().skip(skip).collect();
    format!("{head}…{tail}")
}
