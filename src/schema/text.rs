//! What bare text means (XML parameters and their like): the value of the type that the schema expects.
use super::Expected;
use crate::bytes::trimmed;
use crate::json::{self, Ending, LiteralOptions, RepairOptions};
use crate::turn::{ArgumentValue, Repair, RepairCode, Slip};
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// The value that bare text means where the schema expects `expected`.
///
/// A string where only a string may stand, character for character. Else the first of null, number, boolean, object and
/// array that the schema allows and the text spells (as JSON or as Python); else a string, if the schema likes it or not:
/// a value that was not understood is the model's to mend, not ours to invent. White space round other values than strings
/// is dropped; integers keep all their digits, numbers their spelling.
pub fn read_text(text: &str, expected: Expected) -> ArgumentValue<'_> {
    if expected.is_string() {
        return ArgumentValue::Text(Cow::Borrowed(text));
    }
    read_other(trimmed(text), expected, exact_container)
        .map_or(ArgumentValue::Text(Cow::Borrowed(text)), ArgumentValue::Json)
}

/// As [`read_text`], for text where no string may stand: an object or array may have slips that repair mends, which is for
/// the caller to record. `None` if the text spells nothing that is expected.
pub(super) fn read_mended(text: &str, expected: Expected) -> Option<Cow<'_, str>> {
    read_other(trimmed(text), expected, mended_container)
}

/// What reads an object or array, and says that it is all of the text.
type ReadContainer = for<'t> fn(&'t str) -> Option<Cow<'t, str>>;

fn read_other(text: &str, expected: Expected, read: ReadContainer) -> Option<Cow<'_, str>> {
    // Everything may be JSON where the dialect marks nothing and the schema says nothing.
    let open = expected.is_any() && expected.prefers_json();
    let allows = |types: Expected| open || expected.allows(types);
    let Some(first) = text.bytes().next() else {
        let string = expected.is_any() || expected.allows(Expected::STRING);
        return match () {
            () if string => None,
            () if allows(Expected::OBJECT) => Some(Cow::Borrowed("{}")),
            () if allows(Expected::ARRAY) => Some(Cow::Borrowed("[]")),
            () => None,
        };
    };
    match first {
        b'n' | b'N' if means_null(text, expected) => {
            // A schema that has no place for a string has none for the word either.
            expected.reads_null().then_some(Cow::Borrowed("null"))
        }
        b'{' if allows(Expected::OBJECT) || expected.is_foreign() => container(text, expected, open, read),
        b'[' if allows(Expected::ARRAY) || expected.is_foreign() => container(text, expected, open, read),
        b'(' if allows(Expected::ARRAY) => container(text, expected, open, read),
        _ if expected.prefers_string() => None,
        b'0'..=b'9' | b'-' | b'+' | b'.' => number(text, expected, open).or_else(|| {
            let only = allows(Expected::BOOLEAN) && !open && !expected.allows(Expected::STRING);
            match text {
                "1" if only => Some(Cow::Borrowed("true")),
                "0" if only => Some(Cow::Borrowed("false")),
                _ => None,
            }
        }),
        b't' | b'T' if allows(Expected::BOOLEAN) && text.eq_ignore_ascii_case("true") => Some(Cow::Borrowed("true")),
        b'f' | b'F' if allows(Expected::BOOLEAN) && text.eq_ignore_ascii_case("false") => Some(Cow::Borrowed("false")),
        _ => None,
    }
}

/// The bare `text` is the word null, as JSON or Python spells it, in any letters.
pub(crate) fn is_null(text: &str) -> bool {
    text.eq_ignore_ascii_case("null") || text.eq_ignore_ascii_case("none")
}

/// The bare `text` means null: where it may be a text as well, only as JSON and Python spell the word. No template writes another
/// spelling, and `none` is what a text may say.
fn means_null(text: &str, expected: Expected) -> bool {
    matches!(text, "null" | "None") || is_null(text) && !expected.allows(Expected::STRING)
}

/// An object or array that `read` reads, of a kind that is expected.
fn container(text: &str, expected: Expected, open: bool, read: ReadContainer) -> Option<Cow<'_, str>> {
    if is_json(text) {
        return Some(Cow::Borrowed(text));
    }
    let json = read(text)?;
    let kind = if json.starts_with('{') { Expected::OBJECT } else { Expected::ARRAY };
    (open || expected.is_foreign() || expected.allows(kind)).then_some(json)
}

/// An object or array that is valid JSON, nothing before or after it.
fn is_json(text: &str) -> bool {
    /// Less deep than what others read.
    const DEPTH: usize = 64;
    // Mostly it is: then the scanner sees it in a third of the time. It refuses more than is wrong.
    let scanned = json::Scanner::new(0, DEPTH).scan(text.as_bytes(), true);
    scanned == json::ScanResult::Complete { end: text.len() } || serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// An object or array as Python spells it, nothing before or after it. A file with comments and a text in brackets
/// (`[WIP]`) are none: nothing would say what was left out of them, or put in.
fn exact_container(text: &str) -> Option<Cow<'_, str>> {
    let literal = json::literal(text, 0, &LiteralOptions::default())?;
    let python = |repair: &Repair| {
        let rest = repair.offset.and_then(|at| text.get(at..)).unwrap_or_default();
        match repair.code {
            _ if repair.is(Slip::InnerQuotes) => false,
            RepairCode::Quotes => rest.starts_with('\''),
            RepairCode::Literal => ["True", "False", "None", "(", "{"].iter().any(|word| rest.starts_with(word)),
            RepairCode::Escape => true,
            RepairCode::Comma => rest.trim_start_matches(',').trim_start().starts_with([')', ']', '}']),
            _ => false,
        }
    };
    let whole = literal.end == text.len() && literal.ending == Ending::Closed && !literal.guessed;
    (whole && literal.repairs.iter().all(python)).then_some(literal.json)
}

/// An object or array with slips, or with its quotes escaped as if it stood in a string, nothing before or after it.
fn mended_container(text: &str) -> Option<Cow<'_, str>> {
    if text.contains("\\\"")
        && let Ok(inner) = serde_json::from_str::<String>(&format!("\"{text}\""))
        && serde_json::from_str::<IgnoredAny>(&inner).is_ok()
    {
        return Some(Cow::Owned(inner));
    }
    let options = RepairOptions { search: false, join_values: false, ..RepairOptions::default() };
    let mended = json::repair(text, &options).ok()?;
    let whole = mended.complete() && !mended.guessed && mended.consumed == text.len();
    (whole && mended.json.starts_with(['{', '['])).then_some(mended.json)
}

fn number(text: &str, expected: Expected, open: bool) -> Option<Cow<'_, str>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if (open || expected.allows(Expected::INTEGER))
        && is_digits(digits)
        && matches!(digits.as_bytes(), [b'1'..=b'9', ..] | [b'0'])
    {
        return Some(Cow::Borrowed(text));
    }
    let number = Number::read(text)?;
    let whole = number.is_whole();
    if !(open || expected.allows(if whole { Expected::INTEGER } else { Expected::FRACTION })) {
        return None;
    }
    let text_too = open || expected.allows(Expected::STRING);
    if text_too && !number.is_canonical(text) {
        return None;
    }
    let fraction_too = open || expected.allows(Expected::FRACTION);
    if number.is_json(text) && (fraction_too || number.is_plain()) {
        return Some(Cow::Borrowed(text));
    }
    // Where the schema does not ask for a number alone, `007`, `1_000` and the version `3.0` are text.
    if text_too {
        return None;
    }
    // `3.0` for an integer is 3; `007`, `+5`, `1_000` and `.5` are no JSON.
    number.to_json(!fraction_too).map(Cow::Owned)
}

/// The digits of a number of JSON's that is whole and has a point or an exponent.
pub(super) fn plain_integer(text: &str) -> Option<serde_json::Number> {
    let number = Number::read(text).filter(|number| !number.is_plain() && number.is_whole())?;
    number.to_json(true)?.parse().ok()
}

/// A decimal number as people and Python spell it.
pub(super) struct Number<'t> {
    negative: bool,
    whole: &'t str,
    fraction: Option<&'t str>,
    exponent: Option<i64>,
}

/// Digits that a respelt number may have: `1e400` for an integer stays as it is written.
const MAX_DIGITS: i64 = 400;

impl<'t> Number<'t> {
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let negative = text.starts_with('-');
        let body = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = match body.find(['e', 'E']) {
            Some(at) => (body.get(..at)?, Some(body.get(at + 1..)?)),
            None => (body, None),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        // Python's `1_000`: single underscores between digits.
        let grouped = |digits: &str| digits.split('_').all(|group| !group.is_empty() && is_digits(group));
        let whole_ok = if whole.is_empty() { fraction.is_some_and(|f| !f.is_empty()) } else { grouped(whole) };
        if !whole_ok || !fraction.is_none_or(is_digits) {
            return None;
        }
        let exponent = match exponent {
            Some(digits)
                if is_digits(digits.strip_prefix(['-', '+']).unwrap_or(digits)) && !digits.ends_with(['-', '+']) =>
            {
                Some(digits.parse::<i64>().ok().filter(|e| e.abs() < 1_000_000)?)
            }
            Some(_) => return None,
            None => None,
        };
        Some(Self { negative, whole, fraction, exponent })
    }

    /// Digits only, as JSON spells an integer.
    fn is_plain(&self) -> bool {
        self.fraction.is_none() && self.exponent.is_none()
    }

    /// As encoders of JSON write it: nobody's number is `1.10` or `12e4567`, but a version and a commit are.
    fn is_canonical(&self, text: &str) -> bool {
        let signed = || text.trim_end_matches(|c: char| c.is_ascii_digit()).ends_with(['-', '+']);
        (self.exponent.is_none() || signed())
            && self.fraction.is_none_or(|digits| digits == "0" || !digits.ends_with('0'))
    }

    fn is_json(&self, text: &str) -> bool {
        let leading_zero = self.whole.len() > 1 && self.whole.starts_with('0');
        !text.starts_with('+')
            && !self.whole.is_empty()
            && !leading_zero
            && !self.whole.contains('_')
            && self.fraction != Some("")
    }

    /// Whether the value is a whole number, told from the digits as written.
    pub(super) fn is_whole(&self) -> bool {
        let fraction = self.fraction.unwrap_or_default().trim_end_matches('0');
        let exponent = self.exponent.unwrap_or(0);
        let Ok(fraction_digits) = i64::try_from(fraction.len()) else { return false };
        if exponent >= 0 || fraction_digits > 0 {
            return fraction_digits <= exponent || self.is_zero();
        }
        let zeros = self.whole.len() - self.whole.trim_end_matches('0').len();
        i64::try_from(zeros).is_ok_and(|zeros| zeros >= -exponent) || self.is_zero()
    }

    fn is_zero(&self) -> bool {
        self.whole.bytes().chain(self.fraction.unwrap_or_default().bytes()).all(|d| matches!(d, b'0' | b'_'))
    }

    /// The number as JSON; with `plain`, a whole one by its digits alone.
    pub(super) fn to_json(&self, plain: bool) -> Option<String> {
        let sign = if self.negative { "-" } else { "" };
        let digits: String = self.whole.chars().filter(|c| *c != '_').collect();
        if plain {
            if self.is_zero() {
                return Some("0".to_owned());
            }
            let fraction = self.fraction.unwrap_or_default().trim_end_matches('0');
            let exponent = self.exponent.unwrap_or(0);
            let zeros = exponent - i64::try_from(fraction.len()).ok()?;
            let mut all = digits + fraction;
            if zeros > MAX_DIGITS {
                return None;
            }
            match usize::try_from(zeros) {
                Ok(zeros) => all.extend(std::iter::repeat_n('0', zeros)),
                Err(_) => all.truncate(all.len().checked_sub(usize::try_from(-zeros).ok()?)?),
            }
            return Some(format!("{sign}{}", trim_zeros(&all)));
        }
        let fraction = self.fraction.filter(|f| !f.is_empty());
        let mut out = format!("{sign}{}", trim_zeros(&digits));
        if self.fraction.is_some() {
            out.push('.');
            out.push_str(fraction.unwrap_or("0"));
        }
        if let Some(exponent) = self.exponent {
            out.push_str(&format!("e{exponent}"));
        }
        Some(out)
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

fn trim_zeros(digits: &str) -> &str {
    match digits.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(text: &str, schema: Value) -> String {
        match read_text(text, Expected::of(&schema, &schema)) {
            ArgumentValue::Text(text) => format!("{text:?}"),
            ArgumentValue::Json(text) => text.into_owned(),
        }
    }

    #[test]
    fn numbers_keep_their_digits_and_their_spelling() {
        for (text, integer, number) in [
            ("42", "42", "42"),
            ("9007199254740993", "9007199254740993", "9007199254740993"),
            ("123456789012345678901234567890", "123456789012345678901234567890", "123456789012345678901234567890"),
            ("5.0", "5", "5.0"),
            ("1e3", "1000", "1e3"),
            ("1.5e1", "15", "1.5e1"),
            ("-0.0", "0", "-0.0"),
            ("150e-1", "15", "150e-1"),
            ("100e-2", "1", "100e-2"),
            (" 7\n", "7", "7"),
            ("+5", "5", "5"),
            ("007", "7", "7"),
            ("1_000", "1000", "1000"),
            ("2.5", "\"2.5\"", "2.5"),
            (".5", "\".5\"", "0.5"),
            ("5.", "5", "5.0"),
            ("1e-400", "\"1e-400\"", "1e-400"),
            ("inf", "\"inf\"", "\"inf\""),
            ("-", "\"-\"", "\"-\""),
            ("1e", "\"1e\"", "\"1e\""),
            ("1e+", "\"1e+\"", "\"1e+\""),
            (".", "\".\"", "\".\""),
            ("1__0", "\"1__0\"", "\"1__0\""),
            ("1.2.3", "\"1.2.3\"", "\"1.2.3\""),
        ] {
            assert_eq!(read(text, json!({"type": "integer"})), integer, "integer {text}");
            assert_eq!(read(text, json!({"type": "number"})), number, "number {text}");
        }
    }

    #[test]
    fn where_text_may_stand_a_number_is_one_as_it_is_written() {
        let schema = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
        for (text, value) in
            [("42", "42"), ("02134", "\"02134\""), ("+49", "\"+49\""), ("1_000", "\"1_000\""), ("3.0", "\"3.0\"")]
        {
            assert_eq!(read(text, schema.clone()), value, "{text}");
        }
        let schema = json!({"type": ["number", "string"]});
        for (text, value) in
            [("1.5", "1.5"), ("3.0", "3.0"), ("1e-07", "1e-07"), ("1.10", "\"1.10\""), ("12e4567", "\"12e4567\"")]
        {
            assert_eq!(read(text, schema.clone()), value, "{text}");
        }
    }

    #[test]
    fn only_what_says_all_that_the_text_says_is_a_list_or_an_object() {
        let schema = json!({"type": ["string", "array", "object"]});
        for (text, value) in [
            ("['a', True]", "[\"a\", true]"),
            ("[WIP]", "\"[WIP]\""),
            ("[\"a\", ...]", "\"[\\\"a\\\", ...]\""),
            ("{\"port\": 80, // the port\n}", "\"{\\\"port\\\": 80, // the port\\n}\""),
            ("{\"x\": NaN}", "\"{\\\"x\\\": NaN}\""),
        ] {
            assert_eq!(read(text, schema.clone()), value, "{text}");
        }
    }

    #[test]
    fn numbers_too_long_to_spell_out_stay_text() {
        assert_eq!(read("1e999999", json!({"type": "integer"})), "\"1e999999\"");
        assert_eq!(read("1e99999999999999999999", json!({"type": "number"})), "\"1e99999999999999999999\"");
    }
}
