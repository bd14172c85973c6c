//! Strings of Gemma's whose opening marker was left out, and which hold brackets of their own.
use super::{Gemma, key_at, may_be_parameter};
use crate::dialect::Element;
use crate::engine::body::shown::{QUOTATION, opens};
use crate::engine::head::LONGEST_NAME;
use crate::engine::look::{seen, unless};
use crate::engine::reader::{begun, floor};
use crate::engine::tail::closes;
use crate::engine::{Look, Reader};
use crate::schema::Tool;

impl Gemma {
    /// The bracket at hand stands in a string whose opening marker was left out: where the closing one is. That is the next of them,
    /// and behind it the members go on, or all that closes the call stands.
    pub(super) fn in_unopened(
        &self,
        cx: &Reader<'_>,
        quote: &str,
        tail: &[Element],
        tool: Option<&Tool>,
    ) -> Look<usize> {
        // A marker that a bracket breaks is no text.
        if quote.is_empty() || !self.is_unopened(cx, quote) || begun(cx.slice(0, self.at), quote) > 1 {
            return Look::No;
        }
        let marker = seen!(self.next_marker(cx, quote, tail));
        let next = seen!(cx.behind_space(marker, marker + quote.len()));
        let over = match cx.bytes().get(next) {
            Some(b'}' | b')') => cx.behind_space(next, next + 1).then(|end| closes(cx, tail, end)),
            Some(b',') => key_at(cx, next + 1, quote).then(|key| Look::when(may_be_parameter(tool, cx.part(&key)))),
            _ => Look::No,
        };
        over.map(|()| marker)
    }

    /// The bracket at hand, which closes the outermost one, stands in an item of a list or object whose opening marker was left out: behind
    /// it the next marker closes a string, and what follows one stands behind that.
    pub(super) fn cuts_item(&self, cx: &Reader<'_>, quote: &str, tail: &[Element]) -> Look<()> {
        let marked = cx.slice(self.member, self.at).trim_end().ends_with(quote);
        let nested = self.value(cx).starts_with(['[', '{']);
        if quote.is_empty() || !nested || marked || begun(cx.slice(0, self.at), quote) > 1 {
            return Look::No;
        }
        let marker = seen!(self.next_marker(cx, quote, tail));
        let behind = cx.behind_space(marker, marker + quote.len());
        behind.then(|next| Look::when(matches!(cx.bytes().get(next), Some(b',' | b']' | b'}' | b')'))))
    }

    /// The bracket at hand does not close the call: where the next marker stands behind it, if no other call opens before that.
    fn next_marker(&self, cx: &Reader<'_>, quote: &str, tail: &[Element]) -> Look<usize> {
        match seen!(cx.behind_space(self.at, self.at + 1)) {
            end if end >= cx.text.len() => return Look::No,
            end => unless!(closes(cx, tail, end)),
        }
        let near = cx.near(self.at, QUOTATION);
        let Some(marker) = memchr::memmem::find(near, quote.as_bytes()).map(|i| self.at + i) else {
            return cx.ran_out(near.len(), QUOTATION);
        };
        if opens(cx.slice(self.at, marker)) { Look::No } else { Look::Is(marker) }
    }

    /// The member that is being read is bare text, which may end in a bracket here: a list or an object begins with one.
    fn is_unopened(&self, cx: &Reader<'_>, quote: &str) -> bool {
        if self.is_bare(cx, quote) {
            return true;
        }
        let bracket = cx.slice(self.member, self.at).trim_end().ends_with(['}', ']']);
        bracket && !self.value(cx).starts_with(['{', '[', '"', '\''])
    }

    /// What the value of the member that is being read begins with.
    fn value<'t>(&self, cx: &Reader<'t>) -> &'t str {
        let text = cx.slice(self.member, self.at);
        let near = text.get(..floor(text, LONGEST_NAME)).unwrap_or(text);
        near.split_once([':', '=']).map_or("", |(_, value)| value.trim_start())
    }
}

/// The bare `word` of a list begins with a mark of a string that another one closes only in the text `behind` it.
pub(super) fn is_cut_in_marks(word: &str, behind: &str) -> bool {
    let marks = ['“', '”', '„', '«', '»'];
    let listed = || behind.split(']').next().unwrap_or_default();
    word.starts_with(['“', '„', '«']) && !word.ends_with(marks) && listed().contains(marks)
}
