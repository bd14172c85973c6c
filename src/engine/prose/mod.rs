//! Text outside calls: it flows on, up to a place where something may begin that is none.
pub(super) mod channels;
pub(super) mod code;
pub(super) mod example;
pub(super) mod flow;
pub(super) mod invented;
pub(super) mod leftover;
pub(super) mod markers;
pub(super) mod named;
pub(super) mod plain;
pub(super) mod quoted;
pub(super) mod runaway;
pub(super) mod sentence;
pub(super) mod twice;

use super::body::BodyState;
use super::body::keys::no_call;
use super::call::CallState;
use super::head::{self, Head};
use super::reader::floor;
use super::trace::{Noted, Reason};
use super::writer::{Evidence, Origin};
use super::{Doubt, Engine, Given, Look, Mode, Reader, ReasoningCalls, State, Step};
use crate::dialect::{Body, Element, Key, Slot, may_end_name};
use crate::schema::begins;
use crate::turn::{Issue, IssueCode};
use flow::name_before;
use named::printed;
use quoted::in_quoted_line;
use std::ops::Range;

/// What was done about the place that was looked at.
pub(super) type Taken = Look<()>;

impl Engine {
    pub(super) fn prose(&mut self, cx: &Reader<'_>) -> Step {
        if self.fence.is_some() {
            return self.fence_prose(cx);
        }
        let bytes = cx.bytes();
        if self.at == 0 {
            // A header without special tokens has its object near; the others wait for a marker.
            for look in [
                Self::opening_label,
                Self::opening_channel,
                Self::opening_header,
                Self::opening_word,
                Self::opening_name,
            ] {
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
            let stop = self.recipient_stop(cx, stop);
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
    pub(super) fn end(&mut self, cx: &Reader<'_>) {
        self.leave_stop(cx);
        if let Some((open, from)) = self.inline.take() {
            self.out.trace.note(from + open..self.at, Noted::Passed(Reason::InlineCode));
        }
        for doubt in [Doubt::InlineCode, Doubt::Reasoning] {
            self.keep(doubt);
        }
        if self.given.fresh && self.given.removed && cx.rest(self.given.from).trim_ascii_start().is_empty() {
            self.given.from = self.at;
        }
        self.give_text(cx, self.at, true);
    }

    /// Gives out the text up to `to`, where a marker stands or nothing is in doubt. White space after a marker waits
    /// until it is clear whether text follows; in reasoning, so does white space before a marker.
    pub(super) fn give(&mut self, cx: &Reader<'_>, mut to: usize, last: bool) {
        let Some(text) = cx.text.get(self.given.from..to) else { return };
        if self.channel.is_some_and(|c| c.dropped) {
            self.given.fresh &= text.trim_ascii_start().is_empty();
            self.out.trace.note(self.given.from..to, Noted::Dropped);
            self.given.from = to;
            return;
        }
        let mut from = self.given.from;
        let blank = |text: &str| text.trim_ascii_start().is_empty();
        if self.given.opener.is_some() && !blank(text) {
            from = self.opener_is_text(cx);
        } else if self.given.fresh && !text.is_empty() {
            let start = cx.skip_space(self.given.from).min(to) - self.given.from;
            if start == text.len() && !last {
                return;
            }
            let parted = self.given.mode == Mode::Reasoning && self.given.space.is_some();
            if self.given.removed && self.out.space_is_idle(self.given.mode) && !parted {
                from += start;
            } else if start == 0
                && (self.given.mode == Mode::Content || parted)
                && let Some(space) = self.given.space.take()
            {
                // Text goes on right behind a marker: the white space before the marker parts it from the text above.
                self.out.text(self.given.mode, cx.text, space);
            }
            self.given.space = None;
        }
        if self.given.mode == Mode::Reasoning {
            // A run that is waited for is not looked through with every chunk.
            let blank = cx.skip_space(from) >= to;
            to = if blank { from } else { from + cx.slice(from, to).trim_ascii_end().len() };
            if to == from && !last {
                return;
            }
        }
        if to > from {
            if self.given.fresh {
                self.given.text_from = self.given.from;
            }
            self.given.fresh = false;
            self.out.text(self.given.mode, cx.text, from..to);
        }
        self.given.from = to;
    }

    /// Text stands where the first call of a section should: what opened the section is text as well. Where it begins.
    fn opener_is_text(&mut self, cx: &Reader<'_>) -> usize {
        let Some(opener) = self.given.opener.take() else { return self.given.from };
        if let Some(space) = self.given.space.take() {
            self.out.text(self.given.mode, cx.text, space);
        }
        self.opener_given = Some(self.out.calls.len());
        self.unread = true;
        opener.start
    }

    /// Calls without markers are drafts here.
    pub(super) fn drafts(&self, cx: &Reader<'_>) -> bool {
        self.given.mode == Mode::Reasoning && cx.policy.reasoning != ReasoningCalls::Run
    }

    /// A call stands behind the white space of `space`: it ends the reasoning, unless calls in reasoning are like others.
    pub(super) fn call_stands(&mut self, cx: &Reader<'_>, space: Range<usize>) {
        if cx.policy.reasoning != ReasoningCalls::Run {
            self.given.mode = Mode::Content;
        } else if self.given.mode == Mode::Reasoning && self.out.has_reasoning() {
            // It parts the text round the call.
            let known = self.given.space.take().filter(|_| space.is_empty());
            self.given.space = known.or(Some(space));
        }
    }

    /// Gives out the text before a marker at `at`, and goes on after it at `end`. What comes back says what to restore
    /// should the marker turn out to be text.
    pub(super) fn remove(&mut self, cx: &Reader<'_>, at: usize, end: usize) -> Given {
        let mut before = self.given.clone();
        if !self.fresh_at(cx, at) {
            self.give(cx, at, false);
            before = Given { removed: before.removed, mode: before.mode, ..self.given.clone() };
        } else if at > self.given.from
            && self.given.mode == Mode::Content
            && self.section.is_none()
            && !self.out.space_is_idle(self.given.mode)
        {
            // Inside a section, white space is the markup's.
            self.given.space = Some(self.given.from..at);
        }
        self.given.from = end;
        self.at = end;
        self.given.fresh = true;
        self.given.removed = true;
        self.given.opener = None;
        before
    }

    pub(super) fn look(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if self.plain.is_some() {
            match self.plain_look(cx, at) {
                Look::No => {}
                found => return found,
            }
        }
        let byte = cx.bytes().get(at).copied().unwrap_or_default();
        if byte == b't' {
            match self.recipient(cx, at) {
                Look::No => {}
                found => return found,
            }
        }
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
            b'(' => self.bare_call(cx, at),
            b'<' => match self.leftover_tag(cx, at) {
                Look::No => self.bare_element(cx, at),
                found => found,
            },
            b'{' => match self.named_object(cx, at) {
                Look::No => match self.line_header(cx, at) {
                    Look::No => self.bare(cx, at),
                    found => found,
                },
                found => found,
            },
            b'[' => self.bare(cx, at),
            _ => Look::No,
        }
    }

    /// `get_weather(city="Paris")` with nothing round it: an offered name at the start of a line, and a parenthesis.
    pub(super) fn bare_call(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        if cx.tools.is_none() || cx.dialects.bare_python.is_none() || self.drafts(cx) || self.inline.is_some() {
            return Look::No;
        }
        // At the end of what came, every parenthesis is looked at.
        if !at.checked_sub(1).and_then(|i| cx.bytes().get(i)).is_some_and(|byte| may_end_name(*byte)) {
            return Look::No;
        }
        let before = cx.slice(self.given.from, at);
        let start = at - name_before(before);
        let name = cx.slice(start, at).replace('\\', "");
        let leads = || cx.tools.is_some_and(|tools| tools.leads_to(&name));
        if cx.offered(&name)
            && let Some(start) = printed(cx, self.given.from, start, at).filter(|start| !self.refuses(cx, *start))
        {
            return self.begin_bare(cx, start, Body::Python);
        }
        let begins = self.begins_line(cx, start);
        if start == at || !cx.offered(&name) || !begins || !leads() {
            let offered = self.out.trace.is_on() && cx.offered(&name);
            if start < at && (offered || begins) {
                self.pass(cx, start, if offered { Reason::Place } else { Reason::NameNotOffered });
            }
            return Look::No;
        }
        if self.runs_away(cx, start) {
            self.pass(cx, start, Reason::Runaway);
            return Look::No;
        }
        if self.is_quoted(cx, start) {
            self.pass(cx, start, Reason::Quoted);
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
        let behind_another = self.given.removed && self.fresh_at(cx, at);
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
        // What nobody can know to be a tool's name before it is whole does not wait, so it is none when it is.
        let leads = |name: &str| !cx.dialects.auto || tools.leads_to(name);
        let tool = match tag(at) {
            (name, Some(b'>')) => cx.tool(name).filter(|_| leads(name)),
            (name, None) if !cx.eof && name.len() < 128 && leads(name) => return Look::More,
            _ => None,
        };
        let Some(tool) = tool else { return Look::No };
        if self.fence.is_none() && self.is_quoted(cx, at) {
            self.pass(cx, at, Reason::Quoted);
            return Look::No;
        }
        let found = match head::head(cx, at, &call.head) {
            Look::Is(found) => found,
            other => return other.map(|_| ()),
        };
        let inside = match cx.behind_space(at, found.end) {
            Look::Is(inside) => inside,
            other => return other.map(|_| ()),
        };
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

    /// The answer begins with a name on a line of its own, and the arguments follow: `get_weather\n{...}`.
    pub(super) fn opening_name(&mut self, cx: &Reader<'_>) -> Taken {
        let Some((row, call)) = cx.dialects.name_line else { return Look::No };
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
        // To everybody, not to a tool: its marker, whose beginning the prompt held, is one that says nothing.
        let template = cx.dialects.rows.get(usize::from(row)).and_then(|row| row.calls.get(usize::from(call)));
        let opener = template.and_then(|template| match template.head.first() {
            Some(Element::Literal(opener)) => Some(&**opener),
            _ => None,
        });
        let says_nothing = |token: &String| opener.is_some_and(|opener| token.strip_prefix(opener) == Some(name));
        if !cx.dialects.auto && cx.dialects.dialect(row).is_some_and(|row| row.tokens.iter().any(says_nothing)) {
            self.remove(cx, 0, found.end + 1);
            return Look::Is(());
        }
        let at = cx.skip_space(found.end);
        match cx.bytes().get(at) {
            Some(b'{') => match Self::holds_arguments(cx, name, at) {
                Look::Is(()) => self.begin(cx, 0, row, call, found, None),
                other => other,
            },
            None if !cx.eof => Look::More,
            _ => Look::No,
        }
    }

    /// The object at `at` begins with a parameter of the tool, or is empty. Where the dialect was named, any will do.
    fn holds_arguments(cx: &Reader<'_>, name: &str, at: usize) -> Taken {
        let Some(tool) = cx.tool(name).filter(|_| cx.dialects.auto) else { return Look::Is(()) };
        let inside = cx.rest(cx.skip_space(at + 1));
        let rest = inside.trim_start_matches(['"', '\'']);
        if rest.is_empty() && !cx.eof {
            return Look::More;
        }
        let mut keys = tool.parameters.iter().map(|(key, _)| key.as_str());
        let free = tool.parameters.is_empty() && rest.len() < inside.len();
        if free || rest.starts_with('}') || keys.clone().any(|key| rest.starts_with(key)) {
            return Look::Is(());
        }
        if !cx.eof && keys.any(|key| key.starts_with(rest)) { Look::More } else { Look::No }
    }

    /// The answer begins with a word that belongs to the marker behind it: `get_weather<|content_invoke_tool_json|>{...}`.
    pub(super) fn opening_word(&mut self, cx: &Reader<'_>) -> Taken {
        if cx.dialects.words.is_empty() {
            return Look::No;
        }
        let word = head::bare_name(cx.text);
        let open = word.len() == cx.text.len() && !cx.eof;
        if word.is_empty() || word.len() > 128 {
            return Look::No;
        }
        for (row, call) in cx.dialects.words.iter().copied() {
            let template = cx.dialects.rows.get(usize::from(row)).and_then(|r| r.calls.get(usize::from(call)));
            let Some(template) = template else { continue };
            let Some(Element::Literal(marker)) = template.head.get(1) else { continue };
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
                Look::Is(found) => self.begin(cx, 0, row, call, found, None),
                other => other.map(|_| ()),
            };
        }
        Look::No
    }

    /// Calls without a marker, where calls stand and the evidence is there.
    pub(super) fn bare(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let draft = self.drafts(cx);
        if draft || self.inline.is_some() || self.section.is_some() {
            if draft && self.inline.is_none() {
                self.pass(cx, at, Reason::Draft);
            }
            return Look::No;
        }
        let alone = self.fresh_at(cx, at);
        let named = !cx.dialects.auto;
        let body = BodyState::bare(cx, at);
        let list = cx.bytes().get(at) == Some(&b'[') && matches!(body, Look::Is(Body::Python) | Look::More);
        // In the middle of a line a list of calls stands behind the end of a sentence or a colon, an object behind a sentence
        // alone: a colon announces an example as well.
        let object = matches!(body, Look::Is(Body::Json) | Look::More) && cx.bytes().get(at) == Some(&b'{');
        let before = cx.slice(0, at).trim_end();
        let sentence = before.ends_with(['.', '!', '?']) || !object && before.ends_with(':');
        let place = if named
            || labelled(cx, at)
            || behind_label(cx, at)
            || ((list || object) && cx.tools.is_some() && sentence)
            || (list && cx.at_line_start(at))
        {
            true
        } else if self.fence.is_some() || cx.tools.is_some_and(|t| !t.tools().is_empty()) {
            alone || cx.at_line_start(at)
        } else {
            (alone && self.out.is_empty()) || cx.first_in_text(at)
        };
        if !place {
            match self.repeated(cx, at) {
                Look::No => {}
                taken => return taken,
            }
            let reason = match cx.tools {
                None => Reason::NoTools,
                Some(_) if self.out.trace.is_on() && in_quoted_line(cx, at) => Reason::Quoted,
                Some(_) => Reason::Place,
            };
            self.pass(cx, at, reason);
            return Look::No;
        }
        if self.runs_away(cx, at) {
            self.pass(cx, at, Reason::Runaway);
            return Look::No;
        }
        let body = match body {
            Look::Is(Body::Json) if cx.tools.is_none() && cx.dialects.bare_json.is_none() => {
                self.pass(cx, at, Reason::NoTools);
                return Look::No;
            }
            Look::Is(body) => body,
            Look::No => return Look::No,
            Look::More => return Look::More,
        };
        if self.fence.is_none() && self.is_quoted(cx, at) {
            self.pass(cx, at, Reason::Quoted);
            return Look::No;
        }
        match self.repeated(cx, at) {
            Look::No => {}
            taken => return taken,
        }
        if cx.bytes().get(at) == Some(&b'{')
            && self.hold.is_none()
            && self.fence.is_none()
            && self.out.calls.len() < cx.policy.max_calls
        {
            match no_call(cx, at) {
                Look::No => {}
                Look::More => return Look::More,
                // Nothing is begun that would be given up.
                Look::Is(error) => {
                    self.out.trace.kept(at..error, None, Reason::NotReadable);
                    (self.unclosed, self.body, self.at) = (None, 0..0, error);
                    return Look::Is(());
                }
            }
        }
        let in_sentence = named && !alone && !cx.at_line_start(at) && before.ends_with(|c: char| c.is_alphanumeric());
        if in_sentence && self.hold.is_none() && self.out.calls.len() < cx.policy.max_calls {
            let before = self.remove(cx, at, at);
            self.hold(Doubt::Sentence, at, before);
        }
        self.begin_bare(cx, at, body)
    }

    /// Right behind a call, its body once more and without the opening marker: an echo, not another call.
    fn repeated(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let body = cx.slice(self.body.start, self.body.end);
        let behind = self.given.removed && self.fresh_at(cx, at);
        let rest = cx.bytes().get(at..).unwrap_or_default();
        // Longer ones are not waited for.
        if body.is_empty() || body.len() > 4096 || !behind || self.hold.is_some() {
            return Look::No;
        }
        if !rest.starts_with(body.as_bytes()) {
            let begins = !cx.eof && body.as_bytes().starts_with(rest);
            return if begins { Look::More } else { Look::No };
        }
        let end = at + body.len();
        let message = "the model wrote the body of its call once more, without the opening marker";
        self.out.issue(Issue::at(IssueCode::RepeatedCall, at, message));
        self.remove(cx, at, end);
        Look::Is(())
    }

    pub(super) fn begin_bare(&mut self, cx: &Reader<'_>, at: usize, body: Body) -> Taken {
        self.begin_bare_by(cx, at, Head { end: at, ..Head::default() }, body)
    }

    /// A call without markers begins at `at`, whose body stands behind `head`.
    pub(super) fn begin_bare_by(&mut self, cx: &Reader<'_>, at: usize, head: Head, body: Body) -> Taken {
        if self.out.calls.len() >= cx.policy.max_calls {
            self.out.full(at);
            self.pass(cx, at, Reason::LimitReached);
            return Look::No;
        }
        let before = self.remove(cx, at, at);
        if self.hold.is_none() {
            self.hold(Doubt::Bare, at, before.clone());
        }
        self.call_stands(cx, before.from..at);
        let fence = self.fence.map(|fence| fence.closer());
        let state = CallState::new(cx, Origin::Bare(body), body, at, head, Evidence::Name, before);
        self.begin_call(state, |call| call.in_fence(fence));
        Look::Is(())
    }
}

/// What stands before a colon before `at` says that a call follows: `function_call: {...}`, or a line `Tool Call: {...}`.
fn labelled(cx: &Reader<'_>, at: usize) -> bool {
    let near = cx.slice(floor(cx.text, at.saturating_sub(64)), at);
    let Some(before) = near.trim_end_matches([' ', '\t', '*']).strip_suffix(':') else { return false };
    let word = before.get(before.len() - name_before(before)..).unwrap_or_default();
    let label = before.rsplit('\n').next().unwrap_or_default().trim_matches([' ', '\t', '*', '#']);
    let says = |spelling: &&str| {
        let alike =
            |(a, b): ((&str, &str), (&str, &str))| a.0.eq_ignore_ascii_case(b.0) && a.1.eq_ignore_ascii_case(b.1);
        spelling.eq_ignore_ascii_case(label) || spelling.split_once('_').zip(label.split_once(' ')).is_some_and(alike)
    };
    let mut spellings = Key::Function.spellings().iter().filter(|spelling| spelling.len() > "function".len());
    spellings.clone().any(|spelling| *spelling == word) || spellings.any(says)
}

/// What opens calls in a dialect of plain words stands before `at`, on its line: `Action: {...}`.
fn behind_label(cx: &Reader<'_>, at: usize) -> bool {
    let from = floor(cx.text, at.saturating_sub(64));
    let before = cx.slice(from, at).trim_end_matches([' ', '\t']);
    let end = from + before.len();
    let rows = cx.dialects.rows.iter().filter(|row| before.ends_with(':') && !row.dialect.text_ends.is_empty());
    let openers = rows.flat_map(|row| &row.calls).filter_map(|call| match call.head.first() {
        Some(Element::Literal(opener)) => Some(&**opener),
        _ => None,
    });
    { openers }.any(|opener| before.ends_with(opener) && cx.at_line_start(end - opener.len()))
}
