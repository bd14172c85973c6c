//! The exchange without a network: answers of a script, the path of attempts that they lead to.
use serde_json::{Value, json};
use std::sync::Arc;
use toolglot::exchange::capability::{Route, capabilities};
use toolglot::exchange::config::Config;
use toolglot::exchange::{Endpoint, Exchange, Finished, Next, Options, Send, Wanted};
use toolglot::provider::{Message, Provider, Role, read_history};
use toolglot::schema::ToolSet;
use toolglot::{CallStatus, Event};

fn cases() -> Vec<Value> {
    let path = format!("{}/tests/data/exchange/paths.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("no cases");
    text.lines().map(|line| serde_json::from_str(line).expect("a case is no JSON")).collect()
}

fn tools() -> Arc<ToolSet> {
    let tool = json!({
        "name": "get_time",
        "description": "What time it is.",
        "inputSchema": {
            "type": "object",
            "properties": { "zone": { "type": "string", "enum": ["UTC", "CET"] } },
            "required": ["zone"],
            "additionalProperties": false,
        },
    });
    Arc::new(ToolSet::from_values(&[tool]).unwrap())
}

struct Played {
    finished: Finished,
    asked: Vec<Send>,
    waits: Vec<f64>,
}

fn endpoint(base_url: Option<&str>, provider: Option<&str>, model: &str, config: &Value) -> Endpoint {
    let config = Config::read(config).unwrap().model(model);
    let known = capabilities(&Route::new(base_url, model), None, 0);
    Endpoint::new(provider, base_url, known, config).unwrap()
}

fn asked() -> Vec<Message> {
    vec![Message::text(Role::User, "What time is it?")]
}

fn start(case: &Value, stream: bool) -> Exchange {
    let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
    let empty = json!({});
    let of = |value: &Value| {
        let url = text(value, "base_url").unwrap_or_else(|| "http://localhost:8000/v1".to_owned());
        let model = text(value, "model").unwrap_or_else(|| "a-model-of-my-own".to_owned());
        endpoint(Some(&url), text(value, "provider").as_deref(), &model, value.get("config").unwrap_or(&empty))
    };
    let mut endpoints = vec![of(case)];
    endpoints.extend(case.get("escalate").and_then(Value::as_array).into_iter().flatten().map(of));
    let choice = if case.get("required").is_some() { Some("required".to_owned()) } else { text(case, "tool_choice") };
    let options = Options {
        tool_choice: choice.map(|name| Wanted::named(&name)).unwrap_or_default(),
        extra: case.get("extra").and_then(Value::as_object).cloned().unwrap_or_default(),
        tokens: case.get("tokens").and_then(Value::as_u64).unwrap_or(u64::MAX),
        requests: case.get("requests").and_then(Value::as_u64).map(|n| usize::try_from(n).unwrap()),
        stream,
        ..Options::default()
    };
    Exchange::new(asked(), tools(), options, endpoints)
}

/// Answers as the case says, in pieces of any size. More requests than there are answers are a failure.
fn play(case: &Value) -> Played {
    let mut exchange = start(case, false);
    let (mut now, mut asked, mut waits) = (0.0, Vec::new(), Vec::new());
    let answers = case["answers"].as_array().unwrap();
    loop {
        match exchange.next(now) {
            Next::Done => break,
            Next::Wait(seconds) => {
                waits.push(seconds);
                now += seconds;
            }
            Next::Send(send) => {
                let answer = answers.get(asked.len()).unwrap_or_else(|| panic!("one request too many: {case}"));
                asked.push(send);
                let status = u16::try_from(answer[0].as_u64().unwrap()).unwrap();
                if status == 0 {
                    exchange.fail("connection refused", now);
                    continue;
                }
                let headers = answer[1].as_object().unwrap();
                let headers: Vec<_> = headers.iter().map(|(k, v)| (k.as_str(), v.as_str().unwrap())).collect();
                exchange.answer(status, &headers);
                for piece in answer[2].as_str().unwrap().as_bytes().chunks(7) {
                    assert!(exchange.feed(piece).is_empty());
                }
                exchange.end(now);
            }
        }
    }
    Played { finished: exchange.finish(), asked, waits }
}

#[test]
fn paths() {
    for case in cases() {
        let Played { finished, asked, waits } = play(&case);
        let path: Vec<_> =
            finished.attempts.iter().map(|a| format!("{} {}", a.mode.as_str(), a.verdict.as_str())).collect();
        assert_eq!(json!(path), case["path"], "{}", case["name"]);
        assert_eq!(asked.len(), case["answers"].as_array().unwrap().len(), "{}", case["name"]);
        assert_eq!(json!(waits), *case.get("waits").unwrap_or(&json!([])), "{}", case["name"]);
        if case.get("error").is_some() {
            assert!(finished.turn.is_none() && finished.error.is_some(), "{}", case["name"]);
            continue;
        }
        let turn = finished.turn.unwrap_or_else(|| panic!("no turn: {}", case["name"]));
        if let Some(wanted) = case.get("calls") {
            let usable = path.last().is_some_and(|step| step.ends_with("usable"));
            let seen: Vec<_> = turn.tool_calls.iter().filter(|call| !usable || call.runnable()).collect();
            let names: Vec<_> = seen.iter().filter(|c| c.status != CallStatus::Incomplete).map(|c| &*c.name).collect();
            assert_eq!(json!(names), *wanted, "{}", case["name"]);
        }
        if let Some(content) = case.get("content") {
            assert_eq!(json!(turn.content), *content, "{}", case["name"]);
        }
        if let Some(wanted) = case.get("learned") {
            let learned: Vec<_> =
                finished.learned.iter().map(|(_, what, how)| format!("{} {}", what.as_str(), how.as_str())).collect();
            assert_eq!(json!(learned), *wanted, "{}", case["name"]);
        }
        if let Some(wanted) = case.get("whys") {
            let whys: Vec<_> = finished.attempts.iter().map(|a| a.why.as_str()).collect();
            assert_eq!(json!(whys), *wanted, "{}", case["name"]);
        }
        for (said, send) in case.get("asks").and_then(Value::as_array).into_iter().flatten().zip(&asked) {
            if let Some(said) = said.as_str() {
                let last = send.body["messages"].as_array().unwrap().last().unwrap().to_string();
                assert!(last.contains(said), "{}: {last}", case["name"]);
            }
        }
    }
}

#[test]
fn bodies() {
    let fallback =
        json!({ "answers": [[400, {}, "does not support tools"], [200, {}, "x"], [200, {}, "x"], [200, {}, "x"]] });
    let asked = play(&fallback).asked;
    assert_eq!(asked[0].body["tools"][0]["function"]["name"], "get_time");
    assert!(asked[0].body.get("response_format").is_none());
    assert_eq!(asked[1].body["response_format"]["type"], "json_schema");
    assert!(asked[1].body.get("tools").is_none());
    assert!(asked[1].body["messages"][0]["content"].as_str().unwrap().contains("get_time"));
    assert_eq!(asked[3].body["response_format"]["type"], "json_object");
}

/// In text mode the calls of the history are text as well, and what they returned stands in a user's message.
#[test]
fn a_history_with_calls_is_told_as_text() {
    let messages = [
        json!({ "role": "system", "content": "Be brief." }),
        json!({ "role": "user", "content": "What time is it?" }),
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "get_time", "arguments": "{\"zone\": \"UTC\"}" } },
        ] }),
        json!({ "role": "tool", "tool_call_id": "c1", "content": "12:00" }),
        json!({ "role": "user", "content": "And in CET?" }),
    ];
    let messages = read_history(&messages, None, Provider::OpenAi, None).unwrap();
    let at = endpoint(None, None, "qwen3-8b", &json!({ "force_text_mode": true }));
    let Next::Send(send) = Exchange::new(messages, tools(), Options::default(), vec![at]).next(0.0) else {
        panic!("nothing is sent");
    };
    let roles: Vec<_> = send.body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "user"]);
    let said = |at: usize| send.body["messages"][at]["content"].as_str().unwrap().to_owned();
    assert!(said(0).starts_with("Be brief.") && said(0).contains("get_time"));
    assert!(said(2).contains("<tool_call>") && said(2).contains("UTC"));
    assert!(said(3).contains("12:00"));
    assert!(send.body.get("tools").is_none());
}

fn chunk(delta: &Value) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": delta }] }))
}

/// A stream may fall back until its first event has been given out, and not after.
#[test]
fn a_stream_falls_back_until_it_has_shown_something() {
    let mut exchange = start(&json!({}), true);
    assert!(matches!(exchange.next(0.0), Next::Send(send) if send.body["stream"] == true));
    exchange.answer(400, &[]);
    assert!(exchange.feed(b"model does not support tools").is_empty());
    assert!(exchange.end(0.0).is_empty());
    assert!(matches!(exchange.next(0.0), Next::Send(_)), "nothing was shown");
    assert_eq!(exchange.finish().attempts.len(), 1);

    let mut exchange = start(&json!({}), true);
    exchange.next(0.0);
    exchange.answer(200, &[]);
    let events = exchange.feed(chunk(&json!({ "content": "It is " })).as_bytes());
    assert_eq!(events, [Event::Text("It is ".to_owned())]);
    exchange.fail("reset by peer", 0.0);
    assert_eq!(exchange.next(0.0), Next::Done, "what was shown cannot be taken back");
}
