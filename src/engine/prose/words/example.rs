//! What the text itself makes an example: the sentence before it ends in a colon and says so, or it is a part of source code.
use super::announced::{asks_for_answer, in_small_letters, refuses, words};
use super::coded::labels_call;
use super::heading::{
    announces_example, head_of_list, heads_wrong_call, is_item_of_examples, is_item_sign, is_list_of_examples,
    is_of_report, is_titled_example, is_turn_of_example, is_under_examples, parts,
};
use super::instructed::instructs;
use super::lexicon::{BESIDE_FIRST_PERSON, FIRST_PERSON, HEADINGS, SAYS_EXAMPLE, SAYS_EXAMPLE_UNPARTED};
use super::mentioned::{in_first_person, only_mentions, shows_some};
use crate::engine::prose::flow::name_before;
use crate::engine::prose::runaway::is_one_of;
use crate::engine::reader::{blank, floor};
use crate::engine::{Engine, Reader, Without};
use crate::json::{Part, Quoting};
use aho_corasick::AhoCorasick;
use once_cell::sync::Lazy;
use std::borrow::Cow;
use std::ops::Range;

/// What every directive of reStructuredText begins with.
const DIRECTIVE: &[u8] = b".. ";

/// Those that show code.
const DIRECTIVES: [&str; 4] = ["code", "code-block", "sourcecode", "parsed-literal"];

/// So many places before a call are taken for directives.
const MOST_DIRECTIVES: usize = 4;

/// All of these words, with ASCII's letters small or capital, and others small.
static WORDS: Lazy<Option<AhoCorasick>> = Lazy::new(|| {
    let words = SAYS_EXAMPLE.iter().chain(SAYS_EXAMPLE_UNPARTED);
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
});

/// A longer sentence is not looked through, and further behind an example is another paragraph.
const NEAR: usize = 1024;

/// None of the words is as long as this, with the letters before and behind it.
const LONGEST_WORD: usize = 32;

/// What is known of examples in the text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Examples {
    /// Where the last one stood that the text announced.
    last: Option<usize>,
    /// What announced it said only that it is not made: a line with a colon of its own announces something else.
    refused: bool,
    /// No other one stands right behind it: what announced it is of the first person, and may be what that does, or a key.
    pub(in crate::engine) alone: bool,
    /// So was the last one.
    last_alone: bool,
    /// It stands in a list that is headed by what announces it: the next item is one as well.
    pub(in crate::engine) listed: bool,
    /// And the last thing that is a tool's result, as a label says.
    told: Option<ToldResult>,
    /// Where none stands: what was asked about last, behind a call that ended there. Each template asks again.
    none: Option<(usize, usize)>,
    /// No word announces one, no line ends, and no sentence may: several labels may stand in one sentence.
    silent: Without,
    line_break: Without,
    unparted: Without,
}

impl Engine {
    /// What stands at `at` without a marker is an example, or goes on one in the same paragraph.
    pub(in crate::engine) fn is_example(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let taken = self.out.calls.last().map_or(0, |call| call.raw.end);
        if self.around.examples.none == Some((at, taken)) {
            return false;
        }
        let goes_on = self.around.examples.go_on(cx, at);
        let is = goes_on || in_source(cx, at, taken) || self.around.examples.announced(cx, at);
        let examples = &mut self.around.examples;
        if is {
            // What stands behind it may go it on.
            (examples.last, examples.none) = (Some(at), None);
            examples.last_alone = if goes_on { examples.last_alone } else { examples.alone };
        } else {
            examples.none = Some((at, taken));
        }
        is
    }
}

/// A result that is told.
#[derive(Debug, Clone, Copy)]
struct ToldResult {
    /// Where the last thing stood that is one, or a part of it.
    last: usize,
    /// If it is JSON: so many brackets are open in it where it has been read, or one of its strings is.
    read: usize,
    depth: usize,
    string: Quoting,
}

impl ToldResult {
    fn new(at: usize) -> Self {
        Self { last: at, read: at, depth: 0, string: Quoting::default() }
    }

    /// It is JSON, and is over before `at`.
    fn is_over(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let text = cx.bytes().get(self.read..at).unwrap_or_default();
        for (i, byte) in text.iter().copied().enumerate() {
            let outside = self.string.read(byte, |escaped| byte == b'"' && !escaped && self.depth > 0) == Part::Outside;
            match byte {
                b'{' | b'[' if outside => self.depth += 1,
                b'}' | b']' if outside && self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        self.read += i + 1;
                        return true;
                    }
                }
                // It is no JSON.
                _ if self.depth == 0 => break,
                _ => {}
            }
        }
        if self.depth > 0 {
            self.read = at;
        }
        false
    }
}

/// What stands at `at` goes on what stood at the `last` place, in the same paragraph.
fn goes_on(cx: &Reader<'_>, last: Option<usize>, at: usize) -> bool {
    let near = last.filter(|last| at.checked_sub(*last).is_some_and(|length| length <= NEAR));
    near.is_some_and(|last| !has_blank_line(cx.slice(last, at)))
}

impl Examples {
    /// A result that is told stands at `at`.
    pub(in crate::engine) fn tells(&mut self, at: usize) {
        self.told = Some(ToldResult::new(at));
    }

    /// What stands at `at` goes on a result that is told behind the last call, which ends at `called`.
    pub(in crate::engine) fn tells_on(&mut self, cx: &Reader<'_>, called: usize, at: usize) -> bool {
        let Some(told) = self.told.as_mut().filter(|told| told.last >= called) else { return false };
        if !goes_on(cx, Some(told.last), at) {
            return false;
        }
        // Behind a whole object the text goes on with something else.
        if told.is_over(cx, at) {
            self.told = None;
            return false;
        }
        told.last = at;
        true
    }

    /// What stands at `at` goes on the last one.
    fn go_on(&self, cx: &Reader<'_>, at: usize) -> bool {
        let anew = |last: usize| {
            let text = cx.slice(last, at);
            // The value of a key goes on behind a comma.
            let over = self.last_alone && !text.trim_end().ends_with([',', '[', '(', '{', ':']);
            over || self.refused && announces_anew(text) || begins_step(text)
        };
        goes_on(cx, self.last, at) && !self.last.is_some_and(anew)
    }

    /// The line above `at`, or what stands before it in its line, announces an example: it ends in a colon, or is a heading.
    fn announced(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let from = floor(cx.text, at.saturating_sub(NEAR));
        let before = cx.slice(from, at).trim_end();
        let (bytes, end) = (cx.bytes(), from + before.len());
        let line_break = self.line_break.find_last(bytes, from, end, |text| memchr::memrchr(b'\n', text));
        let line = line_break.map_or(0, |i| i + 1 - from);
        self.alone = false;
        let last = self.last.and_then(|last| last.checked_sub(from));
        self.listed = false;
        let Some(label) = before.trim_end_matches(['*', '_', ' ']).strip_suffix([':', '：']) else {
            let heading = before.get(line..).unwrap_or_default();
            // The call may be all of the item.
            let sign = is_item_sign(heading);
            let item = if sign { cx.slice(from, at) } else { before };
            // A sentence in an item, and a call in a paragraph below it, are two things.
            let said = !sign && heading.ends_with(['.', '!', '?', '…']) && has_blank_line(cx.slice(end, at));
            // Behind items of words a title alone is one more: the list is over where a call stands at the margin below it.
            let apart = !sign && cx.slice(end, at).ends_with('\n');
            self.refused = asks_for_answer(last_sentence(heading)) || !said && self.in_refused_list(item, line, apart);
            return self.refused
                || announces_example(heading)
                || heads_wrong_call(heading)
                || is_under_examples(before, line, last)
                || self.in_list_of_examples(item, line, last) && is_list_of_examples(item)
                || is_turn_of_example(before, line);
        };
        // Two of them begin a literal block of reStructuredText.
        let label = label.strip_suffix(':').unwrap_or(label);
        let end = from + label.len();
        let ends =
            |text: &[u8]| memchr::memrchr3(b'.', b'!', b'?', text).max(memchr::memrchr(STOP.as_bytes()[0], text));
        let parted = self.unparted.find_last(bytes, from + line, end, ends);
        let sentence = parted.and_then(|_| last_sentence_begins(label.get(line..)?));
        let start = sentence.map_or(line, |i| line + i);
        let sentence = label.get(start..).unwrap_or_default();
        let heading = sentence.trim_matches(|c: char| !c.is_alphanumeric());
        self.refused = refuses(sentence) || instructs(sentence);
        if self.refused || is_one_of(heading, HEADINGS) || is_of_report(heading) {
            self.alone = !self.refused && sentence.trim_end().ends_with(['"', '\'']);
            return true;
        }
        let whole = from + start..end;
        let start = from + start;
        // What was looked through says nothing, up to a word that may have ended or gone on there.
        let known = self.silent.known(start).map_or(start, |until| until.min(end).saturating_sub(LONGEST_WORD));
        let known = floor(cx.text, known).max(start);
        let says = says_example(cx.slice(known, end), known > start);
        if !says {
            self.silent = self.silent.and(start, end);
        }
        if says && announces(cx.part(&whole)) {
            self.alone = in_first_person(sentence) && !shows_some(sentence);
            return true;
        }
        self.refused = self.in_refused_list(label, line, false);
        self.refused
            || self.in_list_of_examples(label, line, last)
            || is_titled_example(label, line, last)
            || is_turn_of_example(before, line)
    }

    /// The line that begins at `start` and ends the `text` is an item of a list whose head says of each call what it says of one. Where
    /// the call stands `apart` from the item, one of words has none.
    fn in_refused_list(&mut self, text: &str, start: usize, apart: bool) -> bool {
        let head = head_of_list(text, start).filter(|head| !(apart && head.of_words));
        self.listed = head.is_some_and(|head| refuses_below(head.line));
        self.listed
    }

    /// As [`is_item_of_examples`].
    fn in_list_of_examples(&mut self, text: &str, start: usize, last: Option<usize>) -> bool {
        self.listed = is_item_of_examples(text, start, last);
        self.listed
    }
}

/// The `text` ends in a line that announces what follows it, and is no member of an object.
fn announces_anew(text: &str) -> bool {
    let Some((_, line)) = text.trim_end().rsplit_once('\n') else { return false };
    line.trim_end_matches(['*', '_']).ends_with([':', '：']) && !line.contains(['{', '"'])
}

/// The `text` ends in a line that is a heading or a rule, or in which the first person says what it does.
fn begins_step(text: &str) -> bool {
    let Some((_, line)) = text.trim_end().rsplit_once('\n') else { return false };
    if line.contains(['{', '"']) {
        return line.starts_with('#');
    }
    parts(line) || line.ends_with([':', '：']) && in_first_person(line) || is_said(line)
}

/// The `line` is a whole sentence of the first person, or begins or ends with one.
fn is_said(line: &str) -> bool {
    let own = |sentence: &str| {
        let sentence = in_small_letters(sentence);
        let first = words(&sentence).into_iter().find(|word| !BESIDE_FIRST_PERSON.contains(word));
        first.is_some_and(|word| FIRST_PERSON.contains(&word))
    };
    line.ends_with(['.', '!', '…']) && (own(line) || own(last_sentence(line)))
}

/// A line of the `text` has nothing in it, or only blanks.
pub(in crate::engine) fn has_blank_line(text: &str) -> bool {
    memchr::memchr_iter(b'\n', text.as_bytes()).any(|end| {
        let mut below = text.bytes().skip(end + 1).skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        below.next() == Some(b'\n')
    })
}

/// What stands at `at` is a part of source code, or of a block that shows some. Behind a call that was `taken`, what stood before
/// that one is no code.
fn in_source(cx: &Reader<'_>, at: usize, taken: usize) -> bool {
    let before = cx.before(at, NEAR);
    let item = cx.slice(taken.max(at - before.len()), at);
    is_item(cx, item.trim_end())
        || is_assigned(item)
        || in_directive(before)
        || in_message(item)
        || cx.bytes().get(at) != Some(&b'{') && in_subscript(cx, item.trim_end())
}

/// The `text` ends where an element is to follow of what is taken from a name, over several lines: `Annotated[`, `Annotated[str,`. The
/// name is none of a tool or of calls, and no word of a sentence.
fn in_subscript(cx: &Reader<'_>, text: &str) -> bool {
    let open = match text.strip_suffix(',') {
        Some(items) => {
            open_bracket(items.as_bytes()).filter(|open| items.get(*open..).is_some_and(|list| list.contains('\n')))
        }
        None => text.len().checked_sub(1),
    };
    let Some(before) = open.and_then(|open| text.get(..=open)?.strip_suffix('[')) else { return false };
    let name = before.get(before.len() - name_before(before)..).unwrap_or_default();
    let sign = before.get(..before.len() - name.len()).unwrap_or_default().trim_end_matches([' ', '\t']);
    let stands = match sign.bytes().last() {
        None | Some(b'\n') => name.starts_with(|c: char| c.is_ascii_uppercase()),
        Some(sign) => matches!(sign, b':' | b'=' | b'(' | b'[' | b',' | b'|' | b'>') && !name.is_empty(),
    };
    stands && !labels_call(name) && !cx.offered(name)
}

/// What begins a line of comment, in most languages.
pub(in crate::engine) const COMMENTS: [&str; 5] = ["#", "//", "/*", "<!--", "--"];

/// What gives a list to its caller.
const RETURNS: [&str; 2] = ["return", "yield"];

/// The `text` ends where an argument or an item of source code is to follow: `f(`, `calls = [`, `f(1,`, all with comments.
fn is_item(cx: &Reader<'_>, text: &str) -> bool {
    // By the search that is as fast as the processor: the line may be far longer than what is asked of it.
    let line = memchr::memrchr(b'\n', text.as_bytes()).unwrap_or(text.len());
    let (before, line) = text.split_at(line);
    let begins = line.trim_start();
    if COMMENTS.iter().any(|begin| begins.starts_with(begin)) {
        return is_item(cx, before.trim_end());
    }
    match text.as_bytes() {
        [.., b'('] => true,
        [.., b'['] => opens_list(text),
        [before @ .., b','] => {
            let bracket = open_bracket(before).map(|at| text.split_at(at));
            bracket.is_some_and(|(before, behind)| match behind.as_bytes() {
                [b'(', ..] => {
                    // A macro of Rust's has its sign behind its name.
                    let macros = before.strip_suffix('!').filter(|before| name_before(before) > 0);
                    let name = before.get(before.len() - name_before(before)..).unwrap_or_default();
                    // Behind a call of a tool that is not closed, another may stand.
                    !name.is_empty() && !cx.offered(name) || macros.is_some() || is_element(before, behind)
                }
                [b'{', rest @ ..] => {
                    // A literal of a struct, and an item of a list of such: no member begins so.
                    let literal = rest.trim_ascii_start().starts_with(b"\"") && !has_key(rest);
                    literal
                        && (before.ends_with(|c: char| c.is_alphanumeric() || c == ']') || opens_braced_list(before))
                }
                _ => opens_list(text.get(..=before.len()).unwrap_or_default()) || is_element(before, behind),
            })
        }
        _ => false,
    }
}

/// The list or tuple that begins `behind` its bracket with a string is itself an item of source code `before` it.
fn is_element(before: &str, behind: &str) -> bool {
    let inner = behind.get(1..).unwrap_or_default().trim_start();
    if !inner.starts_with(['"', '\'', '`']) {
        return false;
    }
    let before = before.trim_end();
    let outer = match before.strip_suffix(',') {
        Some(items) => open_bracket(items.as_bytes()).and_then(|at| items.get(..=at)).unwrap_or_default(),
        None => before,
    };
    let list = outer.strip_suffix('[').map(str::trim_end);
    opens_list(outer) || list.is_some_and(|before| before.ends_with(','))
}

/// Behind the string that begins the `text` stands the colon of a member.
fn has_key(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let end = text.iter().skip(1).position(|byte| *byte == b'"').map_or(text.len(), |end| end + 2);
    text.get(end..).unwrap_or_default().trim_ascii_start().first() == Some(&b':')
}

/// The `text` ends in the brace of a list of structs: `[]Case{`.
fn opens_braced_list(text: &str) -> bool {
    let before = text.trim_end().strip_suffix('{').unwrap_or_default();
    let name = before.get(before.len() - name_before(before)..).unwrap_or_default();
    !name.is_empty() && before.get(..before.len() - name.len()).is_some_and(|before| before.ends_with(']'))
}

/// The `text` ends in an equals sign behind a name, in a line of its own, and in the margin of the next one: what that holds is assigned
/// to it. Without a margin the line is a label.
fn is_assigned(text: &str) -> bool {
    let above = text.trim_end_matches([' ', '\t']);
    let Some(text) = above.strip_suffix('\n').filter(|_| above.len() < text.len()) else { return false };
    let text = text.trim_end_matches([' ', '\t', '\r']);
    let broken = text.strip_suffix('\\').map(str::trim_end);
    let Some(to) = broken.unwrap_or(text).strip_suffix('=') else { return false };
    let to = to.strip_suffix(':').unwrap_or(to).trim_end();
    let line = to.get(line_start(to, to.len())..).unwrap_or_default().trim_start();
    let labels = || broken.is_none() && labels_call(line.trim_end());
    name_before(line) > 0 && !labels() && line.split_whitespace().count() <= LONGEST_TARGET
}

/// What a value is assigned to is no longer, in words: `pub const CALL: &str`.
const LONGEST_TARGET: usize = 4;

/// The bracket at the end of `text` begins a list of source code.
fn opens_list(text: &str) -> bool {
    let Some(before) = text.strip_suffix('[').map(str::trim_end) else { return false };
    before.ends_with(['=', '(']) || RETURNS.iter().any(|word| before.ends_with(word))
}

/// Where the last bracket stands that nothing in `text` closes. Those in strings count as well: they are mostly in pairs.
pub(in crate::engine) fn open_bracket(text: &[u8]) -> Option<usize> {
    let mut closed = 0_usize;
    text.iter().rposition(|byte| match byte {
        b')' | b']' | b'}' => {
            closed += 1;
            false
        }
        b'(' | b'[' | b'{' if closed == 0 => true,
        b'(' | b'[' | b'{' => {
            closed -= 1;
            false
        }
        _ => false,
    })
}

/// The first line of a message of HTTP's begins or ends so, with its version.
const HTTP: [&str; 2] = ["HTTP/1.", "HTTP/2"];

/// So many lines of headers are looked at.
const MOST_HEADERS: usize = 16;

/// What the line of a request begins with, whose version documentation leaves out.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// The `line` asks a server for something: `POST /tools/call`.
fn is_request(line: &str) -> bool {
    let place = |place: &str| place.starts_with(['/', 'h']) && !place.contains(' ') && place.contains('/');
    line.split_once(' ').is_some_and(|(method, target)| METHODS.contains(&method) && place(target))
}

/// The `text` ends in the headers of a message of HTTP's, which shows one: what stands behind them was sent, or came back.
fn in_message(text: &str) -> bool {
    let header = |line: &str| {
        let name = line.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
        name > 0 && line.get(name..).is_some_and(|rest| rest.starts_with(": "))
    };
    let mut rest = text.trim_ascii_end();
    for _ in 0..MOST_HEADERS {
        let line_break = memchr::memrchr(b'\n', rest.as_bytes());
        let line = rest.get(line_break.map_or(0, |i| i + 1)..).unwrap_or_default();
        if is_request(line) {
            return true;
        }
        if !header(line) {
            let behind = memchr::memrchr(b' ', line.as_bytes()).and_then(|i| line.get(i + 1..)).unwrap_or(line);
            return HTTP.iter().any(|version| line.starts_with(version) || behind.starts_with(version));
        }
        rest = rest.get(..line_break.unwrap_or(0)).unwrap_or_default().trim_ascii_end();
    }
    false
}

/// `text` ends in the block of a directive that shows code: all lines behind that are blank or further in than it, and what
/// ends here is.
fn in_directive(text: &str) -> bool {
    let above = text.trim_end_matches([' ', '\t']);
    if above.len() == text.len() || !(above.is_empty() || above.ends_with('\n')) {
        return false;
    }
    // Of what else is written so, in code, little is looked at.
    memchr::memmem::rfind_iter(text.as_bytes(), DIRECTIVE).take(MOST_DIRECTIVES).any(|at| {
        let margin = at - line_start(text, at);
        let Some((first, block)) = text.get(at..).and_then(|text| text.split_once('\n')) else { return false };
        let name = first.trim_start_matches(['.', ' ']).split_once("::").map(|(name, _)| name);
        name.is_some_and(|name| DIRECTIVES.contains(&name))
            && text.get(at - margin..at).is_some_and(|before| indent(before) == margin)
            && block.split_inclusive('\n').all(|line| indent(line) > margin || line.trim_ascii().is_empty())
    })
}

/// Where the line begins that `at` stands in.
fn line_start(text: &str, at: usize) -> usize {
    text.as_bytes().get(..at).and_then(|before| memchr::memrchr(b'\n', before)).map_or(0, |end| end + 1)
}

/// How many blanks the line begins with.
fn indent(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// What ends a sentence with no blank behind it.
const STOP: &str = "。";

/// The `line` says of what stands below it that it is not made, or how it is written, or heads it as what is not made here.
fn refuses_below(line: &str) -> bool {
    let line = line.trim_matches(blank).trim_end_matches(['*', '_', ' ']);
    let Some(label) = line.strip_suffix([':', '：']) else { return asks_for_answer(last_sentence(line)) };
    let sentence = last_sentence(label);
    let heading = sentence.trim_matches(|c: char| !c.is_alphanumeric());
    refuses(sentence) || instructs(sentence) || is_one_of(heading, HEADINGS) || is_of_report(heading)
}

/// The last sentence of the `line`.
fn last_sentence(line: &str) -> &str {
    last_sentence_begins(line).and_then(|begins| line.get(begins..)).unwrap_or(line)
}

/// Where the last sentence of the `line` begins, behind another.
fn last_sentence_begins(line: &str) -> Option<usize> {
    let ends = memchr::memrchr3_iter(b'.', b'!', b'?', line.as_bytes());
    let parted = ends.map(|i| i + 1).find(|end| line.as_bytes().get(*end) == Some(&b' ')).map(|end| end + 1);
    // By its first byte, as most lines have none: that is looked for at the processor's full width.
    let mut stops = memchr::memrchr_iter(STOP.as_bytes().first().copied().unwrap_or_default(), line.as_bytes());
    let stop = stops.find(|i| line.get(*i..).is_some_and(|rest| rest.starts_with(STOP)));
    let sentence = parted.max(stop.map(|i| i + STOP.len()))?;
    // "e.g. " ends no sentence, and its own does not begin behind it.
    let abbreviated = line.get(..sentence).is_some_and(|text| text.trim_end().ends_with("e.g."));
    (!abbreviated).then_some(sentence)
}

/// A word in the sentence, or in the rest of one that `goes_on` here, says that an example follows.
pub(in crate::engine) fn says_example(sentence: &str, goes_on: bool) -> bool {
    said(sentence, goes_on, |_, _| true)
}

/// As [`says_example`], of a whole sentence, and whoever writes it does nothing with the example.
fn announces(sentence: &str) -> bool {
    said(sentence, false, |sentence, word| !only_mentions(sentence, word.start, word.end))
}

/// A word of the sentence, or of the rest of one that `goes_on` here, speaks of an example, and `is` so.
fn said(sentence: &str, goes_on: bool, is: impl Fn(&str, Range<usize>) -> bool) -> bool {
    let Some(words) = &*WORDS else { return false };
    let sentence = if sentence.is_ascii() { Cow::Borrowed(sentence) } else { Cow::Owned(sentence.to_lowercase()) };
    words.find_overlapping_iter(&*sentence).any(|found| {
        let unparted = found.pattern().as_usize() >= SAYS_EXAMPLE.len();
        let stands = || !(goes_on && found.start() == 0) && stands_alone(&sentence, found.start(), found.end());
        (unparted || stands()) && is(&sentence, found.range())
    })
}

/// The word between two places of the `sentence` stands for itself: `example.com` and `my_example` are names.
fn stands_alone(sentence: &str, start: usize, end: usize) -> bool {
    let before = sentence.get(..start).and_then(|text| text.chars().next_back());
    let next = sentence.get(end..).and_then(|text| text.chars().next());
    let alone = |c: char| blank(c) || matches!(c, '*' | '"' | '“' | '(' | '#' | ',' | ')' | '”');
    before.is_none_or(alone) && next.is_none_or(alone)
}
