//! Codes and other fixed words are public: what the core knows, the stub's types and the documents say, and nothing else.
use std::fs;
use std::path::Path;
use toolglot::ErrorCode;
use toolglot::explain::{Reason, SpanKind};
use toolglot::json::Ending;
use toolglot::schema::convert::LossKind;
use toolglot::turn::{CallStatus, Evidence, IssueCode, RepairCode, Source, StopReason};

fn file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

fn codes<T: Copy>(all: &[T], spelling: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|code| spelling(*code)).collect()
}

/// The words in `quote` between `begin` and the next `end`.
fn words(text: &str, begin: &str, end: &str, quote: char) -> Vec<String> {
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no {begin}"));
    let list = rest.split_once(end).map_or(rest, |(list, _)| list);
    list.split(quote).skip(1).step_by(2).map(str::to_owned).collect()
}

/// The codes in the first column of the table under a heading.
fn table(text: &str, heading: &str) -> Vec<String> {
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let section = rest.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    rows.map(|(code, _)| code.to_owned()).collect()
}

#[test]
fn the_stub_and_the_documents_list_every_code() {
    let issues = codes(IssueCode::ALL, IssueCode::as_str);
    let repairs = codes(RepairCode::ALL, RepairCode::as_str);
    let errors = codes(ErrorCode::ALL, ErrorCode::as_str);

    let stub = file("python/toolglot/_core.pyi");
    assert_eq!(words(&stub, "_IssueCode: TypeAlias = Literal[", "]", '"'), issues);
    assert_eq!(words(&stub, "_RepairCode: TypeAlias = Literal[", "]", '"'), repairs);

    let page = file("docs/codes.md");
    assert_eq!(table(&page, "Issues"), issues);
    assert_eq!(table(&page, "Repairs"), repairs);
    // Raised by the transcoder's classes, and by what knows Python's types: nothing of the core's `Error`.
    let errors = [errors, vec!["invalid_value", "bad_call"]].concat();
    assert_eq!(table(&page, "Errors"), errors);

    let classes = file("python/toolglot/errors.py");
    let raised = classes.lines().filter_map(|line| line.strip_prefix("    code = \"")?.strip_suffix('"'));
    assert_eq!(raised.collect::<Vec<_>>(), [errors, vec!["internal"]].concat());
}

#[test]
fn the_stub_lists_every_word() {
    let stub = file("python/toolglot/_core.pyi");
    for (list, known) in [
        ("_Status: TypeAlias = Literal[", codes(CallStatus::ALL, CallStatus::as_str)),
        ("_Evidence: TypeAlias = Literal[", codes(Evidence::ALL, Evidence::as_str)),
        ("_StopReason: TypeAlias = Literal[", codes(StopReason::ALL, StopReason::as_str)),
        ("_Source: TypeAlias = Literal[", codes(Source::ALL, |source| source.as_str().unwrap_or_default())),
        ("_LossKind: TypeAlias = Literal[", codes(LossKind::ALL, LossKind::as_str)),
        ("_SpanKind: TypeAlias = Literal[", codes(SpanKind::ALL, SpanKind::as_str)),
        ("_Reason: TypeAlias = Literal[", codes(Reason::ALL, Reason::as_str)),
        ("def ending(self) -> Literal[", codes(Ending::ALL, Ending::as_str)),
    ] {
        assert_eq!(words(&stub, list, "]", '"'), known, "{list}");
    }
}
