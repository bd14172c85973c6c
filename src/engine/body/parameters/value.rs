//! The value of one parameter: how it is given out while it is written, and what it is in the end.
use super::end::{Closing, Ended};
use super::open::{Frame, Openings};
use super::*;
use crate::char_class;
use crate::dialect::{Dialect, special};
use crate::engine::body::lenient;
use crate::engine::body::members::open;
use crate::engine::tail::LONGEST_SUFFIX;
use crate::schema::{expected_beside, fitting, is_null};

/// Mostly a call has no more members.
const USUAL: usize = 6;

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

/// One of the parameters that were `taken` is called `key`.
pub(super) fn holds_key(cx: &Reader<'_>, taken: &[(Piece, Value)], key: &str) -> bool {
    taken.iter().any(|(taken, _)| taken.as_str(cx.text) == key)
}

impl OpenValue {
    /// Neither it nor a parameter before it is called `key`.
    pub(super) fn lacks(&self, cx: &Reader<'_>, within: &Within<'_>, key: &str) -> bool {
        self.key(cx) != key && !holds_key(cx, within.taken, key)
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
        if self.sent.streams == Streams::No || !out.streaming() {
            return;
        }
        // Where its own closing marker may yet have been the end, or another parameter may begin, nothing is certain.
        let doubtful = self.ends.doubtful.filter(|_| self.closes_by_key()).map(|own| own.at);
        let end = [doubtful, self.ends.parameter].into_iter().flatten().fold(self.searched, usize::min);
        let end = end.max(self.sent.to);
        // White space that waits for what follows is not looked through with every chunk.
        let waits = trim == Trim::Space || !self.is_sent();
        if waits && cx.slice(self.sent.blank.clamp(self.sent.to, end), end).trim_start().is_empty() {
            self.sent.blank = end;
            return;
        }
        let certain = cx.slice(self.sent.to, end);
        if !self.is_sent() {
            let text = self.sent.undecided.text(cx, self.sent.to, end);
            let may_be_null = self.sent.undecided.may_be_null(cx, self.sent.to, end);
            if may_be_null || may_be_cdata(text) || self.may_open_twice(cx, row, text) {
                return;
            }
            if self.sent.streams == Streams::NoJson && may_be_json(text) {
                return;
            }
            self.sent.streams = Streams::Yes;
        }
        let certain = match trim {
            Trim::Space if !self.is_sent() => {
                self.start += certain.len() - certain.trim_start().len();
                self.sent.to = self.start;
                cx.slice(self.sent.to, end).trim_end()
            }
            // The next marker may follow, and the line break be the markup's.
            Trim::None | Trim::Newline => without_half_break(certain),
            Trim::Blank => without_half_break(certain.strip_suffix(' ').unwrap_or(certain)),
            Trim::Space => certain.trim_end(),
        };
        if certain.is_empty() {
            return;
        }
        let length = certain.len();
        // What needs no escape is a piece of the input.
        if self.is_sent() && find_special(certain.as_bytes(), 0) == length {
            writer.span(out, index, self.sent.to..self.sent.to + length);
            self.sent.to += length;
            return;
        }
        let mut text = String::with_capacity(length + 8);
        if !self.is_sent() {
            open(out, writer, index, self.key(cx), opened);
            text.push('"');
        }
        push_escaped(&mut text, certain);
        writer.piece(out, index, text);
        self.sent.to += length;
    }

    /// What has not left of it as JSON, now that it is `found` and its text ends at `end`.
    fn rest(&self, cx: &Reader<'_>, found: &Value, end: usize) -> String {
        let mut json = String::new();
        if self.is_sent() {
            push_escaped(&mut json, cx.slice(self.sent.to, end));
            json.push('"');
            return json;
        }
        match found {
            Value::Text(piece) => push_string(&mut json, &piece.get(cx.text)),
            Value::Json(piece) => json.push_str(&piece.get(cx.text)),
        }
        json
    }

    /// Nothing but elements stands between its own closing marker and `end`: they are none of it, perhaps.
    #[cold]
    fn closed_before_elements(&self, cx: &Reader<'_>, end: usize) -> bool {
        self.ends.doubtful.is_some_and(|own| {
            let behind = cx.slice(own.end, end).trim_ascii();
            behind.starts_with('<') && behind.ends_with('>')
        })
    }

    /// A marker at `end` stands among its words, or in quotes: it is spoken of there, perhaps.
    #[cold]
    fn speaks(&self, cx: &Reader<'_>, end: usize) -> bool {
        cx.slice(self.start, end).ends_with([' ', '\t', '`', '"', '\'', '('])
    }

    /// Up to `end` the text ends in a part of its closing marker, or in that and signs that mean nothing.
    #[cold]
    fn breaks_off(&self, cx: &Reader<'_>, parameter: &Parameter, end: usize) -> bool {
        let closer = self.closer(parameter);
        let text = cx.slice(self.start, end).trim_ascii_end();
        let unsigned = |text: &str| text.trim_end_matches('>').to_owned();
        let rest = closer.get(1..).map(unsigned).filter(|rest| !rest.is_empty());
        let signs = |at: usize| at <= end && !cx.slice(at, end).contains(char::is_alphanumeric);
        // What a checkpoint hangs on all its tags is no part of the marker that is known.
        let suffix = text.rfind(':').filter(|_| !parameter.after.is_empty());
        let unsuffixed = suffix.and_then(|at| text.get(..at)).unwrap_or(text);
        // Of several tokens the first may be missing, or any be misspelt.
        let tokens =
            |text: &str| closer.split_once("|>").is_some_and(|(_, rest)| !rest.is_empty() && ends_alike(text, rest));
        let ends = |text: &str| {
            before_cut(text, closer).len() < text.len()
                || rest.as_ref().is_some_and(|rest| unsigned(text).ends_with(rest))
                || tokens(text)
                || ends_in_tag(text)
                || ends_in_token(text)
        };
        self.ends.doubtful.is_some_and(|own| signs(own.end)) || ends(text) || ends(unsuffixed)
    }

    /// What stands in it or behind it says that its end at `end`, which `closing` made one, may not be where it was meant to
    /// end: a part of it may be another's, or a part of another's be in it.
    fn is_torn(&self, cx: &Reader<'_>, within: &Within<'_>, end: usize, closing: Closing) -> bool {
        let Within { row, parameter, .. } = *within;
        let missing = closing == Closing::Missing;
        let balanced = self.shown.own_are_whole() && !self.same.is_open();
        let inner = self.openings == Openings::Loose && !balanced || self.shown.is_open() || missing;
        closing == Closing::BeforeLost
            || self.torn
            // What it showed may have been its own, or what closed it before what follows.
            || missing && (self.shown.whole || self.stray || self.breaks_off(cx, parameter, end))
            || missing && self.closed_before_elements(cx, end)
            || missing && self.holds_lost(cx, within, end)
            || is_unclosed(cx, parameter, end, closing) && self.speaks(cx, end) && is_spoken_of(cx, parameter, end)
            || self.ends_anywhere(end)
            || inner && self.holds_call(cx, row, end, missing)
            || self.ends.parameter == Some(end) && self.is_long(cx, end)
            || self.holds_opening(cx, row, parameter, end)
            || self.holds_unopened(cx, parameter, end)
            || self.holds_other_form(cx, within, end)
    }

    /// The last marker in it that opens a parameter by another of the dialect's templates names one that the tool has and that is
    /// not there, and its own closing marker is the first behind that: it is that parameter's.
    fn holds_other_form(&self, cx: &Reader<'_>, within: &Within<'_>, end: usize) -> bool {
        let Within { row, parameter, called, .. } = *within;
        let Some(tool) = called.filter(|_| row.parameters.len() > 1 && !self.closes_by_key()) else { return false };
        let text = cx.slice(self.start, end);
        let lacks = |key: &str| tool.declares(key) && self.lacks(cx, within, key);
        row.parameters.iter().filter(|other| other.opener != parameter.opener && other.is_told_by_head()).any(|other| {
            // What has no bars is text among what has.
            let weaker = special(&parameter.opener) && !special(&other.opener);
            // Mostly there is none, which the search forward knows many times faster.
            let (text, opener) = (text.as_bytes(), other.opener.as_bytes());
            if weaker || memchr::memmem::find(text, opener).is_none() {
                return false;
            }
            let Some(at) = memchr::memmem::rfind(text, opener).map(|at| self.start + at) else { return false };
            let closed = || find(cx.part(&(at..end)).as_bytes(), self.closer(parameter).as_bytes()).is_some();
            match head::head(cx, at, &other.head) {
                Look::Is(next) => next.key.is_some_and(|key| lacks(cx.part(&key))) && !closed(),
                _ => false,
            }
        })
    }

    /// What closes the call stands at its end, and not behind its closing marker, where no parameter follows: the two are in
    /// the wrong order, if that is no part of the text.
    fn is_swapped(&self, cx: &Reader<'_>, within: &Within<'_>, end: usize, next: usize) -> bool {
        let Some(closer) = lenient::closer(within.tail).filter(|_| !self.shown.whole) else { return false };
        let behind = cx.rest(cx.skip_space(next));
        cx.slice(self.start, end).trim_ascii_end().ends_with(closer)
            && !behind.starts_with(closer)
            && !within.row.parameters.iter().any(|parameter| behind.starts_with(&*parameter.opener))
    }

    /// Its closing marker stands in `text`, and no opening one before that.
    #[cold]
    fn is_closed_in(&self, text: &str, parameter: &Parameter) -> bool {
        let text = text.as_bytes();
        let closed = find(text, self.closer(parameter).as_bytes()).and_then(|at| text.get(..at));
        closed.is_some_and(|before| find(before, parameter.opener.as_bytes()).is_none())
    }

    /// What it holds may be a parameter that lost its opening marker, if the tool has one that is not there.
    fn may_hold_another(&self, cx: &Reader<'_>, within: &Within<'_>, closing: Closing) -> bool {
        let unknown = || within.called.is_some_and(|tool| !tool.declares(self.key(cx)));
        let named = || self.closes_by_key() && (self.ends.doubtful.is_some() || unknown());
        self.stray || closing == Closing::Missing && named()
    }

    /// `text` without the white space at its end that may be the markup's.
    fn unframed<'t>(&self, text: &'t str, trim: Trim) -> &'t str {
        match trim {
            Trim::None => text,
            Trim::Newline | Trim::Blank if self.frame != Frame::Padded => text,
            Trim::Newline => without_half_break(text),
            Trim::Blank => text.strip_suffix(' ').unwrap_or(text),
            Trim::Space => text.trim_end(),
        }
    }

    /// Its text up to `end`, without the white space that is the markup's.
    fn framed(&self, cx: &Reader<'_>, end: usize, trim: Trim) -> Range<usize> {
        if trim == Trim::Space {
            let text = cx.slice(self.start, end).trim_start();
            let start = end - text.len();
            return start..start + text.trim_end().len();
        }
        let text = cx.bytes().get(self.start..end).unwrap_or_default();
        let pad = match self.frame {
            Frame::Padded if trim == Trim::Blank => usize::from(text.last() == Some(&b' ')),
            Frame::Padded => trailing_break(text),
            _ => 0,
        };
        self.start..end - pad
    }

    /// What is expected of it where the parameters `taken` before it tell the branch of a union that the call belongs to.
    #[cold]
    fn expected_beside(&self, cx: &Reader<'_>, tool: &Tool, taken: &[(Piece, Value)]) -> Option<Expected> {
        let before = taken.iter().map(|(key, value)| {
            let value = match value {
                Value::Text(piece) => ArgumentValue::Text(piece.get(cx.text)),
                Value::Json(piece) => ArgumentValue::Json(piece.get(cx.text)),
            };
            (key.as_str(cx.text), value)
        });
        expected_beside(tool, self.key(cx), before)
    }

    /// What its text at `range` means, behind the parameters `taken`, of which `entities` stand for characters.
    fn read(
        &self,
        cx: &Reader<'_>,
        dialect: &Dialect,
        called: Option<&Tool>,
        range: &Range<usize>,
        entities: bool,
        taken: &[(Piece, Value)],
    ) -> Value {
        // Mostly it is a string, as it stands there.
        let only_text = self.opening.kind.is_none() && self.expected.is_some_and(Expected::is_string);
        if only_text && !entities {
            return Value::Text(Piece::Span(range.clone()));
        }
        let text = cx.part(range);
        let decoded = if entities { decode_entities(text) } else { Cow::Borrowed(text) };
        let kind = self.opening.kind.as_ref().map(|kind| cx.part(kind));
        let told = || self.expected_beside(cx, called?, taken);
        let may_be_other = dialect.json_first || is_null(decoded.trim());
        let expected = self.expected.filter(|expected| expected.varies() && may_be_other && kind.is_none());
        let expected = expected.and_then(|_| told()).or(self.expected);
        let read = typed(&decoded, kind, expected, dialect.json_first);
        let read = match (called, expected) {
            (Some(tool), Some(expected)) if kind.is_none() => fitting(tool, (self.key(cx), expected), read, &decoded),
            _ => read,
        };
        let elements = || match (&read, expected) {
            (ArgumentValue::Text(_), Some(expected)) if self.closes_by_key() => {
                let wanted = expected.allows(Expected::OBJECT) || expected.allows(Expected::ARRAY);
                let tool = called.filter(|_| wanted)?;
                let schema = tool.part(self.key(cx));
                nested(text, schema, Some(&tool.schema), cx.policy.max_depth)
            }
            _ => None,
        };
        let elements = elements();
        match elements.map_or(read, |json| ArgumentValue::Json(Cow::Owned(json))) {
            ArgumentValue::Text(made) => Value::Text(piece_of(range, text, &made)),
            ArgumentValue::Json(made) => Value::Json(piece_of(range, text, &made)),
        }
    }
}

/// `text` ends in a closing tag that nothing in it opens: what was to close it, most likely.
fn ends_in_tag(text: &str) -> bool {
    let Some((before, tag)) = text.rfind("</").and_then(|at| text.split_at_checked(at)) else { return false };
    let inside = tag.trim_start_matches(['<', '/']);
    let name = inside.split(|c: char| !(char_class::TAG.has(c) || c == '｜')).next().unwrap_or_default();
    tag.len() <= misspelt::LONGEST_TAG
        && tag.ends_with('>')
        && (name.is_empty() || find(before.as_bytes(), format!("<{name}").as_bytes()).is_none())
}

/// `text` ends in a special token, with which a model ends what it says or thinks: it was cut off there.
fn ends_in_token(text: &str) -> bool {
    let token = text.rfind('<').and_then(|at| text.get(at..)).unwrap_or_default();
    token.ends_with('>') && token.len() <= misspelt::LONGEST_TAG && special(token)
}

/// `text` ends in the letters of `rest`, whatever stands between them.
fn ends_alike(text: &str, rest: &str) -> bool {
    let letters = |text: &'_ str| -> Vec<u8> {
        let near = text.as_bytes().get(text.len().saturating_sub(2 * rest.len())..).unwrap_or_default();
        near.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase).collect()
    };
    letters(text).ends_with(&letters(rest))
}

/// What opens a parameter at `end` may be one of the words of a text: special tokens are, where a blank stands behind them as well.
#[cold]
fn is_spoken_of(cx: &Reader<'_>, parameter: &Parameter, end: usize) -> bool {
    let blank = |head: Head| cx.bytes().get(head.end) == Some(&b' ');
    !special(&parameter.opener) || head::head(cx, end, &parameter.head).map(blank) == Look::Is(true)
}

/// A parameter begins at `end`, and nothing closed the value before it.
fn is_unclosed(cx: &Reader<'_>, parameter: &Parameter, end: usize, closing: Closing) -> bool {
    closing == Closing::Missing && cx.rest(end).starts_with(&*parameter.opener)
}

impl Parameters {
    /// Reads the open value on. `No`: the text is over and the value is not.
    pub(super) fn read_value(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        around: Around<'_>,
    ) -> Look<()> {
        let Around { index, row, tail, called } = around;
        let Some(value) = &mut self.value else { return Look::No };
        let Some(parameter) = row.parameters.get(value.opening.template) else { return Look::No };
        let trim = row.dialect.trim;
        if value.see_start(cx, trim) == Look::More {
            return Look::More;
        }
        let within = Within { row, parameter, tail, called, taken: &self.members };
        match value.find_end(cx, &within, &mut self.ahead) {
            Look::Is(Ended { end, next, closing }) => {
                if closing == Closing::BeforeCall {
                    self.ahead = Some((next, Next::Close));
                } else if value.closes_by_key() {
                    // Only the tool's own parameters were seen there.
                    self.ahead = None;
                }
                // Mere text that its own marker closes leaves no doubt.
                if value.marked || closing != Closing::Own {
                    self.broken |= value.is_torn(cx, &within, end, closing);
                    self.broken |= closing == Closing::Own && value.is_swapped(cx, &within, end, next);
                    self.stray |= value.may_hold_another(cx, &within, closing);
                    self.unclosed |= is_unclosed(cx, parameter, end, closing);
                    self.unsure |= value.ends_early(end);
                }
                if closing == Closing::Missing {
                    // The line break before what closes the call is the markup's.
                    value.frame = Frame::Padded;
                }
                let before = self.members.len();
                self.end_value(cx, out, writer, around, end);
                // What nothing closed takes the place of no other value.
                self.broken |= closing == Closing::Missing && self.members.len() == before;
                if let Some(what) = closing.slip() {
                    self.repairs.push(Repair::at(RepairCode::Marker, end, what));
                }
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
        let closer = value.closer(parameter);
        let blank = |at: usize| cx.rest(at).len() - cx.rest(at).trim_start().len();
        let start = value.start + if trim == Trim::Space { blank(value.start) } else { 0 };
        let text = cx.slice(start, cx.text.len());
        match value.sent.streams {
            Streams::Yes => {}
            Streams::NoJson if !may_be_json(text) => {}
            _ => return,
        }
        // Its closing marker stands there but for a suffix and what ends that.
        let suffixed = text.rfind(closer).filter(|at| {
            let suffix = text.get(at + closer.len()..).unwrap_or_default();
            let may_go_on = !suffix.contains(['<', '>']) && !suffix.trim_ascii_end().contains('\n');
            !parameter.after.is_empty() && suffix.len() <= LONGEST_SUFFIX && may_go_on
        });
        let text = suffixed.map_or_else(|| before_cut(text, closer), |at| text.get(..at).unwrap_or(text));
        let text = value.unframed(text, trim);
        let found = Value::Text(Piece::Span(start..start + text.len()));
        self.members.push((value.opening.key, found));
    }

    /// The open value ended at `end`.
    fn end_value(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, around: Around<'_>, end: usize) {
        let Around { index, row, called, .. } = around;
        let Some(value) = &mut self.value else { return };
        let (trim, end) = (row.dialect.trim, end.max(value.start));
        let parameter = row.parameters.get(value.opening.template);
        let twice = if value.marked { value.opened_twice(cx, row, cx.slice(value.start, end)) } else { None };
        if let Some(twice) = twice {
            let what = "a parameter's opening marker stood twice";
            self.repairs.push(Repair::at(RepairCode::Marker, value.start, what));
            value.start += twice;
            if trim == Trim::Newline {
                value.skip_break(cx.bytes().get(value.start..end).unwrap_or_default());
            }
            // The second was counted as one that the value shows, so it may have ended where what it shows is closed.
            self.broken |= parameter.is_some_and(|parameter| value.is_closed_in(cx.slice(value.start, end), parameter));
        }
        let mut range = value.framed(cx, end, trim);
        let mut section = None;
        if value.marked {
            self.broken |= opens_cdata_twice(cx.part(&range));
            section = in_cdata(cx.part(&range)).filter(|_| !value.is_sent());
        }
        if let Some(inside) = &section {
            let what = "what marked the text as CDATA was left out";
            self.repairs.push(Repair::at(RepairCode::Marker, range.start, what));
            range = range.start + inside.start..range.start + inside.end;
        }
        let entities = row.dialect.entities && section.is_none();
        let mut found = value.read(cx, &row.dialect, called, &range, entities, &self.members);
        self.null |= value.opening.kind.as_ref().is_some_and(|kind| cx.part(kind) == "null");
        if section.is_some() || parameter.is_some_and(|p| !p.tags && p.closes_section().is_some()) {
            let text = cx.part(&range);
            // A section ended in it, perhaps, and another began.
            let holds = |what: &str| find(text.as_bytes(), what.as_bytes()).is_some();
            self.broken |= holds(CDATA[0]) && parameter.is_some_and(|p| holds(p.closing_tag()));
            match joined_cdata(text) {
                Some(Cow::Borrowed(_)) => {}
                Some(Cow::Owned(text)) if matches!(found, Value::Text(_)) => {
                    let what = "sections of CDATA became one text";
                    self.repairs.push(Repair::at(RepairCode::Marker, range.start, what));
                    found = Value::Text(Piece::Made(text));
                }
                _ => self.broken = true,
            }
        }
        if out.streaming() {
            if !value.is_sent() {
                open(out, writer, index, value.key(cx), &mut self.opened);
            }
            writer.piece(out, index, value.rest(cx, &found, range.end));
        }
        self.keep(cx, found);
    }

    /// The open value is read, and is one of the arguments. Of a key that stood twice the last value counts, unless the schema wants
    /// a list: then they are its items.
    fn keep(&mut self, cx: &Reader<'_>, found: Value) {
        let Some(value) = &mut self.value else { return };
        let members = &self.members;
        // Where it may have ended before, it takes the place of no other.
        let torn = value.ends.doubtful.is_some();
        let name = |i: usize| members.get(i).map(|(k, _)| k.as_bytes(cx.text));
        let bit = value.opening.declared.and_then(|at| 1_u64.checked_shl(u32::try_from(at).ok()?));
        let first = bit.is_some_and(|bit| self.given & bit == 0);
        self.given |= bit.unwrap_or_default();
        let same = if first { None } else { self.keys.position(value.key(cx), members.len(), name) };
        if let Some(member) = same.and_then(|i| self.members.get_mut(i)) {
            let wanted = value.expected.is_some_and(|expected| expected.allows(Expected::ARRAY));
            let what = if wanted && listed(&mut member.1, &found, cx.text) {
                "a parameter stood twice: its values are the items of its list"
            } else {
                member.1 = found;
                self.broken |= torn;
                "a parameter stood twice: the last value counts"
            };
            // The first may have been shown in another's value.
            self.broken |= self.unclosed;
            self.repairs.push(Repair::at(RepairCode::DuplicateKey, value.opening.key_at, what));
        } else {
            if self.members.is_empty() {
                self.members = Vec::with_capacity(USUAL);
            }
            self.members.push((std::mem::replace(&mut value.opening.key, Piece::Span(0..0)), found));
        }
        self.value = None;
    }
}

/// How long the line break is that `text` ends with.
const fn trailing_break(text: &[u8]) -> usize {
    match text {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    }
}

/// `text` without the line break at its end, which may not have come whole.
fn without_half_break(text: &str) -> &str {
    let line = if text.ends_with('\r') { 1 } else { trailing_break(text.as_bytes()) };
    text.get(..text.len() - line).unwrap_or(text)
}

/// `text` without the first bytes of `closer` at its end.
fn before_cut<'t>(text: &'t str, closer: &str) -> &'t str {
    let cut = (1..closer.len()).rev().find_map(|length| text.strip_suffix(closer.get(..length)?));
    cut.unwrap_or(text)
}
