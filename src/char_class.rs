//! Which characters belong to a word, a key or a name: each such set has its name here, and its reason.
//!
//! All of them hold letters and digits, so a set is told by the signs it has besides. It grows with what delimits the
//! name in its place: a Python identifier ends at its first sign, a tool's name in a marker's slot at few.
//!
//! Sets with a purpose of one place only (the digits of a number, what may stand in a provider's ids) are written there.

/// Letters, digits and some ASCII signs. For each byte, what it is: mostly one look at the table is all that a byte costs.
pub(crate) struct CharClass([u8; 256]);

/// The byte is one of these.
const ASCII: u8 = 1;
/// The byte is a part of a character beyond ASCII.
const BEYOND: u8 = 2;

/// Of Python's identifiers, of JSON keys that look like them, and of words: what `\w` is to a regular expression.
pub(crate) const IDENTIFIER: CharClass = CharClass::with(b"_");

/// Of JavaScript's identifiers: of the words that stand in JSON as models write it.
pub(crate) const JS_IDENTIFIER: CharClass = CharClass::with(b"_$");

/// Of a member's key without quotes, as models leave them away: that of a header has hyphens.
pub(crate) const MEMBER_KEY: CharClass = CharClass::with(b"_$-");

/// Of the plain names that tools and their parameters mostly have: providers allow little more.
pub(crate) const NAME: CharClass = CharClass::with(b"_-.");

/// Of the name of an element of XML, which may be that of a tool.
pub(crate) const ELEMENT: CharClass = CharClass::with(b"_-.:");

/// Of the name of an attribute in a marker: they are those that templates know, and have no dots.
pub(crate) const ATTRIBUTE: CharClass = CharClass::with(b"_-:");

/// Of the names of tags and special tokens that a model may have misspelt: bars are part of many (`<|tool_call|>`).
pub(crate) const TAG: CharClass = CharClass::with(b"_-:|");

/// Of a tool's name with its namespace or server: `functions.get_weather:0`, `server/tool`.
pub(crate) const QUALIFIED_NAME: CharClass = CharClass::with(b"_-.:/");

/// Of a tool's name in running text, where Markdown's backslashes stand in it as well (`get\_weather`), while other signs
/// end it: a `$` or an `@` before it is the text's.
pub(crate) const NAME_IN_PROSE: CharClass = CharClass::with(b"_-.:/\\");

/// Of a tool's name where a dialect's markers say that one stands here, whatever it is.
pub(crate) const NAME_IN_SLOT: CharClass = CharClass::with(b"_-.:/\\$@");

/// Of a key that may be in quotes, or have only one of them.
pub(crate) const QUOTED_KEY: CharClass = CharClass::with(b"_-.$\"'");

/// Of a number or a literal in JSON, in any way to write one: `-1_000.5e+3`, `NaN`, `true`.
pub(crate) const SCALAR: CharClass = CharClass::with(b"_-+.");

impl CharClass {
    const fn with(signs: &[u8]) -> Self {
        let mut class = [0; 256];
        let mut at = 0;
        while at < class.len() {
            class[at] = if at >= 0x80 { BEYOND } else { (at as u8).is_ascii_alphanumeric() as u8 * ASCII };
            at += 1;
        }
        let mut at = 0;
        while at < signs.len() {
            class[signs[at] as usize] = ASCII;
            at += 1;
        }
        Self(class)
    }

    /// The character is one of these; letters and digits are those of all scripts.
    #[inline]
    pub(crate) fn has(&self, c: char) -> bool {
        if c.is_ascii() { self.has_ascii(c as u8) } else { c.is_alphanumeric() }
    }

    /// The byte is one of these, or of any character beyond ASCII. That takes more than [`Self::has`] (typographic quotes,
    /// say), but needs no whole character: for text that is cut anywhere, and where it must be fast.
    #[inline]
    pub(crate) const fn has_byte(&self, byte: u8) -> bool {
        self.0[byte as usize] != 0
    }

    /// The byte is one of these and ASCII.
    #[inline]
    pub(crate) const fn has_ascii(&self, byte: u8) -> bool {
        self.0[byte as usize] == ASCII
    }

    /// How many bytes `text` begins with that [`Self::has_byte`] takes.
    #[inline]
    pub(crate) fn length(&self, text: &[u8]) -> usize {
        text.iter().take_while(|byte| self.has_byte(**byte)).count()
    }
}

/// The letters and digits of a name in small letters: what is left where neither case nor separators count.
pub(crate) fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// An identifier begins with this.
pub(crate) fn begins_identifier(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// A key begins with this ASCII byte, in quotes or without.
pub(crate) const fn begins_key(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'"' | b'\'')
}
