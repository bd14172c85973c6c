//! What stands in a fence behind calls and is none: what a program has there, and half a name.
use super::Taken;
use super::code::Fence;
use crate::engine::body::python::Python;
use crate::engine::{Engine, Reader, Step};
use crate::turn::{Issue, IssueCode};

impl Engine {
    /// What stands at `start` in the fence, up to `at`, is no call: the fence is code, unless the text ends in half a name there.
    pub(crate) fn fence_ends_in(&mut self, cx: &Reader<'_>, fence: Fence, start: usize, at: usize) -> Step {
        if self.out.calls.len() == fence.calls || !Python::cut_name(cx, start) {
            return self.fence_is_code(cx, fence, at);
        }
        let what = "a call is cut off in its name, which stays text";
        self.out.issue(Issue::at(IssueCode::IncompleteCall, start, what));
        self.fence_closes(cx, fence, start)
    }

    /// Behind calls, a line at `at` that only prints what one of them gave says nothing.
    pub(super) fn printing_line(&mut self, cx: &Reader<'_>, at: usize) -> Taken {
        Python::prints_variable(cx, at).map(|end| {
            let what = format!("a line that only prints what a call gave was left out: {:?}", cx.slice(at, end));
            self.out.issue(Issue::at(IssueCode::EnvelopeMember, at, what));
            self.remove(cx, at, end);
        })
    }
}
