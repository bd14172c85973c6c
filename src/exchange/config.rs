//! What the caller decides per model: modes, retries and instructions, from code or from a file.
//!
//! A configuration is JSON, TOML or YAML that was read into a JSON value. Keys are spelt `preferred_modes` or
//! `preferredModes`; a key that is not known is an error, for a misspelt setting is one that silently does nothing.
use super::capability::{Capabilities, Capability, Support};
use super::mode::{Mode, modes};
use crate::{Error, ErrorCode};
use serde_json::{Map, Value};

/// What is decided about one model.
///
/// Unset values follow from what is known of the model: [`ModelConfig::expects_text_calls`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelConfig {
    /// In which modes tools are offered, best first.
    pub preferred_modes: Vec<Mode>,
    /// Whether calls in text are expected beside native ones; `None`: if the model is known for them.
    pub expect_text_calls: Option<bool>,
    /// The dialect of calls in text; `None`: that of the model's family, or any.
    pub dialect: Option<String>,
    /// How many more requests a turn may take after the first.
    pub max_retries: usize,
    /// Whether a retry may be in another mode.
    pub retry_with_different_format: bool,
    /// Whether the prompt of a JSON mode says that nothing but JSON may be written.
    pub strict_json_instructions: bool,
    /// Whether the prompt says that calls must not be written as XML.
    pub no_xml_instructions: bool,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            preferred_modes: Mode::ALL.to_vec(),
            expect_text_calls: None,
            dialect: None,
            max_retries: 3,
            retry_with_different_format: true,
            strict_json_instructions: false,
            no_xml_instructions: false,
        }
    }
}

impl ModelConfig {
    /// Returns the modes to try on a route, best first: see [`modes`].
    pub fn modes(&self, capabilities: &Capabilities) -> Vec<Mode> {
        let mut ladder = modes(&self.preferred_modes, capabilities);
        if !self.retry_with_different_format {
            ladder.truncate(1);
        }
        ladder
    }

    /// Returns whether calls in text are expected of the model.
    pub fn expects_text_calls(&self, capabilities: &Capabilities) -> bool {
        self.expect_text_calls.unwrap_or(capabilities.get(Capability::TextCalls).value == Support::Yes)
    }

    /// Returns what the prompt says about the form of an answer in `mode`; empty where nothing is to be said.
    pub fn instructions(&self, mode: Mode) -> String {
        let json = matches!(mode, Mode::JsonSchema | Mode::JsonObject);
        let mut lines = Vec::new();
        if self.strict_json_instructions && json {
            lines.push(
                "Answer with exactly one JSON object: no text before or after it, no Markdown fence, no comments in it.",
            );
        }
        if self.no_xml_instructions && mode != Mode::Text {
            lines
                .push("Never write a tool call as XML or with tags such as <function_calls>, <invoke> or <tool_call>.");
        }
        lines.join("\n")
    }
}

/// What is set of a [`ModelConfig`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Settings {
    preferred_modes: Option<Vec<Mode>>,
    expect_text_calls: Option<bool>,
    dialect: Option<String>,
    max_retries: Option<usize>,
    retry_with_different_format: Option<bool>,
    strict_json_instructions: Option<bool>,
    no_xml_instructions: Option<bool>,
}

impl Settings {
    fn apply(&self, config: &mut ModelConfig) {
        fn set<T: Clone>(value: &Option<T>, into: &mut T) {
            if let Some(value) = value {
                into.clone_from(value);
            }
        }
        set(&self.preferred_modes, &mut config.preferred_modes);
        set(&self.max_retries, &mut config.max_retries);
        set(&self.retry_with_different_format, &mut config.retry_with_different_format);
        set(&self.strict_json_instructions, &mut config.strict_json_instructions);
        set(&self.no_xml_instructions, &mut config.no_xml_instructions);
        config.expect_text_calls = self.expect_text_calls.or(config.expect_text_calls);
        if self.dialect.is_some() {
            config.dialect.clone_from(&self.dialect);
        }
    }

    fn read(object: &Map<String, Value>, place: &str) -> Result<Self, Error> {
        let mut settings = Self::default();
        // Whole modes first, so that a single setting beside them has the last word whatever the order.
        let mut force_text = false;
        let mut prefer_native = false;
        for (key, value) in object {
            let at = format!("{place}/{key}");
            match snake(key).as_str() {
                "preferred_modes" => settings.preferred_modes = Some(mode_list(value, &at)?),
                // The name in an application that took all calls in text for XML.
                "expect_text_calls" | "expect_xml_output" | "enable_xml_normalization" => {
                    settings.expect_text_calls = Some(boolean(value, &at)?);
                }
                "dialect" => settings.dialect = Some(dialect(value, &at)?),
                "max_retries" => settings.max_retries = Some(count(value, &at)?),
                "retry_with_different_format" => settings.retry_with_different_format = Some(boolean(value, &at)?),
                "strict_json_instructions" => settings.strict_json_instructions = Some(boolean(value, &at)?),
                "no_xml_instructions" => settings.no_xml_instructions = Some(boolean(value, &at)?),
                "use_strict_json_instructions" => {
                    let both = boolean(value, &at)?;
                    settings.strict_json_instructions.get_or_insert(both);
                    settings.no_xml_instructions.get_or_insert(both);
                }
                "prefer_native_tools" => prefer_native = boolean(value, &at)?,
                "force_text_mode" => force_text = boolean(value, &at)?,
                _ => return Err(unknown(key, &at, SETTINGS)),
            }
        }
        if force_text || prefer_native {
            if (force_text && prefer_native) || settings.preferred_modes.is_some() {
                let message = "force_text_mode, prefer_native_tools and preferred_modes exclude each other";
                return Err(Error::at(ErrorCode::BadOption, place, message));
            }
            settings.preferred_modes = Some(if force_text { vec![Mode::Text] } else { Mode::ALL.to_vec() });
        }
        Ok(settings)
    }
}

const SETTINGS: &[&str] = &[
    "preferred_modes",
    "expect_text_calls",
    "dialect",
    "max_retries",
    "retry_with_different_format",
    "strict_json_instructions",
    "no_xml_instructions",
    "prefer_native_tools",
    "force_text_mode",
];

/// Decisions about models, by patterns of their ids.
///
/// ```
/// use serde_json::json;
/// use toolglot::exchange::config::Config;
/// use toolglot::exchange::mode::Mode;
///
/// let config = Config::read(&json!({
///     "max_retries": 2,
///     "modelOverrides": { "meta-llama/*": { "forceTextMode": true } },
/// }))
/// .unwrap();
/// let llama = config.model("meta-llama/llama-3.3-70b");
/// assert_eq!((llama.preferred_modes, llama.max_retries), (vec![Mode::Text], 2));
/// assert!(Config::read(&json!({ "maxretries": 2 })).is_err());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    all: Settings,
    models: Vec<(String, Settings)>,
}

impl Config {
    /// Reads a configuration: the settings of all models, and under `model_overrides` those of some. A list of model configurations
    /// that have a `model_id` each is read as well.
    ///
    /// A pattern is a model's id, with `*` for anything; the maker before a `/` may be left out. Case does not matter.
    ///
    /// # Errors
    /// [`ErrorCode::BadOption`], with a JSON pointer to what is not known or no value for its key.
    pub fn read(value: &Value) -> Result<Self, Error> {
        let mut config = Self::default();
        if let Value::Array(list) = value {
            for (number, item) in list.iter().enumerate() {
                config.add(item, &format!("/{number}"))?;
            }
            return Ok(config);
        }
        let object = value.as_object().ok_or_else(|| expected("an object", ""))?;
        if object.contains_key("model_id") || object.contains_key("modelId") {
            config.add(value, "")?;
            return Ok(config);
        }
        let mut all = Map::new();
        for (key, value) in object {
            match snake(key).as_str() {
                "model_overrides" | "models" => {
                    let place = format!("/{key}");
                    let models = value.as_object().ok_or_else(|| expected("an object", &place))?;
                    for (pattern, value) in models {
                        let place = format!("{place}/{}", pattern.replace('~', "~0").replace('/', "~1"));
                        let settings = value.as_object().ok_or_else(|| expected("an object", &place))?;
                        config.models.push((pattern.clone(), Settings::read(settings, &place)?));
                    }
                }
                _ => drop(all.insert(key.clone(), value.clone())),
            }
        }
        config.all = Settings::read(&all, "").map_err(|mut error| {
            if error.message.contains(SETTINGS[0]) {
                error.message.push_str(", model_overrides");
            }
            error
        })?;
        Ok(config)
    }

    /// A configuration whose settings are for the model under `model_id`; `*` is all of them.
    fn add(&mut self, value: &Value, place: &str) -> Result<(), Error> {
        let mut object = value.as_object().ok_or_else(|| expected("an object", place))?.clone();
        let id = object.shift_remove("model_id").or_else(|| object.shift_remove("modelId"));
        let id = id.as_ref().and_then(Value::as_str).ok_or_else(|| expected("a model_id", place))?.to_owned();
        let settings = Settings::read(&object, place)?;
        self.models.push((id, settings));
        Ok(())
    }

    /// Returns this configuration with another on top: what the other decides counts.
    pub fn with(mut self, other: &Self) -> Self {
        let Settings {
            preferred_modes,
            expect_text_calls,
            dialect,
            max_retries,
            retry_with_different_format,
            strict_json_instructions,
            no_xml_instructions,
        } = other.all.clone();
        let own = self.all;
        self.all = Settings {
            preferred_modes: preferred_modes.or(own.preferred_modes),
            expect_text_calls: expect_text_calls.or(own.expect_text_calls),
            dialect: dialect.or(own.dialect),
            max_retries: max_retries.or(own.max_retries),
            retry_with_different_format: retry_with_different_format.or(own.retry_with_different_format),
            strict_json_instructions: strict_json_instructions.or(own.strict_json_instructions),
            no_xml_instructions: no_xml_instructions.or(own.no_xml_instructions),
        };
        self.models.extend(other.models.iter().cloned());
        self
    }

    /// Returns what is decided about a model: the settings of all, then those of each pattern that fits, the shortest first.
    pub fn model(&self, model: &str) -> ModelConfig {
        let mut config = ModelConfig::default();
        self.all.apply(&mut config);
        let mut fitting: Vec<_> = self.models.iter().filter(|(pattern, _)| fits(pattern, model)).collect();
        fitting.sort_by_key(|(pattern, _)| pattern.replace('*', "").len());
        for (_, settings) in fitting {
            settings.apply(&mut config);
        }
        config
    }
}

/// Whether a model's id is what a pattern with `*` says, with or without its maker.
fn fits(pattern: &str, model: &str) -> bool {
    let (pattern, model) = (pattern.to_lowercase(), model.to_lowercase());
    let bare = model.rsplit('/').next().unwrap_or_default();
    glob(&pattern, &model) || (!pattern.contains('/') && glob(&pattern, bare))
}

fn glob(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(first) else { return false };
    if !rest.contains('*') {
        return text.ends_with(rest);
    }
    // Matching each piece at its first position is enough.
    let piece = rest.split('*').next().unwrap_or_default();
    text.match_indices(piece).next().is_some_and(|(at, _)| glob(rest, text.get(at..).unwrap_or_default()))
}

/// `preferredModes` as `preferred_modes`.
fn snake(key: &str) -> String {
    let mut out = String::new();
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn expected(what: &str, place: &str) -> Error {
    Error::at(ErrorCode::BadOption, place, format!("{what} is needed here"))
}

fn unknown(key: &str, place: &str, known: &[&str]) -> Error {
    Error::at(ErrorCode::BadOption, place, format!("there is no setting {key:?}; there are {}", known.join(", ")))
}

fn boolean(value: &Value, place: &str) -> Result<bool, Error> {
    value.as_bool().ok_or_else(|| expected("true or false", place))
}

fn count(value: &Value, place: &str) -> Result<usize, Error> {
    let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
    count.ok_or_else(|| expected("a whole number from 0 on", place))
}

fn dialect(value: &Value, place: &str) -> Result<String, Error> {
    let name = value.as_str().ok_or_else(|| expected("a dialect's name", place))?;
    if name != "auto" {
        crate::dialect::Dialects::named(name).map_err(|error| Error::at(ErrorCode::BadOption, place, error.message))?;
    }
    Ok(name.to_owned())
}

fn mode_list(value: &Value, place: &str) -> Result<Vec<Mode>, Error> {
    let list = value.as_array().filter(|list| !list.is_empty()).ok_or_else(|| expected("a list of modes", place))?;
    let mode = |(number, word): (usize, &Value)| {
        let named = word.as_str().and_then(|word| {
            let word = if word == "native_tools" { "native" } else { word };
            Mode::ALL.iter().copied().find(|mode| mode.as_str() == word)
        });
        let words: Vec<_> = Mode::ALL.iter().map(|mode| mode.as_str()).collect();
        named.ok_or_else(|| {
            let message = format!("{word} is none of {}", words.join(", "));
            Error::at(ErrorCode::BadOption, format!("{place}/{number}"), message)
        })
    };
    list.iter().enumerate().map(mode).collect()
}
