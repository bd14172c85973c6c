//! The transcoder: every client's API against every backend's, streamed and whole, over cases that are data
//! (`tests/data/wire/*.jsonl`, each with its source). What a client gets is read back by this library's own readers, and checked
//! for the order that its API demands.
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use toolglot::provider::{Reading, StreamNormalizer, normalize};
use toolglot::turn::{StopReason, Turn};
use toolglot::wire::{BackendApi, ClientApi, Mode, Options, Spoken, Transcoder, Translation};

fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wire").join(file);
    let text = fs::read_to_string(path).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.iter().all(|case| case["source"].as_str().is_some_and(|source| source.len() > 5)), "{file}");
    cases
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}})
}

/// A request of a client with two tools, and with what `more` says.
fn request(client: ClientApi, stream: bool, more: &Value) -> Vec<u8> {
    let mut body = match client {
        ClientApi::Chat => {
            let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": schema()}});
            json!({"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": [tool("ls"), tool("read")],
                "stream": stream, "stream_options": {"include_usage": true}})
        }
        ClientApi::Responses => {
            let tool = |name: &str| json!({"type": "function", "name": name, "parameters": schema()});
            json!({"model": "m", "input": "?", "tools": [tool("ls"), tool("read")], "stream": stream})
        }
        ClientApi::Anthropic => {
            let tool = |name: &str| json!({"name": name, "input_schema": schema()});
            json!({"model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "?"}],
                "tools": [tool("ls"), tool("read")], "stream": stream})
        }
    };
    for (key, value) in more.as_object().into_iter().flatten() {
        if value.is_null() {
            body.as_object_mut().unwrap().shift_remove(key);
        } else {
            body[key] = value.clone();
        }
    }
    body.to_string().into_bytes()
}

fn options(case: &Value) -> Options {
    let mut options = Options::default();
    if case["mode"] == "text" {
        options.mode = Mode::Text;
    }
    if let Some(dialect) = case["dialect"].as_str() {
        options.dialect = Some(Spoken::named(dialect).unwrap());
    }
    options
}

fn api(case: &Value) -> (ClientApi, BackendApi) {
    let name = |key: &str| case[key].as_str().unwrap_or("chat");
    (ClientApi::from_name(name("client")).unwrap(), BackendApi::from_name(name("backend")).unwrap())
}

fn frames(chunks: &Value) -> String {
    chunks.as_array().unwrap().iter().map(frame).collect()
}

fn frame(chunk: &Value) -> String {
    match chunk {
        Value::String(text) => text.clone(),
        chunk => match chunk["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {chunk}\n\n"),
            None => format!("data: {chunk}\n\n"),
        },
    }
}

fn run(translation: &Translation, bytes: &[u8], size: usize) -> String {
    let mut stream = translation.stream();
    let mut out = Vec::new();
    for piece in bytes.chunks(size) {
        stream.feed(piece, &mut out);
    }
    stream.finish(&mut out);
    assert!(stream.is_over());
    assert_eq!(stream.error().is_none(), stream.turn().is_some());
    String::from_utf8(out).unwrap()
}

/// The text with every id that is made up, and the time, replaced.
fn without_ids(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut run = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_hexdigit() {
            run.push(c);
            continue;
        }
        out.push_str(if run.len() >= 10 { "X" } else { &run });
        run.clear();
        out.push(c);
    }
    out
}

fn events(out: &str) -> Vec<(String, Value)> {
    let mut events = Vec::new();
    for block in out.split("\n\n").filter(|block| !block.is_empty()) {
        let (mut name, mut data) = (String::new(), String::new());
        for line in block.split('\n') {
            if let Some(rest) = line.strip_prefix("event: ") {
                name = rest.to_owned();
            } else if let Some(rest) = line.strip_prefix("data: ") {
                data.push_str(rest);
            } else {
                assert!(line.starts_with(':'), "{line:?} in {out}");
            }
        }
        if data == "[DONE]" {
            events.push(("done".to_owned(), Value::Null));
        } else if !data.is_empty() {
            events.push((name, serde_json::from_str(&data).unwrap_or_else(|_| panic!("{data}"))));
        }
    }
    events
}

/// The order that the client's API demands.
fn check_order(client: ClientApi, out: &str) {
    let events = events(out);
    let failed = out.contains("\"error\":{\"message\"")
        || out.contains("event: error")
        || out.contains("event: response.failed");
    match client {
        ClientApi::Chat => {
            let done = events.iter().filter(|(name, _)| name == "done").count();
            assert_eq!(done, usize::from(!failed), "{out}");
            assert!(failed || events.last().unwrap().0 == "done", "{out}");
            for (_, event) in &events {
                for call in event.pointer("/choices/0/delta/tool_calls").and_then(Value::as_array).into_iter().flatten()
                {
                    assert!(call["index"].is_u64(), "{out}");
                }
            }
        }
        ClientApi::Anthropic => {
            let mut open: Option<u64> = None;
            let mut next = 0;
            for (at, (name, event)) in events.iter().enumerate() {
                assert_eq!(*name, event["type"], "{out}");
                let index = event["index"].as_u64();
                match name.as_str() {
                    "message_start" => {
                        assert_eq!(at, 0, "{out}");
                        assert!(event["message"]["usage"]["input_tokens"].as_u64() > Some(0), "zero usage: {out}");
                    }
                    "content_block_start" => {
                        assert_eq!((open, index), (None, Some(next)), "{out}");
                        (open, next) = (index, next + 1);
                    }
                    "content_block_delta" => {
                        assert_eq!(index, open, "{out}");
                        let delta = &event["delta"];
                        let said = ["text", "partial_json", "thinking", "signature"]
                            .iter()
                            .find_map(|key| delta[key].as_str());
                        assert!(said.is_some_and(|said| !said.is_empty()), "an empty delta: {out}");
                    }
                    "content_block_stop" => assert_eq!(index, open.take(), "{out}"),
                    "message_delta" => assert!(open.is_none() && event["usage"]["output_tokens"].is_u64(), "{out}"),
                    "message_stop" | "error" => assert_eq!(at + 1, events.len(), "{out}"),
                    "ping" => {}
                    other => panic!("{other}: {out}"),
                }
            }
            assert!(failed || events.last().unwrap().0 == "message_stop", "{out}");
        }
        ClientApi::Responses => {
            let (mut open, mut items): (Option<u64>, Vec<Value>) = (None, Vec::new());
            for (at, (name, event)) in events.iter().enumerate() {
                assert_eq!(*name, event["type"], "{out}");
                assert_eq!(event["sequence_number"], json!(at), "{out}");
                let index = event["output_index"].as_u64();
                match name.as_str() {
                    "response.output_item.added" => {
                        assert_eq!((open, index), (None, Some(items.len() as u64)), "{out}");
                        open = index;
                    }
                    "response.output_item.done" => {
                        assert_eq!(open.take(), index, "{out}");
                        items.push(event["item"].clone());
                    }
                    "response.created" | "response.in_progress" => assert!(at < 2, "{out}"),
                    "response.completed" | "response.incomplete" => {
                        assert_eq!(event["response"]["output"], Value::Array(items.clone()), "{out}");
                        assert_eq!(at + 1, events.len(), "{out}");
                    }
                    "response.failed" => assert_eq!(at + 1, events.len(), "{out}"),
                    _ => assert_eq!(index, open, "{name}: {out}"),
                }
            }
            assert!(events.last().unwrap().1["response"]["output"].is_array(), "{out}");
        }
    }
}

fn read(client: ClientApi, out: &str) -> Result<Turn<'static>, String> {
    let reading = Reading { tools: None, dialects: None, ..Reading::default() };
    let mut stream = StreamNormalizer::new(Some(client.provider()), &reading);
    let mut events = Vec::new();
    stream.feed_bytes(out.as_bytes(), &mut events);
    let turn = stream.finish(&mut events).map_err(|error| error.to_string())?;
    if turn.stop_reason == StopReason::Error { Err("an error".to_owned()) } else { Ok(turn) }
}

fn check_turn(turn: &Turn<'_>, expect: &Value, shown: &str) {
    if let Some(text) = expect["text"].as_str() {
        assert_eq!(turn.content, text, "{shown}");
    }
    if let Some(text) = expect["reasoning"].as_str() {
        assert_eq!(turn.reasoning, text, "{shown}");
    }
    if let Some(calls) = expect["calls"].as_array() {
        let found: Vec<Value> =
            turn.tool_calls.iter().map(|call| json!([call.name, call.arguments.to_value()])).collect();
        assert_eq!(found, *calls, "{shown}");
        let ids: std::collections::HashSet<_> = turn.tool_calls.iter().map(|call| &call.id).collect();
        assert_eq!(ids.len(), calls.len(), "ids: {shown}");
    }
    if let Some(stop) = expect["stop"].as_str() {
        assert_eq!(turn.stop_reason.as_str(), stop, "{shown}");
    }
}

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

/// What a backend says, in the words of its API, streamed: text, reasoning and native calls in their order.
fn backend_stream(api: BackendApi, said: &[(&str, &str)], stop: &str) -> String {
    let pieces = |text: &str| -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(5).map(|piece| piece.iter().collect()).collect()
    };
    let mut out = String::new();
    let mut push = |chunk: Value| out.push_str(&frame(&chunk));
    let calls = said.iter().filter(|(kind, _)| !["text", "reasoning"].contains(kind)).count();
    match api {
        BackendApi::Chat => {
            let chunk = |delta: Value, finish: Value| json!({"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": "b", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
            push(chunk(json!({"role": "assistant", "content": ""}), Value::Null));
            let mut number = 0;
            for (kind, text) in said {
                match *kind {
                    "text" => pieces(text).into_iter().for_each(|p| push(chunk(json!({"content": p}), Value::Null))),
                    "reasoning" => {
                        pieces(text)
                            .into_iter()
                            .for_each(|p| push(chunk(json!({"reasoning_content": p}), Value::Null)));
                    }
                    name => {
                        let id = format!("call_b{number}");
                        push(chunk(
                            json!({"tool_calls": [{"index": number, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]}),
                            Value::Null,
                        ));
                        for p in pieces(text) {
                            push(chunk(
                                json!({"tool_calls": [{"index": number, "function": {"arguments": p}}]}),
                                Value::Null,
                            ));
                        }
                        number += 1;
                    }
                }
            }
            let finish = match stop {
                "stop" if calls > 0 => "tool_calls",
                stop => stop,
            };
            push(chunk(json!({}), json!(finish)));
            push(
                json!({"id": "c1", "object": "chat.completion.chunk", "created": 5, "model": "b", "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}),
            );
            out.push_str("data: [DONE]\n\n");
        }
        BackendApi::Anthropic => {
            push(
                json!({"type": "message_start", "message": {"id": "msg_b", "type": "message", "role": "assistant", "model": "b", "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 7, "output_tokens": 1}}}),
            );
            for (index, (kind, text)) in said.iter().enumerate() {
                let (block, delta, key) = match *kind {
                    "text" => (json!({"type": "text", "text": ""}), "text_delta", "text"),
                    "reasoning" => {
                        (json!({"type": "thinking", "thinking": "", "signature": ""}), "thinking_delta", "thinking")
                    }
                    name => (
                        json!({"type": "tool_use", "id": format!("toolu_b{index}"), "name": name, "input": {}}),
                        "input_json_delta",
                        "partial_json",
                    ),
                };
                push(json!({"type": "content_block_start", "index": index, "content_block": block}));
                for p in pieces(text) {
                    push(json!({"type": "content_block_delta", "index": index, "delta": {"type": delta, key: p}}));
                }
                push(json!({"type": "content_block_stop", "index": index}));
            }
            let reason = match stop {
                "length" => "max_tokens",
                _ if calls > 0 => "tool_use",
                _ => "end_turn",
            };
            push(
                json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 3}}),
            );
            push(json!({"type": "message_stop"}));
        }
        BackendApi::Responses => {
            let mut number = 0;
            let mut event = |name: &str, more: Value| {
                let mut event = json!({"type": format!("response.{name}"), "sequence_number": number});
                number += 1;
                event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                push(event);
            };
            let head = json!({"id": "resp_b", "object": "response", "created_at": 5, "status": "in_progress", "model": "b", "output": [], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "usage": null});
            event("created", json!({"response": head}));
            event("in_progress", json!({"response": head}));
            let mut output = Vec::new();
            for (at, (kind, text)) in said.iter().enumerate() {
                match *kind {
                    "text" => {
                        let item = json!({"id": format!("msg_b{at}"), "type": "message", "status": "in_progress", "role": "assistant", "content": []});
                        event("output_item.added", json!({"output_index": at, "item": item}));
                        let part = |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
                        event(
                            "content_part.added",
                            json!({"item_id": item["id"], "output_index": at, "content_index": 0, "part": part("")}),
                        );
                        for p in pieces(text) {
                            event(
                                "output_text.delta",
                                json!({"item_id": item["id"], "output_index": at, "content_index": 0, "delta": p, "logprobs": []}),
                            );
                        }
                        event(
                            "output_text.done",
                            json!({"item_id": item["id"], "output_index": at, "content_index": 0, "text": text, "logprobs": []}),
                        );
                        event(
                            "content_part.done",
                            json!({"item_id": item["id"], "output_index": at, "content_index": 0, "part": part(text)}),
                        );
                        let mut done = item;
                        done["status"] = json!("completed");
                        done["content"] = json!([part(text)]);
                        event("output_item.done", json!({"output_index": at, "item": done}));
                        output.push(done);
                    }
                    "reasoning" => {
                        let item = json!({"id": format!("rs_b{at}"), "type": "reasoning", "summary": [], "encrypted_content": "secret"});
                        event("output_item.added", json!({"output_index": at, "item": item}));
                        event(
                            "reasoning_summary_part.added",
                            json!({"item_id": item["id"], "output_index": at, "summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
                        );
                        for p in pieces(text) {
                            event(
                                "reasoning_summary_text.delta",
                                json!({"item_id": item["id"], "output_index": at, "summary_index": 0, "delta": p}),
                            );
                        }
                        let mut done = item;
                        done["summary"] = json!([{"type": "summary_text", "text": text}]);
                        event("output_item.done", json!({"output_index": at, "item": done}));
                        output.push(done);
                    }
                    name => {
                        let item = json!({"id": format!("fc_b{at}"), "type": "function_call", "status": "in_progress", "call_id": format!("call_b{at}"), "name": name, "arguments": ""});
                        event("output_item.added", json!({"output_index": at, "item": item}));
                        for p in pieces(text) {
                            event(
                                "function_call_arguments.delta",
                                json!({"item_id": item["id"], "output_index": at, "delta": p}),
                            );
                        }
                        let mut done = item;
                        done["arguments"] = json!(text);
                        done["status"] = json!("completed");
                        event(
                            "function_call_arguments.done",
                            json!({"item_id": done["id"], "output_index": at, "arguments": text}),
                        );
                        event("output_item.done", json!({"output_index": at, "item": done}));
                        output.push(done);
                    }
                }
            }
            let mut end = head;
            let (status, details) = if stop == "length" {
                ("incomplete", json!({"reason": "max_output_tokens"}))
            } else {
                ("completed", Value::Null)
            };
            end["status"] = json!(status);
            end["incomplete_details"] = details;
            end["output"] = Value::Array(output);
            end["usage"] = json!({"input_tokens": 7, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 10});
            event(status, json!({"response": end}));
        }
        BackendApi::Gemini => {
            let chunk = |parts: Value| json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}], "modelVersion": "b"});
            for (kind, text) in said {
                match *kind {
                    "text" => pieces(text).into_iter().for_each(|p| push(chunk(json!([{"text": p}])))),
                    "reasoning" => {
                        pieces(text).into_iter().for_each(|p| push(chunk(json!([{"text": p, "thought": true}]))))
                    }
                    name => push(chunk(
                        json!([{"functionCall": {"name": name, "args": serde_json::from_str::<Value>(text).unwrap()}}]),
                    )),
                }
            }
            let reason = if stop == "length" { "MAX_TOKENS" } else { "STOP" };
            push(
                json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": []}, "finishReason": reason}], "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}}),
            );
        }
    }
    out
}

const HERMES: &str = "<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"/é\"}}\n</tool_call>";

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

/// A stream that breaks off anywhere never says that a call is finished which is not.
#[test]
fn cut_anywhere() {
    for client in ClientApi::ALL {
        for backend in BackendApi::ALL {
            let said = [("text", "I look."), ("ls", r#"{"path": "/é"}"#)];
            for said in [&said[..], &[("text", HERMES)]] {
                let bytes = backend_stream(*backend, said, "stop").into_bytes();
                let transcoder = Transcoder::new(*client, *backend, Options::default());
                let translation = transcoder.request(&request(*client, true, &json!({}))).unwrap();
                for end in (0..bytes.len()).step_by(11) {
                    let out = run(&translation, &bytes[..end], usize::MAX);
                    check_order_of_a_cut(*client, &out);
                    if let Ok(turn) = read(*client, &out)
                        && turn.stop_reason == StopReason::ToolCalls
                    {
                        let whole =
                            turn.tool_calls.iter().all(|call| call.arguments.to_value() == json!({"path": "/é"}));
                        assert!(
                            whole && turn.tool_calls.len() == 1,
                            "{} of {}: {out}",
                            client.as_str(),
                            backend.as_str()
                        );
                    }
                }
            }
        }
    }
}

fn check_order_of_a_cut(client: ClientApi, out: &str) {
    let said_error =
        out.contains("\"error\":{\"message\"") || out.contains("event: error") || out.contains("response.failed");
    let ended = out.contains("[DONE]") || out.contains("message_stop") || out.contains("response.completed");
    assert!(said_error != ended || client == ClientApi::Responses && out.contains("response.incomplete"), "{out}");
}

#[test]
fn whole_answers() {
    for case in &cases("answers.jsonl") {
        let (client, backend) = api(case);
        let transcoder = Transcoder::new(client, backend, options(case));
        let translation = transcoder.request(&request(client, false, &case["request"])).unwrap();
        let body = match &case["body"] {
            Value::String(text) => text.clone(),
            body => body.to_string(),
        };
        let status = case["status"].as_u64().unwrap_or(200) as u16;
        let answered = translation.answer(status, body.as_bytes());
        let text = String::from_utf8(answered.body).unwrap();
        let shown = format!("{}\n{text}", case["name"]);
        let expect = &case["expect"];
        assert_eq!(u64::from(answered.status), expect["status"].as_u64().unwrap_or(200), "{shown}");
        if answered.status == 200 {
            let reading = Reading { tools: None, dialects: None, ..Reading::default() };
            let turn = normalize(text.as_bytes(), Some(client.provider()), &reading).unwrap();
            check_turn(&turn, expect, &shown);
        } else {
            let body: Value = serde_json::from_str(&text).unwrap();
            assert!(body["error"]["message"].is_string(), "{shown}");
            assert_eq!(client == ClientApi::Anthropic, body["type"] == "error", "{shown}");
        }
        if expect["same"] == true {
            assert_eq!(text, body, "{shown}");
        }
        for text_ in expect["has"].as_array().into_iter().flatten() {
            assert!(text.contains(text_.as_str().unwrap()), "no {text_}: {shown}");
        }
        for text_ in expect["lacks"].as_array().into_iter().flatten() {
            assert!(!text.contains(text_.as_str().unwrap()), "{text_}: {shown}");
        }
    }
}

/// What a client's request becomes: members of the backend's body, by JSON pointer.
#[test]
fn requests() {
    for case in &cases("requests.jsonl") {
        let (client, backend) = api(case);
        let transcoder = Transcoder::new(client, backend, options(case));
        let body = match &case["body"] {
            Value::Null => request(client, false, &case["request"]),
            Value::String(text) => text.clone().into_bytes(),
            body => body.to_string().into_bytes(),
        };
        let expect = &case["expect"];
        let shown = case["name"].to_string();
        let translation = match transcoder.request(&body) {
            Ok(translation) => translation,
            Err(error) => {
                assert_eq!(
                    error.code.as_str(),
                    expect["error"].as_str().unwrap_or_else(|| panic!("{error}: {shown}")),
                    "{shown}"
                );
                assert_eq!(error.status, 400, "{shown}");
                let body = String::from_utf8(error.body(client)).unwrap();
                let value: Value = serde_json::from_str(&body).unwrap();
                assert_eq!(client == ClientApi::Anthropic, value["type"] == "error", "{shown}");
                for text in expect["has"].as_array().into_iter().flatten() {
                    assert!(body.contains(text.as_str().unwrap()), "no {text}: {shown} {body}");
                }
                continue;
            }
        };
        assert!(
            expect["error"].is_null(),
            "{shown} was taken: {:?}",
            String::from_utf8_lossy(&translation.request().body)
        );
        let sent: Value = serde_json::from_slice(&translation.request().body).unwrap();
        if let Some(path) = expect["path"].as_str() {
            assert_eq!(translation.request().path, path, "{shown}");
        }
        for (pointer, value) in expect["at"].as_object().into_iter().flatten() {
            assert_eq!(sent.pointer(pointer).unwrap_or(&Value::Null), value, "{shown}: {pointer} of {sent}");
        }
        let text = sent.to_string();
        for part in expect["has"].as_array().into_iter().flatten() {
            assert!(text.contains(part.as_str().unwrap()), "no {part}: {shown} {text}");
        }
        for part in expect["lacks"].as_array().into_iter().flatten() {
            assert!(!text.contains(part.as_str().unwrap()), "{part}: {shown} {text}");
        }
        for part in expect["losses"].as_array().into_iter().flatten() {
            let losses = &translation.request().losses;
            let told = losses.iter().any(|loss| loss.place == part.as_str().unwrap_or_default());
            assert!(told, "{part}: {shown} {losses:?}");
        }
    }
}

/// A conversation of so many turns in a client's API, as it is sent before each answer of the model.
fn conversation(client: ClientApi, turn: usize) -> Value {
    let id = |n: usize| format!("call_{n}");
    match client {
        ClientApi::Chat => {
            let mut messages =
                vec![json!({"role": "system", "content": "You help."}), json!({"role": "user", "content": "?"})];
            for n in 0..turn {
                let call = json!({"id": id(n), "type": "function", "function": {"name": "ls", "arguments": format!("{{\"path\": \"{n}\"}}")}});
                messages.push(json!({"role": "assistant", "content": "I look.", "reasoning_content": "Hm.", "tool_calls": [call]}));
                messages.push(json!({"role": "tool", "tool_call_id": id(n), "content": [{"type": "text", "text": format!("file {n}")}]}));
            }
            json!({ "messages": messages })
        }
        ClientApi::Responses => {
            let mut input = vec![
                json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You help."}]}),
                json!({"role": "user", "content": "?"}),
            ];
            for n in 0..turn {
                input.push(json!({"type": "reasoning", "id": format!("rs_{n}"), "summary": [{"type": "summary_text", "text": "Hm."}]}));
                input.push(json!({"type": "function_call", "id": format!("fc_{n}"), "call_id": id(n), "name": "ls", "arguments": format!("{{\"path\": \"{n}\"}}"), "status": "completed"}));
                input.push(json!({"type": "function_call_output", "call_id": id(n), "output": format!("file {n}")}));
            }
            json!({ "input": input })
        }
        ClientApi::Anthropic => {
            // As Claude Code does: a header that changes, a mark that moves, content that is a list first and then text.
            let mark = |at: usize, mut block: Value| {
                if at == turn {
                    block["cache_control"] = json!({"type": "ephemeral"});
                }
                block
            };
            let system = json!([
                {"type": "text", "text": format!("x-anthropic-billing-header: cc_version=2.1; cch={turn:05x};")},
                {"type": "text", "text": "You help.", "cache_control": {"type": "ephemeral"}},
            ]);
            let late =
                if turn == 0 { json!([mark(0, json!({"type": "text", "text": "Rules."}))]) } else { json!("Rules.") };
            let mut messages = vec![
                json!({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "?"}]}),
                json!({"role": "system", "content": late}),
            ];
            for n in 0..turn {
                let mut content = vec![
                    json!({"type": "thinking", "thinking": "Hm.", "signature": ""}),
                    json!({"type": "text", "text": "I look."}),
                ];
                content.push(json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": "ls", "input": {"path": n.to_string()}}));
                messages.push(json!({"role": "assistant", "content": content}));
                let result =
                    json!({"type": "tool_result", "tool_use_id": format!("toolu_{n}"), "content": format!("file {n}")});
                messages.push(json!({"role": "user", "content": [mark(n + 1, result)]}));
                if n == 2 {
                    messages.push(json!({"role": "system", "content": "Later."}));
                }
            }
            json!({"system": system, "messages": messages})
        }
    }
}

/// A backend's cache of prompts holds what a conversation said before: the bytes of one turn begin those of the next.
#[test]
fn the_bytes_of_a_turn_begin_those_of_the_next() {
    for client in ClientApi::ALL {
        for backend in BackendApi::ALL {
            for mode in Mode::ALL {
                let same = client.as_backend() == *backend;
                if same && (*mode == Mode::Native || *client == ClientApi::Anthropic) {
                    // What passes, passes; where a cache's marks stand is told to Anthropic's.
                    continue;
                }
                let options = Options { mode: *mode, ..Options::default() };
                let transcoder = Transcoder::new(*client, *backend, options);
                let sent = |turn: usize| {
                    let body = request(*client, true, &conversation(*client, turn));
                    String::from_utf8(transcoder.request(&body).unwrap().request().body.clone()).unwrap()
                };
                let mut before = sent(0);
                for turn in 1..6 {
                    let next = sent(turn);
                    let known = before.strip_suffix("]}").unwrap_or_else(|| panic!("{before}"));
                    assert!(
                        next.starts_with(known),
                        "{} to {}, {mode:?}:\n{before}\n{next}",
                        client.as_str(),
                        backend.as_str()
                    );
                    assert!(next.len() > before.len());
                    before = next;
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

/// Whatever bytes come, from the client or from the backend, there is an answer in the client's API, and nothing of one
/// request is in another's.
#[test]
fn any_bytes_are_answered() {
    let garbage: Vec<Vec<u8>> = vec![
        vec![0xff; 300],
        b"data: ".to_vec(),
        b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\xfe\"},\"finish_reason\":\"stop\"}]}\n\n"
            .to_vec(),
        b"data: {\"choices\": 5}\n\ndata: {\"choices\": [5]}\n\ndata: 5\n\ndata: null\n\n".to_vec(),
        b"event: x\nid: 5\nretry: 5\n\n: \n\n".to_vec(),
        format!("data: {}\n\n", "[".repeat(5000)).into_bytes(),
        b"\0\0\0".to_vec(),
        b"{\"a\":".to_vec(),
    ];
    for client in ClientApi::ALL {
        for backend in BackendApi::ALL {
            let transcoder = Transcoder::new(*client, *backend, Options::default());
            let translation = transcoder.request(&request(*client, true, &json!({}))).unwrap();
            for bytes in &garbage {
                for size in [1, usize::MAX] {
                    let out = run(&translation, bytes, size);
                    check_order_of_a_cut(*client, &out);
                    check_order(*client, &out);
                }
                let answered = translation.answer(200, bytes);
                let body: Value = serde_json::from_slice(&answered.body).unwrap();
                assert!(answered.status == 200 || body["error"]["message"].is_string(), "{body}");
            }
        }
        for bytes in &garbage {
            assert!(Transcoder::new(*client, BackendApi::Chat, Options::default()).request(bytes).is_err());
        }
    }
}

/// What is no UTF-8 becomes U+FFFD, in a text that passes as well as in one that is written anew.
#[test]
fn invalid_utf8_is_replaced() {
    let bytes =
        b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}\n\n";
    for client in ClientApi::ALL {
        let transcoder = Transcoder::new(*client, BackendApi::Chat, Options::default());
        let translation = transcoder.request(&request(*client, true, &json!({}))).unwrap();
        for size in [1, usize::MAX] {
            let turn = read(*client, &run(&translation, bytes, size)).unwrap();
            assert_eq!(turn.content, "a\u{fffd}b", "{}", client.as_str());
        }
        let whole = b"{\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}";
        let answered = translation.answer(200, whole);
        assert_eq!(answered.turn.unwrap().content, "a\u{fffd}b", "{}", client.as_str());
        assert!(String::from_utf8(answered.body).unwrap().contains("a\u{fffd}b"));
    }
}

/// The connection breaks off in the middle of a call: the call stays open, and nothing says that anything is finished.
#[test]
fn an_abort_finishes_nothing() {
    let text = frame(&json!({"choices": [{"index": 0, "delta": {"content": "Hi "}}]}));
    let call = frame(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "ls", "arguments": "{\"path\": \"/"}}]}}]}));
    for client in ClientApi::ALL {
        let transcoder = Transcoder::new(*client, BackendApi::Chat, Options::default());
        let mut stream = transcoder.request(&request(*client, true, &json!({}))).unwrap().stream();
        let mut out = Vec::new();
        stream.feed(text.as_bytes(), &mut out);
        stream.feed(call.as_bytes(), &mut out);
        stream.abort(&mut out);
        assert_eq!(stream.error().unwrap().code.as_str(), "backend_disconnected");
        let out = String::from_utf8(out).unwrap();
        check_order_of_a_cut(*client, &out);
        let never = ["[DONE]", "message_stop", "response.completed", "\"finish_reason\":\"", "arguments.done"];
        assert!(out.contains("Hi ") && never.iter().all(|word| !out.contains(word)), "{out}");
    }
}

/// A line that never ends is not kept for ever.
#[test]
fn an_endless_line_ends_the_stream() {
    let options = Options { max_frame: 10_000, ..Options::default() };
    for client in ClientApi::ALL {
        let transcoder = Transcoder::new(*client, BackendApi::Chat, options.clone());
        let mut stream = transcoder.request(&request(*client, true, &json!({}))).unwrap().stream();
        let mut out = Vec::new();
        stream.feed(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: ", &mut out);
        for _ in 0..20 {
            stream.feed(&[b'x'; 1000], &mut out);
        }
        assert!(stream.is_over());
        assert_eq!(stream.error().unwrap().code.as_str(), "backend_bad_stream");
        let before = out.len();
        stream.feed(b"\n\n", &mut out);
        stream.finish(&mut out);
        assert_eq!(out.len(), before);
        assert!(String::from_utf8(out).unwrap().contains("Hi"));
    }
}

/// A frame of 10 MB is read, and costs no more than its bytes.
#[test]
fn a_long_frame_is_read() {
    let text = "x".repeat(10 << 20);
    let body = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":\"stop\"}}]}}\n\n"
    );
    let transcoder = Transcoder::new(ClientApi::Anthropic, BackendApi::Chat, Options::default());
    let translation = transcoder.request(&request(ClientApi::Anthropic, true, &json!({"tools": null}))).unwrap();
    let out = run(&translation, body.as_bytes(), 1 << 16);
    assert_eq!(read(ClientApi::Anthropic, &out).unwrap().content.len(), text.len());
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
