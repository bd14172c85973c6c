//! Asking a route what it can do: which requests to send, and what their answers show.
use super::{Capability, Outcome, Route, Server, ServerInfo, refused};
use crate::dialect::Dialects;
use crate::engine;
use crate::schema::ToolSet;
use crate::turn::words;
use serde_json::{Value, json};
use std::collections::VecDeque;

words! {
    /// How a request is sent.
    Method {
        /// Without a body.
        Get => "GET",
        /// With a body of JSON.
        Post => "POST",
    }
}

/// A request to send. Keys and headers are the driver's.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// How.
    pub method: Method,
    /// Where to.
    pub url: String,
    /// What, for a `POST`.
    pub body: Option<Value>,
}

/// What an answer shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// What the server says of the model.
    ServerInfo(ServerInfo),
    /// What became of a capability that was asked for.
    Outcome(Capability, Outcome),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The list of models, which shows what server it is.
    Models,
    /// A server's description of the model.
    Describe(Server),
    /// A call that is required and asked for in words; how its length is limited.
    Call(&'static str),
    /// An answer under a schema that a model would hardly match by chance.
    Schema(&'static str),
}

/// The limit of an answer's length in Chat Completions, and its later name.
const LIMIT: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// Asks one route. [`Probe::next`] says what to send until there is nothing left; [`Probe::answer`] takes each answer.
///
/// ```
/// use toolglot::exchange::capability::{Probe, Route};
///
/// let mut probe = Probe::new(Route::new(Some("http://localhost:11434/v1"), "qwen3:8b"), false);
/// assert_eq!(probe.next().unwrap().url, "http://localhost:11434/api/show");
/// let seen = probe.answer(200, r#"{"capabilities": ["completion", "tools"], "model_info": {}}"#);
/// assert_eq!(seen.len(), 1);
/// assert!(probe.next().is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Probe {
    route: Route,
    steps: VecDeque<Step>,
    current: Option<Step>,
}

impl Probe {
    /// Asks for descriptions, which cost nothing; with `requests`, the model as well, which takes two short answers of it.
    pub fn new(route: Route, requests: bool) -> Self {
        let known = route.provider();
        let describing = Server::ALL.iter().copied().find(|server| known == Some(server.provider()));
        let mut steps = VecDeque::new();
        match (describing, known) {
            (Some(server), _) => steps.push_back(Step::Describe(server)),
            // An API without a description: its list of models says no more than the table.
            (None, Some(_)) => {}
            (None, None) => steps.push_back(Step::Models),
        }
        if requests && known.is_none_or(super::Provider::speaks_chat) {
            steps.extend([Step::Call(LIMIT[0]), Step::Schema(LIMIT[0])]);
        }
        Self { route, steps, current: None }
    }

    /// Returns the next request, or `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "an answer comes between one request and the next")]
    pub fn next(&mut self) -> Option<Request> {
        self.current = self.steps.pop_front();
        let (base, model) = (self.route.base_url(), self.route.model());
        // Servers describe themselves beside the part of theirs that is OpenAI's.
        let beside = base.strip_suffix("/v1").unwrap_or(base);
        let get = |url| Request { method: Method::Get, url, body: None };
        let post = |url, body| Request { method: Method::Post, url, body: Some(body) };
        Some(match self.current? {
            Step::Models => get(format!("{base}/models")),
            Step::Describe(Server::LlamaCpp) => get(format!("{beside}/props")),
            Step::Describe(Server::Ollama) => post(format!("{beside}/api/show"), json!({ "model": model })),
            Step::Describe(Server::LmStudio) => get(format!("{beside}/api/v1/models")),
            Step::Describe(Server::OpenRouter) => get(format!("{base}/models/{model}/endpoints")),
            Step::Describe(Server::Vllm | Server::Sglang) => get(format!("{base}/models")),
            Step::Call(limit) => post(format!("{base}/chat/completions"), call_request(model, limit)),
            Step::Schema(limit) => post(format!("{base}/chat/completions"), schema_request(model, limit)),
        })
    }

    /// Takes the answer to the last request. Status 0 means that no answer came.
    pub fn answer(&mut self, status: u16, body: &str) -> Vec<Observed> {
        let Some(step) = self.current.take() else { return Vec::new() };
        let json: Option<Value> = serde_json::from_str(body).ok();
        let good = json.filter(|_| (200..300).contains(&status));
        match step {
            Step::Models | Step::Describe(_) => {
                let Some(answer) = good else { return Vec::new() };
                if step == Step::Models {
                    self.follow(&answer);
                }
                ServerInfo::read(&answer, self.route.model()).map(Observed::ServerInfo).into_iter().collect()
            }
            Step::Call(limit) | Step::Schema(limit) => match good {
                Some(answer) if matches!(step, Step::Call(_)) => called(&answer),
                Some(answer) => formatted(&answer),
                None => {
                    if limit == LIMIT[0] && body.contains(LIMIT[1]) {
                        self.steps.push_front(match step {
                            Step::Call(_) => Step::Call(LIMIT[1]),
                            _ => Step::Schema(LIMIT[1]),
                        });
                        return Vec::new();
                    }
                    let lacks = refused(status, body, Some(Capability::JsonSchema));
                    lacks.map(|capability| Observed::Outcome(capability, Outcome::Failure)).into_iter().collect()
                }
            },
        }
    }

    /// Asks the server that a list of models shows.
    fn follow(&mut self, models: &Value) {
        let owner = models.pointer("/data/0/owned_by").and_then(Value::as_str);
        let server = match owner {
            Some("llamacpp") => Server::LlamaCpp,
            Some("library") => Server::Ollama,
            // LM Studio's list in OpenAI's shape has this owner and nothing else; no other server has it.
            Some("organization_owner") => Server::LmStudio,
            _ => return,
        };
        self.steps.push_front(Step::Describe(server));
    }
}

const TOOL: &str = "report_number";

fn call_request(model: &str, limit: &str) -> Value {
    json!({
        "model": model,
        "messages": [{ "role": "user", "content": format!("Call the tool {TOOL} with the number 7.") }],
        "tools": [tool()],
        "tool_choice": "required",
        limit: 256,
    })
}

fn tool() -> Value {
    let function = json!({ "name": TOOL, "description": "Takes note of a number.", "parameters": number_schema() });
    json!({ "type": "function", "function": function })
}

fn schema_request(model: &str, limit: &str) -> Value {
    json!({
        "model": model,
        // What is asked for is no JSON: only a schema that is kept makes it one.
        "messages": [{ "role": "user", "content": "Greet me in one short sentence." }],
        "response_format": { "type": "json_schema", "json_schema": {
            "name": TOOL, "strict": true, "schema": number_schema(),
        } },
        limit: 64,
    })
}

fn number_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "number": { "type": "integer" } },
        "required": ["number"],
        "additionalProperties": false,
    })
}

/// Where a required call is missing, the server took `tool_choice` and did not keep to it, and the tools may have gone the
/// same way. An answer that was cut off in its reasoning shows neither.
fn called(answer: &Value) -> Vec<Observed> {
    let Some(message) = answer.pointer("/choices/0/message") else { return Vec::new() };
    if message.pointer("/tool_calls/0/function/name").is_some() {
        return vec![Observed::Outcome(Capability::NativeTools, Outcome::Success)];
    }
    let Some(text) = message.get("content").and_then(Value::as_str).filter(|text| !text.trim().is_empty()) else {
        return Vec::new();
    };
    let mut seen = vec![
        Observed::Outcome(Capability::NativeTools, Outcome::Ignored),
        Observed::Outcome(Capability::ToolChoice, Outcome::Ignored),
    ];
    let tools = ToolSet::from_values(&[tool()]).ok();
    let turn = engine::extract(text, &Dialects::auto(), tools.as_ref(), &engine::Options::default());
    if turn.tool_calls.iter().any(|call| call.name == TOOL) {
        seen.push(Observed::Outcome(Capability::TextCalls, Outcome::Success));
    }
    seen
}

fn formatted(answer: &Value) -> Vec<Observed> {
    let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str).unwrap_or_default();
    if text.trim().is_empty() {
        return Vec::new();
    }
    let cut = answer.pointer("/choices/0/finish_reason").and_then(Value::as_str) == Some("length");
    let json: Option<Value> = serde_json::from_str(text).ok();
    let outcome = match json {
        Some(value) if value.get("number").is_some_and(Value::is_i64) => Outcome::Success,
        // A number may take the whole length.
        None if cut && text.trim_start().starts_with('{') => return Vec::new(),
        _ => Outcome::Ignored,
    };
    vec![Observed::Outcome(Capability::JsonSchema, outcome)]
}
