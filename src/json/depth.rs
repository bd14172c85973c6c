//! How deep a value is nested.
use super::find_special;

/// The JSON in `text` is nested more than `limit` deep. Short text is not looked at: each level takes two brackets.
///
/// Only brackets and strings are looked at: what else may be wrong with the text (half a surrogate pair, say) says nothing about
/// how deep it is.
pub(crate) fn deeper_than(text: &str, limit: usize) -> bool {
    let text = text.trim_ascii_start();
    if !text.starts_with(['{', '[']) || text.len() / 2 <= limit {
        return false;
    }
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = behind_string(bytes, at),
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Behind the string whose inside begins at `at`.
fn behind_string(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = find_special(bytes, at);
        match bytes.get(at) {
            None => return at,
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::deeper_than;

    #[test]
    fn brackets_count_and_nothing_else_does() {
        let nested = |levels: usize, inside: &str| "[".repeat(levels) + inside + &"]".repeat(levels);
        for inside in ["", "1", r#""[[[""#, r#""\"[[""#, r#""\ud800""#, r#"{"a":1},[2]"#] {
            let own = usize::from(inside.starts_with('{'));
            assert!(!deeper_than(&nested(20, inside), 20 + own), "{inside}");
            assert!(deeper_than(&nested(20, inside), 19 + own), "{inside}");
        }
        assert!(deeper_than(&"{\"a\":".repeat(60_000), 128));
        assert!(!deeper_than(&"[],".repeat(500), 1));
        assert!(!deeper_than(r#""[[[[[[[[""#, 2));
    }
}
