//! A text read as a stream: what the events add up to, and how that differs from the complete turn.
use std::sync::Arc;
use toolglot::dialect::Dialects;
use toolglot::engine::{Options, StreamParser};
use toolglot::schema::ToolSet;
use toolglot::turn::{Event, Turn};

/// The turn without ids that were made up.
pub(crate) fn snapshot(turn: Turn<'_>) -> Turn<'static> {
    let mut turn = turn.into_owned();
    for call in &mut turn.tool_calls {
        if call.id.len() == 25 && call.id.starts_with("call_") {
            call.id = "generated".into();
        }
    }
    turn
}

/// The events added up, as a reader of the stream would: content, reasoning, and the calls as they ended.
fn add_up(events: &[Event]) -> Result<Turn<'static>, String> {
    let (mut content, mut reasoning) = (String::new(), String::new());
    let (mut started, mut pieces, mut calls, mut issues) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for event in events {
        match event {
            Event::Text(text) => content.push_str(text),
            Event::Reasoning(text) => reasoning.push_str(text),
            Event::Reclassified => reasoning.push_str(&std::mem::take(&mut content)),
            Event::CallStarted { index, id, name } => {
                if *index != started.len() || *index != calls.len() {
                    return Err(format!("call {index} starts after {} and {} ended", started.len(), calls.len()));
                }
                started.push((id, name));
                pieces.push(String::new());
            }
            Event::Arguments { index, text } => match pieces.get_mut(*index) {
                Some(so_far) if *index == calls.len() => so_far.push_str(text),
                _ => return Err(format!("arguments of {index} outside the call")),
            },
            Event::CallEnded { index, call } => {
                let Some((id, name)) = started.get(*index) else { return Err(format!("{index} never started")) };
                if call.id != **id || call.name != **name || *index != calls.len() {
                    return Err(format!("{call:?} ended as {index}, announced as {id} {name}"));
                }
                if call.status.as_str() == "ok" && call.arguments.to_json() != pieces[*index] {
                    return Err(format!("the pieces {:?} are not {:?}", pieces[*index], call.arguments));
                }
                calls.push((**call).clone());
            }
            Event::Issue(issue) => issues.push(issue.clone()),
        }
    }
    if started.len() != calls.len() {
        return Err(format!("{} calls started, {} ended", started.len(), calls.len()));
    }
    Ok(Turn { content: content.into(), reasoning: reasoning.into(), tool_calls: calls, issues, ..Turn::default() })
}

/// Reads a text in pieces; tells how turn or events differ from the complete turn, if they do. What is text is fed as such
/// where that is asked for: letters in the middle of a line have a short way out then.
pub(crate) fn same<'p>(
    (dialects, tools, options): (&Arc<Dialects>, Option<&Arc<ToolSet>>, &Options),
    whole: &Turn<'static>,
    pieces: impl IntoIterator<Item = &'p [u8]>,
    as_text: bool,
) -> Result<(), String> {
    let mut parser = StreamParser::new(dialects.clone(), tools.cloned(), options.clone());
    let mut events = Vec::new();
    for piece in pieces {
        match std::str::from_utf8(piece) {
            Ok(text) if as_text => parser.feed(text, &mut events),
            _ => parser.feed_bytes(piece, &mut events),
        }
    }
    let turn = parser.finish(&mut events);
    let sum = add_up(&events).and_then(|sum| {
        let same = sum.content == turn.content
            && sum.reasoning == turn.reasoning
            && sum.tool_calls == turn.tool_calls
            && sum.issues == turn.issues;
        if same { Ok(()) } else { Err(format!("the events add up to {sum:?}")) }
    });
    let turn = snapshot(turn);
    let differs = sum.and_then(|()| if turn == *whole { Ok(()) } else { Err(String::from("the turns differ")) });
    differs.map_err(|error| format!("{error}\n  streamed: {turn:?}\n  complete: {whole:?}"))
}
