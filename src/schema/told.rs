//! Members that came, or go back, under the spelling that a provider was told, as it refuses the real name.
use super::convert::PropertyNames;
use super::{names, pointer};
use crate::turn::{Repair, RepairCode};
use serde_json::{Map, Value};

/// Nesting of values that is followed.
const DEPTH: usize = 150;

/// Schemas that may describe one value: more branches and references are not looked at.
const PARTS: usize = 256;

/// Gives the members in `value` the names that the schema `root` has; what was renamed comes back.
pub(super) fn real_names(root: &Value, value: &mut Value) -> Vec<Repair> {
    let mut names = Names { root, told: None, changed: false, repairs: Vec::new(), place: String::new() };
    names.inside(&[root], value, 0);
    names.repairs
}

/// Gives the members in `value` the names that a provider was told that takes such `names`. Whether any has another now.
pub(super) fn told_names(root: &Value, value: &mut Value, names: PropertyNames) -> bool {
    let mut names = Names { root, told: Some(names), changed: false, repairs: Vec::new(), place: String::new() };
    names.inside(&[root], value, 0);
    names.changed
}

struct Names<'s> {
    root: &'s Value,
    /// The names to be told; `None` if the real ones are wanted.
    told: Option<PropertyNames>,
    changed: bool,
    repairs: Vec<Repair>,
    place: String,
}

impl<'s> Names<'s> {
    /// Renames what is in `value`, which any of `schemas` may describe: a spelling says which branch of a union it is from.
    fn inside(&mut self, schemas: &[&'s Value], value: &mut Value, depth: usize) {
        let mut parts = Vec::new();
        for schema in schemas {
            self.parts(schema, &mut parts);
        }
        if depth > DEPTH || parts.is_empty() {
            return;
        }
        let length = self.place.len();
        match value {
            Value::Object(members) => {
                let properties: Vec<_> =
                    parts.iter().filter_map(|part| part.get("properties").and_then(Value::as_object)).collect();
                let odd = !properties.iter().all(|map| map.keys().all(|name| names::is_safe_property(name)));
                if odd && self.told.is_none() {
                    self.rename(&properties, members);
                }
                for (key, member) in members.iter_mut() {
                    let mut inner: Vec<_> = properties.iter().filter_map(|map| map.get(key)).collect();
                    if inner.is_empty() {
                        let of = |part: &&'s Map<String, Value>| {
                            let patterns = part.get("patternProperties").and_then(Value::as_object);
                            patterns.into_iter().flat_map(Map::values).chain(part.get("additionalProperties"))
                        };
                        inner = parts.iter().flat_map(of).collect();
                    }
                    pointer::push(&mut self.place, key);
                    self.inside(&inner, member, depth + 1);
                    self.place.truncate(length);
                }
                if let (true, Some(told)) = (odd, self.told) {
                    self.changed |= tell(&properties, members, told);
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    let of = |part: &&'s Map<String, Value>| {
                        let first = part.get("prefixItems").and_then(|first| first.get(i));
                        first.or_else(|| part.get("items"))
                    };
                    let inner: Vec<_> = parts.iter().filter_map(of).collect();
                    pointer::push(&mut self.place, &i.to_string());
                    self.inside(&inner, item, depth + 1);
                    self.place.truncate(length);
                }
            }
            _ => {}
        }
    }

    /// The schema, what it refers to and the branches of its combinators, each once.
    fn parts(&self, schema: &'s Value, found: &mut Vec<&'s Map<String, Value>>) {
        let Some(map) = schema.as_object() else { return };
        if found.len() >= PARTS || found.iter().any(|known| std::ptr::eq(*known, map)) {
            return;
        }
        found.push(map);
        let target = map.get("$ref").and_then(Value::as_str).and_then(|r| pointer::resolve(self.root, r));
        let branches = ["allOf", "anyOf", "oneOf"].iter().filter_map(|key| map.get(*key)?.as_array()).flatten();
        for part in target.into_iter().chain(branches) {
            self.parts(part, found);
        }
    }

    /// Gives `members` their real names, which one of the maps of `properties` lists. Where two branches of a union have one
    /// spelling for two names, it stays.
    fn rename(&mut self, properties: &[&'s Map<String, Value>], members: &mut Map<String, Value>) {
        let listed = |key: &String| properties.iter().any(|map| map.contains_key(key));
        let spelt: Vec<_> = properties.iter().map(|map| (names::safe_properties(map), *map)).collect();
        let real = |key: &String| {
            let mut names = spelt.iter().filter_map(|(spellings, map)| {
                let position = spellings.iter().position(|spelling| spelling == key)?;
                map.keys().nth(position).filter(|name| *name != key)
            });
            let first = names.next()?;
            names.all(|name| name == first).then_some(first)
        };
        // A member by the real name, or a property of just that spelling, is what it says.
        if !members.keys().any(|key| !listed(key) && real(key).is_some()) {
            return;
        }
        let mut renamed = Map::with_capacity(members.len());
        for (key, value) in std::mem::take(members) {
            match real(&key).filter(|_| !listed(&key)) {
                Some(name) => {
                    let mut place = self.place.clone();
                    pointer::push(&mut place, name);
                    let message = format!("{key:?}, the spelling told to the provider, is {name:?}");
                    self.repairs.push(Repair::of(RepairCode::Name, place, message));
                    renamed.insert(name.clone(), value);
                }
                None => drop(renamed.insert(key, value)),
            }
        }
        *members = renamed;
    }
}

/// Gives `members` the names that are told of those in the maps of `properties`. Where these do not agree, or where another
/// member is called so, a name stays. Whether any changed.
fn tell(properties: &[&Map<String, Value>], members: &mut Map<String, Value>, names: PropertyNames) -> bool {
    let spelt: Vec<_> = properties.iter().map(|map| (names.spelt(map), *map)).collect();
    let told = |key: &String| {
        let mut names = spelt.iter().filter_map(|(spellings, map)| {
            let position = map.keys().position(|name| name == key)?;
            spellings.get(position)
        });
        let first = names.next()?;
        names.all(|name| name == first).then_some(first).filter(|name| !members.contains_key(*name))
    };
    let keys: Vec<Option<String>> = members.keys().map(|key| told(key).cloned()).collect();
    if keys.iter().all(Option::is_none) {
        return false;
    }
    let taken = std::mem::take(members);
    *members = taken.into_iter().zip(keys).map(|((key, value), told)| (told.unwrap_or(key), value)).collect();
    true
}
