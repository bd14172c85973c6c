//! Why what looked like a call is none.
use super::apart::{Apart, MAX_PROBE_BYTES, MAX_PROBES};
use crate::char_class;
use crate::dialect::{Dialects, Element};
use crate::engine::{Noted, Observed, Options, Without, observe};
use crate::json::{ScanResult, Scanner};
use crate::schema::ToolSet;
use crate::turn::Reason;
use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

/// Something that looked like a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) range: Range<usize>,
    pub(super) reason: Reason,
    pub(super) name: String,
    pub(super) dialect: Option<String>,
}

impl Kept {
    /// The reason as a sentence.
    pub(super) fn sentence(&self, tools: Option<&ToolSet>) -> String {
        let what = if self.name.is_empty() { "this".to_owned() } else { format!("{:?}", self.name) };
        let mut text = match self.reason {
            Reason::NotReadable => "nothing that can be read as a call stands here".to_owned(),
            Reason::CutOff => "the text ends before it is clear that this is a call".to_owned(),
            Reason::NoName => "this holds no name of a tool".to_owned(),
            Reason::NoArguments => {
                format!("{what} has no arguments beside it, under any key that dialects use for them")
            }
            Reason::Definition => format!("{what} is described here (its schema), not called"),
            Reason::TooDeep => "this is nested deeper than the policy's max_depth".to_owned(),
            Reason::Channel => format!("{what} stands in a message that is not for a tool"),
            Reason::NoTools => format!(
                "{what} stands here without the markers of a dialect, and no tools were given: with tools=..., an \
                 offered name vouches for such a call"
            ),
            Reason::NameNotOffered => format!("{what} is none of the offered tools"),
            Reason::Place => format!(
                "{what} stands in the middle of text, without markers: such a call begins a line, in which no sentence \
                 goes on behind it, or is all of the answer or of a fence"
            ),
            Reason::Quoted => format!(
                "{what} is quoted: it stands where something is shown, not called, such as a block quote, a table's cell, \
                 quotation marks, an element of code, a string, a program, a patch, what a tool gave back, or behind \
                 \"for example:\" or the label of a tool's result"
            ),
            Reason::InlineCode => format!("{what} stands in inline code (backticks), which is quoted, never run"),
            Reason::FenceOfCode => format!(
                "{what} stands in a code fence that holds something else than calls, or stands in reasoning: such a \
                 fence is code"
            ),
            Reason::FencePolicy => {
                format!("{what} stands in a code fence, and the policy `fences` takes no calls from it")
            }
            Reason::BarePolicy => format!(
                "{what} has no markers, envelope or fence, and the policy `bare` takes no such call, or only one that is \
                 the whole answer"
            ),
            Reason::Runaway => format!(
                "{what} stands in text that the model wrote on behind its answer: the other side's turn, what rests \
                 on a result that it made up, or a program that quotes the answer"
            ),
            Reason::Draft => format!(
                "{what} is a draft in reasoning; the policy `reasoning` decides whether drafts run (default: only if \
                 the reasoning never closes)"
            ),
            Reason::LimitReached => "there are as many calls as the policy's max_calls allows".to_owned(),
            Reason::OtherDialect => format!(
                "{what} is written in the dialect {:?}, which is not the one named: dialect=\"auto\" reads it",
                self.dialect.as_deref().unwrap_or("of another model")
            ),
        };
        if self.reason == Reason::NameNotOffered
            && let Some(tools) = tools
        {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}", nearest(tools, &self.name));
        }
        text
    }
}

/// `; the nearest are "a", "b"`, for a sentence.
pub(super) fn nearest(tools: &ToolSet, name: &str) -> String {
    let near: Vec<String> = tools.nearest(name).iter().map(|near| format!("{near:?}")).collect();
    match near.as_slice() {
        [] => String::new(),
        [one] => format!("; the nearest is {one}"),
        many => format!("; the nearest are {}", many.join(", ")),
    }
}

/// Everything that looked like a call and is text, in order, none overlapping another.
pub(super) fn kept(
    text: &str,
    seen: &Observed<'_>,
    dialects: &Dialects,
    tools: Option<&ToolSet>,
    options: &Options,
) -> Vec<Kept> {
    let mut found: Vec<Kept> = Vec::new();
    let mut passed = Vec::new();
    let mut closers = HashMap::new();
    for (i, note) in seen.notes.iter().enumerate() {
        match &note.noted {
            Noted::Kept(reason, name) if !note.range.is_empty() => {
                let row = note.row.and_then(|row| dialects.row(row));
                let calls = row.map_or(&[][..], |row| row.calls.as_slice());
                let end = whole_end(text, note.range.clone(), calls, &mut closers);
                let dialect = row.map(|row| row.dialect.name.to_string());
                let name = name.get(text);
                if row.is_none() && is_code(text, note.range.start, &name, tools) {
                    continue;
                }
                let name = name.into_owned();
                found.push(Kept { range: note.range.start..end, reason: *reason, name, dialect });
            }
            Noted::Passed(reason) if note.range.is_empty() => {
                let rest = seen.notes.get(i..).unwrap_or_default();
                let end = rest.iter().find(|n| n.noted == Noted::CodeEnds).map_or(text.len(), |n| n.range.start);
                passed.push((note.range.start..end, *reason));
            }
            Noted::Passed(reason) => passed.push((note.range.clone(), *reason)),
            _ => {}
        }
    }
    let mut apart = Apart { text, dialects, tools, options, found };
    let mut probes = 0;
    let mut done = 0;
    passed.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    for (range, reason) in passed {
        let known =
            range.start < done || apart.found.iter().any(|k| k.range.start < range.end && range.start < k.range.end);
        if known || probes == MAX_PROBES {
            continue;
        }
        probes += 1;
        let before = apart.found.len();
        apart.probe_on(range, reason);
        done = apart.found.get(before..).unwrap_or_default().iter().map(|k| k.range.end).max().unwrap_or(done);
    }
    if apart.found.iter().all(|kept| kept.reason == Reason::NoName) && seen.turn.tool_calls.is_empty() {
        apart.named_lines(seen);
    }
    let mut found = apart.found;
    if dialects.name().is_some() {
        other_dialect(text, seen, tools, options, &mut found);
    }
    merge(found)
}

/// `name(...)` where nothing like the name is offered: any line of code looks so.
pub(super) fn is_code(text: &str, at: usize, name: &str, tools: Option<&ToolSet>) -> bool {
    let word = text.as_bytes().get(at).is_some_and(|byte| char_class::IDENTIFIER.has_ascii(*byte));
    // A slip of the pen changes no more than a third of a name.
    let near = |near: &&str| strsim::damerau_levenshtein(near, name) * 3 <= near.len();
    word && tools.is_none_or(|tools| !tools.nearest(name).iter().any(near))
}

/// Where what looked like a call ends: at the JSON value's end, or at the template's closing marker.
/// Each closing marker is looked for once: `known` is before which place it does not stand.
pub(super) fn whole_end<'c>(
    text: &str,
    range: Range<usize>,
    calls: &'c [crate::dialect::CallTemplate],
    known: &mut HashMap<&'c [u8], Without>,
) -> usize {
    let bounded = text.as_bytes().get(..text.len().min(range.start + MAX_PROBE_BYTES)).unwrap_or_default();
    if matches!(bounded.get(range.start), Some(b'{' | b'['))
        && let ScanResult::Complete { end } = Scanner::new(range.start, 128).scan(bounded, true)
    {
        return end.max(range.end);
    }
    let closers = calls.iter().flat_map(|call| call.tail.iter()).filter_map(|element| match element {
        Element::Literal(text) => Some(text.as_bytes()),
        _ => None,
    });
    let ends = closers.filter_map(|closer| {
        let search = |rest: &[u8]| memchr::memmem::find(rest, closer);
        let at = known.entry(closer).or_default().find(text.as_bytes(), range.end, search)?;
        Some(at + closer.len())
    });
    ends.filter(|end| *end <= bounded.len()).min().unwrap_or(range.end)
}

/// What the named dialect left as text and another one reads.
fn other_dialect(text: &str, seen: &Observed<'_>, tools: Option<&ToolSet>, options: &Options, found: &mut Vec<Kept>) {
    let auto = observe(text, &Dialects::auto(), tools, options);
    for ((raw, dialect), call) in auto.calls.iter().zip(&auto.turn.tool_calls) {
        // Calls are in the order of the text, so the first that ends behind it decides.
        let after = seen.calls.partition_point(|(known, _)| known.end <= raw.start);
        let known = seen.calls.get(after).is_some_and(|(known, _)| known.start < raw.end);
        if !known && call.status.readable() && !raw.is_empty() {
            let dialect = dialect.as_ref().map(|d| d.name.to_string());
            let name = call.name.to_string();
            found.push(Kept { range: raw.clone(), reason: Reason::OtherDialect, name, dialect });
        }
    }
}

/// In order, and what overlaps as one, with the reason that says most.
fn merge(mut found: Vec<Kept>) -> Vec<Kept> {
    found.sort_by_key(|kept| kept.range.start);
    let mut merged: Vec<Kept> = Vec::new();
    for kept in found {
        match merged.last_mut() {
            // What was noted first of a place is why: a call in a fence, to a tool that is not offered.
            Some(last) if kept.range == last.range => {}
            Some(last) if kept.range.start < last.range.end => {
                last.range.end = last.range.end.max(kept.range.end);
                if kept.reason > last.reason {
                    last.reason = kept.reason;
                    last.dialect = kept.dialect.or(last.dialect.take());
                }
                if last.name.is_empty() {
                    last.name = kept.name;
                }
            }
            _ => merged.push(kept),
        }
    }
    merged
}

/// What may be said of a text in which nothing looked like a call.
pub(super) fn hint(text: &str, seen: &Observed<'_>, kept: &[Kept], tools: Option<&ToolSet>) -> String {
    if !seen.turn.tool_calls.is_empty() || !kept.is_empty() {
        return String::new();
    }
    let Some(tools) = tools.filter(|tools| !tools.tools().is_empty()) else {
        return "nothing here has the markers of a dialect; calls without markers are found only where tools are given"
            .into();
    };
    let mentioned: Vec<String> = (tools.tools().iter())
        .filter(|tool| memchr::memmem::find(text.as_bytes(), tool.name.as_bytes()).is_some())
        .take(3)
        .map(|tool| format!("{:?}", tool.name))
        .collect();
    if mentioned.is_empty() {
        return "nothing here has the shape of a call, and no offered tool is named".into();
    }
    let them = mentioned.join(", ");
    format!("{them} is named here, but nothing that has the shape of a call: arguments as JSON, markup or keywords")
}
