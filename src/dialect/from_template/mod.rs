//! A dialect from a model's chat template.
//!
//! The template is what turns a conversation into the text that the model was trained on, so it also shows how the
//! model will spell its calls. It is rendered with answers that differ in one thing (one call or two, another name,
//! another value), and what the texts have in common are the markers. The dialect so found is then put to the test:
//! other answers are rendered, and reading them must give back every name, argument, content and reasoning.
mod cut;
mod derive;
mod ends;
mod probe;
mod render;
mod spell;
mod verify;

use super::{Dialect, Dialects, catalogue};
use crate::error::{Error, ErrorCode};
use crate::schema::ToolSet;
use derive::Derivation;
use probe::{Answer, Prober, REASONING_KEYS, Spelling};
use render::Renderer;
use serde_json::json;
use std::sync::Arc;
use verify::{Failure, Sample};

/// What stands for the end-of-turn token where the caller does not say which it is.
const NO_EOS: &str = "<|zqeos|>";
/// How many spellings of a conversation are tried in full.
const TRIES: usize = 4;

/// What is known of a chat template besides its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TemplateOptions<'a> {
    /// The name of the dialect; `"template"` if empty.
    pub name: &'a str,
    /// The tokenizer's `bos_token` and `eos_token`, where templates ask for them. Not needed to find the calls.
    pub bos_token: &'a str,
    pub eos_token: &'a str,
}

/// What came of one spelling of the conversations.
struct Attempt {
    dialect: Result<Dialect, String>,
    seen: Vec<String>,
    samples: Vec<Sample>,
    failures: Vec<Failure>,
}

impl Attempt {
    /// The dialect, if it reads what the template renders.
    fn read(&self) -> Option<&Dialect> {
        self.dialect.as_ref().ok().filter(|_| !serious(&self.failures))
    }
}

impl Dialect {
    /// The dialect that a model with this chat template writes.
    ///
    /// Where the markers cannot be derived, a row of the catalogue that reads everything the template renders is taken
    /// instead, and `about` says so.
    ///
    /// # Errors
    /// [`ErrorCode::BadDialect`] if the template is no Jinja, writes no calls, or writes them in a way that is not
    /// understood: the message says which conversation fails, and what was understood.
    ///
    /// ```
    /// use toolglot::dialect::{Dialect, Dialects, TemplateOptions};
    /// use toolglot::engine::{extract, Options};
    /// let template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}\
    ///     {% for c in m.tool_calls %}<call:{{ c.function.name }}>{{ c.function.arguments | tojson }}</call>{% endfor %}\
    ///     <|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    /// let dialect = Dialect::from_chat_template(template, &TemplateOptions::default())?;
    /// assert_eq!(dialect.calls, ["<call:{name}> {arguments} </call>"]);
    /// let dialects = Dialects::of(dialect)?;
    /// let turn = extract("<call:f>{\"a\": 1}</call>", &dialects, None, &Options::default());
    /// assert_eq!(turn.tool_calls[0].name, "f");
    /// # Ok::<(), toolglot::Error>(())
    /// ```
    pub fn from_chat_template(source: &str, options: &TemplateOptions<'_>) -> Result<Self, Error> {
        let bad = |what: String| Error::new(ErrorCode::BadDialect, what);
        let renderer = Renderer::new(source).map_err(|e| bad(format!("the chat template cannot be read: {e}")))?;
        let eos = if options.eos_token.is_empty() { NO_EOS } else { options.eos_token };
        let name = if options.name.is_empty() { "template" } else { options.name };
        let first = Spelling::all().next().ok_or_else(|| bad("no spelling".into()))?;
        let tools = derive::tools();
        let prober = Prober { renderer: &renderer, tools, spelling: first, bos: options.bos_token, eos };
        let tool_set = verify::tools();
        let tool_set = Arc::new(ToolSet::from_values(tool_set.as_array().map_or(&[], Vec::as_slice))?);
        let named = |dialect: Self, about: String, attempt: &Attempt| {
            let example = example(&attempt.samples);
            Self { name: name.to_owned().into(), about, example, parsers: Vec::new(), models: Vec::new(), ..dialect }
        };
        let derived =
            |dialect: &Self, by: &Attempt| named(dialect.clone(), "Derived from a chat template".to_owned(), by);
        let of_catalogue = |row: Self, by: &Attempt| {
            let about = format!("A chat template that reads as the catalogue's {:?} ({})", row.name, row.about);
            named(row, about, by)
        };
        let mut attempts: Vec<Attempt> = Vec::new();
        for spelling in usable(&prober).map_err(bad)? {
            let prober = prober.with(spelling);
            let by = |derivation| attempt(&prober, derivation, source, &tool_set);
            let flat = Derivation::with_flat_tags(&prober).map(by).filter(|flat| flat.read().is_some());
            let tried = flat.unwrap_or_else(|| by(Derivation::new(&prober)));
            if let Some(dialect) = tried.read() {
                // A row that knows both of its turns tells more.
                if serious_in_two_turns(&tried.failures)
                    && let Some(row) = fitting(&tried, &tool_set, serious_in_two_turns)?
                {
                    return Ok(of_catalogue(row, &tried));
                }
                return Ok(derived(dialect, &tried));
            }
            // Before the next spelling: what a template writes of likely conversations tells more than what may be derived
            // from others.
            if let Some(row) = fitting(&tried, &tool_set, serious)? {
                return Ok(of_catalogue(row, &tried));
            }
            let own = Derivation::with_own_keys(&prober).map(by);
            if let Some((dialect, own)) = own.as_ref().and_then(|own| own.read().zip(Some(own))) {
                return Ok(derived(dialect, own));
            }
            attempts.push(tried);
        }
        let best = attempts.iter().min_by_key(|a| (a.dialect.is_err(), a.failures.len()));
        Err(bad(best.map_or_else(|| "the template writes no calls".to_owned(), explained)))
    }
}

/// What became of a call in the spellings that were tried.
#[derive(Default)]
struct Tried {
    /// It came out whole; at most [`TRIES`] that differ in what they render.
    whole: Vec<Spelling>,
    /// It came out with its arguments as a JSON string of JSON. Where arguments were given as a text that is the wrong spelling,
    /// if there is any other.
    twice: Vec<Spelling>,
    texts: Vec<String>,
    /// What a call was refused with.
    refused: Option<String>,
    /// A conversation with a call was rendered without it.
    ignored: bool,
}

/// The spellings in which a call comes out whole.
fn usable(prober: &Prober<'_>) -> Result<Vec<Spelling>, String> {
    let mut tried = Tried::default();
    // Some templates need a system message.
    for system in [false, true] {
        for spelling in Spelling::all() {
            tried.spelling(prober, Spelling { system, ..spelling })?;
            if tried.whole.len() == TRIES {
                break;
            }
        }
        let found = if tried.whole.is_empty() { std::mem::take(&mut tried.twice) } else { tried.whole };
        if !found.is_empty() {
            return Ok(found);
        }
        tried.whole = found;
    }
    let refused = tried.refused.unwrap_or_default();
    Err(match (tried.ignored, refused.is_empty()) {
        (false, _) => format!("the chat template cannot be rendered with a call: {refused}"),
        (true, true) => "the chat template ignores tool_calls: what it renders holds no call".into(),
        (true, false) => {
            format!(
                "the chat template ignores tool_calls: what it renders holds no call (or it refuses one: {refused})"
            )
        }
    })
}

impl Tried {
    fn spelling(&mut self, prober: &Prober<'_>, spelling: Spelling) -> Result<(), String> {
        let call = Answer::calls([(derive::FIRST, json!({derive::KEY: derive::VALUE}))]);
        let text = match prober.with(spelling).answer(&call) {
            Ok(rendered) => rendered.text,
            // What runs for too long does so with every spelling.
            Err(e) if e.contains("fuel") => return Err(format!("the chat template cannot be rendered: {e}")),
            Err(e) => {
                self.refused.get_or_insert(e);
                return Ok(());
            }
        };
        let whole = [derive::FIRST, derive::KEY, derive::VALUE].iter().all(|needle| text.contains(needle));
        self.ignored |= !whole;
        if !whole || self.texts.contains(&text) {
            return Ok(());
        }
        let twice = text.contains(&format!("\\\"{}", derive::KEY));
        let found = if twice { &mut self.twice } else { &mut self.whole };
        if found.len() < TRIES {
            found.push(spelling);
        }
        self.texts.push(text);
        Ok(())
    }
}

/// The spelling with the key under which the template reads reasoning, and the switch it asks for.
fn with_reasoning(prober: &Prober<'_>) -> Spelling {
    let answer = Answer::calls([(derive::FIRST, json!({derive::KEY: derive::VALUE}))]).reasoning(derive::REASON);
    for thinking in [None, Some(true)] {
        for reasoning in REASONING_KEYS {
            let spelling = Spelling { reasoning, thinking, ..prober.spelling };
            let text = prober.with(spelling).answer(&answer).unwrap_or_default().text;
            if text.contains(derive::REASON) && text.contains(derive::FIRST) {
                return spelling;
            }
        }
    }
    prober.spelling
}

fn attempt(prober: &Prober<'_>, mut derivation: Derivation<'_, '_>, source: &str, tools: &Arc<ToolSet>) -> Attempt {
    let mut dialect = derivation.derive();
    let spelling = with_reasoning(prober);
    let thinking = prober.with(spelling);
    let mut of_reasoning = Derivation::new(&thinking);
    if let Ok(dialect) = &mut dialect {
        of_reasoning.reasoning(dialect, source);
    }
    let mut seen = derivation.seen;
    seen.append(&mut of_reasoning.seen);
    let mut prober = prober.with(spelling);
    prober.tools = verify::tools();
    let samples = verify::samples(&Derivation::new(&prober), verify::probes());
    let mut attempt = Attempt { dialect, seen, samples, failures: Vec::new() };
    if let Ok(dialect) = &attempt.dialect {
        match Dialects::of(dialect.clone()) {
            Ok(ready) => attempt.failures = verify::verify(dialect, &ready, tools, &attempt.samples),
            Err(e) => attempt.dialect = Err(e.to_string()),
        }
    }
    attempt
}

/// The row of the catalogue that reads everything the template renders, as far as the failures tell that are left to it.
fn fitting(
    attempt: &Attempt,
    tools: &Arc<ToolSet>,
    tell: impl Fn(&[Failure]) -> bool,
) -> Result<Option<Dialect>, Error> {
    for row in catalogue() {
        let ready = Dialects::named(&row.name)?;
        if !attempt.samples.is_empty() && !tell(&verify::verify(row, &ready, tools, &attempt.samples)) {
            return Ok(Some((**row).clone()));
        }
    }
    Ok(None)
}

/// Some of the failures tell. Some templates close their section after every call but the first; two calls show the form.
fn serious(failures: &[Failure]) -> bool {
    failures.iter().any(|f| f.name != "three calls" && f.name != verify::TWO_TURNS)
}

/// As [`serious`], where a model is held to write both of its turns.
fn serious_in_two_turns(failures: &[Failure]) -> bool {
    failures.iter().any(|f| f.name != "three calls")
}

fn example(samples: &[Sample]) -> String {
    let best = samples.iter().find(|s| s.name == "content before a call").or(samples.first());
    best.map(|s| s.text.clone()).unwrap_or_default()
}

fn explained(attempt: &Attempt) -> String {
    let seen =
        if attempt.seen.is_empty() { String::new() } else { format!(" Understood: {}.", attempt.seen.join("; ")) };
    let failures: Vec<&Failure> = attempt.failures.iter().filter(|f| f.name != verify::TWO_TURNS).collect();
    match (&attempt.dialect, failures.first()) {
        (Err(why), _) => format!("the chat template is not understood: {why}.{seen}"),
        (Ok(_), Some(f)) => {
            let failed: Vec<&str> = failures.iter().map(|f| f.name).collect();
            format!(
                "what the chat template renders does not read back ({}). {}: {} in {:?}.{seen}",
                failed.join(", "),
                f.name,
                f.why,
                f.text
            )
        }
        (Ok(_), None) => format!("the chat template is not understood.{seen}"),
    }
}

#[cfg(test)]
mod tests;
