//! The transcoder: every client's API against every backend's, streamed and whole, over cases that are data
//! (`tests/data/wire/*.jsonl`, each with its source). What a client gets is read back by this library's own readers, and checked
//! for the order that its API demands.
mod arguments;
mod backend;
mod bad_input;
mod prefixes;
mod requests;
mod streams;
mod support;
