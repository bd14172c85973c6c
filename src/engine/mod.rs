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
mod found;
mod head;
mod look;
mod misspelt;
mod options;
mod output;
mod prose;
mod reader;
mod tail;
mod trace;
mod utf8;
mod writer;

pub use options::{Fences, Options, Policy, ReasoningCalls, StartsIn, UnknownTools};

use crate::dialect::{Dialect, Dialects};
use crate::schema::ToolSet;
use crate::turn::{Event, Issue, IssueCode, Turn, new_call_id};
use call::CallState;
use output::{Mark, Output};
use prose::flow::Flown;
use std::sync::Arc;
use trace::Trace;
use writer::Origin;

pub(crate) use found::Piece;
#[cfg(feature = "python")]
pub(crate) use found::{Found, Value};
pub(crate) use look::Look;
pub(crate) use output::{Call, Fresh, Whole};
use reader::{Known, Memo};
pub(crate) use reader::{Reader, Without};
pub use trace::Reason;
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
    let policy = options.policy.clamped();
    let mut engine = Engine::new(options, false);
    let tools = tools.filter(|t| !t.tools().is_empty());
    let memo = Memo::default();
    engine.advance(&Reader { text, made: false, eof: true, dialects, tools, policy: &policy, memo: &memo });
    engine.out.into_found(text, dialects)
}

fn with_ids(mut turn: Turn<'_>) -> Turn<'_> {
    let nameless = turn.tool_calls.iter_mut().filter(|call| call.id.is_empty());
    nameless.for_each(|call| call.id = new_call_id().into());
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
    let policy = options.policy.clamped();
    let mut engine = Engine::new(options, false);
    engine.out.trace = Trace::on();
    let tools = tools.filter(|t| !t.tools().is_empty());
    let memo = Memo::default();
    engine.advance(&Reader { text, made: false, eof: true, dialects, tools, policy: &policy, memo: &memo });
    let turn = with_ids(engine.out.clone().into_turn(text, dialects));
    let dialect = |call: &Call| call.origin.dialect(dialects).cloned();
    let calls = engine.out.calls.iter().map(|call| (call.raw.clone(), dialect(call))).collect();
    let (content, reasoning, notes) = engine.out.into_parts();
    Observed { turn, content, reasoning, calls, notes }
}

/// Reads a text as it arrives.
///
/// ```
/// use toolglot::{dialect::Dialects, engine::{Options, StreamParser}, Event};
/// let mut parser = StreamParser::new(Dialects::named("hermes")?, None, Options::default());
/// let mut events = Vec::new();
/// for chunk in ["Hi <tool", "_call>{\"name\": \"f\", \"arguments\": {\"a\"", ": 1}}</tool_call>"] {
///     parser.feed(chunk, &mut events);
/// }
/// let turn = parser.finish(&mut events);
/// assert_eq!(turn.tool_calls.len(), 1);
/// assert_eq!(events[0], Event::Text("Hi ".into()));
/// # Ok::<(), toolglot::Error>(())
/// ```
#[derive(Debug)]
pub struct StreamParser {
    text: String,
    bytes: utf8::Decoder,
    engine: Engine,
    dialects: Arc<Dialects>,
    tools: Option<Arc<ToolSet>>,
    options: Options,
    finished: bool,
    known: Known,
}

impl StreamParser {
    /// A parser of one text, which is empty so far.
    pub fn new(dialects: Arc<Dialects>, tools: Option<Arc<ToolSet>>, mut options: Options) -> Self {
        options.policy = options.policy.clamped();
        let engine = Engine::new(&options, true);
        Self {
            text: String::new(),
            bytes: utf8::Decoder::default(),
            engine,
            dialects,
            tools,
            options,
            finished: false,
            known: Known::default(),
        }
    }

    fn advance(&mut self, eof: bool) {
        let tools = self.tools.as_deref().filter(|t| !t.tools().is_empty());
        let policy = &self.options.policy;
        let memo = Memo::from(self.known);
        let (text, dialects) = (&*self.text, &*self.dialects);
        self.engine.advance(&Reader { text, made: false, eof, dialects, tools, policy, memo: &memo });
        self.known = memo.known();
    }

    /// Reads on; what became certain is appended to `events`. After [`Self::finish`] nothing is read any more.
    pub fn feed(&mut self, chunk: &str, events: &mut Vec<Event>) {
        match self.read(chunk) {
            Some(whole) => events.push(whole.event(chunk.to_owned())),
            None => events.extend(self.fresh().map(Event::from)),
        }
    }

    /// [`Self::feed`] without its events: [`Self::fresh`] has them. Mostly there is one and the chunk is all of it, so that
    /// nobody has to cut it out of the text: then it is told by what this returns.
    pub(crate) fn read(&mut self, chunk: &str) -> Option<Whole> {
        if self.finished {
            return None;
        }
        self.flush_bytes();
        let at = self.text.len();
        self.text.push_str(chunk);
        match self.engine.flows(&self.text, at, &self.dialects) {
            Some(Flown::Alone(whole)) => return Some(whole),
            Some(Flown::Among) => return None,
            None => self.advance(false),
        }
        if self.engine.hold.is_some() { None } else { self.engine.out.only(&(at..self.text.len())) }
    }

    /// The events that are certain and were not given out yet.
    pub(crate) fn fresh(&mut self) -> impl ExactSizeIterator<Item = Fresh<'_>> {
        self.engine.release(&self.text)
    }

    /// A character that was begun in bytes will not be finished.
    fn flush_bytes(&mut self) {
        let at = self.text.len();
        if self.bytes.flush(&mut self.text) {
            self.engine.out.issue(Issue::at(IssueCode::InvalidUtf8, at, "bytes that are no UTF-8 became U+FFFD"));
        }
    }

    /// As [`Self::feed`], for bytes of UTF-8 cut anywhere: an unfinished character waits for its rest.
    /// What is no UTF-8 becomes U+FFFD, with an issue.
    pub fn feed_bytes(&mut self, chunk: &[u8], events: &mut Vec<Event>) {
        self.read_bytes(chunk);
        events.extend(self.fresh().map(Event::from));
    }

    /// [`Self::feed_bytes`] without its events.
    pub(crate) fn read_bytes(&mut self, chunk: &[u8]) {
        if self.finished {
            return;
        }
        let at = self.text.len();
        if self.bytes.push(chunk, &mut self.text) {
            self.engine.out.issue(Issue::at(IssueCode::InvalidUtf8, at, "bytes that are no UTF-8 became U+FFFD"));
        }
        self.advance(false);
    }

    /// The end of the text. Its last events are appended to `events`. A second call gives the same turn, without events.
    pub fn finish(&mut self, events: &mut Vec<Event>) -> Turn<'static> {
        if !self.finished {
            self.flush_bytes();
            self.advance(true);
            events.extend(self.fresh().map(Event::from));
            self.finished = true;
        }
        self.engine.out.clone().into_turn(&self.text, &self.dialects).into_owned()
    }

    /// All text fed so far.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It got somewhere: go on.
    Go,
    /// It needs more text.
    More,
}

/// What text outside calls is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Content,
    Reasoning,
}

/// Why what is being read may turn out to be no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It stands in reasoning that may yet be closed.
    Reasoning,
    /// It stands in a fence that may hold something else as well.
    Fence,
    /// It stands in what may be inline code.
    InlineCode,
    /// It stands in the middle of a line, right behind a quotation mark that may close behind it.
    Quotes,
    /// It has no marker: the evidence is not all there yet, or a sentence may yet go on behind it.
    Bare,
    /// None of the names in it is offered.
    Names,
    /// It stands in the middle of a line that may yet go on as a sentence.
    Sentence,
}

impl Doubt {
    /// Why it is text if the doubt is right.
    fn reason(self) -> Reason {
        match self {
            Self::Reasoning => Reason::Draft,
            Self::Fence => Reason::FenceOfCode,
            Self::InlineCode => Reason::InlineCode,
            Self::Names => Reason::NameNotOffered,
            Self::Quotes => Reason::Quoted,
            Self::Bare | Self::Sentence => Reason::Place,
        }
    }
}

/// How far the text outside calls was given out as content or reasoning, and what that text is next to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    /// The text before this place was given out, or taken out as markup.
    from: usize,
    /// Where the run of text began that was given out last: at the start, or behind a marker.
    text_from: usize,
    /// Nothing but white space was given out since the start or the last marker.
    fresh: bool,
    /// A marker has been removed somewhere.
    removed: bool,
    /// White space between two markers, kept for text that may follow.
    space: Option<std::ops::Range<usize>>,
    /// The marker that opened a section in which nothing stands yet. If text follows and no call, the marker is text as well.
    opener: Option<std::ops::Range<usize>>,
    /// The last header that began a message said whose it is.
    headed: bool,
    /// And so did the one before it: the text of the message does not go on a line of that one's.
    parted: bool,
    mode: Mode,
}

/// What may turn out to be no call, and all that is needed to go back and make it text.
#[derive(Debug)]
pub(crate) struct Hold {
    doubt: Doubt,
    /// Where what is doubted begins.
    at: usize,
    /// What had been found by then, and how far the text outside calls had been given out.
    mark: Mark,
    before: Given,
    opener_given: Option<usize>,
}

#[derive(Debug)]
enum State {
    Prose,
    Call(Box<CallState>),
    /// A tool's result that the model wrote itself: where it began, and how far its end has been looked for.
    Invented {
        result: u16,
        at: usize,
        searched: usize,
    },
    /// Code in a fence: text up to its end. So many fences are open in it.
    Code {
        ticks: usize,
        tick: u8,
        inner: u32,
    },
}

/// What is unclear is looked at anew with every chunk as long as it has no more bytes than this ([`Engine::wait`]).
const PATIENCE: usize = 64;

/// The state of the scanner between two steps.
#[derive(Debug)]
pub(crate) struct Engine {
    /// The next byte to read.
    at: usize,
    /// What stands at `at` is unclear, and not looked at again before the text is so long, or goes on otherwise than awaited.
    until: usize,
    awaited: prose::unclear::Awaited,
    given: Given,
    /// What is being read at `at`.
    state: State,
    /// The section that is open: row and section.
    section: Option<(u16, u16)>,
    /// A section's opening marker was given out as text, and so many calls had been found by then.
    opener_given: Option<usize>,
    inline: Option<prose::inline::Inline>,
    /// The fence whose body is being read as calls.
    fence: Option<prose::code::Fence>,
    hold: Option<Hold>,
    /// Reasoning was opened, or the text began in it. Otherwise a closing marker means that the prompt had opened it, and makes
    /// all text before it reasoning.
    reasoning_seen: bool,
    /// Where the marker that opens reasoning stood last in a place where it opens nothing: the text only names it.
    named_opener: Option<usize>,
    /// The message that is being read, in a dialect with headers.
    channel: Option<prose::channels::Channel>,
    /// Set once the text has shown headers that lost their special tokens: more of them are expected.
    plain: Option<prose::plain::Plain>,
    /// Whether the text behind the calls is still the model's own.
    runaway: prose::runaway::Runaway,
    /// The HTML element that the text is in, if it shows code or an example.
    shown_in: prose::quoted::Shown,
    /// And what a program shows.
    listings: prose::listing::Listings,
    block_quote: prose::quoted::BlockQuote,
    before: prose::quoted::Before,
    tried: prose::tried::Tried,
    examples: prose::example::Examples,
    unclear: prose::unclear::Unclear,
    /// The row of the dialect whose special token came last.
    speaks: Option<u16>,
    /// An opening marker was left in the text because no readable call followed it.
    unread: bool,
    /// Opening markers that were left in the text, counted when a closing one needs to know.
    opened: Vec<prose::leftover::Opened>,
    /// How many bytes were read again behind drafts in reasoning that were given up: they have a bound.
    reread: usize,
    /// By what the last call was read, if its closing marker is missing: it may come yet.
    unclosed: Option<Origin>,
    /// Where the body of the last call stands, if that call had markers.
    body: std::ops::Range<usize>,
    /// The allocation of the last call, for the next one.
    spare: Option<Box<CallState>>,
    out: Output,
}

impl Engine {
    fn new(options: &Options, streaming: bool) -> Self {
        let mode = match options.starts_in {
            StartsIn::Content => Mode::Content,
            StartsIn::Reasoning => Mode::Reasoning,
        };
        Self {
            at: 0,
            until: 0,
            awaited: prose::unclear::Awaited::default(),
            given: Given {
                from: 0,
                text_from: 0,
                fresh: true,
                removed: false,
                space: None,
                opener: None,
                headed: false,
                parted: false,
                mode,
            },
            state: State::Prose,
            section: None,
            opener_given: None,
            inline: None,
            fence: None,
            hold: None,
            reasoning_seen: mode == Mode::Reasoning,
            named_opener: None,
            channel: None,
            plain: None,
            runaway: prose::runaway::Runaway::default(),
            shown_in: prose::quoted::Shown::default(),
            listings: prose::listing::Listings::default(),
            block_quote: prose::quoted::BlockQuote::default(),
            before: prose::quoted::Before::default(),
            tried: prose::tried::Tried::default(),
            examples: prose::example::Examples::default(),
            unclear: prose::unclear::Unclear::default(),
            speaks: None,
            unread: false,
            opened: Vec::new(),
            reread: 0,
            unclosed: None,
            body: 0..0,
            spare: None,
            out: Output::new(streaming),
        }
    }

    /// Nothing but white space stands between what was given out or taken out last and `at`.
    fn fresh_at(&self, cx: &Reader<'_>, at: usize) -> bool {
        // Not by a look at the text between them: a long run of blanks would be looked at with every chunk.
        self.given.fresh && cx.skip_space(self.given.from) >= at
    }

    /// Reads as far as the text allows; with `eof`, to its end.
    fn advance(&mut self, cx: &Reader<'_>) {
        if cx.text.len() < self.until && !cx.eof && self.awaited.goes_on(cx.text) {
            return;
        }
        let start = self.at;
        self.until = 0;
        loop {
            let step = match std::mem::replace(&mut self.state, State::Prose) {
                State::Prose => self.prose(cx),
                State::Call(call) => self.call(cx, call),
                State::Code { ticks, tick, inner } => self.code(cx, ticks, tick, inner),
                State::Invented { result, at, searched } => self.invented(cx, result, at, searched),
            };
            if step == Step::More {
                break;
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

    /// From here on a call is read, once `set` has said what else is known of it.
    fn begin_call(&mut self, call: CallState, set: impl FnOnce(&mut CallState)) {
        self.tried.try_again();
        self.unclear.forget();
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
        self.out.release(self.hold.as_mut().map(|h| &mut h.mark), text)
    }

    /// From here on nothing leaves until [`Self::keep`] or [`Self::go_back`].
    fn hold(&mut self, doubt: Doubt, at: usize, before: Given) {
        self.hold = Some(Hold { doubt, at, mark: self.out.mark(), before, opener_given: self.opener_given });
    }

    fn holds(&self, doubt: Doubt) -> bool {
        self.hold.as_ref().is_some_and(|h| h.doubt == doubt)
    }

    /// The doubt is over: what was held is what it seemed.
    fn keep(&mut self, doubt: Doubt) {
        if self.holds(doubt) {
            self.hold = None;
            self.unclear.forget();
        }
    }

    /// The words round a call do not speak of it: if that was the doubt, it is over.
    fn keep_words(&mut self) {
        [Doubt::Quotes, Doubt::Sentence, Doubt::Bare].into_iter().for_each(|doubt| self.keep(doubt));
    }

    /// The doubt was right: everything since is text, up to `to`.
    fn go_back(&mut self, to: usize) -> bool {
        let Some(hold) = self.hold.take() else { return false };
        self.tried.try_again();
        let calls = self.out.go_back(hold.mark, hold.doubt.reason());
        self.given = hold.before;
        self.opener_given = hold.opener_given;
        self.unclear.forget();
        self.at = to;
        self.section = None;
        self.unclosed = None;
        self.body = 0..0;
        if hold.doubt == Doubt::Reasoning {
            self.given.mode = Mode::Reasoning;
        }
        if calls > 0 && hold.doubt != Doubt::Names {
            let (code, what) = match hold.doubt {
                Doubt::Reasoning => (IssueCode::DraftInReasoning, "a call drafted in closed reasoning was not taken"),
                Doubt::Quotes => (IssueCode::QuotedCall, "a call in quotation marks was not taken"),
                Doubt::Sentence => (IssueCode::QuotedCall, "a call in the middle of a sentence was not taken"),
                Doubt::Bare => (IssueCode::QuotedCall, "a call that the text speaks of was not taken"),
                _ => (IssueCode::QuotedCall, "a call shown as code was not taken"),
            };
            self.out.issue(Issue::at(code, hold.at, what));
        }
        true
    }
}
