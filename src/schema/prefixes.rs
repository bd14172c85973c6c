//! The words that formats, models and proxies put before a tool's name on their own: a row of data each, with its source.
//!
//! A prefix that is in no row, and is neither the tool's own server nor a part of its own name, is never taken off:
//! `dry_run.delete_file` may mean anything but `delete_file`.
use crate::dialect::namespaces;
use once_cell::sync::Lazy;

/// A word before a name, and what may part the two.
#[derive(Debug)]
pub(super) struct Prefix {
    /// The word, compared without regard to case.
    pub(super) word: &'static str,
    separators: &'static [&'static str],
    /// Where a model or a server was seen to write it.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader, and for the test that each row has one"))]
    source: &'static str,
}

/// What parts a namespace from a name. A single `_` or `-` does not: it stands inside names.
const NAMESPACE: &[&str] = &["___", "__", "::", ":", "/", "."];

/// The same, and the `_` that a namespace ends with once a name is spelt for providers, which take no `.`.
const SPELT: &[&str] = &["___", "__", "_", "::", ":", "/", "."];

/// Beside the namespaces of the catalogue's rows (`functions`, `default_api`), which may stand before every name.
const ROWS: &[Prefix] = &[
    Prefix {
        word: "tools",
        separators: SPELT,
        source: "OpenAI's own term for the namespace of `functions`; Arctic writes `[tools.name(...)]`",
    },
    Prefix {
        word: "tool",
        separators: SPELT,
        source: "NousResearch/hermes-agent#701, anomalyco/opencode#10558: `tool:get_weather`",
    },
    Prefix {
        word: "proxy",
        separators: SPELT,
        source: "nextlevelbuilder/goclaw#224, router-for-me/CLIProxyAPI#1608: `proxy_exec`",
    },
    Prefix {
        word: "mcp",
        separators: SPELT,
        source: "rikkahub/rikkahub#1311: clients offer `mcp__name` and `mcp_server_name`",
    },
    Prefix { word: "api", separators: NAMESPACE, source: "SGLang's tests of Kimi K2: `api.tools.search:42`" },
    Prefix { word: "multi_tool_use", separators: NAMESPACE, source: "OpenAI's wrapper `multi_tool_use.parallel`" },
    Prefix { word: "call", separators: NAMESPACE, source: "Gemma 4 and FunctionGemma: `call:get_weather{...}`" },
    Prefix {
        word: "declaration",
        separators: NAMESPACE,
        source: "FunctionGemma declares tools as `declaration:get_weather{...}`",
    },
];

/// All rows: those above and the catalogue's namespaces.
static PREFIXES: Lazy<Vec<Prefix>> = Lazy::new(|| {
    let of_formats = namespaces().iter().map(|word| Prefix { word, separators: SPELT, source: "catalogue.json" });
    let own = ROWS.iter().map(|row| Prefix { ..*row });
    of_formats.chain(own).collect()
});

/// Every row.
pub(super) fn all() -> &'static [Prefix] {
    &PREFIXES
}

impl Prefix {
    /// What stands in `name` behind this prefix and its separator; `None` if it does not begin so, or nothing follows.
    pub(super) fn strip<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (head, rest) = name.split_at_checked(self.word.len())?;
        let parted = |separator: &&str| rest.strip_prefix(*separator);
        let rest = head.eq_ignore_ascii_case(self.word).then(|| self.separators.iter().find_map(parted))??;
        (!rest.is_empty()).then_some(rest)
    }
}

/// `name` without the first prefix that a row has.
pub(super) fn without_known(name: &str) -> Option<&str> {
    PREFIXES.iter().find_map(|prefix| prefix.strip(name))
}

/// `name` without what a format writes round every name: its namespace, and the number behind Kimi's (`functions.read:0`).
pub(super) fn without_format(name: &str) -> &str {
    let bare = crate::dialect::without_namespace(name, ['.', ':']).unwrap_or(name);
    without_count(bare).unwrap_or(bare)
}

/// `name` without the number of the call that Kimi K2 writes behind it: `:0`.
pub(super) fn without_count(name: &str) -> Option<&str> {
    let (head, tail) = name.rsplit_once(':')?;
    (!head.is_empty() && !tail.is_empty() && tail.bytes().all(|byte| byte.is_ascii_digit())).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_has_a_source_and_is_taken_off() {
        for prefix in all() {
            assert!(!prefix.source.is_empty(), "{}", prefix.word);
            for separator in prefix.separators {
                let written = format!("{}{separator}x", prefix.word.to_uppercase());
                assert_eq!(without_known(&written), Some("x"), "{written}");
            }
            assert_eq!(prefix.strip(prefix.word), None);
        }
    }
}
