//! `toolglot.Policy`: the caller's choices.
use super::argument::{Count, word};
use super::convert::a_type;
use crate::engine::{self, BareCalls, Fences, ReasoningCalls, UnknownTools};
use crate::{Error, ErrorCode};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

#[doc = stub!("Policy")]
#[pyclass(frozen, eq, skip_from_py_object, module = "toolglot", name = "Policy")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy(pub(super) engine::Policy);

macro_rules! choices {
    ($option:literal: $type:ty { $($text:literal => $value:ident,)* }) => {
        impl Choice for $type {
            const OPTION: &'static str = $option;
            const ALL: &'static [(&'static str, Self)] = &[$(($text, Self::$value),)*];
        }
    };
}

choices!("fences": Fences { "calls" => Calls, "last" => Last, "ignore" => Ignore, });
choices!("bare": BareCalls { "line" => Line, "alone" => Alone, "off" => Off, });
choices!("reasoning": ReasoningCalls { "if_unclosed" => IfUnclosed, "ignore" => Ignore, "run" => Run, });
choices!("unknown_tools": UnknownTools { "flag" => Flag, "text" => Text, "allow" => Allow, });
choices!("names": engine::Names { "resolve" => Resolve, "exact" => Exact, });
choices!("ids": engine::Ids { "random" => Random, "derived" => Derived, });
choices!("starts_in": engine::StartsIn { "content" => Content, "reasoning" => Reasoning, });

/// An option whose value is one of a few words.
pub(super) trait Choice: Copy + PartialEq + Default + 'static {
    const OPTION: &'static str;
    const ALL: &'static [(&'static str, Self)];

    fn parse(text: Option<&str>) -> Result<Self, Error> {
        let Some(text) = text else { return Ok(Self::default()) };
        word(Self::OPTION, Self::ALL, |(name, _)| name, text).map(|(_, value)| value)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, value)| *value == self).map_or("", |(name, _)| name)
    }
}

#[pymethods]
impl Policy {
    #[new]
    #[pyo3(signature = (*, fences=None, bare=None, reasoning=None, unknown_tools=None, names=None, ids=None,
                        max_calls=None, max_depth=None, max_arguments_bytes=None, max_markup_bytes=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        fences: Option<&str>,
        bare: Option<&str>,
        reasoning: Option<&str>,
        unknown_tools: Option<&str>,
        names: Option<&str>,
        ids: Option<&str>,
        max_calls: Option<Count>,
        max_depth: Option<Count>,
        max_arguments_bytes: Option<Count>,
        max_markup_bytes: Option<Count>,
    ) -> PyResult<Self> {
        let default = engine::Policy::default();
        let count = |name, value: Option<Count>, default| value.map_or(Ok(default), |value| value.get(name));
        let policy = engine::Policy {
            fences: Choice::parse(fences)?,
            bare: Choice::parse(bare)?,
            reasoning: Choice::parse(reasoning)?,
            unknown_tools: Choice::parse(unknown_tools)?,
            names: Choice::parse(names)?,
            ids: Choice::parse(ids)?,
            max_calls: count("max_calls", max_calls, default.max_calls)?,
            max_depth: count("max_depth", max_depth, default.max_depth)?,
            max_arguments_bytes: count("max_arguments_bytes", max_arguments_bytes, default.max_arguments_bytes)?,
            max_markup_bytes: count("max_markup_bytes", max_markup_bytes, default.max_markup_bytes)?,
        };
        policy.check()?;
        Ok(Self(policy))
    }

    #[doc = stub!("Policy.fences")]
    #[getter]
    fn fences(&self) -> &'static str {
        self.0.fences.name()
    }

    #[doc = stub!("Policy.bare")]
    #[getter]
    fn bare(&self) -> &'static str {
        self.0.bare.name()
    }

    #[doc = stub!("Policy.reasoning")]
    #[getter]
    fn reasoning(&self) -> &'static str {
        self.0.reasoning.name()
    }

    #[doc = stub!("Policy.unknown_tools")]
    #[getter]
    fn unknown_tools(&self) -> &'static str {
        self.0.unknown_tools.name()
    }

    #[doc = stub!("Policy.names")]
    #[getter]
    fn names(&self) -> &'static str {
        self.0.names.name()
    }

    #[doc = stub!("Policy.ids")]
    #[getter]
    fn ids(&self) -> &'static str {
        self.0.ids.name()
    }

    #[doc = stub!("Policy.max_calls")]
    #[getter]
    fn max_calls(&self) -> usize {
        self.0.max_calls
    }

    #[doc = stub!("Policy.max_depth")]
    #[getter]
    fn max_depth(&self) -> usize {
        self.0.max_depth
    }

    #[doc = stub!("Policy.max_arguments_bytes")]
    #[getter]
    fn max_arguments_bytes(&self) -> usize {
        self.0.max_arguments_bytes
    }

    #[doc = stub!("Policy.max_markup_bytes")]
    #[getter]
    fn max_markup_bytes(&self) -> usize {
        self.0.max_markup_bytes
    }

    #[doc = stub!("Policy.to_dict")]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("fences", self.fences())?;
        dict.set_item("bare", self.bare())?;
        dict.set_item("reasoning", self.reasoning())?;
        dict.set_item("unknown_tools", self.unknown_tools())?;
        dict.set_item("names", self.names())?;
        dict.set_item("ids", self.ids())?;
        dict.set_item("max_calls", self.max_calls())?;
        dict.set_item("max_depth", self.max_depth())?;
        dict.set_item("max_arguments_bytes", self.max_arguments_bytes())?;
        dict.set_item("max_markup_bytes", self.max_markup_bytes())?;
        Ok(dict)
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        Ok(((), self.to_dict(py)?))
    }

    fn __hash__(&self) -> u64 {
        let words = [self.fences(), self.bare(), self.reasoning(), self.unknown_tools(), self.names(), self.ids()];
        super::report::hash((words, self.0.max_calls, self.0.max_depth))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        super::report::repr_of("Policy", &self.to_dict(py)?)
    }
}

/// What `policy=` means: None, a Policy, or a dict of its options.
pub(super) fn policy_argument(value: Option<&Bound<'_, PyAny>>) -> PyResult<engine::Policy> {
    let Some(value) = value else { return Ok(engine::Policy::default()) };
    if let Ok(policy) = value.cast::<Policy>() {
        return Ok(policy.get().0.clone());
    }
    let Ok(dict) = value.cast::<PyDict>() else {
        let message = format!("policy takes a Policy or a dict of its options, not {}", a_type(value));
        return Err(PyTypeError::new_err(message));
    };
    let class = value.py().get_type::<Policy>();
    for key in dict.keys() {
        let known = key.cast::<PyString>().is_ok_and(|key| key.to_str().is_ok_and(|key| OPTIONS.contains(&key)));
        if !known {
            let message = format!("a policy has no option {}; it has {}", key.repr()?, OPTIONS.join(", "));
            return Err(Error::at(ErrorCode::BadOption, "policy", message).into());
        }
    }
    let policy = class.call((), Some(dict))?;
    Ok(policy.cast::<Policy>()?.get().0.clone())
}

const OPTIONS: &[&str] = &[
    "fences",
    "bare",
    "reasoning",
    "unknown_tools",
    "names",
    "ids",
    "max_calls",
    "max_depth",
    "max_arguments_bytes",
    "max_markup_bytes",
];
