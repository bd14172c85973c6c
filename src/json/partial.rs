//! Reading JSON that is cut off: what is certain of it so far.
use super::repair::partial_value;
use super::scan::{ScanResult, Scanner};
use crate::error::Error;
use std::borrow::Cow;

/// How [`parse_partial`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialOptions {
    /// A string value that the text ends in is kept as far as it goes; unset, it is dropped with its key.
    pub keep_strings: bool,
    /// Text nested deeper than this is an error.
    pub max_depth: usize,
}

impl Default for PartialOptions {
    fn default() -> Self {
        Self { keep_strings: true, max_depth: 128 }
    }
}

/// What is certain of a value that may be cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial<'a> {
    /// Valid JSON: the whole value where it is whole, else the members and items that are certain.
    pub json: Cow<'a, str>,
    /// The value is whole.
    pub complete: bool,
}

/// Reads JSON text that may be cut off anywhere, and keeps what no further text can change: whole members and items,
/// and by default the cut string at the end as far as it goes (half an escape dropped). A number or literal that the
/// text ends in may still change and is dropped, and so is a key without a value. `null` stands for nothing at all.
///
/// Text that is no JSON so far is read as [`super::repair`] reads it, and what a doubtful quote, comma or bracket leaves open
/// is not told yet. What the text said while it was valid JSON may turn out to be something else where it stops being that.
///
/// # Errors
/// [`crate::ErrorCode::BadJson`] if there is no JSON in the text, or it is nested deeper than the limit.
///
/// ```
/// use toolglot::json::{PartialOptions, parse_partial};
///
/// let partial = parse_partial(r#"{"path": "a.py", "line": 12"#, &PartialOptions::default())?;
/// assert_eq!((&*partial.json, partial.complete), (r#"{"path": "a.py"}"#, false));
/// let partial = parse_partial(r#"{"path": "a.p"#, &PartialOptions::default())?;
/// assert_eq!(partial.json, r#"{"path": "a.p"}"#);
/// # Ok::<(), toolglot::Error>(())
/// ```
pub fn parse_partial<'a>(text: &'a str, options: &PartialOptions) -> Result<Partial<'a>, Error> {
    read_partial(text, options, true)
}

/// As [`parse_partial`], of a text that is over: what it holds in doubt is kept as far as it goes.
pub(crate) fn parse_cut(text: &str) -> Result<Partial<'_>, Error> {
    read_partial(text, &PartialOptions::default(), false)
}

pub(super) fn read_partial<'a>(text: &'a str, options: &PartialOptions, growing: bool) -> Result<Partial<'a>, Error> {
    let nothing = || Partial { json: Cow::Borrowed("null"), complete: false };
    let trimmed = text.trim_ascii_start();
    let start = text.len() - trimmed.len();
    let mut scanner = Scanner::new(start, options.max_depth);
    match scanner.scan(text.as_bytes(), false) {
        ScanResult::Complete { end } if text.get(end..).unwrap_or_default().trim_ascii().is_empty() => {
            let json = text.get(start..end).unwrap_or_default();
            Ok(Partial { json: Cow::Borrowed(json), complete: true })
        }
        // A number, a word or a string alone: only a string has a certain part.
        ScanResult::Incomplete if trimmed.is_empty() || scanner.depth() == 0 && !trimmed.starts_with('"') => {
            Ok(nothing())
        }
        ScanResult::Incomplete if scanner.depth() == 0 && !options.keep_strings => Ok(nothing()),
        result => {
            let valid = matches!(result, ScanResult::Incomplete).then_some(start);
            partial_value(text, valid, options, growing)
        }
    }
}
