//! What begins and what ends an answer, and is no part of the calls in it.
use super::cut::{shared_end, tags};

/// The text of an answer, less what ends it.
pub(super) fn without_end<'t>(text: &'t str, ending: &str, eos: &str) -> &'t str {
    let shared = shared_end((text, 0..text.len()), (ending, 0..ending.len()));
    let cut = text.get(..text.len() - shared).unwrap_or(text);
    // Behind a word the shared end is the rest of a marker of several pieces (`<|close|>tools<|sep|>`).
    let within = shared < ending.len() && cut.ends_with(char::is_alphanumeric);
    let text = if within { text } else { cut };
    match text.trim_end().strip_suffix(eos) {
        Some(text) if !eos.is_empty() => text,
        _ => text,
    }
}

/// How much of what stands behind calls closes them, or their section: behind that stand the marks of a turn's end, which servers
/// take away. They are neither closing tags nor named as something that was `opened`, and there are others before them.
pub(super) fn closed(opened: &str, closing: &str) -> usize {
    let names: Vec<String> = tags(opened).into_iter().map(|mark| stem(opened.get(mark).unwrap_or(""))).collect();
    let mut end = closing.len();
    for mark in tags(closing).into_iter().skip(1).rev() {
        let text = closing.get(mark.clone()).unwrap_or("");
        let apart = closing.get(mark.end..end).is_some_and(|behind| behind.trim().is_empty());
        if !apart || text.starts_with("</") || text.starts_with("[/") || names.contains(&stem(text)) {
            break;
        }
        end = mark.start;
    }
    end
}

/// What a mark is the beginning or the end of.
fn stem(mark: &str) -> String {
    let letters: String = mark.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let plain =
        ["begin", "start", "open", "end", "close", "stop"].iter().fold(letters, |name, side| name.replace(side, ""));
    plain.trim_end_matches('s').to_owned()
}

/// What of `text` stands behind `beginning`, whatever white space is between its marks.
pub(super) fn without_beginning<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    let mut signs = beginning.chars().filter(|sign| !sign.is_whitespace());
    signs.try_fold(text, |rest, sign| rest.trim_start().strip_prefix(sign))
}

/// `beginning` closes a tag that the prompt has opened, and is the prompt's as well.
pub(super) fn closes_only(beginning: &str) -> bool {
    let Some(name) = beginning.rsplit_once("</").and_then(|(_, tag)| tag.split_once('>')).map(|(name, _)| name) else {
        return false;
    };
    !beginning.contains(&format!("<{name}>"))
}
