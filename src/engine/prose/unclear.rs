//! What was found out about a place where the text ended before it was clear what begins there: a stream looks at it again with
//! every chunk, and asks on from where it was unclear. What something said no to stays so, whatever comes behind it.
use super::markers::Found;
use crate::engine::Reader;

#[derive(Debug, Default)]
pub(crate) struct Unclear(Option<(usize, Stage)>);

/// What is left to be asked.
#[derive(Debug)]
pub(super) enum Stage {
    /// All there is.
    Anything,
    /// One of these markers may stand there, or what is looked for behind them.
    Markers(Found),
    /// No marker does.
    Unmarked,
}

impl Unclear {
    /// It is unclear what begins at `at`. Nothing is known of any other place.
    pub(super) fn set(&mut self, at: usize, stage: Stage) {
        self.0 = Some((at, stage));
    }

    /// What was known was known of another text: a call was begun or given up, and what stands at a place may now be one.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }

    /// How far `at` was looked at, if more text than now was to come.
    pub(super) fn stage(&self, cx: &Reader<'_>, at: usize) -> Option<&Stage> {
        self.0.as_ref().filter(|(place, _)| *place == at && !cx.eof).map(|(_, stage)| stage)
    }
}
