//! Values that are expressions. What they give is known to nobody here, and their source text is not what was meant.
use crate::char_class::{self, IDENTIFIER};
use crate::engine::body::placeholder;
use crate::json::{Part, Quoting};

/// `text`, which is no literal, is the call of a function, the element of something, or text that something is done with.
/// Other words (`San Diego`, `user.txt`, `2 * x + 1`) may be a text without its quotes.
pub(super) fn is_expression(text: &str) -> bool {
    let awaited = text.strip_prefix("await ").unwrap_or(text);
    text.starts_with(['"', '\'', '\\', ','])
        || text.split_once(['[', '{']).is_some_and(|(before, _)| before.trim_end().ends_with('='))
        || is_format(text)
        || is_lambda(text)
        || begins_function(text)
        || is_conditional(text)
        || text.strip_prefix("not ").is_some_and(|rest| rest.starts_with(['"', '\'']))
        || is_behind_sign(text)
        || unpacks(text).is_some_and(str::is_empty)
        || joins_string(text)
        || reaches(awaited).is_some_and(|end| end == awaited.len())
}

/// An expression begins in `text`, as one value of a list or an object.
pub(super) fn begins_expression(text: &str) -> bool {
    let loops = || behind_name(behind_name(text, "")?, " for ")?.strip_prefix(" in ");
    let item = || text.split([',', ']', '}', ')']).next().unwrap_or_default();
    opens(text.strip_prefix("await ").unwrap_or(text)).is_some()
        || is_lambda(text)
        || begins_function(text)
        || unpacks(text).is_some_and(|rest| rest.trim_start().starts_with([',', ']', '}', ')', '.', '[', '(']))
        || joins_string(item())
        || loops().is_some()
}

/// All of `text` is a string, with a sign in front: `="Paris"`.
fn is_behind_sign(text: &str) -> bool {
    let sign = |c: char| c.is_ascii_punctuation() && !matches!(c, '"' | '\'' | '(' | '[' | '{');
    let string = text.trim_start_matches(sign).trim_start();
    string.len() < text.len() && string.starts_with(['"', '\'']) && string.ends_with(['"', '\''])
}

/// `lambda x: x`.
fn is_lambda(text: &str) -> bool {
    text.strip_prefix("lambda")
        .is_some_and(|rest| rest.starts_with([' ', ':']) && rest.chars().take(128).any(|c| c == ':'))
}

/// `text` begins as a function of JavaScript's: `x => x`, `async (x) => { ... }`, `function (x) { ... }`.
pub(super) fn begins_function(text: &str) -> bool {
    let text = text.strip_prefix("async ").map_or(text, str::trim_start);
    if let Some(rest) = text.strip_prefix("function") {
        let rest = rest.trim_start_matches(['*', ' ']);
        let parameters = rest.get(name_length(rest)..).and_then(parenthesized);
        return parameters.is_some_and(|behind| behind.trim_start().starts_with('{'));
    }
    let behind = if text.starts_with('(') { parenthesized(text) } else { behind_name(text, "") };
    behind.is_some_and(|behind| behind.trim_start().starts_with("=>"))
}

/// What stands behind the parentheses that `text` begins with.
fn parenthesized(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let closes = |byte: u8| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    let end = text.bytes().position(closes).filter(|end| *end > 0)?;
    text.get(end + 1..)
}

/// All that the object `text` holds are names without quotes under such keys, and several: `{ to: user, subject: title }`. One
/// alone may be a text without its quotes, and so may a word that begins with a capital letter, one with dots that is no attribute, and
/// one that is `listed` as a value.
pub(super) fn holds_names(text: &str, listed: impl Fn(&str) -> bool) -> bool {
    let variable = |key: &str, value: &str| {
        let value = value.trim();
        let named =
            value.starts_with(|c: char| c.is_ascii_lowercase() || c == '_') && name_length(value) == value.len();
        let word = !value.contains('.') || placeholder::is_attribute(key, value);
        named && word && !matches!(value, "true" | "false" | "null" | "undefined") && !listed(value)
    };
    let member = |member: &str| {
        let (key, value) = member.split_once(':')?;
        let key = key.trim();
        (!key.is_empty() && name_length(key) == key.len() && variable(key, value)).then_some(())
    };
    let members = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let members = members.map(|text| text.trim().trim_end_matches(',')).unwrap_or_default();
    members.contains(',') && members.split(',').all(|each| member(each).is_some())
}

/// `x if y else z`.
fn is_conditional(text: &str) -> bool {
    text.split_once(" if ").is_some_and(|(_, condition)| condition.contains(" else "))
}

/// What stands behind the name in `*names` and `**names`.
fn unpacks(text: &str) -> Option<&str> {
    let name = text.trim_start_matches('*');
    let starred = text.len() - name.len();
    let named = name.starts_with(char_class::begins_identifier);
    if named && (1..=2).contains(&starred) { name.get(name_length(name)..) } else { None }
}

/// Source text, a string in it, and a sign that joins the two: `base + "/x"`, `x == "y"`.
fn joins_string(text: &str) -> bool {
    let strings = text.char_indices().filter(|(_, c)| matches!(c, '"' | '\''));
    let before = |(at, _)| text.get(..at).unwrap_or_default().trim_end();
    let joins = |text: &str| text.ends_with(['+', '=']) && !text.ends_with("++");
    strings.step_by(2).map(before).any(joins)
}

/// What stands behind `word` and a name.
fn behind_name<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    rest.get(name_length(rest)..)
}

/// A name in quotes and its value: `"city"="Paris"`, `"city": "Paris"`.
pub(super) fn is_pair(text: &str) -> bool {
    let mark = |c: char| matches!(c, '"' | '\'' | '“' | '”' | '„' | '‟' | '‘' | '’' | '‚' | '‛' | '«' | '»');
    let mut rest = text.chars();
    let Some(quote) = rest.next().filter(|c| mark(*c)) else { return false };
    let rest = rest.as_str();
    let closes = |c: char| if quote.is_ascii() { c == quote } else { mark(c) };
    let behind = rest.get(name_length(rest)..).and_then(|rest| rest.strip_prefix(closes));
    behind.is_some_and(|rest| rest.trim_start().starts_with(['=', ':']))
}

/// A string with holes: `f"{city}"`.
pub(super) fn is_format(text: &str) -> bool {
    let prefix = text.bytes().take(2).take_while(u8::is_ascii_alphabetic).count();
    let (prefix, string) = text.split_at(prefix);
    prefix.contains(['f', 'F']) && string.starts_with(['"', '\'']) && string.contains('{')
}

/// How many bytes of `text` are a name, with dots.
fn name_length(text: &str) -> usize {
    text.find(|c| !(IDENTIFIER.has(c) || c == '.')).unwrap_or(text.len())
}

/// How long the name is that `text` begins with, if a bracket stands right behind it.
fn opens(text: &str) -> Option<usize> {
    let name = name_length(text);
    let bracket = text.get(name..)?.starts_with(['(', '[']);
    (bracket && text.starts_with(char_class::begins_identifier)).then_some(name)
}

/// Where `name(...)` or `name[...]` ends that `text` begins with, and what is called or taken of it in turn.
fn reaches(text: &str) -> Option<usize> {
    let name = opens(text)?;
    let (mut depth, mut string, mut attribute) = (0_usize, Quoting::default(), false);
    for (at, byte) in text.bytes().enumerate().skip(name) {
        if string.read(byte, |_| true) != Part::Outside {
            continue;
        }
        match byte {
            b'(' | b'[' | b'{' => (depth, attribute) = (depth + 1, false),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            // Behind a bracket an attribute may stand.
            b'.' if depth == 0 => attribute = true,
            _ if depth == 0 && !(attribute && IDENTIFIER.has_ascii(byte)) => return Some(at),
            _ => {}
        }
    }
    Some(text.len())
}

#[cfg(test)]
#[path = "../../../../tests/units/expression.rs"]
mod tests;
