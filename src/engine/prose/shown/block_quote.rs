//! Block quotes, and cells of tables: a marker in one is text, and so is what it opens there.
use super::before::{LINE_BEFORE, WHOLE_LINE};
use super::within::behind_inline_element;
use crate::dialect::{Channels, Marker};
use crate::engine::prose::words::example::has_blank_line;
use crate::engine::reader::blank;
use crate::engine::{Engine, Reader};

/// What the line of a marker says of it: whether it is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Quote {
    /// It is not.
    No,
    /// It stands behind text in a line that is quoted: what it opens is quoted, what it ends need not be.
    Line,
    /// A program or a patch shows it, with what closes it.
    Listed,
    /// It is quoted itself: nothing but the signs stands before it, or it belongs to one that stands so.
    Whole,
}

impl Quote {
    /// The marker is text for its sake. Reasoning that quotes somebody may end in any line.
    pub(in crate::engine) fn holds(self, marker: Marker) -> bool {
        match self {
            Self::No => false,
            Self::Line => marker.opens_calls() || matches!(marker, Marker::Header(_)),
            Self::Listed => {
                matches!(marker, Marker::CallEnd { .. } | Marker::SectionEnd(_) | Marker::Header(_))
                    || marker.opens_calls()
            }
            Self::Whole => !matches!(marker, Marker::ReasoningClose(_)),
        }
    }
}

/// The block quote in which a marker was quoted, and how far it has been followed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockQuote {
    pub(super) looked: Option<usize>,
    /// Where that marker ends, if it opens something, and how it was quoted.
    quoted: Option<(usize, Quote)>,
    /// The first of those that opened something one after the other: so many lines go on the quote as belong to its paragraph.
    lazy: Option<(usize, usize)>,
    /// The same of the header of a message whose end has not been seen yet.
    header: Option<(usize, Quote)>,
}

impl Engine {
    /// What its line says of a marker at `at`.
    pub(in crate::engine) fn line_quotes(&mut self, cx: &Reader<'_>, at: usize) -> Quote {
        // Behind a marker that was taken out a line begins.
        let begun = self.text_begins();
        if begun >= at {
            return Quote::No;
        }
        if let Some(quote) = self.quote_goes_down(cx, begun, at) {
            return quote;
        }
        let Some(line) = self.around.before.line(cx, at) else { return Quote::No };
        let line = cx.slice((at - line.len()).max(begun), at).trim_start_matches(blank);
        if line.is_empty() {
            return Quote::No;
        }
        if !line.starts_with('>') {
            return if in_cell(line) || behind_inline_element(line) { Quote::Line } else { Quote::No };
        }
        let signs = line.bytes().all(|byte| matches!(byte, b'>' | b' ' | b'\t'));
        if signs || self.quote_goes_on(cx, begun, at) { Quote::Whole } else { Quote::Line }
    }

    /// What a quoted marker behind `begun` opens goes on at `at`, in the next line as well: at once, or as another part of it.
    fn quote_goes_down(&mut self, cx: &Reader<'_>, begun: usize, at: usize) -> Option<Quote> {
        let BlockQuote { looked, quoted, lazy, .. } = self.around.block_quote;
        let goes_on = |(start, end): &(usize, usize)| {
            let between = cx.slice(*end, at);
            let name = cx.slice(*start, *end).strip_prefix('<').unwrap_or_default();
            let closes = |i: usize| between.get(i + 2..).is_some_and(|rest| !name.is_empty() && rest.starts_with(name));
            let near = (begun..at).contains(start) && between.len() <= WHOLE_LINE;
            // Blank lines may stand between the tags of one call, and end the quote elsewhere.
            let again = cx.rest(at).starts_with(cx.slice(*start, *end));
            near && (!has_blank_line(between) || !again && parts_tags(between))
                && !memchr::memmem::find_iter(between.as_bytes(), b"</").any(closes)
        };
        let lazy = lazy.filter(goes_on);
        let adjacent = quoted.filter(|(end, _)| cx.skip_markup_space(*end) >= at);
        let Some((start, (end, quote))) = looked.filter(|start| (begun..at).contains(start)).zip(adjacent) else {
            return lazy.map(|_| Quote::Whole);
        };
        if quote == Quote::Whole {
            self.around.block_quote.lazy = lazy.or(Some((start, end)));
        }
        Some(quote)
    }

    /// A marker was quoted in the block quote of `at`, behind `begun`.
    fn quote_goes_on(&mut self, cx: &Reader<'_>, begun: usize, at: usize) -> bool {
        let Some(looked) = self.around.block_quote.looked.filter(|looked| (begun..at).contains(looked)) else {
            return false;
        };
        let quoted = |line: &str| line.trim_start_matches(blank).starts_with('>');
        let goes_on = cx.slice(looked, at).split('\n').skip(1).all(quoted);
        self.around.block_quote.looked = goes_on.then_some(at);
        goes_on
    }

    /// A marker at `at` is text, as it is quoted. Where it ends, if it opens something, and how it is quoted.
    pub(in crate::engine) fn quotes(&mut self, at: usize, opens: Option<(usize, Quote)>) {
        (self.around.block_quote.looked, self.around.block_quote.quoted) = (Some(at), opens);
    }

    /// The header of a message, whose first marker ends at `end`, is text, as it is quoted: what ends the message is text as well.
    pub(in crate::engine) fn quotes_message(&mut self, end: usize, quote: Quote) {
        self.around.block_quote.header = Some((end, quote));
    }

    /// Another marker of the quoted header stands at `at`.
    pub(in crate::engine) fn goes_on_quoted(&self, cx: &Reader<'_>, channels: &Channels, at: usize) -> bool {
        let header = self.around.block_quote.header.filter(|(end, _)| *end <= at && at - end <= LINE_BEFORE);
        let between = header.map(|(end, _)| cx.slice(end, at));
        between.is_some_and(|text| !text.contains('\n') && !text.contains(channels.message.as_str()))
    }

    /// What stands at `at` ends the quoted message: where only its line quotes it, in the same line.
    pub(in crate::engine) fn ends_quoted(&mut self, cx: &Reader<'_>, channels: &Channels, at: usize) -> bool {
        let header = self.around.block_quote.header.take().filter(|(end, _)| *end <= at && at - end <= WHOLE_LINE);
        header.is_some_and(|(end, quote)| {
            let between = cx.slice(end, at);
            between.contains(channels.message.as_str()) && (quote != Quote::Line || !between.contains('\n'))
        })
    }
}

/// The blank lines of the `text` between two tags all stand between such.
fn parts_tags(text: &str) -> bool {
    let (mut tag, mut blank) = (true, false);
    for line in text.split('\n').map(str::trim_ascii) {
        if line.is_empty() {
            blank = true;
            continue;
        }
        if std::mem::take(&mut blank) && !(tag && line.starts_with('<')) {
            return false;
        }
        tag = line.ends_with('>');
    }
    tag
}

/// A line that begins so is the row of a table, up to a cell behind another one.
fn in_cell(line: &str) -> bool {
    if !line.starts_with('|') {
        return false;
    }
    // The bars of a call that the cell shows are none of the row's.
    let row = line.split("<|").next().unwrap_or(line);
    !row.contains("|>") && memchr::memchr_iter(b'|', row.as_bytes()).nth(1).is_some()
}

/// A line that begins so is one of a block quote, or a row of a table.
pub(super) fn is_quote(line: &str) -> bool {
    let line = line.trim_start_matches(blank);
    // A special token may have lost its first sign.
    line.starts_with('>') || (line.starts_with('|') && !line.contains("|>"))
}
