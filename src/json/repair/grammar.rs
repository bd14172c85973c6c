//! What may follow what: how the machine reads a value leniently, and writes it as JSON.
use super::lookahead::{self, Quote, is_word, punctuation};
use super::machine::{End, Kind, Repairer, State};
use super::output::Mark;
use super::quoted::Place;
use super::{Ending, crooked};
use crate::error::{Error, ErrorCode};
use crate::json::string::push_string;
use crate::turn::{RepairCode, Slip};

/// What reading a token takes at most, mostly, as the bytes of plain text that are read in that time.
const TOKEN: usize = 1024;

impl Repairer<'_> {
    /// Reads the value at `at` and writes it.
    pub(super) fn value(&mut self, at: usize) -> Result<End, Error> {
        self.state = State::Value;
        self.run(at)
    }

    /// Reads the members at `at` of an object whose opening brace is missing, and writes it.
    pub(super) fn members(&mut self, at: usize) -> Result<End, Error> {
        self.out.record(RepairCode::Bracket, at, "a missing opening bracket was added");
        self.push(Kind::Object, at)?;
        self.out.replace(at, at, "{");
        self.run(at)
    }

    fn run(&mut self, mut at: usize) -> Result<End, Error> {
        loop {
            let before = at;
            at = match self.state {
                State::Value => self.read_value(at)?,
                State::Item => self.read_item(at)?,
                State::Colon => self.read_colon(at),
                State::After => self.read_after(at)?,
                State::Done => return Ok(End { at, ending: self.ending }),
            };
            if self.is_interrupted(TOKEN + at.saturating_sub(before)) {
                return Err(Error::at(ErrorCode::BadJson, at.to_string(), "interrupted"));
            }
        }
    }

    fn read_value(&mut self, at: usize) -> Result<usize, Error> {
        let at = self.space(at);
        let Some(&byte) = self.bytes.get(at) else { return Ok(self.end_of_text(at)) };
        if let Some((quote, length)) = Quote::at(self.bytes, at) {
            return Ok(self.read_string(at, at, quote, length));
        }
        match byte {
            b'{' => self.open_brace(at),
            b'[' => {
                self.push(Kind::Array, at)?;
                Ok(at + 1)
            }
            b'(' => self.open_paren(at, at + 1, Kind::Paren),
            b',' | b'}' | b']' | b')' | b';' => Ok(self.missing_value(at)),
            b':' | b'=' if self.top() == Some(Kind::Object) && self.is_colon_again(at) => {
                self.out.record(RepairCode::Colon, at, "one colon is enough");
                self.out.replace(at, at + 1, "");
                Ok(at + 1)
            }
            _ => self.read_word(at),
        }
    }

    /// What stands at `at`, behind a colon, is a part of it (`::`, `:=`, `==`) and not of the value.
    fn is_colon_again(&self, at: usize) -> bool {
        let before = self.bytes.get(..at).and_then(<[u8]>::last);
        let next = self.bytes.get(at + 1);
        self.bytes.get(at) == Some(&b':')
            || before == Some(&b'=')
            || before == Some(&b':')
                && (next.is_some_and(u8::is_ascii_whitespace) || Quote::at(self.bytes, at + 1).is_some())
    }

    /// A value was due, and something else came.
    fn missing_value(&mut self, at: usize) -> usize {
        if self.top() == Some(Kind::Object) {
            // `"a": }{...`, `"a":, "x"`: what stands behind the sign is perhaps the value.
            let behind = self.peek(at + 1);
            let key = |at| lookahead::quoted_key(self.bytes, at) || lookahead::bare_key(self.bytes, at);
            let value = match self.bytes.get(behind) {
                None | Some(b'}' | b']' | b')' | b',' | b';') => false,
                Some(b'{' | b'[') => true,
                Some(_) => !(key(behind) || lookahead::half_quoted_key(self.bytes, behind)),
            };
            let list = self.bytes.get(at) == Some(&b']') && self.open.brackets == 0;
            let given_up = matches!(self.bytes.get(at), Some(b',' | b'}'));
            self.guess_if(value || list || given_up);
            self.out.record(RepairCode::Literal, at, "a missing value became null");
            self.out.replace(at, at, "null");
            self.value_read();
        } else {
            self.state = State::Done;
        }
        at
    }

    pub(super) fn open_paren(&mut self, open: usize, after: usize, kind: Kind) -> Result<usize, Error> {
        self.push(kind, open)?;
        self.out.replace(open, after, "");
        let place = self.out.fix_place(after);
        if let Some(frame) = self.frames.last_mut() {
            frame.place = place;
        }
        Ok(after)
    }

    fn open_brace(&mut self, at: usize) -> Result<usize, Error> {
        let next = self.peek(at + 1);
        match self.bytes.get(next) {
            Some(b'{') => {
                self.out.record(RepairCode::Bracket, at, "a doubled brace was removed");
                self.open_paren(at, at + 1, Kind::Doubled)
            }
            Some(b'[' | b'(') => self.open_set(at),
            _ => {
                self.push(Kind::Object, at)?;
                Ok(at + 1)
            }
        }
    }

    fn open_set(&mut self, at: usize) -> Result<usize, Error> {
        self.push(Kind::Set, at)?;
        self.out.record(RepairCode::Literal, at, "a set became an array");
        self.out.replace(at, at + 1, "[");
        Ok(at + 1)
    }

    /// Reads the bracket that was just opened once more, as another kind; only white space was read since.
    pub(super) fn reopen(&mut self, kind: Kind) -> Result<Option<usize>, Error> {
        let Some(frame) = self.frames.last() else { return Ok(None) };
        let (mark, open) = (frame.mark, frame.open);
        self.pop();
        if let Some(frame) = self.frames.last_mut() {
            frame.items -= 1;
        }
        self.out.drop_from(mark, open);
        if kind == Kind::Set {
            return self.open_set(open).map(Some);
        }
        self.push(kind, open)?;
        self.out.record(RepairCode::Bracket, open, "an array with keys became an object");
        self.out.replace(open, open + 1, "{");
        Ok(Some(open + 1))
    }

    fn read_item(&mut self, at: usize) -> Result<usize, Error> {
        let at = self.space(at);
        let Some((byte, length)) = punctuation(self.bytes, at) else { return Ok(self.end_of_text(at)) };
        match byte {
            b',' | b';' => {
                self.out.record(RepairCode::Comma, at, "a comma too many was removed");
                self.out.replace(at, at + length, "");
                Ok(at + length)
            }
            b'}' | b']' | b')' => self.close(at),
            _ if self.top() == Some(Kind::Object) => self.read_key(at),
            _ if self.is_member_in_array(at) => self.leave_array(at),
            _ => {
                self.state = State::Value;
                Ok(at)
            }
        }
    }

    fn read_key(&mut self, at: usize) -> Result<usize, Error> {
        let first = self.frames.last().is_some_and(|frame| frame.items == 0);
        if let Some(frame) = self.frames.last_mut() {
            // The mark lies before the comma, if there was one: `read_comma` set it.
            if frame.member.is_none() {
                frame.member = Some(self.out.mark(at));
            }
        }
        if let Some(after) = self.read_crooked_key(at) {
            return Ok(after);
        }
        let key = match lookahead::string_start(self.bytes, at) {
            Some((mark, quote, length)) if mark == at || !lookahead::half_quoted_key(self.bytes, at) => {
                self.find_string(at, mark, quote, length, Place::Key)
            }
            _ => return self.read_bare_key(at, first),
        };
        if key.cut {
            return Ok(self.end_of_text(at));
        }
        if first
            && self.is_set_item(key.after)
            && let Some(at) = self.reopen(Kind::Set)?
        {
            return Ok(at);
        }
        // No key has lines: what was read as one is text, and a string was over too early.
        let text = self.bytes.get(key.body..key.end).unwrap_or_default();
        self.guess_if(text.contains(&b'\n') || memchr::memmem::find(text, b"\\n").is_some());
        if !key.valid() {
            self.write_string(&key, true, true);
        }
        self.state = State::Colon;
        Ok(key.after)
    }

    /// A comma or brace follows the first thing in braces: they are a set's.
    pub(super) fn is_set_item(&self, after: usize) -> bool {
        matches!(self.bytes.get(self.peek(after)), Some(b',' | b'}'))
    }

    fn read_bare_key(&mut self, at: usize, first: bool) -> Result<usize, Error> {
        if let Some((key, end)) = lookahead::flag(self.bytes, at) {
            self.out.record(RepairCode::Quotes, at, "an option of a command line became a key");
            let key = self.out.text.get(key..end).unwrap_or_default();
            self.out.replace_with(at, end, |out| push_string(out, key));
            self.state = State::Colon;
            return Ok(end);
        }
        let (end, after) = self.bare_key_end(at);
        if first
            && self.is_set_item(after)
            && end > at
            && let Some(at) = self.reopen(Kind::Set)?
        {
            return Ok(at);
        }
        if after >= self.bytes.len() {
            return Ok(self.end_of_text(at));
        }
        if end == at {
            // Nothing that could be a key: junk.
            return Ok(self.skip_junk(at));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.bare_keys = true;
        }
        self.write_bare_key(at, end, after);
        self.state = State::Colon;
        Ok(after)
    }

    fn read_colon(&mut self, at: usize) -> usize {
        let next = self.peek(at);
        if next >= self.bytes.len() {
            return self.end_of_text(next);
        }
        self.state = State::Value;
        match punctuation(self.bytes, next) {
            None => self.end_of_text(next),
            Some((b':', 1)) => {
                self.space(at);
                next + 1
            }
            Some((b':' | b'=', length)) => {
                self.space(at);
                let arrow = self.bytes.get(next + length) == Some(&b'>');
                self.out.record(RepairCode::Colon, next, "the colon was misspelt");
                self.out.replace(next, next + length + usize::from(arrow), ":");
                next + length + usize::from(arrow)
            }
            Some((b'-', _)) if self.bytes.get(next + 1) == Some(&b'>') => {
                self.space(at);
                self.out.record(RepairCode::Colon, next, "the colon was misspelt");
                self.out.replace(next, next + 2, ":");
                next + 2
            }
            Some((byte, _)) => {
                if matches!(byte, b',' | b'}' | b']' | b')') {
                    // Neither its colon nor its value: perhaps it is no key at all.
                    self.guess_if(true);
                }
                self.out.record(RepairCode::Colon, at, "a missing colon was added");
                self.out.replace(at, at, ":");
                at
            }
        }
    }

    fn read_after(&mut self, at: usize) -> Result<usize, Error> {
        let Some(top) = self.top() else {
            self.state = State::Done;
            return Ok(at);
        };
        let next = self.peek(at);
        let Some((byte, length)) = punctuation(self.bytes, next) else { return Ok(self.end_of_text(at)) };
        if top == Kind::Doubled && self.is_one_too_many(next) {
            self.pop();
            return Ok(at);
        }
        match byte {
            b',' | b';' => Ok(self.read_comma(next, length, at)),
            b'}' | b']' | b')' => {
                self.space(at);
                self.close(next)
            }
            b':' if top != Kind::Object => {
                // No item has a key.
                self.guess_if(true);
                Ok(self.read_comma(next, length, at))
            }
            b'{' if self.ends_before_object(next, at) => Ok(at),
            _ if self.starts_member(next) => {
                self.guess_if(self.is_glued(next));
                self.out.record_slip(Slip::NoComma, at);
                let mark = self.out.mark(at);
                self.out.replace(at, at, ",");
                self.comma_read(mark);
                Ok(at)
            }
            _ => {
                let next = self.space(at);
                Ok(self.skip_junk(next))
            }
        }
    }

    /// A comma was read and written; `before` is the output without it.
    fn comma_read(&mut self, before: Mark) {
        self.state = State::Item;
        if let Some(frame) = self.frames.last_mut() {
            frame.comma = true;
            frame.member = Some(before);
            if frame.kind == Kind::Doubled {
                // More than one value in them: the outer braces were meant.
                frame.kind = Kind::Set;
                self.out.insert(frame.place, '[');
                frame.member = Some(before.shifted(1));
            }
        }
    }

    fn read_comma(&mut self, comma: usize, length: usize, value_end: usize) -> usize {
        let open = self.frames.len();
        if self.ends_before_object(comma + length, value_end) {
            // An empty line parts no items: another member was to follow in the innermost object.
            let white = self.bytes.get(comma..self.peek(comma + length)).unwrap_or_default();
            let lines = white.iter().filter(|byte| **byte == b'\n').count();
            self.guess_if(open > 1 && self.frames.is_empty() && lines > 1);
            return value_end;
        }
        let mark = self.out.mark(value_end);
        self.space(value_end);
        let next = self.peek(comma + length);
        match punctuation(self.bytes, next) {
            None => {
                self.ending = Ending::Cut;
                return self.end_of_text(value_end);
            }
            Some((b'}' | b']' | b')' | b',' | b';', _)) => {
                let closer = self.bytes.get(next).is_some_and(|byte| matches!(byte, b'}' | b']' | b')'));
                self.out.record(RepairCode::Comma, comma, "a comma too many was removed");
                self.out.replace(comma, comma + length, "");
                if closer && let Some(frame) = self.frames.last_mut() {
                    frame.comma = true;
                }
                self.state = State::After;
                return comma + length;
            }
            Some(_) => {}
        }
        if self.bytes.get(comma) != Some(&b',') {
            self.out.record(RepairCode::Comma, comma, "another separator became a comma");
            self.out.replace(comma, comma + length, ",");
        }
        self.comma_read(mark);
        comma + length
    }

    /// What stands at `at`, and is no key, follows the value before it with nothing between, and one of the two is a number or a
    /// word: perhaps both are one, or a sign is too many.
    pub(super) fn is_glued(&self, at: usize) -> bool {
        let last = self.bytes.get(..at).and_then(<[u8]>::last).filter(|byte| !byte.is_ascii_whitespace());
        let Some(behind_word) = last.map(|byte| is_word(*byte)) else { return false };
        let marked = matches!(self.bytes.get(at), Some(b'{' | b'[' | b'(')) || Quote::at(self.bytes, at).is_some();
        let bare_key = || !behind_word && lookahead::bare_key(self.bytes, at);
        let key = || self.top() == Some(Kind::Object) && (bare_key() || crooked::is_whole_key(self.bytes, at));
        (behind_word || !marked) && !key()
    }

    /// Another member or item stands at `at`, where a comma should.
    pub(super) fn starts_member(&self, at: usize) -> bool {
        match self.top() {
            Some(Kind::Object) => {
                lookahead::string_start(self.bytes, at).is_some()
                    || lookahead::bare_key(self.bytes, at)
                    || lookahead::half_quoted_key(self.bytes, at)
                    || lookahead::flag(self.bytes, at).is_some()
            }
            Some(_) => lookahead::value(self.bytes, at),
            None => false,
        }
    }
}
