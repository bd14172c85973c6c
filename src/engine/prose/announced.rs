//! What a sentence that ends in a colon says of the call below it: that it is an example, that it is not made, was made before, or is
//! asked for; or that whoever writes does something now.
use crate::engine::reader::floor;

/// So much of a sentence's end says whether its call is made.
const END: usize = 128;

/// What may stand for the call at the end of a sentence, behind its verb.
const STANDS_FOR_IT: [&str; 18] = [
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
    "commands",
    "like",
    "again",
    "anything",
];

/// What is done with calls.
const VERBS: [&str; 12] =
    ["run", "call", "execute", "send", "use", "do", "make", "invoke", "perform", "issue", "emit", "submit"];

/// The same, where it has been done.
const DONE: [&str; 13] = [
    "ran",
    "run",
    "called",
    "executed",
    "sent",
    "used",
    "did",
    "made",
    "invoked",
    "performed",
    "issued",
    "emitted",
    "submitted",
];

/// What says before a verb that it is not done.
const NEVER: [&str; 18] = [
    "never",
    "don't",
    "don’t",
    "won't",
    "won’t",
    "can't",
    "can’t",
    "cannot",
    "mustn't",
    "mustn’t",
    "shouldn't",
    "shouldn’t",
    "couldn't",
    "couldn’t",
    "wouldn't",
    "wouldn’t",
    "didn't",
    "didn’t",
];
const NOT: [&str; 8] = ["do", "will", "can", "must", "should", "could", "would", "did"];

/// What says of something that is to be done that it is not: "not allowed to".
const NOT_TO: [&str; 7] = ["allowed", "able", "going", "supposed", "permitted", "unable", "refuse"];

/// Words between those and the verb.
const ADVERBS: [&str; 6] = ["ever", "just", "actually", "directly", "simply", "already"];

/// What says that it was done in the past.
const BEFORE: [&str; 3] = ["already", "earlier", "previously"];

/// What is called is one of these.
const CALLS: [&str; 5] = ["call", "calls", "command", "invocation", "attempt"];

/// What begins a sentence that asks whether it is done.
const ASKS: [&str; 14] = [
    "shall i ",
    "shall we ",
    "should i ",
    "should we ",
    "may i ",
    "can i ",
    "could i ",
    "do you want ",
    "would you like ",
    "do i have ",
    "want me to ",
    "is it ok ",
    "is it okay ",
    "am i allowed ",
];

/// What begins a clause that makes it wait for the other side.
const WAITS: [&str; 13] = [
    "once you confirm",
    "once you approve",
    "once you agree",
    "once you say",
    "once you give",
    "once confirmed",
    "once approved",
    "if you agree",
    "if you confirm",
    "if you approve",
    "after you confirm",
    "after you approve",
    "when you confirm",
];

/// The same, where it is all of a clause.
const WAITS_ALONE: [&str; 5] = ["if you want", "if you'd like", "if you’d like", "if you like", "if you would like"];

/// Headings of calls that are shown as wrong, and those of the right ones beside them.
const WRONG: [&str; 7] = ["wrong", "incorrect", "bad", "avoid", "avoid this", "not this", "invalid"];
const RIGHT: [&str; 5] = ["right", "correct", "good", "instead", "valid"];

/// What else stands in such a heading.
const OF_CALLS: [&str; 9] = ["call", "calls", "format", "way", "usage", "example", "version", "output", "tool"];

/// Headings of what was called before.
const PAST: [&str; 3] = ["previous", "earlier", "failed"];

/// What says at the end of a sentence that its call only shows how one is made: by whoever reads it, or by anybody.
const LIKE_THIS: &str = "like this";
const SUCH_AS: [&str; 2] = ["like so", "such as"];

/// What the sentence, in small letters, says in its last words of the call that stands behind it: it is not made here.
pub(super) fn refuses(sentence: &str) -> bool {
    let from = floor(sentence, sentence.len().saturating_sub(END));
    let words = words(sentence.get(from..).unwrap_or_default());
    heads(&words, &WRONG) || words.len() > 1 && heads(&words, &PAST) || denies(&words) || is_past(&words)
}

/// What stands in the line of a call before it says that it is not made: `Never send`.
pub(super) fn denies_here(line: &str) -> bool {
    let end = line.get(floor(line, line.len().saturating_sub(END))..).unwrap_or_default();
    let sentence = end.rsplit(['.', '!', '?']).next().unwrap_or_default().to_lowercase();
    denies(&words(&sentence))
}

/// The whole `sentence`, in small letters, asks whether the call is made, or waits for somebody to say so.
pub(super) fn asks(sentence: &str) -> bool {
    let sentence = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let asks = |clause: &str| ASKS.iter().any(|words| clause.starts_with(words));
    let waits = |clause: &str| {
        WAITS.iter().any(|words| clause.starts_with(words))
            || WAITS_ALONE.iter().any(|words| clause.strip_prefix(words).is_some_and(|rest| rest.trim().is_empty()))
    };
    let last = sentence.rfind(" if ").and_then(|at| sentence.get(at + 1..)).unwrap_or_default();
    sentence.split(", ").any(|clause| asks(clause) || waits(clause)) || waits(last)
}

/// The `sentence`, in small letters, is the heading of a right call, as stands beside wrong ones.
pub(super) fn is_right(sentence: &str) -> bool {
    heads(&words(sentence), &RIGHT)
}

/// The words of a sentence in small letters, without what stands round them.
fn words(sentence: &str) -> Vec<&str> {
    let words = sentence.split(|c: char| c.is_whitespace() || c == ',');
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).filter(|word| !word.is_empty()).collect()
}

/// The words are a heading that begins with one of `known`, and has nothing else in it but what calls are called.
fn heads(words: &[&str], known: &[&str]) -> bool {
    let known = |words: &[&str]| known.contains(&words.join(" ").as_str());
    let rest = words.iter().rposition(|word| !OF_CALLS.contains(word)).map_or(0, |last| last + 1);
    (1..=2).contains(&rest) && words.get(..rest).is_some_and(known) && words.len() <= 3
}

/// The words without what stands for the call at their end.
fn without_object<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    let end = words.iter().rposition(|word| !STANDS_FOR_IT.contains(word)).map_or(0, |last| last + 1);
    words.get(..end).unwrap_or_default()
}

/// The call is not to be made, or cannot be.
fn denies(words: &[&str]) -> bool {
    // "Call" stands for what is called as well as for what is done with it.
    let object = words.len() - without_object(words).len();
    let verbs = words.iter().enumerate().rev().take(object + 1);
    verbs.into_iter().any(|(i, word)| {
        let before = words.get(..i).unwrap_or_default();
        *word == "called" && before.ends_with(&["would", "have"]) || VERBS.contains(word) && is_denied(before)
    })
}

/// What stands behind these words is not done.
fn is_denied(before: &[&str]) -> bool {
    let end = before.iter().rposition(|word| !ADVERBS.contains(word)).map_or(0, |last| last + 1);
    match before.get(..end).unwrap_or_default() {
        [.., last] if NEVER.contains(last) => true,
        [.., aux, "not"] => NOT.contains(aux),
        [.., "not", able, "to"] => NOT_TO.contains(able),
        [.., "unable" | "refuse", "to"] => true,
        _ => false,
    }
}

/// The call was made before.
fn is_past(words: &[&str]) -> bool {
    let called = |words: &[&str]| words.iter().rev().take(4).any(|word| CALLS.contains(word));
    match words {
        [before @ .., "was"] => return called(before),
        [before @ .., "that" | "which", "failed"] => return called(before),
        _ => {}
    }
    match without_object(words) {
        [.., done, before] if BEFORE.contains(before) => DONE.contains(done),
        [.., before, done] if BEFORE.contains(before) => DONE.contains(done),
        [.., "have" | "i've" | "i’ve", "executed" | "run"] => true,
        _ => false,
    }
}

/// What begins what whoever writes does now, and whoever is about to.
const DOES: [&str; 32] = [
    "let me ",
    "let's ",
    "let’s ",
    "i'll ",
    "i’ll ",
    "i will ",
    "i'm going to ",
    "i’m going to ",
    "i am going to ",
    "i need to ",
    "i have to ",
    "i must ",
    "we'll ",
    "we’ll ",
    "we will ",
    "i'm now ",
    "i am now ",
    "ich ",
    "veamos ",
    "voy a ",
    "vamos a ",
    "déjame ",
    "je vais ",
    "vou ",
    "deixe-me ",
    "vediamo ",
    "让我",
    "我来",
    "我将",
    "我会",
    "我要",
    "我先",
];

/// The same, where a sentence begins with it: it speaks of no call.
const DOING: [&str; 22] = [
    "running",
    "reading",
    "checking",
    "looking",
    "opening",
    "executing",
    "fetching",
    "searching",
    "writing",
    "creating",
    "adding",
    "updating",
    "testing",
    "trying",
    "getting",
    "deleting",
    "editing",
    "fixing",
    "listing",
    "loading",
    "building",
    "reviewing",
];

/// Verbs of somebody who only shows something, or does nothing yet: whole words with a blank behind them, others as they begin.
const SHOWS: [&str; 47] = [
    "show ",
    "give ",
    "share ",
    "explain ",
    "illustrate ",
    "demonstrate ",
    "provide ",
    "describe ",
    "present ",
    "offer ",
    "walk you",
    "tell ",
    "take you",
    "not ",
    "never",
    "answer ",
    "respond ",
    "reply ",
    "outline ",
    "quote ",
    "zeig",
    "geb",
    "nenn",
    "erklär",
    "würde",
    "kann",
    "könnte",
    "habe",
    "mostr",
    "muestr",
    "enseñ",
    "dar ",
    "explic",
    "montre",
    "donner",
    "expliqu",
    "给",
    "給",
    "举",
    "舉",
    "展示",
    "演示",
    "说明",
    "說明",
    "解释",
    "解釋",
    "示范",
];

/// What says before a step that it depends on something, or would be taken.
const WOULD: [&str; 5] = ["if ", "when ", "whenever ", "wenn ", "如果"];

/// So much behind the words that begin a step is looked at for what is done.
const STEP: usize = 24;

/// Articles and such: the example that is spoken of is known.
const THE: [&str; 30] = [
    "the", "this", "that", "your", "their", "his", "its", "my", "our", "these", "those", "all", "der", "die", "das",
    "dem", "den", "dein", "deine", "ihr", "el", "los", "este", "ese", "le", "les", "o", "os", "il", "lo",
];

/// Words behind the one for an example that say what it is one of.
const OF: [&str; 9] = ["of", "request", "response", "call", "calls", "output", "tool", "usage", "invocation"];

/// What says that an example follows, wherever it stands in its sentence, and what does so before the word for one.
const FOR_EXAMPLE: [&str; 15] = [
    "e.g.",
    "eg",
    "eg.",
    "for instance",
    "z.b.",
    "bijvoorbeeld",
    "например",
    "例如",
    "比如",
    "たとえば",
    "例えば",
    "예를 들어",
    "örneğin",
    "ví dụ",
    "esimerkiksi",
];
const FOR: [&str; 7] = ["for", "par", "por", "zum", "per", "na", "bir"];

/// Whoever writes the `sentence` says what they do next, and the word from `start` to `end`, which mostly announces an example, is only
/// one of its words: what is looked at, or where.
pub(super) fn only_mentions(sentence: &str, start: usize, end: usize) -> bool {
    let lower = sentence.to_lowercase();
    // Letters that change their length with their case are rare, and the places in question say little then.
    if lower.len() != sentence.len() {
        return false;
    }
    let Some(step) = begins_step(&lower) else { return false };
    let gerund = lower.get(step..).is_some_and(|text| DOING.iter().any(|word| text.starts_with(word)));
    let word = lower.get(start..end).unwrap_or_default();
    let before = lower.get(..start).unwrap_or_default();
    let behind = words(lower.get(end..).unwrap_or_default());
    let ahead = words(before);
    if word.contains("like this") {
        return false;
    }
    if word.contains("look") || matches!(word, "sieht so aus" | "ressemble à" | "se ve así") {
        let asked = ahead.iter().any(|word| matches!(*word, "what" | "how"));
        return !gerund && (asked || !behind.is_empty());
    }
    let for_example = FOR_EXAMPLE.contains(&word) || ahead.last().is_some_and(|word| FOR.contains(word));
    if for_example {
        return !behind.is_empty() && start > step;
    }
    if !word.is_ascii() && !word.chars().any(|c| c.is_alphabetic() && c < '\u{1100}') {
        // Scripts that do not part words say in front of it which one is meant.
        let known = before.trim_end_matches(['个', '個', '些', '的']);
        return known.ends_with(['这', '這', '那', '该', '該', '此']) || before.ends_with('的');
    }
    let of = behind.first().copied().filter(|word| OF.contains(word));
    if of == Some("of") {
        return false;
    }
    let near = ahead.get(ahead.len().saturating_sub(2)..).unwrap_or_default();
    let known = near.iter().any(|word| THE.contains(word)) && !near.contains(&"following");
    known || of.is_none() && !behind.is_empty()
}

/// Where the first words stand that say what is done next, if it is more than showing something.
fn begins_step(sentence: &str) -> Option<usize> {
    let begins = sentence.len() - sentence.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
    let text = sentence.get(begins..)?;
    if DOING.iter().any(|word| text.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '))) {
        return Some(begins);
    }
    let stands = |at: usize, word: &str| {
        let before = sentence.get(..at).and_then(|text| text.chars().next_back());
        !word.is_ascii() || before.is_none_or(|c| !c.is_alphanumeric())
    };
    let steps = DOES.iter().filter_map(|word| Some((sentence.find(word).filter(|at| stands(*at, word))?, word.len())));
    let (at, length) = steps.min()?;
    let ahead = sentence.get(..at)?;
    if WOULD.iter().any(|word| text.starts_with(word) || ahead.contains(&[" ", word].concat())) {
        return None;
    }
    let step = sentence.get(at + length..)?;
    let step = step.get(..floor(step, STEP)).unwrap_or_default();
    let whole = words(step);
    let shows = |word: &str| match word.strip_suffix(' ') {
        Some(word) => whole.contains(&word),
        None if word.is_ascii() => step.starts_with(word) || step.contains(&[" ", word].concat()),
        None => step.contains(word),
    };
    (!SHOWS.iter().any(|word| shows(word))).then_some(at)
}

/// The `sentence`, in small letters, ends in words that say that its call is an example, unless somebody says what they do.
pub(super) fn shows_how(sentence: &str) -> bool {
    let end = sentence.get(floor(sentence, sentence.len().saturating_sub(END))..).unwrap_or_default();
    let end = end.trim_end_matches(|c: char| !c.is_alphanumeric());
    let stands = |word: &str| {
        end.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with([' ', ',', '(']))
    };
    let yours = |sentence: &str| words(sentence).iter().any(|word| matches!(*word, "you" | "one"));
    let shows = SUCH_AS.iter().any(|word| stands(word)) || stands(LIKE_THIS) && yours(sentence);
    shows && begins_step(sentence).is_none()
}
