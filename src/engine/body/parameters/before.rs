//! A call that lost its closing tag, where only names tell what a tag is: behind its last value another tool is called.
use super::end::Ended;
use super::inner::tag;
use super::open::Closer;
use super::value::Within;
use super::*;
use crate::engine::look::seen;

/// So far behind a call that may follow, the value that it may stand in is looked for the end of. Of calls in a row that all
/// lost their closing tags, each looks so far.
const FAR: usize = 2048;

impl OpenValue {
    /// Its closing marker, `own`, has an offered tool's opening tag behind it, in a line of its own, and one of that tool's
    /// parameters behind that, or its closing tag if it takes none: the call ends there, unless the value's own closing marker is yet to come.
    pub(super) fn see_call(&mut self, cx: &Reader<'_>, within: &Within<'_>, own: Closer) -> Look<()> {
        let Within { row, parameter, tail, called, .. } = *within;
        let known = called.is_none() || self.ends.before_call.is_some();
        // Among the words of the value it is spoken of, and so is the call.
        let spoken = || cx.slice(self.start, own.at).ends_with([' ', '\t']);
        if known || !self.closes_by_key() || self.same.is_open() || spoken() {
            return Look::No;
        }
        let begins = misspelt::behind(cx, own.end).then(|at| {
            if !cx.at_line_start(at) {
                return Look::No;
            }
            let name = seen!(tag(cx, parameter, at));
            let Some(tool) = cx.tool(cx.part(&name)) else { return Look::No };
            head::head(cx, at, &parameter.head).then(|head| {
                match Parameters::next(cx, row, tail, head.end, Some(tool)) {
                    Next::Parameter(_) => Look::Is(()),
                    Next::More => Look::More,
                    // A tool without parameters has nothing but its closing tag to show.
                    _ if tool.parameters.is_empty() => {
                        let closing = format!("</{}>", cx.part(&name));
                        let closer = cx.behind_space(head.end, head.end);
                        closer.then(|at| cx.literal(at, &closing)).unit()
                    }
                    _ => Look::No,
                }
            })
        });
        if begins == Look::Is(()) {
            self.ends.before_call = Some(own);
        }
        begins
    }

    /// The value ended before such a call, as `next`, behind a closing marker, closes that one: it is an element's that was
    /// opened in it.
    pub(super) fn ends_before_same(&self, next: &Next) -> Option<Ended> {
        let inner = self.same.is_open() && matches!(next, Next::Close | Next::End);
        self.ends.before_call.filter(|_| inner).map(Ended::before_call)
    }

    /// And as its own end did not come up to `hit`.
    pub(super) fn ends_far_before(&self, hit: usize) -> Option<Ended> {
        self.ends.before_call.filter(|own| hit.saturating_sub(own.end) > FAR).map(Ended::before_call)
    }
}
