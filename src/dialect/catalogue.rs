//! The rows of `catalogue.json`, and finding the one that a name means.
use super::{Dialect, Dialects, Form};
use crate::error::{Error, ErrorCode};
use once_cell::sync::{Lazy, OnceCell};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

static ROWS: Lazy<Vec<Arc<Dialect>>> = Lazy::new(|| {
    let rows: Vec<Dialect> = serde_json::from_str(include_str!("catalogue.json")).unwrap_or_default();
    rows.into_iter()
        .map(|mut row| {
            // The catalogue stays for good, so that a turn names its dialect without a copy.
            row.name = Cow::Borrowed(row.name.into_owned().leak());
            Arc::new(respelt(row))
        })
        .collect()
});

/// How wide bars and blanks come out where they are no single token: as ASCII's, or doubled.
const SPELLINGS: [(&str, &str); 3] = [("|", "▁"), ("|", "_"), ("｜｜", "▁")];

/// The row, and its markers with wide bars in all their spellings.
fn respelt(mut row: Dialect) -> Dialect {
    fn each(text: &str) -> impl Iterator<Item = String> {
        let wide = text.contains('｜');
        let spelt = SPELLINGS.iter().map(move |(bar, blank)| text.replace('｜', bar).replace('▁', blank));
        spelt.filter(move |other| wide && other != text)
    }
    for list in [&mut row.calls, &mut row.parameters, &mut row.tokens] {
        for text in std::mem::take(list) {
            let others: Vec<_> = each(&text).collect();
            list.push(text);
            others.into_iter().for_each(|other| {
                if !list.contains(&other) {
                    list.push(other)
                }
            });
        }
    }
    for (open, close) in std::mem::take(&mut row.sections) {
        let others: Vec<_> = each(&open).zip(each(&close)).collect();
        row.sections.push((open, close));
        others.into_iter().for_each(|other| {
            if !row.sections.contains(&other) {
                row.sections.push(other)
            }
        });
    }
    row
}

/// Names as written to the row they mean; filled once from the catalogue.
static NAMES: Lazy<HashMap<String, usize>> = Lazy::new(|| {
    let mut names = HashMap::new();
    for (i, row) in ROWS.iter().enumerate() {
        names.insert(key(&row.name), i);
    }
    for (i, row) in ROWS.iter().enumerate() {
        for parser in &row.parsers {
            names.entry(key(parser)).or_insert(i);
        }
    }
    names
});

static COMPILED: Lazy<Vec<OnceCell<Arc<Dialects>>>> = Lazy::new(|| ROWS.iter().map(|_| OnceCell::new()).collect());

/// Every dialect, in the order of precedence.
pub fn catalogue() -> &'static [Arc<Dialect>] {
    &ROWS
}

fn key(name: &str) -> String {
    name.chars().map(|c| if matches!(c, '/' | '_' | ' ') { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn row_of(name: &str) -> Option<usize> {
    let name = key(name.strip_suffix(".jinja").unwrap_or(name));
    if let Some(i) = NAMES.get(&name) {
        return Some(*i);
    }
    // A model id: the longest fragment in it decides.
    let fragments = ROWS.iter().enumerate().flat_map(|(i, row)| row.models.iter().map(move |m| (m, i)));
    fragments.filter(|(m, _)| name.contains(m.as_str())).max_by_key(|(m, _)| m.len()).map(|(_, i)| i)
}

/// How models of that name write calls, where it is not as the example of their row.
pub(crate) fn form(name: &str) -> Option<&'static Form> {
    let row = ROWS.get(row_of(name)?)?;
    let name = key(name);
    let longest = |names: &[String]| names.iter().map(|n| key(n)).filter(|n| name.contains(n)).map(|n| n.len()).max();
    let form =
        row.forms.iter().filter_map(|form| Some((longest(&form.names)?, form))).max_by_key(|(length, _)| *length);
    form.filter(|(length, _)| longest(&row.models).is_none_or(|own| own <= *length)).map(|(_, form)| form)
}

/// The dialect that `name` means, ready to use: its own name, a parser's name, or a model id.
///
/// # Errors
/// [`ErrorCode::UnknownDialect`] if there is none; the message lists some that are.
pub fn find(name: &str) -> Result<Arc<Dialects>, Error> {
    // The spelling of the catalogue itself needs no normalising.
    let row = NAMES.get(name).copied().or_else(|| row_of(name));
    let Some((row, cell)) = row.and_then(|i| Some((ROWS.get(i)?, COMPILED.get(i)?))) else {
        let known: Vec<&str> = ROWS.iter().take(8).map(|r| &*r.name).collect();
        let message = format!(
            "unknown dialect {name:?}: known are \"auto\", {}, ... and the ids of their models",
            known.join(", ")
        );
        return Err(Error::new(ErrorCode::UnknownDialect, message));
    };
    cell.get_or_try_init(|| Dialects::compile(std::slice::from_ref(row), false).map(Arc::new)).cloned()
}
