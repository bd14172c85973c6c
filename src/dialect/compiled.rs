//! One or more dialects made ready for the engine.
use super::catalogue::{add, behind, rows_read};
use super::choice;
use super::id::{CallId, RowId, SectionId};
use super::marker::Marker;
use super::markers::Markers;
use super::row::{CallTemplate, First, Row, Section};
use super::template::{Body, Element, Slot, opener};
use super::{Bare, Dialect};
use crate::error::{Error, ErrorCode};
use memchr::memmem::Finder;
use once_cell::sync::Lazy;
use std::collections::BTreeSet;
use std::sync::Arc;

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
    pub(crate) bare_json: Option<RowId>,
    pub(crate) bare_python: Option<RowId>,
    /// The template of calls whose name stands on a line of its own, without a marker.
    pub(crate) name_line: Option<CallId>,
    /// Templates of calls that begin with a word before their marker.
    pub(crate) words: Vec<CallId>,
    /// Templates whose opening marker begins as too much text does: only what an answer begins with is one.
    pub(crate) openers: Vec<CallId>,
    /// What opens calls in plain words and ends in a colon.
    pub(crate) labels: Vec<String>,
    /// The rows whose messages have headers.
    pub(crate) channels: Vec<RowId>,
    /// What their headers may begin with where the opening marker is missing.
    pub(crate) headers: First,
    /// The templates of calls with Gemma's values, one a row. What stands round strings tells them apart.
    pub(crate) gemma: Vec<CallId>,
    /// The row whose calls are tags named after tools.
    pub(crate) elements: Option<RowId>,
    /// Its calls stand in fences, by templates of its own.
    pub(crate) fenced: bool,
    /// Such templates of any row whose calls are Python, from the label on.
    python_fences: Vec<String>,
    /// Calls, or headers of messages, are looked for where an answer begins and nowhere else.
    pub(crate) begins_bare: bool,
    /// For each byte, whether the closing marker of a call or of a section begins with it.
    pub(crate) closes: [bool; 256],
    /// The special tokens that some dialects write before each tag of a call.
    pub(crate) tag_prefixes: Vec<String>,
    /// Every dialect of the catalogue is in it.
    pub(crate) auto: bool,
    /// They stand for a model that was named, of which nothing is known.
    pub(crate) assumed: bool,
}

/// What a model writes before a call is no longer: a table of all markers grows with their bytes.
const LONGEST_MARKER: usize = 1024;

static AUTO: Lazy<Arc<Dialects>> = Lazy::new(|| {
    let all = Dialects::compile(super::catalogue(), true);
    // The catalogue's own test compiles every row, so the error branch is never taken in a released build.
    debug_assert!(all.is_ok(), "the catalogue cannot be compiled: {all:?}");
    Arc::new(all.unwrap_or_else(|_| Dialects::empty()))
});

static ASSUMED: Lazy<Arc<Dialects>> = Lazy::new(|| {
    let all = Dialects::compile(super::catalogue(), true).unwrap_or_else(|_| Dialects::empty());
    Arc::new(Dialects { assumed: true, ..all })
});

impl Dialects {
    /// All dialects of the catalogue: the text decides.
    pub fn auto() -> Arc<Self> {
        AUTO.clone()
    }

    /// As [`Self::auto`], for a model that was named and of which nothing is known.
    pub(super) fn assumed() -> Arc<Self> {
        ASSUMED.clone()
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
        Self::compile(&rows_read(Arc::new(dialect))?, false).map(Arc::new)
    }

    /// The dialect's name, if it is only one.
    pub fn name(&self) -> Option<&str> {
        if self.auto { None } else { self.rows.first().map(|r| &*r.dialect.name) }
    }

    /// The dialect of a row.
    pub(crate) fn dialect(&self, id: RowId) -> Option<&Arc<Dialect>> {
        self.row(id).map(|row| &row.dialect)
    }

    /// The row, with its templates.
    pub(crate) fn row(&self, id: RowId) -> Option<&Row> {
        self.rows.get(id.index())
    }

    /// The template of a row's calls.
    pub(crate) fn call(&self, id: CallId) -> Option<&CallTemplate> {
        self.row(id.row)?.call(id)
    }

    /// What opens and closes a group of a row's calls.
    pub(crate) fn section(&self, id: SectionId) -> Option<&Section> {
        self.row(id.row)?.sections.get(id.index())
    }

    /// The row that writes calls without markers in the grammar `body`.
    pub(crate) fn bare(&self, body: Body) -> Option<RowId> {
        match body {
            Body::Json => self.bare_json,
            Body::Python => self.bare_python,
            Body::Gemma => self.gemma.first().map(|call| call.row),
            Body::Arguments | Body::Parameters | Body::Elements | Body::Text => None,
        }
    }

    /// As [`super::without_namespace`], for the namespace of the dialect that was named as well.
    pub(crate) fn without_namespace<'n, const N: usize>(
        &self,
        name: &'n str,
        separators: [char; N],
    ) -> Option<&'n str> {
        self.without_own_namespace(name, separators).or_else(|| super::without_namespace(name, separators))
    }

    /// What stands in `name` behind the namespace of the dialect that was named.
    pub(crate) fn without_own_namespace<'n, const N: usize>(
        &self,
        name: &'n str,
        separators: [char; N],
    ) -> Option<&'n str> {
        let named = self.rows.first().map(|row| &*row.dialect.namespace).filter(|namespace| !namespace.is_empty());
        behind(name, named?, separators).filter(|name| !name.is_empty())
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
            closes: [false; 256],
            tag_prefixes: Vec::new(),
            auto: false,
            assumed: false,
        }
    }

    /// The set of `dialects`, in their order of precedence; `auto`: no one of them was named.
    pub(crate) fn compile(dialects: &[Arc<Dialect>], auto: bool) -> Result<Self, Error> {
        let mut set = Self { auto, ..Self::empty() };
        let mut entries = Vec::new();
        for (number, dialect) in dialects.iter().enumerate() {
            set.add(dialect, RowId::new(number), &mut entries)?;
        }
        for (i, (open, _)) in set.results.iter().enumerate() {
            entries.push((open.clone(), Marker::Result(i as u16)));
        }
        // What opens a result may be where the model was to stop.
        for (number, row) in set.rows.iter().enumerate() {
            entries.extend(row.dialect.tokens.iter().map(|t| (t.clone(), Marker::Token(RowId::new(number)))));
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
                names.chain([&channels.recipient, &channels.message]).map(String::as_str)
            }));
        let opened = !(set.channels.is_empty() && set.openers.is_empty() && set.words.is_empty());
        set.begins_bare = opened || set.name_line.is_some() || set.bare_python.is_some();
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
        let row = |id: RowId| set.rows.get(id.index());
        let first = |marker| match marker {
            Marker::Call(call) => Some(&row(call.row)?.call(call)?.first),
            Marker::Section(section) => row(section.row)?.first_in(section),
            _ => None,
        };
        let beginnings = |marker| match marker {
            Marker::Call(call) => {
                row(call.row).and_then(|row| row.call(call)).map_or(&[][..], |template| &template.beginnings)
            }
            _ => &[][..],
        };
        set.markers.choose(first, beginnings);
        Ok(set)
    }

    /// Adds the row that is called `id`, and what it begins with to the `entries`.
    fn add(&mut self, dialect: &Arc<Dialect>, id: RowId, entries: &mut Vec<(String, Marker)>) -> Result<(), Error> {
        let mut row = Row::new(dialect.clone(), id, entries)?;
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
                Marker::Call(call) if call.row == id => row.call(*call).is_none_or(|call| !call.twin),
                _ => true,
            });
        }
        if self.auto {
            let frequent = |(text, marker): &(String, Marker)| match marker {
                Marker::Call(call) if text.starts_with('-') => Some(*call),
                _ => None,
            };
            self.openers.extend(entries.iter().filter_map(frequent));
            entries.retain(|entry| frequent(entry).is_none());
        }
        // Words are what any text may say, where nobody named the model that means more by them.
        let words = |pair: &&(String, String)| self.auto && pair.0.starts_with(char::is_alphabetic);
        add(&mut self.reasoning, dialect.reasoning.iter().filter(|pair| !words(pair)));
        add(&mut self.results, dialect.results.iter().filter(|pair| !words(pair)));
        // Its kin are only read.
        if !self.auto && id == RowId::new(0) {
            add(&mut self.results, &dialect.own_results);
        }
        if let Some(channels) = &dialect.channels {
            self.channels.push(id);
            entries.extend(channels.opens.iter().map(|t| (t.clone(), Marker::Header(id))));
            // The sign by which it is found is too frequent to look for in every text.
            if !self.auto && channels.calls_to_recipients {
                entries.push((channels.recipient.clone(), Marker::Recipient(id)));
            }
            entries.extend(channels.closes.iter().map(|t| (t.clone(), Marker::MessageEnd(id))));
        }
        entries.extend(dialect.turns.iter().map(|t| (t.clone(), Marker::Turn)));
        let tails = row.calls.iter().map(|call| &call.tail).chain(row.sections.iter().map(|section| &section.close));
        for closer in tails.flatten().filter_map(Element::text) {
            closer.bytes().take(1).for_each(|first| self.closes[usize::from(first)] = true);
        }
        add(&mut self.tag_prefixes, Some(&dialect.tag_prefix).filter(|prefix| !prefix.is_empty()));
        self.add_unmarked(&row, id);
        self.rows.push(row);
        Ok(())
    }

    /// What the row that is called `id` says of calls that no marker of theirs begins.
    fn add_unmarked(&mut self, row: &Row, id: RowId) {
        // A row that has nothing else is what such calls are, whatever others admit.
        let first = |known: Option<RowId>| known.filter(|_| !row.calls.is_empty()).or(Some(id));
        let openers = row.calls.iter().filter_map(|call| opener(&call.head));
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
        if row.by_name() && !row.calls.is_empty() {
            self.elements = Some(id);
        }
        let place = |such: &dyn Fn(&CallTemplate) -> bool| Some(id.call(row.calls.iter().position(such)?));
        if row.admits(Bare::NameLine) {
            self.name_line = self.name_line.or_else(|| place(&|call| call.body == Body::Arguments));
        }
        let gemma = |call: &CallTemplate| call.body == Body::Gemma;
        self.gemma.extend(place(&|call| gemma(call) && call.name_at().is_some()).or_else(|| place(&gemma)));
        let word = |call: &CallTemplate| call.head.first() == Some(&Element::Slot(Slot::Ignored));
        let words = row.calls.iter().enumerate().filter(|(_, call)| word(call));
        self.words.extend(words.map(|(call, _)| id.call(call)));
        let fences = row.dialect.calls.iter().filter_map(|call| call.strip_prefix("```"));
        self.fenced |= !self.auto && fences.clone().next().is_some();
        self.python_fences.extend(fences.filter(|fence| fence.contains("{python}")).map(str::to_owned));
    }
}
