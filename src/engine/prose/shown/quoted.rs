//! Examples that are quoted: what stands in a block quote, in a table's cell or in HTML's code and comments within a line is no
//! call, and without markers nothing is in an element that shows an example, a file, a value or what a tool gave back.
use super::above::{is_in_log, is_shown_by_line};
use super::before::{LINE_BEFORE, NEAR_MARKER};
use super::block_quote::is_quote;
use super::echoed::Echoed;
use super::element::{ShowingElement, opened_by};
use super::fragment::in_fragment;
use super::program::{in_block_scalar, in_program, in_script};
use super::within::{Within, behind_inline_element};
use crate::engine::body::OWN_ROLES;
use crate::engine::look::{found, seen};
use crate::engine::prose::runaway::{role_in, says_other_role};
use crate::engine::prose::words::example::has_blank_line;
use crate::engine::prose::words::mentioned::announces_step;
use crate::engine::reader::floor;
use crate::engine::{Engine, Fences, Look, Reader};
use crate::json::{Part, Quoting, closes_at};

/// How far the text has been looked through for such elements, and the one that is open.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownIn {
    looked: usize,
    /// And where the last opening tag, or the last call in it, ended.
    open: Option<(&'static ShowingElement, usize)>,
    /// And the one in a line of text.
    inline: Option<Within>,
    /// What a tool gave back, as far as that is known.
    pub(in crate::engine) result: Echoed,
    /// And what an element of code shows.
    code: Echoed,
}

impl Engine {
    /// What a program shows stands at `at`, or what a tool gave back: a marker there is text, and so is what closes it. If it opens
    /// no `calls` it is the header of a message, which stands in no element of code that is not closed behind it.
    pub(in crate::engine) fn is_marked_shown(&mut self, cx: &Reader<'_>, at: usize, calls: bool) -> Look<()> {
        let (listed, called) = (self.is_marked_listed(cx, at), self.last_call_ends());
        let code = || match self.shown_as_code(cx, at) {
            Some((element, behind)) if !calls => {
                let code = &mut self.around.shown_in.code;
                let closed = code.holds_in(cx, element.name, behind, at);
                closed.then(|()| Look::when(code.ends().is_some_and(|end| ends_behind_message(cx, at, end))))
            }
            shown => Look::when(shown.is_some()),
        };
        let shown = listed.or(code).or(|| self.around.before.literal(cx, called, at));
        shown.or(|| self.in_inline_element(cx, at)).or(|| self.is_echoed(cx, at))
    }

    /// Where the last call ended. One that was given up may have been so inside a string.
    fn last_call_ends(&self) -> usize {
        self.out.calls.last().filter(|call| call.status.readable()).map_or(0, |call| call.raw.end)
    }

    /// An element of HTML that shows something in a line of text is open at `at`, and is closed in the same paragraph.
    fn in_inline_element(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        self.is_shown(cx, at);
        self.around.shown_in.inline.as_mut().map_or(Look::No, |within| within.holds(cx, at))
    }

    /// What a tool gave back is written out round `at`, by a model that called nothing before.
    fn is_echoed(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        // An element may have been looked for already.
        self.is_shown(cx, at);
        let ShownIn { open, result, .. } = &mut self.around.shown_in;
        match open {
            Some((element, behind)) if element.result => result.holds_in(cx, element.name, *behind, at),
            _ => result.holds(cx, at),
        }
    }

    /// As [`Self::is_echoed`], for what has no markers, where no element is known to show it.
    fn is_told_in_element(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        let ShownIn { open, result, .. } = &mut self.around.shown_in;
        match open {
            Some((element, behind)) if element.loose => result.holds_in(cx, element.name, *behind, at),
            _ => result.holds(cx, at),
        }
    }

    /// What stands at `at` without a marker is shown, or told as a tool's result.
    pub(in crate::engine) fn is_quoted(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        if self.is_told_result(cx, at) {
            self.around.reach.begins(cx, at, true, false);
            return Look::Is(());
        }
        let shown = self.is_shown_there(cx, at);
        if shown == Look::Is(()) {
            self.around.reach.begins_if_seen(cx, at);
        }
        shown.or(|| Look::when(self.is_coded(cx, at)))
    }

    /// What stands at `at` without a marker is an example, or a line of a program.
    pub(in crate::engine) fn is_shown_there(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        let line = self.around.before.line(cx, at).unwrap_or_default();
        // An object is no line of one.
        let begun = self.text_begins();
        let object = cx.bytes().get(at) == Some(&b'{');
        let blank_before = line.trim_ascii().is_empty();
        let quoted = is_quote(cx.slice(at - line.len(), at))
            || behind_inline_element(cx.slice(at - line.len(), at))
            || self.behind_quoted(cx, at)
            || behind_broken_marker(cx, at)
            || !object && in_program(cx, begun, at, line, &mut self.around.before.calls)
            || in_block_scalar(cx, at, line)
            || self.is_shown(cx, at) && !self.is_element_announced(cx, at);
        if quoted || self.is_shown_from_above(cx, at, line) {
            return Look::Is(());
        }
        let calls = &mut self.around.before.calls;
        let script = if object { Look::No } else { in_script(cx, begun, at, line, calls) };
        let called = self.last_call_ends();
        let quoted = script.or(|| self.is_listed(cx, at)).or(|| self.around.before.literal(cx, called, at));
        let quoted = quoted.or(|| self.in_inline_element(cx, at)).or(|| self.is_told_in_element(cx, at));
        found!(quoted.or(|| self.in_announced_element(cx, at)));
        let log = if blank_before { is_in_log(cx, begun, at) } else { Look::No };
        if log == Look::Is(()) {
            self.around.reach.sees(at, false);
        }
        log
    }

    /// Whoever writes says right above `at` what they do next: the element that is open may only be spoken of.
    pub(in crate::engine) fn is_element_announced(&self, cx: &Reader<'_>, at: usize) -> bool {
        let open = self.around.shown_in.open.filter(|(_, behind)| *behind <= at);
        open.is_some_and(|(_, behind)| {
            announces_step(cx.slice(floor(cx.text, at.saturating_sub(LINE_BEFORE)).max(behind), at))
        })
    }

    /// So it is, and the element is closed behind `at` all the same.
    pub(in crate::engine) fn in_announced_element(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        if !(self.is_shown(cx, at) && self.is_element_announced(cx, at)) {
            return Look::No;
        }
        let ShownIn { open, code, .. } = &mut self.around.shown_in;
        open.map_or(Look::No, |(element, behind)| code.holds_in(cx, element.name, behind, at))
    }

    /// What stands above `at` shows it, which has this `line` before it, or the call right before it.
    fn is_shown_from_above(&mut self, cx: &Reader<'_>, at: usize, line: &[u8]) -> bool {
        let begun = self.text_begins();
        let part = self.in_member(cx, at) || in_fragment(cx, begun, at, line) || self.in_value(cx, at);
        // What stands behind the value of a member is none of it, but for the other items of a list.
        if part && !cx.before(at, LINE_BEFORE).trim_ascii_end().ends_with(['[', ',']) {
            return true;
        }
        let example = !part && self.is_example(cx, at);
        let shown = part
            || example && !self.around.examples.alone
            || line.trim_ascii().is_empty() && is_shown_by_line(cx, begun, at)
            || self.in_document(cx, at)
            || self.behind_message(cx, at, line);
        if shown || self.goes_on_shown(cx, at) {
            let listed = if shown { example && self.around.examples.listed } else { self.around.reach.is_listed() };
            self.around.reach.sees(at, listed);
            return true;
        }
        example
    }

    /// What shows the call before `at` shows what stands there as well.
    pub(in crate::engine) fn goes_on_shown(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let called = self.out.calls.last().map_or(0, |call| call.raw.end);
        self.around.reach.covers(cx, called, at)
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
        let line = if object.ends_with('}') { self.around.before.line(cx, from + object.len()) } else { None };
        let Some(line) = line.map(<[u8]>::trim_ascii_start) else { return false };
        let message = line.strip_prefix(b"[").map_or(line, <[u8]>::trim_ascii_start);
        let compact = message.strip_prefix(b"{").and_then(|rest| role_in(rest.trim_ascii_start()));
        compact.is_some_and(|role| !OWN_ROLES.iter().any(|own| role.starts_with(own.as_bytes())))
    }

    /// A marker that is quoted stands right before `at`.
    fn behind_quoted(&self, cx: &Reader<'_>, at: usize) -> bool {
        let quoted = self
            .around
            .block_quote
            .looked
            .filter(|looked| at.checked_sub(*looked).is_some_and(|length| length <= NEAR_MARKER));
        let marker = quoted.map_or("", |looked| cx.slice(looked, at).trim_ascii_end());
        !marker.is_empty() && !marker.bytes().any(|byte| byte.is_ascii_whitespace())
    }

    /// The line of `at` is one of a block quote, or a row of a table.
    pub(in crate::engine) fn in_quoted_line(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        self.around.before.line(cx, at).is_some_and(|line| is_quote(cx.slice(at - line.len(), at)))
    }

    /// The line of `at` goes on a string of an object that begins above it, in the same text: that string has raw line breaks, and
    /// shows something.
    fn in_member(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let begun = self.text_begins();
        let from = floor(cx.text, at.saturating_sub(LINE_BEFORE)).max(begun);
        // A line that closes something leaves no string open.
        if cx.slice(from, at).trim_ascii_end().ends_with(['}', ']']) {
            return false;
        }
        let begins = |object: &&str| object.strip_prefix('{').is_some_and(|text| text.trim_start().starts_with('"'));
        // What stands behind a marker that was taken out begins a line, too.
        let first = || Some(cx.slice(begun, at).trim_start()).filter(begins).filter(|_| from == begun);
        let object = self.around.before.object(cx, from, at).map(|brace| cx.slice(brace, at)).or_else(first);
        let Some(text) = object else { return false };
        let (mut string, mut valued, mut depth) = (Quoting::default(), false, 0_usize);
        for byte in text.bytes() {
            if string.read(byte, |escaped| byte == b'"' && !escaped) != Part::Outside {
                continue;
            }
            match byte {
                b'{' | b'[' => (valued, depth) = (false, depth + 1),
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    // It is over, and so is whatever it shows.
                    if depth == 0 {
                        return false;
                    }
                }
                b':' => valued = true,
                _ => {}
            }
        }
        string.is_open() && valued && text.contains('\n')
    }

    /// Where the text begins that stands here, behind the last marker or call that was taken out.
    pub(in crate::engine) fn text_begins(&self) -> usize {
        if self.given.fresh { self.given.from } else { self.given.text_from }
    }

    /// The object behind `inside`, which a marker at `at` opens, or the first of a list, has its quotes escaped, and a quote is open
    /// before that marker in its line: both stand in somebody's string.
    pub(in crate::engine) fn in_string(&mut self, cx: &Reader<'_>, at: usize, inside: usize) -> Look<()> {
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
        let open = self.around.before.quote_open(cx, at).unwrap_or(true);
        Look::when(open)
    }

    /// The text up to `at` has been read in another way.
    pub(in crate::engine) fn skip_shown(&mut self, at: usize) {
        self.around.shown_in.looked = self.around.shown_in.looked.max(at);
        self.around.listings.skip(at);
    }

    /// A program or a patch shows what stands at `at`.
    pub(in crate::engine) fn is_listed(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        let called = self.out.calls.last().map_or(0, |last| last.raw.end);
        self.around.listings.skip(called);
        self.around.listings.show(cx, called, at)
    }

    /// As [`Self::is_listed`], for a call with markers, which a string of several lines does not show.
    fn is_marked_listed(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        let mut called = 0;
        if let Some(last) = self.out.calls.last() {
            // Mostly nothing but markers stands between two calls: in those no listing begins, though one may end there.
            let near = self.given.text_from < last.raw.end && self.fresh_at(cx, at);
            if near && !self.around.listings.is_open() {
                self.around.listings.skip(at);
                return Look::No;
            }
            called = last.raw.end;
            self.around.listings.skip(called);
        }
        self.around.listings.show_marked(cx, called, at)
    }

    /// The reasoning is over at `at`, and whatever was shown in it.
    pub(in crate::engine) fn leave_shown(&mut self, at: usize) {
        self.around.listings.leave(at);
        self.around.shown_in = ShownIn { looked: at, ..ShownIn::default() };
    }

    /// The element of code that is open at `at`, since when, and other text stands in it before: like a fence, it holds no call then,
    /// with markers or without. What has markers is one behind a blank line: the element may never be closed.
    fn shown_as_code(&mut self, cx: &Reader<'_>, at: usize) -> Option<(&'static ShowingElement, usize)> {
        let open = if self.is_shown(cx, at) { self.around.shown_in.open } else { None };
        open.filter(|(element, behind)| {
            element.code && at - behind <= LINE_BEFORE && !has_blank_line(cx.slice(*behind, at))
        })
    }

    /// An element that shows things is open at `at`, and other text stands in it before.
    pub(in crate::engine) fn is_shown(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let ShownIn { looked, open, inline, .. } = &mut self.around.shown_in;
        if let Some(last) = self.out.calls.last()
            && last.raw.end > *looked
        {
            *looked = last.raw.end;
            *open = open.map(|(element, _)| (element, last.raw.end));
        }
        let text = cx.slice(*looked, at);
        for place in memchr::memchr_iter(b'<', text.as_bytes()).map(|i| *looked + i) {
            let rest = cx.slice(place + 1, at);
            if inline.as_ref().is_some_and(|within| within.is_over(cx, place)) {
                *inline = None;
            }
            if inline.is_none() && rest.starts_with(['c', 'k', 's', 't']) {
                *inline = Within::opens(cx, place);
            }
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
            let opened = if begins { opened_by(rest) } else { None };
            if let Some(element) = opened {
                let tag = rest.get(..floor(rest, LINE_BEFORE)).unwrap_or_default();
                let end = tag.find('>').map_or(at, |i| place + 2 + i);
                if cx.slice(place, end).ends_with("/>") {
                    continue;
                }
                *open = Some((open.map_or(element, |(outer, _)| outer), end));
            }
        }
        *looked = at.max(*looked);
        open.is_some_and(|(element, behind)| {
            if element.loose && (at.saturating_sub(behind) > LINE_BEFORE || has_blank_line(cx.slice(behind, at))) {
                return false;
            }
            let code = element.code && cx.policy.fences != Fences::Ignore;
            !code || cx.skip_space(behind) < at
        })
    }
}

/// What stands from `at` to `end` stands in a string of JSON's or Python's: one is open before it in its line, and what closes that
/// in the same line is followed as the values of an object or of a call are.
pub(in crate::engine) fn stands_in_string(cx: &Reader<'_>, at: usize, end: usize) -> Look<()> {
    let from = floor(cx.text, at.saturating_sub(LINE_BEFORE));
    let before = cx.bytes().get(from..at).unwrap_or_default();
    let begins = memchr::memrchr(b'\n', before).map(|i| i + 1).or_else(|| (from == 0).then_some(0));
    let Some(line) = begins.and_then(|begins| before.get(begins..)) else { return Look::No };
    let (mut string, mut last) = (Quoting::default(), b'{');
    for byte in line.iter().copied() {
        // An apostrophe opens nothing.
        string.read(byte, |_| matches!(last, b'{' | b'[' | b'(' | b':' | b'=' | b','));
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    let Some(quote) = string.quote() else { return Look::No };
    let near = cx.near(end, LINE_BEFORE);
    let line = memchr::memchr(b'\n', near).and_then(|length| near.get(..length)).unwrap_or(near);
    match closes_at(line, quote) {
        Some(length) => cx.behind_space(end, end + length + 1).then(|next| match cx.bytes().get(next) {
            Some(b'}' | b']' | b')' | b',') => Look::Is(()),
            _ => Look::No,
        }),
        None if line.len() < near.len() => Look::No,
        None => cx.ran_out(near.len(), LINE_BEFORE),
    }
}

/// What closes an element of code stands at `end`, right behind a message that it shows, or in the message to a tool whose header
/// stands at `at`, or behind that: the next message may only speak of it.
fn ends_behind_message(cx: &Reader<'_>, at: usize, end: usize) -> bool {
    let shown = cx.slice(at, end);
    let mut rows = cx.dialects.channels.iter().filter_map(|row| Engine::channels(cx, *row));
    rows.any(|c| {
        let (header, message) = shown.split_once(c.message.as_str()).unwrap_or((shown, ""));
        let ended = c.closes.iter().any(|close| shown.trim_end().ends_with(close.as_str()));
        let to_tool = !c.recipient.is_empty() && header.contains(c.recipient.as_str());
        ended || to_tool && !c.opens.iter().any(|open| message.contains(open.as_str()))
    })
}

/// Right before `at` stands a marker that somebody broke up, or wrote with entities, so that nobody reads it as one: what tools
/// give back is made harmless so.
fn behind_broken_marker(cx: &Reader<'_>, at: usize) -> bool {
    let near = cx.before(at, NEAR_MARKER).trim_end();
    let escaped = near.ends_with("&gt;");
    let broken = near.ends_with(['>', ']', '｜']) && near.contains('\u{200b}');
    // Mostly it is neither.
    if !escaped && !broken {
        return false;
    }
    let word = near.rsplit(char::is_whitespace).next().unwrap_or_default();
    escaped && word.starts_with("&lt;") && cx.at_line_start(at)
        || broken && word.starts_with(['<', '[', ']', '>', '｜']) && word.contains('\u{200b}')
}
