//! Where the strings of a value stand that strict reading refused, so that a closing marker in one of them is told from the
//! one that closes the call.
use super::lenient::{self, Bound, Ends, LINE_BEHIND, closer, with_sign};
use crate::char_class;
use crate::dialect::{Element, Key, must_close};
use crate::engine::look::unless;
use crate::engine::origin::Origin;
use crate::engine::reader::floor;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::json::WORDS;
use crate::json::{Balance, Repaired};

mod marker;

pub(super) use marker::begins_call_in;
use marker::{MarkerInValue, Opens, closes_shown, marker};

/// A key is no longer.
const KEY: usize = 128;

/// So far a call that was given up behind its name is read on.
const HEAD: usize = 256;

/// Looks through a value for its end, telling only strings from what stands between them. Nothing in it need be right: what does
/// not fit is passed over.
#[derive(Debug)]
pub(super) struct Strings {
    pub(super) start: usize,
    at: usize,
    open: Vec<u8>,
    /// A string that begins here is a key.
    key: bool,
    /// A value may begin here.
    begins: bool,
    /// Nothing but white space stands behind the brace that opened an object.
    opened: bool,
    string: Option<OpenString>,
    /// A string went on behind a marker in it, so others are trusted to do so as well.
    trusted: bool,
    /// The value is over.
    over: bool,
    /// Where it was closed.
    closed: Option<usize>,
    /// The closing marker that ends the value, and the line behind it.
    ended: Option<LineBehind>,
    /// Where the next closing marker stands, unless `at` has passed it, and up to where there is known to be none.
    closer: usize,
    searched: usize,
    /// No marker begins between `at` and this place.
    stop: usize,
    /// How many bytes of it repair has read to see whether a string had ended. They have a bound.
    repaired: usize,
    /// What it made of it then, and up to where: mostly the value ends there.
    mended: Option<(usize, Repaired<'static>)>,
}

/// The line behind a closing marker, as far as it was read.
#[derive(Debug, Clone, Copy)]
struct LineBehind {
    marker: usize,
    at: usize,
    words: bool,
    balance: Balance,
}

impl LineBehind {
    /// Behind words it closes brackets that it does not open. So the value may go on in this line, with the marker a part of it.
    fn closes_more(&mut self, cx: &Reader<'_>, origin: Origin) -> Look<()> {
        loop {
            let byte = match cx.bytes().get(self.at).copied() {
                None if !cx.eof => return Look::More,
                Some(byte) if byte != b'\n' && self.at - self.marker < LINE_BEHIND => byte,
                _ => return Look::No,
            };
            unless!(marker(cx, self.at, origin));
            self.balance.read(byte);
            self.words |= !(byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b'[' | b']'));
            self.at += 1;
            if self.words && self.balance.closes_more() {
                return Look::Is(());
            }
        }
    }
}

/// The string that is open.
#[derive(Debug)]
struct OpenString {
    quote: u8,
    body: usize,
    key: bool,
    /// The last quote of its own kind in it.
    inner: Option<usize>,
    /// Brackets in it, counted up to a place, and only once a quote in it was found to be text.
    balance: Balance,
    counted: usize,
    /// The last closing marker in it, or where nothing must close a call, the last that opens one.
    closer: Option<usize>,
    /// That one opens a call, and nothing closes the one before it.
    unclosed: bool,
    /// Where nothing but markers and white space stand behind that.
    behind: usize,
    /// The closing marker before the first one in it that opens a call; it is the string's end if that call is one.
    before_call: Option<Bound>,
    /// As that, where JSON stands behind the marker, whose quotes are text in a string of another kind: where this one is never
    /// closed, it was over there.
    unless_closed: Option<Bound>,
}

impl OpenString {
    /// Counts the brackets before `to`, but for what is escaped.
    fn count_brackets(&mut self, bytes: &[u8], to: usize) {
        while self.counted < to {
            match bytes.get(self.counted) {
                Some(b'\\') => self.counted += 1,
                Some(byte) => self.balance.read(*byte),
                None => {}
            }
            self.counted += 1;
        }
    }

    /// What closes a call, or opens the next one, is `found` in it at `at`.
    fn holds(&mut self, at: usize, found: &MarkerInValue) {
        let adjacent = at == self.behind;
        if found.opens == Opens::Nothing || !adjacent {
            self.closer = Some(at);
            self.unclosed = found.opens != Opens::Nothing;
        }
        if found.opens != Opens::Nothing {
            let ends = if self.before_call.is_some() && !adjacent { Ends::Perhaps } else { Ends::IfClosed };
            self.before_call = self.closer.map(|at| Bound { at, ends });
        }
        self.behind = at + found.length;
    }

    /// The quote right before `at` opens something in the string, and does not close it: `print("</tool_call>")`.
    fn is_opened(&self, cx: &Reader<'_>, at: usize) -> bool {
        let Some(inner) = self.inner.filter(|inner| cx.skip_space(inner + 1) >= at) else { return false };
        let before = cx.bytes().get(self.body..inner).unwrap_or_default().last();
        before.is_some_and(|byte| b"([{=,: ".contains(byte))
    }

    /// Behind the marker of a call stands a quote at `at` that nothing escapes: so the string was over before that marker, most
    /// surely if the quote opens something.
    fn end_before_call(&self, cx: &Reader<'_>, at: usize) -> Look<Bound> {
        let before = cx.bytes().get(self.behind..at).unwrap_or_default().trim_ascii_end();
        let opens = matches!(before.last(), Some(b'{' | b'[' | b'(' | b'=' | b':' | b','));
        let bound = |bound: Bound| Bound { ends: if opens { bound.ends } else { Ends::Perhaps }, ..bound };
        self.before_call.map(bound).map_or(Look::No, Look::Is)
    }
}

/// What a quote in a string closes.
enum Closes {
    String,
    /// The string was over at the quote before, which opened this key.
    Key,
    /// The string, and the comma behind it is missing: a key follows.
    Member,
}

impl Strings {
    /// For a value that begins at `start`.
    pub(super) fn new(start: usize) -> Self {
        Self {
            start,
            at: start,
            open: Vec::new(),
            key: false,
            begins: true,
            opened: false,
            string: None,
            trusted: false,
            over: false,
            closed: None,
            ended: None,
            closer: 0,
            searched: start,
            stop: start,
            repaired: 0,
            mended: None,
        }
    }

    /// How much was read behind `end`, where the value turned out to be over, or more than once.
    pub(super) fn ahead(&self, end: usize) -> usize {
        self.at.saturating_sub(end) + self.repaired
    }

    /// Where the value was closed, by its brackets outside strings.
    pub(super) const fn closed(&self) -> Option<usize> {
        self.closed
    }

    /// Where what closes the call bounds the value. `No`: nothing does.
    pub(super) fn bound(&mut self, cx: &Reader<'_>, writer: &Writer) -> Look<Bound> {
        let tail = writer.closing(cx);
        self.search(cx, writer, tail).map(|bound| Bound { at: with_sign(cx, tail, bound.at), ..bound })
    }

    fn search(&mut self, cx: &Reader<'_>, writer: &Writer, tail: &[Element]) -> Look<Bound> {
        let closer = closer(tail);
        // Where nothing must close a call, the next one's marker does.
        let origin = Some(writer.origin).filter(|_| !must_close(tail));
        loop {
            if self.over || origin.is_none() {
                let none = if cx.eof { Look::No } else { Look::More };
                match closer.map_or(none, |closer| self.next_closer(cx, closer)) {
                    // Another value stands before it.
                    Look::Is(at) if self.over && cx.slice(self.at, at).contains(char::is_alphanumeric) => {
                        return Look::Is(Bound::sure(at));
                    }
                    Look::Is(at) if self.over => {
                        let length = closer.map_or(0, str::len);
                        return self.end(cx, at, &MarkerInValue::closing(length), closer, writer.origin);
                    }
                    Look::Is(at) => {
                        // In its head the next call's marker may stand.
                        let near = self.at - self.start <= HEAD;
                        let stop = if near && self.before_stop(cx) { self.stop } else { self.at };
                        self.pass(cx.bytes(), if near { at.min(stop) } else { at }, None);
                    }
                    Look::More => return Look::More,
                    Look::No => return self.at_end(cx, closer, writer.origin),
                }
            }
            let Some(byte) = cx.bytes().get(self.at).copied() else {
                return if cx.eof { self.at_end(cx, closer, writer.origin) } else { Look::More };
            };
            let head = origin.is_none() && !self.before_stop(cx) && self.is_in_head(cx);
            let origin = origin.or(Some(writer.origin).filter(|_| head));
            let (at, found) = (self.at, self.ends(cx, closer, origin));
            match found {
                Look::More => return Look::More,
                Look::Is(found) if head && found.opens == Opens::Own => {
                    return Look::Is(Bound { at, ends: Ends::Perhaps });
                }
                Look::Is(found) if self.ends_value(cx, at) => return self.end(cx, at, &found, closer, writer.origin),
                _ => {}
            }
            match (&mut self.string, found) {
                (None, _) => self.outside(byte),
                (Some(string), Look::Is(found)) => {
                    string.holds(at, &found);
                    self.at = string.behind;
                }
                (Some(_), _) => match self.inside(cx, byte, closer, writer.origin) {
                    Look::No => self.pass(cx.bytes(), self.stop, closer),
                    look => return look,
                },
            }
        }
    }

    /// A line begins here, and of the object that is read there is no more than the call's name or id, or half of that: what opens a
    /// call here opens the next one, though nothing has closed this one.
    fn is_in_head(&self, cx: &Reader<'_>) -> bool {
        if self.over || self.at - self.start > HEAD || !cx.at_line_start(self.at) {
            return false;
        }
        let object = cx.slice(self.start, self.at).trim_start_matches('[').trim_ascii_start();
        let mut parts = object.strip_prefix('{').unwrap_or_default().split('"');
        let white = parts.next().is_some_and(|white| white.trim_ascii().is_empty());
        let key = parts.next().is_none_or(|key| key.contains('\n') || matches!(Key::of(key), Key::Name | Key::Id));
        white && key && object.starts_with('{') && parts.count() <= 3
    }

    /// What closes the call at `at` ends the value: no string is open, or repair sees that it was over before.
    fn ends_value(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let Some(string) = &self.string else { return true };
        if string.closer.is_some() || self.trusted || string.is_opened(cx, at) {
            return false;
        }
        if self.ended.is_some() {
            return true;
        }
        self.repaired += at - self.start;
        let mended = lenient::repair(cx, self.start, at).ok();
        let in_string = mended.as_ref().is_some_and(|mended| mended.unended);
        self.mended = mended.map(|mended| (at, mended.into_owned()));
        !in_string
    }

    /// The value as repair reads it up to `limit`: see [`lenient::repair`].
    pub(super) fn repair<'t>(&mut self, cx: &Reader<'t>, limit: usize) -> Result<Repaired<'t>, usize> {
        let known = self.mended.take().filter(|(at, _)| *at == limit);
        known.map_or_else(|| lenient::repair(cx, self.start, limit), |(_, mended)| Ok(mended))
    }

    /// The value ends before the marker at `at`.
    fn end(
        &mut self,
        cx: &Reader<'_>,
        at: usize,
        found: &MarkerInValue,
        closer: Option<&str>,
        origin: Origin,
    ) -> Look<Bound> {
        if found.opens != Opens::Nothing {
            // Behind a bare word no bracket and no quote says that the value is over, and behind a comma it is not.
            let before = cx.slice(self.start, at).trim_ascii_end();
            let open = self.string.is_none() && ends_in_word(cx, at) || before.ends_with([',', ';', ':', '{', '[']);
            let ends = if open { Ends::Perhaps } else { Ends::Surely };
            return Look::Is(Bound { at, ends });
        }
        let end = at + found.length;
        let line = LineBehind { marker: at, at: end, words: false, balance: Balance::default() };
        match self.ended.get_or_insert(line).closes_more(cx, origin) {
            Look::More => Look::More,
            Look::Is(()) => Look::Is(Bound { at, ends: Ends::Perhaps }),
            // Brackets are open, and a call that stands in them is what it closes.
            Look::No if !self.over && closes_shown(cx, self.start..at, closer, origin) => {
                Look::Is(Bound { at, ends: Ends::Perhaps })
            }
            Look::No => Look::Is(Bound::sure(at)),
        }
    }

    /// What closes the call stands here: its marker, or where `origin` is given, one of its row that opens the next.
    fn ends(&mut self, cx: &Reader<'_>, closer: Option<&str>, origin: Option<Origin>) -> Look<MarkerInValue> {
        let own = closer.map_or(Look::No, |closer| cx.literal(self.at, closer));
        own.map(|end| MarkerInValue::closing(end - self.at)).or(|| match origin {
            Some(_) if self.before_stop(cx) => Look::No,
            Some(origin) => marker(cx, self.at, origin).then(|found| match &self.string {
                _ if found.opens != Opens::Own => Look::No,
                Some(string) => found.in_string(cx, self.at, string.quote).then(MarkerInValue::if_own),
                // Its quotes may have gone wrong before.
                None => (found.in_string(cx, self.at, b'"').then(MarkerInValue::if_own))
                    .then(|found| found.if_call(cx, self.at, origin)),
            }),
            None => Look::No,
        })
    }

    /// No marker begins at `at`, as the next place where one may is further on.
    fn before_stop(&mut self, cx: &Reader<'_>) -> bool {
        if self.at >= self.stop {
            self.stop = cx.dialects.markers.next_stop(cx.bytes(), self.at);
        }
        self.at < self.stop
    }

    /// Where the next of what closes calls stands, if all there is to look for is that.
    fn next_closer(&mut self, cx: &Reader<'_>, closer: &str) -> Look<usize> {
        if self.at <= self.closer {
            return Look::Is(self.closer);
        }
        match cx.find_closer(closer, self.at.max(self.searched)) {
            Some(at) => {
                (self.closer, self.searched) = (at, at);
                Look::Is(at)
            }
            None if cx.eof => Look::No,
            None => {
                // It may begin at the end.
                self.searched = floor(cx.text, cx.text.len().saturating_sub(closer.len()));
                Look::More
            }
        }
    }

    fn outside(&mut self, byte: u8) {
        self.at += 1;
        if byte.is_ascii_whitespace() {
            return;
        }
        let doubled = std::mem::replace(&mut self.opened, byte == b'{');
        match byte {
            // In the place of a key it begins the next value, and this one lacks its brace, or it stands twice.
            b'{' if self.key && !doubled => self.over = true,
            b'{' | b'[' | b'(' => {
                self.open.push(byte);
                (self.key, self.begins) = (byte == b'{', true);
            }
            b'}' | b']' | b')' => {
                self.open.pop();
                self.over = self.open.is_empty();
                self.closed = self.closed.or(Some(self.at).filter(|_| self.over));
                self.begins = false;
            }
            b',' | b';' => (self.key, self.begins) = (self.open.last() == Some(&b'{'), true),
            b':' | b'=' => (self.key, self.begins) = (false, true),
            b'"' | b'\'' | b'`' if self.begins => {
                self.string = Some(OpenString {
                    quote: byte,
                    body: self.at,
                    key: self.key,
                    inner: None,
                    balance: Balance::default(),
                    counted: self.at,
                    closer: None,
                    unclosed: false,
                    behind: 0,
                    before_call: None,
                    unless_closed: None,
                });
            }
            _ => self.begins = false,
        }
    }

    /// Reads a byte of a string. `Is`: it had ended before.
    fn inside(&mut self, cx: &Reader<'_>, byte: u8, closer: Option<&str>, origin: Origin) -> Look<Bound> {
        let at = self.at;
        let Some(string) = &mut self.string else { return Look::No };
        if byte == b'\\' {
            if at + 1 >= cx.text.len() && !cx.eof {
                return Look::More;
            }
            self.at += 2;
            return Look::No;
        }
        if byte == string.quote {
            return match closes(cx, string, &self.open, at) {
                Look::More => Look::More,
                Look::No => {
                    string.inner = Some(at);
                    self.at += 1;
                    // An apostrophe in the JSON of a call: that is not shown in a string that one closes.
                    let shown =
                        |bound: Bound| bound.doubts(cx) || closes_shown(cx, string.body..bound.at, closer, origin);
                    if let Some(bound) = string.unless_closed.filter(|bound| !shown(*bound)) {
                        return Look::Is(bound);
                    }
                    string.end_before_call(cx, at).map(|bound| match bound.ends {
                        // What closes it was to close one that the string shows.
                        Ends::IfClosed if closes_shown(cx, string.body..bound.at, closer, origin) => {
                            Bound { ends: Ends::Perhaps, ..bound }
                        }
                        _ => bound,
                    })
                }
                Look::Is(closes) => {
                    self.trusted |= string.closer.is_some();
                    (self.string, self.begins) = (None, true);
                    match closes {
                        Closes::String => {}
                        Closes::Key => self.key = false,
                        Closes::Member => self.key = true,
                    }
                    self.at += 1;
                    Look::No
                }
            };
        }
        if let Some(closer) = string.closer {
            let adjacent = at == string.behind;
            if byte == b'"'
                && string.before_call.is_some_and(|bound| bound.ends == Ends::IfClosed)
                && let (None, Look::Is(bound)) = (string.unless_closed, string.end_before_call(cx, at))
            {
                string.unless_closed = Some(bound);
            }
            match marker(cx, at, origin).then(|found| found.in_string(cx, at, string.quote)) {
                Look::More => return Look::More,
                Look::Is(marker) => {
                    if marker.opens != Opens::Nothing && (adjacent || string.before_call.is_none()) {
                        let ends = if adjacent { Ends::IfClosed } else { Ends::Perhaps };
                        string.before_call = Some(Bound { at: closer, ends });
                    }
                    self.at += marker.length;
                    if adjacent {
                        string.behind = self.at;
                    }
                    return Look::No;
                }
                Look::No if adjacent && byte.is_ascii_whitespace() => string.behind += 1,
                Look::No => {}
            }
        }
        self.at += 1;
        Look::No
    }

    /// Passes what is neither a quote nor an escape, nor begins as `closer` does, in a string that holds no marker yet, up to the
    /// next place where one may stand.
    fn pass(&mut self, bytes: &[u8], stop: usize, closer: Option<&str>) {
        if let Some(string) = self.string.as_ref().filter(|string| string.closer.is_none()) {
            let ahead = bytes.get(self.at..stop).unwrap_or_default();
            let begins = closer.and_then(|closer| closer.bytes().next()).unwrap_or(b'\\');
            self.at += memchr::memchr3(string.quote, b'\\', begins, ahead).unwrap_or(ahead.len());
        }
    }

    /// The text is over. In a string that is open, a closing marker is one if nothing but markers follow it, and it closes no call
    /// that the string shows; one that opens a call is a part of the string, which is cut off: no quote of that call stands behind it.
    /// Signs alone (`)`, a fence) are what the text of a string ends in as well, and it may be cut off there.
    fn at_end(&self, cx: &Reader<'_>, closer: Option<&str>, origin: Origin) -> Look<Bound> {
        let Some(string) = &self.string else { return Look::No };
        if let Some(bound) = string.unless_closed {
            // It was cut off, and shows a call, if no bracket says otherwise.
            let shows = bound.doubts(cx) || closes_shown(cx, string.body..bound.at, closer, origin);
            return if shows { Look::No } else { Look::Is(bound) };
        }
        if string.unclosed {
            return Look::No;
        }
        let signs = closer.filter(|closer| !closer.contains(char::is_alphanumeric)).map_or(0, str::len);
        let alone = |at: usize| signs > 0 && cx.slice(at + signs, string.behind).trim_ascii().is_empty();
        let last = string.closer.filter(|at| cx.skip_space(string.behind) >= cx.text.len() && !alone(*at));
        match (last, string.before_call) {
            (Some(at), _) if closes_shown(cx, string.body..at, closer, origin) => Look::No,
            (Some(at), _) => Look::Is(Bound::sure(at)),
            (None, Some(bound)) if closes_shown(cx, string.body..bound.at, closer, origin) => Look::No,
            (None, Some(bound)) => Look::Is(bound),
            (None, None) => Look::No,
        }
    }
}

/// What stands before `at` is a word without quotes, and none of JSON's.
fn ends_in_word(cx: &Reader<'_>, at: usize) -> bool {
    let before = cx.before(at, KEY).trim_ascii_end();
    let word = before.trim_end_matches(char::is_alphanumeric);
    let word = before.get(word.len()..).unwrap_or_default();
    !word.is_empty() && !WORDS.contains(&word) && !word.bytes().all(|byte| byte.is_ascii_digit())
}

/// What the quote at `at` closes, of the kind that opened `string` in the brackets `open`. `No`: it is a part of the text.
fn closes(cx: &Reader<'_>, string: &mut OpenString, open: &[u8], at: usize) -> Look<Closes> {
    let next = cx.skip_space(at + 1);
    let Some(byte) = cx.bytes().get(next).copied() else {
        return cx.over(Closes::String);
    };
    if string.inner.is_some() {
        string.count_brackets(cx.bytes(), at);
    }
    let Balance { braces, brackets, parens } = string.balance;
    let within = |bracket: u8| open.contains(&bracket);
    let object = open.last() == Some(&b'{');
    let closes = match byte {
        b':' | b'=' if string.key => true,
        b',' | b'}' if string.key => true,
        _ if string.key => false,
        b'}' => braces <= 0 && within(b'{'),
        b']' => brackets <= 0 && within(b'['),
        b')' => parens <= 0 && within(b'('),
        b',' | b';' if object && braces <= 0 => return next_key(cx, next + 1).map(|()| Closes::String),
        b',' | b';' if object => false,
        b',' | b';' => true,
        b':' if ended_before(cx, string, at) => return Look::Is(Closes::Key),
        // The comma before it is missing.
        b'"' | b'\'' if object => return whole_key(cx, next).map(|()| Closes::Member),
        _ => false,
    };
    if closes { Look::Is(Closes::String) } else { Look::No }
}

/// The string was over before its last quote, which opened the key that the quote at `at` closes.
fn ended_before(cx: &Reader<'_>, string: &OpenString, at: usize) -> bool {
    let Some(inner) = string.inner.filter(|inner| at - inner <= KEY) else { return false };
    let before = cx.bytes().get(string.body..inner).unwrap_or_default();
    let trimmed = before.trim_ascii_end();
    trimmed.ends_with(b",") || before.get(trimmed.len()..).is_some_and(|white| white.contains(&b'\n'))
}

/// Behind a comma at `at` an object goes on: a key stands there, or a bracket, a comma or a comment.
fn next_key(cx: &Reader<'_>, at: usize) -> Look<()> {
    let next = cx.skip_space(at);
    match cx.bytes().get(next) {
        None if !cx.eof => Look::More,
        None | Some(b'}' | b']' | b',' | b'{' | b'/' | b'#') => Look::Is(()),
        Some(b'"' | b'\'' | b'`') => whole_key(cx, next),
        Some(_) => {
            let length = char_class::MEMBER_KEY.length(cx.near(next, KEY));
            colon(cx, next + length).then(|()| Look::when(length > 0))
        }
    }
}

/// A key in quotes and its colon stand at `at`.
pub(in crate::engine) fn whole_key(cx: &Reader<'_>, at: usize) -> Look<()> {
    let rest = cx.bytes().get(at..).unwrap_or_default();
    let quote = rest.first().copied();
    let mut window = rest.iter().enumerate().take(KEY).skip(1);
    while let Some((i, byte)) = window.next() {
        match byte {
            b'\\' => _ = window.next(),
            _ if Some(*byte) == quote => return colon(cx, at + i + 1),
            _ => {}
        }
    }
    cx.ran_out(rest.len(), KEY)
}

fn colon(cx: &Reader<'_>, at: usize) -> Look<()> {
    let at = cx.skip_space(at);
    match cx.bytes().get(at) {
        None if !cx.eof => Look::More,
        Some(b':' | b'=') => Look::Is(()),
        _ => Look::No,
    }
}
