//! Conversations to render: what is said in them, and the spellings of a conversation that templates differ in.
use super::render::Renderer;
use serde_json::{Map, Value, json};

/// A call in a probe.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) arguments: Value,
}

/// An answer of the assistant, to be rendered.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) content: &'static str,
    pub(super) reasoning: &'static str,
    pub(super) calls: Vec<Call>,
}

impl Answer {
    pub(super) fn calls<const N: usize>(calls: [(&'static str, Value); N]) -> Self {
        let calls = calls.into_iter().map(|(name, arguments)| Call { name, arguments }).collect();
        Self { calls, ..Self::default() }
    }

    pub(super) fn content(mut self, content: &'static str) -> Self {
        self.content = content;
        self
    }

    pub(super) fn reasoning(mut self, reasoning: &'static str) -> Self {
        self.reasoning = reasoning;
        self
    }
}

/// How `content` is given where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoContent {
    Empty,
    Null,
    Absent,
}

/// How a conversation is spelt for a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spelling {
    /// Arguments are JSON text, as OpenAI has them, not an object.
    pub(super) text_arguments: bool,
    /// Ids are `functions.NAME:0`, which is where Kimi's templates take the name from.
    pub(super) named_ids: bool,
    pub(super) no_content: NoContent,
    /// Name and arguments stand in the call itself as well.
    pub(super) flat: bool,
    /// The key of the reasoning.
    pub(super) reasoning: &'static str,
    /// `enable_thinking` and its relatives are set.
    pub(super) thinking: Option<bool>,
    /// No tools are offered.
    pub(super) without_tools: bool,
    /// A system message stands first.
    pub(super) system: bool,
}

pub(super) const REASONING_KEYS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

impl Spelling {
    /// All spellings, likely ones first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let flags = [false, true];
        let contents = [NoContent::Empty, NoContent::Null, NoContent::Absent];
        let mut all = Vec::new();
        for flat in flags {
            for no_content in contents {
                for without_tools in flags {
                    for named_ids in flags {
                        for text_arguments in flags {
                            let reasoning = REASONING_KEYS[0];
                            all.push(Self {
                                text_arguments,
                                named_ids,
                                no_content,
                                flat,
                                reasoning,
                                thinking: None,
                                without_tools,
                                system: false,
                            });
                        }
                    }
                }
            }
        }
        all.into_iter()
    }

    fn message(self, answer: &Answer) -> Value {
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        match self.no_content {
            _ if !answer.content.is_empty() => {
                message.insert("content".into(), json!(answer.content));
            }
            NoContent::Empty => {
                message.insert("content".into(), json!(""));
            }
            NoContent::Null => {
                message.insert("content".into(), Value::Null);
            }
            NoContent::Absent => {}
        }
        if !answer.reasoning.is_empty() {
            message.insert(self.reasoning.into(), json!(answer.reasoning));
        }
        let calls: Vec<Value> = answer.calls.iter().enumerate().map(|(i, call)| self.call(i, call)).collect();
        if !calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        Value::Object(message)
    }

    fn call(self, i: usize, call: &Call) -> Value {
        let arguments = if self.text_arguments { json!(python_json(&call.arguments)) } else { call.arguments.clone() };
        let function = json!({"name": call.name, "arguments": arguments});
        let mut out = json!({"id": self.id(i, call.name), "type": "function", "function": function});
        if let (true, Some(members)) = (self.flat, out.as_object_mut()) {
            members.insert("name".into(), json!(call.name));
            members.insert("arguments".into(), arguments);
        }
        out
    }

    /// The id of the call at that place. Mistral's templates want nine letters and digits.
    pub(super) fn id(self, i: usize, name: &str) -> String {
        if self.named_ids { format!("functions.{name}:{i}") } else { format!("zqidaaaa{i}") }
    }
}

/// JSON with a space after commas and colons, as Python writes it.
fn python_json(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(python_json).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let member = |(k, v): (&String, &Value)| format!("{}: {}", Value::from(k.as_str()), python_json(v));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A template together with what is needed to render answers by it.
pub(super) struct Prober<'s> {
    pub(super) renderer: &'s Renderer<'s>,
    pub(super) tools: Value,
    pub(super) spelling: Spelling,
    pub(super) bos: &'s str,
    pub(super) eos: &'s str,
}

/// What a model is to write for an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rendered {
    /// The prompt, up to where the answer begins.
    pub(super) prompt: String,
    /// The answer with all that ends it.
    pub(super) text: String,
}

impl<'s> Prober<'s> {
    pub(super) fn with(&self, spelling: Spelling) -> Self {
        Prober { renderer: self.renderer, tools: self.tools.clone(), spelling, bos: self.bos, eos: self.eos }
    }

    fn render(&self, messages: &[Value], prompt: bool) -> Result<String, String> {
        let mut variables = json!({
            "messages": messages, "add_generation_prompt": prompt, "bos_token": self.bos, "eos_token": self.eos,
            "datetime": "2025-01-01", "date_string": "01 Jan 2025",
        });
        if let Some(variables) = variables.as_object_mut() {
            if !self.spelling.without_tools {
                variables.insert("tools".into(), self.tools.clone());
                // FireFunction's name for them; a text, since it is written out as it is.
                variables.insert("functions".into(), json!(self.tools.to_string()));
            }
            if let Some(on) = self.spelling.thinking {
                variables.insert("enable_thinking".into(), json!(on));
                variables.insert("thinking".into(), json!(on));
                if on {
                    variables.insert("reasoning_effort".into(), json!("high"));
                }
            }
        }
        self.renderer.render(&variables)
    }

    /// Renders an answer to a plain question.
    pub(super) fn answer(&self, answer: &Answer) -> Result<Rendered, String> {
        let system = self.spelling.system.then(|| json!({"role": "system", "content": "Zqsystem"}));
        let mut messages: Vec<Value> = system.into_iter().collect();
        messages.push(json!({"role": "user", "content": "Zqquestion"}));
        let prompt = self.render(&messages, true)?;
        messages.push(self.spelling.message(answer));
        let full = self.render(&messages, false)?;
        let at = super::cut::prefix(&prompt, &full);
        let (prompt, text) = full.split_at(at);
        Ok(Rendered { prompt: prompt.to_owned(), text: text.to_owned() })
    }
}
