//! Reading text: `toolglot.extract` and `toolglot.StreamParser`.
use super::dialect::dialect_argument;
use super::error::InternalError;
use super::event::Event;
use super::guard::{detached, guard, guard_detached};
use super::policy::{Choice, policy_argument};
use super::source::tools_argument;
use super::text::{CharacterCount, Input, bytes_of, no_text, utf8};
use super::turn::Turn;
use crate::engine::{self, Options};
use crate::schema;
use crate::turn::{self, Issue, IssueCode};
use crate::{Error, ErrorCode};
use pyo3::exceptions::PyRuntimeError;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use std::sync::Arc;

pub(super) fn options(starts_in: Option<&str>, policy: Option<&Bound<'_, PyAny>>) -> PyResult<Options> {
    Ok(Options { starts_in: Choice::parse(starts_in)?, policy: policy_argument(policy)? })
}

/// Lone surrogates are no text in any encoding; the result says that they were replaced.
pub(super) fn surrogate_issue(offset: usize) -> Issue {
    Issue::at(IssueCode::InvalidUtf8, offset, "a lone surrogate was replaced by U+FFFD")
}

#[doc = stub!("extract")]
#[pyfunction]
#[pyo3(signature = (text, tools=None, *, dialect=None, starts_in=None, policy=None),
       text_signature = "(text, tools=None, *, dialect='auto', starts_in='content', policy=None)")]
pub(super) fn extract<'py>(
    py: Python<'py>,
    text: &Bound<'_, PyAny>,
    tools: Option<&Bound<'_, PyAny>>,
    dialect: Option<&Bound<'_, PyAny>>,
    starts_in: Option<&str>,
    policy: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, Turn>> {
    let tools = tools_argument(tools)?;
    let dialects = dialect_argument(dialect)?;
    let options = options(starts_in, policy)?;
    let read = |text: &Bound<'_, PyString>| {
        let (input, surrogate) = Input::new(text)?;
        // What was found does not leave the guard before Python has it: it is large.
        guard(|| {
            let all = input.as_str(py);
            let (mut turn, calls) =
                detached(py, all.len(), || engine::read(all, &dialects, tools.as_deref(), &options));
            turn.issues.extend(surrogate.map(surrogate_issue));
            Turn::found(py, (turn, calls), &input, tools.as_ref())
        })?
    };
    if let Ok(text) = text.cast::<PyString>() {
        return read(text);
    }
    let bytes = bytes_of(text).ok_or_else(|| {
        let error = no_text("text", text);
        PyTypeError::new_err(format!("{}; a provider's response is read by `normalize`", error.value(py)))
    })?;
    if let Ok(text) = std::str::from_utf8(&bytes) {
        return read(&PyString::new(py, text));
    }
    let turn = guard_detached(py, bytes.len(), || {
        let mut parser = engine::StreamParser::new(Arc::clone(&dialects), tools.clone(), options.clone());
        let mut events = Vec::new();
        parser.feed_bytes(&bytes, &mut events);
        let mut turn = parser.finish(&mut events);
        CharacterCount::default().convert_turn(parser.text(), &mut turn);
        turn
    })?;
    Turn::from_core(py, turn, &Input::None, tools.as_ref())
}

#[doc = stub!("StreamParser")]
// Not frozen with a lock inside: the borrow flag of pyo3 is 8 ns cheaper a chunk. Two threads that share a parser by
// mistake get a RuntimeError from it if they meet while the interpreter is released.
#[pyclass(module = "toolglot", name = "StreamParser")]
pub(super) struct StreamParser {
    stage: Stage,
    /// Events that the open parser does not hold: of its end, and of what came before its text.
    events: Vec<turn::Event>,
    /// Bytes fed so far.
    fed: usize,
    /// Where the first lone surrogate stood.
    surrogate: Option<usize>,
    /// The characters up to the last call that ended.
    count: CharacterCount,
    tools: Option<Arc<schema::ToolSet>>,
}

#[expect(clippy::large_enum_variant, reason = "nearly always the large one, and one a parser")]
enum Stage {
    Open(engine::StreamParser),
    Closed(Box<turn::Turn<'static>>),
    Finished(Py<Turn>),
    /// A bug in the core, or an exception of a signal's handler: what it was doing is lost.
    Broken {
        bug: bool,
    },
}

impl Stage {
    /// After this error.
    fn broken(py: Python<'_>, error: &PyErr) -> Self {
        Self::Broken { bug: error.is_instance_of::<InternalError>(py) }
    }
}

#[pymethods]
impl StreamParser {
    #[new]
    #[pyo3(signature = (tools=None, *, dialect=None, starts_in=None, policy=None),
           text_signature = "(tools=None, *, dialect='auto', starts_in='content', policy=None)")]
    fn new(
        tools: Option<&Bound<'_, PyAny>>,
        dialect: Option<&Bound<'_, PyAny>>,
        starts_in: Option<&str>,
        policy: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (dialects, tools, options) =
            (dialect_argument(dialect)?, tools_argument(tools)?, options(starts_in, policy)?);
        let parser = guard(|| engine::StreamParser::new(dialects, tools.clone(), options))?;
        Ok(Self {
            stage: Stage::Open(parser),
            events: Vec::new(),
            fed: 0,
            surrogate: None,
            count: CharacterCount::default(),
            tools,
        })
    }

    #[doc = stub!("StreamParser.feed")]
    fn feed<'py>(slf: &Bound<'py, Self>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        Self::alone(slf)?.take_chunk(slf.py(), chunk)
    }

    #[doc = stub!("StreamParser.close")]
    fn close<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let mut parser = Self::alone(slf)?;
        parser.end(slf.py())?;
        parser.take(slf.py())
    }

    #[doc = stub!("StreamParser.finish")]
    fn finish<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Turn>> {
        let mut parser = Self::alone(slf)?;
        parser.end(slf.py())?;
        parser.turn(slf.py())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        // While another thread feeds it, a debugger or a log line may ask.
        let Ok(parser) = slf.try_borrow() else { return "<toolglot.StreamParser in use>".to_owned() };
        let stage = match parser.stage {
            Stage::Open(_) => "open",
            Stage::Closed(_) | Stage::Finished(_) => "finished",
            Stage::Broken { .. } => "broken",
        };
        format!("<toolglot.StreamParser {stage}, {} bytes fed>", parser.fed)
    }
}

impl StreamParser {
    /// The parser, for the one thread that uses it.
    fn alone<'py>(slf: &Bound<'py, Self>) -> PyResult<PyRefMut<'py, Self>> {
        let taken = |_| PyRuntimeError::new_err("two threads use one StreamParser at once: each answer needs its own");
        slf.try_borrow_mut().map_err(taken)
    }

    fn take_chunk<'py>(&mut self, py: Python<'py>, chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        if let Ok(chunk) = chunk.cast::<PyString>() {
            if let Ok(text) = chunk.to_str() {
                return match self.run(py, text.len(), |parser| parser.read(text))? {
                    Some(whole) => PyList::new(py, Some(Event::of_chunk(whole, chunk))),
                    None => self.take(py),
                };
            }
            let (text, surrogate) = utf8(chunk)?;
            if let (None, Some(offset)) = (self.surrogate, surrogate) {
                let offset = self.fed + offset;
                self.surrogate = Some(offset);
                self.events.push(turn::Event::Issue(surrogate_issue(offset)));
            }
            if let Some(whole) = self.run(py, text.len(), |parser| parser.read(&text))? {
                self.events.push(whole.event(text.into_owned()));
            }
            return self.take(py);
        }
        let bytes = bytes_of(chunk).ok_or_else(|| no_text("a chunk", chunk))?;
        self.run(py, bytes.len(), |parser| parser.read_bytes(&bytes))?;
        self.take(py)
    }

    /// Lets the parser work on `bytes` more bytes.
    fn run<T: Send>(
        &mut self,
        py: Python<'_>,
        bytes: usize,
        work: impl FnOnce(&mut engine::StreamParser) -> T + Send,
    ) -> PyResult<T> {
        let Stage::Open(parser) = &mut self.stage else { return Err(self.not_open()) };
        let worked = guard_detached(py, bytes, || work(parser));
        if let Err(error) = &worked {
            self.stage = Stage::broken(py, error);
        }
        self.fed += bytes;
        worked
    }

    fn not_open(&self) -> PyErr {
        match self.stage {
            Stage::Broken { bug: true } => {
                InternalError::new_err("this parser stopped at a bug in toolglot; make a new one")
            }
            Stage::Broken { bug: false } => PyRuntimeError::new_err("this parser was interrupted; make a new one"),
            _ => {
                let message = "feed() after the answer was finished: the next answer needs a new StreamParser";
                Error::new(ErrorCode::BadOption, message).into()
            }
        }
    }

    fn end(&mut self, py: Python<'_>) -> PyResult<()> {
        let Stage::Open(parser) = &mut self.stage else { return Ok(()) };
        let (events, count) = (&mut self.events, &mut self.count);
        let finished = guard_detached(py, self.fed, || {
            let known = events.len();
            let mut turn = parser.finish(events);
            events.iter_mut().skip(known).for_each(|event| count.convert_event(parser.text(), event));
            count.convert_turn(parser.text(), &mut turn);
            turn
        });
        let surrogate = self.surrogate.map(surrogate_issue);
        self.stage = match finished {
            Ok(mut turn) => {
                turn.issues.extend(surrogate);
                Stage::Closed(Box::new(turn))
            }
            Err(error) => {
                self.stage = Stage::broken(py, &error);
                return Err(error);
            }
        };
        Ok(())
    }

    fn turn<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, Turn>> {
        match std::mem::replace(&mut self.stage, Stage::Broken { bug: true }) {
            Stage::Closed(turn) => {
                let turn = Turn::from_core(py, *turn, &Input::None, self.tools.as_ref())?;
                self.stage = Stage::Finished(turn.clone().unbind());
                Ok(turn)
            }
            Stage::Finished(turn) => {
                let bound = turn.bind(py).clone();
                self.stage = Stage::Finished(turn);
                Ok(bound)
            }
            stage @ (Stage::Open(_) | Stage::Broken { .. }) => {
                self.stage = stage;
                Err(self.not_open())
            }
        }
    }

    /// The events so far, as Python objects.
    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (tools, count) = (self.tools.as_ref(), &mut self.count);
        let fresh = match &mut self.stage {
            Stage::Open(parser) => {
                let (text, fresh) = parser.text_and_fresh();
                Some(fresh.map(move |mut event| {
                    if let engine::Fresh::Event(event) = &mut event {
                        count.convert_event(text, event);
                    }
                    event
                }))
            }
            _ => None,
        };
        match fresh {
            Some(fresh) if self.events.is_empty() => {
                event_list(py, fresh.map(|event| Event::from_fresh(py, event, tools)))
            }
            fresh => {
                self.events.extend(fresh.into_iter().flatten().map(turn::Event::from));
                event_list(py, self.events.drain(..).map(|event| Event::from_core(py, event, tools)))
            }
        }
    }
}

/// The events as a list; mostly there is one or none.
pub(super) fn event_list<'py>(
    py: Python<'py>,
    mut events: impl ExactSizeIterator<Item = PyResult<Event>>,
) -> PyResult<Bound<'py, PyList>> {
    match (events.len(), events.next()) {
        (_, None) => Ok(PyList::empty(py)),
        (1, Some(only)) => PyList::new(py, [only?]),
        (_, Some(first)) => {
            let events = std::iter::once(first).chain(events);
            PyList::new(py, events.collect::<PyResult<Vec<_>>>()?)
        }
    }
}
