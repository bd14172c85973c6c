//! Calls of the dialect itself that a value shows: a file about them, a test, a prompt.
use crate::dialect::{Call as Template, Row};
use crate::engine::{Look, Reader, head};

/// A call of `row` begins at `at`, by a head that holds its name: where that ends.
pub(super) fn begins(cx: &Reader<'_>, row: &Row, at: usize) -> Look<usize> {
    if row.by_name() || !row.first.may_be(cx.bytes().get(at..).unwrap_or_default()) {
        return Look::No;
    }
    let begins = |call: &Template| match head::head(cx, at, &call.head) {
        Look::Is(head) if head.name.is_some() => Look::Is(head.end),
        Look::More => Look::More,
        _ => Look::No,
    };
    row.calls.iter().map(begins).fold(Look::No, Look::any)
}
