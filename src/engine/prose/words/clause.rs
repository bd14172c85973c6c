//! The words above a call, where their sentence goes on below it: whether they speak of it, or say what is done next.
use crate::engine::Reader;

/// A longer line is looked at from here on.
const LONGEST: usize = 256;

/// What begins the sentence in which somebody says what they do next.
const STEPS: [&str; 9] = ["I'll ", "I’ll ", "I will ", "I'm ", "I’m ", "I am ", "Let me ", "Let's ", "Let’s "];

/// What a clause begins behind, and a blank.
const PARTS: [&str; 12] = [".", "!", "?", ";", ":", ",", " so", " but", " and", " then", " –", " —"];

/// What somebody does with a call, and what others did, or do.
const ACTS: [&str; 14] = [
    "run", "execute", "try", "send", "call", "use", "write", "issue", "emit", "invoke", "submit", "type", "paste",
    "repeat",
];
const DONE: [&str; 24] = [
    "ran",
    "executed",
    "tried",
    "sent",
    "called",
    "used",
    "wrote",
    "issued",
    "emitted",
    "invoked",
    "submitted",
    "typed",
    "pasted",
    "repeated",
    "runs",
    "sends",
    "calls",
    "uses",
    "writes",
    "issues",
    "emits",
    "submits",
    "types",
    "answers",
];

/// So many of the first list need nothing that is done so: a test runs as well.
const ALONE: usize = 3;

/// Who may do so, or be told to.
const WHO: [&str; 10] = ["i", "we", "you", "please", "nobody", "never", "don't", "do", "one", "they"];

/// What is said of others before these says nothing of what they do.
const OTHERS: [&str; 6] = ["i", "we", "you", "he", "she", "they"];

/// What stands between such a word and the call.
const BETWEEN: [&str; 6] = ["with", "this", "that", "anything", "something", "like"];

/// What says that it is not done, or, close to it, only might be.
const NOT: [&str; 8] = ["not", "never", "nobody", "cannot", "wrong", "dangerous", "unsafe", "bad"];
const MIGHT: [&str; 3] = ["would", "could", "might"];

/// What is not done with a call that is made.
const FORGETS: [&str; 3] = ["forget", "hesitate", "fail"];

/// Negations that may stand at the end of a line, before what they are of.
const LAST: [&str; 7] = ["not", "never", "nicht", "nie", "niemals", "jamais", "nunca"];

/// What begins a condition.
const IF: [&str; 6] = ["if", "when", "whenever", "unless", "once", "suppose"];

/// Whoever says that they do something says no condition.
const OWN: [&str; 8] = ["i'll", "i will ", "i can ", "i'm ", "let me", "let's", "we can ", "we'll"];

/// What joins a call to the words before it.
const JOINS: [[&str; 2]; 8] = [
    ["such", "as"],
    ["instead", "of"],
    ["rather", "than"],
    ["looks", "like"],
    ["look", "like"],
    ["something", "like"],
    ["anything", "like"],
    ["call", "like"],
];

/// What stands before a noun, or before a passive.
const NOUN: [&str; 9] = ["the", "a", "an", "my", "your", "any", "this", "that", "its"];
const PASSIVE: [&str; 8] = ["is", "are", "was", "were", "be", "been", "get", "got"];

/// What a call is called.
const CALLS: [&str; 9] = ["call", "command", "object", "line", "message", "request", "json", "code", "text"];

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
    let clause = last_clause(&line, &PARTS);
    let clause = clause.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut back = clause.split_ascii_whitespace().rev();
    let Some(last) = back.next() else { return false };
    let first = clause.split_ascii_whitespace().next().unwrap_or_default();
    let before = back.clone().next().unwrap_or_default();
    if LAST.contains(&last) || JOINS.contains(&[before, last]) {
        return true;
    }
    let subject = NOUN.contains(&first) && clause.split_ascii_whitespace().count() <= 4;
    if subject && CALLS.contains(&last) && below.len() > 3 && below.ends_with('s') {
        return true;
    }
    let verb = if BETWEEN.contains(&last) { back.next().unwrap_or_default() } else { last };
    let before = back.clone().next().unwrap_or_default();
    let act = ACTS.iter().position(|act| *act == verb).filter(|_| !NOUN.contains(&before));
    let done = DONE.contains(&verb) && !PASSIVE.contains(&before);
    let not = |word: &str| NOT.contains(&word) || word.ends_with("n't");
    let condition = || IF.contains(&first) && !OWN.iter().any(|own| clause.contains(own));
    let denied = || {
        let known = act.is_some_and(|act| act >= ALONE) || WHO.contains(&first) || verb != last;
        let close = back.clone().take(2).any(|word| MIGHT.contains(&word));
        let own = |word: &&str| !OTHERS.contains(word);
        if back.clone().take(2).any(|word| FORGETS.contains(&word)) {
            return false;
        }
        known && (close || not(first) && back.clone().all(|word| own(&word)) || back.take_while(own).take(3).any(not))
    };
    done || act.is_some() && (condition() || denied())
}
