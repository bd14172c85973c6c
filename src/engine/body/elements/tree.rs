//! Reads elements from a text that has come whole.
use super::node::Node;
use super::tag::tags_begin;
use crate::engine::reader::begun;
use crate::schema::{Expected, Tool};
use crate::turn::RepairCode;
use std::collections::HashSet;
use std::ops::Range;

/// So many different tags are looked for inside a value; of what has more, the others are text.
const NAMES: usize = 64;

/// Reads elements from the text between the call's markers.
pub(super) struct Tree<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) prefix: &'t str,
    max_depth: usize,
    /// Something was nested deeper.
    pub(super) deep: bool,
    /// The element of the top level that the text ends in, and what there is of it.
    pub(super) cut: Option<(String, String)>,
    /// Where something is wrong, and what is.
    pub(super) slips: Vec<(usize, RepairCode, &'static str)>,
    /// Tags below the top level that were found to be text, in their order: they are not tried again. Mostly one is found behind
    /// all others.
    text_tags: Vec<usize>,
    /// Where the last closing tag of a name stands.
    closers: Vec<(&'t str, Option<usize>)>,
    /// The tool that is called, where its parameters are read.
    pub(super) tool: Option<&'t Tool>,
    /// The elements of the top level so far.
    pub(super) taken: HashSet<String>,
    /// What is the text of an element, whatever tags stand in it.
    pub(super) texts: Vec<Range<usize>>,
}

/// An element whose closing tag is looked for.
pub(super) struct Open<'t> {
    pub(super) depth: usize,
    pub(super) name: &'t str,
    /// Where its tag stands, and where its text begins and ends, as far as it was read.
    first: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) children: Vec<(String, Node<'t>)>,
    /// The text among them.
    pub(super) mixed: String,
    /// How many slips had been found before it.
    slips: usize,
    /// Where another parameter stands, behind text, that may follow this one.
    follows: Option<usize>,
}

impl Open<'_> {
    /// It is one of the top level, and nothing but text was found in it.
    fn is_text(&self) -> bool {
        self.depth == 0 && self.children.is_empty() && self.follows.is_none()
    }
}

impl<'t> Tree<'t> {
    /// Reads `text`, in which each tag stands behind `prefix`.
    pub(super) fn new(text: &'t str, prefix: &'t str, max_depth: usize) -> Self {
        Self {
            text,
            at: 0,
            prefix,
            max_depth,
            deep: false,
            cut: None,
            slips: Vec::new(),
            text_tags: Vec::new(),
            closers: Vec::new(),
            tool: None,
            taken: HashSet::new(),
            texts: Vec::new(),
        }
    }

    /// `rest` behind the prefix of tags. To look for an empty one would be right as well, but loading nothing from nowhere is
    /// slow.
    fn behind_prefix(&self, rest: &'t str) -> Option<&'t str> {
        if self.prefix.is_empty() { Some(rest) } else { rest.strip_prefix(self.prefix) }
    }

    /// The name in the closing tag that `rest` begins with.
    pub(super) fn closing(&self, rest: &'t str) -> Option<&'t str> {
        let rest = self.behind_prefix(rest)?.strip_prefix("</")?;
        rest.get(..rest.find('>')?).filter(|name| !name.is_empty() && !name.contains(['<', '\n']))
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The opening tag at the cursor: its name and where it ends.
    pub(super) fn opening(&self) -> Option<(&'t str, usize)> {
        self.opens(self.rest()).map(|(name, length)| (name, self.at + length))
    }

    /// The opening tag that `rest` begins with: its name, and how long it is.
    pub(super) fn opens(&self, rest: &'t str) -> Option<(&'t str, usize)> {
        let rest = self.behind_prefix(rest)?.strip_prefix('<')?;
        if rest.starts_with('/') {
            return None;
        }
        let length = rest.bytes().position(|byte| matches!(byte, b'>' | b'<' | b'\n' | b'"'))?;
        let name = rest.get(..length)?.trim();
        if name.is_empty() || rest.as_bytes().get(length) != Some(&b'>') {
            return None;
        }
        Some((name, self.prefix.len() + length + 2))
    }

    /// The tag at the cursor was not found to be text, and behind `end`, where it does, its closing one stands.
    fn may_close(&mut self, name: &'t str, closer: &str, end: usize) -> bool {
        if self.text_tags.last() >= Some(&self.at) && self.text_tags.binary_search(&self.at).is_ok() {
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

    /// The tag at `at` was found to be text.
    fn note_text(&mut self, at: usize) {
        if self.text_tags.last() < Some(&at) {
            self.text_tags.push(at);
        } else if let Err(place) = self.text_tags.binary_search(&at) {
            self.text_tags.insert(place, at);
        }
    }

    /// The text without the beginning of a tag at its end.
    fn without_cut_tag(&self, text: &str) -> String {
        text.get(..text.len() - begun(text, tags_begin(self.prefix))).unwrap_or(text).to_owned()
    }

    /// The next element among white space.
    pub(super) fn element(&mut self, depth: usize) -> Option<(String, Node<'t>)> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        if depth > self.max_depth {
            self.deep = true;
            self.at = self.text.len();
            return None;
        }
        let slips = self.slips.len();
        let (name, end) = self.opening()?;
        let closer = format!("{}</{name}>", self.prefix);
        if depth > 0 && self.prefix.is_empty() && !self.may_close(name, &closer, end) {
            return None;
        }
        let (first, children, mixed) = (self.at, Vec::new(), String::new());
        let mut open = Open { depth, name, first, start: end, end, children, mixed, slips, follows: None };
        let text = self.texts.binary_search_by_key(&end, |text| text.start).ok();
        self.at = text.and_then(|i| self.texts.get(i)).map_or(end, |text| text.end);
        loop {
            let tag = tags_begin(self.prefix);
            let rest = self.rest();
            let text =
                rest.get(..memchr::memmem::find(rest.as_bytes(), tag.as_bytes()).unwrap_or(rest.len())).unwrap_or("");
            self.at += text.len();
            open.end = self.at;
            if self.rest().is_empty() {
                if open.is_text() {
                    self.cut = self.text.get(end..).map(|text| (name.to_owned(), self.without_cut_tag(text)));
                }
                return self.ends_before(&open);
            }
            if !text.trim().is_empty() {
                open.mixed.push_str(text);
            }
            if self.rest().starts_with(&closer) {
                break;
            }
            let before = self.at;
            if open.is_text() && !open.mixed.is_empty() && self.may_follow(name) {
                // The prefix of a closing tag that was lost is no text.
                open.follows = Some(open.end);
            }
            match self.element(depth + 1) {
                Some(child) => open.children.push(child),
                // Nothing of it will be read, however often it is tried further out.
                None if self.deep => return None,
                None => {
                    // No element stands here: the tag is text.
                    self.note_text(before);
                    self.at = before + tag.len();
                    if !self.prefix.is_empty() {
                        let cut = self.text.get(self.at..).is_some_and(|tag| !tag.contains('>'));
                        if cut && open.is_text() {
                            self.cut = self.text.get(end..before).map(|text| (name.to_owned(), text.to_owned()));
                        }
                        return self.ends_before(&open);
                    }
                    open.mixed.push_str(tag);
                }
            }
        }
        Some(self.close(open, &closer))
    }

    /// The element that is open ends here, with the tag `closer`.
    fn close(&mut self, open: Open<'t>, closer: &str) -> (String, Node<'t>) {
        let node = if open.children.is_empty() {
            Node::Text(self.text.get(open.start..open.end).unwrap_or("").to_owned())
        } else {
            let written = self.text.get(open.start..open.end).filter(|_| self.prefix.is_empty());
            Node::Children(open.children, open.mixed.trim().to_owned(), written.unwrap_or_default())
        };
        self.at += closer.len();
        if open.depth == 0 && !self.prefix.is_empty() {
            self.taken.insert(open.name.to_owned());
        }
        (open.name.to_owned(), node)
    }

    /// The element that opens at the cursor is a parameter of the tool that is not there yet.
    fn may_follow(&self, name: &str) -> bool {
        self.opening().is_some_and(|(key, _)| key != name && self.is_missing(key))
    }

    /// The tool has a parameter `name` that is not there yet.
    pub(super) fn is_missing(&self, name: &str) -> bool {
        self.tool.is_some_and(|tool| tool.declares(name)) && !self.is_taken(name)
    }

    /// An element `name` was read.
    pub(super) fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    /// What has not been read holds an argument, or a part of one: what is left out with it would be missing.
    pub(super) fn loses(&self) -> bool {
        let (rest, mut at) = (self.rest(), 0);
        // The elements that are open, and whether text stands outside them, in front.
        let (mut open, mut before): (Vec<&str>, bool) = (Vec::new(), false);
        // The first may be a string that only begins: of it nothing is lost yet but the elements that it cannot hold.
        let vain = |open: &[&str]| {
            let string = |name: &&str| self.tool.and_then(|tool| tool.parameter(name)).is_some_and(Expected::is_string);
            open.len() > 1 && open.first().is_some_and(string) && !open.last().is_some_and(|name| self.is_missing(name))
        };
        loop {
            let here = rest.get(at..).unwrap_or_default();
            let next = here.find(self.prefix).unwrap_or(here.len());
            if !here.get(..next).unwrap_or_default().trim().is_empty() {
                if !open.is_empty() && !vain(&open) {
                    return true;
                }
                before = true;
            }
            at += next;
            if next == here.len() {
                return false;
            }
            let tag = rest.get(at..).unwrap_or_default();
            if let Some(name) = self.closing(tag) {
                let closed = vain(&open);
                match open.pop() {
                    Some(last) if last != name || !closed => return true,
                    None if before => return true,
                    _ => {}
                }
                at += self.prefix.len() + name.len() + 3;
            } else if let Some((name, length)) = self.opens(tag) {
                open.push(name);
                at += length;
            } else {
                at += self.prefix.len();
            }
        }
    }

    /// The element, one of the top level, is never closed: it ends before the parameter that follows it. If none does, it is
    /// none.
    #[cold]
    fn ends_before(&mut self, open: &Open<'t>) -> Option<(String, Node<'t>)> {
        if open.depth > 0 {
            return None;
        }
        self.slips.truncate(open.slips);
        let (name, text) = (open.name, |next: usize| self.text.get(open.start..next).unwrap_or_default());
        // Of its own, a part may stand there.
        let breaks_off = |next: &usize| {
            let text = text(*next).trim_ascii_end();
            text.contains(&format!("</{name}>")) || begun(text, self.prefix) > 0
        };
        let Some(next) = open.follows.filter(|next| !self.prefix.is_empty() && !breaks_off(next)) else {
            self.at = open.first;
            return None;
        };
        let text = text(next).to_owned();
        self.slips.push((next, RepairCode::Marker, "an element's closing tag is missing"));
        self.taken.insert(name.to_owned());
        self.at = next;
        Some((name.to_owned(), Node::Text(text)))
    }
}
