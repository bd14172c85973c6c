//! What a sentence that ends in a colon says of calls in general: how whoever reads it is to write them, or what some model wrote
//! instead of calling. The first person does neither, but calls.
use super::announced::{in_small_letters, words};
use crate::engine::{Look, Reader};

/// A longer sentence says more than that.
const LONGEST: usize = 256;

/// Who speaks of their own call, or hands one over.
const OWN: [&str; 18] = [
    "i", "i'll", "i'm", "i've", "i'd", "we", "we'll", "we're", "let", "let's", "me", "my", "our", "here", "here's",
    "now", "us", "above",
];

/// What is told to do something with a call, behind words that may stand before it.
const ORDERS: [&str; 24] = [
    "respond", "reply", "answer", "output", "use", "return", "write", "emit", "follow", "provide", "produce",
    "generate", "print", "call", "invoke", "format", "send", "run", "execute", "make", "give", "adhere", "stick",
    "wrap",
];
const BEFORE_ORDERS: [&str; 10] =
    ["please", "then", "always", "only", "just", "simply", "you", "must", "strictly", "and"];

/// What somebody has to do, and what they may.
const MUST: [&str; 6] = ["must", "should", "shall", "have", "need", "are"];
const TO: &str = "to";
const CAN: [&str; 4] = ["can", "may", "will", "could"];

/// What whoever reads it writes as an answer, and what is done with that alone: something else of theirs (`your config`) is written by
/// a call.
const ANSWERS: [&str; 9] =
    ["answer", "answers", "output", "outputs", "response", "responses", "reply", "replies", "calls"];
const ANSWER: [&str; 6] = ["respond", "reply", "answer", "output", "emit", "return"];
const TOOLS: [&str; 4] = ["tool", "tools", "call", "calls"];

/// What calls follow, and what is said of it.
const FORMATS: [&str; 3] = ["format", "formats", "syntax"];
const THIS: [&str; 7] = ["this", "following", "these", "exact", "below", "same", "such"];
const ENDS: [[&str; 2]; 4] = [["like", "this"], ["like", "so"], ["as", "follows"], ["this", "way"]];

/// What else has a format that somebody is to write: a call writes it.
const FILES: [&str; 9] = ["file", "files", "document", "report", "page", "code", "script", "table", "readme"];

/// So many words may stand between the last two.
const BETWEEN: usize = 3;

/// What such a format is of in general, and what its subject does: of one call it is said where that is made.
const CALLS: [&str; 9] =
    ["calls", "tools", "functions", "outputs", "responses", "answers", "requests", "arguments", "actions"];
const FOLLOW: [&str; 14] = [
    "must", "should", "shall", "follow", "follows", "use", "uses", "have", "has", "take", "takes", "are", "needs",
    "need",
];

/// What begins a condition, and what of whoever reads it is the condition.
const WHEN: [&str; 4] = ["when", "whenever", "if", "once"];
const GENERAL: [&str; 5] = ["you", "you'd", "you're", "calling", "using"];

/// What calls are for in general: `to call a tool`. Other conditions are of a step of the work: `If you want to start it`.
const CALL: [&str; 8] = ["call", "use", "invoke", "execute", "run", "make", "calling", "using"];
const ANY: [&[&str]; 10] = [
    &["a", "tool"],
    &["a", "function"],
    &["any", "tool"],
    &["any", "function"],
    &["tools"],
    &["functions"],
    &["the", "tools"],
    &["the", "functions"],
    &["one", "of", "the", "tools"],
    &["one", "of", "the", "functions"],
];

/// The sentence tells how calls are to be written in general, or what was written instead of one.
pub(in crate::engine) fn instructs(sentence: &str) -> bool {
    if sentence.len() > LONGEST {
        return false;
    }
    let sentence = in_small_letters(sentence);
    let clauses: Vec<Vec<&str>> = sentence.split([',', ';']).map(words).collect();
    let all = || clauses.iter().flatten();
    if all().any(|word| OWN.contains(word) || FILES.contains(word)) {
        return false;
    }
    let last = clauses.last().map(Vec::as_slice).unwrap_or_default();
    let ordered = clauses.iter().any(|clause| orders(clause));
    let asked = clauses.iter().any(|clause| depends(clause)) && (orders(last) || may(last));
    names_format(last) && (ordered || clauses.iter().any(|clause| prescribes(clause)))
        || asked
        || tells_instead(&clauses)
}

/// The clause tells whoever reads it to do something.
fn orders(clause: &[&str]) -> bool {
    let before = |word: &&&str| BEFORE_ORDERS.contains(word) || MUST.contains(word) || **word == TO;
    let first = clause.iter().find(|word| !before(word));
    let must = |what: &str, modal: &str| ANSWERS.contains(&what) && MUST.contains(&modal);
    first.is_some_and(|word| ORDERS.contains(word))
        || matches!(clause, ["your", what, modal, ..] | ["your", _, what, modal, ..] if must(what, modal))
}

/// The clause says what whoever reads it may do.
fn may(clause: &[&str]) -> bool {
    matches!(clause, ["you", can, ..] if CAN.contains(can))
}

/// The clause ends in words for how calls are written: `in this JSON format`, or of answers `like this`.
fn names_format(clause: &[&str]) -> bool {
    let [before @ .., last] = clause else { return false };
    let before = if *last == "below" { before.split_last().map_or(before, |(_, rest)| rest) } else { before };
    let format = FORMATS.contains(last)
        || *last == "below" && clause.iter().rev().nth(1).is_some_and(|word| FORMATS.contains(word));
    let this = || *last == "below" || before.iter().rev().take(BETWEEN).any(|word| THIS.contains(word));
    let answers = |word: &&str| [ANSWERS.as_slice(), &ANSWER, &TOOLS].iter().any(|words| words.contains(word));
    format && this() || ENDS.iter().any(|end| clause.ends_with(end)) && clause.iter().any(answers)
}

/// The clause is about calls in general, and what they have to be: not about "the" ones that follow.
fn prescribes(clause: &[&str]) -> bool {
    let verb = clause.iter().position(|word| FOLLOW.contains(word));
    let subject = verb.and_then(|verb| clause.get(..verb)).unwrap_or_default();
    subject.len() <= BETWEEN + 1
        && !matches!(subject.first(), Some(&"the" | &"your"))
        && subject.last().is_some_and(|word| CALLS.contains(word))
}

/// The clause is a condition that whoever reads it may meet, or says what is done in general.
fn depends(clause: &[&str]) -> bool {
    let general = match clause {
        [when, who, ..] if WHEN.contains(when) => GENERAL.contains(who),
        [to, ..] => *to == TO,
        [] => false,
    };
    let calls = |words: &[&str]| {
        let (act, rest) = words.split_first().unwrap_or((&"", &[]));
        CALL.contains(act) && ANY.iter().any(|any| rest.starts_with(any))
    };
    general && (1..clause.len()).any(|i| clause.get(i..).is_some_and(calls))
}

/// Somebody else wrote something instead of calling: that is reported.
fn tells_instead(clauses: &[Vec<&str>]) -> bool {
    let called = |word: &str| matches!(word, "calling" | "executing" | "invoking" | "running" | "using" | "making");
    let instead =
        |clause: &Vec<&str>| clause.windows(3).any(|words| matches!(words, ["instead", "of", act] if called(act)));
    let by_model = |clause: &Vec<&str>| {
        clause
            .windows(2)
            .any(|words| matches!(words, [who, act] if (MODELS.contains(who) || *who == "it") && ACTS.contains(act)))
    };
    clauses.iter().any(instead) && clauses.iter().any(by_model)
}

/// Who calls, where somebody else tells so, and what they do.
const MODELS: [&str; 7] = ["model", "llm", "assistant", "agent", "ai", "bot", "chatbot"];
const ACTS: [&str; 30] = [
    "emits",
    "emit",
    "responds",
    "respond",
    "replies",
    "reply",
    "outputs",
    "output",
    "returns",
    "return",
    "calls",
    "call",
    "generates",
    "generate",
    "produces",
    "produce",
    "prints",
    "print",
    "writes",
    "write",
    "sends",
    "send",
    "answers",
    "answer",
    "issues",
    "issue",
    "makes",
    "make",
    "requests",
    "request",
];
const MAY: [&str; 8] = ["will", "then", "should", "can", "must", "may", "would", "now"];

/// What the text goes on with behind such a call: who does what is due.
const OTHERS: [&str; 15] = [
    "you ",
    "and you ",
    "your ",
    "the host ",
    "the client ",
    "the server ",
    "the application ",
    "the app ",
    "the runtime ",
    "the code ",
    "the framework ",
    "the user ",
    "the system ",
    "the harness ",
    "the sdk ",
];

/// So many blanks and figures of a number stand before it.
const GAP: usize = 16;

/// The sentence above the call at `start`, which ends at `at`, says that a model writes it, and the one below what others do then.
pub(in crate::engine) fn tells_of(cx: &Reader<'_>, start: usize, at: usize) -> Look<()> {
    let above = cx.before(start, LONGEST).trim_end();
    let Some(sentence) = above.trim_end_matches(['*', '_', ' ']).strip_suffix(':') else { return Look::No };
    let sentence = in_small_letters(sentence.rsplit(['\n', '.', '!', '?']).next().unwrap_or_default());
    let clause = words(sentence.rsplit([',', ';']).next().unwrap_or_default());
    let acts = |words: &[&str]| {
        let act = words.iter().find(|word| !MAY.contains(word));
        act.is_some_and(|act| ACTS.contains(act))
    };
    let by_model = match clause.as_slice() {
        ["the" | "an" | "a" | "your", who, rest @ ..] if MODELS.contains(who) => acts(rest),
        ["the" | "an" | "a" | "your", _, who, rest @ ..] if MODELS.contains(who) => acts(rest),
        _ => false,
    };
    if !by_model || words(&sentence).iter().any(|word| OWN.contains(word)) {
        return Look::No;
    }
    let near = cx.ahead(at, GAP);
    let signs =
        near.len() - near.trim_start_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_digit() || c == '.').len();
    let next = at + signs;
    if signs == near.len() {
        return cx.ran_out(cx.text.len() - at, GAP);
    }
    let others = OTHERS.iter().map(|words| begins_with(cx, next, words));
    Look::any_of(others)
}

/// The `words` stand at `at`, with a capital letter or without.
fn begins_with(cx: &Reader<'_>, at: usize, words: &str) -> Look<()> {
    let near = cx.near(at, words.len());
    let same = words.as_bytes().get(..near.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(near));
    match same {
        true if near.len() == words.len() => Look::Is(()),
        true => cx.ran_out(near.len(), words.len()),
        false => Look::No,
    }
}
