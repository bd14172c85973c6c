//! The text as every step of the engine sees it, and what was found out about it already.
use super::Look;
use super::found::Piece;
use super::look::told;
use super::memo::{Margin, Memo, Sought, Without};
use super::options::Policy;
use super::output::Output;
use crate::bytes::{self, begins};
use crate::char_class::CharClass;
use crate::dialect::{Dialects, Element, MarkersAt, opener};
use crate::schema::{Tool, ToolSet};
use crate::turn::{Ids, TextHash};
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

/// So many special tokens are taken from the end of a text.
const MOST_TOKENS: usize = 8;

/// So many blanks may stand behind a tag where something follows it.
const FEW_BLANKS: usize = 64;

/// What every step of the engine sees: all text so far, and what it is read by.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'t> {
    pub(crate) text: &'t str,
    /// The text is not the input, but was made of a part of it by repair.
    pub(crate) made: bool,
    /// No more text will come.
    pub(crate) eof: bool,
    pub(crate) dialects: &'t Dialects,
    pub(crate) tools: Option<&'t ToolSet>,
    pub(crate) policy: &'t Policy,
    pub(crate) memo: &'t Memo,
}

impl<'t> Reader<'t> {
    pub(crate) fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// The text from `at` on; empty if that is no place in it.
    pub(crate) fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or("")
    }

    /// The bytes from `at` on, and no more than `limit` of them.
    pub(crate) fn near(&self, at: usize, limit: usize) -> &'t [u8] {
        let rest = self.bytes().get(at..).unwrap_or_default();
        rest.get(..limit).unwrap_or(rest)
    }

    /// The text between two places; empty if they are none.
    #[inline]
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or("")
    }

    /// As if the text ended at `end`. What was found out about all of it is known to this as well, so it must not look for a closer or
    /// for the end of a fence: it would note that none comes.
    pub(crate) fn up_to(&self, end: usize) -> Self {
        Self { text: self.slice(0, end), eof: true, ..*self }
    }

    /// As [`Self::up_to`], with what was found out about that text alone.
    pub(crate) fn up_to_with<'m>(&self, end: usize, memo: &'m Memo) -> Reader<'m>
    where
        't: 'm,
    {
        Reader { memo, ..self.up_to(end) }
    }

    /// Of `text` that was made by repair.
    pub(crate) fn of_made<'m>(&self, text: &'m str, memo: &'m Memo) -> Reader<'m>
    where
        't: 'm,
    {
        Reader { text, eof: true, made: true, memo, ..*self }
    }

    /// The hash of the text before `at`, where ids are derived from it.
    pub(super) fn hash_before(&self, at: usize) -> Option<TextHash> {
        if self.policy.ids == Ids::Random {
            return None;
        }
        let (known, hash) = self.memo.hashed.get();
        let (known, hash) = if known <= at { (known, hash) } else { (0, TextHash::default()) };
        let hash = hash.then(self.slice(known, at).as_bytes());
        self.memo.hashed.set((at, hash));
        Some(hash)
    }

    /// As if no more text came.
    pub(crate) fn whole(&self) -> Self {
        Self { eof: true, ..*self }
    }

    /// As if more text came.
    pub(crate) fn unfinished(&self) -> Self {
        Self { eof: false, ..*self }
    }

    /// The text before `at`, and no more than `limit` bytes of it.
    pub(crate) fn before(&self, at: usize, limit: usize) -> &'t str {
        self.slice(floor(self.text, at.saturating_sub(limit)), at)
    }

    /// The text from `at` on, and no more than `limit` bytes of it.
    pub(crate) fn ahead(&self, at: usize, limit: usize) -> &'t str {
        self.slice(at, floor(self.text, at + limit))
    }

    /// Where the first character behind `at` begins.
    #[inline]
    pub(crate) fn next_char(&self, at: usize) -> usize {
        let mut next = at + 1;
        while next < self.text.len() && !self.text.is_char_boundary(next) {
            next += 1;
        }
        next
    }

    /// What a look says that has seen so many bytes of the `limit` it may see, and in them no end of what it looks at.
    pub(crate) fn ran_out<T>(&self, seen: usize, limit: usize) -> Look<T> {
        if self.may_go_on(seen, limit) { Look::More } else { Look::No }
    }

    /// A look that has seen so many bytes of the `limit` it may see will see more when the text goes on.
    pub(crate) fn may_go_on(&self, seen: usize, limit: usize) -> bool {
        seen < limit && !self.eof
    }

    /// What a look found at the end of the text, if no more text comes.
    pub(crate) fn over<T>(&self, found: T) -> Look<T> {
        if self.eof { Look::Is(found) } else { Look::More }
    }

    /// `literal` stands at `at`: where it ends.
    #[inline]
    pub(crate) fn literal(&self, at: usize, literal: &str) -> Look<usize> {
        let rest = self.bytes().get(at..).unwrap_or_default();
        let want = literal.as_bytes();
        if begins(rest, want) {
            return Look::Is(at + want.len());
        }
        // Mostly there is text enough to see it.
        if rest.len() >= want.len() { Look::No } else { self.may_begin(rest, want) }
    }

    /// The `rest` of the text is shorter than the literal that is to stand there, `want`, and may be its beginning.
    #[inline(never)]
    fn may_begin(&self, rest: &[u8], want: &[u8]) -> Look<usize> {
        if self.eof || !want.starts_with(rest) {
            return Look::No;
        }
        let to_come = want.get(rest.len()..).unwrap_or_default();
        self.awaits(to_come);
        Look::More
    }

    /// The literal that `elements` begin with, if they begin with one, stands at `at`: where it ends.
    pub(crate) fn opens(&self, at: usize, elements: &[Element]) -> Look<usize> {
        opener(elements).map_or(Look::No, |opener| self.literal(at, opener))
    }

    /// The text ends in a literal of which this `rest` is to come.
    pub(super) fn awaits(&self, rest: &[u8]) {
        self.memo.awaited.set(self.memo.awaited.get().and(self.text.len(), rest));
    }

    /// What stands at `range`.
    pub(crate) fn part(&self, range: &Range<usize>) -> &'t str {
        self.slice(range.start, range.end)
    }

    /// `part` as a piece: a range of the input if it points into it.
    pub(crate) fn piece(&self, part: &str) -> Piece {
        let start = part.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        match start.checked_add(part.len()) {
            Some(end) if end <= self.text.len() && !self.made => Piece::Span(start..end),
            _ => Piece::Made(part.to_owned()),
        }
    }

    /// As [`Self::piece`], of what may have been made.
    pub(super) fn piece_of(&self, part: Cow<'_, str>) -> Piece {
        match part {
            Cow::Borrowed(part) => self.piece(part),
            Cow::Owned(made) => Piece::Made(made),
        }
    }

    /// As [`Self::skip_space`], but a line break that the model wrote as `\\n` is white space as well, and so are the letters
    /// that tokenizers write it and a blank as, and blanks that are not ASCII's, if there are few.
    #[inline]
    pub(crate) fn skip_markup_space(&self, at: usize) -> usize {
        let text = |at: usize| self.bytes().get(at).is_some_and(|b| b.is_ascii_graphic() && *b != b'\\');
        match self.bytes().get(at) {
            _ if text(at) => at,
            // Mostly a line ends there, or a word, and that is all.
            Some(b'\n' | b' ') if text(at + 1) => at + 1,
            _ => self.skip_some_markup_space(at),
        }
    }

    /// White space that ends at `end` may go on: the text does, or it ends in half a line break written as `\\n`.
    #[inline]
    pub(crate) fn ends_in_space(&self, end: usize) -> bool {
        !self.eof && matches!(self.bytes().get(end..), None | Some([] | [b'\\']))
    }

    fn skip_some_markup_space(&self, at: usize) -> usize {
        let mut at = self.skip_blanks(at);
        let written =
            |rest: &str| WRITTEN_SPACE.iter().find(|space| rest.starts_with(**space)).map(|space| space.len());
        while let Some(length) = written(self.rest(at)) {
            at = self.skip_blanks(at + length);
        }
        at
    }

    /// As [`Self::skip_space`], but blanks that are not ASCII's are white space as well, if there are few.
    pub(crate) fn skip_blanks(&self, at: usize) -> usize {
        let mut at = self.skip_space(at);
        for _ in 0..16 {
            let wide = self.bytes().get(at).is_some_and(|byte| *byte >= 0x80);
            let first = if wide { self.rest(at).chars().next() } else { None };
            let Some(first) = first.filter(|c| blank(*c) && *c != BREAK) else { break };
            at = self.skip_space(at + first.len_utf8());
        }
        at
    }

    /// Where `closer` stands first at or after `from`, if it does.
    pub(crate) fn find_closer(&self, closer: &str, from: usize) -> Option<usize> {
        self.find(&self.memo.closer, closer, from, |rest| bytes::find(rest, closer.as_bytes()))
    }

    /// The first line at or after `from` that begins with `fence`, if there is one.
    pub(crate) fn find_fence(&self, fence: &'static str, from: usize) -> Option<usize> {
        self.find(&self.memo.fence, fence, from, |rest| {
            memchr::memmem::find_iter(rest, fence.as_bytes()).find(|at| self.at_line_start(from + at))
        })
    }

    /// The first byte at or after `from` that no name holds, as `search` finds it in the rest of the text, or the end of that.
    pub(super) fn name_stop(&self, from: usize, search: impl FnOnce(&[u8]) -> Option<usize>) -> usize {
        let mut nameless = self.memo.nameless.get();
        let found = nameless.find(self.bytes(), from, search);
        self.memo.nameless.set(nameless);
        found.unwrap_or(self.text.len())
    }

    /// How far a `name` that begins at `from` goes, up to `to` at most: several templates ask for it, and of labels in a row, each
    /// would look at those behind it.
    pub(super) fn name_end(&self, name: &Cell<Without>, from: usize, to: usize, class: &CharClass) -> usize {
        let known = name.get();
        let since = known.known(from).unwrap_or(from);
        let Some(rest) = self.bytes().get(since..to).filter(|rest| !rest.is_empty()) else { return to.max(from) };
        let end = since + class.length(rest);
        name.set(known.and(from, end));
        end
    }

    /// The first place at or after `from` where `what` stands, as `search` finds it in the rest of the text.
    fn find(
        &self,
        memo: &Cell<(Sought, Without)>,
        what: &str,
        from: usize,
        search: impl FnOnce(&[u8]) -> Option<usize>,
    ) -> Option<usize> {
        let sought = (what.as_ptr().addr(), what.len());
        let (known, without) = memo.get();
        let mut without = if known == sought { without } else { Without::default() };
        let found = without.find(self.bytes(), from, search);
        memo.set((sought, without));
        found
    }

    /// The first place at or after `at` without white space.
    #[inline]
    pub(crate) fn skip_space(&self, at: usize) -> usize {
        match self.bytes().get(at) {
            Some(byte) if *byte > b' ' => at,
            _ => self.skip_some_space(at),
        }
    }

    /// Where the white space at `at` ends, if markup that begins at `since` may reach so far.
    pub(super) fn behind_space(&self, since: usize, at: usize) -> Look<usize> {
        let next = self.skip_space(at);
        if next - since > self.policy.max_markup_bytes {
            return Look::No;
        }
        if next >= self.text.len() && !self.eof { Look::More } else { Look::Is(next) }
    }

    fn skip_some_space(&self, at: usize) -> usize {
        // Mostly it is a byte or two.
        for next in at..at + 8 {
            if !self.bytes().get(next).is_some_and(u8::is_ascii_whitespace) {
                return next;
            }
        }
        self.skip_long_space(at)
    }

    #[cold]
    fn skip_long_space(&self, at: usize) -> usize {
        let known = self.memo.blank.get();
        let from = known.known(at).unwrap_or(at);
        let rest = self.bytes().get(from..).unwrap_or_default();
        let next = from + rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
        if next - at > 64 {
            self.memo.blank.set(known.and(at, next));
        }
        next
    }

    /// Only what is blank stands between the last line break (or the start of the text) and `at`.
    #[inline]
    pub(crate) fn at_line_start(&self, at: usize) -> bool {
        begins_line(self.text, at).unwrap_or_else(|| self.begins_line_far(at))
    }

    #[cold]
    fn begins_line_far(&self, at: usize) -> bool {
        let known = self.memo.margin.get();
        let mut margin = Margin { start: at, end: at, line: true };
        for c in self.slice(0, at).chars().rev() {
            if (known.start..=known.end).contains(&margin.start) {
                margin = Margin { end: at, ..known };
                break;
            }
            if c == '\n' || !blank(c) {
                margin.line = c == '\n';
                break;
            }
            margin.start -= c.len_utf8();
        }
        if at >= known.end {
            self.memo.margin.set(margin);
        }
        margin.line
    }

    /// A marker stands at `at`, of whatever dialect.
    pub(crate) fn marker_at(&self, at: usize) -> Look<()> {
        match self.dialects.markers.at(self.bytes(), at) {
            MarkersAt::Partial(_) if !self.eof => Look::More,
            found => Look::when(matches!(found, MarkersAt::Some { .. })),
        }
    }

    /// A special token that is no content begins at `at`: where it ends.
    pub(crate) fn special_token(&self, at: usize) -> Look<usize> {
        let markers = &self.dialects.markers;
        match markers.at(self.bytes(), at) {
            MarkersAt::Some { ends, count, .. } => {
                let token =
                    ends[..count].iter().rev().find(|(_, list)| markers.list(*list).iter().any(|m| m.is_token()));
                token.map_or(Look::No, |(length, _)| Look::Is(at + length))
            }
            MarkersAt::Partial(_) if !self.eof => Look::More,
            MarkersAt::Partial(_) | MarkersAt::Nothing => Look::No,
        }
    }

    /// The first place at or after `at` without white space, and no token with which the model stopped.
    pub(crate) fn skip_tokens(&self, at: usize) -> Look<usize> {
        let mut at = self.skip_space(at);
        for _ in 0..MOST_TOKENS {
            let Some(end) = told!(self.special_token(at)) else { break };
            at = self.skip_space(end);
        }
        Look::Is(at)
    }

    /// `range` without the special tokens at its end, where the model stopped. What the text itself opens is a tag: `<s>a</s>`.
    pub(crate) fn without_tokens(&self, range: Range<usize>) -> Range<usize> {
        let mut end = range.end;
        for _ in 0..MOST_TOKENS {
            let Some((text, token)) = self.part(&(range.start..end)).trim_end().rsplit_once('<') else { break };
            let at = range.start + text.len();
            let tag = token.strip_prefix('/').is_some_and(|name| text.contains(&format!("<{name}")));
            if tag || self.special_token(at) != Look::Is(at + 1 + token.len()) {
                break;
            }
            end = at;
        }
        range.start..end
    }

    /// A tag, or a few blanks behind one, stand before `at` in its line.
    pub(crate) fn follows_tag(&self, at: usize) -> bool {
        let before = self.bytes().get(at.saturating_sub(FEW_BLANKS)..at).unwrap_or_default();
        before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'>')
    }

    /// Only what is blank stands before `at`.
    pub(crate) fn first_in_text(&self, at: usize) -> bool {
        let known = self.memo.leading.get();
        let more = self.slice(known, at).chars().take_while(|c| blank(*c)).map(char::len_utf8).sum::<usize>();
        self.memo.leading.set(known + more);
        known + more >= at
    }

    /// The offered tool that `name` means.
    pub(crate) fn tool(&self, name: &str) -> Option<&'t Tool> {
        let tools = self.tools?;
        tools.tools().get(self.find_tool(tools, name)?)
    }

    fn find_tool(&self, tools: &ToolSet, name: &str) -> Option<usize> {
        let find = || tools.find(name, self.policy.names).map(|(position, _)| position);
        let sought = (name.as_ptr().addr(), name.len());
        // Only a name in the text is remembered by its address: at that of one that was made, another may stand later.
        let in_text =
            sought.0.checked_sub(self.text.as_ptr().addr()).is_some_and(|at| at + name.len() <= self.text.len());
        if !in_text || name.is_empty() {
            return find();
        }
        let (known, found) = self.memo.named.get();
        if known == sought {
            return found;
        }
        let found = find();
        self.memo.named.set((sought, found));
        found
    }

    /// The tool at a position that was found before.
    pub(crate) fn tool_at(&self, position: Option<u32>) -> Option<&'t Tool> {
        self.tools?.tools().get(usize::try_from(position?).ok()?)
    }

    /// The tool that the call at `index` means.
    pub(crate) fn called(&self, out: &Output, index: usize) -> Option<&'t Tool> {
        self.tool_at(out.calls.get(index)?.tool)
    }

    /// The name at `place` means an offered tool, or there is nothing to tell.
    pub(crate) fn vouches(&self, place: Range<usize>) -> bool {
        self.tools.is_none() || self.offered(self.part(&place))
    }

    /// Tools were offered and `name` means one of them.
    pub(crate) fn offered(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }
}

/// What a look at so many bytes before a place says of it.
const NEAR: usize = 16;

/// Whether only what is blank stands between the last line break (or the start of the text) and `at`, if the bytes right before
/// it tell.
#[inline]
pub(super) fn begins_line(text: &str, at: usize) -> Option<bool> {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    match before.iter().rev().take(NEAR).find(|b| !matches!(b, b' ' | b'\t' | b'\r')) {
        Some(b'\n') => Some(true),
        // Mostly a letter.
        Some(byte) if byte.is_ascii_graphic() => Some(false),
        None if at <= NEAR => Some(true),
        _ => None,
    }
}

/// What stands for white space in markup that nobody decoded.
const WRITTEN_SPACE: [&str; 3] = ["\\n", "Ċ", "Ġ"];

/// What `harden` puts into markers so that they are none: it must not be skipped in them.
pub(super) const BREAK: char = '\u{200b}';

/// The same in a string's escape, whose backslash was taken for one of Markdown's.
const ESCAPED_BREAK: &str = "u200b";

/// Returns whether the name holds the break that `harden` puts into names, as a character or as its escape.
pub(super) fn is_broken_up(name: &str) -> bool {
    // A cheap test first: both spellings need one of these bytes.
    name.bytes().any(|byte| byte == b'2' || !byte.is_ascii()) && (name.contains(BREAK) || name.contains(ESCAPED_BREAK))
}

/// White space, or a character that has no width: the byte order mark, and those that join words or part them.
pub(super) fn blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

/// A blank that no code has: before a line it is not seen.
pub(super) fn invisible(c: char) -> bool {
    !c.is_ascii() && blank(c)
}

/// The boundary of a character at or before `at`.
pub(crate) fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// How many bytes at the end of `text` are the beginning of `marker`, and not all of it.
pub(crate) fn begun(text: &str, marker: &str) -> usize {
    let ends = |length: &usize| marker.get(..*length).is_some_and(|begun| text.ends_with(begun));
    (1..marker.len()).rev().find(ends).unwrap_or(0)
}
