//! What the backslashes in a string are: escapes, or signs of a path, a pattern or TeX that nobody escaped.
use super::escapes::{is_half, is_python};
use super::lookahead;
use super::machine::Repairer;
use super::quoted::Quoted;

/// What single backslashes in a string are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backslashes {
    /// Escapes, where JSON has one.
    Escapes,
    /// One of them makes no escape: those that make a backspace or a form feed (in Python a bell or a vertical tab), which nobody
    /// writes, are none either.
    Mixed,
    /// The same, where it is not clear yet whether the text is a path.
    Unclear,
    /// The text's: it is a path.
    Text,
    /// The same, and the two that the path begins with are two.
    Share,
}

impl Backslashes {
    /// One before `byte`, which makes an escape of JSON's, or of `python`, is a part of the text.
    pub(super) const fn are_text(self, byte: u8, python: bool) -> bool {
        match (self, byte) {
            (Self::Escapes, _) => false,
            (_, b'b' | b'f') => true,
            (_, b'a' | b'v') => python,
            (Self::Text | Self::Share, b'n' | b'r' | b't') => true,
            (_, b'0'..=b'7') => python,
            (Self::Text | Self::Share, b'x' | b'U') => python,
            _ => false,
        }
    }
}

/// What the escapes of a string are.
#[derive(Debug, Default)]
struct Escapes {
    /// One is none of JSON's, nor of Python's where that counts.
    none: bool,
    /// One of these begins a longer word, as TeX's commands are.
    command: bool,
    /// There are line breaks or tabs.
    breaks: bool,
    /// One of these begins a command of TeX's.
    breaks_word: bool,
}

impl Repairer<'_> {
    /// What the backslashes of the string are, which ends with `text`.
    pub(super) fn backslashes(&self, text: &[u8], string: &Quoted) -> Backslashes {
        if string.raw {
            return Backslashes::Escapes;
        }
        let escapes = self.escapes(text, string);
        if !escapes.none {
            return Backslashes::Escapes;
        }
        let path = path(text.get(string.body..).unwrap_or_default());
        match path {
            Path::Drive => return Backslashes::Text,
            Path::Share => return Backslashes::Share,
            Path::Perhaps if self.growing && string.cut => return Backslashes::Unclear,
            Path::Perhaps => self.guess_if(escapes.breaks),
            Path::No => {}
        }
        // `\alpha \times`: which of them are line breaks and tabs, nobody knows.
        self.guess_if(escapes.command && escapes.breaks_word);
        Backslashes::Mixed
    }

    fn escapes(&self, text: &[u8], string: &Quoted) -> Escapes {
        let (python, drive) = (self.has_python_escapes(string), is_drive(text.get(string.body..).unwrap_or_default()));
        let other = |escape: usize| python && (is_python(text, escape, drive) || string.cut && is_half(text, escape));
        let letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphabetic);
        let mut escapes = Escapes::default();
        let mut at = string.body;
        while let Some(found) = memchr::memchr(b'\\', text.get(at..).unwrap_or_default()) {
            let escape = at + found;
            at = escape + 2;
            match text.get(escape + 1) {
                Some(b'n' | b'r' | b't') => {
                    escapes.breaks = true;
                    escapes.breaks_word |= is_command(text.get(escape + 1..).unwrap_or_default());
                }
                None | Some(b'"' | b'\'' | b'\\' | b'/' | b'b' | b'f') => {}
                Some(b'u') if lookahead::hex(text, at, 4).is_some() || string.cut && at + 4 > text.len() => {}
                Some(_) if other(escape) => {}
                Some(first) => {
                    escapes.none = true;
                    escapes.command |=
                        letter(at - 1) && letter(at) && !(*first == b'x' && lookahead::hex(text, at, 2).is_some());
                }
            }
        }
        escapes
    }
}

/// What path a text is, whose backslashes are not escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    No,
    /// It may be one, or hold one, or be text with line breaks.
    Perhaps,
    /// It begins with a drive, or with a name and ends with that of a file.
    Drive,
    /// It begins with two backslashes and the name of a server.
    Share,
}

fn path(text: &[u8]) -> Path {
    let mut names = text.split(|byte| *byte == b'\\');
    if is_drive(text) {
        return if names.all(is_unbroken) { Path::Drive } else { Path::Perhaps };
    }
    if let Some(share) = text.strip_prefix(b"\\\\") {
        let names = || share.split(|byte| *byte == b'\\');
        let named = names().nth(1).is_some() && names().next().is_some_and(is_name);
        return if named && names().all(|name| is_name(name) || is_directory(name)) { Path::Share } else { Path::No };
    }
    let (first, last) = (names.next().unwrap_or_default(), names.next_back());
    let begins = matches!(first, b"." | b".." | b"~") || is_name(first) || is_variable(first);
    match last {
        Some(last) if begins && names.all(|name| name == b".." || is_name(name)) && is_name(last) => {
            if is_file(last) {
                Path::Drive
            } else {
                Path::Perhaps
            }
        }
        _ if holds_drive(text) => Path::Perhaps,
        _ => Path::No,
    }
}

/// Two backslashes in a word of `text` stand for one of a path or of TeX, and are no escape that was escaped once more.
pub(crate) fn pairs_are_text(text: &[u8]) -> bool {
    let parts = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`');
    text.split(parts).any(is_in_pairs)
}

/// A path, or a command of TeX's, stands in `word` with each of its backslashes twice.
fn is_in_pairs(word: &[u8]) -> bool {
    let Some(begin) = memchr::memmem::find(word, b"\\\\") else { return false };
    let first = word.get(..begin).unwrap_or_default();
    let first = first.rsplit(|byte| matches!(byte, b'=' | b'(' | b'[' | b',' | b'>' | b'<')).next().unwrap_or_default();
    let mut names: Vec<&[u8]> = vec![first];
    let mut at = begin + 2;
    for found in memchr::memmem::find_iter(word.get(at..).unwrap_or_default(), b"\\\\").map(|found| begin + 2 + found) {
        names.extend(word.get(at..found));
        at = found + 2;
    }
    let last = word.get(at..).unwrap_or_default();
    let sign = |byte: &u8| matches!(byte, b'.' | b',' | b';' | b':' | b'!' | b'?' | b')' | b']' | b'}');
    let signs = last.iter().rev().take_while(|byte| sign(byte)).count();
    names.extend(last.get(..last.len() - signs));
    // Four of them are one that was escaped twice.
    let command = names.windows(2).enumerate().any(|(i, two)| match two {
        [before, name] => (i == 0 || !before.is_empty()) && is_command(name),
        _ => false,
    });
    let begins = matches!(first, b"." | b"~" | [_, b':'])
        || first.ends_with(b"..") && !first.ends_with(b"...")
        || is_variable(first);
    command
        || match names.as_slice() {
            [[], [], server, name, ..] => is_name(server) && is_name(name),
            [_, name, ..] if begins => is_name(name),
            [first, directories @ .., last] => {
                let file = directories.is_empty() && is_file(last);
                let deep = !directories.is_empty() && directories.iter().all(|name| name.len() > 1 && is_name(name));
                is_name(first) && is_name(last) && (file || deep)
            }
            _ => false,
        }
}

/// `C:\` stands at the beginning of `text`.
fn is_drive(text: &[u8]) -> bool {
    matches!(text, [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic())
}

/// Behind a blank or a sign of `text` a path begins, in which an escape stands that would break it.
fn holds_drive(text: &[u8]) -> bool {
    /// So long are paths.
    const LONGEST: usize = 260;
    memchr::memmem::find_iter(text, b":\\").filter_map(|colon| colon.checked_sub(1)).any(|drive| {
        let behind = drive.checked_sub(1).and_then(|at| text.get(at)).is_none_or(|byte| !byte.is_ascii_alphanumeric());
        let path = text.get(drive..text.len().min(drive + LONGEST)).unwrap_or_default();
        let end = path
            .iter()
            .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''))
            .unwrap_or(path.len());
        let breaks = |two: &[u8]| matches!(two, [b'\\', b'n' | b'r' | b't']);
        behind
            && is_drive(path)
            && path.get(3) != Some(&b'\\')
            && path.get(..end).is_some_and(|path| path.windows(2).any(breaks))
    })
}

/// No blank stands in the name of a path, or one that a known name has.
fn is_unbroken(name: &[u8]) -> bool {
    !name.iter().any(u8::is_ascii_whitespace) || is_directory(name)
}

/// A directory of Windows with a blank in its name.
fn is_directory(name: &[u8]) -> bool {
    matches!(
        name,
        b"Program Files"
            | b"Program Files (x86)"
            | b"Common Files"
            | b"Documents and Settings"
            | b"My Documents"
            | b"Application Data"
            | b"Start Menu"
    )
}

/// A file or directory is named so, and no pattern is written so.
fn is_name(name: &[u8]) -> bool {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$');
    name.first().is_some_and(u8::is_ascii_alphanumeric) && name.iter().all(part)
}

/// `%APPDATA%` or `$HOME`.
fn is_variable(name: &[u8]) -> bool {
    match name {
        [b'%', name @ .., b'%'] | [b'$', name @ ..] => is_name(name),
        _ => false,
    }
}

/// The name ends in that of a kind of files.
fn is_file(name: &[u8]) -> bool {
    let Some(dot) = memchr::memrchr(b'.', name) else { return false };
    let kind = name.get(dot + 1..).unwrap_or_default();
    (1..=5).contains(&kind.len()) && kind.iter().all(u8::is_ascii_alphanumeric)
}

/// `text` begins with a command of TeX's whose first letter makes a line break or a tab of the backslash before it.
fn is_command(text: &[u8]) -> bool {
    const COMMANDS: [&[u8]; 24] = [
        b"nabla",
        b"ne",
        b"neg",
        b"neq",
        b"newcommand",
        b"newline",
        b"noindent",
        b"not",
        b"nu",
        b"rangle",
        b"ref",
        b"rho",
        b"right",
        b"rightarrow",
        b"tan",
        b"tau",
        b"text",
        b"textbf",
        b"textit",
        b"texttt",
        b"theta",
        b"times",
        b"title",
        b"to",
    ];
    let length = text.iter().take(12).take_while(|byte| byte.is_ascii_alphabetic()).count();
    COMMANDS.iter().any(|command| text.get(..length) == Some(*command))
}
