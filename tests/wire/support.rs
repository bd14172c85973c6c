//! Requests of clients, and what a client reads of the answer.
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use toolglot::provider::{Reading, StreamNormalizer};
use toolglot::turn::{StopReason, Turn};
use toolglot::wire::{BackendApi, ClientApi, Mode, Options, Spoken, Translation};

pub(crate) fn cases(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wire").join(file);
    let text = fs::read_to_string(path).unwrap();
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.iter().all(|case| case["source"].as_str().is_some_and(|source| source.len() > 5)), "{file}");
    cases
}

pub(crate) fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}})
}

/// A request of a client with two tools, and with what `more` says.
pub(crate) fn request(client: ClientApi, stream: bool, more: &Value) -> Vec<u8> {
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

pub(crate) fn options(case: &Value) -> Options {
    let mut options = Options::default();
    if case["mode"] == "text" {
        options.mode = Mode::Text;
    }
    if let Some(dialect) = case["dialect"].as_str() {
        options.dialect = Some(Spoken::named(dialect).unwrap());
    }
    options
}

pub(crate) fn api(case: &Value) -> (ClientApi, BackendApi) {
    let name = |key: &str| case[key].as_str().unwrap_or("chat");
    (ClientApi::from_name(name("client")).unwrap(), BackendApi::from_name(name("backend")).unwrap())
}

pub(crate) fn frames(chunks: &Value) -> String {
    chunks.as_array().unwrap().iter().map(frame).collect()
}

pub(crate) fn frame(chunk: &Value) -> String {
    match chunk {
        Value::String(text) => text.clone(),
        chunk => match chunk["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {chunk}\n\n"),
            None => format!("data: {chunk}\n\n"),
        },
    }
}

pub(crate) fn run(translation: &Translation, bytes: &[u8], size: usize) -> String {
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
pub(crate) fn without_ids(text: &str) -> String {
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

pub(crate) fn events(out: &str) -> Vec<(String, Value)> {
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
pub(crate) fn check_order(client: ClientApi, out: &str) {
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

pub(crate) fn read(client: ClientApi, out: &str) -> Result<Turn<'static>, String> {
    let reading = Reading { tools: None, dialects: None, ..Reading::default() };
    let mut stream = StreamNormalizer::new(Some(client.provider()), &reading);
    let mut events = Vec::new();
    stream.feed_bytes(out.as_bytes(), &mut events);
    let turn = stream.finish(&mut events).map_err(|error| error.to_string())?;
    if turn.stop_reason == StopReason::Error { Err("an error".to_owned()) } else { Ok(turn) }
}

pub(crate) fn check_turn(turn: &Turn<'_>, expect: &Value, shown: &str) {
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
