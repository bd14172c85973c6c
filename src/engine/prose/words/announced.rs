//! What a sentence that ends in a colon says of the call below it: that it is not made, was made before, is asked for or only shows how one
//! would. Only what says so surely counts: else the call is made.
use super::clause::last_clause;
use super::lexicon::{
    ADVERBS, ASKS, ASKS_YOU, AUXILIARIES, BEFORE_PASSIVE, BESIDE_QUESTION, CAN, CONFIRMATIONS, CONFIRMS,
    DENIES_NOTHING, FIRST_PERSON, LEARNS, LIKE_THIS, MAY_CALL, MIGHT, NEVER, NOT, NUMBERED, OF_WRONG,
    PARTS_IN_SENTENCE, PAST, PAST_CALLS, PROMISES, REFUSES, SAYING_SO, STANDS_FOR_CALL, SUCH_CALLS, UPON, VERBS, WAITS,
    WAS_BEFORE, WHO_DENIES, WISHES, WRONG,
};
use crate::engine::reader::floor;

/// So much of a sentence's end says whether its call is made.
const END: usize = 128;

/// A longer sentence is no question, and no promise.
const LONGEST: usize = 256;

/// So long are words at least in most sentences, with the blank behind them.
const WORD: usize = 4;

/// A clause that refuses, and says nothing else, is no longer.
const LONGEST_REFUSAL: usize = 16;

/// What the sentence says in its last words of the call that stands behind it: it is not made here.
pub(in crate::engine) fn refuses(sentence: &str) -> bool {
    let end = in_small_letters(tail(sentence, END));
    let clause = last_clause(&end, PARTS_IN_SENTENCE);
    let mut all = words(end.strip_suffix(clause).unwrap_or_default());
    let before = all.len();
    all.extend(words(clause));
    denies(all.get(before..).unwrap_or_default())
        || denies_such(&all)
        || clause.len() < end.len() && denies_such(&words(clause))
        || gives_up(&end, clause)
        || is_wrong(&all)
        || is_past(&all)
        || shows_how(&all)
        || sentence.len() <= LONGEST && asks(&in_small_letters(sentence))
}

/// The sentence ends in a question mark, and asks somebody whether the call behind it is made: whatever else the first person asks,
/// it asks itself.
pub(in crate::engine) fn asks_for_answer(sentence: &str) -> bool {
    let sentence = sentence.trim_end_matches(['*', '_', ' ']);
    // Mostly it is none. A quoted one was asked before.
    if !sentence.ends_with(['?', '？']) || sentence.len() > LONGEST || sentence.trim_start().starts_with('>') {
        return false;
    }
    let sentence = in_small_letters(sentence);
    let clause = last_clause(&sentence, PARTS_IN_SENTENCE);
    // "The user asks: can I run this?"
    let others = |before: &str| {
        before.trim_end().ends_with([':', '：']) && !words(before).iter().any(|word| FIRST_PERSON.contains(word))
    };
    let told = sentence.strip_suffix(clause).is_some_and(others);
    let mut clause_words = words(clause);
    while clause_words.last().is_some_and(|last| BESIDE_QUESTION.contains(last)) {
        clause_words.pop();
    }
    if clause.len() < sentence.len()
        && let (["should" | "shall" | "may" | "can", "i" | "we", ..], [act, what @ ..]) =
            (words(&sentence).as_slice(), clause_words.as_slice())
    {
        // "Should I go ahead and run this?"
        return is_verb(act, 0) && names_such(what);
    }
    match clause_words.as_slice() {
        [asks, "i" | "we", act, what @ ..] => {
            let this = !what.is_empty() && what.iter().all(|word| STANDS_FOR_CALL.contains(word));
            // "Shall I delete it?" asks for leave, "Can I reproduce it?", "Can I use this?" and "May I see it?" do not.
            let leave = match *asks {
                "shall" | "may" => !LEARNS.contains(act),
                "can" | "could" => is_verb(act, 0) && !matches!(*act, "use" | "do"),
                _ => is_verb(act, 0),
            };
            ASKS.contains(asks) && !told && (this && leave || goes_ahead(act, what))
        }
        [_, "i" | "we", ..] => false,
        // "Shall this be run?", "Would you like this to be run?"
        [asks, what @ .., "be", done] if is_done(done) => {
            let what = what.strip_suffix(&["to"]).unwrap_or(what);
            let (asked, what) = match what {
                ["you", wish, what @ ..] => (ASKS_YOU.contains(asks) && WISHES.contains(wish), what),
                what => (ASKS.contains(asks), what),
            };
            asked && names_such(what)
        }
        [asks, "you", rest @ ..] => {
            let me = |words: &[&str]| matches!(words, [wish, "me" | "us", "to"] if WISHES.contains(wish));
            let this = match rest {
                ["mind", "if", "i" | "we", act, what @ ..] => is_verb(act, 0) && names_such(what),
                [verb, what @ ..] => confirms(verb, 0) && names_such(what),
                [] => false,
            };
            ASKS_YOU.contains(asks) && (this || rest.windows(3).any(me))
        }
        ["ok" | "okay", "to", act, what @ ..] => is_verb(act, 0) && names_such(what) || goes_ahead(act, what),
        _ => is_question(clause),
    }
}

/// The words are for going on with the call below: "proceed", "go ahead with this", "continue and run it".
fn goes_ahead(act: &str, what: &[&str]) -> bool {
    let what = match (act, what) {
        ("proceed" | "continue", what) => what,
        ("go", [on, what @ ..]) if matches!(*on, "ahead" | "on") => what,
        _ => return false,
    };
    let this = |words: &[&str]| words.iter().all(|word| STANDS_FOR_CALL.contains(word));
    match what {
        [] => true,
        ["with", what @ ..] => this(what),
        ["and", act, what @ ..] => is_verb(act, 0) && this(what),
        _ => false,
    }
}

/// The `word` is a verb for agreeing, in this form.
fn confirms(word: &str, form: usize) -> bool {
    CONFIRMS.iter().any(|forms| forms.get(form).is_some_and(|verb| *verb == word))
}

/// The last bytes of the sentence, no more than `limit`.
fn tail(sentence: &str, limit: usize) -> &str {
    sentence.get(floor(sentence, sentence.len().saturating_sub(limit))..).unwrap_or_default()
}

/// What stands before a call in its line says that it is not made: `Never send`.
pub(in crate::engine) fn denies_here(line: &str) -> bool {
    let sentence = in_small_letters(tail(line, END).rsplit(['.', '!', '?']).next().unwrap_or_default());
    denies(&words(last_clause(&sentence, PARTS_IN_SENTENCE)))
}

/// The `sentence` in small letters, with plain apostrophes.
pub(in crate::engine) fn in_small_letters(sentence: &str) -> String {
    let small = sentence.to_lowercase();
    // Mostly there are none of the others.
    if small.contains('’') { small.replace('’', "'") } else { small }
}

/// The words of a sentence in small letters, without what stands round them.
pub(in crate::engine) fn words<'s>(sentence: &'s str) -> Vec<&'s str> {
    let plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let trimmed = |word: &'s str| word.trim_matches(|c: char| !c.is_alphanumeric());
    let (mut words, mut rest) = (Vec::with_capacity(sentence.len() / WORD), sentence);
    // By bytes: mostly all white space is ASCII's.
    while !rest.is_empty() {
        let end = rest.bytes().position(|byte| matches!(byte, b'\t'..=b'\r' | b' ' | b',')).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(end).unwrap_or_default();
        rest = behind.get(1..).unwrap_or_default();
        // Mostly there is nothing round it.
        if plain(word.as_bytes().first()) && plain(word.as_bytes().last()) && word.is_ascii() {
            words.push(word);
        } else {
            words.extend(word.split(char::is_whitespace).map(trimmed).filter(|word| !word.is_empty()));
        }
    }
    words
}

/// The `text` is a heading of wrong calls, and nothing else.
pub(in crate::engine) fn heads_wrong(text: &str) -> bool {
    // With an exclamation mark it is a remark.
    if text.len() > END || text.contains('!') {
        return false;
    }
    let text = in_small_letters(text);
    let words = words(&text);
    let forbids = matches!(words.as_slice(), ["do", "not", ..] | ["don't" | "never", ..]);
    is_wrong(&words) || forbids && denies(&words)
}

/// The words say of the call that stands below, and of nothing else, that it must not be made or was not: what "it" was may be something
/// else, and what was not done "yet" is done now. Or they tell whoever reads them to avoid such calls.
fn denies_such(words: &[&str]) -> bool {
    let avoid = words.strip_prefix(&["please"]).unwrap_or(words);
    if let ["avoid", what @ ..] = avoid {
        let call = |word: &&str| SUCH_CALLS.contains(word) || STANDS_FOR_CALL.contains(word) || *word == "like";
        let like = what.ends_with(&["like", "this"]) && what.iter().all(|word| call(word) || is_verb(word, 2));
        return like || what.ends_with(&["like", "these"]);
    }
    // "It cannot be run here."
    let words = words.strip_suffix(&["here"]).unwrap_or(words);
    is_not_done(words) || does_not(words)
}

/// The words are for the call below alone: "this", "the following calls", "the command below".
fn names_such(words: &[&str]) -> bool {
    let call = |word: &&str| SUCH_CALLS.contains(word) || *word == "below";
    words.iter().any(call) && words.iter().all(|word| call(word) || STANDS_FOR_CALL.contains(word))
}

/// The `word` is a verb for what is done with calls, in this form.
fn is_verb(word: &str, form: usize) -> bool {
    VERBS.iter().any(|forms| forms.get(form).is_some_and(|verb| *verb == word))
}

/// The `word` stands behind "was" for what was done with a call.
fn is_done(word: &str) -> bool {
    is_verb(word, 1) || matches!(word, "run" | "done")
}

fn negates(word: &str) -> bool {
    NEVER.contains(&word) || word.ends_with("n't")
}

/// Where the auxiliaries at the end of the words begin, and their adverbs and negations.
fn auxiliaries<'a, 'w>(words: &'a [&'w str]) -> (&'a [&'w str], &'a [&'w str]) {
    let auxiliary = |word: &&str| {
        AUXILIARIES.contains(word)
            || BEFORE_PASSIVE.contains(word)
            || matches!(*word, "has" | "had" | "did" | "able")
            || negates(word)
            || is_adverb(word)
    };
    let begins = words.iter().rposition(|word| !auxiliary(word)).map_or(0, |last| last + 1);
    words.split_at_checked(begins).unwrap_or_default()
}

/// "This call was never made", "none of these have been run".
fn is_not_done(words: &[&str]) -> bool {
    let Some((done, before)) = words.split_last().filter(|(done, _)| is_done(done)) else { return false };
    let (what, how) = auxiliaries(before);
    let none = what.strip_prefix(&["none", "of"]);
    let not = none.is_some() || how.iter().any(|word| negates(word));
    let passive = how.iter().any(|word| BEFORE_PASSIVE.contains(word)) || how.last().is_some_and(|last| negates(last));
    // What "is not done" is due.
    let past = *done != "done" || how.iter().any(|word| matches!(*word, "be" | "was" | "were"));
    // What is never called is a function of the code.
    let of_code = how.iter().any(|word| matches!(*word, "is" | "are" | "isn't" | "aren't"))
        && !how.iter().any(|word| matches!(*word, "be" | "been"))
        && !what.iter().any(|word| matches!(*word, "call" | "calls" | "command" | "commands"));
    not && passive && past && !of_code && *done != "ran" && names_such(none.unwrap_or(what))
}

/// "I have not made this call", "nobody should run this", "this I will not call".
fn does_not(words: &[&str]) -> bool {
    // "Call" stands for what is called as well as for what is done with it.
    let first = without_object(words).len().saturating_sub(1);
    (first..words.len()).any(|i| {
        let (Some(verb), Some(before)) = (words.get(i), words.get(..i)) else { return false };
        if !is_verb(verb, 0) && !is_done(verb) {
            return false;
        }
        let object = words.get(i + 1..).unwrap_or_default();
        let begins = before.iter().position(|word| matches!(*word, "i" | "we")).filter(|_| object.is_empty());
        let (first, acts) = before.split_at_checked(begins.unwrap_or_default()).unwrap_or_default();
        denies_doing(acts) && names_such(if object.is_empty() { first } else { object })
    })
}

/// Somebody, or nobody, does not do what the verb behind these words says.
fn denies_doing(words: &[&str]) -> bool {
    let (who, how) = auxiliaries(words);
    let to = how.last() == Some(&"to");
    match who {
        // Denied twice, it is done.
        ["i" | "we" | "i've" | "we've"] => how.iter().filter(|word| negates(word)).count() == 1,
        ["nobody"] | ["no", "one"] => !how.is_empty(),
        ["it", "is", how] | ["it's", how] => to && (REFUSES.contains(how) || NOT.contains(how)),
        ["it", "is", "not", allowed] | ["it's", "not", allowed] | ["it", "isn't", allowed] => {
            to && confirms(allowed, 1)
        }
        _ => false,
    }
}

/// The last `clause` of what the sentence ends in refuses what somebody asked for before: that the call is made.
fn gives_up(end: &str, clause: &str) -> bool {
    if clause.len() > LONGEST_REFUSAL
        || !matches!(words(clause).as_slice(), ["i" | "we", "won't" | "refuse"] | ["i" | "we", "will", "not"])
    {
        return false;
    }
    let before = words(end.get(..end.len() - clause.len()).unwrap_or_default());
    let denied = before.iter().any(|word| NEVER.contains(word));
    let might = |word: &str| word == "to" || CAN.contains(&word) || MIGHT.contains(&word);
    !denied && before.windows(2).any(|words| matches!(words, [to, act] if might(to) && is_verb(act, 0)))
}

/// The words are a heading of wrong calls, and nothing else.
fn is_wrong(words: &[&str]) -> bool {
    let heading = words.strip_suffix(&["example"]).unwrap_or(words);
    let heading = heading.split_last().filter(|(last, _)| OF_WRONG.contains(last)).map_or(heading, |(_, rest)| rest);
    heading.len() <= 2 && WRONG.contains(&heading.join(" ").as_str())
}

/// The call was made before, and the sentence says nothing else: what is done to it now is done by the call below.
fn is_past(words: &[&str]) -> bool {
    let done = |word: &&str| *word == "run" || VERBS.iter().any(|[_, past, _]| past == word);
    let before = |word: &&str| WAS_BEFORE.contains(word);
    let only = |word: &&str| done(word) || before(word) || SAYING_SO.contains(word) || STANDS_FOR_CALL.contains(word);
    // Whoever is told to run it again is told first.
    let told = words.iter().any(done) && words.iter().any(before) && words.first() != Some(&"run");
    if told && words.iter().all(only) {
        return true;
    }
    match words {
        ["the" | "my", past, call, "was"] => {
            (PAST.contains(past) || NUMBERED.contains(past)) && PAST_CALLS.contains(call)
        }
        [past, call] => PAST.contains(past) && PAST_CALLS.contains(call),
        ["the" | "my", call, "that" | "which", "failed"] => PAST_CALLS.contains(call),
        _ => false,
    }
}

/// The words without what stands for the call at their end.
fn without_object<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    let end = words.iter().rposition(|word| !STANDS_FOR_CALL.contains(word)).map_or(0, |last| last + 1);
    words.get(..end).unwrap_or_default()
}

/// The words of a clause say that the call is not to be made, or cannot be.
fn denies(words: &[&str]) -> bool {
    // "Call" stands for what is called as well as for what is done with it.
    let object = words.len() - without_object(words).len();
    let verbs = words.iter().enumerate().rev().take(object + 1);
    verbs.into_iter().any(|(i, word)| {
        let before = words.get(..i).unwrap_or_default();
        *word == "called" && before.ends_with(&["would", "have"])
            || VERBS.iter().any(|[verb, _, doing]| {
                verb == word && is_denied(before, word)
                    || doing == word && (avoids(before) || is_denied(be(before), word))
            })
    })
}

/// The words without "be" at their end, which stands before what is being done.
fn be<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    words.strip_suffix(&["be"]).unwrap_or(words)
}

/// Somebody says that they avoid what is named behind these words.
fn avoids(before: &[&str]) -> bool {
    matches!(before, [who @ .., "avoid"] | [who @ .., "refrain", "from"] if is_own(who) && !who.is_empty())
}

/// The words are those of somebody who says what they do, or nobody is named.
fn is_own(who: &[&str]) -> bool {
    let Some((first, rest)) = who.split_first() else { return true };
    let plain = |word: &&str| AUXILIARIES.contains(word) || is_adverb(word);
    (WHO_DENIES.contains(first) || AUXILIARIES.contains(first)) && rest.iter().all(plain)
}

/// The `word` says only how, or when, something is done.
fn is_adverb(word: &str) -> bool {
    ADVERBS.contains(&word) || word.ends_with("ly")
}

/// The `verb` behind these words is not done: whoever writes says so of themselves, or tells others.
fn is_denied(before: &[&str], verb: &str) -> bool {
    let end = before.iter().rposition(|word| !is_adverb(word)).map_or(0, |last| last + 1);
    let before = before.get(..end).unwrap_or_default();
    let who = match before {
        [who @ .., refuses, "to"] if REFUSES.contains(refuses) => return is_own(who),
        [who @ .., never, how, "to"] if NEVER.contains(never) => {
            // What nobody has to do is done all the same.
            let spared = who.first() == Some(&"you") && matches!(*how, "need" | "have");
            return is_own(who) && !spared && !DENIES_NOTHING.contains(how);
        }
        [who @ .., never] if NEVER.contains(never) => who,
        _ => return false,
    };
    // "Not" stands behind what it denies; what was not done may be done now.
    let (not, aux) = (before.last() == Some(&"not"), who.last().copied().unwrap_or_default());
    let sure = match before.last() {
        Some(&("never" | "don't" | "won't")) => true,
        _ => not && matches!(aux, "do" | "will"),
    };
    is_own(who) && !(not && matches!(aux, "" | "have")) || sure && matches!(verb, "run" | "call")
}

/// The whole sentence asks whether the call is made, or waits for somebody to say so.
fn asks(sentence: &str) -> bool {
    let sentence = sentence.trim_matches(|c: char| !c.is_alphanumeric());
    let promises = |clause: &str| {
        let clause = clause.strip_prefix("then ").unwrap_or(clause);
        PROMISES.iter().any(|words| clause.starts_with(words))
    };
    if asks_to_confirm(&words(sentence)) {
        return true;
    }
    let last = last_clause(sentence, PARTS_IN_SENTENCE);
    if is_question(last) || is_question(sentence) && !promises(last) && !last.starts_with("let ") {
        return true;
    }
    let (mut before, mut waiting) = ("", false);
    for clause in sentence.split(", ") {
        if promises(clause) && waits(before) {
            return true;
        }
        (before, waiting) = (clause, waiting || promises(clause));
    }
    let ends = |word: &&str| {
        sentence.rfind(&[" ", word, " "].concat()).and_then(|at| sentence.get(at + 1..)).is_some_and(waits)
    };
    waiting && WAITS.iter().chain(UPON).any(ends)
}

/// "Please confirm this call", "awaiting your approval to run it".
fn asks_to_confirm(words: &[&str]) -> bool {
    let order = words.strip_prefix(&["please"]).unwrap_or(words);
    match order {
        [verb, what @ ..] if confirms(verb, 0) => {
            let before = without_object(what);
            let runs = matches!(before, [.., "i", may, act] if CAN.contains(may) && is_verb(act, 0));
            let this = what.get(before.len()..).is_some_and(names_such) && (before.is_empty() || runs);
            this || what.is_empty() && order.len() < words.len()
        }
        ["awaiting" | "pending", rest @ ..] | ["waiting", "for", rest @ ..] => {
            let [confirmation, behind @ ..] = rest.strip_prefix(&["your"]).unwrap_or(rest) else { return false };
            CONFIRMATIONS.contains(confirmation) && !goes_on_meanwhile(behind)
        }
        _ => false,
    }
}

/// The words behind what is waited for say that something else is done in the meantime, or that nothing is waited for.
fn goes_on_meanwhile(words: &[&str]) -> bool {
    let act = |word: &str| {
        FIRST_PERSON.contains(&word)
            || matches!(word, "is" | "isn't")
            || word.ends_with("ing") && !word.ends_with("thing")
    };
    let waits = |word: Option<&&str>| matches!(word, Some(&("before" | "until" | "for" | "to")));
    let mut before = None;
    words.iter().any(|word| {
        let goes_on = act(word) && !waits(before);
        before = Some(word);
        goes_on
    })
}

/// The `clause` asks whether something may be done.
fn is_question(clause: &str) -> bool {
    match words(clause).as_slice() {
        [asks, "i" | "we", ..] => ASKS.contains(asks),
        [asks, "you", wish, ..] => ASKS_YOU.contains(asks) && WISHES.contains(wish),
        ["is", "it" | "that" | "this", fine, rest @ ..] => {
            let that = matches!(rest, [] | ["if" | "to" | "with" | "that", ..]);
            matches!(*fine, "ok" | "okay" | "fine" | "alright") && that
        }
        ["want", "me", "to", ..] | ["ok" | "okay" | "mind", "if", "i" | "we", ..] => true,
        _ => false,
    }
}

/// The `clause` makes what is promised wait for somebody to agree.
fn waits(clause: &str) -> bool {
    let words = words(clause);
    if let [upon, whose @ .., confirmation] = words.as_slice()
        && UPON.contains(upon)
        && CONFIRMATIONS.contains(confirmation)
    {
        return matches!(whose, [] | ["your"]);
    }
    let Some(rest) = WAITS.iter().find_map(|word| clause.strip_prefix(word)?.strip_prefix(' ')) else { return false };
    let words = self::words(rest);
    let end = words.iter().rposition(|word| !matches!(*word, "this" | "that" | "it" | "so")).map_or(0, |last| last + 1);
    let is = |verb: &&str, form: usize| confirms(verb, form);
    match words.get(..end).unwrap_or_default() {
        ["you", "like" | "want" | "wish"] | ["you'd", "like"] => clause.starts_with("if"),
        ["you", verb] => is(verb, 0),
        ["you've", verb] | ["you", "have", verb] | [verb] => is(verb, 1),
        ["it's" | "that's" | "this", verb] | ["it" | "that" | "this", "is", verb] => is(verb, 1),
        _ => false,
    }
}

/// The words tell whoever reads them how they may call.
fn shows_how(words: &[&str]) -> bool {
    let [.., "like" | "such", _] = words else { return false };
    let tail = words.get(words.len() - 2..).unwrap_or_default().join(" ");
    matches!(words, ["you" | "one", may, ..] if MAY_CALL.contains(may)) && LIKE_THIS.contains(&tail.as_str())
}
