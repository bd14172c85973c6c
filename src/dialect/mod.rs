//! The catalogue: how each model family spells tool calls in text.
//!
//! A [`Dialect`] is data: a row of `catalogue.json`, or a user's own. [`Dialects`] is one or more of them made ready
//! for the engine: their markers in one trie, their templates read.
mod catalogue;
mod choice;
mod compiled;
#[cfg(feature = "templates")]
mod from_template;
mod id;
mod keys;
mod late;
mod marker;
mod markers;
mod response_template;
mod response_transform;
mod row;
mod template;

pub use catalogue::{catalogue, find, of_model};
pub(crate) use catalogue::{form, namespaces, without_namespace};
pub use compiled::Dialects;
#[cfg(feature = "templates")]
pub use from_template::TemplateOptions;

pub(crate) use id::{CallId, RowId, SectionId};
pub(crate) use keys::Key;
pub(crate) use late::LateMarker;
pub(crate) use marker::Marker;
pub(crate) use markers::{MarkersAt, Meanings, Passed, may_end_name};
pub(crate) use row::{CallTemplate, Parameter, Row, special};
pub(crate) use template::{Body, Element, Slot, must_close, opener};

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// White space at the ends of a parameter's value that belongs to the markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trim {
    /// None: the value is what stands between the markers.
    #[default]
    None,
    /// One line break at each end.
    Newline,
    /// One blank at each end.
    Blank,
    /// All white space at both ends.
    Space,
}

/// A way to write calls without any marker. It takes evidence to be one: an offered name and an arguments key, at a
/// place where calls stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bare {
    /// `{"name": ..., "arguments": ...}`, a list of them, or an envelope.
    Json,
    /// `[f(a=1), g()]` and `f(a=1)`.
    Python,
    /// The name on a line of its own, then the arguments as JSON.
    NameLine,
    /// Tags named after the tool and its parameters: `<read_file><path>a.py</path></read_file>`. The dialect's `calls` and
    /// `parameters` say how.
    Elements,
}

/// Messages within an answer: each begins with a header that says who it is for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Channels {
    /// What begins a header. Behind the last of them stands the channel's name, where there are channels.
    pub opens: Vec<String>,
    /// Who speaks, in a header. Where special tokens are hidden, this and a channel's name are all that is left of one;
    /// empty if such headers are not read.
    pub role: String,
    /// What ends the header and begins the message.
    pub message: String,
    /// What ends a message.
    pub closes: Vec<String>,
    /// Channels or recipients whose messages are content (first the answer itself), reasoning, or for nobody here. `""` is
    /// a header without any.
    pub content: Vec<String>,
    pub reasoning: Vec<String>,
    pub dropped: Vec<String>,
    /// What stands before a recipient; empty where no header has one.
    pub recipient: String,
    /// What the message of a call is written in, as its header says behind the recipient.
    pub formats: Vec<String>,
    /// The prefix of a recipient that is a tool and whose message is its arguments: the namespace of tools, with its dot.
    pub tool_prefix: String,
    /// Messages to any other recipient hold calls by the dialect's own templates, and no other message does.
    pub calls_to_recipients: bool,
}

impl Channels {
    /// What stands before the name of a tool that is called.
    pub(crate) fn to_tool(&self) -> String {
        format!("{}{}", self.recipient, self.tool_prefix)
    }
}

/// How some of a dialect's models write the calls that all of them are read by, where that is not its example: for
/// prompts and for histories as text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Form {
    /// Fragments of the names, of parsers and models, that mean this form; the longest fragment in a name decides.
    pub names: Vec<String>,
    /// As [`Dialect::example`] and [`Dialect::parallel`].
    pub example: String,
    pub parallel: String,
}

/// How one model family spells tool calls: a row of the catalogue.
///
/// Templates are explained at [`Dialect::calls`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    pub name: Cow<'static, str>,
    /// Which models write it.
    pub about: String,
    /// Where the facts come from: model card, chat template, API page.
    pub source: String,
    /// The names that servers give their parsers of it.
    pub parsers: Vec<String>,
    /// Fragments of the ids of models that write it, in lower case, `/` and `_` as `-`.
    pub models: Vec<String>,
    /// Markers round a group of calls, opening and closing.
    pub sections: Vec<(String, String)>,
    /// How a call is written, most specific first. A template is literal text with holes, as in
    /// `<function={name}> {parameters} </function>`: a space is optional white space, `{?x}` an optional literal,
    /// `{@name=name}` attributes in any order, `{#}` a number or nothing, `{tool}` a name that must be an offered
    /// one; `{json}`, `{arguments}`, `{parameters}`, `{python}`, `{gemma}`, `{elements}` and `{text}` are bodies.
    pub calls: Vec<String>,
    /// How a parameter is written, for `{parameters}`: `<parameter={key}>{value}</parameter>`, or `<{key}>{value}</{key}>`.
    pub parameters: Vec<String>,
    /// Markers with bars are special tokens, which prose does not hold: such a call needs no section round it, and a
    /// parameter's marker inside a value ends it.
    pub special_markers: bool,
    pub trim: Trim,
    /// Strings are written bare and everything else as JSON, so a value that reads as JSON is JSON unless the schema
    /// wants a string.
    pub json_first: bool,
    /// What stands before each tag, for `{elements}`.
    pub tag_prefix: String,
    /// The marker round strings, for `{gemma}`.
    pub quote: String,
    /// What begins the line behind the bare text of `{text}`.
    pub text_ends: Vec<String>,
    /// Words that begin what others say: with nothing behind them at the end of a text, the model was stopped there.
    pub stops: Vec<String>,
    /// Words that begin a tool's result, right behind a call: with nothing behind them the model was stopped there, and what
    /// stands behind them it invented.
    pub observations: Vec<String>,
    /// `&lt;` and its like in values stand for characters.
    pub entities: bool,
    /// In JSON, the key of the only member is the name and its value the arguments.
    pub name_as_key: bool,
    /// The namespace that stands before a tool's name, parted from it by a dot, and is no part of it.
    pub namespace: String,
    /// Markers round reasoning, opening and closing.
    pub reasoning: Vec<(String, String)>,
    /// Special tokens that the text may show and that are no content.
    pub tokens: Vec<String>,
    /// Those of the tokens that begin the answer itself: they end reasoning that nothing closed.
    pub answers: Vec<String>,
    /// What begins the other side's turn in a prompt: the user's, the system's. Calls that a model writes behind such a
    /// marker are none of its answer.
    pub turns: Vec<String>,
    /// Markers that stand inside the text and are none of it, as templates: `<co>` and `</co:{_}>` round what a source
    /// is cited for.
    pub inline_markers: Vec<String>,
    /// Markers round a tool's result, opening and closing. What a model writes between them after a call of its own is
    /// invented.
    pub results: Vec<(String, String)>,
    /// Such markers that other models write round something else, as `<response>` round an answer: known only where this dialect
    /// was named.
    pub own_results: Vec<(String, String)>,
    pub bare: Vec<Bare>,
    /// Names of dialects in the catalogue whose calls are read as well, after its own, where this one is named: what models write
    /// that are served by its name.
    pub kin: Vec<String>,
    /// Models of any family write it: where it is named, the tokens, turns and results of every dialect in the catalogue are
    /// known as well.
    pub any_model: bool,
    /// Messages with headers, where the dialect has them.
    pub channels: Option<Channels>,
    /// A complete answer in this dialect, as the model writes it.
    pub example: String,
    /// Two calls in one answer, to `get_weather` with the `city` `Paris` and to `get_time` with the `zone` `UTC`, as the
    /// model writes them; numbers in it count the calls. Empty where each call stands on its own, a line below the other.
    pub parallel: String,
    /// Other forms that models of it write.
    pub forms: Vec<Form>,
}
