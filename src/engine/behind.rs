//! Arguments that stand behind what closes their call: `<function=ping></function>{"host": "a"}`.
use super::body::first_key;
use super::output::{Found, Piece};
use super::reader::Reader;
use super::writer::{Pending, Writer};
use super::{Engine, Look};
use crate::dialect::Key;
use crate::json::{ScanResult, Scanner};
use crate::schema::Tool;
use crate::turn::{CallStatus, Repair, RepairCode};

/// What an object behind a call without arguments is to that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Object {
    /// Its arguments: where they are.
    Arguments { start: usize, end: usize },
    /// It may be its arguments, or a part of them.
    Doubtful,
    /// As that, and the text ends in it.
    CutOff,
}

impl Engine {
    /// The call that is `pending` ended at `at` and says nothing, though its tool takes something: what an object behind it is to it.
    pub(super) fn object_behind(&self, cx: &Reader<'_>, writer: &Writer, at: usize) -> Look<Object> {
        let silent = |call: &&Pending| call.arguments.say_nothing() && call.status.readable();
        let Some(call) = writer.pending.as_ref().filter(silent).filter(|_| !writer.origin.is_bare()) else {
            return Look::No;
        };
        match cx.called(&self.out, call.index).filter(|tool| !tool.parameters.is_empty()) {
            Some(tool) => writer.behind_section(cx, at).then(|closed| object_at(cx, tool, call, (at, closed))),
            None => Look::No,
        }
    }
}

/// `ended`: where the call did, and what closes its section.
#[cold]
fn object_at(cx: &Reader<'_>, tool: &Tool, call: &Pending, ended: (usize, usize)) -> Look<Object> {
    let at = ended.1;
    let start = match cx.behind_space(at, at) {
        Look::Is(start) if cx.bytes().get(start) == Some(&b'{') => start,
        Look::More => return Look::More,
        _ => return Look::No,
    };
    let key = match first_key(cx, start) {
        Look::Is(key) => cx.part(&key),
        Look::More => return Look::More,
        Look::No => return Look::No,
    };
    if !tool.declares(key) {
        // Right behind it stands nothing else than what it is to be called with, unless that calls something itself.
        let doubtful = Key::of(key) == Key::Arguments || start == at && Key::of(key) == Key::Other && !cx.offered(key);
        return if doubtful { Look::Is(Object::Doubtful) } else { Look::No };
    }
    match Scanner::new(start, cx.policy.max_depth).scan(cx.bytes(), cx.eof) {
        // Empty ones that the model wrote are perhaps meant, and so is what closes the section.
        ScanResult::Complete { end } if call.arguments.is_empty() && at == ended.0 => {
            let members: serde_json::Map<String, serde_json::Value> =
                serde_json::from_str(cx.slice(start, end)).unwrap_or_default();
            let agree = !members.is_empty() && members.keys().all(|key| tool.declares(key));
            Look::Is(if agree { Object::Arguments { start, end } } else { Object::Doubtful })
        }
        ScanResult::Incomplete if !cx.eof => Look::More,
        ScanResult::Incomplete => Look::Is(Object::CutOff),
        _ => Look::Is(Object::Doubtful),
    }
}

impl Object {
    /// What it makes of the `call` that ended at `at`: where that ends.
    pub(super) fn settle(self, call: &mut Pending, at: usize) -> usize {
        match self {
            Self::Arguments { start, end } => {
                call.arguments = Found::Json(Piece::Span(start..end));
                call.repairs.push(Repair::at(RepairCode::Misplaced, start, "the arguments stood behind the call"));
                end
            }
            Self::Doubtful => {
                call.status = CallStatus::Malformed;
                at
            }
            Self::CutOff => {
                call.status = CallStatus::Incomplete;
                at
            }
        }
    }
}
