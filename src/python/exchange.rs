//! `toolglot.Exchange`: one request to a model and all that is tried until a turn is there.
use super::argument::Count;
use super::capability::Capabilities;
use super::config::Config;
use super::convert::from_payload;
use super::event::Event;
use super::guard::{guard, guard_detached};
use super::messages::{messages_argument, side_argument, system_argument};
use super::parser::{event_list, options};
use super::provider::provider_argument;
use super::report::{Usage, repr_of};
use super::source::tools_argument;
use super::text::{Input, bytes_of, no_text};
use super::turn::Turn;
use crate::exchange::capability::{Route, capabilities};
use crate::exchange::{self, Next, Options, Wanted};
use crate::provider::{detect_history, read_history};
use crate::schema;
use crate::turn;
use crate::{Error, ErrorCode};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[doc = stub!("Endpoint")]
#[pyclass(frozen, skip_from_py_object, module = "toolglot", name = "Endpoint")]
pub(super) struct Endpoint(exchange::Endpoint);

#[pymethods]
impl Endpoint {
    #[new]
    #[pyo3(signature = (model, base_url=None, *, provider="auto", capabilities=None, config=None))]
    fn new(
        model: &str,
        base_url: Option<&str>,
        provider: &str,
        capabilities: Option<&Bound<'_, Capabilities>>,
        config: Option<&Bound<'_, Config>>,
    ) -> PyResult<Self> {
        let known = match capabilities {
            Some(known) => known.get().0.clone(),
            None => guard(|| self::capabilities(&Route::new(base_url, model), None, 0))?,
        };
        let config = config.map(|config| config.get().0.model(model)).unwrap_or_default();
        let provider = Some(provider).filter(|name| *name != "auto");
        Ok(Self(guard(|| exchange::Endpoint::new(provider, base_url, known, config))??))
    }

    #[doc = stub!("Endpoint.model")]
    #[getter]
    fn model(&self) -> &str {
        self.0.capabilities().route.model()
    }

    #[doc = stub!("Endpoint.base_url")]
    #[getter]
    fn base_url(&self) -> &str {
        self.0.base_url()
    }

    #[doc = stub!("Endpoint.provider")]
    #[getter]
    fn provider(&self) -> &'static str {
        self.0.provider().as_str()
    }

    #[doc = stub!("Endpoint.capabilities")]
    #[getter]
    fn capabilities(&self) -> Capabilities {
        Capabilities(self.0.capabilities().clone())
    }

    fn __repr__(&self) -> String {
        format!("Endpoint({:?}, provider={:?})", self.model(), self.provider())
    }
}

#[doc = stub!("Attempt")]
#[pyclass(frozen, skip_from_py_object, module = "toolglot", name = "Attempt")]
pub(super) struct Attempt(exchange::Attempt);

#[pymethods]
impl Attempt {
    #[doc = stub!("Attempt.model")]
    #[getter]
    fn model(&self) -> &str {
        self.0.route.model()
    }

    #[doc = stub!("Attempt.base_url")]
    #[getter]
    fn base_url(&self) -> &str {
        self.0.route.base_url()
    }

    #[doc = stub!("Attempt.mode")]
    #[getter]
    fn mode(&self) -> &'static str {
        self.0.mode.as_str()
    }

    #[doc = stub!("Attempt.why")]
    #[getter]
    fn why(&self) -> &'static str {
        self.0.why.as_str()
    }

    #[doc = stub!("Attempt.status")]
    #[getter]
    fn status(&self) -> u16 {
        self.0.status
    }

    #[doc = stub!("Attempt.seconds")]
    #[getter]
    fn seconds(&self) -> f64 {
        self.0.seconds
    }

    #[doc = stub!("Attempt.usage")]
    #[getter]
    fn usage(&self) -> Option<Usage> {
        self.0.usage.map(Usage)
    }

    #[doc = stub!("Attempt.verdict")]
    #[getter]
    fn verdict(&self) -> &'static str {
        self.0.verdict.as_str()
    }

    #[doc = stub!("Attempt.message")]
    #[getter]
    fn message(&self) -> Option<&str> {
        self.0.message.as_deref()
    }

    #[doc = stub!("Attempt.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("model", self.model())?;
        dict.set_item("base_url", self.base_url())?;
        dict.set_item("mode", self.mode())?;
        dict.set_item("why", self.why())?;
        dict.set_item("status", self.status())?;
        dict.set_item("seconds", self.seconds())?;
        dict.set_item("usage", self.usage().map(|usage| usage.to_dict(py)).transpose()?)?;
        dict.set_item("verdict", self.verdict())?;
        dict.set_item("message", self.message())?;
        Ok(dict)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        repr_of("Attempt", &self.to_dict(py)?)
    }
}

fn attempts_to_py<'py>(py: Python<'py>, attempts: &[exchange::Attempt]) -> PyResult<Bound<'py, PyTuple>> {
    let attempts = attempts.iter().map(|attempt| Bound::new(py, Attempt(attempt.clone())));
    PyTuple::new(py, attempts.collect::<PyResult<Vec<_>>>()?)
}

#[doc = stub!("Step")]
#[pyclass(frozen, skip_from_py_object, module = "toolglot", name = "Step")]
pub(super) struct Step(Next);

impl Step {
    const fn send(&self) -> Option<&exchange::Send> {
        match &self.0 {
            Next::Send(send) => Some(send),
            _ => None,
        }
    }
}

#[pymethods]
impl Step {
    #[doc = stub!("Step.kind")]
    #[getter]
    const fn kind(&self) -> &'static str {
        match &self.0 {
            Next::Send(_) => "send",
            Next::Wait(_) => "wait",
            Next::Done => "done",
        }
    }

    #[doc = stub!("Step.seconds")]
    #[getter]
    const fn seconds(&self) -> Option<f64> {
        match &self.0 {
            Next::Send(send) => Some(send.seconds),
            Next::Wait(seconds) => Some(*seconds),
            Next::Done => None,
        }
    }

    #[doc = stub!("Step.url")]
    #[getter]
    fn url(&self) -> Option<&str> {
        self.send().map(|send| &*send.url)
    }

    #[doc = stub!("Step.headers")]
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let headers = PyDict::new(py);
        for (name, value) in self.send().into_iter().flat_map(|send| &send.headers) {
            headers.set_item(name, value)?;
        }
        Ok(headers)
    }

    #[doc = stub!("Step.key")]
    #[getter]
    fn key(&self) -> Option<(&'static str, &'static str)> {
        self.send().map(|send| send.key)
    }

    #[doc = stub!("Step.body")]
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        // Writing a value of JSON cannot fail.
        self.send().map(|send| PyBytes::new(py, &serde_json::to_vec(&send.body).unwrap_or_default()))
    }

    #[doc = stub!("Step.endpoint")]
    #[getter]
    fn endpoint(&self) -> Option<usize> {
        self.send().map(|send| send.endpoint)
    }

    #[doc = stub!("Step.mode")]
    #[getter]
    fn mode(&self) -> Option<&'static str> {
        self.send().map(|send| send.mode.as_str())
    }

    fn __repr__(&self) -> String {
        match &self.0 {
            Next::Send(send) => format!("<toolglot.Step send {} ({})>", send.url, send.mode.as_str()),
            Next::Wait(seconds) => format!("<toolglot.Step wait {seconds} s>"),
            Next::Done => "<toolglot.Step done>".to_owned(),
        }
    }
}

#[doc = stub!("Exchange")]
#[pyclass(frozen, module = "toolglot", name = "Exchange")]
pub(super) struct Exchange(Mutex<State>);

struct State {
    /// `None` once it is finished.
    core: Option<exchange::Exchange>,
    finished: Option<Finished>,
    tools: Arc<schema::ToolSet>,
    began: Instant,
}

struct Finished {
    turn: Option<turn::Turn<'static>>,
    error: Option<Error>,
    events: Vec<turn::Event>,
    attempts: Vec<exchange::Attempt>,
    learned: Vec<(String, String, &'static str, &'static str)>,
}

impl State {
    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn running(&mut self) -> PyResult<&mut exchange::Exchange> {
        self.core.as_mut().ok_or_else(|| Error::new(ErrorCode::BadOption, "the exchange is over").into())
    }

    fn finished(&mut self) -> PyResult<&mut Finished> {
        if let Some(core) = self.core.take() {
            let done = guard(|| core.finish())?;
            let learned = done.learned.into_iter().map(|(route, what, how)| {
                (route.model().to_owned(), route.base_url().to_owned(), what.as_str(), how.as_str())
            });
            self.finished = Some(Finished {
                turn: done.turn,
                error: done.error,
                events: done.events,
                attempts: done.attempts,
                learned: learned.collect(),
            });
        }
        self.finished.as_mut().ok_or_else(|| Error::new(ErrorCode::BadOption, "the exchange is over").into())
    }

    fn list<'py>(&self, py: Python<'py>, events: Vec<turn::Event>) -> PyResult<Bound<'py, PyList>> {
        event_list(py, events.into_iter().map(|event| Event::from_core(py, event, Some(&self.tools))))
    }
}

impl Exchange {
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Exchange {
    #[new]
    #[pyo3(signature = (messages, tools=None, *, endpoints, tool_choice="auto", parallel=None, max_tokens=None, temperature=None,
                        extra=None, stream=false, requests=None, tokens=None, seconds=600.0, system=None, side=None,
                        source="auto", starts_in=None, policy=None),
           text_signature = "(messages, tools=None, *, endpoints, tool_choice='auto', parallel=None, max_tokens=None, temperature=None, extra=None, stream=False, requests=None, tokens=None, seconds=600.0, system=None, side=None, source='auto', starts_in='content', policy=None)")]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        messages: &Bound<'_, PyAny>,
        tools: Option<&Bound<'_, PyAny>>,
        endpoints: Vec<PyRef<'_, Endpoint>>,
        tool_choice: &str,
        parallel: Option<bool>,
        max_tokens: Option<Count>,
        temperature: Option<f64>,
        extra: Option<&Bound<'_, PyAny>>,
        stream: bool,
        requests: Option<Count>,
        tokens: Option<Count>,
        seconds: f64,
        system: Option<&Bound<'_, PyAny>>,
        side: Option<&Bound<'_, PyAny>>,
        source: &str,
        starts_in: Option<&str>,
        policy: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let bad = |place: &str, message: &str| PyErr::from(Error::at(ErrorCode::BadOption, place, message));
        if endpoints.is_empty() {
            return Err(bad("endpoints", "there is no endpoint to ask"));
        }
        if seconds.is_nan() || seconds <= 0.0 {
            return Err(bad("seconds", "more than 0 seconds are needed"));
        }
        let tools = tools_argument(tools)?.unwrap_or_default();
        let extra = match extra.map(from_payload::<Value>).transpose()? {
            None | Some(Value::Null) => serde_json::Map::new(),
            Some(Value::Object(extra)) => extra,
            Some(_) => return Err(bad("extra", "a dict of members of the request is needed")),
        };
        let tool_choice = Wanted::named(tool_choice);
        if let Wanted::Tool(name) = &tool_choice
            && tools.get(name).is_none()
        {
            return Err(bad(
                "tool_choice",
                &format!("{name:?} is no tool, and none of \"auto\", \"required\", \"none\""),
            ));
        }
        let count = |count: Option<Count>, name: &str| -> PyResult<Option<u64>> {
            Ok(Count::given(count, name)?.and_then(|count| u64::try_from(count).ok()))
        };
        let options = Options {
            tool_choice,
            parallel,
            max_tokens: count(max_tokens, "max_tokens")?,
            temperature,
            extra,
            stream,
            reading: options(starts_in, policy)?,
            requests: Count::given(requests, "requests")?,
            seconds,
            tokens: count(tokens, "tokens")?.unwrap_or(u64::MAX),
        };
        let source = provider_argument(source)?;
        let messages = messages_argument(messages)?;
        let (system, side) = (system_argument(system)?, side_argument(side)?);
        let endpoints: Vec<_> = endpoints.iter().map(|endpoint| endpoint.0.clone()).collect();
        let shared = Arc::clone(&tools);
        let core = guard(|| {
            let source = source.unwrap_or_else(|| detect_history(&messages));
            let messages = read_history(&messages, system.as_ref(), source, side.as_ref())?;
            Ok::<_, Error>(exchange::Exchange::new(messages, shared, options, endpoints))
        })??;
        Ok(Self(Mutex::new(State { core: Some(core), finished: None, tools, began: Instant::now() })))
    }

    #[doc = stub!("Exchange.next")]
    #[pyo3(signature = (now=None))]
    fn next(&self, py: Python<'_>, now: Option<f64>) -> PyResult<Step> {
        let mut state = self.state(py);
        let now = now.unwrap_or_else(|| state.now());
        match &mut state.core {
            Some(core) => Ok(Step(guard(|| core.next(now))?)),
            None => Ok(Step(Next::Done)),
        }
    }

    #[doc = stub!("Exchange.answer")]
    #[pyo3(signature = (status, headers=None))]
    fn answer(&self, py: Python<'_>, status: u16, headers: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        if let Some(headers) = headers {
            for pair in headers.call_method0("items")?.try_iter()? {
                pairs.push(pair?.extract()?);
            }
        }
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| (&**name, &**value)).collect();
        let mut state = self.state(py);
        let core = state.running()?;
        guard(|| core.answer(status, &pairs))
    }

    #[doc = stub!("Exchange.feed")]
    fn feed<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let bytes = match bytes_of(data) {
            Some(bytes) => bytes,
            None => data.extract::<String>().map_err(|_| no_text("data", data))?.into_bytes().into(),
        };
        let mut state = self.state(py);
        let core = state.running()?;
        let events = guard_detached(py, bytes.len(), || core.feed(&bytes))?;
        state.list(py, events)
    }

    #[doc = stub!("Exchange.end")]
    #[pyo3(signature = (now=None))]
    fn end<'py>(&self, py: Python<'py>, now: Option<f64>) -> PyResult<Bound<'py, PyList>> {
        let mut state = self.state(py);
        let now = now.unwrap_or_else(|| state.now());
        let core = state.running()?;
        let events = guard(|| core.end(now))?;
        state.list(py, events)
    }

    #[doc = stub!("Exchange.fail")]
    #[pyo3(signature = (why, now=None))]
    fn fail(&self, py: Python<'_>, why: &str, now: Option<f64>) -> PyResult<()> {
        let mut state = self.state(py);
        let now = now.unwrap_or_else(|| state.now());
        let core = state.running()?;
        guard(|| core.fail(why, now))
    }

    #[doc = stub!("Exchange.close")]
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut state = self.state(py);
        let events = std::mem::take(&mut state.finished()?.events);
        state.list(py, events)
    }

    #[doc = stub!("Exchange.finish")]
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Turn>> {
        let mut state = self.state(py);
        let tools = Arc::clone(&state.tools);
        let done = state.finished()?;
        let attempts = attempts_to_py(py, &done.attempts)?;
        let turn = match &done.turn {
            Some(turn) => {
                let turn = Turn::from_core(py, turn.clone(), &Input::None, Some(&tools))?;
                turn.get().attempted(attempts.clone());
                Some(turn)
            }
            None => None,
        };
        match (turn, &done.error) {
            (Some(turn), None) => Ok(turn),
            (turn, error) => {
                let none = || Error::new(ErrorCode::ProviderError, "no answer came");
                let raised = PyErr::from(error.clone().unwrap_or_else(none));
                raised.value(py).setattr("attempts", attempts)?;
                raised.value(py).setattr("turn", turn)?;
                Err(raised)
            }
        }
    }

    #[doc = stub!("Exchange.attempts")]
    #[getter]
    fn attempts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let state = self.state(py);
        match (&state.core, &state.finished) {
            (Some(core), _) => attempts_to_py(py, core.attempts()),
            (None, Some(done)) => attempts_to_py(py, &done.attempts),
            (None, None) => Ok(PyTuple::empty(py)),
        }
    }

    #[doc = stub!("Exchange._learned")]
    fn _learned(&self, py: Python<'_>) -> PyResult<Vec<(String, String, &'static str, &'static str)>> {
        Ok(self.state(py).finished()?.learned.clone())
    }
}
