//! One or more dialects made ready for the engine.
use super::catalogue::behind;
use super::choice;
use super::markers::{Marker, Markers};
use super::template::{Body, Element, Slot, Template};
use super::{Bare, Dialect};
use crate::char_class;
use crate::error::{Error, ErrorCode};
use memchr::memmem::Finder;
use once_cell::sync::Lazy;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How a call is written, split at its body.
#[derive(Debug, Clone)]
pub(crate) struct CallTemplate {
    /// What stands before the body.
    pub(crate) head: Vec<Element>,
    pub(crate) body: Body,
    /// What closes it.
    pub(crate) tail: Vec<Element>,
    /// What may follow the opening marker, white space aside.
    pub(crate) first: First,
    /// What the body, or what closes a call without any, may begin with.
    pub(crate) inside: First,
    /// For each element of its head, the number of what it begins with up to there: see [`choice::beginnings`].
    pub(crate) beginnings: Box<[u16]>,
    /// The one of these that its name is the last of.
    pub(crate) named: Option<u16>,
    /// Its opening marker has the bars of a special token.
    pub(crate) special: bool,
    /// Its opening marker is a label in plain words: `Action:`.
    pub(crate) labelled: bool,
    /// Its name must be an offered one.
    pub(crate) offered: bool,
    /// So it must, and a parameter begins with the same marker: inside a call that marker is the parameter's.
    as_parameter: bool,
    /// Another template of the set has the same head.
    pub(crate) shares_head: bool,
    /// An earlier row of the set reads the same calls: outside this row's section there is nothing to try again.
    pub(crate) twin: bool,
}

impl CallTemplate {
    /// The first marker of what closes it is a tag.
    fn closes_as_tag(&self) -> bool {
        let closer = self.tail.iter().find_map(|element| match element {
            Element::Literal(text) | Element::Optional(text) => Some(text),
            _ => None,
        });
        closer.is_none_or(|text| text.starts_with('<'))
    }

    /// Which element of the head holds the name, if that or an id stands right behind the opening marker.
    pub(crate) fn name_at(&self) -> Option<usize> {
        let at = self.head.iter().skip(1).position(|element| *element != Element::Space)? + 1;
        matches!(self.head.get(at), Some(Element::Slot(Slot::Name | Slot::Id))).then_some(at)
    }

    /// What stands behind the name, white space aside, and is a marker that no text has.
    fn inner<'c>(&'c self, parameters: &'c [Parameter]) -> Option<&'c str> {
        let behind = self.head.get(self.name_at()? + 1..)?;
        match (behind.iter().find(|element| **element != Element::Space), self.body) {
            (Some(Element::Literal(text)), _) => Some(&**text).filter(|text| text.len() > 3),
            (None, Body::Parameters) => parameters.first().map(|parameter| &*parameter.opener),
            _ => None,
        }
    }

    /// A marker stands between the head and the body, and so behind the name.
    pub(crate) fn delimits_name(&self) -> bool {
        matches!(self.head.iter().rev().find(|e| **e != Element::Space), Some(Element::Literal(_)))
    }
}

/// A marker has the bars of a special token.
pub(crate) fn special(marker: &str) -> bool {
    marker.contains(['|', '｜'])
}

/// What may stand at a place: its first byte and, where that is `<`, the second; `None` for anything.
#[derive(Debug, Clone, Default)]
pub(crate) struct First(Option<Box<Bytes>>);

#[derive(Debug, Clone)]
struct Bytes {
    first: [bool; 256],
    /// What may follow `<`.
    tag: [bool; 256],
}

impl First {
    fn of(bytes: impl IntoIterator<Item = u8>) -> Self {
        let mut set = Box::new(Bytes { first: [false; 256], tag: [true; 256] });
        // A line break that was written as `\\n` is white space as well.
        set.first[usize::from(b'\\')] = true;
        bytes.into_iter().for_each(|byte| set.first[usize::from(byte)] = true);
        Self(Some(set))
    }

    /// One of `texts`.
    fn one_of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
        let mut set = Self::of(texts.clone().filter_map(|text| text.bytes().next()));
        let tags = || texts.clone().filter_map(|text| text.strip_prefix('<'));
        if let Some(set) = &mut set.0
            && !tags().any(str::is_empty)
        {
            set.tag = [false; 256];
            tags().filter_map(|text| text.bytes().next()).for_each(|byte| set.tag[usize::from(byte)] = true);
        }
        set
    }

    /// What `elements`, and then the body, may begin with.
    fn behind(elements: &[Element], body: Body, tail: &[Element], row: &Row) -> Self {
        let closers = tail.iter().filter_map(|element| match element {
            Element::Literal(text) | Element::Optional(text) => Some(&**text),
            _ => None,
        });
        match elements.iter().find(|e| **e != Element::Space) {
            Some(Element::Literal(text)) => Self::one_of(std::iter::once(&**text)),
            // A name begins with none of these.
            Some(Element::Slot(Slot::Name)) => Self::of((0..=255).filter(|byte| !b"<>{}[]()|\"'`".contains(byte))),
            Some(Element::Slot(Slot::Number)) => Self::of(*b"0123456789:"),
            // An attribute's name, or the end of a tag that has none.
            Some(Element::Attributes(_)) => {
                Self::of((0..=255).filter(|byte| char_class::ATTRIBUTE.has_ascii(*byte) || *byte == b'/'))
            }
            Some(_) => Self(None),
            None => match body {
                Body::Json => Self::of(*b"{[\""),
                Body::Gemma => Self::of(*b"{("),
                // A tag, or what stands before each.
                Body::Elements => Self::of(row.dialect.tag_prefix.bytes().take(1).chain(*b"<")),
                Body::Python => Self::of((0..=255).filter(|byte| !b"<>{}()|`".contains(byte))),
                Body::Arguments => Self::one_of(closers.chain(["{", "\""])),
                Body::Parameters => Self::one_of(closers.chain(row.parameters.iter().map(|p| &*p.opener))),
                Body::Text => Self(None),
            },
        }
    }

    fn or(self, other: Self) -> Self {
        let (Some(mut set), Some(other)) = (self.0, other.0) else { return Self(None) };
        let tags = |set: &Bytes| if set.first[usize::from(b'<')] { set.tag } else { [false; 256] };
        let (mine, theirs) = (tags(&set), tags(&other));
        set.tag = std::array::from_fn(|byte| mine[byte] || theirs[byte]);
        set.first.iter_mut().zip(other.first).for_each(|(may, also)| *may |= also);
        Self(Some(set))
    }

    /// Whether `text`, which may be cut off, can be it.
    pub(crate) fn may_be(&self, text: &[u8]) -> bool {
        let (Some(set), Some(byte)) = (&self.0, text.first()) else { return true };
        let tag = || text.get(1).is_none_or(|next| set.tag[usize::from(*next)]);
        set.first[usize::from(*byte)] && (*byte != b'<' || tag())
    }
}

/// A parameter template, split at its value.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) head: Vec<Element>,
    /// The literal that ends the value.
    pub(crate) closer: Box<str>,
    /// The key stands in the closing marker as well, and then this.
    pub(crate) behind_key: Option<Box<str>>,
    /// What stands behind that literal.
    pub(crate) after: Vec<Element>,
    /// The literal that begins the template.
    pub(crate) opener: Box<str>,
    /// Its markers are tags, and so is what closes a call: a value that holds no `<` holds none of them.
    pub(crate) tags: bool,
}

/// A dialect whose templates have been read.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) dialect: Arc<Dialect>,
    /// Its tags are named after the tools and their parameters.
    by_name: bool,
    pub(crate) calls: Vec<CallTemplate>,
    pub(crate) parameters: Vec<Parameter>,
    /// What a parameter may begin with.
    pub(crate) first_parameter: First,
    /// What opens and closes each section.
    pub(crate) sections: Vec<(Vec<Element>, Vec<Element>)>,
    /// What a call in a section may begin with.
    pub(crate) first: First,
    /// An earlier row of the set has the same sections, and the same calls in them.
    pub(crate) twin: bool,
    /// Markers that stand inside the text and are none of it.
    pub(crate) inline: Vec<Vec<Element>>,
}

/// A literal of a call's tail that is a marker wherever it stands, not mere punctuation.
fn closes_alone(text: &str) -> bool {
    text.len() > 3 && text.starts_with(['<', '[']) && text.ends_with(['>', ']'])
        || text.len() > 6 && text.starts_with("</")
}

fn read_call(text: &str, row: &Row) -> Result<(Option<String>, CallTemplate), Error> {
    let template = Template::parse(text)?;
    let Some((at, body)) = template.body() else {
        return Err(Error::at(ErrorCode::BadDialect, text, "a call template needs a body, such as {json}"));
    };
    let (opener, offered) = (template.opener().map(str::to_owned), template.offered);
    let mut head = template.elements;
    let tail: Vec<_> = head.split_off(at).into_iter().skip(1).collect();
    let first = First::behind(head.get(1..).unwrap_or_default(), body, &tail, row);
    let inside = First::behind(&[], body, &tail, row);
    let marker = match head.first() {
        Some(Element::Literal(opener)) => &**opener,
        _ => "",
    };
    let numbered =
        matches!(head.get(1..3), Some([Element::Slot(Slot::Number), Element::Literal(sign)]) if &**sign == ":");
    let (special, labelled) = (special(marker), numbered || marker.trim_end_matches('*').ends_with(':'));
    let as_parameter = offered && row.parameters.iter().any(|parameter| *parameter.opener == *marker);
    let (beginnings, named, shares_head, twin) = (Box::default(), None, false, false);
    let template = CallTemplate {
        head,
        body,
        tail,
        first,
        inside,
        beginnings,
        named,
        special,
        labelled,
        offered,
        as_parameter,
        shares_head,
        twin,
    };
    Ok((opener, template))
}

fn read_parameter(text: &str) -> Result<Parameter, Error> {
    let bad = |what: &str| Error::at(ErrorCode::BadDialect, text, what.to_owned());
    let template = Template::parse(text)?;
    let opener = template.opener().ok_or_else(|| bad("a parameter template must begin with literal text"))?;
    let opener: Box<str> = opener.into();
    let value = Element::Slot(Slot::Value);
    let at = template.elements.iter().position(|e| *e == value).ok_or_else(|| bad("the hole {value} is missing"))?;
    let Some(Element::Literal(closer)) = template.elements.get(at + 1).cloned() else {
        return Err(bad("literal text must follow {value}"));
    };
    let mut head = template.elements;
    let mut after: Vec<Element> = head.split_off(at).into_iter().skip(2).collect();
    let mut behind_key = None;
    if let [Element::Slot(Slot::Key), Element::Literal(text), ..] = after.as_slice() {
        behind_key = Some(text.clone());
        after.drain(..2);
    }
    // Where no tag stands right before the value, one without its first sign may begin that.
    let tags = opener.starts_with('<') && closer.starts_with('<') && head.last() != Some(&Element::Space);
    Ok(Parameter { head, closer, behind_key, after, opener, tags })
}

impl Row {
    fn new(dialect: Arc<Dialect>, number: u16, markers: &mut Vec<(String, Marker)>) -> Result<Self, Error> {
        let mut row = Self {
            calls: Vec::new(),
            parameters: Vec::new(),
            first_parameter: First::default(),
            sections: Vec::new(),
            first: First::default(),
            twin: false,
            inline: Vec::new(),
            by_name: dialect.bare.contains(&Bare::Elements),
            dialect,
        };
        let dialect = row.dialect.clone();
        for text in &dialect.parameters {
            row.parameters.push(read_parameter(text)?);
        }
        row.first_parameter = First::one_of(row.parameters.iter().map(|parameter| &*parameter.opener));
        for (i, text) in dialect.calls.iter().enumerate() {
            let (opener, call) = read_call(text, &row)?;
            if call.body == Body::Parameters && row.parameters.is_empty() {
                return Err(Error::at(ErrorCode::BadDialect, text, "{parameters} needs a template in `parameters`"));
            }
            if row.by_name() && opener.as_deref() == Some("<") {
                // What opens such a call is everywhere: an offered name finds it.
            } else if let Some(opener) = opener {
                if let Some(inner) = call.inner(&row.parameters) {
                    markers.push((inner.to_owned(), Marker::Inner { row: number, call: i as u16 }));
                }
                markers.push((opener, Marker::Call { row: number, call: i as u16 }));
            } else if call.head.first() == Some(&Element::Slot(Slot::Ignored)) {
                // A word that belongs to the marker behind it: looked for where an answer begins.
            } else if dialect.sections.is_empty() && dialect.channels.is_none() {
                return Err(Error::at(
                    ErrorCode::BadDialect,
                    text,
                    "a call must begin with a marker, or have a section",
                ));
            }
            for (element, closer) in call.tail.iter().enumerate() {
                let (Element::Literal(text) | Element::Optional(text)) = closer else { continue };
                let known = |(t, m): &(String, Marker)| {
                    **t == **text && matches!(m, Marker::CallEnd { row, .. } if *row == number)
                };
                if closes_alone(text) && !row.by_name() && !markers.iter().any(known) {
                    let marker = Marker::CallEnd { row: number, call: i as u16, element: element as u16 };
                    markers.push((text.to_string(), marker));
                }
            }
            if call.body == Body::Parameters && !call.closes_as_tag() {
                row.parameters.iter_mut().for_each(|parameter| parameter.tags = false);
            }
            row.calls.push(call);
        }
        let firsts = row.calls.iter().map(|call| First::behind(&call.head, call.body, &call.tail, &row));
        row.first = firsts.reduce(First::or).unwrap_or_default();
        for (i, text) in dialect.inline_markers.iter().enumerate() {
            let template = Template::parse(text)?;
            let opener = template.opener().map(str::to_owned).ok_or_else(|| {
                Error::at(ErrorCode::BadDialect, text, "a marker inside the text must begin with literal text")
            })?;
            markers.push((opener, Marker::Inline { row: number, inline: i as u16 }));
            row.inline.push(template.elements);
        }
        for (i, (open, close)) in dialect.sections.iter().enumerate() {
            let (open, close) = (Template::parse(open)?, Template::parse(close)?);
            let Some(opener) = open.opener() else {
                return Err(Error::new(ErrorCode::BadDialect, "a section must begin with literal text"));
            };
            markers.push((opener.to_owned(), Marker::Section { row: number, section: i as u16 }));
            if let Some(closer) = close.opener() {
                markers.push((closer.to_owned(), Marker::SectionEnd { row: number, section: i as u16 }));
            }
            row.sections.push((open.elements, close.elements));
        }
        Ok(row)
    }

    /// Its calls by the template `text` are read by another row in the same way, as far as it is tried.
    fn reads_as(&self, other: &Self, text: &str) -> bool {
        let (own, others) = (&self.dialect, &other.dialect);
        others.calls.iter().any(|call| call == text)
            && own.parameters.iter().all(|parameter| others.parameters.contains(parameter))
            && own.special_markers == others.special_markers
            && own.sections.is_empty() == others.sections.is_empty()
            && own.channels.is_none()
            && others.channels.is_none()
    }

    /// What may stand behind the literal that opens the section: of more than a literal that is not known yet.
    pub(crate) fn first_in(&self, section: u16) -> Option<&First> {
        let (open, _) = self.sections.get(usize::from(section))?;
        (open.len() == 1).then_some(&self.first)
    }

    /// Its calls that their marker shows inside another call as well.
    pub(crate) fn marked_calls(&self) -> impl Iterator<Item = &CallTemplate> {
        self.calls.iter().filter(|call| !call.as_parameter)
    }

    /// Its tags are named after the tools and their parameters.
    pub(crate) fn by_name(&self) -> bool {
        self.by_name
    }

    /// A way of writing calls without markers that this dialect admits.
    fn admits(&self, bare: Bare) -> bool {
        self.dialect.bare.contains(&bare)
    }
}

/// The dialects that a text may be in: one that was named, or all of the catalogue.
///
/// ```
/// use toolglot::dialect::Dialects;
/// let hermes = Dialects::named("hermes")?;
/// assert!(Dialects::named("Qwen/Qwen2.5-7B-Instruct").is_ok());
/// assert!(Dialects::named("no such thing").is_err());
/// # Ok::<(), toolglot::Error>(())
/// ```
#[derive(Debug)]
pub struct Dialects {
    /// In the order of precedence; other places of the engine say their number.
    pub(crate) rows: Vec<Row>,
    pub(crate) markers: Markers,
    /// Of all rows: what opens and closes reasoning, and tools' results.
    pub(crate) reasoning: Vec<(String, String)>,
    pub(crate) results: Vec<(String, String)>,
    /// Searchers for what closes reasoning: they are dear to make.
    pub(crate) reasoning_ends: Vec<Finder<'static>>,
    /// The row whose calls without markers are JSON, and the one where they are Python.
    pub(crate) bare_json: Option<u16>,
    pub(crate) bare_python: Option<u16>,
    /// The template of calls whose name stands on a line of its own, without a marker: row and call.
    pub(crate) name_line: Option<(u16, u16)>,
    /// Templates of calls that begin with a word before their marker.
    pub(crate) words: Vec<(u16, u16)>,
    /// Templates whose opening marker begins as too much text does: only what an answer begins with is one.
    pub(crate) openers: Vec<(u16, u16)>,
    /// What opens calls in plain words and ends in a colon.
    pub(crate) labels: Vec<String>,
    /// The rows whose messages have headers.
    pub(crate) channels: Vec<u16>,
    /// What their headers may begin with where the opening marker is missing.
    pub(crate) headers: First,
    /// The templates of calls with Gemma's values, one a row: row and call. What stands round strings tells them apart.
    pub(crate) gemma: Vec<(u16, u16)>,
    /// The row whose calls are tags named after tools.
    pub(crate) elements: Option<u16>,
    /// Its calls stand in fences, by templates of its own.
    pub(crate) fenced: bool,
    /// Such templates of any row whose calls are Python, from the label on.
    python_fences: Vec<String>,
    /// Calls, or headers of messages, are looked for where an answer begins and nowhere else.
    pub(crate) begins_bare: bool,
    /// Every dialect of the catalogue is in it.
    pub(crate) auto: bool,
}

/// What a model writes before a call is no longer: a table of all markers grows with their bytes.
const LONGEST_MARKER: usize = 1024;

static AUTO: Lazy<Arc<Dialects>> = Lazy::new(|| {
    let all = Dialects::compile(super::catalogue(), true);
    // The catalogue's own test compiles every row, so the error branch is never taken in a released build.
    debug_assert!(all.is_ok(), "the catalogue cannot be compiled: {all:?}");
    Arc::new(all.unwrap_or_else(|_| Dialects::empty()))
});

impl Dialects {
    /// All dialects of the catalogue: the text decides.
    pub fn auto() -> Arc<Self> {
        AUTO.clone()
    }

    /// The dialect of that name: `auto`, a dialect's own name, a server's name for its parser, or a model id.
    ///
    /// # Errors
    /// [`ErrorCode::UnknownDialect`] if there is none.
    pub fn named(name: &str) -> Result<Arc<Self>, Error> {
        if name == "auto" {
            return Ok(Self::auto());
        }
        super::find(name)
    }

    /// A dialect of the caller's own.
    ///
    /// # Errors
    /// [`ErrorCode::BadDialect`] if a template cannot be read.
    pub fn of(dialect: Dialect) -> Result<Arc<Self>, Error> {
        Self::compile(&[Arc::new(dialect)], false).map(Arc::new)
    }

    /// The dialect's name, if it is only one.
    pub fn name(&self) -> Option<&str> {
        if self.auto { None } else { self.rows.first().map(|r| &*r.dialect.name) }
    }

    /// The dialect of a row.
    pub(crate) fn dialect(&self, row: u16) -> Option<&Arc<Dialect>> {
        self.rows.get(usize::from(row)).map(|row| &row.dialect)
    }

    /// The row that writes calls without markers in the grammar `body`.
    pub(crate) fn bare(&self, body: Body) -> Option<u16> {
        match body {
            Body::Json => self.bare_json,
            Body::Python => self.bare_python,
            Body::Gemma => self.gemma.first().map(|(row, _)| *row),
            Body::Arguments | Body::Parameters | Body::Elements | Body::Text => None,
        }
    }

    /// As [`super::without_namespace`], for the namespace of the dialect that was named as well.
    pub(crate) fn without_namespace<'n, const N: usize>(
        &self,
        name: &'n str,
        separators: [char; N],
    ) -> Option<&'n str> {
        let named = self.rows.first().map(|row| &*row.dialect.namespace).filter(|namespace| !namespace.is_empty());
        named
            .and_then(|namespace| behind(name, namespace, separators))
            .or_else(|| super::without_namespace(name, separators))
    }

    /// A fence with this label is how the dialect that was named writes calls.
    pub(crate) fn labels_fence(&self, label: &str) -> bool {
        let fence = |call: &String| call.strip_prefix("```").is_some_and(|rest| rest.starts_with(label));
        self.fenced && !label.is_empty() && self.rows.iter().any(|row| row.dialect.calls.iter().any(fence))
    }

    /// A fence with this label is how some dialect writes calls in Python.
    pub(crate) fn calls_in_fence(&self, label: &str) -> bool {
        !label.is_empty() && self.python_fences.iter().any(|fence| fence.starts_with(label))
    }

    /// Calls may stand in the text without any marker.
    pub(crate) fn reads_bare(&self) -> bool {
        self.bare_json.is_some() || self.bare_python.is_some() || self.name_line.is_some()
    }

    fn empty() -> Self {
        Self {
            rows: Vec::new(),
            markers: Markers::new(Vec::new(), &[]),
            reasoning: Vec::new(),
            results: Vec::new(),
            reasoning_ends: Vec::new(),
            bare_json: None,
            bare_python: None,
            name_line: None,
            words: Vec::new(),
            openers: Vec::new(),
            labels: Vec::new(),
            channels: Vec::new(),
            headers: First::default(),
            gemma: Vec::new(),
            elements: None,
            fenced: false,
            python_fences: Vec::new(),
            begins_bare: false,
            auto: false,
        }
    }

    /// The set of `dialects`, in their order of precedence; `auto`: no one of them was named.
    pub(crate) fn compile(dialects: &[Arc<Dialect>], auto: bool) -> Result<Self, Error> {
        let mut set = Self { auto, ..Self::empty() };
        let mut entries = Vec::new();
        for (number, dialect) in dialects.iter().enumerate() {
            set.add(dialect, number as u16, &mut entries)?;
        }
        for (i, (open, _)) in set.results.iter().enumerate() {
            entries.push((open.clone(), Marker::Result(i as u16)));
        }
        // What opens a result may be where the model was to stop.
        for (number, row) in set.rows.iter().enumerate() {
            entries.extend(row.dialect.tokens.iter().map(|t| (t.clone(), Marker::Token { row: number as u16 })));
        }
        let ends: BTreeSet<_> =
            set.reasoning.iter().map(|(_, close)| close).filter(|close| !close.is_empty()).collect();
        set.reasoning_ends = ends.into_iter().map(|close| Finder::new(close).into_owned()).collect();
        for (i, (open, close)) in set.reasoning.iter().enumerate() {
            entries.push((open.clone(), Marker::ReasoningOpen(i as u16)));
            entries.push((close.clone(), Marker::ReasoningClose(i as u16)));
        }
        if let Some((marker, _)) = entries.iter().find(|(marker, _)| marker.len() > LONGEST_MARKER) {
            let begins = marker.chars().take(40).collect::<String>();
            let what = format!("a marker has {} bytes, more than {LONGEST_MARKER}", marker.len());
            return Err(Error::at(ErrorCode::BadDialect, &begins, what));
        }
        let mut also = vec![b'`', b'~'];
        // JSON that calls an offered tool is one in every dialect: servers that constrain a model make it write that.
        also.extend_from_slice(b"{[");
        if set.bare_python.is_some() {
            also.push(b'(');
        }
        if set.elements.is_some() {
            also.push(b'<');
        }
        set.headers =
            First::one_of(set.rows.iter().filter_map(|row| row.dialect.channels.as_ref()).flat_map(|channels| {
                let names = channels.content.iter().chain(&channels.reasoning);
                names.chain([&channels.recipient]).map(String::as_str)
            }));
        let opened = !(set.channels.is_empty() && set.openers.is_empty() && set.words.is_empty());
        set.begins_bare = opened || set.name_line.is_some();
        set.markers = Markers::new(entries, &also);
        let beginnings = choice::beginnings(&set.rows);
        let heads: Vec<_> = beginnings.iter().flatten().map(|numbers| numbers.last().copied()).collect();
        let calls = set.rows.iter_mut().flat_map(|row| &mut row.calls);
        for (call, numbers) in calls.zip(beginnings.into_iter().flatten()) {
            call.shares_head = heads.iter().filter(|head| **head == numbers.last().copied()).count() > 1;
            let names = |element: &Element| matches!(element, Element::Slot(Slot::Name) | Element::Attributes(_));
            let name = call.head.iter().position(names);
            call.named = name.and_then(|name| numbers.get(name).copied());
            call.beginnings = numbers;
        }
        let rows = &set.rows;
        let first = |marker| {
            let row = |row: u16| rows.get(usize::from(row));
            match marker {
                Marker::Call { row: number, call } => Some(&row(number)?.calls.get(usize::from(call))?.first),
                Marker::Section { row: number, section } => row(number)?.first_in(section),
                _ => None,
            }
        };
        let beginnings = |marker| match marker {
            Marker::Call { row, call } => {
                let template = rows.get(usize::from(row)).and_then(|row| row.calls.get(usize::from(call)));
                template.map_or(&[][..], |template| &template.beginnings)
            }
            _ => &[][..],
        };
        set.markers.choose(first, beginnings);
        Ok(set)
    }

    /// Adds the row of this `number` and what it begins with to the `entries`.
    fn add(&mut self, dialect: &Arc<Dialect>, number: u16, entries: &mut Vec<(String, Marker)>) -> Result<(), Error> {
        let mut row = Row::new(dialect.clone(), number, entries)?;
        let same = |text: &String, earlier: &Row| row.reads_as(earlier, text);
        let twins: Vec<bool> =
            dialect.calls.iter().map(|text| self.rows.iter().any(|earlier| same(text, earlier))).collect();
        row.twin = self.rows.iter().any(|earlier| {
            dialect.sections == earlier.dialect.sections && dialect.calls.iter().all(|text| same(text, earlier))
        });
        row.calls.iter_mut().zip(twins).for_each(|(call, twin)| call.twin = twin);
        if row.sections.is_empty() {
            // There is no section in which its twins would be tried.
            entries.retain(|(_, marker)| match marker {
                Marker::Call { row: of, call } if *of == number => {
                    row.calls.get(usize::from(*call)).is_none_or(|call| !call.twin)
                }
                _ => true,
            });
        }
        if self.auto {
            let frequent = |(text, marker): &(String, Marker)| match marker {
                Marker::Call { row, call } if text.starts_with('-') => Some((*row, *call)),
                _ => None,
            };
            self.openers.extend(entries.iter().filter_map(frequent));
            entries.retain(|entry| frequent(entry).is_none());
        }
        for (known, own) in [(&mut self.reasoning, &dialect.reasoning), (&mut self.results, &dialect.results)] {
            // Words are what any text may say, where nobody named the model that means more by them.
            let words = |pair: &(String, String)| pair.0.starts_with(char::is_alphabetic);
            for pair in own.iter().filter(|pair| !(self.auto && words(pair))) {
                if !known.contains(pair) {
                    known.push(pair.clone());
                }
            }
        }
        if let Some(channels) = &dialect.channels {
            self.channels.push(number);
            entries.extend(channels.opens.iter().map(|t| (t.clone(), Marker::Header { row: number })));
            // The sign by which it is found is too frequent to look for in every text.
            if !self.auto && channels.calls_to_recipients {
                entries.push((channels.recipient.clone(), Marker::Recipient { row: number }));
            }
            entries.extend(channels.closes.iter().map(|t| (t.clone(), Marker::MessageEnd { row: number })));
        }
        entries.extend(dialect.turns.iter().map(|t| (t.clone(), Marker::Turn)));
        self.add_unmarked(&row, number);
        self.rows.push(row);
        Ok(())
    }

    /// What the row of this `number` says of calls that no marker of theirs begins.
    fn add_unmarked(&mut self, row: &Row, number: u16) {
        // A row that has nothing else is what such calls are, whatever others admit.
        let first = |known: Option<u16>| known.filter(|_| !row.calls.is_empty()).or(Some(number));
        let openers = row.calls.iter().filter_map(|call| match call.head.first() {
            Some(Element::Literal(opener)) => Some(&**opener),
            _ => None,
        });
        for label in openers.filter(|opener| opener.ends_with(':') && !row.dialect.text_ends.is_empty()) {
            if !self.labels.iter().any(|known| known == label) {
                self.labels.push(label.to_owned());
            }
        }
        if row.admits(Bare::Json) {
            self.bare_json = first(self.bare_json);
        }
        if row.admits(Bare::Python) {
            self.bare_python = first(self.bare_python);
        }
        if row.by_name && !row.calls.is_empty() {
            self.elements = Some(number);
        }
        let place = |such: &dyn Fn(&CallTemplate) -> bool| Some((number, row.calls.iter().position(such)? as u16));
        if row.admits(Bare::NameLine) {
            self.name_line = self.name_line.or_else(|| place(&|call| call.body == Body::Arguments));
        }
        let gemma = |call: &CallTemplate| call.body == Body::Gemma;
        self.gemma.extend(place(&|call| gemma(call) && call.name_at().is_some()).or_else(|| place(&gemma)));
        let word = |call: &CallTemplate| call.head.first() == Some(&Element::Slot(Slot::Ignored));
        let words = row.calls.iter().enumerate().filter(|(_, call)| word(call));
        self.words.extend(words.map(|(call, _)| (number, call as u16)));
        let fences = row.dialect.calls.iter().filter_map(|call| call.strip_prefix("```"));
        self.fenced |= !self.auto && fences.clone().next().is_some();
        self.python_fences.extend(fences.filter(|fence| fence.contains("{python}")).map(str::to_owned));
    }
}
