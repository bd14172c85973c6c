//! What surrounds a place in the text and makes a call there one that is only shown: a fence, inline code, a block quote, a table's
//! cell, an element of HTML, quotation marks, a label.
//!
//! Structure alone decides; sentences are not read. The rules are functions that answer "it is shown" with a [`Look`]; the scanner
//! acts on the answer. `docs/what-is-a-call.md` has each rule with an example that runs.
pub(super) mod alone;
pub(super) mod broken_marker;
pub(super) mod element;
pub(super) mod expression;
pub(super) mod fence;
pub(super) mod inline_code;
pub(super) mod label;
pub(super) mod line;
pub(super) mod quotation;

use super::{Engine, Look, Reader};
use crate::dialect::Marker;
use element::Elements;
use label::Labels;
use line::LineBefore;
use once_cell::sync::Lazy;
use quotation::OpenQuote;
use serde::Deserialize;

/// The words and names that the rules look for; `labels.json` says where they come from.
#[derive(Debug, Default, Deserialize)]
struct Words {
    /// Words and phrases that make a label announce an example.
    example: Vec<String>,
    /// The same in languages that put no blanks between words.
    example_unspaced: Vec<String>,
    /// Phrases that say how something is done.
    manner: Vec<String>,
    /// With one of these words, they say how it could be done.
    possible: Vec<String>,
    /// Words that announce an example in a short label.
    heading: Vec<String>,
    /// Unless one of these stands in it: "in the format" says how something is written, not what follows.
    not_heading: Vec<String>,
    /// Words of somebody who says what they do.
    first_person: Vec<String>,
    /// Unless what they do is to show something.
    shows: Vec<String>,
    /// Elements of HTML and of prompts that show what they hold.
    elements: Vec<String>,
}

static WORDS: Lazy<Words> = Lazy::new(|| serde_json::from_str(include_str!("labels.json")).unwrap_or_default());

/// What is known of the text round the place that is looked at.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    line: LineBefore,
    quote: OpenQuote,
    labels: Labels,
    pub(super) elements: Elements,
    /// The end of the first marker of a message's header that is quoted, until that message ends.
    pub(super) quoted_header: Option<usize>,
}

/// Where the run of text begins, behind the last markup that was taken out, and where the last call ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Since {
    text: usize,
    call: usize,
}

impl Surroundings {
    /// The marker at `at` is quoted by its line or by an element.
    pub(super) fn quote_marker(&mut self, cx: &Reader<'_>, since: Since, at: usize) -> Look<()> {
        if self.is_line_quoted(cx, since, at) {
            return Look::Is(());
        }
        self.elements.show(cx, since.call, at)
    }

    /// What has no markers and begins at `at` is only shown.
    pub(super) fn show_unmarked(&mut self, cx: &Reader<'_>, since: Since, at: usize) -> Look<()> {
        if self.is_line_quoted(cx, since, at)
            || broken_marker::ends_before(cx, at)
            || self.labels.show(cx, since.call, at)
        {
            return Look::Is(());
        }
        self.elements.show(cx, since.call, at)
    }

    /// The fence that opens at `at` is only shown.
    fn show_fence(&mut self, cx: &Reader<'_>, since: Since, at: usize) -> Look<()> {
        if self.labels.show(cx, since.call, at) {
            return Look::Is(());
        }
        self.elements.show(cx, since.call, at)
    }

    /// The line of `at` is one of a block quote or of a table.
    fn is_line_quoted(&mut self, cx: &Reader<'_>, since: Since, at: usize) -> bool {
        self.line.before(cx, since.text, at).is_some_and(line::is_quoted)
    }

    /// The object that a call at `at` holds from `inside` on stands in a string of something else.
    pub(super) fn in_string(&mut self, cx: &Reader<'_>, at: usize, inside: usize) -> Look<()> {
        quotation::is_escaped_object(cx, inside).then(|()| {
            let begins = self.line.begins(cx, at);
            // A longer line is no text: it stands in a string as well.
            Look::when(begins.is_none_or(|begins| self.quote.is_open(cx, begins, at)))
        })
    }
}

/// Whether a marker that is quoted is text. What closes reasoning or a message, and special tokens, count wherever they stand.
pub(super) fn may_be_quoted(marker: Marker) -> bool {
    marker.opens_calls()
        || matches!(
            marker,
            Marker::CallEnd { .. }
                | Marker::SectionEnd(_)
                | Marker::Header(_)
                | Marker::Recipient(_)
                | Marker::Result(_)
                | Marker::Turn
        )
}

impl Engine {
    /// The two places before which nothing says anything of a call.
    pub(super) fn since(&self) -> Since {
        let text = if self.given.fresh { self.given.from } else { self.given.text_from };
        Since { text, call: self.out.calls.last().map_or(0, |call| call.raw.end) }
    }

    /// As [`Surroundings::show_unmarked`]. A fence answers for what it holds.
    pub(super) fn is_shown(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        if self.fence.is_some() {
            return Look::No;
        }
        self.around.show_unmarked(cx, self.since(), at)
    }
}
