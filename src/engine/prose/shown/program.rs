//! What programs have: behind the calls in a fence, where half a name may stand as well, and round what looks like a call.
use super::before::{LINE_BEFORE, NEAR_MARKER};
use super::code::Fence;
use crate::char_class;
use crate::dialect::Key;
use crate::engine::body::python::Python;
use crate::engine::prose::invented::RESULTS;
use crate::engine::prose::runaway::is_one_of;
use crate::engine::prose::words::example::open_bracket;
use crate::engine::reader::{blank, floor, invisible};
use crate::engine::{Engine, Look, Reader, Step, Taken, Without};
use crate::turn::{Issue, IssueCode};

impl Engine {
    /// What stands at `start` in the fence, up to `at`, is no call: the fence is code, unless the text ends in half a name there.
    pub(crate) fn fence_ends_in(&mut self, cx: &Reader<'_>, fence: Fence, start: usize, at: usize) -> Step {
        // Where no call of Python's may stand, a stream waits for none.
        if self.out.calls.len() == fence.calls || !fence.may_hold_python(cx) || !Python::cut_name(cx, start) {
            return self.fence_is_code(cx, fence, at);
        }
        let what = "a call is cut off in its name, which stays text";
        self.out.issue(Issue::at(IssueCode::IncompleteCall, start, what));
        self.fence_closes(cx, fence, start)
    }

    /// Behind calls, a line at `at` that only prints what one of them gave says nothing.
    pub(in crate::engine) fn printing_line(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        Python::prints_variable(cx, at).take(|end| {
            let what = format!("a line that only prints what a call gave was left out: {:?}", cx.slice(at, end));
            self.out.issue(Issue::at(IssueCode::EnvelopeMember, at, what));
            self.remove(cx, at, end);
            Taken::Done
        })
    }
}

/// What begins a block of a Python program.
const BLOCKS: [&str; 14] = [
    "def", "for", "while", "if", "elif", "else", "try", "except", "finally", "with", "async", "class", "match", "case",
];

/// What begins the line of a traceback that says where the line below stands.
const FRAME: &str = "File \"";

/// A call as Python writes it stands at `at`, or a list of such.
fn is_python_call(cx: &Reader<'_>, at: usize) -> bool {
    let text = cx.near(at, NEAR_MARKER);
    let text = text.strip_prefix(b"[").unwrap_or(text);
    let name = text.iter().take_while(|byte| char_class::QUALIFIED_NAME.has_ascii(**byte)).count();
    name > 0 && text.get(name) == Some(&b'(')
}

/// The line above that of `at` is a statement of a program, or a block of one stands there; calls, comments and blank lines may stand
/// between. A list of calls is none of a program's statements: it is one only right below another. Below a blank line, values that a
/// sentence above them announces are settings. What was called ends at `begun`, and is no statement. A `script` of JavaScript's has other
/// statements as well.
fn behind_statement(cx: &Reader<'_>, begun: usize, at: usize, script: bool, calls: &mut Without) -> bool {
    let window = cx.before(at, LINE_BEFORE);
    let below = calls_above(cx, window, at, calls);
    let mut rest = window.get(..below).and_then(|above| above.strip_suffix('\n')).unwrap_or_default();
    let list = cx.bytes().get(at) == Some(&b'[');
    let mut end = (at - window.len() + below).saturating_sub(1);
    let (mut block, mut parted, mut assigned) = (false, false, false);
    loop {
        let begins = memchr::memrchr(b'\n', rest.as_bytes()).map_or(0, |i| i + 1);
        let line = one_line(rest.get(begins..).unwrap_or_default());
        if line.starts_with([' ', '\t']) {
            block = true;
        } else if parted && is_assignment(line) {
            assigned = true;
        } else if is_statement(line)
            || script && in_javascript(line)
            || block && opens_block(line)
            || !(parted || list) && logs(cx, line)
        {
            return true;
        } else if closes(line) {
            return !list && ends_statement(cx, begun, end, script);
        } else if !(line.is_empty() || is_comment(line) || is_call_line(line)) {
            return false;
        }
        if list && !is_call_line(line) {
            return false;
        }
        parted |= line.is_empty();
        end -= rest.len() - begins;
        let Some(above) = rest.get(..begins).and_then(|above| above.strip_suffix('\n')) else { return assigned };
        (rest, end) = (above, end - 1);
    }
}

/// In the `window` right before `at`, where the lines begin that stand right above it and are calls: none says of a program what the
/// lines above it do not say. What is known of them in `calls` is not read again. The first line of the window may have been cut.
fn calls_above(cx: &Reader<'_>, window: &str, at: usize, calls: &mut Without) -> usize {
    let first = at - window.len();
    let mut begins = at;
    let since = loop {
        if let Some(since) = calls.begins(begins) {
            break since;
        }
        let above = window.get(..begins - first).and_then(|above| above.strip_suffix('\n')).unwrap_or_default();
        let Some(line_break) = memchr::memrchr(b'\n', above.as_bytes()) else { break begins };
        let line = one_line(above.get(line_break + 1..).unwrap_or_default());
        if !is_call_line(line) || is_statement(line) || logs(cx, line) {
            break begins;
        }
        begins = first + line_break + 1;
    };
    if since < at {
        *calls = Without::default().and(since, at);
    }
    match since.checked_sub(first) {
        Some(since) => since,
        None => memchr::memchr(b'\n', window.as_bytes()).map_or(0, |end| end + 1),
    }
}

/// What stands indented at `at` follows a statement of a program that does not begin in the text: it stands in the line above, but for
/// comments, calls and blank lines. As in [`behind_statement`], it may be one of a `script`.
fn beside_statement(cx: &Reader<'_>, begun: usize, at: usize, indented: &[u8], script: bool) -> bool {
    let line_begins = at - indented.len();
    let mut end = line_begins;
    let depth = |line: &str| line.len() - line.trim_ascii_start().len();
    let (mut parted, mut deeper) = (false, false);
    for whole in cx.before(line_begins, LINE_BEFORE).split_inclusive('\n').rev() {
        let (line, indent) = (whole.trim_ascii(), depth(whole));
        let ends = end - (whole.len() - whole.trim_ascii_end().len());
        end -= whole.len();
        if line.is_empty() || is_comment(line) {
            parted |= line.is_empty();
        } else if indent > indented.len() {
            deeper = true;
        } else if deeper {
            return indent == indented.len() && begins_block(line);
        } else if closes(line) {
            return ends_statement(cx, begun, ends, script);
        } else if is_statement(line) || script && in_javascript(line) || takes(line) {
            return indent > 0 || !(parted && is_assignment(line));
        } else if !is_call_line(line) {
            return false;
        }
    }
    false
}

/// `line` gives a name what another thing has. In a margin it is code: elsewhere such a value may be a host or a file.
fn takes(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(to, value)| is_name(to) && is_name(value) && value.contains('.'))
}

/// `line` begins a block of a Python program.
fn begins_block(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    line.ends_with(':') && BLOCKS.contains(&word)
}

/// `line` is a comment of Python's, and no heading of several signs, or of a language with slashes.
fn is_comment(line: &str) -> bool {
    line.starts_with("# ") || line.starts_with("// ")
}

/// `line` only closes what lines above it opened.
fn closes(line: &str) -> bool {
    let signs = line.strip_suffix(';').unwrap_or(line);
    !signs.is_empty() && signs.len() <= MOST_CLOSED && signs.bytes().all(|byte| matches!(byte, b')' | b']' | b'}'))
}

/// A line closes no more than so many brackets.
const MOST_CLOSED: usize = 4;

/// The brackets in which the line ends that `end`s there close a statement of a program: a value that is assigned, or a call that no model
/// makes. Where it does not begin in the text, a semicolon says that it is one of a `script`.
fn ends_statement(cx: &Reader<'_>, begun: usize, end: usize, script: bool) -> bool {
    let text = cx.slice(floor(cx.text, end.saturating_sub(LINE_BEFORE)).max(begun), end).trim_ascii_end();
    let semicolon = text.ends_with(';');
    let Some(open) = text.trim_end_matches(';').as_bytes().split_last().and_then(|(_, inner)| open_bracket(inner))
    else {
        return script && semicolon && begun == 0;
    };
    let (before, behind) = text.split_at_checked(open).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default().trim_ascii_start();
    let called = behind.starts_with('(');
    if line.split_once(" = ").is_some_and(|(to, _)| to.split(' ').count() <= 2 && to.split(' ').all(is_target)) {
        return true;
    }
    let name = line.strip_prefix("await ").unwrap_or(line);
    called && is_own(cx, name)
}

/// `line` opens a block of a Python program, whose lines are indented: a sentence would begin with a capital letter.
fn opens_block(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let Some(head) = line.strip_suffix(':') else { return false };
    match word {
        "def" | "async" => head.ends_with(')') || head.contains(") -> "),
        "class" => head.split_whitespace().count() == 2 || head.ends_with(')'),
        "for" => head.contains(" in ") && (head.ends_with([')', ']']) || head.split_whitespace().count() == 4),
        "if" | "while" => {
            head.ends_with([')', ']', '"', '\''])
                || [" == ", " != ", " > ", " < "].iter().any(|sign| head.contains(sign))
        }
        "with" => head.contains(") as ") || head.ends_with(')'),
        "try" | "else" | "finally" => head == word,
        "except" => head.split_whitespace().count() <= 4,
        _ => false,
    }
}

/// `line` is the head of a function or a class of Python's.
pub(in crate::engine) fn defines(line: &str) -> bool {
    ["def ", "async ", "class "].iter().any(|word| line.starts_with(word)) && opens_block(line)
}

/// `line` is a call as Python writes it, whole.
pub(in crate::engine) fn is_call_line(line: &str) -> bool {
    let line = line.strip_suffix(';').unwrap_or(line);
    let name = line.bytes().take_while(|byte| char_class::QUALIFIED_NAME.has_ascii(*byte)).count();
    name > 0 && line.as_bytes().get(name) == Some(&b'(') && line.ends_with(')')
}

/// What programs have that no model calls a tool of: they write what they do to it, or are of it themselves.
const OWN: [&str; 6] = ["log", "logger", "logging", "console", "self", "this"];

/// `name` is of what only programs have: `self.log.info`. What anything else has may be a tool that nobody offered, and the calls below
/// one are calls.
fn is_own(cx: &Reader<'_>, name: &str) -> bool {
    let mut objects = name.rsplit('.').skip(1);
    objects.any(|object| OWN.contains(&object)) && is_name(name) && !cx.offered(name)
}

/// `line` calls what only programs have, with a value that has no name: `log.info("Starting")`.
fn logs(cx: &Reader<'_>, line: &str) -> bool {
    let line = line.strip_suffix(';').unwrap_or(line);
    let Some((name, arguments)) = line.strip_suffix(')').and_then(|line| line.split_once('(')) else { return false };
    !arguments.is_empty() && !arguments.contains('=') && is_own(cx, name)
}

/// `name` is one of Python's, of a module or what it has as well.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| char_class::QUALIFIED_NAME.has_ascii(byte))
}

/// `line` is a statement of a Python program.
pub(in crate::engine) fn is_statement(line: &str) -> bool {
    let names = |list: &str| list.split(',').all(|each| is_name(each.split(" as ").next().unwrap_or_default().trim()));
    if let Some(list) = line.strip_prefix("import ") {
        return names(list);
    }
    if let Some((module, list)) = line.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) {
        let module = module.trim_start_matches('.');
        return (module.is_empty() || is_name(module)) && (list == "*" || names(list));
    }
    if line.starts_with("print(") && line.ends_with(')') {
        return true;
    }
    is_assignment(line)
}

/// `line` is a statement of JavaScript's that declares a name, or one that imports what a file has: names, and no words.
fn in_javascript(line: &str) -> bool {
    if let Some((list, file)) = line.strip_prefix("import ").and_then(|rest| rest.split_once(" from ")) {
        let one = list.ends_with('}') || list.starts_with("* as ") || is_name(list);
        return one && file.starts_with(['"', '\'']) && file.trim_end_matches(';').ends_with(['"', '\'']);
    }
    let declared = ["const ", "let ", "var "].iter().any(|word| line.starts_with(word));
    declared && line.contains(" = ") && line.ends_with(';')
}

/// A value is given to the `word`, as it is or with what declares its type.
fn is_target(word: &str) -> bool {
    is_name(word.strip_suffix(':').unwrap_or(word))
}

/// `line` gives a name a value; a mere word only to what another name has: else it is a text.
fn is_assignment(line: &str) -> bool {
    // Mostly it is a sentence.
    let Some(equals) = memchr::memchr(b'=', line.as_bytes()) else { return false };
    let (to, value) = line.split_at(equals);
    let Some((to, value)) = to.strip_suffix(' ').filter(|to| is_name(to)).zip(value.strip_prefix("= ")) else {
        return false;
    };
    is_value(value) || to.contains('.') && is_name(value)
}

/// `value` is one of Python's, whole: a number, a string, a list, a dict, or what a call gives. A mere word may be one of a text.
fn is_value(value: &str) -> bool {
    let ends = match value.bytes().next() {
        Some(quote @ (b'"' | b'\'')) => return value.len() > 1 && value.bytes().last() == Some(quote),
        Some(b'[') => b']',
        Some(b'{') => b'}',
        Some(first) if first.is_ascii_alphabetic() => {
            let called = value.split_once('(').is_some_and(|(name, _)| !name.contains(char::is_whitespace));
            return called && value.ends_with(')') || matches!(value, "True" | "False" | "None");
        }
        _ => return value.parse::<f64>().is_ok(),
    };
    value.bytes().last() == Some(ends)
}

/// The line of `at`, which begins with what is `indented`, stands in a block of a Python program, or in a traceback: it is
/// indented, and the line that is less so opens one, or it follows a statement. What was called ends at `begun`.
pub(in crate::engine) fn in_program(
    cx: &Reader<'_>,
    begun: usize,
    at: usize,
    indented: &[u8],
    calls: &mut Without,
) -> bool {
    if indented.is_empty() {
        let behind = |calls| behind_statement(cx, begun, at, false, calls) || opens_braces(line_above(cx, at));
        return is_python_call(cx, at) && behind(calls);
    }
    let opener = outer_line(cx, at, indented, |line| !line.starts_with('#'));
    let opens =
        |line: &str| begins_block(line) || line.starts_with(FRAME) || opens_braces(line) && is_python_call(cx, at);
    opener.is_some_and(|line| opens(behind_token(line.trim_matches(blank))))
        || indented.trim_ascii().is_empty()
            && is_python_call(cx, at)
            && beside_statement(cx, begun, at, indented, false)
}

/// As [`in_program`], where only a statement of JavaScript's tells of a program: a call that names its argument is none of that.
pub(in crate::engine) fn in_script(
    cx: &Reader<'_>,
    begun: usize,
    at: usize,
    indented: &[u8],
    calls: &mut Without,
) -> Look<()> {
    let shown = match indented {
        [] => is_python_call(cx, at) && behind_statement(cx, begun, at, true, calls),
        blank if !blank.trim_ascii().is_empty() => false,
        _ => is_python_call(cx, at) && beside_statement(cx, begun, at, indented, true),
    };
    if !shown {
        return Look::No;
    }
    let text = cx.ahead(at, NEAR_MARKER);
    let Some((_, arguments)) = text.split_once('(') else { return Look::No };
    let name = arguments.trim_ascii_start().trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let sign = name.trim_ascii_start();
    let more = at + text.len() == cx.text.len() && cx.may_go_on(text.len(), NEAR_MARKER);
    if sign.is_empty() && more { Look::More } else { Look::when(!sign.starts_with('=')) }
}

/// The last line that `says` something above that of `at` and is less indented, which begins with what is `indented`.
fn outer_line<'t>(cx: &Reader<'t>, at: usize, indented: &[u8], says: impl Fn(&str) -> bool) -> Option<&'t str> {
    let from = floor(cx.text, at.saturating_sub(LINE_BEFORE));
    let mut above = cx.slice(from, at - indented.len()).lines().rev();
    above.find(|line| {
        let text = line.trim_ascii_start();
        !text.is_empty() && says(text) && line.len() - text.len() < indented.len()
    })
}

/// The line right above that of `at`, where a line begins.
fn line_above<'t>(cx: &Reader<'t>, at: usize) -> &'t str {
    let above = cx.before(at, LINE_BEFORE).strip_suffix('\n').unwrap_or_default();
    one_line(above.rsplit('\n').next().unwrap_or_default())
}

/// The `line` of a program, without what stands round it.
fn one_line(line: &str) -> &str {
    behind_token(line.trim_ascii_end().trim_start_matches(invisible))
}

/// What stands in `line` behind the special token, the tag or the label of a result that begins it: what says that a program follows
/// is no part of that.
fn behind_token(line: &str) -> &str {
    let token = line.strip_prefix("<|").and_then(|rest| rest.split_once("|>"));
    let token = token.or_else(|| line.strip_prefix('<').and_then(|rest| rest.split_once('>')));
    let named = token.filter(|(name, _)| name.bytes().all(|byte| char_class::NAME.has_byte(byte)));
    // No label has a colon in it.
    let colon = || memchr::memchr(b':', line.as_bytes()).and_then(|colon| line.split_at_checked(colon));
    let labelled = || {
        let (label, rest) = colon()?;
        rest.strip_prefix(": ").filter(|_| is_one_of(label, &RESULTS))
    };
    named.map(|(_, rest)| rest).or_else(labelled).unwrap_or(line)
}

/// What begins a block in braces, where no parenthesis stands before its brace.
const BRACED: [&str; 12] =
    ["else", "try", "do", "finally", "catch", "fn", "func", "function", "class", "impl", "interface", "static"];

/// `line` opens a block of a program whose language has braces: `if (x) {`, `function main() {`, `} else {`.
pub(in crate::engine) fn opens_braces(line: &str) -> bool {
    let Some(head) = line.trim_ascii().strip_suffix('{').map(str::trim_ascii_end) else { return false };
    let head = head.trim_start_matches(['}', ' ']);
    let word = head.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    head.ends_with(')') || head.ends_with("=>") || BRACED.contains(&word)
}

/// The line of `at`, which begins with what is `indented`, stands in a text of YAML: the line above that is indented less says that
/// one follows. What such a call is named after is none.
pub(in crate::engine) fn in_block_scalar(cx: &Reader<'_>, at: usize, indented: &[u8]) -> bool {
    if indented.is_empty() || !indented.trim_ascii().is_empty() {
        return false;
    }
    let line = outer_line(cx, at, indented, |_| true);
    let nested = line.is_some_and(|line| line.starts_with(|c: char| c.is_ascii_whitespace()));
    let line = line.map(|line| line.trim_ascii().trim_end_matches(['+', '-'])).unwrap_or_default();
    let key = line.strip_suffix(['|', '>']).and_then(|line| line.trim_ascii_end().strip_suffix(':'));
    let key = key.map(|key| key.trim_start_matches(['-', ' ']).trim_matches(['"', '\'']));
    key.is_some_and(|key| {
        !key.is_empty()
            && key.bytes().all(|byte| char_class::NAME.has_byte(byte))
            // A whole call is no arguments of another, in a mapping.
            && match Key::of(key) {
                Key::Function | Key::Calls => false,
                Key::Arguments => nested,
                _ => true,
            }
    })
}

/// What goes on with a block of Python's, in a line of its own.
const GO_ON: [&str; 2] = ["else:", "finally:"];

/// The next line behind the call of Python's at `start`, which ends at `at`, goes on with the block that the call stands in.
pub(in crate::engine) fn goes_on_below(cx: &Reader<'_>, start: usize, at: usize) -> Look<()> {
    if !cx.slice(start, at).ends_with(')') {
        return Look::No;
    }
    let next = cx.skip_space(at);
    if next >= cx.text.len() {
        return cx.ran_out(next - at, GAP);
    }
    if next - at > GAP || !cx.slice(at, next).contains('\n') {
        return Look::No;
    }
    let ends = |end: usize| match cx.bytes().get(end) {
        Some(byte) => Look::when(matches!(byte, b'\n' | b'\r')),
        None => cx.over(()),
    };
    Look::any_of(GO_ON.iter().map(|word| cx.literal(next, word).then(ends)))
}

/// So much white space stands between a call and what goes on with its block.
const GAP: usize = 64;
