//! What is told of results and media, and what becomes of a history in disorder.
use serde_json::{Value, json};
use toolglot::dialect::{Dialects, catalogue};
use toolglot::engine::{Options, extract};
use toolglot::provider::{
    Provider, ResultOptions, ToolResult, check_history, convert_messages, format_tool_results, repair_history,
    text_results,
};
use toolglot::schema::ToolSet;

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
        // One that is there is not said to be missing.
        let missing = codes(messages.clone(), Provider::OpenAi).iter().any(|code| code.contains("missing_result"));
        assert_eq!(missing, expected.contains("No result"), "{messages}");
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

/// User and model, then a user's message with `block`: as it is, and in a result.
fn with_block(provider: Provider, block: &Value, is_error: bool) -> Vec<Value> {
    match provider {
        Provider::Bedrock => vec![
            json!({"role": "user", "content": [{"text": "hi"}, block]}),
            json!({"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]}),
            json!({"role": "user", "content": [{"toolResult": {
                "toolUseId": "t", "content": [block], "status": if is_error { "error" } else { "success" }}}]}),
        ],
        _ => vec![
            json!({"role": "user", "content": [{"type": "text", "text": "hi"}, block]}),
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}),
            json!({"role": "user", "content": [{
                "type": "tool_result", "tool_use_id": "t", "content": [block], "is_error": is_error}]}),
        ],
    }
}

#[test]
fn text_in_blocks_that_one_provider_knows_is_told_to_all() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let blocks = [
        (
            Provider::Anthropic,
            json!({"type": "document", "source": {
            "type": "text", "media_type": "text/plain", "data": "SAID"}, "title": "T"}),
            "T:\nSAID",
        ),
        (
            Provider::Anthropic,
            json!({"type": "document", "source": {
            "type": "text", "media_type": "text/plain", "data": "SAID"}}),
            "SAID",
        ),
        (
            Provider::Anthropic,
            json!({"type": "document", "source": {
            "type": "content", "content": "SAID"}, "title": "T", "context": "C"}),
            "T:\nC\nSAID",
        ),
        (
            Provider::Anthropic,
            json!({"type": "document", "source": {
            "type": "content", "content": [text("A"), text("SAID")]}}),
            "A\nSAID",
        ),
        (
            Provider::Anthropic,
            json!({"type": "search_result", "source": "https://x.org", "title": "T",
            "content": [text("A"), text("SAID")], "citations": {"enabled": true}}),
            "T (https://x.org):\nA\nSAID",
        ),
        (
            Provider::Bedrock,
            json!({"document": {"format": "txt", "name": "T", "source": {"text": "SAID"}}}),
            "T:\nSAID",
        ),
        (
            Provider::Bedrock,
            json!({"document": {"format": "txt", "name": "T", "source": {
            "content": [{"text": "SAID"}]}}}),
            "T:\nSAID",
        ),
        (
            Provider::Bedrock,
            json!({"searchResult": {"source": "https://x.org", "title": "T",
            "content": [{"text": "SAID"}], "citations": {"enabled": true}}}),
            "T (https://x.org):\nSAID",
        ),
    ];
    for (from, block, expected) in blocks {
        for (to, is_error) in Provider::ALL.into_iter().flat_map(|to| [(to, false), (to, true)]) {
            let messages = with_block(from, &block, is_error);
            let there = convert_messages(&messages, None, Some(from), to, None).unwrap();
            let written = json!(there.messages).to_string();
            assert_eq!(written.matches("SAID").count(), 2, "{to:?}: {written}");
            if to == from {
                assert_eq!(there.messages, messages);
                continue;
            }
            assert!(!written.contains("not shown") && !written.contains("citations"), "{to:?}: {written}");
            for place in ["/0", "/2"] {
                assert!(there.issues.iter().any(|issue| issue.place == place), "{place}: {:?}", there.issues);
            }
            let back = convert_messages(&there.messages, there.system.as_ref(), Some(to), from, Some(&there.side));
            assert_eq!(back.unwrap().messages, messages, "{to:?}");
            if to == Provider::OpenAi && !is_error {
                assert_eq!(there.messages[2]["content"], json!(expected));
            }
        }
        // A mended history keeps the block, in a message that is mended as well.
        let mut broken = with_block(from, &block, false);
        let empty = if from == Provider::Bedrock { json!({"text": ""}) } else { text("") };
        broken[0]["content"].as_array_mut().unwrap().push(empty);
        let mended = repair_history(&broken, None, Some(from), None, None).unwrap();
        assert!(!mended.issues.is_empty());
        assert_eq!(mended.messages, with_block(from, &block, false), "{:#}", json!(mended.messages));
        if from == Provider::Anthropic {
            assert_eq!(toolglot::provider::detect_history(&broken), from);
            // An error's content is text.
            let mut broken = with_block(from, &block, true);
            broken.push(json!({"role": "assistant", "content": ""}));
            let written = json!(repair_history(&broken, None, Some(from), None, None).unwrap().messages).to_string();
            assert_eq!(written.matches("SAID").count(), 2, "{written}");
        }
    }
}

#[test]
fn what_stands_among_the_text_of_a_block_is_told_too() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let block = json!({"type": "document", "title": "T", "source": {"type": "content", "content": [image]}});
    let messages = with_block(Provider::Anthropic, &block, false);
    let there = convert_messages(&messages, None, None, Provider::OpenAi, None).unwrap().messages;
    let content = &there[0]["content"];
    assert_eq!((&content[1]["text"], &content[2]["type"]), (&json!("T:"), &json!("image_url")), "{content}");
    // Bytes that are text.
    let csv = json!({"document": {"format": "csv", "name": "T", "source": {"bytes": "YSxi"}}});
    let messages = with_block(Provider::Bedrock, &csv, false);
    for to in [Provider::Anthropic, Provider::Ollama, Provider::Cohere] {
        let there = json!(convert_messages(&messages, None, None, to, None).unwrap().messages).to_string();
        assert_eq!(there.matches("a,b").count(), 2, "{to:?}: {there}");
        assert!(!there.contains("not shown"), "{to:?}: {there}");
    }
    // What can be told to nobody else is named, in a result as well.
    let file = json!({"type": "document", "title": "T", "source": {"type": "file", "file_id": "file_1"}});
    let messages = with_block(Provider::Anthropic, &file, false);
    for to in Provider::ALL.into_iter().filter(|to| *to != Provider::Anthropic) {
        let there = convert_messages(&messages, None, None, to, None).unwrap();
        let written = json!(there.messages).to_string();
        assert_eq!(written.matches("[document `T`: not shown]").count(), 2, "{to:?}: {written}");
        assert!(there.issues.iter().any(|issue| issue.place == "/2"), "{:?}", there.issues);
    }
}

#[test]
fn bedrock_gets_no_sound_in_a_result() {
    let sound = json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"});
    let text = json!({"type": "text", "text": "said"});
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    for (blocks, expected) in [
        (json!([sound]), json!([{"text": "[audio/wav: not shown]"}])),
        (json!([text, sound]), json!([{"text": "said"}, {"text": "[audio/wav: not shown]"}])),
        (
            json!([sound, image]),
            json!([
            {"text": "[audio/wav: not shown]"}, {"image": {"format": "png", "source": {"bytes": "AAAA"}}}]),
        ),
    ] {
        let result = ToolResult::new("c", "f", &json!({"content": blocks, "isError": false}), false);
        let written = format_tool_results(vec![result], Provider::Bedrock, &ResultOptions::default()).unwrap();
        assert_eq!(written[0]["content"][0]["toolResult"]["content"], expected);
    }
    // A user may send one.
    let heard = [json!({"role": "user", "content": [
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]})];
    let there = convert_messages(&heard, None, Some(Provider::OpenAi), Provider::Bedrock, None).unwrap().messages;
    assert_eq!(there[0]["content"][0]["audio"]["format"], "wav");
}

#[test]
fn how_closely_a_picture_is_looked_at() {
    let chat = |detail: Option<&str>| {
        let mut image = json!({"url": "https://x.org/y.png"});
        if let Some(detail) = detail {
            image["detail"] = json!(detail);
        }
        [json!({"role": "user", "content": [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": image}]})]
    };
    let items = |detail: &str| {
        [json!({"role": "user", "content": [{"type": "input_text", "text": "?"},
            {"type": "input_image", "image_url": "https://x.org/y.png", "detail": detail}]})]
    };
    let (openai, responses) = (Provider::OpenAi, Provider::OpenAiResponses);
    for (said, there) in [(Some("low"), "low"), (Some("high"), "high"), (Some("auto"), "auto"), (None, "auto")] {
        let written = convert_messages(&chat(said), None, Some(openai), responses, None).unwrap();
        assert_eq!((&written.messages[..], &written.issues[..]), (&items(there)[..], &[][..]));
        let back = convert_messages(&written.messages, None, Some(responses), openai, Some(&written.side)).unwrap();
        assert_eq!(back.messages, chat(said));
        let told = said.filter(|said| *said != "auto");
        let written = convert_messages(&items(there), None, Some(responses), openai, None).unwrap();
        assert_eq!(written.messages, chat(told));
        let back = convert_messages(&written.messages, None, Some(openai), responses, Some(&written.side)).unwrap();
        assert_eq!(back.messages, items(there));
        for to in [Provider::Mistral, Provider::Cohere] {
            assert_eq!(convert_messages(&chat(told), None, Some(openai), to, None).unwrap().messages, chat(told));
        }
    }
}

/// What a model is told its results by it may write itself: nothing behind that is called.
#[test]
fn a_result_as_it_is_told_is_known() {
    let tool = |name: &str, key: &str| json!({"name": name, "inputSchema": {"type": "object", "properties": {key: {"type": "string"}}}});
    let tools = ToolSet::from_values(&[tool("get_weather", "city"), tool("get_time", "zone")]).unwrap();
    let count = |name: &str, text: &str| {
        let turn = extract(text, &Dialects::named(name).unwrap(), Some(&tools), &Options::default());
        turn.tool_calls.len()
    };
    let mut wrong = Vec::new();
    // ReAct's label is a word of any text.
    for row in catalogue().iter().filter(|row| row.name != "react") {
        let result = ToolResult::new("call_1", "get_weather", &json!("sunny"), false);
        let told = text_results(vec![result], &*row.name, &ResultOptions { harden: true, ..Default::default() });
        let told = told["content"].as_str().unwrap();
        let once = count(&row.name, &row.example);
        let twice = count(&row.name, &format!("{}\n{told}\n{}", row.example, row.example));
        if once == 0 || twice != once {
            wrong.push(format!("{}: {once} and {twice} calls, {told:?}", row.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
