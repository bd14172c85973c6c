//! The messages of a request, on their way into another API or into text.
use super::super::error::{WireCode, WireError};
use super::super::{BackendApi, ClientApi, Mode, Options, Spoken, quirks};
use super::tools::{Declared, joined};
use super::{Losses, choice::Wanted};
use crate::provider::{
    self, Message, Node, Part, Provider, ResultOptions, Role, ToolResult, read_history, text_of, write_history,
};
use crate::schema::{ToolSet, write_calls};
use crate::turn::Arguments;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// A message, and whether it says something else than what the client sent.
pub(super) struct Passed {
    message: Message,
    changed: bool,
}

/// Reads the messages of `body`.
pub(super) fn read(
    body: &Node<'_>,
    api: ClientApi,
    declared: &Declared,
    losses: &mut Losses,
) -> Result<(Vec<Passed>, Vec<Value>), WireError> {
    let (mut values, system): (Vec<Value>, Option<Value>) = match api {
        ClientApi::Chat => (body.list("messages").iter().map(Node::to_value).collect(), None),
        ClientApi::Anthropic => {
            let system = body.get("system").map(Node::to_value);
            let system = system.map(|system| quirks::without_volatile(&system).unwrap_or(system));
            (body.list("messages").iter().map(Node::to_value).collect(), system)
        }
        ClientApi::Responses => {
            let values = match body.get("input") {
                Some(Node::String(text)) => vec![json!({"role": "user", "content": text})],
                _ => items(body.list("input"), declared, losses)?,
            };
            (values, body.get("instructions").map(Node::to_value))
        }
    };
    let refused = |error: crate::Error| WireError::refused(WireCode::InvalidValue, "messages", error.to_string());
    let messages = read_history(&values, system.as_ref(), api.provider(), None).map_err(refused)?;
    if api != ClientApi::Chat {
        // Nothing goes on as it came.
        values.clear();
    }
    Ok((messages.into_iter().map(|message| Passed { message, changed: false }).collect(), values))
}

/// The items that other APIs have a place for, calls by the names that their tools are offered under.
fn items(items: &[Node<'_>], declared: &Declared, losses: &mut Losses) -> Result<Vec<Value>, WireError> {
    let mut out = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match item.text("type") {
            Some("item_reference") => {
                let message = "items of earlier responses are not kept here: send the item itself, as SDKs do with `store: false`";
                return Err(WireError::refused(
                    WireCode::PreviousResponseUnsupported,
                    format!("input[{index}]"),
                    message,
                ));
            }
            Some(kind) if quirks::is_dropped_item(kind) => {
                if kind != "additional_tools" {
                    losses.lose(
                        format!("input[{index}]"),
                        format!("`{kind}` means nothing in this API; it was left out"),
                    );
                }
                continue;
            }
            _ => {}
        }
        let mut value = item.to_value();
        if let (Some(namespace), Some(name), Some(members)) =
            (item.text("namespace"), item.text("name"), value.as_object_mut())
        {
            let whole = joined(namespace, name);
            if declared.names.contains(&whole) {
                members.insert("name".into(), json!(whole));
            }
            members.shift_remove("namespace");
        }
        out.push(value);
    }
    Ok(out)
}

/// What the messages become for the backend.
pub(super) struct Written {
    pub(super) messages: Vec<Value>,
    pub(super) system: Option<Value>,
}

/// The messages of a client, in the backend's API.
pub(super) struct Conversion<'c> {
    pub(super) client: ClientApi,
    pub(super) backend: BackendApi,
    pub(super) options: &'c Options,
    pub(super) tools: Option<&'c Arc<ToolSet>>,
    pub(super) wanted: &'c Wanted,
}

impl Conversion<'_> {
    /// Writes them. `raw`: the client's own, where they are in the backend's API already.
    pub(super) fn write(
        &self,
        mut passed: Vec<Passed>,
        raw: &[Value],
        losses: &mut Losses,
    ) -> Result<Written, WireError> {
        let same = self.client.as_backend() == self.backend;
        // Responses and Chat have system messages anywhere; those of Chat stay where its own clients put them.
        if self.backend != BackendApi::Responses && !(same && self.backend == BackendApi::Chat) {
            passed = one_system(passed);
        }
        if !same {
            passed = self.foreign(passed);
        }
        if self.options.mode == Mode::Text {
            let spoken = self.options.dialect.clone();
            passed = self.in_text(passed, spoken.as_ref())?;
            if let Some(prompt) = self.prompt(spoken.as_ref())? {
                inject(&mut passed, prompt);
            }
        }
        let provider = self.backend.provider();
        if same && self.client == ClientApi::Chat {
            // What is said of no call stays as the client says it, down to the fields that nobody here knows.
            let messages = passed.iter().filter_map(|Passed { message, changed }| {
                if !changed {
                    return raw.get(message.origin).cloned();
                }
                let mut written = write_history(std::slice::from_ref(message), provider).messages.pop()?;
                if let (Some(Value::Object(said)), Value::Object(written)) = (raw.get(message.origin), &mut written) {
                    let own = ["role", "content", "tool_calls", "function_call", "tool_call_id", "name"];
                    let more = said.iter().filter(|(key, _)| !own.contains(&key.as_str()));
                    written.extend(more.map(|(key, value)| (key.clone(), value.clone())));
                }
                Some(written)
            });
            return Ok(Written { messages: messages.collect(), system: None });
        }
        let messages: Vec<Message> = passed.into_iter().map(|passed| passed.message).collect();
        let written = write_history(&messages, provider);
        losses.issues.extend(written.issues);
        Ok(Written { messages: written.messages, system: written.system })
    }

    /// What holds for every other API: calls with the names that the backend knows, text as text.
    fn foreign(&self, mut passed: Vec<Passed>) -> Vec<Passed> {
        let provider = self.backend.provider();
        for Passed { message, changed } in &mut passed {
            match message.role {
                Role::Assistant => self.own_calls(message, provider),
                Role::User | Role::Tool => {
                    let plain = message.parts.iter().all(|part| matches!(part, Part::Text(_)));
                    if plain && message.parts.len() > 1 {
                        message.parts = vec![Part::Text(text_of(&message.parts))];
                    }
                }
                Role::System => {}
            }
            *changed = true;
        }
        passed
    }

    /// The model's calls in the words of `provider`, and its reasoning where that takes it back.
    fn own_calls(&self, message: &mut Message, provider: Provider) {
        if provider != Provider::OpenAiResponses {
            message.own_input();
        }
        for part in &mut message.parts {
            let Part::Call(call) = part else { continue };
            if let Some(tools) = self.tools.filter(|_| self.options.mode == Mode::Native) {
                let arguments = Arguments::Json(call.arguments.as_str().into());
                if let Some(told) = provider.told_arguments(tools, &call.name, &arguments) {
                    call.arguments = told;
                }
                call.name = provider.told(Some(tools), &call.name).into_owned();
            }
        }
        message.state = Map::new();
        if provider == Provider::OpenAi && self.options.replay_reasoning && !message.reasoning.is_empty() {
            let state = json!({"reasoning_content": message.reasoning});
            message.state.insert(provider.as_str().into(), state);
        }
    }

    /// Calls and results as text, in the dialect's form: what a model without native tools reads.
    fn in_text(&self, passed: Vec<Passed>, spoken: Option<&Spoken>) -> Result<Vec<Passed>, WireError> {
        let mut names: HashMap<String, (usize, String)> = HashMap::new();
        let mut out = Vec::with_capacity(passed.len());
        let refused = |error: crate::Error| WireError::refused(WireCode::InvalidValue, "dialect", error.to_string());
        for Passed { mut message, changed } in passed {
            match message.role {
                Role::Assistant if message.calls().next().is_some() => {
                    message.own_input();
                    for (place, call) in message.calls().enumerate() {
                        names.insert(call.id.clone(), (place, call.name.clone()));
                    }
                    let calls = message.calls().map(|call| (call.name.as_str(), call.arguments.as_str()));
                    let written = match spoken {
                        Some(spoken) => write_calls(calls, spoken.in_dialect()),
                        None => write_calls(calls, "auto"),
                    };
                    let written = written.map_err(refused)?;
                    let text = message.all_text();
                    let text = if text.is_empty() { written } else { format!("{text}\n{written}") };
                    message.parts.retain(|part| !matches!(part, Part::Call(_) | Part::Text(_)));
                    message.parts.push(Part::Text(text));
                    message.state = Map::new();
                    out.push(Passed { message, changed: true });
                }
                Role::Tool => {
                    let (answers, more): (Vec<Part>, Vec<Part>) =
                        message.parts.drain(..).partition(|part| matches!(part, Part::Answer(_)));
                    let mut results: Vec<(usize, ToolResult)> = Vec::new();
                    for part in answers {
                        let Part::Answer(answer) = part else { continue };
                        let known = names.get(&answer.id);
                        let place = known.map_or(usize::MAX, |(place, _)| *place);
                        let name = known.map(|(_, name)| name.clone()).filter(|name| !name.is_empty());
                        let named = if answer.name.is_empty() { "tool".to_owned() } else { answer.name };
                        let name = name.unwrap_or(named);
                        let (parts, is_error) = (answer.parts, answer.is_error);
                        results.push((place, ToolResult { id: answer.id, name, parts, is_error, freeform: false }));
                    }
                    // Where a dialect shows no names, their order says which call they answer.
                    results.sort_by_key(|(place, _)| *place);
                    let results = results.into_iter().map(|(_, result)| result).collect();
                    let options = ResultOptions { max_chars: None, harden: true, tools: self.tools.cloned() };
                    let text = match spoken {
                        Some(spoken) => provider::text_results(results, spoken.in_dialect(), &options),
                        None => provider::text_results(results, "auto", &options),
                    };
                    let text = text.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
                    let mut parts = vec![Part::Text(text)];
                    parts.extend(more);
                    let message = Message { origin: message.origin, ..Message::new(Role::User, parts) };
                    out.push(Passed { message, changed: true });
                }
                _ => out.push(Passed { message, changed }),
            }
        }
        Ok(out)
    }

    /// What the system prompt says of the tools.
    fn prompt(&self, spoken: Option<&Spoken>) -> Result<Option<String>, WireError> {
        let Some(tools) = self.tools else { return Ok(None) };
        let refused = |error: crate::Error| WireError::refused(WireCode::InvalidValue, "dialect", error.to_string());
        let prompt = match spoken {
            Some(spoken) => tools.to_prompt(spoken.in_dialect()),
            None => tools.to_prompt("auto"),
        };
        let mut prompt = prompt.map_err(refused)?;
        if self.wanted.choice.is_required() {
            prompt.push_str("\n\nIn this answer you must call a tool.");
        }
        if !self.wanted.parallel {
            prompt.push_str("\n\nCall at most one tool in this answer.");
        }
        Ok(Some(prompt))
    }
}

/// Joins the system messages before the model's first answer to one at the beginning. Later ones become a user's: in the first one
/// they would change what a backend has cached.
fn one_system(passed: Vec<Passed>) -> Vec<Passed> {
    let mut out: Vec<Passed> = Vec::with_capacity(passed.len());
    let mut answered = false;
    for Passed { mut message, mut changed } in passed {
        answered |= message.role == Role::Assistant;
        if message.role == Role::System {
            changed = true;
            let text = message.all_text();
            if answered {
                let later = Message::text(Role::User, quirks::later_system(&text));
                message = Message { origin: message.origin, ..later };
            } else if let Some(first) = out.first_mut().filter(|first| first.message.role == Role::System) {
                let joined = format!("{}\n\n{text}", first.message.all_text());
                first.message.parts = vec![Part::Text(joined)];
                first.changed = true;
                continue;
            } else {
                message.parts = vec![Part::Text(text)];
                out.insert(0, Passed { message, changed });
                continue;
            }
        }
        out.push(Passed { message, changed });
    }
    out
}

/// Appends the prompt to the system message, or puts it first where there is no system message.
fn inject(passed: &mut Vec<Passed>, prompt: String) {
    match passed.first_mut() {
        Some(Passed { message, changed }) if message.role == Role::System => {
            let text = message.all_text();
            message.parts = vec![Part::Text(if text.is_empty() { prompt } else { format!("{text}\n\n{prompt}") })];
            *changed = true;
        }
        _ => {
            let message = Message { origin: usize::MAX, ..Message::text(Role::System, prompt) };
            passed.insert(0, Passed { message, changed: true });
        }
    }
}
