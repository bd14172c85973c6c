//! What is told of results and media, and what becomes of a history in disorder.
use serde_json::{Value, json};
use toolglot::provider::{Provider, check_history, repair_history};

#[track_caller]
fn codes(messages: Value, provider: Provider) -> Vec<String> {
    let issues = check_history(messages.as_array().unwrap(), Some(provider)).unwrap();
    issues.iter().map(|issue| format!("{} {}", issue.place, issue.code.as_str())).collect()
}

fn calls(ids: &[&str]) -> Value {
    let call = |(number, id): (usize, &&str)| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": format!("{{\"n\":{number}}}")}});
    let calls: Vec<Value> = ids.iter().enumerate().map(call).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn said(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// The contents of the results behind each message with calls, after mending; what became text is behind a bar.
#[track_caller]
fn mended(messages: Value) -> String {
    let mended = repair_history(messages.as_array().unwrap(), None, Some(Provider::OpenAi), None, None).unwrap();
    let left = codes(json!(mended.messages), Provider::OpenAi);
    assert!(left.is_empty(), "{left:?}: {:#}", json!(mended.messages));
    let (mut results, mut texts) = (String::new(), String::new());
    for message in &mended.messages {
        let text = message["content"].as_str().unwrap_or_default();
        match message["role"].as_str() {
            Some("assistant") => results.push('/'),
            Some("tool") => results.push_str(&format!(" {text}")),
            _ if text.is_empty() || text.starts_with("Result of") => texts.push_str(" result"),
            _ => {}
        }
    }
    format!("{results} |{texts}")
}

#[test]
fn a_result_that_is_there_is_its_calls() {
    let user = json!({"role": "user", "content": "hi"});
    let done = json!({"role": "assistant", "content": "done"});
    let cases = [
        // Two calls of one id, and something before their results, or between them.
        (json!([user, calls(&["x", "x"]), user, said("x", "1"), said("x", "2"), user]), "/ 1 2 |"),
        (json!([user, calls(&["x", "x"]), said("x", "1"), user, said("x", "2"), user]), "/ 1 2 |"),
        (json!([user, calls(&["x", "x", "x"]), user, said("x", "1"), said("x", "2"), said("x", "3")]), "/ 1 2 3 |"),
        (json!([user, calls(&["x", "y", "x"]), user, said("y", "2"), said("x", "1"), said("x", "3")]), "/ 1 2 3 |"),
        // The id comes again in a later turn.
        (json!([user, calls(&["x"]), said("x", "1"), user, calls(&["x"]), user, said("x", "2")]), "/ 1/ 2 |"),
        (json!([user, calls(&["x"]), user, said("x", "1"), calls(&["x"]), user, said("x", "2")]), "/ 1/ 2 |"),
        (json!([user, calls(&["x"]), user, calls(&["x"]), user, said("x", "1"), said("x", "2")]), "/ 1/ 2 |"),
        (json!([user, calls(&["x"]), user, calls(&["x"]), said("x", "2")]), "/ Error: No result was recorded./ 2 |"),
        (json!([user, calls(&["x"]), said("x", "1"), calls(&["x"]), user]), "/ 1/ Error: No result was recorded. |"),
        (
            json!([user, calls(&["x"]), said("x", "1"), calls(&["x"]), said("x", "2"), said("x", "3")]),
            "/ 1/ 2 | result",
        ),
        // A result before its call.
        (json!([user, said("x", "1"), calls(&["x"]), user]), "/ 1 |"),
        (json!([user, said("x", "1"), said("y", "2"), calls(&["y"]), calls(&["x"]), user]), "/ 2/ 1 |"),
        (json!([user, said("x", "1"), calls(&["x", "x"]), said("x", "2"), user]), "/ 1 2 |"),
        (json!([user, said("x", "1"), calls(&["x"]), said("x", "2"), user]), "/ 2 | result"),
        // One of a conversation whose beginning was cut off is none of a later call's.
        (json!([said("x", "1"), done, user, calls(&["x"])]), "// Error: No result was recorded. | result"),
        (
            json!([said("x", "1"), calls(&["x"]), said("x", "2"), calls(&["x"])]),
            "/ 2/ Error: No result was recorded. | result",
        ),
    ];
    for (messages, expected) in cases {
        assert_eq!(mended(messages.clone()), expected, "{messages}");
    }
    // With the name of its own call.
    let named = |name: &str| {
        json!({"role": "assistant", "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": name, "arguments": "{}"}}]})
    };
    let again = [user.clone(), named("f"), user.clone(), named("g"), said("x", "1")];
    let mended = repair_history(&again, None, Some(Provider::Mistral), None, None).unwrap().messages;
    assert_eq!((&mended[2]["name"], &mended[5]["name"]), (&json!("f"), &json!("g")), "{:#}", json!(mended));
    let blocks = [
        user,
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "1"}]}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "f", "input": {}}]}),
    ];
    let mended = repair_history(&blocks, None, Some(Provider::Anthropic), None, None).unwrap().messages;
    assert_eq!(mended[2]["content"][0]["content"], "1", "{:#}", json!(mended));
}
