//! Whether a string that holds its own quotes, or a text without any, is one value, or several members or items whose quotes
//! went wrong.
use super::lookahead::{Quote, is_word, skip_white};
use super::quoted::{Quoted, is_apostrophe};
use super::token;
use crate::json::Balance;

/// Structure shows in the body of a string, `text`, whose marks are `quote`: it begins with a sign that stands before a value,
/// a mark that should open something in it closes something, one that should close opens, or the brackets before it are
/// those that close what stands round the string.
pub(super) fn is_torn(text: &[u8], quote: Quote) -> bool {
    let mark = quote.lead();
    let begins = text.get(skip_white(text, 0)).copied();
    if matches!(begins, Some(b',' | b':' | b']' | b'}')) {
        return true;
    }
    match quote {
        // They say themselves what they open and close.
        Quote::SmartDouble => return closes_first(text),
        Quote::SmartSingle => return false,
        Quote::Backtick if stands_between(text) => return true,
        _ => {}
    }
    let (mut open, mut balance) = (false, Balance::default());
    // Nothing but signs stands behind a bracket that closes what the string does not open.
    let mut closed = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            _ if byte == mark && !is_apostrophe(text, at, at + 1) => {
                if if open { opens(text, at) } else { closed || closes(text, at) } {
                    return true;
                }
                open = !open;
            }
            _ => balance.read(byte),
        }
        closed = match byte {
            b'}' | b']' => closed || balance.closes_more(),
            b'{' | b'[' | b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => closed,
            _ => false,
        };
        at += 1;
    }
    // What opens in it does not end in it.
    open && balance.opens_more() || matches!(begins, Some(b'{' | b'[')) && !balance.is_even()
}

/// The first typographic mark in `text` closes what only the one before all of it opened, and another one opens something behind that:
/// `“a” and “b”`.
fn closes_first(text: &[u8]) -> bool {
    let found = |mark: &str| memchr::memmem::find(text, mark.as_bytes());
    let last = |mark: &str| memchr::memmem::rfind(text, mark.as_bytes());
    let (low, left, right) = (found("„"), found("“"), found("”"));
    let closes = |close: Option<usize>, open: Option<usize>, last: Option<usize>| {
        close.is_some_and(|close| open.is_none_or(|open| close < open) && last.is_some_and(|last| close < last))
    };
    closes(right, low.into_iter().chain(left).min(), last("“").max(last("„"))) || closes(left, low, last("„"))
}

/// The first backtick in `text` closes a word and the next one opens one: `` `ls` | `wc` ``.
fn stands_between(text: &[u8]) -> bool {
    let mut marks = memchr::memchr_iter(b'`', text);
    let (Some(first), Some(second)) = (marks.next(), marks.next()) else { return false };
    let byte = |at: Option<usize>| at.and_then(|at| text.get(at));
    let white = |at: Option<usize>| byte(at).is_some_and(u8::is_ascii_whitespace);
    let word = |at: Option<usize>| byte(at).is_some_and(|byte| !byte.is_ascii_whitespace());
    word(first.checked_sub(1)) && white(Some(first + 1)) && white(second.checked_sub(1)) && word(Some(second + 1))
}

/// Nothing but white space parts the `item` of a list from another string, and the two were likelier one: what brackets and tags one
/// opens the other closes, or not even a blank stands there. In an item that holds its own quotes (`doubted`) one of these was taken
/// for its end. A semicolon between two marks is text as well.
pub(super) fn parts_item(bytes: &[u8], item: &Quoted, doubted: bool) -> bool {
    let mark = item.quote.lead();
    let text = bytes.get(item.body..item.end).unwrap_or_default();
    let even = || {
        let count = |sign: u8| memchr::memchr_iter(sign, text).count();
        let Balance { parens, .. } = Balance::of(text);
        Balance::of(text).is_even() && parens == 0 && count(b'<') == count(b'>')
    };
    let behind = bytes.get(item.after..).unwrap_or_default();
    if behind.first() == Some(&b';') {
        return behind.get(1) == Some(&mark);
    }
    let glued = behind.first() == Some(&mark);
    let parted = glued || behind.get(skip_white(behind, 0)) == Some(&mark);
    let before = bytes.get(..item.open).unwrap_or_default().trim_ascii_end();
    let uneven = (doubted || glued) && (parted || before.last() == Some(&mark)) && !even();
    uneven || glued && doubted
}

/// Structure shows in a text without quotes round it: it begins with a sign that stands before a value, a key stands in it, or
/// its brackets are not closed by their like.
pub(super) fn is_torn_text(text: &[u8]) -> bool {
    let signs = match text {
        [b',' | b':' | b']' | b'}', ..] | [b'\\'] => true,
        [b'\\', next, ..] => !next.is_ascii_alphanumeric() && *next != b'\\',
        [first, ..] => first.is_ascii_digit() && text.contains(&b'[') || is_behind_sign(text),
        [] => false,
    };
    let marked = [Quote::Double, Quote::Single].into_iter().any(|quote| {
        let key = memchr::memmem::find(text, &[quote.lead(), b':']).is_some();
        key || text.contains(&quote.lead()) && is_torn(text, quote)
    });
    signs || marked || !is_paired(text)
}

/// All of `text` is a list, an object or a string, with a sign in front.
fn is_behind_sign(text: &[u8]) -> bool {
    let sign = |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b'[' | b'{' | b'(' | b'"' | b'\'');
    let signs = text.iter().take_while(|byte| sign(byte)).count();
    let value = text.get(signs..).unwrap_or_default().trim_ascii();
    signs > 0 && matches!(value, [b'[', .., b']'] | [b'{', .., b'}'] | [b'"' | b'\'', ..])
}

/// Each bracket of `text` is closed by its like; parentheses may stay open.
fn is_paired(text: &[u8]) -> bool {
    let mut open = Vec::new();
    let paired = text.iter().all(|byte| match byte {
        b'(' | b'[' | b'{' => {
            open.push(*byte);
            true
        }
        b')' => open.pop() == Some(b'('),
        b']' => open.pop() == Some(b'['),
        b'}' => open.pop() == Some(b'{'),
        _ => true,
    });
    paired && open.iter().all(|byte| *byte == b'(')
}

/// The mark at `at` stands behind a word, and what follows a value stands behind it.
fn closes(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let ends = match before {
        [.., b'\\', b'n' | b't' | b'r'] => false,
        [.., last] => is_word(*last) || matches!(last, b')' | b']' | b'}' | b'.' | b'!' | b'?'),
        [] => false,
    };
    let letters = before.iter().rev().take(3).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let prefixed = before.get(before.len() - letters..).is_some_and(token::string_prefix);
    let sign = matches!(text.get(at + 1), Some(b'{' | b'[' | b'#' | b';'));
    let behind = text.get(skip_white(text, at + 1)..).unwrap_or_default();
    // `'a'. 'b'`: two strings, and a slip for the comma.
    let parts =
        |behind: &[u8]| matches!(behind, [b'.' | b';', rest @ ..] if text.get(at) == rest.trim_ascii_start().first());
    let follows = matches!(behind, [b',' | b':' | b']' | b'}', ..] | [b'\\', b'"', ..]);
    ends && (sign && !prefixed || follows || parts(behind) || begins_member(text, at + 1))
}

/// A line begins at `at` behind blanks, and in it stand a word and a quote that opens something: a key and its value, without the signs
/// between them.
fn begins_member(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.get(skip_white(rest, 0)..).unwrap_or_default();
    let parted = rest.get(..rest.len() - line.len()).is_some_and(|white| white.contains(&b'\n'));
    let key = line.iter().take_while(|byte| is_word(**byte)).count();
    let value = line.get(key..).unwrap_or_default();
    let blanks = value.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    parted && key > 0 && blanks > 0 && value.get(blanks) == text.get(at - 1)
}

/// The mark at `at` stands where a value or a key begins, and a word behind it.
fn opens(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_ascii_end().last();
    matches!(before, Some(b',' | b':' | b'[' | b'{')) && text.get(at + 1).is_some_and(|byte| is_word(*byte))
}

/// What was read as a string with two of its quotes inside is two strings and an operator: `"a" if x else "b"`.
pub(super) fn is_expression(text: &[u8], quote: Quote) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let mark = if quote == Quote::Single { '\'' } else { '"' };
    let mut parts = text.splitn(4, mark);
    let (Some(_), Some(operator), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let spaced = operator.starts_with(' ') && operator.ends_with(' ');
    let operator = operator.trim();
    let chosen = operator.starts_with("if ") && operator.ends_with(" else");
    spaced && (chosen || matches!(operator, "and" | "or" | "%" | "+" | "*"))
}
