//! What stands before a call without markers in its line and says that it is none: code, the beginning of a log's line, the label of
//! another side, or that it is not to be made.
use super::announced::denies_here;
use crate::char_class;
use crate::dialect::Key;
use crate::engine::prose::flow::name_before;
use crate::engine::prose::runaway::{answers, asks_as_user};
use crate::engine::prose::shown::before::NEAR_MARKER;
use crate::engine::reader::blank;
use crate::engine::{Engine, Reader};

/// What gives a value to its caller, or says what it has to be.
const GIVES: [&str; 4] = ["return", "yield", "await", "assert"];

/// What begins a comment, whatever stands in it, and what ends it in its line; a single `#` may begin a heading as well.
const COMMENTS: [(&str, &str); 3] = [("//", "\n"), ("/*", "*/"), ("<!--", "-->")];

/// What begins a declaration of a variable.
const DECLARES: [&str; 8] = ["const", "let", "var", "val", "final", "static", "pub", "export"];

/// How important a line of a log is.
const LEVELS: [&str; 8] = ["DEBUG", "TRACE", "INFO", "WARN", "WARNING", "ERROR", "NOTICE", "FATAL"];

/// So many of the first are for who mends a program: nobody labels a step with them.
const TRACES: usize = 2;

/// How a line of a log begins, with any digit.
const TIMES: [&str; 4] = ["00:00:00", "0000-00-00T00:", "0000-00-00 00:", "0000/00/00 00:"];

impl Engine {
    /// What stands before `at` in its line says that what begins there is no call. Behind what was taken out a line begins.
    pub(in crate::engine) fn is_coded(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let line = self.around.before.line(cx, at).unwrap_or_default();
        let (begun, begins) = (self.text_begins(), at - line.len());
        let before = cx.slice(begins.max(begun), at);
        if before.trim_start_matches(blank).is_empty() {
            return false;
        }
        let since = begun.max(begins);
        // What stands in an object that is none stands in the same code.
        if self.around.before.coded != Some(since) {
            let begins = cx.skip_space(0);
            let first = cx.ahead(begins, NEAR_MARKER).lines().next().unwrap_or_default();
            let signs = before.len() - before.trim_start_matches(blank).len();
            let coded = is_coded(before, first) || self.around.before.strings.is_open_behind(since + signs);
            self.around.before.coded = coded.then_some(since);
        }
        self.around.before.coded.is_some()
    }
}

/// The call behind `before` in its line is none, in a text that `first` begins.
fn is_coded(before: &str, first: &str) -> bool {
    let text = before.trim();
    if text.is_empty() {
        return false;
    }
    is_assigned(text)
        || GIVES.contains(&text)
        || matches!(text, "#" | "--")
        || COMMENTS.iter().any(|(opens, closes)| text.starts_with(opens) && !text.contains(closes))
        || is_member(text)
        || is_logged(text)
        || is_found(text)
        || denies_here(text)
        || asks_as_user(text)
        || answers(text) && asks_as_user(first)
}

/// The key or name is that of a call, and nothing else: models write `tool_call = {...}` and `Tool call = {...}`.
pub(in crate::engine) fn names_call(name: &str) -> bool {
    let spelled = name.replace(' ', "_");
    let known = |name: &str| matches!(Key::of(name), Key::Function | Key::Calls);
    name.contains(['_', ' ', 'C']) && (known(&spelled) || known(&spelled.to_ascii_lowercase()))
}

/// As [`names_call`], of what stands before an equals sign: `Final call = {...}`, `action = {...}`.
pub(in crate::engine) fn labels_call(name: &str) -> bool {
    let words = || name.split([' ', '_']);
    let last = words().next_back().unwrap_or_default();
    let called = ["call", "calls", "action"].iter().any(|word| last.eq_ignore_ascii_case(word));
    let plain = words().all(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let declared = words().next().is_some_and(|first| DECLARES.contains(&first));
    names_call(name) || called && plain && !declared && words().count() <= MOST_WORDS
}

/// A label has no more words.
const MOST_WORDS: usize = 3;

/// `text` ends in an equals sign behind a name: something is assigned, passed or compared.
pub(in crate::engine) fn is_assigned(text: &str) -> bool {
    let Some(to) = text.strip_suffix('=') else { return false };
    let to = to.trim_end_matches(['=', '!', ':', '+', '<', '>']).trim_end();
    let name = to.get(to.len() - name_before(to)..).unwrap_or_default();
    to.ends_with([')', ']', '"', '\'']) || !name.is_empty() && !labels_call(to.trim_matches(['*', '#', ' ']))
}

/// `text` is the key of a member, and none that has a call.
pub(in crate::engine) fn is_member(text: &str) -> bool {
    let key = text.strip_suffix(':').map(str::trim_end);
    let key = key.and_then(|key| key.strip_prefix('"')?.strip_suffix('"'));
    key.is_some_and(|key| !names_call(key) && key.bytes().all(|byte| char_class::NAME.has_byte(byte)))
}

/// `text` begins as the line of a log: with the time, or with what says how important it is.
pub(in crate::engine) fn is_logged(text: &str) -> bool {
    let text = text.trim_start_matches('[');
    let digits = |text: &str, pattern: &str| {
        let alike = |(byte, sign): (u8, u8)| if sign == b'0' { byte.is_ascii_digit() } else { byte == sign };
        text.len() >= pattern.len() && text.bytes().zip(pattern.bytes()).all(alike)
    };
    level(text).is_some() || TIMES.iter().any(|pattern| digits(text, pattern))
}

/// Which of the levels `text` begins with.
fn level(text: &str) -> Option<usize> {
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    LEVELS.iter().position(|level| *level == word)
}

/// `text` begins as the line of a log does that traces a program: `DEBUG: raw response`.
pub(in crate::engine) fn is_trace(text: &str) -> bool {
    level(text.trim_start_matches('[')).is_some_and(|level| level < TRACES)
}

/// A word of the `line` says how important it is.
pub(in crate::engine) fn has_level(line: &str) -> bool {
    line.split(|c: char| !c.is_ascii_alphabetic()).any(|word| LEVELS.contains(&word))
}

/// The first person speaks in the `line`, or it is a sentence that ends, or another follows: no log has either.
pub(in crate::engine) fn is_said(line: &str) -> bool {
    let own = |word: &str| matches!(word.split(['\'', '’']).next(), Some("I" | "Let" | "let" | "We" | "we"));
    line.ends_with(['.', '!', '…', '。']) || line.contains(". ") || line.split(' ').any(own)
}

/// `text` is the place in a file where something was found: `src/a.py:10:`.
fn is_found(text: &str) -> bool {
    let Some((file, line)) = text.strip_suffix(':').and_then(|place| place.rsplit_once(':')) else { return false };
    !line.is_empty()
        && line.bytes().all(|byte| byte.is_ascii_digit())
        && file.contains(['.', '/'])
        && !file.contains(char::is_whitespace)
}
