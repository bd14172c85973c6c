//! Text that runs away: after its calls a model without a stop writes on as if it were the other side, or the file that
//! quoted the answer. What looks like a call there is not its own.
use super::invented::labels_invented;
use crate::engine::reader::{blank, floor};
use crate::engine::{Engine, Look, Reader, Taken, head};
use crate::turn::{Issue, IssueCode};
use memchr::memmem::Finder;
use once_cell::sync::Lazy;

/// What begins the other side's turn, in plain text.
const TURNS: [&str; 7] = ["### Instruction", "### Response", "### User", "### Human", "### Input", "User:", "Human:"];

/// Quotes that close, or open, a text inside a program.
const QUOTES: [&str; 2] = ["\"\"\"", "'''"];

/// How far the text behind the calls has been looked through, and whether it runs away.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Runaway {
    looked: usize,
    found: bool,
    turn: Whose,
    /// No line in which a user speaks begins before.
    no_user: usize,
    /// And no line behind the last call in which the model answers that.
    no_model: usize,
    /// What stands at this place, behind a call that ends there, is the model's own: asked at a marker, and again where a call
    /// begins.
    own: Option<(usize, usize)>,
}

/// Whose turn the text is, as far as markers tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Whose {
    #[default]
    Own,
    /// The text began with the prompt, so turns follow each other in it.
    Transcript,
    /// The model wrote on as the other side, and an issue says so if calls stood there.
    Invented { side: Side, told: bool },
}

/// Whom the model spoke for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    User,
    /// What it does next rests on what its tool never said.
    Tool,
}

/// What begins a line in which another side speaks, or the model answers, where turns are plain words, in the languages that
/// models answer in most.
const OTHERS: [&str; 16] = [
    "user",
    "prompter",
    "human",
    "tool",
    "observation",
    "benutzer",
    "nutzer",
    "usuario",
    "usuário",
    "utilisateur",
    "utente",
    "пользователь",
    "用户",
    "用戶",
    "ユーザー",
    "사용자",
];
const ASSISTANT: [&str; 10] =
    ["assistant", "ai", "bot", "response", "assistent", "asistente", "assistente", "ассистент", "助手", "アシスタント"];

/// What begins it as a heading only.
const HEADED: [&str; 3] = ["instruction", "instructions", "input"];

/// A longer line names nobody who speaks.
const LONGEST_LABEL: usize = 32;

/// Longer turns of a user are not looked through.
const LONGEST_TURN: usize = 4096;

/// The `word` is one of the `names`, in small letters or capital ones.
pub(super) fn is_one_of(word: &str, names: &[&str]) -> bool {
    // Mostly it is as long as none of them, or begins with another letter.
    if word.is_ascii() {
        return names.iter().any(|name| name.len() == word.len() && name.eq_ignore_ascii_case(word));
    }
    names.iter().any(|name| name.chars().eq(word.chars().flat_map(char::to_lowercase)))
}

/// Those of them that a tool speaks in: models write such a label before a call as well.
const RESULTS: [&str; 2] = ["tool", "observation"];

/// What asks in a conversation that names no sides, and what answers.
const QUESTIONS: [&str; 11] =
    ["q", "question", "frage", "pregunta", "domanda", "pergunta", "вопрос", "问", "問", "问题", "質問"];
const ANSWERS: [&str; 11] =
    ["a", "answer", "antwort", "respuesta", "réponse", "risposta", "resposta", "ответ", "答", "回答", "答案"];

/// What Gemma's header without its tokens says of the model, in a line of its own.
const MODEL: &str = "model";

/// It and the user's, in lines of their own.
const BARE_MODEL: &str = "\nmodel";
const BARE_USER: &str = "user";

/// What ends a line.
const LINE_BREAKS: [&str; 2] = ["\n", "\r\n"];

/// What stands before the names of sides in OpenChat's turns.
const BEFORE_SIDE: &str = "GPT4 Correct ";

/// The side that is named where a line begins, and what says that it is.
struct Label<'t> {
    side: &'t str,
    /// Nothing else stands in the line.
    bare: bool,
    heading: bool,
    /// What is said stands behind it.
    rest: &'t str,
}

impl<'t> Label<'t> {
    /// `User: ...`, `### Human`, `**User**: ...`, `[USER] ...`, `User> ...`, `=== USER ===`, `<|USER|>...`.
    fn of(line: &'t str) -> Option<Self> {
        let line = line.trim_start_matches(blank);
        // An element is something else.
        if matches!(line.as_bytes(), [b'<', second, ..] if *second != b'|') {
            return None;
        }
        let label = line.trim_start_matches(|c| blank(c) || matches!(c, '#' | '*' | '=' | '[' | '<' | '|'));
        let signs = line.get(..line.len() - label.len())?;
        let label = label.strip_prefix(BEFORE_SIDE).unwrap_or(label);
        let length = label.find(|c: char| !c.is_alphabetic()).unwrap_or(label.len());
        let (side, rest) = label.split_at_checked(length).filter(|(side, _)| !side.is_empty())?;
        let behind = rest.trim_start_matches(['*', ' ', '\u{a0}', '\u{202f}']);
        let closes = |sign: &str| rest.strip_prefix(sign);
        let rest = match () {
            () if signs.ends_with("<|") => closes("|>"),
            () if signs.ends_with('[') => closes("]"),
            () if signs.ends_with("= ") || signs.ends_with("==") => behind.strip_prefix('='),
            () => behind.strip_prefix([':', '：']).or_else(|| closes(">")).or_else(|| behind.strip_prefix("**:")),
        };
        let bare = label.trim() == side;
        let rest = if bare { Some("") } else { rest };
        let rest = rest.map(|rest| rest.trim_start_matches([':', '：', '*', '=', ' ']))?;
        Some(Self { side, bare, heading: signs.starts_with('#'), rest })
    }
}

/// Whose words the side called `side` speaks that answers, if it is one.
fn answered_by(label: &Label<'_>) -> Option<&'static [&'static str]> {
    match label.side {
        side if is_one_of(side, &ASSISTANT) => Some(&OTHERS),
        // Gemma's own.
        side if side == MODEL && label.bare => Some(&["user"]),
        side if is_one_of(side, &ANSWERS) && !label.bare => Some(&QUESTIONS),
        _ => None,
    }
}

/// So many lines of a turn are looked at for what it says, and so many above it for what they are a list of.
const MOST_LINES: usize = 16;

/// Gemma's bare sides are names of tables and files as well, in lists. The `turn` of one holds words, between the label that begins it
/// and the one that ends it: any words right behind the call that ends at `called`. Elsewhere they must be more than a name, and no list
/// of names that a line with a colon, or the text, begins with stands above it. Where nothing is called, a line that ends as no sentence
/// does begins one as well.
fn is_turn(cx: &Reader<'_>, called: Option<usize>, user: usize, turn: &str) -> bool {
    let said = turn.trim_ascii().rsplit_once('\n').map_or("", |(said, _)| said);
    // What is said may begin right behind the label.
    let first = said.lines().next().and_then(Label::of).map_or("", |label| label.rest);
    let mut lines = said.lines().skip(1).take(MOST_LINES).chain([first]).map(str::trim_ascii);
    if called.is_some_and(|called| only_closes(cx.slice(called, user))) {
        return lines.any(|line| !line.is_empty());
    }
    let begins = user - cx.before(user, LONGEST_TURN).len();
    let mut above = cx.slice(called.unwrap_or(0).max(begins), user).lines().rev().take(MOST_LINES).map(str::trim_ascii);
    let mut listed = || {
        let heading = above.find(|line| !is_name(line));
        let names =
            |line: &str| line.ends_with([':', '：']) || called.is_none() && line.ends_with(char::is_alphanumeric);
        heading.map_or(called.is_none(), names)
    };
    lines.any(|line| !is_name(line)) && !listed()
}

/// The `line` has a name alone in it, as a list has them, or nothing.
fn is_name(line: &str) -> bool {
    let name = line.trim_start_matches(['-', '*', '•', ' ']);
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '`' | ',');
    name.chars().all(part) && !name.ends_with('.')
}

/// Nothing but signs and markers, which close a call, stands in the `text`.
fn only_closes(text: &str) -> bool {
    let marker = |word: &str| word.starts_with(['<', '[']) && word.ends_with(['>', ']']);
    text.split_ascii_whitespace().all(|word| marker(word) || !word.contains(char::is_alphanumeric))
}

/// Another side speaks in `line`, which is one of `sides`.
fn speaks_as(line: &str, sides: &[&str]) -> bool {
    let heading = |label: &Label<'_>| label.heading && is_one_of(label.side, &HEADED);
    Label::of(line).is_some_and(|label| is_one_of(label.side, sides) || heading(&label))
}

/// The `line` begins with the label of a user.
pub(super) fn asks_as_user(line: &str) -> bool {
    let label = Label::of(line).filter(|label| !label.bare);
    label.is_some_and(|label| is_one_of(label.side, &OTHERS) && !is_one_of(label.side, &RESULTS))
}

/// The `line` is the label of the model.
pub(super) fn answers(line: &str) -> bool {
    Label::of(line).is_some_and(|label| !label.bare && label.rest.is_empty() && is_one_of(label.side, &ASSISTANT))
}

/// What is left of a header without its tokens: the `text` ends in the role, which is the end of the `label`, glued to what was said
/// before it, and a blank line (`Thanks.assistant`).
fn is_left_header(label: &str, text: &str) -> bool {
    let said = label.strip_suffix(ASSISTANT[0]).and_then(|said| said.bytes().next_back());
    let blank = || text.bytes().rev().take_while(u8::is_ascii_whitespace).filter(|byte| *byte == b'\n').count() > 1;
    said.is_some_and(|byte| !byte.is_ascii_whitespace()) && blank()
}

/// What begins a prompt is no longer.
const LONGEST_PROMPT: usize = 128;

/// Nothing stands in `before` but what begins a prompt: `<s>`, `<|begin_of_text|>`, `[gMASK]<sop>`.
fn begins_prompt(before: &str) -> bool {
    let mut rest = before.trim_matches(blank);
    while let Some((_, behind)) = match rest.as_bytes() {
        _ if before.len() > LONGEST_PROMPT => None,
        [b'<', ..] => rest.split_once('>'),
        [b'[', ..] => rest
            .split_once(']')
            .filter(|(token, _)| token.bytes().skip(1).all(|b| b.is_ascii_alphanumeric() || b == b'_')),
        _ => None,
    } {
        rest = behind;
    }
    rest.is_empty()
}

impl Engine {
    /// A marker of `length` at `at` begins the other side's turn: it begins a line, ends one, or stands behind another
    /// marker. Elsewhere it is spoken of.
    pub(super) fn turn_marker(&mut self, cx: &Reader<'_>, at: usize, length: usize) -> Taken {
        let quoted = self.inline.is_some() || self.fence.is_some() || self.hold.is_some();
        if quoted || self.runaway.turn != Whose::Own {
            return Taken::No;
        }
        let behind_tag = cx.slice(0, at).ends_with(['>', ']']) || self.given.removed && self.fresh_at(cx, at);
        if behind_tag || cx.at_line_start(at) || cx.slice(at, at + length).ends_with('\n') {
            if self.out.calls.is_empty() && begins_prompt(cx.slice(0, at)) {
                self.runaway.turn = Whose::Transcript;
                return Taken::No;
            }
            // With nothing behind it, it is where the model was to stop.
            match cx.behind_space(at, at + length) {
                Look::Is(next) if next >= cx.text.len() => {
                    self.remove(cx, at, next);
                    return Taken::Done;
                }
                Look::More => return Taken::More,
                _ => self.runaway.turn = Whose::Invented { side: Side::User, told: false },
            }
        }
        Taken::No
    }

    /// What stands at `at` stands in the other side's turn, which the model invented: no call.
    pub(super) fn in_invented_turn(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let place = Some((at, self.out.calls.last().map_or(0, |call| call.raw.end)));
        if self.runaway.turn == Whose::Own && self.runaway.own != place {
            if self.observed(cx, at) {
                self.result_invented();
            } else if self.answers_itself(cx, at) || self.goes_on_as_model(cx, at) {
                self.runaway.turn = Whose::Invented { side: Side::User, told: false };
            } else {
                self.runaway.own = place;
            }
        }
        let Whose::Invented { side, told } = self.runaway.turn else { return false };
        if !told {
            let (code, message) = match side {
                Side::User => (
                    IssueCode::InventedTurn,
                    "the model went on with the other side's turn: calls behind that are text",
                ),
                Side::Tool => {
                    (IssueCode::InventedResult, "the model wrote a tool's result itself: calls behind that are text")
                }
            };
            self.out.issue(Issue::at(code, at, message));
            self.runaway.turn = Whose::Invented { side, told: true };
        }
        true
    }

    /// The model wrote a tool's result itself: what it calls behind that rests on it.
    pub(super) fn result_invented(&mut self) {
        if self.runaway.turn == Whose::Own {
            self.runaway.turn = Whose::Invented { side: Side::Tool, told: false };
        }
    }

    /// Between the last call and `at` stands a result in plain words: `Observation: 21`. Behind a call without markers any label of a
    /// result says so.
    fn observed(&self, cx: &Reader<'_>, at: usize) -> bool {
        let Some(last) = self.out.calls.last() else { return false };
        let from = cx.skip_space(last.raw.end);
        let row = last.origin.row(cx);
        let words = row.map_or(&[][..], |row| &*row.dialect.observations);
        let says = |look| matches!(look, Look::Is(end) if !cx.slice(end, at).trim_ascii_start().is_empty());
        let plain = row.is_none_or(|row| row.by_name() || !words.is_empty());
        words.iter().any(|word| says(head::label(cx, from, word))) || plain && labels_invented(cx, from, at)
    }

    /// What stands at `at` is the model's answer, `Assistant:`, to a user for whom it speaks in a line above, `User: ...`,
    /// behind its own answer.
    fn answers_itself(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let before = cx.before(at, LONGEST_LABEL).trim_ascii_end();
        // Mostly a sentence ends there, or a marker.
        if !before.ends_with(|c: char| c.is_alphabetic() || matches!(c, ':' | '：' | '*' | ']' | '>' | '=')) {
            return false;
        }
        let line = memchr::memrchr(b'\n', before.as_bytes()).and_then(|i| before.get(i + 1..));
        let label = line.and_then(Label::of).filter(|label| label.rest.is_empty());
        let sides = match label.as_ref().and_then(answered_by) {
            Some(sides) => sides,
            None if is_left_header(before.trim_end_matches(['*', ':', '：']), cx.slice(0, at)) => &OTHERS,
            None => return false,
        };
        // Whoever asks and answers in their own text called nothing before.
        let quoted = sides == QUESTIONS && self.out.calls.is_empty();
        let begins = cx.skip_space(0);
        let first = cx.ahead(begins, LONGEST_LABEL);
        if quoted || speaks_as(first.lines().next().unwrap_or_default(), sides) {
            return false;
        }
        let from = floor(cx.text, at.saturating_sub(LONGEST_TURN)).max(self.runaway.no_user);
        let above = cx.slice(from, at);
        // A line begins behind a call and its markers as well, where tokens stood.
        let called = self.out.calls.last().map(|call| call.raw.end).filter(|end| *end >= from);
        let mut lines =
            called.into_iter().chain(above.match_indices(['\n', '>', ']', '}', '`']).map(|(i, _)| from + i + 1));
        let line = |start: usize| cx.slice(start, floor(cx.text, at.min(start + LONGEST_LABEL)));
        let gemma = label.is_some_and(|label| label.side == MODEL);
        let user = lines.find(|start| {
            speaks_as(line(*start).lines().next().unwrap_or_default(), sides)
                && (!gemma || is_turn(cx, called, *start, cx.slice(*start, at)))
        });
        self.runaway.no_user = at;
        user.is_some_and(|user| !self.out.calls.is_empty() || !begins_prompt(cx.slice(0, user)))
    }

    /// Right behind the last call the model went on with a turn of the user, and of itself, whose bare labels have a line each. What it
    /// says of itself in that turn stands before `at`.
    fn goes_on_as_model(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let Some(called) = self.out.calls.last().map(|call| call.raw.end) else { return false };
        let user = cx.skip_space(called);
        let behind_line = |text: &str| LINE_BREAKS.iter().find(|end| text.starts_with(**end)).map(|end| end.len());
        let labelled = cx.rest(user).strip_prefix(BARE_USER).and_then(behind_line);
        if labelled.is_none() || !cx.slice(called, user).contains('\n') || self.runaway.no_model >= at {
            return false;
        }
        let from = floor(cx.text, self.runaway.no_model.saturating_sub(BARE_MODEL.len() + 2)).max(user);
        let to = at.min(floor(cx.text, user + LONGEST_TURN));
        let mut labels = memchr::memmem::find_iter(cx.slice(from, to).as_bytes(), BARE_MODEL.as_bytes());
        let found = labels.find_map(|label| {
            let end = from + label + BARE_MODEL.len();
            Some(end + behind_line(cx.slice(end, to))?)
        });
        self.runaway.no_model = at;
        found.is_some_and(|end| is_turn(cx, Some(called), user, cx.slice(user, end)))
    }

    /// The text between the last calls and `at` says that what stands at `at` is no call of this answer. Only calls
    /// without markers are in doubt: markers are not written by accident.
    pub(super) fn runs_away(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        if self.in_invented_turn(cx, at) {
            return true;
        }
        let Some(last) = self.out.calls.last().filter(|call| call.origin.is_bare()) else { return false };
        if last.raw.end > self.runaway.looked {
            self.runaway.looked = last.raw.end;
        }
        if self.runaway.found || at <= self.runaway.looked {
            return self.runaway.found;
        }
        // What stands at `at` is no mark, so a line that reaches it need not be looked at again.
        let text = cx.slice(self.runaway.looked, at);
        let marks = |line: &str| TURNS.iter().chain(&QUOTES).any(|mark| line.starts_with(mark));
        let mut lines = memchr::memchr_iter(b'\n', text.as_bytes()).filter_map(|i| text.get(i + 1..));
        self.runaway.found = lines.any(|line| marks(line.trim_start_matches([' ', '\t'])));
        self.runaway.looked = at;
        self.runaway.found
    }
}

/// The sides of a conversation that make no calls.
const OTHER_ROLES: [&str; 6] = ["user", "system", "developer", "human", "tool", "function"];

/// What stands behind the quote that opens its value, if a member `role` of JSON's or Python's stands at the beginning of `text`.
pub(super) fn role_in(text: &[u8]) -> Option<&[u8]> {
    let quote = *text.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let rest = text.get(1..)?.strip_prefix(b"role")?.strip_prefix(&[quote])?;
    rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(&[quote])
}

/// The key of a message that says whose it is.
static ROLE: Lazy<Finder<'_>> = Lazy::new(|| Finder::new("role"));

/// A message of another side stands in `text`.
pub(super) fn says_other_role(text: &[u8]) -> bool {
    ROLE.find_iter(text).any(|i| {
        let role = i.checked_sub(1).and_then(|quote| role_in(text.get(quote..)?));
        role.is_some_and(|role| OTHER_ROLES.iter().any(|other| role.starts_with(other.as_bytes())))
    })
}
