//! Strings of several lines: what stands before one says what it is given to, and that it is one.
use super::LINE;
use crate::engine::Reader;
use crate::engine::prose::shown::program::defines;

/// What stands before a string in a program, in its line.
const BEFORE_STRING: [char; 7] = ['=', '(', '[', '{', ',', ':', '+'];

/// Letters right before a string that say how it is read.
const PREFIXES: [char; 8] = ['f', 'r', 'b', 'u', 'F', 'R', 'B', 'U'];

/// What a file that describes a model gives a text to.
const DIRECTIVES: [&str; 4] = ["SYSTEM", "TEMPLATE", "MESSAGE", "LICENSE"];

/// What gives a string to its caller.
const RETURNS: [&str; 2] = ["return", "yield"];

/// The string that the quotes at `at` begin documents a function or a class, whose head ends in the line above, or a module: it begins
/// the text, and words stand behind its quotes. Nothing but its prefix stands `before` it in its line.
pub(super) fn documents(cx: &Reader<'_>, at: usize, before: &str, line: &str) -> bool {
    if !before.trim_end_matches(PREFIXES).trim_ascii().is_empty() {
        return false;
    }
    let above = cx.before(at - before.len(), LINE);
    if above.trim_ascii().is_empty() {
        return at < LINE && line.starts_with(|c: char| c.is_uppercase()) && line.contains(' ');
    }
    let head = above.strip_suffix('\n').and_then(|above| above.rsplit('\n').next());
    head.is_some_and(|head| defines(head.trim_ascii()))
}

/// What stands `before` a string in its line gives it to a variable or a function of a program, or to the caller of one.
pub(super) fn is_given(before: &str) -> bool {
    let text = before.trim_end_matches(PREFIXES).trim_ascii();
    let returned = RETURNS.contains(&text);
    let directed = || before.split_ascii_whitespace().next().is_some_and(|word| DIRECTIVES.contains(&word));
    let joined = || text.strip_suffix('+').is_some_and(|text| !text.is_empty());
    returned || directed() && before.split_ascii_whitespace().count() <= 2 || joined() || is_value(before)
}

/// What stands `before` a string in its line gives it to a variable or a function.
pub(super) fn is_value(before: &str) -> bool {
    let before = before.trim_end_matches(PREFIXES).trim_ascii_end();
    let name = |text: &str| text.trim_ascii_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '!'));
    before.strip_suffix('=').is_some_and(|to| name(to.trim_end_matches([':', '+'])))
        || before.strip_suffix('(').is_some_and(name)
}

/// Three quotes stand between what is `before` them and the rest of their `line`, which may be the `whole` of it: a string begins
/// with them, and whether it shows anything.
pub(super) fn begins_string(before: &str, line: &str, whole: bool) -> Option<bool> {
    // Inline code that has them speaks of them.
    if line.contains('`') && memchr::memchr_iter(b'`', before.as_bytes()).count() % 2 == 1 {
        return None;
    }
    let before = before.trim_end_matches(PREFIXES);
    let before = before.trim_ascii_end();
    if before.is_empty() {
        // A fence, as some write it.
        return Some(!line.trim_ascii().eq_ignore_ascii_case("json"));
    }
    let opens =
        before.ends_with(BEFORE_STRING) || is_given(before) || RETURNS.iter().any(|word| before.ends_with(word));
    (opens || whole && line.trim_ascii().is_empty()).then_some(true)
}
