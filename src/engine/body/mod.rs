//! The body of a call: which grammar reads it, and whether what stands behind a head can be one. One file a grammar.
pub(super) mod arguments;
pub(super) mod elements;
pub(super) mod gemma;
pub(super) mod json_calls;
pub(super) mod keys;
pub(super) mod lenient;
pub(super) mod line;
mod literal;
pub(super) mod members;
pub(super) mod parameters;
mod placeholder;
pub(super) mod python;
mod remark;
mod shown;
pub(super) mod strings;
pub(super) mod values;

use super::found::Found;
use super::head::Head;
use super::output::Output;
use super::tail::cut_off;
use super::writer::Writer;
use super::{Look, Reader, UnknownTools};
use crate::char_class;
use crate::dialect::{Body, CallTemplate, Element, Row, opener};
pub(super) use arguments::names;
use arguments::{Arguments, is_cut_fence};
use elements::Elements;
use gemma::Gemma;
use json_calls::JsonCalls;
pub(super) use keys::first_key;
use line::Line;
use parameters::Parameters;
use python::Python;
pub(super) use strings::whole_key;

/// What a body says after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    /// As `More`: what stands at `since` is not clear yet.
    Unclear {
        since: usize,
    },
    /// The body is over.
    Done {
        end: usize,
    },
    /// This is no body; `at` is as far as it was read.
    Fail {
        at: usize,
    },
}

impl Progress {
    /// It needs more text.
    pub(super) const fn waits(self) -> bool {
        matches!(self, Self::More | Self::Unclear { .. })
    }
}

/// A body that is being read, by its grammar. Each stands on its own: they are large, and what holds them is made anew for every
/// call.
#[derive(Debug)]
pub(super) enum BodyState {
    Json(Box<JsonCalls>),
    Arguments(Box<Arguments>),
    Parameters(Box<Parameters>),
    Python(Box<Python>),
    Gemma(Box<Gemma>),
    Elements(Box<Elements>),
    Line(Box<Line>),
    /// There is none: the head closed itself.
    None(Box<Head>),
}

impl BodyState {
    /// A body in the grammar `body`, which begins at `at` behind `head`.
    #[inline]
    pub(super) fn new(cx: &Reader<'_>, body: Body, at: usize, head: &Head) -> Self {
        match body {
            _ if head.closed => Self::None(boxed(|| head.clone())),
            Body::Json => Self::Json(boxed(|| JsonCalls::new(at, cx.policy.max_depth))),
            Body::Arguments => Self::Arguments(boxed(|| Arguments::new(at, head.clone(), cx.policy.max_depth))),
            Body::Parameters => Self::Parameters(boxed(|| Parameters::new(at, head.clone()))),
            Body::Python => Self::Python(boxed(|| Python::new(at))),
            Body::Gemma => Self::Gemma(boxed(|| Gemma::new(at, head.clone()))),
            Body::Elements => Self::Elements(boxed(|| Elements::new(at, head.clone()))),
            Body::Text => Self::Line(boxed(|| Line::new(at, head.clone()))),
        }
    }

    /// Reads on, as far as the text allows. What is certain goes to `out`; `writer` begins the calls and keeps the last one. Each
    /// grammar has a `step` that does the same.
    pub(super) fn step(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Progress {
        match self {
            Self::Json(json) => json.step(cx, out, writer),
            Self::Arguments(arguments) => arguments.step(cx, out, writer),
            Self::Parameters(parameters) => parameters.step(cx, out, writer),
            Self::Python(python) => python.step(cx, out, writer),
            Self::Gemma(gemma) => gemma.step(cx, out, writer),
            Self::Elements(elements) => elements.step(cx, out, writer),
            Self::Line(line) => line.step(cx, out, writer),
            Self::None(head) => no_body(cx, out, writer, head),
        }
    }

    /// What follows the head can be the template's body.
    pub(super) fn plausible(
        cx: &Reader<'_>,
        row: &Row,
        template: &CallTemplate,
        head: &Head,
        in_section: bool,
    ) -> Look<()> {
        if head.closed {
            return Look::Is(());
        }
        if cx.policy.unknown_tools == UnknownTools::Text
            && cx.tools.is_some()
            && head.name.is_some()
            && !head.names_offered(cx)
        {
            return Look::No;
        }
        let at = cx.skip_markup_space(head.end);
        if at - head.end > cx.policy.max_markup_bytes {
            return Look::No;
        }
        let Some(byte) = cx.bytes().get(at).copied() else {
            // Cut off behind the name of an offered tool.
            return match cx.eof {
                false => Look::More,
                true if template.body != Body::Text && head.is_offered(cx) => Look::Is(()),
                true => Look::No,
            };
        };
        if byte == b'\\' && at + 1 == cx.text.len() && !cx.eof {
            // Of a line break, as some models write it.
            return Look::More;
        }
        let look = match template.body {
            Body::Json => JsonCalls::plausible(cx, at, byte),
            Body::Arguments => Arguments::plausible(cx, row, template, head, at, byte),
            Body::Parameters if !template.inside.may_be(cx.bytes().get(at..).unwrap_or_default()) => Look::No,
            Body::Parameters => Parameters::plausible(cx, row, template, head, at, in_section),
            Body::Python => Python::plausible_behind_marker(cx, at),
            Body::Gemma if matches!(byte, b'{' | b'(') => Look::Is(()),
            Body::Gemma => Look::No,
            Body::Elements => Elements::plausible(cx, row, template, head, at),
            Body::Text => Line::plausible(cx, row, head, at),
        };
        let parameters = if template.body == Body::Parameters { &*row.parameters } else { &[] };
        let ends = || cut_off(cx.rest(at), &template.tail, parameters) || cut_in_head(cx, row, template, at);
        match look {
            // A stream does not know yet that it ends there.
            Look::No | Look::More if ends() && head.is_offered(cx) => {
                if cx.eof {
                    Look::Is(())
                } else {
                    Look::More
                }
            }
            look => look,
        }
    }

    /// Which body without markers can begin at `at`.
    pub(super) fn bare(cx: &Reader<'_>, at: usize) -> Look<Body> {
        match cx.bytes().get(at) {
            Some(b'{') => match after(cx, at) {
                Look::Is(b'"' | b'\'') => Look::Is(Body::Json),
                Look::Is(_) if cx.rest(cx.skip_blanks(at + 1)).starts_with(['“', '”', '„']) => {
                    Look::Is(Body::Json)
                }
                Look::Is(next) if next.is_ascii_alphabetic() => {
                    bare_key(cx, cx.skip_blanks(at + 1)).map(|()| Body::Json)
                }
                // Its brace stands twice.
                Look::Is(b'{') if !cx.dialects.auto => {
                    after(cx, cx.skip_blanks(at + 1)).then(|key| Look::when(key == b'"')).map(|()| Body::Json)
                }
                Look::Is(_) => Look::No,
                other => other.map(|_| Body::Json),
            },
            Some(b'[') => match after(cx, at) {
                Look::Is(b'{') if cx.dialects.bare_python.is_some() => {
                    let braced = Python::braced(cx, cx.skip_blanks(at + 1));
                    braced.map(|()| Body::Python).or(|| Look::Is(Body::Json))
                }
                Look::Is(b'{') => Look::Is(Body::Json),
                Look::Is(next)
                    if cx.dialects.bare_python.is_some()
                        && (matches!(next, b'_' | b'"' | b'\'' | b'(' | b'[' | b'#')
                            // No name begins with what has no width: so tools' results are told from calls.
                            || cx.rest(cx.skip_blanks(at + 1)).starts_with(char::is_alphabetic)) =>
                {
                    Python::plausible(cx, at).map(|()| Body::Python)
                }
                Look::Is(_) => Look::No,
                other => other.map(|_| Body::Json),
            },
            _ => Look::No,
        }
    }
}

/// The text ends at `at`, behind the name of a call, in what may stand there before its body: in one of the markers that calls of the
/// `row` have behind their names which begin alike, or in the beginning of a fence.
fn cut_in_head(cx: &Reader<'_>, row: &Row, template: &CallTemplate, at: usize) -> bool {
    // What no marker opens, or only a label, is a word of any text.
    if template.labelled || template.body != Body::Arguments || opener(&template.head).is_none() {
        return false;
    }
    let alike =
        row.marked_calls().filter(|call| call.body == Body::Arguments && call.head.first() == template.head.first());
    let mut inside = alike.flat_map(|call| call.head.iter().skip(1)).filter_map(Element::text);
    let rest = cx.rest(at);
    is_cut_fence(rest) || inside.any(|text| text.len() > rest.len() && text.starts_with(rest))
}

/// The call of a head that closed itself: it has no arguments.
fn no_body(cx: &Reader<'_>, out: &mut Output, writer: &mut Writer, head: &Head) -> Progress {
    let Some(index) = writer.begin_once(cx, out, head, &mut None) else { return Progress::Fail { at: head.end } };
    writer.piece(out, index, "{}");
    writer.over(index, Found::none(), writer.start..head.end);
    Progress::Done { end: head.end }
}

/// A box of what is made, made in it: `Box::new` would copy it once more.
#[inline(always)]
fn boxed<T>(make: impl FnOnce() -> T) -> Box<T> {
    Box::write(Box::new_uninit(), make())
}

/// The first byte after `at` that is no white space.
fn after(cx: &Reader<'_>, at: usize) -> Look<u8> {
    let next = cx.skip_blanks(at + 1);
    match cx.bytes().get(next) {
        Some(byte) if next - at <= cx.policy.max_markup_bytes => Look::Is(*byte),
        None if !cx.eof => Look::More,
        _ => Look::No,
    }
}

/// A key without quotes stands at `at`, and a colon or an equals sign behind it.
fn bare_key(cx: &Reader<'_>, at: usize) -> Look<()> {
    // A key in another script has quotes: prose in braces does not wait.
    let in_key = |byte: &&u8| char_class::NAME.has_ascii(**byte) || matches!(byte, b'\\' | b'"' | b'\'');
    let length = cx.near(at, 128).iter().take_while(in_key).count();
    match cx.behind_space(at, at + length) {
        Look::Is(colon) if matches!(cx.bytes().get(colon), Some(b':' | b'=')) => Look::Is(()),
        Look::More => Look::More,
        _ => Look::No,
    }
}
