//! Gemini's `generateContent`: parts of text, thought and calls; a stream is a row of responses whose parts add up.
//!
//! Facts: the `google-genai` SDK's models, whose dumps spell fields in snake_case. Calls come whole, except on Vertex
//! with `streamFunctionCallArguments`. A `thoughtSignature` must go back in the very part it came in.
use super::arguments;
use super::assembly::{Assembly, Finish};
use super::calls::{Numbers, Said};
use super::extra::{FIELDS, beyond, join};
use super::node::Node;
use super::wire::{Payload, Take, Wire, Wording};
use crate::turn::{Issue, IssueCode, StopReason, Usage};
use serde_json::{Map, Value, json};

#[derive(Debug)]
enum Part {
    Text { text: String, thought: bool, signature: Option<Value>, more: Map<String, Value> },
    Call { at: usize, signature: Option<Value>, id: bool, more: Map<String, Value> },
    Opaque(Value),
}

/// What is read of a part with a call, and of the call.
const PART: [&str; 5] = ["functionCall", "function_call", "thoughtSignature", "thought_signature", "thought"];
const CALL: [&str; 10] = [
    "id",
    "name",
    "args",
    "arguments",
    "parameters",
    "input",
    "partialArgs",
    "partial_args",
    "willContinue",
    "will_continue",
];

pub(super) const WORDING: Wording = Wording {
    wire: || Box::<Gemini>::default(),
    choices,
    answers: |body| body.list("candidates").iter().any(answers) || ANSWER.iter().any(|key| body.get(key).is_some()),
    names_calls: false,
    answers_with_errors: false,
    splits: false,
    blobs: &[],
};

/// What only an answer has beside its candidates, spelt as by the API or the SDK.
const ANSWER: [&str; 5] = ["parts", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"];

/// The candidate says anything, if only that it is over.
fn answers(candidate: &Node<'_>) -> bool {
    let empty = |key: &str| key == "index" || key == "content" && !candidate.says(key);
    candidate.members().iter().any(|(key, value)| !matches!(value, Node::Null) && !empty(key))
}

/// What is kept between the chunks of one candidate.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    parts: Vec<Part>,
    /// What is unknown of the content beside its parts.
    fields: Map<String, Value>,
    /// A call whose arguments still come (Vertex), and its arguments so far.
    open: Option<(usize, Value)>,
}

impl Gemini {
    fn part(&mut self, part: &Node<'_>, out: &mut Assembly) {
        let signature = part.either(["thoughtSignature", "thought_signature"]).map(|signature| match signature.str() {
            // The SDK's dumps spell the bytes in the URL-safe alphabet, which the API's JSON does not.
            Some(text) => json!(text.replace('-', "+").replace('_', "/")),
            None => signature.to_value(),
        });
        if let Some(call) = part.either(["functionCall", "function_call"]) {
            return self.call(part, call, signature, out);
        }
        if let Some(text) = part.text("text") {
            let thought = part.is_true("thought");
            if thought {
                out.reasoning(text)
            } else {
                out.text(text)
            }
            let more = beyond(part, &["text", "thought", "thoughtSignature", "thought_signature"]);
            match self.parts.last_mut() {
                // Signed parts are not merged with others.
                Some(Part::Text { text: known, thought: kind, signature: None, more: of })
                    if *kind == thought && signature.is_none() && more.is_empty() && of.is_empty() =>
                {
                    known.push_str(text);
                }
                _ if text.is_empty() && signature.is_none() && more.is_empty() => {}
                _ => self.parts.push(Part::Text { text: text.to_owned(), thought, signature, more }),
            }
            return;
        }
        if !part.is_object() {
            return out.odd("/candidates/content/parts", part, "a part");
        }
        let opaque = part.members().iter().any(|(_, value)| !matches!(value, Node::Null));
        if opaque {
            // What the server ran itself, inline data, code: back as it came.
            self.parts.push(Part::Opaque(part.to_value()));
        }
    }

    fn call(&mut self, part: &Node<'_>, call: &Node<'_>, signature: Option<Value>, out: &mut Assembly) {
        let more = call.is_true("willContinue") || call.is_true("will_continue");
        let partial = match call.either(["partialArgs", "partial_args"]) {
            Some(Node::Array(partial)) => partial.as_slice(),
            _ => &[],
        };
        let name = call.text("name").unwrap_or_default();
        if name.is_empty() {
            // The next piece of the open call, or its end.
            if let Some((at, mut arguments)) = self.open.take() {
                partial.iter().for_each(|piece| set_path(&mut arguments, piece));
                if more {
                    grow(at, &arguments, out);
                    self.open = Some((at, arguments));
                } else {
                    out.calls.set(at, &arguments.to_string());
                    out.call_end(at);
                }
            } else if call.members().iter().any(|(_, value)| !matches!(value, Node::Null)) {
                out.odd("/functionCall/name", call, "a call with a name");
            }
            return;
        }
        self.close(out);
        let id = call.text("id").unwrap_or_default();
        let Some(at) = out.call_start(None, id, name) else { return };
        if let Some(slot) = out.calls.slots.get_mut(at) {
            slot.numbers = Numbers::Floats;
        }
        let mut fields = beyond(part, &PART);
        let inner = beyond(call, &CALL);
        if !inner.is_empty() {
            fields.insert("functionCall".into(), Value::Object(inner));
        }
        self.parts.push(Part::Call { at, signature, id: !id.is_empty(), more: fields });
        if more || !partial.is_empty() {
            // A deep value would be null in what the pieces are put into.
            if let Some(slot) = out.calls.slots.get_mut(at).filter(|_| call.get("args").is_some_and(Node::is_deep)) {
                slot.said = Said::Unread;
            }
            let mut arguments =
                call.get("args").filter(|args| args.is_object()).map_or_else(|| json!({}), Node::to_value);
            partial.iter().for_each(|piece| set_path(&mut arguments, piece));
            if more {
                // No id comes later either.
                out.give_id(at);
                grow(at, &arguments, out);
                self.open = Some((at, arguments));
                return;
            }
            out.calls.set(at, &arguments.to_string());
        } else {
            match arguments::find(call, "args") {
                None => {}
                Some(Node::String(text)) => out.arguments(at, text),
                Some(args) => out.calls.set_whole(at, args),
            }
        }
        out.call_end(at);
    }

    /// A call that was still open is cut off.
    fn close(&mut self, out: &mut Assembly) {
        if let Some((at, arguments)) = self.open.take() {
            let mut text = arguments.to_string();
            text.pop();
            out.calls.set(at, &text);
            out.call_end(at);
        }
    }

    fn content(&mut self, content: &Node<'_>, out: &mut Assembly) {
        join(&mut self.fields, beyond(content, &["parts", "role"]));
        match content.get("parts") {
            Some(Node::Array(parts)) => parts.iter().for_each(|part| self.part(part, out)),
            Some(other) => out.odd("/candidates/content/parts", other, "a list of parts"),
            None => {}
        }
    }
}

impl Wire for Gemini {
    fn read(&mut self, payload: &Payload<'_, '_>, candidate: &Node<'_>, out: &mut Assembly) {
        let alone =
            std::ptr::eq(candidate, payload.body).then_some(candidate).filter(|body| body.get("parts").is_some());
        if let Some(content) = alone.or_else(|| candidate.get("content")) {
            self.content(content, out);
        }
        let raw = candidate.either(["finishReason", "finish_reason"]).and_then(Node::str).unwrap_or_default();
        if !raw.is_empty() && raw != "FINISH_REASON_UNSPECIFIED" {
            out.finish = Some(Finish { raw: raw.to_owned(), reason: reason(raw) });
            out.done = true;
            let message = candidate.either(["finishMessage", "finish_message"]).and_then(Node::str);
            if reason(raw) == Some(StopReason::Error) {
                let text = message.unwrap_or("the model's call could not be read");
                out.issue(Issue::of(IssueCode::MalformedCall, "/candidates/finishReason", format!("{raw}: {text}")));
            }
        }
        if payload.whole || out.done {
            out.done = true;
            self.close(out);
        }
    }

    fn rest(&mut self, payload: &Payload<'_, '_>, out: &mut Assembly) {
        let body = payload.body;
        if let Some(raw) = blocked(body) {
            out.finish = Some(Finish { raw: raw.to_owned(), reason: Some(StopReason::ContentFilter) });
            out.done = true;
        }
        let Some(usage) = body.either(["usageMetadata", "usage_metadata"]).filter(|usage| usage.is_object()) else {
            return;
        };
        let count = |keys: [&str; 2]| usage.either(keys).and_then(Node::u64);
        let thoughts = count(["thoughtsTokenCount", "thoughts_token_count"]);
        out.usage(Usage {
            input_tokens: count(["promptTokenCount", "prompt_token_count"]),
            // Gemini counts thoughts apart from the candidates; both are output.
            output_tokens: count(["candidatesTokenCount", "candidates_token_count"])
                .map(|tokens| tokens.saturating_add(thoughts.unwrap_or_default()))
                .or(thoughts),
            total_tokens: count(["totalTokenCount", "total_token_count"]),
            reasoning_tokens: thoughts,
            cached_tokens: count(["cachedContentTokenCount", "cached_content_token_count"]),
        });
    }

    /// The parts in their order, calls as `{"$call": index}`; nothing if none of them is signed or opaque.
    fn state(&mut self, out: &mut Assembly) {
        let texts = self.parts.iter().filter(|part| matches!(part, Part::Text { thought: false, .. })).count();
        let text_late = (self.parts.iter())
            .skip_while(|part| !matches!(part, Part::Call { .. }))
            .any(|part| matches!(part, Part::Text { .. }));
        let keep = texts > 1
            || !self.fields.is_empty()
            || text_late
            || self.parts.iter().any(|part| match part {
                Part::Text { signature, more, .. } => signature.is_some() || !more.is_empty(),
                // An id that the provider did not send must not be sent back, and no stand-in for a signature.
                Part::Call { .. } => true,
                Part::Opaque(_) => true,
            });
        if !keep {
            return;
        }
        let parts: Vec<Value> = (self.parts.drain(..))
            .filter_map(|part| {
                let mut object = Map::new();
                let signature = match part {
                    Part::Text { text, thought, signature, more } => {
                        object.extend(more);
                        object.insert("text".into(), json!(text));
                        if thought {
                            object.insert("thought".into(), json!(true));
                        }
                        signature
                    }
                    Part::Call { at, signature, id, more } => {
                        object.extend(more);
                        object.insert("$call".into(), json!(out.index_of(at)?));
                        if !id {
                            object.insert("$id".into(), json!(false));
                        }
                        signature
                    }
                    Part::Opaque(value) => return Some(value),
                };
                if let Some(signature) = signature {
                    object.insert("thoughtSignature".into(), signature);
                }
                Some(Value::Object(object))
            })
            .collect();
        let mut state = Map::new();
        state.insert("parts".into(), Value::Array(parts));
        if !self.fields.is_empty() {
            state.insert(FIELDS.into(), Value::Object(std::mem::take(&mut self.fields)));
        }
        out.state.insert("gemini".into(), Value::Object(state));
    }
}

/// Sends on what is certain of a call's arguments so far: pieces come in the order of the text, so all but what closes it,
/// and a value that was named and not told. Where a piece does go back, the whole arguments say so at the end.
fn grow(at: usize, arguments: &Value, out: &mut Assembly) {
    let text = arguments.to_string();
    let open = text.trim_end_matches(['}', ']']);
    let open = open.strip_suffix('"').or_else(|| open.strip_suffix("null")).unwrap_or(open);
    let known = out.calls.slots.get(at).map_or("", |slot| slot.text.as_str());
    if let Some(piece) = open.strip_prefix(known).filter(|piece| !piece.is_empty()).map(str::to_owned) {
        out.arguments(at, &piece);
    }
}

/// Puts a piece of Vertex's `partialArgs` where its `jsonPath` (`$.a.b[0]`) says; strings of one path are joined.
fn set_path(root: &mut Value, piece: &Node<'_>) {
    let Some(path) = piece.either(["jsonPath", "json_path"]).and_then(Node::str) else { return };
    let mut place = root;
    for step in steps(path) {
        place = match step {
            Step::Key(key) => {
                if !place.is_object() {
                    *place = json!({});
                }
                let Value::Object(members) = place else { return };
                members.entry(key).or_insert(Value::Null)
            }
            Step::Index(index) => {
                if !place.is_array() {
                    *place = json!([]);
                }
                let Value::Array(items) = place else { return };
                if index > 10_000 {
                    return;
                }
                while items.len() <= index {
                    items.push(Value::Null);
                }
                let Some(item) = items.get_mut(index) else { return };
                item
            }
        };
    }
    if let Some(text) = piece.either(["stringValue", "string_value"]).and_then(Node::str) {
        match place {
            Value::String(known) => known.push_str(text),
            place => *place = json!(text),
        }
    } else if let Some(value) =
        piece.either(["numberValue", "number_value"]).or_else(|| piece.either(["boolValue", "bool_value"]))
    {
        *place = value.to_value();
    }
}

enum Step {
    Key(String),
    Index(usize),
}

fn steps(path: &str) -> Vec<Step> {
    let mut out = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() && out.len() < 128 {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (key, next) = after.split_at(end);
            if !key.is_empty() {
                out.push(Step::Key(key.to_owned()));
            }
            rest = next;
        } else if let Some(after) = rest.strip_prefix('[') {
            let (inside, next) = after.split_once(']').unwrap_or((after, ""));
            match inside.parse() {
                Ok(index) => out.push(Step::Index(index)),
                Err(_) => out.push(Step::Key(inside.trim_matches(['\'', '"']).to_owned())),
            }
            rest = next;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len()).max(1);
            out.push(Step::Key(rest.get(..end).unwrap_or(rest).to_owned()));
            rest = rest.get(end..).unwrap_or_default();
        }
    }
    out
}

/// Hands out the candidates of a response or a chunk of a stream, which have one shape.
fn choices(payload: &Payload<'_, '_>, take: &mut Take<'_>) {
    let body = payload.body;
    let candidates = body.list("candidates");
    payload.each(candidates, take);
    // Only the content, without its response; or the prompt was blocked, and nothing was made.
    let alone = body.get("candidates").is_none() && body.get("parts").is_some();
    if alone || (candidates.is_empty() && blocked(body).is_some()) {
        take(0, body);
    }
}

/// Why the prompt was not answered.
fn blocked<'n>(body: &'n Node<'_>) -> Option<&'n str> {
    body.either(["promptFeedback", "prompt_feedback"])?.either(["blockReason", "block_reason"])?.str()
}

fn reason(raw: &str) -> Option<StopReason> {
    Some(match raw {
        "STOP" => StopReason::Stop,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY"
        | "PROHIBITED_CONTENT"
        | "BLOCKLIST"
        | "SPII"
        | "RECITATION"
        | "MODEL_ARMOR"
        | "LANGUAGE"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::ContentFilter,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE"
        | "MALFORMED_RESPONSE"
        | "OTHER"
        | "IMAGE_OTHER"
        | "NO_IMAGE" => StopReason::Error,
        "CONTINUATION" => StopReason::Pause,
        _ => return None,
    })
}
