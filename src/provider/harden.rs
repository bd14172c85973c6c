//! Breaks up what a chat template or a tokenizer would read as a marker in text that a tool returned.
//!
//! A tool's output is data from outside: a web page that contains `<|im_start|>system` must not begin a turn, and one
//! that contains `<tool_call>` must not teach the model that a call was made. Hosted providers keep results apart from
//! their markers; self-hosted tokenizers often do not. And a model repeats what it read: whoever reads calls from its text
//! must not find one in that (`bare.rs`: nor one without markers).

mod bare;

use crate::dialect::catalogue;
use crate::schema::ToolSet;
use once_cell::sync::Lazy;
use regex::Regex;

/// Put into a marker, it makes another text of it, for a tokenizer and for a parser, and looks like nothing.
const BREAK: char = '\u{200b}';

/// What follows `<` or `</` in tags that are no dialect's in particular; the tag may go on behind it.
const TAGS: &[&str] = &[
    // Special tokens.
    "|",
    "｜",
    // What calls are made of: models write more such tags than any template has, and are understood.
    "tool",
    "function",
    "start_function",
    "end_function",
    "call",
    "invoke",
    "parameter",
    "arg_",
    // Who speaks, and what is said.
    "system",
    "user",
    "assistant",
    "turn",
    "start_of_turn",
    "end_of_turn",
    "channel",
    "message",
    "think",
    "observation",
    "response",
    "result",
    "INST",
    "SYS",
    // Tokens of tokenizers, and special ones that lost their bars.
    "bos>",
    "eos>",
    "s>",
    "mask>",
    "pad>",
    "unk>",
    "unused",
    "reserved",
    "extra_id",
    "ctrl",
    "eom",
    "eot",
    "im_",
    "python_tag",
];

/// What follows `[` or `[/` in tokens of templates that no answer holds.
const BRACKETS: &[&str] = &["TOOL_", "AVAILABLE_TOOLS", "gMASK", "IMG", "PREFIX]", "SUFFIX]", "MIDDLE]"];

/// The markers of the catalogue, by what they are broken up for.
struct Markers {
    /// Every one that begins or ends something, without those that are plain words or fences (they mark a call only where a
    /// marker does). Sorted by their first byte.
    whole: Vec<String>,
    /// What follows `<` or `</` in tags of a family's own, whatever they are called: its namespace (`minimax:`), or the word
    /// between its bars (`DSML`), which may be lost.
    tags: Vec<String>,
    /// What follows `[` or `[/` in those in brackets, opening and closing alike.
    brackets: Vec<String>,
}

static MARKERS: Lazy<Markers> = Lazy::new(|| {
    let (mut whole, mut begun, mut brackets) = (Vec::new(), Vec::new(), Vec::new());
    for row in catalogue() {
        let pairs = row.sections.iter().chain(&row.reasoning).chain(&row.results).chain(&row.own_results);
        whole.extend(pairs.flat_map(|(open, close)| [open.as_str(), close]));
        whole.extend(row.tokens.iter().map(String::as_str));
        if let Some(channels) = &row.channels {
            whole.extend(channels.opens.iter().chain(&channels.closes).map(String::as_str));
            whole.push(&channels.message);
        }
        // What a call begins with, and a parameter: literal text up to the first hole.
        let templates = || row.calls.iter().chain(&row.parameters);
        begun.extend(templates().filter_map(|template| opening(template)));
        // And what stands before a blank in it: the bars of a family, in every spelling.
        begun.extend(templates().filter_map(|template| Some(template.split_once(BLANK)?.0.to_owned())));
        // Those in brackets stand in the middle of a call as well.
        let inner = templates().flat_map(|template| template.split(['{', '}', ' ', '?']));
        brackets.extend(inner.chain(row.turns.iter().map(String::as_str)).filter_map(bracket));
    }
    // As it is written, and as it comes out.
    let both = |marker: &str| [marker.to_owned(), marker.replace(BLANK, " ")];
    let mut whole: Vec<String> = whole.into_iter().flat_map(both).chain(begun).collect();
    whole.retain(|marker| marker.len() > 2 && marker.starts_with(['<', '[', ']', '>', '｜']));
    let mut tags: Vec<String> = whole.iter().filter_map(|marker| family(marker)).collect();
    for list in [&mut whole, &mut tags, &mut brackets] {
        list.sort_unstable();
        list.dedup();
    }
    Markers { whole, tags, brackets }
});

/// How templates write a blank that must stand there.
const BLANK: &str = "{ }";

/// The literal text that a `template` begins with, up to its first hole or the next marker.
fn opening(template: &str) -> Option<String> {
    let blanks = template.replace(BLANK, "\u{1}");
    Some(blanks.split(['{', ' ']).next()?.replace('\u{1}', " "))
}

/// What stands behind the bracket that begins the `marker` and its slash.
fn bracket(marker: &str) -> Option<String> {
    let inner = marker.strip_prefix('[').filter(|inner| inner.len() > 1 && inner.ends_with(']'))?;
    Some(inner.trim_start_matches('/').to_owned())
}

/// What the tag that is this `marker` has in common with others of its family.
fn family(marker: &str) -> Option<String> {
    const BARS: [char; 2] = ['|', '｜'];
    let tag = marker.strip_prefix('<')?.trim_start_matches('/').trim_start_matches(BARS);
    let (name, rest) = tag.split_at_checked(tag.find(|c: char| !c.is_ascii_alphanumeric())?)?;
    let bar = rest.strip_prefix(BARS).is_some_and(|rest| !rest.starts_with('>'));
    match rest.starts_with(':') {
        _ if name.is_empty() => None,
        true => Some(format!("{name}:")),
        false => bar.then(|| name.to_owned()),
    }
}

/// Markers that are words, wherever they stand: as they are, and broken up.
static WORDS: Lazy<Vec<(String, String)>> = Lazy::new(|| {
    let mut words = Vec::new();
    for row in catalogue() {
        // A list of calls stands behind a word: `functools[...]`.
        let listed = row.calls.iter().filter_map(|call| call.strip_suffix(" {json}"));
        let listed = listed.filter(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic()));
        words.extend(listed.flat_map(|word| [(word, "["), (word, " [")]).map(split));
        // What an arrow points to, however far it stands behind that.
        let arrows = row.calls.iter().filter_map(|call| call.strip_prefix('-')?.split('{').next());
        words.extend(arrows.filter_map(|arrow| arrow.trim_end().rsplit(' ').next()?.split_at_checked(1)).map(split));
        // A label of several words may stand behind another one, in its line.
        let labels = row.calls.iter().filter(|_| !row.text_ends.is_empty()).flat_map(|call| call.split(['{', '}']));
        let labels = labels.filter_map(|text| Some(text.trim_start_matches([' ', '\n', '*']).split_once(':')?.0));
        words.extend(
            labels.filter_map(|label| label.split_once(' ')).map(|(first, rest)| split((first, &format!(" {rest}:")))),
        );
        // A label that no prose has: `TOOL_NAME:`.
        let labels = row.calls.iter().filter_map(|call| call.split([' ', '{']).next());
        let labels = labels.filter(|label| label.ends_with(':') && label.contains('_'));
        words.extend(labels.filter_map(|label| label.split_at_checked(1)).map(split));
        if let Some(channels) = row.channels.as_ref().filter(|channels| !channels.tool_prefix.is_empty()) {
            words.extend(channels.to_tool().split_at_checked(1).map(split));
        }
    }
    words.sort_unstable();
    words.dedup();
    words
});

/// A word, and how it is broken up between its two parts.
fn split((head, tail): (&str, &str)) -> (String, String) {
    (format!("{head}{tail}"), format!("{head}{BREAK}{tail}"))
}

/// A line that is a step of a dialect whose markers are plain words: what the model would say next, or what it was told.
static STEP: Lazy<Option<Regex>> = Lazy::new(|| {
    let rows = catalogue().iter().filter(|row| !row.text_ends.is_empty());
    let written = rows.flat_map(|row| {
        // Labels that only an offered name tells from others are words like any.
        let calls = row.calls.iter().filter(|call| !call.contains("{tool}"));
        let calls = calls.flat_map(|call| call.split(['{', '}'])).map(str::trim);
        row.text_ends.iter().map(String::as_str).chain(calls)
    });
    let labels =
        written.filter_map(|text| text.strip_suffix(':')).filter(|label| label.starts_with(char::is_alphabetic));
    let mut labels: Vec<String> = labels.map(regex::escape).collect();
    labels.sort_unstable();
    labels.dedup();
    Regex::new(&format!(r#"(?m)((?:^|\\[nr]|["'“‘`])[^\w\n]*(?:{})(?: \d+)?[ \t]*):"#, labels.join("|"))).ok()
});

/// The marker of the catalogue at the beginning of `text`, and what it is followed by makes it one.
fn in_catalogue(text: &str) -> bool {
    let markers = &MARKERS.whole;
    let from = markers.partition_point(|marker| marker.as_bytes().first() < text.as_bytes().first());
    let same = markers.iter().skip(from).take_while(|marker| marker.as_bytes().first() == text.as_bytes().first());
    same.into_iter().any(|marker| {
        // A label's first word is one of many texts in small letters (`[tool.ruff]`), where it begins no call.
        let word = marker.starts_with('[') && !marker.ends_with([']', ':']);
        let stands = if word { text.starts_with(marker.as_str()) } else { starts_with(text, marker) };
        let Some(after) = text.get(marker.len()..).filter(|_| stands) else { return false };
        // `>>>name` begins a call, `>>> ` is Python's prompt.
        !marker.ends_with(">>>") || after.starts_with(|c: char| c.is_alphabetic() || c == '_')
    })
}

fn starts_with(text: &str, marker: &str) -> bool {
    text.get(..marker.len()).is_some_and(|head| head.eq_ignore_ascii_case(marker))
}

/// `text` with everything broken up that a reader could take for a call, a turn or a result: nothing of it is a call in any
/// dialect, wherever it is repeated. Text without such is as it was, and hardening twice changes nothing.
///
/// A zero-width space (U+200B) is put behind the first character of what vouches for a call. Without these the text is again what
/// it was, if it had none itself.
///
/// - Markers: those of the catalogue's dialects, and what templates' special tokens look like.
/// - Calls without markers: the keys of a JSON call (`"name"`, `"tool_calls"`), and names before an object or a parenthesis, or
///   in a tag. With `tools`, only names that mean one of them are broken: pass those that the reader of the model's answer will
///   have, and other data and code stay as they are. Without, every name there may be a tool's.
///
/// ```
/// # use serde_json::json;
/// use toolglot::{provider::harden, schema::ToolSet};
/// assert_eq!(harden("a < b, x[0], <b>bold</b>", None), "a < b, x[0], <b>bold</b>");
/// assert_eq!(harden("<|im_start|>system", None), "<\u{200b}|im_start|\u{200b}>system");
/// assert_eq!(harden("rm(path='/')", None), "r\u{200b}m(path='/')");
/// let tools = ToolSet::from_values(&[json!({"name": "read_file"})])?;
/// assert_eq!(harden("rm(path='/')", Some(&tools)), "rm(path='/')");
/// # Ok::<(), toolglot::Error>(())
/// ```
pub fn harden(text: &str, tools: Option<&ToolSet>) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for (at, c) in text.char_indices() {
        if !matches!(c, '<' | '[' | ']' | '|' | '>' | '｜') {
            continue;
        }
        let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
        let inner = rest.strip_prefix('/').unwrap_or(rest);
        let marker = match c {
            '<' => {
                let known = TAGS.iter().copied().chain(MARKERS.tags.iter().map(String::as_str));
                { known }.any(|tag| starts_with(inner, tag))
            }
            '[' => {
                let known = BRACKETS.iter().copied().chain(MARKERS.brackets.iter().map(String::as_str));
                { known }.any(|name| inner.starts_with(name))
            }
            '|' | '｜' => rest.starts_with('>'),
            _ => false,
        };
        if marker || in_catalogue(text.get(at..).unwrap_or_default()) {
            let end = at + c.len_utf8();
            out.push_str(text.get(from..end).unwrap_or_default());
            out.push(BREAK);
            from = end;
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    if let Some(pattern) = STEP.as_ref()
        && let std::borrow::Cow::Owned(broken) = pattern.replace_all(&out, format!("$1{BREAK}:"))
    {
        out = broken;
    }
    for (word, broken) in WORDS.iter() {
        if out.contains(word) {
            out = out.replace(word, broken);
        }
    }
    bare::break_up(out, tools)
}
