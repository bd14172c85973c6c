//! Conversations for models without native tools: calls and results as text.
use super::history::{Message, Part, Role, Written, detect_history, read_history, write_history};
use super::{Provider, ResultOptions, ToolResult, text_results};
use crate::Error;
use crate::schema::{InDialect, write_calls};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The history of any provider (detected if `None`) in Chat Completions' shape, as [`history_as_text`] writes it.
///
/// # Errors
/// [`ErrorCode::BadMessage`](crate::ErrorCode::BadMessage), and as [`write_calls`].
pub fn convert_to_text<'d>(
    messages: &[Value],
    system: Option<&Value>,
    from: Option<Provider>,
    side: Option<&Map<String, Value>>,
    dialect: impl Into<InDialect<'d>>,
) -> Result<Written, Error> {
    let from = from.unwrap_or_else(|| detect_history(messages));
    let read = read_history(messages, system, from, side)?;
    Ok(write_history(&history_as_text(&read, dialect)?, Provider::OpenAi))
}

/// The messages with their calls written as `dialect` does, and the results in a user's message.
///
/// # Errors
/// As [`write_calls`].
pub fn history_as_text<'d>(messages: &[Message], dialect: impl Into<InDialect<'d>>) -> Result<Vec<Message>, Error> {
    let dialect = dialect.into();
    let write = |text: &str, calls: &[(String, String)]| {
        let calls = write_calls(calls.iter().map(|(name, arguments)| (&**name, &**arguments)), dialect)?;
        Ok(if text.is_empty() { calls } else { format!("{text}\n{calls}") })
    };
    with_calls_as(messages, dialect, write)
}

/// As [`history_as_text`]; `write` says what becomes of an answer's text and its calls, each a name and arguments.
pub(crate) fn with_calls_as(
    messages: &[Message],
    dialect: InDialect<'_>,
    write: impl Fn(&str, &[(String, String)]) -> Result<String, Error>,
) -> Result<Vec<Message>, Error> {
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    let mut results: Vec<(usize, ToolResult)> = Vec::new();
    // By the id of each call, its number and its name.
    let (mut asked, mut number): (HashMap<String, (usize, String)>, usize) = (HashMap::new(), 0);
    for message in messages {
        // Results of one answer that stand in messages of their own are one text.
        if message.role != Role::Tool {
            out.extend(results_message(std::mem::take(&mut results), dialect));
        }
        let mut message = message.clone();
        message.own_input();
        let (mut calls, mut rest) = (Vec::new(), Vec::new());
        for part in std::mem::take(&mut message.parts) {
            match part {
                Part::Call(call) => {
                    asked.insert(call.id, (number, call.name.clone()));
                    number += 1;
                    calls.push((call.name, call.arguments));
                }
                Part::Answer(answer) => {
                    let known = asked.get(&answer.id);
                    let place = known.map_or(usize::MAX, |(place, _)| *place);
                    let name = known.map(|(_, name)| name.clone()).filter(|name| !name.is_empty());
                    let name = name.unwrap_or(answer.name);
                    let (id, parts, is_error) = (answer.id, answer.parts, answer.is_error);
                    results.push((place, ToolResult { id, name, parts, is_error, freeform: false }));
                }
                part => rest.push(part),
            }
        }
        message.parts = rest;
        if !calls.is_empty() {
            let text = write(&message.all_text(), &calls)?;
            message.parts.retain(|part| matches!(part, Part::Media(_)));
            message.parts.insert(0, Part::Text(text));
            // What a provider kept of the answer holds its calls.
            message.state.clear();
        }
        if message.role == Role::Tool && message.parts.is_empty() {
            continue;
        }
        if message.role == Role::Tool {
            message.role = Role::User;
        }
        out.push(message);
    }
    out.extend(results_message(results, dialect));
    Ok(out)
}

/// Returns the user's message that has these results, or none if there are none. Where a dialect shows no names, their order says which
/// call they answer: it is that of the calls, whose numbers stand beside them.
fn results_message(mut results: Vec<(usize, ToolResult)>, dialect: InDialect<'_>) -> Vec<Message> {
    if results.is_empty() {
        return Vec::new();
    }
    results.sort_by_key(|(place, _)| *place);
    let results = results.into_iter().map(|(_, result)| result).collect();
    let options = ResultOptions { harden: true, ..ResultOptions::default() };
    let message = text_results(results, dialect, &options);
    // A message that was just written can be read.
    read_history(&[message], None, Provider::OpenAi, None).unwrap_or_default()
}
