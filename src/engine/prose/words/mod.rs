//! What the words round a call say of it: that it is an example, was made before, is denied or awaits a yes; that a tool is only
//! described, or the format of calls.
pub(in crate::engine) mod announced;
pub(in crate::engine) mod clause;
pub(in crate::engine) mod coded;
pub(in crate::engine) mod described;
pub(in crate::engine) mod example;
pub(in crate::engine) mod heading;
pub(in crate::engine) mod instructed;
mod lexicon;
pub(in crate::engine) mod mentioned;
pub(in crate::engine) mod sentence;
