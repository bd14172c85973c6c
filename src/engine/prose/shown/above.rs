//! What the line right above a call without markers says of it: a log, a session in a terminal, the body of a command or a template
//! shows it.
use super::program::{is_call_line, is_statement};
use crate::char_class;
use crate::engine::prose::words::coded::{has_level, is_logged, is_said};
use crate::engine::reader::{blank, floor};
use crate::engine::{Look, Reader};

/// A longer line says nothing.
const LONGEST: usize = 512;

/// No character is longer: one may be cut in two at the end of what is looked at.
const CHARACTER: usize = 4;

/// The first line of a session is no longer.
const FIRST: usize = 128;

/// A prompt is no longer, up to its sign.
const LONGEST_PROMPT: usize = 64;

/// Commands that are given a text, and take it from a string.
const COMMANDS: [&str; 3] = ["echo", "printf", "jq"];

/// The line above the one of `at`, which has nothing but blanks before it, behind `begun`.
fn line_above<'t>(cx: &Reader<'t>, begun: usize, at: usize) -> Option<&'t str> {
    let from = floor(cx.text, at.saturating_sub(LONGEST)).max(begun);
    let above = cx.slice(from, at).trim_end_matches([' ', '\t']).strip_suffix('\n')?;
    let line = above.rsplit_once('\n').map(|(_, line)| line).or((from == begun).then_some(above));
    line.map(|line| line.trim_matches(blank))
}

/// The line above that of `at`: a log or a terminal introduces what stands there, it gives a command a string that is open at its end, or
/// it is a template's.
pub(in crate::engine) fn is_shown_by_line(cx: &Reader<'_>, begun: usize, at: usize) -> bool {
    let Some(line) = line_above(cx, begun, at) else { return false };
    // Mostly it is a sentence, or none.
    let Some(last) = line.as_bytes().last() else { return false };
    let command = behind_prompt(line);
    match last {
        b'\'' | b'"' if opens_string(command.unwrap_or(line)) => return true,
        b'}' if is_placeholder(line) => return true,
        _ => {}
    }
    command.is_some_and(|command| in_session(cx, at, line, command)) || line.ends_with([':', '：']) && is_log(line)
}

/// The line above that of `at` is one of a log, and so is another behind what stands there. One alone is quoted by somebody who says what
/// they do next.
pub(in crate::engine) fn is_in_log(cx: &Reader<'_>, begun: usize, at: usize) -> Look<()> {
    if !line_above(cx, begun, at).is_some_and(is_log) {
        return Look::No;
    }
    let near = cx.ahead(at, LONGEST);
    let all = cx.eof && at + near.len() == cx.text.len();
    let mut lines = near.split_inclusive('\n').skip(1).filter(|line| all || line.ends_with('\n'));
    match lines.any(|line| is_log(line.trim_matches(blank))) {
        true => Look::Is(()),
        false => cx.ran_out(cx.text.len() - at, LONGEST + CHARACTER),
    }
}

/// A terminal shows the `line` above that of `at`, a `command` behind a prompt: a session begins the text. Below other words the line is
/// what is announced, and so is a command in tags. A prompt's signs begin headings and sentences as well.
fn in_session(cx: &Reader<'_>, at: usize, line: &str, command: &str) -> bool {
    let first = cx.ahead(cx.skip_space(0), FIRST).lines().next().unwrap_or_default().trim_matches(blank);
    let python = !line.starts_with(">>>") || is_call_line(command) || is_statement(command);
    let told = line.ends_with([':', '：']) || is_said(line);
    python && !told && cx.bytes().get(at) != Some(&b'<') && behind_prompt(first).is_some()
}

/// The `line` is one of a log, which no model writes to say what it does: it begins with the time and how important it is, or with that
/// and who writes it (`INFO:agent:calling`). A time alone begins what models say as well, where their messages have one.
fn is_log(line: &str) -> bool {
    let timed = line.trim_start_matches('[').starts_with(|c: char| c.is_ascii_digit());
    let named = || {
        let mut parts = line.splitn(3, ':');
        let (_, name, rest) = (parts.next(), parts.next().unwrap_or_default(), parts.next());
        rest.is_some() && !name.is_empty() && name.bytes().all(|byte| char_class::QUALIFIED_NAME.has_ascii(byte))
    };
    (timed || named()) && is_logged(line) && has_level(line) && !is_said(line)
}

/// What stands in the `line` behind the prompt of a shell, or of Python's: a command, and no price.
fn behind_prompt(line: &str) -> Option<&str> {
    let command = |rest: &str| rest.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '/' | '~'));
    if let Some(rest) = line.strip_prefix(">>> ") {
        return Some(rest);
    }
    if let Some((directory, rest)) = line.strip_prefix("PS ").and_then(|line| line.split_once("> ")) {
        return (directory.contains(":\\") || directory.starts_with('/')).then_some(rest);
    }
    let blank_behind = |sign: &usize| line.as_bytes().get(sign + 1) == Some(&b' ');
    let sign = |sign: u8| memchr::memchr_iter(sign, line.as_bytes()).find(blank_behind);
    let (prompt, rest) = line.split_at_checked(sign(b'$').or_else(|| sign(b'#'))?)?;
    let rest = rest.get(2..)?;
    // Nothing, the name of an environment, or who works where.
    let (environment, prompt) = match prompt.strip_prefix('(').and_then(|prompt| prompt.split_once(") ")) {
        Some((environment, prompt)) => (Some(environment), prompt),
        None => (None, prompt),
    };
    let place =
        || prompt.len() <= LONGEST_PROMPT && prompt.contains('@') && prompt.contains(':') && !prompt.contains(' ');
    let plain = || prompt.is_empty() && (environment.is_some() || line.starts_with('$'));
    (command(rest) && (plain() || place())).then_some(rest)
}

/// The `line` ends in a quote that opens a string, which is given to an option of a command of a shell, to one that takes texts, or to
/// what has a parenthesis.
fn opens_string(line: &str) -> bool {
    let Some((before, quote)) = line.split_at_checked(line.len().saturating_sub(1)) else { return false };
    let before = before.strip_suffix('$').unwrap_or(before);
    // A parenthesis right before it is one of a program, or of SQL.
    let argument = before.ends_with('(');
    if !(argument || before.ends_with([' ', '='])) || before.matches(quote).count() % 2 != 0 {
        return false;
    }
    let words = before.trim_end_matches([' ', '=']);
    let plain =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'));
    let first = words.split(' ').next().unwrap_or_default();
    let option = words.rsplit(' ').next().filter(|option| option.len() > 1 && option.starts_with('-') && plain(option));
    let commands = first.starts_with(|c: char| c.is_ascii_lowercase() || c == '-') && plain(first);
    argument || COMMANDS.contains(&first) || commands && option.is_some()
}

/// The `line` is the hole of a template, or a tag that ends no block, and nothing else.
fn is_placeholder(line: &str) -> bool {
    [("{{", "}}"), ("{%", "%}")].iter().any(|(open, close)| {
        let inner = line.strip_prefix(open).and_then(|line| line.strip_suffix(close));
        // Handlebars marks what opens a block.
        let inner =
            inner.map(|inner| inner.trim_start_matches(['#', '~']).trim_matches(['-', ' '])).unwrap_or_default();
        inner.starts_with(|c: char| c.is_ascii_lowercase()) && !inner.starts_with("end") && !inner.contains([':', '"'])
    })
}
