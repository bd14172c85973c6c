//! Lists that are the record of a conversation: messages of several roles, or calls with what came of them. None of their calls is
//! one to run.
use super::*;

/// The roles of the side that makes calls.
const OWN_ROLES: [&str; 3] = ["assistant", "model", "ai"];

/// The first member of a message is no longer.
const NEAR: usize = 128;

impl JsonCalls {
    /// The last member that was read stands in an element of the outermost list or in an object of its own, and no call has begun:
    /// messages have such members, and what follows them may make a record of all of them. Until then nothing of it is certain.
    pub(super) fn may_record(&self, cx: &Reader<'_>, writer: &mut Writer) {
        let Some(member) = self.frames.last().and_then(|frame| frame.others.last()) else { return };
        let message = match member.raw_key(cx) {
            "role" => true,
            // What calls are called among the parts of a provider's answer.
            "type" => matches!(decode(member.value(cx)).as_ref(), "function_call" | "tool_use"),
            _ => false,
        };
        if message && self.frames.len() == 1 {
            Self::may_be_record(writer);
        } else if message {
            self.may_be_message(writer);
        }
    }

    /// As [`Self::may_record`], whatever the member of an element is.
    pub(super) fn may_be_message(&self, writer: &mut Writer) {
        if self.in_outer_list() {
            Self::may_be_record(writer);
        }
    }

    fn may_be_record(writer: &mut Writer) {
        if writer.begun == 0 && writer.is_unmarked() {
            writer.record = Record::Possible;
        }
    }

    /// The element that the last frame is makes a record of the list: it is a message of another role, or what a call gave. So is
    /// one in a line of its own behind that of a call, and between markers in any line.
    pub(super) fn records(&self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let marked = !writer.is_unmarked();
        let line = self.frames.len() == 1 && (marked || self.before.is_some());
        if !(line || self.in_outer_list()) || cx.made || frame.index.is_some() || frame.arguments.is_some() {
            return false;
        }
        let tool = self.name(cx).and_then(|name| cx.tool(&name));
        let says = |member: &Other| {
            let value = decode(member.value(cx));
            let key = member.raw_key(cx);
            let says = match key {
                "role" => !value.is_empty() && !OWN_ROLES.contains(&value.as_ref()),
                "type" => matches!(value.as_ref(), "function_call_output" | "tool_result"),
                _ => false,
            };
            says && !tool.is_some_and(|tool| tool.declares(key))
        };
        if !frame.others.iter().any(says) {
            return false;
        }
        if writer.begun == 0 && (marked || !line) || writer.record == Record::Possible && !line {
            out.trace.refuse(Reason::Quoted, "");
            writer.record = Record::Certain;
        } else {
            self.recorded(cx, out, writer);
        }
        true
    }

    /// The calls that were read stand in a record. What was said of those before the last one has left already, if nothing said
    /// that they may. None that follows is one to run.
    pub(super) fn recorded(&self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) {
        writer.tear();
        match writer.record {
            Record::Possible => writer.refuse_all(cx, out),
            Record::No => writer.record = Record::Behind,
            Record::Certain | Record::Behind => {}
        }
    }

    /// The last frame is an element of the outermost list.
    fn in_outer_list(&self) -> bool {
        self.frames.len() == 2 && self.frames.parent().is_some_and(|frame| frame.kind == Kind::List)
    }
}

/// An object stands at `at` whose first member says that it is a message of another role, or what a call gave, in quotes of JSON's or
/// Python's.
pub(super) fn message_at(cx: &Reader<'_>, at: usize) -> Look<()> {
    let near = cx.near(at, NEAR);
    let open = cx.may_go_on(near.len(), NEAR);
    let mut words = near.split(|byte| matches!(byte, b'"' | b'\''));
    let mut word = || words.next().filter(|_| words.clone().next().is_some() || !open);
    let parts = (word(), word(), word(), word());
    let (Some(open), Some(key), Some(colon), Some(value)) = parts else {
        return cx.ran_out(near.len(), NEAR);
    };
    let own = || OWN_ROLES.iter().any(|own| own.as_bytes() == value);
    let says = match key {
        b"role" => !value.is_empty() && !own(),
        b"type" => matches!(value, b"function_call_output" | b"tool_result"),
        _ => false,
    };
    if says && open.trim_ascii() == b"{" && colon.trim_ascii() == b":" { Look::Is(()) } else { Look::No }
}
