//! What an element holds, as JSON: an object, or a list where the schema wants one.
use crate::engine::body::values::KeyIndex;
use crate::json::push_string;
use crate::schema::{Expected, read_text};
use crate::turn::ArgumentValue;
use serde_json::Value as Schema;
use std::collections::HashSet;

/// What an element holds.
#[derive(Debug)]
pub(super) enum Node<'t> {
    Text(String),
    /// Elements by their names, the text that stands among them, and all of it as it was written: nothing where what marks the tags
    /// says that they are some.
    Children(Vec<(String, Node<'t>)>, String, &'t str),
}

impl Node<'_> {
    /// Writes it as JSON, as far as can be as `schema` wants it, whose references lead into `root`. Answers whether text
    /// among elements became a member.
    pub(super) fn write(&self, json: &mut String, schema: Option<&Schema>, root: Option<&Schema>) -> bool {
        let follow = |schema| follow_reference(schema, root);
        let schema = follow(schema);
        match self {
            Self::Text(text) => {
                let empty = Schema::Null;
                let expected = schema.map_or(Expected::ANY, |s| Expected::of(s, root.unwrap_or(&empty)));
                match read_text(text, expected) {
                    ArgumentValue::Text(text) => push_string(json, &text),
                    ArgumentValue::Json(text) => json.push_str(&text),
                }
                false
            }
            // Tags that nothing marks are text where a string is wanted.
            Self::Children(_, _, written)
                if !written.is_empty()
                    && schema.zip(root).is_some_and(|(schema, root)| Expected::of(schema, root).is_string()) =>
            {
                push_string(json, written);
                false
            }
            Self::Children(children, mixed, _) if mixed.is_empty() && is_list(children, schema, root) => {
                let items = find(schema, root, 0, &|s| s.get("items"));
                let item = self.is_item(schema, root);
                if !item && are_members(children) && !may_be_object(items, root) {
                    return Self::write_object(json, children, mixed, schema, root);
                }
                if item {
                    json.push('[');
                    let among = Self::write_object(json, children, mixed, items, root);
                    json.push(']');
                    return among;
                }
                Self::write_list(json, children.iter().map(|(_, child)| child), items, root)
            }
            Self::Children(children, mixed, _) => Self::write_object(json, children, mixed, schema, root),
        }
    }

    /// The schema wants a list, and it is one item of it, an object, that has no element of its own round it.
    pub(super) fn is_item(&self, schema: Option<&Schema>, root: Option<&Schema>) -> bool {
        let schema = follow_reference(schema, root);
        let Self::Children(children, mixed, _) = self else { return false };
        if !mixed.is_empty() || !is_list(children, schema, root) {
            return false;
        }
        let mut objects = Vec::new();
        variants(find(schema, root, 0, &|s| s.get("items")), root, &mut objects);
        let fits =
            |children: &[(String, Self)]| objects.iter().any(|object| children.iter().all(|(key, _)| has(object, key)));
        // The element of an item may be called as a member is.
        let wraps = |child: &Self| matches!(child, Self::Children(inner, ..) if fits(inner));
        let mut seen = HashSet::new();
        fits(children)
            && children.iter().all(|(key, _)| seen.insert(key))
            && !matches!(&children[..], [(_, one)] if wraps(one))
    }

    fn write_list<'n>(
        json: &mut String,
        nodes: impl Iterator<Item = &'n Self>,
        items: Option<&Schema>,
        root: Option<&Schema>,
    ) -> bool
    where
        Self: 'n,
    {
        let mut among = false;
        json.push('[');
        for (i, node) in nodes.enumerate() {
            json.push_str(if i > 0 { ", " } else { "" });
            among |= node.write(json, items, root);
        }
        json.push(']');
        among
    }

    /// Children of one name are a list; text among them is a member of its own.
    fn write_object(
        json: &mut String,
        children: &[(String, Self)],
        mixed: &str,
        schema: Option<&Schema>,
        root: Option<&Schema>,
    ) -> bool {
        let mut groups: Vec<(&str, Vec<&Self>)> = Vec::new();
        let mut keys = KeyIndex::default();
        for (key, child) in children {
            let name = |i: usize| groups.get(i).map(|(k, _)| k.as_bytes());
            let same = keys.position(key, groups.len(), name);
            match same.and_then(|i| groups.get_mut(i)) {
                Some((_, nodes)) => nodes.push(child),
                None => groups.push((key, vec![child])),
            }
        }
        let mut objects = Vec::new();
        variants(schema, root, &mut objects);
        let mut among = !mixed.is_empty();
        json.push('{');
        for (i, (key, nodes)) in groups.iter().enumerate() {
            json.push_str(if i > 0 { ", " } else { "" });
            push_string(json, key);
            json.push_str(": ");
            let of = find(schema, root, 0, &|s| s.get("properties").and_then(|p| p.get(*key)))
                .or_else(|| find(schema, root, 0, &|s| s.get("additionalProperties").filter(|a| a.is_object())));
            // Where one object of a union types the member and another leaves it open, it is text.
            let of =
                of.filter(|_| objects.len() < 2 || objects.iter().all(|object| has(object, key) || closed(object)));
            among |= match nodes.as_slice() {
                [one] => one.write(json, of, root),
                many => {
                    let items = find(of, root, 0, &|s| s.get("items"));
                    Self::write_list(json, many.iter().copied(), items.or(of), root)
                }
            };
        }
        if !mixed.is_empty() {
            json.push_str(if groups.is_empty() { "" } else { ", " });
            let mut key = String::from("$text");
            while groups.iter().any(|(k, _)| *k == key) {
                key.insert(0, '$');
            }
            push_string(json, &key);
            json.push_str(": ");
            push_string(json, mixed);
        }
        json.push('}');
        among
    }
}

/// The object of a schema has a member of this name.
fn has(object: &Schema, key: &str) -> bool {
    object.get("properties").is_some_and(|p| p.get(key).is_some())
}

/// The schema wants a list, and no object of it has members of the children's names. Where it is silent, though the tool is
/// known, several that are all named `item` are one: templates write lists so, and nothing else says `item` twice.
fn is_list(children: &[(String, Node<'_>)], schema: Option<&Schema>, root: Option<&Schema>) -> bool {
    let several = children.len() > 1 && children.iter().all(|(key, _)| key == "item");
    let wanted = || {
        let types = find(schema, root, 0, &|s| s.get("type").filter(|types| names(types, "array")));
        // Where an object may stand as well, the elements' names say which it is.
        find(schema, root, 0, &|s| s.get("items")).is_some()
            || types.is_some_and(|types| several || !names(types, "object"))
    };
    let silent = || root.is_some_and(|root| schema.is_none_or(|s| Expected::of(s, root).is_any()));
    if !(several && silent() || wanted()) {
        return false;
    }
    let mut objects = Vec::new();
    variants(schema, root, &mut objects);
    !objects.iter().any(|object| children.iter().all(|(key, _)| has(object, key)))
}

/// The schema may want an object.
fn may_be_object(schema: Option<&Schema>, root: Option<&Schema>) -> bool {
    schema.zip(root).is_some_and(|(schema, root)| Expected::of(schema, root).allows(Expected::OBJECT))
}

/// The elements hold text, and their names are not one, a number behind it aside: what they say would be lost in a list.
fn are_members(children: &[(String, Node<'_>)]) -> bool {
    let mut names = children.iter().map(|(key, _)| key.trim_end_matches(|c: char| c.is_ascii_digit()));
    let first = names.next();
    children.iter().all(|(_, child)| matches!(child, Node::Text(_))) && !names.all(|name| Some(name) == first)
}

/// The word of a schema for its types is `name`, or a list with it.
fn names(types: &Schema, name: &str) -> bool {
    types == name || types.as_array().is_some_and(|types| types.iter().any(|known| known == name))
}

/// The objects that a schema, or one that it is a union of, describes.
fn variants<'s>(schema: Option<&'s Schema>, root: Option<&'s Schema>, into: &mut Vec<&'s Schema>) {
    variants_within(schema, root, 0, &mut { MOST_LOOKED_AT }, into);
}

fn variants_within<'s>(
    schema: Option<&'s Schema>,
    root: Option<&'s Schema>,
    depth: usize,
    left: &mut usize,
    into: &mut Vec<&'s Schema>,
) {
    let Some(schema) = follow_reference(schema, root).filter(|_| depth <= 16 && *left > 0 && into.len() < 64) else {
        return;
    };
    *left -= 1;
    let parts = |key: &str| schema.get(key).and_then(Schema::as_array);
    match parts("anyOf").or_else(|| parts("oneOf")) {
        Some(parts) => parts.iter().for_each(|part| variants_within(Some(part), root, depth + 1, left, into)),
        None if schema.get("properties").is_some() || schema.get("type").is_some_and(|t| t == "object") => {
            into.push(schema);
        }
        None => {}
    }
}

/// An object of this schema has no members but those it names.
fn closed(object: &Schema) -> bool {
    object.get("additionalProperties").is_some_and(|a| *a == Schema::Bool(false)) || object.get("properties").is_some()
}

/// Schemas that are looked at for one answer: those of a union that leads back to itself have no end.
const MOST_LOOKED_AT: usize = 512;

/// What `look` finds in a schema or in what it is combined of.
pub(crate) fn find<'s>(
    schema: Option<&'s Schema>,
    root: Option<&'s Schema>,
    depth: usize,
    look: &dyn Fn(&'s Schema) -> Option<&'s Schema>,
) -> Option<&'s Schema> {
    find_within(schema, root, depth, &mut { MOST_LOOKED_AT }, look)
}

fn find_within<'s>(
    schema: Option<&'s Schema>,
    root: Option<&'s Schema>,
    depth: usize,
    left: &mut usize,
    look: &dyn Fn(&'s Schema) -> Option<&'s Schema>,
) -> Option<&'s Schema> {
    let schema = follow_reference(schema, root)?;
    *left = left.checked_sub(1).filter(|_| depth <= 16)?;
    look(schema).or_else(|| {
        ["anyOf", "oneOf", "allOf"].iter().find_map(|key| {
            let parts = schema.get(*key)?.as_array()?;
            parts.iter().find_map(|part| find_within(Some(part), root, depth + 1, left, look))
        })
    })
}

/// The schema that `$ref` points to, or the schema itself.
fn follow_reference<'s>(schema: Option<&'s Schema>, root: Option<&'s Schema>) -> Option<&'s Schema> {
    let schema = schema?;
    match (schema.get("$ref").and_then(Schema::as_str), root) {
        (Some(reference), Some(root)) => crate::schema::resolve_reference(root, reference),
        _ => Some(schema),
    }
}
