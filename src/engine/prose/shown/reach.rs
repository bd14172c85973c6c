//! How far it goes what shows a call by standing above it: the calls right behind that one, in the same form, are shown as well.
use crate::char_class;
use crate::engine::body::BodyState;
use crate::engine::prose::runaway::is_one_of;
use crate::engine::prose::words::example::has_blank_line;
use crate::engine::prose::words::heading::{is_item_sign, is_next_item, is_rule};
use crate::engine::prose::words::mentioned::in_first_person;
use crate::engine::reader::blank;
use crate::engine::{Look, Memo, Reader};
use crate::json::{Part, Quoting};

/// What begins another part of the sentence that shows the first call: a choice, whatever words it has,
const CHOICES: [&str; 5] = ["or", "nor", "oder", "ou", "或"];

/// but for one that corrects what was shown,
const CORRECTS: [&str; 4] = ["rather", "better", "instead", "actually"];

/// or something more of the same, and what else stands there then. "Then:" alone says what is done next.
const ADDS: [&str; 9] = ["and", "followed by", "plus", "as well as", "another", "und", "et", "y", "o"];
const ADDED: [&str; 13] =
    ["this", "that", "these", "the", "following", "one", "another", "also", "then", "next", "after", "finally", "even"];

/// A choice has no more words.
const MOST_WORDS: usize = 5;

/// So much may stand between two calls that are shown.
const GAP: usize = 64;

/// An item of a list of calls has no longer words before its call.
const LONGEST_ITEM: usize = 192;

/// What stands in a call before its first bracket is no longer.
const LONGEST_HEAD: usize = 256;

/// What was shown and is not closed within so many bytes does not hold what stands there.
const LONGEST_OPEN: usize = 4096;

/// How a call is written that no markers enclose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// An object or a list of JSON's, or a call of Python's.
    Bare,
    /// Behind a dialect's label.
    Labelled,
    /// A tag that is named after a tool.
    Tag,
    Fence,
    /// It was not seen where it ends.
    Unknown,
}

impl Form {
    fn of(cx: &Reader<'_>, at: usize) -> Self {
        match cx.bytes().get(at) {
            Some(b'<') => Self::Tag,
            Some(b'`' | b'~') => Self::Fence,
            _ if cx.dialects.labels.iter().any(|label| cx.rest(at).starts_with(label.as_str())) => Self::Labelled,
            _ => Self::Bare,
        }
    }
}

/// The last call that was shown by what stands above it.
#[derive(Debug, Clone, Copy)]
struct Shown {
    form: Form,
    start: usize,
    /// It is told as a result, which goes no further than its paragraph.
    told: bool,
    /// It stands in a list that is headed by what shows it: the next item is shown as well.
    listed: bool,
    /// It has been followed so far: so many brackets are open there, or a string is.
    read: usize,
    depth: usize,
    string: Quoting,
    ends: Option<usize>,
}

/// What was shown last, and how far it was followed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reach {
    shown: Option<Shown>,
    /// What stands above this place shows what stands there, be that a call or not; and whether that is an item of a list.
    seen: Option<(usize, bool)>,
}

impl Reach {
    /// What stands above `at` shows what stands there, which is an item of a list if that is `listed`.
    pub(in crate::engine) fn sees(&mut self, at: usize, listed: bool) {
        self.seen = Some((at, listed));
    }

    /// What was shown last is an item of a list.
    pub(in crate::engine) fn is_listed(&self) -> bool {
        self.shown.is_some_and(|shown| shown.listed)
    }

    /// A call stands at `at`: if it is shown by what stands above it, that may go on behind it.
    pub(in crate::engine) fn begins_if_seen(&mut self, cx: &Reader<'_>, at: usize) {
        if let Some((_, listed)) = self.seen.filter(|(seen, _)| *seen == at) {
            self.begins(cx, at, false, listed);
        }
    }

    /// What stands above shows the call at `at`, or tells it as a result.
    pub(in crate::engine) fn begins(&mut self, cx: &Reader<'_>, at: usize, told: bool, listed: bool) {
        // What stands in another one goes as far as that.
        if let Some(shown) = self.shown.as_mut().filter(|shown| at >= shown.start && at - shown.start <= LONGEST_OPEN)
            && (shown.start == at || shown.follow(cx, at) && shown.is_open() || shown.is_head_of(cx, at))
        {
            return;
        }
        let (form, string) = (Form::of(cx, at), Quoting::default());
        self.shown = Some(Shown { form, start: at, told, listed, read: at, depth: 0, string, ends: None });
    }

    /// The body of the fence begins at `body`: if that was shown, it is followed from there on.
    pub(in crate::engine) fn enters_fence(&mut self, body: usize) {
        let fence = self.shown.as_mut().filter(|shown| shown.form == Form::Fence && shown.ends.is_none());
        if let Some(shown) = fence {
            shown.read = body;
        }
    }

    /// The fence of code that was shown last is closed at `end`. If no call begins it, those behind it are something else.
    pub(in crate::engine) fn ends_fence(&mut self, cx: &Reader<'_>, end: usize) {
        let Some(shown) = self.shown.as_mut().filter(|shown| shown.form == Form::Fence && shown.ends.is_none()) else {
            return;
        };
        shown.ends = Some(end);
        let memo = Memo::default();
        let fence = &cx.up_to_with(end, &memo);
        let body = fence.skip_space(shown.read);
        let form = Form::of(fence, body);
        let tag = || form == Form::Tag && fence.offered(tag_name(fence, body));
        let name = || fence.slice(body, body + char_class::QUALIFIED_NAME.length(fence.near(body, LONGEST_HEAD)));
        if !(form == Form::Labelled || tag() || fence.offered(name()) || BodyState::bare(fence, body) != Look::No) {
            self.shown = None;
        }
    }

    /// What stands at `at` is shown with the call before it: nothing but a word that joins the two stands between, or the title of the
    /// next item of a list. The last call that is made ends at `called`.
    pub(in crate::engine) fn covers(&mut self, cx: &Reader<'_>, called: usize, at: usize) -> bool {
        let Some(shown) = self.shown.as_mut().filter(|shown| called <= shown.start && at >= shown.start) else {
            return false;
        };
        if shown.start == at {
            return true;
        }
        if shown.form != Form::of(cx, at) && !shown.is_open() || !shown.follow(cx, at) {
            return false;
        }
        let Some(end) = shown.ends else {
            let opens = cx.before(at, GAP).trim_end().ends_with(['[', '(', ',']);
            return shown.is_open() && opens && at - shown.start <= LONGEST_OPEN;
        };
        let gap = cx.slice(end, at);
        let apart = shown.told && has_blank_line(gap);
        let item = || is_item_sign(cx.line_before(shown.start, GAP));
        let next = || gap.len() <= LONGEST_ITEM && joins_item(cx.before(shown.start, LONGEST_ITEM), gap);
        !apart && (gap.len() <= GAP && joins(gap, item()) || shown.listed && next())
    }
}

impl Shown {
    /// It goes on where it was followed up to.
    fn is_open(&self) -> bool {
        self.ends.is_none() && self.depth > 0 && !self.string.is_open()
    }

    /// What stands at `at` is its object, and only its labels stand before that.
    fn is_head_of(&self, cx: &Reader<'_>, at: usize) -> bool {
        let begun = self.ends.is_none() && self.depth == 0;
        self.form == Form::Labelled && begun && !has_blank_line(cx.slice(self.start, at))
    }

    /// Follows it up to `at`; what has no end within reach is none.
    fn follow(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        if self.ends.is_some() {
            return true;
        }
        match self.form {
            Form::Fence | Form::Unknown => return false,
            Form::Tag => self.follow_tag(cx, at),
            Form::Bare | Form::Labelled => self.follow_brackets(cx, at),
        }
        self.ends.is_some() || self.depth > 0
    }

    fn follow_tag(&mut self, cx: &Reader<'_>, at: usize) {
        let name = tag_name(cx, self.start);
        let text = cx.slice(self.read, at);
        let mut closers = memchr::memmem::find_iter(text.as_bytes(), b"</").map(|i| self.read + i + 2);
        let closes = |at: &usize| cx.rest(*at).strip_prefix(name).is_some_and(|rest| rest.starts_with('>'));
        self.ends = closers.find(closes).map(|at| at + name.len() + 1);
        self.read = at;
    }

    fn follow_brackets(&mut self, cx: &Reader<'_>, at: usize) {
        for byte in cx.bytes().get(self.read..at).unwrap_or_default().iter().copied() {
            let outside = self.string.read(byte, |escaped| self.depth > 0 && !escaped) == Part::Outside;
            self.read += 1;
            match byte {
                b'{' | b'[' | b'(' if outside => self.depth += 1,
                b'}' | b']' | b')' if outside && self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.ends = Some(self.read);
                        return;
                    }
                }
                _ => {}
            }
            // No bracket opens it: it has no end that could be seen.
            if self.depth == 0 && self.read - self.start > LONGEST_HEAD {
                self.form = Form::Unknown;
                return;
            }
        }
    }
}

/// The name of the tag at `at`.
fn tag_name<'t>(cx: &Reader<'t>, at: usize) -> &'t str {
    let near = cx.near(at + 1, LONGEST_HEAD);
    cx.slice(at + 1, at + 1 + char_class::ELEMENT.length(near))
}

/// Nothing but the sign of an item and its title stands in the `gap` between two calls, and it follows the item in which the text
/// `before` the first one ends.
fn joins_item(before: &str, gap: &str) -> bool {
    let mut lines = gap.lines().filter(|line| !line.trim_ascii().is_empty());
    let (next, more) = (lines.next(), lines.next());
    let above = before.trim_ascii_end().rsplit('\n').next().unwrap_or_default();
    more.is_none() && next.is_some_and(|line| is_next_item(line, above))
}

/// Nothing stands in the `gap` between two calls, or a comma, or a word that joins them; before an `item` of a list, its sign.
fn joins(gap: &str, item: bool) -> bool {
    if gap.lines().any(is_rule) {
        return false;
    }
    let sign = |c: char| blank(c) || matches!(c, ',' | ';' | ':' | '*' | '_');
    let last = gap.rsplit_once('\n').filter(|(_, line)| item && is_item_sign(line));
    let words = last.map_or(gap, |(above, _)| above).trim_matches(sign);
    words.is_empty() || goes_on_with(words) || words.eq_ignore_ascii_case("then") && !gap.contains(':')
}

/// The `words` between two calls go on with the sentence above the first one, and say nothing else.
fn goes_on_with(words: &str) -> bool {
    if words.contains(['\n', '.', '!', '?']) {
        return false;
    }
    let behind = |begin: &str| {
        let (first, rest) = words.split_at_checked(begin.len())?;
        (is_one_of(first, &[begin]) && !rest.starts_with(char::is_alphanumeric)).then_some(rest)
    };
    let each = |text| str::split(text, |c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let choice = CHOICES.iter().find_map(|begin| behind(begin));
    let corrects = |rest| each(rest).next().is_some_and(|word| is_one_of(word, &CORRECTS));
    choice.is_some_and(|rest| each(rest).count() < MOST_WORDS && !in_first_person(rest) && !corrects(rest))
        || ADDS.iter().filter_map(|begin| behind(begin)).any(|rest| each(rest).all(|word| is_one_of(word, &ADDED)))
}
