//! No word is lost and none is doubled: each that was planted in a text once is in the content, in the reasoning, in a call or in an
//! issue, once.

use super::Failure;
use toolglot::turn::{IssueCode, ToolCall, Turn};

pub(super) fn check(text: &str, planted: &[String], turn: &Turn<'_>) -> Result<(), Failure> {
    if planted.is_empty() || drops(turn) {
        return Ok(());
    }
    for word in planted.iter().filter(|word| !is_left_out(text, word)) {
        let in_text = turn.content.matches(word.as_str()).count() + turn.reasoning.matches(word.as_str()).count();
        let calls = turn.tool_calls.iter().filter(|call| holds(call, word)).count();
        let told = turn.issues.iter().any(|issue| issue.message.contains(word.as_str()));
        let (kind, is_wrong) = match in_text + calls {
            0 => ("word lost", !told),
            1 => ("", false),
            _ => ("word doubled", true),
        };
        if is_wrong {
            return Err(Failure::new(kind, format!("{word:?} of {text:?} in {turn:?}")));
        }
    }
    Ok(())
}

/// What the model wrote for another side is dropped, however long it is; the issue says where that is.
fn drops(turn: &Turn<'_>) -> bool {
    turn.issues.iter().any(|issue| {
        matches!(issue.code, IssueCode::InventedResult | IssueCode::InventedTurn | IssueCode::RepeatedCall)
    })
}

/// The label of a fence goes with its marks where calls stand in it, and so does a comment between calls.
fn is_left_out(text: &str, word: &str) -> bool {
    let Some((before, _)) = text.split_once(word) else { return true };
    let line = before.rsplit('\n').next().unwrap_or_default();
    ["```", "~~~", "//", "/*", "#"].iter().any(|sign| line.contains(sign)) || before.contains("/*")
}

fn holds(call: &ToolCall<'_>, word: &str) -> bool {
    call.raw.contains(word) || call.name.contains(word) || call.arguments.to_json().contains(word)
}
