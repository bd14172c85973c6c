//! Elements named after the parameters, nested: `<city>Paris</city>`, with a prefix before each tag where the dialect
//! has one. Children make an object, or a list where the schema wants one. Each is read when it is over, a string leaves
//! while it is written; where the tags do not fit, the rest of the call is read at its end.
use super::Progress;
use super::members::Members;
use super::shown::begins;
use super::values::may_be_null;
use crate::dialect::{Element, Row, Trim};
use crate::engine::head::{Head, LONGEST_NAME};
use crate::engine::output::{Output, Piece, Value};
use crate::engine::reader::floor;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader, head, misspelt};
use crate::json::push_escaped;
use crate::schema::{Expected, Tool, read_text};
use crate::turn::{ArgumentValue, CallStatus, Repair, RepairCode};
use serde_json::Value as Schema;
use smallvec::SmallVec;
use std::ops::Range;

mod node;
mod tree;

use node::Node;
pub(super) use node::find;
use tree::Tree;

#[derive(Debug)]
pub(crate) struct Elements {
    head: Head,
    /// Where what is not read yet begins: an element, or what follows the last one.
    at: usize,
    index: Option<usize>,
    members: Members,
    open: Option<OpenElement>,
    /// The tags do not fit.
    unfit: Option<Unfit>,
    repairs: Vec<Repair>,
}

/// Where what closes a call is looked for whose tags do not fit.
#[derive(Debug, Clone, Copy)]
struct Unfit {
    searched: usize,
    /// How many calls are open that an element shows: what closes them stands before it.
    shown: usize,
}

/// An element whose closing tag has not come.
#[derive(Debug)]
struct OpenElement {
    /// The tags that are open, its own first.
    tags: SmallVec<[Tag; 4]>,
    /// It shows a call: the innermost element whose text that is, counted from 1. What is open inside is text.
    shows: Option<usize>,
    /// What such elements hold.
    texts: Vec<Range<usize>>,
    /// How far tags have been looked for.
    searched: usize,
    /// How far its text has been given out.
    sent: usize,
    /// It can only be a string.
    streams: bool,
    /// Where what was certain of its text ended, once it turned out to be more than a string.
    certain: usize,
}

impl OpenElement {
    /// How far its text is certain, if it can only be a string.
    fn certain(&self) -> usize {
        // A tag that may open a child.
        let child = self.tags.get(1).filter(|_| self.shows != Some(1));
        if self.streams { child.map_or(self.searched, |child| child.start) } else { self.certain }
    }

    /// Its text that is certain, should nothing close it.
    fn certain_text<'t>(&self, cx: &Reader<'t>) -> &'t str {
        self.tags.first().map_or("", |own| cx.slice(own.end, self.certain()))
    }

    /// Nothing but white space stands in it, as far as that was looked at.
    fn is_empty(&self, cx: &Reader<'_>) -> bool {
        let own = self.tags.first().map_or(self.searched, |tag| tag.end);
        cx.skip_space(own) >= self.searched
    }

    /// `tag` opens an element in it, or a call that it shows.
    fn opens(&mut self, cx: &Reader<'_>, within: &Within<'_>, tag: Tag) {
        let section = |tag: &Tag| {
            let opens = |open: &[Element]| matches!(open.first(), Some(Element::Literal(text)) if cx.slice(tag.start, tag.end) == &**text);
            within.row.sections.iter().any(|(open, _)| opens(open))
        };
        let outer = self.tags.len();
        let certain = self.certain().min(tag.start);
        match self.shows {
            Some(_) => {}
            None if tag.kind == Kind::Call => {
                // The section that it stands in is a part of what is shown.
                let inside = self.tags.last().is_some_and(section) && outer > 1;
                self.shows = Some(outer - usize::from(inside));
                self.streams &= self.shows == Some(1);
            }
            // Text before a child is kept with the children.
            None => self.streams &= outer == 1 && section(&tag),
        }
        self.certain = certain;
        self.tags.push(tag);
    }

    /// `tag` closes the last one that is open. Else it does not fit.
    fn closes(&mut self, cx: &Reader<'_>, tag: &Tag) -> bool {
        let name = |tag: &Tag| cx.slice(tag.name.start, tag.name.end);
        let certain = self.certain().min(tag.start);
        let Some(open) = self.tags.pop() else { return false };
        if name(&open) != name(tag) {
            self.tags.push(open);
            return false;
        }
        let outer = self.tags.len();
        if self.shows == Some(outer + 1) {
            self.texts.push(open.end..tag.start);
            self.shows = None;
        }
        self.streams &= outer == 0 || self.shows.is_some();
        self.certain = certain;
        true
    }
}

impl Unfit {
    /// Where what closes the call stands. `No`: the text is over, and nothing does.
    fn closer(&mut self, cx: &Reader<'_>, within: &Within<'_>) -> Look<usize> {
        let first = if within.prefix.is_empty() { within.closer } else { within.prefix };
        loop {
            let rest = cx.bytes().get(self.searched..).unwrap_or_default();
            let Some(i) = memchr::memmem::find(rest, first.as_bytes()) else {
                let next = cx.text.len().saturating_sub(first.len());
                self.searched = floor(cx.text, next).max(self.searched);
                return if cx.eof { Look::No } else { Look::More };
            };
            self.searched += i;
            match head::literal(cx, self.searched, within.closer) {
                Look::Is(_) if self.shown == 0 => return Look::Is(self.searched),
                Look::Is(_) => self.shown -= 1,
                Look::More => return Look::More,
                // Where one is shown, others may be as well.
                Look::No if self.shown > 0 => match call(cx, within, self.searched) {
                    Look::Is(_) => self.shown += 1,
                    Look::More => return Look::More,
                    Look::No => {}
                },
                Look::No => {}
            }
            self.searched += first.len();
        }
    }
}

/// What stands where an element may begin or end.
enum Next {
    /// An element ends here.
    Element(usize),
    /// What closes the call.
    Close,
    /// Something that does not fit, or the end of the text.
    Unfit,
    More,
}

/// A tag: its name, and where it ends.
#[derive(Debug)]
struct Tag {
    start: usize,
    name: Range<usize>,
    end: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Opening,
    Closing,
    /// It opens a call, not an element.
    Call,
}

/// What an element stands in.
struct Within<'w> {
    prefix: &'w str,
    trim: Trim,
    /// What closes the call.
    closer: &'w str,
    /// The tool that is called, if it was offered.
    tool: Option<&'w Tool>,
    row: &'w Row,
}

impl Elements {
    pub(super) fn new(at: usize, head: Head) -> Self {
        Self { head, at, index: None, members: Members::default(), open: None, unfit: None, repairs: Vec::new() }
    }

    /// An element stands at `at`. In a dialect that has parameters it is named after one of the tool's, where that is known.
    pub(super) fn plausible(cx: &Reader<'_>, row: &Row, head: &Head, at: usize) -> Look<()> {
        if !matches!(cx.bytes().get(at), Some(b'<' | b']')) {
            return Look::No;
        }
        if row.parameters.is_empty() || !row.dialect.tag_prefix.is_empty() {
            return Look::Is(());
        }
        let tag = match misspelt::opening(cx, at) {
            Look::Is(tag) => tag,
            other => return other.map(|_| ()),
        };
        let known = match head.name(cx).and_then(|name| cx.tool(&name)) {
            Some(tool) => tool.declares(tag.name),
            None => !row.parameters.iter().any(|p| misspelt::is_like(tag.name, misspelt::name(&p.opener))),
        };
        if known { Look::Is(()) } else { Look::No }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let Some(index) = writer.begin_once(cx, out, &self.head, &mut self.index) else {
            return Progress::Fail { at: self.at };
        };
        let closer = writer.origin.tail(cx).iter().find_map(|e| match e {
            Element::Literal(text) => Some(&**text),
            _ => None,
        });
        let (Some(closer), Some(row)) = (closer, writer.origin.row(cx)) else {
            return Progress::Fail { at: self.at };
        };
        let prefix = row.dialect.tag_prefix.as_str();
        let within = Within { prefix, trim: row.dialect.trim, closer, tool: cx.called(out, index), row };
        while self.unfit.is_none() {
            match self.next(cx, &within) {
                Next::Element(end) => {
                    let mut reader = Tree::new(cx.slice(self.at, end), within.prefix, cx.policy.max_depth);
                    let texts = self.open.iter().flat_map(|open| &open.texts);
                    reader.texts = texts.map(|text| text.start - self.at..text.end - self.at).collect();
                    match reader.element(0) {
                        Some((key, node)) if reader.rest().is_empty() => {
                            self.add(cx, out, writer, &within, Some(index), (key, &node));
                            (self.at, self.open) = (end, None);
                        }
                        _ => self.unfit = Some(self.does_not_fit()),
                    }
                }
                Next::Close => {
                    let end = cx.skip_space(self.at);
                    return self.finish(out, writer, index, end, CallStatus::Ok);
                }
                Next::More if !cx.eof => {
                    self.tell(cx, out, writer, index, within.trim);
                    return Progress::More;
                }
                Next::Unfit | Next::More => self.unfit = Some(self.does_not_fit()),
            }
        }
        self.read_rest(cx, out, writer, index, &within)
    }

    /// What comes next at the place that was reached.
    fn next(&mut self, cx: &Reader<'_>, within: &Within<'_>) -> Next {
        loop {
            let Some(open) = &mut self.open else {
                let at = cx.skip_space(self.at);
                match head::literal(cx, at, within.closer) {
                    Look::Is(_) => return Next::Close,
                    Look::More => return Next::More,
                    Look::No => {}
                }
                match tag(cx, within.prefix, at) {
                    Look::Is(tag) if tag.kind == Kind::Opening => {
                        let (name, end) = (cx.slice(tag.name.start, tag.name.end), tag.end);
                        let expected = within.tool.map_or(Expected::ANY, |t| t.expected(name));
                        let streams = expected.is_string() || expected.is_any();
                        let (tags, texts) = (SmallVec::from_iter([tag]), Vec::new());
                        self.open = Some(OpenElement {
                            tags,
                            shows: None,
                            texts,
                            searched: end,
                            sent: end,
                            streams,
                            certain: end,
                        });
                        self.at = at;
                        continue;
                    }
                    Look::Is(Tag { name, end, .. }) => {
                        let name = cx.slice(name.start, name.end);
                        let last = self.members.list().last().map(|(key, _)| key.as_str(cx.text));
                        if within.prefix.is_empty() || last != Some(name) {
                            return Next::Unfit;
                        }
                        let what = "an element's closing tag stood twice";
                        self.repairs.push(Repair::at(RepairCode::Marker, at, what));
                        self.at = end;
                        continue;
                    }
                    Look::More => return Next::More,
                    Look::No => return Next::Unfit,
                }
            };
            let marker = if within.prefix.is_empty() { "<" } else { within.prefix };
            let rest = cx.bytes().get(open.searched..).unwrap_or_default();
            let Some(hit) = memchr::memmem::find(rest, marker.as_bytes()).map(|i| open.searched + i) else {
                let end = cx.text.len().saturating_sub(marker.len() - 1).max(open.searched);
                open.searched = floor(cx.text, end);
                return Next::More;
            };
            open.searched = hit;
            let call = || call(cx, within, hit);
            let tag = match tag(cx, within.prefix, hit).or(call) {
                Look::Is(tag) => tag,
                Look::More => return Next::More,
                Look::No => return Next::Unfit,
            };
            // In text that nothing marks, only the closing tag is surely one.
            let opens = tag.kind != Kind::Closing;
            if opens && (within.prefix.is_empty() || open.tags.len() > cx.policy.max_depth) {
                return Next::Unfit;
            }
            open.searched = tag.end;
            if opens {
                open.opens(cx, within, tag);
            } else if !open.closes(cx, &tag) {
                open.searched = hit;
                return Next::Unfit;
            }
            if open.tags.is_empty() {
                return Next::Element(open.searched);
            }
        }
    }

    /// Gives out what is certain of the string that is open.
    fn tell(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, index: usize, trim: Trim) {
        let Some(open) = self.open.as_mut().filter(|open| open.streams && out.streaming()) else { return };
        // White space at its ends may be the markup's.
        if trim != Trim::None {
            return;
        }
        let text = cx.slice(open.sent, open.certain());
        let (Some(Tag { name: key, .. }), false) = (open.tags.first(), text.is_empty()) else { return };
        if !self.members.is_told() && may_be_null(text) {
            return;
        }
        let mut json = String::new();
        push_escaped(&mut json, text);
        self.members.grow(out, writer, index, cx.slice(key.start, key.end), &json);
        open.sent += text.len();
    }

    /// Keeps an element, and gives it out where the call has an `index`.
    fn add(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &Writer,
        within: &Within<'_>,
        index: Option<usize>,
        (key, node): (String, &Node),
    ) {
        let tool = within.tool;
        let value = match node {
            Node::Text(text) => {
                let expected = tool.map_or(Expected::ANY, |t| t.expected(&key));
                match read_text(unframed(text, within.trim), expected) {
                    ArgumentValue::Text(t) => Value::Text(Piece::Made(t.into_owned())),
                    ArgumentValue::Json(t) => Value::Json(Piece::Made(t.into_owned())),
                }
            }
            node => {
                let schema = tool.and_then(|t| t.schema.get("properties")).and_then(|p| p.get(&key));
                let mut json = String::new();
                node.write(&mut json, schema, tool.map(|t| &t.schema));
                if node.is_mixed() {
                    let what = "text among elements became a member of its own";
                    self.repairs.push(Repair::at(RepairCode::Misplaced, self.at, what));
                }
                Value::Json(Piece::Made(json))
            }
        };
        if self.members.add(cx, out, writer, index, Piece::Made(key), value) {
            let what = "a parameter stood twice: the last value counts";
            self.repairs.push(Repair::at(RepairCode::DuplicateKey, self.at, what));
        }
    }

    /// The tags do not fit. Up to where they do, an element that is open may show calls, whose closing tags they are.
    fn does_not_fit(&self) -> Unfit {
        let open = self.open.as_ref().filter(|open| open.shows.is_some() || !open.texts.is_empty());
        let calls = open.iter().flat_map(|open| &open.tags).filter(|tag| tag.kind == Kind::Call);
        Unfit { searched: open.map_or(self.at, |open| open.searched), shown: calls.count() }
    }

    /// The tags do not fit: looks for what closes the call, and mends what stands before it.
    fn read_rest(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        index: usize,
        within: &Within<'_>,
    ) -> Progress {
        let Within { prefix, closer, tool, .. } = *within;
        let (mut end, mut status) = match self.unfit.as_mut().map_or(Look::No, |unfit| unfit.closer(cx, within)) {
            Look::Is(end) => (end, CallStatus::Ok),
            Look::More => return Progress::More,
            Look::No => (cx.text.len(), CallStatus::Incomplete),
        };
        let mut reader = Tree::new(cx.slice(self.at, end), prefix, cx.policy.max_depth);
        let taken = self.members.list().iter().map(|(key, _)| key.get(cx.text).into_owned()).collect();
        (reader.tool, reader.taken, reader.retry) = (tool, taken, true);
        let mut found = Vec::new();
        loop {
            // What is there of a string that the text ends in is certain, of anything else it is not.
            let expected = |key: &str| tool.map_or(Expected::ANY, |t| t.expected(key));
            let certain = |key: &str| expected(key).is_any() || expected(key).allows(Expected::STRING);
            match (reader.element(0), reader.cut.take()) {
                (Some(element), _) => found.push(element),
                (None, Some((key, text))) if !status.readable() && certain(&key) => {
                    reader.at = reader.text.len();
                    found.push((key, Node::Text(text)));
                }
                _ => break,
            }
        }
        // What had been given out of a string stays, though nobody knows what it goes on with.
        let open = self
            .open
            .as_ref()
            .filter(|open| found.is_empty() && within.trim == Trim::None && !open.certain_text(cx).is_empty());
        if let (false, Some(open)) = (status.readable(), open) {
            let key = open.tags.first().map_or("", |own| cx.slice(own.name.start, own.name.end));
            found.push((key.to_owned(), Node::Text(open.certain_text(cx).to_owned())));
        }
        let slips = reader.slips.iter().map(|(at, what)| Repair::at(RepairCode::Marker, self.at + at, *what));
        self.repairs.extend(slips);
        let rest = reader.rest();
        let blank = rest.len() - rest.trim_ascii_start().len();
        let nothing = found.is_empty() && self.members.list().is_empty();
        // Text of it may have left: without it the call is not to be run.
        let text = found.is_empty() && self.open.as_ref().is_some_and(|open| open.streams && !open.is_empty(cx));
        if blank < rest.len() {
            match ends(cx, writer, &reader, self.at + reader.at + blank, closer) {
                Some(early) => (end, status) = (early, CallStatus::Ok),
                None if !status.readable() => {}
                None if prefix.is_empty()
                    || nothing
                    || text
                    || holds_call(cx, writer, rest)
                    || tool.is_some_and(|tool| closes_parameter(rest, prefix, tool, &reader.taken)) =>
                {
                    status = CallStatus::Malformed
                }
                // As the server of those with a prefix has it, what was read before it counts.
                None => {
                    let what = "what is no parameter was left out, and all that follows it";
                    self.repairs.push(Repair::at(RepairCode::Surroundings, self.at + reader.at + blank, what));
                }
            }
        }
        if reader.deep && status.readable() {
            status = CallStatus::Malformed;
        }
        let told = Some(index).filter(|_| status.readable());
        for (key, node) in found {
            self.add(cx, out, writer, within, told, (key, &node));
        }
        self.finish(out, writer, index, end, status)
    }

    fn finish(
        &mut self,
        out: &mut Output,
        writer: &mut Writer,
        index: usize,
        end: usize,
        status: CallStatus,
    ) -> Progress {
        if status.readable() {
            self.members.close(out, writer, index);
        }
        let pending = writer.over(index, self.members.take(), writer.start..end);
        pending.status = status;
        pending.repairs = std::mem::take(&mut self.repairs);
        Progress::Done { end }
    }
}

/// The tag at `at`, behind the `prefix` that all have.
fn tag(cx: &Reader<'_>, prefix: &str, at: usize) -> Look<Tag> {
    let start = match if prefix.is_empty() { Look::Is(at) } else { head::literal(cx, at, prefix) } {
        Look::Is(start) => start,
        Look::More => return Look::More,
        Look::No => return Look::No,
    };
    let rest = cx.bytes().get(start..).unwrap_or_default();
    let more = || if cx.eof { Look::No } else { Look::More };
    match rest.first() {
        Some(b'<') => {}
        Some(_) => return Look::No,
        None => return more(),
    }
    let kind = if rest.get(1) == Some(&b'/') { Kind::Closing } else { Kind::Opening };
    let from = if kind == Kind::Closing { 2 } else { 1 };
    let near = rest.get(from..).unwrap_or_default();
    let near = near.get(..LONGEST_NAME).unwrap_or(near);
    match near.iter().position(|byte| matches!(byte, b'>' | b'<' | b'\n' | b'"')) {
        Some(length) if near.get(length) == Some(&b'>') => {
            let (inside, end) = (start + from, start + from + length);
            let name = cx.slice(inside, end);
            let blank = name.len() - name.trim_start().len();
            let name = inside + blank..inside + blank + name.trim().len();
            if name.is_empty() { Look::No } else { Look::Is(Tag { start: at, name, end: end + 1, kind }) }
        }
        None if near.len() < LONGEST_NAME => more(),
        _ => Look::No,
    }
}

/// The tag at `at`, behind the prefix that all have, that opens a call.
fn call(cx: &Reader<'_>, within: &Within<'_>, at: usize) -> Look<Tag> {
    if within.prefix.is_empty() {
        return Look::No;
    }
    begins(cx, within.row, at).then(|end| {
        let start = at + within.prefix.len() + 1;
        let name = misspelt::name(cx.slice(start, end));
        let tag = Tag { start: at, name: start..start + name.len(), end, kind: Kind::Call };
        if name.is_empty() { Look::No } else { Look::Is(tag) }
    })
}

/// The text without the line break at each of its ends, where the dialect puts them there.
fn unframed(text: &str, trim: Trim) -> &str {
    match trim {
        Trim::None => text,
        Trim::Space => text.trim(),
        Trim::Newline => {
            let Some(rest) = text.strip_prefix("\r\n").or(text.strip_prefix('\n')) else { return text };
            rest.strip_suffix("\r\n").or(rest.strip_suffix('\n')).unwrap_or(rest)
        }
    }
}

/// A call begins in `text`, so what closes this one may close that.
fn holds_call(cx: &Reader<'_>, writer: &Writer, text: &str) -> bool {
    let begins = |head: &[Element]| matches!(head.first(), Some(Element::Literal(first)) if text.contains(&**first));
    writer.origin.row(cx).is_some_and(|row| row.calls.iter().any(|call| begins(&call.head)))
}

/// A closing tag named after a parameter of the tool that is not there yet stands in `text`, and its opening one was lost.
fn closes_parameter(text: &str, prefix: &str, tool: &Tool, taken: &[String]) -> bool {
    let free = tool.parameters.iter().map(|(name, _)| name).filter(|name| !taken.contains(name));
    let holds = |tag: String| memchr::memmem::find(text.as_bytes(), tag.as_bytes()).is_some();
    free.into_iter().any(|name| holds(format!("</{name}>")) && !holds(format!("{prefix}<{name}>")))
}

/// Where the call ends that has something else than elements at `at`: what closes it is misspelt there, or missing before
/// another call. `None` if neither stands there.
fn ends(cx: &Reader<'_>, writer: &Writer, reader: &Tree<'_>, at: usize, closer: &str) -> Option<usize> {
    let row = writer.origin.row(cx)?;
    let begins = |at: usize| {
        let here = cx.rest(at);
        let first = |elements: &[Element]| match elements.first() {
            Some(Element::Literal(text)) => here.starts_with(&**text),
            _ => false,
        };
        here.is_empty()
            || row.calls.iter().any(|call| first(&call.head))
            || row.sections.iter().any(|(_, close)| first(close))
    };
    if begins(at) {
        return Some(at);
    }
    let tag = reader.closing(cx.rest(at))?;
    let meant = closer.strip_prefix(reader.prefix)?.trim_start_matches("</").trim_end_matches('>');
    let end = at + reader.prefix.len() + tag.len() + 3;
    (misspelt::is_like(tag, meant) && begins(cx.skip_space(end))).then_some(end)
}

/// A value that is written as elements, as the schema's object or list: `<item>a</item><item>b</item>`.
pub(super) fn nested(text: &str, schema: Option<&Schema>, root: Option<&Schema>, max_depth: usize) -> Option<String> {
    let mut reader = Tree::new(text, "", max_depth);
    let mut children = Vec::new();
    while let Some(child) = reader.element(0) {
        children.push(child);
    }
    if reader.deep || !reader.rest().trim().is_empty() {
        return None;
    }
    let mut json = String::new();
    Node::Children(children, String::new()).write(&mut json, schema, root);
    Some(json)
}
