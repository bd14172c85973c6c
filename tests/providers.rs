//! Every provider's payloads, as data: `tests/data/providers/*.jsonl`, one case a line.
//!
//! A case has an `input` (a response, or a list of chunks), and what the turn must be. Streams are also fed as SSE
//! bytes, cut at every byte.
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolglot::dialect::Dialects;
use toolglot::provider::{Node, Provider, Reading, StreamNormalizer, normalize, normalize_node};
use toolglot::schema::ToolSet;
use toolglot::schema::convert::{Format, Target};
use toolglot::turn::{CallStatus, Event, Turn};

struct Case {
    file: String,
    name: String,
    stream: bool,
    provider: Option<Provider>,
    input: Value,
    expect: Value,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/providers");
    let mut out = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files {
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        for line in fs::read_to_string(&path).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            out.push(Case {
                file: file.clone(),
                name: case["name"].as_str().unwrap().to_owned(),
                stream: case["kind"] == "stream",
                provider: case["provider"].as_str().map(|name| Provider::from_name(name).unwrap()),
                input: case["input"].clone(),
                expect: case["expect"].clone(),
            });
        }
    }
    assert!(out.len() > 150, "{} cases", out.len());
    // A case may need a dialect that the catalogue has not yet.
    out.retain(|case| case.expect["needs"].as_str().is_none_or(|name| Dialects::named(name).is_ok()));
    out
}

fn reading() -> Reading {
    let tool = |name: &str, parameters: Value| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
    let text = json!({"type": "string"});
    let tools = [
        tool(
            "get_weather",
            json!({"type": "object", "properties": {"city": text, "unit": text}, "required": ["city"]}),
        ),
        tool("get_time", json!({"type": "object", "properties": {"timezone": text}})),
        tool("ping", json!({"type": "object", "properties": {}})),
        tool("run_py", json!({"type": "object", "properties": {"input": text}})),
        tool("find_customer", json!({"type": "object", "properties": {"q": text}})),
    ];
    Reading { tools: Some(Arc::new(ToolSet::from_values(&tools).unwrap())), ..Reading::default() }
}

/// The events added up as a reader of the stream would.
fn add_up(events: &[Event]) -> Value {
    let (mut content, mut reasoning) = (String::new(), String::new());
    let mut calls: Vec<Value> = Vec::new();
    let mut pieces: Vec<String> = Vec::new();
    for event in events {
        match event {
            Event::Text(text) => content.push_str(text),
            Event::Reasoning(text) => reasoning.push_str(text),
            Event::Reclassified => reasoning.push_str(&std::mem::take(&mut content)),
            Event::CallStarted { index, id, name } => {
                assert_eq!(*index, pieces.len(), "calls start in their order");
                pieces.push(String::new());
                calls.push(json!({"id": id, "name": name}));
            }
            Event::Arguments { index, text } => pieces[*index].push_str(text),
            Event::CallEnded { index, call } => {
                assert_eq!(calls[*index], json!({"id": call.id, "name": call.name}), "announced as it ended");
                if call.status.as_str() == "ok" {
                    assert_eq!(pieces[*index], call.arguments.to_json(), "pieces of {}", call.name);
                }
                calls[*index] = call_value(call);
            }
            Event::Issue(_) => {}
        }
    }
    // A call that never ended was withdrawn: native ones came.
    calls.retain(|call| call.get("status").is_some());
    json!({"content": content, "reasoning": reasoning, "calls": calls})
}

fn call_value(call: &toolglot::ToolCall<'_>) -> Value {
    json!({"id": call.id, "name": call.name, "status": call.status.as_str(), "arguments": call.arguments.to_value()})
}

fn summary(turn: &Turn<'_>) -> Value {
    let calls: Vec<Value> = turn.tool_calls.iter().map(call_value).collect();
    json!({"content": turn.content, "reasoning": turn.reasoning, "calls": calls})
}

#[track_caller]
fn check(case: &Case, turn: &Turn<'_>, how: &str) {
    let label = format!("{}: {} ({how})", case.file, case.name);
    let expect = &case.expect;
    assert_eq!(turn.content, expect["content"].as_str().unwrap(), "{label}: content");
    assert_eq!(turn.reasoning, expect["reasoning"].as_str().unwrap_or_default(), "{label}: reasoning");
    let calls = expect["calls"].as_array().unwrap();
    assert_eq!(turn.tool_calls.len(), calls.len(), "{label}: {:?}", turn.tool_calls);
    for (call, expected) in turn.tool_calls.iter().zip(calls) {
        assert_eq!(call.name, expected["name"].as_str().unwrap(), "{label}");
        assert_eq!(call.status.as_str(), expected["status"].as_str().unwrap(), "{label}: {call:?}");
        if let Some(id) = expected["id"].as_str() {
            assert_eq!(call.id, id, "{label}");
        }
        assert!(!call.id.is_empty(), "{label}");
        if !expected["arguments"].is_null() {
            assert_eq!(call.arguments.to_value(), expected["arguments"], "{label}");
        }
    }
    assert_eq!(turn.stop_reason.as_str(), expect["stop_reason"].as_str().unwrap(), "{label}: {:?}", turn.issues);
    assert_eq!(turn.source.as_str(), expect["source"].as_str(), "{label}");
    let issues: Vec<&str> = turn.issues.iter().map(|issue| issue.code.as_str()).collect();
    for issue in expect["issues"].as_array().into_iter().flatten() {
        assert!(issues.contains(&issue.as_str().unwrap()), "{label}: {issues:?}");
    }
    let state = turn.provider_state.as_ref().and_then(Value::as_object);
    let keys: Vec<&str> = state.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let expected: Vec<&str> = expect["state"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert_eq!(keys, expected, "{label}: {state:?}");
}

/// How a stream is given a chunk.
type Feed = fn(&mut StreamNormalizer, &Value, &mut Vec<Event>);

const PARSED: Feed = |stream, chunk, events| stream.feed_node(&Node::from(chunk), events);
const TEXT: Feed = |stream, chunk, events| stream.feed_json(chunk.to_string().as_bytes(), events);

#[track_caller]
fn stream_of(case: &Case, feed: Feed) -> (Turn<'static>, Vec<Event>) {
    let mut stream = StreamNormalizer::new(case.provider, &reading());
    let mut events = Vec::new();
    for chunk in case.input.as_array().unwrap() {
        feed(&mut stream, chunk, &mut events);
    }
    let turn = stream.finish(&mut events).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    (turn, events)
}

#[test]
fn responses_become_the_expected_turn() {
    for case in cases().iter().filter(|case| !case.stream && case.file != "errors") {
        let turn = normalize_node(&Node::from(&case.input), case.provider, &reading())
            .unwrap_or_else(|e| panic!("{}: {e}", case.name));
        check(case, &turn, "value");
        let bytes = case.input.to_string();
        let again = normalize(bytes.as_bytes(), case.provider, &reading()).unwrap();
        check(case, &again, "bytes");
    }
}

#[test]
fn streams_become_the_expected_turn_and_their_events_add_up() {
    for case in cases().iter().filter(|case| case.stream) {
        for (how, feed) in [("values", PARSED), ("text", TEXT)] {
            let (turn, events) = stream_of(case, feed);
            check(case, &turn, how);
            assert_eq!(add_up(&events), summary(&turn), "{}: {} ({how})", case.file, case.name);
        }
    }
}

/// The chunks as server-sent events, with event names where the provider has them.
fn sse(case: &Case) -> String {
    let mut out = String::from(": comment\n\n");
    for chunk in case.input.as_array().unwrap() {
        if let Some(kind) = chunk["type"].as_str() {
            out.push_str(&format!("event: {kind}\n"));
        }
        out.push_str(&format!("data: {chunk}\n\n"));
    }
    out.push_str("data: [DONE]\n\n");
    out
}

fn lines(case: &Case) -> String {
    case.input.as_array().unwrap().iter().map(|chunk| format!("{chunk}\n")).collect()
}

fn without_ids(mut summary: Value) -> Value {
    for call in summary["calls"].as_array_mut().unwrap() {
        if let Some(id) = call["id"].as_str().filter(|id| id.len() == 25) {
            assert!(id.starts_with("call_"));
            call["id"] = Value::Null;
        }
    }
    summary
}

#[test]
fn bytes_may_be_cut_anywhere() {
    for case in cases().iter().filter(|case| case.stream) {
        let (whole, _) = stream_of(case, PARSED);
        let expected = without_ids(summary(&whole));
        let text = sse(case);
        for bytes in [text.as_bytes(), lines(case).as_bytes(), case.input.to_string().as_bytes()] {
            for size in [1, 2, 3, 7, 64, 1021] {
                let mut stream = StreamNormalizer::new(case.provider, &reading());
                let mut events = Vec::new();
                for piece in bytes.chunks(size) {
                    stream.feed_bytes(piece, &mut events);
                }
                let turn = stream.finish(&mut events).unwrap();
                assert_eq!(without_ids(summary(&turn)), expected, "{} in pieces of {size}", case.name);
                assert_eq!(add_up(&events), summary(&turn), "{} in pieces of {size}", case.name);
                assert_eq!(turn.stop_reason, whole.stop_reason, "{}", case.name);
                assert_eq!(turn.provider_state, whole.provider_state, "{}", case.name);
            }
        }
    }
}

/// One byte at a time is every cut at once; here is each cut alone, with whole events round it.
#[test]
fn bytes_may_be_cut_once_at_every_place() {
    let cases: Vec<_> = cases().into_iter().filter(|case| case.stream).collect();
    let reading = reading();
    let read = |case: &Case, pieces: [&[u8]; 2]| {
        let mut stream = StreamNormalizer::new(case.provider, &reading);
        let mut events = Vec::new();
        for piece in pieces {
            stream.feed_bytes(piece, &mut events);
        }
        let turn = stream.finish(&mut events).unwrap();
        (without_ids(summary(&turn)), turn.stop_reason, turn.usage, turn.provider_state)
    };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for (text, step) in [(sse(case), 1), (lines(case), 7)] {
                        let bytes = text.as_bytes();
                        let whole = read(case, [bytes, b""]);
                        for cut in (1..bytes.len()).step_by(step) {
                            let (head, tail) = bytes.split_at(cut);
                            assert_eq!(read(case, [head, tail]), whole, "{} cut at {cut}", case.name);
                        }
                    }
                }
            });
        }
    });
}

#[test]
fn error_bodies_are_errors_with_provider_and_reason() {
    for case in cases().iter().filter(|case| case.file == "errors") {
        let read = normalize_node(&Node::from(&case.input), case.provider, &reading());
        if case.expect["error"] == true {
            let error = read.expect_err(&case.name);
            assert_eq!(error.code.as_str(), "provider_error", "{}", case.name);
            assert!(error.to_string().len() > 20, "{}: {error}", case.name);
            let mut stream = StreamNormalizer::new(case.provider, &reading());
            let mut events = Vec::new();
            stream.feed_bytes(case.input.to_string().as_bytes(), &mut events);
            assert_eq!(stream.finish(&mut events).expect_err(&case.name).code.as_str(), "provider_error");
        }
    }
}

/// A gateway words its error as it likes, and no answer is ever an empty one.
#[test]
fn an_error_body_is_one_whoever_sent_it() {
    for case in cases().iter().filter(|case| case.file == "errors" && case.expect["error"] == true) {
        for provider in Provider::ALL {
            let label = format!("{} from {}", case.name, provider.as_str());
            let error = normalize_node(&Node::from(&case.input), Some(provider), &reading()).expect_err(&label);
            assert_eq!(error.code.as_str(), "provider_error", "{label}");
            let mut stream = StreamNormalizer::new(Some(provider), &reading());
            stream.feed_node(&Node::from(&case.input), &mut Vec::new());
            assert_eq!(stream.finish(&mut Vec::new()).expect_err(&label).to_string(), error.to_string(), "{label}");
        }
    }
}

/// A server that does not stream answers at once.
#[test]
fn a_complete_response_in_place_of_a_stream_is_read() {
    for case in cases().iter().filter(|case| case.file != "errors" && !case.stream) {
        let Ok(whole) = normalize_node(&Node::from(&case.input), case.provider, &reading()) else { continue };
        let mut stream = StreamNormalizer::new(case.provider, &reading());
        stream.feed_node(&Node::from(&case.input), &mut Vec::new());
        let turn = stream.finish(&mut Vec::new()).expect(&case.name);
        let told = |turn: &Turn<'_>| {
            (turn.content.to_string(), turn.reasoning.to_string(), turn.tool_calls.len(), turn.stop_reason)
        };
        assert_eq!(told(&turn), told(&whole), "{}: {}", case.file, case.name);
    }
}

#[test]
fn what_is_no_response_is_an_error_that_names_the_place() {
    for (bytes, part) in [
        (&b""[..], "empty"),
        (b"  \n", "empty"),
        (b"<html><body>502 Bad Gateway</body></html>", "HTML"),
        (b"{\"choices\":[{\"message\":{\"content\":\"x", "byte"),
        (b"upstream connect error", "no JSON"),
        (b"[]", "no answer"),
        (b"null", "no answer"),
        (b"{}", "no choice"),
        (b"{\"choices\":null}", "no choice"),
        (b"{\"choices\":[]}", "no choice"),
    ] {
        let error = normalize(bytes, Some(Provider::OpenAi), &reading()).unwrap_err();
        assert!(error.to_string().contains("openai"), "{error}");
        assert!(error.to_string().contains(part), "{part}: {error}");
        let mut stream = StreamNormalizer::new(Some(Provider::OpenAi), &reading());
        stream.feed_bytes(bytes, &mut Vec::new());
        stream.finish(&mut Vec::new()).unwrap_err();
    }
}

/// Replaces each value in turn by each other type: nothing may panic, and an answer stays an answer.
#[test]
fn wrong_types_anywhere_are_survived() {
    fn places(value: &Value, here: String, out: &mut Vec<String>) {
        out.push(here.clone());
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, item)| places(item, format!("{here}/{i}"), out));
            }
            Value::Object(members) => members.iter().for_each(|(key, item)| {
                places(item, format!("{here}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }),
            _ => {}
        }
    }
    let wrong = [json!(null), json!(-1.5), json!("text"), json!([[1]]), json!({"a": {}})];
    for (i, case) in cases().iter().enumerate() {
        // The deviating streams differ little from each other.
        if case.file == "compat_streams" && i % 9 > 0 || case.file == "errors" && i % 5 > 0 {
            continue;
        }
        let mut all = Vec::new();
        places(&case.input, String::new(), &mut all);
        for place in all {
            for value in &wrong {
                let mut input = case.input.clone();
                *input.pointer_mut(&place).unwrap() = value.clone();
                if case.stream {
                    let mut stream = StreamNormalizer::new(case.provider, &reading());
                    let mut events = Vec::new();
                    for chunk in input.as_array().into_iter().flatten() {
                        stream.feed_node(&Node::from(chunk), &mut events);
                    }
                    if let Ok(turn) = stream.finish(&mut events) {
                        assert_eq!(add_up(&events), summary(&turn), "{} with {value} at {place}", case.name);
                    }
                } else {
                    let _ = normalize_node(&Node::from(&input), case.provider, &reading());
                }
            }
        }
    }
}

#[test]
fn a_call_in_an_error_body_is_rescued() {
    for case in cases().iter().filter(|case| case.expect["failed_generation"] == true) {
        let quoted = case.input["error"]["failed_generation"].as_str().unwrap();
        match normalize_node(&Node::from(&case.input), case.provider, &reading()) {
            // Prose is what the model answered, if not what was wanted of it.
            Ok(turn) if !quoted.contains('{') => {
                assert_eq!((&*turn.content, turn.stop_reason.as_str()), (quoted, "error"));
            }
            Ok(turn) => {
                assert_eq!(turn.source.as_str(), Some("failed_generation"), "{quoted}");
                assert!(quoted.contains(&*turn.tool_calls[0].name), "{quoted}");
                assert!(turn.issues.iter().any(|issue| issue.code.as_str() == "provider_error"), "{quoted}");
            }
            Err(error) => {
                assert!(!quoted.contains("get_weather"), "{quoted}: {error}");
                assert_eq!(error.code.as_str(), "provider_error");
            }
        }
    }
}

/// Whatever dialect the caller named, the calls in an error body are read, and all that comes of them is what was written.
#[test]
fn what_an_error_body_quotes_is_read_in_its_own_words() {
    let call = r#"get_weather{"city": "Paris"}"#;
    let sentence = format!("I would call {call}");
    let (one, two) = (format!("{call}</function>"), format!("{call}</function>\n{call}</function>"));
    let texts: [(&str, &str, usize, CallStatus); 11] = [
        (r#"<function=get_weather>{"city": "Paris"}</function>"#, "", 1, CallStatus::Ok),
        (&one, "", 1, CallStatus::Ok),
        (&two, "", 2, CallStatus::Ok),
        (
            r#"<tool-use>{"tool_calls": [{"function": {"name": "get_weather"}, "parameters": {"city": "Paris"}}]}</tool-use>"#,
            "",
            1,
            CallStatus::Ok,
        ),
        ("```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n```", "", 1, CallStatus::Ok),
        (
            "I look it up.\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}",
            "I look it up.",
            1,
            CallStatus::Ok,
        ),
        (r#"<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>"#, "", 1, CallStatus::Ok),
        (r#"[TOOL_CALLS]get_weather{"city": "Paris"}"#, "", 1, CallStatus::Ok),
        // Cut off: nothing closes what the model did not.
        (r#"get_weather{"city": "Par"#, "", 1, CallStatus::Incomplete),
        (r#"{"name": "get_weather", "arguments": {"city": "Par"#, "", 1, CallStatus::Incomplete),
        (&sentence, &sentence, 0, CallStatus::Ok),
    ];
    for dialect in ["auto", "groq", "llama3_json", "mistral", "hermes", "deepseek_v31"] {
        let reading = Reading { dialects: Some(Dialects::named(dialect).unwrap()), ..reading() };
        for (text, content, calls, status) in texts {
            let error = json!({"message": "Failed to call a function.", "type": "invalid_request_error",
                               "code": "tool_use_failed", "failed_generation": text});
            let body = json!({"error": error});
            let turn = normalize_node(&Node::from(&body), Some(Provider::OpenAi), &reading).expect(text);
            assert_eq!(turn.tool_calls.len(), calls, "{dialect}: {text}: {turn:?}");
            assert_eq!(turn.content.trim(), content, "{dialect}: {text}");
            for call in &turn.tool_calls {
                assert_eq!((&*call.name, call.status), ("get_weather", status), "{dialect}: {text}");
                let city = if status == CallStatus::Ok { "Paris" } else { "Par" };
                assert_eq!(call.arguments.to_value(), json!({"city": city}), "{dialect}: {text}");
                assert!(text.contains(&*call.raw), "{dialect}: {text}: {}", call.raw);
            }
            assert!(turn.dialect.as_deref() != Some("hermes") || text.starts_with("<tool_call>"), "{dialect}: {text}");
        }
    }
}

/// A limit of the policy is kept whatever the pieces: what follows a piece that was left out is not put in its place.
#[test]
fn arguments_that_are_too_long_have_no_holes() {
    let long = "b".repeat(60);
    for pieces in [["{\"x\":\"a", &long, "c\"}"], ["", &format!("{{\"x\":\"{long}\"}}"), ""]] {
        let mut reading = reading();
        reading.tools = None;
        reading.options.policy.max_arguments_bytes = 40;
        let mut stream = StreamNormalizer::new(Some(Provider::OpenAi), &reading);
        let mut events = Vec::new();
        for piece in pieces {
            let call = json!({"index": 0, "id": "c", "function": {"name": "write", "arguments": piece}});
            let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
            stream.feed_node(&Node::from(&chunk), &mut events);
        }
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        stream.feed_node(&Node::from(&end), &mut events);
        let turn = stream.finish(&mut events).unwrap();
        assert_eq!(turn.tool_calls[0].status, CallStatus::Malformed, "{turn:?}");
    }
}

/// One table of names: what one entry point takes, all take.
#[test]
fn every_name_of_a_provider_means_a_format_and_a_wire() {
    for name in Format::names() {
        for name in [name.to_owned(), name.to_uppercase(), name.replace('_', "-")] {
            let format = Target::named(&name).unwrap_or_else(|error| panic!("{name}: {error}")).format;
            match Provider::from_name(&name) {
                Ok(provider) => {
                    let own = Target::named(provider.as_str()).unwrap().format;
                    let server = matches!(format, Format::LlamaCpp | Format::OpenRouter | Format::Moonshot);
                    assert!(own == format || server && own == Format::OpenAi, "{name}: {provider:?}, {format:?}");
                }
                Err(error) => assert_eq!(format, Format::Mcp, "{error}"),
            }
        }
    }
    assert!(Provider::ALL.iter().all(|provider| Provider::from_name(provider.as_str()) == Ok(*provider)));
}
