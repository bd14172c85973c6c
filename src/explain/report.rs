//! An explanation as a report for people.
use super::{Explanation, Reason, SpanKind};
use crate::turn::{Evidence, ToolCall, Turn};
use std::fmt::{Display, Formatter, Result, Write};

/// So much of a span's text is shown.
const MAX_SHOWN: usize = 48;

/// A span as a line of the report. Places are in characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'s> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: SpanKind,
    pub(crate) text: &'s str,
    pub(crate) call: Option<usize>,
    pub(crate) reason: Option<Reason>,
    pub(crate) detail: &'s str,
}

impl Display for Explanation<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut end = 0;
        let lines: Vec<Line<'_>> = (self.spans.iter())
            .map(|span| {
                let start = end;
                end += self.text.get(span.range.clone()).unwrap_or("").chars().count();
                let (kind, call, reason, detail) = (span.kind, span.call, span.reason, span.detail.as_str());
                Line { start, end, kind, text: span.text(self.text), call, reason, detail }
            })
            .collect();
        report(f, &lines, &self.turn, &self.hint)
    }
}

/// Writes the report: what was found, the text piece by piece, and the reasons.
pub(crate) fn report(f: &mut impl Write, lines: &[Line<'_>], turn: &Turn<'_>, hint: &str) -> Result {
    headline(f, turn)?;
    for line in lines.iter().filter(|line| line.kind != SpanKind::Space) {
        let place = format!("{}-{}", line.start, line.end);
        let call = line.call.map_or(String::new(), |call| format!(" {}", call + 1));
        let kind = format!("{}{call}", line.kind.as_str());
        write!(f, "\n{place:>11}  {kind:<12}{}", shown(line.text))?;
        match (line.reason, line.detail) {
            (Some(reason), _) => write!(f, "  ({})", reason.as_str())?,
            (None, "") => {}
            (None, detail) => write!(f, "  ({detail})")?,
        }
    }
    for (i, call) in turn.tool_calls.iter().enumerate() {
        about(f, i + 1, call)?;
    }
    for line in lines {
        if let Some(reason) = line.reason {
            write!(f, "\nno call at {} ({}): {}", line.start, reason.as_str(), line.detail)?;
        }
    }
    if !hint.is_empty() {
        write!(f, "\n{hint}")?;
    }
    for issue in &turn.issues {
        write!(f, "\nissue {}: {}", issue.code.as_str(), shown_sentence(&issue.message))?;
    }
    Ok(())
}

/// What was found, in a line.
pub(crate) fn headline(f: &mut impl Write, turn: &Turn<'_>) -> Result {
    match turn.tool_calls.as_slice() {
        [] => return f.write_str("no call"),
        [_] => f.write_str("1 call: ")?,
        many => write!(f, "{} calls: ", many.len())?,
    }
    for (i, call) in turn.tool_calls.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        write!(f, "{comma}{} [{}]", call.name, call.status.as_str())?;
    }
    match &turn.dialect {
        Some(dialect) => write!(f, ", read as {dialect}"),
        None => Ok(()),
    }
}

fn about(f: &mut impl Write, number: usize, call: &ToolCall<'_>) -> Result {
    if let Some(evidence) = call.evidence {
        write!(f, "\ncall {number}, evidence {}: {}", evidence.as_str(), vouches(evidence))?;
    }
    for repair in &call.repairs {
        write!(f, "\ncall {number}, repair {}: {}", repair.code.as_str(), shown_sentence(&repair.message))?;
    }
    for error in &call.errors {
        let place = if error.pointer.is_empty() { "/" } else { &error.pointer };
        write!(f, "\ncall {number}, error at {place}: {}", shown_sentence(&error.message))?;
    }
    Ok(())
}

/// What speaks for a call of this evidence.
fn vouches(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Marker => "it is written in the markers of a dialect",
        Evidence::Envelope => "it stands in an object that says that it holds calls",
        Evidence::Fence => "it stands in a fence that holds nothing but calls",
        Evidence::Bare => "nothing but an offered name and its place",
    }
}

/// The text in quotes and in one line, its middle left out where it is long.
fn shown(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_SHOWN {
        return quoted(text);
    }
    let half = MAX_SHOWN / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{} ... {}", quoted(&head), quoted(&tail))
}

/// In the quotes that spare most escapes: JSON reads best in single ones.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '"' | '\'' if c != quote => out.push(c),
            c => out.extend(c.escape_debug()),
        }
    }
    out.push(quote);
    out
}

/// A message in one line; an invented result is in its issue whole.
fn shown_sentence(text: &str) -> String {
    let line = text.replace('\n', " ");
    match line.char_indices().nth(200) {
        Some((at, _)) => format!("{}...", line.get(..at).unwrap_or(&line)),
        None => line,
    }
}
