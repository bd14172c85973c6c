//! Labels right above what they show: `For example:`, `## Usage`, `You can call it like this:`.
//!
//! The words are data (`labels.json`, with its sources). A label is all that is read of a text's sentences, and of a label only whether
//! such a word stands in it, and whether the first person says what it does: "I'll read the example:" announces a call.
use super::WORDS;
use crate::engine::Reader;
use crate::engine::reader::{blank, floor};

/// The line of a label is no longer.
const LONGEST: usize = 256;

/// Further behind an example is another paragraph.
const NEAR: usize = 1024;

/// So many words at the beginning of a clause say who acts.
const SPEAKER: usize = 2;

/// Labels with a word that heads an example (`Usage`) have no more words.
const MOST_HEADING: usize = 5;

/// What signs stand round words in Markdown and in quotations.
const SIGNS: [char; 11] = ['*', '_', '#', '"', '“', '”', '(', ')', ',', '`', '-'];

/// The last example that a label announced.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Labels {
    example: Option<usize>,
    /// The place that was asked about last, where the last call ended then, and the answer.
    asked: Option<(usize, usize, bool)>,
}

/// What the line above a place says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    Nothing,
    /// An example follows.
    Example,
    /// Whoever writes says what they do next.
    Step,
}

impl Labels {
    /// What stands at `at` is an example, or a tool's result, as a label right above it says, or goes one on in the same paragraph. The last
    /// call ended at `called`.
    pub(super) fn show(&mut self, cx: &Reader<'_>, called: usize, at: usize) -> bool {
        if let Some((_, _, answer)) = self.asked.filter(|asked| (asked.0, asked.1) == (at, called)) {
            return answer;
        }
        let from = floor(cx.text, at.saturating_sub(LONGEST)).max(called);
        let before = cx.slice(from, at);
        let goes_on = || self.example.is_some_and(|example| example >= called && in_paragraph(cx, example, at));
        let shown = labels_result(cx, before)
            || match line_above(before, from == 0 || from == called) {
                Some(Line { says, announces: false }) => goes_on() && label_of(says) != Label::Step,
                Some(Line { says, announces: true }) => match label_of(says) {
                    Label::Example => true,
                    Label::Step => false,
                    Label::Nothing => goes_on(),
                },
                None => goes_on(),
            };
        self.example = if shown { Some(at) } else { self.example };
        self.asked = Some((at, called, shown));
        shown
    }
}

/// The text `before` a place ends in what a dialect of steps writes before a tool's result: `Observation:`.
fn labels_result(cx: &Reader<'_>, before: &str) -> bool {
    let label = before.trim_end_matches(blank);
    let ends = |word: &String| label.ends_with(word.as_str());
    label.ends_with(':') && cx.dialects.rows.iter().any(|row| row.dialect.observations.iter().any(ends))
}

/// Nothing parts the two places into paragraphs.
fn in_paragraph(cx: &Reader<'_>, from: usize, at: usize) -> bool {
    from <= at && at - from <= NEAR && !has_blank_line(cx.slice(from, at))
}

/// A line of the `text` has nothing in it, or only blanks.
fn has_blank_line(text: &str) -> bool {
    memchr::memchr_iter(b'\n', text.as_bytes()).any(|end| {
        let mut below = text.bytes().skip(end + 1).skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        below.next() == Some(b'\n')
    })
}

/// The last sentence of a line.
struct Line<'t> {
    says: &'t str,
    /// The line introduces what follows: it is a label, a heading, or bold.
    announces: bool,
}

/// Returns the last line of `before`, or `None` if its start was cut off. `whole`: `before` starts at the beginning of a line.
fn line_above(before: &str, whole: bool) -> Option<Line<'_>> {
    let text = before.trim_end_matches(blank);
    let line = memchr::memrchr(b'\n', text.as_bytes()).map(|i| i + 1).or(whole.then_some(0))?;
    let line = text.get(line..).unwrap_or_default().trim_start_matches(blank);
    let bare = line.trim_end_matches(['*', '_', ' ']);
    if let Some(said) = bare.strip_suffix([':', '：']) {
        // Two of them begin a literal block of reStructuredText.
        return Some(Line { says: last_sentence(said.strip_suffix(':').unwrap_or(said)), announces: true });
    }
    let bold = line.len() > bare.len() && line.starts_with("**");
    Some(Line { says: last_sentence(line), announces: line.starts_with('#') || bold })
}

/// The last sentence of the `line`.
fn last_sentence(line: &str) -> &str {
    let mut ends = line.match_indices([' ', '。']).filter_map(|(i, sign)| {
        let (before, behind) = (line.get(..i)?, line.get(i + sign.len()..)?);
        let abbreviated = before.ends_with("e.g.") || before.ends_with("z.B.");
        (sign == "。" || before.ends_with(['.', '!', '?']) && !abbreviated).then_some(behind)
    });
    ends.next_back().unwrap_or(line)
}

/// Splits `text` into words, without surrounding punctuation.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_matches(SIGNS))
}

/// What a label that says this sentence announces.
fn label_of(sentence: &str) -> Label {
    let sentence = sentence.to_lowercase().replace('’', "'");
    let words: Vec<&str> = words_of(&sentence).collect();
    let says = |list: &[String]| words.iter().any(|word| list.iter().any(|known| known == word));
    let acts =
        |clause: &str| words_of(clause).take(SPEAKER).any(|word| WORDS.first_person.iter().any(|known| known == word));
    if sentence.split(',').any(acts) && !says(&WORDS.shows) {
        return Label::Step;
    }
    let phrase = |known: &String| {
        let length = known.split(' ').count();
        words.windows(length).any(|window| window.iter().copied().eq(known.split(' ')))
    };
    let possible = || says(&WORDS.possible) && WORDS.manner.iter().any(phrase);
    let heads = || words.len() <= MOST_HEADING && says(&WORDS.heading) && !says(&WORDS.not_heading);
    let unspaced = || {
        let written = if sentence.is_ascii() { String::new() } else { words.join(" ") };
        WORDS.example_unspaced.iter().any(|word| written.contains(word.as_str()))
    };
    if WORDS.example.iter().any(phrase) || possible() || heads() || unspaced() {
        Label::Example
    } else {
        Label::Nothing
    }
}

#[cfg(test)]
#[path = "../../../tests/units/label.rs"]
mod tests;
