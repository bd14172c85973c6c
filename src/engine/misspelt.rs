//! Closing tags that are misspelt: `</params>`, `</parameter` or `<parameter>` for `</parameter>`. What stands there
//! only looks like one; whether it is one, what follows it must tell.
use super::{Look, Reader};
use crate::char_class;
use crate::dialect::{Element, Row};
use crate::engine::look::seen;
use smallvec::SmallVec;
use std::ops::Range;

/// No misspelt tag, and no white space behind one, is longer.
pub(super) const LONGEST_TAG: usize = 64;

/// A tag that looks like a closing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag<'t> {
    /// Its name, as it is written.
    pub(super) name: &'t str,
    pub(super) end: usize,
    /// It has its `/`, and its `>`.
    pub(super) slashed: bool,
    pub(super) whole: bool,
}

/// A closing tag that was meant as `closer` stands at `at`: its name is like that one's or is `also` one for it, and no
/// section of `row` closes with it. `No` where `closer` itself stands there, or is no closing tag.
pub(super) fn closing<'t>(
    cx: &Reader<'t>,
    row: &Row,
    at: usize,
    closer: &str,
    also: impl Fn(&str) -> bool,
) -> Look<Tag<'t>> {
    let Some(meant) = closer.strip_prefix("</").map(|meant| meant.trim_end_matches('>')) else {
        // Its tag is its last part (`]]></param>`).
        return match closer.find("</").and_then(|lead| closer.split_at_checked(lead)) {
            Some((lead, closer)) => cx.literal(at, lead).then(|at| closing(cx, row, at, closer, also)),
            None => spaced(cx, at, closer),
        };
    };
    let tag = seen!(tag(cx, at));
    // What a checkpoint hangs on all its tags (`</arg_value:6124c78e>`).
    let suffix = || tag.name.strip_prefix(meant).filter(|_| !closer.ends_with('>'));
    let named = tag.name == meant || suffix().is_some_and(|suffix| suffix.starts_with(':'));
    let own = cx.rest(at).starts_with(closer) && (closer.ends_with('>') || named && tag.whole);
    // Without its slash it is like the opening tag of something else.
    let like = named || tag.slashed && (also(tag.name) || is_like(tag.name, meant) && !is_other(row, tag.name, meant));
    let section = || {
        let closes = |close: &&Element| matches!(close, Element::Literal(text) if cx.rest(at).starts_with(&**text));
        row.section_closes().any(|close| close.first().filter(closes).is_some())
    };
    if own || !like || section() { Look::No } else { Look::Is(tag) }
}

/// `closer`, a marker of several tokens, stands at `at` with white space between them, or with the first one twice. It has
/// no name.
fn spaced<'t>(cx: &Reader<'t>, at: usize, closer: &str) -> Look<Tag<'t>> {
    let Some((first, _)) = closer.find("|>").and_then(|first| closer.split_at_checked(first + 2)) else {
        return Look::No;
    };
    if first.len() == closer.len() || cx.rest(at).starts_with(closer) {
        return Look::No;
    }
    let once = cx.literal(at, first).then(|end| behind(cx, end)).then(|next| cx.literal(next, closer));
    if let Look::Is(_) | Look::More = once {
        return once.map(|end| Tag { name: "", end, slashed: true, whole: true });
    }
    let mut end = at;
    for byte in closer.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        end = cx.skip_space(end);
        match cx.bytes().get(end) {
            Some(here) if *here == byte => end += 1,
            None if cx.may_go_on(end - at, LONGEST_TAG) => return Look::More,
            _ => return Look::No,
        }
    }
    if end - at < LONGEST_TAG { Look::Is(Tag { name: "", end, slashed: true, whole: true }) } else { Look::No }
}

/// What stands behind the tag, white space aside: where that begins. `No` if it is too far off.
pub(super) fn behind(cx: &Reader<'_>, end: usize) -> Look<usize> {
    let next = cx.skip_space(end);
    if next - end > LONGEST_TAG {
        Look::No
    } else if next >= cx.text.len() && !cx.eof {
        Look::More
    } else {
        Look::Is(next)
    }
}

/// `</name>`, with white space, attributes or a value before its `>`, with a backslash before its slash, or without one of
/// the two signs.
fn tag<'t>(cx: &Reader<'t>, at: usize) -> Look<Tag<'t>> {
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let rest = rest.get(..rest.len().min(LONGEST_TAG)).unwrap_or_default();
    let cut = || cx.ran_out(rest.len(), LONGEST_TAG);
    if rest.first() != Some(&b'<') {
        return Look::No;
    }
    let sign = |from: usize, signs: &[u8]| {
        from + rest.iter().skip(from).take(2).take_while(|byte| signs.contains(byte)).count()
    };
    let slash = sign(sign(1, b" "), b"\\/");
    let slashed = rest.get(1..slash).is_some_and(|signs| signs.contains(&b'/'));
    let start = sign(slash, b" ");
    let name_length = |from: usize| char_class::TAG.length(rest.get(from..).unwrap_or_default());
    let mut end = start + name_length(start);
    // A prefix may be parted from the name.
    if rest.get(end) == Some(&b' ') && cx.slice(at + start, at + end).ends_with(['|', '｜']) {
        end += 1 + name_length(end + 1);
    }
    let name = cx.slice(at + start, at + end);
    if end >= rest.len() && !cx.eof {
        return cut();
    }
    if name.is_empty() {
        return Look::No;
    }
    let mut blank = rest.iter().skip(end).take_while(|byte| **byte == b' ').count();
    // A slash at the other end as well, or only there.
    blank += usize::from(rest.get(end + blank) == Some(&b'/'));
    let found = |end: usize, whole: bool| Look::Is(Tag { name, end: at + end, slashed, whole });
    match rest.get(end + blank) {
        Some(b'>') => found(end + blank + 1, true),
        // Without its sign, something else begins there, or the line ends.
        Some(b'<' | b'\n' | b'\r') if slashed => found(end + blank, false),
        None if cx.eof && slashed => found(end + blank, false),
        None => cut(),
        // What an opening tag would have there.
        Some(byte) if slashed && (blank > 0 || *byte == b'=') => {
            end += blank;
            let stop = rest.iter().skip(end).position(|byte| matches!(byte, b'>' | b'<' | b'\n'));
            match stop.map(|i| (end + i, rest.get(end + i))) {
                Some((stop, Some(b'>'))) => found(stop + 1, true),
                Some(_) => Look::No,
                None => cut(),
            }
        }
        Some(_) => Look::No,
    }
}

/// The closing tag at `at`, whatever it closes, if it is whole; so is a token that says of something that it ends, and a fence.
pub(super) fn stray(cx: &Reader<'_>, at: usize) -> Look<Range<usize>> {
    let near = cx.near(at, LONGEST_TAG);
    match near {
        [b'`', ..] => {
            let ticks = near.iter().take_while(|byte| **byte == b'`').count();
            let cut = ticks == near.len() && cx.may_go_on(ticks, LONGEST_TAG);
            if cut {
                Look::More
            } else if ticks == 3 {
                Look::Is(at..at + ticks)
            } else {
                Look::No
            }
        }
        [b'<', b'|', ..] => match memchr::memchr(b'>', near) {
            Some(end) if near.get(..=end).is_some_and(|token| token.ends_with(b"end|>")) => Look::Is(at..at + end + 1),
            None if cx.may_go_on(near.len(), LONGEST_TAG) => Look::More,
            _ => Look::No,
        },
        _ => match tag(cx, at) {
            Look::Is(tag) if tag.slashed && tag.whole => Look::Is(at..tag.end),
            Look::More => Look::More,
            _ => Look::No,
        },
    }
}

/// A tag that opens something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opening<'t> {
    pub(super) name: &'t str,
    pub(super) at: usize,
}

/// The opening tag at `at`, whole and in one line.
pub(super) fn opening<'t>(cx: &Reader<'t>, at: usize) -> Look<Opening<'t>> {
    let rest = cx.near(at, 2 * LONGEST_TAG);
    if rest.first() != Some(&b'<') || rest.get(1) == Some(&b'/') {
        return Look::No;
    }
    match rest.iter().skip(1).position(|byte| matches!(byte, b'>' | b'<' | b'\n')) {
        Some(length) if rest.get(length + 1) == Some(&b'>') => {
            let name = name(cx.slice(at, at + length + 1));
            if name.is_empty() { Look::No } else { Look::Is(Opening { name, at }) }
        }
        None if cx.may_go_on(rest.len(), 2 * LONGEST_TAG) => Look::More,
        _ => Look::No,
    }
}

/// The name in an opening tag, or in the first bytes of one.
pub(super) fn name(tag: &str) -> &str {
    let tag = tag.strip_prefix('<').unwrap_or(tag);
    let in_name = |c: char| char_class::TAG.has(c) || c == '｜';
    tag.split(|c| !in_name(c)).next().unwrap_or_default()
}

/// As [`is_like`], of a name that only what stands round it lets be taken for a slip: one letter in a short one as well.
pub(super) fn is_slip(name: &str, meant: &str) -> bool {
    // Measuring is dear: a slip changes the length by a letter, and leaves one of the ends.
    let near = || {
        let ends = name.chars().next() == meant.chars().next() || name.chars().next_back() == meant.chars().next_back();
        ends && name.len().abs_diff(meant.len()) <= 4
    };
    is_like(name, meant)
        || (name.len().min(meant.len()) >= 3
            && name.len().max(meant.len()) <= 40
            && near()
            && strsim::osa_distance(name, meant) <= 1)
}

/// All that the `name` of a tag has of the one that was `meant` is what a checkpoint hangs on all tags of the `row`
/// (`</arg_key:x>` for `</tool_call:x>`): it is another one.
fn is_other(row: &Row, name: &str, meant: &str) -> bool {
    let Some((before, suffix)) = meant.rsplit_once(':') else { return false };
    let own = match name.rsplit_once(':') {
        Some((own, last)) if last == suffix => own,
        None if name == suffix => "",
        _ => return false,
    };
    let inside = row.parameters.iter().flat_map(|p| p.head.iter().filter_map(Element::text).chain([&*p.closer]));
    let mut tags = inside.flat_map(|text| text.split('<').skip(1)).map(|tag| self::name(tag.trim_start_matches('/')));
    let hangs = tags.any(|tag| tag.rsplit_once(':').is_some_and(|(other, last)| last == suffix && other != before));
    hangs && !is_like(own, before)
}

/// A name of a tag may be a slip for the one that was `meant`.
pub(super) fn is_like(name: &str, meant: &str) -> bool {
    // The most a name of a tag has, so that measuring is cheap.
    if name.len() > 40 || meant.len() > 40 {
        return false;
    }
    // One end at least is right, unless there may be several slips; in a plural, the letter before it.
    let last = letters(name).next_back();
    let ends = last == letters(meant).next_back() || last == Some(b's');
    if meant.len() < 10 && !ends && letters(name).next() != letters(meant).next() {
        return false;
    }
    let plain = |text| -> SmallVec<[u8; 64]> { letters(text).collect() };
    let (name, meant) = (plain(name), plain(meant));
    if name == meant {
        return true;
    }
    let singular = name.strip_suffix(b"s").unwrap_or(&name);
    let part = |short: &[u8], long: &[u8]| short.len() >= 4 && (long.starts_with(short) || long.ends_with(short));
    // Measuring is dear. A difference in length is a slip a letter, and one slip leaves one of the ends.
    let most = meant.len() / 5;
    let far = name.len().abs_diff(meant.len()) > most
        || (most < 2 && name.first() != meant.first() && name.last() != meant.last());
    let text = |name| std::str::from_utf8(name).unwrap_or_default();
    part(singular, &meant) || part(&meant, &name) || (!far && strsim::osa_distance(text(&name), text(&meant)) <= most)
}

/// The letters and digits of a tag's name without its prefix, in small letters.
fn letters(name: &str) -> impl DoubleEndedIterator<Item = u8> {
    // Mostly it is ASCII's, whose bytes are compared at once.
    let last = if name.is_ascii() {
        name.bytes().rposition(|byte| matches!(byte, b'|' | b':'))
    } else {
        name.rfind(['|', ':', '｜'])
    };
    let name = name.get(last.unwrap_or(0)..).unwrap_or(name);
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
}

#[cfg(test)]
#[path = "../../tests/units/misspelt.rs"]
mod tests;
