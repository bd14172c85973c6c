//! Whole conversations: between providers, checked, and mended.
//!
//! Messages of any provider are read into [`Message`]s and written from them. What only one provider understands
//! (signatures, encrypted reasoning, ids) stays with the message in [`Written::side`], beside the messages, so that a
//! conversation that goes to another provider and back is what it was.
mod anthropic;
mod bedrock;
mod blocks;
mod chat;
mod check;
mod gemini;
mod ids;
mod media;
mod model;
mod pairs;
mod patch;
mod reasoning;
mod repair;
mod responses;
mod rest;
mod roles;
mod side;
mod strip;
mod verbatim;
mod words;

pub use check::check_history;
pub use ids::provider_id;
pub use model::{Answer, Call, Media, MediaKind, Message, Part, Role, Source, text_of};
pub use reasoning::Reasoned;
pub use repair::repair_history;

pub(super) use model::text_with;

use super::Provider;
use crate::error::{Error, ErrorCode};
use crate::schema::{InDialect, ToolSet, input_of};
use crate::turn::{Issue, IssueCode, Turn};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet, VecDeque};

/// A conversation as a provider takes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// The messages, as the provider's request takes them.
    pub messages: Vec<Value>,
    /// The system prompt, where the provider takes it beside the messages (Anthropic, Gemini, Bedrock) or as
    /// instructions (Responses keeps it among the items); spelt as the request's field wants it.
    pub system: Option<Value>,
    /// What the provider has no place for, by the index of the message: opaque state of other providers, ids, marks.
    pub side: Map<String, Value>,
    /// Everything that was changed or left out, with the index of the message it was in.
    pub issues: Vec<Issue>,
}

/// A writer's notebook.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) issues: Vec<Issue>,
    /// For each message written, the place of the [`Message`] that it begins with.
    from: Vec<usize>,
    /// The places of those that were written into the message before.
    joined: HashSet<usize>,
}

impl Notes {
    fn note(&mut self, index: usize, message: impl Into<String>) {
        self.issues.push(Issue::of(IssueCode::Converted, format!("/{index}"), message.into()));
    }

    /// All messages written since the last time come from the [`Message`] at the place `at`.
    fn wrote(&mut self, at: usize, written: &Written) {
        self.from.resize(written.messages.len(), at);
    }
}

/// What was written, and of what.
struct Traced {
    written: Written,
    /// As [`Notes::from`].
    from: Vec<usize>,
    /// As [`Notes::joined`].
    joined: HashSet<usize>,
}

/// The wire format of a history, by its shape.
pub fn detect_history(messages: &[Value]) -> Provider {
    for message in messages {
        let has = |key: &str| message.get(key).is_some();
        if has("parts") {
            return Provider::Gemini;
        }
        match message.get("type").and_then(Value::as_str) {
            // An answer of Anthropic's is of this type as well; what its parts are tells.
            Some("message") if has("stop_reason") => return Provider::Anthropic,
            Some("message") if message.get("content").is_some_and(|content| !is_empty_list(content)) => {}
            Some(_) => return Provider::OpenAiResponses,
            None => {}
        }
        if has("tool_plan") {
            return Provider::Cohere;
        }
        if has("tool_name") || has("images") || has("thinking") {
            return Provider::Ollama;
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        let object = |call: &Value| call.pointer("/function/arguments").is_some_and(Value::is_object);
        if calls.is_some_and(|calls| calls.iter().any(object)) {
            return Provider::Ollama;
        }
        for part in message.get("content").and_then(Value::as_array).into_iter().flatten() {
            match part.get("type").and_then(Value::as_str) {
                Some(
                    "tool_use" | "tool_result" | "redacted_thinking" | "server_tool_use" | "image" | "document"
                    | "search_result",
                ) if part.get("document").is_none() => {
                    return Provider::Anthropic;
                }
                Some("thinking") if part.get("thinking").is_some_and(Value::is_string) => return Provider::Anthropic,
                Some("thinking") => return Provider::Mistral,
                Some("refusal") if has("type") => return Provider::OpenAiResponses,
                Some("input_text" | "output_text" | "input_image" | "input_file") => return Provider::OpenAiResponses,
                Some("document") => return Provider::Cohere,
                None if part.is_object() => return Provider::Bedrock,
                _ => {}
            }
        }
    }
    Provider::OpenAi
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// Reads a provider's messages. `side` is what [`Written::side`] kept; what stood beside a message that is no longer there
/// as it was is left out.
///
/// # Errors
/// [`ErrorCode::BadMessage`] with the index of a message that is none.
pub fn read_history(
    messages: &[Value],
    system: Option<&Value>,
    provider: Provider,
    side: Option<&Map<String, Value>>,
) -> Result<Vec<Message>, Error> {
    let placed = side.map(|side| side::place(side, messages, provider, &mut Vec::new()));
    let side = placed.as_ref();
    Ok(read_with_places(messages, system, provider, side)?.0)
}

/// As [`read_history`]; with the index of the message that each result was in.
fn read_with_places(
    messages: &[Value],
    system: Option<&Value>,
    provider: Provider,
    side: Option<&Map<String, Value>>,
) -> Result<(Vec<Message>, Vec<usize>), Error> {
    let (mut out, mut places) = (Vec::new(), Vec::new());
    if let Some(text) = system.map(system_text).filter(|text| !text.is_empty()) {
        out.push(Message::text(Role::System, text));
    }
    for (index, message) in messages.iter().enumerate() {
        if !message.is_object() {
            return Err(Error::at(ErrorCode::BadMessage, format!("/{index}"), "a message is an object"));
        }
        let (first, known) = (out.len(), out.last().map_or(0, |last: &Message| last.parts.len()));
        read_message(message, index, provider, &mut out);
        let kept = side.and_then(|side| side.get(&index.to_string())).and_then(Value::as_object);
        if let Some(kept) = kept {
            side::restore(out.get_mut(first..).unwrap_or_default(), kept);
        }
        let new = added(&mut out, first, known);
        let new = new.filter_map(|part| if let Part::Answer(answer) = part { Some(answer) } else { None });
        for (ordinal, answer) in new.enumerate() {
            places.push(index);
            if let Some(kept) = kept {
                side::restore_result(answer, ordinal, kept);
            }
        }
    }
    if let Some(side) = side {
        side::restore_ids(&mut out, side);
    }
    name_answers(&mut out);
    Ok((out, places))
}

fn read_message(message: &Value, index: usize, provider: Provider, out: &mut Vec<Message>) {
    match provider {
        Provider::Anthropic => anthropic::read(message, index, out),
        Provider::Gemini => gemini::read(message, index, out),
        Provider::Bedrock => bedrock::read(message, index, out),
        Provider::OpenAiResponses => responses::read(message, index, out),
        Provider::OpenAi | Provider::Mistral | Provider::Cohere | Provider::Ollama => {
            chat::read(message, index, provider, out);
        }
    }
}

/// The parts that were read last, when there were `first` messages, the last one with `known` parts: what is read may
/// have joined it.
fn added(out: &mut [Message], first: usize, known: usize) -> impl Iterator<Item = &mut Part> {
    let (from, skip) = first.checked_sub(1).map_or((0, 0), |before| (before, known));
    out.get_mut(from..).into_iter().flatten().flat_map(|message| &mut message.parts).skip(skip)
}

/// A mark of what each of `messages` says: texts, calls and results, however they are spelt.
fn marks(messages: &[Value], provider: Provider) -> Vec<String> {
    let (mut out, mut marks) = (Vec::new(), Vec::with_capacity(messages.len()));
    for (index, message) in messages.iter().enumerate() {
        let (first, known) = (out.len(), out.last().map_or(0, |last: &Message| last.parts.len()));
        read_message(message, index, provider, &mut out);
        marks.push(side::mark(added(&mut out, first, known).map(|part| &*part)));
    }
    marks
}

/// Says of which messages nothing is read, though they say something: they have another provider's shape, or none.
fn note_unread(messages: &[Value], provider: Provider, issues: &mut Vec<Issue>) {
    let mut out = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let (first, known) = (out.len(), out.last().map_or(0, |last: &Message| last.parts.len()));
        read_message(message, index, provider, &mut out);
        let state = |message: &Message| !(message.state.is_empty() && message.reasoning.is_empty());
        let read = added(&mut out, first, known).any(|part| *part != Part::Text(String::new()))
            || out.get(first..).unwrap_or_default().iter().any(state);
        let mut members = message.as_object().into_iter().flatten();
        if !read && members.any(|(key, value)| !MARKS.contains(&key.as_str()) && says_something(value)) {
            let text = format!("nothing of this message can be read as one of `{}`", provider.as_str());
            issues.push(Issue::of(IssueCode::Converted, format!("/{index}"), text));
        }
    }
}

/// Members of a message that say nothing alone.
const MARKS: [&str; 7] = ["role", "type", "id", "name", "status", "object", "created_at"];

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(members) => members.iter().any(|(key, value)| key != "type" && says_something(value)),
        Value::Number(_) => true,
    }
}

/// Results that have no name or no id get them from the calls they answer.
fn name_answers(messages: &mut [Message]) {
    let mut open = Open::default();
    for message in messages {
        if message.role == Role::Assistant {
            message.calls().for_each(|call| open.push(call));
            continue;
        }
        for part in &mut message.parts {
            let Part::Answer(answer) = part else { continue };
            if let Some((id, name)) = open.take(answer) {
                answer.id = id;
                if answer.name.is_empty() {
                    answer.name = name;
                }
            }
        }
    }
}

/// Calls that no result has answered so far: id and name, and where they stand by either.
#[derive(Default)]
struct Open {
    calls: Vec<Option<(String, String)>>,
    /// All calls before this one are answered.
    first: usize,
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
}

impl Open {
    fn push(&mut self, call: &Call) {
        self.by_id.entry(call.id.clone()).or_default().push_back(self.calls.len());
        self.by_name.entry(call.name.clone()).or_default().push_back(self.calls.len());
        self.calls.push(Some((call.id.clone(), call.name.clone())));
    }

    /// The first open call that `answer` may be for: by its id, else by its name, else whichever is next.
    fn take(&mut self, answer: &Answer) -> Option<(String, String)> {
        let places = match (answer.id.as_str(), answer.name.as_str()) {
            ("", "") => None,
            ("", name) => Some(self.by_name.get_mut(name)?),
            (id, _) => Some(self.by_id.get_mut(id)?),
        };
        let Some(places) = places else {
            while let Some(call) = self.calls.get_mut(self.first) {
                self.first += 1;
                if call.is_some() {
                    return call.take();
                }
            }
            return None;
        };
        // What was answered by its other key is still listed here.
        while let Some(place) = places.pop_front() {
            if let Some(call) = self.calls.get_mut(place).and_then(Option::take) {
                return Some(call);
            }
        }
        None
    }
}

/// The text of a system prompt in any provider's spelling.
fn system_text(system: &Value) -> String {
    match system {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(system_text).filter(|text| !text.is_empty()).collect();
            texts.join("\n\n")
        }
        Value::Object(object) => match (object.get("text"), object.get("parts")) {
            (Some(Value::String(text)), _) => text.clone(),
            (_, Some(parts)) => system_text(parts),
            _ => object.get("content").map(system_text).unwrap_or_default(),
        },
        _ => String::new(),
    }
}

/// Writes messages as `provider` takes them.
pub fn write_history(messages: &[Message], provider: Provider) -> Written {
    write_traced(messages, provider).written
}

/// As [`write_history`]; nothing but the messages' own parts may be in them, for else their places are others.
fn write_traced(messages: &[Message], provider: Provider) -> Traced {
    let mut written = Written::default();
    let mut notes = Notes::default();
    let without = at_home(messages, provider, &mut notes);
    let messages = without.as_deref().unwrap_or(messages);
    match provider {
        Provider::Anthropic => anthropic::write(messages, &mut written, &mut notes),
        Provider::Gemini => gemini::write(messages, &mut written, &mut notes),
        Provider::Bedrock => bedrock::write(messages, &mut written, &mut notes),
        Provider::OpenAiResponses => responses::write(messages, &mut written, &mut notes),
        Provider::OpenAi | Provider::Mistral | Provider::Cohere | Provider::Ollama => {
            chat::write(messages, provider, &mut written, &mut notes);
        }
    }
    written.issues.append(&mut notes.issues);
    Traced { written, from: notes.from, joined: notes.joined }
}

/// The messages with nothing but the text of parts that mean nothing to `provider`, each with a note; `None` if there are none.
fn at_home(messages: &[Message], provider: Provider, notes: &mut Notes) -> Option<Vec<Message>> {
    fn strange(part: &Part, provider: Provider) -> bool {
        match part {
            Part::Opaque(of, _) => *of != provider,
            Part::Answer(answer) => answer.parts.iter().any(|part| strange(part, provider)),
            _ => false,
        }
    }
    fn leave(parts: &mut Vec<Part>, provider: Provider, note: &mut impl FnMut(String)) {
        for mut part in std::mem::take(parts) {
            match &mut part {
                Part::Opaque(of, value) if *of != provider => {
                    let only = || value.as_object()?.keys().next().map(String::as_str);
                    let what = value.get("type").and_then(Value::as_str).or_else(only).unwrap_or("part");
                    match words::words(value) {
                        Some(said) => {
                            note(format!("a part `{what}` is known to {} alone; its text is told", of.as_str()));
                            parts.extend(said);
                        }
                        None => {
                            note(format!("a part `{what}` means nothing but to {}; it is kept beside", of.as_str()))
                        }
                    }
                    continue;
                }
                Part::Answer(answer) => leave(&mut answer.parts, provider, note),
                _ => {}
            }
            parts.push(part);
        }
    }
    if !messages.iter().any(|message| message.parts.iter().any(|part| strange(part, provider))) {
        return None;
    }
    let mut messages = messages.to_vec();
    messages.retain_mut(|message| {
        let before = message.parts.len();
        leave(&mut message.parts, provider, &mut |text| notes.note(message.origin, text));
        // A message of nothing else is none.
        !message.parts.is_empty() || before == 0 || message.role == Role::Assistant
    });
    Some(messages)
}

/// Keeps beside the messages what `provider` has no place for.
fn keep_aside(written: &mut Written, message: &Message, provider: Provider) {
    let foreign: Map<String, Value> = (message.state.iter())
        .filter(|(key, _)| key.as_str() != provider.as_str())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !foreign.is_empty() {
        written.side.insert(written.messages.len().to_string(), Value::Object(foreign));
    }
}

/// Whole histories from one provider's shape to another's.
///
/// # Errors
/// [`ErrorCode::BadMessage`]
pub fn convert_messages(
    messages: &[Value],
    system: Option<&Value>,
    from: Option<Provider>,
    to: Provider,
    side: Option<&Map<String, Value>>,
) -> Result<Written, Error> {
    convert_reasoned(messages, system, from, to, Reasoned::Never, side, None)
}

/// As [`convert_messages`], to a route that takes reasoning back. Calls of those `tools` that take free text are written as such for
/// Responses, which has them; for all others a call of free text is one of a function with one string.
///
/// # Errors
/// [`ErrorCode::BadMessage`]
pub fn convert_reasoned(
    messages: &[Value],
    system: Option<&Value>,
    from: Option<Provider>,
    to: Provider,
    reasoned: Reasoned,
    side: Option<&Map<String, Value>>,
    tools: Option<&ToolSet>,
) -> Result<Written, Error> {
    let from = from.unwrap_or_else(|| detect_history(messages));
    let mut issues = Vec::new();
    let side = side.map(|side| side::place(side, messages, from, &mut issues));
    let side = side.as_ref();
    let (mut read, places) = read_with_places(messages, system, from, side)?;
    if from != to {
        reasoned.carry(&mut read);
        for message in &mut read {
            match (to, tools) {
                (Provider::OpenAiResponses, Some(tools)) => message.free_input(tools),
                (Provider::OpenAiResponses, None) => {}
                _ => message.own_input(),
            }
        }
        note_unread(messages, from, &mut issues);
        for (index, message) in messages.iter().enumerate() {
            if let Some(text) = roles::not_understood(message, from) {
                let text = format!("{text}; it is taken for the user's");
                issues.push(Issue::of(IssueCode::Converted, format!("/{index}"), text));
            }
        }
    }
    let mut written = write_history(&read, to);
    let noted = written.issues.len();
    if from == to {
        // It stays what it is, down to the fields that nobody here knows.
        rest::restate(&mut written, messages, system, to);
        written = Written { side: side.cloned().unwrap_or_default(), issues, ..written };
        side::stamp(&mut written, to);
        return Ok(written);
    }
    if rest::providers(side).contains(&to) {
        // What cannot be told is what the messages alone do not tell; then they are given what was kept.
        let mut alone = written.clone();
        side::complete(&read, to, &mut alone)?;
        side::report(&read, &places, to, &mut alone)?;
        rest::give_back(&mut written, side, to);
        side::complete(&read, to, &mut written)?;
        written.issues.extend(alone.issues.split_off(alone.issues.len().min(noted)));
    } else {
        side::complete(&read, to, &mut written)?;
        side::report(&read, &places, to, &mut written)?;
    }
    rest::keep(messages, system, from, to, &mut written)?;
    for provider in rest::providers(side).into_iter().filter(|provider| ![from, to].contains(provider)) {
        let mut home = write_history(&read, provider);
        rest::give_back(&mut home, side, provider);
        written.issues.append(&mut std::mem::take(&mut home.issues));
        rest::keep(&home.messages, home.system.as_ref(), provider, to, &mut written)?;
    }
    written.issues.append(&mut issues);
    side::stamp(&mut written, to);
    Ok(written)
}

/// A turn as the message that goes into the history of a conversation with `provider`.
///
/// All its calls are in it, also those that may not run: their error result must answer them. Where arguments cannot be sent
/// back (cut off, unreadable), `{}` stands for them. For Responses the items are in `output` of the object.
pub fn assistant_message(turn: &Turn<'_>, provider: Provider) -> Value {
    reasoned_message(turn, provider, Reasoned::Never)
}

/// As [`assistant_message`], for a route that takes reasoning back.
pub fn reasoned_message(turn: &Turn<'_>, provider: Provider, reasoned: Reasoned) -> Value {
    let mut message = [turn_message(turn)];
    // Chat Completions gets a call of free text back only where it made it: other servers that speak it know none.
    let custom_calls = turn.provider_state.as_ref().and_then(|state| state.get(provider.as_str())?.get("custom_calls"));
    if provider != Provider::OpenAiResponses && custom_calls.is_none() {
        message.iter_mut().for_each(Message::own_input);
    }
    reasoned.carry(&mut message);
    let mut written = write_history(&message, provider);
    match provider {
        Provider::OpenAiResponses => Value::Array(written.messages),
        _ if written.messages.is_empty() => json!({}),
        _ => written.messages.swap_remove(0),
    }
}

/// A turn as the message of a model without native tools, its calls as text in the dialect's own form.
///
/// # Errors
/// As [`write_calls`](crate::schema::write_calls).
pub fn text_message<'d>(turn: &Turn<'_>, dialect: impl Into<InDialect<'d>>) -> Result<Value, Error> {
    let arguments: Vec<_> = turn.tool_calls.iter().map(|call| call.arguments.to_json()).collect();
    let calls = turn.tool_calls.iter().zip(&arguments).filter(|(call, _)| call.status.readable());
    let written = crate::schema::write_calls(calls.map(|(call, arguments)| (&*call.name, &**arguments)), dialect)?;
    let unreadable = turn.tool_calls.iter().filter(|call| !call.status.readable()).map(|call| &*call.raw);
    let parts: Vec<&str> = [&*turn.content, &written].into_iter().chain(unreadable).filter(|p| !p.is_empty()).collect();
    Ok(json!({"role": "assistant", "content": parts.join("\n")}))
}

/// A turn as a message.
pub fn turn_message(turn: &Turn<'_>) -> Message {
    let mut parts = Vec::new();
    if !turn.content.is_empty() {
        parts.push(Part::Text(turn.content.to_string()));
    }
    for call in &turn.tool_calls {
        let readable = call.status.readable();
        let mut arguments = if readable { call.arguments.to_json().into_owned() } else { "{}".to_owned() };
        if call.freeform {
            arguments = input_of(&arguments).unwrap_or_default();
        }
        let (id, name) = (call.id.to_string(), call.name.to_string());
        parts.push(Part::Call(Call { id, name, arguments, object: false, custom: call.freeform }));
    }
    let mut message = Message::new(Role::Assistant, parts);
    message.reasoning = turn.reasoning.to_string();
    // Calls found in text: the provider's own record of the answer holds their markup, not them.
    let native = !matches!(turn.source, crate::turn::Source::Text | crate::turn::Source::FailedGeneration);
    if let (true, Some(Value::Object(state))) = (native, &turn.provider_state) {
        message.state = state.clone();
    }
    let fields = message.state.get("openai").and_then(|state| state.get("calls"));
    let signed = fields.and_then(|fields| chat::signed_calls(fields, &message.parts, turn.tool_calls.len()));
    if let (Some(parts), false) = (signed, message.state.contains_key("gemini")) {
        message.state.insert("gemini".to_owned(), json!({ "parts": parts }));
    }
    message
}

/// A call's arguments as an object, for providers that take no text; `{}` with a note where they are none.
fn object_of(call: &Call, index: usize, notes: &mut Notes) -> Value {
    match serde_json::from_str::<Value>(&call.arguments) {
        Ok(object @ Value::Object(_)) => object,
        Ok(Value::String(inner)) if inner.trim_start().starts_with('{') => {
            serde_json::from_str::<Value>(&inner).ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
        }
        _ if call.custom => json!({"input": call.arguments}),
        _ => {
            if !matches!(call.arguments.trim(), "" | "null") {
                notes.note(
                    index,
                    format!("the arguments of `{}` are no JSON object; `{{}}` stands for them", call.name),
                );
            }
            json!({})
        }
    }
}

/// A call's arguments as JSON text of an object.
fn text_of_arguments(call: &Call, index: usize, notes: &mut Notes) -> String {
    if is_object(&call.arguments) {
        return call.arguments.clone();
    }
    object_of(call, index, notes).to_string()
}

/// The `text` is a JSON object, however deep.
fn is_object(text: &str) -> bool {
    let scanned = crate::json::Scanner::new(0, 512).scan(text.as_bytes(), true);
    let whole = matches!(scanned, crate::json::ScanResult::Complete { end }
        if text.get(end..).is_some_and(|rest| rest.trim_ascii().is_empty()));
    whole && text.trim_start().starts_with('{')
}

/// The parts of a state's template, with each `$call` replaced by what `call` makes of it.
fn fill(
    template: &[Value],
    message: &Message,
    mut call: impl FnMut(&Call, &Map<String, Value>) -> Value,
) -> Vec<Value> {
    let calls: Vec<&Call> = message.calls().collect();
    (template.iter())
        .filter_map(|part| {
            let Some(number) = part.get("$call") else { return Some(part.clone()) };
            let found = calls.get(usize::try_from(number.as_u64()?).ok()?)?;
            if found.name.is_empty() {
                return None;
            }
            Some(call(found, part.as_object()?))
        })
        .collect()
}

/// The fields of a template's call, without the marks of this library.
fn other_fields(fields: &Map<String, Value>) -> impl Iterator<Item = (String, Value)> {
    fields.iter().filter(|(key, _)| !key.starts_with('$')).map(|(key, value)| (key.clone(), value.clone()))
}
