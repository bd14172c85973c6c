//! Tests of `src/engine/body/python/expression.rs`.
use super::{begins_expression, holds_names, is_expression};

#[test]
fn what_was_meant_as_text_is_no_expression() {
    let expressions = [
        "get_city()",
        "os.path.join(\"a\", \"b)\")",
        "cities[0]",
        "data['x'].get(\"y\")",
        "\"a\" + b",
        "\"x\".upper()",
        "f\"{x}\"",
        "rf'{x}'",
        "lambda x: x",
        "*args",
        "**options",
        "await get_city()",
        "base + \"/x\"",
        "x == 'y'",
        ",\"x\"",
        "names=[\"x\"]",
        "not \"x\"",
        "x if y else z",
        "x => x.y",
        "async ({ a }, b) => { return a }",
        "function (x) { return x }",
    ];
    for text in expressions {
        assert!(is_expression(text), "{text}");
    }
    let texts = [
        "San Diego",
        "user.txt",
        "2 * x + 1",
        "Paris (France)",
        "f(x) = 3x",
        "what is f(x)?",
        "Ca(OH)2",
        "<city>",
        "*.py",
        "ls -la | grep x",
        "?",
        "lambda",
        "C++",
        "cats and \"dogs\"",
        "C++ \"x\"",
        "site:\"x.com\"",
        "not today",
        "call me if urgent",
        "function (math)",
        "(a) and (b)",
    ];
    for text in texts {
        assert!(!is_expression(text), "{text}");
    }
    assert!(begins_expression("f(x) for x in y") && begins_expression("x for x in y"));
    assert!(begins_expression("*names]") && begins_expression("**names, 1") && begins_expression("lambda: 1}"));
    assert!(begins_expression("a + \"x\"]") && begins_expression("await f()]"));
    assert!(!begins_expression("*important*, x]") && !begins_expression("a, + \"x\"]"));
    assert!(!begins_expression("potatoes") && !begins_expression("red wine"));
    let names = |text| holds_names(text, |word| word == "open");
    assert!(names("{ to: user, subject: mail.title }") && !names("{ city: name }"));
    assert!(!names("{ city: Oslo, unit: celsius }") && !names("{ a: x, b: 3 }"));
    assert!(!names("{ a: a.py, b: b.py }") && !names("{ status: open, level: low }"));
}
