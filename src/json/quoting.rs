//! Following the strings of a text that need not be JSON: quotes open and close them, unless a backslash escapes those.

/// The string that is open in a text which is read byte by byte, if one is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Quoting {
    /// The quote that opened it.
    open: Option<u8>,
    /// The next byte stands behind a backslash that is not escaped itself.
    escaped: bool,
}

/// What a byte is to the strings of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Outside,
    Opens,
    Inside,
    Closes,
}

impl Quoting {
    /// What is read next stands behind a `quote` that opened a string.
    pub(crate) const fn behind(quote: u8) -> Self {
        Self { open: Some(quote), escaped: false }
    }

    /// Reads the next byte. Whether a quote outside of strings `opens` one is asked with whether it is escaped.
    #[inline]
    pub(crate) fn read(&mut self, byte: u8, opens: impl FnOnce(bool) -> bool) -> Part {
        let escaped = self.escaped;
        self.escaped = byte == b'\\' && !escaped;
        match self.open {
            Some(quote) if byte == quote && !escaped => {
                self.open = None;
                Part::Closes
            }
            Some(_) => Part::Inside,
            None if matches!(byte, b'"' | b'\'') && opens(escaped) => {
                self.open = Some(byte);
                Part::Opens
            }
            None => Part::Outside,
        }
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

/// How much of `text` stands in the string that a `quote` before it opened; `None` if nothing closes that.
pub(crate) fn closes_at(text: &[u8], quote: u8) -> Option<usize> {
    let mut string = Quoting::behind(quote);
    text.iter().position(|byte| string.read(*byte, |_| false) == Part::Closes)
}
