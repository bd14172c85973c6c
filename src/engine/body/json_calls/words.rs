//! What stands among calls and is none: words in a list or behind an envelope, objects that call nothing. It is text, and the calls
//! round it stay calls.
use super::object::beside_calls;
use super::*;
use crate::dialect::must_close;
use crate::json::WORDS;
use std::ops::ControlFlow;

/// Words that are read as text among the elements of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words {
    start: usize,
    /// How many brackets that opened in them are open.
    depth: usize,
}

/// So many signs behind a list are a slip.
const SLIP: usize = 4;

/// A key is no longer.
const KEY: usize = 64;

/// What stands behind the calls of an envelope that lacks its brace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// Its brace, behind signs that say nothing.
    Brace(usize),
    /// A line of words that begins here.
    Line(usize),
}

impl JsonCalls {
    /// The element at `start` of a list that has calls is no JSON, but words.
    pub(super) fn are_words(&self, cx: &Reader<'_>, writer: &Writer, start: usize) -> bool {
        let in_list = self.frames.last().is_some_and(|frame| frame.kind == Kind::List);
        in_list && !cx.made && writer.vouched() && begins_words(cx, start)
    }

    /// Words begin at `start`. Where nothing must close the calls, a line of them is what stands behind the list.
    pub(super) fn begin_words(&mut self, cx: &Reader<'_>, writer: &mut Writer, start: usize) -> Flow {
        if !must_be_closed(cx, writer) && cx.at_line_start(start) {
            writer.mend(RepairCode::Bracket, start, "the list is not closed");
            let end = cx.slice(0, start).trim_end().len();
            return Flow::Stop(self.leave(cx, writer, end));
        }
        self.go(start, Expect::Words(Words { start, depth: 0 }))
    }

    /// Reads words on, up to the next call, the end of the list, or what closes the calls. Where nothing must close them, they end
    /// with their line, so that no text waits for the end.
    pub(super) fn words(&mut self, cx: &Reader<'_>, writer: &mut Writer, mut words: Words) -> Flow {
        let bounded = must_be_closed(cx, writer);
        let closer = lenient::closer(writer.closing(cx)).filter(|_| bounded);
        let markers = &cx.dialects.markers;
        let mut stop = markers.next_stop(cx.bytes(), self.at);
        while let Some(byte) = cx.bytes().get(self.at).copied() {
            let at = self.at;
            if at >= stop {
                stop = markers.next_stop(cx.bytes(), at);
            }
            let closes = closer.map_or(Look::No, |closer| cx.literal(at, closer).unit());
            let ends = closes.or(|| match markers.at(cx.bytes(), at) {
                // A fence may stand in any text.
                _ if at < stop || byte == b'`' => Look::No,
                MarkersAt::Partial(_) | MarkersAt::Some { more: true, .. } if !cx.eof => Look::More,
                MarkersAt::Some { .. } => Look::Is(()),
                _ => Look::No,
            });
            match ends {
                Look::More => break,
                Look::Is(()) => return Flow::Stop(self.words_are_over(cx, writer, words, at)),
                Look::No => {}
            }
            match self.sign(cx, writer, &mut words, byte) {
                ControlFlow::Continue(Look::More) => break,
                ControlFlow::Continue(_) => self.at += 1,
                ControlFlow::Break(_) if byte == b'\n' => {
                    return Flow::Stop(self.words_are_over(cx, writer, words, at));
                }
                ControlFlow::Break(expect) => {
                    // White space before a bracket or a comma is the list's.
                    let call = matches!(expect, Expect::Value { .. });
                    let end = if call { at } else { cx.slice(0, at).trim_end().len() };
                    self.pass(writer, Piece::Span(words.start..end));
                    return self.go(at, expect);
                }
            }
        }
        self.expect = Expect::Words(words);
        Flow::Stop(Progress::More)
    }

    /// What the `byte` is to the words in which it stands: if they end before it, what comes next.
    fn sign(&self, cx: &Reader<'_>, writer: &Writer, words: &mut Words, byte: u8) -> ControlFlow<Expect, Look<()>> {
        let at = self.at;
        if words.depth == 0 && matches!(byte, b'{' | b'[' | b',') {
            // Without markers, a call behind words is one that they speak of.
            let call = !writer.is_unmarked();
            let inside = |look: Look<usize>| look.map(|at| cx.bytes().get(at).copied().unwrap_or_default());
            match (byte, inside(cx.behind_space(at, at + 1))) {
                (_, Look::More) => return ControlFlow::Continue(Look::More),
                (b'{', Look::Is(b'"' | b'\'')) if call => return ControlFlow::Break(Expect::Value { close: false }),
                (b'[', Look::Is(b'{')) if call && self.frames.len() < self.max_depth => {
                    return ControlFlow::Break(Expect::Value { close: false });
                }
                (b',', Look::Is(b'{' | b'[' | b']')) => return ControlFlow::Break(Expect::Next),
                _ => {}
            }
        }
        match byte {
            b'[' => words.depth += 1,
            b']' if words.depth == 0 => return ControlFlow::Break(Expect::Next),
            b']' => words.depth -= 1,
            b'\n' if !must_be_closed(cx, writer) => return ControlFlow::Break(Expect::Between),
            _ => {}
        }
        ControlFlow::Continue(Look::No)
    }

    /// The words end at `end`, and the list with them.
    pub(super) fn words_are_over(&self, cx: &Reader<'_>, writer: &mut Writer, words: Words, end: usize) -> Progress {
        let said = cx.slice(0, end).trim_end().len();
        writer.mend(RepairCode::Bracket, said, "the list is not closed");
        self.pass(writer, Piece::Span(words.start..said));
        Progress::Done { end }
    }

    /// The object that is no call stands between markers with the calls before or behind it: before them all, or where a marker
    /// must close them, anywhere. Elsewhere it is what stands behind them.
    pub(super) fn stands_among(&self, cx: &Reader<'_>, writer: &Writer) -> bool {
        !cx.made && !writer.is_unmarked() && (writer.begun == 0 || must_be_closed(cx, writer))
    }

    /// The object at `range` is no call, and stands among those of one body. Right behind a call that says nothing it may be what
    /// that was to be called with.
    pub(super) fn pass_among(&self, cx: &Reader<'_>, out: &Output, writer: &mut Writer, range: Range<usize>) {
        let takes = |index: usize| cx.called(out, index).is_none_or(|tool| !tool.parameters.is_empty());
        if writer.pending.as_ref().is_some_and(|call| call.arguments.say_nothing() && takes(call.index)) {
            writer.tear();
        }
        self.pass(writer, Piece::Span(range));
    }

    /// The list of calls in an envelope is over, and at `at` goes nothing on that is JSON: the envelope's brace is missing, or hidden
    /// behind signs too many. `None`: something else is wrong.
    #[cold]
    pub(super) fn envelope_is_over(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        at: usize,
    ) -> Option<Flow> {
        let end = self.calls_end(cx, at)?;
        match behind_calls(cx, end, at) {
            Look::No => None,
            Look::More => Some(Flow::Stop(Progress::More)),
            Look::Is(Behind::Brace(brace)) => {
                leave_out(cx, out, writer, end..brace);
                Some(self.close(cx, out, writer, brace))
            }
            // What closes the calls may stand behind the words.
            Look::Is(Behind::Line(_)) if must_be_closed(cx, writer) => None,
            Look::Is(Behind::Line(line)) => {
                leave_out(cx, out, writer, end..line);
                Some(self.close_before(cx, out, writer, line))
            }
        }
    }

    /// Where the list of calls in the envelope ended that is open, if at `at` nothing but signs stand behind it.
    fn calls_end(&self, cx: &Reader<'_>, at: usize) -> Option<usize> {
        let frame = self.frames.last().filter(|frame| frame.envelope == Some(Envelope::Calls) && !cx.made)?;
        let before = cx.slice(frame.start, self.at);
        let before = before.trim_ascii_end();
        let before = before.strip_suffix(',').unwrap_or(before).trim_ascii_end();
        (at >= self.at && before.ends_with(']')).then_some(self.at)
    }

    /// The envelope ends before `at`, without its brace.
    fn close_before(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, at: usize) -> Flow {
        let Some(start) = self.frames.last().map(|frame| frame.start) else { return self.broken(cx, at) };
        let end = cx.slice(0, at).trim_end().len();
        writer.mend(RepairCode::Bracket, end, "a closing brace is missing");
        if let Flow::Stop(progress) = self.object(cx, out, writer, start..end) {
            return Flow::Stop(progress);
        }
        self.frames.pop();
        self.closed(cx, writer, end)
    }

    /// The envelope that is open has no brace up to `limit`, and words stand behind its calls at `at`: they are text.
    pub(super) fn words_behind_calls(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        (at, limit): (usize, usize),
    ) -> Option<Flow> {
        let said = cx.slice(at, limit).trim_end().len() > SLIP && begins_words(cx, at);
        self.calls_end(cx, at).filter(|_| said && is_member(cx, at) == Look::No)?;
        let closed = must_be_closed(cx, writer);
        let flow = self.close_before(cx, out, writer, at);
        if closed && self.frames.is_empty() && limit < cx.text.len() {
            self.pass(writer, Piece::Span(at..cx.slice(0, limit).trim_end().len()));
            return Some(self.go(limit, Expect::Between));
        }
        Some(flow)
    }
}

/// What stands behind calls that ended at `end`, where at `at` something begins that is no JSON.
fn behind_calls(cx: &Reader<'_>, end: usize, at: usize) -> Look<Behind> {
    let mut at = at;
    if at == end {
        let near = cx.near(end, SLIP + 1);
        let part =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':');
        let slip = near.iter().position(part);
        match slip.and_then(|slip| near.get(slip)) {
            None if near.len() > SLIP || cx.eof => return Look::No,
            None => return Look::More,
            Some(b'}') => return Look::Is(Behind::Brace(end + slip.unwrap_or_default())),
            Some(byte) if byte.is_ascii_whitespace() => at = cx.skip_space(end + slip.unwrap_or_default()),
            Some(_) => return Look::No,
        }
    }
    match cx.rest(at).chars().next() {
        None if cx.eof => Look::No,
        None => Look::More,
        Some(_) if !cx.at_line_start(at) || !begins_words(cx, at) => Look::No,
        Some(_) => match is_member(cx, at) {
            Look::Is(()) => Look::No,
            Look::More => Look::More,
            Look::No => Look::Is(Behind::Line(at)),
        },
    }
}

/// A key without quotes stands at `at`, and a value behind it in its line.
fn is_member(cx: &Reader<'_>, at: usize) -> Look<()> {
    let key = char_class::MEMBER_KEY.length(cx.near(at, KEY));
    let colon = cx.skip_space(at + key);
    let value = cx.skip_space(colon + 1);
    match (cx.bytes().get(colon), cx.bytes().get(value)) {
        (None, _) | (Some(b':' | b'='), None) if !cx.eof => Look::More,
        _ if cx.slice(colon, value).contains('\n') => Look::No,
        (Some(b':' | b'='), Some(b'"' | b'\'' | b'{' | b'[' | b'-' | b'0'..=b'9')) => Look::Is(()),
        (Some(b':' | b'='), Some(_)) => literal(cx, value),
        _ => Look::No,
    }
}

/// What stands at `slip`, behind the calls of an envelope, is a slip: if it is more than a sign and says something, that is told.
fn leave_out(cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, slip: Range<usize>) {
    let text = cx.part(&slip).trim();
    if !text.is_empty() {
        writer.mend(RepairCode::Surroundings, slip.start, "signs behind the calls were left out");
    }
    if text.len() > 1 && text.contains(char::is_alphanumeric) {
        out.issue(beside_calls(slip.start, text));
    }
}

/// A word of JSON's or Python's stands at `at`.
fn literal(cx: &Reader<'_>, at: usize) -> Look<()> {
    Look::any_of(WORDS.map(|word| cx.literal(at, word).unit()))
}

/// What stands at `at` is no JSON, nor meant as such.
fn begins_words(cx: &Reader<'_>, at: usize) -> bool {
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '-' | '*' | '+' | '!' | '?' | '–' | '—' | '•');
    cx.rest(at).starts_with(begins)
}

/// A marker must close the calls.
pub(super) fn must_be_closed(cx: &Reader<'_>, writer: &Writer) -> bool {
    must_close(writer.closing(cx))
}
