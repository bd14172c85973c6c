//! What a client gets when something goes wrong: the table of `docs/wire.md`, row by row.
use super::backend::{HERMES, backend_stream};
use super::support::*;
use serde_json::{Value, json};
use toolglot::turn::StopReason;
use toolglot::wire::{BackendApi, ClientApi, Options, Transcoder};

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

/// Every pair of a client's API and a backend's.
fn pairs() -> impl Iterator<Item = (ClientApi, BackendApi)> {
    ClientApi::ALL.iter().flat_map(|client| BackendApi::ALL.iter().map(|backend| (*client, *backend)))
}

fn transcoder(client: ClientApi, backend: BackendApi, options: &Options) -> Transcoder {
    Transcoder::new(client, backend, options.clone())
}

/// What the client gets of these bytes, whole and byte by byte, which is the same.
fn streamed(client: ClientApi, backend: BackendApi, options: &Options, bytes: &[u8]) -> String {
    let translation = transcoder(client, backend, options).request(&request(client, true, &json!({}))).unwrap();
    let out = run(&translation, bytes, usize::MAX);
    assert_eq!(without_ids(&run(&translation, bytes, 3)), without_ids(&out));
    check_order(client, &out);
    out
}

fn frames_of(backend: BackendApi, said: &[(&str, &str)], stop: &str) -> Vec<String> {
    backend_stream(backend, said, stop).split_inclusive("\n\n").map(str::to_owned).collect()
}

/// The frames before the one that says why the answer ended.
fn without_end(mut frames: Vec<String>) -> Vec<String> {
    let ends = ["\"finish_reason\":\"", "message_delta", "response.completed", "response.incomplete", "finishReason"];
    let end = frames.iter().position(|frame| ends.iter().any(|word| frame.contains(word))).unwrap();
    frames.truncate(end);
    frames
}

/// The frames before the first one with this text.
fn before(mut frames: Vec<String>, text: &str) -> Vec<String> {
    let end = frames.iter().position(|frame| frame.contains(text)).unwrap();
    frames.truncate(end);
    frames
}

/// Nothing says that the answer, or a call of it, is finished.
fn finishes_nothing(out: &str) -> bool {
    let words = ["[DONE]", "message_stop", "response.completed", "\"finish_reason\":\"", "arguments.done"];
    words.iter().all(|word| !out.contains(word))
}

const CALL: [(&str, &str); 2] = [("text", "I look."), ("ls", r#"{"path": "/é"}"#)];

#[test]
fn a_backend_dies_in_the_middle_of_text() {
    for (client, backend) in pairs() {
        for frames in [
            before(frames_of(backend, &[("text", "Hello thQ")], "stop"), "Q"),
            without_end(frames_of(backend, &[("text", "Hello thQ")], "stop")),
        ] {
            let out = streamed(client, backend, &Options::default(), frames.concat().as_bytes());
            let shown = format!("{} of {}: {out}", client.as_str(), backend.as_str());
            assert!(out.contains("Hello") && out.contains("backend_disconnected"), "{shown}");
            assert!(finishes_nothing(&out), "{shown}");
        }
    }
}

#[test]
fn a_backend_dies_behind_whole_calls() {
    for (client, backend) in pairs() {
        for said in [&CALL[..], &[("text", HERMES)]] {
            let frames = without_end(frames_of(backend, said, "stop"));
            let out = streamed(client, backend, &Options::default(), frames.concat().as_bytes());
            let turn = read(client, &out).unwrap_or_else(|error| panic!("{error}: {out}"));
            check_turn(&turn, &json!({"calls": [["ls", {"path": "/é"}]], "stop": "tool_calls"}), &out);
        }
    }
}

#[test]
fn a_backend_dies_in_the_middle_of_a_call() {
    for (client, backend) in pairs() {
        for said in [&CALL[..], &[("text", HERMES)]] {
            // Gemini's native calls come whole.
            if backend == BackendApi::Gemini && said.len() == 2 {
                continue;
            }
            let frames = before(frames_of(backend, said, "stop"), "/é");
            let out = streamed(client, backend, &Options::default(), frames.concat().as_bytes());
            let shown = format!("{} of {}: {out}", client.as_str(), backend.as_str());
            assert!(out.contains("backend_disconnected") && finishes_nothing(&out), "{shown}");
        }
    }
}

#[test]
fn a_call_is_cut_off_by_the_length() {
    for (client, backend) in pairs() {
        for said in
            [&[("ls", r#"{"path": "/"#)][..], &[("text", "<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"pa")]]
        {
            if backend == BackendApi::Gemini && said[0].0 == "ls" {
                continue;
            }
            let out =
                streamed(client, backend, &Options::default(), backend_stream(backend, said, "length").as_bytes());
            let turn = read(client, &out).unwrap();
            assert_eq!(turn.stop_reason, StopReason::Length, "{out}");
            assert!(turn.tool_calls.iter().all(|call| !call.status.readable()), "{out}");
        }
    }
}

/// A backend's error, in the middle of its stream and whole, with a text that says too much.
fn error_of(backend: BackendApi) -> Value {
    match backend {
        BackendApi::Chat => json!({"error": {"message": "secret", "type": "server_error", "code": null}}),
        BackendApi::Responses => {
            json!({"type": "response.failed", "response": {"id": "resp_b", "status": "failed", "output": [],
            "error": {"code": "server_error", "message": "secret"}}})
        }
        BackendApi::Anthropic => {
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "secret"}})
        }
        BackendApi::Gemini => json!({"error": {"code": 503, "message": "secret", "status": "UNAVAILABLE"}}),
    }
}

#[test]
fn a_backend_reports_an_error() {
    for (client, backend) in pairs() {
        for show_errors in [false, true] {
            let options = Options { show_errors, ..Options::default() };
            let mut frames = before(frames_of(backend, &[("text", "Hello thQ")], "stop"), "Q");
            frames.push(frame(&error_of(backend)));
            let out = streamed(client, backend, &options, frames.concat().as_bytes());
            let shown = format!("{} of {}: {out}", client.as_str(), backend.as_str());
            assert!(out.contains("Hello") && finishes_nothing(&out), "{shown}");
            assert_eq!(out.contains("secret"), show_errors, "{shown}");
            let translation =
                transcoder(client, backend, &options).request(&request(client, false, &json!({}))).unwrap();
            for (status, tells) in [(503, show_errors), (400, true)] {
                // Only a stream of Responses has its errors in events.
                let body = if backend == BackendApi::Responses { BackendApi::Chat } else { backend };
                let answered = translation.answer(status, error_of(body).to_string().as_bytes());
                let text = String::from_utf8(answered.body).unwrap();
                assert_eq!((answered.status, text.contains("secret")), (status, tells), "{shown} {text}");
                let body: Value = serde_json::from_str(&text).unwrap();
                assert!(body["error"]["message"].is_string(), "{text}");
            }
        }
    }
}

#[test]
fn no_stream_comes() {
    let html = "<!DOCTYPE html>\n<html><body><h1>502 Bad Gateway</h1>\n\n</body></html>";
    let rows = [
        (html, "backend_bad_answer"),
        ("upstream connect error", "backend_bad_answer"),
        ("", "backend_disconnected"),
        ("data: [DONE]\n\n", "backend_disconnected"),
        (": ping\n\n", "backend_disconnected"),
    ];
    for (client, backend) in pairs() {
        for (body, code) in rows {
            let out = streamed(client, backend, &Options::default(), body.as_bytes());
            assert!(out.contains(code), "{} of {}: {body}: {out}", client.as_str(), backend.as_str());
            assert!(finishes_nothing(&out) && !out.contains("Gateway") && !out.contains("upstream"), "{out}");
            let translation =
                transcoder(client, backend, &Options::default()).request(&request(client, false, &json!({}))).unwrap();
            for (status, told) in [(200, 502), (502, 502), (404, 404)] {
                let answered = translation.answer(status, body.as_bytes());
                let text = String::from_utf8(answered.body).unwrap();
                assert_eq!(answered.status, told, "{text}");
                assert!(!text.contains("Gateway") && !text.contains("upstream"), "{text}");
            }
        }
    }
}

/// Lines that are none of SSE's, half lines, JSON that is cut: what follows is read as if they had not come.
#[test]
fn lines_that_say_nothing_are_left_out() {
    let noise = [
        "data: {\"choices\": [{\"ind\n\n",
        "dat\n\n",
        "garbage\n\n",
        "data\n\n",
        "data: \n\n",
        "id: 7\nretry: 10\n\n",
        "data: \"x\"\n\n",
        "data: {}\n\n",
        "\n\r\n",
        "{\"a\": \n\n",
    ];
    for (client, backend) in pairs() {
        for said in [&CALL[..], &[("text", HERMES)]] {
            let frames = frames_of(backend, said, "stop");
            let quiet = streamed(client, backend, &Options::default(), frames.concat().as_bytes());
            for noise in noise {
                // What the first bytes are says whether it is a stream at all.
                let noisy: String = frames.iter().flat_map(|frame| [frame.as_str(), noise]).collect();
                let out = streamed(client, backend, &Options::default(), noisy.as_bytes());
                let turns = [&out, &quiet]
                    .map(|out| read(client, out).unwrap_or_else(|error| panic!("{error}: {noise:?} {out}")));
                let said = |at: usize| {
                    let turn = &turns[at];
                    let calls: Vec<_> =
                        turn.tool_calls.iter().map(|call| (&call.name, call.arguments.to_value())).collect();
                    (turn.content.clone(), calls, turn.stop_reason)
                };
                assert_eq!(said(0), said(1), "{noise:?}, {} of {}: {out}", client.as_str(), backend.as_str());
            }
        }
    }
}

/// What is no UTF-8 becomes U+FFFD, in a text that passes as well as in one that is written anew.
#[test]
fn invalid_utf8_is_replaced() {
    for (client, backend) in pairs() {
        let mut bytes = backend_stream(backend, &[("text", "aQb")], "stop").into_bytes();
        bytes.iter_mut().filter(|byte| **byte == b'Q').for_each(|byte| *byte = 0xff);
        let turn = read(client, &streamed(client, backend, &Options::default(), &bytes)).unwrap();
        assert_eq!(turn.content, "a\u{fffd}b", "{} of {}", client.as_str(), backend.as_str());
    }
    for client in ClientApi::ALL {
        let translation = transcoder(*client, BackendApi::Chat, &Options::default())
            .request(&request(*client, false, &json!({})))
            .unwrap();
        let whole = b"{\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}";
        let answered = translation.answer(200, whole);
        assert_eq!(answered.turn.unwrap().content, "a\u{fffd}b", "{}", client.as_str());
        assert!(String::from_utf8(answered.body).unwrap().contains("a\u{fffd}b"));
    }
}

/// A line that never ends is not kept for ever.
#[test]
fn an_endless_line_ends_the_stream() {
    let options = Options { max_frame: 10_000, ..Options::default() };
    for (client, backend) in pairs() {
        for (begin, rest) in [("data: ", "x"), ("data: {}\ndata: ", "x"), ("", "x"), ("data: ", "\r\ndata: x")] {
            let frames = before(frames_of(backend, &[("text", "Hello thQ")], "stop"), "Q");
            let translation =
                transcoder(client, backend, &options).request(&request(client, true, &json!({}))).unwrap();
            let mut stream = translation.stream();
            let mut out = Vec::new();
            stream.feed(frames.concat().as_bytes(), &mut out);
            stream.feed(begin.as_bytes(), &mut out);
            for _ in 0..20 {
                stream.feed(rest.repeat(1000).as_bytes(), &mut out);
            }
            assert!(stream.is_over(), "{begin:?} {rest:?}");
            assert_eq!(stream.error().unwrap().code.as_str(), "backend_bad_stream");
            let before = out.len();
            stream.feed(b"\n\n", &mut out);
            stream.finish(&mut out);
            assert_eq!(out.len(), before);
            let out = String::from_utf8(out).unwrap();
            assert!(out.contains("Hello") && finishes_nothing(&out), "{out}");
        }
    }
}

/// A frame of 10 MB is read, and costs no more than its bytes.
#[test]
fn a_long_frame_is_read() {
    let text = "x".repeat(10 << 20);
    for backend in BackendApi::ALL {
        let body = backend_stream(*backend, &[("text", "Q")], "stop").replace('Q', &text);
        let client = ClientApi::Anthropic;
        let translation = transcoder(client, *backend, &Options::default())
            .request(&request(client, true, &json!({"tools": null})))
            .unwrap();
        let out = run(&translation, body.as_bytes(), 1 << 16);
        assert_eq!(read(client, &out).unwrap().content.len(), text.len(), "{}", backend.as_str());
    }
}

/// Ids and names that would end a line of the stream do not.
#[test]
fn line_breaks_in_ids_and_names() {
    let name = "ls\r\n\nevent: x\ndata: {}\n\n\u{2028}";
    for (client, backend) in pairs() {
        let bytes = backend_stream(backend, &[(name, r#"{"path": "/"}"#)], "stop");
        let bytes = ["call_b", "toolu_b", "fc_b"].iter().fold(bytes, |text, id| text.replace(id, "a\\n\\ndata: x"));
        let out = streamed(client, backend, &Options::default(), bytes.as_bytes());
        let turn = read(client, &out).unwrap_or_else(|error| panic!("{error}: {out}"));
        assert_eq!(turn.tool_calls[0].arguments.to_value(), json!({"path": "/"}), "{out}");
    }
}

/// Streams that run by turns get what each gets alone: nothing of one request is in another's answer.
#[test]
fn nothing_of_one_request_is_in_anothers() {
    for (client, backend) in pairs() {
        let transcoder = transcoder(client, backend, &Options::default());
        let translation = transcoder.request(&request(client, true, &json!({}))).unwrap();
        let other = transcoder.request(&request(client, true, &json!({}))).unwrap();
        let said =
            [&CALL[..], &[("text", HERMES)], &[("reasoning", "Hm."), ("text", "Only text.")], &[("text", "Broken")]];
        let bytes: Vec<Vec<u8>> = said
            .iter()
            .enumerate()
            .map(|(at, said)| {
                let frames = frames_of(backend, said, "stop");
                if at == 3 { without_end(frames).concat() } else { frames.concat() }.into_bytes()
            })
            .collect();
        let alone: Vec<String> = bytes.iter().map(|bytes| run(&translation, bytes, 50)).collect();
        let mut streams: Vec<_> =
            (0..bytes.len()).map(|at| (if at % 2 == 0 { &translation } else { &other }).stream()).collect();
        let mut outs = vec![Vec::new(); bytes.len()];
        for step in 0..bytes.iter().map(|bytes| bytes.len().div_ceil(50)).max().unwrap() {
            for (at, stream) in streams.iter_mut().enumerate() {
                if let Some(piece) = bytes[at].chunks(50).nth(step) {
                    stream.feed(piece, &mut outs[at]);
                }
            }
        }
        for (at, mut stream) in streams.into_iter().enumerate() {
            stream.finish(&mut outs[at]);
            let out = String::from_utf8(std::mem::take(&mut outs[at])).unwrap();
            assert_eq!(without_ids(&out), without_ids(&alone[at]), "{} of {}", client.as_str(), backend.as_str());
        }
    }
}
