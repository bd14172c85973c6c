//! Tests of `src/engine/misspelt.rs`.
use super::is_like;

#[test]
fn a_slip_is_told_from_another_name() {
    for (name, meant) in [
        ("params", "parameter"),
        ("Parameters", "parameter"),
        ("paramter", "parameter"),
        ("parameter", "｜DSML｜parameter"),
        ("param", "steptml:parameter"),
        ("arg_values", "arg_value"),
        ("value", "arg_value"),
        ("func", "function"),
        ("invok", "invoke"),
    ] {
        assert!(is_like(name, meant), "{name} {meant}");
    }
    for (name, meant) in [
        ("p", "parameter"),
        ("div", "param"),
        ("paragraph", "parameter"),
        ("function", "parameter"),
        ("arg_key", "arg_value"),
        ("parent", "param"),
        ("fun", "function"),
        ("voice", "invoke"),
    ] {
        assert!(!is_like(name, meant), "{name} {meant}");
    }
}
