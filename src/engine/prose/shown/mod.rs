//! What looks like a call and is only shown: in code, quotations, elements, strings, programs, data and what was given back.
pub(in crate::engine) mod above;
pub(in crate::engine) mod before;
pub(in crate::engine) mod block_quote;
pub(in crate::engine) mod code;
pub(in crate::engine) mod document;
pub(in crate::engine) mod echoed;
pub(in crate::engine) mod element;
pub(in crate::engine) mod fragment;
pub(in crate::engine) mod inline;
pub(in crate::engine) mod interrupted;
pub(in crate::engine) mod listing;
pub(in crate::engine) mod literal;
pub(in crate::engine) mod program;
pub(in crate::engine) mod quoted;
pub(in crate::engine) mod within;
