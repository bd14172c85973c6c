//! The explanation in Rust: its spans cover every text without gap or overlap, and say what the turn says.
use proptest::prelude::*;
use serde_json::Value;
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

/// The same cases as tests/test_explain.py.
#[test]
fn every_reason_is_given() {
    let mut seen = Vec::new();
    for line in include_str!("data/explain.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        if case.get("policy").is_some() || case.get("tools").is_some() {
            continue;
        }
        let dialects = Dialects::named(case["dialect"].as_str().unwrap_or("auto")).expect("a dialect");
        let search = tools();
        let text = case["text"].as_str().expect("text");
        let explanation = explain(text, &dialects, Some(&search), &Options::default());
        let kept: Vec<_> = explanation.kept().filter_map(|span| span.reason).collect();
        let wanted: Vec<&str> =
            case["kept"].as_array().into_iter().flatten().filter_map(|k| k["reason"].as_str()).collect();
        assert_eq!(kept.iter().map(|reason| reason.as_str()).collect::<Vec<_>>(), wanted, "{}", case["about"]);
        seen.extend(kept);
    }
    assert!([Reason::InlineCode, Reason::Place, Reason::Draft].iter().all(|reason| seen.contains(reason)));
}
