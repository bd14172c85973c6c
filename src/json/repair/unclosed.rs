//! Strings whose closing mark is missing, or is one of another kind: where they end.
use super::behind;
use super::lookahead::{self, Quote, is_word, skip_white};
use super::machine::{Frame, Repairer};
use super::quoted::{Place, Quoted, Search, is_apostrophe};
use crate::json::Balance;

/// What stands for a closing `"` where the text was written as HTML.
const ENTITY: &[u8] = b"&quot;";

impl Repairer<'_> {
    /// `"C:\dir\", ...`, `"a.md”, ...`: what looked like a part of the string was its end.
    pub(super) fn leave_mark(&self, found: &mut Quoted) {
        let text = self.bytes.get(found.body..found.end).unwrap_or_default();
        if self.is_path(found.body) {
            if text.ends_with(b"\\\"") {
                found.after = found.end;
                found.end -= 1;
                found.unclosed = false;
            }
        } else {
            found.end -= other_mark(text, found.quote);
        }
    }

    pub(super) fn is_path(&self, body: usize) -> bool {
        self.bytes.get(body).is_some_and(u8::is_ascii_alphabetic) && self.bytes.get(body + 1..body + 3) == Some(b":\\")
    }

    /// A path stands at `body` whose backslashes are not escaped.
    pub(super) fn is_raw_path(&self, body: usize) -> bool {
        self.is_path(body) && self.bytes.get(body + 3) != Some(&b'\\')
    }

    /// `"x}, "n": 1`: brackets at the end of a string without a mark that it does not open close what is open round it, if
    /// anything stays open then.
    pub(super) fn leave_closers(&self, found: &mut Quoted) {
        let text = self.bytes.get(found.body..found.end).unwrap_or_default();
        let closers = text.iter().rev().take(self.frames.len()).take_while(|byte| matches!(byte, b'}' | b']')).count();
        let (kept, run) = text.split_at(text.len() - closers);
        let fits = |(frame, byte): (&Frame, &u8)| frame.kind.closed_by(*byte);
        let closes = closers > 0
            && closers < self.frames.len()
            && self.frames.iter().rev().zip(run).all(fits)
            && Balance::of(kept).is_even();
        // Nothing but white space: the brackets are likelier the text, or its beginning.
        if closes && !kept.trim_ascii().is_empty() {
            found.end -= closers;
            found.after = found.end;
            self.moved.set(true);
            self.leave_mark(found);
        }
    }

    /// The text between two places was looked through for the end of a string.
    pub(super) fn looked_ahead(&self, from: usize, to: usize) {
        self.ahead.set(self.ahead.get() + to.saturating_sub(from));
    }

    /// The text ended before a closing mark was found.
    pub(super) fn settle_at_end(&self, found: &mut Quoted, search: &Search) {
        let bytes = self.bytes;
        let length = bytes.len();
        let (tail, closed) = self.closers_behind(found.body, search.unbalanced.is_some());
        found.unclosed = true;
        found.doubtful = true;
        self.unended.set(true);
        self.looked_ahead(found.body, length);
        if self.partial.is_some() {
            found.cut = true;
            (found.end, found.after) = (length, length);
            return;
        }
        if search.place == Place::Key
            && let Some(colon) = lookahead::unclosed_key(bytes, search.body, length)
        {
            (found.end, found.after) = (colon, colon);
            return;
        }
        let missing = if search.place == Place::Key { None } else { self.before_missing_brackets(found.body) };
        if let (true, Some(inner)) = (closed, search.unbalanced.or(search.inner))
            && (search.odd || search.unbalanced.is_some() || missing.is_none())
        {
            self.loose_brace.set(self.loose_brace.get() || search.unbalanced.is_some());
            let length = Quote::at(bytes, inner).map_or(1, |(_, length)| length);
            (found.end, found.after, found.unclosed) = (inner, inner + length, false);
            // A list closes that was not opened: its items are perhaps what the quotes are round.
            let list = bytes.get(skip_white(bytes, found.after)) == Some(&b']') && self.open.brackets == 0;
            // Behind a blank and right before a word it opens something in the text: `"curl -H "limit: 3}`.
            let word = bytes.get(found.after).is_some_and(|byte| is_word(*byte));
            self.guess_if(list || word && behind::opens_string(bytes, inner));
            return;
        }
        if let (true, Some(escaped), true) = (closed, search.escaped, self.is_path(found.body))
            && escaped + 2 >= tail
        {
            (found.end, found.after, found.unclosed) = (escaped + 1, escaped + 2, false);
            return;
        }
        // A key in other quotes: the string lacks its own end before it.
        let body = bytes.get(found.body..).unwrap_or_default();
        let key = if found.quote != Quote::Double { Some(b"\":") } else { Some(b"':").filter(|_| self.python) };
        let members = key.is_some_and(|key| memchr::memmem::find(body, key).is_some());
        let marks = || memchr::memchr_iter(b'"', body).nth(1).is_some();
        self.guess_if(members || found.quote == Quote::Single && !self.python && marks());
        if closed && search.newline.is_some_and(|newline| newline >= tail) {
            let end = missing.unwrap_or(tail);
            (found.end, found.after) = (end, end);
            let text = bytes.get(found.body..end).unwrap_or_default();
            self.guess_if(!nests(text) || holds_comma(search.place, text));
            self.leave_mark(found);
            return;
        }
        // That the text was cut off inside the string is likelier wherever nothing else says that it was not.
        found.cut = true;
        match missing {
            Some(end) => {
                (found.end, found.after) = (end, end);
                let text = bytes.get(found.body..end).unwrap_or_default();
                self.guess_if(!self.is_whole_argument() && holds_comma(search.place, text));
                self.leave_mark(found);
            }
            None => {
                (found.end, found.after) = (length, length);
                let text = bytes.get(found.body..).unwrap_or_default();
                // Neither its quote nor a bracket: behind a line, several words or a blank, there were likely more. What ends in a
                // whole element, or a word behind one, may be whole.
                let torn = text.contains(&b'\n') || memchr::memmem::find(text, b"\\n").is_some();
                let words = text.trim_ascii_start().contains(&b' ');
                let more = |behind: &[u8]| {
                    let word = behind.trim_ascii_start();
                    behind.ends_with(b" ") || word.iter().any(|byte| matches!(byte, b' ' | b'<'))
                };
                let torn = torn || words && behind_element(text).is_none_or(more);
                let bracket = matches!(text.trim_ascii_end().last(), Some(b'}' | b']' | b')'));
                let doubtful = torn || bracket && !Balance::of(text).is_even();
                self.guess_if(doubtful && !self.is_whole_argument());
            }
        }
    }

    /// The first place behind `body` after which only brackets stand that can close what is open round the string, and
    /// white space; and whether what is outermost does close: by the last of them, which the string does not open itself,
    /// unless it holds a brace that is `loose`.
    fn closers_behind(&self, body: usize, loose: bool) -> (usize, bool) {
        let closes = |byte: u8| match byte {
            b'}' => self.open.braces > 0,
            b']' => self.open.brackets > 0,
            b')' => self.open.parens > 0,
            _ => false,
        };
        let text = self.bytes.get(body..).unwrap_or_default();
        let tail = text.iter().rposition(|byte| !closes(*byte) && !byte.is_ascii_whitespace());
        let tail = tail.map_or(0, |last| last + 1);
        let last = text.get(tail..).unwrap_or_default().trim_ascii_end().last().copied();
        let outermost = match (self.frames.first(), last) {
            (Some(frame), Some(last)) => frame.kind.closed_by(last),
            (None, last) => last.is_some(),
            (Some(_), None) => false,
        };
        (body + tail, outermost && (loose || last.is_some_and(|last| Balance::of(text).closes(last))))
    }

    /// The place before the brackets at the end of the text, if they are just those that are open and the string that
    /// begins at `body` has none without them.
    fn before_missing_brackets(&self, body: usize) -> Option<usize> {
        if self.argument || self.frames.is_empty() {
            return None;
        }
        let mut rest = self.bytes.trim_ascii_end();
        for frame in &self.frames {
            let (last, before) = rest.split_last()?;
            if !frame.kind.closed_by(*last) {
                return None;
            }
            rest = before.trim_ascii_end();
        }
        let text = rest.get(body..)?;
        (!text.is_empty() && nests(text)).then_some(rest.len())
    }
}

/// Each bracket of `text` closes one that it opened before, and none stays open.
fn nests(text: &[u8]) -> bool {
    let mut balance = Balance::default();
    let opened = text.iter().all(|byte| {
        balance.read(*byte);
        !balance.closes_more()
    });
    opened && balance.is_even()
}

/// A comma that stands behind the last string is perhaps a part of its `text`, or behind an item, all of the items that follow.
fn holds_comma(place: Place, text: &[u8]) -> bool {
    let visible = |byte: &&u8| !matches!(byte, b' ' | b'\t' | b'\r');
    let ends_line = |end: usize| text.get(..end).and_then(|line| line.iter().rev().find(visible)) == Some(&b',');
    let item = matches!(place, Place::Item { .. });
    text.trim_ascii_end().ends_with(b",") || item && memchr::memchr_iter(b'\n', text).any(ends_line)
}

/// What stands in `text` behind its last closing tag, if that closes an element which stands there.
fn behind_element(text: &[u8]) -> Option<&[u8]> {
    let (before, tag) = memchr::memmem::rfind(text, b"</").and_then(|at| text.split_at_checked(at))?;
    let end = tag.iter().position(|byte| *byte == b'>')?;
    let name = tag.get(2..end).filter(|name| !name.is_empty())?;
    memchr::memmem::find(before, &[b"<", name].concat())?;
    tag.get(end + 1..)
}

/// The escaped quote at `at` is escaped in the text as well: it stands in a string of that.
fn is_nested(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
    slashes / 2 % 2 == 1
}

/// The length of the mark at the end of `text`, a string that `quote` opened, that nothing in it opens: a quote of another
/// kind, an entity, a curly quote, an escaped one.
fn other_mark(text: &[u8], quote: Quote) -> usize {
    let Some((last, before)) = text.split_last().filter(|(_, before)| !before.is_empty()) else { return 0 };
    if quote.lead() != *last && matches!(last, b'"' | b'\'' | b'`') && !before.ends_with(b"\\") {
        let marks = memchr::memchr_iter(*last, text).filter(|at| !is_apostrophe(text, *at, at + 1)).count();
        return usize::from(marks == 1);
    }
    if quote != Quote::Double {
        return 0;
    }
    let count = |mark: &[u8]| memchr::memmem::find_iter(text, mark).count();
    let (closing, opening, escaped) = ("”".as_bytes(), "“".as_bytes(), b"\\\"");
    let inches = |text: &[u8]| text.last().is_some_and(u8::is_ascii_digit);
    let (mark, open) = if text.ends_with(ENTITY) {
        (ENTITY, count(ENTITY) % 2 == 0)
    } else if text.ends_with(closing) {
        (closing, count(closing) <= count(opening))
    } else if let Some(before) = text.strip_suffix(escaped) {
        let marks = memchr::memmem::find_iter(text, escaped).filter(|at| !is_nested(text, *at)).count();
        (&escaped[..], marks % 2 == 0 || inches(before) || is_nested(text, before.len()))
    } else {
        return 0;
    };
    if open || mark.len() == text.len() { 0 } else { mark.len() }
}
