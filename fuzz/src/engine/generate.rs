//! Texts spliced from the cases of all dialects, the way of reading them, and how they are cut.
use super::super::data::cases;
use super::{Cuts, Input, Source, Tools, named};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use toolglot::dialect::{Dialects, catalogue};
use toolglot::engine::{Fences, Options, Policy, ReasoningCalls, StartsIn, UnknownTools};
use toolglot::schema::ToolSet;

/// Longer texts are cut off: more of them are read in the same time.
const LONGEST: usize = 1500;

struct Case {
    text: String,
    dialect: String,
    tools: Option<Arc<Tools>>,
}

/// What inputs are made of.
struct Shelf {
    cases: Vec<Case>,
    dialects: Vec<(String, Arc<Dialects>)>,
    tools: Vec<Arc<Tools>>,
    /// Where the cases of each dialect are.
    of_dialect: HashMap<String, Vec<usize>>,
}

fn shelf() -> &'static Shelf {
    static SHELF: OnceLock<Shelf> = OnceLock::new();
    SHELF.get_or_init(|| {
        let names = catalogue().iter().map(|dialect| dialect.name.to_string()).chain(["auto".into()]);
        let dialects: Vec<_> = names.map(|name| (name.clone(), named(&name))).collect();
        let (mut known, mut tools) = (HashMap::new(), Vec::new());
        let mut shelf = Vec::new();
        for (file, case) in cases("dialects").into_iter().chain(cases("fuzz")) {
            let Some(text) = case["text"].as_str().filter(|text| text.len() <= LONGEST) else { continue };
            let dialect = case["dialect"].as_str().unwrap_or(&file);
            let dialect = if dialects.iter().any(|(name, _)| name == dialect) { dialect } else { "auto" };
            let declared: Option<&Vec<Value>> = case["tools"].as_array();
            let own = declared.map(|declared| {
                let make = || {
                    let set = Arc::new(ToolSet::from_values(declared).expect("tools of a case"));
                    tools.push(Arc::new(Tools { declared: declared.clone(), set }));
                    tools.len() - 1
                };
                *known.entry(case["tools"].to_string()).or_insert_with(make)
            });
            let own = own.map(|index| Arc::clone(&tools[index]));
            // What is planted is to be found once.
            let planted = case["planted"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let text = planted.fold(text.to_owned(), |text, word| text.replace(word, "word"));
            shelf.push(Case { text, dialect: dialect.to_owned(), tools: own });
        }
        let mut of_dialect: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, case) in shelf.iter().enumerate() {
            of_dialect.entry(case.dialect.clone()).or_default().push(index);
        }
        Shelf { cases: shelf, dialects, tools, of_dialect }
    })
}

pub(super) fn input(source: &mut Source<'_>) -> Input {
    let shelf = shelf();
    let first = source.pick(&shelf.cases);
    let (dialect, dialects) = match source.below(10) {
        0..4 => &shelf.dialects[shelf.dialects.len() - 1],
        4..8 => shelf.dialects.iter().find(|(name, _)| *name == first.dialect).expect("a dialect of the shelf"),
        _ => source.pick(&shelf.dialects),
    };
    let tools = match source.below(10) {
        0..7 => first.tools.clone(),
        7..9 => Some(source.pick(&shelf.tools).clone()),
        _ => None,
    };
    let options = options(source);
    let depth = options.policy.max_depth;
    let mut text = match source.below(20) {
        0 => String::from_utf8_lossy(&source.rest(40)).into_owned(),
        1..4 => first.text.clone(),
        _ => splice(source, shelf, first, depth),
    };
    for _ in 0..source.below(4) {
        mutate(source, shelf, &mut text, depth);
    }
    cut_off(&mut text, LONGEST);
    let mut planted = Vec::new();
    if source.percent(40) {
        for word in ["wvqaj", "wvqbj", "wvqcj"].iter().take(1 + source.below(3)) {
            let at = source.place(&text);
            text.insert_str(at, word);
            planted.push((*word).to_owned());
        }
        // One may have been parted by the next.
        planted.retain(|word| text.contains(word.as_str()));
    }
    let cuts = cuts(source, &text);
    Input { dialect: dialect.clone(), dialects: dialects.clone(), tools, options, text, planted, cuts }
}

fn cuts(source: &mut Source<'_>, text: &str) -> Cuts {
    let length = text.len();
    let mut places: Vec<usize> = match source.below(4) {
        0 => vec![source.below(length + 1)],
        1 => (0..source.below(8)).map(|_| source.below(length + 1)).collect(),
        2 => {
            let step = 1 + source.below(40);
            (0..length).step_by(step).collect()
        }
        _ => (0..length).collect(),
    };
    places.sort_unstable();
    places.dedup();
    // Whoever feeds text has whole characters.
    let as_text = source.percent(50);
    if as_text {
        places.retain(|at| text.is_char_boundary(*at));
    }
    Cuts::At { places, as_text }
}

fn options(source: &mut Source<'_>) -> Options {
    let mut options = Options::default();
    if source.percent(8) {
        options.starts_in = StartsIn::Reasoning;
    }
    if source.percent(60) {
        return options;
    }
    let policy = &mut options.policy;
    let default = Policy::default();
    if source.percent(30) {
        policy.fences = *source.pick(&[Fences::Last, Fences::Ignore]);
    }
    if source.percent(40) {
        policy.reasoning = *source.pick(&[ReasoningCalls::Run, ReasoningCalls::Ignore]);
    }
    if source.percent(40) {
        policy.unknown_tools = *source.pick(&[UnknownTools::Text, UnknownTools::Allow]);
    }
    if source.percent(30) {
        policy.max_calls = *source.pick(&[0, 1, 2, 3, default.max_calls]);
    }
    if source.percent(50) {
        policy.max_depth = *source.pick(&[0, 1, 2, 3, 4, 5, 8, 120, 126, 127]);
    }
    if source.percent(15) {
        policy.max_arguments_bytes = *source.pick(&[0, 1, 2, 8, 20, 60]);
    }
    if source.percent(20) {
        policy.max_markup_bytes = *source.pick(&[0, 1, 4, 8, 16, 64]);
    }
    options
}

/// Pieces of several cases, mostly of one dialect.
fn splice(source: &mut Source<'_>, shelf: &Shelf, first: &Case, depth: usize) -> String {
    let mut text = String::new();
    let pieces = 2 + source.below(4);
    for index in 0..pieces {
        let case = match source.below(10) {
            _ if index == 0 => first,
            0..6 => &shelf.cases[*source.pick(&shelf.of_dialect[&first.dialect])],
            _ => source.pick(&shelf.cases),
        };
        let piece = match source.below(8) {
            0..3 => &*case.text,
            3..5 => &case.text[..joint(source, &case.text)],
            5..7 => &case.text[joint(source, &case.text)..],
            _ => {
                let (a, b) = (joint(source, &case.text), joint(source, &case.text));
                &case.text[a.min(b)..a.max(b)]
            }
        };
        text.push_str(piece);
        match source.below(8) {
            0 => text.push('\n'),
            1 => text.push_str("\n\n"),
            2 => text.push(' '),
            3 => text.push_str(source.word(TOKENS)),
            4 if source.percent(20) => text.push_str(&deep(source, depth)),
            _ => {}
        }
    }
    text
}

/// A place where one part of markup ends and the next one begins, mostly; or any.
fn joint(source: &mut Source<'_>, text: &str) -> usize {
    let at = source.place(text);
    if source.percent(30) {
        return at;
    }
    let joint = text[at..].find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    joint.map_or(text.len(), |length| at + length)
}

/// Signs and words that change what stands round them.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "```",
    "```json\n",
    "~~~",
    "\\",
    "\\\"",
    "\\n",
    ":",
    ",",
    "=",
    "|",
    "/",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " ",
    "    ",
    "> ",
    "- ",
    "# ",
    "{}",
    "[]",
    "\"\"",
    "}}",
    "]}",
    "}]",
    "[{",
    "{\"",
    "\":",
    "\",",
    "null",
    "true",
    "None",
    "1",
    "-",
    "e",
    "\u{0}",
    "\u{feff}",
    "\u{200b}",
    "é",
    "日本",
    "😀",
    "“",
    "”",
    "x",
    "x ",
    "so on.",
    "e.g. ",
    "<think>",
    "</think>",
    "</",
    "<|",
    "|>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<s>",
    "</s>",
    "<|im_end|>",
    "<|im_start|>",
    "<|end|>",
    "<|channel|>",
    "<|message|>",
    "<|call|>",
    "<|constrain|>json",
    "commentary to=functions.",
    "analysis",
    "final",
    "<tool_call>",
    "</tool_call>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "<function=",
    "</function>",
    "<parameter=",
    "</parameter>",
    "<invoke",
    "<tool_response>",
    "</tool_response>",
    "Observation: ",
    "Action: ",
    "Action Input: ",
    "User: ",
    "functools[",
    "\"name\"",
    "\"arguments\"",
    "\"tool_calls\"",
    "\"toolCalls\"",
    "\"parameters\"",
    "\"content\"",
    "\"id\"",
    "{\"name\": \"",
    "\"function\": {",
];

/// Values nested about as deep as the limit allows.
fn deep(source: &mut Source<'_>, limit: usize) -> String {
    let levels = (limit + 3).saturating_sub(source.below(7));
    // The deepest ones make long texts, which take their time.
    let levels = if levels > 16 && !source.percent(25) { source.below(16) } else { levels };
    let (open, close) =
        *source.pick(&[("{\"a\":", "}"), ("[", "]"), ("{\"a\": [", "]}"), ("(", ")"), ("<a>", "</a>"), ("{a:", "}")]);
    let core = source.word(&["1", "{}", "[]", "\"x\"", "", "x"]);
    let closed = if source.percent(70) { levels } else { source.below(levels + 1) };
    format!("{}{core}{}", open.repeat(levels), close.repeat(closed))
}

fn mutate(source: &mut Source<'_>, shelf: &Shelf, text: &mut String, depth: usize) {
    let at = source.place(text);
    let end = {
        let far = source.place(text);
        let mut near = (at + 1 + source.below(12)).min(text.len());
        while !text.is_char_boundary(near) {
            near += 1;
        }
        if source.percent(75) { near } else { far }
    };
    let (start, end) = (at.min(end), at.max(end));
    match source.below(10) {
        0..2 => text.replace_range(start..end, ""),
        2..4 => text.insert_str(start, source.word(TOKENS)),
        4 => text.replace_range(start..end, source.word(TOKENS)),
        5 => {
            let again = text[start..end].repeat(1 + source.below(3));
            text.insert_str(end, &again);
        }
        6 => text.truncate(start),
        7 => {
            // Where a value stands, mostly.
            let value = text[start..].find(['{', '[', '"', '(']).map_or(start, |length| start + length);
            let deep = deep(source, depth);
            text.insert_str(value, &deep);
        }
        8 => {
            let other = &source.pick(&shelf.cases).text;
            let (a, b) = (joint(source, other), joint(source, other));
            text.insert_str(start, &other[a.min(b)..a.max(b)]);
        }
        _ => {
            let moved = text[start..end].to_owned();
            text.replace_range(start..end, "");
            let to = source.place(text);
            text.insert_str(to, &moved);
        }
    }
    cut_off(text, 2 * LONGEST);
}

fn cut_off(text: &mut String, mut at: usize) {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.truncate(at);
}
