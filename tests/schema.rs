//! The schema room, tested by the data files in `tests/data/schema`.
use serde_json::Value;
use toolglot::schema::{Resolution, Tool, ToolSet, settle};
use toolglot::turn::{Arguments, ToolCall};

fn cases(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/data/schema/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().map(|items| items.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

#[test]
fn calls_are_settled_by_their_schema() {
    for case in cases("settle") {
        let about = &case["about"];
        let tool = Tool::new("t".into(), String::new(), case["schema"].clone());
        let arguments = case["arguments"].as_str().expect("arguments");
        let mut call = ToolCall::new("id", "t", Arguments::Json(arguments.into()));
        settle(&tool, &mut call);
        assert_eq!(call.arguments.to_json(), case["becomes"].as_str().expect("becomes"), "{about}");
        assert_eq!(call.status.as_str(), case["status"], "{about}: {:?}", call.errors);
        let pointer = |p: &Option<String>| p.clone().unwrap_or_default();
        let repairs: Vec<String> =
            call.repairs.iter().map(|r| format!("{} {}", r.code.as_str(), pointer(&r.pointer))).collect();
        assert_eq!(repairs, strings(&case["repairs"]), "{about}");
        let mut errors: Vec<String> = call.errors.iter().map(|e| format!("{} {}", e.keyword, e.pointer)).collect();
        let mut expected = strings(&case["errors"]);
        errors.sort();
        expected.sort_unstable();
        assert_eq!(errors, expected, "{about}");
    }
}

#[test]
fn names_that_models_write_back_are_resolved() {
    for case in cases("resolve") {
        let tools = ToolSet::from_values(case["tools"].as_array().expect("tools")).expect("tools");
        for (written, expected) in case["names"].as_object().expect("names") {
            let got = match tools.resolve(written) {
                Resolution::Exact(tool) | Resolution::Resolved(tool) => Value::String(tool.name.clone()),
                Resolution::Unknown => Value::Null,
            };
            assert_eq!(got, *expected, "{}: {written:?}", case["about"]);
        }
    }
}
