//! Values of the wrong type, changed to the right one: only where the schema demands it and the value allows it.
use super::patterns::Patterns;
use super::{Expected, pointer, text};
use crate::turn::{Repair, RepairCode};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Nesting of values and references that is followed.
const DEPTH: usize = 150;
/// Lists of one that are put round each other: the items of a recursive schema lead back to it for ever.
const WRAPS: usize = 4;

/// One run over the arguments of a call.
pub(super) struct Coercer<'s> {
    root: &'s Value,
    patterns: &'s Patterns,
    /// The arguments come from bare text, where a word `null` was written and means something.
    from_text: bool,
    /// The arguments as they were written.
    written: &'s str,
    /// Numbers among them were respelt: their digits are not what a string was meant to hold.
    respelt: bool,
    /// Something in the call had to be mended.
    mended: bool,
    pub(super) repairs: Vec<Repair>,
    place: String,
    /// The next value is an item of several, none of which is a list.
    flat: bool,
    /// The types that a schema expects, by its address: lists ask for the same ones at every item.
    known: HashMap<*const Value, Expected>,
}

impl<'s> Coercer<'s> {
    /// A run over arguments `written` as JSON, after the repairs `before`.
    pub(super) fn new(
        root: &'s Value,
        patterns: &'s Patterns,
        written: &'s str,
        from_text: bool,
        before: &[Repair],
    ) -> Self {
        let respelt = before.iter().any(|repair| repair.code == RepairCode::Number);
        let (repairs, place, known) = (Vec::new(), String::new(), HashMap::new());
        let mended = !before.is_empty();
        Self { root, patterns, from_text, written, respelt, mended, repairs, place, flat: false, known }
    }

    fn expected(&mut self, schema: &'s Value) -> Expected {
        *self.known.entry(std::ptr::from_ref(schema)).or_insert_with(|| Expected::of(schema, self.root))
    }

    /// Coerces the arguments object itself and what is in it.
    pub(super) fn root(&mut self, value: &mut Value) {
        let schema = self.root;
        // A tool without parameters may be called with null.
        let expected = Expected::of(schema, schema);
        if value.is_null() && (expected.is_any() || expected.allows(Expected::OBJECT)) {
            *value = Value::Object(Map::new());
            self.changed("null became an empty object");
        }
        if let Some(object) = decoded_object(value) {
            *value = object;
            self.repairs.push(Repair::of(RepairCode::DoubleEncoded, "", "JSON text became the object it spells"));
        }
        self.value(schema, value, 0);
    }

    /// A string stays as it is where `schema` takes strings: it lists no values that one could spell.
    pub(super) fn is_free(&self, schema: &'s Value) -> bool {
        let mut listed = Listed::default();
        self.literals(schema, &mut listed, 0);
        listed.literals.is_empty() || listed.open
    }

    fn changed(&mut self, what: &'static str) {
        self.repairs.push(Repair::of(RepairCode::Coerced, self.place.clone(), what));
    }

    /// Coerces `value` to what `schema` wants, as far as it can.
    pub(super) fn value(&mut self, schema: &'s Value, value: &mut Value, depth: usize) {
        let flat = std::mem::take(&mut self.flat);
        if depth > DEPTH {
            return;
        }
        let expected = self.expected(schema);
        if expected.is_any() {
            return self.inside(schema, value, depth);
        }
        let converted = if fits(expected, value) {
            self.listed(schema, value)
        } else {
            // Of a flat list where a list of lists is wanted, each item could be a list of one, and all of it the only one.
            self.converted(expected, value).or_else(|| if flat { None } else { self.wrapped(schema, value, WRAPS) })
        };
        if let Some((new, what)) = converted {
            *value = new;
            self.changed(what);
        }
        self.inside(schema, value, depth);
    }

    /// The value of a type that is expected which `value`, of another type, spells.
    fn converted(&self, expected: Expected, value: &Value) -> Option<(Value, &'static str)> {
        match value {
            Value::String(text) => from_string(text, expected),
            Value::Number(number) if expected.allows(Expected::STRING) && !self.respelt => {
                Some((self.digits(number), "a number became the string of its digits"))
            }
            // As the text `1` does: there is no other flag that it could mean. It may be an item of a list.
            Value::Number(number) if expected.allows(Expected::BOOLEAN) && !expected.allows(Expected::ARRAY) => {
                match number.as_str() {
                    "0" => Some((Value::Bool(false), "the number 0 became false")),
                    "1" => Some((Value::Bool(true), "the number 1 became true")),
                    _ => None,
                }
            }
            Value::Bool(flag) if expected.allows(Expected::STRING) => {
                Some((Value::String(flag.to_string()), "a boolean became a string"))
            }
            _ => None,
        }
    }

    /// What `value`, of a type that is expected, spells where values are listed: one of those in other case or as another
    /// type, or a value of the types that stand beside them (`5` where a number or `"auto"` may stand).
    fn listed(&self, schema: &'s Value, value: &Value) -> Option<(Value, &'static str)> {
        let mut listed = Listed::default();
        self.literals(schema, &mut listed, 0);
        if listed.literals.is_empty() || listed.open || listed.literals.contains(&value) || fits(listed.others, value) {
            return None;
        }
        let literal =
            self.literal(&listed.literals, value).map(|literal| (literal, "the spelling of an allowed value"));
        let other = match value {
            Value::String(text) if !listed.others.is_any() => from_string(text, listed.others),
            _ => None,
        };
        match (literal, other) {
            // It could be either.
            (Some((literal, _)), Some((other, _))) if literal != other => None,
            (literal, other) => literal.or(other),
        }
    }

    /// The number as it was written: parsed, `12e4567` is spelt in another way.
    fn digits(&self, number: &Number) -> Value {
        let spelt = number.to_string();
        let written = spelt.contains('e').then(|| pointer::text(self.written, &self.place)).flatten();
        Value::String(written.filter(|text| text.parse::<Number>().is_ok()).map_or(spelt, str::to_owned))
    }

    /// A list of one, where the items of the list are what `value` is or can become.
    fn wrapped(&mut self, schema: &'s Value, value: &Value, wraps: usize) -> Option<(Value, &'static str)> {
        if wraps == 0 || value.is_null() || !self.expected(schema).allows(Expected::ARRAY) {
            return None;
        }
        let items = self.part(schema, "items")?;
        let wanted = self.expected(items);
        if wanted.is_any() {
            return None;
        }
        let item = match value {
            // A text is an item only where its looks say nothing else.
            Value::String(text) if wanted.allows(Expected::STRING) => {
                if !self.is_item(items, text) {
                    return None;
                }
                value.clone()
            }
            Value::String(text) if begins_a_list(text) => return None,
            _ if fits(wanted, value) => value.clone(),
            _ => match self.converted(wanted, value) {
                Some((item, _)) => item,
                None => self.wrapped(items, value, wraps - 1)?.0,
            },
        };
        Some((Value::Array(vec![item]), "a single value became a list of one"))
    }

    /// Whether a text is an item where a list of texts is wanted: nothing, a list or an object is what else it may be.
    fn is_item(&self, items: &'s Value, text: &str) -> bool {
        let mut listed = Listed::default();
        self.literals(items, &mut listed, 0);
        let bare = text.trim();
        let other = || {
            bare.is_empty()
                || text::is_null(bare)
                || begins_a_list(bare)
                || begins_an_object(bare)
                || holds_several(bare)
        };
        listed.literals.iter().any(|literal| literal.as_str() == Some(text)) || !other()
    }

    /// The one of the `literals` that `value`, which is none, spells in other case or as another type.
    fn literal(&self, literals: &[&'s Value], value: &Value) -> Option<Value> {
        let text = match value {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            _ => return None,
        };
        // Of a letter or two, the case says something: `mW` and `MW`, `m` and `M`. Capitals alone (`C`) say nothing by it.
        let telling = |word: &str| word.len() <= 2 && word.contains(char::is_lowercase);
        let spelt = |literal: &Value| match literal {
            Value::String(word) if telling(word) => word.trim() == text,
            Value::String(word) => word.trim().to_lowercase() == text.to_lowercase(),
            Value::Number(number) => number.to_string() == text,
            Value::Bool(flag) => flag.to_string().eq_ignore_ascii_case(&text),
            Value::Null => text::is_null(&text),
            _ => false,
        };
        let mut fitting = literals.iter().filter(|literal| spelt(literal));
        match (fitting.next(), fitting.next()) {
            (Some(one), None) => Some((**one).clone()),
            // Two that differ only in case: either could be meant.
            (Some(_), Some(_)) => None,
            // Bare text that spells a number, where the numbers listed are others: it stays text.
            _ => (self.from_text && !value.is_string() && literals.iter().any(|l| l.is_string())).then(|| text.into()),
        }
    }

    /// Adds the values that `schema` lists, its references followed, and the types that its unions allow beside them.
    fn literals(&self, schema: &'s Value, listed: &mut Listed<'s>, depth: usize) {
        let before = listed.literals.len();
        match schema.as_object().filter(|_| depth < 16) {
            Some(map) => {
                if let Some(literal) = map.get("const") {
                    return listed.literals.push(literal);
                }
                if let Some(Value::Array(literals)) = map.get("enum") {
                    return listed.literals.extend(literals);
                }
                let target = map.get("$ref").and_then(Value::as_str).and_then(|r| pointer::resolve(self.root, r));
                if let Some(target) = target {
                    return self.literals(target, listed, depth + 1);
                }
                if let Some(Value::Array(branches)) = map.get("allOf") {
                    // Each of them narrows: the first one that lists values says which.
                    for branch in branches {
                        let mut narrowed = Listed::default();
                        self.literals(branch, &mut narrowed, depth + 1);
                        if !narrowed.literals.is_empty() {
                            listed.literals.append(&mut narrowed.literals);
                            listed.open |= narrowed.open;
                            listed.others = listed.others.with(narrowed.others);
                            return;
                        }
                    }
                } else if let Some(Value::Array(branches)) = map.get("anyOf").or_else(|| map.get("oneOf")) {
                    return branches.iter().for_each(|branch| self.literals(branch, listed, depth + 1));
                }
            }
            None if schema == &Value::Bool(false) => return,
            None => {}
        }
        if listed.literals.len() == before {
            let expected = Expected::of(schema, self.root);
            listed.open |= expected.is_any();
            listed.others = listed.others.with(expected);
        }
    }

    /// Coerces the members of an object and the items of a list.
    fn inside(&mut self, schema: &'s Value, value: &mut Value, depth: usize) {
        let mut schema = schema;
        if let Value::Object(members) = value {
            schema = self.branch(schema, members).unwrap_or(schema);
            self.drop_nulls(schema, members);
        }
        if let Value::Array(items) = value
            && self.is_only_list(schema, items)
        {
            *value = Value::Array(vec![value.take()]);
            self.changed("a list became the only one of a list");
        }
        self.each(schema, value, &|run, part, value| run.value(part, value, depth + 1));
    }

    /// Gives whole numbers the spelling of integers, where no other number may stand. Nothing else changes.
    pub(super) fn whole_numbers(&mut self, schema: &'s Value, value: &mut Value, depth: usize) {
        if depth > DEPTH {
            return;
        }
        let mut schema = schema;
        match value {
            Value::Number(number) => {
                let expected = Expected::of(schema, self.root);
                let integer = expected.allows(Expected::INTEGER) && !expected.allows(Expected::FRACTION);
                if let Some(plain) = integer.then(|| text::plain_integer(number.as_str())).flatten() {
                    *number = plain;
                    self.changed("a whole number became the integer that it is");
                }
            }
            Value::Object(members) => schema = self.branch(schema, members).unwrap_or(schema),
            _ => {}
        }
        self.each(schema, value, &|run, part, value| run.whole_numbers(part, value, depth + 1));
    }

    /// Does `then` with each member of an object and each item of a list, and the schema of that.
    fn each(&mut self, schema: &'s Value, value: &mut Value, then: &dyn Fn(&mut Self, &'s Value, &mut Value)) {
        let length = self.place.len();
        match value {
            Value::Object(members) => {
                for (key, member) in members.iter_mut() {
                    if let Some(part) = self.property(schema, key) {
                        pointer::push(&mut self.place, key);
                        then(self, part, member);
                        self.place.truncate(length);
                    }
                }
            }
            Value::Array(items) => {
                let (first, each) = self.items(schema);
                let flat = items.len() > 1 && first.is_empty() && !items.iter().any(Value::is_array);
                let flat = flat && !self.parts(schema, each, items.len());
                for (i, item) in items.iter_mut().enumerate() {
                    if let Some(part) = first.get(i).or(each) {
                        pointer::push(&mut self.place, &i.to_string());
                        self.flat = flat;
                        then(self, part, item);
                        self.place.truncate(length);
                    }
                }
            }
            _ => {}
        }
    }

    /// The `items`, none of which is one that `schema` wants, cannot be lists of one each by the limits of the lists that it wants, or of
    /// their number, but together they can be the only list.
    fn is_only_list(&mut self, schema: &'s Value, items: &[Value]) -> bool {
        let (first, Some(each)) = self.items(schema) else { return false };
        let wanted = self.expected(each);
        if items.len() < 2 || !first.is_empty() || !wanted.allows(Expected::ARRAY) {
            return false;
        }
        let limit = |schema, keyword| {
            let limit = self.part(schema, keyword).and_then(Value::as_u64);
            limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
        };
        let (least, most) = (limit(each, "minItems").unwrap_or(0), limit(each, "maxItems").unwrap_or(usize::MAX));
        let one = limit(schema, "minItems").is_none_or(|least| least <= 1);
        let parted = least <= 1 && limit(schema, "maxItems").is_none_or(|most| most >= items.len());
        let inner = self.items(each).1.map_or(Expected::ANY, |inner| self.expected(inner));
        let can_be = |expected, item| fits(expected, item) || self.converted(expected, item).is_some();
        let all = |expected: Expected| expected.is_any() || items.iter().all(|item| can_be(expected, item));
        one && !parted
            && (least..=most).contains(&items.len())
            && !items.iter().any(|item| can_be(wanted, item))
            && all(inner)
    }

    /// So many items cannot be those of one list that is the only item where lists are wanted, by the limits of `schema` or of its
    /// `items`, but each can be a list of one.
    fn parts(&self, schema: &'s Value, items: Option<&'s Value>, count: usize) -> bool {
        let limit = |schema, keyword| self.part(schema, keyword).and_then(Value::as_u64);
        let Some(items) = items else { return false };
        let most = limit(items, "maxItems");
        let short = most.is_some_and(|most| usize::try_from(most).is_ok_and(|most| most < count));
        let several = limit(schema, "minItems").is_some_and(|least| least > 1);
        (short || several) && limit(items, "minItems").is_none_or(|least| least <= 1)
    }

    /// Optional members that are null although their schema has no null: what strict modes make models send for "not
    /// given". Bare text does not: there the word was written.
    fn drop_nulls(&mut self, schema: &'s Value, members: &mut Map<String, Value>) {
        // The word for a parameter that may be a string is that string, unless it was written with its type or is there as a value
        // was missing.
        if self.from_text && (self.mended || !self.place.is_empty()) {
            return;
        }
        let nulls: Vec<String> = (members.iter())
            .filter(|(key, value)| value.is_null() && self.drops_null(schema, key))
            .map(|(key, _)| key.clone())
            .collect();
        for key in nulls {
            members.shift_remove(&key);
            let mut place = self.place.clone();
            pointer::push(&mut place, &key);
            self.repairs.push(Repair::of(
                RepairCode::NullDropped,
                place,
                "null for an optional parameter was left out",
            ));
        }
    }

    /// Whether a null under `key` means that the member was not given.
    pub(super) fn drops_null(&self, schema: &'s Value, key: &str) -> bool {
        let required = self.part(schema, "required").and_then(Value::as_array);
        if required.is_some_and(|required| required.iter().any(|name| name == key)) {
            return false;
        }
        // A key of a map is the model's own, and its null says something.
        let listed = self.find(schema, 0, &|s| s.get("properties").and_then(|p| p.get(key)));
        let Some(expected) = listed.map(|listed| Expected::of(listed, self.root)) else { return false };
        let may = !expected.is_any() && !expected.allows(Expected::NULL);
        may && (!self.from_text || expected.allows(Expected::STRING))
    }

    /// The schema of the member `key`.
    fn property(&self, schema: &'s Value, key: &str) -> Option<&'s Value> {
        let described = self.find(schema, 0, &|s| match self.described(s, key) {
            Described::As(schema) => Some(schema),
            Described::Twice | Described::Not => None,
        });
        described.or_else(|| {
            self.find(schema, 0, &|s| match self.described(s, key) {
                Described::Not => s.get("additionalProperties").filter(|v| v.is_object()),
                Described::As(_) | Described::Twice => None,
            })
        })
    }

    /// What `schema` itself says of the member `key`, by its name or by a pattern.
    fn described(&self, schema: &'s Value, key: &str) -> Described<'s> {
        if let Some(listed) = schema.get("properties").and_then(|p| p.get(key)) {
            return Described::As(listed);
        }
        let Some(Value::Object(patterns)) = schema.get("patternProperties") else { return Described::Not };
        let mut schemas = patterns.iter().filter(|(pattern, _)| self.patterns.matches(pattern, key)).map(|(_, s)| s);
        match schemas.next() {
            None => Described::Not,
            Some(first) if schemas.all(|other| other == first) => Described::As(first),
            Some(_) => Described::Twice,
        }
    }

    /// The schemas of a list's first places, and that of all others.
    fn items(&self, schema: &'s Value) -> (&'s [Value], Option<&'s Value>) {
        let first = self.part(schema, "prefixItems").and_then(Value::as_array);
        (first.map_or(&[], Vec::as_slice), self.part(schema, "items"))
    }

    /// A keyword's value in `schema`, or in what it refers to.
    fn part(&self, schema: &'s Value, keyword: &str) -> Option<&'s Value> {
        self.find(schema, 0, &|s| s.get(keyword))
    }

    /// The first answer of `ask` in `schema`, its `$ref`, its `allOf`, and the branches of its unions.
    fn find(&self, schema: &'s Value, depth: usize, ask: &dyn Fn(&'s Value) -> Option<&'s Value>) -> Option<&'s Value> {
        if depth > 16 {
            return None;
        }
        if let Some(found) = ask(schema) {
            return Some(found);
        }
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|r| pointer::resolve(self.root, r));
        if let Some(found) = target.and_then(|t| self.find(t, depth + 1, ask)) {
            return Some(found);
        }
        ["allOf", "anyOf", "oneOf"].iter().find_map(|key| {
            let branches = schema.get(*key)?.as_array()?;
            let mut answers = branches.iter().filter_map(|b| self.find(b, depth + 1, ask));
            let first = answers.next()?;
            // Branches of a union that answer differently answer nothing.
            (*key == "allOf" || answers.all(|other| other == first)).then_some(first)
        })
    }

    /// What the branch that the `members` belong to, if there is one, expects of the member `key`.
    pub(super) fn expected_in_branch(&self, members: &Map<String, Value>, key: &str) -> Option<Expected> {
        let part = self.property(self.branch(self.root, members)?, key)?;
        Some(Expected::of(part, self.root))
    }

    /// The one branch of a union that an object belongs to: told by a constant, or by being the only one for objects.
    fn branch(&self, schema: &'s Value, members: &Map<String, Value>) -> Option<&'s Value> {
        let mut schema = schema;
        for _ in 0..16 {
            let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|r| pointer::resolve(self.root, r))
            else {
                break;
            };
            schema = target;
        }
        let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
        let belongs = |branch: &&'s Value| {
            let expected = Expected::of(branch, self.root);
            (expected.is_any() || expected.allows(Expected::OBJECT))
                && members.iter().all(|(key, value)| {
                    let Some(part) = self.property(branch, key) else { return true };
                    let mut listed = Listed::default();
                    self.literals(part, &mut listed, 0);
                    let free = listed.literals.is_empty() || listed.open || fits(listed.others, value);
                    free || listed.literals.contains(&value)
                })
        };
        let mut fitting = branches.iter().filter(belongs);
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    }
}

/// The values that a schema lists, and what may stand beside them.
#[derive(Default)]
struct Listed<'s> {
    literals: Vec<&'s Value>,
    /// The types of the branches that list none.
    others: Expected,
    /// One of those branches takes anything.
    open: bool,
}

/// What one schema says of a member.
enum Described<'s> {
    As(&'s Value),
    /// By several patterns, each in its own way: all of them must hold, and one alone says too little to change a value by.
    Twice,
    /// Neither by name nor by pattern, so it is one of the additional ones.
    Not,
}

fn fits(expected: Expected, value: &Value) -> bool {
    expected.allows(match value {
        Value::Null => Expected::NULL,
        Value::Bool(_) => Expected::BOOLEAN,
        Value::String(_) => Expected::STRING,
        Value::Array(_) => Expected::ARRAY,
        Value::Object(_) => Expected::OBJECT,
        Value::Number(number) => match text::Number::read(&number.to_string()) {
            Some(number) if !number.is_whole() => Expected::FRACTION,
            _ => Expected::INTEGER,
        },
    })
}

/// The text begins as JSON's lists do, or has nothing outside its brackets. It is none, or it would have been read: what is left
/// of one is not its only item.
fn begins_a_list(text: &str) -> bool {
    let text = text.trim();
    let Some(inside) = text.strip_prefix('[') else { return false };
    let begins = |c: char| matches!(c, '"' | '\'' | '[' | '{' | '-') || c.is_ascii_digit();
    inside.trim_start().starts_with(begins) || inside.find(']').is_none_or(|end| end + 1 == inside.len())
}

/// The text begins as JSON's objects do, or as those without quotes round their keys. A template (`{{name}}`, `{a,b}`) does not.
fn begins_an_object(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('{') else { return false };
    let inside = inside.trim_start();
    let keyed = || {
        let word = inside.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
        word.len() < inside.len() && word.trim_start().starts_with(':')
    };
    inside.is_empty() || inside.starts_with(['"', '\'', '}']) || keyed() || begins_an_object(inside)
}

/// The text is no single item, as far as its looks tell: it has several lines, is markup, or has quoted parts in a row.
fn holds_several(text: &str) -> bool {
    let text = text.trim();
    let markup = || {
        let named = text.strip_prefix('<').is_some_and(|tag| tag.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        named && text.ends_with('>') && (text.contains("</") || text.ends_with("/>"))
    };
    text.contains('\n') || markup() || quotes_several(text)
}

/// A quoted part begins the text, and behind it stands a comma, or another one.
fn quotes_several(text: &str) -> bool {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return false };
    let mut escaped = false;
    let closes = |c: char| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    };
    let Some((_, behind)) = text.get(1..).and_then(|inside| inside.split_once(closes)) else { return false };
    let next = behind.trim_start();
    // Twice at once, it is a quote in the part.
    next.starts_with([',', ';']) || next.len() < behind.len() && next.starts_with(quote)
}

/// The value that a string spells where no string may stand.
fn from_string(text: &str, expected: Expected) -> Option<(Value, &'static str)> {
    if text.trim().is_empty() {
        return None;
    }
    let json = text::read_mended(text, expected)?;
    let value: Value = serde_json::from_str(&json).ok()?;
    if !fits(expected, &value) {
        return None;
    }
    let slips = matches!(json, Cow::Owned(_));
    let what = match &value {
        Value::Null => "the text \"null\" became null",
        Value::Bool(_) => "text became the boolean it spells",
        Value::Number(_) => "text became the number it spells",
        Value::Array(_) if slips => "text that is nearly JSON became the list it spells",
        Value::Object(_) if slips => "text that is nearly JSON became the object it spells",
        Value::Array(_) => "JSON text became the list it spells",
        Value::Object(_) => "JSON text became the object it spells",
        Value::String(_) => return None,
    };
    Some((value, what))
}

/// Arguments that are JSON inside a string.
pub(super) fn decoded_object(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    let decoded: Value = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    decoded.is_object().then_some(decoded)
}
