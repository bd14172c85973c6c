//! A brace where a key should stand: arguments that lost theirs (`{"name": "get_weather", {"city": "Oslo"}}`), and braces that
//! stand twice.
use super::*;
use crate::engine::body::first_key;

impl JsonCalls {
    /// The brace at `at` opens the object at the top once more, as templates that are filled in ask for: the first is left out.
    #[cold]
    pub(super) fn doubled(&mut self, cx: &Reader<'_>, at: usize) -> Option<Flow> {
        if cx.made || self.doubled || self.frames.len() > 1 {
            return None;
        }
        let frame = self.frames.last_mut().filter(|frame| frame.kind == Kind::Object)?;
        match cx.behind_space(at, at + 1) {
            Look::Is(key) if cx.bytes().get(key) == Some(&b'"') => {}
            Look::More => return Some(Flow::Stop(Progress::More)),
            _ => return None,
        }
        self.repairs.push(Repair::at(RepairCode::Bracket, frame.start, "a brace too many was left out"));
        (self.doubled, frame.start) = (true, at);
        Some(self.go(at + 1, Expect::Key { close: true }))
    }

    /// Where the key of a member should stand, or a comma before it, the object at `at` does, behind the name of a tool that is
    /// offered: where its first key is a parameter of that, or it is empty between markers, these are the arguments.
    #[cold]
    pub(super) fn unkeyed(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        at: usize,
    ) -> Option<Flow> {
        let frame = self.frames.last().filter(|frame| frame.arguments.is_none() && frame.envelope.is_none())?;
        let name = frame.name.as_ref().filter(|_| !cx.made && frame.index.is_none())?;
        let tool = cx.tool(&decode(cx.part(name)))?;
        let declared = match first_key(cx, at) {
            Look::Is(key) => tool.declares(cx.part(&key)),
            Look::More => return Some(Flow::Stop(Progress::More)),
            Look::No => !writer.is_unmarked() && cx.bytes().get(cx.skip_space(at + 1)) == Some(&b'}'),
        };
        if !declared {
            return None;
        }
        self.scanner.restart(at);
        self.sent = at;
        self.scanner.reuse(&mut out.members);
        if let Flow::Stop(progress) = self.begin(cx, out, writer) {
            return Some(Flow::Stop(progress));
        }
        self.repairs.push(Repair::at(RepairCode::Misplaced, at, "the key of the arguments is missing"));
        Some(self.go(at, Expect::Member { key: at..at, what: Key::Arguments }))
    }

    /// The last frame has these `arguments` without their key. Not all of their members are the tool's: they may be something else.
    #[cold]
    pub(super) fn doubt_unkeyed(&mut self, cx: &Reader<'_>, arguments: &Range<usize>) {
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(cx.part(arguments)).unwrap_or_default();
        let name = self.name(cx);
        let tool = name.and_then(|name| cx.tool(&name));
        let agree = tool.is_some_and(|tool| members.keys().all(|key| tool.declares(key)));
        if let Some(frame) = self.frames.last_mut() {
            frame.ambiguous |= !agree;
        }
    }
}
