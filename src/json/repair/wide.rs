//! Full-width brackets that stand for those of JSON.
use super::document::mend_at;
use super::{Pairs, RepairOptions, Repaired};
use crate::error::Error;
use crate::turn::{Repair, RepairCode};

/// How many bytes such a bracket has more than the one that it stands for.
const EXCESS: usize = 2;

/// A text whose full-width brackets became those of JSON.
pub(super) struct Narrow {
    pub(super) text: String,
    /// Where the text began in the one that it was made of.
    start: usize,
    /// Where the brackets stand in that.
    brackets: Vec<usize>,
}

/// The bracket of JSON that a full-width one stands for.
const fn ascii(c: char) -> Option<char> {
    match c {
        '［' => Some('['),
        '］' => Some(']'),
        _ => None,
    }
}

/// What stands before a value or behind it.
fn is_sign(c: char) -> bool {
    matches!(c, '{' | '}' | '[' | ']' | ',' | ':' | '，' | '：') || ascii(c).is_some()
}

fn next(text: &str) -> Option<char> {
    text.trim_start().chars().next()
}

/// A full-width bracket begins `text`, and what is in a value stands behind it.
pub(super) fn opens(text: &str) -> bool {
    let mut characters = text.chars();
    if characters.next() != Some('［') {
        return false;
    }
    let inside = characters.as_str().trim_start();
    let literal = || ["true", "false", "null", "True", "False", "None"].iter().any(|word| inside.starts_with(word));
    match next(inside) {
        None => true,
        Some('"' | '\'' | '“') => true,
        Some(c) => c.is_ascii_digit() || matches!(c, '-' | '{' | '[' | ']' | '［' | '］') || literal(),
    }
}

/// A full-width bracket that opens something stands in `text`.
pub(super) fn holds_bracket(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(0xef, bytes).any(|at| matches!(bytes.get(at + 1..at + 3), Some([0xbc, 0xbb])))
}

/// The text from `start` on with brackets of JSON in place of those full-width ones that stand round a value.
pub(super) fn narrow(text: &str, start: usize) -> Option<Narrow> {
    let rest = text.get(start..).filter(|rest| holds_bracket(rest))?;
    let mut found: Vec<(usize, char)> = Vec::new();
    // The brackets that are open: what closes each, and which of the `found` it is.
    let mut open: Vec<(char, Option<usize>)> = Vec::new();
    let (mut string, mut escaped, mut last) = (None, false, ':');
    for (at, c) in rest.char_indices() {
        if let Some(quote) = string {
            string = Some(quote).filter(|quote| escaped || *quote != c);
            escaped = c == '\\' && !escaped;
            continue;
        }
        let behind = rest.get(at + c.len_utf8()..).unwrap_or_default();
        match c {
            '"' => string = Some('"'),
            '\'' if is_sign(last) => string = Some('\''),
            '{' => open.push(('}', None)),
            '[' => open.push((']', None)),
            '}' | ']' => {
                open.pop();
            }
            '［' if is_sign(last) && rest.get(at..).is_some_and(opens) => {
                open.push((']', Some(found.len())));
                found.push((at, '['));
            }
            '］' if open.last().is_some_and(|(closing, _)| ascii(c) == Some(*closing)) => {
                let opening = open.pop().and_then(|(_, index)| index);
                if next(behind).is_none_or(is_sign) || open.is_empty() {
                    found.extend(ascii(c).map(|bracket| (at, bracket)));
                } else if let Some(index) = opening {
                    // Text goes on behind it: it was text.
                    found.truncate(index);
                }
            }
            _ => {}
        }
        if !c.is_whitespace() {
            last = c;
        }
    }
    let (mut out, mut done) = (String::with_capacity(rest.len()), 0);
    for (at, bracket) in &found {
        out.push_str(rest.get(done..*at)?);
        out.push(*bracket);
        done = at + bracket.len_utf8() + EXCESS;
    }
    out.push_str(rest.get(done..)?);
    let brackets = found.into_iter().map(|(at, _)| start + at).collect::<Vec<_>>();
    (!brackets.is_empty()).then_some(Narrow { text: out, start, brackets })
}

impl Narrow {
    /// Where the place `at` stands in the text that it was made of.
    fn place(&self, at: usize) -> usize {
        let narrowed = |(i, bracket): (usize, &usize)| bracket - self.start - EXCESS * i;
        let before = self.brackets.iter().enumerate().take_while(|bracket| narrowed(*bracket) < at).count();
        self.start + at + EXCESS * before
    }

    /// Repairs it, as a part of `text`.
    pub(super) fn repair<'a>(self, text: &str, options: &RepairOptions) -> Result<Repaired<'a>, Error> {
        let mut inner = mend_at(&self.text, 0, options, &mut Pairs::default())?.into_owned();
        let what = "full-width brackets became those of JSON";
        let mut repairs: Vec<Repair> = Vec::new();
        if options.search && !text.get(..self.start).unwrap_or_default().trim_ascii().is_empty() {
            repairs.push(Repair::at(RepairCode::Surroundings, 0, "text before the value was left out"));
        }
        repairs.extend(self.brackets.first().map(|at| Repair::at(RepairCode::Bracket, *at, what)));
        for repair in &mut inner.repairs {
            repair.offset = repair.offset.map(|at| self.place(at));
        }
        repairs.append(&mut inner.repairs);
        let exchanged = inner.exchanged.iter().map(|at| self.place(*at)).collect();
        let consumed = self.place(inner.consumed);
        Ok(Repaired { repairs, consumed, exchanged, ..inner })
    }
}
