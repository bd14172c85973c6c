//! What a look at a place of the text says: it is there, it is not, or the text ends before that is clear. And what is done
//! about such a place.

/// What a look at a place of the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look<T> {
    Is(T),
    No,
    /// The text ends before it is clear.
    More,
}

/// What was done about the place that was looked at. Where it is not [`Self::Done`], the engine stands where it stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Taken {
    /// Something began there, or was taken out: the engine has gone on.
    Done,
    No,
    /// The text ends before it is clear.
    More,
}

/// An answer of a function that looks, or that does something about what it sees.
pub(super) trait Answer {
    const NO: Self;
    const MORE: Self;
}

impl<T> Answer for Look<T> {
    const NO: Self = Self::No;
    const MORE: Self = Self::More;
}

impl Answer for Taken {
    const NO: Self = Self::No;
    const MORE: Self = Self::More;
}

/// What a look found; where it found nothing, or cannot tell yet, the function returns that.
macro_rules! seen {
    ($look:expr) => {
        match $look {
            $crate::engine::Look::Is(value) => value,
            $crate::engine::Look::No => return $crate::engine::look::Answer::NO,
            $crate::engine::Look::More => return $crate::engine::look::Answer::MORE,
        }
    };
}
pub(super) use seen;

/// Where a look found something, or cannot tell yet, the function returns that; where it found nothing, it goes on.
macro_rules! found {
    ($look:expr) => {
        match $look {
            $crate::engine::Look::No => {}
            look => return look,
        }
    };
}
pub(super) use found;

/// Where this is found, what the function looks for is not there; where it cannot be told yet, nor can that.
macro_rules! unless {
    ($look:expr) => {
        match $look {
            $crate::engine::Look::Is(_) => return $crate::engine::look::Answer::NO,
            $crate::engine::Look::No => {}
            $crate::engine::Look::More => return $crate::engine::look::Answer::MORE,
        }
    };
}
pub(super) use unless;

/// What a look found, if it found anything; where it cannot tell yet, the function returns that, or `$more`.
macro_rules! told {
    ($look:expr) => {
        told!($look, $crate::engine::look::Answer::MORE)
    };
    ($look:expr, $more:expr) => {
        match $look {
            $crate::engine::Look::Is(value) => Some(value),
            $crate::engine::Look::No => None,
            $crate::engine::Look::More => return $more,
        }
    };
}
pub(super) use told;

/// Where something was done about the place, or cannot be yet, the function returns that; where nothing was, it goes on.
macro_rules! taken {
    ($taken:expr) => {
        match $taken {
            $crate::engine::Taken::No => {}
            taken => return taken,
        }
    };
}
pub(super) use taken;

impl Look<()> {
    /// It is there if `such`; there is nothing to wait for.
    pub(super) fn when(such: bool) -> Self {
        if such { Self::Is(()) } else { Self::No }
    }
}

impl<T> Look<T> {
    /// The same answer, with what `f` makes of the value.
    pub(super) fn map<U>(self, f: impl FnOnce(T) -> U) -> Look<U> {
        Look::Is(f(seen!(self)))
    }

    /// The same answer, without the value.
    pub(super) fn unit(self) -> Look<()> {
        self.map(|_| ())
    }

    /// Where this look found something, what the next one says, which needs the value.
    pub(super) fn then<U>(self, f: impl FnOnce(T) -> Look<U>) -> Look<U> {
        f(seen!(self))
    }

    /// What is done about what this look found.
    pub(super) fn take(self, f: impl FnOnce(T) -> Taken) -> Taken {
        f(seen!(self))
    }

    /// Both looks were made, and one of the two things is enough.
    pub(super) fn any(self, other: Self) -> Self {
        match (self, other) {
            (Self::Is(value), _) | (_, Self::Is(value)) => Self::Is(value),
            (Self::More, _) | (_, Self::More) => Self::More,
            _ => Self::No,
        }
    }

    /// All `looks` are made, as each notes what it awaits, and one of the things is enough.
    pub(super) fn any_of(looks: impl IntoIterator<Item = Self>) -> Self {
        looks.into_iter().fold(Self::No, Self::any)
    }

    /// What the first of the `looks` says that does not find nothing. The others are not made.
    pub(super) fn first_of(looks: impl IntoIterator<Item = Self>) -> Self {
        looks.into_iter().find(|look| !matches!(look, Self::No)).unwrap_or(Self::No)
    }

    /// What `other` says where this look found nothing.
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if matches!(self, Self::No) { other() } else { self }
    }
}

impl Taken {
    /// What `other` does where nothing was done yet.
    pub(super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self == Self::No { other() } else { self }
    }
}
