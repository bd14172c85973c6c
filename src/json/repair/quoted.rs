//! Strings: where one ends when its text cannot be trusted.
use super::crooked::{self, Likely};
use super::grammar::{Kind, Repairer};
use super::lookahead::{self, Quote, is_word, punctuation, skip_white};
use super::torn::is_torn;
use super::{Ending, behind};
use crate::json::Balance;
use crate::json::block::find_special_or;
use crate::turn::RepairCode;

/// A comment behind a doubtful quote is none if its line is longer.
const COMMENT_LIMIT: usize = 256;

/// Where a value stands, which says what may follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A key of an object.
    Key,
    /// A value of an object.
    Member { bare_keys: bool },
    /// A value of an array, or of a sequence of values.
    Item { first: bool },
    /// A value in parentheses: an argument, an element of a tuple.
    Argument,
    /// The whole text.
    Top,
}

/// A string whose extent is known.
#[derive(Debug)]
pub(super) struct Quoted {
    pub(super) quote: Quote,
    /// Where its prefix or opening mark stands.
    pub(super) open: usize,
    pub(super) body: usize,
    pub(super) end: usize,
    /// After the closing mark.
    pub(super) after: usize,
    /// There is no closing mark.
    pub(super) unclosed: bool,
    /// The text ends inside it.
    pub(super) cut: bool,
    /// A Python raw string: a backslash is a backslash.
    pub(super) raw: bool,
    /// Something in the body is to be mended, perhaps.
    pub(super) doubtful: bool,
}

impl Quoted {
    /// The string is valid JSON as it stands.
    pub(super) fn valid(&self) -> bool {
        self.quote == Quote::Double && !self.doubtful && !self.unclosed && self.body == self.open + 1
    }
}

enum Verdict {
    Closes,
    Inner,
    /// It would close, but for a brace that stands open in the string.
    Unbalanced,
    /// The string had ended before, at this place, without a mark.
    Ended(usize),
}

/// What was seen of a string while looking for its end.
pub(super) struct Search {
    pub(super) body: usize,
    pub(super) place: Place,
    /// The last quote that was taken for a part of the text.
    pub(super) inner: Option<usize>,
    /// The last of them opened something: their number is odd.
    pub(super) odd: bool,
    /// The first quote that would close the string, but for a brace that stands open in it.
    pub(super) unbalanced: Option<usize>,
    /// The backslash of the last escaped quote.
    pub(super) escaped: Option<usize>,
    /// The number of escaped quotes is odd.
    pub(super) odd_escaped: bool,
    /// It goes on behind a quote with a line that could be a member.
    pub(super) kept_line: bool,
    pub(super) newline: Option<usize>,
    /// Brackets in the body, counted up to a place, and only once a quote in it was found to be part of the text.
    balance: Balance,
    counted: usize,
}

/// What the quotes of a string's own kind in it say of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// There are none.
    None,
    /// They come in pairs.
    Paired,
    /// One of them is open.
    Open,
}

impl Search {
    fn new(body: usize, place: Place) -> Self {
        Self {
            body,
            place,
            inner: None,
            odd: false,
            unbalanced: None,
            escaped: None,
            odd_escaped: false,
            kept_line: false,
            newline: None,
            balance: Balance::default(),
            counted: body,
        }
    }

    fn count_brackets(&mut self, bytes: &[u8], to: usize) {
        self.balance.count(bytes.get(self.counted..to).unwrap_or_default());
        self.counted = to;
    }

    fn doubt(&self) -> Doubt {
        match (self.inner, self.odd) {
            (_, true) => Doubt::Open,
            (Some(_), false) => Doubt::Paired,
            (None, false) => Doubt::None,
        }
    }
}

impl Repairer<'_> {
    /// The string at `open`; strings joined by `+`, or in parentheses by nothing, become one.
    pub(super) fn read_string(&mut self, open: usize, mark: usize, quote: Quote, length: usize) -> usize {
        let place = self.place();
        let mut string = self.find_string(open, mark, quote, length, place);
        if let Place::Item { first: true } = place {
            let colon = self.bytes.get(self.peek(string.after)) == Some(&b':');
            if colon
                && matches!(self.top(), Some(Kind::Array))
                && let Ok(Some(at)) = self.reopen(Kind::Object)
            {
                return at;
            }
        }
        if string.cut && self.partial == Some(false) {
            return self.end_of_text(open);
        }
        let (before, first) = (self.out.mark(open), open);
        let mut opens = true;
        while let Some((open, mark, quote, length)) = self.joined(&string, place) {
            self.write_string(&string, false, opens, false);
            self.out.record(RepairCode::Joined, open, "adjacent strings were joined");
            self.out.replace(string.end, mark + length, "");
            opens = false;
            let triple = self.find_string(open, mark, quote, length, place);
            if triple.body != mark + length {
                self.out.replace(mark, triple.body, "");
            }
            string = triple;
        }
        if !string.cut
            && let Some(end) = self.kept_with_what_follows(before, first, &string)
        {
            return end;
        }
        if !string.valid() || !opens {
            self.write_string(&string, false, opens, true);
        }
        if string.cut {
            self.ending = Ending::Cut;
        }
        self.value_read();
        string.after
    }

    /// The string that goes on with this one: `"a" + "b"`, and in parentheses `"a" "b"`.
    fn joined(&self, string: &Quoted, place: Place) -> Option<(usize, usize, Quote, usize)> {
        if string.unclosed {
            return None;
        }
        let next = self.peek(string.after);
        let plus = self.bytes.get(next) == Some(&b'+');
        if !plus && (place != Place::Argument || next == string.after) {
            return None;
        }
        let open = if plus { self.peek(next + 1) } else { next };
        let (mark, quote, length) = lookahead::string_start(self.bytes, open)?;
        Some((open, mark, quote, length))
    }

    /// The string whose prefix or mark stands at `open` and whose mark, `length` bytes long, at `mark`.
    pub(super) fn find_string(&self, open: usize, mark: usize, quote: Quote, length: usize, place: Place) -> Quoted {
        let bytes = self.bytes;
        let prefix = bytes.get(open..mark).unwrap_or_default();
        let raw = prefix.iter().any(|byte| byte.eq_ignore_ascii_case(&b'r'));
        let body = mark + length;
        let mut found =
            Quoted { quote, open, body, end: body, after: body, unclosed: false, cut: false, raw, doubtful: raw };
        if let Some(triple) = triple_mark(bytes, mark).filter(|triple| !self.is_quote_in_quotes(triple, mark + 3)) {
            found.body = mark + 3;
            found.doubtful = true;
            // Four of them: the three are as likely text.
            self.guess_if(!self.argument && bytes.get(found.body) == triple.first());
            self.find_triple(&mut found, triple);
            return found;
        }
        let mut search = Search::new(body, place);
        self.find_end(&mut found, &mut search);
        let doubted = search.inner.is_some();
        if (doubted || found.unclosed) && !self.argument {
            let text = bytes.get(found.body..found.end).unwrap_or_default();
            self.guess_if(doubted && place == Place::Key || is_torn(text, quote));
        }
        found
    }

    fn find_end(&self, found: &mut Quoted, search: &mut Search) {
        let (bytes, quote) = (self.bytes, found.quote);
        let mut at = found.body;
        loop {
            at = find_special_or(bytes, at, quote.lead());
            let Some(&byte) = bytes.get(at) else { break };
            match byte {
                b'\\' => {
                    match bytes.get(at + 1) {
                        Some(mark @ (b'"' | b'\'')) => {
                            search.escaped = Some(at);
                            search.odd_escaped ^= *mark == b'"' && quote == Quote::Double;
                        }
                        Some(b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
                        _ => found.doubtful = true,
                    }
                    found.doubtful |= bytes.get(at + 1) == Some(&b'\'');
                    at += 2;
                }
                0..0x20 => {
                    if byte == b'\n' {
                        search.newline.get_or_insert(at);
                    }
                    found.doubtful = true;
                    at += 1;
                }
                _ => match Quote::at(bytes, at) {
                    Some((closing, length)) if quote.closed_by(closing) => {
                        match self.verdict(search, at, at + length) {
                            Verdict::Closes => {
                                self.guess_if(self.is_doubled(search, at) || self.leaves_one_open(search, at + length));
                                (found.end, found.after) = (at, at + length);
                                return;
                            }
                            Verdict::Ended(end) => {
                                (found.end, found.after, found.unclosed) = (end, end, true);
                                found.doubtful = true;
                                // One of its quotes was perhaps the end, and what stands behind that no part of it.
                                self.guess_if(search.inner.is_some() && !search.odd || search.kept_line);
                                self.leave_mark(found);
                                return;
                            }
                            verdict @ (Verdict::Inner | Verdict::Unbalanced) => {
                                if matches!(verdict, Verdict::Unbalanced) {
                                    search.unbalanced.get_or_insert(at);
                                }
                                // `x}, {"`: the string was over, and this begins the next object.
                                let object = bytes.get(..at).is_some_and(|text| text.trim_ascii_end().ends_with(b"{"));
                                if object {
                                    search.count_brackets(bytes, at);
                                    self.guess_if(search.balance.braces <= 0);
                                }
                                search.inner = Some(at);
                                search.odd ^= !is_apostrophe(bytes, at, at + length);
                                found.doubtful = true;
                                at += length;
                            }
                        }
                    }
                    found_mark => {
                        found.doubtful = true;
                        at += found_mark.map_or(1, |(_, length)| length);
                    }
                },
            }
        }
        self.settle_at_end(found, search);
        self.guess_if(search.kept_line);
    }

    /// `"""` is a string that holds a quote: nothing closes it as a triple one, and what can follow a value stands behind.
    fn is_quote_in_quotes(&self, triple: &[u8; 3], after: usize) -> bool {
        let bytes = self.bytes;
        let next = skip_white(bytes, after);
        let ends = match bytes.get(next) {
            Some(b'}' | b']') => true,
            Some(b',') => self.key_or_end(next + 1, false, Doubt::Paired),
            _ => false,
        };
        ends && memchr::memmem::find(bytes.get(after..).unwrap_or_default(), triple).is_none()
    }

    fn find_triple(&self, found: &mut Quoted, mark: [u8; 3]) {
        let rest = self.bytes.get(found.body..).unwrap_or_default();
        match memchr::memmem::find(rest, &mark) {
            Some(at) => {
                found.end = found.body + at;
                // `"""say "hi""""`: the last three quotes are the mark.
                while self.bytes.get(found.end + 3) == mark.first() {
                    found.end += 1;
                }
                found.after = found.end + 3;
            }
            None => {
                (found.end, found.after) = (self.bytes.len(), self.bytes.len());
                (found.unclosed, found.cut) = (true, true);
                // It holds whatever was to follow it.
                self.guess_if(true);
            }
        }
    }

    /// Whether the quote from `at` to `after` closes the string.
    fn verdict(&self, search: &mut Search, at: usize, after: usize) -> Verdict {
        let bytes = self.bytes;
        let mut next = skip_white(bytes, after);
        if !search.odd {
            next = lookahead::escaped_white(bytes, next).unwrap_or(next);
        }
        let Some((byte, length)) = punctuation(bytes, next) else { return Verdict::Closes };
        let doubted = search.inner.is_some();
        if doubted && matches!(byte, b'}' | b']' | b')' | b',' | b';' | b':') {
            search.count_brackets(bytes, at);
        }
        let balance = &search.balance;
        let spaced = next > after;
        let closes = match search.place {
            Place::Top => true,
            Place::Key if matches!(byte, b':' | b'=') => true,
            Place::Key => match lookahead::unclosed_key(bytes, search.body, at) {
                Some(colon) => return Verdict::Ended(colon),
                None => spaced || !is_word(byte),
            },
            _ if matches!(byte, b'/' | b'#' | b'.' | 0xe2) && lookahead::comment(bytes, next) => {
                !doubted && (spaced || byte == b'/')
            }
            _ if byte == b'`' && lookahead::fence(bytes, next) => true,
            _ if byte == b'+' && Quote::at(bytes, skip_white(bytes, next + 1)).is_some() => {
                // `x = "+"`: in the text of a program.
                let joins = spaced || !behind::opens_string(bytes, at);
                self.guess_if(joins && doubted && !self.argument);
                joins
            }
            _ if !doubted && behind::expression(bytes, at, after) => true,
            Place::Member { bare_keys } => match byte {
                b'}' => balance.braces <= 0,
                b']' => balance.brackets <= 0 && (self.open_arrays > 0 || skip_white(bytes, next + 1) == bytes.len()),
                b')' => balance.parens <= 0 && self.open_parens > 0,
                b',' | b';'
                    if self.holds_open(balance) && self.key_or_end(next + length, bare_keys, search.doubt()) =>
                {
                    return Verdict::Unbalanced;
                }
                b',' | b';' => {
                    self.key_or_end(next + length, bare_keys, search.doubt())
                        || self.crooked_behind(search, at, next + length)
                }
                b':' => match self.ended_before(search, at) {
                    Some(end) => return Verdict::Ended(end),
                    None => false,
                },
                // Two of them before a bracket or a comma: the one inside, and the string's own.
                _ if let Some((_, length)) = Quote::at(bytes, next) => {
                    let behind = bytes.get(skip_white(bytes, next + length));
                    !matches!(behind, Some(b',' | b']' | b'}' | b')')) && lookahead::quoted_key(bytes, next)
                }
                _ => {
                    let member = self.new_line(after, next) && lookahead::bare_key(bytes, next);
                    // `A="1"` and another such line: this one closes what was opened in the text.
                    search.kept_line |= member && search.odd;
                    member && !search.odd
                }
            },
            Place::Item { first } => match byte {
                b']' => balance.brackets <= 0,
                b'}' => balance.braces <= 0 && (self.open_objects > 0 || skip_white(bytes, next + 1) == bytes.len()),
                b')' => balance.parens <= 0 && self.open_parens > 0,
                b',' | b';' => self.item_or_end(next + length) || self.member_behind_item(search, next + length),
                b':' => first && !doubted,
                b'{' | b'[' => spaced,
                _ => match Quote::at(bytes, next) {
                    Some((_, length)) => !self.ends_here(next + length),
                    None => self.new_line(after, next) && lookahead::value(bytes, next),
                },
            },
            Place::Argument => match byte {
                b')' => balance.parens <= 0,
                b']' => balance.brackets <= 0 && (self.open_arrays > 0 || self.stops(byte)),
                b'}' => balance.braces <= 0 && (self.open_objects > 0 || self.stops(byte)),
                b',' => self.argument_or_end(next + length),
                _ if self.stops(byte) => true,
                _ => match Quote::at(bytes, next) {
                    Some((_, length)) => spaced && !self.ends_here(next + length),
                    None => self.new_line(after, next) && lookahead::keyword(bytes, next),
                },
            },
        };
        if closes { Verdict::Closes } else { Verdict::Inner }
    }

    /// A brace stands open in the string. Once one was that nothing closed, braces tell no more: each string after it would
    /// be searched to the end of the text.
    fn holds_open(&self, balance: &Balance) -> bool {
        balance.braces > 0 && !self.loose_brace.get()
    }

    /// The last quote in the string that ends at `end` opened it or the next item, or closed it before: `""a"`, `["a, "b"]`,
    /// `"a""`.
    fn is_doubled(&self, search: &Search, end: usize) -> bool {
        let Some(inner) = search.inner.filter(|_| search.odd) else { return false };
        let before = self.bytes.get(search.body..inner).unwrap_or_default().trim_ascii_end();
        let inches = before.last().is_some_and(u8::is_ascii_digit);
        before.is_empty()
            || matches!(search.place, Place::Item { .. }) && before.ends_with(b",")
            || inner + 1 == end && !inches
    }

    /// A value of an object ends at the quote before `after`, and the quotes in it do not come in pairs: one of them may have
    /// been its end, or this one no end. If all of them are escaped, or the only one means inches, what stands behind says
    /// whether that is doubtful.
    fn leaves_one_open(&self, search: &Search, after: usize) -> bool {
        let Place::Member { bare_keys } = search.place else { return false };
        if self.argument || search.odd == search.odd_escaped {
            return false;
        }
        let before = search.inner.and_then(|inner| self.bytes.get(search.body..inner));
        let sure = before.is_none_or(|text| text.last().is_some_and(u8::is_ascii_digit) && !text.contains(&b'"'));
        !sure || !self.is_followed(after, bare_keys)
    }

    /// What follows a member as it should stands at `at`: a bracket, or a comma and a key.
    fn is_followed(&self, at: usize, bare_keys: bool) -> bool {
        let next = skip_white(self.bytes, at);
        match self.bytes.get(next) {
            None | Some(b'}' | b']' | b')') => true,
            Some(b',') => {
                let key = skip_white(self.bytes, next + 1);
                Quote::at(self.bytes, key).is_some() || bare_keys && lookahead::bare_key(self.bytes, key)
            }
            Some(_) => false,
        }
    }

    fn new_line(&self, from: usize, to: usize) -> bool {
        self.bytes.get(from..to).is_some_and(|white| white.contains(&b'\n'))
    }

    /// The comment at `at` ends with its line and holds no quote: in a line of text, what looks like one is a part of it.
    fn is_whole_comment(&self, at: usize) -> bool {
        let line = self.bytes.get(at..self.bytes.len().min(at + COMMENT_LIMIT)).unwrap_or_default();
        let end = line.iter().position(|byte| matches!(byte, b'\n' | b'"'));
        end.is_some_and(|end| line.get(end) == Some(&b'\n'))
    }

    /// A comma, a closing bracket or the end of the text comes next.
    fn ends_here(&self, at: usize) -> bool {
        matches!(self.bytes.get(skip_white(self.bytes, at)), None | Some(b',' | b']' | b'}' | b')'))
    }

    /// After a comma in an object: a key, a closing bracket, a comment, another comma or the end.
    fn key_or_end(&self, at: usize, bare_keys: bool, doubt: Doubt) -> bool {
        let next = skip_white(self.bytes, at);
        match self.bytes.get(next) {
            None => true,
            Some(b'}' | b']' | b',' | b'{') => doubt != Doubt::Open,
            Some(_) if lookahead::comment(self.bytes, next) => doubt == Doubt::None || self.is_whole_comment(next),
            // It may be the string's own end.
            Some(_) if Quote::at(self.bytes, next).is_some() && doubt == Doubt::Open => {
                crooked::is_whole_key(self.bytes, next)
            }
            Some(_) if Quote::at(self.bytes, next).is_some() => lookahead::quoted_key(self.bytes, next),
            Some(_) => {
                (bare_keys || self.new_line(at, next)) && lookahead::bare_key(self.bytes, next)
                    || lookahead::half_quoted_key(self.bytes, next)
            }
        }
    }

    /// After a comma in an object: a key whose quotes are not as they should be, and no mark in the string that would
    /// have to be closed first.
    fn crooked_behind(&self, search: &Search, at: usize, behind: usize) -> bool {
        // `print(", note: ", x)`: this one opens something.
        let opens = || matches!(self.bytes.get(search.body..at), Some([.., b'(' | b'[' | b'=']));
        !search.odd
            && !self.holds_open(&search.balance)
            && match crooked::likely(self.bytes, behind) {
                Likely::No => false,
                Likely::Word => search.inner.is_none() && !opens(),
                Likely::Bare => !opens(),
                Likely::Marked => true,
            }
    }

    /// After a comma in an array of an object: the object's next key, before which the end of the array is missing.
    fn member_behind_item(&self, search: &Search, behind: usize) -> bool {
        let member = self.frames.iter().rev().nth(1).is_some_and(|frame| frame.kind == Kind::Object);
        !search.odd && member && crooked::member_for_item(self.bytes, skip_white(self.bytes, behind))
    }

    fn item_or_end(&self, at: usize) -> bool {
        let next = skip_white(self.bytes, at);
        match self.bytes.get(next) {
            None | Some(b']' | b'}' | b')' | b',') => true,
            Some(_) => lookahead::comment(self.bytes, next) || lookahead::value(self.bytes, next),
        }
    }

    /// After a comma in parentheses: a keyword argument, a value that needs no guessing, or the end.
    pub(super) fn argument_or_end(&self, at: usize) -> bool {
        let next = skip_white(self.bytes, at);
        match self.bytes.get(next) {
            None | Some(b')' | b']' | b'}' | b'{' | b'[' | b'(' | b'0'..=b'9' | b'-' | b'*') => true,
            Some(_) if Quote::at(self.bytes, next).is_some() => true,
            Some(_) => lookahead::keyword(self.bytes, next) || lookahead::literal(self.bytes, next),
        }
    }

    /// A quoted key and a colon stand where the string should have been over: its last inner quote opened that key.
    fn ended_before(&self, search: &Search, at: usize) -> Option<usize> {
        let opening = search.inner.filter(|opening| at - opening <= lookahead::KEY_LIMIT)?;
        let before = self.bytes.get(search.body..opening)?;
        let open = self.holds_open(&search.balance);
        self.guess_if(behind::stray_sign(before, open));
        // It is one of an object in the string.
        if open {
            return None;
        }
        let trimmed = before.trim_ascii_end();
        let new_line = before.get(trimmed.len()..)?.contains(&b'\n');
        let (ends_with_comma, kept) = match trimmed.split_last() {
            Some((b',', kept)) => (true, kept.trim_ascii_end()),
            _ => (false, trimmed),
        };
        (ends_with_comma || new_line).then(|| search.body + kept.len())
    }
}

/// The mark from `at` to `after` stands between two letters.
pub(super) fn is_apostrophe(bytes: &[u8], at: usize, after: usize) -> bool {
    let word = |byte: Option<&u8>| byte.is_some_and(|byte| is_word(*byte));
    bytes.get(at) != Some(&b'"') && word(bytes.get(..at).and_then(<[u8]>::last)) && word(bytes.get(after))
}

/// A triple quotation mark at `at` that is not an empty string.
fn triple_mark(bytes: &[u8], at: usize) -> Option<[u8; 3]> {
    match bytes.get(at..at + 3)? {
        b"\"\"\"" => Some(*b"\"\"\""),
        b"'''" => Some(*b"'''"),
        b"```" => Some(*b"```"),
        _ => None,
    }
}
