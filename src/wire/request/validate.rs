//! Refuses requests that no backend could answer: messages of no valid shape, results without their calls, calls without results.
use super::super::ClientApi;
use super::super::error::{WireCode, WireError};
use super::choice::Wanted;
use super::tools::Declared;
use crate::provider::Node;

/// What of a message concerns the pairing of calls and results.
enum Step<'n> {
    /// Calls, and where they stand.
    Calls(Vec<&'n str>),
    /// A result of the call with this id.
    Result(&'n str),
    /// Anything else that somebody says.
    Said,
}

/// A choice of tools that are not there is the client's mistake.
pub(super) fn choice(wanted: &Wanted, declared: &Declared) -> Result<(), WireError> {
    let known = |name: &String| {
        // A tool of a namespace is named without it.
        declared.names.contains(name) || declared.kinds.values().any(|kind| kind.name == *name)
    };
    match wanted.choice.only().and_then(|names| names.iter().find(|name| !known(name))) {
        Some(name) => {
            let message = format!("{} names {}, which is not one of the tools", wanted.param, shown(&[name]));
            Err(WireError::refused(WireCode::InvalidValue, wanted.param, message))
        }
        None => Ok(()),
    }
}

/// Checks the messages of a request.
pub(super) fn messages(body: &Node<'_>, api: ClientApi) -> Result<(), WireError> {
    match api {
        ClientApi::Chat => chat(body),
        ClientApi::Anthropic => anthropic(body),
        ClientApi::Responses => responses(body),
    }
}

fn wrong(param: &str, message: &str) -> WireError {
    WireError::refused(WireCode::InvalidValue, param, message)
}

/// The pairing of calls and results, message by message.
struct Pairs<'n> {
    known: Vec<&'n str>,
    waiting: Vec<&'n str>,
    /// Results follow their calls at once.
    adjacent: bool,
}

impl<'n> Pairs<'n> {
    fn step(&mut self, step: Step<'n>, place: &str, result: &str) -> Result<(), WireError> {
        match step {
            Step::Result(id) => self.result(id, place, result),
            Step::Said if self.adjacent && !self.waiting.is_empty() => {
                let message = format!("the calls before have no result yet: {}", shown(&self.waiting));
                Err(WireError::refused(WireCode::InvalidMessageOrder, place, message))
            }
            Step::Said => Ok(()),
            Step::Calls(ids) => {
                self.step(Step::Said, place, result)?;
                if ids.iter().any(|id| id.is_empty()) {
                    return Err(WireError::refused(WireCode::InvalidToolCallId, place, "a tool call needs an id"));
                }
                self.known.extend(&ids);
                self.waiting.extend(ids);
                Ok(())
            }
        }
    }

    fn result(&mut self, id: &str, place: &str, what: &str) -> Result<(), WireError> {
        if id.is_empty() {
            let message = format!("{what} needs the id of the call it answers");
            return Err(WireError::refused(WireCode::InvalidToolCallId, place, message));
        }
        if let Some(at) = self.waiting.iter().position(|waiting| *waiting == id) {
            self.waiting.remove(at);
            return Ok(());
        }
        let (code, message) = if self.known.is_empty() {
            (WireCode::InvalidMessageOrder, format!("{what} must follow the message with its call"))
        } else if self.known.contains(&id) {
            (WireCode::InvalidMessageOrder, format!("the call {} has its result already", shown(&[id])))
        } else {
            (WireCode::InvalidToolCallId, format!("there is no call {}", shown(&[id])))
        };
        Err(WireError::refused(code, place, message))
    }

    fn end(&self, place: &str) -> Result<(), WireError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let message = format!("the last calls have no result: {}", shown(&self.waiting));
        Err(WireError::refused(WireCode::InvalidMessageOrder, place, message))
    }
}

/// Ids as a message shows them: whatever a client sends, on one line and not for ever.
fn shown(ids: &[&str]) -> String {
    let one = |id: &&str| format!("{:?}", id.chars().take(80).collect::<String>());
    ids.iter().take(10).map(one).collect::<Vec<_>>().join(", ")
}

fn list<'n, 'a>(body: &'n Node<'a>, key: &str) -> Result<&'n [Node<'a>], WireError> {
    match body.get(key) {
        Some(Node::Array(items)) if !items.is_empty() => Ok(items),
        _ => Err(wrong(key, &format!("{key} must be a list that is not empty"))),
    }
}

fn chat(body: &Node<'_>) -> Result<(), WireError> {
    const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];
    let mut pairs = Pairs { known: Vec::new(), waiting: Vec::new(), adjacent: true };
    for (index, message) in list(body, "messages")?.iter().enumerate() {
        let place = format!("messages[{index}]");
        let Some(role) = message.text("role").filter(|role| ROLES.contains(role)) else {
            return Err(wrong(&place, "a message needs a known role"));
        };
        if !matches!(message.get("content"), None | Some(Node::String(_) | Node::Array(_))) {
            return Err(wrong(&format!("{place}.content"), "content is text or a list of parts"));
        }
        if role == "tool" {
            pairs.step(Step::Result(message.text("tool_call_id").unwrap_or_default()), &place, "a tool message")?;
            continue;
        }
        if let Some(call) = message.get("function_call")
            && (call.text("name").is_none() || !is_arguments(call))
        {
            let param = format!("{place}.function_call");
            return Err(wrong(&param, r#"a function_call is {"name", "arguments"}"#));
        }
        if role == "function" && message.text("name").is_none() {
            return Err(wrong(&place, "a function message needs its name"));
        }
        let step = match message.get("tool_calls").filter(|_| role == "assistant") {
            None => Step::Said,
            Some(Node::Array(calls)) if calls.is_empty() => Step::Said,
            Some(Node::Array(calls)) => {
                for call in calls {
                    let named = [("function", "arguments"), ("custom", "input")].iter().any(|(key, _)| {
                        call.get(key).is_some_and(|inner| inner.text("name").is_some() && is_arguments(inner))
                    });
                    if !named {
                        let text = r#"a tool call is {"id", "type": "function", "function": {"name", "arguments"}}"#;
                        return Err(wrong(&place, text));
                    }
                }
                Step::Calls(calls.iter().map(|call| call.text("id").unwrap_or_default()).collect())
            }
            Some(_) => return Err(wrong(&place, "tool_calls must be a list")),
        };
        pairs.step(step, &place, "")?;
    }
    pairs.end("messages")
}

fn is_arguments(call: &Node<'_>) -> bool {
    matches!(call.get("arguments"), None | Some(Node::String(_) | Node::Object(_)))
}

fn anthropic(body: &Node<'_>) -> Result<(), WireError> {
    let mut pairs = Pairs { known: Vec::new(), waiting: Vec::new(), adjacent: true };
    for (index, message) in list(body, "messages")?.iter().enumerate() {
        let place = format!("messages[{index}]");
        let Some(role) = message.text("role").filter(|role| ["user", "assistant", "system"].contains(role)) else {
            return Err(wrong(&place, "a message has the role user, assistant or system"));
        };
        let blocks = match message.get("content") {
            Some(Node::String(_)) => &[],
            Some(Node::Array(blocks)) => blocks.as_slice(),
            _ => return Err(wrong(&format!("{place}.content"), "content is text or a list of blocks")),
        };
        if let Some(block) = blocks.iter().position(|block| block.text("type").is_none()) {
            return Err(wrong(&format!("{place}.content[{block}]"), "a block is an object with a type"));
        }
        for (number, block) in blocks.iter().enumerate().filter(|(_, block)| block.text("type") == Some("tool_result"))
        {
            let place = format!("{place}.content[{number}]");
            pairs.step(Step::Result(block.text("tool_use_id").unwrap_or_default()), &place, "a tool_result")?;
        }
        let calls: Vec<&str> = (blocks.iter())
            .filter(|block| role == "assistant" && block.text("type") == Some("tool_use"))
            .map(|block| block.text("id").unwrap_or_default())
            .collect();
        if let Some(block) = blocks.iter().find(|block| block.text("type") == Some("tool_use"))
            && (block.text("name").is_none() || !matches!(block.get("input"), None | Some(Node::Object(_))))
        {
            return Err(wrong(&place, r#"a tool_use is {"type", "id", "name", "input": {...}}"#));
        }
        // Who says something in the middle takes no turn.
        if role != "system" {
            pairs.step(if calls.is_empty() { Step::Said } else { Step::Calls(calls) }, &place, "")?;
        }
    }
    pairs.end("messages")
}

fn responses(body: &Node<'_>) -> Result<(), WireError> {
    let items = match body.get("input") {
        Some(Node::String(text)) if !text.is_empty() => return Ok(()),
        Some(Node::Array(items)) if !items.is_empty() => items,
        _ => return Err(wrong("input", "input is text or a list of items, and not empty")),
    };
    // Calls and results pair by id, wherever they stand.
    let mut pairs = Pairs { known: Vec::new(), waiting: Vec::new(), adjacent: false };
    for (index, item) in items.iter().enumerate() {
        let place = format!("input[{index}]");
        if !item.is_object() {
            return Err(wrong(&place, "an item is an object"));
        }
        match item.text("type") {
            Some("function_call" | "custom_tool_call") => {
                if item.text("name").is_none() {
                    return Err(wrong(&place, "a call needs the name of its tool"));
                }
                pairs.step(Step::Calls(vec![item.text("call_id").unwrap_or_default()]), &place, "")?;
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                pairs.step(Step::Result(item.text("call_id").unwrap_or_default()), &place, "an output")?;
            }
            Some("message") | None => {
                if !["user", "assistant", "system", "developer"].contains(&item.text("role").unwrap_or_default()) {
                    return Err(wrong(&place, "a message needs a known role"));
                }
                if !matches!(item.get("content"), Some(Node::String(_) | Node::Array(_))) {
                    return Err(wrong(&format!("{place}.content"), "content is text or a list of parts"));
                }
            }
            Some(_) => {}
        }
    }
    pairs.end("input")
}
