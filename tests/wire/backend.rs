//! What backends send.
use super::support::frame;
use serde_json::{Value, json};
use toolglot::wire::BackendApi;

/// What a backend says, in the words of its API, streamed: text, reasoning and native calls in their order.
pub(crate) fn backend_stream(api: BackendApi, said: &[(&str, &str)], stop: &str) -> String {
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

/// A call as a model of the Hermes family writes it.
pub(crate) const HERMES: &str = "<tool_call>\n{\"name\": \"ls\", \"arguments\": {\"path\": \"/é\"}}\n</tool_call>";
