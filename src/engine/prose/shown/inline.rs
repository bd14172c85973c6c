//! Inline code, in backticks: it holds no call.
use super::code::{behind_sentence, run};
use crate::engine::call::MOST_READ_AGAIN;
use crate::engine::look::{Look, seen, taken, told};
use crate::engine::trace::{Noted, Reason};
use crate::engine::{Doubt, Engine, Reader, Taken};
use crate::json::{Part, Quoting};
use std::ops::Range;

/// A run of backticks that may have opened inline code. It ends with its paragraph at the latest: then the run was a sign like
/// any other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inline {
    pub(in crate::engine) ticks: usize,
    at: usize,
    /// How far the paragraph has been followed, and that its last line is blank up to there.
    followed: usize,
    blank: bool,
    /// Where that stands which closes it, if a call made somebody look.
    closes: Option<usize>,
}

impl Inline {
    pub(in crate::engine) fn new(ticks: usize, at: usize) -> Self {
        Self { ticks, at, followed: at + ticks, blank: false, closes: None }
    }

    /// The backticks in `range` that close it, in its paragraph.
    #[cold]
    pub(crate) fn closer(mut self, cx: &Reader<'_>, range: Range<usize>) -> Option<usize> {
        let mut at = range.start;
        while let Some(run) = memchr::memchr(b'`', cx.bytes().get(at..range.end)?) {
            let start = at + run;
            let ticks = cx.bytes().get(start..).unwrap_or_default().iter().take_while(|byte| **byte == b'`').count();
            if self.is_over(cx, start) {
                return None;
            }
            if ticks == self.ticks {
                return Some(start);
            }
            at = start + ticks;
        }
        None
    }

    /// Where the backticks stand behind `at` that close it, or its paragraph ends, and whether they do. A call begins there: backticks in its
    /// brackets are its own, if those close in the paragraph and it is read so `closely`.
    fn closes_behind(mut self, cx: &Reader<'_>, at: usize, closely: bool) -> Look<(usize, bool)> {
        let (mut depth, mut string, mut inside) = (0_usize, Quoting::default(), None);
        let mut here = at;
        while let Some(byte) = cx.bytes().get(here).copied() {
            let outside = matches!(string.read(byte, |escaped| depth > 0 && !escaped), Part::Outside);
            match byte {
                b'`' => {
                    let ticks = seen!(run(cx, here, b'`'));
                    if ticks == self.ticks && (depth == 0 || !closely) {
                        return Look::Is((here, true));
                    }
                    inside = inside.or((ticks == self.ticks).then_some(here));
                    here += ticks;
                    continue;
                }
                b'\n' if self.is_over(cx, here + 1) => break,
                b'(' | b'[' | b'{' if outside => depth += 1,
                b')' | b']' | b'}' if outside => depth = depth.saturating_sub(1),
                _ => {}
            }
            here += 1;
        }
        if here >= cx.text.len() && !cx.eof {
            return Look::More;
        }
        let inside = inside.filter(|_| depth > 0);
        Look::Is((inside.unwrap_or(here), inside.is_some()))
    }

    /// Where the backticks at `closer` end that close it.
    pub(in crate::engine) fn ends_at(self, closer: usize) -> usize {
        closer + self.ticks
    }

    /// Its paragraph ends before `to`.
    fn is_over(&mut self, cx: &Reader<'_>, to: usize) -> bool {
        for byte in cx.bytes().get(self.followed..to).unwrap_or_default() {
            match byte {
                b'\n' if self.blank => return true,
                b'\n' => self.blank = true,
                b' ' | b'\t' | b'\r' => {}
                _ => self.blank = false,
            }
        }
        self.followed = self.followed.max(to);
        false
    }
}

impl Engine {
    /// Backticks in prose.
    pub(in crate::engine) fn ticks(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let length = seen!(run(cx, at, b'`'));
        // As many as opened inline code in this paragraph close it, wherever they stand.
        let closes = self.inline.is_some_and(|inline| inline.ticks == length);
        if length >= 3 && !closes && self.begins_line(cx, at) {
            return self.fence_opens(cx, at, length, b'`');
        }
        if length >= 3 && self.inline.is_none() && behind_sentence(cx, at) {
            taken!(self.opens_behind(cx, at, length));
        }
        match self.inline {
            Some(inline) if closes => {
                if self.holds(Doubt::InlineCode) {
                    self.go_back(at);
                }
                self.out.trace.note(inline.at + length..at, Noted::Passed(Reason::InlineCode));
                self.inline = None;
            }
            Some(_) => {}
            None if length == 1 && told!(is_apostrophe(cx, at)).is_some() => {}
            None => self.inline = Some(Inline::new(length, at)),
        }
        self.at = at + length;
        Taken::Done
    }

    /// A call without markers may begin at `at`: it is shown in inline code, if what closes that stands behind it. Else nothing opened any.
    #[cold]
    pub(in crate::engine) fn in_code(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        let Some(inline) = self.inline else { return Look::No };
        if inline.closes.is_some_and(|closer| closer > at) {
            return Look::Is(());
        }
        // A paragraph of nothing but such calls would be read again for each of them.
        let (end, closed) = seen!(inline.closes_behind(cx, at, self.reread <= MOST_READ_AGAIN * at));
        self.reread += end - at;
        if closed {
            self.inline = Some(Inline { closes: Some(end), ..inline });
        } else {
            self.leave_inline(at);
        }
        Look::when(closed)
    }

    /// Leaves inline code whose paragraph ends before `at`.
    pub(in crate::engine) fn leave_paragraph(&mut self, cx: &Reader<'_>, at: usize) {
        if self.inline.as_mut().is_some_and(|inline| inline.is_over(cx, at)) {
            self.leave_inline(at);
        }
    }

    /// The inline code that is open goes up to `at`, if any is; nothing closed it.
    pub(in crate::engine) fn leave_inline(&mut self, at: usize) {
        if let Some(inline) = self.inline.take() {
            self.keep(Doubt::InlineCode);
            self.out.trace.note(inline.at + inline.ticks..at, Noted::Passed(Reason::InlineCode));
        }
    }
}

/// The backtick at `at` is the apostrophe of a word: `I\`ll`.
fn is_apostrophe(cx: &Reader<'_>, at: usize) -> Look<()> {
    /// No more letters stand behind it.
    const LETTERS: usize = 2;
    let behind = cx.near(at + 1, LETTERS + 1);
    let letters = behind.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if letters == 0 || !cx.slice(0, at).ends_with(char::is_alphanumeric) {
        return if behind.is_empty() && !cx.eof { Look::More } else { Look::No };
    }
    match behind.get(letters) {
        None if letters <= LETTERS && !cx.eof => Look::More,
        next => Look::when(letters <= LETTERS && next != Some(&b'`')),
    }
}
