//! The value of one parameter: where it ends, and how it is given out while it is written.
use super::*;

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

/// Where a value ended.
#[derive(PartialEq, Eq)]
struct Ended {
    end: usize,
    /// Where what follows its closing marker begins.
    next: usize,
    /// What that is, if it was looked at.
    ahead: Option<Next>,
    /// What stands between the two is a tag like its closing marker.
    misspelt: bool,
    /// Its closing marker stands there twice.
    doubled: bool,
    /// What follows is a parameter that cannot be read.
    lost: bool,
}

impl Ended {
    const fn at(end: usize, next: usize) -> Self {
        Self { end, next, ahead: None, misspelt: false, doubled: false, lost: false }
    }
}

impl OpenValue {
    /// Something of it was given out.
    pub(super) fn is_sent(&self) -> bool {
        self.sent > self.start
    }

    /// A tag like its closing marker stands at `hit`, the structure goes on right behind it, and the value holds no such
    /// tag that it could close.
    #[cold]
    fn misspelt_end(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<Ended> {
        if self.tagged {
            return Look::No;
        }
        let Within { row, parameter, tail, called, .. } = within;
        let key = self.key.as_str(cx.text);
        let closes = |element: &Element, name: &str| match element {
            Element::Literal(text) => text.strip_prefix("</").is_some_and(|text| text.trim_end_matches('>') == name),
            _ => false,
        };
        let slip = |name: &str| self.closer.is_some() && misspelt::is_slip(name, key);
        let also = |name: &str| name == key || slip(name) || parameter.head.iter().any(|element| closes(element, name));
        let closer = self.closer.as_deref().unwrap_or(&parameter.closer);
        let tag = match misspelt::closing(cx, row, hit, closer, also) {
            Look::Is(tag) => tag,
            Look::More => return Look::More,
            Look::No => return Look::No,
        };
        let at = match misspelt::behind(cx, tag.end) {
            Look::Is(at) => at,
            Look::More => return Look::More,
            Look::No => return Look::No,
        };
        let mut ended = Ended { misspelt: true, ..Ended::at(hit, tag.end) };
        // Where only its name makes a parameter, the tool has one of that name.
        let declared = called.filter(|_| self.closer.is_some());
        match Parameters::next(cx, row, tail, tag.end, declared) {
            Next::More => return Look::More,
            Next::Junk => return Look::No,
            Next::Parameter(begun) => {
                if !self.goes_before(cx, within, begun.key.as_ref(), at) {
                    return Look::No;
                }
                ended.ahead = Some(Next::Parameter(begun));
            }
            Next::Close => {
                let last = match whole_tail(cx, row, tail, at) {
                    Look::Is(false) => ends_text(cx, tail, at),
                    Look::Is(true) | Look::No => Look::Is(()),
                    Look::More => Look::More,
                };
                match last {
                    Look::More => return Look::More,
                    Look::Is(()) => {}
                    Look::No => {
                        self.misspelt = Some((hit, tag.end));
                        return Look::No;
                    }
                }
            }
            // Cut off.
            Next::End => {}
        }
        if tag.name.is_empty() {
            return Look::Is(ended);
        }
        let opening = format!("<{}", tag.name);
        self.tagged = memchr::memmem::find(cx.slice(self.start, hit).as_bytes(), opening.as_bytes()).is_some();
        if self.tagged {
            return Look::No;
        }
        // Its own stands right before it, with nothing of the value between the two.
        let own = self.doubtful_closer.filter(|_| self.closer.is_some());
        Look::Is(match own.filter(|(_, end)| cx.slice(*end, hit).trim_ascii().is_empty()) {
            Some((own, _)) => Ended { end: own, misspelt: false, doubled: true, ..ended },
            None => ended,
        })
    }

    /// Its closing marker, which ends at `end`, stands there once more, the structure goes on behind that, and the value
    /// holds no opening one.
    #[cold]
    fn doubled_end(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize, end: usize) -> Look<Ended> {
        let Within { row, parameter, tail, called, .. } = within;
        if self.tagged {
            return Look::No;
        }
        let closer = self.closer.as_deref().unwrap_or(&parameter.closer);
        let declared = called.filter(|_| self.closer.is_some());
        let marker = misspelt::behind(cx, end).then(|at| head::literal(cx, at, closer));
        let again = match marker.then(|end| parameter.behind_closer(cx, end)) {
            Look::Is(again) => again,
            Look::More => return Look::More,
            Look::No => return Look::No,
        };
        match Parameters::next(cx, row, tail, again, declared) {
            Next::More => return Look::More,
            Next::Junk => return Look::No,
            _ => {}
        }
        let named = self.closer.as_ref().map(|_| format!("<{}>", self.key.as_str(cx.text)));
        let opener = named.as_deref().unwrap_or(&parameter.opener);
        self.tagged = memchr::memmem::find(cx.slice(self.start, hit).as_bytes(), opener.as_bytes()).is_some();
        if self.tagged { Look::No } else { Look::Is(Ended { doubled: true, ..Ended::at(hit, again) }) }
    }

    /// Its closing marker stands at `hit` and ends at `end`: it is one only if the structure goes on behind it.
    fn closes(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize, end: usize) -> Look<Ended> {
        let Within { row, tail, called, .. } = *within;
        let declared = called.filter(|_| self.closer.is_some());
        let next = Parameters::next(cx, row, tail, end, declared);
        match self.closes_shown(cx, within, &next, end) {
            Look::Is(()) => return Look::No,
            Look::More => return Look::More,
            Look::No => {}
        }
        match next {
            Next::More => Look::More,
            Next::Junk if self.is_cut_behind(cx, within, end) => Look::Is(Ended::at(hit, end)),
            // Its last sign stands there twice.
            Next::Junk if cx.bytes().get(end) == Some(&b'>') => {
                match Parameters::next(cx, row, tail, end + 1, declared) {
                    Next::More => Look::More,
                    Next::Junk => Look::No,
                    _ => Look::Is(Ended { misspelt: true, ..Ended::at(hit, end + 1) }),
                }
            }
            Next::Junk => match self.doubled_end(cx, within, hit, end) {
                Look::No => match self.lost_parameter(cx, within, hit, end) {
                    Look::Is(lost) => Look::Is(Ended { lost, ..Ended::at(hit, end) }),
                    Look::More => Look::More,
                    Look::No => {
                        self.doubtful_closer = Some((hit, end));
                        Look::No
                    }
                },
                look => look,
            },
            ahead => Look::Is(Ended { ahead: Some(ahead), ..Ended::at(hit, end) }),
        }
    }

    /// The text is cut off in the next parameter's marker, which begins at `end`.
    #[cold]
    fn is_cut_behind(&self, cx: &Reader<'_>, within: &Within<'_>, end: usize) -> bool {
        let Within { row, parameter, tail, .. } = *within;
        let unfinished = Reader { eof: false, ..*cx };
        cx.eof
            && self.closer.is_none()
            && cx.rest(cx.skip_space(end)).starts_with(&*parameter.opener)
            && Parameters::next(&unfinished, row, tail, end, None) == Next::More
    }

    /// Something else than its closing marker begins at `hit`: the next parameter, or what closes the call.
    fn other_ends(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<Ended> {
        let parameter = within.parameter;
        let opens = if self.closer.is_some() {
            self.see_tag(cx, within, hit)
        } else {
            head::literal(cx, hit, &parameter.opener).map(|_| ())
        };
        match opens {
            Look::More => Look::More,
            Look::No => match self.shows_call(cx, within, hit) {
                Look::Is(()) => Look::No,
                Look::More => Look::More,
                Look::No => self.call_ends(cx, within, hit),
            },
            Look::Is(()) => match head::head(cx, hit, &parameter.head) {
                Look::Is(next) if self.follows(cx, within, next.key.as_ref(), hit) => Look::Is(Ended::at(hit, hit)),
                Look::Is(_) => {
                    self.shows_parameter(cx, hit);
                    Look::No
                }
                Look::More => Look::More,
                Look::No => Look::No,
            },
        }
    }

    /// What closes the call stands at `hit`, perhaps. Inside a value it is text, unless its whole end and a new call stand
    /// there.
    fn call_ends(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize) -> Look<Ended> {
        match self.ends_shown(cx, within, hit) {
            Look::Is(()) => return Look::No,
            Look::More => return Look::More,
            Look::No => {}
        }
        match whole_tail(cx, within.row, within.tail, hit) {
            Look::Is(true) => return Look::Is(Ended::at(hit, hit)),
            Look::Is(false) => {}
            Look::No => return Look::No,
            Look::More => return Look::More,
        }
        if self.closer.is_some() {
            // Parameters that the tool does not have may stand between the two.
            if let Some((at, end)) = self.doubtful_closer {
                let between = cx.slice(end, hit).trim_ascii();
                if between.starts_with('<') && between.ends_with('>') {
                    return Look::Is(Ended::at(at, end));
                }
            }
            // Behind the first one it is long.
            if self.call_closer.is_none() {
                match self.ends_before_call(cx, within, hit) {
                    Look::Is(end) => return Look::Is(Ended::at(end, end)),
                    Look::More => return Look::More,
                    Look::No => {}
                }
            }
        }
        self.call_closer.get_or_insert(hit);
        Look::No
    }

    /// Where the value ends. `No`: the text is over, and it does not.
    fn find_end(&mut self, cx: &Reader<'_>, within: &Within<'_>) -> Look<Ended> {
        let Within { row, parameter, tail, called, .. } = *within;
        let bytes = cx.bytes();
        let own = self.closer.clone();
        let closer = own.as_deref().unwrap_or(&parameter.closer);
        let Some(first) = closer.as_bytes().first().copied() else { return Look::No };
        loop {
            let rest = bytes.get(self.searched..).unwrap_or_default();
            let Some(hit) = memchr::memchr(first, rest).map(|i| self.searched + i) else {
                self.searched = bytes.len();
                break;
            };
            self.searched = hit;
            let ended = match head::literal(cx, hit, closer) {
                Look::More => return Look::More,
                Look::No => self.other_ends(cx, within, hit),
                Look::Is(end) => match parameter.behind_closer(cx, end) {
                    Look::Is(end) => self.closes(cx, within, hit, end),
                    Look::More => return Look::More,
                    Look::No => {
                        self.searched = hit + 1;
                        continue;
                    }
                },
            };
            let ended = if ended == Look::No { self.misspelt_end(cx, within, hit) } else { ended };
            if ended != Look::No {
                return ended;
            }
            self.searched = hit + 1;
        }
        if !cx.eof {
            return Look::More;
        }
        match (self.call_closer, self.doubtful_closer) {
            (Some(at), _) if called.is_some() => Look::Is(match self.misspelt {
                Some((end, next)) if cx.skip_space(next) == at => Ended { misspelt: true, ..Ended::at(end, next) },
                _ => {
                    let at = self.next_opens.filter(|next| *next < at).unwrap_or(at);
                    Ended::at(at, at)
                }
            }),
            (None, Some((at, end))) => {
                let declared = called.filter(|_| own.is_some());
                let cut = cut_marker(cx, row, tail, end) || cut_key(cx, parameter, declared, end);
                if cut { Look::Is(Ended::at(at, end)) } else { Look::No }
            }
            _ => Look::No,
        }
    }

    /// Gives out its key, behind what `opened` says stands before.
    fn open(&self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, index: usize, opened: &mut bool) {
        if !out.streaming() {
            return;
        }
        let mut text = String::from(if *opened { ", " } else { "{" });
        *opened = true;
        push_string(&mut text, self.key.as_str(cx.text));
        text.push_str(": ");
        writer.piece(out, index, text);
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
        let doubtful = self.doubtful_closer.filter(|_| self.closer.is_some()).map(|(at, _)| at);
        let end = [doubtful, self.next_opens].into_iter().flatten().fold(self.searched, usize::min);
        let end = end.max(self.sent);
        // White space that waits for what follows is not looked through with every chunk.
        let waits = trim == Trim::Space || self.sent == self.start;
        if waits && cx.slice(self.blank.clamp(self.sent, end), end).trim_start().is_empty() {
            self.blank = end;
            return;
        }
        let certain = cx.slice(self.sent, end);
        if self.sent == self.start && (may_be_null(certain) || self.may_open_twice(cx, row, certain)) {
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
            Trim::None | Trim::Newline => without_break(certain),
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
            self.open(cx, out, writer, index, opened);
            text.push('"');
        }
        push_escaped(&mut text, certain);
        writer.piece(out, index, text);
        self.sent += length;
    }

    /// `text` without the white space at its end that may be the markup's.
    fn unframed<'t>(&self, text: &'t str, trim: Trim) -> &'t str {
        match trim {
            Trim::None => text,
            Trim::Newline if !self.padded => text,
            Trim::Newline => without_break(text),
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
            if trim == Trim::Newline && rest.starts_with('\n') {
                value.start += 1;
                value.padded = true;
            }
            if trim == Trim::Newline && rest == "\r" && !cx.eof {
                return Look::More;
            }
            if trim == Trim::Newline && rest.starts_with("\r\n") {
                value.start += 2;
                value.padded = true;
            }
            // The line break stood in the opening marker, for its bracket.
            value.padded |= trim == Trim::Newline && cx.slice(0, value.opened).ends_with('\n');
            value.framed = true;
            value.sent = value.start;
            value.searched = value.start;
        }
        let within = Within { row, parameter, tail, called: cx.called(out, index), taken: &self.members };
        match value.find_end(cx, &within) {
            Look::Is(Ended { end, next, ahead, misspelt, doubled, lost }) => {
                self.broken |= lost;
                self.ahead = ahead.filter(|_| value.closer.is_none()).map(|ahead| (next, ahead));
                // Without its own closing marker, the line break before the call's is the markup's.
                value.padded |= next == end;
                let missing = next == end;
                // What it showed may have been its own.
                self.broken |= missing && value.shown.whole;
                let inner = value.inner || value.shown.is_open() || missing;
                self.broken |= inner && value.holds_call(cx, row, end, missing);
                self.broken |= value.next_opens == Some(end) && value.is_long(cx, end);
                self.broken |= value.holds_opening(cx, row, parameter, end);
                self.end_value(cx, out, writer, index, end, row);
                let what = match () {
                    () if misspelt => Some("a parameter's closing marker is misspelt"),
                    () if doubled => Some("a parameter's closing marker stood twice"),
                    () if next == end => Some("a parameter's closing marker is missing"),
                    () => None,
                };
                self.repairs.extend(what.map(|what| Repair::at(RepairCode::Marker, end, what)));
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
                let line = if text.starts_with("\r\n") { 2 } else { usize::from(text.starts_with('\n')) };
                range.start += line;
                value.padded |= line > 0;
            }
            value.start = range.start;
        }
        let text = &cx.text[range.clone()];
        match row.dialect.trim {
            Trim::None | Trim::Newline if !value.padded => {}
            Trim::None | Trim::Newline => {
                let cut = text.strip_suffix("\r\n").or(text.strip_suffix('\n')).unwrap_or(text);
                range.end = range.start + cut.len();
            }
            Trim::Space => {
                range.start += text.len() - text.trim_start().len();
                range.end = range.start + text.trim().len();
            }
        }
        let text = &cx.text[range.clone()];
        let decoded = if row.dialect.entities { decode_entities(text) } else { Cow::Borrowed(text) };
        let key = value.key.as_str(cx.text);
        let expected = value.expected;
        let kind = value.kind.as_ref().map(|k| &cx.text[k.clone()]);
        let read = typed(&decoded, kind, expected, row.dialect.json_first);
        let elements = || match (&read, expected) {
            (ArgumentValue::Text(_), Some(expected)) if value.closer.is_some() => {
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
                value.open(cx, out, writer, index, &mut self.opened);
                let mut json = String::new();
                match &found {
                    Value::Text(piece) => push_string(&mut json, &piece.get(cx.text)),
                    Value::Json(piece) => json.push_str(&piece.get(cx.text)),
                }
                writer.piece(out, index, json);
            }
        }
        let members = &self.members;
        let name = |i: usize| members.get(i).map(|(k, _)| k.get(cx.text));
        let same = self.keys.position(key, members.len(), name);
        match same.and_then(|i| self.members.get_mut(i)) {
            Some(member) => {
                member.1 = found;
                let what = "a parameter stood twice: the last value counts";
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

impl Parameter {
    /// Where the closing marker ends that begins with what ends at `end`.
    fn behind_closer(&self, cx: &Reader<'_>, end: usize) -> Look<usize> {
        match self.after.as_slice() {
            [] => Look::Is(end),
            after => head::head(cx, end, after).map(|head| head.end),
        }
    }
}

/// `text` without the line break at its end.
fn without_break(text: &str) -> &str {
    text.strip_suffix("\r\n").or(text.strip_suffix(['\n', '\r'])).unwrap_or(text)
}

/// `text` without the first bytes of `closer` at its end.
fn before_cut<'t>(text: &'t str, closer: &str) -> &'t str {
    let cut = (1..closer.len()).rev().find_map(|length| text.strip_suffix(closer.get(..length)?));
    cut.unwrap_or(text)
}
