//! The little language in which the catalogue writes how a call is spelt.
//!
//! A template is literal text with holes: `<function={name}> {parameters} </function>`. One space means white space
//! of any length, also none. `{?text}` is literal text that may be missing. `{@a=slot b=slot}` reads attributes in any
//! order, quoted or not, up to the literal that follows. `{{` is a literal brace, `{ }` a space that must be there, `{#}` the
//! number of a label, which may be missing. `{tool}` is a `{name}` that must be one of the offered ones.
use crate::error::{Error, ErrorCode};

/// What a hole of a template holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The tool's name.
    Name,
    /// The call's id.
    Id,
    /// A parameter's name.
    Key,
    /// A parameter's value.
    Value,
    /// The type of the value, written beside it (`string="true"`, `type="number"`).
    Type,
    /// Something without meaning for us (an index).
    Ignored,
    /// The number of a label, or nothing.
    Number,
}

/// How the inside of a call is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// JSON that holds the name as well: an object, a list of them, or several in a row.
    Json,
    /// The arguments alone, as a JSON object.
    Arguments,
    /// Parameters, each written by the dialect's `parameters` templates.
    Parameters,
    /// Python calls: `[f(a=1), g()]`.
    Python,
    /// Gemma's own value syntax: `{key:<|"|>text<|"|>,n:3}`.
    Gemma,
    /// Elements named after the parameters, nested: `<city>Paris</city>`.
    Elements,
    /// The tool's only argument, as bare text.
    Text,
}

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Element {
    Literal(Box<str>),
    Optional(Box<str>),
    Space,
    Slot(Slot),
    Attributes(Vec<(Box<str>, Slot)>),
    Body(Body),
}

/// A template read into its pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) elements: Vec<Element>,
    /// The name must be an offered one.
    pub(crate) offered: bool,
}

/// The hole for a name that must be an offered one.
const OFFERED: &str = "tool";

fn slot(name: &str) -> Option<Slot> {
    Some(match name {
        "name" | OFFERED => Slot::Name,
        "id" => Slot::Id,
        "key" => Slot::Key,
        "value" => Slot::Value,
        "type" => Slot::Type,
        "_" => Slot::Ignored,
        "#" => Slot::Number,
        _ => return None,
    })
}

fn body(name: &str) -> Option<Body> {
    Some(match name {
        "json" => Body::Json,
        "arguments" => Body::Arguments,
        "parameters" => Body::Parameters,
        "python" => Body::Python,
        "gemma" => Body::Gemma,
        "elements" => Body::Elements,
        "text" => Body::Text,
        _ => return None,
    })
}

impl Template {
    /// Reads a template; the error names the hole that makes no sense.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let bad = |what: String| Error::at(ErrorCode::BadDialect, text, what);
        let mut elements = Vec::new();
        let mut offered = false;
        let mut literal = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            let flush = |literal: &mut String, elements: &mut Vec<Element>| {
                if !literal.is_empty() {
                    elements.push(Element::Literal(std::mem::take(literal).into_boxed_str()));
                }
            };
            match c {
                '{' if rest.starts_with('{') => {
                    rest = &rest[1..];
                    literal.push('{');
                }
                ' ' => {
                    flush(&mut literal, &mut elements);
                    if elements.last() != Some(&Element::Space) {
                        elements.push(Element::Space);
                    }
                }
                '{' if rest.starts_with(" }") => {
                    rest = &rest[2..];
                    literal.push(' ');
                }
                '{' => {
                    flush(&mut literal, &mut elements);
                    let (hole, after) = rest.split_once('}').ok_or_else(|| bad("a hole is not closed".into()))?;
                    rest = after;
                    elements.push(if let Some(optional) = hole.strip_prefix('?') {
                        Element::Optional(optional.into())
                    } else if let Some(attributes) = hole.strip_prefix('@') {
                        let read = |pair: &str| {
                            let (attribute, name) = pair.split_once('=')?;
                            Some((attribute.into(), slot(name)?))
                        };
                        let list = attributes.split_whitespace().map(read).collect::<Option<Vec<_>>>();
                        Element::Attributes(list.ok_or_else(|| bad(format!("cannot read the attributes {hole:?}")))?)
                    } else if let Some(slot) = slot(hole) {
                        offered |= hole == OFFERED;
                        Element::Slot(slot)
                    } else if let Some(body) = body(hole) {
                        Element::Body(body)
                    } else {
                        return Err(bad(format!("unknown hole {{{hole}}}")));
                    });
                }
                _ => literal.push(c),
            }
        }
        if !literal.is_empty() {
            elements.push(Element::Literal(literal.into_boxed_str()));
        }
        Ok(Self { elements, offered })
    }

    /// Where the body stands, if there is one.
    pub(crate) fn body(&self) -> Option<(usize, Body)> {
        self.elements.iter().enumerate().find_map(|(i, e)| match e {
            Element::Body(body) => Some((i, *body)),
            _ => None,
        })
    }

    /// The literal text the template begins with.
    pub(crate) fn opener(&self) -> Option<&str> {
        opener(&self.elements)
    }
}

impl Element {
    /// Literal text that must stand there.
    pub(crate) fn literal(&self) -> Option<&str> {
        if let Self::Literal(text) = self { Some(text) } else { None }
    }

    /// Literal text, whether it must stand there or may be missing.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Literal(text) | Self::Optional(text) = self { Some(text) } else { None }
    }
}

/// The literal text that `elements` begin with.
pub(crate) fn opener(elements: &[Element]) -> Option<&str> {
    elements.first().and_then(Element::literal)
}

/// What stands behind a call closes it by a marker, which must be there.
pub(crate) fn must_close(tail: &[Element]) -> bool {
    tail.iter().any(|element| element.literal().is_some())
}
