//! Strings: where one ends when its text cannot be trusted.
use super::Ending;
use super::backslashes::pairs_are_text;
use super::lookahead::{self, Quote, is_word, skip_white};
use super::machine::{Kind, Repairer};
use super::torn::{is_expression, is_torn, parts_item};
use super::verdict::{Doubt, Verdict};
use crate::json::Balance;
use crate::json::block::find_special_or;
use crate::json::scan::{ScanResult, Scanner};
use crate::turn::RepairCode;

/// What a look at a sign in a string takes, as the bytes of plain text that are read in that time.
pub(super) const LOOK: usize = 64;

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
    pub(super) key: bool,
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
    /// It holds quotes of its own kind.
    pub(super) inner: bool,
    /// Something in the body is to be mended, perhaps.
    pub(super) doubtful: bool,
}

impl Quoted {
    /// The string is valid JSON as it stands.
    pub(super) fn valid(&self) -> bool {
        self.quote == Quote::Double && !self.doubtful && !self.unclosed && self.body == self.open + 1
    }
}

/// What was seen of a string while looking for its end.
pub(super) struct Search {
    pub(super) body: usize,
    pub(super) place: Place,
    /// The last quote that was taken for a part of the text.
    pub(super) inner: Option<usize>,
    /// The first of them that is no apostrophe.
    pub(super) doubt: Option<usize>,
    /// The last of them opened something: their number is odd.
    pub(super) odd: bool,
    /// The first quote that would close the string, but for a brace that stands open in it.
    pub(super) unbalanced: Option<usize>,
    /// The backslash of the last escaped quote.
    pub(super) escaped: Option<usize>,
    /// The number of escaped quotes is odd.
    pub(super) odd_escaped: bool,
    /// And that of those that are escaped in the text as well.
    pub(super) odd_nested: bool,
    /// The number of quotes is odd that lack one backslash of those that such a quote has: two stand before them.
    pub(super) odd_half: bool,
    /// Before one stand four, of which one is as likely too many as another one is missing.
    pub(super) four: bool,
    /// Before one stand two or four, and none further on in that string of the text: it ends in no path.
    pub(super) pathless: bool,
    /// It goes on behind a quote with a line that could be a member.
    pub(super) kept_line: bool,
    /// It goes on behind a quote with what could be the next item.
    pub(super) kept_item: bool,
    /// A quote in it has a colon behind it, as that of a key has.
    pub(super) keyed: bool,
    pub(super) newline: Option<usize>,
    /// Brackets in the body, counted up to a place, and only once a quote in it was found to be part of the text.
    pub(super) balance: Balance,
    counted: usize,
}

impl Search {
    fn new(body: usize, place: Place) -> Self {
        Self {
            body,
            place,
            inner: None,
            doubt: None,
            odd: false,
            unbalanced: None,
            escaped: None,
            odd_escaped: false,
            odd_nested: false,
            odd_half: false,
            four: false,
            pathless: false,
            kept_line: false,
            kept_item: false,
            keyed: false,
            newline: None,
            balance: Balance::default(),
            counted: body,
        }
    }

    /// The quote at `at`, which is taken for a part of the text, stands behind pairs of backslashes: the number of these is `odd`.
    #[cold]
    fn see_backslashes(&mut self, bytes: &[u8], at: usize, odd: bool) {
        let from = self.escaped.map_or(self.body, |escaped| escaped + 2);
        let before = bytes.get(from..at).unwrap_or_default();
        let path = |text: &[u8]| text.contains(&b'\\') || text.ends_with(b":");
        self.odd_half ^= odd;
        let pairs = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        self.four |= !odd;
        self.pathless |= !before.get(..before.len() - pairs).is_some_and(path);
    }

    pub(super) fn count_brackets(&mut self, bytes: &[u8], to: usize) {
        self.balance.count(bytes.get(self.counted..to).unwrap_or_default());
        self.counted = to;
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
            self.write_string(&string, opens, false);
            self.out.record(RepairCode::Joined, open, "adjacent strings were joined");
            self.out.replace(string.end, mark + length, "");
            opens = false;
            let triple = self.find_string(open, mark, quote, length, place);
            if triple.body != mark + length {
                self.out.replace(mark, triple.body, "");
            }
            string = triple;
        }
        if string.cut && self.partial == Some(false) {
            self.out.drop_from(before, first);
            return self.end_of_text(first);
        }
        if !string.cut
            && let Some(end) = self.kept_with_what_follows(before, first, &string)
        {
            return end;
        }
        if !string.valid() || !opens {
            self.write_string(&string, opens, true);
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
        let mut found = Quoted {
            quote,
            key: place == Place::Key,
            open,
            body,
            end: body,
            after: body,
            unclosed: false,
            cut: false,
            raw,
            inner: false,
            doubtful: raw,
        };
        if let Some(triple) = triple_mark(bytes, mark).filter(|triple| !self.is_quote_in_quotes(triple, mark + 3)) {
            found.body = mark + 3;
            found.doubtful = true;
            // Four of them: the three are as likely text.
            self.guess_if(!self.argument && bytes.get(found.body) == triple.first());
            self.find_triple(&mut found, triple);
            found.raw |= self.holds_json(&found);
            return found;
        }
        let mut search = Search::new(body, place);
        self.find_end(&mut found, &mut search);
        self.leave_certain(&mut found, search.doubt);
        // What `f"{city}"` says only the program knows.
        let format = prefix.iter().any(|byte| byte.eq_ignore_ascii_case(&b'f'));
        self.guess_if(format && bytes.get(body..found.end).is_some_and(|text| memchr::memchr(b'{', text).is_some()));
        let doubted = search.inner.is_some();
        found.inner = doubted;
        if (doubted || quote != Quote::Double) && self.holds_json(&found) {
            (found.raw, found.doubtful) = (true, true);
        }
        // `["a", b"]`: that was no prefix, and the quote before it is missing.
        self.guess_if(found.unclosed && !prefix.is_empty() && !self.is_whole_argument());
        if (doubted || found.unclosed) && !self.is_whole_argument() {
            let text = bytes.get(found.body..found.end).unwrap_or_default();
            self.guess_if(doubted && place == Place::Key || is_torn(text, quote) || is_expression(text, quote));
        }
        self.guess_if(matches!(place, Place::Item { .. }) && !self.argument && parts_item(bytes, &found, doubted));
        found
    }

    /// The string's text is a whole object or list of strict JSON as it stands: nothing in it was escaped for the marks round
    /// it, and a backslash in it is that JSON's. In a fence nothing is. Where the rest is Python, such a string is one of Python's,
    /// and so it is where its text is JSON once its own escapes are undone.
    fn holds_json(&self, found: &Quoted) -> bool {
        let text = self.bytes.get(found.body..found.end).unwrap_or_default();
        let code = found.quote == Quote::Backtick;
        let fence = code && found.body == found.open + 3;
        let text = if code { text.strip_prefix(b"json").unwrap_or(text) } else { text }.trim_ascii();
        let python = self.python && matches!(found.quote, Quote::Single);
        !(found.key || found.unclosed || python)
            && matches!(text, [b'{', .., b'}'] | [b'[', .., b']'])
            && memchr::memchr(b'\\', text).is_some()
            && (fence || is_json(text) && (found.quote == Quote::Double || !is_json_unescaped(text)))
    }

    fn find_end(&self, found: &mut Quoted, search: &mut Search) {
        let (bytes, quote) = (self.bytes, found.quote);
        let mut at = found.body;
        // Where the last escaped backslash ends, and whether it escapes what stands there in the text.
        let mut slash = (0, false);
        loop {
            let from = at;
            at = find_special_or(bytes, at, quote.lead());
            // An escape may go beyond the end of the text.
            if self.is_interrupted(LOOK + at.saturating_sub(from)) {
                let end = from.min(at);
                (found.end, found.after, found.unclosed) = (end, end, true);
                return;
            }
            let Some(&byte) = bytes.get(at) else { break };
            match byte {
                b'\\' => {
                    match bytes.get(at + 1) {
                        Some(mark @ (b'"' | b'\'')) => {
                            search.escaped = Some(at);
                            let counts = *mark == b'"' && quote == Quote::Double;
                            search.odd_escaped ^= counts;
                            search.odd_nested ^= counts && slash == (at, true);
                        }
                        Some(b'\\') => slash = (at + 2, slash != (at, true)),
                        Some(b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
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
                                let item = search.kept_item && (search.odd || self.holds_items(search));
                                self.guess_if(item || self.is_doubled(search, at));
                                self.guess_if(self.leaves_one_open(search, at + length));
                                (found.end, found.after) = (at, at + length);
                                return;
                            }
                            Verdict::Ended(end) => {
                                self.looked_ahead(end, at);
                                (found.end, found.after, found.unclosed) = (end, end, true);
                                found.doubtful = true;
                                // One of its quotes was perhaps the end, and what stands behind that no part of it.
                                self.guess_if(search.inner.is_some() && !search.odd || search.kept_line);
                                self.guess_if(self.is_fragment(search, end));
                                self.leave_mark(found);
                                if search.place != Place::Key && search.inner.is_some() && found.unclosed {
                                    self.leave_closers(found);
                                }
                                return;
                            }
                            Verdict::Unbalanced => {
                                search.unbalanced.get_or_insert(at);
                            }
                            Verdict::Inner => {}
                        }
                        // `x}, {"`: the string was over, and this begins the next object.
                        let object = bytes.get(..at).is_some_and(|text| text.trim_ascii_end().ends_with(b"{"));
                        if object {
                            search.count_brackets(bytes, at);
                            self.guess_if(search.balance.braces <= 0);
                        }
                        search.inner = Some(at);
                        if !is_apostrophe(bytes, at, at + length) {
                            search.odd = !search.odd;
                            if slash.0 == at {
                                search.see_backslashes(bytes, at, slash.1);
                            }
                            search.doubt.get_or_insert(at);
                        }
                        found.doubtful = true;
                        at += length;
                    }
                    other => {
                        found.doubtful = true;
                        at += other.map_or(1, |(_, length)| length);
                    }
                },
            }
        }
        self.settle_at_end(found, search);
        self.guess_if(search.kept_line);
    }

    /// The first quote in the string, an item, stands where the first of another item does, or the string has lines.
    fn holds_items(&self, search: &Search) -> bool {
        let before = search.doubt.and_then(|doubt| self.bytes.get(search.body..doubt)).unwrap_or_default();
        let opening = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'[' | b'{');
        let last = before.iter().rev().find(|byte| !opening(byte));
        search.newline.is_some() || last == Some(&b',')
    }

    /// The string, a value that would end at `end` for the key behind it, has lines, of which the key would begin another, or a
    /// key stands in it: that one is perhaps shown as well, unless the string shows a whole object or list.
    fn is_fragment(&self, search: &Search, end: usize) -> bool {
        let behind = search.inner.and_then(|key| self.bytes.get(end..key)).unwrap_or_default();
        let lines = search.newline.is_some_and(|newline| newline < end) && behind.contains(&b'\n');
        search.place != Place::Key && (search.keyed || lines) && {
            let text = self.bytes.get(search.body..end).unwrap_or_default().trim_ascii();
            !(matches!(text, [b'{', .., b'}'] | [b'[', .., b']']) && Balance::of(text).is_even())
        }
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
                if self.growing {
                    // The last of these may be its own.
                    let marks = rest.iter().rev().take_while(|byte| mark.first() == Some(byte)).count();
                    found.end -= marks;
                }
                // It holds whatever was to follow it.
                self.guess_if(true);
            }
        }
    }
}

fn is_json(text: &[u8]) -> bool {
    Scanner::new(0, usize::MAX).scan(text, true) == ScanResult::Complete { end: text.len() }
}

/// All backslashes of `text` stand in pairs, and it is JSON with one for each. One of a path, a pattern or TeX is none then.
fn is_json_unescaped(text: &[u8]) -> bool {
    if pairs_are_text(text) {
        return false;
    }
    let (mut unescaped, mut at, mut escaped) = (Vec::with_capacity(text.len()), 0, false);
    while let Some(found) = memchr::memchr(b'\\', text.get(at..).unwrap_or_default()) {
        let pair = at + found;
        escaped = found == 0 && at > 0 && !escaped;
        let sign = text.get(pair + 2);
        // What nobody means by an escape, or writes as one only where there is no other way.
        let text_own = !escaped && matches!(sign, Some(b'b' | b'f' | b'u' | b'/'));
        if text.get(pair + 1) != Some(&b'\\') || text_own {
            return false;
        }
        unescaped.extend_from_slice(text.get(at..=pair).unwrap_or_default());
        at = pair + 2;
    }
    unescaped.extend_from_slice(text.get(at..).unwrap_or_default());
    is_json(&unescaped)
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
