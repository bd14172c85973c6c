//! Long work asks now and then whether it is to stop. Who answers is set once for the whole process, as signals come to a process: the
//! Python module lets it look for signals. Without an answer, nothing is interrupted.
use std::sync::OnceLock;

/// Work between two questions, in about as many bytes of plain text.
const SLICE: usize = 1 << 20;

static STOPS: OnceLock<fn() -> bool> = OnceLock::new();

/// From now on long work asks `stops` whether it is to stop. Only the first such function is asked.
#[cfg(feature = "python")]
pub(crate) fn ask(stops: fn() -> bool) {
    STOPS.get_or_init(|| stops);
}

/// Counts the work of one task.
#[derive(Debug, Default)]
pub(crate) struct Work {
    done: usize,
    stopped: bool,
}

impl Work {
    /// More work was done, as much as reading so many bytes takes. Whether it is to stop: then nobody wants what it would give.
    #[inline]
    pub(crate) fn stops(&mut self, done: usize) -> bool {
        self.done += done;
        (self.done > SLICE && self.asks()) || self.stopped
    }

    #[cold]
    fn asks(&mut self) -> bool {
        self.done = 0;
        self.stopped = self.stopped || STOPS.get().is_some_and(|stops| stops());
        self.stopped
    }
}
