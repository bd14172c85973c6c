//! Tests of `src/engine/context/line.rs`.
use super::is_quoted;

#[test]
fn quotes_and_cells_are_told_from_tokens() {
    for line in ["> ", "  > > see ", "| ", "| a | ", "|a|"] {
        assert!(is_quoted(line), "{line:?}");
    }
    for line in ["", "  ", "a > ", "|", "|call|>", "|tool", "a | b | "] {
        assert!(!is_quoted(line), "{line:?}");
    }
}
