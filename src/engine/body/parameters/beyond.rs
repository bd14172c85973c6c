//! A value that shows what ends a parameter or a call goes on behind it. What tells it from one that lost its closing marker is
//! that marker further on, where nothing but the value is open that it could close.
use super::end::Ended;
use super::open::Closer;
use super::same::Same;
use super::shown::{Shown, opens_own};
use super::value::Within;
use super::*;
use crate::bytes::find_near;
use crate::dialect::opener;
use crate::engine::body::shown::Quotation;
use crate::engine::look::{seen, told};

/// So far behind a place where a value may have ended its own closing marker is looked for: mostly it was forgotten, and what
/// waits for it waits in vain.
const NEAR: usize = 1024;

/// A quote closes within so many bytes.
const QUOTED: usize = 128;

/// And so far where what ends the call stands in quotes.
const FAR: usize = 4096;

/// What shows that a value goes on: its own closing marker stands at a place further on, and whole calls before it, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// `sure`: with another parameter of the tool behind it, or nothing between it and what ended the call.
    Own { at: usize, calls: bool, sure: bool },
    /// So far nothing but text: nobody knows whose that is.
    Text,
}

impl Beyond {
    /// Where its own closing marker stands.
    const fn own(self) -> Look<usize> {
        match self {
            Self::Own { at, .. } => Look::Is(at),
            Self::Text => Look::No,
        }
    }
}

/// Up to where a value may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// To the end of its call.
    Call,
    /// Behind that: it may show calls.
    Calls,
    /// Behind that, as what ends its call there stands in quotes.
    Shown,
    /// Behind that, as the value has it in quotes: another parameter may follow as well.
    Quoted,
}

/// What stands at a place behind the value.
enum Mark {
    /// Its closing marker.
    Closer(Closer),
    /// What opens a parameter that has such a one.
    Opener,
    Call,
    /// What closes a call.
    Tail,
}

impl OpenValue {
    /// It may have ended at `end`, without its closing marker. If that is yet to come behind `from`, it did not, and all up to there
    /// is its text.
    pub(super) fn ends_unless_beyond(
        &mut self,
        cx: &Reader<'_>,
        within: &Within<'_>,
        end: usize,
        from: usize,
    ) -> Look<Ended> {
        let quoted = seen!(self.is_quoted(cx, within, from).or(|| Look::Is(false)));
        let reach = if quoted { Reach::Shown } else { Reach::Calls };
        match self.beyond(cx, within, from, reach) {
            // What closes the call may be that of one whose parameter was shown.
            Look::Is(Beyond::Own { at, calls, sure }) if calls || !self.shown.whole => {
                self.passes(at);
                // Or the value ended there, and somebody wrote the rest once more.
                self.torn |= !(quoted || sure);
                return Look::No;
            }
            Look::Is(_) => self.torn = true,
            Look::No => self.torn |= quoted,
            Look::More => return Look::More,
        }
        Look::Is(Ended::unclosed(end))
    }

    /// Another parameter follows at `hit`, and nothing closed the value. If its closing marker comes once more than that one needs,
    /// the value may show it.
    pub(super) fn ends_before_parameter(
        &mut self,
        cx: &Reader<'_>,
        within: &Within<'_>,
        key: Option<&Range<usize>>,
        hit: usize,
    ) -> Look<Ended> {
        // One that the tool does not have may be shown.
        let declares = |tool: &&Tool| key.is_some_and(|key| tool.declares(cx.part(key)));
        self.torn |= within.called.filter(|tool| !tool.parameters.is_empty()).is_some_and(|tool| !declares(&tool));
        self.torn |= told!(self.beyond(cx, within, hit, Reach::Call)).is_some();
        Look::Is(Ended::unclosed(hit))
    }

    /// A closing marker that ends at `end` closes a parameter that it shows, though what follows may follow the value: its own is yet
    /// to come.
    pub(super) fn is_shown_beyond(
        &mut self,
        cx: &Reader<'_>,
        within: &Within<'_>,
        end: usize,
        reach: Reach,
    ) -> Look<()> {
        self.beyond(cx, within, end, reach).then(Beyond::own).map(|at| self.passes(at))
    }

    /// Its closing marker, `own`, and what closes the call behind it stand between quotes, or in a fence, that the value has opened:
    /// it shows them, if it goes on to one more. If it does not, nobody knows how much of it is missing.
    pub(super) fn is_quoted_end(&mut self, cx: &Reader<'_>, within: &Within<'_>, own: Closer) -> Look<()> {
        let quotation = Quotation::at_end(cx.slice(self.start, own.at));
        if !quotation.is_open() {
            return Look::No;
        }
        let tail = cx.skip_markup_space(own.end);
        let end = seen!(self.behind_call(cx, within, tail));
        seen!(quotation.closes(cx, end));
        let own = self.beyond(cx, within, tail, Reach::Quoted).then(Beyond::own);
        // In a fence of the answer that one ends there, and no quotation.
        if own == Look::No && Quotation::at_end(cx.slice(0, self.start)).is_fence() {
            seen!(quotation.without_fence().closes(cx, end));
        }
        (self.marked, self.torn) = (true, self.torn || own == Look::No);
        own.map(|at| self.passes(at))
    }

    /// All up to `at`, where its closing marker stands, is its text.
    fn passes(&mut self, at: usize) {
        self.searched = at;
        self.shown = Shown::closed();
        self.same = Same::default();
    }

    /// What tells behind `from` that it goes on there.
    fn beyond(&self, cx: &Reader<'_>, within: &Within<'_>, from: usize, reach: Reach) -> Look<Beyond> {
        // What is no text shows nothing.
        if within.called.is_some_and(|tool| !tool.expected(self.key(cx)).allows(Expected::STRING)) {
            return Look::No;
        }
        let mut closed = match reach {
            Reach::Call => from,
            Reach::Calls | Reach::Shown | Reach::Quoted => seen!(self.behind_call(cx, within, from)),
        };
        let (mut open, mut in_call, mut calls) = (0_usize, false, false);
        let mut at = closed.max(from);
        let near = if matches!(reach, Reach::Shown | Reach::Quoted) { FAR } else { NEAR };
        let (near, far) = (from.saturating_add(near), from.saturating_add(FAR));
        let end = cx.text.len().min(if reach == Reach::Calls { far } else { near });
        while let Some(hit) = self.next_mark(cx, within, at, end) {
            // Behind calls that all lack theirs it would be looked for again and again.
            if hit >= near && calls {
                return Look::No;
            }
            at = hit + 1;
            match self.mark(cx, within, hit) {
                Look::Is(Mark::Closer(own)) if open == 0 => {
                    let followed = match Parameters::next(cx, within.row, within.tail, own.end, within.called) {
                        Next::More => return Look::More,
                        Next::Junk => continue,
                        Next::Parameter(next) => self.goes_before(cx, within, next.key.as_ref(), own.end),
                        _ => false,
                    };
                    // Where nothing but markers stands before it, it came too late, or twice; in a call it is that one's.
                    // A text shows what stands behind it; a mere word has its markers in the wrong order.
                    let alone = cx.slice(closed, own.at).trim_ascii().is_empty();
                    let text = || cx.slice(self.start, from).trim_ascii().contains(char::is_whitespace);
                    if in_call || alone && (calls || reach == Reach::Call || !(followed || text())) {
                        return Look::No;
                    }
                    let stands = match reach {
                        Reach::Call => Look::Is(()),
                        Reach::Calls | Reach::Shown | Reach::Quoted if followed => Look::Is(()),
                        Reach::Calls | Reach::Shown | Reach::Quoted => {
                            self.ends_answer(cx, within, own.end, reach == Reach::Calls)
                        }
                    };
                    return stands.map(|()| Beyond::Own { at: own.at, calls, sure: followed || alone });
                }
                Look::Is(Mark::Closer(own)) => (open, closed, at) = (open - 1, own.end, own.end),
                Look::Is(Mark::Opener) => open += 1,
                Look::Is(Mark::Call) => (in_call, calls) = (true, true),
                // One that lost its own closing marker as well.
                Look::Is(Mark::Tail) if open > 0 || reach == Reach::Call => return Look::No,
                Look::Is(Mark::Tail) => in_call = false,
                Look::More => return Look::More,
                Look::No => {}
            }
        }
        match end == cx.text.len() {
            true if end < near || reach == Reach::Calls && end < far && !calls => {
                if cx.eof {
                    Look::No
                } else {
                    Look::More
                }
            }
            _ if reach == Reach::Calls && !calls => Look::Is(Beyond::Text),
            _ => Look::No,
        }
    }

    /// All that closes the call and its section stands at `at`, and behind it nothing or another call: what closes a call in the
    /// middle of a text is spoken of. `whole`: the section's marker may have a suffix.
    fn ends_answer(&self, cx: &Reader<'_>, within: &Within<'_>, at: usize, whole: bool) -> Look<()> {
        let Within { row, tail, .. } = *within;
        let mut end = seen!(head::head(cx, cx.skip_space(at), tail)).end;
        if !row.sections.is_empty() {
            let next = cx.skip_space(end);
            let closes = row.section_closes().map(|close| match whole {
                true => head::head(cx, next, close).map(|close| close.end),
                false => cx.opens(next, close),
            });
            end = seen!(Look::first_of(closes));
        }
        let next = seen!(cx.behind_space(at, end));
        if next >= cx.text.len() {
            return Look::Is(());
        }
        Look::any_of(row.heads().chain(row.section_opens()).map(|open| cx.opens(next, open).unit()))
    }

    /// Where the next marker may stand between `at` and `end`.
    fn next_mark(&self, cx: &Reader<'_>, within: &Within<'_>, at: usize, end: usize) -> Option<usize> {
        let first = self.tag(within.parameter).bytes().next()?;
        find_near(first, cx.bytes().get(at..end)?).map(|i| at + i)
    }

    /// Its closing tag, less what stands before it in its marker.
    fn tag<'v>(&'v self, parameter: &'v Parameter) -> &'v str {
        self.closer.as_deref().unwrap_or_else(|| parameter.closing_tag())
    }

    fn mark(&self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<Mark> {
        let Within { row, parameter, tail, .. } = *within;
        let tag = self.tag(parameter);
        // What ends a section of text before its tag stands there too.
        let lead = self.closer(parameter).strip_suffix(tag).unwrap_or_default();
        let led = Look::when(cx.slice(self.start, hit).ends_with(lead));
        let closer = led.then(|()| cx.literal(hit, tag)).then(|end| parameter.behind_closer(cx, end));
        let call = |text: &str| row.marked_calls().any(|call| opener(&call.head) == Some(text));
        let like = |other: &&Parameter| other.closing_tag() == tag && !call(&other.opener);
        let opens = |other: &Parameter| cx.literal(hit, &other.opener).map(|_| Mark::Opener);
        closer
            .map(|end| Mark::Closer(Closer { at: hit - lead.len(), end }))
            .or(|| {
                if self.closes_by_key() {
                    return self.opens_same(cx, parameter, hit).map(|()| Mark::Opener);
                }
                Look::first_of(row.parameters.iter().filter(like).map(opens))
            })
            .or(|| match tail.iter().find_map(Element::literal) {
                Some(text) => cx.literal(hit, text).map(|_| Mark::Tail),
                None => Look::No,
            })
            .or(|| {
                let opens = |call: &CallTemplate| cx.opens(hit, &call.head).map(|_| Mark::Call);
                // Where any tag may be one, it is one of the same tool.
                match row.by_name() {
                    true => opens_own(cx, within, hit).map(|_| Mark::Call),
                    false => Look::first_of(row.marked_calls().map(opens)),
                }
            })
    }

    /// What ends the call at `at` stands in quotes: a quote is open before it in its line, and closes behind it in the same line.
    fn is_quoted(&self, cx: &Reader<'_>, within: &Within<'_>, at: usize) -> Look<bool> {
        let before = cx.slice(self.start, at).as_bytes();
        let line = || before.iter().rev().take(FAR).take_while(|byte| **byte != b'\n');
        let open = |quote: u8| line().filter(|byte| **byte == quote).count() % 2 == 1;
        // Mostly what ends a call begins its line.
        if line().next().is_none() {
            return Look::No;
        }
        let end = seen!(self.behind_call(cx, within, at));
        let rest = cx.near(end, QUOTED);
        let behind = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let closes =
            |quote: u8| open(quote) && (behind.first() == Some(&quote) || quote != b'\'' && behind.contains(&quote));
        if [b'"', b'\'', b'`'].into_iter().any(closes) {
            return Look::Is(true);
        }
        if behind.len() == rest.len() && cx.may_go_on(rest.len(), QUOTED) { Look::More } else { Look::No }
    }
}
