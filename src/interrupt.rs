//! Long work asks now and then whether it is to stop. Who answers is set once for the whole process, as signals come to a process: the
//! Python module lets it look for signals. Without an answer, nothing is interrupted.
use std::cell::Cell;
use std::sync::OnceLock;

/// Work between two questions, in about as many bytes of plain text.
const SLICE: usize = 1 << 20;

static STOPS: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    /// The work in this thread is to stop, whatever part of it asks.
    static STOPPED: Cell<bool> = const { Cell::new(false) };
}

/// From now on long work asks `stops` whether it is to stop. Only the first such function is asked.
#[cfg(feature = "python")]
pub(crate) fn ask(stops: fn() -> bool) {
    STOPS.get_or_init(|| stops);
}

/// The work in this thread has stopped: what comes next is other work.
#[cfg(feature = "python")]
pub(crate) fn stopped() {
    STOPPED.set(false);
}

/// Counts the work of one task.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Work(usize);

impl Work {
    /// More work was done, as much as reading so many bytes takes. Whether it is to stop: then nobody wants what it would give, and
    /// whatever else is begun in this thread stops as well.
    #[inline]
    pub(crate) fn stops(&mut self, done: usize) -> bool {
        self.0 += done;
        (self.0 > SLICE && self.asks()) || STOPPED.get()
    }

    #[cold]
    fn asks(&mut self) -> bool {
        self.0 = 0;
        STOPPED.set(STOPPED.get() || STOPS.get().is_some_and(|stops| stops()));
        STOPPED.get()
    }
}
