//! Tests of `src/engine/context/label.rs`.
use super::{Label, Line, label_of, line_above};

/// What the line above says, where nothing was shown before it.
fn label_above(before: &str, whole: bool) -> Label {
    match line_above(before, whole) {
        Some(Line { says, announces }) => match label_of(says) {
            Label::Example if !announces => Label::Nothing,
            label => label,
        },
        None => Label::Nothing,
    }
}

#[test]
fn labels_are_told_from_steps() {
    for (text, label) in [
        ("For example:\n", Label::Example),
        ("Done. Here's an **example** of it:\n\n", Label::Example),
        ("## Usage\n", Label::Example),
        ("This is the format:\n", Label::Example),
        ("You can call it like this: ", Label::Example),
        ("Let me show you an example:\n", Label::Example),
        ("例如：\n", Label::Example),
        ("I'll read the example:\n", Label::Step),
        ("To understand it, let me read the example:\n", Label::Step),
        ("It is short. Let me read it!\n", Label::Step),
        ("I'll write an example script for you:\n", Label::Step),
        ("Your package.json should look like this:\n", Label::Nothing),
        ("Here is the call in JSON format:\n", Label::Nothing),
        ("See example.com:\n", Label::Nothing),
        ("Here it is:\n", Label::Nothing),
    ] {
        assert_eq!(label_above(text, true), label, "{text:?}");
    }
    assert_eq!(label_above("half a line with an example:\n", false), Label::Nothing);
}
