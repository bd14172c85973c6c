//! No word is lost and none is doubled: each that was planted in a text once is in the content, in the reasoning, in a call or in an
//! issue, once.

use super::Failure;
use toolglot::turn::{IssueCode, Turn};

pub(super) fn check(text: &str, planted: &[String], turn: &Turn<'_>) -> Result<(), Failure> {
    if planted.is_empty() || drops(turn) {
        return Ok(());
    }
    for word in planted {
        let word = word.as_str();
        let said = turn.content.matches(word).count() + turn.reasoning.matches(word).count();
        let calls = turn.tool_calls.iter();
        let called = calls.clone().filter(|call| call.name.contains(word) || call.arguments.to_json().contains(word));
        // The text that a call was read from may hold content as well, and other calls.
        let raw = || calls.clone().any(|call| call.raw.contains(word));
        // A repair says that what stands there was left out: a variable, up to its sign.
        let starts = |at: usize| {
            let left_out = text.get(at..).and_then(|rest| rest.split(['=', '\n']).next());
            left_out.is_some_and(|left_out| left_out.contains(word))
        };
        let repaired = || calls.clone().any(|call| call.repairs.iter().any(|repair| repair.offset.is_some_and(starts)));
        let told = || turn.issues.iter().any(|issue| issue.message.contains(word));
        let given = calls.clone().any(|call| call.raw.contains(word) && turn.content.contains(&*call.raw));
        let kind = match said + called.count() {
            0 if raw() || told() || repaired() || is_markup(text, word) => continue,
            0 => "word lost",
            1 if !given => continue,
            _ => "word doubled",
        };
        return Err(Failure::new(kind, format!("{word:?} of {text:?} in {turn:?}")));
    }
    Ok(())
}

/// What the model wrote for another side is dropped, however long it is; the issue says where that is.
fn drops(turn: &Turn<'_>) -> bool {
    turn.issues.iter().any(|issue| {
        matches!(issue.code, IssueCode::InventedResult | IssueCode::InventedTurn | IssueCode::RepeatedCall)
    })
}

/// The word stands in what is markup and says nothing: the name of a misspelt marker, the sources of a citation (`<co: 0,1>`), the label
/// of a fence, a comment between calls; the role or type of a message, or a key whose value is empty.
fn is_markup(text: &str, word: &str) -> bool {
    let Some((before, behind)) = text.split_once(word) else { return true };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let mark = ["```", "~~~", "//", "/*", "#"].iter().any(|sign| line.contains(sign)) || before.contains("/*");
    let citation = before.rsplit_once("co:").is_some_and(|(_, sources)| !sources.contains('>'));
    let sign = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '{' | '}' | '(' | ')' | '>' | ']' | ',' | '=');
    let marker = before.rfind(['<', '[']).and_then(|at| before.get(at + 1..)).is_some_and(|tag| !tag.contains(sign));
    let (key, value) = behind.split_once(':').unwrap_or_default();
    let value = value.trim_start();
    let empty = !key.trim_end_matches(['"', '\'', ' ']).contains(sign)
        && ["null", "None", "[]", "{}", "\"\""].iter().any(|empty| value.starts_with(empty));
    let key = before.rsplit_once(':').map_or("", |(key, _)| key).trim_end_matches(['"', '\'', ' ']);
    mark || citation || marker || empty || key.ends_with("role") || key.ends_with("type")
}
