//! Markers as literal text, put into the catalogue's template language.
use once_cell::sync::Lazy;
use regex::Regex;

/// What stands in a text where the template gets a hole. Characters of the private use area stand for them.
pub(super) const NAME: char = '\u{E701}';
pub(super) const ID: char = '\u{E702}';
pub(super) const KEY: char = '\u{E703}';
pub(super) const VALUE: char = '\u{E704}';
pub(super) const TYPE: char = '\u{E705}';
pub(super) const IGNORED: char = '\u{E706}';
pub(super) const BODY: char = '\u{E707}';

static ATTRIBUTES: Lazy<Option<Regex>> =
    Lazy::new(|| Regex::new("( )((?:[A-Za-z_:-]+=\"[\u{E701}-\u{E706}]\" ?)+)").ok());

fn hole(c: char) -> Option<&'static str> {
    Some(match c {
        NAME => "name",
        ID => "id",
        KEY => "key",
        VALUE => "value",
        TYPE => "type",
        IGNORED => "_",
        _ => return None,
    })
}

/// Writes `text` as a template; `body` is the name of the hole at [`BODY`].
pub(super) fn template(text: &str, body: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for found in ATTRIBUTES.as_ref().into_iter().flat_map(|r| r.captures_iter(text)) {
        let (Some(all), Some(list)) = (found.get(0), found.get(2)) else { continue };
        literal(text.get(at..all.start()).unwrap_or(""), body, &mut out);
        let pairs: Vec<String> = (list.as_str().split_whitespace())
            .filter_map(|pair| {
                let (key, value) = pair.split_once('=')?;
                Some(format!("{key}={}", hole(value.chars().nth(1)?)?))
            })
            .collect();
        out.push_str(&format!(" {{@{}}}", pairs.join(" ")));
        at = all.end();
    }
    literal(text.get(at..).unwrap_or(""), body, &mut out);
    // White space on both sides of a hole's own is one.
    while out.contains("  ") {
        out = out.replace("  ", " ");
    }
    out.trim().to_owned()
}

/// Literal text. White space with a line break in it, at an end or beside a hole may be any or none; other spaces
/// belong to a marker.
fn literal(text: &str, body: &str, out: &mut String) {
    let chars: Vec<char> = text.chars().collect();
    let is_hole = |c: Option<&char>| c.is_none_or(|c| ('\u{E701}'..='\u{E707}').contains(c));
    let mut i = 0;
    while let Some(c) = chars.get(i) {
        if c.is_whitespace() {
            let end = chars.iter().skip(i).position(|c| !c.is_whitespace()).map_or(chars.len(), |n| i + n);
            let run = chars.get(i..end).unwrap_or_default();
            let loose = run.contains(&'\n') || is_hole(i.checked_sub(1).and_then(|i| chars.get(i)));
            if loose || is_hole(chars.get(end)) {
                out.push(' ');
            } else {
                run.iter().for_each(|_| out.push_str("{ }"));
            }
            i = end;
            continue;
        }
        match (*c, hole(*c)) {
            (BODY, _) => out.push_str(&format!(" {{{body}}} ")),
            (_, Some(name)) => out.push_str(&format!("{{{name}}}")),
            ('{', _) => out.push_str("{{"),
            (c, _) => out.push(c),
        }
        i += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_become_templates() {
        let rows = [
            (format!("<tool_call>\n{BODY}\n</tool_call>"), "json", "<tool_call> {json} </tool_call>"),
            (
                format!("<invoke name=\"{NAME}\">\n{BODY}</invoke>"),
                "parameters",
                "<invoke {@name=name}> {parameters} </invoke>",
            ),
            (format!("<f={NAME}>{BODY}"), "arguments", "<f={name}> {arguments}"),
            (format!("call it {{{NAME}\n{BODY}"), "arguments", "call{ }it{ }{{{name} {arguments}"),
            (format!("<p k=\"{KEY}\" t=\"{TYPE}\">{VALUE}</p>"), "", "<p {@k=key t=type}>{value}</p>"),
        ];
        for (text, body, expected) in rows {
            assert_eq!(template(&text, body), expected);
        }
    }
}
