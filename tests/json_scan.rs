//! The scanner against `serde_json`: the same verdict on every text, and the same at every cut.
use proptest::prelude::*;
use toolglot::json::{Kind, ScanError, ScanResult, Scanner};

const DEPTH: usize = 120;

fn scan(text: &str) -> ScanResult {
    Scanner::new(0, DEPTH).scan(text.as_bytes(), true)
}

/// The text is one valid JSON value with nothing but white space after it.
fn whole(text: &str) -> bool {
    matches!(scan(text), ScanResult::Complete { end } if text[end..].trim_matches([' ', '\t', '\r', '\n']).is_empty())
}

/// Feeds the text cut at `cuts` and checks that every step agrees with the last answer.
fn scan_cut(text: &str, cuts: &[usize]) -> (ScanResult, Vec<toolglot::json::Member>) {
    let mut scanner = Scanner::new(0, DEPTH);
    let mut last = 0;
    for &cut in cuts {
        let result = scanner.scan(&text.as_bytes()[..cut], false);
        assert!(scanner.position() >= last && scanner.position() <= cut.max(last));
        last = scanner.position();
        if !matches!(result, ScanResult::Incomplete) {
            assert_eq!(scanner.scan(text.as_bytes(), true), result, "a final answer stays");
            return (result, scanner.take_members());
        }
    }
    (scanner.scan(text.as_bytes(), true), scanner.take_members())
}

fn check_all_cuts(text: &str) {
    let mut scanner = Scanner::new(0, DEPTH);
    let expected = (scanner.scan(text.as_bytes(), true), scanner.take_members());
    let bytes: Vec<usize> = (0..=text.len()).collect();
    assert_eq!(scan_cut(text, &bytes), expected, "{text:?}");
    for cut in 0..=text.len() {
        assert_eq!(scan_cut(text, &[cut]), expected, "{text:?} cut at {cut}");
    }
}

#[test]
fn valid_values_end_where_they_end() {
    for (text, end) in [
        ("{}", 2),
        ("  [ ] x", 5),
        ("{\"a\":1}{", 7),
        ("\"a\\\"b\" c", 6),
        ("true,", 4),
        ("12 ", 2),
        ("-0.5e+10]", 8),
        ("0", 1),
        ("\"\\ud83d\\ude00\"", 14),
        ("[[[[1,2],{\"a\":{}}]]]", 20),
        ("\"\u{7f}\u{2028}ä🦀\"", 12),
    ] {
        assert_eq!(scan(text), ScanResult::Complete { end }, "{text:?}");
        check_all_cuts(text);
    }
}

#[test]
fn errors_are_seen_at_the_first_byte_that_shows_them() {
    use ScanError::*;
    for (text, at, kind) in [
        ("{a", 1, Unexpected),
        ("{\"a\" 1", 5, Unexpected),
        ("{\"a\":}", 5, Unexpected),
        ("{\"a\":1,}", 7, Unexpected),
        ("[1,]", 3, Unexpected),
        ("[1 2]", 3, Unexpected),
        ("[1}", 2, Unexpected),
        ("{\"a\":1]", 6, Unexpected),
        ("tru ", 3, Unexpected),
        ("True", 0, Unexpected),
        ("nul1", 3, Unexpected),
        ("01", 1, Number),
        ("[-]", 2, Number),
        ("[1.]", 3, Number),
        ("[1.e3]", 3, Number),
        ("[1e]", 3, Number),
        ("[+1]", 1, Unexpected),
        ("[.5]", 1, Unexpected),
        ("\"a\nb\"", 2, ControlCharacter),
        ("\"\\d\"", 1, Escape),
        ("\"\\u12g4\"", 1, Escape),
        ("\"\\ud83d\"", 1, LoneSurrogate),
        ("\"\\ud83d\\n\"", 1, LoneSurrogate),
        ("\"\\ud83d\\ud83d\"", 1, LoneSurrogate),
        ("\"\\ude00\"", 1, LoneSurrogate),
        ("'a'", 0, Unexpected),
    ] {
        assert_eq!(scan(text), ScanResult::Error { at, kind }, "{text:?}");
        check_all_cuts(text);
    }
}

#[test]
fn what_is_cut_off_is_incomplete_and_never_an_error() {
    let text = r#" {"a": [1.5e-3, true, false, null, "x\ud83d\ude00\n"], "b": {"c": {}}, "d": -0} "#;
    for cut in 0..text.len() - 1 {
        assert_eq!(scan(&text[..cut]), ScanResult::Incomplete, "{cut}");
    }
    check_all_cuts(text);
}

#[test]
fn members_are_noted_with_their_spans_and_kinds() {
    let text =
        r#"{"name": "f", "arguments": {"x": 1, "name": 2}, "n":1, "l": [{"a":1}], "b":true, "z":null, "name" :2 }"#;
    let mut scanner = Scanner::new(0, DEPTH);
    assert!(matches!(scanner.scan(text.as_bytes(), true), ScanResult::Complete { .. }));
    let members: Vec<_> =
        scanner.members().iter().map(|m| (&text[m.key.clone()], &text[m.value().unwrap()], m.kind)).collect();
    assert_eq!(
        members,
        [
            ("name", "\"f\"", Kind::String),
            ("arguments", "{\"x\": 1, \"name\": 2}", Kind::Object),
            ("n", "1", Kind::Number),
            ("l", "[{\"a\":1}]", Kind::Array),
            ("b", "true", Kind::Bool),
            ("z", "null", Kind::Null),
            ("name", "2", Kind::Number),
        ]
    );
    assert_eq!(scanner.duplicate_key(text), text.rfind("name\" :"));
}

#[test]
fn duplicate_keys_are_compared_unescaped() {
    for (text, found) in [
        (r#"{"a":1,"\u0061":2}"#, Some(8)),
        (r#"{"a":1,"b":{"a":1}}"#, None),
        (
            r#"{"k0":0,"k1":0,"k2":0,"k3":0,"k4":0,"k5":0,"k6":0,"k7":0,"k8":0,"k9":0,"ka":0,"kb":0,"kc":0,"k3":0}"#,
            Some(93),
        ),
    ] {
        let mut scanner = Scanner::new(0, DEPTH);
        scanner.scan(text.as_bytes(), true);
        assert_eq!(scanner.duplicate_key(text), found, "{text}");
    }
}

#[test]
fn depth_is_bounded() {
    for depth in [1, 63, 64, 65, 127, 128, 129, 1000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let mut scanner = Scanner::new(0, depth);
            assert_eq!(scanner.scan(text.as_bytes(), true), ScanResult::Complete { end: text.len() });
            let mut scanner = Scanner::new(0, depth - 1);
            let at = open.len() * (depth - 1);
            assert_eq!(scanner.scan(text.as_bytes(), true), ScanResult::Error { at, kind: ScanError::TooDeep });
        }
    }
    // Brackets close by kind across the 64-level words of the stack.
    let mixed = format!("{}{}", "[{\"a\":".repeat(100), "}]".repeat(100));
    assert!(matches!(
        Scanner::new(0, 500).scan(mixed.as_bytes(), true),
        ScanResult::Error { kind: ScanError::Unexpected, .. }
    ));
    let mixed = format!("{}0{}", "[{\"a\":".repeat(100), "}]".repeat(100));
    assert!(matches!(Scanner::new(0, 500).scan(mixed.as_bytes(), true), ScanResult::Complete { .. }));
}

#[test]
fn a_scanner_can_start_inside_a_text_and_start_over() {
    let text = "abc {\"a\":[{";
    let mut scanner = Scanner::new(3, DEPTH);
    assert_eq!(scanner.scan(text.as_bytes(), true), ScanResult::Incomplete);
    assert_eq!((scanner.start(), scanner.depth(), scanner.in_string()), (Some(4), 3, false));
    scanner.restart(0);
    assert_eq!(scanner.scan(b"[1]", true), ScanResult::Complete { end: 3 });
    assert!(scanner.members().is_empty());
}

/// Arbitrary JSON values.
fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(|x| serde_json::json!(x)),
        ".{0,40}".prop_map(serde_json::Value::String),
        "[a-z\\\\\"\n\t ]{0,80}".prop_map(serde_json::Value::String),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(serde_json::Value::Array),
            prop::collection::vec((".{0,10}", inner), 0..8)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Text made of JSON's own tokens: nearly valid far more often than random characters are.
fn tokens() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"b\":", "1", "0", "-", ".", "e", "E+", "true", "false", "null",
        " ", "\n", "\\", "\\u", "\\ud83d", "\\ude00", "\\n", "x", "ä", "\u{1}", "12", "\"a\":1", "[]", "{}",
    ]);
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn valid_json_is_complete(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        prop_assert_eq!(scan(&text), ScanResult::Complete { end: text.len() });
        check_all_cuts(&text);
    }

    #[test]
    fn mutated_json_is_judged_as_serde_judges_it(value in value(), at in any::<prop::sample::Index>(), change in 0..4, by in any::<char>()) {
        let text = serde_json::to_string(&value).unwrap();
        let mut chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        match change {
            0 => { chars.remove(at); }
            1 => chars.insert(at, by),
            2 => chars[at] = ['"', '\\', ',', ':', '{', '}', '[', ']', '0', '\n'][by as usize % 10],
            _ => chars.truncate(at),
        }
        let text: String = chars.into_iter().collect();
        prop_assert_eq!(whole(&text), serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{:?}", text);
        check_all_cuts(&text);
    }

    #[test]
    fn token_soup_is_judged_as_serde_judges_it(text in tokens()) {
        prop_assert_eq!(whole(&text), serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{:?}", text);
        check_all_cuts(&text);
    }

    #[test]
    fn any_text_is_judged_as_serde_judges_it(text in ".*") {
        prop_assert_eq!(whole(&text), serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }
}
