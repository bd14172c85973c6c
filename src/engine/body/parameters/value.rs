//! The value of one parameter: how it is given out while it is written, and what it is in the end.
use super::end::{Closing, Ended};
use super::*;
use crate::dialect::special;
use crate::engine::body::members::open;

/// What a value stands in.
pub(super) struct Within<'w> {
    pub(super) row: &'w Row,
    pub(super) parameter: &'w Parameter,
    /// What closes the call.
    pub(super) tail: &'w [Element],
    /// The tool that is called, if it was offered.
    pub(super) called: Option<&'w Tool>,
    /// The parameters before this one.
    pub(super) taken: &'w [(Piece, Value)],
}

impl OpenValue {
    /// Something of it was given out.
    pub(super) fn is_sent(&self) -> bool {
        self.sent > self.start
    }

    /// Gives out what is certain of a string value.
    fn stream(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &Writer,
        index: usize,
        trim: Trim,
        opened: &mut bool,
    ) {
        let Some(row) = writer.origin.row(cx).filter(|row| !row.dialect.entities) else { return };
        if self.streams == Streams::No || !out.streaming() {
            return;
        }
        // Where its own closing marker may yet have been the end, or another parameter may begin, nothing is certain.
        let doubtful = self.doubtful_closer.filter(|_| self.closes_by_key()).map(|(at, _)| at);
        let end = [doubtful, self.next_opens].into_iter().flatten().fold(self.searched, usize::min);
        let end = end.max(self.sent);
        // White space that waits for what follows is not looked through with every chunk.
        let waits = trim == Trim::Space || self.sent == self.start;
        if waits && cx.slice(self.blank.clamp(self.sent, end), end).trim_start().is_empty() {
            self.blank = end;
            return;
        }
        let certain = cx.slice(self.sent, end);
        let may_be_other = || may_be_null(certain) || may_be_cdata(certain) || self.may_open_twice(cx, row, certain);
        if self.sent == self.start && may_be_other() {
            return;
        }
        if self.streams == Streams::NoJson {
            if may_be_json(certain) {
                return;
            }
            self.streams = Streams::Yes;
        }
        let certain = match trim {
            Trim::Space if self.sent == self.start => {
                self.start += certain.len() - certain.trim_start().len();
                self.sent = self.start;
                cx.slice(self.sent, end).trim_end()
            }
            // The next marker may follow, and the line break be the markup's.
            Trim::None | Trim::Newline => without_half_break(certain),
            Trim::Space => certain.trim_end(),
        };
        if certain.is_empty() {
            return;
        }
        let length = certain.len();
        // What needs no escape is a piece of the input.
        if self.is_sent() && find_special(certain.as_bytes(), 0) == length {
            writer.span(out, index, self.sent..self.sent + length);
            self.sent += length;
            return;
        }
        let mut text = String::with_capacity(length + 8);
        if !self.is_sent() {
            open(out, writer, index, self.key.as_str(cx.text), opened);
            text.push('"');
        }
        push_escaped(&mut text, certain);
        writer.piece(out, index, text);
        self.sent += length;
    }

    /// A marker at `end` stands among its words, or in quotes: it is spoken of there, perhaps.
    #[cold]
    fn speaks(&self, cx: &Reader<'_>, end: usize) -> bool {
        cx.slice(self.start, end).ends_with([' ', '\t', '`', '"', '\'', '('])
    }

    /// Up to `end` the text ends in a part of its closing marker, or in that and signs that mean nothing.
    #[cold]
    fn breaks_off(&self, cx: &Reader<'_>, parameter: &Parameter, end: usize) -> bool {
        let closer = self.closer.as_deref().unwrap_or(&parameter.closer);
        let text = cx.slice(self.start, end).trim_ascii_end();
        let unsigned = |text: &str| text.trim_end_matches('>').to_owned();
        let rest = closer.get(1..).map(unsigned).filter(|rest| !rest.is_empty());
        let signs = |at: usize| at <= end && !cx.slice(at, end).contains(char::is_alphanumeric);
        self.doubtful_closer.is_some_and(|(_, at)| signs(at))
            || before_cut(text, closer).len() < text.len()
            || rest.is_some_and(|rest| unsigned(text).ends_with(&rest))
    }

    /// `text` without the white space at its end that may be the markup's.
    fn unframed<'t>(&self, text: &'t str, trim: Trim) -> &'t str {
        match trim {
            Trim::None => text,
            Trim::Newline if !self.padded => text,
            Trim::Newline => without_half_break(text),
            Trim::Space => text.trim_end(),
        }
    }
}

impl Parameters {
    /// Reads the open value on. `No`: the text is over and the value is not.
    pub(super) fn read_value(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        index: usize,
    ) -> Look<()> {
        let Some(row) = writer.origin.row(cx) else { return Look::No };
        let tail = self.closer.as_deref().unwrap_or(writer.origin.tail(cx));
        let Some(value) = &mut self.value else { return Look::No };
        let Some(parameter) = row.parameters.get(value.template) else { return Look::No };
        let trim = row.dialect.trim;
        if !value.framed {
            let rest = cx.rest(value.start);
            if rest.is_empty() && !cx.eof {
                return Look::More;
            }
            if trim == Trim::Newline && rest == "\r" && !cx.eof {
                return Look::More;
            }
            let line = if trim == Trim::Newline { leading_break(rest) } else { 0 };
            value.start += line;
            value.padded = line > 0;
            // The line break stood in the opening marker, for its bracket.
            value.padded |= trim == Trim::Newline && cx.slice(0, value.opened).ends_with('\n');
            value.framed = true;
            value.sent = value.start;
            value.searched = value.start;
        }
        let within = Within { row, parameter, tail, called: cx.called(out, index), taken: &self.members };
        match value.find_end(cx, &within) {
            Look::Is(Ended { end, next, ahead, closing }) => {
                self.broken |= closing == Closing::BeforeLost;
                self.ahead = ahead.filter(|_| value.closer.is_none()).map(|ahead| (next, ahead));
                let missing = closing == Closing::Missing;
                // Without its own closing marker, the line break before the call's is the markup's.
                value.padded |= missing;
                // What it showed may have been its own, or what closed it before what follows.
                self.broken |= missing && (value.shown.whole || value.stray || value.breaks_off(cx, parameter, end));
                let unknown = || within.called.is_some_and(|tool| !tool.declares(value.key.as_str(cx.text)));
                let named = missing && value.closes_by_key() && (value.doubtful_closer.is_some() || unknown());
                self.stray |= value.stray || named;
                let unclosed = missing && cx.rest(end).starts_with(&*parameter.opener);
                self.broken |= unclosed && !special(&parameter.opener) && value.speaks(cx, end);
                self.unclosed |= unclosed;
                let inner = value.inner || value.shown.is_open() || missing;
                self.broken |= inner && value.holds_call(cx, row, end, missing);
                self.broken |= value.next_opens == Some(end) && value.is_long(cx, end);
                self.broken |= value.holds_opening(cx, row, parameter, end);
                self.end_value(cx, out, writer, index, end, row);
                self.repairs.extend(closing.slip().map(|what| Repair::at(RepairCode::Marker, end, what)));
                self.at = next;
                Look::Is(())
            }
            Look::More => {
                value.stream(cx, out, writer, index, trim, &mut self.opened);
                Look::More
            }
            Look::No => {
                self.cut_value(cx, row, parameter);
                Look::No
            }
        }
    }

    /// The text is cut off inside the open value: what was written of a string is certain as far as it goes.
    #[cold]
    fn cut_value(&mut self, cx: &Reader<'_>, row: &Row, parameter: &Parameter) {
        let Some(value) = self.value.take().filter(|_| !row.dialect.entities) else { return };
        let trim = row.dialect.trim;
        let closer = value.closer.as_deref().unwrap_or(&parameter.closer);
        let blank = |at: usize| cx.rest(at).len() - cx.rest(at).trim_start().len();
        let start = value.start + if trim == Trim::Space { blank(value.start) } else { 0 };
        let text = cx.slice(start, cx.text.len());
        match value.streams {
            Streams::Yes => {}
            Streams::NoJson if !may_be_json(text) => {}
            _ => return,
        }
        // Its closing marker stands there but for a suffix and what ends that.
        let suffixed = text.rfind(closer).filter(|at| {
            let suffix = text.get(at + closer.len()..).unwrap_or_default();
            let may_go_on = !suffix.contains(['<', '>']) && !suffix.trim_ascii_end().contains('\n');
            !parameter.after.is_empty() && suffix.len() <= 64 && may_go_on
        });
        let text = suffixed.map_or_else(|| before_cut(text, closer), |at| text.get(..at).unwrap_or(text));
        let text = value.unframed(text, trim);
        let found = Value::Text(span(start..start + text.len()));
        self.members.push((value.key, found));
    }

    /// The open value ended at `end`.
    fn end_value(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, index: usize, end: usize, row: &Row) {
        let Some(value) = &mut self.value else { return };
        let mut range = value.start..end.max(value.start);
        if let Some(twice) = value.opened_twice(cx, row, cx.slice(range.start, range.end)) {
            let what = "a parameter's opening marker stood twice";
            self.repairs.push(Repair::at(RepairCode::Marker, range.start, what));
            range.start += twice;
            if row.dialect.trim == Trim::Newline {
                let text = cx.slice(range.start, range.end);
                let line = leading_break(text);
                range.start += line;
                value.padded |= line > 0;
            }
            value.start = range.start;
        }
        let text = &cx.text[range.clone()];
        match row.dialect.trim {
            Trim::None | Trim::Newline if !value.padded => {}
            Trim::None | Trim::Newline => {
                range.end = range.start + without_break(text).len();
            }
            Trim::Space => {
                range.start += text.len() - text.trim_start().len();
                range.end = range.start + text.trim().len();
            }
        }
        let marked = in_cdata(&cx.text[range.clone()]).filter(|_| !value.is_sent());
        if let Some(inside) = &marked {
            self.repairs.push(Repair::at(
                RepairCode::Marker,
                range.start,
                "what marked the text as CDATA was left out",
            ));
            range = range.start + inside.start..range.start + inside.end;
            value.start = range.start;
        }
        let text = &cx.text[range.clone()];
        let decoded =
            if row.dialect.entities && marked.is_none() { decode_entities(text) } else { Cow::Borrowed(text) };
        let key = value.key.as_str(cx.text);
        let expected = value.expected;
        let kind = value.kind.as_ref().map(|k| &cx.text[k.clone()]);
        let read = typed(&decoded, kind, expected, row.dialect.json_first);
        let elements = || match (&read, expected) {
            (ArgumentValue::Text(_), Some(expected)) if value.closes_by_key() => {
                let wanted = expected.allows(Expected::OBJECT) || expected.allows(Expected::ARRAY);
                let tool = cx.called(out, index).filter(|_| wanted)?;
                let schema = tool.schema.get("properties").and_then(|p| p.get(key));
                nested(text, schema, Some(&tool.schema), cx.policy.max_depth)
            }
            _ => None,
        };
        let elements = elements();
        let found = match elements.map_or(read, |json| ArgumentValue::Json(Cow::Owned(json))) {
            ArgumentValue::Text(t) => Value::Text(piece_of(&range, text, &t)),
            ArgumentValue::Json(t) => Value::Json(piece_of(&range, text, &t)),
        };
        if out.streaming() {
            if value.is_sent() {
                let mut rest = String::new();
                push_escaped(&mut rest, cx.slice(value.sent, range.end));
                rest.push('"');
                writer.piece(out, index, rest);
            } else {
                value.sent = value.start;
                open(out, writer, index, value.key.as_str(cx.text), &mut self.opened);
                let mut json = String::new();
                match &found {
                    Value::Text(piece) => push_string(&mut json, &piece.get(cx.text)),
                    Value::Json(piece) => json.push_str(&piece.get(cx.text)),
                }
                writer.piece(out, index, json);
            }
        }
        let members = &self.members;
        let name = |i: usize| members.get(i).map(|(k, _)| k.as_bytes(cx.text));
        let same = self.keys.position(key, members.len(), name);
        match same.and_then(|i| self.members.get_mut(i)) {
            Some(member) => {
                let list =
                    expected.filter(|e| e.allows(Expected::ARRAY)).and_then(|_| listed(&member.1, &found, cx.text));
                let what = match list {
                    Some(_) => "a parameter stood twice: its values are the items of its list",
                    None => "a parameter stood twice: the last value counts",
                };
                // The first may have been shown in another's value.
                self.broken |= self.unclosed;
                member.1 = list.unwrap_or(found);
                self.repairs.push(Repair::at(RepairCode::DuplicateKey, value.key_at, what));
            }
            None => {
                let key = std::mem::replace(&mut value.key, span(0..0));
                self.members.push((key, found));
            }
        }
        self.value = None;
    }
}

/// How long the line break is that `text` begins with.
fn leading_break(text: &str) -> usize {
    if text.starts_with("\r\n") { 2 } else { usize::from(text.starts_with('\n')) }
}

/// `text` without the line break at its end.
fn without_break(text: &str) -> &str {
    text.strip_suffix("\r\n").or(text.strip_suffix('\n')).unwrap_or(text)
}

/// As [`without_break`], of a text whose last line break may not have come whole.
fn without_half_break(text: &str) -> &str {
    text.strip_suffix('\r').unwrap_or_else(|| without_break(text))
}

/// `text` without the first bytes of `closer` at its end.
fn before_cut<'t>(text: &'t str, closer: &str) -> &'t str {
    let cut = (1..closer.len()).rev().find_map(|length| text.strip_suffix(closer.get(..length)?));
    cut.unwrap_or(text)
}
