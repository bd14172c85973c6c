//! What capabilities belong to: a base URL and a model.
use super::rows::{self, Provider};

/// A base URL and a model. Routes with the same [`Route::key`] are the same one, however their URLs are spelt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Route {
    base: String,
    model: String,
}

/// What requests are sent to below a base URL: some settings want it in the URL.
const ENDPOINTS: [&str; 5] = ["/chat/completions", "/completions", "/responses", "/messages", "/embeddings"];

/// Names of the machine itself.
const LOCAL: [&str; 3] = ["127.0.0.1", "[::1]", "0.0.0.0"];

impl Route {
    /// The route of `model` at a base URL; without one, what is known of the model wherever it is.
    ///
    /// User and password, query and the endpoint's own path are left out of the URL, and the names of the machine itself are
    /// one name.
    pub fn new(base_url: Option<&str>, model: &str) -> Self {
        Self { base: base_url.map(plain).unwrap_or_default(), model: model.trim().to_owned() }
    }

    /// The base URL as it is compared; empty where none was given.
    pub fn base_url(&self) -> &str {
        &self.base
    }

    /// The model's id as it was given.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// What the route is stored under.
    pub fn key(&self) -> String {
        format!("{} {}", self.base, self.model)
    }

    /// Host and port of the base URL.
    pub(super) fn host(&self) -> &str {
        let behind = self.base.split_once("://").map_or(&*self.base, |(_, rest)| rest);
        behind.split('/').next().unwrap_or_default()
    }

    /// The API or server that is known to answer at the base URL.
    pub fn provider(&self) -> Option<Provider> {
        rows::provider_at(self.host())
    }
}

fn plain(url: &str) -> String {
    let url = url.trim().split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    let scheme = scheme.to_ascii_lowercase();
    let default_port = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(default_port).unwrap_or(&host);
    let local = LOCAL.iter().find_map(|name| host.strip_prefix(name));
    let host = match local {
        Some(port) if port.is_empty() || port.starts_with(':') => format!("localhost{port}"),
        _ => host.to_owned(),
    };
    let mut path = path.trim_end_matches('/');
    for endpoint in ENDPOINTS {
        path = path.strip_suffix(endpoint).unwrap_or(path);
    }
    format!("{scheme}://{host}{}", path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn urls_of_one_place_are_one_route() {
        for (url, base) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            ("https://API.OpenAI.com:443/v1/", "https://api.openai.com/v1"),
            ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
            ("https://user:secret@host/v1?key=secret#x", "https://host/v1"),
            ("http://127.0.0.1:8080/v1", "http://localhost:8080/v1"),
            ("http://[::1]:8080/v1", "http://localhost:8080/v1"),
            ("http://127.0.0.11/v1", "http://127.0.0.11/v1"),
            ("localhost:11434/v1/", "http://localhost:11434/v1"),
            ("", "http://"),
        ] {
            assert_eq!(Route::new(Some(url), "m").base_url(), base, "{url}");
        }
        assert_eq!(Route::new(None, " m ").key(), " m");
    }
}
