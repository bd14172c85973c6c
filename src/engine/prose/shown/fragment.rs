//! Fragments of data and of programs: what stands above an object says that it is a part of something, and no call.
use super::before::{LINE_BEFORE, NEAR_MARKER};
use super::program::opens_braces;
use crate::char_class;
use crate::dialect::Key;
use crate::engine::Reader;
use crate::engine::prose::words::coded::{is_assigned, is_member, labels_call};
use crate::engine::reader::floor;

/// What begins a part of a Python function's documentation.
const SECTIONS: [&str; 5] = ["Returns:", "Yields:", "Args:", "Raises:", "Attributes:"];

/// How the object begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    Brace,
    /// With a name: `search {...}`, or as a member: `search: {...}`.
    Name,
    Key,
}

/// The object at `at`, or the name before one, which begins its line behind what is `indented`, is a part of something in the text
/// that began at `begun`: a member, an item of a list that has a name, a line of a block.
pub(in crate::engine) fn in_fragment(cx: &Reader<'_>, begun: usize, at: usize, indented: &[u8]) -> bool {
    if !indented.trim_ascii().is_empty() {
        return false;
    }
    let Some(begins) = begins_object(cx, at) else { return false };
    let from = floor(cx.text, at.saturating_sub(LINE_BEFORE)).max(begun);
    let Some(above) = cx.slice(from, at - indented.len()).strip_suffix('\n') else { return false };
    // Others of its kind may stand between.
    let other = |line: &&str| line.ends_with("},") && depth(line) == indented.len() && !closes_part(line);
    let mut lines = above.rsplit('\n').map(str::trim_ascii_end).skip_while(other);
    let line = lines.next().unwrap_or_default();
    if closes_part(line) {
        return match lines.filter(|line| !line.is_empty()).find(|above| depth(above) <= depth(line)) {
            // It closes what stands there as the object does: that is another one, which is no call.
            Some(opener) => depth(opener) < depth(line) || !opener.trim_ascii_start().starts_with(['{', '[']),
            None => from == begun,
        };
    }
    if indented.is_empty() {
        return opens_part(line, begins);
    }
    let encloses = |above: &&str| !above.is_empty() && depth(above) < indented.len();
    let encloser = above.rsplit('\n').map(str::trim_ascii_end).find(encloses).unwrap_or_default();
    opens_part(line, begins) || opens_part(encloser, begins) || begins == Begins::Key && is_key(encloser)
}

/// An object, or a name and one, begins at `at`.
fn begins_object(cx: &Reader<'_>, at: usize) -> Option<Begins> {
    let near = cx.ahead(at, NEAR_MARKER);
    let (name, behind) = near.split_at_checked(char_class::QUALIFIED_NAME.length(near.as_bytes()))?;
    // A name may end in the sign that parts it from its server's.
    let (colon, behind) = (name.ends_with(':'), behind.trim_start_matches(' '));
    match behind.bytes().next()? {
        b'{' if name.is_empty() => Some(Begins::Brace),
        b'{' if !colon => Some(Begins::Name),
        b'{' => Some(Begins::Key),
        b':' if !name.is_empty() => Some(Begins::Key),
        _ => None,
    }
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_ascii_start().len()
}

/// Nothing but brackets that close and a comma stands in `line`.
fn closes_part(line: &str) -> bool {
    let brackets = line.trim_ascii().strip_suffix(',').unwrap_or_default();
    !brackets.is_empty() && brackets.bytes().all(|byte| matches!(byte, b'}' | b']' | b')'))
}

/// `line` opens a part of data, or a block of a program.
fn opens_part(line: &str, begins: Begins) -> bool {
    let line = line.trim_ascii();
    if begins == Begins::Brace && SECTIONS.contains(&line) {
        return true;
    }
    let head = line.trim_end_matches(['[', '{', ' ']);
    if head.len() == line.len() {
        return false;
    }
    let member = head.trim_start_matches(['{', '[', '-', ' ']);
    let key = member.strip_suffix(':').map(str::trim_end);
    opens_braces(line)
        || head.ends_with('=') && is_assigned(head)
        || key.is_some_and(|key| names_part(key.trim_matches(['"', '\''])) && (is_word(key) || is_member(member)))
}

/// `line` is the key of a mapping in YAML.
fn is_key(line: &str) -> bool {
    let key = line.trim_ascii().strip_suffix(':').map(|line| line.trim_start_matches(['-', ' ']));
    key.is_some_and(|key| is_word(key) && names_part(key))
}

/// `key` begins in a small letter, as no label does, and is one word.
fn is_word(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase()) && key.bytes().all(|byte| char_class::NAME.has_byte(byte))
}

/// What stands under `key` are no calls, and no part of one.
pub(super) fn names_part(key: &str) -> bool {
    let known = matches!(Key::of(key), Key::Calls | Key::Function | Key::Arguments);
    !known && !labels_call(key) && Key::round_call(key, b'[').or(Key::round_call(key, b'{')).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_from_labels() {
        for line in ["\"examples\": [", "const defaults = {", "  content={[", "tools: [", "func main() {"] {
            assert!(opens_part(line, Begins::Brace), "{line}");
        }
        for line in ["\"tool_calls\": [", "Calls: [", "Here it is:", "[", "{", "calls: [", "next_action = {"] {
            assert!(!opens_part(line, Begins::Brace), "{line}");
        }
        assert!(is_key("tools:") && is_key("  - defaults:") && !is_key("Tool calls:") && !is_key("actions:"));
    }
}
