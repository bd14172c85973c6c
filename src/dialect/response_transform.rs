//! What a `response_template` makes of the parts of a call: its `transform` says which of them are name, id and arguments.
use super::keys::Key;
use serde_json::{Map, Value};

/// The parts that the members of a call are taken from, as paths: the group of a pattern, or `content` and the keys in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Parts<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) id: Option<&'t str>,
    arguments: Option<&'t str>,
    /// The template is applied to each element of a list, whose keys stand alone then.
    each: bool,
}

/// All of `text` is one placeholder: the path in it.
fn placeholder(text: &Value) -> Option<&str> {
    let path = text.as_str()?.strip_prefix('{')?.strip_suffix('}')?;
    path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.')).then_some(path)
}

impl<'t> Parts<'t> {
    /// Reads the `transform` of a `field`. Where there is none, or what was read is taken as it is, all are `None`.
    pub(super) fn of(field: &'t Value) -> Result<Self, String> {
        let mut parts = Self { each: field.get("transform_each") == Some(&Value::Bool(true)), ..Self::default() };
        match field.get("transform") {
            None | Some(Value::Null) => {}
            Some(whole) if placeholder(whole) == Some("content") => {}
            Some(Value::Object(members)) => parts.members(members)?,
            Some(other) => return Err(format!("the transform {other} makes no call")),
        }
        Ok(parts)
    }

    fn members(&mut self, members: &'t Map<String, Value>) -> Result<(), String> {
        for (key, value) in members {
            let part = match (Key::of(key), value) {
                (Key::Function, Value::Object(inner)) => {
                    self.members(inner)?;
                    continue;
                }
                // `{"type": "function", "function": "{content}"}`
                (Key::Function, value) if placeholder(value) == Some("content") => continue,
                (Key::Name, _) => &mut self.name,
                (Key::Arguments, _) => &mut self.arguments,
                (Key::Id, _) => &mut self.id,
                (_, value) if !value.to_string().contains('{') => continue,
                _ => return Err(format!("the member {key:?} of the transform has no counterpart")),
            };
            let path = placeholder(value);
            *part =
                Some(path.ok_or_else(|| format!("the transform makes {key:?} of {value}, which is no part alone"))?);
        }
        Ok(())
    }

    /// What a group of a pattern is in a call, if the transform says it.
    pub(super) fn hole(&self, group: &str) -> Option<&'static str> {
        if self.name == Some(group) { Some("name") } else { (self.id == Some(group)).then_some("id") }
    }

    /// Whether calls that are read by the dialect are what the transform makes of them: `named` if the name stands before the
    /// arguments and not in them.
    pub(super) fn check(&self, named: bool) -> Result<(), String> {
        let known = |path: Option<&str>, key: Key| path.is_none_or(|path| self.is_known(path, key));
        let arguments = if named {
            self.arguments.is_none_or(|path| path == "content")
        } else {
            known(self.arguments, Key::Arguments)
        };
        let name = if named {
            !self.name.is_some_and(|path| path.contains('.') || path == "content")
        } else {
            known(self.name, Key::Name)
        };
        if arguments && name {
            return Ok(());
        }
        let wrong = if arguments { self.name } else { self.arguments };
        Err(format!("the transform takes {{{}}}, which has no counterpart", wrong.unwrap_or_default()))
    }

    /// The last key of `path` is one by which JSON calls have their name, or whatever `key` is, and those before it lead there.
    fn is_known(&self, path: &str, key: Key) -> bool {
        let inner = if self.each { Some(path) } else { path.strip_prefix("content.") };
        let Some(inner) = inner else { return false };
        let (before, last) = inner.rsplit_once('.').unwrap_or(("", inner));
        Key::of(last) == key && (before.is_empty() || before.split('.').all(|key| Key::of(key) == Key::Function))
    }
}
