//! Lists that are the record of a conversation: messages of several roles, or calls with what came of them. None of their calls is
//! one to run.
use super::*;

/// The roles of the side that makes calls.
pub(crate) const OWN_ROLES: [&str; 3] = ["assistant", "model", "ai"];

impl JsonCalls {
    /// The last member that was read stands in an element of the outermost list, and no call has begun: messages have such members,
    /// and what follows them may make the list a record. Until then nothing of it is certain.
    pub(super) fn may_record(&self, cx: &Reader<'_>, writer: &mut Writer) {
        let Some(member) = self.frames.last().and_then(|frame| frame.others.last()) else { return };
        let message = match member.raw_key(cx) {
            "role" => true,
            // What calls are called among the parts of a provider's answer.
            "type" => matches!(decode(member.value(cx)).as_ref(), "function_call" | "tool_use"),
            _ => false,
        };
        if message {
            self.may_be_message(cx, writer);
        }
    }

    /// As [`Self::may_record`], whatever the member is.
    pub(super) fn may_be_message(&self, cx: &Reader<'_>, writer: &mut Writer) {
        if self.in_outer_list() && writer.begun == 0 && writer.is_unmarked() && !cx.made {
            writer.record = Record::Possible;
        }
    }

    /// The element that the last frame is makes a record of the list: it is a message of another role, or what a call gave. So is
    /// one in a line of its own behind that of a call.
    pub(super) fn records(&self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let line = self.frames.len() == 1 && self.before.is_some();
        if !(line || self.in_outer_list())
            || !writer.is_unmarked()
            || cx.made
            || frame.index.is_some()
            || frame.arguments.is_some()
        {
            return false;
        }
        let says = |member: &Other| {
            let value = decode(member.value(cx));
            match member.raw_key(cx) {
                "role" => !value.is_empty() && !OWN_ROLES.contains(&value.as_ref()),
                "type" => matches!(value.as_ref(), "function_call_output" | "tool_result"),
                _ => false,
            }
        };
        if !frame.others.iter().any(says) {
            return false;
        }
        if !line && (writer.begun == 0 || writer.record == Record::Possible) {
            out.trace.refuse(Reason::Quoted, "");
            writer.record = Record::Certain;
        } else {
            // What was said of the calls before it has perhaps left already.
            tear(writer);
        }
        true
    }

    /// The last frame is an element of the outermost list.
    fn in_outer_list(&self) -> bool {
        self.frames.len() == 2 && self.frames.parent().is_some_and(|frame| frame.kind == Kind::List)
    }
}
