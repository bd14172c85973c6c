//! One request to a route and all that is tried until a turn is there: what the route can do, and how it is asked.
//!
//! A route is a base URL and a model: the same model differs by server. [`capability`] collects what is known of a route,
//! [`mode`] turns that into the ways to offer tools, best first, and [`config`] is what the caller decides per model. An [`Exchange`]
//! goes through these ways until one has led to a turn.
//! Nothing here does I/O or reads a clock: who drives it sends the requests and passes the time in.

pub mod capability;
pub mod config;
mod machine;
pub mod mode;
mod request;
mod verdict;

pub use machine::{Attempt, Exchange, Finished, Next, Options, Send};
pub use verdict::Verdict;
