//! Elements named after the parameters, nested: `<city>Paris</city>`, with a prefix before each tag where the dialect
//! has one. Children make an object, or a list where the schema wants one.
use super::call::Progress;
use super::head::Head;
use super::output::{Found, Output, Piece, Value};
use super::values::Keys;
use super::writer::Writer;
use super::{Look, Reader, misspelt};
use crate::dialect::{Element, Row, Trim};
use crate::json::push_string;
use crate::schema::{Expected, Tool, read_text};
use crate::turn::{ArgumentValue, CallStatus, Repair, RepairCode};
use serde_json::Value as Schema;
use std::borrow::Cow;
use std::collections::HashSet;

#[derive(Debug)]
pub(super) struct Elements {
    head: Head,
    start: usize,
    searched: usize,
    index: Option<usize>,
}

impl Elements {
    pub(super) fn new(at: usize, head: Head) -> Self {
        Self { head, start: at, searched: at, index: None }
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
            Some(tool) => tool.parameters.iter().any(|(key, _)| key == tag.name),
            None => !row.parameters.iter().any(|p| misspelt::is_like(tag.name, misspelt::name(&p.opener))),
        };
        if known { Look::Is(()) } else { Look::No }
    }

    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        let index = match self.index {
            Some(index) => index,
            None => {
                let name = self.head.name(cx).unwrap_or_default();
                let Some(index) = writer.begin(cx, out, &name, self.head.id(cx)) else {
                    return Progress::Fail { at: self.start };
                };
                self.index = Some(index);
                index
            }
        };
        let tail = writer.origin.tail(cx);
        let closer = tail.iter().find_map(|e| match e {
            Element::Literal(text) => Some(&**text),
            _ => None,
        });
        let Some(closer) = closer else { return Progress::Fail { at: self.start } };
        let found = memchr::memmem::find(cx.bytes().get(self.searched..).unwrap_or_default(), closer.as_bytes());
        let (end, status) = match found {
            Some(i) => (self.searched + i, CallStatus::Ok),
            None if !cx.eof => {
                let mut next = cx.text.len().saturating_sub(closer.len()).max(self.searched);
                while !cx.text.is_char_boundary(next) {
                    next -= 1;
                }
                self.searched = next.max(self.searched);
                return Progress::More;
            }
            None => (cx.text.len(), CallStatus::Incomplete),
        };
        let prefix = writer.origin.row(cx).map_or("", |r| r.dialect.tag_prefix.as_str());
        let trim = writer.origin.row(cx).map_or(Trim::None, |r| r.dialect.trim);
        let tool = cx.called(out, index);
        let text = cx.slice(self.start, end);
        let mut reader = Tree { prefix, tool, retry: true, ..Tree::new(text, cx.policy.max_depth) };
        let mut members: Vec<(Piece, Value)> = Vec::new();
        let mut keys = Keys::default();
        loop {
            // What is there of a string that the text ends in is certain, of anything else it is not.
            let expected = |key: &str| tool.map_or(Expected::ANY, |t| t.expected(key));
            let certain = |key: &str| expected(key).is_any() || expected(key).allows(Expected::STRING);
            let (key, node) = match (reader.element(0), reader.cut.take()) {
                (Some(found), _) => found,
                (None, Some((key, text))) if !status.readable() && certain(&key) => {
                    reader.at = reader.text.len();
                    (key, Node::Text(text))
                }
                _ => break,
            };
            let schema = tool.and_then(|t| t.schema.get("properties")).and_then(|p| p.get(&key));
            let expected = tool.map_or(Expected::ANY, |t| t.expected(&key));
            let value = match node {
                Node::Text(text) => match read_text(unframed(&text, trim), expected) {
                    ArgumentValue::Text(t) => Value::Text(Piece::Made(t.into_owned())),
                    ArgumentValue::Json(t) => Value::Json(Piece::Made(t.into_owned())),
                },
                node => {
                    let mut json = String::new();
                    let root = tool.map(|t| &t.schema);
                    node.write(&mut json, schema, root);
                    Value::Json(Piece::Made(json))
                }
            };
            let name = |i: usize| members.get(i).map(|(k, _)| k.get(cx.text));
            let same = keys.position(&key, members.len(), name);
            match same.and_then(|i| members.get_mut(i)) {
                Some(member) => member.1 = value,
                None => members.push((Piece::Made(key), value)),
            }
        }
        let mut repairs: Vec<Repair> =
            reader.slips.iter().map(|(at, what)| Repair::at(RepairCode::Marker, self.start + at, *what)).collect();
        let rest = reader.rest();
        let blank = rest.len() - rest.trim_ascii_start().len();
        let (mut end, mut status) = (end, status);
        if blank < rest.len() {
            let at = self.start + reader.at + blank;
            match ends(cx, writer, &reader, at, closer) {
                Some(early) => (end, status) = (early, CallStatus::Ok),
                None if !status.readable() => {}
                None if members.is_empty() || prefix.is_empty() || holds_call(cx, writer, rest) => {
                    status = CallStatus::Malformed;
                }
                // As the server of those with a prefix has it, what was read before it counts.
                None => {
                    let what = "what is no parameter was left out, and all that follows it";
                    repairs.push(Repair::at(RepairCode::Surroundings, at, what));
                }
            }
        }
        if reader.deep && status.readable() {
            status = CallStatus::Malformed;
        }
        if out.streaming() && status.readable() {
            let text = Found::Members(members.clone()).into_arguments(cx.text).to_json().into_owned();
            writer.piece(out, index, &text);
        }
        let pending = writer.over(index, Found::Members(members), writer.start..end);
        pending.status = status;
        pending.repairs = repairs;
        Progress::Done { end }
    }
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

#[derive(Debug)]
enum Node {
    Text(String),
    Children(Vec<(String, Node)>, String),
}

impl Node {
    fn write(&self, json: &mut String, schema: Option<&Schema>, root: Option<&Schema>) {
        let follow = |schema| follow_reference(schema, root);
        let schema = follow(schema);
        match self {
            Self::Text(text) => {
                let empty = Schema::Null;
                let expected = schema.map_or(Expected::ANY, |s| Expected::of(s, root.unwrap_or(&empty)));
                match read_text(text, expected) {
                    ArgumentValue::Text(text) => push_string(json, &text),
                    ArgumentValue::Json(text) => json.push_str(&text),
                }
            }
            Self::Children(children, _) if is_list(children, schema, root) => {
                let items = find(schema, root, 0, &|s| s.get("items"));
                Self::write_list(json, children.iter().map(|(_, child)| child), items, root);
            }
            Self::Children(children, mixed) => Self::write_object(json, children, mixed, schema, root),
        }
    }

    fn write_list<'n>(
        json: &mut String,
        nodes: impl Iterator<Item = &'n Self>,
        items: Option<&Schema>,
        root: Option<&Schema>,
    ) {
        json.push('[');
        for (i, node) in nodes.enumerate() {
            json.push_str(if i > 0 { ", " } else { "" });
            node.write(json, items, root);
        }
        json.push(']');
    }

    /// Children of one name are a list; text among them is a member of its own.
    fn write_object(
        json: &mut String,
        children: &[(String, Self)],
        mixed: &str,
        schema: Option<&Schema>,
        root: Option<&Schema>,
    ) {
        let mut groups: Vec<(&str, Vec<&Self>)> = Vec::new();
        let mut keys = Keys::default();
        for (key, child) in children {
            let name = |i: usize| groups.get(i).map(|(k, _)| Cow::Borrowed(*k));
            let same = keys.position(key, groups.len(), name);
            match same.and_then(|i| groups.get_mut(i)) {
                Some((_, nodes)) => nodes.push(child),
                None => groups.push((key, vec![child])),
            }
        }
        let mut objects = Vec::new();
        variants(schema, root, 0, &mut objects);
        json.push('{');
        for (i, (key, nodes)) in groups.iter().enumerate() {
            json.push_str(if i > 0 { ", " } else { "" });
            push_string(json, key);
            json.push_str(": ");
            let of = find(schema, root, 0, &|s| s.get("properties").and_then(|p| p.get(*key)))
                .or_else(|| find(schema, root, 0, &|s| s.get("additionalProperties").filter(|a| a.is_object())));
            // Where one object of a union types the member and another leaves it open, it is text.
            let of =
                of.filter(|_| objects.len() < 2 || objects.iter().all(|object| has(object, key) || closed(object)));
            match nodes.as_slice() {
                [one] => one.write(json, of, root),
                many => {
                    let items = find(of, root, 0, &|s| s.get("items"));
                    Self::write_list(json, many.iter().copied(), items.or(of), root);
                }
            }
        }
        if !mixed.is_empty() {
            json.push_str(if groups.is_empty() { "" } else { ", " });
            let mut key = String::from("$text");
            while groups.iter().any(|(k, _)| *k == key) {
                key.insert(0, '$');
            }
            push_string(json, &key);
            json.push_str(": ");
            push_string(json, mixed);
        }
        json.push('}');
    }
}

/// The object of a schema has a member of this name.
fn has(object: &Schema, key: &str) -> bool {
    object.get("properties").is_some_and(|p| p.get(key).is_some())
}

/// The schema wants a list, and no object of it has members of the children's names. Where it is silent, though the tool is
/// known, several that are all named `item` are one: templates write lists so, and nothing else says `item` twice.
fn is_list(children: &[(String, Node)], schema: Option<&Schema>, root: Option<&Schema>) -> bool {
    let wanted = || {
        find(schema, root, 0, &|s| s.get("items")).is_some()
            || find(schema, root, 0, &|s| s.get("type").filter(|t| *t == "array")).is_some()
    };
    let silent = || root.is_some_and(|root| schema.is_none_or(|s| Expected::of(s, root).is_any()));
    let several = children.len() > 1 && children.iter().all(|(key, _)| key == "item");
    if !(several && silent() || wanted()) {
        return false;
    }
    let mut objects = Vec::new();
    variants(schema, root, 0, &mut objects);
    !objects.iter().any(|object| children.iter().all(|(key, _)| has(object, key)))
}

/// A value that is written as elements, as the schema's object or list: `<item>a</item><item>b</item>`.
pub(super) fn nested(text: &str, schema: Option<&Schema>, root: Option<&Schema>, max_depth: usize) -> Option<String> {
    let mut reader = Tree::new(text, max_depth);
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

/// So many different tags are looked for inside a value; of what has more, the others are text.
const NAMES: usize = 64;

/// Reads elements from the text between the call's markers.
struct Tree<'t> {
    text: &'t str,
    at: usize,
    prefix: &'t str,
    max_depth: usize,
    /// Something was nested deeper.
    deep: bool,
    /// The element of the top level that the text ends in, and what there is of it.
    cut: Option<(String, String)>,
    /// An element that opens twice may yet be read once more.
    retry: bool,
    /// Where tags are wrong, and what is.
    slips: Vec<(usize, &'static str)>,
    /// Tags below the top level that were found to be text: they are not tried again.
    text_tags: HashSet<usize>,
    /// Where the last closing tag of a name stands.
    closers: Vec<(&'t str, Option<usize>)>,
    /// The tool that is called, where its parameters are read.
    tool: Option<&'t Tool>,
    /// The elements of the top level so far.
    taken: Vec<&'t str>,
}

impl<'t> Tree<'t> {
    fn new(text: &'t str, max_depth: usize) -> Self {
        Self {
            text,
            at: 0,
            prefix: "",
            max_depth,
            deep: false,
            cut: None,
            retry: false,
            slips: Vec::new(),
            text_tags: HashSet::new(),
            closers: Vec::new(),
            tool: None,
            taken: Vec::new(),
        }
    }

    /// `rest` behind the prefix of tags. To look for an empty one would be right as well, but loading nothing from nowhere is
    /// slow.
    fn behind_prefix(&self, rest: &'t str) -> Option<&'t str> {
        if self.prefix.is_empty() { Some(rest) } else { rest.strip_prefix(self.prefix) }
    }

    /// The name in the closing tag that `rest` begins with.
    fn closing(&self, rest: &'t str) -> Option<&'t str> {
        let rest = self.behind_prefix(rest)?.strip_prefix("</")?;
        rest.get(..rest.find('>')?).filter(|name| !name.is_empty() && !name.contains(['<', '\n']))
    }

    /// A closing tag stands here that was meant for `name`: its length. Only behind a prefix, which no text has.
    fn misspelt(&self, name: &str) -> Option<usize> {
        let tag = if self.prefix.is_empty() { None } else { self.closing(self.rest()) }?;
        misspelt::is_slip(tag, name).then_some(self.prefix.len() + tag.len() + 3)
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The opening tag at the cursor: its name and where it ends.
    fn opening(&self) -> Option<(&'t str, usize)> {
        let rest = self.behind_prefix(self.rest())?.strip_prefix('<')?;
        if rest.starts_with('/') {
            return None;
        }
        let length = rest.find(['>', '<', '\n', '"'])?;
        let name = rest.get(..length)?.trim();
        if name.is_empty() || rest.as_bytes().get(length) != Some(&b'>') {
            return None;
        }
        Some((name, self.at + self.prefix.len() + length + 2))
    }

    /// The tag at the cursor was not found to be text, and behind `end`, where it does, its closing one stands.
    fn may_close(&mut self, name: &'t str, closer: &str, end: usize) -> bool {
        if self.text_tags.contains(&self.at) {
            return false;
        }
        let known = self.closers.iter().find(|(known, _)| *known == name).map(|(_, last)| *last);
        let last = match known {
            Some(last) => last,
            None if self.closers.len() >= NAMES => return false,
            None => {
                let last = memchr::memmem::rfind(self.text.as_bytes(), closer.as_bytes());
                self.closers.push((name, last));
                last
            }
        };
        last.is_some_and(|last| last >= end)
    }

    /// The text without the beginning of a tag at its end.
    fn without_cut_tag(&self, text: &str) -> String {
        let tag = if self.prefix.is_empty() { "<" } else { self.prefix };
        let cut = (1..tag.len()).rev().find(|n| tag.get(..*n).is_some_and(|tag| text.ends_with(tag)));
        text.get(..text.len() - cut.unwrap_or(0)).unwrap_or(text).to_owned()
    }

    /// The next element among white space.
    fn element(&mut self, depth: usize) -> Option<(String, Node)> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        if depth > self.max_depth {
            self.deep = true;
            self.at = self.text.len();
            return None;
        }
        let (name, end) = self.opening()?;
        let closer = format!("{}</{name}>", self.prefix);
        if depth > 0 && self.prefix.is_empty() && !self.may_close(name, &closer, end) {
            return None;
        }
        let opener = self.text.get(self.at..end).unwrap_or_default();
        let again = self.text.get(end..).unwrap_or_default().trim_ascii_start().starts_with(opener);
        let (first, mut closes) = (self.at, closer.len());
        self.at = end;
        let start = end;
        let mut children = Vec::new();
        let mut mixed = String::new();
        // Where another parameter stands, behind text, that may follow this one.
        let mut follows = None;
        loop {
            if self.rest().starts_with(&closer) {
                break;
            }
            let text_start = self.at;
            let tag = if self.prefix.is_empty() { "<" } else { self.prefix };
            let rest = self.rest();
            let next = rest.find(tag).unwrap_or(rest.len());
            self.at += next;
            let text = self.text.get(text_start..self.at).unwrap_or("");
            if self.rest().is_empty() {
                if again && depth == 0 && std::mem::take(&mut self.retry) {
                    self.slips.push((first, "an element's opening tag stood twice"));
                    self.at = start;
                    return self.element(depth);
                }
                if depth == 0 && children.is_empty() && follows.is_none() {
                    self.cut = self.text.get(start..).map(|text| (name.to_owned(), self.without_cut_tag(text)));
                }
                return self.ends_before((depth, name, first, start), follows);
            }
            if !text.trim().is_empty() {
                mixed.push_str(text);
            }
            if self.rest().starts_with(&closer) {
                break;
            }
            if let Some(length) = self.misspelt(name) {
                self.slips.push((self.at, "an element's closing tag is misspelt"));
                closes = length;
                break;
            }
            let before = self.at;
            if depth == 0 && follows.is_none() && !mixed.is_empty() && children.is_empty() && self.may_follow(name) {
                follows = Some(before);
            }
            match self.element(depth + 1) {
                Some(child) => children.push(child),
                // Nothing of it will be read, however often it is tried further out.
                None if self.deep => return None,
                None => {
                    // No element stands here: the tag is text.
                    self.text_tags.insert(before);
                    self.at = before + tag.len();
                    if self.prefix.is_empty() {
                        mixed.push_str(tag);
                    } else {
                        return self.ends_before((depth, name, first, start), follows);
                    }
                }
            }
        }
        let node = if children.is_empty() {
            Node::Text(self.text.get(start..self.at).unwrap_or("").to_owned())
        } else {
            Node::Children(children, mixed.trim().to_owned())
        };
        self.at += closes;
        let rest = self.rest();
        let blank = rest.len() - rest.trim_ascii_start().len();
        if !self.prefix.is_empty() && depth == 0 && rest.get(blank..).is_some_and(|rest| rest.starts_with(&closer)) {
            self.slips.push((self.at, "an element's closing tag stood twice"));
            self.at += blank + closer.len();
        }
        if depth == 0 && self.tool.is_some() {
            self.taken.push(name);
        }
        Some((name.to_owned(), node))
    }

    /// The element that opens at the cursor is a parameter of the tool that is not there yet.
    fn may_follow(&self, name: &str) -> bool {
        let declared = |key: &str| self.tool.is_some_and(|tool| tool.parameters.iter().any(|(name, _)| name == key));
        self.opening().is_some_and(|(key, _)| key != name && declared(key) && !self.taken.contains(&key))
    }

    /// The element `name` of the top level, which opens at `first`, and its text at `start`, is never closed: it ends
    /// before the parameter that `follows` it. If none does, it is none.
    #[cold]
    fn ends_before(
        &mut self,
        (depth, name, first, start): (usize, &'t str, usize, usize),
        follows: Option<usize>,
    ) -> Option<(String, Node)> {
        if depth > 0 || self.prefix.is_empty() {
            return None;
        }
        let Some(next) = follows else {
            self.at = first;
            return None;
        };
        self.slips.push((next, "an element's closing tag is missing"));
        self.taken.push(name);
        self.at = next;
        Some((name.to_owned(), Node::Text(self.text.get(start..next).unwrap_or_default().to_owned())))
    }
}

/// The objects that a schema, or one that it is a union of, describes.
fn variants<'s>(schema: Option<&'s Schema>, root: Option<&'s Schema>, depth: usize, into: &mut Vec<&'s Schema>) {
    let Some(schema) = follow_reference(schema, root).filter(|_| depth <= 16 && into.len() < 64) else { return };
    let parts = |key: &str| schema.get(key).and_then(Schema::as_array);
    match parts("anyOf").or_else(|| parts("oneOf")) {
        Some(parts) => parts.iter().for_each(|part| variants(Some(part), root, depth + 1, into)),
        None if schema.get("properties").is_some() || schema.get("type").is_some_and(|t| t == "object") => {
            into.push(schema);
        }
        None => {}
    }
}

/// An object of this schema has no members but those it names.
fn closed(object: &Schema) -> bool {
    object.get("additionalProperties").is_some_and(|a| *a == Schema::Bool(false)) || object.get("properties").is_some()
}

/// What `look` finds in a schema or in what it is combined of.
pub(super) fn find<'s>(
    schema: Option<&'s Schema>,
    root: Option<&'s Schema>,
    depth: usize,
    look: &dyn Fn(&'s Schema) -> Option<&'s Schema>,
) -> Option<&'s Schema> {
    let schema = follow_reference(schema, root)?;
    if depth > 16 {
        return None;
    }
    look(schema).or_else(|| {
        ["anyOf", "oneOf", "allOf"].iter().find_map(|key| {
            schema.get(*key)?.as_array()?.iter().find_map(|part| find(Some(part), root, depth + 1, look))
        })
    })
}

/// The schema that `$ref` points to, or the schema itself.
fn follow_reference<'s>(schema: Option<&'s Schema>, root: Option<&'s Schema>) -> Option<&'s Schema> {
    let schema = schema?;
    match (schema.get("$ref").and_then(Schema::as_str), root) {
        (Some(reference), Some(root)) => root.pointer(reference.strip_prefix('#')?),
        _ => Some(schema),
    }
}
