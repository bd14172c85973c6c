//! Mends a history that a provider would refuse, and says how.
use super::check::{raw_checks, valid_name};
use super::model::{Answer, Message, Part, Role};
use super::{Written, detect_history, ids, read_history, rest, side, system_text, write_history};
use crate::error::Error;
use crate::provider::Provider;
use crate::schema::{ToolSet, safe_spellings};
use crate::turn::{Issue, IssueCode};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// Takes what was changed, and the index of the message that it is about.
trait Note: FnMut(IssueCode, usize, String) {}
impl<F: FnMut(IssueCode, usize, String)> Note for F {}

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
    clean_parts(&mut mended, provider, tools, &mut note);
    begin_with_user(&mut mended, provider, &mut note);
    note_forms(&mended, provider, &mut note);
    // What reading forgives is mended by writing it anew.
    let mut forgiven = Vec::new();
    raw_checks(messages, provider, &mut forgiven);
    forgiven.retain(|new| !issues.iter().any(|known| known.code == new.code && known.place == new.place));
    issues.append(&mut forgiven);
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

/// Leaves empty texts out, and brings names into the provider's grammar: the same in call and result.
fn clean_parts(messages: &mut [Message], provider: Provider, tools: Option<&ToolSet>, note: &mut impl Note) {
    let names = spellings(messages, tools);
    for message in messages {
        message.parts.retain(|part| {
            let empty = matches!(part, Part::Text(text) if text.is_empty());
            if empty {
                note(IssueCode::EmptyContent, message.origin, "an empty text was left out".to_owned());
            }
            !empty
        });
        for part in &mut message.parts {
            let name = match part {
                Part::Call(call) => &mut call.name,
                Part::Answer(answer) => &mut answer.name,
                _ => continue,
            };
            if name.is_empty() || valid_name(name, provider) {
                continue;
            }
            let clean = match tools {
                Some(tools) if tools.get(name).is_some() => provider.told(Some(tools), name).into_owned(),
                _ => names.get(name).cloned().unwrap_or_default(),
            };
            note(IssueCode::BadName, message.origin, format!("the name `{name}` became `{clean}`"));
            *name = clean;
        }
    }
}

/// What writing changes of the calls: the form of their arguments, and ids outside the provider's grammar.
fn note_forms(messages: &[Message], provider: Provider, note: &mut impl Note) {
    for message in messages {
        for call in message.calls().filter(|call| !call.custom) {
            let object = serde_json::from_str::<Value>(&call.arguments).is_ok_and(|value| value.is_object());
            let form = match provider {
                Provider::OpenAi | Provider::Cohere | Provider::OpenAiResponses if call.object => "JSON text",
                Provider::Ollama if !call.object => "an object",
                _ if !object => "a JSON object",
                _ => continue,
            };
            let text = format!("the arguments of `{}` became {form}", call.name);
            note(IssueCode::ArgumentType, message.origin, text);
        }
        for call in message.calls().filter(|call| provider != Provider::Gemini && !ids::valid(&call.id, provider)) {
            let text = format!("the id `{}` became one of the provider's grammar", call.id);
            note(IssueCode::BadId, message.origin, text);
        }
    }
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
fn unique_ids(messages: &mut [Message], provider: Provider, note: &mut impl Note) {
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

/// The results of a history, each until it stands behind its call.
#[derive(Default)]
struct Results {
    /// With the message where each stood, and where that came from.
    pool: Vec<Option<(usize, usize, Answer)>>,
    /// Where in the pool the results of each id are, in their order.
    places: HashMap<String, VecDeque<usize>>,
}

impl Results {
    /// Takes the results out of the message `at`; what else is in it is the user's.
    fn take(&mut self, at: usize, message: Message) -> Option<Message> {
        let mut others = Vec::new();
        for part in message.parts {
            let Part::Answer(answer) = part else {
                others.push(part);
                continue;
            };
            self.places.entry(answer.id.clone()).or_default().push_back(self.pool.len());
            self.pool.push(Some((at, message.origin, answer)));
        }
        (!others.is_empty()).then(|| Message { origin: message.origin, ..Message::new(Role::User, others) })
    }

    /// The result for the call `id` of the message `at`, and where it stood. Calls come in order: a result before this one is
    /// before the next as well.
    fn find(&mut self, id: &str, at: usize) -> Option<(usize, usize, Answer)> {
        let Self { pool, places } = self;
        let places = places.get_mut(id)?;
        std::iter::from_fn(|| places.pop_front())
            .find_map(|place| pool.get_mut(place)?.take_if(|(place, ..)| *place > at))
    }

    /// The results for the calls of the message `at`, in their order; an error for each that never came.
    fn for_calls(&mut self, at: usize, message: &Message, note: &mut impl Note) -> Option<Message> {
        let mut answers = Vec::new();
        for call in message.calls() {
            let (id, name) = (call.id.clone(), call.name.clone());
            let answer = match self.find(&id, at) {
                Some((place, from, answer)) => {
                    if place != at + 1 {
                        note(IssueCode::MisplacedResult, from, format!("the result for `{id}` moved behind its call"));
                    }
                    answer
                }
                None => {
                    let text = format!("an error stands for the missing result of `{name}` (`{id}`)");
                    note(IssueCode::MissingResult, message.origin, text);
                    Answer { id, name, parts: vec![Part::Text(NO_RESULT.to_owned())], is_error: true }
                }
            };
            answers.push(Part::Answer(answer));
        }
        (!answers.is_empty()).then(|| Message { origin: message.origin, ..Message::new(Role::Tool, answers) })
    }

    /// Those that answer no call, as the user's words, with where each stood.
    fn orphans(self, note: &mut impl Note) -> Vec<(usize, Message)> {
        let said = |(at, origin, answer): (usize, usize, Answer)| {
            let text = format!("the result for `{}`, which answers no call, became text", answer.id);
            note(IssueCode::OrphanResult, origin, text);
            let name = if answer.name.is_empty() { "a tool" } else { &answer.name };
            let mut parts = vec![Part::Text(format!("Result of {name}:\n"))];
            parts.extend(answer.parts);
            (at, Message { origin, ..Message::new(Role::User, parts) })
        };
        self.pool.into_iter().flatten().map(said).collect()
    }
}

/// Puts every result right behind its call.
fn pair(messages: Vec<Message>, note: &mut impl Note) -> Vec<Message> {
    let mut results = Results::default();
    let mut rest: Vec<(usize, Message)> = Vec::new();
    for (at, message) in messages.into_iter().enumerate() {
        let left = if message.role == Role::Tool { results.take(at, message) } else { Some(message) };
        rest.extend(left.map(|message| (at, message)));
    }
    let mut paired: Vec<(usize, Message)> = Vec::with_capacity(rest.len());
    for (at, message) in rest {
        let answers = results.for_calls(at, &message, note);
        paired.push((at, message));
        paired.extend(answers.map(|answers| (at, answers)));
    }
    let mut out: Vec<Message> = Vec::with_capacity(paired.len());
    let mut paired = paired.into_iter().peekable();
    for (at, orphan) in results.orphans(note) {
        out.extend(std::iter::from_fn(|| paired.next_if(|(place, _)| *place <= at)).map(|(_, message)| message));
        out.push(orphan);
    }
    out.extend(paired.map(|(_, message)| message));
    out
}

fn begin_with_user(messages: &mut Vec<Message>, provider: Provider, note: &mut impl Note) {
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
