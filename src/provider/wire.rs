//! What each provider's file says of its answers: a row ([`Wording`]) and the reading of one choice ([`Wire`]).
use super::assembly::Assembly;
use super::{Node, Provider, anthropic, bedrock, cohere, gemini, mistral, ollama, openai_chat, openai_responses};
use std::fmt::Debug;

/// A complete response, or a chunk of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Payload<'p, 'a> {
    /// The name of the SSE event that it came in.
    pub(super) event: &'p str,
    pub(super) body: &'p Node<'a>,
    /// It is a complete response.
    pub(super) whole: bool,
}

impl Payload<'_, '_> {
    /// Hands out its `choices` by their indexes; without one it is the first, as Gemini leaves out what is 0. In a complete
    /// response they are as many answers, in that order, whatever indexes they share.
    pub(super) fn each(&self, choices: &[Node<'_>], take: &mut Take<'_>) {
        let index = |part: &&Node<'_>| part.count("index").unwrap_or_default();
        if !self.whole {
            return choices.iter().for_each(|part| take(index(&part), part));
        }
        let mut parts: Vec<_> = choices.iter().collect();
        parts.sort_by_key(index);
        parts.into_iter().zip(0..).for_each(|(part, rank)| take(rank, part));
    }
}

/// A provider's reading of one choice, and what it keeps between the chunks of a stream.
pub(super) trait Wire: Debug + Send + Sync {
    /// Reads what a payload says of this choice: `part`, which is all of it where a provider has one choice only.
    fn read(&mut self, payload: &Payload<'_, '_>, part: &Node<'_>, out: &mut Assembly);

    /// Reads what a payload says beside its choices; only the first choice is asked.
    fn rest(&mut self, _payload: &Payload<'_, '_>, _out: &mut Assembly) {}

    /// Puts into `out.state` what must go back with the message.
    fn state(&mut self, out: &mut Assembly);
}

/// Takes a choice and its number.
pub(super) type Take<'t> = dyn FnMut(u64, &Node<'_>) + 't;

/// How a provider words its answers.
#[derive(Debug)]
pub(super) struct Wording {
    /// A reading for a new choice.
    pub(super) wire: fn() -> Box<dyn Wire>,
    /// Hands each choice of a payload on, with the number that the provider gives it.
    pub(super) choices: fn(&Payload<'_, '_>, &mut Take<'_>),
    /// Whether a payload is (part of) an answer, even if it also mentions an error.
    pub(super) answers: fn(&Node<'_>) -> bool,
    /// Its stop reasons have a word for calls, so that another one beside calls is odd.
    pub(super) names_calls: bool,
    /// An answer that failed is one all the same: its reading tells the error, by the answer's own status.
    pub(super) answers_with_errors: bool,
    /// Two choices of a stream may be one answer: one has its text, the other its calls.
    pub(super) splits: bool,
    /// What [`Provider::blobs`] tells.
    pub(super) blobs: &'static [&'static str],
}

impl Wording {
    /// The row of `provider`.
    pub(super) fn of(provider: Provider) -> &'static Self {
        match provider {
            Provider::OpenAi => &openai_chat::WORDING,
            Provider::OpenAiResponses => &openai_responses::WORDING,
            Provider::Anthropic => &anthropic::WORDING,
            Provider::Gemini => &gemini::WORDING,
            Provider::Mistral => &mistral::WORDING,
            Provider::Cohere => &cohere::WORDING,
            Provider::Ollama => &ollama::WORDING,
            Provider::Bedrock => &bedrock::WORDING,
        }
    }
}

/// [`Wording::choices`] of a provider whose answers are one choice.
pub(super) fn one_choice(payload: &Payload<'_, '_>, take: &mut Take<'_>) {
    take(0, payload.body);
}
