//! What a route can do, what was learned of it, and asking it.
use super::argument::word;
use super::convert::{from_py, json_to_py, to_py};
use super::guard::guard;
use super::report::repr_of;
use crate::exchange::capability::{self, Capability, Observed, Outcome, Route, ServerInfo, Source, Store, Support};
use crate::{Error, ErrorCode};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a [`Finding`] is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Support(Support),
    Word(Option<&'static str>),
    Size(Option<u64>),
}

#[doc = stub!("Finding")]
#[pyclass(frozen, eq, skip_from_py_object, module = "toolglot")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    value: Value,
    source: Source,
    date: Option<String>,
}

impl Finding {
    fn of<T>(finding: capability::Finding<T>, value: fn(T) -> Value) -> Self {
        let date = finding.date.map(|date| date.to_string());
        Self { value: value(finding.value), source: finding.source, date }
    }
}

#[pymethods]
impl Finding {
    #[doc = stub!("Finding.value")]
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.value {
            Value::Support(support) => support.as_str().into_bound_py_any(py),
            Value::Word(word) => word.into_bound_py_any(py),
            Value::Size(size) => size.into_bound_py_any(py),
        }
    }

    #[doc = stub!("Finding.source")]
    #[getter]
    fn source(&self) -> &'static str {
        self.source.layer().as_str()
    }

    #[doc = stub!("Finding.detail")]
    #[getter]
    fn detail(&self) -> String {
        self.source.detail()
    }

    #[doc = stub!("Finding.date")]
    #[getter]
    fn date(&self) -> Option<&str> {
        self.date.as_deref()
    }

    #[doc = stub!("Finding.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("value", self.value(py)?)?;
        dict.set_item("source", self.source())?;
        dict.set_item("detail", self.detail())?;
        dict.set_item("date", self.date())?;
        Ok(dict)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        repr_of("Finding", &self.to_dict(py)?)
    }
}

#[doc = stub!("Capabilities")]
#[pyclass(frozen, eq, skip_from_py_object, module = "toolglot")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Capabilities(pub(super) capability::Capabilities);

impl Capabilities {
    fn finding(&self, capability: Capability) -> Finding {
        Finding::of(self.0.get(capability), Value::Support)
    }
}

#[pymethods]
impl Capabilities {
    #[doc = stub!("Capabilities.model")]
    #[getter]
    fn model(&self) -> &str {
        self.0.route.model()
    }

    #[doc = stub!("Capabilities.base_url")]
    #[getter]
    fn base_url(&self) -> Option<&str> {
        Some(self.0.route.base_url()).filter(|url| !url.is_empty())
    }

    #[doc = stub!("Capabilities.provider")]
    #[getter]
    fn provider(&self) -> Option<&'static str> {
        self.0.provider.map(capability::Provider::name)
    }

    #[doc = stub!("Capabilities.native_tools")]
    #[getter]
    fn native_tools(&self) -> Finding {
        self.finding(Capability::NativeTools)
    }

    #[doc = stub!("Capabilities.parallel_calls")]
    #[getter]
    fn parallel_calls(&self) -> Finding {
        self.finding(Capability::ParallelCalls)
    }

    #[doc = stub!("Capabilities.tool_choice")]
    #[getter]
    fn tool_choice(&self) -> Finding {
        self.finding(Capability::ToolChoice)
    }

    #[doc = stub!("Capabilities.json_schema")]
    #[getter]
    fn json_schema(&self) -> Finding {
        self.finding(Capability::JsonSchema)
    }

    #[doc = stub!("Capabilities.json_object")]
    #[getter]
    fn json_object(&self) -> Finding {
        self.finding(Capability::JsonObject)
    }

    #[doc = stub!("Capabilities.strict")]
    #[getter]
    fn strict(&self) -> Finding {
        self.finding(Capability::Strict)
    }

    #[doc = stub!("Capabilities.streamed_tools")]
    #[getter]
    fn streamed_tools(&self) -> Finding {
        self.finding(Capability::StreamedTools)
    }

    #[doc = stub!("Capabilities.text_calls")]
    #[getter]
    fn text_calls(&self) -> Finding {
        self.finding(Capability::TextCalls)
    }

    #[doc = stub!("Capabilities.reasoning")]
    #[getter]
    fn reasoning(&self) -> Finding {
        self.finding(Capability::Reasoning)
    }

    #[doc = stub!("Capabilities.dialect")]
    #[getter]
    fn dialect(&self) -> Finding {
        Finding::of(self.0.dialect, Value::Word)
    }

    #[doc = stub!("Capabilities.context_size")]
    #[getter]
    fn context_size(&self) -> Finding {
        Finding::of(self.0.context_size, Value::Size)
    }

    #[doc = stub!("Capabilities.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("model", self.model())?;
        dict.set_item("base_url", self.base_url())?;
        dict.set_item("provider", self.provider())?;
        for capability in Capability::ALL {
            dict.set_item(capability.as_str(), self.finding(*capability).to_dict(py)?)?;
        }
        dict.set_item("dialect", self.dialect().to_dict(py)?)?;
        dict.set_item("context_size", self.context_size().to_dict(py)?)?;
        Ok(dict)
    }

    /// Only what is known, with who knows it.
    fn __repr__(&self) -> String {
        let mut out = format!("Capabilities({:?}", self.0.route.model());
        if let Some(url) = self.base_url() {
            out.push_str(&format!(", {url:?}"));
        }
        for capability in Capability::ALL {
            let finding = self.0.get(*capability);
            if finding.value != Support::Unknown {
                let (name, value, layer) =
                    (capability.as_str(), finding.value.as_str(), finding.source.layer().as_str());
                out.push_str(&format!(", {name}={value} ({layer})"));
            }
        }
        if let Some(dialect) = self.0.dialect.value {
            out.push_str(&format!(", dialect={dialect}"));
        }
        if let Some(size) = self.0.context_size.value {
            out.push_str(&format!(", context_size={size} ({})", self.0.context_size.source.layer().as_str()));
        }
        out.push(')');
        out
    }
}

#[doc = stub!("_capabilities")]
#[pyfunction]
pub(super) fn _capabilities(model: &str, base_url: Option<&str>) -> PyResult<Capabilities> {
    guard(|| Capabilities(capability::capabilities(&Route::new(base_url, model), None, 0)))
}

#[doc = stub!("_route_key")]
#[pyfunction]
pub(super) fn _route_key(model: &str, base_url: Option<&str>) -> String {
    Route::new(base_url, model).key()
}

#[doc = stub!("_refused")]
#[pyfunction]
pub(super) fn _refused(status: u16, body: &str, format: Option<&str>) -> PyResult<Option<&'static str>> {
    let format = format.map(|name| word("format", Capability::ALL, Capability::as_str, name)).transpose()?;
    Ok(capability::refused(status, body, format).map(Capability::as_str))
}

#[doc = stub!("_Learned")]
#[pyclass(frozen, module = "toolglot._core")]
pub(super) struct _Learned(Mutex<Store>);

impl _Learned {
    fn store(&self) -> MutexGuard<'_, Store> {
        // Each change is made whole, so that what another thread left behind is sound.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl _Learned {
    #[new]
    fn new(ttl: u64) -> Self {
        Self(Mutex::new(Store::new(ttl)))
    }

    #[doc = stub!("_Learned.capabilities")]
    fn capabilities(&self, model: &str, base_url: Option<&str>, now: u64) -> PyResult<Capabilities> {
        let store = self.store();
        guard(|| Capabilities(capability::capabilities(&Route::new(base_url, model), Some(&store), now)))
    }

    #[doc = stub!("_Learned.record")]
    fn record(&self, model: &str, base_url: Option<&str>, capability: &str, outcome: &str, now: u64) -> PyResult<()> {
        let capability = word("capability", Capability::ALL, Capability::as_str, capability)?;
        let outcome = word("outcome", Outcome::ALL, Outcome::as_str, outcome)?;
        self.store().record(&Route::new(base_url, model), capability, outcome, now);
        Ok(())
    }

    #[doc = stub!("_Learned.tell")]
    fn tell(&self, model: &str, base_url: Option<&str>, answer: &Bound<'_, PyAny>, now: u64) -> PyResult<&'static str> {
        let answer = from_py(answer)?;
        let info = guard(|| ServerInfo::read(&answer, model))??;
        let server = info.server;
        self.store().tell(&Route::new(base_url, model), info, now);
        Ok(server.as_str())
    }

    #[doc = stub!("_Learned.answer")]
    fn answer(&self, probe: &Bound<'_, _Probe>, status: u16, body: &str, now: u64) -> PyResult<()> {
        let probe = probe.get();
        let seen = guard(|| probe.probe().answer(status, body))?;
        let mut store = self.store();
        for observed in seen {
            match observed {
                Observed::ServerInfo(info) => store.tell(&probe.route, info, now),
                Observed::Outcome(capability, outcome) => store.record(&probe.route, capability, outcome, now),
            }
        }
        Ok(())
    }

    #[doc = stub!("_Learned.forget")]
    fn forget(&self, model: &str, base_url: Option<&str>) {
        self.store().forget(&Route::new(base_url, model));
    }

    #[doc = stub!("_Learned.dump")]
    fn dump(&self, model: &str, base_url: Option<&str>) -> Option<String> {
        self.store().dump(&Route::new(base_url, model)).map(|value| value.to_string())
    }

    #[doc = stub!("_Learned.load")]
    fn load(&self, model: &str, base_url: Option<&str>, text: &str) -> PyResult<()> {
        let value = serde_json::from_str(text).map_err(|error| {
            Error::at(ErrorCode::BadOption, "store", format!("what was stored is no JSON: {error}"))
        })?;
        Ok(self.store().load(&Route::new(base_url, model), &value)?)
    }
}

#[doc = stub!("_Probe")]
#[pyclass(frozen, module = "toolglot._core")]
pub(super) struct _Probe {
    route: Route,
    probe: Mutex<capability::Probe>,
}

impl _Probe {
    fn probe(&self) -> MutexGuard<'_, capability::Probe> {
        self.probe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl _Probe {
    #[new]
    fn new(model: &str, base_url: &str, requests: bool) -> Self {
        let route = Route::new(Some(base_url), model);
        Self { probe: Mutex::new(capability::Probe::new(route.clone(), requests)), route }
    }

    #[doc = stub!("_Probe.next")]
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(request) = self.probe().next() else { return Ok(None) };
        let body = match &request.body {
            Some(body) => to_py(py, body)?,
            None => json_to_py(py, "null")?,
        };
        Ok(Some((request.method.as_str(), request.url, body).into_pyobject(py)?))
    }
}
