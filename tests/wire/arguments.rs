//! The arguments of streamed calls reach the client in the schema's types: what is streamed is what a whole answer would say.
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use toolglot::provider::{Reading, StreamNormalizer, normalize};
use toolglot::turn::{Event, Turn};
use toolglot::wire::{BackendApi, ClientApi, Options, Transcoder, Translation};

fn data(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)).unwrap()
}

/// What a client's request for a tool with this schema becomes.
fn translation(client: ClientApi, schema: &Value, stream: bool) -> Translation {
    let body = match client {
        ClientApi::Chat => json!({"model": "m", "messages": [{"role": "user", "content": "?"}], "stream": stream,
            "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}]}),
        ClientApi::Responses => json!({"model": "m", "input": "?", "stream": stream,
            "tools": [{"type": "function", "name": "f", "parameters": schema}]}),
        ClientApi::Anthropic => {
            json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}], "stream": stream,
            "tools": [{"name": "f", "input_schema": schema}]})
        }
    };
    let transcoder = Transcoder::new(client, BackendApi::Chat, Options { validate: false, ..Options::default() });
    transcoder.request(body.to_string().as_bytes()).unwrap()
}

fn chunk(delta: &Value, finish: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
}

fn native(pieces: &[&str]) -> Vec<String> {
    let head = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": ""}});
    let mut chunks = vec![chunk(&json!({"tool_calls": [head]}), &Value::Null)];
    let more = |piece: &&str| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]});
    chunks.extend(pieces.iter().map(|piece| chunk(&more(piece), &Value::Null)));
    chunks.push(chunk(&json!({}), &json!("tool_calls")));
    chunks
}

fn in_text(pieces: &[&str]) -> Vec<String> {
    let text = |text: &str| chunk(&json!({"content": text}), &Value::Null);
    let mut chunks = vec![text("<tool_call>\n{\"name\": \"f\", \"arguments\": ")];
    chunks.extend(pieces.iter().map(|piece| text(piece)));
    chunks.extend([text("}\n</tool_call>"), chunk(&json!({}), &json!("stop"))]);
    chunks
}

/// The client's events, and its turn, once all chunks have passed.
fn stream(client: ClientApi, translation: &Translation, chunks: &[String]) -> Turn<'static> {
    let mut stream = translation.stream();
    let mut out = Vec::new();
    chunks.iter().for_each(|chunk| stream.feed(chunk.as_bytes(), &mut out));
    stream.finish(&mut out);
    read(client, &out).1.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&out)))
}

/// What has come of the arguments, and the turn if it is whole.
fn read(client: ClientApi, out: &[u8]) -> (String, Option<Turn<'static>>) {
    let reading = Reading { tools: None, dialects: None, ..Reading::default() };
    let mut reader = StreamNormalizer::new(Some(client.provider()), &reading);
    let mut events = Vec::new();
    reader.feed_bytes(out, &mut events);
    let arguments = events.iter().filter_map(|event| match event {
        Event::Arguments { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let sent = arguments.collect();
    (sent, reader.finish(&mut events).ok())
}

fn whole(client: ClientApi, translation: &Translation, arguments: &str) -> Option<Value> {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": arguments}});
    let body = json!({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let answered = translation.answer(200, body.to_string().as_bytes());
    let reading = Reading { tools: None, dialects: None, ..Reading::default() };
    let turn = normalize(&answered.body, Some(client.provider()), &reading).unwrap();
    turn.tool_calls.first().map(|call| call.arguments.to_value())
}

fn pieces(text: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = (size..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let (piece, more) = rest.split_at(end);
        pieces.push(piece);
        rest = more;
    }
    pieces
}

/// What is settled when it is whole, with every kind of coercion, is the same when it is streamed, however it is cut.
#[test]
fn a_stream_says_what_a_whole_answer_says() {
    let cases: Vec<Value> = serde_json::from_str(&data("schema/settle.json")).unwrap();
    let mut compared = 0;
    for case in &cases {
        let schema = &case["schema"];
        let Some(arguments) = case["arguments"].as_str().filter(|_| schema.is_object()) else { continue };
        for client in ClientApi::ALL {
            let Some(expected) = whole(*client, &translation(*client, schema, false), arguments) else { continue };
            let translation = translation(*client, schema, true);
            for size in [1, 4, usize::MAX] {
                let pieces = pieces(arguments, size);
                for (way, chunks) in [("native", native(&pieces)), ("text", in_text(&pieces))] {
                    // In text, arguments in quotes are no arguments.
                    if way == "text" && !arguments.trim_start().starts_with('{') {
                        continue;
                    }
                    let turn = stream(*client, &translation, &chunks);
                    let found: Vec<Value> = turn.tool_calls.iter().map(|call| call.arguments.to_value()).collect();
                    let shown = format!("{}, {way}, {}, by {size}", case["about"], client.as_str());
                    assert_eq!(found, std::slice::from_ref(&expected), "{shown}: {schema} {arguments}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

/// What a client has by each piece: values leave as soon as nothing more can change them.
#[test]
fn values_leave_when_they_are_certain() {
    for line in data("wire/arguments.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        assert!(case["source"].as_str().is_some_and(|source| source.len() > 5), "{line}");
        let steps: Vec<(&str, &str)> = case["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| (step[0].as_str().unwrap(), step[1].as_str().unwrap()))
            .collect();
        let written: Vec<&str> = steps.iter().map(|(piece, _)| *piece).collect();
        for client in ClientApi::ALL {
            let translation = translation(*client, &case["schema"], true);
            let mut stream = translation.stream();
            let mut out = Vec::new();
            let chunks = native(&written);
            stream.feed(chunks[0].as_bytes(), &mut out);
            for (chunk, (_, sent)) in chunks[1..].iter().zip(&steps) {
                stream.feed(chunk.as_bytes(), &mut out);
                // A stream whose calls are all whole ends on its own.
                let (mut has, _) = read(*client, &out);
                if sent.is_empty() && has == "{}" {
                    // A call of which nothing came is one without arguments.
                    has.clear();
                }
                assert_eq!(has, *sent, "{}, {}: behind {chunk}", case["name"], client.as_str());
            }
            let turn = self::stream(*client, &translation, &chunks);
            assert_eq!(turn.tool_calls[0].arguments.to_value(), case["becomes"], "{}", case["name"]);
            let whole = whole(*client, &translation, &written.concat());
            assert_eq!(whole.as_ref(), Some(&case["becomes"]), "{}", case["name"]);
        }
    }
}
