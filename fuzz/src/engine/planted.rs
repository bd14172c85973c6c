//! No word is lost and none is doubled: each that was planted in a text once is in the content, in the reasoning, in a call or in an
//! issue, once.

use super::Failure;
use toolglot::turn::{IssueCode, RepairCode, Turn};

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
        let told = || turn.issues.iter().any(|issue| issue.message.contains(word));
        let given = calls.clone().any(|call| call.raw.contains(word) && turn.content.contains(&*call.raw));
        let kind = match said + called.count() {
            0 if raw() || told() || is_markup(text, word) => continue,
            0 => "word lost",
            1 if !given => continue,
            _ => "word doubled",
        };
        return Err(Failure::new(kind, format!("{word:?} of {text:?} in {turn:?}")));
    }
    Ok(())
}

/// What the model wrote for another side is dropped, however long it is, and so is what repair left out; an issue or a repair says
/// where that is.
fn drops(turn: &Turn<'_>) -> bool {
    let dropped = |code| matches!(code, IssueCode::InventedResult | IssueCode::InventedTurn | IssueCode::RepeatedCall);
    let left_out = |code| matches!(code, RepairCode::Comment | RepairCode::Surroundings | RepairCode::DuplicateKey);
    turn.issues.iter().any(|issue| dropped(issue.code))
        || turn.tool_calls.iter().flat_map(|call| &call.repairs).any(|repair| left_out(repair.code))
}

/// The word stands in what is markup and says nothing: a misspelt marker, the label of a fence, a comment between calls; the role of a
/// message, or a key whose value is null or missing.
fn is_markup(text: &str, word: &str) -> bool {
    let Some((before, behind)) = text.split_once(word) else { return true };
    let line = before.rsplit('\n').next().unwrap_or_default();
    let mark = ["```", "~~~", "//", "/*", "#"].iter().any(|sign| line.contains(sign)) || before.contains("/*");
    let tag = before.rsplit_once(['<', '[']).is_some_and(|(_, tag)| !tag.contains(['>', ']', '{']))
        || before.rsplit_once('<').is_some_and(|(_, tag)| !tag.contains('>'));
    let value = behind.split_once(':').map_or("", |(_, value)| value.trim_start());
    let empty = value.is_empty() || ["null", "None", "n"].iter().any(|null| value.starts_with(null));
    // What such an envelope has beside its content is not told if it is empty.
    let envelope = ["toolCalls", "tool_calls", "needsMoreWork"].iter().any(|key| text.contains(key));
    let key = before.rsplit_once(':').map_or("", |(key, _)| key).trim_end_matches(['"', '\'', ' ']);
    mark || tag || empty || envelope || key.ends_with("role") || key.ends_with("type")
}
