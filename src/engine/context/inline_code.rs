//! Inline code, in backticks: it holds no call.
use super::fence::{behind_sentence, run};
use crate::engine::look::{Look, seen, taken, told};
use crate::engine::trace::{Noted, Reason};
use crate::engine::{Doubt, Engine, Reader, Taken};
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
}

impl Inline {
    pub(in crate::engine) fn new(ticks: usize, at: usize) -> Self {
        Self { ticks, at, followed: at + ticks, blank: false }
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
            None if length == 1 && told!(is_lone(cx, at)).is_some() => {}
            None => self.inline = Some(Inline::new(length, at)),
        }
        self.at = at + length;
        Taken::Done
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

/// The backtick at `at` opens no code: it is the apostrophe of a word (`I\`ll`), or a blank follows it and no other one in its line.
fn is_lone(cx: &Reader<'_>, at: usize) -> Look<()> {
    /// An apostrophe has no more letters behind it.
    const LETTERS: usize = 2;
    /// A longer line is not waited for.
    const LONGEST_LINE: usize = 256;
    let behind = cx.ahead(at + 1, LONGEST_LINE);
    let letters = behind.bytes().take(LETTERS + 1).take_while(u8::is_ascii_alphabetic).count();
    let next = behind.as_bytes().get(letters);
    if letters > 0 {
        let in_word = cx.slice(0, at).ends_with(char::is_alphanumeric);
        return match next {
            None if !cx.eof && letters <= LETTERS => Look::More,
            next => Look::when(in_word && letters <= LETTERS && next != Some(&b'`')),
        };
    }
    if next.is_some_and(|next| !matches!(next, b' ' | b'\t')) {
        return Look::No;
    }
    match memchr::memchr2(b'`', b'\n', behind.as_bytes()).and_then(|end| behind.as_bytes().get(end)) {
        Some(end) => Look::when(*end == b'\n'),
        None if at + 1 + LONGEST_LINE <= cx.text.len() => Look::No,
        None if cx.eof => Look::Is(()),
        None => Look::More,
    }
}
