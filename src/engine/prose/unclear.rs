//! What was found out about a place where the text ended before it was clear what begins there: a stream looks at it again with
//! every chunk, and asks on from where it was unclear. What something said no to stays so, whatever comes behind it.
use super::markers::MarkersHere;
use crate::engine::Reader;

#[derive(Debug, Default)]
pub(crate) struct Unclear(Option<(usize, Stage)>);

/// How the text goes on if the literals stand there that it ends in: what is to come of them, as far as they have it in common.
/// While it goes on so, a look at them would say no more than the last one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Awaited {
    /// So long was the text.
    end: usize,
    rest: [u8; Self::MOST],
    length: u8,
}

impl Awaited {
    /// Of a longer literal no more is kept.
    const MOST: usize = 15;

    /// The text, which is so long, also ends in a literal of which this `rest` is to come.
    pub(crate) fn and(mut self, end: usize, rest: &[u8]) -> Self {
        let known = self.end == end;
        let mut length = 0;
        for (slot, byte) in self.rest.iter_mut().zip(rest) {
            if known && (length == self.length || slot != byte) {
                break;
            }
            *slot = *byte;
            length += 1;
        }
        Self { end, length, ..self }
    }

    /// Only once the text is so long, one of them may stand there.
    pub(crate) fn until(&self) -> usize {
        self.end + usize::from(self.length)
    }

    /// The text goes on so, up to its end.
    pub(crate) fn goes_on(&self, text: &str) -> bool {
        self.length == 0 || self.rest.starts_with(text.as_bytes().get(self.end..).unwrap_or_default())
    }
}

/// What is left to be asked.
#[derive(Debug)]
pub(super) enum Stage {
    /// All there is.
    Anything,
    /// One of these markers may stand there, or what is looked for behind them.
    Markers(MarkersHere),
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
