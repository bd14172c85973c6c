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

    /// Where the backticks stand behind `at` that close it in its paragraph, if any do, and how far that was read for them. A call begins
    /// there: backticks in its brackets are its own, if those close in the paragraph and it is read so `closely`.
    fn closes_behind(mut self, cx: &Reader<'_>, at: usize, closely: bool) -> Look<(Option<usize>, usize)> {
        let (mut depth, mut string, mut inside) = (0_usize, Quoting::default(), None);
        let mut here = at;
        while let Some(byte) = cx.bytes().get(here).copied() {
            let outside = matches!(string.read(byte, |escaped| depth > 0 && !escaped), Part::Outside);
            match byte {
                b'`' => {
                    let ticks = seen!(run(cx, here, b'`'));
                    if ticks == self.ticks && (depth == 0 || !closely) {
                        let own = if closely { self.begins_another(cx, here) } else { Look::No };
                        let Some(end) = told!(own) else { return Look::Is((Some(here), here)) };
                        here = end;
                        continue;
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
        Look::Is((inside.filter(|_| depth > 0), here))
    }

    /// As many backticks at `at` begin inline code of their own and close none: a blank stands before them and a word behind, and others
    /// close that word in the same line. Where those end.
    fn begins_another(self, cx: &Reader<'_>, at: usize) -> Look<usize> {
        /// Longer code is not waited for.
        const LONGEST: usize = 256;
        let behind = at + self.ticks;
        let near = cx.near(behind, LONGEST);
        let begins =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'-' | b'<' | b'$' | b'@');
        let parted = cx.slice(0, at).ends_with([' ', '\t', '\n', '(']);
        if !parted || near.first().is_some_and(|byte| !begins(byte)) {
            return Look::No;
        }
        let mut here = 0;
        while let Some(next) = memchr::memchr2(b'`', b'\n', near.get(here..).unwrap_or_default()) {
            let start = here + next;
            let ticks = near.iter().skip(start).take_while(|byte| **byte == b'`').count();
            here = start + ticks;
            match ticks {
                0 => return Look::No,
                _ if here == near.len() && (here == LONGEST || !cx.eof) => return cx.ran_out(here, LONGEST),
                _ if ticks != self.ticks => {}
                _ if cx.slice(0, behind + start).ends_with([' ', '\t']) => return Look::No,
                _ => return Look::Is(behind + here),
            }
        }
        cx.ran_out(near.len(), LONGEST)
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
        // Those behind a call may be the first of others.
        let inline = self.inline.filter(|_| closes && self.holds(Doubt::InlineCode));
        if told!(inline.map_or(Look::No, |inline| inline.begins_another(cx, at))).is_some() {
            self.leave_inline(at);
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
        let (closes, read) = seen!(inline.closes_behind(cx, at, self.reread <= MOST_READ_AGAIN * at));
        self.reread += read - at;
        match closes {
            Some(_) => self.inline = Some(Inline { closes, ..inline }),
            None => self.leave_inline(at),
        }
        Look::when(closes.is_some())
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
