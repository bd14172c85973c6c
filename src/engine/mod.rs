//! The one incremental scanner that reads text by the catalogue. Complete parsing is one feed and one finish.
//!
//! The text is kept whole; everything the engine knows is a range of it. A step reads on from where the last one
//! stopped and either gets somewhere or says that it needs more text (`Look::More`), wherever the chunks are cut. What may
//! still turn out to be no call (a fence, a draft in reasoning, bare JSON) is a hold: it is read on, but nothing of it leaves
//! before it is certain.
//!
//! How often a byte is looked at has a bound: what is unclear is looked at anew with every chunk only while it is short
//! (`PATIENCE`), and what was given up is read again only so often (`call::MOST_READ_AGAIN`).
mod body;
mod call;
mod context;
mod found;
mod head;
mod hold;
mod look;
mod measure;
mod memo;
mod misspelt;
mod options;
mod origin;
mod output;
mod parser;
mod prose;
mod reader;
mod tail;
mod trace;
mod writer;

pub use crate::schema::Names;
pub use crate::turn::Ids;
pub use options::{BareCalls, Fences, Options, Policy, ReasoningCalls, StartsIn, UnknownTools};

use crate::dialect::{Dialect, Dialects, RowId, SectionId};
use crate::interrupt::Work;
use crate::schema::ToolSet;
use crate::turn::{Issue, IssueCode, Turn, new_call_ids};
use call::CallState;
use hold::{Doubt, Hold};
use measure::{Measure, ROUND};
use memo::Memo;
use output::Output;
use prose::given::{Given, Mode};
use std::sync::Arc;
use trace::Trace;

pub(crate) use body::values::decode_entities;
pub(crate) use found::Piece;
#[cfg(feature = "python")]
pub(crate) use found::{Found, Value};
pub(crate) use look::{Look, Taken};
pub(crate) use memo::Without;
pub(crate) use output::{Call, Fresh, Whole};
pub use parser::StreamParser;
#[cfg(feature = "python")]
pub(crate) use parser::replaced;
pub(crate) use reader::Reader;
pub(crate) use trace::{Markup, Note, Noted};

/// Reads a complete text.
///
/// ```
/// use toolglot::{dialect::Dialects, engine::{extract, Options}};
/// let text = "Hi\n<tool_call>\n{\"name\": \"get_time\", \"arguments\": {\"zone\": \"UTC\"}}\n</tool_call>";
/// let turn = extract(text, &Dialects::auto(), None, &Options::default());
/// assert_eq!(turn.tool_calls[0].name, "get_time");
/// assert_eq!(turn.content.trim(), "Hi");
/// ```
pub fn extract<'a>(text: &'a str, dialects: &Dialects, tools: Option<&ToolSet>, options: &Options) -> Turn<'a> {
    let (mut turn, calls) = read(text, dialects, tools, options);
    turn.tool_calls = calls.into_iter().map(|call| call.into_tool_call(text)).collect();
    with_ids(turn)
}

/// As [`extract`], with the calls as they were found instead of the turn's own. One that came without an id has an empty one:
/// whoever wants ids makes them.
pub(crate) fn read<'a>(
    text: &'a str,
    dialects: &Dialects,
    tools: Option<&ToolSet>,
    options: &Options,
) -> (Turn<'a>, Vec<Call>) {
    run(text, dialects, tools, options, Trace::default()).into_calls(text, dialects)
}

/// What is found in a complete text, with the notes that `trace` wants.
fn run(text: &str, dialects: &Dialects, tools: Option<&ToolSet>, options: &Options, trace: Trace) -> Output {
    let policy = options.policy.clamped();
    let mut engine = Engine::new(options);
    engine.out.trace = trace;
    engine.say_assumed(dialects);
    let memo = Memo::default();
    engine.advance(&Reader { text, made: false, eof: true, dialects, tools, policy: &policy, memo: &memo });
    engine.out
}

fn with_ids(mut turn: Turn<'_>) -> Turn<'_> {
    let mut ids = None;
    let nameless = turn.tool_calls.iter_mut().filter(|call| call.id.is_empty());
    nameless.for_each(|call| call.id = ids.get_or_insert_with(new_call_ids)().into());
    turn
}

/// A turn, and what [`crate::explain`] tells of how it came about.
#[derive(Debug)]
pub(crate) struct Observed<'a> {
    pub(crate) turn: Turn<'a>,
    pub(crate) content: Vec<Piece>,
    pub(crate) reasoning: Vec<Piece>,
    /// Where each call stands, and its dialect.
    pub(crate) calls: Vec<(std::ops::Range<usize>, Option<Arc<Dialect>>)>,
    pub(crate) notes: Vec<Note>,
}

/// [`extract`], with notes on everything that was noticed.
pub(crate) fn observe<'a>(
    text: &'a str,
    dialects: &Dialects,
    tools: Option<&ToolSet>,
    options: &Options,
) -> Observed<'a> {
    let out = run(text, dialects, tools, options, Trace::on());
    let turn = with_ids(out.clone().into_turn(text, dialects));
    let dialect = |call: &Call| call.origin.dialect(dialects).cloned();
    let calls = out.calls.iter().map(|call| (call.raw.clone(), dialect(call))).collect();
    let (content, reasoning, notes) = out.into_parts();
    Observed { turn, content, reasoning, calls, notes }
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It got somewhere: go on.
    Go,
    /// It needs more text.
    More,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Prose,
    Call(Box<CallState>),
    /// A tool's result that the model wrote itself: by which markers, where it began, and how far its end has been looked for.
    Invented {
        result: Option<u16>,
        at: usize,
        searched: usize,
    },
    /// Code in a fence: text up to its end. So many fences are open in it.
    Code {
        ticks: usize,
        tick: u8,
        inner: u32,
    },
    /// Reading got nowhere: all that is left is content.
    Unread,
}

/// What is unclear is looked at anew with every chunk as long as it has no more bytes than this ([`Engine::wait`]).
const PATIENCE: usize = 64;

/// The state of the scanner between two steps.
#[derive(Debug, Default)]
pub(crate) struct Engine {
    /// The next byte to read.
    at: usize,
    /// What stands at `at` is unclear, and not looked at again before the text is so long, or goes on otherwise than awaited.
    until: usize,
    awaited: prose::unclear::Awaited,
    given: Given,
    /// What is being read at `at`.
    state: State,
    /// The section that is open.
    section: Option<SectionId>,
    inline: Option<context::inline_code::Inline>,
    /// The fence whose body is being read as calls.
    fence: Option<context::fence::Fence>,
    hold: Option<Hold>,
    /// Reasoning was opened, or the text began in it. Otherwise a closing marker means that the prompt had opened it, and makes
    /// all text before it reasoning.
    reasoning_seen: bool,
    /// The message that is being read, in a dialect with headers.
    channel: Option<prose::channels::Channel>,
    /// Set once the text has shown headers that lost their special tokens: more of them are expected.
    plain: Option<prose::plain::Plain>,
    /// Whether the text behind the calls is still the model's own.
    runaway: prose::runaway::Runaway,
    /// What stands round the place that is looked at.
    around: context::Surroundings,
    /// Markers that do not fit together.
    leftover: prose::leftover::Leftover,
    tried: prose::tried::Tried,
    unclear: prose::unclear::Unclear,
    /// The row of the dialect whose special token came last.
    speaks: Option<RowId>,
    /// How many bytes were read again behind drafts in reasoning that were given up: they have a bound.
    reread: usize,
    /// Where the body of the last call stands, if that call had markers.
    body: std::ops::Range<usize>,
    /// The allocation of the last call, for the next one.
    spare: Option<Box<CallState>>,
    out: Output,
    measure: Measure,
    work: Work,
}

impl Engine {
    fn new(options: &Options) -> Self {
        let mode = match options.starts_in {
            StartsIn::Content => Mode::Content,
            StartsIn::Reasoning => Mode::Reasoning,
        };
        Self {
            given: Given { fresh: true, mode, ..Given::default() },
            reasoning_seen: mode == Mode::Reasoning,
            ..Self::default()
        }
    }

    /// Says that the dialects were not told.
    fn say_assumed(&mut self, dialects: &Dialects) {
        if dialects.assumed {
            let message = "no dialect is known for this model: every one is tried, as for \"auto\"";
            self.out.issue(Issue::at(IssueCode::UnknownModel, 0, message));
        }
    }

    /// Reads as far as the text allows; with `eof`, to its end. If it is interrupted, it stops where it is.
    fn advance(&mut self, cx: &Reader<'_>) {
        if cx.text.len() < self.until && !cx.eof && self.awaited.goes_on(cx.text) {
            return;
        }
        let start = self.at;
        self.until = 0;
        loop {
            let step = match std::mem::take(&mut self.state) {
                State::Prose => self.prose(cx),
                State::Call(call) => self.call(cx, call),
                State::Code { ticks, tick, inner } => self.code(cx, ticks, tick, inner),
                State::Invented { result, at, searched } => self.invented(cx, result, at, searched),
                State::Unread => self.give_rest(cx),
            };
            if step == Step::More {
                break;
            }
            if !self.measure.falls(self.at, cx.text.len()) {
                debug_assert!(false, "no progress at {} of {:?}", self.at, cx.text);
                self.leave_unread(cx);
            }
            if self.work.stops(ROUND) {
                return;
            }
        }
        if self.at == start && matches!(self.state, State::Prose) {
            self.wait(cx, start);
        }
    }

    /// What stands at `since` is not clear yet. Once that has been so for long, it is looked at again when the text has
    /// grown by a quarter, not with every chunk: else what never becomes clear would cost its length each time.
    fn wait(&mut self, cx: &Reader<'_>, since: usize) {
        let waited = cx.text.len().saturating_sub(since);
        if waited > PATIENCE {
            self.until = cx.text.len() + waited / 4;
            self.awaited = prose::unclear::Awaited::default();
        }
    }

    /// The last round got nowhere. What was read so far stays what it is, and all that is left becomes content: to lose a call is better
    /// than to read on and on.
    #[cold]
    fn leave_unread(&mut self, cx: &Reader<'_>) {
        let at = reader::floor(cx.text, self.at);
        let state = std::mem::take(&mut self.state);
        if self.hold.is_some() {
            self.go_back(at);
        } else if let State::Call(mut call) = state {
            self.given.from = call.give_up(cx, &mut self.out, at);
        }
        self.out.issue(Issue::at(
            IssueCode::NoProgress,
            at,
            "a bug in toolglot: reading got nowhere here, and the rest is text",
        ));
        (self.fence, self.channel, self.section) = (None, None, None);
        self.given.mode = Mode::Content;
        self.state = State::Unread;
    }

    /// All that has come is content.
    fn give_rest(&mut self, cx: &Reader<'_>) -> Step {
        let rest = std::mem::replace(&mut self.given.from, cx.text.len())..cx.text.len();
        self.out.text(Mode::Content, cx.text, rest);
        self.at = cx.text.len();
        self.state = State::Unread;
        Step::More
    }

    /// From here on a call is read, once `set` has said what else is known of it.
    fn begin_call(&mut self, call: CallState, set: impl FnOnce(&mut CallState)) {
        self.unclear.forget();
        self.mark_last(Doubt::Quotes);
        let mut call = match self.spare.take() {
            Some(mut spare) => {
                *spare = call;
                spare
            }
            // `Box::new` would copy it once more.
            None => Box::write(Box::new_uninit(), call),
        };
        // Here it is not moved any more.
        set(&mut call);
        self.state = State::Call(call);
    }

    /// Gives out the events that are certain.
    fn release<'t>(&'t mut self, text: &'t str) -> impl ExactSizeIterator<Item = Fresh<'t>> {
        self.out.release(self.hold.as_mut().map(Hold::release), text)
    }
}
