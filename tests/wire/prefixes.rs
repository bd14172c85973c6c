//! The bytes of one turn begin those of the next, so that a backend's cache of prompts holds what was said before.
use super::support::request;
use serde_json::{Value, json};
use toolglot::wire::{BackendApi, ClientApi, Mode, Options, Transcoder};

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
                if client.as_backend() == *backend && (*mode == Mode::Native || *client == ClientApi::Anthropic) {
                    // See below: what passes has the client's order, and Anthropic's API is told where a cache's marks stand.
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

/// What a backend of Anthropic's keeps a prompt by: the blocks, without the marks that say up to where it is to be kept.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(unmarked).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(key, _)| *key != "cache_control");
            let blocks = |key: &str, value: &Value| match value {
                // A text alone is a list of one block.
                Value::String(text) if key == "content" => json!([{"type": "text", "text": text}]),
                value => unmarked(value),
            };
            Value::Object(members.map(|(key, value)| (key.clone(), blocks(key, value))).collect())
        }
        other => other.clone(),
    }
}

/// Where client and backend speak the same API: natively the client's own bytes pass, but for what changes with every request;
/// in both modes all that stood before the new messages is what it was.
#[test]
fn the_messages_of_a_turn_that_passes_begin_those_of_the_next() {
    for client in ClientApi::ALL {
        for mode in Mode::ALL {
            let options = Options { mode: *mode, ..Options::default() };
            let transcoder = Transcoder::new(*client, client.as_backend(), options);
            let list = if *client == ClientApi::Responses { "input" } else { "messages" };
            let sent = |turn: usize| -> (Value, String) {
                let body = request(*client, true, &conversation(*client, turn));
                let translation = transcoder.request(&body).unwrap();
                let sent = &translation.request().body;
                if *mode == Mode::Native && *client != ClientApi::Anthropic {
                    assert_eq!(*sent, body, "what passes, passes");
                }
                let mut sent: Value = serde_json::from_slice(sent).unwrap();
                assert!(!sent.to_string().contains("x-anthropic-billing-header"), "{sent}");
                let messages = unmarked(&sent.as_object_mut().unwrap().shift_remove(list).unwrap());
                (unmarked(&sent), messages.to_string())
            };
            let mut before = sent(0);
            for turn in 1..6 {
                let next = sent(turn);
                assert_eq!(next.0, before.0, "{}, {mode:?}", client.as_str());
                let known = before.1.strip_suffix(']').unwrap();
                assert!(next.1.starts_with(known), "{}, {mode:?}:\n{}\n{}", client.as_str(), before.1, next.1);
                assert!(next.1.len() > before.1.len());
                before = next;
            }
        }
    }
}
