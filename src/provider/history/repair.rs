//! Mends a history that a provider would refuse, and says how.
use super::check::valid_name;
use super::model::{Answer, Message, Part, Role};
use super::{Written, detect_history, ids, read_history, rest, side, system_text, write_history};
use crate::error::Error;
use crate::provider::Provider;
use crate::schema::{ToolSet, safe_spellings};
use crate::turn::{Issue, IssueCode};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// What stands for a result that never came.
const NO_RESULT: &str = "The tool was not run: no result was recorded.";

/// Mends what [`super::check_history`] finds: results are moved behind their calls, missing ones are stood in for by an
/// error, orphans become the user's text, ids and names are brought into the provider's grammar (the same in call and
/// result), arguments into the form it takes, empty messages go. Every change is in [`Written::issues`].
///
/// `system` and `side` stand beside the messages, as in [`Written`], and do so again afterwards: each entry of the side
/// beside the message that it belongs to. `tools` are those that are offered: a name of theirs becomes what the provider
/// is told.
///
/// # Errors
/// [`crate::ErrorCode::BadMessage`] with the index of a message that is none.
pub fn repair_history(
    messages: &[Value],
    system: Option<&Value>,
    provider: Option<Provider>,
    side: Option<&Map<String, Value>>,
    tools: Option<&ToolSet>,
) -> Result<Written, Error> {
    let provider = provider.unwrap_or_else(|| detect_history(messages));
    let mut strayed = Vec::new();
    let side = side.map(|side| side::place(side, messages, provider, &mut strayed));
    let side = side.as_ref();
    let results = side.map(side::of_results);
    let mut read = read_history(messages, None, provider, results.as_ref())?;
    let unmended = write_history(&read, provider);
    let ids_before = side::ids_of(&read);
    let mut issues = Vec::new();
    let mut note = |code: IssueCode, index: usize, text: String| {
        issues.push(Issue::of(code, format!("/{index}"), text));
    };
    unique_ids(&mut read, provider, &mut note);
    let mut mended = pair(read, &mut note);
    mended.retain(|message| {
        let empty = message.state.is_empty()
            && message.parts.iter().all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()));
        if empty {
            note(IssueCode::EmptyContent, message.origin, "an empty message was left out".to_owned());
        }
        !empty
    });
    let names = spellings(&mended, tools);
    for message in &mut mended {
        for part in &mut message.parts {
            if let Part::Text(text) = part
                && text.is_empty()
            {
                note(IssueCode::EmptyContent, message.origin, "an empty text was left out".to_owned());
            }
            let name = match part {
                Part::Call(call) => &mut call.name,
                Part::Answer(answer) => &mut answer.name,
                _ => continue,
            };
            if !name.is_empty() && !valid_name(name, provider) {
                let clean = match tools {
                    Some(tools) if tools.get(name).is_some() => provider.told(Some(tools), name).into_owned(),
                    _ => names.get(name).cloned().unwrap_or_default(),
                };
                note(IssueCode::BadName, message.origin, format!("the name `{name}` became `{clean}`"));
                *name = clean;
            }
        }
        message.parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    }
    begin_with_user(&mut mended, provider, &mut note);
    for message in &mended {
        for call in message.calls() {
            let object = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
            let form = match provider {
                Provider::OpenAi | Provider::Cohere | Provider::OpenAiResponses if call.object => "JSON text",
                Provider::Ollama if !call.object => "an object",
                _ if !object => "a JSON object",
                _ => continue,
            };
            if !call.custom {
                let text = format!("the arguments of `{}` became {form}", call.name);
                note(IssueCode::ArgumentType, message.origin, text);
            }
        }
        let mapped = message.calls().filter(|call| provider != Provider::Gemini && !ids::valid(&call.id, provider));
        for call in mapped {
            note(
                IssueCode::BadId,
                message.origin,
                format!("the id `{}` became one of the provider's grammar", call.id),
            );
        }
    }
    let mut written = write_history(&mended, provider);
    written.issues.splice(0..0, issues);
    if written.issues.is_empty() && written.system.is_none() && written.messages == unmended.messages {
        // In order as they are, also where one would be written as two.
        let side = side.cloned().unwrap_or_default();
        return Ok(Written { messages: messages.to_vec(), system: system.cloned(), side, issues: strayed });
    }
    written.side = Map::new();
    if let Some(side) = side.filter(|side| !side.is_empty()) {
        side::carry(side, &ids_before, &mended, provider, &mut written)?;
    }
    rest::spare(&mut written, &unmended, messages, provider);
    written.system = beside(system, written.system.take(), provider);
    written.issues.append(&mut strayed);
    side::stamp(&mut written, provider);
    Ok(written)
}

/// A spelling that every provider takes of each name in the history: none becomes that of another, or of a tool.
fn spellings(messages: &[Message], tools: Option<&ToolSet>) -> HashMap<String, String> {
    let calls = messages.iter().flat_map(Message::calls).map(|call| call.name.as_str());
    let answers = messages.iter().flat_map(Message::answers).map(|answer| answer.name.as_str());
    let offered = tools.into_iter().flat_map(ToolSet::tools).map(|tool| tool.name.as_str());
    let names: Vec<&str> = calls.chain(answers).chain(offered).collect::<BTreeSet<_>>().into_iter().collect();
    names.iter().map(|name| (*name).to_owned()).zip(safe_spellings(&names)).collect()
}

/// The system prompt that stood beside the messages, as it was; with what came of messages among the others.
fn beside(system: Option<&Value>, among: Option<Value>, provider: Provider) -> Option<Value> {
    match (system.filter(|system| !system_text(system).is_empty()), among) {
        (Some(system), Some(among)) => {
            let texts = [system, &among].map(|part| Message::text(Role::System, system_text(part)));
            write_history(&texts, provider).system
        }
        (system, among) => among.or_else(|| system.cloned()),
    }
}

/// Gives the later of two calls with one id another one, and its result too.
fn unique_ids(messages: &mut [Message], provider: Provider, note: &mut impl FnMut(IssueCode, usize, String)) {
    let mut seen: HashSet<String> = HashSet::new();
    // The first made of an id that may not be taken.
    let mut attempts: HashMap<String, u64> = HashMap::new();
    for at in 0..messages.len() {
        let Some(message) = messages.get_mut(at) else { continue };
        if message.role != Role::Assistant {
            continue;
        }
        // How often an id came before in this message: its results come in the same order.
        let mut renamed: Vec<(String, usize, String)> = Vec::new();
        let mut turn: HashMap<String, usize> = HashMap::new();
        let origin = message.origin;
        for part in &mut message.parts {
            let Part::Call(call) = part else { continue };
            let times = turn.entry(call.id.clone()).or_default();
            let before = *times;
            *times += 1;
            if call.id.is_empty() || seen.contains(&call.id) {
                let attempt = attempts.entry(call.id.clone()).or_insert(1);
                let mut id = ids::made(&call.id, provider, *attempt);
                while seen.contains(&id) {
                    *attempt += 1;
                    id = ids::made(&call.id, provider, *attempt);
                }
                note(IssueCode::DuplicateId, origin, format!("the id `{}` of a second call became `{id}`", call.id));
                renamed.push((std::mem::replace(&mut call.id, id.clone()), before, id.clone()));
                seen.insert(id);
            } else {
                seen.insert(call.id.clone());
            }
        }
        let Some(answers) = messages.get_mut(at + 1).filter(|next| next.role == Role::Tool) else { continue };
        if renamed.is_empty() {
            continue;
        }
        let mut places: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (place, part) in answers.parts.iter().enumerate() {
            if let Part::Answer(answer) = part {
                places.entry(answer.id.clone()).or_default().push_back(place);
            }
        }
        for (old, nth, new) in renamed {
            // Where the earlier holder of the id is in another turn, the first result is meant; otherwise its own.
            // Results that were renamed before no longer have the old id, so the place counts among those left.
            let place = places.get_mut(&old).and_then(|left| left.remove(nth.min(1)));
            if let Some(Part::Answer(answer)) = place.and_then(|place| answers.parts.get_mut(place)) {
                answer.id = new;
            }
        }
    }
}

/// Puts every result right behind its call.
fn pair(messages: Vec<Message>, note: &mut impl FnMut(IssueCode, usize, String)) -> Vec<Message> {
    let mut pool: Vec<Option<(usize, usize, Answer)>> = Vec::new();
    let mut places: HashMap<String, VecDeque<usize>> = HashMap::new();
    let mut rest: Vec<(usize, Message)> = Vec::new();
    for (at, mut message) in messages.into_iter().enumerate() {
        if message.role == Role::Tool {
            let mut others = Vec::new();
            for part in message.parts.drain(..) {
                match part {
                    Part::Answer(answer) => {
                        places.entry(answer.id.clone()).or_default().push_back(pool.len());
                        pool.push(Some((at, message.origin, answer)));
                    }
                    other => others.push(other),
                }
            }
            if !others.is_empty() {
                let mut user = Message::new(Role::User, others);
                user.origin = message.origin;
                rest.push((at, user));
            }
        } else {
            rest.push((at, message));
        }
    }
    let mut out: Vec<(usize, Message)> = Vec::new();
    for (at, message) in rest {
        let origin = message.origin;
        let calls: Vec<(String, String)> = message.calls().map(|c| (c.id.clone(), c.name.clone())).collect();
        out.push((at, message));
        if calls.is_empty() {
            continue;
        }
        let mut answers = Vec::new();
        for (id, name) in calls {
            let mut found = None;
            // Calls come in order: a result before this one is before the next as well.
            while let Some(place) = places.get_mut(&id).and_then(VecDeque::pop_front) {
                found = pool.get_mut(place).and_then(|answer| answer.take_if(|(place, ..)| *place > at));
                if found.is_some() {
                    break;
                }
            }
            match found {
                Some((place, from, answer)) => {
                    if place != at + 1 {
                        note(IssueCode::MisplacedResult, from, format!("the result for `{id}` moved behind its call"));
                    }
                    answers.push(Part::Answer(answer));
                }
                None => {
                    note(
                        IssueCode::MissingResult,
                        origin,
                        format!("an error stands for the missing result of `{name}` (`{id}`)"),
                    );
                    let parts = vec![Part::Text(NO_RESULT.to_owned())];
                    answers.push(Part::Answer(Answer { id, name, parts, is_error: true }));
                }
            }
        }
        let mut tool = Message::new(Role::Tool, answers);
        tool.origin = origin;
        out.push((at, tool));
    }
    let mut with_orphans: Vec<Message> = Vec::with_capacity(out.len());
    let mut out = out.into_iter().peekable();
    for (at, from, answer) in pool.into_iter().flatten() {
        note(
            IssueCode::OrphanResult,
            from,
            format!("the result for `{}`, which answers no call, became text", answer.id),
        );
        let name = if answer.name.is_empty() { "a tool" } else { &answer.name };
        let mut parts = vec![Part::Text(format!("Result of {name}:\n"))];
        parts.extend(answer.parts);
        let mut user = Message::new(Role::User, parts);
        user.origin = from;
        while let Some((_, message)) = out.next_if(|(place, _)| *place <= at) {
            with_orphans.push(message);
        }
        with_orphans.push(user);
    }
    with_orphans.extend(out.map(|(_, message)| message));
    with_orphans
}

fn begin_with_user(messages: &mut Vec<Message>, provider: Provider, note: &mut impl FnMut(IssueCode, usize, String)) {
    if !matches!(provider, Provider::Anthropic | Provider::Bedrock | Provider::Gemini | Provider::Mistral) {
        return;
    }
    let first = messages.iter().position(|message| message.role != Role::System);
    if let Some((at, message)) = first.and_then(|at| Some((at, messages.get(at)?)))
        && message.role == Role::Assistant
    {
        note(IssueCode::BadOrder, message.origin, "a user's message was put before the assistant's first".to_owned());
        messages.insert(at, Message::text(Role::User, "Continue."));
    }
}
