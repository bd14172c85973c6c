//! How the crate's one error becomes a Python exception.
//!
//! The classes live in `toolglot/errors.py`, so that they pickle, have type stubs and can be read by Python users.
use crate::{Error, ErrorCode};
use pyo3::PyErr;

mod classes {
    use pyo3::import_exception;
    import_exception!(toolglot.errors, UnknownDialectError);
    import_exception!(toolglot.errors, BadDialectError);
    import_exception!(toolglot.errors, BadToolError);
    import_exception!(toolglot.errors, BadSchemaError);
    import_exception!(toolglot.errors, UnknownProviderError);
    import_exception!(toolglot.errors, ProviderError);
    import_exception!(toolglot.errors, BadOptionError);
    import_exception!(toolglot.errors, BadJsonError);
    import_exception!(toolglot.errors, BadMessageError);
    import_exception!(toolglot.errors, InternalError);
}

pub(super) use classes::InternalError;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let args = (error.message, error.place);
        match error.code {
            ErrorCode::UnknownDialect => classes::UnknownDialectError::new_err(args),
            ErrorCode::BadDialect => classes::BadDialectError::new_err(args),
            ErrorCode::BadTool => classes::BadToolError::new_err(args),
            ErrorCode::BadSchema => classes::BadSchemaError::new_err(args),
            ErrorCode::UnknownProvider => classes::UnknownProviderError::new_err(args),
            ErrorCode::ProviderError => classes::ProviderError::new_err(args),
            ErrorCode::BadOption => classes::BadOptionError::new_err(args),
            ErrorCode::BadJson => classes::BadJsonError::new_err(args),
            ErrorCode::BadMessage => classes::BadMessageError::new_err(args),
        }
    }
}
