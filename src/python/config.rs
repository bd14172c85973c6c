//! Configuration per model.
use super::argument::word;
use super::capability::Capabilities;
use super::convert::from_py;
use super::guard::guard;
use super::report::repr_of;
use crate::exchange::config;
use crate::exchange::mode::Mode;
use pyo3::prelude::*;
use pyo3::types::PyDict;

#[doc = stub!("ModelConfig")]
#[pyclass(frozen, eq, skip_from_py_object, module = "toolglot")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelConfig(pub(super) config::ModelConfig);

#[pymethods]
impl ModelConfig {
    #[doc = stub!("ModelConfig.preferred_modes")]
    #[getter]
    fn preferred_modes(&self) -> Vec<&'static str> {
        self.0.preferred_modes.iter().map(|mode| mode.as_str()).collect()
    }

    #[doc = stub!("ModelConfig.expect_text_calls")]
    #[getter]
    fn expect_text_calls(&self) -> Option<bool> {
        self.0.expect_text_calls
    }

    #[doc = stub!("ModelConfig.dialect")]
    #[getter]
    fn dialect(&self) -> Option<&str> {
        self.0.dialect.as_deref()
    }

    #[doc = stub!("ModelConfig.max_retries")]
    #[getter]
    fn max_retries(&self) -> usize {
        self.0.max_retries
    }

    #[doc = stub!("ModelConfig.retry_with_different_format")]
    #[getter]
    fn retry_with_different_format(&self) -> bool {
        self.0.retry_with_different_format
    }

    #[doc = stub!("ModelConfig.strict_json_instructions")]
    #[getter]
    fn strict_json_instructions(&self) -> bool {
        self.0.strict_json_instructions
    }

    #[doc = stub!("ModelConfig.no_xml_instructions")]
    #[getter]
    fn no_xml_instructions(&self) -> bool {
        self.0.no_xml_instructions
    }

    #[doc = stub!("ModelConfig.modes")]
    fn modes(&self, capabilities: &Bound<'_, Capabilities>) -> Vec<&'static str> {
        self.0.modes(&capabilities.get().0).into_iter().map(Mode::as_str).collect()
    }

    #[doc = stub!("ModelConfig.expects_text_calls")]
    fn expects_text_calls(&self, capabilities: &Bound<'_, Capabilities>) -> bool {
        self.0.expects_text_calls(&capabilities.get().0)
    }

    #[doc = stub!("ModelConfig.instructions")]
    fn instructions(&self, mode: &str) -> PyResult<String> {
        Ok(self.0.instructions(word("mode", Mode::ALL, Mode::as_str, mode)?))
    }

    #[doc = stub!("ModelConfig.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("preferred_modes", self.preferred_modes())?;
        dict.set_item("expect_text_calls", self.expect_text_calls())?;
        dict.set_item("dialect", self.dialect())?;
        dict.set_item("max_retries", self.max_retries())?;
        dict.set_item("retry_with_different_format", self.retry_with_different_format())?;
        dict.set_item("strict_json_instructions", self.strict_json_instructions())?;
        dict.set_item("no_xml_instructions", self.no_xml_instructions())?;
        Ok(dict)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        repr_of("ModelConfig", &self.to_dict(py)?)
    }
}

#[doc = stub!("Config")]
#[pyclass(frozen, eq, skip_from_py_object, module = "toolglot")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config(pub(super) config::Config);

#[pymethods]
impl Config {
    #[new]
    #[pyo3(signature = (settings=None, /))]
    fn new(settings: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(settings) = settings else { return Ok(Self(config::Config::default())) };
        let settings = from_py(settings)?;
        Ok(Self(guard(|| config::Config::read(&settings))??))
    }

    #[doc = stub!("Config.model")]
    fn model(&self, model: &str) -> PyResult<ModelConfig> {
        guard(|| ModelConfig(self.0.model(model)))
    }

    fn __or__(&self, other: &Bound<'_, Self>) -> Self {
        Self(self.0.clone().with(&other.get().0))
    }
}
