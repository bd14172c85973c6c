//! How ids of models are compared: the same model has a dozen spellings.
use once_cell::sync::Lazy;
use regex::Regex;

/// Suffixes of OpenRouter, and Ollama's tag `latest`: they say how a model is served, not which model it is.
static VARIANT: Lazy<Option<Regex>> =
    Lazy::new(|| Regex::new(r":(free|nitro|floor|online|extended|beta|exacto|latest)$").ok());

/// A date, with Bedrock's version after it.
static DATE: Lazy<Option<Regex>> = Lazy::new(|| Regex::new(r"-(latest|20\d\d-?[01]\d-?[0-3]\d)$").ok());

/// How weights are packed, as files and repositories of weights are named.
static PACKED: Lazy<Option<Regex>> = Lazy::new(|| {
    Regex::new(
        r"-(gguf|mlx|awq|gptq|exl2|bnb|fp8|fp4|nvfp4|fp16|bf16|int4|int8|w4a16|[2-8]bit|i?q[1-8](-[k0-9xsml]+)*)$",
    )
    .ok()
});

/// Regions and makers in Bedrock's ids, each followed by a dot.
const MAKERS: &str = "us eu apac global au jp us-gov ai21 amazon anthropic cohere deepseek google meta minimax mistral \
                      moonshot moonshotai nvidia openai qwen writer zai";

/// Returns a model's id in the spelling of the table: lower case, `-` between its parts, the maker kept.
pub(super) fn key(model: &str) -> String {
    let model = cut(&VARIANT, model.to_lowercase());
    model.replace(['.', '_', ':', '@', ' '], "-")
}

/// Returns the name of a model without its maker's and without the folder of its file.
pub(super) fn bare(model: &str) -> String {
    let mut model = model.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    while let Some((first, rest)) = model.split_once('.')
        && !rest.is_empty()
        && MAKERS.split_whitespace().any(|maker| maker == first)
    {
        model = rest.to_owned();
    }
    key(&model)
}

/// Returns the spellings under which a table may list a model, the most exact first.
pub(super) fn spellings(model: &str) -> Vec<String> {
    let mut all = vec![key(model), bare(model)];
    let mut name = bare(model);
    loop {
        let version = name.strip_suffix("-0").and_then(|name| name.strip_suffix(|c: char| c.is_ascii_digit()));
        let shorter = match version.and_then(|name| name.strip_suffix("-v")) {
            Some(unversioned) => unversioned.to_owned(),
            None => cut(&PACKED, cut(&DATE, name.clone())),
        };
        if shorter == name {
            break;
        }
        name = shorter;
        all.push(name.clone());
    }
    all.dedup();
    all
}

/// Whether a model is of the family that `fragment` names, in the spelling of [`key`]. The fragment begins at a part of the bare name and ends with a word or a number:
/// `gemma-3` is neither in `functiongemma-3` nor in `gemma-30b`, but in `gemma-3n`.
pub(super) fn is_of(bare: &str, fragment: &str) -> bool {
    let digits = fragment.ends_with(|c: char| c.is_ascii_digit());
    bare.match_indices(fragment).any(|(at, _)| {
        let before = bare.get(..at).unwrap_or_default();
        let behind = bare.get(at + fragment.len()..).unwrap_or_default().chars().next();
        let goes_on = behind.is_some_and(|c| if digits { c.is_ascii_digit() } else { c.is_alphabetic() });
        (before.is_empty() || before.ends_with('-')) && !goes_on
    })
}

fn cut(pattern: &Lazy<Option<Regex>>, text: String) -> String {
    match Lazy::force(pattern).as_ref().and_then(|pattern| pattern.find(&text)) {
        Some(found) => text.get(..found.start()).unwrap_or_default().to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{DATE, PACKED, VARIANT, is_of, key, spellings};

    #[test]
    fn patterns_compile() {
        assert!(VARIANT.is_some() && DATE.is_some() && PACKED.is_some());
    }

    #[test]
    fn a_model_is_found_in_all_its_spellings() {
        for (model, name) in [
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("openai/gpt-4o:free", "gpt-4o"),
            ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet"),
            ("claude-3-5-sonnet@20241022", "claude-3-5-sonnet"),
            ("qwen3:8b", "qwen3-8b"),
            ("llama3.1:latest", "llama3-1"),
            ("Qwen/Qwen3-8B-AWQ", "qwen3-8b"),
            ("/models/Qwen3-8B-Q4_K_M.gguf", "qwen3-8b"),
            ("C:\\models\\Qwen3-8B.IQ2_XXS.gguf", "qwen3-8b"),
            ("deepseek-v3", "deepseek-v3"),
            ("qwen2.5-7b-instruct", "qwen2-5-7b-instruct"),
        ] {
            assert_eq!(spellings(model).last().map(String::as_str), Some(name), "{model}");
        }
    }

    #[test]
    fn families_end_with_a_word_or_a_number() {
        for (name, fragment, is) in [
            ("gemma-3-27b-it", "gemma-3", true),
            ("gemma-3n-e4b", "gemma-3", true),
            ("gemma3-4b", "gemma", true),
            ("gemma-30b", "gemma-3", false),
            ("functiongemma-270m", "gemma", false),
            ("gpt-3-5-turbo-0613", "gpt-3.5-turbo", true),
            ("hermes-2-pro-llama-3-8b", "llama-3", true),
            ("philosopher-7b", "phi", false),
        ] {
            assert_eq!(is_of(name, &key(fragment)), is, "{fragment} in {name}");
        }
    }
}
