//! How a here document of a shell, or of PHP, begins: its two signs have a word behind them.
use crate::char_class::IDENTIFIER;
use std::ops::Range;

/// What stands before a here document of PHP, at the end of what is before it in its line.
const BEFORE_DOCUMENT: [&str; 9] = ["=", "(", "[", ",", ".", "return", "yield", "echo", "print"];

/// The word that ends a here document, where `<<` stands between what is `before` it and the rest of its `line`.
pub(super) fn here(before: &str, line: &str) -> Option<Range<usize>> {
    // No shift (`1 << n`), no here string (`<<<`), no inline code, and no brackets (`<<TOOL CALL>>`).
    if before.trim_ascii().is_empty() || before.ends_with('<') || line.contains('`') {
        return None;
    }
    let behind = line.trim_start_matches(['-', '~']);
    let quoted = behind.trim_ascii_start();
    let quote = quoted.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let word = quoted.trim_start_matches(['\'', '"', '\\']);
    let length = word.bytes().take_while(|byte| IDENTIFIER.has_ascii(*byte)).count();
    let (name, rest) = word.split_at_checked(length)?;
    let rest = match quote {
        Some(quote) => rest.strip_prefix(quote)?,
        None => rest,
    };
    let apart = quoted.len() < behind.len();
    let loud = name.bytes().all(|byte| !byte.is_ascii_lowercase()) && name.len() > 1;
    let plain = !apart && before.ends_with([' ', '\t']);
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\r', '>', '|', ';', '&', ')']);
    let other = rest.trim_ascii_end().ends_with('>') || rest.starts_with(">>") || rest.contains("<<");
    // What is written to a stream: `out << "text";`.
    let other = other || quote.is_some() && apart && rest.starts_with(';');
    let is = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && (quote.is_some() || loud || plain)
        && ends
        && !other;
    let start = line.len() - word.len();
    is.then_some(start..start + length)
}

/// The word that ends a here document of PHP, where `<<` stands between what is `before` it and the rest of its `line`.
pub(super) fn php_document(before: &str, line: &str) -> Option<Range<usize>> {
    let before = before.trim_ascii_end();
    let word = line.strip_prefix('<')?.trim_start_matches([' ', '\t']);
    let start = line.len() - word.len();
    let quote = word.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let name = quote.map_or(Some(word), |quote| word.strip_prefix(quote))?;
    let length = name.bytes().take_while(|byte| IDENTIFIER.has_ascii(*byte)).count();
    let rest = name.get(length..)?;
    let rest = quote.map_or(Some(rest), |quote| rest.strip_prefix(quote))?;
    let is = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && rest.trim_ascii().is_empty()
        && BEFORE_DOCUMENT.iter().any(|sign| before.ends_with(sign));
    let start = start + usize::from(quote.is_some());
    is.then_some(start..start + length)
}
