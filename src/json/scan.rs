//! The strict incremental scanner: where a JSON value ends, and whether it is valid, while its text still grows.
use super::block::find_special;
use crate::char_class;
use std::ops::Range;

/// What kind of value a JSON value is, as its first byte tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

impl Kind {
    /// The kind of the value that begins with `byte`, if a JSON value can begin so.
    pub const fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            b'{' => Self::Object,
            b'[' => Self::Array,
            b'"' => Self::String,
            b'-' | b'0'..=b'9' => Self::Number,
            b't' | b'f' => Self::Bool,
            b'n' => Self::Null,
            _ => return None,
        })
    }
}

/// A member of the scanned object (of depth 1, not of nested objects), noted as soon as its value begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Where the key is, without its quotes; it may hold escapes.
    pub key: Range<usize>,
    /// Where the value begins.
    pub value_start: usize,
    /// Where the value ends; `None` while it is still open.
    pub value_end: Option<usize>,
    pub kind: Kind,
}

impl Member {
    /// Where the value is, once it is whole.
    pub fn value(&self) -> Option<Range<usize>> {
        self.value_end.map(|end| self.value_start..end)
    }
}

/// What a [`Scanner`] knows after the text so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanResult {
    /// Valid so far, but not over. At the end of the input: the value is cut off.
    Incomplete,
    /// The value is valid and ends at `end` (exclusive). What follows is the caller's.
    Complete { end: usize },
    /// No continuation can make this valid JSON; `at` is the byte (or the escape's backslash) that says so.
    Error { at: usize, kind: ScanError },
}

/// Why a text is no valid JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScanError {
    /// A byte that cannot stand here: a wrong bracket, a missing comma, colon or quote, a misspelt literal.
    Unexpected,
    /// A number JSON does not know: `01`, `1.`, `-x`, `1e`.
    Number,
    /// A raw byte below 0x20 in a string.
    ControlCharacter,
    /// An escape JSON does not know.
    Escape,
    /// `\ud800` to `\udfff` without its other half: RFC 8259 lets it pass, but no Unicode string can hold it.
    LoneSurrogate,
    /// Nested deeper than the limit.
    TooDeep,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value must come.
    Value,
    /// After `[`: a value or `]`.
    FirstItem,
    /// After `{`: a key or `}`.
    FirstKey,
    /// After a comma in an object.
    Key,
    InKey,
    InString,
    Colon,
    InLiteral,
    InNumber(Number),
    AfterValue,
    Done,
    Failed(usize, ScanError),
}

/// How far a number is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    /// After `-`.
    Minus,
    /// After a leading `0`.
    Zero,
    Integer,
    /// After `.`
    Point,
    Fraction,
    /// After `e` or `E`.
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Number {
    const fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::ExponentDigits)
    }
}

/// The open brackets, a bit each (1: object). The first 64 levels cost no allocation.
#[derive(Debug, Clone, Default)]
struct Stack {
    depth: usize,
    bits: u64,
    spilled: Vec<u64>,
}

impl Stack {
    #[inline(always)]
    fn push(&mut self, object: bool) {
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.spilled.push(self.bits);
        }
        self.bits = (self.bits << 1) | u64::from(object);
        self.depth += 1;
    }

    #[inline(always)]
    fn pop(&mut self) {
        self.depth -= 1;
        self.bits >>= 1;
        if self.depth.is_multiple_of(64) && self.depth > 0 {
            self.bits = self.spilled.pop().unwrap_or_default();
        }
    }

    #[inline(always)]
    fn in_object(&self) -> bool {
        self.bits & 1 == 1
    }
}

/// A resumable scanner of one JSON value.
///
/// The caller keeps all of the text and hands all of it to every [`scan`](Self::scan); the scanner goes on where it
/// stopped, so that the work is linear however the text is cut (at most one unfinished escape or literal is looked at
/// again). It checks everything RFC 8259 demands, and lone surrogate escapes as well: what it calls complete,
/// `serde_json` and Python read. The text must be UTF-8; it may end inside a character.
///
/// ```
/// use toolglot::json::{ScanResult, Scanner};
///
/// let mut scanner = Scanner::new(0, 128);
/// assert_eq!(scanner.scan(br#"{"city": "Ber"#, false), ScanResult::Incomplete);
/// assert_eq!(scanner.scan(br#"{"city": "Berlin"} and"#, false), ScanResult::Complete { end: 18 });
/// assert_eq!(scanner.members()[0].key, 2..6);
/// ```
#[derive(Debug, Clone)]
pub struct Scanner {
    position: usize,
    state: State,
    stack: Stack,
    max_depth: usize,
    start: Option<usize>,
    key: Range<usize>,
    members: Vec<Member>,
    notes_items: bool,
}

impl Scanner {
    /// A scanner of the value that begins at byte `start` or after white space there, nested at most `max_depth` deep.
    pub fn new(start: usize, max_depth: usize) -> Self {
        Self {
            position: start,
            state: State::Value,
            stack: Stack::default(),
            max_depth,
            start: None,
            key: 0..0,
            members: Vec::new(),
            notes_items: false,
        }
    }

    /// Notes the items of an array as well, as members with an empty key.
    pub(crate) fn noting_items(mut self) -> Self {
        self.notes_items = true;
        self
    }

    /// Starts over at byte `start`, keeping allocated memory.
    pub fn restart(&mut self, start: usize) {
        self.position = start;
        self.state = State::Value;
        self.stack.depth = 0;
        self.stack.bits = 0;
        self.stack.spilled.clear();
        self.start = None;
        self.members.clear();
    }

    /// Everything before this byte is read and valid: it may be passed on. It never lies inside an escape.
    pub fn position(&self) -> usize {
        self.position
    }

    /// As [`position`](Self::position), but a key counts once its colon stands there, and so does the brace before the
    /// first one; a number or a literal, once it is over. Until then repair may read them as part of something else.
    pub(crate) fn certain(&self, text: &[u8]) -> usize {
        let back = |from: usize, over: fn(&u8) -> bool| {
            let before = text.get(..from).unwrap_or_default();
            from - before.iter().rev().take(64).take_while(|byte| over(byte)).count()
        };
        let key = match self.state {
            State::InKey | State::Colon => self.key.start.saturating_sub(1),
            State::FirstKey => self.position,
            State::InNumber(_) | State::AfterValue => {
                let scalar = |byte: &u8| char_class::SCALAR.has_ascii(*byte);
                return back(back(self.position, u8::is_ascii_whitespace), scalar);
            }
            _ => return self.position,
        };
        let brace = back(key, u8::is_ascii_whitespace).checked_sub(1);
        brace.filter(|at| self.stack.depth > 1 && text.get(*at) == Some(&b'{')).unwrap_or(key)
    }

    /// Where the value begins, once its first byte has been seen.
    pub fn start(&self) -> Option<usize> {
        self.start
    }

    /// How many brackets are open.
    pub fn depth(&self) -> usize {
        self.stack.depth
    }

    /// The position lies inside a string (a key or a value).
    pub fn in_string(&self) -> bool {
        matches!(self.state, State::InString | State::InKey)
    }

    /// The members of the object noted so far, in their order, duplicates included; empty for any other value.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Notes members into memory that is there already, if the scanner has none.
    pub(crate) fn reuse(&mut self, memory: &mut Vec<Member>) {
        if self.members.capacity() == 0 && memory.is_empty() {
            std::mem::swap(&mut self.members, memory);
        }
    }

    /// Takes the members out.
    pub fn take_members(&mut self) -> Vec<Member> {
        std::mem::take(&mut self.members)
    }

    /// The byte offset of the first key that an earlier member has too, escapes undone.
    pub fn duplicate_key(&self, text: &str) -> Option<usize> {
        super::string::first_duplicate(text, &self.members)
    }

    /// Reads on. `text` is all of the text so far, of which what was read before is unchanged; `eof` says that nothing
    /// will follow, which decides whether a number at its end is over. After `Complete` or `Error` the answer stays.
    pub fn scan(&mut self, text: &[u8], eof: bool) -> ScanResult {
        let mut at = self.position;
        let result = loop {
            match self.state {
                State::Value | State::FirstItem => {
                    at = skip_white(text, at);
                    let Some(&byte) = text.get(at) else { break ScanResult::Incomplete };
                    if self.stack.depth == 0 {
                        self.start = Some(at);
                    } else if self.stack.depth == 1 && (self.stack.in_object() || self.notes_items) {
                        self.note(at, byte);
                    }
                    match byte {
                        // Here and at keys the body is read at once, past the dispatch: most tokens are strings.
                        b'"' => match scan_string(text, at + 1) {
                            Stop::End(quote) => at = self.value_ends(text, quote + 1),
                            Stop::More(stop) => {
                                at = stop;
                                self.state = State::InString;
                                break ScanResult::Incomplete;
                            }
                            Stop::Bad(bad, kind) => break self.fail(bad, kind),
                        },
                        b'{' | b'[' => {
                            if self.stack.depth >= self.max_depth {
                                break self.fail(at, ScanError::TooDeep);
                            }
                            self.stack.push(byte == b'{');
                            self.state = if byte == b'{' { State::FirstKey } else { State::FirstItem };
                            at += 1;
                        }
                        b'0' => {
                            at += 1;
                            self.state = State::InNumber(Number::Zero);
                        }
                        b'1'..=b'9' => {
                            at += 1;
                            while let Some(b'0'..=b'9') = text.get(at) {
                                at += 1;
                            }
                            match text.get(at) {
                                Some(b',' | b'}' | b']') => at = self.value_ends(text, at),
                                _ => self.state = State::InNumber(Number::Integer),
                            }
                        }
                        b'-' => {
                            at += 1;
                            self.state = State::InNumber(Number::Minus);
                        }
                        b't' | b'f' | b'n' => match scan_literal(text, at) {
                            Stop::End(end) => at = self.value_ends(text, end),
                            // A literal is passed on whole: the position stays before it.
                            Stop::More(_) => {
                                self.state = State::InLiteral;
                                break ScanResult::Incomplete;
                            }
                            Stop::Bad(bad, kind) => break self.fail(bad, kind),
                        },
                        b']' if self.state == State::FirstItem => at = self.close(text, at),
                        _ => break self.fail(at, ScanError::Unexpected),
                    }
                }
                State::InString => match scan_string(text, at) {
                    Stop::End(quote) => at = self.value_ends(text, quote + 1),
                    Stop::More(stop) => {
                        at = stop;
                        break ScanResult::Incomplete;
                    }
                    Stop::Bad(bad, kind) => break self.fail(bad, kind),
                },
                State::AfterValue => {
                    at = skip_white(text, at);
                    match text.get(at) {
                        None => break ScanResult::Incomplete,
                        Some(b',') => {
                            at += 1;
                            self.state = if self.stack.in_object() { State::Key } else { State::Value };
                        }
                        Some(b'}') if self.stack.in_object() => at = self.close(text, at),
                        Some(b']') if !self.stack.in_object() => at = self.close(text, at),
                        Some(_) => break self.fail(at, ScanError::Unexpected),
                    }
                }
                State::Key | State::FirstKey => {
                    at = skip_white(text, at);
                    match text.get(at) {
                        None => break ScanResult::Incomplete,
                        Some(b'"') => {
                            at += 1;
                            self.key = at..at;
                            self.state = State::InKey;
                            if let Stop::End(quote) = scan_string(text, at) {
                                self.key.end = quote;
                                let colon = text.get(quote + 1) == Some(&b':');
                                at = quote + 1 + usize::from(colon);
                                self.state = if colon { State::Value } else { State::Colon };
                            }
                        }
                        Some(b'}') if self.state == State::FirstKey => at = self.close(text, at),
                        Some(_) => break self.fail(at, ScanError::Unexpected),
                    }
                }
                State::InKey => match scan_string(text, at) {
                    Stop::End(quote) => {
                        self.key.end = quote;
                        at = quote + 1;
                        self.state = State::Colon;
                    }
                    Stop::More(stop) => {
                        at = stop;
                        break ScanResult::Incomplete;
                    }
                    Stop::Bad(bad, kind) => break self.fail(bad, kind),
                },
                State::Colon => {
                    at = skip_white(text, at);
                    match text.get(at) {
                        None => break ScanResult::Incomplete,
                        Some(b':') => {
                            at += 1;
                            self.state = State::Value;
                        }
                        Some(_) => break self.fail(at, ScanError::Unexpected),
                    }
                }
                State::InNumber(number) => {
                    let (stop, number, over) = scan_number(text, at, number);
                    at = stop;
                    if !(over || eof && number.may_end()) {
                        self.state = State::InNumber(number);
                        break ScanResult::Incomplete;
                    }
                    if !number.may_end() || (number == Number::Zero && text.get(at).is_some_and(u8::is_ascii_digit)) {
                        break self.fail(at, ScanError::Number);
                    }
                    at = self.value_ends(text, at);
                }
                State::InLiteral => match scan_literal(text, at) {
                    Stop::End(end) => at = self.value_ends(text, end),
                    Stop::More(_) => break ScanResult::Incomplete,
                    Stop::Bad(bad, kind) => break self.fail(bad, kind),
                },
                State::Done => break ScanResult::Complete { end: at },
                State::Failed(at, kind) => return ScanResult::Error { at, kind },
            }
        };
        self.position = at;
        result
    }

    fn fail(&mut self, at: usize, kind: ScanError) -> ScanResult {
        self.state = State::Failed(at, kind);
        ScanResult::Error { at, kind }
    }

    #[inline]
    fn note(&mut self, at: usize, byte: u8) {
        // A byte that begins no value fails right after this.
        let Some(kind) = Kind::of(byte) else { return };
        if self.members.capacity() == 0 {
            self.members.reserve(8);
        }
        self.members.push(Member { key: self.key.clone(), value_start: at, value_end: None, kind });
    }

    /// A value ends at `end`. Where to go on: a comma behind it is read at once.
    #[inline(always)]
    fn value_ends(&mut self, text: &[u8], end: usize) -> usize {
        if self.stack.depth == 1 {
            // In an array there are no members, unless items are noted, and this does nothing.
            if let Some(member) = self.members.last_mut() {
                member.value_end = Some(end);
            }
        } else if self.stack.depth == 0 {
            self.state = State::Done;
            return end;
        }
        let comma = text.get(end) == Some(&b',');
        self.state = match (comma, self.stack.in_object()) {
            (false, _) => State::AfterValue,
            (true, true) => State::Key,
            (true, false) => State::Value,
        };
        end + usize::from(comma)
    }

    #[inline(always)]
    fn close(&mut self, text: &[u8], at: usize) -> usize {
        self.stack.pop();
        self.value_ends(text, at + 1)
    }
}

/// Where a string, an escape or a literal stops.
pub(super) enum Stop {
    /// At the closing quote of a string, behind the last byte of the others.
    End(usize),
    /// At the end of the text so far, or at an escape that the text so far does not finish.
    More(usize),
    Bad(usize, ScanError),
}

#[inline(always)]
fn skip_white(text: &[u8], mut at: usize) -> usize {
    // Mostly there is none.
    while let Some(byte @ ..=b' ') = text.get(at) {
        if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            break;
        }
        at += 1;
    }
    at
}

/// Reads on in a string: at its start or anywhere, but not inside an escape.
#[inline(always)]
fn scan_string(text: &[u8], at: usize) -> Stop {
    let at = find_special(text, at);
    // Most strings hold no escape.
    if text.get(at) == Some(&b'"') { Stop::End(at) } else { scan_escapes(text, at) }
}

/// As [`scan_string`], from a byte on that does not close the string.
#[inline(never)]
fn scan_escapes(text: &[u8], mut at: usize) -> Stop {
    loop {
        match text.get(at) {
            None => return Stop::More(at),
            Some(b'"') => return Stop::End(at),
            Some(b'\\') => match text.get(at + 1) {
                None => return Stop::More(at),
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                Some(b'u') => match scan_unicode(text, at) {
                    Stop::End(end) => at = end,
                    stop => return stop,
                },
                Some(_) => return Stop::Bad(at, ScanError::Escape),
            },
            Some(_) => return Stop::Bad(at, ScanError::ControlCharacter),
        }
        at = find_special(text, at);
    }
}

/// The `\uXXXX` or pair of them at `at`.
pub(super) fn scan_unicode(text: &[u8], at: usize) -> Stop {
    let unit = match hex4(text, at + 2) {
        Hex::Unit(unit) => unit,
        Hex::More => return Stop::More(at),
        Hex::Bad => return Stop::Bad(at, ScanError::Escape),
    };
    match unit {
        0xd800..=0xdbff => {}
        0xdc00..=0xdfff => return Stop::Bad(at, ScanError::LoneSurrogate),
        _ => return Stop::End(at + 6),
    }
    match (text.get(at + 6), text.get(at + 7)) {
        (None, _) | (Some(b'\\'), None) => return Stop::More(at),
        (Some(b'\\'), Some(b'u')) => {}
        _ => return Stop::Bad(at, ScanError::LoneSurrogate),
    }
    match hex4(text, at + 8) {
        Hex::Unit(0xdc00..=0xdfff) => Stop::End(at + 12),
        Hex::More => Stop::More(at),
        Hex::Unit(_) | Hex::Bad => Stop::Bad(at, ScanError::LoneSurrogate),
    }
}

enum Hex {
    Unit(u32),
    More,
    Bad,
}

fn hex4(text: &[u8], at: usize) -> Hex {
    let mut unit = 0;
    for i in at..at + 4 {
        let Some(&byte) = text.get(i) else { return Hex::More };
        let Some(digit) = char::from(byte).to_digit(16) else { return Hex::Bad };
        unit = unit << 4 | digit;
    }
    Hex::Unit(unit)
}

fn scan_literal(text: &[u8], at: usize) -> Stop {
    let word: &[u8] = match text.get(at) {
        Some(b't') => b"true",
        Some(b'f') => b"false",
        _ => b"null",
    };
    for (i, expected) in word.iter().enumerate() {
        match text.get(at + i) {
            None => return Stop::More(at),
            Some(byte) if byte == expected => {}
            Some(_) => return Stop::Bad(at + i, ScanError::Unexpected),
        }
    }
    Stop::End(at + word.len())
}

/// Reads on in a number: where it stops, in which state, and whether something stands there that is no part of it.
fn scan_number(text: &[u8], mut at: usize, mut number: Number) -> (usize, Number, bool) {
    use Number::*;
    loop {
        if number == Integer {
            while let Some(b'0'..=b'9') = text.get(at) {
                at += 1;
            }
        }
        let Some(&byte) = text.get(at) else { return (at, number, false) };
        number = match (number, byte) {
            (Minus, b'0') => Zero,
            (Minus | Integer, b'0'..=b'9') => Integer,
            (Zero | Integer, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Integer | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => ExponentSign,
            (Exponent | ExponentSign | ExponentDigits, b'0'..=b'9') => ExponentDigits,
            _ => return (at, number, true),
        };
        at += 1;
    }
}
