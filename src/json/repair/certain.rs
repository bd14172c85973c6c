//! Of a value that is cut off, in text that is no JSON: what no further text is going to change.
use super::Ending;
use super::machine::{Frame, Kind, Repairer};
use super::quoted::Quoted;
use super::token;
use crate::json::string::push_string;
use crate::turn::RepairCode;

impl Repairer<'_> {
    /// Leaves of a string what is certain: one of its quotes, `doubt`, may yet turn out to be its end, and that it ends where the
    /// text does is what the next character tells.
    pub(super) fn leave_certain(&self, found: &mut Quoted, doubt: Option<usize>) {
        if let Some(doubt) = doubt.filter(|_| self.growing && self.behind_comma(found.after) >= self.bytes.len()) {
            (found.end, found.after) = (doubt, self.bytes.len());
            (found.unclosed, found.cut) = (true, true);
        }
    }

    /// Writes what is certain of the unquoted text at `at`, which goes on to the end: a comma or a comment may yet end it.
    pub(super) fn write_certain(&mut self, at: usize) -> usize {
        let rest = self.out.text.get(at..).unwrap_or_default();
        let ends = |(i, byte): (usize, &u8)| match byte {
            b',' | b'\n' | b'"' | b'\'' => true,
            b'/' | b'#' => rest.as_bytes().get(..i).is_some_and(|before| before.ends_with(b" ")),
            _ => false,
        };
        let end = rest.bytes().enumerate().position(|(i, byte)| ends((i, &byte))).unwrap_or(rest.len());
        let text = rest.get(..end).unwrap_or_default().trim_end();
        let other = token::number(text) != token::Number::Text
            || token::literal_word(text.as_bytes()).is_some()
            || text.split(' ').next() == Some("new")
            || matches!(text, "" | "/");
        if other || self.partial == Some(false) {
            return self.end_of_text(at);
        }
        self.out.record(RepairCode::Quotes, at, "an unquoted string is in quotes now");
        self.out.replace_with(at, self.bytes.len(), |out| push_string(out, text));
        self.ending = Ending::Cut;
        self.value_read();
        self.bytes.len()
    }

    /// Drops what is in brackets that may still mean one thing or another, and the key that it is the value of: parentheses
    /// round one value or a tuple, and braces that are `empty` so far round keys or a set.
    pub(super) fn drop_undecided(&mut self, empty: bool) {
        let open = |frame: &Frame| matches!(frame.kind, Kind::Paren | Kind::Wrapper) && !frame.comma;
        let last = self.frames.len().checked_sub(1).filter(|_| empty && !self.valid);
        let braces = last.filter(|level| self.frames.get(*level).is_some_and(|frame| frame.kind == Kind::Object));
        let Some(level) = self.frames.iter().position(open).or(braces) else { return };
        let Some(above) = level.checked_sub(1) else {
            self.undecided = braces != Some(level);
            return;
        };
        if self.frames.get(above).is_none_or(|frame| !matches!(frame.kind, Kind::Object | Kind::Array | Kind::Set)) {
            return;
        }
        let own = self.frames.get(level).map(|frame| frame.mark);
        let mark = self.frames.get_mut(above).and_then(|frame| frame.member.take()).or(own);
        while self.frames.len() > level {
            self.pop();
        }
        if let Some(mark) = mark {
            self.out.drop_from(mark, self.bytes.len());
        }
        self.ending = Ending::Cut;
    }
}
