//! One request to a route and all that is tried until a turn is there: what the route can do, and how it is asked.
//!
//! A route is a base URL and a model: the same model differs by server. [`capability`] collects what is known of a route,
//! [`mode`] turns that into the ways to offer tools, best first, and [`config`] is what the caller decides per model.
//! Nothing here does I/O or reads a clock: who drives it sends the requests and passes the time in.

pub mod capability;
pub mod config;
pub mod mode;
