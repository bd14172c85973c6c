//! Whether a quote closes the string that it stands in, by what the string holds and what follows the quote.
use super::behind;
use super::beyond;
use super::crooked::{self, Likely};
use super::lookahead::{self, Quote, is_word, punctuation, skip_white};
use super::machine::{Kind, Repairer};
use super::quoted::{Place, Search};
use crate::json::Balance;

/// A comment behind a doubtful quote is none if its line is longer.
const COMMENT_LIMIT: usize = 256;

/// What a quote of its own kind in a string is.
pub(super) enum Verdict {
    Closes,
    Inner,
    /// It would close, but for a brace that stands open in the string.
    Unbalanced,
    /// The string had ended before, at this place, without a mark.
    Ended(usize),
}

/// What the quotes of a string's own kind in it say of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// There are none.
    None,
    /// They come in pairs.
    Paired,
    /// One of them is open.
    Open,
}

impl Search {
    /// The quotes in the string come in pairs with those that are escaped in it: each of these with one that lacks one backslash of
    /// its own. What stands behind more of them than that is no sure pair.
    fn is_paired(&self) -> bool {
        let own = self.odd_escaped ^ self.odd_nested;
        let outer = self.odd == own && if own { !self.pathless || self.odd_nested } else { !self.four };
        let nested = self.odd_half == self.odd_nested && self.odd ^ self.odd_half == own && !self.four;
        outer || nested
    }

    fn doubt(&self) -> Doubt {
        match (self.inner, self.odd) {
            (_, true) => Doubt::Open,
            (Some(_), false) => Doubt::Paired,
            (None, false) => Doubt::None,
        }
    }
}

/// A quote in a string, and what stands behind it.
#[derive(Clone, Copy)]
struct Quotation {
    at: usize,
    /// The place behind it.
    after: usize,
    /// Where what stands behind it begins, white space skipped: with the sign `byte`, `length` bytes long.
    next: usize,
    byte: u8,
    length: usize,
    /// Other quotes of its kind stand before it in the string.
    doubted: bool,
}

impl Quotation {
    fn spaced(&self) -> bool {
        self.next > self.after
    }

    /// Where what stands behind its sign begins.
    fn behind(&self) -> usize {
        self.next + self.length
    }
}

impl From<bool> for Verdict {
    fn from(closes: bool) -> Self {
        if closes { Self::Closes } else { Self::Inner }
    }
}

/// The last of the quotes of its kind in the string opened something, which the next one closes. The only one behind a number
/// means inches.
fn closes_one(bytes: &[u8], search: &Search) -> bool {
    let inches = |doubt: usize| {
        let digit = doubt.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        digit && search.inner == Some(doubt)
    };
    search.odd && !search.doubt.is_some_and(inches)
}

impl Repairer<'_> {
    /// Whether the quote from `at` to `after` closes the string.
    pub(super) fn verdict(&self, search: &mut Search, at: usize, after: usize) -> Verdict {
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
        let quote = Quotation { at, after, next, byte, length, doubted };
        match search.place {
            Place::Top => Verdict::Closes,
            Place::Key => self.closes_key(search, quote),
            _ if matches!(byte, b'/' | b'#' | b'.' | 0xe2) && lookahead::comment(bytes, next) => {
                (!doubted && (quote.spaced() || byte == b'/')).into()
            }
            _ if byte == b'`' && lookahead::fence(bytes, next) => Verdict::Closes,
            _ if byte == b'+' && Quote::at(bytes, skip_white(bytes, next + 1)).is_some() => {
                // `x = "+"`: in the text of a program.
                let joins = quote.spaced() || !behind::opens_string(bytes, at);
                self.guess_if(joins && doubted && !self.argument);
                joins.into()
            }
            _ if !doubted && behind::expression(bytes, at, after) => Verdict::Closes,
            Place::Member { bare_keys } => self.closes_member(search, quote, bare_keys),
            Place::Item { first } => self.closes_item(search, quote, first).into(),
            Place::Argument => self.closes_argument(search, quote).into(),
        }
    }

    fn closes_key(&self, search: &Search, quote: Quotation) -> Verdict {
        if matches!(quote.byte, b':' | b'=') {
            return Verdict::Closes;
        }
        match lookahead::unclosed_key(self.bytes, search.body, quote.at) {
            Some(colon) => Verdict::Ended(colon),
            None => (quote.spaced() || !is_word(quote.byte)).into(),
        }
    }

    /// The string is a value of an object.
    fn closes_member(&self, search: &mut Search, quote: Quotation, bare_keys: bool) -> Verdict {
        let Quotation { at, after, next, byte, doubted, .. } = quote;
        let (bytes, balance) = (self.bytes, search.balance);
        let closes = match byte {
            b'}' => balance.braces <= 0,
            b']' => {
                balance.brackets <= 0
                    && (self.open.brackets > 0
                        || skip_white(bytes, next + 1) == bytes.len()
                        || !doubted && self.stands_for_brace(search, at, next + 1))
            }
            // At the very end it stands for the bracket that is missing.
            b')' | b'>' if skip_white(bytes, next + 1) == bytes.len() => balance.parens <= 0,
            b')' => balance.parens <= 0 && self.open.parens > 0,
            b',' | b';' => {
                let over = self.key_or_end(quote.behind(), bare_keys, search.doubt());
                if over && self.holds_open(&balance) {
                    return Verdict::Unbalanced;
                }
                over || self.crooked_behind(search, at, quote.behind())
            }
            b':' => match self.ended_before(search, at) {
                Some(end) => return Verdict::Ended(end),
                None => {
                    search.keyed = true;
                    false
                }
            },
            _ if Quote::at(bytes, next).is_some() => self.ends_before_string(at, after, next, doubted),
            _ => {
                let member = self.new_line(after, next) && lookahead::bare_key(bytes, next);
                // `A="1"` and another such line: this one closes what was opened in the text.
                search.kept_line |= member && search.odd;
                member && !search.odd
            }
        };
        closes.into()
    }

    /// The bracket before `behind` closes no array: a comma and the next key of the object round this one stand behind it, and no
    /// bracket is open in the string, which would end at `at`.
    fn stands_for_brace(&self, search: &mut Search, at: usize, behind: usize) -> bool {
        let comma = skip_white(self.bytes, behind);
        let key = skip_white(self.bytes, comma + 1);
        let in_object = self.frames.iter().rev().nth(1).is_some_and(|frame| frame.kind == Kind::Object);
        let followed = in_object
            && self.bytes.get(comma) == Some(&b',')
            && lookahead::key_look(self.bytes, key) == lookahead::KeyLook::Key;
        followed && {
            search.count_brackets(self.bytes, at);
            search.balance.brackets == 0
        }
    }

    /// The string is an item of an array.
    fn closes_item(&self, search: &mut Search, quote: Quotation, first: bool) -> bool {
        let Quotation { after, next, byte, doubted, .. } = quote;
        let (bytes, balance) = (self.bytes, search.balance);
        match byte {
            b']' => balance.brackets <= 0,
            b'}' => balance.braces <= 0 && (self.open.braces > 0 || skip_white(bytes, next + 1) == bytes.len()),
            b')' => balance.parens <= 0 && self.open.parens > 0,
            b',' | b';' if self.quotes_argument(search, quote) => false,
            b',' | b';' => self.item_or_end(quote.behind()) || self.member_behind_item(search, quote.behind()),
            b':' => first && !doubted,
            b'{' | b'[' => quote.spaced() && !closes_one(bytes, search),
            _ => match Quote::at(bytes, next) {
                // Another pair of them in the text: `cp "$A" "$B"`, `x = ""`.
                Some((_, _)) if self.is_paired(search, quote) => false,
                Some((_, length)) => {
                    let closes = !self.ends_here(next + length) || self.is_next_line(quote);
                    // Two marks in a row, among others: perhaps all of them are the text's.
                    let others = doubted || Quote::at(bytes, next + length).is_some();
                    self.guess_if(closes && next == after && others);
                    closes
                }
                None if self.new_line(after, next) => lookahead::value(bytes, next),
                None => quote.spaced() && !search.odd && self.is_item(next),
            },
        }
    }

    /// The quote, behind which another one of its kind stands, closes one that was opened in the text, or opens the one there.
    fn is_paired(&self, search: &mut Search, quote: Quotation) -> bool {
        let Quotation { at, after, next, doubted, .. } = quote;
        let kept = if doubted {
            closes_one(self.bytes, search) && !self.new_line(after, next)
        } else {
            // Behind two of them a sign stands.
            let behind = self.bytes.get(next + 1);
            let sign = behind.is_some_and(|byte| matches!(byte, b';' | b')' | b'.' | b'+' | b'|' | b'&' | b'<' | b'>'));
            next == after && sign && behind::opens_string(self.bytes, at)
        };
        search.kept_item |= kept;
        kept
    }

    /// The quote, a comma or semicolon behind it, closes one that was opened behind a bracket of the text that is still open, or
    /// right before it: `f("a", 1)`, `{"a": "b", "c": 1}`, `{ a: "b"; }`, `x = "";`.
    fn quotes_argument(&self, search: &mut Search, quote: Quotation) -> bool {
        let Balance { braces, brackets, parens } = search.balance;
        let empty = || search.kept_item && search.inner.is_some_and(|inner| inner + 1 == quote.at);
        let open = braces > 0 || brackets > 0 || parens > 0 || empty();
        let kept = quote.doubted && closes_one(self.bytes, search) && open;
        search.kept_item |= kept;
        kept
    }

    /// The quote is the first of its kind in the string, and on the next line another string stands whose text begins with a sign:
    /// they are joined, or a comma is missing.
    fn is_next_line(&self, quote: Quotation) -> bool {
        !quote.doubted
            && self.new_line(quote.after, quote.next)
            && beyond::is_next_string(self.bytes, quote.next, self.growing)
    }

    /// A number or a literal word that is all of an item stands at `at`, and behind its comma, if it has one, another item.
    fn is_item(&self, at: usize) -> bool {
        crooked::surely_value(self.bytes, at) && {
            let sign = usize::from(self.bytes.get(at) == Some(&b'-'));
            let end = skip_white(self.bytes, lookahead::word_end(self.bytes, at + sign, lookahead::KEY_LIMIT));
            match self.bytes.get(end) {
                Some(b',') => self.item_or_end(end + 1),
                Some(byte) => *byte == b']',
                None => false,
            }
        }
    }

    /// The string stands in parentheses.
    fn closes_argument(&self, search: &Search, quote: Quotation) -> bool {
        let Quotation { after, next, byte, .. } = quote;
        let (bytes, balance) = (self.bytes, &search.balance);
        match byte {
            b')' => balance.parens <= 0,
            b']' => balance.brackets <= 0 && (self.open.brackets > 0 || self.stops(byte)),
            b'}' => balance.braces <= 0 && (self.open.braces > 0 || self.stops(byte)),
            b',' => self.argument_or_end(quote.behind()),
            _ if self.stops(byte) => true,
            _ => match Quote::at(bytes, next) {
                Some((_, length)) => quote.spaced() && !self.ends_here(next + length) || self.is_next_line(quote),
                // Another string that goes on with this one: `"a" f'b'`.
                None if let Some((mark, _, length)) = lookahead::string_start(bytes, next) => {
                    quote.spaced() && !self.ends_here(mark + length)
                }
                None => self.new_line(after, next) && lookahead::keyword(bytes, next),
            },
        }
    }

    /// The quote from `at` to `after` ends a value of an object before the string at `next`, which is a key.
    fn ends_before_string(&self, at: usize, after: usize, next: usize, doubted: bool) -> bool {
        let bytes = self.bytes;
        let body = next + Quote::at(bytes, next).map_or(1, |(_, length)| length);
        // Two of them before a bracket or a comma: the one inside, and the string's own.
        let last = matches!(bytes.get(skip_white(bytes, body)), Some(b',' | b']' | b'}' | b')'));
        let key = !last && lookahead::quoted_key(bytes, next);
        // `"one" "two"`: where the first one opens nothing, the value perhaps goes on in another string.
        let word = bytes.get(body).is_some_and(|byte| is_word(*byte));
        self.guess_if(!key && !doubted && next > after && word && !behind::opens_string(bytes, at));
        key
    }

    /// A brace stands open in the string. Once one was that nothing closed, braces tell no more: each string after it would
    /// be searched to the end of the text.
    fn holds_open(&self, balance: &Balance) -> bool {
        balance.braces > 0 && !self.loose_brace.get()
    }

    /// The last quote in the string that ends at `end` opened it or the next item, or closed it before: `""a"`, `["a, "b"]`,
    /// `"a""`.
    pub(super) fn is_doubled(&self, search: &Search, end: usize) -> bool {
        let Some(inner) = search.inner.filter(|_| search.odd) else { return false };
        let before = self.bytes.get(search.body..inner).unwrap_or_default().trim_ascii_end();
        let inches = before.last().is_some_and(u8::is_ascii_digit);
        before.is_empty()
            || matches!(search.place, Place::Item { .. }) && before.ends_with(b",")
            || inner + 1 == end && !inches
    }

    /// A value of an object ends at the quote before `after`, and the quotes in it do not come in pairs: one of them may have
    /// been its end, or this one no end. If all of them are escaped, or the only one means inches, what stands behind says
    /// whether that is doubtful. Those of a string in the text come in pairs of their own, and one of them may lack a backslash.
    pub(super) fn leaves_one_open(&self, search: &Search, after: usize) -> bool {
        let Place::Member { bare_keys } = search.place else { return false };
        if self.is_whole_argument() || search.is_paired() {
            return false;
        }
        let before = search.inner.and_then(|inner| self.bytes.get(search.body..inner));
        let sure = before.is_none_or(|text| text.last().is_some_and(u8::is_ascii_digit) && !text.contains(&b'"'));
        !sure || !self.is_followed(after, bare_keys || search.inner.is_none(), search.inner.is_none())
    }

    /// What follows a member as it should stands at `at`: a bracket, or a comma and a key; behind a string without doubt, the key
    /// alone, or another string that goes on with it.
    fn is_followed(&self, at: usize, bare_keys: bool, undoubted: bool) -> bool {
        let next = self.behind_comment(at, undoubted);
        match self.bytes.get(next) {
            None | Some(b'}' | b']' | b')') => true,
            Some(b',') => {
                let key = self.behind_comment(next + 1, undoubted);
                let over = matches!(self.bytes.get(key), Some(b'}' | b']')) && self.only_brackets(key);
                over || Quote::at(self.bytes, key).is_some() || bare_keys && lookahead::bare_key(self.bytes, key)
            }
            Some(b'+') => undoubted && Quote::at(self.bytes, skip_white(self.bytes, next + 1)).is_some(),
            Some(_) if undoubted && next > at => lookahead::key_look(self.bytes, next) == lookahead::KeyLook::Key,
            Some(_) => false,
        }
    }

    /// What follows the white space at `at`, and the comment in a line that may stand there if it is `left_out`.
    fn behind_comment(&self, at: usize, left_out: bool) -> usize {
        let next = skip_white(self.bytes, at);
        let comment = left_out
            && matches!(self.bytes.get(next), Some(b'/' | b'#'))
            && lookahead::comment(self.bytes, next)
            && self.is_whole_comment(next);
        if comment { skip_white(self.bytes, lookahead::comment_end(self.bytes, next)) } else { next }
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

    /// Nothing but closing brackets and white space stands at `at` and behind it.
    fn only_brackets(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        rest.iter().all(|byte| matches!(byte, b'}' | b']' | b')') || byte.is_ascii_whitespace())
    }

    /// A comma, a closing bracket or the end of the text comes next.
    fn ends_here(&self, at: usize) -> bool {
        matches!(self.bytes.get(skip_white(self.bytes, at)), None | Some(b',' | b']' | b'}' | b')'))
    }

    /// After a comma in an object: a key, a closing bracket, a comment, another comma or the end.
    pub(super) fn key_or_end(&self, at: usize, bare_keys: bool, doubt: Doubt) -> bool {
        let next = skip_white(self.bytes, at);
        match self.bytes.get(next) {
            None => true,
            Some(b'}' | b']') => doubt != Doubt::Open || self.only_brackets(next),
            Some(b',' | b'{') => doubt != Doubt::Open,
            Some(_) if lookahead::comment(self.bytes, next) => doubt == Doubt::None || self.is_whole_comment(next),
            // It may be the string's own end.
            Some(_) if Quote::at(self.bytes, next).is_some() && doubt == Doubt::Open => {
                crooked::is_whole_key(self.bytes, next)
            }
            Some(_) if Quote::at(self.bytes, next).is_some() => lookahead::quoted_key(self.bytes, next),
            Some(_) => {
                (bare_keys || self.new_line(at, next)) && lookahead::bare_key(self.bytes, next)
                    || lookahead::half_quoted_key(self.bytes, next)
                    || self.python && doubt != Doubt::Open && lookahead::python_key(self.bytes, next)
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
                likely @ (Likely::Word | Likely::Words) => {
                    let ends = search.inner.is_none() && !opens();
                    // Words with a colon stand in a text as well.
                    self.guess_if(ends && likely == Likely::Words);
                    ends
                }
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
