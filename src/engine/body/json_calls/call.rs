//! The call that an object is: it begins once its name and arguments are there, and is over with them.
use super::*;
use crate::engine::body::keys::schema_like;

impl JsonCalls {
    /// The name in the last frame, if it is known.
    pub(super) fn name<'t>(&self, cx: &Reader<'t>) -> Option<Cow<'t, str>> {
        let range = self.frames.last()?.name.as_ref()?;
        Some(decode(cx.part(range)))
    }

    /// Begins the call of the last frame, if its name is known.
    pub(super) fn begin(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) -> Flow {
        if self.frames.last().is_none_or(|frame| frame.index.is_some()) {
            return Flow::On;
        }
        let Some(name) = self.name(cx) else { return Flow::On };
        if let Some(flow) = self.defines(cx, out, writer, &name) {
            return flow;
        }
        // What is nested under `function` begins its parent's call, since the id stands there.
        let nested = self.frames.last().is_some_and(|f| f.kind == Kind::Nested);
        let parent_id = if nested { self.frames.parent().and_then(|f| f.id.clone()) } else { None };
        // What has no name calls nothing, and ends nothing.
        if !name.is_empty() {
            self.outer_call_is_over(cx, out, writer);
        }
        let Some(frame) = self.frames.last_mut() else { return Flow::On };
        let id = parent_id.or_else(|| frame.id.clone()).map(|id| decode(cx.part(&id)));
        frame.index = writer.begin(cx, out, &name, id.as_deref());
        if frame.index.is_none() {
            if writer.begun == 0 && !self.frames.in_list() {
                return Flow::Stop(Progress::Fail { at: self.at });
            }
            // One name too many does not void its siblings: the element is passed over.
            if let Some(frame) = self.frames.last_mut() {
                frame.name = None;
            }
        }
        Flow::On
    }

    /// The arguments of the last frame stood before its `name`, and now that this is known they are the schema of no parameter of it.
    #[cold]
    fn defines(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &Writer, name: &str) -> Option<Flow> {
        let frame = self.frames.last_mut().filter(|_| writer.is_unmarked())?;
        let at = frame.arguments.as_ref()?.start;
        if cx.bytes().get(at) != Some(&b'{') || schema_like(cx, at, Some(name)) != Look::Is(()) {
            return None;
        }
        if writer.begun == 0 {
            out.trace.refuse(Reason::Definition, name);
            return Some(Flow::Stop(Progress::Fail { at }));
        }
        // Among calls it cannot be one of them.
        frame.ambiguous = true;
        None
    }

    /// The list of a call's object holds further calls, and this is the first: that call's own arguments are whole.
    pub(super) fn outer_call_is_over(&mut self, cx: &Reader<'_>, out: &mut Output, writer: &mut Writer) {
        let Some(outer) = self.frames.outer_call() else { return };
        let text = |range: Range<usize>| decode(cx.part(&range));
        let (start, index, arguments) = (outer.start, outer.index.take(), outer.arguments.take());
        let (name, id) = (outer.name.take().map(text), outer.id.clone().map(text));
        let index = match index {
            Some(index) => Some(index).filter(|index| writer.is_open(*index)),
            // They stand in a string.
            None => name.and_then(|name| writer.begin(cx, out, &name, id.as_deref())),
        };
        if let (Some(index), Some(arguments)) = (index, arguments) {
            let end = arguments.end;
            self.over(cx, out, writer, index, arguments, start..end);
            // What of a mended object is its own, and what the list's, is a guess; what was mended is all of theirs.
            if let (true, Some(pending)) = (cx.made, &mut writer.pending) {
                pending.status = CallStatus::Malformed;
                self.repairs.clone_from(&pending.repairs);
            }
        }
    }

    /// The whole `arguments` of a call are told, but for the brace that closes empty ones: others may stand beside those.
    pub(super) fn tell_whole(
        &self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        index: usize,
        arguments: &Range<usize>,
    ) {
        let text = cx.part(arguments);
        if text.starts_with('{') {
            let end = arguments.end - usize::from(is_empty_object(text));
            writer.tell(cx, out, index, (arguments.start, arguments.start, end));
        }
    }

    /// The arguments of a call are whole.
    pub(super) fn over(
        &mut self,
        cx: &Reader<'_>,
        out: &mut Output,
        writer: &mut Writer,
        index: usize,
        arguments: Range<usize>,
        raw: Range<usize>,
    ) {
        let text = cx.part(&arguments);
        if is_empty_object(text) && cx.made {
            writer.piece(out, index, "}");
        } else if is_empty_object(text) {
            writer.span(out, index, arguments.end - 1..arguments.end);
        }
        let tool = cx.called(out, index);
        let (found, status, more) = whole_arguments(tool, text, || self.piece(cx, arguments.clone()));
        let repairs = std::mem::take(&mut self.repairs);
        let raw = if cx.made { writer.start..writer.start } else { raw };
        // What repair made of something else than an object is a guess, and so is a call for which no offered name
        // vouches, unless it is a dict of Python's.
        let vouched = !writer.is_unmarked() || cx.tools.is_some() || self.single_quoted;
        let guess = cx.made && (!found.is_object() || !vouched || self.guessed);
        let pending = writer.over(index, found, raw);
        if !cx.made && self.scanned.0 == arguments {
            pending.members = std::mem::take(&mut self.scanned.1);
        }
        pending.status = if guess { CallStatus::Malformed } else { status };
        pending.repairs = repairs;
        pending.repairs.extend(more);
    }

    /// What stands at `range`, as a piece of the input or of what repair made.
    pub(super) fn piece(&self, cx: &Reader<'_>, range: Range<usize>) -> Piece {
        if cx.made { Piece::Made(cx.part(&range).to_owned()) } else { Piece::Span(range) }
    }
}
