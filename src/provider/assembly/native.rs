//! Native calls: announced as soon as they are certain, settled once nothing follows for them.
use super::super::calls::{CallPiece, Calls, Extent, Names, Piece, Said};
use super::super::node::Node;
use super::super::{arguments, settle};
use super::Assembly;
use super::text::TextCalls;
use crate::turn::{CallStatus, Event, Issue, IssueCode, StopReason, ToolCall, new_call_id};
use std::borrow::Cow;

impl Assembly {
    pub(super) fn native(&self) -> bool {
        !self.calls.slots.is_empty()
    }

    fn came(&mut self) {
        self.last_is_call = true;
        if matches!(self.text_calls, TextCalls::Announced(_)) {
            self.reread();
        }
    }

    /// A piece of a native call, keyed as well as the provider knows how. Returns its slot.
    pub(in crate::provider) fn call(&mut self, piece: CallPiece<'_>) -> Option<usize> {
        let tools = self.reading.tools.clone();
        let at = self.calls.piece(piece, Names(tools.as_deref()))?;
        self.came();
        self.pump(Some(at));
        Some(at)
    }

    /// As [`Self::call`], of a piece that was read from `function`. A whole call without arguments may have them under a key
    /// that nobody knows: it is unreadable then.
    pub(in crate::provider) fn whole_or_piece(&mut self, piece: CallPiece<'_>, function: &Node<'_>) -> Option<usize> {
        let whole = piece.extent != Extent::Part && matches!(piece.arguments, Piece::Absent);
        let Some(found) = whole.then(|| arguments::misplaced(function)).flatten() else { return self.call(piece) };
        let at = self.call(CallPiece { arguments: Piece::Whole(found), ..piece })?;
        if let Some(slot) = self.calls.slots.get_mut(at) {
            slot.said = Said::Unread;
        }
        let message = "no arguments stand where an API has them, and an object under a key that is not known";
        self.issue(Issue::of(IssueCode::ProviderField, format!("/tool_calls/{at}"), message));
        Some(at)
    }

    /// A native call that is announced as a new one; its pieces come by [`Assembly::arguments`].
    pub(in crate::provider) fn call_start(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = self.calls.start(index, id, name)?;
        self.came();
        Some(at)
    }

    pub(in crate::provider) fn arguments(&mut self, at: usize, piece: &str) {
        self.last_is_call = true;
        self.calls.append(at, piece);
        self.pump(Some(at));
    }

    /// Nothing follows for the call at `at`.
    pub(in crate::provider) fn call_end(&mut self, at: usize) {
        if let Some(slot) = self.calls.slots.get_mut(at) {
            slot.ended = true;
        }
        self.pump(Some(at));
    }

    /// Announces and sends what is certain.
    fn pump(&mut self, touched: Option<usize>) {
        if !self.listen {
            return;
        }
        while let Some(slot) = self.calls.slots.get(self.next) {
            let ready = !slot.name.is_empty()
                && !slot.id.is_empty()
                && !slot.twin
                && !slot.custom
                && !slot.ambiguous()
                && slot.text.trim_start().starts_with('{')
                && !settle::is_parallel(&slot.name, self.reading.tools.as_deref());
            if ready {
                self.announce(self.next);
            } else if slot.ended {
                self.end(self.next, false);
            } else {
                break;
            }
            self.next += 1;
        }
        if let Some(at) = touched {
            self.send(at);
            let Some(slot) = self.calls.slots.get(at) else { return };
            if slot.ended && slot.started.is_some() {
                self.end(at, false);
            }
        }
    }

    /// Gives the call its event index and its final id.
    fn announce(&mut self, at: usize) -> Option<usize> {
        let slot = self.calls.slots.get_mut(at)?;
        if let Some(index) = slot.started {
            return Some(index);
        }
        if slot.id.is_empty() {
            slot.id = new_call_id();
        } else if self.used_ids.contains(&slot.id) {
            let id = new_call_id();
            let message = format!("two calls have the id `{}`; this one became `{id}`", slot.id);
            slot.shared_id = Some(std::mem::replace(&mut slot.id, id));
            let place = format!("/tool_calls/{}", self.announced.saturating_sub(self.withdrawn));
            self.issue(Issue::of(IssueCode::ProviderField, place, message));
        }
        let slot = self.calls.slots.get_mut(at)?;
        self.used_ids.push(slot.id.clone());
        let index = self.announced;
        self.announced += 1;
        slot.started = Some(index);
        if self.listen {
            let name = settle::name(&slot.name, self.reading.tools.as_deref()).name;
            self.events.push(Event::CallStarted { index, id: slot.id.clone(), name });
        }
        self.send(at);
        Some(index)
    }

    fn send(&mut self, at: usize) {
        let Some(slot) = self.calls.slots.get_mut(at) else { return };
        let Some(index) = slot.started else { return };
        let waits = slot.ambiguous() || slot.is_placeholder();
        if !self.listen || slot.custom || waits || !slot.text.trim_start().starts_with('{') {
            return;
        }
        let until = slot.scanner.position();
        if let Some(text) = slot.text.get(slot.sent..until).filter(|text| !text.is_empty()) {
            self.events.push(Event::Arguments { index, text: text.to_owned() });
            slot.sent = until;
        }
    }

    /// Nothing follows for this call: settles it, once.
    fn end(&mut self, at: usize, cut: bool) {
        if self.finals.len() <= at {
            self.finals.resize(at + 1, None);
        }
        if self.finals.get(at).copied().flatten().is_some() {
            return;
        }
        let Some(slot) = self.calls.slots.get_mut(at) else { return };
        slot.close();
        if std::mem::take(&mut slot.twin) {
            let id = slot.id.clone();
            if let Some(first) = self.calls.repeated(at, Names(self.reading.tools.as_deref())) {
                let message = format!("the call `{id}` came twice with the same id; it is kept once");
                self.finals[at] = self.finals.get(first).copied().flatten();
                self.issue(Issue::of(IssueCode::ProviderField, format!("/tool_calls/{at}"), message));
                return;
            }
        }
        let Some(slot) = self.calls.slots.get(at) else { return };
        if slot.name.is_empty() && slot.id.is_empty() && slot.text.trim().is_empty() {
            if slot.extra.is_some() {
                let message = "a call without name, id and arguments was left out";
                self.issue(Issue::of(IssueCode::ProviderField, "/tool_calls", message));
            }
            return;
        }
        let parallel = settle::is_parallel(&slot.name, self.reading.tools.as_deref());
        let mut call = settle::call(slot, cut, self.reading.tools.as_deref(), &self.reading.options.policy);
        if parallel
            && call.status.readable()
            && let Some(calls) = settle::expand(&call)
        {
            return self.expand(at, &call, calls);
        }
        let announced_before = slot.started.is_some();
        let Some(index) = self.announce(at) else { return };
        let Some(slot) = self.calls.slots.get(at) else { return };
        call.id = Cow::Owned(slot.id.clone());
        if self.listen {
            let json = call.arguments.to_json();
            let rest = if announced_before || slot.sent > 0 {
                if call.status == CallStatus::Ok { slot.text.get(slot.sent..).unwrap_or_default() } else { "" }
            } else {
                &json
            };
            if !rest.is_empty() && call.status.readable() {
                let text = rest.to_owned();
                self.events.push(Event::Arguments { index, text });
            }
        }
        self.finals[at] = Some(index);
        self.settle(index, call);
    }

    fn expand(&mut self, at: usize, wrapper: &ToolCall<'static>, calls: Vec<(String, String)>) {
        let first = self.announced;
        for (i, (name, arguments)) in calls.into_iter().enumerate() {
            let id = if i == 0 { wrapper.id.to_string() } else { format!("{}_{}", wrapper.id, i + 1) };
            let mut inner = Calls::new(1, self.reading.options.policy.max_depth, usize::MAX);
            let Some(slot_at) = inner.start(None, &id, &name) else { continue };
            inner.append(slot_at, &arguments);
            let Some(slot) = inner.slots.get_mut(slot_at) else { continue };
            slot.close();
            let call = settle::call(slot, false, self.reading.tools.as_deref(), &self.reading.options.policy);
            let index = self.announced;
            self.announced += 1;
            self.used_ids.push(id);
            self.event(|| Event::CallStarted { index, id: call.id.to_string(), name: call.name.to_string() });
            let json = call.arguments.to_json().into_owned();
            self.event(|| Event::Arguments { index, text: json });
            self.settle(index, call);
        }
        self.finals[at] = Some(first);
    }

    fn settle(&mut self, index: usize, call: ToolCall<'static>) {
        if self.settled.len() <= index {
            self.settled.resize(index + 1, None);
        }
        let issue = call_issue(index.saturating_sub(self.withdrawn), &call);
        self.event(|| Event::CallEnded { index, call: Box::new(call.clone()) });
        if let Some(issue) = issue {
            self.issue(issue);
        }
        if let Some(place) = self.settled.get_mut(index) {
            *place = Some(call);
        }
    }

    /// The answer is over, and so are its calls.
    pub(in crate::provider) fn end_calls(&mut self) {
        let reason = self.finish.as_ref().and_then(|finish| finish.reason);
        // The answer was taken from the model in the middle of it.
        let taken = matches!(reason, Some(StopReason::Length | StopReason::ContentFilter | StopReason::Refusal));
        let paused = matches!(reason, Some(StopReason::Pause | StopReason::Error));
        let broken = self.error.is_some() || taken || paused || (self.finish.is_none() && !self.done);
        let count = self.calls.slots.len();
        for at in 0..count {
            let last = at + 1 == count;
            let empty = self.calls.slots.get(at).is_some_and(|slot| slot.text.trim().is_empty() && !slot.ended);
            // Nothing in a free text shows that it goes on.
            let open = self.listen && self.calls.slots.get(at).is_some_and(|slot| slot.custom && !slot.ended);
            // What is no JSON shows no end of its own either: repair would find one where the text was cut.
            let broken_off = self.calls.slots.get(at).is_some_and(|slot| !slot.custom && !slot.complete());
            let cut =
                last && (((empty || open || broken_off) && broken) || (self.objects && taken && self.last_is_call));
            self.end(at, cut);
            self.next = self.next.max(at + 1);
        }
        if count == 0 {
            self.count_text_calls();
        }
    }
}

fn call_issue(index: usize, call: &ToolCall<'_>) -> Option<Issue> {
    let place = format!("/tool_calls/{index}");
    let name = &call.name;
    let (code, message) = match call.status {
        CallStatus::Ok | CallStatus::Repaired => return None,
        CallStatus::Invalid => {
            (IssueCode::InvalidArguments, format!("the arguments of `{name}` do not fit its schema"))
        }
        CallStatus::Malformed => {
            (IssueCode::MalformedCall, format!("the arguments of `{name}` are no JSON, or longer than the limit"))
        }
        CallStatus::Incomplete => (IssueCode::IncompleteCall, format!("the call of `{name}` is cut off")),
        CallStatus::UnknownTool => (IssueCode::UnknownTool, format!("no tool `{name}` is offered")),
    };
    Some(Issue::of(code, place, message))
}
