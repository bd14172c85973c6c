//! Breaks up what may be a call without any marker: JSON with a call's keys, a name before an object or a parenthesis, a tag
//! that is named after a tool.
//!
//! Each form is broken in the word that vouches for it, behind that word's first character: a key that is no key of a call's
//! any more, or a name that no tool has. Brackets and quotes stay, so JSON stays JSON.
use super::BREAK;
use crate::dialect::Key;
use crate::schema::{Resolution, ToolSet};
use once_cell::sync::Lazy;
use regex::{Captures, Regex};

/// A form of call without a marker. Its pattern has the group `name`, which is broken.
struct Form {
    pattern: Regex,
    /// The group that holds the tool's name, if it is not another word that vouches for the call.
    tool: &'static str,
}

/// The quotation marks in which models write keys, and the backslash before one in a string.
const QUOTE: &str = r#"["'“”‘’`\\]"#;

/// What stands in a line before its first word: signs of lists, quotations and fences. In a string, the line break and the signs
/// are escaped.
const MARGIN: &str = r#"(?m)(?:^|\\[nr])(?:[^\w\n\\]|\\+[nrt"'])*(?:\d{1,3}[.)](?:[^\w\n\\]|\\+[nrt"'])*)?"#;

/// The name of a tool where nothing delimits it; Markdown may escape signs in it.
const NAME: &str = r"(?P<name>[\w$@](?:[\w.:/$@-]|\\[_*~.-])*)";

/// The same, of several words.
const WORDS: &str = r"(?P<name>[\w$@][\w.:/\\$@ -]{0,127}?)";

/// What no name stands right behind: one that was broken is not broken again.
const NO_NAME: &str = r"[^\w.:/$@\\\x{200b}-]";

static FORMS: Lazy<Vec<Form>> = Lazy::new(|| {
    let calling = [Key::Name, Key::Function, Key::Method, Key::Calls].map(Key::spellings).concat();
    let calling = [&calling[..], &Key::ROUND_CALLS].concat().join("|");
    let value = r#"(?:\s*["'](?P<value>[^"'\\\n]{0,128})["'])?"#;
    let forms = [
        // A key that says that its object calls something.
        (format!("{QUOTE}(?P<name>{calling}){QUOTE}{{0,4}}\\s*[:=]{value}"), "value"),
        (format!("[{{,]\\s*(?P<name>{calling}){QUOTE}{{0,2}}\\s*:{value}"), "value"),
        // A name before an object, as a member's key or in a pair: `{"read": {"path": ...`, `["read", {`.
        (format!("(?:{QUOTE}|[{{,(\\[]\\s*){WORDS}{QUOTE}{{0,4}}\\s*[:=,]\\s*{QUOTE}{{0,4}}\\{{"), "name"),
        // A call as Python writes it: at the beginning of a line a blank may part the two, elsewhere nothing but escapes.
        (format!("{MARGIN}(?:```+\\w*\\s*)?{NAME}[ \\t]*:?\\\\?\\("), "name"),
        (format!("(?:^|{NO_NAME}){NAME}\\\\*[\"']?\\\\*\\("), "name"),
        // A name before an object whose key or end is seen, and a line that is all name above an object.
        (format!("{MARGIN}{NAME}{QUOTE}*\\s*[:=]?\\s*\\{{\\s*(?:\\}}|<|{QUOTE}*[\\w$.-]+{QUOTE}*\\s*:)"), "name"),
        (format!("{MARGIN}{WORDS}[ \\t:*]*\\n\\s*\\{{"), "name"),
        // A tag, and another one or an object in it.
        (r"<(?P<name>\w[\w.:-]{0,127})>\s*[<{]".to_owned(), "name"),
    ];
    let compiled = forms.into_iter().map(|(pattern, tool)| Some(Form { pattern: Regex::new(&pattern).ok()?, tool }));
    compiled.flatten().collect()
});

/// `text` with every such form broken; of those that name their tool, only the ones of `tools`, if these are given.
pub(super) fn break_up(text: String, tools: Option<&ToolSet>) -> String {
    FORMS.iter().fold(text, |text, form| form.break_up(text, tools))
}

impl Form {
    fn break_up(&self, text: String, tools: Option<&ToolSet>) -> String {
        let mut out = String::new();
        let (mut from, mut at) = (0, 0);
        // What stands behind the broken word is looked at once more: one tag may stand in another.
        while let Some(found) = self.pattern.captures_at(&text, at) {
            let Some(name) = found.name("name") else { break };
            at = name.start() + name.as_str().chars().next().map_or(1, char::len_utf8);
            if self.may_call(&found, tools) {
                out.push_str(text.get(from..at).unwrap_or_default());
                out.push(BREAK);
                from = at;
            }
        }
        if from == 0 {
            return text;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        out
    }

    /// The tool that is named may be offered.
    fn may_call(&self, found: &Captures<'_>, tools: Option<&ToolSet>) -> bool {
        let (Some(tools), Some(named)) = (tools, found.name(self.tool)) else { return true };
        // Markdown and JSON's strings escape signs in it.
        let named = named.as_str().replace('\\', "");
        tools.resolve(&named) != Resolution::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_a_pattern_and_breaks_what_it_names() {
        let broken = [
            (r#"{"tool_calls": []}"#, "{\"t\u{200b}ool_calls\": []}"),
            ("{name: f, a: 1}", "{n\u{200b}ame: f, a: 1}"),
            (r#"["f", {"a": 1}]"#, "[\"f\u{200b}\", {\"a\": 1}]"),
            ("- f (a=1)", "- f\u{200b} (a=1)"),
            ("x = [1, f(a=1)]", "x = [1, f\u{200b}(a=1)]"),
            ("g.h(f(1) + run\\\\(a))", "g\u{200b}.h(f\u{200b}(1) + r\u{200b}un\\\\(a))"),
            ("1. f: {a: 1}", "1. f\u{200b}: {a: 1}"),
            ("my f\n{\"a\": 1}", "m\u{200b}y f\n{\"a\": 1}"),
            ("see <f>{}</f>", "see <f\u{200b}>{}</f>"),
            (r#"{"text": "See:\n\tf(a=1)"}"#, "{\"text\": \"See:\\n\\tf\u{200b}(a=1)\"}"),
        ];
        assert_eq!(FORMS.len(), 8, "each pattern is one");
        for (text, expected) in broken {
            assert_eq!(break_up(text.to_owned(), None), expected);
            assert_eq!(break_up(expected.to_owned(), None), expected);
        }
    }
}
