//! Documents of XML and HTML: an element named after a tool is one of theirs.
use super::before::WHOLE_LINE;
use crate::char_class;
use crate::engine::{Engine, Reader};

/// Elements of HTML that models write round anything, and those that nothing closes.
const NEUTRAL: [&str; 16] = [
    "p", "br", "hr", "li", "ul", "ol", "img", "input", "meta", "link", "details", "summary", "div", "span", "center",
    "xml",
];

/// What the name of an element has that holds calls, or what is said round them.
const ROUND_CALLS: [&str; 24] = [
    "tool",
    "call",
    "action",
    "function",
    "invoke",
    "use",
    "think",
    "thought",
    "reason",
    "respon",
    "answer",
    "output",
    "assistant",
    "step",
    "plan",
    "message",
    "agent",
    "command",
    "task",
    "request",
    "exec",
    "run",
    "reply",
    "model",
];

/// The element of a page, in which nothing need be indented.
pub(super) const PAGE: &str = "html";

/// What closes it, and how a text begins that is one.
const PAGE_ENDS: &str = "</html";
const PAGES: [&str; 2] = ["<!doctype html", "<html"];

/// So many elements are open in one another.
const MOST: usize = 16;

impl Engine {
    /// The element at `at` stands in a document of XML, which says so and whose first element is still open, or in an element of some
    /// other name, whose tag stands in a line of its own. In a page that begins the text, whatever stands right below markup does.
    pub(in crate::engine) fn in_document(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let begun = self.text_begins();
        let text = cx.slice(begun, at);
        if text.len() > WHOLE_LINE {
            return false;
        }
        if cx.bytes().get(at) != Some(&b'<') {
            let above =
                text.trim_end_matches([' ', '\t']).strip_suffix('\n').unwrap_or_default().trim_end_matches('\r');
            return above.ends_with('>') && begins_page(text) && !text.contains(PAGE_ENDS);
        }
        let elements = text.trim_start().strip_prefix("<?xml ").and_then(|text| text.split_once("?>"));
        let root = elements.and_then(|(_, elements)| elements.trim_start().strip_prefix('<'));
        let name = root.map(name).unwrap_or_default();
        if !name.is_empty() && !text.contains(&format!("</{name}")) {
            return true;
        }
        // Mostly nothing is indented, and there is no page: then the lines above need not be read.
        let indent = memchr::memrchr(b'\n', text.as_bytes()).and_then(|end| text.get(end + 1..)).unwrap_or_default();
        let indented = !indent.is_empty() && indent.trim_ascii().is_empty();
        (indented || self.around.before.page(cx, begun, at)) && in_element(cx, text)
    }
}

/// The `text` is a page from its beginning on.
fn begins_page(text: &str) -> bool {
    let text = text.trim_ascii_start();
    PAGES.iter().any(|page| text.get(..page.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(page)))
}

/// The name that the tag behind its first sign begins with.
fn name(tag: &str) -> &str {
    tag.split(|c| !char_class::ELEMENT.has(c)).next().unwrap_or_default()
}

/// An element is open at the end of `text` that holds no calls, and what follows is a part of it: it is indented in that, and only
/// markup stands between. Prose or a blank line ends it, as models name an element in a line of its own as well.
fn in_element(cx: &Reader<'_>, text: &str) -> bool {
    let mut open: Vec<(&str, usize)> = Vec::new();
    let (above, indent) = text.rsplit_once('\n').unwrap_or_default();
    for whole in above.lines() {
        let line = whole.trim_ascii();
        if !line.starts_with('<') {
            if !(line.is_empty() && is_page(&open)) {
                open.clear();
            }
            continue;
        }
        if let Some(at) = line.rfind("</") {
            let closed = name(line.get(at + 2..).unwrap_or_default());
            if let Some(last) = open.iter().rposition(|(known, _)| *known == closed) {
                open.truncate(last);
            }
            continue;
        }
        let tag = line.strip_prefix('<').and_then(|line| line.strip_suffix('>')).unwrap_or_default();
        let named = name(tag);
        let alone = !tag.contains(['<', '>']) && !tag.ends_with('/');
        let spaced = matches!(tag.as_bytes().get(named.len()), None | Some(b' '));
        if alone && spaced && named.starts_with(|c: char| c.is_ascii_alphabetic()) && open.len() < MOST {
            open.push((named, whole.len() - whole.trim_ascii_start().len()));
        }
    }
    let neutral = |name: &str| NEUTRAL.iter().any(|known| known.eq_ignore_ascii_case(name));
    let round = |name: &str| {
        let name = name.to_ascii_lowercase();
        ROUND_CALLS.iter().any(|word| name.contains(word)) || cx.offered(&name)
    };
    open.retain(|(name, _)| !neutral(name));
    (is_page(&open) || open.last().is_some_and(|(_, depth)| indent.len() > *depth && indent.trim_ascii().is_empty()))
        && !open.iter().any(|(name, _)| round(name))
}

/// A page is among the `open` elements.
fn is_page(open: &[(&str, usize)]) -> bool {
    open.iter().any(|(name, _)| name.eq_ignore_ascii_case(PAGE))
}
