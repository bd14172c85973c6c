//! The small records of a result: `Issue`, `Repair`, `ArgumentError`, `Usage`.
use super::convert::to_py;
use super::policy::Count;
use crate::turn::{self, IssueCode, RepairCode};
use crate::{Error, ErrorCode};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The hash of a value, for `__hash__`.
pub(super) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// `Name(field=value, ...)`, without the fields that are None or empty.
pub(super) fn repr_of(name: &str, fields: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut out = format!("{name}(");
    for (key, value) in fields {
        if value.is_none() || (value.is_instance_of::<pyo3::types::PySequence>() && value.is_empty()?) {
            continue;
        }
        if !out.ends_with('(') {
            out.push_str(", ");
        }
        out.push_str(&format!("{key}={}", value.repr()?));
    }
    out.push(')');
    Ok(out)
}

/// Records as a tuple of their Python classes.
pub(super) fn tuple_of<'py, R: Clone, P>(
    py: Python<'py>,
    records: &[R],
    class: fn(R) -> P,
) -> PyResult<Bound<'py, PyTuple>>
where
    P: IntoPyObject<'py>,
{
    PyTuple::new(
        py,
        records.iter().map(|record| class(record.clone()).into_bound_py_any(py)).collect::<PyResult<Vec<_>>>()?,
    )
}

macro_rules! record {
    (
        $class:ident($core:ty) as $name:literal;
        new($($arg:ident: $type:ty $(= $default:tt)?),*) $new:block
        $($field:ident -> $ftype:ty { |$this:ident| $get:expr })*
    ) => {
        #[doc = stub!($name)]
        #[pyclass(frozen, eq, hash, skip_from_py_object, module = "toolglot", name = $name)]
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub(super) struct $class(pub(super) $core);

        #[pymethods]
        impl $class {
            #[classattr]
            fn __match_args__() -> ($(record!(@str $field),)*) {
                ($(stringify!($field),)*)
            }

            #[new]
            #[pyo3(signature = ($($arg $(= $default)?),*))]
            fn new($($arg: $type),*) -> PyResult<Self> $new

            $(#[doc = stub!($name, ".", stringify!($field))] #[getter] fn $field(&self) -> $ftype { let $this = &self.0; $get })*

            #[doc = stub!($name, ".to_dict")]
            pub(super) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let dict = PyDict::new(py);
                $(dict.set_item(stringify!($field), self.$field())?;)*
                Ok(dict)
            }

            fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
                Ok(((), self.to_dict(py)?))
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                repr_of($name, &self.to_dict(py)?)
            }
        }
    };
    (@str $field:ident) => { &'static str };
}

record! {
    Issue(turn::Issue) as "Issue";
    new(code: &str, message: &str = "", offset: Option<Count> = None, place: &str = "") {
        let offset = Count::given(offset, "offset")?;
        let code = find("code", IssueCode::ALL, IssueCode::as_str, code)?;
        Ok(Self(turn::Issue { code, offset, place: place.to_owned(), message: message.to_owned().into() }))
    }
    code -> &'static str { |this| this.code.as_str() }
    message -> &str { |this| &this.message }
    offset -> Option<usize> { |this| this.offset }
    place -> &str { |this| &this.place }
}

record! {
    Repair(turn::Repair) as "Repair";
    new(code: &str, message: &str = "", offset: Option<Count> = None, pointer: Option<String> = None) {
        let offset = Count::given(offset, "offset")?;
        let code = find("code", RepairCode::ALL, RepairCode::as_str, code)?;
        Ok(Self(turn::Repair { code, offset, pointer, message: message.to_owned().into() }))
    }
    code -> &'static str { |this| this.code.as_str() }
    message -> &str { |this| &this.message }
    offset -> Option<usize> { |this| this.offset }
    pointer -> Option<&str> { |this| this.pointer.as_deref() }
}

record! {
    ArgumentError(turn::ArgumentError) as "ArgumentError";
    new(pointer: String, keyword: String, message: &str = "") {
        Ok(Self(turn::ArgumentError { pointer, keyword, message: message.to_owned() }))
    }
    pointer -> &str { |this| &this.pointer }
    keyword -> &str { |this| &this.keyword }
    message -> &str { |this| &this.message }
}

record! {
    Usage(turn::Usage) as "Usage";
    new(input_tokens: Option<Count> = None, output_tokens: Option<Count> = None, total_tokens: Option<Count> = None,
        reasoning_tokens: Option<Count> = None, cached_tokens: Option<Count> = None) {
        let tokens = |count, name| Count::given(count, name).map(|count| count.map(|count| count as u64));
        Ok(Self(turn::Usage {
            input_tokens: tokens(input_tokens, "input_tokens")?,
            output_tokens: tokens(output_tokens, "output_tokens")?,
            total_tokens: tokens(total_tokens, "total_tokens")?,
            reasoning_tokens: tokens(reasoning_tokens, "reasoning_tokens")?,
            cached_tokens: tokens(cached_tokens, "cached_tokens")?,
        }))
    }
    input_tokens -> Option<u64> { |this| this.input_tokens }
    output_tokens -> Option<u64> { |this| this.output_tokens }
    total_tokens -> Option<u64> { |this| this.total_tokens }
    reasoning_tokens -> Option<u64> { |this| this.reasoning_tokens }
    cached_tokens -> Option<u64> { |this| this.cached_tokens }
}

/// The code spelt `text`, which was given for `option`.
pub(super) fn find<C: Copy>(option: &str, all: &[C], name: fn(C) -> &'static str, text: &str) -> Result<C, Error> {
    let found = all.iter().copied().find(|code| name(*code) == text);
    found.ok_or_else(|| Error::at(ErrorCode::BadOption, option, format!("{text:?} is no {option} that there is")))
}

/// A value of the core, or None, as Python objects.
pub(super) fn opaque<'py>(py: Python<'py>, value: Option<&serde_json::Value>) -> PyResult<Bound<'py, PyAny>> {
    value.map_or_else(|| Ok(py.None().into_bound(py)), |value| to_py(py, value))
}
