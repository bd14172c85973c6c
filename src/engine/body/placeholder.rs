//! Words without quotes that stand for a value and are none: names of variables and what documentation has in their place.
//! Other bare words are text whose quotes were forgotten.
use super::keys::TYPE_NAMES;
use crate::char_class;
use crate::engine::reader::floor;
use crate::turn::{Repair, RepairCode};

/// No placeholder is longer, with what stands before it.
const LONGEST: usize = 256;

/// One of the `repairs` of what stands in `text` was of such a word, and that is none of the values that are `listed`.
pub(super) fn mended(text: &str, repairs: &[Repair], listed: impl Fn(&str) -> bool) -> bool {
    repairs.iter().any(|repair| match repair.code {
        RepairCode::SourceText | RepairCode::Quotes | RepairCode::Comment => {
            repair.offset.is_some_and(|at| stands(text, at, &listed))
        }
        _ => false,
    })
}

/// Such a word stands at `at`, behind a key and its sign, or an ellipsis in the place of members or items. A word that is `listed` as
/// a value is that: the model was told it.
pub(super) fn stands(text: &str, at: usize, listed: impl Fn(&str) -> bool) -> bool {
    let behind = text.get(at..floor(text, at + LONGEST)).unwrap_or_default();
    let ends = |byte| matches!(byte, b',' | b')' | b'}' | b']' | b'\n');
    let end = behind.bytes().position(ends).unwrap_or(behind.len());
    let word = behind.get(..end).unwrap_or_default().trim_ascii_end();
    let before = text.get(floor(text, at.saturating_sub(LONGEST))..at).unwrap_or_default().trim_ascii_end();
    let Some(key) = before.strip_suffix(['=', ':']) else {
        return is_ellipsis(word) && before.ends_with(['{', '[', '(', ',']);
    };
    let key = key.trim_ascii_end().trim_end_matches(['"', '\'']);
    let last = word.rsplit_once('.').map_or(word, |(_, last)| last);
    let stands = is_blank(word)
        || names(key, last)
        || TYPE_NAMES.contains(&word)
        || is_attribute(key, word)
        || is_constant(word);
    stands && !listed(word)
}

/// What programs call things that have attributes, and attributes of them. Other words with dots in them are names of files, of
/// servers and of devices.
const HOLDERS: [&str; 33] = [
    "args", "kwargs", "params", "options", "opts", "props", "state", "ctx", "context", "config", "cfg", "settings",
    "env", "process", "req", "request", "res", "resp", "response", "result", "event", "user", "item", "row", "obj",
    "msg", "message", "session", "payload", "customer", "order", "record", "input",
];
const OWN: [&str; 3] = ["self", "this", "cls"];
const ATTRIBUTES: [&str; 20] = [
    "name",
    "email",
    "id",
    "url",
    "title",
    "value",
    "length",
    "type",
    "city",
    "address",
    "phone",
    "date",
    "message",
    "content",
    "body",
    "subject",
    "query",
    "user",
    "username",
    "description",
];

/// What ends the name of a file and is no attribute.
const FILES: [&str; 21] = [
    "py", "js", "ts", "jsx", "tsx", "mjs", "css", "html", "md", "txt", "csv", "xml", "yml", "yaml", "toml", "sh", "rs",
    "go", "rb", "java", "php",
];

/// `word` is an attribute of something (`user.email`), and no file's name: the `key` wants none.
pub(super) fn is_attribute(key: &str, word: &str) -> bool {
    let Some((first, rest)) = word.split_once('.') else { return false };
    let last = rest.rsplit('.').next().unwrap_or_default();
    let named = |part: &str| {
        part.starts_with(char_class::begins_identifier)
            && part.bytes().all(|byte| char_class::IDENTIFIER.has_ascii(byte))
    };
    let file = key.ends_with("path") || key.ends_with("file") || key.ends_with("filename");
    // What a file's name ends in is short.
    let attribute = ATTRIBUTES.contains(&last) || HOLDERS.contains(&first) && last.len() > 4;
    (OWN.contains(&first) && !FILES.contains(&last) || attribute && !file) && word.split('.').all(named)
}

/// What begins the name of a constant that stands for any value.
const CONSTANTS: [&str; 4] = ["DEFAULT_", "YOUR_", "MY_", "EXAMPLE_"];

/// `word` is the name of such a constant.
fn is_constant(word: &str) -> bool {
    let capital = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    CONSTANTS.iter().any(|begins| word.starts_with(begins)) && word.bytes().all(capital)
}

fn is_ellipsis(word: &str) -> bool {
    matches!(word, "..." | "…")
}

/// `...`, or a name in angle brackets.
fn is_blank(word: &str) -> bool {
    let name = word.strip_prefix('<').and_then(|word| word.strip_suffix('>'));
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    is_ellipsis(word) || name.is_some_and(|name| !name.is_empty() && name.chars().all(in_name))
}

/// The last word of `text` is `name`.
fn names(text: &str, name: &str) -> bool {
    !name.is_empty() && text.strip_suffix(name).is_some_and(|before| !before.ends_with(|c| char_class::NAME.has(c)))
}
