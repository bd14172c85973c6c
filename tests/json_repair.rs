//! Repair: a published table, and properties that hold for every text.
use proptest::prelude::*;
use serde_json::Value;
use std::borrow::Cow;
use toolglot::json::{Ending, LiteralOptions, RepairOptions, Repaired, literal, repair};

fn fix(text: &str) -> Repaired<'_> {
    repair(text, &RepairOptions::default()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn codes(repaired: &Repaired<'_>) -> Vec<&'static str> {
    let mut codes: Vec<_> = repaired.repairs.iter().map(|repair| repair.code.as_str()).collect();
    codes.dedup();
    codes
}

#[test]
fn the_table_holds() {
    let table = include_str!("data/json/repair.jsonl");
    let mut wrong = Vec::new();
    for line in table.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = row["text"].as_str().unwrap();
        let repaired = fix(text);
        let json: Value =
            serde_json::from_str(&repaired.json).unwrap_or_else(|_| panic!("{text:?}: {}", repaired.json));
        let found = serde_json::json!({
            "family": row["family"], "text": text, "json": json, "codes": codes(&repaired),
            "ending": format!("{:?}", repaired.ending).to_lowercase(),
        });
        if found != row {
            wrong.push(format!("expected {row}\n   found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(table.lines().count() >= 150);
}

#[test]
fn without_json_there_is_an_error() {
    for text in ["", "  ", "hello", "no { braces", "it's", "-", "1 2", "a: b", "\"open", "NaN apples", "}", "]["] {
        assert!(repair(text, &RepairOptions::default()).is_err(), "{text:?}");
    }
}

#[test]
fn depth_is_bounded() {
    for open in ["[", "{\"a\":", "(", "{'a': [", "{{", "set(", "{("] {
        let deep = format!("[{}", open.repeat(100_000));
        assert!(repair(&deep, &RepairOptions::default()).is_err(), "{open}");
        assert_eq!(literal(&deep, 0, &LiteralOptions::default()), None, "{open}");
    }
    let options = RepairOptions { max_depth: 3, ..RepairOptions::default() };
    assert!(repair("[[[1,]]]", &options).is_ok());
    assert!(repair("[[[[1,]]]]", &options).is_err());
}

#[test]
fn without_search_the_value_stands_at_the_start() {
    let options = RepairOptions { search: false, join_values: false, ..RepairOptions::default() };
    assert!(repair("so: {'a': 1}", &options).is_err());
    let text = "{'a': 1} {'b': 2}";
    let repaired = repair(text, &options).unwrap();
    assert_eq!((&*repaired.json, repaired.consumed, repaired.ending), ("{\"a\": 1}", 8, Ending::Closed));
    assert_eq!(codes(&repaired), ["quotes"]);
}

#[test]
fn valid_parts_stay_byte_for_byte() {
    let text = "{\"n\": 1.50e+3,\"big\":123456789012345678901234567890 , \"e\" : \"\\u00e5\\/\\t\", 'x': 1,}";
    assert_eq!(
        fix(text).json,
        "{\"n\": 1.50e+3,\"big\":123456789012345678901234567890 , \"e\" : \"\\u00e5\\/\\t\", \"x\": 1}"
    );
}

#[test]
fn repairs_name_their_places() {
    let text = "{\"a\": 'x', \"b\": True,}";
    let places: Vec<_> = fix(text).repairs.iter().map(|r| (r.code.as_str(), r.offset.unwrap())).collect();
    assert_eq!(places, [("quotes", 6), ("literal", 16), ("comma", 20)]);
}

#[test]
fn literals_of_a_call() {
    let stops = LiteralOptions::default();
    let source = LiteralOptions { source_text: true, ..stops };
    for (text, expected, rest) in [
        ("'It's always fresh, and good.', language='en')", "\"It's always fresh, and good.\"", ", language='en')"),
        ("\"x\")", "\"x\"", ")"),
        ("'say (it's)', b=1)", "\"say (it's)\"", ", b=1)"),
        ("[1, 'a', None])", "[1, \"a\", null]", ")"),
        ("{'a': [1, 2, 'b': 3})", "{\"a\": [1, 2], \"b\": 3}", ")"),
        ("[1, 2)", "[1, 2]", ")"),
        ("{'a': 'x')", "{\"a\": \"x\"}", ")"),
        ("(1, 2), b=3", "[1, 2]", ", b=3"),
        ("{'a': 1}, b=3)", "{\"a\": 1}", ", b=3)"),
        ("True, x", "true", ", x"),
        ("-1.5)", "-1.5", ")"),
        ("r'\\d+')", "\"\\\\d+\"", ")"),
        ("'a' 'b')", "\"ab\"", ")"),
        ("'a' + \"b\")", "\"ab\"", ")"),
        ("'''it's\n\"''')", "\"it's\\n\\\"\"", ")"),
        ("'a', 'b', 'c')", "\"a\"", ", 'b', 'c')"),
        ("\"a\nb\"]", "\"a\\nb\"", "]"),
        ("5]", "5", "]"),
        ("['New York, NY', 'it's'])", "[\"New York, NY\", \"it's\"]", ")"),
    ] {
        let read = literal(text, 0, &stops).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((&*read.json, &text[read.end..]), (expected, rest), "{text}");
        assert_eq!(literal(text, 0, &source).map(|read| read.end), Some(read.end), "{text}");
        let shifted = format!("f(x= {text}");
        assert_eq!(literal(&shifted, 4, &stops).map(|read| read.json.into_owned()).as_deref(), Some(expected));
    }
    for (text, expected, rest) in [
        ("data['sales'], y=1)", "\"data['sales']\"", ", y=1)"),
        ("<id>)", "\"<id>\"", ")"),
        ("Palo Alto, CA, days=3)", "\"Palo Alto, CA\"", ", days=3)"),
        ("5*3)", "\"5*3\"", ")"),
        ("f(a, b=2), c=3)", "\"f(a, b=2)\"", ", c=3)"),
        ("?, b=1", "\"?\"", ", b=1"),
    ] {
        assert_eq!(literal(text, 0, &stops), None, "{text}");
        let read = literal(text, 0, &source).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((&*read.json, &text[read.end..]), (expected, rest), "{text}");
        assert_eq!(read.repairs[0].code.as_str(), "source_text");
    }
    for text in ["", ")", ", y=1", "  "] {
        assert_eq!(literal(text, 0, &source), None, "{text:?}");
    }
    assert!(matches!(literal("[1, 2]", 0, &stops).unwrap().json, Cow::Borrowed(_)));
}

/// What stands before and behind a key instead of its quotes.
const KEY_SLIPS: &[(&str, &str)] = &[
    ("", ""),
    ("\"", ""),
    ("", "\""),
    ("\"\"", "\""),
    ("\"", "\"\""),
    ("\"", "\\\""),
    ("\\\"", "\""),
    ("\"", "”"),
    ("“", "\""),
    ("'", "\""),
    ("\\n\"", "\""),
];

/// Arbitrary JSON values.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(|x| serde_json::json!(x)),
        ".{0,40}".prop_map(Value::String),
        "[a-z\\\\\"'\n\t ,:{}\\[\\]]{0,80}".prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((".{0,10}", inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Text made of the pieces that broken JSON is made of.
fn pieces() -> impl Strategy<Value = String> {
    let tokens = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        "=",
        "=>",
        "\"",
        "'",
        "`",
        "“",
        "”",
        "‘",
        "’",
        "\"a\"",
        "'b'",
        "\"c\":",
        "d:",
        "e",
        "f(",
        "1",
        "07",
        "-",
        "+",
        ".",
        "0x1",
        "True",
        "None",
        "nul",
        "undefined",
        " ",
        "\n",
        "\t",
        "\\",
        "\\\"",
        "\\u",
        "\\ud83d",
        "\\d",
        "//",
        "/*",
        "*/",
        "#",
        "...",
        "…",
        "```",
        "\"\"\"",
        "'''",
        "r'",
        "b\"",
        "{{",
        "}}",
        ", \"k\": ",
        "，",
        "：",
        "\u{a0}",
        "\u{1}",
        "é",
        "🦀",
        "set(",
        "ObjectId(",
        "new ",
        ";",
        "+ \"",
        "x y",
        "C:\\d\\\"",
        "`js`",
        "<id>",
        "data['x']",
        "［",
        "］",
        "｛",
        "｝",
        "&quot;",
        "\\n",
    ]);
    prop::collection::vec(tokens, 0..24).prop_map(|tokens| tokens.concat())
}

/// What every answer must be: valid JSON, in bounds, recorded.
fn check(text: &str) -> Result<(), TestCaseError> {
    for join_values in [true, false] {
        for search in [true, false] {
            let options = RepairOptions { join_values, search, ..RepairOptions::default() };
            let Ok(repaired) = repair(text, &options) else { continue };
            let parsed: Result<Value, _> = serde_json::from_str(&repaired.json);
            prop_assert!(parsed.is_ok(), "{:?} -> {:?}: {:?}", text, repaired.json, parsed);
            prop_assert!(repaired.consumed <= text.len() && text.is_char_boundary(repaired.consumed));
            prop_assert!(
                repaired
                    .repairs
                    .iter()
                    .all(|r| r.offset.is_none_or(|at| at <= text.len() && text.is_char_boundary(at)))
            );
            let valid = serde_json::from_str::<Value>(text).is_ok();
            prop_assert!(!valid || repaired.repairs.is_empty());
        }
    }
    for source_text in [true, false] {
        let options = LiteralOptions { source_text, ..LiteralOptions::default() };
        if let Some(read) = literal(text, 0, &options) {
            prop_assert!(serde_json::from_str::<Value>(&read.json).is_ok(), "literal {:?} -> {:?}", text, read.json);
            prop_assert!(read.end <= text.len() && text.is_char_boundary(read.end));
        }
    }
    Ok(())
}

/// The value as Python's `repr` writes it; with `single`, in single quotes even where `repr` takes double ones.
fn python(value: &Value, single: bool) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => {
            let quote = if !single && text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            let mut out = String::from(quote);
            for c in text.chars() {
                match c {
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    c if c == quote => out.extend(['\\', c]),
                    c if (c as u32) < 0x20 => out.push_str(&format!("\\x{:02x}", c as u32)),
                    c => out.push(c),
                }
            }
            out.push(quote);
            out
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| python(item, single)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(k, v)| format!("{}: {}", python(&Value::String(k.clone()), single), python(v, single)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

proptest! {
    #[test]
    fn valid_json_is_untouched(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let repaired = fix(&text);
        prop_assert!(matches!(repaired.json, Cow::Borrowed(json) if json == text));
        prop_assert!(repaired.repairs.is_empty() && repaired.complete());
        let read = literal(&text, 0, &LiteralOptions::default()).unwrap();
        prop_assert_eq!((&*read.json, read.end), (&*text, text.len()));
    }

    #[test]
    fn valid_json_among_prose_is_untouched(value in value()) {
        let inner = serde_json::to_string(&value).unwrap();
        let inner = if inner.starts_with('{') && inner.len() > 2 { inner } else { format!("{{\"v\":{inner}}}") };
        for text in [format!("Here: {inner}"), format!("{inner} and so on"), format!("```json\n{inner}\n```")] {
            prop_assert_eq!(&*fix(&text).json, &*inner, "{}", text);
        }
        let text = format!("{{\"x\": {inner}, 'y': 1}}");
        prop_assert_eq!(&*fix(&text).json, format!("{{\"x\": {inner}, \"y\": 1}}"));
    }

    #[test]
    fn python_is_read_as_python_means_it(value in value()) {
        let text = python(&value, true);
        let options = RepairOptions::default();
        if let Ok(repaired) = repair(&text, &options) {
            prop_assert_eq!(serde_json::from_str::<Value>(&repaired.json).unwrap(), value.clone(), "{}", text);
        }
        let text = format!("f(x={}, y=1)", python(&value, false));
        let read = literal(&text, 4, &LiteralOptions::default()).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&read.json).unwrap(), value, "{}", text);
        prop_assert_eq!(&text[read.end..], ", y=1)");
    }

    /// One key of an object has lost, doubled or changed its quotes: the members round it stay what they are.
    #[test]
    fn a_slip_in_a_key_tears_nothing(
        members in prop::collection::vec((prop_oneof!["[a-z ,.!?0-9]{0,20}", "[a-z]{1,8}, [a-z]{1,8}: [a-z' ]{0,9}"], any::<bool>()), 2..5),
        at in any::<prop::sample::Index>(),
        slip in prop::sample::select(KEY_SLIPS.to_vec()),
    ) {
        let at = at.index(members.len());
        let mut text = String::new();
        let mut expected = serde_json::Map::new();
        for (i, (value, list)) in members.iter().enumerate() {
            let (open, close) = if i == at { slip } else { ("\"", "\"") };
            let value = if *list { serde_json::json!([value]) } else { value.clone().into() };
            text.push_str(&format!("{}{open}key{i}{close}: {value}", if i > 0 { ", " } else { "" }));
            expected.insert(format!("key{i}"), value);
        }
        let text = format!("{{{text}}}");
        let read: Value = serde_json::from_str(&fix(&text).json).unwrap();
        prop_assert_eq!(read, Value::Object(expected), "{}", text);
    }

    #[test]
    fn pieces_become_valid_json(text in pieces()) {
        check(&text)?;
    }

    #[test]
    fn any_text_becomes_valid_json_or_an_error(text in "\\PC*") {
        check(&text)?;
    }

    #[test]
    fn mutated_json_becomes_valid_json(value in value(), at in any::<prop::sample::Index>(), change in 0..4, by in any::<char>()) {
        let mut chars: Vec<char> = serde_json::to_string(&value).unwrap().chars().collect();
        let at = at.index(chars.len());
        match change {
            0 => { chars.remove(at); }
            1 => chars.insert(at, by),
            2 => chars[at] = ['"', '\\', ',', ':', '{', '}', '[', ']', '0', '\n'][by as usize % 10],
            _ => chars.truncate(at),
        }
        check(&chars.into_iter().collect::<String>())?;
    }
}
