//! The Python module `toolglot._core`: the only place with pyo3 types.
//!
//! What crosses the boundary crosses in one file each: values in [`convert`], errors in [`error`], panics in [`guard`].
//! A file beside them binds one room of the core and holds no logic of its own.
#![allow(clippy::doc_lazy_continuation, reason = "the stub's docs are Python's, no Markdown")]

/// What the stub says of a name: the documentation stands there, and nowhere else.
macro_rules! stub {
    ($($name:tt)*) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $($name)*, ".txt"))
    };
}

mod argument;
mod blobs;
mod call;
mod capability;
mod config;
mod convert;
mod dialect;
mod error;
mod event;
mod exchange;
mod explain;
mod fork;
mod guard;
mod json;
mod keys;
mod made;
mod messages;
mod objects;
mod parser;
mod plain;
mod policy;
mod provider;
mod raised;
mod report;
mod served;
mod snapshot;
mod source;
mod text;
mod tools;
mod turn;
mod wire;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::call::ToolCall;
    #[pymodule_export]
    use super::capability::{_Learned, _Probe, _capabilities, _refused, _route_key, Capabilities, Finding};
    #[pymodule_export]
    use super::config::{Config, ModelConfig};
    #[pymodule_export]
    use super::dialect::{Dialect, dialects};
    #[pymodule_export]
    use super::event::Event;
    #[pymodule_export]
    use super::exchange::{Attempt, Endpoint, Exchange, Step};
    #[pymodule_export]
    use super::explain::{Explanation, Span, explain};
    #[pymodule_export]
    use super::guard::panic_on_purpose;
    #[pymodule_export]
    use super::json::{RepairedJson, parse_partial_json, repair_json};
    #[pymodule_export]
    use super::messages::{
        assistant_message, check_history, convert_messages, format_tool_result, format_tool_results, harden,
        provider_id, repair_history,
    };
    #[pymodule_export]
    use super::parser::{StreamParser, extract};
    #[pymodule_export]
    use super::policy::Policy;
    #[pymodule_export]
    use super::provider::{StreamNormalizer, normalize, normalize_choices};
    #[pymodule_export]
    use super::report::{ArgumentError, Issue, Loss, Repair, Usage};
    #[pymodule_export]
    use super::tools::{Tool, ToolSet};
    #[pymodule_export]
    use super::turn::Turn;
    #[pymodule_export]
    use super::wire::{Answered, TranscodedStream, Transcoder, Translation};

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::interrupt::ask(super::guard::signals_stop);
        super::fork::watch(module.py())?;
        pyo3::types::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
