//! What looks like a call and is only shown: in code, quotations, elements, strings, programs, data and what was given back.
pub(in crate::engine) mod above;
pub(in crate::engine) mod before;
pub(in crate::engine) mod block_quote;
pub(in crate::engine) mod code;
pub(in crate::engine) mod document;
pub(in crate::engine) mod echoed;
pub(in crate::engine) mod element;
pub(in crate::engine) mod fragment;
mod here_document;
pub(in crate::engine) mod inline;
pub(in crate::engine) mod interrupted;
pub(in crate::engine) mod listing;
pub(in crate::engine) mod program;
pub(in crate::engine) mod program_string;
pub(in crate::engine) mod quoted;
pub(in crate::engine) mod reach;
pub(in crate::engine) mod value;
pub(in crate::engine) mod within;

/// What stands round a place, as far as it was read for the places before.
#[derive(Debug, Default)]
pub(in crate::engine) struct Around {
    /// The HTML element that the text is in, if it shows code or an example.
    pub(in crate::engine) shown_in: quoted::ShownIn,
    /// And what a program shows.
    pub(in crate::engine) listings: listing::Listings,
    pub(in crate::engine) block_quote: block_quote::BlockQuote,
    /// What its line has before it.
    pub(in crate::engine) before: before::Before,
    /// What stood above the last call that was shown, as far as that goes.
    pub(in crate::engine) reach: reach::Reach,
    /// Where the last thing stood that is a part of a value.
    pub(in crate::engine) value: Option<usize>,
    /// And what the sentences above announce.
    pub(in crate::engine) examples: super::words::example::Examples,
}
