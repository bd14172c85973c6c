//! Counting brackets in text that need not be JSON.

/// How many more brackets of each kind a text opens than it closes. Whether they nest is not looked at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Balance {
    pub(crate) braces: isize,
    pub(crate) brackets: isize,
    pub(crate) parens: isize,
}

impl Balance {
    pub(crate) fn of(text: &[u8]) -> Self {
        let mut balance = Self::default();
        balance.count(text);
        balance
    }

    pub(crate) fn count(&mut self, text: &[u8]) {
        text.iter().for_each(|byte| self.read(*byte));
    }

    #[inline]
    pub(crate) fn read(&mut self, byte: u8) {
        match byte {
            b'{' => self.braces += 1,
            b'}' => self.braces -= 1,
            b'[' => self.brackets += 1,
            b']' => self.brackets -= 1,
            b'(' => self.parens += 1,
            b')' => self.parens -= 1,
            _ => {}
        }
    }

    /// As many braces and brackets open as close.
    pub(crate) const fn is_even(&self) -> bool {
        self.braces == 0 && self.brackets == 0
    }

    /// More brackets of the kind of `bracket`, a closing one, close than open.
    pub(crate) const fn closes(&self, bracket: u8) -> bool {
        match bracket {
            b'}' => self.braces < 0,
            b']' => self.brackets < 0,
            b')' => self.parens < 0,
            _ => false,
        }
    }

    /// More braces or brackets open than close.
    pub(crate) const fn opens_more(&self) -> bool {
        self.braces > 0 || self.brackets > 0
    }

    /// More braces or brackets close than open.
    pub(crate) const fn closes_more(&self) -> bool {
        self.braces < 0 || self.brackets < 0
    }
}
