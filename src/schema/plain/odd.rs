//! Tools between plain ones that are not plain: only they are read, converted and written at length.
use crate::schema::convert::Target;
use crate::schema::{Builder, ToolSet};
use serde_json::Value;
use std::collections::HashSet;
use std::ops::Range;

/// Items of a list of tools that is plain otherwise.
#[derive(Debug, Default)]
pub(crate) struct Odd {
    set: ToolSet,
    /// Where the tools of each item end: an item may hold none (it is disabled) or several.
    ends: Vec<usize>,
    /// Not one of them is a tool.
    #[cfg_attr(not(feature = "python"), expect(dead_code, reason = "whoever reads JSON keeps problems"))]
    refused: bool,
}

impl Odd {
    /// Reads the items. `None` if they cannot be told apart from the others: a name is taken by one of the `plain` tools,
    /// or by two of them.
    pub(crate) fn read(items: impl IntoIterator<Item = Value>, plain: &HashSet<&str>) -> Option<Self> {
        let mut builder = Builder::default();
        let mut ends = Vec::new();
        for item in items {
            builder.item(None, Ok(item));
            ends.push(builder.len());
        }
        let count = builder.len();
        let (set, refused) = builder.finish().map_or_else(|_| (ToolSet::default(), true), |set| (set, false));
        // What a name is written as depends on the names that are taken: here these are looked at only together.
        let free = |(i, tool): (usize, &crate::schema::Tool)| {
            !plain.contains(tool.name.as_str()) && set.safe_name(i).is_some_and(|name| !plain.contains(name))
        };
        let apart = set.tools().len() == count && set.tools().iter().enumerate().all(free);
        apart.then_some(Self { set, ends, refused })
    }

    /// Whether something is wrong with one of them.
    #[cfg(feature = "python")]
    pub(crate) fn has_problems(&self) -> bool {
        self.refused || !self.set.problems().is_empty()
    }

    /// How many tools there are.
    #[cfg(feature = "python")]
    pub(crate) fn len(&self) -> usize {
        self.set.tools().len()
    }

    /// For each item the declarations of its tools as JSON text, separated by commas.
    pub(crate) fn written(&self, target: &Target) -> Vec<Vec<u8>> {
        if self.ends.is_empty() {
            return Vec::new();
        }
        let converted = self.set.to(target);
        let declarations = self.set.declarations(&converted).each_json();
        let of_item = |tools: Range<usize>| declarations.get(tools).unwrap_or_default().join(&b","[..]);
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(start, end)| of_item(*start..*end)).collect()
    }

    /// Whether so many odd items between so many tools are worth the way apart.
    pub(crate) fn few(odd: usize, all: usize) -> bool {
        odd * 4 <= all
    }
}
