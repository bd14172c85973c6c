//! Repair: text that strict JSON refuses becomes valid JSON, and what was valid in it stays byte for byte.
//!
//! The text is read once, by a machine with an explicit stack ([`machine`]) that knows what may follow what ([`grammar`]); its
//! tokens are read leniently ([`quoted`], [`verdict`], [`unclosed`], [`crooked`], [`escaped`], [`bare`]) with bounded looks ahead ([`lookahead`], [`beyond`]);
//! every change is an edit of the input ([`output`]). What can only be guessed is kept ([`behind`], [`torn`]) and said. Work is
//! linear in the text, depth is limited, and nothing is ever evaluated.
mod backslashes;
mod bare;
mod behind;
mod beyond;
mod certain;
mod closing;
mod crooked;
mod document;
mod encoded;
mod escaped;
mod escapes;
mod grammar;
mod literal;
mod lookahead;
mod machine;
mod output;
mod pairs;
mod quoted;
mod space;
mod token;
mod torn;
mod unclosed;
mod verdict;

use crate::turn::{Repair, words};
use std::borrow::Cow;

pub(crate) use backslashes::pairs_are_text;
pub(crate) use behind::is_expression;
#[cfg(feature = "python")]
pub(crate) use document::mend;
pub(super) use document::partial_value;
pub use document::repair;
pub(crate) use document::repair_knowing;
pub(crate) use escapes::means_more_in_python;
pub use literal::literal;
pub(crate) use output::MISSING;
pub(crate) use pairs::Pairs;

/// How [`repair`] reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairOptions {
    /// Text nested deeper than this is an error.
    pub max_depth: usize,
    /// Several values in a row (`{...}{...}`, JSON Lines) become one array; unset, the first one is taken and
    /// [`Repaired::consumed`] says where it ended.
    pub join_values: bool,
    /// JSON may be searched for in prose and fences; unset, the value must stand at the start of the text.
    pub search: bool,
}

impl Default for RepairOptions {
    fn default() -> Self {
        Self { max_depth: 128, join_values: true, search: true }
    }
}

words! {
    /// How a value came to its end.
    Ending {
        /// In the text.
        Closed => "closed",
        /// Only closing brackets were missing at the end of the text: a slip of the model, or the text was cut there.
        Unclosed => "unclosed",
        /// The text ends inside a string or word, or where a key or value had to come: it was cut off.
        Cut => "cut",
    }
}

/// Valid JSON, and how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired<'a> {
    /// Valid JSON text; borrowed from the input where nothing had to be changed.
    pub json: Cow<'a, str>,
    /// What was changed, with byte offsets into the input; empty exactly if the input was valid.
    pub repairs: Vec<Repair>,
    /// How many more repairs there were than are listed; only a text with over a thousand of them has any.
    pub unlisted: usize,
    /// Where in the input the value ended.
    pub consumed: usize,
    pub ending: Ending,
    /// The closing brackets of the input that stood for one of another kind.
    pub(crate) exchanged: Vec<usize>,
    /// Which of the repairs add closing brackets.
    pub(crate) added: Vec<usize>,
    /// What a value in it was meant to be is a guess: something stood behind one that is no structure.
    pub(crate) guessed: bool,
    /// The end of the text closed one of its strings.
    pub(crate) unended: bool,
    /// How much of the text was looked through for the ends of strings that ended earlier.
    pub(crate) ahead: usize,
}

impl Repaired<'_> {
    /// The same, with JSON of its own.
    pub(crate) fn into_owned(self) -> Repaired<'static> {
        let Repaired { json, repairs, unlisted, consumed, ending, exchanged, added, guessed, unended, ahead } = self;
        let json = Cow::Owned(json.into_owned());
        Repaired { json, repairs, unlisted, consumed, ending, exchanged, added, guessed, unended, ahead }
    }

    /// The value ended in the text: nothing of it was cut off.
    pub fn complete(&self) -> bool {
        self.ending == Ending::Closed
    }
}

/// What stands `behind` a mended value, up to where the text is known to be over, is more of the value, which ended too
/// early: words, and signs of structure with them, or what opens more. Other signs are what the mistake left, words alone
/// a remark.
pub(crate) fn goes_on(behind: &str) -> bool {
    behind.contains(['{', '[']) || behind.contains(char::is_alphanumeric) && behind.contains(['"', '}', ']'])
}

/// How [`literal`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiteralOptions<'a> {
    /// The bytes that may follow the value; a quote of which it is doubtful whether it ends a string does so only
    /// before one of them. A comma must moreover be followed by what can follow it: `name=` or another value.
    pub stops: &'a [u8],
    /// A value nested deeper than this is none.
    pub max_depth: usize,
    /// What is no literal (`data['sales']`, `<id>`, `Palo Alto`) is read as a string of its source text, up to a
    /// stop outside brackets, with the repair code `source_text`.
    pub source_text: bool,
}

impl Default for LiteralOptions<'_> {
    fn default() -> Self {
        Self { stops: b",)]}", max_depth: 128, source_text: false }
    }
}

/// A literal read by [`literal`], as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal<'a> {
    /// Valid JSON text; borrowed where the literal was valid JSON.
    pub json: Cow<'a, str>,
    /// Where the literal ends in the text.
    pub end: usize,
    /// What was changed, with byte offsets into the text; a Python spelling of what JSON has too counts as well.
    pub repairs: Vec<Repair>,
    pub ending: Ending,
    /// What a value in it was meant to be is a guess.
    pub(crate) guessed: bool,
}
