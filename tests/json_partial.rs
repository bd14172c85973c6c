//! What is certain of JSON that is cut off: at every place, valid, and never taken back by what comes later.
use proptest::prelude::*;
use serde_json::Value;
use toolglot::json::{PartialOptions, RepairOptions, parse_partial, repair};

const KEEP: PartialOptions = PartialOptions { keep_strings: true, max_depth: 128 };
const DROP: PartialOptions = PartialOptions { keep_strings: false, max_depth: 128 };

fn read(text: &str, options: &PartialOptions) -> (Value, bool) {
    let partial = parse_partial(text, options).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let value = serde_json::from_str(&partial.json).unwrap_or_else(|e| panic!("{text:?} -> {:?}: {e}", partial.json));
    (value, partial.complete)
}

#[test]
fn what_is_certain_is_kept() {
    for (text, kept, dropped) in [
        ("", "null", "null"),
        ("  ", "null", "null"),
        ("{", "{}", "{}"),
        ("[", "[]", "[]"),
        ("\"ab", "\"ab\"", "null"),
        ("12", "null", "null"),
        ("tru", "null", "null"),
        ("{\"a", "{}", "{}"),
        ("{\"a\"", "{}", "{}"),
        ("{\"a\":", "{}", "{}"),
        ("{\"a\": 1", "{}", "{}"),
        ("{\"a\": 1 ", "{\"a\": 1}", "{\"a\": 1}"),
        ("{\"a\": 1,", "{\"a\": 1}", "{\"a\": 1}"),
        ("{\"a\": 1, \"b\": -", "{\"a\": 1}", "{\"a\": 1}"),
        ("{\"a\": tr", "{}", "{}"),
        ("{\"a\": true", "{\"a\": true}", "{\"a\": true}"),
        ("{\"a\": \"x", "{\"a\": \"x\"}", "{}"),
        ("{\"a\": \"x\"", "{\"a\": \"x\"}", "{\"a\": \"x\"}"),
        ("{\"a\": \"x\\", "{\"a\": \"x\"}", "{}"),
        ("{\"a\": \"x\\u00e", "{\"a\": \"x\"}", "{}"),
        ("{\"a\": \"x\\ud83d", "{\"a\": \"x\"}", "{}"),
        ("{\"a\": \"x\\ud83d\\ude0", "{\"a\": \"x\"}", "{}"),
        ("{\"a\": [1, {\"b\": [\"x\", \"y", "{\"a\": [1, {\"b\": [\"x\", \"y\"]}]}", "{\"a\": [1, {\"b\": [\"x\"]}]}"),
        ("{\"note: x", "{}", "{}"),
        ("{\"code\": \"x = [\\\"a\\\"]\\n}", "{\"code\": \"x = [\\\"a\\\"]\\n}\"}", "{}"),
        ("{'a': 'it's", "{\"a\": \"it's\"}", "{}"),
        ("{'a': True, 'b': Non", "{\"a\": true}", "{\"a\": true}"),
    ] {
        assert_eq!(parse_partial(text, &KEEP).map(|p| p.json.into_owned()).as_deref(), Ok(kept), "{text}");
        assert_eq!(parse_partial(text, &DROP).map(|p| p.json.into_owned()).as_deref(), Ok(dropped), "{text}");
        assert!(!parse_partial(text, &KEEP).unwrap().complete, "{text}");
    }
    for text in ["{}", " [1] ", "\"a\"", "{\"a\": 1}"] {
        assert!(parse_partial(text, &KEEP).unwrap().complete);
    }
    assert!(parse_partial("hello", &KEEP).is_err());
    assert!(parse_partial(&"[".repeat(200), &KEEP).is_err());
}

/// Whether `part` is what a cut of `full` may be read as; with `strings`, a cut string counts.
fn is_certain(part: &Value, full: &Value, last: bool, strings: bool) -> bool {
    match (part, full) {
        (Value::Object(part), Value::Object(full)) => {
            (last || part.len() == full.len())
                && part.iter().zip(full).enumerate().all(|(i, ((pk, pv), (fk, fv)))| {
                    pk == fk && is_certain(pv, fv, last && i + 1 == part.len(), strings)
                })
        }
        (Value::Array(part), Value::Array(full)) => {
            (last && part.len() <= full.len() || part.len() == full.len())
                && part
                    .iter()
                    .zip(full)
                    .enumerate()
                    .all(|(i, (p, f))| is_certain(p, f, last && i + 1 == part.len(), strings))
        }
        (Value::String(part), Value::String(full)) => {
            part == full || (last && strings && full.starts_with(part.as_str()))
        }
        (part, full) => part == full,
    }
}

fn check_every_prefix(text: &str) -> Result<(), TestCaseError> {
    let full: Value = serde_json::from_str(text).unwrap();
    for cut in (0..=text.len()).filter(|&cut| text.is_char_boundary(cut)) {
        let prefix = &text[..cut];
        for (options, strings) in [(KEEP, true), (DROP, false)] {
            let (value, complete) = read(prefix, &options);
            let certain = value.is_null() || is_certain(&value, &full, true, strings);
            prop_assert!(certain, "{:?} -> {:?}", prefix, value);
            prop_assert_eq!(
                complete && !full.is_number(),
                serde_json::from_str::<Value>(prefix).is_ok() && !full.is_number()
            );
        }
    }
    Ok(())
}

/// Of text that is no JSON, what was shown stays, whatever it turns out to be.
#[test]
fn what_is_shown_of_broken_text_only_grows() {
    for text in [
        r#"{"a": "x", b: "y"}"#,
        r#"{'a': 'x', b: ['y']}"#,
        r#"{"a": "it's x, b: y", c: "z"}"#,
        r#"{1: "a", 2: "b"}"#,
        r#"{a: hello world, b: x}"#,
        r#"{location: Palo Alto, CA, days: 3}"#,
        r#"{url: http://x.y/z?a=1, b: 2}"#,
        r#"{a: 5 km, b: 1}"#,
        r#"{"a": "x" + "y"}"#,
        r#"{'a': "x" + 'y' + "z", 'b': 1}"#,
        r#"{"a": ("x" "y")}"#,
        r#"{'a': (1, 2), 'b': (1), 'c': (1,)}"#,
        r#"{'a': ObjectId("5f"), 'b': new Date("2024-01-01"), 'c': frozenset({1, 2})}"#,
        r#"{'a': {'x', 'y'}, 'b': {(1, 2), (3, 4)}}"#,
        r#"{'a': 'He said 'hi' to me', 'b': 1}"#,
        r#"{'a': 'the dogs' bowl', 'b': 'it's'}"#,
        r#"{"code": "print("hello")"}"#,
        r#"{"code": "d = {"a": 1, "b": "c"}", "n": 1}"#,
        r#"{'a': '\x41\U0001F600', 'b': """say "hi" """}"#,
        r#"["a" "b" "c"]"#,
    ] {
        let mut shown = Value::Null;
        for cut in (1..=text.len()).filter(|&cut| text.is_char_boundary(cut)) {
            let prefix = &text[..cut];
            let Ok(partial) = parse_partial(prefix, &KEEP) else { continue };
            let value: Value = serde_json::from_str(&partial.json).unwrap();
            assert!(shown.is_null() || is_certain(&shown, &value, true, true), "{prefix}: {shown} -> {value}");
            shown = value;
        }
        let whole = repair(text, &RepairOptions::default()).unwrap();
        assert_eq!(shown, serde_json::from_str::<Value>(&whole.json).unwrap(), "{text}");
    }
}

#[test]
fn every_prefix_of_a_document_is_certain() {
    let text = "{\"path\": \"src/a.py\", \"edits\": [{\"line\": 12, \"text\": \"print(\\\"hi, {x}\\\")\\n\\ud83d\\ude00\"}, \
                {\"line\": -1.5e3, \"text\": \"\"}], \"dry\": false, \"note: x\": null, \"a, \\\"b\\\": c\": [[], {}]} ";
    check_every_prefix(text).unwrap();
}

/// Arbitrary JSON values without duplicate keys.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        any::<f64>().prop_map(|x| serde_json::json!(x)),
        ".{0,20}".prop_map(Value::String),
        "[a-z\\\\\"'\n\t ,:{}\\[\\]]{0,40}".prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec(("[a-z\\\\\"', :{}]{0,10}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn every_prefix_is_certain(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        check_every_prefix(&text)?;
    }

    #[test]
    fn any_text_is_valid_json_or_an_error(text in "[\\[\\]{}:,\"'\\\\a-c0-2. \n(]{0,30}") {
        for options in [KEEP, DROP] {
            if let Ok(partial) = parse_partial(&text, &options) {
                prop_assert!(serde_json::from_str::<Value>(&partial.json).is_ok(), "{:?} -> {:?}", text, partial.json);
            }
        }
    }
}
