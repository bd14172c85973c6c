//! Mends a history that a provider would refuse, and says how.
use super::check::{check_history, index_of, raw_checks, valid_name};
use super::model::{Answer, Message, Part, Role};
use super::pairs::{Place, pairs};
use super::verbatim::Mended;
use super::{
    Written, detect_history, gemini, ids, is_object, provider_id, read_history, rest, side, strip, system_text,
    write_history, write_traced,
};
use crate::error::Error;
use crate::provider::Provider;
use crate::schema::{ToolSet, safe_spellings};
use crate::turn::{Issue, IssueCode};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Takes what was changed, and the index of the message that it is about.
trait Note: FnMut(IssueCode, usize, String) {}
impl<F: FnMut(IssueCode, usize, String)> Note for F {}

/// What is said of a message that nothing was wrong with, and that could not stay as it came.
pub(super) const WRITTEN_ANEW: &str = "the message was written anew beside one that was mended";

/// A history is mended so often at most.
const ROUNDS: usize = 3;

/// What stands for a result that never came. Whether the tool ran is not known.
const NO_RESULT: &str = "No result was recorded.";

/// Mends what [`super::check_history`] finds: results are moved behind their calls, an error that says that none was
/// recorded stands for missing ones, orphans become the user's text, ids and names are brought into the provider's grammar
/// (the same in call and result), arguments into the form it takes, empty messages go. Every change is in
/// [`Written::issues`].
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
    let mut written = repair_once(messages, system, provider, side, tools)?;
    // What one change makes readable, such as which call a result answers once another has its own id, may want the next.
    for _ in 1..ROUNDS {
        if written.issues.is_empty() || check_history(&written.messages, Some(provider))?.is_empty() {
            break;
        }
        let before = written;
        written = repair_once(&before.messages, before.system.as_ref(), provider, Some(&before.side), tools)?;
        let origin = |mut issue: Issue| {
            issue.place = format!("/{}", origin_of(index_of(&issue.place), &before.messages, messages));
            issue
        };
        let again = std::mem::replace(&mut written.issues, before.issues);
        written.issues.extend(again.into_iter().map(origin));
    }
    note_rewritten(messages, &mut written);
    Ok(written)
}

/// Adds an issue for each of `messages` that has none and is not among those that were written.
fn note_rewritten(messages: &[Value], written: &mut Written) {
    if written.issues.is_empty() {
        return;
    }
    let noted: HashSet<usize> = written.issues.iter().map(|issue| index_of(&issue.place)).collect();
    let mut left: HashMap<String, usize> = HashMap::new();
    written.messages.iter().for_each(|message| *left.entry(message.to_string()).or_default() += 1);
    for (index, message) in messages.iter().enumerate() {
        match left.get_mut(&message.to_string()).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None if noted.contains(&index) => {}
            None => written.issues.push(Issue::of(IssueCode::Converted, format!("/{index}"), WRITTEN_ANEW)),
        }
    }
}

/// The index in `messages` of the one that became `written[at]`, or of the last one before it that is unchanged.
fn origin_of(at: usize, written: &[Value], messages: &[Value]) -> usize {
    let before = written.get(..=at).unwrap_or(written).iter().rev();
    before.filter_map(|message| messages.iter().position(|known| known == message)).next().unwrap_or(0)
}

/// Mends `messages` by what they say as they stand. As [`repair_history`] otherwise.
fn repair_once(
    messages: &[Value],
    system: Option<&Value>,
    provider: Provider,
    side: Option<&Map<String, Value>>,
    tools: Option<&ToolSet>,
) -> Result<Written, Error> {
    let (mut strayed, mut issues) = (Vec::new(), Vec::new());
    let side = side.map(|side| side::place(side, messages, provider, &mut strayed));
    let side = side.as_ref();
    let results = side.map(side::of_results);
    let mut note = |code: IssueCode, index: usize, text: String| {
        issues.push(Issue::of(code, format!("/{index}"), text));
    };
    let messages = &*strip::odd_parts(messages, provider, &mut note);
    let read = read_history(messages, None, provider, results.as_ref())?;
    let ids_before = side::ids_of(&read);
    let mut mended = read.clone();
    let stripped = strip::unsayable(&mut mended, provider, &mut note);
    let pairs = pairs(&mended);
    let (coupled, mut wrong) = coupled(messages, &mended, &pairs, provider);
    wrong.extend(stripped);
    unique_ids(&mut mended, provider, &mut note);
    let mut mended = pair(mended, &pairs, provider, &mut note);
    mended.retain(|message| {
        let empty = strip::is_empty(message, provider);
        if empty {
            note(IssueCode::EmptyContent, message.origin, "an empty message was left out".to_owned());
        }
        !empty
    });
    clean_names(&mut mended, provider, tools, &mut note);
    begin_with_user(&mut mended, provider, &mut note);
    let mended = one_content(mended, provider, &mut note);
    wrong.extend(note_forms(&mended, provider, &mut note));
    // What reading forgives is mended by writing it anew.
    let mut forgiven = Vec::new();
    raw_checks(messages, provider, &mut forgiven);
    wrong.extend(forgiven.iter().map(|issue| index_of(&issue.place)));
    forgiven.retain(|new| !issues.iter().any(|known| known.code == new.code && known.place == new.place));
    issues.append(&mut forgiven);
    let (new, old) = (write_traced(&mended, provider), write_traced(&read, provider));
    let same = rest::same_id(provider);
    let history = Mended { raw: messages, read: &read, mended: &mended, wrong: &wrong, coupled: &coupled, same: &same };
    let mut written = history.keep(new, &old, &mut issues);
    written.issues = issues;
    written.side = Map::new();
    if written.issues.is_empty() && written.system.is_none() {
        // In order as they are.
        let side = side.cloned().unwrap_or_default();
        return Ok(Written { system: system.cloned(), side, issues: strayed, ..written });
    }
    if let Some(side) = side.filter(|side| !side.is_empty()) {
        side::carry(side, &ids_before, &mended, provider, &mut written)?;
    }
    written.system = beside(system, written.system.take(), provider);
    written.issues.append(&mut strayed);
    side::stamp(&mut written, provider);
    Ok(written)
}

/// Where the history does not tell a call's id, reading makes one of its place, which is another once messages come and go.
/// The messages of each such call and of its result are returned: both stay, or both are told the id. A call without a
/// result is to be told its own: the second list has its message.
fn coupled(
    messages: &[Value],
    read: &[Message],
    pairs: &HashMap<Place, Place>,
    provider: Provider,
) -> (Vec<(usize, usize)>, HashSet<usize>) {
    let (mut coupled, mut alone) = (Vec::new(), HashSet::new());
    // Gemini's results have no id either then, and the others' messages are wrong without one.
    if !matches!(provider, Provider::OpenAi | Provider::Mistral | Provider::Cohere | Provider::Ollama) {
        return (coupled, alone);
    }
    for (at, message) in read.iter().enumerate() {
        let raw = messages.get(message.origin);
        let calls = raw.and_then(|raw| raw.get("tool_calls")?.as_array());
        let legacy = raw.is_some_and(|raw| raw.get("function_call").is_some_and(Value::is_object));
        let nameless = |call: &Value| call.get("id").and_then(Value::as_str).is_none_or(str::is_empty);
        if !legacy && !calls.into_iter().flatten().any(nameless) {
            continue;
        }
        for (number, part) in message.parts.iter().enumerate() {
            let result = pairs.get(&(at, number)).and_then(|(result, _)| read.get(*result));
            match (part, result) {
                (Part::Call(_), Some(result)) => coupled.push((message.origin, result.origin)),
                (Part::Call(_), None) => drop(alone.insert(message.origin)),
                _ => {}
            }
        }
    }
    (coupled, alone)
}

/// Gemini wants calls right behind the user or results: joins contents of the model in a row where one of them calls.
fn one_content(messages: Vec<Message>, provider: Provider, note: &mut impl Note) -> Vec<Message> {
    if provider != Provider::Gemini {
        return messages;
    }
    let mut out: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        let calls = message.calls().next().is_some();
        out.push(message);
        // All the contents before a call are one with it.
        while calls && matches!(&*out, [.., before, last] if before.role == Role::Assistant && last.role == before.role)
        {
            let (Some(last), Some(before)) = (out.pop(), out.last_mut()) else { break };
            let text = "the model's content was joined with the one before it";
            note(IssueCode::BadOrder, last.origin, text.to_owned());
            gemini::join(before, last);
        }
    }
    out
}

/// Brings names into the provider's grammar: the same in call and result.
fn clean_names(messages: &mut [Message], provider: Provider, tools: Option<&ToolSet>, note: &mut impl Note) {
    let names = spellings(messages, tools);
    for message in messages {
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

/// What writing changes of the calls: the form of their arguments, and ids outside the provider's grammar. Returns the
/// indices of the messages that are affected.
fn note_forms(messages: &[Message], provider: Provider, note: &mut impl Note) -> HashSet<usize> {
    let mut wrong = HashSet::new();
    for message in messages {
        for call in message.calls().filter(|call| !call.custom) {
            let object = is_object(&call.arguments);
            let form = match provider {
                Provider::OpenAi | Provider::Cohere | Provider::OpenAiResponses if call.object => "JSON text",
                Provider::Ollama if !call.object => "an object",
                _ if !object => "a JSON object",
                _ => continue,
            };
            let text = format!("the arguments of `{}` became {form}", call.name);
            note(IssueCode::ArgumentType, message.origin, text);
            wrong.insert(message.origin);
        }
        if provider == Provider::Gemini {
            continue;
        }
        let (calls, answers) = (message.calls().map(|call| &call.id), message.answers().map(|answer| &answer.id));
        for id in calls.chain(answers).filter(|id| !ids::valid(id, provider)) {
            let text = format!("the id `{id}` became one of the provider's grammar");
            note(IssueCode::BadId, message.origin, text);
            wrong.insert(message.origin);
        }
    }
    wrong
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

/// Gives the later of two calls with one id another one: of two in one message, with Mistral of any two.
fn unique_ids(messages: &mut [Message], provider: Provider, note: &mut impl Note) {
    let mut seen: HashSet<String> = HashSet::new();
    // The first made of an id that may not be taken.
    let mut attempts: HashMap<String, u64> = HashMap::new();
    // Two ids may become one in the provider's grammar.
    let spelt = |id: &str| if provider == Provider::Gemini { id.to_owned() } else { provider_id(id, provider) };
    let mut all: HashSet<String> = messages.iter().flat_map(Message::calls).map(|call| spelt(&call.id)).collect();
    for message in messages.iter_mut().filter(|message| message.role == Role::Assistant) {
        if provider != Provider::Mistral {
            seen.clear();
        }
        for part in &mut message.parts {
            let Part::Call(call) = part else { continue };
            if call.id.is_empty() || seen.contains(&spelt(&call.id)) {
                let attempt = attempts.entry(call.id.clone()).or_insert(1);
                let mut id = ids::made(&call.id, provider, *attempt);
                while !all.insert(id.clone()) {
                    *attempt += 1;
                    id = ids::made(&call.id, provider, *attempt);
                }
                let text = format!("the id `{}` of a second call became `{id}`", call.id);
                note(IssueCode::DuplicateId, message.origin, text);
                call.id = id;
            }
            seen.insert(spelt(&call.id));
        }
    }
}

/// A result, with its place and the message where that came from.
type Stray = (Place, usize, Answer);

/// The results of a history, each until it stands behind its call.
struct Results {
    /// Those of calls, by the place of the call.
    own: HashMap<Place, Stray>,
    /// The calls whose results stay where they are.
    answered: HashSet<Place>,
    /// Those that answer no call.
    orphans: Vec<Stray>,
}

impl Results {
    /// Takes the results out of all messages of tools; what else is in these is the user's. With each of the messages that
    /// are left, where it stood.
    fn take(
        messages: Vec<Message>,
        pairs: &HashMap<Place, Place>,
        provider: Provider,
    ) -> (Self, Vec<(usize, Message)>) {
        let calls: HashMap<Place, Place> = pairs.iter().map(|(call, result)| (*result, *call)).collect();
        let id = |(at, number): Place| match messages.get(at)?.parts.get(number)? {
            Part::Call(call) => Some(call.id.clone()),
            _ => None,
        };
        let ids: HashMap<Place, String> = pairs.keys().filter_map(|call| Some((*call, id(*call)?))).collect();
        let mut results = Self { own: HashMap::new(), answered: HashSet::new(), orphans: Vec::new() };
        let mut rest: Vec<(usize, Message)> = Vec::new();
        for (at, message) in messages.into_iter().enumerate() {
            if message.role != Role::Tool {
                rest.push((at, message));
                continue;
            }
            let (mut others, mut stay) = (Vec::new(), Vec::new());
            for (number, part) in message.parts.into_iter().enumerate() {
                let Part::Answer(mut answer) = part else {
                    others.push(part);
                    continue;
                };
                let place = (at, number);
                // The call may have been given another one.
                if let Some(id) = calls.get(&place).and_then(|call| ids.get(call)).filter(|id| **id != answer.id) {
                    answer.id.clone_from(id);
                    // What was read of the name may be that of another call with the id.
                    answer.name.clear();
                }
                match calls.get(&place) {
                    // Anywhere behind the call is right there.
                    Some(call) if provider == Provider::OpenAiResponses && call.0 < at => {
                        results.answered.insert(*call);
                        stay.push(Part::Answer(answer));
                    }
                    Some(call) => drop(results.own.insert(*call, (place, message.origin, answer))),
                    None => results.orphans.push((place, message.origin, answer)),
                }
            }
            for (role, parts) in [(Role::Tool, stay), (Role::User, others)] {
                if !parts.is_empty() {
                    rest.push((at, Message { origin: message.origin, ..Message::new(role, parts) }));
                }
            }
        }
        (results, rest)
    }

    /// The results for the calls of the message `at`; an error for each that never came. Where all stood behind the calls
    /// they stay in their order, else they are in that of the calls.
    fn for_calls(&mut self, at: usize, message: &Message, note: &mut impl Note) -> Option<Message> {
        let mut answers: Vec<(Option<Place>, Answer)> = Vec::new();
        let mut origin = None;
        for (number, part) in message.parts.iter().enumerate() {
            let Part::Call(call) = part else { continue };
            if self.answered.contains(&(at, number)) {
                continue;
            }
            let (id, name) = (call.id.clone(), call.name.clone());
            answers.push(match self.own.remove(&(at, number)) {
                Some((place, from, mut answer)) => {
                    if place.0 == at + 1 {
                        origin.get_or_insert(from);
                    } else {
                        note(IssueCode::MisplacedResult, from, format!("the result for `{id}` moved behind its call"));
                    }
                    if answer.id != id || answer.name.is_empty() {
                        answer = Answer { id, name, ..answer };
                    }
                    (Some(place), answer)
                }
                None => {
                    let text = format!("an error stands for the missing result of `{name}` (`{id}`)");
                    note(IssueCode::MissingResult, message.origin, text);
                    let parts = vec![Part::Text(NO_RESULT.to_owned())];
                    (None, Answer { id, name, parts, is_error: true, custom: false })
                }
            });
        }
        if answers.iter().all(|(place, _)| place.is_some_and(|place| place.0 == at + 1)) {
            answers.sort_by_key(|(place, _)| *place);
        }
        let parts: Vec<Part> = answers.into_iter().map(|(_, answer)| Part::Answer(answer)).collect();
        let origin = origin.unwrap_or(message.origin);
        (!parts.is_empty()).then(|| Message { origin, ..Message::new(Role::Tool, parts) })
    }

    /// Those that answer no call, as the user's words, with where each stood.
    fn orphans(self, note: &mut impl Note) -> Vec<(usize, Message)> {
        let said = |((at, _), origin, answer): Stray| {
            let text = format!("the result for `{}`, which answers no call, became text", answer.id);
            note(IssueCode::OrphanResult, origin, text);
            let name = if answer.name.is_empty() { "a tool" } else { &answer.name };
            let mut parts = vec![Part::Text(format!("Result of {name}:\n"))];
            parts.extend(answer.parts.into_iter().map(as_words));
            (at, Message { origin, ..Message::new(Role::User, parts) })
        };
        self.orphans.into_iter().map(said).collect()
    }
}

/// A part of a result, for a message of the user's: what would be a call or a result of its own there is told as text.
fn as_words(part: Part) -> Part {
    const KEYS: [&str; 6] =
        ["toolUse", "toolResult", "functionCall", "function_call", "functionResponse", "function_response"];
    match part {
        Part::Opaque(_, block)
            if KEYS.iter().any(|key| block.get(*key).is_some())
                || matches!(block.get("type").and_then(Value::as_str), Some("tool_use" | "tool_result")) =>
        {
            Part::Text(block.to_string())
        }
        other => other,
    }
}

/// Puts every result right behind its call.
fn pair(
    messages: Vec<Message>,
    pairs: &HashMap<Place, Place>,
    provider: Provider,
    note: &mut impl Note,
) -> Vec<Message> {
    let (mut results, rest) = Results::take(messages, pairs, provider);
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
