//! What is proven without a value, against the full validator: on schemas and texts made at random.
use super::Written;
use crate::json::{ScanResult, Scanner, unescaped};
use crate::schema::judge::Judge;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Schemas that the proof knows all about: there it must prove whatever is valid.
const KNOWN: &[&str] = &[
    r#"{"type": "string"}"#,
    r#"{"type": "integer"}"#,
    r#"{"type": "number"}"#,
    r#"{"type": "boolean"}"#,
    r#"{"type": ["string", "null"]}"#,
    r#"{"type": "integer", "minimum": -5, "maximum": 7}"#,
    r#"{"type": "number", "minimum": 0.5}"#,
    r#"{"type": "string", "enum": ["a", "abc"]}"#,
    r#"{"const": "a"}"#,
    r#"{"enum": ["a", null]}"#,
    r#"{"type": "array", "maxItems": 2}"#,
    r##"{"$ref": "#/$defs/node"}"##,
    "{}",
    "true",
];

/// Schemas of which it may leave much to the validator.
const DOUBTFUL: &[&str] = &[
    r#"{"type": "string", "minLength": 2}"#,
    r#"{"type": "string", "maxLength": 2}"#,
    r#"{"type": "string", "minLength": 2.0, "maxLength": 2.0}"#,
    r#"{"enum": ["a", "abc"], "maxLength": 2}"#,
    r#"{"enum": ["a", "abc"], "minLength": 2}"#,
    r#"{"const": "abc", "enum": ["a", "abc"]}"#,
    r#"{"const": "b", "enum": ["a", "abc"]}"#,
    r#"{"enum": ["é", 1, true, {"a": 1}]}"#,
    r#"{"type": "string", "pattern": "^a"}"#,
    r#"{"type": "integer", "multipleOf": 3}"#,
    r#"{"type": "number", "exclusiveMinimum": 0}"#,
    r#"{"minimum": 0, "maximum": 7.5}"#,
    r#"{"minimum": 1e400}"#,
    r#"{"maximum": -1e400}"#,
    r#"{"minimum": 1e-400, "maximum": 6e1}"#,
    r#"{"minimum": 0.30000000000000001}"#,
    r#"{"maximum": 99999999999999999999}"#,
    r#"{"type": "array", "minItems": 1.0, "maxItems": 2.0}"#,
    r#"{"type": "array", "uniqueItems": true}"#,
    r#"{"type": "array", "prefixItems": [{"type": "integer"}], "items": {"type": "string"}}"#,
    r#"{"type": "object", "minProperties": 1, "maxProperties": 2}"#,
    r#"{"type": "object", "required": ["a"]}"#,
    r#"{"propertyNames": {"maxLength": 1}}"#,
    r#"{"not": {"type": "string"}}"#,
    r##"{"$ref": "#/$defs/word", "maxLength": 1}"##,
    r##"{"$ref": "#/$defs/node", "anyOf": [{"required": ["a"]}, {"maxProperties": 0}]}"##,
    r##"{"$ref": "#/nowhere", "anyOf": [{"type": "string"}]}"##,
    r#"{"oneOf": [{"type": "integer"}, {"type": "number"}]}"#,
    r#"{"if": {"type": "string"}, "then": {"maxLength": 1}}"#,
    r#"{"type": "string", "nullable": true}"#,
    r#"{"dependentRequired": {"a": ["b"]}}"#,
    "false",
];

fn leaves(texts: Vec<&'static str>) -> BoxedStrategy<Value> {
    prop::sample::select(texts).prop_map(|text| serde_json::from_str(text).expect("a schema")).boxed()
}

fn objects(parts: impl Strategy<Value = Value>, rest: Vec<Value>) -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["a", "b", "key", "é"]);
    let properties = prop::collection::vec((name, parts, any::<bool>()), 0..4);
    (properties, prop::sample::select(rest)).prop_map(|(properties, rest)| {
        let mut schema = json!({"type": "object", "properties": {}, "required": []});
        for (name, part, required) in properties {
            schema["properties"][name] = part;
            if required {
                schema["required"].as_array_mut().expect("a list").push(name.into());
            }
        }
        if !rest.is_null() {
            schema["additionalProperties"] = rest;
        }
        schema
    })
}

fn schemas(known: bool) -> impl Strategy<Value = Value> {
    let mut texts = KNOWN.to_vec();
    let mut rest = vec![Value::Null, json!(false), json!(true), json!({"type": "integer"})];
    if !known {
        texts.extend(DOUBTFUL);
        rest.push(json!({"type": "string", "maxLength": 1}));
    }
    let inner = rest.clone();
    let part = leaves(texts).prop_recursive(3, 12, 3, move |part| {
        let composed = prop::collection::vec(part.clone(), 1..3);
        let any = composed.clone().prop_map(|parts| json!({"anyOf": parts}));
        prop_oneof![
            objects(part.clone(), inner.clone()),
            part.prop_map(|part| json!({"type": "array", "items": part})),
            any,
            composed.prop_map(|parts| json!({"allOf": parts})),
        ]
    });
    objects(part, rest).prop_map(|mut schema| {
        schema["$defs"] = json!({
            "node": {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}, "b": {"type": "integer"}},
                     "additionalProperties": false},
            "word": {"type": "string", "enum": ["a", "abc"]},
        });
        schema
    })
}

/// Chances, made of a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.below(sides) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const ANY: &[&str] = &[
    "1",
    "-0",
    "1.0",
    "1e2",
    "1E-2",
    "0.3",
    "-7",
    "123456789012345678",
    "null",
    "true",
    "false",
    r#""""#,
    r#""a""#,
    r#""\u0061""#,
    r#""é😀""#,
    r#""3""#,
    "{}",
    "[]",
    r#"[[[{"a":[]}]]]"#,
    r#"{"a":{"a":{"a":{}}}}"#,
    r#"{"b":1,"b":"x"}"#,
];
const STRINGS: &[&str] = &[r#""""#, r#""a""#, r#""abc""#, r#""é""#, r#""😀😀""#, r#""where } and ] , and : are""#];
const ODD_STRINGS: &[&str] = &[r#""\"""#, r#""\u00e9""#, r#""a\\""#, r#""\ud83d\ude00""#, r#""a\"}""#];
const INTEGERS: &[&str] = &["0", "3", "7", "-5", "12"];
const ODD_NUMBERS: &[&str] = &["-0", "1.0", "1e2", "0.30000000000000001", "9007199254740993", "1e400", "-1E-400"];
const FRACTIONS: &[&str] = &["0", "3", "0.5", "-7.25", "0.3", "100"];

/// JSON text that `schema` often allows; `odd` if it is written as no model should.
fn text(schema: &Value, root: &Value, dice: &mut Dice, odd: bool, depth: usize) -> String {
    let one_of = |key: &str| schema[key].as_array().filter(|parts| !parts.is_empty());
    if depth > 6 || dice.one_in(12) {
        return if odd { dice.pick(ANY) } else { dice.pick(&["1", "null", r#""a""#, "{}", "[]", r#"{"b":2}"#]) }
            .to_owned();
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|r| root.pointer(r.trim_start_matches('#'))) {
        return text(target, root, dice, odd, depth + 1);
    }
    if let Some(literals) = one_of("enum") {
        return literals[dice.below(literals.len())].to_string();
    }
    if let Some(parts) = one_of("anyOf").or_else(|| one_of("allOf")).or_else(|| one_of("oneOf")) {
        return text(&parts[dice.below(parts.len())], root, dice, odd, depth + 1);
    }
    if let Some(literal) = schema.get("const") {
        return literal.to_string();
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec!["string", "integer", "number", "boolean", "null", "object", "array"],
    };
    match dice.pick(&types) {
        "string" if odd && dice.one_in(3) => dice.pick(ODD_STRINGS).to_owned(),
        "string" => dice.pick(STRINGS).to_owned(),
        "integer" | "number" if odd && dice.one_in(3) => dice.pick(ODD_NUMBERS).to_owned(),
        "integer" => dice.pick(INTEGERS).to_owned(),
        "number" => dice.pick(FRACTIONS).to_owned(),
        "boolean" => dice.pick(&["true", "false"]).to_owned(),
        "array" => {
            let items: Vec<_> =
                (0..dice.below(4)).map(|_| text(&schema["items"], root, dice, odd, depth + 1)).collect();
            format!("[{}]", items.join(dice.pick(&[",", ", ", " ,\n"])))
        }
        "object" => object(schema, root, dice, odd, depth),
        _ => "null".to_owned(),
    }
}

fn object(schema: &Value, root: &Value, dice: &mut Dice, odd: bool, depth: usize) -> String {
    let mut keys: Vec<String> = schema["properties"].as_object().into_iter().flat_map(|p| p.keys().cloned()).collect();
    keys.retain(|_| !dice.one_in(6));
    if dice.one_in(4) {
        keys.push(dice.pick(&["a", "b", "more", "é"]).to_owned());
    }
    if !odd {
        keys.dedup();
        let mut seen = Vec::new();
        keys.retain(|key| {
            !seen.contains(key) && {
                seen.push(key.clone());
                true
            }
        });
    } else if dice.one_in(4) && !keys.is_empty() {
        keys.push(keys[dice.below(keys.len())].clone());
        let to = dice.below(keys.len());
        let last = keys.len() - 1;
        keys.swap(to, last);
    }
    let members: Vec<String> = keys
        .iter()
        .map(|key| {
            let value = text(&schema["properties"][key], root, dice, odd, depth + 1);
            let key = if odd && dice.one_in(8) { key.replace('a', "\\u0061") } else { key.clone() };
            format!("\"{key}\"{}{value}", dice.pick(&[":", ": ", " :\t"]))
        })
        .collect();
    format!("{{{}}}", members.join(dice.pick(&[",", ", ", "\n,"])))
}

/// What each of the ways to a proof says: the text, its scanned members, its members by name.
fn proofs(judge: &Judge, schema: &Value, json: &str) -> [bool; 3] {
    let mut scanner = Scanner::new(0, 128);
    assert_eq!(scanner.scan(json.as_bytes(), true), ScanResult::Complete { end: json.len() }, "{json}");
    let members: Vec<(Cow<'_, str>, Cow<'_, str>)> = scanner
        .members()
        .iter()
        .map(|m| (unescaped(&json[m.key.clone()]), Cow::Borrowed(&json[m.value().expect("a whole value")])))
        .collect();
    let texts: Vec<Cow<'_, str>> = members
        .iter()
        .map(|(_, value)| unescaped(value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or_default()))
        .collect();
    let by_name = members.iter().zip(&texts).map(|((key, value), text)| {
        let written =
            if value.starts_with('"') { Written::Text(text.as_bytes()) } else { Written::Json(value.as_bytes()) };
        (key.as_bytes(), written)
    });
    let is_object = json.starts_with('{');
    [
        judge.proves(schema, json),
        is_object && judge.proves_scanned(schema, json, scanner.members()),
        is_object && judge.proves_members(schema, by_name),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_proven_is_valid(schema in schemas(false), seed: u64) {
        let judge = Judge::default();
        let mut dice = Dice(seed);
        for _ in 0..8 {
            let json = text(&schema, &schema, &mut dice, true, 0);
            let value: Value = serde_json::from_str(&json).expect("JSON");
            if !judge.is_valid(&schema, &value) {
                prop_assert_eq!(proofs(&judge, &schema, &json), [false; 3], "{} {}", schema, json);
            }
        }
    }

    #[test]
    fn what_is_valid_and_usual_is_proven(schema in schemas(true), seed: u64) {
        let judge = Judge::default();
        let mut dice = Dice(seed);
        for _ in 0..8 {
            let json = text(&schema, &schema, &mut dice, false, 0);
            let value: Value = serde_json::from_str(&json).expect("JSON");
            let valid = judge.is_valid(&schema, &value);
            let object = valid && json.starts_with('{');
            prop_assert_eq!(proofs(&judge, &schema, &json), [valid, object, object], "{} {}", schema, json);
        }
    }
}
