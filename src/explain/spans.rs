//! The spans of a text: what the engine gave out, what calls are made of, and the markup between.
use super::why::{Kept, nearest};
use super::{Span, SpanKind};
use crate::engine::{Markup, Noted, Observed, Piece};
use crate::schema::ToolSet;
use crate::turn::CallStatus;
use crate::turn::Reason;
use std::ops::Range;

/// Something that covers a part of the text.
struct Claim {
    range: Range<usize>,
    kind: SpanKind,
    call: Option<usize>,
    decoded: Option<String>,
}

pub(super) fn spans(text: &str, seen: &Observed<'_>, kept: &[Kept], tools: Option<&ToolSet>) -> Vec<Span> {
    let mut claims = claims(text, seen);
    // What stands nowhere comes before what begins at its place, and what lies inside a call (its name, its arguments) after it.
    claims.sort_by_key(|claim| {
        let nowhere = claim.decoded.is_some() && claim.range.is_empty();
        (claim.range.start, !nowhere, std::cmp::Reverse(claim.range.end))
    });
    let mut markers: Vec<(usize, Markup)> = (seen.notes.iter())
        .filter_map(|note| match note.noted {
            Noted::Marker(markup) => Some((note.range.start, markup)),
            _ => None,
        })
        .collect();
    markers.sort_by_key(|(at, _)| *at);
    markers.dedup_by_key(|(at, _)| *at);
    let mut writer = Writer { text, markers, kept, spans: Vec::new(), at: 0 };
    let mut open: Option<(Range<usize>, Option<usize>)> = None;
    for claim in claims {
        if let Some((range, call)) = open.clone() {
            writer.call(claim.range.start.min(range.end), call);
            if claim.range.start >= range.end {
                open = None;
            }
        }
        if claim.kind == SpanKind::Call {
            writer.gap(claim.range.start);
            // One text can be several calls: the first has it, the others lie in it.
            if claim.range.end > writer.at && open.is_none() {
                open = Some((claim.range, claim.call));
            }
            continue;
        }
        if open.is_none() {
            writer.gap(claim.range.start);
        }
        let call = claim.call.or(open.as_ref().and_then(|(_, call)| *call));
        writer.claim(claim, call);
    }
    if let Some((range, call)) = open {
        writer.call(range.end, call);
    }
    writer.gap(text.len());
    let mut spans = writer.spans;
    spans.dedup_by(|next, last| {
        let prose = matches!(last.kind, SpanKind::Content | SpanKind::Reasoning) && next.kind == last.kind;
        let plain = |span: &Span| span.reason.is_none() && span.decoded.is_none();
        let one = prose && plain(last) && plain(next);
        if one {
            last.range.end = next.range.end;
        }
        one
    });
    tell(&mut spans, seen, tools);
    spans
}

fn claims(text: &str, seen: &Observed<'_>) -> Vec<Claim> {
    let claim = |range: Range<usize>, kind| Claim { range, kind, call: None, decoded: None };
    let mut claims: Vec<Claim> = (seen.calls.iter().enumerate())
        .map(|(i, (raw, _))| Claim { call: Some(i), ..claim(raw.clone(), SpanKind::Call) })
        .collect();
    let mut contents = seen.notes.iter().filter(|note| note.noted == Noted::Content);
    let mut last = 0;
    for piece in &seen.content {
        match piece {
            Piece::Span(range) => {
                last = range.end;
                claims.push(claim(range.clone(), SpanKind::Content));
            }
            Piece::Made(made) => {
                // Content that was decoded from JSON that had to be repaired first stands nowhere.
                let range = contents.next().map_or(last..last, |note| note.range.clone());
                last = range.end;
                claims.push(Claim { decoded: Some(made.clone()), ..claim(range, SpanKind::Content) });
            }
        }
    }
    let mut last = 0;
    for piece in &seen.reasoning {
        match piece {
            Piece::Span(range) => {
                last = range.end;
                claims.push(claim(range.clone(), SpanKind::Reasoning));
            }
            Piece::Made(made) => {
                claims.push(Claim { decoded: Some(made.clone()), ..claim(last..last, SpanKind::Reasoning) });
            }
        }
    }
    for note in &seen.notes {
        match note.noted {
            Noted::Result => claims.push(claim(note.range.clone(), SpanKind::Result)),
            Noted::Dropped => claims.push(claim(note.range.clone(), SpanKind::Dropped)),
            _ => {}
        }
    }
    claims.extend(parts(text, seen));
    claims
}

/// The names and arguments of the calls.
fn parts(text: &str, seen: &Observed<'_>) -> Vec<Claim> {
    let mut notes: Vec<(Range<usize>, bool)> = (seen.notes.iter())
        .filter_map(|note| match note.noted {
            Noted::Name => Some((note.range.clone(), true)),
            Noted::Arguments => Some((note.range.clone(), false)),
            _ => None,
        })
        .collect();
    notes.sort_by_key(|(range, _)| range.start);
    let mut parts = Vec::new();
    for (i, (raw, _)) in seen.calls.iter().enumerate() {
        let first = notes.partition_point(|(range, _)| range.start < raw.start);
        let inside = notes.get(first..).unwrap_or_default().iter();
        let mut named = false;
        for (range, name) in inside.take_while(|(range, _)| range.start < raw.end) {
            // Arguments that hold a key "name" hold no second name.
            if range.end > raw.end || range.is_empty() || (*name && named) {
                continue;
            }
            named |= *name;
            let kind = if *name { SpanKind::Name } else { SpanKind::Arguments };
            parts.push(Claim { range: range.clone(), kind, call: Some(i), decoded: None });
        }
        let name = seen.turn.tool_calls.get(i).map_or("", |call| &call.name);
        // What had to be repaired was read from a text of its own.
        if !named
            && !name.is_empty()
            && let Some(at) = text.get(raw.clone()).and_then(|raw| raw.find(name))
        {
            let range = raw.start + at..raw.start + at + name.len();
            parts.push(Claim { range, kind: SpanKind::Name, call: Some(i), decoded: None });
        }
    }
    parts
}

/// Writes spans one behind the other.
struct Writer<'s> {
    text: &'s str,
    /// Where markup of which kind begins.
    markers: Vec<(usize, Markup)>,
    kept: &'s [Kept],
    spans: Vec<Span>,
    at: usize,
}

impl Writer<'_> {
    fn push(&mut self, kind: SpanKind, end: usize) -> Option<&mut Span> {
        if end <= self.at {
            return None;
        }
        self.spans.push(Span::new(kind, self.at..end));
        self.at = end;
        self.spans.last_mut()
    }

    /// The text of a call up to `end`.
    fn call(&mut self, end: usize, call: Option<usize>) {
        if let Some(span) = self.push(SpanKind::Call, end) {
            span.call = call;
        }
    }

    fn claim(&mut self, claim: Claim, call: Option<usize>) {
        if let Some(decoded) = claim.decoded {
            let start = self.at;
            let mut span = Span::new(claim.kind, start..claim.range.end.max(start));
            span.decoded = Some(decoded);
            self.at = span.range.end;
            self.spans.push(span);
            return;
        }
        match claim.kind {
            SpanKind::Content | SpanKind::Reasoning => self.prose(claim.kind, claim.range.end),
            kind => {
                if let Some(span) = self.push(kind, claim.range.end) {
                    span.call = call;
                }
            }
        }
    }

    /// Text, with what looked like a call in it.
    fn prose(&mut self, kind: SpanKind, end: usize) {
        let first = self.kept.partition_point(|kept| kept.range.end <= self.at);
        for kept in self.kept.get(first..).unwrap_or_default() {
            if kept.range.start >= end {
                break;
            }
            self.push(kind, kept.range.start);
            let (reason, dialect) = (kept.reason, kept.dialect.clone());
            let detail = kept.name.clone();
            if let Some(span) = self.push(kind, kept.range.end.min(end)) {
                span.reason = Some(reason);
                span.dialect = dialect;
                span.detail = detail;
            }
        }
        self.push(kind, end);
    }

    /// What nothing claims is markup, and white space round it.
    fn gap(&mut self, end: usize) {
        let Some(gap) = self.text.get(self.at..end).filter(|gap| !gap.is_empty()) else { return };
        let start = self.at + (gap.len() - gap.trim_ascii_start().len());
        let stop = self.at + gap.trim_ascii_end().len();
        if start >= stop {
            self.push(SpanKind::Space, end);
            return;
        }
        self.push(SpanKind::Space, start);
        let first = self.markers.partition_point(|(at, _)| *at < start);
        let last = self.markers.partition_point(|(at, _)| *at < stop);
        let mut markup = None;
        for (at, next) in self.markers.get(first..last).unwrap_or_default().to_vec() {
            self.markup(at, markup);
            markup = Some(next);
        }
        self.markup(stop, markup);
        self.push(SpanKind::Space, end);
    }

    fn markup(&mut self, end: usize, markup: Option<Markup>) {
        let Some(piece) = self.text.get(self.at..end) else { return };
        let stop = self.at + piece.trim_ascii_end().len();
        if let Some(span) = self.push(SpanKind::Marker, stop) {
            span.detail = match markup {
                Some(Markup::ReasoningOpens) => "reasoning begins",
                Some(Markup::ReasoningCloses) => "reasoning ends",
                Some(Markup::SectionOpens) => "a section of calls begins",
                Some(Markup::SectionCloses) => "a section of calls ends",
                Some(Markup::Fence) => "a fence round calls",
                Some(Markup::Token) => "a special token",
                Some(Markup::Header) => "the header of a message",
                Some(Markup::MessageEnds) => "a message ends",
                None => "markup round calls",
            }
            .into();
        }
        self.push(SpanKind::Space, end);
    }
}

/// Puts into words what there is to say about each span.
fn tell(spans: &mut [Span], seen: &Observed<'_>, tools: Option<&ToolSet>) {
    for span in spans {
        if let Some(reason) = span.reason {
            let name = std::mem::take(&mut span.detail);
            let kept = Kept { range: span.range.clone(), reason, name, dialect: span.dialect.clone() };
            span.detail = kept.sentence(tools);
        }
        let Some(index) = span.call else { continue };
        if let Some((_, Some(dialect))) = seen.calls.get(index) {
            span.dialect = Some(dialect.name.to_string());
        }
        let Some(call) = seen.turn.tool_calls.get(index).filter(|_| span.kind == SpanKind::Name) else { continue };
        if call.status == CallStatus::UnknownTool {
            let near = tools.map_or(String::new(), |tools| nearest(tools, &call.name));
            span.detail = format!("none of the offered tools{near}");
        }
        if call.status == CallStatus::Malformed
            && let Some((raw, _)) = seen.calls.get(index)
            && seen
                .notes
                .iter()
                .any(|note| matches!(note.noted, Noted::Kept(Reason::TooDeep, _)) && raw.contains(&note.range.start))
        {
            span.detail = "nested deeper than the policy's max_depth, so the arguments cannot be read".into();
        }
    }
}
