//! Names: one legal everywhere for each tool, and what the names that models write back mean.
use super::{Tool, ToolSet, prefixes};
use crate::dialect::namespaces;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The longest name that every provider takes.
const MAX_NAME: usize = 64;

/// Which spellings of a name mean a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// The name as offered, and every other spelling that can mean only one tool ([`ToolSet::resolve`]).
    #[default]
    Resolve,
    /// The name as offered or as the provider had to be told it, with nothing round it but what the format itself writes
    /// (`functions.read:0`).
    Exact,
}

/// What separates a namespace from a name. A single `_` or `-` does not: it stands inside names.
const NAMESPACE: &[&str] = &["___", "__", "::", ":", "/", "."];

/// A spelling of each tool's name that is legal at every provider (`[A-Za-z_][A-Za-z0-9_-]{0,63}`): the name itself
/// where it can be, no two alike, and the same at every run.
pub(super) fn safe_names(tools: &[Tool]) -> Vec<String> {
    safe_spellings(&tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>())
}

/// [`safe_names`] for any names, none of which stands there twice.
pub(crate) fn safe_spellings(names: &[&str]) -> Vec<String> {
    spell(names, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// A safe spelling of one name, unlike `others` and what becomes of them.
pub(super) fn safe_name<'n>(name: &'n str, others: impl Iterator<Item = &'n str>) -> String {
    let name = if name.trim().is_empty() { "unknown" } else { name.trim() };
    let names: Vec<&str> = others.chain([name]).collect();
    safe_spellings(&names).pop().unwrap_or_default()
}

/// Whether every provider takes the name.
pub(super) fn is_safe(name: impl AsRef<[u8]>) -> bool {
    let name = name.as_ref();
    let start = name.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    start && name.len() <= MAX_NAME && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// Whether every provider takes the name for a property.
pub(super) fn is_safe_property(name: &str) -> bool {
    is_safe(name) && !name.contains('-')
}

/// [`safe_names`] for the properties of an object, where a dash is not legal either.
pub(super) fn safe_properties(properties: &Map<String, Value>) -> Vec<String> {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    spell(&names, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn spell(names: &[&str], legal: fn(u8) -> bool) -> Vec<String> {
    let safe = |name: &str| {
        let start = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        start && name.len() <= MAX_NAME && name.bytes().all(legal)
    };
    if names.iter().all(|name| safe(name)) {
        return names.iter().map(|name| (*name).to_owned()).collect();
    }
    let taken: HashSet<&str> = names.iter().copied().filter(|name| safe(name)).collect();
    let plain: Vec<String> = names.iter().map(|name| replace_illegal(name, legal)).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in &plain {
        *uses.entry(name.as_str()).or_default() += 1;
    }
    let mut given: HashSet<String> = HashSet::new();
    let mut spelt = Vec::with_capacity(names.len());
    for (name, plain) in names.iter().zip(&plain) {
        let chosen = if safe(name) {
            (*name).to_owned()
        } else {
            let faithful = name.is_ascii() && plain.len() <= MAX_NAME;
            let unique = !taken.contains(plain.as_str()) && uses.get(plain.as_str()) == Some(&1);
            if faithful && unique { plain.clone() } else { with_tail(plain, name, &taken, &given) }
        };
        given.insert(chosen.clone());
        spelt.push(chosen);
    }
    spelt
}

fn replace_illegal(name: &str, legal: fn(u8) -> bool) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii() && legal(c as u8) { c } else { '_' }).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        out.insert(0, '_');
    }
    out
}

/// `plain`, cut so that a tail made from the whole original name fits: names that differ anywhere stay different.
fn with_tail(plain: &str, original: &str, taken: &HashSet<&str>, given: &HashSet<String>) -> String {
    let mut salt = 0_u64;
    loop {
        let tail = format!("_{:08x}", hash(original, salt) & 0xffff_ffff);
        let head: String = plain.chars().take(MAX_NAME - tail.len()).collect();
        let name = format!("{}{tail}", head.trim_end_matches('_'));
        let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name };
        if !taken.contains(name.as_str()) && !given.contains(&name) {
            return name;
        }
        salt += 1;
    }
}

/// FNV-1a: fixed by its definition, so that names stay the same over runs, versions and machines.
fn hash(text: &str, salt: u64) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ salt, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// A name in small letters and without its separators: what is left when neither counts. Every other character stays: a
/// character of format, or a mark that strikes a letter out, makes another name of it.
fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for c in name.chars().filter(|c| !SEPARATORS.contains(c)) {
        // A sign beyond ASCII that becomes a letter of it (that of kelvin) is no letter of another case.
        match c.is_ascii() || c.to_lowercase().any(|small| small.is_ascii()) {
            true => folded.push(c.to_ascii_lowercase()),
            false => folded.extend(c.to_lowercase()),
        }
    }
    folded
}

/// The other spellings under which each tool is found.
#[derive(Debug, Clone, Default)]
pub(super) struct Spellings {
    /// Safe spellings and folded names; `None` where two tools share one.
    folded: HashMap<String, Option<usize>>,
    safe: HashMap<String, usize>,
    /// Folded names without the server or namespace in front.
    bare: HashMap<String, Option<usize>>,
    /// Folded names of the servers.
    servers: HashSet<String>,
    /// For each byte, whether one of the folded names above begins with it.
    firsts: Vec<bool>,
    /// The last two letters of the folded names and the safe spellings, in order; 0 where there is none.
    lasts: Vec<[u8; 2]>,
    /// How a name may begin, folded and in order: names with their servers and without their namespaces, and the prefixes
    /// that models invent.
    beginnings: Vec<String>,
}

impl Spellings {
    pub(super) fn new(tools: &[Tool], safe: &[String]) -> Self {
        let mut spellings = Self::default();
        for (i, (tool, safe)) in tools.iter().zip(safe).enumerate() {
            if *safe != tool.name {
                spellings.safe.insert(safe.clone(), i);
            }
            add(&mut spellings.folded, fold(&tool.name), i);
            for bare in bare_names(tool) {
                add(&mut spellings.bare, fold(bare), i);
            }
            if let Some(server) = &tool.source.server {
                spellings.servers.insert(fold(server));
            }
        }
        let names = spellings.folded.keys().chain(spellings.bare.keys());
        let firsts: HashSet<u8> = names.filter_map(|name| name.bytes().next()).collect();
        spellings.firsts = (0..=u8::MAX).map(|byte| firsts.contains(&byte)).collect();
        let whole = tools.iter().map(|tool| &tool.name).chain(safe);
        let bare = spellings.bare.keys();
        spellings.lasts = whole.chain(bare).map(|name| last_letters(fold(name).as_bytes())).collect();
        spellings.lasts.sort_unstable();
        spellings.lasts.dedup();
        for tool in tools {
            spellings.beginnings.extend(std::iter::once(&*tool.name).chain(tails(tool)).map(fold));
            let server = tool.source.server.as_deref();
            spellings.beginnings.extend(server.map(|server| fold(server) + &fold(&tool.name)));
        }
        spellings.beginnings.extend(prefixes::all().iter().map(|prefix| fold(prefix.word)));
        spellings.beginnings.sort_unstable();
        spellings
    }

    /// What is `written` may go on to a tool's name: in any spelling, without its namespace, or behind a namespace that
    /// models invent.
    pub(super) fn lead_on(&self, written: &str) -> bool {
        let known = |written: &str| {
            let written = fold(written);
            let next = self.beginnings.partition_point(|name| *name < written);
            self.beginnings.get(next).is_some_and(|name| name.starts_with(&written))
        };
        if !written.starts_with(char::is_alphanumeric) {
            return false;
        }
        // Mostly the first two letters tell already: no prefix that is taken away has fewer.
        let letter = |i: usize| {
            let byte = written.as_bytes().get(i).filter(|byte| byte.is_ascii_alphanumeric());
            byte.map(u8::to_ascii_lowercase)
        };
        if let Some(first) = letter(0) {
            let next = self.beginnings.partition_point(|name| name.bytes().next() < Some(first));
            let alike = self.beginnings.iter().skip(next).take_while(|name| name.bytes().next() == Some(first));
            let second = letter(1);
            if !alike.into_iter().any(|name| second.is_none() || name.as_bytes().get(1).copied() == second) {
                return false;
            }
        }
        let mut rest = written;
        // As many prefixes as a name may have taken away.
        for _ in 0..8 {
            if known(rest) {
                return true;
            }
            // Mostly the first letter tells already.
            let first = rest.as_bytes().first();
            let mut known = prefixes::all().iter().filter(|prefix| prefix.word.as_bytes().first() == first);
            let Some(next) = known.find_map(|prefix| rest.strip_prefix(prefix.word)) else { break };
            rest = next.trim_start_matches(SEPARATORS);
        }
        false
    }

    /// The folded name is one of another tool than the one at `position`, or of several: before that one's name, either may be meant
    /// (`search.get_weather`).
    fn mean_other(&self, folded: &str, position: usize) -> bool {
        let other =
            |names: &HashMap<String, Option<usize>>| names.get(folded).is_some_and(|tool| *tool != Some(position));
        other(&self.folded) || other(&self.bare)
    }

    /// A name whose last letters are ASCII's, and which ends as no tool's does: what stands before a tool's name may be left out, but
    /// nothing behind it, a number aside.
    fn ends_as_none(&self, name: &str) -> bool {
        let mut letters = name.chars().rev().filter(|c| !SEPARATORS.contains(c)).map(|c| c.to_ascii_lowercase());
        let mut letter = || letters.next().map_or(Some(0), |c| u8::try_from(c).ok().filter(u8::is_ascii));
        let (Some(last), Some(before)) = (letter(), letter()) else { return false };
        let ends = |letters: [u8; 2]| self.lasts.binary_search(&letters).is_ok();
        let told = !last.is_ascii_digit() && self.lasts.first() != Some(&[0, 0]);
        told && !ends([before, last]) && !ends([0, last])
    }

    /// A name of ASCII without separators that begins as no tool's does: most words of a text are that.
    fn exclude(&self, name: &str) -> bool {
        let first = name.bytes().next().map(|byte| byte.to_ascii_lowercase());
        self.safe.is_empty()
            && name.is_ascii()
            && !name.contains(SEPARATORS)
            && first.is_some_and(|first| self.firsts.get(usize::from(first)) == Some(&false))
    }
}

/// What is `written` begins the name, whatever its case.
pub(crate) fn begins(name: &str, written: &str) -> bool {
    name.get(..written.len()).is_some_and(|start| start.eq_ignore_ascii_case(written))
}

/// The last two bytes of a folded name.
fn last_letters(name: &[u8]) -> [u8; 2] {
    match *name {
        [.., before, last] => [before, last],
        [only] => [0, only],
        [] => [0, 0],
    }
}

fn add(map: &mut HashMap<String, Option<usize>>, key: String, tool: usize) {
    if !key.is_empty() {
        map.entry(key).and_modify(|old| *old = old.filter(|o| *o == tool)).or_insert(Some(tool));
    }
}

/// The tool's name without what stands before it: its server's name, or everything before one of the namespace separators.
fn bare_names(tool: &Tool) -> impl Iterator<Item = &str> {
    let server = tool.source.server.as_deref().filter(|s| !s.is_empty());
    let rest = server.and_then(|s| tool.name.strip_prefix(s)).map(|rest| rest.trim_start_matches(SEPARATORS));
    tool.source.original.as_deref().into_iter().chain(rest).chain(tails(tool)).filter(|name| !name.is_empty())
}

/// What stands behind each namespace separator in the tool's name.
fn tails(tool: &Tool) -> impl Iterator<Item = &str> {
    let parts = NAMESPACE.iter().flat_map(|separator| tool.name.match_indices(separator));
    parts.filter_map(|(at, separator)| tool.name.get(at + separator.len()..))
}

const SEPARATORS: [char; 6] = ['_', '-', '.', ':', '/', ' '];

/// What `written`, which is no offered name, means: the one tool that it can mean, or nothing.
pub(super) fn resolve(set: &ToolSet, spellings: &Spellings, written: &str) -> Option<usize> {
    find(set, spellings, clean(written))
}

/// What `written`, which is no offered name, means where only names as they were told count.
pub(super) fn resolve_exact(set: &ToolSet, spellings: &Spellings, written: &str) -> Option<usize> {
    let written = written.trim();
    [written, prefixes::without_format(written)]
        .into_iter()
        .find_map(|name| set.position(name).or_else(|| spellings.safe.get(name).copied()))
}

/// Without quotes, call brackets and special tokens round the name.
fn clean(written: &str) -> &str {
    let token = written.as_bytes().windows(2).position(|pair| pair == b"<|");
    let cut = token.map_or(written, |at| written.get(..at).unwrap_or(written));
    let cut = cut.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*'));
    cut.strip_suffix("()").unwrap_or(cut)
}

fn find(set: &ToolSet, spellings: &Spellings, written: &str) -> Option<usize> {
    if spellings.exclude(written) || spellings.ends_as_none(written) {
        return None;
    }
    let mut name = written;
    // Each round takes one known prefix away; a name has only so many.
    for _ in 0..8 {
        if let Some(i) = set.position(name).or_else(|| spellings.safe.get(name).copied()) {
            return Some(i);
        }
        let folded = fold(name);
        // Before a name, separators are signs of something else: a comment's slashes, a removed line's dash.
        if folded.is_empty() || name.starts_with(['-', '.', ':', '/']) {
            return None;
        }
        // Two tools that differ only in case or separators make the spelling mean neither.
        if let Some(one) = spellings.folded.get(&folded) {
            return *one;
        }
        if let Some(one) = spellings.bare.get(&folded) {
            return *one;
        }
        // Prefixes are parted from the name.
        if !name.contains(SEPARATORS) {
            return None;
        }
        if let Some(i) = behind_own_prefix(set, spellings, name) {
            return Some(i);
        }
        let rest = prefixes::without_known(name).or_else(|| prefixes::without_count(name))?;
        // What models put before names may be a tool here, and then either is meant, unless the formats have it.
        let prefix = name.strip_suffix(rest).map(fold).filter(|prefix| !prefix.is_empty());
        let other = |prefix: &str| set.position(rest).is_some_and(|i| spellings.mean_other(prefix, i));
        if prefix.is_some_and(|prefix| other(&prefix) && !is_of_formats(&prefix)) {
            return None;
        }
        name = rest;
    }
    None
}

fn strip_prefix_ignoring_case<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let (head, rest) = name.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The folded `prefix` is a namespace that formats put before every tool's name: a tool that is called so does not change that.
fn is_of_formats(prefix: &str) -> bool {
    prefix == "tools" || namespaces().iter().any(|namespace| fold(namespace) == prefix)
}

/// The folded `prefix` is what the tool's name begins with, up to one of its separators or all of it: it stands there twice.
fn doubles(tool: &Tool, prefix: &str) -> bool {
    let parts = tool.name.match_indices(SEPARATORS).map(|(at, _)| at).chain([tool.name.len()]);
    { parts }.any(|at| at > 0 && tool.name.get(..at).is_some_and(|part| fold(part) == prefix))
}

/// The tool whose whole name stands behind a prefix that is its own: its server, or what its name begins with once more.
/// A prefix is never exchanged: `weather.get` is not `calendar.get`.
fn behind_own_prefix(set: &ToolSet, spellings: &Spellings, name: &str) -> Option<usize> {
    let parted = |separator: &&'static str| {
        // Names are short: looking is cheaper than preparing to search.
        let first = separator.bytes().next();
        let mut places = name.bytes().enumerate().filter(|(_, byte)| Some(*byte) == first).map(|(i, _)| i);
        let at = places.find(|i| name.get(*i..).is_some_and(|rest| rest.starts_with(*separator)))?;
        Some((name.get(..at)?, name.get(at + separator.len()..)?))
    };
    let namespaced = NAMESPACE.iter().filter_map(parted).find_map(|(prefix, rest)| {
        let prefix = fold(prefix);
        // A known prefix may stand behind it as well: `github:tools.search`.
        let inner = || spellings.folded.get(&fold(prefixes::without_known(rest)?));
        let whole = spellings.folded.get(&fold(rest)).or_else(inner);
        let i = (*whole.or_else(|| spellings.bare.get(&fold(rest)))?)?;
        let tool = set.tools().get(i)?;
        let fits = match tool.source.server.as_deref() {
            Some(own) => fold(own) == prefix,
            // Another server's name before it: that server's tool of this name is not offered.
            None => whole.is_some() && !spellings.servers.contains(&prefix) && doubles(tool, &prefix),
        };
        fits.then_some(i)
    });
    let mut one = None;
    for (i, tool) in set.tools().iter().enumerate() {
        let server = tool.source.server.as_deref().unwrap_or_default();
        let first = tool.name.split(SEPARATORS).next().unwrap_or_default();
        let stands_after = |prefix: &str| {
            let rest = strip_prefix_ignoring_case(name, prefix).filter(|_| !prefix.is_empty())?;
            let rest = rest.starts_with(SEPARATORS).then(|| fold(rest))?;
            (rest == fold(&tool.name)).then_some(())
        };
        if stands_after(server).or_else(|| stands_after(first)).is_some() {
            if one.is_some() {
                return None;
            }
            one = Some(i);
        }
    }
    namespaced.or(one)
}

/// The offered names most like `written`, best first: for messages, never for calls.
pub(super) fn nearest<'t>(tools: &'t [Tool], written: &str, count: usize) -> Vec<&'t str> {
    let folded = fold(clean(written));
    let mut scored: Vec<(f64, &str)> = (tools.iter())
        .map(|tool| {
            let whole = strsim::jaro_winkler(&folded, &fold(&tool.name));
            let bare = bare_names(tool).map(|name| strsim::jaro_winkler(&folded, &fold(name)));
            (bare.fold(whole, f64::max), tool.name.as_str())
        })
        .filter(|(score, _)| *score > 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(count).map(|(_, name)| name).collect()
}
