//! What of a call's arguments can be passed on in the schema's types before all of them are there.
//!
//! Arguments that are whole are settled together ([`super::settle`]). A value is settled on its own, with the same result, where its
//! schema alone decides what becomes of it: everywhere but below unions and conditions.
use super::coerce::Coercer;
use super::{Expected, Tool, pointer};
use crate::json::Kind;
use serde_json::Value;
use std::borrow::Cow;

/// How a value that is being written may be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// As it is written, whatever follows: nothing changes it.
    AsWritten,
    /// An object or a list, each part of it on its own.
    InParts,
    /// Once it is whole.
    Whole,
}

/// What becomes of one value.
#[derive(Debug, PartialEq)]
pub(crate) enum Settled<'j> {
    /// This JSON is the value.
    As(Cow<'j, str>),
    /// The other arguments decide, too.
    Open,
}

/// The place of a schema in a tool's schema, as a JSON pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place(String);

/// Keywords beside which a value's own type alone decides how it is coerced.
const PLAIN: [&str; 28] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "additionalProperties",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
];

impl Tool {
    /// The schema of the arguments; `None` where they have to be whole to be read.
    pub(crate) fn arguments_place(&self) -> Option<Place> {
        let root = self.judge.schema(&self.schema);
        (is_plain(root) && !self.judge.respelt(&self.schema)).then(|| Place(String::new()))
    }

    /// The schema of the member `key` of an object; `None` if nothing is said of it.
    pub(crate) fn member_place(&self, object: &Place, key: &str) -> Option<Place> {
        let root = self.judge.schema(&self.schema);
        let schema = root.pointer(&object.0)?;
        let mut place = object.0.clone();
        if schema.get("properties").is_some_and(|properties| properties.get(key).is_some()) {
            place.push_str("/properties");
            pointer::push(&mut place, key);
        } else {
            schema.get("additionalProperties").filter(|schema| schema.is_object())?;
            place.push_str("/additionalProperties");
        }
        Some(Place(resolved(root, place)))
    }

    /// The schema of the items of a list; `None` if nothing is said of them.
    pub(crate) fn item_place(&self, list: &Place) -> Option<Place> {
        let root = self.judge.schema(&self.schema);
        root.pointer(&list.0)?.get("items").filter(|items| items.is_object())?;
        Some(Place(resolved(root, format!("{}/items", list.0))))
    }

    /// How a value of this `kind` may be passed on where the schema at `place` describes it.
    pub(crate) fn flow(&self, place: &Place, kind: Kind) -> Flow {
        let root = self.judge.schema(&self.schema);
        let Some(schema) = root.pointer(&place.0) else { return Flow::Whole };
        let expected = Expected::of(schema, root);
        let takes = |types| expected.is_any() || expected.allows(types);
        match kind {
            Kind::String if takes(Expected::STRING) && self.coercer("", false).is_free(schema) => Flow::AsWritten,
            Kind::Object if takes(Expected::OBJECT) && is_plain(schema) => Flow::InParts,
            Kind::Array if takes(Expected::ARRAY) && is_plain(schema) && !self.holds_lists(schema) => Flow::InParts,
            _ => Flow::Whole,
        }
    }

    /// The items of a list are lists: how many there are decides what becomes of one that is none.
    fn holds_lists(&self, schema: &Value) -> bool {
        let root = self.judge.schema(&self.schema);
        schema.get("items").is_some_and(|items| Expected::of(items, root).allows(Expected::ARRAY))
    }

    /// What becomes of the value `json` whose schema is at `place`. `member`: of the object at this place, under this key.
    pub(crate) fn settle_part<'j>(&self, place: &Place, member: Option<(&Place, &str)>, json: &'j str) -> Settled<'j> {
        let root = self.judge.schema(&self.schema);
        let (Some(schema), Ok(value)) = (root.pointer(&place.0), serde_json::from_str::<Value>(json)) else {
            return Settled::Open;
        };
        if value.is_null()
            && let Some((object, key)) = member
            && let Some(object) = root.pointer(&object.0)
            && self.coercer(json, false).drops_null(object, key)
        {
            return Settled::Open;
        }
        let settled = |from_text: bool| {
            let mut value = value.clone();
            self.coercer(json, from_text).value(schema, &mut value, 0);
            value
        };
        // Whether the model wrote JSON or a text a value is known when the call is whole.
        let coerced = settled(false);
        if coerced == value {
            return if settled(true) == value { Settled::As(Cow::Borrowed(json)) } else { Settled::Open };
        }
        if settled(true) == coerced { Settled::As(Cow::Owned(coerced.to_string())) } else { Settled::Open }
    }

    fn coercer<'s>(&'s self, written: &'s str, from_text: bool) -> Coercer<'s> {
        let schema = self.judge.schema(&self.schema);
        Coercer::new(schema, self.judge.patterns(&self.schema), written, from_text, &[])
    }
}

/// Follows references, and unions of one schema and `null`, from a place that is there.
fn resolved(root: &Value, mut place: String) -> String {
    for _ in 0..16 {
        let Some(schema) = root.pointer(&place).and_then(Value::as_object) else { break };
        let alone =
            |keyword: &str| schema.keys().all(|key| key == keyword || PLAIN.contains(&key.as_str()) && !says_type(key));
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str).filter(|_| alone("$ref")) {
            match pointer::place(root, reference).filter(|target| *target != place) {
                Some(target) => place = target,
                None => break,
            }
            continue;
        }
        let union = ["anyOf", "oneOf"].into_iter().find(|keyword| schema.contains_key(*keyword) && alone(keyword));
        let Some((keyword, branches)) = union.and_then(|key| Some((key, schema.get(key)?.as_array()?))) else { break };
        let null = |branch: &Value| branch.get("type").and_then(Value::as_str) == Some("null");
        let mut others = (0..branches.len()).filter(|at| !branches.get(*at).is_some_and(null));
        match (others.next(), others.next()) {
            // A scalar is judged by all of the union: `null` is one of its types.
            (Some(at), None) if branches.get(at).is_some_and(|branch| holds_parts(root, branch)) => {
                place.push_str(&format!("/{keyword}/{at}"));
            }
            _ => break,
        }
    }
    place
}

fn holds_parts(root: &Value, schema: &Value) -> bool {
    let expected = Expected::of(schema, root);
    !expected.is_any() && (expected.allows(Expected::OBJECT) || expected.allows(Expected::ARRAY))
}

/// The keyword says something of the value, and is no note.
fn says_type(keyword: &str) -> bool {
    matches!(keyword, "type" | "properties" | "items" | "additionalProperties" | "required")
}

fn is_plain(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.keys().all(|key| PLAIN.contains(&key.as_str()) || key.starts_with("x-")),
        other => *other == Value::Bool(true),
    }
}
