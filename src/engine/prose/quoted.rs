//! Examples that are quoted: what stands in a block quote, in a table's cell or in HTML's code and comments within a line is no
//! call, and without markers nothing is in an element that shows an example, a file, a value or what a tool gave back.
use super::example::has_blank_line;
use crate::char_class;
use crate::dialect::Marker;
use crate::engine::body::OWN_ROLES;
use crate::engine::look::seen;
use crate::engine::reader::{blank, floor, invisible};
use crate::engine::{Engine, Fences, Look, Reader, Without};
use memchr::memmem::Finder;
use once_cell::sync::Lazy;

/// What the line of a marker says of it: whether it is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    /// It is not.
    No,
    /// It stands behind text in a line that is quoted: what it opens is quoted, what it ends need not be.
    Line,
    /// A program or a patch shows it, with what closes it.
    Listed,
    /// It is quoted itself: nothing but the signs stands before it, or it belongs to one that stands so.
    Whole,
}

impl Quote {
    /// The marker is text for its sake. Reasoning that quotes somebody may end in any line.
    pub(super) fn holds(self, marker: Marker) -> bool {
        match self {
            Self::No => false,
            Self::Line => marker.opens_calls(),
            Self::Listed => {
                matches!(marker, Marker::CallEnd { .. } | Marker::SectionEnd { .. }) || marker.opens_calls()
            }
            Self::Whole => !matches!(marker, Marker::ReasoningClose(_)),
        }
    }
}

/// The block quote in which a marker was quoted, and how far it has been followed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockQuote {
    looked: Option<usize>,
}

/// An element that shows what stands in it.
#[derive(Debug)]
struct Element {
    name: &'static str,
    /// Like a fence, one that shows code may hold nothing but calls.
    code: bool,
}

impl Element {
    /// `tag` begins with its name.
    fn is(&self, tag: &str) -> bool {
        let name = tag.get(..self.name.len()).is_some_and(|name| name.eq_ignore_ascii_case(self.name));
        name && !tag.as_bytes().get(self.name.len()).is_some_and(|byte| char_class::IDENTIFIER.has_ascii(*byte))
    }
}

static ELEMENTS: [Element; 29] = [
    Element { name: "pre", code: true },
    Element { name: "code", code: true },
    Element { name: "samp", code: true },
    shows("example"),
    shows("blockquote"),
    // What holds a file, a document or a value that is no call's.
    shows("file"),
    shows("document"),
    shows("documents"),
    shows("content"),
    shows("artifact"),
    shows("antArtifact"),
    shows("boltAction"),
    shows("script"),
    shows("style"),
    shows("diff"),
    shows("patch"),
    shows("parameter"),
    shows("param"),
    shows("arg_value"),
    shows("template"),
    shows("transcript"),
    // What a tool gave back.
    shows("tool_response"),
    shows("tool_result"),
    shows("tool_results"),
    shows("function_results"),
    shows("observation"),
    shows("result"),
    shows("results"),
    shows("tool_output"),
];

/// An element of that name shows whatever stands in it.
const fn shows(name: &'static str) -> Element {
    Element { name, code: false }
}

/// How far the text has been looked through for such elements, and the one that is open.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    looked: usize,
    /// And where the last opening tag, or the last call in it, ended.
    open: Option<(&'static Element, usize)>,
}

/// What stands nowhere right before the places that were looked at: labels and markers may stand close together.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Before {
    line_break: Without,
    object: Without,
    quotes: Quotes,
}

/// Whether a quote is open in a line, as far as that was read.
#[derive(Debug, Clone, Copy, Default)]
struct Quotes {
    begins: usize,
    read: usize,
    open: bool,
    escaped: bool,
}

impl Before {
    /// What stands before `at` in its line, if that is not too long.
    fn line<'t>(&mut self, cx: &Reader<'t>, at: usize) -> Option<&'t [u8]> {
        // Mostly a marker begins one.
        if cx.bytes().get(..at).is_some_and(|before| before.last() == Some(&b'\n')) {
            return Some(&[]);
        }
        let from = at.saturating_sub(LINE);
        let found = self.line_break.find_last(cx.bytes(), from, at, |text| memchr::memrchr(b'\n', text));
        let begins = found.map(|i| i + 1).or_else(|| (at <= LINE).then_some(0))?;
        cx.bytes().get(begins..at)
    }

    /// A quote is open before `at` in its line, if that is not too long to tell.
    fn quote_open(&mut self, cx: &Reader<'_>, at: usize) -> Option<bool> {
        let near = floor(cx.text, at.saturating_sub(WHOLE_LINE));
        let found = self.line_break.find_last(cx.bytes(), near, at, |text| memchr::memrchr(b'\n', text));
        let begins = found.map(|i| i + 1).or_else(|| (near == 0).then_some(0))?;
        if self.quotes.begins != begins || self.quotes.read > at {
            self.quotes = Quotes { begins, read: begins, ..Quotes::default() };
        }
        let Quotes { read, open, escaped, .. } = &mut self.quotes;
        for byte in cx.bytes().get(*read..at)? {
            match byte {
                b'\\' => *escaped = !*escaped,
                b'"' if !*escaped => *open = !*open,
                _ => *escaped = false,
            }
        }
        *read = at;
        Some(*open)
    }

    /// The last object in `from..at` that begins its line with a key: where its brace stands.
    fn object(&mut self, cx: &Reader<'_>, from: usize, at: usize) -> Option<usize> {
        let brace = |quote: usize| {
            let near = floor(cx.text, quote.saturating_sub(NEAR_MARKER));
            let before = cx.slice(near, quote).trim_end_matches(|c: char| c != '\n' && c.is_whitespace());
            let brace = near + before.strip_suffix('{')?.len();
            cx.at_line_start(brace).then_some(brace)
        };
        let found = self.object.find_last_in(from, at, |part| {
            let text = cx.bytes().get(part.clone())?;
            memchr::memrchr_iter(b'"', text).map(|i| part.start + i).find(|quote| brace(*quote).is_some())
        });
        found.and_then(brace).filter(|brace| *brace >= from)
    }
}

/// Longer lines are not looked through for what they begin with.
const LINE: usize = 1024;

/// A marker and the white space behind it are no longer.
const NEAR_MARKER: usize = 64;

/// So much of a line is looked at for quotes.
const WHOLE_LINE: usize = 4096;

impl Engine {
    /// What its line says of a marker at `at`.
    pub(super) fn line_quotes(&mut self, cx: &Reader<'_>, at: usize) -> Quote {
        // Behind a marker that was taken out a line begins.
        let begun = self.text_begins();
        if begun >= at {
            return Quote::No;
        }
        let Some(line) = self.before.line(cx, at) else { return Quote::No };
        let line = cx.slice((at - line.len()).max(begun), at).trim_start_matches(blank);
        if line.is_empty() {
            return Quote::No;
        }
        if !line.starts_with('>') {
            return if in_cell(line) || in_inline_element(line) { Quote::Line } else { Quote::No };
        }
        let signs = line.bytes().all(|byte| matches!(byte, b'>' | b' ' | b'\t'));
        if signs || self.quote_goes_on(cx, begun, at) { Quote::Whole } else { Quote::Line }
    }

    /// A marker was quoted in the block quote of `at`, behind `begun`.
    fn quote_goes_on(&mut self, cx: &Reader<'_>, begun: usize, at: usize) -> bool {
        let Some(looked) = self.block_quote.looked.filter(|looked| (begun..at).contains(looked)) else { return false };
        let quoted = |line: &str| line.trim_start_matches(blank).starts_with('>');
        let goes_on = cx.slice(looked, at).split('\n').skip(1).all(quoted);
        self.block_quote.looked = goes_on.then_some(at);
        goes_on
    }

    /// A marker at `at` is text, as it is quoted.
    pub(super) fn quotes(&mut self, at: usize) {
        self.block_quote.looked = Some(at);
    }

    /// What stands at `at` without a marker is shown, or told as a tool's result.
    pub(super) fn is_quoted(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        self.is_told_result(cx, at) || self.is_shown_there(cx, at)
    }

    /// What stands at `at` without a marker is an example, or a line of a program.
    pub(super) fn is_shown_there(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let line = self.before.line(cx, at).unwrap_or_default();
        // An object is no line of one.
        let program = |line| cx.bytes().get(at) != Some(&b'{') && in_program(cx, at, line);
        is_quote(cx.slice(at - line.len(), at))
            || self.behind_quoted(cx, at)
            || self.in_member(cx, at)
            || program(line)
            || self.is_shown(cx, at)
            || self.is_listed(cx, at)
            || self.behind_message(cx, at, line)
            || self.is_example(cx, at)
    }

    /// The line above that of `at`, of which this is `before` it, is a message of another role, or one stands before it in its line:
    /// records of conversations have one in each line, or in a list.
    fn behind_message(&mut self, cx: &Reader<'_>, at: usize, before: &[u8]) -> bool {
        let start = at - before.len();
        if says_other_role(cx.slice(start.max(self.text_begins()), at).as_bytes()) {
            return true;
        }
        let from = floor(cx.text, start.saturating_sub(NEAR_MARKER)).max(self.text_begins());
        let text = cx.slice(from, start).trim_end();
        let object = text.strip_suffix(',').unwrap_or(text);
        let line = if object.ends_with('}') { self.before.line(cx, from + object.len()) } else { None };
        let Some(line) = line.map(<[u8]>::trim_ascii_start) else { return false };
        let message = line.strip_prefix(b"[").map_or(line, <[u8]>::trim_ascii_start);
        let compact = message.strip_prefix(b"{").and_then(|rest| role_in(rest.trim_ascii_start()));
        compact.is_some_and(|role| !OWN_ROLES.iter().any(|own| role.starts_with(own.as_bytes())))
    }

    /// A marker that is quoted stands right before `at`.
    fn behind_quoted(&self, cx: &Reader<'_>, at: usize) -> bool {
        let quoted = self
            .block_quote
            .looked
            .filter(|looked| at.checked_sub(*looked).is_some_and(|length| length <= NEAR_MARKER));
        let marker = quoted.map_or("", |looked| cx.slice(looked, at).trim_ascii_end());
        !marker.is_empty() && !marker.bytes().any(|byte| byte.is_ascii_whitespace())
    }

    /// The line of `at` is one of a block quote, or a row of a table.
    pub(super) fn in_quoted_line(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        self.before.line(cx, at).is_some_and(|line| is_quote(cx.slice(at - line.len(), at)))
    }

    /// The line of `at` goes on a string of an object that begins above it, in the same text: that string has raw line breaks, and
    /// shows something.
    fn in_member(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let begun = self.text_begins();
        let from = floor(cx.text, at.saturating_sub(LINE)).max(begun);
        // A line that closes something leaves no string open.
        if cx.slice(from, at).trim_ascii_end().ends_with(['}', ']']) {
            return false;
        }
        let begins = |object: &&str| object.strip_prefix('{').is_some_and(|text| text.trim_start().starts_with('"'));
        // What stands behind a marker that was taken out begins a line, too.
        let first = || Some(cx.slice(begun, at).trim_start()).filter(begins).filter(|_| from == begun);
        let object = self.before.object(cx, from, at).map(|brace| cx.slice(brace, at)).or_else(first);
        let Some(text) = object else { return false };
        let (mut open, mut escaped, mut valued, mut depth) = (false, false, false, 0_usize);
        for byte in text.bytes() {
            match byte {
                b'"' if !escaped => open = !open,
                b'{' | b'[' if !open => (valued, depth) = (false, depth + 1),
                b'}' | b']' if !open => {
                    depth = depth.saturating_sub(1);
                    // It is over, and so is whatever it shows.
                    if depth == 0 {
                        return false;
                    }
                }
                b':' if !open => valued = true,
                _ => {}
            }
            escaped = byte == b'\\' && !escaped;
        }
        open && valued && text.contains('\n')
    }

    /// Where the text begins that stands here, behind the last marker or call that was taken out.
    pub(super) fn text_begins(&self) -> usize {
        if self.given.fresh { self.given.from } else { self.given.text_from }
    }

    /// The object behind `inside`, which a marker at `at` opens, or the first of a list, has its quotes escaped, and a quote is open
    /// before that marker in its line: both stand in somebody's string.
    pub(super) fn in_string(&mut self, cx: &Reader<'_>, at: usize, inside: usize) -> Look<()> {
        let byte = |at: usize| cx.bytes().get(at).copied();
        let mut object = cx.skip_markup_space(inside);
        if byte(object) == Some(b'[') {
            object = seen!(cx.behind_space(object, object + 1));
        }
        if byte(object) != Some(b'{') {
            return Look::No;
        }
        let first = seen!(cx.behind_space(object, object + 1));
        if byte(first) != Some(b'\\') {
            return Look::No;
        }
        // In a longer line it stands in a string as well: text has no such lines.
        let open = self.before.quote_open(cx, at).unwrap_or(true);
        Look::when(open)
    }

    /// The text up to `at` has been read in another way.
    pub(super) fn skip_shown(&mut self, at: usize) {
        self.shown_in.looked = self.shown_in.looked.max(at);
        self.listings.skip(at);
    }

    /// A program or a patch shows what stands at `at`.
    pub(super) fn is_listed(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        if let Some(last) = self.out.calls.last() {
            self.listings.skip(last.raw.end);
        }
        self.listings.show(cx, at)
    }

    /// As [`Self::is_listed`], for a call with markers, which a string does not show.
    pub(super) fn is_marked_listed(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        if let Some(last) = self.out.calls.last() {
            // Mostly nothing but markers stands between two calls: in those no listing begins, though one may end there.
            let near = self.given.text_from < last.raw.end && self.fresh_at(cx, at);
            if near && !self.listings.is_open() {
                self.listings.skip(at);
                return false;
            }
            self.listings.skip(last.raw.end);
        }
        self.listings.show_marked(cx, at)
    }

    /// The reasoning is over at `at`, and whatever was shown in it.
    pub(super) fn leave_shown(&mut self, at: usize) {
        self.listings.leave(at);
        self.shown_in = Shown { looked: at, open: None };
    }

    /// An element of code is open at `at`, and other text stands in it before: like a fence, it holds no call then, with markers
    /// or without. What has markers is one behind a blank line: the element may never be closed.
    pub(super) fn is_shown_as_code(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        self.is_shown(cx, at)
            && self.shown_in.open.is_some_and(|(element, behind)| {
                element.code && at - behind <= LINE && !has_blank_line(cx.slice(behind, at))
            })
    }

    /// An element that shows things is open at `at`, and other text stands in it before.
    pub(super) fn is_shown(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let Shown { looked, open } = &mut self.shown_in;
        if let Some(last) = self.out.calls.last()
            && last.raw.end > *looked
        {
            *looked = last.raw.end;
            *open = open.map(|(element, _)| (element, last.raw.end));
        }
        let text = cx.slice(*looked, at);
        for place in memchr::memchr_iter(b'<', text.as_bytes()).map(|i| *looked + i) {
            let rest = cx.slice(place + 1, at);
            let closing = rest.strip_prefix('/');
            if open.is_some_and(|(element, _)| closing.is_some_and(|tag| element.is(tag))) {
                *open = None;
                continue;
            }
            let blank = |from: usize| cx.skip_space(from) >= place;
            let begins = match *open {
                Some((_, behind)) => blank(behind),
                None => cx.at_line_start(place) || cx.follows_tag(place),
            };
            if let Some(element) = ELEMENTS.iter().find(|element| begins && element.is(rest)) {
                let tag = rest.get(..floor(rest, LINE)).unwrap_or_default();
                let end = tag.find('>').map_or(at, |i| place + 2 + i);
                if cx.slice(place, end).ends_with("/>") {
                    continue;
                }
                *open = Some((open.map_or(element, |(outer, _)| outer), end));
            }
        }
        *looked = at.max(*looked);
        open.is_some_and(|(element, behind)| {
            let code = element.code && cx.policy.fences != Fences::Ignore;
            !code || cx.skip_space(behind) < at
        })
    }
}

/// What stands from `at` to `end` stands in a string of JSON's or Python's: one is open before it in its line, and what closes that
/// in the same line is followed as the values of an object or of a call are.
pub(in crate::engine) fn stands_in_string(cx: &Reader<'_>, at: usize, end: usize) -> Look<()> {
    let from = floor(cx.text, at.saturating_sub(LINE));
    let before = cx.bytes().get(from..at).unwrap_or_default();
    let begins = memchr::memrchr(b'\n', before).map(|i| i + 1).or_else(|| (from == 0).then_some(0));
    let Some(line) = begins.and_then(|begins| before.get(begins..)) else { return Look::No };
    let (mut open, mut escaped, mut last) = (None, false, b'{');
    for byte in line.iter().copied() {
        match (open, byte) {
            (Some(quote), _) if byte == quote && !escaped => open = None,
            // An apostrophe opens nothing.
            (None, b'"' | b'\'') if matches!(last, b'{' | b'[' | b'(' | b':' | b'=' | b',') => open = Some(byte),
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    let Some(quote) = open else { return Look::No };
    let (near, mut escaped) = (cx.near(end, LINE), false);
    for (i, byte) in near.iter().copied().enumerate() {
        match byte {
            b'\n' => return Look::No,
            _ if byte == quote && !escaped => {
                return cx.behind_space(end, end + i + 1).then(|next| match cx.bytes().get(next) {
                    Some(b'}' | b']' | b')' | b',') => Look::Is(()),
                    _ => Look::No,
                });
            }
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    if near.len() < LINE && !cx.eof { Look::More } else { Look::No }
}

/// A line that begins so is the row of a table, up to a cell behind another one.
fn in_cell(line: &str) -> bool {
    // The bars of a call that the cell shows are none of the row's.
    let row = line.split("<|").next().unwrap_or(line);
    row.starts_with('|') && !row.contains("|>") && memchr::memchr_iter(b'|', row.as_bytes()).nth(1).is_some()
}

/// Elements of HTML that show something in a line of text.
const INLINE: [&str; 5] = ["<code>", "<kbd>", "<samp>", "<tt>", "<!--"];

/// A line that begins so shows what stands behind it: an element of HTML opens at its end, behind other text.
fn in_inline_element(line: &str) -> bool {
    let line = line.trim_ascii_end();
    let text = INLINE.iter().find_map(|tag| line.strip_suffix(tag));
    text.is_some_and(|text| has_words(text) || line.ends_with("<!--"))
}

/// Something else than tags stands in `line`.
pub(super) fn has_words(line: &str) -> bool {
    let (mut rest, word) = (line, |text: &str| text.contains(char::is_alphanumeric));
    while let Some((text, tag)) = rest.split_once('<') {
        if word(text) {
            return true;
        }
        rest = tag.split_once('>').map_or("", |(_, behind)| behind);
    }
    word(rest)
}

/// The sides of a conversation that make no calls.
const OTHER_ROLES: [&str; 6] = ["user", "system", "developer", "human", "tool", "function"];

/// What stands behind the quote that opens its value, if a member `role` of JSON's or Python's stands at the beginning of `text`.
fn role_in(text: &[u8]) -> Option<&[u8]> {
    let quote = *text.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let rest = text.get(1..)?.strip_prefix(b"role")?.strip_prefix(&[quote])?;
    rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(&[quote])
}

/// The key of a message that says whose it is.
static ROLE: Lazy<Finder<'_>> = Lazy::new(|| Finder::new("role"));

/// A message of another side stands in `text`.
fn says_other_role(text: &[u8]) -> bool {
    ROLE.find_iter(text).any(|i| {
        let role = i.checked_sub(1).and_then(|quote| role_in(text.get(quote..)?));
        role.is_some_and(|role| OTHER_ROLES.iter().any(|other| role.starts_with(other.as_bytes())))
    })
}

/// A line that begins so is one of a block quote, or a row of a table.
fn is_quote(line: &str) -> bool {
    let line = line.trim_start_matches(blank);
    // A special token may have lost its first sign.
    line.starts_with('>') || (line.starts_with('|') && !line.contains("|>"))
}

/// What begins a block of a Python program.
const BLOCKS: [&str; 14] = [
    "def", "for", "while", "if", "elif", "else", "try", "except", "finally", "with", "async", "class", "match", "case",
];

/// What begins the line of a traceback that says where the line below stands.
const FRAME: &str = "File \"";

/// A call as Python writes it stands at `at`, or a list of such.
fn is_python_call(cx: &Reader<'_>, at: usize) -> bool {
    let text = cx.near(at, NEAR_MARKER);
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let name = text.iter().take_while(|byte| char_class::QUALIFIED_NAME.has_ascii(**byte)).count();
    name > 0 && text.get(name) == Some(&b'(')
}

/// The line right above that of `at` is a statement of a Python program.
fn behind_statement(cx: &Reader<'_>, at: usize) -> bool {
    let line = line_above(cx, at);
    let name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| char_class::QUALIFIED_NAME.has_ascii(byte))
    };
    let names = |list: &str| list.split(',').all(|each| name(each.split(" as ").next().unwrap_or_default().trim()));
    if let Some(list) = line.strip_prefix("import ") {
        return names(list);
    }
    if let Some((module, list)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        return name(module) && (list == "*" || names(list));
    }
    if line.starts_with("print(") && line.ends_with(')') {
        return true;
    }
    // Mostly it is a sentence.
    let Some(equals) = memchr::memchr(b'=', line.as_bytes()) else { return false };
    let (to, value) = line.split_at(equals);
    to.strip_suffix(' ').is_some_and(name) && value.strip_prefix("= ").is_some_and(is_value)
}

/// `value` is one of Python's, whole: a number, a string, a list, a dict, or what a call gives. A mere word may be one of a text.
fn is_value(value: &str) -> bool {
    let ends = match value.bytes().next() {
        Some(quote @ (b'"' | b'\'')) => return value.len() > 1 && value.bytes().last() == Some(quote),
        Some(b'[') => b']',
        Some(b'{') => b'}',
        Some(first) if first.is_ascii_alphabetic() => {
            let called = value.split_once('(').is_some_and(|(name, _)| !name.contains(char::is_whitespace));
            return called && value.ends_with(')') || matches!(value, "True" | "False" | "None");
        }
        _ => return value.parse::<f64>().is_ok(),
    };
    value.bytes().last() == Some(ends)
}

/// The line of `at`, which begins with what is `indented`, stands in a block of a Python program, or in a traceback: it is
/// indented, and the line that is less so opens one.
fn in_program(cx: &Reader<'_>, at: usize, indented: &[u8]) -> bool {
    if indented.is_empty() {
        return is_python_call(cx, at) && (behind_statement(cx, at) || opens_braces(line_above(cx, at)));
    }
    let from = floor(cx.text, at.saturating_sub(LINE));
    let above = cx.slice(from, at - indented.len()).lines().rev();
    let depth = |line: &str| line.len() - line.trim_ascii_start().len();
    let says = |line: &&str| !line.trim_ascii().is_empty() && !line.trim_ascii_start().starts_with('#');
    let opener = above.filter(says).find(|line| depth(line) < indented.len());
    let Some(line) = opener.map(|line| line.trim_matches(blank)) else { return false };
    let word = line.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    line.ends_with(':') && BLOCKS.contains(&word)
        || line.starts_with(FRAME)
        || opens_braces(line) && is_python_call(cx, at)
}

/// The line right above that of `at`, where a line begins.
fn line_above<'t>(cx: &Reader<'t>, at: usize) -> &'t str {
    let from = floor(cx.text, at.saturating_sub(LINE));
    let above = cx.slice(from, at).strip_suffix('\n').unwrap_or_default();
    above.rsplit('\n').next().unwrap_or_default().trim_ascii_end().trim_start_matches(invisible)
}

/// What begins a block in braces, where no parenthesis stands before its brace.
const BRACED: [&str; 12] =
    ["else", "try", "do", "finally", "catch", "fn", "func", "function", "class", "impl", "interface", "static"];

/// `line` opens a block of a program whose language has braces: `if (x) {`, `function main() {`, `} else {`.
fn opens_braces(line: &str) -> bool {
    let Some(head) = line.trim_ascii().strip_suffix('{').map(str::trim_ascii_end) else { return false };
    let head = head.trim_start_matches(['}', ' ']);
    let word = head.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    head.ends_with(')') || head.ends_with("=>") || BRACED.contains(&word)
}
