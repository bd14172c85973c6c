//! What was passed over without being read, or was not looked at, is read on its own: what would have been a call there is named.
use super::why::{Kept, is_code, whole_end};
use crate::dialect::Dialects;
use crate::engine::{BareCalls, Fences, Noted, Observed, Options, Piece, Policy, ReasoningCalls, observe};
use crate::schema::ToolSet;
use crate::turn::IssueCode;
use crate::turn::Reason;
use std::collections::HashMap;
use std::ops::Range;

/// So many places that were passed over are looked into.
pub(super) const MAX_PROBES: usize = 64;
/// And so far.
pub(super) const MAX_PROBE_BYTES: usize = 64 << 10;
/// Quotation marks, and what closes each.
const QUOTES: [(char, char); 8] =
    [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('«', '»'), ('„', '“'), ('「', '」'), ('『', '』')];

/// Reads parts of a text as it is read, and keeps what looked like a call.
pub(super) struct Apart<'a> {
    pub(super) text: &'a str,
    pub(super) dialects: &'a Dialects,
    pub(super) tools: Option<&'a ToolSet>,
    pub(super) options: &'a Options,
    pub(super) found: Vec<Kept>,
}

impl Apart<'_> {
    /// Lines that name an offered tool where nothing was noticed, each read on its own: behind what quotes it, and from the
    /// word that holds the name.
    pub(super) fn named_lines(&mut self, seen: &Observed<'_>) {
        let text = self.text;
        let names = self.tools.iter().flat_map(|tools| tools.tools()).map(|tool| tool.name.as_str());
        let mut places: Vec<usize> = names
            .filter(|name| !name.is_empty())
            .flat_map(|name| memchr::memmem::find_iter(text.as_bytes(), name).take(MAX_PROBES))
            .collect();
        places.sort_unstable();
        let mut done = 0;
        for at in places.into_iter().take(MAX_PROBES) {
            let (Some(before), Some(behind)) = (text.get(..at), text.get(at..)) else { continue };
            if at < done {
                continue;
            }
            let start = before.rfind('\n').map_or(0, |line| line + 1);
            let end = behind.find('\n').map_or(text.len(), |length| at + length);
            let line = text.get(start..end).unwrap_or_default();
            let bare = line.trim_start_matches([' ', '\t', '>', '|']);
            let lead = end - bare.len();
            let known = self.found.len();
            if let Some(inside) = quotation(text, start..at) {
                self.probe_on(inside, Reason::Quoted);
            }
            let word = before.rfind(char::is_whitespace).map_or(0, |space| space + 1).max(lead);
            let quoted = line.trim_start().starts_with(['>', '|']);
            let elsewhere = whatever_stands(seen, at);
            let reason = if quoted { Reason::Quoted } else { elsewhere.unwrap_or(Reason::Place) };
            for from in [lead, word] {
                if self.found.len() == known && from < end && (quoted || elsewhere.is_some() || from > start) {
                    self.probe_on(from..end, reason);
                }
            }
            if self.found.len() == known {
                let quoted = self.quoted_lines(start);
                self.found.extend(quoted);
            }
            done = self.found.get(known..).unwrap_or_default().iter().map(|kept| kept.range.end).max().unwrap_or(done);
        }
    }

    /// The call that the lines of a block quote at `start` are, if they are one: a call may have several.
    fn quoted_lines(&self, start: usize) -> Option<Kept> {
        let (mut inside, mut end) = (String::new(), start);
        for line in self.text.get(start..)?.split_inclusive('\n') {
            let Some(quoted) = line.trim_start().strip_prefix('>') else { break };
            inside.push_str(quoted.strip_prefix(' ').unwrap_or(quoted));
            end += line.len();
            if inside.len() > MAX_PROBE_BYTES {
                break;
            }
        }
        let seen = observe(&inside, self.dialects, self.tools, &Options::default());
        let call =
            seen.turn.tool_calls.iter().find(|call| call.status.readable() && offered(self.tools, &call.name))?;
        let (name, dialect) = (call.name.to_string(), seen.turn.dialect.as_ref().map(ToString::to_string));
        Some(Kept { range: start..end, reason: Reason::Quoted, name, dialect })
    }

    /// Reads what was passed over as [`Self::probe`] does: its line, and if that is none, the paragraph from there. (`Action Input:` stands on
    /// a line of its own.)
    pub(super) fn probe_on(&mut self, range: Range<usize>, reason: Reason) {
        let known = self.found.len();
        self.probe(range.clone(), reason);
        if self.found.len() == known && self.text.get(range.end..).is_some_and(|behind| behind.starts_with('\n')) {
            let end = paragraph_end(self.text, range.end);
            self.probe(range.start..end, reason);
        }
    }

    /// Reads on its own what was passed over: what is a call there is one that was kept from being one.
    fn probe(&mut self, range: Range<usize>, reason: Reason) {
        let Self { text, dialects, tools, options, .. } = *self;
        let found = &mut self.found;
        let Some(slice) = text.get(range.clone()).filter(|slice| slice.len() <= MAX_PROBE_BYTES) else { return };
        let options = Options { policy: open_policy(&options.policy), ..Options::default() };
        let python = reason == Reason::NameNotOffered;
        // A list of calls needs no offered names to be read.
        let listed = if python { format!("[{slice}]") } else { String::new() };
        let known = tools;
        let (slice, shift, tools) = if python { (listed.as_str(), 1, None) } else { (slice, 0, tools) };
        let seen = observe(slice, dialects, tools, &options);
        let mut keep = |raw: &Range<usize>, name: &str, dialect: Option<String>| {
            let start = (range.start + raw.start).saturating_sub(shift);
            let end = (range.start + raw.end).saturating_sub(shift).min(range.end);
            // What it stands in is the name that is not offered: `print(f(x=1))`.
            let inner = python && known.is_some_and(|tools| tools.find(name, options.policy.names).is_some());
            let reason = if inner { Reason::Place } else { reason };
            if offered(tools, name) && start < end && !(python && is_code(text, start, name, known)) {
                found.push(Kept { range: start..end, reason, name: name.to_owned(), dialect });
            }
        };
        for ((raw, dialect), call) in seen.calls.iter().zip(&seen.turn.tool_calls) {
            if call.status.readable() {
                keep(raw, &call.name, dialect.as_ref().map(|d| d.name.to_string()));
            }
        }
        // The sentence that goes on behind it is no reason of its own.
        for note in &seen.notes {
            if let Noted::Kept(Reason::Place, name) = &note.noted {
                keep(&note.range, &name.get(slice), None);
            }
        }
        // JSON with a name is no call in a fence, or elsewhere in a text, either, if the name is not offered.
        for note in
            seen.notes.iter().filter(|_| matches!(reason, Reason::FenceOfCode | Reason::Place | Reason::InlineCode))
        {
            if let Noted::Kept(reason @ (Reason::NameNotOffered | Reason::NoTools), name) = &note.noted
                && slice.get(note.range.clone()).is_some_and(|written| written.starts_with(['{', '[']))
            {
                let end = whole_end(slice, note.range.clone(), &[], &mut HashMap::new());
                let at = range.start + note.range.start..range.start + end;
                found.push(Kept { range: at, reason: *reason, name: name.get(slice).into_owned(), dialect: None });
            }
        }
    }
}

/// Why nothing at `at` is a call, whatever stands there, if there is such a reason.
fn whatever_stands(seen: &Observed<'_>, at: usize) -> Option<Reason> {
    let holds = |piece: &Piece| matches!(piece, Piece::Span(range) if range.contains(&at));
    if seen.turn.issues.iter().any(|issue| issue.code == IssueCode::LimitReached) {
        return Some(Reason::LimitReached);
    }
    seen.reasoning.iter().any(holds).then_some(Reason::Draft)
}

/// What the last quotation mark before the name quotes, as far as its paragraph goes; `before` is what of the line stands before it.
fn quotation(text: &str, before: Range<usize>) -> Option<Range<usize>> {
    let (at, sign) = text.get(before.clone())?.char_indices().rev().find(|(_, c)| QUOTES.iter().any(|q| q.0 == *c))?;
    let from = before.start + at + sign.len_utf8();
    let (_, close) = QUOTES.iter().find(|quotes| quotes.0 == sign)?;
    let paragraph = text.get(from..paragraph_end(text, from))?;
    Some(from..from + paragraph.rfind(*close)?)
}

/// Where the paragraph of `at` ends.
fn paragraph_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memmem::find(rest, b"\n\n").map_or(text.len(), |length| at + length)
}

fn offered(tools: Option<&ToolSet>, name: &str) -> bool {
    tools.is_none_or(|tools| tools.get(name).is_some())
}

/// The caller's policy, apart from what kept the place from being read.
fn open_policy(policy: &Policy) -> Policy {
    Policy {
        fences: Fences::Calls,
        bare: BareCalls::Line,
        reasoning: ReasoningCalls::Run,
        max_calls: policy.max_calls.max(1),
        ..policy.clone()
    }
}
