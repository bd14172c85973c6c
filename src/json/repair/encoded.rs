//! JSON that was encoded once more as a whole: its quotes are escaped, or written as entities.
use super::document::repair;
use super::lookahead::{self, skip_white};
use super::{RepairOptions, Repaired, goes_on};
use crate::error::Error;
use crate::turn::{Repair, RepairCode};

/// A text with one level of encoding undone.
pub(super) struct Unescaped {
    pub(super) text: String,
    /// How long the text was.
    length: usize,
    entities: bool,
}

/// The text from `start` on with one level of escapes or entities undone, if all of its quotes are written so.
pub(super) fn unescaped(text: &str, start: usize) -> Option<Unescaped> {
    let length = text.len();
    let found = |text: String, entities: bool| Unescaped { text, length, entities };
    let escapes = unescape_all(text, start).map(|text| found(text, false));
    escapes.or_else(|| undo_entities(text, start).map(|text| found(text, true)))
}

impl Unescaped {
    /// Repairs it, as what begins at `start` of the text.
    pub(super) fn repair<'a>(self, start: usize, options: &RepairOptions) -> Result<Repaired<'a>, Error> {
        let inner = repair(&self.text, options)?.into_owned();
        let what = if self.entities {
            "entities that stand for quotes and signs were undone"
        } else {
            "escaped quotes round keys and strings were undone"
        };
        let mut repairs = vec![Repair::at(RepairCode::DoubleEncoded, start, what)];
        // Offsets into the text in between would mean nothing to the caller.
        repairs.extend(inner.repairs.into_iter().map(|repair| Repair { offset: None, ..repair }));
        // Whether what the entities stand for was meant as text, nobody knows, nor what of more than one value was meant.
        let more = goes_on(self.text.get(inner.consumed..).unwrap_or_default());
        let guessed = inner.guessed || self.entities || more;
        Ok(Repaired { repairs, consumed: self.length, exchanged: Vec::new(), added: Vec::new(), guessed, ..inner })
    }
}

/// `{&quot;a&quot;: 1}` with its entities undone, if no quote stands in the text that is none of them.
fn undo_entities(text: &str, start: usize) -> Option<String> {
    const ENTITIES: [(&str, char); 8] = [
        ("&quot;", '"'),
        ("&#34;", '"'),
        ("&#x22;", '"'),
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&apos;", '\''),
        ("&#39;", '\''),
    ];
    let mut rest = text.get(start..)?;
    let first = rest.trim_start_matches(|c: char| matches!(c, '{' | '[') || c.is_whitespace());
    let encoded = ENTITIES.iter().take(3).any(|(entity, _)| first.starts_with(entity));
    if !rest.starts_with(['{', '[']) || !encoded || rest.contains('"') {
        return None;
    }
    let mut out = String::with_capacity(rest.len());
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let known = ENTITIES.iter().find(|(entity, _)| behind.starts_with(entity.get(1..).unwrap_or_default()));
        let (character, length) = known.map_or(('&', 1), |(entity, character)| (*character, entity.len()));
        out.push(character);
        rest = behind.get(length - 1..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// The text from `start` on with one level of escapes undone, if its quotes are all escaped (`{\"a\": 1}`).
fn unescape_all(text: &str, start: usize) -> Option<String> {
    let bytes = text.as_bytes();
    let mut next = start;
    while let Some(b'{' | b'[') = bytes.get(next) {
        next = skip_white(bytes, next + 1);
        // Line breaks may be escaped as well.
        next = lookahead::escaped_white(bytes, next).unwrap_or(next);
    }
    if !matches!(bytes.get(start), Some(b'{' | b'[')) || bytes.get(next..next + 2) != Some(b"\\\"") {
        return None;
    }
    // Where only the first key has such quotes, they alone are wrong.
    let first = memchr::memchr_iter(b'"', bytes.get(start..)?).take(3);
    if first.map(|at| bytes.get((start + at).wrapping_sub(1))).any(|before| before != Some(&b'\\')) {
        return None;
    }
    let mut out = String::with_capacity(text.len() - start);
    let mut escaped = false;
    for character in text.get(start..)?.chars() {
        if !escaped {
            escaped = character == '\\';
            if !escaped {
                out.push(character);
            }
            continue;
        }
        escaped = false;
        match character {
            '"' | '\\' | '/' => out.push(character),
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            other => out.extend(['\\', other]),
        }
    }
    Some(out)
}
