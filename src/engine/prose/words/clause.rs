//! The words above a call, where their sentence goes on below it: whether they speak of it, or say what is done next.
use super::lexicon::{
    ACTS_ALONE, ACTS_ON_CALL, BEFORE_CALL, BEFORE_NOUN, BEFORE_PASSIVE, CALLED, DONE_TO_CALL, FORGETS, IF, JOINS,
    LAST_NOT, MIGHT, NOT, OWN_STEPS, PARTS, PERSONS, STEPS, WHO_ACTS,
};
use crate::engine::Reader;

/// A longer line is looked at from here on.
const LONGEST: usize = 256;

/// The line that ends at `end`, as far as it is looked at.
fn line_before<'t>(cx: &Reader<'t>, end: usize) -> &'t str {
    let near = cx.before(end, LONGEST);
    near.rsplit('\n').next().unwrap_or_default()
}

/// What of the `text` stands behind the last of these `parts` and a blank.
pub(in crate::engine) fn last_clause<'t>(text: &'t str, parts: &[&str]) -> &'t str {
    let blanks = memchr::memrchr_iter(b' ', text.as_bytes()).filter_map(|at| text.split_at_checked(at));
    let mut begins = blanks.filter(|(before, _)| parts.iter().any(|part| before.ends_with(part)));
    begins.next().and_then(|(_, clause)| clause.get(1..)).unwrap_or(text)
}

/// The line that ends at `end` says what is done next.
pub(in crate::engine) fn says_step(cx: &Reader<'_>, end: usize) -> bool {
    let sentence = line_before(cx, end).rsplit(". ").next().unwrap_or_default().trim_ascii_start();
    STEPS.iter().any(|step| sentence.starts_with(step)) && !sentence.contains(" not ")
}

/// The line that ends at `end` speaks of the call below it, of which the sentence says more below that, with the word `below`: it is
/// not done, was done, might be, or is what the sentence is about.
pub(in crate::engine) fn speaks(cx: &Reader<'_>, end: usize, below: &str) -> bool {
    let line = line_before(cx, end).replace('’', "'").to_lowercase();
    let clause = last_clause(&line, PARTS);
    let clause = clause.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut back = clause.split_ascii_whitespace().rev();
    let Some(last) = back.next() else { return false };
    let first = clause.split_ascii_whitespace().next().unwrap_or_default();
    let before = back.clone().next().unwrap_or_default();
    if LAST_NOT.contains(&last) || JOINS.contains(&[before, last]) {
        return true;
    }
    let subject = BEFORE_NOUN.contains(&first) && clause.split_ascii_whitespace().count() <= 4;
    if subject && CALLED.contains(&last) && below.len() > 3 && below.ends_with('s') {
        return true;
    }
    let verb = if BEFORE_CALL.contains(&last) { back.next().unwrap_or_default() } else { last };
    let before = back.clone().next().unwrap_or_default();
    let act = ACTS_ON_CALL.iter().position(|act| *act == verb).filter(|_| !BEFORE_NOUN.contains(&before));
    let done = DONE_TO_CALL.contains(&verb) && !BEFORE_PASSIVE.contains(&before);
    let not = |word: &str| NOT.contains(&word) || word.ends_with("n't");
    let condition = || IF.contains(&first) && !OWN_STEPS.iter().any(|own| clause.contains(own));
    let denied = || {
        let known = act.is_some_and(|act| act >= ACTS_ALONE) || WHO_ACTS.contains(&first) || verb != last;
        let close = back.clone().take(2).any(|word| MIGHT.contains(&word));
        let own = |word: &&str| !PERSONS.contains(word);
        if back.clone().take(2).any(|word| FORGETS.contains(&word)) {
            return false;
        }
        known && (close || not(first) && back.clone().all(|word| own(&word)) || back.take_while(own).take(3).any(not))
    };
    done || act.is_some() && (condition() || denied())
}
