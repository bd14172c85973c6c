//! The rows of `rows.json`: which API answers where, and what servers and families of models are known for, each with its source.
use super::name::{is_of, key};
use super::{Capability, Date, Support};
use once_cell::sync::Lazy;
use serde::Deserialize;
use std::collections::BTreeMap;

const TEXT: &str = include_str!("rows.json");

static FILE: Lazy<File> = Lazy::new(|| {
    // A test reads the file strictly, so this is never taken in a released build.
    let mut file: File = serde_json::from_str(TEXT).unwrap_or_default();
    for fragment in file.rows.iter_mut().flat_map(|row| row.models.iter_mut().chain(&mut row.except)) {
        *fragment = key(fragment);
    }
    file
});

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    date: String,
    providers: Vec<Place>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    name: String,
    urls: Vec<String>,
    /// Whether Chat Completions are spoken below the base URL that its clients take.
    #[serde(default = "yes")]
    chat: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Row {
    provider: Option<String>,
    #[serde(default)]
    models: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    source: String,
    #[serde(flatten)]
    values: BTreeMap<String, String>,
}

/// An API or server, by its name in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Provider(&'static str);

impl Provider {
    /// Its name: `openai`, `openrouter`, `ollama`.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Whether Chat Completions are spoken below its base URL.
    pub(super) fn speaks_chat(self) -> bool {
        FILE.providers.iter().find(|place| place.name == self.0).is_none_or(|place| place.chat)
    }

    pub(super) const fn named(name: &'static str) -> Self {
        Self(name)
    }
}

/// Returns who answers at a host and port.
pub(super) fn provider_at(host: &str) -> Option<Provider> {
    let name = host.split(':').next().unwrap_or_default();
    let at = |url: &String| matches(url, if url.contains(':') { host } else { name });
    FILE.providers.iter().find(|place| place.urls.iter().any(at)).map(|place| Provider(&place.name))
}

/// Whether a host is what a pattern with at most one `*` says.
fn matches(pattern: &str, host: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, behind)) => {
            host.len() >= before.len() + behind.len() && host.starts_with(before) && host.ends_with(behind)
        }
        None => pattern == host,
    }
}

/// How much a row speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// A family of models at one API.
    Here,
    /// An API or server, whatever the model.
    Server,
    /// A family of models, wherever it is.
    Family,
}

/// The rows that are about a route.
pub(super) struct Fitting(Vec<(Scope, &'static Row)>);

/// Returns the rows about a model at an API. `bare` is the model's bare name.
pub(super) fn fitting(provider: Option<Provider>, bare: &str) -> Fitting {
    let fits = |row: &&Row| {
        let here = row.provider.is_none() || row.provider.as_deref() == provider.map(Provider::name);
        let model = row.models.is_empty() || row.models.iter().any(|fragment| is_of(bare, fragment));
        here && model && !row.except.iter().any(|fragment| is_of(bare, fragment))
    };
    let scope = |row: &Row| match (row.provider.is_some(), row.models.is_empty()) {
        (true, false) => Scope::Here,
        (true, true) => Scope::Server,
        (false, _) => Scope::Family,
    };
    Fitting(FILE.rows.iter().filter(fits).map(|row| (scope(row), row)).collect())
}

impl Fitting {
    /// Returns what the rows of a scope say of a capability, and their source.
    pub(super) fn said(&self, scope: Scope, capability: Capability) -> Option<(Support, &'static str)> {
        self.0.iter().filter(|(of, _)| *of == scope).find_map(|(_, row)| {
            let value = row.values.get(capability.as_str())?;
            Some((Support::from_word(value)?, &*row.source))
        })
    }
}

/// The day on which the rows were last gone through.
pub(super) fn date() -> Option<Date> {
    Date::parse(&FILE.date)
}

#[cfg(test)]
mod tests {
    use super::{FILE, File, TEXT, matches};
    use crate::exchange::capability::{Capability, Date, Support};

    #[test]
    fn every_row_is_read_and_has_a_source() {
        let file: File = serde_json::from_str(TEXT).expect("rows.json cannot be read");
        assert!(Date::parse(&file.date).is_some());
        assert!(!FILE.providers.is_empty());
        for row in &file.rows {
            assert!(row.source.len() > 10, "{:?}", row.values);
            assert!(!row.values.is_empty() && (row.provider.is_some() || !row.models.is_empty()), "{}", row.source);
            for (capability, value) in &row.values {
                assert!(Capability::ALL.iter().any(|known| known.as_str() == capability), "{capability}");
                assert!(matches!(Support::from_word(value), Some(value) if value != Support::Unknown), "{value}");
            }
        }
        for place in &file.providers {
            assert!(place.urls.iter().all(|url| url.matches('*').count() <= 1), "{}", place.name);
        }
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches("*.openai.azure.com", "mine.openai.azure.com"));
        assert!(matches("bedrock-runtime.*.amazonaws.com", "bedrock-runtime.eu-west-1.amazonaws.com"));
        assert!(!matches("*.openai.azure.com", "openai.azure.com.evil.org"));
        assert!(!matches("api.openai.com", "api.openai.com.evil.org"));
    }
}
