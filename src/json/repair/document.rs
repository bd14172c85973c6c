//! The whole text: where JSON begins in it, several values in a row, and what stands round them.
use super::lookahead::{self, Quote, skip_json_white, skip_white};
use super::machine::{End, Repairer};
use super::output::Written;
use super::pairs::Pairs;
use super::{Ending, RepairOptions, Repaired, crooked, encoded, token};
use crate::char_class;
use crate::error::{Error, ErrorCode};
use crate::json::block::find_special_or;
use crate::json::partial::{Partial, PartialOptions, read_partial};
use crate::json::scan::{ScanError, ScanResult, Scanner};
use crate::turn::{Repair, RepairCode};
use std::borrow::Cow;

/// Makes valid JSON of text that strict JSON refuses. Valid JSON comes back untouched, and so does whatever is valid
/// in the rest: every valid string and number, the order of keys, white space.
///
/// What is mended is the list of [`RepairCode`]s. Where JSON has no such value, `undefined`, `NaN` and `Infinity`
/// become `null`, tuples and sets arrays. A number whose leading zeros may matter (`01234`) becomes a string. A text
/// that is cut off keeps a string as far as it goes and drops a key without a value.
///
/// # Errors
/// [`ErrorCode::BadJson`] if there is no JSON in the text, or it is nested deeper than the limit.
///
/// ```
/// use toolglot::json::{RepairOptions, repair};
///
/// let repaired = repair("Sure: {'city': 'Bern', days: 3,}", &RepairOptions::default())?;
/// assert_eq!(repaired.json, r#"{"city": "Bern", "days": 3}"#);
/// # Ok::<(), toolglot::Error>(())
/// ```
pub fn repair<'a>(text: &'a str, options: &RepairOptions) -> Result<Repaired<'a>, Error> {
    let mut repaired = repair_knowing(text, options, &mut Pairs::default())?;
    // The value is valid as it stands, but not the whole text: white space that JSON does not have, a byte order mark, or,
    // where nothing is searched for, what follows the value.
    if repaired.repairs.is_empty() && repaired.json.len() < text.len() {
        let before = text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len();
        let odd = repaired.consumed.checked_sub(repaired.json.len()).is_some_and(|start| start > before);
        let at = if odd { before } else { repaired.consumed };
        repaired.repairs.push(Repair::at(RepairCode::Surroundings, at, "what stands round the value was left out"));
    }
    Ok(repaired)
}

/// [`repair`], with what other repairs found out about the brackets of the same text.
pub(crate) fn repair_knowing<'a>(
    text: &'a str,
    options: &RepairOptions,
    pairs: &mut Pairs,
) -> Result<Repaired<'a>, Error> {
    match Scanner::new(0, options.max_depth).scan(text.as_bytes(), true) {
        ScanResult::Complete { end } if skip_json_white(text.as_bytes(), end) == text.len() => {
            let json = Cow::Borrowed(text);
            return Ok(Repaired {
                json,
                repairs: Vec::new(),
                unlisted: 0,
                consumed: end,
                ending: Ending::Closed,
                exchanged: Vec::new(),
                added: Vec::new(),
                guessed: false,
                unended: false,
                ahead: 0,
            });
        }
        ScanResult::Error { at, kind: ScanError::TooDeep } => {
            let message = format!("nested deeper than {}", options.max_depth);
            return Err(Error::at(ErrorCode::BadJson, at.to_string(), message));
        }
        _ => {}
    }
    mend_knowing(text, options, pairs)
}

/// [`repair`] of a text that is known not to be valid, which need not be looked for then. What is valid all the same
/// comes back untouched.
#[cfg(feature = "python")]
pub(crate) fn mend<'a>(text: &'a str, options: &RepairOptions) -> Result<Repaired<'a>, Error> {
    mend_knowing(text, options, &mut Pairs::default())
}

fn mend_knowing<'a>(text: &'a str, options: &RepairOptions, pairs: &mut Pairs) -> Result<Repaired<'a>, Error> {
    let start =
        find_start(text, options.search).ok_or_else(|| Error::new(ErrorCode::BadJson, "there is no JSON here"))?;
    if let Some(unescaped) = encoded::unescaped(text, start) {
        return unescaped.repair(start, options);
    }
    mend_at(text, start, options, pairs)
}

/// [`repair`] of what begins at `start`.
pub(super) fn mend_at<'a>(
    text: &'a str,
    start: usize,
    options: &RepairOptions,
    pairs: &mut Pairs,
) -> Result<Repaired<'a>, Error> {
    let mut repairer = Repairer::new(text, start, options.max_depth);
    if options.search && !text.get(..start).unwrap_or_default().trim_ascii().is_empty() {
        repairer.out.record(RepairCode::Surroundings, 0, "text before the value was left out");
    }
    repairer.pairs = std::mem::take(pairs);
    let read = read(&mut repairer, start);
    *pairs = std::mem::take(&mut repairer.pairs);
    let mut end = read?;
    if !repairer.found {
        return Err(Error::new(ErrorCode::BadJson, "there is no JSON here"));
    }
    if options.join_values {
        end = join(&mut repairer, start, end)?;
    }
    let consumed = end.at;
    let after = surroundings(&mut repairer, consumed, options);
    let (guessed, unended, ahead) = (repairer.guessed.get(), repairer.unended.get(), repairer.ahead.get());
    let Written { json, repairs, unlisted, exchanged, added } = repairer.out.finish(consumed);
    Ok(Repaired {
        json,
        repairs,
        unlisted,
        consumed: after,
        ending: end.ending,
        exchanged,
        added,
        guessed,
        unended,
        ahead,
    })
}

/// What is certain of the value in `text`: at `valid` if the text is valid JSON so far, else wherever it is found.
pub(in crate::json) fn partial_value<'a>(
    text: &'a str,
    valid: Option<usize>,
    options: &PartialOptions,
    growing: bool,
) -> Result<Partial<'a>, Error> {
    let none = || Error::new(ErrorCode::BadJson, "there is no JSON here");
    let start = valid.or_else(|| find_start(text, true)).ok_or_else(none)?;
    if let Some(unescaped) = encoded::unescaped(text, start).map(|unescaped| unescaped.text) {
        let Partial { json, complete } = read_partial(&unescaped, options, growing)?;
        return Ok(Partial { json: Cow::Owned(json.into_owned()), complete });
    }
    let mut repairer = Repairer::new(text, start, options.max_depth);
    (repairer.partial, repairer.growing, repairer.valid) = (Some(options.keep_strings), growing, valid.is_some());
    let end = read(&mut repairer, start)?;
    if repairer.undecided {
        return Ok(Partial { json: Cow::Borrowed("null"), complete: false });
    }
    if !repairer.found {
        return Err(none());
    }
    let Written { json, .. } = repairer.out.finish(end.at);
    Ok(Partial { json, complete: end.ending == Ending::Closed })
}

/// Reads what begins at `start`.
fn read(repairer: &mut Repairer<'_>, start: usize) -> Result<End, Error> {
    if is_braceless(repairer.bytes, start) { repairer.members(start) } else { repairer.value(start) }
}

/// The text from `start` on is an object without its opening brace: it begins with a member and ends with the closing one.
fn is_braceless(bytes: &[u8], start: usize) -> bool {
    matches!(bytes.get(start), Some(b'"' | b'\''))
        && crooked::member_for_item(bytes, start)
        && bytes.trim_ascii_end().ends_with(b"}")
}

/// Values that follow the first one become an array with it.
fn join(repairer: &mut Repairer<'_>, start: usize, mut end: End) -> Result<End, Error> {
    let bracket = |at: usize, r: &Repairer<'_>| matches!(r.bytes.get(at), Some(b'{' | b'['));
    if !bracket(start, repairer) || end.ending != Ending::Closed {
        return Ok(end);
    }
    let mut joined = false;
    loop {
        let mut next = repairer.peek(end.at);
        if let Some(b',' | b';') = repairer.bytes.get(next) {
            next = repairer.peek(next + 1);
        }
        let alone = !joined && !bracket(next, repairer);
        if alone || !bracket(next, repairer) || !lookahead::opens_value(repairer.bytes, next) {
            break;
        }
        repairer.out.record(RepairCode::Joined, next, "several values became one array");
        if !joined {
            repairer.out.fix_place(end.at);
            repairer.out.insert(0, '[');
        }
        joined = true;
        let white = repairer.bytes.get(end.at..next).unwrap_or_default();
        let separator = if white.contains(&b'\n') { ",\n" } else { ", " };
        repairer.out.replace(end.at, next, separator);
        end = repairer.value(next)?;
    }
    if joined {
        repairer.out.replace(end.at, end.at, "]");
    }
    Ok(end)
}

/// Records what follows the value; answers where the value ended, closing brackets too many included.
fn surroundings(repairer: &mut Repairer<'_>, end: usize, options: &RepairOptions) -> usize {
    let mut after = end;
    loop {
        let next = skip_white(repairer.bytes, after);
        match repairer.bytes.get(next) {
            Some(b'}' | b']') => {
                repairer.guess_if(repairer.moved.get());
                repairer.out.record(RepairCode::Bracket, next, "a closing bracket too many was removed");
                after = next + 1;
            }
            Some(_) if options.search => {
                repairer.out.record(RepairCode::Surroundings, next, "text after the value was left out");
                return after;
            }
            _ => return after,
        }
    }
}

/// Where the JSON value in the text begins.
fn find_start(text: &str, search: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let trimmed = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let start = text.len() - trimmed.len();
    match bytes.get(start)? {
        b'{' | b'[' => return Some(start),
        b'(' if lookahead::value(bytes, skip_white(bytes, start + 1)) => return Some(start),
        // A value in inline code is meant, not the code.
        b'`' if search => {
            let ticks = trimmed.bytes().take_while(|byte| *byte == b'`').count();
            let value = skip_white(bytes, start + ticks);
            if ticks < 3 && matches!(bytes.get(value), Some(b'{' | b'[')) && lookahead::opens_value(bytes, value) {
                return Some(value);
            }
        }
        _ => {}
    }
    if is_scalar(bytes, start) || is_braceless(bytes, start) {
        return Some(start);
    }
    if !search {
        return None;
    }
    let (fenced, bracket) = (fenced(text), first_bracket(bytes, start));
    // In a string of the value before it a fence is text.
    let holds = |at: &usize| fenced.is_some_and(|fenced| *at < fenced && fenced < valid_end(bytes, *at));
    bracket.filter(holds).or(fenced).or(bracket)
}

/// Where the valid JSON at `start` ends; `start` if there is none.
fn valid_end(bytes: &[u8], start: usize) -> usize {
    match Scanner::new(start, usize::MAX).scan(bytes, true) {
        ScanResult::Complete { end } => end,
        _ => start,
    }
}

/// The whole text from `start` on is one string, number or literal.
fn is_scalar(bytes: &[u8], start: usize) -> bool {
    let rest = bytes.get(start..).unwrap_or_default().trim_ascii_end();
    if let Some((mark, quote, length)) = lookahead::string_start(bytes, start) {
        let end = string_end(rest, mark - start + length, quote);
        return end == Some(rest.len()) || rest.len() >= 6 && triple(rest, mark - start);
    }
    // Mostly the first bytes tell.
    if !rest.iter().all(|byte| char_class::SCALAR.has_ascii(*byte)) {
        return false;
    }
    let text = std::str::from_utf8(rest).unwrap_or_default();
    token::literal_word(rest).is_some()
        || (text.bytes().any(|byte| byte.is_ascii_digit()) || text.ends_with("Infinity"))
            && token::number(text) != token::Number::Text
}

/// The place after the first mark that closes the string whose body begins at `body`.
fn string_end(bytes: &[u8], body: usize, quote: Quote) -> Option<usize> {
    let mut at = body;
    loop {
        at = find_special_or(bytes, at, quote.lead());
        match bytes.get(at)? {
            b'\\' => at += 2,
            _ => match Quote::at(bytes, at) {
                Some((closing, length)) if quote.closed_by(closing) => return Some(at + length),
                _ => at += 1,
            },
        }
    }
}

fn triple(rest: &[u8], mark: usize) -> bool {
    rest.get(mark..)
        .is_some_and(|rest| [b"\"\"\"", b"'''"].iter().any(|quote| rest.starts_with(*quote) && rest.ends_with(*quote)))
}

/// The value at the start of the first fence that begins with a bracket.
fn fenced(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"```").find_map(|fence| {
        let label = lookahead::word_end(bytes, fence + 3, 32);
        let start = skip_white(bytes, label);
        lookahead::opens_value(bytes, start).then_some(start)
    })
}

/// The first bracket that opens a value, in prose.
fn first_bracket(bytes: &[u8], from: usize) -> Option<usize> {
    let mut weak = None;
    for at in memchr::memchr2_iter(b'{', b'[', bytes.get(from..)?).map(|i| from + i) {
        if lookahead::opens_value(bytes, at) {
            if !is_weak(bytes, at) {
                return Some(at);
            }
            weak = weak.or(Some(at));
        }
    }
    weak
}

/// `[1]` and `[ ]` in prose may be a footnote and a check box.
fn is_weak(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at + 1..).unwrap_or_default();
    let digits = rest.iter().take(8).take_while(|byte| byte.is_ascii_digit() || **byte == b' ').count();
    matches!(rest.get(digits), Some(b']' | b'}'))
}
