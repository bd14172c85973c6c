//! What a program or a patch shows: text without markers is no call in a here document of a shell or of PHP, in a string between
//! three quotes, or in a line of a patch. With markers it is none in a here document or a patch either, as in a fence of code.
use crate::engine::Reader;
use crate::engine::reader::{floor, invisible};
use aho_corasick::{AhoCorasick, Match, packed};
use once_cell::sync::Lazy;
use std::ops::Range;

/// What may begin such a listing.
const BEGINS: [&str; 6] = ["<<", DOUBLE, SINGLE, "@@", PATCH, "diff --git "];

const DOUBLE: &str = "\"\"\"";

const SINGLE: &str = "'''";

/// What begins the lines of a patch that say what it is of.
const PATCH: &str = "*** ";

/// Those that begin one.
const PATCHES: [&str; 3] = ["Begin Patch", "Add File: ", "Update File: "];

/// The last line of a patch.
const PATCH_ENDS: &str = "*** End Patch";

/// What begins a line of a patch, behind its first one.
const PATCH_LINES: [&str; 9] = [" ", "+", "-", "@", "\\", PATCH, "diff --git ", "index ", "new file "];

/// What stands before a string in a program, in its line.
const BEFORE_STRING: [char; 7] = ['=', '(', '[', '{', ',', ':', '+'];

/// Letters right before a string that say how it is read.
const PREFIXES: [char; 8] = ['f', 'r', 'b', 'u', 'F', 'R', 'B', 'U'];

/// What gives a string to its caller.
const RETURNS: [&str; 2] = ["return", "yield"];

/// What stands before a here document of PHP, at the end of what is before it in its line.
const BEFORE_DOCUMENT: [&str; 9] = ["=", "(", "[", ",", ".", "return", "yield", "echo", "print"];

/// What stands behind the word of a here document where its line is a command, and no sentence.
const BEHIND_WORD: [char; 7] = ['>', '|', ';', '&', '\\', '#', '2'];

/// All of what may begin a listing, for the processor's widest comparison. None begins as another does, so that any kind of match is
/// the same.
static SEARCHER: Lazy<Option<packed::Searcher>> = Lazy::new(|| packed::Searcher::new(BEGINS));

/// The same, where the processor is too plain.
static FINDER: Lazy<Option<AhoCorasick>> = Lazy::new(|| AhoCorasick::new(BEGINS).ok());

/// A longer line does not begin a listing.
const LINE: usize = 512;

/// How far the text has been looked through for listings, and the one that is open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listings {
    looked: usize,
    open: Option<Listing>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Listing {
    /// It ends with a line that is the word at this place.
    Here(Range<usize>),
    /// It ends with a line that begins with the word at this place.
    Php(Range<usize>),
    /// It ends with the same quotes. Some are written where a fence is meant: those show nothing.
    Quotes { quotes: &'static str, shows: bool },
    /// It goes on as long as its lines begin as those of a patch do, behind so many blanks.
    Patch(usize),
}

impl Listings {
    /// The text up to `at` has been read in another way.
    pub(super) fn skip(&mut self, at: usize) {
        self.looked = self.looked.max(at);
    }

    /// One is open where the text has been looked through.
    pub(super) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What is open is left at `at`: another text begins there.
    pub(super) fn leave(&mut self, at: usize) {
        self.skip(at);
        self.open = None;
    }

    /// A call with markers at `at` stands in a listing.
    pub(super) fn show_marked(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        let shows = self.show(cx, at);
        match &self.open {
            Some(Listing::Here(word)) => shows && is_command(cx, word.end),
            Some(Listing::Php(_) | Listing::Patch(_)) => shows,
            Some(Listing::Quotes { .. }) | None => false,
        }
    }

    /// What stands at `at` stands in a listing.
    pub(super) fn show(&mut self, cx: &Reader<'_>, at: usize) -> bool {
        while self.looked < at {
            let from = self.looked;
            let next = match &self.open {
                Some(listing) => listing.end(cx, from, at).map(|end| (end, None)),
                None => begin(cx, from, at).map(|(end, listing)| (end, Some(listing))),
            };
            let Some((next, open)) = next else { break };
            (self.looked, self.open) = (next.max(from), open);
        }
        self.skip(at);
        match &self.open {
            // The line of what stands at its start begins with that.
            Some(Listing::Patch(_)) => cx.bytes().get(at.wrapping_sub(1)).is_some_and(|byte| *byte != b'\n'),
            Some(Listing::Quotes { shows, .. }) => *shows,
            Some(Listing::Here(_) | Listing::Php(_)) => true,
            None => false,
        }
    }
}

impl Listing {
    /// Where it ends, if that is in `from..to`.
    fn end(&self, cx: &Reader<'_>, from: usize, to: usize) -> Option<usize> {
        let text = cx.slice(from, to);
        match self {
            Self::Here(word) | Self::Php(word) => {
                let word = cx.part(word);
                let mut found = memchr::memmem::find_iter(text.as_bytes(), word.as_bytes()).map(|i| from + i);
                let ends = |byte: &u8| match self {
                    Self::Php(_) => !(byte.is_ascii_alphanumeric() || *byte == b'_'),
                    _ => matches!(byte, b'\n' | b'\r'),
                };
                let stands = |at: &usize| cx.bytes().get(at + word.len()).is_none_or(ends) && cx.at_line_start(*at);
                found.find(stands).map(|at| at + word.len())
            }
            Self::Quotes { quotes, .. } => {
                memchr::memmem::find(text.as_bytes(), quotes.as_bytes()).map(|i| from + i + quotes.len())
            }
            Self::Patch(margin) => {
                // A line may begin where was looked last.
                let since = from.saturating_sub(1);
                let breaks = memchr::memchr_iter(b'\n', cx.bytes().get(since..to)?);
                let mut lines = breaks.map(|i| since + i + 1).filter(|at| *at < to);
                lines.find_map(|at| patch_ends(cx.slice(at, to), *margin).map(|length| at + length))
            }
        }
    }
}

/// The `line` is none of a patch with that `margin`, or its last one: so much of it is the patch's.
fn patch_ends(line: &str, margin: usize) -> Option<usize> {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let (indent, inner) = line.split_at_checked(margin.min(blanks))?;
    if inner.starts_with(PATCH_ENDS) {
        return Some(indent.len() + PATCH_ENDS.len());
    }
    let empty = line.get(blanks..).is_some_and(|rest| rest.starts_with(['\n', '\r']));
    let goes_on = blanks >= margin && PATCH_LINES.iter().any(|begin| inner.starts_with(begin));
    (!empty && !goes_on).then_some(0)
}

/// The first listing that begins in `from..to`, and where what says so ends.
fn begin(cx: &Reader<'_>, from: usize, to: usize) -> Option<(usize, Listing)> {
    let text = cx.slice(from, to);
    let listing = |found: Match| {
        let (at, end) = (from + found.start(), from + found.end());
        let next = cx.bytes().get(end).copied().unwrap_or(b'\n');
        // Most of them in a row are none: that costs no look at their line.
        let word =
            |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'~' | b' ' | b'\'' | b'"' | b'\\');
        let document = || cx.bytes().get(end + 1).is_some_and(|byte| word(*byte));
        if found.pattern().as_usize() == 0 && !word(next) && !(next == b'<' && document()) {
            return None;
        }
        let before = cx.slice(floor(cx.text, at.saturating_sub(LINE)), at);
        let before = before.get(before.rfind('\n').map_or(0, |i| i + 1)..).unwrap_or_default();
        let before = before.trim_start_matches(invisible);
        let behind = cx.slice(end, floor(cx.text, end + LINE).min(to));
        let line = behind.split('\n').next().unwrap_or_default();
        let patch = Listing::Patch(before.len());
        match BEGINS.get(found.pattern().as_usize()).copied()? {
            "<<" if next == b'<' => {
                let word = if behind.len() > line.len() { php_document(before, line)? } else { return None };
                let word = end + word.start..end + word.end;
                Some((word.end, Listing::Php(word)))
            }
            "<<" => here(before, line).map(|word| {
                let word = end + word.start..end + word.end;
                (word.end, Listing::Here(word))
            }),
            quotes @ (DOUBLE | SINGLE) => {
                let whole = behind.len() > line.len();
                begins_string(before, line, whole).map(|shows| (end, Listing::Quotes { quotes, shows }))
            }
            // The first line of a patch begins no later than it does, blanks aside.
            _ if !before.trim_ascii_start().is_empty() => None,
            PATCH => PATCHES.iter().any(|known| line.starts_with(known)).then_some((end, patch)),
            "@@" => (line.trim_ascii().is_empty() || line.starts_with(' ')).then_some((end, patch)),
            _ => Some((end, patch)),
        }
    };
    match SEARCHER.as_ref() {
        Some(searcher) => searcher.find_iter(text).find_map(listing),
        None => FINDER.as_ref()?.find_iter(text).find_map(listing),
    }
}

/// The word that ends a here document, where `<<` stands between what is `before` it and the rest of its `line`.
fn here(before: &str, line: &str) -> Option<Range<usize>> {
    // No shift (`1 << n`), no here string (`<<<`), no inline code, and no brackets (`<<TOOL CALL>>`).
    if before.trim_ascii().is_empty() || before.ends_with('<') || line.contains('`') {
        return None;
    }
    let behind = line.trim_start_matches(['-', '~']);
    let quoted = behind.trim_ascii_start();
    let quote = quoted.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let word = quoted.trim_start_matches(['\'', '"', '\\']);
    let length = word.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = word.split_at_checked(length)?;
    let rest = match quote {
        Some(quote) => rest.strip_prefix(quote)?,
        None => rest,
    };
    let apart = quoted.len() < behind.len();
    let loud = name.bytes().all(|byte| !byte.is_ascii_lowercase()) && name.len() > 1;
    let plain = !apart && before.ends_with([' ', '\t']);
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\r', '>', '|', ';', '&', ')']);
    let other = rest.trim_ascii_end().ends_with('>') || rest.starts_with(">>") || rest.contains("<<");
    // What is written to a stream: `out << "text";`.
    let other = other || quote.is_some() && apart && rest.starts_with(';');
    let is = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && (quote.is_some() || loud || plain)
        && ends
        && !other;
    let start = line.len() - word.len();
    is.then_some(start..start + length)
}

/// The word that ends a here document of PHP, where `<<` stands between what is `before` it and the rest of its `line`.
fn php_document(before: &str, line: &str) -> Option<Range<usize>> {
    let before = before.trim_ascii_end();
    let word = line.strip_prefix('<')?.trim_start_matches([' ', '\t']);
    let start = line.len() - word.len();
    let quote = word.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
    let name = quote.map_or(Some(word), |quote| word.strip_prefix(quote))?;
    let length = name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let rest = name.get(length..)?;
    let rest = quote.map_or(Some(rest), |quote| rest.strip_prefix(quote))?;
    let is = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && rest.trim_ascii().is_empty()
        && BEFORE_DOCUMENT.iter().any(|sign| before.ends_with(sign));
    let start = start + usize::from(quote.is_some());
    is.then_some(start..start + length)
}

/// The line of a here document, whose word ends at `at`, is a command: nothing but more of that stands behind the word.
fn is_command(cx: &Reader<'_>, at: usize) -> bool {
    let line = cx.slice(at, floor(cx.text, at + LINE)).split('\n').next().unwrap_or_default();
    let rest = line.trim_start_matches(['\'', '"']).trim_ascii();
    rest.is_empty() || rest.starts_with(BEHIND_WORD)
}

/// Three quotes stand between what is `before` them and the rest of their `line`, which may be the `whole` of it: a string begins
/// with them, and whether it shows anything.
fn begins_string(before: &str, line: &str, whole: bool) -> Option<bool> {
    let before = before.trim_end_matches(PREFIXES);
    let before = before.trim_ascii_end();
    if before.is_empty() {
        // A fence, as some write it.
        return Some(!line.trim_ascii().eq_ignore_ascii_case("json"));
    }
    let opens = before.ends_with(BEFORE_STRING) || RETURNS.iter().any(|word| before.ends_with(word));
    (opens || whole && line.trim_ascii().is_empty()).then_some(true)
}
