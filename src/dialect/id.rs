//! What the parts of a set of dialects are called by: their place in its tables.

/// A row of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowId(u16);

/// A template of a row's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallId {
    pub(crate) row: RowId,
    call: u16,
}

/// A section of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SectionId {
    pub(crate) row: RowId,
    section: u16,
}

impl RowId {
    /// The row of this number.
    pub(super) const fn new(number: usize) -> Self {
        Self(number as u16)
    }

    /// Its template of calls of this number.
    pub(crate) const fn call(self, number: usize) -> CallId {
        CallId { row: self, call: number as u16 }
    }

    /// Its section of this number.
    pub(super) const fn section(self, number: usize) -> SectionId {
        SectionId { row: self, section: number as u16 }
    }

    /// Its place in the list it is of.
    #[inline]
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl CallId {
    /// Its place in the list it is of.
    #[inline]
    pub(super) fn index(self) -> usize {
        usize::from(self.call)
    }
}

impl SectionId {
    /// Its place in the list it is of.
    #[inline]
    pub(super) fn index(self) -> usize {
        usize::from(self.section)
    }
}
