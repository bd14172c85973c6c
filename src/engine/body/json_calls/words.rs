//! Words where a list or an envelope of calls has none: they are text, and the calls round them stay calls.
use super::*;
use crate::dialect::Element;
use crate::engine::head;
use std::ops::ControlFlow;

/// Words that are read as text among the elements of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Words {
    start: usize,
    /// How many brackets that opened in them are open.
    depth: usize,
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
            mend_last(writer, RepairCode::Bracket, start, "the list is not closed");
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
            let closes = closer.map_or(Look::No, |closer| head::literal(cx, at, closer).map(|_| ()));
            let ends = closes.or(|| match markers.at(cx.bytes(), at) {
                // A fence may stand in any text.
                _ if at < stop || byte == b'`' => Look::No,
                MarkersAt::Partial | MarkersAt::Some { more: true, .. } if !cx.eof => Look::More,
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
                    self.pass(writer, span(words.start..end));
                    return self.go(at, expect);
                }
            }
        }
        self.expect = Expect::Words(words);
        Flow::Stop(Progress::More)
    }

    /// What the `byte` is to the words in which it stands: if they end before it, what comes next.
    fn sign(
        &self,
        cx: &Reader<'_>,
        writer: &Writer,
        words: &mut Words,
        byte: u8,
    ) -> ControlFlow<Expect, Look<()>> {
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
        mend_last(writer, RepairCode::Bracket, said, "the list is not closed");
        self.pass(writer, span(words.start..said));
        Progress::Done { end }
    }
}

/// What stands at `at` is no JSON, nor meant as such.
fn begins_words(cx: &Reader<'_>, at: usize) -> bool {
    let begins = |c: char| c.is_alphanumeric() || matches!(c, '-' | '*' | '+' | '!' | '?' | '–' | '—' | '•');
    cx.rest(at).starts_with(begins)
}

/// A marker must close the calls.
pub(super) fn must_be_closed(cx: &Reader<'_>, writer: &Writer) -> bool {
    writer.closing(cx).iter().any(|element| matches!(element, Element::Literal(_)))
}
