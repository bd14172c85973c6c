//! Histories of every provider, mutated: what `repair_history` makes of them is in order, says everything that was changed, and is
//! left alone the second time; a history that is in order is left alone the first time.
use super::data::{cases, lines};
use super::values::{mutate, smaller};
use super::{Failure, Source, Target};
use serde_json::{Value, json};
use std::sync::OnceLock;
use toolglot::provider::{Provider, check_history, convert_messages, repair_history};

/// `check_history`, `repair_history` and `convert_messages` as a fuzz target.
#[derive(Debug)]
pub struct History;

/// Messages, and whose they are.
#[derive(Debug, Clone)]
pub struct Input {
    provider: Provider,
    to: Provider,
    messages: Vec<Value>,
}

impl Input {
    /// The input that a line of `tests/data/fuzz` describes.
    ///
    /// # Panics
    /// If the line is no case.
    pub fn from_case(case: &Value) -> Self {
        let provider = |key: &str| Provider::from_name(case[key].as_str().unwrap_or("openai")).expect("a provider");
        let messages = case["messages"].as_array().expect("messages").clone();
        Self { provider: provider("provider"), to: provider("to"), messages }
    }
}

/// The histories of the documents as one provider has them, and all messages of them.
type Shelf = (Vec<Vec<Value>>, Vec<Value>);

fn shelf() -> &'static [Shelf] {
    static SHELF: OnceLock<Vec<Shelf>> = OnceLock::new();
    SHELF.get_or_init(|| {
        let mut known: Vec<(Provider, Vec<Value>)> = Vec::new();
        for case in lines("histories.jsonl").into_iter().chain(cases("fuzz").into_iter().map(|(_, case)| case)) {
            let Some(messages) = case["messages"].as_array() else { continue };
            let provider = Provider::from_name(case["provider"].as_str().expect("a provider")).expect("a provider");
            known.push((provider, messages.clone()));
        }
        let of = |to: Provider| {
            let mut out = Vec::new();
            for (from, messages) in &known {
                if *from == to {
                    out.push(messages.clone());
                } else if let Ok(written) = convert_messages(messages, None, Some(*from), to, None) {
                    out.push(written.messages);
                }
            }
            let messages = out.iter().flatten().cloned().collect();
            (out, messages)
        };
        Provider::ALL.into_iter().map(of).collect()
    })
}

impl Target for History {
    type Input = Input;

    fn name(&self) -> &'static str {
        "history"
    }

    fn generate(&self, source: &mut Source<'_>) -> Input {
        let number = source.below(Provider::ALL.len());
        let (provider, (own, messages_of_own)) = (Provider::ALL[number], &shelf()[number]);
        let mut messages = source.pick(own).clone();
        if source.percent(30) {
            messages.extend(source.pick(own).iter().cloned());
        }
        for _ in 0..source.below(4) {
            let (at, other) = (source.below(messages.len()), source.below(messages.len()));
            match source.below(5) {
                _ if messages.is_empty() => {}
                0 => drop(messages.remove(at)),
                1 => messages.swap(at, other),
                2 => messages.insert(other, messages[at].clone()),
                3 => messages.rotate_left(at),
                _ => {
                    let moved = messages.remove(at);
                    messages.insert(other.min(messages.len()), moved);
                }
            }
        }
        let mut value = Value::Array(messages);
        let others = if source.percent(85) { messages_of_own } else { &source.pick(shelf()).1 };
        for _ in 0..source.below(5) {
            mutate(source, &mut value, others);
        }
        let Value::Array(messages) = value else { return Input { provider, to: provider, messages: Vec::new() } };
        Input { provider, to: *source.pick(&Provider::ALL), messages }
    }

    fn check(&self, input: &Input) -> Result<u64, Failure> {
        let Input { provider, to, messages } = input;
        let fail = |kind: &str, message: String| Err(Failure::new(kind, message));
        let found = check_history(messages, Some(*provider));
        let mended = repair_history(messages, None, Some(*provider), None, None);
        let (found, mended) = match (found, mended) {
            (Err(_), Err(_)) => return Ok(2),
            (Ok(found), Ok(mended)) => (found, mended),
            (found, mended) => return fail("one is refused", format!("{found:?}\n  {mended:?}")),
        };
        let shown = |messages: &[Value]| Value::Array(messages.to_vec()).to_string();
        let left =
            check_history(&mended.messages, Some(*provider)).map_err(|e| Failure::new("unreadable", e.to_string()))?;
        if !left.is_empty() {
            return fail("not mended", format!("{left:?}\n  {}\n  {:?}", shown(&mended.messages), mended.issues));
        }
        if found.is_empty() && (mended.messages != *messages || !mended.issues.is_empty()) {
            return fail("mended in order", format!("{}\n  {:?}", shown(&mended.messages), mended.issues));
        }
        let again = repair_history(&mended.messages, None, Some(*provider), None, None);
        let again = again.map_err(|e| Failure::new("unreadable", e.to_string()))?;
        if again.messages != mended.messages || !again.issues.is_empty() {
            return fail(
                "mended twice",
                format!("{}\n  {}\n  {:?}", shown(&mended.messages), shown(&again.messages), again.issues),
            );
        }
        if let Some(at) = untold(*provider, messages, &mended.messages, &mended.issues) {
            return fail("not told", format!("{at}: {}\n  {:?}", shown(&mended.messages), mended.issues));
        }
        let there = convert_messages(messages, None, Some(*provider), *to, None);
        let there = there.map_err(|e| Failure::new("unreadable", e.to_string()))?;
        let system = there.system.as_ref();
        convert_messages(&there.messages, system, Some(*to), *provider, Some(&there.side))
            .map_err(|e| Failure::new("unreadable", e.to_string()))?;
        Ok(6)
    }

    fn smaller(&self, input: &Input) -> Vec<Input> {
        let smaller = smaller(&Value::Array(input.messages.clone())).into_iter();
        let input = |value| match value {
            Value::Array(messages) => Some(Input { messages, ..input.clone() }),
            _ => None,
        };
        smaller.filter_map(input).collect()
    }

    fn show(&self, input: &Input) -> String {
        let (provider, to) = (input.provider.as_str(), input.to.as_str());
        json!({"source": "fuzz", "provider": provider, "to": to, "messages": input.messages}).to_string()
    }
}

/// The first message that is not there any more and of which no issue tells. Results of one turn, and items of one answer, are read
/// as one: an issue of their first one is theirs.
fn untold(provider: Provider, before: &[Value], after: &[Value], issues: &[toolglot::turn::Issue]) -> Option<usize> {
    let places: Vec<usize> = (issues.iter())
        .filter_map(|issue| issue.place.trim_start_matches('/').split('/').next()?.parse().ok())
        .collect();
    let mut left: Vec<&Value> = after.iter().collect();
    before.iter().enumerate().find_map(|(at, message)| {
        let role = |message: &Value| match message["role"].as_str() {
            Some("function") => Value::from("tool"),
            _ => message["role"].clone(),
        };
        let together = |other: &Value| provider == Provider::OpenAiResponses || role(other) == role(message);
        let first = (0..at).rev().find(|before_it| !together(&before[*before_it])).map_or(0, |before_it| before_it + 1);
        if places.iter().any(|place| (first..=at).contains(place)) {
            return None;
        }
        match left.iter().position(|other| *other == message) {
            Some(same) => {
                left.swap_remove(same);
                None
            }
            None => Some(at),
        }
    })
}
