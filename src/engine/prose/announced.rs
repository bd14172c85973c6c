//! What a sentence that ends in a colon says of the call below it: that it is not made, was made before, is asked for or only shows how one
//! would; or that whoever writes looks at an example, or changes one. Only what says so surely counts: else the call is made.
use super::clause::last_clause;
use crate::engine::reader::floor;

/// So much of a sentence's end says whether its call is made.
const END: usize = 128;

/// A longer sentence is no question, and no promise.
const LONGEST: usize = 256;

/// What a clause begins behind, and a blank.
const PARTS: [&str; 8] = [",", ";", ":", " so", " but", " and", " –", " —"];

/// What may stand for the call at the end of a sentence, behind its verb.
const STANDS_FOR_IT: [&str; 15] = [
    "this",
    "that",
    "it",
    "these",
    "them",
    "the",
    "a",
    "any",
    "following",
    "call",
    "calls",
    "tool",
    "function",
    "command",
    "anything",
];

/// What is done with calls, and where it has been done.
const VERBS: [&str; 12] =
    ["run", "call", "execute", "send", "use", "do", "make", "invoke", "perform", "issue", "emit", "submit"];
const DONE: [&str; 6] = ["ran", "run", "called", "executed", "sent", "made"];

/// What says that it was before.
const BEFORE: [&str; 3] = ["already", "earlier", "previously"];

/// Words between a denial and its verb.
const ADVERBS: [&str; 5] = ["ever", "just", "actually", "directly", "simply"];

/// Who may deny that they make a call, or is told not to: others may fail to do something else.
const WHO: [&str; 6] = ["i", "i'm", "we", "we're", "you", "please"];

/// What begins a sentence that asks whether it is done.
const ASKS: [&str; 11] = [
    "shall i ",
    "shall we ",
    "should i ",
    "should we ",
    "may i ",
    "can i ",
    "could i ",
    "do you want ",
    "would you like ",
    "is it ok ",
    "is it okay ",
];

/// What begins a clause that makes it wait for the other side, what that would do, and what waits: a confirmation that was given is told
/// in the past, and what is done all the same is no promise.
const WAITS: [&str; 5] = ["once ", "if ", "after ", "when ", "as soon as "];
const CONFIRMS: [&str; 7] =
    ["you confirm", "you approve", "you agree", "you confirm this", "you confirm that", "you confirm it", "you'd like"];
const PROMISES: [&str; 5] = ["i'll ", "i will ", "we'll ", "i can ", "i could "];

/// Headings of calls that are shown as wrong, and what else stands in them.
const WRONG: [&str; 5] = ["wrong", "incorrect", "avoid", "avoid this", "not this"];
const OF_CALLS: [&str; 5] = ["call", "calls", "format", "way", "usage"];

/// What is said of calls that were made before, and what they are called.
const PAST: [&str; 5] = ["previous", "earlier", "failed", "last", "first"];
const CALLS: [&str; 4] = ["call", "command", "invocation", "attempt"];

/// What ends a sentence that tells others how a call is made, and may stand behind its first word.
const LIKE_THIS: [&str; 3] = ["like this", "like so", "such as"];
const MAY: [&str; 5] = ["can", "could", "would", "may", "might"];

/// What the sentence says in its last words of the call that stands behind it: it is not made here.
pub(super) fn refuses(sentence: &str) -> bool {
    let end = in_small_letters(tail(sentence, END));
    let (all, clause) = (words(&end), last_clause(&end, &PARTS));
    // Mostly the sentence is one clause.
    let denied = if clause.len() == end.len() { denies(&all) } else { denies(&words(clause)) };
    denied
        || is_wrong(&all)
        || is_past(&all)
        || shows_how(&all)
        || sentence.len() <= LONGEST && asks(&in_small_letters(sentence))
}

/// The last bytes of the sentence, no more than `limit`.
fn tail(sentence: &str, limit: usize) -> &str {
    sentence.get(floor(sentence, sentence.len().saturating_sub(limit))..).unwrap_or_default()
}

/// What stands before a call in its line says that it is not made: `Never send`.
pub(super) fn denies_here(line: &str) -> bool {
    let sentence = in_small_letters(tail(line, END).rsplit(['.', '!', '?']).next().unwrap_or_default());
    denies(&words(last_clause(&sentence, &PARTS)))
}

/// The `sentence` in small letters, with plain apostrophes.
fn in_small_letters(sentence: &str) -> String {
    sentence.to_lowercase().replace('’', "'")
}

/// The words of a sentence in small letters, without what stands round them.
fn words(sentence: &str) -> Vec<&str> {
    let words = sentence.split(|c: char| c.is_whitespace() || c == ',');
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).filter(|word| !word.is_empty()).collect()
}

/// The words are a heading of wrong calls, and nothing else.
fn is_wrong(words: &[&str]) -> bool {
    let heading = words.strip_suffix(&["example"]).unwrap_or(words);
    let heading = heading.split_last().filter(|(last, _)| OF_CALLS.contains(last)).map_or(heading, |(_, rest)| rest);
    heading.len() <= 2 && WRONG.contains(&heading.join(" ").as_str())
}

/// The call was made before, and the sentence says nothing else: what is done to it now is done by the call below.
fn is_past(words: &[&str]) -> bool {
    match without_object(words) {
        ["i" | "we" | "i've" | "we've", before, done] | ["i" | "we", "have", before, done] if DONE.contains(done) => {
            return BEFORE.contains(before);
        }
        _ => {}
    }
    match words {
        ["the" | "my", past, call, "was"] | [past, call] => PAST.contains(past) && CALLS.contains(call),
        ["the" | "my", call, "that" | "which", "failed"] => CALLS.contains(call),
        _ => false,
    }
}

/// The words without what stands for the call at their end.
fn without_object<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    let end = words.iter().rposition(|word| !STANDS_FOR_IT.contains(word)).map_or(0, |last| last + 1);
    words.get(..end).unwrap_or_default()
}

/// The words of a clause say that the call is not to be made, or cannot be.
fn denies(words: &[&str]) -> bool {
    // "Call" stands for what is called as well as for what is done with it.
    let object = words.len() - without_object(words).len();
    let verbs = words.iter().enumerate().rev().take(object + 1);
    verbs.into_iter().any(|(i, word)| {
        let before = words.get(..i).unwrap_or_default();
        *word == "called" && before.ends_with(&["would", "have"]) || VERBS.contains(word) && is_denied(before, word)
    })
}

/// The `verb` behind these words is not done: whoever writes says so of themselves, or tells others.
fn is_denied(before: &[&str], verb: &str) -> bool {
    let end = before.iter().rposition(|word| !ADVERBS.contains(word)).map_or(0, |last| last + 1);
    let (who, sure) = match before.get(..end).unwrap_or_default() {
        [who @ .., "never" | "don't" | "won't"] | [who @ .., "do" | "will", "not"] => (who, true),
        [who @ .., "can't" | "cannot" | "mustn't" | "shouldn't"]
        | [who @ .., "can" | "must" | "should", "not"]
        | [who @ .., "not", "allowed" | "able" | "going" | "supposed", "to"]
        | [who @ .., "unable", "to"] => (who, false),
        _ => return false,
    };
    let own = who.len() <= 2 && who.first().is_none_or(|first| WHO.contains(first));
    own || sure && matches!(verb, "run" | "call")
}

/// The whole sentence asks whether the call is made, or waits for somebody to say so.
fn asks(sentence: &str) -> bool {
    let sentence = sentence.trim_matches(|c: char| !c.is_alphanumeric());
    let promises = |clause: &str| PROMISES.iter().any(|words| clause.starts_with(words));
    let waits = |clause: &str| {
        let rest = WAITS.iter().find_map(|word| clause.strip_prefix(word));
        rest.is_some_and(|rest| CONFIRMS.contains(&rest))
    };
    if ASKS.iter().any(|words| last_clause(sentence, &PARTS).starts_with(words)) {
        return true;
    }
    let ends = |word: &&str| sentence.rfind(&[" ", word].concat()).is_some_and(|at| waits(sentence.split_at(at + 1).1));
    sentence.split_once(", ").is_some_and(|(clause, rest)| waits(clause) && promises(rest))
        || promises(sentence) && WAITS.iter().any(|word| ends(&word.trim_end()))
}

/// The words tell whoever reads them how they may call.
fn shows_how(words: &[&str]) -> bool {
    let [.., "like" | "such", _] = words else { return false };
    let tail = words.get(words.len() - 2..).unwrap_or_default().join(" ");
    matches!(words, ["you" | "one", may, ..] if MAY.contains(may)) && LIKE_THIS.contains(&tail.as_str())
}

/// What may stand before the first person that begins a sentence.
const FIRST: [&str; 7] = ["now", "first", "next", "then", "so", "ok", "okay"];

/// What is done with files: an example is one of them.
const ACTS: [&str; 13] =
    ["read", "open", "check", "view", "look", "inspect", "edit", "update", "fix", "run", "test", "delete", "create"];
const ACTING: [&str; 13] = [
    "reading",
    "opening",
    "checking",
    "viewing",
    "looking",
    "inspecting",
    "editing",
    "updating",
    "fixing",
    "running",
    "testing",
    "deleting",
    "creating",
];

/// What stands before an example that is known.
const THE: [&str; 8] = ["the", "this", "that", "your", "its", "my", "these", "those"];

/// What says somewhere in the sentence that the example is shown all the same, and what does so right behind the word.
const SHOWS: [&str; 9] = ["below", "here", "explain", "you", "answer", "docs", "prompt", "following", "show"];
const OF: [&str; 8] = ["of", "call", "calls", "message", "request", "response", "output", "usage"];

/// Whoever writes the `sentence` says first of all that they look at the example which the word from `start` to `end` speaks of, or change
/// or run it.
pub(super) fn only_mentions(sentence: &str, start: usize, end: usize) -> bool {
    let part = |text: Option<&str>| in_small_letters(text.unwrap_or_default());
    let (before, word) = (part(sentence.get(..start)), part(sentence.get(start..end)));
    let behind = part(sentence.get(end..));
    let (before, behind) = (words(&before), words(&behind));
    let shown = || before.iter().chain(&behind).any(|word| SHOWS.contains(word));
    if !matches!(word.as_str(), "example" | "examples") || behind.first().is_some_and(|of| OF.contains(of)) || shown() {
        return false;
    }
    let begins = before.iter().position(|word| !FIRST.contains(word)).unwrap_or(before.len());
    let step = before.get(begins..).unwrap_or_default();
    let done = match step {
        ["let", "me", step @ ..]
        | ["i'll", step @ ..]
        | ["i", "will", step @ ..]
        | ["i'm" | "i", "am" | "going", "going" | "to", step @ ..]
        | ["i", "need" | "have", "to", step @ ..] => {
            let step = step.strip_prefix(&["to"]).unwrap_or(step);
            let begins = step.iter().position(|word| !FIRST.contains(word)).unwrap_or(step.len());
            step.get(begins..).unwrap_or_default().split_first().filter(|(act, _)| ACTS.contains(act))
        }
        step => step.split_first().filter(|(act, _)| ACTING.contains(act)),
    };
    // What is done is done to the example itself: nothing but a word for which one it is stands between.
    done.is_some_and(|(act, known)| {
        let known = if act.starts_with("look") { known.strip_prefix(&["at"]) } else { Some(known) };
        known.is_some_and(|known| known.len() <= 2 && known.first().is_some_and(|the| THE.contains(the)))
    })
}
