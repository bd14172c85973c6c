//! Streams: the turn that the client reads is the turn of the backend, however the bytes are cut.
use super::backend::{HERMES, backend_stream};
use super::support::*;
use serde_json::{Value, json};
use toolglot::provider::{Reading, StreamNormalizer, normalize};
use toolglot::turn::StopReason;
use toolglot::wire::{BackendApi, ClientApi, Options, Transcoder};

#[test]
fn streams() {
    let cases = cases("streams.jsonl");
    for case in &cases {
        let (client, backend) = api(case);
        let transcoder = Transcoder::new(client, backend, options(case));
        let translation = transcoder.request(&request(client, true, &case["request"])).unwrap();
        let bytes = frames(&case["chunks"]).into_bytes();
        let out = run(&translation, &bytes, usize::MAX);
        let shown = format!("{}\n{out}", case["name"]);
        check_order(client, &out);
        let expect = &case["expect"];
        match expect["error"].as_str() {
            Some(code) => {
                assert!(out.contains(code), "{shown}");
                assert!(read(client, &out).is_err() || !out.contains("[DONE]"), "{shown}");
            }
            None => check_turn(&read(client, &out).unwrap_or_else(|error| panic!("{error}: {shown}")), expect, &shown),
        }
        for text in expect["has"].as_array().into_iter().flatten() {
            assert!(out.contains(text.as_str().unwrap()), "no {text}: {shown}");
        }
        for text in expect["lacks"].as_array().into_iter().flatten() {
            assert!(!out.contains(text.as_str().unwrap()), "{text}: {shown}");
        }
        for size in [1, 7, 64] {
            let cut = run(&translation, &bytes, size);
            assert_eq!(without_ids(&cut), without_ids(&out), "{} in pieces of {size}", case["name"]);
        }
    }
    assert!(cases.len() > 30);
}

/// Every client's API against every backend's: the turn that the client reads is the turn of the backend.
#[test]
fn every_api_to_every_other() {
    let second = "<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\", \"lines\": 3}}</tool_call>";
    let both = format!("Now. {HERMES}\n{second}");
    let ls = json!(["ls", {"path": "/é"}]);
    let calls = json!([ls, ["read", {"path": "a", "lines": 3}]]);
    let (first, other) = (r#"{"path": "/é"}"#, r#"{"path":"a","lines":3}"#);
    type Row<'r> = (&'r str, Vec<(&'r str, &'r str)>, &'r str, Value);
    let rows: Vec<Row<'_>> = vec![
        (
            "text",
            vec![("text", "Hello there, é.")],
            "stop",
            json!({"text": "Hello there, é.", "calls": [], "stop": "stop"}),
        ),
        ("length", vec![("text", "Hello th")], "length", json!({"text": "Hello th", "calls": [], "stop": "length"})),
        (
            "reasoning",
            vec![("reasoning", "Let me think."), ("text", "Yes.")],
            "stop",
            json!({"text": "Yes.", "reasoning": "Let me think.", "stop": "stop"}),
        ),
        (
            "native",
            vec![("reasoning", "Hm."), ("text", "I look."), ("ls", first), ("read", other)],
            "stop",
            json!({"text": "I look.", "reasoning": "Hm.", "calls": calls, "stop": "tool_calls"}),
        ),
        ("no text", vec![("ls", first)], "stop", json!({"text": "", "calls": [ls], "stop": "tool_calls"})),
        ("no arguments", vec![("ls", "{}")], "stop", json!({"calls": [["ls", {}]], "stop": "tool_calls"})),
        ("call in text", vec![("text", HERMES)], "stop", json!({"text": "", "calls": [ls], "stop": "tool_calls"})),
        (
            "calls in text",
            vec![("reasoning", "Hm."), ("text", &both)],
            "stop",
            json!({"reasoning": "Hm.", "calls": calls, "stop": "tool_calls"}),
        ),
        (
            "what looks like a marker",
            vec![("text", "a < b and [1] <too")],
            "stop",
            json!({"text": "a < b and [1] <too", "stop": "stop"}),
        ),
    ];
    for client in ClientApi::ALL {
        for backend in BackendApi::ALL {
            for (name, said, stop, expect) in &rows {
                let bytes = backend_stream(*backend, said, stop).into_bytes();
                let transcoder = Transcoder::new(*client, *backend, Options::default());
                let translation = transcoder.request(&request(*client, true, &json!({}))).unwrap();
                let out = run(&translation, &bytes, usize::MAX);
                let shown = format!("{name}: {} of {}\n{out}", client.as_str(), backend.as_str());
                check_order(*client, &out);
                let turn = read(*client, &out).unwrap_or_else(|error| panic!("{error}: {shown}"));
                check_turn(&turn, expect, &shown);
                let usage = turn.usage.unwrap_or_else(|| panic!("no usage: {shown}"));
                assert_eq!((usage.input_tokens, usage.output_tokens), (Some(7), Some(3)), "{shown}");
                for size in [1, 13] {
                    assert_eq!(without_ids(&run(&translation, &bytes, size)), without_ids(&out), "{shown}");
                }
                // What holds no call in its text passes on as it came, where client and backend speak the same.
                if client.as_backend() == *backend && matches!(*name, "text" | "length" | "reasoning") {
                    let body = |text: &str| events(text).into_iter().map(|(_, event)| event).collect::<Vec<_>>();
                    if *client != ClientApi::Responses {
                        assert_eq!(body(&out), body(std::str::from_utf8(&bytes).unwrap()), "{shown}");
                    }
                }
            }
        }
    }
}

/// Models that number their calls themselves write the same id in each answer: the client gets another one.
#[test]
fn an_id_of_the_history_is_not_told_again() {
    let call = "functions.ls:0<|tool_call_argument_begin|>{\"path\": \"/\"}";
    let text =
        format!("<|tool_calls_section_begin|><|tool_call_begin|>{call}<|tool_call_end|><|tool_calls_section_end|>");
    let bytes = backend_stream(BackendApi::Chat, &[("text", &text)], "stop");
    let whole = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).to_string();
    for client in ClientApi::ALL {
        let transcoder = Transcoder::new(*client, BackendApi::Chat, Options::default());
        let told = |history: &Value| {
            let translation = transcoder.request(&request(*client, true, history)).unwrap();
            let streamed = read(*client, &run(&translation, bytes.as_bytes(), 7)).unwrap();
            let answered = translation.answer(200, whole.as_bytes()).body;
            let reading = Reading { tools: None, dialects: None, ..Reading::default() };
            let whole = normalize(&answered, Some(client.provider()), &reading).unwrap();
            (streamed.tool_calls[0].id.to_string(), whole.tool_calls[0].id.to_string())
        };
        let (first, again) = told(&json!({}));
        assert_eq!(first, again);
        let history = match client {
            ClientApi::Chat => json!({"messages": [
                {"role": "user", "content": "?"},
                {"role": "assistant", "tool_calls": [{"id": first, "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": first, "content": "x"}]}),
            ClientApi::Responses => json!({"input": [
                {"role": "user", "content": "?"},
                {"type": "function_call", "call_id": first, "name": "ls", "arguments": "{}"},
                {"type": "function_call_output", "call_id": first, "output": "x"}]}),
            ClientApi::Anthropic => json!({"messages": [
                {"role": "user", "content": "?"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": first, "name": "ls", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": first, "content": "x"}]}]}),
        };
        let (streamed, whole) = told(&history);
        assert!(streamed != first && whole != first, "{}: {first} again", client.as_str());
    }
}

/// Choices of Chat (`n > 1`) keep apart.
#[test]
fn choices_stay_apart() {
    let chunk = |index: u64, text: &str, finish: Value| {
        frame(&json!({"id": "c", "choices": [{"index": index, "delta": {"content": text}, "finish_reason": finish}]}))
    };
    let bytes = [
        chunk(0, "one ", Value::Null),
        chunk(1, HERMES, Value::Null),
        chunk(0, "two", Value::Null),
        chunk(1, "", json!("stop")),
        chunk(0, "", json!("stop")),
        "data: [DONE]\n\n".to_owned(),
    ];
    let transcoder = Transcoder::new(ClientApi::Chat, BackendApi::Chat, Options::default());
    let translation = transcoder.request(&request(ClientApi::Chat, true, &json!({"n": 2}))).unwrap();
    let out = run(&translation, bytes.concat().as_bytes(), usize::MAX);
    check_order(ClientApi::Chat, &out);
    let mut stream =
        StreamNormalizer::new(Some(ClientApi::Chat.provider()), &Reading { dialects: None, ..Reading::default() });
    let mut read = Vec::new();
    stream.feed_bytes(out.as_bytes(), &mut read);
    let turns = stream.finish_choices(&mut read).unwrap();
    assert_eq!((turns[0].content.as_ref(), turns[0].stop_reason), ("one two", StopReason::Stop), "{out}");
    assert_eq!((turns[1].tool_calls[0].name.as_ref(), turns[1].stop_reason), ("ls", StopReason::ToolCalls), "{out}");
}
