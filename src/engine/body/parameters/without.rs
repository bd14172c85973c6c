//! Calls without parameters that lack their own closing marker: their section closes behind them, or the next call begins.
use super::*;
use crate::engine::look::seen;

impl Parameters {
    /// A call of the offered tool that `head` names ends at `at`, where its section closes or another tool's call begins. The
    /// same tool's is its own head once more.
    #[cold]
    pub(super) fn ends_without(cx: &Reader<'_>, row: &Row, head: &Head, at: usize, in_section: bool) -> Look<()> {
        let Some(name) = head.name(cx).filter(|name| cx.offered(name)) else { return Look::No };
        let closes = if in_section { Self::section_closes(cx, row, at) } else { Look::No };
        closes.any(Self::another_begins(cx, row, &name, at))
    }

    /// What is `next` behind the head, where another call may begin in a section of its own.
    pub(super) fn or_another(&self, cx: &Reader<'_>, row: &Row, next: Next) -> Next {
        let Some(name) = self.head.name(cx).filter(|_| next == Next::Junk && self.members.is_empty()) else {
            return next;
        };
        match Self::another_begins(cx, row, &name, cx.skip_markup_space(self.at)) {
            Look::Is(()) => Next::Close,
            Look::More => Next::More,
            Look::No => next,
        }
    }

    /// What closes a section of the row stands at `at`.
    fn section_closes(cx: &Reader<'_>, row: &Row, at: usize) -> Look<()> {
        Look::any_of(row.section_closes().map(|close| cx.opens(at, close).unit()))
    }

    /// A call of another offered tool than `name` begins at `at`, maybe in a section of its own. A tool that takes parameters may have
    /// lost them to what stands there.
    #[cold]
    fn another_begins(cx: &Reader<'_>, row: &Row, name: &str, at: usize) -> Look<()> {
        let Some(tool) = cx.tool(name).filter(|tool| tool.parameters.is_empty() && !row.by_name()) else {
            return Look::No;
        };
        let begins = |at: usize| {
            Look::any_of(row.marked_calls().map(|call| {
                let next = seen!(head::head(cx, at, &call.head));
                let next = next.tool(cx);
                Look::when(next.is_some_and(|next| next.name != tool.name))
            }))
        };
        let opened = |open| cx.opens(at, open).then(|end| misspelt::behind(cx, end)).then(begins);
        begins(at).any(Look::any_of(row.section_opens().map(opened)))
    }
}
