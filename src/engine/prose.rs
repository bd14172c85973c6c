//! Text outside calls: it flows on, and markers are taken out of it.
use super::call::{CallState, Origin};
use super::head::{self, Head};
use super::python::Python;
use super::trace::{Noted, Reason};
use super::{Before, Doubt, Engine, Look, Mode, Reader, ReasoningCalls, State, Step};
use crate::dialect::{Bare, Body, Element, Marker, Slot};
use crate::turn::{Issue, IssueCode};

/// What was done about the place that was looked at.
pub(super) type Taken = Look<()>;

impl Engine {
    pub(super) fn prose(&mut self, cx: &Reader<'_>) -> Step {
        if self.fence.is_some() {
            return self.fence_prose(cx);
        }
        let bytes = cx.bytes();
        if self.at == 0 {
            for look in [Self::opening_header, Self::opening_channel, Self::opening_word, Self::opening_name] {
                match look(self, cx) {
                    Look::Is(()) => return Step::Go,
                    Look::More if !cx.eof => return Step::More,
                    _ => {}
                }
            }
        }
        let mut next = None;
        loop {
            // A header without special tokens may stand before the next stop, which then is still the next.
            let stop = match next.filter(|stop| *stop >= self.at) {
                Some(stop) => stop,
                None => *next.insert(cx.dialects.markers.next_stop(bytes, self.at)),
            };
            let stop = self.plain_stop(cx, stop);
            self.at = stop;
            if stop >= bytes.len() {
                if cx.eof {
                    self.end(cx);
                } else {
                    self.give_text(cx, stop, false);
                }
                return Step::More;
            }
            match self.look(cx, stop) {
                // Inline code was entered or left: prose goes on.
                Look::Is(()) if matches!(self.state, State::Prose) && self.fence.is_none() => {}
                Look::Is(()) => return Step::Go,
                Look::More => {
                    self.give_text(cx, stop, false);
                    return Step::More;
                }
                Look::No => {
                    // Whatever stands here is text; at least one byte of it has been looked at.
                    self.at = stop + 1;
                    while !cx.text.is_char_boundary(self.at) {
                        self.at += 1;
                    }
                }
            }
        }
    }

    /// The text is over.
    fn end(&mut self, cx: &Reader<'_>) {
        if let Some((open, from)) = self.inline.take() {
            self.out.trace.note(from + open..self.at, Noted::Passed(Reason::InlineCode));
        }
        for doubt in [Doubt::InlineCode, Doubt::Reasoning] {
            self.keep(doubt);
        }
        if self.fresh && self.removed && cx.rest(self.from).trim_ascii_start().is_empty() {
            self.from = self.at;
        }
        self.give_text(cx, self.at, true);
    }

    /// Gives out the text up to `to`; what may be the beginning of a late marker waits, unless it is the `last` text.
    pub(super) fn give_text(&mut self, cx: &Reader<'_>, to: usize, last: bool) {
        let mut to = to;
        if !last {
            to = cx.dialects.markers.late().certain(cx.text, self.from, to);
            to = self.before_name(cx, self.from, to);
        }
        self.give(cx, to, last);
    }

    /// Gives out the text up to `to`, where a marker stands or nothing is in doubt. White space after a marker waits
    /// until it is clear whether text follows; in reasoning, so does white space before a marker.
    fn give(&mut self, cx: &Reader<'_>, mut to: usize, last: bool) {
        let Some(text) = cx.text.get(self.from..to) else { return };
        if self.channel.is_some_and(|c| c.dropped) {
            self.out.trace.note(self.from..to, Noted::Dropped);
            self.from = to;
            return;
        }
        let mut from = self.from;
        if self.fresh && !text.is_empty() {
            let start = cx.skip_space(self.from).min(to) - self.from;
            if start == text.len() && !last {
                return;
            }
            if self.removed && self.out.space_is_idle(self.mode) {
                from += start;
            } else if start == 0
                && self.mode == Mode::Content
                && let Some(space) = self.space.take()
            {
                // Text goes on right behind a marker: the white space before the marker parts it from the text above.
                self.out.text(self.mode, cx.text, space);
            }
            self.space = None;
        }
        if self.mode == Mode::Reasoning {
            to = from + cx.slice(from, to).trim_ascii_end().len();
            if to == from && !last {
                return;
            }
        }
        if to > from {
            self.fresh = false;
            self.out.text(self.mode, cx.text, from..to);
        }
        self.from = to;
    }

    /// Where text ends that cannot be the beginning of a bare call's name.
    fn before_name(&self, cx: &Reader<'_>, from: usize, to: usize) -> usize {
        let Some(tools) = cx.tools.filter(|_| cx.dialects.bare_python && self.mode == Mode::Content) else { return to };
        let length = name_before(cx.slice(from, to));
        let start = to - length;
        if length == 0 || length > 128 || !cx.at_line_start(start) {
            return to;
        }
        let written = cx.slice(start, to).replace('\\', "");
        if tools.tools().iter().any(|tool| begins(&tool.name, &written)) { start } else { to }
    }

    /// Gives out the text before a marker at `at`, and goes on after it at `end`. What comes back says what to restore
    /// should the marker turn out to be text.
    pub(super) fn remove(&mut self, cx: &Reader<'_>, at: usize, end: usize) -> Before {
        let mut before =
            Before { from: self.from, fresh: self.fresh, removed: self.removed, space: self.space.clone() };
        if !(self.fresh && cx.slice(self.from, at).trim_ascii_start().is_empty()) {
            self.give(cx, at, false);
            before = Before { from: self.from, fresh: self.fresh, ..before };
        } else if at > self.from
            && self.mode == Mode::Content
            && self.section.is_none()
            && !self.out.space_is_idle(self.mode)
        {
            // Inside a section, white space is the markup's.
            self.space = Some(self.from..at);
        }
        self.from = end;
        self.at = end;
        self.fresh = true;
        self.removed = true;
        before
    }

    fn look(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if self.plain.is_some() {
            match self.plain_look(cx, at) {
                Look::No => {}
                found => return found,
            }
        }
        let byte = cx.bytes().get(at).copied().unwrap_or_default();
        if byte == b'`' {
            return self.ticks(cx, at);
        }
        if byte == b'~' {
            return self.tildes(cx, at);
        }
        match self.marker(cx, at) {
            Look::No => {}
            found => return found,
        }
        match self.late_marker(cx, at) {
            Look::No => {}
            found => return found,
        }
        match byte {
            b'(' => return self.bare_call(cx, at),
            b'<' => return self.bare_element(cx, at),
            _ => {}
        }
        self.bare(cx, at)
    }

    /// `get_weather(city="Paris")` with nothing round it: an offered name at the start of a line, and a parenthesis.
    fn bare_call(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if cx.tools.is_none() || !cx.dialects.bare_python || self.mode == Mode::Reasoning || self.inline.is_some() {
            return Look::No;
        }
        let before = cx.slice(self.from, at);
        let start = at - name_before(before);
        let name = cx.slice(start, at).replace('\\', "");
        if start == at || !cx.offered(&name) || !cx.at_line_start(start) {
            let offered = self.out.trace.is_on() && cx.offered(&name);
            if start < at && (offered || cx.at_line_start(start)) {
                self.pass(cx, start, if offered { Reason::Place } else { Reason::NameNotOffered });
            }
            return Look::No;
        }
        if self.runs_away(cx, start) {
            self.pass(cx, start, Reason::Runaway);
            return Look::No;
        }
        self.begin_bare(cx, start, Body::Python)
    }

    /// `<read_file><path>a.py</path></read_file>`: a tag named after an offered tool at the start of a line, and in it one
    /// named after a parameter of it.
    pub(super) fn bare_element(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let (Some(tools), Some(number)) = (cx.tools, cx.dialects.elements) else { return Look::No };
        let row = cx.dialects.rows.get(usize::from(number));
        let Some(call) = row.and_then(|r| r.calls.first()) else { return Look::No };
        let behind_another = self.fresh && self.removed && cx.slice(self.from, at).trim_ascii_start().is_empty();
        if self.inline.is_some() || self.section.is_some() || !(behind_another || cx.at_line_start(at)) {
            return Look::No;
        }
        let tag = |at: usize| {
            let rest = cx.bytes().get(at + 1..).unwrap_or_default();
            let name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':');
            let length = rest.iter().take(128).position(|b| !name(b)).unwrap_or(rest.len().min(128));
            (cx.slice(at + 1, at + 1 + length), rest.get(length).copied())
        };
        let may_begin =
            |written: &str, name: &str| name.get(..written.len()).is_some_and(|n| n.eq_ignore_ascii_case(written));
        let tool = match tag(at) {
            (name, Some(b'>')) => cx.tool(name),
            (name, None) if !cx.eof && tools.tools().iter().any(|t| may_begin(name, &t.name)) => return Look::More,
            _ => None,
        };
        let Some(tool) = tool else { return Look::No };
        let found = match head::head(cx, at, &call.head) {
            Look::Is(found) => found,
            other => return other.map(|_| ()),
        };
        let inside = cx.skip_space(found.end);
        if inside >= cx.text.len() && !cx.eof && inside - at <= cx.policy.max_markup_bytes {
            return Look::More;
        }
        if cx.bytes().get(inside) != Some(&b'<') {
            return Look::No;
        }
        let parameters = || tool.parameters.iter().map(|(name, _)| name);
        let closing = format!("</{}>", tag(at).0);
        match tag(inside) {
            // A tool without parameters has nothing else to show.
            _ if tool.parameters.is_empty() => match head::literal(cx, inside, &closing) {
                Look::Is(_) => {}
                other => return other.map(|_| ()),
            },
            (name, Some(b'>')) if parameters().any(|p| p == name) => {}
            (name, None) if !cx.eof && parameters().any(|p| may_begin(name, p)) => return Look::More,
            _ => return Look::No,
        }
        self.begin(cx, at, number, 0, found, None)
    }

    /// A literal marker at `at`, if there is one and it is what it seems.
    pub(super) fn marker(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        use crate::dialect::MarkersAt as At;
        let (ends, count) = match cx.dialects.markers.at(cx.bytes(), at) {
            At::Nothing => return Look::No,
            At::Partial => return if cx.eof { Look::No } else { Look::More },
            At::Some { more: true, .. } if !cx.eof => return Look::More,
            At::Some { ends, count, .. } => (ends, count),
        };
        self.out.trace.forget();
        for (length, list) in ends[..count].iter().rev() {
            let markers = cx.dialects.markers.list(*list);
            // One literal may both close reasoning and be a token elsewhere: where it stands decides.
            let ambiguous = markers.contains(&Marker::Token);
            for marker in markers {
                let closes = matches!(marker, Marker::ReasoningClose(_));
                let reasoning = self.mode == Mode::Reasoning;
                let may_close = markers.iter().any(|m| matches!(m, Marker::ReasoningClose(_)));
                if (closes && ambiguous && !reasoning) || (*marker == Marker::Token && may_close && reasoning) {
                    continue;
                }
                match self.take(cx, at, *length, *marker) {
                    Look::No => {}
                    Look::Is(()) => {
                        self.note_markup(at, at + *length, *marker);
                        return Look::Is(());
                    }
                    Look::More => return Look::More,
                }
            }
        }
        let longest = ends.get(count.wrapping_sub(1)).map_or(&[][..], |(_, list)| cx.dialects.markers.list(*list));
        let calls = longest.iter().any(|m| matches!(m, Marker::Call { .. } | Marker::Section { .. }));
        if calls && self.inline.is_none() {
            let length = ends.get(count.wrapping_sub(1)).map_or(0, |(length, _)| *length);
            let row = longest.iter().find_map(|m| match m {
                Marker::Call { row, .. } | Marker::Section { row, .. } => Some(*row),
                _ => None,
            });
            self.out.trace.kept(at..at + length, row, Reason::NotReadable);
        }
        if calls && self.inline.is_none() && self.fence.is_none() {
            self.out.issue(Issue::at(IssueCode::StrayMarker, at, "no readable call follows this marker"));
        }
        Look::No
    }

    /// A marker that is found by a byte further on.
    fn late_marker(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        for (start, late) in cx.dialects.markers.late().at(cx.text, self.from, at) {
            let taken = match head::literal(cx, start, &late.text) {
                Look::Is(end) => {
                    let taken = self.take(cx, start, late.text.len(), late.marker);
                    if taken == Look::Is(()) {
                        self.note_markup(start, end, late.marker);
                    }
                    taken
                }
                Look::No => Look::No,
                Look::More => Look::More,
            };
            if taken != Look::No {
                return taken;
            }
        }
        Look::No
    }

    fn take(&mut self, cx: &Reader<'_>, at: usize, length: usize, marker: Marker) -> Taken {
        match marker {
            Marker::Header { row } => self.header(cx, at, at + length, row),
            Marker::MessageEnd { row } => self.message_ends(cx, at, at + length, row),
            Marker::Token => {
                if self.inline.is_some() {
                    return Look::No;
                }
                // `</s>` is HTML as well: it ends a turn only where the text ends.
                let token = cx.slice(at, at + length);
                if !token.contains('|') && !token.contains('｜') {
                    let after = cx.skip_space(at + length);
                    if after < cx.text.len() {
                        return Look::No;
                    }
                    if !cx.eof {
                        return if after - at > cx.policy.max_markup_bytes { Look::No } else { Look::More };
                    }
                }
                self.remove(cx, at, at + length);
                Look::Is(())
            }
            Marker::Result(result) => {
                if self.out.calls.is_empty() || self.inline.is_some() || self.fence.is_some() {
                    return Look::No;
                }
                self.remove(cx, at, at + length);
                self.state = State::Invented { result, at, searched: at + length };
                Look::Is(())
            }
            Marker::ReasoningOpen(_) => self.reasoning_opens(cx, at, length),
            Marker::ReasoningClose(_) => self.reasoning_closes(cx, at, length),
            Marker::SectionEnd { row, section } => {
                if self.section.is_none_or(|(open, _)| open != row) && !self.call_ended(cx, at, row) {
                    return Look::No;
                }
                let close = cx.dialects.rows.get(usize::from(row)).and_then(|r| r.sections.get(usize::from(section)));
                let Some((_, close)) = close else { return Look::No };
                match head::head(cx, at, close) {
                    Look::Is(found) => {
                        self.remove(cx, at, found.end);
                        self.section = None;
                        Look::Is(())
                    }
                    Look::No => Look::No,
                    Look::More => Look::More,
                }
            }
            Marker::Section { row, section } => self.section_opens(cx, at, row, section),
            Marker::Call { row, call } => {
                let template = cx.dialects.rows.get(usize::from(row)).and_then(|r| r.calls.get(usize::from(call)));
                let Some(template) = template else { return Look::No };
                match head::head(cx, at, &template.head) {
                    Look::Is(found) => self.begin(cx, at, row, call, found, None),
                    Look::No => Look::No,
                    Look::More => Look::More,
                }
            }
        }
    }

    /// The text before `at` is a call of this row: it came without its section's opening marker.
    fn call_ended(&self, cx: &Reader<'_>, at: usize, row: u16) -> bool {
        let dialect = cx.dialects.rows.get(usize::from(row)).map(|r| &r.dialect);
        let last = self.out.calls.last().and_then(|call| call.dialect.as_ref());
        let same = last.zip(dialect).is_some_and(|(last, dialect)| last.name == dialect.name);
        same && self.fresh && self.removed && cx.slice(self.from, at).trim_ascii_start().is_empty()
    }

    /// Reads a result that the model wrote itself to its end, or to the end of the text. It goes into an issue whole.
    pub(super) fn invented(&mut self, cx: &Reader<'_>, result: u16, at: usize, searched: usize) -> Step {
        let close = cx.dialects.results.get(usize::from(result)).map_or("", |(_, close)| close.as_str());
        let rest = cx.bytes().get(searched..).unwrap_or_default();
        let end = match memchr::memmem::find(rest, close.as_bytes()) {
            Some(i) => searched + i + close.len(),
            None if cx.eof => cx.text.len(),
            None => {
                let mut next = cx.text.len().saturating_sub(close.len()).max(searched);
                while !cx.text.is_char_boundary(next) {
                    next -= 1;
                }
                self.state = State::Invented { result, at, searched: next.max(searched) };
                return Step::More;
            }
        };
        let message = format!("the model wrote a tool's result itself: {}", cx.slice(at, end));
        self.out.issue(Issue::at(IssueCode::InventedResult, at, message));
        self.out.trace.note(at..end, Noted::Result);
        self.from = end;
        self.at = end;
        Step::Go
    }

    fn reasoning_opens(&mut self, cx: &Reader<'_>, at: usize, length: usize) -> Taken {
        let blank = self.fresh && cx.slice(self.from, at).trim_ascii_start().is_empty();
        if self.inline.is_some() || self.hold.is_some() || !(blank || cx.at_line_start(at)) {
            return Look::No;
        }
        if self.mode == Mode::Content {
            self.remove(cx, at, at + length);
            self.mode = Mode::Reasoning;
        } else if blank {
            // The prompt had opened it already.
            self.remove(cx, at, at + length);
        } else {
            return Look::No;
        }
        self.reasoning_seen = true;
        self.section = None;
        Look::Is(())
    }

    fn reasoning_closes(&mut self, cx: &Reader<'_>, at: usize, length: usize) -> Taken {
        if self.holds(Doubt::Reasoning) {
            self.go_back(at);
        }
        if self.mode == Mode::Reasoning {
            self.remove(cx, at, at + length);
            self.mode = Mode::Content;
            self.inline = None;
            return Look::Is(());
        }
        if self.inline.is_some() || self.hold.is_some() {
            return Look::No;
        }
        self.remove(cx, at, at + length);
        if !self.reasoning_seen && self.out.calls.is_empty() {
            self.out.reclassify(at);
            self.reasoning_seen = true;
        } else {
            self.out.issue(Issue::at(IssueCode::StrayMarker, at, "reasoning was closed that was not open"));
        }
        Look::Is(())
    }

    fn section_opens(&mut self, cx: &Reader<'_>, at: usize, row: u16, section: u16) -> Taken {
        let Some(entry) = cx.dialects.rows.get(usize::from(row)) else { return Look::No };
        let Some((open, _)) = entry.sections.get(usize::from(section)) else { return Look::No };
        let end = match head::head(cx, at, open) {
            Look::Is(found) => found.end,
            Look::No => return Look::No,
            Look::More => return Look::More,
        };
        let inside = cx.skip_space(end);
        if inside >= cx.text.len() && !cx.eof {
            return if inside - at > cx.policy.max_markup_bytes { Look::No } else { Look::More };
        }
        for (i, call) in entry.calls.iter().enumerate() {
            match head::head(cx, inside, &call.head) {
                Look::Is(found) => match self.begin(cx, at, row, i as u16, found, Some(section)) {
                    Look::No => {}
                    taken => return taken,
                },
                Look::No => {}
                Look::More => return Look::More,
            }
        }
        // A call's marker stands there, though what follows it cannot be read: the section is one all the same.
        let opener = |call: &crate::dialect::Call| match call.head.first() {
            Some(crate::dialect::Element::Literal(text)) => {
                head::literal(cx, inside, text) == Look::Is(inside + text.len())
            }
            _ => false,
        };
        // The text ends in the call's head: then nothing was called, and the section's marker is text as well.
        let unfinished = Reader { eof: false, ..*cx };
        if cx.eof && entry.calls.iter().any(|call| head::head(&unfinished, inside, &call.head) == Look::More) {
            return Look::No;
        }
        let framed = entry.dialect.channels.as_ref().is_some_and(|c| c.calls_to_recipients);
        let closed_to_calls = framed && self.channel.is_some_and(|c| !c.calls);
        if entry.calls.iter().any(opener) && !closed_to_calls && self.mode == Mode::Content && self.inline.is_none() {
            self.remove(cx, at, end);
            self.section = Some((row, section));
            return Look::Is(());
        }
        Look::No
    }

    /// A call may begin at `at`: its head has been read. Looks at what follows and takes it if it can be the body.
    pub(super) fn begin(
        &mut self,
        cx: &Reader<'_>,
        at: usize,
        row: u16,
        call: u16,
        found: Head,
        section: Option<u16>,
    ) -> Taken {
        let Some(entry) = cx.dialects.rows.get(usize::from(row)) else { return Look::No };
        let Some(template) = entry.calls.get(usize::from(call)) else { return Look::No };
        match CallState::plausible(
            cx,
            entry,
            template,
            &found,
            section.is_some() || self.section.is_some_and(|(r, _)| r == row),
        ) {
            Look::Is(()) => {}
            other => return other,
        }
        // A call outside the section its dialect asks for needs an offered name to vouch for it.
        let inside = section.is_some() || self.section.is_some_and(|(r, _)| r == row);
        let naked = !inside && !entry.sections.is_empty() && !entry.dialect.special_markers;
        if template.body != Body::Json && template.body != Body::Python {
            match found.name(cx) {
                Some(name) if naked && !cx.offered(&name) => {
                    let reason = if cx.tools.is_some() { Reason::NameNotOffered } else { Reason::NoTools };
                    self.out.trace.refuse(reason, &name);
                    return Look::No;
                }
                Some(_) => {}
                None => return Look::No,
            }
        } else if naked && cx.tools.is_none() {
            self.out.trace.refuse(Reason::NoTools, "");
            return Look::No;
        }
        if self.out.calls.len() >= cx.policy.max_calls {
            self.out.full(at);
            self.out.trace.refuse(Reason::LimitReached, &found.name(cx).unwrap_or_default());
            return Look::No;
        }
        let framed = entry.dialect.channels.as_ref().is_some_and(|c| c.calls_to_recipients);
        if framed && self.channel.is_some_and(|c| !c.calls) {
            self.out.trace.refuse(Reason::Channel, &found.name(cx).unwrap_or_default());
            return Look::No;
        }
        if self.mode == Mode::Reasoning && cx.policy.reasoning == ReasoningCalls::Ignore {
            self.out.trace.refuse(Reason::Draft, &found.name(cx).unwrap_or_default());
            return Look::No;
        }
        let doubt = match (self.mode, self.inline) {
            _ if self.hold.is_some() => None,
            (Mode::Reasoning, Some(_)) => return Look::No,
            (Mode::Reasoning, None) => match cx.policy.reasoning {
                ReasoningCalls::IfUnclosed => Some(Doubt::Reasoning),
                _ => None,
            },
            (Mode::Content, Some(_)) => Some(Doubt::InlineCode),
            (Mode::Content, None) => None,
        };
        let before = self.remove(cx, at, found.end);
        if let Some(doubt) = doubt {
            self.hold(doubt, at, before.clone());
        }
        self.mode = Mode::Content;
        self.note_name(cx, &found);
        if let Some(section) = section {
            self.section = Some((row, section));
        }
        let state = CallState::new(cx, Origin { row, call }, template.body, at, found, naked, before);
        self.state = State::Call(Box::new(state));
        Look::Is(())
    }

    /// The answer begins with a name on a line of its own, and the arguments follow: `get_weather\n{...}`.
    fn opening_name(&mut self, cx: &Reader<'_>) -> Taken {
        let Some(row) = cx.dialects.rows.iter().position(|r| r.dialect.bare.contains(&Bare::NameLine)) else {
            return Look::No;
        };
        if cx.dialects.auto {
            // Only an offered name vouches for such a call: a first word that begins none does not wait.
            let first = head::bare_name(cx.text);
            let open = first.len() == cx.text.len() && !cx.eof;
            let vouched = |name: &str| begins(name, first) && (open || name.len() == first.len());
            if !cx.tools.is_some_and(|tools| tools.tools().iter().any(|tool| vouched(&tool.name))) {
                return Look::No;
            }
        }
        let elements = [Element::Slot(Slot::Name)];
        let found = match head::head(cx, 0, &elements) {
            Look::Is(found) => found,
            other => return other.map(|_| ()),
        };
        let rest = cx.rest(found.end);
        if rest.is_empty() && !cx.eof {
            return Look::More;
        }
        if !rest.starts_with('\n') {
            return Look::No;
        }
        let name = found.name.clone().map_or("", |r| &cx.text[r]);
        let line = cx.dialects.rows.get(row).and_then(|r| r.calls.iter().position(|c| c.body == Body::Arguments));
        let Some(call) = line else { return Look::No };
        if name == "all" && !cx.dialects.auto {
            self.remove(cx, 0, found.end + 1);
            return Look::Is(());
        }
        let at = cx.skip_space(found.end);
        match cx.bytes().get(at) {
            Some(b'{') => self.begin(cx, 0, row as u16, call as u16, found, None),
            None if !cx.eof => Look::More,
            _ => Look::No,
        }
    }

    /// The answer begins with a word that belongs to the marker behind it: `get_weather<|content_invoke_tool_json|>{...}`.
    fn opening_word(&mut self, cx: &Reader<'_>) -> Taken {
        let word = head::bare_name(cx.text);
        let open = word.len() == cx.text.len() && !cx.eof;
        if word.is_empty() || word.len() > 128 {
            return Look::No;
        }
        for (row, entry) in cx.dialects.rows.iter().enumerate() {
            for (call, template) in entry.calls.iter().enumerate() {
                let [Element::Slot(Slot::Ignored), Element::Literal(marker), ..] = template.head.as_slice() else {
                    continue;
                };
                // Only an offered name vouches for it where the dialect is not known: other words do not wait.
                let vouched = |name: &str| begins(name, word) && (open || name.len() == word.len());
                let tools = || cx.tools.is_some_and(|tools| tools.tools().iter().any(|t| vouched(&t.name)));
                if cx.dialects.auto && !tools() {
                    continue;
                }
                if open {
                    return Look::More;
                }
                match head::literal(cx, word.len(), marker) {
                    Look::Is(_) => {}
                    Look::More => return Look::More,
                    Look::No => continue,
                }
                return match head::head(cx, 0, &template.head) {
                    Look::Is(found) => self.begin(cx, 0, row as u16, call as u16, found, None),
                    other => other.map(|_| ()),
                };
            }
        }
        Look::No
    }

    /// Calls without a marker, where calls stand and the evidence is there.
    fn bare(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if self.mode == Mode::Reasoning || self.inline.is_some() || self.section.is_some() {
            if self.mode == Mode::Reasoning && self.inline.is_none() {
                self.pass(cx, at, Reason::Draft);
            }
            return Look::No;
        }
        let alone = self.fresh && cx.slice(self.from, at).trim_ascii_start().is_empty();
        let named = !cx.dialects.auto;
        let list =
            cx.dialects.bare_python && cx.bytes().get(at) == Some(&b'[') && Python::plausible(cx, at) != Look::No;
        // In the middle of a line a list of calls stands behind the end of a sentence or a colon.
        let sentence = cx.slice(0, at).trim_end().ends_with(['.', ':', '!', '?']);
        let place = if named || (list && ((cx.tools.is_some() && sentence) || cx.at_line_start(at))) {
            true
        } else if self.fence.is_some() || cx.tools.is_some_and(|t| !t.tools().is_empty()) {
            alone || cx.at_line_start(at)
        } else {
            alone && self.out.is_empty()
        };
        if !place {
            self.pass(cx, at, if cx.tools.is_none() { Reason::NoTools } else { Reason::Place });
            return Look::No;
        }
        if self.runs_away(cx, at) {
            self.pass(cx, at, Reason::Runaway);
            return Look::No;
        }
        let body = match CallState::bare_body(cx, at) {
            Look::Is(Body::Json) if cx.tools.is_none() && !cx.dialects.bare_json => {
                self.pass(cx, at, Reason::NoTools);
                return Look::No;
            }
            Look::Is(body) => body,
            Look::No => return Look::No,
            Look::More => return Look::More,
        };
        self.begin_bare(cx, at, body)
    }

    pub(super) fn begin_bare(&mut self, cx: &Reader<'_>, at: usize, body: Body) -> Taken {
        if self.out.calls.len() >= cx.policy.max_calls {
            self.pass(cx, at, Reason::LimitReached);
            return Look::No;
        }
        let before = self.remove(cx, at, at);
        if self.hold.is_none() {
            self.hold(Doubt::Bare, at, before.clone());
        }
        let head = Head { end: at, ..Head::default() };
        self.state = State::Call(Box::new(CallState::new(cx, Origin::BARE, body, at, head, true, before)));
        Look::Is(())
    }
}

/// What is `written` begins the name, whatever its case.
fn begins(name: &str, written: &str) -> bool {
    name.get(..written.len()).is_some_and(|start| start.eq_ignore_ascii_case(written))
}

/// How many bytes at the end of `text` can be a tool's name.
fn name_before(text: &str) -> usize {
    let ok = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'\\' | b'/' | b':') || *b >= 0x80;
    let length = text.bytes().rev().take(256).take_while(|b| ok(b)).count();
    // A character cut in two would be no boundary.
    (0..=length).rev().find(|n| text.is_char_boundary(text.len() - n)).unwrap_or(0)
}
