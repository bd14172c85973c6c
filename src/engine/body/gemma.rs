//! Gemma's value syntax: `{city:<|"|>Paris<|"|>,days:3,tags:[<|"|>a<|"|>],opts:{k:1}}`. Strings stand between markers that
//! the dialect names, without escapes; everything else is bare.
use super::Progress;
use super::literal;
use super::members::Members;
use super::shown::{QUOTATION, Quotation, ShownCalls, opens};
use crate::char_class;
use crate::dialect::{Element, Row, opener};
use crate::engine::found::{Found, Piece, Value};
use crate::engine::head::{Head, LONGEST_NAME};
use crate::engine::look::{seen, told, unless};
use crate::engine::output::Output;
use crate::engine::reader::{begun, floor};
use crate::engine::tail::closes;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::json::push_escaped;
use crate::schema::{Expected, Tool};
use crate::turn::{CallStatus, Repair, RepairCode};
use std::ops::Range;

/// What stands right behind a bracket in a shell's words and in code, and behind no call.
const IN_WORDS: &[u8] = b"'\"`)]}|/*+$\\&%=>@#~^-_";

mod unopened;
mod values;
use values::{EXTRA_COMMA, Fit, Read, Values, bare_word};

/// The members of one call, as far as they were read.
#[derive(Debug)]
pub(crate) struct Gemma {
    head: Head,
    start: usize,
    at: usize,
    depth: usize,
    index: Option<usize>,
    /// Where the member that is being read begins.
    member: usize,
    /// A string is open.
    string: Option<OpenString>,
    /// A string in quotes of JSON's or Python's is open, and this is the quote: a bracket in it is text.
    quoted: Option<u8>,
    /// Where strings of that member begin and end that show calls.
    shown: Vec<Range<usize>>,
    members: Members,
    /// All members have been read.
    closed: bool,
    /// Its first bracket stood there twice.
    doubled: bool,
    /// A string may have ended in the middle, where it shows what ends a call.
    torn: bool,
    /// Up to here a string goes on whose opening marker was left out, and which holds brackets of its own.
    unopened: usize,
    fit: Fit,
    repairs: Vec<Repair>,
}

/// A string whose end has not come.
#[derive(Debug)]
struct OpenString {
    /// The member that it is the value of, where it is one.
    key: Option<String>,
    /// How far it has been given out.
    sent: usize,
    /// Where its text begins.
    start: usize,
    calls: ShownCalls,
    /// It shows what ends a call, with a marker of its own kind.
    shows_end: bool,
}

impl Gemma {
    /// The members that begin at `at`, behind `head`.
    pub(super) fn new(at: usize, head: Head) -> Self {
        Self {
            head,
            start: at,
            at,
            depth: 0,
            index: None,
            member: at + 1,
            string: None,
            quoted: None,
            shown: Vec::new(),
            members: Members::default(),
            closed: false,
            doubled: false,
            torn: false,
            unopened: 0,
            fit: Fit::Whole,
            repairs: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let Some(index) = writer.begin_once(cx, out, &self.head, &mut self.index) else {
            return Progress::Fail { at: self.start };
        };
        let (quote, row) = (quote(cx, writer), writer.origin.row(cx));
        let status = loop {
            match self.next(cx, quote, row, writer.origin.tail(cx), cx.called(out, index)) {
                Next::Member => {
                    if cx.slice(self.member, self.at).trim().is_empty() {
                        self.repairs.push(Repair::at(RepairCode::Comma, self.at, EXTRA_COMMA));
                    }
                    self.read(cx, out, writer, index, self.at, false);
                    self.at += 1;
                    self.member = self.at;
                    self.quoted = None;
                    self.shown.clear();
                }
                Next::Closing => {
                    self.close(cx, out, writer, index);
                    return Progress::More;
                }
                Next::End(end) => {
                    self.close(cx, out, writer, index);
                    if end == End::Marker {
                        let what = "the closing bracket is missing";
                        self.repairs.push(Repair::at(RepairCode::Bracket, self.at, what));
                    } else {
                        let brackets = [self.start, self.at].map(|at| cx.bytes().get(at).copied());
                        let bare = self.is_bare(cx, quote);
                        if bare
                            && matches!(brackets, [Some(b'{'), Some(b')')] | [Some(b'('), Some(b'}')] | [_, Some(b']')])
                        {
                            let what = "a closing bracket of the wrong kind was replaced";
                            self.repairs.push(Repair::at(RepairCode::Bracket, self.at, what));
                        }
                        self.at += 1;
                        self.at += usize::from(self.doubled && cx.bytes().get(self.at) == Some(&b'}'));
                    }
                    let whole = self.fit == Fit::Whole && end != End::Early && !self.torn;
                    break if whole { CallStatus::Ok } else { CallStatus::Malformed };
                }
                Next::More if !cx.eof => {
                    self.tell(cx, out, writer, index);
                    return Progress::More;
                }
                Next::More => {
                    self.at = cx.text.len();
                    if let Some(string) = self.string.take().filter(|string| string.calls.any() || string.shows_end) {
                        self.shown.push(string.start..self.at);
                    }
                    // What may be the beginning of a marker round a string is none of it.
                    self.read(cx, out, writer, index, self.at - begun(cx.text, quote), true);
                    break CallStatus::Incomplete;
                }
            }
        };
        // Where strings have quotes, a null is one, as in JSON, and no bare word.
        let literal = !quote.is_empty() && status == CallStatus::Ok && self.members.holds_null(cx);
        let members = if literal { self.members.take_literals(cx) } else { self.members.take() };
        let found = if self.fit == Fit::TooDeep { Found::none() } else { members };
        let pending = writer.over(index, found, writer.start..self.at);
        pending.status = status;
        pending.repairs = std::mem::take(&mut self.repairs);
        Progress::Done { end: self.at }
    }

    /// The last member is over, and so are the arguments, whatever it says of them that stands behind the bracket.
    fn close(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, index: usize) {
        if self.closed {
            return;
        }
        self.read(cx, out, writer, index, self.at, false);
        if self.fit == Fit::Whole {
            self.members.close(out, writer, index);
        }
        self.closed = true;
    }

    /// Looks for the next place where a member is over: the comma before another one, or behind the outermost bracket.
    fn next(&mut self, cx: &Reader<'_>, quote: &str, row: Option<&Row>, tail: &[Element], tool: Option<&Tool>) -> Next {
        let bytes = cx.bytes();
        loop {
            if self.string.is_some() {
                match self.in_string(cx, quote, row, tail) {
                    Look::Is(()) => continue,
                    _ => return Next::More,
                }
            }
            match bytes.get(self.at) {
                None => return Next::More,
                Some(b'\\') if self.quoted.is_some() => match bytes.get(self.at + 1) {
                    // What it escapes is no quote.
                    Some(_) => self.at += 1,
                    None => return Next::More,
                },
                Some(quote @ (b'"' | b'\'')) => self.quoted = self.quoted_behind(cx, *quote),
                Some(b'{' | b'(' | b'[' | b'}' | b')' | b']') if self.quoted.is_some() => {
                    match self.all_closes(cx, tail) {
                        Look::No => {}
                        Look::More => return Next::More,
                        Look::Is(()) => {
                            self.quoted = None;
                            continue;
                        }
                    }
                }
                Some(b'{' | b'(' | b'[' | b'}' | b')' | b']') if self.at < self.unopened => {}
                Some(b'{') if self.at == self.start && !self.doubled => match bytes.get(self.at + 1) {
                    None if !cx.eof => return Next::More,
                    Some(b'{') => {
                        let what = "a brace too many was left out";
                        self.repairs.push(Repair::at(RepairCode::Bracket, self.at, what));
                        (self.doubled, self.start, self.member) = (true, self.at + 1, self.at + 2);
                    }
                    _ => self.depth += 1,
                },
                Some(b'{' | b'(' | b'[') => self.depth += 1,
                Some(close @ (b'}' | b')' | b']')) if self.depth <= 1 => {
                    match self.in_unopened(cx, quote, tail, tool) {
                        Look::Is(marker) => {
                            self.unopened = marker;
                            continue;
                        }
                        Look::More => return Next::More,
                        Look::No => {}
                    }
                    match self.cuts_item(cx, quote, tail) {
                        Look::Is(()) => self.torn = true,
                        Look::More => return Next::More,
                        Look::No => {}
                    }
                    if *close == b'}' && self.doubled && self.at + 1 >= bytes.len() && !cx.eof {
                        return Next::Closing;
                    }
                    return match self.closes_early(cx, quote, tail, tool) {
                        Look::More if !cx.eof => Next::Closing,
                        Look::Is(()) => Next::End(End::Early),
                        Look::No | Look::More => Next::End(End::Bracket),
                    };
                }
                Some(b'}' | b')' | b']') => self.depth -= 1,
                Some(b',') if self.depth == 1 => match key_at(cx, self.at + 1, quote) {
                    Look::Is(key) => match self.before_comma(cx, quote) {
                        Before::Over if self.at >= self.unopened => return Next::Member,
                        Before::Over | Before::Bare if may_be_parameter(tool, cx.part(&key)) => return Next::Member,
                        Before::Over | Before::Bare | Before::Quoted => {}
                    },
                    Look::More => return Next::More,
                    Look::No => {}
                },
                Some(b'<') => {
                    match cx.literal(self.at, quote) {
                        Look::Is(end) if !quote.is_empty() => {
                            self.quoted = None;
                            self.string = self.opened(cx, quote, end);
                            self.at = end;
                            continue;
                        }
                        Look::More => return Next::More,
                        _ => {}
                    }
                    // The call's own end without a closing bracket.
                    match closes(cx, tail, self.at) {
                        Look::Is(()) => return Next::End(End::Marker),
                        Look::More => return Next::More,
                        Look::No => {}
                    }
                }
                Some(_) => {}
            }
            self.at += 1;
        }
    }

    /// The quote of the string that is open behind the `quote` at hand: that opens one where a key or a value begins, and closes
    /// its own.
    fn quoted_behind(&self, cx: &Reader<'_>, quote: u8) -> Option<u8> {
        if let Some(open) = self.quoted {
            return Some(open).filter(|open| *open != quote);
        }
        let before = cx.slice(self.start, self.at).bytes().rev().find(|byte| !byte.is_ascii_whitespace());
        Some(quote).filter(|_| before.is_some_and(|byte| b":=,[{(".contains(&byte)))
    }

    /// Behind the bracket at hand, which stands in a string in quotes, and others all is over: what closes the string is missing.
    fn all_closes(&self, cx: &Reader<'_>, tail: &[Element]) -> Look<()> {
        let near = cx.near(self.at, LONGEST_NAME);
        let closing = |byte: u8| matches!(byte, b'}' | b')' | b']') || byte.is_ascii_whitespace();
        match near.iter().position(|byte| !closing(*byte)) {
            Some(0) => Look::No,
            Some(length) => closes(cx, tail, self.at + length),
            None if near.len() >= LONGEST_NAME => Look::No,
            None if cx.eof => Look::Is(()),
            None => Look::More,
        }
    }

    /// Reads on in the string that is open, up to its end or to a marker that is none of its own.
    fn in_string(&mut self, cx: &Reader<'_>, quote: &str, row: Option<&Row>, tail: &[Element]) -> Look<()> {
        let Some(string) = &mut self.string else { return Look::No };
        let Some(i) = memchr::memmem::find(cx.rest(self.at).as_bytes(), quote.as_bytes()) else {
            let next = floor(cx.text, cx.text.len().saturating_sub(quote.len() - 1));
            self.at = next.max(self.at);
            return Look::More;
        };
        let marker = self.at + i..self.at + i + quote.len();
        self.at = marker.start;
        if told!(row.map_or(Look::Is(()), |row| string.calls.closes(cx, row, marker.clone()))).is_some() {
            match row.map_or(Look::No, |row| quoted_end(cx, row, tail, string.start, marker.clone())) {
                Look::Is(Some(own)) => {
                    (self.at, string.shows_end) = (own, true);
                    return Look::Is(());
                }
                Look::Is(None) => self.torn = true,
                Look::No => {}
                Look::More => return Look::More,
            }
            self.shown.extend((string.calls.any() || string.shows_end).then_some(string.start..marker.start));
            self.string = None;
        }
        self.at = marker.end;
        Look::Is(())
    }

    /// The bracket at hand, which closes the outermost one, came too early: its members go on behind it. If it is of another
    /// kind, any text there says so, as a string may have ended before it.
    fn closes_early(&self, cx: &Reader<'_>, quote: &str, tail: &[Element], tool: Option<&Tool>) -> Look<()> {
        match self.members_go_on(cx, quote, tail, tool) {
            Look::No if self.is_bare(cx, quote) => self.word_goes_on(cx, tail),
            look => look,
        }
    }

    /// The member that is being read is bare text.
    fn is_bare(&self, cx: &Reader<'_>, quote: &str) -> bool {
        let some = cx.skip_space(self.member) < self.at;
        some && matches!(self.before_comma(cx, quote), Before::Bare)
    }

    /// Behind the bracket at hand stands what a member begins with, or it is not what closes these.
    fn members_go_on(&self, cx: &Reader<'_>, quote: &str, tail: &[Element], tool: Option<&Tool>) -> Look<()> {
        let (open, close) = (cx.bytes().get(self.start), cx.bytes().get(self.at));
        let own = matches!((open, close), (Some(b'{'), Some(b'}')) | (Some(b'('), Some(b')')));
        let at = seen!(cx.behind_space(self.at, self.at + 1));
        let comma = match cx.bytes().get(at) {
            None => return Look::No,
            // Text behind white space may be any.
            Some(_) if !own && at > self.at + 1 => return Look::No,
            Some(byte) => *byte == b',',
        };
        match closes(cx, tail, at) {
            Look::No if own => {}
            Look::No => return Look::Is(()),
            Look::Is(()) => return Look::No,
            Look::More => return Look::More,
        }
        // In brackets of their own as well.
        let opens = matches!(cx.bytes().get(at), Some(b'{'));
        key_at(cx, at + usize::from(comma || opens), quote).then(|key| {
            let key = cx.part(&key).trim_matches(['"', '\'']);
            let is = comma || key.is_empty() || tool.is_some_and(|tool| tool.declares(key));
            Look::when(is)
        })
    }

    /// The bracket at hand stands in the bare text that is being read (`echo '}' >> a`): a sign that ends no call stands right
    /// behind it, or another such bracket further on in the line.
    #[cold]
    fn word_goes_on(&self, cx: &Reader<'_>, tail: &[Element]) -> Look<()> {
        let Some(close) = cx.bytes().get(self.at).copied() else { return Look::No };
        let behind = self.at + 1;
        unless!(closes(cx, tail, cx.skip_space(behind)));
        let near = cx.near(behind, LONGEST_NAME);
        if near.first().is_some_and(|byte| IN_WORDS.contains(byte)) {
            return Look::Is(());
        }
        let open = match close {
            b'}' => b'{',
            b']' => b'[',
            _ => b'(',
        };
        let mut depth = 0_usize;
        for byte in near {
            match *byte {
                b'\n' => return Look::No,
                byte if byte == open => depth += 1,
                byte if byte == close && depth == 0 => return Look::Is(()),
                byte if byte == close => depth -= 1,
                _ => {}
            }
        }
        cx.ran_out(near.len(), LONGEST_NAME)
    }

    /// What the member that is being read is, up to the comma that was reached.
    fn before_comma(&self, cx: &Reader<'_>, quote: &str) -> Before {
        let text = cx.slice(self.member, self.at).trim_end();
        // What a value is shows at its beginning; one that is longer is no number and no word of JSON's.
        let near = text.get(..floor(text, LONGEST_NAME)).unwrap_or(text);
        let value = near.split_once([':', '=']).map_or("", |(_, value)| value.trim_start());
        if !quote.is_empty() && text.ends_with(quote) {
            return Before::Over;
        }
        if let Some(mark) = value.chars().next().filter(|mark| matches!(mark, '"' | '\'')) {
            let closed = text.ends_with(mark) && (value.len() > 1 || near.len() < text.len());
            return if closed { Before::Over } else { Before::Quoted };
        }
        let literal = near.len() == text.len() && literal::looks_like_one(value);
        if literal || text.ends_with(['}', ']']) { Before::Over } else { Before::Bare }
    }

    /// The string that the marker here opens, which ends at `end`, if it opens one.
    fn opened(&self, cx: &Reader<'_>, quote: &str, end: usize) -> Option<OpenString> {
        let before = cx.slice(self.member.min(self.at), self.at);
        if !opens(cx.slice(self.start, self.at)) {
            return None;
        }
        let key = (self.depth == 1).then(|| Values::new(before, quote, None).only_key()).flatten();
        Some(OpenString { key, sent: end, start: end, calls: ShownCalls::new(end), shows_end: false })
    }

    /// Gives out what is certain of the string that a member is.
    fn tell(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, index: usize) {
        let Some(OpenString { key: Some(key), sent, .. }) = &mut self.string else { return };
        let text = cx.slice(*sent, self.at);
        if text.is_empty() || !out.streaming() || self.fit != Fit::Whole {
            return;
        }
        *sent = self.at;
        let mut json = String::new();
        push_escaped(&mut json, text);
        self.members.grow(out, writer, index, key, &json);
    }

    /// Reads the member that ends at `end` (`cut`: the text does, inside it).
    fn read(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, index: usize, end: usize, cut: bool) {
        if self.fit != Fit::Whole {
            return;
        }
        let quote = quote(cx, writer);
        let tool = cx.called(out, index);
        let root = tool.map(|t| &t.schema);
        let text = cx.slice(self.member.min(end), end);
        let mut values = Values::new(text, quote, root).nested(cx.policy.max_depth, cut);
        values.shown = self.shown.iter().map(|string| string.start - self.member..string.end - self.member).collect();
        let mut first = true;
        while let Some(key) = values.key(root) {
            if !std::mem::take(&mut first) && !values.parted {
                values.add_comma(may_be_parameter(tool, &key));
            }
            let schema = tool.and_then(|t| t.part(&key));
            let value = match values.value(0, schema, false) {
                Read::Text(text) => Value::Text(Piece::Made(text)),
                Read::Json(json) => Value::Json(Piece::Made(json)),
                Read::Word(word) => {
                    let expected = tool.map_or(Expected::ANY, |t| t.expected(&key).json_first());
                    Value::from(bare_word(&word, expected))
                }
                Read::Nothing => break,
            };
            let told = Some(index).filter(|_| !cut && values.fit != Fit::TooDeep);
            if self.members.add(cx, out, writer, told, Piece::Made(key), value) {
                let what = "an argument stood twice: the last value counts";
                self.repairs.push(Repair::at(RepairCode::DuplicateKey, self.member, what));
            }
        }
        let rest = values.rest().trim_matches(|c: char| c.is_whitespace() || ",})]".contains(c));
        self.fit = match values.fit {
            Fit::Whole if !rest.is_empty() && !cut => Fit::Part,
            Fit::Part if cut => Fit::Whole,
            fit => fit,
        };
        let place = |mut repair: Repair| {
            repair.offset = repair.offset.map(|at| self.member + at);
            repair
        };
        self.repairs.extend(values.repairs.into_iter().map(place));
    }
}

/// The `marker` round strings, and what closes a call behind it, stand between quotes that the string from `start` on has opened: it
/// shows them. Where its own one stands, if it is near and no other call stands before it.
#[cold]
fn quoted_end(cx: &Reader<'_>, row: &Row, tail: &[Element], start: usize, marker: Range<usize>) -> Look<Option<usize>> {
    let quotation = Quotation::at_end(cx.slice(start, marker.start));
    if !quotation.is_open() {
        return Look::No;
    }
    let closer = |at: usize| {
        let at = seen!(cx.behind_space(at, at));
        if !matches!(cx.bytes().get(at), Some(b'}' | b')')) {
            return Look::No;
        }
        let at = seen!(cx.behind_space(at, at + 1));
        Look::first_of(tail.iter().filter_map(Element::text).map(|text| cx.literal(at, text)))
    };
    let end = seen!(closer(marker.end));
    seen!(quotation.closes(cx, end));
    let near = cx.near(end, QUOTATION);
    let quote = cx.part(&marker).as_bytes();
    let begins = row.marked_calls().filter_map(|call| opener(&call.head));
    let calls = begins.filter_map(|begin| memchr::memmem::find(near, begin.as_bytes())).min().unwrap_or(near.len());
    for (i, at) in memchr::memmem::find_iter(near, quote).take_while(|at| *at < calls).map(|at| end + at).enumerate() {
        if told!(closer(at + quote.len())).is_some() {
            return Look::Is(Some(at));
        }
        // Behind the first of them the members may go on; behind another, which opened a string, nobody knows.
        let comma = seen!(cx.behind_space(at, at + quote.len()));
        let goes_on = match cx.bytes().get(comma) {
            Some(b',') => key_at(cx, comma + 1, "").unit(),
            _ => Look::No,
        };
        if told!(goes_on).is_some() {
            return Look::Is(Some(at).filter(|_| i == 0));
        }
    }
    if calls == near.len() && end + near.len() == cx.text.len() && !cx.eof { Look::More } else { Look::Is(None) }
}

/// The marker round strings.
fn quote<'t>(cx: &Reader<'t>, writer: &Writer) -> &'t str {
    writer.origin.row(cx).map_or("", |row| row.dialect.quote.as_str())
}

/// What stands before a comma behind which a key follows.
enum Before {
    /// A value that is over.
    Over,
    /// Bare text, which may go on with the comma.
    Bare,
    /// A string in quotes that has not closed.
    Quoted,
}

/// What stands where a member may be over.
enum Next {
    /// A comma, and behind it another member.
    Member,
    /// The outermost bracket closes, and what stands behind it has not come.
    Closing,
    /// The call is over.
    End(End),
    More,
}

/// What ends a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Bracket,
    /// That, though members follow it.
    Early,
    /// Its closing marker, without the bracket.
    Marker,
}

/// The tool has a parameter of this name, or nobody knows which it has.
fn may_be_parameter(tool: Option<&Tool>, key: &str) -> bool {
    let declared = |tool: &Tool| tool.parameters.is_empty() || tool.declares(key);
    key.is_empty() || tool.is_none_or(declared)
}

/// A key and its colon stand at `at`, or a string that may be one: then nothing is said of its name.
fn key_at(cx: &Reader<'_>, at: usize, quote: &str) -> Look<Range<usize>> {
    let start = cx.skip_space(at);
    if !quote.is_empty() {
        match cx.literal(start, quote) {
            Look::No => {}
            look => return look.map(|end| end..end),
        }
    }
    let length = char_class::QUOTED_KEY.length(cx.near(start, LONGEST_NAME));
    match cx.behind_space(start, start + length) {
        Look::Is(colon) if length > 0 && matches!(cx.bytes().get(colon), Some(b':' | b'=')) => {
            Look::Is(start..start + length)
        }
        Look::More => Look::More,
        _ => Look::No,
    }
}
