//! The body of a request in each mode, for every API.
use super::endpoint::Endpoint;
use super::mode::Mode;
use super::spoken;
use super::{Options, api::Streaming};
use crate::error::{Error, ErrorCode};
use crate::provider::{Message, Part, Role, history_as_text, write_history};
use crate::schema::convert::{Choice, ToolChoice};
use crate::schema::{Resolution, ToolSet};
use serde_json::{Map, Value, json};

/// What is asked in all modes.
pub(super) struct Ask<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) messages: &'a [Message],
    pub(super) tools: &'a ToolSet,
    pub(super) options: &'a Options,
    /// Whether the request has the choice of tools.
    pub(super) says_choice: bool,
    /// Whether the request says if calls may be parallel.
    pub(super) says_parallel: bool,
    /// The tool, if only its arguments are asked for.
    pub(super) only: Option<&'a str>,
    pub(super) stream: bool,
}

impl Ask<'_> {
    /// Returns the body in a mode.
    ///
    /// # Errors
    /// [`ErrorCode::BadOption`] if the API has no such mode, or the tools cannot be said in it; as [`ToolSet::to_prompt`].
    pub(super) fn body(&self, mode: Mode) -> Result<Value, Error> {
        let api = self.endpoint.api;
        let mut body = Map::new();
        if api.names_model {
            body.insert("model".into(), self.endpoint.model().into());
        }
        let choice = self.options.choice();
        let offers = !self.tools.tools().is_empty() && (choice.choice != Choice::None || mode == Mode::Native);
        let mut prompt = if offers { self.endpoint.config.instructions(mode) } else { String::new() };
        let messages = match mode {
            Mode::Native => {
                if offers {
                    merge(&mut body, self.offer(&choice)?);
                }
                named(self.messages, |name| api.provider.told(Some(self.tools), name).into_owned())
            }
            Mode::Text => {
                if offers {
                    put(&mut prompt, &self.tools.to_prompt(self.endpoint.dialect())?);
                }
                history_as_text(&self.real_names(), self.endpoint.dialect())?
            }
            Mode::JsonSchema | Mode::JsonObject => {
                if offers {
                    merge(&mut body, self.format(mode, &choice)?);
                    put(&mut prompt, &spoken::tools(self.tools));
                    put(&mut prompt, if self.only.is_some() { spoken::ARGUMENTS } else { spoken::ENVELOPE });
                }
                spoken::in_envelopes(&self.real_names())
            }
        };
        if offers && mode != Mode::Native && self.only.is_none() {
            self.say_choice(&mut prompt, &choice);
        }
        let messages = with_prompt(messages, &prompt);
        let written = write_history(&messages, api.provider);
        body.insert(api.messages.into(), Value::Array(written.messages));
        if let Some(system) = written.system {
            body.insert(api.system.into(), system);
        }
        if let Some(tokens) = self.options.max_tokens.or(api.default_max_tokens) {
            place(&mut body, api.max_tokens, json!(tokens));
        }
        if let Some(temperature) = self.options.temperature {
            place(&mut body, api.temperature, json!(temperature));
        }
        if let Streaming::Members { stream, whole } = api.streaming {
            merge(&mut body, json_of(if self.stream { stream } else { whole }));
        }
        merge(&mut body, Value::Object(self.options.extra.clone()));
        Ok(Value::Object(body))
    }

    /// The members that declare the tools and say which of them may be called.
    fn offer(&self, choice: &ToolChoice<'_>) -> Result<Value, Error> {
        let target = self.endpoint.target();
        let said = ToolChoice {
            choice: if self.says_choice { choice.choice } else { Choice::Auto },
            parallel: choice.parallel.filter(|_| self.says_parallel),
            ..*choice
        };
        let offer = |said: &ToolChoice<'_>| self.tools.offer(&self.endpoint.server, &target, said);
        // An API without a field for the choice gets none; the verdict on the answer checks it.
        offer(&said)
            .or_else(|_| offer(&ToolChoice { parallel: None, ..said }))
            .or_else(|_| offer(&ToolChoice { choice: Choice::Auto, ..said }))
            .or_else(|_| offer(&ToolChoice { choice: Choice::Auto, parallel: None, ..said }))
    }

    /// The members that ask for JSON.
    fn format(&self, mode: Mode, choice: &ToolChoice<'_>) -> Result<Value, Error> {
        if mode == Mode::JsonObject {
            return Ok(json_of(self.endpoint.api.json_object));
        }
        let mut request = self.tools.response_schema(&self.endpoint.target(), self.only)?;
        if self.only.is_none() {
            let needs = matches!(choice.choice, Choice::Required | Choice::Tool(_));
            let least = needs.then_some(("minItems", 1));
            let most = (choice.parallel == Some(false)).then_some(("maxItems", 1));
            limit_calls(&mut request, &[least, most]);
        }
        Ok(request)
    }

    fn say_choice(&self, prompt: &mut String, choice: &ToolChoice<'_>) {
        match choice.choice {
            Choice::Required => put(prompt, "Call at least one tool in this answer."),
            Choice::Tool(name) => put(prompt, &format!("Call the tool `{name}` in this answer, and no other.")),
            Choice::Auto | Choice::None => {}
        }
        if choice.parallel == Some(false) {
            put(prompt, "Make no more than one call in this answer.");
        }
    }

    /// Returns the messages with the tools' own names, which are those in the prompt.
    fn real_names(&self) -> Vec<Message> {
        named(self.messages, |name| match self.tools.resolve(name) {
            Resolution::Exact(tool) | Resolution::Resolved(tool) => tool.name.clone(),
            Resolution::Unknown => name.to_owned(),
        })
    }
}

/// The messages with the names of tools in them as `name` has them.
fn named(messages: &[Message], name: impl Fn(&str) -> String) -> Vec<Message> {
    let mut messages = messages.to_vec();
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        match part {
            Part::Call(call) if !call.name.is_empty() => call.name = name(&call.name),
            Part::Answer(answer) if !answer.name.is_empty() => answer.name = name(&answer.name),
            _ => {}
        }
    }
    messages
}

/// Appends text to the first system message, or inserts one before all messages.
fn with_prompt(mut messages: Vec<Message>, prompt: &str) -> Vec<Message> {
    if prompt.is_empty() {
        return messages;
    }
    match messages.iter_mut().find(|message| message.role == Role::System) {
        Some(system) => match system.parts.last_mut() {
            Some(Part::Text(text)) => {
                put(text, prompt);
            }
            _ => system.parts.push(Part::Text(prompt.to_owned())),
        },
        None => messages.insert(0, Message::text(Role::System, prompt)),
    }
    messages
}

/// Adds a paragraph.
fn put(prompt: &mut String, text: &str) {
    if !(prompt.is_empty() || text.is_empty()) {
        prompt.push_str("\n\n");
    }
    prompt.push_str(text);
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// Puts the members of `more` into `body`; objects of both are one.
fn merge(body: &mut Map<String, Value>, more: Value) {
    let Value::Object(more) = more else { return };
    for (key, value) in more {
        match (body.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(value)) => merge(known, Value::Object(value)),
            (_, value) => drop(body.insert(key, value)),
        }
    }
}

fn place(body: &mut Map<String, Value>, path: &[&str], value: Value) {
    let more = path.iter().rev().fold(value, |value, key| json!({ *key: value }));
    merge(body, more);
}

/// Limits the list of calls in the envelope's schema, at any depth of the request.
fn limit_calls(request: &mut Value, limits: &[Option<(&str, usize)>]) {
    match request {
        Value::Object(members) => {
            let calls = members.get_mut("properties").and_then(|properties| properties.get_mut("toolCalls"));
            if let Some(Value::Object(calls)) = calls {
                calls.extend(limits.iter().flatten().map(|(name, count)| ((*name).to_owned(), json!(count))));
                return;
            }
            members.values_mut().for_each(|member| limit_calls(member, limits));
        }
        // Bedrock takes the schema as text.
        Value::String(text) if text.starts_with('{') => {
            if let Ok(mut schema) = serde_json::from_str(text) {
                limit_calls(&mut schema, limits);
                *text = schema.to_string();
            }
        }
        _ => {}
    }
}

/// The error of a mode that the API does not have.
pub(super) fn no_mode(mode: Mode) -> Error {
    Error::at(ErrorCode::BadOption, "mode", format!("the tools cannot be offered in the mode {}", mode.as_str()))
}
