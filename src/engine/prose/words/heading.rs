//! Headings, and items of lists, that announce examples: by themselves, or by what they stand under.
use super::announced::{heads_wrong, in_small_letters, words};
use super::example::{COMMENTS, says_example};
use super::lexicon::{HEADINGS, HERE_ARE, JUDGES, OF_EXAMPLES, OWN_CALL, REPORTS};
use super::mentioned::in_first_person;
use crate::engine::prose::runaway::{answers, asks_as_user, is_one_of};
use crate::engine::reader::{blank, floor};

/// A heading has no longer words before its title.
const LONGEST_LABEL: usize = 64;

/// The longest colon.
const COLON: usize = '：'.len_utf8();

/// What parts a heading from its title, besides a colon.
const DASHES: [&str; 3] = [" - ", " – ", " — "];

/// What ends a sentence that goes on with another.
const SENTENCES: [&str; 3] = [". ", "! ", "? "];

/// What is written in bold stands lower than all headings with signs.
const BOLD: usize = 7;

/// The words are a heading of a bug's report.
pub(in crate::engine) fn is_of_report(words: &str) -> bool {
    let words = ["The ", "the "].iter().find_map(|the| words.strip_prefix(the)).unwrap_or(words);
    let words = [" is", " was", " would be"].iter().find_map(|is| words.strip_suffix(is)).unwrap_or(words);
    is_one_of(words, REPORTS)
}

/// The `line` is a heading, by its signs or as all of it is bold, or a comment, and announces an example. It may have a number and a
/// title: then it is one without signs as well (`Example 1: The weather in Oslo`).
pub(in crate::engine) fn announces_example(line: &str) -> bool {
    let line = line.trim_matches(blank);
    let comment = || COMMENTS.iter().find_map(|sign| line.strip_prefix(sign)).map(|text| text.trim_end_matches("-->"));
    let marked = bold(line).or_else(comment);
    let text = marked.unwrap_or(line).trim_matches(['#', '*', '/', ' ']);
    // Of a longer line without signs the label is too long, or it has none: it need not be looked through for its colon.
    let plain = if marked.is_none() { text.get(..floor(text, LONGEST_LABEL + COLON)).unwrap_or(text) } else { text };
    let colon = plain.split_once([':', '：']).map(|(label, _)| label);
    let dash =
        || DASHES.iter().filter(|_| marked.is_some()).find_map(|dash| text.split_once(dash)).map(|(label, _)| label);
    let titled = colon.or_else(dash);
    let label = titled.unwrap_or(text);
    if label.len() > LONGEST_LABEL || marked.is_none() && titled.is_none() {
        return false;
    }
    let words = || label.split([' ', '*']).filter(|word| !word.is_empty());
    let heads = |word: &str| marked.is_some() && titled.is_none() && is_one_of(word, HEADINGS);
    let says = |word: &str| heads(word) || says_example(word, false);
    let of_it = |word: &str| is_number(word) || is_one_of(word, OF_EXAMPLES) || is_one_of(word, JUDGES);
    let announced = words().all(|word| of_it(word) || says(word)) && words().any(says);
    // Of one without signs the title is no paragraph.
    let is_title = || !SENTENCES.iter().any(|end| text.get(label.len()..).is_some_and(|title| title.contains(end)));
    announced && (marked.is_some() || is_title()) || marked.is_some() && is_of_report(text)
}

/// The `line` is a heading that says of the call right below it, and of nothing under further headings, that it is wrong.
pub(in crate::engine) fn heads_wrong_call(line: &str) -> bool {
    let line = line.trim_matches(blank);
    level(line).is_some() && heads_wrong(line.trim_matches(['#', '*', ' ']))
}

/// What stands between the stars of a `line` that is all bold.
fn bold(line: &str) -> Option<&str> {
    line.strip_prefix("**").and_then(|line| line.strip_suffix("**"))
}

/// The `word` says which of several examples it is: `1`, `#2`, `B`.
fn is_number(word: &str) -> bool {
    let number = word.trim_matches(['#', '(', ')', '.']);
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits || matches!(number.as_bytes(), [letter] if letter.is_ascii_uppercase())
}

/// How far down the heading stands that the `line` is, if it is one.
fn level(line: &str) -> Option<usize> {
    let line = line.trim_matches(blank);
    let signs = line.bytes().take_while(|byte| *byte == b'#').count();
    if signs > 0 && signs < BOLD && line.as_bytes().get(signs) == Some(&b' ') {
        return Some(signs);
    }
    bold(line).map(|_| BOLD)
}

/// The `line` parts what stands above it from what follows: a heading, by its signs or as all of it is bold, or a rule.
pub(in crate::engine) fn parts(line: &str) -> bool {
    line.starts_with('#') || level(line).is_some() || is_rule(line)
}

/// The `line` is a rule of Markdown's: `---`, `***`, `* * *`.
pub(in crate::engine) fn is_rule(line: &str) -> bool {
    let line = line.trim_matches(blank);
    let sign = line.chars().next().filter(|sign| matches!(sign, '-' | '*' | '_'));
    sign.is_some_and(|sign| line.chars().all(|c| c == sign || c == ' ') && line.matches(sign).count() >= SHORTEST_RULE)
}

/// A rule has no fewer signs.
const SHORTEST_RULE: usize = 3;

/// The line that begins at `start` and ends the `text` is a heading that stands under one that announces examples: right under it, or
/// behind the `last` example. Behind words it may be a step, and a section with a number is one of a plan.
pub(in crate::engine) fn is_under_examples(text: &str, start: usize, last: Option<usize>) -> bool {
    let Some(mut lowest) = text.get(start..).and_then(level) else { return false };
    let above = text.get(..start).and_then(|above| above.strip_suffix('\n'));
    let (mut start, mut alone) = (start, true);
    for line in above.into_iter().flat_map(|above| above.rsplit('\n')) {
        start = start.saturating_sub(line.len() + 1);
        let Some(above) = level(line).filter(|above| *above < lowest) else {
            alone &= line.trim_ascii().is_empty();
            continue;
        };
        if announces_example(line) {
            return !is_numbered(line) && (alone || last.is_some_and(|last| last > start));
        }
        lowest = above;
    }
    false
}

/// The line that begins at `start` and ends the `text` is a label, without its colon, that is the title of an example: it stands right
/// under a heading that announces examples, or, if that speaks of several, right behind the `last` one. Whoever speaks of a call of their
/// own makes it.
pub(in crate::engine) fn is_titled_example(text: &str, start: usize, last: Option<usize>) -> bool {
    let Some((above, title)) = text.split_at_checked(start) else { return false };
    // Behind another sentence it is the end of a paragraph.
    let said = SENTENCES.iter().any(|end| title.contains(end));
    if title.len() > LONGEST_LABEL || said || !title.starts_with(|c: char| c.is_uppercase()) {
        return false;
    }
    let examples = |line: &str| level(line).is_some() && announces_example(line) && !is_numbered(line);
    let above = above.trim_ascii_end();
    let line = above.rsplit('\n').next().unwrap_or_default();
    let headed = || {
        last.is_some() && line.ends_with(['}', ']', ')', '>', '`']) && {
            let heading = above.rsplit('\n').find(|line| level(line).is_some());
            heading.is_some_and(|line| examples(line) && in_small_letters(line).contains("examples"))
        }
    };
    (examples(line) || headed()) && !words(&in_small_letters(title)).iter().any(|word| OWN_CALL.contains(word))
}

/// The heading `line` has a number before its words: it is one of a plan.
fn is_numbered(line: &str) -> bool {
    line.trim_start_matches(['#', '*', ' ']).starts_with(|c: char| c.is_ascii_digit())
}

/// So many lines of a conversation stand between a call and what announces it as an example.
const MOST_TURNS: usize = 4;

/// The line that begins at `start` and ends the `text` is one of a conversation, and that stands right under what announces it as an
/// example.
pub(in crate::engine) fn is_turn_of_example(text: &str, start: usize) -> bool {
    let spoken = |line: &&str| asks_as_user(line) || answers(line);
    // Mostly the last line, which may be long, is none.
    if !text.get(start..).is_some_and(|line| spoken(&line)) {
        return false;
    }
    let lines = || text.rsplit('\n').filter(|line| !line.trim_ascii().is_empty());
    let turns = lines().take(MOST_TURNS).take_while(spoken).count();
    turns > 0 && lines().nth(turns).is_some_and(announces_example)
}

/// Nothing but the sign of an item of a list stands in `line`.
pub(in crate::engine) fn is_item_sign(line: &str) -> bool {
    let sign = line.trim_matches(blank);
    !sign.contains(' ') && item(sign).is_some()
}

/// The `line` is an item of the list in which the one `above` is the one before it, and says nothing that whoever writes does. Some give
/// all the same number, but a lower one begins another list.
pub(in crate::engine) fn is_next_item(line: &str, above: &str) -> bool {
    let follows = match (item(above), item(line)) {
        (Some(0), number) => number == Some(0),
        (Some(above), Some(number)) => number == above || number == above + 1,
        _ => false,
    };
    follows && !in_first_person(line)
}

/// The number of the item that the `line` is in a list, and 0 if that has none. The number may be a letter, stand in brackets, in a heading
/// or in bold, or behind the word for what is counted, then with a colon, too.
fn item(line: &str) -> Option<usize> {
    let line = line.trim_matches(blank);
    let apart = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    if ["-", "*", "•", "+", "–"].iter().any(|sign| line.strip_prefix(sign).is_some_and(apart)) {
        return Some(0);
    }
    let line = line.trim_start_matches(['#', '*', '_', ' ']);
    let counted = line.bytes().take(LONGEST_COUNTED).take_while(u8::is_ascii_alphabetic).count();
    let counted = line.get(counted..)?.strip_prefix(' ').filter(|_| counted > 1);
    let line = counted.unwrap_or_else(|| line.strip_prefix('(').unwrap_or(line));
    // Whatever stands behind the first sign that no number has, the line may be long.
    let digits = line.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'+').count();
    let letter = line.bytes().next().filter(|byte| digits == 0 && counted.is_none() && byte.is_ascii_lowercase());
    let (number, rest) = line.split_at_checked(digits.max(letter.iter().count()))?;
    let behind = rest.strip_prefix(['.', ')']).or_else(|| rest.strip_prefix(':').filter(|_| counted.is_some()));
    if !(behind.is_some_and(|behind| apart(behind.trim_start_matches(['*', '_'])))
        || counted.is_some() && rest.is_empty())
    {
        return None;
    }
    match letter {
        Some(letter) => Some(usize::from(letter - b'a') + 1),
        None => number.parse::<u16>().ok().map(usize::from),
    }
}

/// The word for what is counted is no longer: "Step", "Option".
const LONGEST_COUNTED: usize = 16;

/// What introduces a list, and whether the items of that are words: none of the calls stands below the one above.
pub(in crate::engine) struct ListHead<'t> {
    pub(in crate::engine) line: &'t str,
    pub(in crate::engine) of_words: bool,
}

/// What introduces the list in which the line is an item that begins at `start` and ends the `text`: above it stand the items before
/// it, by their numbers, or lines that are nothing else. One in the first person is a step.
pub(in crate::engine) fn head_of_list(text: &str, start: usize) -> Option<ListHead<'_>> {
    let (above, line) = text.split_at_checked(start)?;
    let mut number = item(line).filter(|_| !in_first_person(line))?;
    // Until the item above it was seen.
    let (mut of_words, mut calls) = (None, false);
    let mut lines = above.rsplit('\n');
    while let Some(line) = lines.next() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let margin = line.starts_with([' ', '\t']);
        let known = item(line);
        calls |= of_words.is_none() && ends_call(line);
        match (number, known) {
            (0, known) if margin || known == Some(0) => of_words = of_words.or(known.map(|_| !calls)),
            (0 | 1, _) => {
                let of_words = of_words.unwrap_or_else(|| {
                    // As those of the list above it in a bug's report are.
                    let mut above = lines.filter(|line| !line.trim_ascii().is_empty());
                    let words = |line: &str| item(line).is_some() && !ends_call(line);
                    !calls && is_report(line) && above.next().is_some_and(words)
                });
                return Some(ListHead { line, of_words });
            }
            (_, Some(above)) if above + 1 == number => {
                number = above;
                of_words = of_words.or(Some(!calls));
            }
            // Another list goes on there.
            (_, Some(above)) if above >= number && !margin => return None,
            _ if known.is_none() && heads(line) => return None,
            _ => {}
        }
    }
    None
}

/// The `line` is a label of a bug's report.
fn is_report(line: &str) -> bool {
    is_of_report(line.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// A call may end in the `line`, or the fence round one.
fn ends_call(line: &str) -> bool {
    let line = line.trim_matches(blank);
    match line.as_bytes().last() {
        Some(b'}') => true,
        Some(b']') => line.ends_with("}]") || line.ends_with(")]") || line == "]",
        Some(b'>') => line.contains("</") || line.contains('|'),
        Some(b'`') => line.ends_with("```") || line.ends_with("}`") || line.ends_with(")`"),
        Some(b'~') => line.ends_with("~~~"),
        // A remark in brackets stands behind a blank.
        Some(b')') => line == ")" || !line.contains(" (") && line.contains('('),
        _ => false,
    }
}

/// The `line` introduces something else than an item of the list that goes on below it.
fn heads(line: &str) -> bool {
    // Mostly it is a line of a call.
    !line.starts_with([' ', '\t', '{', '}'])
        && line.trim_end_matches(['*', '_', ' ', '\r']).ends_with([':', '：'])
        && item(line).is_none()
}

/// The line that begins at `start` and ends the `text` is an item of a list of examples: the first one below what announces them, or the
/// next one behind an item below which the `last` example stands.
pub(in crate::engine) fn is_item_of_examples(text: &str, start: usize, last: Option<usize>) -> bool {
    let Some((above, line)) = text.split_at_checked(start) else { return false };
    let mut rest = above.strip_suffix('\n').unwrap_or_default();
    // Whoever writes what they do next calls.
    let Some(number) = item(line).filter(|_| !in_first_person(line)) else { return false };
    let above = rest.trim_ascii_end();
    if number <= 1 && above.rsplit('\n').next().is_some_and(announces_list) {
        return true;
    }
    let Some(last) = last else { return false };
    while let Some((above, line)) = rest.rsplit_once('\n') {
        if item(line).is_some_and(|before| number == 0 && before == 0 || before + 1 == number) {
            return last > above.len();
        }
        if heads(line) {
            return false;
        }
        rest = above;
    }
    false
}

/// The list that the `text` ends in is headed by what announces examples.
pub(in crate::engine) fn is_list_of_examples(text: &str) -> bool {
    let mut rest = text;
    while let Some((above, line)) = rest.rsplit_once('\n') {
        let headed = || above.trim_ascii_end().rsplit('\n').next().is_some_and(announces_list);
        if item(line).is_some_and(|number| number <= 1) && headed() {
            return true;
        }
        rest = above;
    }
    false
}

/// The `line` announces examples: a heading, or a label that says nothing else. A sentence about examples heads the steps that are done.
fn announces_list(line: &str) -> bool {
    let line = line.trim_matches(blank);
    let label = line.trim_end_matches(['*', '_']).strip_suffix([':', '：']).unwrap_or(line);
    // The title of one that goes on to a list is a sentence.
    !label.contains([':', '：'])
        && announces_example(HERE_ARE.iter().find_map(|here| line.strip_prefix(here)).unwrap_or(line))
}
