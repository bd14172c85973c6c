//! Requests and whole answers.
use super::support::*;
use serde_json::Value;
use toolglot::provider::{Reading, normalize};
use toolglot::wire::{ClientApi, Transcoder};

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
