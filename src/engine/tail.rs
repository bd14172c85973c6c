//! What closes a call: the literals behind its body, as models write them.
use super::body::whole_key;
use super::head::{LONGEST_NAME, bare_name};
use super::origin::Origin;
use super::writer::Writer;
use super::{Look, Reader, misspelt};
use crate::char_class::IDENTIFIER;
use crate::dialect::{Body, Element, MarkersAt, Parameter, must_close};
use crate::engine::look::{found, seen, told};
use crate::turn::RepairCode;

/// A checkpoint's suffix in a marker is no longer.
pub(super) const LONGEST_SUFFIX: usize = 64;

/// No more closing tags of something else are left out before the one that closes a call.
const MOST_STRAYS: usize = 4;

/// What stands right behind a call is looked through so far for the end of a string that the call may have cut.
const STRING: usize = 4096;

/// Where no quote and no escape stands in so many bytes of it, it is prose.
const PROSE: usize = 256;

/// No more brackets close a call.
const BRACKETS: usize = 64;

/// What closes a call, as far as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tail {
    pub(super) at: usize,
    /// The element of the template that is next.
    next: usize,
    /// One of its markers does not stand there.
    pub(super) missing: bool,
}

impl Tail {
    /// The body ended at `at`.
    pub(super) fn new(at: usize) -> Self {
        Self { at, next: 0, missing: false }
    }

    /// The call ended at `at` with its head, so nothing closes it.
    pub(super) fn over(at: usize) -> Self {
        Self { next: usize::MAX, ..Self::new(at) }
    }

    /// Reads on. `More`: the text ends before it is over.
    pub(super) fn read(&mut self, cx: &Reader<'_>, origin: Origin, writer: &mut Writer) -> Look<()> {
        let elements = origin.tail(cx);
        while let Some(element) = elements.get(self.next) {
            let behind = elements.get(self.next + 1);
            let look = match element {
                Element::Space => self.space(cx, origin, behind),
                Element::Literal(text) | Element::Optional(text) => {
                    let needed = matches!(element, Element::Literal(_));
                    self.closer(cx, origin, text, needed, writer)
                }
                // Where the marker does not begin, nothing goes on with it.
                Element::Slot(_) if self.missing => {
                    self.next += 1;
                    Look::Is(())
                }
                Element::Slot(_) => self.suffix(cx, behind),
                Element::Attributes(_) | Element::Body(_) => Look::Is(()),
            };
            if look == Look::More {
                return Look::More;
            }
            self.next += 1;
        }
        let body = origin.template(cx).map(|template| template.body);
        if body == Some(Body::Arguments) && !must_close(elements) {
            // With no marker that must close them, only what follows says that the arguments were closed too early.
            match cx.bytes().get(self.at) {
                None if !cx.eof => return Look::More,
                Some(b',' | b'"' | b'\'') => return self.goes_on(cx, writer),
                _ => {}
            }
        }
        Look::Is(())
    }

    /// Where a member of the arguments stands behind them, they were closed too early; so was an object without arguments where
    /// another one stands behind it.
    fn goes_on(&self, cx: &Reader<'_>, writer: &mut Writer) -> Look<()> {
        let empty = writer.pending.as_ref().is_some_and(|call| call.arguments.say_nothing());
        let object = |at: usize| if cx.bytes().get(at) == Some(&b'{') { Look::Is(()) } else { Look::No };
        let look = match member(cx, self.at) {
            Look::No if empty => cx.behind_space(self.at, self.at).then(object),
            look => look,
        };
        if look == Look::Is(()) {
            writer.tear();
        }
        if look == Look::More { Look::More } else { Look::Is(()) }
    }

    /// White space before what is `behind`. Where no closing marker follows, it is text.
    fn space(&mut self, cx: &Reader<'_>, origin: Origin, behind: Option<&Element>) -> Look<()> {
        let end = cx.skip_space(self.at);
        if end >= cx.text.len() && !cx.eof {
            return Look::More;
        }
        let Some(text) = behind.and_then(Element::text) else { return Look::Is(()) };
        if let Some(behind) = told!(cx.literal(end, text)) {
            // Both are read.
            self.at = behind;
            self.next += 1;
            return Look::Is(());
        }
        misspelt_end(cx, origin, end, text).map(|_| self.at = end)
    }

    /// The marker `text`. If it does not stand there and is `needed`, it is missing.
    fn closer(&mut self, cx: &Reader<'_>, origin: Origin, text: &str, needed: bool, writer: &mut Writer) -> Look<()> {
        if let Some(end) = told!(cx.literal(self.at, text)) {
            self.at = end;
            return Look::Is(());
        }
        if let Some(end) = told!(misspelt_end(cx, origin, self.at, text)) {
            writer.mend(RepairCode::Marker, self.at, "the call's closing marker is misspelt");
            self.at = end;
            return Look::Is(());
        }
        let rest = cx.rest(self.at);
        // One byte alone is no evidence.
        if cx.eof && rest.trim_ascii().len() > 1 && is_cut(rest.trim_ascii_start(), text) {
            (self.at, self.missing) = (cx.text.len(), true);
            return Look::Is(());
        }
        match behind_brackets(cx, self.at, text) {
            Look::More => return Look::More,
            Look::Is(end) => {
                if rest.trim_ascii_start().starts_with(['}', ']']) {
                    let what = "a closing bracket too many was left out";
                    writer.mend(RepairCode::Bracket, self.at, what);
                }
                self.at = end;
            }
            Look::No if needed => return self.missing(cx, text, writer),
            Look::No => {}
        }
        Look::Is(())
    }

    /// The marker `text` does not stand there. Closing tags of something else may stand before it: they are part of the mistake.
    #[cold]
    fn missing(&mut self, cx: &Reader<'_>, text: &str, writer: &mut Writer) -> Look<()> {
        if let Some(end) = told!(behind_strays(cx, self.at, text)) {
            writer.mend(RepairCode::Marker, self.at, "a closing tag of something else was left out");
            self.at = end;
            return Look::Is(());
        }
        self.missing = true;
        self.goes_on(cx, writer)
    }

    /// A checkpoint's suffix in the marker, or a name, up to the literal `behind` it.
    fn suffix(&mut self, cx: &Reader<'_>, behind: Option<&Element>) -> Look<()> {
        let Some(until) = behind.and_then(Element::literal) else { return Look::Is(()) };
        let rest = cx.rest(self.at);
        match rest.find(until) {
            Some(length) if length <= LONGEST_SUFFIX => self.at += length,
            None if !cx.eof && rest.len() <= LONGEST_SUFFIX => return Look::More,
            None if cx.eof && bare_name(rest).len() == rest.len() => {
                (self.at, self.missing) = (cx.text.len(), true);
            }
            _ => {}
        }
        Look::Is(())
    }
}

/// The arguments that ended at `at` were closed too early: there, or behind a comma or white space, another member stands
/// (`, "days": 2`), or a quote that closes a string which went on behind them.
fn member(cx: &Reader<'_>, at: usize) -> Look<()> {
    let quote = |at: usize| matches!(cx.bytes().get(at), Some(b'"' | b'\''));
    let key = |at: usize| if quote(at) { whole_key(cx, at) } else { Look::No };
    match cx.bytes().get(at) {
        Some(b',') => cx.behind_space(at, at + 1).then(|at| Look::when(quote(at))),
        // It closes a string that went on behind them.
        Some(b'"') => Look::Is(()),
        _ => cx.behind_space(at, at).then(key),
    }
}

/// A string and the brackets round it ended at `at` too early: a quote in that string lacks its backslash. In the same line stands the
/// quote that was to close it, as none before opens it, and brackets and then a marker or nothing behind that. A file in a string is
/// one line, so a long one is known by what it escapes. Where the line goes on right there, and as a string does, or an escaped quote
/// before lacks its other one, other signs that stand behind a value are enough.
pub(super) fn string_goes_on(cx: &Reader<'_>, at: usize) -> Look<()> {
    let from = at.saturating_sub(BRACKETS);
    let before = cx.bytes().get(from..at).unwrap_or_default().trim_ascii_end();
    let brackets = |byte: &u8| matches!(byte, b'}' | b']' | b')') || byte.is_ascii_whitespace();
    let closed = before.iter().rev().take_while(|byte| brackets(byte)).count();
    let quote = before.len().checked_sub(closed + 1).and_then(|last| before.get(last)).copied();
    let Some(quote) = quote.filter(|quote| closed > 0 && matches!(quote, b'"' | b'\'')) else { return Look::No };
    let near = cx.near(at, STRING);
    let markers = &cx.dialects.markers;
    // What is escaped as a whole has its escapes everywhere.
    let whole = before.get(before.len().saturating_sub(closed + 2)) == Some(&b'\\');
    // Escaped quotes come in pairs: where they do not, that quote belonged to them.
    let odd = !whole && lacks_escaped(cx, from + before.len() - closed - 1, quote);
    let glued = !whole && goes_on_like_text(near);
    let (mut i, mut open, mut quotes, mut escapes, mut stop) = (0, true, false, false, at);
    while let Some(byte) = near.get(i).copied() {
        if stop <= at + i {
            stop = markers.next_stop(cx.bytes(), at + i);
        }
        // Mostly nothing stands there that says anything, up to where all of it is prose.
        let plain = !quotes && !escapes && !odd;
        let until = (stop - at).min(near.len()).min(if plain { PROSE.max(i) } else { near.len() });
        let skipped = near.get(i..until).unwrap_or_default();
        let says = |byte: &u8| *byte == quote || matches!(byte, b'\n' | b'\r' | b'\\');
        let length = skipped.iter().position(says).unwrap_or(skipped.len());
        if length > 0 {
            i += length;
            continue;
        }
        if stop == at + i {
            match markers.at(cx.bytes(), stop) {
                MarkersAt::Partial(_) if !cx.eof => return Look::More,
                MarkersAt::Some { .. } => return Look::No,
                _ => stop += 1,
            }
        }
        let letter = |at: Option<usize>| at.and_then(|at| near.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        match byte {
            b'\n' | b'\r' => return Look::No,
            _ if i >= PROSE && !quotes && !escapes && !odd => return Look::No,
            b'\\' => {
                escapes |= near.get(i + 1).is_some_and(|next| matches!(next, b'n' | b'"' | b'\''));
                i += 1;
            }
            // An apostrophe is none.
            b'\'' if letter(i.checked_sub(1)) && letter(Some(i + 1)) => {}
            _ if byte == quote => {
                quotes = true;
                if open {
                    let behind = at + i + 1;
                    let over = match () {
                        () if glued && escapes => is_over(cx, behind),
                        () if odd => is_value_over(cx, behind),
                        () => brackets_end(cx, behind),
                    };
                    let next = || if glued { member_behind(cx, behind, quote) } else { Look::No };
                    found!(over.or(next));
                }
                open = !open;
            }
            _ => {}
        }
        i += 1;
    }
    if cx.may_go_on(near.len(), STRING) { Look::More } else { Look::when(near.len() >= STRING && escapes) }
}

/// The string whose mark `quote` stands at `at` holds an odd number of escaped ones, as far as it begins near by.
fn lacks_escaped(cx: &Reader<'_>, at: usize, quote: u8) -> bool {
    let mut text = cx.bytes().get(at.saturating_sub(STRING)..at).unwrap_or_default();
    let mut odd = false;
    while let Some(before) = memchr::memrchr(quote, text).and_then(|mark| text.get(..mark)) {
        let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 {
            return odd;
        }
        odd = !odd;
        text = before.get(..before.len() - slashes).unwrap_or_default();
    }
    false
}

/// What stands right behind a call, `near` it, is a word, a quote, a parenthesis or a line break that is written out: no other call
/// begins so.
fn goes_on_like_text(near: &[u8]) -> bool {
    let pairs = near.chunks_exact(2).take_while(|pair| matches!(pair, [b'\\', b'n' | b'r' | b't'])).count();
    let begins = near.get(2 * pairs..).unwrap_or_default().trim_ascii_start().first();
    let first = near.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'\\' | b'\'' | b')'));
    first && !matches!(begins, Some(b'{' | b'[' | b'<'))
}

/// What stands behind a value stands at `at`: a comma, a closing bracket, a marker, the end of the line.
fn is_over(cx: &Reader<'_>, at: usize) -> Look<()> {
    let near = cx.near(at, BRACKETS);
    let blanks = near.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match near.get(blanks) {
        None if cx.may_go_on(near.len(), BRACKETS) => Look::More,
        None => Look::when(near.len() < BRACKETS),
        Some(b'\n' | b'\r' | b',' | b'}' | b']' | b')') => Look::Is(()),
        Some(_) => cx.marker_at(at + blanks),
    }
}

/// As [`is_over`], where a comma may be one of a sentence as well: behind one that parts values a quote or a bracket stands.
fn is_value_over(cx: &Reader<'_>, at: usize) -> Look<()> {
    if cx.bytes().get(at) != Some(&b',') {
        return is_over(cx, at);
    }
    let structure = |next: usize| matches!(cx.bytes().get(next), None | Some(b'"' | b'\'' | b'}' | b']' | b')'));
    cx.behind_space(at, at + 1).then(|next| Look::when(structure(next)))
}

/// A comma and another member stand at `at`, behind a string in `quote`s: `, "days":` or `, days=`.
fn member_behind(cx: &Reader<'_>, at: usize, quote: u8) -> Look<()> {
    match cx.bytes().get(at) {
        None if !cx.eof => return Look::More,
        Some(b',') => {}
        _ => return Look::No,
    }
    let next = seen!(cx.behind_space(at, at + 1));
    if cx.bytes().get(next) == Some(&quote) {
        return whole_key(cx, next);
    }
    let near = cx.near(next, LONGEST_NAME);
    let name = near.iter().take_while(|byte| IDENTIFIER.has_ascii(**byte)).count();
    match near.get(name) {
        None if cx.may_go_on(near.len(), LONGEST_NAME) => Look::More,
        sign => Look::when(name > 0 && sign == Some(&b'=')),
    }
}

/// Closing brackets stand at `at`, and behind them a marker, or nothing in their line.
fn brackets_end(cx: &Reader<'_>, at: usize) -> Look<()> {
    let near = cx.near(at, BRACKETS);
    let closed = near.iter().take_while(|byte| matches!(byte, b'}' | b']' | b')' | b' ')).count();
    match near.get(closed) {
        _ if near.first().is_none_or(u8::is_ascii_whitespace) && closed > 0 => Look::No,
        None if cx.may_go_on(near.len(), BRACKETS) => Look::More,
        None => Look::when(closed > 0 && near.len() < BRACKETS),
        Some(_) if closed == 0 => Look::No,
        Some(b'\n' | b'\r') => Look::Is(()),
        Some(_) => cx.marker_at(at + closed),
    }
}

/// A longer run of closing brackets, with the white space between them, is no slip.
const MOST_STRAY: usize = 64;

/// Closing brackets too many stand at `at`, with the marker `text` behind them: they are part of the mistake. Where the marker
/// ends.
fn behind_brackets(cx: &Reader<'_>, at: usize, text: &str) -> Look<usize> {
    let rest = cx.rest(at);
    let marker = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '}' || c == ']');
    let extra = rest.len() - marker.len();
    if extra == 0 || extra >= MOST_STRAY {
        Look::No
    } else if marker.is_empty() && !cx.eof {
        Look::More
    } else {
        cx.literal(at + extra, text)
    }
}

/// Closing tags of something else stand at `at`, with the marker `text` behind them: where that ends. What closes reasoning is none
/// of them.
fn behind_strays(cx: &Reader<'_>, at: usize, text: &str) -> Look<usize> {
    let reasoning = |tag: &str| cx.dialects.reasoning_ends.iter().any(|end| end.needle() == tag.as_bytes());
    let mut end = at;
    for _ in 0..MOST_STRAYS {
        let stray = misspelt::behind(cx, end).then(|next| misspelt::stray(cx, next));
        end = match stray {
            Look::Is(tag) if !reasoning(cx.part(&tag)) => tag.end,
            Look::Is(_) | Look::No => return Look::No,
            Look::More => return Look::More,
        };
        found!(misspelt::behind(cx, end).then(|next| cx.literal(next, text)));
    }
    Look::No
}

/// What closes the call stands at `at`, misspelt: where that ends.
fn misspelt_end(cx: &Reader<'_>, origin: Origin, at: usize, closer: &str) -> Look<usize> {
    let (Some(row), Some(call)) = (origin.row(cx), origin.template(cx)) else { return Look::No };
    match misspelt::closing(cx, row, at, closer, |_| false) {
        // Without its slash it opens what follows, if that is more than white space or another marker.
        Look::Is(tag) if !tag.slashed && call.body == Body::Parameters => match misspelt::behind(cx, tag.end) {
            Look::Is(next) if cx.bytes().get(next).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'{') => Look::No,
            look => look.map(|_| tag.end),
        },
        // The body has seen what stands behind it.
        Look::Is(tag) if tag.slashed && tag.whole || call.body == Body::Parameters => Look::Is(tag.end),
        Look::More => Look::More,
        _ => Look::No,
    }
}

/// One of the literals of a tail stands at `at`. Punctuation before it that may be missing (`>`) says nothing alone.
pub(super) fn closes(cx: &Reader<'_>, tail: &[Element], at: usize) -> Look<()> {
    let mut at = at;
    let mut more = false;
    for (i, element) in tail.iter().enumerate() {
        let Some(text) = element.text() else { continue };
        // What ends a marker with a suffix is none.
        if i.checked_sub(1).is_some_and(|i| matches!(tail.get(i), Some(Element::Slot(_)))) {
            continue;
        }
        let punctuation = matches!(element, Element::Optional(_)) && text.len() == 1 && i + 1 < tail.len();
        match cx.literal(at, text) {
            Look::Is(end) if punctuation => at = cx.skip_space(end),
            Look::Is(_) => return Look::Is(()),
            Look::More => more = true,
            Look::No => {}
        }
    }
    if more { Look::More } else { Look::No }
}

/// The text ends in `rest`, the beginning of what closes a call or of one of its parameters.
pub(super) fn cut_off(rest: &str, tail: &[Element], parameters: &[Parameter]) -> bool {
    let closers = tail.iter().filter_map(Element::literal);
    let cut = rest.trim_ascii_start();
    closers.chain(parameters.iter().map(|parameter| &*parameter.opener)).any(|marker| is_cut(cut, marker))
}

/// The text ends in `cut`, the first bytes of `marker`.
fn is_cut(cut: &str, marker: &str) -> bool {
    !cut.is_empty() && cut.len() < marker.len() && marker.starts_with(cut)
}
