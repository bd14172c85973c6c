//! What a model says in the middle of a value that it has given up, where repair takes that for a part of the value.
use super::lenient::LINE_BEHIND;
use crate::dialect::MarkersAt;
use crate::engine::Reader;
use crate::engine::reader::floor;
use crate::json::{Ending, Repaired};
use crate::schema::Tool;
use crate::turn::{Repair, RepairCode, Slip};
use serde::de::IgnoredAny;
use std::collections::HashMap;

/// Bare words became a value though they stand in a line of their own and nothing closes the object, or say more than a value does,
/// or a marker stands in them; or their key lacks its colon as well. The value is missing, and what the model said next stands in its
/// place.
pub(super) fn fills_value(cx: &Reader<'_>, text: &str, mended: &Repaired<'_>) -> bool {
    let unclosed = !mended.added.is_empty() || mended.ending != Ending::Closed;
    if !(unclosed || mended.repairs.iter().any(|repair| repair.code == RepairCode::Colon)) {
        return false;
    }
    let mut colon = None;
    mended.repairs.iter().any(|repair| {
        if repair.code == RepairCode::Colon {
            colon = repair.offset;
        }
        words(text, repair).is_some_and(|(key, below, line)| {
            let lacks_colon = colon == Some(key.len());
            let says = below || is_sentence(line) || opens_calls(cx, line);
            (unclosed && key.ends_with(':') && says) || (lacks_colon && (unclosed || below))
        })
    })
}

/// The bare words that the `repair` put in quotes, as a value: the text before them without white space, whether they begin a line, and
/// what stands in it.
fn words<'t>(text: &'t str, repair: &Repair) -> Option<(&'t str, bool, &'t str)> {
    let at = repair.offset.filter(|_| matches!(repair.code, RepairCode::Quotes | RepairCode::SourceText))?;
    let (before, words) = text.split_at_checked(at).filter(|(_, words)| words.starts_with(char::is_alphanumeric))?;
    let key = before.trim_ascii_end();
    let line = words.get(..floor(words, LINE_BEHIND))?.lines().next()?;
    Some((key, before.get(key.len()..)?.contains('\n'), line))
}

/// Several words, and what a sentence ends with behind the last of them or behind an earlier one. What the next member stands behind
/// is a value, if it ends in a quote or has no blank.
fn is_sentence(line: &str) -> bool {
    let line = match line.split_once(',') {
        Some((value, next)) if next.trim_start().starts_with('"') && (value.ends_with('"') || !value.contains(' ')) => {
            value
        }
        _ => line,
    };
    let line = line.trim_end();
    let over = |word: &str| word.ends_with(['.', '!', '?', '…', '。', '！', '？']) && word.len() > 1;
    line.split_once([' ', '，', '。']).is_some_and(|(first, rest)| over(rest) || over(first) || first.ends_with(','))
}

/// A marker that opens calls stands in the `line`.
fn opens_calls(cx: &Reader<'_>, line: &str) -> bool {
    let mut at = 0;
    while at < line.len() {
        at = cx.dialects.markers.next_stop(line.as_bytes(), at);
        if let MarkersAt::Some { ends, count, .. } = cx.dialects.markers.at(line.as_bytes(), at)
            && ends.iter().take(count).any(|(_, list)| cx.dialects.markers.opens_calls(*list))
            && !line.get(at..).is_some_and(|rest| rest.starts_with('`'))
        {
            return true;
        }
        at += 1;
    }
    false
}

/// A key without quotes that may be the first word of a remark: `{"path": "x"\nWait: wrong tool.`.
#[derive(Debug)]
pub(super) struct Loose {
    key: String,
    /// The comma before it was missing.
    behind_value: bool,
    /// Its value is words that have no quotes either.
    words: bool,
    /// Its value is whole: in quotes, brackets or digits.
    valued: bool,
}

/// What a model says before it says what it meant, and no parameter is called so.
const SAID: [&str; 10] = ["actually", "correction", "hmm", "instead", "no", "nope", "oops", "scratch", "sorry", "wait"];

/// Such keys in `text`, which was mended by `repairs`: no comma stands before them, or they are the first without quotes, behind others.
pub(super) fn loose(text: &str, repairs: &[Repair]) -> Vec<Loose> {
    let mut found = Vec::new();
    let mut first = true;
    for (i, repair) in repairs.iter().enumerate() {
        let Some(at) = repair.offset.filter(|_| repair.is(Slip::BareKey)) else { continue };
        let before = i.checked_sub(1).and_then(|i| repairs.get(i)).filter(|before| before.is(Slip::NoComma));
        let behind_value = before.and_then(|before| text.get(before.offset?..at)).is_some_and(|s| s.trim().is_empty());
        let first =
            std::mem::take(&mut first) && text.get(..at).is_some_and(|text| text.trim_ascii_end().ends_with(','));
        let key = text.get(at..).and_then(|key| key.split([':', '=', '"', '\n']).next()).unwrap_or_default();
        let value = repairs.get(i + 1).and_then(|repair| words(text, repair));
        let words = value.is_some_and(|(key, _, line)| {
            let value = line.split([',', '}', ']']).next().unwrap_or_default();
            let says = value.trim_end().contains(' ') || behind_value && value.trim_end().ends_with(['.', '!', '?']);
            key.ends_with(':') && key.len() > at && says
        });
        if behind_value || first && words {
            let valued = holds_value(text.get(at..).unwrap_or_default());
            found.push(Loose { key: key.trim_end().to_owned(), behind_value, words, valued });
        }
    }
    found
}

/// Behind the key at the beginning of `text` and its colon stands a whole value: in quotes, brackets or digits. Mostly no remark goes on
/// so.
fn holds_value(text: &str) -> bool {
    let Some((_, behind)) =
        text.split_once([':', '=', '\n']).filter(|(key, _)| text.get(key.len()..key.len() + 1) == Some(":"))
    else {
        return false;
    };
    let value = behind.trim_ascii_start();
    value.starts_with(|c: char| matches!(c, '"' | '\'' | '{' | '[' | '-') || c.is_ascii_digit())
}

/// One of the `keys` in the `arguments` of a call of `tool` names none of its parameters: it is no argument, and the call was given up.
pub(super) fn any_foreign(keys: &[Loose], tool: Option<&Tool>, arguments: &str) -> bool {
    let tool = tool.filter(|tool| !tool.parameters.is_empty());
    let named = |tool: &Tool, key: &str| tool.parameters.iter().any(|(name, _)| name.eq_ignore_ascii_case(key));
    let foreign = |loose: &&Loose| tool.is_none_or(|tool| !tool.declares(&loose.key) && !named(tool, &loose.key));
    let mut foreign = keys.iter().filter(foreign).peekable();
    if foreign.peek().is_none() {
        return false;
    }
    // What an argument that is an object has for members is not known.
    let own: HashMap<String, IgnoredAny> = serde_json::from_str(arguments).unwrap_or_default();
    let given_up = |loose: &Loose, tool| !loose.valued || is_said(&loose.key, tool);
    foreign.any(|loose| {
        let member = loose.behind_value && own.contains_key(&loose.key);
        loose.words || member && tool.is_some_and(|tool| given_up(loose, tool))
    })
}

/// The `key`, which is none of the `tool`'s, is a word that something is said with: one of those, or one that begins as a sentence
/// does, and as no parameter of the tool.
fn is_said(key: &str, tool: &Tool) -> bool {
    let begins = |name: &str| !name.is_ascii() || name.starts_with(|c: char| c.is_ascii_uppercase());
    SAID.iter().any(|word| word.eq_ignore_ascii_case(key))
        || begins(key) && !tool.parameters.iter().any(|(name, _)| begins(name))
}
