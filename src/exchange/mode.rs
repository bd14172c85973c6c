//! The ways to offer tools to a model, and which of them a route is asked in.
use super::capability::{Capabilities, Capability, Support};
use crate::turn::words;

words! {
    /// How tools are offered to a model.
    Mode {
        /// As the API's own tools.
        Native => "native",
        /// In the prompt; the answer is constrained to a schema of all calls.
        JsonSchema => "json_schema",
        /// In the prompt; the answer is any JSON object.
        JsonObject => "json_object",
        /// In the prompt; calls are read out of the text.
        Text => "text",
    }
}

impl Mode {
    /// What a route must be capable of for this mode; text takes nothing.
    pub const fn needs(self) -> Option<Capability> {
        match self {
            Self::Native => Some(Capability::NativeTools),
            Self::JsonSchema => Some(Capability::JsonSchema),
            Self::JsonObject => Some(Capability::JsonObject),
            Self::Text => None,
        }
    }
}

/// Returns the `preferred` modes that the route may be capable of, in their order.
///
/// What is unknown is tried: a list of models that does not know one is no reason to drop its tools. Text is the last resort
/// where nothing else is left, also if it is not preferred.
///
/// ```
/// use toolglot::exchange::capability::{Route, capabilities};
/// use toolglot::exchange::mode::{Mode, modes};
///
/// let deepseek = capabilities(&Route::new(Some("https://api.deepseek.com"), "deepseek-chat"), None, 0);
/// assert_eq!(modes(Mode::ALL, &deepseek), [Mode::Native, Mode::JsonObject, Mode::Text]);
/// ```
pub fn modes(preferred: &[Mode], capabilities: &Capabilities) -> Vec<Mode> {
    let able = |mode: &Mode| {
        let value = mode.needs().map(|needed| capabilities.get(needed).value);
        !matches!(value, Some(Support::No | Support::Ignored))
    };
    let mut left: Vec<_> = preferred.iter().copied().filter(able).collect();
    if left.is_empty() {
        left.push(Mode::Text);
    }
    left
}
