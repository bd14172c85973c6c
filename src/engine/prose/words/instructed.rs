//! What a sentence that ends in a colon says of calls in general: how whoever reads it is to write them, or what some model wrote
//! instead of calling. The first person does neither, but calls.
use super::announced::{in_small_letters, words};
use super::lexicon::{
    ANSWERS, ANY_TOOL, BEFORE_ORDERS, CALLS_IN_GENERAL, CAN, EACH, EACH_CALL, FILES, FOLLOW, FORMATS, IN_THIS_WAY,
    IS_NEEDED, MODELS, MODELS_ACT, MODELS_MAY, MUST, NEEDS, ORDERS, OTHERS_ACT, OWN_CALL, THIS_FORMAT, TO_ANSWER,
    TO_CALL, TOOLS, WHEN, WHOEVER_READS,
};
use crate::engine::{Look, Reader};

/// A longer sentence says more than that.
const LONGEST: usize = 256;

/// So many words may stand between a format and what says that it is this one.
const BETWEEN: usize = 3;

/// The sentence tells how calls are to be written in general, or what was written instead of one.
pub(in crate::engine) fn instructs(sentence: &str) -> bool {
    if sentence.len() > LONGEST {
        return false;
    }
    let sentence = in_small_letters(sentence);
    let clauses: Vec<Vec<&str>> = sentence.split([',', ';']).map(words).collect();
    let all = || clauses.iter().flatten();
    if all().any(|word| OWN_CALL.contains(word) || FILES.contains(word)) {
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
    let before = |word: &&&str| BEFORE_ORDERS.contains(word) || MUST.contains(word) || **word == "to";
    let first = clause.iter().find(|word| !before(word));
    let must = |what: &str, modal: &str| ANSWERS.contains(&what) && MUST.contains(&modal);
    first.is_some_and(|word| ORDERS.contains(word))
        || matches!(clause, ["your" | "the", what, modal, ..] if must(what, modal))
        || matches!(clause, ["your", _, what, modal, ..] if must(what, modal))
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
    let this = || *last == "below" || before.iter().rev().take(BETWEEN).any(|word| THIS_FORMAT.contains(word));
    let answers = |word: &&str| [ANSWERS, TO_ANSWER, TOOLS].iter().any(|words| words.contains(word));
    format && this() || IN_THIS_WAY.iter().any(|end| clause.ends_with(end)) && clause.iter().any(answers)
}

/// The clause is about calls in general, and what they have to be: not about "the" ones that follow.
fn prescribes(clause: &[&str]) -> bool {
    let verb = clause.iter().position(|word| FOLLOW.contains(word));
    let subject = verb.and_then(|verb| clause.get(..verb)).unwrap_or_default();
    let (Some(first), Some(last)) = (subject.first(), subject.last()) else { return false };
    let each = || EACH.contains(first) && EACH_CALL.contains(last);
    subject.len() <= BETWEEN + 1 && (each() || !matches!(*first, "the" | "your") && CALLS_IN_GENERAL.contains(last))
}

/// The clause is a condition that whoever reads it may meet, or says what is done in general.
fn depends(clause: &[&str]) -> bool {
    let clause = clause.strip_prefix(&["in", "order"]).unwrap_or(clause);
    let needs = match clause {
        [when, what @ .., "is", needed] if WHEN.contains(when) && IS_NEEDED.contains(needed) => {
            what.iter().any(|word| matches!(*word, "tool" | "function"))
        }
        [when, "you", need, what @ ..] if WHEN.contains(when) && NEEDS.contains(need) => {
            matches!(what, ["a" | "any", "tool" | "function"])
        }
        _ => false,
    };
    let general = match clause {
        [when, who, ..] if WHEN.contains(when) => WHOEVER_READS.contains(who),
        [each, "time", who, ..] if EACH.contains(each) => WHOEVER_READS.contains(who),
        [to, ..] => *to == "to",
        [] => false,
    };
    let calls = |words: &[&str]| {
        let (act, rest) = words.split_first().unwrap_or((&"", &[]));
        TO_CALL.contains(act) && ANY_TOOL.iter().any(|any| rest.starts_with(any))
    };
    needs || general && (1..clause.len()).any(|i| clause.get(i..).is_some_and(calls))
}

/// Somebody else wrote something instead of calling: that is reported.
fn tells_instead(clauses: &[Vec<&str>]) -> bool {
    let called = |word: &str| matches!(word, "calling" | "executing" | "invoking" | "running" | "using" | "making");
    let instead =
        |clause: &Vec<&str>| clause.windows(3).any(|words| matches!(words, ["instead", "of", act] if called(act)));
    let by_model = |clause: &Vec<&str>| {
        clause.windows(2).any(
            |words| matches!(words, [who, act] if (MODELS.contains(who) || *who == "it") && MODELS_ACT.contains(act)),
        )
    };
    clauses.iter().any(instead) && clauses.iter().any(by_model)
}

/// So many blanks and figures of a number stand before it.
const GAP: usize = 16;

/// The sentence above the call at `start`, which ends at `at`, says that a model writes it, and the one below what others do then.
pub(in crate::engine) fn tells_of(cx: &Reader<'_>, start: usize, at: usize) -> Look<()> {
    let above = cx.before(start, LONGEST).trim_end();
    let Some(sentence) = above.trim_end_matches(['*', '_', ' ']).strip_suffix(':') else { return Look::No };
    let sentence = in_small_letters(sentence.rsplit(['\n', '.', '!', '?']).next().unwrap_or_default());
    let clause = words(sentence.rsplit([',', ';']).next().unwrap_or_default());
    let acts = |words: &[&str]| {
        let act = words.iter().find(|word| !MODELS_MAY.contains(word));
        act.is_some_and(|act| MODELS_ACT.contains(act))
    };
    let by_model = match clause.as_slice() {
        ["the" | "an" | "a" | "your", who, rest @ ..] if MODELS.contains(who) => acts(rest),
        ["the" | "an" | "a" | "your", _, who, rest @ ..] if MODELS.contains(who) => acts(rest),
        _ => false,
    };
    if !by_model || words(&sentence).iter().any(|word| OWN_CALL.contains(word)) {
        return Look::No;
    }
    let near = cx.ahead(at, GAP);
    let signs =
        near.len() - near.trim_start_matches(|c: char| c.is_ascii_whitespace() || c.is_ascii_digit() || c == '.').len();
    let next = at + signs;
    if signs == near.len() {
        return cx.ran_out(cx.text.len() - at, GAP);
    }
    let others = OTHERS_ACT.iter().map(|words| begins_with(cx, next, words));
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
