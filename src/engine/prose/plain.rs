//! Headers that lost their special tokens: `analysisI need the weather.assistantcommentary to=functions.get_weather
//! json{"city": "Paris"}`. Servers that hide special tokens leave of a header the words in it, glued to the text.
use super::channels::{MessageKind, opens_call, unglued};
use crate::char_class;
use crate::dialect::{Channels, RowId};
use crate::engine::head::{Head, LONGEST_NAME};
use crate::engine::look::{told, unless};
use crate::engine::reader::{blank, floor};
use crate::engine::trace::{Markup, Noted};
use crate::engine::{Engine, Look, Reader, Taken};
use std::ops::Range;

/// More bytes than this are no such header, with the white space behind it.
const LONGEST: usize = 512;

/// No word that begins a sentence is longer.
const LONGEST_WORD: usize = 64;

/// Headers without special tokens are expected: of which row, and how far the next has been looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plain {
    pub(super) row: RowId,
    searched: usize,
}

/// A header that was read: the channel's name, the recipient's, and where the message begins.
struct PlainHeader<'t> {
    channel: &'t str,
    name: Option<Range<usize>>,
    end: usize,
}

impl Engine {
    /// The answer begins with a channel's name, glued to what it says: `analysisWe need ...`, or with a whole header.
    pub(super) fn opening_channel(&mut self, cx: &Reader<'_>) -> Taken {
        for row in cx.dialects.channels.iter().copied() {
            let Some(channels) = Self::channels(cx, row).filter(|c| !c.role.is_empty()) else { continue };
            if !cx.dialects.auto {
                self.plain = Some(Plain { row, searched: 0 });
            }
            let begin = cx.skip_space(0);
            let start = told!(cx.literal(begin, &channels.role)).unwrap_or(begin);
            match plain_header(cx, channels, start) {
                Look::Is(found) if found.name.is_some() => return self.plain_message(cx, begin, row, &found),
                // A name alone is a word like any other, unless a sentence is glued to it.
                Look::Is(found) => {
                    if told!(sentence_begins(cx, found.end)).is_some() {
                        return self.plain_message(cx, begin, row, &found);
                    }
                }
                Look::More => return Taken::More,
                Look::No => {}
            }
        }
        Taken::No
    }

    /// Where the next header may begin, at or before `stop`, if headers without special tokens are expected.
    pub(super) fn plain_stop(&mut self, cx: &Reader<'_>, stop: usize) -> usize {
        let Some(plain) = &mut self.plain else { return stop };
        let role = Self::channels(cx, plain.row);
        let Some(role) = role.map(|c| c.role.as_bytes()) else { return stop };
        if plain.searched < self.at || !cx.bytes().get(plain.searched..).is_some_and(|t| t.starts_with(role)) {
            let from = plain.searched.max(self.at);
            let text = cx.bytes().get(from..).unwrap_or_default();
            let partial = || (1..role.len()).rev().find(|n| role.get(..*n).is_some_and(|r| text.ends_with(r)));
            plain.searched = match memchr::memmem::find(text, role) {
                Some(hit) => from + hit,
                None => cx.text.len() - partial().unwrap_or(0),
            };
        }
        plain.searched.min(stop)
    }

    /// The header at `at`, which is where [`Self::plain_stop`] stopped.
    pub(super) fn plain_look(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let Some(plain) = self.plain.filter(|p| p.searched == at) else { return Taken::No };
        let Some(channels) = Self::channels(cx, plain.row) else { return Taken::No };
        let header = cx.literal(at, &channels.role).then(|end| plain_header(cx, channels, end));
        let taken = header.take(|found| self.plain_message(cx, at, plain.row, &found));
        if taken == Taken::No
            && let Some(plain) = &mut self.plain
        {
            plain.searched = at + 1;
        }
        taken
    }

    /// The object at `at` stands behind such a header on a line of its own in the text: `assistant to=functions.f json`.
    pub(super) fn line_header(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if self.given.from >= at {
            return Taken::No;
        }
        // What else stands behind the brace is no place that is looked at in a whole text.
        match cx.bytes().get(at + 1) {
            None if !cx.eof => return Taken::More,
            Some(&byte) if char_class::begins_key(byte) || byte.is_ascii_whitespace() => {}
            _ => return Taken::No,
        }
        let Some((row, start)) = self.header_line(cx, self.given.from, at) else { return Taken::No };
        let Some(channels) = Self::channels(cx, row) else { return Taken::No };
        match plain_header(cx, channels, start + channels.role.len()) {
            Look::Is(found) if found.name.is_some() && found.end == at => {
                unless!(self.refuses(cx, start));
                self.plain_message(cx, start, row, &found)
            }
            _ => Taken::No,
        }
    }

    /// The last line with words in `from..to` is, or may become, a header without special tokens to a tool: of which row, and
    /// where it begins.
    pub(super) fn header_line(&self, cx: &Reader<'_>, from: usize, to: usize) -> Option<(RowId, usize)> {
        let elsewhere = self.inline.is_some() || self.fence.is_some() || self.section.is_some();
        if elsewhere || self.plain.is_some() || cx.tools.is_none() || self.drafts(cx) {
            return None;
        }
        let from = from.max(floor(cx.text, to.saturating_sub(LONGEST)));
        // A run of blanks that is waited for is not looked through with every chunk.
        if cx.skip_space(from) >= to {
            return None;
        }
        let text = cx.slice(from, to);
        let line = from + memchr::memrchr(b'\n', text.trim_ascii_end().as_bytes()).map_or(0, |i| i + 1);
        let line = line + cx.slice(line, to).len() - cx.slice(line, to).trim_start_matches(blank).len();
        let written = cx.bytes().get(line..to).unwrap_or_default();
        let begins = |row: &RowId| {
            let Some(channels) = Self::channels(cx, *row) else { return false };
            let (role, sign) = (channels.role.as_bytes(), channels.recipient.as_bytes());
            // Mostly the line begins with another letter.
            if written.first().is_none_or(|first| role.first() != Some(first)) {
                return false;
            }
            let (start, rest) = written.split_at(written.len().min(role.len()));
            // A blank stands between the two.
            let to = |rest: &[u8]| !sign.is_empty() && (rest.starts_with(sign) || sign.starts_with(rest));
            let addressed = rest.is_empty() || rest.strip_prefix(b" ").is_some_and(to);
            role.starts_with(start) && addressed
        };
        let row = cx.dialects.channels.iter().copied().find(begins).filter(|_| self.begins_line(cx, line))?;
        Some((row, line))
    }

    fn plain_message(&mut self, cx: &Reader<'_>, at: usize, row: RowId, found: &PlainHeader<'_>) -> Taken {
        let Some(channels) = Self::channels(cx, row) else { return Taken::No };
        if found.name.is_some() && self.out.takes_no_more(cx, at) {
            return Taken::No;
        }
        self.out.trace.note(at..found.end, Noted::Marker(Markup::Header));
        self.plain = Some(Plain { row, searched: found.end });
        if let Some(name) = found.name.clone() {
            let head = Head { name: Some(name), end: found.end, ..Head::default() };
            return self.call_message(cx, at, row, &head);
        }
        self.end_message(cx, at, found.end, row);
        let reasoning = channels.reasoning.iter().any(|c| c == found.channel);
        self.begin_message(row, if reasoning { MessageKind::Reasoning } else { MessageKind::Content }, true, true);
        Taken::Done
    }
}

/// The channel's name at `at`, and ` to=functions.f json` if an object follows that; or that alone.
fn plain_header<'t>(cx: &Reader<'_>, channels: &'t Channels, at: usize) -> Look<PlainHeader<'t>> {
    let mut more = false;
    match addressed(cx, channels, at) {
        // Without a channel only the prefix of tools and an offered name tell it from text, the name not if the dialect was named.
        Look::Is((name, end))
            if cx.slice(0, name.start).ends_with(&channels.to_tool())
                && (!cx.dialects.auto || cx.offered(cx.part(&name))) =>
        {
            return Look::Is(PlainHeader { channel: "", name: Some(name), end });
        }
        Look::More => more = true,
        _ => {}
    }
    for channel in channels.reasoning.iter().chain(&channels.content).filter(|c| !c.is_empty()) {
        let end = match cx.literal(at, channel) {
            Look::Is(end) => end,
            Look::More => {
                more = true;
                continue;
            }
            Look::No => continue,
        };
        return match addressed(cx, channels, end) {
            Look::Is((name, end)) => Look::Is(PlainHeader { channel, name: Some(name), end }),
            Look::More => Look::More,
            Look::No => Look::Is(PlainHeader { channel, name: None, end }),
        };
    }
    if more { Look::More } else { Look::No }
}

/// ` to=functions.f json` at `at`: the tool's name and where the object begins.
fn addressed(cx: &Reader<'_>, channels: &Channels, at: usize) -> Look<(Range<usize>, usize)> {
    if channels.recipient.is_empty() {
        return Look::No;
    }
    cx.literal(cx.skip_space(at), &channels.recipient).then(|name| recipient(cx, channels, name))
}

/// `functions.f json` with an object behind it, maybe on a line of its own: the tool's name and where the object begins.
fn recipient(cx: &Reader<'_>, channels: &Channels, at: usize) -> Look<(Range<usize>, usize)> {
    let near = cx.near(at, LONGEST_NAME);
    let Some(length) = near.iter().position(|b| matches!(b, b'{' | b'\n' | b'<')) else {
        return cx.ran_out(near.len(), LONGEST_NAME);
    };
    let object = match cx.behind_space(at, at + length) {
        Look::Is(object) if cx.bytes().get(object) == Some(&b'{') => object,
        Look::More => return Look::More,
        _ => return Look::No,
    };
    let mut words = cx.slice(at, at + length).split_whitespace();
    let Some(name) = words.next() else { return Look::No };
    // `functions.f` and `json` are parted by white space, if only by that which stood before a lost token. The channel may stand
    // between them, and tokens that say nothing, which come out as words of another script.
    let channel = |word: &&str| channels.content.iter().chain(&channels.reasoning).any(|channel| channel == word);
    let stray = |word: &&str| {
        let end = channels.formats.iter().find_map(|format| word.strip_suffix(format.as_str()));
        end.unwrap_or(word).chars().all(|c| !c.is_ascii() && c.is_alphabetic())
    };
    let mut kinds = words.filter(|word| !channel(word) && !stray(word));
    let known = kinds.next().is_none_or(|k| k.bytes().all(|b| b.is_ascii_alphabetic())) && kinds.next().is_none();
    match opens_call(cx, channels, name).filter(|_| known) {
        Some(skip) => {
            let written = name.get(skip..).unwrap_or_default();
            Look::Is((at + skip..at + skip + unglued(cx, channels, written).len(), object))
        }
        None => Look::No,
    }
}

/// A sentence begins at `at`: a capital letter, then words.
fn sentence_begins(cx: &Reader<'_>, at: usize) -> Look<()> {
    let rest = cx.rest(at);
    if !rest.starts_with(|c: char| c.is_uppercase()) && !rest.is_empty() {
        return Look::No;
    }
    let word = rest.len() - rest.trim_start_matches(|c: char| c.is_alphabetic() || c == '\'' || c == '’').len();
    let behind = cx.rest(at + word);
    let mut chars = behind.chars();
    match (chars.next(), chars.next()) {
        _ if word > LONGEST_WORD => Look::No,
        (None, _) | (Some(' '), None) if !cx.eof => Look::More,
        (Some(' '), Some(c)) if c.is_alphanumeric() || matches!(c, '"' | '\'' | '`' | '(') => Look::Is(()),
        _ => Look::No,
    }
}
