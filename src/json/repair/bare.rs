//! Words without quotes: literals, numbers, unquoted strings and keys, and expressions kept as their source text.
use super::Ending;
use super::behind::is_expression;
use super::lookahead::{self, KEY_LIMIT, Quote, is_word, skip_white};
use super::machine::{Kind, Repairer, State};
use super::quoted::Place;
use super::token::{self, Number};
use super::torn::is_torn_text;
use crate::error::Error;
use crate::json::scan::{ScanResult, Scanner};
use crate::json::string::push_string;
use crate::turn::{RepairCode, Slip};

/// Brackets in an unquoted text are paired over at most this many bytes.
const PAIRED: usize = 4096;

/// So often it is asked whether an unquoted text is read on, which may be as long as all there is.
const STEP: usize = 1 << 14;

impl Repairer<'_> {
    /// The word at `at`, where a value must come.
    pub(super) fn read_word(&mut self, at: usize) -> Result<usize, Error> {
        let bytes = self.bytes;
        if let Some((mark, quote, length)) = lookahead::string_start(bytes, at)
            && !self.is_last_quote(mark + length)
        {
            return Ok(self.read_string(at, mark, quote, length));
        }
        if let Some(after) = self.read_escaped(at, self.place()) {
            return Ok(after);
        }
        let end = token_end(bytes, at);
        let word = bytes.get(at..end).unwrap_or_default();
        if let Some((name, open)) = self.wrapper(at, end) {
            return self.open_paren(name, open + 1, Kind::Wrapper);
        }
        // A word may go on behind white space, where it is text.
        let behind = if self.growing && !self.valid { skip_white(bytes, end) } else { end };
        if self.partial.is_some() && behind >= bytes.len() && token::whole_word(word).is_none() {
            return Ok(self.end_of_text(at));
        }
        if bytes.get(end) == Some(&b',') && word.iter().any(u8::is_ascii_digit) {
            match self.place() {
                // Digits that no colon follows are no key.
                Place::Member { .. } if token::digits_alone(bytes, end + 1) => return Ok(self.read_text(at)),
                Place::Item { .. } => {
                    if let Some(end) = token::grouped(bytes, at) {
                        return Ok(self.write_grouped(at, end));
                    }
                }
                _ => {}
            }
        }
        if self.ends_at(end) {
            if let Some(json) = token::literal_word(word) {
                return Ok(self.write_literal(at, end, json));
            }
            if end == bytes.len()
                && !self.frames.is_empty()
                && let Some(json) = token::cut_literal(word)
            {
                self.ending = Ending::Cut;
                return Ok(self.write_literal(at, end, json));
            }
            if word.iter().any(u8::is_ascii_digit) || word.ends_with(b"f") || word.ends_with(b"y") {
                match token::number(self.out.text.get(at..end).unwrap_or_default()) {
                    Number::Valid => {
                        self.value_read();
                        return Ok(end);
                    }
                    Number::Mended(json) => {
                        self.out.record(RepairCode::Number, at, "the number was respelt");
                        self.out.replace(at, end, &json);
                        self.value_read();
                        return Ok(end);
                    }
                    Number::Text => {}
                }
            }
            if end == bytes.len() && matches!(word, b"-" | b"+" | b".") {
                return Ok(self.end_of_text(at));
            }
        }
        Ok(self.read_text(at))
    }

    /// The quote before `at` is no string's first one behind a prefix (`F", "b": 1`): what follows is the next member.
    fn is_last_quote(&self, at: usize) -> bool {
        let comma = skip_white(self.bytes, at);
        let next = skip_white(self.bytes, comma + 1);
        self.bytes.get(comma) == Some(&b',')
            && match self.place() {
                Place::Member { .. } => lookahead::quoted_key(self.bytes, next),
                Place::Item { .. } => Quote::at(self.bytes, next)
                    .is_some_and(|(_, length)| self.bytes.get(next + length).is_some_and(|byte| is_word(*byte))),
                Place::Key | Place::Argument | Place::Top => false,
            }
    }

    /// `1,000` in an array: one number or two is not ours to say, so it stays a text.
    fn write_grouped(&mut self, at: usize, end: usize) -> usize {
        self.out.record(RepairCode::Quotes, at, "a number with commas in it is in quotes now");
        let text = self.out.text.get(at..end).unwrap_or_default();
        self.out.replace_with(at, end, |out| push_string(out, text));
        self.value_read();
        end
    }

    /// `ObjectId(` and the like: where the name and the parenthesis stand.
    fn wrapper(&self, at: usize, end: usize) -> Option<(usize, usize)> {
        let bytes = self.bytes;
        let word = bytes.get(at..end)?;
        let (name, end) = if word == b"new" {
            let name = skip_white(bytes, end);
            (name, token_end(bytes, name))
        } else {
            (at, end)
        };
        let name = bytes.get(name..end)?;
        let known = bytes.get(end) == Some(&b'(') && token::wrapper(name);
        // Round nothing, `new Date()` means what only a program can tell.
        let empty = || bytes.get(skip_white(bytes, end + 1)) == Some(&b')');
        (known && (token::makes_empty(name) || !empty())).then_some((at, end))
    }

    fn write_literal(&mut self, at: usize, end: usize, json: &str) -> usize {
        if self.bytes.get(at..end) != Some(json.as_bytes()) {
            self.out.record(RepairCode::Literal, at, "the literal was respelt");
            self.out.replace(at, end, json);
        }
        self.value_read();
        end
    }

    /// What follows the word that ends at `end` cannot go on with it.
    fn ends_at(&self, end: usize) -> bool {
        let bytes = self.bytes;
        let next = skip_white(bytes, end);
        let spaced = next > end;
        match bytes.get(next) {
            None | Some(b',' | b'}' | b']' | b')' | b';' | b'{') => true,
            Some(b':') => matches!(self.place(), Place::Item { .. }),
            Some(b'[') => spaced,
            Some(b'\\') => lookahead::escaped_white(bytes, next).is_some(),
            Some(b'`') => lookahead::fence(bytes, next),
            Some(&byte) if self.stops(byte) => true,
            Some(_) if lookahead::comment(bytes, next) => true,
            Some(_) if bytes.get(end..next).is_some_and(|white| white.contains(&b'\n')) => true,
            // `5'10"` is no number and a string.
            Some(b'\'') if !spaced && bytes.get(next + 1).is_some_and(u8::is_ascii_digit) => false,
            Some(_) if let Some((_, length)) = Quote::at(bytes, next) => spaced || !self.is_last_quote(next + length),
            Some(0x80..) => lookahead::wide_punctuation(bytes, next),
            Some(b'0'..=b'9' | b'-') => spaced && matches!(self.place(), Place::Item { .. }),
            Some(_) if spaced => match self.place() {
                Place::Member { .. } => lookahead::bare_key(bytes, next),
                Place::Item { .. } => lookahead::literal(bytes, next),
                _ => false,
            },
            Some(_) => false,
        }
    }

    /// An unquoted string or an expression.
    fn read_text(&mut self, at: usize) -> usize {
        if !self.source_text && self.frames.is_empty() {
            self.state = State::Done;
            return at;
        }
        let place = self.place();
        let (end, after) = match self.text_end(at, place, true) {
            Some(found) => found,
            None => self.text_end(at, place, false).unwrap_or((self.bytes.len(), self.bytes.len())),
        };
        if self.growing && !self.frames.is_empty() && self.behind_comma(after) >= self.bytes.len() {
            return self.write_certain(at);
        }
        let text = self.out.text.get(at..end).unwrap_or_default().trim_end();
        if after >= self.bytes.len() && !self.frames.is_empty() {
            self.ending = Ending::Cut;
        }
        self.guess_if(!self.argument && (self.ends_in_comment(at, end) || text.ends_with(',')));
        self.guess_if(
            !self.argument
                && (is_expression(text) || self.is_behind_label(at, text) || leaves_quote_open(text.as_bytes())),
        );
        // Letters that are no string's prefix in any language, glued to a quoted string: a byte-level token, or a torn word.
        self.guess_if(!self.argument && is_glued(text));
        // An escaped quote opens it: where it ends is not known.
        let list = self.bytes.get(after) == Some(&b']') && self.open.brackets == 0 && text.contains(',');
        self.guess_if(text.starts_with("\\\"") || !self.argument && (list || is_torn_text(text.as_bytes())));
        if after > end && matches!(place, Place::Item { first: false }) && self.is_behind_word(at) {
            // `"a", b, c"`: the quote that is missing stood before one of them.
            self.guess_if(true);
        }
        // `"a": b, c: d"`: the quote that is missing stood before `d`, or before `b`.
        self.guess_if(after > end && matches!(place, Place::Member { .. }) && self.is_odd_key(at));
        if let Some(string) = self.unopened_string(at, end, after) {
            self.out.record(RepairCode::Quotes, at, "the string's first quote was missing");
            self.out.replace_with(at, after, |out| out.push_str(&string));
            self.value_read();
            return after;
        }
        let expression = place == Place::Argument || text.contains(['(', '[']);
        let (code, message) = if expression {
            (RepairCode::SourceText, "what is no literal is kept as its source text")
        } else {
            (RepairCode::Quotes, "an unquoted string is in quotes now")
        };
        self.out.record(code, at, message);
        let after = if after > end { after } else { at + text.len() };
        self.out.replace_with(at, after, |out| push_string(out, text));
        self.value_read();
        after
    }

    /// The text from `at` ends at `end` before what looks like a comment and is perhaps more of it: nothing parts its sign from
    /// what it says, or a quote or the comma that is due stands in it.
    fn ends_in_comment(&self, at: usize, end: usize) -> bool {
        let rest = self.bytes.get(end..).filter(|_| end > at && lookahead::comment(self.bytes, end));
        let Some(line) = rest.map(|rest| rest.split(|byte| *byte == b'\n').next().unwrap_or_default()) else {
            return false;
        };
        let said = line.iter().position(|byte| !matches!(byte, b'/' | b'#')).and_then(|at| line.get(at..));
        let glued = said.is_some_and(|said| !matches!(said.first(), Some(b' ' | b'\t' | b'*')));
        !line.starts_with(b"/*") && (glued || line.contains(&b'"') || line.trim_ascii_end().ends_with(b","))
    }

    /// The `text` at `at` is a string, and before it what is no part of it: a token, the key once more, a word of a program.
    fn is_behind_label(&self, at: usize, text: &str) -> bool {
        let Some((label, string)) = text.split_once('"').filter(|(_, string)| string.ends_with('"')) else {
            return false;
        };
        let label = label.trim_end();
        let token = label.starts_with('<') && label.ends_with('>') && !label.contains(' ');
        let key = || {
            let name = label.strip_suffix(['=', ':']).map(str::trim_end).filter(|name| !name.is_empty());
            let before = self.out.text.get(..at).unwrap_or_default().trim_end().trim_end_matches(':').trim_end();
            let key = before.trim_end_matches(['"', '\'']);
            let own = |name: &str| key.strip_suffix(name).is_some_and(|s| !s.ends_with(|c: char| c.is_alphanumeric()));
            name.is_some_and(own)
        };
        string.matches('"').count() == 1 && (token || matches!(label, "not" | "str" | "string" | "return") || key())
    }

    /// An item without quotes stands before the one at `at`.
    fn is_behind_word(&self, at: usize) -> bool {
        let before = self.bytes.get(..at).unwrap_or_default().trim_ascii_end();
        let item = before.strip_suffix(b",").map(<[u8]>::trim_ascii_end);
        item.and_then(<[u8]>::last).is_some_and(|byte| is_word(*byte))
    }

    /// The key of the value at `at` has no quotes, where the first one of its object does.
    fn is_odd_key(&self, at: usize) -> bool {
        let first = self.frames.last().is_some_and(|frame| Quote::at(self.bytes, self.peek(frame.open + 1)).is_some());
        let before = self.bytes.get(..at).unwrap_or_default().trim_ascii_end();
        let key = before.strip_suffix(b":").unwrap_or(before).trim_ascii_end();
        first && !key.ends_with(b"\"") && !key.ends_with(b"'")
    }

    /// The text from `at` to `end` is the inside of a string that lacks its first quote only: its escapes are those of one.
    fn unopened_string(&self, at: usize, end: usize, after: usize) -> Option<String> {
        let text = self.out.text.get(at..end)?;
        let escaped = matches!(self.bytes.get(end), Some(b'"' | b'\''))
            && after == end + 1
            && text.contains('\\')
            && !self.is_raw_path(at);
        let string = escaped.then(|| format!("\"{text}\""))?;
        let whole = Scanner::new(0, 1).scan(string.as_bytes(), true) == ScanResult::Complete { end: string.len() };
        // Which of its backslashes are escapes is not known.
        self.guess_if(!whole && !self.argument);
        whole.then_some(string)
    }

    /// Where the unquoted text at `at` ends, and where what follows it begins. With `paired` set, brackets in it are
    /// paired and stops inside them do not count; `None` if they do not pair.
    pub(super) fn text_end(&mut self, at: usize, place: Place, paired: bool) -> Option<(usize, usize)> {
        let bytes = self.bytes;
        if paired && at < self.unpaired_until {
            return None;
        }
        let mut i = at;
        while let Some(&byte) = bytes.get(i) {
            if i.is_multiple_of(STEP) && self.is_interrupted(STEP) {
                return Some((i, i));
            }
            let first = i == at;
            match byte {
                b'(' | b'[' | b'{' if paired => match self.pairs.closing(bytes, i, at + PAIRED) {
                    Some(close) => i = close,
                    None => {
                        self.unpaired_until = bytes.len().min(i.max(at + PAIRED) + 1);
                        return None;
                    }
                },
                b'}' | b']' if !first => return Some((i, i)),
                b')' if !first && self.open.parens > 0 => return Some((i, i)),
                b'\n' => return Some((i, i)),
                b',' if self.comma_ends(i + 1, place) => return Some((i, i)),
                0xef if place != Place::Argument
                    && lookahead::wide_punctuation(bytes, i)
                    && self.comma_ends(i + 3, place) =>
                {
                    return Some((i, i));
                }
                b'/' | b'#' if !first && lookahead::comment(bytes, i) && bytes.get(i - 1) == Some(&b' ') => {
                    return Some((i, i));
                }
                b'"' if inches(bytes, at, i) => {}
                b'"' | b'\'' if !first && self.closes_text(i + 1, place) => {
                    let end = if quotes_word(bytes, at, i) { i + 1 } else { i };
                    return Some((end, i + 1));
                }
                _ if !first && self.stops(byte) && !matches!(byte, b',' | b':') => return Some((i, i)),
                _ => {}
            }
            i += 1;
        }
        Some((i, i))
    }

    pub(super) fn comma_ends(&self, at: usize, place: Place) -> bool {
        let next = skip_white(self.bytes, at);
        let closer = matches!(self.bytes.get(next), None | Some(b'}' | b']' | b')' | b',' | b'\n'));
        closer
            || match place {
                Place::Member { .. } => {
                    lookahead::bare_key(self.bytes, next)
                        || lookahead::quoted_key(self.bytes, next)
                        || lookahead::comment(self.bytes, next)
                }
                Place::Argument if self.frames.is_empty() => self.argument_or_end(next),
                _ => true,
            }
    }

    /// What stands behind `at` and the comma that may stand there.
    pub(super) fn behind_comma(&self, at: usize) -> usize {
        let next = skip_white(self.bytes, at);
        if self.bytes.get(next) == Some(&b',') { skip_white(self.bytes, next + 1) } else { next }
    }

    /// A stray quote at the end of an unquoted text ends it.
    fn closes_text(&self, at: usize, place: Place) -> bool {
        let next = skip_white(self.bytes, at);
        match self.bytes.get(next) {
            None | Some(b'}' | b']') => true,
            Some(b')') => self.open.parens > 0,
            Some(b',') => self.comma_ends(next + 1, place),
            Some(_) => false,
        }
    }

    /// Where the unquoted key at `at` ends, and where what follows it begins (after a stray quote).
    pub(super) fn bare_key_end(&self, at: usize) -> (usize, usize) {
        let bytes = self.bytes;
        let mut end = at;
        while let Some(&byte) = bytes.get(end) {
            match byte {
                b':' | b'=' | b',' | b'}' | b']' | b'{' | b'[' | b'\n' | b'(' | b')' => break,
                b'-' if bytes.get(end + 1) == Some(&b'>') => break,
                b' ' | b'\t' if !lookahead::bare_key(bytes, skip_white(bytes, end)) && self.value_next(end) => break,
                0xef if bytes.get(end..end + 3) == Some("：".as_bytes()) => break,
                _ if end > at && Quote::at(bytes, end).is_some() => break,
                _ if end - at > KEY_LIMIT => break,
                _ => end += 1,
            }
        }
        let after = Quote::at(bytes, end).map_or(end, |(_, length)| end + length);
        let colon = matches!(lookahead::punctuation(bytes, skip_white(bytes, after)), Some((b':' | b'=', _)));
        let text = self.out.text.get(at..end).unwrap_or_default().trim_end();
        (at + text.len(), if colon && after > end { after } else { end })
    }

    /// A value stands after the white space at `at`: a key before it ends here, and its colon is missing.
    fn value_next(&self, at: usize) -> bool {
        let next = skip_white(self.bytes, at);
        matches!(self.bytes.get(next), Some(b'{' | b'[' | b'"' | b'\'' | b'0'..=b'9' | b':' | b'='))
            || lookahead::literal(self.bytes, next)
    }

    pub(super) fn write_bare_key(&mut self, at: usize, end: usize, after: usize) {
        let key = self.out.text.get(at..end).unwrap_or_default();
        // No key begins with a sign of markup or of an operator: it stands for a quote, or is left over.
        let sign = key.starts_with(['<', '>', '|', ';', '*', '!', '?', '+', '^', '~', '`', '%', '&']);
        self.guess_if(sign || !key.contains(char::is_alphanumeric) || key.contains("\\n") || key.contains("&quot;"));
        self.out.record_slip(Slip::BareKey, at);
        if key.contains("\\_") {
            self.out.record(RepairCode::MarkdownEscape, at, "a Markdown escape was removed from the key");
            let key = key.replace("\\_", "_");
            self.out.replace_with(at, after, |out| push_string(out, &key));
        } else {
            self.out.replace_with(at, after, |out| push_string(out, key));
        }
    }
}

/// The quote at `at` closes a length in feet and inches that begins at `from`: `5'10"`.
fn inches(bytes: &[u8], from: usize, at: usize) -> bool {
    matches!(
        bytes.get(from..at),
        Some([b'0'..=b'9', b'\'', b'0'..=b'9'] | [b'0'..=b'9', b'\'', b'0'..=b'9', b'0'..=b'9'])
    )
}

/// The quote at `at` closes one that opens behind `from`: `git commit -m "fix"`.
fn quotes_word(bytes: &[u8], from: usize, at: usize) -> bool {
    let Some((text, quote)) = bytes.get(from..at).zip(bytes.get(at)) else { return false };
    let opened = memchr::memchr_iter(*quote, text).filter(|i| {
        // An apostrophe stands in a word.
        !(*quote == b'\'' && text.get(i.wrapping_sub(1)).is_some_and(|byte| is_word(*byte)))
    });
    opened.count() % 2 == 1
}

/// A double quote in `text` has no other one, and means no inches: it was to close all of it, or a part of the text is behind that.
fn leaves_quote_open(text: &[u8]) -> bool {
    let behind = |at: usize| at.checked_sub(1).and_then(|at| text.get(at));
    let closes = |at: &usize| !behind(*at).is_some_and(|byte| *byte == b'\\' || byte.is_ascii_digit());
    memchr::memchr_iter(b'"', text).filter(closes).count() % 2 == 1
}

/// The end of what could be one number or literal.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(&byte) = bytes.get(end) {
        let blank = || byte >= 0x80 && lookahead::odd_space(bytes, end).is_some();
        if !(is_word(byte) || matches!(byte, b'.' | b'+' | b'-')) || lookahead::wide_punctuation(bytes, end) || blank()
        {
            break;
        }
        end += 1;
    }
    end
}

/// The text is a word of letters with a quoted string right behind it: `tr"ls"`.
fn is_glued(text: &str) -> bool {
    let word = text.find(['"', '\'']).unwrap_or(0);
    let (letters, string) = text.split_at(word);
    let mut ends = string.chars();
    let (first, last) = (ends.next(), ends.next_back());
    word > 0 && letters.chars().all(char::is_alphabetic) && first.is_some() && first == last
}
