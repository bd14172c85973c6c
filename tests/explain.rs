//! The explanation in Rust: its spans cover every text without gap or overlap, and say what the turn says.
mod options;

use options::options;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use toolglot::dialect::{Dialects, catalogue};
use toolglot::engine::{Options, extract};
use toolglot::explain::{Reason, SpanKind, explain};
use toolglot::schema::ToolSet;

fn tools() -> ToolSet {
    let tool = serde_json::json!({"name": "search", "parameters": {"properties": {"query": {"type": "string"}}}});
    ToolSet::from_values(&[tool]).expect("tools")
}

/// The pieces of all dialects' examples, so that random sequences of them are nearly calls.
fn fragments() -> Vec<String> {
    let lines = catalogue().iter().flat_map(|dialect| dialect.example.lines().map(str::to_owned).collect::<Vec<_>>());
    let more = ["search(query=1)", "`", "```\n", "<think>", "</think>", "{", "}", "\n", "é", "[search(", "<|end|>"];
    lines.chain(more.map(str::to_owned)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_spans_are_the_text(pieces in proptest::collection::vec(proptest::sample::select(fragments()), 0..10)) {
        let (text, tools, options) = (pieces.concat(), tools(), Options::default());
        let explanation = explain(&text, &Dialects::auto(), Some(&tools), &options);
        let mut end = 0;
        for span in &explanation.spans {
            prop_assert_eq!(span.range.start, end);
            prop_assert!(span.range.end > end || span.decoded.is_some());
            end = span.range.end;
        }
        prop_assert_eq!(end, text.len());
        let said = |kind| -> String {
            explanation.spans.iter().filter(|span| span.kind == kind).map(|span| span.text(&text)).collect()
        };
        let turn = extract(&text, &Dialects::auto(), Some(&tools), &options);
        prop_assert_eq!(said(SpanKind::Content), turn.content);
        prop_assert_eq!(said(SpanKind::Reasoning), turn.reasoning);
        prop_assert_eq!(&explanation.turn.issues, &turn.issues);
        prop_assert!(!explanation.to_string().is_empty());
    }
}

/// The same cases as tests/test_explain.py, of which each reason has one.
#[test]
fn every_reason_is_given() {
    let mut seen = BTreeSet::new();
    for line in include_str!("data/explain.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let dialects = Dialects::named(case["dialect"].as_str().unwrap_or("auto")).expect("a dialect");
        let offered = match case.get("tools") {
            Some(Value::Array(items)) => Some(ToolSet::from_values(items).expect("tools")),
            Some(_) => None,
            None => Some(tools()),
        };
        let text = case["text"].as_str().expect("text");
        let explanation = explain(text, &dialects, offered.as_ref(), &options(&case));
        let kept: Vec<_> =
            (explanation.kept()).filter_map(|span| Some((span.reason?.as_str(), span.text(text).to_owned()))).collect();
        let wanted: Vec<_> = (case["kept"].as_array().into_iter().flatten())
            .filter_map(|kept| Some((kept["reason"].as_str()?, kept["text"].as_str()?.to_owned())))
            .collect();
        assert_eq!(kept, wanted, "{}", case["about"]);
        seen.extend(explanation.kept().filter_map(|span| span.reason));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), Reason::ALL);
}
