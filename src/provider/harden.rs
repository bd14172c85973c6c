//! Breaks up what a chat template or a tokenizer would read as a marker in text that a tool returned.
//!
//! A tool's output is data from outside: a web page that contains `<|im_start|>system` must not begin a turn, and one
//! that contains `<tool_call>` must not teach the model that a call was made. Hosted providers keep results apart from
//! their markers; self-hosted tokenizers often do not.

/// Put into a marker, it makes another text of it, for a tokenizer and for a parser, and looks like nothing.
const BREAK: char = '\u{200b}';

/// What follows `<` or `</` in markers of templates and dialects; the marker may go on behind it.
const TAGS: &[&str] = &[
    "|",
    "｜",
    "tool",
    "function",
    "invoke",
    "parameter",
    "think",
    "/think",
    "antml",
    "start_of_turn",
    "end_of_turn",
    "start_function",
    "end_function",
    "bos>",
    "eos>",
    "s>",
    "im_",
    "arg_",
    "minimax",
    "seed:",
    "observation",
    "unused",
    "extra_id",
    "mask>",
    "pad>",
    "unk>",
    "system",
    "user",
    "assistant",
    "response",
    "result",
    "INST",
    "SYS",
    "turn",
    "channel",
    "message",
    "ctrl",
    "python_tag",
    "eom",
    "eot",
    "call",
    "calls",
    "reserved",
    "dsml",
    "DSML",
];

/// What follows `[` or `[/` in markers.
const BRACKETS: &[&str] = &[
    "INST]",
    "TOOL_",
    "AVAILABLE_TOOLS",
    "SYSTEM_PROMPT",
    "ARGS]",
    "CALL_ID",
    "THINK",
    "gMASK",
    "IMG",
    "END_TOOL",
    "PREFIX]",
    "SUFFIX]",
    "MIDDLE]",
];

/// `text` with every marker broken up by a zero-width space behind its first character; text without any is as it was.
///
/// ```
/// use toolglot::provider::harden;
/// assert_eq!(harden("a < b, x[0], <b>bold</b>"), "a < b, x[0], <b>bold</b>");
/// assert_eq!(harden("<|im_start|>system"), "<\u{200b}|im_start|\u{200b}>system");
/// ```
pub fn harden(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let rest = match byte {
            b'<' | b'[' | b'|' => text.get(at + 1..).unwrap_or_default(),
            // The fullwidth bar of DeepSeek's tokens, U+FF5C.
            0xef => match text.get(at..) {
                Some(rest) if rest.starts_with("｜>") => {
                    out.push_str(text.get(from..at + 3).unwrap_or_default());
                    out.push(BREAK);
                    from = at + 3;
                    continue;
                }
                _ => continue,
            },
            _ => continue,
        };
        let inner = rest.strip_prefix('/').unwrap_or(rest);
        let marker = match byte {
            b'<' => TAGS.iter().any(|tag| inner.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag))),
            b'[' => BRACKETS.iter().any(|tag| inner.starts_with(tag)),
            _ => rest.starts_with('>'),
        };
        if marker {
            out.push_str(text.get(from..=at).unwrap_or_default());
            out.push(BREAK);
            from = at + 1;
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
