//! Elements of HTML that show something in a line of text: a call in them is spoken of.
use super::before::WHOLE_LINE;
use crate::engine::prose::words::example::has_blank_line;
use crate::engine::{Look, Reader};

/// Such elements, and what closes them.
const INLINE: [(&str, &str); 4] =
    [("<code>", "</code>"), ("<kbd>", "</kbd>"), ("<samp>", "</samp>"), ("<tt>", "</tt>")];

/// What begins a comment.
const COMMENT: &str = "<!--";

/// Such an element that is open, behind other text in its line.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Within {
    closer: &'static str,
    /// Where what it shows begins, and ends, once that is known.
    begins: usize,
    ends: Option<usize>,
}

impl Within {
    /// One begins at `at`.
    pub(in crate::engine) fn opens(cx: &Reader<'_>, at: usize) -> Option<Self> {
        let rest = cx.rest(at);
        let (tag, closer) = INLINE.into_iter().find(|(tag, _)| rest.starts_with(tag))?;
        has_words(cx.line_before(at, WHOLE_LINE)).then_some(Self { closer, begins: at + tag.len(), ends: None })
    }

    /// What stands at `at` stands in it: it is closed behind that, in the same paragraph.
    pub(in crate::engine) fn holds(&mut self, cx: &Reader<'_>, at: usize) -> Look<()> {
        if let Some(end) = self.ends {
            return Look::when(end > at);
        }
        let near = cx.ahead(self.begins, WHOLE_LINE);
        let end = near.find(self.closer);
        let shown = near.get(..end.unwrap_or(near.len())).unwrap_or_default();
        let over = has_blank_line(shown);
        // A character may be cut in two there.
        if end.is_none() && !over && cx.may_go_on(cx.text.len(), self.begins + WHOLE_LINE) {
            return Look::More;
        }
        let end = self.begins + end.filter(|_| !over).unwrap_or_default();
        self.ends = Some(end);
        Look::when(end > at)
    }

    /// It is closed before `at`, or was never one.
    pub(in crate::engine) fn is_over(&self, cx: &Reader<'_>, at: usize) -> bool {
        match self.ends {
            Some(end) => end <= at,
            None => cx.rest(at).starts_with(self.closer) || at - self.begins > WHOLE_LINE,
        }
    }
}

/// A line that begins so shows what stands behind it: an element of HTML opens at its end, behind other text.
pub(in crate::engine) fn behind_inline_element(line: &str) -> bool {
    let line = line.trim_ascii_end();
    let text = INLINE.iter().find_map(|(tag, _)| line.strip_suffix(tag));
    text.is_some_and(has_words) || line.ends_with(COMMENT)
}

/// Something else than tags stands in `line`.
pub(in crate::engine) fn has_words(line: &str) -> bool {
    let (mut rest, word) = (line, |text: &str| text.contains(char::is_alphanumeric));
    while let Some((text, tag)) = rest.split_once('<') {
        if word(text) {
            return true;
        }
        rest = tag.split_once('>').map_or("", |(_, behind)| behind);
    }
    word(rest)
}
