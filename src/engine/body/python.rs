//! Python calls: `[f(a=1), g()]`, with or without the list, as models write them rather than as Python reads them.
use super::Progress;
use super::lenient;
use super::members::Members;
use super::placeholder;
use crate::dialect::Element;
use crate::engine::head::LONGEST_NAME;
use crate::engine::output::{Output, Piece, Value, span};
use crate::engine::trace::Reason;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::json::{Member, ScanResult, Scanner, unescaped};
use crate::schema::Tool;
use crate::turn::{CallStatus, Repair, RepairCode};
use std::ops::Range;

mod after;
mod expression;
mod space;
mod torn;
mod value;
use value::{Item, ValueScan, name_at, next_item};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A call, a list, or the end of the list.
    Call,
    /// An argument or the closing parenthesis.
    Argument,
    /// The value of an argument.
    Value,
    /// A comma or the closing parenthesis.
    AfterArgument,
    /// A separator, another call, or the end.
    AfterCall,
}

/// The quote round a call that is written as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    /// It has to come again, right behind the call.
    Open(u8),
    /// What stands behind the call has been looked at.
    Over(u8),
}

#[derive(Debug)]
pub(crate) struct Python {
    at: usize,
    expect: Expect,
    /// A list is open.
    list: bool,
    /// The call stands in `print(...)`, which only shows its result.
    printed: bool,
    quoted: Quoted,
    /// The name was escaped for Markdown, so the strings are as well.
    escaped: bool,
    name: String,
    name_start: usize,
    /// The call that has begun.
    index: Option<usize>,
    /// It is none, though those beside it are: it is read, and stays text.
    passed: bool,
    /// A value in it means none of the tool's parameters.
    unreadable: bool,
    members: Members,
    repairs: Vec<Repair>,
    /// The name of the argument that is being read; none for a positional one.
    key: Option<String>,
    scan: ValueScan,
}

/// The marker that the call began with.
fn opener<'t>(cx: &Reader<'t>, writer: &Writer) -> Option<&'t str> {
    let call = writer.origin.template(cx)?;
    match call.head.first() {
        Some(Element::Literal(marker)) => Some(&**marker),
        _ => None,
    }
}

/// The members of `json`, if it is an object that is no more than that.
fn members(json: &str) -> Option<Vec<(String, String)>> {
    let mut scanner = Scanner::new(0, usize::MAX);
    if !json.starts_with('{') || scanner.scan(json.as_bytes(), true) != (ScanResult::Complete { end: json.len() }) {
        return None;
    }
    let member = |member: &Member| {
        let key = json.get(member.key.clone())?;
        Some((unescaped(key).into_owned(), json.get(member.value()?)?.to_owned()))
    };
    scanner.members().iter().map(member).collect()
}

fn without_backslashes(text: &str) -> (String, bool) {
    if text.contains('\\') { (text.replace('\\', ""), true) } else { (text.to_owned(), false) }
}

impl Python {
    /// A call may begin at `at`: a list bracket if there is one, a quote if there is one, a name, a parenthesis.
    pub(crate) fn plausible(cx: &Reader<'_>, at: usize) -> Look<()> {
        let bytes = cx.bytes();
        let mut at = at;
        if bytes.get(at) == Some(&b'[') {
            at = cx.skip_space(at + 1);
            if matches!(bytes.get(at), Some(b'"' | b'\'')) {
                at += 1;
            }
        }
        let name = name_at(cx, at);
        if name.len() > LONGEST_NAME {
            return Look::No;
        }
        match bytes.get(name.end) {
            None if !cx.eof => Look::More,
            Some(b'(') if name.start < name.end && !bytes[name.start].is_ascii_digit() => Look::Is(()),
            _ => Self::parenthesis(cx, &name).map(|_| ()),
        }
    }

    /// Where the parenthesis stands behind a name: right there, or behind white space if the name is an offered one.
    fn parenthesis(cx: &Reader<'_>, name: &Range<usize>) -> Look<usize> {
        if name.is_empty() {
            return Look::No;
        }
        let at = cx.skip_space(name.end);
        let named = at == name.end;
        match cx.bytes().get(at) {
            _ if at - name.end > 64 || !(named || cx.offered(cx.slice(name.start, name.end))) => Look::No,
            None if !cx.eof => Look::More,
            Some(b'(') => Look::Is(at),
            _ => Look::No,
        }
    }

    pub(super) fn new(at: usize) -> Self {
        Self {
            at,
            expect: Expect::Call,
            list: false,
            printed: false,
            quoted: Quoted::No,
            escaped: false,
            name: String::new(),
            name_start: at,
            index: None,
            passed: false,
            unreadable: false,
            members: Members::default(),
            repairs: Vec::new(),
            key: None,
            scan: ValueScan::default(),
        }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        loop {
            let at = match self.next_part(cx) {
                Look::Is(at) => at,
                _ => return Progress::More,
            };
            let byte = cx.bytes().get(at).copied();
            if byte.is_none() && !cx.eof {
                return Progress::More;
            }
            let progress = match self.expect {
                Expect::Call => self.call(cx, at, byte),
                Expect::Argument => self.argument(cx, out, writer, at, byte),
                Expect::Value => self.value(cx, out, writer),
                Expect::AfterArgument => self.after_argument(cx, out, writer, at, byte),
                Expect::AfterCall => self.after_call(cx, writer, at, byte),
            };
            match progress {
                None => {}
                Some(Progress::More) if cx.eof => return self.cut_off(cx, out, writer),
                Some(progress) => {
                    if matches!(progress, Progress::Fail { .. }) {
                        out.trace.refuse(Reason::NotReadable, &self.name);
                    }
                    return progress;
                }
            }
        }
    }

    /// Where the next part stands, behind white space and, in a call or a list, behind comments.
    fn next_part(&mut self, cx: &Reader<'_>) -> Look<usize> {
        let inside = match self.expect {
            Expect::Value => return Look::Is(self.at),
            Expect::Argument | Expect::AfterArgument => true,
            Expect::Call | Expect::AfterCall => self.list,
        };
        loop {
            let at = cx.skip_space(self.at);
            match if inside { space::comment(cx, at) } else { Look::No } {
                Look::No => return Look::Is(at),
                Look::More => return Look::More,
                Look::Is(end) => {
                    if self.repairs.last().is_none_or(|last| last.code != RepairCode::Comment) {
                        self.repairs.push(Repair::at(RepairCode::Comment, at, "a comment was left out"));
                    }
                    self.at = end;
                }
            }
        }
    }

    fn call(&mut self, cx: &Reader<'_>, at: usize, byte: Option<u8>) -> Option<Progress> {
        match byte {
            None => return Some(Progress::More),
            Some(b'[') if !self.list => {
                self.list = true;
                self.at = at + 1;
                return None;
            }
            Some(b']') if self.list => {
                self.list = false;
                self.at = at + 1;
                self.expect = Expect::AfterCall;
                return None;
            }
            Some(_) => {}
        }
        // A call written as a string: its quote closes behind it.
        let quoted = byte.filter(|b| matches!(b, b'"' | b'\'') && self.list);
        self.quoted = quoted.map_or(Quoted::No, Quoted::Open);
        let at = if quoted.is_some() { at + 1 } else { at };
        let name = name_at(cx, at);
        let open = match cx.bytes().get(name.end) {
            None => return Some(Progress::More),
            Some(_) => match Self::parenthesis(cx, &name) {
                Look::Is(open) => open,
                Look::More => return Some(Progress::More),
                Look::No => return Some(Progress::Fail { at }),
            },
        };
        if !self.printed && cx.slice(name.start, name.end) == "print" && !cx.offered("print") {
            let inside = cx.skip_space(open + 1);
            match Self::plausible(cx, inside) {
                Look::Is(()) if Self::may_be_meant(cx, inside) => {
                    self.printed = true;
                    self.at = inside;
                    return None;
                }
                Look::More => return Some(Progress::More),
                _ => {}
            }
        }
        let (text, escaped) = without_backslashes(&cx.text[name.clone()]);
        if escaped {
            self.repairs.push(Repair::at(RepairCode::MarkdownEscape, name.start, "Markdown escapes were removed"));
        }
        self.escaped = escaped;
        // A tool as an object whose method is called.
        let tool =
            text.strip_suffix(".call").filter(|tool| !cx.offered(&text) && (cx.tools.is_none() || cx.offered(tool)));
        self.name = tool.map(str::to_owned).unwrap_or(text);
        self.name_start = name.start;
        self.index = None;
        self.passed = false;
        self.unreadable = false;
        self.members = Members::default();
        self.at = open + 1;
        self.expect = Expect::Argument;
        None
    }

    /// Begins the call, now that its first argument (or that it has none) is certain.
    fn begin(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> bool {
        if self.index.is_none() && !self.passed {
            self.index = writer.begin(cx, out, &self.name, None);
            // One name too many does not void its siblings.
            self.passed = self.index.is_none() && writer.begun > 0;
        }
        self.index.is_some() || self.passed
    }

    fn argument(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        at: usize,
        byte: Option<u8>,
    ) -> Option<Progress> {
        let Some(byte) = byte else { return Some(Progress::More) };
        if byte == b')' {
            return self.end_call(cx, out, writer, at + 1);
        }
        if byte == b',' {
            self.repairs.push(Repair::at(RepairCode::Comma, at, "a comma too many was left out"));
            self.at = at + 1;
            return None;
        }
        let name = name_at(cx, at);
        let equals = cx.skip_space(name.end);
        if equals >= cx.text.len() && !cx.eof {
            return Some(Progress::More);
        }
        let assigned = cx.bytes().get(equals) == Some(&b'=');
        if assigned && equals + 1 >= cx.text.len() && !cx.eof {
            return Some(Progress::More);
        }
        let keyed = assigned && cx.bytes().get(equals + 1) != Some(&b'=') && !name.is_empty();
        let (key, start) = if keyed {
            (Some(without_backslashes(&cx.text[name.clone()])), cx.skip_space(equals + 1))
        } else {
            (None, at)
        };
        if start >= cx.text.len() && !cx.eof {
            return Some(Progress::More);
        }
        let key = key.map(|(key, escaped)| {
            if escaped {
                self.repairs.push(Repair::at(RepairCode::MarkdownEscape, at, "Markdown escapes were removed"));
            }
            key
        });
        // The next call of the list, where the parenthesis should close: `[f(a=1, g(b=2)]`.
        if !keyed
            && self.list
            && !self.members.list().is_empty()
            && cx.bytes().get(equals) == Some(&b'(')
            && cx.offered(cx.slice(name.start, name.end))
        {
            let before = cx.slice(self.name_start, at).trim_end();
            let end = self.name_start + before.strip_suffix(',').unwrap_or(before).len();
            self.repairs.push(Repair::at(RepairCode::Bracket, end, "the closing parenthesis is missing"));
            return self.end_call(cx, out, writer, end);
        }
        // Two words in a row are prose, whatever may close the parenthesis further on.
        let word = |at: usize| cx.bytes().get(at).is_some_and(u8::is_ascii_alphabetic);
        if !keyed && writer.begun == 0 && equals > name.end && word(name.start) && word(equals) {
            return Some(Progress::Fail { at });
        }
        if keyed && !self.begin(cx, out, writer) {
            return Some(Progress::Fail { at });
        }
        self.scan = ValueScan::at(start);
        self.at = start;
        self.key = key;
        self.expect = Expect::Value;
        None
    }

    fn value(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Option<Progress> {
        let end = match self.scan.end(cx, writer.origin.row(cx), self.key.is_some(), &self.name) {
            Look::Is(end) => end,
            Look::No | Look::More => {
                self.tell(cx, out, writer);
                return Some(Progress::More);
            }
        };
        let text = cx.slice(self.scan.start, end).trim();
        self.at = end;
        self.expect = Expect::AfterArgument;
        self.unreadable |= self.scan.torn;
        match self.key.take() {
            Some(key) => {
                let unescaped = if self.escaped { text.replace("\\_", "_") } else { String::new() };
                let text = if self.escaped { &unescaped } else { text };
                let read = if self.scan.is_string(text) { lenient::string } else { lenient::literal };
                let lenient::Literal { json, mut repairs, guessed } = read(text, self.scan.start);
                self.unreadable |=
                    guessed || self.is_expression(text, &repairs) || placeholder::mended(cx.text, &repairs);
                self.unreadable |= self.holds_other(cx, writer, (text, end), &json, &repairs);
                // Of `l=imit=5`, the first sign is one too many.
                let source = repairs.iter().any(|repair| repair.code == RepairCode::SourceText);
                let unknown = |tool: &Tool| !tool.parameters.is_empty() && !tool.declares(&key);
                self.unreadable |= source && text.contains('=') && cx.tool(&self.name).is_some_and(unknown);
                self.repairs.append(&mut repairs);
                self.member(cx, out, writer, key, json);
                None
            }
            None => match self.positional(cx, out, writer, text) {
                Some(Progress::Fail { .. }) if writer.begun > 0 => {
                    // What was begun stays, as what it is; a call that was not is text.
                    self.unreadable = true;
                    self.passed = self.index.is_none();
                    None
                }
                progress => progress,
            },
        }
    }

    /// What belongs to something else stands in the value, whose `text` ends at `end`, or what it was meant as is not clear.
    fn holds_other(
        &self,
        cx: &Reader<'_>,
        writer: &Writer,
        (text, end): (&str, usize),
        json: &str,
        repairs: &[Repair],
    ) -> bool {
        let mended = |code: RepairCode| repairs.iter().any(|repair| repair.code == code);
        let argument = || torn::holds_argument(cx, self.scan.start, end, &self.name);
        // What was meant as a list or an object is none, or has items that nothing parts.
        let unparted = || {
            // Strings in parentheses are joined.
            let list = text.starts_with(['[', '{']) || mended(RepairCode::SourceText);
            let none = list && json.starts_with('"') && text.contains(['"', '\'']);
            none || mended(RepairCode::Quotes) && torn::holds_item(json)
        };
        // A call that was shown in the string closed it, perhaps.
        let call = || {
            let whole = self.scan.is_string(text) && self.scan.shown.whole();
            !whole && opener(cx, writer).is_some_and(|opener| text.contains(opener))
        };
        // The quotes of the string were written as entities, and so was what else it holds.
        let entities = ["&quot;", "&#x27;", "&#39;", "&#34;", "&apos;"];
        mended(RepairCode::SourceText) && argument()
            || text.starts_with(['[', '{', '(']) && unparted()
            || mended(RepairCode::Quotes) && call()
            || entities.iter().any(|quote| text.starts_with(quote))
    }

    /// Gives out what is certain of the string that the value is.
    fn tell(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer) {
        let (Some(key), Some(index), true) = (&self.key, self.index, out.streaming()) else { return };
        // Markdown's escapes are taken out of the whole value. At the end of the text a quote stands in the string that may
        // have closed it.
        if self.escaped || cx.eof {
            return;
        }
        if let Some(json) = self.scan.certain(cx) {
            self.members.grow(out, writer, index, key, &json);
        }
    }

    /// The value is an expression, or holds one.
    fn is_expression(&self, text: &str, repairs: &[Repair]) -> bool {
        if self.scan.holes {
            return true;
        }
        let unquoted = |repair: &&Repair| matches!(repair.code, RepairCode::SourceText | RepairCode::Quotes);
        let places = repairs.iter().filter(unquoted).filter_map(|repair| repair.offset?.checked_sub(self.scan.start));
        match text.bytes().next() {
            Some(b'[' | b'{' | b'(') => {
                let rest = |repair: &Repair| text.get(repair.offset?.checked_sub(self.scan.start)?..);
                // What no line break ends is no comment, and was meant as a value.
                let lost = |rest: &str| rest.starts_with('#') && !rest.contains('\n');
                let comments = repairs.iter().filter(|repair| repair.code == RepairCode::Comment);
                // Source text that begins with a string goes on behind it, or it would be one.
                let source = repairs.iter().filter(|repair| repair.code == RepairCode::SourceText);
                let done = |item: &str| item.starts_with(['"', '\'']);
                comments.filter_map(rest).any(lost)
                    || source.filter_map(rest).any(done)
                    || places.filter_map(|at| text.get(at..)).any(expression::begins_expression)
            }
            // Something is done with the string.
            Some(quote @ (b'"' | b'\'')) if !text.ends_with(char::from(quote)) => true,
            _ if expression::is_format(text) => true,
            _ => repairs.iter().any(|r| r.code == RepairCode::SourceText) && expression::is_expression(text),
        }
    }

    /// A value without a name: the schema's next parameter, or a dict of them all.
    fn positional(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, text: &str) -> Option<Progress> {
        let fail = Some(Progress::Fail { at: self.scan.start });
        let Some(tool) = cx.tool(&self.name) else { return fail };
        let lenient::Literal { json, mut repairs, guessed } =
            lenient::literal(text.trim_start_matches("**"), self.scan.start);
        self.unreadable |= guessed;
        let members = members(&json);
        let declared = |key: &str| tool.declares(key);
        if let Some(members) = members.filter(|list| list.iter().all(|(key, _)| declared(key))) {
            if !self.begin(cx, out, writer) {
                return fail;
            }
            self.unreadable |= self.is_expression(text, &repairs);
            for (key, value) in members {
                self.member(cx, out, writer, key, value);
            }
        } else {
            // A word that is no literal is more likely prose than an argument.
            if repairs.iter().any(|r| r.code == RepairCode::SourceText) || expression::is_format(text) {
                return fail;
            }
            let Some((key, _)) = tool.parameters.get(self.members.list().len()) else { return fail };
            if !self.begin(cx, out, writer) {
                return fail;
            }
            self.unreadable |= expression::is_pair(text);
            // Where others have been named, its place says nothing, unless they were the first.
            let named = self.members.list().iter().zip(&tool.parameters);
            self.unreadable |= !named.into_iter().all(|((name, _), (known, _))| name.as_str(cx.text) == known);
            self.member(cx, out, writer, key.clone(), json);
        }
        repairs.push(Repair::at(
            RepairCode::Positional,
            self.scan.start,
            "a positional argument got its parameter's name",
        ));
        self.repairs.append(&mut repairs);
        None
    }

    fn member(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, key: String, json: String) {
        if self.members.add(cx, out, writer, self.index, Piece::Made(key), Value::Json(Piece::Made(json))) {
            let what = "an argument stood twice: the last value counts";
            self.repairs.push(Repair::new(RepairCode::DuplicateKey, what));
        }
    }

    fn after_argument(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        at: usize,
        byte: Option<u8>,
    ) -> Option<Progress> {
        match byte {
            None => Some(Progress::More),
            Some(b',') => {
                self.at = at + 1;
                self.expect = Expect::Argument;
                None
            }
            Some(b')') => self.end_call(cx, out, writer, at + 1),
            Some(_) => {
                match next_item(cx, at, &self.name) {
                    Look::More => return Some(Progress::More),
                    Look::Is(Item::Argument) => {
                        self.repairs.push(Repair::at(RepairCode::Comma, self.at, "a missing comma was added"));
                        self.at = at;
                        self.expect = Expect::Argument;
                        return None;
                    }
                    _ => {}
                }
                // The parenthesis is missing: `f(a=1]`. What else stands there was a part of the value.
                self.unreadable |=
                    matches!(byte, Some(b'}' | b'"' | b'\'' | b':')) || (byte == Some(b']') && !self.list);
                self.repairs.push(Repair::at(RepairCode::Bracket, self.at, "the closing parenthesis is missing"));
                self.end_call(cx, out, writer, self.at)
            }
        }
    }

    fn end_call(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, end: usize) -> Option<Progress> {
        if !self.begin(cx, out, writer) {
            return Some(Progress::Fail { at: end });
        }
        match self.index.take() {
            Some(index) => {
                self.members.close(out, writer, index);
                let found = self.members.take();
                out.trace.python_call(cx.text, self.name_start..end);
                let pending = writer.over(index, found, self.name_start..end);
                pending.repairs = std::mem::take(&mut self.repairs);
                if self.unreadable {
                    pending.status = CallStatus::Malformed;
                }
            }
            None => {
                writer.pass(span(self.name_start..end));
                self.repairs.clear();
            }
        }
        self.at = end;
        self.expect = Expect::AfterCall;
        None
    }

    /// The call, or list of calls, that begins at `at` is of an offered tool, or there is nothing to tell.
    fn may_be_meant(cx: &Reader<'_>, at: usize) -> bool {
        let start = if cx.bytes().get(at) == Some(&b'[') { cx.skip_space(at + 1) } else { at };
        let name = name_at(cx, start);
        cx.tools.is_none() || cx.offered(&without_backslashes(&cx.text[name]).0)
    }

    fn cut_off(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let end = cx.text.len();
        let named = !matches!(self.expect, Expect::Call | Expect::AfterCall);
        // Behind its name and the parenthesis, what else has begun or a marker vouches for it.
        if named && cx.offered(&self.name) && (writer.begun > 0 || !writer.origin.is_bare()) {
            self.begin(cx, out, writer);
        }
        match self.index.take() {
            Some(index) => {
                if let (Expect::Value, Some(key)) = (self.expect, self.key.take())
                    && let Some(json) = lenient::certain_literal(cx.slice(self.scan.start, end))
                {
                    self.members.keep_cut(Piece::Made(key), Value::Json(Piece::Made(json)));
                }
                let found = self.members.take();
                let pending = writer.over(index, found, self.name_start..end);
                pending.status = CallStatus::Incomplete;
                pending.repairs = std::mem::take(&mut self.repairs);
                Progress::Done { end }
            }
            None if writer.begun > 0 => {
                if named {
                    writer.pass(span(self.name_start..end));
                    self.at = end;
                }
                Progress::Done { end: self.at }
            }
            None => Progress::Fail { at: end },
        }
    }
}
