//! The rows of `catalogue.json`, and finding the one that a name means.
use super::{Dialect, Dialects, Form};
use crate::error::{Error, ErrorCode};
use once_cell::sync::{Lazy, OnceCell};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

const TEXT: &str = include_str!("catalogue.json");

/// Names of whole families, without a version.
const FAMILIES: &str = include_str!("families.json");

/// What a family's name means: all that its models have written, and of what was written alike the newest first.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    names: Vec<String>,
    /// Where the facts come from.
    #[allow(dead_code)]
    source: String,
    dialects: Vec<String>,
}

/// Of each such name, the rows.
static FAMILY: Lazy<HashMap<String, Vec<usize>>> = Lazy::new(|| {
    // The test below reads it, so that this is never empty in a released build.
    let families: Vec<Family> = serde_json::from_str(FAMILIES).unwrap_or_default();
    let row = |name: &String| ROWS.iter().position(|row| row.name == *name);
    let rows = |family: &Family| family.dialects.iter().filter_map(row).collect::<Vec<_>>();
    let named = families.iter().flat_map(|family| family.names.iter().map(|name| (name.clone(), rows(family))));
    named.collect()
});

static FAMILIES_READ: Lazy<HashMap<&'static str, OnceCell<Arc<Dialects>>>> =
    Lazy::new(|| FAMILY.keys().map(|name| (name.as_str(), OnceCell::new())).collect());

static ROWS: Lazy<Vec<Arc<Dialect>>> = Lazy::new(|| {
    // The test below reads each row on its own, so this is never taken in a released build.
    read(TEXT).unwrap_or_else(|error| {
        debug_assert_eq!(error, "", "the catalogue cannot be read");
        Vec::new()
    })
});

/// The rows in a catalogue's text; the error tells the place of what cannot be read.
fn read(text: &str) -> Result<Vec<Arc<Dialect>>, String> {
    let rows: Vec<Dialect> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let ready = |mut row: Dialect| {
        // The catalogue stays for good, so that a turn names its dialect without a copy.
        row.name = Cow::Borrowed(row.name.into_owned().leak());
        row.reasoning.extend(THINKING.map(|(open, close)| (open.to_owned(), close.to_owned())));
        Arc::new(respelt(row))
    };
    Ok(rows.into_iter().map(ready).collect())
}

/// What prompts and fine-tunes have any model think in, whatever its family: unread, a draft in it would run.
const THINKING: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
];

/// How wide bars and blanks come out where they are no single token: as ASCII's, or doubled.
const SPELLINGS: [(&str, &str); 5] = [("|", "▁"), ("|", "_"), ("｜｜", "▁"), ("||", "▁"), ("‖", "▁")];

/// The row, and its markers with wide bars in all their spellings.
fn respelt(mut row: Dialect) -> Dialect {
    fn each(text: &str) -> impl Iterator<Item = String> {
        let wide = text.contains('｜');
        let spelt = SPELLINGS.iter().map(move |(bar, blank)| text.replace('｜', bar).replace('▁', blank));
        spelt.filter(move |other| wide && other != text)
    }
    let lists = [&mut row.calls, &mut row.parameters, &mut row.tokens, &mut row.turns];
    for list in lists {
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
    // A tokenizer may set special tokens off with blanks.
    let apart = |text: &String| {
        let behind = text.replace("|>", "|> ");
        let round = behind.replace("<|", " <|");
        [behind.trim_matches(' ').to_owned(), round.trim_matches(' ').to_owned()]
    };
    let spaced: Vec<_> = row.turns.iter().flat_map(apart).filter(|text| !row.turns.contains(text)).collect();
    row.turns.extend(spaced);
    for pairs in [&mut row.sections, &mut row.results, &mut row.own_results] {
        for (open, close) in std::mem::take(pairs) {
            let others: Vec<_> = each(&open).zip(each(&close)).collect();
            pairs.push((open, close));
            others.into_iter().for_each(|other| {
                if !pairs.contains(&other) {
                    pairs.push(other)
                }
            });
        }
    }
    row
}

/// Names as written to the row they mean; filled once from the catalogue.
static NAMES: Lazy<HashMap<String, usize>> = Lazy::new(|| {
    let mut names = HashMap::new();
    for (i, row) in ROWS.iter().enumerate() {
        names.insert(key(&row.name), i);
    }
    for (name, rows) in FAMILY.iter() {
        names.extend(rows.first().map(|first| (name.clone(), *first)));
    }
    for (i, row) in ROWS.iter().enumerate() {
        for parser in &row.parsers {
            names.entry(key(parser)).or_insert(i);
        }
    }
    names
});

static COMPILED: Lazy<Vec<OnceCell<Arc<Dialects>>>> = Lazy::new(|| ROWS.iter().map(|_| OnceCell::new()).collect());

static NAMESPACES: Lazy<Vec<&'static str>> = Lazy::new(|| {
    let mut names = Vec::new();
    for row in ROWS.iter() {
        let recipients = row.channels.as_ref().and_then(|channels| channels.tool_prefix.strip_suffix('.'));
        let new = [Some(&*row.namespace), recipients].into_iter().flatten().find(|name| !name.is_empty());
        names.extend(new.filter(|name| !names.contains(name)));
    }
    names
});

/// The namespaces of all dialects: models write those of others as well.
pub(crate) fn namespaces() -> &'static [&'static str] {
    &NAMESPACES
}

/// What stands behind a namespace that `name` begins with, if one of `separators` parts the two.
pub(crate) fn without_namespace<const N: usize>(name: &str, separators: [char; N]) -> Option<&str> {
    namespaces().iter().find_map(|namespace| behind(name, namespace, separators))
}

/// What stands behind this `namespace` in `name`.
pub(super) fn behind<'n, const N: usize>(name: &'n str, namespace: &str, separators: [char; N]) -> Option<&'n str> {
    name.strip_prefix(namespace)?.strip_prefix(separators)
}

/// Every dialect, in the order of precedence.
pub fn catalogue() -> &'static [Arc<Dialect>] {
    &ROWS
}

fn key(name: &str) -> String {
    name.chars().map(|c| if matches!(c, '/' | '_' | ' ') { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// A model's id with its version as the models' own names have it: `llama3-1-70b`, `llama-v3p1` and `Llama-3_1` are 3.1.
fn model_key(name: &str) -> String {
    let mut key = key(name).into_bytes();
    for at in 1..key.len().saturating_sub(1) {
        let ends = !key.get(at + 2).is_some_and(u8::is_ascii_alphanumeric);
        let point = match key.get(at) {
            Some(b'-') => ends,
            Some(b'p') => true,
            _ => false,
        };
        if point && key.get(at - 1).is_some_and(u8::is_ascii_digit) && key.get(at + 1).is_some_and(u8::is_ascii_digit) {
            key[at] = b'.';
        }
    }
    String::from_utf8(key).unwrap_or_default()
}

fn row_of(name: &str) -> Option<usize> {
    let name = name.strip_suffix(".jinja").unwrap_or(name);
    if let Some(i) = NAMES.get(&key(name)) {
        return Some(*i);
    }
    let key = model_key(name);
    // A model id: the longest fragment in it decides.
    let fragments = ROWS.iter().enumerate().flat_map(|(i, row)| row.models.iter().map(move |m| (m, i)));
    let (longest, row) = fragments.filter(|(m, _)| names_model(&key, m)).max_by_key(|(m, _)| m.len())?;
    (*longest == key || !is_slip(name)).then_some(row)
}

/// The fragment stands in a model's id: not with half of a number, and in a single word only at its end or before a
/// number. What letters stand behind it there make it another word (`hermess`), but for those of a variant (`gemma3n`).
fn names_model(id: &str, fragment: &str) -> bool {
    let word = id.chars().all(char::is_alphanumeric);
    let number = fragment.ends_with(|c: char| c.is_ascii_digit());
    id.match_indices(fragment).any(|(at, _)| {
        let rest = id.get(at + fragment.len()..).unwrap_or_default();
        let letters = rest.chars().take_while(|c| c.is_alphabetic()).count();
        !(number && rest.starts_with(|c: char| c.is_ascii_digit())) && (!word || letters <= if number { 2 } else { 0 })
    })
}

/// A name's letters and digits: `deepseek-v3.1` and `deepseek_v3_1` are the same.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The name is that of a dialect or parser with one letter left out or wrong. One too many is a model's variant, and
/// another number is another version.
fn is_slip(name: &str) -> bool {
    if name.contains(['/', ':']) {
        return false;
    }
    let written = plain(name);
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let slip = |known: &str| {
        let known = plain(known);
        (written.len()..=written.len() + 1).contains(&known.len())
            && written != known
            && digits(&written) == digits(&known)
            && strsim::osa_distance(&written, &known) == 1
    };
    !NAMES.keys().any(|known| plain(known) == written) && NAMES.keys().any(|known| slip(known))
}

/// The name of a dialect or parser that may have been meant.
fn nearest(name: &str) -> Option<&'static str> {
    // Nobody mistypes so much.
    let written = Some(plain(name)).filter(|written| (3..=48).contains(&written.len()))?;
    let names = ROWS.iter().flat_map(|row| std::iter::once(&*row.name).chain(row.parsers.iter().map(String::as_str)));
    let (distance, near) = names
        .map(|known| (strsim::osa_distance(&written, &plain(known)), known))
        .min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= written.len()).then_some(near)
}

/// How models of that name write calls, where it is not as the example of their row.
pub(crate) fn form(name: &str) -> Option<&'static Form> {
    let row = ROWS.get(row_of(name)?)?;
    let name = model_key(name);
    let longest = |names: &[String]| names.iter().map(|n| key(n)).filter(|n| name.contains(n)).map(|n| n.len()).max();
    let form =
        row.forms.iter().filter_map(|form| Some((longest(&form.names)?, form))).max_by_key(|(length, _)| *length);
    form.filter(|(length, _)| longest(&row.models).is_none_or(|own| own <= *length)).map(|(_, form)| form)
}

/// Returns the name of the dialect that a model of this id writes, if the catalogue knows the model.
pub fn of_model(id: &str) -> Option<&'static str> {
    row_of(id).and_then(|row| ROWS.get(row)).map(|row| &*row.name)
}

/// The name is that of a model that no row knows, and no misspelt one of a dialect: it has a maker or a version.
fn is_model_id(name: &str) -> bool {
    let sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | ':' | '-' | '_' | '.' | '@');
    let versioned = name.contains(['-', '/', ':']) && name.chars().any(char::is_alphabetic);
    let made = name.contains(['/', ':']) || nearest(name).is_none();
    versioned && made && name.len() <= LONGEST_ID && name.chars().all(sign)
}

/// No model's id is longer.
const LONGEST_ID: usize = 256;

/// The family that `name` means, ready to use.
fn family(name: &str) -> Result<Option<Arc<Dialects>>, Error> {
    let key = key(name);
    let Some((rows, cell)) = FAMILY.get(&key).zip(FAMILIES_READ.get(&*key)) else { return Ok(None) };
    let read = || {
        let mut all: Vec<Arc<Dialect>> = Vec::new();
        for row in rows.iter().filter_map(|row| ROWS.get(*row)) {
            for row in rows_read(row.clone())? {
                if !all.iter().any(|known| known.name == row.name) {
                    all.push(row);
                }
            }
        }
        Dialects::compile(&all, false).map(Arc::new)
    };
    cell.get_or_try_init(read).map(|family| Some(family.clone()))
}

/// The dialect that `name` means, ready to use: its own name, a parser's name, a family's, or a model id. An id that nothing is known
/// of means all dialects, and each answer has an issue that says so.
///
/// # Errors
/// [`ErrorCode::UnknownDialect`] if it is none of these; the message lists some that are.
pub fn find(name: &str) -> Result<Arc<Dialects>, Error> {
    if let Some(family) = family(name)? {
        return Ok(family);
    }
    // The spelling of the catalogue itself needs no normalising.
    let row = NAMES.get(name).copied().or_else(|| row_of(name));
    let Some((row, cell)) = row.and_then(|i| Some((ROWS.get(i)?, COMPILED.get(i)?))) else {
        if is_model_id(name) {
            return Ok(Dialects::assumed());
        }
        let known: Vec<&str> = ROWS.iter().take(8).map(|r| &*r.name).collect();
        let meant = nearest(name).map_or(String::new(), |near| format!("did you mean {near:?}? "));
        let message = format!(
            "unknown dialect {name:?}: {meant}known are \"auto\", {}, ... and the ids of their models",
            known.join(", ")
        );
        return Err(Error::new(ErrorCode::UnknownDialect, message));
    };
    cell.get_or_try_init(|| Dialects::compile(&rows_read(row.clone())?, false).map(Arc::new)).cloned()
}

/// What stands round a result that is told to a model whose template has no spelling for it. What it is told it may write itself.
const TOLD: [&str; 2] = ["<tool_result>", "</tool_result>"];

/// What is read where this `row` is named: it, with what any model says round its calls if any writes them, and behind it those
/// of its kin.
pub(super) fn rows_read(mut row: Arc<Dialect>) -> Result<Vec<Arc<Dialect>>, Error> {
    if row.any_model {
        let known = Arc::make_mut(&mut row);
        for other in ROWS.iter() {
            add(&mut known.tokens, &other.tokens);
            add(&mut known.turns, &other.turns);
            add(&mut known.results, &other.results);
        }
    }
    let known = &mut Arc::make_mut(&mut row).results;
    add(known, &[TOLD.map(String::from).into()]);
    let mut rows = vec![row.clone()];
    for name in &row.kin {
        let kin = ROWS.iter().find(|other| other.name == *name);
        let unknown =
            || Error::at(ErrorCode::BadDialect, name, "`kin` names a dialect that the catalogue does not have");
        rows.push(kin.cloned().ok_or_else(unknown)?);
    }
    Ok(rows)
}

/// Adds those of `others` that the `list` lacks.
pub(super) fn add<'t, T: Clone + PartialEq + 't>(list: &mut Vec<T>, others: impl IntoIterator<Item = &'t T>) {
    for other in others {
        if !list.contains(other) {
            list.push(other.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn every_row_can_be_read_and_compiled() {
        let rows: Vec<Value> = serde_json::from_str(TEXT).expect("the catalogue is JSON");
        for row in &rows {
            let name = &row["name"];
            let read: Dialect =
                serde_json::from_value(row.clone()).unwrap_or_else(|error| panic!("row {name}: {error}"));
            if let Err(error) = Dialects::compile(&[Arc::new(respelt(read))], false) {
                panic!("row {name}: {error}");
            }
        }
        assert_eq!(rows.len(), catalogue().len());
        Dialects::compile(catalogue(), true).expect("all rows together");
    }

    #[test]
    fn a_typo_in_the_catalogue_is_told_with_its_place() {
        let error = read(&TEXT.replacen("\"parsers\"", "\"parser\"", 1)).expect_err("no such column");
        assert!(error.contains("`parser`") && error.contains("line "), "{error}");
    }

    fn dialect(name: &str) -> Option<&'static str> {
        row_of(name).and_then(|i| ROWS.get(i)).map(|row| &*row.name)
    }

    #[test]
    fn model_ids_mean_their_dialect() {
        for (id, expected) in [
            ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3_coder"),
            ("unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M", "qwen3_coder"),
            ("Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf", "qwen3_coder"),
            ("qwen3-coder:30b", "qwen3_coder"),
            ("QWEN/QWEN3-8B-AWQ", "hermes"),
            ("qwen2.5vl:7b", "hermes"),
            ("qwen3vl", "hermes"),
            ("NousResearch/DeepHermes-3-Llama-3-8B-Preview", "hermes"),
            ("openhermes", "hermes"),
            ("Qwen3-Coder.jinja", "qwen3_coder"),
            ("meta-llama/Llama-3.1-8B-Instruct", "llama3_json"),
            ("llama3.2:3b-instruct-q4_K_M", "llama3_json"),
            ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral"),
            ("deepseek-ai/DeepSeek-V3.1", "deepseek_v31"),
            ("deepseek-v3:671b", "deepseek_v3"),
            ("zai-org/GLM-4.5V", "glm45"),
            ("glm-4.5v", "glm45"),
            ("gemma3n:e4b", "gemma3"),
            ("gemma3n", "gemma3"),
            ("gpt-oss:20b", "harmony"),
            ("Step-3.5", "qwen3_coder"),
            ("deepseek_v3_1", "deepseek_v31"),
            ("qwen25", "hermes"),
            ("us.meta.llama3-3-70b-instruct-v1:0", "llama3_json"),
            ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", "nemotron_deci"),
            ("accounts/fireworks/models/deepseek-v3p1", "deepseek_v31"),
            ("accounts/fireworks/models/glm-4p5-air", "glm45"),
            ("deepseek-v3-0324", "deepseek_v3"),
            ("deepseek/deepseek-chat-v3.1", "deepseek_v31"),
            ("qwen3-4b", "hermes"),
            ("@hf/nousresearch/hermes-2-pro-mistral-7b", "hermes"),
            ("granite4:tiny-h", "hermes"),
            ("llama4:scout", "pythonic"),
            ("FreedomIntelligence/openPangu-Embedded-7B", "openpangu"),
            ("openpangu_v2", "lfm2"),
            ("naver-hyperclovax/HyperCLOVAX-SEED-Think-14B", "hyperclovax"),
            ("naver-hyperclovax/HyperCLOVAX-SEED-Think-32B", "glm45"),
            ("hyperclovax_seed_think", "glm45"),
            ("zai-org/GLM-4-32B-0414", "glm4"),
            ("THUDM/glm-4-9b-chat", "glm4"),
            ("zai-org/GLM-4.5-Air", "glm45"),
            ("glm4:9b", "glm4"),
            ("facebook/cwm", "cwm"),
            ("gorilla-llm/gorilla-openfunctions-v2", "gorilla"),
            ("stepfun-ai/Step-Audio-2-mini", "step_audio2"),
            ("LGAI-EXAONE/K-EXAONE-236B-A23B", "hermes"),
            ("HuggingFaceTB/SmolLM3-3B", "hermes"),
            ("PrimeIntellect/INTELLECT-3", "qwen3_coder"),
            ("cogito-2.1:671b", "deepseek_v3"),
            ("olmo3-think", "olmo3"),
            ("lfm2-thinking", "lfm2"),
            ("gptoss", "harmony"),
            ("stepfun-ai/Step-3.7-Flash", "qwen3_coder"),
            ("step3p6", "qwen3_coder"),
            ("stepfun-ai/step3", "step3"),
        ] {
            assert_eq!(dialect(id), Some(expected), "{id}");
        }
        for row in catalogue() {
            for name in std::iter::once(&*row.name).chain(row.parsers.iter().chain(&row.models).map(String::as_str)) {
                assert!(row_of(name).is_some() && row_of(&name.to_uppercase()).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn a_familys_name_means_all_that_its_models_write() {
        let families: Vec<Family> = serde_json::from_str(FAMILIES).expect("a list of families");
        for family in families {
            assert!(!family.source.is_empty());
            for name in &family.names {
                let found = find(name).expect(name);
                let rows: Vec<&str> = found.rows.iter().map(|row| &*row.dialect.name).collect();
                assert!(family.dialects.iter().all(|dialect| rows.contains(&&**dialect)), "{name}: {rows:?}");
                assert_eq!(found.name(), family.dialects.first().map(String::as_str));
            }
        }
    }

    #[test]
    fn a_model_that_nothing_is_known_of_is_read_by_all_dialects() {
        for name in ["gpt-4o", "acme/foo-7b", "granite-34b-code", "tiiuae/Falcon-H1-7B-Instruct", "x:latest"] {
            assert!(find(name).expect(name).assumed, "{name}");
        }
        assert!(!Dialects::auto().assumed);
    }

    #[test]
    fn a_misspelt_name_is_an_error_that_names_the_nearest() {
        for (name, near) in [
            ("hermess", "hermes"),
            ("herms", "hermes"),
            ("qwen3codr", "qwen3_coder"),
            ("qwen3_codr", "qwen3_coder"),
            ("qwen3coder", "qwen3_coder"),
            ("mistrall", "mistral"),
            ("llama3_jsn", "llama3_json"),
            ("deepseek_v31x", "deepseek_v31"),
            ("pythonik", "pythonic"),
        ] {
            let error = find(name).expect_err(name);
            assert_eq!(error.code, ErrorCode::UnknownDialect);
            assert!(error.message.contains(&format!("did you mean {near:?}?")), "{error}");
        }
        for name in ["museum", "", "x", "no such thing", &"x".repeat(100_000)] {
            let error = find(name).expect_err(name);
            assert!(!error.message.contains("did you mean") || name == "museum", "{error}");
        }
    }
}
