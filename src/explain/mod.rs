//! "Why was this not a call?": what the engine saw in a text, place by place.
//!
//! The one engine reads the text and takes notes ([`crate::engine`]); here they become [`Span`]s that cover the text
//! without gap or overlap. What the engine passed over without reading it (inline code, a fence, JSON in the middle of a
//! sentence) is given to the same engine once more, on its own: what would have been a call there is named, with the
//! reason why it is none where it stands.
mod apart;
mod report;
mod spans;
mod why;

pub use crate::turn::Reason;
#[cfg(feature = "python")]
pub(crate) use report::{Line, headline, report};

use crate::dialect::Dialects;
use crate::engine::{Options, observe};
use crate::schema::ToolSet;
use crate::turn::{Turn, codes};
use std::ops::Range;

codes! {
    /// What a piece of the text is.
    SpanKind {
        /// Text for the user. The texts of these spans, one after the other, are the turn's content.
        Content => "content",
        /// Reasoning. The texts of these spans are the turn's reasoning.
        Reasoning => "reasoning",
        /// The text of a call that is neither its name nor its arguments.
        Call => "call",
        /// A call's name.
        Name => "name",
        /// A call's arguments, or the value of one of them.
        Arguments => "arguments",
        /// Markup that was taken out.
        Marker => "marker",
        /// White space next to markup, taken out with it.
        Space => "space",
        /// A tool's result that the model wrote itself: dropped.
        Result => "result",
        /// A message that is for nobody here: dropped.
        Dropped => "dropped",
    }
}

/// A piece of the text, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What the piece is.
    pub kind: SpanKind,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// The text it stands for, where that is not what is written there: the decoded content of a JSON envelope.
    pub decoded: Option<String>,
    /// The dialect of the call or marker.
    pub dialect: Option<String>,
    /// Which of the turn's calls it belongs to.
    pub call: Option<usize>,
    /// Text that looked like a call: why it is none.
    pub reason: Option<Reason>,
    /// What there is to say about it, for people; may be empty.
    pub detail: String,
}

impl Span {
    fn new(kind: SpanKind, range: Range<usize>) -> Self {
        Self { kind, range, decoded: None, dialect: None, call: None, reason: None, detail: String::new() }
    }

    /// What it says: the text between its ends, or what was decoded from it.
    pub fn text<'s>(&'s self, text: &'s str) -> &'s str {
        self.decoded.as_deref().unwrap_or_else(|| text.get(self.range.clone()).unwrap_or(""))
    }
}

/// What was seen in a text. Its `Display` is a report for people.
#[derive(Debug, Clone)]
pub struct Explanation<'a> {
    /// The text that was explained.
    pub text: &'a str,
    /// The whole text, piece by piece, without gap or overlap.
    pub spans: Vec<Span>,
    /// What [`crate::engine::extract`] makes of it.
    pub turn: Turn<'a>,
    /// Where nothing looked like a call and nothing was found: what may be said all the same. May be empty.
    pub hint: String,
}

impl Explanation<'_> {
    /// The spans that looked like a call and were kept as text.
    pub fn kept(&self) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(|span| span.reason.is_some())
    }
}

/// Reads a complete text as [`crate::engine::extract`] does, and says what was seen where.
///
/// ```
/// use toolglot::{dialect::Dialects, engine::Options, explain::{Reason, explain}, schema::ToolSet};
/// let tool = serde_json::json!({"name": "get_time", "parameters": {"properties": {"zone": {"type": "string"}}}});
/// let tools = ToolSet::from_values(&[tool])?;
/// let text = "Try `get_time(zone=\"UTC\")` for that.";
/// let explanation = explain(text, &Dialects::auto(), Some(&tools), &Options::default());
/// assert!(explanation.turn.tool_calls.is_empty());
/// assert_eq!(explanation.kept().next().and_then(|span| span.reason), Some(Reason::InlineCode));
/// # Ok::<(), toolglot::Error>(())
/// ```
pub fn explain<'a>(text: &'a str, dialects: &Dialects, tools: Option<&ToolSet>, options: &Options) -> Explanation<'a> {
    let seen = observe(text, dialects, tools, options);
    let kept = why::kept(text, &seen, dialects, tools, options);
    let spans = spans::spans(text, &seen, &kept, tools);
    let hint = why::hint(text, &seen, &kept, tools);
    Explanation { text, spans, turn: seen.turn, hint }
}
