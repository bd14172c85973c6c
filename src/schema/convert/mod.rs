//! Tools in each provider's shape: schemas rewritten by the target's profile, names legal there, every loss noted.
mod answer;
mod anthropic;
mod bedrock;
mod budget;
mod choice;
mod cohere;
mod declare;
mod gemini;
mod keywords;
mod llama_cpp;
mod loss;
mod members;
mod merge;
mod mistral;
mod moonshot;
mod ollama;
mod openai;
mod openrouter;
mod profile;
mod root;
mod shape;
mod target;
mod untouched;
mod walk;

pub use choice::{Choice, ToolChoice};
pub use declare::Declarations;
pub use loss::{Loss, LossKind};
pub(in crate::schema) use target::is_carried;
pub use target::{Format, GeminiSchema, Target};
pub(in crate::schema) use untouched::is_clean;

use super::clean::{Note, clean_for_reading};
use super::plain::PlainTools;
use super::{Tool, ToolSet};
use crate::error::{Error, ErrorCode};
use budget::StrictLimits;
use declare::Declared;
use loss::Change;
use profile::Profile;
pub(super) use profile::PropertyNames;
use serde_json::Value;
#[cfg(feature = "python")]
pub(crate) use shape::{SaysStrict, Shape};
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
    let mut converted = Converted { target: target.clone(), declared: Vec::new(), losses: Vec::new() };
    let mut room = target.strict_limits();
    for (i, tool) in set.tools().iter().enumerate() {
        let mut declared = Declared { tool: i, name: None, parameters: None, empty: false, strict: false };
        let mut changes = Vec::new();
        let spelling = target.spelling(set, i);
        if spelling != tool.name {
            changes.push(Change::of_tool(LossKind::Renamed, format!("told to the provider as {spelling:?}")));
            declared.name = Some(spelling.to_owned());
        }
        let strict = strictly(tool, target, &mut room, &mut changes);
        declared.strict = strict.is_some();
        let loose = target.profile();
        let written = strict
            .or_else(|| (!untouched::fits(&tool.schema, loose)).then(|| write(&tool.schema, loose, target.describe)));
        if let Some(written) = written {
            changes.extend(written.changes);
            declared.parameters = Some(written.schema);
        }
        declared.empty = takes_nothing(declared.parameters.as_ref().unwrap_or(&tool.schema));
        left_out(tool, target, &mut changes);
        converted.losses.extend(changes.into_iter().map(|change| change.loss_of(&tool.name)));
        converted.declared.push(declared);
    }
    if let Some(budget) = target.budget() {
        budget::shrink(set, &mut converted, budget);
    }
    converted
}

/// The schema of `tool` in strict mode, where that is wanted, the target has one and the schema can be said in it.
fn strictly(tool: &Tool, target: &Target, room: &mut StrictLimits, changes: &mut Vec<Change>) -> Option<Written> {
    if !target.strict && tool.source.strict != Some(true) {
        return None;
    }
    let Some(profile) = target.strict_profile() else {
        changes.push(Change::of_tool(LossKind::NotStrict, "the target has no strict mode".to_owned()));
        return None;
    };
    let mut written = write(&tool.schema, profile, target.describe);
    match written.not_strict.take().or_else(|| room.take(&written.schema)) {
        None => Some(written),
        Some(reason) => {
            changes.push(Change::of_tool(LossKind::NotStrict, reason));
            None
        }
    }
}

/// What of the tool beside its name and schema has no place at the target.
fn left_out(tool: &Tool, target: &Target, changes: &mut Vec<Change>) {
    if let Some(longest) = target.longest_description().filter(|max| tool.description.chars().count() > *max) {
        let message = format!("the description was cut to {longest} characters");
        changes.push(Change::of_tool(LossKind::Rewritten, message));
    }
    let left = |kind, what: String| Change::of_tool(kind, format!("{what} has no place at this provider"));
    if target.format != Format::Mcp {
        let fields = tool.source.fields.keys();
        changes.extend(fields.map(|field| left(LossKind::Metadata, format!("MCP's `{field}`"))));
    }
    let extra = tool.source.extra.keys().filter(|field| !target.carries(field));
    changes.extend(extra.map(|field| left(LossKind::Dropped, format!("`{field}`"))));
}

/// One schema, written.
struct Written {
    schema: Value,
    changes: Vec<Change>,
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
    let note = |note: Note| Change { pointer: note.place, kind: LossKind::Rewritten, message: note.reason };
    let mut changes: Vec<_> = notes.into_iter().map(note).collect();
    changes.append(&mut walk.changes);
    Written { schema, changes, not_strict: walk.not_strict }
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
