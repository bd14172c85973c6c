//! Where the references of a schema lead. What stands where no keyword of JSON Schema looks for schemas (`#/components/schemas/X`,
//! `#/x-defs/X`), or has another place once it is clean, becomes a definition.
use super::{effort, pointer};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Schemas that may describe one value, counted as often as there are ways to them, and how deep they may be nested.
const MOST: u32 = 2000;
const DEEPEST: usize = 256;

/// Keywords that hold a schema, a map and a list of schemas, each of which stays in its place.
const SCHEMAS: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const MAPS: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];

/// The keyword holds schemas, however many.
pub(super) fn holds_schemas(keyword: &str) -> bool {
    SCHEMAS.contains(&keyword) || MAPS.contains(&keyword) || LISTS.contains(&keyword)
}

/// The schemas that become definitions.
pub(super) struct Definitions<'r> {
    root: &'r Value,
    /// Where each was, its name, and what it is.
    moved: Vec<(String, String, &'r Value)>,
    /// Those handed out.
    taken: usize,
}

impl<'r> Definitions<'r> {
    pub(super) fn of(root: &'r Value) -> Self {
        Self { root, moved: Vec::new(), taken: 0 }
    }

    /// The reference to the schema `target` at `place`, in the clean schema.
    pub(super) fn reference(&mut self, place: String, target: &'r Value) -> String {
        if stays(self.root, &place) {
            return format!("#{}", pointer::in_uri(&place));
        }
        let known = self.moved.iter().find(|(known, ..)| *known == place).map(|(_, name, _)| name.clone());
        let name = known.unwrap_or_else(|| {
            let name = self.free_name(&place);
            self.moved.push((place, name.clone(), target));
            name
        });
        let mut place = "/$defs".to_owned();
        pointer::push(&mut place, &name);
        format!("#{}", pointer::in_uri(&place))
    }

    /// The next schema that became a definition: its place, its name, and what it is.
    pub(super) fn next(&mut self) -> Option<(String, String, &'r Value)> {
        let next = self.moved.get(self.taken).cloned();
        self.taken += usize::from(next.is_some());
        next
    }

    /// The last name in `place`, or one with a number behind it that no definition has.
    fn free_name(&self, place: &str) -> String {
        let last = pointer::unescaped(place.rsplit('/').next().unwrap_or_default()).into_owned();
        let defined = self.root.get("$defs");
        let free = |name: &String| {
            defined.and_then(|defs| defs.get(name)).is_none() && !self.moved.iter().any(|(_, taken, _)| taken == name)
        };
        let numbered = (2..).map(|number: usize| format!("{last}_{number}"));
        std::iter::once(last.clone()).chain(numbered).find(free).unwrap_or(last)
    }
}

/// Whether what is at `place` is there in the clean schema, too: every step on the way is one by a keyword that holds schemas.
fn stays(root: &Value, place: &str) -> bool {
    let mut at = root;
    let mut steps = place.split('/').skip(1).map(pointer::unescaped);
    while let Some(step) = steps.next() {
        let keyword = step.as_ref();
        let Some(value) = at.get(keyword) else { return false };
        let inner = match value {
            Value::Object(_) if SCHEMAS.contains(&keyword) => Some(value),
            Value::Object(map) if MAPS.contains(&keyword) => steps.next().and_then(|name| map.get(name.as_ref())),
            Value::Array(items) if LISTS.contains(&keyword) => {
                steps.next().and_then(|number| items.get(number.parse::<usize>().ok()?))
            }
            _ => None,
        };
        match inner {
            Some(inner) => at = inner,
            None => return false,
        }
    }
    true
}

/// Why a reference cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Blocked {
    /// Without looking deeper into the value, judging would come back to a schema that is being judged.
    LeadsBack,
    /// There are more ways through the schemas that describe the value than can be tried.
    TooMany,
}

/// Which references lead back to themselves, or to more than can be followed.
pub(super) struct Loops<'r> {
    root: &'r Value,
    /// The schemas that do not, with the number of those that describe the same value.
    clear: HashMap<*const Value, u32>,
}

impl<'r> Loops<'r> {
    pub(super) fn of(root: &'r Value) -> Self {
        Self { root, clear: HashMap::new() }
    }

    pub(super) fn root(&self) -> &'r Value {
        self.root
    }

    /// Why a reference to `target` cannot be followed, if it cannot.
    pub(super) fn blocked(&mut self, target: &'r Value) -> Option<Blocked> {
        self.count(target, &mut Vec::new(), &mut { MOST }).err()
    }

    /// How many schemas describe the value that `schema` does; `left` are those that may be looked at.
    fn count(&mut self, schema: &'r Value, open: &mut Vec<&'r Value>, left: &mut u32) -> Result<u32, Blocked> {
        let Value::Object(map) = schema else { return Ok(1) };
        if let Some(known) = self.clear.get(&std::ptr::from_ref(schema)) {
            return Ok(*known);
        }
        if open.iter().any(|known| std::ptr::eq(*known, schema)) {
            return Err(Blocked::LeadsBack);
        }
        *left = left.checked_sub(1).filter(|_| open.len() < DEEPEST).ok_or(Blocked::TooMany)?;
        open.push(schema);
        let count = self.count_parts(map, open, left);
        open.pop();
        if let Ok(count) = count {
            self.clear.insert(schema, count);
        }
        count
    }

    fn count_parts(
        &mut self,
        map: &'r Map<String, Value>,
        open: &mut Vec<&'r Value>,
        left: &mut u32,
    ) -> Result<u32, Blocked> {
        let mut count = 1_u32;
        for part in effort::in_place(map, self.root) {
            count = count.saturating_add(self.count(part, open, left)?);
            if count > MOST {
                return Err(Blocked::TooMany);
            }
        }
        Ok(count)
    }
}
