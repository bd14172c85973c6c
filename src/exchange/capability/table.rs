//! The table that `tools/capabilities.py` makes of what two packages list about models.
//!
//! Its first lines name the packages, with version and date. Lines after `@openai` are routes of that API, lines after `@*` models
//! without their makers, wherever they are. A line has the letters of five values, the size of the context behind its letter, and the
//! models that have these. A letter names the list that has the value: `L` litellm, `M` models.dev, `B` both; upper case is yes, lower case
//! no, `?` where they contradict each other, `-` where neither says anything.
use super::name::spellings;
use super::{Capability, Date, Provider, Support};
use once_cell::sync::Lazy;
use std::collections::HashMap;

const TEXT: &str = include_str!("table.tsv");

/// The capabilities of the columns.
const COLUMNS: [Capability; 5] = [
    Capability::NativeTools,
    Capability::ParallelCalls,
    Capability::ToolChoice,
    Capability::JsonSchema,
    Capability::Reasoning,
];

/// Models of one API by their spelling.
type Models = HashMap<&'static str, Row>;

static TABLE: Lazy<Table> = Lazy::new(|| {
    let mut table = Table { packages: Vec::new(), sections: HashMap::new() };
    let mut section = "";
    for line in TEXT.lines() {
        if let Some(name) = line.strip_prefix('@') {
            section = name;
            continue;
        }
        let mut columns = line.splitn(3, '\t');
        let (Some(first), Some(second), Some(third)) = (columns.next(), columns.next(), columns.next()) else {
            continue;
        };
        if section.is_empty() {
            table.packages.push((first, second, Date::parse(third)));
            continue;
        }
        let context = second.split_at_checked(1).and_then(|(letter, size)| {
            let votes = Votes::of(letter.chars().next()?)?;
            Some((size.parse().ok()?, votes))
        });
        let row = Row { letters: first, context };
        table.sections.entry(section).or_default().extend(third.split(' ').map(|model| (model, row)));
    }
    table
});

struct Table {
    packages: Vec<(&'static str, &'static str, Option<Date>)>,
    sections: HashMap<&'static str, Models>,
}

/// The packages that the table is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Votes {
    /// litellm's list alone.
    Litellm,
    /// models.dev's list alone.
    ModelsDev,
    /// Both lists, which agree.
    Both,
}

impl Votes {
    const fn of(letter: char) -> Option<Self> {
        match letter {
            'B' => Some(Self::Both),
            'L' => Some(Self::Litellm),
            'M' => Some(Self::ModelsDev),
            _ => None,
        }
    }

    /// The packages' names with their versions.
    pub fn names(self) -> String {
        let asked = TABLE.packages.iter().enumerate().filter(|(number, _)| match self {
            Self::Litellm => *number == 0,
            Self::ModelsDev => *number == 1,
            Self::Both => true,
        });
        asked.map(|(_, (name, version, _))| format!("{name} {version}")).collect::<Vec<_>>().join(" and ")
    }

    /// The day of the older of them.
    pub(super) fn date(self) -> Option<Date> {
        let dates = TABLE.packages.iter().map(|(_, _, date)| *date);
        match self {
            Self::Litellm => dates.take(1).flatten().min(),
            Self::ModelsDev => dates.skip(1).flatten().min(),
            Self::Both => dates.flatten().min(),
        }
    }
}

/// What the table says of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Value(Support, Votes),
    /// The packages contradict each other.
    Doubt,
}

/// What is listed of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    letters: &'static str,
    pub(super) context: Option<(u64, Votes)>,
}

impl Row {
    pub(super) fn get(self, capability: Capability) -> Option<Said> {
        let column = COLUMNS.iter().position(|known| *known == capability)?;
        let letter = self.letters.chars().nth(column)?;
        let value = if letter.is_ascii_uppercase() { Support::Yes } else { Support::No };
        if letter == '?' {
            return Some(Said::Doubt);
        }
        Some(Said::Value(value, Votes::of(letter.to_ascii_uppercase())?))
    }
}

/// Returns what is listed of a model at an API.
pub(super) fn route(provider: Provider, model: &str) -> Option<Row> {
    find(provider.name(), model)
}

/// Returns what is listed of a model on all routes together.
pub(super) fn model(model: &str) -> Option<Row> {
    find("*", model)
}

fn find(section: &str, model: &str) -> Option<Row> {
    let models = TABLE.sections.get(section)?;
    spellings(model).iter().find_map(|spelling| models.get(&**spelling)).copied()
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, TABLE, TEXT};

    #[test]
    fn every_line_is_read() {
        let names: Vec<_> = TABLE.packages.iter().map(|(name, _, date)| (*name, date.is_some())).collect();
        assert_eq!(names, [("litellm", true), ("models.dev", true)]);
        let rows = TEXT.lines().skip(2).filter(|line| !line.starts_with('@'));
        for line in rows {
            let letters = line.split('\t').next().unwrap_or_default();
            assert!(letters.len() == COLUMNS.len() && letters.chars().all(|c| "BbLlMm?-".contains(c)), "{line}");
            assert_eq!(line.split('\t').count(), 3, "{line}");
        }
        assert!(TABLE.sections.values().map(std::collections::HashMap::len).sum::<usize>() > 3000);
        assert!(TEXT.len() < 200_000, "the extension grows with it");
    }
}
