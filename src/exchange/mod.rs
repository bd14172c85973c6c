//! One request to a model and all that is tried until a turn is there: what a route can do, how it is asked, what its answer is worth.
//!
//! A route is a base URL and a model: the same model differs by server. [`capability`] collects what is known of a route,
//! [`mode`] turns that into the ways to offer tools, best first, and [`config`] is what the caller decides per model. An [`Endpoint`]
//! is a route with its API; an [`Exchange`] goes through the modes of one endpoint after the other until one has led to a turn.
//! Nothing here does I/O or reads a clock: the driver sends the requests and passes the time in.
//!
//! ```
//! use serde_json::json;
//! use std::sync::Arc;
//! use toolglot::exchange::capability::{Route, capabilities};
//! use toolglot::exchange::config::ModelConfig;
//! use toolglot::exchange::{Endpoint, Exchange, Next, Options};
//! use toolglot::provider::{Message, Role};
//! use toolglot::schema::ToolSet;
//!
//! let tools = Arc::new(ToolSet::from_values(&[json!({"name": "now"})])?);
//! let url = "http://localhost:8000/v1";
//! let route = capabilities(&Route::new(Some(url), "m"), None, 0);
//! let endpoint = Endpoint::new(None, Some(url), route, ModelConfig::default())?;
//! let asked = vec![Message::text(Role::User, "What time is it?")];
//! let mut exchange = Exchange::new(asked, tools, Options::default(), vec![endpoint]);
//! // The server refuses tools, ...
//! assert!(matches!(exchange.next(0.0), Next::Send(send) if send.body["tools"][0]["function"]["name"] == "now"));
//! exchange.answer(400, &[]);
//! exchange.feed(b"this model does not support tools");
//! exchange.end(0.1);
//! // ... so they are offered otherwise.
//! let Next::Send(send) = exchange.next(0.1) else { unreachable!() };
//! assert_eq!(send.body["response_format"]["type"], "json_schema");
//! exchange.answer(200, &[]);
//! let envelope = json!({"toolCalls": [{"name": "now", "arguments": {}}], "content": ""}).to_string();
//! exchange.feed(json!({"choices": [{"message": {"content": envelope}}]}).to_string().as_bytes());
//! exchange.end(0.2);
//! assert_eq!(exchange.next(0.2), Next::Done);
//! assert_eq!(exchange.finish().turn.unwrap().tool_calls[0].name, "now");
//! # Ok::<(), toolglot::Error>(())
//! ```

mod api;
pub mod capability;
pub mod config;
mod endpoint;
mod follow;
mod machine;
pub mod mode;
mod options;
mod request;
mod retry_after;
mod spoken;
mod verdict;

pub use endpoint::Endpoint;
pub use machine::{Attempt, Exchange, Finished, Next, Send};
pub use options::{Options, Wanted};
pub use verdict::{Verdict, Why};
