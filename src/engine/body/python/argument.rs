//! The arguments of a Python call: by name or by place, and whether a value is what was meant.
use super::ahead::{Item, MOST_BRACKETS, WIDE_COMMA, behind_wide_comma, name_at, next_item};
use super::value::{Argument, ValueScan};
use super::{Begun, Expect, Python, expression, space, stray};
use crate::bytes::trimmed;
use crate::char_class;
use crate::dialect;
use crate::engine::body::Progress;
use crate::engine::body::literal::{self, Literal};
use crate::engine::body::placeholder;
use crate::engine::found::{Piece, Value};
use crate::engine::look::told;
use crate::engine::output::Output;
use crate::engine::reader::invisible;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader};
use crate::json::{Member, ScanResult, Scanner, unescaped};
use crate::schema::{Expected, Tool};
use crate::turn::{Repair, RepairCode};
use std::borrow::Cow;

impl Python {
    /// An argument, or what closes the call, stands at `at`.
    pub(super) fn argument(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        at: usize,
        byte: Option<u8>,
    ) -> Option<Progress> {
        let Some(byte) = byte else { return Some(Progress::More) };
        if byte == self.closes {
            return self.end_call(cx, out, writer, at + 1);
        }
        if byte == b',' {
            self.repairs.push(Repair::at(RepairCode::Comma, at, "a comma too many was left out"));
            self.at = at + 1;
            return None;
        }
        // In a string the call's line breaks are escaped.
        if byte == b'\\' && self.quote_round().is_some() {
            match cx.bytes().get(at + 1) {
                None if !cx.eof => return Some(Progress::More),
                Some(b'n' | b'r' | b't') => {
                    self.at = at + 2;
                    return None;
                }
                _ => {}
            }
        }
        if !byte.is_ascii() {
            self.at = space::odd_blanks(cx, at);
            if self.at > at {
                self.left_blanks(at);
                return None;
            }
        }
        let more = |at: usize| at >= cx.text.len() && !cx.eof;
        let name = name_at(cx, at);
        let equals = cx.skip_space(name.end);
        let assigned = cx.bytes().get(equals) == Some(&b'=');
        if more(equals) || assigned && more(equals + 1) {
            return Some(Progress::More);
        }
        // `==` compares, and `=>` is a function's: between markers the call is told all the same, and cannot be read.
        let next = cx.bytes().get(equals + 1);
        let arrow = next == Some(&b'>');
        let signs = next != Some(&b'=') && (!arrow || !writer.origin.is_bare());
        let keyed = assigned && signs && !name.is_empty();
        self.unreadable |= keyed && arrow;
        let start = if keyed { cx.skip_blanks(equals + 1) } else { at };
        if more(start) {
            return Some(Progress::More);
        }
        if keyed {
            let named = cx.part(&name).trim_end_matches(invisible).len();
            if named < name.len() || cx.slice(equals + 1, start).contains(invisible) {
                self.left_blanks(name.start);
            }
            let (key, escaped) = self.read_name(cx, name.start..name.start + named);
            self.escaped |= escaped;
            self.key = Some(cx.piece_of(key));
            if !self.begin(cx, out, writer) {
                return Some(Progress::Fail { at });
            }
        } else {
            // The next call of the list, where the parenthesis should close: `[f(a=1, g(b=2)]`, `[f((a=1), g(b=2)]`.
            if self.list
                && (self.begun == Begun::Passed || !self.members.list().is_empty())
                && cx.bytes().get(equals) == Some(&b'(')
                && cx.offered(cx.part(&name))
            {
                let before = cx.slice(self.name_start, at).trim_end();
                let end = self.name_start + before.strip_suffix(',').unwrap_or(before).len();
                self.repairs.push(Repair::at(RepairCode::Bracket, end, "the closing parenthesis is missing"));
                return self.end_call(cx, out, writer, end);
            }
            // Two words in a row are prose, whatever may close the parenthesis further on.
            let word = |at: usize| cx.bytes().get(at).is_some_and(u8::is_ascii_alphabetic);
            if writer.begun == 0 && equals > name.end && word(name.start) && word(equals) {
                return Some(Progress::Fail { at });
            }
            self.key = None;
        }
        self.scan = ValueScan::at(start);
        self.escapes = self.escapes.next();
        self.at = start;
        self.expect = Expect::Value;
        None
    }

    /// Blanks that Python does not know were left out at `at`.
    fn left_blanks(&mut self, at: usize) {
        let what = "white space that Python does not know was left out";
        if self.repairs.last().is_none_or(|last| last.code != RepairCode::ControlCharacter) {
            self.repairs.push(Repair::at(RepairCode::ControlCharacter, at, what));
        }
    }

    /// Reads the value of an argument on. `None`: it is over.
    pub(super) fn value(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Option<Progress> {
        if let Some((end, text)) = told!(self.escaped_value(cx), Some(Progress::More)) {
            if self.quote_round().is_none() {
                let what = "the backslashes before the quotes of a value were left out";
                self.repairs.push(Repair::at(RepairCode::Escape, self.scan.start, what));
            }
            return self.escaped(cx, out, writer, (end, &text));
        }
        let argument = Argument {
            row: writer.origin.row(cx),
            keyed: self.key.is_some(),
            called: self.name.as_str(cx.text),
            round: self.quote_round(),
        };
        let Look::Is(end) = self.scan.end(cx, argument) else {
            self.tell(cx, out, writer);
            return Some(Progress::More);
        };
        if let Some(text) = self.twice_escaped(cx, end) {
            return self.escaped(cx, out, writer, (end, &text));
        }
        let text = trimmed(cx.slice(self.scan.start, end));
        // Of text that is no string the quotes are escaped for the string round the call.
        let listed = text.starts_with(['[', '{', '(']);
        let bare = self.scan.is_bare() || !listed && !text.starts_with(['"', '\'']);
        let plain = self.quote_round().filter(|_| bare).and_then(|quote| unescaped_quotes(text, char::from(quote)));
        self.at = end;
        self.expect = Expect::AfterArgument;
        if let Some((text, _)) = plain.as_ref().filter(|_| listed) {
            return self.escaped(cx, out, writer, (end, text));
        }
        let ends_round = || {
            let parts = |quote| bare && parts_strings(text, quote) || parts_calls(cx, text, quote);
            self.quote_round().is_some_and(|quote| parts(char::from(quote)))
        };
        self.unreadable |=
            self.scan.torn || plain.as_ref().map_or_else(|| self.holds_end(text) || ends_round(), |(_, ends)| *ends);
        let plain = plain.map(|(text, _)| text);
        let text = plain.as_deref().unwrap_or(text);
        if let Some(key) = self.key.take() {
            self.behind_named = true;
            self.named(cx, out, writer, key, (text, end));
            return None;
        }
        self.placed(cx, out, writer, text)
    }

    /// A value without a name. Where it cannot be told what it is, the calls before it stay.
    fn placed(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, text: &str) -> Option<Progress> {
        match self.positional(cx, out, writer, text) {
            Some(Progress::Fail { .. }) if writer.begun > 0 => {
                // What was begun stays, as what it is; a call that was not is text.
                self.unreadable = true;
                self.pass();
                None
            }
            progress => progress,
        }
    }

    /// The value ends at `end`, and is `text` without the escapes of the string that the call stands in.
    fn escaped(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        (end, text): (usize, &str),
    ) -> Option<Progress> {
        self.at = end;
        self.expect = Expect::AfterArgument;
        let Some(key) = self.key.take() else { return self.placed(cx, out, writer, text.trim_ascii()) };
        let read = literal::read(text.trim_ascii(), self.scan.start);
        // Where something else stands is not known of a text that was taken out.
        self.unreadable |= !read.repairs.is_empty() || read.guessed;
        self.repairs.extend(read.repairs);
        self.member(cx, out, writer, key, read.json.into_owned().into());
        None
    }

    /// Gives out what is certain of the string that the value is.
    fn tell(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer) {
        let (Some(key), Some(index), true) = (&self.key, self.begun.index(), out.streaming()) else { return };
        // Markdown's escapes are taken out of the whole value. At the end of the text a quote stands in the string that may
        // have closed it.
        if self.escaped || cx.eof {
            return;
        }
        // Whose escape it is, the string's or that of the one round the call, is known at the end.
        if self.quote_round().is_some() && self.scan.has_escape() {
            return;
        }
        if let Some(json) = self.scan.certain(cx) {
            self.members.grow(out, writer, index, key.as_str(cx.text), &json);
        }
    }

    /// The argument `key` has the value `text`, which ends at `end`.
    fn named(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, key: Piece, (text, end): (&str, usize)) {
        // Whoever escapes the one sign escapes the other as well.
        let escaped = self.escaped && text.contains("\\_");
        let unescaped = if escaped { text.replace("\\_", "_").replace("\\*", "*") } else { String::new() };
        if escaped {
            self.repairs.push(Repair::at(RepairCode::MarkdownEscape, self.scan.start, "Markdown escapes were removed"));
        }
        let text = if escaped { &unescaped } else { text };
        let read = if self.scan.is_string(text) { literal::read_string } else { literal::read };
        let read = read(text, self.scan.start);
        if read.sound {
            return self.member(cx, out, writer, key, read.json);
        }
        // Of `l=imit=5`, the first sign is one too many.
        let unknown = |tool: &Tool| !tool.parameters.is_empty() && !tool.declares(key.as_str(cx.text));
        let sign_in_key = || {
            let source = read.mended(RepairCode::SourceText) && text.contains('=');
            source && cx.tool(self.name.as_str(cx.text)).is_some_and(unknown)
        };
        // What stands in a line of its own in the place of a value is what was said next.
        let said = || {
            read.mended(RepairCode::SourceText) && text.contains(' ') && {
                let before = cx.slice(self.name_start, self.scan.start);
                before.get(before.trim_ascii_end().len()..).is_some_and(|white| white.contains('\n'))
            }
        };
        let listed = |word: &str| cx.tool(self.name.as_str(cx.text)).is_some_and(|tool| tool.lists(word));
        self.valueless |= text.is_empty();
        self.unreadable |= read.guessed
            || self.is_expression(text, &read)
            || self.scan.is_several() && text.starts_with(['"', '\'']) && !read.joined
            || placeholder::mended(cx.slice(0, end), &read.repairs, listed)
            || self.holds_other(cx, writer, (text, end), &read)
            || sign_in_key()
            || said()
            || read.mended(RepairCode::SourceText) && leaves_quote_open(&read.json);
        self.repairs.extend(read.repairs);
        self.member(cx, out, writer, key, read.json);
    }

    /// A value without a name: the schema's next parameter, or a dict of them all.
    fn positional(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, text: &str) -> Option<Progress> {
        let fail = Some(Progress::Fail { at: self.scan.start });
        let Some(tool) = cx.tool(self.name.as_str(cx.text)) else { return fail };
        let read = literal::read(text.trim_start_matches("**"), self.scan.start);
        match self.goes_on_number(cx, tool, text) {
            Some(true) => {
                self.members.go_on(cx, &read.json);
                self.unreadable |= read.guessed || read.json.starts_with('"');
                self.repairs.extend(read.repairs);
                let what = "numbers behind one another are the items of the list that was wanted";
                self.repairs.push(Repair::at(RepairCode::Bracket, self.scan.start, what));
                return None;
            }
            Some(false) => self.unreadable = true,
            None => {}
        }
        // What stands twice in an object that is the first argument does so as in any.
        self.placed |= !self.members.list().is_empty();
        self.behind_named = false;
        let members = members(&read.json).filter(|list| list.iter().all(|(key, _)| tool.declares(key)));
        let doubtful = if let Some(members) = members {
            // What only a program says is one, unless markers speak for a call.
            let listed = |word: &str| tool.lists(word);
            let coded = self.holds_function(text, &read) || expression::holds_names(text, listed);
            if coded && writer.origin.is_bare() || !self.begin(cx, out, writer) {
                return fail;
            }
            for (key, value) in members {
                self.member(cx, out, writer, Piece::Made(key), value.into());
            }
            let end = self.scan.start + text.len();
            let before = cx.slice(0, end);
            coded || self.is_expression(text, &read) || placeholder::mended(before, &read.repairs, listed)
        } else {
            // A word that is no literal is more likely prose than an argument, and an expression the code of a program.
            if read.mended(RepairCode::SourceText) || self.is_expression(text, &read) {
                return fail;
            }
            let Some((key, _)) = tool.ordered().get(self.members.list().len()) else { return fail };
            if !self.begin(cx, out, writer) {
                return fail;
            }
            // Where others have been named, its place says nothing, unless they were the first.
            let mut before = self.members.list().iter().zip(tool.ordered());
            let in_order = before.all(|((name, _), (known, _))| name.as_str(cx.text) == known);
            self.member(cx, out, writer, Piece::Made(key.clone()), read.json);
            expression::is_pair(text) || !in_order
        };
        self.placed = true;
        self.unreadable |= read.guessed || doubtful;
        self.repairs.extend(read.repairs);
        let what = "a positional argument got its parameter's name";
        self.repairs.push(Repair::at(RepairCode::Positional, self.scan.start, what));
        None
    }

    /// The number `text` stands behind that of a named argument, and nothing but a comma between them: whether both are items of
    /// the list that is wanted there. `Some(false)`: they may be one number, or two.
    fn goes_on_number(&self, cx: &Reader<'_>, tool: &Tool, text: &str) -> Option<bool> {
        let number = |text: &str| text.ends_with(|c: char| c.is_ascii_digit()) && literal::looks_like_one(text);
        let before = cx.slice(self.name_start, self.scan.start);
        let value = before.trim_end().strip_suffix(',').map_or("", str::trim_end);
        if !(self.behind_named && number(text) && value.ends_with(|c: char| c.is_ascii_digit())) {
            return None;
        }
        let (key, _) = self.members.list().last()?;
        let expected = tool.expected(key.as_str(cx.text));
        let list = expected.allows(Expected::ARRAY)
            && !expected.allows(Expected::STRING)
            && !expected.allows(Expected::NUMBER);
        // Behind a blank it is an argument by its place: no number is parted so.
        (list || before.ends_with(',')).then_some(list)
    }

    fn member(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, key: Piece, json: Cow<'_, str>) {
        let value = Value::Json(cx.piece_of(json));
        if self.members.add(cx, out, writer, self.begun.index(), key, value) {
            let what = "an argument stood twice: the last value counts";
            self.repairs.push(Repair::new(RepairCode::DuplicateKey, what));
            // One by its place and one by its name, or two objects of them: they may be two calls.
            self.unreadable |= self.placed;
        }
    }

    /// `byte` stands at `at`, behind an argument: a comma, or what closes the call.
    pub(super) fn after_argument(
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
            Some(byte) if byte == self.closes => self.end_call(cx, out, writer, at + 1),
            Some(byte) => {
                match behind_wide_comma(cx, at, self.name.as_str(cx.text)) {
                    Look::More => return Some(Progress::More),
                    Look::Is(Item::Argument) => {
                        self.repairs.push(Repair::at(
                            RepairCode::Comma,
                            at,
                            "a comma of another script parts arguments",
                        ));
                        self.at = at + WIDE_COMMA.len();
                        self.expect = Expect::Argument;
                        return None;
                    }
                    _ => {}
                }
                match next_item(cx, at, self.name.as_str(cx.text)) {
                    Look::More => return Some(Progress::More),
                    Look::Is(Item::Argument) => {
                        self.repairs.push(Repair::at(RepairCode::Comma, self.at, "a missing comma was added"));
                        self.at = at;
                        self.expect = Expect::Argument;
                        return None;
                    }
                    _ => {}
                }
                if let Some(end) = told!(self.behind_brackets(cx, at), Some(Progress::More)) {
                    self.unreadable = true;
                    return self.end_call(cx, out, writer, end);
                }
                // The parenthesis is missing: `f(a=1]`. What else stands there was a part of the value.
                // In a string the list cannot end.
                let listed = self.list && self.quote_round().is_none();
                self.unreadable |= matches!(byte, b'}' | b'"' | b'\'' | b':') || byte == b']' && !listed;
                self.repairs.push(Repair::at(RepairCode::Bracket, self.at, "the closing parenthesis is missing"));
                self.end_call(cx, out, writer, self.at)
            }
        }
    }

    /// Where the call ends, in a list that goes on or ends behind it, if brackets that nothing opened stand at `at`, before
    /// its parenthesis: an object too many was closed, or one that is not there.
    fn behind_brackets(&self, cx: &Reader<'_>, at: usize) -> Look<usize> {
        let near = cx.near(at, MOST_BRACKETS);
        let bracket = |byte: &u8| matches!(byte, b']' | b'}') || byte.is_ascii_whitespace();
        let brackets = near.iter().take_while(|byte| bracket(byte)).count();
        if !self.list || brackets == 0 || self.closes != b')' {
            return Look::No;
        }
        let end = at + brackets + 1;
        let next = cx.skip_space(end);
        match (near.get(brackets), cx.bytes().get(next)) {
            (None, _) if cx.may_go_on(near.len(), MOST_BRACKETS) => Look::More,
            (Some(b')'), None) if !cx.eof => Look::More,
            (Some(b')'), Some(b']')) => Look::Is(end),
            (Some(b')'), Some(b',')) => match next_item(cx, cx.skip_space(next + 1), self.name.as_str(cx.text)) {
                Look::Is(Item::Call) => Look::Is(end),
                Look::More => Look::More,
                _ => Look::No,
            },
            _ => Look::No,
        }
    }

    /// What belongs to something else stands in the value, whose `text` ends at `end`, or what it was meant as is not clear.
    fn holds_other(&self, cx: &Reader<'_>, writer: &Writer, (text, end): (&str, usize), read: &Literal) -> bool {
        let argument = || stray::argument_within(cx, self.scan.start, end, self.name.as_str(cx.text));
        // What was meant as a list or an object is none, or has items that nothing parts.
        let unparted = || {
            // Strings in parentheses are joined.
            let list = text.starts_with(['[', '{']) || read.mended(RepairCode::SourceText);
            let none = list && read.json.starts_with('"') && text.contains(['"', '\'']);
            none || read.mended(RepairCode::Quotes) && !read.apostrophe && stray::item_within(&read.json)
        };
        // A call that was shown in the string closed it, perhaps.
        let call = || {
            let whole = self.scan.is_string(text) && self.scan.shows_calls;
            !whole && opener(cx, writer).is_some_and(|opener| text.contains(opener))
        };
        // Behind a quote that stands in the string comes the name of another argument, whose sign was lost.
        let parameter = || {
            let named = |rest: &str| {
                let rest = rest.trim_start().strip_prefix(',').map_or("", str::trim_start);
                let name = rest.get(..char_class::IDENTIFIER.length(rest.as_bytes())).unwrap_or_default();
                cx.tool(self.name.as_str(cx.text)).is_some_and(|tool| tool.declares(name))
            };
            text.chars().next().is_some_and(|quote| text.split(quote).skip(2).any(named))
        };
        // The quotes of the string were written as entities, and so was what else it holds.
        let entities = ["&quot;", "&#x27;", "&#39;", "&#34;", "&apos;"];
        read.mended(RepairCode::SourceText) && argument()
            || text.starts_with(['[', '{', '(']) && unparted()
            || read.mended(RepairCode::Quotes) && (call() || parameter())
            || entities.iter().any(|quote| text.starts_with(quote))
    }

    /// What of the value `text` was mended so, and all that follows it.
    fn mended<'t>(&self, text: &'t str, read: &Literal<'_>, code: RepairCode) -> impl Iterator<Item = &'t str> {
        let rest = |repair: &Repair| text.get(repair.offset?.checked_sub(self.scan.start)?..);
        read.repairs.iter().filter(move |repair| repair.code == code).filter_map(rest)
    }

    /// One of the values in the object `text` is a function.
    fn holds_function(&self, text: &str, read: &Literal<'_>) -> bool {
        let mut mended = [RepairCode::SourceText, RepairCode::Quotes].into_iter();
        mended.any(|code| self.mended(text, read, code).any(expression::begins_function))
    }

    /// The value is an expression, or holds one.
    fn is_expression(&self, text: &str, read: &Literal<'_>) -> bool {
        let repairs = &read.repairs;
        let mended = |code| self.mended(text, read, code);
        match text.bytes().next() {
            _ if self.scan.holes => true,
            Some(b'[' | b'{' | b'(') => {
                let begins = expression::begins_expression;
                // Source text that begins with a string goes on behind it, or it would be one. What no line break ends is no
                // comment, and was meant as a value.
                mended(RepairCode::SourceText).any(|item| item.starts_with(['"', '\'']) || begins(item))
                    || mended(RepairCode::Quotes).any(begins)
                    || mended(RepairCode::Comment).any(|rest| rest.starts_with('#') && !rest.contains('\n'))
            }
            // Something is done with the string, unless another one goes on with it.
            Some(quote @ (b'"' | b'\'')) if !text.ends_with(char::from(quote)) && !read.joined => true,
            _ if expression::is_format(text) => true,
            _ => repairs.iter().any(|r| r.code == RepairCode::SourceText) && expression::is_expression(text),
        }
    }
}

/// A quote in the text that is `json` has no other one, and is no apostrophe and no length: it was to close all of it.
fn leaves_quote_open(json: &str) -> bool {
    let Ok(text) = serde_json::from_str::<String>(json) else { return false };
    let byte = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at));
    let letter = |at: Option<usize>| byte(at).is_some_and(u8::is_ascii_alphanumeric);
    let inches = |at: usize| byte(at.checked_sub(1)).is_some_and(u8::is_ascii_digit);
    let is = |at: &usize| !(inches(*at) || letter(at.checked_sub(1)) && letter(Some(at + 1)));
    let odd = |quote: u8| memchr::memchr_iter(quote, text.as_bytes()).filter(is).count() % 2 == 1;
    odd(b'"') || odd(b'\'')
}

/// `text` with its escaped quotes as they are, if it has some, and whether one stands in it that nothing escapes.
fn unescaped_quotes(text: &str, quote: char) -> Option<(String, bool)> {
    let escaped = format!("\\{quote}");
    let count = text.matches(&escaped).count();
    (count > 0).then(|| (text.replace(&escaped, &quote.to_string()), text.matches(quote).count() > count))
}

/// A comma and nothing else stands between two quotes in `text`: there one string of a list ends, and the next one begins.
fn parts_strings(text: &str, quote: char) -> bool {
    text.split(quote).skip(1).any(|part| part.trim_ascii() == ",")
}

/// As [`parts_strings`], behind the parenthesis of a call and before the name of another one.
fn parts_calls(cx: &Reader<'_>, text: &str, quote: char) -> bool {
    let mut parts = text.split(quote);
    let mut closed = parts.next().is_some_and(|part| part.ends_with(')'));
    let mut parted = false;
    parts.any(|part| {
        let name = part.get(..char_class::NAME.length(part.as_bytes())).unwrap_or_default();
        let call = parted && cx.offered(name) && part.get(name.len()..).is_some_and(|rest| rest.starts_with('('));
        parted = closed && part.trim_ascii() == ",";
        closed = part.ends_with(')');
        call
    })
}

/// The marker that the call began with.
fn opener<'t>(cx: &Reader<'t>, writer: &Writer) -> Option<&'t str> {
    dialect::opener(&writer.origin.template(cx)?.head)
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
