//! The options of a case that is data: `starts_in` and `policy`, as Python is given them.
use serde_json::Value;
use toolglot::engine::{BareCalls, Fences, Options, ReasoningCalls, StartsIn, UnknownTools};

/// Panics at what it does not know: a case that is read by other options than it says proves nothing.
pub(crate) fn options(case: &Value) -> Options {
    let starts_in = match case["starts_in"].as_str() {
        None | Some("content") => StartsIn::Content,
        Some("reasoning") => StartsIn::Reasoning,
        Some(other) => panic!("a text starts in no {other:?}"),
    };
    let mut options = Options { starts_in, ..Options::default() };
    for (key, value) in case["policy"].as_object().into_iter().flatten() {
        let policy = &mut options.policy;
        match (key.as_str(), value.as_str().unwrap_or_default()) {
            ("fences", "calls") => policy.fences = Fences::Calls,
            ("fences", "last") => policy.fences = Fences::Last,
            ("fences", "ignore") => policy.fences = Fences::Ignore,
            ("bare", "line") => policy.bare = BareCalls::Line,
            ("bare", "alone") => policy.bare = BareCalls::Alone,
            ("bare", "off") => policy.bare = BareCalls::Off,
            ("reasoning", "if_unclosed") => policy.reasoning = ReasoningCalls::IfUnclosed,
            ("reasoning", "ignore") => policy.reasoning = ReasoningCalls::Ignore,
            ("reasoning", "run") => policy.reasoning = ReasoningCalls::Run,
            ("unknown_tools", "flag") => policy.unknown_tools = UnknownTools::Flag,
            ("unknown_tools", "text") => policy.unknown_tools = UnknownTools::Text,
            ("unknown_tools", "allow") => policy.unknown_tools = UnknownTools::Allow,
            ("max_calls", _) => policy.max_calls = value.as_u64().expect("a number") as usize,
            ("max_depth", _) => policy.max_depth = value.as_u64().expect("a number") as usize,
            ("max_arguments_bytes", _) => policy.max_arguments_bytes = value.as_u64().expect("a number") as usize,
            ("max_markup_bytes", _) => policy.max_markup_bytes = value.as_u64().expect("a number") as usize,
            other => panic!("the test knows no policy {other:?}"),
        }
    }
    options
}
