//! What shows that a parameter was lost: its opening tag cannot be read, so it hides in its neighbour's text or between the
//! two. A call that lost one is malformed.
use super::open::Openings;
use super::value::{Within, holds_key};
use super::*;
use crate::dialect::special;
use crate::engine::body::names;
use crate::engine::look::{seen, told};

/// What models call an attribute that holds a value.
const VALUE: &str = "value";

/// So much of a line is looked at.
const LINE: usize = 1024;

impl OpenValue {
    /// Behind its closing marker, which ends at `end`, stands a tag like what opens a parameter, or named after one that the
    /// tool has, and the value holds no such tag: it ended, and the next parameter is written in some other way. Whether that
    /// is lost, or just one more marker.
    #[cold]
    pub(super) fn lost_parameter(
        &mut self,
        cx: &Reader<'_>,
        within: &Within<'_>,
        hit: usize,
        end: usize,
    ) -> Look<bool> {
        if self.tagged || self.closes_by_key() {
            return Look::No;
        }
        let Within { row, called, .. } = within;
        let next = seen!(misspelt::behind(cx, end));
        let Some(tag) = told!(misspelt::opening(cx, next)) else {
            return self.broken_opening(cx, within, hit, next).map(|()| true);
        };
        let name = |opener: &str| misspelt::name(opener).len();
        let like = |p: &Parameter| misspelt::is_like(tag.name, misspelt::name(&p.opener)) && name(&p.opener) > 0;
        // What opens the value alone, behind the key that is lost.
        let opens = |e: &Element| matches!(e, Element::Literal(text) if text.starts_with('<') && misspelt::name(text) == tag.name);
        let value = |p: &Parameter| p.head.iter().skip(1).any(opens);
        let declared = called.is_some_and(|tool| tool.declares(tag.name));
        if !(row.parameters.iter().any(like)
            || row.parameters.iter().any(value)
            || declared && self.lacks(cx, within, tag.name))
        {
            return self.broken_opening(cx, within, hit, next).map(|()| true);
        }
        let opening = format!("<{}", tag.name);
        let tagged = self.holds_tag(cx, hit, &opening);
        let marker = |p: &Parameter| p.opener.ends_with('>') && cx.rest(tag.at).starts_with(&*p.opener);
        if tagged { Look::No } else { Look::Is(!row.parameters.iter().any(marker)) }
    }

    /// At `next`, behind its closing marker, stands what was meant to open a parameter: the tag of one with a sign missing
    /// or too many, or one with a name of its own that names a parameter which the tool has. The value holds no such text.
    #[cold]
    fn broken_opening(&mut self, cx: &Reader<'_>, within: &Within<'_>, hit: usize, next: usize) -> Look<()> {
        let near = cx.near(next, 2 * misspelt::LONGEST_TAG);
        // What it is stands in its line.
        let length = memchr::memchr2(b'>', b'\n', near);
        if length.is_none() && cx.may_go_on(near.len(), 2 * misspelt::LONGEST_TAG) {
            return Look::More;
        }
        let near = cx.ahead(next, length.unwrap_or(near.len()));
        let Within { row, called, .. } = within;
        let free = |key: &str| called.is_some_and(|tool| tool.declares(key)) && self.lacks(cx, within, key);
        let inside = near.trim_start_matches('<').trim_start();
        let opened = inside.len() < near.len();
        let word = |text: &str| text.split(['=', ' ', '>', '<', '"', '\'', '\n', ':']).next().unwrap_or_default().len();
        let (name, behind) = inside.split_at(word(inside));
        // `<parameter name="a"`, `< parameter=a>`, `parameter=a>`.
        let named = |p: &Parameter| !name.is_empty() && misspelt::name(&p.opener) == name;
        let own = (opened || behind.starts_with(['=', ' '])) && row.parameters.iter().any(named);
        // `<argument=a>`, `<arg name="a">`.
        let value = behind.trim_start().trim_start_matches("name").trim_start_matches(['=', ' ', '"', '\'', ':']);
        let other = opened && !name.is_empty() && behind.starts_with(['=', ' ', ':']) && free(&value[..word(value)]);
        // `a</arg_key>`: only what closes its key is there.
        let closed = !opened && behind.starts_with("</") && free(name);
        // `|open|>argument key="a"`: the first token has lost its first sign.
        let begins = |opener: &str| near.len() > 2 && opener.get(1..).is_some_and(|rest| rest.starts_with(near));
        let cut = row.parameters.iter().any(|p| begins(&p.opener) && special(&p.opener));
        if !(own || other || closed || cut) {
            return Look::No;
        }
        let tag = format!("<{name}");
        if self.holds_tag(cx, hit, &tag) { Look::No } else { Look::Is(()) }
    }

    /// Up to `end`, where nothing closed it, it holds a tag named after it that closes nothing, or one that begins a line or follows
    /// another and names a parameter which the tool has and the call lacks: that one is written in some other way.
    #[cold]
    pub(super) fn holds_lost(&self, cx: &Reader<'_>, within: &Within<'_>, end: usize) -> bool {
        if self.closes_by_key() {
            return false;
        }
        let (text, key) = (cx.slice(self.start, end), self.key(cx));
        let holds = |tag: &str| find(text.as_bytes(), tag.as_bytes()).is_some();
        if holds(&format!("</{key}>")) && !holds(&format!("<{key}")) {
            return true;
        }
        let Within { called: Some(tool), .. } = *within else { return false };
        let lacks = |name: &str| !name.is_empty() && tool.declares(name) && self.lacks(cx, within, name);
        memchr::memchr_iter(b'<', text.as_bytes()).map(|i| self.start + i).any(|at| {
            if !(cx.at_line_start(at) || cx.follows_tag(at)) {
                return false;
            }
            let near = cx.ahead(at, (2 * misspelt::LONGEST_TAG).min(end - at));
            let Some((tag, behind)) = near.split_once('>').filter(|(tag, _)| !tag.starts_with("</")) else {
                return false;
            };
            // `<path>`, `<param name="path">`, `<key>path</key>`.
            let named = tag.split(|c| !char_class::NAME.has(c)).any(lacks);
            named || lacks(behind.split(['<', '\n']).next().unwrap_or_default().trim())
        })
    }

    /// Its closing marker, which ends at `end`, closes nothing in it and is not just spoken of: a line ends there, or text goes
    /// on at once, or a tag does. An element stays in its text, unless it may be a parameter's marker.
    #[cold]
    pub(super) fn stray_closer(&self, cx: &Reader<'_>, within: &Within<'_>, end: usize) -> Look<()> {
        if self.openings != Openings::None || self.tagged || self.closes_by_key() {
            return Look::No;
        }
        let rest = cx.bytes().get(end..).unwrap_or_default();
        let next = end + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        match cx.bytes().get(next) {
            Some(b'\n' | b'\r' | b'<') => match misspelt::opening(cx, cx.skip_space(next)) {
                Look::Is(tag) => self.stray_element(cx, within, tag.at),
                Look::More => Look::More,
                Look::No => Look::Is(()),
            },
            Some(byte) if next == end && byte.is_ascii_alphanumeric() => Look::Is(()),
            None if !cx.eof => Look::More,
            _ => Look::No,
        }
    }

    /// An element at `at`, behind its closing marker, is the marker of a parameter if it names one that the call lacks, or is
    /// written as the dialect's own: `<key>a</key>`, `<parame:er=a>`, `<file_a>`. With its lines to itself it is another one's value.
    #[cold]
    fn stray_element(&self, cx: &Reader<'_>, within: &Within<'_>, at: usize) -> Look<()> {
        let near = cx.near(at, 2 * misspelt::LONGEST_TAG);
        let tag = memchr::memchr(b'>', near).map_or(near.len(), |i| i + 1);
        let text = near.get(tag..).unwrap_or_default();
        let length = memchr::memchr2(b'<', b'\n', text);
        if length.is_none() && cx.may_go_on(near.len(), 2 * misspelt::LONGEST_TAG) {
            return Look::More;
        }
        let text = cx.ahead(at + tag, length.unwrap_or(text.len())).trim();
        let tag = cx.slice(at, at + tag);
        let Within { row, called, .. } = within;
        let part = |key: &str| {
            let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
            let (tag, key) = (tag.as_bytes(), key.as_bytes());
            let mut found = memchr::memmem::find_iter(tag, key);
            found.any(|i| i > 0 && !letter(tag.get(i - 1)) && !letter(tag.get(i + key.len())))
        };
        let names = |key: &str| !key.is_empty() && (text == key || part(key)) && self.lacks(cx, within, key);
        let like = |p: &Parameter| misspelt::is_slip(misspelt::name(tag), misspelt::name(&p.opener));
        let own = special(tag) || row.parameters.iter().any(like);
        let named = || called.is_some_and(|tool| tool.parameters.iter().any(|(key, _)| names(key)));
        if own || named() { Look::Is(()) } else { self.has_own_lines(cx, within, at) }
    }

    /// What begins at `at`, behind a closing marker, goes on to the end of its line, without another one.
    #[cold]
    fn has_own_lines(&self, cx: &Reader<'_>, within: &Within<'_>, at: usize) -> Look<()> {
        let near = cx.near(at, LINE);
        let closer = self.closer(within.parameter).as_bytes();
        match memchr::memchr(b'\n', near) {
            Some(line) => Look::when(find(near.get(..line).unwrap_or_default(), closer).is_none()),
            None if find(near, closer).is_some() => Look::No,
            None => cx.ran_out(near.len(), LINE),
        }
    }
}

impl Parameters {
    /// The `junk` between the parameters may be the key of one, which has no value of its own. The call lost that if it holds one
    /// (`<arg_key>path=a</arg_key>`) or is the last; else the next one stands for it. What the schema requires it misses in any case.
    pub(super) fn see_lone_key(&mut self, cx: &Reader<'_>, row: &Row, called: Option<&Tool>, junk: &str) {
        let missing = |key: &str| called.is_some_and(|tool| tool.declares(key)) && !holds_key(cx, &self.members, key);
        let Some((key, value)) = lone_key(row, junk).filter(|(key, _)| missing(key)) else { return };
        self.broken |= value;
        self.lone = !called.is_some_and(|tool| tool.requires(key));
    }
}

/// The attributes at `range` of a parameter's tag, which no template has, hold its value.
#[cold]
pub(super) fn has_value(cx: &Reader<'_>, range: &Range<usize>) -> bool {
    names(cx.part(range), VALUE)
}

/// Markup between the parameters with text that belonged to one: a value that lost its key or its marker. A key alone is
/// none. With other text `before` it, what closes a value shows that there was one.
pub(super) fn lost_value(row: &Row, junk: &str, before: bool) -> bool {
    let text = junk.split_once('>').map_or("", |(_, text)| text.trim());
    let attributes = |p: &Parameter| p.head.iter().any(|e| matches!(e, Element::Attributes(_)));
    let opens = || row.parameters.iter().any(|p| attributes(p) && junk.starts_with(&*p.opener));
    // What opens the value alone, behind the key that is lost.
    let tag = |element: &Element| matches!(element, Element::Literal(tag) if tag.starts_with('<') && junk.starts_with(&**tag));
    let begins = |element: &&Element| matches!(element, Element::Literal(tag) if tag.starts_with('<'));
    let last = |p: &Parameter| p.head.iter().skip(1).rfind(begins).is_some_and(tag);
    let value = || row.parameters.iter().any(last);
    if before && row.parameters.iter().any(|p| p.closer.starts_with("</") && junk.starts_with(&*p.closer)) {
        return !row.by_name();
    }
    !text.is_empty() && !row.by_name() && (junk.starts_with("</") || opens() || value())
}

/// The key of a parameter that the `junk` between the parameters begins with, and whether something stands beside it.
fn lone_key<'t>(row: &Row, junk: &'t str) -> Option<(&'t str, bool)> {
    let keyed = |p: &&Parameter| p.opener.starts_with('<') && matches!(p.head.get(1), Some(Element::Slot(_)));
    let text = row.parameters.iter().filter(keyed).find_map(|p| junk.strip_prefix(&*p.opener))?;
    let text = text.split_once('>').map_or(text, |(_, text)| text).trim_ascii_start();
    let key = text.split(|c| !char_class::NAME.has(c)).next().filter(|key| !key.is_empty())?;
    Some((key, text.len() > key.len() && !text.trim_ascii_end().ends_with(key)))
}

/// The `junk` between the parameters is an element named after one that the tool has and that is not `given`, or was meant as one.
pub(super) fn lost_named(tool: Option<&Tool>, junk: &str, given: impl Fn(&str) -> bool) -> bool {
    let Some((name, _)) = junk.strip_prefix('<').and_then(|tag| tag.split_once('>')) else { return false };
    let name = name.trim_start_matches('/');
    tool.is_some_and(|tool| tool.parameters.iter().any(|(key, _)| misspelt::is_slip(name, key) && !given(key)))
}
