//! What a call is read by.
use super::Reader;
use crate::dialect::{Body, CallId, CallTemplate, Dialect, Dialects, Element, Row, RowId};
use std::sync::Arc;

/// A template, or no more than a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Template(CallId),
    /// No template: the call has no markers, only a body of this grammar.
    Bare(Body),
}

impl Origin {
    /// Its calls have no markers.
    pub(super) const fn is_bare(self) -> bool {
        matches!(self, Self::Bare(_))
    }

    /// What its row is called.
    pub(super) const fn row_id(self) -> Option<RowId> {
        match self {
            Self::Template(call) => Some(call.row),
            Self::Bare(_) => None,
        }
    }

    /// The dialect's row, where it is by a template.
    pub(super) fn row<'t>(self, cx: &Reader<'t>) -> Option<&'t Row> {
        cx.dialects.row(self.row_id()?)
    }

    pub(super) fn template<'t>(self, cx: &Reader<'t>) -> Option<&'t CallTemplate> {
        match self {
            Self::Template(call) => cx.dialects.call(call),
            Self::Bare(_) => None,
        }
    }

    /// What closes a call of it; nothing where it has no markers.
    pub(super) fn tail<'t>(self, cx: &Reader<'t>) -> &'t [Element] {
        self.template(cx).map_or(&[], |template| &template.tail)
    }

    /// The dialect that writes such calls.
    pub(super) fn dialect(self, dialects: &Dialects) -> Option<&Arc<Dialect>> {
        dialects.dialect(match self {
            Self::Template(call) => call.row,
            Self::Bare(body) => dialects.bare(body)?,
        })
    }
}
