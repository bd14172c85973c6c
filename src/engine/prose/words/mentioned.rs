//! Whoever writes a sentence that ends in a colon says that they look at an example, or change one: the call below it does so.
use super::announced::{in_small_letters, words};
use super::clause::last_clause;
use super::lexicon::{
    ACTS_ON_FILE, BESIDE_FIRST_PERSON, FILES, FIRST_PERSON, KNOWN, LOOKS, LOOKS_AT, OF_EXAMPLE, PARTS_ROUND_MENTION,
    SEEKS, SHOWN_HERE, SHOWS, WRITES, WRITTEN, Words,
};
use crate::engine::prose::words::example::has_blank_line;
use crate::engine::reader::blank;

/// The `line` has a word of the first person.
pub(in crate::engine) fn in_first_person(line: &str) -> bool {
    words(&in_small_letters(line)).iter().any(|word| FIRST_PERSON.contains(word))
}

/// The `text`, which begins where something is opened, ends in a sentence that says what whoever writes does next, in a line of its own, and
/// a paragraph stands between: what was opened is only spoken of.
pub(in crate::engine) fn announces_step(text: &str) -> bool {
    let Some((above, line)) = text.trim_end().rsplit_once('\n') else { return false };
    let line = line.trim_matches(blank);
    let Some(said) = line.strip_suffix([':', '：', '.', '!', '…']) else { return false };
    // Mostly it has no other.
    let begins = [". ", "! ", "? "].iter().filter_map(|end| said.rfind(end).map(|at| at + end.len())).max();
    let sentence = in_small_letters(said.get(begins.unwrap_or_default()..).unwrap_or_default());
    let first = words(&sentence).into_iter().find(|word| !BESIDE_FIRST_PERSON.contains(word));
    first.is_some_and(|word| FIRST_PERSON.contains(&word)) && has_blank_line(&[above, "\n"].concat())
}

/// As all of these, in another language, with the words that stand beside the first person and it itself in one list.
struct Tongue {
    word: &'static [&'static str],
    says_step: &'static [&'static str],
    acts: &'static [&'static str],
    the: &'static [&'static str],
}

static TONGUES: [Tongue; 3] = [
    Tongue {
        word: &["beispiel"],
        says_step: &[
            "ich",
            "mich",
            "werde",
            "will",
            "möchte",
            "muss",
            "lass",
            "mir",
            "jetzt",
            "nun",
            "zuerst",
            "zunächst",
            "erst",
            "dann",
            "mal",
            "also",
        ],
        acts: &[
            "lese",
            "lesen",
            "öffne",
            "öffnen",
            "prüfe",
            "prüfen",
            "überprüfe",
            "überprüfen",
            "sehe",
            "schaue",
            "ansehen",
            "anschauen",
            "untersuche",
            "untersuchen",
            "suche",
            "suchen",
            "teste",
            "testen",
            "lösche",
            "löschen",
            "entferne",
            "entfernen",
            "ändere",
            "ändern",
            "bearbeite",
            "bearbeiten",
            "aktualisiere",
            "aktualisieren",
        ],
        the: &["das", "dieses", "dein", "ihr", "mein", "unser"],
    },
    Tongue {
        word: &["ejemplo"],
        says_step: &[
            "voy",
            "vamos",
            "a",
            "déjame",
            "déjeme",
            "permíteme",
            "ahora",
            "primero",
            "yo",
            "quiero",
            "necesito",
        ],
        acts: &[
            "leer",
            "leo",
            "abrir",
            "abro",
            "revisar",
            "reviso",
            "ver",
            "mirar",
            "miro",
            "examinar",
            "examino",
            "comprobar",
            "verificar",
            "buscar",
            "probar",
            "ejecutar",
            "eliminar",
            "borrar",
            "editar",
            "actualizar",
            "modificar",
        ],
        the: &["el", "este", "ese", "tu", "su", "mi"],
    },
    Tongue {
        word: &["exemplo"],
        says_step: &["vou", "vamos", "deixe-me", "deixa-me", "me", "agora", "primeiro", "eu", "quero", "preciso"],
        acts: &[
            "ler",
            "leio",
            "abrir",
            "abro",
            "revisar",
            "reviso",
            "ver",
            "olhar",
            "examinar",
            "examino",
            "verificar",
            "verifico",
            "procurar",
            "testar",
            "executar",
            "excluir",
            "apagar",
            "remover",
            "editar",
            "atualizar",
            "modificar",
        ],
        the: &["o", "este", "esse", "seu", "teu", "meu"],
    },
];

/// Whoever writes the `sentence` says that they look at the example which the word from `start` to `end` speaks of, or change or run it.
pub(in crate::engine) fn only_mentions(sentence: &str, start: usize, end: usize) -> bool {
    let part = |text: Option<&str>| in_small_letters(text.unwrap_or_default());
    let (before, word) = (part(sentence.get(..start)), part(sentence.get(start..end)));
    let behind = part(sentence.get(end..));
    let behind = words(&behind);
    let clause = last_clause(before.trim_end(), PARTS_ROUND_MENTION);
    if !matches!(word.as_str(), "example" | "examples") {
        let tongue = TONGUES.iter().find(|tongue| tongue.word.contains(&word.as_str()));
        return tongue.is_some_and(|tongue| tongue.does(&words(clause), &behind));
    }
    let all = words(&before);
    let shown = || all.iter().chain(&behind).any(|word| SHOWN_HERE.contains(word));
    // A file is written for somebody.
    let shown_here = || all.iter().chain(&behind).any(|word| SHOWN_HERE.contains(word) && *word != "you");
    if writes_file(&words(clause), &behind) && !shown_here() || seeks(&words(clause)) {
        return true;
    }
    if behind.first().is_some_and(|of| OF_EXAMPLE.contains(of)) || shown() {
        return false;
    }
    // What was done before, in the same sentence, is done by the same one: "let me open it and read".
    let earlier = before.get(..before.trim_end().len() - clause.len()).unwrap_or_default();
    let goes_on = earlier.ends_with(" and ") || earlier.ends_with(" then ");
    done(&words(clause), false)
        || seeks(&words(clause))
        || goes_on && done(&all, true) && !words(clause).is_empty() && acts_on(&words(clause))
}

/// The words begin with what whoever writes does with a file, and that is a known one, or `any`.
fn done(words: &[&str], any: bool) -> bool {
    let begins = words.iter().position(|word| !FIRST_PERSON.contains(word) && !is_beside(word)).unwrap_or(words.len());
    let (step, rest) = words.split_at_checked(begins).unwrap_or_default();
    let own = step.iter().any(|word| FIRST_PERSON.contains(word));
    match rest.split_first() {
        Some((act, _)) if own && any => ACTS_ON_FILE.contains(act),
        Some((act, known)) if own && ACTS_ON_FILE.contains(act) => is_known(known),
        Some((act, known)) if is_doing(act, ACTS_ON_FILE) => is_known(known),
        Some((&("take" | "a" | "another"), _)) if own => looks(rest),
        _ => false,
    }
}

/// The words are what whoever writes does to find examples.
fn seeks(words: &[&str]) -> bool {
    let begins = words.iter().position(|word| !FIRST_PERSON.contains(word) && !is_beside(word)).unwrap_or(words.len());
    let (step, rest) = words.split_at_checked(begins).unwrap_or_default();
    let own = step.iter().any(|word| FIRST_PERSON.contains(word));
    let Some((act, behind)) = rest.split_first() else { return false };
    let found = matches!(*act, "find" | "test") || behind.contains(&"for");
    found && (own && SEEKS.contains(act) || step.is_empty() && is_doing(act, SEEKS))
}

/// Whoever writes the `sentence` with a word for examples only shows some, and no file or folder of them.
pub(in crate::engine) fn shows_some(sentence: &str) -> bool {
    let sentence = in_small_letters(sentence);
    let words = words(&sentence);
    let file = |word: &&str| WRITTEN.contains(word) || FILES.contains(word) || word.ends_with("file");
    words.iter().any(|word| SHOWS.contains(word)) && !words.iter().any(file)
}

/// Whoever writes says, in the words before the one for an example and those `behind` it, that they write a file which is one, or one
/// into a file. Without the first person the sentence has nothing else to say, and tells nobody how.
fn writes_file(before: &[&str], behind: &[&str]) -> bool {
    let number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let begins = before.iter().position(|word| !FIRST_PERSON.contains(word) && !is_beside(word) && !number(word));
    let (step, act) = before.split_at_checked(begins.unwrap_or(before.len())).unwrap_or_default();
    let own = step.iter().any(|word| FIRST_PERSON.contains(word));
    let kind = |word: &&str| WRITTEN.contains(word) || word.ends_with("file");
    // "An example Python script" has a word more.
    let called = behind.iter().take(LONGEST_KIND).take_while(|word| !OF_EXAMPLE.contains(word) && **word != "tool");
    let called = called.into_iter().position(kind);
    let ends = called.is_some_and(|last| last + 1 == behind.len()) && !step.contains(&"to") && !act.contains(&"you");
    if !act.is_empty() && writes_one(act) && (own && called.is_some() || ends) {
        return true;
    }
    // "I need an example file, so I create one."
    let later = called.and_then(|last| behind.get(last + 1..)).unwrap_or_default();
    let later = later.windows(3).any(|words| matches!(words, ["so" | "and" | "then", who, act] if FIRST_PERSON.contains(who) && WRITES.contains(act)));
    let into = || match behind {
        ["to" | "in" | "into", place @ ..] => place.last().is_some_and(|last| kind(last) || FILES.contains(last)),
        _ => false,
    };
    later || own && writes_one(act) && into()
}

/// The words before the one for an example write one: "create an", "writing you another small".
fn writes_one(act: &[&str]) -> bool {
    let Some((verb, rest)) = act.split_first() else { return false };
    let rest = rest.strip_prefix(&["you"]).or_else(|| rest.strip_prefix(&["up"])).unwrap_or(rest);
    let one = |word: &&&str| matches!(**word, "a" | "an" | "another" | "some") || KNOWN.contains(*word);
    (WRITES.contains(verb) || is_doing(verb, WRITES)) && rest.len() <= 2 && rest.first().as_ref().is_some_and(one)
}

/// What kind of file it is, with the word for a file, has no more words.
const LONGEST_KIND: usize = 3;

/// The word says nothing of what is done: when it is, or how.
fn is_beside(word: &str) -> bool {
    BESIDE_FIRST_PERSON.contains(&word) || word.ends_with("ly")
}

/// The words are what is done with a known file.
fn acts_on(words: &[&str]) -> bool {
    words.split_first().is_some_and(|(act, known)| ACTS_ON_FILE.contains(act) && is_known(known))
}

/// A look is taken at a known file.
fn looks(words: &[&str]) -> bool {
    let words = words.strip_prefix(&["take"]).unwrap_or(words);
    let look = words.iter().take(LONGEST_LOOK).position(|word| LOOKS.contains(word));
    let known = look.and_then(|look| words.get(look + 1..));
    matches!(words.first(), Some(&("a" | "another"))) && known.is_some_and(is_known)
}

/// "A very quick look" has no more words.
const LONGEST_LOOK: usize = 4;

/// Nothing but a word for which one it is stands before the word for an example: what is done is done to itself.
fn is_known(words: &[&str]) -> bool {
    let known = words.split_first().filter(|(at, _)| LOOKS_AT.contains(at)).map_or(words, |(_, known)| known);
    known.len() <= 3 && known.first().is_some_and(|the| KNOWN.contains(the))
}

/// The word is one of these verbs with "-ing".
fn is_doing(word: &str, acts: Words) -> bool {
    let Some(stem) = word.strip_suffix("ing") else { return false };
    acts.iter().any(|act| {
        let doubled = || stem.strip_prefix(act).is_some_and(|rest| rest.len() == 1 && act.ends_with(rest));
        *act == stem || act.strip_suffix('e') == Some(stem) || doubled()
    })
}

impl Tongue {
    /// The words before the one for an example, and `behind` it, say that whoever writes does something with a known one.
    fn does(&self, before: &[&str], behind: &[&str]) -> bool {
        let steps = |word: &&str| self.says_step.contains(word);
        let acts = |word: &&str| self.acts.contains(word);
        let only = |word: &&str| steps(word) || acts(word);
        let Some((the, step)) = before.split_last() else { return false };
        let last = |word: &&str| acts(word) || *word == "an";
        self.the.contains(the)
            && step.iter().any(steps)
            && step.iter().all(only)
            && (step.iter().any(acts) && behind.is_empty() || behind.len() == 1 && behind.iter().all(last))
    }
}
