//! Slips among the tags of elements that stand behind a prefix: which are mended, as what stands round them leaves one
//! reading, and which lose an argument.
use super::tree::{Open, Tree};
use super::{Node, find};
use crate::engine::misspelt;
use crate::schema::Expected;
use crate::turn::RepairCode;
use serde_json::Value as Schema;

/// No text among elements that is left out is longer. What is may be a value that lost its tags.
const LONGEST_TEXT: usize = misspelt::LONGEST_TAG;

impl<'t> Tree<'t> {
    /// Passes the prefix where it stands twice, up to the last one.
    pub(super) fn skip_prefix(&mut self) {
        let twice = |rest: &'t str| rest.strip_prefix(self.prefix).is_some_and(|rest| rest.starts_with(self.prefix));
        let mut at = self.at;
        while self.mends && twice(self.text.get(at..).unwrap_or_default()) {
            at += self.prefix.len();
        }
        if at > self.at {
            self.slips.push((self.at, RepairCode::Marker, "what stands before a tag stood twice"));
            self.at = at;
        }
    }

    /// Passes the closing tag of the last child of `open`, behind this blank `text`, if it closes nothing else.
    pub(super) fn skip_last_closer(&mut self, open: &Open<'t>, text: &str) -> bool {
        let Some((last, _)) = open.children.last().filter(|_| self.mends && text.trim().is_empty()) else {
            return false;
        };
        let mut outer = self.outer.iter().take(open.depth + 1);
        let Some(tag) = self.closing(self.rest()).filter(|tag| tag == last) else { return false };
        if outer.any(|outer| outer.name == tag) {
            return false;
        }
        self.slips.push((self.at, RepairCode::Marker, "an element's closing tag stood twice"));
        self.at += self.prefix.len() + tag.len() + 3;
        true
    }

    /// A closing tag stands here that was meant for the element `name` at `depth`: the name of that, how long the tag is, and
    /// what is wrong. Only behind a prefix, which no text has.
    #[cold]
    pub(super) fn misspelt(&self, depth: usize, name: &'t str) -> Option<(&'t str, usize, &'static str)> {
        let tag = if self.prefix.is_empty() { None } else { self.closing(self.rest()) }?;
        if !misspelt::is_slip(tag, name) {
            return None;
        }
        let length = self.prefix.len() + tag.len() + 3;
        let closing = Some((name, length, "an element's closing tag is misspelt"));
        let Some(tool) = self.tool else { return closing };
        let within = self.outer.iter().take(depth).try_fold(&tool.schema, |of, outer| {
            member(Some(of), &tool.schema, outer.name).or_else(|| items(Some(of), &tool.schema))
        });
        let names = |name: &str| member(within, &tool.schema, name).is_some();
        match (names(name), names(tag)) {
            (true, false) => closing,
            (false, true) if depth > 0 || !self.is_taken(tag) => {
                Some((tag, length, "an element's opening tag is misspelt"))
            }
            // What a list holds may be called anything.
            (false, false) if depth > 0 && items(within, &tool.schema).is_some() => closing,
            // Nobody knows which of the two was meant.
            _ => None,
        }
    }

    /// What closes the element around one at `depth` stands at the cursor, and not once more behind it.
    pub(super) fn outer_closes(&self, depth: usize) -> bool {
        let outer = depth.checked_sub(1).and_then(|depth| self.outer.get(depth)).filter(|_| self.mends);
        let closes = |rest: &'t str| self.closing(rest).filter(|tag| outer.is_some_and(|outer| outer.name == *tag));
        let Some(tag) = closes(self.rest()) else { return false };
        let behind = self.rest().get(self.prefix.len() + tag.len() + 3..).unwrap_or_default();
        closes(behind.trim_ascii_start()).is_none()
    }

    /// The element that is `open` holds a text, and what closes the one around it, at the cursor, can only end both: no
    /// tag of the text may have lost its prefix, and the other one holds elements.
    pub(super) fn ends_with_outer(&self, open: &Open<'t>) -> bool {
        let text = self.text.get(open.start..open.end).unwrap_or_default();
        let outer = open.depth.checked_sub(1).and_then(|depth| self.outer.get(depth));
        let holds_elements = outer.is_some_and(|outer| {
            let expected =
                self.tool.filter(|_| open.depth == 1).map_or(Expected::ANY, |tool| tool.expected(outer.name));
            !outer.mixed && !expected.allows(Expected::STRING)
        });
        let whole = open.children.is_empty() && !text.trim().is_empty() && !text.contains('<');
        whole && holds_elements && !self.is_missing(open.name)
    }

    /// The element behind text at the cursor that is none: an element that is not there yet, where nothing of it, nor of
    /// another one, may stand in the text.
    #[cold]
    pub(super) fn behind_text(&mut self) -> Option<(String, Node<'t>)> {
        let rest = self.rest();
        let text = rest.get(..rest.find(self.prefix).filter(|_| self.mends)?)?;
        let (at, slips, inside) = (self.at, self.slips.len(), text.trim());
        let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let names = |text: &str| text.split(|c| !word(c)).any(|name| self.is_missing(name));
        if inside.is_empty() || inside.len() > LONGEST_TEXT || inside.contains(['<', '\n']) || names(inside) {
            return None;
        }
        self.slips.push((at, RepairCode::Surroundings, "what is no parameter was left out"));
        self.at += text.len();
        self.skip_prefix();
        let fits = |name: &str| self.tool.map_or_else(|| !self.is_taken(name), |_| self.is_missing(name));
        let element = match self.opening() {
            Some((name, _)) if fits(name) => self.element(0),
            _ => None,
        };
        if element.is_none() {
            (self.at, self.cut) = (at, None);
            self.slips.truncate(slips);
        }
        element
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
}

/// The schema of a member `name` in what has the schema `of`, or is a list of such.
fn member<'s>(of: Option<&'s Schema>, root: &'s Schema, name: &str) -> Option<&'s Schema> {
    let property = |of| find(of, Some(root), 0, &|schema| schema.get("properties")?.get(name));
    property(of).or_else(|| property(items(of, root)))
}

/// The schema of what a list holds.
fn items<'s>(of: Option<&'s Schema>, root: &'s Schema) -> Option<&'s Schema> {
    find(of, Some(root), 0, &|schema| schema.get("items"))
}
