//! Call ids in each provider's grammar: the same id always becomes the same id, in calls and results alike.
use crate::provider::Provider;

/// `id` as `provider` takes it: itself where that is allowed, else one made from it. What is allowed, the issues of
/// [`check_history`](crate::provider::check_history) say.
pub fn provider_id(id: &str, provider: Provider) -> String {
    if valid(id, provider) { id.to_owned() } else { made(id, provider, 0) }
}

/// As [`provider_id`], another one for each `attempt`: for ids that are taken.
pub(super) fn made(id: &str, provider: Provider, attempt: u64) -> String {
    let (prefix, length) = match provider {
        Provider::Mistral => ("", 9),
        Provider::Anthropic => ("toolu_", 22),
        Provider::Bedrock => ("tooluse_", 22),
        _ => ("call_", 24),
    };
    let mut out = String::with_capacity(prefix.len() + length);
    out.push_str(prefix);
    let mut state = hash(id) ^ attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for _ in 0..length {
        // splitmix64: a digit from each step.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let digit = ((z ^ (z >> 31)) % 62) as usize;
        out.push(ALPHABET.get(digit).copied().map_or('0', char::from));
    }
    out
}

/// FNV-1a: the ids must be the same in every process and version.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Whether `provider` takes `id`.
pub(super) fn valid(id: &str, provider: Provider) -> bool {
    let all = |more: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    if id.is_empty() {
        return false;
    }
    match provider {
        Provider::Mistral => id.len() == 9 && all(""),
        Provider::OpenAi => id.len() <= 40,
        Provider::OpenAiResponses => id.len() <= 64,
        Provider::Anthropic => all("_-"),
        Provider::Bedrock => id.len() <= 64 && all("_.:-"),
        Provider::Gemini | Provider::Cohere | Provider::Ollama => true,
    }
}

/// The ids that `provider` takes, in words.
pub(super) const fn grammar(provider: Provider) -> &'static str {
    match provider {
        Provider::Mistral => "nine letters and digits",
        Provider::OpenAi => "at most 40 characters",
        Provider::OpenAiResponses => "at most 64 characters",
        Provider::Anthropic => "letters, digits, `_` and `-`",
        Provider::Bedrock => "at most 64 letters, digits, `_`, `.`, `:` and `-`",
        Provider::Gemini | Provider::Cohere | Provider::Ollama => "any characters, but not none",
    }
}

/// The id was made by this library ([`crate::turn::new_call_id`]), because the provider sent none.
pub(super) fn is_made_up(id: &str) -> bool {
    id.strip_prefix("call_").is_some_and(|rest| rest.len() == 20 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_grammar_is_kept_and_the_map_is_stable() {
        let ids = ["call_9vYz3rKq0bTf", "functions.get_weather:0", "0", "toolu_01A", "é", &"x".repeat(90), ""];
        for provider in Provider::ALL {
            for id in ids {
                let mapped = provider_id(id, provider);
                assert!(valid(&mapped, provider), "{mapped} for {provider:?}");
                assert_eq!(mapped, provider_id(id, provider));
                assert_eq!(mapped, provider_id(&mapped, provider), "mapping again changes nothing");
            }
        }
        assert_ne!(provider_id("a.b", Provider::Anthropic), provider_id("a:b", Provider::Anthropic));
        assert!(is_made_up(&crate::turn::new_call_id()));
    }
}
