//! What the transcoder costs: a chunk of text of each pair of APIs beside passing its bytes on, and a request of 100 KB with 50
//! tools. Medians, in one table.
//!
//! `cargo run --release --manifest-path benches/wire/Cargo.toml`
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;
use toolglot::wire::{BackendApi, ClientApi, Mode, Options, Transcoder};

/// The median time of one run, in nanoseconds.
fn median(mut run: impl FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..25)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_nanos() as f64
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

const CHUNKS: usize = 2000;

/// A chunk of text, of so many letters, as the backend sends it.
fn chunk(api: BackendApi, number: usize) -> String {
    let text = [" the", " quick", " brown fox,", " `code`", " and", " 3 < 4."][number % 6];
    match api {
        BackendApi::Chat => format!(
            "data: {}\n\n",
            json!({"id": "chatcmpl-0123456789abcdef", "object": "chat.completion.chunk", "created": 1794009600, "model": "m",
                "choices": [{"index": 0, "delta": {"content": text}, "logprobs": null, "finish_reason": null}]})
        ),
        BackendApi::Anthropic => format!(
            "event: content_block_delta\ndata: {}\n\n",
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
        ),
        _ => format!(
            "event: response.output_text.delta\ndata: {}\n\n",
            json!({"type": "response.output_text.delta", "sequence_number": number + 4, "item_id": "msg_1", "output_index": 0,
                "content_index": 0, "delta": text, "logprobs": []})
        ),
    }
}

fn tools(client: ClientApi, count: usize) -> Vec<Value> {
    (0..count)
        .map(|number| {
            let name = format!("tool_{number}");
            let property = json!({"type": "string", "description": "A path below the folder that the workspace is in. ".repeat(4)});
            let schema = json!({"type": "object", "properties": {"path": property, "content": property, "lines": {"type": "integer"},
                "mode": {"type": "string", "enum": ["read", "write", "append"]}}, "required": ["path"], "additionalProperties": false});
            let description = "Reads or writes a file, and says what it did with it. ".repeat(4);
            match client {
                ClientApi::Chat => json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}}),
                ClientApi::Responses => json!({"type": "function", "name": name, "description": description, "parameters": schema}),
                ClientApi::Anthropic => json!({"name": name, "description": description, "input_schema": schema}),
            }
        })
        .collect()
}

fn request(client: ClientApi, tool_count: usize, bytes: usize) -> Vec<u8> {
    let text = "The quick brown fox reads a page of the manual and answers at length. ".repeat(bytes / 70 / 20 + 1);
    let mut messages = vec![json!({"role": "user", "content": "?"})];
    for _ in 0..10 {
        messages.push(json!({"role": "assistant", "content": text}));
        messages.push(json!({"role": "user", "content": text}));
    }
    let key = if client == ClientApi::Responses { "input" } else { "messages" };
    json!({"model": "m", "max_tokens": 999, "stream": true, "tools": tools(client, tool_count), key: messages}).to_string().into_bytes()
}

fn main() {
    println!("{:<34}{:>12}", "a chunk of text", "ns");
    let chunks: Vec<String> = (0..CHUNKS).map(|number| chunk(BackendApi::Chat, number)).collect();
    let mut out: Vec<u8> = Vec::with_capacity(1 << 20);
    let plain = median(|| {
        out.clear();
        chunks.iter().for_each(|chunk| out.extend_from_slice(black_box(chunk.as_bytes())));
    });
    println!("{:<34}{:>12.0}", "bytes passed on", plain / CHUNKS as f64);
    for backend in [BackendApi::Chat, BackendApi::Anthropic, BackendApi::Responses] {
        let chunks: Vec<String> = (0..CHUNKS).map(|number| chunk(backend, number)).collect();
        for client in ClientApi::ALL {
            let transcoder = Transcoder::new(*client, backend, Options::default());
            let translation = transcoder.request(&request(*client, 10, 100)).expect("a request");
            let time = median(|| {
                out.clear();
                let mut stream = translation.stream();
                for chunk in &chunks {
                    stream.feed(black_box(chunk.as_bytes()), &mut out);
                }
            });
            let name = format!("{} to {}", backend.as_str(), client.as_str());
            println!("{name:<34}{:>12.0}", time / CHUNKS as f64);
        }
    }
    println!("\n{:<34}{:>12}", "a request of 100 KB, 50 tools", "us");
    for mode in Mode::ALL {
        for client in ClientApi::ALL {
            let body = request(*client, 50, 50_000);
            let options = Options { mode: *mode, ..Options::default() };
            let transcoder = Transcoder::new(*client, BackendApi::Chat, options);
            let time = median(|| drop(black_box(transcoder.request(black_box(&body)).expect("a request"))));
            let name = format!("{} to chat, {} ({} KB)", client.as_str(), mode.as_str(), body.len() / 1000);
            println!("{name:<34}{:>12.0}", time / 1000.0);
        }
    }
}
