//! Elements named after the parameters, nested: `<city>Paris</city>`, with a prefix before each tag where the dialect
//! has one. Children make an object, or a list where the schema wants one. Each is read when it is over, a string leaves
//! while it is written; where the tags do not fit, the rest of the call is read at its end.
use super::Progress;
use super::members::Members;
use crate::dialect::{CallTemplate, Element, Row, Trim, opener};
use crate::engine::found::{Piece, Value};
use crate::engine::head::Head;
use crate::engine::look::seen;
use crate::engine::output::Output;
use crate::engine::reader::floor;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader, misspelt};
use crate::json::push_escaped;
use crate::schema::{Expected, Tool, fitting, read_text};
use crate::turn::{CallStatus, Repair, RepairCode};
use serde_json::Value as Schema;

mod node;
mod open;
mod tag;
mod tree;
mod unfit;

use node::Node;
pub(super) use node::find;
use open::OpenElement;
use tag::{Kind, Tag, tags_begin};
use tree::Tree;
use unfit::Unfit;

/// The elements of one call, as far as they were read.
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
    /// An element may have ended in the middle, where it shows what ends a call.
    torn: bool,
    repairs: Vec<Repair>,
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
    /// The elements that begin at `at`, behind `head`.
    pub(super) fn new(at: usize, head: Head) -> Self {
        Self {
            head,
            at,
            index: None,
            members: Members::default(),
            open: None,
            unfit: None,
            torn: false,
            repairs: Vec::new(),
        }
    }

    /// An element stands at `at`. In a dialect that has parameters it is named after one of the tool's, where that is known.
    pub(super) fn plausible(cx: &Reader<'_>, row: &Row, template: &CallTemplate, head: &Head, at: usize) -> Look<()> {
        let prefix = prefix(row, template.tail.iter().find_map(Element::literal).unwrap_or_default());
        let byte = prefix.bytes().next();
        if !cx.bytes().get(at).is_some_and(|here| *here == b'<' || Some(*here) == byte) {
            return Look::No;
        }
        // The prefix of its head may be lost alone.
        if !prefix.is_empty() && opener(&template.head).is_some_and(|head| !head.starts_with(prefix)) {
            return cx.literal(at, prefix).unit();
        }
        let prefixed = !row.dialect.tag_prefix.is_empty();
        if prefixed && prefix.is_empty() {
            // Without parameters what closes the call stands there at once.
            let closer = template.tail.iter().find_map(Element::literal).unwrap_or_default();
            match cx.literal(at, closer) {
                Look::No => {}
                look => return look.then(|_| Look::when(head.is_offered(cx))),
            }
        }
        if !prefix.is_empty() || row.parameters.is_empty() && !prefixed {
            return Look::Is(());
        }
        let tag = seen!(misspelt::opening(cx, at));
        let known = match head.tool(cx) {
            Some(tool) => tool.declares(tag.name),
            None if prefixed => false,
            None => !row.parameters.iter().any(|p| misspelt::is_like(tag.name, misspelt::name(&p.opener))),
        };
        Look::when(known)
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let Some(index) = writer.begin_once(cx, out, &self.head, &mut self.index) else {
            return Progress::Fail { at: self.at };
        };
        let closer = writer.origin.tail(cx).iter().find_map(Element::literal);
        let (Some(closer), Some(row)) = (closer, writer.origin.row(cx)) else {
            return Progress::Fail { at: self.at };
        };
        let prefix = prefix(row, closer);
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
                    self.tell(cx, out, writer, index, &within);
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
                match cx.literal(at, within.closer) {
                    Look::Is(_) => return Next::Close,
                    Look::More => return Next::More,
                    Look::No => {}
                }
                match Tag::at(cx, within.prefix, at) {
                    Look::Is(tag) if tag.kind == Kind::Opening => {
                        match closes_unslashed(cx, within, &tag) {
                            Look::Is(()) => {
                                self.at = tag.end;
                                return Next::Close;
                            }
                            Look::More => return Next::More,
                            Look::No => {}
                        }
                        self.open = Some(OpenElement::new(cx, within, tag));
                        self.at = at;
                        continue;
                    }
                    Look::Is(tag) => {
                        let last = self.members.list().last().map(|(key, _)| key.as_str(cx.text));
                        if within.prefix.is_empty() || last != Some(tag.name(cx)) {
                            return Next::Unfit;
                        }
                        let what = "an element's closing tag stood twice";
                        self.repairs.push(Repair::at(RepairCode::Marker, at, what));
                        self.at = tag.end;
                        continue;
                    }
                    Look::More => return Next::More,
                    Look::No => return Next::Unfit,
                }
            };
            let marker = tags_begin(within.prefix);
            let rest = cx.bytes().get(open.searched..).unwrap_or_default();
            let Some(hit) = memchr::memmem::find(rest, marker.as_bytes()).map(|i| open.searched + i) else {
                let end = cx.text.len().saturating_sub(marker.len() - 1).max(open.searched);
                open.searched = floor(cx.text, end);
                return Next::More;
            };
            open.searched = hit;
            let tag = match Tag::at(cx, within.prefix, hit).or(|| Tag::of_call(cx, within, hit)) {
                Look::Is(tag) if open.takes(cx, within, hit, Some(&tag)) => continue,
                Look::Is(tag) => tag,
                Look::More => return Next::More,
                Look::No if open.takes(cx, within, hit, None) => continue,
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
                continue;
            }
            match open.quoted_end(cx, within, &tag) {
                Look::Is(Some(at)) => {
                    open.passes(at);
                    continue;
                }
                Look::Is(None) => self.torn = true,
                Look::No => {}
                Look::More => {
                    open.searched = hit;
                    return Next::More;
                }
            }
            if !open.closes(cx, &tag) {
                open.searched = hit;
                match open.goes_on(cx, within, &tag) {
                    Look::Is(at) => open.passes(at),
                    Look::More => return Next::More,
                    Look::No => return Next::Unfit,
                }
            }
            if open.tags.is_empty() {
                return Next::Element(open.searched);
            }
        }
    }

    /// Gives out what is certain of the string that is open.
    fn tell(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, index: usize, within: &Within<'_>) {
        let Some(open) = self.open.as_mut().filter(|open| open.streams && out.streaming()) else { return };
        // White space at its ends may be the markup's.
        if within.trim != Trim::None {
            return;
        }
        let text = cx.slice(open.sent, open.certain());
        let (Some(own), false) = (open.tags.first(), text.is_empty()) else { return };
        // A name that the tool does not have may be a slip, which the closing tag shows.
        if within.tool.is_some_and(|tool| !tool.parameters.is_empty() && !tool.declares(own.name(cx))) {
            return;
        }
        if !self.members.is_told() && open.undecided.may_be_null(cx, open.sent, open.certain()) {
            return;
        }
        let mut json = String::new();
        push_escaped(&mut json, text);
        self.members.grow(out, writer, index, own.name(cx), &json);
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
        (key, node): (String, &Node<'_>),
    ) {
        let tool = within.tool;
        let mut item = false;
        let value = match node {
            Node::Text(text) => {
                let expected = tool.map_or(Expected::ANY, |t| t.expected(&key));
                let text = unframed(text, within.trim);
                let read = read_text(text, expected);
                Value::from(match tool {
                    Some(tool) => fitting(tool, (&key, expected), read, text),
                    None => read,
                })
            }
            node => {
                let schema = tool.and_then(|t| t.part(&key));
                let mut json = String::new();
                let root = tool.map(|t| &t.schema);
                let among = node.write(&mut json, schema, root);
                item = node.is_item(schema, root);
                if among {
                    let what = "text among elements became a member of its own";
                    self.repairs.push(Repair::at(RepairCode::Misplaced, self.at, what));
                }
                Value::Json(Piece::Made(json))
            }
        };
        let wanted = tool.is_some_and(|tool| tool.expected(&key).allows(Expected::ARRAY));
        let joined =
            wanted && if item { self.members.extend(cx, &key, &value) } else { self.members.join(cx, &key, &value) };
        if joined {
            let what = "a parameter stood twice: its values are the items of its list";
            self.repairs.push(Repair::at(RepairCode::DuplicateKey, self.at, what));
        } else if self.members.add(cx, out, writer, index, Piece::Made(key), value) {
            let what = "a parameter stood twice: the last value counts";
            self.repairs.push(Repair::at(RepairCode::DuplicateKey, self.at, what));
        }
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
        pending.status = if self.torn && status.readable() { CallStatus::Malformed } else { status };
        pending.repairs = std::mem::take(&mut self.repairs);
        Progress::Done { end }
    }
}

/// What stands before each tag of a call that this marker closes: where the `row` has something there and the marker lacks it, it is a
/// special token that was lost.
fn prefix<'r>(row: &'r Row, closer: &str) -> &'r str {
    let prefix = row.dialect.tag_prefix.as_str();
    if closer.starts_with(prefix) { prefix } else { "" }
}

/// What closes the call was written as the opening `tag` of an element that the tool does not have: behind it another call
/// begins, or the section ends.
fn closes_unslashed(cx: &Reader<'_>, within: &Within<'_>, tag: &Tag) -> Look<()> {
    let own = within.closer.strip_prefix(within.prefix).unwrap_or_default();
    let meant = own.strip_prefix("</").and_then(|name| name.strip_suffix('>')) == Some(tag.name(cx));
    if !meant || within.prefix.is_empty() || within.tool.is_some_and(|tool| tool.declares(tag.name(cx))) {
        return Look::No;
    }
    let next = seen!(misspelt::behind(cx, tag.end));
    let opens = |elements: &[Element]| cx.opens(next, elements).unit();
    let calls = within.row.calls.iter().map(|call| opens(&call.head));
    Look::any_of(calls.chain(within.row.section_closes().map(opens)))
}

/// The text without the line break at each of its ends, where the dialect puts them there.
fn unframed(text: &str, trim: Trim) -> &str {
    match trim {
        Trim::None => text,
        Trim::Space => text.trim(),
        Trim::Blank => match text.strip_prefix(' ') {
            Some(rest) => rest.strip_suffix(' ').unwrap_or(rest),
            None => text,
        },
        Trim::Newline => {
            let Some(rest) = text.strip_prefix("\r\n").or(text.strip_prefix('\n')) else { return text };
            rest.strip_suffix("\r\n").or(rest.strip_suffix('\n')).unwrap_or(rest)
        }
    }
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
    Node::Children(children, String::new(), "").write(&mut json, schema, root);
    Some(json)
}
