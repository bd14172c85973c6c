//! What stands at a place, told by a bounded look and without changing anything: on this rest the decisions where a
//! doubtful string ends and which bracket is wrong.
use super::crooked;
use crate::char_class;
use crate::json::block::find_special_or;

/// Keys without quotes of JSON's that are longer than this are not recognised by looking ahead.
pub(super) const KEY_LIMIT: usize = 128;

/// The place of the first byte at or after `at` that is no JSON white space.
#[inline]
pub(super) fn skip_json_white(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// As [`skip_json_white`], blanks that JSON does not know among it.
#[inline]
pub(super) fn skip_white(bytes: &[u8], at: usize) -> usize {
    let mut at = skip_json_white(bytes, at);
    while let Some(0x80..) = bytes.get(at)
        && let Some(length) = odd_space(bytes, at)
    {
        at = skip_json_white(bytes, at + length);
    }
    at
}

/// The place after white space that is written in escapes (`\\n` and a blank, say), if it stands at `at` and a sign of
/// JSON behind it: text that was escaped as a whole, or a line break that the model spelt.
pub(super) fn escaped_white(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'\\') {
        return None;
    }
    let window = bytes.get(..bytes.len().min(at + KEY_LIMIT)).unwrap_or(bytes);
    let mut end = at;
    while let (Some(b'\\'), Some(b'n' | b't' | b'r')) = (window.get(end), window.get(end + 1)) {
        end = skip_white(window, end + 2);
    }
    let mark = if window.get(end) == Some(&b'\\') { end + 1 } else { end };
    let quote = matches!(window.get(mark), Some(b'"' | b'\''));
    let sign = quote || matches!(window.get(end), Some(b'{' | b'}' | b'[' | b']' | b','));
    (end > at && sign).then_some(end)
}

/// The next token's place, if it is here or after one blank and is surely no comment.
#[inline(always)]
pub(super) fn plain(bytes: &[u8], at: usize) -> Option<usize> {
    let is_plain = |byte: u8| byte > b' ' && byte < 0x80 && !matches!(byte, b'/' | b'#' | b'.' | b'\\');
    match bytes.get(at) {
        Some(&byte) if is_plain(byte) => Some(at),
        Some(b' ') if bytes.get(at + 1).is_some_and(|&byte| is_plain(byte)) => Some(at + 1),
        _ => None,
    }
}

/// The byte at `at` and its length, with the full-width comma and colon read as their ASCII forms.
pub(super) fn punctuation(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    match bytes.get(at)? {
        0xef => match (bytes.get(at + 1), bytes.get(at + 2)) {
            (Some(0xbc), Some(0x8c)) => Some((b',', 3)),
            (Some(0xbc), Some(0x9a)) => Some((b':', 3)),
            _ => Some((0xef, 1)),
        },
        &byte => Some((byte, 1)),
    }
}

/// A full-width comma or colon stands at `at`.
pub(super) fn wide_punctuation(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&0xef) && punctuation(bytes, at).is_some_and(|(_, length)| length == 3)
}

/// A kind of quotation mark that can open a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    Backtick,
    /// `“ ” „ ‟`
    SmartDouble,
    /// `‘ ’ ‚ ‛`
    SmartSingle,
}

impl Quote {
    /// The mark at `at`, and its length.
    #[inline]
    pub(super) fn at(bytes: &[u8], at: usize) -> Option<(Self, usize)> {
        match bytes.get(at)? {
            b'"' => Some((Self::Double, 1)),
            b'\'' => Some((Self::Single, 1)),
            b'`' => Some((Self::Backtick, 1)),
            0xe2 if bytes.get(at + 1) == Some(&0x80) => match bytes.get(at + 2)? {
                0x9c..=0x9f => Some((Self::SmartDouble, 3)),
                0x98..=0x9b => Some((Self::SmartSingle, 3)),
                _ => None,
            },
            _ => None,
        }
    }

    /// A byte that every mark closing such a string begins with, beside `"`, which closes a smart string as well.
    pub(super) const fn lead(self) -> u8 {
        match self {
            Self::Double => b'"',
            Self::Single => b'\'',
            Self::Backtick => b'`',
            Self::SmartDouble | Self::SmartSingle => 0xe2,
        }
    }

    /// The mark `closing` can close a string that this one opened.
    pub(super) fn closed_by(self, closing: Self) -> bool {
        self == closing
            || matches!((self, closing), (Self::SmartDouble, Self::Double) | (Self::SmartSingle, Self::Single))
    }
}

/// A byte of a word: of a bare key, a literal or a number.
#[inline]
pub(super) const fn is_word(byte: u8) -> bool {
    char_class::JS_IDENTIFIER.has_byte(byte)
}

/// The place after the word at `at`; dots and hyphens inside it belong to it.
pub(super) fn word_end(bytes: &[u8], at: usize, limit: usize) -> usize {
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        if end - at >= limit
            || wide_punctuation(bytes, end)
            || !(is_word(byte) || (end > at && matches!(byte, b'-' | b'.')))
        {
            break;
        }
        end += 1;
    }
    end
}

/// A colon, or `=` in its place, at `at`: but no `://` and no `==`.
pub(super) fn is_colon(bytes: &[u8], at: usize) -> bool {
    match punctuation(bytes, at) {
        Some((b':', _)) => !(bytes.get(at + 1) == Some(&b'/') && bytes.get(at + 2) == Some(&b'/')),
        Some((b'=', _)) => bytes.get(at + 1) != Some(&b'='),
        _ => false,
    }
}

/// What a quoted string is where a key may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyLook {
    /// A key: a colon follows.
    Key,
    /// A value follows, whose colon is missing: where items stand as well, a comma is as likely.
    Valued,
    /// Nothing speaks against it: the text ends in it or behind it, or it is longer than is looked.
    Perhaps,
    No,
}

/// A quoted key and its colon (which may be missing if a value follows) stand at `at`, as far as can be seen.
pub(super) fn quoted_key(bytes: &[u8], at: usize) -> bool {
    key_look(bytes, at) != KeyLook::No
}

/// What stands at `at`, where a quoted key may.
pub(super) fn key_look(bytes: &[u8], at: usize) -> KeyLook {
    let Some((quote, opening)) = Quote::at(bytes, at) else { return KeyLook::No };
    // A mark that stands there alone is looked for as far as the text goes: the next one ends the look, so that no two look at the
    // same bytes.
    let alone = bytes.get(at) == Some(&b'"');
    let limit = if alone { bytes.len() } else { at + opening + KEY_LIMIT };
    let window = bytes.get(..bytes.len().min(limit)).unwrap_or(bytes);
    let mut i = at + opening;
    loop {
        i = find_special_or(window, i, quote.lead());
        match window.get(i) {
            None => return KeyLook::Perhaps,
            Some(b'\\') => i += 2,
            Some(_) => match Quote::at(bytes, i) {
                Some((closing, length)) if quote.closed_by(closing) => {
                    let next = skip_white(bytes, i + length);
                    let spaced = next > i + length;
                    let valued = match bytes.get(next) {
                        None => return KeyLook::Perhaps,
                        Some(b'{' | b'[') => true,
                        Some(b'"' | b'0'..=b'9' | b'-') => spaced,
                        // An apostrophe is none of these.
                        Some(0xe2) => spaced && Quote::at(bytes, next).is_some_and(|(mark, _)| mark == quote),
                        Some(_) => spaced && literal(bytes, next) && crooked::surely_value(bytes, next),
                    };
                    return match () {
                        () if is_colon(bytes, next) => KeyLook::Key,
                        // Nothing between two quotes is the text of a string, or its other mark.
                        () if valued && i > at + opening => KeyLook::Valued,
                        () => KeyLook::No,
                    };
                }
                _ => i += 1,
            },
        }
    }
}

/// An unquoted key (perhaps with one of its quotes) and its colon stand at `at`.
pub(super) fn bare_key(bytes: &[u8], at: usize) -> bool {
    let end = word_end(bytes, at, KEY_LIMIT);
    if end == at {
        return false;
    }
    let end = Quote::at(bytes, end).map_or(end, |(_, length)| end + length);
    is_colon(bytes, skip_white(bytes, end))
}

/// An option as a command line has it (`--name`) and white space stand at `at`: where its name begins and ends.
pub(super) fn flag(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let start = at + 2;
    let dashes = bytes.get(at..start) == Some(b"--");
    let end = if dashes { word_end(bytes, start, KEY_LIMIT) } else { start };
    (end > start && bytes.get(end).is_some_and(u8::is_ascii_whitespace)).then_some((start, end))
}

/// A keyword argument (`name=`) stands at `at`.
pub(super) fn keyword(bytes: &[u8], at: usize) -> bool {
    let end = word_end(bytes, at, KEY_LIMIT);
    let next = skip_white(bytes, end);
    end > at && bytes.get(next) == Some(&b'=') && bytes.get(next + 1) != Some(&b'=')
}

/// A comment or an ellipsis begins at `at`.
pub(super) fn comment(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        Some(b'/') => matches!(bytes.get(at + 1), Some(b'/' | b'*')),
        Some(b'#') => true,
        Some(b'.') => bytes.get(at + 1) == Some(&b'.') && bytes.get(at + 2) == Some(&b'.'),
        Some(0xe2) => bytes.get(at + 1) == Some(&0x80) && bytes.get(at + 2) == Some(&0xa6),
        _ => false,
    }
}

/// A fence stands at `at`.
pub(super) fn fence(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(b"```"))
}

/// A value that needs no guessing begins at `at`: a string, a number, a bracket, a literal, or a word that is all of
/// its item.
pub(super) fn value(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        None => false,
        Some(b'0'..=b'9' | b'-' | b'+' | b'{' | b'[' | b'(') => true,
        Some(_) if Quote::at(bytes, at).is_some() => true,
        Some(_) => {
            let end = word_end(bytes, at, KEY_LIMIT);
            let word = bytes.get(at..end).unwrap_or_default();
            end > at
                && (super::token::literal_word(word).is_some()
                    || matches!(bytes.get(skip_white(bytes, end)), Some(b',' | b']' | b')') | None)
                    || (super::token::string_prefix(word) && Quote::at(bytes, end).is_some()))
        }
    }
}

/// A key with only its closing quote (`b": 1`) stands at `at`.
pub(super) fn half_quoted_key(bytes: &[u8], at: usize) -> bool {
    let end = word_end(bytes, at, KEY_LIMIT);
    let Some((_, length)) = Quote::at(bytes, end) else { return false };
    end > at && is_colon(bytes, skip_white(bytes, end + length))
}

/// The place after the words at `at`, of which one blank parts each from the next: keys of several words are short.
pub(super) fn words_end(bytes: &[u8], at: usize) -> usize {
    const LIMIT: usize = 48;
    let mut end = word_end(bytes, at, LIMIT);
    while end > at && bytes.get(end) == Some(&b' ') && end - at < LIMIT {
        let next = word_end(bytes, end + 1, LIMIT);
        if next == end + 1 {
            break;
        }
        end = next;
    }
    end
}

/// The colon of a key that lacks its closing quote (`"a: 1`), if the text from `body` to `end` begins so.
pub(super) fn unclosed_key(bytes: &[u8], body: usize, end: usize) -> Option<usize> {
    let word = word_end(bytes, body, KEY_LIMIT);
    let colon = skip_white(bytes, word);
    // An equals sign is one right before the value's mark alone.
    let is_colon = match bytes.get(colon) {
        Some(b':') => colon < end,
        Some(b'=') => colon + 1 == end && colon == word,
        _ => false,
    };
    if word > body && is_colon {
        return Some(word);
    }
    // Several words are as likely text, unless the value needs no guessing.
    let words = words_end(bytes, body);
    let value = skip_white(bytes, words + 1);
    let sure = || value == end || value < end && crooked::surely_value(bytes, value);
    (words > word && word > body && bytes.get(words) == Some(&b':') && sure()).then_some(words)
}

/// A key as Python's objects have them beside strings stands at `at`, and behind its colon a value: a number, `True`, `None`, a
/// tuple, a string with a prefix.
pub(super) fn python_key(bytes: &[u8], at: usize) -> bool {
    let end = match bytes.get(at) {
        Some(b'(') => {
            let near = bytes.get(at..bytes.len().min(at + KEY_LIMIT)).unwrap_or_default();
            near.iter().position(|byte| *byte == b')').map(|length| at + length + 1)
        }
        Some(b'-' | b'+') => Some(word_end(bytes, at + 1, KEY_LIMIT)).filter(|_| is_digit(bytes, at + 1)),
        Some(_) if is_digit(bytes, at) || literal(bytes, at) => Some(word_end(bytes, at, KEY_LIMIT)),
        _ => string_start(bytes, at).filter(|(mark, ..)| *mark > at && quoted_key(bytes, *mark)).map(|_| at),
    };
    let Some(end) = end else { return false };
    let colon = skip_white(bytes, end);
    end == at || bytes.get(colon) == Some(&b':') && value(bytes, skip_white(bytes, colon + 1))
}

fn is_digit(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

/// A literal word (`True`, `null`) stands at `at`.
pub(super) fn literal(bytes: &[u8], at: usize) -> bool {
    let end = word_end(bytes, at, KEY_LIMIT);
    bytes.get(at..end).is_some_and(|word| super::token::literal_word(word).is_some())
}

/// The number that `count` hexadecimal digits at `at` make.
pub(super) fn hex(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let digits = bytes.get(at..at + count)?;
    digits.iter().try_fold(0, |value, &byte| Some(value << 4 | char::from(byte).to_digit(16)?))
}

/// The string, perhaps with a Python prefix, at `at`: where its opening mark stands, its kind and length.
pub(super) fn string_start(bytes: &[u8], at: usize) -> Option<(usize, Quote, usize)> {
    if let Some((quote, length)) = Quote::at(bytes, at) {
        return Some((at, quote, length));
    }
    let letters = bytes.get(at..)?.iter().take(3).take_while(|byte| byte.is_ascii_alphabetic()).count();
    let mark = at + letters;
    match bytes.get(mark)? {
        b'"' | b'\'' if super::token::string_prefix(bytes.get(at..mark)?) => {
            Quote::at(bytes, mark).map(|(quote, length)| (mark, quote, length))
        }
        _ => None,
    }
}

/// The place after the comment or ellipsis at `at`. A line comment on the last line of the text leaves the brackets at
/// its end alone.
pub(super) fn comment_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.starts_with(b"/*") {
        return memchr::memmem::find(rest, b"*/").map_or(bytes.len(), |end| at + end + 2);
    }
    if rest.starts_with(b"...") {
        return at + rest.iter().take_while(|&&byte| byte == b'.').count();
    }
    if rest.first() == Some(&0xe2) {
        return at + 3;
    }
    let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    let (line, behind) = rest.split_at(end);
    if skip_white(behind, 0) < behind.len() {
        return at + end;
    }
    let closing = |byte: &u8| matches!(byte, b'}' | b']' | b')' | b' ' | b'\t');
    at + line.iter().rposition(|byte| !closing(byte)).map_or(0, |last| last + 1)
}

/// The length of a white-space character at `at` that JSON does not take for one (a no-break space, a byte order mark).
pub(super) fn odd_space(bytes: &[u8], at: usize) -> Option<usize> {
    // No such character has more than three bytes.
    let window = bytes.get(at..bytes.len().min(at + 3))?;
    let character = window.utf8_chunks().next()?.valid().chars().next()?;
    (character.is_whitespace() || matches!(character, '\u{feff}' | '\u{200b}' | '\u{2060}'))
        .then(|| character.len_utf8())
}

/// The bracket at `at` opens something that looks like a JSON, Python or JavaScript value, and not like prose.
pub(super) fn opens_value(bytes: &[u8], at: usize) -> bool {
    let next = skip_white(bytes, at + 1);
    // A comma too many.
    let next = if bytes.get(next) == Some(&b',') { skip_white(bytes, next + 1) } else { next };
    match (bytes.get(at), bytes.get(next)) {
        (_, None) => at + 1 < bytes.len() || at == 0,
        (_, Some(_)) if Quote::at(bytes, next).is_some() || comment(bytes, next) => true,
        (Some(b'{'), Some(b'}' | b'{' | b'\\')) => true,
        (Some(b'{'), Some(_)) => bare_key(bytes, next),
        (Some(b'['), Some(b'{' | b'[' | b']' | b'(' | b'-' | b'0'..=b'9' | b'\\')) => true,
        (Some(b'['), Some(_)) => literal(bytes, next),
        _ => false,
    }
}
