//! Tools in each provider's shape: schemas rewritten by the target's profile, names legal there, every loss noted.
mod anthropic;
mod bedrock;
mod budget;
mod cohere;
mod declare;
mod gemini;
mod keywords;
mod llama_cpp;
mod loss;
mod merge;
mod mistral;
mod ollama;
mod openai;
mod openrouter;
mod profile;
mod root;
mod shape;
mod target;
mod untouched;
mod walk;

pub use declare::Declarations;
pub use loss::{Loss, LossKind};
pub(in crate::schema) use target::is_carried;
pub use target::{Format, GeminiSchema, Target};
pub(in crate::schema) use untouched::is_clean;

use super::ToolSet;
use super::clean::clean_for_reading;
use super::plain::PlainTools;
use crate::error::{Error, ErrorCode};
use declare::Declared;
use profile::Profile;
pub(super) use profile::PropertyNames;
use serde_json::Value;
#[cfg(feature = "python")]
pub(crate) use shape::{Shape, Strict as SaysStrict};
use std::borrow::Cow;
use walk::Walk;

/// All tools of a set as one target wants them.
#[derive(Debug)]
pub struct Converted {
    pub(super) target: Target,
    declared: Vec<Declared>,
    /// Everything that the target is told less exactly, or not at all.
    pub losses: Vec<Loss>,
}

/// Tools in JSON text as the JSON text that goes into a request to `target`. What is taken as it is is only copied.
///
/// # Errors
/// [`ErrorCode::BadJson`], and as [`ToolSet::from_json`].
///
/// ```
/// use toolglot::schema::convert::{Format, Target, json_to_json};
/// let tools = r#"[{"name": "now", "inputSchema": {"type": "object", "properties": {}}}]"#;
/// let told = json_to_json(tools, &Target::new(Format::Anthropic))?;
/// assert_eq!(told, br#"[{"name":"now","input_schema":{"type": "object", "properties": {}}}]"#);
/// # Ok::<(), toolglot::Error>(())
/// ```
pub fn json_to_json(tools: &str, target: &Target) -> Result<Vec<u8>, Error> {
    let plain = PlainTools::read(tools);
    if let Some(written) = plain.as_ref().and_then(|plain| plain.declarations(tools.as_bytes(), target)) {
        return Ok(written.pieces().collect::<Vec<_>>().concat());
    }
    let set = ToolSet::from_json(tools)?;
    let json = serde_json::to_vec(&set.declarations(&set.to(target)));
    json.map_err(|e| Error::new(ErrorCode::BadTool, e.to_string()))
}

/// Converts the whole set. [`ToolSet::to`] keeps the result.
pub(super) fn convert(set: &ToolSet, target: &Target) -> Converted {
    let loose = target.profile();
    let strict = target.strict_profile();
    let mut strict_room = strict.map(|profile| (profile, target.strict_limits()));
    let mut converted = Converted { target: target.clone(), declared: Vec::new(), losses: Vec::new() };
    for (i, tool) in set.tools().iter().enumerate() {
        let mut declared = Declared { tool: i, name: None, parameters: None, empty: false, strict: false };
        let mut losses: Vec<(String, LossKind, String)> = Vec::new();
        let spelling = target.spelling(set, i);
        if spelling != tool.name {
            losses.push((String::new(), LossKind::Renamed, format!("told to the provider as {spelling:?}")));
            declared.name = Some(spelling.to_owned());
        }
        let mut written = None;
        let wanted = target.strict || tool.source.strict == Some(true);
        if wanted && strict.is_none() {
            losses.push((String::new(), LossKind::NotStrict, "the target has no strict mode".to_owned()));
        }
        if let Some((profile, limits)) = strict_room.as_mut().filter(|_| wanted) {
            let mut walked = write(&tool.schema, profile, target.describe);
            if walked.not_strict.is_none() {
                walked.not_strict = limits.take(&walked.schema);
            }
            match walked.not_strict.take() {
                None => {
                    declared.strict = true;
                    written = Some(walked);
                }
                Some(reason) => losses.push((String::new(), LossKind::NotStrict, reason)),
            }
        }
        if written.is_none() && !untouched::fits(&tool.schema, loose) {
            written = Some(write(&tool.schema, loose, target.describe));
        }
        if let Some(walked) = written {
            losses.extend(walked.losses);
            declared.parameters = Some(walked.schema);
        }
        declared.empty = takes_nothing(declared.parameters.as_ref().unwrap_or(&tool.schema));
        if let Some(longest) = target.longest_description().filter(|max| tool.description.chars().count() > *max) {
            losses.push((
                String::new(),
                LossKind::Rewritten,
                format!("the description was cut to {longest} characters"),
            ));
        }
        if !tool.source.fields.is_empty() && target.format != Format::Mcp {
            for field in tool.source.fields.keys() {
                losses.push((
                    String::new(),
                    LossKind::Dropped,
                    format!("MCP's `{field}` has no place at this provider"),
                ));
            }
        }
        for field in tool.source.extra.keys().filter(|field| !target.carries(field)) {
            losses.push((String::new(), LossKind::Dropped, format!("`{field}` has no place at this provider")));
        }
        let tool = &tool.name;
        converted.losses.extend(losses.into_iter().map(|(pointer, kind, message)| Loss {
            tool: tool.clone(),
            pointer,
            kind,
            message,
        }));
        converted.declared.push(declared);
    }
    if let Some(budget) = target.budget() {
        budget::shrink(set, &mut converted, budget);
    }
    converted
}

/// One schema, written.
struct Written {
    schema: Value,
    losses: Vec<(String, LossKind, String)>,
    not_strict: Option<String>,
}

fn write(schema: &Value, profile: &Profile, describe: bool) -> Written {
    let (clean, notes) = if is_clean(schema) {
        (Cow::Borrowed(schema), Vec::new())
    } else {
        let (clean, notes) = clean_for_reading(schema);
        (Cow::Owned(clean), notes)
    };
    let mut walk = Walk::new(profile, &clean, describe);
    let root = walk.root_object(&clean);
    let schema = walk.document(root);
    let mut losses: Vec<_> = notes.into_iter().map(|note| (note.place, LossKind::Rewritten, note.reason)).collect();
    losses.append(&mut walk.losses);
    Written { schema, losses, not_strict: walk.not_strict }
}

/// The schema under the names that a target is told of properties which takes such `names`; nothing else in it is another.
fn respelt(schema: &Value, names: PropertyNames) -> Value {
    let profile = Profile { root_unions: true, items: false, properties: names, ..Profile::OPEN };
    write(schema, &profile, false).schema
}

fn takes_nothing(schema: &Value) -> bool {
    schema.get("properties").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty)
        && !schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false))
        && !schema.get("patternProperties").is_some_and(Value::is_object)
}
