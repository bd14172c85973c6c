//! What single routes do with what their API's format says: each a row with its source.

/// Routes that write the characters of arguments as entities (`&amp;&amp;` for `&&`), so that one decoding is due there, and
/// nowhere else. Source: openclaw#35276 and #90260, deepagents#2954, AgenC#1280.
const ENTITIES: [&str; 2] = ["xai", "venice"];

/// Whether the route called `name` writes the characters of arguments as entities.
///
/// ```
/// assert!(toolglot::provider::writes_entities("xAI"));
/// assert!(!toolglot::provider::writes_entities("openai"));
/// ```
pub fn writes_entities(name: &str) -> bool {
    ENTITIES.iter().any(|route| name.trim().eq_ignore_ascii_case(route))
}
