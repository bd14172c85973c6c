//! What a program or a patch shows: text without markers is no call in a here document of a shell or of PHP, in a string between
//! three quotes, or in a line of a patch. With markers it is none in a here document or a patch either, as in a fence of code.
mod ends;
mod string;

use super::here_document::{here, php_document};
use crate::char_class::IDENTIFIER;
use crate::engine::prose::words::example::has_blank_line;
use crate::engine::prose::words::mentioned::{announces_step, in_first_person};
use crate::engine::reader::{floor, invisible};
use crate::engine::{Look, Reader};
use aho_corasick::{AhoCorasick, Match, packed};
use ends::unclosed_end;
use once_cell::sync::Lazy;
use std::ops::Range;
use string::{begins_string, documents, is_given, is_value};

/// What may begin such a listing.
const BEGINS: [&str; 18] = [
    "<<",
    SEARCH,
    DOUBLE,
    SINGLE,
    "@@",
    PATCH,
    "diff --git ",
    "r#\"",
    "\\begin{",
    "#+begin_",
    "#+BEGIN_",
    "[code",
    "{code",
    "@'\n",
    "@\"\n",
    "@'\r\n",
    "@\"\r\n",
    TAG,
];

/// What begins a tag of a template, those that open a block of one, and what closes each.
const TAG: &str = "{%";
const BLOCKS: [(&str, &str); 6] = [
    ("if", "endif"),
    ("for", "endfor"),
    ("macro", "endmacro"),
    ("block", "endblock"),
    ("raw", "endraw"),
    ("set", "endset"),
];

/// What ends the text in some of them: a raw string of Rust or PowerShell, and what LaTeX, Org, forums and trackers show as it is.
const ENDS: [(&str, &str, &str); 15] = [
    ("r#\"", "", "\"#"),
    ("@'\n", "", "\n'@"),
    ("@\"\n", "", "\n\"@"),
    ("@'\r\n", "", "\n'@"),
    ("@\"\r\n", "", "\n\"@"),
    ("\\begin{", "verbatim}", "\\end{verbatim}"),
    ("\\begin{", "lstlisting}", "\\end{lstlisting}"),
    ("\\begin{", "minted}", "\\end{minted}"),
    ("#+begin_", "src", "#+end_src"),
    ("#+begin_", "example", "#+end_example"),
    ("#+BEGIN_", "SRC", "#+END_SRC"),
    ("#+BEGIN_", "EXAMPLE", "#+END_EXAMPLE"),
    ("[code", "]", "[/code]"),
    ("{code", "}", "{code}"),
    ("{code", ":", "{code}"),
];

const DOUBLE: &str = "\"\"\"";

const SINGLE: &str = "'''";

/// What begins a conflict of a merge, and an edit that is written so, behind the first two of its signs, and an edit whose signs are
/// none of a merge. Models end either with the signs of the other.
const CONFLICT: &str = "<<<<<";
const SEARCH: &str = "------- SEARCH";
const EDIT_ENDS: [&str; 2] = [">>>>>>>", "+++++++ REPLACE"];

/// What begins the lines of a patch that say what it is of.
const PATCH: &str = "*** ";

/// Those that begin one.
const PATCHES: [&str; 3] = ["Begin Patch", "Add File: ", "Update File: "];

/// The last line of a patch.
const PATCH_ENDS: &str = "*** End Patch";

/// What begins a line of a patch, behind its first one.
const PATCH_LINES: [&str; 9] = [" ", "+", "-", "@", "\\", PATCH, "diff --git ", "index ", "new file "];

/// What stands behind the word of a here document where its line is a command, and no sentence.
const BEHIND_WORD: [char; 7] = ['>', '|', ';', '&', '\\', '#', '2'];

/// All of what may begin a listing, for the processor's widest comparison. None begins as another does, so that any kind of match is
/// the same.
static SEARCHER: Lazy<Option<packed::Searcher>> = Lazy::new(|| packed::Searcher::new(BEGINS));

/// The same, where the processor is too plain.
static FINDER: Lazy<Option<AhoCorasick>> = Lazy::new(|| AhoCorasick::new(BEGINS).ok());

/// So much of a here document or a string that is cut off is looked at.
const MOST_CUT_OFF: usize = 4096;

/// So far behind what a listing may show its end is looked for: a stream waits for that.
const FAR: usize = 4096;

/// The same of an edit, and of a string round a call with markers: such signs are written for other things as well.
const NEAR: usize = 1024;

/// A longer line does not begin a listing.
const LINE: usize = 512;

/// How far the text has been looked through for listings, and the one that is open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listings {
    looked: usize,
    open: Option<Listing>,
    /// Where what says so ends, how far the end of the listing was looked for, and where that is.
    begun: usize,
    sought: usize,
    ends: Option<usize>,
    /// So many words had no line of their own.
    unended: usize,
    /// What of these begins behind the first place has no end before the second.
    unclosed: Vec<(Listing, Range<usize>)>,
}

/// What stands between the sign of a tag and its name is no longer, with both.
const NEAR_TAG: usize = 8;

/// In a text with more of them, what looks like the word of a here document is none.
const MOST_UNENDED: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Listing {
    /// It ends with a line that is the word at this place.
    Here(Range<usize>),
    /// It ends with a line that begins with the word at this place.
    Php(Range<usize>),
    /// It ends with the same quotes. Some are written where a fence is meant: those show nothing. One that is `given` to something
    /// is no fence.
    Quotes { quotes: &'static str, shows: bool, given: GivenTo },
    /// It ends with this.
    Until { closer: &'static str, given: bool },
    /// An edit that shows what is there and what is to be there: it ends with a line of the signs for that.
    Edit,
    /// A block of a template, which ends with the tag of this name.
    Block(&'static str),
    /// It goes on as long as its lines begin as those of a patch do, behind so many blanks.
    Patch(usize),
}

/// What a string of several lines is given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GivenTo {
    Nothing,
    /// A variable or a function.
    Value,
    /// Whoever reads or calls a program: it documents a function whose text has this margin, is returned or joined to another. Sentences
    /// have such quotes in them as well.
    Text(usize),
}

impl Listings {
    /// The text up to `at` has been read in another way.
    pub(in crate::engine) fn skip(&mut self, at: usize) {
        self.looked = self.looked.max(at);
    }

    /// One is open where the text has been looked through.
    pub(in crate::engine) const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What is open is left at `at`: another text begins there.
    pub(in crate::engine) fn leave(&mut self, at: usize) {
        self.skip(at);
        self.open = None;
    }

    /// Whoever writes says right above `at` what they do next, or a call that was made so ends right before it, where that is `called`: what
    /// is open is spoken of, as by somebody who repairs it. A line of a patch is no such sentence.
    fn is_announced(&self, cx: &Reader<'_>, called: usize, at: usize) -> bool {
        if matches!(self.open, None | Some(Listing::Patch(_))) || self.begun > at {
            return false;
        }
        let from = floor(cx.text, at.saturating_sub(LINE)).max(self.begun);
        self.begun < called && called <= at && cx.slice(called, at).trim_ascii().is_empty()
            || announces_step(cx.slice(from, at))
    }

    /// A call with markers at `at` stands in a listing. The last call ended where that is `called`.
    pub(in crate::engine) fn show_marked(&mut self, cx: &Reader<'_>, called: usize, at: usize) -> Look<()> {
        self.look_through(cx, at);
        // Where no command stands, no end of it is waited for.
        while matches!(&self.open, Some(Listing::Here(word)) if !is_command(cx, word.end)) {
            self.is_none();
            self.look_through(cx, at);
        }
        let shows = self.show_as(cx, called, at, true);
        if self.is_announced(cx, called, at) {
            return Look::No;
        }
        match &self.open {
            Some(Listing::Here(word)) if !is_command(cx, word.end) => Look::No,
            // No line of a text that documents something begins further out.
            Some(Listing::Quotes { given: GivenTo::Text(margin), .. })
                if cx.at_line_start(at) && cx.line_before(at, LINE).len() < *margin =>
            {
                Look::No
            }
            Some(
                Listing::Quotes { given: GivenTo::Value | GivenTo::Text(_), .. } | Listing::Until { given: true, .. },
            ) => {
                let closes = self.closes(cx, at, NEAR);
                // As the whole answer, the quotes are one more way to write a fence.
                match self.ends {
                    Some(end) if closes == Look::Is(()) => {
                        cx.behind_space(end, end).then(|next| Look::when(next < cx.text.len()))
                    }
                    // Markers count where nothing does.
                    None => closes.then(|()| Look::No),
                    Some(_) => closes,
                }
            }
            Some(Listing::Quotes { .. } | Listing::Until { .. }) | None => Look::No,
            Some(_) => shows,
        }
    }

    /// What stands at `at` stands in a listing, behind the call that ended where that is `called`. A here document is one if a line ends
    /// it, or the text is cut off in it: else the two signs were an operator, or somebody spoke of it. So are quotes that nothing closes.
    pub(in crate::engine) fn show(&mut self, cx: &Reader<'_>, called: usize, at: usize) -> Look<()> {
        self.show_as(cx, called, at, false)
    }

    /// So it does. What is `marked` asks of a string itself.
    fn show_as(&mut self, cx: &Reader<'_>, called: usize, at: usize, marked: bool) -> Look<()> {
        loop {
            self.look_through(cx, at);
            match &self.open {
                // The line of what stands at its start begins with that.
                Some(Listing::Patch(_)) => {
                    return Look::when(cx.bytes().get(at.wrapping_sub(1)).is_some_and(|byte| *byte != b'\n'));
                }
                Some(Listing::Quotes { shows: false, .. }) | None => return Look::No,
                // Nor does it wait for the end of what shows no markers.
                Some(Listing::Quotes { .. } | Listing::Until { .. }) if marked => return Look::No,
                Some(_) if self.is_announced(cx, called, at) => return Look::No,
                // Whoever repairs a template says what they do next.
                Some(Listing::Block(_))
                    if cx.before(at, LINE).trim_end().rsplit('\n').next().is_some_and(in_first_person) =>
                {
                    return Look::No;
                }
                Some(_) => {}
            }
            let far = if matches!(self.open, Some(Listing::Edit | Listing::Block(_))) { NEAR } else { FAR };
            match self.closes(cx, at, far) {
                Look::No if self.ends.is_none_or(|end| self.is_of_call(cx, at, end)) => self.is_none(),
                look => return look,
            }
        }
    }

    /// What is open is closed so `near` behind `at`, or begins so that it shows what stands there wherever it is.
    fn closes(&mut self, cx: &Reader<'_>, at: usize, near: usize) -> Look<()> {
        let Some(listing) = &self.open else { return Look::No };
        let closes = |end: usize| !listing.is_spoken_of(cx, at, end) && !listing.is_of_call(cx, at, end);
        let ends = |end: usize| Look::when(end > at && end <= at + near && closes(end));
        if let Some(end) = self.ends {
            return ends(end);
        }
        let length = listing.closer();
        let far = floor(cx.text, at + near);
        let end = listing.end(cx, self.sought.max(at), far);
        // A word at the end of what came may go on.
        self.ends = end.filter(|end| cx.eof || *end < cx.text.len());
        if let Some(end) = self.ends {
            return ends(end);
        }
        self.sought = floor(cx.text, far.saturating_sub(length + 1)).max(self.sought);
        // A character may be cut in two there.
        if cx.text.len() > at + near + 4 {
            Look::when(listing.is_sure(cx, at))
        } else if cx.eof {
            Look::when(is_cut_off(cx, listing, self.begun, at))
        } else {
            Look::More
        }
    }

    /// What closes the open one at `end` stands in the call at `at`.
    fn is_of_call(&self, cx: &Reader<'_>, at: usize, end: usize) -> bool {
        end <= at + FAR && self.open.as_ref().is_some_and(|listing| listing.is_of_call(cx, at, end))
    }

    /// What is open is none. Another may have begun behind what says so.
    const fn is_none(&mut self) {
        self.unended += 1;
        (self.looked, self.open) = (self.begun, None);
    }

    /// Follows the text up to `at`: what is open there.
    fn look_through(&mut self, cx: &Reader<'_>, at: usize) {
        while self.looked < at {
            let from = self.looked;
            let next = match &self.open {
                Some(listing) => unclosed_end(&mut self.unclosed, cx, listing, from, at).map(|end| (end, None)),
                None => begin(cx, from, at, self.unended < MOST_UNENDED).map(|(end, listing)| (end, Some(listing))),
            };
            let Some((next, open)) = next else { break };
            (self.looked, self.open) = (next.max(from), open);
            (self.begun, self.sought, self.ends) = (self.looked, self.looked, None);
        }
        self.skip(at);
    }
}

impl Listing {
    /// How long what ends it is, if there is one text that does.
    fn closer(&self) -> usize {
        match self {
            Self::Here(word) | Self::Php(word) => word.len(),
            Self::Until { closer, .. } => closer.len(),
            Self::Edit => EDIT_ENDS.iter().map(|closer| closer.len()).max().unwrap_or_default(),
            Self::Quotes { quotes, .. } => quotes.len(),
            Self::Block(name) => name.len(),
            Self::Patch(_) => 0,
        }
    }

    /// What begins it says that it is one, wherever it ends: the line of a here document is a command, and no sentence.
    fn is_sure(&self, cx: &Reader<'_>, at: usize) -> bool {
        let (Self::Here(word) | Self::Php(word)) = self else { return false };
        let quoted = cx.slice(0, word.start).ends_with(['\'', '"', '\\']);
        let loud = cx.part(word).bytes().all(|byte| !byte.is_ascii_lowercase());
        let line = cx.slice(word.end, floor(cx.text, word.end + LINE).min(at)).split('\n').next().unwrap_or_default();
        (quoted || loud) && is_command(cx, word.end) && !line.trim_ascii_end().ends_with(['.', '!', '?', ':', ','])
    }

    /// What ends it at `end`, behind the call at `at`, stands in a sentence that speaks of it: a template or a program has its own line
    /// for it, or the end of one.
    fn is_spoken_of(&self, cx: &Reader<'_>, at: usize, end: usize) -> bool {
        let before = cx.line_before(end.saturating_sub(self.closer()), LINE);
        match self {
            Self::Block(_) => !before.trim_start().starts_with(TAG),
            // What stands in the line of the call may be the call.
            Self::Quotes { given: GivenTo::Text(_), .. } => {
                let below = at + before.len() + self.closer() < end;
                below && !before.trim_ascii().is_empty() && before.ends_with([' ', '\t'])
            }
            // Quotes in code are no string's.
            Self::Quotes { .. } => before.ends_with('`'),
            _ => false,
        }
    }

    /// What ends it at `end` stands in the call at `at`, which adds what is missing: another begins in that, or a value that has it.
    fn is_of_call(&self, cx: &Reader<'_>, at: usize, end: usize) -> bool {
        let closer = end.saturating_sub(self.closer());
        let inside = cx.slice(at.min(closer), closer);
        match self {
            Self::Quotes { .. } => in_value(inside) || is_value(cx.line_before(closer, LINE)),
            Self::Edit => inside.contains(CONFLICT) || inside.contains(SEARCH),
            Self::Here(word) | Self::Php(word) => {
                let word = cx.part(word);
                let quoted = |c: char| matches!(c, '-' | '~' | '<' | ' ' | '\'' | '"' | '\\');
                inside.split("<<").skip(1).any(|behind| behind.trim_start_matches(quoted).starts_with(word))
            }
            Self::Until { .. } | Self::Block(_) | Self::Patch(_) => false,
        }
    }

    /// Where it ends, if that is in `from..to`.
    fn end(&self, cx: &Reader<'_>, from: usize, to: usize) -> Option<usize> {
        let text = cx.slice(from, to);
        match self {
            Self::Here(word) | Self::Php(word) => {
                let word = cx.part(word);
                let mut found = memchr::memmem::find_iter(text.as_bytes(), word.as_bytes()).map(|i| from + i);
                let ends = |byte: &u8| match self {
                    Self::Php(_) => !IDENTIFIER.has_ascii(*byte),
                    _ => matches!(byte, b'\n' | b'\r'),
                };
                let stands = |at: &usize| cx.bytes().get(at + word.len()).is_none_or(ends) && cx.at_line_start(*at);
                found.find(stands).map(|at| at + word.len())
            }
            Self::Quotes { quotes, .. } => {
                memchr::memmem::find(text.as_bytes(), quotes.as_bytes()).map(|i| from + i + quotes.len())
            }
            Self::Until { closer, .. } => {
                memchr::memmem::find(text.as_bytes(), closer.as_bytes()).map(|i| from + i + closer.len())
            }
            Self::Block(name) => {
                let mut found = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes()).map(|i| from + i);
                let tag = |at: &usize| cx.before(*at, NEAR_TAG).trim_end_matches(['-', ' ']).ends_with(TAG);
                found.find(tag).map(|at| at + name.len())
            }
            Self::Edit => {
                let ends = EDIT_ENDS.iter().filter_map(|closer| {
                    let mut found = memchr::memmem::find_iter(text.as_bytes(), closer.as_bytes()).map(|i| from + i);
                    found.find(|at| cx.at_line_start(*at)).map(|at| at + closer.len())
                });
                ends.min()
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

/// The last tag in `text` opens an element: what stands behind it is a value.
fn in_value(text: &str) -> bool {
    let Some((_, tag)) = text.rsplit_once('<') else { return false };
    let tag = tag.split('>').next().filter(|inner| inner.len() < tag.len()).unwrap_or_default();
    tag.starts_with(|c: char| c.is_ascii_alphabetic()) && !tag.ends_with(['/', '|'])
}

/// How many blanks the text begins with.
fn indent(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The `line` is none of a patch with that `margin`, or its last one: so much of it is the patch's.
fn patch_ends(line: &str, margin: usize) -> Option<usize> {
    let blanks = indent(line);
    let (indent, inner) = line.split_at_checked(margin.min(blanks))?;
    if inner.starts_with(PATCH_ENDS) {
        return Some(indent.len() + PATCH_ENDS.len());
    }
    let empty = line.get(blanks..).is_some_and(|rest| rest.starts_with(['\n', '\r']));
    let goes_on = blanks >= margin && PATCH_LINES.iter().any(|begin| inner.starts_with(begin));
    (!empty && !goes_on).then_some(0)
}

/// The first listing that begins in `from..to`, and where what says so ends. A here document is one if there may be `words`.
fn begin(cx: &Reader<'_>, from: usize, to: usize, words: bool) -> Option<(usize, Listing)> {
    let text = cx.slice(from, to);
    let listing = |found: Match| {
        let (at, end) = (from + found.start(), from + found.end());
        let next = cx.bytes().get(end).copied().unwrap_or(b'\n');
        // Most of them in a row are none: that costs no look at their line.
        let word =
            |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-' | b'~' | b' ' | b'\'' | b'"' | b'\\');
        let document = || cx.bytes().get(end + 1).is_some_and(|byte| word(*byte));
        if found.pattern().as_usize() == 0 && cx.slice(end, to).starts_with(CONFLICT) && cx.at_line_start(at) {
            let named = cx.slice(end + CONFLICT.len(), to).starts_with([' ', '\n', '\r']);
            return named.then_some((end + CONFLICT.len(), Listing::Edit));
        }
        if found.pattern().as_usize() == 0 && !(words && (word(next) || next == b'<' && document())) {
            return None;
        }
        let before = cx.line_before(at, LINE).trim_start_matches(invisible);
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
                let given = if is_value(before) {
                    GivenTo::Value
                } else if documents(cx, at, before, line) {
                    GivenTo::Text(indent(before))
                } else if is_given(before) {
                    GivenTo::Text(0)
                } else {
                    GivenTo::Nothing
                };
                begins_string(before, line, whole).map(|shows| (end, Listing::Quotes { quotes, shows, given }))
            }
            opener if ENDS.iter().any(|(known, ..)| *known == opener) => {
                // What shows a thing as it is stands in lines of its own; a string may begin anywhere.
                let string = opener.ends_with(['"', '\n']);
                let ends = ENDS.iter().find(|(known, rest, _)| *known == opener && line.starts_with(rest));
                let given = string && is_given(before);
                ends.filter(|_| string || before.trim_ascii().is_empty())
                    .map(|(.., closer)| (end, Listing::Until { closer, given }))
            }
            TAG => {
                let name = line.trim_start_matches(['-', ' ']);
                let is = |word: &str| name.strip_prefix(word).is_some_and(|rest| rest.starts_with(' '));
                let block = BLOCKS.iter().find(|(word, _)| is(word) || *word == "raw" && name.starts_with(word));
                let (tag, rest) = name.split_once("%}")?;
                // One that is set to a value has no block. Words behind a tag speak of it, and one that ends in its line shows no other.
                let opens = before.trim_ascii().is_empty() && !(is("set") && tag.contains('='));
                let alone = rest.trim_ascii().is_empty() || rest.trim_ascii_start().starts_with(['{', '<']);
                let block = block.filter(|(_, ends)| opens && alone && !rest.contains(ends));
                block.map(|(_, ends)| (end, Listing::Block(ends)))
            }
            SEARCH => before.trim_ascii().is_empty().then_some((end, Listing::Edit)),
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

/// The line of a here document, whose word ends at `at`, is a command: nothing but more of that stands behind the word.
fn is_command(cx: &Reader<'_>, at: usize) -> bool {
    let line = cx.ahead(at, LINE).split('\n').next().unwrap_or_default();
    let rest = line.trim_start_matches(['\'', '"']).trim_ascii();
    rest.is_empty() || rest.starts_with(BEHIND_WORD)
}

/// The text is over in the here document or the string `listing`, which begins at `begun` and nothing ends, and in which `at` stands: the
/// line of the first is a command, and no other paragraph begins.
fn is_cut_off(cx: &Reader<'_>, listing: &Listing, begun: usize, at: usize) -> bool {
    let is = match listing {
        Listing::Here(_) | Listing::Php(_) => listing.is_sure(cx, at),
        Listing::Quotes { .. } => true,
        _ => false,
    };
    is && at - begun <= MOST_CUT_OFF && !has_blank_line(cx.slice(begun, at))
}
