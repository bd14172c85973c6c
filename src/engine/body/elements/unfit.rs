//! Elements whose tags do not fit: what can be read of them up to what closes the call.
use super::tag::{Kind, Tag};
use super::{Elements, Node, Tree, Within};
use crate::dialect::{Element, Trim, opener};
use crate::engine::body::Progress;
use crate::engine::found::Value;
use crate::engine::look::told;
use crate::engine::output::Output;
use crate::engine::reader::floor;
use crate::engine::writer::Writer;
use crate::engine::{Look, Reader, misspelt};
use crate::schema::{Expected, Tool};
use crate::turn::{CallStatus, Repair, RepairCode};
use std::collections::HashSet;

/// Where what closes the call is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unfit {
    searched: usize,
    /// How many calls are open that an element shows: what closes them stands before it.
    shown: usize,
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
            match cx.literal(self.searched, within.closer) {
                Look::Is(_) if self.shown == 0 => return Look::Is(self.searched),
                Look::Is(_) => self.shown -= 1,
                Look::More => return Look::More,
                // Where one is shown, others may be as well.
                Look::No if self.shown > 0 => {
                    if told!(Tag::of_call(cx, within, self.searched)).is_some() {
                        self.shown += 1;
                    }
                }
                Look::No => {}
            }
            self.searched += first.len();
        }
    }
}

impl Elements {
    /// The tags do not fit. Up to where they do, an element that is open may show calls, whose closing tags they are.
    pub(super) fn does_not_fit(&self) -> Unfit {
        let open = self.open.as_ref().filter(|open| open.shows_calls());
        let calls = open.iter().flat_map(|open| &open.tags).filter(|tag| tag.kind == Kind::Call);
        Unfit { searched: open.map_or(self.at, |open| open.searched), shown: calls.count() }
    }

    /// Looks for what closes the call, and mends what stands before it.
    pub(super) fn read_rest(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        index: usize,
        within: &Within<'_>,
    ) -> Progress {
        let (mut end, mut status) = match self.unfit.as_mut().map_or(Look::No, |unfit| unfit.closer(cx, within)) {
            Look::Is(end) => (end, CallStatus::Ok),
            Look::More => return Progress::More,
            Look::No => (cx.text.len(), CallStatus::Incomplete),
        };
        let mut tree = Tree::new(cx.slice(self.at, end), within.prefix, cx.policy.max_depth);
        let taken = self.members.list().iter().map(|(key, _)| key.get(cx.text).into_owned()).collect();
        (tree.tool, tree.taken) = (within.tool, taken);
        let mut found = elements(&mut tree, !status.readable());
        if found.is_empty() && !status.readable() && within.trim == Trim::None {
            // What had been given out of a string stays, though nobody knows what it goes on with.
            found.extend(self.open.as_ref().and_then(|open| open.cut(cx)));
        }
        let slips = tree.slips.iter().map(|(at, code, what)| Repair::at(*code, self.at + at, *what));
        self.repairs.extend(slips);
        let rest = tree.rest().trim_ascii_start();
        let at = self.at + tree.text.len() - rest.len();
        if !rest.is_empty() {
            match ends(cx, writer, &tree, at, within.closer) {
                Some(early) => (end, status) = (early, CallStatus::Ok),
                None if !status.readable() => {}
                None if self.lost(cx, writer, within, &tree, found.is_empty()) => status = CallStatus::Malformed,
                // As the server of those with a prefix has it, what was read before it counts.
                None => {
                    let what = "what is no parameter was left out, and all that follows it";
                    self.repairs.push(Repair::at(RepairCode::Surroundings, at, what));
                }
            }
        }
        if tree.deep && status.readable() {
            status = CallStatus::Malformed;
        }
        let told = Some(index).filter(|_| status.readable());
        for (key, node) in found {
            self.add(cx, out, writer, within, told, (key, &node));
        }
        self.finish(out, writer, index, end, status)
    }

    /// What stands behind the elements of `tree`, of which `none` may have been found, is perhaps an argument, or another call.
    fn lost(&self, cx: &Reader<'_>, writer: &Writer, within: &Within<'_>, tree: &Tree<'_>, none: bool) -> bool {
        // Text of it may have left: without it the call is not to be run.
        let told = || self.open.as_ref().is_some_and(|open| open.streams && !open.is_empty(cx));
        within.prefix.is_empty()
            || none && (self.members.list().is_empty() || told())
            || tree.loses()
            || self.loses_text(cx, within, tree)
            || holds_call(cx, writer, tree.rest())
            || within.tool.is_some_and(|tool| closes_parameter(tree.rest(), within.prefix, tool, &tree.taken))
    }
}

impl Elements {
    /// Text stands behind the elements of `tree` that is in none of them, and the last one, which is empty, may have closed before it.
    fn loses_text(&self, cx: &Reader<'_>, within: &Within<'_>, tree: &Tree<'_>) -> bool {
        let text = tree.rest().trim_ascii_start();
        let empty = |value: &Value| matches!(value, Value::Text(text) if text.get(cx.text).trim().is_empty());
        let last = self.members.list().last().is_some_and(|(_, value)| empty(value));
        last && tree.at == 0 && !text.is_empty() && !text.starts_with(within.prefix)
    }
}

/// The elements that stand in `tree`, up to what is none. The text may be `cut` off in the last one.
fn elements<'t>(tree: &mut Tree<'t>, cut: bool) -> Vec<(String, Node<'t>)> {
    let (mut found, tool) = (Vec::new(), tree.tool);
    // What is there of a string that the text ends in is certain, of anything else it is not.
    let expected = |key: &str| tool.map_or(Expected::ANY, |tool| tool.expected(key));
    let certain = |key: &str| expected(key).is_any() || expected(key).allows(Expected::STRING);
    loop {
        match (tree.element(0), tree.cut.take()) {
            (Some(element), _) => found.push(element),
            (None, Some((key, text))) if cut && certain(&key) => {
                tree.at = tree.text.len();
                found.push((key, Node::Text(text)));
            }
            _ => return found,
        }
    }
}

/// A call begins in `text`, so what closes this one may close that.
fn holds_call(cx: &Reader<'_>, writer: &Writer, text: &str) -> bool {
    let begins = |head: &[Element]| opener(head).is_some_and(|first| text.contains(first));
    writer.origin.row(cx).is_some_and(|row| row.calls.iter().any(|call| begins(&call.head)))
}

/// A closing tag named after a parameter of the tool that is not there yet stands in `text`, and its opening one was lost.
fn closes_parameter(text: &str, prefix: &str, tool: &Tool, taken: &HashSet<String>) -> bool {
    let free = tool.parameters.iter().map(|(name, _)| name).filter(|name| !taken.contains(*name));
    let holds = |tag: String| memchr::memmem::find(text.as_bytes(), tag.as_bytes()).is_some();
    free.into_iter().any(|name| holds(format!("</{name}>")) && !holds(format!("{prefix}<{name}>")))
}

/// Where the call ends that has something else than elements at `at`: what closes it is misspelt there, or missing before
/// another call. `None` if neither stands there.
fn ends(cx: &Reader<'_>, writer: &Writer, reader: &Tree<'_>, at: usize, closer: &str) -> Option<usize> {
    let row = writer.origin.row(cx)?;
    let begins = |at: usize| {
        let here = cx.rest(at);
        let first = |elements: &[Element]| opener(elements).is_some_and(|text| here.starts_with(text));
        // What looks like a call's head as well is a parameter of this one.
        let parameter = row.parameters.iter().any(|parameter| here.starts_with(&*parameter.opener));
        here.is_empty()
            || !parameter && row.calls.iter().any(|call| first(&call.head))
            || row.section_closes().any(first)
    };
    if begins(at) {
        return Some(at);
    }
    let tag = reader.closing(cx.rest(at))?;
    let meant = closer.strip_prefix(reader.prefix)?.trim_start_matches("</").trim_end_matches('>');
    let end = at + reader.prefix.len() + tag.len() + 3;
    (misspelt::is_like(tag, meant) && begins(cx.skip_space(end))).then_some(end)
}
