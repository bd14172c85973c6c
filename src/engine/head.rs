//! What stands before the body of a call: the opener, the name, an id, attributes.
use super::body::values::decode_entities;
use super::reader::{BREAK, blank, floor};
use super::{Look, Reader};
use crate::bytes::find_near;
use crate::char_class;
use crate::dialect::{Element, Slot, opener};
use crate::engine::look::seen;
use crate::schema::Tool;
use crate::turn::{Repair, RepairCode};
use std::borrow::Cow;
use std::ops::Range;

mod attributes;

use attributes::attributes;

/// What is recorded of an attribute whose value begins or ends with too few quotes, or too many.
pub(super) const MISQUOTED: &str = "a quote of an attribute is missing or stands twice";

/// What is recorded of a tag whose end is missing.
pub(super) const UNCLOSED: &str = "the end of a tag is missing";

/// The holes of a head, filled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) name: Option<Range<usize>>,
    pub(crate) id: Option<Range<usize>>,
    pub(crate) key: Option<Range<usize>>,
    pub(crate) kind: Option<Range<usize>>,
    /// Where the body begins, or if there is none, where the call ends.
    pub(crate) end: usize,
    /// An attribute that the template does not have, and all that stand behind it.
    pub(crate) stray: Option<Range<usize>>,
    /// The head closed itself (`<invoke name="f"/>`): there is no body.
    pub(crate) closed: bool,
    /// One of its literals stood there twice.
    pub(crate) twice: bool,
    /// What opens the call is missing before it.
    pub(crate) unopened: bool,
    /// Its name stood in quotes that the template does not have.
    pub(crate) quoted: bool,
    /// A quote of an attribute is missing or stands twice.
    pub(crate) misquoted: bool,
    /// What ends its tag is missing behind the attributes.
    pub(crate) unclosed: bool,
}

impl Head {
    fn set(&mut self, slot: Slot, range: Range<usize>) {
        match slot {
            Slot::Name => self.name = Some(range),
            Slot::Id => self.id = Some(range),
            Slot::Key => self.key = Some(range),
            Slot::Type => self.kind = Some(range),
            Slot::Value | Slot::Ignored | Slot::Number => {}
        }
    }

    /// The name, if the head holds one: written as such, or inside an id (`functions.NAME:3`).
    pub(crate) fn name<'t>(&self, cx: &Reader<'t>) -> Option<Cow<'t, str>> {
        if let Some(name) = &self.name {
            return Some(decode_entities(cx.text.get(name.clone())?));
        }
        let id = cx.text.get(self.id.clone()?)?;
        let name = match id.rsplit_once(':') {
            Some((name, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => name,
            // Without its number it is no id of this kind; an offered name vouches for it all the same.
            _ => respelt(cx, id)?,
        };
        let name = cx.dialects.without_namespace(name, ['.']).unwrap_or(name);
        let strange = |c: char| c.is_whitespace() || c == ':';
        if name.is_empty() || name.starts_with(strange) { None } else { Some(Cow::Borrowed(name)) }
    }

    /// The offered tool that its name means.
    pub(crate) fn tool<'t>(&self, cx: &Reader<'t>) -> Option<&'t Tool> {
        self.name(cx).and_then(|name| cx.tool(&name))
    }

    /// Its name means an offered tool.
    pub(crate) fn is_offered(&self, cx: &Reader<'_>) -> bool {
        self.tool(cx).is_some()
    }

    /// As [`Self::is_offered`], where the name stands in it as such, and is no part of an id.
    pub(crate) fn names_offered(&self, cx: &Reader<'_>) -> bool {
        self.name.as_ref().is_some_and(|name| cx.offered(cx.part(name)))
    }

    /// It holds a name. Mostly that need not be read to see it.
    pub(crate) fn is_named(&self, cx: &Reader<'_>) -> bool {
        self.name.is_some() || self.name(cx).is_some()
    }

    /// What is wrong with it, in a call that begins at `start`.
    pub(crate) fn slips(&self, start: usize) -> Vec<Repair> {
        if !(self.twice || self.unopened || self.quoted || self.misquoted || self.unclosed) {
            return Vec::new();
        }
        let slip = |is: bool, code, what| is.then(|| Repair::at(code, start, what));
        let twice = slip(self.twice, RepairCode::Marker, "an opening marker stood twice");
        let unopened = slip(self.unopened, RepairCode::Marker, "the opening marker is missing");
        let quoted = slip(self.quoted, RepairCode::Quotes, "quotes round the name were left out");
        let misquoted = slip(self.misquoted, RepairCode::Quotes, MISQUOTED);
        let unclosed = slip(self.unclosed, RepairCode::Marker, UNCLOSED);
        [twice, unopened, quoted, misquoted, unclosed].into_iter().flatten().collect()
    }

    /// The id, if the head holds one.
    pub(crate) fn id<'t>(&self, cx: &Reader<'t>) -> Option<&'t str> {
        cx.text.get(self.id.clone()?)
    }
}

/// The offered name that an id without its number is, or that holds one as some client respelt it (`functions_NAME_3`), if
/// only one reading of it was offered.
#[cold]
fn respelt<'t>(cx: &Reader<'_>, id: &'t str) -> Option<&'t str> {
    let separator = ['_', '-', '.'];
    let whole = cx.dialects.without_namespace(id, separator).unwrap_or(id);
    let numbered = whole.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = numbered.strip_suffix(separator).filter(|_| numbered.len() < whole.len() && whole.len() < id.len());
    match (cx.offered(whole), name.filter(|name| cx.offered(name))) {
        (true, None) => Some(whole),
        (false, name) => name,
        _ => None,
    }
}

/// What `text` begins with that can be a tool's name.
pub(super) fn bare_name(text: &str) -> &str {
    text.get(..char_class::NAME_IN_SLOT.length(text.as_bytes())).unwrap_or_default()
}

/// A name as it is without the backslashes that escape it for Markdown. Mostly there are none.
pub(super) fn without_escapes(name: &str) -> Cow<'_, str> {
    if find_near(b'\\', name.as_bytes()).is_some() { Cow::Owned(name.replace('\\', "")) } else { Cow::Borrowed(name) }
}

/// Matches `elements` at `at`. The search for a delimiter is bounded by the policy's `max_markup_bytes`.
pub(crate) fn head(cx: &Reader<'_>, at: usize, elements: &[Element]) -> Look<Head> {
    let mut head = Head::default();
    fill(cx, at, elements, &mut head).map(|()| head)
}

/// As [`head`], into a head that is there. What it holds says nothing unless they match.
#[inline]
pub(crate) fn fill(cx: &Reader<'_>, at: usize, elements: &[Element], head: &mut Head) -> Look<()> {
    // Mostly the first literal tells already.
    let (end, from) = match elements {
        [Element::Literal(text), ..] => match cx.literal(at, text) {
            Look::Is(end) => (end, 1),
            Look::No => return Look::No,
            Look::More => return Look::More,
        },
        _ => (at, 0),
    };
    Matching::new(cx, at, elements, head, end).from(from)
}

/// As [`fill`], where the first of `elements` is a literal of `length` that stands at `at`. What is said beside is which of them
/// decided.
pub(crate) fn behind_marker(
    cx: &Reader<'_>,
    at: usize,
    length: usize,
    elements: &[Element],
    head: &mut Head,
) -> (Look<()>, usize) {
    let mut matching = Matching::new(cx, at, elements, head, at + length);
    (matching.from(1), matching.reached)
}

/// As [`behind_marker`], where it is asked elsewhere whether that literal stands there twice.
pub(crate) fn behind_opener(
    cx: &Reader<'_>,
    at: usize,
    length: usize,
    elements: &[Element],
    head: &mut Head,
) -> (Look<()>, usize) {
    let mut matching = Matching::new(cx, at, elements, head, at + length);
    let look = match matching.once(1) {
        Look::No if has_more_than_space(elements.get(1..matching.reached)) => matching.twice(),
        look => look,
    };
    (look, matching.reached)
}

fn has_more_than_space(elements: Option<&[Element]>) -> bool {
    elements.unwrap_or_default().iter().any(|element| *element != Element::Space)
}

/// Elements that are to stand one behind the other, and the head that is filled by them.
struct Matching<'a, 't> {
    cx: &'a Reader<'t>,
    elements: &'a [Element],
    /// No part of them ends behind this place.
    limit: usize,
    /// Its end is as far as they stand there.
    head: &'a mut Head,
    /// The element that was looked at last.
    reached: usize,
}

impl<'a, 't> Matching<'a, 't> {
    /// The first of `elements` is to stand at `at`. Those before `end` do.
    #[inline]
    fn new(cx: &'a Reader<'t>, at: usize, elements: &'a [Element], head: &'a mut Head, end: usize) -> Self {
        *head = Head { end, ..Head::default() };
        Self { cx, elements, limit: at + cx.policy.max_markup_bytes, head, reached: 0 }
    }

    /// The elements from this number on. One of the literals may stand there twice.
    fn from(&mut self, first: usize) -> Look<()> {
        match self.once(first) {
            Look::No if self.reached > 0 => self.twice(),
            look => look,
        }
    }

    /// The element that was reached does not stand there, but perhaps the literal before it once more, and it behind that.
    #[cold]
    fn twice(&mut self) -> Look<()> {
        let cx = self.cx;
        let before = self.elements.get(..self.reached).unwrap_or_default();
        let Some(last) = before.iter().rposition(|element| !matches!(element, Element::Space)) else { return Look::No };
        // A tag that may have a suffix is three elements.
        let first = match before.get(last.saturating_sub(2)..=last) {
            Some([Element::Literal(_), Element::Slot(Slot::Ignored), Element::Literal(_)]) => last - 2,
            _ => last,
        };
        let Some(marker @ [Element::Literal(text), ..]) = before.get(first..=last).filter(|_| !self.head.twice) else {
            return Look::No;
        };
        let next = cx.skip_space(self.head.end);
        // Mostly something else stands there.
        if cx.bytes().get(next) != text.as_bytes().first() || text.len() < 4 || next - self.head.end > APART {
            return Look::No;
        }
        let again = match marker {
            [_] => cx.literal(next, text),
            _ => {
                let mut again = Head::default();
                Matching::new(cx, next, marker, &mut again, next).once(0).map(|()| again.end)
            }
        };
        (self.head.end, self.head.twice) = (seen!(again), true);
        let once = self.reached;
        let look = self.once(last + 1);
        self.reached = self.reached.max(once);
        look
    }

    /// As [`Self::from`], each literal once.
    fn once(&mut self, first: usize) -> Look<()> {
        let Self { cx, elements, limit, .. } = *self;
        let mut rest = elements.get(first..).unwrap_or_default();
        while let Some((element, behind)) = rest.split_first() {
            self.reached = elements.len() - rest.len();
            rest = behind;
            let at = self.head.end;
            if at > limit {
                return Look::No;
            }
            let look = match element {
                Element::Space => {
                    // Mostly a tag has but one attribute, and that is plain.
                    if let [Element::Attributes(list), Element::Literal(until), behind @ ..] = behind
                        && let Some((slot, value)) = attributes::plain(cx, at, list, until, limit)
                    {
                        self.head.end = value.end + 1 + until.len();
                        self.head.set(slot, value);
                        rest = behind;
                        continue;
                    }
                    let end = cx.skip_markup_space(at);
                    if cx.ends_in_space(end) && end <= limit {
                        return Look::More;
                    }
                    self.head.end = end;
                    continue;
                }
                Element::Literal(text) => cx.literal(at, text).map(|end| self.head.end = end),
                Element::Optional(text) => cx.literal(at, text).map(|end| self.head.end = end).or(|| Look::Is(())),
                Element::Slot(Slot::Number) => number(cx, at).map(|end| self.head.end = end),
                Element::Slot(slot) => {
                    let until = opener(behind);
                    let look = self.hole(*slot, until);
                    if let (Look::Is(()), Some(until)) = (look, until) {
                        // It stands there, or the hole would go on.
                        self.reached += 1;
                        self.head.end += until.len();
                        rest = behind.get(1..).unwrap_or_default();
                    }
                    look
                }
                Element::Attributes(list) => match behind.iter().position(|element| *element != Element::Space) {
                    Some(last) if let Some(Element::Literal(until)) = behind.get(last) => {
                        let look = attributes(cx, self.head, list, until, limit);
                        if self.head.unclosed {
                            rest = behind.get(last + 1..).unwrap_or_default();
                        }
                        look
                    }
                    _ => Look::No,
                },
                Element::Body(_) => Look::No,
            };
            if look != Look::Is(()) {
                return look;
            }
        }
        Look::Is(())
    }

    /// Fills the hole at the end of the head, up to the literal `until` if one is to stand behind it.
    #[inline(always)]
    fn hole(&mut self, slot: Slot, until: Option<&str>) -> Look<()> {
        let Self { cx, limit, .. } = *self;
        let at = self.head.end;
        // A name of several words is as long as its line, and nothing but the tool tells it from text.
        let line = slot == Slot::Name && until.is_some_and(is_blank);
        if let Some(range) = until.filter(|_| !line).and_then(|until| plain_name(cx, at, until, limit)) {
            self.head.end = range.end;
            self.head.set(slot, range);
            return Look::Is(());
        }
        let limit = if line { limit.min(at + LONGEST_NAME) } else { limit };
        let filled = match until {
            Some(until) => delimited(cx, at, until, slot, limit),
            None => undelimited(cx, at, limit),
        };
        let range = seen!(if line { one_line(cx, at, filled) } else { filled });
        let end = range.end;
        let mut inner = trim(cx, range);
        if slot == Slot::Name && is_quoted(cx.bytes().get(inner.clone()).unwrap_or_default()) {
            inner = inner.start + 1..inner.end - 1;
            self.head.quoted = true;
        }
        // Signs alone are no name.
        let fits = match slot {
            Slot::Name => holds(cx, &inner, char::is_alphanumeric),
            Slot::Key => holds(cx, &inner, |c| char_class::IDENTIFIER.has(c)),
            Slot::Id | Slot::Value | Slot::Type | Slot::Ignored | Slot::Number => true,
        };
        if !fits {
            return Look::No;
        }
        self.head.end = end;
        self.head.set(slot, inner);
        Look::Is(())
    }
}

/// The `label` stands at `at`, maybe with a number (`Observation 2:`): where it ends.
pub(super) fn label(cx: &Reader<'_>, at: usize, label: &str) -> Look<usize> {
    match (cx.literal(at, label), label.strip_suffix(':')) {
        (Look::No, Some(word)) => {
            let number = cx.literal(at, word).then(|end| number(cx, end));
            number.then(|end| cx.literal(end, ":"))
        }
        (look, _) => look,
    }
}

/// The number of a label whose word ends at `at`, or nothing: where what follows it begins.
#[cold]
fn number(cx: &Reader<'_>, at: usize) -> Look<usize> {
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let blank = usize::from(rest.first() == Some(&b' '));
    let digits = rest.iter().skip(blank).take(LONGEST_NUMBER).take_while(|byte| byte.is_ascii_digit()).count();
    match rest.len() == blank + digits && cx.may_go_on(digits, LONGEST_NUMBER) {
        true => Look::More,
        false => Look::Is(if digits > 0 { at + blank + digits } else { at }),
    }
}

/// A name that begins at `at` and is as long as its line was `filled` in: one that leads to an offered tool.
#[cold]
fn one_line(cx: &Reader<'_>, at: usize, filled: Look<Range<usize>>) -> Look<Range<usize>> {
    let named = |from: usize, to: usize| {
        let written = cx.slice(from, to).trim_ascii();
        written.is_empty() || cx.tools.is_some_and(|tools| tools.leads_to(written))
    };
    match filled {
        Look::Is(range) if !(cx.vouches(range.clone()) && named(range.start, range.end)) => Look::No,
        Look::More if !named(at, cx.text.len()) => Look::No,
        filled => filled,
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// One of the characters is such a one. Mostly the first is, a letter.
#[inline]
fn holds(cx: &Reader<'_>, range: &Range<usize>, such: impl Fn(char) -> bool) -> bool {
    cx.bytes().get(range.start).is_some_and(u8::is_ascii_alphanumeric) || cx.part(range).chars().any(such)
}

/// `<function="f">` for `<function=f>`.
fn is_quoted(name: &[u8]) -> bool {
    matches!(name, [quote @ (b'"' | b'\''), _, .., last] if quote == last)
}

fn trim(cx: &Reader<'_>, range: Range<usize>) -> Range<usize> {
    let visible = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_graphic);
    let bytes = cx.bytes().get(range.clone()).unwrap_or_default();
    if visible(bytes.first()) && visible(bytes.last()) {
        return range;
    }
    // A name that `harden` broke keeps that.
    let trimmed = |c: char| blank(c) && c != BREAK;
    let slice = cx.part(&range);
    let start = range.start + (slice.len() - slice.trim_start_matches(trimmed).len());
    let end = start + slice.trim_matches(trimmed).len();
    start..end
}

/// White space between a name and what stands behind it, or between a marker and the same one once more, is no longer.
pub(super) const APART: usize = 64;

/// No name that no marker delimits is longer, nor any in a tag, nor a key.
pub(super) const LONGEST_NAME: usize = 256;

/// No number of a label has more digits.
const LONGEST_NUMBER: usize = 4;

/// Bytes that no name or id holds, by value.
const NAME_STOPS: [bool; 256] = table(b"{[<\"(>\n");
/// Bytes that no key holds.
const KEY_STOPS: [bool; 256] = table(b"<\n");
const NO_STOPS: [bool; 256] = table(b"");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
}

/// The text of a hole that nothing delimits: as long as it can be a name.
#[inline(never)]
fn undelimited(cx: &Reader<'_>, at: usize, limit: usize) -> Look<Range<usize>> {
    let limit = limit.min(at + LONGEST_NAME);
    // One character more shows that it is longer.
    let end = cx.name_end(&cx.memo.bare_name, at, floor(cx.text, limit.max(at) + 4), &char_class::NAME_IN_SLOT);
    let mut length = end - at;
    let name = cx.bytes().get(at..end).unwrap_or_default();
    if let Some(escaped) = memchr::memchr_iter(b'\\', name).find(|i| name.get(i + 1) == Some(&b'n')) {
        length = escaped;
    }
    let end = seen!(longer_name(cx, at, at + length));
    if end > limit {
        return Look::No;
    }
    if end == cx.text.len() && !cx.eof { Look::More } else { Look::Is(at..end) }
}

/// Where the name at `at` ends that has a sign at `end` which few have: an offered one may have it (`my tool`, `a+b`).
fn longer_name(cx: &Reader<'_>, at: usize, end: usize) -> Look<usize> {
    let (Some(tools), Some(byte)) = (cx.tools, cx.bytes().get(end)) else { return Look::Is(end) };
    if end == at || matches!(byte, b'{' | b'(' | b'[' | b'<' | b'>' | b'"' | b'\n' | b'\r') {
        return Look::Is(end);
    }
    let (written, rest) = (cx.slice(at, end), cx.rest(at));
    let names = tools.tools().iter().map(|tool| tool.name.as_str());
    let longer = names.filter(|name| name.len() > written.len() && name.starts_with(written));
    let ends = |name: &str| match rest.get(name.len()..).unwrap_or_default().chars().next() {
        None if !cx.eof => Look::More,
        Some(c) if char_class::NAME_IN_SLOT.has(c) => Look::No,
        _ => Look::Is(at + name.len()),
    };
    let looks = longer.map(|name| cx.literal(at, name).then(|_| ends(name)));
    // The longest that stands there.
    looks.fold(Look::Is(end), |known, look| match (known, look) {
        (Look::Is(known), Look::Is(end)) => Look::Is(known.max(end)),
        (known, Look::No) => known,
        _ => Look::More,
    })
}

/// Mostly a hole holds a plain name, and the literal `until` stands right behind it: whatever the hole is for, that is its text.
#[inline]
fn plain_name(cx: &Reader<'_>, at: usize, until: &str, limit: usize) -> Option<Range<usize>> {
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let bounded = rest.get(..limit.saturating_sub(at)).unwrap_or(rest);
    let length = bounded.iter().position(|byte| !char_class::NAME.has_ascii(*byte))?;
    let begins = bounded.first().is_some_and(u8::is_ascii_alphanumeric);
    let end = at + length;
    let ends = || matches!(cx.literal(end, until), Look::Is(behind) if behind <= limit);
    (begins && ends()).then_some(at..end)
}

/// The text of a hole, up to the literal `until` that follows.
#[inline(never)]
fn delimited(cx: &Reader<'_>, at: usize, until: &str, slot: Slot, limit: usize) -> Look<Range<usize>> {
    let Some(first) = until.as_bytes().first().copied() else { return Look::No };
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let bounded = rest.get(..limit.saturating_sub(at)).unwrap_or(rest);
    let whole = bounded.len() == rest.len();
    // Up to here it can be the hole's text; what comes next must be the literal.
    let stops = match slot {
        Slot::Name | Slot::Id => &NAME_STOPS,
        Slot::Key | Slot::Ignored | Slot::Number => &KEY_STOPS,
        Slot::Value | Slot::Type => &NO_STOPS,
    };
    let skip = match bounded.first() {
        Some(byte) if byte.is_ascii_graphic() => 0,
        _ => blanks(cx.ahead(at, bounded.len())),
    };
    let mut end = skip;
    // A name in quotes that the template does not have ends with them.
    if slot == Slot::Name && first != b'"' && bounded.get(skip) == Some(&b'"') {
        match quoted(bounded.get(skip..).unwrap_or_default(), whole && !cx.eof) {
            Look::Is(length) => end = skip + length,
            other => return other.map(|_| at..at),
        }
    }
    let ends = |byte: &u8| *byte == first || stops[usize::from(*byte)];
    // Of labels in a row, each would look at those behind it.
    if slot == Slot::Name && stops[usize::from(first)] {
        end = cx.name_stop(at + end, |rest| rest.iter().position(ends)).saturating_sub(at);
    }
    // One pass: holes are short, and what is behind them is not.
    while let Some(more) = bounded.get(end..).and_then(|rest| rest.iter().position(ends)) {
        end += more;
        if slot == Slot::Name && end == skip {
            // There is no name.
            return Look::No;
        }
        let tail = bounded.get(end..).unwrap_or_default();
        if tail.first() == Some(&first) && (until.len() == 1 || tail.starts_with(until.as_bytes())) {
            return Look::Is(at..at + end);
        }
        match behind_stop(cx, at + end..at + bounded.len(), until, stops) {
            Look::Is(length) => end += length,
            // The literal may yet come, if this is where the text ends.
            Look::More if whole => return Look::More,
            _ => return Look::No,
        }
    }
    if !whole || cx.eof { Look::No } else { Look::More }
}

/// How long the string is that `text` begins with, a name in quotes; it `may_go_on` where the text ends.
#[cold]
fn quoted(text: &[u8], may_go_on: bool) -> Look<usize> {
    let inner = text.get(1..).unwrap_or_default();
    let near = inner.get(..LONGEST_NAME).unwrap_or(inner);
    match memchr::memchr2(b'"', b'\n', near) {
        Some(length) if near.get(length) == Some(&b'"') => Look::Is(length + 2),
        None if near.len() == inner.len() && may_go_on => Look::More,
        _ => Look::No,
    }
}

/// At the start of `rest` stands a byte that may end a hole, and not the literal `until` that is to follow it: how much of it is
/// the hole's all the same.
#[cold]
fn behind_stop(cx: &Reader<'_>, rest: Range<usize>, until: &str, stops: &[bool; 256]) -> Look<usize> {
    let tail = cx.slice(rest.start, floor(cx.text, rest.end));
    let behind = tail.trim_start();
    let byte = cx.bytes().get(rest.start).copied().unwrap_or_default();
    let stopped = stops[usize::from(byte)];
    // White space before the literal is not yet the end of the line.
    let goes_on = byte == b'\n' && (behind.starts_with(until) || (!cx.eof && until.starts_with(behind)));
    // A later byte of the literal may be one that no hole holds.
    if !cx.eof && until.len() > tail.len() && until.starts_with(tail) {
        return Look::More;
    }
    if stopped && !goes_on {
        return Look::No;
    }
    // A run of white space is looked behind once.
    let blank = tail.len() - behind.len();
    Look::Is(if stopped && !until.starts_with(char::is_whitespace) { blank.max(1) } else { 1 })
}

/// How much white space `text` begins with.
#[cold]
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}
