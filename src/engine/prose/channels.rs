//! Messages with headers: `<|channel|>analysis<|message|>...<|end|>`, ` to=functions.f<|message|>{...}<|call|>`.
use crate::char_class::{self, letters};
use crate::dialect::{Body, Channels, Row, RowId, opener};
use crate::engine::call::CallState;
use crate::engine::context::quotation;
use crate::engine::head::Head;
use crate::engine::look::{seen, taken, told, unless};
use crate::engine::origin::Origin;
use crate::engine::reader::floor;
use crate::engine::trace::{Markup, Noted, Reason};
use crate::engine::writer::Vouching;
use crate::engine::{Doubt, Engine, Given, Look, Mode, Reader, ReasoningCalls, Taken, misspelt};
use crate::turn::{Issue, IssueCode};
use std::ops::Range;

/// More bytes than this are no header.
const LONGEST: usize = 1024;

/// No recipient of a message is longer.
const LONGEST_RECIPIENT: usize = 128;

/// No tool's name has more words.
const MOST_WORDS: usize = 16;

/// A longer message is not quoted in a sentence.
const QUOTED: usize = 1024;

/// The message that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(in crate::engine) row: RowId,
    /// Calls by the dialect's own templates may stand in it.
    pub(super) calls: bool,
    pub(super) kind: MessageKind,
    /// Where it begins, behind its header.
    from: usize,
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum MessageKind {
    /// The answer itself.
    Answer,
    /// Other content.
    Content,
    Reasoning,
    /// For nobody here.
    Dropped,
}

impl Channel {
    pub(in crate::engine) fn is(self, kind: MessageKind) -> bool {
        self.kind == kind
    }
}

/// What a header says.
#[derive(Debug, Default)]
struct Header {
    channel: Option<Range<usize>>,
    recipient: Option<Range<usize>>,
}

fn word(cx: &Reader<'_>, from: usize, to: usize) -> Range<usize> {
    let text = cx.slice(from, to);
    let length = text.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(text.len());
    from..from + length
}

fn read(cx: &Reader<'_>, channels: &Channels, from: usize, to: usize) -> Header {
    let text = cx.slice(from, to);
    // White space before a word is none of it.
    let after = |what: &str| text.rfind(what).map(|i| word(cx, cx.skip_space(from + i + what.len()).min(to), to));
    let channel = channels.opens.last().and_then(|open| after(open));
    // A header without recipients has none, wherever that begins.
    let sign = Some(channels.recipient.as_str()).filter(|sign| !sign.is_empty());
    let to = |c: &Range<usize>| sign.is_some_and(|sign| cx.part(c).starts_with(sign));
    let channel = channel.map(|c| if to(&c) { c.start..c.start } else { c });
    let recipient = sign.and_then(after).filter(|r| !r.is_empty());
    Header { channel, recipient }
}

/// Where in `recipient` the tool's name begins, if a message to it is a call: of an offered tool, or of one by the prefix
/// of tools, or in a namespace, which only tools have.
pub(super) fn opens_call(cx: &Reader<'_>, channels: &Channels, recipient: &str) -> Option<usize> {
    let name = recipient.strip_prefix(channels.tool_prefix.as_str());
    let plain = |byte: u8| char_class::QUALIFIED_NAME.has_byte(byte);
    match name {
        _ if recipient.is_empty() || !recipient.bytes().all(plain) => None,
        Some(name) => (!name.is_empty()).then_some(channels.tool_prefix.len()),
        None => (cx.offered(recipient) || namespaced(channels, recipient)).then_some(0),
    }
}

/// A message to `recipient` whose text begins at `body` is a call though nobody says which tools there are: the dialect was named,
/// its other recipients are known, and an object stands there.
fn addresses_tool(cx: &Reader<'_>, channels: &Channels, recipient: &str, body: usize) -> Look<()> {
    let own = recipient == channels.role || channels.dropped.iter().any(|known| known == recipient);
    let plain = !recipient.is_empty() && recipient.bytes().all(|byte| char_class::QUALIFIED_NAME.has_byte(byte));
    if cx.tools.is_some() || cx.dialects.auto || channels.tool_prefix.is_empty() || own || !plain {
        return Look::No;
    }
    cx.behind_space(body, body).then(|next| match cx.bytes().get(next) {
        Some(b'{') => Look::Is(()),
        None if !cx.eof => Look::More,
        _ => Look::No,
    })
}

fn namespaced(channels: &Channels, recipient: &str) -> bool {
    let parts = || recipient.split('.');
    !channels.tool_prefix.is_empty() && parts().count() > 1 && parts().all(|part| !part.is_empty())
}

/// The tool's name that `written` begins with: the content type and the channel may be glued to it, where the tokens between
/// them are lost.
pub(super) fn unglued<'w>(cx: &Reader<'_>, channels: &Channels, written: &'w str) -> &'w str {
    if cx.offered(written) {
        return written;
    }
    let behind = channels.reasoning.iter().chain(&channels.content).filter(|channel| !channel.is_empty());
    let without = |word: &'w str, ends: &[String]| ends.iter().find_map(|end| word.strip_suffix(end.as_str()));
    let names = behind.filter_map(|channel| written.strip_suffix(channel.as_str()));
    let typed = without(written, &channels.formats);
    let both = typed.and_then(|word| without(word, &channels.content).or_else(|| without(word, &channels.reasoning)));
    // Of a name that is another's, it may be the end.
    let exact = |name: &&str| cx.tool(name).is_some_and(|tool| tool.name == **name);
    typed.into_iter().chain(names).chain(both).find(exact).unwrap_or(written)
}

/// The `name` and the words behind it, in a header which ends at `to`, where they are an offered tool's name with it, in any
/// spelling: the first word alone may name another. Where they only begin with one, the tool that all of them name is not offered.
/// Else the words are the header's.
fn with_words(cx: &Reader<'_>, channels: &Channels, name: Range<usize>, to: usize) -> Range<usize> {
    let words = cx.slice(name.end, to).split(['<', '\n']).next().unwrap_or_default();
    let Some(words) = words.strip_prefix(' ') else { return name };
    let lists = || channels.formats.iter().chain(&channels.content).chain(&channels.reasoning);
    let own = |word: &&str| word.is_empty() || *word != channels.role && !lists().any(|known| known == word);
    // Where two tools are spelt alike the name means neither, and not the one that its first word names either.
    let alike = |end: usize| {
        let written = cx.slice(name.start, end);
        cx.tools.is_some_and(|tools| tools.tools().iter().any(|tool| letters(&tool.name).eq(letters(written))))
    };
    let ends = words.split(' ').take_while(own).take(MOST_WORDS).scan(name.end, |end, word| {
        *end += 1 + word.len();
        Some((!word.is_empty()).then_some(*end))
    });
    let (mut last, mut names) = (name.end, false);
    for end in ends.flatten() {
        last = end;
        names |= alike(end);
    }
    name.start..if names { last } else { name.end }
}

/// Where in the text the name of the offered tool stands that `recipient` is.
fn offered_tool(cx: &Reader<'_>, channels: &Channels, recipient: Range<usize>) -> Option<Range<usize>> {
    let start = recipient.start + opens_call(cx, channels, cx.part(&recipient))?;
    let name = unglued(cx, channels, cx.slice(start, recipient.end));
    cx.offered(name).then(|| start..start + name.len())
}

/// Where in the `rest` of a header, whose opening marker stands at `marker`, an object begins that is its message, as the marker
/// between them is missing. Nothing else than what headers hold stands before it, and it is for an offered tool, or the answer.
fn unended(cx: &Reader<'_>, channels: &Channels, marker: Range<usize>, rest: &str) -> Option<usize> {
    let opened = channels.opens.iter().any(|open| cx.rest(marker.start).starts_with(open.as_str()));
    let brace = memchr::memchr(b'{', rest.as_bytes()).filter(|_| opened && !channels.calls_to_recipients)?;
    let (at, from, body) = (marker.start, marker.end, marker.end + brace);
    let found = read(cx, channels, at, body);
    let behind = match &found.recipient {
        Some(recipient) => offered_tool(cx, channels, recipient.clone()).map(|_| recipient.end)?,
        None => {
            let channel =
                found.channel.filter(|c| channels.content.first().is_some_and(|first| first == cx.part(c)))?;
            channel.end
        }
    };
    // Other tokens may stand there, and what the message is written in.
    let words = |text: &str| {
        let known = |word: &str| channels.formats.iter().chain(&channels.content).any(|format| format == word);
        text.split_whitespace().all(known)
    };
    let mut between = cx.slice(behind.max(from), body);
    while let Some((text, token)) = between.split_once("<|") {
        let (name, after) = token.split_once("|>")?;
        if !words(text) || !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        between = after;
    }
    words(between).then_some(brace)
}

/// The words in a header that it has not from its dialect: they are neither its tokens nor its role, its channel, its recipient, nor
/// what its message is written in.
fn foreign_words(cx: &Reader<'_>, channels: &Channels, header: Range<usize>) -> String {
    let lists = [&channels.content, &channels.reasoning, &channels.dropped, &channels.formats];
    let known = |word: &str| {
        let recipient = Some(channels.recipient.as_str()).filter(|sign| !sign.is_empty());
        let word = recipient.and_then(|sign| word.strip_prefix(sign)).unwrap_or(word);
        word.is_empty() || word == channels.role || lists.into_iter().flatten().any(|known| known == word)
    };
    let tokens = || channels.opens.iter().chain(&channels.closes);
    let mut words = Vec::new();
    let mut rest = cx.part(&header);
    while !rest.is_empty() {
        let (text, behind) = rest.split_at(rest.find("<|").unwrap_or(rest.len()));
        words.extend(text.split_whitespace().filter(|word| !known(word)));
        let end = behind.find("|>").map_or(behind.len(), |length| length + "|>".len());
        let token;
        (token, rest) = behind.split_at(end);
        // The name of a token before what the message is written in says that this follows.
        let name = token.trim_start_matches("<|").trim_end_matches("|>");
        let format = name.bytes().all(|byte| byte.is_ascii_lowercase())
            && channels.formats.iter().any(|format| rest.trim_ascii_start().starts_with(format.as_str()));
        if !token.is_empty() && !format && !tokens().any(|own| own.contains(token)) {
            words.push(token);
        }
    }
    words.join(" ")
}

/// What opens the calls of a dialect whose messages to tools hold such markers stands at `body`, where a message begins.
fn opens_tagged(cx: &Reader<'_>, body: usize) -> Look<()> {
    let kind = |row: &&Row| row.dialect.channels.as_ref().is_some_and(|c| c.calls_to_recipients);
    let rows = cx.dialects.rows.iter().filter(kind);
    let mut openers = rows.flat_map(|row| row.section_opens().filter_map(opener)).peekable();
    if openers.peek().is_none() {
        return Look::No;
    }
    let next = seen!(cx.behind_space(body, body));
    Look::any_of(openers.map(|open| cx.literal(next, open).unit()))
}

impl Engine {
    pub(super) fn channels<'t>(cx: &Reader<'t>, row: RowId) -> Option<&'t Channels> {
        cx.dialects.row(row)?.dialect.channels.as_ref()
    }

    /// Another marker of the header that is quoted stands at `at`.
    fn goes_on_quoted(&self, cx: &Reader<'_>, channels: &Channels, at: usize) -> bool {
        let header = self.around.quoted_header.filter(|end| *end <= at && at - end <= LONGEST);
        let between = header.map(|end| cx.slice(end, at));
        between.is_some_and(|text| !text.contains('\n') && !text.contains(channels.message.as_str()))
    }

    /// What stands at `at` ends the message whose header is quoted, in the same line.
    fn ends_quoted(&mut self, cx: &Reader<'_>, channels: &Channels, at: usize) -> bool {
        let header = self.around.quoted_header.take().filter(|end| *end <= at && at - end <= QUOTED);
        header.is_some_and(|end| {
            let between = cx.slice(end, at);
            between.contains(channels.message.as_str()) && !between.contains('\n')
        })
    }

    /// A header without its opening marker, which the prompt held, at the very start: ` to=functions.f<|message|>`.
    pub(super) fn opening_header(&mut self, cx: &Reader<'_>) -> Taken {
        let start = cx.skip_space(0);
        if cx.dialects.channels.is_empty() || !cx.dialects.headers.may_be(cx.rest(start).as_bytes()) {
            return Taken::No;
        }
        let mut result = Taken::No;
        for row in cx.dialects.channels.iter().copied() {
            // The prompt may have held the marker before the channel as well: `commentary to=functions.f<|message|>`.
            let Some(channels) = Self::channels(cx, row).filter(|c| !c.recipient.is_empty()) else { continue };
            // Nobody said whose it is: the text is content, as that of any answer.
            if cx.dialects.auto && !channels.message.is_empty() && self.given.mode == Mode::Content {
                match cx.literal(start, &channels.message) {
                    Look::Is(end) => {
                        self.remove(cx, start, end);
                        return Taken::Done;
                    }
                    Look::More => return Taken::More,
                    Look::No => {}
                }
            }
            // Of a header that says nothing only its end is left: of whose message, the dialect that was named says.
            let end = if cx.dialects.auto { Look::No } else { cx.literal(start, &channels.message) };
            let to = |at: usize| cx.literal(at, &channels.recipient);
            let apart = |at: usize| cx.literal(at, " ").then(to);
            let names = channels.content.iter().chain(&channels.reasoning);
            let behind = |name: &String| cx.literal(start, name).then(apart);
            let looks = [end, to(start)].into_iter().chain(names.map(behind));
            match Look::any_of(looks) {
                Look::Is(_) => taken!(self.header(cx, 0, start, row)),
                Look::More => result = Taken::More,
                Look::No => {}
            }
        }
        result
    }

    /// A header begins at `at`; its own words at `from`.
    pub(super) fn header(&mut self, cx: &Reader<'_>, at: usize, from: usize, row: RowId) -> Taken {
        let Some(channels) = Self::channels(cx, row) else { return Taken::No };
        let inline = self.inline.is_some();
        if self.goes_on_quoted(cx, channels, at) {
            return Taken::No;
        }
        let rest = cx.rest(from);
        let bounded = &rest[..floor(rest, cx.policy.max_markup_bytes.min(LONGEST))];
        let message = memchr::memmem::find(bounded.as_bytes(), channels.message.as_bytes());
        let lost = || unended(cx, channels, at..from, &bounded[..message.unwrap_or(bounded.len())]);
        if let Some(brace) =
            lost().filter(|_| !inline && self.channel.is_none_or(|c| c.calls && !c.is(MessageKind::Answer)))
        {
            return self.unended_header(cx, at, from + brace, row);
        }
        let Some(length) = message else {
            if cx.eof && bounded.len() == rest.len() && from > at && !inline {
                self.out.issue_once(Issue::at(IssueCode::StrayMarker, at, "no message follows this header"));
            }
            return if cx.eof || bounded.len() < rest.len() { Taken::No } else { Taken::More };
        };
        // A header inside an answer that holds no calls is quoted there, whosever it is.
        if self.given.mode == Mode::Content && self.channel.is_some_and(|c| !c.calls) {
            return Taken::No;
        }
        // One with a channel, or to a tool in the other kind's spelling, is of that kind.
        let others = || cx.dialects.rows.iter().filter_map(|r| r.dialect.channels.as_ref());
        let names_channel = |c: &Channels| {
            let tool = || !c.tool_prefix.is_empty() && bounded[..length].contains(&c.to_tool());
            let channel = c.opens.last().is_some_and(|o| bounded[..length].contains(o.as_str()));
            !c.calls_to_recipients && (channel || tool())
        };
        let body = from + length + channels.message.len();
        let tagged = || opens_tagged(cx, body);
        if channels.calls_to_recipients {
            // Whatever the tool's name begins with, what opens calls of the first kind tells.
            if others().any(names_channel) && told!(tagged()).is_none() {
                return Taken::No;
            }
        } else if !channels.tool_prefix.is_empty() && bounded[..length].contains(&channels.to_tool()) {
            unless!(tagged());
        }
        // A message's end before the next message begins: this header has none.
        if channels.closes.iter().any(|c| bounded[..length].contains(c.as_str())) {
            return Taken::No;
        }
        let found = read(cx, channels, at, from + length);
        let text = |range: &Option<Range<usize>>| range.clone().map_or("", |r| cx.part(&r));
        let (channel, recipient) = (text(&found.channel), text(&found.recipient));
        // A tool's name that is none: the header is being talked about.
        let to_tool = !channels.tool_prefix.is_empty() && recipient.starts_with(&channels.tool_prefix);
        if to_tool && opens_call(cx, channels, recipient).is_none() {
            return Taken::No;
        }
        let key = if channels.calls_to_recipients { recipient } else { channel };
        let listed = |list: &[String]| list.iter().any(|w| w == key);

        if let Some(name) = found.recipient.clone().filter(|_| !channels.calls_to_recipients)
            && let Some(skip) = match opens_call(cx, channels, recipient) {
                Some(skip) => Some(skip),
                None => told!(addresses_tool(cx, channels, recipient, body)).map(|()| 0),
            }
        {
            if self.in_invented_turn(cx, at) || self.out.takes_no_more(cx, at) {
                return Taken::No;
            }
            let twice = told!(misspelt::behind(cx, body).then(|next| cx.literal(next, &channels.message)));
            let body = twice.unwrap_or(body);
            unless!(self.quotes_header(cx, channels, at..from, body));
            let start = name.start + skip;
            let name = start..start + unglued(cx, channels, cx.slice(start, name.end)).len();
            let name = with_words(cx, channels, name, from + length);
            let head = Head { name: Some(name), end: body, twice: twice.is_some(), ..Head::default() };
            return self.call_message(cx, at, row, &head);
        }
        if inline {
            return Taken::No;
        }
        self.out.trace.note(at..body, Noted::Marker(Markup::Header));
        self.end_message(cx, at, body, row);
        self.tell_foreign(cx, channels, at, from..from + length);
        let tool = channels.calls_to_recipients
            && !recipient.is_empty()
            && ![&channels.content, &channels.reasoning, &channels.dropped].into_iter().any(|l| listed(l));
        let kind = match () {
            () if listed(&channels.reasoning) => MessageKind::Reasoning,
            () if listed(&channels.dropped) || channels.dropped.iter().any(|to| to == recipient) => {
                MessageKind::Dropped
            }
            () if channels.content.first().is_some_and(|first| first == key) => MessageKind::Answer,
            () => MessageKind::Content,
        };
        let named = !key.is_empty();
        self.begin_message(row, kind, tool || !channels.calls_to_recipients, named);
        Taken::Done
    }

    /// What the `header` at `at` holds that no header does goes with it, and is told.
    fn tell_foreign(&mut self, cx: &Reader<'_>, channels: &Channels, at: usize, header: Range<usize>) {
        let foreign = foreign_words(cx, channels, header);
        if !foreign.is_empty() {
            let message = format!("the header of this message holds what no header does: {foreign}");
            self.out.issue(Issue::at(IssueCode::EnvelopeMember, at, message));
        }
    }

    /// A header, whose first marker is `first`, of a message to a tool, which begins at `body`, stands in quotation marks or in
    /// inline code, as that closes behind the message.
    fn quotes_header(&mut self, cx: &Reader<'_>, channels: &Channels, first: Range<usize>, body: usize) -> Look<()> {
        let at = first.start;
        let marks = quotation::opens(cx, at);
        if !marks && self.inline.is_none() {
            return Look::No;
        }
        let near = cx.near(body, QUOTED);
        let ends = channels.closes.iter().filter_map(|c| Some(memchr::memmem::find(near, c.as_bytes())? + c.len()));
        // What only speaks of a header has no object behind it.
        let spoken = seen!(cx.behind_space(at, body).map(|next| cx.bytes().get(next) != Some(&b'{')));
        let end = match ends.min() {
            Some(end) if !spoken => body + end,
            None if cx.may_go_on(near.len(), QUOTED) && !spoken => return Look::More,
            _ => body,
        };
        let quoted = if marks { quotation::closes(cx, at, end) } else { Look::No };
        let quoted = quoted.or(|| {
            let Some(inline) = self.inline else { return Look::No };
            let behind = cx.ahead(end, QUOTED);
            // The message that follows is not quoted with this one.
            let stops = channels.opens.iter().map(String::as_str).chain(["\n\n"]);
            let stop = stops.filter_map(|stop| behind.find(stop)).min();
            match inline.closer(cx, end..end + stop.unwrap_or(behind.len())) {
                Some(ticks) if !cx.eof && inline.ends_at(ticks) == cx.text.len() => Look::More,
                Some(_) => Look::Is(()),
                None if stop.is_none() && cx.may_go_on(behind.len(), QUOTED) => Look::More,
                None => Look::No,
            }
        });
        match quoted {
            Look::Is(()) => {
                self.out.trace.kept(at..end, None, Reason::Quoted);
                self.around.quoted_header = Some(first.end);
            }
            Look::No => self.leave_inline(at),
            Look::More => {}
        }
        quoted
    }

    /// The header at `at` lacks the marker of its end, and its message, an object, begins at `body`: it is a call of an offered
    /// tool, or the answer.
    #[cold]
    fn unended_header(&mut self, cx: &Reader<'_>, at: usize, body: usize, row: RowId) -> Taken {
        let Some(channels) = Self::channels(cx, row) else { return Taken::No };
        let found = read(cx, channels, at, body);
        let Some(recipient) = found.recipient else {
            self.out.issue_once(Issue::at(IssueCode::StrayMarker, at, "the end of this header is missing"));
            self.out.trace.note(at..body, Noted::Marker(Markup::Header));
            self.end_message(cx, at, body, row);
            self.tell_foreign(cx, channels, at, at..body);
            self.begin_message(row, MessageKind::Answer, true, true);
            return Taken::Done;
        };
        if self.in_invented_turn(cx, at) || self.out.takes_no_more(cx, at) {
            return Taken::No;
        }
        let Some(name) = offered_tool(cx, channels, recipient) else { return Taken::No };
        let head = Head { name: Some(name), end: body, unclosed: true, ..Head::default() };
        self.call_message(cx, at, row, &head)
    }

    /// The header at `at`, which `head` says the rest of, begins a message that is a call. In reasoning that a marker opened it is a
    /// draft, if that closes.
    pub(super) fn call_message(&mut self, cx: &Reader<'_>, at: usize, row: RowId, head: &Head) -> Taken {
        let drafted = self.given.mode == Mode::Reasoning && self.channel.is_none() && self.given.removed;
        let policy = if drafted { cx.policy.reasoning } else { ReasoningCalls::Run };
        if policy == ReasoningCalls::Ignore {
            return Taken::No;
        }
        let before = self.end_message(cx, at, head.end, row);
        if policy == ReasoningCalls::IfUnclosed && self.hold.is_none() {
            self.hold(Doubt::Reasoning, at, before.clone());
        }
        if let Some(name) = head.name.clone() {
            self.out.trace.note(name, Noted::Name);
        }
        let origin = Origin::Template(row.call(0));
        let state = CallState::new(cx, origin, Body::Arguments, at, head, Vouching::Markers, before);
        self.begin_call(state, |_| ());
        Taken::Done
    }

    /// ` to=NAME<|message|>` behind a message that nothing closed. The answer itself may hold one: it is quoted there.
    pub(super) fn bare_header(&mut self, cx: &Reader<'_>, at: usize, from: usize, row: RowId) -> Taken {
        let Some(channels) = Self::channels(cx, row) else { return Taken::No };
        if self.inline.is_some() || self.channel.is_none_or(|c| c.is(MessageKind::Answer)) {
            return Taken::No;
        }
        // Other recipients than ASCII's are words of the message.
        let in_name = |byte: &&u8| char_class::QUALIFIED_NAME.has_ascii(**byte);
        let length = cx.near(from, LONGEST_RECIPIENT + 1).iter().take_while(in_name).count();
        match cx.literal(from + length, &channels.message) {
            Look::Is(_) if (1..=LONGEST_RECIPIENT).contains(&length) => {}
            Look::More if length <= LONGEST_RECIPIENT => return Taken::More,
            _ => return Taken::No,
        }
        if let Some(channel) = &mut self.channel {
            channel.calls = true;
        }
        self.header(cx, at, at, row)
    }

    /// Where a header without its opening marker may begin, at or before `stop`: in a message of a dialect that has such,
    /// which showed itself. A dialect that was named has a marker for it.
    pub(super) fn recipient_stop(&self, cx: &Reader<'_>, stop: usize) -> usize {
        let Some((_, sign)) = self.recipients(cx) else { return stop };
        let end = cx.text.len().min(stop + sign.len() - 1);
        let text = cx.bytes().get(self.at..end).unwrap_or_default();
        let partial = || (1..sign.len()).rev().find(|n| text.ends_with(sign.get(..*n).unwrap_or_default()));
        match memchr::memmem::find(text, sign) {
            Some(hit) => stop.min(self.at + hit),
            None if end == cx.text.len() && !cx.eof => stop.min(end - partial().unwrap_or(0)),
            None => stop,
        }
    }

    /// The row of the message that is being read, if another one may begin in it with a recipient, and the sign of that.
    fn recipients<'t>(&self, cx: &Reader<'t>) -> Option<(RowId, &'t [u8])> {
        let channel = self.channel.filter(|c| cx.dialects.auto && !c.is(MessageKind::Answer))?;
        let channels = Self::channels(cx, channel.row).filter(|c| c.calls_to_recipients && !c.recipient.is_empty())?;
        Some((channel.row, channels.recipient.as_bytes()))
    }

    /// A header at the place where [`Self::recipient_stop`] stopped.
    pub(super) fn recipient(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let Some((row, sign)) = self.recipients(cx) else { return Taken::No };
        if cx.slice(0, at).ends_with(|c| char_class::IDENTIFIER.has(c)) {
            return Taken::No;
        }
        let to = cx.bytes().get(at..).unwrap_or_default();
        if to.starts_with(sign) {
            return self.bare_header(cx, at, at + sign.len(), row);
        }
        if !cx.eof && sign.starts_with(to) { Taken::More } else { Taken::No }
    }

    /// A message ends; text that follows is content.
    pub(super) fn message_ends(&mut self, cx: &Reader<'_>, at: usize, end: usize, row: RowId) -> Taken {
        if Self::channels(cx, row).is_some_and(|channels| self.ends_quoted(cx, channels, at)) {
            return Taken::No;
        }
        if self.inline.is_some() {
            // Inline code ends with its message, unless a backtick right behind shows that the marker is quoted.
            match cx.bytes().get(end) {
                _ if self.channel.is_none_or(|c| c.row != row) => return Taken::No,
                Some(b'`') => return Taken::No,
                None if !cx.eof => return Taken::More,
                _ => self.leave_inline(at),
            }
        }
        // Where nothing shows that messages have headers here, only the answer's end or another header closes one.
        let behind_call = self.behind_removed(cx, at) && !self.out.calls.is_empty();
        if cx.dialects.auto && self.channel.is_none() && self.plain.is_none() && !behind_call {
            let next = cx.skip_space(end);
            let opens = Self::channels(cx, row).map_or(&[][..], |c| c.opens.as_slice());
            let looks = || opens.iter().map(|open| cx.literal(next, open));
            let near = next - end <= cx.policy.max_markup_bytes;
            let header = near && looks().any(|look| matches!(look, Look::Is(_)));
            let wait = near && looks().any(|look| look == Look::More);
            let over = near && cx.eof && next >= cx.text.len();
            if !header && !over {
                return if wait { Taken::More } else { Taken::No };
            }
        }
        self.end_message(cx, at, end, row);
        Taken::Done
    }

    /// A message of the row begins; whether `calls` may stand in it, and whether its header is `named` for a channel or a recipient.
    pub(super) fn begin_message(&mut self, row: RowId, kind: MessageKind, calls: bool, named: bool) {
        let reasoning = kind == MessageKind::Reasoning;
        self.given.mode = if reasoning { Mode::Reasoning } else { Mode::Content };
        self.reasoning_seen |= reasoning;
        self.channel = Some(Channel { row, calls, kind, from: self.given.from });
        self.given.parted = named && self.given.headed;
        self.given.headed = named;
    }

    /// A message for nobody here that ends at `at` is told in an issue, if it says anything beside calls and markers.
    pub(super) fn tell_dropped(&mut self, cx: &Reader<'_>, at: usize) {
        let Some(channel) = self.channel.filter(|channel| channel.is(MessageKind::Dropped)) else { return };
        let (mut said, mut from) = (String::new(), channel.from);
        let first = self.out.calls.partition_point(|call| call.raw.start < channel.from);
        for call in self.out.calls.get(first..).unwrap_or_default() {
            said.push_str(cx.slice(from, call.raw.start));
            from = call.raw.end.max(from);
        }
        said.push_str(cx.slice(from, at));
        if has_words(&said) {
            let message = format!("a message for nobody here was left out: {:?}", said.trim());
            self.out.issue_once(Issue::at(IssueCode::EnvelopeMember, channel.from, message));
        }
    }

    pub(super) fn end_message(&mut self, cx: &Reader<'_>, at: usize, end: usize, row: RowId) -> Given {
        if self.channel.is_some_and(|c| c.row == row && c.is(MessageKind::Dropped)) {
            self.out.trace.note(self.given.from..at, Noted::Dropped);
            self.given.from = at;
            self.given.fresh = true;
            self.tell_dropped(cx, at);
        }
        if self.channel.is_some_and(|c| c.is(MessageKind::Reasoning)) {
            // What was called in reasoning that is over was a draft.
            if self.holds(Doubt::Reasoning) {
                self.go_back(at);
            }
            self.around.elements.leave(end);
            self.out.reasoning_end = Some(end);
        }
        self.out.trace.note(at..end, Noted::Marker(Markup::MessageEnds));
        let before = self.remove(cx, at, end);
        self.channel = None;
        self.given.mode = Mode::Content;
        before
    }
}

/// Something else than tags stands in the `text`.
fn has_words(text: &str) -> bool {
    let (mut rest, word) = (text, |text: &str| text.contains(char::is_alphanumeric));
    while let Some((before, tag)) = rest.split_once('<') {
        if word(before) {
            return true;
        }
        rest = tag.split_once('>').map_or("", |(_, behind)| behind);
    }
    word(rest)
}
