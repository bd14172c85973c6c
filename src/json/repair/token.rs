//! Words and numbers as other languages write them, and what they are in JSON.
use super::lookahead::{self, KEY_LIMIT, Quote, skip_white, word_end};
use std::borrow::Cow;

/// The JSON spelling of a literal of JSON, Python or JavaScript. What JSON has no value for (`NaN`, `Infinity`,
/// `undefined`) is `null`, as in JavaScript's `JSON.stringify`.
pub(super) fn literal_word(word: &[u8]) -> Option<&'static str> {
    Some(match word {
        b"true" | b"True" | b"TRUE" => "true",
        b"false" | b"False" | b"FALSE" => "false",
        b"null" | b"None" | b"NULL" | b"Null" | b"undefined" | b"nil" | b"NaN" | b"nan" | b"Infinity" | b"inf" => {
            "null"
        }
        _ => return None,
    })
}

/// The literal that a word is, if no longer word begins with it.
pub(super) fn whole_word(word: &[u8]) -> Option<&'static str> {
    literal_word(word).filter(|_| !matches!(word, b"nil" | b"inf" | b"nan"))
}

/// The literal that a word cut off by the end of the text can only have become.
pub(super) fn cut_literal(word: &[u8]) -> Option<&'static str> {
    const WORDS: [(&[u8], &str); 9] = [
        (b"true", "true"),
        (b"false", "false"),
        (b"null", "null"),
        (b"True", "true"),
        (b"False", "false"),
        (b"None", "null"),
        (b"NaN", "null"),
        (b"undefined", "null"),
        (b"Infinity", "null"),
    ];
    WORDS.iter().find(|(full, _)| !word.is_empty() && full.starts_with(word)).map(|&(_, json)| json)
}

/// The word before a quote is a string prefix of Python (`r`, `b`, `u`, `f` and their pairs).
pub(super) fn string_prefix(word: &[u8]) -> bool {
    matches!(word.len(), 1 | 2)
        && word.iter().all(|byte| matches!(byte.to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f'))
}

/// A function that gives a value when it is given none: an empty one.
pub(super) fn makes_empty(word: &[u8]) -> bool {
    matches!(word, b"list" | b"tuple" | b"set" | b"frozenset" | b"dict" | b"OrderedDict")
}

/// A function that wraps one value and means that value: constructors of Python, JavaScript and the MongoDB shell.
pub(super) fn wrapper(word: &[u8]) -> bool {
    matches!(
        word,
        b"ObjectId"
            | b"ISODate"
            | b"Date"
            | b"NumberLong"
            | b"NumberInt"
            | b"NumberDecimal"
            | b"Decimal"
            | b"UUID"
            | b"BinData"
            | b"Timestamp"
            | b"str"
            | b"int"
            | b"float"
            | b"bool"
            | b"list"
            | b"tuple"
            | b"set"
            | b"frozenset"
            | b"dict"
            | b"OrderedDict"
            | b"Path"
            | b"String"
            | b"Number"
            | b"Boolean"
    )
}

/// What a number token is in JSON.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Number<'a> {
    /// Valid as it stands.
    Valid,
    /// Written so.
    Mended(Cow<'a, str>),
    /// Not a number at all, or one whose spelling matters (`01234`): a string.
    Text,
}

/// The token is a number of JSON.
fn is_json_number(token: &[u8]) -> bool {
    let digits = |from: usize| token.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(token.first() == Some(&b'-'));
    let whole = digits(sign);
    if whole == 0 || whole > 1 && token.get(sign) == Some(&b'0') {
        return false;
    }
    let mut at = sign + whole;
    if token.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return false;
        }
        at += 1 + fraction;
    }
    if let Some(b'e' | b'E') = token.get(at) {
        at += 1 + usize::from(matches!(token.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at);
        if exponent == 0 {
            return false;
        }
        at += exponent;
    }
    at == token.len()
}

/// A number stands behind the white space at `at`, and no colon behind it.
pub(super) fn digits_alone(bytes: &[u8], at: usize) -> bool {
    let start = skip_white(bytes, at);
    let end = word_end(bytes, start, KEY_LIMIT);
    bytes.get(start).is_some_and(u8::is_ascii_digit)
        && Quote::at(bytes, end).is_none()
        && !lookahead::is_colon(bytes, skip_white(bytes, end))
}

/// Where the number at `at` ends, an item, if it has its digits in groups: beside it, or in it, a group begins with a
/// zero, which no number does.
pub(super) fn grouped(bytes: &[u8], at: usize) -> Option<usize> {
    /// So much of an array is looked at.
    const NEAR: usize = 64;
    let near = bytes.get(at..)?.iter().take(NEAR);
    let near =
        near.take_while(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.' | b' ' | b'-' | b'+')).count();
    let near = bytes.get(at..at + near)?;
    let zero =
        |four: &[u8]| matches!(four, [before, b',', b'0', after] if before.is_ascii_digit() && after.is_ascii_digit());
    if !near.windows(4).any(zero) {
        return None;
    }
    let digits =
        |at: usize| bytes.get(at..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let sign = usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
    let mut end = at + sign + digits(at + sign);
    if !(1..4).contains(&(end - at - sign)) {
        return None;
    }
    let first = end;
    while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
        end += 4;
    }
    if end > first && bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    let over = matches!(bytes.get(skip_white(bytes, end)), None | Some(b',' | b']' | b'}'));
    (end > first && over).then_some(end)
}

/// Reads a token of digits, letters, signs, dots and underscores.
pub(super) fn number(token: &str) -> Number<'_> {
    if is_json_number(token.as_bytes()) {
        return Number::Valid;
    }
    let (sign, rest) = match token.as_bytes().first() {
        Some(b'-') => ("-", token.get(1..).unwrap_or_default()),
        Some(b'+') => ("", token.get(1..).unwrap_or_default()),
        _ => ("", token),
    };
    if let b"Infinity" | b"inf" | b"NaN" | b"nan" = rest.as_bytes() {
        return Number::Mended(Cow::Borrowed("null"));
    }
    let radix = match rest.as_bytes() {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => 10,
    };
    if radix != 10 {
        let digits: String = rest.chars().skip(2).filter(|&c| c != '_').collect();
        let digits = digits.trim_end_matches(['n', 'L']);
        if digits.starts_with('+') {
            return Number::Text;
        }
        return u128::from_str_radix(digits, radix)
            .map_or(Number::Text, |value| Number::Mended(Cow::Owned(format!("{sign}{value}"))));
    }
    decimal(sign, rest)
}

/// The parts of a decimal number, as they stand.
struct Parts<'a> {
    whole: &'a str,
    point: bool,
    fraction: &'a str,
    exponent: &'a str,
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'_').count())
}

fn decimal<'a>(sign: &str, rest: &'a str) -> Number<'a> {
    let (whole, rest) = digits(rest);
    let (point, rest) = rest.strip_prefix('.').map_or((false, rest), |rest| (true, rest));
    let (fraction, rest) = if point { digits(rest) } else { ("", rest) };
    let (exponent, rest) = match rest.strip_prefix(['e', 'E']) {
        Some(after) => {
            let unsigned = after.strip_prefix(['+', '-']).unwrap_or(after);
            let (_, tail) = digits(unsigned);
            (rest.get(..rest.len() - tail.len()).unwrap_or_default(), tail)
        }
        None => ("", rest),
    };
    let suffix = matches!(rest, "" | "n" | "L" | "l" | "f" | "F" | "d" | "D");
    if !suffix || !(whole.bytes().chain(fraction.bytes()).any(|byte| byte.is_ascii_digit())) {
        return Number::Text;
    }
    let parts = Parts { whole, point, fraction, exponent };
    let grouped = |text: &str| text.starts_with('_') || text.ends_with('_') || text.contains("__");
    if grouped(whole) || grouped(fraction) || exponent.contains('_') {
        return Number::Text;
    }
    let zeros = parts.whole.len() > 1 && parts.whole.starts_with('0');
    let exponent_whole = parts.exponent.is_empty() || parts.exponent.ends_with(|c: char| c.is_ascii_digit());
    // A two-digit part of a date loses nothing with its zero; a postal code or an article number would.
    if zeros && !parts.point && parts.exponent.is_empty() && parts.whole.len() > 2 && !parts.whole.contains('_') {
        return Number::Text;
    }
    Number::Mended(Cow::Owned(mended(sign, &parts, exponent_whole)))
}

fn mended(sign: &str, parts: &Parts<'_>, exponent_whole: bool) -> String {
    let mut out = String::from(sign);
    let whole = parts.whole.trim_start_matches(['0', '_']);
    out.push_str(if whole.is_empty() { "0" } else { whole });
    if parts.point {
        out.push('.');
        out.push_str(if parts.fraction.is_empty() { "0" } else { parts.fraction });
    }
    if exponent_whole {
        out.push_str(parts.exponent);
    }
    out.retain(|c| c != '_');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_mended_or_left_text() {
        for (token, expected) in [
            ("7", None),
            ("-0.5e+10", None),
            ("0", None),
            ("07", Some("7")),
            ("00", Some("0")),
            ("+1", Some("1")),
            ("1.", Some("1.0")),
            (".5", Some("0.5")),
            ("-.5", Some("-0.5")),
            ("00.5", Some("0.5")),
            ("0x1F", Some("31")),
            ("-0xff", Some("-255")),
            ("0b101", Some("5")),
            ("0o17", Some("15")),
            ("1_000", Some("1000")),
            ("1_000.5_0", Some("1000.50")),
            ("1e", Some("1")),
            ("1e-", Some("1")),
            ("10n", Some("10")),
            ("10L", Some("10")),
            ("-Infinity", Some("null")),
            ("1.e5", Some("1.0e5")),
        ] {
            let mended = expected.map_or(Number::Valid, |text| Number::Mended(Cow::Borrowed(text)));
            assert_eq!(number(token), mended, "{token}");
        }
        for token in
            ["01234", "1.2.3", "2024-01-01", "12px", "-", ".", "+", "1__0", "1_", "0x", "0xg", "e5", "1e5.5", "007"]
        {
            assert_eq!(number(token), Number::Text, "{token}");
        }
    }
}
