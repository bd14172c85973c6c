//! The value that is being read, and what is known of it so far.
use super::same::Same;
use super::shown::Shown;
use super::*;

/// A value whose end has not been found.
#[derive(Debug)]
pub(super) struct OpenValue {
    pub(super) opening: Opening,
    /// What the schema expects of it; `None` if no schema is known.
    pub(super) expected: Option<Expected>,
    /// The marker that closes it, where that holds the key; else its template says it.
    pub(super) closer: Option<Arc<str>>,
    /// Where its text begins, white space of the markup left out. Settled once the first byte has been seen.
    pub(super) start: usize,
    pub(super) frame: Frame,
    pub(super) sent: Sent,
    /// How far closing markers have been looked for.
    pub(super) searched: usize,
    pub(super) ends: Ends,
    pub(super) openings: Openings,
    /// Calls and parameters that it shows, as far as their ends have not come.
    pub(super) shown: Shown,
    pub(super) same: Same,
    /// It holds its own closing marker, and no opening one before it: another parameter may have lost its own.
    pub(super) stray: bool,
    /// Where it ended is a guess: what stands behind that may be its own.
    pub(super) torn: bool,
    /// It holds tags of its own that look like its closing marker, so that such a one may close these.
    pub(super) tagged: bool,
    /// It may hold a marker. Mostly the first sign of one begins what closes it, and then it is mere text.
    pub(super) marked: bool,
}

/// The marker that opened a value.
#[derive(Debug)]
pub(super) struct Opening {
    /// By which of the dialect's templates.
    pub(super) template: usize,
    pub(super) key: Piece,
    /// Which of the tool's parameters it opens.
    pub(super) declared: Option<usize>,
    /// Where the key stands.
    pub(super) key_at: usize,
    /// The type written beside the key.
    pub(super) kind: Option<Range<usize>>,
    pub(super) end: usize,
}

/// Whose the white space at the ends of a value is, where the dialect says that a line break there is the markup's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// The first byte has not been seen.
    Unseen,
    /// The value's.
    Tight,
    /// A line break of the markup stood before the value, so one stands behind it as well.
    Padded,
}

/// What of a value has been given out.
#[derive(Debug)]
pub(super) struct Sent {
    /// How far; the start of the text before anything was.
    pub(super) to: usize,
    /// How far nothing but white space is known to stand behind that.
    pub(super) blank: usize,
    pub(super) undecided: Undecided,
    pub(super) streams: Streams,
}

/// Whether a value is given out as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// It can only be a string.
    Yes,
    /// It is a string if it does not begin as JSON does.
    NoJson,
    No,
}

/// Where a value may have ended, should its closing marker never come with the structure going on behind it.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The last of its own closing markers behind which the structure did not go on.
    pub(super) doubtful: Option<Closer>,
    /// The last tag like its closing marker that stands before the call's end.
    pub(super) misspelt: Option<Closer>,
    /// The first of its own behind which another call begins.
    pub(super) before_call: Option<Closer>,
    /// Where another parameter of the tool may begin.
    pub(super) parameter: Option<usize>,
    /// Where what closes the call stood first.
    pub(super) call: Option<usize>,
}

/// A closing marker in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closer {
    pub(super) at: usize,
    pub(super) end: usize,
}

/// Opening markers of parameters that stand in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Openings {
    None,
    /// Each of a parameter that the value shows.
    Shown,
    /// One of them of a parameter that the value does not show whole.
    Loose,
}

impl OpenValue {
    /// A value begins behind `opening`.
    pub(super) fn new(
        opening: Opening,
        expected: Option<Expected>,
        closer: Option<Arc<str>>,
        streams: Streams,
        marked: bool,
    ) -> Self {
        let start = opening.end;
        Self {
            opening,
            expected,
            closer,
            start,
            frame: Frame::Unseen,
            sent: Sent { to: start, blank: start, undecided: Undecided::default(), streams },
            searched: start,
            ends: Ends::default(),
            openings: Openings::None,
            shown: Shown::default(),
            same: Same::default(),
            stray: false,
            torn: false,
            tagged: false,
            marked,
        }
    }

    /// The parameter's name.
    pub(super) fn key<'t>(&'t self, cx: &Reader<'t>) -> &'t str {
        self.opening.key.as_str(cx.text)
    }

    /// The marker that closes it, by the template `parameter`.
    pub(super) fn closer<'v>(&'v self, parameter: &'v Parameter) -> &'v str {
        self.closer.as_deref().unwrap_or(&parameter.closer)
    }

    /// Its closing marker holds its key (`</city>`).
    pub(super) const fn closes_by_key(&self) -> bool {
        self.closer.is_some()
    }

    /// Something of it was given out.
    pub(super) fn is_sent(&self) -> bool {
        self.sent.to > self.start
    }

    /// It holds opening markers of this kind.
    pub(super) fn holds(&mut self, openings: Openings) {
        self.openings = self.openings.max(openings);
    }

    /// Before `hit` it holds such an opening tag: what looks like its closing one may close that.
    pub(super) fn holds_tag(&mut self, cx: &Reader<'_>, hit: usize, opening: &str) -> bool {
        self.tagged = memchr::memmem::find(cx.slice(self.start, hit).as_bytes(), opening.as_bytes()).is_some();
        self.tagged
    }

    /// Settles where its text begins. `More`: its first byte has not come.
    #[inline]
    pub(super) fn see_start(&mut self, cx: &Reader<'_>, trim: Trim) -> Look<()> {
        if self.frame != Frame::Unseen {
            return Look::Is(());
        }
        let rest = cx.bytes().get(self.start..).unwrap_or_default();
        let half_break = trim == Trim::Newline && rest == b"\r";
        if (rest.is_empty() || half_break) && !cx.eof {
            return Look::More;
        }
        self.frame = Frame::Tight;
        if trim == Trim::Blank && rest.first() == Some(&b' ') {
            self.start += 1;
            self.frame = Frame::Padded;
        }
        if trim == Trim::Newline {
            self.skip_break(rest);
            // It may have stood in the opening marker, for its bracket.
            if self.opening.end.checked_sub(1).and_then(|last| cx.bytes().get(last)) == Some(&b'\n') {
                self.frame = Frame::Padded;
            }
        }
        self.sent.to = self.start;
        self.searched = self.start;
        Look::Is(())
    }

    /// A line break with which its `text` begins is the markup's.
    pub(super) fn skip_break(&mut self, text: &[u8]) {
        let line = leading_break(text);
        if line > 0 {
            self.start += line;
            self.frame = Frame::Padded;
        }
    }
}

/// How long the line break is that `text` begins with.
fn leading_break(text: &[u8]) -> usize {
    match text {
        [b'\n', ..] => 1,
        [b'\r', b'\n', ..] => 2,
        _ => 0,
    }
}
