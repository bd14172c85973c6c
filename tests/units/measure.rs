//! Tests of `src/engine/measure.rs`.
use super::*;
use crate::dialect::Dialects;
use crate::engine::{Engine, Fresh, Memo, Options, Reader, extract};
use crate::turn::{CallStatus, IssueCode};

/// How many rounds at these places, over and over, lower the measure.
fn rounds(places: &[usize]) -> usize {
    let mut measure = Measure::default();
    places.iter().cycle().take(10_000).take_while(|at| measure.falls(**at, 100_000)).count()
}

#[test]
fn what_gets_nowhere_ends() {
    assert_eq!(rounds(&[7]), usize::from(MOST_STAYS));
    // Back and forth, once the furthest place is known.
    assert!(rounds(&[7, 3]) <= 2 * usize::from(MOST_RETURNS) + 2);
    assert!(rounds(&[3, 9, 5, 7]) <= 4 * usize::from(MOST_RETURNS) + 4);
}

#[test]
fn what_reads_on_does_not_end() {
    let mut measure = Measure::default();
    for at in 0..10_000 {
        // Several readings of a place, one of which is given up further on.
        assert!([at, at, at + 5, at + 1].iter().all(|at| measure.falls(*at, 10_005)), "{at}");
    }
}

#[test]
fn what_is_left_is_content() {
    let (options, dialects, memo) = (Options::default(), Dialects::auto(), Memo::default());
    let read = |engine: &mut Engine, text: &str, eof: bool, leaves: bool| {
        let policy = &options.policy;
        let cx = Reader { text, made: false, eof, dialects: &dialects, tools: None, policy, memo: &memo };
        engine.advance(&cx);
        if leaves {
            engine.leave_unread(&cx);
        }
    };
    for begun in
        ["Hi <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1", "Hi `<tool_call>{\"name\": \"f\", ", "<think>x"]
    {
        let mut engine = Engine::new(&options);
        engine.out.stream();
        read(&mut engine, begun, false, true);
        let text = format!("{begun} <tool_call>{{\"name\": \"g\", \"arguments\": {{}}}}</tool_call> bye");
        read(&mut engine, &text, true, false);
        let ended = engine.release(&text).filter(|event| matches!(event, Fresh::Event(_))).count();
        let turn = engine.out.into_turn(&text, &dialects);
        assert!(turn.content.ends_with("</tool_call> bye"), "{turn:?}");
        assert!(turn.issues.iter().any(|issue| issue.code == IssueCode::NoProgress), "{turn:?}");
        assert!(turn.tool_calls.iter().all(|call| call.status == CallStatus::Incomplete), "{turn:?}");
        // A call that was told has begun, and ended; each issue is an event as well.
        assert_eq!(ended, 2 * turn.tool_calls.len() + turn.issues.len(), "{turn:?}");
    }
}

#[test]
fn issues_have_a_bound() {
    let text = "<tool_call>{\"name\": 1}</tool_call>\n".repeat(3000);
    let turn = extract(&text, &Dialects::named("hermes").expect("hermes"), None, &Options::default());
    assert_eq!(turn.issues.len(), 1001);
    assert_eq!(turn.issues.last().map(|issue| issue.code), Some(IssueCode::LimitReached));
    assert_eq!(turn.content.matches('1').count(), 3000);
}

#[test]
fn all_rounds_have_a_bound() {
    let mut measure = Measure::default();
    let rounds = (0..usize::MAX).take_while(|round| measure.falls(round / 20, 1000)).count();
    // Each twentieth reads on, which has a bound of its own: the text's length.
    let (bound, on) = (most_rounds(1000), rounds / 20);
    assert!((bound..=bound + 1).contains(&(rounds - on)), "{rounds}");
}
