//! Tests of `src/engine/options.rs`.
use super::*;
use crate::dialect::Dialects;
use crate::engine::{StreamParser, extract};
use crate::turn::CallStatus;

const MOST: Policy = Policy {
    fences: Fences::Calls,
    bare: BareCalls::Line,
    reasoning: ReasoningCalls::IfUnclosed,
    unknown_tools: UnknownTools::Flag,
    names: Names::Resolve,
    ids: Ids::Random,
    max_calls: usize::MAX,
    max_depth: usize::MAX,
    max_arguments_bytes: usize::MAX,
    max_markup_bytes: usize::MAX,
};

fn read(text: &str, dialect: &str) -> Vec<CallStatus> {
    let options = Options { policy: MOST, ..Options::default() };
    let dialects = Dialects::named(dialect).expect(dialect);
    let whole = extract(text, &dialects, None, &options);
    let mut parser = StreamParser::new(dialects, None, options);
    let mut events = Vec::new();
    text.as_bytes().chunks(4 << 10).for_each(|chunk| parser.feed_bytes(chunk, &mut events));
    let status = |turn: &crate::Turn<'_>| turn.tool_calls.iter().map(|call| call.status).collect::<Vec<_>>();
    assert_eq!(status(&parser.finish(&mut events)), status(&whole));
    status(&whole)
}

#[test]
fn limits_beyond_all_there_is_are_none() {
    for row in crate::dialect::catalogue() {
        for dialect in [&*row.name, "auto"] {
            let found = read(&row.example, dialect);
            let options = Options::default();
            let usual = extract(&row.example, &Dialects::named(dialect).expect(dialect), None, &options);
            assert_eq!(found.len(), usual.tool_calls.len(), "{}, told {dialect}", row.name);
        }
    }
}

#[test]
fn depth_is_limited_whoever_sets_it() {
    let deep = |unit: &str| unit.repeat(100_000);
    for (dialect, text) in [
        ("gemma4", format!("<|tool_call>call:f{{a:{}", deep("{a:"))),
        ("gemma4", format!("<|tool_call>call:f{{a:{}", deep("["))),
        ("minimax_m3", format!("]<]minimax[>[<invoke name=\"f\">{}", deep("]<]minimax[>[<a>"))),
        ("claude_xml", format!("<invoke name=\"f\"><parameter name=\"a\">{}", deep("<a>"))),
        ("hermes", format!("<tool_call>{{\"name\": \"f\", \"arguments\": {}", deep("{\"a\":"))),
        ("pythonic", format!("[f(a={}", deep("["))),
    ] {
        assert!(!read(&text, dialect).contains(&CallStatus::Ok), "{dialect}");
    }
}

#[test]
fn a_limit_that_is_none_is_told() {
    assert_eq!(Policy::default().check(), Ok(()));
    assert_eq!(MOST.clamped().check(), Ok(()));
    for (name, value, most) in MOST.clone().limits() {
        let mut policy = Policy::default();
        let limits = policy.limits();
        let (_, limit, _) = limits.into_iter().find(|(known, ..)| *known == name).expect(name);
        *limit = most.saturating_add(1).max(*value);
        assert_eq!(policy.check().expect_err(name).place, name);
    }
}
