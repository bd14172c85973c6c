//! Calls that lost their opening marker, or whose first parameter lost its own: an offered name stands there, and behind it
//! what only a call has.
use super::flow::name_before;
use crate::char_class;
use crate::dialect::{Bare, Body, CallId, CallTemplate, Element, Marker, Row, RowId, Slot, catalogue, opener};
use crate::engine::body::python::PRINT;
use crate::engine::head::{self, APART, Head, bare_name, without_escapes};
use crate::engine::look::{seen, unless};
use crate::engine::trace::Reason;
use crate::engine::{Engine, Look, Reader, Taken, misspelt};
use crate::schema::{Tool, ToolSet};
use std::ops::Range;

/// `NAME:3` is an id, with a name in it.
pub(super) fn without_number(written: &str) -> &str {
    match written.rsplit_once(':') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => written,
    }
}

/// Where `print(default_api.get_weather` begins, or what may become that: the line begins with it, and its name stands from
/// `start` to `end`. A model that shows the result of what it calls is told from a program by the namespace.
pub(super) fn printed(cx: &Reader<'_>, from: usize, start: usize, end: usize) -> Option<usize> {
    let name = cx.slice(start, end);
    let namespaced = || {
        let rows = catalogue().iter().chain(cx.dialects.rows.iter().map(|row| &row.dialect));
        let rows = rows.filter(|row| row.bare.contains(&Bare::Python) && !row.namespace.is_empty());
        rows.map(|row| row.namespace.as_str()).any(|known| name.starts_with(known) || known.starts_with(name))
    };
    let line = match cx.slice(from, start).strip_suffix('(').and_then(|before| before.strip_suffix(PRINT)) {
        Some(before) if namespaced() => from + before.len(),
        None if !name.is_empty() && PRINT.starts_with(name) => start,
        _ => return None,
    };
    cx.at_line_start(line).then_some(line)
}

impl Engine {
    /// The offered name at the start of a line that ends before `at`, or before the white space there.
    /// `inside`: the row whose section is open, if one is.
    fn name_stands(&self, cx: &Reader<'_>, at: usize, inside: Option<RowId>) -> Option<Range<usize>> {
        let tools = cx.tools?;
        let text = cx.slice(self.given.from, at);
        let before = text.trim_ascii_end();
        let length = name_before(before);
        if length == 0 || text.len() - before.len() > APART {
            return None;
        }
        let end = at - (text.len() - before.len());
        let start = end - length;
        let elsewhere = self.section.is_some_and(|section| Some(section.row) != inside);
        if elsewhere || self.drafts(cx) || self.inline.is_some() || self.fence.is_some() {
            return None;
        }
        // Mostly no line begins there, and that is seen without its name.
        if !self.begins_line(cx, start) {
            return None;
        }
        let name = without_escapes(without_number(cx.slice(start, end)));
        (cx.offered(&name) && tools.leads_to(&name)).then_some(start..end)
    }

    /// The name that begins at `start` is none of a call.
    pub(super) fn refuses(&mut self, cx: &Reader<'_>, start: usize) -> Look<()> {
        if self.runs_away(cx, start) {
            self.pass(cx, start, Reason::Runaway);
            return Look::Is(());
        }
        self.is_shown(cx, start).map(|()| self.pass(cx, start, Reason::Quoted))
    }

    /// The marker at `at` stands behind the name in calls by the template `call`, whose opening marker is missing:
    /// `get_weather[ARGS]{...}`, `get_weather<arg_key>...`.
    pub(super) fn inner_marker(&mut self, cx: &Reader<'_>, at: usize, call: CallId) -> Taken {
        let template = cx.dialects.call(call);
        let behind = template.and_then(|template| template.head.get(template.name_at()?..));
        let (Some(elements), Some(name)) = (behind, self.name_stands(cx, at, Some(call.row))) else { return Taken::No };
        unless!(self.refuses(cx, name.start));
        head::head(cx, name.start, elements).take(|mut head| {
            head.unopened = true;
            self.begin(cx, name.start, call, &mut head, None)
        })
    }

    /// The marker at `at`, of `length` bytes, which opens the calls in `list`, stands behind the name instead of before it:
    /// `get_weather[TOOL_CALLS]{"city": "Paris"}`. Source: Devstral.
    pub(super) fn marker_behind_name(&mut self, cx: &Reader<'_>, at: usize, length: usize, list: &[Marker]) -> Taken {
        // Mostly no name ends there.
        let before = at.checked_sub(1).and_then(|i| cx.bytes().get(i));
        if self.given.from >= at || !before.is_some_and(|byte| char_class::NAME.has_byte(*byte)) {
            return Taken::No;
        }
        let named = |call: &CallId| {
            let template = cx.dialects.call(*call);
            template.is_some_and(|call| call.body == Body::Arguments && call.name_at().is_some())
        };
        let mut calls = list.iter().filter_map(|marker| match marker {
            Marker::Call(call) => Some(*call),
            _ => None,
        });
        let Some(call) = calls.find(named) else { return Taken::No };
        let Some(name) = self.name_stands(cx, at, Some(call.row)) else { return Taken::No };
        let object = seen!(cx.behind_space(at, at + length));
        match cx.bytes().get(object) {
            None if !cx.eof => return Taken::More,
            Some(b'{') if seen!(first_member(cx, cx.part(&name), object)) == Body::Arguments => {}
            _ => return Taken::No,
        }
        unless!(self.refuses(cx, name.start));
        let start = name.start;
        let mut head = Head { name: Some(name), end: object, unopened: true, ..Head::default() };
        self.begin(cx, start, call, &mut head, None)
    }

    /// `get_weather{"city": "Paris"}`, `functions.get_weather:0 {...}`, `call:get_weather{city:<|"|>Paris<|"|>}`: a name, and
    /// at `at` an object that begins with a parameter of its tool.
    pub(super) fn named_object(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        let named = |byte: u8| char_class::IDENTIFIER.has_byte(byte) || byte.is_ascii_whitespace();
        if self.given.from >= at || !at.checked_sub(1).and_then(|i| cx.bytes().get(i)).copied().is_some_and(named) {
            return Taken::No;
        }
        let Some(name) = self.name_stands(cx, at, None) else { return Taken::No };
        let body = seen!(first_member(cx, without_number(cx.part(&name)), at));
        unless!(self.refuses(cx, name.start));
        let id = without_number(cx.part(&name)).len() < name.len();
        let start = name.start;
        let mut head = Head { end: at, unopened: true, ..Head::default() };
        *(if id { &mut head.id } else { &mut head.name }) = Some(name);
        // Else the call would not begin, and stand here again.
        if !head.is_offered(cx) {
            return Taken::No;
        }
        if body == Body::Gemma {
            unless!(is_rule(cx, at));
            // So are structs written, under names that have capitals.
            let own = |name: &str| cx.tool(name).is_some_and(|tool| name.ends_with(tool.name.as_str()));
            if !head.name(cx).is_some_and(|name| own(&name)) {
                return Taken::No;
            }
            return gemma_template(cx, at).take(|call| self.begin(cx, start, call, &mut head, None));
        }
        head.unopened = false;
        self.begin_bare_by(cx, start, &head, body)
    }
}

/// The block at `at` is one of CSS: a semicolon ends what stands in it, and nothing in it is quoted.
fn is_rule(cx: &Reader<'_>, at: usize) -> Look<()> {
    let near = cx.near(at, LONGEST_RULE);
    match near.iter().position(|byte| matches!(byte, b'}' | b'"' | b'\'' | b'<')) {
        Some(end) => {
            let (inside, behind) = near.split_at(end);
            Look::when(behind.starts_with(b"}") && inside.trim_ascii_end().ends_with(b";"))
        }
        None => cx.ran_out(near.len(), LONGEST_RULE),
    }
}

/// A longer rule is none.
const LONGEST_RULE: usize = 256;

/// The template of the call whose members, with Gemma's values, begin at `at`: the marker round the first string in them
/// tells, else the first one is as good as any.
fn gemma_template(cx: &Reader<'_>, at: usize) -> Look<CallId> {
    let templates = cx.dialects.gemma.as_slice();
    let Some(first) = templates.first() else { return Look::No };
    if templates.len() == 1 {
        return Look::Is(*first);
    }
    let near = cx.near(at, cx.policy.max_markup_bytes);
    let Some(mark) = memchr::memchr2(b'<', b'}', near) else {
        let open = cx.may_go_on(near.len(), cx.policy.max_markup_bytes);
        return if open { Look::More } else { Look::Is(*first) };
    };
    let quoted = |call: CallId| {
        let quote =
            cx.dialects.dialect(call.row).map(|dialect| dialect.quote.as_str()).filter(|quote| !quote.is_empty());
        quote.map_or(Look::No, |quote| cx.literal(at + mark, quote)).map(|_| call)
    };
    Look::any_of(templates.iter().map(|template| quoted(*template))).or(|| Look::Is(*first))
}

/// The object at `at` begins with a parameter of the tool: how it is written.
pub(super) fn first_member(cx: &Reader<'_>, name: &str, at: usize) -> Look<Body> {
    let Some(tool) = cx.tool(&without_escapes(name)) else { return Look::No };
    let start = cx.skip_space(at + 1);
    let rest = cx.rest(start);
    let more = !cx.eof && start - at <= APART;
    let quote = rest.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''));
    let key = rest.get(usize::from(quote.is_some())..).unwrap_or_default();
    if key.is_empty() {
        return if more { Look::More } else { Look::No };
    }
    if quote.is_none() && key.starts_with('}') {
        return if tool.parameters.is_empty() { Look::Is(Body::Arguments) } else { Look::No };
    }
    let mut keys = tool.parameters.iter().map(|(key, _)| key.as_str());
    // The colon behind a key is none of it.
    let length = bare_name(key).find(':').unwrap_or(bare_name(key).len());
    if length == key.len() {
        return if more && keys.any(|known| known.starts_with(key)) { Look::More } else { Look::No };
    }
    let (key, quoted) = (key.get(..length).unwrap_or_default(), quote.is_some());
    if !keys.any(|known| known == key) {
        return Look::No;
    }
    let sign = start + usize::from(quoted) + key.len();
    let sign = match (quote, cx.bytes().get(sign)) {
        (Some(quote), Some(byte)) if *byte == quote => sign + 1,
        (Some(_), _) => return Look::No,
        _ => sign,
    };
    match cx.behind_space(at, sign) {
        Look::Is(sign) if cx.bytes().get(sign) == Some(&b':') => {
            Look::Is(if quoted { Body::Arguments } else { Body::Gemma })
        }
        Look::More => Look::More,
        _ => Look::No,
    }
}

/// Nothing stands between the name in such a head and the first parameter, so that the key may be taken for a part of it.
pub(super) fn may_lack_key(row: &Row, template: &CallTemplate) -> bool {
    template.body == Body::Parameters && !template.delimits_name() && !row.by_name()
}

/// The first parameter of the call with this `head` lacks its opening marker: the key stands right behind the name, or
/// is one word with it, and what closes a key follows. The head with the key in it, and its end behind what opens the value.
#[cold]
pub(super) fn unopened_key(cx: &Reader<'_>, row: &Row, template: &CallTemplate, head: &Head) -> Look<Head> {
    let (Some(tools), Some(name)) = (cx.tools, head.name.clone()) else { return Look::No };
    if !may_lack_key(row, template) {
        return Look::No;
    }
    let rest = cx.rest(head.end);
    let key = bare_name(rest);
    let open = key.len() == rest.len() && !cx.eof;
    let written = cx.part(&name);
    let declares = crate::schema::Tool::declares;
    let (name, key) = if key.is_empty() {
        // One word: only one tool and one of its parameters may make it.
        let mut split = tools.tools().iter().filter_map(|tool| {
            let key = written.strip_prefix(tool.name.as_str())?;
            declares(tool, key).then_some(tool.name.len())
        });
        let (Some(length), None) = (split.next(), split.next()) else { return Look::No };
        if head.end > name.end {
            return Look::No;
        }
        (name.start..name.start + length, name.start + length..name.end)
    } else {
        let Some(tool) = cx.tool(written) else { return Look::No };
        if open && tool.parameters.iter().any(|(known, _)| known.starts_with(key)) {
            return Look::More;
        }
        if !declares(tool, key) {
            return Look::No;
        }
        (name, head.end..head.end + key.len())
    };
    let mut result = Look::No;
    for parameter in &row.parameters {
        let Some(at) = parameter.head.iter().position(|e| *e == Element::Slot(Slot::Key)) else { continue };
        let behind = parameter.head.get(at + 1..).filter(|behind| !behind.is_empty()).unwrap_or_default();
        let marker = opener(behind).is_some_and(|text| text.len() > 2);
        match if marker { head::head(cx, key.end, behind) } else { Look::No } {
            // A template further up may still turn out to fit better.
            Look::Is(_) if result == Look::More => return Look::More,
            Look::Is(end) => {
                let head = Head { name: Some(name), key: Some(key), end: end.end, ..head.clone() };
                return Look::Is(head);
            }
            Look::More => result = Look::More,
            Look::No => {}
        }
    }
    result
}

/// The marker at `at`, of the sections in `list`, is also the tag of an offered tool of just that name, where tags are named
/// after tools. It is the section's where a call of that begins in it.
#[inline]
pub(super) fn is_tools_tag<'t>(cx: &Reader<'t>, at: usize, length: usize, list: &[Marker]) -> Look<()> {
    let tag = || cx.slice(at, at + length).strip_prefix('<')?.strip_suffix('>');
    let named = |tools: &'t ToolSet| tag().and_then(|name| tools.get(name));
    match cx.tools.filter(|_| cx.dialects.elements.is_some()).and_then(named) {
        Some(tool) => holds_no_call(cx, tool, at + length, list),
        None => Look::No,
    }
}

/// Behind the marker of the sections in `list`, which ends at `end`, begins no call by its own marker, unless that is the tag of a
/// parameter of `tool`, and no list of objects.
#[cold]
fn holds_no_call(cx: &Reader<'_>, tool: &Tool, end: usize, list: &[Marker]) -> Look<()> {
    let sections = list.iter().filter_map(|marker| match marker {
        Marker::Section(section) => cx.dialects.row(section.row),
        _ => None,
    });
    let openers = sections.flat_map(|row| &row.calls).filter_map(|call| opener(&call.head));
    let openers = openers.filter(|opener| !tool.declares(misspelt::name(opener)));
    cx.behind_space(end, end).then(|inside| {
        let begun = openers.map(|opener| cx.literal(inside, opener).unit());
        let object = |at: usize| if cx.bytes().get(at) == Some(&b'{') { Look::Is(()) } else { Look::No };
        let list = || cx.literal(inside, "[").then(|at| cx.behind_space(at, at)).then(object);
        match Look::any_of(begun).or(list) {
            Look::No => Look::Is(()),
            look => look.then(|()| Look::No),
        }
    })
}
