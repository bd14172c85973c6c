//! Writing the declarations of a converted set, in the wrapper of its target ([`Shape`]).
use super::shape::{SaysStrict, Shape};
use super::target::Format;
use super::{Converted, openai};
use crate::schema::tool::FREEFORM;
use crate::schema::{Tool, ToolSet};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// One tool as the target wants it; what is the tool's own is not repeated.
#[derive(Debug)]
pub(super) struct Declared {
    pub tool: usize,
    /// Its name there, where that is not the tool's own.
    pub name: Option<String>,
    /// Its schema there, where that is not the tool's own.
    pub parameters: Option<Value>,
    /// The tool takes no arguments.
    pub empty: bool,
    pub strict: bool,
}

/// The declarations of a set in the target's shape, ready to be serialized to JSON, values or Python objects.
///
/// A list, as the provider's `tools` takes it.
#[derive(Debug, Clone, Copy)]
pub struct Declarations<'c> {
    set: &'c ToolSet,
    converted: &'c Converted,
    /// The positions of the tools that are declared, if not all are.
    only: Option<&'c [usize]>,
}

impl<'c> Declarations<'c> {
    pub(in crate::schema) fn new(set: &'c ToolSet, converted: &'c Converted) -> Self {
        Self { set, converted, only: None }
    }

    /// Those of the tools at these positions.
    #[must_use]
    pub(super) fn of(self, only: &'c [usize]) -> Self {
        Self { only: Some(only), ..self }
    }

    /// The declarations as a JSON value.
    pub fn to_value(self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The declaration of each tool as JSON text.
    pub(in crate::schema) fn each_json(self) -> Vec<Vec<u8>> {
        self.each().map(|declaration| serde_json::to_vec(&declaration).unwrap_or_default()).collect()
    }

    /// Each declaration with its tool, for writers that take them one by one.
    fn each(self) -> impl Iterator<Item = Declaration<'c>> {
        let meant = move |declared: &&Declared| self.only.is_none_or(|only| only.contains(&declared.tool));
        self.converted.declared.iter().filter(meant).filter_map(move |declared| {
            let tool = self.set.tools().get(declared.tool)?;
            Some(Declaration { tool, declared, converted: self.converted })
        })
    }
}

impl Serialize for Declarations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(key) = self.converted.target.shape().and_then(|shape| shape.group) else {
            return serializer.collect_seq(self.each());
        };
        let any = self.each().next().is_some();
        serializer.collect_seq(any.then_some(One(key, Group(*self))))
    }
}

/// An object of one member.
struct One<T>(&'static str, T);

impl<T: Serialize> Serialize for One<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(self.0, &self.1)?;
        map.end()
    }
}

/// The declarations without what they stand in.
struct Group<'c>(Declarations<'c>);

impl Serialize for Group<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.each())
    }
}

#[derive(Clone, Copy)]
struct Declaration<'c> {
    tool: &'c Tool,
    declared: &'c Declared,
    converted: &'c Converted,
}

impl Declaration<'_> {
    fn name(&self) -> &str {
        self.declared.name.as_deref().unwrap_or(&self.tool.name)
    }

    fn schema(&self) -> &Value {
        self.declared.parameters.as_ref().unwrap_or(&self.tool.schema)
    }

    /// The description, as long as the target takes it; nothing if it is empty.
    fn description(&self) -> Option<&str> {
        let text = self.tool.description.as_str();
        let text = match self.converted.target.longest_description() {
            Some(most) if text.len() > openai::MAX_DESCRIPTION => {
                text.char_indices().nth(most).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
            }
            _ => text,
        };
        (!text.is_empty()).then_some(text)
    }

    /// Name, description and schema.
    fn fields<M: SerializeMap>(&self, map: &mut M, shape: Shape) -> Result<(), M::Error> {
        self.head(map)?;
        let omitted = self.declared.empty && shape.omits_empty;
        match shape.schema_in {
            _ if omitted => {}
            Some(key) => map.serialize_entry(shape.schema, &One(key, self.schema()))?,
            None => map.serialize_entry(shape.schema, self.schema())?,
        }
        let said = match shape.strict {
            SaysStrict::Never => false,
            SaysStrict::Asked => self.converted.target.strict || self.declared.strict,
            SaysStrict::Always => true,
        };
        if said {
            map.serialize_entry("strict", &self.declared.strict)?;
        }
        let own = self.tool.source.extra.iter().filter(|(field, _)| self.converted.target.carries(field));
        own.into_iter().try_for_each(|(field, value)| map.serialize_entry(field, value))
    }

    fn head<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("name", self.name())?;
        match self.description() {
            Some(description) => map.serialize_entry("description", description),
            None => Ok(()),
        }
    }

    /// All that MCP said of the tool.
    fn mcp<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let fields = &self.tool.source.fields;
        map.serialize_entry("name", self.name())?;
        if let Some(title) = fields.get("title") {
            map.serialize_entry("title", title)?;
        }
        if let Some(description) = self.description() {
            map.serialize_entry("description", description)?;
        }
        map.serialize_entry("inputSchema", self.schema())?;
        let mut rest = fields.iter().filter(|(key, _)| *key != "title");
        rest.try_for_each(|(key, value)| map.serialize_entry(key, value))
    }
}

impl Serialize for Declaration<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let Some(shape) = self.converted.target.shape() else {
            self.mcp(&mut map)?;
            return map.end();
        };
        if let (Some(format), Format::OpenAiResponses) = (&self.tool.source.freeform, self.converted.target.format) {
            map.serialize_entry("type", FREEFORM)?;
            self.head(&mut map)?;
            if !format.is_null() {
                map.serialize_entry("format", format)?;
            }
            return map.end();
        }
        if shape.typed {
            map.serialize_entry("type", "function")?;
        }
        match shape.inside {
            Some(key) => map.serialize_entry(key, &Inside(*self, shape))?,
            None => self.fields(&mut map, shape)?,
        }
        map.end()
    }
}

/// What stands in the wrapper.
struct Inside<'c>(Declaration<'c>, Shape);

impl Serialize for Inside<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.fields(&mut map, self.1)?;
        map.end()
    }
}
