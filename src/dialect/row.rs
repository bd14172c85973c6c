//! A dialect whose templates have been read: what its calls, parameters and sections are written like, and what each of
//! them may begin with.
use super::id::{CallId, RowId, SectionId};
use super::marker::Marker;
use super::template::{self, Body, Element, Slot, Template};
use super::{Bare, Dialect};
use crate::bytes::begins;
use crate::char_class;
use crate::error::{Error, ErrorCode};
use std::ops::Range;
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
    /// For each element of its head, the number of what it begins with up to there: see [`super::choice::beginnings`].
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
    pub(crate) as_parameter: bool,
    /// Another template of the set has the same head.
    pub(crate) shares_head: bool,
    /// An earlier row of the set reads the same calls: outside this row's section there is nothing to try again.
    pub(crate) twin: bool,
}

impl CallTemplate {
    /// The first marker of what closes it is a tag.
    fn closes_as_tag(&self) -> bool {
        let closer = self.tail.iter().find_map(Element::text);
        closer.is_none_or(|text| text.starts_with('<'))
    }

    /// The first marker of what closes it begins with `prefix`.
    fn closes_with(&self, prefix: &str) -> bool {
        self.tail.iter().find_map(Element::text).is_none_or(|text| text.starts_with(prefix))
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
    memchr::memchr(b'|', marker.as_bytes()).is_some() || marker.contains('｜')
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
    pub(super) fn one_of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
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
        let closers = tail.iter().filter_map(Element::text);
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

/// Calls that stand one behind the other in their row and begin with the same literal, or with none.
#[derive(Debug, Clone)]
struct Alike {
    opener: Option<Box<str>>,
    /// What they may begin with where that is no literal.
    first: First,
    calls: Range<usize>,
}

impl Alike {
    /// All of the `calls`, by those that begin alike.
    fn of(calls: &[CallTemplate], row: &Row) -> Vec<Self> {
        let begins_as = |before: &CallTemplate, call: &CallTemplate| {
            let opener = template::opener(&call.head);
            opener.is_some() && opener == template::opener(&before.head)
        };
        let mut from = 0;
        let mut alike = Vec::new();
        for group in calls.chunk_by(begins_as) {
            let Some(call) = group.first() else { continue };
            alike.push(Self {
                opener: template::opener(&call.head).map(Into::into),
                first: First::behind(&call.head, call.body, &call.tail, row),
                calls: from..from + group.len(),
            });
            from += group.len();
        }
        alike
    }

    /// They may begin with `text`, which may be cut off.
    fn may_begin(&self, text: &[u8]) -> bool {
        match self.opener.as_deref().map(str::as_bytes) {
            Some(opener) => begins(text, opener) || opener.starts_with(text),
            None => self.first.may_be(text),
        }
    }
}

/// What opens and closes a section.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    pub(crate) open: Vec<Element>,
    pub(crate) close: Vec<Element>,
    /// What opens it has the bars of a special token.
    pub(crate) special: bool,
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
    alike: Vec<Alike>,
    pub(crate) parameters: Vec<Parameter>,
    /// What a parameter may begin with.
    pub(crate) first_parameter: First,
    pub(crate) sections: Vec<Section>,
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
    let marker = template::opener(&head).unwrap_or_default();
    let mut inside = First::behind(&[], body, &tail, row);
    if body == Body::Parameters {
        // Without parameters and its closing marker, the next call may follow.
        let sections = row.dialect.sections.iter().filter_map(|(open, _)| Template::parse(open).ok());
        let openers: Vec<_> = sections.filter_map(|open| open.opener().map(str::to_owned)).collect();
        inside = inside.or(First::one_of(openers.iter().map(|open| &**open).chain([marker])));
    }
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
    pub(super) fn new(dialect: Arc<Dialect>, id: RowId, markers: &mut Vec<(String, Marker)>) -> Result<Self, Error> {
        let mut row = Self {
            calls: Vec::new(),
            alike: Vec::new(),
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
                    markers.push((inner.to_owned(), Marker::Inner(id.call(i))));
                }
                markers.push((opener, Marker::Call(id.call(i))));
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
                let Some(text) = closer.text() else { continue };
                let known = |(t, m): &(String, Marker)| {
                    **t == *text && matches!(m, Marker::CallEnd { call, .. } if call.row == id)
                };
                if closes_alone(text) && !row.by_name() && !markers.iter().any(known) {
                    let marker = Marker::CallEnd { call: id.call(i), element: element as u16 };
                    markers.push((text.to_string(), marker));
                }
            }
            if call.body == Body::Parameters && !call.closes_as_tag() {
                row.parameters.iter_mut().for_each(|parameter| parameter.tags = false);
            }
            row.calls.push(call);
        }
        let elements = || row.calls.iter().filter(|call| call.body == Body::Elements);
        if elements().next().is_some() && !elements().any(|call| call.closes_with(&dialect.tag_prefix)) {
            let message = "what closes a call of {elements} must begin with it, as all its tags do";
            return Err(Error::at(ErrorCode::BadDialect, "tag_prefix", message));
        }
        if dialect.special_markers && !row.has_special_markers() {
            let message = "special tokens have bars (`<|call|>`), and no marker of a call or parameter has";
            return Err(Error::at(ErrorCode::BadDialect, "special_markers", message));
        }
        let firsts = row.calls.iter().map(|call| First::behind(&call.head, call.body, &call.tail, &row));
        row.first = firsts.reduce(First::or).unwrap_or_default();
        row.alike = Alike::of(&row.calls, &row);
        for (i, text) in dialect.inline_markers.iter().enumerate() {
            let template = Template::parse(text)?;
            let opener = template.opener().map(str::to_owned).ok_or_else(|| {
                Error::at(ErrorCode::BadDialect, text, "a marker inside the text must begin with literal text")
            })?;
            markers.push((opener, Marker::Inline { row: id, inline: i as u16 }));
            row.inline.push(template.elements);
        }
        for (i, (open, close)) in dialect.sections.iter().enumerate() {
            let (open, close) = (Template::parse(open)?, Template::parse(close)?);
            let Some(opener) = open.opener() else {
                return Err(Error::new(ErrorCode::BadDialect, "a section must begin with literal text"));
            };
            markers.push((opener.to_owned(), Marker::Section(id.section(i))));
            if let Some(closer) = close.opener() {
                markers.push((closer.to_owned(), Marker::SectionEnd(id.section(i))));
            }
            let special = special(opener);
            row.sections.push(Section { open: open.elements, close: close.elements, special });
        }
        Ok(row)
    }

    /// Its calls by the template `text` are read by another row in the same way, as far as it is tried.
    pub(super) fn reads_as(&self, other: &Self, text: &str) -> bool {
        let (own, others) = (&self.dialect, &other.dialect);
        others.calls.iter().any(|call| call == text)
            && own.parameters.iter().all(|parameter| others.parameters.contains(parameter))
            && own.special_markers == others.special_markers
            && own.sections.is_empty() == others.sections.is_empty()
            && own.channels.is_none()
            && others.channels.is_none()
    }

    /// Its template of calls that is called so.
    pub(crate) fn call(&self, id: CallId) -> Option<&CallTemplate> {
        self.calls.get(id.index())
    }

    /// What may stand behind the literal that opens its section of this id: of more than a literal that is not known yet.
    pub(crate) fn first_in(&self, id: SectionId) -> Option<&First> {
        let section = self.sections.get(id.index())?;
        (section.open.len() == 1).then_some(&self.first)
    }

    /// Its templates of calls, by their numbers, that may begin with `text`, which may be cut off: a cheap look that spares most of
    /// them the thorough one.
    pub(crate) fn calls_before(&self, text: &[u8]) -> impl Iterator<Item = (usize, &CallTemplate)> {
        let may_begin = self.alike.iter().filter(|alike| alike.may_begin(text));
        may_begin.flat_map(|alike| alike.calls.clone().zip(self.calls.get(alike.calls.clone()).unwrap_or_default()))
    }

    /// Its calls that their marker shows inside another call as well.
    pub(crate) fn marked_calls(&self) -> impl Iterator<Item = &CallTemplate> {
        self.calls.iter().filter(|call| !call.as_parameter)
    }

    /// What those begin with.
    pub(crate) fn heads(&self) -> impl Iterator<Item = &[Element]> {
        self.marked_calls().map(|call| &*call.head)
    }

    /// What its sections begin with.
    pub(crate) fn section_opens(&self) -> impl Iterator<Item = &[Element]> {
        self.sections.iter().map(|section| &*section.open)
    }

    /// What they end with.
    pub(crate) fn section_closes(&self) -> impl Iterator<Item = &[Element]> {
        self.sections.iter().map(|section| &*section.close)
    }

    /// A marker that opens a call or a parameter has the bars of a special token.
    fn has_special_markers(&self) -> bool {
        self.calls.iter().any(|call| call.special) || self.parameters.iter().any(|parameter| special(&parameter.opener))
    }

    /// Its tags are named after the tools and their parameters.
    pub(crate) fn by_name(&self) -> bool {
        self.by_name
    }

    /// A way of writing calls without markers that this dialect admits.
    pub(super) fn admits(&self, bare: Bare) -> bool {
        self.dialect.bare.contains(&bare)
    }
}
