//! Literals of Python and JSON, as JSON.
use crate::char_class;
use crate::engine::Policy;
use crate::json::{self, LiteralOptions, Part, Quoting, ScanResult, Scanner, WORDS};
use crate::turn::{Repair, RepairCode, Slip};
use std::borrow::Cow;

/// What was read of a literal.
#[derive(Debug)]
pub(super) struct Literal<'t> {
    pub(super) json: Cow<'t, str>,
    pub(super) repairs: Vec<Repair>,
    /// What a value in it was meant to be is a guess.
    pub(super) guessed: bool,
    /// Strings that stand one behind the other are one in it.
    pub(super) joined: bool,
    /// Of the quotes in its strings only an apostrophe was mended.
    pub(super) apostrophe: bool,
    /// The text is JSON as it stands, or a word of Python's for one of JSON's.
    pub(super) sound: bool,
}

impl<'t> Literal<'t> {
    /// It is this JSON, and nothing of it was mended.
    fn sound(json: &'t str) -> Self {
        Self {
            json: Cow::Borrowed(json),
            repairs: Vec::new(),
            guessed: false,
            joined: false,
            apostrophe: false,
            sound: true,
        }
    }

    /// One of its repairs has this code.
    pub(super) fn mended(&self, code: RepairCode) -> bool {
        self.repairs.iter().any(|repair| repair.code == code)
    }
}

/// A Python or JSON literal as JSON text. What is no literal is kept as its source text, in a string.
pub(super) fn read(text: &str, offset: usize) -> Literal<'_> {
    if let Some(json) = same_in_json(text) {
        return Literal::sound(json);
    }
    if text.trim().is_empty() {
        let repairs = vec![Repair::at(RepairCode::Literal, offset, "a missing value became null")];
        return Literal {
            json: "null".into(),
            repairs,
            guessed: false,
            joined: false,
            apostrophe: false,
            sound: false,
        };
    }
    let whole = match whole_literal(text) {
        Some(whole) if !whole.mended(RepairCode::SourceText) => Some(whole),
        other => negative(text).or(other),
    };
    settled(text, text, whole.unwrap_or_else(|| source_text(text)), offset)
}

/// A list or dict that is nested too deep to be read. Nobody meant it as text.
fn is_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    let opens = |byte: u8| {
        match byte {
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > Policy::MAX_DEPTH
    };
    text.starts_with(['[', '{', '(']) && text.bytes().any(opens)
}

/// As [`read`], for one string: the search for its end has found that quotes which stand in it are a part of it.
pub(super) fn read_string(text: &str, offset: usize) -> Literal<'_> {
    if let Some(json) = same_in_json(text) {
        return Literal::sound(json);
    }
    let escaped = quotes_escaped(text).unwrap_or_default();
    let Some(whole) = Some(&*escaped).filter(|text| !text.is_empty()).and_then(whole_literal) else {
        return read(text, offset);
    };
    let Literal { json, repairs, guessed, joined, apostrophe, sound } = settled(text, &escaped, whole, offset);
    let mut read = Literal { json: json.into_owned().into(), repairs, guessed, joined, apostrophe, sound };
    // The places are those of the text with its quotes escaped.
    read.repairs.iter_mut().filter(|r| r.code != RepairCode::Quotes).for_each(|r| r.offset = Some(offset));
    read
}

/// The JSON that Python reads alike: that which is `text`, or a word of Python's for one of JSON's. Of JSON's escapes, that of
/// a slash is none in Python.
fn same_in_json(text: &str) -> Option<&str> {
    match text {
        "True" => Some("true"),
        "False" => Some("false"),
        "None" => Some("null"),
        _ => {
            let scan = || Scanner::new(0, Policy::MAX_DEPTH).scan(text.as_bytes(), true);
            let escapes_slash = || {
                let first = memchr::memchr(b'\\', text.as_bytes()).and_then(|at| text.as_bytes().get(at..));
                first.is_some_and(|rest| memchr::memmem::find(rest, b"\\/").is_some())
            };
            let json = text.starts_with(|c: char| c.is_ascii_graphic())
                && scan() == ScanResult::Complete { end: text.len() }
                && !escapes_slash();
            json.then_some(text)
        }
    }
}

fn whole_literal(text: &str) -> Option<Literal<'_>> {
    let options = LiteralOptions { source_text: true, ..LiteralOptions::default() };
    let read = json::literal(text, 0, &options)?;
    // Of words, the last quote may close one of theirs.
    let bare = !text.starts_with(['"', '\'', '[', '{', '(']);
    let quoted = bare && read.repairs.iter().any(|repair| repair.code == RepairCode::SourceText) && pairs_quotes(text);
    let whole = text.get(read.end..)?.trim().is_empty() && !quoted;
    let json::Literal { json, repairs, guessed, .. } = read;
    whole.then_some(Literal { json, repairs, guessed, joined: false, apostrophe: false, sound: false })
}

/// A number apart from its sign: `- 3`.
fn negative(text: &str) -> Option<Literal<'static>> {
    let number = text.strip_prefix('-')?.trim_ascii_start();
    let json = format!("-{number}");
    let digits = number.starts_with(|c: char| c.is_ascii_digit());
    let whole = digits && Scanner::new(0, 1).scan(json.as_bytes(), true) == ScanResult::Complete { end: json.len() };
    let repairs = vec![Repair::at(RepairCode::Number, 0, "the number was respelt")];
    whole.then(|| Literal {
        json: json.into(),
        repairs,
        guessed: false,
        joined: false,
        apostrophe: false,
        sound: false,
    })
}

/// A quote stands in `text`, and another one ends it.
fn pairs_quotes(text: &str) -> bool {
    let last = text.chars().next_back().filter(|quote| matches!(quote, '"' | '\''));
    last.is_some_and(|quote| text.matches(quote).count() % 2 == 0)
}

fn source_text(text: &str) -> Literal<'static> {
    let mut json = String::new();
    json::push_string(&mut json, text);
    let repairs = vec![Repair::at(RepairCode::SourceText, 0, "a value that is no literal was kept as its text")];
    Literal { json: json.into(), repairs, guessed: is_too_deep(text), joined: false, apostrophe: false, sound: false }
}

/// What was read of `text`, which stands at `offset`, with the repairs that are some in Python as well. It was read as it is
/// `spelt`.
fn settled<'t>(text: &str, spelt: &str, mut read: Literal<'t>, offset: usize) -> Literal<'t> {
    read.joined = read.mended(RepairCode::Joined);
    let listed = spelt.starts_with(['[', '{', '(']) && read.mended(RepairCode::Quotes);
    let inner = if listed { apostrophe_within(text) } else { inner_quote(text) };
    // Python's spelling is what this dialect is: no repair.
    read.repairs.retain(|repair| !spelt_so_in_python(spelt, repair));
    read.apostrophe = listed && inner.is_some() && !read.mended(RepairCode::Quotes);
    if !read.joined
        && let Some(at) = inner
    {
        read.repairs.push(Repair::at(RepairCode::Quotes, at, "quotes inside the string are escaped now"));
    }
    for repair in &mut read.repairs {
        repair.offset = repair.offset.map(|at| at + offset);
    }
    read
}

/// What was mended in `text` is no slip in Python.
fn spelt_so_in_python(text: &str, repair: &Repair) -> bool {
    let (before, rest) = repair.offset.and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""));
    let tripled = |text: &str| text.starts_with("\"\"\"") || text.starts_with("'''");
    match repair.code {
        RepairCode::Joined => true,
        RepairCode::Escape => {
            // Half a character is one in Python.
            let digits = rest.strip_prefix("\\u").and_then(|digits| digits.get(..4));
            let half = digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
            half || !rest.as_bytes().get(1).is_some_and(|byte| json::means_more_in_python(*byte))
        }
        RepairCode::Quotes => {
            // Its first mark is missing, or both are.
            let unopened = !repair.is(Slip::OtherQuotes) && !repair.is(Slip::InnerQuotes);
            let string = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let prefixed = (1..=2).contains(&(rest.len() - string.len())) && string.starts_with('"');
            tripled(string) || tripled(text) || !unopened && (prefixed || string.starts_with('\''))
        }
        RepairCode::ControlCharacter => tripled(text),
        RepairCode::Literal => ["True", "False", "None", "(", "{"].iter().any(|word| rest.starts_with(word)),
        RepairCode::Comma => {
            let last = rest.strip_prefix(',').is_some_and(|rest| rest.trim_start().starts_with([')', ']', '}']));
            last && !before.trim_end().ends_with([',', '(', '[', '{'])
        }
        _ => false,
    }
}

/// Where a string that is all of `text` holds its own quote without a backslash.
fn inner_quote(text: &str) -> Option<usize> {
    let (quote, body) = quoted(text)?;
    own_quotes(body, quote).next().map(|at| at + 1)
}

/// Where an apostrophe stands in a string of the list or object `text`, in its quotes and without a backslash: `['it's']`.
fn apostrophe_within(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    let (mut string, mut before) = (Quoting::default(), None);
    bytes.iter().enumerate().position(|(at, byte)| {
        let closes = string.read(*byte, |_| true) == Part::Closes;
        let between = word(before.replace(byte)) && word(bytes.get(at + 1));
        closes && *byte == b'\'' && between
    })
}

/// The quote round `text`, and what stands in it.
fn quoted(text: &str) -> Option<(u8, &str)> {
    let quote = text.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let tripled = text.len() >= 6 && text.bytes().take(3).all(|byte| byte == quote);
    let body = text.get(1..text.len().checked_sub(1)?)?;
    (!tripled && text.bytes().last() == Some(quote)).then_some((quote, body))
}

/// Where `quote` stands in `body` without a backslash.
fn own_quotes(body: &str, quote: u8) -> impl Iterator<Item = usize> {
    let mut escaped = false;
    body.bytes().enumerate().filter_map(move |(at, byte)| {
        let own = byte == quote && !escaped;
        escaped = byte == b'\\' && !escaped;
        own.then_some(at)
    })
}

/// A string that is all of `text`, as the search for its end has found, with the quotes in it escaped.
fn quotes_escaped(text: &str) -> Option<String> {
    let (quote, body) = quoted(text)?;
    let escape = if quote == b'"' { "\\\"" } else { "\\x27" };
    let mut out = String::from(char::from(quote));
    let mut from = 0;
    for at in own_quotes(body, quote) {
        out.push_str(body.get(from..at)?);
        out.push_str(escape);
        from = at + 1;
    }
    out.push_str(body.get(from..)?);
    out.push(char::from(quote));
    (from > 0).then_some(out)
}

/// What is certain of a list, an object or a string that was cut off, in Python's spelling or JSON's. `None` for what
/// may still become anything: a number, a word.
pub(super) fn certain(text: &str) -> Option<String> {
    let text = text.trim_start();
    let quote = match text.as_bytes().first()? {
        b'{' | b'[' => {
            let partial = json::parse_cut(text).ok()?;
            return partial.json.starts_with(['{', '[']).then(|| partial.json.into_owned());
        }
        b'"' => "\"",
        b'\'' => "'",
        _ => return None,
    };
    let quote = if text.starts_with(&quote.repeat(3)) { &quote.repeat(3) } else { quote };
    let half_escaped = |text: &str| (text.len() - text.trim_end_matches('\\').len()) % 2 == 1;
    let inner = text.get(quote.len()..)?;
    // A comma behind it, and a name behind that, are the next argument's, or the string's if more follows.
    let ended = inner.trim_end();
    let unnamed = ended.trim_end_matches(|c| char_class::IDENTIFIER.has(c)).trim_end();
    let ended = unnamed.strip_suffix(',').map(str::trim_end).filter(|text| text.ends_with(quote)).unwrap_or(ended);
    let inner = match ended.strip_suffix(quote) {
        // Its closing quote is there, unless more follows and it was one inside.
        Some(closed) if !half_escaped(closed) => closed,
        // Half an escape says nothing yet.
        _ if half_escaped(inner) => inner.get(..inner.len() - 1)?,
        _ => inner,
    };
    let whole = format!("{quote}{inner}{quote}");
    let read = read(&whole, 0);
    read.json.starts_with('"').then(|| read.json.into_owned())
}

/// The text can be a complete literal: quoted, bracketed, a number or a word of JSON or Python.
pub(super) fn looks_like_one(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'"' | b'\'' | b'[' | b'{' | b'(') => true,
        Some(b'-' | b'+' | b'.' | b'0'..=b'9') => {
            text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'_'))
        }
        Some(_) => WORDS.contains(&text),
        None => false,
    }
}
