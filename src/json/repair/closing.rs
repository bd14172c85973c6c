//! Closing brackets: the right one, the wrong one, one too many, none at all.
use super::Ending;
use super::crooked;
use super::lookahead::{self, KeyLook, Quote, punctuation, skip_white};
use super::machine::{Frame, Kind, Repairer, State};
use super::output::UNFINISHED;
use crate::error::Error;
use crate::turn::RepairCode;

/// What stands after a closing bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follow {
    End,
    Closer(u8),
    /// A comma and a key.
    Key,
    /// A comma and a bracketed value.
    Bracket,
    /// A comma and a value that is no key.
    Value,
    /// A comma and a string that is one or the other: the text ends in it, or it lacks a colon or a comma.
    String,
    Other,
}

impl Follow {
    /// It can stand after a value in a bracket of this kind; at the outermost level only the end can.
    fn fits(self, parent: Option<Kind>) -> bool {
        match (self, parent) {
            (Self::End, _) => true,
            (Self::Closer(byte), Some(kind)) => kind.closed_by(byte),
            (Self::Key, Some(Kind::Object)) | (Self::String, Some(_)) => true,
            (Self::Key, _) | (_, None) => false,
            (Self::Bracket | Self::Value, Some(kind)) => kind != Kind::Object,
            (Self::Other, _) => false,
        }
    }

    const fn closes(self) -> bool {
        matches!(self, Self::Closer(_))
    }
}

impl Repairer<'_> {
    fn follow(&self, at: usize) -> Follow {
        let next = self.peek(at);
        match punctuation(self.bytes, next) {
            None => Follow::End,
            Some((byte @ (b'}' | b']' | b')'), _)) => Follow::Closer(byte),
            Some((b',', length)) => {
                let next = self.peek(next + length);
                let bare_keys = self.frames.last().is_some_and(|frame| frame.bare_keys);
                match self.bytes.get(next) {
                    None => Follow::End,
                    Some(&byte @ (b'}' | b']' | b')')) => Follow::Closer(byte),
                    Some(b'{' | b'[') => Follow::Bracket,
                    Some(_) if Quote::at(self.bytes, next).is_some() => match lookahead::key_look(self.bytes, next) {
                        KeyLook::Key => Follow::Key,
                        KeyLook::Valued | KeyLook::Perhaps => Follow::String,
                        KeyLook::No => Follow::Value,
                    },
                    Some(_) if bare_keys && lookahead::bare_key(self.bytes, next) => Follow::Key,
                    Some(_) => Follow::Value,
                }
            }
            Some(_) => Follow::Other,
        }
    }

    /// The text goes on behind the closing bracket that comes next at `at`.
    fn goes_on_behind(&self, at: usize) -> bool {
        let next = self.peek(at);
        let comma = self.bytes.get(next) == Some(&b',');
        let closer = if comma { self.peek(next + 1) } else { next };
        self.follow(closer + 1) != Follow::End
    }

    /// The closing bracket at `at`.
    pub(super) fn close(&mut self, at: usize) -> Result<usize, Error> {
        let (Some(&byte), Some(top)) = (self.bytes.get(at), self.top()) else {
            self.state = State::Done;
            return Ok(at);
        };
        if self.state == State::Item {
            self.drop_comma(at);
        }
        let follow = self.follow(at + 1);
        let parent = self.frames.iter().rev().nth(1).map(|frame| frame.kind);
        if top.closed_by(byte) {
            let early = match (top, follow) {
                (Kind::Object, Follow::Key) => parent != Some(Kind::Object) && !self.begins_alike(at),
                (Kind::Array, Follow::Bracket) => parent == Some(Kind::Object),
                _ => false,
            };
            if early && top == Kind::Object {
                match self.ends_with_array(at) {
                    Some(true) => {
                        self.close_top(at, at + 1);
                        return Ok(at + 1);
                    }
                    None if self.growing => return Ok(self.end_of_text(at)),
                    None | Some(false) => {}
                }
            }
            if early {
                // Nothing is round it, and one before it closed what was not meant.
                self.guess_if(self.moved.get() && parent.is_none());
                // `"a": }, "b"`: it closes what was to open here.
                self.guess_if(self.bytes.get(..at).is_some_and(|text| text.trim_ascii_end().ends_with(b":")));
                return Ok(self.drop_bracket(at));
            }
            self.close_top(at, at + 1);
            return Ok(at + 1);
        }
        match self.frames.iter().rposition(|frame| frame.kind.closed_by(byte)) {
            Some(level) => {
                let below = level.checked_sub(1).and_then(|i| self.frames.get(i)).map(|frame| frame.kind);
                if follow.fits(parent) && !follow.fits(below) {
                    return Ok(self.exchange(at));
                }
                // What is innermost goes on behind it, and what it would close leaves that without a place.
                let one_too_many = || !follow.closes() || level == 0 && self.goes_on_behind(at + 1);
                if follow.fits(Some(top)) && !follow.fits(below) && one_too_many() {
                    self.dropped.set(true);
                    return Ok(self.drop_bracket(at));
                }
                self.guess_if(self.dropped.get());
                self.moved.set(self.moved.get() || follow == Follow::Key && follow.fits(parent));
                self.out.record_added(at);
                while self.frames.len() > level + 1 {
                    self.close_top(at, at);
                }
                self.state = State::After;
                Ok(at)
            }
            None if self.stops(byte) => {
                self.guess_if(self.dropped.get());
                self.out.record_added(at);
                while self.top().is_some() {
                    self.close_top(at, at);
                }
                self.state = State::Done;
                Ok(at)
            }
            None if follow.fits(parent) && !matches!(follow, Follow::Closer(byte) if top.closed_by(byte)) => {
                self.moved.set(self.moved.get() || follow == Follow::Key);
                Ok(self.exchange(at))
            }
            None => Ok(self.drop_bracket(at)),
        }
    }

    /// An object stands at `at`, where a member should: the object before it, whose last value ended at `value_end`, was
    /// not closed, and both are items of an array or values of their own.
    pub(super) fn ends_before_object(&mut self, at: usize, value_end: usize) -> bool {
        let next = self.peek(at);
        let object = |frame: &Frame| frame.kind == Kind::Object && frame.items > 0;
        if self.bytes.get(next) != Some(&b'{') || !self.frames.last().is_some_and(object) {
            return false;
        }
        let level = self.frames.iter().rposition(|frame| frame.kind == Kind::Array).map_or(0, |level| level + 1);
        let open = self.frames.get(level..).unwrap_or_default();
        // Of several that are open, the outermost was meant if it begins as this one does.
        let alike = || open.first().is_some_and(|frame| self.first_key(frame.open) == self.first_key(next));
        if !open.iter().all(|frame| frame.kind == Kind::Object) || open.len() > 1 && !alike() {
            return false;
        }
        self.guess_if(self.is_glued(next));
        self.out.record_added(value_end);
        while self.frames.len() > level {
            self.close_top(value_end, value_end);
        }
        true
    }

    /// The array lacks its end whose last object the brace at `at` closes, and the key behind is the next one of the object
    /// round it: the bracket that closes next is that object's. `None` if that is not clear.
    fn ends_with_array(&self, at: usize) -> Option<bool> {
        let round: Vec<&Frame> = self.frames.iter().rev().skip(1).take(3).collect();
        let [array, object, ..] = round.as_slice() else { return Some(false) };
        if (array.kind, object.kind) != (Kind::Array, Kind::Object) {
            return Some(false);
        }
        let parent = round.get(2).map(|frame| frame.kind);
        let close = self.next_closing(at + 1)?;
        let fits = match (self.follow(close + 1), parent) {
            (Follow::Other, parent) => parent.is_none(),
            // It may close the array as well, or another item of that follow.
            (Follow::Closer(b']') | Follow::Value | Follow::String, _) => false,
            (Follow::Bracket, Some(_)) => self.begins_as(object.open, close + 1),
            (follow, parent) => follow.fits(parent),
        };
        Some(fits && self.bytes.get(close) == Some(&b'}'))
    }

    /// The outer of two braces is closed by nothing: behind the comma at `at` more items of the array round it stand, and the
    /// end of that.
    pub(super) fn is_one_too_many(&self, at: usize) -> bool {
        let mut round = self.frames.iter().rev().skip(1).map(|frame| frame.kind);
        let (array, parent) = (round.next(), round.next());
        let closes = |close: usize| self.bytes.get(close) == Some(&b']') && self.follow(close + 1).fits(parent);
        array == Some(Kind::Array) && self.bytes.get(at) == Some(&b',') && self.next_closing(at).is_some_and(closes)
    }

    /// Behind the comma that comes next at `at` an object begins as the one at `open` does.
    fn begins_as(&self, open: usize, at: usize) -> bool {
        let next = self.peek(self.peek(at) + 1);
        let first = self.first_key(open);
        self.bytes.get(next) == Some(&b'{') && first.is_some() && first == self.first_key(next)
    }

    /// The key behind the closing brace at `at` and a comma is the first one of the object that it closes: another object
    /// begins there, without its brace.
    fn begins_alike(&self, at: usize) -> bool {
        let comma = self.peek(at + 1);
        let key = self.peek(comma + punctuation(self.bytes, comma).map_or(1, |(_, length)| length));
        self.frames.last().is_some_and(|frame| self.is_first_key(frame.open, key))
    }

    /// The object that opened at `open` begins with the key at `key`.
    fn is_first_key(&self, open: usize, key: usize) -> bool {
        // Where its brace was missing, its first key stands in the place of that.
        let brace = self.bytes.get(open) == Some(&b'{');
        let first = if brace { self.first_key(open) } else { self.key_text(open) };
        first.is_some() && first == self.key_text(key)
    }

    /// A key and its value stand at `at`, where an item of an array should, and either the array was to be over or the
    /// item to be an object.
    pub(super) fn is_member_in_array(&self, at: usize) -> bool {
        let Some(frame) = self.frames.last().filter(|frame| frame.kind == Kind::Array && frame.items > 0) else {
            return false;
        };
        let parent = self.frames.iter().rev().nth(1).map(|frame| frame.kind);
        (parent == Some(Kind::Object) || frame.object.is_some()) && crooked::member_for_item(self.bytes, at)
    }

    /// What is missing before the member at `at` is added: the end of the array, or the beginning of an object where the
    /// one before it began with the same key.
    pub(super) fn leave_array(&mut self, at: usize) -> Result<usize, Error> {
        let Some(frame) = self.frames.last() else { return Ok(at) };
        if frame.object.is_some_and(|open| self.is_first_key(open, at)) {
            self.out.record(RepairCode::Bracket, at, "a missing opening bracket was added");
            self.push(Kind::Object, at)?;
            self.out.replace(at, at, "{");
            return Ok(at);
        }
        let (Some(before), Some(_)) = (frame.member, self.frames.iter().rev().nth(1)) else {
            self.state = State::Value;
            return Ok(at);
        };
        let end = self.out.go_back(before);
        self.out.record_added(end);
        self.close_top(end, end);
        Ok(end)
    }

    /// What the object at `open` begins with, up to its first colon; nothing if that is far.
    fn first_key(&self, open: usize) -> Option<&[u8]> {
        self.key_text(self.peek(open + 1))
    }

    /// The text at `at` up to a colon; nothing if that is far.
    fn key_text(&self, at: usize) -> Option<&[u8]> {
        let key = self.bytes.get(at..)?;
        key.get(..key.iter().take(64).position(|byte| *byte == b':')?)
    }

    /// Only junk came after the last comma: it was one too many.
    fn drop_comma(&mut self, at: usize) {
        let Some(frame) = self.frames.last_mut() else { return };
        let (Some(mark), true) = (frame.member.take(), frame.items > 0) else { return };
        self.out.record(RepairCode::Comma, at, "a comma too many was removed");
        self.out.drop_from(mark, at);
        self.state = State::After;
    }

    /// Closes the innermost bracket with one of another kind.
    fn exchange(&mut self, at: usize) -> usize {
        self.guess_if(self.dropped.get());
        self.out.record_exchanged(at);
        self.close_top(at, at + 1);
        at + 1
    }

    fn drop_bracket(&mut self, at: usize) -> usize {
        self.out.record(RepairCode::Bracket, at, "a closing bracket too many was removed");
        self.out.replace(at, at + 1, "");
        at + 1
    }

    /// Closes the innermost bracket with what stands from `at` to `after`, which may be nothing.
    fn close_top(&mut self, at: usize, after: usize) {
        let Some(frame) = self.frames.last() else { return };
        let (kind, items, comma, place, open) = (frame.kind, frame.items, frame.comma, frame.place, frame.open);
        let written = self.bytes.get(at..after).unwrap_or_default();
        match kind {
            Kind::Object if written == b"}" => {}
            Kind::Array if written == b"]" => {}
            Kind::Object => self.out.replace(at, after, "}"),
            Kind::Array | Kind::Set => self.out.replace(at, after, "]"),
            Kind::Doubled => self.out.replace(at, after, ""),
            Kind::Paren if items == 1 && !comma => {
                self.out.record(RepairCode::Literal, open, "parentheses were removed");
                self.out.replace(at, after, "");
            }
            Kind::Wrapper if items == 1 && !comma => {
                self.out.record(RepairCode::Literal, open, "a function round a value was removed");
                self.out.replace(at, after, "");
            }
            Kind::Wrapper if items == 0 => {
                self.out.record(RepairCode::Literal, open, "an empty value became JSON");
                let rest = self.bytes.get(open..).unwrap_or_default();
                let dict = rest.starts_with(b"dict") || rest.starts_with(b"Ordered");
                self.out.replace(at, after, if dict { "{}" } else { "[]" });
            }
            Kind::Paren | Kind::Wrapper => {
                self.out.record(RepairCode::Literal, open, "a tuple became an array");
                self.out.insert(place, '[');
                self.out.replace(at, after, "]");
            }
        }
        self.pop();
    }

    /// The text ends; the last thing that is whole ended at `at`.
    pub(super) fn end_of_text(&mut self, at: usize) -> usize {
        let end = self.bytes.len();
        let (mut at, state) = (at, self.state);
        let empty =
            matches!(state, State::Item | State::Colon) && self.frames.last().is_some_and(|frame| frame.items == 0);
        self.state = State::Done;
        if self.frames.is_empty() {
            return at;
        }
        if state == State::After {
            let comma = skip_white(self.bytes, at);
            let comment = skip_white(self.bytes, comma + usize::from(self.bytes.get(comma) == Some(&b',')));
            if lookahead::comment(self.bytes, comment) {
                self.leave_comment(comment);
            }
            if self.ending == Ending::Closed {
                self.ending = Ending::Unclosed;
            }
        } else {
            self.ending = Ending::Cut;
            if let Some(mark) = self.frames.last_mut().and_then(|frame| frame.member.take()) {
                self.out.record(RepairCode::UnclosedString, mark.at, UNFINISHED);
                self.out.drop_from(mark, end);
                // It has no value; that it was written is all that is known.
                self.guess_if(true);
                at = end;
            }
        }
        self.guess_if(self.dropped.get());
        self.out.replace(at, end, "");
        if self.growing {
            self.drop_undecided(empty);
        }
        self.out.record(RepairCode::Bracket, end, "missing closing brackets were added");
        while self.top().is_some() {
            self.close_top(end, end);
        }
        self.state = State::Done;
        end
    }
}
