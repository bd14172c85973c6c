//! In which words calls are shown to a model: the form of a call as text, with capital words for what a call fills in.
use super::prompt::{KEY, NAME, VALUE, own_form};
use crate::dialect::{Bare, Body, Dialects, Element, Row, Slot, catalogue, form};
use crate::error::{Error, ErrorCode};
use std::borrow::Cow;

/// The dialect that text is written in.
#[derive(Debug, Clone, Copy)]
pub enum InDialect<'d> {
    /// What a name means: a dialect's, a parser's or a model's. `auto` is the plain JSON form.
    Named(&'d str),
    /// The caller's own.
    Own(&'d Dialects),
}

impl<'d> From<&'d str> for InDialect<'d> {
    fn from(name: &'d str) -> Self {
        Self::Named(name)
    }
}

impl<'d> From<&'d Dialects> for InDialect<'d> {
    fn from(dialects: &'d Dialects) -> Self {
        Self::Own(dialects)
    }
}

/// The dialect used where the caller names none.
pub(super) const PLAIN: &str = "json";

/// How models of a dialect write calls.
pub(super) struct WrittenForm<'d> {
    /// The call alone, where the example shows more than that.
    own: Option<&'static str>,
    example: Cow<'d, str>,
    /// Empty where each call stands on its own.
    parallel: Cow<'d, str>,
}

impl<'d> WrittenForm<'d> {
    /// The form of the models of a dialect.
    ///
    /// # Errors
    /// [`ErrorCode::UnknownDialect`]; [`ErrorCode::BadDialect`] if a dialect of the caller's own shows no form.
    pub(super) fn of(dialect: InDialect<'d>) -> Result<Self, Error> {
        let name = match dialect {
            InDialect::Own(dialects) => return Self::of_own(dialects),
            InDialect::Named(name) => name,
        };
        let known = Dialects::named(name)?;
        if let Some(form) = form(name) {
            return Ok(Self { own: None, example: (&*form.example).into(), parallel: (&*form.parallel).into() });
        }
        let name = known.name().unwrap_or(PLAIN);
        let row = catalogue().iter().find(|row| row.name == name);
        let (example, parallel) = row.map_or(("", ""), |row| (&*row.example, &*row.parallel));
        Ok(Self { own: own_form(name), example: example.into(), parallel: parallel.into() })
    }

    /// A dialect of the caller's own shows its form by an example in the words of the catalogue's, or by its templates.
    fn of_own(dialects: &'d Dialects) -> Result<Self, Error> {
        let row = dialects.rows.first();
        if let Some(row) = row {
            let (example, parallel) = (row.dialect.example.as_str(), row.dialect.parallel.as_str());
            let shown = in_words(example);
            if [NAME, KEY, VALUE].iter().all(|word| shown.contains(word)) {
                return Ok(Self { own: None, example: example.into(), parallel: parallel.into() });
            }
            if let Some((example, parallel)) = spelt(row) {
                return Ok(Self { own: None, example: example.into(), parallel: parallel.into() });
            }
        }
        let message = format!(
            "the dialect {:?} shows no call: its `example` has to be one to get_weather with the city Paris",
            dialects.name().unwrap_or_default()
        );
        Err(Error::at(ErrorCode::BadDialect, "example", message))
    }

    /// The form of one call: the example with capital words for name, parameter and value.
    pub(super) fn call(&self) -> String {
        // Prose before the call is no part of its form.
        let example = self.example.strip_prefix("I'll look.\n").unwrap_or(&self.example);
        self.own.map_or_else(|| in_words(example), str::to_owned)
    }

    /// The form of two calls in one answer.
    pub(super) fn calls(&self) -> String {
        if self.parallel.is_empty() {
            let call = self.call();
            return format!("{call}\n{call}");
        }
        in_words(&self.parallel)
    }

    /// Each call stands on its own.
    pub(super) fn apart(&self) -> bool {
        self.parallel.is_empty()
    }
}

/// An example of the catalogue with capital words for what a call fills in.
fn in_words(example: &str) -> String {
    const WORDS: [(&str, &str); 6] =
        [("get_weather", NAME), ("get_time", NAME), ("city", KEY), ("zone", KEY), ("Paris", VALUE), ("UTC", VALUE)];
    WORDS.iter().fold(example.to_owned(), |text, (said, word)| text.replace(said, word))
}

/// The form of one call, and that of two where they share markers, by the dialect's templates.
fn spelt(row: &Row) -> Option<(String, String)> {
    if row.dialect.channels.is_some() {
        return None;
    }
    let Some(call) = row.calls.first() else {
        let bare = row.dialect.bare.first()?;
        let body = match bare {
            Bare::Json => Body::Json,
            Bare::Python => Body::Python,
            Bare::NameLine | Bare::Elements => return None,
        };
        return Some((spelt_body(row, body)?, String::new()));
    };
    let body = spelt_body(row, call.body)?;
    // Where the name stands nowhere else, it is in the id.
    let named = body.contains(NAME) || call.head.iter().any(names);
    let spelt = |number: u32| {
        let id = if named { number.to_string() } else { format!("functions.{NAME}:{number}") };
        literal(&call.head, Some(&id)) + &body + &literal(&call.tail, Some(&id))
    };
    let (first, second) = (spelt(0), spelt(1));
    Some(match row.sections.first() {
        Some(section) => {
            let (open, close) = (literal(&section.open, None), literal(&section.close, None));
            let round = |calls: &str| format!("{open}{calls}{close}");
            (round(&first), round(&format!("{first}\n{second}")))
        }
        None if first == second => (first, String::new()),
        None => (first.clone(), format!("{first}\n{second}")),
    })
    .filter(|(example, _)| example.contains(NAME))
}

fn names(element: &Element) -> bool {
    match element {
        Element::Slot(slot) => *slot == Slot::Name,
        Element::Attributes(pairs) => pairs.iter().any(|(_, slot)| *slot == Slot::Name),
        _ => false,
    }
}

fn spelt_body(row: &Row, body: Body) -> Option<String> {
    const ARGUMENTS: &str = r#"{"PARAMETER": "VALUE"}"#;
    Some(match body {
        Body::Json if row.dialect.name_as_key => format!(r#"{{"{NAME}": {ARGUMENTS}}}"#),
        Body::Json => format!(r#"{{"name": "{NAME}", "arguments": {ARGUMENTS}}}"#),
        Body::Arguments => ARGUMENTS.to_owned(),
        Body::Parameters => {
            let parameter = row.parameters.first()?;
            let key = parameter.behind_key.as_ref().map_or(String::new(), |behind| format!("{KEY}{behind}"));
            let after = literal(&parameter.after, None);
            format!("{}{VALUE}{}{key}{after}", literal(&parameter.head, None), parameter.closer)
        }
        Body::Python => format!("{NAME}({KEY}=\"{VALUE}\")"),
        Body::Gemma => format!("{{{KEY}:{0}{VALUE}{0}}}", row.dialect.quote),
        Body::Elements => format!("{0}<{KEY}>{VALUE}{0}</{KEY}>", row.dialect.tag_prefix),
        // The parameter's name is nowhere in it.
        Body::Text => return None,
    })
}

/// The elements of a template filled in; in a call, which has an `id`, white space that may be there is a line break round
/// its body.
fn literal(elements: &[Element], id: Option<&str>) -> String {
    let word = |slot: Slot| match slot {
        Slot::Name => NAME,
        Slot::Key => KEY,
        Slot::Value => VALUE,
        Slot::Type => "string",
        Slot::Id => id.unwrap_or_default(),
        Slot::Ignored => "0",
        Slot::Number => "",
    };
    let mut out = String::new();
    for (at, element) in elements.iter().enumerate() {
        match element {
            Element::Literal(text) | Element::Optional(text) => out.push_str(text),
            Element::Space => {
                let end = at == 0 || at + 1 == elements.len();
                out.push(if end && id.is_some() { '\n' } else { ' ' });
            }
            Element::Slot(slot) => out.push_str(word(*slot)),
            Element::Attributes(pairs) => {
                let pairs = pairs.iter().map(|(name, slot)| match (&**name, slot) {
                    ("string", Slot::Type) => "string=\"true\"".to_owned(),
                    (name, slot) => format!("{name}=\"{}\"", word(*slot)),
                });
                out.push_str(&pairs.collect::<Vec<_>>().join(" "));
            }
            Element::Body(_) => {}
        }
    }
    out
}
